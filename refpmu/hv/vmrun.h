/* SPDX-License-Identifier: MIT */
/*
 * Entering the guest and leaving it: VMRUN, what it intercepts, and the interrupts that arrive in
 * the window between two of them.
 */
#ifndef REFPMU_HV_VMRUN_H
#define REFPMU_HV_VMRUN_H

#include "refpmu/hv/cpu.h"
#include "refpmu/hv/svm.h"

/* One VMRUN, or more while it leaves for stores to code (code_page.h). gpr[] and the VMCB agree
 * before and after. Returns the exit code. */
u64 vmrun(struct cpu *cpu);
/* Just one, and none if code_page_epoch() isn't *epoch any more: EXIT_NOT_RUN. */
#define EXIT_NOT_RUN	(1ULL << 32)
u64 vmrun_unless(struct cpu *cpu, const u32 *epoch);

/* Make the intercepts those that model_needs_retire() or, with step, a single step asks for. */
void vmrun_set_intercepts(struct cpu *cpu, bool step);

/* Until the next vmrun_set_intercepts(), those of engine/user_only.h: as without steps, and page
 * faults and what CR3 is about. */
void vmrun_intercept_user_only(struct cpu *cpu);

/*
 * Acknowledge a pending NMI and, if the guest takes interrupts now, a pending interrupt. An NMI
 * that was a call of another processor (processors.h) isn't among them: true, look at the model
 * again. `wait`: as HLT does.
 */
bool vmrun_acknowledge(struct cpu *cpu, struct pending_irq *pending, bool interrupts, bool wait);

/* The same, and deliver them to the guest. true: there was one. */
bool vmrun_take_interrupt(struct cpu *cpu, bool interrupts, bool wait);

/* An exit that can't be, or the end of the guest. */
__attribute__((noreturn)) void vmrun_unexpected(struct cpu *cpu, u64 code);
__attribute__((noreturn)) void vmrun_shutdown(struct cpu *cpu);

#endif
