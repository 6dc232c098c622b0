/* SPDX-License-Identifier: MIT */
/* See sets.h. The entries of a set are in order, the newest first, empty ones last. */
#include "refpmu/model/memory/sets.h"

static u64 *set_of(const struct model_sets *s, u64 key)
{
	return s->entry + (key & (s->sets - 1)) * s->ways;
}

u64 *sets_look(const struct model_sets *s, u64 key)
{
	u64 *set = set_of(s, key);

	for (unsigned way = 0; way < s->ways && set[way]; way++)
		if (sets_key(set[way]) == key)
			return &set[way];
	return NULL;
}

/* Free place n of the set: move everything before it back by one. */
static void move_back(u64 *set, unsigned n)
{
	for (; n; n--)
		set[n] = set[n - 1];
}

u64 *sets_use(const struct model_sets *s, u64 key)
{
	u64 *set = set_of(s, key), *found = sets_look(s, key), entry;

	if (!found || s->replacement != SETS_LEAST_USED)
		return found;
	entry = *found;
	move_back(set, (unsigned)(found - set));
	set[0] = entry;
	return set;
}

u64 sets_fill(const struct model_sets *s, u64 key, u32 state, u64 random)
{
	u64 *set = set_of(s, key), gone;
	unsigned way = 0;

	while (way + 1u < s->ways && set[way])
		way++;
	if (set[way] && s->replacement == SETS_ANY)
		way = (unsigned)(random % s->ways);
	gone = set[way];
	move_back(set, way);
	set[0] = (key + 1) << SETS_STATE_BITS | state;
	return gone;
}

u64 sets_drop(const struct model_sets *s, u64 key)
{
	u64 *set = set_of(s, key), *found = sets_look(s, key), entry;

	if (!found)
		return 0;
	entry = *found;
	for (unsigned way = (unsigned)(found - set); way < s->ways; way++)
		set[way] = way + 1u < s->ways ? set[way + 1] : 0;
	return entry;
}
