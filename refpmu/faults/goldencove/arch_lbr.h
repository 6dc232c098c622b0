/* SPDX-License-Identifier: MIT */
/* Faults of architectural last branch records: functions that hooks in other files call. */
#ifndef REFPMU_FAULTS_ARCH_LBR_H
#define REFPMU_FAULTS_ARCH_LBR_H

#include "refpmu/model/lbr.h"

/* Is there the register? Which bits can be written? What RDMSR has read. One takes this value. */
bool fault_arch_lbr_exists(struct model *m, const struct msr_ref *p, bool exists);
u64 fault_arch_lbr_bits(struct model *m, const struct msr_ref *p, u64 bits);
u64 fault_arch_lbr_read(struct model *m, const struct msr_ref *p, u64 value);
void fault_arch_lbr_taken(struct model *m, const struct msr_ref *p, u64 value);
/* WRMSR of an entry's register: has it gone elsewhere? */
bool fault_arch_lbr_placed(struct model *m, const struct msr_ref *p, u64 value);
/* The other logical processor of the core takes it. */
void fault_arch_lbr_sibling(struct model *m, struct model *sibling, const struct msr_ref *p,
			    u64 value);
/* An instruction has retired: what is logged of it. */
void fault_lbr_log_retired(struct model *m, const struct model_retired *r);
/* A new entry is complete. */
void fault_arch_lbr_entry(struct model *m, const struct lbr_branch *b, struct lbr_plan *plan);

#endif
