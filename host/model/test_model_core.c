/* SPDX-License-Identifier: MIT */
/* Two logical processors of a core: the events of the other one that each counts, and those that it
 * doesn't. */
#include "host/check.h"
#include "host/model/fixture.h"
#include "refpmu/model/bulk.h"

#define INST	EVENT_INST_RETIRED_ANY_P
#define ANY	IA32_PERFEVTSEL_ANY
#define MINUS(n) (-(u64)(n) & BITS(0, 47))
#define A	(FIXTURE_MEMORY_BASE + 0x3000)

static struct fixture r[CORE_THREADS];
static struct model_core core;

static void open_generation(enum generation_id generation)
{
	const struct model_config config = { .generation = generation, .hyper_threading = true };

	fixture_open_core(r, &core, &config);
}

static void open(void)
{
	open_generation(GEN_HASWELL);
}

static void check_locks(void)
{
	CHECK_EQ(0, r[0].lock_errors + r[1].lock_errors);
	CHECK_EQ(0, core.lock);
}

static u64 pmc(unsigned thread, unsigned n)
{
	return fixture_get(&r[thread], MSR_IA32_PMC0 + n);
}

static void any_thread_counts_both(void)
{
	open();
	fixture_program(&r[0], 0, INST, ANY, 0);
	fixture_program(&r[0], 1, INST, 0, 0);
	fixture_start(&r[0], BIT(0) | BIT(1));
	fixture_nops(&r[1], 5);
	CHECK_EQ(5, pmc(0, 0));
	CHECK_EQ(0, pmc(0, 1));
	fixture_nops(&r[0], 7);
	CHECK_EQ(12, pmc(0, 0));
	CHECK_EQ(7, pmc(0, 1));
	fixture_stop(&r[0]);
	CHECK_EQ(13, pmc(0, 0), "and the WRMSR");
	fixture_nops(&r[1], 5);
	CHECK_EQ(13, pmc(0, 0), "nothing while it is off");
	check_locks();
}

static void both_may_watch(void)
{
	open();
	for (unsigned t = 0; t < CORE_THREADS; t++) {
		fixture_program(&r[t], 2, INST, ANY, 0);
		fixture_program(&r[t], 3, EVENT_BR_INST_RETIRED_ALL_BRANCHES, ANY, 0);
	}
	fixture_start(&r[0], BIT(2) | BIT(3));
	fixture_start(&r[1], BIT(2) | BIT(3));	/* two WRMSRs, which thread 0 counts */
	u64 before = pmc(0, 2);

	fixture_nops(&r[0], 3);
	fixture_branch(&r[1], BRANCH_JUMP, true);
	CHECK_EQ(4, pmc(0, 2) - before);
	CHECK_EQ(4, pmc(1, 2));
	CHECK_EQ(1, pmc(0, 3));
	CHECK_EQ(1, pmc(1, 3));
	check_locks();
}

static void privilege_levels_are_the_siblings(void)
{
	open();
	fixture_set(&r[0], MSR_IA32_PERFEVTSEL0,
		    INST | ANY | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_USR);
	fixture_start(&r[0], BIT(0));
	r[1].cpl = 0;
	fixture_nops(&r[1], 5);
	r[1].cpl = 3;
	fixture_nops(&r[1], 6);
	CHECK_EQ(6, pmc(0, 0));
}

static void fixed_counters_watch(void)
{
	open();
	fixture_set(&r[0], MSR_IA32_FIXED_CTR_CTRL,
		    IA32_FIXED_CTR_CTRL_EN0 | IA32_FIXED_CTR_CTRL_ANY0);
	fixture_set(&r[0], MSR_IA32_FIXED_CTR0, 0);
	fixture_start(&r[0], BIT(32));
	fixture_nops(&r[1], 9);
	CHECK_EQ(9, fixture_get(&r[0], MSR_IA32_FIXED_CTR0));
}

static void an_overflow_is_the_owners(void)
{
	open();
	fixture_program(&r[0], 0, INST, ANY | IA32_PERFEVTSEL_INT, 0);
	fixture_set(&r[0], MSR_IA32_PMC0, MINUS(3));
	fixture_start(&r[0], BIT(0));
	fixture_nops(&r[1], 2);
	CHECK_EQ(0, r[1].calls);
	fixture_nops(&r[1], 3);
	CHECK_EQ(2, pmc(0, 0));
	CHECK_EQ(1, fixture_status(&r[0]));
	CHECK_EQ(0, fixture_status(&r[1]));
	CHECK(r[1].calls && !r[0].calls, "called: %u, %u", r[0].calls, r[1].calls);
	CHECK_EQ(0, r[0].requests + r[1].requests, "it comes when thread 0 looks");
	fixture_nops(&r[0], 1);
	CHECK_EQ(1, r[0].requests);
	CHECK_EQ(0, r[1].requests);
	check_locks();
}

static void a_halted_owner_gets_it(void)
{
	open();
	fixture_program(&r[0], 0, INST, ANY | IA32_PERFEVTSEL_INT, 0);
	fixture_set(&r[0], MSR_IA32_PMC0, MINUS(1));
	fixture_start(&r[0], BIT(0));
	model_halt(&r[0].m);
	fixture_nops(&r[1], 1);
	model_halt(&r[0].m);
	CHECK_EQ(1, r[0].requests);
	check_locks();
}

static void a_frozen_owner_stops(void)
{
	open();
	fixture_set(&r[0], MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	fixture_program(&r[0], 0, INST, ANY | IA32_PERFEVTSEL_INT, 0);
	fixture_set(&r[0], MSR_IA32_PMC0, MINUS(3));
	fixture_start(&r[0], BIT(0));
	fixture_nops(&r[1], 10);
	CHECK_EQ(0, pmc(0, 0));
	CHECK_EQ(0, fixture_get(&r[0], MSR_IA32_PERF_GLOBAL_CTRL));
	CHECK(!model_core_needs_sibling(&r[0].m) && !model_needs_retire(&r[1].m));
}

static void who_is_watched_must_be_seen(void)
{
	open();
	CHECK(!model_needs_retire(&r[1].m));
	fixture_program(&r[1], 1, INST, 0, 0);
	fixture_start(&r[1], BIT(1));
	CHECK(model_bulk_possible(&r[1].m, 0));
	fixture_program(&r[0], 0, INST, ANY, 0);
	CHECK(!model_core_needs_sibling(&r[0].m));
	fixture_start(&r[0], BIT(0));
	CHECK(model_core_needs_sibling(&r[0].m) && !model_core_needs_sibling(&r[1].m));
	CHECK(!model_bulk_possible(&r[1].m, 0) && !model_bulk_possible(&r[0].m, 0));
	fixture_stop(&r[1]);
	CHECK(model_needs_retire(&r[1].m));
	fixture_stop(&r[0]);
	CHECK(!model_needs_retire(&r[1].m) && !model_needs_retire(&r[0].m));
}

static void what_accesses_meet_is_counted(void)
{
	open();
	fixture_program(&r[0], 0, EVENT_MEM_LOAD_UOPS_RETIRED_L3_MISS, ANY, 0);
	fixture_program(&r[0], 1, EVENT_MEM_LOAD_UOPS_RETIRED_L1_HIT, ANY, 0);
	fixture_start(&r[0], BIT(0) | BIT(1));
	fixture_load(&r[1], A);
	fixture_nops(&r[1], 100);
	fixture_load(&r[1], A);
	fixture_load(&r[0], A);
	CHECK_EQ(1, pmc(0, 0));
	CHECK_EQ(2, pmc(0, 1), "the L1 is the core's");
}

static void any_thread_makes_no_records(void)
{
	open();
	fixture_ds(&r[0], 8, 8);
	fixture_program_pebs(&r[0], 0, INST, ANY, 2);
	fixture_start(&r[0], BIT(0));
	fixture_nops(&r[0], 20);
	CHECK_EQ(0, fixture_records(&r[0]));
}

static void registers_are_the_threads_own(void)
{
	static const struct {
		u32 msr;
		u64 value;
	} registers[] = {
		{ MSR_IA32_PMC0, 0x1234 }, { MSR_IA32_FIXED_CTR0, 0x1234 },
		{ MSR_IA32_PERFEVTSEL0, INST }, { MSR_IA32_FIXED_CTR_CTRL, 1 },
		{ MSR_IA32_PERF_GLOBAL_CTRL, 1 }, { MSR_IA32_PEBS_ENABLE, 1 },
		{ MSR_IA32_DS_AREA, 0x1000 }, { MSR_IA32_DEBUGCTL, 1 },
		{ MSR_PEBS_LD_LAT_THRESHOLD, 5 },
	};

	open();
	for (unsigned i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		u64 before = fixture_get(&r[1], registers[i].msr);

		fixture_set(&r[0], registers[i].msr, registers[i].value);
		CHECK_EQ(before, fixture_get(&r[1], registers[i].msr), "MSR %#x", registers[i].msr);
	}
}

/* After a new configuration, a processor with the old one belongs to no core. */
static void who_is_late_is_alone(void)
{
	u64 before;

	open();
	fixture_program(&r[1], 0, INST, ANY, 0);
	fixture_start(&r[1], BIT(0));
	model_core_reset(&core);
	CHECK(!model_needs_retire(&r[0].m));
	fixture_nops(&r[0], 5);
	fixture_nops(&r[1], 5);
	CHECK_EQ(5, pmc(1, 0), "no other's");
	model_init(&r[0].m, &r[1].m.config, &r[0].host);
	fixture_stop(&r[0]);
	fixture_program(&r[0], 0, INST, ANY, 0);
	fixture_start(&r[0], BIT(0));
	fixture_nops(&r[1], 5);
	CHECK_EQ(0, pmc(0, 0));
	model_init(&r[1].m, &r[0].m.config, &r[1].host);
	fixture_stop(&r[1]);
	before = pmc(0, 0);
	CHECK(model_needs_retire(&r[1].m));
	fixture_nops(&r[1], 5);
	CHECK_EQ(5, pmc(0, 0) - before);
}

static void without_hyper_threading_there_is_no_other(void)
{
	const struct model_config config = { .generation = GEN_HASWELL };
	static struct model_core cores[CORE_THREADS];

	open();
	for (unsigned t = 0; t < CORE_THREADS; t++) {
		r[t].host.cores = cores;
		model_init(&r[t].m, &config, &r[t].host);
	}
	fixture_stop(&r[0]);
	fixture_program(&r[0], 0, INST, ANY, 0);
	fixture_start(&r[0], BIT(0));
	CHECK(!model_needs_retire(&r[1].m) && model_bulk_possible(&r[0].m, 0));
	fixture_nops(&r[1], 5);
	CHECK_EQ(0, pmc(0, 0));
}

int main(void)
{
	RUN(any_thread_counts_both);
	RUN(both_may_watch);
	RUN(privilege_levels_are_the_siblings);
	RUN(fixed_counters_watch);
	RUN(an_overflow_is_the_owners);
	RUN(a_halted_owner_gets_it);
	RUN(a_frozen_owner_stops);
	RUN(who_is_watched_must_be_seen);
	RUN(what_accesses_meet_is_counted);
	RUN(any_thread_makes_no_records);
	RUN(registers_are_the_threads_own);
	RUN(who_is_late_is_alone);
	RUN(without_hyper_threading_there_is_no_other);
	return check_end();
}
