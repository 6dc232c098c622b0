/* SPDX-License-Identifier: MIT */
/*
 * Rules of the uncore's counters, for faults of refpmu/faults/fault.def on a Nehalem: see rules.h.
 * Addresses and bits as in "Uncore Performance Monitoring Management Facility" and "Uncore
 * Performance Event Configuration Facility".
 */
#include "host/model/rules/internal.h"

#define U_CTRL		0x391
#define U_FIXED		0x394
#define U_FIXED_CTRL	0x395
#define EN_FC0		BIT(32)
#define CORE0		BIT(48)
#define EN		BIT(0)
#define PMI		BIT(2)
#define TO_CORE		BIT(13)		/* of IA32_DEBUGCTL */
#define EN_UNCORE	BIT(22)		/* of an event select */
#define OVF_UNCORE	BIT(61)		/* of IA32_PERF_GLOBAL_STATUS */
#define TOP		BITS(0, 47)

/* The fixed counter counts from this value. Its interrupt reaches this core if all enables are
 * set. */
static void program(struct fixture *r, u64 value, u64 control, u64 global, u64 debugctl)
{
	fixture_wrmsr(r, 0x1d9, debugctl);
	fixture_set(r, U_FIXED, value);
	fixture_set(r, U_FIXED_CTRL, control);
	fixture_set(r, U_CTRL, global);
}

/* Counter 0 of eight counts one read miss of the L3: 0109H. */
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

RULE(no_clock_has_128, (miss(r, 128ULL << 24, 0), fixture_get(r, 0x3b0) == 0))

static bool a_counting_one_takes_its_value(struct fixture *r)
{
	fixture_set(r, 0x3c0, 0x0109 | EN_UNCORE | BIT(23) | 255ULL << 24);
	fixture_set(r, U_CTRL, BIT(0));
	fixture_nops(r, 4);
	fixture_set(r, 0x3b0, BIT(40));
	return fixture_get(r, 0x3b0) >= BIT(40);
}

static bool counter_0_interrupts(struct fixture *r)
{
	miss(r, BIT(20), TOP);
	return r->requests == 1;
}

/* INV with CMASK 255 counts each clock; without EN it counts nothing. */
static bool counter_0_needs_its_enable(struct fixture *r)
{
	fixture_set(r, 0x3c0, 0x0109 | BIT(23) | 255ULL << 24);
	fixture_set(r, U_CTRL, BIT(0));
	fixture_nops(r, 8);
	return fixture_get(r, 0x3b0) == 0;
}

static bool a_status_bit_is_cleared_alone(struct fixture *r)
{
	for (u32 i = 0; i < 2; i++) {
		fixture_set(r, 0x3b0 + i, TOP - 1);
		fixture_set(r, 0x3c0 + i, 0x0109 | EN_UNCORE | BIT(23) | 255ULL << 24);
	}
	fixture_set(r, U_CTRL, BIT(0) | BIT(1));
	fixture_nops(r, 8);
	fixture_wrmsr(r, 0x393, BIT(0));
	return (fixture_get(r, 0x392) & 3) == 2;
}

/* The fixed counter wraps, with its interrupt: its bit, OVF_PMI and CHG. */
static bool clearing_one_keeps_the_others(struct fixture *r)
{
	const u64 fixed = BIT(32), pmi = BIT(61), changed = BIT(63);
	bool right;

	fixture_set(r, U_FIXED, TOP - 3);
	fixture_set(r, U_FIXED_CTRL, EN | PMI);
	fixture_set(r, U_CTRL, EN_FC0);
	fixture_nops(r, 8);
	fixture_set(r, U_CTRL, 0);
	right = fixture_get(r, 0x392) == (fixed | pmi | changed);
	fixture_wrmsr(r, 0x393, pmi);
	return right && fixture_get(r, 0x392) == (fixed | changed);
}

static bool clearing_the_last_keeps_chg(struct fixture *r)
{
	fixture_set(r, U_FIXED, TOP - 3);
	fixture_set(r, U_FIXED_CTRL, EN);
	fixture_set(r, U_CTRL, EN_FC0);
	fixture_nops(r, 8);
	fixture_set(r, U_CTRL, 0);
	fixture_wrmsr(r, 0x393, BIT(32));
	return fixture_get(r, 0x392) == BIT(63);
}

static bool a_write_of_a_counter_leaves_its_bit(struct fixture *r)
{
	miss(r, 0, TOP);
	fixture_set(r, 0x3b0, 0);
	return (fixture_get(r, 0x392) & 1) == 1;
}

static bool ovf_uncore_stays_beside_bit_63(struct fixture *r)
{
	miss(r, BIT(20), TOP);
	fixture_wrmsr(r, 0x390, BIT(63));
	return fixture_status(r) == OVF_UNCORE;
}

/* MSR_UNCORE_ADDR_OPCODE_MATCH. */
static bool match_is_held(struct fixture *r)
{
	fixture_set(r, 0x396, BIT(3));
	return fixture_get(r, 0x396) == BIT(3);
}

RULE(match_refuses_reserved_bits, fixture_wrmsr(r, 0x396, BIT(0)) == MSR_GP)

static bool a_miss_at_cpl_3_counts(struct fixture *r)
{
	r->cpl = 3;
	miss(r, 0, 0);
	return fixture_get(r, 0x3b0) == 1;
}

RULE(counter_0_is_shown, counter_0_interrupts(r) && fixture_status(r) == OVF_UNCORE)

/* ---- two cores of a package, configured as the given processor ---- */

static struct fixture core[2];
static struct model_core cores[2];
static struct model_uncore uncore;

static void open_package(const struct fixture *r, bool threads)
{
	struct model_config config = r->m.config;

	config.hyper_threading = threads;
	fixture_open_package(core, 2, cores, &uncore, &config);
}

static bool all_selected_cores_get_it(struct fixture *r)
{
	open_package(r, false);
	for (unsigned i = 0; i < 2; i++)
		fixture_wrmsr(&core[i], 0x1d9, TO_CORE);
	program(&core[0], TOP - 3, EN | PMI, EN_FC0 | CORE0 | BIT(49), TO_CORE);
	fixture_nops(&core[0], 20);
	fixture_nops(&core[1], 1);
	return core[0].requests == 1 && core[1].requests == 1;
}

static bool one_bit_is_for_both_threads(struct fixture *r)
{
	open_package(r, true);
	for (unsigned i = 0; i < 2; i++)
		fixture_wrmsr(&core[i], 0x1d9, TO_CORE);
	program(&core[0], TOP - 3, EN | PMI, EN_FC0 | CORE0, TO_CORE);
	fixture_nops(&core[0], 20);
	fixture_nops(&core[1], 1);
	return core[0].requests == 1 && core[1].requests == 1;
}

rule *const uncore_rules[FAULT_COUNT] = {
	[FAULT_UNCORE_SELECTS_THREADS] = one_bit_is_for_both_threads,
	[FAULT_UNCORE_ODD_DEAF] = all_selected_cores_get_it,
	[FAULT_UNCORE_WRITES_CLEAR_STATUS] = a_write_of_a_counter_leaves_its_bit,
	[FAULT_STATUS_CLEARS_OVF_UNCORE] = ovf_uncore_stays_beside_bit_63,
	[FAULT_UNCORE_MATCH_WRITE_DROPPED] = match_is_held,
	[FAULT_UNCORE_LAST_CLEARS_CHG] = clearing_the_last_keeps_chg,
	[FAULT_UNCORE_CLEARS_CHG] = clearing_one_keeps_the_others,
	[FAULT_UNCORE_CLEARS_FIXED_WITH_PMI] = clearing_one_keeps_the_others,
	[FAULT_UNCORE_USER_UNCOUNTED] = a_miss_at_cpl_3_counts,
	[FAULT_UNCORE_MATCH_RESERVED_ACCEPTED] = match_refuses_reserved_bits,
	[FAULT_UNCORE_MATCH_READS_ZERO] = match_is_held,
	[FAULT_UNCORE_EDGE_IGNORED] = edges_of_the_clock,
	[FAULT_UNCORE_INVERTED_EDGE] = edges_of_the_clock,
	[FAULT_UNCORE_INVERTED_EDGE_SILENT] = edges_of_the_clock,
	[FAULT_UNCORE_CMASK_2] = no_clock_has_128,
	[FAULT_UNCORE_RUNNING_KEEPS] = a_counting_one_takes_its_value,
	[FAULT_UNCORE_GP_PMI_LOST] = counter_0_interrupts,
	[FAULT_UNCORE_GP_ENABLE_IGNORED] = counter_0_needs_its_enable,
	[FAULT_UNCORE_CLEARS_EIGHT] = a_status_bit_is_cleared_alone,
	[FAULT_OVF_UNCORE_FIXED_ONLY] = counter_0_is_shown,
	[FAULT_UNCORE_PMI_FIRST_CORE_ONLY] = all_selected_cores_get_it,
};
