/* SPDX-License-Identifier: MIT */
/*
 * The record and the DS area. The bytes of the golden record are typed by hand from Table 18-44
 * "PEBS Record Format for 4th Generation Intel Core Processor Family".
 */
#include "host/check.h"
#include "host/model/fixture.h"

#define LOADS	EVENT_MEM_UOPS_RETIRED_ALL_LOADS
#define STORES	EVENT_MEM_UOPS_RETIRED_ALL_STORES
#define ADDRESS	(FIXTURE_MEMORY_BASE + 0x3000)

static struct fixture r;

static void open(unsigned records, unsigned threshold)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_ds(&r, records, threshold);
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
	fixture_set(&r, MSR_IA32_FIXED_CTR0 + 1, BITS(0, 47));
	fixture_set(&r, MSR_IA32_FIXED_CTR_CTRL, 0x30);
	fixture_program_pebs(&r, 0, LOADS, 0, 1);
	fixture_start(&r, BIT(0) | BIT(33));
	fixture_load(&r, ADDRESS);
	model_retire(&r.m, &i);
	CHECK_EQ(1, fixture_records(&r));
	for (unsigned at = 0; at < sizeof(golden); at++)
		CHECK_EQ(golden[at], r.memory[0x1000 + at], "byte %#x", at);
	CHECK_EQ(FIXTURE_BUFFER, r.dirty_lo);
	CHECK_EQ(FIXTURE_BUFFER + 0xc0, r.dirty_hi, "nothing after the record");
	CHECK_EQ(BIT(33), fixture_status(&r));
}

static void record_at_the_next_event(void)
{
	u64 next;

	open(4, 4);
	fixture_program_pebs(&r, 0, LOADS, 0, 3);
	fixture_start(&r, BIT(0));
	for (int i = 0; i < 3; i++)
		fixture_load(&r, ADDRESS + 8 * (u64)i);
	CHECK_EQ(BIT(0), fixture_status(&r));
	CHECK_EQ(0, fixture_records(&r));
	fixture_store(&r, ADDRESS);
	fixture_nops(&r, 4);
	CHECK_EQ(0, fixture_records(&r), "no load");
	next = r.ip;
	fixture_load(&r, ADDRESS + 0x40);
	CHECK_EQ(1, fixture_records(&r));
	CHECK_EQ(next, fixture_record(&r, 0, 0xb0));
	CHECK_EQ(next + 4, fixture_record(&r, 0, 0x08));
	CHECK_EQ(ADDRESS + 0x40, fixture_record(&r, 0, 0x98));
	CHECK_EQ(-3ULL & BITS(0, 47), fixture_get(&r, MSR_IA32_PMC0));
	CHECK_EQ(0, r.requests);
}

static void precise_distribution_records_the_instruction_itself(void)
{
	u64 third;

	open(4, 4);
	fixture_program_pebs(&r, 1, EVENT_INST_RETIRED_PREC_DIST, 0, 3);
	fixture_start(&r, BIT(1));
	fixture_nops(&r, 2);
	third = r.ip;
	fixture_nops(&r, 1);
	CHECK_EQ(1, fixture_records(&r));
	CHECK_EQ(third, fixture_record(&r, 0, 0xb0));
	CHECK_EQ(BIT(1), fixture_record(&r, 0, 0x90));
	CHECK_EQ(0, fixture_record(&r, 0, 0x98), "not an event with an address");
	fixture_nops(&r, 3);
	CHECK_EQ(2, fixture_records(&r), "a record every three");
}

static void an_event_that_is_not_precise_makes_no_record(void)
{
	open(4, 1);
	fixture_program_pebs(&r, 0, EVENT_UNHALTED_CORE_CYCLES, IA32_PERFEVTSEL_INT, 3);
	fixture_program_pebs(&r, 2, LOADS, 1ULL << IA32_PERFEVTSEL_CMASK_SHIFT, 1);
	fixture_start(&r, BIT(0) | BIT(2));
	fixture_nops(&r, 6);
	fixture_load(&r, ADDRESS);
	fixture_load(&r, ADDRESS);
	CHECK_STR("OVERFLOW0", fixture_actions(&r));
	CHECK_EQ(0, fixture_records(&r));
	CHECK_EQ(BIT(0) | BIT(2), fixture_status(&r));
}

/* The number of records of eight instructions, by a counter that overflows at every third of their
 * cycles. */
static unsigned records_of_cycles(enum generation_id generation, u16 code, unsigned counter,
				  u8 cmask)
{
	const struct model_config config = { .generation = generation, .hyper_threading = true };

	fixture_open_config(&r, &config);
	fixture_ds(&r, 4, 4);
	fixture_program_pebs(&r, counter, code,
			     IA32_PERFEVTSEL_INV | (u64)cmask << IA32_PERFEVTSEL_CMASK_SHIFT, 3);
	fixture_start(&r, BIT(counter));
	fixture_nops(&r, 8);
	return fixture_records(&r);
}

/* By the event files of NehalemEP and Skylake, and by Linux's events for cycles:pp and :ppp. Bit n:
 * on IA32_PMCn. */
static void all_cycles_are_precise(void)
{
	static const struct {
		enum generation_id generation;
		u16 code;
		u8 counters;
	} want[] = {
		{ GEN_NEHALEM, 0x00c0, 0xf },	  { GEN_NEHALEM, 0x01c0, 0xf },
		{ GEN_NEHALEM, 0x01c2, 0xf },	  { GEN_WESTMERE, 0x00c0, 0xf },
		{ GEN_WESTMERE, 0x01c0, 0xf },	  { GEN_WESTMERE, 0x01c2, 0xf },
		{ GEN_SANDYBRIDGE, 0x00c0, 0 },	  { GEN_SANDYBRIDGE, 0x01c0, 0 },
		{ GEN_SANDYBRIDGE, 0x01c2, 0xf }, { GEN_IVYBRIDGE, 0x01c0, 2 },
		{ GEN_IVYBRIDGE, 0x01c2, 0xf },	  { GEN_HASWELL, 0x00c0, 0 },
		{ GEN_HASWELL, 0x01c0, 2 },	  { GEN_HASWELL, 0x01c2, 0xf },
		{ GEN_BROADWELL, 0x01c0, 2 },	  { GEN_BROADWELL, 0x01c2, 0xf },
		{ GEN_SKYLAKE, 0x00c0, 0xf },	  { GEN_SKYLAKE, 0x01c0, 0xf },
		{ GEN_SKYLAKE, 0x01c2, 0 },	  { GEN_HASWELL, 0x04c4, 0 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		for (unsigned c = 0; c < 4; c++) {
			CHECK_EQ(want[i].counters >> c & 1 ? 2 : 0,
				 records_of_cycles(want[i].generation, want[i].code, c, 16),
				 "generation %u, event %#x, IA32_PMC%u", want[i].generation,
				 want[i].code, c);
			CHECK_EQ(0, records_of_cycles(want[i].generation, want[i].code, c, 15));
		}
}

static void data_addresses(void)
{
	open(16, 16);
	fixture_program_pebs(&r, 0, STORES, 0, 1);
	fixture_start(&r, BIT(0));
	fixture_store(&r, ADDRESS);
	fixture_store(&r, ADDRESS + 0x100);	/* record 0: a new line */
	fixture_store(&r, ADDRESS);
	fixture_store(&r, ADDRESS + 0x108);	/* record 1: a line seen before */
	fixture_store(&r, ADDRESS);
	fixture_locked_add(&r, ADDRESS + 0x200); /* record 2: its own load fetched the line */
	CHECK_EQ(3, fixture_records(&r));
	CHECK_EQ(ADDRESS + 0x100, fixture_record(&r, 0, 0x98));
	CHECK_EQ(0, fixture_record(&r, 0, 0xa0));
	CHECK_EQ(ADDRESS + 0x108, fixture_record(&r, 1, 0x98));
	CHECK_EQ(1, fixture_record(&r, 1, 0xa0));
	CHECK_EQ(ADDRESS + 0x200, fixture_record(&r, 2, 0x98));
	CHECK_EQ(1, fixture_record(&r, 2, 0xa0));

	open(16, 16);
	fixture_program_pebs(&r, 3, EVENT_MEM_UOPS_RETIRED_LOCK_LOADS, 0, 1);
	fixture_start(&r, BIT(3));
	fixture_locked_add(&r, ADDRESS);
	fixture_load(&r, ADDRESS + 0x10);
	fixture_locked_add(&r, ADDRESS + 0x20);
	CHECK_EQ(1, fixture_records(&r));
	CHECK_EQ(ADDRESS + 0x20, fixture_record(&r, 0, 0x98));
	CHECK_EQ(0, fixture_record(&r, 0, 0xa0), "bit 0 is for stores");
	CHECK_EQ(0, fixture_record(&r, 0, 0xa8));
}

/* Loads, one after the other; every second one makes a record. */
static void make_records(unsigned n)
{
	fixture_program_pebs(&r, 0, LOADS, 0, 1);
	fixture_start(&r, BIT(0));
	for (unsigned i = 0; i < 2 * n; i++)
		fixture_load(&r, ADDRESS);
	fixture_stop(&r);
}

static void threshold(void)
{
	open(8, 3);
	r.unmasks = true;
	make_records(2);
	CHECK_EQ(0, r.requests);
	CHECK_EQ(0, fixture_status(&r));
	make_records(1);
	CHECK_EQ(1, r.requests, "reached");
	CHECK_EQ(BIT(62), fixture_status(&r));
	CHECK_EQ(FIXTURE_BUFFER + 3 * FIXTURE_RECORD, r.interrupt[0].index);
	make_records(1);
	CHECK_EQ(2, r.requests, "passed");
	fixture_set(&r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, BIT(62));
	CHECK_EQ(0, fixture_status(&r));
}

static void buffer_end(void)
{
	open(3, 8);
	make_records(5);
	CHECK_EQ(FIXTURE_BUFFER + 3 * FIXTURE_RECORD, fixture_index(&r));
	CHECK_EQ(FIXTURE_BUFFER + 3 * FIXTURE_RECORD, r.dirty_hi);
	CHECK_EQ(0, r.requests, "a full buffer is silent");
	CHECK_EQ(BIT(0), fixture_status(&r));
	fixture_ds(&r, 3, 8);
	make_records(1);
	CHECK_EQ(1, fixture_records(&r), "goes on at the base");
}

/* There is no record if the bounds check fails, even if only one byte is missing. */
static void bounds(void)
{
	static const struct {
		u64 base, index, maximum;
		bool fits;
	} rows[] = {
		{ FIXTURE_BUFFER, FIXTURE_BUFFER, FIXTURE_BUFFER + 0xc0, true },
		{ FIXTURE_BUFFER, FIXTURE_BUFFER, FIXTURE_BUFFER + 0xbf, false },
		{ FIXTURE_BUFFER, FIXTURE_BUFFER + 0xc0, FIXTURE_BUFFER + 0xc0, false },
		{ FIXTURE_BUFFER, FIXTURE_BUFFER + 0x180, FIXTURE_BUFFER + 0xc0, false },
		{ FIXTURE_BUFFER + 8, FIXTURE_BUFFER, FIXTURE_BUFFER + 0x180, false },
		{ FIXTURE_BUFFER, FIXTURE_BUFFER + 0x108, FIXTURE_BUFFER + 0x1c8, true },
		{ 0, 0xffffffffffffff80, 0xffffffffffffffff, false },
		{ 0, 0xffffffffffffff80, 0x40, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		open(4, 40);
		fixture_poke(&r, FIXTURE_DS + 0x20, rows[i].base);
		fixture_poke(&r, FIXTURE_DS + 0x28, rows[i].index);
		fixture_poke(&r, FIXTURE_DS + 0x30, rows[i].maximum);
		fixture_poke(&r, FIXTURE_DS + 0x38, ~0ULL);
		make_records(1);
		CHECK_EQ(rows[i].fits, r.dirty_hi != 0, "row %zu", i);
		CHECK_EQ(rows[i].index + (rows[i].fits ? 0xc0 : 0), fixture_index(&r), "row %zu",
			 i);
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
	fixture_program_pebs(&r, 0, LOADS, 0, 1);
	fixture_start(&r, BIT(0));
	fixture_load(&r, ADDRESS);
	for (u64 at = 0; at < 0x60; at += 8)
		fixture_poke(&r, FIXTURE_DS + 0x800 + at, fixture_peek(&r, FIXTURE_DS + at));
	fixture_poke(&r, FIXTURE_DS + 0x828, FIXTURE_BUFFER + 0x300);
	fixture_set(&r, MSR_IA32_DS_AREA, FIXTURE_DS + 0x800);
	fixture_load(&r, ADDRESS);
	CHECK_EQ(FIXTURE_BUFFER, fixture_index(&r));
	CHECK_EQ(FIXTURE_BUFFER + 0x3c0, fixture_peek(&r, FIXTURE_DS + 0x828));
	CHECK_EQ(BIT(0), fixture_record(&r, 4, 0x90));
}

static void unmapped_memory(void)
{
	open(8, 1);
	fixture_program_pebs(&r, 0, LOADS, 0, 1);
	fixture_start(&r, BIT(0));
	r.unmapped = true;
	fixture_load(&r, ADDRESS);
	fixture_load(&r, ADDRESS);
	CHECK_STR("ARM0", fixture_actions(&r));
	r.unmapped = false;
	CHECK_EQ(0, fixture_records(&r));
	/* The area is mapped and the buffer isn't. */
	open(8, 1);
	fixture_poke(&r, FIXTURE_DS + 0x28, FIXTURE_BUFFER + 0x100000);
	fixture_poke(&r, FIXTURE_DS + 0x30, FIXTURE_BUFFER + 0x200000);
	fixture_program_pebs(&r, 0, LOADS, 0, 1);
	fixture_start(&r, BIT(0));
	fixture_load(&r, ADDRESS);
	fixture_load(&r, ADDRESS);
	CHECK_STR("ARM0", fixture_actions(&r));
	CHECK_EQ(FIXTURE_BUFFER + 0x100000, fixture_index(&r));
	CHECK_EQ(0, r.requests);
}

static void disarming(void)
{
	open(8, 8);
	fixture_program_pebs(&r, 0, LOADS, IA32_PERFEVTSEL_INT, 1);
	fixture_start(&r, BIT(0));
	fixture_load(&r, ADDRESS);
	fixture_set(&r, MSR_IA32_PEBS_ENABLE, 0);
	fixture_set(&r, MSR_IA32_PEBS_ENABLE, 1);
	fixture_load(&r, ADDRESS);
	CHECK_EQ(0, fixture_records(&r));
	CHECK_STR("ARM0", fixture_actions(&r));

	open(8, 8);
	fixture_program_pebs(&r, 0, LOADS, IA32_PERFEVTSEL_INT, 1);
	fixture_start(&r, BIT(0));
	fixture_load(&r, ADDRESS);
	fixture_program(&r, 0, LOADS, IA32_PERFEVTSEL_INT, 100);
	fixture_load(&r, ADDRESS);
	CHECK_EQ(0, fixture_records(&r));

	/* A pause isn't an event. */
	open(8, 8);
	fixture_program_pebs(&r, 0, LOADS, 0, 1);
	fixture_start(&r, BIT(0));
	fixture_load(&r, ADDRESS);
	fixture_stop(&r);
	fixture_load(&r, ADDRESS);
	CHECK_EQ(0, fixture_records(&r));
	fixture_set(&r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, BIT(0));
	fixture_start(&r, BIT(0));
	fixture_load(&r, ADDRESS);
	CHECK_EQ(1, fixture_records(&r));
	CHECK_EQ(0, fixture_record(&r, 0, 0x90), "software has cleared the bit");
	CHECK_EQ(-1ULL & BITS(0, 47), fixture_get(&r, MSR_IA32_PMC0), "reloaded all the same");
}

static void no_record_by_a_write_alone(void)
{
	open(8, 8);
	fixture_program(&r, 0, LOADS, 0, 1);
	fixture_start(&r, BIT(0));
	fixture_load(&r, ADDRESS);
	fixture_set(&r, MSR_IA32_PEBS_ENABLE, 1);
	fixture_load(&r, ADDRESS);
	CHECK_EQ(0, fixture_records(&r), "it wrapped before PEBS was enabled");
	/* The counter wraps on the very write that enables PEBS. */
	fixture_start(&r, BIT(1));
	fixture_program_pebs(&r, 1, EVENT_INST_RETIRED_PREC_DIST, 0, 1);
	CHECK_EQ(0, fixture_get(&r, MSR_IA32_PMC0 + 1));
	fixture_nops(&r, 3);
	CHECK_EQ(0, fixture_records(&r));
}

int main(void)
{
	RUN(golden_record);
	RUN(record_at_the_next_event);
	RUN(precise_distribution_records_the_instruction_itself);
	RUN(an_event_that_is_not_precise_makes_no_record);
	RUN(all_cycles_are_precise);
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
