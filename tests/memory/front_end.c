/* SPDX-License-Identifier: MIT */
/*
 * FRONTEND_RETIRED: it counts front-end events that MSR_PEBS_FRONTEND selects, when the next
 * instruction retires. SDM "FRONTEND_RETIRED", Table 18-57. No test expects a number of misses: the
 * tests check an upper limit of the count, and that all counters use the same register.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "pmu/event.h"
#include "spec/event.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/window.h"

#define LINE		64u
#define OTHER_LINES	16u	/* lines of the code that starts and stops counters */
#define COUNTERS	4u	/* Table 18-54: counters of precise events */
#define FETCHES		4u	/* instruction fetches of a line, of 16 bytes each */
#define SELECTIONS	6u
#define DSB_MISSES	0u	/* the first selection */
#define MISSES		5u	/* of the selections, the first: misses of lines */

static bool need_front_end(char *reason, size_t size)
{
	struct event event;

	if (counter_caps()->facilities & FAC_FRONTEND && event_get(EK_FRONTEND, 0, &event) &&
	    !counter_caps()->hypervisor)
		return true;
	fmt_print(reason, size, "no FRONTEND_RETIRED known for family %02x model %02x, or a guest",
		  counter_caps()->family, counter_caps()->model);
	return false;
}

/* Table 18-57; the last are bubbles of one cycle or more of the full width (intel/perfmon). */
static u64 selection(unsigned i)
{
	const u64 bubbles = FRONTEND_LATENCY | BIT(PEBS_FRONTEND_BUBBLE_LENGTH_SHIFT) |
			    4ULL << PEBS_FRONTEND_BUBBLE_WIDTH_SHIFT;
	const u64 of[SELECTIONS] = { FRONTEND_DSB_MISS,	  FRONTEND_L1I_MISS,  FRONTEND_L2_MISS,
				     FRONTEND_ITLB_MISS, FRONTEND_STLB_MISS, bubbles };

	return of[i];
}

static u64 lines(const struct workload *w)
{
	return (u64)(w->end - w->begin) / LINE + 2;
}

/* Count a row of NOPs whose lines are in no cache; it runs once. */
static bool count_cold_code(u64 select, u64 value[WINDOW_COUNTERS])
{
	const struct workload *w = &workload_long_sled;
	struct event event;
	bool undisturbed;

	if (!event_get(EK_FRONTEND, 0, &event))
		return false;
	for (const u8 *at = w->begin; at < w->end; at += LINE)
		__asm__ volatile("clflush %0" ::"m"(*at) : "memory");
	__asm__ volatile("mfence" ::: "memory");
	msr_write(MSR_PEBS_FRONTEND, select);
	undisturbed = window_count((struct pmc_mask){ BITS(0, COUNTERS - 1) }, event.code,
				   COUNT_BOTH, w, 1, value);
	msr_write(MSR_PEBS_FRONTEND, 0);
	return undisturbed;
}

/*
 * SKL-16  FRONTEND_RETIRED must count no more than once per cache line and instruction fetch.
 *         SDM 18.13.1.5 FRONTEND_RETIRED
 *
 * Given  a row of one-byte NOPs whose lines were flushed, many to a line
 * When   it is executed once, for each selection of MSR_PEBS_FRONTEND
 * Then   no selection of misses counts more often than there are lines, including those of the code
 *        that switches the counter on and off; in strict runs neither does that of bubbles. Of DSB
 *        misses a processor may have four for a line, which is fetched by 16 bytes
 * Control: one of the selections counts
 */
TEST(count, front_end_event_counts_at_most_once_a_cache_line, REQS(SKL_16),
     NEEDS(need_perfmon, need_four_counters, need_front_end))
{
	const u64 most = lines(&workload_long_sled) + OTHER_LINES;
	u64 value[WINDOW_COUNTERS], all = 0;

	for (unsigned i = 0; i < SELECTIONS; i++) {
		if (!count_cold_code(selection(i), value)) {
			test_inconclusive(t, "every window was disturbed");
			return;
		}
		if (i < MISSES || test_is_strict(t))
			CHECK_RANGE(t, SKL_16, 0,
				    i == DSB_MISSES && !test_is_strict(t) ? FETCHES * most : most,
				    value[0],
				    "FRONTEND_RETIRED in %u NOPs, MSR_PEBS_FRONTEND = %#lx",
				    LONG_SLED_NOPS, selection(i));
		all += value[0];
	}
	CONTROL_RANGE(t, SKL_16, 1, ~0ULL, all, "FRONTEND_RETIRED of all selections");
}

/*
 * SKL-15  There must be one MSR_PEBS_FRONTEND for all counters of a logical processor.
 *         Linux: FRONTEND_RETIRED events share one extra register
 *
 * Given  FRONTEND_RETIRED on IA32_PMC0 to IA32_PMC3, and code whose lines were flushed
 * When   it is executed once, for each selection of MSR_PEBS_FRONTEND
 * Then   the four count the same
 * Control: one of the selections counts
 */
TEST(count, counters_of_a_processor_share_msr_pebs_frontend, REQS(SKL_15),
     NEEDS(need_perfmon, need_four_counters, need_front_end))
{
	u64 value[WINDOW_COUNTERS], all = 0;

	for (unsigned i = 0; i < SELECTIONS; i++) {
		if (!count_cold_code(selection(i), value)) {
			test_inconclusive(t, "every window was disturbed");
			return;
		}
		for (unsigned c = 1; c < COUNTERS; c++)
			CHECK_EQ(t, SKL_15, value[0], value[c],
				 "FRONTEND_RETIRED of IA32_PMC%u as of IA32_PMC0, "
				 "MSR_PEBS_FRONTEND = %#lx",
				 c, selection(i));
		all += value[0];
	}
	CONTROL_RANGE(t, SKL_15, 1, ~0ULL, all, "FRONTEND_RETIRED of all selections");
}

/* Count FRONTEND_RETIRED over so many runs of a row of NOPs. The lines are flushed before the
 * first. */
static u64 count_rows(u64 select, unsigned runs)
{
	const struct workload *w = &workload_long_sled;
	struct event event;
	u64 counted;

	if (!event_get(EK_FRONTEND, 0, &event))
		return 0;
	msr_write(MSR_PEBS_FRONTEND, select);
	counter_program(0, event.code, COUNT_BOTH);
	counter_write(0, 0);
	for (const u8 *at = w->begin; at < w->end; at += LINE)
		__asm__ volatile("clflush %0" ::"m"(*at) : "memory");
	__asm__ volatile("mfence" ::: "memory");
	counters_enable(pmc_one(0));
	for (unsigned i = 0; i < runs; i++)
		workload_run_uncounted(w, 1);
	counters_disable();
	counted = counter_read(0);
	counter_program_disabled(0, 0, 0);
	msr_write(MSR_PEBS_FRONTEND, 0);
	return counted;
}

static u64 bubbles(unsigned cycles)
{
	return FRONTEND_LATENCY | (u64)cycles << PEBS_FRONTEND_BUBBLE_LENGTH_SHIFT |
	       4ULL << PEBS_FRONTEND_BUBBLE_WIDTH_SHIFT;
}

#define BUBBLE_LENGTH_BITS	12u	/* Table 18-59 */
#define AGAIN	3u	/* runs of code that the caches have since the first run */

/*
 * SKL-24  FRONTEND_RETIRED must count lines whose fetch missed what MSR_PEBS_FRONTEND selects, and
 *         bubbles that are as long as it says.
 *         SDM 18.13.1.5 FRONTEND_RETIRED, Table 18-57
 * HYB-22  FRONTEND_RETIRED must be event 01C6H up to Golden Cove and 03C6H from Redwood Cove on.
 *         intel/perfmon FRONTEND_RETIRED
 *
 * Given  a row of NOPs of many lines, all flushed
 * When   it is executed once, and three times in a row, for each kind of miss; once for bubbles of
 *        1, 8, 64 cycles and of 4095, which no fetch takes; once for those of each higher bit of
 *        the length
 * Then   misses of the decoded stream buffer, of the L1 and of the L2 count at least half of the
 *        lines. Runs after the first add hardly any miss of any kind. There are no more misses of
 *        the L2 than of the L1, and none more of the STLB than of the ITLB. Longer bubbles are
 *        fewer, for each bit of the length, and none is of 4095 cycles
 */
TEST(count, front_end_event_counts_what_missed_and_for_how_long, REQS(SKL_24, HYB_22),
     NEEDS(need_perfmon, need_front_end))
{
	static const u64 misses[] = {
		FRONTEND_ANY_DSB_MISS, FRONTEND_DSB_MISS,  FRONTEND_L1I_MISS,
		FRONTEND_L2_MISS,      FRONTEND_ITLB_MISS, FRONTEND_STLB_MISS
	};
	static const unsigned cycles[] = { 1, 8, 64, 4095 };
	const u64 all = LONG_SLED_NOPS / LINE;
	u64 once[6], length[4];

	for (unsigned i = 0; i < 6; i++) {
		u64 more = count_rows(misses[i], AGAIN);

		once[i] = count_rows(misses[i], 1);
		if (i < 4)
			CHECK_RANGE(t, IDS(SKL_24, HYB_22), all / 2, ~0ULL, once[i],
				    "lines of %lu that were flushed, MSR_PEBS_FRONTEND = %#lx", all,
				    misses[i]);
		CHECK_RANGE(t, SKL_24, 0, once[i] + all / 2, more,
			    "lines in %u runs, the first of which counts %lu, "
			    "MSR_PEBS_FRONTEND = %#lx",
			    AGAIN, once[i], misses[i]);
	}
	CHECK_RANGE(t, SKL_24, 0, once[2], once[3], "misses of the L2, of those of the L1");
	CHECK_RANGE(t, SKL_24, 0, once[4], once[5], "misses of the STLB, of those of the ITLB");
	for (unsigned i = 0; i < 4; i++)
		length[i] = count_rows(bubbles(cycles[i]), 1);
	CHECK_RANGE(t, SKL_24, all / 2, ~0ULL, length[0], "bubbles of a cycle and more");
	for (unsigned i = 1; i < 4; i++)
		CHECK_RANGE(t, SKL_24, 0, length[i - 1], length[i],
			    "bubbles of %u cycles and more, of those of %u", cycles[i],
			    cycles[i - 1]);
	CHECK_EQ(t, SKL_24, 0, length[3], "bubbles of 4095 cycles");
	for (unsigned bit = 7; bit < BUBBLE_LENGTH_BITS; bit++)
		CHECK_RANGE(t, SKL_24, 0, length[2] + all / 4, count_rows(bubbles(1u << bit), 1),
			    "bubbles of %u cycles and more, %lu of 64", 1u << bit, length[2]);
}
