/* SPDX-License-Identifier: MIT */
/*
 * The stacks of the borrowed machine, five for each processor. The page below each stack isn't
 * mapped. So a stack that grows too far causes #DF, which has its own stack, and doesn't overwrite
 * its neighbour.
 */
#ifndef KERNEL_STACK_H
#define KERNEL_STACK_H

#include "spec/types.h"

enum stack { STACK_GUARD, STACK_USER, STACK_NMI, STACK_DF, STACK_MC, STACK_COUNT };

/* Take the memory of that many processors' stacks from the arena. Once, before paging_init().
 * false: arena too small. */
bool stack_init(unsigned cpus);
/* Bytes of arena that one processor's stacks take. */
u64 stack_need(void);
/* The first address above the stack of a processor, a multiple of 16. */
u64 stack_top_of(unsigned cpu, enum stack stack);
/* The same for the calling processor. */
u64 stack_top(enum stack stack);
/* Take away the page below each stack. After paging_init(). */
bool stack_guard_pages(void);

#endif
