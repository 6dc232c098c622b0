/* SPDX-License-Identifier: MIT */
/*
 * The freeze by a threshold interrupt, for each counter that makes records, with each of the freeze
 * bits: SDM "Freezing LBR and Performance Counters on PMI". tests/adaptive/freeze.c does the same
 * for adaptive records, including fixed counters.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"

#define FREEZE		IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI
#define FREEZE_LBRS	IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI
#define LBR		IA32_DEBUGCTL_LBR
#define CTR_FRZ		IA32_PERF_GLOBAL_STATUS_CTR_FRZ
#define LBR_FRZ		IA32_PERF_GLOBAL_STATUS_LBR_FRZ
#define PEBS_COUNTERS	4u	/* counters that make records other than adaptive ones */
#define ROUNDS		(32 * PERIOD)	/* loads: the window continues long after the record */

/* The combinations of freeze bits. */
static const u64 freezes[] = { 0, FREEZE, FREEZE_LBRS, FREEZE | FREEZE_LBRS };
#define FREEZES (sizeof(freezes) / sizeof(freezes[0]))

/* A record of the counter reaches the threshold; the counter has no interrupt of its own. */
static const struct pmi_log *reach_threshold(unsigned counter, u64 debugctl)
{
	const struct pmi_options options = { .nmi = counter & 1 };
	struct ds_setup setup = sampling_setup(8);
	const struct pmi_log *log;

	setup.threshold = 1;
	pmi_open(&options);
	ds_open(&setup);
	pebs_arm(counter, LOADS, COUNT_BOTH, PERIOD);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	counters_enable(counters_all());	/* until the handler; the others count nothing */
	workload_run_uncounted(&workload_load, ROUNDS);
	log = pmi_settle();
	counters_disable();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	pebs_disarm();
	counter_program_disabled(counter, 0, 0);
	pmi_close();
	counters_clear(counters_status());
	return log;
}

/* The freezes that were in effect when the handler began, as FREEZE and FREEZE_LBRS. */
static u64 frozen(const struct pmi_entry *entry)
{
	if (counter_caps()->version >= 4)
		return (entry->status & CTR_FRZ ? FREEZE : 0) |
		       (entry->status & LBR_FRZ ? FREEZE_LBRS : 0);
	return (entry->global_ctrl ? 0 : FREEZE) | (entry->debugctl & LBR ? 0 : FREEZE_LBRS);
}

/*
 * PMI-18  A threshold interrupt must freeze as an overflow interrupt does.
 * PMI-19  With FREEZE_LBRS_ON_PMI set, a performance-monitoring interrupt must stop branch
 *         recording: versions 2 and 3 clear IA32_DEBUGCTL.LBR, version 4 sets LBR_FRZ.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 * FRZ-18  On version 4 and later an interrupt must change neither IA32_PERF_GLOBAL_CTRL nor
 *         IA32_DEBUGCTL[0].
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; Table 18-53
 *
 * Given  each of IA32_PMC0 to IA32_PMC3 with PEBS and without its interrupt, the threshold after
 *        one record; each counter's bit of IA32_PERF_GLOBAL_CTRL, IA32_DEBUGCTL.LBR = 1; delivery
 *        as fixed and as NMI alternately
 * When   it makes a record with none, each, and both of IA32_DEBUGCTL[12] and [11]
 * Then   at the handler's entry exactly the requested freezes have happened: version 4 has CTR_Frz
 *        and LBR_Frz, with IA32_PERF_GLOBAL_CTRL and IA32_DEBUGCTL.LBR unchanged; earlier ones have
 *        IA32_PERF_GLOBAL_CTRL = 0 and IA32_DEBUGCTL.LBR = 0
 * Control: there is one interrupt each time, and without a freeze nothing is frozen
 */
TEST(ds, threshold_interrupt_of_each_counter_freezes_what_it_is_asked_to,
     REQS(PMI_18, PMI_19, FRZ_18),
     NEEDS(need_perfmon, need_pebs, need_events, need_no_baseline, need_freeze))
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++)
		for (unsigned i = 0; i < FREEZES; i++) {
			const struct pmi_log *log = reach_threshold(c, freezes[i] | LBR);

			sampling_want(t, 1);
			if (!CONTROL_RANGE(t, IDS(PMI_18, PMI_19, FRZ_18), 1,
					   overflow_allowed(t, 1, log->count), log->count,
					   "threshold interrupts of IA32_PMC%u, IA32_DEBUGCTL = "
					   "%#lx",
					   c, freezes[i] | LBR))
				return;
			CHECK_EQ(t, PMI_18, freezes[i] & FREEZE, frozen(&log->entry[0]) & FREEZE,
				 "IA32_DEBUGCTL[12], counters frozen at the handler's entry, "
				 "IA32_PMC%u, IA32_DEBUGCTL = %#lx",
				 c, freezes[i] | LBR);
			CHECK_EQ(t, IDS(PMI_18, PMI_19), freezes[i] & FREEZE_LBRS,
				 frozen(&log->entry[0]) & FREEZE_LBRS,
				 "IA32_DEBUGCTL[11], branch records frozen at the handler's entry, "
				 "IA32_PMC%u, IA32_DEBUGCTL = %#lx",
				 c, freezes[i] | LBR);
			if (counter_caps()->version < 4)
				continue;
			CHECK_EQ(t, FRZ_18, LBR, log->entry[0].debugctl & LBR,
				 "IA32_DEBUGCTL.LBR at the handler's entry, IA32_PMC%u, "
				 "IA32_DEBUGCTL = %#lx",
				 c, freezes[i] | LBR);
			CHECK_EQ(t, FRZ_18, counters_all().bits, log->entry[0].global_ctrl,
				 "IA32_PERF_GLOBAL_CTRL at the handler's entry, IA32_PMC%u, "
				 "IA32_DEBUGCTL = %#lx",
				 c, freezes[i] | LBR);
		}
}

/* What is left of a window with a record at the threshold early in it, LVTPC masked or not. */
struct quiet_window {
	u64 counted;		/* instructions, by IA32_PMC1 */
	u64 status;
	unsigned interrupts;
	bool interrupted_again;	/* when LVTPC was unmasked with OvfBuf set: it is masked again */
};

/* A window that its interrupt can't end: LVTPC is masked, or the handler leaves the counters on.
 * again: OvfBuf is set already, by a window without a freeze. */
static struct quiet_window reach_threshold_quietly(u64 debugctl, bool again, bool masked)
{
	const struct pmi_options options = {
		.masked = masked, .keep_counting = true, .keep_status = true, .stay_masked = true
	};
	struct ds_setup setup = sampling_setup(8);
	struct quiet_window window = { 0 };

	setup.threshold = 1;
	pmi_open(&options);
	for (unsigned left = again ? 2 : 1; left-- > 0;) {
		ds_open(&setup);
		pebs_arm(0, LOADS, COUNT_BOTH, PERIOD);
		counter_program(1, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
		counter_write(1, 0);
		msr_write(MSR_IA32_DEBUGCTL, left ? 0 : debugctl);
		workload_run(&workload_load, ROUNDS, pmc_or(pmc_one(0), pmc_one(1)));
		pebs_disarm();
		if (left && !masked) {
			pmi_unmask();
			window.interrupted_again = pmi_settle()->count > 1;
		}
	}
	window.interrupts = pmi_settle()->count;
	window.counted = counter_read(1);
	window.status = overflow_status();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	counter_program_disabled(0, 0, 0);
	counter_program_disabled(1, 0, 0);
	counters_clear(window.status);
	pmi_unmask();		/* a pending interrupt is taken here */
	pmi_end();
	return window;
}

/*
 * FRZ-09  An overflow must freeze although LVTPC is masked.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 * PMI-04  Delivery of a performance-monitoring interrupt must set the mask bit of LVTPC, and only
 *         software may clear it.
 *         SDM 10.5.1 Local Vector Table
 * PMI-18  A threshold interrupt must freeze as an overflow interrupt does.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  a handler that leaves the counters on, then LVTPC masked; PEBS on IA32_PMC0, the
 *        threshold after one record, IA32_PMC1 counting instructions that go on after it
 * When   there is a record with IA32_DEBUGCTL[12] = 1; and one with OvfBuf still set from an
 *        earlier one
 * Then   IA32_PMC1 stops before the end of the window, of the reference PMU before half of it, and
 *        no interrupt is delivered while LVTPC is masked. PMI-18 isn't judged where LVTPC, unmasked
 *        beside OvfBuf, interrupts again
 * Control: OvfBuf is set; with IA32_DEBUGCTL[12] = 0 IA32_PMC1 counts the whole window; with LVTPC
 *          unmasked there is an interrupt
 */
TEST(ds, threshold_freezes_although_lvtpc_is_masked_or_ovfbuf_is_set, REQS(FRZ_09, PMI_04, PMI_18),
     NEEDS(need_perfmon, need_any_pebs, need_events, need_instructions, need_freeze))
{
	const u64 whole = workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, ROUNDS);

	for (unsigned again = 0; again < 2; again++) {
		const struct quiet_window running = reach_threshold_quietly(0, again, true);
		const struct quiet_window left_on = reach_threshold_quietly(0, again, false);
		const struct quiet_window masked = reach_threshold_quietly(FREEZE, again, true);
		const struct quiet_window frozen = reach_threshold_quietly(FREEZE, again, false);

		sampling_want(t, 1);
		CONTROL_RANGE(t, FRZ_09, whole, ~0ULL, running.counted,
			      "instructions of the window, no freeze, LVTPC masked");
		CONTROL_RANGE(t, PMI_18, whole, ~0ULL, left_on.counted,
			      "instructions of the window, no freeze");
		CONTROL_EQ(t, IDS(FRZ_09, PMI_04, PMI_18), IA32_PERF_GLOBAL_STATUS_OVF_BUF,
			   running.status & masked.status & frozen.status &
				   IA32_PERF_GLOBAL_STATUS_OVF_BUF,
			   "OvfBuf after a record, without and with a freeze");
		if (!frozen.interrupted_again)
			CHECK_RANGE(t, PMI_18, 1, overflow_before_freeze(t, whole), frozen.counted,
				    "instructions until the freeze, of %lu; OvfBuf was %u", whole,
				    again);
		CHECK_RANGE(t, FRZ_09, 1, overflow_before_freeze(t, whole), masked.counted,
			    "instructions until the freeze, of %lu, LVTPC masked; OvfBuf was %u",
			    whole, again);
		CHECK_EQ(t, PMI_04, 0, running.interrupts + masked.interrupts,
			 "interrupts while LVTPC is masked");
	}
	CONTROL_RANGE(t, PMI_04, 1, ~0ULL, reach_threshold(0, 0)->count,
		      "interrupts, LVTPC unmasked");
}
