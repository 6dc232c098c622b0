/* SPDX-License-Identifier: MIT */
/*
 * Windows. MSR_SMI_COUNT tells of SMIs where it exists (Nehalem and later); a processor that
 * refuses to be asked is taken as undisturbed, and the calibration says so.
 */
#include "tests/window.h"

#include "kernel/fault.h"
#include "spec/msr.h"

#define TRIES 5

bool window_sees_smis(void)
{
	u64 count;

	return counter_caps()->intel && !msr_try_read(MSR_SMI_COUNT, &count).raised;
}

u64 window_smis(void)
{
	u64 count = 0;

	if (!counter_caps()->intel || msr_try_read(MSR_SMI_COUNT, &count).raised)
		return 0;
	return count;
}

bool window_count(struct pmc_mask counters, u16 event, u64 flags, const struct workload *w, u64 n,
		  u64 value[WINDOW_COUNTERS])
{
	for (unsigned i = 0; i < TRIES; i++) {
		u64 smis = window_smis();

		for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
			if (!(counters.bits & BIT(c)))
				continue;
			counter_program(c, event, flags);
			counter_write(c, 0);
		}
		workload_run(w, n, counters);
		for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
			value[c] = counters.bits & BIT(c) ? counter_read(c) : 0;
		if (window_smis() == smis)
			return true;
	}
	return false;
}

static bool undisturbed(struct test *t, bool counted)
{
	if (!counted)
		test_inconclusive(t, "SMIs in each of %u windows", TRIES);
	return counted;
}

bool window_difference(struct test *t, struct pmc_mask counters, u16 event, u64 flags,
		       const struct workload *w, u64 fewer, u64 more, u64 value[WINDOW_COUNTERS])
{
	u64 small[WINDOW_COUNTERS];

	if (!undisturbed(t, window_count(counters, event, flags, w, fewer, small) &&
			    window_count(counters, event, flags, w, more, value)))
		return false;
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		value[c] -= small[c];
	return true;
}

bool window_count_one(struct test *t, unsigned counter, u16 event, u64 flags,
		      const struct workload *w, u64 n, u64 *value)
{
	u64 values[WINDOW_COUNTERS];

	if (!undisturbed(t, window_count(pmc_one(counter), event, flags, w, n, values)))
		return false;
	*value = values[counter];
	return true;
}

bool window_difference_one(struct test *t, unsigned counter, u16 event, u64 flags,
			   const struct workload *w, u64 fewer, u64 more, u64 *value)
{
	u64 values[WINDOW_COUNTERS];

	if (!window_difference(t, pmc_one(counter), event, flags, w, fewer, more, values))
		return false;
	*value = values[counter];
	return true;
}
