/* SPDX-License-Identifier: MIT */
/* Keeps the worst verdict of each requirement; a SKIP or INCONCLUSIVE doesn't replace a PASS. */
#include "tests/frame/tally.h"

static bool is_open(enum verdict verdict)
{
	return verdict == VERDICT_NONE || verdict == VERDICT_SKIP ||
	       verdict == VERDICT_INCONCLUSIVE;
}

void tally_add(struct tally *tally, enum requirement_id id, enum verdict verdict)
{
	enum verdict *of = &tally->of[id];

	if (verdict == VERDICT_PASS && is_open(*of))
		*of = verdict;
	else if (*of != VERDICT_PASS || !is_open(verdict))
		*of = verdict_worst(*of, verdict);
}

bool tally_decides(const struct tally *tally, enum requirement_id id)
{
	return !is_open(tally->of[id]) && tally->of[id] != VERDICT_ERROR;
}

unsigned tally_decided(const struct tally *tally)
{
	unsigned decided = 0;

	for (unsigned i = 0; i < REQ_COUNT; i++)
		decided += tally_decides(tally, (enum requirement_id)i);
	return decided;
}
