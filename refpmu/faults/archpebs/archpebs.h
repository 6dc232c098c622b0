/* SPDX-License-Identifier: MIT */
/* Faults of leaf 23H and architectural PEBS: functions that hooks in other files call. */
#ifndef REFPMU_FAULTS_ARCHPEBS_H
#define REFPMU_FAULTS_ARCHPEBS_H

#include "refpmu/model/archpebs/record.h"

/* Is the register there; its bits; what RDMSR reads; WRMSR is about to do this. */
bool fault_ext_exists(struct model *m, const struct msr_ref *p, bool exists);
/* An access to a register that isn't there: does it succeed, and does RDMSR? */
bool fault_ext_absent_answers(struct model *m, const struct msr_ref *p);
bool fault_ext_unreadable(struct model *m, const struct msr_ref *p);
u64 fault_ext_bits(struct model *m, const struct msr_ref *p, u64 bits);
u64 fault_ext_read(struct model *m, const struct msr_ref *p, u64 value);
void fault_ext_wrmsr(struct model *m, const struct msr_ref *p, struct msr_write *write);
/* The event that counter n counts. */
const struct event_row *fault_ext_event(struct model *m, unsigned n, const struct event_row *event);
/* IA32_PERF_GLOBAL_OVF_CTRL clears these. */
u64 fault_ext_clears(struct model *m, u64 bits);
void fault_ext_overflow(struct model *m, unsigned i, struct counter_overflow *overflow);

#endif
