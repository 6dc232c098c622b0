/* SPDX-License-Identifier: MIT */
/* What the files of rules share. A rule holds on the correct processor. */
#ifndef HOST_MODEL_RULES_INTERNAL_H
#define HOST_MODEL_RULES_INTERNAL_H

#include "host/model/rig.h"
#include "host/model/rules.h"

typedef bool rule(struct rig *r);

/* One that is an expression, of the rig r. */
#define RULE(name, ...) static bool name(struct rig *r) { return __VA_ARGS__; }

#define INST	EVENT_INST_RETIRED_ANY_P
#define LOADS	EVENT_MEM_UOPS_RETIRED_ALL_LOADS
#define STORES	EVENT_MEM_UOPS_RETIRED_ALL_STORES
#define INT	IA32_PERFEVTSEL_INT
#define MINUS(n) (-(u64)(n) & BITS(0, 47))
#define PMC(n)	rig_get(r, MSR_IA32_PMC0 + (n))
#define FIXED(n) rig_get(r, MSR_IA32_FIXED_CTR0 + (n))
#define ADDRESS	(RIG_MEMORY_BASE + 0x3008)	/* of data; not where its line begins */

/* Fields of a record of Table 18-44. */
enum { RECORD_DLA = 0x98, RECORD_SOURCE = 0xa0, RECORD_LATENCY = 0xa8 };

static inline void loads(struct rig *r, unsigned n)
{
	while (n--)
		rig_load(r, ADDRESS);
}

/* Counter n, with these further bits: two loads arm it, the third makes a record. */
static inline bool one_record(struct rig *r, unsigned n, u64 bits)
{
	rig_program_pebs(r, n, LOADS, bits, 2);
	rig_start(r, BIT(n));
	loads(r, 3);
	return rig_records(r) == 1;
}

/* rules_count.c, rules_pmi.c and so on; NULL where another file has the rule. */
extern rule *const count_rules[FAULT_COUNT];
extern rule *const condition_rules[FAULT_COUNT];
extern rule *const pmi_rules[FAULT_COUNT];
extern rule *const pebs_rules[FAULT_COUNT];
extern rule *const sampling_rules[FAULT_COUNT];
extern rule *const uncore_rules[FAULT_COUNT];
extern rule *const generation_rules[FAULT_COUNT];
extern rule *const tx_rules[FAULT_COUNT];
extern rule *const core_rules[FAULT_COUNT];
extern rule *const elsewhere_rules[FAULT_COUNT];
/* rules_memory.c; memory_rule() is for generated faults of its own and of all others. */
extern rule *const memory_rules[FAULT_COUNT];
extern rule *const access_rules[FAULT_COUNT];
bool memory_rule(enum fault_id of, struct rig *r);
/* rules_netburst.c: rules of its own kind of processor. */
bool netburst_has_rule(enum fault_id of);
bool netburst_rule(enum fault_id of, enum fault_id on);
/* rules_generated.c: the rule that a generated fault breaks, and a processor where it holds. */
bool generated_rule(enum fault_id of, struct rig *r);
enum generation_id generated_generation(enum fault_id of);

#endif
