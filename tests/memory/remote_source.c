/* SPDX-License-Identifier: MIT */
/*
 * Loads of lines of other cores and packages: their codes in Table 18-24 "Data Source Encoding for
 * Load Latency Record", and their events in Table 18-45 and on other generations; also the off-core
 * responses that depend on a snoop. The reference PMU uses Table 18-24 as printed. Linux takes 05H
 * to 07H of Sandy Bridge and later for miss, clean and modified, so on other machines neighbouring
 * codes pass too. Not tested: 00H "unknown", 0EH "I/O".
 */
#include "kernel/interrupt/fault.h"
#include "pmu/memory_sampling.h"
#include "tests/measure/remote_lines.h"
#include "tests/frame/needs.h"

#define HITS_HERE	BITS(0x1, 0x7)	/* hits in this package */
#define RECORDER	2u	/* the counter of data-address records here */
#define RECORDS_ENOUGH	2	/* of these records */
#define COUNTERS	4u	/* counters that take turns */

static struct mem_sample_record records[MEM_SAMPLE_MOST];

/* A counter of the first COUNTERS, of those that exist. */
static unsigned by_turns(unsigned n)
{
	const unsigned gp = counter_caps()->gp;

	return n % (gp < COUNTERS ? gp : COUNTERS);
}

#define NO_OTHERS_PASS	0

/* Most records of loads of these lines must have one of these codes. If not every observation
 * decides, the lenient codes pass too. */
static void check_codes_of(struct test *t, struct test_claim claim, struct remote_lines place,
			   const struct workload *loads, u64 codes, u64 lenient)
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	unsigned count, good = 0;

	if (!remote_lines_prepare(t, &place))
		return;
	place.loads.workload = loads;
	count = remote_lines_take(t, claim, &place, &setup, records);
	if (!count)
		return;
	place.loads.workload = &workload_stride;
	if (!test_sees_claim(t, &claim))
		codes |= lenient;
	for (unsigned i = 0; i < count; i++)
		good += latency_source_is(records[i].source, codes);
	if (good <= count / 2 && !remote_lines_confirmed(t, &place, SEEN_IN_RECORDS))
		return;
	test_check_range(t, claim, count / 2 + 1, count, good,
			 "of %u records of %s have one of the codes 0x%lx (A0H of the first is "
			 "0x%lx)",
			 count, place.name, codes, records[0].source);
}

static void check_codes(struct test *t, struct test_claim claim, struct remote_lines place,
			u64 codes, u64 lenient)
{
	check_codes_of(t, claim, place, &workload_stride, codes, lenient);
}

/*
 * MSR_OFFCORE_RSP_x. Nehalem, Westmere: 8 L3 hit without coherency actions, 9 clean in another
 * core, 10 modified there, 12 forwarded by another package, 13 remote memory, 14 local memory.
 * Later, a supplier: 17 to 21 not memory, 22 local memory, from 23 on remote memory. And a snoop:
 * 31 no information, 32 not needed, 33 missed, 34 hit and not forwarded, 35 forwarded, 36 HITM.
 */
#define ANY_SUPPLIER	BITS(17, 30)
#define MEMORY		BITS(22, 30)
#define REMOTE_MEMORY	BITS(23, 30)

static const struct remote_lines clean = {
	.codes = BIT(0x5),
	.state = EXERCISE_OTHER_CLEAN, .name = "loads of lines that another core has",
	.event = EK_XSNP_HIT, .nehalem = BIT(9), .later = ANY_SUPPLIER | BIT(34) };
static const struct remote_lines modified = {
	.codes = BIT(0x6) | BIT(0x7),
	.state = EXERCISE_OTHER_MODIFIED, .name = "loads of lines modified in another core",
	.event = EK_XSNP_HITM, .nehalem = BIT(10), .later = ANY_SUPPLIER | BIT(36) };
static const struct remote_lines stale = {
	.state = EXERCISE_L3_STALE, .name = "loads of lines that another core has dropped",
	.event = EK_XSNP_MISS, .later = ANY_SUPPLIER | BIT(33) };
static const struct remote_lines l3_only = {
	.codes = BIT(0x4),
	.state = EXERCISE_L3_ONLY, .name = "loads of lines of the L3 alone",
	.event = EK_XSNP_NONE, .nehalem = BIT(8), .later = ANY_SUPPLIER | BITS(31, 32) };
static const struct remote_lines nowhere = {
	.codes = BIT(0xc),
	.state = EXERCISE_NOWHERE, .name = "loads of lines that no cache has",
	.event = EK_LOCAL_DRAM, .nehalem = BIT(14), .later = BIT(22) | BITS(31, 33) };
static const struct remote_lines nowhere_remote = {
	.codes = BIT(0xd),
	.state = EXERCISE_NOWHERE, .remote = true, .name = "loads from another package's memory",
	.event = EK_REMOTE_DRAM, .nehalem = BIT(13), .later = REMOTE_MEMORY | BITS(31, 33) };
static const struct remote_lines package = {
	.codes = BIT(0x8) | BIT(0xa),
	.state = EXERCISE_REMOTE_CLEAN, .name = "loads of lines that another package has",
	.nehalem = BIT(12), .later = MEMORY | BITS(34, 35) };
static const struct remote_lines package_remote = {
	.state = EXERCISE_REMOTE_CLEAN, .remote = true,
	.name = "loads of lines that another package, their home, has",
	.nehalem = BITS(12, 13),
	.later = REMOTE_MEMORY | BITS(34, 35)
};
static const struct remote_lines package_modified = {
	.state = EXERCISE_REMOTE_MODIFIED,
	.name = "loads of lines that another package has modified",
	.nehalem = BIT(12),
	.later = MEMORY | BIT(36)
};

/*
 * LL-37  A load that another core of the package serves without a modified copy must be reported
 *        with code 05H.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  an exerciser puts lines into the cache of another core, unmodified
 * When   records are made of loads of them
 * Then   most have code 05H in bits 3:0 at A0H; where not every observation decides, 04H to 06H
 */
TEST(ll, clean_line_of_another_core_has_data_source_05h, REQS(LL_37),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_codes(t, AT(LL_37), clean, BIT(0x5), BIT(0x4) | BIT(0x6));
}

/*
 * LL-38  A load that another core of the package serves from a modified copy must be reported with
 *        code 06H, or 07H.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  an exerciser puts lines into the cache of another core, modified
 * When   records are made of loads of them
 * Then   most have code 06H or 07H in bits 3:0 at A0H
 */
TEST(ll, modified_line_of_another_core_has_data_source_06h_or_07h, REQS(LL_38),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_codes(t, AT(LL_38), modified, BIT(0x6) | BIT(0x7), NO_OTHERS_PASS);
}

/*
 * LL-39  A load of a local line that another package has unmodified must be reported with code 08H
 *        or 0AH.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  an exerciser puts lines of local memory into a cache of another package, unmodified
 * When   records are made of loads of them
 * Then   most have code 08H or 0AH in bits 3:0 at A0H
 */
TEST(ll, clean_line_of_another_package_has_data_source_08h_or_0ah, REQS(LL_39),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_codes(t, AT(LL_39), package, BIT(0x8) | BIT(0xa), NO_OTHERS_PASS);
}

/*
 * LL-40  A load of a line that no cache has must be reported with code 0CH, or 0DH where its home
 *        is another package.
 * LL-41  A load of a line whose home is another package, and that caches there have unmodified,
 *        must be reported with code 0BH.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  an exerciser puts lines of local memory, and of another package's, into no cache; and
 *        those of another package's memory into that package's caches, unmodified
 * When   records are made of loads of them
 * Then   most have, in bits 3:0 at A0H, code 0CH, 0DH and 0BH, in this order
 */
TEST(ll, data_source_tells_local_from_remote_memory, REQS(LL_40, LL_41),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_codes(t, AT(LL_40), nowhere, BIT(0xc), NO_OTHERS_PASS);
	check_codes(t, AT(LL_40), nowhere_remote, BIT(0xd), NO_OTHERS_PASS);
	check_codes(t, AT(LL_41), package_remote, BIT(0xb), NO_OTHERS_PASS);
}

/*
 * LL-42  A load of a line that another package has modified must not be reported as a hit in this
 *        package, 01H to 07H.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  an exerciser puts lines into a cache of another package, modified
 * When   records are made of loads of them
 * Then   most have no code of a hit in this package, 01H to 07H, in bits 3:0 at A0H
 */
TEST(ll, modified_line_of_another_package_has_no_local_hit_source, REQS(LL_42),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_codes(t, AT(LL_42), package_modified, ~HITS_HERE, NO_OTHERS_PASS);
}

/* From Ice Lake on the codes are those of Linux for each core. */
static void check_outcomes(struct test *t, struct test_claim claim, struct remote_lines place,
			   enum memory_outcome one, enum memory_outcome other)
{
	check_codes(t, claim, place, latency_codes(one) | latency_codes(other), NO_OTHERS_PASS);
}

/*
 * LL-52  A load that another core of the package serves without a modified copy must be reported
 *        with a code of its core: 05H, on Gracemont 05H or 08H, on Crestmont and Skymont 06H or
 *        07H, on Lion Cove 0CH.
 *        Linux intel_pmu_pebs_data_source_skl, _grt, _cmt, _lnl
 *
 * Given  an exerciser puts lines into the cache of another core, unmodified
 * When   records are made of loads of them
 * Then   most have this core's code of a line that another core has
 */
TEST(ll, clean_line_of_another_core_has_the_code_of_its_type_of_core, REQS(LL_52),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_outcomes(t, AT(LL_52), clean, MEM_L3_SNOOP_CLEAN, MEM_L3_FORWARD);
}

/*
 * LL-53  A load that another core of the package serves from a modified copy must be reported with
 *        a code of its core: 06H or 07H, on Crestmont and Skymont 08H, on Lion Cove 0DH.
 *        Linux intel_pmu_pebs_data_source_skl, _grt, _cmt, _lnl
 *
 * Given  an exerciser puts lines into the cache of another core, modified
 * When   records are made of loads of them
 * Then   most have this core's code of a line that another core has modified
 */
TEST(ll, modified_line_of_another_core_has_the_code_of_its_type_of_core, REQS(LL_53),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_outcomes(t, AT(LL_53), modified, MEM_L3_HITM, MEM_L3_SNOOP_HITM);
}

/*
 * LL-54  A load of a line that another package has modified must be reported with a code of its
 *        core: 0DH, on Gracemont 09H, on Crestmont and Skymont 0DH or 09H, on Lion Cove 0FH.
 *        Linux intel_pmu_pebs_data_source_skl, _grt, _cmt, _lnl
 *
 * Given  an exerciser puts lines into a cache of another package, modified
 * When   records are made of loads of them
 * Then   most have this core's code of a line that another package has modified
 */
TEST(ll, modified_line_of_another_package_has_the_code_of_its_type_of_core, REQS(LL_54),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_outcomes(t, AT(LL_54), package_modified, MEM_REMOTE_HITM, MEM_REMOTE_HITM);
}

/*
 * LL-34  A load that hits the L3 and needs no snoop must be reported with code 04H.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  an exerciser puts lines into the L3 and into no core's caches
 * When   records are made of loads of them
 * Then   most have code 04H in bits 3:0 at A0H
 */
TEST(ll, line_in_the_l3_only_has_data_source_04h, REQS(LL_34),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	check_codes(t, AT(LL_34), l3_only, BIT(0x4), NO_OTHERS_PASS);
}

/*
 * LL-34  A load that hits the L3 and needs no snoop must be reported with code 04H.
 * LL-38  A load that another core of the package serves from a modified copy must be reported with
 *        code 06H, or 07H.
 * LL-40  A load of a line that no cache has must be reported with code 0CH, or 0DH where its home
 *        is another package.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 * LL-53  A load that another core of the package serves from a modified copy must be reported with
 *        a code of its core: 06H or 07H, on Crestmont and Skymont 08H, on Lion Cove 0DH.
 *        Linux intel_pmu_pebs_data_source_skl, _grt, _cmt, _lnl
 *
 * Given  an exerciser puts lines into the L3 alone, modified into the cache of another core, and
 *        into no cache
 * When   records are made of locked additions to them
 * Then   most have code 04H, 06H or 07H, and 0CH in bits 3:0 at A0H, in this order, as plain loads
 *        have: Table 18-24 tells no lock; from Ice Lake on the code of a modified line is this
 *        core's
 */
TEST(ll, data_source_of_a_locked_load_is_that_of_a_plain_one, REQS(LL_34, LL_38, LL_40, LL_53),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_exerciser))
{
	const struct workload *locked = &workload_stride_lock;

	check_codes_of(t, AT(LL_34), l3_only, locked, BIT(0x4), NO_OTHERS_PASS);
	check_codes_of(t, AT(LL_38), modified, locked, BIT(0x6) | BIT(0x7), NO_OTHERS_PASS);
	check_codes_of(t, AT(LL_53), modified, locked,
		       latency_codes(MEM_L3_HITM) | latency_codes(MEM_L3_SNOOP_HITM),
		       NO_OTHERS_PASS);
	check_codes_of(t, AT(LL_40), nowhere, locked, BIT(0xc), NO_OTHERS_PASS);
}

/* ------------------------------------------------------------------ events */

/* For each place one event counts the loads, and the events of the other places don't. */
static const struct remote_lines *const places[] = {
	&l3_only, &stale, &clean, &modified, &nowhere, &nowhere_remote,
};
#define PLACES (sizeof(places) / sizeof(places[0]))

/* SHARE_MORE: most of the loads are counted. SHARE_FEWER: hardly any. */
static void check_lines(struct test *t, struct test_claim claim, const struct remote_lines *place,
			enum remote_lines_witness by, enum mem_sample_share share, u64 value,
			const char *event, const char *setting)
{
	const unsigned lines = remote_lines_number(t);
	u64 low = share == SHARE_MORE ? lines / 2 : 0;
	u64 high = share == SHARE_MORE ? ~0ULL : lines / 4;

	if ((value < low || value > high) && !remote_lines_confirmed(t, place, by))
		return;
	test_check_range(t, claim, low, high, value, "%s of %u %s%s", event, lines, place->name,
			 setting);
}

/* Do the events differ? Tables of chapter 19 may count a snoop that missed as a load without a
 * snoop. */
static bool is_told_apart(enum event_kind a, enum event_kind b)
{
	return a != b && !(a == EK_XSNP_NONE && b == EK_XSNP_MISS);
}

/*
 * CNT-48  Events of loads by what another core or package had of the line must count those loads,
 *         and not the ones of other events.
 *         SDM chapter 19: MEM_UNCORE_RETIRED; MEM_LOAD_UOPS_LLC_HIT_RETIRED,
 *         MEM_LOAD_UOPS_LLC_MISS_RETIRED
 *
 * Given  an exerciser puts lines into the L3 alone, into another core's cache (clean, modified,
 *        dropped again), into local memory alone and into remote memory alone
 * When   loads of each are counted by the event of each kind that this generation has
 * Then   the event of a kind counts at least half of its loads, and at most a quarter of any other
 */
TEST(count, load_events_count_loads_by_where_the_line_was, REQS(CNT_48),
     NEEDS(need_perfmon, need_events, need_exerciser))
{
	for (unsigned p = 0; p < PLACES; p++) {
		struct remote_lines place = *places[p];

		if (!remote_lines_prepare(t, &place))
			return;
		for (unsigned e = 0; e < PLACES; e++) {
			struct event event;
			u64 value;

			if (!event_get(places[e]->event, 0, &event))
				continue;
			if (!remote_lines_count(t, &place, by_turns(p + e), event.code, &value))
				return;
			if (e == p)
				check_lines(t, AT(CNT_48), &place, SEEN_BY_EVENT, SHARE_MORE, value,
					    event.name, "");
			else if (is_told_apart(places[e]->event, place.event))
				check_lines(t, AT(CNT_48), &place, SEEN_BY_EVENT, SHARE_FEWER,
					    value, event.name, "");
		}
	}
}

/*
 * DLA-10  Every event of Table 18-45 must yield a data address when PEBS is enabled for it.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-45
 *
 * Given  an exerciser puts lines into the L3 alone, into another core's cache (clean, modified,
 *        dropped again), into local memory alone and into remote memory alone
 * When   IA32_PMC2 makes records of the event of each kind, where Table 18-45 has one and it
 *        counts
 * Then   the address at 98H of each record is one of the loads'
 */
TEST(dla, events_of_remote_lines_record_data_addresses, REQS(DLA_10),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address, need_exerciser))
{
	for (unsigned i = 0; i < PLACES; i++) {
		struct remote_lines place = *places[i];
		struct mem_sample_setup setup;
		struct event event;
		unsigned count;
		u64 value;

		if (!event_get(place.event, EV_DLA, &event))
			continue;
		if (!remote_lines_prepare(t, &place) ||
		    !remote_lines_count(t, &place, 0, event.code, &value))
			return;
		if (value < remote_lines_number(t) / 2 &&
		    !remote_lines_confirmed(t, &place, SEEN_BY_EVENT))
			continue;
		setup = (struct mem_sample_setup){ .counter = RECORDER, .event = event.code,
						   .period = mem_sample_period(t),
						   .enable = pmc_one(RECORDER),
						   .wanted = RECORDS_ENOUGH };
		count = remote_lines_take(t, AT(DLA_10), &place, &setup, records);
		if (!count)
			return;
		for (unsigned r = 0; r < count; r++)
			CHECK_RANGE(t, DLA_10, place.loads.first, place.loads.last,
				    records[r].address, "address of record %u of %s", r,
				    event.name);
	}
}

/* ------------------------------------------------------------------ off-core responses */

/* The responses that loads of a place may get. In the later layout every supplier is selected. */
static const struct {
	const struct remote_lines *place;
	u64 nehalem, later;
} responses[] = {
	{ &l3_only, BIT(8), BIT(31) | BIT(32) },
	{ &clean, BIT(9), BIT(34) },
	{ &modified, BIT(10), BIT(36) },
	{ &nowhere, BIT(14), BITS(31, 33) },
	{ &nowhere_remote, BIT(13), BITS(31, 33) },
	{ &package, BIT(12) | BIT(14), BITS(31, 35) },
	{ &package_modified, 0, BIT(36) },
};
#define RESPONSES (sizeof(responses) / sizeof(responses[0]))

static const struct {
	const char *name;
	u64 nehalem, later;
} settings[] = {
	{ ", naming hits without a snoop", BIT(8), BIT(31) | BIT(32) },
	{ ", naming clean copies of another core", BIT(9), BIT(34) },
	{ ", naming modified copies", BIT(10), BIT(36) },
	{ ", naming remote memory", BIT(13), 0 },
	{ ", naming local memory", BIT(14), 0 },
};

#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

/* Count loads that get one of the responses `got`, with setting s in MSR_OFFCORE_RSP_n. false: the
 * test has ended. */
static bool check_response(struct test *t, const struct remote_lines *place, u64 got, unsigned s,
			   unsigned n, const struct event *event)
{
	const bool later = counter_caps()->facilities & FAC_OFFCORE_SNB;
	const u64 asked = later ? settings[s].later : settings[s].nehalem;
	u64 value;

	if (!asked)
		return true;
	if (msr_try_write(MSR_OFFCORE_RSP_0 + n,
			  asked | REMOTE_LINES_DEMAND_READ | (later ? ANY_SUPPLIER : 0))
		    .raised) {
		test_note(t, "MSR_OFFCORE_RSP_%u refuses a value%s", n, settings[s].name);
		return true;
	}
	if (!remote_lines_count(t, place, by_turns(s + n), event->code, &value))
		return false;
	/* Judge only if the setting selects all possible responses, or none of them. */
	if (!(got & ~asked))
		check_lines(t, AT(MSR_40), place, SEEN_BY_OFFCORE, SHARE_MORE, value, event->name,
			    settings[s].name);
	else if (!(got & asked))
		check_lines(t, AT(MSR_40), place, SEEN_BY_OFFCORE, SHARE_FEWER, value, event->name,
			    settings[s].name);
	return true;
}

/*
 * MSR-40  An off-core response event must count a request by the response that it got, and not
 *         where other responses alone are named.
 *         SDM Off-core Response Performance Monitoring, response types; supplier and snoop
 *         information
 *
 * Given  an exerciser puts lines where their loads get each kind of response: from the L3, another
 *        core, memory, another package
 * When   MSR_OFFCORE_RSP_0, or MSR_OFFCORE_RSP_1 where it exists, names one kind of response for
 *        demand reads
 * Then   at least half of the loads count where it names all that they may get, and at most a
 *        quarter where it names nothing of that
 */
TEST(offcore, off_core_responses_are_counted_by_what_answered, REQS(MSR_40),
     NEEDS(need_perfmon, need_offcore, need_exerciser))
{
	bool later = counter_caps()->facilities & FAC_OFFCORE_SNB;
	struct event event[2];
	unsigned registers = 0;

	while (registers < 2 && event_get(EK_OFFCORE_0 + registers, 0, &event[registers]))
		registers++;
	if (!HARNESS_CHECK(t, registers, "the event is in the table"))
		return;
	for (unsigned p = 0; p < RESPONSES; p++) {
		struct remote_lines place = *responses[p].place;
		u64 got = later ? responses[p].later : responses[p].nehalem;

		if (!remote_lines_prepare(t, &place))
			return;
		for (unsigned s = 0; got && s < SETTINGS; s++)
			for (unsigned n = 0; n < registers; n++)
				if (!check_response(t, &place, got, s, n, &event[n]))
					return;
	}
	for (unsigned n = 0; n < registers; n++)
		msr_try_write(MSR_OFFCORE_RSP_0 + n, 0);
}
