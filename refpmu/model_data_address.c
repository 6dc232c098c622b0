/* SPDX-License-Identifier: MIT */
/*
 * What a record says of memory accesses: "PEBS Data Address Profiling" of Haswell.
 *
 * Not handled: load latency and precise store.
 */
#include "refpmu/model_record.h"

bool model_cache_access(struct model *m, const struct model_retired *r)
{
	bool store_hit = false;

	for (unsigned a = 0; a < r->n_access; a++) {
		u64 line = r->access[a].linear / 64 + 1;
		u64 *set = m->cache[line % MODEL_CACHE_SETS];
		u64 previous = line;
		bool hit = false;

		/* Newest first: move what lies before the line one back, or push out the oldest. */
		for (unsigned way = 0; way < MODEL_CACHE_WAYS && !hit; way++) {
			u64 here = set[way];

			set[way] = previous;
			previous = here;
			hit = here == line;
		}
		if (r->access[a].store)
			store_hit = hit;
	}
	return store_hit;
}

static bool is_of_event(const struct model_access *access, enum event_kind kind)
{
	if (kind == EK_STORES)
		return access->store;
	return !access->store && (kind != EK_LOCK_LOADS || access->locked);
}

/* The data linear address of the event: of one access of its kind. */
static u64 data_address(struct model *m, const struct step *s, unsigned x)
{
	enum { LAST, FIRST };
	enum event_kind kind = s->rule[x]->kind;
	u64 linear[MODEL_MAX_ACCESSES];
	unsigned n = 0;

	for (unsigned a = 0; a < s->r->n_access; a++)
		if (is_of_event(&s->r->access[a], kind))
			linear[n++] = s->r->access[a].linear;
	if (!n)
		return 0;
	if (m->latitude[LAT_TAG_ACCESS] == LAST)
		return linear[n - 1];
	return linear[m->latitude[LAT_TAG_ACCESS] == FIRST ? 0 : model_random(m) % n];
}

/* What the manual doesn't define for this event: Table 18-46. */
static void leave_undefined(struct model *m, u16 flags, struct record *record)
{
	if (!m->latitude[LAT_UNDEFINED_FIELDS])
		return;
	if (!(flags & EV_DLA)) {
		record->data_linear_address = model_random(m);
		record->data_source = model_random(m);
		record->latency = model_random(m) & BITS(0, 15);
	} else if (!(flags & EV_STORE_L1)) {
		record->data_source |= model_random(m) & 1;
	}
}

void model_record_memory(struct model *m, const struct step *s, unsigned x, struct record *record)
{
	u16 flags = s->rule[x]->flags;

	if (flags & EV_DLA)
		record->data_linear_address = data_address(m, s, x);
	if (flags & EV_STORE_L1)
		record->data_source = s->store_hit;
	leave_undefined(m, flags, record);
}
