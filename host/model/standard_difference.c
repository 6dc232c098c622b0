/* SPDX-License-Identifier: MIT */
/* See standard_program.h. */
#include "host/model/standard_internal.h"

/* What was seen after each round on the correct processor. */
static const u64 *correct(const struct standard_difference *where)
{
	static u64 known[GEN_COUNT][STANDARD_SEEDS][STANDARD_ROUNDS];
	static const struct fault_when always;
	u64 *rounds = known[where->generation][where->seed];

	if (rounds[0])
		return rounds;
	standard_open(where, FAULT_NONE, &always);
	for (unsigned n = 0; n < STANDARD_ROUNDS; n++)
		rounds[n] = standard_round();
	return rounds;
}

bool standard_program_shows(enum fault_id fault, const struct fault_when *when,
			    struct standard_difference *where)
{
	const u64 *wanted = correct(where);

	standard_open(where, fault, when);
	for (where->round = 0; where->round < STANDARD_ROUNDS; where->round++)
		if (standard_round() != wanted[where->round])
			return true;
	return false;
}

bool standard_program_finds(enum fault_id fault, struct standard_difference *where)
{
	static const enum generation_id generations[] = {
		GEN_HASWELL, GEN_NEHALEM, GEN_BROADWELL, GEN_SANDYBRIDGE, GEN_NETBURST,
	};
	static const struct fault_when always;

	for (where->seed = 0; where->seed < STANDARD_SEEDS; where->seed++)
		for (unsigned g = 0; g < sizeof(generations) / sizeof(generations[0]); g++) {
			where->generation = generations[g];
			if (standard_program_shows(fault, &always, where))
				return true;
		}
	return false;
}
