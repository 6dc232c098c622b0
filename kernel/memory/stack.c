/* SPDX-License-Identifier: MIT */
/* Stacks of fixed size, each above a page that isn't present. */
#include "kernel/memory/arena.h"
#include "kernel/memory/paging.h"
#include "kernel/processor/percpu.h"
#include "kernel/memory/stack.h"

#define STACK_SIZE	(64u * 1024)

static u64 bottom[CPU_MAX][STACK_COUNT];	/* the page that isn't present */
static unsigned count;

u64 stack_need(void)
{
	/* The guard pages are in 2 MiB pages that are split for them. */
	return STACK_COUNT * (2 * PAGE_SIZE + STACK_SIZE);
}

bool stack_init(unsigned cpus)
{
	count = cpus;
	for (unsigned i = 0; i < cpus * STACK_COUNT; i++) {
		u64 memory = (u64)(uintptr_t)arena_alloc(PAGE_SIZE + STACK_SIZE);

		if (!memory)
			return false;
		bottom[i / STACK_COUNT][i % STACK_COUNT] = memory;
	}
	return true;
}

u64 stack_top_of(unsigned cpu, enum stack stack)
{
	return bottom[cpu][stack] + PAGE_SIZE + STACK_SIZE;
}

u64 stack_top(enum stack stack)
{
	return stack_top_of(cpu_index(), stack);
}

bool stack_guard_pages(void)
{
	for (unsigned i = 0; i < count * STACK_COUNT; i++)
		if (!paging_set(bottom[i / STACK_COUNT][i % STACK_COUNT], 0))
			return false;
	return true;
}
