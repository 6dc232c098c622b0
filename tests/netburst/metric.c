/* SPDX-License-Identifier: MIT */
/*
 * Events that count tagged micro-operations: SDM "Front-end Tagging", "Execution Tagging", "Tagging
 * Mechanism for Replay_event", Tables 19-31 to 19-33. PEBS isn't used here. A program can't know
 * which branches are mispredicted, but many random branches are, and few of a loop's.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/netburst/caps.h"
#include "tests/measure/cache_workload.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"

#define TAG(n)		((u64)(n) << NB_ESCR_TAG_VALUE_SHIFT)
#define UOP_TAG		((u32)NB_PEBS_ENABLE_UOP_TAG)	/* bit 24 */
#define TAG_2		2u	/* a tag that NBOGUS0 doesn't count: its tag is bit 0 */
#define NEARLY		4u	/* within a quarter: a few accesses may have another miss */
#define RANDOM_ROUNDS	200u
#define FEW		(RANDOM_ROUNDS / 8)
#define BRANCHES_A_ROUND 2u	/* branches in a round of workload_random */

static u64 gain_of(enum netburst_metric metric, unsigned counter, const struct workload *w)
{
	struct netburst_setting s = netburst_metric(metric, counter,
						    netburst_both(netburst_thread()), 0);

	return netburst_gain(&s, w, false);
}

/* The same with another value in the upstream event's ESCR. */
static u64 gain_with_upstream(enum netburst_metric metric, unsigned counter, u32 escr, u64 value,
			      const struct workload *w)
{
	struct netburst_setting s = netburst_metric(metric, counter,
						    netburst_both(netburst_thread()), 0);

	msr_write(escr, value);
	return netburst_gain(&s, w, false);
}

/* ESCR of uop_type without its level flags: event 02H, bits 1 and 2 of its mask (Table 19-29). */
#define UOP_TYPE(tags)	(2ULL << NB_ESCR_EVENT_SELECT_SHIFT | \
			 (u64)(tags) << NB_ESCR_EVENT_MASK_SHIFT)

static void check_both_tags(struct test *t, unsigned counter, u32 escr)
{
	static const struct workload *const pieces[] = { &workload_load, &workload_store,
							 &workload_split };
	const u64 both = UOP_TYPE(NB_UOP_TYPE_TAGLOADS | NB_UOP_TYPE_TAGSTORES) |
			 netburst_every_level();

	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		CHECK_EQ(t, NB_34,
			 netburst_declared(pieces[i], WORKLOAD_LOADS) +
				 netburst_declared(pieces[i], WORKLOAD_STORES),
			 gain_with_upstream(NB_METRIC_MEMORY_LOADS, counter, escr, both, pieces[i]),
			 "loads and stores of %s on counter %u, both tagged", pieces[i]->name,
			 counter);
}

/*
 * NB-34  Front_end_event must count loads or stores that uop_type has tagged.
 *        SDM 18.15.6.1 Front-end tagging, Table 19-31
 *
 * Given  front_end_event on each counter of the IQ group, with uop_type tagging loads, stores,
 *        both, or nothing
 * When   workloads of loads, of stores, or of both run
 * Then   tagged loads and tagged stores are counted exactly; the other kind isn't counted, nor is
 *        anything without a tag
 */
TEST(netburst, front_end_event_counts_tagged_loads_or_stores, REQS(NB_34), NEEDS(need_netburst))
{
	for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++) {
		u64 loads = netburst_declared(&workload_load, WORKLOAD_LOADS);
		u32 escr = netburst_escr_msr(c, NB_EVENT_UOP_TYPE);

		CHECK_EQ(t, NB_34, loads, gain_of(NB_METRIC_MEMORY_LOADS, c, &workload_load),
			 "memory_loads of loads on counter %u", c);
		CHECK_EQ(t, NB_34, 0, gain_of(NB_METRIC_MEMORY_LOADS, c, &workload_store),
			 "memory_loads of stores on counter %u", c);
		CHECK_EQ(t, NB_34, netburst_declared(&workload_store, WORKLOAD_STORES),
			 gain_of(NB_METRIC_MEMORY_STORES, c, &workload_store),
			 "memory_stores of stores on counter %u", c);
		CHECK_EQ(t, NB_34, 0, gain_of(NB_METRIC_MEMORY_STORES, c, &workload_load),
			 "memory_stores of loads on counter %u", c);
		check_both_tags(t, c, escr);
		CHECK_EQ(t, NB_34, 0, gain_with_upstream(NB_METRIC_MEMORY_LOADS, c, escr, 0,
							 &workload_load),
			 "memory_loads on counter %u, nothing tagged", c);
	}
}

/*
 * NB-01  A thread-specific at-retirement event must be counted only on a logical processor whose
 *        OS or USR flag in the ESCR matches its CPL.
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-66
 *
 * Given  front_end_event on each counter of the IQ group with both levels of this thread; uop_type
 *        tags loads
 * When   loads are executed at CPL 0, the ESCR of uop_type having no OS and USR flag, the USR flag
 *        of this thread alone, or, with Hyper-Threading, both flags of the other thread
 * Then   nothing is counted: TAGLOADS is thread-specific
 * Control: with the OS flag of this thread alone all loads are counted
 */
TEST(netburst, uop_type_tags_by_the_flags_of_its_own_escr, REQS(NB_01), NEEDS(need_netburst))
{
	const u64 own = netburst_both(netburst_thread());
	const u64 others = netburst_caps()->threads ? netburst_both(!netburst_thread()) : 0;
	const u64 os = NB_ESCR_T0_OS | NB_ESCR_T1_OS;
	const struct {
		u64 flags;
		const char *name;
	} without[] = {
		{ 0, "no flag" },
		{ own & ~os, "this thread's USR" },
		{ others, "the other's flags" },
	};

	for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++) {
		const u32 escr = netburst_escr_msr(c, NB_EVENT_UOP_TYPE);
		const u64 loads = UOP_TYPE(NB_UOP_TYPE_TAGLOADS);

		CONTROL_EQ(t, NB_01, netburst_declared(&workload_load, WORKLOAD_LOADS),
			   gain_with_upstream(NB_METRIC_MEMORY_LOADS, c, escr, loads | (own & os),
					      &workload_load),
			   "memory_loads on counter %u, uop_type with this thread's OS", c);
		for (unsigned i = 0; i < sizeof(without) / sizeof(without[0]); i++)
			CHECK_EQ(t, NB_01, 0,
				 gain_with_upstream(NB_METRIC_MEMORY_LOADS, c, escr,
						    loads | without[i].flags, &workload_load),
				 "memory_loads on counter %u, uop_type with %s", c,
				 without[i].name);
		msr_write(escr, 0);
	}
}

/*
 * NB-35  Execution_event must count the micro-operations whose tag value the upstream ESCR has
 *        set.
 *        SDM 18.15.6.3 Execution tagging, Table 19-32
 *
 * Given  execution_event with NBOGUS0 on each counter of the IQ group; the upstream ESCR tags
 *        packed additions: ESCR[8:5] holds the tags, ESCR[4] enables them, tag bit 0 is what
 *        NBOGUS0 counts
 * When   workloads with and without them run, with the tag bit set, among others, clear, or not
 *        enabled, with no OS and USR flag in the upstream ESCR, and with other upstream events
 * Then   packed additions are counted exactly with tag 1 or 15; nothing is counted of other
 *        workloads, by other upstream events, without the enable or a flag, or with tag 2
 */
TEST(netburst, execution_event_counts_uops_of_its_tag, REQS(NB_35), NEEDS(need_netburst),
     .deadline_ms = 20000)
{
	u64 packed = netburst_declared(&workload_packed, WORKLOAD_BRANCHES);
	u64 upstream;

	for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++) {
		CHECK_EQ(t, NB_35, packed, gain_of(NB_METRIC_PACKED_SP_RETIRED, c,
						   &workload_packed),
			 "packed_SP_retired on counter %u", c);
		upstream = msr_read(MSR_NB_FIRM_ESCR0);
		CHECK_EQ(t, NB_35, 0, gain_of(NB_METRIC_PACKED_SP_RETIRED, c, &workload_load),
			 "packed_SP_retired of loads on counter %u", c);
		CHECK_EQ(t, NB_35, 0, gain_of(NB_METRIC_PACKED_DP_RETIRED, c, &workload_packed),
			 "packed_DP_retired of single precision on counter %u", c);
		CHECK_EQ(t, NB_35, 0, gain_of(NB_METRIC_SCALAR_SP_RETIRED, c, &workload_packed),
			 "scalar_SP_retired of packed ones on counter %u", c);
		CHECK_EQ(t, NB_35, 0,
			 gain_with_upstream(NB_METRIC_PACKED_SP_RETIRED, c, MSR_NB_FIRM_ESCR0,
					    upstream & ~NB_ESCR_TAG_ENABLE, &workload_packed),
			 "without the tag enable flag, counter %u", c);
		CHECK_EQ(t, NB_35, 0,
			 gain_with_upstream(NB_METRIC_PACKED_SP_RETIRED, c, MSR_NB_FIRM_ESCR0,
					    (upstream & ~NB_ESCR_TAG_VALUE) | TAG(TAG_2),
					    &workload_packed),
			 "with tag value 2, counter %u", c);
		CHECK_EQ(t, NB_35, 0,
			 gain_with_upstream(NB_METRIC_PACKED_SP_RETIRED, c, MSR_NB_FIRM_ESCR0,
					    upstream & ~netburst_every_level(), &workload_packed),
			 "tagged at no level, counter %u", c);
		CHECK_EQ(t, NB_35, packed,
			 gain_with_upstream(NB_METRIC_PACKED_SP_RETIRED, c, MSR_NB_FIRM_ESCR0,
					    upstream | NB_ESCR_TAG_VALUE, &workload_packed),
			 "with tag value 15, counter %u", c);
	}
}

#define TAGS	4u	/* bits of ESCR[8:5], and NBOGUS0 to NBOGUS3 */

/* Count packed additions with these tags on a counter of the IQ group, with this mask. */
static u64 gain_of_tag(unsigned counter, u32 mask, u64 tags)
{
	struct netburst_setting s = netburst_metric(NB_METRIC_PACKED_SP_RETIRED, counter,
						    netburst_both(netburst_thread()), 0);
	const u64 upstream = msr_read(MSR_NB_FIRM_ESCR0) & ~NB_ESCR_TAG_VALUE;

	msr_write(MSR_NB_FIRM_ESCR0, upstream | TAG(tags));
	s.mask = mask;
	return netburst_gain_once(&s, &workload_packed, false);
}

/*
 * NB-35  Execution_event must count the micro-operations whose tag value the upstream ESCR has
 *        set.
 *        SDM 18.15.6.3 Execution tagging, Table 19-32
 *
 * Given  packed additions that the upstream ESCR tags with each of the four tag bits
 * When   execution_event counts them by each of NBOGUS0 to NBOGUS3, and by all four, on each
 *        counter of the IQ group in turn
 * Then   each mask bit counts the additions of the tag bit of its number and no others; all four
 *        count them with any tag
 */
TEST(netburst, each_nbogus_bit_counts_the_tag_bit_of_its_number, REQS(NB_35), NEEDS(need_netburst))
{
	const u64 packed = netburst_declared(&workload_packed, WORKLOAD_BRANCHES);
	unsigned c = 0;

	for (unsigned tag = 0; tag < TAGS; tag++)
		for (unsigned bit = 0; bit <= TAGS; bit++, c++) {
			const unsigned counter = NB_IQ_COUNTER0 +
						 c % (NB_COUNTERS - NB_IQ_COUNTER0);

			CHECK_EQ(t, NB_35, bit == tag || bit == TAGS ? packed : 0,
				 gain_of_tag(counter,
					     (u32)(bit == TAGS ? BITS(0, TAGS - 1) : BIT(bit)),
					     BIT(tag)),
				 "additions of tag bit %u on counter %u by %s%u", tag, counter,
				 bit == TAGS ? "all of the " : "NBOGUS", bit);
		}
}

/* The additions have both tag bits: each mask bit alone counts them. */
static void check_two_tags(struct test *t, struct netburst_setting *s, unsigned a, unsigned b)
{
	const unsigned bits[] = { a, b };

	for (unsigned i = 0; i < 2; i++) {
		s->mask = (u32)BIT(bits[i]);
		CHECK_EQ(t, NB_35, netburst_declared(&workload_packed, WORKLOAD_BRANCHES),
			 netburst_gain_once(s, &workload_packed, false),
			 "packed additions with tag bits %u and %u, by NBOGUS%u", a, b, bits[i]);
	}
}

/*
 * NB-35  Execution_event must count the micro-operations whose tag value the upstream ESCR has
 *        set.
 *        SDM 18.15.6.3 Execution tagging, Table 19-32
 *
 * Given  MSR_FIRM_ESCR1 alone tags packed additions; then MSR_FIRM_ESCR0 tags those of single
 *        precision with bit 0 and MSR_FIRM_ESCR1 those of double precision with bit 1; a counter
 *        that each can feed runs; then both tag those of single precision, with each pair of bits
 * When   execution_event counts them by NBOGUS0, by NBOGUS1, and by both; in the last case by each
 *        bit of the pair
 * Then   MSR_FIRM_ESCR1 tags as MSR_FIRM_ESCR0 does; each mask bit counts the additions of its own
 *        ESCR, and not those of the other one, and both bits count those of both
 */
TEST(netburst, both_firm_escrs_tag_at_once, REQS(NB_35), NEEDS(need_netburst))
{
	static const struct {
		u32 mask;
		unsigned additions;	/* in a round of workload_simd */
	} by[] = {
		{ NB_EXECUTION_EVENT_NBOGUS0, SIMD_PACKED_SP },
		{ NB_EXECUTION_EVENT_NBOGUS1, SIMD_PACKED_DP },
		{ NB_EXECUTION_EVENT_NBOGUS0 | NB_EXECUTION_EVENT_NBOGUS1,
		  SIMD_PACKED_SP + SIMD_PACKED_DP },
	};
	const u64 own = netburst_both(netburst_thread());
	const u32 second = netburst_cccr_msr(NB_FLAME_COUNTER2);
	struct netburst_setting s = netburst_metric(NB_METRIC_PACKED_DP_RETIRED, NB_IQ_COUNTER0,
						    own, 0);
	const u64 dp = msr_read(MSR_NB_FIRM_ESCR0) & ~NB_ESCR_TAG_VALUE;
	u64 sp;

	s = netburst_metric(NB_METRIC_PACKED_SP_RETIRED, NB_IQ_COUNTER0, own, 0);
	msr_write(MSR_NB_FIRM_ESCR1, msr_read(MSR_NB_FIRM_ESCR0));
	msr_write(MSR_NB_FIRM_ESCR0, 0);
	msr_write(second, s.beside_cccr | NB_CCCR_ENABLE);
	CHECK_EQ(t, NB_35, netburst_declared(&workload_packed, WORKLOAD_BRANCHES),
		 netburst_gain_once(&s, &workload_packed, false),
		 "packed additions, tagged by MSR_FIRM_ESCR1 alone");
	s = netburst_metric(NB_METRIC_PACKED_SP_RETIRED, NB_IQ_COUNTER0, own, 0);
	msr_write(MSR_NB_FIRM_ESCR1, dp | TAG(TAG_2));
	for (unsigned i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		s.mask = by[i].mask;
		CHECK_EQ(t, NB_35, (NETBURST_MORE - NETBURST_FEWER) * by[i].additions,
			 netburst_gain_once(&s, &workload_simd, false),
			 "vector additions by mask %#x", by[i].mask);
	}
	sp = msr_read(MSR_NB_FIRM_ESCR0) & ~NB_ESCR_TAG_VALUE;
	for (unsigned a = 0; a < TAGS; a++)
		for (unsigned b = a + 1; b < TAGS; b++) {
			msr_write(MSR_NB_FIRM_ESCR0, sp | TAG(BIT(a)));
			msr_write(MSR_NB_FIRM_ESCR1, sp | TAG(BIT(b)));
			check_two_tags(t, &s, a, b);
		}
	msr_write(second, s.beside_cccr);
}

/* Replay metrics with one event in each round of a piece; a few other accesses may have another
 * miss. */
static const struct replay {
	const char *name;
	enum netburst_metric metric;
	const struct workload *one, *none;
	u32 enable, vert;	/* Table 19-33 */
} replays[] = {
	{ "1stL_cache_load_miss_retired", NB_METRIC_FIRST_LEVEL_LOAD_MISS_RETIRED,
	  &workload_uncached, &workload_load, 0x01000001, 0x1 },
	{ "2ndL_cache_load_miss_retired", NB_METRIC_SECOND_LEVEL_LOAD_MISS_RETIRED,
	  &workload_uncached, &workload_load, 0x01000002, 0x1 },
	{ "DTLB_load_miss_retired", NB_METRIC_DTLB_LOAD_MISS_RETIRED, &workload_fresh_page,
	  &workload_fresh_page_store, 0x01000004, 0x1 },
	{ "DTLB_store_miss_retired", NB_METRIC_DTLB_STORE_MISS_RETIRED,
	  &workload_fresh_page_store, &workload_fresh_page, 0x01000004, 0x2 },
	{ "DTLB_all_miss_retired (loads)", NB_METRIC_DTLB_ALL_MISS_RETIRED, &workload_fresh_page,
	  &workload_load, 0x01000004, 0x3 },
	{ "DTLB_all_miss_retired (stores)", NB_METRIC_DTLB_ALL_MISS_RETIRED,
	  &workload_fresh_page_store, &workload_store, 0x01000004, 0x3 },
	{ "MOB_load_replay_retired", NB_METRIC_MOB_LOAD_REPLAY_RETIRED, &workload_partial,
	  &workload_load, 0x01000200, 0x1 },
	{ "split_load_retired", NB_METRIC_SPLIT_LOAD_RETIRED, &workload_split, &workload_load,
	  0x01000400, 0x1 },
	{ "split_store_retired", NB_METRIC_SPLIT_STORE_RETIRED, &workload_split, &workload_store,
	  0x01000400, 0x2 },
};
#define REPLAYS	(sizeof(replays) / sizeof(replays[0]))

static void check_each_round(struct test *t, struct test_claim claim, u64 gain, const char *name,
			     unsigned counter)
{
	u64 rounds = NETBURST_MORE - NETBURST_FEWER;

	test_check_range(t, claim, rounds, rounds + rounds / NEARLY, gain, "%s on counter %u", name,
			 counter);
}

/*
 * NB-36  Replay_event must count what the metric's bits select.
 *        SDM Table 19-33
 *
 * Given  replay_event with each metric of Table 19-33 that a round of a workload fixes, on each
 *        counter of the IQ group
 * When   a workload with one such access a round runs, and one with none
 * Then   one a round is counted, and up to a quarter more (some accesses may have another miss
 *        too); of the other workload nothing is counted
 */
TEST(netburst, replay_event_counts_what_its_metric_selects, REQS(NB_36), NEEDS(need_netburst))
{
	for (unsigned i = 0; i < REPLAYS; i++)
		for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++) {
			const struct replay *r = &replays[i];

			check_each_round(t, AT(NB_36), gain_of(r->metric, c, r->one), r->name, c);
			CHECK_EQ(t, NB_36, 0, gain_of(r->metric, c, r->none),
				 "%s of %s on counter %u", r->name, r->none->name, c);
		}
}

#define CACHED_LOADS	4096u

/* Count loads by the cache that they hit. The first of two windows brings the lines to that
 * place. */
static u64 count_at_place(enum netburst_metric metric, const struct cache_workload *h)
{
	struct netburst_setting s = netburst_metric(metric, NB_IQ_COUNTER0,
						    netburst_both(netburst_thread()), 0);
	const struct workload_switch by = {
		.msr = netburst_cccr_msr(s.counter), .off = netburst_cccr(&s),
		.on = netburst_cccr(&s) | NB_CCCR_ENABLE,
	};

	for (unsigned i = 0; i < 2; i++) {
		netburst_write(s.counter, 0);
		workload_run_switched_at(h->workload, CACHED_LOADS, &by, &h->at);
	}
	return netburst_read(s.counter);
}

/*
 * NB-36  Replay_event must count what the metric's bits select.
 *        SDM Table 19-33
 *
 * Given  loads of lines that the first-level cache has lost and the second-level cache hasn't
 * When   1stL_cache_load_miss_retired and 2ndL_cache_load_miss_retired count them
 * Then   the second counts at most a quarter of them
 * Control: the first counts at least half of them
 */
TEST(netburst, second_level_miss_metric_counts_no_hits_of_that_level, REQS(NB_36),
     NEEDS(need_netburst))
{
	struct cache_workload h;

	if (!cache_workload_or_skip(t, ACCESS_L2, &h))
		return;
	CONTROL_RANGE(t, NB_36, CACHED_LOADS / 2, ~0ULL,
		      count_at_place(NB_METRIC_FIRST_LEVEL_LOAD_MISS_RETIRED, &h),
		      "1stL_cache_load_miss_retired of %u hits of the L2", CACHED_LOADS);
	CHECK_RANGE(t, NB_36, 0, CACHED_LOADS / 4,
		    count_at_place(NB_METRIC_SECOND_LEVEL_LOAD_MISS_RETIRED, &h),
		    "2ndL_cache_load_miss_retired of %u hits of the L2", CACHED_LOADS);
}

/* Count the piece's events with these values in MSR_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT. */
static u64 gain_of_bits(const struct replay *r, u32 enable, u32 vert)
{
	struct netburst_setting s = netburst_metric(r->metric, NB_IQ_COUNTER0,
						    netburst_both(netburst_thread()), 0);

	msr_write(MSR_NB_PEBS_ENABLE, enable);
	msr_write(MSR_NB_PEBS_MATRIX_VERT, vert);
	return netburst_gain(&s, r->one, false);
}

/*
 * NB-11  Replay tagging must need both the UOP_TAG bit and the metric's bits of MSR_PEBS_ENABLE
 *        and MSR_PEBS_MATRIX_VERT.
 *        SDM 18.15.6.4 Tagging Mechanism for Replay_event, Table 19-33
 *
 * Given  replay_event with each of these metrics, its bits in MSR_PEBS_ENABLE and
 *        MSR_PEBS_MATRIX_VERT as Table 19-33 prints them
 * When   UOP_TAG (bit 24) is clear, UOP_TAG is the only bit, or MSR_PEBS_MATRIX_VERT is 0
 * Then   nothing is counted
 * Control: with all bits one access a round is counted
 */
TEST(netburst, replay_tagging_needs_uop_tag_metric_bits_and_matrix, REQS(NB_11),
     NEEDS(need_netburst))
{
	for (unsigned i = 0; i < REPLAYS; i++) {
		const struct replay *r = &replays[i];

		check_each_round(t, CONTROL_AT(NB_11), gain_of_bits(r, r->enable, r->vert), r->name,
				 NB_IQ_COUNTER0);
		CHECK_EQ(t, NB_11, 0, gain_of_bits(r, r->enable & ~UOP_TAG, r->vert),
			 "%s without bit 24", r->name);
		CHECK_EQ(t, NB_11, 0, gain_of_bits(r, UOP_TAG, r->vert), "%s with bit 24 alone",
			 r->name);
		CHECK_EQ(t, NB_11, 0, gain_of_bits(r, r->enable, 0),
			 "%s without MSR_PEBS_MATRIX_VERT", r->name);
	}
}

/*
 * NB-36  Replay_event must count what the metric's bits select.
 *        SDM Table 19-33
 *
 * Given  a workload with a split load and a split store a round; the upstream event of
 *        split_load_retired, or of split_store_retired, is selected
 * When   replay_event counts them with bit 10 of MSR_PEBS_ENABLE and both bits of
 *        MSR_PEBS_MATRIX_VERT, of which Table 19-33 has one for loads and one for stores, and both
 *        for DTLB_all_miss_retired
 * Then   one a round is counted, and up to a quarter more
 */
TEST(netburst, replay_event_counts_tagged_splits_with_both_bits_of_the_matrix, REQS(NB_36),
     NEEDS(need_netburst))
{
	const u32 both = NB_PEBS_MATRIX_VERT_LOADS | NB_PEBS_MATRIX_VERT_STORES;

	for (unsigned i = 0; i < REPLAYS; i++) {
		const struct replay *r = &replays[i];
		u64 gain;

		if (r->one != &workload_split)
			continue;
		/* Or the other one's upstream event stays selected. */
		netburst_reset();
		gain = gain_of_bits(r, r->enable, both);
		check_each_round(t, AT(NB_36), gain, r->name, NB_IQ_COUNTER0);
	}
}

/* Loads that wait for the preceding store; only one mask of MOB_load_replay tags each of them. */
static const struct waiting {
	const struct workload *workload;
	u32 mask;
	bool counted;
} waiting[] = {
	{ &workload_partial, NB_MOB_LOAD_REPLAY_PARTIAL_DATA, true },
	{ &workload_partial_above, NB_MOB_LOAD_REPLAY_PARTIAL_DATA, true },
	{ &workload_within_store, NB_MOB_LOAD_REPLAY_PARTIAL_DATA, false },
	{ &workload_within_store, NB_MOB_LOAD_REPLAY_UNALGN_ADDR, true },
	{ &workload_load, NB_MOB_LOAD_REPLAY_UNALGN_ADDR, false },
};

static u64 gain_of_waiting(unsigned counter, u32 mask, const struct workload *w)
{
	struct netburst_setting s = netburst_metric(NB_METRIC_MOB_LOAD_REPLAY_RETIRED, counter,
						    netburst_both(netburst_thread()), 0);
	const u64 others = msr_read(MSR_NB_MOB_ESCR0) & ~NB_ESCR_EVENT_MASK;

	msr_write(MSR_NB_MOB_ESCR0, others | (u64)mask << NB_ESCR_EVENT_MASK_SHIFT);
	return netburst_gain(&s, w, false);
}

/*
 * NB-36  Replay_event must count what the metric's bits select.
 *        SDM Table 19-33
 *
 * Given  MOB_load_replay_retired on each counter of the IQ group; loads of bytes of the previous
 *        store and of bytes below or above it, loads from its middle, loads without a store
 * When   the ESCR of MOB_load_replay has the mask PARTIAL_DATA alone, or UNALGN_ADDR alone
 * Then   PARTIAL_DATA counts one a round of those with other bytes, on either side, and none of
 *        those from the middle, whose lowest address bits differ: UNALGN_ADDR counts these, and
 *        no loads alone
 */
TEST(netburst, load_replay_tags_partial_overlaps_and_other_addresses_by_their_masks, REQS(NB_36),
     NEEDS(need_netburst))
{
	for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++)
		for (unsigned i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
			const struct waiting *w = &waiting[i];
			const u64 gain = gain_of_waiting(c, w->mask, w->workload);

			if (w->counted)
				check_each_round(t, AT(NB_36), gain, w->workload->name, c);
			else
				CHECK_EQ(t, NB_36, 0, gain, "%s, mask %#x, on counter %u",
					 w->workload->name, w->mask, c);
		}
}

/* Table 19-33, tagged_mispred_branch: bits 15, 16 and 24, and bit 4 of MSR_PEBS_MATRIX_VERT. */
static u64 mispredicted(unsigned counter, u32 enable, u32 vert, const struct workload *w, u64 n)
{
	struct netburst_setting s = netburst_metric(NB_METRIC_TAGGED_MISPRED_BRANCH, counter,
						    netburst_both(netburst_thread()), 0);

	msr_write(MSR_NB_PEBS_ENABLE, enable);
	msr_write(MSR_NB_PEBS_MATRIX_VERT, vert);
	return netburst_count(&s, w, n, false);
}

/*
 * NB-36  Replay_event must count what the metric's bits select.
 *        SDM Table 19-33
 * NB-11  Replay tagging must need both the UOP_TAG bit and the metric's bits of MSR_PEBS_ENABLE
 *        and MSR_PEBS_MATRIX_VERT.
 *        SDM 18.15.6.4 Tagging Mechanism for Replay_event, Table 19-33
 *
 * Given  replay_event with the metric tagged_mispred_branch of Table 19-33 on each counter of the
 *        IQ group
 * When   a workload with one random branch a round runs, and a loop whose branch isn't random; with
 *        the metric's bits, without MSR_PEBS_MATRIX_VERT, and without UOP_TAG
 * Then   of the random branches at least one in eight is counted, and at most all; of the loop's
 *        branches at most one in eight rounds; without the bits nothing is counted
 */
TEST(netburst, tagged_mispred_branch_counts_mispredicted_branches, REQS(NB_36, NB_11),
     NEEDS(need_netburst))
{
	const u32 enable = 0x01018000, vert = 0x10;	/* Table 19-33 */

	for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++) {
		/* A round has two branches, one of them random; there are a few more around the
		 * piece. */
		CHECK_RANGE(t, NB_36, FEW, BRANCHES_A_ROUND * RANDOM_ROUNDS + FEW,
			    mispredicted(c, enable, vert, &workload_random, RANDOM_ROUNDS),
			    "tagged_mispred_branch of random branches on counter %u", c);
		CHECK_RANGE(t, NB_36, 0, FEW,
			    mispredicted(c, enable, vert, &workload_load, RANDOM_ROUNDS),
			    "tagged_mispred_branch of a loop's on counter %u", c);
		CHECK_EQ(t, NB_11, 0, mispredicted(c, enable, 0, &workload_random, RANDOM_ROUNDS),
			 "counter %u without MSR_PEBS_MATRIX_VERT", c);
		CHECK_EQ(t, NB_11, 0,
			 mispredicted(c, enable & ~UOP_TAG, vert, &workload_random, RANDOM_ROUNDS),
			 "counter %u without bit 24", c);
	}
}
