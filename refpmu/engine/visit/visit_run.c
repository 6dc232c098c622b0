/* SPDX-License-Identifier: MIT */
/* See visit.h: stretches, and runs of them. */
#include "refpmu/engine/dbt/code_fields.h"
#include "refpmu/engine/visit/visit.h"

#define PAGE		4096u
#define FLAGS		0x8d5ULL	/* CF PF AF ZF SF OF */
#define NO_PAGE		(~0ULL)
/* The visits that coming from somewhere else is as good as: it takes as long as some instructions,
 * and who comes from blocks comes from what runs often. */
#define FROM_ELSEWHERE	4

void visit_forget(struct visit_cache *cache)
{
	cache->used = 0;
	for (unsigned i = 0; i < VISIT_STRETCHES; i++)
		cache->stretch[i].n = 0;
}

void visit_forget_pages(struct visit_cache *cache)
{
	for (unsigned i = 0; i < VISIT_PAGES; i++)
		cache->page[i].number[0] = cache->page[i].number[1] = NO_PAGE;
	cache->text_page = NO_PAGE;
}

/* Where the code at this address is. */
static const u8 *text_at(struct visit_cache *cache, u64 rip)
{
	if (cache->text_page != rip / PAGE) {
		const u8 *at = cache->world->text(cache->ctx, rip);

		if (!at)
			return NULL;
		cache->text = at - rip % PAGE;
		cache->text_page = rip / PAGE;
	}
	return cache->text + rip % PAGE;
}

/* The bytes at the end of a page, and as many of the next one; false: one can't be executed. */
static bool text_beyond(struct visit_cache *cache, u64 rip, unsigned length, u8 *bytes)
{
	unsigned left = PAGE - (unsigned)(rip % PAGE);
	const u8 *at = text_at(cache, rip);

	if (!at)
		return false;
	for (unsigned i = 0; i < left && i < CODE_FIELDS_ROOM; i++)
		bytes[i] = at[i];
	if (length <= left)
		return true;
	at = text_at(cache, rip + left);
	for (unsigned i = left; at && i < CODE_FIELDS_ROOM; i++)
		bytes[i] = at[i - left];
	return at;
}

static bool near_edge(u64 rip)
{
	return rip % PAGE > PAGE - CODE_FIELDS_ROOM;
}

/* One instruction that may reach into the next page: which matters only if it does. */
static bool read_edge(struct visit_cache *cache, u64 rip, struct visit_insn *insn)
{
	u8 bytes[CODE_FIELDS_ROOM] = { 0 };
	unsigned left = PAGE - (unsigned)(rip % PAGE);

	if (!text_beyond(cache, rip, 0, bytes))
		return false;
	if (visit_decode(insn, rip, bytes) && insn->head.length <= left)
		return true;
	return text_beyond(cache, rip, CODE_FIELDS_ROOM, bytes) && visit_decode(insn, rip, bytes) &&
	       insn->head.length > left;
}

static unsigned read_insns(struct visit_cache *cache, u64 rip, struct visit_insn *insn)
{
	const u8 *text = text_at(cache, rip);
	unsigned n = 0, at = 0;

	while (text && n < VISIT_LONGEST && !near_edge(rip + at)) {
		if (!visit_decode(&insn[n], rip + at, text + at))
			break;
		at += insn[n].head.length;
		if (insn[n++].head.kind >= VISIT_CONDITIONAL)
			break;
	}
	return n;
}

static void sum_up(struct visit_stretch *stretch, const struct visit_insn *insn)
{
	stretch->loads = stretch->stores = 0;
	for (unsigned i = 0; i < stretch->n; i++) {
		stretch->loads = (u8)(stretch->loads + insn[i].head.loads);
		stretch->stores = (u8)(stretch->stores + insn[i].head.stores);
	}
	stretch->branch = insn[stretch->n - 1].branch;
}

/* NULL: its first instruction isn't for this. */
static struct visit_stretch *make(struct visit_cache *cache, struct visit_stretch *stretch, u64 rip)
{
	struct visit_insn *insn;

	if (cache->used + VISIT_LONGEST > VISIT_INSNS)
		visit_forget(cache);
	insn = &cache->insn[cache->used];
	stretch->rip = rip;
	stretch->visits = 0;
	stretch->edge = near_edge(rip);
	stretch->first = cache->used;
	stretch->n = stretch->edge ? read_edge(cache, rip, insn) :
		(u8)read_insns(cache, rip, insn);
	if (!stretch->n)
		return NULL;
	sum_up(stretch, insn);
	cache->used += stretch->n;
	return stretch;
}

static unsigned number_of(u64 rip)
{
	return (unsigned)(rip * 0x9e3779b97f4a7c15ULL >> 32) % VISIT_STRETCHES;
}

static struct visit_stretch *find(struct visit_cache *cache, u64 rip)
{
	struct visit_stretch *stretch = &cache->stretch[number_of(rip)];

	return stretch->n && stretch->rip == rip ? stretch : make(cache, stretch, rip);
}

bool visit_wants(const struct visit_cache *cache, u64 rip)
{
	const struct visit_stretch *stretch = &cache->stretch[number_of(rip)];

	return !stretch->n || stretch->rip != rip || stretch->visits < cache->enough;
}

static void count(struct visit_cache *cache, const struct visit_stretch *stretch, unsigned n)
{
	const struct visit_insn *insn = &cache->insn[stretch->first];
	struct model_events *events = &cache->events;

	events->instructions += n;
	if (n == stretch->n) {
		events->loads += stretch->loads;
		events->stores += stretch->stores;
		events->branches[stretch->branch]++;
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		events->loads += insn[i].head.loads;
		events->stores += insn[i].head.stores;
	}
}

/* So many instructions of a stretch at most: how many. */
static unsigned run_stretch(struct visit_cache *cache, const struct visit_stretch *stretch,
			    unsigned n)
{
	const struct visit_insn *insn = &cache->insn[stretch->first];
	u8 bytes[CODE_FIELDS_ROOM] = { 0 };
	const u8 *text = bytes;

	if (stretch->edge) {
		if (!text_beyond(cache, stretch->rip, insn->head.length, bytes))
			return 0;
	} else {
		text = text_at(cache, stretch->rip);
		if (!text)
			return 0;
	}
	return visit_carry_out(cache, insn, n, text);
}

u64 visit_run(struct visit_cache *cache, u64 gpr[REG_COUNT], u64 *rip, u64 *rflags, u64 most)
{
	u64 left = most;
	bool again = false;

	visit_forget_pages(cache);
	cache->events = (struct model_events){ 0 };
	cache->changed = false;
	for (unsigned i = 0; i < REG_COUNT; i++)
		cache->r.gpr[i] = gpr[i];
	cache->r.zero = 0;
	cache->rip = *rip;
	cache->flags = *rflags & FLAGS;
	while (left && most - left < VISIT_LONG) {
		struct visit_stretch *stretch = find(cache, cache->rip);
		unsigned n, done;

		if (!stretch || (!cache->tells && stretch->visits >= cache->enough))
			break;
		if (!cache->tells)
			stretch->visits = (u16)(stretch->visits +
						(left == most ? FROM_ELSEWHERE : 1));
		n = left < stretch->n ? (unsigned)left : stretch->n;
		done = run_stretch(cache, stretch, n);
		count(cache, stretch, done);
		left -= done;
		if (done == n) {
			again = false;
			continue;
		}
		/* Other bytes than those that it was made from: look at them. */
		if (!cache->changed || (!done && again))
			break;
		cache->changed = false;
		stretch->n = 0;
		again = !done;
	}
	for (unsigned i = 0; i < REG_COUNT; i++)
		gpr[i] = cache->r.gpr[i];
	*rip = cache->rip;
	*rflags = (*rflags & ~FLAGS) | cache->flags;
	return most - left;
}
