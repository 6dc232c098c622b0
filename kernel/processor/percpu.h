/* SPDX-License-Identifier: MIT */
/*
 * Which processor this is. Each has a TSS descriptor of its own in the one GDT, so TR tells; FS and
 * GS stay free for what the tests do with segment bases. "Task Register".
 */
#ifndef KERNEL_PERCPU_H
#define KERNEL_PERCPU_H

#include "kernel/processor/selectors.h"
#include "spec/types.h"

/* Logical processors that are used; firmware keeps any others parked. */
#define CPU_MAX		16u
/* The one that the firmware runs programs on. */
#define CPU_BOOT	0u

/* 0 to CPU_MAX - 1. Only while this processor is borrowed; at CPL 0 or 3, in handlers as well. */
static inline unsigned cpu_index(void)
{
	u16 tr;

	__asm__ volatile("str %w0" : "=r"(tr));
	return (tr - (unsigned)SELECTOR_TSS) / TSS_DESCRIPTOR_SIZE;
}

#endif
