/* SPDX-License-Identifier: MIT */
/*
 * The lines of the memory hierarchy: which cache has them, and how they get from one to another.
 * Lines are physical addresses over 64. For refpmu/model_memory*.c only; the rest of the model sees
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

/* Any number, from the sequence that the seed began. */
u64 memory_chance(struct memory *memory);

enum memory_level { MEMORY_INTO_L1, MEMORY_INTO_L2 };

/* Find a line and bring it near. *latency is what finding it took. */
enum memory_source memory_fetch(struct memory *memory, unsigned core, u64 line,
				enum memory_level level, bool write, u32 *latency);
/* It was far: it is on its way for this instruction and some more; or till it is fetched. */
void memory_begin_fill(struct memory *memory, unsigned core, u64 line, u32 latency);
void memory_begin_waiting_fill(struct memory *memory, unsigned core, u64 line, u32 latency);
/* What was on its way has come, but for what waits. */
void memory_drain(struct memory_core *core);

/* Out of a core's own caches, which its L3 doesn't hear of, nor of its being modified. */
void memory_drop_private(struct memory *memory, unsigned core, u64 line);
/* Its L3 knows that no core has it. */
void memory_nobody_holds(struct memory *memory, unsigned core, u64 line);
/* Out of all caches; unmodified, wherever it is; and all lines of a core's package. */
void memory_flush_line(struct memory *memory, u64 line);
void memory_clean_line(struct memory *memory, u64 line);
void memory_flush_package(struct memory *memory, unsigned core);

#endif
