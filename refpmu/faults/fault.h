/* SPDX-License-Identifier: MIT */
/* Faults, for the parts of the reference PMU outside the model. */
#ifndef REFPMU_FAULTS_FAULT_H
#define REFPMU_FAULTS_FAULT_H

#include "refpmu/faults/fault_id.h"
#include "refpmu/model/model.h"

/* Is this fault active at this injection point? Each call is counted as one, so call only where it
 * changes the outcome. */
bool model_fault(struct model *m, enum fault_id fault);

/* Was it configured with that fault, whenever it acts? */
bool model_has_fault(const struct model *m, enum fault_id fault);

/* How often it acted: questions that were answered by yes. */
u64 model_fault_acted(const struct model *m);

#endif
