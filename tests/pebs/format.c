/* SPDX-License-Identifier: MIT */
/*
 * Records of a processor that may be in no table: the format is the one that
 * IA32_PERF_CAPABILITIES[11:8] names ("IA32_PERF_CAPABILITIES MSR Enumeration"), the layout of
 * formats 1 to 3 that of Tables 18-23 and 18-44. Which events are precise isn't architectural, so
 * several are tried; a processor that makes no record of any decides nothing.
 */
#include "kernel/fmt.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

/* Branches of Sandy Bridge's kin and of Goldmont's, instructions, loads. */
static const u16 candidates[] = { 0x04c4, 0x00c4, 0x00c0, 0x81d0 };

static bool need_record(char *reason, size_t size)
{
	const struct pmu_caps *caps = counter_caps();

	if (caps->pebs && caps->dtes64 && caps->record_known)
		return true;
	fmt_print(reason, size, "no PEBS record that is known here (IA32_MISC_ENABLE = %#lx, "
		  "IA32_PERF_CAPABILITIES = %#lx, DS %u, DTES64 %u)", caps->misc_enable,
		  caps->perf_capabilities, caps->ds, caps->dtes64);
	return false;
}

/* IA32_PMC0 overflows once in the window, and has an event or more behind it. */
static u16 first_precise(const struct ds_setup *setup)
{
	for (unsigned i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
		ds_open(setup);
		pebs_arm(0, candidates[i], COUNT_BOTH, ROUNDS_PERIOD);
		workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(0));
		pebs_disarm();
		counter_program_disabled(0, 0, 0);
		counters_clear(counters_status());
		if (ds_bytes())
			return candidates[i];
	}
	return 0;
}

TEST(record, it_is_as_the_capabilities_say, REQS(DS_03, REC_03, REC_04, REC_13),
     NEEDS(need_perfmon, need_record, need_ds_write))
{
	struct ds_setup setup = sampling_setup(8);
	u64 begin = (u64)(uintptr_t)workload_load.begin, end = (u64)(uintptr_t)workload_load.end;
	struct pebs_record record;
	int64_t offset = 0;
	u16 event = first_precise(&setup);

	if (!event) {
		test_inconclusive(t, "no record of branches, instructions or loads on IA32_PMC0");
		return;
	}
	CHECK_EQ(t, DS_03, record_size(setup.format), (u64)ds_bytes(),
		 "bytes by which the index moved in a record of event %#x, "
		 "IA32_PERF_CAPABILITIES = %#lx", event, counter_caps()->perf_capabilities);
	CHECK(t, REC_13, ds_record_written(0) && !ds_written_outside(0, 1, &offset),
	      "the record, and no byte beside it (offset %ld)", (long)offset);
	record_decode(setup.format, ds_record(0), record_size(setup.format), &record);
	CHECK_RANGE(t, REC_03, begin, end, sampling_field(&record, RECORD_rip),
		    "R/EIP: in the loop that was sampled, or right behind it");
	CHECK_EQ(t, REC_04, (u64)(uintptr_t)workload_memory(),
		 sampling_field(&record, RECORD_rsi), "RSI, which the loop leaves alone");
}
