/* SPDX-License-Identifier: MIT */
/*
 * The two architectural events of the last-level cache: SDM 18.2.1.2, Table 18-1. They may also
 * count speculative requests and requests of prefetchers, and a line of a workload may be in
 * another cache for some time. So "most" is three of four here, and "few" one of four.
 */
#include "kernel/memory/pages.h"
#include "kernel/output/fmt.h"
#include "pmu/counter.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/cache_workload.h"

#define ACCESSES_MADE	256u
#define STRICT_ACCESSES	128u	/* no fewer than lines of a walk */
#define STRICT_MARGIN	16	/* accesses of the code around the window */
#define WINDOWS		3u
#define STRICT_WINDOWS	1u	/* there is no other code */

#define REFERENCES	EVENT_LONGEST_LAT_CACHE_REFERENCE
#define MISSES		EVENT_LONGEST_LAT_CACHE_MISS
#define NO_LIMIT	~0ULL
#define LAST_LEVEL	3u

/* Bits of CPUID.0AH:EBX, of Table 18-1. */
#define REFERENCES_ABSENT	BIT(3)
#define MISSES_ABSENT		BIT(4)

static bool need_last_level(char *reason, size_t size)
{
	const struct pmu_caps *caps = counter_caps();

	if (!cache_workload_level(LAST_LEVEL)) {
		fmt_print(reason, size, "no cache of level %u (CPUID.4)", LAST_LEVEL);
		return false;
	}
	if (!(caps->events_absent & (REFERENCES_ABSENT | MISSES_ABSENT)))
		return true;
	fmt_print(reason, size,
		  "event \"%s\" isn't available (CPUID.0AH:EAX = %#x EBX = %#x)",
		  "last-level cache misses", caps->leaf_0a_eax, caps->leaf_0a_ebx);
	return false;
}

/* false: an erratum makes the counts useless, and the test is skipped. */
static bool counts_are_right(struct test *t)
{
	if (!test_erratum(t, ERRATUM_LAST_LEVEL))
		return true;
	test_skip(t, "LONGEST_LAT_CACHE may count wrongly (SKL057)");
	return false;
}

/* The minimum and the maximum of several windows: accesses by other code aren't in all of them. */
struct counted {
	u64 least, most;
};

static unsigned accesses_of(const struct test *t)
{
	return test_is_strict(t) ? STRICT_ACCESSES : ACCESSES_MADE;
}

static unsigned windows_of(const struct test *t)
{
	return test_is_strict(t) ? STRICT_WINDOWS : WINDOWS;
}

static struct counted count(const struct test *t, const struct cache_workload *h, unsigned counter,
			    u16 event)
{
	struct counted counted = { NO_LIMIT, 0 };

	for (unsigned i = 0; i < windows_of(t); i++) {
		u64 value;

		counter_program(counter, event, COUNT_BOTH);
		counter_write(counter, 0);
		cache_workload_run(h, accesses_of(t), pmc_one(counter));
		value = counter_read(counter);
		counted.least = value < counted.least ? value : counted.least;
		counted.most = value > counted.most ? value : counted.most;
	}
	counter_program_disabled(counter, 0, 0);
	return counted;
}

/* On real processors prefetchers and other programs add and evict lines. */
static u64 least_of_most(const struct test *t)
{
	return test_is_strict(t) ? STRICT_ACCESSES - STRICT_MARGIN : ACCESSES_MADE / 4 * 3;
}

static u64 most_of_most(const struct test *t)
{
	return test_is_strict(t) ? STRICT_ACCESSES + STRICT_MARGIN : NO_LIMIT;
}

static u64 most_of_few(const struct test *t)
{
	return test_is_strict(t) ? STRICT_MARGIN : ACCESSES_MADE / 4;
}

static void check_most(struct test *t, const struct cache_workload *h, unsigned counter, u16 event,
		       const char *name)
{
	CHECK_RANGE(t, CNT_50, least_of_most(t), most_of_most(t), count(t, h, counter, event).most,
		    "%s of %u %s, IA32_PMC%u", name, accesses_of(t), h->name, counter);
}

static void check_few(struct test *t, const struct cache_workload *h, unsigned counter, u16 event,
		      const char *name)
{
	CHECK_RANGE(t, CNT_50, 0, most_of_few(t), count(t, h, counter, event).least,
		    "%s of %u %s, IA32_PMC%u", name, accesses_of(t), h->name, counter);
}

/*
 * CNT-50  Last-Level Cache References must count each access that the core's own caches don't have
 *         the line of, and Last-Level Cache Misses each of these that the last level doesn't have
 *         either.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events
 *
 * Given  loads and stores of lines that were flushed
 * When   each general-purpose counter counts references and misses of the loads, the last one those
 *        of the stores
 * Then   most of the accesses are a reference, and a miss
 */
TEST(count, access_to_memory_is_a_last_level_reference_and_a_miss, REQS(CNT_50),
     NEEDS(need_perfmon, need_last_level))
{
	struct cache_workload h;

	if (!counts_are_right(t) || !cache_workload_or_skip(t, ACCESS_MEMORY, &h))
		return;
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		check_most(t, &h, c, REFERENCES, "last-level cache references");
		check_most(t, &h, c, MISSES, "last-level cache misses");
	}
	if (!cache_workload_or_skip(t, ACCESS_STORE_MISS, &h))
		return;
	check_most(t, &h, counter_last(), REFERENCES, "last-level cache references");
	check_most(t, &h, counter_last(), MISSES, "last-level cache misses");
}

/*
 * CNT-50  Last-Level Cache References must count each access that the core's own caches don't have
 *         the line of, and Last-Level Cache Misses each of these that the last level doesn't have
 *         either.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events
 *
 * Given  loads that the L2 has lost and the L3 hasn't
 * When   each general-purpose counter counts references and misses
 * Then   most of the loads are a reference, few a miss
 * Control: most loads from memory are a miss
 */
TEST(count, load_from_the_last_level_is_a_reference_and_no_miss, REQS(CNT_50),
     NEEDS(need_perfmon, need_last_level))
{
	struct cache_workload h;

	if (!counts_are_right(t) || !cache_workload_or_skip(t, ACCESS_MEMORY, &h))
		return;
	FOR_EACH_COUNTER (c, counters_gp().bits)
		CONTROL_RANGE(t, CNT_50, accesses_of(t) / 4 * 3, NO_LIMIT,
			      count(t, &h, c, MISSES).most,
			      "last-level cache misses of %u %s, IA32_PMC%u", accesses_of(t),
			      h.name, c);
	if (!cache_workload_or_skip(t, ACCESS_L3, &h))
		return;
	count(t, &h, counter_last(), REFERENCES);	/* the lines come into the last level */
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		check_most(t, &h, c, REFERENCES, "last-level cache references");
		if (!test_erratum(t, ERRATUM_VICTIM_L3))
			check_few(t, &h, c, MISSES, "last-level cache misses");
	}
}

/*
 * CNT-50  Last-Level Cache References must count each access that the core's own caches don't have
 *         the line of, and Last-Level Cache Misses each of these that the last level doesn't have
 *         either.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events
 *
 * Given  loads of one line, and loads that the L1 has lost and the L2 hasn't
 * When   each general-purpose counter counts references and misses
 * Then   few of them are a reference or a miss
 * Control: most loads from memory are a reference
 */
TEST(count, load_from_l1_or_l2_is_no_last_level_reference, REQS(CNT_50),
     NEEDS(need_perfmon, need_last_level))
{
	static const enum access near[] = { ACCESS_L1, ACCESS_L2 };
	struct cache_workload h;

	if (!counts_are_right(t) || !cache_workload_or_skip(t, ACCESS_MEMORY, &h))
		return;
	FOR_EACH_COUNTER (c, counters_gp().bits)
		CONTROL_RANGE(t, CNT_50, accesses_of(t) / 4 * 3, NO_LIMIT,
			      count(t, &h, c, REFERENCES).most,
			      "last-level cache references of %u %s, IA32_PMC%u", accesses_of(t),
			      h.name, c);
	for (unsigned i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
		if (!cache_workload_or_skip(t, near[i], &h))
			return;
		count(t, &h, counter_last(), REFERENCES);	/* the lines come near */
		FOR_EACH_COUNTER (c, counters_gp().bits) {
			check_few(t, &h, c, REFERENCES, "last-level cache references");
			check_few(t, &h, c, MISSES, "last-level cache misses");
		}
	}
}

#define LINE		64u
#define LINES		32u

/* References by one REP LODSB over LINES lines that were just flushed, while the counter counts;
 * the maximum of several windows. */
static u64 string_references(const struct test *t, unsigned counter)
{
	u8 *const from = (u8 *)pages_get()->small;
	const struct workload_place at = { .memory = from };
	u64 most = 0;

	for (unsigned i = 0; i < windows_of(t); i++) {
		u64 value;

		counter_program(counter, REFERENCES, COUNT_BOTH);
		counters_enable(pmc_one(counter));
		for (unsigned line = 0; line < LINES; line++)
			__asm__ volatile("clflush %0" : "+m"(from[line * LINE]));
		__asm__ volatile("mfence" ::: "memory");
		counters_disable();
		counter_write(counter, 0);
		workload_run_at(&workload_kind_rep_load, LINES * LINE, &at, pmc_one(counter));
		value = counter_read(counter);
		most = value > most ? value : most;
	}
	counter_program_disabled(counter, 0, 0);
	return most;
}

/*
 * CNT-50  Last-Level Cache References must count each access that the core's own caches don't have
 *         the line of, and Last-Level Cache Misses each of these that the last level doesn't have
 *         either.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events
 *
 * Given  one REP LODSB over 32 lines that were flushed; a prefetcher may be faster, and the manual
 *        doesn't say whether the event counts the prefetcher's requests
 * When   each general-purpose counter counts references of it
 * Then   it counts one or more, and in a strict run each line, within 16
 */
TEST(count, each_line_of_a_string_instruction_is_a_last_level_reference, REQS(CNT_50),
     NEEDS(need_perfmon, need_last_level))
{
	const bool strict = test_is_strict(t);

	if (!counts_are_right(t))
		return;
	FOR_EACH_COUNTER (c, counters_gp().bits)
		CHECK_RANGE(t, CNT_50, strict ? LINES - STRICT_MARGIN : 1,
			    strict ? LINES + STRICT_MARGIN : NO_LIMIT, string_references(t, c),
			    "last-level cache references of one REP LODSB over %u lines, "
			    "IA32_PMC%u",
			    LINES, c);
}
