/* SPDX-License-Identifier: MIT */
/* Faults of version 5: functions that hooks in other files call. */
#ifndef REFPMU_FAULTS_VERSION5_H
#define REFPMU_FAULTS_VERSION5_H

#include "refpmu/model/msr.h"
#include "refpmu/model/record.h"

/* Is there the register? Which bits can be written? What RDMSR has read. */
bool fault_v5_exists(struct model *m, const struct msr_ref *p, bool exists);
/* Does it answer although there is none? */
bool fault_v5_absent_answers(struct model *m, const struct msr_ref *p);
u64 fault_v5_bits(struct model *m, const struct msr_ref *p, u64 bits);
void fault_v5_rdpmc(struct model *m, unsigned counter, struct msr_result *result);
void fault_v5_wrmsr(struct model *m, const struct msr_ref *p, struct msr_write *write);
/* An instruction has retired. */
void fault_v5_retired(struct model *m, const struct model_retired *r);
/* CPUID leaf 0AH. A write clears these bits of the status. The processor halts. */
void fault_v5_cpuid(struct model *m, u32 regs[4]);
u64 fault_v5_clears(struct model *m, u64 bits);
void fault_v5_halt(struct model *m);
/* What a counter is set to; what it adds; its overflow. */
bool fault_v5_pebs_enabled(struct model *m, unsigned counter);
void fault_v5_setting(struct model *m, unsigned i, struct counter_setting *setting);
u64 fault_v5_fixed_control(struct model *m, unsigned n, u64 control);
u64 fault_v5_increment(struct model *m, unsigned i, u64 add);
void fault_v5_overflow(struct model *m, unsigned i, struct counter_overflow *overflow);
const struct event_row *fault_v5_event(struct model *m, unsigned n, const struct event_row *event);
/* The counters of a record; its reset values; is there room for it? */
u64 fault_v5_applicable(struct model *m, u64 counters);
u64 fault_v5_reset(struct model *m, const struct assist_plan *plan, unsigned i, u64 value);
bool fault_v5_fits(struct model *m, const struct ds_area *ds);

#endif
