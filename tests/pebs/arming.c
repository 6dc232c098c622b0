/* SPDX-License-Identifier: MIT */
/*
 * From overflow to record: SDM "Processor Event Based Sampling (PEBS)", "when the counter
 * transitions from maximum count to zero, PEBS is armed", and "Precise Distribution of
 * Instructions Retired (PDIR)".
 */
#include "kernel/interrupt/intr.h"
#include "kernel/interrupt/fault.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

/* Is there a record, with the address of an instruction after the workload? */
static bool made_after(const struct workload *w)
{
	enum record_format format = counter_caps()->record_format;
	struct pebs_record record;

	return ds_records() && record_decode(format, ds_record(0), record_size(format), &record) &&
	       sampling_field(&record, RECORD_rip) > (u64)(uintptr_t)w->end;
}

/*
 * ARM-01  The wrap of a PEBS-enabled counter must arm PEBS and must not by itself write a record.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  PEBS on the first counter without PDist, which counts loads. No load follows the window's
 *        last one, except perhaps a load in the microcode of the WRMSR that closes the window; a
 *        record of it makes the test INCONCLUSIVE
 * When   the last load overflows
 * Then   the status bit is set, the index hasn't moved, and no byte of the buffer is written
 * Control: the same overflow with loads after it makes one record
 */
TEST(arm, overflow_arms_pebs_and_writes_no_record, REQS(ARM_01),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	const unsigned c = pebs_first_without_pdist();
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	int64_t offset = 0;

	if (!sampling_may_judge_next_event(t))
		return;
	sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_load, NO_OTHERS);
	if (made_after(&workload_load)) {
		test_inconclusive(t, "the write that closes the window has the event");
		return;
	}
	CONTROL_EQ(t, ARM_01, BIT(c), counters_status() & BIT(c),
		   "status bit: the counter wrapped");
	CHECK_EQ(t, ARM_01, 0, (u64)ds_bytes(), "bytes by which the index moved");
	CHECK(t, ARM_01, !ds_written_outside(0, 0, &offset), "a byte at offset %ld of the buffer",
	      (long)offset);
	counters_clear(BIT(c));
	sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	sampling_one_record(t, CONTROL_AT(ARM_01), &record);
}

/* There are 64 NOPs between the load that overflows and the next load: only a load may start the
 * assist. */
static void check_next_event(struct test *t, unsigned c)
{
	struct ds_setup setup = sampling_setup(8);
	const struct calibration *measured = calibration_get();
	struct pebs_record record;
	u64 ip;

	sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_again, NO_OTHERS);
	counters_clear(BIT(c));
	if (!sampling_one_record(t, AT(ARM_02), &record))
		return;
	ip = sampling_ip(&workload_again, &record);
	CHECK(t, ARM_02, sampling_mark(&workload_again, AGAIN_MARKS, &record) >= 0,
	      "instruction 0x%lx is a load after the NOPs, 0x%lx and on, IA32_PMC%u", ip,
	      workload_mark(&workload_again, 0), c);
	if (measured->shadow_known && measured->shadow_most == 0)
		CHECK_EQ(t, ARM_02, workload_mark(&workload_again, 0), ip,
			 "the instruction is the first load after the NOPs, IA32_PMC%u", c);
}

/*
 * ARM-02  The assist must be started by the first occurrence of the programmed event after arming.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  each PEBS counter of loads without PDist; 64 NOPs between the load that overflows and the
 *        next ones
 * When   it overflows
 * Then   the record is of a load after the NOPs: only an event may start the assist. It is the
 *        first load after the NOPs where this machine has no record shadow
 */
TEST(arm, next_event_after_the_overflow_is_recorded, REQS(ARM_02),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	if (!sampling_may_judge_next_event(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++)
		if (!pebs_has_pdist(c))
			check_next_event(t, c);
}

/* Run PERIOD loads: the records and interrupts of one overflow of counter c with these flags. */
#define NOT_REACHED 8u /* a threshold: more records than are made */

static void count_interrupts(unsigned c, u64 flags, unsigned threshold, unsigned *interrupts,
			     unsigned *records)
{
	struct ds_setup setup = sampling_setup(8);

	setup.threshold = threshold;
	pmi_open(NULL);
	sampling_run(&setup, c, LOADS, COUNT_BOTH | flags, &workload_sample, NO_OTHERS);
	*interrupts = pmi_settle()->count;
	*records = ds_records();
	pmi_close();
	counters_clear(BIT(c));
}

/*
 * ARM-03  A PEBS-enabled counter that wraps with its INT bit clear must raise no overflow
 *         interrupt.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 *
 * Given  each PEBS counter with INT = 0, the threshold out of reach
 * When   it overflows and makes a record
 * Then   no interrupt is delivered
 * Control: there is one record. There is an interrupt with a threshold of one record, and with
 *          INT = 1 on processors of which a source says so
 */
TEST(arm, record_without_int_raises_no_interrupt, REQS(ARM_03),
     NEEDS(need_perfmon, need_pebs, need_events), .under_every_fault = true)
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		unsigned interrupts, records;

		count_interrupts(c, 0, NOT_REACHED, &interrupts, &records);
		sampling_want(t, 1);
		CONTROL_EQ(t, ARM_03, 1, records, "records of IA32_PMC%u, INT = 0", c);
		CHECK_EQ(t, ARM_03, 0, interrupts,
			 "interrupts of IA32_PMC%u, INT = 0, threshold out of reach", c);
		count_interrupts(c, 0, 1, &interrupts, &records);
		CONTROL_RANGE(t, ARM_03, 1, ~0ULL, interrupts,
			      "interrupts of IA32_PMC%u, INT = 0, threshold reached", c);
		if (!sampling_int_has_source(t))
			continue;
		count_interrupts(c, COUNT_INT, NOT_REACHED, &interrupts, &records);
		CONTROL_RANGE(t, ARM_03, 1, ~0ULL, interrupts, "interrupts of IA32_PMC%u, INT = 1",
			      c);
	}
}

/*
 * ARM-04  No record may be written when the counter or its PEBS bit is switched off between arming
 *         and the next event.
 *         SDM 18.4.4.4 Re-configuring PEBS Facilities (asks for a quiescent period)
 *
 * Given  each PEBS counter without PDist, armed by the window's last load; on processors the result
 *        is only reported: the manual asks for a quiescent period and doesn't say what becomes of
 *        the pending record
 * When   its bit of IA32_PEBS_ENABLE is cleared, loads follow, it is set, and loads follow
 * Then   the index hasn't moved
 * Control: the status bit shows the overflow
 */
TEST(arm, clearing_pebs_enable_disarms_the_counter, REQS(ARM_04),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	for (unsigned c = pebs_first_without_pdist(); c < PEBS_COUNTERS; c++) {
		struct ds_setup setup = sampling_setup(8);

		ds_open(&setup);
		pebs_arm(c, LOADS, COUNT_BOTH, calibration_period(LOADS, PERIOD));
		workload_run(&workload_load, PERIOD, pmc_one(c));
		if (made_after(&workload_load)) {
			test_inconclusive(t, "the write that closes the window has the event");
			return;
		}
		CONTROL_EQ(t, ARM_04, BIT(c), counters_status() & BIT(c),
			   "status bit: IA32_PMC%u wrapped", c);
		pebs_disarm();
		workload_run(&workload_load, PERIOD, pmc_one(c));
		pebs_enable(pmc_one(c));
		workload_run(&workload_load, PERIOD, pmc_one(c));
		CHECK_EQ(t, ARM_04, 0, (u64)ds_bytes(),
			 "bytes by which the index moved after disarming IA32_PMC%u and enabling "
			 "it again",
			 c);
		pebs_disarm();
		counter_program_disabled(c, 0, 0);
		counters_clear(BIT(c));
	}
}

/*
 * ARM-05  Records must be written also while interrupts are masked by RFLAGS.IF.
 *         SDM 18.7.1 Goldmont: Processor Event Based Sampling (PEBS); a record needs no interrupt
 *
 * Given  each PEBS counter, RFLAGS.IF = 0
 * When   it overflows
 * Then   the index has moved by a record before interrupts are on again
 * Control: with IF = 1 there is a record too
 */
TEST(arm, record_is_written_while_interrupts_are_off, REQS(ARM_05),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct ds_setup setup = sampling_setup(8);
		struct pebs_record record;
		u64 off;

		intr_disable();
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		off = (u64)ds_bytes();
		intr_enable();
		sampling_want(t, 1);
		CHECK_EQ(t, ARM_05, record_size(setup.format), off,
			 "bytes by which the index moved, IF = 0, IA32_PMC%u", c);
		counters_clear(BIT(c));
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		sampling_one_record(t, CONTROL_AT(ARM_05), &record);
		counters_clear(BIT(c));
	}
}

#define FAR 2048	/* bytes; both stacks are larger, and neither is used so deep here */

/*
 * The last load at CPL 3 overflows. Loads at CPL 0 must leave the counter armed; the next loads at
 * CPL 3 make the record.
 */
static void check_user_arm(struct test *t, unsigned c)
{
	struct ds_setup setup = sampling_setup(8);
	u64 loads = sampling_user_loads();

	ds_open(&setup);
	pebs_arm(c, LOADS, COUNT_USR, loads);
	counters_enable(pmc_one(c));
	workload_run_user(&workload_load, 2 * PERIOD);
	counters_disable();
	if (ds_records()) {
		struct pebs_record record;
		u64 here = (u64)(uintptr_t)&record, rsp;

		record_decode(setup.format, ds_record(0), record_size(setup.format), &record);
		rsp = sampling_field(&record, RECORD_rsp);
		if (!CHECK(t, ARM_06, rsp > here + FAR || here > rsp + FAR,
			   "RSP 0x%lx of the record isn't the stack of CPL 0 (0x%lx), IA32_PMC%u",
			   rsp, here, c))
			return;
	}
	if (!(counters_status() & BIT(c)) || ds_records()) {
		test_inconclusive(t, "IA32_PMC%u didn't wrap on the last of %lu loads", c, loads);
		return;
	}
	workload_run(&workload_load, PERIOD, pmc_one(c));
	CHECK_EQ(t, ARM_06, 0, (u64)ds_bytes(),
		 "bytes by which the index moved at CPL 0, IA32_PMC%u armed for CPL 3", c);
	counters_enable(pmc_one(c));
	workload_run_user(&workload_load, ROUNDS_FOR(1));
	counters_disable();
	sampling_want(t, 1);
	CHECK_EQ(t, ARM_12, 1, ds_records(), "records after loads at CPL 3, IA32_PMC%u", c);
	pebs_disarm();
	counter_program_disabled(c, 0, 0);
	counters_clear(BIT(c));
}

/* A counter of CPL 3 must not count work at CPL 0, and a counter of CPL 0 must not count work at
 * CPL 3. */
static unsigned records_of(struct test *t, unsigned c, u64 flags, bool user)
{
	struct ds_setup setup = sampling_setup(8);
	unsigned records;

	ds_open(&setup);
	/* The transitions have loads at CPL 0, fewer than ROUNDS_PERIOD. */
	pebs_arm(c, LOADS, flags, user ? ROUNDS_PERIOD : PERIOD);
	if (user) {
		counters_enable(pmc_one(c));
		workload_run_user(&workload_load, ROUNDS_FOR(1));
		counters_disable();
	} else {
		workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(c));
	}
	records = ds_records();
	if (flags & (user ? COUNT_USR : COUNT_OS))
		sampling_want(t, 1);
	pebs_disarm();
	counter_program_disabled(c, 0, 0);
	counters_clear(BIT(c));
	return records;
}

/*
 * ARM-06  PEBS must record events only at the privilege levels that the OS and USR bits of the
 *         counter select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  each PEBS counter with one of OS and USR
 * When   loads follow at CPL 0, and at CPL 3
 * Then   the counter with OS has one record of CPL 0 and none of CPL 3, that with USR none of CPL 0
 *        and one of CPL 3
 */
TEST(arm, record_is_made_at_the_selected_privilege_level_only, REQS(ARM_06),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		CHECK_EQ(t, ARM_06, 1, records_of(t, c, COUNT_OS, false),
			 "records of CPL 0, OS = 1 USR = 0, IA32_PMC%u", c);
		CHECK_EQ(t, ARM_06, 0, records_of(t, c, COUNT_USR, false),
			 "records of CPL 0, OS = 0 USR = 1, IA32_PMC%u", c);
		CHECK_EQ(t, ARM_06, 0, records_of(t, c, COUNT_OS, true),
			 "records of CPL 3, OS = 1 USR = 0, IA32_PMC%u", c);
		CHECK_EQ(t, ARM_06, 1, records_of(t, c, COUNT_USR, true),
			 "records of CPL 3, OS = 0 USR = 1, IA32_PMC%u", c);
	}
}

/*
 * ARM-06  PEBS must record events only at the privilege levels that the OS and USR bits of the
 *         counter select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * ARM-12  An armed counter must stay armed while it is off in IA32_PERF_GLOBAL_CTRL, whatever is
 *         done about other counters meanwhile.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): the first event after arming
 *
 * Given  each PEBS counter without PDist, with USR, armed by the last load at CPL 3
 * When   loads follow at CPL 0, then at CPL 3
 * Then   the loads at CPL 0 make no record, those at CPL 3 make one. If there is a record already
 *        when the counter is armed, its RSP isn't one of the stack of CPL 0. INCONCLUSIVE where
 *        records may be of the next instruction
 */
TEST(arm, armed_counter_waits_for_its_privilege_level, REQS(ARM_06, ARM_12),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	if (!sampling_may_judge_next_event(t))
		return;
	for (unsigned c = pebs_first_without_pdist(); c < PEBS_COUNTERS; c++)
		check_user_arm(t, c);
}

/*
 * ARM-10  Enabling PEBS for a counter, or writing the counter or its event select, must not by
 *         itself write a record.
 *         SDM 18.11.1 4th Generation Intel Core: Processor Event Based Sampling (PEBS) Facility
 *         (note: unpredictable)
 *
 * Given  each counter of loads, far from its end; on processors the result is only reported
 * When   its PEBS bit is set while it counts; the counter is written, with 0 as well; the event
 *        select is written; loads follow each
 * Then   the index doesn't move
 * Control: an overflow makes a record
 */
TEST(arm, enabling_pebs_or_writing_its_counter_makes_no_record, REQS(ARM_10),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct ds_setup setup = sampling_setup(8);
		struct pebs_record record;

		ds_open(&setup);
		counter_program(c, LOADS, COUNT_BOTH);
		counter_preset(c, NEVER);
		counters_enable(pmc_one(c));
		pebs_enable(pmc_one(c));
		workload_run(&workload_load, PERIOD, pmc_one(c));
		CHECK_EQ(t, ARM_10, 0, (u64)ds_bytes(),
			 "bytes by which the index moved after IA32_PMC%u's PEBS bit was set", c);
		counter_preset(c, NEVER);
		workload_run(&workload_load, PERIOD, pmc_one(c));
		counter_write(c, 0);
		workload_run(&workload_load, PERIOD, pmc_one(c));
		counter_program(c, LOADS, COUNT_BOTH);
		workload_run(&workload_load, PERIOD, pmc_one(c));
		CHECK_EQ(t, ARM_10, 0, (u64)ds_bytes(),
			 "bytes by which the index moved after IA32_PMC%u and its event select "
			 "were written",
			 c);
		pebs_disarm();
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		sampling_one_record(t, CONTROL_AT(ARM_10), &record);
	}
}

#define PDIR_PERIOD 192

/* How many events are counted before the window's first instruction: the counter's value that RDPMC
 * reads, less the instructions of the window before that RDPMC. */
static u64 counted_before(const struct workload *w, struct pmc_mask others)
{
	counter_program(1, EVENT_INST_RETIRED_PREC_DIST, COUNT_BOTH);
	counter_write(1, 0);
	workload_run(w, 0, pmc_or(pmc_one(1), others));
	counter_program_disabled(1, 0, 0);
	return (u32)workload_memory()[0] - (PRECISE_READ - 1);
}

/* The record must be of one instruction, a mark, given by its number in the window. */
static void check_pdir_at(struct test *t, struct test_claim claim, const struct workload *w,
			  u64 flags, u64 period, u64 before, struct pmc_mask others)
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	u64 number = period - before;
	const unsigned mark = (unsigned)(number - PRECISE_FIRST);

	ds_open(&setup);
	pebs_arm(1, EVENT_INST_RETIRED_PREC_DIST, COUNT_BOTH | flags, period);
	workload_run(w, 0, pmc_or(pmc_one(1), others));
	pebs_disarm();
	counter_program_disabled(1, 0, 0);
	if (!sampling_one_record(t, claim, &record))
		return;
	test_check_range(t, claim, workload_mark(w, mark - sampling_rdpmc_misses(t)),
			 workload_mark(w, mark), sampling_ip(w, &record),
			 "recorded instruction of the overflow on instruction %lu of %s, "
			 "INT = %u, beside counters %#lx",
			 number, w->name, flags != 0, others.bits);
	if (!flags)
		test_note(t, "PDIR: 98H %#lx, A0H %#lx, A8H %#lx",
			  sampling_field(&record, RECORD_data_linear_address),
			  sampling_field(&record, RECORD_data_source),
			  sampling_field(&record, RECORD_latency));
}

static void check_pdir(struct test *t, struct test_claim claim, const struct workload *w, u64 flags,
		       u64 before, struct pmc_mask others)
{
	check_pdir_at(t, claim, w, flags, PDIR_PERIOD, before, others);
}

/*
 * ARM-09  With PDIR (IA32_PMC1, INST_RETIRED.PREC_DIST) the record must name the instruction whose
 *         retirement overflowed the counter.
 *         SDM 18.9.4.4 Precise Distribution of Instructions Retired (PDIR)
 * SKL-09  INST_RETIRED.PREC_DIST must be precise on PMC1: EventingIP is the instruction whose
 *         retirement overflowed the counter.
 *         SDM 18.13.1 6th Generation Intel Core: Processor Event Based Sampling (PEBS) Facility,
 *         Table 18-56, note 1
 *
 * Given  IA32_PMC1 counts INST_RETIRED.PREC_DIST with PEBS over NOPs, and over jumps, whose
 *        addresses are known one by one. The manual doesn't say what the record holds at 98H, A0H
 *        and A8H: docs/READINGS.md
 * When   it overflows on one of them, with INT = 0 and 1
 * Then   the record names exactly that instruction
 */
TEST(arm, pdir_record_names_the_instruction_that_overflowed, REQS(ARM_09, SKL_09),
     NEEDS(need_perfmon, need_pebs, need_pdir), .under_every_fault = true)
{
	static const struct workload *const pieces[] = { &workload_precise,
							 &workload_precise_jumps };

	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		const struct workload *w = pieces[i];
		u64 before = counted_before(w, NO_OTHERS);

		if (before != counted_before(w, NO_OTHERS) || before > PERIOD) {
			test_inconclusive(t, "%ld instructions are counted before the window",
					  (long)before);
			return;
		}
		pmi_open(NULL);
		check_pdir(t, AT(ARM_09, SKL_09), w, 0, before, NO_OTHERS);
		check_pdir(t, AT(ARM_09, SKL_09), w, COUNT_INT, before, NO_OTHERS);
		pmi_end();
	}
}

/*
 * ARM-09  With PDIR (IA32_PMC1, INST_RETIRED.PREC_DIST) the record must name the instruction whose
 *         retirement overflowed the counter.
 *         SDM 18.9.4.4 Precise Distribution of Instructions Retired (PDIR)
 * SKL-09  INST_RETIRED.PREC_DIST must be precise on PMC1: EventingIP is the instruction whose
 *         retirement overflowed the counter.
 *         SDM 18.13.1 6th Generation Intel Core: Processor Event Based Sampling (PEBS) Facility,
 *         Table 18-56, note 1
 *
 * Given  IA32_PMC1 counts INST_RETIRED.PREC_DIST with PEBS over conditional branches to the next
 *        instruction, of which every other one is taken
 * When   it overflows on one of each kind
 * Then   the record names exactly that branch
 */
TEST(arm, pdir_record_names_the_conditional_branch_that_overflowed, REQS(ARM_09, SKL_09),
     NEEDS(need_perfmon, need_pebs, need_pdir))
{
	const struct workload *w = &workload_precise_conditional;
	const u64 before = counted_before(w, NO_OTHERS);

	if (test_erratum(t, ERRATUM_BEFORE_BRANCH)) {
		test_skip(t, "EventingIP may be the instruction before a conditional branch");
		return;
	}
	if (before != counted_before(w, NO_OTHERS) || before > PERIOD) {
		test_inconclusive(t, "%ld instructions are counted before the window",
				  (long)before);
		return;
	}
	for (u64 period = PDIR_PERIOD; period < PDIR_PERIOD + 2; period++)
		check_pdir_at(t, AT(ARM_09, SKL_09), w, 0, period, before, NO_OTHERS);
}

/*
 * SKL-09  INST_RETIRED.PREC_DIST must be precise on PMC1: EventingIP is the instruction whose
 *         retirement overflowed the counter.
 *         SDM 18.13.1 6th Generation Intel Core: Processor Event Based Sampling (PEBS) Facility,
 *         Table 18-56, note 1
 *
 * Given  IA32_PMC1 counts INST_RETIRED.PREC_DIST with PEBS over NOPs whose addresses are known one
 *        by one; another counter counts at the same time, each in turn, then all of them (only
 *        Sandy Bridge requires them to be quiesced)
 * When   IA32_PMC1 overflows on a NOP; and on a jump while another counter with PEBS, each in turn,
 *        counts jumps too
 * Then   the record names exactly that NOP or jump
 * Control: the others count
 */
TEST(arm, pdir_record_is_as_precise_beside_other_counters, REQS(SKL_09),
     NEEDS(need_perfmon, need_pebs, need_pdir, need_fixed_0_to_2, need_instructions, need_branches))
{
	const u64 every = (counters_gp().bits | counters_fixed().bits) & ~BIT(1);

	for (unsigned c = 0; c <= WINDOW_COUNTERS; c++) {
		const struct pmc_mask others = { c == WINDOW_COUNTERS ? every : every & BIT(c) };
		u64 before;

		if (!others.bits)
			continue;
		for (unsigned i = 0; i < WINDOW_COUNTERS; i++)
			if (others.bits & BIT(i)) {
				counter_program(i, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
				counter_write(i, 0);
			}
		before = counted_before(&workload_precise, others);
		if (before != counted_before(&workload_precise, others) || before > PERIOD) {
			test_inconclusive(t, "%ld instructions are counted before the window",
					  (long)before);
			return;
		}
		check_pdir(t, AT(SKL_09), &workload_precise, 0, before, others);
		for (unsigned i = 0; i < WINDOW_COUNTERS; i++)
			if (others.bits & BIT(i) && i != PMC_FIXED(2))
				CONTROL_RANGE(t, SKL_09, 1, ~0ULL, counter_read(i),
					      "count of counter %u beside IA32_PMC1", i);
		counter_reset();
	}
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		const struct workload *w = &workload_precise_jumps;
		u64 before, start;

		if (c == 1)
			continue;
		pebs_arm(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES_PEBS, COUNT_BOTH, NEVER);
		start = counter_read(c);
		before = counted_before(w, pmc_one(c));
		if (before != counted_before(w, pmc_one(c)) || before > PERIOD) {
			test_inconclusive(t, "%ld instructions are counted before the window",
					  (long)before);
			return;
		}
		check_pdir(t, AT(SKL_09), w, 0, before, pmc_one(c));
		CONTROL_RANGE(t, SKL_09, start + 1, ~0ULL, counter_read(c),
			      "count of IA32_PMC%u with PEBS beside IA32_PMC1", c);
		counter_reset();
	}
}

/* The last load at CPL 3 arms both counters; then the PEBS bit of one is cleared. */
static void check_other_arm(struct test *t, unsigned kept, unsigned cleared)
{
	struct pmc_mask both = pmc_or(pmc_one(kept), pmc_one(cleared));
	struct ds_setup setup = sampling_setup(8);
	u64 loads = sampling_user_loads();

	ds_open(&setup);
	pebs_arm(kept, LOADS, COUNT_USR, loads);
	pebs_arm(cleared, LOADS, COUNT_USR, loads);
	counters_enable(both);
	workload_run_user(&workload_load, 2 * PERIOD);
	counters_disable();
	if (ds_records() || both.bits & ~counters_status()) {
		test_inconclusive(t,
				  "IA32_PMC%u and IA32_PMC%u didn't wrap on the last of %lu "
				  "loads",
				  kept, cleared, loads);
		return;
	}
	pebs_enable(pmc_one(kept));
	counters_enable(both);
	workload_run_user(&workload_load, PERIOD);
	counters_disable();
	sampling_want(t, 1);
	CHECK_EQ(t, ARM_12, 1, ds_records(),
		 "records of IA32_PMC%u, which was armed when IA32_PMC%u lost its PEBS bit", kept,
		 cleared);
	pebs_disarm();
	counter_reset();
}

/*
 * ARM-12  An armed counter must stay armed while it is off in IA32_PERF_GLOBAL_CTRL, whatever is
 *         done about other counters meanwhile.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): the first event after arming
 *
 * Given  two PEBS counters without PDist, with USR, both armed by the last load at CPL 3
 * When   the PEBS bit of one is cleared, and loads follow at CPL 3
 * Then   there is one record, of the other counter
 */
TEST(arm, clearing_one_pebs_enable_keeps_the_other_counter_armed, REQS(ARM_12),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	if (!pebs_has_pdist(0))
		check_other_arm(t, 0, 1);
	check_other_arm(t, 3, 2);
}

/*
 * MSR-22  Each of IA32_PMC0 to IA32_PMC3 must be usable for PEBS.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  the four general-purpose counters, one after the other
 * When   each overflows with PEBS
 * Then   each makes one record
 */
TEST(arm, each_general_purpose_counter_makes_pebs_records, REQS(MSR_22),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct ds_setup setup = sampling_setup(8);
		struct pebs_record record;

		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		sampling_one_record(t, AT(MSR_22), &record);
	}
}
