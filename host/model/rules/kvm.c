/* SPDX-License-Identifier: MIT */
/* The rules that faults of KVM's guests break, from a guest's point of view: Linux arch/x86/kvm. */
#include "host/model/rules/internal.h"

#define CODE	(FIXTURE_MEMORY_BASE + 0x2000)

static u32 cpuid_of(struct fixture *r, u32 leaf, unsigned reg)
{
	u32 regs[4] = { 0 };

	model_cpuid(&r->m, leaf, 0, regs);
	return regs[reg];
}

RULE(version_is_2, (cpuid_of(r, 0xa, 0) & 0xff) == 2)
RULE(anythread_is_deprecated, cpuid_of(r, 0xa, 3) >> 15 == 1)
RULE(no_anythread, REFUSED(0x186, BIT(21)))
RULE(upper_half_is_reserved, REFUSED(0x187, BIT(35)) && REFUSED(0x187, BIT(63)))
RULE(pin_control_is_taken, TAKEN(0x186, BIT(19)))
RULE(no_status_set, REFUSED(0x391, 0) && REFUSED(0x392, 0))
RULE(reset_is_narrow, REFUSED(0x390, BIT(59)) && REFUSED(0x390, BIT(61)) && TAKEN(0x390, BIT(62)))
RULE(no_off_core, REFUSED(0x1a6, 0) && REFUSED(0x1a7, 0))
RULE(no_threshold, REFUSED(0x3f6, 0))
RULE(no_baseline, !(fixture_get(r, 0x345) & BIT(14)))
RULE(no_freeze, REFUSED(0x1d9, BIT(12)) && REFUSED(0x1d9, BIT(14)))
RULE(lbr_is_dropped, TAKEN(0x1d9, BIT(0)) && !fixture_get(r, 0x1d9))
RULE(fixed_is_cut, TAKEN(0x309, ~0ULL) && fixture_get(r, 0x309) == BITS(0, 47))
RULE(counter_is_cut, TAKEN(0xc1, ~0ULL) && fixture_get(r, 0xc1) == BITS(0, 47))
RULE(counter_is_extended, TAKEN(0xc1, BIT(31)) && fixture_get(r, 0xc1) == BITS(31, 47))
RULE(full_width_is_bounded, TAKEN(0x4c1, BIT(47)) && REFUSED(0x4c1, BIT(48)))
RULE(no_metrics, model_rdpmc(&r->m, 0x20000000).status == MSR_GP)
RULE(misc_enable_is_guarded, REFUSED(0x1a0, fixture_get(r, 0x1a0) ^ BIT(12)))
RULE(no_leaf_23, !cpuid_of(r, 0x23, 0))
RULE(no_branch_records, !(fixture_get(r, 0x345) & 0x3f))

static bool reset_reads_0(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 1);
	fixture_start(r, BIT(0));
	fixture_nops(r, 3);
	return fixture_get(r, 0x38e) == BIT(0) && !fixture_get(r, 0x390);
}

static bool counters_count(struct fixture *r)
{
	fixture_program(r, 0, INST, IA32_PERFEVTSEL_PC, 0);
	fixture_set(r, 0x38d, 0x333);
	fixture_set(r, 0x38f, BIT(0) | BITS(32, 34));
	fixture_nops(r, 100);
	return PMC(0) && fixture_get(r, 0x309) && fixture_get(r, 0x30b);
}

static bool pin_control_stops_no_other(struct fixture *r)
{
	fixture_program(r, 1, INST, IA32_PERFEVTSEL_PC, 0);
	fixture_start(r, BIT(1));
	fixture_nops(r, 10);
	return PMC(1);
}

static bool cpuid_counts_once_on_fixed_counter_0(struct fixture *r)
{
	fixture_poke(r, CODE, 0xa20f);
	fixture_set(r, 0x38d, 3);
	fixture_start(r, BIT(32));
	r->ip = CODE;
	fixture_nops(r, 1);
	return fixture_get(r, 0x309) == 1 + r->m.latitude[LAT_ENABLE_COUNTS];
}

static bool cpuid_counts_once(struct fixture *r)
{
	fixture_poke(r, CODE, 0xa20f);
	fixture_program(r, 0, INST, 0, 0);
	fixture_start(r, BIT(0));
	r->ip = CODE;
	fixture_nops(r, 1);
	/* The write that enables the counter may count as well. */
	return PMC(0) == 1 + r->m.latitude[LAT_ENABLE_COUNTS];
}

/* The fixture's handler doesn't unmask; this does. */
static bool one_interrupt(struct fixture *r)
{
	fixture_program(r, 0, INST, INT, 3);
	fixture_start(r, BIT(0));
	fixture_nops(r, 50);
	fixture_write_lvtpc(r, r->lvtpc & ~(u32)BIT(16));
	fixture_nops(r, 50);
	return r->n_interrupts == 1;
}

rule *const kvm_rules[FAULT_COUNT] = {
	[FAULT_KVM_VERSION_SHOWN] = version_is_2,
	[FAULT_KVM_COUNTER_DEAD] = counters_count,
	[FAULT_KVM_ANYTHREAD_SHOWN] = anythread_is_deprecated,
	[FAULT_KVM_ANYTHREAD_TAKEN] = no_anythread,
	[FAULT_KVM_SELECT_WIDE] = upper_half_is_reserved,
	[FAULT_KVM_PIN_REFUSED] = pin_control_is_taken,
	[FAULT_KVM_PIN_STOPS] = counters_count,
	[FAULT_KVM_STATUS_SET_ANSWERS] = no_status_set,
	[FAULT_KVM_RESET_WIDE] = reset_is_narrow,
	[FAULT_KVM_RESET_READS] = reset_reads_0,
	[FAULT_KVM_OFFCORE_ANSWERS] = no_off_core,
	[FAULT_KVM_LATENCY_ANSWERS] = no_threshold,
	[FAULT_KVM_BASELINE_SHOWN] = no_baseline,
	[FAULT_KVM_PMI_AGAIN] = one_interrupt,
	[FAULT_KVM_DEBUGCTL_TAKEN] = no_freeze,
	[FAULT_KVM_LBR_KEPT] = lbr_is_dropped,
	[FAULT_KVM_LBR_REFUSED] = lbr_is_dropped,
	[FAULT_KVM_PMC_UNSIGNED] = counter_is_extended,
	[FAULT_KVM_FULL_WIDTH_WIDE] = full_width_is_bounded,
	[FAULT_KVM_PMC_WIDE] = counter_is_cut,
	[FAULT_KVM_FIXED_WIDE] = fixed_is_cut,
	[FAULT_KVM_METRICS_READ] = no_metrics,
	[FAULT_KVM_MISC_ENABLE_TAKEN] = misc_enable_is_guarded,
	[FAULT_KVM_EXITS_COUNT_TWICE] = cpuid_counts_once,
	[FAULT_KVM_PIN_STOPS_OTHERS] = pin_control_stops_no_other,
	[FAULT_KVM_EXITS_FIXED_TWICE] = cpuid_counts_once_on_fixed_counter_0,
	[FAULT_KVM_LEAF_23_SHOWN] = no_leaf_23,
	[FAULT_KVM_MEDIATED_LBR] = no_branch_records,
};

/* ---- a guest with PEBS: basic records of general-purpose counters */

/* A buffer for four basic records, with the threshold after the first; IA32_PMC1 makes one. */
static void sample(struct fixture *r)
{
	memset(r->memory + (FIXTURE_BUFFER - FIXTURE_MEMORY_BASE), 0xee, 0x80);
	fixture_poke(r, FIXTURE_DS + 0x20, FIXTURE_BUFFER);
	fixture_poke(r, FIXTURE_DS + 0x28, FIXTURE_BUFFER);
	fixture_poke(r, FIXTURE_DS + 0x30, FIXTURE_BUFFER + 0x80);
	fixture_poke(r, FIXTURE_DS + 0x38, FIXTURE_BUFFER + 0x20);
	fixture_wrmsr(r, 0x600, FIXTURE_DS);
	fixture_program_pebs(r, 1, LOADS, 0, 2);
	fixture_start(r, BIT(1));
	loads(r, 3);
}

static bool record_is_basic(struct fixture *r)
{
	sample(r);
	return fixture_index(r) == FIXTURE_BUFFER + 0x20 && at(r, 0) == 0x20ULL << 48;
}

static bool record_names_its_counter(struct fixture *r)
{
	sample(r);
	return at(r, 0x10) == BIT(1);
}

static bool record_is_there_once(struct fixture *r)
{
	sample(r);
	return fixture_index(r) == FIXTURE_BUFFER + 0x20 && at(r, 0x20) == 0xeeeeeeeeeeeeeeee;
}

static bool ovf_buf_is_cleared(struct fixture *r)
{
	sample(r);
	if (!(fixture_get(r, 0x38e) & BIT(62)))
		return false;
	fixture_wrmsr(r, 0x390, BIT(62));
	return !(fixture_get(r, 0x38e) & BIT(62));
}

RULE(pebs_enable_is_of_general_counters, TAKEN(0x3f1, BIT(0)) && TAKEN(0x3f1, BIT(7)) &&
						 REFUSED(0x3f1, BIT(32)) && REFUSED(0x3f1, BIT(34)))

rule *const kvm_pebs_rules[FAULT_COUNT] = {
	[FAULT_KVM_RECORD_LONG] = record_is_basic,
	[FAULT_KVM_FORMAT_OF_HOST] = record_is_basic,
	[FAULT_KVM_PEBS_FIXED_TAKEN] = pebs_enable_is_of_general_counters,
	[FAULT_KVM_PEBS_LAST_REFUSED] = pebs_enable_is_of_general_counters,
	[FAULT_KVM_COUNTER_OF_HOST] = record_names_its_counter,
	[FAULT_KVM_RECORD_TWICE] = record_is_there_once,
	[FAULT_KVM_RECORD_AFTER] = record_is_there_once,
	[FAULT_KVM_OVF_BUF_MISSING] = ovf_buf_is_cleared,
	[FAULT_KVM_OVF_BUF_STAYS] = ovf_buf_is_cleared,
};
