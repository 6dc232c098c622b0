/* SPDX-License-Identifier: MIT */
/*
 * Overflows of NetBurst's counters: SDM "CCCR MSRs" (OVF, FORCE_OVF, OVF_PMI_T0 and _T1),
 * "Generating an Interrupt on Overflow", "Local Vector Table". There is no global status, only the
 * flag in each CCCR. Tests that need exact counts use packed additions, which no other code
 * executes.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "kernel/machine/smp.h"
#include "pmu/pmi.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"

#define PERIOD	10u	/* each counter has so many events in NETBURST_MORE rounds */
#define ADDER	NB_FLAME_COUNTER0	/* a counter of packed additions */
#define CASES	8u	/* which thread works; both PMI flags */
#define LOWEST	8u	/* presets below the end */
#define AGAIN	3u	/* windows of forced overflows */
#define SINGLE	4u	/* windows of one addition */
#define THRESHOLD_MOST 15ULL	/* maximum of CCCR[23:20] */
#define ONE_ROUND 2u	/* the most of such a window: XORPS may count too */

static void run_from(unsigned counter, u64 nth)
{
	netburst_stop(counter);
	netburst_preset(counter, nth);
	netburst_start(counter);
	workload_run_uncounted(&workload_packed, NETBURST_MORE);
}

/*
 * NB-08  The OVF flag of a CCCR must stay set until software clears it.
 * NB-21  An overflow must set the OVF flag although no PMI is enabled.
 *        SDM 18.16.2 CCCR MSRs
 *
 * Given  each counter with its usual event and no PMI enabled
 * When   it wraps; its CCCR is read, stopped and started; the counter is written, goes on, and
 *        overflows again; OVF is written as 0, with Enable = 1 and with Enable = 0
 * Then   OVF is set by the wrap and stays until it is written as 0
 * Control: far from an overflow OVF is clear
 */
TEST(netburst, ovf_of_a_cccr_stays_until_software_clears_it, REQS(NB_08, NB_21),
     NEEDS(need_netburst))
{
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		struct netburst_setting s = netburst_usual(i, netburst_every_level(), 0);

		netburst_program(&s);
		run_from(i, NETBURST_NEVER);
		CONTROL(t, NB_21, !netburst_overflowed(i), "counter %u, far from its overflow", i);
		run_from(i, PERIOD);
		CHECK(t, NB_21, netburst_overflowed(i), "counter %u wrapped, no PMI enabled", i);
		CHECK(t, NB_08, netburst_overflowed(i), "counter %u, read again", i);
		netburst_stop(i);
		CHECK(t, NB_08, netburst_overflowed(i), "counter %u, stopped", i);
		netburst_write(i, 0);
		CHECK(t, NB_08, netburst_overflowed(i), "counter %u, its counter written", i);
		run_from(i, NETBURST_NEVER);
		CHECK(t, NB_08, netburst_overflowed(i), "counter %u, counting on", i);
		run_from(i, PERIOD);
		CHECK(t, NB_08, netburst_overflowed(i), "counter %u, overflowed once more", i);
		netburst_clear(i);
		CHECK(t, NB_08, !netburst_overflowed(i), "counter %u, written as 0, enabled", i);
		run_from(i, PERIOD);
		CHECK(t, NB_08, netburst_overflowed(i), "counter %u, overflowed after that", i);
		netburst_stop(i);
		netburst_clear(i);
		CHECK(t, NB_08, !netburst_overflowed(i), "counter %u, written as 0", i);
	}
}

/*
 * NB-21  An overflow must set the OVF flag although no PMI is enabled.
 *        SDM 18.16.2 CCCR MSRs
 *
 * Given  each counter with its usual event and no PMI enabled; and each IQ counter with
 *        micro-operations of locked instructions, of which one may retire several, from 1 to 8
 *        below the end: an increment of several may pass the end without stopping at 0
 * When   it wraps
 * Then   OVF is set in the counter's own CCCR and in no other
 */
TEST(netburst, overflow_sets_the_ovf_of_its_own_cccr_alone, REQS(NB_21), NEEDS(need_netburst))
{
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		struct netburst_setting s = netburst_usual(i, netburst_every_level(), 0);

		netburst_program(&s);
		run_from(i, PERIOD);
		netburst_stop(i);
		CHECK_EQ(t, NB_21, BIT(i), netburst_status(), "OVF flags of all counters");
		netburst_clear(i);
	}
	for (unsigned k = 0; k < (NB_COUNTERS - NB_IQ_COUNTER0) * LOWEST; k++) {
		const unsigned i = NB_IQ_COUNTER0 + k / LOWEST;
		const struct netburst_setting s = {
			.counter = i, .event = NB_EVENT_UOPS_RETIRED,
			.mask = NB_UOPS_RETIRED_NBOGUS, .levels = netburst_every_level(),
		};

		netburst_program(&s);
		netburst_preset(i, 1 + k % LOWEST);
		netburst_start(i);
		workload_run_uncounted(&workload_lock, NETBURST_MORE);
		netburst_stop(i);
		CHECK_EQ(t, NB_21, BIT(i), netburst_status(),
			 "OVF flags, micro-operations from %u below the end", 1 + k % LOWEST);
		netburst_clear(i);
	}
}

/*
 * NB-45  A counter that overflows must wrap at 40 bits and go on counting.
 *        SDM 18.15.2 Performance Counters
 *
 * Given  each of the eighteen counters with its usual event, which occurs at least 60 times in a
 *        workload, of packed additions as often each time
 * When   the workload runs, and the counter starts 10 below the end of 40 bits
 * Then   the counter has wrapped to 0 and counted on: it reads at least the rest of the 60 and less
 *        than 2^30; of packed additions it reads 10 fewer than when it starts at 0
 */
TEST(netburst, each_counter_wraps_at_40_bits_and_goes_on, REQS(NB_45), NEEDS(need_netburst))
{
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		struct netburst_setting s = netburst_usual(i, netburst_every_level(), 0);
		u64 all;

		netburst_program(&s);
		netburst_write(i, 0);
		netburst_start(i);
		workload_run_uncounted(&workload_packed, NETBURST_MORE);
		netburst_stop(i);
		all = netburst_read(i);
		run_from(i, PERIOD);
		netburst_stop(i);
		CHECK_RANGE(t, NB_45, NETBURST_MORE - PERIOD, NETBURST_NEVER, netburst_read(i),
			    "counter %u, begun 10 below the wrap (%lu counted from 0)", i, all);
		if (s.event == NB_EVENT_PACKED_SP_UOP)
			CHECK_EQ(t, NB_45, all - PERIOD, netburst_read(i),
				 "packed additions of counter %u, begun 10 below the wrap", i);
		netburst_clear(i);
	}
}

/* The PMI flag of a thread. */
static u64 to(unsigned thread)
{
	return thread ? NB_CCCR_OVF_PMI_T1 : NB_CCCR_OVF_PMI_T0;
}

/* Packed additions on a counter, of which no other code has any: of the FLAME group the event, of
 * the IQ group the tagged ones at retirement. */
static struct netburst_setting adds(unsigned counter, u64 flags)
{
	return counter < NB_IQ_COUNTER0 ? netburst_usual(counter, netburst_every_level(), flags) :
					  netburst_metric(NB_METRIC_PACKED_SP_RETIRED, counter,
							  netburst_every_level(), flags);
}

/* The additions in one dry run, including a constant number. */
static u64 additions(unsigned counter)
{
	struct netburst_setting s = adds(counter, 0);

	netburst_program(&s);
	netburst_write(counter, 0);
	netburst_beside(&s, true);
	netburst_start(counter);
	workload_run_uncounted(&workload_packed, NETBURST_MORE);
	netburst_stop(counter);
	netburst_beside(&s, false);
	return netburst_read(counter);
}

/* A dry run in which the counter overflows on its nth addition. Returns the interrupts of this
 * thread. */
static const struct pmi_log *overflow_of(unsigned counter, u64 nth, u64 flags,
					 const struct pmi_options *options)
{
	struct netburst_setting s = adds(counter, flags);
	const struct pmi_log *log;

	netburst_program(&s);
	netburst_preset(counter, nth);
	pmi_open(options);
	netburst_beside(&s, true);
	netburst_start(counter);
	workload_run_uncounted(&workload_packed, NETBURST_MORE);
	log = pmi_settle();
	netburst_stop(counter);
	netburst_beside(&s, false);
	return log;
}

static const struct pmi_log *overflow_on(u64 nth, u64 flags, const struct pmi_options *options)
{
	return overflow_of(ADDER, nth, flags, options);
}

/*
 * NB-16  A PMI must be generated on the next event count after the counter has overflowed.
 *        SDM 18.16.2 CCCR MSRs
 *
 * Given  each counter of packed additions, which no other code has, counters 8 to 11, and 12 to 17
 *        with the tagged ones that retire, with the PMI flag of this thread. For an interrupt on
 *        the 100th event the page sets the counter to -99
 * When   it overflows on the last addition of a workload, and on the last but one of them
 * Then   there is no interrupt in the first case, and one in the second
 * Control: the additions are counted, and OVF is set in both cases
 */
TEST(netburst, overflow_interrupts_on_the_next_event_count, REQS(NB_16), NEEDS(need_netburst))
{
	static const struct pmi_options keep = { .keep_status = true };
	const u64 mine = to(netburst_thread());

	for (unsigned i = NB_FLAME_COUNTER0; i < NB_COUNTERS; i++) {
		const u64 all = additions(i);
		const struct pmi_log *log;

		CONTROL(t, NB_16, all >= NETBURST_MORE, "counter %u counts %lu additions", i, all);
		log = overflow_of(i, all, mine, &keep);
		CONTROL(t, NB_16, netburst_overflowed(i),
			"counter %u, overflow on the last of %lu events", i, all);
		CHECK_EQ(t, NB_16, 0, log->count,
			 "interrupts of counter %u: no event has come since the overflow", i);
		pmi_close();
		log = overflow_of(i, all - 1, mine, &keep);
		CONTROL(t, NB_16, netburst_overflowed(i),
			"counter %u, overflow on the last but one", i);
		CHECK_EQ(t, NB_16, 1, log->count,
			 "interrupts of counter %u: one event has come since the overflow", i);
		pmi_close();
		netburst_clear(i);
	}
}

/*
 * NB-21   An overflow must set the OVF flag although no PMI is enabled.
 *         SDM 18.16.2 CCCR MSRs
 * PMI-04  Delivery of a performance-monitoring interrupt must set the mask bit of LVTPC, and only
 *         software may clear it.
 *         SDM 10.5.1 Local Vector Table
 *
 * Given  a counter with the PMI flag of this thread
 * When   it overflows, and the handler doesn't write LVTPC
 * Then   the handler finds the counter's OVF alone; LVTPC is masked when the interrupt is taken,
 *        and afterwards
 * Control: one interrupt came
 */
TEST(netburst, overflow_interrupt_finds_ovf_set_and_lvtpc_masked, REQS(NB_21, PMI_04),
     NEEDS(need_netburst), .under_every_fault = true)
{
	static const struct pmi_options once = { .stay_masked = true };
	u64 mine = to(netburst_thread());
	const struct pmi_log *log = overflow_on(PERIOD, mine, &once);

	if (!CONTROL_EQ(t, NB_21, 1, log->count, "interrupts of counter %u", ADDER))
		return;
	CHECK_EQ(t, NB_21, BIT(ADDER), log->entry[0].status, "OVF flags that the handler found");
	CHECK_EQ(t, PMI_04, LVT_MASKED, log->entry[0].lvtpc & LVT_MASKED,
		 "LVTPC = %#x when the interrupt was taken", log->entry[0].lvtpc);
	CHECK_EQ(t, PMI_04, LVT_MASKED, apic_lvtpc_read() & LVT_MASKED, "LVTPC = %#x afterwards",
		 apic_lvtpc_read());
	pmi_unmask();
	HARNESS_CHECK(t, !(apic_lvtpc_read() & LVT_MASKED), "LVTPC = %#x written by software",
		      apic_lvtpc_read());
	pmi_close();
}

/*
 * PMI-06  The delivery mode in LVTPC, fixed or NMI, must be honoured.
 *         SDM 10.5.1 Local Vector Table
 *
 * Given  a counter with the PMI flag of this thread, LVTPC with delivery mode fixed, and NMI
 * When   it overflows
 * Then   one interrupt is delivered, by LVTPC's vector, and by that of NMI
 */
TEST(netburst, overflow_interrupt_is_delivered_as_lvtpc_says, REQS(PMI_06), NEEDS(need_netburst))
{
	static const struct pmi_options modes[2] = { { .nmi = false }, { .nmi = true } };
	static const u8 vectors[2] = { VECTOR_PMI, VECTOR_NMI };

	for (unsigned i = 0; i < 2; i++) {
		const struct pmi_log *log = overflow_on(PERIOD, to(netburst_thread()), &modes[i]);

		if (CHECK_EQ(t, PMI_06, 1, log->count, "interrupts, delivery mode %s",
			     i ? "NMI" : "fixed"))
			CHECK_EQ(t, PMI_06, vectors[i], log->entry[0].vector, "vector");
		pmi_close();
	}
}

/*
 * NB-10  OVF_PMI_T0 must send the PMI to logical processor 0 and OVF_PMI_T1 to logical processor
 *        1.
 *        SDM 18.16.2 CCCR MSRs
 *
 * Given  a counter with neither OVF_PMI_T0 nor OVF_PMI_T1
 * When   it overflows
 * Then   there is no interrupt
 * Control: OVF is set; with the flag of this thread there is one interrupt
 */
TEST(netburst, overflow_without_a_pmi_flag_raises_no_interrupt, REQS(NB_10), NEEDS(need_netburst),
     .under_every_fault = true)
{
	unsigned thread = netburst_thread();
	const struct pmi_log *log = overflow_on(PERIOD, 0, NULL);

	CONTROL(t, NB_10, netburst_overflowed(ADDER), "counter %u overflowed", ADDER);
	CHECK_EQ(t, NB_10, 0, log->count, "interrupts without OVF_PMI_T0 and OVF_PMI_T1");
	pmi_close();
	log = overflow_on(PERIOD, to(thread), NULL);
	CONTROL_EQ(t, NB_10, 1, log->count, "interrupts of T%u with OVF_PMI_T%u", thread, thread);
	pmi_close();
}

/* One thread works; both threads listen. */
static struct routed {
	unsigned counter;
	u64 flags;
	struct smp_barrier listening, over;
	unsigned seen[2];
} routed;

static void listen(void (*work)(void))
{
	pmi_open(NULL);
	smp_barrier_wait(&routed.listening);
	if (work)
		work();
	smp_barrier_wait(&routed.over);
	routed.seen[netburst_thread()] = pmi_settle()->count;
	pmi_close();
}

static void overflow(void)
{
	struct netburst_setting s = netburst_usual(routed.counter, netburst_every_level(),
						   routed.flags);

	netburst_program(&s);
	netburst_preset(routed.counter, PERIOD);
	netburst_start(routed.counter);
	workload_run_uncounted(&workload_packed, NETBURST_MORE);
	pmi_settle();
	netburst_stop(routed.counter);
}

static void listen_and_work(void *arg)
{
	(void)arg;
	listen(overflow);
}

static void only_listen(void *arg)
{
	(void)arg;
	listen(NULL);
}

/*
 * NB-10  OVF_PMI_T0 must send the PMI to logical processor 0 and OVF_PMI_T1 to logical processor
 *        1.
 *        SDM 18.16.2 CCCR MSRs
 *
 * Given  each counter with its usual event and each setting of OVF_PMI_T0 and OVF_PMI_T1, both
 *        threads listening
 * When   it overflows by events of T0, or of T1; one counter by both in turn
 * Then   a thread has one interrupt if its flag is set, and none otherwise
 */
TEST(netburst, overflow_of_each_counter_interrupts_the_threads_whose_flags_are_set, REQS(NB_10),
     NEEDS(need_netburst, need_sibling_thread), .deadline_ms = 20000)
{
	static void (*const fns[2][2])(void *arg) = { { listen_and_work, only_listen },
						      { only_listen, listen_and_work } };
	static void *const args[2];

	for (unsigned i = 0; i < CASES * NB_COUNTERS; i++) {
		const unsigned counter = i / CASES, worker = i >> 2 & 1;
		const u64 flags = (i & 1 ? to(0) : 0) | (i & 2 ? to(1) : 0);

		if (counter != ADDER && worker != ((i ^ counter) & 1))
			continue;
		routed = (struct routed){
			.counter = counter, .flags = flags, .listening.count = 2, .over.count = 2
		};
		if (!netburst_run_both(t, fns[worker], args))
			return;
		for (unsigned thread = 0; thread < 2; thread++)
			CHECK_EQ(t, NB_10, flags & to(thread) ? 1 : 0, routed.seen[thread],
				 "interrupts of T%u, overflow of counter %u by T%u, OVF_PMI_T0 %u, "
				 "OVF_PMI_T1 %u",
				 thread, counter, worker, i & 1, i >> 1 & 1);
	}
}

static void begin_to_listen(void *arg)
{
	(void)arg;
	pmi_open(NULL);
}

static void overflow_once(void *arg)
{
	(void)arg;
	overflow();
}

static void end_to_listen(void *arg)
{
	(void)arg;
	routed.seen[netburst_thread()] = pmi_settle()->count;
	pmi_close();
}

/*
 * NB-10  OVF_PMI_T0 must send the PMI to logical processor 0 and OVF_PMI_T1 to logical processor
 *        1.
 *        SDM 18.16.2 CCCR MSRs
 *
 * Given  a thread is halted, with LVTPC unmasked; the other one has a counter with the flag of the
 *        halted one, or without a flag
 * When   the counter overflows; each thread is halted in turn
 * Then   the halted thread has one interrupt with its flag
 * Control: none without it
 */
TEST(netburst, overflow_interrupts_a_halted_thread_whose_flag_is_set, REQS(NB_10),
     NEEDS(need_netburst, need_sibling_thread))
{
	for (unsigned i = 0; i < 2 * 2; i++) {
		const unsigned halted = i >> 1, flagged = i & 1;

		routed = (struct routed){ .counter = ADDER, .flags = flagged ? to(halted) : 0 };
		if (!netburst_run(t, halted, NETBURST_ASLEEP, begin_to_listen, NULL) ||
		    !netburst_run(t, !halted, NETBURST_ASLEEP, overflow_once, NULL) ||
		    !netburst_run(t, halted, NETBURST_ASLEEP, end_to_listen, NULL))
			return;
		if (flagged)
			CHECK_EQ(t, NB_10, 1, routed.seen[halted],
				 "interrupts of T%u, halted, overflow by T%u with its flag", halted,
				 !halted);
		else
			CONTROL_EQ(t, NB_10, 0, routed.seen[halted],
				   "interrupts of T%u, halted, overflow by T%u without a flag",
				   halted, !halted);
	}
}

/* The interrupts after the last addition of one thread, and after one of the other thread. */
static void overflow_on_the_last(void *arg)
{
	static const struct pmi_options keep = { .keep_counting = true, .keep_status = true };
	const u64 all = additions(ADDER);
	const struct netburst_setting s = netburst_usual(ADDER, netburst_every_level(),
							 to(netburst_thread()));

	(void)arg;
	netburst_program(&s);
	netburst_preset(ADDER, all);
	pmi_open(&keep);
	netburst_start(ADDER);
	workload_run_uncounted(&workload_packed, NETBURST_MORE);
	routed.seen[0] = pmi_settle()->count;
}

static void add_once(void *arg)
{
	(void)arg;
	workload_run_uncounted(&workload_packed, 1);
}

static void end_to_count(void *arg)
{
	(void)arg;
	routed.seen[1] = pmi_end()->count;
	netburst_stop(ADDER);
}

/*
 * NB-16  A PMI must be generated on the next event count after the counter has overflowed.
 *        SDM 18.16.2 CCCR MSRs
 *
 * Given  a counter of packed additions of either thread, which no other code has, with the PMI flag
 *        of the thread that works
 * When   it overflows on the last addition of that thread; then the other thread adds
 * Then   there is no interrupt after the first, and one after the second
 * Control: OVF is set
 */
TEST(netburst, overflow_interrupts_on_the_next_event_count_of_either_thread, REQS(NB_16),
     NEEDS(need_netburst, need_sibling_thread))
{
	for (unsigned thread = 0; thread < 2; thread++) {
		if (!netburst_run(t, thread, NETBURST_ASLEEP, overflow_on_the_last, NULL))
			return;
		CONTROL(t, NB_16, netburst_overflowed(ADDER), "T%u overflows on its last addition",
			thread);
		if (!netburst_run(t, !thread, NETBURST_ASLEEP, add_once, NULL) ||
		    !netburst_run(t, thread, NETBURST_ASLEEP, end_to_count, NULL))
			return;
		CHECK_EQ(t, NB_16, 0, routed.seen[0], "interrupts of T%u before the next event",
			 thread);
		CHECK_EQ(t, NB_16, 1, routed.seen[1], "interrupts of T%u after one of T%u", thread,
			 !thread);
	}
}

/* The CCCR isn't written between several runs: each overflow must have its increments again. */
static void check_left_alone(struct test *t, u64 mine)
{
	static const struct pmi_options keep = { .keep_counting = true, .keep_status = true };
	struct netburst_setting s = netburst_usual(ADDER, netburst_every_level(),
						   mine | NB_CCCR_FORCE_OVF);
	u64 count[AGAIN + 1] = { 0 };

	netburst_program(&s);
	netburst_preset(ADDER, NETBURST_NEVER);
	pmi_open(&keep);
	netburst_start(ADDER);
	for (unsigned i = 1; i <= AGAIN; i++) {
		workload_run_uncounted(&workload_packed, NETBURST_MORE);
		count[i] = pmi_settle()->count;
	}
	netburst_stop(ADDER);
	pmi_close();
	for (unsigned i = 1; i <= AGAIN; i++)
		CHECK_RANGE(t, NB_17, count[i - 1] + 1, ~0ULL, count[i],
			    "interrupts in all after "
			    "run %u of forced increments, the CCCR left alone",
			    i);
}

/*
 * NB-17  With FORCE_OVF set every increment of the counter must be an overflow.
 *        SDM 18.15.3 CCCR MSRs
 *
 * Given  counters 4 to 17, far from their end, with FORCE_OVF, and with none, either and both of
 *        OVF_PMI_T0 and (with Hyper-Threading) OVF_PMI_T1, LVTPC being masked
 * When   they count, with none three times each, OVF being cleared in between; and one with the PMI
 *        flag of this thread counts while its CCCR isn't written
 * Then   OVF is set each time; interrupts are delivered again and again
 * Control: OVF is clear without FORCE_OVF and before the counter counts; without FORCE_OVF there
 *          is no interrupt
 */
TEST(netburst, force_ovf_makes_every_increment_an_overflow, REQS(NB_17), NEEDS(need_netburst))
{
	static const struct pmi_options on = { .keep_counting = true };
	static const u64 asked[] = { 0, NB_CCCR_OVF_PMI_T0, NB_CCCR_OVF_PMI_T1,
				     NB_CCCR_OVF_PMI_T0 | NB_CCCR_OVF_PMI_T1 };
	u64 mine = to(netburst_thread());
	const struct pmi_log *log;
	char reason[96];
	const unsigned n = need_netburst_threads(reason, sizeof(reason)) ? 4 : 2;

	for (unsigned k = 0; k < (NB_COUNTERS - NB_MS_COUNTER0) * n; k++) {
		const unsigned i = NB_MS_COUNTER0 + k / n;
		struct netburst_setting s = netburst_usual(i, netburst_every_level(), asked[k % n]);

		netburst_program(&s);
		run_from(i, NETBURST_NEVER);
		CONTROL(t, NB_17, !netburst_overflowed(i), "counter %u, not forced, PMI flags %#lx",
			i, asked[k % n]);
		s.flags |= NB_CCCR_FORCE_OVF;
		netburst_program(&s);
		for (unsigned again = 0; again < (asked[k % n] ? 1 : AGAIN); again++) {
			CONTROL(t, NB_17, !netburst_overflowed(i), "counter %u before it counts",
				i);
			run_from(i, NETBURST_NEVER);
			CHECK(t, NB_17, netburst_overflowed(i),
			      "counter %u, forced, PMI flags %#lx, run %u", i, asked[k % n], again);
			netburst_stop(i);
			netburst_clear(i);
		}
	}
	pmi_settle();
	log = overflow_on(NETBURST_NEVER, mine, &on);
	CONTROL_EQ(t, NB_17, 0, log->count, "interrupts, not forced");
	pmi_close();
	log = overflow_on(NETBURST_NEVER, mine | NB_CCCR_FORCE_OVF, &on);
	CHECK(t, NB_17, log->count > 0, "interrupts, forced: %u", log->count);
	pmi_close();
	check_left_alone(t, mine);
}

/*
 * NB-17  With FORCE_OVF set every increment of the counter must be an overflow.
 *        SDM 18.15.3 CCCR MSRs
 *
 * Given  each counter of packed additions, of which no other code has any, far from its end, with
 *        FORCE_OVF; its CCCR is enabled once
 * When   one addition is executed, and then another, each after OVF was cleared: at an odd and at
 *        an even count
 * Then   OVF is set after each
 * Control: OVF is clear before each, and the counter counts each time
 */
TEST(netburst, force_ovf_makes_each_single_increment_an_overflow, REQS(NB_17), NEEDS(need_netburst))
{
	for (unsigned i = NB_FLAME_COUNTER0; i < NB_IQ_COUNTER0; i++)
		for (unsigned parity = 0; parity < 2; parity++) {
			struct netburst_setting s = netburst_usual(i, netburst_every_level(),
								   NB_CCCR_FORCE_OVF);
			u64 before;

			netburst_program(&s);
			netburst_preset(i, NETBURST_NEVER + parity);
			netburst_start(i);
			for (unsigned again = 0; again < SINGLE; again++) {
				before = netburst_read(i);
				CONTROL(t, NB_17, !netburst_overflowed(i),
					"counter %u before an addition", i);
				workload_run_uncounted(&workload_packed, 1);
				CONTROL_RANGE(t, NB_17, before + 1, before + ONE_ROUND,
					      netburst_read(i), "counter %u after one addition", i);
				CHECK(t, NB_17, netburst_overflowed(i),
				      "counter %u, forced, addition %u from %#lx", i, again,
				      before);
				netburst_clear(i);
			}
			netburst_stop(i);
			netburst_clear(i);
		}
}

/*
 * NB-17  With FORCE_OVF set every increment of the counter must be an overflow.
 *        SDM 18.15.3 CCCR MSRs
 *
 * Given  each counter of packed additions, far from its end, with FORCE_OVF and the compare flag
 * When   additions are executed: with threshold 15, which no clock exceeds, and with threshold 0
 * Then   with threshold 15 OVF stays clear; with 0 it is set
 * Control: with threshold 15 the counter holds what it was set to, with 0 it counts
 */
TEST(netburst, forced_overflow_is_of_an_increment_that_passes_the_filter, REQS(NB_17),
     NEEDS(need_netburst))
{
	for (unsigned i = NB_FLAME_COUNTER0; i < NB_IQ_COUNTER0; i++)
		for (unsigned passes = 0; passes < 2; passes++) {
			const u64 threshold = passes ? 0 : THRESHOLD_MOST;
			struct netburst_setting
				s = netburst_usual(i, netburst_every_level(),
						   NB_CCCR_FORCE_OVF | NB_CCCR_COMPARE |
							   threshold << NB_CCCR_THRESHOLD_SHIFT);
			u64 before;

			netburst_program(&s);
			netburst_preset(i, NETBURST_NEVER);
			before = netburst_read(i);
			netburst_start(i);
			workload_run_uncounted(&workload_packed, NETBURST_MORE);
			netburst_stop(i);
			CONTROL_EQ(t, NB_17, passes, netburst_read(i) != before,
				   "counter %u counts, threshold %lu", i, threshold);
			CHECK_EQ(t, NB_17, passes, netburst_overflowed(i),
				 "OVF of counter %u, forced, threshold %lu", i, threshold);
			netburst_clear(i);
		}
}
