/* SPDX-License-Identifier: MIT */
/*
 * The number of the running processor. Each processor has its own TSS descriptor in the common GDT,
 * so the number can be read from TR. FS and GS are free for tests of segment bases. "Task
 * Register".
 */
#ifndef KERNEL_PERCPU_H
#define KERNEL_PERCPU_H

#include "kernel/processor/selectors.h"
#include "spec/types.h"

/* Logical processors that are used, at most; any others stay with the firmware. */
#define CPU_MAX		16u
/* The processor on which the firmware runs programs. */
#define CPU_BOOT	0u

/* 0 to CPU_MAX - 1. Only while this processor is borrowed; at CPL 0 or 3, in handlers as well. */
static inline unsigned cpu_index(void)
{
	u16 tr;

	__asm__ volatile("str %w0" : "=r"(tr));
	return (tr - (unsigned)SELECTOR_TSS) / TSS_DESCRIPTOR_SIZE;
}

#endif
