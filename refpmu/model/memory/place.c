/* SPDX-License-Identifier: MIT */
/*
 * Puts lines into given caches, by means of the two cores that run no program: the effect of an
 * exerciser (docs/EXERCISER.md) on the hierarchy.
 */
#include "refpmu/model/memory/line.h"

void memory_place_begin(struct memory *memory)
{
	memory_forget(memory, MEMORY_NEIGHBOUR);
	memory_forget(memory, MEMORY_REMOTE);
}

/* Begin to fetch the line: the fill buffer is the first place that has it. */
static void begin_to_fetch(struct memory *memory, unsigned core, u64 line)
{
	u32 latency;

	memory->touched |= (u32)BIT(core);
	memory_fetch(memory, core, line, MEMORY_INTO_L1, false, &latency);
	memory_begin_waiting_fill(memory, core, line, latency);
}

bool memory_place(struct memory *memory, unsigned core, u64 physical, enum exerciser_state state)
{
	u64 line = memory_line(physical);

	memory_flush_line(memory, line);
	switch (state) {
	case EXERCISE_NOWHERE:
		return true;
	case EXERCISE_L3_ONLY:
		memory_touch(memory, MEMORY_NEIGHBOUR, physical, false);
		memory_drop_private(memory, MEMORY_NEIGHBOUR, line);
		memory_nobody_holds(memory, MEMORY_NEIGHBOUR, line);
		return true;
	case EXERCISE_L3_STALE:
		memory_touch(memory, MEMORY_NEIGHBOUR, physical, false);
		memory_drop_private(memory, MEMORY_NEIGHBOUR, line);
		return true;
	case EXERCISE_OTHER_CLEAN:
	case EXERCISE_OTHER_MODIFIED:
		memory_touch(memory, MEMORY_NEIGHBOUR, physical, state == EXERCISE_OTHER_MODIFIED);
		return true;
	case EXERCISE_REMOTE_CLEAN:
	case EXERCISE_REMOTE_MODIFIED:
		memory_touch(memory, MEMORY_REMOTE, physical, state == EXERCISE_REMOTE_MODIFIED);
		return true;
	case EXERCISE_PENDING:
		begin_to_fetch(memory, core, line);
		return true;
	}
	return false;
}
