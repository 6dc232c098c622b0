/* SPDX-License-Identifier: MIT */
/*
 * Observable rules that faults break, for those that host/model/standard_program.h doesn't show:
 * what needs lines of other packages, transactions that nest, a record across pages and the like.
 */
#ifndef HOST_MODEL_RULES_H
#define HOST_MODEL_RULES_H

#include "refpmu/faults/fault_id.h"
#include "refpmu/model/fault_when.h"

/* Is there a rule that this fault breaks? */
bool rule_exists(enum fault_id of);
/* Does the rule that fault `of` breaks hold on a processor with fault `on`? */
bool rule_holds(enum fault_id of, enum fault_id on, bool hyper_threading);
/* The same of a fault that acts on some of its injection points only. */
bool rule_holds_when(enum fault_id of, enum fault_id on, const struct fault_when *when);
/* model_fault() says that this fault, and no other, is on. */
bool fault_is_visible(enum fault_id fault);

#endif
