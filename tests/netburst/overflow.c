/* SPDX-License-Identifier: MIT */
/*
 * Overflows of NetBurst's counters: SDM "CCCR MSRs" (OVF, FORCE_OVF, OVF_PMI_T0 and _T1),
 * "Generating an Interrupt on Overflow", "Local Vector Table". There is no global status: the flag
 * in each CCCR is it. Packed additions are the event where every single one matters: no other code
 * has any.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "kernel/machine/smp.h"
#include "pmu/pmi.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"

#define PERIOD	10u	/* reached by each counter's usual event in NETBURST_MORE rounds */
#define ADDER	8u	/* a counter of packed additions */

static void run_from(unsigned counter, u64 nth)
{
	netburst_stop(counter);
	netburst_preset(counter, nth);
	netburst_start(counter);
	workload_run_uncounted(&workload_packed, NETBURST_MORE);
}

/* The CCCR is read, written, stopped and started; its counter goes on, overflows again, and is
 * written: none of that clears the flag. */
TEST(netburst, ovf_stays_until_software_clears_it, REQS(NB_08, NB_21), NEEDS(need_netburst))
{
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		struct netburst_setting s = netburst_usual(i, netburst_everyone(), 0);

		netburst_program(&s);
		run_from(i, NETBURST_NEVER);
		CHECK(t, NB_21, !netburst_overflowed(i), "counter %u, far from its overflow", i);
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
		netburst_stop(i);
		netburst_clear(i);
		CHECK(t, NB_08, !netburst_overflowed(i), "counter %u, written as 0", i);
	}
}

TEST(netburst, one_overflow_sets_one_flag, REQS(NB_21), NEEDS(need_netburst))
{
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		struct netburst_setting s = netburst_usual(i, netburst_everyone(), 0);

		netburst_program(&s);
		run_from(i, PERIOD);
		netburst_stop(i);
		CHECK_EQ(t, NB_21, BIT(i), netburst_status(), "OVF flags of all counters");
		netburst_clear(i);
	}
}

/* PMI flag of a thread. */
static u64 to(unsigned thread)
{
	return thread ? NB_CCCR_OVF_PMI_T1 : NB_CCCR_OVF_PMI_T0;
}

/* Additions of one dry run, the constant ones included. */
static u64 additions(void)
{
	struct netburst_setting s = netburst_usual(ADDER, netburst_everyone(), 0);

	netburst_program(&s);
	netburst_write(ADDER, 0);
	netburst_start(ADDER);
	workload_run_uncounted(&workload_packed, NETBURST_MORE);
	netburst_stop(ADDER);
	return netburst_read(ADDER);
}

/* A dry run with an overflow on the nth addition; what interrupts this thread sees. */
static const struct pmi_log *overflow_on(u64 nth, u64 flags, const struct pmi_options *options)
{
	struct netburst_setting s = netburst_usual(ADDER, netburst_everyone(), flags);
	const struct pmi_log *log;

	netburst_program(&s);
	netburst_preset(ADDER, nth);
	pmi_open(options);
	netburst_start(ADDER);
	workload_run_uncounted(&workload_packed, NETBURST_MORE);
	log = pmi_settle();
	netburst_stop(ADDER);
	return log;
}

/* "The interrupt is generated on the next event count": to be interrupted on the 100th event, the
 * counter is set to -99. */
TEST(netburst, interrupt_comes_with_the_next_event, REQS(NB_16), NEEDS(need_netburst))
{
	static const struct pmi_options keep = { .keep_status = true };
	u64 all = additions(), mine = to(netburst_thread());
	const struct pmi_log *log;

	CHECK(t, NB_16, all >= NETBURST_MORE, "%lu additions are counted", all);
	log = overflow_on(all, mine, &keep);
	CHECK(t, NB_16, netburst_overflowed(ADDER), "overflow on the last of %lu events", all);
	CHECK_EQ(t, NB_16, 0, log->count, "interrupts: no event has come since the overflow");
	pmi_close();
	log = overflow_on(all - 1, mine, &keep);
	CHECK(t, NB_16, netburst_overflowed(ADDER), "overflow on the last but one");
	CHECK_EQ(t, NB_16, 1, log->count, "interrupts: one event has come since the overflow");
	pmi_close();
}

TEST(netburst, interrupt_shows_the_overflow, REQS(NB_21, PMI_04), NEEDS(need_netburst),
     .under_every_fault = true)
{
	static const struct pmi_options once = { .stay_masked = true };
	u64 mine = to(netburst_thread());
	const struct pmi_log *log = overflow_on(PERIOD, mine, &once);

	if (!CHECK_EQ(t, NB_21, 1, log->count, "interrupts of counter %u", ADDER))
		return;
	CHECK_EQ(t, NB_21, BIT(ADDER), log->entry[0].status, "OVF flags that the handler found");
	CHECK_EQ(t, PMI_04, LVT_MASKED, log->entry[0].lvtpc & LVT_MASKED,
		 "LVTPC = %#x when the interrupt was taken", log->entry[0].lvtpc);
	CHECK_EQ(t, PMI_04, LVT_MASKED, apic_lvtpc_read() & LVT_MASKED,
		 "LVTPC = %#x afterwards", apic_lvtpc_read());
	pmi_unmask();
	HARNESS_CHECK(t, !(apic_lvtpc_read() & LVT_MASKED), "LVTPC = %#x written by software",
		      apic_lvtpc_read());
	pmi_close();
}

TEST(netburst, interrupt_is_delivered_as_lvtpc_says, REQS(PMI_06), NEEDS(need_netburst))
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

TEST(netburst, without_its_flag_an_overflow_interrupts_nobody, REQS(NB_10),
     NEEDS(need_netburst), .under_every_fault = true)
{
	unsigned thread = netburst_thread();
	const struct pmi_log *log = overflow_on(PERIOD, 0, NULL);

	CHECK(t, NB_10, netburst_overflowed(ADDER), "counter %u overflowed", ADDER);
	CHECK_EQ(t, NB_10, 0, log->count, "interrupts without OVF_PMI_T0 and OVF_PMI_T1");
	pmi_close();
	log = overflow_on(PERIOD, to(thread), NULL);
	CHECK_EQ(t, NB_10, 1, log->count, "interrupts of T%u with OVF_PMI_T%u", thread, thread);
	pmi_close();
}

/* One thread works, both listen. */
static struct routed {
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
	struct netburst_setting s = netburst_usual(ADDER, netburst_everyone(), routed.flags);

	netburst_program(&s);
	netburst_preset(ADDER, PERIOD);
	netburst_start(ADDER);
	workload_run_uncounted(&workload_packed, NETBURST_MORE);
	pmi_settle();
	netburst_stop(ADDER);
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

TEST(netburst, the_named_thread_is_interrupted, REQS(NB_10),
     NEEDS(need_netburst, need_sibling_thread))
{
	static void *const args[2];

	for (unsigned i = 0; i < 8; i++) {
		unsigned worker = i >> 2;
		u64 flags = (i & 1 ? to(0) : 0) | (i & 2 ? to(1) : 0);
		void (*const fns[2])(void *arg) = {
			worker ? only_listen : listen_and_work,
			worker ? listen_and_work : only_listen,
		};

		routed = (struct routed){ .flags = flags, .listening.count = 2, .over.count = 2 };
		if (!netburst_run_both(t, fns, args))
			return;
		for (unsigned thread = 0; thread < 2; thread++)
			CHECK_EQ(t, NB_10, flags & to(thread) ? 1 : 0, routed.seen[thread],
				 "interrupts of T%u, overflow by T%u, OVF_PMI_T0 %u, OVF_PMI_T1 %u",
				 thread, worker, i & 1, i >> 1 & 1);
	}
}

/* The CCCR isn't written between several runs: the increments of each overflow again. */
static void check_left_alone(struct test *t, u64 mine)
{
	static const struct pmi_options keep = { .keep_counting = true, .keep_status = true };
	struct netburst_setting s = netburst_usual(ADDER, netburst_everyone(),
						   mine | NB_CCCR_FORCE_OVF);
	u64 count[4] = { 0 };

	netburst_program(&s);
	netburst_preset(ADDER, NETBURST_NEVER);
	pmi_open(&keep);
	netburst_start(ADDER);
	for (unsigned i = 1; i < 4; i++) {
		workload_run_uncounted(&workload_packed, NETBURST_MORE);
		count[i] = pmi_settle()->count;
	}
	netburst_stop(ADDER);
	pmi_close();
	for (unsigned i = 1; i < 4; i++)
		CHECK_RANGE(t, NB_17, count[i - 1] + 1, ~0ULL, count[i], "interrupts in all after "
			    "run %u of forced increments, the CCCR left alone", i);
}

TEST(netburst, forced_overflow_on_every_increment, REQS(NB_17), NEEDS(need_netburst))
{
	static const struct pmi_options on = { .keep_counting = true };
	u64 mine = to(netburst_thread());
	const struct pmi_log *log;

	for (unsigned i = 4; i < NB_COUNTERS; i++) {
		struct netburst_setting plain = netburst_usual(i, netburst_everyone(), 0);
		struct netburst_setting forced = netburst_usual(i, netburst_everyone(),
								NB_CCCR_FORCE_OVF);

		netburst_program(&plain);
		run_from(i, NETBURST_NEVER);
		CHECK(t, NB_17, !netburst_overflowed(i), "counter %u, not forced", i);
		netburst_program(&forced);
		for (unsigned again = 0; again < 3; again++) {
			CHECK(t, NB_17, !netburst_overflowed(i), "counter %u before it counts", i);
			run_from(i, NETBURST_NEVER);
			CHECK(t, NB_17, netburst_overflowed(i), "counter %u, forced, run %u", i,
			      again);
			netburst_stop(i);
			netburst_clear(i);
		}
	}
	log = overflow_on(NETBURST_NEVER, mine, &on);
	CHECK_EQ(t, NB_17, 0, log->count, "interrupts, not forced");
	pmi_close();
	log = overflow_on(NETBURST_NEVER, mine | NB_CCCR_FORCE_OVF, &on);
	CHECK(t, NB_17, log->count > 0, "interrupts, forced: %u", log->count);
	pmi_close();
	check_left_alone(t, mine);
}
