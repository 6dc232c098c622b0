/* SPDX-License-Identifier: MIT */
/*
 * The rules that faults of version 4, of Skylake's records and of last branch records break. The
 * expected values are typed from "Architectural Performance Monitoring Version 4", "Freezing LBR
 * and Performance Counters on PMI", Table 18-55, and "LBR Stack" with the tables of its formats.
 */
#include "host/model/rules/internal.h"

#define STATUS		fixture_get(r, 0x38e)
#define CTR_FRZ		BIT(59)
#define LBR_FRZ		BIT(58)
#define SET(value)	fixture_set(r, 0x391, value)
#define RESET(value)	fixture_set(r, 0x390, value)
#define INUSE		fixture_get(r, 0x392)
#define DEBUGCTL(value)	fixture_set(r, 0x1d9, value)
#define FIXED(n)	fixture_get(r, 0x309 + (n))

/* ---- status ---- */

RULE(set_sets_one, (SET(BIT(1)), STATUS == BIT(1)) && (SET(BIT(33)), STATUS == (BIT(1) | BIT(33))))
RULE(set_sets_one_that_counts,
     (fixture_set(r, 0x38d, 0x30), fixture_set(r, 0x38f, BIT(33)), SET(BIT(33)), STATUS == BIT(33)))
RULE(set_sets_one_while_frozen, (SET(CTR_FRZ), SET(BIT(2)), STATUS == (CTR_FRZ | BIT(2))))
RULE(what_is_set_is_cleared,
     (SET(BIT(0)), RESET(BIT(0)), STATUS == 0) && (SET(LBR_FRZ), RESET(LBR_FRZ), STATUS == 0))
RULE(before_4_there_is_no_set, fixture_wrmsr(r, 0x391, 0) == MSR_GP)

static bool in_use_is_shown(struct fixture *r)
{
	bool right = INUSE == 0;

	fixture_set(r, 0x187, 0x3c);		/* without EN */
	right = right && INUSE == BIT(1);
	fixture_set(r, 0x187, 0x100000);	/* INT */
	right = right && INUSE == BIT(63);
	fixture_set(r, 0x187, 0);
	fixture_set(r, 0x38d, 0x80);		/* PMI of fixed counter 1 */
	right = right && INUSE == BIT(63);
	fixture_set(r, 0x38d, 0x10);
	right = right && INUSE == BIT(33);
	fixture_set(r, 0x38d, 0);
	fixture_set(r, 0x3f1, 1);
	return right && INUSE == BIT(63);
}

static bool debug_control_keeps(struct fixture *r)
{
	const u64 bits = BIT(0) | BIT(12) | BIT(14);	/* LBR and two freezes */

	DEBUGCTL(bits);
	return fixture_get(r, 0x1d9) == bits;
}

static bool in_use_by_load_latency(struct fixture *r)
{
	fixture_set(r, 0x3f1, BIT(32));
	return INUSE == BIT(63);
}

static bool in_use_by_two_interrupts(struct fixture *r)
{
	fixture_set(r, 0x186, INT);
	fixture_set(r, 0x38d, 0x8);
	return INUSE == BIT(63);
}

static bool bits_54_and_55_are_clear(struct fixture *r)
{
	SET(BIT(62) | BIT(0));
	return STATUS == (BIT(62) | BIT(0));
}

/* ---- freezing ---- */

/* IA32_PMC0 overflows after three instructions; a fixed counter counts too. */
static void overflow(struct fixture *r, u64 interrupt, u64 debugctl)
{
	DEBUGCTL(debugctl);
	fixture_program(r, 0, INST, interrupt, 3);
	fixture_set(r, 0x38d, 0x3);
	fixture_set(r, 0x38f, BIT(0) | BIT(32));
	fixture_nops(r, 3);
}

static bool freezes_by_status(struct fixture *r)
{
	u64 fixed, counter;

	overflow(r, INT, BIT(0) | BIT(11) | BIT(12));
	if (STATUS != (CTR_FRZ | LBR_FRZ | BIT(0)) || fixture_get(r, 0x38f) != (BIT(0) | BIT(32)) ||
	    fixture_get(r, 0x1d9) != (BIT(0) | BIT(11) | BIT(12)))
		return false;
	fixed = FIXED(0);
	counter = PMC(0);
	fixture_nops(r, 5);
	if (FIXED(0) != fixed || PMC(0) != counter)
		return false;
	fixture_set(r, 0x38f, BIT(0) | BIT(32));
	RESET(BIT(32));
	if (STATUS != (CTR_FRZ | LBR_FRZ | BIT(0)))
		return false;
	DEBUGCTL(BIT(0));
	RESET(CTR_FRZ | LBR_FRZ);
	fixture_nops(r, 5);
	return STATUS == BIT(0) && FIXED(0) >= fixed + 5 && PMC(0) >= counter + 5;
}

static bool only_interrupts_freeze(struct fixture *r)
{
	overflow(r, 0, BIT(12));
	return STATUS == BIT(0);
}

static bool an_old_overflow_freezes_nothing(struct fixture *r)
{
	overflow(r, 0, 0);
	DEBUGCTL(BIT(12));
	return STATUS == BIT(0);
}

static bool freezes_with_lvtpc_masked(struct fixture *r)
{
	fixture_write_lvtpc(r, BIT(16));
	overflow(r, INT, BIT(12));
	return STATUS == (CTR_FRZ | BIT(0));
}

RULE(freezes_beside_its_own_bit,
     (SET(BIT(0)), overflow(r, INT, BIT(12)), STATUS == (CTR_FRZ | BIT(0))))
RULE(freezes_at_cpl_3, (r->cpl = 3, overflow(r, INT, BIT(12)), STATUS == (CTR_FRZ | BIT(0))))
RULE(freezes_with_interrupts_off,
     (r->regs.rflags &= ~BIT(9), overflow(r, INT, BIT(12)), STATUS == (CTR_FRZ | BIT(0))))

static bool version_3_shows_no_freeze(struct fixture *r)
{
	overflow(r, INT, BIT(11) | BIT(12));
	return STATUS == BIT(0);
}

/* ---- last branch records ---- */

static u64 from(struct fixture *r, unsigned n)
{
	return fixture_get(r, 0x680 + n);
}

static void a_branch(struct fixture *r, enum model_branch kind, bool indirect, bool taken, u8 cpl)
{
	fixture_retire(r, &(struct model_retired){
		.branch = kind, .indirect = indirect, .taken = taken, .cpl_after = cpl,
			  });
}

static unsigned used(struct fixture *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 32; i++)
		n += from(r, i) != 0;
	return n;
}

/* With this filter, one branch of each kind makes so many entries. */
static bool filtered(struct fixture *r, u64 select, unsigned wanted)
{
	static const struct {
		enum model_branch kind;
		bool indirect;
	} kinds[] = {
		{ BRANCH_CONDITIONAL, false }, { BRANCH_CALL, false }, { BRANCH_CALL, true },
		{ BRANCH_RETURN, false },      { BRANCH_JUMP, true },  { BRANCH_JUMP, false },
		{ BRANCH_FAR, false },
	};

	DEBUGCTL(0);
	for (unsigned i = 0; i < 32; i++)
		fixture_set(r, 0x680 + i, 0);
	fixture_set(r, 0x1c8, select);
	DEBUGCTL(BIT(0));
	for (unsigned i = 0; i < 7; i++)
		a_branch(r, kinds[i].kind, kinds[i].indirect, true, 3);
	DEBUGCTL(0);
	return used(r) == wanted;
}

static bool filters_keep_their_kinds(struct fixture *r)
{
	if (!filtered(r, 0, 7) || !filtered(r, BIT(0), 7) || !filtered(r, BIT(1), 0))
		return false;
	for (unsigned bit = 2; bit <= 8; bit++)
		if (!filtered(r, BIT(bit), 6))
			return false;
	return fixture_wrmsr(r, 0x1c8, BIT(10)) == MSR_GP;
}

static bool events_are_far_branches(struct fixture *r)
{
	fixture_set(r, 0x1c8, BIT(8));
	DEBUGCTL(BIT(0));
	model_transfer(&r->m, 0x1234, 0x5678, 0, 0, false);
	DEBUGCTL(0);
	return used(r) == 0;
}

static bool in_tx_is_beside_mispred(struct fixture *r)
{
	struct model_registers before = r->regs;

	DEBUGCTL(BIT(0));
	fixture_retire(r, &(struct model_retired){ .tx = TX_STARTS });
	model_tx_begin(&r->m, &before, 0x600000);
	a_branch(r, BRANCH_CONDITIONAL, false, true, 0);
	return fixture_get(r, 0xdc1) >> 61 == 6;
}

static bool entries_are_the_printed_ones(struct fixture *r)
{
	u64 ip, tos;

	DEBUGCTL(BIT(0));
	a_branch(r, BRANCH_CONDITIONAL, false, false, 0);
	if (used(r))
		return false;
	for (unsigned i = 0; i < 40; i++) {
		ip = r->ip;
		a_branch(r, i % 2 ? BRANCH_JUMP : BRANCH_CONDITIONAL, false, true, 0);
		tos = fixture_get(r, 0x1c9);
		if (tos != (i + 1) % 32 || from(r, (unsigned)tos) != ip ||
		    fixture_get(r, 0x6c0 + (u32)tos) != ip + 4 ||
		    fixture_get(r, 0xdc0 + (u32)tos) >> 61 != (i % 2 ? 0 : 4))
			return false;
	}
	return used(r) == 32;
}

RULE(refused_status_is_not_set, REFUSED(0x391, BIT(20) | BIT(0)) && STATUS == 0)
RULE(refused_select_is_not_taken,
     TAKEN(0x1c8, 2) && REFUSED(0x1c8, BIT(12) | 1) && fixture_get(r, 0x1c8) == 2)

static bool frozen_counters_take_writes(struct fixture *r)
{
	SET(CTR_FRZ);
	fixture_set(r, 0xc1, 5);
	fixture_set(r, 0x30a, 7);
	fixture_set(r, 0x186, 0xc0);
	return PMC(0) == 5 && FIXED(1) == 7 && STATUS == CTR_FRZ;
}

static bool frozen_at_each_level(struct fixture *r)
{
	u64 before;

	fixture_program(r, 0, INST, 0, 100);
	fixture_start(r, BIT(0));
	SET(CTR_FRZ);
	fixture_nops(r, 1);
	before = PMC(0);
	r->cpl = 3;
	fixture_nops(r, 3);
	return PMC(0) == before;
}

/* Both IA32_PMC0 and fixed counter 0, on the third instruction. */
static bool two_overflows_freeze(struct fixture *r)
{
	DEBUGCTL(BIT(11) | BIT(12));
	fixture_program(r, 0, INST, INT, 3);
	fixture_set(r, 0x309, MINUS(3));
	fixture_set(r, 0x38d, 0x3);
	fixture_set(r, 0x38f, BIT(0) | BIT(32));
	fixture_nops(r, 3);
	return PMC(0) == 0 && FIXED(0) == 0 && fixture_get(r, 0x1d9) == (BIT(11) | BIT(12)) &&
	       (fixture_get(r, 0x38f) == 0 || STATUS & CTR_FRZ);
}

static bool fixed_counter_masks(struct fixture *r)
{
	fixture_set(r, 0x309, MINUS(3));
	fixture_set(r, 0x38d, 0xb);
	fixture_set(r, 0x38f, BIT(32));
	fixture_nops(r, 3);
	return r->n_interrupts == 1 && r->lvtpc & BIT(16);
}

static bool nmi_is_recorded(struct fixture *r)
{
	fixture_write_lvtpc(r, 0x400);
	DEBUGCTL(BIT(0));
	if (!one_overflow(r))
		return false;
	model_transfer(&r->m, 0x1234, 0x5678, 0, 0, 0);
	return used(r) == 1;
}

static bool events_are_recorded(struct fixture *r)
{
	DEBUGCTL(BIT(0));
	model_transfer(&r->m, 0x123400001234, 0x5678, 0, 0, 0);
	if (from(r, 1) != 0x123400001234 || fixture_get(r, 0x6c1) != 0x5678)
		return false;
	model_transfer(&r->m, 0x1234, 0x5678, 0, 0, TRANSFER_DEBUG);
	return fixture_get(r, 0x1d9) == 0 && used(r) == 1;
}

/* An exception with an error code; then debug exceptions, at CPL 3 and by a breakpoint register. */
static bool exceptions_are_told_apart(struct fixture *r)
{
	DEBUGCTL(BIT(0));
	model_transfer(&r->m, 0x1234, 0x5678, 0, 0, TRANSFER_ERROR_CODE);
	if (used(r) != 1)
		return false;
	model_transfer(&r->m, 0x1234, 0x5678, 3, 0, TRANSFER_DEBUG);
	if (fixture_get(r, 0x1d9))
		return false;
	DEBUGCTL(BIT(0));
	model_transfer(&r->m, 0x1234, 0x5678, 0, 0, TRANSFER_DEBUG | TRANSFER_BREAKPOINT);
	return fixture_get(r, 0x1d9) == 0;
}

static bool stopping_keeps_entries(struct fixture *r)
{
	DEBUGCTL(BIT(0));
	a_branch(r, BRANCH_JUMP, false, true, 0);
	model_halt(&r->m);
	if (used(r) != 1)
		return false;
	SET(LBR_FRZ);
	a_branch(r, BRANCH_JUMP, false, true, 0);
	if (used(r) != 1)
		return false;
	RESET(LBR_FRZ);
	overflow(r, INT, BIT(0) | BIT(11));
	if (used(r) != 1)
		return false;
	RESET(LBR_FRZ);
	DEBUGCTL(0);
	a_branch(r, BRANCH_JUMP, false, true, 0);
	return used(r) == 1;
}

static bool returns_pop_calls(struct fixture *r)
{
	fixture_set(r, 0x1c8, 0x3c4);	/* calls and returns, as a stack */
	DEBUGCTL(BIT(0));
	a_branch(r, BRANCH_CALL, false, true, 0);
	a_branch(r, BRANCH_CALL, true, true, 0);
	if (used(r) != 2 || fixture_get(r, 0x1c9) != 2)
		return false;
	a_branch(r, BRANCH_RETURN, false, true, 0);
	return used(r) == 1 && fixture_get(r, 0x1c9) == 1 && !from(r, 2);
}

static bool returns_kept_out_pop_nothing(struct fixture *r)
{
	fixture_set(r, 0x1c8, 0x3c6);	/* the same, at CPL 0 alone */
	DEBUGCTL(BIT(0));
	a_branch(r, BRANCH_CALL, false, true, 0);
	a_branch(r, BRANCH_RETURN, false, true, 3);
	return used(r) == 1 && fixture_get(r, 0x1c9) == 1;
}

static bool indirect_calls_are_stacked_at_cpl_0(struct fixture *r)
{
	fixture_set(r, 0x1c8, 0x3c6);
	DEBUGCTL(BIT(0));
	a_branch(r, BRANCH_CALL, true, true, 0);
	return used(r) == 1;
}

static bool calls_replace_the_oldest(struct fixture *r)
{
	fixture_set(r, 0x1c8, 0x3c4);
	DEBUGCTL(BIT(0));
	for (unsigned i = 0; i < 33; i++)
		a_branch(r, BRANCH_CALL, true, true, 0);
	return used(r) == 32 && fixture_get(r, 0x1c9) == 1 && from(r, 1) > from(r, 0);
}

static bool returns_pop_at_0(struct fixture *r)
{
	fixture_set(r, 0x1c8, 0x3c4);
	fixture_set(r, 0x1c9, 31);
	DEBUGCTL(BIT(0));
	a_branch(r, BRANCH_CALL, false, true, 0);
	a_branch(r, BRANCH_RETURN, false, true, 0);
	return fixture_get(r, 0x1c9) == 31;
}

static bool recording_resumes_at_once(struct fixture *r)
{
	DEBUGCTL(BIT(0));
	SET(LBR_FRZ);
	RESET(LBR_FRZ);
	a_branch(r, BRANCH_JUMP, false, true, 0);
	return used(r) == 1;
}

static bool cycles_end_at_ffff(struct fixture *r)
{
	DEBUGCTL(BIT(0));
	fixture_nops(r, 70000);
	a_branch(r, BRANCH_JUMP, false, true, 0);
	return fixture_get(r, 0xdc1) == 0xffff;
}

/* Format 4: the flags are in FROM. */
static bool haswell_has_flags_in_from(struct fixture *r)
{
	u64 ip;

	DEBUGCTL(BIT(0));
	ip = r->ip;
	a_branch(r, BRANCH_CONDITIONAL, false, true, 0);
	return from(r, 1) == (ip | BIT(63)) && fixture_get(r, 0x6c1) == ip + 4;
}

static bool each_overflow_is_shown(struct fixture *r)
{
	overflow(r, 0, 0);
	RESET(BIT(0));
	fixture_set(r, 0xc1, MINUS(2));
	fixture_nops(r, 3);
	fixture_set(r, 0xc1, 0);
	return STATUS == BIT(0);
}

static bool a_core_has_two_freezes(struct fixture *one)
{
	static struct fixture r[CORE_THREADS];
	static struct model_core core;
	struct model_config config = one->m.config;

	config.hyper_threading = true;
	fixture_open_core(r, &core, &config);
	fixture_set(&r[0], 0x391, CTR_FRZ | BIT(33));
	return fixture_get(&r[1], 0x38e) == 0;
}

static bool a_freeze_is_of_one_thread(struct fixture *one)
{
	static struct fixture r[CORE_THREADS];
	static struct model_core core;
	struct model_config config = one->m.config;

	config.hyper_threading = true;
	fixture_open_core(r, &core, &config);
	for (unsigned i = 0; i < CORE_THREADS; i++)
		fixture_set(&r[i], 0x1d9, BIT(12));
	fixture_program(&r[0], 0, INST, IA32_PERFEVTSEL_INT, 2);
	fixture_start(&r[0], BIT(0));
	fixture_nops(&r[0], 20);
	return fixture_get(&r[0], 0x38e) & CTR_FRZ && !fixture_get(&r[1], 0x38e);
}

static bool code_may_be_in_the_upper_half(struct fixture *r)
{
	DEBUGCTL(BIT(0));
	r->ip = 0xffff8000deadb000;
	a_branch(r, BRANCH_JUMP, false, true, 0);
	return from(r, 1) == 0xffff8000deadb000 && fixture_get(r, 0x6c1) == 0xffff8000deadb004;
}

/* Bit 60 is a flag in no format. */
static bool entries_take_addresses(struct fixture *r)
{
	for (u32 i = 0; i < 32; i += 31)
		for (u32 bank = 0x680; bank <= 0x6c0; bank += 0x40) {
			fixture_set(r, bank + i, 0xffff8000deadb000);
			if (fixture_get(r, bank + i) != 0xffff8000deadb000 ||
			    fixture_wrmsr(r, bank + i, BIT(60)) != MSR_GP)
				return false;
		}
	fixture_set(r, 0xdc5, BIT(63) | 0x1234);
	return fixture_get(r, 0xdc5) == (BIT(63) | 0x1234);
}

/* A mispredicted branch at CPL 3, after a long time, with branches that end at CPL 0 filtered
 * out. */
static bool a_late_branch_is_right(struct fixture *r)
{
	fixture_set(r, 0x1c8, BIT(0));
	DEBUGCTL(BIT(0));
	fixture_nops(r, 70000);
	a_branch(r, BRANCH_CONDITIONAL, false, true, 3);
	a_branch(r, BRANCH_CONDITIONAL, false, true, 3);
	return used(r) == 2 && fixture_get(r, 0xdc2) >> 61 == 4 &&
	       (fixture_get(r, 0xdc2) & 0xffff) - 1 < 100;
}

static bool other_entries_stay(struct fixture *r)
{
	for (u32 i = 0; i < 32; i++)
		fixture_set(r, 0x680 + i, 0x1000 + i);
	DEBUGCTL(BIT(0));
	a_branch(r, BRANCH_JUMP, false, true, 0);
	return from(r, 0) == 0x1000 && from(r, 2) == 0x1002;
}

static bool freezes_are_apart(struct fixture *r)
{
	u64 before;

	DEBUGCTL(BIT(0));
	fixture_program(r, 0, INST, 0, 0);
	fixture_start(r, BIT(0));
	SET(CTR_FRZ);
	before = PMC(0);
	a_branch(r, BRANCH_JUMP, false, true, 0);
	if (used(r) != 1 || PMC(0) != before)
		return false;
	RESET(CTR_FRZ);
	SET(LBR_FRZ);
	before = PMC(0);
	fixture_nops(r, 5);
	return PMC(0) >= before + 5;
}

RULE(a_freeze_stays_asked_for,
     (DEBUGCTL(BIT(12)), fixture_program(r, 0, INST, IA32_PERFEVTSEL_INT, 2),
      fixture_start(r, BIT(0)), fixture_nops(r, 20), STATUS &CTR_FRZ) &&
	     fixture_get(r, 0x1d9) == BIT(12))

static bool a_core_has_two_stacks(struct fixture *one)
{
	static const u32 registers[] = { 0x1c8, 0x1c9, 0x680, 0x6c0, 0xdc0 };

	return each_thread_has_its_own(one, registers, sizeof(registers) / sizeof(registers[0]));
}

RULE(smm_freeze_is_there, fixture_wrmsr(r, 0x1d9, BIT(14)) == MSR_DONE)
RULE(in_use_is_read_only, fixture_wrmsr(r, 0x392, 0) == MSR_GP)
RULE(absent_counters_have_no_status, fixture_wrmsr(r, 0x391, BIT(40)) == MSR_GP)
RULE(info_is_there, fixture_wrmsr(r, 0xdc0, 0) == MSR_DONE)
RULE(info_is_not_there, fixture_wrmsr(r, 0xdc0, 0) == MSR_GP)

rule *const version_3_rules[FAULT_COUNT] = {
	[FAULT_STATUS_SET_BEFORE_4] = before_4_there_is_no_set,
	[FAULT_FREEZE_SHOWN_BEFORE_4] = version_3_shows_no_freeze,
	[FAULT_LBR_FLAGS_IN_TO] = haswell_has_flags_in_from,
	[FAULT_LBR_INFO_UNANNOUNCED] = info_is_not_there,
};

rule *const skylake_rules[FAULT_COUNT] = {
	[FAULT_STATUS_ONCE] = each_overflow_is_shown,
	[FAULT_STATUS_CLEARED_BY_COUNTER] = each_overflow_is_shown,
	[FAULT_OVFBUF_BY_OVERFLOW] = each_overflow_is_shown,
	[FAULT_FROZEN_TOGETHER] = a_core_has_two_freezes,
	[FAULT_STATUS_SET_LEAKS] = a_core_has_two_freezes,
	[FAULT_FREEZE_STOPS_ASKING_SIBLING] = a_freeze_is_of_one_thread,
	[FAULT_LBR_POP_BY_ANY_LEVEL] = returns_kept_out_pop_nothing,
	[FAULT_FREEZE_COUNTERS_ONCE] = a_freeze_stays_asked_for,
	[FAULT_FREEZE_SMM_REFUSED] = smm_freeze_is_there,
	[FAULT_SMM_FREEZE_LOST_BESIDE_FREEZE] = debug_control_keeps,
	[FAULT_LBR_LOST_BESIDE_SMM_FREEZE] = debug_control_keeps,
	[FAULT_INUSE_WITHOUT_UPPER_PEBS] = in_use_by_load_latency,
	[FAULT_INUSE_TAKES_WRITES] = in_use_is_read_only,
	[FAULT_STATUS_SET_ABSENT] = absent_counters_have_no_status,
	[FAULT_LBR_INFO_MISSING] = info_is_there,
	[FAULT_LBR_UPPER_LOST] = entries_take_addresses,
	[FAULT_LBR_ADDRESS_48] = code_may_be_in_the_upper_half,
	[FAULT_LBR_ANY_ADDRESS] = entries_take_addresses,
	[FAULT_LBR_INFO_FLAGS_ONLY] = entries_take_addresses,
	[FAULT_LBR_CLEARS_NEXT] = other_entries_stay,
	[FAULT_LBR_MISPRED_IN_TX] = a_late_branch_is_right,
	[FAULT_LBR_JCC_BY_LEVEL] = a_late_branch_is_right,
	[FAULT_LBR_CYCLES_KEPT_SHORT] = a_late_branch_is_right,
	[FAULT_LBR_CYCLES_ADD_UP] = a_late_branch_is_right,
	[FAULT_LBR_REMOVED_READS] = returns_pop_calls,
	[FAULT_CTR_FRZ_STOPS_LBR] = freezes_are_apart,
	[FAULT_LBR_FRZ_STOPS_COUNTERS] = freezes_are_apart,
	[FAULT_LBR_SELECT_SHARED] = a_core_has_two_stacks,
	[FAULT_LBR_TOS_SHARED] = a_core_has_two_stacks,
	[FAULT_LBR_FROM_SHARED] = a_core_has_two_stacks,
	[FAULT_LBR_TO_SHARED] = a_core_has_two_stacks,
	[FAULT_LBR_INFO_SHARED] = a_core_has_two_stacks,
	[FAULT_STATUS_SET_REPLACES] = set_sets_one,
	[FAULT_STATUS_SET_NEIGHBOUR] = set_sets_one,
	[FAULT_STATUS_SET_NOT_COUNTING] = set_sets_one_that_counts,
	[FAULT_STATUS_SET_NOT_FROZEN] = set_sets_one_while_frozen,
	[FAULT_STATUS_SET_STICKS] = what_is_set_is_cleared,
	[FAULT_STATUS_RESET_KEEPS_LBR_FRZ] = what_is_set_is_cleared,
	[FAULT_INUSE_NEEDS_EN] = in_use_is_shown,
	[FAULT_INUSE_BY_PMI] = in_use_is_shown,
	[FAULT_INUSE_PMI_32] = in_use_is_shown,
	[FAULT_INUSE_WITHOUT_PEBS] = in_use_is_shown,
	[FAULT_INUSE_TOO_MANY] = in_use_is_shown,
	[FAULT_STATUS_BIT_54] = bits_54_and_55_are_clear,
	[FAULT_STATUS_BIT_55] = bits_54_and_55_are_clear,
	[FAULT_FREEZE_LEGACY] = freezes_by_status,
	[FAULT_FREEZE_BOTH] = freezes_by_status,
	[FAULT_CTR_FRZ_INERT] = freezes_by_status,
	[FAULT_CTR_FRZ_GP_ONLY] = freezes_by_status,
	[FAULT_CTR_FRZ_ENDS_BY_CTRL] = freezes_by_status,
	[FAULT_CTR_FRZ_ENDS_BY_ANY] = freezes_by_status,
	[FAULT_CTR_FRZ_ENDS_BY_FIXED] = freezes_by_status,
	[FAULT_CTR_FRZ_WANTS_ALL] = freezes_by_status,
	[FAULT_CTR_FRZ_STICKY] = freezes_by_status,
	[FAULT_STATUS_SET_REFUSED_TAKEN] = refused_status_is_not_set,
	[FAULT_LBR_SELECT_REFUSED_TAKEN] = refused_select_is_not_taken,
	[FAULT_CTR_FRZ_LOSES_WRITES] = frozen_counters_take_writes,
	[FAULT_CTR_FRZ_ENDS_BY_ENABLES] = frozen_counters_take_writes,
	[FAULT_CTR_FRZ_CPL_0_ONLY] = frozen_at_each_level,
	[FAULT_FREEZE_NOT_OF_TWO] = two_overflows_freeze,
	[FAULT_FREEZE_LBRS_ONCE] = two_overflows_freeze,
	[FAULT_FIXED_LEAVES_UNMASKED] = fixed_counter_masks,
	[FAULT_INUSE_PMI_OF_ONE] = in_use_by_two_interrupts,
	[FAULT_LBR_NMI_MISSED] = nmi_is_recorded,
	[FAULT_CTR_FRZ_DRIFTS] = freezes_by_status,
	[FAULT_FREEZE_WITHOUT_INT] = only_interrupts_freeze,
	[FAULT_FREEZE_BY_LEVEL] = an_old_overflow_freezes_nothing,
	[FAULT_FREEZE_WANTS_NEW_BIT] = freezes_beside_its_own_bit,
	[FAULT_FREEZE_WANTS_CPL_0] = freezes_at_cpl_3,
	[FAULT_FREEZE_WANTS_IF] = freezes_with_interrupts_off,
	[FAULT_FREEZE_WANTS_LVT] = freezes_with_lvtpc_masked,
	[FAULT_LBR_FRZ_INERT] = stopping_keeps_entries,
	[FAULT_LBR_FRZ_CLEARS] = stopping_keeps_entries,
	[FAULT_LBR_SHORT] = entries_are_the_printed_ones,
	[FAULT_LBR_TOS_NEXT] = entries_are_the_printed_ones,
	[FAULT_LBR_FULL_STOPS] = entries_are_the_printed_ones,
	[FAULT_LBR_FULL_CALL_STACK_STOPS] = calls_replace_the_oldest,
	[FAULT_LBR_FROM_NEXT] = entries_are_the_printed_ones,
	[FAULT_LBR_TO_FROM] = entries_are_the_printed_ones,
	[FAULT_LBR_NOT_TAKEN] = entries_are_the_printed_ones,
	[FAULT_LBR_STACK_NO_INDIRECT_OF_OS] = indirect_calls_are_stacked_at_cpl_0,
	[FAULT_LBR_MISPRED_LAST_LOST] = entries_are_the_printed_ones,
	[FAULT_LBR_MISPRED_INVERTED] = entries_are_the_printed_ones,
	[FAULT_LBR_FLAGS_IN_FROM] = entries_are_the_printed_ones,
	[FAULT_LBR_INFO_NOISE] = entries_are_the_printed_ones,
	[FAULT_LBR_EVENTS_LET_IN] = events_are_far_branches,
	[FAULT_LBR_IN_TX_NO_MISPRED] = in_tx_is_beside_mispred,
	[FAULT_LBR_ERROR_CODE_MISSED] = exceptions_are_told_apart,
	[FAULT_LBR_DEBUG_USER_GOES_ON] = exceptions_are_told_apart,
	[FAULT_LBR_BREAKPOINT_GOES_ON] = exceptions_are_told_apart,
	[FAULT_LBR_NO_INTERRUPTS] = events_are_recorded,
	[FAULT_LBR_DEBUG_GOES_ON] = events_are_recorded,
	[FAULT_LBR_MISPRED_OS_ONLY] = a_late_branch_is_right,
	[FAULT_LBR_CYCLES_OS_ONLY] = a_late_branch_is_right,
	[FAULT_LBR_EVENT_FROM_32] = events_are_recorded,
	[FAULT_LBR_OFF_CLEARS] = stopping_keeps_entries,
	[FAULT_LBR_OFF_RECORDS] = stopping_keeps_entries,
	[FAULT_LBR_HLT_CLEARS] = stopping_keeps_entries,
	[FAULT_LBR_LEVELS_EXCHANGED] = filters_keep_their_kinds,
	[FAULT_LBR_JCC_LET_IN] = filters_keep_their_kinds,
	[FAULT_LBR_REL_CALL_LET_IN] = filters_keep_their_kinds,
	[FAULT_LBR_IND_CALL_LET_IN] = filters_keep_their_kinds,
	[FAULT_LBR_RET_LET_IN] = filters_keep_their_kinds,
	[FAULT_LBR_IND_JMP_LET_IN] = filters_keep_their_kinds,
	[FAULT_LBR_REL_JMP_LET_IN] = filters_keep_their_kinds,
	[FAULT_LBR_FAR_LET_IN] = filters_keep_their_kinds,
	[FAULT_LBR_JCC_KEEPS_ALL] = filters_keep_their_kinds,
	[FAULT_LBR_RETURNS_MISSED] = filters_keep_their_kinds,
	[FAULT_LBR_SELECT_WIDE] = filters_keep_their_kinds,
	[FAULT_LBR_READ_ONLY] = filters_keep_their_kinds,
	[FAULT_LBR_CALL_KEPT] = returns_pop_calls,
	[FAULT_LBR_POP_STAYS_AT_0] = returns_pop_at_0,
	[FAULT_LBR_FIRST_AFTER_FRZ_LOST] = recording_resumes_at_once,
	[FAULT_LBR_CYCLES_WRAP] = cycles_end_at_ffff,
};
