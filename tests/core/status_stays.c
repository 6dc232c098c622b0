/* SPDX-License-Identifier: MIT */
/*
 * Operations that must not change bits of IA32_PERF_GLOBAL_STATUS: writes and reads of all other
 * registers, records of other counters, records below the threshold. SDM "Architectural Performance
 * Monitoring Version 2 Facilities" (the bits are cleared by IA32_PERF_GLOBAL_OVF_CTRL), "PEBS
 * Record Format".
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"

#define TRIES	4	/* the cause of CondChgd isn't documented, so it may be set again */

/* Status bits of counters, while counter c is tested. */
static u64 bits_of_counters(const struct test *t, unsigned c)
{
	return overflow_status() & counters_all().bits & ~overflow_bit_set_again(t, c);
}

/* Write the registers that belong to counter c; its number in them. */
static void check_own_writes(struct test *t, struct test_claim claim, unsigned c, bool interrupts)
{
	static const u64 values[] = { 0, 1, 0x12345678 };

	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		counter_write(c, values[i]);
		test_check_eq(t, claim, BIT(c), bits_of_counters(t, c),
			      "status after a write of %#lx to counter %u, INT = %u", values[i], c,
			      interrupts);
		if (!PMC_IS_FIXED(c)) {
			msr_write(MSR_IA32_PMC0 + c, values[i]);
			test_check_eq(t, claim, BIT(c), bits_of_counters(t, c),
				      "status after a write of %#lx to IA32_PMC%u, INT = %u",
				      values[i], c, interrupts);
		}
	}
	counter_read(c);
	rdpmc(PMC_IS_FIXED(c) ? (u32)(RDPMC_FIXED | (c - PMC_FIXED(0))) : c);
	test_check_eq(t, claim, BIT(c), bits_of_counters(t, c), "status after counter %u was read",
		      c);
}

static void check_other_writes(struct test *t, struct test_claim claim, unsigned c)
{
	const u64 all = counters_all().bits;

	for (unsigned other = 0; other < WINDOW_COUNTERS; other++) {
		if (!(all & BIT(other)) || other == c)
			continue;
		counter_write(other, 0);
		counter_program_disabled(other, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH | COUNT_INT);
		counter_program_disabled(other, 0, 0);
	}
	test_check_eq(t, claim, BIT(c), bits_of_counters(t, c),
		      "status of counter %u after all others were written", c);
	counter_program_disabled(c, 0, 0);
	counters_enable((struct pmc_mask){ all });
	counters_disable();
	counters_clear(0);
	counters_clear(all & ~BIT(c));
	test_check_eq(t, claim, BIT(c), bits_of_counters(t, c),
		      "status of counter %u after its enable, IA32_PERF_GLOBAL_CTRL and the other "
		      "bits of IA32_PERF_GLOBAL_OVF_CTRL were written",
		      c);
}

/*
 * STS-16  A status bit must stay set when its counter is disabled or rewritten.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  each counter that overflows in a window, with INT = 0 and with INT = 1; LVTPC is masked,
 *        so that no handler clears anything
 * When   it is written and read by each of its registers; the others and their enables are written;
 *        its enable, IA32_PERF_GLOBAL_CTRL, and the other bits of IA32_PERF_GLOBAL_OVF_CTRL
 * Then   its status bit, and no other one, is set after each
 * Control: it was set, and a write of it to IA32_PERF_GLOBAL_OVF_CTRL clears it
 */
TEST(pmi, status_bit_of_each_counter_stays_whatever_else_is_written, REQS(STS_16),
     NEEDS(need_perfmon, need_branches, need_fixed_0_to_2))
{
	static const struct pmi_options masked = { .masked = true };
	const u64 all = counters_all().bits;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(all & BIT(c)) || !overflow_comes(c))
			continue;
		for (unsigned interrupts = 0; interrupts < 2; interrupts++) {
			pmi_open(&masked);
			overflow(c, interrupts ? COUNT_INT : 0);
			CONTROL_EQ(t, STS_16, BIT(c), bits_of_counters(t, c),
				   "status after an overflow of counter %u, INT = %u", c,
				   interrupts);
			check_own_writes(t, AT(STS_16), c, interrupts);
			check_other_writes(t, AT(STS_16), c);
			overflow_off(c);
			if (!overflow_extra(t, c))
				CONTROL_EQ(t, STS_16, 0, bits_of_counters(t, c),
					   "status after bit %u was cleared", c);
			counters_clear(BIT(c));
			pmi_close();
		}
	}
}

/*
 * PMI-08  A write to IA32_PERF_GLOBAL_OVF_CTRL must clear the named bits of
 *         IA32_PERF_GLOBAL_STATUS and no others.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  each counter that overflows in a window has overflowed. The manual doesn't say what sets
 *        CondChgd (bit 63): it may be set or clear
 * When   1 is written to bit 63 of IA32_PERF_GLOBAL_OVF_CTRL, a few times where it is set again
 * Then   bit 63 of the status reads 0, and the counter's bit is still set
 * Control: the counter's bit was set
 */
TEST(pmi, condchgd_is_clear_after_software_cleared_it, REQS(PMI_08),
     NEEDS(need_perfmon, need_branches, need_fixed_0_to_2))
{
	const u64 all = counters_all().bits, changed = IA32_PERF_GLOBAL_STATUS_COND_CHGD;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		u64 status = changed;

		if (!(all & BIT(c)) || !overflow_comes(c))
			continue;
		overflow(c, 0);
		CONTROL_EQ(t, PMI_08, BIT(c), bits_of_counters(t, c),
			   "status after an overflow of %u", c);
		for (unsigned i = 0; i < TRIES && status & changed; i++) {
			counters_clear(changed);
			status = counters_status();
		}
		CHECK_EQ(t, PMI_08, BIT(c),
			 status & (changed | all) & ~overflow_bit_set_again(t, c),
			 "CondChgd and the counters' bits after CondChgd was cleared, counter %u "
			 "having overflowed",
			 c);
		overflow_off(c);
	}
}

/* Set OvfBuf and the bit of each counter that overflows in a window. Returns these bits. 0: no
 * record. */
static u64 set_every_status_bit(struct test *t)
{
	struct ds_setup setup = sampling_setup(8);
	u64 set = IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	struct pebs_record record;

	setup.threshold = 1;
	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	if (!sampling_one_record(t, CONTROL_AT(PMI_08), &record))
		return 0;
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (counters_all().bits & BIT(c) && overflow_comes(c)) {
			overflow(c, 0);
			counter_program_disabled(c, 0, 0);
			set |= BIT(c);
		}
	return set;
}

/*
 * PMI-08  A write to IA32_PERF_GLOBAL_OVF_CTRL must clear the named bits of
 *         IA32_PERF_GLOBAL_STATUS and no others.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  OvfBuf and the bits of all counters are set: by a record at the threshold, by overflows
 * When   IA32_PERF_GLOBAL_OVF_CTRL is written with one bit at a time, from bit 63 (CondChgd)
 *        downwards; then the same from bit 0 upwards; then with OvfBuf and the bits of all
 *        general-purpose counters, or of all fixed ones, at once
 * Then   after each write the named bits are clear, and those not named yet are still set
 * Control: all were set each time
 */
TEST(ds, each_status_bit_is_cleared_beside_ovfbuf_and_every_other, REQS(PMI_08),
     NEEDS(need_perfmon, need_any_pebs, need_events, need_branches, need_fixed_0_to_2))
{
	const u64 kinds[] = { counters_gp().bits, counters_fixed().bits };
	const u64 repeats = overflow_extra(t, OVERFLOW_SLOW) ? BIT(OVERFLOW_SLOW) : 0;

	for (unsigned upwards = 0; upwards < 2; upwards++) {
		const u64 all = set_every_status_bit(t);
		u64 left = all;

		if (!all)
			return;
		CONTROL_EQ(t, PMI_08, all, overflow_status() & all, "status with every bit set");
		for (unsigned i = 0; i < 64; i++) {
			const u64 bit = BIT(upwards ? i : 63 - i);

			if (!((all | IA32_PERF_GLOBAL_STATUS_COND_CHGD) & bit))
				continue;
			counters_clear(bit);
			left &= ~bit;
			CHECK_EQ(t, PMI_08, left, counters_status() & all & ~(repeats & ~left),
				 "status after 1 was written to the bits %s %u, one by one",
				 upwards ? "up to" : "down to", upwards ? i : 63 - i);
		}
		counter_reset();
	}
	for (unsigned i = 0; i < 2; i++) {
		const u64 all = set_every_status_bit(t);
		const u64 named = kinds[i] | IA32_PERF_GLOBAL_STATUS_OVF_BUF;

		if (!all)
			return;
		CONTROL_EQ(t, PMI_08, all, overflow_status() & all, "status with every bit set");
		counters_clear(named);
		CHECK_EQ(t, PMI_08, all & ~named, counters_status() & all & ~(repeats & named),
			 "status after OvfBuf and the bits %#lx were written at once", kinds[i]);
		counter_reset();
	}
}

/*
 * DS-22  An assist must clear the overflow bits of the counters that overflowed and are enabled
 *        for PEBS, and no others.
 *        SDM 18.9.4.1 PEBS Record Format
 *
 * Given  each fixed counter and each general-purpose counter but one have overflowed, without PEBS
 * When   that one makes a record; each in turn
 * Then   its bit is clear, and those of all others are set
 * Control: they were set before
 */
TEST(ds, assist_leaves_the_status_bits_of_every_other_counter, REQS(DS_22),
     NEEDS(need_perfmon, need_any_pebs, need_events, need_branches, need_fixed_0_to_2))
{
	FOR_EACH_COUNTER (c, counters_gp().bits & BITS(0, PEBS_COUNTERS - 1)) {
		const struct ds_setup setup = sampling_setup(8);
		const u64 others = counters_all().bits & ~BIT(c);
		const u64 judged = sampling_clears_status(t) ? ~0ULL : ~BIT(c);
		struct pebs_record record;

		for (unsigned i = 0; i < WINDOW_COUNTERS; i++)
			if (others & BIT(i)) {
				overflow(i, 0);
				counter_program_disabled(i, 0, 0);
			}
		CONTROL_EQ(t, DS_22, others, bits_of_counters(t, c), "status before the record");
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		if (sampling_one_record(t, AT(DS_22), &record))
			CHECK_EQ(t, DS_22, others, bits_of_counters(t, c) & judged,
				 "status after a record of IA32_PMC%u, all others having "
				 "overflowed before",
				 c);
		counter_reset();
	}
}

/*
 * STS-17  OvfBuf (IA32_PERF_GLOBAL_STATUS[62]) must be set by the DS threshold, be cleared by
 *         IA32_PERF_GLOBAL_OVF_CTRL[62], and not be set by a plain overflow.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2; 18.8.1.1 Processor Event
 *         Based Sampling (PEBS)
 *
 * Given  OvfBuf is set, by a record at the threshold
 * When   the index is at the base again, the threshold is out of reach, and another record is made
 * Then   OvfBuf is still set: IA32_PERF_GLOBAL_OVF_CTRL[62] clears it, and nothing else does
 * Control: it was set; the write clears it, and after that such a record leaves it clear
 */
TEST(ds, ovfbuf_stays_set_when_a_later_record_is_below_the_threshold, REQS(STS_17),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	const u64 buffer = IA32_PERF_GLOBAL_STATUS_OVF_BUF;

	FOR_EACH_COUNTER (c, counters_gp().bits & BITS(0, PEBS_COUNTERS - 1)) {
		struct ds_setup setup = sampling_setup(8);
		struct pebs_record record;
		u64 after;

		setup.threshold = 1;
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		if (!sampling_one_record(t, CONTROL_AT(STS_17), &record))
			return;
		CONTROL_EQ(t, STS_17, buffer, overflow_status() & buffer,
			   "OvfBuf after a record of IA32_PMC%u at the threshold", c);
		setup.threshold = 8;
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		after = overflow_status();
		if (!sampling_one_record(t, CONTROL_AT(STS_17), &record))
			return;
		CHECK_EQ(t, STS_17, buffer, after & buffer,
			 "OvfBuf after a later record of IA32_PMC%u below the threshold", c);
		counters_clear(buffer);
		CHECK_EQ(t, STS_17, 0, overflow_status() & buffer, "OvfBuf after it was cleared");
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		CONTROL_EQ(t, STS_17, 0, overflow_status() & buffer,
			   "OvfBuf after another record below the threshold");
		counter_reset();
	}
}
