/* SPDX-License-Identifier: MIT */
/*
 * All groups of one architectural PEBS record together, of each counter, and at CPL 3: Linux
 * setup_arch_pebs_sample_data. XMM registers and the upper halves of YMM registers are loaded
 * before the window, and the last branch records don't change during it.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/processor/time.h"
#include "pmu/lbr/any.h"
#include "tests/archpebs/archpebs.h"
#include "tests/archpebs/ymm_registers.h"
#include "tests/lbr/arch.h"
#include "tests/measure/overflow.h"
#include "tests/measure/xmm_registers.h"

#define BRANCHES	EVENT_BR_INST_RETIRED_ALL_BRANCHES
#define EVERY_GROUP	(GROUP_AUX | GROUP_GPR | GROUP_XMM | GROUP_LBR(3))

static bool need_every_group(char *reason, size_t size)
{
	return need_arch_groups(EVERY_GROUP, reason, size) && need_arch_lbr_kinds(reason, size);
}

static bool need_gpr(char *reason, size_t size)
{
	return need_arch_groups(GROUP_GPR, reason, size);
}

static u64 sure_counters(void)
{
	return counter_caps()->v6.pebs & ARCH_SURE;
}

/* The group of the upper halves of YMM registers if records may have it, else 0. */
static u64 upper_group(void)
{
	return (u64)counter_caps()->v6.groups << 32 & GROUP_YMMH && ymm_are_there() ? GROUP_YMMH :
										      0;
}

static struct {
	struct xmm_registers xmm, kept;
	struct ymm_halves upper;
} vectors;

static void vectors_begin(unsigned c)
{
	xmm_fill(&vectors.xmm, c);
	for (unsigned i = 0; i < 2 * YMM_REGISTERS; i++)
		vectors.upper.quad[i] = ~vectors.xmm.half[i];
	xmm_save(&vectors.kept);
	xmm_load(&vectors.xmm);
	if (upper_group())
		ymm_begin(&vectors.upper);
}

static void vectors_end(void)
{
	if (upper_group())
		ymm_end();
	xmm_load(&vectors.kept);
}

static void check_vectors(struct test *t, unsigned c)
{
	struct arch_fragment f;
	const u64 xer = arch_group(0, ARCH_XER, &f), upper = upper_group() ? BIT(2) : 0;

	if (!CHECK(t, APEBS_22, xer, "XER, counter %u", c) ||
	    !CHECK_EQ(t, APEBS_22, BIT(1), arch_at(xer) & ~upper, "XSTATE_BV but YMMH, counter %u",
		      c) ||
	    (upper && !CHECK_EQ(t, APEBS_42, upper, arch_at(xer) & upper,
				"YMMH of XSTATE_BV, counter %u", c)))
		return;
	for (unsigned i = 0; i < 2 * XMM_REGISTERS; i++) {
		CHECK_EQ(t, APEBS_22, vectors.xmm.half[i], arch_at(xer + 0x10 + 8 * i),
			 "%s half of XMM%u, counter %u", i & 1 ? "upper" : "lower", i / 2, c);
		if (upper)
			CHECK_EQ(t, APEBS_42, vectors.upper.quad[i], arch_at(xer + 0x110 + 8 * i),
				 "quadword %u of the upper half of YMM%u, counter %u", i % 2, i / 2,
				 c);
	}
}

/* Record a chain of jumps, then jumps with stores between them, which counters log if they can. */
static void record_branches(struct test *t, struct lbr_stack *stack)
{
	struct event stores = { .counters = 0 };
	u64 logging = 0;

	lbr_any_open();
	lbr_any_go_on(&lbr_piece_lbr_chain, LBR_LINKS, stack);
	if (event_get(EK_STORES, 0, &stores))
		logging = stores.counters & arch_lbr_leaf().event_logging;
	FOR_EACH_COUNTER (c, logging)
		counter_program(c, stores.code, COUNT_BOTH | COUNT_LBR_LOG);
	counters_enable((struct pmc_mask){ logging });
	lbr_any_go_on(&lbr_piece_lbr_events, 0, stack);
	counters_disable();
	FOR_EACH_COUNTER (c, logging) {
		unsigned events = 0;

		for (unsigned i = 0; i < stack->depth; i++)
			events += stack->branch[i].events[c];
		CONTROL_RANGE(t, APEBS_23, 1, ~0ULL, events,
			      "stores of IA32_PMC%u in the registers", c);
	}
}

static void check_entries(struct test *t, unsigned c, const struct lbr_stack *wanted)
{
	struct arch_fragment f;
	const u64 lbr = arch_group(0, ARCH_LBR, &f);

	if (!CHECK(t, APEBS_23, lbr, "LBR, counter %u", c))
		return;
	for (unsigned i = 0; i < wanted->depth; i++) {
		const u64 at = lbr + 0x30 + 0x18 * i;

		CHECK_EQ(t, APEBS_23, wanted->raw[i].from, arch_at(at),
			 "FROM of entry %u, counter %u", i, c);
		CHECK_EQ(t, APEBS_23, wanted->raw[i].to, arch_at(at + 8),
			 "TO of entry %u, counter %u", i, c);
		CHECK_EQ(t, APEBS_23, wanted->raw[i].info, arch_at(at + 16),
			 "INFO of entry %u, counter %u", i, c);
	}
}

/*
 * APEBS-16  BASIC must have 30H bytes, with EventingIP at 00H, Applicable Counters at 08H and the
 *           TSC at 10H.
 *           Linux struct arch_pebs_basic
 * APEBS-22  The XMM component must have 100H bytes, with XMMn at 10H * n.
 *           Linux
 * APEBS-23  LBR must begin with 30H bytes that have IA32_LBR_CTL at 08H and IA32_LBR_DEPTH at 10H,
 *           and then have FROM, TO and INFO of each entry, the newest first.
 *           Linux struct arch_pebs_lbr_header
 * APEBS-42  The YMMH component must have 100H bytes, with bits 255:128 of YMMn at 10H * n, after
 *           the XMM component if that is there.
 *           CPUID leaf 23H, sub-leaf 4; SDM volume 1, XSAVE-Managed State
 *
 * Given  XMM registers, upper halves of YMM registers and last branch records that differ in each
 *        half and each entry; counters of CPUID.1CH:ECX[19:16] have logged stores in INFO; RDTSC
 *        before arming
 * When   each counter of CPUID.(23H,5) makes a record with AUX, GPR, XMM and LBR, and where
 *        CPUID.(23H,4) has it with YMMH, and RDTSC after it
 * Then   EventingIP is near the piece, the applicable counters are that counter alone, and the TSC
 *        is between the two; all registers and entries, with INFO, are at their places
 * Control: INFO of the registers has events of each counter that logs
 */
TEST(archpebs, record_of_each_counter_has_every_group_whole,
     REQS(APEBS_16, APEBS_22, APEBS_23, APEBS_42),
     NEEDS(need_perfmon, need_every_group, need_branches), .deadline_ms = 8000)
{
	enum { NEAR = 0x800000 };
	const u64 piece = (u64)(uintptr_t)workload_load.begin;
	struct lbr_stack stack;

	record_branches(t, &stack);
	FOR_EACH_COUNTER (c, sure_counters()) {
		const struct arch_run run = { .counter = c, .groups = EVERY_GROUP | upper_group() };
		const u64 before = tsc_read();

		msr_write(MSR_IA32_LBR_CTL, arch_lbr_only(0));
		vectors_begin(c);
		arch_any_window(&run, NEVER);
		vectors_end();
		msr_write(MSR_IA32_LBR_CTL, 0);
		arch_pebs_disarm();
		counter_program_disabled(c, 0, 0);
		if (!arch_one_record(t, AT(APEBS_16), 0))
			return;
		CHECK_RANGE(t, APEBS_16, piece - NEAR, piece + NEAR, arch_at(AT_EVENTING_IP),
			    "EventingIP of a record of counter %u, near the piece", c);
		CHECK_EQ(t, APEBS_16, BIT(c), arch_at(AT_APPLICABLE),
			 "applicable counters, counter %u", c);
		CHECK_RANGE(t, APEBS_16, before, tsc_read(), arch_at(AT_TSC),
			    "TSC, from RDTSC before arming to one after, counter %u", c);
		check_vectors(t, c);
		check_entries(t, c, &stack);
		arch_pebs_close();
		counters_clear(BIT(c));
	}
	lbr_any_close();
}

/*
 * APEBS-22  The XMM component must have 100H bytes, with XMMn at 10H * n.
 *           Linux
 * APEBS-23  LBR must begin with 30H bytes that have IA32_LBR_CTL at 08H and IA32_LBR_DEPTH at 10H,
 *           and then have FROM, TO and INFO of each entry, the newest first.
 *           Linux struct arch_pebs_lbr_header
 * APEBS-38  A fixed counter i of CPUID.(23H,5):ECX must write records that have bit 32 + i in
 *           Applicable Counters.
 *           SDM volume 1, CPUID leaf 23H, sub-leaf 5; Linux
 * APEBS-42  The YMMH component must have 100H bytes, with bits 255:128 of YMMn at 10H * n, after
 *           the XMM component if that is there.
 *           CPUID leaf 23H, sub-leaf 4; SDM volume 1, XSAVE-Managed State
 *
 * Given  XMM registers, upper halves of YMM registers and last branch records that differ in each
 *        half and each entry; counters of CPUID.1CH:ECX[19:16] have logged stores in INFO
 * When   each counter of CPUID.(23H,5) counts at CPL 3 alone, and makes a record with AUX, GPR, XMM
 *        and LBR there, and where CPUID.(23H,4) has it with YMMH
 * Then   all registers and entries, with INFO, are at their places; a fixed counter's record has
 *        its bit of Applicable Counters
 * Control: INFO of the registers has events of each counter that logs
 */
TEST(archpebs, record_of_cpl_3_has_xmm_registers_and_branches,
     REQS(APEBS_22, APEBS_23, APEBS_38, APEBS_42),
     NEEDS(need_perfmon, need_every_group, need_branches), .deadline_ms = 8000)
{
	struct lbr_stack stack;

	record_branches(t, &stack);
	FOR_EACH_COUNTER (c, sure_counters()) {
		const bool slow = c == OVERFLOW_SLOW;

		arch_pebs_open(0, ARCH_PEBS_NEVER);
		arch_pebs_arm(c, BRANCHES, COUNT_USR, slow ? SLOW_PERIOD : ROUNDS_PERIOD,
			      EVERY_GROUP | upper_group(), NEVER);
		msr_write(MSR_IA32_LBR_CTL, arch_lbr_only(0));
		vectors_begin(c);
		for (unsigned i = 0; i < SLOW_WINDOWS && !arch_pebs_written(); i++) {
			counters_enable(pmc_one(c));
			workload_run_user(&workload_load, slow ? SLOW_ROUNDS : ROUNDS_FOR(1));
			counters_disable();
		}
		vectors_end();
		msr_write(MSR_IA32_LBR_CTL, 0);
		arch_pebs_disarm();
		counter_program_disabled(c, 0, 0);
		if (!arch_one_record(t, AT(APEBS_22, APEBS_23), 0))
			return;
		if (PMC_IS_FIXED(c))
			CHECK_EQ(t, APEBS_38, BIT(c), arch_at(AT_APPLICABLE),
				 "applicable counters, counter %u at CPL 3", c);
		check_vectors(t, c);
		check_entries(t, c, &stack);
		arch_pebs_close();
		counters_clear(BIT(c));
	}
	lbr_any_close();
}

/* Take a record of counter c, with GPR, of an instruction between the first and last mark. Returns
 * the address of the group; 0: none of the tried periods gives such a record. */
static u64 gpr_at_a_mark(unsigned c)
{
	enum { LEAST = 3 * PERIOD, MOST = 4096 };
	const struct workload *w = &workload_sample;
	const u64 first = workload_mark(w, 0), last = workload_mark(w, SAMPLE_MARKS - 1);

	for (u64 period = LEAST; period < MOST; period += period / 16) {
		struct arch_fragment f;
		u64 ip;

		arch_pebs_open(0, ARCH_PEBS_NEVER);
		arch_pebs_arm(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, period, GROUP_GPR, NEVER);
		workload_run(w, PERIOD, pmc_one(c));
		arch_pebs_disarm();
		counter_program_disabled(c, 0, 0);
		counters_clear(BIT(c));
		ip = arch_at(AT_EVENTING_IP);
		if (arch_pebs_written() && ip >= first && ip <= last)
			return arch_group(0, ARCH_GPR, &f);
	}
	return 0;
}

/*
 * APEBS-20  GPR must have A0H bytes: RFLAGS, RIP, RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to
 *           R15, SSP and a reserved quadword.
 *           Linux struct arch_pebs_gprs
 *
 * Given  registers with different values while marked loads run
 * When   each general-purpose counter of CPUID.(23H,5):EAX counts instructions and makes a record
 *        with GPR there, and so does each fixed counter; every one except fixed counters above 0
 *        does so at one of the periods that are tried
 * Then   all registers but RAX, RIP and RFLAGS are at their places
 * Control: each general-purpose counter and fixed counter 0 makes a record at the marked loads
 */
TEST(archpebs, gpr_group_of_each_counter_holds_the_registers, REQS(APEBS_20),
     NEEDS(need_perfmon, need_gpr, need_instructions), .deadline_ms = 8000)
{
	FOR_EACH_COUNTER (c, sure_counters()) {
		const u64 gpr = gpr_at_a_mark(c);

		if (c <= PMC_FIXED(0))
			CONTROL(t, APEBS_20, gpr, "a record of counter %u at the marked loads", c);
		if (gpr)
			arch_check_registers(t, AT(APEBS_20), gpr, workload_stack());
		arch_pebs_close();
	}
}
