/* SPDX-License-Identifier: MIT */
/*
 * Interrupts: each processor has its own table of handlers, one for each vector. An interrupt
 * without a handler ends the running test. Handlers run on the interrupted stack (NMI, #DF, #MC: on
 * their own IST stacks) with interrupts off.
 */
#ifndef KERNEL_INTR_H
#define KERNEL_INTR_H

#include "kernel/interrupt/fault.h"

typedef void (*intr_handler)(struct trap_frame *frame);

/* Set the handler of a vector (NULL: none) and return the previous one. VECTOR_NMI and VECTOR_DB
 * may be taken as well. Handlers end with apic_eoi() themselves, except for exceptions and NMIs. */
intr_handler intr_set_handler(u8 vector, intr_handler handler);

static inline void intr_enable(void)
{
	__asm__ volatile("sti" ::: "memory");
}

static inline void intr_disable(void)
{
	__asm__ volatile("cli" ::: "memory");
}

/* Take all pending interrupts, then leave interrupts off: STI, a few NOPs, CLI. */
void intr_window(void);

#endif
