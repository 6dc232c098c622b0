/* SPDX-License-Identifier: MIT */
/*
 * The lines of the memory hierarchy: which cache has them, and how they move. The number of a line
 * is its physical address divided by 64. For refpmu/model/memory/ only; the rest of the model uses
 * accesses (memory.h).
 */
#ifndef REFPMU_MODEL_MEMORY_LINE_H
#define REFPMU_MODEL_MEMORY_LINE_H

#include "refpmu/model/memory/memory.h"

#define MEMORY_PHYSICAL	BITS(0, 47)	/* addresses have no more bits */

static inline u64 memory_line(u64 physical)
{
	return (physical & MEMORY_PHYSICAL) / MEMORY_LINE;
}

/* A random number, from the seed's sequence. */
u64 memory_chance(struct memory *memory);

enum memory_level { MEMORY_INTO_L1, MEMORY_INTO_L2 };

/* Find a line and bring it into the core's caches. *latency: how long this took. */
enum memory_source memory_fetch(struct memory *memory, unsigned core, u64 line,
				enum memory_level level, bool write, u32 *latency);
/* The line wasn't near: it is on its way for this instruction and some more; or until it is
 * fetched. */
void memory_begin_fill(struct memory *memory, unsigned core, u64 line, u32 latency);
void memory_begin_waiting_fill(struct memory *memory, unsigned core, u64 line, u32 latency);
/* All lines on their way have arrived, except those that wait for a fetch. */
void memory_drain(struct memory_core *core);

/* Drop the line from a core's own caches. The L3 isn't told, not even that the line was
 * modified. */
void memory_drop_private(struct memory *memory, unsigned core, u64 line);
/* Note in the L3 that no core has the line. */
void memory_nobody_holds(struct memory *memory, unsigned core, u64 line);
/* Drop the line from all caches; make it unmodified in all caches; drop all lines of a core's
 * package. */
void memory_flush_line(struct memory *memory, u64 line);
void memory_clean_line(struct memory *memory, u64 line);
void memory_flush_package(struct memory *memory, unsigned core);

#endif
