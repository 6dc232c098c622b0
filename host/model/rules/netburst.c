/* SPDX-License-Identifier: MIT */
/*
 * Rules of NetBurst's PMU, for the faults of refpmu/faults/fault_netburst.def: see rules.h.
 * Addresses, select numbers and bits are those of Tables 18-63 to 18-67, 19-28 to 19-33 and Figures
 * 17-7 and 17-8.
 */
#include "host/model/rules/netburst.h"

/* ---- which threads and levels are counted ---- */

/* Table 18-66: one, two, four and eight instructions in the four situations. */
static bool flags_select(struct netburst_fixture *r)
{
	for (u64 flags = 0; flags < 16; flags++) {
		u64 before;

		instructions(r, flags, ENABLE, 0);
		before = value(r, 12);
		nbfixture_nops(r, 0, false, 1);
		nbfixture_nops(r, 0, true, 2);
		nbfixture_nops(r, 1, false, 4);
		nbfixture_nops(r, 1, true, 8);
		if (value(r, 12) - before != !!(flags & T0O) * 1u + !!(flags & T0U) * 2u +
						     !!(flags & T1O) * 4u + !!(flags & T1U) * 8u)
			return false;
		nbfixture_set(r, 0, CCCR(12), 0);
	}
	return true;
}

static bool usr_is_cpl_1_too(struct netburst_fixture *r)
{
	r->user_cpl = 1;
	return flags_select(r);
}

/* T0_OS and conditional branches of T0 at CPL 2, on MSR_MS_COUNTER3. */
static bool os_is_cpl_0_of_branches_too(struct netburst_fixture *r)
{
	r->user_cpl = 2;
	program(r, 7, 0x3c3, 2, escr(4, BIT(1), T0O), ENABLE, 0);
	nbfixture_retire(r, 0, true, &(struct model_retired){ .branch = BRANCH_CONDITIONAL });
	return value(r, 7) == 0;
}

/* Both OS flags are set; T0 adds at CPL 1 while T1 is at CPL 3. */
static bool os_is_cpl_0_of_additions_too(struct netburst_fixture *r)
{
	program(r, 8, 0x3a4, 1, escr(8, BIT(15), T0O | T1O), ENABLE, 0);
	nbfixture_nops(r, 1, true, 1);
	r->user_cpl = 1;
	nbfixture_compute(r, 0, true, ARITHMETIC_PACKED_SP);
	return value(r, 8) == 0;
}

/* ---- counting ---- */

/* MSR_FIRM_ESCR0 counts packed additions; select 3 is MSR_U2L_ESCR0. */
static bool select_3_is_another_escr(struct netburst_fixture *r)
{
	program(r, 8, 0x3a4, 3, escr(8, BIT(15), 15), ENABLE, 0);
	nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	return value(r, 8) == 0;
}

/* ---- filters ---- */

static u64 filtered(struct netburst_fixture *r, u64 filter)
{
	u64 before;

	instructions(r, T0O, ENABLE | filter, 0);
	before = value(r, 12);
	nbfixture_nops(r, 0, false, 5);
	before = value(r, 12) - before;
	nbfixture_set(r, 0, CCCR(12), 0);
	return before;
}

NETBURST_RULE(edge_needs_compare, filtered(r, EDGE) == 5)

/* Uops of a load and store are three, and of a NOP one: uops_retired on MSR_IQ_COUNTER0. */
static u64 uops(struct netburst_fixture *r, u64 cccr)
{
	program(r, 12, 0x3b8, 4, escr(1, 3, T0U), ENABLE | COMPARE | cccr, 0);
	for (unsigned i = 0; i < 4; i++) {
		struct model_retired both = { .loads = 1, .stores = 1 };

		nbfixture_retire(r, 0, true, &both);
		nbfixture_nops(r, 0, true, 1);
	}
	return value(r, 12);
}

NETBURST_RULE(compare_counts_one, uops(r, THRESHOLD(0)) == 8)
NETBURST_RULE(middle_thresholds, uops(r, THRESHOLD(2)) == 4 && uops(r, THRESHOLD(3)) == 0)
NETBURST_RULE(edges_by_each_bit_of_the_threshold,
	      uops(r, EDGE | THRESHOLD(1)) == 4 && uops(r, EDGE | THRESHOLD(2)) == 4 &&
		      uops(r, EDGE | THRESHOLD(4)) == 0 && uops(r, EDGE | THRESHOLD(8)) == 0)

/* At CPL 0, where the fixture's branches run, with only the other thread's flags. */
static bool branches_are_of_one_thread(struct netburst_fixture *r, unsigned n, u32 msr,
				       unsigned select, u64 value_of_escr)
{
	program(r, n, msr, select, value_of_escr, ENABLE, 0);
	nbfixture_branch(r, 0, BRANCH_RETURN, true);
	return value(r, n) == 0;
}

NETBURST_RULE(branch_retired_is_specific,
	      branches_are_of_one_thread(r, 12, 0x3cc, 5, escr(6, 15, T1O)))

/* mispred_branch_retired: a branch that alternates between taken and not taken. */
static bool mispredictions_make_no_records(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, PEBS, MY);
	nbfixture_ds(r, 4, 4, TOP - 1);
	program(r, 16, 0x3b8, 4, escr(3, 1, 15), ENABLE, TOP - 1);
	for (unsigned i = 0; i < 8; i++) {
		r->ip[0] = 0x1000;
		nbfixture_branch(r, 0, BRANCH_CONDITIONAL, i % 2 == 0);
	}
	return value(r, 16) < 8 && nbfixture_records(r, 0) == 0;
}

/* Backward branches, of which every second one isn't taken, and so is mispredicted. */
static u64 of_branches(struct netburst_fixture *r, unsigned n, u32 msr, unsigned select,
		       u64 value_of_escr)
{
	program(r, n, msr, select, value_of_escr, ENABLE, 0);
	for (unsigned i = 0; i < 8; i++)
		nbfixture_retire(r, 0, false,
				 &(struct model_retired){ .branch = BRANCH_CONDITIONAL,
							  .taken = i % 2,
							  .backward = true });
	return value(r, n);
}

NETBURST_RULE(mispred_branch_retired_counts_those,
	      of_branches(r, 12, 0x3b8, 4, escr(3, 1, T0O)) == 4)
NETBURST_RULE(branch_retired_counts_mispredicted,
	      of_branches(r, 12, 0x3cc, 5, escr(6, 2 | 8, T0O)) == 4)
NETBURST_RULE(branch_retired_goes_by_the_mask_of_each_escr,
	      of_branches(r, 14, 0x3cd, 5, escr(6, 4 | 8, T0O)) == 4)
NETBURST_RULE(mispred_branch_retired_goes_by_its_flags,
	      of_branches(r, 12, 0x3b8, 4, escr(3, 1, T0U)) == 0)

/* One branch to the address in a register. */
static u64 of_indirect(struct netburst_fixture *r, enum model_branch branch, unsigned n, u32 msr,
		       unsigned select, u64 value_of_escr)
{
	program(r, n, msr, select, value_of_escr, ENABLE, 0);
	nbfixture_retire(r, 0, false,
			 &(struct model_retired){
				 .branch = branch, .taken = true, .indirect = true });
	return value(r, n);
}

NETBURST_RULE(branch_retired_counts_indirect_jumps,
	      of_indirect(r, BRANCH_JUMP, 12, 0x3cc, 5, escr(6, 15, T0O)) == 1)
NETBURST_RULE(indirect_calls_are_calls,
	      of_indirect(r, BRANCH_CALL, 4, 0x3c2, 2, escr(4, BIT(2), 15)) == 1)

/* ---- overflow ---- */

static bool ovf_is_cleared_while_enabled(struct netburst_fixture *r)
{
	instructions(r, T0O, ENABLE, TOP - 2);
	nbfixture_nops(r, 0, false, 5);
	if (!(nbfixture_get(r, 0, CCCR(12)) & NB_CCCR_OVF))
		return false;
	nbfixture_set(r, 0, CCCR(12), SELECT(4) | ANY | ENABLE);
	return !(nbfixture_get(r, 0, CCCR(12)) & NB_CCCR_OVF);
}

/* A counter of the MS group, and one of the FLAME group. */
static bool ms_goes_on_from_0(struct netburst_fixture *r)
{
	program(r, 4, 0x3c2, 2, escr(4, BIT(1), 15), ENABLE, TOP - 1);
	for (unsigned i = 0; i < 4; i++)
		nbfixture_branch(r, 0, BRANCH_CONDITIONAL, true);
	return value(r, 4) == 2;
}

static bool flame_goes_on(struct netburst_fixture *r)
{
	program(r, 8, 0x3a4, 1, escr(8, BIT(15), 15), ENABLE, TOP - 1);
	for (unsigned i = 0; i < 4; i++)
		nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	return value(r, 8) == 2;
}

/* A counter with FORCE_OVF: each increment overflows, without a PMI and with one to T0, to T1, to
 * both. */
static bool forced_overflows_are_all(struct netburst_fixture *r)
{
	program(r, 8, 0x3a4, 1, escr(8, BIT(15), 15), ENABLE | BIT(25), 0);
	for (unsigned i = 0; i < 8; i++) {
		nbfixture_set(r, 0, CCCR(8),
			      SELECT(1) | ANY | ENABLE | BIT(25) | (u64)(i / 2) << 26);
		nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
		if (!(nbfixture_get(r, 0, CCCR(8)) & NB_CCCR_OVF))
			return false;
	}
	return true;
}

static bool flame_3_interrupts_with_the_next_count(struct netburst_fixture *r)
{
	program(r, 11, 0x3a5, 1, escr(8, BIT(15), 15), ENABLE | BIT(26), TOP);
	nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	nbfixture_nops(r, 0, false, 1);
	return !r->requests[0] && value(r, 11) == 0;
}

/* ---- cascades ---- */

static bool cascade_is_asked_for(struct netburst_fixture *r)
{
	program(r, 14, 0x3b9, 4, escr(2, 3, T0O), 0, 0);
	instructions(r, T0O, ENABLE, TOP);
	nbfixture_nops(r, 0, false, 5);
	return value(r, 14) == 0;
}

/* 12 starts 14, and doesn't start 15; 16 starts neither. */
static bool cascade(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, 0x3b9, escr(2, 3, T0O));
	nbfixture_set(r, 0, CCCR(14), SELECT(4) | ANY | CASCADE);
	nbfixture_set(r, 0, CCCR(15), SELECT(4) | ANY | CASCADE);
	instructions(r, T0O, ENABLE, TOP - 2);
	nbfixture_nops(r, 0, false, 3);
	if (value(r, 14) || value(r, 15))
		return false;
	nbfixture_nops(r, 0, false, 5);
	return value(r, 14) == 5 && value(r, 15) == 0;
}

/* 12 starts 14 twice; in between the CCCR is written, including its flag. */
static bool cascades_again(struct netburst_fixture *r)
{
	u64 before;

	if (!cascade(r))
		return false;
	nbfixture_set(r, 0, CCCR(12), 0);
	nbfixture_set(r, 0, CCCR(14), SELECT(4) | ANY | CASCADE);
	instructions(r, T0O, ENABLE, TOP - 2);
	before = value(r, 14);
	nbfixture_nops(r, 0, false, 8);
	return value(r, 14) == before + 5;
}

/* 12 starts 14; the OVF flags of both are set. */
static bool cascades_beside_ovf(struct netburst_fixture *r)
{
	program(r, 14, 0x3b9, 4, escr(2, 3, T0O), CASCADE | BIT(31), 0);
	instructions(r, T0O, ENABLE | BIT(31), TOP - 2);
	nbfixture_nops(r, 0, false, 8);
	return value(r, 14) == 5;
}

/* 12 and 13 overflow on the third instruction, and start 14 and 15. */
static bool two_start_two(struct netburst_fixture *r)
{
	for (unsigned n = 12; n < 16; n++)
		program(r, n, n < 14 ? 0x3b8 : 0x3b9, 4, escr(2, 3, T0U), n < 14 ? ENABLE : CASCADE,
			n < 14 ? TOP - 2 : 0);
	nbfixture_nops(r, 0, true, 8);
	return value(r, 14) == 5 && value(r, 15) == 5;
}

/* 12 starts 14, whose overflow starts 16. */
static bool cascades_in_a_chain(struct netburst_fixture *r)
{
	program(r, 14, 0x3b9, 4, escr(2, 3, T0O), CASCADE, TOP - 1);
	program(r, 16, 0x3b8, 4, escr(2, 3, T0O), CASCADE, 0);
	instructions(r, T0O, ENABLE, TOP);
	nbfixture_nops(r, 0, false, 8);
	return value(r, 16) > 0;
}

/* 14 starts 12 and 16. */
static bool one_starts_two(struct netburst_fixture *r)
{
	program(r, 12, 0x3b8, 4, escr(2, 3, T0O), CASCADE, 0);
	program(r, 16, 0x3b8, 4, escr(2, 3, T0O), CASCADE, 0);
	program(r, 14, 0x3b9, 4, escr(2, 3, T0O), ENABLE, TOP - 2);
	nbfixture_nops(r, 0, false, 8);
	return value(r, 12) == 5 && value(r, 16) == 5;
}

static bool extended_cascade(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, CCCR(12), SELECT(4) | ANY | BIT(11));
	program(r, 16, 0x3b8, 4, escr(2, 3, T0O), ENABLE, TOP - 2);
	nbfixture_nops(r, 0, false, 3);
	if (value(r, 12))
		return false;
	nbfixture_nops(r, 0, false, 5);
	return value(r, 12) == 5;
}

/* 16 starts 12 again, which overflows; both had this OVF flag before. */
static bool extended_once_more(struct netburst_fixture *r, u64 ovf)
{
	nbfixture_set(r, 0, CCCR(16), 0);
	nbfixture_set(r, 0, CCCR(12), SELECT(4) | ANY | BIT(11) | ovf);
	nbfixture_set(r, 0, COUNTER(12), TOP);
	program(r, 16, 0x3b8, 4, escr(2, 3, T0O), ENABLE | ovf, TOP - 2);
	nbfixture_nops(r, 0, false, 8);
	return value(r, 12) == 4 && nbfixture_get(r, 0, CCCR(12)) & BIT(31);
}

NETBURST_RULE(extended_cascades_again,
	      extended_cascade(r) && extended_once_more(r, 0) && extended_once_more(r, BIT(31)))

/* ---- tags ---- */

/* The first access to page n is a load or a store. */
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

static bool netburst_replay_needs_all(struct netburst_fixture *r)
{
	return replayed(r, BIT(2), 1, 0, false) == 0 && replayed(r, UOP_TAG, 1, 1, false) == 0 &&
	       replayed(r, BIT(2) | UOP_TAG, 0, 2, false) == 0 &&
	       replayed(r, BIT(2) | UOP_TAG, 2, 3, false) == 0 &&
	       replayed(r, BIT(2) | UOP_TAG, 1, 4, false) == 1 &&
	       replayed(r, BIT(2) | UOP_TAG, 2, 5, true) == 1 &&
	       replayed(r, BIT(0) | UOP_TAG, 1, 6, false) == 1 &&
	       replayed(r, BIT(0) | UOP_TAG, 1, 6, true) == 0;
}

/* One locked addition has accessed a new page across a line's end. */
static u64 replayed_locked(struct netburst_fixture *r, u64 metric, u64 linear)
{
	struct model_retired add = { .loads = 1, .stores = 1, .n_access = 2,
				     .access = { { linear, 8, false, true },
						 { linear, 8, true, true } } };

	nbfixture_set(r, 0, PEBS, metric | UOP_TAG);
	nbfixture_set(r, 0, VERT, 1);
	program(r, 10, 0x3af, 2, escr(4, 2, 15), ENABLE, 0);	/* load_port_replay, SPLIT_LD */
	program(r, 12, 0x3cc, 5, escr(9, 1, 15), ENABLE, 0);
	nbfixture_retire(r, 0, false, &add);
	return value(r, 12);
}

static bool netburst_locked_ones_are_not_replayed(struct netburst_fixture *r)
{
	return replayed_locked(r, BIT(2), 0x7100000) == 0 &&
	       replayed_locked(r, BIT(10), 0x710003c) == 0;
}

static bool split_store_with_both_bits(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, PEBS, BIT(10) | UOP_TAG);
	nbfixture_set(r, 0, VERT, 3);
	program(r, 8, 0x3ae, 2, escr(5, 2, 15), ENABLE, 0);	/* store_port_replay, SPLIT_ST */
	program(r, 12, 0x3cc, 5, escr(9, 1, 15), ENABLE, 0);
	nbfixture_store(r, 0, NBFIXTURE_DATA + 0x3c);
	return value(r, 12) == 1;
}

static u64 load_behind_store(struct netburst_fixture *r, u64 store, u64 load, u32 bytes)
{
	struct model_retired i = {
		.loads = 1, .n_access = 1,
		.access[0] = { .linear = NBFIXTURE_DATA + load, .bytes = (u16)bytes },
	};
	u64 before = value(r, 12);

	nbfixture_nops(r, 0, false, 100);	/* so that no load waits for an older store */
	nbfixture_store(r, 0, NBFIXTURE_DATA + store);
	nbfixture_retire(r, 0, false, &i);
	return value(r, 12) - before;
}

/* Loads of eight bytes after a store of eight: PARTIAL_DATA is mask bit 4, UNALGN_ADDR bit 5. */
static bool netburst_loads_wait(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, PEBS, BIT(9) | UOP_TAG);
	nbfixture_set(r, 0, VERT, 1);
	program(r, 0, 0x3aa, 2, escr(3, BIT(4), 15), ENABLE, 0);
	program(r, 12, 0x3cc, 5, escr(9, 1, 15), ENABLE, 0);
	if (load_behind_store(r, 0, 4, 8) != 1 || load_behind_store(r, 4, 0, 8) != 1 ||
	    load_behind_store(r, 0, 0, 8) || load_behind_store(r, 0, 8, 8) ||
	    load_behind_store(r, 0, 4, 4))
		return false;
	nbfixture_set(r, 0, 0x3aa, escr(3, BIT(5), 15));
	return load_behind_store(r, 0, 4, 8) == 0 && load_behind_store(r, 0, 4, 4) == 1;
}

NETBURST_RULE(two_escrs_tag_alike, netburst_two_tags(r, BIT(6), BIT(0)))

static bool netburst_mispredictions_are_tagged(struct netburst_fixture *r)
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

/* One micro-operation is counted, and one is recorded, for each of the three events. */
static bool netburst_three_events_sample(struct netburst_fixture *r)
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

static bool netburst_both_sample(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, PEBS, MY | OTHER);
	sample_both(r);
	return nbfixture_records(r, 0) == 1 && nbfixture_records(r, 1) == 1;
}

/* Two loads at CPL 3 too: one more record. */
static bool netburst_cpl_3_samples(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, PEBS, MY);
	nbfixture_ds(r, 4, 4, TOP);
	front_end(r, 16, 2, TOP - 1);
	for (unsigned i = 0; i < 2; i++)
		nbfixture_retire(r, 0, true,
				 &(struct model_retired){
					 .loads = 1,
					 .n_access = 1,
					 .access = { { NBFIXTURE_DATA, 8, false, false } } });
	return nbfixture_records(r, 0) == 1;
}

/* The fixture's memory, mapped a second time above 4 GiB. */
#define HIGH	BIT(32)
static bool (*fixture_write)(void *ctx, u64 linear, const void *from, size_t bytes);

static bool write_either(void *ctx, u64 linear, const void *from, size_t bytes)
{
	return fixture_write(ctx, linear & ~HIGH, from, bytes);
}

/* One record, with code and buffer above 4 GiB. */
static bool addresses_are_whole(struct netburst_fixture *r, unsigned t)
{
	enum { BASE = 0x20, INDEX = 0x28, RESET = 0x40, RIP = 8, BYTES = 0x90 };

	fixture_write = r->host[t].write;
	r->host[t].write = write_either;
	nbfixture_set(r, t, PEBS, MY);
	nbfixture_ds(r, 4, 4, TOP - 1);
	for (unsigned field = BASE; field < RESET; field += 8)
		nbfixture_poke(r, NBFIXTURE_DS(t) + field,
			       nbfixture_peek(r, NBFIXTURE_DS(t) + field, 8) | HIGH, 8);
	front_end(r, 16 + t, 2, TOP - 1);
	r->ip[t] |= HIGH;
	nbfixture_load(r, t, NBFIXTURE_DATA);
	nbfixture_load(r, t, NBFIXTURE_DATA);
	return nbfixture_peek(r, NBFIXTURE_DS(t) + INDEX, 8) ==
		       (NBFIXTURE_BUFFER(t) | HIGH) + BYTES &&
	       nbfixture_record(r, t, 0, RIP) & HIGH;
}

NETBURST_RULE(netburst_addresses_are_whole, addresses_are_whole(r, 0))
NETBURST_RULE(netburst_addresses_of_t1_are_whole, addresses_are_whole(r, 1))

/* One record; the absolute maximum is in the middle of the second one. */
static bool netburst_records_end_below_the_maximum(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, PEBS, MY);
	nbfixture_ds(r, 1, 4, TOP);
	nbfixture_poke(r, NBFIXTURE_DS(0) + 0x30, NBFIXTURE_BUFFER(0) + 0x90 + 0x48, 8);
	front_end(r, 16, 2, TOP);
	for (unsigned i = 0; i < 4; i++)
		nbfixture_load(r, 0, NBFIXTURE_DATA);
	return nbfixture_records(r, 0) == 1;
}

/* Two records; the lower halves of maximum and threshold are those of one record. */
static bool netburst_limits_are_whole(struct netburst_fixture *r)
{
	enum { MAXIMUM = 0x30, THRESHOLD_AT = 0x38 };

	nbfixture_set(r, 0, PEBS, MY);
	nbfixture_ds(r, 1, 1, TOP - 1);
	for (unsigned field = MAXIMUM; field <= THRESHOLD_AT; field += 8)
		nbfixture_poke(r, NBFIXTURE_DS(0) + field,
			       nbfixture_peek(r, NBFIXTURE_DS(0) + field, 8) | HIGH, 8);
	front_end(r, 16, 2, TOP - 1);
	for (unsigned i = 0; i < 4; i++)
		nbfixture_load(r, 0, NBFIXTURE_DATA);
	return nbfixture_records(r, 0) == 2 && !r->requests[0];
}

/* Bits 31 and 39 to 32 of the reset value differ. */
static bool netburst_reloads_all_bits(struct netburst_fixture *r)
{
	const u64 reset = 0xaaaaaaaa00;

	nbfixture_set(r, 0, PEBS, MY);
	nbfixture_ds(r, 4, 4, reset);
	front_end(r, 16, 2, TOP - 1);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	nbfixture_load(r, 0, NBFIXTURE_DATA);
	return value(r, 16) == reset;
}

static bool netburst_other_is_disabled(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, PEBS, MY | OTHER);
	nbfixture_set(r, 0, PEBS, MY);
	sample_both(r);
	return nbfixture_records(r, 0) == 1 && !nbfixture_records(r, 1);
}

/* OVF_PMI_T1 for a T1 that is halted, and runs afterwards. */
static bool netburst_halted_ones_are_interrupted(struct netburst_fixture *r)
{
	nbfixture_nops(r, 1, false, 1);
	nbfixture_halt(r, 1);
	instructions(r, T0O, ENABLE | BIT(27), TOP - 1);
	nbfixture_nops(r, 0, false, 4);
	nbfixture_nops(r, 1, false, 1);
	return r->requests[1] == 1 && !r->requests[0];
}

/* OVF_PMI_T0 and OVF_PMI_T1. */
static bool netburst_both_are_interrupted(struct netburst_fixture *r)
{
	instructions(r, T0O, ENABLE | BIT(26) | BIT(27), TOP - 1);
	nbfixture_nops(r, 0, false, 4);
	nbfixture_nops(r, 1, false, 1);
	return r->requests[0] == 1 && r->requests[1] == 1;
}

/* The counter overflows, and counts once more. Returns the interrupted threads: bit t. */
static unsigned interrupted(struct netburst_fixture *r, unsigned n, u32 msr, unsigned select,
			    u64 value_of_escr, u64 flags)
{
	program(r, n, msr, select, value_of_escr, ENABLE | flags, TOP);
	for (unsigned i = 0; i < 3; i++)
		nbfixture_branch(r, 0, BRANCH_CONDITIONAL, true);
	nbfixture_nops(r, 1, false, 1);
	return (r->requests[0] ? BIT(0) : 0) | (r->requests[1] ? BIT(1) : 0);
}

/* instr_retired on MSR_IQ_COUNTER4; conditional branches on MSR_MS_COUNTER3. */
NETBURST_RULE(flag_of_t0_interrupts_t0,
	      interrupted(r, 16, 0x3b8, 4, escr(2, 3, T0O), BIT(26)) == BIT(0))
NETBURST_RULE(no_flag_interrupts_none,
	      interrupted(r, 7, 0x3c3, 2, escr(4, BIT(1), 15), 0) == 0 && value(r, 7) == 2)

static netburst_rule_fn *const netburst_rules[FAULT_COUNT] = {
#define FAULT_NB_CELL(token, name, requirements, flags, thread, user, title) \
	[FAULT_NB_CELL_##token] = flags_select,
#include "refpmu/faults/fault_netburst_cell.def"
	[FAULT_NB_PMI_LOST_HALTED] = netburst_halted_ones_are_interrupted,
	[FAULT_NB_PMI_FIRST_OF_TWO] = netburst_both_are_interrupted,
	[FAULT_NB_PMI_IQ_4_EXCHANGED] = flag_of_t0_interrupts_t0,
	[FAULT_NB_PMI_T0_BOTH] = flag_of_t0_interrupts_t0,
	[FAULT_NB_PMI_MS_UNASKED] = no_flag_interrupts_none,
	[FAULT_NB_MS_WRAPS_HIGH] = ms_goes_on_from_0,
	[FAULT_NB_FLAME_STOPS] = flame_goes_on,
	[FAULT_NB_FORCE_OVF_EVEN] = forced_overflows_are_all,
	[FAULT_NB_FORCED_HIDDEN_BY_PMI] = forced_overflows_are_all,
	[FAULT_NB_PMI_FLAME_3_EARLY] = flame_3_interrupts_with_the_next_count,
	[FAULT_NB_USR_CPL_3] = usr_is_cpl_1_too,
	[FAULT_NB_RELOAD_SIGN] = netburst_reloads_all_bits,
	[FAULT_NB_PEBS_OTHER_STAYS] = netburst_other_is_disabled,
	[FAULT_NB_EDGE_ALONE] = edge_needs_compare,
	[FAULT_NB_OVF_STICKS_ENABLED] = ovf_is_cleared_while_enabled,
	[FAULT_NB_CASCADE_UNASKED] = cascade_is_asked_for,
	[FAULT_NB_EDGE_THRESHOLD_0] = edges_by_each_bit_of_the_threshold,
	[FAULT_NB_EDGE_THRESHOLD_1] = edges_by_each_bit_of_the_threshold,
	[FAULT_NB_EDGE_THRESHOLD_2] = edges_by_each_bit_of_the_threshold,
	[FAULT_NB_EDGE_THRESHOLD_3] = edges_by_each_bit_of_the_threshold,
	[FAULT_NB_COMPARE_ADDS] = compare_counts_one,
	[FAULT_NB_THRESHOLD_MIDDLE] = middle_thresholds,
	[FAULT_NB_BRANCH_RETIRED_BOTH] = branch_retired_is_specific,
	[FAULT_NB_MISPRED_PEBS] = mispredictions_make_no_records,
	[FAULT_NB_MISPREDICTS_EACH] = mispred_branch_retired_counts_those,
	[FAULT_NB_MISPREDICTS_NONE] = mispred_branch_retired_counts_those,
	[FAULT_NB_PREDICTION_IGNORED] = branch_retired_counts_mispredicted,
	[FAULT_NB_PREDICTION_NEVER] = branch_retired_counts_mispredicted,
	[FAULT_NB_ESCR3_MASK_IGNORED] = branch_retired_goes_by_the_mask_of_each_escr,
	[FAULT_NB_MISPRED_FLAGS] = mispred_branch_retired_goes_by_its_flags,
	[FAULT_NB_BRANCH_RETIRED_NO_INDIRECT] = branch_retired_counts_indirect_jumps,
	[FAULT_NB_INDIRECT_NO_CALLS] = indirect_calls_are_calls,
	[FAULT_NB_TOGETHER_ONE_STARTS] = two_start_two,
	[FAULT_NB_CASCADE_LOWEST] = one_starts_two,
	[FAULT_NB_CASCADE_HIGHEST] = one_starts_two,
	[FAULT_NB_CASCADE_NEVER] = cascade,
	[FAULT_NB_CASCADE_AT_ONCE] = cascade,
	[FAULT_NB_CASCADE_NEIGHBOUR] = cascade,
	[FAULT_NB_CASCADE_16_INTO_14] = cascade,
	[FAULT_NB_CASCADE_ONCE] = cascades_again,
	[FAULT_NB_CASCADE_OWN_OVF] = cascades_beside_ovf,
	[FAULT_NB_CASCADE_FIRST_OVF] = cascades_beside_ovf,
	[FAULT_NB_ONE_TAG_OF_TWO] = two_escrs_tag_alike,
	[FAULT_NB_EXTENDED_NEVER] = extended_cascade,
	[FAULT_NB_EXTENDED_AT_ONCE] = extended_cascade,
	[FAULT_NB_PEBS_NO_EXECUTION] = netburst_three_events_sample,
	[FAULT_NB_PEBS_ONE_THREAD] = netburst_both_sample,
	[FAULT_NB_PEBS_USER_LOST] = netburst_cpl_3_samples,
	[FAULT_NB_MAXIMUM_32] = netburst_limits_are_whole,
	[FAULT_NB_THRESHOLD_32] = netburst_limits_are_whole,
	[FAULT_NB_BRANCH_TYPE_CPL_1] = os_is_cpl_0_of_branches_too,
	[FAULT_NB_FLAME_SELECT_3] = select_3_is_another_escr,
	[FAULT_NB_CASCADE_NO_CHAIN] = cascades_in_a_chain,
	[FAULT_NB_EXTENDED_ONCE] = extended_cascades_again,
	[FAULT_NB_EXTENDED_OWN_OVF] = extended_cascades_again,
	[FAULT_NB_EXTENDED_FIRST_OVF] = extended_cascades_again,
	[FAULT_NB_EXTENDED_NO_OVF] = extended_cascades_again,
	[FAULT_NB_MAXIMUM_OF_STARTS] = netburst_records_end_below_the_maximum,
	[FAULT_NB_RIP_32_T1] = netburst_addresses_of_t1_are_whole,
	[FAULT_NB_TI_USR_CPL_3] = os_is_cpl_0_of_additions_too,
	[FAULT_NB_RIP_32] = netburst_addresses_are_whole,
	[FAULT_NB_INDEX_32] = netburst_addresses_are_whole,
	[FAULT_NB_UOP_TAG_IGNORED] = netburst_replay_needs_all,
	[FAULT_NB_SPLIT_STORES_LOST_BESIDE_LOADS] = split_store_with_both_bits,
	[FAULT_NB_LOCKED_SPLITS_REPLAYED] = netburst_locked_ones_are_not_replayed,
	[FAULT_NB_LOCKED_WALKS_REPLAYED] = netburst_locked_ones_are_not_replayed,
	[FAULT_NB_MOB_REPLAY_SILENT] = netburst_loads_wait,
	[FAULT_NB_OVERLAP_BELOW_WHOLE] = netburst_loads_wait,
	[FAULT_NB_OVERLAP_ABOVE_WHOLE] = netburst_loads_wait,
	[FAULT_NB_UNALIGNED_PARTIAL] = netburst_loads_wait,
	[FAULT_NB_MISPRED_SILENT] = netburst_mispredictions_are_tagged,
};

bool netburst_has_rule(enum fault_id of)
{
	return netburst_rules[of] || netburst_each_rules[of];
}

bool netburst_rule(enum fault_id of, enum fault_id on)
{
	static struct netburst_fixture r;

	nbfixture_open(&r, on, true);
	return (netburst_rules[of] ? netburst_rules[of] : netburst_each_rules[of])(&r);
}
