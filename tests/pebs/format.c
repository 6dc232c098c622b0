/* SPDX-License-Identifier: MIT */
/*
 * Records of a processor that the tables may not have. IA32_PERF_CAPABILITIES[11:8] names the
 * format ("IA32_PERF_CAPABILITIES MSR Enumeration"). The layout of formats 1 to 3 is that of Tables
 * 18-23 and 18-44. The set of precise events isn't architectural, so several events are tried. If a
 * processor makes no record with any of them, nothing is decided.
 */
#include "kernel/output/fmt.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

/* Branches of Sandy Bridge and later, branches of Goldmont and later, instructions, loads. */
static const u16 candidates[] = { 0x04c4, 0x00c4, 0x00c0, 0x81d0 };

static bool need_record(char *reason, size_t size)
{
	const struct pmu_caps *caps = counter_caps();

	if (caps->pebs && caps->dtes64 && caps->record_known)
		return true;
	fmt_print(reason, size,
		  "no PEBS record that is known here (IA32_MISC_ENABLE = %#lx, "
		  "IA32_PERF_CAPABILITIES = %#lx, DS %u, DTES64 %u)",
		  caps->misc_enable, caps->perf_capabilities, caps->ds, caps->dtes64);
	return false;
}

/* The first of these events with a record: IA32_PMC0 overflows once in the window, with at least
 * one more event after it. */
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

/*
 * DS-03   After a record the PEBS index must have advanced by the record's size.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * REC-03  The RIP field must be the address of the instruction after the one that caused the
 *         assist.
 * REC-04  The register fields must hold the values after the causing instruction retired, a
 *         register that it loaded included.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 * REC-13  An assist must write no byte of the buffer outside its record.
 *         SDM 17.4.9 BTS and DS Save Area
 *
 * Given  a processor that may be in no table; the format that IA32_PERF_CAPABILITIES[11:8] names.
 *        Several events are tried, because which are precise isn't architectural. A processor that
 *        makes no record of any is INCONCLUSIVE
 * When   IA32_PMC0 makes a record over a loop
 * Then   the index moves by that format's size, nothing else is written, R/EIP (of a record without
 *        registers EventingIP) is in the loop or right after it, and RSI is the loop's
 */
TEST(record, pebs_record_has_the_size_that_perf_capabilities_name,
     REQS(DS_03, REC_03, REC_04, REC_13), NEEDS(need_perfmon, need_record, need_ds_write))
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
		 "IA32_PERF_CAPABILITIES = %#lx",
		 event, counter_caps()->perf_capabilities);
	CHECK(t, REC_13, ds_record_written(0) && !ds_written_outside(0, 1, &offset),
	      "the record, and no byte beside it (offset %ld)", (long)offset);
	record_decode(setup.format, ds_record(0), record_size(setup.format), &record);
	if (!record_has(setup.format, RECORD_rip)) {
		CHECK_RANGE(t, REC_03, begin, end, sampling_field(&record, RECORD_eventing_ip),
			    "EventingIP: in the loop that was sampled, or right after it");
		return;
	}
	CHECK_RANGE(t, REC_03, begin, end, sampling_field(&record, RECORD_rip),
		    "R/EIP: in the loop that was sampled, or right after it");
	CHECK_EQ(t, REC_04, (u64)(uintptr_t)workload_memory(), sampling_field(&record, RECORD_rsi),
		 "RSI, which the loop leaves alone");
}
