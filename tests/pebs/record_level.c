/* SPDX-License-Identifier: MIT */
/*
 * Records of code at CPL 3, and at CPL 1 and 2: the same fields, threshold and reload as at CPL 0.
 * SDM "Processor Event Based Sampling (PEBS)", Table 18-44.
 */
#include "kernel/processor/cpu.h"
#include "kernel/processor/time.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/marked_walk.h"

/* Fewer loads than the period: the transition has some loads too, and there are many marked
 * ones. */
#define LOADS_BEFORE (PERIOD - 12)
/* Most loads of the window after the reload. */
#define LOADS_AFTER (SAMPLE_MARKS + 32)
#define OVF_BUF IA32_PERF_GLOBAL_STATUS_OVF_BUF

/* Counter c overflows once at this level, after so many loads. Returns RSP of the code. */
static u64 record_level_run_at(unsigned cpl, const struct ds_setup *setup, unsigned c, u64 flags,
			       u64 loads)
{
	u64 rsp;

	ds_open(setup);
	pebs_arm(c, LOADS, COUNT_USR | flags, PERIOD);
	counters_enable(pmc_one(c));
	rsp = workload_run_at_cpl(cpl, &workload_user_sample, loads);
	counters_disable();
	pebs_disarm();
	return rsp;
}

static u64 record_level_run(const struct ds_setup *setup, unsigned c, u64 flags, u64 loads)
{
	return record_level_run_at(3, setup, c, flags, loads);
}

static void check_fields(struct test *t, unsigned c, u64 flags, u64 loads)
{
	const struct workload *w = &workload_user_sample;
	u64 memory = (u64)(uintptr_t)workload_memory(), others, rsp;
	struct ds_setup setup = sampling_setup(8);
	struct sampling_sum expected[SAMPLE_MARKS];
	u64 width = BIT(counter_width(c)) - 1, before = tsc_read(), tsc;
	struct pebs_record record;
	int mark;

	sampling_fill(expected, SAMPLE_MARKS);
	others = rflags_read() & FLAGS_LOOKED_AT & ~RFLAGS_STATUS;
	rsp = record_level_run(&setup, c, flags, loads);
	if (!sampling_one_record(t, AT(REC_03), &record))
		return;
	mark = workload_mark_at(w, SAMPLE_MARKS,
				sampling_field(&record, RECORD_rip) - w->mark_length);
	if (!CHECK(t, REC_03, mark >= 0, "R/EIP 0x%lx is right after a marked load, IA32_PMC%u",
		   sampling_field(&record, RECORD_rip), c))
		return;
	if (record_get(&record, RECORD_tsc, &tsc))
		CHECK_RANGE(t, IDS(SKL_02, ADP_38), before, tsc_read(), tsc,
			    "TSC of a record of CPL 3, IA32_PMC%u", c);
	CHECK_EQ(t, IDS(REC_HSW_02, ADP_09), workload_mark(w, (unsigned)mark),
		 sampling_ip(w, &record), "the instruction of the record, IA32_PMC%u", c);
	CHECK_EQ(t, REC_12, rsp, sampling_field(&record, RECORD_rsp), "RSP, IA32_PMC%u", c);
	CHECK_EQ(t, REC_04, expected[mark].rax, sampling_field(&record, RECORD_rax),
		 "RAX after marked load %d, IA32_PMC%u", mark, c);
	CHECK_EQ(t, REC_11, others | expected[mark].flags,
		 sampling_field(&record, RECORD_rflags) & FLAGS_LOOKED_AT,
		 "flags after marked load %d, IA32_PMC%u", mark, c);
	sampling_check_registers(t, AT(REC_HSW_10), ds_record(0), memory, rsp);
	CHECK_RANGE(t, DS_12, setup.reset[c] & width, (setup.reset[c] & width) + LOADS_AFTER,
		    counter_read(c), "IA32_PMC%u after its record", c);
	if (test_sees_exactly(t, REQ_REC_07) && record_has(record.format, RECORD_status))
		CHECK_EQ(t, REC_07, BIT(c), sampling_field(&record, RECORD_status) & BIT(c),
			 "bit of IA32_PMC%u in the record's status", c);
	if (counter_caps()->facilities & FAC_DATALA)
		CHECK_EQ(t, DLA_02, memory + SAMPLE_OFFSET + 8 * (u64)mark,
			 sampling_field(&record, RECORD_data_linear_address),
			 "address of marked load %d, IA32_PMC%u", mark, c);
}

/* A record of code at CPL 3 with other registers. */
static void record_level_run_other(unsigned c)
{
	const struct ds_setup setup = sampling_setup(8);

	ds_open(&setup);
	pebs_arm(c, LOADS, COUNT_USR, PERIOD);
	counters_enable(pmc_one(c));
	workload_run_user(&workload_load, 2 * PERIOD);
	counters_disable();
	pebs_disarm();
	counter_reset();
}

/*
 * Decides REC-03, REC-04, REC-07, REC-11, REC-12, REC-HSW-02, REC-HSW-10, SKL-02, ADP-09, ADP-38,
 * DLA-02, DS-12 (claims/requirement.def has their sentences).
 *
 * Given  marked loads at CPL 3, known registers, after a record of other code with other registers
 * When   each of IA32_PMC0 to 3 makes a record, with INT = 0 and, where a source says what INT
 *        does, 1, of two loads at different addresses
 * Then   instruction pointers, RSP, RAX, flags, the other registers, status and address are those
 *        of a marked load, the TSC, where there is one, is between the values of two RDTSCs, and
 *        the counter is reloaded
 */
TEST(record, each_field_of_a_record_of_cpl_3_is_right,
     REQS(REC_03, REC_04, REC_07, REC_11, REC_12, REC_HSW_02, REC_HSW_10, SKL_02, ADP_09, ADP_38,
	  DLA_02, DS_12),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	const bool told = sampling_int_has_source(t);

	if (!sampling_shadow_fits(t))
		return;
	pmi_open(NULL);
	for (unsigned c = 0; c < PEBS_COUNTERS; c++)
		for (unsigned interrupting = 0; interrupting < 2; interrupting++) {
			record_level_run_other(c);
			pmi_settle();
			/* The second record is of another load than the first one. */
			check_fields(t, c, interrupting && told ? COUNT_INT : 0,
				     LOADS_BEFORE + interrupting);
			pmi_settle();
			counter_reset();
		}
	pmi_close();
}

/* RSP in a record of this event at CPL 3, in a loop of a call and a return. false: there isn't one
 * record, and the check has failed. */
static bool stack_pointer_of(struct test *t, u16 event, u64 *rsp)
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;

	ds_open(&setup);
	pebs_arm(0, event, COUNT_USR, PERIOD);
	counters_enable(pmc_one(0));
	workload_run_user(&workload_call, 2 * PERIOD);
	counters_disable();
	pebs_disarm();
	counter_program_disabled(0, 0, 0);
	counters_clear(BIT(0));
	if (!sampling_one_record(t, AT(REC_04, REC_12), &record))
		return false;
	*rsp = sampling_field(&record, RECORD_rsp);
	return true;
}

/*
 * REC-04  The register fields must hold the values after the causing instruction retired, a
 *         register that it loaded included.
 * REC-12  The RSP field must be the stack pointer of the sampled code.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  a loop at CPL 3 of a call and a return, which alone store and load there
 * When   IA32_PMC0, with USR alone, makes records of a return, or load, and of a call, or store,
 *        where the events have PEBS
 * Then   RSP after a call is 8 less than after a return
 */
TEST(record, stack_pointer_in_a_record_of_cpl_3_is_that_after_its_call_or_return,
     REQS(REC_04, REC_12), NEEDS(need_perfmon, need_pebs, need_events))
{
	static const enum event_kind returns[] = { EK_LOADS, EK_NEAR_RETURNS };
	static const enum event_kind calls[] = { EK_STORES, EK_NEAR_CALLS };

	if (!sampling_shadow_fits(t))
		return;
	for (unsigned r = 0; r < 2; r++)
		for (unsigned c = 0; c < 2; c++) {
			const u16 back = sampling_event(returns[r]),
				  down = sampling_event(calls[c]);
			u64 loop, called;

			if (!back || !down)
				continue;
			if (!stack_pointer_of(t, back, &loop) ||
			    !stack_pointer_of(t, down, &called))
				return;
			CHECK_EQ(t, IDS(REC_04, REC_12), loop - 8, called,
				 "RSP of a record of event 0x%x, one of 0x%x having 0x%lx", down,
				 back, loop);
		}
	if (!sampling_event(EK_STORES) && !sampling_event(EK_NEAR_CALLS))
		test_skip(t, "no precise event of stores or calls");
}

/*
 * DS-03   After a record the PEBS index must have advanced by the record's size.
 * DS-05   A threshold interrupt must be raised when the index has reached the threshold after a
 *         record.
 * DS-12   After a record the counter that caused it must be loaded with its reset value.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-21   When a record has brought the index to the threshold, OvfBuf
 *         (IA32_PERF_GLOBAL_STATUS[62]) must be set.
 *         SDM 18.4.2, 18.9.1; Goldmont: Enhancements to IA32_PERF_GLOBAL_STATUS.OvfDSBuffer[62]
 * REC-13  An assist must write no byte of the buffer outside its record.
 *         SDM 17.4.9 BTS and DS Save Area
 *
 * Given  a PEBS threshold of one record, a reset value for each counter
 * When   each of IA32_PMC0 to 3 makes a record of a load at CPL 3
 * Then   there is one interrupt whose handler finds the index and OvfBuf; the index has moved by a
 *        record, nothing else is written, and the counter is reloaded
 */
TEST(ds, record_of_cpl_3_reaches_the_threshold_and_reloads,
     REQS(DS_03, DS_05, DS_12, DS_21, REC_13), NEEDS(need_perfmon, need_pebs, need_events))
{
	u64 size = record_size(counter_caps()->record_format);

	if (!sampling_shadow_fits(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct ds_setup setup = sampling_setup(8);
		u64 reload = 0 - 1000000 * ((u64)c + 1), width = BIT(counter_width(c)) - 1;
		const struct pmi_log *log;
		int64_t offset = 0;

		setup.threshold = 1;
		setup.reset[c] = reload;
		pmi_open(NULL);
		record_level_run(&setup, c, 0, LOADS_BEFORE);
		log = pmi_end();
		CHECK_EQ(t, DS_03, size, (u64)ds_bytes(), "bytes by which the index moved");
		CHECK(t, REC_13, !ds_written_outside(0, 1, &offset),
		      "a byte at offset %ld of the buffer, IA32_PMC%u", (long)offset, c);
		CHECK_RANGE(t, DS_12, reload & width, (reload & width) + LOADS_AFTER,
			    counter_read(c), "IA32_PMC%u after a record of CPL 3", c);
		if (CHECK_EQ(t, DS_05, 1, log->count,
			     "interrupts of a record of CPL 3 that "
			     "reaches the threshold, IA32_PMC%u",
			     c)) {
			CHECK_EQ(t, DS_05, ds_buffer() + size, log->entry[0].index,
				 "index at the handler's entry");
			CHECK_EQ(t, DS_21, OVF_BUF, log->entry[0].status & OVF_BUF,
				 "OvfBuf at the handler's entry");
		}
		counter_reset();
	}
}

#define BELOW	2u	/* index and threshold, in records */
#define REACHED	4u

/*
 * DS-03   After a record the PEBS index must have advanced by the record's size.
 * DS-06   No threshold interrupt may be raised while the index is below the threshold.
 * DS-14   An assist must not modify a counter that isn't enabled for PEBS.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-22   An assist must clear the overflow bits of the counters that overflowed and are enabled
 *         for PEBS, and no others.
 *         SDM 18.9.4.1 PEBS Record Format
 * REC-13  An assist must write no byte of the buffer outside its record.
 *         SDM 17.4.9 BTS and DS Save Area
 *
 * Given  a PEBS threshold of four records, the index at the third; another counter without PEBS
 *        has overflowed at CPL 3
 * When   each of IA32_PMC0 to 3 makes a record of a load at CPL 3
 * Then   the index has moved by a record, nothing else is written, and there is no interrupt; the
 *        other counter isn't reloaded, and its status bit is still set
 */
TEST(ds, record_of_cpl_3_below_the_threshold_interrupts_and_reloads_nothing_else,
     REQS(DS_03, DS_06, DS_14, DS_22, REC_13), NEEDS(need_perfmon, need_pebs, need_events))
{
	u64 size = record_size(counter_caps()->record_format);

	if (!sampling_shadow_fits(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		const unsigned other = (c + 1) % PEBS_COUNTERS;
		struct ds_setup setup = sampling_setup(8);
		int64_t offset = 0;

		setup.start = BELOW;
		setup.threshold = REACHED;
		for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
			setup.reset[i] = 0 - 1000000 * ((u64)i + 1);
		counter_program(other, LOADS, COUNT_USR);
		counter_preset(other, 1);
		counters_enable(pmc_one(other));
		workload_run_user(&workload_load, PERIOD);
		counters_disable();
		pmi_open(NULL);
		record_level_run(&setup, c, 0, LOADS_BEFORE);
		CHECK_EQ(t, DS_06, 0, pmi_end()->count,
			 "interrupts of a record of CPL 3 below the threshold, IA32_PMC%u", c);
		CHECK_EQ(t, DS_03, (BELOW + 1) * size, (u64)ds_bytes(),
			 "index - base after a record of CPL 3, IA32_PMC%u", c);
		CHECK(t, REC_13, !ds_written_outside(BELOW, BELOW + 1, &offset),
		      "a byte at offset %ld of the buffer, IA32_PMC%u", (long)offset, c);
		CHECK_RANGE(t, DS_14, PERIOD / 2, 2 * PERIOD, counter_read(other),
			    "IA32_PMC%u, without PEBS, after a record of IA32_PMC%u at CPL 3",
			    other, c);
		CHECK_EQ(t, DS_22, BIT(other), counters_status() & BIT(other),
			 "status bit of IA32_PMC%u, without PEBS, after it", other);
		counter_reset();
	}
}

/* The period of one record in strict runs, as ROUNDS_PERIOD: the rounds and 60 loads on the way to
 * another level and back are fewer than those of two records. */
#define STRICT_PERIOD	200
#define ROUNDS_OF(period) (ROUNDS_FOR(1) - ROUNDS_PERIOD + (period))
_Static_assert(ROUNDS_OF(STRICT_PERIOD) + 60 < 2 * STRICT_PERIOD, "there is one record");

/* Records of counter c with OS or USR alone, of loads at this level. There are fewer loads on the
 * way to the level and back than the period is long. */
static unsigned records_at(struct test *t, unsigned cpl, unsigned c, u64 level)
{
	const u64 period = test_rounds(t, STRICT_PERIOD, ROUNDS_PERIOD);
	const struct ds_setup setup = sampling_setup(8);
	unsigned records;

	ds_open(&setup);
	pebs_arm(c, LOADS, level, period);
	counters_enable(pmc_one(c));
	workload_run_at_cpl(cpl, &workload_load, ROUNDS_OF(period));
	counters_disable();
	records = ds_records();
	if (level == COUNT_USR)
		sampling_want(t, 1);
	pebs_disarm();
	counter_reset();
	return records;
}

static void check_ring(struct test *t, unsigned cpl, unsigned c)
{
	const struct workload *w = &workload_user_sample;
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	u64 rip;

	CONTROL_EQ(t, ARM_06, 1, records_at(t, cpl, c, COUNT_USR),
		   "records of loads at CPL %u with USR alone, IA32_PMC%u", cpl, c);
	CHECK_EQ(t, ARM_06, 0, records_at(t, cpl, c, COUNT_OS),
		 "records of loads at CPL %u with OS alone, IA32_PMC%u", cpl, c);
	record_level_run_at(cpl, &setup, c, 0, LOADS_BEFORE);
	if (!sampling_one_record(t, CONTROL_AT(ARM_06), &record))
		return;
	rip = sampling_field(&record, RECORD_rip);
	CONTROL(t, ARM_06, workload_mark_at(w, SAMPLE_MARKS, rip - w->mark_length) >= 0,
		"R/EIP 0x%lx is right after a marked load at CPL %u, IA32_PMC%u", rip, cpl, c);
	counter_reset();
}

/*
 * ARM-06  PEBS must record events only at the privilege levels that the OS and USR bits of the
 *         counter select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  marked loads at CPL 1, and at CPL 2; USR selects levels 1, 2 and 3, OS level 0
 * When   each of IA32_PMC0 to 3 counts many loads there with USR alone, then with OS alone; last it
 *        overflows with USR alone near the marked loads
 * Then   with OS alone there is no record
 * Control: with USR alone there is one record of as many loads; and one whose R/EIP is right after
 *          a marked load
 */
TEST(arm, event_at_cpl_1_or_2_is_recorded_with_usr_and_not_with_os, REQS(ARM_06),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	if (!sampling_shadow_fits(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++)
		for (unsigned cpl = 1; cpl < 3; cpl++)
			check_ring(t, cpl, c);
}
