/* SPDX-License-Identifier: MIT */
/*
 * The walks of tests/measure/workload_marked_walk.asm: the contents of every register and of memory
 * at each of their marked accesses. An access is named by its number in the window: mark +
 * MARKED_WALK_MARKS * round.
 */
#ifndef TESTS_MEASURE_MARKED_WALK_H
#define TESTS_MEASURE_MARKED_WALK_H

#include "spec/x86.h"
#include "tests/measure/sampling.h"

#define MARKED_WALK_MARKS	14	/* as in tests/measure/workload_marked_walk.asm */
#define MARKED_WALK_ROUNDS	384	/* at most */
#define MARKED_WALK_PERIOD	32	/* smallest that Haswell is known to honour */

/* Fill the memory that a walk of that many rounds reads, and compute its values of RAX. */
void marked_walk_prepare(const struct workload *w, u64 rounds);

/* The expected value of a field in the record of that access; 0 for a field that doesn't depend on
 * the program. */
u64 marked_walk_field(u64 access, enum record_field field);

/*
 * The access with which most fields of the record agree, among those after `previous` (-1: from the
 * first on) and at most `reach` after it; -1: none.
 */
int64_t marked_walk_place(const struct pebs_record *record, int64_t previous, u64 reach);

/* RFLAGS' status flags after a + b: "ADD", flags affected. */
u64 flags_of_add(u64 a, u64 b);

/* "EFLAGS Register": the low 16 bits; RF and what is above has no part. */
#define FLAGS_LOOKED_AT BITS(0, 15)

#endif
