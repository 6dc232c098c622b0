/* SPDX-License-Identifier: MIT */
/* The name of a fault with its parameters, see model/fault_when.h: rax-zero@pmc3@nth=100. Pure. */
#ifndef REFPMU_LAUNCH_FAULT_H
#define REFPMU_LAUNCH_FAULT_H

#include "refpmu/launch/span.h"
#include "refpmu/faults/fault_id.h"
#include "refpmu/model/fault_when.h"

/* NULL: success. Otherwise what is wrong with the text. "none" is FAULT_NONE, without
 * parameters. */
const char *launch_fault(struct span text, enum fault_id *fault, struct fault_when *when);

#endif
