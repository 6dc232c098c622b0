/* SPDX-License-Identifier: MIT */
/* What interrupts do besides calling handlers; for the parts of kernel/ only. */
#ifndef KERNEL_TRAP_H
#define KERNEL_TRAP_H

#include "kernel/interrupt/fault.h"

/* From vectors.asm, for each interrupt and exception. */
void trap_dispatch(struct trap_frame *frame);

/*
 * Remove our pending vectors from IRR without calling a handler, and EOI those in service.
 * Interrupts are off before and after. Bounded, even if a source never stops raising its vector.
 */
void intr_drain(void);

/*
 * Remove pending interrupts with the vectors 16 to 31. No device uses these, but a broken
 * processor's PMI may arrive with one of them, and the owner of the machine would take it for an
 * exception. If interrupts of the owner arrive first, they are raised again. Interrupts are off
 * before and after; bounded. A vector whose exception pushes an error code stays pending ("Error
 * Code"), because its handler expects an error code on the stack.
 */
void intr_drain_exceptions(void);

/* All handlers, for putting them back. */
#define INTR_VECTORS 256
struct intr_handlers {
	void (*of[INTR_VECTORS])(struct trap_frame *frame);
};
void intr_save_handlers(struct intr_handlers *handlers);
void intr_restore_handlers(const struct intr_handlers *handlers);

#endif
