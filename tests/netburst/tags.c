/* SPDX-License-Identifier: MIT */
/*
 * Tags with events for which they weren't made: instr_retired distinguishes tagged instructions
 * from others, with each mechanism of tagging (SDM Table 19-29), and instructions that can't be
 * tagged ("Tagging Mechanism for Replay_event"). PEBS isn't used here.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/netburst/caps.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"

#define ROUNDS	1000u	/* far more than a processor can execute in vain at the end of a loop */
#define NEARLY	4u	/* within a quarter: a few accesses may have another miss */

/* Each mechanism tags one micro-operation in a round. */
static const struct tagger {
	const char *name;
	enum netburst_metric metric;
	const struct workload *workload;
	enum workload_count tagged;	/* the workload's number of tagged micro-operations */
} taggers[] = {
	{ "loads, by uop_type", NB_METRIC_MEMORY_LOADS, &workload_load, WORKLOAD_LOADS },
	{ "stores, by uop_type", NB_METRIC_MEMORY_STORES, &workload_store, WORKLOAD_STORES },
	{ "packed additions, by execution tags", NB_METRIC_PACKED_SP_RETIRED, &workload_packed,
	  WORKLOAD_BRANCHES },
};
#define TAGGERS (sizeof(taggers) / sizeof(taggers[0]))

/* Count instructions by instr_retired with this mask, while the metric's upstream event tags. */
static u64 instructions(const struct tagger *tagger, unsigned counter, u32 mask)
{
	const u64 levels = netburst_both(netburst_thread());
	struct netburst_setting s = netburst_metric(tagger->metric, counter, levels, 0);

	s.event = NB_EVENT_INSTR_RETIRED;
	s.mask = mask;
	return netburst_gain(&s, tagger->workload, false);
}

/*
 * NB-44  Instr_retired must count retired instructions.
 *        SDM Table 19-29
 *
 * Given  instr_retired on each counter of the IQ group with BOGUSNTAG and BOGUSTAG alone
 * When   a loop of 1000 rounds runs, whose branch is predicted until the end
 * Then   far fewer than its instructions are counted: they are retired, and bogus ones "must be
 *        canceled"
 * Control: with NBOGUSNTAG and NBOGUSTAG at least one a round is counted
 */
TEST(netburst, instr_retired_tells_bogus_instructions_from_retired_ones, REQS(NB_44),
     NEEDS(need_netburst))
{
	for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++) {
		struct netburst_setting s = netburst_instructions(c,
								  netburst_both(netburst_thread()),
								  0);

		CONTROL_RANGE(t, NB_44, ROUNDS, ~0ULL,
			      netburst_count(&s, &workload_load, ROUNDS, false),
			      "retired instructions, counter %u", c);
		s.mask = NB_INSTR_RETIRED_BOGUSNTAG | NB_INSTR_RETIRED_BOGUSTAG;
		CHECK_RANGE(t, NB_44, 0, ROUNDS / NEARLY,
			    netburst_count(&s, &workload_load, ROUNDS, false),
			    "bogus instructions, counter %u", c);
	}
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

/* Metrics, with a workload that has one such access in a round, and one in which it is locked. */
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
 * Given  replay_event with each metric of Table 19-33 of loads or stores with a certain condition:
 *        a miss of a cache or of the DTLB, a line's end
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

/* Replay metrics that need an upstream event: its ESCR, and another event that this ESCR can
 * select. */
static const struct upstream {
	const char *name;
	enum netburst_metric metric;
	const struct workload *workload;
	u32 escr;
	u8 other;	/* event select that tags the other kind of access; 0: none */
} upstreams[] = {
	{ "split_load_retired", NB_METRIC_SPLIT_LOAD_RETIRED, &workload_split, MSR_NB_SAAT_ESCR1,
	  5 },
	{ "split_store_retired", NB_METRIC_SPLIT_STORE_RETIRED, &workload_split, MSR_NB_SAAT_ESCR0,
	  4 },
	{ "MOB_load_replay_retired", NB_METRIC_MOB_LOAD_REPLAY_RETIRED, &workload_partial,
	  MSR_NB_MOB_ESCR0, 0 },
};
#define UPSTREAMS (sizeof(upstreams) / sizeof(upstreams[0]))

/* Count with other bits in the ESCR: those in `mask` are replaced. */
static u64 gain_of_upstream(const struct upstream *u, u64 mask, u64 bits)
{
	struct netburst_setting s = netburst_metric(u->metric, NB_IQ_COUNTER0,
						    netburst_both(netburst_thread()), 0);

	msr_write(u->escr, (msr_read(u->escr) & ~mask) | bits);
	return netburst_gain(&s, u->workload, false);
}

/*
 * NB-36  Replay_event must count what the metric's bits select.
 *        SDM Table 19-33
 * NB-01  A thread-specific at-retirement event must be counted only on a logical processor whose
 *        OS or USR flag in the ESCR matches its CPL.
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-66
 *
 * Given  the metrics of Table 19-33 that need an event upstream: Load_port_replay with
 *        MSR_SAAT_ESCR1, Store_port_replay with MSR_SAAT_ESCR0, MOB_load_replay
 * When   a workload with one such access a round runs at CPL 0, and that ESCR is 0, has the
 *        event of the other kind of access, has no OS and USR flag, the USR flag of this thread
 *        alone, or, with Hyper-Threading, both flags of the other thread: these events are
 *        thread-specific
 * Then   nothing is counted
 * Control: with the OS flag of this thread alone one a round is counted, and up to a quarter
 *          more
 */
TEST(netburst, replay_metrics_need_their_upstream_event, REQS(NB_36, NB_01), NEEDS(need_netburst))
{
	const u64 rounds = NETBURST_MORE - NETBURST_FEWER, flags = BITS(0, 3);
	const u64 own = netburst_both(netburst_thread());
	const u64 os = own & (NB_ESCR_T0_OS | NB_ESCR_T1_OS);
	const u64 others = netburst_caps()->threads ? netburst_both(!netburst_thread()) : 0;
	const u64 without[] = { 0, own & ~os, others };

	for (unsigned i = 0; i < UPSTREAMS; i++) {
		const struct upstream *u = &upstreams[i];

		CONTROL_RANGE(t, IDS(NB_36, NB_01), rounds, rounds + rounds / NEARLY,
			      gain_of_upstream(u, flags, os), "%s, this thread's OS flag upstream",
			      u->name);
		CHECK_EQ(t, NB_36, 0, gain_of_upstream(u, ~0ULL, 0), "%s, nothing upstream",
			 u->name);
		if (u->other)
			CHECK_EQ(t, NB_36, 0,
				 gain_of_upstream(u, NB_ESCR_EVENT_SELECT,
						  (u64)u->other << NB_ESCR_EVENT_SELECT_SHIFT),
				 "%s, event %#x upstream", u->name, u->other);
		for (unsigned k = 0; k < sizeof(without) / sizeof(without[0]); k++)
			CHECK_EQ(t, NB_01, 0, gain_of_upstream(u, flags, without[k]),
				 "%s, flags %#lx upstream", u->name, without[k]);
		netburst_reset();
	}
}

/*
 * NB-01  A thread-specific at-retirement event must be counted only on a logical processor whose
 *        OS or USR flag in the ESCR matches its CPL.
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-66
 *
 * Given  replay_event with metrics of Table 19-33 of loads or stores with a certain condition
 * When   a workload with one such access a round runs at CPL 0, and the ESCR of replay_event has
 *        no flag, or the USR flag of this thread alone
 * Then   nothing is counted
 * Control: with the OS flag alone one a round is counted, and up to a quarter more
 */
TEST(netburst, replay_event_goes_by_the_flags_of_its_escr, REQS(NB_01), NEEDS(need_netburst))
{
	const u64 rounds = NETBURST_MORE - NETBURST_FEWER;
	const u64 own = netburst_both(netburst_thread());
	const u64 os = own & (NB_ESCR_T0_OS | NB_ESCR_T1_OS);
	const u64 levels[] = { os, own & ~os, 0 };

	for (unsigned i = 0; i < REPLAYS; i++)
		for (unsigned k = 0; k < sizeof(levels) / sizeof(levels[0]); k++) {
			struct netburst_setting s = netburst_metric(replays[i].metric,
								    NB_IQ_COUNTER0, levels[k], 0);
			const u64 gain = netburst_gain(&s, replays[i].plain, false);

			if (levels[k] == os)
				CONTROL_RANGE(t, NB_01, rounds, rounds + rounds / NEARLY, gain,
					      "%s with the OS flag", replays[i].name);
			else
				CHECK_EQ(t, NB_01, 0, gain, "%s with flags %#lx", replays[i].name,
					 levels[k]);
		}
}
