/* SPDX-License-Identifier: MIT */
/*
 * Giving the guest an interrupt or an exception. While the guest is being stepped, through its
 * IDT in software, so that the handler's first instruction is stepped as well; otherwise by the
 * processor itself. SDM volume 3, "Interrupt and Exception Handling in 64-bit Mode".
 *
 * Not handled in software: anything outside long mode, shadow stacks, task gates (there are none
 * in long mode). What can't be delivered in software is left to the processor and counted as
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
 * What deliver() asks about an event in a transaction, which that aborts; true: and the program
 * never sees the event. Before the first VMRUN.
 */
void deliver_in_transactions(bool (*swallows)(struct cpu *cpu, const struct guest_event *event));

/* The event is the guest's from now on: it happens before the guest's next instruction. RIP must
 * be where the event shall return to, or the INT n itself. false: the guest got another exception
 * instead, which the delivery of this one raised. */
bool deliver(struct cpu *cpu, const struct guest_event *event);

/* An event that was left to the processor while nothing was tracked, and that hasn't begun: deliver
 * it now. */
void deliver_injected(struct cpu *cpu);

/* An exception that has left the guest. If that was on the way to the handler of another event, it
 * may become a double fault, or the guest shuts down. */
void deliver_met(struct cpu *cpu, u8 vector);

/* The frequent ones. */
void deliver_exception(struct cpu *cpu, u8 vector, u32 error);
/* #DB after an instruction that began with the guest's own trap flag set. */
void deliver_single_step(struct cpu *cpu);

#endif
