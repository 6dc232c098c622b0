/* SPDX-License-Identifier: MIT */
/*
 * Version 4: freezing by a status bit. A counter counts only while CTR_FRZ is 0, and a
 * PMI-generating overflow sets it where IA32_DEBUGCTL[12] is 1. SDM "Freezing LBR and Performance
 * Counters on PMI", "Architectural Performance Monitoring Version 4".
 */
#include "kernel/interrupt/fault.h"
#include "pmu/reset.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"

#define CTR_FRZ	IA32_PERF_GLOBAL_STATUS_CTR_FRZ
#define FREEZE	IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI

/* The handler doesn't change the status and IA32_PERF_GLOBAL_CTRL, and leaves LVTPC masked: if it
 * were unmasked while a status bit is 1, it could interrupt again (Linux, intel_pmu_handle_irq). */
static const struct pmi_options leave = {
	.keep_status = true, .keep_counting = true, .stay_masked = true,
};

static struct pmc_mask every_counter(void)
{
	return pmc_or(counters_gp(), counters_fixed());
}

/* Let all counters except IA32_PMC0 count from 0: instructions, or a fixed counter's event. */
static void prepare_others(void)
{
	for (unsigned c = 1; c < WINDOW_COUNTERS; c++)
		if (every_counter().bits & BIT(c)) {
			counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
			counter_write(c, 0);
		}
}

static void read_others(u64 value[WINDOW_COUNTERS])
{
	for (unsigned c = 1; c < WINDOW_COUNTERS; c++)
		value[c] = every_counter().bits & BIT(c) ? counter_read(c) : 0;
}

/* The number of these counters whose values in a and b differ. */
static unsigned moved_of(u64 counters, const u64 a[WINDOW_COUNTERS], const u64 b[WINDOW_COUNTERS])
{
	unsigned count = 0;

	for (unsigned c = 1; c < WINDOW_COUNTERS; c++)
		count += counters & BIT(c) && a[c] != b[c];
	return count;
}

static unsigned moved(const u64 a[WINDOW_COUNTERS], const u64 b[WINDOW_COUNTERS])
{
	return moved_of(~0ULL, a, b);
}

/* The number of counters besides IA32_PMC0. */
static unsigned others(void)
{
	unsigned count = 0;

	for (unsigned c = 1; c < WINDOW_COUNTERS; c++)
		count += !!(every_counter().bits & BIT(c));
	return count;
}

/* Bits that IA32_PERF_GLOBAL_STATUS_RESET clears besides CTR_Frz: Figure 18-11 and "Enhancement in
 * IA32_PERF_GLOBAL_STATUS". Those that can be written here. */
static u64 clearable(void)
{
	const u64 named = every_counter().bits | IA32_PERF_GLOBAL_STATUS_LBR_FRZ |
			  IA32_PERF_GLOBAL_STATUS_OVF_BUF | IA32_PERF_GLOBAL_STATUS_COND_CHGD;

	return named & reset_clearable_status();
}

/* Run a loop outside of windows, long enough for each counter to count, even one with a slow
 * clock. */
static void work(void)
{
	workload_run_uncounted(&workload_branch, SLOW_ROUNDS);
}

/* Let IA32_PMC0 overflow once with its interrupt. The other counters count too, until they are
 * frozen. status: bits that are set before. */
static const struct pmi_log *freeze_beside(u64 debugctl, u64 status)
{
	const struct pmi_log *log;

	pmi_open(&leave);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	prepare_others();
	/* No source says whether a status bit that is set interrupts where INT is 1. */
	if (status)
		msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, status);
	overflow_prepare(0, COUNT_INT);
	counters_enable(every_counter());
	workload_run_uncounted(&workload_long_sled, PERIOD);
	log = pmi_settle();
	return log;
}

static const struct pmi_log *freeze(u64 debugctl)
{
	return freeze_beside(debugctl, 0);
}

static void thaw(void)
{
	counters_disable();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (every_counter().bits & BIT(c))
			counter_program_disabled(c, 0, 0);
	counters_clear(overflow_status());
	pmi_close();
}

/*
 * PMI-15  With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must set CTR_FRZ and leave
 *         IA32_PERF_GLOBAL_CTRL unchanged.
 *         SDM 18.2.4 Architectural Performance Monitoring Version 4
 * FRZ-18  On version 4 and later an interrupt must change neither IA32_PERF_GLOBAL_CTRL nor
 *         IA32_DEBUGCTL[0].
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; Table 18-53
 * FRZ-17  Without IA32_DEBUGCTL[12] an interrupt must leave CTR_Frz 0 and the counters running.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  all counters count, LBR = 1, or 0 with architectural last branch records; the handler
 *        leaves status and IA32_PERF_GLOBAL_CTRL
 * When   IA32_PMC0 overflows with its interrupt, IA32_DEBUGCTL[12] = 0; = 1
 * Then   with 0 CTR_Frz is 0, and the counters go on; with 1 it is set at the handler's entry, and
 *        IA32_PERF_GLOBAL_CTRL and IA32_DEBUGCTL.LBR are unchanged
 * Control: there is one interrupt each time
 */
TEST(pmi, freeze_on_pmi_sets_ctr_frz_and_keeps_global_ctrl, REQS(PMI_15, FRZ_18, FRZ_17),
     NEEDS(need_perfmon, need_branches, need_instructions, need_version_4, need_freeze),
     .under_every_fault = true)
{
	/* With architectural last branch records the LBR bit reads 0: SDM volume 4, 1D9H. */
	const u64 lbr = counter_caps()->arch_lbr ? 0 : IA32_DEBUGCTL_LBR;
	const struct pmi_log *log = freeze(lbr);
	u64 running[WINDOW_COUNTERS], after[WINDOW_COUNTERS];

	if (CONTROL_EQ(t, IDS(PMI_15, FRZ_17, FRZ_18), 1, log->count, "interrupts, no freeze"))
		CHECK_EQ(t, FRZ_17, 0, log->entry[0].status & CTR_FRZ,
			 "CTR_FRZ at the handler's entry, IA32_DEBUGCTL[12] = 0");
	read_others(running);
	work();
	read_others(after);
	CHECK_EQ(t, FRZ_17, others(), moved(running, after),
		 "counters that go on after the interrupt, IA32_DEBUGCTL[12] = 0");
	thaw();
	log = freeze(lbr | FREEZE);
	if (CONTROL_EQ(t, IDS(PMI_15, FRZ_17, FRZ_18), 1, log->count, "interrupts with freeze")) {
		CHECK_EQ(t, PMI_15, CTR_FRZ, log->entry[0].status & CTR_FRZ,
			 "CTR_FRZ at the handler's entry");
		CHECK_EQ(t, IDS(PMI_15, FRZ_18), every_counter().bits, log->entry[0].global_ctrl,
			 "IA32_PERF_GLOBAL_CTRL at the handler's entry");
		CHECK_EQ(t, FRZ_18, lbr, log->entry[0].debugctl & lbr,
			 "IA32_DEBUGCTL.LBR at the handler's entry");
		CHECK_EQ(t, PMI_15, CTR_FRZ | 1, log->entry[0].status & (CTR_FRZ | 1),
			 "CTR_FRZ and the bit of IA32_PMC0 at the handler's entry");
	}
	thaw();
}

/*
 * PMI-16  While CTR_FRZ is set no core counter may advance, and clearing it must let them go on.
 *         SDM 18.2.4 Architectural Performance Monitoring Version 4
 * FRZ-02  CTR_Frz must stop the fixed counters too.
 *         SDM 18.2.4.1 Enhancement in IA32_PERF_GLOBAL_STATUS
 * FRZ-05  Clearing CTR_Frz alone must let the counters that IA32_PERF_GLOBAL_CTRL enables go on.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; 18.2.4.1
 * FRZ-07  Two reads of a frozen counter must give the same value.
 *         SDM 18.2.4.1 Enhancement in IA32_PERF_GLOBAL_STATUS
 *
 * Given  IA32_PMC0 has overflowed with IA32_DEBUGCTL[12] = 1, all counters are enabled
 * When   work is done; CTR_Frz alone is cleared, and work is done
 * Then   no counter moves, general-purpose or fixed; then each one does
 * Control: there was one interrupt
 */
TEST(pmi, ctr_frz_stops_every_counter_until_it_is_cleared, REQS(PMI_16, FRZ_02, FRZ_05, FRZ_07),
     NEEDS(need_perfmon, need_branches, need_instructions, need_fixed_0_to_2, need_version_4,
	   need_freeze))
{
	const struct pmi_log *log = freeze(FREEZE);
	const u64 stops = overflow_freezable(t);
	u64 frozen[WINDOW_COUNTERS], after[WINDOW_COUNTERS];

	if (!CONTROL_EQ(t, IDS(PMI_16, FRZ_02, FRZ_05, FRZ_07), 1, log->count, "interrupts")) {
		thaw();
		return;
	}
	read_others(frozen);
	work();
	read_others(after);
	for (unsigned c = 1; c < WINDOW_COUNTERS; c++)
		if (every_counter().bits & stops & BIT(c)) {
			if (PMC_IS_FIXED(c))
				CHECK_EQ(t, IDS(FRZ_02, PMI_16), frozen[c], after[c],
					 "fixed counter %u after more work, frozen",
					 c - PMC_FIXED(0));
			else
				CHECK_EQ(t, IDS(FRZ_07, PMI_16), frozen[c], after[c],
					 "IA32_PMC%u after more work, frozen", c);
		}
	counters_clear(CTR_FRZ);
	CHECK_EQ(t, FRZ_05, 1, overflow_status(), "status after CTR_FRZ alone was cleared");
	work();
	read_others(after);
	CHECK_EQ(t, IDS(PMI_16, FRZ_05), others(), moved(frozen, after),
		 "counters that go on after CTR_FRZ alone was cleared");
	thaw();
}

/*
 * FRZ-04  A write to IA32_PERF_GLOBAL_CTRL while CTR_Frz is set must be kept and must not
 *         unfreeze.
 * FRZ-06  Clearing the overflow bits without CTR_Frz must leave the counters frozen.
 *         SDM 18.2.4.1 Enhancement in IA32_PERF_GLOBAL_STATUS
 *
 * Given  IA32_PMC0 has overflowed with IA32_DEBUGCTL[12] = 1, all counters are enabled
 * When   software sets every counter's overflow bit, then clears one after the other, and LBR_Frz,
 *        OvfBuf and CondChgd; IA32_PERF_GLOBAL_CTRL is written 0 and back
 * Then   CTR_Frz stays, no counter moves, and IA32_PERF_GLOBAL_CTRL reads as it was written
 * Control: once CTR_Frz is cleared each counter goes on counting
 */
TEST(pmi, clearing_an_overflow_bit_or_writing_global_ctrl_does_not_unfreeze, REQS(FRZ_04, FRZ_06),
     NEEDS(need_perfmon, need_branches, need_instructions, need_version_4, need_freeze))
{
	const struct pmi_log *log = freeze(FREEZE);
	const u64 stops = overflow_freezable(t);
	u64 frozen[WINDOW_COUNTERS], after[WINDOW_COUNTERS];

	CONTROL_EQ(t, IDS(FRZ_04, FRZ_06), 1, log->count, "interrupts");
	read_others(frozen);
	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, every_counter().bits);
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(clearable() & BIT(bit)))
			continue;
		counters_clear(BIT(bit));
		workload_run_uncounted(&workload_branch, PERIOD);
		read_others(after);
		CHECK_EQ(t, FRZ_06, CTR_FRZ, overflow_status() & (CTR_FRZ | BIT(bit)),
			 "CTR_FRZ alone after bit %u of the status was cleared", bit);
		CHECK_EQ(t, FRZ_06, 0, moved_of(stops, frozen, after),
			 "counters that moved after bit %u of the status was cleared", bit);
	}
	work();
	read_others(after);
	CHECK_EQ(t, FRZ_06, CTR_FRZ, overflow_status(),
		 "status after all its bits but CTR_FRZ were cleared one by one");
	CHECK_EQ(t, FRZ_06, 0, moved_of(stops, frozen, after),
		 "counters that moved after all bits but CTR_FRZ were cleared one by one");
	counters_enable(NO_OTHERS);
	CHECK_EQ(t, FRZ_04, 0, msr_read(MSR_IA32_PERF_GLOBAL_CTRL),
		 "IA32_PERF_GLOBAL_CTRL, written 0 while frozen");
	counters_enable(every_counter());
	CHECK_EQ(t, FRZ_04, every_counter().bits, msr_read(MSR_IA32_PERF_GLOBAL_CTRL),
		 "IA32_PERF_GLOBAL_CTRL, written while frozen");
	work();
	read_others(after);
	CHECK_EQ(t, FRZ_04, CTR_FRZ, overflow_status(),
		 "status after writes to IA32_PERF_GLOBAL_CTRL");
	CHECK_EQ(t, FRZ_04, 0, moved_of(stops, frozen, after),
		 "counters that moved after writes to IA32_PERF_GLOBAL_CTRL");
	counters_clear(CTR_FRZ);
	work();
	read_others(after);
	CONTROL_EQ(t, IDS(FRZ_04, FRZ_06), others(), moved(frozen, after),
		   "counters that go on after CTR_FRZ was cleared");
	thaw();
}

/*
 * FRZ-25  A frozen state must end by clearing CTR_Frz even if IA32_DEBUGCTL[12] was cleared
 *         before.
 * FRZ-10  Setting IA32_DEBUGCTL[12] when an overflow bit is already set must not set CTR_Frz by
 *         itself.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_PMC0 has overflowed with IA32_DEBUGCTL[12] = 1
 * When   IA32_DEBUGCTL[12] is cleared, then CTR_Frz; then IA32_DEBUGCTL[12] is set again, the
 *        overflow bit still set
 * Then   each counter goes on counting; CTR_Frz stays 0
 * Control: CTR_Frz was set, and the overflow bit is
 */
TEST(pmi, frozen_counters_go_on_although_freeze_on_pmi_was_cleared_first, REQS(FRZ_25, FRZ_10),
     NEEDS(need_perfmon, need_branches, need_instructions, need_version_4, need_freeze))
{
	const struct pmi_log *log = freeze(FREEZE);
	u64 frozen[WINDOW_COUNTERS], after[WINDOW_COUNTERS];

	CONTROL_EQ(t, IDS(FRZ_25, FRZ_10), 1, log->count, "interrupts");
	msr_write(MSR_IA32_DEBUGCTL, 0);
	read_others(frozen);
	CONTROL_EQ(t, IDS(FRZ_25, FRZ_10), CTR_FRZ, overflow_status() & CTR_FRZ,
		   "CTR_FRZ after IA32_DEBUGCTL[12] was cleared");
	counters_clear(CTR_FRZ);
	work();
	read_others(after);
	CHECK_EQ(t, FRZ_25, others(), moved(frozen, after),
		 "counters that go on after CTR_FRZ was cleared, IA32_DEBUGCTL[12] before it");
	CONTROL_EQ(t, FRZ_10, 1, overflow_status(), "status, the bit of IA32_PMC0 still set");
	msr_write(MSR_IA32_DEBUGCTL, FREEZE);
	CHECK_EQ(t, FRZ_10, 0, overflow_status() & CTR_FRZ,
		 "CTR_FRZ after IA32_DEBUGCTL[12] was set beside an old overflow bit");
	thaw();
}

/*
 * PMI-15  With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must set CTR_FRZ and leave
 *         IA32_PERF_GLOBAL_CTRL unchanged.
 *         SDM 18.2.4 Architectural Performance Monitoring Version 4
 *
 * Given  IA32_DEBUGCTL[12] is set once
 * When   IA32_PMC0 overflows three times, the status is cleared in between
 * Then   CTR_Frz is set at the entry of each handler, and IA32_DEBUGCTL[12] is still 1
 * Control: CTR_Frz is 0 in between
 */
TEST(pmi, each_further_overflow_sets_ctr_frz_again, REQS(PMI_15),
     NEEDS(need_perfmon, need_branches, need_version_4, need_freeze))
{
	pmi_open(&leave);
	msr_write(MSR_IA32_DEBUGCTL, FREEZE);
	for (unsigned n = 1; n <= 3; n++) {
		const struct pmi_log *log;

		overflow_prepare(0, COUNT_INT);
		counters_enable(pmc_one(0));
		workload_run_uncounted(&workload_long_sled, PERIOD);
		log = pmi_settle();
		counters_disable();
		if (CONTROL_EQ(t, PMI_15, n, log->count, "interrupts, overflow %u", n)) {
			CHECK_EQ(t, PMI_15, CTR_FRZ, log->entry[n - 1].status & CTR_FRZ,
				 "CTR_FRZ at the handler's entry, overflow %u", n);
			CHECK_EQ(t, PMI_15, FREEZE, log->entry[n - 1].debugctl & FREEZE,
				 "IA32_DEBUGCTL[12] there, overflow %u", n);
		}
		counters_clear(overflow_status());
		CONTROL_EQ(t, PMI_15, 0, overflow_status(), "status after it was cleared");
		pmi_unmask();
	}
	thaw();
}

/*
 * PMI-15  With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must set CTR_FRZ and leave
 *         IA32_PERF_GLOBAL_CTRL unchanged.
 *         SDM 18.2.4 Architectural Performance Monitoring Version 4
 *
 * Given  IA32_DEBUGCTL[12] = 1; LBR_Frz or the bit of a counter is set in the status, by
 *        IA32_PERF_GLOBAL_STATUS_SET; each in turn, then all. Where every requirement is judged,
 *        IA32_PMC0 and OvfBuf are among them; on a processor setting OvfBuf might interrupt
 * When   IA32_PMC0 overflows with its interrupt
 * Then   at the handler's entry CTR_Frz and the bit of IA32_PMC0 are set, and the bits that were
 *        set before still are
 * Control: one interrupt each time
 */
TEST(pmi, overflow_sets_ctr_frz_beside_each_other_status_bit, REQS(PMI_15),
     NEEDS(need_perfmon, need_branches, need_version_4, need_freeze))
{
	const u64 buffer = overflow_settable_buffer(t);
	const u64 own = test_is_strict(t) ? 0 : (u64)BIT(0);
	const u64 settable = (every_counter().bits & ~own) | IA32_PERF_GLOBAL_STATUS_LBR_FRZ |
			     (test_is_strict(t) ? buffer : 0);

	for (unsigned bit = 0; bit <= 64; bit++) {
		const u64 before = bit < 64 ? settable & BIT(bit) : settable;
		const struct pmi_log *log;

		if (!before)
			continue;
		log = freeze_beside(FREEZE, before);
		if (CONTROL_EQ(t, PMI_15, 1, log->count, "interrupts, %#lx set before", before))
			CHECK_EQ(t, PMI_15, CTR_FRZ | before | 1,
				 log->entry[0].status & (CTR_FRZ | before | 1),
				 "CTR_FRZ, the bit of IA32_PMC0 and what was set before, %#lx",
				 before);
		thaw();
	}
}

static void check_each_without_interrupt(struct test *t)
{
	const u64 frozen = CTR_FRZ | IA32_PERF_GLOBAL_STATUS_LBR_FRZ;

	FOR_EACH_COUNTER (c, counters_all().bits) {
		if (!overflow_comes(c))
			continue;
		msr_write(MSR_IA32_DEBUGCTL, FREEZE | IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI);
		overflow(c, 0);
		msr_write(MSR_IA32_DEBUGCTL, 0);
		CONTROL_EQ(t, FRZ_01, BIT(c), overflow_status() & BIT(c),
			   "status bit of counter %u", c);
		CHECK_EQ(t, FRZ_01, 0, overflow_status() & frozen,
			 "freeze bits after an overflow of counter %u without its interrupt", c);
		overflow_off(c);
	}
}

/*
 * FRZ-01  An overflow of a counter without its interrupt enable must not freeze anything.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_DEBUGCTL[12] = 1, IA32_PMC1 counts the instructions of a window; from version 4 on
 *        also IA32_DEBUGCTL[12:11] = 3, and each counter by itself
 * When   IA32_PMC0 overflows in it, INT = 0; each counter overflows without its interrupt
 * Then   IA32_PMC1 counts the whole window, and the status has the overflow alone
 * Control: with INT = 1 it counts less
 */
TEST(pmi, overflow_without_int_freezes_nothing, REQS(FRZ_01),
     NEEDS(need_perfmon, need_branches, need_instructions, need_two_counters, need_freeze))
{
	const u64 whole = workload_declared(&workload_long_sled, WORKLOAD_INSTRUCTIONS, PERIOD);
	struct pmc_mask both = pmc_or(pmc_one(0), pmc_one(1));
	u64 counted[2];

	for (unsigned with_int = 0; with_int < 2; with_int++) {
		pmi_open(&leave);
		msr_write(MSR_IA32_DEBUGCTL, FREEZE);
		counter_program(1, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
		counter_write(1, 0);
		overflow_prepare(0, with_int ? COUNT_INT : 0);
		workload_run(&workload_long_sled, PERIOD, both);
		counted[with_int] = counter_read(1);
		CONTROL_EQ(t, FRZ_01, 1, overflow_status() & 1, "status bit of IA32_PMC0, INT %u",
			   with_int);
		if (!with_int)
			CHECK_EQ(t, FRZ_01, 1, overflow_status(), "status, INT = 0");
		msr_write(MSR_IA32_DEBUGCTL, 0);
		counter_program_disabled(0, 0, 0);
		counters_clear(overflow_status());
		pmi_unmask();	/* a pending interrupt is taken here */
		pmi_end();
	}
	if (counter_caps()->version >= 4)
		check_each_without_interrupt(t);
	CHECK_RANGE(t, FRZ_01, whole, ~0ULL, counted[0],
		    "instructions of the window, IA32_PMC0 overflows without INT");
	CONTROL_RANGE(t, FRZ_01, 1, whole - 1, counted[1],
		      "instructions until the freeze, IA32_PMC0 overflows with INT");
}

/*
 * FRZ-19  On versions 2 and 3 bits 58 and 59 of IA32_PERF_GLOBAL_STATUS must never be set.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; figures of 18.2, Table 18-53
 *
 * Given  version 2 or 3, both freezes on, where IA32_DEBUGCTL takes them
 * When   IA32_PMC0 overflows with its interrupt
 * Then   bits 58 and 59 of the status are 0, in the handler and after it
 * Control: the bit of IA32_PMC0 is set
 */
TEST(pmi, status_has_no_freeze_bits_before_version_4, REQS(FRZ_19),
     NEEDS(need_perfmon, need_branches, need_version_below_4, need_debug_control_write))
{
	const u64 bits = CTR_FRZ | IA32_PERF_GLOBAL_STATUS_LBR_FRZ;
	const u64 wanted = FREEZE | IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI | IA32_DEBUGCTL_LBR;
	const struct pmi_log *log;

	if (msr_try_write(MSR_IA32_DEBUGCTL, wanted).raised)
		log = freeze(0);
	else
		log = freeze(wanted);
	if (CONTROL_EQ(t, FRZ_19, 1, log->count, "interrupts"))
		CHECK_EQ(t, FRZ_19, 0, log->entry[0].status & bits,
			 "status bits 58 and 59 at the handler's entry");
	CHECK_EQ(t, FRZ_19, 0, counters_status() & bits, "status bits 58 and 59 after it");
	CONTROL_EQ(t, FRZ_19, 1, overflow_status() & 1, "status bit of IA32_PMC0");
	thaw();
}

/*
 * FRZ-11  Setting CTR_Frz through IA32_PERF_GLOBAL_STATUS_SET must stop the counters.
 *         SDM 18.2.4.2 IA32_PERF_GLOBAL_STATUS_RESET and IA32_PERF_GLOBAL_STATUS_SET
 * PMI-16  While CTR_FRZ is set no core counter may advance, and clearing it must let them go on.
 *         SDM 18.2.4 Architectural Performance Monitoring Version 4
 *
 * Given  all counters count
 * When   software sets CTR_Frz through IA32_PERF_GLOBAL_STATUS_SET, and work is done
 * Then   no counter moves
 * Control: once CTR_Frz is cleared each one does
 */
TEST(pmi, ctr_frz_set_by_software_stops_every_counter, REQS(FRZ_11, PMI_16),
     NEEDS(need_perfmon, need_instructions, need_fixed_0_to_2, need_version_4))
{
	u64 before[WINDOW_COUNTERS], after[WINDOW_COUNTERS];

	prepare_others();
	counters_enable(every_counter());
	work();
	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, CTR_FRZ);
	overflow_slow_update();
	read_others(before);
	work();
	read_others(after);
	CHECK_EQ(t, IDS(FRZ_11, PMI_16), 0, moved_of(overflow_freezable(t), before, after),
		 "counters that moved after software set CTR_FRZ");
	CHECK_EQ(t, FRZ_11, CTR_FRZ, overflow_status(), "status after software set CTR_FRZ");
	counters_clear(CTR_FRZ);
	work();
	read_others(after);
	CONTROL_EQ(t, IDS(FRZ_11, PMI_16), others(), moved(before, after),
		   "counters that go on after CTR_FRZ was cleared");
	thaw();
}

/*
 * FRZ-09  An overflow must freeze although LVTPC is masked.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  LVTPC is masked, IA32_DEBUGCTL[12] = 1, IA32_PMC1 counts instructions
 * When   IA32_PMC0 overflows early in the window
 * Then   CTR_Frz is set, and IA32_PMC1 stops early in the window; once LVTPC is unmasked, at most
 *        the one pending interrupt is delivered
 * Control: with IA32_DEBUGCTL[12] = 0 IA32_PMC1 counts the whole window, and CTR_Frz is 0
 */
TEST(pmi, overflow_freezes_although_lvtpc_is_masked, REQS(FRZ_09),
     NEEDS(need_perfmon, need_two_counters, need_branches, need_instructions, need_version_4,
	   need_freeze))
{
	static const struct pmi_options masked = { .masked = true };
	const u64 whole = workload_declared(&workload_long_sled, WORKLOAD_INSTRUCTIONS, PERIOD);

	for (unsigned freezes = 0; freezes < 2; freezes++) {
		u64 counted, frozen;

		pmi_open(&masked);
		msr_write(MSR_IA32_DEBUGCTL, freezes ? FREEZE : 0);
		prepare_others();
		overflow_prepare(0, COUNT_INT);
		workload_run(&workload_long_sled, PERIOD, every_counter());
		counted = counter_read(1);
		frozen = overflow_status() & CTR_FRZ;
		if (freezes) {
			CHECK_EQ(t, FRZ_09, CTR_FRZ, frozen, "CTR_FRZ, nothing delivered");
			CHECK_RANGE(t, FRZ_09, 1, overflow_before_freeze(t, whole), counted,
				    "instructions until the freeze, nothing delivered, of %lu",
				    whole);
		} else {
			CONTROL_EQ(t, FRZ_09, 0, frozen, "CTR_FRZ, IA32_DEBUGCTL[12] = 0");
			CONTROL_RANGE(t, FRZ_09, whole, ~0ULL, counted,
				      "instructions of the window, IA32_DEBUGCTL[12] = 0");
		}
		pmi_unmask();		/* a pending interrupt is taken here */
		CONTROL_RANGE(t, FRZ_09, 0, 1, pmi_settle()->count, "interrupts");
		thaw();
	}
}

/*
 * FRZ-23  IA32_DEBUGCTL[14] must be writable if and only if IA32_PERF_CAPABILITIES[12] is 1.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_PERF_CAPABILITIES[12]
 * When   IA32_DEBUGCTL[14] is written 1
 * Then   it is read back where that bit is 1, and refused where it is 0
 */
TEST(msr, freeze_while_smm_can_be_set_where_perf_capabilities_have_it, REQS(FRZ_23),
     NEEDS(need_perfmon, need_debug_control, need_refused_msrs))
{
	const u64 bit = IA32_DEBUGCTL_FREEZE_WHILE_SMM;
	bool has = counter_caps()->perf_capabilities & IA32_PERF_CAPABILITIES_SMM_FREEZE;
	bool refused = msr_try_write(MSR_IA32_DEBUGCTL, bit).raised;

	CHECK_EQ(t, FRZ_23, !has, refused,
		 "#GP of WRMSR of IA32_DEBUGCTL[14] (IA32_PERF_CAPABILITIES = %#lx)",
		 counter_caps()->perf_capabilities);
	CHECK_EQ(t, FRZ_23, has ? bit : 0, msr_read(MSR_IA32_DEBUGCTL) & bit,
		 "IA32_DEBUGCTL[14] after it");
	msr_write(MSR_IA32_DEBUGCTL, 0);
}

/*
 * FRZ-26  No PEBS record may be written while CTR_Frz is set.
 *         SDM 18.2.4.1 Enhancement in IA32_PERF_GLOBAL_STATUS (records are not named)
 *
 * Given  PEBS on IA32_PMC0, CTR_Frz set by software
 * When   its event occurs four times as often as one record needs
 * Then   the index doesn't move, and nothing is written
 * Control: once CTR_Frz is cleared there is a record
 */
TEST(ds, no_record_is_written_while_ctr_frz_is_set, REQS(FRZ_26),
     NEEDS(need_perfmon, need_pebs, need_events, need_version_4))
{
	struct ds_setup setup = sampling_setup(8);

	ds_open(&setup);
	pebs_arm(0, LOADS, COUNT_BOTH, PERIOD);
	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, CTR_FRZ);
	workload_run(&workload_load, 4 * PERIOD, pmc_one(0));
	CHECK_EQ(t, FRZ_26, 0, (u64)ds_bytes(), "bytes that the index moved while CTR_FRZ was set");
	CHECK(t, FRZ_26, !ds_record_written(0), "nothing is written while CTR_FRZ is set");
	counters_clear(CTR_FRZ);
	workload_run(&workload_load, 4 * PERIOD, pmc_one(0));
	CONTROL_EQ(t, FRZ_26, 1, ds_records(), "records after CTR_FRZ was cleared");
	pebs_disarm();
	counter_program_disabled(0, 0, 0);
	ds_close();
}

/* One record reaches the threshold; IA32_PMC1 counts the instructions from the start on. */
static const struct pmi_log *freeze_by_threshold(u64 debugctl)
{
	struct ds_setup setup = sampling_setup(8);
	const struct pmi_log *log;

	setup.threshold = 1;
	pmi_open(&leave);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	ds_open(&setup);
	pebs_arm(0, LOADS, COUNT_BOTH, PERIOD);
	counter_program(1, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(1, 0);
	workload_run(&workload_load, 16 * PERIOD, pmc_or(pmc_one(0), pmc_one(1)));
	log = pmi_settle();
	pebs_disarm();
	return log;
}

/*
 * PMI-18  A threshold interrupt must freeze as an overflow interrupt does.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  PEBS on IA32_PMC0, a threshold of one record, IA32_PMC1 counting instructions that go
 *        on after it
 * When   IA32_DEBUGCTL[12] = 1
 * Then   CTR_Frz is set at the handler's entry, IA32_PMC1 stops early in the window, and
 *        there is one record
 * Control: without the freeze CTR_Frz is 0, and IA32_PMC1 counts the whole window
 */
TEST(pmi, threshold_of_the_pebs_buffer_sets_ctr_frz, REQS(PMI_18),
     NEEDS(need_perfmon, need_pebs, need_events, need_instructions, need_version_4, need_freeze))
{
	const u64 whole = workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, 16 * PERIOD);
	const struct pmi_log *log = freeze_by_threshold(0);

	if (CONTROL_EQ(t, PMI_18, 1, log->count, "interrupts without freeze"))
		CONTROL_EQ(t, PMI_18, 0, log->entry[0].status & CTR_FRZ, "CTR_FRZ, no freeze");
	CONTROL_RANGE(t, PMI_18, whole, ~0ULL, counter_read(1), "instructions, no freeze");
	thaw();
	log = freeze_by_threshold(FREEZE);
	if (CONTROL_EQ(t, PMI_18, 1, log->count, "interrupts with freeze"))
		CHECK_EQ(t, PMI_18, CTR_FRZ, log->entry[0].status & CTR_FRZ,
			 "CTR_FRZ at the handler's entry");
	CHECK_RANGE(t, PMI_18, 1, overflow_before_freeze(t, whole), counter_read(1),
		    "instructions until the freeze, of %lu", whole);
	CHECK_EQ(t, PMI_18, 1, ds_records(), "records up to the freeze");
	thaw();
}

/* The count of IA32_PMC0, which overflows early in the window. */
static u64 count_past_overflow(u64 debugctl)
{
	u64 value;

	pmi_open(&leave);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	counter_program(0, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH | COUNT_INT);
	counter_preset(0, PERIOD);
	workload_run(&workload_long_sled, PERIOD, pmc_one(0));
	value = counter_read(0);
	pmi_settle();
	thaw();
	return value;
}

/*
 * FRZ-08  The value of the frozen counter must be small (overflow plus the skid of the interrupt).
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI (no distance is stated)
 *
 * Given  IA32_PMC0 counts the instructions of a long window, with its interrupt
 * When   it overflows early in it, IA32_DEBUGCTL[12] = 1
 * Then   it has counted little of the window after its overflow
 * Control: without the freeze it counts the rest of the window
 */
TEST(pmi, frozen_counter_is_near_its_overflow, REQS(FRZ_08),
     NEEDS(need_perfmon, need_instructions, need_version_4, need_freeze))
{
	const u64 whole = workload_declared(&workload_long_sled, WORKLOAD_INSTRUCTIONS, PERIOD);

	CONTROL_RANGE(t, FRZ_08, whole - PERIOD, ~0ULL, count_past_overflow(0),
		      "instructions after the overflow, no freeze");
	CHECK_RANGE(t, FRZ_08, 0, overflow_before_freeze(t, whole), count_past_overflow(FREEZE),
		    "instructions after the overflow that froze, of %lu", whole);
}
