/* SPDX-License-Identifier: MIT */
/*
 * The contents of the groups of an adaptive record: Linux setup_pebs_adaptive_sample_data, struct
 * pebs_gprs, pebs_xmm and lbr_entry. This file has its own literal offsets.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/lbr/any.h"
#include "spec/msr.h"
#include "spec/x86.h"
#include "tests/adaptive/adaptive.h"
#include "tests/lbr/branches.h"

#define AT_EVENTING_IP	ADAPTIVE_BASIC_eventing_ip
#define GROUP_AT	BASIC_BYTES	/* offset of a group directly after the basic one */
#define ENTRY_BYTES	ADAPTIVE_LBR_BYTES

/*
 * ADP-04  The GPR group must hold RFLAGS, RIP, RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI and R8 to
 *         R15 in this order.
 * ADP-09  EventingIP must be at 08H of the basic group, and RIP of the GPR group must be the
 *         address of the next instruction.
 * ADP-21  RIP of the GPR group must be the address of the instruction executed after the one that
 *         EventingIP names: for a taken branch its target.
 *         Linux setup_pebs_adaptive_sample_data
 * ADP-22  A register that the sampled instruction writes must have its new value in the GPR group.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): the state after the instruction
 *
 * Given  sixteen registers and the status flags with different values; marked loads that change RAX
 *        and the flags
 * When   each of IA32_PMC0 to IA32_PMC3 makes a record with the GPR group
 * Then   each register is at its place of the order RFLAGS, RIP, RAX, RCX, RDX, RBX, RSP, RBP, RSI,
 *        RDI, R8 to R15; RIP is the address after the marked load that EventingIP names, and RAX
 *        and the flags have the values after that load
 */
TEST(adaptive, gpr_group_holds_the_registers_after_the_sampled_load,
     REQS(ADP_04, ADP_09, ADP_21, ADP_22), NEEDS(need_perfmon, need_baseline, need_events),
     .under_every_fault = true)
{
	const struct {
		unsigned offset;
		const char *name;
		u64 value;
	} table[] = {
		{ 0x18, "RCX", SAMPLE_RCX },
		{ 0x20, "RDX", SAMPLE_RDX },
		{ 0x28, "RBX", SAMPLE_RBX },
		{ 0x30, "RSP", workload_stack() },
		{ 0x38, "RBP", SAMPLE_RBP },
		{ 0x40, "RSI", (u64)(uintptr_t)workload_memory() },
		{ 0x48, "RDI", SAMPLE_RDI },
		{ 0x50, "R8", SAMPLE_R(8) },
		{ 0x58, "R9", SAMPLE_R(9) },
		{ 0x60, "R10", SAMPLE_R(10) },
		{ 0x68, "R11", SAMPLE_R(11) },
		{ 0x70, "R12", SAMPLE_R(12) },
		{ 0x78, "R13", SAMPLE_R(13) },
		{ 0x80, "R14", SAMPLE_R(14) },
		{ 0x88, "R15", SAMPLE_R(15) },
	};
	struct sampling_sum expected[SAMPLE_MARKS];

	for (unsigned c = 0; c < LOAD_COUNTERS; c++) {
		struct adaptive_run run = { .counter = c, .config = CONFIG_GPR };
		u64 ip;
		int mark;

		sampling_fill(expected, SAMPLE_MARKS);
		adaptive_window(&run);
		if (!adaptive_one_record(t, AT(ADP_04), &run))
			return;
		ip = adaptive_at(AT_EVENTING_IP);
		mark = workload_mark_at(&workload_sample, SAMPLE_MARKS, ip);
		if (!CHECK(t, ADP_09, mark >= 0, "EventingIP %#lx at 08H is a marked load", ip))
			return;
		CHECK_EQ(t, IDS(ADP_09, ADP_21), ip + workload_sample.mark_length,
			 adaptive_at(GROUP_AT + 0x08),
			 "RIP at 08H of the GPR group: the next instruction");
		CHECK_EQ(t, ADP_22, expected[mark].rax, adaptive_at(GROUP_AT + 0x10),
			 "RAX at 10H, which the load has changed");
		CHECK_EQ(t, IDS(ADP_04, ADP_22), expected[mark].flags & RFLAGS_STATUS,
			 adaptive_at(GROUP_AT) & RFLAGS_STATUS,
			 "status flags of RFLAGS at 00H, which the load has changed");
		for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
			CHECK_EQ(t, ADP_04, table[i].value, adaptive_at(GROUP_AT + table[i].offset),
				 "%s at %#x of the group", table[i].name, table[i].offset);
	}
}

/*
 * ADP-21  RIP of the GPR group must be the address of the instruction executed after the one that
 *         EventingIP names: for a taken branch its target.
 *         Linux setup_pebs_adaptive_sample_data
 * ADP-22  A register that the sampled instruction writes must have its new value in the GPR group.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): the state after the instruction
 *
 * Given  marked pushes, each of which moves RSP by 8
 * When   IA32_PMC0 makes a record of stores with the GPR group
 * Then   RSP has the value after the push that EventingIP names, and RIP is the address after that
 *        push
 * Control: there is one record
 */
TEST(adaptive, gpr_group_holds_the_stack_pointer_after_the_sampled_push, REQS(ADP_21, ADP_22),
     NEEDS(need_perfmon, need_baseline, need_events))
{
	struct adaptive_run run = { .config = CONFIG_GPR, .event = STORES,
				    .workload = &workload_push_sample };
	u64 ip;
	int mark;

	adaptive_window(&run);
	if (!adaptive_one_record(t, CONTROL_AT(ADP_21, ADP_22), &run))
		return;
	ip = adaptive_at(AT_EVENTING_IP);
	mark = workload_mark_at(&workload_push_sample, SAMPLE_MARKS, ip);
	if (!CHECK(t, ADP_21, mark >= 0, "EventingIP %#lx is a marked push", ip))
		return;
	CHECK_EQ(t, ADP_22, workload_stack() - 8 * ((u64)mark + 1), adaptive_at(GROUP_AT + 0x30),
		 "RSP after push %d", mark);
	CHECK_EQ(t, ADP_21, ip + 2, adaptive_at(GROUP_AT + 0x08), "RIP: the instruction after it");
}

/*
 * ADP-09  EventingIP must be at 08H of the basic group, and RIP of the GPR group must be the
 *         address of the next instruction.
 * ADP-21  RIP of the GPR group must be the address of the instruction executed after the one that
 *         EventingIP names: for a taken branch its target.
 *         Linux setup_pebs_adaptive_sample_data
 *
 * Given  marked jumps, each to the next, with NOPs that nothing reaches between them
 * When   each general-purpose counter makes a record of branches with the GPR group
 * Then   RIP is the target of the jump that EventingIP names
 * Control: there is one record
 */
TEST(adaptive, rip_of_the_gpr_group_is_the_target_of_the_sampled_jump, REQS(ADP_09, ADP_21),
     NEEDS(need_perfmon, need_baseline, need_branches))
{
	struct adaptive_run run = { .config = CONFIG_GPR,
				    .event = EVENT_BR_INST_RETIRED_ALL_BRANCHES,
				    .workload = &workload_jumps };

	FOR_EACH_COUNTER (c, counters_gp().bits) {
		u64 ip;
		int mark;

		run.counter = c;
		adaptive_window(&run);
		if (!adaptive_one_record(t, CONTROL_AT(ADP_09, ADP_21), &run))
			return;
		ip = adaptive_at(AT_EVENTING_IP);
		mark = workload_mark_at(&workload_jumps, SAMPLE_MARKS, ip);
		if (!CHECK(t, IDS(ADP_09, ADP_21), mark >= 0, "EventingIP %#lx is a marked jump",
			   ip))
			return;
		CHECK_EQ(t, IDS(ADP_09, ADP_21), ip + JUMP_STRIDE, adaptive_at(GROUP_AT + 0x08),
			 "RIP: the target of the jump, IA32_PMC%u", c);
	}
}

static u64 exchanged(u64 value)
{
	return value << 32 | value >> 32;
}

/*
 * ADP-06  The XMM group must hold the XMM registers of the program that was sampled.
 * ADP-23  XMMn must be at 10H * n of the XMM group, bits 63:0 first.
 * ADP-24  XMM8 to XMM15 must be stored in 64-bit mode.
 *         Linux setup_pebs_adaptive_sample_data
 *
 * Given  XMM0 to XMM15 with values that differ, in their halves too
 * When   each of IA32_PMC0 to IA32_PMC3 makes a record with the XMM group
 * Then   XMMn is at 10H * n of the group, bits 63:0 first, of all sixteen
 */
TEST(adaptive, xmm_group_holds_the_sixteen_registers_low_half_first, REQS(ADP_06, ADP_23, ADP_24),
     NEEDS(need_perfmon, need_baseline, need_events), .under_every_fault = true)
{
	for (unsigned c = 0; c < LOAD_COUNTERS; c++) {
		struct adaptive_run run = { .counter = c, .config = CONFIG_XMM,
					    .workload = &workload_xmm_sample };
		struct adaptive_run other = { .counter = c, .config = CONFIG_XMM };

		/* First make a record of other values. */
		adaptive_window(&other);
		adaptive_window(&run);
		if (!adaptive_one_record(t, AT(ADP_06), &run))
			return;
		for (unsigned i = 0; i < 16; i++) {
			u64 low = adaptive_at(GROUP_AT + 0x10 * i);
			u64 high = adaptive_at(GROUP_AT + 0x10 * i + 8);

			if (i < 8) {
				CHECK_EQ(t, IDS(ADP_06, ADP_23), SAMPLE_XMM(i), low,
					 "bits 63:0 of XMM%u, IA32_PMC%u", i, c);
				CHECK_EQ(t, IDS(ADP_06, ADP_23), exchanged(SAMPLE_XMM(i)), high,
					 "bits 127:64 of XMM%u, IA32_PMC%u", i, c);
			} else {
				CHECK_EQ(t, IDS(ADP_06, ADP_24), SAMPLE_XMM(i), low,
					 "bits 63:0 of XMM%u, IA32_PMC%u", i, c);
				CHECK_EQ(t, IDS(ADP_06, ADP_24), exchanged(SAMPLE_XMM(i)), high,
					 "bits 127:64 of XMM%u, IA32_PMC%u", i, c);
			}
		}
	}
}

#define GROUPS_AT_MARK (CONFIG_MEMORY | CONFIG_GPR | CONFIG_XMM | CONFIG_LBR_OF(2))
#define GPR_AT		0x40u
#define XMM_AT		0xd0u
#define PERIOD_LEAST	64u	/* events of a fixed counter; the period grows */
#define PERIOD_MOST	4096u	/* until the record is of a marked load */

/* Take a record of counter c at one of the marked loads; exact: not of a NOP between them. */
static bool record_at_a_mark(unsigned c, u16 event, const struct workload *w, bool exact)
{
	struct adaptive_run run = { .counter = c, .config = GROUPS_AT_MARK, .workload = w };
	const u64 first = workload_mark(w, 0), last = workload_mark(w, SAMPLE_MARKS - 1);

	for (u64 period = PERIOD_LEAST; period < PERIOD_MOST; period += period / 16) {
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);
		u64 ip;

		ds_open(&setup);
		pebs_arm(c, event, COUNT_BOTH, period);
		workload_run(w, PERIOD, pmc_one(c));
		pebs_disarm();
		counter_program_disabled(c, 0, 0);
		counters_clear(BIT(c));
		ip = adaptive_at(AT_EVENTING_IP);
		if (ds_bytes() == adaptive_bytes(GROUPS_AT_MARK) && ip >= first && ip <= last &&
		    !(exact && (ip - first) % w->mark_stride))
			return true;
	}
	return false;
}

/* RIP, RAX and the flags, which each mark changes. For events that aren't precise the state is that
 * at RIP, whatever EventingIP is. */
static void check_state(struct test *t, const struct workload *w, const struct sampling_sum *sums,
			unsigned c)
{
	const u64 end = workload_mark(w, 0) + w->mark_length;
	const u64 ip = adaptive_at(AT_EVENTING_IP), rip = adaptive_at(GPR_AT + 0x08);
	const bool nop = workload_mark_at(w, SAMPLE_MARKS, ip) < 0;
	u64 mark = (rip - end) / w->mark_stride;

	if (c <= PMC_FIXED(0))
		CHECK_EQ(t, ADP_21, ip + (nop ? 1 : w->mark_length), rip,
			 "RIP of the instruction after EventingIP, counter %u", c);
	if (rip < end || mark >= SAMPLE_MARKS)
		return;
	CHECK_EQ(t, ADP_22, sums[mark].rax, adaptive_at(GPR_AT + 0x10),
		 "RAX after marked load %lu, counter %u", mark, c);
	CHECK_EQ(t, ADP_04, sums[mark].flags & RFLAGS_STATUS, adaptive_at(GPR_AT) & RFLAGS_STATUS,
		 "status flags after marked load %lu, counter %u", mark, c);
}

/*
 * ADP-04  The GPR group must hold RFLAGS, RIP, RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI and R8 to
 *         R15 in this order.
 * ADP-06  The XMM group must hold the XMM registers of the program that was sampled.
 * ADP-21  RIP of the GPR group must be the address of the instruction executed after the one that
 *         EventingIP names: for a taken branch its target.
 *         Linux setup_pebs_adaptive_sample_data
 * ADP-22  A register that the sampled instruction writes must have its new value in the GPR group.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): the state after the instruction
 * ADP-24  XMM8 to XMM15 must be stored in 64-bit mode.
 *         Linux setup_pebs_adaptive_sample_data
 *
 * Given  general registers and XMM0 to XMM15 with values that differ, in their halves too, while
 *        marked loads run, each of which changes RAX and the flags
 * When   each general-purpose counter of instructions and each fixed counter makes a record with
 *        the memory, GPR, XMM and LBR groups there; every one except fixed counters above 0 does so
 *        at one of the periods that are tried
 * Then   all registers are at their places; RAX and the flags are those after the last marked load
 *        before RIP, which is, but for fixed counters above 0, the instruction after EventingIP
 * Control: each general-purpose counter and fixed counter 0 makes a record at the marked loads
 */
TEST(adaptive, gpr_and_xmm_groups_of_each_counter_hold_the_registers,
     REQS(ADP_04, ADP_06, ADP_21, ADP_22, ADP_24),
     NEEDS(need_perfmon, need_baseline, need_fixed_0_to_2, need_instructions))
{
	const struct workload *w = &workload_xmm_sample;
	struct sampling_sum expected[SAMPLE_MARKS];

	sampling_fill(expected, SAMPLE_MARKS);
	FOR_EACH_COUNTER (c, adaptive_sure_counters()) {
		const u16 event = PMC_IS_FIXED(c) || adaptive_instruction_counters(t) & BIT(c) ?
					  EVENT_INST_RETIRED_ANY_P :
					  LOADS;
		const bool there = record_at_a_mark(c, event, w, true) ||
				   record_at_a_mark(c, event, w, false);

		if (c <= PMC_FIXED(0))
			CONTROL(t, IDS(ADP_04, ADP_06, ADP_21, ADP_22, ADP_24), there,
				"a record of counter %u", c);
		if (!there) {
			test_note(t, "no record of counter %u is at a marked load", c);
			continue;
		}
		sampling_check_registers(t, AT(ADP_04), ds_record(0),
					 (u64)(uintptr_t)workload_memory(), workload_stack());
		check_state(t, w, expected, c);
		for (unsigned i = 0; i < 16; i++) {
			struct test_claim claim = i < 8 ? AT(ADP_06) : AT(ADP_06, ADP_24);

			test_check_eq(t, claim, SAMPLE_XMM(i), adaptive_at(XMM_AT + 0x10 * i),
				      "bits 63:0 of XMM%u, counter %u", i, c);
			test_check_eq(t, claim, exchanged(SAMPLE_XMM(i)),
				      adaptive_at(XMM_AT + 0x10 * i + 8),
				      "bits 127:64 of XMM%u, counter %u", i, c);
		}
	}
}

struct adaptive_entry {
	u64 from, to, info;
};

static struct adaptive_entry entry_at(unsigned i)
{
	unsigned at = GROUP_AT + ENTRY_BYTES * i;

	return (struct adaptive_entry){ adaptive_at(at), adaptive_at(at + 0x08),
					adaptive_at(at + 0x10) };
}

/*
 * ADP-26  With a cleared stack and no branch recorded, every entry of the LBR group must be 0.
 *         kvm-unit-tests pmu_pebs (FROM and TO)
 *
 * Given  each register of the last branch records is 0, and recording is off
 * When   IA32_PMC0 makes a record with as many LBR entries as the stack has
 * Then   FROM, TO and INFO of each are 0
 * Control: the record is written
 */
TEST(adaptive, lbr_group_of_a_cleared_stack_is_all_zero, REQS(ADP_26),
     NEEDS(need_perfmon, need_baseline, need_loads_or_branches, need_any_lbr),
     .under_every_fault = true)
{
	struct adaptive_run run = { .config = CONFIG_LBR_OF(lbr_any_depth()) };

	lbr_any_open();
	adaptive_window(&run);
	lbr_any_close();
	/* The buffer had a pattern, so each 0 in the record was written. */
	if (!adaptive_one_record(t, CONTROL_AT(ADP_26), &run) ||
	    !CONTROL(t, ADP_26, ds_record_written(0), "the record is written"))
		return;
	for (unsigned i = 0; i < lbr_any_depth(); i++) {
		struct adaptive_entry e = entry_at(i);

		CHECK_EQ(t, ADP_26, 0, e.from | e.to | e.info,
			 "FROM %#lx, TO %#lx and INFO %#lx of entry %u", e.from, e.to, e.info, i);
	}
}

/* The address of a jump of the chain before the marks. */
static u64 link(unsigned i)
{
	return workload_mark(&workload_chain_sample, 0) - (CHAIN_LINKS - i) * CHAIN_STRIDE;
}

/* Take a record after the chain. Branches are recorded from before the window; recording is off
 * afterwards. */
static void chain_window(const struct adaptive_run *run)
{
	const struct lbr_switch recording = lbr_any_switch();

	lbr_any_open();
	msr_write(recording.msr, recording.on);
	adaptive_window(run);
	msr_write(recording.msr, 0);
}

/*
 * ADP-05  The LBR group must have MSR_PEBS_DATA_CFG[31:24] + 1 entries.
 *         Linux setup_pebs_adaptive_sample_data; kvm-unit-tests pmu_pebs
 * ADP-25  Entry 0 of the LBR group must be the most recent branch.
 *         Linux intel_pmu_store_pebs_lbrs
 *
 * Given  last branch records on, and a chain of 48 jumps that ends at the marked loads
 * When   IA32_PMC0 makes a record with 1, 2, 5 and 32 LBR entries
 * Then   entry i is the jump i before the last one, FROM at its first byte and TO at its target
 * Control: EventingIP is a load after the chain
 */
TEST(adaptive, lbr_group_begins_with_the_newest_branch, REQS(ADP_05, ADP_25),
     NEEDS(need_perfmon, need_baseline, need_events, need_any_lbr), .under_every_fault = true)
{
	const u8 entries[] = { 1, 2, 5, 32 };

	for (unsigned n = 0; n < sizeof(entries) && entries[n] <= lbr_any_depth(); n++) {
		struct adaptive_run run = { .config = CONFIG_LBR_OF(entries[n]),
					    .workload = &workload_chain_sample };
		u64 ip;

		chain_window(&run);
		lbr_any_close();
		if (!adaptive_one_record(t, AT(ADP_05), &run))
			return;
		ip = adaptive_at(AT_EVENTING_IP);
		if (!CONTROL(t, ADP_25,
			     workload_mark_at(&workload_chain_sample, SAMPLE_MARKS, ip) >= 0,
			     "EventingIP %#lx is a load after the chain", ip))
			return;
		for (unsigned i = 0; i < entries[n]; i++) {
			unsigned from = CHAIN_LINKS - 1 - i;

			CHECK_EQ(t, ADP_25, link(from), entry_at(i).from,
				 "FROM of entry %u of %u, the branch %u before the newest", i,
				 entries[n], i);
			CHECK_EQ(t, ADP_25, link(from + 1), entry_at(i).to, "TO of entry %u of %u",
				 i, entries[n]);
		}
	}
}

/*
 * ADP-27  The third quadword of an LBR entry must have the layout of MSR_LBR_INFO_x.
 *         Linux intel_pmu_store_pebs_lbrs
 *
 * Given  a chain of 48 jumps, followed by marked loads; last branch records are enabled only while
 *        this code runs
 * When   IA32_PMC0 makes a record with all LBR entries at one of these loads, and the stack is read
 *        after the window
 * Then   the INFO of each entry is that of the register of the same age
 * Control: FROM of each entry is that of the register too
 */
TEST(adaptive, info_of_an_lbr_entry_is_that_of_its_register, REQS(ADP_27),
     NEEDS(need_perfmon, need_baseline, need_events, need_any_lbr_info))
{
	/* The counter is enabled before recording is, so it also counts a few loads between the
	 * two. The overflow is aimed at the middle of the marks: it is still on a mark after these
	 * loads. */
	const u64 period = PERIOD + SAMPLE_MARKS / 2;
	const struct lbr_switch branches = lbr_any_switch();
	const struct workload_switch recording = { .msr = branches.msr, .on = branches.on };
	struct adaptive_run run = { .config = CONFIG_LBR_OF(lbr_any_depth()) };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);
	struct lbr_stack stack;

	lbr_any_open();
	ds_open(&setup);
	pebs_arm(0, LOADS, COUNT_BOTH, period);
	counters_enable(pmc_one(0));
	workload_run_switched(&workload_chain_sample, PERIOD, &recording);
	counters_disable();
	pebs_disarm();
	lbr_any_read(&stack);
	lbr_any_close();
	if (!adaptive_one_record(t, CONTROL_AT(ADP_27), &run))
		return;
	if (workload_mark_at(&workload_chain_sample, SAMPLE_MARKS, adaptive_at(AT_EVENTING_IP)) <
	    0) {
		test_inconclusive(t, "the record is of %#lx, not of a load after the chain",
				  adaptive_at(AT_EVENTING_IP));
		return;
	}
	for (unsigned i = 0; i < lbr_any_depth(); i++) {
		CONTROL_EQ(t, ADP_27, stack.raw[i].from, entry_at(i).from,
			   "FROM of entry %u, and of the stack's after the window", i);
		CHECK_EQ(t, ADP_27, stack.raw[i].info, entry_at(i).info,
			 "INFO of entry %u, FROM %#lx", i, entry_at(i).from);
	}
}
