/* SPDX-License-Identifier: MIT */
/* Faults of the PMU of KVM's guests: functions that hooks in other files call. */
#ifndef REFPMU_FAULTS_KVM_KVM_H
#define REFPMU_FAULTS_KVM_KVM_H

#include "refpmu/model/msr.h"
#include "refpmu/model/record.h"

/* Does a register that the guest hasn't answer? Which bits can it write? */
bool fault_kvm_answers(struct model *m, const struct msr_ref *p);
u64 fault_kvm_bits(struct model *m, const struct msr_ref *p, u64 bits);
/* RDMSR has read this; RDPMC of what isn't there; the last written value is taken. */
u64 fault_kvm_takes(struct model *m, const struct msr_ref *p, u64 value);
u64 fault_kvm_read(struct model *m, const struct msr_ref *p, u64 value);
bool fault_kvm_rdpmc(struct model *m, u32 ecx);
void fault_kvm_taken(struct model *m, const struct msr_ref *p, u64 value);
/* CPUID: version and EDX of leaf 0AH; IA32_PERF_CAPABILITIES. */
void fault_kvm_perfmon(struct model *m, u32 regs[4]);
u64 fault_kvm_capabilities(struct model *m, u64 value);
/* Software has written LVTPC. */
void fault_kvm_lvt_written(struct model *m, u32 lvtpc);
/* Does counter i count at all? Does this opcode count twice? */
bool fault_kvm_counts(struct model *m, unsigned i);
bool fault_kvm_counts_twice(struct model *m, unsigned opcode);
/* A record of format 4: its groups, the counters that it names, how it is written. */
void fault_kvm_layout(struct model *m, struct adaptive_layout *layout);
u64 fault_kvm_applicable(struct model *m, u64 counters);
void fault_kvm_assist(struct model *m, struct assist_plan *plan);
/* A write clears these bits of IA32_PERF_GLOBAL_STATUS. */
u64 fault_kvm_clears(struct model *m, u64 bits);

#endif
