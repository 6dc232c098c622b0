/* SPDX-License-Identifier: MIT */
/* What the files of rules share. A rule holds on the correct processor. */
#ifndef HOST_MODEL_RULES_INTERNAL_H
#define HOST_MODEL_RULES_INTERNAL_H

#include <string.h>

#include "host/model/fixture.h"
#include "host/model/rules/rules.h"

typedef bool rule(struct fixture *r);

/* One that is an expression, of the rig r. */
#define RULE(name, ...) static bool name(struct fixture *r) { return __VA_ARGS__; }

#define INST	EVENT_INST_RETIRED_ANY_P
#define LOADS	EVENT_MEM_UOPS_RETIRED_ALL_LOADS
#define STORES	EVENT_MEM_UOPS_RETIRED_ALL_STORES
#define INT	IA32_PERFEVTSEL_INT
#define REFUSED(msr, value) (fixture_wrmsr(r, msr, value) == MSR_GP)
#define TAKEN(msr, value) (fixture_wrmsr(r, msr, value) == MSR_DONE)
#define THERE(msr) (model_rdmsr(&r->m, msr).status == MSR_DONE)
#define CFG_C(n)	(0x1903 + 4u * (n))	/* IA32_PMC_GPn_CFG_C, IA32_PMC_FXn_CFG_C */
#define FX_CFG_C(n)	(0x1983 + 4u * (n))
#define MINUS(n) (-(u64)(n) & BITS(0, 47))
#define PMC(n)	fixture_get(r, MSR_IA32_PMC0 + (n))
#define ADDRESS	(FIXTURE_MEMORY_BASE + 0x3008)	/* of data; not where its line begins */

/* Fields of a record of Table 18-44. */
enum {
	RECORD_RIP = 0x08,
	RECORD_DLA = 0x98,
	RECORD_SOURCE = 0xa0,
	RECORD_LATENCY = 0xa8,
	RECORD_EVENTING = 0xb0,
};

/* 0 where a broken processor has no such register. */
static inline u64 get(struct fixture *r, u32 msr)
{
	return model_rdmsr(&r->m, msr).value;
}

/* A DS area with an empty buffer of 2000H bytes, and the threshold at its end. */
static inline void empty_buffer(struct fixture *r)
{
	memset(r->memory + 0x1000, 0xee, 0x2000);
	fixture_poke(r, FIXTURE_DS + 0x20, FIXTURE_BUFFER);
	fixture_poke(r, FIXTURE_DS + 0x28, FIXTURE_BUFFER);
	fixture_poke(r, FIXTURE_DS + 0x30, FIXTURE_BUFFER + 0x2000);
	fixture_poke(r, FIXTURE_DS + 0x38, FIXTURE_BUFFER + 0x2000);
	fixture_wrmsr(r, 0x600, FIXTURE_DS);
}

/* The quadword at a byte of the buffer. */
static inline u64 at(struct fixture *r, unsigned offset)
{
	return fixture_peek(r, FIXTURE_BUFFER + offset);
}

static inline void loads(struct fixture *r, unsigned n)
{
	while (n--)
		fixture_load(r, ADDRESS);
}

/* The data source of a load from memory, by load latency on counter n: each load is of another
 * page. */
static inline u64 source_of_far_load(struct fixture *r, unsigned n, u16 event)
{
	enum { MEM = 1, SOURCE_AT = 0x28, PAGE = 0x1000, ROUNDS = 200 };

	fixture_stop(r);
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, MEM);
	fixture_wrmsr(r, 0x3f6, 3);
	fixture_program_pebs(r, n, event, BIT(34), 2);
	fixture_start(r, BIT(n));
	for (u64 i = 0; i < ROUNDS && fixture_index(r) == FIXTURE_BUFFER; i++)
		fixture_load(r, ADDRESS + i * PAGE);
	return at(r, SOURCE_AT);
}

/* Counter n, with these further bits: two loads arm it, the third makes a record. */
static inline bool one_record(struct fixture *r, unsigned n, u64 bits)
{
	fixture_program_pebs(r, n, LOADS, bits, 2);
	fixture_start(r, BIT(n));
	loads(r, 3);
	return fixture_records(r) == 1;
}

/* IA32_PMC0 overflows, and interrupts once. */
static inline bool one_overflow(struct fixture *r)
{
	fixture_program(r, 0, INST, INT, 3);
	fixture_start(r, BIT(0));
	fixture_nops(r, 3);
	return r->n_interrupts == 1;
}

/* A core of two such processors: what one writes to each of these the other one doesn't read. */
static inline bool each_thread_has_its_own(const struct fixture *one, const u32 *registers,
					   size_t n)
{
	static struct fixture r[CORE_THREADS];
	static struct model_core core;
	struct model_config config = one->m.config;

	config.hyper_threading = true;
	fixture_open_core(r, &core, &config);
	for (size_t i = 0; i < n; i++) {
		if (fixture_wrmsr(&r[0], registers[i], 4) != MSR_DONE ||
		    model_rdmsr(&r[1].m, registers[i]).value)
			return false;
	}
	return true;
}

/* Those of basic.c, tx.c and so on; NULL where another file has the rule, or none has. */
extern rule *const basic_rules[FAULT_COUNT];
extern rule *const class_rules[FAULT_COUNT];
extern rule *const each_haswell_rules[FAULT_COUNT];	/* each_record.c: of some records */
extern rule *const each_icelake_rules[FAULT_COUNT];
extern rule *const each_goldencove_rules[FAULT_COUNT];
extern rule *const each_timed_rules[FAULT_COUNT];
extern rule *const single_icelake_rules[FAULT_COUNT];	/* single.c: one of many */
extern rule *const single_goldencove_rules[FAULT_COUNT];
extern rule *const single_skylake_rules[FAULT_COUNT];
extern rule *const single_version_6_rules[FAULT_COUNT];
extern rule *const uncore_rules[FAULT_COUNT];
extern rule *const tx_rules[FAULT_COUNT];
extern rule *const tx_counts_rules[FAULT_COUNT];
extern rule *const remote_lines_rules[FAULT_COUNT];
extern rule *const memory_rules[FAULT_COUNT];
extern rule *const skylake_rules[FAULT_COUNT];
extern rule *const skylake_record_rules[FAULT_COUNT];
extern rule *const icelake_rules[FAULT_COUNT];
extern rule *const metrics_rules[FAULT_COUNT];	/* of fixed counter 3 and MSR_PERF_METRICS */
extern rule *const goldencove_rules[FAULT_COUNT];
extern rule *const event_log_rules[FAULT_COUNT];	/* of last branch records */
extern rule *const lioncove_rules[FAULT_COUNT];
extern rule *const version6_rules[FAULT_COUNT];
extern rule *const version6_smaller_core_rules[FAULT_COUNT];	/* Clearwater Forest */
extern rule *const archpebs_rules[FAULT_COUNT];
extern rule *const archpebs_hole_rules[FAULT_COUNT];	/* the same processor */
extern rule *const hybrid_rules[FAULT_COUNT];		/* cores of two types */
extern rule *const timed_rules[FAULT_COUNT];		/* retire latency */
/* ecore.c: of E-cores, and of what else differs between kinds of cores. */
extern rule *const skymont_rules[FAULT_COUNT];
extern rule *const gracemont_rules[FAULT_COUNT];
extern rule *const p_core_rules[FAULT_COUNT];
extern rule *const kinds_of_cores_rules[FAULT_COUNT];
extern rule *const redwood_cove_rules[FAULT_COUNT];
extern rule *const without_arch_lbr_rules[FAULT_COUNT];
extern rule *const skylake_without_rules[FAULT_COUNT];	/* what came after Skylake */
extern rule *const kvm_rules[FAULT_COUNT];
extern rule *const kvm_pebs_rules[FAULT_COUNT];	/* of a guest with PEBS */
extern rule *const version_3_rules[FAULT_COUNT];	/* what Skylake ended */
/* netburst.c: rules of its own kind of processor. */
bool netburst_has_rule(enum fault_id of);
bool netburst_rule(enum fault_id of, enum fault_id on);

/* A loop of loads and stores samples with this event on counter n. */
static inline bool event_makes_record(struct fixture *r, unsigned n, u32 event)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, PEBS_DATA_CFG_MEMORY);
	fixture_wrmsr(r, 0x3f6, 3);
	fixture_program_pebs(r, n, event, BIT(34), 2);
	fixture_start(r, BIT(n));
	for (unsigned i = 0; i < 200 && fixture_index(r) == FIXTURE_BUFFER; i++) {
		fixture_load(r, ADDRESS);
		fixture_store(r, ADDRESS + 0x80);
	}
	fixture_stop(r);
	return fixture_index(r) == FIXTURE_BUFFER + 0x40;
}

#endif
