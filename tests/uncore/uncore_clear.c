/* SPDX-License-Identifier: MIT */
/*
 * Clearing the uncore's status: every bit is set, and each write clears one. SDM "Uncore
 * Performance Monitoring Management Facility", layouts of MSR_UNCORE_PERF_GLOBAL_STATUS and
 * MSR_UNCORE_PERF_GLOBAL_OVF_CTRL.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/counter.h"
#include "pmu/pmi.h"
#include "tests/frame/needs.h"
#include "tests/uncore/uncore.h"

#define CHG		UNCORE_PERF_GLOBAL_STATUS_CHG
#define COUNTER_BITS	(BITS(0, UNCORE_COUNTERS - 1) | EN_FC0)
#define PRESET		200	/* clocks before a wrap */
#define WAITS		64	/* waits for all of them, each of several hundred clocks */
#define STATUS_BITS	64u

/* All nine counters wrap, the fixed one with its interrupt. Returns the status after that. */
static u64 set_every_bit(void)
{
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
	pmi_open(NULL);
	for (unsigned c = 0; c < UNCORE_COUNTERS; c++) {
		uncore_count_filtered(c, UNCORE_CLOCKS);
		uncore_preset(c, PRESET + c);
	}
	uncore_program(UNCORE_FIXED, 0, true);
	uncore_preset(UNCORE_FIXED, PRESET);
	uncore_enable(COUNTER_BITS | uncore_cores());
	for (unsigned i = 0; i < WAITS && (uncore_status() & COUNTER_BITS) != COUNTER_BITS; i++)
		uncore_spin();
	uncore_enable(0);
	pmi_end();
	return uncore_status();
}

/* Write the count and the event select of each counter, with its enable and without; and read the
 * count. All of them are stopped. */
static void write_each_counter(void)
{
	for (unsigned i = 0; i <= UNCORE_COUNTERS; i++) {
		const unsigned c = i < UNCORE_COUNTERS ? i : UNCORE_FIXED;

		uncore_write(c, 0);
		uncore_program(c, UNC_L3_MISS_READ, true);
		uncore_program_disabled(c);
		uncore_read(c);
	}
}

/*
 * UNC-04  A bit of MSR_UNCORE_PERF_GLOBAL_STATUS must stay until 1 is written to it in
 *         MSR_UNCORE_PERF_GLOBAL_OVF_CTRL; writing 0 must have no effect.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility
 *
 * Given  every counter has wrapped, the fixed one with its PMI enable: OVF_PMI is set; CHG, of
 *        which the manual says only that it reports a change, may be
 * When   0 is written to MSR_UNCORE_PERF_GLOBAL_OVF_CTRL; the count and the event select of each
 *        counter are written, and the count is read; then 1 is written to one bit of the register,
 *        each in turn, with every bit set again before
 * Then   0 changes nothing, and what is written to counters nothing but CHG; that bit alone is
 *        cleared and each other one is unchanged. CHG is unchanged too, unless it is the written
 *        bit; then it may report its own change
 * Control: the bits of all counters and OVF_PMI were set
 */
TEST(unc, each_write_to_the_uncore_ovf_ctrl_keeps_every_other_status_bit, REQS(UNC_04),
     NEEDS(need_perfmon, need_uncore))
{
	for (unsigned bit = 0; bit < STATUS_BITS; bit++) {
		u64 before, after;

		if (!((COUNTER_BITS | OVF_PMI | CHG) & BIT(bit)))
			continue;
		before = set_every_bit();
		CONTROL_EQ(t, UNC_04, COUNTER_BITS | OVF_PMI, before & (COUNTER_BITS | OVF_PMI),
			   "uncore status after all counters have wrapped");
		uncore_clear(0);
		CHECK_EQ(t, UNC_04, before, uncore_status(), "uncore status after 393H = 0");
		write_each_counter();
		CHECK_EQ(t, UNC_04, before & ~CHG, uncore_status() & ~CHG,
			 "uncore status but CHG after writes of each counter and event select");
		uncore_clear(BIT(bit));
		after = uncore_status();
		CHECK_EQ(t, UNC_04, before & ~(BIT(bit) | CHG), after & ~CHG,
			 "uncore status but CHG after 393H[%u] = 1", bit);
		if (BIT(bit) != CHG)
			CHECK_EQ(t, UNC_04, before & CHG, after & before & CHG,
				 "CHG, which was set, after 393H[%u] = 1", bit);
		uncore_off();
	}
}

/* Only this counter wraps, without its interrupt. Returns the status after that. */
static u64 set_bit_of(unsigned c)
{
	const u64 bit = c < UNCORE_COUNTERS ? BIT(c) : EN_FC0;

	if (c < UNCORE_COUNTERS)
		uncore_count_filtered(c, UNCORE_CLOCKS);
	else
		uncore_program(UNCORE_FIXED, 0, false);
	uncore_preset(c < UNCORE_COUNTERS ? c : UNCORE_FIXED, PRESET);
	uncore_enable(bit);
	for (unsigned i = 0; i < WAITS && !(uncore_status() & bit); i++)
		uncore_spin();
	uncore_enable(0);
	return uncore_status();
}

/*
 * UNC-04  A bit of MSR_UNCORE_PERF_GLOBAL_STATUS must stay until 1 is written to it in
 *         MSR_UNCORE_PERF_GLOBAL_OVF_CTRL; writing 0 must have no effect.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility
 *
 * Given  one counter alone has wrapped, each in turn, without its interrupt; CHG, of which the
 *        manual says only that it reports a change, may be set
 * When   1 is written to that counter's bit of MSR_UNCORE_PERF_GLOBAL_OVF_CTRL, so that no
 *        counter's bit is left
 * Then   CHG, if it was set, still is
 * Control: the counter's bit alone was set together with CHG, and the write has cleared it; CHG is
 *        set for some counter, or the test is INCONCLUSIVE
 */
TEST(unc, clearing_the_only_counter_bit_keeps_chg, REQS(UNC_04), NEEDS(need_perfmon, need_uncore))
{
	unsigned with_chg = 0;

	for (unsigned c = 0; c <= UNCORE_COUNTERS; c++) {
		const u64 bit = c < UNCORE_COUNTERS ? BIT(c) : EN_FC0;
		const u64 before = set_bit_of(c);

		CONTROL_EQ(t, UNC_04, bit, before & ~CHG,
			   "uncore status but CHG, one counter has wrapped");
		uncore_clear(bit);
		CONTROL_EQ(t, UNC_04, 0, uncore_status() & ~CHG,
			   "uncore status but CHG after 393H = %#lx", bit);
		if (before & CHG) {
			with_chg++;
			CHECK_EQ(t, UNC_04, CHG, uncore_status() & CHG,
				 "CHG, which was set, after 393H = %#lx", bit);
		}
		uncore_off();
	}
	if (!with_chg)
		test_inconclusive(t, "CHG is never set");
}
