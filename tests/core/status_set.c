/* SPDX-License-Identifier: MIT */
/*
 * Version 4: IA32_PERF_GLOBAL_STATUS_SET, and clearing these bits by IA32_PERF_GLOBAL_STATUS_RESET,
 * at the address of IA32_PERF_GLOBAL_OVF_CTRL. SDM "IA32_PERF_GLOBAL_STATUS_RESET and
 * IA32_PERF_GLOBAL_STATUS_SET MSRs". The manual doesn't say whether a bit that software sets causes
 * an interrupt, so no counter has its interrupt enabled here.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/processor/cpuid.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/two_cpus.h"

#define FREEZES	(IA32_PERF_GLOBAL_STATUS_LBR_FRZ | IA32_PERF_GLOBAL_STATUS_CTR_FRZ)

/* Bits that Figure 18-12 names and each processor of this version has, with its own counters; where
 * there are metrics, also OVF_PERF_METRICS of volume 4. */
static u64 settable(const struct test *t)
{
	u64 bits = counters_all().bits | FREEZES | overflow_settable_buffer(t);

	if (counter_caps()->metrics)
		bits |= IA32_PERF_GLOBAL_STATUS_OVF_PERF_METRICS;
	return bits;
}

/* Bits that depend on other facilities, and the fields that enumerate these. */
static const struct {
	u64 bit;
	enum cpuid_field facility;
} optional[] = {
	{ IA32_PERF_GLOBAL_STATUS_TRACE_TOPA_PMI, CPUID_PT },
	{ IA32_PERF_GLOBAL_STATUS_ASCI, CPUID_SGX },
};
#define OPTIONALS (sizeof(optional) / sizeof(optional[0]))

static void set(u64 bits)
{
	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, bits);
}

static u64 status_with(u64 bits)
{
	u64 status;

	set(bits);
	status = overflow_status();
	counters_clear(bits);
	return status;
}

/* Let every counter count from 0, so that none overflows. */
static void count_on_all(void)
{
	FOR_EACH_COUNTER (c, counters_all().bits)
		counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counters_enable(counters_all());
}

/*
 * STS-01  Each bit that IA32_PERF_GLOBAL_STATUS_SET accepts must set the same bit of
 *         IA32_PERF_GLOBAL_STATUS and no other.
 * PMI-21  A bit written to IA32_PERF_GLOBAL_STATUS_SET must be set in IA32_PERF_GLOBAL_STATUS.
 *         SDM 18.2.4.2 IA32_PERF_GLOBAL_STATUS_RESET and IA32_PERF_GLOBAL_STATUS_SET
 *
 * Given  a status of 0; nothing counts, then every counter does
 * When   each bit that Figure 18-12 names for these counters is written to
 *        IA32_PERF_GLOBAL_STATUS_SET alone; those of counters while CTR_FRZ is set; all of them;
 *        Trace_ToPA_PMI and ASCI where they are accepted
 * Then   the status is what was written; on a processor without Processor Trace or SGX, the bit of
 *        that facility may be 0
 * Control: each is cleared again; fixed counter 0, where there is one, has counted
 */
TEST(msr, status_set_sets_each_bit_and_no_other, REQS(STS_01, PMI_21),
     NEEDS(need_perfmon, need_version_4), .under_every_fault = true)
{
	for (unsigned n = 0; n < 2 * 64; n++) {
		const unsigned bit = n % 64;

		if (n == 64)
			count_on_all();
		if (!(settable(t) & BIT(bit)))
			continue;
		CHECK_EQ(t, IDS(STS_01, PMI_21), BIT(bit), status_with(BIT(bit)),
			 "status after bit %u was written to IA32_PERF_GLOBAL_STATUS_SET%s", bit,
			 n < 64 ? "" : ", every counter on");
		CONTROL_EQ(t, STS_01, 0, overflow_status(), "status, cleared again");
	}
	counters_disable();
	FOR_EACH_COUNTER (c, counters_all().bits) {
		set(IA32_PERF_GLOBAL_STATUS_CTR_FRZ);
		CHECK_EQ(t, STS_01, BIT(c) | IA32_PERF_GLOBAL_STATUS_CTR_FRZ, status_with(BIT(c)),
			 "status after bit %u was written, CTR_FRZ being set", c);
		counters_clear(IA32_PERF_GLOBAL_STATUS_CTR_FRZ);
	}
	if (counters_fixed().bits & pmc_one(PMC_FIXED(0)).bits)
		CONTROL_RANGE(t, STS_01, 1, ~0ULL, counter_read(PMC_FIXED(0)), "fixed counter 0");
	for (unsigned i = 0; i < OPTIONALS; i++)
		if (!msr_try_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, optional[i].bit).raised) {
			u64 want = optional[i].bit;

			/* Without its facility a bit may be accepted and be 0. */
			if (!cpuid_get(optional[i].facility) && !test_is_strict(t))
				want &= overflow_status();
			CHECK_EQ(t, STS_01, want, overflow_status(),
				 "status after %#lx, which is accepted", optional[i].bit);
			counters_clear(optional[i].bit);
		}
	CHECK_EQ(t, STS_01, settable(t), status_with(settable(t)), "status after all bits at once");
}

/*
 * STS-02  A 0 bit of a write to IA32_PERF_GLOBAL_STATUS_SET must leave its status bit as it is.
 *         SDM 18.2.4.2 IA32_PERF_GLOBAL_STATUS_RESET and IA32_PERF_GLOBAL_STATUS_SET
 *
 * Given  bits of the status that are set
 * When   others are written to IA32_PERF_GLOBAL_STATUS_SET, and 0
 * Then   all of them are set
 */
TEST(msr, zero_bit_of_a_status_set_leaves_its_status_bit, REQS(STS_02),
     NEEDS(need_perfmon, need_version_4))
{
	u64 want = 0;

	for (unsigned bit = 0; bit < 64; bit++)
		if (settable(t) & BIT(bit)) {
			set(BIT(bit));
			want |= BIT(bit);
			CHECK_EQ(t, STS_02, want, overflow_status(),
				 "status after bit %u was set too", bit);
		}
	set(0);
	CHECK_EQ(t, STS_02, settable(t), overflow_status(), "status after 0 was written");
	counters_clear(settable(t));
}

/*
 * STS-03  A 0 bit of a write to IA32_PERF_GLOBAL_OVF_CTRL must leave its status bit as it is.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 * STS-04  IA32_PERF_GLOBAL_STATUS_RESET must clear LBR_Frz, CTR_Frz and ASCI on version 4.
 *         SDM 18.2.4.2 IA32_PERF_GLOBAL_STATUS_RESET and IA32_PERF_GLOBAL_STATUS_SET
 *
 * Given  every bit of the status is set
 * When   0 and each bit alone is written to IA32_PERF_GLOBAL_STATUS_RESET, from the highest
 *        downwards; the same from bit 0 upwards
 * Then   exactly the bits that were written are cleared, LBR_Frz, CTR_Frz and ASCI among them
 * Control: all were set
 */
TEST(msr, zero_bit_of_a_status_reset_leaves_its_status_bit, REQS(STS_03, STS_04),
     NEEDS(need_perfmon, need_version_4))
{
	u64 want = 0;

	for (unsigned i = 0; i < 2 * 64; i++) {
		const unsigned bit = i < 64 ? 63 - i : i - 64;
		const u64 named = BIT(bit);

		if (i % 64 == 0) {
			want = settable(t);
			set(want);
			CONTROL_EQ(t, IDS(STS_03, STS_04), want, overflow_status(),
				   "status after all bits were set");
			counters_clear(0);
			CHECK_EQ(t, STS_03, want, overflow_status(), "status after 0 was written");
		}
		if (!(settable(t) & named))
			continue;
		counters_clear(named);
		want &= ~named;
		CHECK_EQ(t, STS_03, want, overflow_status(), "status after bit %u was cleared, %s",
			 bit, i < 64 ? "downwards" : "upwards");
		if (FREEZES & named)
			CHECK_EQ(t, STS_04, 0, overflow_status() & named,
				 "bit %u after it was cleared", bit);
	}
	if (msr_try_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, IA32_PERF_GLOBAL_STATUS_ASCI).raised)
		return;
	CONTROL_EQ(t, STS_04, IA32_PERF_GLOBAL_STATUS_ASCI, overflow_status(),
		   "status after ASCI was set");
	counters_clear(IA32_PERF_GLOBAL_STATUS_ASCI);
	CHECK_EQ(t, STS_04, 0, overflow_status(), "status after ASCI was cleared");
}

/*
 * STS-14  A status bit set by IA32_PERF_GLOBAL_STATUS_SET must be indistinguishable from an
 *         overflow and be cleared alike.
 *         SDM 18.2.4.2 IA32_PERF_GLOBAL_STATUS_RESET and IA32_PERF_GLOBAL_STATUS_SET
 *
 * Given  bit 0 of the status, set by an overflow of IA32_PMC0 and cleared
 * When   software sets it, writes the counter and its event select, and clears it
 * Then   the bit reads 1 as after an overflow, stays set through the writes, and is cleared
 * Control: the bit is 1 after the overflow, and 0 after it was cleared
 */
TEST(pmi, status_bit_set_by_software_stays_until_software_clears_it, REQS(STS_14),
     NEEDS(need_perfmon, need_version_4, need_branches))
{
	overflow(0, 0);
	CONTROL_EQ(t, STS_14, 1, overflow_status(), "status after an overflow of IA32_PMC0");
	overflow_off(0);
	CONTROL_EQ(t, STS_14, 0, overflow_status(), "status after it was cleared");
	set(1);
	CHECK_EQ(t, STS_14, 1, overflow_status(), "status after software set bit 0");
	counter_write(0, 0);
	counter_program(0, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH);
	counter_program_disabled(0, 0, 0);
	counters_enable(pmc_one(0));
	counters_disable();
	CHECK_EQ(t, STS_14, 1, overflow_status(), "status after writes to the counter");
	counters_clear(1);
	CHECK_EQ(t, STS_14, 0, overflow_status(), "status after it was cleared");
}

/*
 * STS-01  Each bit that IA32_PERF_GLOBAL_STATUS_SET accepts must set the same bit of
 *         IA32_PERF_GLOBAL_STATUS and no other.
 *         SDM 18.2.4.2 IA32_PERF_GLOBAL_STATUS_RESET and IA32_PERF_GLOBAL_STATUS_SET
 * STS-11  Bits of IA32_PERF_GLOBAL_STATUS of counters that do not exist must never be set.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  a status of 0
 * When   bits of counters that CPUID doesn't enumerate are written to IA32_PERF_GLOBAL_STATUS_SET,
 *        which may raise #GP; each bit together with those of all counters
 * Then   a write that raises #GP sets none of them. Where every requirement is judged, no other
 *        write does: no sentence says what such a write does, and two threads may share a core
 *        that has the counters
 * Control: the bits of existing counters can be set
 */
TEST(msr, no_status_bit_of_a_counter_that_is_not_there_can_be_set, REQS(STS_01, STS_11),
     NEEDS(need_perfmon, need_version_4, need_not_hybrid))
{
	const u64 there = counters_all().bits, none = ~there & BITS(0, 47);

	for (unsigned bit = 0; bit < 48; bit++)
		if (none & BIT(bit)) {
			(void)msr_try_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, BIT(bit));
			if (test_is_strict(t))
				CHECK_EQ(t, STS_11, 0, counters_status() & none,
					 "status bits of no counter after bit %u was written", bit);
			(void)msr_try_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, counters_status());
		}
	for (unsigned bit = 0; bit < 64; bit++)
		if (msr_try_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, BIT(bit) | there).raised)
			CHECK_EQ(t, STS_01, 0, overflow_status(),
				 "status after a write of bit %u beside those of counters, which "
				 "raised #GP",
				 bit);
		else {
			if (test_is_strict(t))
				CHECK_EQ(t, STS_11, 0, counters_status() & none,
					 "status bits of no counter after bit %u was written "
					 "beside those of counters",
					 bit);
			(void)msr_try_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, counters_status());
		}
	set(there);
	CONTROL_EQ(t, STS_11, there, counters_status() & BITS(0, 47), "status bits of counters");
	counters_clear(there);
}

/*
 * STS-16  A status bit must stay set when its counter is disabled or rewritten.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  IA32_PMC0 has overflowed
 * When   its event select is written 0; the counter is written 0
 * Then   the status bit stays set until software clears it
 * Control: it was set
 */
TEST(pmi, status_bit_stays_when_its_counter_is_disabled_or_written, REQS(STS_16),
     NEEDS(need_perfmon, need_branches))
{
	overflow(0, 0);
	CONTROL_EQ(t, STS_16, 1, overflow_status(), "status after an overflow of IA32_PMC0");
	counter_program_disabled(0, 0, 0);
	CHECK_EQ(t, STS_16, 1, overflow_status(), "status after IA32_PERFEVTSEL0 was written 0");
	counter_write(0, 0);
	CHECK_EQ(t, STS_16, 1, overflow_status(), "status after IA32_PMC0 was written");
	counters_clear(1);
	CHECK_EQ(t, STS_16, 0, overflow_status(), "status after it was cleared");
}

/*
 * STS-13  A status bit that software cleared must be set again by the next overflow.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  IA32_PMC0 overflows, and software clears its status bit
 * When   that happens three times
 * Then   the bit is set each time
 * Control: it is 0 in between
 */
TEST(pmi, status_bit_that_was_cleared_is_set_by_the_next_overflow, REQS(STS_13),
     NEEDS(need_perfmon, need_branches))
{
	for (unsigned n = 1; n <= 3; n++) {
		overflow(0, 0);
		CHECK_EQ(t, STS_13, 1, overflow_status(), "status after overflow %u", n);
		counters_clear(1);
		CONTROL_EQ(t, STS_13, 0, overflow_status(), "status after it was cleared");
	}
	overflow_off(0);
}

static bool is_tracing(void)
{
	const u32 rtit_ctl = 0x570;	/* SDM, Intel Processor Trace: bit 0 is TraceEn */
	u64 value = 0;

	return cpuid_get(CPUID_PT) && !msr_try_read(rtit_ctl, &value).raised && (value & BIT(0));
}

/*
 * STS-18  IA32_PERF_GLOBAL_STATUS[54] must never be set on a part without architectural PEBS.
 *         Linux: bit 54 is architectural PEBS alone
 * STS-19  IA32_PERF_GLOBAL_STATUS[55] must never be set while Intel PT is off.
 *         SDM 18.2.4.1 Enhancement in IA32_PERF_GLOBAL_STATUS
 *
 * Given  neither architectural PEBS nor Intel PT is on. Where firmware has left PT on, bit 55 isn't
 *        judged; it is cleared first, and isn't judged if it stays
 * When   every counter has wrapped
 * Then   bits 54 and 55 of the status are 0
 * Control: the bits of the general-purpose counters are set
 */
TEST(pmi, status_bits_of_facilities_that_are_off_are_0, REQS(STS_18, STS_19),
     NEEDS(need_perfmon, need_branches))
{
	struct pmc_mask all = pmc_or(counters_gp(), counters_fixed());
	u64 before, status;

	/* It may be a reserved bit. */
	(void)msr_try_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, IA32_PERF_GLOBAL_STATUS_TRACE_TOPA_PMI);
	before = test_is_strict(t) ? 0 : counters_status();
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (all.bits & BIT(c))
			overflow_prepare(c, 0);
	workload_run(&workload_sled, PERIOD, all);
	status = counters_status();
	CONTROL_EQ(t, IDS(STS_18, STS_19), counters_gp().bits, status & counters_gp().bits,
		   "status bits of general-purpose counters, which wrapped");
	CHECK_EQ(t, STS_18, 0, status & BIT(54), "bit 54, of architectural PEBS");
	if (!is_tracing())
		CHECK_EQ(t, STS_19, 0,
			 status & ~before & IA32_PERF_GLOBAL_STATUS_TRACE_TOPA_PMI,
			 "bit 55, Trace_ToPA_PMI, which was 0");
}

/*
 * STS-12  On version 3 and older, 391H and 392H must not be performance-monitoring registers.
 *         SDM 18.2.4 Architectural Performance Monitoring Version 4
 *
 * Given  version 3 or older; MSR 391H is a register of the uncore, if it exists
 * When   bit 0 is written there, which may raise #GP, and written back
 * Then   bit 0 of the status isn't set
 * Control: an overflow of IA32_PMC0 sets it
 */
TEST(pmi, address_of_status_set_sets_no_status_bit_before_version_4, REQS(STS_12),
     NEEDS(need_perfmon, need_branches, need_version_below_4))
{
	const u32 address = 0x391;	/* the uncore's register, where it exists */
	u64 before;

	if (msr_try_read(address, &before).raised)
		before = 0;
	(void)msr_try_write(address, before | 1);
	CHECK_EQ(t, STS_12, 0, overflow_status(), "status after bit 0 was written to MSR 391H");
	(void)msr_try_write(address, before);
	overflow(0, 0);
	CONTROL_EQ(t, STS_12, 1, overflow_status(), "status after an overflow of IA32_PMC0");
	overflow_off(0);
}

struct both_set {
	struct two_cpus both;
	unsigned setter;
	u64 bits, status[2];
};

static void set_on_one(void *arg)
{
	struct both_set *s = arg;
	unsigned side = two_cpus_side();

	two_cpus_barrier(&s->both);
	if (side == s->setter)
		set(s->bits);
	two_cpus_barrier(&s->both);
	s->status[side] = counters_status() & s->bits;
	two_cpus_barrier(&s->both);
	counters_clear(s->bits);
}

/*
 * STS-15  A write to IA32_PERF_GLOBAL_STATUS_SET on one logical processor must not change the
 *         status of another one.
 *         SDM Table 35-2 (scope: Thread)
 *
 * Given  two processors, each with a status of 0
 * When   either sets every bit that can be set by IA32_PERF_GLOBAL_STATUS_SET
 * Then   the other one's status stays 0
 * Control: its own bits are set
 */
TEST(msr, status_set_changes_its_own_processor_only, REQS(STS_15),
     NEEDS(need_perfmon, need_version_4, need_partner))
{
	FOR_EACH_PARTNER (cpu) {
		for (unsigned side = 0; side < 2; side++) {
			struct both_set s = { .setter = side, .bits = settable(t) };

			if (!two_cpus_run(t, &s.both, cpu, set_on_one, &s))
				return;
			CONTROL_EQ(t, STS_15, s.bits, s.status[side], "status of %s, which set it",
				   two_cpus_whose(cpu, side));
			CHECK_EQ(t, STS_15, 0, s.status[!side], "status of %s, which didn't",
				 two_cpus_whose(cpu, !side));
		}
	}
}
