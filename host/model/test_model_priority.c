/* SPDX-License-Identifier: MIT */
/*
 * The order of service: one test for each sentence of the paragraphs on priority in "Processor
 * Event Based Sampling (PEBS)", and for their combinations. The trace of actions is compared.
 */
#include "host/check.h"
#include "host/model/fixture.h"

#define INST	EVENT_INST_RETIRED_ANY_P
#define LOADS	EVENT_MEM_UOPS_RETIRED_ALL_LOADS
#define STORES	EVENT_MEM_UOPS_RETIRED_ALL_STORES
#define INT	IA32_PERFEVTSEL_INT
#define ADDRESS	(FIXTURE_MEMORY_BASE + 0x3000)

static struct fixture r;

static void open(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_ds(&r, 16, 16);
}

/* "if IA32_PMC1 cause an overflow interrupt and IA32_PMC2 causes an PEBS assist" */
static void overflow_of_pmc1_before_assist_of_pmc2(void)
{
	open();
	fixture_program(&r, 1, INST, INT, 2);
	fixture_program_pebs(&r, 2, LOADS, 0, 1);
	fixture_start(&r, BIT(1) | BIT(2));
	fixture_load(&r, ADDRESS);
	CHECK_STR("ARM2", fixture_actions(&r));
	fixture_load(&r, ADDRESS);
	CHECK_STR("ARM2 OVERFLOW1 ASSIST2", fixture_actions(&r));
	CHECK_EQ(1, r.n_interrupts);
	CHECK_EQ(BIT(1), fixture_status(&r));
	CHECK_EQ(1, fixture_records(&r));
}

static void the_same_with_the_threshold_met(void)
{
	open();
	fixture_ds(&r, 16, 1);
	r.unmasks = true;
	fixture_program(&r, 1, INST, INT, 2);
	fixture_program_pebs(&r, 2, LOADS, 0, 1);
	fixture_start(&r, BIT(1) | BIT(2));
	fixture_load(&r, ADDRESS);
	fixture_load(&r, ADDRESS);
	CHECK_STR("ARM2 OVERFLOW1 ASSIST2 THRESHOLD2", fixture_actions(&r));
	CHECK_EQ(2, r.n_interrupts);
	CHECK_EQ(BIT(1) | BIT(62), fixture_status(&r));
}

static void assist_of_pmc1_before_overflow_of_pmc2(void)
{
	open();
	fixture_program_pebs(&r, 1, LOADS, 0, 1);
	fixture_program(&r, 2, INST, INT, 2);
	fixture_start(&r, BIT(1) | BIT(2));
	fixture_load(&r, ADDRESS);
	fixture_load(&r, ADDRESS);
	CHECK_STR("ARM1 ASSIST1 OVERFLOW2", fixture_actions(&r));
	CHECK_EQ(1, r.n_interrupts);
	CHECK_EQ(BIT(2), fixture_status(&r));
}

/* "the PEBS assist is serviced before the counter overflow interrupt is serviced" */
static void assist_before_own_overflow_interrupt(void)
{
	open();
	fixture_program_pebs(&r, 0, LOADS, INT, 2);
	fixture_start(&r, BIT(0));
	fixture_load(&r, ADDRESS);
	fixture_load(&r, ADDRESS);
	fixture_nops(&r, 5);
	CHECK_STR("ARM0", fixture_actions(&r));
	CHECK_EQ(BIT(0), fixture_status(&r));
	CHECK_EQ(0, r.n_interrupts, "nothing before the assist");
	fixture_load(&r, ADDRESS);
	CHECK_STR("ARM0 ASSIST0 OVERFLOW0", fixture_actions(&r));
	CHECK_EQ(1, r.n_interrupts);
	CHECK_EQ(0, fixture_status(&r));
}

/* "(two separate interrupts are generated)" */
static void assist_threshold_overflow_two_interrupts(void)
{
	open();
	fixture_ds(&r, 16, 1);
	r.unmasks = true;
	fixture_program_pebs(&r, 0, LOADS, INT, 2);
	fixture_start(&r, BIT(0));
	for (int i = 0; i < 3; i++)
		fixture_load(&r, ADDRESS);
	CHECK_STR("ARM0 ASSIST0 THRESHOLD0 OVERFLOW0", fixture_actions(&r));
	if (CHECK_EQ(2, r.n_interrupts)) {
		CHECK_EQ(BIT(62), r.interrupt[0].status);
		CHECK_EQ(FIXTURE_BUFFER + FIXTURE_RECORD, r.interrupt[0].index,
			 "the record is there");
		CHECK_EQ(BIT(62), r.interrupt[1].status, "it was not cleared");
	}
}

/* "Hardware will not generate separate interrupts for each counter that ... overflows" */
static void one_interrupt_for_simultaneous_overflows(void)
{
	open();
	r.unmasks = true;
	fixture_program(&r, 0, INST, INT, 3);
	fixture_program(&r, 3, INST, INT, 3);
	fixture_set(&r, MSR_IA32_FIXED_CTR0, -3ULL & BITS(0, 47));
	fixture_set(&r, MSR_IA32_FIXED_CTR_CTRL, 0xb);
	fixture_start(&r, BIT(0) | BIT(3) | BIT(32));
	fixture_nops(&r, 3);
	CHECK_STR("OVERFLOW0", fixture_actions(&r));
	CHECK_EQ(1, r.n_interrupts);
	CHECK_EQ(BIT(0) | BIT(3) | BIT(32), r.interrupt[0].status);
}

static void later_overflows_are_not_simultaneous(void)
{
	open();
	r.unmasks = true;
	fixture_program(&r, 3, INST, INT, 3);
	fixture_program(&r, 0, INST, INT, 4);
	fixture_start(&r, BIT(0) | BIT(3));
	fixture_nops(&r, 5);
	CHECK_STR("OVERFLOW3 OVERFLOW0", fixture_actions(&r));
	CHECK_EQ(2, r.n_interrupts);
}

static void general_purpose_before_fixed(void)
{
	open();
	r.unmasks = true;
	fixture_program_pebs(&r, 3, LOADS, 0, 1);
	fixture_set(&r, MSR_IA32_FIXED_CTR0, -2ULL & BITS(0, 47));
	fixture_set(&r, MSR_IA32_FIXED_CTR_CTRL, 0xb);
	fixture_start(&r, BIT(3) | BIT(32));
	fixture_load(&r, ADDRESS);
	fixture_load(&r, ADDRESS);
	CHECK_STR("ARM3 ASSIST3 OVERFLOW10", fixture_actions(&r));
}

static void one_assist_covers_all_that_overflowed(void)
{
	open();
	fixture_program_pebs(&r, 0, LOADS, 0, 2);
	fixture_program_pebs(&r, 1, LOADS, 0, 2);
	fixture_program_pebs(&r, 2, STORES, 0, 1);
	fixture_set_reset(&r, 1, 1000);
	fixture_set_reset(&r, 2, 2000);
	fixture_start(&r, BIT(0) | BIT(1) | BIT(2));
	fixture_store(&r, ADDRESS);
	for (int i = 0; i < 3; i++)
		fixture_load(&r, ADDRESS);
	CHECK_STR("ARM2 ARM0 ARM1 ASSIST0", fixture_actions(&r));
	CHECK_EQ(1, fixture_records(&r));
	CHECK_EQ(BITS(0, 2), fixture_record(&r, 0, 0x90), "the status before the assist");
	CHECK_EQ(0, fixture_status(&r));
	CHECK_EQ(-2ULL & BITS(0, 47), fixture_get(&r, MSR_IA32_PMC0));
	CHECK_EQ(1000, fixture_get(&r, MSR_IA32_PMC0 + 1));
	CHECK_EQ(2000, fixture_get(&r, MSR_IA32_PMC0 + 2));
	fixture_store(&r, ADDRESS);
	CHECK_EQ(1, fixture_records(&r), "PMC2 is no longer armed");
}

/* The record shows whose assist it was: that of the counter with the lowest index. */
static void the_lowest_index_makes_the_record(void)
{
	open();
	fixture_program_pebs(&r, 0, LOADS, 0, 1);
	fixture_program_pebs(&r, 1, EVENT_INST_RETIRED_PREC_DIST, 0, 2);
	fixture_start(&r, BIT(0) | BIT(1));
	fixture_load(&r, ADDRESS);
	fixture_load(&r, ADDRESS + 64);
	CHECK_STR("ARM0 ARM1 ASSIST0", fixture_actions(&r));
	CHECK_EQ(1, fixture_records(&r));
	CHECK_EQ(ADDRESS + 64, fixture_record(&r, 0, 0x98));
}

static void a_wrap_on_the_instruction_of_an_assist_is_covered(void)
{
	open();
	fixture_program_pebs(&r, 0, LOADS, 0, 1);
	fixture_program_pebs(&r, 3, LOADS, 0, 2);
	fixture_start(&r, BIT(0) | BIT(3));
	fixture_load(&r, ADDRESS);
	fixture_load(&r, ADDRESS);
	CHECK_STR("ARM0 ARM3 ASSIST0", fixture_actions(&r));
	CHECK_EQ(1, fixture_records(&r));
	CHECK_EQ(-2ULL & BITS(0, 47), fixture_get(&r, MSR_IA32_PMC0 + 3));
	CHECK_EQ(0, fixture_status(&r));
}

static void without_int_no_interrupt_but_status(void)
{
	open();
	fixture_program(&r, 0, INST, 0, 3);
	fixture_program_pebs(&r, 1, LOADS, 0, 1);
	fixture_start(&r, BIT(0) | BIT(1));
	fixture_nops(&r, 4);
	fixture_load(&r, ADDRESS);
	fixture_load(&r, ADDRESS);
	CHECK_STR("ARM1 ASSIST1", fixture_actions(&r));
	CHECK_EQ(0, r.requests);
	CHECK_EQ(BIT(0), fixture_status(&r), "not enabled for PEBS: not touched by the assist");
	CHECK_EQ(3, fixture_get(&r, MSR_IA32_PMC0));
}

static void a_failed_bounds_check_still_lets_the_interrupt_out(void)
{
	open();
	fixture_ds(&r, 0, 16);
	fixture_program_pebs(&r, 0, LOADS, INT, 1);
	fixture_start(&r, BIT(0));
	fixture_load(&r, ADDRESS);
	fixture_load(&r, ADDRESS);
	CHECK_STR("ARM0 OVERFLOW0", fixture_actions(&r));
	CHECK_EQ(0, fixture_records(&r));
	CHECK_EQ(BIT(0), fixture_status(&r));
}

static void one_interrupt_for_simultaneous_fixed_counters(void)
{
	open();
	fixture_set(&r, MSR_IA32_FIXED_CTR_CTRL, 0xbbb);
	for (unsigned i = 0; i < 3; i++)
		fixture_set(&r, MSR_IA32_FIXED_CTR0 + i, BITS(0, 47) - 1);
	fixture_start(&r, BITS(32, 34));
	fixture_nops(&r, 2);
	CHECK_STR("OVERFLOW10", fixture_actions(&r));
	CHECK_EQ(BITS(32, 34), fixture_status(&r));
}

int main(void)
{
	RUN(overflow_of_pmc1_before_assist_of_pmc2);
	RUN(the_same_with_the_threshold_met);
	RUN(assist_of_pmc1_before_overflow_of_pmc2);
	RUN(assist_before_own_overflow_interrupt);
	RUN(assist_threshold_overflow_two_interrupts);
	RUN(one_interrupt_for_simultaneous_overflows);
	RUN(later_overflows_are_not_simultaneous);
	RUN(general_purpose_before_fixed);
	RUN(one_interrupt_for_simultaneous_fixed_counters);
	RUN(one_assist_covers_all_that_overflowed);
	RUN(the_lowest_index_makes_the_record);
	RUN(a_wrap_on_the_instruction_of_an_assist_is_covered);
	RUN(without_int_no_interrupt_but_status);
	RUN(a_failed_bounds_check_still_lets_the_interrupt_out);
	return check_end();
}
