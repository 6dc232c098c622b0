/* SPDX-License-Identifier: MIT */
/* For refpmu/faults/count.c. */
#ifndef REFPMU_FAULTS_CONDITION_H
#define REFPMU_FAULTS_CONDITION_H

#include "refpmu/model/internal.h"

/* Occurrences on an instruction of an unusual kind. */
u64 fault_unusual_instruction(struct model *m, const struct model_rule *rule,
			      const struct model_retired *r, u64 occurred);

#endif
