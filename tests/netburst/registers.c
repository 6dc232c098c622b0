/* SPDX-License-Identifier: MIT */
/*
 * NetBurst's registers while counters run: SDM "Performance Counters", "Debug Control".
 */
#include "kernel/interrupt/fault.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"

/* The two values differ in each of bits 39:32, and in most of bits 31:0. */
#define FIRST	0x5a3c69e187ULL
#define SECOND	0xa5c3961e78ULL

/*
 * NB-29  Each counter must hold 40 bits, and RDPMC of its number must read it; with ECX[31] set,
 *        its lower 32 bits.
 *        SDM 18.15.2 Performance Counters
 *
 * Given  each of the eighteen counters counts from a value that fills 40 bits
 * When   another such value is written to it, its enable flag staying set, and a workload runs
 * Then   the counter has gone on from the value written
 * Control: before the write it is near the first value
 */
TEST(netburst, write_to_a_running_counter_sets_all_its_40_bits, REQS(NB_29), NEEDS(need_netburst))
{
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		const struct netburst_setting s = netburst_usual(i, netburst_every_level(), 0);
		u64 before;

		netburst_program(&s);
		netburst_write(i, FIRST);
		netburst_start(i);
		before = netburst_read(i);
		netburst_write(i, SECOND);
		workload_run_uncounted(&workload_packed, NETBURST_MORE);
		netburst_stop(i);
		CONTROL_RANGE(t, NB_29, FIRST, FIRST + NETBURST_NEVER, before,
			      "counter %u before the write", i);
		CHECK_RANGE(t, NB_29, SECOND + NETBURST_MORE, SECOND + NETBURST_NEVER,
			    netburst_read(i), "counter %u, written while it ran", i);
	}
}

/*
 * NB-40  Each logical processor must have an IA32_DS_AREA and an MSR_DEBUGCTLA of its own.
 *        SDM Table 35-41: IA32_DS_AREA, MSR_DEBUGCTLA
 *
 * Given  MSR_DEBUGCTLA, whose bits LBR and BTF change nothing that is counted
 * When   each value of the two is written
 * Then   it is read
 */
TEST(msr, netburst_debugctla_keeps_its_bits, REQS(NB_40), NEEDS(need_netburst))
{
	for (u64 value = 4; value--;) {
		msr_write(MSR_NB_DEBUGCTLA, value);
		CHECK_EQ(t, NB_40, value, msr_read(MSR_NB_DEBUGCTLA), "MSR_DEBUGCTLA reads back");
	}
}
