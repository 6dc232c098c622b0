/* SPDX-License-Identifier: MIT */
/*
 * IA32_PERF_GLOBAL_OVF_CTRL while counters count, and with OvfBuf set: SDM "Architectural
 * Performance Monitoring Version 2 Facilities", Figure 18-8.
 */
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"
#include "tests/frame/test.h"

#define ROUNDS	200	/* enough for each counter's event to occur more than PERIOD times */

static void run_until_all_wrap(void)
{
	unsigned last = counters_fixed().bits & BIT(OVERFLOW_SLOW) ? OVERFLOW_SLOW : 0;

	for (unsigned windows = 0; overflow_needs_window(last, windows); windows++)
		workload_run_uncounted(&workload_load, windows ? SLOW_ROUNDS : ROUNDS);
}

/*
 * PMI-08  A write to IA32_PERF_GLOBAL_OVF_CTRL must clear the named bits of
 *         IA32_PERF_GLOBAL_STATUS and no others.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  all counters have wrapped, and go on
 * When   the bit of each is cleared, one after the other
 * Then   each time that bit alone is cleared; the bit of a counter that wraps again meanwhile isn't
 *        compared
 * Control: all bits were set
 */
TEST(pmi, status_bits_of_running_counters_can_be_cleared, REQS(PMI_08),
     NEEDS(need_perfmon, need_instructions))
{
	struct pmc_mask all = pmc_or(counters_gp(), counters_fixed());
	u64 want = all.bits, again = 0, seen[WINDOW_COUNTERS];
	u64 first;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(all.bits & BIT(c)))
			continue;
		counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
		counter_preset(c, overflow_period(c));
	}
	counters_enable(all);
	run_until_all_wrap();
	first = overflow_status();
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (all.bits & BIT(c)) {
			counters_clear(BIT(c));
			seen[c] = overflow_status();
		}
	counters_disable();
	CONTROL_EQ(t, PMI_08, all.bits, first, "status after all have wrapped, while they count");
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (all.bits & BIT(c)) {
			want &= ~BIT(c);
			if (overflow_extra(t, c))
				again |= BIT(c);
			CHECK_EQ(t, PMI_08, want, seen[c] & ~again,
				 "status after clearing bit %u, while its counter counts", c);
		}
}

static bool need_gp_and_fixed(char *reason, size_t size)
{
	return need_instructions(reason, size) && need_fixed_0_to_2(reason, size);
}

/*
 * STS-03  A 0 bit of a write to IA32_PERF_GLOBAL_OVF_CTRL must leave its status bit as it is.
 * STS-11  Bits of IA32_PERF_GLOBAL_STATUS of counters that do not exist must never be set.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  IA32_PMC0, IA32_PMC1 and fixed counters 0 and 1 overflowed, one after the other
 * When   0 is written, then the bit of each
 * Then   0 leaves all bits and the bit of one leaves the others'; no bit of a counter that CPUID
 *        doesn't enumerate is set
 * Control: all four bits were set
 */
TEST(pmi, status_bits_stay_that_ovf_ctrl_is_not_told_of, REQS(STS_03, STS_11),
     NEEDS(need_perfmon, need_branches, need_two_counters, need_gp_and_fixed))
{
	static const unsigned of[] = { 0, 1, PMC_FIXED(0), PMC_FIXED(1) };
	const u64 none = ~counters_all().bits & BITS(0, 47);
	u64 want = 0;

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		overflow(of[i], 0);
		want |= BIT(of[i]);
		CHECK_EQ(t, STS_11, 0, overflow_status() & none,
			 "status bits of no counter after counter %u overflowed", of[i]);
	}
	CONTROL_EQ(t, IDS(STS_03, STS_11), want, overflow_status() & BITS(0, 47),
		   "status after four overflows");
	counters_clear(0);
	CHECK_EQ(t, STS_03, want, overflow_status() & BITS(0, 47), "status after 0 was written");
	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		want &= ~BIT(of[i]);
		counters_clear(BIT(of[i]));
		CHECK_EQ(t, STS_03, want, overflow_status() & BITS(0, 47),
			 "status after bit %u was written", of[i]);
	}
}

/* Set OvfBuf, and the bit of IA32_PMC1, which counts branches without PEBS. */
static u64 fill(void)
{
	struct ds_setup setup = sampling_setup(8);

	setup.threshold = 1;
	setup.reset[0] = pebs_reset_value(0, PERIOD);
	ds_open(&setup);
	pebs_arm(0, LOADS, COUNT_BOTH, PERIOD);
	overflow_prepare(1, 0);
	workload_run(&workload_load, 4 * PERIOD, pmc_or(pmc_one(0), pmc_one(1)));
	pebs_disarm();
	return overflow_status() & (IA32_PERF_GLOBAL_STATUS_OVF_BUF | BIT(1));
}

/*
 * PMI-08  A write to IA32_PERF_GLOBAL_OVF_CTRL must clear the named bits of
 *         IA32_PERF_GLOBAL_STATUS and no others.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 * STS-17  OvfBuf (IA32_PERF_GLOBAL_STATUS[62]) must be set by the DS threshold, be cleared by
 *         IA32_PERF_GLOBAL_OVF_CTRL[62], and not be set by a plain overflow.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2; 18.8.1.1 Processor Event
 *         Based Sampling (PEBS)
 *
 * Given  bit 1, by IA32_PMC1 without PEBS, which leaves OvfBuf 0; both, by a record at the
 *        threshold too, three times
 * When   both are cleared by one write; OvfBuf alone; bit 1 alone
 * Then   exactly the bits that were written are cleared
 * Control: both were set each time
 */
TEST(pmi, ovfbuf_is_cleared_beside_a_counter_bit_and_alone, REQS(PMI_08, STS_17),
     NEEDS(need_perfmon, need_pebs, need_events, need_branches, need_two_counters))
{
	const u64 buffer = IA32_PERF_GLOBAL_STATUS_OVF_BUF, both = buffer | BIT(1);

	overflow(1, 0);
	CHECK_EQ(t, STS_17, BIT(1), overflow_status() & both, "after an overflow, without PEBS");
	CONTROL_EQ(t, IDS(PMI_08, STS_17), both, fill(), "OvfBuf and bit 1 after both came about");
	counters_clear(both);
	CHECK_EQ(t, PMI_08, 0, overflow_status() & both, "after one write that clears both");
	CONTROL_EQ(t, PMI_08, both, fill(), "OvfBuf and bit 1, again");
	counters_clear(buffer);
	CHECK_EQ(t, IDS(PMI_08, STS_17), BIT(1), overflow_status() & both,
		 "after a write that clears OvfBuf");
	CONTROL_EQ(t, PMI_08, both, fill() | BIT(1), "OvfBuf, again");
	counters_clear(BIT(1));
	CHECK_EQ(t, PMI_08, buffer, overflow_status() & both, "after a write that clears bit 1");
	counters_clear(both);
}
