/* SPDX-License-Identifier: MIT */
/*
 * The category of each byte of MSR_PERF_METRICS, tested with pieces whose slots are mostly of one
 * category. Linux INTEL_PMU_METRIC.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "tests/core/perf_metrics.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"

#define BOTH	(BIT(SLOTS) | METRICS_ENABLE)
#define ROUNDS	4000
#define STRICT_ROUNDS 1000	/* opening and closing take few slots there */
#define WINDOWS	8u

static u64 rounds_of(const struct test *t)
{
	return test_is_strict(t) ? STRICT_ROUNDS : ROUNDS;
}

/* The maximum of byte n of the metrics over several windows, or the first value above `enough`. */
static u64 highest_of(const struct test *t, const struct workload *w, unsigned n, u64 enough)
{
	u64 highest = 0;

	for (unsigned i = 0; i < WINDOWS && highest <= enough; i++) {
		const u64 value = metrics_byte(metrics_of(w, rounds_of(t), BOTH), n);

		highest = value > highest ? value : highest;
	}
	return highest;
}

/*
 * MET-05  Bytes 0, 1, 2 and 3 of MSR_PERF_METRICS must be retiring, bad speculation, front-end
 *         bound and back-end bound.
 *         Linux INTEL_PMU_METRIC
 *
 * Given  both 0, then enabled
 * When   a row of NOPs runs; loads, each of which waits for a line just flushed; a loop; branches
 *        by unpredictable bits
 * Then   of the NOPs byte 0 (retiring) is the highest, of the loads byte 3 (back-end bound). Byte 1
 *        (bad speculation) is small of the loop, and higher of the branches. Several windows are
 *        tried, and one that agrees is enough
 * Control: MSR_PERF_METRICS isn't 0
 */
TEST(metrics, bytes_of_metrics_are_in_the_order_of_the_categories, REQS(MET_05),
     NEEDS(need_perfmon, need_metrics))
{
	const struct {
		const struct workload *workload;
		u64 rounds;
		unsigned highest;
	} pieces[] = { { &workload_long_sled, 1, 0 }, { &workload_uncached, rounds_of(t), 3 } };
	u64 loop;

	for (unsigned i = 0; i < 2; i++) {
		u64 metrics = 0;
		bool held = false;

		for (unsigned w = 0; w < WINDOWS && !held; w++) {
			metrics = metrics_of(pieces[i].workload, pieces[i].rounds, BOTH);
			held = true;
			for (unsigned n = 0; n < 4; n++)
				held &= metrics_byte(metrics, n) <=
					metrics_byte(metrics, pieces[i].highest);
		}
		CONTROL(t, MET_05, metrics, "MSR_PERF_METRICS isn't 0, %s",
			pieces[i].workload->name);
		CHECK(t, MET_05, held, "byte %u of MSR_PERF_METRICS = %#lx is the highest, %s",
		      pieces[i].highest, metrics, pieces[i].workload->name);
	}
	loop = highest_of(t, &workload_load, 1, METRICS_WHOLE);
	CHECK_RANGE(t, MET_05, 0, test_is_strict(t) ? METRICS_ERROR : METRICS_WHOLE / 8, loop,
		    "byte 1 of MSR_PERF_METRICS, of a loop, whose branches are predicted");
	CHECK_RANGE(t, MET_05, loop + 1, METRICS_WHOLE,
		    highest_of(t, &workload_random, 1, loop),
		    "byte 1 of MSR_PERF_METRICS: of branches by chance, against a loop's");
}

static bool need_level_2(char *reason, size_t size)
{
	if (!need_metrics(reason, size))
		return false;
	if (counter_caps()->facilities & FAC_METRICS_LEVEL_2)
		return true;
	fmt_print(reason, size, "no second level (family %02x model %02x)", counter_caps()->family,
		  counter_caps()->model);
	return false;
}

/*
 * MET-20  Bytes 4, 5, 6 and 7 of MSR_PERF_METRICS must be heavy operations, branch mispredicts,
 *         fetch latency and memory bound.
 *         Linux INTEL_PMU_METRIC: level 2
 * MET-08  A write to fixed counter 3 and MSR_PERF_METRICS with both stopped must be kept.
 *         Linux icl_set_topdown_event_period
 *
 * Given  both 0, then enabled
 * When   workloads run: locked additions; branches by unpredictable bits; loads, each of which
 *        waits for a line just flushed; a loop of a load and a branch. Both registers are written 0
 *        before each
 * Then   byte 4 (heavy operations) of the locked additions, byte 5 (branch mispredicts) of the
 *        branches and byte 7 (memory bound) of the flushed lines are each higher than of the loop
 *        after them, where bytes 4 and 5 are small. Byte 6 (fetch latency) of the branches isn't 0.
 *        Of the flushed lines byte 7 isn't 0 and, in a strict run, at least half of byte 3. Several
 *        windows are tried, and one that agrees is enough
 */
TEST(metrics, second_level_of_metrics_is_in_the_order_of_the_categories, REQS(MET_20, MET_08),
     NEEDS(need_perfmon, need_level_2))
{
	const u64 few = test_is_strict(t) ? METRICS_ERROR : METRICS_WHOLE / 8;
	static const struct {
		const struct workload *workload;
		unsigned byte;
		bool few;	/* the loop's byte must be small */
	} rows[] = {
		{ &workload_lock, 4, true },
		{ &workload_random, 5, true },
		{ &workload_uncached, 7, false },
	};
	u64 metrics = 0;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const unsigned n = rows[i].byte;
		u64 loop;

		metrics_of(rows[i].workload, rounds_of(t), BOTH);
		loop = metrics_byte(metrics_of(&workload_load, rounds_of(t), BOTH), n);
		if (rows[i].few)
			CHECK_RANGE(t, MET_08, 0, few, loop,
				    "byte %u of MSR_PERF_METRICS, of a loop, written 0 after %s", n,
				    rows[i].workload->name);
		CHECK_RANGE(t, MET_20, loop + 1, METRICS_WHOLE,
			    highest_of(t, rows[i].workload, n, loop),
			    "byte %u of MSR_PERF_METRICS: of %s, against a loop's", n,
			    rows[i].workload->name);
	}
	CHECK_RANGE(t, MET_20, 1, METRICS_WHOLE, highest_of(t, &workload_random, 6, 0),
		    "byte 6 of MSR_PERF_METRICS, of branches by chance");
	for (unsigned i = 0;
	     i < WINDOWS && (!metrics || 2 * metrics_byte(metrics, 7) < metrics_byte(metrics, 3));
	     i++)
		metrics = metrics_of(&workload_uncached, rounds_of(t), BOTH);
	CHECK_RANGE(t, MET_20, test_is_strict(t) ? metrics_byte(metrics, 3) / 2 : 1, METRICS_WHOLE,
		    metrics_byte(metrics, 7),
		    "byte 7 of MSR_PERF_METRICS = %#lx, of lines just flushed", metrics);
}
