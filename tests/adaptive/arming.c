/* SPDX-License-Identifier: MIT */
/*
 * From overflow to record on each counter, where baseline lets each one make records: SDM
 * "Processor Event Based Sampling (PEBS)". tests/pebs/arming.c does the same for IA32_PMC0 to
 * IA32_PMC3. General-purpose counters count branches. In workload_sled no branch retires between
 * the last one of its loop and the one before the WRMSR that closes the window; 256 NOPs lie
 * between these two.
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"
#include "tests/measure/overflow.h"

#define AT_EVENTING_IP	0x8u	/* in the basic group */
#define BRANCHES	EVENT_BR_INST_RETIRED_ALL_BRANCHES
#define USER_ROUNDS	(2 * PERIOD)

/* General-purpose counters that record the next event after an overflow. */
static u64 without_pdist(void)
{
	u64 counters = 0;

	FOR_EACH_COUNTER (c, counter_caps()->pebs_mask)
		if (!pebs_may_have_pdist(c))
			counters |= BIT(c);
	return counters;
}

/* These counters, and fixed counter 0 if it records the next event too. */
static u64 armable(void)
{
	const bool fixed = counter_caps()->pebs_fixed_mask & 1 &&
			   !pebs_may_have_pdist(PMC_FIXED(0));

	return without_pdist() | (fixed ? BIT(PMC_FIXED(0)) : 0);
}

/* An unknown processor's counters may all record the event that overflows. */
static bool none_of(struct test *t, u64 counters)
{
	if (!counters)
		test_inconclusive(t, "each counter may record the event that overflows");
	return !counters;
}

static void stop(unsigned c)
{
	pebs_disarm();
	counter_program_disabled(c, 0, 0);
	counters_clear(counters_status() & STATUS_LOOKED_AT);
}

/* A window of workload_sled in which the counter overflows on its nth branch of n + 1. */
static void overflow_in_sled(unsigned c, u64 n)
{
	const struct adaptive_run run = { .counter = c, .basic = true };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);

	ds_open(&setup);
	pebs_arm_as(c, BRANCHES, COUNT_BOTH, calibration_period(BRANCHES, n));
	workload_run(&workload_sled, PERIOD, pmc_one(c));
	pebs_disarm();
}

/* Is there a record with the address of an instruction after the piece? */
static bool is_after(const struct workload *w)
{
	return ds_bytes() && adaptive_at(AT_EVENTING_IP) > (u64)(uintptr_t)w->end;
}

/*
 * ARM-01  The wrap of a PEBS-enabled counter must arm PEBS and must not by itself write a record.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  each general-purpose counter without PDist, which counts branches. Only the WRMSR that
 *        closes the window follows its last branch. Where a WRMSR counts as a branch, the test is
 *        INCONCLUSIVE
 * When   the window's last branch overflows
 * Then   the status bit is set, and the index hasn't moved
 * Control: an overflow on the branch before makes a record
 */
TEST(adaptive, overflow_of_each_counter_writes_no_record, REQS(ARM_01),
     NEEDS(need_perfmon, need_baseline, need_branches))
{
	if (none_of(t, without_pdist()) || !sampling_records_next_event(t))
		return;
	if (calibration_get()->open_branches) {
		test_inconclusive(t, "the write that closes the window may have the event");
		return;
	}
	FOR_EACH_COUNTER (c, without_pdist()) {
		const struct adaptive_run run = { .counter = c, .basic = true };

		overflow_in_sled(c, PERIOD + 1);
		CONTROL_EQ(t, ARM_01, BIT(c), counters_status() & BIT(c),
			   "status bit: IA32_PMC%u wrapped", c);
		CHECK_EQ(t, ARM_01, 0, (u64)ds_bytes(),
			 "bytes by which the index moved, IA32_PMC%u", c);
		stop(c);
		overflow_in_sled(c, PERIOD);
		stop(c);
		if (!adaptive_one_record(t, CONTROL_AT(ARM_01), &run))
			return;
	}
}

/*
 * ARM-02  The assist must be started by the first occurrence of the programmed event after arming.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  each general-purpose counter of branches without PDist; 256 NOPs between the branch that
 *        overflows and the next one, the window's last
 * When   it overflows
 * Then   the record is of an instruction after the NOPs: only an event may start the assist
 */
TEST(adaptive, record_of_each_counter_is_of_the_next_event, REQS(ARM_02),
     NEEDS(need_perfmon, need_baseline, need_branches))
{
	if (none_of(t, without_pdist()) || !sampling_records_next_event(t))
		return;
	FOR_EACH_COUNTER (c, without_pdist()) {
		const struct adaptive_run run = { .counter = c, .basic = true };

		overflow_in_sled(c, PERIOD);
		stop(c);
		if (!adaptive_one_record(t, AT(ARM_02), &run))
			return;
		CHECK(t, ARM_02, is_after(&workload_sled),
		      "EventingIP %#lx is after the NOPs, which end at %#lx, IA32_PMC%u",
		      adaptive_at(AT_EVENTING_IP), (u64)(uintptr_t)workload_sled.end, c);
	}
}

static void run_at_cpl_3(struct pmc_mask counters)
{
	counters_enable(counters);
	workload_run_user(&workload_load, USER_ROUNDS);
	counters_disable();
}

/* Bytes of records of a counter with these levels; the work is many periods at CPL 3 or 0. */
static u64 bytes_of(unsigned c, u64 levels, bool user)
{
	const struct adaptive_run run = { .counter = c, .basic = true };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);

	ds_open(&setup);
	pebs_arm_as(c, BRANCHES, levels, ROUNDS_PERIOD);
	for (unsigned i = 0; i < SLOW_WINDOWS && !ds_bytes(); i++)
		if (user) {
			counters_enable(pmc_one(c));
			workload_run_user(&workload_load, ROUNDS_FOR(1));
			counters_disable();
		} else {
			workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(c));
		}
	stop(c);
	return (u64)ds_bytes();
}

/*
 * ARM-06  PEBS must record events only at the privilege levels that the OS and USR bits of the
 *         counter select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  each counter with baseline, but fixed counter 2, with one of OS and USR: branches on the
 *        general-purpose ones, each fixed counter's own event
 * When   a workload runs at CPL 0, and with USR at CPL 3. The way to CPL 3 is at CPL 0, so a
 *        counter with OS isn't judged there
 * Then   the counter with OS has one record of CPL 0, that with USR none of CPL 0 and one of CPL 3
 */
TEST(adaptive, record_of_each_counter_is_made_at_the_selected_privilege_level_only, REQS(ARM_06),
     NEEDS(need_perfmon, need_baseline, need_branches))
{
	FOR_EACH_COUNTER (c, adaptive_sure_counters() & ~BIT(OVERFLOW_SLOW)) {
		CHECK_EQ(t, ARM_06, BASIC_BYTES, bytes_of(c, COUNT_OS, false),
			 "bytes of records at CPL 0, OS = 1 USR = 0, counter %u", c);
		CHECK_EQ(t, ARM_06, 0, bytes_of(c, COUNT_USR, false),
			 "bytes of records at CPL 0, OS = 0 USR = 1, counter %u", c);
		CHECK_EQ(t, ARM_06, BASIC_BYTES, bytes_of(c, COUNT_USR, true),
			 "bytes of records at CPL 3, OS = 0 USR = 1, counter %u", c);
	}
}

/* Arm the counter by its last event at CPL 3. false: it isn't armed, and the test is
 * INCONCLUSIVE. */
static bool arm_by_last_event(struct test *t, unsigned c)
{
	const struct adaptive_run run = { .counter = c, .basic = true };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);
	u64 events;

	counter_program(c, BRANCHES, COUNT_USR);
	counter_write(c, 0);
	run_at_cpl_3(pmc_one(c));
	events = counter_read(c);
	ds_open(&setup);
	pebs_arm_as(c, BRANCHES, COUNT_USR, events);
	run_at_cpl_3(pmc_one(c));
	if (counters_status() & BIT(c) && !ds_bytes())
		return true;
	stop(c);
	test_inconclusive(t, "counter %u wasn't armed by the last of %lu events at CPL 3", c,
			  events);
	return false;
}

/* These write IA32_PEBS_ENABLE alone: pebs_enable() writes event selects too. */
static void clear_others_enable(unsigned c)
{
	msr_write(MSR_IA32_PEBS_ENABLE, armable());
	msr_write(MSR_IA32_PEBS_ENABLE, BIT(c));
}

static void clear_own_enable(unsigned c)
{
	msr_write(MSR_IA32_PEBS_ENABLE, armable());
	msr_write(MSR_IA32_PEBS_ENABLE, armable() & ~BIT(c));
	msr_write(MSR_IA32_PEBS_ENABLE, BIT(c));
}

static void count_at_cpl_0(unsigned c)
{
	workload_run(&workload_load, PERIOD, pmc_one(c));
}

static const struct {
	const char *name;
	void (*act)(unsigned armed);
	bool disarms;
} acts[] = {
	{ "after events at CPL 0", count_at_cpl_0, false },
	{ "after the others' bits of IA32_PEBS_ENABLE were set and cleared", clear_others_enable,
	  false },
	{ "after its own bit of IA32_PEBS_ENABLE was cleared and set", clear_own_enable, true },
};

/*
 * ARM-04  No record may be written when the counter or its PEBS bit is switched off between arming
 *         and the next event.
 *         SDM 18.4.4.4 Re-configuring PEBS Facilities (asks for a quiescent period)
 * ARM-06  PEBS must record events only at the privilege levels that the OS and USR bits of the
 *         counter select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * ARM-12  An armed counter must stay armed while it is off in IA32_PERF_GLOBAL_CTRL, whatever is
 *         done about other counters meanwhile.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): the first event after arming
 *
 * Given  each counter without PDist, general-purpose ones and fixed counter 0, with USR, armed by
 *        its last event at CPL 3
 * When   its events occur at CPL 0; the PEBS bits of all others are set and cleared; its own bit is
 *        cleared and set; then events follow at CPL 3
 * Then   there is no record before (after writes of IA32_PEBS_ENABLE this is judged only where
 *        every requirement is), and one afterwards, but none if its own bit was cleared. This
 *        last case is only reported on processors: the manual asks for a quiescent period.
 *        INCONCLUSIVE where records may be of the next instruction
 */
TEST(adaptive, each_armed_counter_is_disarmed_by_its_own_enable_alone, REQS(ARM_04, ARM_06, ARM_12),
     NEEDS(need_perfmon, need_baseline, need_branches, need_instructions))
{
	if (none_of(t, armable()) || !sampling_may_judge_next_event(t))
		return;
	FOR_EACH_COUNTER (c, armable())
		for (unsigned i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
			if (!arm_by_last_event(t, c))
				return;
			acts[i].act(c);
			/* A write of IA32_PEBS_ENABLE while an overflow bit is set may write the
			 * record at once: docs/READINGS.md. */
			if (acts[i].act == count_at_cpl_0 || test_is_strict(t))
				CHECK_EQ(t, ARM_06, 0, (u64)ds_bytes(),
					 "bytes of records before the next event of counter %u, %s",
					 c, acts[i].name);
			run_at_cpl_3(pmc_one(c));
			if (acts[i].disarms) {
				CHECK_EQ(t, ARM_04, 0, (u64)ds_bytes(),
					 "bytes of records of counter %u %s", c, acts[i].name);
			} else {
				sampling_want(t, 1);
				CHECK_EQ(t, ARM_12, BASIC_BYTES, (u64)ds_bytes(),
					 "bytes of records of counter %u %s", c, acts[i].name);
			}
			stop(c);
		}
}
