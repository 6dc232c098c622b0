/* SPDX-License-Identifier: MIT */
/*
 * Overflow: the status bits, the interrupt, the local vector table entry. SDM "Architectural
 * Performance Monitoring Version 2 Facilities", "Local Vector Table", "Freezing LBR and Performance
 * Counters on PMI". The manual doesn't say how late an interrupt may be, so no test checks it.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/frame/test.h"

#define FAR		(1u << 20)	/* more events than any window here has */
#define READINGS	3
#define DELIVERIES	4

/*
 * MSR-26  General-purpose counter i must show its overflow at bit i of IA32_PERF_GLOBAL_STATUS,
 *         fixed counter i at bit 32 + i.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2; Figure 18-20
 * MSR-20  Bits 4 to 7 of IA32_PERF_GLOBAL_STATUS must never be set where CPUID reports four
 *         counters.
 *         SDM 18.8.1 Enhancements of Performance Monitoring in the Processor Core (Nehalem),
 *         Figure 18-20
 * CNT-30  A counter that has not wrapped must not set its bit of IA32_PERF_GLOBAL_STATUS.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  each counter, general-purpose and fixed
 * When   it stops long before its end; then it wraps
 * Then   the status stays 0; then its bit is the only one of a counter that is set, and bits 7:4,
 *        of counters that aren't there, are 0
 */
TEST(pmi, overflow_sets_only_the_status_bit_of_its_counter, REQS(MSR_26, MSR_20, CNT_30),
     NEEDS(need_perfmon, need_branches))
{
	const u64 all = counters_all().bits;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		const u64 aside = overflow_bit_set_again(t, c);

		if (!(all & BIT(c)) || !overflow_comes(c))
			continue;
		counter_program(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH);
		counter_preset(c, FAR);
		workload_run(&workload_sled, PERIOD, pmc_one(c));
		CHECK_EQ(t, CNT_30, 0, overflow_status() & ~aside,
			 "status after counter %u stopped short", c);
		overflow(c, 0);
		CHECK_EQ(t, MSR_26, BIT(c), overflow_status() & ~aside,
			 "status after counter %u wrapped", c);
		if (counters_gp().bits == BITS(0, 3))
			CHECK_EQ(t, MSR_20, 0, overflow_status() & BITS(4, 7),
				 "bits of counters that aren't there");
		overflow_off(c);
	}
}

/*
 * PMI-07  An overflow bit must stay set until software clears it or the assist of its PEBS counter
 *         does.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  IA32_PMC0 has wrapped, without INT
 * When   the status is read three times; 0 is written to IA32_PERF_GLOBAL_OVF_CTRL; the counter is
 *        written; bit 0 is cleared
 * Then   bit 0 reads 1 until the last of these, and 0 then
 */
TEST(pmi, status_bit_stays_until_software_clears_it, REQS(PMI_07),
     NEEDS(need_perfmon, need_branches), .under_every_fault = true)
{
	overflow(0, 0);
	for (unsigned i = 0; i < READINGS; i++)
		CHECK_EQ(t, PMI_07, 1, overflow_status(), "status, read %u", i + 1);
	counters_clear(0);
	CHECK_EQ(t, PMI_07, 1, overflow_status(),
		 "status after writing 0 to IA32_PERF_GLOBAL_OVF_CTRL");
	counter_preset(0, PERIOD);
	CHECK_EQ(t, PMI_07, 1, overflow_status(), "status after writing the counter");
	counters_clear(1);
	CHECK_EQ(t, PMI_07, 0, overflow_status(), "status after clearing the bit");
}

/*
 * PMI-08  A write to IA32_PERF_GLOBAL_OVF_CTRL must clear the named bits of
 *         IA32_PERF_GLOBAL_STATUS and no others.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  IA32_PMC0 and IA32_PMC1 have wrapped in one window
 * When   bit 0 is cleared, then bit 1
 * Then   the other one stays set in between, and none is left at the end
 * Control: both were set
 */
TEST(pmi, clearing_one_status_bit_keeps_the_others, REQS(PMI_08),
     NEEDS(need_perfmon, need_branches, need_two_counters))
{
	struct pmc_mask both = pmc_or(pmc_one(0), pmc_one(1));

	overflow_prepare(0, 0);
	overflow_prepare(1, 0);
	workload_run(&workload_sled, PERIOD, both);
	CONTROL_EQ(t, PMI_08, 3, overflow_status(), "status after two counters wrapped");
	counters_clear(1);
	CHECK_EQ(t, PMI_08, 2, overflow_status(), "status after clearing bit 0");
	counters_clear(2);
	CHECK_EQ(t, PMI_08, 0, overflow_status(), "status after clearing bit 1");
}

/*
 * PRIO-15  A counter that wraps with its INT bit clear must set its overflow bit and raise no
 *          interrupt.
 *          SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  each counter, general-purpose and fixed (from 4 on, if its events come), with INT = 0
 * When   it wraps
 * Then   no interrupt is delivered
 * Control: its status bit is set, and with INT = 1 it interrupts
 */
TEST(pmi, overflow_without_int_raises_no_interrupt, REQS(PRIO_15),
     NEEDS(need_perfmon, need_branches))
{
	const u64 all = counters_all().bits;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(all & BIT(c)) || !overflow_comes(c))
			continue;
		CHECK_EQ(t, PRIO_15, 0, overflow_interrupts(c, 0, NULL)->count,
			 "interrupts of counter %u, INT = 0", c);
		CONTROL_EQ(t, PRIO_15, BIT(c), overflow_status() & BIT(c), "its status bit");
		overflow_off(c);
		CONTROL_RANGE(t, PRIO_15, 1, ~0ULL, overflow_interrupts(c, COUNT_INT, NULL)->count,
			      "interrupts of counter %u, INT = 1", c);
		overflow_off(c);
	}
}

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  each general-purpose counter with INT = 1. Where an interrupt stays pending until the next
 *        overflow, only the first overflow of the run misses it, and calibration makes that one
 * When   it wraps
 * Then   one interrupt is delivered, with the vector in LVTPC
 */
TEST(pmi, general_purpose_overflow_interrupts_once, REQS(PMI_01),
     NEEDS(need_perfmon, need_branches), .under_every_fault = true)
{
	const unsigned first = calibration_get()->first_interrupts;

	/* If an interrupt were held back until the next overflow, only the first overflow would
	 * miss it. */
	CHECK_EQ(t, PMI_01, overflow_allowed(t, 1, first), first,
		 "interrupts of the run's first overflow of IA32_PMC0");
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		const struct pmi_log *log = overflow_interrupts(c, COUNT_INT, NULL);

		if (CHECK_EQ(t, PMI_01, overflow_allowed(t, 1, log->count), log->count,
			     "interrupts of IA32_PMC%u", c))
			CHECK_EQ(t, PMI_01, VECTOR_PMI, log->entry[0].vector, "vector");
		overflow_off(c);
	}
}

/*
 * PMI-02  The overflow of a fixed counter whose PMI bit is set must raise an interrupt through
 *         LVTPC.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  each fixed counter with its PMI bit; from 4 on, if its events come
 * When   it wraps once, or again where its clock goes on
 * Then   one interrupt is delivered for each wrap, with the vector in LVTPC
 */
TEST(pmi, fixed_overflow_interrupts_once, REQS(PMI_02), NEEDS(need_perfmon, need_fixed_0_to_2))
{
	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask) {
		const unsigned c = PMC_FIXED(i);
		const struct pmi_log *log;

		if (!overflow_comes(c))
			continue;
		log = overflow_interrupts(c, COUNT_INT, NULL);
		if (CHECK_RANGE(t, PMI_02, 1,
				overflow_allowed(t, 1, log->count) + overflow_extra(t, c),
				log->count, "interrupts of fixed counter %u", i))
			CHECK_EQ(t, PMI_02, VECTOR_PMI, log->entry[0].vector, "vector");
		overflow_off(c);
	}
}

/*
 * PMI-03  When its interrupt is taken, an overflow must be shown in IA32_PERF_GLOBAL_STATUS.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  each counter with INT = 1; fixed ones from 4 on, if their events come
 * When   it wraps, and the handler of its interrupt reads the status first
 * Then   its bit is the only one that is set
 * Control: there is an interrupt
 */
TEST(pmi, status_shows_the_overflow_at_the_entry_of_its_interrupt, REQS(PMI_03),
     NEEDS(need_perfmon, need_branches))
{
	const u64 all = counters_all().bits;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		const struct pmi_log *log;

		if (!(all & BIT(c)) || !overflow_comes(c))
			continue;
		log = overflow_interrupts(c, COUNT_INT, NULL);
		if (CONTROL_RANGE(t, PMI_03, 1, ~0ULL, log->count, "interrupts of counter %u", c))
			CHECK_EQ(t, PMI_03, BIT(c),
				 log->entry[0].status & STATUS_LOOKED_AT &
					 ~overflow_bit_set_again(t, c),
				 "status at the handler's entry, counter %u", c);
		overflow_off(c);
	}
}

/*
 * PMI-04  Delivery of a performance-monitoring interrupt must set the mask bit of LVTPC, and only
 *         software may clear it.
 *         SDM 10.5.1 Local Vector Table
 *
 * Given  LVTPC unmasked, a handler that doesn't write it; four deliveries, with another overflow
 *        after every second one, so that an error in every second delivery shows
 * When   IA32_PMC0 overflows
 * Then   the mask bit is set at the handler's entry and after it; another overflow isn't delivered
 * Control: there is one interrupt a delivery
 */
TEST(pmi, delivery_of_a_pmi_masks_lvtpc, REQS(PMI_04), NEEDS(need_perfmon, need_branches),
     .under_every_fault = true)
{
	static const struct pmi_options stay = { .stay_masked = true };
	const struct pmi_log *log;

	for (unsigned i = 0; i < DELIVERIES; i++) {
		pmi_open(&stay);
		HARNESS_CHECK(t, !(apic_lvtpc_read() & LVT_MASKED), "LVTPC's mask bit is clear");
		overflow(0, COUNT_INT);
		log = pmi_settle();
		if (CONTROL_EQ(t, PMI_04, 1, log->count, "interrupts of delivery %u", i)) {
			CHECK_EQ(t, PMI_04, LVT_MASKED, log->entry[0].lvtpc & LVT_MASKED,
				 "LVTPC's mask bit at the handler's entry, delivery %u", i);
			CHECK_EQ(t, PMI_04, LVT_MASKED, apic_lvtpc_read() & LVT_MASKED,
				 "LVTPC's mask bit after the handler, which left it alone");
		}
		/* Alternate, so that an error of every other delivery shows. */
		if (i & 1) {
			unsigned before = log->count;

			overflow(0, COUNT_INT);
			CHECK_EQ(t, PMI_04, before, pmi_settle()->count,
				 "interrupts after another overflow, LVTPC still masked");
		}
		overflow_off(0);
		pmi_unmask();	/* a pending interrupt is taken here */
		pmi_end();
	}
}

/*
 * PMI-06  The delivery mode in LVTPC, fixed or NMI, must be honoured.
 *         SDM 10.5.1 Local Vector Table
 *
 * Given  LVTPC with delivery mode NMI, and with fixed
 * When   IA32_PMC0 overflows
 * Then   one NMI is delivered; then one interrupt with the vector in LVTPC
 */
TEST(pmi, overflow_with_delivery_mode_nmi_raises_an_nmi, REQS(PMI_06),
     NEEDS(need_perfmon, need_branches))
{
	static const struct pmi_options nmi = { .nmi = true };
	const struct pmi_log *log = overflow_interrupts(0, COUNT_INT, &nmi);

	if (CHECK_EQ(t, PMI_06, overflow_allowed(t, 1, log->count), log->count,
		     "interrupts with delivery mode NMI"))
		CHECK_EQ(t, PMI_06, VECTOR_NMI, log->entry[0].vector, "vector");
	overflow_off(0);
	log = overflow_interrupts(0, COUNT_INT, NULL);
	if (CHECK_EQ(t, PMI_06, overflow_allowed(t, 1, log->count), log->count,
		     "interrupts with delivery mode fixed"))
		CHECK_EQ(t, PMI_06, VECTOR_PMI, log->entry[0].vector, "vector");
}

/* Overflow in a window that is long enough for a late interrupt. */
static const struct pmi_log *interrupts_inside(void)
{
	pmi_open(NULL);
	overflow_in(&workload_long_sled, 0, COUNT_INT);
	return pmi_end();
}

/*
 * PMI-14  With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must clear
 *         IA32_PERF_GLOBAL_CTRL.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_DEBUGCTL[12] = 1
 * When   IA32_PMC0 overflows in a window that goes on
 * Then   IA32_PERF_GLOBAL_CTRL reads 0 at the handler's entry
 * Control: without the freeze there is an interrupt inside the window, where IA32_PERF_GLOBAL_CTRL
 *          isn't 0; IA32_DEBUGCTL takes the bit, and there is an interrupt with it
 */
TEST(pmi, freeze_on_pmi_clears_global_ctrl, REQS(PMI_14),
     NEEDS(need_perfmon, need_branches, need_legacy_freeze, need_debug_control_write))
{
	const struct pmi_log *log = interrupts_inside();

	if (!CONTROL_EQ(t, PMI_14, overflow_allowed(t, 1, log->count), log->count,
			"interrupts without freeze"))
		return;
	if (!log->entry[0].global_ctrl) {
		test_inconclusive(t, "the interrupt comes only after the window");
		return;
	}
	overflow_off(0);
	if (!CONTROL(t, PMI_14, !msr_try_write(MSR_IA32_DEBUGCTL,
					       IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI).raised,
		     "setting IA32_DEBUGCTL[12]"))
		return;
	log = interrupts_inside();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	if (CONTROL_RANGE(t, PMI_14, 1, overflow_allowed(t, 1, log->count), log->count,
			  "interrupts with freeze"))
		CHECK_EQ(t, PMI_14, 0, log->entry[0].global_ctrl,
			 "IA32_PERF_GLOBAL_CTRL at the handler's entry");
}

/* Instructions that IA32_PMC1 counts in a window in which IA32_PMC0 overflows while nothing is
 * delivered: RFLAGS.IF is 0, or LVTPC is masked as well. */
static u64 witness(bool masked, u64 debugctl)
{
	const struct pmi_options options = { .masked = masked };
	struct pmc_mask both = pmc_or(pmc_one(0), pmc_one(1));
	u64 value;

	pmi_open(&options);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	overflow_prepare(0, COUNT_INT);
	counter_program(1, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(1, 0);
	intr_disable();
	counters_enable(both);
	workload_run_uncounted(&workload_long_sled, PERIOD);
	counters_disable();
	value = counter_read(1);
	intr_enable();
	pmi_settle();
	overflow_close_window(2);
	return value;
}

/*
 * FRZ-09  An overflow must freeze although LVTPC is masked.
 * PMI-17  Freezing must take effect at the overflow, not at the delivery of its interrupt.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  RFLAGS.IF = 0, then LVTPC masked as well, so that nothing is delivered; IA32_PMC0
 *        overflows after 128 of 2688 instructions, which IA32_PMC1 counts
 * When   IA32_DEBUGCTL[12] = 1
 * Then   IA32_PMC1 counts 1 or more, and less than the window; of the reference PMU less than half
 * Control: without the freeze it counts the whole window
 */
TEST(pmi, freeze_on_pmi_is_at_the_overflow_and_not_the_delivery, REQS(FRZ_09, PMI_17),
     NEEDS(need_perfmon, need_branches, need_instructions, need_freeze, need_two_counters),
     .under_every_fault = true)
{
	u64 whole = workload_declared(&workload_long_sled, WORKLOAD_INSTRUCTIONS, PERIOD);

	for (unsigned masked = 0; masked < 2; masked++)
		CONTROL_RANGE(t, IDS(FRZ_09, PMI_17), whole, ~0ULL, witness(masked, 0),
			      "instructions of the window, no freeze, LVTPC masked: %u", masked);
	CHECK_RANGE(t, PMI_17, 1, overflow_before_freeze(t, whole),
		    witness(false, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI),
		    "instructions until the freeze, RFLAGS.IF = 0");
	CHECK_RANGE(t, FRZ_09, 1, overflow_before_freeze(t, whole),
		    witness(true, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI),
		    "instructions until the freeze, LVTPC masked");
}

/*
 * PMI-19  With FREEZE_LBRS_ON_PMI set, a performance-monitoring interrupt must stop branch
 *         recording: versions 2 and 3 clear IA32_DEBUGCTL.LBR, version 4 sets LBR_FRZ.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_DEBUGCTL.LBR = 1
 * When   IA32_PMC0 overflows with FREEZE_LBRS_ON_PMI
 * Then   LBR reads 0 at the handler's entry
 * Control: without that bit LBR reads 1 there; there is one interrupt with it and one without
 */
TEST(pmi, freeze_lbrs_on_pmi_clears_lbr, REQS(PMI_19),
     NEEDS(need_perfmon, need_branches, need_legacy_freeze, need_debug_control_write))
{
	const struct pmi_log *log;

	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
	if (!(msr_read(MSR_IA32_DEBUGCTL) & IA32_DEBUGCTL_LBR)) {
		test_skip(t, "IA32_DEBUGCTL.LBR can't be set (reads %#lx)",
			  msr_read(MSR_IA32_DEBUGCTL));
		return;
	}
	log = overflow_interrupts(0, COUNT_INT, NULL);
	if (CONTROL_EQ(t, PMI_19, overflow_allowed(t, 1, log->count), log->count,
		       "interrupts without freeze"))
		CONTROL_EQ(t, PMI_19, IA32_DEBUGCTL_LBR, log->entry[0].debugctl & IA32_DEBUGCTL_LBR,
			   "IA32_DEBUGCTL.LBR at the handler's entry, no freeze");
	overflow_off(0);
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI);
	log = overflow_interrupts(0, COUNT_INT, NULL);
	if (CONTROL_EQ(t, PMI_19, overflow_allowed(t, 1, log->count), log->count,
		       "interrupts with freeze"))
		CHECK_EQ(t, PMI_19, 0, log->entry[0].debugctl & IA32_DEBUGCTL_LBR,
			 "IA32_DEBUGCTL.LBR at the handler's entry, FREEZE_LBRS_ON_PMI = 1");
	msr_write(MSR_IA32_DEBUGCTL, 0);
}
