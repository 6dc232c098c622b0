/* SPDX-License-Identifier: MIT */
/*
 * What stops recording: SDM "Freezing LBR and Performance Counters on PMI", of the legacy records
 * and of the architectural ones alike, and the debug exception that clears IA32_DEBUGCTL.LBR
 * ("Debug Exceptions and the LBR flag"). The entries before an interrupt are known, but not how
 * many instructions late the interrupt is.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "kernel/processor/cpu.h"
#include "pmu/counter.h"
#include "pmu/lbr/any.h"
#include "spec/x86.h"
#include "tests/frame/test.h"
#include "tests/lbr/arch.h"
#include "tests/measure/overflow.h"

#define LBR_FRZ		IA32_PERF_GLOBAL_STATUS_LBR_FRZ
#define FREEZE_LBRS	IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI
#define CALLS		3u	/* in lbr_piece_lbr_nested */
#define CALL_STACK_KINDS \
	(IA32_LBR_CTL_NEAR_REL_CALL | IA32_LBR_CTL_NEAR_IND_CALL | IA32_LBR_CTL_NEAR_RET)

/* Write `freeze` to IA32_DEBUGCTL and start recording. The legacy records are enabled in
 * IA32_DEBUGCTL too. */
static void start(u64 freeze)
{
	const struct lbr_switch recording = lbr_any_switch();

	msr_write(MSR_IA32_DEBUGCTL, freeze);
	msr_write(recording.msr, recording.on | (recording.msr == MSR_IA32_DEBUGCTL ? freeze : 0));
}

/* Stop recording, for records of either kind. */
static void stop(void)
{
	msr_write(lbr_any_switch().msr, 0);
}

/* The enable bits that the register still has since start(). */
static u64 still_on(void)
{
	const struct lbr_switch recording = lbr_any_switch();

	return msr_read(recording.msr) & recording.on;
}

/* IA32_PMC0 overflows in the long sled, whose loop is recorded. The handler doesn't clear the
 * status. Recording stays as it was at the interrupt. */
static const struct pmi_log *interrupt(u64 freeze)
{
	/* stay_masked: if LVTPC were unmasked while a status bit is 1, it could interrupt again and
	 * again (Linux, intel_pmu_handle_irq). */
	static const struct pmi_options leave = { .keep_status = true, .stay_masked = true };
	const struct pmi_log *log;

	lbr_any_open();
	pmi_open(&leave);
	start(freeze);
	overflow_in(&workload_long_sled, 0, COUNT_INT);
	log = pmi_settle();
	pmi_close();
	return log;
}

static void clean_up(void)
{
	msr_write(MSR_IA32_DEBUGCTL, 0);
	lbr_any_close();
	overflow_off(0);
	counters_clear(LBR_FRZ);
}

/*
 * FRZ-13  While LBR_Frz is set no branch may be recorded, and IA32_DEBUGCTL[0] must stay 1.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; 17.10.2 Streamlined Freeze LBRs
 *         on PMI Operation
 * FRZ-15  The LBR stack must keep its entries while frozen.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 * FRZ-18  On version 4 and later an interrupt must change neither IA32_PERF_GLOBAL_CTRL nor
 *         IA32_DEBUGCTL[0].
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; Table 18-53
 * FRZ-20  FREEZE_LBRS_ON_PMI must freeze the architectural LBR by LBR_Frz and leave 14CEH[0]
 *         unchanged.
 *         Linux
 * PMI-19  With FREEZE_LBRS_ON_PMI set, a performance-monitoring interrupt must stop branch
 *         recording: versions 2 and 3 clear IA32_DEBUGCTL.LBR, version 4 sets LBR_FRZ.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_DEBUGCTL[11] and the enable of recording are 1: IA32_DEBUGCTL[0], or IA32_LBR_CTL[0]
 *        of architectural records; IA32_PMC0 overflows with its interrupt at the end of a loop; the
 *        handler leaves the status
 * When   branches are executed in the handler and after it
 * Then   LBR_Frz is set, the enable and IA32_DEBUGCTL[11] still 1, and the stack still holds the
 *        loop's branches
 * Control: once LBR_Frz is cleared the same branches are recorded
 */
TEST(lbr, interrupt_freezes_the_stack_by_lbr_frz_alone,
     REQS(FRZ_13, FRZ_15, FRZ_18, FRZ_20, PMI_19),
     NEEDS(need_perfmon, need_branches, need_any_lbr, need_version_4, need_debug_control_write))
{
	const struct lbr_switch recording = lbr_any_switch();
	const bool legacy = recording.msr == MSR_IA32_DEBUGCTL;
	const struct test_claim kept = legacy ? AT(FRZ_13, FRZ_18) : AT(FRZ_20);
	const struct pmi_log *log = interrupt(FREEZE_LBRS);
	const u64 loop = workload_mark(&workload_long_sled, 0) - 2;	/* JNZ before the NOPs */
	struct lbr_stack frozen, after;

	lbr_any_read(&frozen);
	if (!CONTROL_EQ(t, IDS(FRZ_13, FRZ_15, FRZ_18, FRZ_20, PMI_19), 1, log->count,
			"interrupts"))
		goto out;
	CHECK_EQ(t, PMI_19, FREEZE_LBRS, msr_read(MSR_IA32_DEBUGCTL) & FREEZE_LBRS,
		 "IA32_DEBUGCTL[11] after the interrupt");
	CHECK_EQ(t, IDS(FRZ_20, PMI_19), LBR_FRZ, log->entry[0].status & LBR_FRZ,
		 "LBR_FRZ at the handler's entry");
	test_check_eq(t, kept, recording.on, still_on(), "%s after the interrupt", recording.name);
	CHECK_EQ(t, FRZ_15, loop, frozen.branch[0].from,
		 "FROM of the newest entry, the sled's loop");
	CHECK_EQ(t, FRZ_15, loop, frozen.branch[frozen.depth - 1].from,
		 "FROM of the oldest entry, the sled's loop");
	workload_run_uncounted(lbr_piece_lbr_chain.workload, LBR_LINKS);
	test_check_eq(t, kept, recording.on, still_on(), "%s after branches, frozen",
		      recording.name);
	lbr_any_read(&after);
	CHECK(t, IDS(FRZ_13, FRZ_15, FRZ_20), lbr_same(&frozen, &after),
	      "the stack is unchanged after %u branches, frozen; FROM of the newest entry %#lx",
	      LBR_LINKS, after.branch[0].from);
	counters_clear(LBR_FRZ);
	lbr_any_go_on(&lbr_piece_lbr_chain, LBR_LINKS, &after);
	CONTROL(t, IDS(FRZ_13, FRZ_15, FRZ_20), !lbr_same(&frozen, &after),
		"the same branches are recorded, not frozen");
out:
	clean_up();
}

/*
 * FRZ-14  Clearing LBR_Frz must resume recording without a write to IA32_DEBUGCTL.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; Linux
 *
 * Given  LBR_Frz is set by an interrupt, IA32_DEBUGCTL[11] and the enable of recording are 1
 * When   LBR_Frz is cleared, and nothing written to IA32_DEBUGCTL or IA32_LBR_CTL
 * Then   branches are recorded
 * Control: before that they weren't
 */
TEST(lbr, clearing_lbr_frz_resumes_recording, REQS(FRZ_14),
     NEEDS(need_perfmon, need_branches, need_any_lbr, need_version_4, need_debug_control_write))
{
	const struct lbr_row last = lbr_chain_row(LBR_LINKS, 0);
	const struct pmi_log *log = interrupt(FREEZE_LBRS);
	struct lbr_stack stack;

	CONTROL_EQ(t, FRZ_14, 1, log->count, "interrupts");
	CONTROL_EQ(t, FRZ_14, LBR_FRZ, counters_status() & LBR_FRZ, "LBR_FRZ after it");
	workload_run_uncounted(lbr_piece_lbr_chain.workload, LBR_LINKS);
	lbr_any_read(&stack);
	CONTROL_EQ(t, FRZ_14, stack.depth, lbr_find(&stack, last.from),
		   "entry of the chain's last branch, frozen");
	counters_clear(LBR_FRZ);
	CHECK_EQ(t, FRZ_14, 0, counters_status() & LBR_FRZ, "LBR_FRZ after it was cleared");
	workload_run_uncounted(lbr_piece_lbr_chain.workload, LBR_LINKS);
	stop();
	lbr_any_read(&stack);
	CHECK_RANGE(t, FRZ_14, 0, stack.depth - 1, lbr_find(&stack, last.from),
		    "entry of the chain's last branch, LBR_FRZ cleared and %s as it was",
		    lbr_any_switch().name);
	clean_up();
}

/*
 * PMI-19  With FREEZE_LBRS_ON_PMI set, a performance-monitoring interrupt must stop branch
 *         recording: versions 2 and 3 clear IA32_DEBUGCTL.LBR, version 4 sets LBR_FRZ.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_DEBUGCTL[0] and [11] are 1; IA32_PMC0 overflows with its interrupt at the end of a
 *        loop, twice
 * When   branches are executed after the handler
 * Then   the stack holds the loop's branches and none of those; IA32_DEBUGCTL[0] is 0 and [11]
 *        still 1
 * Control: once IA32_DEBUGCTL[0] is set again the same branches are recorded
 */
TEST(lbr, interrupt_ends_recording_and_keeps_the_stack_before_version_4, REQS(PMI_19),
     NEEDS(need_perfmon, need_branches, need_lbr, need_legacy_freeze, need_debug_control_write))
{
	const u64 loop = workload_mark(&workload_long_sled, 0) - 2;	/* JNZ before the NOPs */

	for (unsigned n = 0; n < 2; n++) {
		const struct pmi_log *log = interrupt(FREEZE_LBRS);
		struct lbr_stack frozen, after;

		CONTROL_EQ(t, PMI_19, 1, log->count, "interrupts");
		CHECK_EQ(t, PMI_19, FREEZE_LBRS, msr_read(MSR_IA32_DEBUGCTL),
			 "IA32_DEBUGCTL after the interrupt");
		lbr_any_read(&frozen);
		if (lbr_is_lost(t, &frozen))
			return;
		CHECK_RANGE(t, PMI_19, 0, frozen.depth - 1, lbr_find(&frozen, loop),
			    "entry of the loop's branch");
		workload_run_uncounted(lbr_piece_lbr_chain.workload, LBR_LINKS);
		lbr_any_read(&after);
		CHECK(t, PMI_19, lbr_same(&frozen, &after) && frozen.top == after.top,
		      "the stack is unchanged after %u branches; FROM of the newest entry %#lx",
		      LBR_LINKS, after.branch[0].from);
		lbr_any_go_on(&lbr_piece_lbr_chain, LBR_LINKS, &after);
		CONTROL(t, PMI_19, !lbr_same(&frozen, &after),
			"the same branches are recorded, IA32_DEBUGCTL[0] = 1");
		lbr_any_close();
		overflow_off(0);
	}
}

#define FEW_LINKS	3u

/*
 * FRZ-14  Clearing LBR_Frz must resume recording without a write to IA32_DEBUGCTL.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; Linux
 *
 * Given  a stack of zeros, LBR_Frz set by software, the enable of recording 1
 * When   LBR_Frz is cleared right before a chain of branches
 * Then   the first of them is recorded, and it is the oldest entry
 * Control: the others are recorded
 */
TEST(lbr, first_branch_after_lbr_frz_is_cleared_is_recorded, REQS(FRZ_14),
     NEEDS(need_perfmon, need_any_lbr, need_version_4))
{
	/* The write that ends the window clears no status bit. */
	const struct workload_switch unfreeze = { MSR_IA32_PERF_GLOBAL_OVF_CTRL, LBR_FRZ, 0, 0 };
	const struct lbr_switch recording = lbr_any_switch();
	struct lbr_stack stack;
	unsigned last;

	lbr_any_open();
	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, LBR_FRZ);
	start(0);
	workload_run_switched(lbr_piece_lbr_chain.workload, FEW_LINKS, &unfreeze);
	/* Don't call stop(): its branches may be too many for a stack of 16 entries. */
	msr_write(recording.msr, 0);
	lbr_any_read(&stack);
	last = lbr_find(&stack, lbr_chain_row(FEW_LINKS, 0).from);
	if (CONTROL_RANGE(t, FRZ_14, 0, stack.depth - FEW_LINKS - 2, last,
			  "entry of the chain's last branch")) {
		for (unsigned age = 1; age < FEW_LINKS; age++)
			CONTROL_EQ(t, FRZ_14, lbr_chain_row(FEW_LINKS, age).from,
				   stack.branch[last + age].from,
				   "FROM of the branch %u before the chain's last", age);
		CHECK_EQ(t, FRZ_14, lbr_chain_row(FEW_LINKS, FEW_LINKS).from,
			 stack.branch[last + FEW_LINKS].from,
			 "FROM of the first branch after LBR_FRZ was cleared");
		CHECK_EQ(t, FRZ_14, 0, stack.raw[last + FEW_LINKS + 1].from,
			 "FROM of the entry before it: of no branch while LBR_FRZ was set");
	}
	clean_up();
}

/*
 * FRZ-16  Without IA32_DEBUGCTL[11] an interrupt must leave LBR_Frz 0 and recording on.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  the enable of recording is 1, IA32_DEBUGCTL[11] = 0
 * When   IA32_PMC0 overflows with its interrupt
 * Then   LBR_Frz is 0 at the handler's entry, and branches after it are recorded
 * Control: with IA32_DEBUGCTL[11] = 1 LBR_Frz is set
 */
TEST(lbr, interrupt_without_freeze_lbrs_on_pmi_leaves_recording_on, REQS(FRZ_16),
     NEEDS(need_perfmon, need_branches, need_any_lbr, need_version_4, need_debug_control_write))
{
	const struct lbr_row last = lbr_chain_row(LBR_LINKS, 0);
	const struct pmi_log *log = interrupt(0);
	struct lbr_stack stack;

	if (CONTROL_EQ(t, FRZ_16, 1, log->count, "interrupts without FREEZE_LBRS_ON_PMI"))
		CHECK_EQ(t, FRZ_16, 0, log->entry[0].status & LBR_FRZ,
			 "LBR_FRZ at the handler's entry");
	workload_run_uncounted(lbr_piece_lbr_chain.workload, LBR_LINKS);
	stop();
	lbr_any_read(&stack);
	CHECK_RANGE(t, FRZ_16, 0, stack.depth - 1, lbr_find(&stack, last.from),
		    "entry of the chain's last branch after the interrupt");
	clean_up();
	log = interrupt(FREEZE_LBRS);
	if (CONTROL_EQ(t, FRZ_16, 1, log->count, "interrupts with FREEZE_LBRS_ON_PMI"))
		CONTROL_EQ(t, FRZ_16, LBR_FRZ, log->entry[0].status & LBR_FRZ,
			   "LBR_FRZ at the handler's entry, FREEZE_LBRS_ON_PMI = 1");
	clean_up();
}

/*
 * FRZ-12  Setting LBR_Frz through IA32_PERF_GLOBAL_STATUS_SET must stop branch recording.
 *         SDM 18.2.4.2 IA32_PERF_GLOBAL_STATUS_RESET and IA32_PERF_GLOBAL_STATUS_SET
 *
 * Given  a stack of known branches
 * When   software sets LBR_Frz through IA32_PERF_GLOBAL_STATUS_SET, and other branches are
 *        executed with recording enabled
 * Then   the stack is unchanged
 * Control: once LBR_Frz is cleared they are recorded
 */
TEST(lbr, lbr_frz_set_by_software_stops_recording, REQS(FRZ_12),
     NEEDS(need_perfmon, need_any_lbr, need_version_4))
{
	struct lbr_stack before, after;

	lbr_any_open();
	lbr_any_go_on(&lbr_piece_lbr_kinds, 0, &before);
	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, LBR_FRZ);
	CONTROL_EQ(t, FRZ_12, LBR_FRZ, counters_status() & LBR_FRZ, "LBR_FRZ");
	lbr_any_go_on(&lbr_piece_lbr_chain, LBR_LINKS, &after);
	CHECK(t, FRZ_12, lbr_same(&before, &after),
	      "the stack is unchanged after %u branches; FROM of the newest entry %#lx", LBR_LINKS,
	      after.branch[0].from);
	counters_clear(LBR_FRZ);
	lbr_any_go_on(&lbr_piece_lbr_chain, LBR_LINKS, &after);
	CONTROL(t, FRZ_12, !lbr_same(&before, &after), "the same branches are recorded, cleared");
	lbr_any_close();
}

static bool need_any_call_stack(char *reason, size_t size)
{
	if (counter_caps()->arch_lbr)
		return need_arch_lbr_kinds(reason, size) && need_arch_lbr_call_stack(reason, size);
	return need_lbr_call_stack(reason, size);
}

/* Call-stack mode: run three nested calls, of which so many return. empty: clear the stack
 * before. */
static void run_calls(bool empty, unsigned returns, struct lbr_stack *stack)
{
	const struct lbr_piece *piece = &lbr_piece_lbr_nested;

	if (counter_caps()->arch_lbr) {
		if (empty)
			lbr_any_open();
		arch_lbr_go_on(piece, returns,
			       arch_lbr_only(CALL_STACK_KINDS) | IA32_LBR_CTL_CALL_STACK, stack);
	} else {
		if (empty)
			lbr_open(LBR_SELECT_CALL_STACK, 0);
		lbr_go_on(piece, returns, IA32_DEBUGCTL_LBR, stack);
	}
}

/*
 * FRZ-13  While LBR_Frz is set no branch may be recorded, and IA32_DEBUGCTL[0] must stay 1.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; 17.10.2 Streamlined Freeze LBRs
 *         on PMI Operation
 * FRZ-15  The LBR stack must keep its entries while frozen.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  call-stack mode, and three calls on the stack
 * When   software sets LBR_Frz, and three calls and three returns are executed
 * Then   the stack is unchanged
 * Control: without LBR_Frz three calls of which two return add one to it
 */
TEST(lbr, lbr_frz_keeps_the_calls_of_call_stack_mode, REQS(FRZ_13, FRZ_15),
     NEEDS(need_perfmon, need_any_lbr, need_version_4, need_any_call_stack))
{
	struct lbr_stack before, after;

	run_calls(true, 0, &before);
	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, LBR_FRZ);
	for (unsigned returns = 0; returns <= CALLS; returns += CALLS) {
		run_calls(false, returns, &after);
		CHECK(t, IDS(FRZ_13, FRZ_15), lbr_same(&before, &after),
		      "the stack is unchanged after %u calls and %u returns; FROM of the newest "
		      "entry %#lx",
		      CALLS, returns, after.branch[0].from);
	}
	counters_clear(LBR_FRZ);
	run_calls(false, CALLS - 1, &after);
	CONTROL(t, IDS(FRZ_13, FRZ_15), !lbr_same(&before, &after),
		"a call is added once LBR_FRZ is cleared");
	lbr_any_close();
}

/*
 * FRZ-27  CTR_Frz must leave branch recording on, and LBR_Frz the counters running.
 *         SDM 18.2.4.1 Enhancement in IA32_PERF_GLOBAL_STATUS: CTR_Frz and LBR_Frz, each of its
 *         own facility
 *
 * Given  IA32_PMC0 counts, and branches are recorded
 * When   software sets CTR_Frz alone, and branches are executed; then LBR_Frz alone, and others are
 * Then   with CTR_Frz they are recorded; with LBR_Frz IA32_PMC0 counts them
 * Control: with CTR_Frz IA32_PMC0 doesn't count, with LBR_Frz nothing is recorded
 */
TEST(lbr, ctr_frz_leaves_recording_on_and_lbr_frz_the_counters, REQS(FRZ_27),
     NEEDS(need_perfmon, need_instructions, need_any_lbr, need_version_4))
{
	const struct lbr_row last = lbr_chain_row(LBR_LINKS, 0);
	struct lbr_stack stack;
	u64 before;

	counter_program(0, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(0, 0);
	lbr_any_open();
	counters_enable(pmc_one(0));
	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, IA32_PERF_GLOBAL_STATUS_CTR_FRZ);
	before = counter_read(0);
	lbr_any_go_on(&lbr_piece_lbr_chain, LBR_LINKS, &stack);
	lbr_check_chain(t, AT(FRZ_27), &stack, LBR_LINKS, 3);
	CONTROL_EQ(t, FRZ_27, before, counter_read(0), "IA32_PMC0, CTR_FRZ set");
	counters_clear(IA32_PERF_GLOBAL_STATUS_CTR_FRZ);
	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, LBR_FRZ);
	before = counter_read(0);
	lbr_any_go_on(&lbr_piece_lbr_kinds, 0, &stack);
	CHECK_RANGE(t, FRZ_27, before + 1, ~0ULL, counter_read(0),
		    "IA32_PMC0 after a piece, LBR_FRZ set and CTR_FRZ not");
	CONTROL_EQ(t, FRZ_27, last.from, stack.branch[0].from,
		   "FROM of the newest entry after another piece, LBR_FRZ set");
	counters_disable();
	counters_clear(LBR_FRZ);
	counter_program_disabled(0, 0, 0);
	lbr_any_close();
}

/*
 * FRZ-12  Setting LBR_Frz through IA32_PERF_GLOBAL_STATUS_SET must stop branch recording.
 *         SDM 18.2.4.2 IA32_PERF_GLOBAL_STATUS_RESET and IA32_PERF_GLOBAL_STATUS_SET
 * FRZ-14  Clearing LBR_Frz must resume recording without a write to IA32_DEBUGCTL.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; Linux
 *
 * Given  a stack of known branches, LBR_Frz and CTR_Frz set by software; then recording is enabled,
 *        and stays so
 * When   a chain of branches runs at CPL 3; one write clears both bits, as a handler does, and the
 *        chain runs again
 * Then   FROM, TO and INFO of each entry are unchanged after the first run; the second run is
 *        recorded
 */
TEST(lbr, lbr_frz_stops_recording_at_cpl_3_until_it_is_cleared_with_ctr_frz, REQS(FRZ_12, FRZ_14),
     NEEDS(need_perfmon, need_any_lbr, need_version_4))
{
	const u64 both = LBR_FRZ | IA32_PERF_GLOBAL_STATUS_CTR_FRZ;
	const struct lbr_switch recording = lbr_any_switch();
	const u64 last = lbr_chain_row(FEW_LINKS, 0).from;
	struct lbr_stack before, after;

	lbr_any_open();
	lbr_any_go_on(&lbr_piece_lbr_kinds, 0, &before);
	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, both);
	start(0);
	workload_run_user(lbr_piece_lbr_chain.workload, FEW_LINKS);
	lbr_any_read(&after);
	CHECK(t, FRZ_12, lbr_same(&before, &after),
	      "the stack is unchanged after branches at CPL 3; FROM of the newest entry %#lx",
	      after.branch[0].from);
	counters_clear(both);
	workload_run_user(lbr_piece_lbr_chain.workload, FEW_LINKS);
	msr_write(recording.msr, 0);
	lbr_any_read(&after);
	CHECK_RANGE(t, FRZ_14, 0, after.depth - 1, lbr_find(&after, last),
		    "entry of the last branch at CPL 3, LBR_FRZ and CTR_FRZ cleared by one write");
	lbr_any_close();
}

/* The enable bits that the handler of a debug or breakpoint exception has read. */
static u64 found;

static void look(struct trap_frame *frame)
{
	found = still_on();
	frame->rflags &= ~RFLAGS_TF;
	dr7_write(DR7_FIXED);
	if (frame->vector == VECTOR_UD)
		lbr_skip_ud2(frame);
}

/* Record the piece; look() handles its exception. */
static void record_exception(u8 vector, const struct lbr_piece *piece, struct lbr_stack *stack)
{
	intr_handler before = intr_set_handler(vector, look);

	found = ~0ULL;
	lbr_record(piece, 0, 0, stack);
	intr_set_handler(vector, before);
}

/*
 * LBR-08  The processor must clear IA32_DEBUGCTL[0] before a debug exception handler runs, and
 *         keep the stack.
 *         SDM 17.4.1 IA32_DEBUGCTL MSR: debug exceptions and the LBR flag
 *
 * Given  LBR = 1, a jump, then a single-step trap
 * When   its handler reads IA32_DEBUGCTL
 * Then   it is 0, and the jump is the newest entry, or the one before it if the exception is
 *        recorded
 * Control: in the handler of INT3 LBR is 1
 */
TEST(lbr, debug_exception_clears_lbr_and_keeps_the_stack, REQS(LBR_08), NEEDS(need_lbr))
{
	const struct lbr_row *row = lbr_piece_lbr_step.rows;
	struct lbr_stack stack;

	record_exception(VECTOR_BP, &lbr_piece_lbr_breakpoint, &stack);
	CONTROL_EQ(t, LBR_08, IA32_DEBUGCTL_LBR, found, "IA32_DEBUGCTL[0] in the handler of INT3");
	record_exception(VECTOR_DB, &lbr_piece_lbr_step, &stack);
	CHECK_EQ(t, LBR_08, 0, found, "IA32_DEBUGCTL[0] in the handler of a debug exception");
	CHECK(t, LBR_08, lbr_is(&stack, 0, row) || lbr_is(&stack, 1, row),
	      "the jump before it is the newest entry, or the one before that; FROM of these %#lx, "
	      "%#lx",
	      stack.branch[0].from, stack.branch[1].from);
}

/* Bit 0 of IA32_DEBUGCTL and of IA32_LBR_CTL: enables the legacy or the architectural records. */
#define LBR_ENABLED	IA32_DEBUGCTL_LBR

/* Take INT3, then a single-step trap, while these status bits are set. in_handler: LBR_ENABLED as
 * each handler reads it. *stack: the stack after the trap. */
static void take_exceptions(u64 status, struct lbr_stack *stack, u64 in_handler[2])
{
	const struct lbr_piece *pieces[] = { &lbr_piece_lbr_breakpoint, &lbr_piece_lbr_step };
	static const u8 vectors[] = { VECTOR_BP, VECTOR_DB };

	for (unsigned i = 0; i < 2; i++) {
		intr_handler before = intr_set_handler(vectors[i], look);

		found = ~0ULL;
		lbr_any_open();
		if (status)
			msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, status);
		lbr_any_go_on(pieces[i], 0, stack);
		if (status)
			counters_clear(status);
		lbr_any_close();
		intr_set_handler(vectors[i], before);
		in_handler[i] = found & LBR_ENABLED;
	}
}

/*
 * ALBR-31  A debug exception must clear IA32_LBR_CTL[0] and keep the entries.
 *          Instruction Set Extensions Programming Reference 7.1.4.4: LBREn is cleared on #DB
 *
 * Given  IA32_LBR_CTL[0] = 1, a jump, then a single-step trap
 * When   its handler reads IA32_LBR_CTL
 * Then   [0] is 0 there and after it, and the jump is the newest entry, or the one before it if the
 *        exception is recorded
 * Control: in the handler of INT3 [0] is 1
 */
TEST(lbr, debug_exception_clears_lbren_and_keeps_the_entries, REQS(ALBR_31), NEEDS(need_arch_lbr))
{
	const struct lbr_row *row = lbr_piece_lbr_step.rows;
	struct lbr_stack stack;
	u64 in_handler[2];

	take_exceptions(0, &stack, in_handler);
	CONTROL_EQ(t, ALBR_31, LBR_ENABLED, in_handler[0],
		   "IA32_LBR_CTL[0] in the handler of INT3");
	CHECK_EQ(t, ALBR_31, 0, in_handler[1],
		 "IA32_LBR_CTL[0] in the handler of a debug exception");
	CHECK(t, ALBR_31, lbr_is(&stack, 0, row) || lbr_is(&stack, 1, row),
	      "the jump before it is the newest entry, or the one before that; FROM of these %#lx, "
	      "%#lx",
	      stack.branch[0].from, stack.branch[1].from);
}

/*
 * LBR-08   The processor must clear IA32_DEBUGCTL[0] before a debug exception handler runs, and
 *          keep the stack.
 *          SDM 17.4.1 IA32_DEBUGCTL MSR: debug exceptions and the LBR flag
 * ALBR-31  A debug exception must clear IA32_LBR_CTL[0] and keep the entries.
 *          Instruction Set Extensions Programming Reference 7.1.4.4: LBREn is cleared on #DB
 *
 * Given  recording is enabled, and LBR_FRZ is 1
 * When   INT3, and then a single-step trap, is handled
 * Then   in the handler of the trap the bit that enables recording is 0
 * Control: in the handler of INT3 it is 1
 */
TEST(lbr, debug_exception_clears_the_bit_of_a_frozen_stack_too, REQS(LBR_08, ALBR_31),
     NEEDS(need_perfmon, need_any_lbr, need_version_4))
{
	const struct lbr_switch recording = lbr_any_switch();
	struct lbr_stack stack;
	u64 in_handler[2];

	take_exceptions(LBR_FRZ, &stack, in_handler);
	CONTROL_EQ(t, IDS(LBR_08, ALBR_31), LBR_ENABLED, in_handler[0],
		   "bit 0 of %s in the handler of INT3, LBR_FRZ = 1", recording.name);
	CHECK_EQ(t, IDS(LBR_08, ALBR_31), 0, in_handler[1],
		 "bit 0 of %s in the handler of a debug exception, LBR_FRZ = 1", recording.name);
}

/* LBR_ENABLED as the handler of this vector reads it, and the stack after that. user: at CPL 3,
 * else at CPL 0. */
static u64 recorded_with_handler(u8 vector, const struct lbr_piece *piece, bool user,
				 struct lbr_stack *stack)
{
	intr_handler before = intr_set_handler(vector, look);

	found = ~0ULL;
	lbr_any_open();
	start(0);
	if (user)
		workload_run_user(piece->workload, 0);
	else
		workload_run_uncounted(piece->workload, 0);
	stop();
	lbr_any_read(stack);
	lbr_any_close();
	intr_set_handler(vector, before);
	return found & LBR_ENABLED;
}

/*
 * LBR-08   The processor must clear IA32_DEBUGCTL[0] before a debug exception handler runs, and
 *          keep the stack.
 *          SDM 17.4.1 IA32_DEBUGCTL MSR: debug exceptions and the LBR flag
 * ALBR-31  A debug exception must clear IA32_LBR_CTL[0] and keep the entries.
 *          Instruction Set Extensions Programming Reference 7.1.4.4: LBREn is cleared on #DB
 *
 * Given  recording is enabled; a jump, then a single-step trap, at CPL 3; jumps, before the last of
 *        which DR0 has a breakpoint, at CPL 0 and at CPL 3
 * When   the handler of the debug exception reads the bit that enables recording
 * Then   it is 0, and the branch before the exception is the newest entry, or the one before it if
 *        the exception is recorded; the last jump isn't recorded
 * Control: in the handler of UD2 at CPL 3 the bit is 1
 */
TEST(lbr, debug_exception_of_any_kind_and_level_ends_recording, REQS(LBR_08, ALBR_31),
     NEEDS(need_any_lbr))
{
	static const struct {
		const struct lbr_piece *piece;
		const char *name;
		bool user, breakpoint;
	} each[] = {
		{ &lbr_piece_lbr_step, "a single-step trap at CPL 3", true, false },
		{ &lbr_piece_lbr_kinds, "a breakpoint at CPL 0", false, true },
		{ &lbr_piece_lbr_kinds, "a breakpoint at CPL 3", true, true },
	};
	struct lbr_stack stack;

	CONTROL_EQ(t, IDS(LBR_08, ALBR_31), LBR_ENABLED,
		   recorded_with_handler(VECTOR_UD, &lbr_piece_lbr_undefined, true, &stack),
		   "the bit in the handler of UD2 at CPL 3");
	for (unsigned i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		const struct lbr_row *after = each[i].piece->end - each[i].breakpoint;
		const struct lbr_row *row = after - 1;
		u64 enabled;

		if (each[i].breakpoint) {
			dr6_write(DR6_FIXED);
			dr0_write(after->from);
			dr7_write(DR7_FIXED | DR7_G0);
		}
		enabled = recorded_with_handler(VECTOR_DB, each[i].piece, each[i].user, &stack);
		CHECK_EQ(t, IDS(LBR_08, ALBR_31), 0, enabled, "the bit in the handler of %s",
			 each[i].name);
		CHECK(t, IDS(LBR_08, ALBR_31), lbr_is(&stack, 0, row) || lbr_is(&stack, 1, row),
		      "the branch before %s is the newest entry, or the one before that; FROM of "
		      "these %#lx, %#lx",
		      each[i].name, stack.branch[0].from, stack.branch[1].from);
		if (each[i].breakpoint)
			CHECK_EQ(t, IDS(LBR_08, ALBR_31), stack.depth,
				 lbr_find(&stack, after->from), "entry of the branch after %s",
				 each[i].name);
	}
	dr0_write(0);
	dr6_write(DR6_FIXED);
}
