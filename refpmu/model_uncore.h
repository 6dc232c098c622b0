/* SPDX-License-Identifier: MIT */
/* The uncore's counters of Nehalem and Westmere. For refpmu/model*.c only. */
#ifndef REFPMU_MODEL_UNCORE_H
#define REFPMU_MODEL_UNCORE_H

#include "refpmu/model_msr.h"

/* RDMSR and WRMSR of a register that is the uncore's; value has no reserved bit set. */
bool model_uncore_has(enum reg reg);
u64 model_uncore_read(struct model *m, const struct place *p);
void model_uncore_write(struct model *m, const struct place *p, u64 value);

/* What a firmware may leave behind: programmed counters of any value, and all of them off. */
void model_uncore_make_dirty(struct model *m);

#endif
