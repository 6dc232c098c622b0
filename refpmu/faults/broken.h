/* SPDX-License-Identifier: MIT */
/* broken(): does a fault act here? Every fault begins with this call. For refpmu/faults/. */
#ifndef REFPMU_FAULTS_BROKEN_H
#define REFPMU_FAULTS_BROKEN_H

#include "refpmu/faults/fault.h"
#include "refpmu/faults/state.h"

/* The configured fault has parameters: do they let it act here? */
bool model_fault_fires(struct model *m);

/* Is this the configured fault, and does it act here? Call it only where the fault makes a
 * difference, because each call is an injection point. */
static inline bool broken(struct model *m, enum fault_id fault)
{
	return m->config.fault == fault && fault != FAULT_NONE && model_fault_fires(m);
}

/* Disarm all armed counters here, if this fault acts. */
void fault_disarm_all(struct model *m, enum fault_id fault);

#endif
