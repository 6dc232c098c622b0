/* SPDX-License-Identifier: MIT */
/*
 * A set-associative table of keys, each with some bits of state: used for caches and TLBs. The
 * caller owns the entries and zeroes them for an empty table. One word holds key and state.
 */
#ifndef REFPMU_MODEL_MEMORY_SETS_H
#define REFPMU_MODEL_MEMORY_SETS_H

#include "spec/types.h"

/* Which entry is replaced when a set is full: processors differ, and no manual says. */
enum sets_replacement {
	SETS_LEAST_USED,	/* the one that was looked up longest ago */
	SETS_FIRST_FILLED,
	SETS_ANY,
	SETS_REPLACEMENTS
};

struct model_sets {
	u64 *entry;		/* sets * ways words */
	u32 sets;		/* a power of two */
	u8 ways;
	u8 replacement;		/* enum sets_replacement */
};

#define SETS_STATE_BITS	20	/* keys have 43 of the other bits */

/* 0 is an empty place. */
static inline u64 sets_key(u64 entry)
{
	return (entry >> SETS_STATE_BITS) - 1;
}

static inline u32 sets_state(u64 entry)
{
	return (u32)(entry & BITS(0, SETS_STATE_BITS - 1));
}

/* The word of this key, or NULL. This counts as a use for the replacement. The pointer is valid
 * until the next call for this table; the bits of state may be changed. */
u64 *sets_use(const struct model_sets *s, u64 key);
/* The same, but it doesn't count as a use. */
u64 *sets_look(const struct model_sets *s, u64 key);

/* Insert a key that isn't in the table. Returns the word that was replaced, or 0. random is used if
 * the replacement is random. */
u64 sets_fill(const struct model_sets *s, u64 key, u32 state, u64 random);

/* Take a key out. Returns its word, or 0: it wasn't there. */
u64 sets_drop(const struct model_sets *s, u64 key);

#endif
