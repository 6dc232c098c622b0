/* SPDX-License-Identifier: MIT */
/*
 * Rules of the uncore's counters, for faults of refpmu/faults/fault.def on a Nehalem: see rules.h.
 * Addresses and bits as in "Uncore Performance Monitoring Management Facility" and "Uncore
 * Performance Event Configuration Facility".
 */
#include "host/model/rules/internal.h"

#define U_CTRL		0x391
#define U_STATUS	0x392
#define U_CLEAR		0x393
#define U_FIXED		0x394
#define U_FIXED_CTRL	0x395
#define EN_FC0		BIT(32)
#define CORE0		BIT(48)
#define PMI_FRZ		BIT(63)
#define OVF_PMI		BIT(61)
#define CHG		BIT(63)
#define EN		BIT(0)
#define PMI		BIT(2)
#define TO_CORE		BIT(13)		/* of IA32_DEBUGCTL */
#define EN_UNCORE	BIT(22)		/* of an event select */
#define OVF_UNCORE	BIT(61)		/* of IA32_PERF_GLOBAL_STATUS */
#define TOP		BITS(0, 47)

/* The fixed counter counts from here; its interrupt has a way to this core if all say so. */
static void program(struct fixture *r, u64 value, u64 control, u64 global, u64 debugctl)
{
	fixture_wrmsr(r, 0x1d9, debugctl);
	fixture_set(r, U_FIXED, value);
	fixture_set(r, U_FIXED_CTRL, control);
	fixture_set(r, U_CTRL, global);
}

static void overflow(struct fixture *r)
{
	program(r, TOP - 3, EN | PMI, EN_FC0 | CORE0, TO_CORE);
	fixture_nops(r, 20);
}

static bool counts_if_enabled(struct fixture *r)
{
	program(r, 0, 0, EN_FC0, 0);
	fixture_nops(r, 20);
	return fixture_get(r, U_FIXED) == 0;
}

static bool counts_if_enabled_globally(struct fixture *r)
{
	program(r, 0, EN, 0, 0);
	fixture_nops(r, 20);
	return fixture_get(r, U_FIXED) == 0;
}

static bool holds_48_bits(struct fixture *r)
{
	program(r, BITS(0, 39) - 2, EN, EN_FC0, 0);
	fixture_nops(r, 20);
	return fixture_get(r, U_FIXED) > BITS(0, 39) && fixture_get(r, U_STATUS) == 0;
}

static bool overflow_is_shown(struct fixture *r)
{
	overflow(r);
	return fixture_get(r, U_STATUS) == (EN_FC0 | OVF_PMI | CHG);
}

static bool status_stays(struct fixture *r)
{
	overflow(r);
	fixture_get(r, U_STATUS);
	return fixture_get(r, U_STATUS) == (EN_FC0 | OVF_PMI | CHG);
}

static bool clears_what_is_written(struct fixture *r)
{
	overflow(r);
	fixture_set(r, U_CTRL, 0);
	fixture_set(r, U_CLEAR, OVF_PMI);
	return fixture_get(r, U_STATUS) == (EN_FC0 | CHG);
}

static bool core_keeps_its_status(struct fixture *r)
{
	overflow(r);
	fixture_set(r, U_CLEAR, EN_FC0 | OVF_PMI | CHG);
	return fixture_status(r) == OVF_UNCORE;
}

static bool uncore_keeps_its_status(struct fixture *r)
{
	overflow(r);
	fixture_set(r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, OVF_UNCORE);
	return fixture_get(r, U_STATUS) == (EN_FC0 | OVF_PMI | CHG) && fixture_status(r) == 0;
}

static bool silent_without_pmi(struct fixture *r)
{
	program(r, TOP - 3, EN, EN_FC0 | CORE0, TO_CORE);
	fixture_nops(r, 20);
	return r->requests == 0 && fixture_get(r, U_STATUS) == (EN_FC0 | CHG);
}

static bool selected_cores_only(struct fixture *r)
{
	program(r, TOP - 3, EN | PMI, EN_FC0 | BITS(49, 51), TO_CORE);
	fixture_nops(r, 20);
	return r->requests == 0 && fixture_status(r) == 0;
}

static bool listening_cores_only(struct fixture *r)
{
	program(r, TOP - 3, EN | PMI, EN_FC0 | CORE0, 0);
	fixture_nops(r, 20);
	return r->requests == 0 && fixture_status(r) == 0;
}

static bool interrupts_once(struct fixture *r)
{
	r->unmasks = true;
	overflow(r);
	return r->n_interrupts == 1 && r->interrupt[0].status == OVF_UNCORE;
}

static bool both_are_shown(struct fixture *r)
{
	fixture_wrmsr(r, 0x1d9, TO_CORE);
	fixture_set(r, U_FIXED_CTRL, EN | PMI);
	fixture_program(r, 0, EVENT_INST_RETIRED_ANY_P, IA32_PERFEVTSEL_INT, 10);
	fixture_set(r, U_FIXED, TOP - 10);
	fixture_set(r, U_CTRL, EN_FC0 | CORE0);
	fixture_start(r, BIT(0));
	fixture_nops(r, 10);
	if (fixture_get(r, U_FIXED) != 0)
		return false;
	fixture_stop(r);
	return fixture_status(r) == (BIT(0) | OVF_UNCORE) && fixture_get(r, U_STATUS) & EN_FC0;
}

/* The core's counter wraps first, or last. */
static bool one_after_the_other(struct fixture *r, bool core_first)
{
	program(r, TOP - (core_first ? 20 : 3), EN | PMI, EN_FC0 | CORE0, TO_CORE);
	fixture_program(r, 0, EVENT_INST_RETIRED_ANY_P, 0, core_first ? 3 : 20);
	fixture_start(r, BIT(0));
	fixture_nops(r, 40);
	return fixture_status(r) == (BIT(0) | OVF_UNCORE);
}

RULE(a_core_bit_stays, one_after_the_other(r, true))
RULE(a_core_bit_is_added, one_after_the_other(r, false))

static bool freezes(struct fixture *r)
{
	fixture_set(r, 0x3c0, BIT(22));
	program(r, TOP - 3, EN | PMI, EN_FC0 | BIT(0) | CORE0 | PMI_FRZ, TO_CORE);
	fixture_nops(r, 20);
	return fixture_get(r, U_FIXED) < 5 && fixture_get(r, U_CTRL) == (CORE0 | PMI_FRZ);
}

static bool goes_on_without_freeze(struct fixture *r)
{
	overflow(r);
	return fixture_get(r, U_FIXED) > 10 && fixture_get(r, U_CTRL) == (EN_FC0 | CORE0);
}

/* Counter 0 of eight, one read miss of the L3: 0109H. */
static void miss(struct fixture *r, u64 control, u64 value)
{
	fixture_wrmsr(r, 0x1d9, TO_CORE);
	fixture_set(r, 0x3b0, value);
	fixture_set(r, 0x3c0, 0x0109 | EN_UNCORE | control);
	fixture_set(r, U_CTRL, BIT(0) | CORE0);
	fixture_nops(r, 2);
	fixture_load(r, FIXTURE_MEMORY_BASE + 0x3000);
	fixture_nops(r, 2);
}

static bool edges_of_the_clock(struct fixture *r)
{
	miss(r, BIT(18) | BIT(23) | 1ULL << 24, 0);	/* E, INV, CMASK 1: clocks without one */
	return fixture_get(r, 0x3b0) == 2;
}

static bool counter_0_interrupts(struct fixture *r)
{
	miss(r, BIT(20), TOP);
	return r->requests == 1;
}

static bool counter_0_is_silent(struct fixture *r)
{
	miss(r, 0, TOP);
	return r->requests == 0 && fixture_get(r, U_STATUS) == (BIT(0) | CHG);
}

RULE(counter_0_is_shown, counter_0_interrupts(r) && fixture_status(r) == OVF_UNCORE)

/* ---- two cores of a package, configured as the given processor ---- */

static struct fixture core[2];
static struct model_core cores[2];
static struct model_uncore uncore;

static void open_package(const struct fixture *r)
{
	struct model_config config = r->m.config;

	config.hyper_threading = false;
	fixture_open_package(core, 2, cores, &uncore, &config);
}

static bool registers_are_shared(struct fixture *r)
{
	open_package(r);
	fixture_set(&core[1], U_FIXED, 0x1234);
	return fixture_get(&core[0], U_FIXED) == 0x1234;
}

static bool all_selected_cores_get_it(struct fixture *r)
{
	open_package(r);
	for (unsigned i = 0; i < 2; i++)
		fixture_wrmsr(&core[i], 0x1d9, TO_CORE);
	program(&core[0], TOP - 3, EN | PMI, EN_FC0 | CORE0 | BIT(49), TO_CORE);
	fixture_nops(&core[0], 20);
	fixture_nops(&core[1], 1);
	return core[0].requests == 1 && core[1].requests == 1;
}

static bool each_bit_is_of_one_core(struct fixture *r)
{
	open_package(r);
	for (unsigned i = 0; i < 2; i++)
		fixture_wrmsr(&core[i], 0x1d9, TO_CORE);
	program(&core[0], TOP - 3, EN | PMI, EN_FC0 | CORE0, TO_CORE);
	fixture_nops(&core[0], 20);
	fixture_nops(&core[1], 1);
	return core[0].requests == 1 && core[1].requests == 0;
}

static bool counts_the_other_core(struct fixture *r)
{
	open_package(r);
	fixture_set(&core[0], 0x3c0, 0x0109 | BIT(22));
	fixture_set(&core[0], U_CTRL, BIT(0));
	fixture_nops(&core[1], 2);
	fixture_load(&core[1], FIXTURE_MEMORY_BASE + 0x3000);
	return fixture_get(&core[0], 0x3b0) == 1;
}

rule *const uncore_rules[FAULT_COUNT] = {
	[FAULT_UNCORE_EDGE_IGNORED] = edges_of_the_clock,
	[FAULT_UNCORE_GP_PMI_LOST] = counter_0_interrupts,
	[FAULT_UNCORE_GP_PMI_ALWAYS] = counter_0_is_silent,
	[FAULT_UNCORE_ANY_CORE] = each_bit_is_of_one_core,
	[FAULT_OVF_UNCORE_BESIDE_CORE] = both_are_shown,
	[FAULT_UNCORE_PMI_CLEARS_CORE] = a_core_bit_stays,
	[FAULT_CORE_HIDDEN_BESIDE_UNCORE] = a_core_bit_is_added,
	[FAULT_OVF_UNCORE_FIXED_ONLY] = counter_0_is_shown,
	[FAULT_UNCORE_PER_PROCESSOR] = registers_are_shared,
	[FAULT_UNCORE_PMI_FIRST_CORE_ONLY] = all_selected_cores_get_it,
	[FAULT_UNCORE_COUNTS_OWN_CORE_ONLY] = counts_the_other_core,
	[FAULT_UNCORE_ENABLE_IGNORED] = counts_if_enabled,
	[FAULT_UNCORE_GLOBAL_CTRL_IGNORED] = counts_if_enabled_globally,
	[FAULT_UNCORE_WIDTH_40] = holds_48_bits,
	[FAULT_UNCORE_STATUS_DROPPED] = overflow_is_shown,
	[FAULT_UNCORE_STATUS_SHIFTED] = overflow_is_shown,
	[FAULT_UNCORE_STATUS_CLEARED_BY_READ] = status_stays,
	[FAULT_UNCORE_OVF_PMI_DROPPED] = overflow_is_shown,
	[FAULT_UNCORE_CLEARS_ALL] = clears_what_is_written,
	[FAULT_UNCORE_CLEARS_CORE] = core_keeps_its_status,
	[FAULT_CORE_CLEARS_UNCORE] = uncore_keeps_its_status,
	[FAULT_UNCORE_INT_IGNORED] = silent_without_pmi,
	[FAULT_UNCORE_PMI_EVERY_CORE] = selected_cores_only,
	[FAULT_UNCORE_PMI_UNASKED] = listening_cores_only,
	[FAULT_UNCORE_PMI_LOST] = interrupts_once,
	[FAULT_UNCORE_PMI_DOUBLED] = interrupts_once,
	[FAULT_UNCORE_PMI_DROPS_CORE] = both_are_shown,
	[FAULT_OVF_UNCORE_DROPPED] = interrupts_once,
	[FAULT_OVF_UNCORE_STICKS] = uncore_keeps_its_status,
	[FAULT_UNCORE_FREEZE_IGNORED] = freezes,
	[FAULT_UNCORE_FREEZE_ALWAYS] = goes_on_without_freeze,
	[FAULT_UNCORE_FREEZE_HALF] = freezes,
	[FAULT_UNCORE_GLOBAL_STATUS_READS_ZERO] = overflow_is_shown,
	[FAULT_UNCORE_OVF_CTRL_WRITE_DROPPED] = clears_what_is_written,
	[FAULT_UNCORE_FIXED_CTR_CTRL_WRITE_DROPPED] = overflow_is_shown,
};
