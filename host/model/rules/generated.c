/* SPDX-License-Identifier: MIT */
/* The rules that generated faults break: a record is right in every byte, a register is one. */
#include <string.h>

#include "host/model/rules/internal.h"

#define EMPTY	0x5eULL		/* what is in the buffer before */

/* A record of the third store: all of Table 18-44, and what follows it. */
static bool whole_record(struct fixture *r)
{
	const u64 *gpr = r->regs.gpr;
	u64 stored;

	memset(r->memory + 0x1000, (int)EMPTY, 0x1000);
	fixture_program_pebs(r, 0, EVENT_MEM_UOPS_RETIRED_ALL_STORES, 0, 2);
	fixture_start(r, BIT(0));
	for (int i = 0; i < 3; i++)
		fixture_store(r, ADDRESS);
	const u64 wanted[25] = {
		r->regs.rflags, r->ip, gpr[REG_RAX], gpr[REG_RBX], gpr[REG_RCX], gpr[REG_RDX],
		gpr[REG_RSI], gpr[REG_RDI], gpr[REG_RBP], gpr[REG_RSP], gpr[REG_R8], gpr[REG_R9],
		gpr[REG_R10], gpr[REG_R11], gpr[REG_R12], gpr[REG_R13], gpr[REG_R14],
		gpr[REG_R15], BIT(0), ADDRESS, 1, 0, r->ip - 4, 0, 0x0101010101010101 * EMPTY,
	};
	for (unsigned i = 0; i < 25; i++) {
		stored = fixture_record(r, 0, 8 * i);
		if (stored != wanted[i])
			return false;
	}
	return true;
}

static const struct { enum fault_id fault; u32 msr; } shared_rules[] = {
#define FAULT_MSR_SHARED(token, msr, name, requirements, title) \
	{ FAULT_##token##_SHARED, MSR_##msr },
#include "refpmu/faults/fault_shared.def"
};

enum access_kind { WRITE, READ, RESERVED, REFUSED };

static const struct msr_rule {
	enum fault_id fault;
	u32 msr;
	enum access_kind kind;
} msr_rules[] = {
#define FAULT_MSR_WRITE(token, msr, members, name, requirements, title, ...) \
	{ FAULT_##token##_WRITE_DROPPED, MSR_##msr, WRITE },
#define FAULT_MSR_READ(token, msr, members, name, requirements, title, ...) \
	{ FAULT_##token##_READS_ZERO, MSR_##msr, READ },
#define FAULT_MSR_RESERVED(token, msr, members, name, requirements, title, ...) \
	{ FAULT_##token##_RESERVED_ACCEPTED, MSR_##msr, RESERVED },
#define FAULT_MSR_REFUSED(token, msr, name, requirements, title) \
	{ FAULT_##token##_REFUSED_TAKEN, MSR_##msr, REFUSED },
#include "refpmu/faults/fault_msr.def"
};

/* A value that may be written and isn't the one after RESET; 0: the register is read-only. */
static const struct { u32 msr; u64 legal, reserved; } values[] = {
	{ MSR_IA32_PMC0, 0x1234, 0 },
	{ MSR_IA32_A_PMC0, 0x123456789abc, BIT(60) },
	{ MSR_IA32_PERFEVTSEL0, 0x4100c0, BIT(40) },
	{ MSR_IA32_FIXED_CTR0, 0x123456789abc, BIT(48) },
	{ MSR_IA32_FIXED_CTR_CTRL, 0x333, BIT(12) },
	{ MSR_IA32_PERF_GLOBAL_CTRL, 0x700000001, BIT(35) },
	{ MSR_IA32_PEBS_ENABLE, 0x100000001, BIT(63) },
	{ MSR_PEBS_LD_LAT_THRESHOLD, 0x40, BIT(16) },
	{ MSR_IA32_DS_AREA, FIXTURE_DS + 0x100, BIT(63) },
	{ MSR_IA32_DEBUGCTL, 0x1801, BIT(16) },
	{ MSR_OFFCORE_RSP_0, 0x10001, BIT(38) },
	{ MSR_OFFCORE_RSP_1, 0x10001, BIT(38) },
	{ MSR_IA32_PERF_GLOBAL_OVF_CTRL, BIT(0), BIT(35) },
	{ MSR_IA32_PERF_CAPABILITIES, 0, BIT(0) },
	{ MSR_UNCORE_PERF_GLOBAL_CTRL, BIT(63) | BIT(51) | BIT(32) | 0xff, BIT(33) },
	{ MSR_UNCORE_FIXED_CTR0, 0x123456789abc, BIT(48) },
	{ MSR_UNCORE_PMC0, 0x123456789abc, BIT(48) },
	{ MSR_UNCORE_PERFEVTSEL0, 0x1540108, BIT(16) },
};

static bool clears_status(struct fixture *r)
{
	fixture_program(r, 0, EVENT_INST_RETIRED_ANY_P, 0, 1);
	fixture_start(r, BIT(0));
	fixture_nops(r, 1);
	fixture_stop(r);
	fixture_set(r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, BIT(0));
	return fixture_status(r) == 0;
}

static bool shows_status(struct fixture *r)
{
	fixture_program(r, 0, EVENT_INST_RETIRED_ANY_P, 0, 1);
	fixture_start(r, BIT(0));
	fixture_nops(r, 1);
	return fixture_status(r) == BIT(0);
}

static bool reads_back(struct fixture *r, u32 msr)
{
	if (msr == MSR_IA32_PERF_GLOBAL_OVF_CTRL)
		return clears_status(r);
	if (msr == MSR_IA32_PERF_GLOBAL_STATUS)
		return shows_status(r);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (values[i].msr != msr || !values[i].legal)
			continue;
		return fixture_wrmsr(r, msr, values[i].legal) == MSR_DONE &&
		       model_rdmsr(&r->m, msr).value == values[i].legal;
	}
	return model_rdmsr(&r->m, msr).value != 0;
}

/* A write by one logical processor of a core changes nothing for the other one. */
static bool is_the_threads_own(struct fixture *r, u32 msr)
{
	static struct fixture thread[CORE_THREADS];
	static struct model_core core;
	struct model_config config = r->m.config;
	u32 shown = msr == MSR_IA32_PERF_GLOBAL_OVF_CTRL ? MSR_IA32_PERF_GLOBAL_STATUS : msr;
	u64 before;

	config.hyper_threading = true;
	fixture_open_core(thread, &core, &config);
	fixture_program(&thread[1], 0, EVENT_INST_RETIRED_ANY_P, 0, 1);
	fixture_start(&thread[1], BIT(0));
	fixture_nops(&thread[1], 1);
	fixture_stop(&thread[1]);
	before = fixture_get(&thread[1], shown);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i].msr == msr)
			fixture_set(&thread[0], msr, values[i].legal);
	return fixture_get(&thread[1], shown) == before;
}

static bool refuses(struct fixture *r, u32 msr)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i].msr == msr)
			return fixture_wrmsr(r, msr, values[i].reserved) == MSR_GP;
	return false;
}

/* A refused write changes nothing, the bits that might be set included. */
static bool keeps(struct fixture *r, u32 msr)
{
	u32 shown = msr == MSR_IA32_PERF_GLOBAL_OVF_CTRL ? MSR_IA32_PERF_GLOBAL_STATUS : msr;
	u64 before;

	fixture_program(r, 0, EVENT_INST_RETIRED_ANY_P, 0, 1);
	fixture_start(r, BIT(0));
	fixture_nops(r, 1);
	fixture_stop(r);
	before = fixture_get(r, shown);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i].msr == msr && fixture_wrmsr(r, msr, values[i].legal ^
							  values[i].reserved) == MSR_GP)
			return fixture_get(r, shown) == before;
	return false;
}

/* The uncore's addresses are above those of IA32_PERF_GLOBAL_OVF_CTRL and below 3F0H. */
enum generation_id generated_generation(enum fault_id of)
{
	for (size_t i = 0; i < sizeof(msr_rules) / sizeof(msr_rules[0]); i++)
		if (msr_rules[i].fault == of && msr_rules[i].msr > 0x390 &&
		    msr_rules[i].msr < 0x3f0)
			return GEN_NEHALEM;
	return GEN_HASWELL;
}

bool generated_rule(enum fault_id of, struct fixture *r)
{
	for (size_t i = 0; i < sizeof(msr_rules) / sizeof(msr_rules[0]); i++)
		if (msr_rules[i].fault == of && msr_rules[i].kind == REFUSED)
			return keeps(r, msr_rules[i].msr);
		else if (msr_rules[i].fault == of)
			return msr_rules[i].kind == RESERVED ? refuses(r, msr_rules[i].msr) :
							       reads_back(r, msr_rules[i].msr);
	for (size_t i = 0; i < sizeof(shared_rules) / sizeof(shared_rules[0]); i++)
		if (shared_rules[i].fault == of)
			return is_the_threads_own(r, shared_rules[i].msr);
	return whole_record(r);
}
