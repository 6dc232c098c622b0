/* SPDX-License-Identifier: MIT */
/*
 * The rules that faults of fixed counter 3 and of MSR_PERF_METRICS break. The expected values are
 * typed from Linux and the SDM's RDPMC.
 */
#include "host/model/rules/internal.h"

#define FIXED(n)	get(r, 0x309 + (n))

static void slots_on(struct fixture *r, u64 start)
{
	fixture_wrmsr(r, 0x38d, 0xb000);
	fixture_wrmsr(r, 0x30c, start);
	fixture_wrmsr(r, 0x329, 0);
	fixture_program(r, 0, 0x01a4, 0, 0);
	fixture_wrmsr(r, 0xc1, 0);
	fixture_start(r, BIT(0) | BIT(35) | BIT(48));
}

static bool slots_are_counted(struct fixture *r)
{
	u64 slots;

	slots_on(r, 0);
	fixture_nops(r, 10);
	slots = FIXED(3);
	model_halt(&r->m);
	return slots >= 50 && slots == PMC(0) && FIXED(3) == slots;
}

static bool slots_are_an_event_of_each_counter(struct fixture *r)
{
	fixture_wrmsr(r, 0x38d, 0x3000);
	fixture_wrmsr(r, 0x30c, 0);
	fixture_program(r, 7, 0x01a4, 0, 0);
	fixture_wrmsr(r, 0xc8, 0);
	fixture_start(r, BIT(7) | BIT(35));
	fixture_nops(r, 10);
	return PMC(7) >= 50 && PMC(7) == FIXED(3);
}

static bool slots_keep_to_their_level(struct fixture *r)
{
	u64 before;

	slots_on(r, 0);
	fixture_wrmsr(r, 0x38d, 0x2000);	/* above CPL 0 */
	before = FIXED(3);
	fixture_nops(r, 10);
	return FIXED(3) == before;
}

static bool slots_overflow(struct fixture *r)
{
	slots_on(r, MINUS(20));
	fixture_nops(r, 10);
	return fixture_status(r) == BIT(35) && r->n_interrupts == 1;
}

static bool freezing_stops_slots(struct fixture *r)
{
	u64 slots, metrics;

	slots_on(r, 0);
	fixture_nops(r, 5);
	fixture_wrmsr(r, 0x391, BIT(59));
	slots = FIXED(3);
	metrics = get(r, 0x329);
	fixture_nops(r, 5);
	return FIXED(3) == slots && get(r, 0x329) == metrics;
}

static bool metrics_are_fractions(struct fixture *r)
{
	u64 value, sum = 0;

	slots_on(r, 0);
	fixture_nops(r, 100);
	fixture_stop(r);
	value = get(r, 0x329);
	for (unsigned i = 0; i < 8; i++)
		sum += value >> 8 * i & 0xff;
	if (sum != 0xff || value >> 32 || (value & 0xff) < 0x80)
		return false;
	if (model_rdpmc(&r->m, 0x20000000).value != value || get(r, 0x329) != value)
		return false;
	fixture_wrmsr(r, 0x329, 0);
	return get(r, 0x329) == 0;
}

RULE(rdpmc_of_metrics_clears_rax, !model_fault(&r->m, FAULT_RDPMC_METRICS_KEEPS_RAX))
RULE(rdpmc_of_metrics_ignores_upper_rcx, !model_fault(&r->m, FAULT_RDPMC_METRICS_WIDE_RCX))

static bool an_overflow_stops_metrics(struct fixture *r)
{
	u64 metrics;

	slots_on(r, MINUS(20));
	fixture_wrmsr(r, 0x1d9, BIT(12));
	fixture_nops(r, 20);
	metrics = get(r, 0x329);
	return fixture_status(r) & BIT(59) && get(r, 0x329) == metrics;
}

RULE(metrics_exist, model_rdmsr(&r->m, 0x329).status == MSR_DONE)
RULE(metrics_are_as_written, (fixture_wrmsr(r, 0x329, 0x10204080), get(r, 0x329) == 0x10204080))

static bool metrics_want_their_enable(struct fixture *r)
{
	slots_on(r, 0);
	fixture_start(r, BIT(35));
	fixture_wrmsr(r, 0x329, 0);
	fixture_nops(r, 10);
	return get(r, 0x329) == 0;
}

static bool metrics_status_is_cleared(struct fixture *r)
{
	fixture_wrmsr(r, 0x391, BIT(48) | BIT(35));
	fixture_wrmsr(r, 0x390, BIT(48));
	return fixture_status(r) == BIT(35);
}

static bool rdpmc_can_clear(struct fixture *r)
{
	u64 value;

	r->m.latitude[LAT_METRICS_CLEAR] = 1;
	slots_on(r, 0);
	fixture_nops(r, 10);
	fixture_stop(r);
	fixture_wrmsr(r, 0x38d, 0xb000 | BIT(14));
	value = model_rdpmc(&r->m, 0x20000000).value;
	return value && get(r, 0x329) == 0 && FIXED(3) == 0;
}

static bool rdpmc_has_zeros_above(struct fixture *r)
{
	fixture_wrmsr(r, 0x30c, MINUS(5));
	return model_rdpmc(&r->m, 0x40000003).value == MINUS(5);
}

rule *const metrics_rules[FAULT_COUNT] = {
	[FAULT_FIXED_3_INERT] = slots_are_counted,
	[FAULT_FIXED_3_IN_HLT] = slots_are_counted,
	[FAULT_FIXED_3_STATUS] = slots_overflow,
	[FAULT_SLOTS_OVERFLOW_AS_METRICS] = slots_overflow,
	[FAULT_FIXED_3_NO_PMI] = slots_overflow,
	[FAULT_RDPMC_FIXED_EXTENDED] = rdpmc_has_zeros_above,
	[FAULT_FREEZE_BUT_FIXED_3] = freezing_stops_slots,
	[FAULT_METRICS_ABSENT] = metrics_exist,
	[FAULT_METRICS_RDPMC_ABSENT] = metrics_are_fractions,
	[FAULT_METRICS_RDPMC_SLOTS] = metrics_are_fractions,
	[FAULT_SLOTS_FIRST_FOUR] = slots_are_an_event_of_each_counter,
	[FAULT_SLOTS_AT_EACH_LEVEL] = slots_keep_to_their_level,
	[FAULT_SLOTS_HALVED] = slots_are_counted,
	[FAULT_METRICS_BYTE_MISSING] = metrics_are_fractions,
	[FAULT_METRICS_REVERSED] = metrics_are_fractions,
	[FAULT_METRICS_MIDDLE_EXCHANGED] = metrics_are_as_written,
	[FAULT_METRICS_NOISE] = metrics_are_fractions,
	[FAULT_METRICS_NOT_CLEARED] = metrics_are_fractions,
	[FAULT_METRICS_UNGATED] = metrics_want_their_enable,
	[FAULT_METRICS_NOT_FROZEN] = an_overflow_stops_metrics,
	[FAULT_RDPMC_METRICS_KEEPS_RAX] = rdpmc_of_metrics_clears_rax,
	[FAULT_RDPMC_METRICS_WIDE_RCX] = rdpmc_of_metrics_ignores_upper_rcx,
	[FAULT_METRICS_STATUS_STICKS] = metrics_status_is_cleared,
	[FAULT_METRICS_ALWAYS_CLEAR] = metrics_are_fractions,
	[FAULT_METRICS_CLEAR_HALF] = rdpmc_can_clear,
};
