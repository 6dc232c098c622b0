/* SPDX-License-Identifier: MIT */
/* Faults of Golden Cove's counters and records: functions that hooks in other files call. */
#ifndef REFPMU_FAULTS_GOLDENCOVE_H
#define REFPMU_FAULTS_GOLDENCOVE_H

#include "refpmu/model/msr.h"
#include "refpmu/model/record.h"

/* The event of general-purpose counter n. Its overflow. */
const struct event_row *fault_glc_event(struct model *m, unsigned n, const struct event_row *event);
void fault_glc_overflow(struct model *m, unsigned i, struct counter_overflow *overflow);
/* The latency of a record, of a locked load or another one; the record of a store that was sampled.
 */
u64 fault_glc_latency(struct model *m, bool locked, u64 value);
u64 fault_glc_capabilities(struct model *m, u64 value);
void fault_glc_store(struct model *m, enum event_kind kind, struct record *record);
/* What MSR_PERF_METRICS reads; which bits a register has. */
u64 fault_glc_metrics(struct model *m, u64 value);
u64 fault_glc_bits(struct model *m, const struct msr_ref *p, u64 bits);
/* WRMSR is about to do this. */
void fault_glc_wrmsr(struct model *m, const struct msr_ref *p, struct msr_write *write);

#endif
