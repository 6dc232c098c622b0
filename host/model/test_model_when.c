/* SPDX-License-Identifier: MIT */
/* Faults with parameters act only on the injection points that these select:
 * refpmu/model/fault_when.h. */
#include "host/check.h"
#include "host/model/fixture.h"

#define INST	EVENT_INST_RETIRED_ANY_P
#define LOADS	EVENT_MEM_UOPS_RETIRED_ALL_LOADS
#define ADDRESS	(FIXTURE_MEMORY_BASE + 0x3000)
#define BUFFER_RECORDS 30

static struct fixture r;

static void open(enum fault_id fault, struct fault_when when)
{
	struct model_config config = {
		.generation = GEN_HASWELL, .hyper_threading = true, .fault = fault, .when = when,
	};

	fixture_open_config(&r, &config);
	fixture_ds(&r, BUFFER_RECORDS, BUFFER_RECORDS + 1);
}

static void records(unsigned counter, unsigned n)
{
	fixture_program_pebs(&r, counter, LOADS, 0, 2);
	fixture_start(&r, BIT(counter));
	for (unsigned i = 0; i < 3 * n; i++)
		fixture_load(&r, ADDRESS);
	fixture_stop(&r);
}

/* Bit n: RAX of record n is 0. */
static u64 zeros(unsigned n)
{
	u64 found = 0;

	for (unsigned i = 0; i < n; i++)
		if (!fixture_record(&r, i, 0x10))
			found |= BIT(i);
	return found;
}

static void without_parameters_always(void)
{
	open(FAULT_RAX_ZERO, (struct fault_when){ .nth = 0 });
	records(0, 6);
	CHECK_EQ(BITS(0, 5), zeros(6));
}

static void the_nth_only(void)
{
	open(FAULT_RAX_ZERO, (struct fault_when){ .nth = 4 });
	records(0, 12);
	CHECK_EQ(BIT(3), zeros(12));
}

static void every_nth(void)
{
	open(FAULT_RAX_ZERO, (struct fault_when){ .every = 5 });
	records(0, 12);
	CHECK_EQ(BIT(4) | BIT(9), zeros(12));
}

static void records_of_one_counter(void)
{
	for (unsigned n = 0; n < 4; n++) {
		open(FAULT_RAX_ZERO, (struct fault_when){ .one_counter = true, .counter = 2 });
		records(n, 2);
		CHECK_EQ(n == 2 ? BITS(0, 1) : 0, zeros(2), "PMC%u", n);
	}
}

/* The buffer begins at a page: record 21 begins at FC0H and ends in the next page. */
static void records_across_a_page(void)
{
	open(FAULT_RAX_ZERO, (struct fault_when){ .page_crossing = true });
	records(0, 25);
	CHECK_EQ(25, fixture_records(&r));
	CHECK_EQ(BIT(21), zeros(25));
}

static void all_at_once(void)
{
	open(FAULT_RAX_ZERO,
	     (struct fault_when){
		     .one_counter = true, .counter = 1, .page_crossing = true, .nth = 1 });
	records(1, 25);
	CHECK_EQ(BIT(21), zeros(25));
}

static void overflows_of_one_counter(void)
{
	for (unsigned n = 0; n < 4; n++) {
		open(FAULT_STATUS_DROPPED,
		     (struct fault_when){ .one_counter = true, .counter = 3 });
		fixture_program(&r, n, INST, 0, 3);
		fixture_start(&r, BIT(n));
		fixture_nops(&r, 5);
		CHECK_EQ(n == 3 ? 0 : BIT(n), fixture_status(&r), "PMC%u", n);
	}
}

static void a_fixed_counter(void)
{
	for (u32 n = 0; n < 3; n++) {
		open(FAULT_STATUS_DROPPED,
		     (struct fault_when){ .one_counter = true, .counter = 11 });
		fixture_set(&r, MSR_IA32_FIXED_CTR0 + n, BITS(0, 47));
		fixture_set(&r, MSR_IA32_FIXED_CTR_CTRL, 3ULL << 4 * n);
		fixture_start(&r, BIT(32 + n));
		fixture_nops(&r, 5);
		CHECK_EQ(n == 1 ? 0 : BIT(32 + n), fixture_status(&r), "fixed %u", n);
	}
}

static void registers_of_one_counter(void)
{
	open(FAULT_PERFEVTSEL_READS_ZERO, (struct fault_when){ .one_counter = true, .counter = 2 });
	for (unsigned n = 0; n < 4; n++) {
		fixture_set(&r, MSR_IA32_PERFEVTSEL0 + n, INST);
		CHECK_EQ(n == 2 ? 0 : INST, fixture_get(&r, MSR_IA32_PERFEVTSEL0 + n));
	}
}

/* An instruction that several counters count is one injection point for all of them. */
static void the_nth_instruction(void)
{
	open(FAULT_LOADS_COUNT_STORES, (struct fault_when){ .nth = 3 });
	fixture_program(&r, 0, LOADS, 0, 0);
	fixture_program(&r, 1, LOADS, 0, 0);
	fixture_start(&r, BIT(0) | BIT(1));
	for (int i = 0; i < 9; i++)
		fixture_store(&r, ADDRESS);
	fixture_stop(&r);
	CHECK_EQ(1, fixture_get(&r, MSR_IA32_PMC0));
	CHECK_EQ(1, fixture_get(&r, MSR_IA32_PMC0 + 1));
}

static void from_the_nth_on(void)
{
	open(FAULT_RAX_ZERO, (struct fault_when){ .from = 3 });
	records(0, 6);
	CHECK_EQ(BITS(2, 5), zeros(6));
	CHECK_EQ(4, model_fault_acted(&r.m));
}

/* The third load is at CPL 3, and makes the record. */
static void at_cpl_3(void)
{
	for (unsigned user = 0; user < 2; user++) {
		open(FAULT_RAX_ZERO, (struct fault_when){ .conditions = FAULT_AT_CPL3 });
		fixture_program_pebs(&r, 0, LOADS, 0, 2);
		fixture_start(&r, BIT(0));
		fixture_load(&r, ADDRESS);
		fixture_load(&r, ADDRESS);
		r.cpl = user ? 3 : 0;
		fixture_load(&r, ADDRESS);
		CHECK_EQ(1, fixture_records(&r));
		CHECK_EQ(user, zeros(1));
	}
}

static void with_int(void)
{
	for (unsigned with = 0; with < 2; with++) {
		open(FAULT_RAX_ZERO, (struct fault_when){ .conditions = FAULT_WITH_INT });
		fixture_program_pebs(&r, 1, LOADS, with ? IA32_PERFEVTSEL_INT : 0, 2);
		fixture_start(&r, BIT(1));
		for (unsigned i = 0; i < 3; i++)
			fixture_load(&r, ADDRESS);
		CHECK_EQ(1, fixture_records(&r));
		CHECK_EQ(with, zeros(1));
	}
}

static void beside_another(void)
{
	for (unsigned beside = 0; beside < 2; beside++) {
		open(FAULT_RAX_ZERO, (struct fault_when){ .conditions = FAULT_BESIDE });
		fixture_program(&r, 2, INST, 0, 0);
		fixture_program_pebs(&r, 1, LOADS, 0, 2);
		fixture_start(&r, BIT(1) | (beside ? BIT(2) : 0));
		for (unsigned i = 0; i < 3; i++)
			fixture_load(&r, ADDRESS);
		CHECK_EQ(1, fixture_records(&r));
		CHECK_EQ(beside, zeros(1));
	}
}

static void on_the_second_processor(void)
{
	static struct fixture threads[CORE_THREADS];
	struct model_core core;
	struct model_config config = {
		.generation = GEN_HASWELL, .hyper_threading = true,
		.fault = FAULT_STATUS_DROPPED, .when.conditions = FAULT_ON_CPU1,
	};

	fixture_open_core(threads, &core, &config);
	for (unsigned t = 0; t < CORE_THREADS; t++) {
		fixture_program(&threads[t], 0, INST, 0, 3);
		fixture_start(&threads[t], BIT(0));
		fixture_nops(&threads[t], 3);
		CHECK_EQ(t ? 0 : BIT(0), fixture_status(&threads[t]), "thread %u", t);
	}
}

/* All fixed counters wrap on one instruction. A processor that requests an interrupt for each one
 * shows the order of service: that of the index, which no program can see. */
static void fixed_counters_in_index_order(void)
{
	open(FAULT_PMI_PER_COUNTER, (struct fault_when){ .nth = 0 });
	fixture_set(&r, MSR_IA32_FIXED_CTR_CTRL, 0xbbb);
	for (unsigned i = 0; i < 3; i++)
		fixture_set(&r, MSR_IA32_FIXED_CTR0 + i, BITS(0, 47) - 1);
	fixture_start(&r, BITS(32, 34));
	fixture_nops(&r, 2);
	CHECK_STR("OVERFLOW10 OVERFLOW11 OVERFLOW12", fixture_actions(&r));
	CHECK_EQ(BITS(32, 34), fixture_status(&r));
}

int main(void)
{
	RUN(without_parameters_always);
	RUN(the_nth_only);
	RUN(every_nth);
	RUN(records_of_one_counter);
	RUN(records_across_a_page);
	RUN(all_at_once);
	RUN(overflows_of_one_counter);
	RUN(a_fixed_counter);
	RUN(registers_of_one_counter);
	RUN(the_nth_instruction);
	RUN(from_the_nth_on);
	RUN(at_cpl_3);
	RUN(with_int);
	RUN(beside_another);
	RUN(on_the_second_processor);
	RUN(fixed_counters_in_index_order);
	return check_end();
}
