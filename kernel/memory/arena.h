/* SPDX-License-Identifier: MIT */
/* Allocates the program's own memory, in the order of the calls. It is never freed. */
#ifndef KERNEL_ARENA_H
#define KERNEL_ARENA_H

#include "spec/types.h"

/* Zeroed, below 4 GiB. */
void arena_init(u64 base, u64 size);

/* Zeroed memory from the arena: present, writable, accessed and dirty at CPL 0 and 3, not
 * executable. bytes is rounded up to pages. Never freed. NULL when the arena is exhausted. Any
 * processor. */
void *arena_alloc(size_t bytes);

#endif
