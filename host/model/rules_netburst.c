/* SPDX-License-Identifier: MIT */
/*
 * Rules of NetBurst's PMU, for the faults of spec/fault_netburst.def: see rules.c. Addresses,
 * select numbers and bits are those of Tables 18-63 to 18-67, 19-28 to 19-33 and Figures 17-7
 * and 17-8.
 */
#include "host/model/netburst_rig.h"
#include "host/model/rules_internal.h"

#include <string.h>

typedef bool netburst_rule_fn(struct netburst_rig *r);

#define T1U	BIT(0)
#define T1O	BIT(1)
#define T0U	BIT(2)
#define T0O	BIT(3)
#define ENABLE	BIT(12)
#define SELECT(n) ((u64)(n) << 13)
#define ANY	(3ULL << 16)
#define COMPARE	BIT(18)
#define COMPLEMENT BIT(19)
#define THRESHOLD(n) ((u64)(n) << 20)
#define EDGE	BIT(24)
#define FORCE	BIT(25)
#define PMI_T0	BIT(26)
#define PMI_T1	BIT(27)
#define CASCADE	BIT(30)
#define OVF	BIT(31)
#define TOP	BITS(0, 39)
#define COUNTER(n) (0x300u + (n))
#define CCCR(n)	(0x360u + (n))
#define PEBS	0x3f1
#define VERT	0x3f2
#define MY	BIT(25)
#define OTHER	BIT(26)
#define UOP_TAG	BIT(24)

static u64 escr(unsigned event, u64 mask, u64 flags)
{
	return (u64)event << 25 | mask << 9 | flags;
}

/* Counter n, which its CCCR gives ESCR number `select`, at this MSR. */
static void program(struct netburst_rig *r, unsigned n, u32 escr_msr, unsigned select, u64 value,
		    u64 cccr, u64 from)
{
	nbrig_set(r, 0, COUNTER(n), from);
	nbrig_set(r, 0, escr_msr, value);
	nbrig_set(r, 0, CCCR(n), SELECT(select) | ANY | cccr);
}

/* instr_retired on MSR_IQ_COUNTER0. */
static void instructions(struct netburst_rig *r, u64 flags, u64 cccr, u64 from)
{
	program(r, 12, 0x3b8, 4, escr(2, 3, flags), cccr, from);
}

static u64 value(struct netburst_rig *r, unsigned n)
{
	return nbrig_get(r, 0, COUNTER(n));
}

/* ---- who is counted ---- */

/* Table 18-66: one, two, four and eight instructions in the four situations. */
static bool flags_select(struct netburst_rig *r)
{
	for (u64 flags = 0; flags < 16; flags++) {
		u64 before;

		instructions(r, flags, ENABLE, 0);
		before = value(r, 12);
		nbrig_nops(r, 0, false, 1);
		nbrig_nops(r, 0, true, 2);
		nbrig_nops(r, 1, false, 4);
		nbrig_nops(r, 1, true, 8);
		if (value(r, 12) - before != !!(flags & T0O) * 1u + !!(flags & T0U) * 2u +
					     !!(flags & T1O) * 4u + !!(flags & T1U) * 8u)
			return false;
		nbrig_set(r, 0, CCCR(12), 0);
	}
	return true;
}

/* packed_SP_uop on MSR_FLAME_COUNTER0: Table 18-67. */
static bool independent(struct netburst_rig *r)
{
	program(r, 8, 0x3a4, 1, escr(8, BIT(15), T0U), ENABLE, 0);
	nbrig_nops(r, 1, true, 1);
	nbrig_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	nbrig_compute(r, 1, true, ARITHMETIC_PACKED_SP);
	if (value(r, 8) != 2)
		return false;
	nbrig_nops(r, 1, false, 1);
	nbrig_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	return value(r, 8) == 2;
}

/* One active, then both. */
static bool active_threads(struct netburst_rig *r)
{
	nbrig_halt(r, 1);
	nbrig_set(r, 0, COUNTER(12), 0);
	nbrig_set(r, 0, 0x3b8, escr(2, 3, T0O));
	nbrig_set(r, 0, CCCR(12), ENABLE | SELECT(4) | 1u << 16);
	nbrig_nops(r, 0, false, 5);
	nbrig_nops(r, 1, false, 1);
	nbrig_nops(r, 0, false, 3);
	if (value(r, 12) != 5)
		return false;
	nbrig_halt(r, 1);
	nbrig_nops(r, 0, false, 2);
	return value(r, 12) == 7;
}

/* ---- counting ---- */

static bool needs_enable(struct netburst_rig *r)
{
	instructions(r, T0O, 0, 0);
	program(r, 0, 0x3a2, 6, escr(0x13, 1, T0O), ENABLE, 0);
	nbrig_nops(r, 0, false, 5);
	return value(r, 12) == 0 && value(r, 0) == 5;
}

static bool select_chooses(struct netburst_rig *r)
{
	nbrig_set(r, 0, 0x3b8, escr(2, 3, T0O));
	nbrig_set(r, 0, CCCR(12), ENABLE | SELECT(5) | ANY);
	nbrig_nops(r, 0, false, 5);
	return value(r, 12) == 0;
}

static bool event_chooses(struct netburst_rig *r)
{
	program(r, 12, 0x3b8, 4, escr(3, 1, T0O), ENABLE, 0);
	nbrig_nops(r, 0, false, 5);
	return value(r, 12) == 0;
}

static bool counts_each_instruction(struct netburst_rig *r)
{
	instructions(r, T0O, ENABLE, 0);
	nbrig_nops(r, 0, false, 100);
	return value(r, 12) == 100;
}

/* Not taken: MMNP and MMNM. */
static bool branches_by_direction(struct netburst_rig *r)
{
	program(r, 12, 0x3cc, 5, escr(6, 3, T0O), ENABLE, 0);
	for (unsigned i = 0; i < 3; i++)
		nbrig_branch(r, 0, BRANCH_JUMP, true);
	nbrig_branch(r, 0, BRANCH_CONDITIONAL, false);
	return value(r, 12) == 1;
}

static bool mispredicts(struct netburst_rig *r)
{
	program(r, 12, 0x3b8, 4, escr(3, 1, T0O), ENABLE, 0);
	for (unsigned i = 0; i < 3; i++)
		nbrig_branch(r, 0, BRANCH_JUMP, true);
	return value(r, 12) == 0;
}

static bool clocks(struct netburst_rig *r)
{
	program(r, 0, 0x3a2, 6, escr(0x13, 1, T0O), ENABLE, 0);
	nbrig_nops(r, 0, false, 7);
	return value(r, 0) == 7;
}

/* ---- filters ---- */

static u64 filtered(struct netburst_rig *r, u64 filter)
{
	u64 before;

	instructions(r, T0O, ENABLE | filter, 0);
	before = value(r, 12);
	nbrig_nops(r, 0, false, 5);
	before = value(r, 12) - before;
	nbrig_set(r, 0, CCCR(12), 0);
	return before;
}

static bool threshold(struct netburst_rig *r)
{
	return filtered(r, COMPARE | THRESHOLD(1)) == 0 && filtered(r, COMPARE) == 5;
}

static bool complement(struct netburst_rig *r)
{
	instructions(r, T0U, ENABLE | COMPARE | COMPLEMENT | THRESHOLD(15), 0);
	nbrig_nops(r, 0, false, 5);
	nbrig_nops(r, 1, true, 6);
	return value(r, 12) == 11;
}

static bool edge_needs_compare(struct netburst_rig *r)
{
	return filtered(r, EDGE) == 5;
}

static bool edge(struct netburst_rig *r)
{
	return filtered(r, EDGE | COMPARE) <= 1;
}

/* ---- overflow ---- */

static bool has_40_bits(struct netburst_rig *r)
{
	instructions(r, T0O, ENABLE, BITS(0, 31));
	nbrig_nops(r, 0, false, 2);
	return value(r, 12) == BIT(32) + 1;
}

static bool goes_on(struct netburst_rig *r)
{
	instructions(r, T0O, ENABLE, TOP - 1);
	nbrig_nops(r, 0, false, 5);
	return value(r, 12) == 3;
}

static bool flag_sticks(struct netburst_rig *r)
{
	instructions(r, T0O, ENABLE, TOP);
	nbrig_nops(r, 0, false, 1);
	if (!(nbrig_get(r, 0, CCCR(12)) & OVF) || !(nbrig_get(r, 0, CCCR(12)) & OVF))
		return false;
	nbrig_set(r, 0, COUNTER(12), TOP);
	nbrig_nops(r, 0, false, 1);
	if (!(nbrig_get(r, 0, CCCR(12)) & OVF))
		return false;
	nbrig_set(r, 0, CCCR(12), nbrig_get(r, 0, CCCR(12)) & ~ENABLE);
	if (!(nbrig_get(r, 0, CCCR(12)) & OVF))
		return false;
	nbrig_set(r, 0, CCCR(12), 0);
	return !(nbrig_get(r, 0, CCCR(12)) & OVF);
}

static bool forced(struct netburst_rig *r)
{
	instructions(r, T0O, ENABLE | FORCE | PMI_T0, 0);
	nbrig_nops(r, 0, false, 4);
	return r->requests[0] == 3 && value(r, 12) == 4;
}

/* ---- cascades ---- */

/* 12 starts 14, and not 15 beside it; 16 starts neither. */
static bool cascade(struct netburst_rig *r)
{
	nbrig_set(r, 0, 0x3b9, escr(2, 3, T0O));
	nbrig_set(r, 0, CCCR(14), SELECT(4) | ANY | CASCADE);
	nbrig_set(r, 0, CCCR(15), SELECT(4) | ANY | CASCADE);
	instructions(r, T0O, ENABLE, TOP - 2);
	nbrig_nops(r, 0, false, 3);
	if (value(r, 14) || value(r, 15))
		return false;
	nbrig_nops(r, 0, false, 5);
	return value(r, 14) == 5 && value(r, 15) == 0;
}

static bool extended_cascade(struct netburst_rig *r)
{
	nbrig_set(r, 0, CCCR(12), SELECT(4) | ANY | BIT(11));
	program(r, 16, 0x3b8, 4, escr(2, 3, T0O), ENABLE, TOP - 2);
	nbrig_nops(r, 0, false, 3);
	if (value(r, 12))
		return false;
	nbrig_nops(r, 0, false, 5);
	return value(r, 12) == 5;
}

/* ---- interrupts ---- */

static bool interrupt_comes_next(struct netburst_rig *r)
{
	instructions(r, T0O, ENABLE | PMI_T0, TOP - 1);
	nbrig_nops(r, 0, false, 2);
	if (r->requests[0])
		return false;
	nbrig_nops(r, 0, false, 1);
	return r->requests[0] == 1;
}

static bool interrupt_goes_where_told(struct netburst_rig *r)
{
	instructions(r, T0O, ENABLE | PMI_T1, TOP);
	nbrig_nops(r, 0, false, 5);
	nbrig_halt(r, 1);
	return r->requests[0] == 0 && r->requests[1] == 1 && r->called;
}

static bool no_flag_no_interrupt(struct netburst_rig *r)
{
	instructions(r, T0O, ENABLE, TOP);
	nbrig_nops(r, 0, false, 5);
	nbrig_halt(r, 1);
	return !r->requests[0] && !r->requests[1] && nbrig_get(r, 0, CCCR(12)) & OVF;
}

/* ---- tags ---- */

/* front_end_event with uop_type tagging what `mask` says, counter n of the even or odd IQ half. */
static void front_end(struct netburst_rig *r, unsigned n, u64 mask, u64 from)
{
	bool odd = n & 1 ? n != 13 : n == 14;

	nbrig_set(r, 0, odd ? 0x3bd : 0x3bc, escr(2, mask, 15));
	program(r, n, odd ? 0x3cd : 0x3cc, 5, escr(8, 1, 15), ENABLE, from);
}

static bool loads_are_tagged(struct netburst_rig *r)
{
	front_end(r, 12, 0, 0);
	nbrig_load(r, 0, NBRIG_DATA);
	if (value(r, 12))
		return false;
	front_end(r, 12, 2, 0);
	nbrig_load(r, 0, NBRIG_DATA);
	nbrig_load(r, 0, NBRIG_DATA);
	nbrig_store(r, 0, NBRIG_DATA);
	return value(r, 12) == 2;
}

/* execution_event counts tag bit 0; the upstream ESCR sets `tag`, if it tags at all. */
static u64 executed(struct netburst_rig *r, u64 tag, bool tags)
{
	u64 before;

	program(r, 8, 0x3a4, 1, escr(8, BIT(15), 15) | tag << 5 | (tags ? BIT(4) : 0), ENABLE, 0);
	program(r, 12, 0x3cc, 5, escr(0xc, 1, 15), ENABLE, 0);
	before = value(r, 12);
	nbrig_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	nbrig_compute(r, 0, false, ARITHMETIC_PACKED_DP);
	nbrig_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	return value(r, 12) - before;
}

static bool arithmetic_is_tagged(struct netburst_rig *r)
{
	return executed(r, 1, false) == 0 && executed(r, 2, true) == 0 && executed(r, 1, true) == 2;
}

/* Page n is met for the first time by a load or a store. */
static u64 replayed(struct netburst_rig *r, u64 enable, u64 vert, unsigned n, bool store)
{
	u64 before;

	nbrig_set(r, 0, PEBS, enable);
	nbrig_set(r, 0, VERT, vert);
	program(r, 12, 0x3cc, 5, escr(9, 1, 15), ENABLE, 0);
	before = value(r, 12);
	if (store)
		nbrig_store(r, 0, 0x7000000 + 0x1000ULL * n);
	else
		nbrig_load(r, 0, 0x7000000 + 0x1000ULL * n);
	return value(r, 12) - before;
}

static bool replay_needs_all(struct netburst_rig *r)
{
	return replayed(r, BIT(2), 1, 0, false) == 0 && replayed(r, UOP_TAG, 1, 1, false) == 0 &&
	       replayed(r, BIT(2) | UOP_TAG, 0, 2, false) == 0 &&
	       replayed(r, BIT(2) | UOP_TAG, 2, 3, false) == 0 &&
	       replayed(r, BIT(2) | UOP_TAG, 1, 4, false) == 1 &&
	       replayed(r, BIT(2) | UOP_TAG, 2, 5, true) == 1 &&
	       replayed(r, BIT(0) | UOP_TAG, 1, 6, false) == 1 &&
	       replayed(r, BIT(0) | UOP_TAG, 1, 6, true) == 0;
}

/* ---- PEBS ---- */

/* Two tagged loads of each logical processor, on the counters of both. */
static void sample_both(struct netburst_rig *r)
{
	nbrig_ds(r, 4, 4, TOP - 1);
	front_end(r, 16, 2, TOP - 1);
	front_end(r, 17, 2, TOP - 1);
	nbrig_set(r, 0, 0x3cc, escr(8, 1, T0O));
	nbrig_set(r, 0, 0x3cd, escr(8, 1, T1O));
	for (unsigned i = 0; i < 2; i++)
		for (unsigned t = 0; t < 2; t++)
			nbrig_load(r, t, NBRIG_DATA);
}

static bool own_counter_samples(struct netburst_rig *r)
{
	nbrig_set(r, 0, PEBS, MY);
	nbrig_ds(r, 4, 4, TOP - 1);
	front_end(r, 13, 2, TOP - 1);
	nbrig_load(r, 0, NBRIG_DATA);
	nbrig_load(r, 0, NBRIG_DATA);
	nbrig_load(r, 0, NBRIG_DATA);
	nbrig_set(r, 0, CCCR(13), 0);
	if (nbrig_records(r, 0))
		return false;
	front_end(r, 17, 2, TOP - 1);
	nbrig_load(r, 0, NBRIG_DATA);
	nbrig_load(r, 0, NBRIG_DATA);
	nbrig_load(r, 0, NBRIG_DATA);
	nbrig_set(r, 0, CCCR(17), 0);
	return nbrig_records(r, 0) == 0;
}

static bool precise_events_only(struct netburst_rig *r)
{
	nbrig_set(r, 0, PEBS, MY);
	nbrig_ds(r, 4, 4, TOP - 1);
	program(r, 16, 0x3b8, 4, escr(2, 3, 15), ENABLE, TOP - 1);
	nbrig_nops(r, 0, false, 5);
	return nbrig_records(r, 0) == 0;
}

static bool my_thread(struct netburst_rig *r)
{
	nbrig_set(r, 1, PEBS, MY);
	sample_both(r);
	return nbrig_records(r, 0) == 0 && nbrig_records(r, 1) == 1;
}

static bool nobody_asked(struct netburst_rig *r)
{
	sample_both(r);
	return nbrig_records(r, 0) + nbrig_records(r, 1) == 0;
}

static bool both_sample(struct netburst_rig *r)
{
	nbrig_set(r, 0, PEBS, MY | OTHER);
	sample_both(r);
	return nbrig_records(r, 0) == 1 && nbrig_records(r, 1) == 1;
}

static bool bits_are_relative(struct netburst_rig *r)
{
	nbrig_set(r, 0, PEBS, MY);
	return nbrig_get(r, 1, PEBS) == OTHER && nbrig_get(r, 0, PEBS) == MY;
}

static bool areas_are_own(struct netburst_rig *r)
{
	nbrig_ds(r, 4, 4, 0);
	return nbrig_get(r, 0, 0x600) == NBRIG_DS(0) && nbrig_get(r, 1, 0x600) == NBRIG_DS(1);
}

/* The third load's record, all of it, and then what is behind an assist. */
static bool whole_record(struct netburst_rig *r)
{
	static const u8 order[16] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
				      REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11,
				      REG_R12, REG_R13, REG_R14, REG_R15 };
	struct model_registers regs;
	u64 ip;

	nbrig_set(r, 0, PEBS, MY);
	nbrig_ds(r, 4, 4, TOP - 9);
	front_end(r, 16, 2, TOP - 2);
	memset(r->memory + 0x2000, 0x5e, 0x1000);
	nbrig_load(r, 0, NBRIG_DATA);
	nbrig_load(r, 0, NBRIG_DATA);
	regs = r->regs[0];
	ip = r->ip[0];
	nbrig_load(r, 0, NBRIG_DATA);
	if (nbrig_record(r, 0, 0, 0) != regs.rflags || nbrig_record(r, 0, 0, 8) != ip)
		return false;
	for (unsigned i = 0; i < 16; i++)
		if (nbrig_record(r, 0, 0, 0x10 + 8 * i) != regs.gpr[order[i]])
			return false;
	return nbrig_record(r, 0, 0, 0x90) == 0x5e5e5e5e5e5e5e5e;
}

static bool reload_and_index(struct netburst_rig *r)
{
	return whole_record(r) && value(r, 16) == TOP - 9 && nbrig_records(r, 0) == 1;
}

static bool ends_at_maximum(struct netburst_rig *r)
{
	nbrig_set(r, 0, PEBS, MY);
	nbrig_ds(r, 2, 9, TOP);
	front_end(r, 16, 2, TOP);
	for (unsigned i = 0; i < 5; i++)
		nbrig_load(r, 0, NBRIG_DATA);
	return nbrig_records(r, 0) == 2;
}

static bool threshold_interrupts(struct netburst_rig *r)
{
	nbrig_set(r, 0, PEBS, MY);
	nbrig_ds(r, 4, 2, TOP);
	front_end(r, 16, 2, TOP);
	nbrig_load(r, 0, NBRIG_DATA);
	if (r->requests[0])
		return false;
	nbrig_load(r, 0, NBRIG_DATA);
	return r->requests[0] == 1 && r->requests[1] == 0;
}

/* ---- registers ---- */

static bool is_shared(struct netburst_rig *r, u32 msr, u64 bits)
{
	nbrig_set(r, 0, msr, bits);
	return nbrig_get(r, 1, msr) == bits && nbrig_get(r, 0, msr) == bits;
}

static bool pebs_enable_is_shared(struct netburst_rig *r)
{
	return is_shared(r, PEBS, UOP_TAG | BIT(2)) && is_shared(r, PEBS, 0);
}

static bool vert_is_shared(struct netburst_rig *r)
{
	return is_shared(r, VERT, 3);
}

static bool escr_is_shared(struct netburst_rig *r)
{
	return is_shared(r, 0x3b8, escr(2, 3, T0O));
}

static bool counter_keeps(struct netburst_rig *r)
{
	return is_shared(r, COUNTER(12), 0x123456789a);
}

static bool cccr_keeps(struct netburst_rig *r)
{
	return is_shared(r, CCCR(12), SELECT(4) | ANY | EDGE);
}

static bool is_refused(struct netburst_rig *r, u32 msr, u64 bit)
{
	return nbrig_wrmsr(r, 0, msr, bit) == MSR_GP;
}

static bool cccr_refuses(struct netburst_rig *r)
{
	return is_refused(r, CCCR(12), BIT(28)) && is_refused(r, CCCR(13), BIT(11));
}

static bool escr_refuses(struct netburst_rig *r)
{
	return is_refused(r, 0x3b8, BIT(31));
}

static bool pebs_enable_refuses(struct netburst_rig *r)
{
	return is_refused(r, PEBS, BIT(27));
}

static bool vert_refuses(struct netburst_rig *r)
{
	return is_refused(r, VERT, BIT(31));
}

/* "Reserved" on a processor without Hyper-Threading. */
static bool one_thread_only(struct netburst_rig *r)
{
	nbrig_open(r, r->m[0].config.fault, false);
	return is_refused(r, PEBS, OTHER) && is_refused(r, CCCR(12), PMI_T1) &&
	       is_refused(r, 0x3b8, T1U) && !is_refused(r, CCCR(12), PMI_T0);
}

static bool rdpmc(struct netburst_rig *r)
{
	nbrig_set(r, 0, COUNTER(12), 0x123456789a);
	nbrig_set(r, 0, COUNTER(13), 0x55);
	return model_rdpmc(&r->m[0], 12).value == 0x123456789a &&
	       model_rdpmc(&r->m[0], 12 | 1u << 31).value == 0x3456789a &&
	       model_rdpmc(&r->m[0], 18).status == MSR_GP &&
	       model_rdpmc(&r->m[1], 17).status == MSR_DONE;
}

static netburst_rule_fn *const netburst_rules[FAULT_COUNT] = {
	[FAULT_NB_T1_FLAGS_COUNT_T0] = flags_select,
	[FAULT_NB_NO_FLAGS_COUNT] = flags_select,
	[FAULT_NB_ALL_FLAGS_T0] = flags_select,
	[FAULT_NB_MISPRINT] = flags_select,
	[FAULT_NB_THREADS_EXCHANGED] = flags_select,
	[FAULT_NB_ANY_OS] = flags_select,
	[FAULT_NB_LEVELS_IGNORED] = flags_select,
	[FAULT_NB_TI_AS_TS] = independent,
	[FAULT_NB_TI_T0_ONLY] = independent,
	[FAULT_NB_ACTIVE_IGNORED] = active_threads,
	[FAULT_NB_HALTED_ACTIVE] = active_threads,
	[FAULT_NB_ENABLE_IGNORED] = needs_enable,
	[FAULT_NB_SELECT_IGNORED] = select_chooses,
	[FAULT_NB_EVENT_IGNORED] = event_chooses,
	[FAULT_NB_INSTRUCTIONS_MISSED] = counts_each_instruction,
	[FAULT_NB_BRANCH_MASKS] = branches_by_direction,
	[FAULT_NB_MISPREDICTS_ALL] = mispredicts,
	[FAULT_NB_CLOCKS_HALF] = clocks,
	[FAULT_NB_COMPARE_IGNORED] = threshold,
	[FAULT_NB_THRESHOLD_EQUAL] = threshold,
	[FAULT_NB_COMPLEMENT_IGNORED] = complement,
	[FAULT_NB_EDGE_ALONE] = edge_needs_compare,
	[FAULT_NB_EDGE_IGNORED] = edge,
	[FAULT_NB_WIDTH_32] = has_40_bits,
	[FAULT_NB_STOPS_AT_WRAP] = goes_on,
	[FAULT_NB_RDPMC_NEIGHBOUR] = rdpmc,
	[FAULT_NB_RDPMC_FAST_FULL] = rdpmc,
	[FAULT_NB_RDPMC_ABSENT] = rdpmc,
	[FAULT_NB_OVF_READ_CLEARS] = flag_sticks,
	[FAULT_NB_OVF_DISABLE_CLEARS] = flag_sticks,
	[FAULT_NB_OVF_TOGGLES] = flag_sticks,
	[FAULT_NB_OVF_STICKS] = flag_sticks,
	[FAULT_NB_OVF_NEEDS_PMI] = no_flag_no_interrupt,
	[FAULT_NB_FORCE_OVF_IGNORED] = forced,
	[FAULT_NB_CASCADE_NEVER] = cascade,
	[FAULT_NB_CASCADE_AT_ONCE] = cascade,
	[FAULT_NB_CASCADE_NEIGHBOUR] = cascade,
	[FAULT_NB_CASCADE_16_INTO_14] = cascade,
	[FAULT_NB_EXTENDED_NEVER] = extended_cascade,
	[FAULT_NB_EXTENDED_AT_ONCE] = extended_cascade,
	[FAULT_NB_PMI_AT_OVERFLOW] = interrupt_comes_next,
	[FAULT_NB_PMI_LATE] = interrupt_comes_next,
	[FAULT_NB_PMI_NEVER] = interrupt_comes_next,
	[FAULT_NB_PMI_ALWAYS] = no_flag_no_interrupt,
	[FAULT_NB_PMI_EXCHANGED] = interrupt_goes_where_told,
	[FAULT_NB_PMI_TO_CAUSE] = interrupt_goes_where_told,
	[FAULT_NB_PEBS_ANY_COUNTER] = own_counter_samples,
	[FAULT_NB_PEBS_EXCHANGED] = own_counter_samples,
	[FAULT_NB_PEBS_ANY_EVENT] = precise_events_only,
	[FAULT_NB_PEBS_ABSOLUTE] = my_thread,
	[FAULT_NB_PEBS_BOTH] = my_thread,
	[FAULT_NB_PEBS_UNASKED] = nobody_asked,
	[FAULT_NB_PEBS_LITERAL] = bits_are_relative,
	[FAULT_NB_PEBS_ONE_THREAD] = both_sample,
	[FAULT_NB_UOP_TAG_IGNORED] = replay_needs_all,
	[FAULT_NB_METRIC_IGNORED] = replay_needs_all,
	[FAULT_NB_MATRIX_IGNORED] = replay_needs_all,
	[FAULT_NB_REPLAY_EXCHANGED] = replay_needs_all,
	[FAULT_NB_FRONT_END_UNTAGGED] = loads_are_tagged,
	[FAULT_NB_FRONT_END_EXCHANGED] = loads_are_tagged,
	[FAULT_NB_EXECUTION_UNTAGGED] = arithmetic_is_tagged,
	[FAULT_NB_TAG_VALUE_IGNORED] = arithmetic_is_tagged,
	[FAULT_NB_PEBS_ENABLE_PER_THREAD] = pebs_enable_is_shared,
	[FAULT_NB_MATRIX_PER_THREAD] = vert_is_shared,
	[FAULT_NB_REGISTERS_PER_THREAD] = escr_is_shared,
	[FAULT_NB_HT_BITS_ACCEPTED] = one_thread_only,
	[FAULT_NB_DS_AREA_SHARED] = areas_are_own,
	[FAULT_NB_RECORD_DROPPED] = whole_record,
	[FAULT_NB_RECORD_32] = whole_record,
	[FAULT_NB_RIP_FAR] = whole_record,
	[FAULT_NB_NO_RELOAD] = reload_and_index,
	[FAULT_NB_INDEX_STAYS] = reload_and_index,
	[FAULT_NB_FULL_IGNORED] = ends_at_maximum,
	[FAULT_NB_THRESHOLD_NEVER] = threshold_interrupts,
	[FAULT_NB_THRESHOLD_ALWAYS] = threshold_interrupts,
	[FAULT_NB_THRESHOLD_SIBLING] = threshold_interrupts,
	[FAULT_NB_COUNTER_WRITE_DROPPED] = counter_keeps,
	[FAULT_NB_COUNTER_READS_ZERO] = counter_keeps,
	[FAULT_NB_CCCR_WRITE_DROPPED] = cccr_keeps,
	[FAULT_NB_CCCR_READS_ZERO] = cccr_keeps,
	[FAULT_NB_CCCR_RESERVED_ACCEPTED] = cccr_refuses,
	[FAULT_NB_ESCR_WRITE_DROPPED] = escr_is_shared,
	[FAULT_NB_ESCR_READS_ZERO] = escr_is_shared,
	[FAULT_NB_ESCR_RESERVED_ACCEPTED] = escr_refuses,
	[FAULT_NB_PEBS_ENABLE_WRITE_DROPPED] = pebs_enable_is_shared,
	[FAULT_NB_PEBS_ENABLE_READS_ZERO] = pebs_enable_is_shared,
	[FAULT_NB_PEBS_ENABLE_RESERVED_ACCEPTED] = pebs_enable_refuses,
	[FAULT_NB_MATRIX_VERT_WRITE_DROPPED] = vert_is_shared,
	[FAULT_NB_MATRIX_VERT_READS_ZERO] = vert_is_shared,
	[FAULT_NB_MATRIX_VERT_RESERVED_ACCEPTED] = vert_refuses,
#define FAULT(token, name, requirements, sentence)
#define FAULT_NB_FIELD(token, field, name, requirements, title) \
	[FAULT_NB_##token##_ZERO] = whole_record, [FAULT_NB_##token##_STALE] = whole_record,
#define FAULT_NB_PAIR(token, field, name, requirements, title) \
	[FAULT_NB_##token##_SWAPPED] = whole_record,
#include "spec/fault_netburst.def"
#undef FAULT
};

bool netburst_has_rule(enum fault_id of)
{
	return netburst_rules[of];
}

bool netburst_rule(enum fault_id of, enum fault_id on)
{
	static struct netburst_rig r;

	nbrig_open(&r, on, true);
	return netburst_rules[of](&r);
}
