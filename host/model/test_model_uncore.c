/* SPDX-License-Identifier: MIT */
/*
 * The uncore of a package: two cores of two threads share its registers, its counts and its
 * interrupts. Addresses and bits as in "Uncore Performance Monitoring Management Facility".
 */
#include "host/check.h"
#include "host/model/fixture.h"
#include "refpmu/model/bulk.h"
#include "refpmu/model/uncore.h"

#define PROCESSORS	4
#define U_CTRL		0x391
#define U_STATUS	0x392
#define U_CLEAR		0x393
#define U_FIXED		0x394
#define U_FIXED_CTRL	0x395
#define U_PMC0		0x3b0
#define U_SELECT0	0x3c0
#define EN_PC0		BIT(0)
#define EN_FC0		BIT(32)
#define CORE(n)		BIT(48 + (n))
#define PMI_FRZ		BIT(63)
#define EN		BIT(0)
#define PMI		BIT(2)
#define TO_CORE		BIT(13)		/* of IA32_DEBUGCTL */
#define OVF_UNCORE	BIT(61)		/* of IA32_PERF_GLOBAL_STATUS */
#define L3_MISS_READ	0x0109
#define TOP		BITS(0, 47)
#define A		(FIXTURE_MEMORY_BASE + 0x3000)

static struct fixture r[PROCESSORS];
static struct model_core cores[PROCESSORS];
static struct model_uncore uncore;

static void open_config(const struct model_config *config)
{
	fixture_open_package(r, PROCESSORS, cores, &uncore, config);
}

static void open(void)
{
	open_config(&(struct model_config){ .generation = GEN_NEHALEM, .hyper_threading = true });
}

static void check_locks(void)
{
	for (unsigned i = 0; i < PROCESSORS; i++)
		CHECK_EQ(0, r[i].lock_errors);
	CHECK_EQ(0, uncore.lock);
}

/* The fixed counter will wrap soon, with its interrupt for these cores. */
static void arm(unsigned by, u64 global)
{
	fixture_set(&r[by], U_FIXED, TOP - 3);
	fixture_set(&r[by], U_FIXED_CTRL, EN | PMI);
	fixture_set(&r[by], U_CTRL, EN_FC0 | global);
}

static void everybody_listens(void)
{
	for (unsigned i = 0; i < PROCESSORS; i++)
		fixture_wrmsr(&r[i], MSR_IA32_DEBUGCTL, TO_CORE);
}

static void registers_are_the_packages(void)
{
	static const struct {
		u32 msr;
		u64 value;
	} registers[] = {
		{ U_CTRL, CORE(0) | CORE(2) | PMI_FRZ },
		{ U_FIXED, 0x123456789abc },
		{ U_FIXED_CTRL, PMI },
		{ 0x396, 0x1000 },
		{ U_PMC0 + 7, 0xfedcba987654 },
		{ U_SELECT0 + 3, L3_MISS_READ },
	};

	open();
	for (unsigned by = 0; by < PROCESSORS; by++)
		for (unsigned n = 0; n < sizeof(registers) / sizeof(registers[0]); n++) {
			u64 value = registers[n].value + (registers[n].msr == U_FIXED ? by : 0);

			fixture_set(&r[by], registers[n].msr, 0);
			fixture_set(&r[by], registers[n].msr, value);
			for (unsigned i = 0; i < PROCESSORS; i++)
				CHECK_EQ(value, fixture_get(&r[i], registers[n].msr),
					 "MSR %#x, written by %u, read by %u", registers[n].msr, by,
					 i);
		}
	check_locks();
}

static void the_status_is_the_packages(void)
{
	open();
	arm(0, 0);
	fixture_nops(&r[3], 8);
	for (unsigned i = 0; i < PROCESSORS; i++)
		CHECK(fixture_get(&r[i], U_STATUS) & EN_FC0, "processor %u", i);
	fixture_set(&r[1], U_CLEAR, EN_FC0);
	for (unsigned i = 0; i < PROCESSORS; i++)
		CHECK(!(fixture_get(&r[i], U_STATUS) & EN_FC0), "processor %u", i);
}

static void each_cores_events_count(void)
{
	open();
	fixture_set(&r[0], U_SELECT0, L3_MISS_READ | BIT(22));
	fixture_set(&r[0], U_PMC0, 0);
	fixture_set(&r[0], U_CTRL, EN_PC0);
	for (unsigned i = 0; i < PROCESSORS; i++) {
		fixture_nops(&r[i], 2);
		fixture_load(&r[i], A + 64 * i);
	}
	CHECK_EQ(PROCESSORS, fixture_get(&r[2], U_PMC0));
	fixture_set(&r[3], U_CTRL, 0);
	fixture_load(&r[0], A + 64 * 10);
	CHECK_EQ(PROCESSORS, fixture_get(&r[0], U_PMC0));
	check_locks();
}

static void while_it_counts_all_are_seen(void)
{
	open();
	for (unsigned i = 0; i < PROCESSORS; i++)
		CHECK(!model_needs_retire(&r[i].m) && !model_uncore_needs_others(&r[i].m), "%u", i);
	fixture_program(&r[2], 1, EVENT_INST_RETIRED_ANY_P, 0, 0);
	fixture_start(&r[2], BIT(1));
	CHECK(model_bulk_possible(&r[2].m, 0));
	arm(0, 0);
	CHECK(model_uncore_needs_others(&r[0].m));
	for (unsigned i = 0; i < PROCESSORS; i++)
		CHECK(model_needs_retire(&r[i].m) && !model_bulk_possible(&r[i].m, 0), "%u", i);
	fixture_set(&r[1], U_CTRL, 0);
	fixture_stop(&r[2]);
	for (unsigned i = 0; i < PROCESSORS; i++)
		CHECK(!model_needs_retire(&r[i].m) && !model_uncore_needs_others(&r[i].m), "%u", i);
}

/* A core is selected for both of its threads. */
static void every_selected_core_is_interrupted(void)
{
	for (unsigned cores_selected = 0; cores_selected < 4; cores_selected++)
		for (unsigned by = 0; by < PROCESSORS; by++) {
			open();
			everybody_listens();
			arm(by, (u64)cores_selected << 48);
			fixture_nops(&r[by], 10);
			for (unsigned i = 0; i < PROCESSORS; i++) {
				unsigned expected = cores_selected >> i / 2 & 1;

				CHECK_EQ(expected && i != by, r[by].called >> i & 1);
				CHECK_EQ(expected ? OVF_UNCORE : 0, fixture_status(&r[i]),
					 "processor %u, %#x selected", i, cores_selected);
				fixture_nops(&r[i], 1);
				CHECK_EQ(expected, r[i].requests, "processor %u", i);
			}
			check_locks();
		}
}

static void who_does_not_listen_is_left_alone(void)
{
	for (unsigned deaf = 0; deaf < PROCESSORS; deaf++) {
		open();
		everybody_listens();
		fixture_wrmsr(&r[deaf], MSR_IA32_DEBUGCTL, 0);
		arm(0, CORE(0) | CORE(1));
		fixture_nops(&r[1], 10);
		fixture_set(&r[0], U_CTRL, 0);
		/* An interrupt that was signalled before isn't withdrawn, nor sent to processors
		 * that listen later. */
		fixture_wrmsr(&r[deaf], MSR_IA32_DEBUGCTL, TO_CORE);
		for (unsigned i = 0; i < PROCESSORS; i++) {
			fixture_nops(&r[i], 1);
			CHECK_EQ(i != deaf, r[i].requests, "processor %u", i);
		}
	}
}

static void a_halted_core_gets_it(void)
{
	open();
	everybody_listens();
	model_halt(&r[2].m);
	arm(0, CORE(1));
	fixture_nops(&r[0], 10);
	CHECK(r[0].called & BIT(2), "it is called");
	CHECK(model_needs_retire(&r[2].m), "and must not sleep unobserved meanwhile");
	model_halt(&r[2].m);
	CHECK_EQ(1, r[2].requests);
}

static void freezing_stops_it_for_all(void)
{
	open();
	arm(0, CORE(0) | PMI_FRZ);
	fixture_nops(&r[3], 20);
	for (unsigned i = 0; i < PROCESSORS; i++)
		CHECK_EQ(CORE(0) | PMI_FRZ, fixture_get(&r[i], U_CTRL), "processor %u", i);
	CHECK(fixture_get(&r[0], U_FIXED) < 5, "it stands");
}

static void cores_without_hyper_threading(void)
{
	open_config(&(struct model_config){ .generation = GEN_WESTMERE });
	everybody_listens();
	arm(0, CORE(1) | CORE(3));
	fixture_nops(&r[2], 10);
	for (unsigned i = 0; i < PROCESSORS; i++) {
		fixture_nops(&r[i], 1);
		CHECK_EQ(i & 1, r[i].requests, "processor %u is core %u", i, i);
	}
}

static void what_firmware_left_is_one_set(void)
{
	struct model_config config = { .generation = GEN_NEHALEM, .hyper_threading = true };

	config.latitude.set = BIT(LAT_DIRTY_MSRS);
	config.latitude.value[LAT_DIRTY_MSRS] = 1;
	open_config(&config);
	CHECK(fixture_get(&r[0], U_FIXED), "something");
	for (unsigned i = 1; i < PROCESSORS; i++)
		CHECK_EQ(fixture_get(&r[0], U_FIXED), fixture_get(&r[i], U_FIXED));
}

/* After a new configuration, a processor with the old one doesn't change the new one's state. */
static void who_is_late_is_alone(void)
{
	open();
	model_uncore_reset(&uncore);
	model_init(&r[0].m, &r[1].m.config, &r[0].host);
	fixture_set(&r[1], U_FIXED, 0x1234);
	CHECK_EQ(0, fixture_get(&r[0], U_FIXED));
	model_init(&r[1].m, &r[0].m.config, &r[1].host);
	CHECK_EQ(0, fixture_get(&r[1], U_FIXED));
	fixture_set(&r[1], U_FIXED, 0x1234);
	CHECK_EQ(0x1234, fixture_get(&r[0], U_FIXED));
	check_locks();
}

static void other_generations_have_none(void)
{
	open_config(&(struct model_config){ .generation = GEN_HASWELL, .hyper_threading = true });
	for (unsigned i = 0; i < PROCESSORS; i++)
		CHECK(model_rdmsr(&r[i].m, U_FIXED).status == MSR_GP, "processor %u", i);
	CHECK_EQ(0, uncore.present);
}

int main(void)
{
	RUN(registers_are_the_packages);
	RUN(the_status_is_the_packages);
	RUN(each_cores_events_count);
	RUN(while_it_counts_all_are_seen);
	RUN(every_selected_core_is_interrupted);
	RUN(who_does_not_listen_is_left_alone);
	RUN(a_halted_core_gets_it);
	RUN(freezing_stops_it_for_all);
	RUN(cores_without_hyper_threading);
	RUN(what_firmware_left_is_one_set);
	RUN(who_is_late_is_alone);
	RUN(other_generations_have_none);
	return check_end();
}
