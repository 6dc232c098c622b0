/* SPDX-License-Identifier: MIT */
/* The declarations of svm.asm, which documents the functions. All except svm_launch() run in the
 * hypervisor, with GIF clear. */
#ifndef REFPMU_HV_SVM_H
#define REFPMU_HV_SVM_H

#include "refpmu/hv/instructions.h"
#include "spec/types.h"

struct pending_irq {
	u32 vector;	/* PENDING_IRQ_NONE, or an interrupt that the APIC now sees in service */
	u32 nmi;	/* 1: an NMI came, and NMIs are blocked until the next IRET */
};
#define PENDING_IRQ_NONE	0xffffffffu

/* Run host(argument, rip, rsp) on another stack. Returns as a guest, when host has virtualised the
 * processor. */
void svm_launch(void (*host)(void *argument, u64 rip, u64 rsp), void *stack_top, void *argument);

void svm_run(u64 vmcb_address, u64 *gpr);
void svm_save(u64 vmcb_address);

void svm_poll_interrupts(struct pending_irq *pending, bool interrupts);
void svm_wait(struct pending_irq *pending, bool interrupts);

/* Unblock NMIs, as the IRET of a handler does: an NMI that isn't the guest's has been taken. */
void svm_unblock_nmi(void);

extern const u8 svm_entry[];	/* the VMRUN of svm_run() */
extern const u8 host_stubs[];	/* 256 of 16 bytes */

#endif
