/* SPDX-License-Identifier: MIT */
/*
 * Several counters at once, which overflow on one event, or one of which starts the other: SDM
 * "CCCR MSRs", "Cascading Counters"; and the same by events of either thread. The work is at CPL 3
 * and only USR flags are set, so that counters of one group have the same events, and the harness'
 * own code isn't counted.
 */
#include "pmu/pmi.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"

#define PERIOD	10u	/* each counter has so many events in NETBURST_MORE rounds */
#define ROUNDS	300u
#define NEARLY	4u	/* clocks of two runs differ by less than a quarter */

static const u8 alternates[NB_COUNTERS] = {
#define NB_COUNTER(name, number, address, cccr, cccr_address, pool, alternate, extended, source) \
	[number] = (alternate),
#include "spec/netburst.def"
};

static u64 own_usr(void)
{
	return netburst_both(netburst_thread()) & (NB_ESCR_T0_USR | NB_ESCR_T1_USR);
}

/* Program the counter's usual event at CPL 3, so that it overflows on the nth. */
static void prepare(unsigned counter, u64 flags, u64 nth)
{
	const struct netburst_setting s = netburst_usual(counter, own_usr(), flags);

	netburst_program(&s);
	netburst_preset(counter, nth);
}

/* The counter's events in a window. */
static u64 events_of(unsigned counter, u64 rounds)
{
	prepare(counter, 0, 0);
	netburst_start(counter);
	workload_run_user(&workload_packed, rounds);
	netburst_stop(counter);
	return netburst_read(counter);
}

/* The counters of a group: the first one, and the one after the last. */
static const u8 groups[][2] = {
	{ NB_BPU_COUNTER0, NB_MS_COUNTER0 },
	{ NB_MS_COUNTER0, NB_FLAME_COUNTER0 },
	{ NB_FLAME_COUNTER0, NB_IQ_COUNTER0 },
	{ NB_IQ_COUNTER0, NB_COUNTERS },
};

/*
 * NB-21  An overflow must set the OVF flag although no PMI is enabled.
 * NB-10  OVF_PMI_T0 must send the PMI to logical processor 0 and OVF_PMI_T1 to logical processor
 *        1.
 *        SDM 18.16.2 CCCR MSRs
 *
 * Given  all counters of a group with the same event, which overflow on the same one of them; in
 *        turn one of them has the PMI flag of this thread
 * When   they overflow
 * Then   OVF of each of them is set, and there is one interrupt, no matter which counter has the
 *        flag
 */
TEST(netburst, counters_that_overflow_together_show_and_interrupt_each, REQS(NB_21, NB_10),
     NEEDS(need_netburst))
{
	static const struct pmi_options keep = { .keep_counting = true, .keep_status = true };
	const u64 mine = netburst_thread() ? NB_CCCR_OVF_PMI_T1 : NB_CCCR_OVF_PMI_T0;

	for (unsigned g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
		for (unsigned flagged = groups[g][0]; flagged < groups[g][1]; flagged++) {
			const unsigned first = groups[g][0], end = groups[g][1];
			const struct pmi_log *log;

			for (unsigned i = first; i < end; i++)
				prepare(i, i == flagged ? mine : 0, PERIOD);
			pmi_open(&keep);
			for (unsigned i = first; i < end; i++)
				netburst_start(i);
			workload_run_user(&workload_packed, NETBURST_MORE);
			log = pmi_settle();
			netburst_stop_all();
			CHECK_EQ(t, NB_21, BITS(first, end - 1), netburst_status(),
				 "OVF flags of all counters, %u to %u overflow together", first,
				 end - 1);
			CHECK_EQ(t, NB_10, 1, log->count,
				 "interrupts, the flag of counter %u alone of %u to %u set",
				 flagged, first, end - 1);
			pmi_close();
			netburst_clear_all(netburst_status());
		}
}

/*
 * NB-09  With its cascade flag set a counter must start when its alternate counter of the same
 *        group overflows.
 *        SDM 18.16.2 CCCR MSRs, 18.15.5.6 Cascading Counters
 *
 * Given  two counters of a group with the same event overflow on the same one of them, in the
 *        middle of a window; the two of which they are the alternate counters wait with their
 *        cascade flags set
 * When   they overflow
 * Then   both have counted about half of the window's events
 * Control: there is at least one event a round
 */
TEST(netburst, counters_that_overflow_together_start_both_that_wait, REQS(NB_09),
     NEEDS(need_netburst))
{
	for (unsigned i = 0; i < NB_IQ_COUNTER4; i += 2) {
		const u64 all = events_of(alternates[i], ROUNDS);

		CONTROL_RANGE(t, NB_09, ROUNDS, ~0ULL, all, "events of counter %u", alternates[i]);
		for (unsigned k = i; k < i + 2; k++) {
			prepare(alternates[k], 0, all / 2);
			prepare(k, NB_CCCR_CASCADE, 0);
		}
		for (unsigned k = i; k < i + 2; k++)
			netburst_start(alternates[k]);
		workload_run_user(&workload_packed, ROUNDS);
		for (unsigned k = i; k < i + 2; k++) {
			netburst_stop(alternates[k]);
			netburst_stop(k);
			CHECK_RANGE(t, NB_09, all / NEARLY, all - all / NEARLY, netburst_read(k),
				    "counter %u, %u and %u overflowing on event %lu of %lu", k,
				    alternates[i], alternates[i + 1], all / 2, all);
		}
		netburst_reset();
	}
}

/* Do the writes of an overflow handler, and write registers of another group. */
static void write_others(unsigned from)
{
	const unsigned other = (from + NB_COUNTERS / 2) % NB_COUNTERS;

	netburst_stop(from);
	netburst_clear(from);
	netburst_write(from, 0);
	prepare(other, 0, PERIOD);
}

/*
 * NB-09  With its cascade flag set a counter must start when its alternate counter of the same
 *        group overflows.
 *        SDM 18.16.2 CCCR MSRs, 18.15.5.6 Cascading Counters
 *
 * Given  each of the eighteen counters has been started by its alternate counter in the middle
 *        of a window
 * When   the alternate counter is stopped, its OVF is cleared and it is written as 0; counter,
 *        CCCR and ESCR of another group are written; a second window follows
 * Then   the counter has counted on: the events of the second window, within a quarter
 * Control: before that it had counted about half of the first window's, at least one a round
 */
TEST(netburst, cascaded_counter_counts_on_while_other_registers_are_written, REQS(NB_09),
     NEEDS(need_netburst))
{
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		const unsigned from = alternates[i];
		const u64 all = events_of(from, ROUNDS);
		u64 before;

		CONTROL_RANGE(t, NB_09, ROUNDS, ~0ULL, all, "events of counter %u", from);
		prepare(from, 0, all / 2);
		prepare(i, NB_CCCR_CASCADE, 0);
		netburst_start(from);
		workload_run_user(&workload_packed, ROUNDS);
		before = netburst_read(i);
		CONTROL_RANGE(t, NB_09, all / NEARLY, all - all / NEARLY, before,
			      "counter %u, counter %u overflowing on event %lu of %lu", i, from,
			      all / 2, all);
		write_others(from);
		workload_run_user(&workload_packed, ROUNDS);
		netburst_stop(i);
		CHECK_RANGE(t, NB_09, all - all / NEARLY, all + all / NEARLY,
			    netburst_read(i) - before,
			    "counter %u after counter %u and another one were written", i, from);
		netburst_reset();
	}
}

/* The results of a thread for each counter. */
static struct found {
	bool far[NB_COUNTERS], overflowed[NB_COUNTERS], forced[NB_COUNTERS];
	u64 started[NB_COUNTERS], all[NB_COUNTERS];
} found;

/* Is OVF set after a window? */
static bool overflows(unsigned counter, u64 flags, u64 nth)
{
	prepare(counter, flags, nth);
	netburst_start(counter);
	workload_run_user(&workload_packed, NETBURST_MORE);
	netburst_stop(counter);
	return netburst_overflowed(counter);
}

static void find(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		found.far[i] = overflows(i, 0, NETBURST_NEVER);
		found.overflowed[i] = overflows(i, 0, PERIOD);
		found.forced[i] = overflows(i, NB_CCCR_FORCE_OVF, NETBURST_NEVER);
		found.all[i] = events_of(alternates[i], NETBURST_MORE);
		prepare(i, NB_CCCR_CASCADE, 0);
		overflows(alternates[i], 0, PERIOD);
		netburst_stop(i);
		found.started[i] = netburst_read(i);
		netburst_clear_all(netburst_status());
	}
}

/*
 * NB-21  An overflow must set the OVF flag although no PMI is enabled.
 *        SDM 18.16.2 CCCR MSRs
 * NB-17  With FORCE_OVF set every increment of the counter must be an overflow.
 *        SDM 18.15.3 CCCR MSRs
 * NB-09  With its cascade flag set a counter must start when its alternate counter of the same
 *        group overflows.
 *        SDM 18.16.2 CCCR MSRs, 18.15.5.6 Cascading Counters
 *
 * Given  each of the eighteen counters, of events of T0 and then of T1, the other thread being
 *        halted
 * When   it overflows by one of them; it is far from its end, with FORCE_OVF; it waits with its
 *        cascade flag set, and its alternate counter overflows
 * Then   OVF is set in the first two cases; in the third at least half of the window's events are
 *        counted
 * Control: far from its end, without FORCE_OVF, OVF is clear
 */
TEST(netburst, overflows_by_either_thread_show_and_start_counters, REQS(NB_21, NB_17, NB_09),
     NEEDS(need_netburst, need_sibling_thread))
{
	for (unsigned thread = 0; thread < 2; thread++) {
		if (!netburst_run(t, thread, NETBURST_ASLEEP, find, NULL))
			return;
		for (unsigned i = 0; i < NB_COUNTERS; i++) {
			CONTROL(t, IDS(NB_21, NB_17), !found.far[i],
				"counter %u far from its end, events of T%u", i, thread);
			CHECK(t, NB_21, found.overflowed[i],
			      "counter %u overflowed by events of T%u", i, thread);
			CHECK(t, NB_17, found.forced[i], "counter %u, forced, events of T%u", i,
			      thread);
			CHECK_RANGE(t, NB_09, found.all[i] / 2,
				    found.all[i] + found.all[i] / NEARLY, found.started[i],
				    "counter %u, started by events of T%u", i, thread);
		}
	}
}
