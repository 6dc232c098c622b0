/* SPDX-License-Identifier: MIT */
/* What the files of rules share. A rule holds on the correct processor. */
#ifndef HOST_MODEL_RULES_INTERNAL_H
#define HOST_MODEL_RULES_INTERNAL_H

#include "host/model/rig.h"
#include "host/model/rules.h"

typedef bool rule(struct rig *r);

/* rules_count.c, rules_pebs.c and so on; NULL where another file has the rule. */
extern rule *const further_rules[FAULT_COUNT];
extern rule *const pebs_rules[FAULT_COUNT];
extern rule *const uncore_rules[FAULT_COUNT];
extern rule *const generation_rules[FAULT_COUNT];
extern rule *const tx_rules[FAULT_COUNT];
extern rule *const core_rules[FAULT_COUNT];
extern rule *const elsewhere_rules[FAULT_COUNT];
/* rules_memory.c; memory_rule() is for generated faults of its own and of all others. */
extern rule *const memory_rules[FAULT_COUNT];
bool memory_rule(enum fault_id of, struct rig *r);
/* rules_netburst.c: rules of its own kind of processor. */
bool netburst_has_rule(enum fault_id of);
bool netburst_rule(enum fault_id of, enum fault_id on);
/* rules_generated.c: the rule that a generated fault breaks, and a processor where it holds. */
bool generated_rule(enum fault_id of, struct rig *r);
enum generation_id generated_generation(enum fault_id of);

#endif
