/* SPDX-License-Identifier: MIT */
/*
 * Load latency: what is counted and what is recorded. SDM "Load Latency Performance Monitoring
 * Facility". Which load is tagged, and exactly how long it took, isn't asserted. The page's
 * IA32_PerfEvtSelX[15:0] = 100H for Nehalem has lost a digit (event 0BH, umask 10H) and isn't
 * programmed anywhere.
 */
#include "kernel/interrupt/fault.h"
#include "tests/measure/mem_sample.h"
#include "tests/frame/needs.h"

#define SOME	128	/* rounds of a window that is counted */

static struct mem_sample_record records[MEM_SAMPLE_MOST];

TEST(ll, records_hold_latency_and_address_of_the_load,
     REQS(LL_01, LL_02, LL_06, LL_16, LL_17, LL_18, LL_26, REC_HSW_05, REC_HSW_07, REC_HSW_08),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads();
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_collect(t, AT(LL_01), &setup, ACCESS_L1, &h, records, &count))
		return;
	for (unsigned i = 0; i < count; i++) {
		const struct mem_sample_record *r = &records[i];

		/* "Smallest detectable": 4. */
		CHECK_RANGE(t, LL_06, 4, ~0ULL, r->latency, "latency of record %u", i);
		CHECK_RANGE(t, LL_17, 1, ~0ULL, r->latency, "latency of record %u", i);
		CHECK_EQ(t, LL_18, h.first, r->address, "address of record %u, all loads from one",
			 i);
		CHECK_EQ(t, LL_26, h.first, r->address, "address of record %u", i);
		CHECK_RANGE(t, LL_02, 1, ~0ULL, r->latency, "latency of record %u, 3F1H = 0x%lx",
			    i, setup.enable.bits);
		CHECK_RANGE(t, LL_16, 1, ~0ULL, r->latency, "latency of record %u, IA32_PMC3", i);
		if (counter_caps()->record_format != RECORD_FMT2)
			continue;
		CHECK_EQ(t, REC_HSW_05, h.first, r->address, "address of record %u at 98H", i);
		CHECK_RANGE(t, REC_HSW_07, 1, ~0ULL, r->latency, "latency of record %u", i);
		CHECK_RANGE(t, REC_HSW_08, 1, ~0ULL, r->latency, "latency of record %u at A8H", i);
	}
}

/* Linear: with the segment base, and after an index. */
TEST(ll, the_address_is_the_loads_linear_one, REQS(LL_26),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads();

	mem_sample_check_addressing_modes(t, AT(LL_26), &setup, ACCESS_L1, addressing_mode_of_load,
					  records);
}

/* The control: records with a latency, and how many rounds are plenty. */
static bool with_both_enables(struct test *t, struct test_claim claim,
			      struct mem_sample_setup *setup, struct cache_workload *h)
{
	unsigned count;

	if (!mem_sample_collect(t, claim, setup, ACCESS_L1, h, records, &count))
		return false;
	test_check_range(t, claim, 4, ~0ULL, records[0].latency,
			 "latency of record 0, 3F1H = 0x%lx", setup->enable.bits);
	setup->most = setup->rounds;
	return true;
}

/* How many records with these enables, which hold no latency. */
static unsigned check_no_latency(struct test *t, struct test_claim claim,
				 struct mem_sample_setup *setup, const struct cache_workload *h)
{
	unsigned count = mem_sample_take(setup, h, records);

	for (unsigned i = 0; i < count; i++)
		test_check_eq(t, claim, 0, records[i].latency,
			      "latency of record %u with 3F1H = 0x%lx", i, setup->enable.bits);
	return count;
}

/* LL_EN without PEBS_EN records nothing; what a record without LL_EN holds isn't stated. */
TEST(ll, both_enables_are_needed, REQS(LL_02, LL_29),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads();
	struct cache_workload h;

	if (!with_both_enables(t, AT(LL_02), &setup, &h))
		return;
	setup.enable.bits = latency_enable(setup.counter).bits & ~BIT(setup.counter);
	CHECK_EQ(t, LL_02, 0, mem_sample_take(&setup, &h, records), "records with 3F1H = 0x%lx",
		 setup.enable.bits);
	setup.enable = pmc_one(setup.counter);
	if (!check_no_latency(t, AT(LL_29), &setup, &h))
		test_note(t, "no record with PEBS_EN alone");
}

/* A bit of another counter's is none of its own. */
TEST(ll, another_counters_latency_enable_is_none, REQS(LL_02, LL_29),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads();
	struct cache_workload h;

	if (!with_both_enables(t, AT(LL_02), &setup, &h))
		return;
	for (unsigned other = 0; other < 4; other++) {
		if (other == setup.counter)
			continue;
		setup.enable.bits = BIT(setup.counter) |
				    BIT(IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT + other);
		check_no_latency(t, AT(LL_02), &setup, &h);
		check_no_latency(t, AT(LL_29), &setup, &h);
	}
}

/* The pages' example is IA32_PMC0; Intel's event files name IA32_PMC3 alone for some of them. */
TEST(ll, each_counter_can_do_it, REQS(LL_30), NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads();
	struct cache_workload h;

	setup.wanted = 2;
	for (setup.counter = 0; setup.counter < 4; setup.counter++) {
		unsigned count;

		setup.enable = latency_enable(setup.counter);
		if (!mem_sample_collect(t, AT(LL_30), &setup, ACCESS_L1, &h, records, &count))
			return;
		for (unsigned i = 0; i < count; i++)
			CHECK_RANGE(t, LL_30, 4, ~0ULL, records[i].latency,
				    "latency of record %u of IA32_PMC%u, 3F1H = 0x%lx", i,
				    setup.counter, setup.enable.bits);
	}
}

TEST(ll, stores_are_ignored, REQS(LL_03), NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	static const enum access stores[] = {
		ACCESS_STORE_HIT, ACCESS_STORE_MISS, ACCESS_STORE_PAGE_WALK,
	};
	struct mem_sample_setup setup = mem_sample_loads();
	struct cache_workload h;
	unsigned count;

	for (unsigned i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
		if (!mem_sample_prepare(t, stores[i], &h))
			return;
		CHECK_EQ(t, LL_03, 0, mem_sample_count_least(&setup, &h, SOME),
			 "events of %u %s", SOME, h.name);
	}
	/* The control. */
	mem_sample_collect(t, AT(LL_03), &setup, ACCESS_L1, &h, records, &count);
}

/* "Retired demand load operations": a software prefetch is none, whichever cache it is into. */
TEST(ll, prefetches_are_no_loads, REQS(LL_09), NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	static const struct workload *const prefetches[] = {
		&workload_prefetch_t0, &workload_prefetch_t1, &workload_prefetch_t2,
		&workload_prefetch_nta, &workload_prefetch_w,
	};
	struct mem_sample_setup setup = mem_sample_loads();
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_prepare(t, ACCESS_PREFETCH, &h))
		return;
	for (unsigned i = 0; i < sizeof(prefetches) / sizeof(prefetches[0]); i++) {
		h.workload = prefetches[i];
		CHECK_EQ(t, LL_09, 0, mem_sample_count_least(&setup, &h, SOME),
			 "events of %u %s, %s", SOME, h.name, h.workload->name);
	}
	/* The control: loads of the same line, flushed as well. */
	mem_sample_collect(t, AT(LL_09), &setup, ACCESS_MEMORY, &h, records, &count);
}

/* No load takes so long; the control is the same window with the least threshold. */
TEST(ll, the_counter_counts_loads_above_the_threshold_only, REQS(LL_24, LL_05),
     NEEDS(need_perfmon, need_pebs, need_load_latency), .under_every_fault = true)
{
	struct mem_sample_setup setup = mem_sample_loads();
	struct cache_workload h;
	u64 none, n = SOME, some;

	if (!mem_sample_prepare(t, ACCESS_L1, &h))
		return;
	do
		some = mem_sample_count(&setup, &h, n);
	while (!some && (n *= 8) <= MEM_SAMPLE_ROUNDS_MOST);
	if (!CHECK_RANGE(t, LL_24, 1, ~0ULL, some, "events with a threshold of 3"))
		return;
	setup.threshold = LATENCY_THRESHOLD_MOST;
	none = mem_sample_count_least(&setup, &h, n);
	CHECK_EQ(t, LL_24, 0, none, "events of %lu loads of one line, threshold 65535", n);
	CHECK_EQ(t, LL_05, 0, none, "events of %lu loads of one line, threshold 65535", n);
}

/* The least latency seen, as the threshold: greater than it, not equal to it. */
static void check_above(struct test *t, enum access access)
{
	struct mem_sample_setup setup = mem_sample_loads();
	u64 least = ~0ULL;
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_collect(t, AT(LL_05), &setup, access, &h, records, &count))
		return;
	for (unsigned i = 0; i < count; i++) {
		CHECK_RANGE(t, LL_05, setup.threshold + 1, ~0ULL, records[i].latency,
			    "latency of record %u of %s, threshold %lu", i, h.name,
			    setup.threshold);
		if (records[i].latency < least)
			least = records[i].latency;
	}
	if (least < LATENCY_THRESHOLD_LEAST || least > LATENCY_THRESHOLD_MOST)
		return;
	setup.threshold = least;
	setup.most = setup.rounds;
	count = mem_sample_take(&setup, &h, records);
	for (unsigned i = 0; i < count; i++)
		CHECK_RANGE(t, LL_05, least + 1, ~0ULL, records[i].latency,
			    "latency of record %u of %s, threshold %lu", i, h.name, least);
}

TEST(ll, recorded_latencies_exceed_the_threshold, REQS(LL_05),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_above(t, ACCESS_L1);
	check_above(t, ACCESS_MEMORY);
}

static u64 mean_latency(unsigned count)
{
	u64 sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += records[i].latency;
	return sum / count;
}

/* From the first dispatch to the data: with its replays a load that misses takes longer. */
TEST(ll, a_load_that_misses_takes_longer, REQS(LL_08),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads();
	struct cache_workload h;
	unsigned count;
	u64 near;

	if (!mem_sample_collect(t, AT(LL_08), &setup, ACCESS_L1, &h, records, &count))
		return;
	near = mean_latency(count);
	if (!mem_sample_collect(t, AT(LL_08), &setup, ACCESS_MEMORY, &h, records, &count))
		return;
	CHECK_RANGE(t, LL_08, 2 * near, ~0ULL, mean_latency(count),
		    "mean latency of %s, those of one line %lu", h.name, near);
}

static bool is_far(const struct cache_workload *h, const struct mem_sample_record *record)
{
	return record->address - h->first == TWO_PLACES_COLD;
}

static unsigned far_ones(const struct cache_workload *h, unsigned count)
{
	unsigned far = 0;

	for (unsigned i = 0; i < count; i++)
		far += is_far(h, &records[i]);
	return far;
}

/* Address and latency of one load: the near ones are quick, the far one isn't. */
TEST(ll, address_and_latency_are_of_one_load, REQS(LL_11),
     NEEDS(need_perfmon, need_pebs, need_load_latency), .under_every_fault = true)
{
	struct mem_sample_setup setup = mem_sample_loads();
	u64 quick = ~0ULL, slow = 0, middle;
	unsigned right = 0, far, count;
	struct cache_workload h;

	/* More of them where the first handful is of one kind. */
	do {
		if (!mem_sample_collect(t, AT(LL_11), &setup, ACCESS_TWO_PLACES, &h, records,
					&count))
			return;
		far = far_ones(&h, count);
		setup.wanted += MEM_SAMPLE_RECORDS_SURE - MEM_SAMPLE_RECORDS;
	} while ((!far || far == count) && setup.wanted <= MEM_SAMPLE_RECORDS_SURE);
	for (unsigned i = 0; i < count; i++) {
		u64 offset = records[i].address - h.first;

		CHECK(t, LL_11, offset == 0 || offset == 64 || offset == TWO_PLACES_COLD,
		      "address 0x%lx of record %u, loads from 0x%lx and 64 and %u after it",
		      records[i].address, i, h.first, TWO_PLACES_COLD);
		if (records[i].latency < quick)
			quick = records[i].latency;
		if (records[i].latency > slow)
			slow = records[i].latency;
	}
	middle = (quick + slow) / 2;
	for (unsigned i = 0; i < count; i++)
		right += is_far(&h, &records[i]) == (records[i].latency > middle);
	if (!far || far == count) {
		test_inconclusive(t, "%u records of near loads, %u of far ones", count - far, far);
		return;
	}
	CHECK_RANGE(t, LL_11, count - count / 4, count, right,
		    "of %u records, near with a latency up to %lu or far with more", count, middle);
}

/* What a processor does on the way that it shouldn't have taken isn't retired. */
TEST(ll, a_cancelled_load_is_never_recorded, REQS(LL_12, LL_09),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads();
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_collect(t, AT(LL_12), &setup, ACCESS_CANCELLED, &h, records, &count))
		return;
	for (unsigned i = 0; i < count; i++) {
		CHECK(t, LL_12, records[i].address != h.first + CANCELLED_OFFSET,
		      "address 0x%lx of record %u", records[i].address, i);
		CHECK(t, LL_09, records[i].address != h.first + CANCELLED_OFFSET,
		      "address 0x%lx of record %u", records[i].address, i);
	}
}

/* Figure 18-23. */
TEST(msr, load_latency_threshold_has_sixteen_bits, REQS(LL_15),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	u64 value = 0;

	for (unsigned bit = 2; bit < 16; bit++) {
		latency_set_threshold(BIT(bit) | 3);
		CHECK(t, LL_15, !msr_try_read(MSR_PEBS_LD_LAT_THRESHOLD, &value).raised,
		      "reading 3F6H");
		CHECK_EQ(t, LL_15, BIT(bit) | 3, value, "3F6H after writing it");
	}
	for (unsigned bit = 16; bit < 64; bit++) {
		struct fault fault = msr_try_write(MSR_PEBS_LD_LAT_THRESHOLD, BIT(bit) | 3);

		if (!fault.raised)
			msr_try_read(MSR_PEBS_LD_LAT_THRESHOLD, &value);
		CHECK(t, LL_15, fault.raised || value == 3,
		      "bit %u of 3F6H: refused, or reads as 0 (0x%lx)", bit, value);
	}
	latency_set_threshold(LATENCY_THRESHOLD_LEAST);
}

/* IA32_PERF_CAPABILITIES[11:8]: 0 is the record without the three fields. */
TEST(enumeration, load_latency_comes_with_the_larger_record, REQS(LL_23),
     NEEDS(need_perfmon, need_load_latency))
{
	CHECK_RANGE(t, LL_23, 1, 15, counter_caps()->perf_capabilities >> 8 & 0xf,
		    "IA32_PERF_CAPABILITIES[11:8]");
}
