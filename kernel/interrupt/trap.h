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

/* All handlers, for putting them back. */
#define INTR_VECTORS 256
struct intr_handlers {
	void (*of[INTR_VECTORS])(struct trap_frame *frame);
};
void intr_save_handlers(struct intr_handlers *handlers);
void intr_restore_handlers(const struct intr_handlers *handlers);

#endif
