/* SPDX-License-Identifier: MIT */
/*
 * Counters that start each other: SDM "Performance Counters" and "Cascading Counters" (pairs of one
 * group), "Extended Cascading" with Table 18-65. The waiting counter and the counter whose overflow
 * it waits for both count the usual event of their group. So if the first overflows in the middle
 * of a window, the second counts the rest of the window.
 */
#include "pmu/pmi.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"

#define NO	0xffu	/* no extended cascading */
#define ROUNDS		300u
#define MANY_ROUNDS	1000u

/* "Each counter group has pairs": the counter whose overflow starts counter n. */
static const u8 alternate[NB_COUNTERS] = { 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9,
					   14, 15, 12, 13, 14, 15 };
/* Table 18-65: CASCNT4INTO0, CASCNT5INTO3, CASCNT5INTO4, CASCNT4INTO5. */
static const u8 extended[NB_COUNTERS] = { NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
				 16, NO, NO, 17, 17, 16 };
/* The first counter of the counter's group; the first counter of the next group. */
static const u8 group[NB_COUNTERS] = { 0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12, 12, 12 };
static const u8 group_end[NB_COUNTERS] = { 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12,
					   18, 18, 18, 18, 18, 18 };

/* Every pair of a waiting counter and its cause: pairs of the cascade flag, then those of Table
 * 18-65. */
struct link {
	unsigned waiting, from;
	u64 flag;
};
#define LINKS	(NB_COUNTERS + 4u)

static struct link link_of(unsigned n)
{
	unsigned i = NB_IQ_COUNTER0;

	if (n < NB_COUNTERS)
		return (struct link){ n, alternate[n], NB_CCCR_CASCADE };
	for (n -= NB_COUNTERS; extended[i] == NO || n--;)
		i++;
	return (struct link){ i, extended[i], NB_CCCR_EXTENDED_CASCADE };
}

/* Rounds of a window: many, if the counter's event is clocks, which also count between two
 * WRMSRs. */
static u64 rounds_of(unsigned counter)
{
	return counter < NB_MS_COUNTER0 ? MANY_ROUNDS : ROUNDS;
}

static u64 half_of(unsigned counter)
{
	return rounds_of(counter) / 2;
}

/* Events of this thread only, because the other thread sometimes wakes. */
static struct netburst_setting usual(unsigned counter, u64 flags)
{
	return netburst_usual(counter, netburst_both(netburst_thread()), flags);
}

/* Run a window with both counters. The waiting counter starts at 0, or overflows on its nth event.
 * Returns its value. */
static u64 cascade_window_until(unsigned from, unsigned waiting, u64 nth)
{
	netburst_preset(waiting, nth);
	netburst_start(from);
	workload_run_uncounted(&workload_packed, rounds_of(from));
	netburst_stop(from);
	netburst_stop(waiting);
	return netburst_read(waiting);
}

static u64 cascade_window(unsigned from, unsigned waiting)
{
	return cascade_window_until(from, waiting, 0);
}

/* `from` has these flags of a CCCR, counts and overflows on its nth event; `waiting` has this
 * flag. */
static void cascade_program_with(unsigned from, u64 flags, u64 nth, unsigned waiting, u64 flag)
{
	struct netburst_setting first = usual(from, flags);
	struct netburst_setting second = usual(waiting, flag);

	netburst_program(&first);
	netburst_preset(from, nth);
	netburst_program(&second);
}

static void cascade_program(unsigned from, u64 nth, unsigned waiting, u64 flag)
{
	cascade_program_with(from, 0, nth, waiting, flag);
}

/* The events that the waiting counter has counted after the overflow. */
static u64 cascade_with(unsigned from, u64 flags, u64 nth, unsigned waiting, u64 flag)
{
	u64 counted;

	cascade_program_with(from, flags, nth, waiting, flag);
	counted = cascade_window(from, waiting);
	netburst_reset();
	return counted;
}

static u64 cascade(unsigned from, u64 nth, unsigned waiting, u64 flag)
{
	return cascade_with(from, 0, nth, waiting, flag);
}

/* The counter's events in the window. */
static u64 events_of(unsigned counter)
{
	struct netburst_setting s = usual(counter, 0);

	netburst_program(&s);
	netburst_write(counter, 0);
	netburst_start(counter);
	workload_run_uncounted(&workload_packed, rounds_of(counter));
	netburst_stop(counter);
	return netburst_read(counter);
}

/* The waiting counter must count half of the window, within a half of that: instructions that start
 * and stop counters, and clocks, differ from run to run. The control is that there are events. */
static void check_starts_with(struct test *t, struct test_claim claim, unsigned from, u64 flags,
			      unsigned waiting, u64 flag)
{
	u64 all = events_of(from), rounds = rounds_of(from);

	if (!test_check(t, test_control(claim), all >= rounds, "as many events as rounds",
			"counter %u counts %lu of %lu rounds", from, all, rounds))
		return;
	test_check_range(t, claim, all / 4, all - all / 4,
			 cascade_with(from, flags, all / 2, waiting, flag),
			 "counter %u, counter %u with CCCR flags %#lx overflowing on event %lu of "
			 "%lu",
			 waiting, from, flags, all / 2, all);
}

static void check_starts(struct test *t, struct test_claim claim, unsigned from, unsigned waiting,
			 u64 flag)
{
	check_starts_with(t, claim, from, 0, waiting, flag);
}

/*
 * NB-09  With its cascade flag set a counter must start when its alternate counter of the same
 *        group overflows.
 *        SDM 18.16.2 CCCR MSRs, 18.15.5.6 Cascading Counters
 *
 * Given  each of the eighteen counters waits with its cascade flag set, and its alternate counter
 *        of the same group counts
 * When   the alternate counter overflows in the middle of a window
 * Then   the waiting counter has counted about half of the window's events; a difference of a
 *        quarter is allowed for the instructions that switch
 * Control: without the cascade flag it counts nothing
 */
TEST(netburst, cascaded_counter_starts_when_its_alternate_overflows, REQS(NB_09),
     NEEDS(need_netburst))
{
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		check_starts(t, AT(NB_09), alternate[i], i, NB_CCCR_CASCADE);
		CONTROL_EQ(t, NB_09, 0, cascade(alternate[i], half_of(i), i, 0),
			   "counter %u without the flag, counter %u overflowing", i, alternate[i]);
	}
}

/*
 * NB-22  With its cascade flag set a counter must not count before its alternate counter has
 *        overflowed.
 *        SDM 18.16.2 CCCR MSRs
 *
 * Given  each of the eighteen counters waits with its cascade flag set, and its alternate counter
 *        counts
 * When   the alternate counter doesn't overflow
 * Then   the waiting counter counts nothing
 * Control: when the alternate counter overflows it counts
 */
TEST(netburst, cascaded_counter_waits_until_its_alternate_overflows, REQS(NB_22),
     NEEDS(need_netburst))
{
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		CHECK_EQ(t, NB_22, 0, cascade(alternate[i], NETBURST_NEVER, i, NB_CCCR_CASCADE),
			 "counter %u, counter %u not overflowing", i, alternate[i]);
		check_starts(t, CONTROL_AT(NB_22), alternate[i], i, NB_CCCR_CASCADE);
	}
}

/*
 * NB-09  With its cascade flag set a counter must start when its alternate counter of the same
 *        group overflows.
 *        SDM 18.16.2 CCCR MSRs, 18.15.5.6 Cascading Counters
 *
 * Given  each of the eighteen counters waits with its cascade flag set
 * When   each other counter of its group that isn't its alternate overflows: 14 starts 16, but 16
 *        doesn't start 14, nor does 12 start 16
 * Then   the waiting counter counts nothing
 * Control: counter 14 starts counter 16
 */
TEST(netburst, cascaded_counter_starts_by_its_alternate_alone, REQS(NB_09), NEEDS(need_netburst))
{
	for (unsigned i = 0; i < NB_COUNTERS; i++)
		for (unsigned from = group[i]; from < group_end[i]; from++) {
			if (from == i || from == alternate[i])
				continue;
			CHECK_EQ(t, NB_09, 0, cascade(from, half_of(from), i, NB_CCCR_CASCADE),
				 "counter %u, counter %u overflowing", i, from);
		}
	check_starts(t, CONTROL_AT(NB_09), NB_IQ_COUNTER2, NB_IQ_COUNTER4, NB_CCCR_CASCADE);
}

/*
 * NB-09  With its cascade flag set a counter must start when its alternate counter of the same
 *        group overflows.
 *        SDM 18.16.2 CCCR MSRs, 18.15.5.6 Cascading Counters
 * NB-33  With bit 11 of its CCCR set an IQ counter must start when the counter that Table 18-65
 *        names overflows.
 *        SDM 18.15.5.7 Extended Cascading, Table 18-65
 *
 * Given  each counter that waits for another one, by its cascade flag or by Table 18-65; the other
 *        counter has OVF_PMI_T0, OVF_PMI_T1, and both, while LVTPC is masked
 * When   that counter overflows in the middle of a window
 * Then   the waiting counter has counted about half of the window's events
 * Control: there are as many events as rounds
 */
TEST(netburst, counter_that_asks_for_interrupts_starts_those_that_wait_for_it, REQS(NB_09, NB_33),
     NEEDS(need_netburst_threads))
{
	static const u64 asks[] = { NB_CCCR_OVF_PMI_T0, NB_CCCR_OVF_PMI_T1,
				    NB_CCCR_OVF_PMI_T0 | NB_CCCR_OVF_PMI_T1 };

	for (unsigned n = 0; n < LINKS; n++) {
		const struct link l = link_of(n);

		for (unsigned i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
			check_starts_with(t,
					  l.flag == NB_CCCR_CASCADE ? AT(NB_09) : AT(NB_33),
					  l.from, asks[i], l.waiting, l.flag);
			/* An interrupt that waits in LVTPC, which was masked, comes now. */
			pmi_open(NULL);
			pmi_end();
		}
	}
}

/* Run two windows, in which `from` overflows on these events. Between them only writes that stop
 * and preset both counters are done. Returns the count of the waiting counter in the second
 * window. */
static u64 cascade_again(const struct link *l, u64 nth, u64 nth_again)
{
	u64 counted;

	cascade_program(l->from, nth, l->waiting, l->flag);
	cascade_window(l->from, l->waiting);
	netburst_clear(l->from);
	netburst_preset(l->from, nth_again);
	counted = cascade_window(l->from, l->waiting);
	netburst_reset();
	return counted;
}

/*
 * NB-09  With its cascade flag set a counter must start when its alternate counter of the same
 *        group overflows.
 *        SDM 18.16.2 CCCR MSRs, 18.15.5.6 Cascading Counters
 * NB-22  With its cascade flag set a counter must not count before its alternate counter has
 *        overflowed.
 *        SDM 18.16.2 CCCR MSRs
 * NB-33  With bit 11 of its CCCR set an IQ counter must start when the counter that Table 18-65
 *        names overflows.
 *        SDM 18.15.5.7 Extended Cascading, Table 18-65
 *
 * Given  each of the eighteen counters has been started by its alternate counter, or by the one
 *        of Table 18-65; then its CCCR is written with the enable flag 0 and the cascade flag 1, or
 *        bit 11, as before the first time
 * When   in a second window the first counter overflows in the middle, or doesn't overflow
 * Then   the waiting counter has counted about half of the window's events, or nothing
 */
TEST(netburst, cascaded_counter_waits_for_the_next_overflow_and_starts_again,
     REQS(NB_09, NB_22, NB_33), NEEDS(need_netburst))
{
	for (unsigned n = 0; n < LINKS; n++) {
		const struct link l = link_of(n);
		const bool by_flag = l.flag == NB_CCCR_CASCADE;
		const u64 all = events_of(l.from);

		test_check_range(t, by_flag ? AT(NB_09) : AT(NB_33), all / 4, all - all / 4,
				 cascade_again(&l, all / 2, all / 2),
				 "counter %u, counter %u overflowing again on event %lu of %lu",
				 l.waiting, l.from, all / 2, all);
		test_check_eq(t, by_flag ? AT(NB_22) : AT(NB_33), 0,
			      cascade_again(&l, all / 2, NETBURST_NEVER),
			      "counter %u, counter %u not overflowing again", l.waiting, l.from);
	}
}

/*
 * NB-09  With its cascade flag set a counter must start when its alternate counter of the same
 *        group overflows.
 *        SDM 18.16.2 CCCR MSRs, 18.15.5.6 Cascading Counters
 * NB-33  With bit 11 of its CCCR set an IQ counter must start when the counter that Table 18-65
 *        names overflows.
 *        SDM 18.15.5.7 Extended Cascading, Table 18-65
 *
 * Given  each of the eighteen counters waits with its cascade flag set, or four with bit 11
 * When   the counter that it waits for overflows on each of its events (FORCE_OVF)
 * Then   the waiting counter counts on: at least three quarters of the window's events
 */
TEST(netburst, cascaded_counter_counts_on_when_its_alternate_overflows_again, REQS(NB_09, NB_33),
     NEEDS(need_netburst))
{
	for (unsigned n = 0; n < LINKS; n++) {
		const struct link l = link_of(n);
		struct netburst_setting first = usual(l.from, NB_CCCR_FORCE_OVF);
		struct netburst_setting second = usual(l.waiting, l.flag);
		u64 all = events_of(l.from);

		netburst_program(&first);
		netburst_preset(l.from, NETBURST_NEVER);
		netburst_program(&second);
		test_check_range(t, l.flag == NB_CCCR_CASCADE ? AT(NB_09) : AT(NB_33),
				 all - all / 4, all + all / 4, cascade_window(l.from, l.waiting),
				 "counter %u, counter %u overflowing on each of %lu events",
				 l.waiting, l.from, all);
		netburst_reset();
	}
}

/*
 * NB-09  With its cascade flag set a counter must start when its alternate counter of the same
 *        group overflows.
 *        SDM 18.16.2 CCCR MSRs, 18.15.5.6 Cascading Counters
 * NB-33  With bit 11 of its CCCR set an IQ counter must start when the counter that Table 18-65
 *        names overflows.
 *        SDM 18.15.5.7 Extended Cascading, Table 18-65
 *
 * Given  each of the eighteen counters has been started by its alternate counter, or by the counter
 *        of Table 18-65, and has overflowed itself; it waits again
 * When   that counter overflows in the middle of a second window, while the OVF flag of the waiting
 *        counter, or that of the starting counter, is still set
 * Then   the waiting counter has counted about half of the window's events: the flag reports an
 *        overflow and has no other effect
 * Control: the flag is set before the second window
 */
TEST(netburst, cascaded_counter_starts_whatever_the_overflow_flags_are, REQS(NB_09, NB_33),
     NEEDS(need_netburst))
{
	for (unsigned n = 0; n < LINKS; n++) {
		const struct link l = link_of(n);
		const u64 all = events_of(l.from);
		const unsigned cleared[] = { l.from, l.waiting };

		for (unsigned k = 0; k < 2; k++) {
			const unsigned left = cleared[!k];

			cascade_program(l.from, all / 2, l.waiting, l.flag);
			cascade_window_until(l.from, l.waiting, all / 8);
			netburst_clear(cleared[k]);
			netburst_preset(l.from, all / 2);
			CONTROL(t, IDS(NB_09, NB_33), netburst_overflowed(left),
				"OVF of counter %u", left);
			test_check_range(t, l.flag == NB_CCCR_CASCADE ? AT(NB_09) : AT(NB_33),
					 all / 4, all - all / 4,
					 cascade_window(l.from, l.waiting),
					 "counter %u, started by counter %u, OVF of counter %u set",
					 l.waiting, l.from, left);
			netburst_reset();
		}
	}
}

/*
 * NB-21  An overflow must set the OVF flag although no PMI is enabled.
 * NB-10  OVF_PMI_T0 must send the PMI to logical processor 0 and OVF_PMI_T1 to logical processor
 *        1.
 *        SDM 18.16.2 CCCR MSRs
 *
 * Given  each of the eighteen counters waits with its cascade flag set, or four with bit 11, to
 *        overflow on an eighth of a window's events, with the PMI flag of this thread
 * When   the counter that it waits for overflows in the middle of the window, or doesn't
 * Then   in the first case the waiting counter has overflowed too: its OVF is set, and there is one
 *        interrupt
 * Control: in the second case OVF is clear, and there is no interrupt
 */
TEST(netburst, cascaded_counter_overflows_as_others_do, REQS(NB_21, NB_10), NEEDS(need_netburst))
{
	static const struct pmi_options keep = { .keep_counting = true, .keep_status = true };
	const u64 mine = netburst_thread() ? NB_CCCR_OVF_PMI_T1 : NB_CCCR_OVF_PMI_T0;

	for (unsigned n = 0; n < LINKS; n++) {
		const struct link l = link_of(n);
		const u64 all = events_of(l.from);

		for (unsigned starts = 0; starts < 2; starts++) {
			unsigned interrupts;

			cascade_program(l.from, starts ? all / 2 : NETBURST_NEVER, l.waiting,
					l.flag | mine);
			pmi_open(&keep);
			cascade_window_until(l.from, l.waiting, all / 8);
			interrupts = pmi_end()->count;
			if (starts) {
				CHECK(t, NB_21, netburst_overflowed(l.waiting),
				      "OVF of counter %u, started by counter %u", l.waiting,
				      l.from);
				CHECK_EQ(t, NB_10, 1, interrupts,
					 "interrupts of counter %u, started by counter %u",
					 l.waiting, l.from);
			} else {
				CONTROL(t, NB_21, !netburst_overflowed(l.waiting),
					"no OVF of counter %u, counter %u not overflowing",
					l.waiting, l.from);
				CONTROL_EQ(t, NB_10, 0, interrupts,
					   "interrupts of counter %u, counter %u not overflowing",
					   l.waiting, l.from);
			}
			netburst_reset();
		}
	}
}

/*
 * NB-18  With the compare flag set a counter must count 1 when its input is greater than the
 *        threshold, or with the complement flag when it is less or equal.
 *        SDM 18.15.5.2 Filtering Events
 *
 * Given  each of the eighteen counters waits with its cascade flag set, or four with bit 11
 * When   the counter that it waits for overflows in the middle of a window, the waiting one having
 *        the compare flag and threshold 15, which no clock exceeds, or neither
 * Then   with them it counts nothing
 * Control: without them it counts at least a quarter of the window's events
 */
TEST(netburst, cascaded_counter_compares_as_others_do, REQS(NB_18), NEEDS(need_netburst))
{
	for (unsigned n = 0; n < LINKS; n++) {
		const struct link l = link_of(n);
		const u64 all = events_of(l.from);

		CONTROL_RANGE(t, NB_18, rounds_of(l.from) / 4, all,
			      cascade(l.from, all / 2, l.waiting, l.flag),
			      "counter %u, started by counter %u", l.waiting, l.from);
		CHECK_EQ(t, NB_18, 0,
			 cascade(l.from, all / 2, l.waiting,
				 l.flag | NB_CCCR_COMPARE | NB_CCCR_THRESHOLD),
			 "clocks with more than 15 events, counter %u, started by counter %u",
			 l.waiting, l.from);
	}
}

/* Three counters, each but the first with the flag by which it waits for the one before it. */
static const struct chain {
	u8 first;
	struct {
		u8 counter;
		u64 flag;
	} second, third;
} chains[] = {
	{ 12, { 14, NB_CCCR_CASCADE }, { 16, NB_CCCR_CASCADE } },
	{ 13, { 15, NB_CCCR_CASCADE }, { 17, NB_CCCR_CASCADE } },
	{ 16, { 12, NB_CCCR_EXTENDED_CASCADE }, { 14, NB_CCCR_CASCADE } },
	{ 17, { 15, NB_CCCR_EXTENDED_CASCADE }, { 13, NB_CCCR_CASCADE } },
	{ 16, { 17, NB_CCCR_EXTENDED_CASCADE }, { 15, NB_CCCR_EXTENDED_CASCADE } },
	{ 17, { 16, NB_CCCR_EXTENDED_CASCADE }, { 12, NB_CCCR_EXTENDED_CASCADE } },
	{ 15, { 17, NB_CCCR_CASCADE }, { 16, NB_CCCR_EXTENDED_CASCADE } },
};
#define CHAINS (sizeof(chains) / sizeof(chains[0]))

/*
 * NB-09  With its cascade flag set a counter must start when its alternate counter of the same
 *        group overflows.
 *        SDM 18.16.2 CCCR MSRs, 18.15.5.6 Cascading Counters
 * NB-33  With bit 11 of its CCCR set an IQ counter must start when the counter that Table 18-65
 *        names overflows.
 *        SDM 18.15.5.7 Extended Cascading, Table 18-65
 *
 * Given  chains of three IQ counters: the first one counts, the second one waits for it and the
 *        third one for the second, each with its cascade flag or with bit 11
 * When   the first counter of the chain overflows after a quarter of a window's events; the second
 *        one overflows after an eighth of its own events, or doesn't
 * Then   the third one counts in the first case
 * Control: in the second case it counts nothing; the first has as many events as rounds
 */
TEST(netburst, cascaded_counter_starts_the_next_one, REQS(NB_09, NB_33), NEEDS(need_netburst))
{
	for (unsigned n = 0; n < 2 * CHAINS; n++) {
		const struct chain *c = &chains[n / 2];
		const unsigned i = c->third.counter, chained = n & 1;
		const struct netburst_setting third = usual(i, c->third.flag);
		const u64 all = events_of(c->first);

		CONTROL_RANGE(t, IDS(NB_09, NB_33), ROUNDS, ~0ULL, all, "events of counter %u",
			      c->first);
		cascade_program(c->first, all / 4, c->second.counter, c->second.flag);
		netburst_program(&third);
		netburst_write(i, 0);
		cascade_window_until(c->first, c->second.counter,
				     chained ? all / 8 : NETBURST_NEVER);
		netburst_stop(i);
		if (chained)
			test_check_range(t,
					 c->third.flag == NB_CCCR_CASCADE ? AT(NB_09) : AT(NB_33),
					 all / 8, all, netburst_read(i),
					 "counter %u after %u after %u, %lu events", i,
					 c->second.counter, c->first, all);
		else
			CONTROL_EQ(t, IDS(NB_09, NB_33), 0, netburst_read(i),
				   "counter %u, counter %u not overflowing", i, c->second.counter);
		netburst_reset();
	}
}

/*
 * NB-09  With its cascade flag set a counter must start when its alternate counter of the same
 *        group overflows.
 *        SDM 18.16.2 CCCR MSRs, 18.15.5.6 Cascading Counters
 * NB-33  With bit 11 of its CCCR set an IQ counter must start when the counter that Table 18-65
 *        names overflows.
 *        SDM 18.15.5.7 Extended Cascading, Table 18-65
 *
 * Given  counters 12, 15, 16 and 17 wait with bit 11 of their CCCRs set
 * When   the counter that Table 18-65 names overflows, doesn't overflow, or another one of the IQ
 *        group does
 * Then   the waiting counter counts in the first case only. Where every requirement is judged: with
 *        bit 11 and the cascade flag both set, of which no sentence speaks together, it counts when
 *        that counter or its alternate counter overflows
 */
TEST(netburst, extended_cascading_starts_as_table_18_65_says, REQS(NB_09, NB_33),
     NEEDS(need_netburst))
{
	const u64 both = NB_CCCR_CASCADE | NB_CCCR_EXTENDED_CASCADE;

	for (unsigned i = NB_IQ_COUNTER0; i < NB_COUNTERS; i++) {
		if (extended[i] == NO)
			continue;
		check_starts(t, AT(NB_33), extended[i], i, NB_CCCR_EXTENDED_CASCADE);
		if (test_is_strict(t)) {
			check_starts(t, AT(NB_33), extended[i], i, both);
			check_starts(t, AT(NB_09), alternate[i], i, both);
		}
		CHECK_EQ(t, NB_33, 0,
			 cascade(extended[i], NETBURST_NEVER, i, NB_CCCR_EXTENDED_CASCADE),
			 "counter %u, counter %u not overflowing", i, extended[i]);
		for (unsigned from = NB_IQ_COUNTER0; from < NB_COUNTERS; from++)
			if (from != i && from != extended[i])
				CHECK_EQ(t, NB_33, 0,
					 cascade(from, half_of(from), i, NB_CCCR_EXTENDED_CASCADE),
					 "counter %u, counter %u overflowing", i, from);
	}
}

/* Counter `from` overflows on its nth event while all counters that can wait for it do. Returns
 * their number; counted[]: their counts. */
static unsigned cascade_all(unsigned from, u64 nth, struct link waiting[LINKS], u64 counted[LINKS])
{
	unsigned count = 0;

	for (unsigned n = 0; n < LINKS; n++) {
		const struct link l = link_of(n);

		if (l.from != from)
			continue;
		cascade_program(from, nth, l.waiting, l.flag);
		netburst_write(l.waiting, 0);
		waiting[count++] = l;
	}
	netburst_start(from);
	workload_run_uncounted(&workload_packed, rounds_of(from));
	netburst_stop(from);
	for (unsigned k = 0; k < count; k++)
		netburst_stop(waiting[k].waiting);
	for (unsigned k = 0; k < count; k++)
		counted[k] = netburst_read(waiting[k].waiting);
	netburst_reset();
	return count;
}

/*
 * NB-09  With its cascade flag set a counter must start when its alternate counter of the same
 *        group overflows.
 *        SDM 18.16.2 CCCR MSRs, 18.15.5.6 Cascading Counters
 * NB-33  With bit 11 of its CCCR set an IQ counter must start when the counter that Table 18-65
 *        names overflows.
 *        SDM 18.15.5.7 Extended Cascading, Table 18-65
 *
 * Given  two counters wait for the same one: with their cascade flags set 12 and 16 for 14, 13 and
 *        17 for 15; with bit 11 set 12 and 17 for 16, 15 and 16 for 17
 * When   that counter overflows in the middle of a window
 * Then   both have counted about half of the window's events
 * Control: there are two; when it doesn't overflow neither counts; there are as many events as
 *        rounds
 */
TEST(netburst, one_overflow_starts_all_counters_that_wait_for_it, REQS(NB_09, NB_33),
     NEEDS(need_netburst))
{
	struct link l[LINKS];
	u64 counted[LINKS];

	for (unsigned from = NB_IQ_COUNTER2; from < NB_COUNTERS; from++) {
		const u64 all = events_of(from);
		unsigned count = cascade_all(from, NETBURST_NEVER, l, counted);

		CONTROL_EQ(t, IDS(NB_09, NB_33), 2, count, "counters that wait for %u", from);
		CONTROL_RANGE(t, IDS(NB_09, NB_33), ROUNDS, ~0ULL, all, "events of counter %u",
			      from);
		for (unsigned k = 0; k < count; k++)
			CONTROL_EQ(t, IDS(NB_09, NB_33), 0, counted[k],
				   "counter %u, counter %u not overflowing", l[k].waiting, from);
		cascade_all(from, all / 2, l, counted);
		for (unsigned k = 0; k < count; k++)
			test_check_range(t, l[k].flag == NB_CCCR_CASCADE ? AT(NB_09) : AT(NB_33),
					 all / 4, all - all / 4, counted[k],
					 "counter %u of %u, counter %u overflowing on event %lu "
					 "of %lu",
					 l[k].waiting, count, from, all / 2, all);
	}
}
