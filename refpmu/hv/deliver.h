/* SPDX-License-Identifier: MIT */
/*
 * Delivers an interrupt or exception to the guest. While the guest is being stepped, this is done
 * through its IDT in software, so that the handler's first instruction is stepped too; otherwise by
 * event injection. SDM volume 3, "Interrupt and Exception Handling in 64-bit Mode".
 *
 * Not handled in software: anything outside long mode, shadow stacks, task gates (there are none in
 * long mode). An event that can't be delivered in software is left to the processor and counted as
 * inexact.
 */
#ifndef REFPMU_HV_DELIVER_H
#define REFPMU_HV_DELIVER_H

#include "refpmu/hv/cpu.h"

enum exception_vector {
	VECTOR_DE = 0, VECTOR_DB = 1, VECTOR_NMI = 2, VECTOR_OF = 4, VECTOR_UD = 6, VECTOR_DF = 8,
	VECTOR_TS = 10, VECTOR_NP = 11, VECTOR_SS = 12, VECTOR_GP = 13, VECTOR_PF = 14,
	VECTOR_AC = 17, VECTOR_CP = 21,
};

enum event_type { EVENT_INTERRUPT, EVENT_NMI, EVENT_EXCEPTION, EVENT_SOFTWARE };

struct guest_event {
	u8 vector;
	enum event_type type;
	u32 error;		/* of an exception that has one */
	u64 cr2;		/* of a page fault */
	u8 length;		/* EVENT_SOFTWARE: of the instruction, at RIP; returns after it */
};

/*
 * Set the function that deliver() calls for an event in a transaction; the event aborts the
 * transaction. true: the event isn't delivered. Before the first VMRUN.
 */
void deliver_in_transactions(bool (*swallows)(struct cpu *cpu, const struct guest_event *event));

/* Deliver the event before the guest's next instruction. RIP must be the address to which the
 * handler returns, or that of the INT n itself. false: the delivery raised another exception, which
 * the guest got instead. */
bool deliver(struct cpu *cpu, const struct guest_event *event);

/* If an event was left to the processor while the guest ran natively, and its delivery hasn't
 * begun, deliver it now. */
void deliver_injected(struct cpu *cpu);

/* Deliver an intercepted exception of the guest. If it was raised during the delivery of another
 * event, it may become a double fault or a shutdown. */
void deliver_met(struct cpu *cpu, u8 vector);

/* The frequent ones. */
void deliver_exception(struct cpu *cpu, u8 vector, u32 error);
/* #DB after an instruction that began with the guest's own trap flag set. */
void deliver_single_step(struct cpu *cpu);

#endif
