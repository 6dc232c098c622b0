/* SPDX-License-Identifier: MIT */
/* Rules about a whole class, of which refpmu/faults/fault_class.def breaks one: see rules.h. */
#include "host/model/rules/internal.h"

#define CMASK(n)	((u64)(n) << IA32_PERFEVTSEL_CMASK_SHIFT)
#define LOW_VECTOR	22

/* What counter 0 counts of so many loads in each of n instructions. */
static u64 counted_loads(struct fixture *r, u64 bits, u8 each, unsigned n)
{
	struct model_retired i = { .loads = each };

	fixture_program(r, 0, LOADS, bits, 0);
	fixture_start(r, BIT(0));
	while (n--)
		fixture_retire(r, &i);
	fixture_stop(r);
	return PMC(0);
}

RULE(cmask_has_eight_bits, counted_loads(r, CMASK(0x80), 2, 10) == 0)
RULE(edge_goes_by_cmask, counted_loads(r, CMASK(3) | IA32_PERFEVTSEL_E, 2, 10) == 0)
RULE(inv_is_below_cmask, counted_loads(r, CMASK(2) | IA32_PERFEVTSEL_INV, 2, 10) < 10)

static bool edx_is_ignored(struct fixture *r)
{
	fixture_set(r, MSR_IA32_PMC0, BIT(32) | 5);
	return PMC(0) == 5;
}

static bool several_carry(struct fixture *r)
{
	struct model_retired i = { .loads = 8 };

	fixture_program(r, 0, LOADS, 0, 0);
	fixture_set(r, MSR_IA32_A_PMC0, BIT(32) - 4);
	fixture_start(r, BIT(0));
	fixture_retire(r, &i);
	return PMC(0) == BIT(32) + 4;
}

static bool fixed_carry(struct fixture *r)
{
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 3);
	fixture_set(r, MSR_IA32_FIXED_CTR0, BIT(32) - 2);
	fixture_start(r, BIT(32));
	fixture_nops(r, 4);
	return fixture_get(r, MSR_IA32_FIXED_CTR0) == BIT(32) + 2;
}

static bool rings_between_are_user(struct fixture *r)
{
	fixture_set(r, MSR_IA32_PERFEVTSEL0, INST | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_USR);
	fixture_start(r, BIT(0));
	r->cpl = 1;
	fixture_nops(r, 3);
	r->cpl = 2;
	fixture_nops(r, 3);
	r->cpl = 0;
	return PMC(0) == 6;
}

static bool cycles_of_rings_are_user(struct fixture *r)
{
	fixture_set(r, MSR_IA32_PERFEVTSEL0,
		    EVENT_UNHALTED_CORE_CYCLES | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS);
	fixture_start(r, BIT(0));
	r->cpl = 1;
	fixture_nops(r, 3);
	r->cpl = 0;
	return !PMC(0);
}

static bool rings_between_make_records(struct fixture *r)
{
	bool recorded;

	r->cpl = 1;
	recorded = one_record(r, 0, 0);
	r->cpl = 0;
	return recorded;
}

#define HALT	1000000u
static u64 now;

static u64 read_tsc(void *ctx)
{
	(void)ctx;
	return now += HALT;
}

static bool fixed_1_stops_in_hlt(struct fixture *r)
{
	r->host.tsc = read_tsc;
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0x30);
	fixture_start(r, BIT(33));
	model_halt(&r->m);
	fixture_nops(r, 3);
	return fixture_get(r, MSR_IA32_FIXED_CTR0 + 1) < HALT;
}

/* ---- records of branches ---- */

#define BRANCH		0x401000u
#define TARGET		0x402000u

/* Three taken conditional branches make one record. */
static bool taken_branches_make_a_record(struct fixture *r, unsigned n, u32 event)
{
	fixture_program_pebs(r, n, event, 0, 2);
	fixture_start(r, BIT(n));
	for (unsigned i = 0; i < 3; i++)
		model_retire(&r->m,
			     &(struct model_retired){ .ip = BRANCH + 16 * i,
							     .next_ip = BRANCH + 16 * i + 2,
						      .branch = BRANCH_CONDITIONAL, .taken = true,
							     .after.rip = TARGET });
	return fixture_records(r) == 1;
}

static bool rip_is_the_target(struct fixture *r)
{
	return taken_branches_make_a_record(r, 0, EVENT_BR_INST_RETIRED_CONDITIONAL) &&
	       at(r, RECORD_RIP) == TARGET;
}

static bool pdir_names_branches(struct fixture *r)
{
	return taken_branches_make_a_record(r, 1, EVENT_INST_RETIRED_PREC_DIST) &&
	       at(r, RECORD_EVENTING) == BRANCH + 16;
}

/* Compatibility mode: the record of the second of two loads. */
static bool a_load_of_compatibility_mode_is_named(struct fixture *r)
{
	fixture_program_pebs(r, 0, EVENT_MEM_UOPS_RETIRED_ALL_LOADS, 0, 1);
	fixture_start(r, BIT(0));
	for (unsigned i = 0; i < 3; i++)
		fixture_retire(r, &(struct model_retired){
					  .compatibility = true,
					  .loads = 1,
					  .n_access = 1,
					  .access = { { BRANCH, 8, false, false } },
				  });
	return fixture_records(r) == 1 && at(r, RECORD_EVENTING) < at(r, RECORD_RIP);
}

/* ---- status and interrupts ---- */

static bool condchgd_is_cleared(struct fixture *r)
{
	const u64 changed = IA32_PERF_GLOBAL_STATUS_COND_CHGD;

	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 3);
	fixture_set(r, MSR_IA32_FIXED_CTR0, MINUS(2));
	fixture_start(r, BIT(32));
	fixture_nops(r, 3);
	fixture_set(r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, changed);
	return !(fixture_status(r) & changed);
}

static bool ovfbuf_stays_beside(struct fixture *r, u64 cleared)
{
	fixture_ds(r, 8, 1);
	if (!one_record(r, 0, 0))
		return false;
	fixture_set(r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, cleared);
	return fixture_status(r) & IA32_PERF_GLOBAL_STATUS_OVF_BUF;
}
RULE(ovfbuf_stays_beside_condchgd, ovfbuf_stays_beside(r, IA32_PERF_GLOBAL_STATUS_COND_CHGD))
RULE(ovfbuf_stays_beside_fixed_2, ovfbuf_stays_beside(r, BIT(34)))

/* Counter 0 has wrapped and waits for its next event. */
static bool an_armed_counters_bit_stays_beside_ovfbuf(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 2);
	fixture_wrmsr(r, 0x390, IA32_PERF_GLOBAL_STATUS_OVF_BUF);
	return fixture_status(r) & BIT(0);
}

static bool ovfbuf_stays(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	if (!one_record(r, 0, 0))
		return false;
	fixture_stop(r);
	fixture_ds(r, 8, 8);
	return one_record(r, 0, 0) && fixture_status(r) & IA32_PERF_GLOBAL_STATUS_OVF_BUF;
}

static bool threshold_0_is_reached(struct fixture *r)
{
	fixture_poke(r, FIXTURE_DS + 0x38, 0);
	return one_record(r, 0, 0) && fixture_status(r) & IA32_PERF_GLOBAL_STATUS_OVF_BUF;
}

static bool a_freeze_leaves_pebs_enable(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	fixture_set(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	return one_record(r, 0, 0) && fixture_get(r, MSR_IA32_PERF_GLOBAL_CTRL) == 0 &&
	       fixture_get(r, MSR_IA32_PEBS_ENABLE) == BIT(0);
}

static bool a_write_leaves_the_status(struct fixture *r)
{
	if (!one_overflow(r))
		return false;
	fixture_stop(r);
	fixture_set(r, MSR_IA32_PMC0, 5);
	return fixture_status(r) & BIT(0);
}

static bool an_assist_leaves_fixed_bits(struct fixture *r)
{
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 3);
	fixture_set(r, MSR_IA32_FIXED_CTR0, MINUS(2));
	fixture_start(r, BIT(32));
	fixture_nops(r, 3);
	fixture_stop(r);
	return one_record(r, 0, 0) && fixture_status(r) & BIT(32);
}

/* By the threshold interrupt. */
static bool a_freeze_stops_fixed_counters(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	fixture_set(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0) | BITS(32, 34));
	loads(r, 3);
	return fixture_records(r) == 1 && !fixture_get(r, MSR_IA32_PERF_GLOBAL_CTRL);
}

/* By fixed counter 1. */
static bool a_freeze_by_cycles_stops_all(struct fixture *r)
{
	fixture_set(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0xb0);
	fixture_set(r, MSR_IA32_FIXED_CTR0 + 1, MINUS(1));
	fixture_start(r, BIT(0) | BIT(33));
	fixture_nops(r, 3);
	return !fixture_get(r, MSR_IA32_PERF_GLOBAL_CTRL);
}

/* IA32_DEBUGCTL after a debug exception with far branches kept out. */
static u64 debugctl_after_debug(struct fixture *r, u64 debugctl)
{
	fixture_set(r, MSR_LBR_SELECT, LBR_SELECT_FAR_BRANCH);
	fixture_set(r, MSR_IA32_DEBUGCTL, debugctl);
	model_transfer(&r->m, 0x1234, 0x5678, 0, 0, TRANSFER_DEBUG);
	return fixture_get(r, MSR_IA32_DEBUGCTL);
}

RULE(a_filtered_debug_exception_clears_lbr, debugctl_after_debug(r, BIT(0)) == 0)
RULE(a_debug_exception_leaves_freezes,
     (debugctl_after_debug(r, BITS(11, 12) | BIT(0)) & BITS(11, 12)) == BITS(11, 12))

/* A branch of the first thread of a core, while both record. */
static bool a_branch_is_in_its_own_thread(struct fixture *one)
{
	static struct fixture r[CORE_THREADS];
	static struct model_core core;
	struct model_config config = one->m.config;

	config.hyper_threading = true;
	fixture_open_core(r, &core, &config);
	for (unsigned t = 0; t < CORE_THREADS; t++)
		fixture_set(&r[t], MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
	fixture_retire(&r[0], &(struct model_retired){ .branch = BRANCH_JUMP, .taken = true });
	return fixture_get(&r[0], MSR_LASTBRANCH_0_FROM_IP + 1) &&
	       !fixture_get(&r[1], MSR_LASTBRANCH_0_FROM_IP) &&
	       !fixture_get(&r[1], MSR_LASTBRANCH_0_FROM_IP + 1);
}

/* IA32_DEBUGCTL after HLT. */
static u64 debugctl_after_hlt(struct fixture *r)
{
	fixture_set(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
	model_halt(&r->m);
	return fixture_get(r, MSR_IA32_DEBUGCTL);
}

RULE(hlt_keeps_recording_on, debugctl_after_hlt(r) == IA32_DEBUGCTL_LBR)

/* IA32_DEBUGCTL.LBR after an overflow that freezes, in call-stack mode. */
static u64 lbr_after_freeze(struct fixture *r)
{
	fixture_set(r, MSR_LBR_SELECT, LBR_SELECT_EN_CALLSTACK);
	fixture_set(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI);
	one_overflow(r);
	return fixture_get(r, MSR_IA32_DEBUGCTL) & IA32_DEBUGCTL_LBR;
}

RULE(call_stack_freezes, !lbr_after_freeze(r))

static bool low_vectors_arrive(struct fixture *r)
{
	fixture_write_lvtpc(r, LOW_VECTOR);
	return one_overflow(r) && r->interrupt[0].kind == PMI_FIXED &&
	       r->interrupt[0].vector == LOW_VECTOR;
}

/* ---- last branch records ---- */

/* The number of entries of a conditional branch, a near return and an indirect call, with these
 * bits of IA32_DEBUGCTL. */
static u64 recorded_beside(struct fixture *r, u64 select, u64 beside)
{
	struct model_retired jcc = { .branch = BRANCH_CONDITIONAL, .taken = true };
	struct model_retired ret = { .branch = BRANCH_RETURN, .taken = true };
	struct model_retired call = { .branch = BRANCH_CALL, .taken = true, .indirect = true };

	fixture_set(r, MSR_LASTBRANCH_TOS, 0);
	fixture_set(r, MSR_LBR_SELECT, select);
	fixture_set(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | beside);
	fixture_retire(r, &jcc);
	fixture_retire(r, &ret);
	fixture_retire(r, &call);
	fixture_set(r, MSR_IA32_DEBUGCTL, 0);
	return fixture_get(r, MSR_LASTBRANCH_TOS);
}

static u64 recorded(struct fixture *r, u64 select)
{
	return recorded_beside(r, select, 0);
}

RULE(bts_bits_leave_recording_on, recorded_beside(r, 0, IA32_DEBUGCTL_BTS_OFF_OS) == 3)
RULE(both_levels_keep_all_out, recorded(r, LBR_SELECT_CPL_EQ_0 | LBR_SELECT_CPL_NEQ_0) == 0)
RULE(an_indirect_call_is_stacked,
     recorded(r, LBR_SELECT_EN_CALLSTACK | LBR_SELECT_JCC | LBR_SELECT_NEAR_RET) == 1)
RULE(kinds_are_kept_out_together, recorded(r, LBR_SELECT_JCC | LBR_SELECT_NEAR_RET) == 1)

/* ---- two logical processors of a core ---- */

static struct fixture thread[CORE_THREADS];
static struct model_core core;

/* The first processor's counter 0 and its fixed counters count the events of both; then it
 * halts. */
static void sleep_first(const struct fixture *r, u64 bits, u64 period)
{
	struct model_config config = r->m.config;

	config.hyper_threading = true;
	fixture_open_core(thread, &core, &config);
	fixture_program(&thread[0], 0, INST, IA32_PERFEVTSEL_ANY | bits, period);
	fixture_set(&thread[0], MSR_IA32_FIXED_CTR_CTRL, 0x777);
	fixture_start(&thread[0], BIT(0) | BIT(33) | BIT(34));
	model_halt(&thread[0].m);
}

static bool counts_while_halted(struct fixture *r)
{
	u64 before;

	sleep_first(r, 0, 0);
	before = fixture_get(&thread[0], MSR_IA32_PMC0);
	fixture_nops(&thread[1], 5);
	return fixture_get(&thread[0], MSR_IA32_PMC0) == before + 5;
}

static bool compares_while_halted(struct fixture *r)
{
	u64 before;

	sleep_first(r, CMASK(1), 0);
	before = fixture_get(&thread[0], MSR_IA32_PMC0);
	fixture_nops(&thread[1], 5);
	return fixture_get(&thread[0], MSR_IA32_PMC0) > before;
}

static bool fixed_any_counts(struct fixture *r)
{
	sleep_first(r, 0, 0);
	fixture_nops(&thread[1], 5);
	return fixture_get(&thread[0], MSR_IA32_FIXED_CTR0 + 2) >= 5 &&
	       fixture_get(&thread[0], MSR_IA32_FIXED_CTR0 + 1) >= 5;
}

static bool fixed_any_counts_with_pmi(struct fixture *r)
{
	u64 before;

	sleep_first(r, 0, 0);
	fixture_set(&thread[0], MSR_IA32_FIXED_CTR_CTRL, 0xfff);
	model_halt(&thread[0].m);
	before = fixture_get(&thread[0], MSR_IA32_FIXED_CTR0 + 2);
	fixture_nops(&thread[1], 5);
	return fixture_get(&thread[0], MSR_IA32_FIXED_CTR0 + 2) >= before + 5;
}

static bool interrupts_while_halted(struct fixture *r)
{
	sleep_first(r, INT, 3);
	fixture_nops(&thread[1], 5);
	model_halt(&thread[0].m);	/* here it takes the other one's request */
	return thread[0].n_interrupts == 1;
}

static bool overflow_by_the_other_is_shown(struct fixture *r)
{
	sleep_first(r, 0, 3);
	fixture_nops(&thread[1], 5);
	return fixture_get(&thread[0], MSR_IA32_PERF_GLOBAL_STATUS) == BIT(0) &&
	       fixture_get(&thread[1], MSR_IA32_PERF_GLOBAL_STATUS) == 0;
}

static bool overflow_by_the_other_freezes(struct fixture *r)
{
	sleep_first(r, INT, 3);
	fixture_set(&thread[0], MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	fixture_start(&thread[1], BIT(0));
	fixture_nops(&thread[1], 5);
	return fixture_get(&thread[0], MSR_IA32_PERF_GLOBAL_CTRL) == 0 &&
	       fixture_get(&thread[1], MSR_IA32_PERF_GLOBAL_CTRL) == BIT(0);
}

static bool sign_copies_are_refused(struct fixture *r)
{
	return fixture_wrmsr(r, MSR_IA32_A_PMC0, BITS(47, 63)) == MSR_GP;
}

/* ---- settings of a counter, registers that aren't there ---- */

static bool pin_control_counts(struct fixture *r)
{
	fixture_program(r, 0, INST, IA32_PERFEVTSEL_PC, 0);
	fixture_start(r, BIT(0));
	fixture_nops(r, 3);
	return PMC(0);
}

static bool pin_control_interrupts(struct fixture *r)
{
	fixture_program(r, 0, INST, INT | IA32_PERFEVTSEL_PC, 3);
	fixture_start(r, BIT(0));
	fixture_nops(r, 3);
	return r->n_interrupts == 1;
}

RULE(pin_control_is_taken, TAKEN(0x186, IA32_PERFEVTSEL_PC))

static bool int_acts_at_once(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 9);
	fixture_start(r, BIT(0));
	fixture_wrmsr(r, 0x186, fixture_get(r, 0x186) | INT);
	fixture_nops(r, 10);
	return r->n_interrupts == 1;
}

static bool micro_operations_count(struct fixture *r)
{
	fixture_program(r, 0, EVENT_UOPS_RETIRED_ALL, 0, 0);
	fixture_start(r, BIT(0));
	r->cpl = 3;
	fixture_nops(r, 3);
	return PMC(0) >= 3;
}

static bool a_fifth_counter_takes_no_write(struct fixture *r)
{
	struct model_config config = r->m.config;

	config.hyper_threading = true;
	fixture_open_config(r, &config);
	return REFUSED(0x18a, 0) && REFUSED(0xc5, 0) && !THERE(0x4c5) && !THERE(0x30c);
}

/* A counter that counts, of branches or fixed counter 0, is written at once with other levels. */
static bool written_levels_hold(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	fixture_start(r, BIT(0));
	fixture_set(r, MSR_IA32_PERFEVTSEL0, INST | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_USR);
	fixture_set(r, MSR_IA32_PMC0, 0);
	fixture_nops(r, 10);
	return PMC(0) == 0;
}

static bool written_cmask_holds(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	fixture_start(r, BIT(0));
	fixture_set(r, MSR_IA32_PERFEVTSEL0,
		    INST | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS |
			    255ULL << IA32_PERFEVTSEL_CMASK_SHIFT);
	fixture_set(r, MSR_IA32_PMC0, 0);
	fixture_nops(r, 10);
	return PMC(0) == 0;
}

static bool written_fixed_levels_hold(struct fixture *r)
{
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 3);
	fixture_start(r, BIT(32));
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 2);
	fixture_set(r, MSR_IA32_FIXED_CTR0, 0);
	fixture_nops(r, 10);
	return fixture_get(r, MSR_IA32_FIXED_CTR0) == 0;
}

rule *const class_rules[FAULT_COUNT] = {
	[FAULT_RUNNING_LEVELS_KEPT] = written_levels_hold,
	[FAULT_RUNNING_CMASK_KEPT] = written_cmask_holds,
	[FAULT_FIXED_RUNNING_LEVELS] = written_fixed_levels_hold,
	[FAULT_PIN_CONTROL_STOPS] = pin_control_counts,
	[FAULT_PIN_CONTROL_QUIET] = pin_control_interrupts,
	[FAULT_PIN_CONTROL_REFUSED] = pin_control_is_taken,
	[FAULT_INT_LATCHED] = int_acts_at_once,
	[FAULT_UOPS_SILENT] = micro_operations_count,
	[FAULT_UOPS_AS_BRANCHES] = micro_operations_count,
	[FAULT_UOPS_NOT_OF_USER] = micro_operations_count,
	[FAULT_ABSENT_COUNTERS_TAKE_WRITES] = a_fifth_counter_takes_no_write,
	[FAULT_A_PMC_4_ANSWERS] = a_fifth_counter_takes_no_write,
	[FAULT_FIXED_3_ANSWERS] = a_fifth_counter_takes_no_write,
	[FAULT_FULL_WIDTH_SIGN_COPIES] = sign_copies_are_refused,
	[FAULT_PMC_TAKES_EDX] = edx_is_ignored,
	[FAULT_SEVERAL_LOSE_CARRY_32] = several_carry,
	[FAULT_FIXED_LOSES_CARRY_32] = fixed_carry,
	[FAULT_RINGS_BETWEEN_AS_OS] = rings_between_are_user,
	[FAULT_CYCLES_OF_RINGS_BY_OS] = cycles_of_rings_are_user,
	[FAULT_CMASK_SEVEN_BITS] = cmask_has_eight_bits,
	[FAULT_EDGE_CMASK_ONE] = edge_goes_by_cmask,
	[FAULT_INV_AT_CMASK] = inv_is_below_cmask,
	[FAULT_RINGS_BETWEEN_NO_RECORDS] = rings_between_make_records,
	[FAULT_FIXED1_COUNTS_HALTS] = fixed_1_stops_in_hlt,
	[FAULT_TAKEN_RIP_BEHIND] = rip_is_the_target,
	[FAULT_PDIR_NOT_OF_BRANCHES] = pdir_names_branches,
	[FAULT_PDIR_NOT_OF_TAKEN] = pdir_names_branches,
	[FAULT_COMPATIBILITY_EVENTING_NEXT] = a_load_of_compatibility_mode_is_named,
	[FAULT_THRESHOLD_LEAVES_FIXED] = a_freeze_stops_fixed_counters,
	[FAULT_ANYTHREAD_STATUS_LOST] = overflow_by_the_other_is_shown,
	[FAULT_ANYTHREAD_STATUS_OF_SIBLING] = overflow_by_the_other_is_shown,
	[FAULT_ANYTHREAD_NO_FREEZE] = overflow_by_the_other_freezes,
	[FAULT_ANYTHREAD_FREEZES_SIBLING] = overflow_by_the_other_freezes,
	[FAULT_ANYTHREAD_NOT_WITH_CMASK] = compares_while_halted,
	[FAULT_ANYTHREAD_DEAF_IN_HLT] = counts_while_halted,
	[FAULT_FIXED12_ANYTHREAD_IGNORED] = fixed_any_counts,
	[FAULT_FIXED2_ANYTHREAD_IGNORED] = fixed_any_counts,
	[FAULT_FIXED2_ANYTHREAD_NOT_WITH_PMI] = fixed_any_counts_with_pmi,
	[FAULT_HALTED_PMI_LOST] = interrupts_while_halted,
	[FAULT_CONDCHGD_STAYS] = condchgd_is_cleared,
	[FAULT_CONDCHGD_CLEARS_OVFBUF] = ovfbuf_stays_beside_condchgd,
	[FAULT_FIXED_CLEARS_OVFBUF] = ovfbuf_stays_beside_fixed_2,
	[FAULT_OVFBUF_CLEARS_PEBS_BITS] = an_armed_counters_bit_stays_beside_ovfbuf,
	[FAULT_OVFBUF_FALLS] = ovfbuf_stays,
	[FAULT_THRESHOLD_0_LOST] = threshold_0_is_reached,
	[FAULT_FREEZE_CLEARS_PEBS_ENABLE] = a_freeze_leaves_pebs_enable,
	[FAULT_COUNTER_WITH_INT_CLEARS_STATUS] = a_write_leaves_the_status,
	[FAULT_ASSIST_CLEARS_FIXED_BIT] = an_assist_leaves_fixed_bits,
	[FAULT_VECTORS_BELOW_32_LOST] = low_vectors_arrive,
	[FAULT_LBR_BOTH_LEVELS_NONE] = both_levels_keep_all_out,
	[FAULT_LBR_STACK_NO_INDIRECT] = an_indirect_call_is_stacked,
	[FAULT_LBR_DEBUG_BY_FILTER] = a_filtered_debug_exception_clears_lbr,
	[FAULT_LBR_NOT_BESIDE_BTS_BITS] = bts_bits_leave_recording_on,
	[FAULT_FREEZE_NOT_IN_CALL_STACK] = call_stack_freezes,
	[FAULT_LBR_TO_RECORDING_SIBLING] = a_branch_is_in_its_own_thread,
	[FAULT_HLT_CLEARS_LBR] = hlt_keeps_recording_on,
	[FAULT_LBR_DEBUG_CLEARS_FREEZES] = a_debug_exception_leaves_freezes,
	[FAULT_FREEZE_BY_CYCLES_LEAVES_GP] = a_freeze_by_cycles_stops_all,
	[FAULT_LBR_JCC_LETS_RET_IN] = kinds_are_kept_out_together,
};
