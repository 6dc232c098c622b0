/* SPDX-License-Identifier: MIT */
/* Faults of formats 5 and 6: functions that hooks in other files call. */
#ifndef REFPMU_FAULTS_LIONCOVE_H
#define REFPMU_FAULTS_LIONCOVE_H

#include "refpmu/model/msr.h"
#include "refpmu/model/record.h"

/* The reset value of counter i. Which bits can be written? */
u64 fault_lnc_reset(struct model *m, const struct assist_plan *plan, unsigned i, u64 value);
u64 fault_lnc_bits(struct model *m, const struct msr_ref *p, u64 bits);

#endif
