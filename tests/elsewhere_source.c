/* SPDX-License-Identifier: MIT */
/*
 * The rows of Table 18-24 "Data Source Encoding for Load Latency Record" that are about other cores
 * and packages, the events of Table 18-45 (and of other generations) that count such loads, and the
 * off-core responses that depend on a snoop. Table 18-24 is read as printed on the reference PMU;
 * Linux reads 05H to 07H of Sandy Bridge and later as miss, clean and modified, so that elsewhere
 * neighbouring codes pass there. Not looked at: 00H "unknown", 0EH "I/O".
 */
#include "kernel/fault.h"
#include "tests/elsewhere.h"
#include "tests/needs.h"

#define CODE(source)	((source) & 0xf)
#define HITS_HERE	BITS(0x1, 0x7)	/* hits in this package */

static struct tagged_record records[TAGGED_MOST];

/* Most records of loads of that place have one of these codes; lenient: these where not every
 * observation decides. */
static void check_codes(struct test *t, struct test_claim claim, struct elsewhere place, u64 codes,
			u64 lenient)
{
	struct tagged_setup setup = tagged_loads();
	unsigned count, good = 0;

	if (!elsewhere_prepare(t, &place))
		return;
	count = elsewhere_take(t, claim, &place, &setup, records);
	if (!count)
		return;
	if (!test_sees_exactly(t, claim.req))
		codes |= lenient;
	for (unsigned i = 0; i < count; i++)
		good += (unsigned)(codes >> CODE(records[i].source) & 1);
	test_check_range(t, claim, count / 2 + 1, count, good,
			 "of %u records of %s have one of the codes 0x%lx (A0H of the first is "
			 "0x%lx)", count, place.name, codes, records[0].source);
}

static const struct elsewhere clean = { .state = EXERCISE_OTHER_CLEAN,
					.name = "loads of lines that another core has" };
static const struct elsewhere modified = { .state = EXERCISE_OTHER_MODIFIED,
					   .name = "loads of lines modified in another core" };
static const struct elsewhere stale = { .state = EXERCISE_L3_STALE,
					.name = "loads of lines that another core has dropped" };
static const struct elsewhere l3_only = { .state = EXERCISE_L3_ONLY,
					  .name = "loads of lines of the L3 alone" };
static const struct elsewhere nowhere = { .state = EXERCISE_NOWHERE,
					  .name = "loads of lines that no cache has" };
static const struct elsewhere nowhere_remote = { .state = EXERCISE_NOWHERE, .remote = true,
						 .name = "loads from another package's memory" };
static const struct elsewhere package = { .state = EXERCISE_REMOTE_CLEAN,
					  .name = "loads of lines that another package has" };
static const struct elsewhere package_remote = { .state = EXERCISE_REMOTE_CLEAN, .remote = true,
						 .name = "loads of lines that another package, "
							 "their home, has" };
static const struct elsewhere package_modified = { .state = EXERCISE_REMOTE_MODIFIED,
						   .name = "loads of lines that another package "
							   "has modified" };

TEST(ll, a_line_of_another_core_is_code_5, REQS(LL_37),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_codes(t, AT(LL_37), clean, BIT(0x5), BIT(0x4) | BIT(0x6));
}

TEST(ll, a_modified_line_of_another_core_is_code_6, REQS(LL_38),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_codes(t, AT(LL_38), modified, BIT(0x6) | BIT(0x7), 0);
}

TEST(ll, a_line_of_another_package_is_code_8_or_10, REQS(LL_39),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_codes(t, AT(LL_39), package, BIT(0x8) | BIT(0xa), 0);
}

TEST(ll, memory_is_told_by_its_home, REQS(LL_40, LL_41),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_codes(t, AT(LL_40), nowhere, BIT(0xc), 0);
	check_codes(t, AT(LL_40), nowhere_remote, BIT(0xd), 0);
	check_codes(t, AT(LL_41), package_remote, BIT(0xb), 0);
}

TEST(ll, a_modified_line_of_another_package_is_a_miss, REQS(LL_42),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_codes(t, AT(LL_42), package_modified, ~HITS_HERE, 0);
}

TEST(ll, a_line_of_the_l3_alone_is_code_4, REQS(LL_34),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_codes(t, AT(LL_34), l3_only, BIT(0x4), 0);
}

/* ------------------------------------------------------------------ events */

/* Loads of a place have an event of their own, and aren't counted by those of the others. */
static const struct { enum event_kind kind; const struct elsewhere *place; } kinds[] = {
	{ EK_XSNP_NONE, &l3_only }, { EK_XSNP_MISS, &stale }, { EK_XSNP_HIT, &clean },
	{ EK_XSNP_HITM, &modified }, { EK_LOCAL_DRAM, &nowhere },
	{ EK_REMOTE_DRAM, &nowhere_remote },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Tables of chapter 19 put misses of a snoop with those that needed none, or leave them apart. */
static bool is_told_apart(enum event_kind a, enum event_kind b)
{
	return a != b && !(a == EK_XSNP_NONE && b == EK_XSNP_MISS);
}

TEST(count, loads_are_counted_by_who_had_the_line, REQS(CNT_48),
     NEEDS(need_perfmon, need_events, need_exerciser))
{
	for (unsigned p = 0; p < KINDS; p++) {
		struct elsewhere place = *kinds[p].place;

		if (!elsewhere_prepare(t, &place))
			return;
		for (unsigned e = 0; e < KINDS; e++) {
			struct event event;
			u64 value;

			if (!event_get(kinds[e].kind, 0, &event))
				continue;
			if (!elsewhere_count(t, &place, 0, event.code, &value))
				return;
			if (e == p)
				CHECK_RANGE(t, CNT_48, ELSEWHERE_LINES / 2, ~0ULL, value,
					    "%s of %u %s", event.name, ELSEWHERE_LINES, place.name);
			else if (is_told_apart(kinds[e].kind, kinds[p].kind))
				CHECK_RANGE(t, CNT_48, 0, ELSEWHERE_LINES / 4, value,
					    "%s of %u %s", event.name, ELSEWHERE_LINES, place.name);
		}
	}
}

/* The events of Table 18-45 that need another core; each with its address. */
TEST(dla, events_of_lines_elsewhere_have_addresses, REQS(DLA_10),
     NEEDS(need_perfmon, need_format2, need_haswell, need_exerciser))
{
	for (unsigned i = 0; i < KINDS; i++) {
		struct elsewhere place = *kinds[i].place;
		struct tagged_setup setup;
		struct event event;
		unsigned count;

		if (!event_get(kinds[i].kind, EV_DLA, &event))
			continue;
		if (!elsewhere_prepare(t, &place))
			return;
		setup = (struct tagged_setup){ .counter = 2, .event = event.code,
					       .period = TAGGED_PERIOD, .enable = pmc_one(2),
					       .wanted = 2 };
		count = elsewhere_take(t, AT(DLA_10), &place, &setup, records);
		if (!count)
			return;
		for (unsigned r = 0; r < count; r++)
			CHECK_RANGE(t, DLA_10, place.h.first, place.h.last, records[r].address,
				    "address of record %u of %s", r, event.name);
	}
}

/* ------------------------------------------------------------------ off-core responses */
#define REQUEST		BIT(0)		/* demand data read, in either layout */
#define SUPPLIERS	BITS(17, 30)	/* Sandy Bridge and later: beside them a snoop response */

/*
 * Nehalem, Westmere: 8 L3 hit without coherency actions, 9 clean in another core, 10 modified
 * there, 12 forwarded by another package, 13 remote memory, 14 local memory. Later: 31 no snoop
 * information, 32 no snoop needed, 33 snoop missed, 34 hit and not forwarded, 35 forwarded by
 * another package, 36 HITM.
 */
static const struct { const struct elsewhere *place; u64 nehalem, later; } responses[] = {
	{ &l3_only, BIT(8), BIT(31) | BIT(32) },
	{ &clean, BIT(9), BIT(34) },
	{ &modified, BIT(10), BIT(36) },
	{ &nowhere, BIT(14), BITS(31, 33) },
	{ &nowhere_remote, BIT(13), BITS(31, 33) },
	{ &package, BIT(12) | BIT(14), BITS(31, 35) },
	{ &package_modified, 0, BIT(36) },
};
#define RESPONSES (sizeof(responses) / sizeof(responses[0]))

static const struct { const char *name; u64 nehalem, later; } settings[] = {
	{ "hits that nobody was asked for", BIT(8), BIT(31) | BIT(32) },
	{ "clean copies of another core", BIT(9), BIT(34) },
	{ "modified copies", BIT(10), BIT(36) },
	{ "memory", BIT(13) | BIT(14), 0 },
};

TEST(offcore, responses_are_told_apart, REQS(MSR_40),
     NEEDS(need_perfmon, need_offcore, need_exerciser))
{
	bool later = counter_caps()->facilities & FAC_OFFCORE_SNB;
	struct event event;

	if (!HARNESS_CHECK(t, event_get(EK_OFFCORE_0, 0, &event), "the event is in the table"))
		return;
	for (unsigned p = 0; p < RESPONSES; p++) {
		struct elsewhere place = *responses[p].place;
		/* One of these. */
		u64 got = later ? responses[p].later : responses[p].nehalem;

		if (!elsewhere_prepare(t, &place))
			return;
		for (unsigned s = 0; got && s < sizeof(settings) / sizeof(settings[0]); s++) {
			u64 asked = later ? settings[s].later : settings[s].nehalem, value;

			if (!asked)
				continue;
			if (msr_try_write(MSR_OFFCORE_RSP_0, asked | REQUEST |
					  (later ? SUPPLIERS : 0)).raised) {
				test_note(t, "MSR_OFFCORE_RSP_0 refuses %s", settings[s].name);
				continue;
			}
			if (!elsewhere_count(t, &place, 0, event.code, &value))
				return;
			/* Asked for all that it may have got, or for nothing of that. */
			if (!(got & ~asked))
				CHECK_RANGE(t, MSR_40, ELSEWHERE_LINES / 2, ~0ULL, value,
					    "%s of %u %s, naming %s", event.name, ELSEWHERE_LINES,
					    place.name, settings[s].name);
			else if (!(got & asked))
				CHECK_RANGE(t, MSR_40, 0, ELSEWHERE_LINES / 4, value,
					    "%s of %u %s, naming %s", event.name, ELSEWHERE_LINES,
					    place.name, settings[s].name);
		}
	}
	msr_try_write(MSR_OFFCORE_RSP_0, 0);
}
