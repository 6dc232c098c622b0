/* SPDX-License-Identifier: MIT */
/*
 * The walks of tests/measure/workload_marked_walk.asm: what each of their marked accesses finds in
 * every register and in memory. An access is named by its number in the window: mark +
 * MARKED_WALK_MARKS * round.
 */
#ifndef TESTS_MEASURE_MARKED_WALK_H
#define TESTS_MEASURE_MARKED_WALK_H

#include "spec/x86.h"
#include "tests/measure/sampling.h"

#define MARKED_WALK_MARKS	14	/* as in tests/measure/workload_marked_walk.asm */
#define MARKED_WALK_ROUNDS	384	/* at most */
#define MARKED_WALK_PERIOD	32	/* smallest that Haswell is known to honour */

/* Fill the memory that a walk of that many rounds reads, and work out what it does to RAX. */
void marked_walk_prepare(const struct workload *w, u64 rounds);

/* What a record of that access must hold; 0 for a field that the program doesn't decide. */
u64 marked_walk_field(u64 access, enum record_field field);

/*
 * The access that the record fits best, most fields counting, of those after `previous` (-1: the
 * first) and at most `reach` away from it; -1: it fits none.
 */
int64_t marked_walk_place(const struct pebs_record *record, int64_t previous, u64 reach);

/* RFLAGS' status flags after a + b: "ADD", flags affected. */
u64 flags_of_add(u64 a, u64 b);

/* "EFLAGS Register": the low 16 bits; RF and what is above has no part. */
#define FLAGS_LOOKED_AT BITS(0, 15)

#endif
