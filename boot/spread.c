/* SPDX-License-Identifier: MIT */
/* See spread.h. */
#include "boot/spread.h"

static bool is_chosen(unsigned index, const unsigned *chosen, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (chosen[i] == index)
			return true;
	return false;
}

/* Is there one of its package and type among those chosen? */
static bool is_represented(const struct spread_place *places, unsigned index,
			   const unsigned *chosen, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (places[chosen[i]].package == places[index].package &&
		    places[chosen[i]].type == places[index].type)
			return true;
	return false;
}

static bool same_core(const struct spread_place *a, const struct spread_place *b)
{
	return a->package == b->package && a->core == b->core;
}

unsigned spread_choose(const struct spread_place *places, unsigned count, unsigned first,
		       unsigned most, unsigned *chosen)
{
	unsigned n = 0;

	chosen[n++] = first;
	for (unsigned i = 0; count > most && i < count && n < most; i++)
		if (!is_represented(places, i, chosen, n))
			chosen[n++] = i;
	for (unsigned i = 0; count > most && i < count && n < most; i++)
		if (same_core(&places[i], &places[first]) && !is_chosen(i, chosen, n))
			chosen[n++] = i;
	for (unsigned i = 0; i < count && n < most; i++)
		if (!is_chosen(i, chosen, n))
			chosen[n++] = i;
	return n;
}
