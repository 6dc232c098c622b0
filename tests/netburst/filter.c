/* SPDX-License-Identifier: MIT */
/*
 * What a CCCR makes of its events: SDM "Filtering Events" (compare, complement, threshold, edge),
 * "Counting Clocks", and the active thread field of "CCCR MSRs". The loads of workload_sparse are
 * nineteen instructions apart, and three micro-operations retire in a clock, so that no clock has
 * two of them and no two clocks in a row have one.
 */
#include "kernel/processor/cpu.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/user.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"
#include "tests/measure/user_probe.h"

#define THRESHOLD(n)	((u64)(n) << NB_CCCR_THRESHOLD_SHIFT)
#define LONG		2000u	/* rounds: some ten thousands of clocks */

/* Loads of workload_sparse that this thread retires, filtered. */
static u64 gain_of_loads(u64 flags)
{
	struct netburst_setting s = netburst_metric(NB_METRIC_MEMORY_LOADS, 13,
						    netburst_both(netburst_thread()), flags);

	return netburst_gain(&s, &workload_sparse, false);
}

TEST(netburst, the_threshold_must_be_exceeded, REQS(NB_18), NEEDS(need_netburst))
{
	u64 loads = netburst_declared(&workload_sparse, WORKLOAD_LOADS);

	CHECK_EQ(t, NB_18, loads, gain_of_loads(0), "loads, not compared");
	CHECK_EQ(t, NB_18, loads, gain_of_loads(NB_CCCR_COMPARE),
		 "clocks with more than 0 loads");
	CHECK_EQ(t, NB_18, 0, gain_of_loads(NB_CCCR_COMPARE | THRESHOLD(1)),
		 "clocks with more than 1 load");
	CHECK_EQ(t, NB_18, 0, gain_of_loads(NB_CCCR_COMPARE | THRESHOLD(15)),
		 "clocks with more than 15 loads");
}

TEST(netburst, complement_and_threshold_need_compare, REQS(NB_18), NEEDS(need_netburst))
{
	u64 loads = netburst_declared(&workload_sparse, WORKLOAD_LOADS);

	CHECK_EQ(t, NB_18, loads, gain_of_loads(NB_CCCR_COMPLEMENT),
		 "loads with the complement flag alone");
	CHECK_EQ(t, NB_18, loads, gain_of_loads(THRESHOLD(15)), "loads with a threshold alone");
	CHECK_EQ(t, NB_18, 0, gain_of_loads(NB_CCCR_COMPARE | THRESHOLD(15)),
		 "clocks with more than 15 loads");
}

TEST(netburst, edge_needs_compare, REQS(NB_19), NEEDS(need_netburst))
{
	u64 loads = netburst_declared(&workload_sparse, WORKLOAD_LOADS);
	u64 always = NB_CCCR_COMPARE | NB_CCCR_COMPLEMENT | THRESHOLD(15);

	struct netburst_setting plain = netburst_instructions(13, netburst_both(netburst_thread()),
							      NB_CCCR_EDGE);

	/* Instructions retire in clocks that follow each other: not each is an edge. */
	CHECK_EQ(t, NB_19, netburst_declared(&workload_sparse, WORKLOAD_INSTRUCTIONS),
		 netburst_gain(&plain, &workload_sparse, false),
		 "instructions with the edge flag alone");
	CHECK_EQ(t, NB_19, loads, gain_of_loads(NB_CCCR_COMPARE | NB_CCCR_EDGE),
		 "rising edges of \"more than 0 loads\"");
	CHECK(t, NB_19, gain_of_loads(always) >= loads, "clocks with 15 loads or fewer");
	CHECK_EQ(t, NB_19, 0, gain_of_loads(always | NB_CCCR_EDGE),
		 "rising edges of \"15 loads or fewer\", which always holds");
}

/* Several counters over one window; they are started and stopped in the same order. */
static void count_together(const struct netburst_setting *s, unsigned count, u64 *value)
{
	for (unsigned i = 0; i < count; i++) {
		netburst_program(&s[i]);
		netburst_write(s[i].counter, 0);
	}
	for (unsigned i = 0; i < count; i++)
		netburst_start(s[i].counter);
	workload_run_uncounted(&workload_sparse, LONG);
	for (unsigned i = 0; i < count; i++)
		netburst_stop(s[i].counter);
	for (unsigned i = 0; i < count; i++)
		value[i] = netburst_read(s[i].counter);
}

/* An eighth of the window for the instructions between two starts or stops. */
static void check_about(struct test *t, struct test_claim claim, u64 about, u64 got,
			const char *what)
{
	test_check_range(t, claim, about - about / 8, about + about / 8, got, "%s", what);
}

TEST(netburst, complement_counts_the_other_clocks, REQS(NB_18), NEEDS(need_netburst))
{
	u64 who = netburst_both(netburst_thread()), value[3];
	u64 other = NB_CCCR_COMPARE | NB_CCCR_COMPLEMENT;
	struct netburst_setting s[3] = {
		netburst_instructions(12, who, NB_CCCR_COMPARE),
		netburst_instructions(13, who, other),
		netburst_instructions(16, who, other | THRESHOLD(15)),
	};

	count_together(s, 3, value);
	CHECK(t, NB_18, value[0] > LONG, "clocks with instructions: %lu", value[0]);
	check_about(t, AT(NB_18), value[2], value[0] + value[1],
		    "clocks with instructions and those with none, against all");
}

#define RETIRE_MOST	3u	/* micro-operations in a clock */
#define THRESHOLDS	16u

/* Each value of the field: no clock retires more than three, and so all retire no more. */
TEST(netburst, each_threshold_is_compared, REQS(NB_18), NEEDS(need_netburst))
{
	u64 who = netburst_both(netburst_thread()), value[2];
	struct netburst_setting s = { .counter = 12, .event = NB_EVENT_UOPS_RETIRED, .mask = 1,
				      .who = who, .flags = NB_CCCR_COMPARE };

	CHECK_RANGE(t, NB_18, 1, ~0ULL, netburst_gain(&s, &workload_mixed, false),
		    "clocks with more than 0 micro-operations");
	for (unsigned n = RETIRE_MOST; n < THRESHOLDS; n++) {
		struct netburst_setting other[2] = { s, s };

		s.flags = NB_CCCR_COMPARE | THRESHOLD(n);
		CHECK_EQ(t, NB_18, 0, netburst_gain(&s, &workload_mixed, false),
			 "clocks with more than %u micro-operations", n);
		other[0].flags = s.flags | NB_CCCR_COMPLEMENT;
		other[1].counter = 13;
		other[1].flags = NB_CCCR_COMPARE | NB_CCCR_COMPLEMENT | THRESHOLD(15);
		count_together(other, 2, value);
		CHECK_RANGE(t, NB_18, value[1] - value[1] / 8, value[1] + value[1] / 8, value[0],
			    "clocks with %u micro-operations or fewer, against those with 15 or "
			    "fewer", n);
	}
}

/* "The counter counts every clock", whatever qualifies in the ESCR: here nothing does. */
TEST(netburst, threshold_15_complemented_counts_every_clock, REQS(NB_18), NEEDS(need_netburst))
{
	u64 flags = NB_CCCR_COMPARE | NB_CCCR_COMPLEMENT | THRESHOLD(15), value[4];
	struct netburst_setting s[4] = {
		netburst_usual(0, netburst_everyone(), 0),
		netburst_instructions(12, 0, flags),
		netburst_instructions(14, netburst_everyone(), flags),
		netburst_usual(8, 0, flags),
	};

	count_together(s, 4, value);
	CHECK(t, NB_18, value[0] > LONG, "clocks by global_power_events: %lu", value[0]);
	check_about(t, AT(NB_18), value[0], value[1], "IQ counter 0, no flag in its ESCR");
	check_about(t, AT(NB_18), value[0], value[2], "IQ counter 2, all flags in its ESCR");
	check_about(t, AT(NB_18), value[0], value[3], "FLAME counter 0, no flag in its ESCR");
	CHECK_EQ(t, NB_18, 0, netburst_count(&(struct netburst_setting){
			.counter = 12, .event = s[1].event, .mask = s[1].mask },
			&workload_sparse, LONG, false), "without compare and no flag");
}

/* Edges that counter 0 has when it is started at CPL 0, then at CPL 3, and back at CPL 0; the
 * condition is about clocks of this thread at CPL 3. */
static void count_at_levels(u64 flags, u64 edges[3])
{
	struct netburst_setting s = netburst_usual(0, netburst_thread() ? NB_ESCR_T1_USR :
							NB_ESCR_T0_USR, flags);
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

/* Where a condition begins its complement ends: read in between, they tell each other apart. */
TEST(netburst, edges_of_a_complement_are_its_own, REQS(NB_18, NB_19), NEEDS(need_netburst),
     .under_every_fault = true)
{
	u64 condition = NB_CCCR_COMPARE | NB_CCCR_EDGE, edges[3];

	count_at_levels(condition, edges);
	CHECK_EQ(t, NB_19, 1, edges[1] - edges[0],
		 "rising edges of \"more than 0 clocks at CPL 3\" on the way to CPL 3");
	CHECK_EQ(t, NB_19, 0, edges[2] - edges[1], "on the way back");
	count_at_levels(condition | NB_CCCR_COMPLEMENT, edges);
	CHECK_EQ(t, NB_19, 0, edges[1] - edges[0],
		 "rising edges of \"0 clocks at CPL 3\" on the way to CPL 3");
	CHECK_EQ(t, NB_18, 1, edges[2] - edges[1], "on the way back");
}

/* CCCR[17:16]: none, one, both, any. */
struct active {
	bool asleep;	/* the other thread: it may be late in going to sleep */
	u64 gain[4];
};

static void count_active(void *arg)
{
	struct active *active = arg;

	for (unsigned i = 0; i < 4; i++) {
		struct netburst_setting s =
			netburst_metric(NB_METRIC_PACKED_SP_RETIRED, 16, netburst_everyone(), 0);

		s.without = (u64)(3 - i) << NB_CCCR_ACTIVE_THREAD_SHIFT;
		active->gain[i] = active->asleep ?
			netburst_gain(&s, &workload_packed, false) :
			netburst_gain_once(&s, &workload_packed, false);
	}
}

/* want: in the order of the field's values. */
static void check_active(struct test *t, unsigned thread, enum netburst_other other,
			 const bool want[4], const char *what)
{
	static const char *const names[4] = { "none", "one", "both", "any" };
	static struct active active;

	active.asleep = other == NETBURST_ASLEEP;
	if (!netburst_run(t, thread, other, count_active, &active))
		return;
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(t, NB_32,
			 want[i] ? netburst_declared(&workload_packed, WORKLOAD_BRANCHES) : 0,
			 active.gain[i], "active thread field \"%s\", %s", names[i], what);
}

static const bool one_or_any[4] = { false, true, false, true };
static const bool both_or_any[4] = { false, false, true, true };

TEST(netburst, a_halted_thread_is_inactive, REQS(NB_32), NEEDS(need_netburst_threads))
{
	check_active(t, netburst_thread(), NETBURST_ASLEEP, one_or_any, "the other one in HLT");
}

TEST(netburst, active_thread_field_is_honoured, REQS(NB_32),
     NEEDS(need_netburst, need_sibling_thread))
{
	for (unsigned thread = 0; thread < 2; thread++) {
		check_active(t, thread, NETBURST_ASLEEP, one_or_any, "the other one in HLT");
		check_active(t, thread, NETBURST_IN_OS, both_or_any, "the other one at CPL 0");
		check_active(t, thread, NETBURST_IN_USR, both_or_any, "the other one at CPL 3");
	}
}
