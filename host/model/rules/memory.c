/* SPDX-License-Identifier: MIT */
/* The rules that faults of load latency, precise store and data address profiling break. */
#include "host/model/rules/internal.h"

#define LL	EVENT_MEM_TRANS_RETIRED_LOAD_LATENCY
#define PS	EVENT_MEM_TRANS_RETIRED_PRECISE_STORE
#define A	0x500000ULL		/* an address that wasn't accessed before */
#define LL_EN(n) (BIT(n) | BIT(32 + (n)))
#define PS_ENABLED (BIT(3) | BIT(63))
#define NEHALEM_LL EVENT_MEM_INST_RETIRED_LATENCY_ABOVE_THRESHOLD

/* Change the processor to another generation, with each load tagged, and with a buffer. */
static void become(struct fixture *r, enum generation_id generation, bool all_tagged)
{
	struct model_config config = r->m.config;

	config.generation = generation;
	config.hyper_threading = true;
	if (all_tagged) {
		config.latitude.set |= BIT(LAT_TAG_GAP);
		config.latitude.value[LAT_TAG_GAP] = 0;
	}
	fixture_open_config(r, &config);
	fixture_ds(r, 12, 12);
}

/* From now on counter n counts and records this event. */
static void sample(struct fixture *r, unsigned n, u32 event, u64 enables, u64 threshold, u64 period)
{
	/* A broken processor may refuse these bits. */
	fixture_set(r, MSR_PEBS_LD_LAT_THRESHOLD, threshold);
	fixture_program_pebs(r, n, event, 0, period);
	fixture_wrmsr(r, MSR_IA32_PEBS_ENABLE, enables);
	fixture_start(r, BIT(n));
}

static u64 bytes(const struct fixture *r)
{
	return fixture_index(r) - FIXTURE_BUFFER;
}

static u64 field(const struct fixture *r, unsigned record, unsigned offset)
{
	u64 size = r->m.config.generation < GEN_HASWELL ? 0xb0 : FIXTURE_RECORD;

	return fixture_peek(r, FIXTURE_BUFFER + record * size + offset);
}

static void loads_of(struct fixture *r, u64 linear, unsigned n)
{
	while (n--)
		fixture_load(r, linear);
}

static void act(struct fixture *r, enum memory_act what, u64 linear)
{
	fixture_retire(r, &(struct model_retired){ .act = what, .act_linear = linear });
}

/* Prepare a record of the next load; this one only wraps the counter. */
static void begin(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 3, LL, LL_EN(3), 3, 1);
	fixture_load(r, A - 0x10000);
	act(r, ACT_DRAIN, 0);
}

static u64 source_of(struct fixture *r, unsigned record)
{
	return field(r, record, RECORD_SOURCE) & 0xf;
}

/* Prepare a record of the next store. */
static void begin_stores(struct fixture *r)
{
	become(r, GEN_SANDYBRIDGE, true);
	sample(r, 3, PS, PS_ENABLED, 3, 1);
	fixture_store(r, A - 0x10000);
}

static bool records_need_pebs_en(struct fixture *r)
{
	sample(r, 3, LL, BIT(35), 3, 2);
	loads_of(r, A, 40);
	return !bytes(r);
}

/* The data source of the first line after lines with this stride have evicted it from a cache. */
static bool comes_from(struct fixture *r, u64 stride, u64 code)
{
	become(r, GEN_HASWELL, true);
	sample(r, 3, LL, LL_EN(3), 3, 21);
	for (u64 i = 0; i < 20; i++)
		fixture_load(r, A + i * stride);
	act(r, ACT_DRAIN, 0);
	loads_of(r, A + 19 * stride, 1);
	fixture_load(r, A + 4 * stride);
	return source_of(r, 0) == code;
}

RULE(hits_the_l3, comes_from(r, 32768, 4))

/* ---- precise store ---- */

static bool fields_need_ps_en(struct fixture *r)
{
	become(r, GEN_SANDYBRIDGE, true);
	sample(r, 3, PS, BIT(3), 3, 1);
	fixture_store(r, A);
	fixture_store(r, A);
	return bytes(r) && !field(r, 0, RECORD_DLA) && !field(r, 0, RECORD_SOURCE);
}

static bool stores_need_pebs_en(struct fixture *r)
{
	become(r, GEN_SANDYBRIDGE, true);
	sample(r, 3, PS, BIT(63), 3, 1);
	fixture_store(r, A);
	fixture_store(r, A);
	return !bytes(r);
}

/* ---- data address profiling ---- */

/* Execute something of each kind, repeatedly. */
static void everything(struct fixture *r)
{
	for (u64 i = 0; i < 20; i++) {
		u64 at = A + (i * 4096 & 0xffff) + i * 8;

		act(r, ACT_INVALIDATE_PAGE, at);
		fixture_load(r, at);
		fixture_load(r, at + 8);
		act(r, ACT_DRAIN, 0);
		fixture_load(r, at + 16);
		fixture_retire(r,
			       &(struct model_retired){ .loads = 1,
							.n_access = 1,
							.access = { { (at | 63) - 1, 8, 0, 0 } } });
		fixture_retire(r,
			       &(struct model_retired){ .stores = 1,
							.n_access = 1,
							.access = { { (at | 63) - 1, 8, 1, 0 } } });
		fixture_locked_add(r, at);
		act(r, ACT_INVALIDATE_PAGE, at);
		fixture_store(r, at);
		act(r, ACT_PREFETCH_L2, A + 0x200000 + 64 * i);
		fixture_load(r, A + 0x200000 + 64 * i);
	}
}

static bool has_an_address(struct fixture *r, u32 event)
{
	become(r, GEN_HASWELL, true);
	sample(r, 2, event, BIT(2), 3, 2);
	everything(r);
	return bytes(r) && field(r, 0, RECORD_DLA) >= A;
}

static bool locked_stores_have_addresses(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 2, STORES, BIT(2), 3, 2);
	for (u64 i = 0; i < 20; i++)
		fixture_locked_add(r, A + 64 * i);
	return bytes(r) && field(r, 0, RECORD_DLA) >= A;
}

/* Another processor of the package has modified the lines. */
static bool others_lines_have_addresses(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 2, EVENT_MEM_LOAD_UOPS_L3_HIT_RETIRED_XSNP_HITM, BIT(2), 3, 2);
	for (u64 i = 0; i < 40; i++) {
		memory_touch(&r->hierarchy, 1, A + 64 * i, true);
		fixture_load(r, A + 64 * i);
	}
	return bytes(r) && field(r, 0, RECORD_DLA) >= A;
}

RULE(l2_hits_have_addresses, has_an_address(r, EVENT_MEM_LOAD_UOPS_RETIRED_L2_HIT))
RULE(walks_of_stores_have_addresses, has_an_address(r, EVENT_MEM_UOPS_RETIRED_STLB_MISS_STORES))

/* ---- what single accesses tell ---- */

static void one_store(struct fixture *r, u64 linear, bool locked)
{
	if (locked)
		fixture_locked_add(r, linear);
	else
		fixture_store(r, linear);
}

/* ---- load latency: what counts ---- */

static bool only_tagged_loads_count(struct fixture *r)
{
	become(r, GEN_HASWELL, false);
	sample(r, 3, LL, LL_EN(3), 3, 0);
	loads_of(r, A, 400);
	return PMC(3) < 400;
}

static bool another_enable_is_none(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 3, LL, BIT(3) | BIT(32), 3, 1);
	loads_of(r, A, 4);
	return bytes(r) && !field(r, 0, RECORD_LATENCY);
}

static bool lower_enables_change_nothing(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 3, LL, LL_EN(3) | BIT(32), 3, 1);
	loads_of(r, A, 4);
	return bytes(r) && field(r, 0, RECORD_LATENCY);
}

/* ---- load latency: the record ---- */

static bool untagged_loads_leave_the_record_alone(struct fixture *r)
{
	u64 before;

	become(r, GEN_NEHALEM, false);
	sample(r, 3, NEHALEM_LL, LL_EN(3), 3, 0);
	loads_of(r, A, 100);
	before = r->m.tagged.linear;
	for (unsigned i = 0; i < 100 && !r->m.tag_gap; i++)
		fixture_load(r, A);
	fixture_load(r, A + 8);
	return r->m.tagged.linear == before;
}

/* After this the page is only in the STLB. */
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

/* A locked load of a page that no TLB has. */
static bool locked_walks_are_told(struct fixture *r)
{
	struct model_retired i = {
		.loads = 1, .locked_loads = 1, .n_access = 1,
		.access = { { A + 0x100000, 8, false, true } },
	};

	begin(r);
	fixture_retire(r, &i);
	return bytes(r) == FIXTURE_RECORD && (field(r, 0, RECORD_SOURCE) & 0x30) == 0x30;
}

/* XCHG, which has no prefix. */
static bool exchanges_lock(struct fixture *r)
{
	const u64 code = FIXTURE_MEMORY_BASE + 0x3100;

	begin(r);
	fixture_poke(r, code, 0x068748);
	r->ip = code;
	fixture_locked_add(r, A);
	return bytes(r) == FIXTURE_RECORD && field(r, 0, RECORD_SOURCE) & BIT(5);
}

/* Half of the addresses belong to devices, the other half isn't cached. */
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

static bool uncached_loads_count(struct fixture *r)
{
	become(r, GEN_NEHALEM, false);
	r->host.translate = translate_uncached;
	fixture_program(r, 0, EVENT_MEM_UNCORE_RETIRED_UNCACHEABLE, 0, 0);
	fixture_start(r, BIT(0));
	loads_of(r, A, 2);
	r->host.translate = NULL;
	fixture_stop(r);
	return PMC(0) == 2;
}

RULE(uncached_loads_are_told, uncached(r, A, 0xf))
RULE(device_loads_are_told, uncached(r, A + 0x1000, 0xe))

/* ---- the clock ---- */

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

/* ---- data address profiling ---- */

/* ---- what its events count ---- */

static void watch(struct fixture *r, u32 event)
{
	become(r, GEN_HASWELL, true);
	sample(r, 2, event, 0, 3, 0);
}

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

/* For a locked access the load walks, and the store doesn't. */
static bool walks_of_stores(struct fixture *r)
{
	watch(r, EVENT_MEM_UOPS_RETIRED_STLB_MISS_STORES);
	fixture_retire(r, &(struct model_retired){
				  .stores = 1, .n_access = 1, .access = { { A, 8, true, true } } });
	return PMC(2) == 1 && walks(r, EVENT_MEM_UOPS_RETIRED_STLB_MISS_STORES, one_store) == 1;
}

/* A store to a line of the L2, after the one that wraps the counter: its record's hit bit is 0. */
static bool l2_store_misses(struct fixture *r)
{
	act(r, ACT_PREFETCH_L2, A);
	fixture_store(r, A);
	return bytes(r) && !(field(r, 0, RECORD_SOURCE) & 1);
}

static bool precise_store_to_the_l2_misses(struct fixture *r)
{
	begin_stores(r);
	return l2_store_misses(r);
}

static bool profiled_store_to_the_l2_misses(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 2, STORES, BIT(2), 3, 1);
	fixture_store(r, A - 0x10000);
	return l2_store_misses(r);
}

/* ---- the events of the last-level cache ---- */

static void count_from_now(struct fixture *r, u32 event)
{
	become(r, GEN_HASWELL, false);
	fixture_program(r, 0, event, 0, 0);
	fixture_start(r, BIT(0));
}

static bool l2_hits_are_no_references(struct fixture *r)
{
	count_from_now(r, 0x4f2e);
	act(r, ACT_PREFETCH_L2, A);
	act(r, ACT_DRAIN, 0);
	fixture_load(r, A);
	fixture_stop(r);
	return PMC(0) == 0;
}

/* The twenty lines evict the line from the L2; it is still in the L3. */
static bool l3_hits_are_no_misses(struct fixture *r)
{
	count_from_now(r, 0x412e);
	for (u64 i = 0; i < 20; i++)
		fixture_load(r, A + i * 32768);
	act(r, ACT_DRAIN, 0);
	fixture_load(r, A + 4 * 32768);
	fixture_stop(r);
	return PMC(0) == 20;
}

static bool stores_are_references(struct fixture *r)
{
	count_from_now(r, 0x4f2e);
	fixture_store(r, A);
	fixture_stop(r);
	return PMC(0) == 1;
}

/* RCX wraps from its highest value to a 32-bit value, as fixture_retire() counts. */
static bool registers_are_extended_by_zero(struct fixture *r)
{
	enum { RCX_AT = 0x20 };

	become(r, GEN_HASWELL, true);
	sample(r, 2, LOADS, BIT(2), 3, 1);
	fixture_load(r, A);
	r->regs.gpr[REG_RCX] = ~0ULL;
	fixture_load(r, A);
	return bytes(r) && !(field(r, 0, RCX_AT) >> 32);
}

static bool micro_operations_make_records(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 2, EVENT_UOPS_RETIRED_ALL, BIT(2), 3, 2);
	everything(r);
	return bytes(r);
}

/* ---- off-core responses ---- */

static bool ownership_is_told_by_supplier(struct fixture *r)
{
	become(r, GEN_HASWELL, false);
	fixture_set(r, MSR_OFFCORE_RSP_0, BIT(1) | BITS(17, 37));
	fixture_program(r, 0, 0x1b7, 0, 0);
	fixture_start(r, BIT(0));
	fixture_store(r, A);
	fixture_stop(r);
	return PMC(0) == 1;
}

rule *const memory_rules[FAULT_COUNT] = {
	[FAULT_UPPER_HALF_STALE] = registers_are_extended_by_zero,
	[FAULT_UOPS_NO_RECORD] = micro_operations_make_records,
	[FAULT_OFFCORE_RFO_ANY_ONLY] = ownership_is_told_by_supplier,
	[FAULT_LLC_REFERENCES_OF_L2] = l2_hits_are_no_references,
	[FAULT_LLC_MISSES_OF_L3] = l3_hits_are_no_misses,
	[FAULT_LLC_LOWER_COUNT_HITS] = l2_hits_are_no_references,
	[FAULT_LLC_STORES_MISSED] = stores_are_references,
	[FAULT_LL_EN_ENABLES] = records_need_pebs_en,
	[FAULT_LL_L3_AS_SNOOPED] = hits_the_l3,
	[FAULT_PS_EN_IGNORED] = fields_need_ps_en,
	[FAULT_PS_EN_ENABLES] = stores_need_pebs_en,
	[FAULT_DLA_L2_HIT] = l2_hits_have_addresses,
	[FAULT_DLA_STLB_MISS_STORES] = walks_of_stores_have_addresses,
	[FAULT_DLA_LOCKED_EMPTY] = locked_stores_have_addresses,
	[FAULT_DLA_XSNP_HITM] = others_lines_have_addresses,
	[FAULT_LL_COUNTS_UNTAGGED] = only_tagged_loads_count,
	[FAULT_LL_EN_OF_ANY] = another_enable_is_none,
	[FAULT_LL_LOWEST_COUNTER] = lower_enables_change_nothing,
	[FAULT_LL_UNTAGGED_RECORDED] = untagged_loads_leave_the_record_alone,
	[FAULT_LL_LOCKED_NO_WALK] = locked_walks_are_told,
	[FAULT_LL_LOCK_NOT_OF_WALKS] = locked_walks_are_told,
	[FAULT_LL_LOCK_NOT_OF_XCHG] = exchanges_lock,
	[FAULT_LL_DTLB_AS_MISS] = stlb_hits_are_none_of_its_misses,
	[FAULT_UNCACHED_SILENT] = uncached_loads_count,
	[FAULT_LL_LATENCY_8] = uncached_loads_are_told,
	[FAULT_LL_UNCACHED_AS_MEMORY] = uncached_loads_are_told,
	[FAULT_LL_UNCACHED_AS_L1] = uncached_loads_are_told,
	[FAULT_LL_IO_AS_MEMORY] = device_loads_are_told,
	[FAULT_PS_DTLB_AS_MISS] = store_stlb,
	[FAULT_PS_HIT_IN_ANY_CACHE] = precise_store_to_the_l2_misses,
	[FAULT_DLA_HIT_IN_ANY_CACHE] = profiled_store_to_the_l2_misses,
	[FAULT_STLB_MISS_PLAIN_STORES] = walks_of_stores,
};
