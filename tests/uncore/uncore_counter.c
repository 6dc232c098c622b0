/* SPDX-License-Identifier: MIT */
/*
 * The uncore's general-purpose counters one by one, and their filters: SDM "Uncore Performance
 * Monitoring Management Facility", Figure 18-25.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/counter.h"
#include "pmu/pmi.h"
#include "tests/measure/cache_workload.h"
#include "tests/frame/needs.h"
#include "tests/uncore/uncore.h"
#include "tests/measure/window.h"

#define EDGE		BIT(18)		/* Figure 18-25 */
#define INVERT		BIT(23)
#define CMASK_NEVER	(255ULL << 24)	/* no clock has 255 events */

/* Interrupts of a wrap of general-purpose counter c, in the middle of the misses. */
static const struct pmi_log *wrap(const struct cache_workload *h, unsigned c, bool pmi)
{
	const struct pmi_log *log;

	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
	pmi_open(NULL);
	uncore_preset(c, MISSES / 2);
	uncore_program(c, UNC_L3_MISS_READ, pmi);
	uncore_enable(BIT(c) | EN_PMI_CORES);
	cache_workload_run(h, MISSES, (struct pmc_mask){ 0 });
	log = pmi_settle();
	pmi_close();
	return log;
}

TEST(unc, each_counter_interrupts_as_its_enable_says, REQS(PMI_10, PMI_12, UNC_05),
     NEEDS(need_perfmon, need_uncore))
{
	struct cache_workload h;
	char reason[96];

	if (!cache_workload_get(ACCESS_MEMORY, &h, reason, sizeof(reason))) {
		test_skip(t, "%s", reason);
		return;
	}
	for (unsigned c = 0; c < UNCORE_COUNTERS; c++) {
		const struct pmi_log *log = wrap(&h, c, false);

		CHECK_EQ(t, UNC_05, BIT(c), uncore_status() & BIT(c),
			 "uncore status after counter %u wrapped", c);
		CHECK_EQ(t, UNC_05, 0, log->count,
			 "interrupts of counter %u without its PMI enable", c);
		uncore_off();
		log = wrap(&h, c, true);
		CHECK_EQ(t, PMI_10, BIT(c), uncore_status() & BIT(c),
			 "uncore status after counter %u wrapped", c);
		if (CHECK_EQ(t, PMI_10, 1, log->count,
			     "interrupts of counter %u with its PMI enable", c))
			CHECK_EQ(t, PMI_12, CORE_UNC_OVF, log->entry[0].status & CORE_UNC_OVF,
				 "38EH[61] at the entry of the interrupt of counter %u", c);
		uncore_off();
	}
}

/* A core counter's bit is set, and stays, when the uncore interrupts. */
TEST(unc, its_bit_is_set_beside_a_cores, REQS(PMI_11, PMI_12),
     NEEDS(need_perfmon, need_branches, need_uncore))
{
	static const struct pmi_options keep = { .keep_status = true };
	unsigned count;

	for (unsigned c = 0; c < counter_caps()->gp; c++) {
		msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
		counter_program(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH);
		counter_preset(c, PERIOD);
		workload_run(&workload_sled, PERIOD, pmc_one(c));
		CHECK_EQ(t, PMI_11, BIT(c), counters_status() & (BIT(c) | CORE_UNC_OVF),
			 "38EH[%u] and [61] after IA32_PMC%u wrapped", c, c);
		pmi_open(&keep);
		uncore_wrap(true, EN_PMI_CORES);
		count = pmi_settle()->count;
		pmi_close();
		CHECK_EQ(t, PMI_11, 1, count, "interrupts of the uncore's fixed counter");
		CHECK_EQ(t, PMI_12, CORE_UNC_OVF, counters_status() & CORE_UNC_OVF,
			 "38EH[61] after it, while bit %u is set", c);
		CHECK_EQ(t, PMI_11, BIT(c), counters_status() & BIT(c), "38EH[%u] as before", c);
		counter_program_disabled(c, 0, 0);
		uncore_off();
	}
}

/* What counter c counts over the misses with these further bits of its event select. */
static u64 counted(const struct cache_workload *h, u32 c, u64 bits)
{
	uncore_program(c, UNC_L3_MISS_READ, false);
	msr_write(MSR_UNCORE_PERFEVTSEL0 + c, msr_read(MSR_UNCORE_PERFEVTSEL0 + c) | bits);
	uncore_write(c, 0);
	uncore_enable(BIT(c));
	cache_workload_run(h, MISSES, (struct pmc_mask){ 0 });
	uncore_enable(0);
	return uncore_read(c);
}

/* A condition that always holds rises at most when counting begins and when it ends. */
TEST(unc, edges_are_rises_of_the_condition, REQS(UNC_09), NEEDS(need_uncore))
{
	struct cache_workload h;
	char reason[96];

	if (!cache_workload_get(ACCESS_MEMORY, &h, reason, sizeof(reason))) {
		test_skip(t, "%s", reason);
		return;
	}
	for (u32 c = 0; c < UNCORE_COUNTERS; c++) {
		CHECK_RANGE(t, UNC_09, MISSES, ~0ULL, counted(&h, c, CMASK_NEVER | INVERT),
			    "clocks with fewer than 255 events, counter %u", c);
		CHECK_RANGE(t, UNC_09, 0, 2, counted(&h, c, CMASK_NEVER | INVERT | EDGE),
			    "rises of that condition, which always holds, counter %u", c);
	}
	uncore_off();
}
