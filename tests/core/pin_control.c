/* SPDX-License-Identifier: MIT */
/*
 * The PC bit of an event select. SDM "Architectural Performance Monitoring Version 1 Facilities":
 * "toggles the PMi pins and increments the counter". Later editions say that it is reserved from
 * Sandy Bridge on; there it is judged only if the processor accepts it.
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/overflow.h"

#define FEWER	10
#define MORE	90

/* Does the processor accept the bit? Where it must, this is a check. */
static bool takes_pin_control(struct test *t, unsigned c)
{
	const struct generation *g = counter_caps()->generation;
	const u32 msr = MSR_IA32_PERFEVTSEL0 + c;
	bool taken = !msr_try_write(msr, IA32_PERFEVTSEL_PC).raised &&
		     msr_read(msr) == IA32_PERFEVTSEL_PC;

	msr_write(msr, 0);
	if (test_is_strict(t) || (g && g->set & GENS_NHM_WSM))
		CHECK(t, MSR_28, taken, "IA32_PERFEVTSEL%u[19] is taken and read back", c);
	return taken;
}

/*
 * CNT-01  Runs of one workload must differ in retired instructions by exactly the declared
 *         difference.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * MSR-28  A read/write register of the PMU must read back the legal value that was written to it.
 *         SDM Table 35-2 IA-32 Architectural MSRs (Read/Write registers), Table 35-13
 *
 * Given  each general-purpose counter, and PC in its event select, where the processor accepts it
 * When   it counts instructions in FEWER and in MORE rounds, and overflows with INT
 * Then   the counts differ by the declared instructions, and there is one interrupt; Nehalem and
 *        Westmere, and every processor in a strict run, accept the bit and read it back
 * Control: the same without PC
 */
TEST(count, pin_control_bit_changes_no_count_and_no_interrupt, REQS(CNT_01, PMI_01, MSR_28),
     NEEDS(need_perfmon, need_instructions, need_branches))
{
	const u64 want = workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, MORE) -
			 workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, FEWER);
	unsigned taken = 0;

	FOR_EACH_COUNTER (c, counters_gp().bits) {
		unsigned interrupts;
		u64 got[2];

		if (!takes_pin_control(t, c))
			continue;
		taken++;
		for (unsigned with = 0; with < 2; with++)
			if (!window_difference_one(t, c, EVENT_INST_RETIRED_ANY_P,
						   COUNT_BOTH | (with ? IA32_PERFEVTSEL_PC : 0),
						   &workload_load, FEWER, MORE, &got[with]))
				return;
		CONTROL_EQ(t, CNT_01, want, got[0], "instructions in 80 more rounds, IA32_PMC%u",
			   c);
		CHECK_EQ(t, CNT_01, want, got[1],
			 "instructions in 80 more rounds, IA32_PMC%u with PC", c);
		interrupts = overflow_interrupts(c, COUNT_INT | IA32_PERFEVTSEL_PC, NULL)->count;
		overflow_off(c);
		CHECK_RANGE(t, PMI_01, 1, overflow_allowed(t, 1, interrupts), interrupts,
			    "interrupts of IA32_PMC%u with PC", c);
		interrupts = overflow_interrupts(c, COUNT_INT, NULL)->count;
		overflow_off(c);
		CONTROL_RANGE(t, PMI_01, 1, overflow_allowed(t, 1, interrupts), interrupts,
			      "interrupts of IA32_PMC%u", c);
	}
	if (!taken && !test_is_strict(t))
		test_skip(t, "IA32_PERFEVTSELx[19] is refused, or reads 0");
}
