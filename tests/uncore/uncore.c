/* SPDX-License-Identifier: MIT */
/*
 * The registers of the uncore of Nehalem and Westmere, and when its counters count: SDM
 * "Performance Monitoring Facility in the Uncore", "Uncore Performance Monitoring Management
 * Facility", "Uncore Performance Event Configuration Facility". Its interrupts are in
 * uncore_interrupt.c.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/counter.h"
#include "pmu/pmi.h"
#include "tests/measure/cache_workload.h"
#include "tests/frame/needs.h"
#include "tests/uncore/uncore.h"

#define TICKS		500	/* clocks of the uncore; longer than an interrupt takes to arrive */
#define SPIN		32	/* times TICKS: the longest wait for an overflow */

void uncore_spin(void)
{
	unsigned rounds = TICKS;

	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(rounds)::"cc", "memory");
}

void uncore_wait_for_wrap(void)
{
	static bool in_vain;
	unsigned tries = in_vain ? 2 : SPIN;

	while (!(uncore_status() & OVF_FC0) && tries) {
		uncore_spin();
		tries--;
	}
	in_vain = !tries;
}

void uncore_program_fixed(bool pmi)
{
	uncore_program(UNCORE_COUNTERS - 1, UNC_L3_MISS_READ, false);
	uncore_program(UNCORE_FIXED, 0, pmi);
}

void uncore_wrap(bool pmi, u64 control)
{
	uncore_preset(UNCORE_FIXED, TICKS);
	uncore_program_fixed(pmi);
	uncore_enable(EN_FC0 | control);
	uncore_wait_for_wrap();
}

u64 uncore_cores(void)
{
	static u64 taken;
	u64 bits = 0;

	if (taken)
		return taken;
	for (unsigned bit = EN_PMI_CORE_FIRST; bit <= EN_PMI_CORE_LAST; bit++)
		if (!msr_try_write(MSR_UNCORE_PERF_GLOBAL_CTRL, BIT(bit)).raised)
			bits |= BIT(bit);
	uncore_enable(0);
	taken = bits ? bits : EN_PMI_CORES;
	return taken;
}

void uncore_off(void)
{
	uncore_reset();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	counters_clear(counters_status());
}

bool uncore_reaches(struct test *t)
{
	unsigned count;

	if (!test_erratum(t, ERRATUM_UNCORE_CORES))
		return true;
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
	pmi_open(NULL);
	uncore_wrap(true, uncore_cores());
	count = pmi_end()->count;
	uncore_off();
	if (count)
		return true;
	test_inconclusive(t, "no bit of MSR_UNCORE_PERF_GLOBAL_CTRL[51:48] selects this core");
	return false;
}

void uncore_count_filtered(unsigned counter, u64 bits)
{
	uncore_program(counter, UNC_L3_MISS_READ, false);
	msr_write(MSR_UNCORE_PERFEVTSEL0 + counter,
		  msr_read(MSR_UNCORE_PERFEVTSEL0 + counter) | bits);
	uncore_write(counter, 0);
}

/* From the figures: event, umask, E 18, PMI 20, INV 23, CMASK. EN 22 stays 0. */
#define SELECT_FIELDS	0xff94ffffULL
#define READINGS	2	/* reads of a status that must not change */

/* Patterns in which each bit differs from every other bit at least once. */
static const u64 patterns[] = { 0, 0x0000ffffffffffff, 0x0000555555555555, 0x0000aaaaaaaaaaaa,
				0x0000800000000001 };

/*
 * UNC-01  Each uncore counter must hold 48 bits, and its event select what is written to it.
 *         SDM 18.8.2.2 Uncore Performance Event Configuration Facility
 * UNC-06  MSR_UNCORE_PERF_GLOBAL_CTRL must hold its enable, core and freeze bits.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility
 *
 * Given  five values of 48 bits, in which any two bits differ somewhere; an event select without
 *        its reserved bits, enable EN (bit 22) 0
 * When   each is written to MSR_UNCORE_FIXED_CTR0 and to each MSR_UNCORE_PMC; to each
 *        MSR_UNCORE_PERFEVTSEL; each enable, core and freeze bit alone to
 *        MSR_UNCORE_PERF_GLOBAL_CTRL
 * Then   the value read is the value written
 */
TEST(msr, uncore_registers_hold_every_bit, REQS(UNC_01, UNC_06), NEEDS(need_uncore))
{
	const u64 cores = uncore_cores();

	for (unsigned p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		for (unsigned c = 0; c <= UNCORE_COUNTERS; c++) {
			unsigned counter = c < UNCORE_COUNTERS ? c : UNCORE_FIXED;

			uncore_write(counter, patterns[p]);
			CHECK_EQ(t, UNC_01, patterns[p], uncore_read(counter),
				 "uncore counter %u after writing it", counter);
		}
		for (u32 c = 0; c < UNCORE_COUNTERS; c++) {
			msr_write(MSR_UNCORE_PERFEVTSEL0 + c, patterns[p] & SELECT_FIELDS);
			CHECK_EQ(t, UNC_01, patterns[p] & SELECT_FIELDS,
				 msr_read(MSR_UNCORE_PERFEVTSEL0 + c),
				 "MSR_UNCORE_PERFEVTSEL%u after writing it", c);
			msr_write(MSR_UNCORE_PERFEVTSEL0 + c, 0);
		}
	}
	for (unsigned bit = 0; bit < 64; bit++) {
		u64 value = BIT(bit) & (BITS(0, 7) | EN_FC0 | cores | PMI_FRZ);

		if (!value)
			continue;
		uncore_enable(value);
		CHECK_EQ(t, UNC_06, value, msr_read(MSR_UNCORE_PERF_GLOBAL_CTRL),
			 "391H after writing it");
	}
	uncore_off();
}

bool uncore_moves(void)
{
	u64 before = uncore_read(UNCORE_FIXED);

	uncore_spin();
	return uncore_read(UNCORE_FIXED) != before;
}

/*
 * UNC-02  An uncore counter must count only while it is enabled in its control register and in
 *         MSR_UNCORE_PERF_GLOBAL_CTRL.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility
 *
 * Given  MSR_UNCORE_FIXED_CTR0, which counts the uncore's clock
 * When   it is read twice under each combination of EN in MSR_UNCORE_FIXED_CTR_CTRL and EN_FC0 in
 *        MSR_UNCORE_PERF_GLOBAL_CTRL
 * Then   it has moved only where both are 1
 */
TEST(unc, uncore_counter_counts_only_with_local_and_global_enable, REQS(UNC_02), NEEDS(need_uncore),
     .under_every_fault = true)
{
	for (unsigned both = 0; both < 4; both++) {
		bool own = both & 1, global = both & 2;

		if (own)
			uncore_program(UNCORE_FIXED, 0, false);
		else
			uncore_program_disabled(UNCORE_FIXED);
		uncore_enable(global ? EN_FC0 : 0);
		CHECK_EQ(t, UNC_02, own && global, uncore_moves(),
			 "the fixed counter moves with EN = %u, EN_FC0 = %u", own, global);
	}
	uncore_off();
}

/*
 * UNC-02  An uncore counter must count only while it is enabled in its control register and in
 *         MSR_UNCORE_PERF_GLOBAL_CTRL.
 * UNC-03  An uncore counter that wraps must set its bit of MSR_UNCORE_PERF_GLOBAL_STATUS.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility
 *
 * Given  each general-purpose counter counts reads that miss the L3, and wraps after half of the
 *        loads of flushed lines
 * When   the loads run with EN = 1 and the counter's bit in MSR_UNCORE_PERF_GLOBAL_CTRL 0, then
 *        with it 1; the fixed counter wraps
 * Then   no bit, then the bit of the counter is the only one of a counter in
 *        MSR_UNCORE_PERF_GLOBAL_STATUS
 */
TEST(unc, uncore_counter_that_wraps_sets_its_own_status_bit, REQS(UNC_02, UNC_03),
     NEEDS(need_uncore))
{
	struct cache_workload h;

	if (!cache_workload_or_skip(t, ACCESS_MEMORY, &h))
		return;
	for (unsigned c = 0; c < UNCORE_COUNTERS; c++) {
		uncore_preset(c, MISSES / 2);
		uncore_program(c, UNC_L3_MISS_READ, false);
		cache_workload_run(&h, MISSES, (struct pmc_mask){ 0 });
		CHECK_EQ(t, UNC_02, 0, uncore_status() & BIT(c),
			 "status bit %u, EN = 1, EN_PC%u = 0", c, c);
		uncore_enable(BIT(c));
		cache_workload_run(&h, MISSES, (struct pmc_mask){ 0 });
		uncore_enable(0);
		CHECK_EQ(t, UNC_03, BIT(c), uncore_status() & (BITS(0, 7) | OVF_FC0),
			 "uncore status after counter %u wrapped", c);
		uncore_off();
	}
	uncore_wrap(false, 0);
	CHECK_EQ(t, UNC_03, OVF_FC0, uncore_status() & (BITS(0, 7) | OVF_FC0),
		 "uncore status after the fixed counter wrapped");
	uncore_off();
}

/*
 * UNC-04  A bit of MSR_UNCORE_PERF_GLOBAL_STATUS must stay until 1 is written to it in
 *         MSR_UNCORE_PERF_GLOBAL_OVF_CTRL; writing 0 must have no effect.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility
 *
 * Given  the fixed counter has wrapped, and counting is off
 * When   the status is read twice; MSR_UNCORE_PERF_GLOBAL_OVF_CTRL (393H) is written: 0, bit 0,
 *        bit 32
 * Then   bit 32 of MSR_UNCORE_PERF_GLOBAL_STATUS, of the fixed counter, is 1 until the last write
 *        and 0 then
 */
TEST(unc, uncore_status_bit_stays_until_1_is_written_to_it, REQS(UNC_04), NEEDS(need_uncore),
     .under_every_fault = true)
{
	uncore_wrap(false, 0);
	uncore_enable(0);
	for (unsigned i = 0; i < READINGS; i++)
		CHECK_EQ(t, UNC_04, OVF_FC0, uncore_status() & OVF_FC0, "OVF_FC0, read %u", i + 1);
	uncore_clear(0);
	CHECK_EQ(t, UNC_04, OVF_FC0, uncore_status() & OVF_FC0, "OVF_FC0 after writing 0 to 393H");
	uncore_clear(BIT(0));
	CHECK_EQ(t, UNC_04, OVF_FC0, uncore_status() & OVF_FC0, "OVF_FC0 after clearing bit 0");
	uncore_clear(OVF_FC0);
	CHECK_EQ(t, UNC_04, 0, uncore_status() & OVF_FC0, "OVF_FC0 after clearing it");
	uncore_off();
}
