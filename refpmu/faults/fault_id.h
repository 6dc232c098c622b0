/* SPDX-License-Identifier: MIT */
/* Names for refpmu/faults/fault.def: FAULT_<token>. FAULT_NONE is the correct processor. */
#ifndef REFPMU_FAULTS_FAULT_ID_H
#define REFPMU_FAULTS_FAULT_ID_H

enum fault_id {
	FAULT_NONE,
#define FAULT(token, name, requirements, sentence) FAULT_##token,
#include "refpmu/faults/fault.def"
	FAULT_COUNT
};

#endif
