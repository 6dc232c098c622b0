/* SPDX-License-Identifier: MIT */
/* The rules that the faults of refpmu/faults/fault_access.def break. */
#include "host/model/rules/memory.h"

#define NEHALEM_LL EVENT_MEM_INST_RETIRED_LATENCY_ABOVE_THRESHOLD
#define HIGH	0x1200000000ULL	/* above 4 GiB */
#define SPLIT	(A + 61)	/* 8 bytes from here are in two lines, */
#define CROSSES	(A + 0xffd)	/* and from here in two pages */
#define USER	3
#define RECORD_TX 0xb8

static void one_load(struct fixture *r, u64 linear, bool locked)
{
	if (locked)
		fixture_locked_add(r, linear);
	else
		fixture_load(r, linear);
}

static void one_store(struct fixture *r, u64 linear, bool locked)
{
	if (locked)
		fixture_locked_add(r, linear);
	else
		fixture_store(r, linear);
}

/* ---- load latency: what counts ---- */

/* Loads of memory, 200 cycles each, with such a threshold. */
static u64 far_loads(struct fixture *r, u64 threshold)
{
	become(r, GEN_HASWELL, true);
	sample(r, 3, LL, LL_EN(3), threshold, 0);
	for (unsigned i = 0; i < 40; i++)
		fixture_load(r, A + 64 * i);
	return PMC(3);
}

RULE(any_threshold_lets_pass, far_loads(r, 50) == 40 && far_loads(r, 4) == 40)
RULE(threshold_has_a_high_byte, far_loads(r, 0x103) == 0)
RULE(threshold_has_a_low_byte, near_loads(r, 100) == 0)
RULE(threshold_is_the_last, near_loads(r, 100) == 0 && far_loads(r, 50) == 40)

static bool only_tagged_loads_count(struct fixture *r)
{
	become(r, GEN_HASWELL, false);
	sample(r, 3, LL, LL_EN(3), 3, 0);
	loads_of(r, A, 400);
	return PMC(3) < 400;
}

static bool every_load_counts_on_nehalem(struct fixture *r)
{
	become(r, GEN_NEHALEM, false);
	sample(r, 3, NEHALEM_LL, LL_EN(3), 3, 0);
	loads_of(r, A, 400);
	return PMC(3) == 400;
}

/* Exceptions, before and after a load that retires. */
static void cancel(struct fixture *r, u64 linear)
{
	model_cancel(&r->m, &(struct model_retired){
		.loads = 1, .n_access = 1, .access = { { linear, 8, false, false } } });
}

static bool cancelled_loads_dont_count(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 3, LL, LL_EN(3), 3, 0);
	fixture_load(r, A);
	for (unsigned i = 0; i < 5; i++)
		cancel(r, HIGH);
	return PMC(3) == 1;
}

static bool the_next_available_load_is_tagged(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 3, LL, LL_EN(3), 3, 0);
	cancel(r, HIGH);
	loads_of(r, A, 40);
	return PMC(3) == 40;
}

static bool cancelled_loads_leave_the_record_alone(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 3, LL, LL_EN(3), 3, 2);
	for (unsigned i = 0; i < 20; i++) {
		fixture_load(r, A + 64 * i);
		cancel(r, HIGH);
	}
	for (unsigned i = 0; i < bytes(r) / FIXTURE_RECORD; i++)
		if (field(r, i, RECORD_DLA) == HIGH)
			return false;
	return bytes(r) > 0;
}

static bool no_prefetch_is_a_load(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 3, LL, LL_EN(3), 3, 0);
	for (unsigned i = 0; i < 40; i++)
		act(r, i % 2 ? ACT_PREFETCH_L2 : ACT_PREFETCH_OWN, A + 64 * i);
	return PMC(3) == 0;
}

static bool reset_value_is_the_period(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 3, LL, LL_EN(3), 3, 9);
	loads_of(r, A, 40);
	return bytes(r) == 4 * FIXTURE_RECORD;
}

static bool another_enable_is_none(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 3, LL, BIT(3) | BIT(32), 3, 1);
	loads_of(r, A, 4);
	return bytes(r) && !field(r, 0, RECORD_LATENCY);
}

/* ---- load latency: the record ---- */

static bool record_is_of_the_last_load(struct fixture *r)
{
	/* The one before is of memory. */
	begin(r);
	fixture_load(r, A - 0x10000 + 8);
	return field(r, 0, RECORD_DLA) == A - 0x10000 + 8 && source_of(r, 0) == 1 &&
	       field(r, 0, RECORD_LATENCY) < 10;
}

static bool untagged_loads_leave_the_record_alone(struct fixture *r)
{
	u64 before;

	become(r, GEN_NEHALEM, false);
	sample(r, 3, NEHALEM_LL, LL_EN(3), 3, 0);
	loads_of(r, A, 100);
	before = r->m.tagged.linear;
	if (!r->m.tag_gap)
		fixture_load(r, A);
	fixture_load(r, A + 8);
	return r->m.tagged.linear == before;
}

/* The page is in the STLB alone. */
static void leave_to_the_stlb(struct fixture *r, void (*access)(struct fixture *r, u64 linear))
{
	access(r, A);
	for (u64 i = 1; i < 6; i++)
		access(r, A + i * 16 * 4096);
	act(r, ACT_DRAIN, 0);
}

static bool stlb_hits_are_none_of_its_misses(struct fixture *r)
{
	begin(r);
	leave_to_the_stlb(r, fixture_store);
	fixture_load(r, A + 8);
	return bytes(r) == FIXTURE_RECORD && !(field(r, 0, RECORD_SOURCE) & BIT(4));
}

static bool latency_address(struct fixture *r, u64 linear)
{
	begin(r);
	fixture_load(r, linear);
	return field(r, 0, RECORD_DLA) == linear && bytes(r) == FIXTURE_RECORD;
}

RULE(odd_address_of_a_far_load, latency_address(r, A + 13))
RULE(high_address_of_a_load, latency_address(r, HIGH + 8))
RULE(first_byte_of_a_split_load, latency_address(r, SPLIT))

static bool records_of_user_loads(struct fixture *r)
{
	begin(r);
	r->cpl = USER;
	fixture_load(r, A);
	return field(r, 0, RECORD_DLA) == A && field(r, 0, RECORD_LATENCY);
}

static bool format_2_has_source_and_latency(struct fixture *r)
{
	begin(r);
	fixture_load(r, A);
	return field(r, 0, RECORD_SOURCE) && field(r, 0, RECORD_LATENCY);
}

static bool nothing_for_transactions(struct fixture *r)
{
	begin(r);
	fixture_load(r, A);
	return !field(r, 0, RECORD_TX);
}

/* Half of the addresses are devices', the other half isn't cached. */
static bool translate_uncached(void *ctx, u64 linear, struct memory_page *page)
{
	(void)ctx;
	*page = (struct memory_page){
		.physical = linear, .bits = 12, .type = linear & 0x1000 ? MEMORY_IO :
									 MEMORY_UNCACHED,
	};
	return true;
}

static bool uncached(struct fixture *r, u64 linear, u64 code)
{
	become(r, GEN_HASWELL, true);
	r->host.translate = translate_uncached;
	sample(r, 3, LL, LL_EN(3), 3, 1);
	loads_of(r, linear, 2);
	r->host.translate = NULL;
	return source_of(r, 0) == code && field(r, 0, RECORD_LATENCY) > 255;
}

RULE(uncached_loads_are_told, uncached(r, A, 0xf))
RULE(device_loads_are_told, uncached(r, A + 0x1000, 0xe))

/* ---- the clock ---- */

/* Fixed counter 1 while the record's load runs. */
static bool latency_passes(struct fixture *r)
{
	u64 before, latency, passed;

	begin(r);
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0x30);
	fixture_start(r, BIT(3) | BIT(33));
	before = FIXED(1);
	fixture_load(r, A);
	passed = FIXED(1) - before;
	latency = field(r, 0, RECORD_LATENCY);
	return latency > 100 && passed > latency && passed < latency + latency / 2;
}

/* ---- precise store ---- */

static bool store_stlb(struct fixture *r)
{
	unsigned record;

	begin_stores(r);
	leave_to_the_stlb(r, fixture_load);
	record = (unsigned)(bytes(r) / 0xb0);
	fixture_store(r, A + 8);
	return bytes(r) && !(field(r, record, RECORD_SOURCE) & BIT(4));
}

static bool store_address(struct fixture *r, u64 linear)
{
	begin_stores(r);
	fixture_store(r, linear);
	return bytes(r) == 0xb0 && field(r, 0, RECORD_DLA) == linear;
}

RULE(odd_address_of_a_store, store_address(r, A + 13))
RULE(high_address_of_a_store, store_address(r, HIGH + 8))
RULE(first_byte_of_a_split_store, store_address(r, SPLIT))

/* Two records after the one that begins them, the third at the threshold. */
static bool stores_go_through_the_buffer(struct fixture *r)
{
	begin_stores(r);
	fixture_poke(r, FIXTURE_DS + 0x38, FIXTURE_BUFFER + 2 * 0xb0);
	for (u64 i = 0; i < 4 && bytes(r) < 2 * 0xb0; i++)
		fixture_store(r, A + 64 * i);
	return bytes(r) == 2 * 0xb0 && field(r, 1, RECORD_DLA) >= A && r->requests == 1 &&
	       fixture_status(r) == IA32_PERF_GLOBAL_STATUS_OVF_BUF;
}

static bool stores_follow_the_period(struct fixture *r)
{
	become(r, GEN_SANDYBRIDGE, true);
	sample(r, 3, PS, PS_ENABLED, 3, 20);
	for (u64 i = 0; i < 10; i++)
		fixture_store(r, A + 64 * i);
	return !bytes(r);
}

static bool records_of_user_stores(struct fixture *r)
{
	begin_stores(r);
	r->cpl = USER;
	fixture_store(r, A);
	return field(r, 0, RECORD_DLA) == A;
}

/* ---- data address profiling ---- */

/* A record of this event on the second of two accesses. */
static bool data_address(struct fixture *r, u32 event, u64 linear)
{
	bool store = event == STORES;

	become(r, GEN_HASWELL, true);
	sample(r, 2, event, BIT(2), 3, 1);
	(store ? fixture_store : fixture_load)(r, A - 0x10000);
	(store ? fixture_store : fixture_load)(r, linear);
	return bytes(r) == FIXTURE_RECORD && field(r, 0, RECORD_DLA) == linear;
}

RULE(odd_address_of_far_data,
     data_address(r, EVENT_MEM_LOAD_UOPS_RETIRED_L1_MISS, A + 13) && data_address(r, LOADS, A + 13))
RULE(high_address_of_data, data_address(r, LOADS, HIGH + 8))
RULE(first_byte_of_split_loaded_data, data_address(r, LOADS, SPLIT))
RULE(first_byte_of_split_stored_data, data_address(r, STORES, SPLIT))

static bool user_data(struct fixture *r)
{
	r->cpl = USER;
	sample(r, 2, LOADS, BIT(2), 3, 1);
	loads_of(r, A, 2);
	return field(r, 0, RECORD_DLA) == A;
}

static bool locked_stores_hit(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 2, STORES, BIT(2), 3, 1);
	fixture_store(r, A);
	fixture_locked_add(r, A);
	return field(r, 0, RECORD_SOURCE) == 1;
}

/* ---- what its events count ---- */

static void watch(struct fixture *r, u32 event)
{
	become(r, GEN_HASWELL, true);
	sample(r, 2, event, 0, 3, 0);
}

/* A line that is fetched, found on its way, and there. */
static u64 of_three(struct fixture *r, u32 event)
{
	watch(r, event);
	loads_of(r, A, 2);
	act(r, ACT_DRAIN, 0);
	fixture_load(r, A);
	return PMC(2);
}

/* A line of memory, and one that only the L2 has, or the L3. */
static u64 of_two(struct fixture *r, u32 event, u64 stride)
{
	watch(r, event);
	for (u64 i = 0; i < 20; i++)
		fixture_load(r, A + i * stride);
	act(r, ACT_DRAIN, 0);
	fixture_load(r, A + 4 * stride);
	return PMC(2);
}

static bool hit_means_hit(struct fixture *r)
{
	return of_three(r, EVENT_MEM_LOAD_UOPS_RETIRED_L1_HIT) == 1 &&
	       of_three(r, EVENT_MEM_LOAD_UOPS_RETIRED_HIT_LFB) == 1;
}

RULE(l2_hits, of_two(r, EVENT_MEM_LOAD_UOPS_RETIRED_L2_HIT, 32768) == 0)
RULE(l1_misses, of_two(r, EVENT_MEM_LOAD_UOPS_RETIRED_L1_MISS, 4096) == 21)
RULE(l2_misses, of_two(r, EVENT_MEM_LOAD_UOPS_RETIRED_L2_MISS, 4096) == 20)

static u64 splits(struct fixture *r, u32 event, void (*access)(struct fixture *r, u64 linear))
{
	watch(r, event);
	access(r, SPLIT);
	access(r, CROSSES);
	access(r, A);
	return PMC(2);
}

RULE(split_loads, splits(r, EVENT_MEM_UOPS_RETIRED_SPLIT_LOADS, fixture_load) == 2)
RULE(split_stores, splits(r, EVENT_MEM_UOPS_RETIRED_SPLIT_STORES, fixture_store) == 2)

static u64 walks(struct fixture *r, u32 event,
		 void (*access)(struct fixture *r, u64 linear, bool locked))
{
	watch(r, event);
	for (unsigned locked = 0; locked < 2; locked++) {
		access(r, A + locked * 0x100000, locked);
		access(r, A + locked * 0x100000 + 8, locked);
	}
	return PMC(2);
}

RULE(walks_of_loads, walks(r, EVENT_MEM_UOPS_RETIRED_STLB_MISS_LOADS, one_load) == 2)
/* A locked access's load walks for its store. */
static bool walks_of_stores(struct fixture *r)
{
	watch(r, EVENT_MEM_UOPS_RETIRED_STLB_MISS_STORES);
	fixture_retire(r, &(struct model_retired){ .stores = 1, .n_access = 1,
					       .access = { { A, 8, true, true } } });
	return PMC(2) == 1 &&
	       walks(r, EVENT_MEM_UOPS_RETIRED_STLB_MISS_STORES, one_store) == 1;
}

static bool stlb_hits_are_no_walks(struct fixture *r)
{
	watch(r, EVENT_MEM_UOPS_RETIRED_STLB_MISS_LOADS);
	leave_to_the_stlb(r, fixture_store);
	fixture_load(r, A + 8);
	return PMC(2) == 0;
}

rule *const access_rules[FAULT_COUNT] = {
	[FAULT_LL_THREE_ONLY] = any_threshold_lets_pass,
	[FAULT_LL_THRESHOLD_LOW] = threshold_has_a_high_byte,
	[FAULT_LL_THRESHOLD_HIGH] = threshold_has_a_low_byte,
	[FAULT_LL_THRESHOLD_STALE] = threshold_is_the_last,
	[FAULT_LL_COUNTS_UNTAGGED] = only_tagged_loads_count,
	[FAULT_LL_COUNTS_HALF] = every_load_counts_on_nehalem,
	[FAULT_LL_CANCELLED_COUNTS] = cancelled_loads_dont_count,
	[FAULT_LL_CANCELLED_KEPT] = cancelled_loads_leave_the_record_alone,
	[FAULT_LL_CANCELLED_TAGGED] = the_next_available_load_is_tagged,
	[FAULT_LL_COUNTS_FAR_PREFETCHES] = no_prefetch_is_a_load,
	[FAULT_LL_RELOAD_HALF] = reset_value_is_the_period,
	[FAULT_LL_EN_OF_ANY] = another_enable_is_none,
	[FAULT_LL_SOURCE_BEFORE] = record_is_of_the_last_load,
	[FAULT_LL_LOAD_BEFORE] = record_is_of_the_last_load,
	[FAULT_LL_UNTAGGED_RECORDED] = untagged_loads_leave_the_record_alone,
	[FAULT_LL_DTLB_AS_MISS] = stlb_hits_are_none_of_its_misses,
	[FAULT_LL_FAR_LINE] = odd_address_of_a_far_load,
	[FAULT_LL_ADDRESS_8] = odd_address_of_a_far_load,
	[FAULT_LL_ADDRESS_32] = high_address_of_a_load,
	[FAULT_LL_SPLIT_SECOND] = first_byte_of_a_split_load,
	[FAULT_LL_USER_EMPTY] = records_of_user_loads,
	[FAULT_LL_FORMAT_2_EMPTY] = format_2_has_source_and_latency,
	[FAULT_LL_ABORT_RUBBISH] = nothing_for_transactions,
	[FAULT_LL_LATENCY_8] = uncached_loads_are_told,
	[FAULT_LL_UNCACHED_AS_MEMORY] = uncached_loads_are_told,
	[FAULT_LL_UNCACHED_AS_L1] = uncached_loads_are_told,
	[FAULT_LL_IO_AS_MEMORY] = device_loads_are_told,
	[FAULT_LL_ENDS_AT_L2] = latency_passes,
	[FAULT_LL_CLOCK_STANDS] = latency_passes,
	[FAULT_LL_OTHER_CLOCK] = latency_passes,
	[FAULT_PS_DTLB_AS_MISS] = store_stlb,
	[FAULT_PS_FAR_LINE] = odd_address_of_a_store,
	[FAULT_PS_ADDRESS_8] = odd_address_of_a_store,
	[FAULT_PS_ADDRESS_32] = high_address_of_a_store,
	[FAULT_PS_SPLIT_SECOND] = first_byte_of_a_split_store,
	[FAULT_PS_SPLIT_LOST] = first_byte_of_a_split_store,
	[FAULT_PS_RECORD_AT_BASE] = stores_go_through_the_buffer,
	[FAULT_PS_INDEX_STAYS] = stores_go_through_the_buffer,
	[FAULT_PS_THRESHOLD_QUIET] = stores_go_through_the_buffer,
	[FAULT_PS_OVFBUF_DROPPED] = stores_go_through_the_buffer,
	[FAULT_PS_PERIOD_IGNORED] = stores_follow_the_period,
	[FAULT_PS_USER_EMPTY] = records_of_user_stores,
	[FAULT_DLA_FAR_LINE] = odd_address_of_far_data,
	[FAULT_DLA_ADDRESS_8] = odd_address_of_far_data,
	[FAULT_DLA_ADDRESS_32] = high_address_of_data,
	[FAULT_DLA_SPLIT_LOADS_SECOND] = first_byte_of_split_loaded_data,
	[FAULT_DLA_SPLIT_STORES_SECOND] = first_byte_of_split_stored_data,
	[FAULT_DLA_USER_EMPTY] = user_data,
	[FAULT_DLA_LOCKED_MISSES] = locked_stores_hit,
	[FAULT_L1_HIT_COUNTS_PENDING] = hit_means_hit,
	[FAULT_PENDING_COUNTS_L1_HIT] = hit_means_hit,
	[FAULT_L2_HIT_COUNTS_L3] = l2_hits,
	[FAULT_L1_MISS_NEAR_ONLY] = l1_misses,
	[FAULT_L2_MISS_COUNTS_L2] = l2_misses,
	[FAULT_SPLIT_LOADS_IN_PAGE] = split_loads,
	[FAULT_SPLIT_STORES_IN_PAGE] = split_stores,
	[FAULT_STLB_MISS_PLAIN_LOADS] = walks_of_loads,
	[FAULT_STLB_MISS_PLAIN_STORES] = walks_of_stores,
	[FAULT_STLB_MISS_SILENT] = walks_of_loads,
	[FAULT_STLB_MISS_COUNTS_DTLB] = stlb_hits_are_no_walks,
};
