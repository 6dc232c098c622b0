/* SPDX-License-Identifier: MIT */
/*
 * Version 4: IA32_PERF_GLOBAL_INUSE, which shows software which facilities are in use. SDM
 * "IA32_PERF_GLOBAL_INUSE MSR". It always shows the present settings; no counter has to count.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/pebs.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/window.h"

#define PMI_IN_USE	IA32_PERF_GLOBAL_INUSE_PMI
#define COUNTERS_IN_USE	BITS(0, 47)

static u64 in_use(void)
{
	return msr_read(MSR_IA32_PERF_GLOBAL_INUSE);
}

/* A hybrid processor may have more counters than it reports; other software may use them. */
static u64 of_others(void)
{
	return counter_caps()->told_less ? COUNTERS_IN_USE & ~counters_all().bits : 0;
}

static u64 counters_in_use(void)
{
	return in_use() & COUNTERS_IN_USE & ~of_others();
}

/*
 * MSR-09  IA32_PERF_GLOBAL_INUSE must show which counters' event selects are not zero, as they are
 *         at the time of the read.
 * STS-08  IA32_PERF_GLOBAL_INUSE[n] must depend on IA32_PERFEVTSELn[7:0] alone, not on EN,
 *         IA32_PERF_GLOBAL_CTRL or the counter.
 *         SDM 18.2.4.3 IA32_PERF_GLOBAL_INUSE MSR
 *
 * Given  every event select of a counter that CPUID reports is 0
 * When   one has an event and is disabled; or is enabled, with an umask, a counter that isn't 0
 *        and event 0; all have one bit of an event
 * Then   IA32_PERF_GLOBAL_INUSE has the bits of the counters with an event, and no other counter's
 * Control: without an event no counter is in use
 */
TEST(msr, in_use_shows_event_selects_that_are_not_0, REQS(MSR_09, STS_08),
     NEEDS(need_perfmon, need_version_4), .under_every_fault = true)
{
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		CONTROL_EQ(t, IDS(MSR_09, STS_08), 0, counters_in_use(),
			   "counters in use, each event select 0");
		counter_program_disabled(c, EVENT_INST_RETIRED_ANY_P, 0);
		CHECK_EQ(t, IDS(MSR_09, STS_08), BIT(c), counters_in_use(),
			 "counters in use, IA32_PERFEVTSEL%u has an event and no EN", c);
		msr_write(MSR_IA32_PERFEVTSEL0 + c,
			  IA32_PERFEVTSEL_EN | COUNT_BOTH | IA32_PERFEVTSEL_UMASK);
		counter_write(c, 5);
		counters_enable(pmc_one(c));
		CHECK_EQ(t, STS_08, 0, counters_in_use(),
			 "counters in use, IA32_PERFEVTSEL%u enabled, event 0 and IA32_PMC%u not",
			 c, c);
		counters_disable();
		counter_program_disabled(c, 0, 0);
	}
	FOR_EACH_COUNTER (c, counters_gp().bits)
		counter_program_disabled(c, (u16)BIT(c % 8), 0);
	CHECK_EQ(t, MSR_09, counters_gp().bits, counters_in_use(),
		 "counters in use, one bit of each event select set");
}

/*
 * STS-07  IA32_PERF_GLOBAL_INUSE[32+i] must be 1 if and only if bits 4i+1:4i of
 *         IA32_FIXED_CTR_CTRL are not 0.
 *         SDM 18.2.4.3 IA32_PERF_GLOBAL_INUSE MSR
 *
 * Given  each fixed counter in turn
 * When   each value of its four bits is written to IA32_FIXED_CTR_CTRL, those that are accepted
 * Then   its bit in IA32_PERF_GLOBAL_INUSE is 1 if and only if the low two are not 0
 */
TEST(msr, in_use_shows_fixed_counters_by_their_enable_bits_alone, REQS(STS_07),
     NEEDS(need_perfmon, need_version_4, need_fixed_0_to_2))
{
	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask)
		for (u64 enable = 0; enable < 16; enable++) {
			u64 value = enable << 4 * i;

			if (msr_try_write(MSR_IA32_FIXED_CTR_CTRL, value).raised)
				continue;
			CHECK_EQ(t, STS_07, enable & 3 ? BIT(PMC_FIXED(i)) : 0,
				 counters_in_use(),
				 "counters in use, IA32_FIXED_CTR_CTRL = %#lx", value);
		}
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 0);
}

/* The manual's list of bits of IA32_PEBS_ENABLE ends at bit 3, */
static struct test_claim of_pebs(unsigned c)
{
	return c > 3 ? AT(STS_20) : AT(STS_09);
}

/* and that of counters with an interrupt bit at fixed counter 2. */
static struct test_claim of_interrupt(unsigned c)
{
	return c > PMC_FIXED(2) ? AT(STS_20) : AT(STS_09);
}

/* Set the interrupt bit of all counters, then clear one after the other. */
static void check_users_leave(struct test *t)
{
	const u64 all = counters_all().bits;
	u64 control = 0;

	FOR_EACH_COUNTER (c, counters_gp().bits)
		counter_program_disabled(c, 0, COUNT_INT);
	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask)
		control |= IA32_FIXED_CTR_CTRL_PMI0 << 4 * i;
	msr_write(MSR_IA32_FIXED_CTR_CTRL, control);
	FOR_EACH_COUNTER (c, all) {
		test_check_eq(t, of_interrupt(c), PMI_IN_USE, in_use() & PMI_IN_USE,
			      "PMI in use, counter %u and those after it have their interrupt bit",
			      c);
		if (PMC_IS_FIXED(c)) {
			control &= control - 1;
			msr_write(MSR_IA32_FIXED_CTR_CTRL, control);
		} else {
			counter_program_disabled(c, 0, 0);
		}
	}
	CHECK_EQ(t, STS_09, 0, in_use() & PMI_IN_USE, "PMI in use, no counter has it any more");
}

/*
 * STS-09  IA32_PERF_GLOBAL_INUSE[63] must be 1 if any interrupt bit of IA32_PERFEVTSELx or of
 *         fixed counters 0 to 2 or the bit of one of IA32_PMC0 to IA32_PMC3 in IA32_PEBS_ENABLE is
 *         set, and 0 if nothing of the kind is.
 *         SDM 18.2.4.3 IA32_PERF_GLOBAL_INUSE MSR (its text says bit 32, Figure 18-13 bit 63)
 * STS-20  IA32_PERF_GLOBAL_INUSE[63] must be 1 as well by the interrupt bit of a later fixed
 *         counter and by any other bit of IA32_PEBS_ENABLE.
 *         SDM 18.2.4.3 IA32_PERF_GLOBAL_INUSE MSR: it lists IA32_FIXED_CTR_CTRL of i = 0, 1, 2 and
 *         IA32_PEBS_ENABLE of i = 0..3, all that were there
 *
 * Given  nothing is in use
 * When   the interrupt of each general-purpose and fixed counter, and each bit of
 *        IA32_PEBS_ENABLE, is set alone, and cleared; those of all counters, cleared one by one
 * Then   bit 63 of IA32_PERF_GLOBAL_INUSE is 1 then, and 0 before and after
 */
TEST(msr, in_use_shows_pmi_for_each_use_of_the_interrupt, REQS(STS_09, STS_20),
     NEEDS(need_perfmon, need_version_4, need_not_hybrid))
{
	CHECK_EQ(t, STS_09, 0, in_use() & PMI_IN_USE, "PMI in use, nothing is");
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		counter_program_disabled(c, 0, COUNT_INT);
		CHECK_EQ(t, STS_09, PMI_IN_USE, in_use() & PMI_IN_USE,
			 "PMI in use, IA32_PERFEVTSEL%u[20] = 1", c);
		counter_program_disabled(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
		CHECK_EQ(t, STS_09, 0, in_use() & PMI_IN_USE,
			 "PMI in use, IA32_PERFEVTSEL%u[20] = 0", c);
		counter_program_disabled(c, 0, 0);
	}
	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask) {
		msr_write(MSR_IA32_FIXED_CTR_CTRL, IA32_FIXED_CTR_CTRL_PMI0 << 4 * i);
		test_check_eq(t, of_interrupt(PMC_FIXED(i)), PMI_IN_USE, in_use() & PMI_IN_USE,
			      "PMI in use, fixed counter %u has its interrupt bit", i);
		msr_write(MSR_IA32_FIXED_CTR_CTRL, 0);
	}
	check_users_leave(t);
	FOR_EACH_COUNTER (c, counters_gp().bits)
		if (counter_caps()->pebs_mask & BIT(c)) {
			pebs_enable(pmc_one(c));
			test_check_eq(t, of_pebs(c), PMI_IN_USE, in_use() & PMI_IN_USE,
				      "PMI in use, IA32_PEBS_ENABLE[%u] = 1", c);
			pebs_disarm();
			CHECK_EQ(t, STS_09, 0, in_use() & PMI_IN_USE,
				 "PMI in use, IA32_PEBS_ENABLE = 0");
		}
}

/*
 * STS-10  IA32_PERF_GLOBAL_INUSE bits of counters that do not exist and bits 62:48 must be 0.
 *         SDM 18.2.4.3 IA32_PERF_GLOBAL_INUSE MSR, Figure 18-13
 *
 * Given  every counter is in use, with its interrupt
 * When   IA32_PERF_GLOBAL_INUSE is read
 * Then   all bits but theirs and 63 are 0
 * Control: these are 1
 */
TEST(msr, in_use_bits_of_counters_that_are_not_there_are_0, REQS(STS_10),
     NEEDS(need_perfmon, need_version_4, need_fixed_0_to_2))
{
	const u64 there = counters_all().bits | PMI_IN_USE;
	u64 control = 0;

	FOR_EACH_COUNTER (c, counters_gp().bits)
		counter_program_disabled(c, 0xff, COUNT_INT);
	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask)
		control |= (IA32_FIXED_CTR_CTRL_EN0 | IA32_FIXED_CTR_CTRL_PMI0) << 4 * i;
	msr_write(MSR_IA32_FIXED_CTR_CTRL, control);
	CONTROL_EQ(t, STS_10, there, in_use() & there, "what is in use, all of it");
	CHECK_EQ(t, STS_10, 0, in_use() & ~(there | of_others()),
		 "other bits of IA32_PERF_GLOBAL_INUSE");
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 0);
}

/*
 * STS-06  A write to IA32_PERF_GLOBAL_INUSE must raise #GP.
 *         SDM 18.2.4.3 IA32_PERF_GLOBAL_INUSE MSR (read-only); TDX compliance tables
 *
 * Given  IA32_PERF_GLOBAL_INUSE, at any value
 * When   0 and 1 are written
 * Then   each write raises #GP, and it reads as before
 * Control: 0 can be written to IA32_PERF_GLOBAL_STATUS_SET
 */
TEST(msr, in_use_refuses_writes, REQS(STS_06),
     NEEDS(need_perfmon, need_version_4, need_refused_msrs))
{
	u64 before = in_use();

	CHECK(t, STS_06, msr_try_write(MSR_IA32_PERF_GLOBAL_INUSE, 0).raised, "#GP of 0");
	CHECK(t, STS_06, msr_try_write(MSR_IA32_PERF_GLOBAL_INUSE, 1).raised, "#GP of 1");
	CHECK_EQ(t, STS_06, before, in_use(), "IA32_PERF_GLOBAL_INUSE afterwards");
	CONTROL_EQ(t, STS_06, 0, msr_try_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, 0).raised,
		   "#GP of 0 to IA32_PERF_GLOBAL_STATUS_SET, the register before it");
}
