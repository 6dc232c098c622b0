/* SPDX-License-Identifier: MIT */
/* Stacks of fixed size, each one above its missing page. */
#include "kernel/machine.h"
#include "kernel/paging.h"
#include "kernel/stack.h"

#define STACK_SIZE	(64u * 1024)

static u64 bottom[STACK_COUNT];		/* the missing page */

bool stack_init(void)
{
	for (unsigned i = 0; i < STACK_COUNT; i++) {
		bottom[i] = (u64)(uintptr_t)machine_alloc(PAGE_SIZE + STACK_SIZE);
		if (!bottom[i])
			return false;
	}
	return true;
}

u64 stack_top(enum stack stack)
{
	return bottom[stack] + PAGE_SIZE + STACK_SIZE;
}

bool stack_guard_pages(void)
{
	for (unsigned i = 0; i < STACK_COUNT; i++)
		if (!paging_set(bottom[i], 0))
			return false;
	return true;
}
