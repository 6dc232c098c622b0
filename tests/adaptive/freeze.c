/* SPDX-License-Identifier: MIT */
/*
 * The freeze by a record that reaches the threshold, for each counter: SDM "Freezing LBR and
 * Performance Counters on PMI", with legacy and with architectural last branch records.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/lbr/any.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/measure/window.h"
#include "tests/adaptive/adaptive.h"
#include "tests/lbr/branches.h"
#include "tests/measure/overflow.h"

#define CTR_FRZ		IA32_PERF_GLOBAL_STATUS_CTR_FRZ
#define LBR_FRZ		IA32_PERF_GLOBAL_STATUS_LBR_FRZ
#define FREEZE		IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI
#define FREEZE_LBRS	IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI

#define FREEZES		4u	/* combinations of the freeze bits */

/* One record of the counter reaches the threshold while branches are recorded. *still_on: the
 * enable bit of recording afterwards. */
static const struct pmi_log *reach(unsigned counter, u64 debugctl, u64 *still_on)
{
	/* As in tests/core/freeze_streamlined.c. */
	static const struct pmi_options leave = {
		.keep_status = true, .keep_counting = true, .stay_masked = true,
	};
	const struct lbr_switch recording = lbr_any_switch();
	const struct adaptive_run run = { .counter = counter, .config = CONFIG_GPR,
					  .workload = &workload_load };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);
	const struct pmi_log *log;

	setup.threshold = 1;
	lbr_any_open();
	pmi_open(&leave);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	msr_write(recording.msr,
		  recording.on | (recording.msr == MSR_IA32_DEBUGCTL ? debugctl : 0));
	adaptive_any_window(&run, &setup);
	log = pmi_settle();
	*still_on = msr_read(recording.msr) & recording.on;
	counters_disable();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	counters_clear(overflow_status());
	lbr_any_close();
	pmi_close();
	return log;
}

/* Did the interrupt come inside the window? The end of the window clears IA32_PERF_GLOBAL_CTRL, so
 * a later interrupt shows nothing. */
static bool came_in_the_window(const struct pmi_entry *entry)
{
	return entry->rip >= (u64)(uintptr_t)workload_load.begin &&
	       entry->rip < (u64)(uintptr_t)workload_load.end;
}

/*
 * PMI-18  A threshold interrupt must freeze as an overflow interrupt does.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 * FRZ-18  On version 4 and later an interrupt must change neither IA32_PERF_GLOBAL_CTRL nor
 *         IA32_DEBUGCTL[0].
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; Table 18-53
 * FRZ-20  FREEZE_LBRS_ON_PMI must freeze the architectural LBR by LBR_Frz and leave 14CEH[0]
 *         unchanged.
 *         Linux
 *
 * Given  a threshold of one record; last branch records on; the handler leaves the status
 * When   each counter with PEBS makes a record, fixed ones too except fixed counter 2, whose clock
 *        is slow: with both of IA32_DEBUGCTL[12] and [11], and with one or neither. The first
 *        counter of each kind does so in all four ways
 * Then   at the handler's entry CTR_Frz and LBR_Frz are set as these bits ask for. The enable of
 *        last branch records is unchanged, and so is IA32_PERF_GLOBAL_CTRL where the interrupt is
 *        within the window
 * Control: there is an interrupt
 */
TEST(adaptive, record_of_each_counter_at_the_threshold_freezes_what_is_asked_for,
     REQS(PMI_18, FRZ_18, FRZ_20),
     NEEDS(need_perfmon, need_baseline, need_branches, need_version_4, need_freeze, need_any_lbr),
     .deadline_ms = 8000)
{
	static const u64 freezes[FREEZES] = { FREEZE | FREEZE_LBRS, FREEZE, FREEZE_LBRS, 0 };
	const struct lbr_switch recording = lbr_any_switch();
	const bool legacy = recording.msr == MSR_IA32_DEBUGCTL;
	const struct test_claim kept = legacy ? AT(FRZ_18) : AT(FRZ_20);
	const u64 every = adaptive_sure_counters() & ~BIT(OVERFLOW_SLOW);
	unsigned judged = 0;

	FOR_EACH_COUNTER (c, every) {
		/* Only one counter of each kind is tested with all combinations: on a machine that
		 * single-steps, a window takes long. */
		const bool in_all = c == 0 || c == PMC_FIXED(0);

		for (unsigned n = 0; n < (in_all ? FREEZES : 2); n++) {
			const unsigned i = in_all || !n ? n : 1 + c % (FREEZES - 1);
			const u64 wanted = (freezes[i] & FREEZE ? CTR_FRZ : 0) |
					   (freezes[i] & FREEZE_LBRS ? LBR_FRZ : 0);
			u64 still_on;
			const struct pmi_log *log = reach(c, freezes[i], &still_on);

			if (!CONTROL_RANGE(t, IDS(PMI_18, FRZ_18, FRZ_20), 1, ~0ULL, log->count,
					   "interrupts of a record of counter %u", c))
				return;
			CHECK_EQ(t, PMI_18, wanted & CTR_FRZ, log->entry[0].status & CTR_FRZ,
				 "CTR_FRZ at the handler's entry, counter %u, IA32_DEBUGCTL = %#lx",
				 c, freezes[i]);
			test_check_eq(t, legacy ? AT(PMI_18) : AT(FRZ_20), wanted & LBR_FRZ,
				      log->entry[0].status & LBR_FRZ,
				      "LBR_FRZ at the handler's entry, counter %u, IA32_DEBUGCTL = "
				      "%#lx",
				      c, freezes[i]);
			if (came_in_the_window(&log->entry[0])) {
				judged++;
				CHECK_EQ(t, FRZ_18, BIT(c) | company_last().bits,
					 log->entry[0].global_ctrl,
					 "IA32_PERF_GLOBAL_CTRL at the handler's entry, counter %u",
					 c);
			}
			test_check_eq(t, kept, recording.on, still_on,
				      "%s after the interrupt, counter %u, IA32_DEBUGCTL = %#lx",
				      recording.name, c, freezes[i]);
		}
	}
	if (!judged)
		test_inconclusive(t, "IA32_PERF_GLOBAL_CTRL: each interrupt comes only after the "
				     "window");
}
