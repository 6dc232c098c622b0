/* SPDX-License-Identifier: MIT */
/*
 * Overflow: the status bits, the interrupt, the local vector table entry. SDM "Architectural
 * Performance Monitoring Version 2 Facilities", "Local Vector Table", "Freezing LBR and
 * Performance Counters on PMI". How late an interrupt comes isn't stated and isn't asserted.
 */
#include "kernel/apic.h"
#include "kernel/fault.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/frame/test.h"

TEST(pmi, each_counter_has_its_status_bit, REQS(MSR_26, MSR_20, CNT_30),
     NEEDS(need_perfmon, need_branches))
{
	u64 all = counters_gp().bits | counters_fixed().bits;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(all & BIT(c)))
			continue;
		counter_program(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH);
		counter_preset(c, 1u << 20);
		workload_run(&workload_sled, PERIOD, pmc_one(c));
		CHECK_EQ(t, CNT_30, 0, overflow_status(), "status after counter %u stopped short",
			 c);
		overflow(c, 0);
		CHECK_EQ(t, MSR_26, BIT(c), overflow_status(), "status after counter %u wrapped",
			 c);
		if (counter_caps()->gp == 4)
			CHECK_EQ(t, MSR_20, 0, overflow_status() & 0xf0,
				 "bits of counters that aren't there");
		overflow_off(c);
	}
}

TEST(pmi, status_stays_until_it_is_cleared, REQS(PMI_07), NEEDS(need_perfmon, need_branches),
     .under_every_fault = true)
{
	overflow(0, 0);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(t, PMI_07, 1, overflow_status(), "status, read %u", i + 1);
	counters_clear(0);
	CHECK_EQ(t, PMI_07, 1, overflow_status(),
		 "status after writing 0 to IA32_PERF_GLOBAL_OVF_CTRL");
	counter_preset(0, PERIOD);
	CHECK_EQ(t, PMI_07, 1, overflow_status(), "status after writing the counter");
	counters_clear(1);
	CHECK_EQ(t, PMI_07, 0, overflow_status(), "status after clearing the bit");
}

TEST(pmi, clearing_one_bit_keeps_the_others, REQS(PMI_08),
     NEEDS(need_perfmon, need_branches, need_two_counters))
{
	struct pmc_mask both = pmc_or(pmc_one(0), pmc_one(1));

	overflow_prepare(0, 0);
	overflow_prepare(1, 0);
	workload_run(&workload_sled, PERIOD, both);
	CHECK_EQ(t, PMI_08, 3, overflow_status(), "status after two counters wrapped");
	counters_clear(1);
	CHECK_EQ(t, PMI_08, 2, overflow_status(), "status after clearing bit 0");
	counters_clear(2);
	CHECK_EQ(t, PMI_08, 0, overflow_status(), "status after clearing bit 1");
}

TEST(pmi, wrap_without_int_raises_no_interrupt, REQS(PRIO_15), NEEDS(need_perfmon, need_branches))
{
	u64 all = counters_gp().bits | counters_fixed().bits;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(all & BIT(c)))
			continue;
		CHECK_EQ(t, PRIO_15, 0, overflow_interrupts(c, 0, NULL)->count,
			 "interrupts of counter %u, INT = 0", c);
		CHECK_EQ(t, PRIO_15, BIT(c), overflow_status() & BIT(c), "its status bit");
		overflow_off(c);
		/* The control. */
		CHECK_RANGE(t, PRIO_15, 1, ~0ULL, overflow_interrupts(c, COUNT_INT, NULL)->count,
			    "interrupts of counter %u, INT = 1", c);
		overflow_off(c);
	}
}

TEST(pmi, general_purpose_overflow_interrupts_once, REQS(PMI_01),
     NEEDS(need_perfmon, need_branches), .under_every_fault = true)
{
	/* An interrupt that waits for the next overflow is missed at the first one only. */
	CHECK_EQ(t, PMI_01, 1, calibration_get()->first_interrupts,
		 "interrupts of the run's first overflow of IA32_PMC0");
	for (unsigned c = 0; c < counter_caps()->gp; c++) {
		const struct pmi_log *log = overflow_interrupts(c, COUNT_INT, NULL);

		if (CHECK_EQ(t, PMI_01, 1, log->count, "interrupts of IA32_PMC%u", c))
			CHECK_EQ(t, PMI_01, VECTOR_PMI, log->entry[0].vector, "vector");
		overflow_off(c);
	}
}

TEST(pmi, fixed_overflow_interrupts_once, REQS(PMI_02), NEEDS(need_perfmon, need_fixed))
{
	for (unsigned i = 0; i < counter_caps()->fixed; i++) {
		const struct pmi_log *log = overflow_interrupts(PMC_FIXED(i), COUNT_INT, NULL);
		unsigned most = 1 + overflow_repeats(t, PMC_FIXED(i));

		if (CHECK_RANGE(t, PMI_02, 1, most, log->count, "interrupts of fixed counter %u",
				i))
			CHECK_EQ(t, PMI_02, VECTOR_PMI, log->entry[0].vector, "vector");
		overflow_off(PMC_FIXED(i));
	}
}

TEST(pmi, status_shows_the_overflow_at_entry, REQS(PMI_03), NEEDS(need_perfmon, need_branches))
{
	u64 all = counters_gp().bits | counters_fixed().bits;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		const struct pmi_log *log;

		if (!(all & BIT(c)))
			continue;
		log = overflow_interrupts(c, COUNT_INT, NULL);
		if (CHECK_RANGE(t, PMI_03, 1, ~0ULL, log->count, "interrupts of counter %u", c))
			CHECK_EQ(t, PMI_03, BIT(c), log->entry[0].status & STATUS_LOOKED_AT,
				 "status at the handler's entry, counter %u", c);
		overflow_off(c);
	}
}

TEST(pmi, delivery_masks_the_local_vector, REQS(PMI_04), NEEDS(need_perfmon, need_branches),
     .under_every_fault = true)
{
	static const struct pmi_options stay = { .stay_masked = true };
	const struct pmi_log *log;

	for (unsigned i = 0; i < 4; i++) {
		pmi_open(&stay);
		HARNESS_CHECK(t, !(apic_lvtpc_read() & LVT_MASKED), "LVTPC's mask bit is clear");
		overflow(0, COUNT_INT);
		log = pmi_settle();
		if (CHECK_EQ(t, PMI_04, 1, log->count, "interrupts of delivery %u", i)) {
			CHECK_EQ(t, PMI_04, LVT_MASKED, log->entry[0].lvtpc & LVT_MASKED,
				 "LVTPC's mask bit at the handler's entry, delivery %u", i);
			CHECK_EQ(t, PMI_04, LVT_MASKED, apic_lvtpc_read() & LVT_MASKED,
				 "LVTPC's mask bit after the handler, which left it alone");
		}
		/* Every other time, so that what goes wrong with every other delivery shows. */
		if (i & 1) {
			unsigned before = log->count;

			overflow(0, COUNT_INT);
			CHECK_EQ(t, PMI_04, before, pmi_settle()->count,
				 "interrupts after another overflow, LVTPC still masked");
		}
		overflow_off(0);
		pmi_unmask();	/* what waits is taken here */
		pmi_settle();
		pmi_close();
	}
}

TEST(pmi, delivery_mode_nmi_is_honoured, REQS(PMI_06), NEEDS(need_perfmon, need_branches))
{
	static const struct pmi_options nmi = { .nmi = true };
	const struct pmi_log *log = overflow_interrupts(0, COUNT_INT, &nmi);

	if (CHECK_EQ(t, PMI_06, 1, log->count, "interrupts with delivery mode NMI"))
		CHECK_EQ(t, PMI_06, VECTOR_NMI, log->entry[0].vector, "vector");
	overflow_off(0);
	log = overflow_interrupts(0, COUNT_INT, NULL);
	if (CHECK_EQ(t, PMI_06, 1, log->count, "interrupts with delivery mode fixed"))
		CHECK_EQ(t, PMI_06, VECTOR_PMI, log->entry[0].vector, "vector");
}

/* The same in a window that goes on long enough for an interrupt to be late. */
static const struct pmi_log *interrupts_inside(void)
{
	const struct pmi_log *log;

	pmi_open(NULL);
	overflow_in(&workload_long_sled, 0, COUNT_INT);
	log = pmi_settle();
	pmi_close();
	return log;
}

/* The control without the freeze also shows that the interrupt falls into the window. */
TEST(pmi, freeze_clears_global_control, REQS(PMI_14),
     NEEDS(need_perfmon, need_branches, need_legacy_freeze, need_debug_control_write))
{
	const struct pmi_log *log = interrupts_inside();

	if (!CHECK_EQ(t, PMI_14, 1, log->count, "interrupts without freeze"))
		return;
	if (!log->entry[0].global_ctrl) {
		test_inconclusive(t, "the interrupt comes only after the window");
		return;
	}
	overflow_off(0);
	if (!CHECK(t, PMI_14, !msr_try_write(MSR_IA32_DEBUGCTL,
					     IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI).raised,
		   "setting IA32_DEBUGCTL[12]"))
		return;
	log = interrupts_inside();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	if (CHECK_EQ(t, PMI_14, 1, log->count, "interrupts with freeze"))
		CHECK_EQ(t, PMI_14, 0, log->entry[0].global_ctrl,
			 "IA32_PERF_GLOBAL_CTRL at the handler's entry");
}

/* Instructions that PMC1 counts in the window in which PMC0 overflows, LVTPC being masked. */
static u64 witness(u64 debugctl)
{
	static const struct pmi_options masked = { .masked = true };
	struct pmc_mask both = pmc_or(pmc_one(0), pmc_one(1));
	u64 value;

	pmi_open(&masked);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	overflow_prepare(0, COUNT_INT);
	counter_program(1, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(1, 0);
	workload_run(&workload_long_sled, PERIOD, both);
	value = counter_read(1);
	msr_write(MSR_IA32_DEBUGCTL, 0);
	counter_program_disabled(0, 0, 0);
	counter_program_disabled(1, 0, 0);
	counters_clear(3);
	pmi_unmask();		/* what waits is taken here and belongs to this window */
	pmi_settle();
	pmi_close();
	return value;
}

TEST(pmi, freeze_is_at_the_overflow, REQS(PMI_17),
     NEEDS(need_perfmon, need_branches, need_instructions, need_freeze, need_two_counters),
     .under_every_fault = true)
{
	u64 running = witness(0), frozen = witness(IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	u64 whole = workload_declared(&workload_long_sled, COUNT_INSTRUCTIONS, PERIOD);

	CHECK_RANGE(t, PMI_17, whole, ~0ULL, running, "instructions of the window, no freeze");
	/* The overflow is behind 128 of the 2688 instructions; nothing is ever delivered. */
	CHECK_RANGE(t, PMI_17, 1, 2 * PERIOD + LONG_SLED_NOPS / 2, frozen,
		    "instructions until the freeze, the interrupt masked");
}

/* Branch recording goes on in the control, and stops by itself with the freeze. */
TEST(pmi, freeze_stops_branch_recording, REQS(PMI_19),
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
	if (CHECK_EQ(t, PMI_19, 1, log->count, "interrupts without freeze"))
		CHECK_EQ(t, PMI_19, IA32_DEBUGCTL_LBR, log->entry[0].debugctl & IA32_DEBUGCTL_LBR,
			 "IA32_DEBUGCTL.LBR at the handler's entry, no freeze");
	overflow_off(0);
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI);
	log = overflow_interrupts(0, COUNT_INT, NULL);
	if (CHECK_EQ(t, PMI_19, 1, log->count, "interrupts with freeze"))
		CHECK_EQ(t, PMI_19, 0, log->entry[0].debugctl & IA32_DEBUGCTL_LBR,
			 "IA32_DEBUGCTL.LBR at the handler's entry, FREEZE_LBRS_ON_PMI = 1");
	msr_write(MSR_IA32_DEBUGCTL, 0);
}
