/* SPDX-License-Identifier: MIT */
/*
 * The groups of an adaptive record: their presence, order and size. Sources: Linux
 * setup_pebs_adaptive_sample_data, kvm-unit-tests pmu_pebs. This file has its own literal offsets
 * and reads the records without the decoder.
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"

/* Sizes of the 16 combinations with 32 entries, as in the table of kvm-unit-tests' arithmetic. */
static const u16 sizes_with_32_entries[CONFIGS] = {
	0x020, 0x040, 0x0b0, 0x0d0, 0x120, 0x140, 0x1b0, 0x1d0,
	0x320, 0x340, 0x3b0, 0x3d0, 0x420, 0x440, 0x4b0, 0x4d0,
};

#define SIZE_OF_WORD(word)	((word) >> 48)

/*
 * ADP-01  Bits 63:48 of the format word of an adaptive record must be the size of the record.
 *         Linux setup_pebs_adaptive_sample_data; kvm-unit-tests pmu_pebs
 * ADP-10  Bits 23:4 of the format word must be 0, but for [5:4] in format 6.
 *         Linux: names no use of them
 * ADP-16  Bits 31:0 of the format word must be MSR_PEBS_DATA_CFG[31:0] in a record of an adaptive
 *         counter.
 *         kvm-unit-tests pmu_pebs
 * ADP-19  The memory group must add 20H bytes to a record, GPR 90H, XMM 100H and each LBR entry
 *         18H.
 *         Linux setup_pebs_adaptive_sample_data; kvm-unit-tests pmu_pebs
 *
 * Given  PEBS with baseline; the 16 combinations of groups in MSR_PEBS_DATA_CFG[3:0], with 32 LBR
 *        entries
 * When   a counter whose Adaptive_Record bit is 1 makes a record of a load
 * Then   the index moves by 20H for the basic group and by 20H, 90H, 100H and 300H for each group
 *        that is asked for; bits 63:48 of the format word are that size, and bits 31:0 are
 *        MSR_PEBS_DATA_CFG
 */
TEST(adaptive, record_is_as_long_as_its_groups_are, REQS(ADP_01, ADP_10, ADP_16, ADP_19),
     NEEDS(need_perfmon, need_baseline, need_loads_or_branches), .under_every_fault = true)
{
	for (u32 i = 0; i < CONFIGS; i++) {
		struct adaptive_run run = { .config = i & CONFIG_LBR ? i | 31u << 24 : i };
		u64 word;

		run.counter = i % LOAD_COUNTERS;
		adaptive_window(&run);
		if (!adaptive_one_record(t, AT(ADP_16, ADP_19), &run))
			return;
		CHECK_EQ(t, ADP_19, sizes_with_32_entries[i], (u64)ds_bytes(),
			 "bytes by which the index moved, MSR_PEBS_DATA_CFG = %#lx", run.config);
		word = adaptive_at(0);
		CHECK_EQ(t, ADP_01, (u64)ds_bytes(), SIZE_OF_WORD(word),
			 "bits 63:48 of the format word %#lx", word);
		CHECK_EQ(t, ADP_16, run.config, word & BITS(0, 31), "bits 31:0 of the format word");
		CHECK_EQ(t, ADP_10, 0, word & BITS(4, 23), "bits 23:4 of the format word");
	}
}

/*
 * ADP-05  The LBR group must have MSR_PEBS_DATA_CFG[31:24] + 1 entries.
 *         Linux setup_pebs_adaptive_sample_data; kvm-unit-tests pmu_pebs
 * ADP-16  Bits 31:0 of the format word must be MSR_PEBS_DATA_CFG[31:0] in a record of an adaptive
 *         counter.
 *         kvm-unit-tests pmu_pebs
 * ADP-19  The memory group must add 20H bytes to a record, GPR 90H, XMM 100H and each LBR entry
 *         18H.
 *         Linux setup_pebs_adaptive_sample_data; kvm-unit-tests pmu_pebs
 *
 * Given  MSR_PEBS_DATA_CFG with the LBR group alone, and 1 to 32 entries in bits 31:24
 * When   IA32_PMC0 makes a record
 * Then   it has 18H bytes an entry after the basic group, and no byte outside it is written
 */
TEST(adaptive, lbr_group_has_as_many_entries_as_data_cfg_says, REQS(ADP_05, ADP_16, ADP_19),
     NEEDS(need_perfmon, need_baseline, need_loads_or_branches))
{
	static const u8 entries[] = { 1, 2, 7, 8, 16, 31, 32 };

	for (unsigned i = 0; i < sizeof(entries); i++) {
		struct adaptive_run run = { .config = CONFIG_LBR_OF(entries[i]) };
		int64_t offset = 0;

		adaptive_window(&run);
		if (!adaptive_one_record(t, AT(ADP_05, ADP_19), &run))
			return;
		CHECK_EQ(t, IDS(ADP_05, ADP_19), 0x20u + 0x18u * entries[i],
			 SIZE_OF_WORD(adaptive_at(0)),
			 "bits 63:48 of the format word, %u LBR entries", entries[i]);
		CHECK_EQ(t, ADP_16, run.config, adaptive_at(0) & BITS(0, 31),
			 "bits 31:0 of the format word");
		CHECK(t, ADP_05, ds_record_written(0) && !ds_written_outside(0, 1, &offset),
		      "the record, and no byte beside it (offset %ld), %u LBR entries",
		      (long)offset, entries[i]);
	}
}

/* Check the order of the groups by values that only one group can have. */
static void check_order(struct test *t, u32 config)
{
	u64 memory = (u64)(uintptr_t)workload_memory();
	u64 rip = adaptive_at(0x08);
	int mark = workload_mark_at(sampling_any_registers(), SAMPLE_MARKS, rip);
	unsigned at = BASIC_BYTES;

	if (!CHECK(t, ADP_03, mark >= 0, "EventingIP %#lx is a marked event", rip))
		return;
	if (config & CONFIG_MEMORY) {
		/* A record of a jump has no address. */
		if (LOADS)
			CHECK_EQ(t, ADP_03, memory + SAMPLE_OFFSET + 8 * (u64)mark, adaptive_at(at),
				 "data linear address at %#x, MSR_PEBS_DATA_CFG = %#x", at, config);
		at += 0x20;
	}
	if (config & CONFIG_GPR) {
		CHECK_EQ(t, ADP_03, SAMPLE_RBX, adaptive_at(at + 0x28),
			 "RBX at %#x, MSR_PEBS_DATA_CFG = %#x", at + 0x28, config);
		CHECK_EQ(t, ADP_03, SAMPLE_R(15), adaptive_at(at + 0x88),
			 "R15 at %#x, MSR_PEBS_DATA_CFG = %#x", at + 0x88, config);
		at += 0x90;
	}
	if (config & CONFIG_XMM) {
		CHECK_EQ(t, ADP_03, SAMPLE_XMM(0), adaptive_at(at),
			 "XMM0 at %#x, MSR_PEBS_DATA_CFG = %#x", at, config);
		CHECK_EQ(t, ADP_03, SAMPLE_XMM(15), adaptive_at(at + 0xf0),
			 "XMM15 at %#x, MSR_PEBS_DATA_CFG = %#x", at + 0xf0, config);
		at += 0x100;
	}
	CHECK_EQ(t, ADP_03, (u64)ds_bytes(), at + (config & CONFIG_LBR ? 4u * 0x18 : 0),
		 "end of the groups, MSR_PEBS_DATA_CFG = %#x", config);
}

/*
 * ADP-03  The groups of an adaptive record must be in the order basic, memory, GPR, XMM, LBR, and
 *         an absent group must take no space.
 *         Linux setup_pebs_adaptive_sample_data; kvm-unit-tests pmu_pebs
 *
 * Given  marked loads with addresses (jumps where no table has loads), general registers and
 *        XMM registers that differ from each other; each combination of groups
 * When   IA32_PMC0 makes a record
 * Then   each item that only one group can hold is at the place where the groups requested before
 *        it end, and the last group ends at the record's end
 * Control: EventingIP is a marked load
 */
TEST(adaptive, groups_of_a_record_are_in_order_without_gaps, REQS(ADP_03),
     NEEDS(need_perfmon, need_baseline, need_loads_or_branches), .under_every_fault = true)
{
	for (u32 i = 0; i < CONFIGS; i++) {
		struct adaptive_run run = { .config = i, .workload = sampling_any_registers() };

		if (i & CONFIG_LBR)
			run.config |= CONFIG_LBR_OF(4);
		adaptive_window(&run);
		if (!adaptive_one_record(t, CONTROL_AT(ADP_03), &run))
			return;
		check_order(t, (u32)run.config);
	}
}

/*
 * ADP-30  A change of MSR_PEBS_DATA_CFG with PEBS stopped must hold for the next record.
 *         Linux: drains, then writes MSR_PEBS_DATA_CFG
 * ADP-11  A buffer with records of different sizes must be walkable by bits 63:48 of each format
 *         word.
 *         kvm-unit-tests pmu_pebs
 *
 * Given  one PEBS buffer, and PEBS stopped between two windows
 * When   MSR_PEBS_DATA_CFG is written with other groups before each of five records
 * Then   each record has the size and the format word of the value that was written last; walked by
 *        the sizes in the format words, the buffer ends at the index
 */
TEST(adaptive, change_of_data_cfg_holds_for_the_next_record, REQS(ADP_30, ADP_11),
     NEEDS(need_perfmon, need_baseline, need_loads_or_branches))
{
	static const u32 configs[] = { CONFIG_GPR, 0, CONFIG_XMM | CONFIG_MEMORY,
				       CONFIG_LBR_OF(3), CONFIG_MEMORY };
	struct adaptive_run run = { .config = configs[0] };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);
	const u16 event = sampling_any_event();
	unsigned at = 0;

	/* Use one buffer for all records: the index continues after the last record. */
	ds_open(&setup);
	ds_set_maximum_bytes(DS_BUFFER_BYTES);
	for (unsigned i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
		unsigned size = adaptive_bytes(configs[i]);

		msr_write(MSR_PEBS_DATA_CFG, configs[i]);
		pebs_arm(0, event, COUNT_BOTH, calibration_period(event, PERIOD));
		workload_run(sampling_any_piece(), PERIOD, pmc_one(0));
		pebs_disarm();
		counter_program_disabled(0, 0, 0);
		if (!ds_bytes() && counter_caps()->hypervisor) {
			test_inconclusive(t, "no record");
			return;
		}
		if (!CHECK_EQ(t, ADP_30, at + size, (u64)ds_bytes(),
			      "index after a record of MSR_PEBS_DATA_CFG = %#x, the %uth of one "
			      "buffer",
			      configs[i], i + 1))
			return;
		CHECK_EQ(t, ADP_30, configs[i], adaptive_at(at) & BITS(0, 31),
			 "bits 31:0 of its format word");
		at += size;
	}
	/* Walk from the beginning, by the sizes that the records state. */
	at = 0;
	for (unsigned i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
		CHECK_EQ(t, ADP_11, configs[i], adaptive_at(at) & BITS(0, 31),
			 "format word at %#x, found by the sizes of the records before it", at);
		at += (unsigned)SIZE_OF_WORD(adaptive_at(at));
	}
	CHECK_EQ(t, ADP_11, (u64)ds_bytes(), at, "end of the last record, found by the sizes");
}
