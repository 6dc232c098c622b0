/* SPDX-License-Identifier: MIT */
/* See arena.h. Several processors may allocate at the same time. */
#include "kernel/memory/arena.h"
#include "kernel/memory/paging.h"

static u64 arena_next, arena_end;

void arena_init(u64 base, u64 size)
{
	arena_next = base;
	arena_end = base + size;
}

void *arena_alloc(size_t bytes)
{
	u64 size = ((u64)bytes + PAGE_SIZE - 1) & ~(u64)(PAGE_SIZE - 1);
	u64 address = __atomic_load_n(&arena_next, __ATOMIC_RELAXED);

	do {
		if (size < bytes || size > arena_end - address)
			return NULL;
	} while (!__atomic_compare_exchange_n(&arena_next, &address, address + size, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return (void *)(uintptr_t)address;
}
