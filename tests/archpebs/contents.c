/* SPDX-License-Identifier: MIT */
/*
 * The contents of the groups of an architectural PEBS record: Linux struct arch_pebs_aux,
 * arch_pebs_gprs, arch_pebs_xer_header, arch_pebs_lbr_header and arch_pebs_cntr_header. This file
 * has its own literal offsets.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/memory/paging.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/cpu.h"
#include "pmu/event.h"
#include "pmu/lbr/arch.h"
#include "spec/x86.h"
#include "tests/archpebs/archpebs.h"
#include "tests/frame/calibration.h"
#include "tests/lbr/branches.h"

#define ALLOW_IN_RECORD	BIT(35)

static bool need_aux(char *reason, size_t size)
{
	return need_arch_groups(GROUP_AUX, reason, size);
}

static bool need_gpr(char *reason, size_t size)
{
	return need_arch_groups(GROUP_GPR, reason, size);
}

static bool need_xmm(char *reason, size_t size)
{
	return need_arch_groups(GROUP_XMM, reason, size);
}

static bool need_lbr_codes(char *reason, size_t size)
{
	return need_arch_groups(GROUP_LBR(3), reason, size);
}

static unsigned counter(void)
{
	return counter_next(arch_load_counters(), 0);
}

/* Each group, its bits in CFG_C and in the header, and its size in a fragment. */
static const struct {
	enum arch_group group;
	u64 bits;
	unsigned bytes;		/* of the group, LBR with 8 entries; 0: not checked here */
} groups[] = {
	{ ARCH_AUX, GROUP_AUX, 0x40 },
	{ ARCH_GPR, GROUP_GPR, 0xa0 },
	{ ARCH_XER, GROUP_XMM, 0 },
	{ ARCH_LBR, BIT(40), 0x30 + 8 * 0x18 },	/* code 1 */
	{ ARCH_COUNTERS, BIT(36) | ALLOW_IN_RECORD, 0 },
};
#define GROUP_KINDS (sizeof(groups) / sizeof(groups[0]))

static u64 bits_of(unsigned combination)
{
	u64 bits = 0;

	for (unsigned i = 0; i < GROUP_KINDS; i++)
		bits |= combination & BIT(i) ? groups[i].bits : 0;
	return bits;
}

/*
 * APEBS-13  The bits of a header must tell which groups follow: those that CFG_C of the counter
 *           asks for, and BASIC.
 *           Linux struct arch_pebs_header
 * APEBS-15  The groups of a fragment must be in the order BASIC, AUX, GPR, XER, LBR, counters.
 *           Linux setup_arch_pebs_sample_data
 *
 * Given  every combination of AUX, GPR, XMM, LBR and counters that CPUID.(23H,4):EBX allows
 * When   CFG_C asks for it, and a record is made
 * Then   the header has BASIC and these groups alone; they follow in the order BASIC, AUX, GPR,
 *        XER, LBR, counters; AUX, GPR and LBR have as many bytes as Linux' structures
 */
TEST(archpebs, header_names_the_groups_that_follow_in_order, REQS(APEBS_13, APEBS_15),
     NEEDS(need_perfmon, need_arch_load, need_loads_or_branches))
{
	const u64 there = (u64)counter_caps()->v6.groups << 32;

	for (unsigned n = 0; n < 1u << GROUP_KINDS; n++) {
		/* XMM registers that are all 0 may be left out of the record. */
		const struct arch_run run = { .counter = counter(),
					      .groups = bits_of(n),
					      .workload = sampling_any_registers() };
		struct arch_fragment f;
		u64 at = 0x40;

		if (run.groups & ~there)
			continue;
		arch_window(&run);
		if (!arch_one_record(t, AT(APEBS_13, APEBS_15), 0))
			return;
		if (arch_group(0, ARCH_BASIC, &f) && f.last)
			CHECK_EQ(t, APEBS_13, BIT(63) | (run.groups & ~ALLOW_IN_RECORD),
				 f.header & BITS(36, 63), "groups of the header, CFG_C %#lx",
				 run.groups);
		for (unsigned i = 0; i < GROUP_KINDS; i++) {
			const u64 begins = arch_group(0, groups[i].group, &f);

			CHECK_EQ(t, APEBS_13, !!(n & BIT(i)), !!begins, "group %u, CFG_C %#lx", i,
				 run.groups);
			if (!begins)
				continue;
			CHECK_RANGE(t, APEBS_15, at, ~0ULL, begins,
				    "where group %u begins, after the one before it, CFG_C %#lx", i,
				    run.groups);
			at = begins + groups[i].bytes;
		}
		CHECK_RANGE(t, APEBS_13, at, ~0ULL, arch_pebs_written(),
			    "bytes of WR, of groups up to %#lx", at);
		arch_pebs_close();
	}
}

/*
 * APEBS-18  AUX must have 40H bytes, with the address at 00H, the source at 28H, the latencies at
 *           30H and the TX information at 38H.
 *           Linux struct arch_pebs_aux
 *
 * Given  marked loads and stores, each at a different place
 * When   each of IA32_PMC0 to IA32_PMC3 makes a record of a load with AUX, and one of a store after
 *        it in the same buffer
 * Then   the address at 00H is that of the access that EventingIP names; TX information at 38H is 0
 * Control: EventingIP is a marked access
 */
TEST(archpebs, aux_group_holds_the_address_of_the_load, REQS(APEBS_18),
     NEEDS(need_perfmon, need_aux, need_events, need_data_address), .under_every_fault = true)
{
	FOR_EACH_COUNTER (c, arch_load_counters()) {
		u64 from = 0;

		for (unsigned store = 0; store < 2; store++) {
			const struct workload *w = store ? &workload_sample_store :
							   &workload_sample;
			const struct arch_run run = { .counter = c, .groups = GROUP_AUX,
						      .event = store ? STORES : LOADS,
						      .workload = w };
			struct arch_fragment f;
			u64 aux;
			int mark;

			if (store)
				arch_go_on(&run);
			else
				arch_window(&run);
			if (!arch_one_record(t, AT(APEBS_18), from))
				return;
			aux = arch_group(from, ARCH_AUX, &f);
			mark = workload_mark_at(w, SAMPLE_MARKS, arch_at(from + AT_EVENTING_IP));
			if (!CHECK(t, APEBS_18, aux, "AUX") ||
			    !CONTROL(t, APEBS_18, mark >= 0, "EventingIP is a marked access"))
				return;
			CHECK_EQ(t, APEBS_18,
				 (u64)(uintptr_t)workload_memory() + SAMPLE_OFFSET + 8 * (u64)mark,
				 arch_at(aux), "address at 00H of a %s, IA32_PMC%u",
				 store ? "store" : "load", c);
			CHECK_EQ(t, APEBS_18, 0, arch_at(aux + 0x38) & sampling_tx_mask(),
				 "TX information at 38H, no transaction");
			from = arch_pebs_written();
		}
		arch_pebs_close();
	}
}

/*
 * APEBS-16  BASIC must have 30H bytes, with EventingIP at 00H, Applicable Counters at 08H and the
 *           TSC at 10H.
 *           Linux struct arch_pebs_basic
 * APEBS-18  AUX must have 40H bytes, with the address at 00H, the source at 28H, the latencies at
 *           30H and the TX information at 38H.
 *           Linux struct arch_pebs_aux
 *
 * Given  marked loads whose code and data are above 4 GiB, and in the upper half of the address
 *        space
 * When   each of IA32_PMC0 to IA32_PMC3 makes a record with AUX
 * Then   EventingIP is a marked load, and the address at 00H is that of the load, upper half too
 * Control: there is one record
 */
TEST(archpebs, aux_group_holds_an_address_above_4_gib, REQS(APEBS_16, APEBS_18),
     NEEDS(need_perfmon, need_aux, need_events, need_data_address))
{
	enum { LOADS_BEFORE = PERIOD - 12 };	/* less than the period: there are many marks */
	static const u64 distances[] = { PAGING_HIGH, PAGING_UPPER };
	const struct workload *w = &workload_user_sample;

	FOR_EACH_COUNTER (c, arch_load_counters())
		for (unsigned i = 0; i < 2; i++) {
			const u64 above = distances[i];
			struct arch_fragment f;
			int mark;

			arch_pebs_open(0, ARCH_PEBS_NEVER);
			arch_pebs_arm(c, LOADS, COUNT_BOTH, PERIOD, GROUP_AUX, NEVER);
			workload_run_above(w, LOADS_BEFORE, above, pmc_one(c));
			arch_pebs_disarm();
			counter_program_disabled(c, 0, 0);
			counters_clear(BIT(c));
			if (!arch_one_record(t, CONTROL_AT(APEBS_16, APEBS_18), 0))
				return;
			mark = workload_mark_at(w, SAMPLE_MARKS, arch_at(AT_EVENTING_IP) - above);
		if (!CHECK(t, APEBS_16, mark >= 0, "EventingIP %#lx is a marked load, %#lx on",
				   arch_at(AT_EVENTING_IP), above))
				return;
			CHECK_EQ(t, APEBS_18,
				 (u64)(uintptr_t)workload_memory() + above + SAMPLE_OFFSET +
					 8 * (u64)mark,
				 arch_at(arch_group(0, ARCH_AUX, &f)), "address at 00H, IA32_PMC%u",
				 c);
			arch_pebs_close();
		}
}

/* The GPR group of a record of a marked load. */
struct gpr_values {
	u64 next, rsp;
	u64 flags;		/* RFLAGS without RF and the status flags */
	struct sampling_sum sum;
};

/* RFLAGS without the flags that the check of GPR leaves out or takes from elsewhere. */
static u64 flags_kept(void)
{
	return rflags_read() & ~(RFLAGS_RF | RFLAGS_STATUS);
}

static void check_gpr(struct test *t, struct test_claim claim, u64 gpr,
		      const struct gpr_values *wanted)
{
	test_check_eq(t, claim, wanted->flags | (wanted->sum.flags & RFLAGS_STATUS),
		      arch_at(gpr) & ~RFLAGS_RF, "RFLAGS but RF at 00H");
	test_check_eq(t, claim, wanted->next, arch_at(gpr + 0x08),
		      "RIP, of the next instruction, at 08H");
	test_check_eq(t, claim, wanted->sum.rax, arch_at(gpr + 0x10), "RAX at 10H");
	arch_check_registers(t, claim, gpr, wanted->rsp);
	test_check_eq(t, claim, 0, arch_at(gpr + 0x90), "SSP at 90H");
}

/*
 * APEBS-20  GPR must have A0H bytes: RFLAGS, RIP, RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to
 *           R15, SSP and a reserved quadword.
 *           Linux struct arch_pebs_gprs
 *
 * Given  sixteen registers and the status flags with different values, and one of ID, AC, IOPL and
 *        NT inverted for each counter; marked loads that change RAX and the status flags
 * When   each of IA32_PMC0 to IA32_PMC3 makes a record with GPR
 * Then   each register is at its place of the order RFLAGS, RIP, RAX, RCX, RDX, RBX, RSP, RBP, RSI,
 *        RDI, R8 to R15, SSP; RIP is the address after the load, RAX and all flags except RF have
 *        the values after the load, and SSP is 0 without shadow stacks
 * Control: EventingIP is a marked load
 */
TEST(archpebs, gpr_group_holds_the_registers_after_the_load, REQS(APEBS_20),
     NEEDS(need_perfmon, need_gpr, need_events), .under_every_fault = true)
{
	static const u64 inverted[] = { RFLAGS_ID, RFLAGS_AC, RFLAGS_IOPL, RFLAGS_NT };
	enum { INVERTED = sizeof(inverted) / sizeof(inverted[0]) };
	struct sampling_sum expected[SAMPLE_MARKS];

	FOR_EACH_COUNTER (c, arch_load_counters()) {
		const struct arch_run run = { .counter = c, .groups = GROUP_GPR };
		struct gpr_values wanted = { .rsp = workload_stack() };
		const u64 found = rflags_read();
		struct arch_fragment f;
		u64 ip, gpr;
		int mark;

		sampling_fill(expected, SAMPLE_MARKS);
		rflags_write(found ^ inverted[c % INVERTED]);
		wanted.flags = flags_kept();
		arch_window(&run);
		rflags_write(found);
		if (!arch_one_record(t, AT(APEBS_20), 0))
			return;
		gpr = arch_group(0, ARCH_GPR, &f);
		ip = arch_at(AT_EVENTING_IP);
		mark = workload_mark_at(&workload_sample, SAMPLE_MARKS, ip);
		if (!CHECK(t, APEBS_20, gpr, "GPR") ||
		    !CONTROL(t, APEBS_20, mark >= 0, "EventingIP is a marked load"))
			return;
		wanted.next = ip + workload_sample.mark_length;
		wanted.sum = expected[mark];
		check_gpr(t, AT(APEBS_20), gpr, &wanted);
		arch_pebs_close();
	}
}

static bool need_aux_and_gpr(char *reason, size_t size)
{
	return need_arch_groups(GROUP_AUX | GROUP_GPR, reason, size);
}

/*
 * APEBS-15  The groups of a fragment must be in the order BASIC, AUX, GPR, XER, LBR, counters.
 *           Linux setup_arch_pebs_sample_data
 *
 * Given  marked loads, each at a different place; registers and status flags with different values
 * When   each of IA32_PMC0 to IA32_PMC3 makes a record with AUX and GPR, and one with every group
 *        that CPUID.(23H,4):EBX allows
 * Then   the load's address is where AUX has its place in the order, and the registers are where
 *        GPR has it
 * Control: EventingIP is a marked load
 */
TEST(archpebs, contents_of_aux_and_gpr_are_where_the_order_has_them, REQS(APEBS_15),
     NEEDS(need_perfmon, need_aux_and_gpr, need_events, need_data_address),
     .under_every_fault = true)
{
	const u64 every = bits_of((1u << GROUP_KINDS) - 1) & (u64)counter_caps()->v6.groups << 32;
	const u64 sets[] = { GROUP_AUX | GROUP_GPR, every };
	struct sampling_sum expected[SAMPLE_MARKS];

	FOR_EACH_COUNTER (c, arch_load_counters())
		for (unsigned i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
			const struct arch_run run = { .counter = c, .groups = sets[i] };
			struct gpr_values wanted = { .rsp = workload_stack(),
						     .flags = flags_kept() };
			struct arch_fragment f;
			u64 ip, aux, gpr;
			int mark;

			sampling_fill(expected, SAMPLE_MARKS);
			arch_window(&run);
			if (!arch_one_record(t, AT(APEBS_15), 0))
				return;
			aux = arch_group(0, ARCH_AUX, &f);
			gpr = arch_group(0, ARCH_GPR, &f);
			ip = arch_at(AT_EVENTING_IP);
			mark = workload_mark_at(&workload_sample, SAMPLE_MARKS, ip);
			if (!CHECK(t, APEBS_15, aux && gpr, "AUX and GPR, CFG_C %#lx", sets[i]) ||
			    !CONTROL(t, APEBS_15, mark >= 0, "EventingIP is a marked load"))
				return;
			CHECK_EQ(t, APEBS_15,
				 (u64)(uintptr_t)workload_memory() + SAMPLE_OFFSET + 8 * (u64)mark,
				 arch_at(aux), "address of the load in AUX, CFG_C %#lx", sets[i]);
			wanted.next = ip + workload_sample.mark_length;
			wanted.sum = expected[mark];
			check_gpr(t, AT(APEBS_15), gpr, &wanted);
			arch_pebs_close();
		}
}

static u64 exchanged(u64 value)
{
	return value << 32 | value >> 32;
}

/*
 * APEBS-21  XER must begin with 10H bytes that have XSTATE_BV of the components that follow; one
 *           in its initial state doesn't.
 *           Linux; Linux mailing list, which quotes the manual
 * APEBS-22  The XMM component must have 100H bytes, with XMMn at 10H * n.
 *           Linux
 *
 * Given  XMM0 to XMM15 with values that differ, in their halves too
 * When   each of IA32_PMC0 to IA32_PMC3 makes a record with XMM
 * Then   XSTATE_BV is 2 in a head of 10H bytes, and XMMn is at 10H * n after it, bits 63:0 first
 */
TEST(archpebs, xer_group_holds_the_sixteen_xmm_registers, REQS(APEBS_21, APEBS_22),
     NEEDS(need_perfmon, need_xmm, need_loads_or_branches), .under_every_fault = true)
{
	FOR_EACH_COUNTER (c, arch_load_counters()) {
		const struct arch_run run = { .counter = c,
					      .groups = GROUP_XMM,
					      .workload = sampling_any_registers() };
		struct arch_fragment f;
		u64 xer;

		arch_window(&run);
		if (!arch_one_record(t, AT(APEBS_21, APEBS_22), 0))
			return;
		xer = arch_group(0, ARCH_XER, &f);
		if (!CHECK(t, APEBS_21, xer, "XER"))
			return;
		CHECK_EQ(t, APEBS_21, BIT(1), arch_at(xer), "XSTATE_BV at 00H");
		for (unsigned i = 0; i < 16; i++) {
			CHECK_EQ(t, APEBS_22, SAMPLE_XMM(i), arch_at(xer + 0x10 + 0x10 * i),
				 "bits 63:0 of XMM%u", i);
			CHECK_EQ(t, APEBS_22, exchanged(SAMPLE_XMM(i)),
				 arch_at(xer + 0x18 + 0x10 * i), "bits 127:64 of XMM%u", i);
		}
		arch_pebs_close();
	}
}

/* The address of a jump of the chain before the marks. */
static u64 link(unsigned i)
{
	return workload_mark(&workload_chain_sample, 0) - (CHAIN_LINKS - i) * CHAIN_STRIDE;
}

/* Check the record of one window with this code. false: there was no record, or none with the
 * group. */
static bool check_lbr(struct test *t, struct test_claim contents, struct test_claim number,
		      unsigned depth, unsigned code)
{
	/* Marked jumps come after other branches than those of the chain. */
	const bool chain = LOADS;
	const struct arch_run run = { .counter = counter(), .groups = GROUP_LBR(code),
				      .workload = chain ? &workload_chain_sample : NULL };
	const unsigned entries = code == 3 ? depth : 8 * code;
	struct arch_fragment f;
	u64 lbr;

	arch_lbr_open(depth);
	msr_write(MSR_IA32_LBR_CTL, arch_lbr_everything());
	arch_window(&run);
	msr_write(MSR_IA32_LBR_CTL, 0);
	arch_lbr_close();
	if (!arch_one_record(t, number, 0))
		return false;
	lbr = arch_group(0, ARCH_LBR, &f);
	if (!test_check(t, contents, lbr, "LBR", "code %u, depth %u", code, depth))
		return false;
	test_check_eq(t, contents, arch_lbr_everything(), arch_at(lbr + 0x08), "CTL at 08H");
	test_check_eq(t, contents, depth, arch_at(lbr + 0x10), "DEPTH at 10H");
	test_check_eq(t, number, 0x30 + 0x18 * entries, f.size - f.offset[ARCH_LBR],
		      "bytes from the group on, of %u entries, code %u, depth %u", entries, code,
		      depth);
	for (unsigned i = 0; chain && i < entries && i < CHAIN_LINKS; i++) {
		const unsigned from = CHAIN_LINKS - 1 - i;
		const u64 at = lbr + 0x30 + 0x18 * i;

		test_check_eq(t, contents, link(from), arch_at(at), "FROM of entry %u", i);
		test_check_eq(t, contents, link(from + 1), arch_at(at + 8), "TO of entry %u", i);
	}
	arch_pebs_close();
	return true;
}

/* Check the number of entries alone, in a record that is made while recording is off. */
static bool check_lbr_off(struct test *t, struct test_claim number, unsigned depth, unsigned code)
{
	const struct arch_run run = { .counter = counter(), .groups = GROUP_LBR(code) };
	const unsigned entries = code == 3 ? depth : 8 * code;
	struct arch_fragment f;

	arch_lbr_open(depth);
	msr_write(MSR_IA32_LBR_CTL, arch_lbr_everything() & ~(u64)IA32_LBR_CTL_LBREN);
	arch_window(&run);
	msr_write(MSR_IA32_LBR_CTL, 0);
	arch_lbr_close();
	if (!arch_one_record(t, number, 0))
		return false;
	if (arch_group(0, ARCH_LBR, &f))
		test_check_eq(t, number, 0x30 + 0x18 * entries, f.size - f.offset[ARCH_LBR],
			      "bytes from the group on, of %u entries, code %u, depth %u, LBREn = "
			      "0",
			      entries, code, depth);
	arch_pebs_close();
	return true;
}

/*
 * APEBS-23  LBR must begin with 30H bytes that have IA32_LBR_CTL at 08H and IA32_LBR_DEPTH at 10H,
 *           and then have FROM, TO and INFO of each entry, the newest first.
 *           Linux struct arch_pebs_lbr_header
 * APEBS-24  LBR must have 8 entries with code 1, 16 with code 2 and as many as its depth with code
 *           3.
 *           Linux setup_arch_pebs_sample_data
 *
 * Given  last branch records on, of each depth that CPUID.1CH lists, and a chain of 48 jumps that
 *        ends at the marked loads
 * When   CFG_C[41:40] is 1 and 2, where the depth isn't less than 8 and 16, and 3; and IA32_PMC0
 *        makes a record; the same with IA32_LBR_CTL.LBREn = 0
 * Then   there are 8 entries, 16, and as many as the depth; the same in the group of a record with
 *        LBREn = 0. The head has IA32_LBR_CTL and IA32_LBR_DEPTH; entry i is the jump i before the
 *        last one. Where no table has loads, jumps are sampled, and the entries aren't judged
 */
TEST(archpebs, lbr_group_has_a_head_and_as_many_entries_as_its_code_says, REQS(APEBS_23, APEBS_24),
     NEEDS(need_perfmon, need_lbr_codes, need_loads_or_branches), .under_every_fault = true)
{
	enum { UNIT = 8 };	/* between depths */
	const struct lbr_leaf leaf = arch_lbr_leaf();

	for (unsigned depth = UNIT; depth <= lbr_leaf_deepest(&leaf); depth += UNIT) {
		if (!lbr_leaf_lists(&leaf, depth))
			continue;
		for (unsigned code = 1; code <= 3; code++)
			/* No source defines a record of 16 entries when the depth is 8. */
			if ((code == 3 || 8 * code <= depth) &&
			    (!check_lbr(t, AT(APEBS_23), AT(APEBS_24), depth, code) ||
			     !check_lbr_off(t, AT(APEBS_24), depth, code)))
				return;
	}
}

/*
 * APEBS-12  Bit 30 of a header must be 1 for what was sampled in 64-bit mode.
 *           Linux struct arch_pebs_header
 * APEBS-16  BASIC must have 30H bytes, with EventingIP at 00H, Applicable Counters at 08H and the
 *           TSC at 10H.
 *           Linux struct arch_pebs_basic
 * APEBS-20  GPR must have A0H bytes: RFLAGS, RIP, RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to
 *           R15, SSP and a reserved quadword.
 *           Linux struct arch_pebs_gprs
 *
 * Given  64-bit code at CPL 3 with marked loads, registers with different values
 * When   each of IA32_PMC0 to IA32_PMC3 counts at CPL 3 alone and makes a record with GPR
 * Then   bit 30 of the header is 1; BASIC has a marked load and that counter alone; each register
 *        is at its offset, with the value after that load
 */
TEST(archpebs, record_of_64_bit_code_at_cpl_3_is_whole, REQS(APEBS_12, APEBS_16, APEBS_20),
     NEEDS(need_perfmon, need_gpr, need_events))
{
	/* Fewer loads than the period: the transition has some loads too, and there are many marked
	 * ones. */
	enum { LOADS_BEFORE = PERIOD - 12 };
	const struct workload *w = &workload_user_sample;
	struct sampling_sum expected[SAMPLE_MARKS];

	FOR_EACH_COUNTER (c, arch_load_counters()) {
		/* CPL 3 runs with the flags of the caller. */
		struct gpr_values wanted = { .flags = flags_kept() };
		struct arch_fragment f;
		u64 ip, gpr;
		int mark;

		sampling_fill(expected, SAMPLE_MARKS);
		arch_pebs_open(0, ARCH_PEBS_NEVER);
		arch_pebs_arm(c, LOADS, COUNT_USR, PERIOD, GROUP_GPR, NEVER);
		counters_enable(pmc_one(c));
		wanted.rsp = workload_run_user(w, LOADS_BEFORE);
		counters_disable();
		arch_pebs_disarm();
		counter_program_disabled(c, 0, 0);
		if (!arch_one_record(t, AT(APEBS_20), 0))
			return;
		CHECK_EQ(t, APEBS_12, BIT(30), arch_at(0) & BIT(30),
			 "bit 30 of the header at CPL 3, IA32_PMC%u", c);
		CHECK_EQ(t, APEBS_16, BIT(c), arch_at(AT_APPLICABLE),
			 "applicable counters at CPL 3");
		ip = arch_at(AT_EVENTING_IP);
		mark = workload_mark_at(w, SAMPLE_MARKS, ip);
		gpr = arch_group(0, ARCH_GPR, &f);
		if (!CHECK(t, APEBS_16, mark >= 0, "EventingIP %#lx is a marked load", ip) ||
		    !CHECK(t, APEBS_20, gpr, "GPR"))
			return;
		wanted.next = ip + w->mark_length;
		wanted.sum = expected[mark];
		check_gpr(t, AT(APEBS_20), gpr, &wanted);
		arch_pebs_close();
		counters_clear(BIT(c));
	}
}
