/* SPDX-License-Identifier: MIT */
/*
 * Bits of a record that don't vary in tests with loads at low addresses and only four counters:
 * upper halves, RFLAGS.DF, the status bits of fixed counters and of the buffer. SDM Table 18-44,
 * Figure 18-20, "EFLAGS Register".
 */
#include "kernel/processor/cpu.h"
#include "kernel/memory/paging.h"
#include "spec/msr.h"
#include "spec/x86.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/marked_walk.h"

#define STATUS_TRIES 8		/* as in tests/pebs/record.c: some images may be 0 */
#define LOADS_BEFORE (PERIOD - 4)
#define OVF_BUF IA32_PERF_GLOBAL_STATUS_OVF_BUF

/* Fixed counter i wraps long before the record of IA32_PMCc; no other counter wraps. */
static void check_fixed_image(struct test *t, unsigned i, unsigned c)
{
	unsigned tries = test_sees_exactly(t, REQ_REC_08) ? 1 : STATUS_TRIES;
	unsigned fixed = PMC_FIXED(i);
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	u64 status = 0;

	do {
		counters_clear(counters_status() & STATUS_LOOKED_AT);
		if (fixed == OVERFLOW_SLOW)	/* it wraps later than a record is made */
			overflow(fixed, 0);
		else
			overflow_prepare(fixed, 0);
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, pmc_one(fixed));
		if (!sampling_one_record(t, AT(REC_08), &record))
			return;
		status = sampling_field(&record, RECORD_status) & STATUS_LOOKED_AT;
	} while (!status && --tries);
	CHECK_EQ(t, REC_08, BIT(fixed), status & counters_fixed().bits,
		 "bits of fixed counters in the status of a record (0x%lx), fixed counter %u has "
		 "wrapped",
		 status, i);
	CHECK_EQ(t, REC_07, BIT(c), status & 0xf, "bits 3:0 of it, a record of IA32_PMC%u", c);
	counter_reset();
}

/*
 * REC-07  The status field of formats 1 and 2 must be IA32_PERF_GLOBAL_STATUS as it was before the
 *         assist.
 * REC-08  The status field of formats 1 and 2 must show the overflow of counters that are not
 *         enabled for PEBS too.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  each fixed counter wraps long before the record of each of IA32_PMC0 to 3; nothing else
 *        does
 * When   the record is made
 * Then   its status has the bit of that fixed counter and of no other, and of bits 3:0 its own
 *        alone
 */
TEST(record, status_of_a_record_shows_each_fixed_counter_overflow, REQS(REC_07, REC_08),
     NEEDS(need_perfmon, need_status_image, need_events, need_fixed_0_to_2))
{
	for (unsigned i = 0; i < 3; i++)
		for (unsigned c = 0; c < 4 && c < sampling_gp_counters(); c++)
			check_fixed_image(t, i, c);
}

/*
 * REC-07  The status field of formats 1 and 2 must be IA32_PERF_GLOBAL_STATUS as it was before the
 *         assist.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  a PEBS threshold of one record, and nothing that clears OvfBuf
 * When   two records are made
 * Then   OvfBuf is 0 in the first one's status, which reaches the threshold, 1 in the second
 *        one's, and 1 afterwards
 * Control: there are two records
 */
TEST(record, status_of_a_record_shows_ovfbuf, REQS(REC_07),
     NEEDS(need_perfmon, need_status_image, need_events), .under_every_fault = true)
{
	unsigned tries = test_sees_exactly(t, REQ_REC_07) ? 1 : STATUS_TRIES;
	enum record_format format = counter_caps()->record_format;
	struct pebs_record record[2];
	u64 status[2];

	if (!sampling_shadow_fits(t))
		return;
	do {
		struct ds_setup setup = sampling_setup(8);

		setup.threshold = 1;
		counters_clear(counters_status() & STATUS_LOOKED_AT);
		sampling_rounds(&setup, 2);
		if (!CONTROL_EQ(t, REC_07, 2, ds_records(), "records"))
			return;
		for (unsigned i = 0; i < 2; i++) {
			record_decode(format, ds_record(i), record_size(format), &record[i]);
			status[i] = sampling_field(&record[i], RECORD_status) & STATUS_LOOKED_AT;
		}
	} while (!(status[0] && status[1]) && --tries);
	CHECK_EQ(t, REC_07, 0, status[0] & OVF_BUF,
		 "OvfBuf in the record that reaches the "
		 "threshold (status 0x%lx)",
		 status[0]);
	CHECK_EQ(t, REC_07, OVF_BUF, status[1] & OVF_BUF,
		 "OvfBuf in the record after it "
		 "(status 0x%lx)",
		 status[1]);
	CHECK_EQ(t, REC_07, OVF_BUF, counters_status() & OVF_BUF, "OvfBuf afterwards");
	counters_clear(counters_status() & STATUS_LOOKED_AT);
}

/*
 * REC-11  The flags field must hold RFLAGS after the causing instruction.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  RAX with bits in its upper half, RFLAGS unchanged; then ID, AC, IOPL and NT inverted, one
 *        at a time
 * When   IA32_PMC0 makes a record
 * Then   the flags field is all of RFLAGS but RF and what ADD sets
 */
TEST(record, flags_of_a_record_have_no_bits_of_rax, REQS(REC_11),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	static const u64 inverted[] = { 0, RFLAGS_ID, RFLAGS_AC, RFLAGS_IOPL, RFLAGS_NT };
	u64 found = rflags_read();

	workload_memory()[0] = 0x5eed;
	for (unsigned i = 0; i < SAMPLE_MARKS; i++)
		workload_memory()[SAMPLE_OFFSET / 8 + i] = 0;
	for (unsigned i = 0; i < sizeof(inverted) / sizeof(inverted[0]); i++) {
		struct ds_setup setup = sampling_setup(8);
		struct pebs_record record;
		u64 wanted;

		rflags_write(found ^ inverted[i]);
		wanted = rflags_read() & ~(RFLAGS_RF | RFLAGS_STATUS);
		sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		rflags_write(found);
		counters_clear(BIT(0));
		if (sampling_one_record(t, AT(REC_11), &record))
			CHECK_EQ(t, REC_11, wanted,
				 sampling_field(&record, RECORD_rflags) &
					 ~(RFLAGS_RF | RFLAGS_STATUS),
				 "RFLAGS but RF and status flags");
	}
}

/* Take the record of a marked load of the piece. Returns the mark; -1: the check has failed. */
static int take_marked(struct test *t, const struct workload *w, unsigned marks, u64 period,
		       unsigned c, struct pebs_record *record)
{
	struct ds_setup setup = sampling_setup(8);
	int mark;

	ds_open(&setup);
	pebs_arm(c, LOADS, COUNT_BOTH, period);
	workload_run(w, LOADS_BEFORE, pmc_one(c));
	pebs_disarm();
	counter_program_disabled(c, 0, 0);
	counters_clear(BIT(c));
	if (!sampling_one_record(t, AT(REC_11), record))
		return -1;
	mark = sampling_mark(w, marks, record);
	CHECK(t, REC_11, mark >= 0, "instruction 0x%lx is a marked one of %s, IA32_PMC%u",
	      sampling_ip(w, record), w->name, c);
	return mark;
}

/*
 * REC-11  The flags field must hold RFLAGS after the causing instruction.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  rounds of locked ADD, INC, XADD and CMPXCHG, flags with SF and OF alone before each
 * When   each PEBS counter makes a record of one
 * Then   the flags are those after it: ZF is 1, SF and OF are 0, CF is that of its kind
 */
TEST(record, flags_of_a_record_are_those_after_a_locked_instruction, REQS(REC_11),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	/* The sums are -1 + 1, where INC doesn't change CF; the comparison is of -1 with -1. The
	 * periods differ, so that records of several kinds are made. */
	static const u8 after[] = {
		RFLAGS_CF | RFLAGS_PF | RFLAGS_AF | RFLAGS_ZF, RFLAGS_PF | RFLAGS_AF | RFLAGS_ZF,
		RFLAGS_CF | RFLAGS_PF | RFLAGS_AF | RFLAGS_ZF, RFLAGS_PF | RFLAGS_ZF,
	};
	const u64 others = rflags_read() & FLAGS_LOOKED_AT & ~RFLAGS_STATUS;
	struct pebs_record record;

	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		const int mark = take_marked(t, &workload_lock_kinds, sizeof(after), PERIOD + c, c,
					     &record);

		if (mark >= 0)
			CHECK_EQ(t, REC_11, others | after[mark],
				 sampling_field(&record, RECORD_rflags) & FLAGS_LOOKED_AT,
				 "flags after locked instruction %d of 0 to 3, IA32_PMC%u", mark,
				 c);
	}
}

/*
 * REC-11  The flags field must hold RFLAGS after the causing instruction.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  marked loads between STD and CLD
 * When   each PEBS counter makes a record of one
 * Then   DF is 1 in it
 * Control: DF is 0 in a record of other code
 */
TEST(record, flags_of_a_record_show_the_direction_flag, REQS(REC_11),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;

	if (!sampling_shadow_fits(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		if (take_marked(t, &workload_backward, SAMPLE_MARKS, PERIOD, c, &record) >= 0)
			CHECK_EQ(t, REC_11, RFLAGS_DF,
				 sampling_field(&record, RECORD_rflags) & RFLAGS_DF,
				 "DF in a record of a load between STD and CLD, IA32_PMC%u", c);
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		counters_clear(BIT(c));
		if (sampling_one_record(t, CONTROL_AT(REC_11), &record))
			CONTROL_EQ(t, REC_11, 0, sampling_field(&record, RECORD_rflags) & RFLAGS_DF,
				   "DF in a record of other code, IA32_PMC%u", c);
	}
}

/* Run code and data at addresses that are higher by `above`: each address in the record has the
 * upper half. */
static void check_above(struct test *t, unsigned c, u64 above)
{
	const struct workload *w = &workload_user_sample;
	u64 memory = (u64)(uintptr_t)workload_memory() + above, ip;
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	int mark;

	ds_open(&setup);
	pebs_arm(c, LOADS, COUNT_BOTH, PERIOD);
	workload_run_above(w, LOADS_BEFORE, above, pmc_one(c));
	pebs_disarm();
	counter_program_disabled(c, 0, 0);
	if (!sampling_one_record(t, AT(REC_03), &record))
		return;
	mark = workload_mark_at(w, SAMPLE_MARKS,
				sampling_field(&record, RECORD_rip) - w->mark_length - above);
	if (!CHECK(t, REC_03, mark >= 0,
		   "R/EIP 0x%lx is after a marked load, 0x%lx and on, "
		   "IA32_PMC%u",
		   sampling_field(&record, RECORD_rip), workload_mark(w, 0) + above, c))
		return;
	if (record_get(&record, RECORD_eventing_ip, &ip))
		CHECK_EQ(t, IDS(REC_HSW_02, ADP_09), workload_mark(w, (unsigned)mark) + above, ip,
			 "EventingIP, IA32_PMC%u", c);
	CHECK_EQ(t, REC_HSW_10, memory, sampling_field(&record, RECORD_rsi), "RSI, IA32_PMC%u", c);
	if (counter_caps()->facilities & FAC_DATALA)
		CHECK_EQ(t, IDS(DLA_02, ADP_47), memory + SAMPLE_OFFSET + 8 * (u64)mark,
			 sampling_field(&record, RECORD_data_linear_address),
			 "address of marked load %d, IA32_PMC%u", mark, c);
}

/*
 * REC-03      The RIP field must be the address of the instruction after the one that caused the
 *             assist.
 *             SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 * REC-HSW-02  Offset B0H, EventingIP, must hold the address of the retired instruction that
 *             triggered the assist.
 *             SDM 18.11.3.1 EventingIP Record
 * REC-HSW-10  Each general register must be at its offset of Table 18-44: RAX 10H, RBX 18H, RCX
 *             20H, RDX 28H, RSI 30H, RDI 38H, RBP 40H, RSP 48H, R8 50H to R15 88H.
 *             SDM 18.11.2 4th Generation Intel Core: PEBS Data Format, Table 18-44
 * DLA-02      Offset 98H must hold the linear address of the load, or of the destination of the
 *             store.
 *             SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 * ADP-09      EventingIP must be at 08H of the basic group, and RIP of the GPR group must be the
 *             address of the next instruction.
 *             Linux setup_pebs_adaptive_sample_data
 * ADP-47      The address of a memory group must be the linear address of the access that was
 *             sampled.
 *             Linux struct pebs_meminfo
 *
 * Given  code and data above 4 GiB; then in the upper half of the address space, where bits 63:47
 *        are 1
 * When   each PEBS counter makes a record
 * Then   R/EIP, EventingIP, RSI and, where there is data address profiling, the data linear
 *        address have their upper halves
 */
TEST(record, addresses_of_a_record_above_4_gib_are_whole,
     REQS(REC_03, REC_HSW_02, REC_HSW_10, DLA_02, ADP_09, ADP_47),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	if (!sampling_shadow_fits(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		check_above(t, c, PAGING_HIGH);
		counter_reset();
		check_above(t, c, PAGING_UPPER);
		counter_reset();
	}
}
