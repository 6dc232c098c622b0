/* SPDX-License-Identifier: MIT */
/*
 * The rules that faults of adaptive records and of PEBS on every counter break. The expected
 * groups, sizes and order are typed from Linux and kvm-unit-tests.
 */
#include "host/model/rules/internal.h"

#define ADAPTIVE	BIT(34)
#define FIXED(n)	get(r, 0x309 + (n))

enum { MEM = 1, GPR = 2, XMM = 4, LBR = 8 };

static void jump(struct fixture *r)
{
	fixture_retire(r, &(struct model_retired){ .branch = BRANCH_JUMP });
}

static bool basic_is_right(struct fixture *r, u64 word, u64 counters, u64 ip)
{
	return at(r, 0) == word && at(r, 8) == ip && at(r, 0x10) == counters &&
	       at(r, 0x18) == r->m.cycles;
}

static bool gpr_is_right(struct fixture *r, unsigned offset)
{
	bool right = at(r, offset) == r->regs.rflags && at(r, offset + 8) == r->regs.rip;

	for (unsigned i = 0; i < 16; i++)
		right = right && at(r, offset + 0x10 + 8 * i) == r->regs.gpr[i];
	return right;
}

static bool xmm_is_right(struct fixture *r, unsigned offset)
{
	for (unsigned i = 0; i < 256; i++)
		if (r->memory[0x1000 + offset + i] != (u8)(i + r->xmm))
			return false;
	return true;
}

static bool lbr_is_right(struct fixture *r, unsigned offset, unsigned entries)
{
	u64 tos = get(r, 0x1c9);

	for (unsigned i = 0; i < entries; i++, offset += 0x18) {
		u32 n = (u32)(tos - i) & 31;

		if (at(r, offset) != get(r, 0x680 + n) || at(r, offset + 8) != get(r, 0x6c0 + n) ||
		    at(r, offset + 0x10) != get(r, 0xdc0 + n))
			return false;
	}
	return true;
}

/* IA32_PMC2 samples the third of three loads. */
static bool record_is_right(struct fixture *r, u64 groups, unsigned entries)
{
	u64 config = groups | (groups & LBR ? (u64)(entries - 1) << 24 : 0);
	unsigned offset = 0x20, size = 0x20;

	size += groups & MEM ? 0x20 : 0;
	size += groups & GPR ? 0x90 : 0;
	size += groups & XMM ? 0x100 : 0;
	size += groups & LBR ? 0x18 * entries : 0;
	fixture_stop(r);
	empty_buffer(r);
	r->xmm++;
	fixture_wrmsr(r, 0x390, BIT(2));
	fixture_wrmsr(r, 0x3f2, config);
	fixture_program_pebs(r, 2, LOADS, ADAPTIVE, 2);
	fixture_start(r, BIT(2));
	for (unsigned i = 0; i < 5; i++)
		jump(r);
	loads(r, 3);
	if (fixture_index(r) != FIXTURE_BUFFER + size || get(r, 0x3f2) != config ||
	    !basic_is_right(r, config | (u64)size << 48, BIT(2), r->regs.rip - 4))
		return false;
	if (groups & MEM) {
		if (at(r, offset) != ADDRESS || at(r, offset + 8) || at(r, offset + 0x10) ||
		    at(r, offset + 0x18))
			return false;
		offset += 0x20;
	}
	if (groups & GPR) {
		if (!gpr_is_right(r, offset))
			return false;
		offset += 0x90;
	}
	if (groups & XMM) {
		if (!xmm_is_right(r, offset))
			return false;
		offset += 0x100;
	}
	return !(groups & LBR) || lbr_is_right(r, offset, entries);
}

static bool records_are_right(struct fixture *r)
{
	bool right = true;

	fixture_wrmsr(r, 0x1d9, 1);
	for (u64 groups = 0; groups < 16; groups++)
		right = right && record_is_right(r, groups, 1);
	right = right && record_is_right(r, LBR | GPR, 4) && record_is_right(r, 15, 32);
	/* A branch that is recorded as mispredicted. */
	fixture_backward_branch(r, false);
	return right && record_is_right(r, LBR, 8);
}

/* Calls, of which the third is recorded. */
static bool registers_of_a_branch_are_right(struct fixture *r)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, GPR);
	fixture_program_pebs(r, 2, EVENT_BR_INST_RETIRED_NEAR_CALL, ADAPTIVE, 2);
	fixture_start(r, BIT(2));
	for (unsigned i = 0; i < 3; i++)
		fixture_branch(r, BRANCH_CALL, true);
	return fixture_index(r) == FIXTURE_BUFFER + 0xb0 && gpr_is_right(r, 0x20);
}

/* A stack without entries; a load whose latency is in the record. */
static bool latency_is_recorded(struct fixture *r)
{
	u64 latency;

	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, MEM);
	fixture_wrmsr(r, 0x3f6, 3);
	fixture_program_pebs(r, 1, 0x01cd, ADAPTIVE, 2);
	fixture_start(r, BIT(1));
	for (unsigned i = 0; i < 200 && fixture_index(r) == FIXTURE_BUFFER; i++)
		fixture_load(r, ADDRESS + 64 * (i % 8));
	latency = at(r, 0x30);
	/* The L1 is the fastest source. */
	return fixture_index(r) == FIXTURE_BUFFER + 0x40 && latency > 3 && !at(r, 0x38) &&
	       latency == r->m.tagged.latency;
}

static bool others_are_basic(struct fixture *r)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, 15);
	fixture_wrmsr(r, 0x186, ADAPTIVE);
	fixture_program_pebs(r, 1, INST, 0, 2);
	fixture_start(r, BIT(1));
	fixture_nops(r, 3);
	return fixture_index(r) == FIXTURE_BUFFER + 0x20 && at(r, 0) == 0x20ULL << 48;
}

static bool an_empty_stack_is_zeros(struct fixture *r)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, LBR | 3 << 24);
	fixture_program_pebs(r, 1, INST, ADAPTIVE, 2);
	fixture_start(r, BIT(1));
	fixture_nops(r, 3);
	for (unsigned i = 0; i < 12; i++)
		if (at(r, 0x20 + 8 * i))
			return false;
	return fixture_index(r) == FIXTURE_BUFFER + 0x80;
}

static bool time_goes_on(struct fixture *r)
{
	u64 before = 0;

	empty_buffer(r);
	fixture_program_pebs(r, 1, INST, 0, 2);
	fixture_start(r, BIT(1));
	fixture_nops(r, 12);
	for (u64 i = 0x18; FIXTURE_BUFFER + i < fixture_index(r); i += 0x20) {
		if (at(r, (unsigned)i) < before)
			return false;
		before = at(r, (unsigned)i);
	}
	return fixture_index(r) > FIXTURE_BUFFER + 0x60;
}

/* Check the first record of this counter: the counters, the reset value, adaptive or not. */
static bool samples(struct fixture *r, unsigned n, u64 counters, u64 reset, u64 word)
{
	u64 first = r->regs.rip, now;

	for (unsigned i = 0; i < 20 && fixture_index(r) == FIXTURE_BUFFER; i++)
		fixture_nops(r, 1);
	now = get(r, n < 8 ? 0xc1 + n : 0x309 + n - 8);
	fixture_stop(r);
	return at(r, 0x10) == counters && now == reset && at(r, 0) == word && at(r, 8) >= first &&
	       at(r, 8) < r->regs.rip;
}

/* Each slot has a different value. */
static void all_slots(struct fixture *r)
{
	for (unsigned i = 0; i < 12; i++)
		fixture_poke(r, FIXTURE_DS + 0x40 + 8 * i, MINUS(0x1000 + 0x100 * i));
}

static bool general_counters_sample(struct fixture *r)
{
	for (unsigned n = 0; n < 8; n++) {
		empty_buffer(r);
		all_slots(r);
		fixture_wrmsr(r, 0x3f1, BIT(n));
		fixture_program(r, n, INST, 0, 3);
		fixture_start(r, BIT(n));
		if (!samples(r, n, BIT(n), MINUS(0x1000 + 0x100 * n), 0x20ULL << 48))
			return false;
	}
	return true;
}

static bool fixed_counters_sample(struct fixture *r)
{
	fixture_wrmsr(r, 0x3f2, GPR);
	for (unsigned i = 0; i < 4; i++) {
		empty_buffer(r);
		all_slots(r);
		fixture_wrmsr(r, 0x3f1, BIT(32 + i));
		fixture_wrmsr(r, 0x38d, 3ULL << 4 * i | BIT(32 + 4 * i));
		fixture_wrmsr(r, 0x309 + i, MINUS(12));
		fixture_start(r, BIT(32 + i));
		if (!samples(r, 8 + i, BIT(32 + i), MINUS(0x1800 + 0x100 * i), GPR | 0xb0ULL << 48))
			return false;
	}
	return true;
}

/* Counter 0 is enabled for PEBS too, but doesn't count. */
static bool fixed_counters_sample_beside_others(struct fixture *r)
{
	for (unsigned i = 0; i < 4; i++) {
		empty_buffer(r);
		all_slots(r);
		fixture_wrmsr(r, 0x3f1, BIT(32 + i) | BIT(0));
		fixture_wrmsr(r, 0x38d, 3ULL << 4 * i);
		fixture_wrmsr(r, 0x309 + i, MINUS(12));
		fixture_start(r, BIT(32 + i));
		fixture_nops(r, 20);
		fixture_stop(r);
		if (fixture_index(r) != FIXTURE_BUFFER + 0x20 || at(r, 0x10) != BIT(32 + i))
			return false;
	}
	return true;
}

/* IA32_PMC1 and fixed counter 0 overflow on one instruction. */
static bool both_kinds_are_reloaded(struct fixture *r)
{
	empty_buffer(r);
	all_slots(r);
	fixture_wrmsr(r, 0x3f1, BIT(32) | BIT(1));
	fixture_program(r, 1, INST, 0, 12);
	fixture_wrmsr(r, 0x38d, 3);
	fixture_wrmsr(r, 0x309, MINUS(12));
	fixture_start(r, BIT(32) | BIT(1));
	fixture_nops(r, 20);
	fixture_stop(r);
	return PMC(1) >= MINUS(0x1100) && PMC(1) < MINUS(0x1000) && FIXED(0) >= MINUS(0x1800) &&
	       FIXED(0) < MINUS(0x1700);
}

static bool fixed_counters_record_xmm(struct fixture *r)
{
	r->xmm++;
	empty_buffer(r);
	all_slots(r);
	fixture_wrmsr(r, 0x3f2, XMM);
	fixture_wrmsr(r, 0x3f1, BIT(32));
	fixture_wrmsr(r, 0x38d, 3 | BIT(32));
	fixture_wrmsr(r, 0x309, MINUS(12));
	fixture_start(r, BIT(32));
	fixture_nops(r, 20);
	fixture_stop(r);
	return fixture_index(r) == FIXTURE_BUFFER + 0x120 && xmm_is_right(r, 0x20);
}

/* A slot whose upper half doesn't follow from the lower one. */
static bool fixed_slots_are_whole(struct fixture *r)
{
	empty_buffer(r);
	fixture_poke(r, FIXTURE_DS + 0x80, 0x800012345678);
	fixture_wrmsr(r, 0x3f1, BIT(32));
	fixture_wrmsr(r, 0x38d, 3);
	fixture_wrmsr(r, 0x309, MINUS(12));
	fixture_start(r, BIT(32));
	return samples(r, 8, BIT(32), 0x800012345678, 0x20ULL << 48);
}

static bool fixed_records_want_room(struct fixture *r)
{
	empty_buffer(r);
	fixture_poke(r, FIXTURE_DS + 0x30, FIXTURE_BUFFER + 0x18);
	fixture_wrmsr(r, 0x3f1, BIT(32));
	fixture_wrmsr(r, 0x38d, 3);
	fixture_wrmsr(r, 0x309, MINUS(3));
	fixture_start(r, BIT(32));
	fixture_nops(r, 10);
	return fixture_index(r) == FIXTURE_BUFFER;
}

static bool counter_4_interrupts_beside_pebs(struct fixture *r)
{
	fixture_wrmsr(r, 0x3f1, BIT(0));
	fixture_program(r, 4, INST, INT, 3);
	fixture_start(r, BIT(4));
	fixture_nops(r, 5);
	return r->n_interrupts == 1;
}

/* A fixed counter's record at the threshold. */
static bool a_threshold_of_fixed_freezes(struct fixture *r)
{
	empty_buffer(r);
	fixture_poke(r, FIXTURE_DS + 0x38, FIXTURE_BUFFER + 8);
	fixture_wrmsr(r, 0x1d9, BIT(12));
	fixture_wrmsr(r, 0x3f1, BIT(32));
	fixture_wrmsr(r, 0x38d, 3);
	fixture_wrmsr(r, 0x309, MINUS(3));
	fixture_start(r, BIT(32));
	fixture_nops(r, 10);
	return fixture_status(r) & BIT(59);
}

/* IA32_PMC1's record at the threshold. */
static bool a_threshold_freezes_nothing_unasked(struct fixture *r)
{
	empty_buffer(r);
	fixture_poke(r, FIXTURE_DS + 0x38, FIXTURE_BUFFER + 8);
	fixture_program_pebs(r, 1, LOADS, 0, 2);
	fixture_start(r, BIT(1));
	loads(r, 4);
	return (fixture_status(r) & (BIT(59) | BIT(62))) == BIT(62);
}

/* All groups: more than 1 KiB. */
static bool a_large_record_passes_the_threshold(struct fixture *r)
{
	empty_buffer(r);
	fixture_poke(r, FIXTURE_DS + 0x38, FIXTURE_BUFFER + 8);
	fixture_wrmsr(r, 0x3f2, MEM | GPR | XMM | LBR | 31ULL << 24);
	fixture_program_pebs(r, 1, LOADS, ADAPTIVE, 2);
	fixture_start(r, BIT(1));
	loads(r, 4);
	return fixture_status(r) & BIT(62);
}

/* IA32_PMC4, with an entry that has cycles. */
static bool info_is_in_each_record(struct fixture *r)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x1d9, 1);
	fixture_nops(r, 5);
	fixture_backward_branch(r, true);
	fixture_wrmsr(r, 0x3f2, LBR);
	fixture_program_pebs(r, 4, INST, ADAPTIVE, 2);
	fixture_start(r, BIT(4));
	fixture_nops(r, 4);
	return at(r, 0x30);
}

static bool any_event_samples(struct fixture *r)
{
	empty_buffer(r);
	fixture_program_pebs(r, 0, 0x003c, 0, 5);
	fixture_start(r, BIT(0));
	fixture_nops(r, 10);
	return fixture_index(r) > FIXTURE_BUFFER;
}

static bool two_counters_are_named(struct fixture *r)
{
	u64 named = 0;

	empty_buffer(r);
	all_slots(r);
	fixture_program(r, 3, INST, 0, 3);	/* beside them, without PEBS */
	fixture_wrmsr(r, 0x3f1, BIT(0) | BIT(1));
	fixture_program(r, 0, INST, 0, 3);
	fixture_program(r, 1, INST, 0, 3);
	fixture_start(r, BIT(0) | BIT(1) | BIT(3));
	fixture_nops(r, 6);
	for (u64 i = 0x10; FIXTURE_BUFFER + i < fixture_index(r); i += 0x20)
		named |= at(r, (unsigned)i);
	return named == (BIT(0) | BIT(1));
}

static bool a_slot_of_0_restarts_at_0(struct fixture *r)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f1, BIT(0));
	fixture_poke(r, FIXTURE_DS + 0x40, 0);
	fixture_program(r, 0, INST, 0, 3);
	fixture_start(r, BIT(0));
	return samples(r, 0, BIT(0), 0, 0x20ULL << 48);
}

static bool large_records_want_room(struct fixture *r)
{
	empty_buffer(r);
	fixture_poke(r, FIXTURE_DS + 0x30, FIXTURE_BUFFER + 0x80);
	fixture_wrmsr(r, 0x3f2, GPR);
	fixture_program_pebs(r, 0, INST, ADAPTIVE, 3);
	fixture_start(r, BIT(0));
	fixture_nops(r, 6);
	return fixture_index(r) == FIXTURE_BUFFER;
}

/* 01C0H isn't an event of this counter with a record of the instruction that overflows. */
static bool pmc1_has_no_precise_distribution(struct fixture *r)
{
	empty_buffer(r);
	fixture_program_pebs(r, 1, 0x01c0, 0, 3);
	fixture_start(r, BIT(1));
	fixture_nops(r, 3);
	return fixture_index(r) == FIXTURE_BUFFER;
}

/* ---- registers ---- */

static bool a_change_holds_at_once(struct fixture *r)
{
	return record_is_right(r, GPR, 1) && record_is_right(r, MEM, 1);
}

RULE(data_cfg_refuses_reserved_bits, REFUSED(0x3f2, BIT(4)) && REFUSED(0x3f2, BIT(32)))
RULE(without_baseline_nothing_is_adaptive,
     fixture_wrmsr(r, 0x3f2, 0) == MSR_GP && model_rdmsr(&r->m, 0x3f2).status == MSR_GP &&
	     REFUSED(0x186, ADAPTIVE) && REFUSED(0x38d, BIT(32)) &&
	     model_rdmsr(&r->m, 0x329).status == MSR_GP)
RULE(pebs_enable_has_its_counters,
     TAKEN(0x3f1, 0xf000000ffULL) && REFUSED(0x3f1, BIT(8)) && REFUSED(0x3f1, BIT(36)))
RULE(fixed_counter_3_counts, (fixture_set(r, 0x38d, 0x3000), fixture_set(r, 0x38f, BIT(35)),
			      fixture_nops(r, 10), FIXED(3) >= 10))
RULE(there_are_four_fixed_counters,
     model_rdmsr(&r->m, 0x30c).status == MSR_DONE && model_rdmsr(&r->m, 0x30d).status == MSR_GP &&
	     TAKEN(0x38f, 0x1000f000000ffULL) && REFUSED(0x38f, BIT(36)) &&
	     TAKEN(0x38d, 0xbbbbULL) && REFUSED(0x38d, BIT(16)))
RULE(anythread_is_gone,
     REFUSED(0x186, BIT(21)) && REFUSED(0x38d, BIT(2)) && REFUSED(0x38d, BIT(10)))
RULE(metrics_clear_wants_its_capability, REFUSED(0x38d, BIT(14)))

static bool cpuid_enumerates(struct fixture *r)
{
	u32 regs[4] = { 0 };

	model_cpuid(&r->m, 0xa, 0, regs);
	return (regs[0] & 0xffffff) == 0x300805 && regs[2] == 0xf && regs[3] == 0x8604;
}

/* MSR_PEBS_DATA_CFG and MSR_PERF_METRICS. */
static bool a_core_has_each_register_twice(struct fixture *one)
{
	static const u32 registers[] = { 0x3f2, 0x329 };

	return each_thread_has_its_own(one, registers, sizeof(registers) / sizeof(registers[0]));
}

rule *const skylake_without_rules[FAULT_COUNT] = {
	[FAULT_DATA_CFG_ANYWHERE] = without_baseline_nothing_is_adaptive,
	[FAULT_ADAPTIVE_BIT_ANYWHERE] = without_baseline_nothing_is_adaptive,
	[FAULT_ADAPTIVE_FIXED_ANYWHERE] = without_baseline_nothing_is_adaptive,
	[FAULT_METRICS_ANYWHERE] = without_baseline_nothing_is_adaptive,
};

rule *const icelake_rules[FAULT_COUNT] = {
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_ADAPTIVE_GROUP(token, group, name, requirements, title) \
	[FAULT_ADAPTIVE_##token##_MISSING] = records_are_right, \
	[FAULT_ADAPTIVE_##token##_DOUBLED] = records_are_right, \
	[FAULT_ADAPTIVE_##token##_SHORT] = records_are_right, \
	[FAULT_ADAPTIVE_##token##_LONG] = records_are_right, \
	[FAULT_ADAPTIVE_##token##_ALWAYS] = records_are_right,
#define FAULT_ADAPTIVE_ORDER(token, group, name, requirements, title) \
	[FAULT_ADAPTIVE_##token##_LATE] = records_are_right,
#define FAULT_FORMAT_BIT(token, bit, name, title) \
	[FAULT_FORMAT_##token##_FLIPPED] = records_are_right,
#include "refpmu/faults/icelake/fault_icelake.def"
#undef FAULT
	[FAULT_FORMAT_WITHOUT_ENTRIES] = records_are_right,
	[FAULT_FORMAT_ZERO] = records_are_right,
	[FAULT_FORMAT_ALWAYS] = others_are_basic,
	[FAULT_FORMAT_TSC] = records_are_right,
	[FAULT_FORMAT_RESERVED] = records_are_right,
	[FAULT_FORMAT_SIZE_ZERO] = records_are_right,
	[FAULT_FORMAT_SIZE_BASIC] = records_are_right,
	[FAULT_FIXED_3_OFF] = fixed_counter_3_counts,
	[FAULT_FORMAT_SIZE_OF_FIXED] = fixed_counters_sample,
	[FAULT_GROUP_LBR_NOT_WITH_XMM] = records_are_right,
	[FAULT_RESET_FIXED_32_BITS] = fixed_slots_are_whole,
	[FAULT_ROOM_OF_FIXED] = fixed_records_want_room,
	[FAULT_BASIC_EXCHANGED] = records_are_right,
	[FAULT_BASIC_IP_FORMAT] = records_are_right,
	[FAULT_BASIC_TSC_COUNTER] = records_are_right,
	[FAULT_BASIC_TSC_FALLS] = time_goes_on,
	[FAULT_MEMORY_SOURCE_FIRST] = records_are_right,
	[FAULT_MEMORY_LATENCY_LAST] = latency_is_recorded,
	[FAULT_MEMORY_ADDRESS_LINE] = records_are_right,
	[FAULT_MEMORY_TX_STALE] = records_are_right,
	[FAULT_GROUP_RIP_EVENTING] = records_are_right,
	[FAULT_GROUP_REGISTERS_STALE] = records_are_right,
	[FAULT_GROUP_OLD_ORDER] = records_are_right,
	[FAULT_GROUP_RSP_RBP] = records_are_right,
	[FAULT_GROUP_RSP_OF_BRANCHES] = registers_of_a_branch_are_right,
	[FAULT_XMM_HALVES] = records_are_right,
	[FAULT_XMM_REVERSED] = records_are_right,
	[FAULT_XMM_LOW_EIGHT] = records_are_right,
	[FAULT_XMM_STALE] = records_are_right,
	[FAULT_GROUP_LBR_OLDEST] = records_are_right,
	[FAULT_GROUP_LBR_PHYSICAL] = records_are_right,
	[FAULT_GROUP_LBR_TO_FIRST] = records_are_right,
	[FAULT_GROUP_LBR_LEAKS] = an_empty_stack_is_zeros,
	[FAULT_GROUP_LBR_INFO] = records_are_right,
	[FAULT_GROUP_LBR_INFO_FIRST_FOUR] = info_is_in_each_record,
	[FAULT_LARGE_RECORD_LATE] = a_large_record_passes_the_threshold,
	[FAULT_THRESHOLD_FREEZES_UNASKED] = a_threshold_freezes_nothing_unasked,
	[FAULT_THRESHOLD_NO_FREEZE_FIXED] = a_threshold_of_fixed_freezes,
	[FAULT_GROUP_LBR_ONE_LESS] = records_are_right,
	[FAULT_GROUP_LBR_ALL] = records_are_right,
	[FAULT_ADAPTIVE_IGNORED] = records_are_right,
	[FAULT_ADAPTIVE_NOT_NEEDED] = others_are_basic,
	[FAULT_ADAPTIVE_BY_PMC0] = others_are_basic,
	[FAULT_ADAPTIVE_BY_NEIGHBOUR] = fixed_counters_sample,
	[FAULT_DATA_CFG_LATCHED] = a_change_holds_at_once,
	[FAULT_DATA_CFG_NO_ENTRIES] = records_are_right,
	[FAULT_DATA_CFG_RESERVED] = data_cfg_refuses_reserved_bits,
	[FAULT_APPLICABLE_FIXED_AT_8] = fixed_counters_sample,
	[FAULT_APPLICABLE_UNARMED] = two_counters_are_named,
	[FAULT_APPLICABLE_ONE] = two_counters_are_named,
	[FAULT_PEBS_PRECISE_ONLY] = any_event_samples,
	[FAULT_PEBS_FIRST_FOUR] = general_counters_sample,
	[FAULT_RELOADS_GP_ALONE] = both_kinds_are_reloaded,
	[FAULT_FIXED_PEBS_ALONE] = fixed_counters_sample_beside_others,
	[FAULT_XMM_LOW_EIGHT_FIXED] = fixed_counters_record_xmm,
	[FAULT_INT_4_QUIET_BESIDE_PEBS] = counter_4_interrupts_beside_pebs,
	[FAULT_PEBS_NO_FIXED] = fixed_counters_sample,
	[FAULT_PEBS_NO_FIXED_3] = fixed_counters_sample,
	[FAULT_PEBS_FIXED_BY_MASK] = pebs_enable_has_its_counters,
	[FAULT_RESET_SLOTS_EXCHANGED] = general_counters_sample,
	[FAULT_RESET_FIXED_PMC0] = fixed_counters_sample,
	[FAULT_RESET_FIXED_NEXT] = fixed_counters_sample,
	[FAULT_RESET_ZERO_KEPT] = a_slot_of_0_restarts_at_0,
	[FAULT_ROOM_OF_BASIC] = large_records_want_room,
	[FAULT_LATENCY_WANTS_BITS] = latency_is_recorded,
	[FAULT_LATENCY_BELOW] = latency_is_recorded,
	[FAULT_PDIR_ON_PMC1] = pmc1_has_no_precise_distribution,
	[FAULT_FIXED_IP_BEFORE] = fixed_counters_sample,
	[FAULT_PEBS_DATA_CFG_SHARED] = a_core_has_each_register_twice,
	[FAULT_PERF_METRICS_SHARED] = a_core_has_each_register_twice,
	[FAULT_FIXED_4_ANSWERS] = there_are_four_fixed_counters,
	[FAULT_FIXED_MASK_EMPTY] = there_are_four_fixed_counters,
	[FAULT_GLOBAL_CTRL_FIXED_4] = there_are_four_fixed_counters,
	[FAULT_FIXED_CTRL_4] = there_are_four_fixed_counters,
	[FAULT_FIXED_ANYTHREAD_LEFT] = anythread_is_gone,
	[FAULT_ANYTHREAD_LEFT] = anythread_is_gone,
	[FAULT_CPUID_ANYTHREAD_SHOWN] = cpuid_enumerates,
	[FAULT_GP_COUNTERS_HALVED] = cpuid_enumerates,
	[FAULT_METRICS_CLEAR_ANYWHERE] = metrics_clear_wants_its_capability,
	[FAULT_SLOTS_OF_ANOTHER] = cpuid_enumerates,
};
