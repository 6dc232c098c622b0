/* SPDX-License-Identifier: MIT */
/*
 * Entering and leaving the guest: VMRUN, its intercepts, and the interrupts that are taken between
 * two VMRUNs.
 */
#ifndef REFPMU_HV_VMRUN_H
#define REFPMU_HV_VMRUN_H

#include "refpmu/hv/cpu.h"
#include "refpmu/hv/svm.h"

/* Run the guest until an exit; exits by stores to protected code (code_page.h) are handled and the
 * guest is entered again. gpr[] and the VMCB agree before and after. Returns the exit code. */
u64 vmrun(struct cpu *cpu);
/* One VMRUN; or none, and EXIT_NOT_RUN, if code_page_epoch() isn't *epoch any more. */
#define EXIT_NOT_RUN	(1ULL << 32)
u64 vmrun_unless(struct cpu *cpu, const u32 *epoch);

/* Set the intercepts that model_needs_retire() or, with step, a single step requires. */
void vmrun_set_intercepts(struct cpu *cpu, bool step);

/* Set the intercepts for engine/user_only.h until the next vmrun_set_intercepts(): as without
 * steps, and also page faults and instructions that change or use CR3. */
void vmrun_intercept_user_only(struct cpu *cpu);

/*
 * Acknowledge a pending NMI and, if the guest takes interrupts now, a pending interrupt. An NMI
 * that was a kick by another processor (processors.h) isn't reported in *pending; the function then
 * returns true: check the model again. wait: wait for one, as HLT does.
 */
bool vmrun_acknowledge(struct cpu *cpu, struct pending_irq *pending, bool interrupts, bool wait);

/* The same, and deliver them to the guest. true: there was one. */
bool vmrun_take_interrupt(struct cpu *cpu, bool interrupts, bool wait);

/* An exit that must not happen, or the end of the guest. */
__attribute__((noreturn)) void vmrun_unexpected(struct cpu *cpu, u64 code);
__attribute__((noreturn)) void vmrun_shutdown(struct cpu *cpu);

#endif
