/* SPDX-License-Identifier: MIT */
/*
 * The rules that faults of E-cores break, and faults of other differences between kinds of cores.
 * The expected values are typed from SDM volume 1, CPUID leaves 0AH and 1AH, Linux and
 * intel/perfmon.
 */
#include "host/model/rules/internal.h"

#define LATENCY		0x05d0
#define STORE_LATENCY	0x06d0

static bool pmc1_is_precise(struct fixture *r)
{
	empty_buffer(r);
	fixture_program_pebs(r, 1, 0x81d0, 0, 300);
	fixture_start(r, BIT(1));
	loads(r, 300);
	return fixture_index(r) == FIXTURE_BUFFER + 0x20 && at(r, 8) == r->ip - 4;
}

static bool pmc1_is_precise_beside_pmc0(struct fixture *r)
{
	empty_buffer(r);
	fixture_program_pebs(r, 0, 0x81d0, 0, 100000);
	fixture_program_pebs(r, 1, 0x81d0, 0, 300);
	fixture_wrmsr(r, 0x3f1, 3);
	fixture_start(r, 3);
	loads(r, 300);
	return fixture_index(r) == FIXTURE_BUFFER + 0x20 && at(r, 8) == r->ip - 4;
}

static bool pmc1_is_precise_at_cpl_3(struct fixture *r)
{
	bool precise;

	r->cpl = 3;
	precise = pmc1_is_precise(r);
	r->cpl = 0;
	return precise;
}

RULE(loads_are_sampled_on_two,
     event_makes_record(r, 0, LATENCY) && event_makes_record(r, 1, LATENCY))
RULE(stores_are_sampled_on_all,
     event_makes_record(r, 0, STORE_LATENCY) && event_makes_record(r, 7, STORE_LATENCY))

/* The data source of a sampled store; each store is to another page. */
static u64 source_of_store(struct fixture *r, unsigned counter, bool locked)
{
	enum { MEM = 1, SOURCE_AT = 0x28, PAGE = 0x1000, ROUNDS = 200 };

	fixture_stop(r);
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, MEM);
	fixture_program_pebs(r, counter, STORE_LATENCY, BIT(34), 2);
	fixture_start(r, BIT(counter));
	for (u64 i = 0; i < ROUNDS && fixture_index(r) == FIXTURE_BUFFER; i++) {
		struct model_retired one = { .stores = 1,
					     .n_access = 1,
					     .access = {
						     { ADDRESS + i * PAGE, 8, true, locked } } };

		fixture_retire(r, &one);
	}
	return at(r, SOURCE_AT);
}

/* Bit 6: STLB miss; bit 5: locked; bit 4 is neither. */
RULE(stores_have_the_bits_of_loads,
     (source_of_store(r, 0, false) & 0x70) == 0x40 && (source_of_store(r, 0, true) & 0x30) == 0x20)
RULE(stores_of_each_counter_have_the_lock_bit, source_of_store(r, 3, true) & BIT(5))

/* Local memory, Linux intel_pmu_pebs_data_source_cmt. */
RULE(memory_has_the_code_of_crestmont, (source_of_far_load(r, 1, LATENCY) & 0xf) == 0xa)

/* ---- registers ---- */

RULE(no_metrics, REFUSED(0x329, 0) && model_rdmsr(&r->m, 0x329).status == MSR_GP &&
			 REFUSED(0x38f, BIT(48)) && TAKEN(0x38f, BIT(38)))

static bool rdpmc_is_refused(struct fixture *r, u32 ecx)
{
	return model_rdpmc(&r->m, ecx).status == MSR_GP;
}

RULE(a_hole_is_one_everywhere,
     REFUSED(0x30c, 0) && TAKEN(0x30d, 0) && model_rdmsr(&r->m, 0x30c).status == MSR_GP &&
	     rdpmc_is_refused(r, 0x40000003) && !rdpmc_is_refused(r, 0x40000004) &&
	     REFUSED(0x38d, 0x1000) && TAKEN(0x38d, 0x10000) && REFUSED(0x38f, BIT(35)) &&
	     TAKEN(0x38f, BIT(36)) && REFUSED(0x3f1, BIT(35)) && TAKEN(0x3f1, BIT(36)))

/* ---- slots of fixed counters 4 to 6 ---- */

static bool slots_are_by_what_becomes_of_them(struct fixture *r)
{
	fixture_wrmsr(r, 0x38d, 0x3330000);
	fixture_wrmsr(r, 0x38f, BITS(36, 38));
	fixture_nops(r, 100);
	fixture_branch(r, BRANCH_CONDITIONAL, true);
	fixture_wrmsr(r, 0x38f, 0);
	return get(r, 0x30d) < get(r, 0x30f) && get(r, 0x30e) && get(r, 0x30e) < get(r, 0x30f);
}

/* Fixed counter 5 has PMI, and its value is read by RDPMC. */
static bool fixed_5_overflows(struct fixture *r)
{
	bool own;

	fixture_wrmsr(r, 0x38d, 0xb00000);
	fixture_wrmsr(r, 0x30d, 0x44);
	fixture_wrmsr(r, 0x30e, 0x55);
	own = model_rdpmc(&r->m, 0x40000005).value == 0x55;
	fixture_wrmsr(r, 0x30e, MINUS(1));
	fixture_wrmsr(r, 0x38f, BIT(37));
	for (unsigned i = 0; i < 100; i++)
		fixture_branch(r, BRANCH_CONDITIONAL, i & 1);
	return own && fixture_status(r) == BIT(37) && r->n_interrupts == 1;
}

rule *const skymont_rules[FAULT_COUNT] = {
	[FAULT_PDIST_PMC1_SKIDS_AT_CPL_3] = pmc1_is_precise_at_cpl_3,
	[FAULT_PDIST_PMC1_NEXT] = pmc1_is_precise,
	[FAULT_PDIST_PMC1_LOST_BESIDE_PMC0] = pmc1_is_precise_beside_pmc0,
	[FAULT_LATENCY_PMC0_ONLY] = loads_are_sampled_on_two,
	[FAULT_STORE_SAMPLE_PMC0_ONLY] = stores_are_sampled_on_all,
	[FAULT_STORE_SAMPLE_STLB_BIT_4] = stores_have_the_bits_of_loads,
	[FAULT_STORE_SAMPLE_UNLOCKED] = stores_have_the_bits_of_loads,
	[FAULT_STORE_SAMPLE_UNLOCKED_PMC1] = stores_of_each_counter_have_the_lock_bit,
	[FAULT_STORE_SAMPLE_LOCKED_ALWAYS] = stores_have_the_bits_of_loads,
	[FAULT_LL_MEMORY_OF_GRACEMONT] = memory_has_the_code_of_crestmont,
	[FAULT_E_CORE_HAS_METRICS] = no_metrics,
	[FAULT_E_CORE_METRICS_ENABLE] = no_metrics,
	[FAULT_HOLE_ANSWERS] = a_hole_is_one_everywhere,
	[FAULT_HOLE_RDPMC] = a_hole_is_one_everywhere,
	[FAULT_HOLE_FIXED_CTRL] = a_hole_is_one_everywhere,
	[FAULT_HOLE_GLOBAL_CTRL] = a_hole_is_one_everywhere,
	[FAULT_HOLE_PEBS_ENABLE] = a_hole_is_one_everywhere,
	[FAULT_SLOT_COUNTERS_COUNT_INSTRUCTIONS] = slots_are_by_what_becomes_of_them,
	[FAULT_FRONT_END_SLOTS_STAND] = slots_are_by_what_becomes_of_them,
	[FAULT_RETIRING_SLOTS_STAND] = slots_are_by_what_becomes_of_them,
	[FAULT_FIXED_5_AND_6_EXCHANGED] = slots_are_by_what_becomes_of_them,
	[FAULT_FIXED_5_STATUS] = fixed_5_overflows,
	[FAULT_FIXED_5_NO_PMI] = fixed_5_overflows,
	[FAULT_RDPMC_FIXED5_READS_4] = fixed_5_overflows,
};

/* ---- Gracemont, and P-cores ---- */

RULE(pmc5_keeps_a_value, TAKEN(0xc6, 5) && get(r, 0xc6) == 5)

rule *const gracemont_rules[FAULT_COUNT] = {
	[FAULT_E_CORE_LAST_LOST] = pmc5_keeps_a_value,
};

RULE(p_core_has_eight_counters, TAKEN(0x38f, BITS(6, 7)) && TAKEN(0x38f, BIT(35)))
RULE(in_tx_is_reserved, REFUSED(0x186, BIT(32)) && REFUSED(0x188, BIT(33)))

rule *const p_core_rules[FAULT_COUNT] = {
	[FAULT_P_CORE_AS_TOLD] = p_core_has_eight_counters,
	[FAULT_IN_TX_WITHOUT_TSX] = in_tx_is_reserved,
};

/* Accesses to pages that weren't accessed before. */
static bool walks_are_counted(struct fixture *r)
{
	fixture_program(r, 0, 0x0e12, 0, 0);
	fixture_program(r, 1, 0x0e13, 0, 0);
	fixture_start(r, 3);
	fixture_load(r, ADDRESS);
	fixture_store(r, ADDRESS + 0x10000);
	return PMC(0) && PMC(1);
}

/* L1I misses of code that wasn't fetched before. */
static bool front_end_is_03c6(struct fixture *r)
{
	fixture_set(r, 0x3f7, 0x12);
	fixture_program(r, 0, 0x03c6, 0, 0);
	fixture_start(r, BIT(0));
	fixture_nops(r, 64);
	return PMC(0);
}

/* Instructions on IA32_PMC4 as on IA32_PMC3. */
static bool counter_4_counts(struct fixture *r)
{
	fixture_program(r, 3, 0x00c0, 0, 100);
	fixture_program(r, 4, 0x00c0, 0, 100);
	fixture_start(r, BITS(3, 4));
	fixture_nops(r, 50);
	fixture_stop(r);
	return PMC(3) == PMC(4) && PMC(4) >= MINUS(50);
}

rule *const kinds_of_cores_rules[FAULT_COUNT] = {
	[FAULT_WALKS_OLD_CODES] = walks_are_counted,
	[FAULT_COUNTERS_FROM_4_INERT] = counter_4_counts,
};

rule *const redwood_cove_rules[FAULT_COUNT] = {
	[FAULT_FRONTEND_OLD_UMASK] = front_end_is_03c6,
};
