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

static bool same_kind(const struct spread_place *a, const struct spread_place *b)
{
	return a->package == b->package && a->type == b->type;
}

/* Has a chosen processor the same package and type; by_thread: and the same position in its
 * core? */
static bool is_represented(const struct spread_place *places, unsigned index,
			   const unsigned *chosen, unsigned n, bool by_thread)
{
	for (unsigned i = 0; i < n; i++)
		if (same_kind(&places[chosen[i]], &places[index]) &&
		    (!by_thread || places[chosen[i]].thread == places[index].thread))
			return true;
	return false;
}

bool spread_is_first_of_kind(const struct spread_place *places, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (same_kind(&places[i], &places[n]) && places[i].thread == places[n].thread)
			return false;
	return true;
}

unsigned spread_number(unsigned index, unsigned first)
{
	if (index == first)
		return 0;
	return index < first ? index + 1 : index;
}

unsigned spread_index(unsigned number, unsigned first)
{
	if (!number)
		return first;
	return number <= first ? number - 1 : number;
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
		if (!is_represented(places, i, chosen, n, false))
			chosen[n++] = i;
	for (unsigned i = 0; count > most && i < count && n < most; i++)
		if (same_core(&places[i], &places[first]) && !is_chosen(i, chosen, n))
			chosen[n++] = i;
	for (unsigned i = 0; count > most && i < count && n < most; i++)
		if (!is_represented(places, i, chosen, n, true))
			chosen[n++] = i;
	for (unsigned i = 0; i < count && n < most; i++)
		if (!is_chosen(i, chosen, n))
			chosen[n++] = i;
	return n;
}

unsigned spread_batches(unsigned count, unsigned most)
{
	if (count <= most || most < 2)
		return 1;
	return (count - 2) / (most - 1) + 1;
}

unsigned spread_batch(const struct spread_place *places, unsigned count, unsigned first,
		      unsigned most, unsigned batch, unsigned *chosen)
{
	unsigned early[SPREAD_MOST], before, n = 1, skip;

	if (!batch)
		return spread_choose(places, count, first, most, chosen);
	if (batch >= spread_batches(count, most))
		return 0;
	before = spread_choose(places, count, first, most, early);
	skip = (batch - 1) * (most - 1);
	chosen[0] = first;
	for (unsigned i = 0; i < count && n < most; i++) {
		if (is_chosen(i, early, before))
			continue;
		if (skip)
			skip--;
		else
			chosen[n++] = i;
	}
	return n;
}
