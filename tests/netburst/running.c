/* SPDX-License-Identifier: MIT */
/*
 * NetBurst's counters while they count: read by RDPMC, on either logical processor, and with a new
 * value in their ESCR: SDM "Performance Counters", "ESCR MSRs".
 */
#include "kernel/interrupt/fault.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"

#define BEGIN	(0x5aULL << 32)	/* a value of more than 32 bits, and of 0 in these */

/* What is read of each counter, one after the other. */
static struct {
	u64 before, all, fast, after, stopped;
} reads[NB_COUNTERS];

static void read_running(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		const struct netburst_setting s = netburst_usual(i,
								 netburst_both(netburst_thread()),
								 0);

		netburst_program(&s);
		netburst_write(i, BEGIN);
		netburst_start(i);
		workload_run_uncounted(&workload_packed, NETBURST_MORE);
		reads[i].before = netburst_read(i);
		reads[i].all = rdpmc(i);
		reads[i].fast = rdpmc(i | NB_RDPMC_FAST);
		reads[i].after = netburst_read(i);
		netburst_stop(i);
		reads[i].stopped = rdpmc(i);
	}
}

/*
 * NB-29  Each counter must hold 40 bits, and RDPMC of its number must read it; with ECX[31] set,
 *        its lower 32 bits.
 *        SDM 18.15.2 Performance Counters
 *
 * Given  each of the eighteen counters counts events of T0, and then of T1, from a value of more
 *        than 32 bits on
 * When   the thread reads it by RDMSR, by RDPMC, by RDPMC with ECX[31], and by RDMSR, while it
 *        counts; and by RDPMC when it has stopped
 * Then   each of these is the value before it or more; of the third the lower 32 bits are
 * Control: it has counted at least one event a round
 */
TEST(netburst, rdpmc_reads_each_counter_while_it_counts, REQS(NB_29),
     NEEDS(need_netburst, need_sibling_thread))
{
	for (unsigned thread = 0; thread < 2; thread++) {
		if (!netburst_run(t, thread, NETBURST_ASLEEP, read_running, NULL))
			return;
		for (unsigned i = 0; i < NB_COUNTERS; i++) {
			CONTROL_RANGE(t, NB_29, BEGIN + NETBURST_MORE, BEGIN + NETBURST_NEVER,
				      reads[i].before, "counter %u on T%u, by RDMSR", i, thread);
			CHECK_RANGE(t, NB_29, reads[i].before, reads[i].after, reads[i].all,
				    "counter %u on T%u, by RDPMC while it counts", i, thread);
			CHECK_RANGE(t, NB_29, reads[i].all - BEGIN, reads[i].after - BEGIN,
				    reads[i].fast,
				    "counter %u on T%u, by RDPMC with ECX[31] while it counts", i,
				    thread);
			CHECK_RANGE(t, NB_29, reads[i].after, BEGIN + NETBURST_NEVER,
				    reads[i].stopped, "counter %u on T%u, by RDPMC, stopped", i,
				    thread);
		}
	}
}

/*
 * NB-02  With none of the OS and USR flags of its ESCR set a counter must not count.
 *        SDM 18.15.1 ESCR MSRs
 *
 * Given  each of the eighteen counters counts its usual event
 * When   the flags of its ESCR are cleared and set again, its CCCR not being written
 * Then   a workload changes nothing while they are clear
 * Control: at least one event a round is counted before and afterwards
 */
TEST(netburst, flags_of_an_escr_act_while_its_counter_counts, REQS(NB_02), NEEDS(need_netburst))
{
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		const struct netburst_setting s = netburst_usual(i, netburst_every_level(), 0);
		const u32 escr = netburst_escr_msr(i, s.event);

		netburst_program(&s);
		netburst_write(i, 0);
		netburst_start(i);
		for (unsigned k = 0; k < 3; k++) {
			const bool clear = k == 1;
			u64 before;

			msr_write(escr,
				  clear ? msr_read(escr) & ~s.levels : msr_read(escr) | s.levels);
			before = netburst_read(i);
			workload_run_uncounted(&workload_packed, NETBURST_MORE);
			if (clear)
				CHECK_EQ(t, NB_02, before, netburst_read(i),
					 "counter %u, no flag since it counts", i);
			else
				CONTROL_RANGE(t, NB_02, before + NETBURST_MORE, ~0ULL,
					      netburst_read(i), "counter %u with all flags, %u", i,
					      k);
		}
		netburst_stop(i);
	}
}
