/* SPDX-License-Identifier: MIT */
/*
 * The PEBS record: SDM Table 18-23 "PEBS Record Format for Intel Core i7 Processor Family", Table
 * 18-44 "PEBS Record Format for 4th Generation Intel Core Processor Family", "Processor Event Based
 * Sampling (PEBS)". Each record is for a marked load (or store) with known registers. So every
 * field is known beforehand, except the number of the mark: the manual doesn't say how many events
 * pass between arming and the assist.
 */
#include "kernel/processor/cpu.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/marked_walk.h"

#define FORMAT1_BYTES	0xb0u	/* Table 18-23: the last field begins at A8H */
#define FORMAT2_BYTES	0xc0u	/* Table 18-44: the last field begins at B8H */
#define AT_RIP		0x08	/* offsets in both */
#define AT_RAX		0x10
#define AT_STATUS	0x90
#define PAGE		4096

static struct sampling_sum expected[SAMPLE_MARKS];

/* Take one record of the marked loads, which the counter counts. */
static bool record_take(struct test *t, struct test_claim claim, unsigned counter,
			struct pebs_record *record, unsigned *mark)
{
	struct ds_setup setup = sampling_setup(8);
	int m;

	sampling_fill(expected, SAMPLE_MARKS);
	sampling_run(&setup, counter, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	if (!sampling_one_record(t, claim, record))
		return false;
	m = sampling_mark(&workload_sample, SAMPLE_MARKS, record);
	if (!test_check(t, claim, m >= 0, "m >= 0",
			"instruction 0x%lx is a mark, 0x%lx to 0x%lx (IA32_PMC%u)",
			sampling_ip(&workload_sample, record), workload_mark(&workload_sample, 0),
			workload_mark(&workload_sample, SAMPLE_MARKS - 1), counter))
		return false;
	*mark = (unsigned)m;
	return true;
}

/* The field at an offset of the table, read without the decoder. */
static u64 record_at(const void *record, unsigned offset)
{
	return *(const volatile u64 *)((uintptr_t)record + offset);
}

/*
 * REC-02  A format 1 record must be B0H bytes with status, data linear address, data source and
 *         latency at 90H, 98H, A0H and A8H.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS), Table 18-23
 *
 * Given  record format 1; Table 18-23: the last field begins at A8H
 * When   IA32_PMC2 makes a record
 * Then   the index moves by B0H, and the status at 90H has bit 2 alone of 3:0
 * Control: something is written
 */
TEST(record, pebs_format1_record_is_0xb0_bytes, REQS(REC_02),
     NEEDS(need_perfmon, need_format1, need_events))
{
	struct ds_setup setup = sampling_setup(8);

	sampling_fill(expected, SAMPLE_MARKS);
	sampling_run(&setup, 2, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	sampling_want(t, 1);
	CHECK_EQ(t, REC_02, FORMAT1_BYTES, (u64)ds_bytes(), "bytes by which the index moved");
	if (CONTROL(t, REC_02, ds_record_written(0), "the record's bytes"))
		CHECK_EQ(t, REC_02, 4, record_at(ds_record(0), AT_STATUS) & 0xf,
			 "IA32_PERF_GLOBAL_STATUS[3:0] at 90H, IA32_PMC2");
}

/*
 * REC-HSW-01  A format 2 record must be C0H bytes.
 *             SDM 18.11.2 4th Generation Intel Core: PEBS Data Format, Table 18-44
 *
 * Given  record format 2; Table 18-44: the last field begins at B8H
 * When   each PEBS counter makes a record
 * Then   the index moves by C0H, and every byte of the record is written
 */
TEST(record, pebs_format2_record_is_0xc0_bytes, REQS(REC_HSW_01),
     NEEDS(need_perfmon, need_format2, need_events))
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct ds_setup setup = sampling_setup(8);

		sampling_fill(expected, SAMPLE_MARKS);
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		sampling_want(t, 1);
		CHECK_EQ(t, REC_HSW_01, FORMAT2_BYTES, (u64)ds_bytes(),
			 "bytes by which the index moved, IA32_PMC%u", c);
		CHECK(t, REC_HSW_01, ds_record_written(0), "the record's bytes");
		counters_clear(BIT(c));
	}
}

/*
 * REC-HSW-02  Offset B0H, EventingIP, must hold the address of the retired instruction that
 *             triggered the assist.
 *             SDM 18.11.3.1 EventingIP Record
 *
 * Given  marked loads
 * When   each PEBS counter makes a record
 * Then   EventingIP is the address of a marked load
 */
TEST(record, eventing_ip_of_a_record_names_a_load_that_retired, REQS(REC_HSW_02),
     NEEDS(need_perfmon, need_eventing_ip, need_events))
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct pebs_record record;
		unsigned mark;

		record_take(t, AT(REC_HSW_02), c, &record, &mark);
	}
}

/* Here EventingIP isn't used to find the mark. */
static bool check_rip(struct test *t, struct test_claim claim, unsigned c,
		      struct pebs_record *record)
{
	struct ds_setup setup = sampling_setup(8);
	bool next = false;
	u64 rip;

	sampling_fill(expected, SAMPLE_MARKS);
	sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	counters_clear(BIT(c));
	if (!sampling_one_record(t, claim, record))
		return false;
	rip = sampling_field(record, RECORD_rip);
	for (unsigned i = 0; i < SAMPLE_MARKS; i++)
		next |= rip == workload_mark(&workload_sample, i) + workload_sample.mark_length;
	return test_check(t, claim, next, "next",
			  "R/EIP 0x%lx is right after a marked load, IA32_PMC%u", rip, c);
}

/*
 * REC-03  The RIP field must be the address of the instruction after the one that caused the
 *         assist.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  marked loads; the test finds the load without EventingIP
 * When   each PEBS counter makes a record
 * Then   R/EIP is right after a marked load
 */
TEST(record, rip_of_a_record_is_the_instruction_after_the_load, REQS(REC_03),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	struct pebs_record record;

	for (unsigned c = 0; c < PEBS_COUNTERS; c++)
		check_rip(t, AT(REC_03), c, &record);
}

/*
 * REC-HSW-03  Offset 08H must hold the address of the next instruction executed after the assist.
 *             SDM 18.11.3.1 EventingIP Record
 *
 * Given  marked loads
 * When   each PEBS counter makes a record
 * Then   R/EIP is right after a marked load, and less EventingIP it is the length of the load
 */
TEST(record, rip_of_a_record_is_the_instruction_after_eventing_ip, REQS(REC_HSW_03),
     NEEDS(need_perfmon, need_eventing_ip, need_events))
{
	struct pebs_record record;

	for (unsigned c = 0; c < PEBS_COUNTERS; c++)
		if (check_rip(t, AT(REC_HSW_03), c, &record) &&
		    sampling_mark(&workload_sample, SAMPLE_MARKS, &record) >= 0)
			CHECK_EQ(t, REC_HSW_03, workload_sample.mark_length,
				 sampling_field(&record, RECORD_rip) -
					 sampling_field(&record, RECORD_eventing_ip),
				 "R/EIP - EventingIP, the length of the load, IA32_PMC%u", c);
}

/*
 * REC-04  The register fields must hold the values after the causing instruction retired, a
 *         register that it loaded included.
 * REC-12  The RSP field must be the stack pointer of the sampled code.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  marked loads, each of which adds to RAX
 * When   IA32_PMC0 makes a record
 * Then   RAX is the sum after that load, and RSP the one of the sampled code
 */
TEST(record, registers_of_a_record_are_those_after_the_load, REQS(REC_04, REC_12),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	struct pebs_record record;
	unsigned mark;

	if (!record_take(t, AT(REC_04), 0, &record, &mark))
		return;
	CHECK_EQ(t, REC_04, expected[mark].rax, sampling_field(&record, RECORD_rax),
		 "RAX after marked load %u, which adds to it", mark);
	CHECK_EQ(t, REC_12, workload_stack(), sampling_field(&record, RECORD_rsp),
		 "RSP of the sampled code");
}

static void check_offsets(struct test *t, struct test_claim claim)
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	bool rax = false;
	const void *bytes;

	sampling_fill(expected, SAMPLE_MARKS);
	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	if (!sampling_one_record(t, claim, &record))
		return;
	bytes = ds_record(0);
	sampling_check_registers(t, claim, bytes, (u64)(uintptr_t)workload_memory(),
				 workload_stack());
	for (unsigned i = 0; i < SAMPLE_MARKS; i++)
		rax |= record_at(bytes, AT_RAX) == expected[i].rax;
	test_check(t, claim, rax || record_at(bytes, AT_RAX) == SAMPLE_RAX, "RAX",
		   "RAX 0x%lx at offset 0x10 is one of the marked loads'",
		   record_at(bytes, AT_RAX));
	test_check(t, claim,
		   workload_mark_at(&workload_sample, SAMPLE_MARKS,
				    record_at(bytes, AT_RIP) - workload_sample.mark_length) >= 0,
		   "R/EIP", "R/EIP 0x%lx at offset 0x08", record_at(bytes, AT_RIP));
}

/*
 * REC-HSW-10  Each general register must be at its offset of Table 18-44: RAX 10H, RBX 18H, RCX
 *             20H, RDX 28H, RSI 30H, RDI 38H, RBP 40H, RSP 48H, R8 50H to R15 88H.
 *             SDM 18.11.2 4th Generation Intel Core: PEBS Data Format, Table 18-44
 *
 * Given  registers with values that differ, marked loads
 * When   IA32_PMC0 makes a record
 * Then   read without the decoder, each register of the table is at its offset
 */
TEST(record, each_register_is_at_its_offset_of_the_record, REQS(REC_HSW_10),
     NEEDS(need_perfmon, need_pebs, need_events), .under_every_fault = true)
{
	check_offsets(t, AT(REC_HSW_10));
}

/*
 * REC-HSW-09  Offsets 00H to A8H of a format 2 record must be laid out as in format 1.
 *             SDM 18.11.2 4th Generation Intel Core: PEBS Data Format, Tables 18-23 and 18-44
 *
 * Given  record format 2; registers with values that differ, marked loads
 * When   IA32_PMC0 makes a record
 * Then   read without the decoder, each register of format 1 is at the offset of Table 18-23
 */
TEST(record, pebs_format2_record_begins_as_format1, REQS(REC_HSW_09),
     NEEDS(need_perfmon, need_format2, need_events))
{
	check_offsets(t, AT(REC_HSW_09));
}

/*
 * REC-11  The flags field must hold RFLAGS after the causing instruction.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  marked loads, each of which adds to RAX and changes the flags
 * When   IA32_PMC0 makes a record
 * Then   RFLAGS are those after that load
 */
TEST(record, flags_of_a_record_are_those_after_the_load, REQS(REC_11),
     NEEDS(need_perfmon, need_pebs, need_events), .under_every_fault = true)
{
	u64 others = rflags_read() & FLAGS_LOOKED_AT & ~RFLAGS_STATUS;
	struct pebs_record record;
	unsigned mark;

	if (!record_take(t, AT(REC_11), 0, &record, &mark))
		return;
	CHECK_EQ(t, REC_11, others | expected[mark].flags,
		 sampling_field(&record, RECORD_rflags) & FLAGS_LOOKED_AT,
		 "flags after marked load %u, which changes them", mark);
}

/*
 * Counter `plain`, without PEBS, wraps long before the record; its bit must be in the image. So
 * must be the bit of the record's counter, which the assist then clears. Where an image may be 0 (a
 * race with a write of the status), one nonzero image of several records is enough.
 */
#define STATUS_TRIES 8

static void check_status(struct test *t, unsigned c, unsigned plain)
{
	unsigned tries = test_sees_exactly(t, REQ_REC_07) ? 1 : STATUS_TRIES;
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	u64 status = 0, after;

	sampling_fill(expected, SAMPLE_MARKS);
	do {
		counters_clear(counters_status());
		counter_program(plain, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH);
		counter_preset(plain, PERIOD / 2);
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, pmc_one(plain));
		after = counters_status();
		if (!sampling_one_record(t, AT(REC_07), &record))
			return;
		status = sampling_field(&record, RECORD_status);
	} while (!status && --tries);
	CHECK_EQ(t, REC_07, BIT(c), status & BIT(c),
		 "bit of IA32_PMC%u, for which it is (status 0x%lx)", c, status);
	CHECK_EQ(t, REC_08, BIT(plain), status & BIT(plain),
		 "bit of IA32_PMC%u, without PEBS (status 0x%lx)", plain, status);
	CHECK_EQ(t, REC_07, 0, status & (counters_fixed().bits | 0xf) & ~(BIT(c) | BIT(plain)),
		 "bits of counters that haven't wrapped (status 0x%lx)", status);
	CHECK_EQ(t, REC_08, BIT(plain), after & BIT(plain),
		 "bit of IA32_PMC%u in IA32_PERF_GLOBAL_STATUS afterwards", plain);
}

/*
 * REC-07  The status field of formats 1 and 2 must be IA32_PERF_GLOBAL_STATUS as it was before the
 *         assist.
 * REC-08  The status field of formats 1 and 2 must show the overflow of counters that are not
 *         enabled for PEBS too.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  a PEBS counter, and one without PEBS that wraps long before the record. Where an image may
 *        be 0 (a race with a write of the status), one record with another image is enough
 * When   the record is made
 * Then   its status has the bits of both counters and of no other; the assist leaves the one
 *        without PEBS in IA32_PERF_GLOBAL_STATUS
 */
TEST(record, status_of_a_record_is_global_status_before_the_assist, REQS(REC_07, REC_08),
     NEEDS(need_perfmon, need_status_image, need_events, need_branches))
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		check_status(t, c, (c + 1) % PEBS_COUNTERS);
		counter_reset();
	}
}

static void check_outside(struct test *t, unsigned c, unsigned n)
{
	struct ds_setup setup = sampling_setup(n + 6);
	int64_t offset = 0;

	setup.start = n;
	sampling_fill(expected, SAMPLE_MARKS);
	sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	sampling_want(t, n + 1);
	CONTROL(t, REC_13, ds_record_written(n), "record %u, at the index, IA32_PMC%u", n, c);
	CHECK(t, REC_13, !ds_written_outside(n, n + 1, &offset),
	      "a byte at offset %ld of the buffer, the record being at %u", (long)offset,
	      n * FORMAT2_BYTES);
	CHECK(t, REC_13, ds_area_unchanged(), "the DS area but for the PEBS index");
	counters_clear(BIT(c));
}

/*
 * REC-13  An assist must write no byte of the buffer outside its record.
 *         SDM 17.4.9 BTS and DS Save Area
 *
 * Given  a PEBS buffer whose index is at the third record, and at one that lies across the end of
 *        a page
 * When   each PEBS counter makes a record
 * Then   no other byte of the buffer, and of the DS area except for the PEBS index, is written
 * Control: the record is written at the index
 */
TEST(record, assist_writes_no_byte_outside_its_record, REQS(REC_13),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	unsigned n = 3;

	for (unsigned c = 0; c < PEBS_COUNTERS; c++)
		check_outside(t, c, 2);
	while (n < 3 + 2 * PAGE / FORMAT2_BYTES && !ds_record_crosses_page(n))
		n++;
	if (HARNESS_CHECK(t, ds_record_crosses_page(n), "record %u crosses a page's end", n))
		check_outside(t, 0, n);
}
