/* SPDX-License-Identifier: MIT */
/*
 * The rules that faults break which act only in some records: those of one privilege level, of the
 * upper half, of high counters, beside another group, or of instructions that write the base
 * register of their own access.
 */
#include "host/model/rules/internal.h"

#define ADAPTIVE	BIT(34)
#define UPPER_HALF	(FIXTURE_MEMORY_BASE + 0x3800)	/* an address of code there */
#define CODE_AT		0x3800				/* the same in the fixture's memory */

enum {
	MEM = 1, GPR = 2, LBR = 8,			/* MSR_PEBS_DATA_CFG */
	FIRST_GROUP = 0x20,				/* after the basic group */
	GPR_RIP = FIRST_GROUP + 8, GPR_RAX = FIRST_GROUP + 0x10,
	GPR_GROUP = 0x90,
};

/* The third of three loads makes a record, on IA32_PMC2. */
static void record_load(struct fixture *r, u64 config, u8 cpl)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, config);
	fixture_program_pebs(r, 2, LOADS, ADAPTIVE, 2);
	fixture_start(r, BIT(2));
	r->cpl = cpl;
	loads(r, 3);
	r->cpl = 0;
}

static bool record_of_cpl_3_is_whole(struct fixture *r)
{
	record_load(r, GPR, 3);
	return at(r, 0) == (GPR | (u64)(FIRST_GROUP + GPR_GROUP) << 48) && at(r, 0x10) == BIT(2) &&
	       at(r, 8) == r->regs.rip - 4;
}

static bool eventing_ip_is_whole(struct fixture *r)
{
	r->ip = UPPER_HALF;
	record_load(r, 0, 0);
	return at(r, 8) == r->regs.rip - 4;
}

static bool high_counter_has_the_registers(struct fixture *r)
{
	r->regs.rflags |= BIT(7);
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, GPR);
	fixture_program_pebs(r, 5, INST, ADAPTIVE, 2);
	fixture_start(r, BIT(5));
	fixture_nops(r, 3);
	return at(r, FIRST_GROUP) == r->regs.rflags && at(r, GPR_RAX) == r->regs.gpr[REG_RAX];
}

static bool rip_of_a_fixed_counter_is_the_next_one(struct fixture *r)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, GPR);
	fixture_wrmsr(r, 0x3f1, BIT(32));
	fixture_wrmsr(r, 0x38d, 3 | BIT(32));
	fixture_poke(r, FIXTURE_DS + 0x80, MINUS(1000));
	fixture_wrmsr(r, 0x309, MINUS(2));
	fixture_start(r, BIT(32));
	fixture_nops(r, 3);
	return at(r, GPR_RIP) == at(r, 8) + 4;
}

static bool memory_is_beside_branches(struct fixture *r)
{
	record_load(r, MEM | LBR, 0);
	return at(r, FIRST_GROUP) == ADDRESS;
}

static bool registers_are_beside_branches(struct fixture *r)
{
	record_load(r, GPR | LBR, 0);
	return at(r, GPR_RIP) == r->regs.rip;
}

/* A branch of the upper half is the newest entry. */
static bool entry_is_whole(struct fixture *r)
{
	r->ip = UPPER_HALF;
	fixture_retire(r, &(struct model_retired){ .branch = BRANCH_JUMP });
	record_load(r, LBR, 0);
	return at(r, FIRST_GROUP) == UPPER_HALF && at(r, FIRST_GROUP + 8) == UPPER_HALF + 4;
}

static bool legacy_entry_is_whole(struct fixture *r)
{
	fixture_wrmsr(r, 0x1d9, 1);
	return entry_is_whole(r);
}

static bool arch_entry_is_whole(struct fixture *r)
{
	fixture_wrmsr(r, 0x14cf, 8);
	fixture_wrmsr(r, 0x14ce, 0x7f0007);
	return entry_is_whole(r);
}

static bool store_of_cpl_3_has_its_address(struct fixture *r)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, MEM);
	fixture_program_pebs(r, 0, 0x02cd, ADAPTIVE, 2);
	fixture_start(r, BIT(0));
	r->cpl = 3;
	for (unsigned i = 0; i < 200 && fixture_index(r) == FIXTURE_BUFFER; i++)
		fixture_store(r, ADDRESS);
	r->cpl = 0;
	return at(r, FIRST_GROUP) == ADDRESS;
}

static bool high_counter_has_the_retire_latency(struct fixture *r)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f6, 3);
	fixture_program_pebs(r, 5, 0x01cd, ADAPTIVE, 2);
	fixture_start(r, BIT(5));
	for (u64 i = 0; i < 100 && fixture_index(r) == FIXTURE_BUFFER; i++)
		fixture_load(r, ADDRESS + i * 0x1000 % 0x10000);
	return at(r, 0) >> 32 & 0xffff;
}

/* ---- addresses of Haswell and Sandy Bridge ---- */

/* Accesses relative to RBX, which each of them changes, until one is recorded. Its address must be
 * that of the last one. */
static bool address_has_the_old_base(struct fixture *r, bool store)
{
	u64 address = 0;

	for (unsigned i = 0; i < 200 && fixture_index(r) == FIXTURE_BUFFER; i++) {
		address = r->regs.gpr[REG_RBX] + 8;
		if (store)
			fixture_store(r, address);
		else
			fixture_load(r, address);
	}
	return fixture_index(r) != FIXTURE_BUFFER && at(r, RECORD_DLA) == address;
}

static void sample_loads(struct fixture *r)
{
	empty_buffer(r);
	fixture_program_pebs(r, 3, LOADS, 0, 2);
	fixture_start(r, BIT(3));
}

static void sample_latency(struct fixture *r)
{
	empty_buffer(r);
	fixture_set(r, MSR_PEBS_LD_LAT_THRESHOLD, 3);
	fixture_program_pebs(r, 3, EVENT_MEM_TRANS_RETIRED_LOAD_LATENCY, 0, 2);
	fixture_wrmsr(r, MSR_IA32_PEBS_ENABLE, BIT(3) | BIT(35));
	fixture_start(r, BIT(3));
}

static bool load_has_the_old_base(struct fixture *r)
{
	sample_loads(r);
	return address_has_the_old_base(r, false);
}

static bool latency_has_the_old_base(struct fixture *r)
{
	sample_latency(r);
	return address_has_the_old_base(r, false);
}

static bool precise_store_has_the_old_base(struct fixture *r)
{
	struct model_config config = r->m.config;

	config.generation = GEN_SANDYBRIDGE;
	fixture_open_config(r, &config);
	empty_buffer(r);
	fixture_program_pebs(r, 3, EVENT_MEM_TRANS_RETIRED_PRECISE_STORE, 0, 2);
	fixture_wrmsr(r, MSR_IA32_PEBS_ENABLE, BIT(3) | BIT(63));
	fixture_start(r, BIT(3));
	return address_has_the_old_base(r, true);
}

/* All code has the prefix of 32-bit addresses. */
static bool recorded_address_has_32_bits(struct fixture *r)
{
	enum { LOW = 0x3008, CODE_BYTES = 0x800 };

	memset(r->memory + CODE_AT, 0x67, CODE_BYTES);
	r->ip = UPPER_HALF;
	for (unsigned i = 0; i < 200 && fixture_index(r) == FIXTURE_BUFFER; i++)
		fixture_load(r, LOW);
	return fixture_index(r) != FIXTURE_BUFFER && at(r, RECORD_DLA) == LOW;
}

static bool load_has_32_bits(struct fixture *r)
{
	sample_loads(r);
	return recorded_address_has_32_bits(r);
}

static bool latency_has_32_bits(struct fixture *r)
{
	sample_latency(r);
	return recorded_address_has_32_bits(r);
}

rule *const each_icelake_rules[FAULT_COUNT] = {
	[FAULT_FORMAT_USER_EMPTY] = record_of_cpl_3_is_whole,
	[FAULT_APPLICABLE_USER_EMPTY] = record_of_cpl_3_is_whole,
	[FAULT_EVENTING_IP_USER] = record_of_cpl_3_is_whole,
	[FAULT_EVENTING_IP_48] = eventing_ip_is_whole,
	[FAULT_GROUP_REGISTERS_STALE_UPPER] = high_counter_has_the_registers,
	[FAULT_GROUP_FLAGS_FIRST_FOUR] = high_counter_has_the_registers,
	[FAULT_GROUP_RIP_OF_FIXED] = rip_of_a_fixed_counter_is_the_next_one,
	[FAULT_GROUP_MEMORY_NOT_WITH_LBR] = memory_is_beside_branches,
	[FAULT_GROUP_GPR_NOT_WITH_LBR] = registers_are_beside_branches,
	[FAULT_GROUP_LBR_48] = legacy_entry_is_whole,
};

rule *const each_goldencove_rules[FAULT_COUNT] = {
	[FAULT_GROUP_LBR_DEPTH] = arch_entry_is_whole,
	[FAULT_STORE_SAMPLE_USER_EMPTY] = store_of_cpl_3_has_its_address,
};

rule *const each_timed_rules[FAULT_COUNT] = {
	[FAULT_RETIRE_LATENCY_FIRST_FOUR] = high_counter_has_the_retire_latency,
};

rule *const each_haswell_rules[FAULT_COUNT] = {
	[FAULT_DLA_NEW_BASE] = load_has_the_old_base,
	[FAULT_DLA_UNWRAPPED] = load_has_32_bits,
	[FAULT_LL_NEW_BASE] = latency_has_the_old_base,
	[FAULT_LL_UNWRAPPED] = latency_has_32_bits,
	[FAULT_PS_NEW_BASE] = precise_store_has_the_old_base,
};
