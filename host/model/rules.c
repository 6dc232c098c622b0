/* SPDX-License-Identifier: MIT */
/* See rules.h. A rule is a short program on a fresh processor and what must be seen then. */
#include "host/model/rules.h"
#include "host/model/rules_internal.h"

#define INST	EVENT_INST_RETIRED_ANY_P
#define PDIR	EVENT_INST_RETIRED_PREC_DIST
#define LOADS	EVENT_MEM_UOPS_RETIRED_ALL_LOADS
#define STORES	EVENT_MEM_UOPS_RETIRED_ALL_STORES
#define INT	IA32_PERFEVTSEL_INT
#define CMASK	(1ULL << IA32_PERFEVTSEL_CMASK_SHIFT)
#define ADDRESS	(RIG_MEMORY_BASE + 0x3000)
#define MINUS(n) (-(u64)(n) & BITS(0, 47))
#define PMC(n)	rig_get(r, MSR_IA32_PMC0 + (n))
#define FIXED(n) rig_get(r, MSR_IA32_FIXED_CTR0 + (n))

static void loads(struct rig *r, unsigned n)
{
	while (n--)
		rig_load(r, ADDRESS);
}

/* counting */

static bool counts_instructions(struct rig *r)
{
	rig_program(r, 0, INST, 0, 0);
	rig_start(r, BIT(0));
	rig_nops(r, 100);
	return PMC(0) == 100;
}

static bool pmc3_counts_as_pmc0(struct rig *r)
{
	rig_program(r, 0, INST, 0, 0);
	rig_program(r, 3, INST, 0, 0);
	rig_start(r, BIT(0) | BIT(3));
	rig_nops(r, 100);
	return PMC(0) == PMC(3);
}

static bool counts_where_told(struct rig *r)
{
	rig_set(r, MSR_IA32_PERFEVTSEL0, INST | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_USR);
	rig_start(r, BIT(0));
	rig_nops(r, 5);
	return PMC(0) == 0;
}

static bool counts_branches_not_taken(struct rig *r)
{
	rig_program(r, 0, EVENT_BR_INST_RETIRED_ALL_BRANCHES, 0, 0);
	rig_start(r, BIT(0));
	rig_branch(r, BRANCH_CONDITIONAL, false);
	rig_branch(r, BRANCH_CONDITIONAL, true);
	return PMC(0) == 2;
}

static bool counts_loads_only(struct rig *r)
{
	rig_program(r, 0, LOADS, 0, 0);
	rig_start(r, BIT(0));
	rig_store(r, ADDRESS);
	rig_load(r, ADDRESS);
	return PMC(0) == 1;
}

static bool counts_stores(struct rig *r)
{
	rig_program(r, 0, STORES, 0, 0);
	rig_start(r, BIT(0));
	for (int i = 0; i < 40; i++)
		rig_store(r, ADDRESS);
	return PMC(0) == 40;
}

static bool counts_locked_loads(struct rig *r)
{
	rig_program(r, 0, EVENT_MEM_UOPS_RETIRED_LOCK_LOADS, 0, 0);
	rig_start(r, BIT(0));
	rig_locked_add(r, ADDRESS);
	return PMC(0) == 1;
}

static bool cmask_needs_that_many(struct rig *r)
{
	rig_program(r, 0, INST, 255 * CMASK, 0);
	rig_start(r, BIT(0));
	rig_nops(r, 20);
	return PMC(0) == 0;
}

static bool inv_counts_the_others(struct rig *r)
{
	rig_program(r, 0, INST, 255 * CMASK | IA32_PERFEVTSEL_INV, 0);
	rig_start(r, BIT(0));
	rig_nops(r, 20);
	return PMC(0) == 20;
}

static bool edge_counts_transitions(struct rig *r)
{
	rig_program(r, 0, INST, CMASK | IA32_PERFEVTSEL_E, 0);
	rig_start(r, BIT(0));
	rig_nops(r, 20);
	return PMC(0) == 1;
}

static bool rdpmc_is_rdmsr(struct rig *r)
{
	rig_program(r, 0, INST, 0, 0);
	rig_start(r, BIT(0));
	rig_nops(r, 20);
	return PMC(0) == model_rdpmc(&r->m, 0).value;
}

static bool rdpmc_of_nothing_faults(struct rig *r)
{
	return model_rdpmc(&r->m, 8).status == MSR_GP;
}

static bool global_enable_is_needed(struct rig *r)
{
	rig_program(r, 0, INST, 0, 0);
	rig_nops(r, 20);
	return PMC(0) == 0;
}

static bool fixed_0_counts_as_pmc0(struct rig *r)
{
	rig_program(r, 0, INST, 0, 0);
	rig_set(r, MSR_IA32_FIXED_CTR_CTRL, 3);
	rig_start(r, BIT(0) | BIT(32));
	rig_nops(r, 100);
	return PMC(0) == FIXED(0);
}

static bool wraps_at_48_bits(struct rig *r)
{
	rig_program(r, 0, INST, 0, 0);
	rig_set(r, MSR_IA32_A_PMC0, BITS(0, 39));
	rig_start(r, BIT(0));
	rig_nops(r, 1);
	return PMC(0) == BIT(40) && !rig_status(r);
}

/* status and interrupt */

static bool overflow_interrupts(struct rig *r)
{
	rig_program(r, 0, INST, INT, 3);
	rig_start(r, BIT(0));
	rig_nops(r, 3);
	return r->n_interrupts == 1;
}

static bool fixed_overflow_interrupts(struct rig *r)
{
	rig_set(r, MSR_IA32_FIXED_CTR0, MINUS(3));
	rig_set(r, MSR_IA32_FIXED_CTR_CTRL, 0xb);
	rig_start(r, BIT(32));
	rig_nops(r, 3);
	return r->n_interrupts == 1;
}

static bool handler_sees_the_overflow(struct rig *r)
{
	return overflow_interrupts(r) && r->interrupt[0].status == BIT(0);
}

static bool delivery_masks(struct rig *r)
{
	return overflow_interrupts(r) && r->lvtpc & BIT(16);
}

static bool delivery_mode_counts(struct rig *r)
{
	r->lvtpc = 0x4f0;
	return overflow_interrupts(r) && r->interrupt[0].kind == PMI_NMI;
}

static bool reading_clears_nothing(struct rig *r)
{
	rig_program(r, 0, INST, 0, 3);
	rig_start(r, BIT(0));
	rig_nops(r, 3);
	rig_stop(r);
	rig_status(r);
	return rig_status(r) == BIT(0);
}

static bool clears_what_is_written(struct rig *r)
{
	rig_program(r, 0, INST, 0, 3);
	rig_program(r, 1, INST, 0, 3);
	rig_start(r, BIT(0) | BIT(1));
	rig_nops(r, 3);
	rig_stop(r);
	rig_set(r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, BIT(0));
	return rig_status(r) == BIT(1);
}

static bool without_int_none(struct rig *r)
{
	rig_program(r, 0, INST, 0, 3);
	rig_start(r, BIT(0));
	rig_nops(r, 3);
	return !r->requests && rig_status(r) == BIT(0);
}

static bool status_is_read_only(struct rig *r)
{
	return rig_wrmsr(r, MSR_IA32_PERF_GLOBAL_STATUS, 0) == MSR_GP;
}

static bool freezes(struct rig *r)
{
	rig_wrmsr(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	return overflow_interrupts(r) && !rig_get(r, MSR_IA32_PERF_GLOBAL_CTRL);
}

static bool fixed_status_at_32(struct rig *r)
{
	return fixed_overflow_interrupts(r) && r->interrupt[0].status == BIT(32);
}

/* PEBS: a counter of loads, two of them arm it, a third makes a record. */

static bool one_record(struct rig *r, u64 bits)
{
	rig_program_pebs(r, 0, LOADS, bits, 2);
	rig_start(r, BIT(0));
	loads(r, 3);
	return rig_records(r) == 1;
}

static bool assist_waits_for_its_event(struct rig *r)
{
	rig_program_pebs(r, 0, LOADS, 0, 2);
	rig_start(r, BIT(0));
	loads(r, 2);
	rig_nops(r, 4);
	return rig_status(r) == BIT(0) && rig_index(r) == RIG_BUFFER;
}

static bool pebs_without_int_is_quiet(struct rig *r)
{
	return one_record(r, 0) && !r->requests;
}

static bool disarmed_by_pebs_enable(struct rig *r)
{
	rig_program_pebs(r, 0, LOADS, 0, 2);
	rig_start(r, BIT(0));
	loads(r, 2);
	rig_set(r, MSR_IA32_PEBS_ENABLE, 0);
	loads(r, 2);
	return rig_status(r) == BIT(0) && rig_index(r) == RIG_BUFFER;
}

static bool precise_distribution(struct rig *r)
{
	u64 ip;

	rig_program_pebs(r, 1, PDIR, 0, 200);
	rig_start(r, BIT(1));
	rig_nops(r, 199);
	ip = r->ip;
	rig_nops(r, 2);
	return rig_record(r, 0, 0xb0) == ip;
}

static bool index_advances_by_c0(struct rig *r)
{
	one_record(r, 0);
	return rig_index(r) == RIG_BUFFER + 0xc0;
}

static bool registers_in_their_places(struct rig *r)
{
	static const u8 offsets[REG_COUNT] = {
		[REG_RAX] = 0x10, [REG_RBX] = 0x18, [REG_RCX] = 0x20, [REG_RDX] = 0x28,
		[REG_RSI] = 0x30, [REG_RDI] = 0x38, [REG_RBP] = 0x40, [REG_RSP] = 0x48,
		[REG_R8] = 0x50, [REG_R9] = 0x58, [REG_R10] = 0x60, [REG_R11] = 0x68,
		[REG_R12] = 0x70, [REG_R13] = 0x78, [REG_R14] = 0x80, [REG_R15] = 0x88,
	};
	bool held = one_record(r, 0);

	for (unsigned i = 0; i < REG_COUNT; i++)
		held = held && rig_record(r, 0, offsets[i]) == r->regs.gpr[i];
	return held;
}

static bool registers_after(struct rig *r)
{
	return one_record(r, 0) && rig_record(r, 0, 0x10) == r->regs.gpr[REG_RAX];
}

static bool flags_after(struct rig *r)
{
	return one_record(r, 0) && rig_record(r, 0, 0x00) == r->regs.rflags;
}

static bool eventing_ip(struct rig *r)
{
	return one_record(r, 0) && rig_record(r, 0, 0xb0) == r->ip - 4;
}

static bool next_ip(struct rig *r)
{
	return one_record(r, 0) && rig_record(r, 0, 0x08) == r->ip;
}

static bool status_before(struct rig *r)
{
	return one_record(r, 0) && rig_record(r, 0, 0x90) == BIT(0);
}

static bool no_latency(struct rig *r)
{
	return one_record(r, 0) && rig_record(r, 0, 0xa8) == 0;
}

static bool nothing_behind(struct rig *r)
{
	return one_record(r, 0) && rig_record(r, 1, 0) == 0;
}

static bool threshold_at_two(struct rig *r)
{
	unsigned after_one;

	rig_ds(r, 8, 2);
	rig_program_pebs(r, 0, LOADS, 0, 2);
	rig_start(r, BIT(0));
	loads(r, 3);
	after_one = r->requests;
	loads(r, 3);
	return !after_one && r->requests == 1;
}

static bool stops_at_maximum(struct rig *r)
{
	rig_ds(r, 1, 8);
	one_record(r, 0);
	loads(r, 6);
	return rig_index(r) == RIG_BUFFER + 0xc0 && rig_record(r, 1, 0x98) == 0;
}

static bool reloads(struct rig *r)
{
	return one_record(r, 0) && PMC(0) == MINUS(2);
}

static bool reloads_no_other(struct rig *r)
{
	rig_program(r, 1, INST, 0, 1);
	rig_set_reset(r, 1, 0x1000);
	rig_program_pebs(r, 0, LOADS, 0, 2);
	rig_start(r, BIT(0) | BIT(1));
	loads(r, 3);
	return rig_records(r) == 1 && PMC(1) == 2;
}

/* priority and order */

static bool first_counter_makes_the_record(struct rig *r)
{
	rig_program_pebs(r, 0, LOADS, 0, 1);
	rig_program_pebs(r, 2, EVENT_BR_INST_RETIRED_ALL_BRANCHES_PEBS, 0, 1);
	rig_start(r, BIT(0) | BIT(2));
	for (int i = 0; i < 2; i++)
		rig_retire(r, &(struct model_retired){
			.branch = BRANCH_CALL, .loads = 1, .n_access = 1,
			.access = { { ADDRESS, 8, false, false } } });
	return rig_records(r) == 1 && rig_record(r, 0, 0x98) == ADDRESS;
}

/* PMC1 and PMC2: an overflow interrupt of one on the instruction of the other's assist. */
static bool both_served(struct rig *r, unsigned interrupting, unsigned precise)
{
	rig_program(r, interrupting, INST, INT, 2);
	rig_program_pebs(r, precise, LOADS, 0, 1);
	rig_start(r, BIT(1) | BIT(2));
	loads(r, 2);
	return r->n_interrupts == 1 && rig_records(r) == 1;
}

static bool interrupt_not_displaced(struct rig *r)
{
	return both_served(r, 1, 2);
}

static bool assist_not_displaced(struct rig *r)
{
	return both_served(r, 2, 1);
}

static bool one_for_all(struct rig *r)
{
	r->unmasks = true;
	rig_program(r, 0, INST, INT, 3);
	rig_program(r, 1, INST, INT, 3);
	rig_start(r, BIT(0) | BIT(1));
	rig_nops(r, 3);
	return r->n_interrupts == 1;
}

static bool none_before_the_assist(struct rig *r)
{
	rig_program_pebs(r, 0, LOADS, INT, 2);
	rig_start(r, BIT(0));
	loads(r, 2);
	rig_nops(r, 5);
	return !r->n_interrupts && rig_status(r) == BIT(0);
}

static bool two_in_order(struct rig *r)
{
	rig_ds(r, 8, 1);
	r->unmasks = true;
	one_record(r, INT);
	return r->n_interrupts == 2;
}

static bool threshold_first(struct rig *r)
{
	return two_in_order(r) && r->interrupt[0].status & BIT(62);
}

static bool record_before_interrupt(struct rig *r)
{
	rig_ds(r, 8, 1);
	one_record(r, 0);
	return r->n_interrupts == 1 && r->interrupt[0].index == RIG_BUFFER + 0xc0 &&
	       rig_record(r, 0, 0x98) == ADDRESS;
}

/* write rules */

static bool reserved_bit_faults(struct rig *r)
{
	return rig_wrmsr(r, MSR_IA32_PEBS_ENABLE, BIT(63)) == MSR_GP;
}

static bool sign_extends(struct rig *r)
{
	rig_set(r, MSR_IA32_PMC0, 0x80000000);
	return PMC(0) == 0xffff80000000;
}

static bool takes_the_full_width(struct rig *r)
{
	rig_set(r, MSR_IA32_A_PMC0, 0x123456789abc);
	return PMC(0) == 0x123456789abc;
}

static rule *const rules[FAULT_COUNT] = {
	[FAULT_INERT] = counts_instructions,
	[FAULT_INSTRUCTIONS_MISSED] = counts_instructions,
	[FAULT_PMC3_COUNTS_TWICE] = pmc3_counts_as_pmc0,
	[FAULT_CPL_IGNORED] = counts_where_told,
	[FAULT_BRANCH_TAKEN_ONLY] = counts_branches_not_taken,
	[FAULT_LOADS_COUNT_STORES] = counts_loads_only,
	[FAULT_STORES_MISSED] = counts_stores,
	[FAULT_LOCK_IGNORED] = counts_locked_loads,
	[FAULT_CMASK_IGNORED] = cmask_needs_that_many,
	[FAULT_INV_IGNORED] = inv_counts_the_others,
	[FAULT_EDGE_IGNORED] = edge_counts_transitions,
	[FAULT_RDPMC_STALE] = rdpmc_is_rdmsr,
	[FAULT_RDPMC_ABSENT_ANSWERS] = rdpmc_of_nothing_faults,
	[FAULT_GLOBAL_CTRL_IGNORED] = global_enable_is_needed,
	[FAULT_FIXED_TWIN_OFF] = fixed_0_counts_as_pmc0,
	[FAULT_WIDTH_40] = wraps_at_48_bits,
	[FAULT_GP_PMI_LOST] = overflow_interrupts,
	[FAULT_FIXED_PMI_LOST] = fixed_overflow_interrupts,
	[FAULT_STATUS_LATE] = handler_sees_the_overflow,
	[FAULT_LVTPC_NOT_MASKED] = delivery_masks,
	[FAULT_NMI_AS_FIXED] = delivery_mode_counts,
	[FAULT_STATUS_CLEARED_BY_READ] = reading_clears_nothing,
	[FAULT_OVF_CTRL_CLEARS_ALL] = clears_what_is_written,
	[FAULT_INT_IGNORED] = without_int_none,
	[FAULT_STATUS_WRITABLE] = status_is_read_only,
	[FAULT_FREEZE_IGNORED] = freezes,
	[FAULT_FIXED_STATUS_MISPLACED] = fixed_status_at_32,
	[FAULT_ASSIST_AT_ANY] = assist_waits_for_its_event,
	[FAULT_PEBS_INTERRUPTS] = pebs_without_int_is_quiet,
	[FAULT_ARM_SURVIVES] = disarmed_by_pebs_enable,
	[FAULT_PDIR_SKIDS] = precise_distribution,
	[FAULT_RECORD_AT_OVERFLOW] = assist_waits_for_its_event,
	[FAULT_RECORD_SIZE_B0] = index_advances_by_c0,
	[FAULT_GPR_ORDER] = registers_in_their_places,
	[FAULT_GPR_STALE] = registers_after,
	[FAULT_FLAGS_STALE] = flags_after,
	[FAULT_EVENTING_IP_NEXT] = eventing_ip,
	[FAULT_RIP_EVENTING] = next_ip,
	[FAULT_STATUS_AFTER_ASSIST] = status_before,
		[FAULT_LATENCY_LEFT] = no_latency,
	[FAULT_WRITE_PAST_RECORD] = nothing_behind,
	[FAULT_INDEX_NOT_ADVANCED] = index_advances_by_c0,
	[FAULT_THRESHOLD_LATE] = threshold_at_two,
	[FAULT_THRESHOLD_ALWAYS] = threshold_at_two,
	[FAULT_PAST_MAXIMUM] = stops_at_maximum,
	[FAULT_NO_RELOAD] = reloads,
	[FAULT_RELOAD_ALL] = reloads_no_other,
	[FAULT_PRIORITY_REVERSED] = first_counter_makes_the_record,
	[FAULT_ASSIST_DROPS_INTERRUPT] = interrupt_not_displaced,
	[FAULT_INTERRUPT_DROPS_ASSIST] = assist_not_displaced,
	[FAULT_PMI_PER_COUNTER] = one_for_all,
	[FAULT_OVF_AT_WRAP] = none_before_the_assist,
	[FAULT_THRESHOLD_LAST] = threshold_first,
	[FAULT_TWO_MERGED] = two_in_order,
	[FAULT_RECORD_AFTER_PMI] = record_before_interrupt,
	[FAULT_RESERVED_ACCEPTED] = reserved_bit_faults,
	[FAULT_PMC_NOT_SIGN_EXTENDED] = sign_extends,
	[FAULT_FULL_WIDTH_TRUNCATED] = takes_the_full_width,
};

/* Where the rules of a table hold. */
static const struct {
	enum generation_id generation;
	rule *const *rules;
} tables[] = {
	{ GEN_HASWELL, rules },
	{ GEN_HASWELL, further_rules },
	{ GEN_HASWELL, pebs_rules },
	{ GEN_HASWELL, memory_rules },
	{ GEN_NEHALEM, uncore_rules },
	{ GEN_NEHALEM, generation_rules },
	{ GEN_BROADWELL, tx_rules },
	{ GEN_HASWELL, core_rules },
	{ GEN_HASWELL, elsewhere_rules },
};

static void open(struct rig *r, enum generation_id generation, enum fault_id fault,
		 bool hyper_threading, const struct fault_when *when)
{
	struct model_config config = {
		.generation = generation, .fault = fault, .hyper_threading = hyper_threading,
		.when = *when,
	};

	rig_open_config(r, &config);
	rig_ds(r, 8, 8);
}

static bool holds(enum fault_id of, enum fault_id on, bool hyper_threading,
		  const struct fault_when *when)
{
	static struct rig r;

	if (netburst_has_rule(of))
		return netburst_rule(of, on);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].rules[of]) {
			open(&r, tables[i].generation, on, hyper_threading, when);
			return tables[i].rules[of](&r);
		}
	open(&r, generated_generation(of), on, hyper_threading, when);
	return memory_rule(of, &r);
}

bool rule_holds(enum fault_id of, enum fault_id on, bool hyper_threading)
{
	static const struct fault_when always;

	return holds(of, on, hyper_threading, &always);
}

bool rule_holds_when(enum fault_id of, enum fault_id on, const struct fault_when *when)
{
	return holds(of, on, true, when);
}

bool fault_is_visible(enum fault_id fault)
{
	static struct rig r;
	unsigned on = 0;

	rig_open(&r, fault, 0, true);
	for (unsigned f = FAULT_NONE; f < FAULT_COUNT; f++)
		on += model_fault(&r.m, f);
	return on == 1 && model_fault(&r.m, fault);
}
