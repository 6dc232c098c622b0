/* SPDX-License-Identifier: MIT */
/*
 * Freezing of architectural last branch records: SDM "Freezing LBR and Performance Counters on
 * PMI". LBR_Frz stops them, as it does the legacy ones; the enable that stays is IA32_LBR_CTL[0].
 */
#include "kernel/interrupt/fault.h"
#include "pmu/counter.h"
#include "tests/frame/test.h"
#include "tests/lbr/arch.h"
#include "tests/measure/overflow.h"

#define LBR_FRZ		IA32_PERF_GLOBAL_STATUS_LBR_FRZ
#define FREEZE_LBRS	IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI

/* IA32_PMC0 overflows in the long sled, whose loop is recorded; the handler leaves the status.
 * Recording stays as the interrupt left it. */
static const struct pmi_log *interrupt(u64 debugctl)
{
	/* Masked: see tests/lbr/freeze.c. */
	static const struct pmi_options leave = { .keep_status = true, .stay_masked = true };
	const struct pmi_log *log;

	arch_lbr_close();
	pmi_open(&leave);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	msr_write(MSR_IA32_LBR_CTL, arch_lbr_everything());
	overflow_in(&workload_long_sled, 0, COUNT_INT);
	log = pmi_settle();
	pmi_close();
	return log;
}

static void clean_up(void)
{
	msr_write(MSR_IA32_DEBUGCTL, 0);
	arch_lbr_close();
	overflow_off(0);
	counters_clear(LBR_FRZ);
}

/*
 * FRZ-20  FREEZE_LBRS_ON_PMI must freeze the architectural LBR by LBR_Frz and leave 14CEH[0]
 *         unchanged.
 *         Linux
 * FRZ-15  The LBR stack must keep its entries while frozen.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 * FRZ-14  Clearing LBR_Frz must resume recording without a write to IA32_DEBUGCTL.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; Linux
 *
 * Given  IA32_DEBUGCTL[11] and IA32_LBR_CTL[0] are 1; IA32_PMC0 overflows with its interrupt at the
 *        end of a loop; the handler leaves the status
 * When   branches are executed in the handler and after it; LBR_Frz alone is cleared, and they are
 *        once more
 * Then   LBR_Frz is set, IA32_LBR_CTL as it was, and the entries still are the loop's branches;
 *        then the others are recorded
 */
TEST(lbr, interrupt_freezes_architectural_records_by_lbr_frz_alone,
     REQS(FRZ_20, FRZ_15, FRZ_14),
     NEEDS(need_perfmon, need_branches, need_arch_lbr, need_version_4, need_debug_control_write))
{
	const u64 loop = workload_mark(&workload_long_sled, 0) - 2;	/* JNZ before the NOPs */
	const struct lbr_row last = lbr_chain_row(LBR_LINKS, 0);
	const struct pmi_log *log = interrupt(FREEZE_LBRS);
	struct lbr_stack frozen, after;

	CHECK_EQ(t, FRZ_20, arch_lbr_everything(), msr_read(MSR_IA32_LBR_CTL),
		 "IA32_LBR_CTL after the interrupt");
	arch_lbr_read(&frozen);
	if (!CONTROL_EQ(t, IDS(FRZ_20, FRZ_15, FRZ_14), 1, log->count, "interrupts"))
		goto out;
	CHECK_EQ(t, FRZ_20, LBR_FRZ, log->entry[0].status & LBR_FRZ,
		 "LBR_FRZ at the handler's entry");
	CHECK_EQ(t, FRZ_15, loop, frozen.branch[0].from, "FROM of entry 0, the sled's loop");
	CHECK_EQ(t, FRZ_15, loop, frozen.branch[frozen.depth - 1].from,
		 "FROM of the oldest entry, the sled's loop");
	workload_run_uncounted(lbr_piece_lbr_chain.workload, LBR_LINKS);
	arch_lbr_read(&after);
	CHECK(t, IDS(FRZ_15, FRZ_20), lbr_same(&frozen, &after),
	      "entries are unchanged after %u branches, frozen; FROM of entry 0 %#lx", LBR_LINKS,
	      after.raw[0].from);
	counters_clear(LBR_FRZ);
	workload_run_uncounted(lbr_piece_lbr_chain.workload, LBR_LINKS);
	msr_write(MSR_IA32_LBR_CTL, 0);
	arch_lbr_read(&after);
	CHECK_RANGE(t, FRZ_14, 0, after.depth - 1, lbr_find(&after, last.from),
		    "entry of the chain's last branch, LBR_FRZ cleared and IA32_LBR_CTL as it was");
out:
	clean_up();
}

/*
 * FRZ-16  Without IA32_DEBUGCTL[11] an interrupt must leave LBR_Frz 0 and recording on.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_LBR_CTL[0] is 1, IA32_DEBUGCTL[11] = 0
 * When   IA32_PMC0 overflows with its interrupt
 * Then   LBR_Frz is 0 at the handler's entry, and branches after it are recorded
 * Control: with IA32_DEBUGCTL[11] = 1 LBR_Frz is set
 */
TEST(lbr, interrupt_without_freeze_leaves_architectural_records_on, REQS(FRZ_16),
     NEEDS(need_perfmon, need_branches, need_arch_lbr, need_version_4, need_debug_control_write))
{
	const struct lbr_row last = lbr_chain_row(LBR_LINKS, 0);
	const struct pmi_log *log = interrupt(0);
	struct lbr_stack stack;

	if (CONTROL_EQ(t, FRZ_16, 1, log->count, "interrupts without FREEZE_LBRS_ON_PMI"))
		CHECK_EQ(t, FRZ_16, 0, log->entry[0].status & LBR_FRZ,
			 "LBR_FRZ at the handler's entry");
	workload_run_uncounted(lbr_piece_lbr_chain.workload, LBR_LINKS);
	msr_write(MSR_IA32_LBR_CTL, 0);
	arch_lbr_read(&stack);
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
 * FRZ-27  CTR_Frz must leave branch recording on, and LBR_Frz the counters running.
 *         SDM 18.2.4.1 Enhancement in IA32_PERF_GLOBAL_STATUS: CTR_Frz and LBR_Frz, each of its
 *         own facility
 *
 * Given  entries of known branches
 * When   software sets LBR_Frz through IA32_PERF_GLOBAL_STATUS_SET, and other branches are
 *        executed; sets CTR_Frz alone, and they are executed again
 * Then   with LBR_Frz the entries are unchanged; with CTR_Frz the branches are recorded
 */
TEST(lbr, lbr_frz_set_by_software_stops_architectural_records_and_ctr_frz_does_not,
     REQS(FRZ_12, FRZ_27), NEEDS(need_perfmon, need_arch_lbr, need_version_4))
{
	const u64 all = arch_lbr_everything();
	struct lbr_stack before, after;

	arch_lbr_close();
	arch_lbr_go_on(&lbr_piece_lbr_kinds, 0, all, &before);
	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, LBR_FRZ);
	CONTROL_EQ(t, FRZ_12, LBR_FRZ, counters_status() & LBR_FRZ, "LBR_FRZ");
	arch_lbr_go_on(&lbr_piece_lbr_chain, 2, all, &after);
	CHECK(t, FRZ_12, lbr_same(&before, &after),
	      "entries are unchanged after branches, LBR_FRZ set; FROM of entry 0 %#lx",
	      after.raw[0].from);
	counters_clear(LBR_FRZ);
	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, IA32_PERF_GLOBAL_STATUS_CTR_FRZ);
	CONTROL_EQ(t, FRZ_27, IA32_PERF_GLOBAL_STATUS_CTR_FRZ,
		   counters_status() & IA32_PERF_GLOBAL_STATUS_CTR_FRZ, "CTR_FRZ");
	arch_lbr_go_on(&lbr_piece_lbr_chain, 2, all, &after);
	arch_lbr_check_chain(t, AT(FRZ_27), &after, 2, 3);
	counters_clear(IA32_PERF_GLOBAL_STATUS_CTR_FRZ);
	arch_lbr_close();
}
