/* SPDX-License-Identifier: MIT */
/*
 * Tags beside the events that they are made for: instr_retired tells tagged instructions from
 * others, whichever mechanism tags (SDM Table 19-29), and what can't be tagged ("Tagging Mechanism
 * for Replay_event"). No PEBS here.
 */
#include "kernel/interrupt/fault.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"

#define NEARLY	4u	/* a quarter more: another miss may come to some */

/* One micro-operation in a round is tagged, by each of the mechanisms. */
static const struct tagger {
	const char *name;
	enum netburst_metric metric;
	const struct workload *workload;
	enum workload_count tagged;	/* as many as of these */
} taggers[] = {
	{ "loads, by uop_type", NB_METRIC_MEMORY_LOADS, &workload_load, WORKLOAD_LOADS },
	{ "stores, by uop_type", NB_METRIC_MEMORY_STORES, &workload_store, WORKLOAD_STORES },
	{ "packed additions, by execution tags", NB_METRIC_PACKED_SP_RETIRED, &workload_packed,
	  WORKLOAD_BRANCHES },
};
#define TAGGERS (sizeof(taggers) / sizeof(taggers[0]))

/* Instructions by instr_retired with this mask, the metric's upstream event tagging. */
static u64 instructions(const struct tagger *tagger, unsigned counter, u32 mask)
{
	const u64 levels = netburst_both(netburst_thread());
	struct netburst_setting s = netburst_metric(tagger->metric, counter, levels, 0);

	s.event = NB_EVENT_INSTR_RETIRED;
	s.mask = mask;
	return netburst_gain(&s, tagger->workload, false);
}

/*
 * NB-49  Instr_retired must count, by its mask, instructions that are tagged, by whichever
 *        mechanism, and those that are not.
 *        SDM Table 19-29: NBOGUSNTAG, NBOGUSTAG
 *
 * Given  loads or stores that uop_type tags, packed additions that an execution tag marks: one
 *        instruction of each round
 * When   instr_retired counts them on each counter of the IQ group with NBOGUSTAG, with
 *        NBOGUSNTAG, and with both
 * Then   the first counts one a round, the second all others, and both together all
 * Control: while nothing tags, NBOGUSTAG counts none
 */
TEST(netburst, instr_retired_tells_tagged_instructions_of_each_mechanism, REQS(NB_49),
     NEEDS(need_netburst))
{
	for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++) {
		struct netburst_setting s = netburst_instructions(c,
								  netburst_both(netburst_thread()),
								  0);

		s.mask = NB_INSTR_RETIRED_NBOGUSTAG;
		CONTROL_EQ(t, NB_49, 0, netburst_gain(&s, &workload_load, false),
			   "tagged instructions on counter %u, nothing tags", c);
		for (unsigned i = 0; i < TAGGERS; i++) {
			const struct tagger *by = &taggers[i];
			const u64 all = netburst_declared(by->workload, WORKLOAD_INSTRUCTIONS);
			const u64 tagged = netburst_declared(by->workload, by->tagged);

			CHECK_EQ(t, NB_49, tagged,
				 instructions(by, c, NB_INSTR_RETIRED_NBOGUSTAG),
				 "tagged instructions on counter %u: %s", c, by->name);
			CHECK_EQ(t, NB_49, all - tagged,
				 instructions(by, c, NB_INSTR_RETIRED_NBOGUSNTAG),
				 "instructions without a tag on counter %u: %s", c, by->name);
			CHECK_EQ(t, NB_49, all,
				 instructions(by, c,
					      NB_INSTR_RETIRED_NBOGUSTAG |
						      NB_INSTR_RETIRED_NBOGUSNTAG),
				 "instructions, tagged or not, on counter %u: %s", c, by->name);
		}
		netburst_reset();
	}
}

/* Metrics with a workload that has one such access a round, and the same locked. */
static const struct {
	const char *name;
	enum netburst_metric metric;
	const struct workload *plain, *locked;
} replays[] = {
	{ "1stL_cache_load_miss_retired", NB_METRIC_FIRST_LEVEL_LOAD_MISS_RETIRED,
	  &workload_uncached, &workload_missed_lock },
	{ "2ndL_cache_load_miss_retired", NB_METRIC_SECOND_LEVEL_LOAD_MISS_RETIRED,
	  &workload_uncached, &workload_missed_lock },
	{ "DTLB_load_miss_retired", NB_METRIC_DTLB_LOAD_MISS_RETIRED, &workload_fresh_page,
	  &workload_fresh_page_lock },
	{ "DTLB_store_miss_retired", NB_METRIC_DTLB_STORE_MISS_RETIRED, &workload_fresh_page_store,
	  &workload_fresh_page_lock },
	{ "DTLB_all_miss_retired", NB_METRIC_DTLB_ALL_MISS_RETIRED, &workload_fresh_page,
	  &workload_fresh_page_lock },
	{ "split_load_retired", NB_METRIC_SPLIT_LOAD_RETIRED, &workload_split,
	  &workload_split_lock },
	{ "split_store_retired", NB_METRIC_SPLIT_STORE_RETIRED, &workload_split,
	  &workload_split_lock },
};
#define REPLAYS (sizeof(replays) / sizeof(replays[0]))

static u64 gain_of(enum netburst_metric metric, const struct workload *w)
{
	struct netburst_setting s = netburst_metric(metric, NB_IQ_COUNTER0,
						    netburst_both(netburst_thread()), 0);

	return netburst_gain(&s, w, false);
}

/*
 * NB-50  Replay_event must not count locked accesses.
 *        SDM 18.15.6.4 Tagging Mechanism for Replay_event: locked accesses can't be tagged
 *
 * Given  replay_event with each metric of Table 19-33 that is about loads or stores by what they
 *        met: a miss of a cache or of the DTLB, a line's end
 * When   a workload with one such access a round runs, each a locked one
 * Then   nothing is counted
 * Control: where it isn't locked one a round is counted, and up to a quarter more
 */
TEST(netburst, replay_event_counts_no_locked_access, REQS(NB_50), NEEDS(need_netburst))
{
	const u64 rounds = NETBURST_MORE - NETBURST_FEWER;

	for (unsigned i = 0; i < REPLAYS; i++) {
		CONTROL_RANGE(t, NB_50, rounds, rounds + rounds / NEARLY,
			      gain_of(replays[i].metric, replays[i].plain), "%s of %s",
			      replays[i].name, replays[i].plain->name);
		CHECK_EQ(t, NB_50, 0, gain_of(replays[i].metric, replays[i].locked),
			 "%s of %s, which is locked", replays[i].name, replays[i].locked->name);
	}
}
