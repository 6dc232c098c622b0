/* SPDX-License-Identifier: MIT */
/* Faults of version 4 and last branch records: functions that hooks in other files call. */
#ifndef REFPMU_FAULTS_VERSION4_H
#define REFPMU_FAULTS_VERSION4_H

#include "refpmu/model/msr.h"

/* A write clears these bits of IA32_PERF_GLOBAL_STATUS; RDMSR reads it. */
u64 fault_frozen_clears(struct model *m, u64 bits);
u64 fault_status_shown(struct model *m, u64 status);
/* The status bits that counter i's overflow sets. */
u64 fault_status_of_overflow(struct model *m, unsigned i, u64 status);
/* By which way an interrupt freezes; is counter i frozen, as CTR_Frz says? */
void fault_freeze_way(struct model *m, struct freeze_plan *plan);
bool fault_counter_frozen(struct model *m, unsigned i, bool frozen);
/* An overflow that doesn't interrupt. A register takes a value. A counter is read. */
void fault_quiet_overflow(struct model *m);
bool fault_frozen_loses(struct model *m, enum model_reg reg);
void fault_freeze_registers(struct model *m, enum model_reg reg, u64 value);
u64 fault_frozen_read(struct model *m, unsigned counter, u64 value);
/* A register of the last branch records is written. */
void fault_lbr_written(struct model *m, const struct msr_ref *p, struct msr_write *w);

#endif
