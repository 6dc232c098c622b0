/* SPDX-License-Identifier: MIT */
/* The counted events, when they are counted, and by how much. */
#include "host/check.h"
#include "host/model/fixture.h"

#define INST	EVENT_INST_RETIRED_ANY_P
#define ADDRESS	(FIXTURE_MEMORY_BASE + 0x3000)
#define CMASK(n) ((u64)(n) << IA32_PERFEVTSEL_CMASK_SHIFT)
#define USR_OS	(IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_OS)

static struct fixture r;

/* A mixed workload: 3 nops, 4 branches, 2 loads, 1 store, 1 locked add. */
static void mixed_workload(void)
{
	fixture_nops(&r, 3);
	fixture_load(&r, ADDRESS);
	fixture_branch(&r, BRANCH_CONDITIONAL, false);
	fixture_store(&r, ADDRESS);
	fixture_branch(&r, BRANCH_CALL, true);
	fixture_load(&r, ADDRESS + 8);
	fixture_branch(&r, BRANCH_RETURN, true);
	fixture_locked_add(&r, ADDRESS);
	fixture_branch(&r, BRANCH_FAR, true);
}

/* The count of IA32_PMC0 with these settings over one mixed workload, without the WRMSR that stops
 * it. */
static u64 count_mixed(u32 event, u64 bits, u64 seed)
{
	u64 empty;

	fixture_open(&r, FAULT_NONE, seed, true);
	fixture_program(&r, 0, event, bits, 0);
	fixture_start(&r, BIT(0));
	fixture_stop(&r);
	empty = fixture_get(&r, MSR_IA32_PMC0);

	fixture_program(&r, 0, event, bits, 0);
	fixture_start(&r, BIT(0));
	mixed_workload();
	fixture_stop(&r);
	return fixture_get(&r, MSR_IA32_PMC0) - empty;
}

static void kinds(void)
{
	CHECK_EQ(11, count_mixed(0x00c0, 0, 0), "instructions");
	CHECK_EQ(4, count_mixed(0x00c4, 0, 0), "branches");
	CHECK_EQ(4, count_mixed(0x04c4, 0, 0), "branches, precise");
	CHECK_EQ(1, count_mixed(0x01c4, 0, 0), "conditional");
	CHECK_EQ(1, count_mixed(0x02c4, 0, 0), "calls");
	CHECK_EQ(1, count_mixed(0x08c4, 0, 0), "returns");
	CHECK_EQ(2, count_mixed(0x20c4, 0, 0), "near taken: not far, not the one not taken");
	CHECK_EQ(3, count_mixed(0x81d0, 0, 0), "loads");
	CHECK_EQ(2, count_mixed(0x82d0, 0, 0), "stores");
	CHECK_EQ(1, count_mixed(0x21d0, 0, 0), "locked loads");
	CHECK_EQ(11, count_mixed(0x003c, 0, 0), "cycles, one an instruction without latitude");
	CHECK_EQ(11, count_mixed(0x013c, 0, 0), "reference cycles");
	CHECK_EQ(0, count_mixed(0x01a4, 0, 0), "an event that Haswell doesn't have");
}

static void only_on_counters_that_can(void)
{
	fixture_open(&r, FAULT_NONE, 0, false);
	for (unsigned i = 0; i < 8; i++)
		fixture_program(&r, i, EVENT_INST_RETIRED_PREC_DIST, 0, 0);
	fixture_start(&r, BITS(0, 7));
	fixture_nops(&r, 5);
	for (unsigned i = 0; i < 8; i++)
		CHECK_EQ(i == 1 ? 5 : 0, fixture_get(&r, MSR_IA32_PMC0 + i), "PMC%u", i);
}

/* Of backward branches those that aren't taken are mispredicted, of forward ones those that are. */
static void mispredictions(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_program(&r, 0, EVENT_BR_MISP_RETIRED_ALL_BRANCHES, 0, 0);
	fixture_start(&r, BIT(0));
	for (int i = 0; i < 10; i++) {
		fixture_branch(&r, BRANCH_CONDITIONAL, false);
		fixture_backward_branch(&r, true);
	}
	CHECK_EQ(0, fixture_get(&r, MSR_IA32_PMC0), "predicted right");
	for (int i = 0; i < 10; i++)
		fixture_branch(&r, BRANCH_CONDITIONAL, true);
	CHECK_EQ(10, fixture_get(&r, MSR_IA32_PMC0), "forward and taken");
	fixture_backward_branch(&r, false);
	CHECK_EQ(11, fixture_get(&r, MSR_IA32_PMC0), "backward and not taken");
	fixture_branch(&r, BRANCH_JUMP, true);
	CHECK_EQ(11, fixture_get(&r, MSR_IA32_PMC0));
}

static u64 at_level(u8 cpl, u64 bits)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_program(&r, 0, INST, 0, 0);
	fixture_set(&r, MSR_IA32_PERFEVTSEL0, INST | IA32_PERFEVTSEL_EN | bits);
	fixture_start(&r, BIT(0));
	r.cpl = cpl;
	fixture_nops(&r, 7);
	return fixture_get(&r, MSR_IA32_PMC0);
}

static void privilege_levels(void)
{
	CHECK_EQ(7, at_level(0, IA32_PERFEVTSEL_OS));
	CHECK_EQ(0, at_level(0, IA32_PERFEVTSEL_USR));
	CHECK_EQ(0, at_level(3, IA32_PERFEVTSEL_OS));
	CHECK_EQ(7, at_level(3, IA32_PERFEVTSEL_USR));
	CHECK_EQ(7, at_level(1, IA32_PERFEVTSEL_USR));
	CHECK_EQ(7, at_level(2, USR_OS | IA32_PERFEVTSEL_ANY));
	CHECK_EQ(0, at_level(0, 0));
}

static u64 fixed_at_level(unsigned i, u8 cpl, u64 enable)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_set(&r, MSR_IA32_FIXED_CTR_CTRL, enable << 4 * i);
	fixture_start(&r, BIT(32 + i));
	r.cpl = cpl;
	fixture_nops(&r, 7);
	return fixture_get(&r, MSR_IA32_FIXED_CTR0 + i);
}

static void fixed_counters(void)
{
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQ(7, fixed_at_level(i, 0, 1));
		CHECK_EQ(0, fixed_at_level(i, 3, 1));
		CHECK_EQ(0, fixed_at_level(i, 0, 2));
		CHECK_EQ(7, fixed_at_level(i, 3, 2));
		CHECK_EQ(7, fixed_at_level(i, 0, 3));
		CHECK_EQ(0, fixed_at_level(i, 0, 0));
		CHECK_EQ(0, fixed_at_level(i, 0, 8), "the PMI bit enables nothing");
	}
}

static void both_enables(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_program(&r, 0, INST, 0, 0);
	fixture_stop(&r);
	CHECK(!model_needs_retire(&r.m));
	fixture_nops(&r, 3);
	CHECK_EQ(0, fixture_get(&r, MSR_IA32_PMC0));
	fixture_set(&r, MSR_IA32_PERFEVTSEL0, INST | USR_OS);
	fixture_start(&r, BIT(0));
	CHECK(!model_needs_retire(&r.m));
	fixture_nops(&r, 3);
	CHECK_EQ(0, fixture_get(&r, MSR_IA32_PMC0));
}

/* Latitude decides whether the WRMSRs count; both cases must occur. */
static void enabling_and_disabling_writes(void)
{
	unsigned seen = 0;

	for (u64 seed = 0; seed < 40; seed++) {
		u64 n;

		fixture_open(&r, FAULT_NONE, seed, true);
		fixture_program(&r, 0, INST, 0, 0);
		fixture_stop(&r);
		fixture_start(&r, BIT(0));
		n = fixture_get(&r, MSR_IA32_PMC0);
		CHECK(n <= 1);
		fixture_nops(&r, 10);
		fixture_stop(&r);
		n = n << 1 | (fixture_get(&r, MSR_IA32_PMC0) - n - 10);
		if (!seed)
			CHECK_EQ(1, n, "the disabling write counts, the enabling doesn't");
		if (CHECK(n < 4))
			seen |= 1U << n;
		fixture_nops(&r, 10);
		CHECK(!model_needs_retire(&r.m));
	}
	CHECK_EQ(0xf, seen);
}

static void a_written_counter_holds_what_was_written(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_program(&r, 0, INST, 0, 0);
	fixture_start(&r, BIT(0));
	fixture_set(&r, MSR_IA32_PMC0, 100);
	CHECK_EQ(100, fixture_get(&r, MSR_IA32_PMC0));
	fixture_set(&r, MSR_IA32_PMC0 + 1, 100);
	CHECK_EQ(101, fixture_get(&r, MSR_IA32_PMC0),
		 "a write of another register is an instruction");
}

static void wrap_to_zero(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_program(&r, 0, INST, 0, 3);
	fixture_set(&r, MSR_IA32_FIXED_CTR0, BITS(0, 47));
	fixture_set(&r, MSR_IA32_FIXED_CTR_CTRL, 3);
	fixture_start(&r, BIT(0) | BIT(32));
	fixture_nops(&r, 1);
	CHECK_EQ(0, fixture_get(&r, MSR_IA32_FIXED_CTR0));
	CHECK_EQ(BIT(32), fixture_status(&r));
	fixture_nops(&r, 1);
	CHECK_EQ(BITS(0, 47), fixture_get(&r, MSR_IA32_PMC0), "the highest value");
	CHECK_EQ(BIT(32), fixture_status(&r));
	fixture_nops(&r, 2);
	CHECK_EQ(1, fixture_get(&r, MSR_IA32_PMC0));
	CHECK_EQ(BIT(0) | BIT(32), fixture_status(&r));
	/* Many events at once: a string instruction's count passes 0. */
	fixture_program(&r, 1, EVENT_MEM_UOPS_RETIRED_ALL_LOADS, 0, 10);
	fixture_start(&r, BIT(1));
	fixture_retire(&r, &(struct model_retired){ .loads = 25 });
	CHECK_EQ(15, fixture_get(&r, MSR_IA32_PMC0 + 1));
	CHECK_EQ(BIT(0) | BIT(1) | BIT(32), fixture_status(&r));
}

static u64 count_pairs(u64 bits, u64 seed)
{
	fixture_open(&r, FAULT_NONE, seed, true);
	fixture_program(&r, 0, EVENT_MEM_UOPS_RETIRED_ALL_LOADS, bits, 0);
	fixture_start(&r, BIT(0));
	for (int i = 0; i < 8; i++) {
		fixture_nops(&r, 2);
		fixture_load(&r, ADDRESS);
		fixture_retire(&r, &(struct model_retired){ .loads = 2 });
	}
	return fixture_get(&r, MSR_IA32_PMC0);
}

/* Eight times: no load, none, one, two; an instruction a cycle. */
static void cycle_conditions(void)
{
	CHECK_EQ(24, count_pairs(0, 0));
	CHECK_EQ(16, count_pairs(CMASK(1), 0));
	CHECK_EQ(8, count_pairs(CMASK(2), 0));
	CHECK_EQ(0, count_pairs(CMASK(3), 0));
	CHECK_EQ(16, count_pairs(CMASK(1) | IA32_PERFEVTSEL_INV, 0));
	CHECK_EQ(24, count_pairs(CMASK(2) | IA32_PERFEVTSEL_INV, 0));
	CHECK_EQ(32, count_pairs(CMASK(255) | IA32_PERFEVTSEL_INV, 0), "every cycle");
	CHECK_EQ(24, count_pairs(IA32_PERFEVTSEL_INV, 0), "INV without CMASK does nothing");
	CHECK_EQ(8, count_pairs(CMASK(1) | IA32_PERFEVTSEL_E, 0));
	CHECK_EQ(8, count_pairs(IA32_PERFEVTSEL_E, 0));
	CHECK_EQ(8, count_pairs(CMASK(1) | IA32_PERFEVTSEL_INV | IA32_PERFEVTSEL_E, 0));
}

/* For any duration of an instruction: cycles with and without the condition add up to all
 * cycles. */
static void cycle_conditions_add_up(void)
{
	for (u64 seed = 1; seed < 20; seed++)
		for (unsigned n = 1; n < 4; n++) {
			u64 with = count_pairs(CMASK(n), seed);
			u64 without = count_pairs(CMASK(n) | IA32_PERFEVTSEL_INV, seed);
			u64 edges = count_pairs(CMASK(n) | IA32_PERFEVTSEL_E, seed);
			u64 all = count_pairs(CMASK(255) | IA32_PERFEVTSEL_INV, seed);

			/* The enabling WRMSR may have added cycles without loads. */
			CHECK_EQ(all, with + without, "seed %" PRIu64, seed);
			CHECK(edges <= with);
		}
}

static u64 count_uops(u64 bits)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_program(&r, 0, 0x01c2, bits, 0);
	fixture_start(&r, BIT(0));
	fixture_nops(&r, 3);
	fixture_load(&r, ADDRESS);
	fixture_store(&r, ADDRESS);
	fixture_retire(&r, &(struct model_retired){ .loads = 20, .stores = 20 });
	return fixture_get(&r, MSR_IA32_PMC0);
}

/* UOPS_RETIRED.ALL: one for an instruction and one for a store; at most four in a cycle. */
static void micro_operations(void)
{
	CHECK_EQ(3 + 1 + 2 + 21, count_uops(0));
	CHECK_EQ(2, count_uops(CMASK(2)), "a store; the string");
	CHECK_EQ(1, count_uops(CMASK(4)));
	CHECK_EQ(0, count_uops(CMASK(5)));
	CHECK_EQ(6, count_uops(CMASK(5) | IA32_PERFEVTSEL_INV), "every cycle");
	CHECK_EQ(6, count_uops(CMASK(16) | IA32_PERFEVTSEL_INV));
	CHECK_EQ(4, count_uops(CMASK(2) | IA32_PERFEVTSEL_INV));
}

int main(void)
{
	RUN(kinds);
	RUN(only_on_counters_that_can);
	RUN(mispredictions);
	RUN(privilege_levels);
	RUN(fixed_counters);
	RUN(both_enables);
	RUN(enabling_and_disabling_writes);
	RUN(a_written_counter_holds_what_was_written);
	RUN(wrap_to_zero);
	RUN(cycle_conditions);
	RUN(cycle_conditions_add_up);
	RUN(micro_operations);
	return check_end();
}
