/* SPDX-License-Identifier: MIT */
/*
 * The rules that faults of the counters group of format 6 and of reset values of format 5 break,
 * and those that a fault of the data source's code breaks. The expected values are typed from
 * Linux: struct pebs_cntr_header and its reader in setup_pebs_adaptive_sample_data, struct
 * debug_store, lnl_latency_data.
 */
#include "host/model/rules/internal.h"

#define ADAPTIVE	BIT(34)
#define CNTR		BIT(4)
#define METRICS		BIT(5)
#define GP_BITS(mask)	((u64)(mask) << 32)
#define FIXED_BITS(mask) ((u64)(mask) << 48)
#define LBR_OF(n)	(BIT(3) | (u64)((n) - 1) << 24)

enum { SAMPLED = 2, HEAD = 0x10 };

static unsigned bits_of(u64 mask)
{
	return (unsigned)__builtin_popcountll(mask);
}

/* All counters have different values; 0, 3 and the fixed ones count too. */
static void set_up(struct fixture *r, u64 config)
{
	fixture_stop(r);
	empty_buffer(r);
	fixture_wrmsr(r, 0x390, ~0ULL >> 16 & 0xf000003ff);
	fixture_wrmsr(r, 0x3f2, config);
	fixture_program_pebs(r, SAMPLED, LOADS, ADAPTIVE, 2);
	for (unsigned n = 0; n < 10; n++)
		if (n != SAMPLED)
			fixture_wrmsr(r, 0x4c1 + n, 0x1000 * (n + 1));
	fixture_wrmsr(r, 0x186, INST | 0x430000);
	fixture_wrmsr(r, 0x189, 0x003c | 0x430000);
	for (unsigned i = 0; i < 4; i++)
		fixture_wrmsr(r, 0x309 + i, 0x100000 * (i + 1));
	fixture_wrmsr(r, 0x38d, 0x3333);
	fixture_wrmsr(r, 0x329, 0);
	fixture_start(r, 0x1000f0000000d);
}

/* The sampled counter overflows on the second load; the third one makes its record. */
static u64 value_of(struct fixture *r, unsigned n)
{
	return n == SAMPLED ? 1 : get(r, 0xc1 + n);
}

static bool values_are_right(struct fixture *r, u64 config, unsigned offset)
{
	const u64 gp = config & CNTR ? config >> 32 & 0xffff : 0;
	const u64 fixed = config & CNTR ? config >> 48 & 0xff : 0;
	bool right = at(r, offset) == (gp | fixed << 32) &&
		     at(r, offset + 8) == (config & METRICS ? 3 : 0);

	offset += HEAD;
	for (unsigned n = 0; n < 16; n++)
		if (gp >> n & 1) {
			right = right && at(r, offset) == value_of(r, n);
			offset += 8;
		}
	for (unsigned i = 0; i < 8; i++)
		if (fixed >> i & 1) {
			right = right && at(r, offset) == get(r, 0x309 + i);
			offset += 8;
		}
	if (config & METRICS)
		right = right && at(r, offset) == get(r, 0x30c) &&
			at(r, offset + 8) == get(r, 0x329);
	return right;
}

/* The record of three loads after so many other instructions: its bytes, and its group. */
static bool group_is_right(struct fixture *r, u64 config, unsigned nops)
{
	const bool counters = config & CNTR, metrics = config & METRICS;
	unsigned offset = 0x20, size;

	offset += config & 1 ? 0x20 : 0;
	offset += config & 2 ? 0x90 : 0;
	offset += config & 4 ? 0x100 : 0;
	offset += config & 8 ? 0x18 * ((unsigned)(config >> 24 & 0xff) + 1) : 0;
	size = offset + (counters || metrics ? HEAD : 0);
	size += counters ? 8 * bits_of(config >> 32 & 0xffffff) : 0;
	size += metrics ? 16 : 0;
	set_up(r, config);
	fixture_nops(r, nops);
	loads(r, 3);
	if (get(r, 0x3f2) != config || fixture_index(r) != FIXTURE_BUFFER + size ||
	    (at(r, 0) & 0xffff0000ffffffff) != ((config & 0xffffffff) | (u64)size << 48))
		return false;
	return (!counters && !metrics) || values_are_right(r, config, offset);
}

static bool snapshots_are_right(struct fixture *r)
{
	static const u64 configs[] = {
		CNTR,
		CNTR | GP_BITS(0x1),
		CNTR | GP_BITS(0x4),
		CNTR | GP_BITS(0x209),
		CNTR | GP_BITS(0x3ff) | FIXED_BITS(0xf),
		CNTR | FIXED_BITS(0x5),
		CNTR | GP_BITS(0x8) | FIXED_BITS(0x3),
		METRICS,
		METRICS | CNTR | GP_BITS(0x21) | FIXED_BITS(0x8),
		METRICS | 0x3,
		GP_BITS(0x3) | FIXED_BITS(0x1),
		CNTR | GP_BITS(0x81) | FIXED_BITS(0x2) | LBR_OF(4) | 0x7,
		METRICS | CNTR | GP_BITS(0x3ff) | FIXED_BITS(0xf) | LBR_OF(32) | 0x7,
	};
	bool right = true;

	fixture_wrmsr(r, 0x14ce, 0x7f0001);
	for (unsigned i = 0; i < sizeof(configs) / sizeof(configs[0]); i++)
		right = right && group_is_right(r, configs[i], 5 + 3 * i);
	return right;
}

/* A counter that isn't adaptive has the basic group alone. */
static bool others_have_no_group(struct fixture *r)
{
	set_up(r, CNTR | METRICS | GP_BITS(0x3));
	fixture_stop(r);
	fixture_program_pebs(r, SAMPLED, LOADS, 0, 2);
	fixture_start(r, BIT(SAMPLED));
	loads(r, 3);
	return fixture_index(r) == FIXTURE_BUFFER + 0x20 &&
	       (at(r, 0) & 0xffff0000ffffffff) == 0x20ULL << 48;
}

/* The counter, with PEBS, has made a record: its value is then the reset value plus a little. */
static bool is_reloaded(struct fixture *r, unsigned bit, u32 msr, u32 written_at, u64 wanted)
{
	fixture_stop(r);
	empty_buffer(r);
	for (unsigned slot = 0; slot < 39; slot++)
		fixture_poke(r, FIXTURE_DS + 0x40 + 8 * slot, 0x10000 * (slot + 1));
	fixture_wrmsr(r, 0x390, BIT(bit));
	fixture_wrmsr(r, written_at, MINUS(2));
	fixture_wrmsr(r, 0x3f1, BIT(bit));
	fixture_start(r, BIT(bit));
	for (unsigned i = 0; i < 100 && fixture_index(r) == FIXTURE_BUFFER; i++)
		fixture_nops(r, 1);
	return get(r, msr) - wanted <= 8;
}

/* Each slot has a different value: IA32_PMCn's at 40H + 8n, fixed counter i's at 140H + 8i. */
static bool slots_are_those_of_format_5(struct fixture *r)
{
	bool right = true;

	fixture_wrmsr(r, 0x38d, 0x3333);
	for (unsigned n = 0; n < 10; n++) {
		fixture_wrmsr(r, 0x186 + n, INST | 0x430000);
		right = right && is_reloaded(r, n, 0xc1 + n, 0x4c1 + n, 0x10000 * (n + 1));
	}
	for (unsigned i = 0; i < 4; i++)
		right = right && is_reloaded(r, 32 + i, 0x309 + i, 0x309 + i, 0x10000 * (i + 33));
	return right;
}

/* Local memory, Linux lnl_latency_data and its table of Lion Cove. */
RULE(memory_has_the_code_of_lion_cove, (source_of_far_load(r, SAMPLED, 0x01cd) & 0xff) == 0x11)

/* Bits 9:8 and 63:14 have no name; 13:12 say that a load was blocked. */
RULE(nameless_bits_are_0, !(source_of_far_load(r, SAMPLED, 0x01cd) & ~0x3cffULL))
RULE(a_load_alone_is_not_blocked, !(source_of_far_load(r, SAMPLED, 0x01cd) & 0x3000))

/* The first load is one from memory, the others hit the L1. */
static bool a_locked_load_has_a_code_of_the_table(struct fixture *r)
{
	enum { SOURCE_AT = 0x28, ROUNDS = 200 };
	u64 code;

	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, 1);
	fixture_wrmsr(r, 0x3f6, 3);
	fixture_program_pebs(r, SAMPLED, 0x01cd, BIT(34), 2);
	fixture_start(r, BIT(SAMPLED));
	for (unsigned i = 0; i < ROUNDS && fixture_index(r) == FIXTURE_BUFFER; i++)
		fixture_locked_add(r, ADDRESS);
	fixture_stop(r);
	code = at(r, SOURCE_AT) & 0xff;
	return code == 0x01 || code == 0x11;
}

rule *const lioncove_rules[FAULT_COUNT] = {
	[FAULT_SNAPSHOT_MISSING] = snapshots_are_right,
	[FAULT_SNAPSHOT_DOUBLED] = snapshots_are_right,
	[FAULT_SNAPSHOT_LONG] = snapshots_are_right,
	[FAULT_SNAPSHOT_BEFORE_LBR] = snapshots_are_right,
	[FAULT_SNAPSHOT_HEAD_SHORT] = snapshots_are_right,
	[FAULT_SNAPSHOT_ALWAYS] = snapshots_are_right,
	[FAULT_SNAPSHOT_ALL] = snapshots_are_right,
	[FAULT_SNAPSHOT_FIXED_DROPPED] = snapshots_are_right,
	[FAULT_SNAPSHOT_WORDS_EXCHANGED] = snapshots_are_right,
	[FAULT_SNAPSHOT_REFUSED] = snapshots_are_right,
	[FAULT_SNAPSHOT_METRICS_MISSING] = snapshots_are_right,
	[FAULT_SNAPSHOT_METRICS_WORD] = snapshots_are_right,
	[FAULT_SNAPSHOT_METRICS_FIRST] = snapshots_are_right,
	[FAULT_SNAPSHOT_METRICS_ZERO] = snapshots_are_right,
	[FAULT_SNAPSHOT_SLOTS_OF_CYCLES] = snapshots_are_right,
	[FAULT_SNAPSHOT_FIXED_FIRST] = snapshots_are_right,
	[FAULT_SNAPSHOT_HIGH_FIRST] = snapshots_are_right,
	[FAULT_SNAPSHOT_WITHOUT_GAPS] = snapshots_are_right,
	[FAULT_SNAPSHOT_STALE] = snapshots_are_right,
	[FAULT_SNAPSHOT_AS_WRITTEN] = snapshots_are_right,
	[FAULT_SNAPSHOT_EVERYWHERE] = others_have_no_group,
	[FAULT_LL_SOURCE_4_BITS] = memory_has_the_code_of_lion_cove,
	[FAULT_LL_SOURCE_OF_SKYLAKE] = memory_has_the_code_of_lion_cove,
	[FAULT_LL_SOURCE_BIT_9] = nameless_bits_are_0,
	[FAULT_LL_BLOCKED_ALWAYS] = a_load_alone_is_not_blocked,
	[FAULT_LL_LOCKED_CODE_7] = a_locked_load_has_a_code_of_the_table,
	[FAULT_RESET_SLOTS_OF_FORMAT_4] = slots_are_those_of_format_5,
	[FAULT_RESET_SLOTS_END] = slots_are_those_of_format_5,
};
