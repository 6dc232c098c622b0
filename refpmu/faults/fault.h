/* SPDX-License-Identifier: MIT */
/* Faults, for the parts of the reference PMU outside the model. */
#ifndef REFPMU_FAULTS_FAULT_H
#define REFPMU_FAULTS_FAULT_H

#include "refpmu/faults/fault_id.h"
#include "refpmu/model/model.h"

/* Does this fault act at this injection point? Each call counts as an injection point, so call it
 * only where it changes the result. */
bool model_fault(struct model *m, enum fault_id fault);

/* Is that the configured fault, even if it doesn't act here? */
bool model_has_fault(const struct model *m, enum fault_id fault);

/* How often the fault acted. */
u64 model_fault_acted(const struct model *m);

#endif
