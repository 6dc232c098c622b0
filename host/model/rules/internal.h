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
#define MINUS(n) (-(u64)(n) & BITS(0, 47))
#define PMC(n)	fixture_get(r, MSR_IA32_PMC0 + (n))
#define FIXED(n) fixture_get(r, MSR_IA32_FIXED_CTR0 + (n))
#define ADDRESS	(FIXTURE_MEMORY_BASE + 0x3008)	/* of data; not where its line begins */

/* Fields of a record of Table 18-44. */
enum { RECORD_DLA = 0x98, RECORD_SOURCE = 0xa0, RECORD_LATENCY = 0xa8 };

static inline void loads(struct fixture *r, unsigned n)
{
	while (n--)
		fixture_load(r, ADDRESS);
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

/* Fixed counter n overflows on the instruction of IA32_PMC0's assist: are these the actions? */
static inline bool fixed_beside_assist(struct fixture *r, unsigned n, const char *actions)
{
	fixture_set(r, MSR_IA32_FIXED_CTR0 + n, MINUS(3));
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0xbULL << 4 * n);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0) | BIT(32 + n));
	loads(r, 3);
	return !strcmp(fixture_actions(r), actions);
}

/* An overflow with precise distribution: the instruction that its record is of. */
static inline u64 precise_instruction(struct fixture *r)
{
	u64 ip;

	fixture_program_pebs(r, 1, EVENT_INST_RETIRED_PREC_DIST, 0, 200);
	fixture_start(r, BIT(1));
	fixture_nops(r, 199);
	ip = r->ip;
	fixture_nops(r, 2);
	return ip;
}

/* count.c, pmi.c and so on; NULL where another file has the rule. */
extern rule *const count_rules[FAULT_COUNT];
extern rule *const condition_rules[FAULT_COUNT];
extern rule *const pmi_rules[FAULT_COUNT];
extern rule *const pebs_rules[FAULT_COUNT];
extern rule *const sampling_rules[FAULT_COUNT];
extern rule *const uncore_rules[FAULT_COUNT];
extern rule *const generation_rules[FAULT_COUNT];
extern rule *const tx_rules[FAULT_COUNT];
extern rule *const core_rules[FAULT_COUNT];
extern rule *const remote_lines_rules[FAULT_COUNT];
/* memory.c; memory_rule() is for generated faults of its own and of all others. */
extern rule *const memory_rules[FAULT_COUNT];
extern rule *const access_rules[FAULT_COUNT];
bool memory_rule(enum fault_id of, struct fixture *r);
/* netburst.c: rules of its own kind of processor. */
bool netburst_has_rule(enum fault_id of);
bool netburst_rule(enum fault_id of, enum fault_id on);
/* generated.c: the rule that a generated fault breaks, and a processor where it holds. */
bool generated_rule(enum fault_id of, struct fixture *r);
enum generation_id generated_generation(enum fault_id of);

#endif
