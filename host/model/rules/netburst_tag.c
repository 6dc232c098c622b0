/* SPDX-License-Identifier: MIT */
/*
 * Rules of NetBurst's PMU about tagged micro-operations ("At-Retirement Counting") and records: see
 * netburst.c.
 */
#include "host/model/rules/netburst.h"

#include <string.h>

/* ---- tags ---- */

/* front_end_event with uop_type tagging what `mask` says, counter n of the even or odd IQ half. */
static void front_end(struct netburst_fixture *r, unsigned n, u64 mask, u64 from)
{
	bool odd = n & 1 ? n != 13 : n == 14;

	nbfixture_set(r, 0, odd ? 0x3bd : 0x3bc, escr(2, mask, 15));
	program(r, n, odd ? 0x3cd : 0x3cc, 5, escr(8, 1, 15), ENABLE, from);
}

bool netburst_loads_are_tagged(struct netburst_fixture *r)
{
	front_end(r, 12, 0, 0);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	if (value(r, 12))
		return false;
	front_end(r, 12, 2, 0);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	nbfixture_store(r, 0, NBFIXTURE_DATA);
	return value(r, 12) == 2;
}

bool netburst_counter_13_counts_tags(struct netburst_fixture *r)
{
	front_end(r, 13, 2, 0);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	return value(r, 13) == 2;
}

/* execution_event counts tag bit 0; the upstream ESCR sets `tag`, if it tags at all. */
static u64 executed(struct netburst_fixture *r, u64 tag, bool tags)
{
	u64 before;

	program(r, 8, 0x3a4, 1, escr(8, BIT(15), 15) | tag << 5 | (tags ? BIT(4) : 0), ENABLE, 0);
	program(r, 12, 0x3cc, 5, escr(0xc, 1, 15), ENABLE, 0);
	before = value(r, 12);
	nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_DP);
	nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	return value(r, 12) - before;
}

bool netburst_arithmetic_is_tagged(struct netburst_fixture *r)
{
	return executed(r, 1, false) == 0 && executed(r, 2, true) == 0 && executed(r, 1, true) == 2;
}

/* Page n is met for the first time by a load or a store. */
static u64 replayed(struct netburst_fixture *r, u64 enable, u64 vert, unsigned n, bool store)
{
	u64 before;

	nbfixture_set(r, 0, PEBS, enable);
	nbfixture_set(r, 0, VERT, vert);
	program(r, 12, 0x3cc, 5, escr(9, 1, 15), ENABLE, 0);
	before = value(r, 12);
	if (store)
		nbfixture_store(r, 0, 0x7000000 + 0x1000ULL * n);
	else
		nbfixture_load(r, 0, 0x7000000 + 0x1000ULL * n);
	return value(r, 12) - before;
}

bool netburst_replay_needs_all(struct netburst_fixture *r)
{
	return replayed(r, BIT(2), 1, 0, false) == 0 && replayed(r, UOP_TAG, 1, 1, false) == 0 &&
	       replayed(r, BIT(2) | UOP_TAG, 0, 2, false) == 0 &&
	       replayed(r, BIT(2) | UOP_TAG, 2, 3, false) == 0 &&
	       replayed(r, BIT(2) | UOP_TAG, 1, 4, false) == 1 &&
	       replayed(r, BIT(2) | UOP_TAG, 2, 5, true) == 1 &&
	       replayed(r, BIT(0) | UOP_TAG, 1, 6, false) == 1 &&
	       replayed(r, BIT(0) | UOP_TAG, 1, 6, true) == 0;
}

static u64 load_behind_store(struct netburst_fixture *r, u64 store, u64 load, u32 bytes)
{
	struct model_retired i = {
		.loads = 1, .n_access = 1,
		.access[0] = { .linear = NBFIXTURE_DATA + load, .bytes = (u16)bytes },
	};
	u64 before = value(r, 12);

	nbfixture_nops(r, 0, false, 100);	/* nothing waits for older ones */
	nbfixture_store(r, 0, NBFIXTURE_DATA + store);
	nbfixture_retire(r, 0, false, &i);
	return value(r, 12) - before;
}

/* Loads of eight bytes after a store of eight: PARTIAL_DATA is mask bit 4, UNALGN_ADDR bit 5. */
bool netburst_loads_wait(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, PEBS, BIT(9) | UOP_TAG);
	nbfixture_set(r, 0, VERT, 1);
	program(r, 0, 0x3aa, 2, escr(3, BIT(4), 15), ENABLE, 0);
	program(r, 12, 0x3cc, 5, escr(9, 1, 15), ENABLE, 0);
	if (load_behind_store(r, 0, 4, 8) != 1 || load_behind_store(r, 0, 0, 8) ||
	    load_behind_store(r, 0, 8, 8) || load_behind_store(r, 0, 4, 4))
		return false;
	nbfixture_set(r, 0, 0x3aa, escr(3, BIT(5), 15));
	return load_behind_store(r, 0, 4, 8) == 0 && load_behind_store(r, 0, 4, 4) == 1;
}

bool netburst_mispredictions_are_tagged(struct netburst_fixture *r)
{
	u64 before;

	nbfixture_set(r, 0, PEBS, BIT(15) | BIT(16) | UOP_TAG);
	nbfixture_set(r, 0, VERT, BIT(4));
	program(r, 12, 0x3cc, 5, escr(9, 1, 15), ENABLE, 0);
	nbfixture_branch(r, 0, BRANCH_CALL, true);
	before = value(r, 12);
	for (unsigned i = 0; i < 64; i++)
		nbfixture_branch(r, 0, BRANCH_CONDITIONAL, i & 1);
	return !before && value(r, 12) > 0;
}

/* ---- PEBS ---- */

/* Two tagged loads of each logical processor, on the counters of both. */
static void sample_both(struct netburst_fixture *r)
{
	nbfixture_ds(r, 4, 4, TOP - 1);
	front_end(r, 16, 2, TOP - 1);
	front_end(r, 17, 2, TOP - 1);
	nbfixture_set(r, 0, 0x3cc, escr(8, 1, T0O));
	nbfixture_set(r, 0, 0x3cd, escr(8, 1, T1O));
	for (unsigned i = 0; i < 2; i++)
		for (unsigned t = 0; t < 2; t++)
			nbfixture_load(r, t, NBFIXTURE_DATA);
}

bool netburst_own_counter_samples(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, PEBS, MY);
	nbfixture_ds(r, 4, 4, TOP - 1);
	front_end(r, 13, 2, TOP - 1);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	nbfixture_set(r, 0, CCCR(13), 0);
	if (nbfixture_records(r, 0))
		return false;
	front_end(r, 17, 2, TOP - 1);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	nbfixture_set(r, 0, CCCR(17), 0);
	return nbfixture_records(r, 0) == 0;
}

bool netburst_precise_events_only(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, PEBS, MY);
	nbfixture_ds(r, 4, 4, TOP - 1);
	program(r, 16, 0x3b8, 4, escr(2, 3, 15), ENABLE, TOP - 1);
	nbfixture_nops(r, 0, false, 5);
	return nbfixture_records(r, 0) == 0;
}

/* One micro-operation that is counted, and one that is recorded, of each of the three events. */
bool netburst_three_events_sample(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, PEBS, MY | BIT(2) | UOP_TAG);
	nbfixture_set(r, 0, VERT, 1);
	nbfixture_ds(r, 4, 4, TOP - 1);
	front_end(r, 16, 2, TOP - 1);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	if (nbfixture_records(r, 0) != 1)
		return false;
	program(r, 8, 0x3a4, 1, escr(8, BIT(15), 15) | 1 << 5 | BIT(4), ENABLE, 0);
	program(r, 16, 0x3cc, 5, escr(0xc, 1, 15), ENABLE, TOP - 1);
	nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	if (nbfixture_records(r, 0) != 2)
		return false;
	program(r, 16, 0x3cc, 5, escr(9, 1, 15), ENABLE, TOP - 1);
	nbfixture_load(r, 0, 0x7000000);
	nbfixture_load(r, 0, 0x7001000);
	return nbfixture_records(r, 0) == 3;
}

bool netburst_my_thread(struct netburst_fixture *r)
{
	nbfixture_set(r, 1, PEBS, MY);
	sample_both(r);
	return nbfixture_records(r, 0) == 0 && nbfixture_records(r, 1) == 1;
}

bool netburst_nobody_asked(struct netburst_fixture *r)
{
	sample_both(r);
	return nbfixture_records(r, 0) + nbfixture_records(r, 1) == 0;
}

bool netburst_both_sample(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, PEBS, MY | OTHER);
	sample_both(r);
	return nbfixture_records(r, 0) == 1 && nbfixture_records(r, 1) == 1;
}

bool netburst_areas_are_own(struct netburst_fixture *r)
{
	nbfixture_ds(r, 4, 4, 0);
	return nbfixture_get(r, 0, 0x600) == NBFIXTURE_DS(0) &&
	       nbfixture_get(r, 1, 0x600) == NBFIXTURE_DS(1);
}

/* The third load's record, all of it, and then what follows an assist. */
bool netburst_whole_record(struct netburst_fixture *r)
{
	static const u8 order[16] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
				      REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11,
				      REG_R12, REG_R13, REG_R14, REG_R15 };
	struct model_registers regs;
	u64 ip;

	nbfixture_set(r, 0, PEBS, MY);
	nbfixture_ds(r, 4, 4, TOP - 9);
	front_end(r, 16, 2, TOP - 2);
	memset(r->memory + 0x2000, 0x5e, 0x1000);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	regs = r->regs[0];
	ip = r->ip[0];
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	if (nbfixture_record(r, 0, 0, 0) != regs.rflags || nbfixture_record(r, 0, 0, 8) != ip)
		return false;
	for (unsigned i = 0; i < 16; i++)
		if (nbfixture_record(r, 0, 0, 0x10 + 8 * i) != regs.gpr[order[i]])
			return false;
	return nbfixture_record(r, 0, 0, 0x90) == 0x5e5e5e5e5e5e5e5e;
}

bool netburst_reload_and_index(struct netburst_fixture *r)
{
	return netburst_whole_record(r) && value(r, 16) == TOP - 9 &&
	       nbfixture_peek(r, NBFIXTURE_DS(0) + 0x28, 8) == NBFIXTURE_BUFFER(0) + 0x90;
}

bool netburst_ends_at_maximum(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, PEBS, MY);
	nbfixture_ds(r, 2, 9, TOP);
	front_end(r, 16, 2, TOP);
	for (unsigned i = 0; i < 5; i++)
		nbfixture_load(r, 0, NBFIXTURE_DATA);
	return nbfixture_records(r, 0) == 2;
}

bool netburst_threshold_interrupts(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, PEBS, MY);
	nbfixture_ds(r, 4, 2, TOP);
	front_end(r, 16, 2, TOP);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	if (r->requests[0])
		return false;
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	return r->requests[0] == 1 && r->requests[1] == 0;
}
