/* SPDX-License-Identifier: MIT */
/*
 * Two PEBS counters that overflow one after the other: SDM "Processor Event Based Sampling (PEBS)",
 * the paragraphs on performance counter prioritization. priority.c tests the rest of these
 * paragraphs.
 */
#include "pmu/counter.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

/* Counters of loads, by their index. */
struct two_overflows {
	unsigned earlier, later;
	u64 loads_between;
};

/*
 * Two counters overflow on different loads, `gap` apart, `earlier` first. The status of the first
 * record must show the earlier one; the assist clears the bit afterwards. If assists are prompt,
 * the record must be of the next load, even if `later` overflows on that load.
 */
static void check_earlier(struct test *t, struct two_overflows pair)
{
	unsigned earlier = pair.earlier, later = pair.later;
	u64 gap = pair.loads_between;
	const struct calibration *c = calibration_get();
	enum record_format format = counter_caps()->record_format;
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	u64 status;

	ds_open(&setup);
	pebs_arm(later, LOADS, COUNT_BOTH,
		 calibration_period(LOADS, PERIOD + gap) + pebs_has_pdist(later));
	pebs_arm(earlier, LOADS, COUNT_BOTH,
		 calibration_period(LOADS, PERIOD) + pebs_has_pdist(earlier));
	workload_run(&workload_sample, PERIOD, pmc_or(pmc_one(earlier), pmc_one(later)));
	sampling_want(t, 1);
	if (!CONTROL_RANGE(t, PRIO_16, 1, 2, ds_records(), "records of two overflows"))
		return;
	record_decode(format, ds_record(0), record_size(format), &record);
	status = sampling_counters(&record);
	CHECK_EQ(t, PRIO_16, BIT(earlier), status & BIT(earlier),
		 "IA32_PMC%u, %lu loads before IA32_PMC%u, in the first record's status 0x%lx",
		 earlier, gap, later, status);
	/* With PDist a near start value doesn't determine the recorded load. */
	if (c->shadow_known && c->shadow_most == 0 && !pebs_has_pdist(earlier))
		CHECK_EQ(t, PRIO_16, workload_mark(&workload_sample, 0),
			 sampling_ip(&workload_sample, &record),
			 "instruction of IA32_PMC%u's record, IA32_PMC%u overflowing %lu loads on",
			 earlier, later, gap);
	counter_reset();
}

/*
 * PRIO-16  A counter that overflows later must not be served before one that overflowed earlier.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization;
 *          how long simultaneous is isn't stated
 *
 * Given  two PEBS counters that overflow on different loads, one to six apart, either index first
 * When   both overflow
 * Then   the first record's status shows the earlier one; where this machine has no record shadow
 *        and the counter no PDist, the record is of the first load after it
 * Control: there are one or two records
 */
TEST(priority, earlier_pebs_overflow_is_not_overtaken_by_a_later_one, REQS(PRIO_16),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	calibration_get();
	check_earlier(t, (struct two_overflows){ .earlier = 3, .later = 0, .loads_between = 1 });
	check_earlier(t, (struct two_overflows){ .earlier = 2, .later = 1, .loads_between = 6 });
	check_earlier(t, (struct two_overflows){ .earlier = 0, .later = 1, .loads_between = 1 });
}
