/* SPDX-License-Identifier: MIT */
/*
 * Rules that tell one generation from another, for faults of refpmu/faults/fault.def: see rules.h.
 * They hold on a Nehalem: four counters, records of Table 18-23, no full-width writes.
 */
#include "host/model/rules/internal.h"

#define PRECISE	EVENT_INST_RETIRED_ANY_P_PEBS

/* Counter n makes one record, of an instruction of either mode. */
static bool record_in_mode(struct fixture *r, unsigned n, bool compatibility)
{
	fixture_program_pebs(r, n, PRECISE, 0, 3);
	fixture_start(r, BIT(n));
	for (unsigned i = 0; i < 4; i++)
		fixture_retire(r, &(struct model_retired){ .compatibility = compatibility });
	fixture_stop(r);
	return fixture_index(r) == FIXTURE_BUFFER + FIXTURE_RECORD_FMT1;
}

RULE(records_of_b0, record_in_mode(r, 0, false))
RULE(same_in_compatibility_mode, record_in_mode(r, 0, true))

static bool next_ip_in_compatibility_mode(struct fixture *r)
{
	u64 ip = r->ip;

	/* Four instructions of four bytes after the WRMSRs that set it up. */
	return record_in_mode(r, 0, true) && fixture_record(r, 0, 0x08) > ip;
}

RULE(format_1, (model_rdmsr(&r->m, 0x345).value >> 8 & 0xf) == 1)
RULE(no_full_width_writes, model_rdmsr(&r->m, 0x4c1).status == MSR_GP &&
     model_wrmsr(&r->m, 0x4c1, 0).status == MSR_GP)
RULE(pmc1_can_do_pebs, record_in_mode(r, 1, false))
RULE(pmc3_can_do_pebs, record_in_mode(r, 3, false))

static bool clear_after_reset(struct fixture *r)
{
	struct model_config config = r->m.config;

	model_init(&r->m, &config, &r->host);
	return fixture_status(r) == 0;
}

static bool overflow(struct fixture *r, u64 debugctl)
{
	fixture_wrmsr(r, 0x1d9, debugctl);
	fixture_program(r, 0, EVENT_INST_RETIRED_ANY_P, INT, 3);
	fixture_start(r, BIT(0) | BIT(1));
	fixture_nops(r, 5);
	return r->requests == 1;
}

RULE(shows_that_counter_only, overflow(r, 0) && fixture_status(r) == BIT(0))
RULE(freezes, overflow(r, BIT(12)) && fixture_get(r, 0x38f) == 0 && fixture_status(r) == BIT(0))
RULE(goes_on, overflow(r, 0) && fixture_get(r, 0x38f) == (BIT(0) | BIT(1)))

static bool full_is_silent(struct fixture *r)
{
	fixture_ds(r, 1, 7);
	fixture_program_pebs(r, 0, PRECISE, 0, 3);
	fixture_start(r, BIT(0));
	fixture_nops(r, 20);
	return fixture_records(r) == 1 && r->requests == 0;
}

static bool has_four_counters(struct fixture *r)
{
	u32 regs[4] = { 0 };

	model_cpuid(&r->m, 0xa, 0, regs);
	return (regs[0] >> 8 & 0xff) == 4 && model_rdmsr(&r->m, MSR_IA32_PMC0 + 4).status == MSR_GP;
}

rule *const generation_rules[FAULT_COUNT] = {
	[FAULT_GP_COUNTERS_EIGHT] = has_four_counters,
	[FAULT_RECORD_SIZE_C0] = records_of_b0,
	[FAULT_RECORD_COMPATIBILITY_28] = same_in_compatibility_mode,
	[FAULT_DS_COMPATIBILITY_32] = same_in_compatibility_mode,
	[FAULT_RIP_COMPATIBILITY_ZERO] = next_ip_in_compatibility_mode,
	[FAULT_FORMAT_OTHER] = format_1,
	[FAULT_FORMAT_0] = format_1,
	[FAULT_A_PMC_UNANNOUNCED] = no_full_width_writes,
	[FAULT_PMC0_PEBS_ONLY] = pmc1_can_do_pebs,
	[FAULT_PMC3_NO_PEBS] = pmc3_can_do_pebs,
	[FAULT_STATUS_AFTER_RESET] = clear_after_reset,
	[FAULT_STATUS_PMC4] = shows_that_counter_only,
	[FAULT_FREEZE_STREAMLINED] = freezes,
	[FAULT_FREEZE_UNASKED] = goes_on,
	[FAULT_FREEZE_FIXED_ONLY] = freezes,
	[FAULT_FULL_INTERRUPTS] = full_is_silent,
};
