/* SPDX-License-Identifier: MIT */
/* The question that every fault begins with. For refpmu/faults/. */
#ifndef REFPMU_FAULTS_BROKEN_H
#define REFPMU_FAULTS_BROKEN_H

#include "refpmu/faults/fault.h"
#include "refpmu/faults/state.h"

/* The processor has a fault with parameters; does it act here? */
bool model_fault_fires(struct model *m);

/* Ask only where the fault would make a difference: each question is an injection point. */
static inline bool broken(struct model *m, enum fault_id fault)
{
	return m->config.fault == fault && fault != FAULT_NONE && model_fault_fires(m);
}

/* The fault drops the arms of all counters here, if there are any. */
void fault_disarm_all(struct model *m, enum fault_id fault);

#endif
