/* SPDX-License-Identifier: MIT */
/*
 * The filters of a CCCR: SDM "Filtering Events" (compare, complement, threshold, edge), "Counting
 * Clocks", and the active thread field of "CCCR MSRs". The loads of workload_sparse are nineteen
 * instructions apart, and three micro-operations retire in a clock, so that no clock has two of
 * them and no two clocks in a row have one.
 */
#include "kernel/processor/cpu.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/user.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"
#include "tests/measure/user_probe.h"

#define THRESHOLD(n)	((u64)(n) << NB_CCCR_THRESHOLD_SHIFT)
#define THRESHOLD_MOST	15u	/* maximum of CCCR[23:20] */
#define LONG		2000u	/* rounds: some ten thousands of clocks */
#define SWITCHED	8u	/* a fraction: instructions between two starts or stops */

/* Loads of workload_sparse that this thread retires, with a filter, on this counter of the IQ
 * group. */
static u64 gain_of_loads_on(unsigned counter, u64 flags)
{
	struct netburst_setting s = netburst_metric(NB_METRIC_MEMORY_LOADS, counter,
						    netburst_both(netburst_thread()), flags);

	return netburst_gain(&s, &workload_sparse, false);
}

static u64 gain_of_loads(u64 flags)
{
	return gain_of_loads_on(NB_IQ_COUNTER1, flags);
}

/*
 * NB-18  With the compare flag set a counter must count 1 when its input is greater than the
 *        threshold, or with the complement flag when it is less or equal.
 *        SDM 18.15.5.2 Filtering Events
 *
 * Given  tagged loads of a workload in which no clock has two, with the compare flag
 * When   the threshold is 0 (on each counter of the IQ group), 1 and 15
 * Then   every load is one clock with more than 0; no clock has more than 1, or more than 15
 * Control: without the compare flag the loads are counted
 */
TEST(netburst, compare_counts_clocks_with_more_events_than_the_threshold, REQS(NB_18),
     NEEDS(need_netburst))
{
	u64 loads = netburst_declared(&workload_sparse, WORKLOAD_LOADS);

	CONTROL_EQ(t, NB_18, loads, gain_of_loads(0), "loads, not compared");
	for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++)
		CHECK_EQ(t, NB_18, loads, gain_of_loads_on(c, NB_CCCR_COMPARE),
			 "clocks with more than 0 loads, counter %u", c);
	CHECK_EQ(t, NB_18, 0, gain_of_loads(NB_CCCR_COMPARE | THRESHOLD(1)),
		 "clocks with more than 1 load");
	CHECK_EQ(t, NB_18, 0, gain_of_loads(NB_CCCR_COMPARE | THRESHOLD(THRESHOLD_MOST)),
		 "clocks with more than 15 loads");
}

/*
 * NB-18  With the compare flag set a counter must count 1 when its input is greater than the
 *        threshold, or with the complement flag when it is less or equal.
 *        SDM 18.15.5.2 Filtering Events
 *
 * Given  tagged loads, the compare flag clear
 * When   the complement flag is set, or threshold 15
 * Then   every load is counted
 * Control: with the compare flag and threshold 15 nothing is counted
 */
TEST(netburst, complement_and_threshold_have_no_effect_without_compare, REQS(NB_18),
     NEEDS(need_netburst))
{
	u64 loads = netburst_declared(&workload_sparse, WORKLOAD_LOADS);

	CHECK_EQ(t, NB_18, loads, gain_of_loads(NB_CCCR_COMPLEMENT),
		 "loads with the complement flag alone");
	CHECK_EQ(t, NB_18, loads, gain_of_loads(THRESHOLD(THRESHOLD_MOST)),
		 "loads with a threshold alone");
	CONTROL_EQ(t, NB_18, 0, gain_of_loads(NB_CCCR_COMPARE | THRESHOLD(THRESHOLD_MOST)),
		   "clocks with more than 15 loads");
}

/*
 * NB-19  The edge flag must have no effect without the compare flag, and with it must count rising
 *        edges of the threshold's output only.
 *        SDM 18.15.5.2 Filtering Events
 *
 * Given  instructions, which retire in clocks that follow each other, and tagged loads, of which no
 *        two successive clocks have one
 * When   the edge flag is set without the compare flag, with it (on each counter of the IQ
 *        group), and with it on a condition that always holds
 * Then   without the compare flag every instruction is counted; with it each load is a rising
 *        edge; a condition that always holds has none
 * Control: without the edge flag the condition that always holds counts clocks
 */
TEST(netburst, edge_flag_counts_edges_only_with_compare, REQS(NB_19), NEEDS(need_netburst))
{
	u64 loads = netburst_declared(&workload_sparse, WORKLOAD_LOADS);
	u64 always = NB_CCCR_COMPARE | NB_CCCR_COMPLEMENT | THRESHOLD(THRESHOLD_MOST);

	struct netburst_setting plain = netburst_instructions(NB_IQ_COUNTER1,
							      netburst_both(netburst_thread()),
							      NB_CCCR_EDGE);

	/* Instructions retire in consecutive clocks: not every one of them is an edge. */
	CHECK_EQ(t, NB_19, netburst_declared(&workload_sparse, WORKLOAD_INSTRUCTIONS),
		 netburst_gain(&plain, &workload_sparse, false),
		 "instructions with the edge flag alone");
	for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++)
		CHECK_EQ(t, NB_19, loads, gain_of_loads_on(c, NB_CCCR_COMPARE | NB_CCCR_EDGE),
			 "rising edges of \"more than 0 loads\", counter %u", c);
	CONTROL(t, NB_19, gain_of_loads(always) >= loads, "clocks with 15 loads or fewer");
	CHECK_EQ(t, NB_19, 0, gain_of_loads(always | NB_CCCR_EDGE),
		 "rising edges of \"15 loads or fewer\", which always holds");
}

/* Count several settings over one window; counters start and stop in the same order. */
static void count_together_of(const struct workload *w, const struct netburst_setting *s,
			      unsigned count, u64 *value)
{
	for (unsigned i = 0; i < count; i++) {
		netburst_program(&s[i]);
		netburst_write(s[i].counter, 0);
	}
	for (unsigned i = 0; i < count; i++)
		netburst_start(s[i].counter);
	workload_run_uncounted(w, LONG);
	for (unsigned i = 0; i < count; i++)
		netburst_stop(s[i].counter);
	for (unsigned i = 0; i < count; i++)
		value[i] = netburst_read(s[i].counter);
}

static void count_together(const struct netburst_setting *s, unsigned count, u64 *value)
{
	count_together_of(&workload_sparse, s, count, value);
}

static void check_about(struct test *t, struct test_claim claim, u64 about, u64 got,
			const char *what)
{
	test_check_range(t, claim, about - about / SWITCHED, about + about / SWITCHED, got, "%s",
			 what);
}

/*
 * NB-18  With the compare flag set a counter must count 1 when its input is greater than the
 *        threshold, or with the complement flag when it is less or equal.
 *        SDM 18.15.5.2 Filtering Events
 *
 * Given  three counters over one window: clocks with instructions, clocks with none, and all
 *        clocks
 * When   a workload runs
 * Then   the first two add up to the third, within an eighth for the instructions that switch
 * Control: there are more clocks with instructions than rounds
 */
TEST(netburst, complement_counts_the_clocks_that_compare_does_not, REQS(NB_18),
     NEEDS(need_netburst))
{
	u64 levels = netburst_both(netburst_thread()), value[3];
	u64 other = NB_CCCR_COMPARE | NB_CCCR_COMPLEMENT;
	struct netburst_setting s[3] = {
		netburst_instructions(NB_IQ_COUNTER0, levels, NB_CCCR_COMPARE),
		netburst_instructions(NB_IQ_COUNTER1, levels, other),
		netburst_instructions(NB_IQ_COUNTER4, levels, other | THRESHOLD(THRESHOLD_MOST)),
	};

	count_together(s, 3, value);
	CONTROL(t, NB_18, value[0] > LONG, "clocks with instructions: %lu", value[0]);
	check_about(t, AT(NB_18), value[2], value[0] + value[1],
		    "clocks with instructions and those with none, against all");
}

/*
 * NB-18  With the compare flag set a counter must count 1 when its input is greater than the
 *        threshold, or with the complement flag when it is less or equal.
 *        SDM 18.15.5.2 Filtering Events
 *
 * Given  uops_retired on four counters over one window: clocks with more than 0, clocks with 0, all
 *        clocks, and the micro-operations themselves
 * When   locked additions retire, which are several micro-operations each
 * Then   the first two add up to the third, within an eighth for the instructions that switch: a
 *        clock with several micro-operations counts 1
 * Control: there are clocks with more than 0, and more micro-operations than such clocks
 */
TEST(netburst, compare_counts_one_for_a_clock_with_several_events, REQS(NB_18),
     NEEDS(need_netburst))
{
	enum { WITH, WITHOUT, CLOCKS, UOPS, COUNTED };
	static const struct {
		unsigned counter;
		u64 flags;
	} settings[COUNTED] = {
		[WITH] = { NB_IQ_COUNTER0, NB_CCCR_COMPARE },
		[WITHOUT] = { NB_IQ_COUNTER1, NB_CCCR_COMPARE | NB_CCCR_COMPLEMENT },
		[CLOCKS] = { NB_IQ_COUNTER4,
			     NB_CCCR_COMPARE | NB_CCCR_COMPLEMENT | THRESHOLD(THRESHOLD_MOST) },
		[UOPS] = { NB_IQ_COUNTER2, 0 },
	};
	struct netburst_setting s[COUNTED];
	u64 value[COUNTED];

	for (unsigned i = 0; i < COUNTED; i++)
		s[i] = (struct netburst_setting){ .counter = settings[i].counter,
						  .event = NB_EVENT_UOPS_RETIRED,
						  .mask = NB_UOPS_RETIRED_NBOGUS,
						  .levels = netburst_both(netburst_thread()),
						  .flags = settings[i].flags };
	count_together_of(&workload_lock, s, COUNTED, value);
	CONTROL_RANGE(t, NB_18, LONG, value[UOPS] - 1, value[WITH],
		      "clocks with micro-operations, of which %lu retire", value[UOPS]);
	check_about(t, AT(NB_18), value[CLOCKS], value[WITH] + value[WITHOUT],
		    "clocks with micro-operations and those with none, against all");
}

#define RETIRE_MOST	3u	/* micro-operations that retire in a clock */

/*
 * NB-18  With the compare flag set a counter must count 1 when its input is greater than the
 *        threshold, or with the complement flag when it is less or equal.
 *        SDM 18.15.5.2 Filtering Events
 *
 * Given  uops_retired with the compare flag; no clock retires more than three micro-operations
 * When   the threshold is 3 to 15, with and without the complement flag
 * Then   no clock has more than the threshold; the clocks with as many or fewer are all clocks,
 *        within an eighth
 * Control: some clock has more than 0
 */
TEST(netburst, compare_holds_for_each_value_of_the_threshold, REQS(NB_18), NEEDS(need_netburst))
{
	u64 levels = netburst_both(netburst_thread()), value[2];
	struct netburst_setting s = { .counter = NB_IQ_COUNTER0, .event = NB_EVENT_UOPS_RETIRED,
				      .mask = NB_UOPS_RETIRED_NBOGUS,
				      .levels = levels, .flags = NB_CCCR_COMPARE };

	CONTROL_RANGE(t, NB_18, 1, ~0ULL, netburst_gain(&s, &workload_mixed, false),
		      "clocks with more than 0 micro-operations");
	for (unsigned n = RETIRE_MOST; n <= THRESHOLD_MOST; n++) {
		struct netburst_setting other[2] = { s, s };

		s.flags = NB_CCCR_COMPARE | THRESHOLD(n);
		CHECK_EQ(t, NB_18, 0, netburst_gain_once(&s, &workload_mixed, false),
			 "clocks with more than %u micro-operations", n);
		other[0].flags = s.flags | NB_CCCR_COMPLEMENT;
		other[1].counter = NB_IQ_COUNTER1;
		other[1].flags = NB_CCCR_COMPARE | NB_CCCR_COMPLEMENT | THRESHOLD(THRESHOLD_MOST);
		count_together(other, 2, value);
		CHECK_RANGE(t, NB_18, value[1] - value[1] / SWITCHED,
			    value[1] + value[1] / SWITCHED, value[0],
			    "clocks with %u micro-operations or fewer, against those with 15 or "
			    "fewer",
			    n);
	}
}

/*
 * NB-18  With the compare flag set a counter must count 1 when its input is greater than the
 *        threshold, or with the complement flag when it is less or equal.
 *        SDM 18.15.5.2 Filtering Events
 *
 * Given  counters of the IQ and FLAME groups with compare, complement and threshold 15, with no
 *        privilege flag or with all
 * When   a workload runs
 * Then   each counts every clock, as many as global_power_events on another counter, within an
 *        eighth: "the counter counts every clock", independent of the ESCR's qualification
 * Control: without the compare flag and with no privilege flag the count is zero
 */
TEST(netburst, threshold_15_complemented_counts_every_clock, REQS(NB_18), NEEDS(need_netburst))
{
	u64 flags = NB_CCCR_COMPARE | NB_CCCR_COMPLEMENT | THRESHOLD(THRESHOLD_MOST), value[4];
	struct netburst_setting s[4] = {
		netburst_usual(NB_BPU_COUNTER0, netburst_every_level(), 0),
		netburst_instructions(NB_IQ_COUNTER0, 0, flags),
		netburst_instructions(NB_IQ_COUNTER2, netburst_every_level(), flags),
		netburst_usual(NB_FLAME_COUNTER0, 0, flags),
	};

	count_together(s, 4, value);
	CONTROL(t, NB_18, value[0] > LONG, "clocks by global_power_events: %lu", value[0]);
	check_about(t, AT(NB_18), value[0], value[1], "IQ counter 0, no flag in its ESCR");
	check_about(t, AT(NB_18), value[0], value[2], "IQ counter 2, all flags in its ESCR");
	check_about(t, AT(NB_18), value[0], value[3], "FLAME counter 0, no flag in its ESCR");
	CONTROL_EQ(t, NB_18, 0,
		   netburst_count(&(struct netburst_setting){ .counter = NB_IQ_COUNTER0,
							      .event = s[1].event,
							      .mask = s[1].mask },
				  &workload_sparse, LONG, false),
		   "without compare and no flag");
}

/*
 * NB-18  With the compare flag set a counter must count 1 when its input is greater than the
 *        threshold, or with the complement flag when it is less or equal.
 * NB-19  The edge flag must have no effect without the compare flag, and with it must count rising
 *        edges of the threshold's output only.
 *        SDM 18.15.5.2 Filtering Events
 *
 * Given  each of the eighteen counters with the usual event of its group, of which no clock has
 *        more than 15
 * When   a workload runs: with compare alone, on counters of the MS and FLAME groups with edge too;
 *        with compare and threshold 15; with complement set too and no privilege flag; with edge
 *        added
 * Then   the first counts at least one clock in two rounds, and as many edges, because a round's
 *        branch or addition isn't next to that of the one before; the second counts nothing; the
 *        third every clock, as global_power_events does on another counter, within an eighth; the
 *        fourth has no more edges in more rounds
 * Control: without compare at least one event a round is counted
 */
TEST(netburst, each_counter_has_its_filters, REQS(NB_18, NB_19), NEEDS(need_netburst))
{
	const u64 none = NB_CCCR_COMPARE | THRESHOLD(THRESHOLD_MOST);
	const u64 rounds = NETBURST_MORE - NETBURST_FEWER;

	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		struct netburst_setting s = netburst_usual(i, netburst_every_level(), 0), pair[2];
		u64 value[2];

		CONTROL_RANGE(t, IDS(NB_18, NB_19), NETBURST_MORE, ~0ULL,
			      netburst_count(&s, &workload_packed, NETBURST_MORE, false),
			      "counter %u, not compared", i);
		s.flags = NB_CCCR_COMPARE;
		CHECK_RANGE(t, NB_18, rounds / 2, ~0ULL,
			    netburst_gain_once(&s, &workload_packed, false),
			    "clocks with events of %lu rounds, counter %u", rounds, i);
		s.flags |= NB_CCCR_EDGE;
		if (i >= NB_MS_COUNTER0 && i < NB_IQ_COUNTER0)
			CHECK_RANGE(t, NB_19, rounds / 2, rounds,
				    netburst_gain_once(&s, &workload_packed, false),
				    "edges of %lu rounds, counter %u", rounds, i);
		s.flags = none;
		CHECK_EQ(t, NB_18, 0, netburst_count(&s, &workload_packed, NETBURST_MORE, false),
			 "clocks with more than 15 events, counter %u", i);
		s.levels = 0;
		s.flags = none | NB_CCCR_COMPLEMENT;
		pair[0] = netburst_usual(i < NB_BPU_COUNTER2 ? NB_BPU_COUNTER2 : NB_BPU_COUNTER0,
					 netburst_every_level(), 0);
		pair[1] = s;
		count_together_of(&workload_packed, pair, 2, value);
		check_about(t, AT(NB_18), value[0], value[1], "every clock, on each counter");
		s.flags |= NB_CCCR_EDGE;
		CHECK_EQ(t, NB_19, 0, netburst_gain_once(&s, &workload_packed, false),
			 "edges of a condition that always holds, counter %u", i);
	}
}

/* Edges that a counter of the BPU group has at three times: when it is started at CPL 0, then at
 * CPL 3, and after the return to CPL 0. The condition is: clocks of this thread at CPL 3. */
static void count_at_levels(unsigned counter, u64 flags, u64 edges[3])
{
	u64 own_usr = netburst_thread() ? NB_ESCR_T1_USR : NB_ESCR_T0_USR;
	struct netburst_setting s = netburst_usual(counter, own_usr, flags);
	struct user_probe *probe = user_probe_get();
	u64 cr4 = cr4_read();

	probe->ecx = s.counter;
	cr4_write(cr4 | CR4_PCE);
	netburst_program(&s);
	netburst_write(s.counter, 0);
	netburst_start(s.counter);
	edges[0] = rdpmc(s.counter);
	edges[1] = user_call(user_rdpmc, (u64)(uintptr_t)probe);
	edges[2] = rdpmc(s.counter);
	netburst_stop(s.counter);
	cr4_write(cr4);
}

/*
 * NB-18  With the compare flag set a counter must count 1 when its input is greater than the
 *        threshold, or with the complement flag when it is less or equal.
 * NB-19  The edge flag must have no effect without the compare flag, and with it must count rising
 *        edges of the threshold's output only.
 *        SDM 18.15.5.2 Filtering Events
 *
 * Given  each counter of the BPU group, of this thread's clocks at CPL 3, with compare and edge,
 *        and the same with the complement flag; it is read at CPL 0, at CPL 3, and at CPL 0
 *        again
 * When   the program goes to CPL 3 and comes back
 * Then   the condition has its edge on the transition to CPL 3 and none on the return, its
 *        complement the reverse
 */
TEST(netburst, edge_of_a_complement_comes_where_its_condition_ends, REQS(NB_18, NB_19),
     NEEDS(need_netburst), .under_every_fault = true)
{
	u64 condition = NB_CCCR_COMPARE | NB_CCCR_EDGE, edges[3];

	for (unsigned c = NB_BPU_COUNTER0; c < NB_MS_COUNTER0; c++) {
		count_at_levels(c, condition, edges);
		CHECK_EQ(t, NB_19, 1, edges[1] - edges[0],
			 "rising edges of \"more than 0 clocks at CPL 3\" on the way to CPL 3, "
			 "counter %u",
			 c);
		CHECK_EQ(t, NB_19, 0, edges[2] - edges[1], "on the way back, counter %u", c);
		count_at_levels(c, condition | NB_CCCR_COMPLEMENT, edges);
		CHECK_EQ(t, NB_19, 0, edges[1] - edges[0],
			 "rising edges of \"0 clocks at CPL 3\" on the way to CPL 3, counter %u",
			 c);
		CHECK_EQ(t, NB_18, 1, edges[2] - edges[1], "on the way back, counter %u", c);
	}
}

/* The edges of each group's event. BPU group: clocks at CPL 3, during a transition to CPL 3 and
 * back. IQ group: loads. Other groups: their usual event. */
static u64 edges_of(unsigned counter, u64 flags)
{
	struct netburst_setting s = netburst_usual(counter, netburst_every_level(), flags);
	u64 edges[3];

	if (counter < NB_MS_COUNTER0) {
		count_at_levels(counter, flags, edges);
		return edges[2] - edges[0];
	}
	if (counter < NB_IQ_COUNTER0)
		return netburst_gain_once(&s, &workload_packed, false);
	s = netburst_metric(NB_METRIC_MEMORY_LOADS, counter, netburst_both(netburst_thread()),
			    flags);
	return netburst_gain_once(&s, &workload_sparse, false);
}

/*
 * NB-18  With the compare flag set a counter must count 1 when its input is greater than the
 *        threshold, or with the complement flag when it is less or equal.
 * NB-19  The edge flag must have no effect without the compare flag, and with it must count rising
 *        edges of the threshold's output only.
 *        SDM 18.15.5.2 Filtering Events
 *
 * Given  each of the eighteen counters with compare alone, with edge too, and with the complement
 *        flag: of clocks at CPL 3 on the BPU group, of the usual event on the MS and FLAME groups,
 *        of which no clock has more than three, of loads on the IQ group, of which no clock has
 *        two
 * When   the threshold is 1, 2, 4 and 8, one bit of the field each; 4 and 8 on the MS and FLAME
 *        groups
 * Then   no clock has more than the threshold, and every clock has as many or fewer: none is
 *        counted with compare alone, and neither condition has an edge
 * Control: with threshold 0 both have edges
 */
TEST(netburst, each_counter_goes_by_each_bit_of_the_threshold, REQS(NB_18, NB_19),
     NEEDS(need_netburst), .deadline_ms = 20000)
{
	for (unsigned c = 0; c < NB_COUNTERS; c++)
		for (unsigned complement = 0; complement < 2; complement++) {
			const bool single = c < NB_MS_COUNTER0 || c >= NB_IQ_COUNTER0;
			const u64 flags = NB_CCCR_COMPARE | NB_CCCR_EDGE |
					  (complement ? NB_CCCR_COMPLEMENT : 0);

			CONTROL_RANGE(t, NB_19, 1, ~0ULL >> 1, edges_of(c, flags),
				      "edges, threshold 0, complement %u, counter %u", complement,
				      c);
			for (unsigned n = single ? 1 : RETIRE_MOST + 1; n <= THRESHOLD_MOST;
			     n *= 2) {
				CHECK_EQ(t, NB_19, 0, edges_of(c, flags | THRESHOLD(n)),
					 "edges, threshold %u, complement %u, counter %u", n,
					 complement, c);
				if (!complement)
					CHECK_EQ(t, NB_18, 0,
						 edges_of(c, NB_CCCR_COMPARE | THRESHOLD(n)),
						 "clocks with more than %u events, counter %u", n,
						 c);
			}
		}
}

static struct {
	u64 all, above, edges;
} filtered[NB_COUNTERS];

static void count_filtered(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		struct netburst_setting s = netburst_usual(i, netburst_both(netburst_thread()), 0);

		filtered[i].all = netburst_gain_once(&s, &workload_packed, false);
		s.flags = NB_CCCR_COMPARE | THRESHOLD(THRESHOLD_MOST);
		filtered[i].above = netburst_gain_once(&s, &workload_packed, false);
		s.flags |= NB_CCCR_COMPLEMENT | NB_CCCR_EDGE;
		filtered[i].edges = netburst_gain_once(&s, &workload_packed, false);
	}
}

/*
 * NB-18  With the compare flag set a counter must count 1 when its input is greater than the
 *        threshold, or with the complement flag when it is less or equal.
 * NB-19  The edge flag must have no effect without the compare flag, and with it must count rising
 *        edges of the threshold's output only.
 *        SDM 18.15.5.2 Filtering Events
 *
 * Given  each of the eighteen counters with its usual event, of T0 and then of T1, the other thread
 *        being halted
 * When   a workload runs: with compare and threshold 15; with complement and edge too
 * Then   the first counts nothing: no clock has more than 15 events; the second has no more edges
 *        in more rounds: its condition always holds
 * Control: without filters at least one event in two rounds is counted
 */
TEST(netburst, filters_hold_for_events_of_either_thread, REQS(NB_18, NB_19),
     NEEDS(need_netburst, need_sibling_thread))
{
	for (unsigned thread = 0; thread < 2; thread++) {
		if (!netburst_run(t, thread, NETBURST_ASLEEP, count_filtered, NULL))
			return;
		for (unsigned i = 0; i < NB_COUNTERS; i++) {
			CONTROL_RANGE(t, IDS(NB_18, NB_19), (NETBURST_MORE - NETBURST_FEWER) / 2,
				      ~0ULL >> 1, filtered[i].all, "counter %u on T%u", i, thread);
			CHECK_EQ(t, NB_18, 0, filtered[i].above,
				 "clocks with more than 15 events, counter %u on T%u", i, thread);
			CHECK_EQ(t, NB_19, 0, filtered[i].edges,
				 "edges of a condition that always holds, counter %u on T%u", i,
				 thread);
		}
	}
}

/*
 * NB-19  The edge flag must have no effect without the compare flag, and with it must count rising
 *        edges of the threshold's output only.
 *        SDM 18.15.5.2 Filtering Events
 *
 * Given  each counter of the MS, FLAME and IQ groups with a condition that always holds, beside its
 *        neighbour, whose condition begins with an event of each round; both with edge
 * When   a workload runs
 * Then   the first counts two edges at most, when counting begins and ends
 * Control: the neighbour counts at least one in two rounds
 */
TEST(netburst, edges_of_a_counter_are_those_of_its_own_condition, REQS(NB_19), NEEDS(need_netburst))
{
	const u64 own = netburst_both(netburst_thread()), edge = NB_CCCR_COMPARE | NB_CCCR_EDGE;

	for (unsigned i = NB_MS_COUNTER0; i < NB_COUNTERS; i++) {
		struct netburst_setting s[2] = {
			netburst_usual(i, own, edge | NB_CCCR_COMPLEMENT | NB_CCCR_THRESHOLD),
			netburst_usual(i ^ 1, own, edge),
		};
		u64 value[2];

		if (i >= NB_IQ_COUNTER0) {
			s[1].event = NB_EVENT_BRANCH_RETIRED;
			s[1].mask = NB_BRANCH_RETIRED_MMTP | NB_BRANCH_RETIRED_MMTM;
		}
		count_together_of(&workload_packed, s, 2, value);
		CONTROL_RANGE(t, NB_19, LONG / 2, ~0ULL, value[1], "edges of counter %u", i ^ 1);
		CHECK_RANGE(t, NB_19, 0, 2, value[0],
			    "edges of a condition that always holds, counter %u beside %u", i,
			    i ^ 1);
	}
}

#define FIELD_VALUES	4u	/* values of CCCR[17:16]: enum netburst_active */

struct active {
	bool asleep;	/* the other thread sleeps, though it may fall asleep late */
	u64 gain[NB_COUNTERS][FIELD_VALUES];
};

/* An event of workload_packed for each group: clocks; branches, which are as many as packed
 * additions; packed additions, directly or tagged. The other thread has its own clocks and
 * branches. */
static struct netburst_setting of_packed(unsigned counter)
{
	u64 levels = counter < NB_FLAME_COUNTER0 ? netburst_both(netburst_thread()) :
						   netburst_every_level();

	return counter < NB_IQ_COUNTER0 ?
		       netburst_usual(counter, levels, 0) :
		       netburst_metric(NB_METRIC_PACKED_SP_RETIRED, counter, levels, 0);
}

static void count_active(void *arg)
{
	struct active *active = arg;

	for (unsigned c = 0; c < NB_COUNTERS; c++)
		for (unsigned i = 0; i < FIELD_VALUES; i++) {
			struct netburst_setting s = of_packed(c);

			s.without = (u64)(NB_ACTIVE_ANY - i) << NB_CCCR_ACTIVE_THREAD_SHIFT;
			active->gain[c][i] = active->asleep || c < NB_MS_COUNTER0 ?
						     netburst_gain(&s, &workload_packed, false) :
						     netburst_gain_once(&s, &workload_packed,
									false);
		}
}

/* want: in the order of the field's values. */
static void check_active(struct test *t, unsigned thread, enum netburst_other other,
			 const bool want[FIELD_VALUES], const char *what)
{
	static const char *const names[FIELD_VALUES] = { "none", "one", "both", "any" };
	static struct active active;

	active.asleep = other == NETBURST_ASLEEP;
	if (!netburst_run(t, thread, other, count_active, &active))
		return;
	for (unsigned c = 0; c < NB_COUNTERS; c++)
		for (unsigned i = 0; i < FIELD_VALUES; i++) {
			const u64 declared = netburst_declared(&workload_packed, WORKLOAD_BRANCHES);
			/* At most three instructions retire in a clock. */
			const u64 most = c < NB_MS_COUNTER0 ? ~0ULL : declared;

			CHECK_RANGE(t, NB_32, want[i] ? declared : 0, want[i] ? most : 0,
				    active.gain[c][i],
				    "active thread field \"%s\" of counter %u, %s", names[i], c,
				    what);
		}
}

static const bool one_or_any[FIELD_VALUES] = { false, true, false, true };
static const bool both_or_any[FIELD_VALUES] = { false, false, true, true };

/*
 * NB-32  The active thread field of a CCCR must make the counter count while none, one, both or
 *        any of the logical processors are active, a halted one being inactive.
 *        SDM 18.16.2 CCCR MSRs
 *
 * Given  clocks of this thread on each counter of the BPU group, its branches on those of the MS
 *        group, packed additions on those of the FLAME and IQ groups; the active thread field has
 *        each of its values: none, one, both, any
 * When   the other thread is in HLT
 * Then   they are counted with "one" and "any", at least one clock a round, and not with "none" and
 *        "both"
 */
TEST(netburst, active_thread_field_takes_a_halted_thread_as_inactive, REQS(NB_32),
     NEEDS(need_netburst_threads))
{
	check_active(t, netburst_thread(), NETBURST_ASLEEP, one_or_any, "the other one in HLT");
}

/*
 * NB-32  The active thread field of a CCCR must make the counter count while none, one, both or
 *        any of the logical processors are active, a halted one being inactive.
 *        SDM 18.16.2 CCCR MSRs
 *
 * Given  clocks, branches and packed additions of either thread as in the previous test, on each
 *        counter, with each value of the active thread field: none, one, both, any
 * When   the other thread is in HLT, busy at CPL 0, or busy at CPL 3
 * Then   while the other thread is in HLT they are counted with "one" and "any" alone; while it is
 *        busy with "both" and "any" alone
 */
TEST(netburst, active_thread_field_counts_by_the_active_threads, REQS(NB_32),
     NEEDS(need_netburst, need_sibling_thread))
{
	for (unsigned thread = 0; thread < 2; thread++) {
		check_active(t, thread, NETBURST_ASLEEP, one_or_any, "the other one in HLT");
		check_active(t, thread, NETBURST_IN_OS, both_or_any, "the other one at CPL 0");
		check_active(t, thread, NETBURST_IN_USR, both_or_any, "the other one at CPL 3");
	}
}
