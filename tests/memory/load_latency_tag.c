/* SPDX-License-Identifier: MIT */
/*
 * The load to which the data of a load latency record belong, and the required enables: SDM "Load
 * Latency Performance Monitoring Facility". "The load latency data written to the PEBS record will
 * be for the last tagged load operation which retired just before the PEBS assist was invoked."
 */
#include "pmu/pebs.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"
#include "tests/measure/mem_sample.h"

#define CODE(source)	((source) & 0xf)
#define CODE_L1		BIT(0x1)	/* Table 18-24 */
#define OFFSET_TX_ABORT	0xb8
#define STRAY_SOURCES	5	/* one of so many near loads may have lost its line */
#define STRAY_MARKS	4	/* one of so many records may be of another load */
#define LATENCY_LEAST	4u	/* "smallest detectable", core cycles */
#define RECORDS_ENOUGH	2
#define PRINTED_EXAMPLE	0x0000000100000001ULL	/* "for example ... on counter IA32_PMC0" */

static struct mem_sample_record records[MEM_SAMPLE_MOST];

/*
 * LL-11  Latency, address and data source of a record must be those of the last tagged load that
 *        retired before the assist.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  each round has loads of two near addresses, which hit the L1, and of a far line that was
 *        just flushed
 * When   32 records are made
 * Then   at least 4 of 5 are near with code 01H, or far with a code of memory, in bits 3:0 at A0H
 * Control: there are records of both kinds, else the test is INCONCLUSIVE
 */
TEST(ll, data_source_and_address_of_a_record_are_of_the_same_load, REQS(LL_11),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	const u64 codes_memory = mem_sample_codes_of_memory(t);
	struct mem_sample_setup setup = mem_sample_loads(t);
	unsigned right = 0, far = 0, count;
	struct cache_workload h;

	setup.wanted = MEM_SAMPLE_RECORDS_SURE / 2;
	if (!mem_sample_collect(t, AT(LL_11), &setup, ACCESS_TWO_PLACES, &h, records, &count))
		return;
	for (unsigned i = 0; i < count; i++) {
		bool cold = records[i].address - h.first == TWO_PLACES_COLD;
		u64 codes = cold ? codes_memory : CODE_L1;

		far += cold;
		right += (unsigned)(codes >> CODE(records[i].source) & 1);
	}
	if (!far || far == count) {
		test_inconclusive(t, "%u records of near loads, %u of far ones", count - far, far);
		return;
	}
	CHECK_RANGE(t, LL_11, count - count / STRAY_SOURCES, count, right,
		    "of %u records, near with code 01H or far with a code of memory", count);
}

static u64 mark_address(int mark)
{
	return (u64)(uintptr_t)workload_memory() + SAMPLE_OFFSET + 8 * (unsigned)mark;
}

#define RUNS_MOST	4000	/* of 16 marked loads each */

/*
 * LL-11  Latency, address and data source of a record must be those of the last tagged load that
 *        retired before the assist.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  16 marked loads, each with a different address. The event counts tagged loads only (SKIP
 *        where it counts all), so the last tagged load overflows the counter
 * When   64 records are made
 * Then   at least 3 of 4 records whose EventingIP, or else R/EIP, names a marked load have that
 *        load's address
 */
TEST(ll, latency_record_is_of_the_last_tagged_load, REQS(LL_11),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	const struct workload *w = &workload_sample;
	struct ds_setup ds = sampling_setup(MEM_SAMPLE_RECORDS_SURE);
	struct mem_sample_setup setup = mem_sample_loads(t);
	unsigned right = 0, marked = 0;

	if (!(counter_caps()->facilities & FAC_LL_TAGGED)) {
		test_skip(t, "what the event counts isn't what is tagged (facilities 0x%x)",
			  counter_caps()->facilities);
		return;
	}
	ds.reset[setup.counter] = pebs_reset_value(setup.counter, setup.period);
	ds_open(&ds);
	mem_sample_arm(&setup, setup.period);
	for (unsigned i = 0; i < RUNS_MOST && ds_records() < MEM_SAMPLE_RECORDS_SURE; i++)
		workload_run(w, 1, pmc_one(setup.counter));
	mem_sample_off(&setup);
	for (unsigned i = 0; i < ds_records(); i++) {
		struct pebs_record record;
		int mark;

		record_decode(ds.format, ds_record(i), record_size(ds.format), &record);
		mark = sampling_mark(w, SAMPLE_MARKS, &record);
		if (mark < 0)
			continue;
		marked++;
		right += sampling_field(&record, RECORD_data_linear_address) == mark_address(mark);
	}
	if (!marked) {
		test_inconclusive(t, "%u records, none of a marked load", ds_records());
		return;
	}
	CHECK_RANGE(t, LL_11, marked - marked / STRAY_MARKS, marked, right,
		    "of %u records of marked loads, with the address of that load", marked);
}

/*
 * REC-04      The register fields must hold the values after the causing instruction retired, a
 *             register that it loaded included.
 * REC-07      The status field of formats 1 and 2 must be IA32_PERF_GLOBAL_STATUS as it was before
 *             the assist.
 * REC-11      The flags field must hold RFLAGS after the causing instruction.
 *             SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 * REC-HSW-10  Each general register must be at its offset of Table 18-44: RAX 10H, RBX 18H, RCX
 *             20H, RDX 28H, RSI 30H, RDI 38H, RBP 40H, RSP 48H, R8 50H to R15 88H.
 *             SDM 18.11.2 4th Generation Intel Core: PEBS Data Format, Table 18-44
 *
 * Given  marked loads with known registers, each of which adds to RAX
 * When   load latency records of them are made
 * Then   those whose EventingIP, or else R/EIP, names a marked load have RAX, the flags and the
 *        other registers as that load left them; the status field has the counter's bit
 */
TEST(ll, latency_record_has_the_registers_after_its_load, REQS(REC_04, REC_07, REC_11, REC_HSW_10),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	const struct mem_sample_claims claims = { AT(REC_04), AT(REC_11), AT(REC_HSW_10),
						  AT(REC_07) };
	struct mem_sample_setup setup = mem_sample_loads(t);

	mem_sample_check_registers(t, &claims, &setup, &workload_sample);
}

/* The manual doesn't say how many loads are tagged. */
static bool one_record(struct test *t, struct test_claim claim, const struct mem_sample_end *end)
{
	if (end->records || test_is_strict(t))
		return test_check_eq(t, claim, 1, end->records, "records of one overflow");
	test_inconclusive(t, "no load that was tagged overflowed the counter");
	return false;
}

/*
 * DS-05   A threshold interrupt must be raised when the index has reached the threshold after a
 *         record.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-21   When a record has brought the index to the threshold, OvfBuf
 *         (IA32_PERF_GLOBAL_STATUS[62]) must be set.
 *         SDM 18.4.2, 18.9.1; Goldmont: Enhancements to IA32_PERF_GLOBAL_STATUS.OvfDSBuffer[62]
 * DS-22   An assist must clear the overflow bits of the counters that overflowed and are enabled
 *         for PEBS, and no others.
 *         SDM 18.9.4.1 PEBS Record Format
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  loads of one line; a load latency counter that overflows once
 * When   its record brings the index to the threshold; and, where a source says what INT does, when
 *        the counter's INT bit is set, and the threshold is out of reach
 * Then   there is one interrupt for the record; in the first case OvfBuf is 1 at its entry, and the
 *        counter's overflow bit is 0
 * Control: there is one record
 */
TEST(ll, latency_record_interrupts_by_threshold_and_by_int, REQS(DS_05, DS_21, DS_22, PMI_01),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct mem_sample_end end;
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_collect(t, CONTROL_AT(DS_05), &setup, ACCESS_L1, &h, records, &count))
		return;
	end = mem_sample_one(&setup, &h, true, false);
	if (!one_record(t, CONTROL_AT(DS_05), &end))
		return;
	CHECK_EQ(t, DS_05, 1, end.interrupts, "interrupts of a record that reaches the threshold");
	if (end.interrupts)
		CHECK_EQ(t, DS_21, IA32_PERF_GLOBAL_STATUS_OVF_BUF,
			 end.entry & IA32_PERF_GLOBAL_STATUS_OVF_BUF, "OvfBuf at its entry");
	if (end.interrupts && sampling_clears_status(t))
		CHECK_EQ(t, DS_22, 0, end.entry & BIT(setup.counter),
			 "bit of IA32_PMC%u in the status at its entry", setup.counter);
	if (!sampling_int_has_source(t))
		return;
	end = mem_sample_one(&setup, &h, false, true);
	if (!one_record(t, CONTROL_AT(PMI_01), &end))
		return;
	CHECK_RANGE(t, PMI_01, 1, overflow_allowed(t, 1, end.interrupts), end.interrupts,
		    "interrupts of one overflow, INT set");
}

/*
 * LL-30  Load latency must work on each of IA32_PMC0 to IA32_PMC3.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility: for example IA32_PMC0
 *
 * Given  IA32_PEBS_ENABLE (3F1H) holds 1_00000001H, the page's own example for IA32_PMC0
 * When   IA32_PMC0 makes two records of loads from one address
 * Then   each has that address at 98H, and a latency of at least 4 cycles
 */
TEST(ll, printed_pebs_enable_value_enables_latency_on_pmc0, REQS(LL_30),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;
	unsigned count;

	setup.counter = 0;
	setup.enable.bits = PRINTED_EXAMPLE;
	setup.wanted = RECORDS_ENOUGH;
	if (!mem_sample_collect(t, AT(LL_30), &setup, ACCESS_L1, &h, records, &count))
		return;
	for (unsigned i = 0; i < count; i++) {
		CHECK_RANGE(t, LL_30, LATENCY_LEAST, ~0ULL, records[i].latency,
			    "latency of record %u of IA32_PMC0, 3F1H = 0x%lx", i,
			    setup.enable.bits);
		CHECK_EQ(t, LL_30, h.first, records[i].address, "address of record %u of IA32_PMC0",
			 i);
	}
}

/*
 * REC-14  A field that is reserved, or not defined for the event, must be overwritten with zero.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS), Table 18-23; Table 18-44
 *
 * Given  loads from memory, no transaction; Table 18-44: B8H is about transactions
 * When   records are made
 * Then   B8H is 0, except for the bits that may report an earlier transaction
 */
TEST(ll, latency_record_outside_a_transaction_has_no_abort_bits, REQS(REC_14),
     NEEDS(need_perfmon, need_eventing_ip, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_collect(t, AT(REC_14), &setup, ACCESS_MEMORY, &h, records, &count))
		return;
	for (unsigned i = 0; i < count; i++)
		CHECK_EQ(t, REC_14, 0,
			 *(const volatile u64 *)((uintptr_t)records[i].raw + OFFSET_TX_ABORT) &
				 sampling_tx_mask(),
			 "B8H of record %u of %s", i, h.name);
}

#define CHAIN		400	/* loads, each of which waits for the previous one */

/*
 * LL-07  The latency must be measured in core cycles: loads of which each waits for the one before
 *        can't take fewer core cycles than their latencies are.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility
 *
 * Given  400 loads from memory, each of which waits for the previous one; the least latency of such
 *        loads is known from records
 * When   IA32_PMC0 counts unhalted core cycles over them
 * Then   there are at least 400 times that latency: it can't be in a smaller unit than core cycles
 */
TEST(ll, latency_is_in_core_cycles, REQS(LL_07),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_cycles))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	u64 least = ~0ULL, cycles;
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_collect(t, AT(LL_07), &setup, ACCESS_MEMORY, &h, records, &count))
		return;
	for (unsigned i = 0; i < count; i++)
		if (records[i].latency < least)
			least = records[i].latency;
	counter_program(0, EVENT_UNHALTED_CORE_CYCLES, COUNT_BOTH);
	counter_write(0, 0);
	mem_sample_arm(&setup, NEVER);
	cache_workload_run(&h, CHAIN, pmc_or(pmc_one(0), pmc_one(setup.counter)));
	cycles = counter_read(0);
	mem_sample_off(&setup);
	CHECK_RANGE(t, LL_07, CHAIN * least, ~0ULL, cycles,
		    "core cycles of %u fenced %s, of which each took %lu or more", CHAIN, h.name,
		    least);
}
