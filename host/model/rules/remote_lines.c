/* SPDX-License-Identifier: MIT */
/*
 * Rules of loads of lines that another core or package has: their codes (Table 18-24), their
 * events, their addresses and the off-core responses to them. Haswell's.
 */
#include "host/model/rules/internal.h"

#define A		0x500000ULL		/* an address that wasn't accessed before */
#define REMOTE		0x600000ULL		/* and memory of another package */
#define LL		EVENT_MEM_TRANS_RETIRED_LOAD_LATENCY
#define LL_EN		(BIT(3) | BIT(35))
#define LINES		40u

static void place(struct fixture *r, u64 line, enum exerciser_state state)
{
	memory_place_begin(&r->hierarchy);
	memory_place(&r->hierarchy, 0, line, state);
}

/* The same processor with each load tagged. */
static void become(struct fixture *r)
{
	struct model_config config = r->m.config;

	config.latitude.set |= BIT(LAT_TAG_GAP);
	config.latitude.value[LAT_TAG_GAP] = 0;
	fixture_open_config(r, &config);
	fixture_ds(r, 12, 12);
	r->hierarchy.remote_base = REMOTE;
	r->hierarchy.remote_size = 0x100000;
}

/* Bits 3:0 of the data source in the first record of loads of these lines. */
static u64 code(struct fixture *r, u64 from, enum exerciser_state state)
{
	become(r);
	fixture_set(r, MSR_PEBS_LD_LAT_THRESHOLD, 3);
	fixture_program_pebs(r, 3, LL, 0, 1);
	fixture_wrmsr(r, MSR_IA32_PEBS_ENABLE, LL_EN);
	fixture_start(r, BIT(3));
	for (u64 i = 0; i < LINES; i++) {
		place(r, from + 64 * i, state);
		fixture_load(r, from + 64 * i);
	}
	if (!fixture_records(r))
		return ~0ULL;
	return fixture_peek(r, FIXTURE_BUFFER + RECORD_SOURCE) & 0xf;
}

RULE(l3_alone_is_4, code(r, A, EXERCISE_L3_ONLY) == 4)
RULE(forwarded_is_8, code(r, A, EXERCISE_REMOTE_CLEAN) == 8)
RULE(remote_is_13, code(r, REMOTE, EXERCISE_NOWHERE) == 0xd)
RULE(remote_shared_is_11, code(r, REMOTE, EXERCISE_REMOTE_CLEAN) == 0xb)

static bool remote_modified_has_no_code_of_ours(struct fixture *r)
{
	u64 seen = code(r, A, EXERCISE_REMOTE_MODIFIED);

	return !seen || (seen > 7 && seen < 16);
}

static u64 counted_now(struct fixture *r, u16 event, u64 from, enum exerciser_state state)
{
	fixture_program(r, 0, event, 0, 0);
	fixture_start(r, BIT(0));
	for (u64 i = 0; i < LINES; i++) {
		place(r, from + 64 * i, state);
		fixture_load(r, from + 64 * i);
	}
	return fixture_get(r, MSR_IA32_PMC0);
}

/* The number of these loads that an event counts. */
static u64 counted(struct fixture *r, u16 event, u64 from, enum exerciser_state state)
{
	become(r);
	return counted_now(r, event, from, state);
}

/* Both events, with a register that selects demand reads, local or remote memory, and each
 * snoop. */
static bool off_core_tells_memories_apart(struct fixture *r)
{
	const u64 from[] = { A, REMOTE }, suppliers[] = { BIT(22), BIT(23) };
	const u16 events[] = { 0x1b7, 0x1bb };

	for (u32 i = 0; i < 8; i++) {
		const u32 n = i & 1, home = i >> 1 & 1, named = i >> 2;

		become(r);
		fixture_set(r, 0x1a6 + n, BIT(0) | suppliers[named] | BITS(31, 37));
		if (counted_now(r, events[n], from[home], EXERCISE_NOWHERE) !=
		    (home == named ? LINES : 0))
			return false;
	}
	return true;
}

static bool local_is_local(struct fixture *r)
{
	const u16 event = EVENT_MEM_LOAD_UOPS_LLC_MISS_RETIRED_LOCAL_DRAM;

	return counted(r, event, A, EXERCISE_NOWHERE) == LINES &&
	       !counted(r, event, REMOTE, EXERCISE_NOWHERE);
}

static bool has_addresses(struct fixture *r, u16 event, enum exerciser_state state)
{
	become(r);
	fixture_program_pebs(r, 2, event, 0, 2);
	fixture_wrmsr(r, MSR_IA32_PEBS_ENABLE, BIT(2));
	fixture_start(r, BIT(2));
	for (u64 i = 0; i < LINES; i++) {
		place(r, A + 64 * i, state);
		fixture_load(r, A + 64 * i);
	}
	return fixture_records(r) && fixture_peek(r, FIXTURE_BUFFER + RECORD_DLA) >= A;
}

RULE(misses_have_addresses,
     has_addresses(r, EVENT_MEM_LOAD_UOPS_L3_HIT_RETIRED_XSNP_MISS, EXERCISE_L3_STALE))
RULE(l3_hits_have_addresses,
     has_addresses(r, EVENT_MEM_LOAD_UOPS_L3_HIT_RETIRED_XSNP_NONE, EXERCISE_L3_ONLY))

rule *const remote_lines_rules[FAULT_COUNT] = {
	[FAULT_LL_L3_AS_MODIFIED] = l3_alone_is_4,
	[FAULT_LL_REMOTE_CACHE_AS_L3] = forwarded_is_8,
	[FAULT_LL_REMOTE_CACHE_AS_REMOTE] = forwarded_is_8,
	[FAULT_LL_REMOTE_AS_LOCAL] = remote_is_13,
	[FAULT_LL_SHARED_AS_EXCLUSIVE] = remote_shared_is_11,
	[FAULT_LL_REMOTE_SHARED_AS_LOCAL] = remote_shared_is_11,
	[FAULT_LL_REMOTE_HITM_AS_L3] = remote_modified_has_no_code_of_ours,
	[FAULT_LOCAL_COUNTS_REMOTE] = local_is_local,
	[FAULT_OFFCORE_SECOND_REMOTE] = off_core_tells_memories_apart,
	[FAULT_OFFCORE_REMOTE_AS_LOCAL] = off_core_tells_memories_apart,
	[FAULT_DLA_XSNP_MISS] = misses_have_addresses,
	[FAULT_DLA_XSNP_NONE] = l3_hits_have_addresses,
};
