/* SPDX-License-Identifier: MIT */
/*
 * The rules that faults of cores of two types break, and that of the retire latency. The expected
 * values are typed from SDM volume 1, CPUID leaves 07H and 1AH, Linux and the README of
 * intel/perfmon.
 */
#include "host/model/rules/internal.h"

#define HYBRID		BIT(15)	/* of CPUID.07H:EDX */

/* The third of four processors of a package is an E-core. */
static void as_e_core_of(struct fixture *r, enum generation_id package)
{
	struct model_config config = r->m.config;

	config.generation = package;
	config.hyper_threading = true;
	r->host.processors = 4;
	r->host.processor = 2;
	r->host.cores = NULL;
	model_init(&r->m, &config, &r->host);
}

static void as_e_core(struct fixture *r)
{
	as_e_core_of(r, GEN_ALDERLAKE);
}

static u32 subleaf(struct fixture *r, u32 number, u32 sub, unsigned reg)
{
	u32 regs[4] = { 0 };

	model_cpuid(&r->m, number, sub, regs);
	return regs[reg];
}

static u32 leaf(struct fixture *r, u32 number, unsigned reg)
{
	return subleaf(r, number, 0, reg);
}

static bool e_core_says_so(struct fixture *r)
{
	as_e_core(r);
	return leaf(r, 7, 3) & HYBRID && leaf(r, 0x1a, 0) == 0x20000001;
}

static bool e_core_has_no_metrics(struct fixture *r)
{
	as_e_core(r);
	return !(model_rdmsr(&r->m, 0x345).value & BIT(15)) &&
	       model_rdmsr(&r->m, 0x329).status == MSR_GP;
}

static bool e_core_has_six_counters(struct fixture *r)
{
	as_e_core(r);
	return fixture_wrmsr(r, 0x3f1, 0x70000003f) == MSR_DONE &&
	       fixture_wrmsr(r, 0x3f1, BIT(6)) == MSR_GP &&
	       fixture_wrmsr(r, 0x3f1, BIT(35)) == MSR_GP;
}

/* Darkmont beside Cougar Cove: eight counters, and no fixed counter 3. */
static bool leaf_23_is_of_the_e_core(struct fixture *r)
{
	as_e_core_of(r, GEN_PANTHERLAKE);
	return subleaf(r, 0x23, 1, 0) == 0xff && subleaf(r, 0x23, 1, 1) == 0x77;
}

/* The retire latency of loads from one line, or each from a new page. */
static u64 retire_latency(struct fixture *r, bool flush)
{
	fixture_stop(r);
	fixture_poke(r, FIXTURE_DS + 0x28, FIXTURE_BUFFER);
	fixture_wrmsr(r, 0x3f6, 3);
	fixture_program_pebs(r, 1, 0x01cd, BIT(34), 2);
	fixture_start(r, BIT(1));
	for (unsigned i = 0; i < 100 && fixture_index(r) == FIXTURE_BUFFER; i++)
		fixture_load(r, ADDRESS + (flush ? i * 0x1000 % 0x10000 : 0));
	return fixture_peek(r, FIXTURE_BUFFER) >> 32 & 0xffff;
}

static bool latency_is_that_of_the_load(struct fixture *r)
{
	u64 far = retire_latency(r, true), near = retire_latency(r, false);

	return near && near < far && far < 0x8000;
}

rule *const hybrid_rules[FAULT_COUNT] = {
	[FAULT_HYBRID_ON_P_CORES] = e_core_says_so,
	[FAULT_CORE_TYPE_OF_THE_FIRST] = e_core_says_so,
	[FAULT_CORE_TYPE_UNKNOWN] = e_core_says_so,
	[FAULT_E_CORE_TELLS_METRICS] = e_core_has_no_metrics,
	[FAULT_EXT_OF_BOTH_TYPES] = leaf_23_is_of_the_e_core,
	[FAULT_PEBS_ENABLE_OF_P_CORE] = e_core_has_six_counters,
};

/* One instruction takes longer than the field can show. */
static bool a_long_latency_saturates(struct fixture *r)
{
	fixture_wrmsr(r, 0x3f6, 3);
	fixture_program_pebs(r, 1, 0x01cd, BIT(34), 2);
	fixture_start(r, BIT(1));
	for (unsigned i = 0; i < 100 && fixture_index(r) == FIXTURE_BUFFER; i++)
		fixture_retire(r, &(struct model_retired){
					  .loads = 1, .n_access = 1,
							.access = { { ADDRESS, 8, false, false } },
							.any_spilled = true,
							.spilled_cycles = 0x10000 });
	return (fixture_peek(r, FIXTURE_BUFFER) >> 32 & 0xffff) == 0xffff;
}

rule *const timed_rules[FAULT_COUNT] = {
	[FAULT_RETIRE_LATENCY_WRAPS] = a_long_latency_saturates,
	[FAULT_RETIRE_LATENCY_TSC] = latency_is_that_of_the_load,
	[FAULT_RETIRE_LATENCY_CONSTANT] = latency_is_that_of_the_load,
};
