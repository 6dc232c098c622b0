/* SPDX-License-Identifier: MIT */
/*
 * What is served first: one test for each sentence of the paragraphs on priority in "Processor
 * Event Based Sampling (PEBS)" and for their combinations, by the trace of actions.
 */
#include "host/check.h"
#include "host/model/rig.h"

#define INST	EVENT_INST_RETIRED_ANY_P
#define LOADS	EVENT_MEM_UOPS_RETIRED_ALL_LOADS
#define STORES	EVENT_MEM_UOPS_RETIRED_ALL_STORES
#define INT	IA32_PERFEVTSEL_INT
#define ADDRESS	(RIG_MEMORY_BASE + 0x3000)

static struct rig r;

static void open(void)
{
	rig_open(&r, FAULT_NONE, 0, true);
	rig_ds(&r, 16, 16);
}

/* "if IA32_PMC1 cause an overflow interrupt and IA32_PMC2 causes an PEBS assist" */
static void overflow_of_pmc1_before_assist_of_pmc2(void)
{
	open();
	rig_program(&r, 1, INST, INT, 2);
	rig_program_pebs(&r, 2, LOADS, 0, 1);
	rig_start(&r, BIT(1) | BIT(2));
	rig_load(&r, ADDRESS);
	CHECK_STR("ARM2", rig_actions(&r));
	rig_load(&r, ADDRESS);
	CHECK_STR("ARM2 OVERFLOW1 ASSIST2", rig_actions(&r));
	CHECK_EQ(1, r.n_interrupts);
	CHECK_EQ(BIT(1), rig_status(&r));
	CHECK_EQ(1, rig_records(&r));
}

static void the_same_with_the_threshold_met(void)
{
	open();
	rig_ds(&r, 16, 1);
	r.unmasks = true;
	rig_program(&r, 1, INST, INT, 2);
	rig_program_pebs(&r, 2, LOADS, 0, 1);
	rig_start(&r, BIT(1) | BIT(2));
	rig_load(&r, ADDRESS);
	rig_load(&r, ADDRESS);
	CHECK_STR("ARM2 OVERFLOW1 ASSIST2 THRESHOLD2", rig_actions(&r));
	CHECK_EQ(2, r.n_interrupts);
	CHECK_EQ(BIT(1) | BIT(62), rig_status(&r));
}

static void assist_of_pmc1_before_overflow_of_pmc2(void)
{
	open();
	rig_program_pebs(&r, 1, LOADS, 0, 1);
	rig_program(&r, 2, INST, INT, 2);
	rig_start(&r, BIT(1) | BIT(2));
	rig_load(&r, ADDRESS);
	rig_load(&r, ADDRESS);
	CHECK_STR("ARM1 ASSIST1 OVERFLOW2", rig_actions(&r));
	CHECK_EQ(1, r.n_interrupts);
	CHECK_EQ(BIT(2), rig_status(&r));
}

/* "the PEBS assist is serviced before the counter overflow interrupt is serviced" */
static void assist_before_own_overflow_interrupt(void)
{
	open();
	rig_program_pebs(&r, 0, LOADS, INT, 2);
	rig_start(&r, BIT(0));
	rig_load(&r, ADDRESS);
	rig_load(&r, ADDRESS);
	rig_nops(&r, 5);
	CHECK_STR("ARM0", rig_actions(&r));
	CHECK_EQ(BIT(0), rig_status(&r));
	CHECK_EQ(0, r.n_interrupts, "nothing before the assist");
	rig_load(&r, ADDRESS);
	CHECK_STR("ARM0 ASSIST0 OVERFLOW0", rig_actions(&r));
	CHECK_EQ(1, r.n_interrupts);
	CHECK_EQ(0, rig_status(&r));
}

/* "(two separate interrupts are generated)" */
static void assist_threshold_overflow_two_interrupts(void)
{
	open();
	rig_ds(&r, 16, 1);
	r.unmasks = true;
	rig_program_pebs(&r, 0, LOADS, INT, 2);
	rig_start(&r, BIT(0));
	for (int i = 0; i < 3; i++)
		rig_load(&r, ADDRESS);
	CHECK_STR("ARM0 ASSIST0 THRESHOLD0 OVERFLOW0", rig_actions(&r));
	if (CHECK_EQ(2, r.n_interrupts)) {
		CHECK_EQ(BIT(62), r.interrupt[0].status);
		CHECK_EQ(RIG_BUFFER + RIG_RECORD, r.interrupt[0].index, "the record is there");
		CHECK_EQ(BIT(62), r.interrupt[1].status, "it was not cleared");
	}
}

/* "Hardware will not generate separate interrupts for each counter that ... overflows" */
static void one_interrupt_for_simultaneous_overflows(void)
{
	open();
	r.unmasks = true;
	rig_program(&r, 0, INST, INT, 3);
	rig_program(&r, 3, INST, INT, 3);
	rig_set(&r, MSR_IA32_FIXED_CTR0, -3ULL & BITS(0, 47));
	rig_set(&r, MSR_IA32_FIXED_CTR_CTRL, 0xb);
	rig_start(&r, BIT(0) | BIT(3) | BIT(32));
	rig_nops(&r, 3);
	CHECK_STR("OVERFLOW0", rig_actions(&r));
	CHECK_EQ(1, r.n_interrupts);
	CHECK_EQ(BIT(0) | BIT(3) | BIT(32), r.interrupt[0].status);
}

static void later_overflows_are_not_simultaneous(void)
{
	open();
	r.unmasks = true;
	rig_program(&r, 3, INST, INT, 3);
	rig_program(&r, 0, INST, INT, 4);
	rig_start(&r, BIT(0) | BIT(3));
	rig_nops(&r, 5);
	CHECK_STR("OVERFLOW3 OVERFLOW0", rig_actions(&r));
	CHECK_EQ(2, r.n_interrupts);
}

static void general_purpose_before_fixed(void)
{
	open();
	r.unmasks = true;
	rig_program_pebs(&r, 3, LOADS, 0, 1);
	rig_set(&r, MSR_IA32_FIXED_CTR0, -2ULL & BITS(0, 47));
	rig_set(&r, MSR_IA32_FIXED_CTR_CTRL, 0xb);
	rig_start(&r, BIT(3) | BIT(32));
	rig_load(&r, ADDRESS);
	rig_load(&r, ADDRESS);
	CHECK_STR("ARM3 ASSIST3 OVERFLOW8", rig_actions(&r));
}

static void one_assist_covers_all_that_overflowed(void)
{
	open();
	rig_program_pebs(&r, 0, LOADS, 0, 2);
	rig_program_pebs(&r, 1, LOADS, 0, 2);
	rig_program_pebs(&r, 2, STORES, 0, 1);
	rig_set_reset(&r, 1, 1000);
	rig_set_reset(&r, 2, 2000);
	rig_start(&r, BIT(0) | BIT(1) | BIT(2));
	rig_store(&r, ADDRESS);
	for (int i = 0; i < 3; i++)
		rig_load(&r, ADDRESS);
	CHECK_STR("ARM2 ARM0 ARM1 ASSIST0", rig_actions(&r));
	CHECK_EQ(1, rig_records(&r));
	CHECK_EQ(BITS(0, 2), rig_record(&r, 0, 0x90), "the status before the assist");
	CHECK_EQ(0, rig_status(&r));
	CHECK_EQ(-2ULL & BITS(0, 47), rig_get(&r, MSR_IA32_PMC0));
	CHECK_EQ(1000, rig_get(&r, MSR_IA32_PMC0 + 1));
	CHECK_EQ(2000, rig_get(&r, MSR_IA32_PMC0 + 2));
	rig_store(&r, ADDRESS);
	CHECK_EQ(1, rig_records(&r), "PMC2 is no longer armed");
}

/* The record shows whose assist it was: that of the lowest index. */
static void the_lowest_index_makes_the_record(void)
{
	open();
	rig_program_pebs(&r, 0, LOADS, 0, 1);
	rig_program_pebs(&r, 1, EVENT_INST_RETIRED_PREC_DIST, 0, 2);
	rig_start(&r, BIT(0) | BIT(1));
	rig_load(&r, ADDRESS);
	rig_load(&r, ADDRESS + 64);
	CHECK_STR("ARM0 ARM1 ASSIST0", rig_actions(&r));
	CHECK_EQ(1, rig_records(&r));
	CHECK_EQ(ADDRESS + 64, rig_record(&r, 0, 0x98));
}

static void a_wrap_on_the_instruction_of_an_assist_is_covered(void)
{
	open();
	rig_program_pebs(&r, 0, LOADS, 0, 1);
	rig_program_pebs(&r, 3, LOADS, 0, 2);
	rig_start(&r, BIT(0) | BIT(3));
	rig_load(&r, ADDRESS);
	rig_load(&r, ADDRESS);
	CHECK_STR("ARM0 ARM3 ASSIST0", rig_actions(&r));
	CHECK_EQ(1, rig_records(&r));
	CHECK_EQ(-2ULL & BITS(0, 47), rig_get(&r, MSR_IA32_PMC0 + 3));
	CHECK_EQ(0, rig_status(&r));
}

static void without_int_no_interrupt_but_status(void)
{
	open();
	rig_program(&r, 0, INST, 0, 3);
	rig_program_pebs(&r, 1, LOADS, 0, 1);
	rig_start(&r, BIT(0) | BIT(1));
	rig_nops(&r, 4);
	rig_load(&r, ADDRESS);
	rig_load(&r, ADDRESS);
	CHECK_STR("ARM1 ASSIST1", rig_actions(&r));
	CHECK_EQ(0, r.requests);
	CHECK_EQ(BIT(0), rig_status(&r), "not enabled for PEBS: not touched by the assist");
	CHECK_EQ(3, rig_get(&r, MSR_IA32_PMC0));
}

static void a_failed_bounds_check_still_lets_the_interrupt_out(void)
{
	open();
	rig_ds(&r, 0, 16);
	rig_program_pebs(&r, 0, LOADS, INT, 1);
	rig_start(&r, BIT(0));
	rig_load(&r, ADDRESS);
	rig_load(&r, ADDRESS);
	CHECK_STR("ARM0 OVERFLOW0", rig_actions(&r));
	CHECK_EQ(0, rig_records(&r));
	CHECK_EQ(BIT(0), rig_status(&r));
}

static void one_interrupt_for_simultaneous_fixed_counters(void)
{
	open();
	rig_set(&r, MSR_IA32_FIXED_CTR_CTRL, 0xbbb);
	for (unsigned i = 0; i < 3; i++)
		rig_set(&r, MSR_IA32_FIXED_CTR0 + i, BITS(0, 47) - 1);
	rig_start(&r, BITS(32, 34));
	rig_nops(&r, 2);
	CHECK_STR("OVERFLOW8", rig_actions(&r));
	CHECK_EQ(BITS(32, 34), rig_status(&r));
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
