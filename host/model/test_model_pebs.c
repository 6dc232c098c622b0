/* SPDX-License-Identifier: MIT */
/*
 * The record and the DS area. The bytes of the golden record are typed by hand from Table 18-44
 * "PEBS Record Format for 4th Generation Intel Core Processor Family".
 */
#include "host/check.h"
#include "host/model/rig.h"

#define LOADS	EVENT_MEM_UOPS_RETIRED_ALL_LOADS
#define STORES	EVENT_MEM_UOPS_RETIRED_ALL_STORES
#define ADDRESS	(RIG_MEMORY_BASE + 0x3000)

static struct rig r;

static void open(unsigned records, unsigned threshold)
{
	rig_open(&r, FAULT_NONE, 0, true);
	rig_ds(&r, records, threshold);
}

static const u8 golden[0xc0] = {
	/* 00 R/EFLAGS */	0x46, 0x02, 0, 0, 0, 0, 0, 0,
	/* 08 R/EIP */		0x07, 0x10, 0x40, 0, 0, 0, 0, 0,
	/* 10 R/EAX */		0xa0, 1, 2, 3, 4, 5, 6, 0x80,
	/* 18 R/EBX */		0xb0, 1, 2, 3, 4, 5, 6, 0x81,
	/* 20 R/ECX */		0xc0, 1, 2, 3, 4, 5, 6, 0x82,
	/* 28 R/EDX */		0xd0, 1, 2, 3, 4, 5, 6, 0x83,
	/* 30 R/ESI */		0xe0, 1, 2, 3, 4, 5, 6, 0x84,
	/* 38 R/EDI */		0xf0, 1, 2, 3, 4, 5, 6, 0x85,
	/* 40 R/EBP */		0x01, 1, 2, 3, 4, 5, 6, 0x86,
	/* 48 R/ESP */		0x02, 1, 2, 3, 4, 5, 6, 0x87,
	/* 50 R8 */		0x08, 1, 2, 3, 4, 5, 6, 0x88,
	/* 58 R9 */		0x09, 1, 2, 3, 4, 5, 6, 0x89,
	/* 60 R10 */		0x10, 1, 2, 3, 4, 5, 6, 0x8a,
	/* 68 R11 */		0x11, 1, 2, 3, 4, 5, 6, 0x8b,
	/* 70 R12 */		0x12, 1, 2, 3, 4, 5, 6, 0x8c,
	/* 78 R13 */		0x13, 1, 2, 3, 4, 5, 6, 0x8d,
	/* 80 R14 */		0x14, 1, 2, 3, 4, 5, 6, 0x8e,
	/* 88 R15 */		0x15, 1, 2, 3, 4, 5, 6, 0x8f,
	/* 90 status */		0x01, 0, 0, 0, 0x02, 0, 0, 0,	/* PMC0 and fixed counter 1 */
	/* 98 linear address */	0x10, 0x32, 0x54, 0x76, 0x98, 0x7f, 0, 0,
	/* A0 data source */	0, 0, 0, 0, 0, 0, 0, 0,
	/* A8 latency */	0, 0, 0, 0, 0, 0, 0, 0,
	/* B0 EventingIP */	0x00, 0x10, 0x40, 0, 0, 0, 0, 0,
	/* B8 TX abort */	0, 0, 0, 0, 0, 0, 0, 0,
};

static u64 gpr(u8 low, u8 high)
{
	return (u64)high << 56 | 0x06050403020100ULL | low;
}

static void golden_record(void)
{
	struct model_retired i = {
		.ip = 0x401000, .loads = 1, .n_access = 1,
		.access = { { 0x7f9876543210, 4, false, false } },
		.after = {
			.gpr = {
				[REG_RAX] = gpr(0xa0, 0x80), [REG_RBX] = gpr(0xb0, 0x81),
				[REG_RCX] = gpr(0xc0, 0x82), [REG_RDX] = gpr(0xd0, 0x83),
				[REG_RSI] = gpr(0xe0, 0x84), [REG_RDI] = gpr(0xf0, 0x85),
				[REG_RBP] = gpr(0x01, 0x86), [REG_RSP] = gpr(0x02, 0x87),
				[REG_R8] = gpr(0x08, 0x88), [REG_R9] = gpr(0x09, 0x89),
				[REG_R10] = gpr(0x10, 0x8a), [REG_R11] = gpr(0x11, 0x8b),
				[REG_R12] = gpr(0x12, 0x8c), [REG_R13] = gpr(0x13, 0x8d),
				[REG_R14] = gpr(0x14, 0x8e), [REG_R15] = gpr(0x15, 0x8f),
			},
			.rip = 0x401007, .rflags = 0x246,
		},
	};

	open(4, 4);
	rig_set(&r, MSR_IA32_FIXED_CTR0 + 1, BITS(0, 47));
	rig_set(&r, MSR_IA32_FIXED_CTR_CTRL, 0x30);
	rig_program_pebs(&r, 0, LOADS, 0, 1);
	rig_start(&r, BIT(0) | BIT(33));
	rig_load(&r, ADDRESS);
	model_retire(&r.m, &i);
	CHECK_EQ(1, rig_records(&r));
	for (unsigned at = 0; at < sizeof(golden); at++)
		CHECK_EQ(golden[at], r.memory[0x1000 + at], "byte %#x", at);
	CHECK_EQ(RIG_BUFFER, r.dirty_lo);
	CHECK_EQ(RIG_BUFFER + 0xc0, r.dirty_hi, "nothing after the record");
	CHECK_EQ(BIT(33), rig_status(&r));
}

static void record_at_the_next_event(void)
{
	u64 next;

	open(4, 4);
	rig_program_pebs(&r, 0, LOADS, 0, 3);
	rig_start(&r, BIT(0));
	for (int i = 0; i < 3; i++)
		rig_load(&r, ADDRESS + 8 * (u64)i);
	CHECK_EQ(BIT(0), rig_status(&r));
	CHECK_EQ(0, rig_records(&r));
	rig_store(&r, ADDRESS);
	rig_nops(&r, 4);
	CHECK_EQ(0, rig_records(&r), "no load");
	next = r.ip;
	rig_load(&r, ADDRESS + 0x40);
	CHECK_EQ(1, rig_records(&r));
	CHECK_EQ(next, rig_record(&r, 0, 0xb0));
	CHECK_EQ(next + 4, rig_record(&r, 0, 0x08));
	CHECK_EQ(ADDRESS + 0x40, rig_record(&r, 0, 0x98));
	CHECK_EQ(-3ULL & BITS(0, 47), rig_get(&r, MSR_IA32_PMC0));
	CHECK_EQ(0, r.requests);
}

static void precise_distribution_records_the_instruction_itself(void)
{
	u64 third;

	open(4, 4);
	rig_program_pebs(&r, 1, EVENT_INST_RETIRED_PREC_DIST, 0, 3);
	rig_start(&r, BIT(1));
	rig_nops(&r, 2);
	third = r.ip;
	rig_nops(&r, 1);
	CHECK_EQ(1, rig_records(&r));
	CHECK_EQ(third, rig_record(&r, 0, 0xb0));
	CHECK_EQ(BIT(1), rig_record(&r, 0, 0x90));
	CHECK_EQ(0, rig_record(&r, 0, 0x98), "not an event with an address");
	rig_nops(&r, 3);
	CHECK_EQ(2, rig_records(&r), "a record every three");
}

static void an_event_that_is_not_precise_makes_no_record(void)
{
	open(4, 1);
	rig_program_pebs(&r, 0, EVENT_UNHALTED_CORE_CYCLES, IA32_PERFEVTSEL_INT, 3);
	rig_program_pebs(&r, 2, LOADS, 1ULL << IA32_PERFEVTSEL_CMASK_SHIFT, 1);
	rig_start(&r, BIT(0) | BIT(2));
	rig_nops(&r, 6);
	rig_load(&r, ADDRESS);
	rig_load(&r, ADDRESS);
	CHECK_STR("OVERFLOW0", rig_actions(&r));
	CHECK_EQ(0, rig_records(&r));
	CHECK_EQ(BIT(0) | BIT(2), rig_status(&r));
}

static void data_addresses(void)
{
	open(16, 16);
	rig_program_pebs(&r, 0, STORES, 0, 1);
	rig_start(&r, BIT(0));
	rig_store(&r, ADDRESS);
	rig_store(&r, ADDRESS + 0x100);		/* record 0: a new line */
	rig_store(&r, ADDRESS);
	rig_store(&r, ADDRESS + 0x108);		/* record 1: a line seen before */
	rig_store(&r, ADDRESS);
	rig_locked_add(&r, ADDRESS + 0x200);	/* record 2: its own load fetched the line */
	CHECK_EQ(3, rig_records(&r));
	CHECK_EQ(ADDRESS + 0x100, rig_record(&r, 0, 0x98));
	CHECK_EQ(0, rig_record(&r, 0, 0xa0));
	CHECK_EQ(ADDRESS + 0x108, rig_record(&r, 1, 0x98));
	CHECK_EQ(1, rig_record(&r, 1, 0xa0));
	CHECK_EQ(ADDRESS + 0x200, rig_record(&r, 2, 0x98));
	CHECK_EQ(1, rig_record(&r, 2, 0xa0));

	open(16, 16);
	rig_program_pebs(&r, 3, EVENT_MEM_UOPS_RETIRED_LOCK_LOADS, 0, 1);
	rig_start(&r, BIT(3));
	rig_locked_add(&r, ADDRESS);
	rig_load(&r, ADDRESS + 0x10);
	rig_locked_add(&r, ADDRESS + 0x20);
	CHECK_EQ(1, rig_records(&r));
	CHECK_EQ(ADDRESS + 0x20, rig_record(&r, 0, 0x98));
	CHECK_EQ(0, rig_record(&r, 0, 0xa0), "bit 0 is for stores");
	CHECK_EQ(0, rig_record(&r, 0, 0xa8));
}

/* Loads, one after another; each second one makes a record. */
static void make_records(unsigned n)
{
	rig_program_pebs(&r, 0, LOADS, 0, 1);
	rig_start(&r, BIT(0));
	for (unsigned i = 0; i < 2 * n; i++)
		rig_load(&r, ADDRESS);
	rig_stop(&r);
}

static void threshold(void)
{
	open(8, 3);
	r.unmasks = true;
	make_records(2);
	CHECK_EQ(0, r.requests);
	CHECK_EQ(0, rig_status(&r));
	make_records(1);
	CHECK_EQ(1, r.requests, "reached");
	CHECK_EQ(BIT(62), rig_status(&r));
	CHECK_EQ(RIG_BUFFER + 3 * RIG_RECORD, r.interrupt[0].index);
	make_records(1);
	CHECK_EQ(2, r.requests, "passed");
	rig_set(&r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, BIT(62));
	CHECK_EQ(0, rig_status(&r));
}

static void buffer_end(void)
{
	open(3, 8);
	make_records(5);
	CHECK_EQ(RIG_BUFFER + 3 * RIG_RECORD, rig_index(&r));
	CHECK_EQ(RIG_BUFFER + 3 * RIG_RECORD, r.dirty_hi);
	CHECK_EQ(0, r.requests, "a full buffer is silent");
	CHECK_EQ(BIT(0), rig_status(&r));
	rig_ds(&r, 3, 8);
	make_records(1);
	CHECK_EQ(1, rig_records(&r), "goes on at the base");
}

/* No record where the bounds check fails, and none at the very last byte too few. */
static void bounds(void)
{
	static const struct { u64 base, index, maximum; bool fits; } rows[] = {
		{ RIG_BUFFER, RIG_BUFFER, RIG_BUFFER + 0xc0, true },
		{ RIG_BUFFER, RIG_BUFFER, RIG_BUFFER + 0xbf, false },
		{ RIG_BUFFER, RIG_BUFFER + 0xc0, RIG_BUFFER + 0xc0, false },
		{ RIG_BUFFER, RIG_BUFFER + 0x180, RIG_BUFFER + 0xc0, false },
		{ RIG_BUFFER + 8, RIG_BUFFER, RIG_BUFFER + 0x180, false },
		{ RIG_BUFFER, RIG_BUFFER + 0x108, RIG_BUFFER + 0x1c8, true },
		{ 0, 0xffffffffffffff80, 0xffffffffffffffff, false },
		{ 0, 0xffffffffffffff80, 0x40, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		open(4, 40);
		rig_poke(&r, RIG_DS + 0x20, rows[i].base);
		rig_poke(&r, RIG_DS + 0x28, rows[i].index);
		rig_poke(&r, RIG_DS + 0x30, rows[i].maximum);
		rig_poke(&r, RIG_DS + 0x38, ~0ULL);
		make_records(1);
		CHECK_EQ(rows[i].fits, r.dirty_hi != 0, "row %zu", i);
		CHECK_EQ(rows[i].index + (rows[i].fits ? 0xc0 : 0), rig_index(&r), "row %zu", i);
		CHECK_EQ(0, r.stray, "row %zu", i);
		if (rows[i].fits) {
			CHECK_EQ(rows[i].index, r.dirty_lo);
			CHECK_EQ(rows[i].index + 0xc0, r.dirty_hi);
		}
	}
}

static void the_area_at_the_time_of_the_assist(void)
{
	open(8, 8);
	rig_program_pebs(&r, 0, LOADS, 0, 1);
	rig_start(&r, BIT(0));
	rig_load(&r, ADDRESS);
	for (u64 at = 0; at < 0x60; at += 8)
		rig_poke(&r, RIG_DS + 0x800 + at, rig_peek(&r, RIG_DS + at));
	rig_poke(&r, RIG_DS + 0x828, RIG_BUFFER + 0x300);
	rig_set(&r, MSR_IA32_DS_AREA, RIG_DS + 0x800);
	rig_load(&r, ADDRESS);
	CHECK_EQ(RIG_BUFFER, rig_index(&r));
	CHECK_EQ(RIG_BUFFER + 0x3c0, rig_peek(&r, RIG_DS + 0x828));
	CHECK_EQ(BIT(0), rig_record(&r, 4, 0x90));
}

static void unmapped_memory(void)
{
	open(8, 1);
	rig_program_pebs(&r, 0, LOADS, 0, 1);
	rig_start(&r, BIT(0));
	r.unmapped = true;
	rig_load(&r, ADDRESS);
	rig_load(&r, ADDRESS);
	CHECK_STR("ARM0", rig_actions(&r));
	r.unmapped = false;
	CHECK_EQ(0, rig_records(&r));
	/* The area is there and the buffer isn't. */
	open(8, 1);
	rig_poke(&r, RIG_DS + 0x28, RIG_BUFFER + 0x100000);
	rig_poke(&r, RIG_DS + 0x30, RIG_BUFFER + 0x200000);
	rig_program_pebs(&r, 0, LOADS, 0, 1);
	rig_start(&r, BIT(0));
	rig_load(&r, ADDRESS);
	rig_load(&r, ADDRESS);
	CHECK_STR("ARM0", rig_actions(&r));
	CHECK_EQ(RIG_BUFFER + 0x100000, rig_index(&r));
	CHECK_EQ(0, r.requests);
}

static void disarming(void)
{
	open(8, 8);
	rig_program_pebs(&r, 0, LOADS, IA32_PERFEVTSEL_INT, 1);
	rig_start(&r, BIT(0));
	rig_load(&r, ADDRESS);
	rig_set(&r, MSR_IA32_PEBS_ENABLE, 0);
	rig_set(&r, MSR_IA32_PEBS_ENABLE, 1);
	rig_load(&r, ADDRESS);
	CHECK_EQ(0, rig_records(&r));
	CHECK_STR("ARM0", rig_actions(&r));

	open(8, 8);
	rig_program_pebs(&r, 0, LOADS, IA32_PERFEVTSEL_INT, 1);
	rig_start(&r, BIT(0));
	rig_load(&r, ADDRESS);
	rig_program(&r, 0, LOADS, IA32_PERFEVTSEL_INT, 100);
	rig_load(&r, ADDRESS);
	CHECK_EQ(0, rig_records(&r));

	/* A pause isn't one. */
	open(8, 8);
	rig_program_pebs(&r, 0, LOADS, 0, 1);
	rig_start(&r, BIT(0));
	rig_load(&r, ADDRESS);
	rig_stop(&r);
	rig_load(&r, ADDRESS);
	CHECK_EQ(0, rig_records(&r));
	rig_set(&r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, BIT(0));
	rig_start(&r, BIT(0));
	rig_load(&r, ADDRESS);
	CHECK_EQ(1, rig_records(&r));
	CHECK_EQ(0, rig_record(&r, 0, 0x90), "software has cleared the bit");
	CHECK_EQ(-1ULL & BITS(0, 47), rig_get(&r, MSR_IA32_PMC0), "reloaded all the same");
}

static void no_record_by_a_write_alone(void)
{
	open(8, 8);
	rig_program(&r, 0, LOADS, 0, 1);
	rig_start(&r, BIT(0));
	rig_load(&r, ADDRESS);
	rig_set(&r, MSR_IA32_PEBS_ENABLE, 1);
	rig_load(&r, ADDRESS);
	CHECK_EQ(0, rig_records(&r), "it wrapped before PEBS was enabled");
	/* The write that enables PEBS is itself the instruction on which the counter wraps. */
	rig_start(&r, BIT(1));
	rig_program_pebs(&r, 1, EVENT_INST_RETIRED_PREC_DIST, 0, 1);
	CHECK_EQ(0, rig_get(&r, MSR_IA32_PMC0 + 1));
	rig_nops(&r, 3);
	CHECK_EQ(0, rig_records(&r));
}

int main(void)
{
	RUN(golden_record);
	RUN(record_at_the_next_event);
	RUN(precise_distribution_records_the_instruction_itself);
	RUN(an_event_that_is_not_precise_makes_no_record);
	RUN(data_addresses);
	RUN(threshold);
	RUN(buffer_end);
	RUN(bounds);
	RUN(the_area_at_the_time_of_the_assist);
	RUN(unmapped_memory);
	RUN(disarming);
	RUN(no_record_by_a_write_alone);
	return check_end();
}
