/* SPDX-License-Identifier: MIT */
/*
 * The machine state under which the pieces of blobs.asm run: GDT, IDT, TSS and page tables of
 * our own (identity, everything also at CPL 3), the firmware's interrupts held off.
 */
#ifndef REFPMU_SELFTEST_MACHINE_H
#define REFPMU_SELFTEST_MACHINE_H

#include "refpmu/hv/instructions.h"
#include "spec/types.h"

/* Also in selectors.inc. */
#define KERNEL_CODE	0x08
#define KERNEL_DATA	0x10
#define TSS_SELECTOR	0x30
#define VECTOR_INT	0x41
#define VECTOR_RETURN	0x42
#define VECTOR_IPI	0xe1
#define VECTOR_PMI	0xe2		/* of programs (program.h) only */

#define MACHINE_OTHERS	3		/* processors, besides the first one */

void machine_enter(void);
void machine_leave(void);

/* Only hold the firmware's interrupts off for a while: there are too many timer ticks to step
 * them. */
void machine_hold(void);
void machine_release(void);

/* On another processor, number 0 to MACHINE_OTHERS - 1, with the first one's page tables: set up
 * its own tables and stacks, and the handlers of programs. This lasts until its INIT. */
void machine_enter_other(unsigned which);

/* On the first one: the handlers of programs, or those of blobs.asm. */
/* The handler of #DB on the first processor; by default trap_handler(). */
void machine_use_traps(void (*handler)(void));

void machine_use_programs(bool yes);

#endif
