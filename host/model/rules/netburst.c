/* SPDX-License-Identifier: MIT */
/*
 * Rules of NetBurst's PMU, for the faults of refpmu/faults/fault_netburst.def: see rules.h.
 * Addresses, select numbers and bits are those of Tables 18-63 to 18-67, 19-28 to 19-33 and Figures
 * 17-7 and 17-8.
 */
#include "host/model/rules/internal.h"
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

/* packed_SP_uop on MSR_FLAME_COUNTER0: Table 18-67. */
static bool independent(struct netburst_fixture *r)
{
	program(r, 8, 0x3a4, 1, escr(8, BIT(15), T0U), ENABLE, 0);
	nbfixture_nops(r, 1, true, 1);
	nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	nbfixture_compute(r, 1, true, ARITHMETIC_PACKED_SP);
	if (value(r, 8) != 2)
		return false;
	nbfixture_nops(r, 1, false, 1);
	nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	return value(r, 8) == 2;
}

/* One active, then both. */
static bool active_threads(struct netburst_fixture *r)
{
	nbfixture_halt(r, 1);
	nbfixture_set(r, 0, COUNTER(12), 0);
	nbfixture_set(r, 0, 0x3b8, escr(2, 3, T0O));
	nbfixture_set(r, 0, CCCR(12), ENABLE | SELECT(4) | 1u << 16);
	nbfixture_nops(r, 0, false, 5);
	nbfixture_nops(r, 1, false, 1);
	nbfixture_nops(r, 0, false, 3);
	if (value(r, 12) != 5)
		return false;
	nbfixture_halt(r, 1);
	nbfixture_nops(r, 0, false, 2);
	return value(r, 12) == 7;
}

/* ---- counting ---- */

static bool needs_enable(struct netburst_fixture *r)
{
	instructions(r, T0O, 0, 0);
	program(r, 0, 0x3a2, 6, escr(0x13, 1, T0O), ENABLE, 0);
	nbfixture_nops(r, 0, false, 5);
	return value(r, 12) == 0 && value(r, 0) == 5;
}

static bool select_chooses(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, 0x3b8, escr(2, 3, T0O));
	nbfixture_set(r, 0, CCCR(12), ENABLE | SELECT(5) | ANY);
	nbfixture_nops(r, 0, false, 5);
	return value(r, 12) == 0;
}

static bool event_chooses(struct netburst_fixture *r)
{
	program(r, 12, 0x3b8, 4, escr(3, 1, T0O), ENABLE, 0);
	nbfixture_nops(r, 0, false, 5);
	return value(r, 12) == 0;
}

static bool counts_each_instruction(struct netburst_fixture *r)
{
	instructions(r, T0O, ENABLE, 0);
	nbfixture_nops(r, 0, false, 100);
	return value(r, 12) == 100;
}

/* Not taken: MMNP and MMNM. */
static bool branches_by_direction(struct netburst_fixture *r)
{
	program(r, 12, 0x3cc, 5, escr(6, 3, T0O), ENABLE, 0);
	for (unsigned i = 0; i < 3; i++)
		nbfixture_branch(r, 0, BRANCH_JUMP, true);
	nbfixture_branch(r, 0, BRANCH_CONDITIONAL, false);
	return value(r, 12) == 1;
}

static bool mispredicts(struct netburst_fixture *r)
{
	program(r, 12, 0x3b8, 4, escr(3, 1, T0O), ENABLE, 0);
	for (unsigned i = 0; i < 3; i++)
		nbfixture_branch(r, 0, BRANCH_JUMP, true);
	return value(r, 12) == 0;
}

static bool clocks(struct netburst_fixture *r)
{
	program(r, 0, 0x3a2, 6, escr(0x13, 1, T0O), ENABLE, 0);
	nbfixture_nops(r, 0, false, 7);
	return value(r, 0) == 7;
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

NETBURST_RULE(threshold, filtered(r, COMPARE | THRESHOLD(1)) == 0 && filtered(r, COMPARE) == 5)

static bool complement(struct netburst_fixture *r)
{
	instructions(r, T0U, ENABLE | COMPARE | COMPLEMENT | THRESHOLD(15), 0);
	nbfixture_nops(r, 0, false, 5);
	nbfixture_nops(r, 1, true, 6);
	return value(r, 12) == 11;
}

NETBURST_RULE(edge_needs_compare, filtered(r, EDGE) == 5)
NETBURST_RULE(edge, filtered(r, EDGE | COMPARE) <= 1)

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

NETBURST_RULE(middle_thresholds, uops(r, THRESHOLD(2)) == 4 && uops(r, THRESHOLD(3)) == 0)
NETBURST_RULE(complement_before_edge, uops(r, THRESHOLD(15) | COMPLEMENT | EDGE) == 1)

static bool both_threads_add(struct netburst_fixture *r)
{
	instructions(r, T0U | T1U, ENABLE, 0);
	for (unsigned i = 0; i < 4; i++) {
		nbfixture_nops(r, 0, true, 1);
		nbfixture_nops(r, 1, true, 1);
	}
	return value(r, 12) == 8;
}

/* At CPL 0, where the rig's branches are, with the other thread's flags alone. */
static bool branches_are_of_one_thread(struct netburst_fixture *r, unsigned n, u32 msr,
				       unsigned select, u64 value_of_escr)
{
	program(r, n, msr, select, value_of_escr, ENABLE, 0);
	nbfixture_branch(r, 0, BRANCH_RETURN, true);
	return value(r, n) == 0;
}

NETBURST_RULE(branch_retired_is_specific,
	      branches_are_of_one_thread(r, 12, 0x3cc, 5, escr(6, 15, T1O)))
NETBURST_RULE(branch_type_is_specific,
	      branches_are_of_one_thread(r, 4, 0x3c2, 2, escr(4, BIT(3), T1O)))

/* mispred_branch_retired: a branch that changes its way each time. */
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

/* Instructions, and additions. */
static bool each_counter_counts(struct netburst_fixture *r)
{
	program(r, 14, 0x3b9, 4, escr(2, 3, T0O), ENABLE, 0);
	program(r, 8, 0x3a4, 1, escr(8, BIT(15), T0O), ENABLE, 0);
	nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	return value(r, 14) > 0 && value(r, 8) == 1 && !(nbfixture_get(r, 0, CCCR(8)) & OVF);
}

static bool each_counter_stops(struct netburst_fixture *r)
{
	program(r, 9, 0x3a4, 1, escr(8, BIT(15), T0O), 0, 0);
	nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	return value(r, 9) == 0;
}

static bool each_counter_is_wide(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, COUNTER(4), TOP);
	return value(r, 4) == TOP;
}

/* branch_retired of everything; retired_branch_type of returns (bit 3). */
static bool branches_are_counted(struct netburst_fixture *r)
{
	program(r, 12, 0x3cc, 5, escr(6, 15, T0O), ENABLE, 0);
	program(r, 4, 0x3c2, 2, escr(4, BIT(3), T0O), ENABLE, 0);
	nbfixture_branch(r, 0, BRANCH_CONDITIONAL, true);
	nbfixture_branch(r, 0, BRANCH_CONDITIONAL, false);
	nbfixture_branch(r, 0, BRANCH_RETURN, true);
	return value(r, 12) == 3 && value(r, 4) == 1;
}

/* Micro-operations by kind; then page walks, split loads and split stores, of one access each. */
static bool kinds_are_counted(struct netburst_fixture *r)
{
	static const struct { unsigned select; enum model_arithmetic kind; } kinds[] = {
		{ 0x08, ARITHMETIC_PACKED_SP }, { 0x0c, ARITHMETIC_PACKED_DP },
		{ 0x0a, ARITHMETIC_SCALAR_SP }, { 0x0e, ARITHMETIC_SCALAR_DP },
		{ 0x02, ARITHMETIC_MMX_64 }, { 0x1a, ARITHMETIC_MMX_128 }, { 0x04, ARITHMETIC_X87 },
	};
	const u64 page = 0x7000000, line = 64;

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		program(r, 8, 0x3a4, 1, escr(kinds[i].select, BIT(15), T0O), ENABLE, 0);
		for (unsigned j = 0; j < sizeof(kinds) / sizeof(kinds[0]); j++)
			nbfixture_compute(r, 0, false, kinds[j].kind);
		if (value(r, 8) != 1)
			return false;
	}
	program(r, 0, 0x3ac, 4, escr(1, BIT(0), T0O), ENABLE, 0);
	program(r, 8, 0x3ae, 2, escr(4, BIT(1), T0O), ENABLE, 0);
	program(r, 10, 0x3af, 2, escr(5, BIT(1), T0O), ENABLE, 0);
	nbfixture_load(r, 0, page);
	nbfixture_load(r, 0, page + line - 1);
	nbfixture_store(r, 0, page + line - 1);
	return value(r, 0) == 1 && value(r, 8) == 1 && value(r, 10) == 1;
}

static bool compare_decides(struct netburst_fixture *r)
{
	instructions(r, T0O, ENABLE | COMPLEMENT, 0);
	program(r, 13, 0x3b8, 4, escr(2, 3, T0O), ENABLE | THRESHOLD(15), 0);
	program(r, 16, 0x3b8, 4, escr(2, 3, T0O), ENABLE | COMPARE, 0);
	nbfixture_nops(r, 0, false, 5);
	/* The WRMSRs that begin the later ones are counted by the first. */
	return value(r, 12) >= 5 && value(r, 13) >= 5 && value(r, 16) >= 5;
}

static bool clocks_of_the_selected(struct netburst_fixture *r)
{
	program(r, 0, 0x3a2, 6, escr(0x13, 1, T0O), ENABLE, 0);
	nbfixture_nops(r, 1, false, 5);
	return value(r, 0) == 0;
}

/* ---- overflow ---- */

static bool has_40_bits(struct netburst_fixture *r)
{
	instructions(r, T0O, ENABLE, BITS(0, 31));
	nbfixture_nops(r, 0, false, 2);
	return value(r, 12) == BIT(32) + 1;
}

static bool goes_on(struct netburst_fixture *r)
{
	instructions(r, T0O, ENABLE, TOP - 1);
	nbfixture_nops(r, 0, false, 5);
	return value(r, 12) == 3;
}

static bool counter_15_carries(struct netburst_fixture *r)
{
	program(r, 15, 0x3b9, 4, escr(2, 3, T0O), ENABLE, BITS(0, 31));
	nbfixture_nops(r, 0, false, 5);
	return value(r, 15) == BIT(32) + 4;
}

static bool flag_sticks(struct netburst_fixture *r)
{
	instructions(r, T0O, ENABLE, TOP);
	nbfixture_nops(r, 0, false, 1);
	if (!(nbfixture_get(r, 0, CCCR(12)) & OVF) || !(nbfixture_get(r, 0, CCCR(12)) & OVF))
		return false;
	nbfixture_set(r, 0, COUNTER(12), TOP);
	nbfixture_nops(r, 0, false, 1);
	if (!(nbfixture_get(r, 0, CCCR(12)) & OVF))
		return false;
	nbfixture_set(r, 0, CCCR(12), nbfixture_get(r, 0, CCCR(12)) & ~ENABLE);
	if (!(nbfixture_get(r, 0, CCCR(12)) & OVF))
		return false;
	nbfixture_set(r, 0, CCCR(12), 0);
	return !(nbfixture_get(r, 0, CCCR(12)) & OVF);
}

static bool forced(struct netburst_fixture *r)
{
	instructions(r, T0O, ENABLE | FORCE | PMI_T0, 0);
	nbfixture_nops(r, 0, false, 4);
	return r->requests[0] == 3 && value(r, 12) == 4;
}

static bool forced_by_an_event(struct netburst_fixture *r)
{
	instructions(r, T0O, FORCE, 0);
	return !(nbfixture_get(r, 0, CCCR(12)) & OVF);
}

/* ---- cascades ---- */

static bool cascade_is_asked_for(struct netburst_fixture *r)
{
	program(r, 14, 0x3b9, 4, escr(2, 3, T0O), 0, 0);
	instructions(r, T0O, ENABLE, TOP);
	nbfixture_nops(r, 0, false, 5);
	return value(r, 14) == 0;
}

/* 12 starts 14, and not 15 beside it; 16 starts neither. */
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

/* ---- interrupts ---- */

static bool interrupt_comes_next(struct netburst_fixture *r)
{
	instructions(r, T0O, ENABLE | PMI_T0, TOP - 1);
	nbfixture_nops(r, 0, false, 2);
	if (r->requests[0])
		return false;
	nbfixture_nops(r, 0, false, 1);
	return r->requests[0] == 1;
}

static bool interrupt_goes_where_told(struct netburst_fixture *r)
{
	instructions(r, T0O, ENABLE | PMI_T1, TOP);
	nbfixture_nops(r, 0, false, 5);
	nbfixture_halt(r, 1);
	return r->requests[0] == 0 && r->requests[1] == 1 && r->called;
}

static bool no_flag_no_interrupt(struct netburst_fixture *r)
{
	instructions(r, T0O, ENABLE, TOP);
	nbfixture_nops(r, 0, false, 5);
	nbfixture_halt(r, 1);
	return !r->requests[0] && !r->requests[1] && nbfixture_get(r, 0, CCCR(12)) & OVF;
}

/* ---- registers ---- */

static bool is_shared(struct netburst_fixture *r, u32 msr, u64 bits)
{
	nbfixture_set(r, 0, msr, bits);
	return nbfixture_get(r, 1, msr) == bits && nbfixture_get(r, 0, msr) == bits;
}

NETBURST_RULE(pebs_enable_is_shared, is_shared(r, PEBS, UOP_TAG | BIT(2)) && is_shared(r, PEBS, 0))
NETBURST_RULE(vert_is_shared, is_shared(r, VERT, 3))
NETBURST_RULE(escr_is_shared, is_shared(r, 0x3b8, escr(2, 3, T0O)))
NETBURST_RULE(counter_keeps, is_shared(r, COUNTER(12), 0x123456789a))
NETBURST_RULE(cccr_keeps, is_shared(r, CCCR(12), SELECT(4) | ANY | EDGE))

static bool is_refused(struct netburst_fixture *r, u32 msr, u64 bit)
{
	return nbfixture_wrmsr(r, 0, msr, bit) == MSR_GP;
}

NETBURST_RULE(cccr_refuses, is_refused(r, CCCR(12), BIT(28)) && is_refused(r, CCCR(13), BIT(11)))
NETBURST_RULE(escr_refuses, is_refused(r, 0x3b8, BIT(31)))
NETBURST_RULE(pebs_enable_refuses, is_refused(r, PEBS, BIT(27)))
NETBURST_RULE(vert_refuses, is_refused(r, VERT, BIT(31)))

/* "Reserved" on a processor without Hyper-Threading. */
static bool one_thread_only(struct netburst_fixture *r)
{
	nbfixture_open(r, r->m[0].config.fault, false);
	return is_refused(r, PEBS, OTHER) && is_refused(r, CCCR(12), PMI_T1) &&
	       is_refused(r, 0x3b8, T1U) && !is_refused(r, CCCR(12), PMI_T0) &&
	       !is_refused(r, PEBS, MY);
}

static bool rdpmc(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, COUNTER(12), 0x123456789a);
	nbfixture_set(r, 0, COUNTER(13), 0x55);
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
#define FAULT_NB_KIND(what, name, title) [FAULT_NB_KIND_##what] = kinds_are_counted,
#include "refpmu/faults/fault_netburst_kind.def"
	[FAULT_NB_ARITHMETIC_ANY] = kinds_are_counted,
	[FAULT_NB_WALKS_ALWAYS] = kinds_are_counted,
#define FAULT_NB_CELL(token, name, requirements, flags, thread, user, title) \
	[FAULT_NB_CELL_##token] = flags_select,
#include "refpmu/faults/fault_netburst_cell.def"
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
	[FAULT_NB_COUNTER_14_DEAD] = each_counter_counts,
	[FAULT_NB_COUNTER_8_DEAD] = each_counter_counts,
	[FAULT_NB_COUNTER_8_FORCED] = each_counter_counts,
	[FAULT_NB_COUNTER_9_STARTED] = each_counter_stops,
	[FAULT_NB_COUNTER_4_NARROW] = each_counter_is_wide,
	[FAULT_NB_COUNTER_13_FRONT_END] = netburst_counter_13_counts_tags,
	[FAULT_NB_COUNTER_15_CARRY] = counter_15_carries,
	[FAULT_NB_BRANCH_RETIRED_SILENT] = branches_are_counted,
	[FAULT_NB_MISPREDICTS_MANY] = branches_are_counted,
	[FAULT_NB_RETURNS_MISSED] = branches_are_counted,
	[FAULT_NB_COMPLEMENT_ALONE] = compare_decides,
	[FAULT_NB_THRESHOLD_ALONE] = compare_decides,
	[FAULT_NB_COMPARE_SILENT] = compare_decides,
	[FAULT_NB_HALTED_CLOCKS] = clocks_of_the_selected,
	[FAULT_NB_FORCE_AT_ONCE] = forced_by_an_event,
	[FAULT_NB_CASCADE_UNASKED] = cascade_is_asked_for,
	[FAULT_NB_INDEX_FAR] = netburst_reload_and_index,
	[FAULT_NB_RECORD_LONG] = netburst_whole_record,
	[FAULT_NB_COUNTERS_PER_THREAD] = counter_keeps,
	[FAULT_NB_ONE_REFUSES_PEBS] = one_thread_only,
	[FAULT_NB_ONE_REFUSES_PMI] = one_thread_only,
	[FAULT_NB_OVF_READ_CLEARS] = flag_sticks,
	[FAULT_NB_OVF_DISABLE_CLEARS] = flag_sticks,
	[FAULT_NB_OVF_TOGGLES] = flag_sticks,
	[FAULT_NB_OVF_STICKS] = flag_sticks,
	[FAULT_NB_OVF_NEEDS_PMI] = no_flag_no_interrupt,
	[FAULT_NB_OVF_BIT_29] = no_flag_no_interrupt,
	[FAULT_NB_FORCE_OVF_IGNORED] = forced,
	[FAULT_NB_FORCE_OVF_ONCE] = forced,
	[FAULT_NB_COMPLEMENT_WITH_EDGE] = complement_before_edge,
	[FAULT_NB_THRESHOLD_MIDDLE] = middle_thresholds,
	[FAULT_NB_SECOND_LOST] = both_threads_add,
	[FAULT_NB_BRANCH_RETIRED_BOTH] = branch_retired_is_specific,
	[FAULT_NB_BRANCH_TYPE_BOTH] = branch_type_is_specific,
	[FAULT_NB_MISPRED_PEBS] = mispredictions_make_no_records,
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
	[FAULT_NB_PEBS_ANY_COUNTER] = netburst_own_counter_samples,
	[FAULT_NB_PEBS_EXCHANGED] = netburst_own_counter_samples,
	[FAULT_NB_PEBS_ANY_EVENT] = netburst_precise_events_only,
	[FAULT_NB_PEBS_NO_EXECUTION] = netburst_three_events_sample,
	[FAULT_NB_PEBS_NO_FRONT_END] = netburst_three_events_sample,
	[FAULT_NB_PEBS_NO_REPLAY] = netburst_three_events_sample,
	[FAULT_NB_PEBS_ABSOLUTE] = netburst_my_thread,
	[FAULT_NB_PEBS_BOTH] = netburst_my_thread,
	[FAULT_NB_PEBS_UNASKED] = netburst_nobody_asked,
	[FAULT_NB_PEBS_ONE_THREAD] = netburst_both_sample,
	[FAULT_NB_UOP_TAG_IGNORED] = netburst_replay_needs_all,
	[FAULT_NB_METRIC_IGNORED] = netburst_replay_needs_all,
	[FAULT_NB_MATRIX_IGNORED] = netburst_replay_needs_all,
	[FAULT_NB_MOB_REPLAY_SILENT] = netburst_loads_wait,
	[FAULT_NB_MISPRED_SILENT] = netburst_mispredictions_are_tagged,
	[FAULT_NB_REPLAY_EXCHANGED] = netburst_replay_needs_all,
	[FAULT_NB_FRONT_END_UNTAGGED] = netburst_loads_are_tagged,
	[FAULT_NB_FRONT_END_EXCHANGED] = netburst_loads_are_tagged,
	[FAULT_NB_EXECUTION_UNTAGGED] = netburst_arithmetic_is_tagged,
	[FAULT_NB_TAG_VALUE_IGNORED] = netburst_arithmetic_is_tagged,
	[FAULT_NB_PEBS_ENABLE_PER_THREAD] = pebs_enable_is_shared,
	[FAULT_NB_MATRIX_PER_THREAD] = vert_is_shared,
	[FAULT_NB_REGISTERS_PER_THREAD] = escr_is_shared,
	[FAULT_NB_HT_BITS_ACCEPTED] = one_thread_only,
	[FAULT_NB_DS_AREA_SHARED] = netburst_areas_are_own,
	[FAULT_NB_RECORD_DROPPED] = netburst_whole_record,
	[FAULT_NB_RECORD_32] = netburst_whole_record,
	[FAULT_NB_RIP_FAR] = netburst_whole_record,
	[FAULT_NB_NO_RELOAD] = netburst_reload_and_index,
	[FAULT_NB_INDEX_STAYS] = netburst_reload_and_index,
	[FAULT_NB_FULL_IGNORED] = netburst_ends_at_maximum,
	[FAULT_NB_THRESHOLD_NEVER] = netburst_threshold_interrupts,
	[FAULT_NB_THRESHOLD_ALWAYS] = netburst_threshold_interrupts,
	[FAULT_NB_THRESHOLD_SIBLING] = netburst_threshold_interrupts,
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
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_NB_FIELD(token, field, name, requirements, title) \
	[FAULT_NB_##token##_ZERO] = netburst_whole_record, \
	[FAULT_NB_##token##_STALE] = netburst_whole_record,
#define FAULT_NB_PAIR(token, field, name, requirements, title) \
	[FAULT_NB_##token##_SWAPPED] = netburst_whole_record,
#include "refpmu/faults/fault_netburst.def"
#undef FAULT
};

bool netburst_has_rule(enum fault_id of)
{
	return netburst_rules[of];
}

bool netburst_rule(enum fault_id of, enum fault_id on)
{
	static struct netburst_fixture r;

	nbfixture_open(&r, on, true);
	return netburst_rules[of](&r);
}
