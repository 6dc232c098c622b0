/* SPDX-License-Identifier: MIT */
/* Runs windows, one after the other, until one is undisturbed. */
#include "tests/measure/window.h"

#include "kernel/interrupt/fault.h"
#include "kernel/processor/percpu.h"
#include "pmu/event.h"
#include "tests/frame/disturbance.h"

/* ---- company ---- */

static bool turn;
static struct pmc_mask last;

/* The lowest free counter above all used ones, or else the lowest free one. 0: there is none. */
static u64 next_free(u64 used)
{
	const u64 free = counters_gp().bits & ~used;
	const u64 above = used ? free & ~(~0ULL >> __builtin_clzll(used)) : free;

	return above ? above & -above : free & -free;
}

static bool may_have_company(struct pmc_mask used)
{
	const unsigned counter = (unsigned)__builtin_ctzll(used.bits);

	return PMC_IS_FIXED(counter) ||
	       !event_is_taken_alone((u16)msr_read(MSR_IA32_PERFEVTSEL0 + counter));
}

static bool is_idle(unsigned counter)
{
	return !msr_read(MSR_IA32_PERFEVTSEL0 + counter) && !counter_read(counter);
}

struct pmc_mask company_begin(struct pmc_mask used)
{
	const u64 candidate = next_free(used.bits & counters_gp().bits);

	if (cpu_index() != CPU_BOOT)
		return (struct pmc_mask){ 0 };
	last.bits = 0;
	if (!used.bits || used.bits & (used.bits - 1) || !candidate || counter_caps()->hypervisor)
		return last;
	turn = !turn;
	if (!turn || !may_have_company(used) || !is_idle((unsigned)__builtin_ctzll(candidate)))
		return last;
	last.bits = candidate;
	counter_program((unsigned)__builtin_ctzll(candidate), EVENT_BR_INST_RETIRED_ALL_BRANCHES,
			COUNT_BOTH);
	return last;
}

void company_end(struct pmc_mask company)
{
	if (!company.bits)
		return;
	counter_program_disabled((unsigned)__builtin_ctzll(company.bits), 0, 0);
	counter_write((unsigned)__builtin_ctzll(company.bits), 0);
}

struct pmc_mask company_last(void)
{
	return cpu_index() == CPU_BOOT ? last : (struct pmc_mask){ 0 };
}

/* ---- windows ---- */

bool window_count(struct pmc_mask counters, u16 event, u64 flags, const struct workload *w, u64 n,
		  u64 value[WINDOW_COUNTERS])
{
	struct attempt attempt = { .last_gaps = DISTURBANCE_FIRST };

	for (unsigned i = 0; i < WINDOW_TRIES; i++) {
		disturbance_begin(&attempt);
		for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
			if (!(counters.bits & BIT(c)))
				continue;
			counter_program(c, event, flags);
			counter_write(c, 0);
		}
		workload_run(w, n, counters);
		for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
			value[c] = counters.bits & BIT(c) ? counter_read(c) : 0;
		if (!disturbance_found(&attempt))
			return true;
		if (i + 1 < WINDOW_TRIES)
			disturbance_forgive(&attempt);
	}
	return false;
}

static bool undisturbed(struct test *t, bool counted)
{
	if (!counted)
		test_inconclusive(t, "%u windows in a row were disturbed", WINDOW_TRIES);
	return counted;
}

/* A host that uses a counter itself takes it from the guest, which loses counts (KVM, Linux
 * perf_event_pause). */
bool window_host_may_take_counters(const struct test *t)
{
	return counter_caps()->hypervisor && !test_is_strict(t);
}

bool window_are_equal(struct pmc_mask counters, const u64 value[WINDOW_COUNTERS])
{
	const unsigned first = counter_next(counters.bits, 0);

	FOR_EACH_COUNTER (c, counters.bits)
		if (value[c] != value[first])
			return false;
	return true;
}

bool window_count_equal(const struct test *t, struct pmc_mask counters, u16 event,
			const struct workload *w, u64 n, u64 value[WINDOW_COUNTERS])
{
	const unsigned tries = window_host_may_take_counters(t) ? WINDOW_GUEST_TRIES : 1;

	for (unsigned i = 0; i < tries; i++)
		if (!window_count(counters, event, COUNT_BOTH, w, n, value))
			return false;
		else if (window_are_equal(counters, value))
			break;
	return true;
}

static u64 middle_of(u64 a, u64 b, u64 c)
{
	const u64 low = a < b ? a : b, high = a < b ? b : a;

	return c < low ? low : c > high ? high : c;
}

/* For each counter the middle one of three counts; of two if they agree, and none is 0. */
static bool middle_count(struct pmc_mask counters, u16 event, u64 flags, const struct workload *w,
			 u64 n, u64 middle[WINDOW_COUNTERS])
{
	u64 second[WINDOW_COUNTERS], third[WINDOW_COUNTERS];
	bool agree = true;

	if (!window_count(counters, event, flags, w, n, middle) ||
	    !window_count(counters, event, flags, w, n, second))
		return false;
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		agree &= middle[c] == second[c] && (middle[c] || !(counters.bits & BIT(c)));
	if (agree)
		return true;
	if (!window_count(counters, event, flags, w, n, third))
		return false;
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		middle[c] = middle_of(middle[c], second[c], third[c]);
	return true;
}

/* For each counter the least of WINDOW_LEAST_OF counts, or the one after that. */
static bool low_count(struct pmc_mask counters, u16 event, u64 flags, const struct workload *w,
		      u64 n, u64 least[WINDOW_COUNTERS], u64 second[WINDOW_COUNTERS])
{
	u64 value[WINDOW_COUNTERS];

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		least[c] = second[c] = ~0ULL;
	for (unsigned i = 0; i < WINDOW_LEAST_OF; i++) {
		if (!window_count(counters, event, flags, w, n, value))
			return false;
		for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
			if (value[c] < least[c]) {
				second[c] = least[c];
				least[c] = value[c];
			} else if (value[c] < second[c]) {
				second[c] = value[c];
			}
	}
	return true;
}

static bool least_count(struct pmc_mask counters, u16 event, u64 flags, const struct workload *w,
			u64 n, u64 least[WINDOW_COUNTERS])
{
	u64 second[WINDOW_COUNTERS];

	return low_count(counters, event, flags, w, n, least, second);
}

/* In a guest the least one may have lost events. */
static bool second_least_count(struct pmc_mask counters, u16 event, u64 flags,
			       const struct workload *w, u64 n, u64 second[WINDOW_COUNTERS])
{
	u64 least[WINDOW_COUNTERS];

	return low_count(counters, event, flags, w, n, least, second);
}

/* The difference of what `count` returns for n = more and n = fewer. */
static bool difference(struct test *t, __typeof__(window_count) *count, struct pmc_mask counters,
		       u16 event, u64 flags, const struct workload *w, u64 fewer, u64 more,
		       u64 value[WINDOW_COUNTERS])
{
	u64 small[WINDOW_COUNTERS];

	if (!undisturbed(t, count(counters, event, flags, w, fewer, small) &&
				    count(counters, event, flags, w, more, value)))
		return false;
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		value[c] -= small[c];
	return true;
}

bool window_difference(struct test *t, struct pmc_mask counters, u16 event, u64 flags,
		       const struct workload *w, u64 fewer, u64 more, u64 value[WINDOW_COUNTERS])
{
	return difference(t, window_host_may_take_counters(t) ? middle_count : window_count,
			  counters, event, flags, w, fewer, more, value);
}

bool window_least_difference(struct test *t, struct pmc_mask counters, u16 event, u64 flags,
			     const struct workload *w, u64 fewer, u64 more,
			     u64 value[WINDOW_COUNTERS])
{
	return difference(t, window_host_may_take_counters(t) ? second_least_count : least_count,
			  counters, event, flags, w, fewer, more, value);
}

struct pmc_mask counters_for(u16 event)
{
	return (struct pmc_mask){ counters_gp().bits & event_counters(event) };
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

bool level_counts_despite_errata(struct test *t, unsigned counter, u64 level)
{
	return counter < 4 || counter > 7 || (level & COUNT_BOTH) != COUNT_USR ||
	       !test_erratum(t, ERRATUM_USR_ALONE);
}

#define FIXED_0_MOST	32u	/* ERRATUM_FIXED_0_MORE */

u64 window_slack(struct test *t, unsigned counter)
{
	return counter == PMC_FIXED(0) && test_erratum(t, ERRATUM_FIXED_0_MORE) ? FIXED_0_MOST : 0;
}

u64 window_far_slack(struct test *t)
{
	enum { TRANSFERS = 4 };		/* in one window */

	return test_erratum(t, ERRATUM_FAR_INSTRUCTIONS) || test_erratum(t, ERRATUM_IRET) ?
		       TRANSFERS :
		       0;
}

u64 window_emulated(struct test *t)
{
	enum { OPENING_AND_CLOSING = 2 };

	return counter_caps()->hypervisor && !test_is_strict(t) ? OPENING_AND_CLOSING : 0;
}

bool any_thread_counts_despite_errata(struct test *t, unsigned counter, u64 level)
{
	if (counter <= PMC_FIXED(0) && test_erratum(t, ERRATUM_ANY_THREAD))
		return false;
	return PMC_IS_FIXED(counter) || (level & COUNT_BOTH) == COUNT_BOTH ||
	       !test_erratum(t, ERRATUM_ANY_ONE_LEVEL);
}
