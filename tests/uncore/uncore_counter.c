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

#define RISES_MOST	2		/* of a condition that always holds: at begin and end */

/* Counter c wraps in the middle of the misses. Returns its interrupts. */
static const struct pmi_log *wrap(const struct cache_workload *h, unsigned c, bool pmi)
{
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
	pmi_open(NULL);
	uncore_preset(c, MISSES / 2);
	uncore_program(c, UNC_L3_MISS_READ, pmi);
	uncore_enable(BIT(c) | uncore_cores());
	cache_workload_run(h, MISSES, (struct pmc_mask){ 0 });
	return pmi_end();
}

/*
 * PMI-10  An uncore interrupt must reach every selected core.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 * PMI-12  Bit 61 of IA32_PERF_GLOBAL_STATUS must be set by an uncore interrupt and cleared by bit
 *         61 of IA32_PERF_GLOBAL_OVF_CTRL.
 *         SDM Table 35-13, Figures 18-33 and 18-34
 * UNC-05  An uncore counter that wraps without its PMI enable must interrupt no core.
 *         SDM 18.8.2.2 Uncore Performance Event Configuration Facility
 *
 * Given  each general-purpose counter wraps half-way through loads of flushed lines, with the core
 *        selected and IA32_DEBUGCTL[13] = 1
 * When   its event select has the PMI enable 0, then 1
 * Then   no interrupt; then one, at whose entry bit 61 of IA32_PERF_GLOBAL_STATUS is 1
 * Control: the status bit of the counter is set both times
 */
TEST(unc, uncore_counter_interrupts_only_with_its_pmi_enable, REQS(PMI_10, PMI_12, UNC_05),
     NEEDS(need_perfmon, need_uncore))
{
	struct cache_workload h;

	if (!uncore_reaches(t))
		return;
	if (!cache_workload_or_skip(t, ACCESS_MEMORY, &h))
		return;
	for (unsigned c = 0; c < UNCORE_COUNTERS; c++) {
		const struct pmi_log *log = wrap(&h, c, false);

		CONTROL_EQ(t, UNC_05, BIT(c), uncore_status() & BIT(c),
			   "uncore status after counter %u wrapped", c);
		CHECK_EQ(t, UNC_05, 0, log->count,
			 "interrupts of counter %u without its PMI enable", c);
		uncore_off();
		log = wrap(&h, c, true);
		CONTROL_EQ(t, PMI_10, BIT(c), uncore_status() & BIT(c),
			   "uncore status after counter %u wrapped", c);
		if (CHECK_EQ(t, PMI_10, 1, log->count,
			     "interrupts of counter %u with its PMI enable", c))
			CHECK_EQ(t, PMI_12, CORE_UNC_OVF, log->entry[0].status & CORE_UNC_OVF,
				 "38EH[61] at the entry of the interrupt of counter %u", c);
		uncore_off();
	}
}

/*
 * PMI-11  The core and uncore status registers together must name every cause of a coincident
 *         interrupt.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 * PMI-12  Bit 61 of IA32_PERF_GLOBAL_STATUS must be set by an uncore interrupt and cleared by bit
 *         61 of IA32_PERF_GLOBAL_OVF_CTRL.
 *         SDM Table 35-13, Figures 18-33 and 18-34
 *
 * Given  a counter of the core has wrapped without an interrupt: its bit of
 *        IA32_PERF_GLOBAL_STATUS (38EH) is 1, and bit 61 is 0
 * When   the uncore's fixed counter wraps and interrupts; the handler doesn't write the status
 * Then   bit 61 is 1, and the bit of the core's counter still is
 * Control: there was one interrupt
 */
TEST(unc, uncore_interrupt_sets_bit_61_and_keeps_core_overflow_bits, REQS(PMI_11, PMI_12),
     NEEDS(need_perfmon, need_branches, need_uncore))
{
	static const struct pmi_options keep = { .keep_status = true };
	unsigned count;

	if (!uncore_reaches(t))
		return;
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
		counter_program(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH);
		counter_preset(c, PERIOD);
		workload_run(&workload_sled, PERIOD, pmc_one(c));
		CONTROL_EQ(t, PMI_11, BIT(c), counters_status() & (BIT(c) | CORE_UNC_OVF),
			   "38EH[%u] and [61] after IA32_PMC%u wrapped", c, c);
		pmi_open(&keep);
		uncore_wrap(true, uncore_cores());
		count = pmi_settle()->count;
		pmi_close();
		CONTROL_EQ(t, PMI_11, 1, count, "interrupts of the uncore's fixed counter");
		CHECK_EQ(t, PMI_12, CORE_UNC_OVF, counters_status() & CORE_UNC_OVF,
			 "38EH[61] after it, while bit %u is set", c);
		CHECK_EQ(t, PMI_11, BIT(c), counters_status() & BIT(c), "38EH[%u] as before", c);
		counter_program_disabled(c, 0, 0);
		uncore_off();
	}
}

/* The count of counter c over the misses, with these further bits in its event select. */
static u64 counted(const struct cache_workload *h, u32 c, u64 bits)
{
	uncore_count_filtered(c, bits);
	uncore_enable(BIT(c));
	cache_workload_run(h, MISSES, (struct pmc_mask){ 0 });
	uncore_enable(0);
	return uncore_read(c);
}

/*
 * UNC-09  With its edge detect bit set an uncore counter must count the transitions of its
 *         condition from deasserted to asserted.
 *         SDM 18.8.2.2 Uncore Performance Event Configuration Facility, Figure 18-25: edge detect
 *
 * Given  an event select with CMASK 255 and INV: its condition, fewer than 255 events in a clock,
 *        always holds
 * When   each counter counts with it during loads of flushed lines, without edge detect and with
 *        it
 * Then   with edge detect it counts 2 at most: the condition can rise only when counting begins
 *        and ends
 * Control: without edge detect it counts at least as many clocks as there are loads
 */
TEST(unc, uncore_edge_detect_counts_only_rises_of_the_condition, REQS(UNC_09), NEEDS(need_uncore))
{
	struct cache_workload h;

	if (!cache_workload_or_skip(t, ACCESS_MEMORY, &h))
		return;
	for (u32 c = 0; c < UNCORE_COUNTERS; c++) {
		CONTROL_RANGE(t, UNC_09, MISSES, ~0ULL, counted(&h, c, UNCORE_CLOCKS),
			      "clocks with fewer than 255 events, counter %u", c);
		CHECK_RANGE(t, UNC_09, 0, RISES_MOST, counted(&h, c, UNCORE_CLOCKS | UNCORE_EDGE),
			    "rises of that condition, which always holds, counter %u", c);
	}
	uncore_off();
}
