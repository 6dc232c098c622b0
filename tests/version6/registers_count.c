/* SPDX-License-Identifier: MIT */
/*
 * The registers from 1900H on are the counters themselves, not copies: Linux, V6+ MSR aliasing. A
 * counter that is programmed through them counts that event from that value, and a counting counter
 * can be written through them.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"
#include "tests/version6/version6.h"

#define BRANCHES	EVENT_BR_INST_RETIRED_ALL_BRANCHES
#define BELOW		100u	/* events before the overflow */
#define ROUNDS		256u	/* rounds of workload_load: each has one branch and no store */
#define SLACK		16u	/* branches of opening and closing the window */
#define AMPLE		0x100000u	/* more events than a short window has */

static u64 below_the_end(unsigned counter, u64 n)
{
	return BIT(counter_width(counter)) - n;
}

/*
 * V6-12  MSR 1900H + 4n must be IA32_PMCn: what is written to one must be read from the other.
 * V6-14  MSR 1901H + 4n must be IA32_PERFEVTSELn.
 *        Linux: V6+ MSR aliasing
 *
 * Given  186H + n selects stores, and IA32_PMCn is 5
 * When   1901H + 4n is written with branches, INT and EN, and 1900H + 4n with -100; LVTPC is
 *        masked, and a loop of loads and branches runs
 * Then   the counter holds the number of the loop's branches minus 100, and its status bit is 1
 */
TEST(version6, counter_counts_what_its_registers_of_1900h_say, REQS(V6_12, V6_14),
     NEEDS(need_perfmon, need_version_6, need_branches, need_events))
{
	static const struct pmi_options masked = { .masked = true };

	FOR_EACH_COUNTER (c, counter_caps()->gp_mask) {
		pmi_open(&masked);
		counter_program(c, STORES, COUNT_BOTH);
		counter_write(c, 5);
		msr_write(version6_cfg_a(c),
			  BRANCHES | COUNT_BOTH | COUNT_INT | IA32_PERFEVTSEL_EN);
		msr_write(version6_ctr(c), below_the_end(c, BELOW));
		workload_run(&workload_load, ROUNDS, pmc_one(c));
		pmi_close();
		CHECK_RANGE(t, IDS(V6_12, V6_14), ROUNDS - BELOW, ROUNDS - BELOW + SLACK,
			    counter_read(c), "IA32_PMC%u, %u branches from -%u on", c, ROUNDS,
			    BELOW);
		CHECK_EQ(t, IDS(V6_12, V6_14), BIT(c), counters_status() & BIT(c),
			 "status bit of IA32_PMC%u", c);
		overflow_off(c);
	}
}

static u64 sure_counters(void)
{
	return counter_caps()->gp_mask | (counters_all().bits & BITS(32, 35));
}

/*
 * V6-12  MSR 1900H + 4n must be IA32_PMCn: what is written to one must be read from the other.
 * V6-15  MSR 1980H + 4i must be fixed counter i.
 *        Linux: V6+ MSR aliasing
 *
 * Given  a counter that is counting: each general-purpose one, fixed counters 0 to 3
 * When   a quarter of its range is written to 1900H + 4n or 1980H + 4i, and a loop runs
 * Then   it counts on from that value
 */
TEST(version6, write_to_a_register_of_1900h_changes_a_counter_that_counts, REQS(V6_12, V6_15),
     NEEDS(need_perfmon, need_version_6, need_branches))
{
	FOR_EACH_COUNTER (c, sure_counters()) {
		const u64 value = BIT(counter_width(c) - 2);

		counter_program(c, BRANCHES, COUNT_BOTH);
		counter_write(c, 0);
		counters_enable(pmc_one(c));
		msr_write(version6_ctr(c), value);
		workload_run_uncounted(&workload_load, ROUNDS);
		counters_disable();
		test_check_range(t, PMC_IS_FIXED(c) ? AT(V6_15) : AT(V6_12),
				 value + (PMC_IS_FIXED(c) ? 1 : ROUNDS), value + AMPLE,
				 counter_read(c), "counter %u after %#x was written", c,
				 version6_ctr(c));
		counter_program_disabled(c, 0, 0);
	}
}

/*
 * V6-12  MSR 1900H + 4n must be IA32_PMCn: what is written to one must be read from the other.
 * V6-14  MSR 1901H + 4n must be IA32_PERFEVTSELn.
 * V6-15  MSR 1980H + 4i must be fixed counter i.
 *        Linux: V6+ MSR aliasing
 *
 * Given  each general-purpose counter selects branches and INT by 1901H + 4n; fixed counters 0 to 3
 *        have PMI
 * When   each is written a little below its end by 1900H + 4n or 1980H + 4i, and counts
 * Then   there is one interrupt, whose handler finds its status bit
 */
TEST(version6, counter_interrupts_from_what_its_register_of_1900h_was_written,
     REQS(V6_12, V6_14, V6_15), NEEDS(need_perfmon, need_version_6, need_branches))
{
	FOR_EACH_COUNTER (c, sure_counters()) {
		const bool fixed = PMC_IS_FIXED(c), slow = c == OVERFLOW_SLOW;
		const struct test_claim claim = fixed ? AT(V6_15) : AT(V6_12, V6_14);
		const struct pmi_log *log;

		pmi_open(NULL);
		counter_program(c, STORES, fixed ? COUNT_BOTH | COUNT_INT : COUNT_BOTH);
		counter_write(c, 5);
		if (!fixed)
			msr_write(version6_cfg_a(c),
				  BRANCHES | COUNT_BOTH | COUNT_INT | IA32_PERFEVTSEL_EN);
		msr_write(version6_ctr(c), below_the_end(c, slow ? SLOW_PERIOD : BELOW));
		for (unsigned windows = 0; overflow_needs_window(c, windows); windows++)
			workload_run(&workload_load, slow ? SLOW_ROUNDS : ROUNDS, pmc_one(c));
		log = pmi_end();
		if (test_check_range(t, claim, 1, 1 + overflow_extra(t, c), log->count,
				     "interrupts of counter %u", c))
			test_check_eq(t, claim, BIT(c), log->entry[0].status & BIT(c),
				      "status bit of counter %u in the handler", c);
		overflow_off(c);
	}
}
