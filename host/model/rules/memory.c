/* SPDX-License-Identifier: MIT */
/* The rules that faults of load latency, precise store and data address profiling break. */
#include "host/model/rules/memory.h"

static bool counts_loads(struct fixture *r)
{
	sample(r, 3, LL, LL_EN(3), 3, 0);
	loads_of(r, A, 40);
	return PMC(3) > 0;
}

static bool fields_need_ll_en(struct fixture *r)
{
	sample(r, 3, LL, BIT(3), 3, 2);
	loads_of(r, A, 40);
	return bytes(r) && !field(r, 0, RECORD_DLA) && !field(r, 0, RECORD_SOURCE) &&
	       !field(r, 0, RECORD_LATENCY);
}

static bool each_counter_has_its_ll_en(struct fixture *r)
{
	sample(r, 0, LL, LL_EN(0), 3, 2);
	loads_of(r, A, 40);
	return bytes(r) && field(r, 0, RECORD_LATENCY);
}

static bool records_need_pebs_en(struct fixture *r)
{
	sample(r, 3, LL, BIT(35), 3, 2);
	loads_of(r, A, 40);
	return !bytes(r);
}

static bool stores_are_ignored(struct fixture *r)
{
	sample(r, 3, LL, LL_EN(3), 3, 0);
	for (unsigned i = 0; i < 40; i++)
		fixture_store(r, A + 64 * i);
	return PMC(3) == 0;
}

static bool prefetches_are_ignored(struct fixture *r)
{
	sample(r, 3, LL, LL_EN(3), 3, 0);
	for (unsigned i = 0; i < 40; i++)
		act(r, ACT_PREFETCH_L1, A + 64 * i);
	return PMC(3) == 0;
}

RULE(above_means_above, near_loads(r, MEMORY_LEAST_LATENCY) == 0)
RULE(threshold_decides, near_loads(r, 100) == 0)

static bool records_follow_the_period(struct fixture *r)
{
	sample(r, 3, LL, LL_EN(3), 3, 60);
	loads_of(r, A, 40);
	return !bytes(r);
}

static bool tags_move_on(struct fixture *r)
{
	sample(r, 3, LL, LL_EN(3), 3, 3);
	for (unsigned i = 0; i < 640 && bytes(r) < 4 * FIXTURE_RECORD; i++)
		fixture_load(r, A + 64 * (i % 16));
	for (unsigned i = 1; i < bytes(r) / FIXTURE_RECORD; i++)
		if (field(r, i, RECORD_DLA) != field(r, 0, RECORD_DLA))
			return true;
	return false;
}

static u64 counted_with_period(struct fixture *r, u64 period)
{
	become(r, GEN_HASWELL, false);
	sample(r, 3, LL, LL_EN(3), 3, period);
	/* No overflow: what the period leaves of the counter's lower bits decides. */
	fixture_set(r, MSR_IA32_PMC0 + 3, 0x10000000 + period);
	loads_of(r, A, 600);
	return PMC(3) - 0x10000000 - period;
}

RULE(period_leaves_tags_alone, counted_with_period(r, 32) == counted_with_period(r, 47))

static bool fields_belong_together(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 3, LL, LL_EN(3), 3, 1);
	fixture_load(r, A);
	act(r, ACT_DRAIN, 0);
	for (unsigned i = 1; i < 8; i++) {
		fixture_load(r, A + 64 * i);
		fixture_load(r, A);
	}
	for (unsigned i = 0; i < bytes(r) / FIXTURE_RECORD; i++)
		if ((field(r, i, RECORD_DLA) == A) != (source_of(r, i) == 1) ||
		    (field(r, i, RECORD_DLA) == A) != (field(r, i, RECORD_LATENCY) < 10))
			return false;
	return bytes(r);
}

static bool least_latency(struct fixture *r)
{
	begin(r);
	fixture_load(r, A - 0x10000);
	return field(r, 0, RECORD_LATENCY) == MEMORY_LEAST_LATENCY;
}

static bool far_is_slow(struct fixture *r)
{
	begin(r);
	fixture_load(r, A);
	return field(r, 0, RECORD_LATENCY) > 100;
}

static bool address_is_the_loads(struct fixture *r)
{
	begin(r);
	fixture_load(r, A + 8);
	return field(r, 0, RECORD_DLA) == A + 8;
}

static bool code_is_defined(struct fixture *r)
{
	begin(r);
	fixture_load(r, A);
	return source_of(r, 0) == 0xc;
}

RULE(threshold_reads, model_rdmsr(&r->m, MSR_PEBS_LD_LAT_THRESHOLD).status == MSR_DONE)
RULE(threshold_has_sixteen_bits, fixture_wrmsr(r, MSR_PEBS_LD_LAT_THRESHOLD, BIT(16) | 3) == MSR_GP)

/* Bits 5:4 of the load after it. */
static u64 further_bits(struct fixture *r, u64 linear, bool locked)
{
	unsigned record = (unsigned)(bytes(r) / FIXTURE_RECORD);

	if (locked)
		fixture_locked_add(r, linear);
	else
		fixture_load(r, linear);
	loads_of(r, A - 0x10000, 1);
	return field(r, record, RECORD_SOURCE) >> 4;
}

static bool bits_mean_what_they_say(struct fixture *r)
{
	u64 page, locked, plain, again;

	begin(r);
	page = further_bits(r, A, false);
	locked = further_bits(r, A, true);
	plain = further_bits(r, A, false);
	/* Pages of one DTLB set, so that the first is in the STLB alone. */
	for (u64 i = 1; i < 6; i++)
		fixture_store(r, A + i * 16 * 4096);
	again = further_bits(r, A, false);
	return page == 1 && locked == 2 && plain == 0 && again == 0;
}

static bool nehalem_has_four_bits(struct fixture *r)
{
	become(r, GEN_NEHALEM, true);
	sample(r, 3, EVENT_MEM_INST_RETIRED_LATENCY_ABOVE_THRESHOLD, LL_EN(3), 3, 1);
	fixture_load(r, A);
	fixture_load(r, A + 0x1000);
	return field(r, 0, RECORD_SOURCE) == 0xc;
}

static bool hits_the_l1(struct fixture *r)
{
	begin(r);
	fixture_load(r, A - 0x10000);
	return source_of(r, 0) == 1;
}

static bool finds_it_pending(struct fixture *r)
{
	begin(r);
	fixture_load(r, A);
	loads_of(r, A, 2);
	return source_of(r, 1) == 2;
}

/* The first of the lines that push it out of a cache with such a stride. */
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

RULE(hits_the_l2, comes_from(r, 4096, 3))
RULE(hits_the_l3, comes_from(r, 32768, 4))

/* Another processor of the package stores to the line. */
static bool sees_the_others_store(struct fixture *r)
{
	begin(r);
	memory_touch(&r->hierarchy, 1, A, true);
	fixture_load(r, A);
	return source_of(r, 0) == 6;
}

static bool off_core_needs_both(struct fixture *r)
{
	static const u64 values[] = { 0, 0x8fff, BIT(16), 0x10001 };
	u64 counted[4];

	for (unsigned i = 0; i < 4; i++) {
		become(r, GEN_HASWELL, true);
		if (fixture_wrmsr(r, MSR_OFFCORE_RSP_0, values[i]) != MSR_DONE)
			return false;
		sample(r, 0, EVENT_OFFCORE_RESPONSE_0, 0, 3, 0);
		for (unsigned n = 0; n < 10; n++)
			fixture_load(r, A + 64 * n);
		counted[i] = PMC(0);
	}
	return !counted[0] && !counted[1] && !counted[2] && counted[3] == 10;
}

/* ---- precise store ---- */

static bool on_pmc3_only(struct fixture *r)
{
	become(r, GEN_SANDYBRIDGE, true);
	sample(r, 1, PS, BIT(1) | BIT(63), 3, 1);
	fixture_store(r, A);
	fixture_store(r, A);
	return !bytes(r) || !field(r, 0, RECORD_DLA);
}

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

static bool the_next_store(struct fixture *r)
{
	begin_stores(r);
	fixture_load(r, A);
	fixture_store(r, A + 72);
	return bytes(r) == 0xb0 && field(r, 0, RECORD_DLA) == A + 72;
}

static bool status_of(struct fixture *r, u64 first, bool locked, u64 status)
{
	begin_stores(r);
	fixture_store(r, first);
	fixture_store(r, A);
	if (locked)
		fixture_locked_add(r, A);
	else
		fixture_store(r, A + 64);
	return field(r, 1, RECORD_SOURCE) == status && !field(r, 1, RECORD_LATENCY);
}

static bool store_status(struct fixture *r)
{
	/* A line of a known page that misses; a locked one that hits; a new page. */
	if (!status_of(r, A, false, 0) || !status_of(r, A, true, BIT(0) | BIT(5)))
		return false;
	begin_stores(r);
	fixture_store(r, A);
	return field(r, 0, RECORD_SOURCE) == BIT(4);
}

/* ---- data address profiling ---- */

/* Something of each kind, over and over. */
static void everything(struct fixture *r)
{
	for (u64 i = 0; i < 20; i++) {
		u64 at = A + (i * 4096 & 0xffff) + i * 8;

		act(r, ACT_INVALIDATE_PAGE, at);
		fixture_load(r, at);
		fixture_load(r, at + 8);
		act(r, ACT_DRAIN, 0);
		fixture_load(r, at + 16);
		fixture_retire(r, &(struct model_retired){
			.loads = 1, .n_access = 1, .access = { { (at | 63) - 1, 8, 0, 0 } } });
		fixture_retire(r, &(struct model_retired){
			.stores = 1, .n_access = 1, .access = { { (at | 63) - 1, 8, 1, 0 } } });
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

/* What the L2 no longer has. */
static bool l3_hits_have_addresses(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 2, EVENT_MEM_LOAD_UOPS_RETIRED_L3_HIT, BIT(2), 3, 2);
	for (u64 i = 0; i < 40; i++)
		fixture_load(r, A + i % 12 * 32768);
	return bytes(r) && field(r, 0, RECORD_DLA) >= A;
}

/* What another processor of the package has modified. */
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

static bool event_has_addresses(enum fault_id of, u32 event, struct fixture *r)
{
	if (of == FAULT_DLA_L3_HIT)
		return l3_hits_have_addresses(r);
	if (of == FAULT_DLA_XSNP_HITM)
		return others_lines_have_addresses(r);
	return has_an_address(r, event);
}

bool memory_rule(enum fault_id of, struct fixture *r)
{
	switch (of) {
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_ADDRESS_MISSING(token, event, name, ...) \
	case FAULT_##token: \
		return event_has_addresses(of, EVENT_##event, r);
#include "refpmu/faults/fault_memory.def"
#undef FAULT
	default:
		return generated_rule(of, r);
	}
}

rule *const memory_rules[FAULT_COUNT] = {
	[FAULT_LL_MISPRINT] = counts_loads,
	[FAULT_LL_ONE_COUNTER] = counts_loads,
	[FAULT_LL_EN_IGNORED] = fields_need_ll_en,
	[FAULT_LL_EN_PMC3_ONLY] = each_counter_has_its_ll_en,
	[FAULT_LL_EN_ENABLES] = records_need_pebs_en,
	[FAULT_LL_COUNTS_STORES] = stores_are_ignored,
	[FAULT_LL_COUNTS_PREFETCHES] = prefetches_are_ignored,
	[FAULT_LL_THRESHOLD_EQUAL] = above_means_above,
	[FAULT_LL_THRESHOLD_IGNORED] = threshold_decides,
	[FAULT_LL_THRESHOLD_RECORDS] = threshold_decides,
	[FAULT_LL_PERIOD_IGNORED] = records_follow_the_period,
	[FAULT_LL_LOCKED_ONLY] = counts_loads,
	[FAULT_LL_MODIFIED_LOST] = others_lines_have_addresses,
	[FAULT_LL_MEMORY_LOST] = far_is_slow,
	[FAULT_LL_ADDRESS_BIT] = address_is_the_loads,
	[FAULT_LD_LAT_UNREADABLE] = threshold_reads,
	[FAULT_LD_LAT_WIDE] = threshold_has_sixteen_bits,
	[FAULT_LL_TAG_FIXED] = tags_move_on,
	[FAULT_LL_TAG_PERIOD] = period_leaves_tags_alone,
	[FAULT_LL_MIXED] = fields_belong_together,
	[FAULT_LL_LATENCY_LOW] = least_latency,
	[FAULT_LATENCY_ZERO] = least_latency,
	[FAULT_LL_LAST_DISPATCH] = far_is_slow,
	[FAULT_LL_ADDRESS_IP] = address_is_the_loads,
	[FAULT_LL_ADDRESS_LINE] = address_is_the_loads,
	[FAULT_LL_SOURCE_RESERVED] = code_is_defined,
	[FAULT_LL_BITS_SWAPPED] = bits_mean_what_they_say,
	[FAULT_LL_BITS_MISSING] = bits_mean_what_they_say,
	[FAULT_LL_LOCK_STICKY] = bits_mean_what_they_say,
	[FAULT_LL_DTLB_MISS] = bits_mean_what_they_say,
	[FAULT_LL_STLB_ALWAYS] = bits_mean_what_they_say,
	[FAULT_LL_STLB_NEHALEM] = nehalem_has_four_bits,
	[FAULT_LL_SOURCE_UPPER] = nehalem_has_four_bits,
	[FAULT_LL_L1_AS_L2] = hits_the_l1,
	[FAULT_LL_LFB_AS_L1] = finds_it_pending,
	[FAULT_LL_L2_AS_L3] = hits_the_l2,
	[FAULT_LL_L3_AS_SNOOPED] = hits_the_l3,
	[FAULT_LL_MODIFIED_AS_L3] = sees_the_others_store,
	[FAULT_LL_MEMORY_AS_IO] = code_is_defined,
	[FAULT_OFFCORE_ANY_REQUEST] = off_core_needs_both,
	[FAULT_OFFCORE_ANY_RESPONSE] = off_core_needs_both,
	[FAULT_PS_ANY_COUNTER] = on_pmc3_only,
	[FAULT_PS_EN_IGNORED] = fields_need_ps_en,
	[FAULT_PS_EN_ENABLES] = stores_need_pebs_en,
	[FAULT_PS_AT_WRAP] = the_next_store,
	[FAULT_PS_LATE] = the_next_store,
	[FAULT_PS_ADDRESS_LINE] = the_next_store,
	[FAULT_PS_ADDRESS_IP] = the_next_store,
	[FAULT_PS_PLAIN_LOST] = the_next_store,
	[FAULT_PS_LOCKED_LOST] = store_status,
	[FAULT_PS_L1_INVERTED] = store_status,
	[FAULT_PS_STLB_ALWAYS] = store_status,
	[FAULT_PS_STLB_NEVER] = store_status,
	[FAULT_PS_LOCK_NEVER] = store_status,
	[FAULT_PS_LOCK_ALWAYS] = store_status,
	[FAULT_PS_SOURCE_CODE] = store_status,
	[FAULT_PS_LATENCY] = store_status,
};
