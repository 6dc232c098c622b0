/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS in compatibility mode. The header has a bit for 64-bit mode (Linux struct
 * arch_pebs_header: 64BIT_MODE). Compatibility mode is the other submode of IA-32e mode (SDM volume
 * 1, "Modes of Operation").
 */
#include "kernel/interrupt/intr.h"
#include "tests/archpebs/archpebs.h"
#include "tests/pebs/compat.h"

#define HEADER_MODE_64	BIT(30)

static struct compat_call call;
static volatile u64 memory[8];

static u64 address(const volatile void *p)
{
	return (u64)(uintptr_t)p;
}

static bool need_low_memory(char *reason, size_t size)
{
	return compat_in_reach(address(&call + 1) | address(memory + 8), reason, size);
}

/* Arm a counter so that it makes one record of loads. */
static void arm(unsigned counter)
{
	arch_pebs_open(0, ARCH_PEBS_NEVER);
	arch_pebs_arm(counter, LOADS, COUNT_BOTH, ROUNDS_PERIOD, 0, NEVER);
}

static void stop(unsigned counter)
{
	arch_pebs_disarm();
	counter_program_disabled(counter, 0, 0);
	counters_clear(BIT(counter));
}

/*
 * APEBS-41  Bit 30 of a header must be 0 for what was sampled in compatibility mode.
 *           Linux struct arch_pebs_header: 64BIT_MODE; SDM volume 1, Modes of Operation
 *
 * Given  a loop of loads in compatibility mode, below 4 GiB
 * When   each of IA32_PMC0 to IA32_PMC3 that writes records overflows in it
 * Then   bit 30 of the record's header is 0
 * Control: EventingIP is the loop's load; the same number of loads in 64-bit mode makes a record
 *        with bit 30 = 1
 */
TEST(archpebs, header_of_a_record_in_compatibility_mode_has_bit_30_clear, REQS(APEBS_41),
     NEEDS(need_perfmon, need_arch_load, need_events, need_low_memory))
{
	FOR_EACH_COUNTER (c, arch_load_counters()) {
		arm(c);
		workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(c));
		stop(c);
		if (!arch_one_record(t, CONTROL_AT(APEBS_41), 0))
			return;
		CONTROL_EQ(t, APEBS_41, HEADER_MODE_64, arch_at(0) & HEADER_MODE_64,
			   "bit 30 of the header of 64-bit mode, IA32_PMC%u", c);

		arm(c);
		call = (struct compat_call){ .memory = address(memory), .n = ROUNDS_FOR(1),
					     .msr = MSR_IA32_PERF_GLOBAL_CTRL,
					     .on = pmc_one(c).bits };
		intr_disable();
		compat_loads(&call);
		intr_enable();
		stop(c);
		if (!arch_one_record(t, CONTROL_AT(APEBS_41), 0))
			return;
		CONTROL_EQ(t, APEBS_41, address(compat_begin), arch_at(AT_EVENTING_IP),
			   "EventingIP: the only load of the loop, IA32_PMC%u", c);
		CHECK_EQ(t, APEBS_41, 0, arch_at(0) & HEADER_MODE_64,
			 "bit 30 of the header of compatibility mode, IA32_PMC%u", c);
		arch_pebs_close();
	}
}
