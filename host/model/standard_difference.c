/* SPDX-License-Identifier: MIT */
/* See standard_program.h. */
#include "host/model/standard_internal.h"

#include <string.h>

#include "claims/requirement.h"

static const enum generation_id generations[] = {
	GEN_HASWELL, GEN_NEHALEM, GEN_BROADWELL, GEN_SANDYBRIDGE, GEN_NETBURST,
};
#define GENERATIONS	(sizeof(generations) / sizeof(generations[0]))

/* The observations after each round on the correct processor. */
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

/* The generations of the fault's first requirement, in the words of its row. */
static const char *about(enum fault_id fault)
{
	static const char *const requirements[FAULT_COUNT] = {
#define FAULT(token, name, ids, sentence, ...) [FAULT_##token] = ids,
#include "refpmu/faults/fault.def"
	};
	static const struct {
		const char *id, *about;
	} rows[] = {
#define REQUIREMENT(token, id, group, authority, silicon, kvm, reference, gens, source, sentence) \
	{ id, gens },
#include "claims/requirement.def"
	};
	const char *first = requirements[fault] ? requirements[fault] : "";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strncmp(rows[i].id, first, strlen(rows[i].id)))
			return rows[i].about;
	return "";
}

static bool finds_on(enum fault_id fault, struct standard_difference *where)
{
	static const struct fault_when always;

	return standard_program_shows(fault, &always, where);
}

bool standard_program_finds(enum fault_id fault, struct standard_difference *where)
{
	const char *of = about(fault);
	bool netburst = !strcmp(of, "NB");

	/* A fault of a single generation is first tried on that generation. */
	if (netburst || !strcmp(of, "SNB")) {
		where->generation = netburst ? GEN_NETBURST : GEN_SANDYBRIDGE;
		for (where->seed = 0; where->seed < STANDARD_SEEDS; where->seed++)
			if (finds_on(fault, where))
				return true;
	}
	for (where->seed = 0; where->seed < STANDARD_SEEDS; where->seed++)
		for (unsigned g = 0; g < GENERATIONS; g++) {
			where->generation = generations[g];
			if (finds_on(fault, where))
				return true;
		}
	return false;
}
