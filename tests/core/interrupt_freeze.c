/* SPDX-License-Identifier: MIT */
/*
 * Freezing of all counters, and repeated freezes: SDM "Freezing LBR and Performance Counters on
 * PMI". The manual doesn't say when IA32_PERF_GLOBAL_CTRL reads as frozen, but the handler must
 * find it so.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"

/* Run all counters over a long sled. IA32_PMC0 overflows long before the end; RFLAGS.IF = 0.
 * Returns IA32_DEBUGCTL at the end. */
static u64 count_all(u64 debugctl, u64 value[WINDOW_COUNTERS])
{
	struct pmc_mask all = pmc_or(counters_gp(), counters_fixed());
	u64 after;

	pmi_open(NULL);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	for (unsigned c = 1; c < WINDOW_COUNTERS; c++) {
		if (!(all.bits & BIT(c)))
			continue;
		counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
		counter_write(c, 0);
	}
	overflow_prepare(0, COUNT_INT);
	intr_disable();
	counters_enable(all);
	workload_run_uncounted(&workload_long_sled, PERIOD);
	counters_disable();
	for (unsigned c = 1; c < WINDOW_COUNTERS; c++)
		value[c] = all.bits & BIT(c) ? counter_read(c) : 0;
	after = msr_read(MSR_IA32_DEBUGCTL);
	msr_write(MSR_IA32_DEBUGCTL, 0);
	counter_program_disabled(0, 0, 0);
	counters_clear(counters_status() & STATUS_LOOKED_AT);
	intr_enable();		/* the interrupt of this window is taken here */
	pmi_settle();
	pmi_close();
	return after;
}

/* Neither freezes counters. */
#define OTHER_BITS (IA32_DEBUGCTL_ENABLE_UNCORE_PMI | IA32_DEBUGCTL_FREEZE_WHILE_SMM)

/*
 * PMI-14  With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must clear
 *         IA32_PERF_GLOBAL_CTRL.
 * PMI-17  Freezing must take effect at the overflow, not at the delivery of its interrupt.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  all counters over 2688 instructions, of which IA32_PMC0 overflows after 128, RFLAGS.IF = 0
 * When   IA32_DEBUGCTL[12] = 1
 * Then   each other counter counts less than without the freeze, on the reference PMU less than
 *        half: of cycles no number is known; IA32_DEBUGCTL[12] is still set
 * Control: without the freeze, and with IA32_DEBUGCTL[13] and [14] where there are such bits, each
 *          counts the whole window
 */
TEST(pmi, freeze_on_pmi_stops_every_counter, REQS(PMI_14, PMI_17),
     NEEDS(need_perfmon, need_branches, need_instructions, need_freeze, need_fixed_0_to_2))
{
	u64 running[WINDOW_COUNTERS], frozen[WINDOW_COUNTERS];
	u64 whole = workload_declared(&workload_long_sled, WORKLOAD_INSTRUCTIONS, PERIOD);
	/* Before version 4 the freeze clears IA32_PERF_GLOBAL_CTRL. */
	const u64 stops = counter_caps()->version < 4 ? ~0ULL : overflow_freezable(t);
	u64 after;

	count_all(overflow_debugctl_takes(OTHER_BITS), running);
	after = count_all(IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI, frozen);
	for (unsigned c = 1; c < WINDOW_COUNTERS; c++) {
		if (!((counters_gp().bits | counters_fixed().bits) & BIT(c)))
			continue;
		CONTROL_RANGE(t, PMI_17, c <= PMC_FIXED(0) ? whole : 1, ~0ULL, running[c],
			      "count of counter %u over the window, no freeze", c);
		if (stops & BIT(c))
			CHECK_RANGE(t, PMI_17, 0, overflow_before_freeze(t, running[c]), frozen[c],
				    "count of counter %u up to the freeze; %lu without", c,
				    running[c]);
	}
	CHECK_EQ(t, PMI_14, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI,
		 after & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI, "IA32_DEBUGCTL[12] after a freeze");
}

/*
 * PMI-14  With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must clear
 *         IA32_PERF_GLOBAL_CTRL.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_DEBUGCTL[12] = 1, written once
 * When   IA32_PMC0 overflows three times, with a handler that enables everything again
 * Then   IA32_PERF_GLOBAL_CTRL reads 0 at the entry of each handler
 * Control: there is one interrupt for each, and one without the freeze
 */
TEST(pmi, each_further_overflow_freezes, REQS(PMI_14),
     NEEDS(need_perfmon, need_branches, need_legacy_freeze, need_freeze))
{
	const struct pmi_log *log;

	pmi_open(NULL);
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	for (unsigned n = 0; n < 3; n++) {
		overflow_in(&workload_long_sled, 0, COUNT_INT);
		log = pmi_settle();
		if (!CONTROL_RANGE(t, PMI_14, n + 1, overflow_allowed(t, n + 1, log->count),
				   log->count, "interrupts of %u overflows", n + 1))
			break;
		CHECK_EQ(t, PMI_14, 0, log->entry[n].global_ctrl,
			 "IA32_PERF_GLOBAL_CTRL at the handler's entry, overflow %u", n + 1);
		overflow_off(0);
	}
	msr_write(MSR_IA32_DEBUGCTL, 0);
	pmi_close();
	log = overflow_interrupts(0, COUNT_INT, NULL);
	CONTROL_EQ(t, PMI_14, overflow_allowed(t, 1, log->count), log->count,
		   "interrupts without freeze");
}

/* An overflow whose interrupt can't end the window: at CPL 0 RFLAGS.IF is 0; at CPL 3 the handler
 * leaves the counters on, or LVTPC is masked. */
enum quiet_overflow { AT_CPL_0, AT_CPL_3, AT_CPL_3_MASKED };

/* The instructions that IA32_PMC1 counts in a window in which IA32_PMC0 overflows early with INT.
 */
static u64 witness_at(enum quiet_overflow how, u64 debugctl)
{
	const struct pmi_options options = { .masked = how == AT_CPL_3_MASKED,
					     .keep_counting = true,
					     .keep_status = true,
					     .stay_masked = true };
	const u64 level = how == AT_CPL_0 ? COUNT_OS : COUNT_USR;
	u64 value;

	pmi_open(&options);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	counter_program(0, EVENT_BR_INST_RETIRED_ALL_BRANCHES, level | COUNT_INT);
	counter_preset(0, PERIOD);
	counter_program(1, EVENT_INST_RETIRED_ANY_P, level);
	counter_write(1, 0);
	intr_disable();
	counters_enable(pmc_or(pmc_one(0), pmc_one(1)));
	if (how == AT_CPL_0)
		workload_run_uncounted(&workload_long_sled, PERIOD);
	else
		workload_run_user(&workload_long_sled, PERIOD);
	counters_disable();
	intr_enable();
	value = counter_read(1);
	pmi_settle();
	overflow_close_window(2);
	return value;
}

/*
 * FRZ-09  An overflow must freeze although LVTPC is masked.
 * PMI-17  Freezing must take effect at the overflow, not at the delivery of its interrupt.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_PMC0 with INT, and IA32_PMC1, which counts instructions; both count at CPL 0, where
 *        RFLAGS.IF = 0; then at CPL 3, with a handler that leaves them on; then with LVTPC masked
 * When   IA32_PMC0 overflows early in the window, IA32_DEBUGCTL[12] = 1
 * Then   IA32_PMC1 stops before the end of the window, of the reference PMU before half of it
 * Control: with IA32_DEBUGCTL[12] = 0 it counts the whole window
 */
TEST(pmi, overflow_freezes_with_interrupts_off_and_at_cpl_3, REQS(FRZ_09, PMI_17),
     NEEDS(need_perfmon, need_branches, need_instructions, need_two_counters, need_freeze))
{
	const u64 whole = workload_declared(&workload_long_sled, WORKLOAD_INSTRUCTIONS, PERIOD);
	const u64 freeze = IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;

	for (enum quiet_overflow how = AT_CPL_0; how <= AT_CPL_3_MASKED; how++)
		CONTROL_RANGE(t, IDS(FRZ_09, PMI_17), whole, ~0ULL, witness_at(how, 0),
			      "instructions of the window, no freeze, CPL %u, LVTPC masked: %u",
			      how == AT_CPL_0 ? 0 : 3, how == AT_CPL_3_MASKED);
	CHECK_RANGE(t, PMI_17, 1, overflow_before_freeze(t, whole), witness_at(AT_CPL_0, freeze),
		    "instructions until the freeze, of %lu, CPL 0, IF = 0", whole);
	CHECK_RANGE(t, PMI_17, 1, overflow_before_freeze(t, whole), witness_at(AT_CPL_3, freeze),
		    "instructions until the freeze, of %lu, CPL 3", whole);
	CHECK_RANGE(t, FRZ_09, 1, overflow_before_freeze(t, whole),
		    witness_at(AT_CPL_3_MASKED, freeze),
		    "instructions until the freeze, of %lu, CPL 3, LVTPC masked", whole);
}

/* Counter c overflows, with its interrupt, while all others count far from their overflows. */
static void overflow_among_all(unsigned c)
{
	FOR_EACH_COUNTER (other, counters_all().bits & ~BIT(c)) {
		counter_program(other, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
		counter_write(other, 0);
	}
	overflow_prepare(c, COUNT_INT);
	for (unsigned windows = 0; overflow_needs_window(c, windows); windows++)
		workload_run(&workload_sled, overflow_rounds(c), counters_all());
	FOR_EACH_COUNTER (other, counters_all().bits & ~BIT(c))
		counter_program_disabled(other, 0, 0);
}

/* One overflow of counter c in a window that continues after it. Returns the log. */
static const struct pmi_log *overflow_with(unsigned c, u64 debugctl, bool nmi)
{
	const struct pmi_options options = { .nmi = nmi };
	const struct pmi_log *log;

	pmi_open(&options);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	overflow_among_all(c);
	log = pmi_settle();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	pmi_close();
	overflow_off(c);
	return log;
}

static bool lbr_can_be_set(void)
{
	bool set;

	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
	set = msr_read(MSR_IA32_DEBUGCTL) & IA32_DEBUGCTL_LBR;
	msr_write(MSR_IA32_DEBUGCTL, 0);
	return set;
}

static void check_freezes(struct test *t, unsigned c, u64 freeze, bool nmi)
{
	u64 lbr = lbr_can_be_set() ? IA32_DEBUGCTL_LBR : 0;
	const struct pmi_log *log = overflow_with(c, freeze | lbr, nmi);

	if (!CONTROL_RANGE(t, IDS(PMI_14, PMI_19), 1, ~0ULL, log->count,
			   "interrupts of counter %u, IA32_DEBUGCTL = %#lx", c, freeze | lbr))
		return;
	if (freeze & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI)
		CHECK_EQ(t, PMI_14, 0, log->entry[0].global_ctrl,
			 "IA32_PERF_GLOBAL_CTRL at the handler's entry, counter %u, "
			 "IA32_DEBUGCTL = %#lx",
			 c, freeze | lbr);
	if (freeze & IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI)
		CHECK_EQ(t, PMI_19, 0, log->entry[0].debugctl & lbr,
			 "IA32_DEBUGCTL.LBR at the handler's entry, counter %u, "
			 "IA32_DEBUGCTL = %#lx",
			 c, freeze | lbr);
	else
		CONTROL_EQ(t, PMI_19, lbr, log->entry[0].debugctl & lbr,
			   "IA32_DEBUGCTL.LBR at the handler's entry, counter %u, no freeze of it",
			   c);
}

/*
 * PMI-14  With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must clear
 *         IA32_PERF_GLOBAL_CTRL.
 * PMI-19  With FREEZE_LBRS_ON_PMI set, a performance-monitoring interrupt must stop branch
 *         recording: versions 2 and 3 clear IA32_DEBUGCTL.LBR, version 4 sets LBR_FRZ.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  each counter but fixed counter 2, with its interrupt, of delivery mode fixed and NMI; all
 *        other counters count too; IA32_DEBUGCTL.LBR = 1
 * When   it overflows with both freezes, and with one of them
 * Then   at the handler's entry IA32_PERF_GLOBAL_CTRL is 0 if IA32_DEBUGCTL[12] was set, and LBR is
 *        0 if [11] was set
 * Control: there is an interrupt; without its freeze LBR reads 1 there
 */
TEST(pmi, overflow_of_each_counter_freezes_what_debugctl_selects, REQS(PMI_14, PMI_19),
     NEEDS(need_perfmon, need_branches, need_fixed_0_to_2, need_legacy_freeze, need_freeze))
{
	u64 all = counters_gp().bits | counters_fixed().bits;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(all & BIT(c)) || c == OVERFLOW_SLOW)
			continue;
		check_freezes(t, c, BOTH_FREEZES, false);
		check_freezes(t, c, BOTH_FREEZES, true);
		check_freezes(t, c, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI, c & 1);
		check_freezes(t, c, IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI, c & 1);
	}
}

/*
 * PMI-14  With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must clear
 *         IA32_PERF_GLOBAL_CTRL.
 * PMI-19  With FREEZE_LBRS_ON_PMI set, a performance-monitoring interrupt must stop branch
 *         recording: versions 2 and 3 clear IA32_DEBUGCTL.LBR, version 4 sets LBR_FRZ.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  fixed counter 2, whose clock is slow, with its interrupt; all other counters count too;
 *        IA32_DEBUGCTL.LBR = 1
 * When   it overflows with both freezes
 * Then   at the handler's entry IA32_PERF_GLOBAL_CTRL and LBR are 0
 * Control: there is an interrupt
 */
TEST(pmi, overflow_of_fixed_counter_2_freezes, REQS(PMI_14, PMI_19),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_legacy_freeze, need_freeze))
{
	check_freezes(t, OVERFLOW_SLOW, BOTH_FREEZES, false);
}

/* IA32_DEBUGCTL is written again while IA32_PMC0 counts far from its overflow; it overflows
 * later. */
static const struct pmi_log *overflow_after_write(u64 before, u64 after)
{
	const struct pmi_log *log;

	pmi_open(NULL);
	msr_write(MSR_IA32_DEBUGCTL, before);
	overflow_prepare(0, COUNT_INT);
	counter_preset(0, 2 * PERIOD);
	counters_enable(pmc_one(0));
	msr_write(MSR_IA32_DEBUGCTL, after);
	workload_run_uncounted(&workload_long_sled, 4 * PERIOD);
	log = pmi_settle();
	counters_disable();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	pmi_close();
	overflow_off(0);
	return log;
}

/*
 * PMI-14  With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must clear
 *         IA32_PERF_GLOBAL_CTRL.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 * PMI-15  With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must set CTR_FRZ and leave
 *         IA32_PERF_GLOBAL_CTRL unchanged.
 *         SDM 18.2.4 Architectural Performance Monitoring Version 4
 * PMI-19  With FREEZE_LBRS_ON_PMI set, a performance-monitoring interrupt must stop branch
 *         recording: versions 2 and 3 clear IA32_DEBUGCTL.LBR, version 4 sets LBR_FRZ.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_PMC0 counts with INT, long before its overflow; IA32_DEBUGCTL.LBR = 1
 * When   each freeze bit is set meanwhile, or cleared; then IA32_PMC0 overflows
 * Then   at the handler's entry it has frozen what the bit says that was written last, and nothing
 *        else. Below version 4: IA32_PERF_GLOBAL_CTRL is 0 with [12], LBR is 0 with [11]. From
 *        version 4 on: CTR_Frz is set with [12], LBR_Frz with [11], and IA32_PERF_GLOBAL_CTRL is
 *        unchanged. [11] is judged where LBR can be set
 * Control: there is an interrupt
 */
TEST(pmi, freeze_bits_act_as_they_are_at_the_overflow, REQS(PMI_14, PMI_15, PMI_19),
     NEEDS(need_perfmon, need_branches, need_freeze))
{
	const u64 lbr = lbr_can_be_set() ? IA32_DEBUGCTL_LBR : 0;
	const u64 counters = IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;
	const u64 lbrs = IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI;
	const u64 rows[][2] = { { 0, counters }, { counters, 0 }, { 0, lbrs }, { lbrs, 0 } };
	const bool streamlined = counter_caps()->version >= 4;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const u64 before = rows[i][0] | lbr, after = rows[i][1] | lbr;
		const struct pmi_log *log = overflow_after_write(before, after);
		const struct pmi_entry *entry = &log->entry[0];
		bool frozen, stopped;

		if (!CONTROL_RANGE(t, IDS(PMI_14, PMI_15, PMI_19), 1, ~0ULL, log->count,
				   "interrupts, IA32_DEBUGCTL = %#lx, then %#lx", before, after))
			return;
		frozen = entry->status & IA32_PERF_GLOBAL_STATUS_CTR_FRZ;
		stopped = streamlined ? entry->status & IA32_PERF_GLOBAL_STATUS_LBR_FRZ :
					lbr && !(entry->debugctl & lbr);
		CHECK_EQ(t, IDS(PMI_14, PMI_15), streamlined || !(after & counters),
			 entry->global_ctrl,
			 "IA32_PERF_GLOBAL_CTRL at the handler's entry, IA32_DEBUGCTL = %#lx when "
			 "the counter was enabled, %#lx at the overflow",
			 before, after);
		if (streamlined)
			CHECK_EQ(t, PMI_15, !!(after & counters), frozen,
				 "CTR_Frz at the handler's entry, IA32_DEBUGCTL = %#lx when the "
				 "counter was enabled, %#lx at the overflow",
				 before, after);
		if (lbr && !(streamlined && test_erratum(t, ERRATUM_LBR_FREEZE)))
			CHECK_EQ(t, PMI_19, !!(after & lbrs), stopped,
				 "recording stopped at the handler's entry, IA32_DEBUGCTL = %#lx "
				 "when the counter was enabled, %#lx at the overflow",
				 before, after);
	}
}

/*
 * PMI-14  With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must clear
 *         IA32_PERF_GLOBAL_CTRL.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  bit 0 of IA32_PERF_GLOBAL_STATUS is 1 by an overflow without INT; IA32_PMC1 counts
 *        instructions
 * When   IA32_DEBUGCTL is written: both freezes, then 0
 * Then   IA32_PERF_GLOBAL_CTRL is unchanged after each write, and IA32_PMC1 goes on
 * Control: the status bit is 1 still
 */
TEST(pmi, write_of_debugctl_beside_a_status_bit_stops_nothing, REQS(PMI_14),
     NEEDS(need_perfmon, need_branches, need_instructions, need_two_counters, need_legacy_freeze,
	   need_freeze))
{
	const u64 written[] = { BOTH_FREEZES, 0 };
	const struct pmc_mask on = pmc_or(pmc_one(0), pmc_one(1));

	overflow(0, 0);
	counter_program(1, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(1, 0);
	counters_enable(on);
	for (unsigned i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
		u64 before;

		msr_write(MSR_IA32_DEBUGCTL, written[i]);
		before = counter_read(1);
		workload_run_uncounted(&workload_load, PERIOD);
		CHECK_RANGE(t, PMI_14, PERIOD, ~0ULL, counter_read(1) - before,
			    "instructions after a write of %#lx to IA32_DEBUGCTL", written[i]);
		CHECK_EQ(t, PMI_14, on.bits, msr_read(MSR_IA32_PERF_GLOBAL_CTRL),
			 "IA32_PERF_GLOBAL_CTRL after a write of %#lx to IA32_DEBUGCTL",
			 written[i]);
	}
	CONTROL_EQ(t, PMI_14, 1, overflow_status() & 1, "status bit of IA32_PMC0");
	counters_disable();
	counter_program_disabled(1, 0, 0);
	overflow_off(0);
}

#define FRZ_BITS (IA32_PERF_GLOBAL_STATUS_CTR_FRZ | IA32_PERF_GLOBAL_STATUS_LBR_FRZ)

static void check_freeze_bits(struct test *t, unsigned c, u64 freeze, bool nmi)
{
	const struct pmi_log *log = overflow_with(c, freeze, nmi);
	bool counters = freeze & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;
	bool lbrs = freeze & IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI;

	counters_clear(overflow_status() & FRZ_BITS);
	if (!CONTROL_RANGE(t, IDS(PMI_15, PMI_19), 1, ~0ULL, log->count,
			   "interrupts of counter %u, IA32_DEBUGCTL = %#lx", c, freeze))
		return;
	CHECK_EQ(t, PMI_15, counters ? IA32_PERF_GLOBAL_STATUS_CTR_FRZ : 0,
		 log->entry[0].status & IA32_PERF_GLOBAL_STATUS_CTR_FRZ,
		 "CTR_FRZ at the handler's entry, counter %u, IA32_DEBUGCTL = %#lx", c, freeze);
	if (test_erratum(t, ERRATUM_LBR_FREEZE))
		return;
	CHECK_EQ(t, PMI_19, lbrs ? IA32_PERF_GLOBAL_STATUS_LBR_FRZ : 0,
		 log->entry[0].status & IA32_PERF_GLOBAL_STATUS_LBR_FRZ,
		 "LBR_FRZ at the handler's entry, counter %u, IA32_DEBUGCTL = %#lx", c, freeze);
}

/*
 * PMI-15  With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must set CTR_FRZ and leave
 *         IA32_PERF_GLOBAL_CTRL unchanged.
 *         SDM 18.2.4 Architectural Performance Monitoring Version 4
 * PMI-19  With FREEZE_LBRS_ON_PMI set, a performance-monitoring interrupt must stop branch
 *         recording: versions 2 and 3 clear IA32_DEBUGCTL.LBR, version 4 sets LBR_FRZ.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  each counter with its interrupt, of delivery mode fixed and NMI; fixed counter 2, whose
 *        clock is slow, only with both freezes
 * When   it overflows with both freezes, and with one of them
 * Then   at the handler's entry CTR_Frz and LBR_Frz are set as IA32_DEBUGCTL asks for
 * Control: there is an interrupt
 */
TEST(pmi, overflow_of_each_counter_sets_the_freeze_bits_asked_for, REQS(PMI_15, PMI_19),
     NEEDS(need_perfmon, need_branches, need_fixed_0_to_2, need_version_4, need_freeze))
{
	u64 all = counters_gp().bits | counters_fixed().bits;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(all & BIT(c)))
			continue;
		check_freeze_bits(t, c, BOTH_FREEZES, c & 1);
		if (c == OVERFLOW_SLOW)
			continue;
		check_freeze_bits(t, c, BOTH_FREEZES, !(c & 1));
		check_freeze_bits(t, c, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI, c & 1);
		check_freeze_bits(t, c, IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI, c & 1);
	}
}

/* A record reaches the threshold, and the counter overflows, with these freezes; the sled continues
 * after the record. *enabled: IA32_PEBS_ENABLE[0] afterwards. */
static const struct pmi_log *record_with_int(u64 debugctl, u64 *enabled)
{
	struct ds_setup setup = sampling_setup(8);
	const struct pmi_log *log;

	setup.threshold = 1;
	pmi_open(NULL);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	ds_open(&setup);
	pebs_arm(0, LOADS, COUNT_BOTH | COUNT_INT, PERIOD);
	counter_program(1, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(1, 0);
	workload_run(&workload_load, 16 * PERIOD, pmc_or(pmc_one(0), pmc_one(1)));
	log = pmi_settle();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	*enabled = msr_read(MSR_IA32_PEBS_ENABLE) & 1;
	pebs_disarm();
	counter_program_disabled(0, 0, 0);
	pmi_close();
	return log;
}

/*
 * MSR-28  A read/write register of the PMU must read back the legal value that was written to it.
 *         SDM Table 35-2 IA-32 Architectural MSRs (Read/Write registers), Table 35-13
 * PMI-18  A threshold interrupt must freeze as an overflow interrupt does.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  PEBS on IA32_PMC0 with INT, a threshold of one record, IA32_PMC1 counting instructions
 *        that go on after the record
 * When   IA32_DEBUGCTL[12] = 1
 * Then   IA32_PERF_GLOBAL_CTRL reads 0 at the entry of the first handler, IA32_PEBS_ENABLE[0] is
 *        still 1, there is one record, and IA32_PMC1 stops early in the window
 * Control: without the freeze there are one or two interrupts, and with it too (no fewer, where
 *          every requirement is judged): one interrupt may stand for both requests, where the
 *          requests of one instruction may be merged
 */
TEST(pmi, pmi_of_a_pebs_record_freezes_once, REQS(MSR_28, PMI_18),
     NEEDS(need_perfmon, need_pebs, need_events, need_instructions, need_legacy_freeze,
	   need_freeze))
{
	u64 whole = workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, 16 * PERIOD);
	u64 enabled;
	const struct pmi_log *log = record_with_int(0, &enabled);
	unsigned without = log->count;

	CONTROL_EQ(t, MSR_28, 1, enabled, "IA32_PEBS_ENABLE[0] after a window without freeze");
	if (!CONTROL_RANGE(t, PMI_18, 1, 2, without, "interrupts without freeze"))
		return;
	log = record_with_int(IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI, &enabled);
	/* One interrupt may serve both, where requests of one instruction may be merged. */
	if (!CONTROL_RANGE(t, PMI_18, test_is_strict(t) ? without : 1,
			   overflow_allowed(t, 2, log->count), log->count,
			   "interrupts with freeze, %u without", without))
		return;
	CHECK_EQ(t, PMI_18, 0, log->entry[0].global_ctrl,
		 "IA32_PERF_GLOBAL_CTRL at the entry of the first handler");
	CHECK_EQ(t, MSR_28, 1, enabled, "IA32_PEBS_ENABLE[0] after a freeze");
	CHECK_RANGE(t, PMI_18, 1, overflow_allowed(t, 1, ds_records()), ds_records(),
		    "records up to the freeze");
	CHECK_RANGE(t, PMI_18, 1, overflow_before_freeze(t, whole), counter_read(1),
		    "instructions until the freeze, of %lu", whole);
}
