/* SPDX-License-Identifier: MIT */
/*
 * The rules that faults of Skylake's records and events break. The expected values are typed from
 * Tables 18-55 and 18-56 and the sections around them.
 */
#include "host/model/rules/internal.h"

#define STATUS		fixture_get(r, 0x38e)

/* Counter 3 wraps on the recorded load. */
static bool a_counter_without_pebs_is_not_named(struct fixture *r)
{
	fixture_program(r, 3, LOADS, 0, 3);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0) | BIT(3));
	loads(r, 3);
	return fixture_records(r) == 1 && fixture_record(r, 0, 0x90) == BIT(0) && STATUS == BIT(3);
}

static bool records_are_those_of_table_18_55(struct fixture *r)
{
	fixture_program(r, 1, INST, 0, 1);
	fixture_program_pebs(r, 2, LOADS, 0, 2);
	fixture_start(r, BIT(1) | BIT(2));
	loads(r, 6);
	return fixture_records(r) == 2 && fixture_record(r, 0, 0x90) == BIT(2) &&
	       fixture_record(r, 0, 0xc0) && fixture_record(r, 0, 0xc0) < 100 &&
	       fixture_record(r, 1, 0xc0) > fixture_record(r, 0, 0xc0) &&
	       fixture_record(r, 1, 0xc0) < 100;
}

static bool records_of_cpl_3_have_the_time(struct fixture *r)
{
	r->cpl = 3;
	return records_are_those_of_table_18_55(r);
}

RULE(frontend_has_its_bits,
     fixture_wrmsr(r, 0x3f7, 0x7fff17) == MSR_DONE && fixture_wrmsr(r, 0x3f7, BIT(3)) == MSR_GP)
RULE(uncore_is_at_e01, fixture_wrmsr(r, 0xe01, BIT(29)) == MSR_DONE && fixture_get(r, 0xe02) == 0)

static bool an_instruction_counts_once(struct fixture *r)
{
	fixture_program(r, 0, LOADS, 0, 0);
	fixture_start(r, BIT(0));
	fixture_retire(r, &(struct model_retired){ .loads = 2 });
	return PMC(0) == 1;
}

static bool total_cycles_make_records(struct fixture *r)
{
	fixture_program_pebs(r, 2, 0x01c0, BIT(23) | 0x10ULL << 24, 3);
	fixture_start(r, BIT(2));
	fixture_nops(r, 8);
	return fixture_records(r) == 2;
}

RULE(in_txcp_is_for_pmc2,
     fixture_wrmsr(r, 0x188, BIT(33)) == MSR_DONE && fixture_wrmsr(r, 0x187, BIT(33)) == MSR_GP)
RULE(there_is_no_force_abort, fixture_wrmsr(r, 0x10f, 0) == MSR_GP)

/* A line has sixteen instructions of four bytes. */
static bool lines_are_counted_once(struct fixture *r)
{
	fixture_set(r, 0x3f7, 0x12);	/* L1I_MISS */
	fixture_program(r, 0, 0x01c6, 0, 0);
	fixture_start(r, BIT(0));
	fixture_nops(r, 64);
	return PMC(0) >= 3 && PMC(0) <= 5;
}

static u64 bubbles(struct fixture *r, u64 cycles)
{
	fixture_set(r, 0x3f7, 0x06 | cycles << 8);	/* LATENCY */
	fixture_program(r, 0, 0x01c6, 0, 0);
	fixture_start(r, BIT(0));
	fixture_nops(r, 64);
	return PMC(0);
}

/* No fetch takes 4095 cycles. */
RULE(long_bubbles_are_none, bubbles(r, 4095) == 0)
RULE(lengths_have_all_their_bits, bubbles(r, 512) == 0 && bubbles(r, 256) == 0)

/* One register has the selection for all counters. */
static bool counters_share_frontend(struct fixture *r)
{
	fixture_set(r, 0x3f7, 0x12);
	fixture_program(r, 0, 0x01c6, 0, 0);
	fixture_program(r, 1, 0x01c6, 0, 0);
	fixture_start(r, BIT(0) | BIT(1));
	fixture_nops(r, 64);
	return PMC(0) && PMC(1) == PMC(0);
}

static bool pdir_is_precise_beside_pmc0(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	fixture_program_pebs(r, 1, 0x01c0, 0, 3);
	fixture_start(r, BIT(0) | BIT(1));
	fixture_nops(r, 3);
	return fixture_records(r) == 1;
}

static bool pdir_is_precise_beside_pebs(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 100);
	fixture_wrmsr(r, 0x3f1, BIT(0) | BIT(1));
	fixture_program_pebs(r, 1, 0x01c0, 0, 3);
	fixture_wrmsr(r, 0x3f1, BIT(0) | BIT(1));
	fixture_start(r, BIT(0) | BIT(1));
	fixture_nops(r, 3);
	return fixture_records(r) == 1;
}

static bool short_periods_work(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 5);
	fixture_start(r, BIT(0));
	loads(r, 6);
	return fixture_records(r) == 1;
}

static bool forced_transactions_abort(struct fixture *r)
{
	struct model_registers before = r->regs;

	r->m.latitude[LAT_TSX_FORCE_ABORT] = 1;
	fixture_set(r, 0x10f, 1);
	return model_tx_begin(&r->m, &before, 0x600000) != TX_FINE;
}

static bool eight_counters_have_four_with_pebs(struct fixture *r)
{
	struct model_config config = r->m.config;

	config.hyper_threading = false;
	fixture_open_config(r, &config);
	return fixture_wrmsr(r, 0xc5, 0) == MSR_DONE && fixture_wrmsr(r, 0x3f1, BIT(4)) == MSR_GP;
}

/* ---- the threshold ---- */

static bool threshold_freezes(struct fixture *r, u32 lvtpc)
{
	fixture_ds(r, 8, 1);
	fixture_write_lvtpc(r, lvtpc);
	fixture_set(r, 0x1d9, BIT(12));
	return one_record(r, 0, 0) && fixture_get(r, 0x38e) & BIT(59);
}

RULE(threshold_freezes_beside_ovfbuf,
     (fixture_set(r, 0x391, BIT(62)), threshold_freezes(r, FIXTURE_VECTOR)))
RULE(threshold_freezes_with_lvtpc_masked, threshold_freezes(r, BIT(16)))
RULE(threshold_masks_lvtpc,
     (fixture_ds(r, 8, 1), one_record(r, 0, 0)) && r->n_interrupts == 1 && r->lvtpc & BIT(16))

static bool armed_counter_is_frozen(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 2);
	fixture_set(r, 0x391, BIT(59));
	loads(r, 2);
	return fixture_records(r) == 0;
}

rule *const skylake_record_rules[FAULT_COUNT] = {
	[FAULT_THRESHOLD_FREEZE_WANTS_NEW_BIT] = threshold_freezes_beside_ovfbuf,
	[FAULT_THRESHOLD_FREEZE_WANTS_LVT] = threshold_freezes_with_lvtpc_masked,
	[FAULT_THRESHOLD_LEAVES_UNMASKED] = threshold_masks_lvtpc,
	[FAULT_CTR_FRZ_NOT_OF_ARMED] = armed_counter_is_frozen,
	[FAULT_INSN_PER_ACCESS] = an_instruction_counts_once,
	[FAULT_TOTAL_CYCLES_REFUSED] = total_cycles_make_records,
	[FAULT_IN_TXCP_ANYWHERE] = in_txcp_is_for_pmc2,
	[FAULT_FORCE_ABORT_UNANNOUNCED] = there_is_no_force_abort,
	[FAULT_FRONTEND_EVERY] = lines_are_counted_once,
	[FAULT_FRONTEND_NEVER] = lines_are_counted_once,
	[FAULT_FRONTEND_ANY_BUBBLE] = long_bubbles_are_none,
	[FAULT_FRONTEND_LENGTH_8_BITS] = lengths_have_all_their_bits,
	[FAULT_FRONTEND_PMC0_ONLY] = counters_share_frontend,
	[FAULT_SHORT_PERIODS_LOST] = short_periods_work,
	[FAULT_START_LEAST_128] = short_periods_work,
	[FAULT_START_OF_64] = short_periods_work,
	[FAULT_FORCE_ABORT_INERT] = forced_transactions_abort,
	[FAULT_PEBS_OF_EIGHT] = eight_counters_have_four_with_pebs,
	[FAULT_PDIR_ALONE] = pdir_is_precise_beside_pmc0,
	[FAULT_PDIR_BESIDE_PEBS] = pdir_is_precise_beside_pebs,
	[FAULT_TSC_ZERO] = records_are_those_of_table_18_55,
	[FAULT_TSC_LOW_HALF_USER] = records_of_cpl_3_have_the_time,
	[FAULT_TSC_LOW_HALF] = records_are_those_of_table_18_55,
	[FAULT_TSC_FALLS] = records_are_those_of_table_18_55,
	[FAULT_APPLICABLE_BESIDE] = a_counter_without_pebs_is_not_named,
	[FAULT_APPLICABLE_IMAGE] = records_are_those_of_table_18_55,
	[FAULT_APPLICABLE_NONE] = records_are_those_of_table_18_55,
	[FAULT_APPLICABLE_BUFFER] = records_are_those_of_table_18_55,
	[FAULT_FRONTEND_WIDE] = frontend_has_its_bits,
	[FAULT_UNCORE_GLOBAL_MISSING] = uncore_is_at_e01,
};
