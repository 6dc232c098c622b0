/* SPDX-License-Identifier: MIT */
/* What interrupts do besides calling handlers; for the parts of kernel/ only. */
#ifndef KERNEL_TRAP_H
#define KERNEL_TRAP_H

#include "kernel/interrupt/fault.h"

/* From vectors.asm, for each interrupt and exception. */
void trap_dispatch(struct trap_frame *frame);

/*
 * Take what waits in vectors of ours out of IRR without calling a handler, and EOI what is in
 * service. Interrupts off before and after. Bounded: a source that never stops raising its
 * vector doesn't hold us here.
 */
void intr_drain(void);

/*
 * Take what waits in vectors from 16 to 31. No device has them, but a processor's PMI may come with
 * one by mistake, and the owner of the machine would take it for an exception. The owner's own
 * interrupts that come first are raised again. Interrupts off before and after; bounded. A vector
 * whose exception pushes an error code stays ("Error Code"): its handler would look for one.
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
