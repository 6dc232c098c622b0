/* SPDX-License-Identifier: MIT */
/*
 * Rows of Table 19-28 whose counts follow from the workload, and the metrics of Table 19-32 that
 * tag them: micro-operations by the kind of their operands, page walks, accesses that are split. An
 * addition of two registers is one micro-operation, as ADDPS is in the other tests.
 */
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"

#define ROUNDS	(NETBURST_MORE - NETBURST_FEWER)

/* Additions in a round of workload_simd and workload_x87: a different number of each kind. */
static const struct kind {
	const char *name, *metric_name;
	enum netburst_event event;
	u32 mask;
	enum netburst_metric metric;
	unsigned simd, x87;
} kinds[] = {
	{ "packed_SP_uop", "packed_SP_retired", NB_EVENT_PACKED_SP_UOP, NB_PACKED_SP_UOP_ALL,
	  NB_METRIC_PACKED_SP_RETIRED, SIMD_PACKED_SP, 0 },
	{ "packed_DP_uop", "packed_DP_retired", NB_EVENT_PACKED_DP_UOP, NB_PACKED_DP_UOP_ALL,
	  NB_METRIC_PACKED_DP_RETIRED, SIMD_PACKED_DP, 0 },
	{ "scalar_SP_uop", "scalar_SP_retired", NB_EVENT_SCALAR_SP_UOP, NB_SCALAR_SP_UOP_ALL,
	  NB_METRIC_SCALAR_SP_RETIRED, SIMD_SCALAR_SP, 0 },
	{ "scalar_DP_uop", "scalar_DP_retired", NB_EVENT_SCALAR_DP_UOP, NB_SCALAR_DP_UOP_ALL,
	  NB_METRIC_SCALAR_DP_RETIRED, SIMD_SCALAR_DP, 0 },
	{ "64bit_MMX_uop", "64_bit_MMX_retired", NB_EVENT_MMX_64_UOP, NB_MMX_64_UOP_ALL,
	  NB_METRIC_MMX_64_RETIRED, SIMD_MMX_64, 0 },
	{ "128bit_MMX_uop", "128_bit_MMX_retired", NB_EVENT_MMX_128_UOP, NB_MMX_128_UOP_ALL,
	  NB_METRIC_MMX_128_RETIRED, SIMD_MMX_128, 0 },
	{ "x87_FP_uop", "X87_FP_retired", NB_EVENT_X87_FP_UOP, NB_X87_FP_UOP_ALL,
	  NB_METRIC_X87_FP_RETIRED, 0, X87_ADDITIONS },
};
#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))

/* Can an ESCR of the event be selected for this counter? */
static bool can_count(unsigned counter, enum netburst_event event)
{
	return netburst_escr_msr(counter, event);
}

/*
 * NB-47  An event of micro-operations, page walks or split accesses must count those of its own
 *        kind and no others.
 *        SDM Table 19-28
 *
 * Given  packed_SP_uop, packed_DP_uop, scalar_SP_uop, scalar_DP_uop, 64bit_MMX_uop, 128bit_MMX_uop
 *        and x87_FP_uop with bit ALL, on each counter of the FLAME group
 * When   a workload with one to six additions of the six vector kinds a round runs, and one with
 *        seven x87 additions, 20 rounds and 60
 * Then   the two windows differ by the additions of the event's own kind in 40 rounds
 */
TEST(netburst, arithmetic_event_counts_uops_of_its_kind_alone, REQS(NB_47), NEEDS(need_netburst))
{
	for (unsigned i = 0; i < KINDS; i++)
		for (unsigned c = 0; c < NB_COUNTERS; c++) {
			const struct kind *kind = &kinds[i];
			struct netburst_setting s = {
				.counter = c, .event = kind->event, .mask = kind->mask,
				.levels = netburst_every_level(),
			};

			if (!can_count(c, kind->event))
				continue;
			CHECK_EQ(t, NB_47, ROUNDS * kind->simd,
				 netburst_gain_once(&s, &workload_simd, false),
				 "%s of vector additions on counter %u", kind->name, c);
			CHECK_EQ(t, NB_47, ROUNDS * kind->x87,
				 netburst_gain_once(&s, &workload_x87, false),
				 "%s of x87 additions on counter %u", kind->name, c);
		}
}

/*
 * NB-35  Execution_event must count the micro-operations whose tag value the upstream ESCR has
 *        set.
 *        SDM 18.15.6.3 Execution tagging, Table 19-32
 *
 * Given  execution_event with each metric of Table 19-32 on a counter of the IQ group
 * When   a workload with one to six additions of the six vector kinds a round runs, and one with
 *        seven x87 additions, 20 rounds and 60
 * Then   the two windows differ by the additions of the metric's own kind in 40 rounds
 */
TEST(netburst, execution_event_counts_each_metric_of_table_19_32, REQS(NB_35), NEEDS(need_netburst))
{
	u64 levels = netburst_both(netburst_thread());

	for (unsigned i = 0; i < KINDS; i++) {
		const struct kind *kind = &kinds[i];
		struct netburst_setting s = netburst_metric(kind->metric, NB_IQ_COUNTER0, levels,
							    0);

		CHECK_EQ(t, NB_35, ROUNDS * kind->simd,
			 netburst_gain_once(&s, &workload_simd, false), "%s of vector additions",
			 kind->metric_name);
		CHECK_EQ(t, NB_35, ROUNDS * kind->x87, netburst_gain_once(&s, &workload_x87, false),
			 "%s of x87 additions", kind->metric_name);
	}
}

/* A round of the workload has at least one of these events; it has more if an access is retried. */
static const struct access_event {
	const char *name;
	enum netburst_event event;
	u32 mask;
	const struct workload *w;
} accesses[] = {
	{ "page_walk_type DTMISS of loads", NB_EVENT_PAGE_WALK_TYPE, NB_PAGE_WALK_TYPE_DTMISS,
	  &workload_fresh_page },
	{ "page_walk_type DTMISS of stores", NB_EVENT_PAGE_WALK_TYPE, NB_PAGE_WALK_TYPE_DTMISS,
	  &workload_fresh_page_store },
	{ "load_port_replay SPLIT_LD", NB_EVENT_LOAD_PORT_REPLAY, NB_LOAD_PORT_REPLAY_SPLIT_LD,
	  &workload_split },
	{ "store_port_replay SPLIT_ST", NB_EVENT_STORE_PORT_REPLAY, NB_STORE_PORT_REPLAY_SPLIT_ST,
	  &workload_split },
};
#define ACCESSES (sizeof(accesses) / sizeof(accesses[0]))

/*
 * NB-47  An event of micro-operations, page walks or split accesses must count those of its own
 *        kind and no others.
 *        SDM Table 19-28
 *
 * Given  page_walk_type with bit DTMISS, load_port_replay with bit SPLIT_LD and store_port_replay
 *        with bit SPLIT_ST, on each counter that can count them
 * When   a workload runs, each of whose rounds loads from, or store to, a page that isn't in the
 *        TLB, or whose rounds each load and store across a line's end; and loads and stores of one
 *        line
 * Then   the workloads with such accesses count at least one a round (an access that is executed in
 *        vain may count too), and the plain loads and stores nothing
 */
TEST(netburst, page_walk_and_split_events_count_their_accesses, REQS(NB_47), NEEDS(need_netburst))
{
	for (unsigned i = 0; i < ACCESSES; i++)
		for (unsigned c = 0; c < NB_COUNTERS; c++) {
			const struct access_event *a = &accesses[i];
			struct netburst_setting s = {
				.counter = c, .event = a->event, .mask = a->mask,
				.levels = netburst_every_level(),
			};

			if (!can_count(c, a->event))
				continue;
			CHECK_RANGE(t, NB_47, ROUNDS, ~0ULL, netburst_gain(&s, a->w, false),
				    "%s on counter %u", a->name, c);
			CHECK_EQ(t, NB_47, 0, netburst_gain(&s, &workload_load, false),
				 "%s on counter %u, loads of one line", a->name, c);
			CHECK_EQ(t, NB_47, 0, netburst_gain(&s, &workload_store, false),
				 "%s on counter %u, stores to one line", a->name, c);
		}
}
