/* SPDX-License-Identifier: MIT */
/*
 * See model_memory.h. Lines are physical addresses over 64. A private cache's entry has a state
 * of MODIFIED or none; an L3's entry says which processors of its package may hold the line, and
 * whether memory is older than it.
 *
 * Rules that hold after every call: a line in a private cache is in its package's L3, with the
 * processor's bit set; a modified line is in no other processor's cache, and in one L3 only.
 */
#include "refpmu/model_memory.h"

#define MODIFIED	BIT(0)		/* private caches */
#define MAY_HOLD(core)	((u8)(BIT(0) << (core) % MEMORY_PER_PACKAGE))	/* L3 */
#define HOLDERS		((u8)(BIT(MEMORY_PER_PACKAGE) - 1))
#define NEWER		BIT(7)

#define GLOBAL_PAGE	BIT(0)		/* TLBs */
#define LONG_ENOUGH	10000000	/* tries to enter; the longest stay is a flush */

#define PAGE_4K		12
#define PHYSICAL	BITS(0, 51)	/* addresses have no more bits */


struct memory_shape memory_usual_shape(void)
{
	return (struct memory_shape){
		.l1_sets = 64, .l2_sets = 512, .l3_sets = 1024,
		.dtlb_sets = 16, .stlb_sets = 128,
		.replacement = SETS_LEAST_USED,
		.clean_forward = true,
		.fill_window = 8,
		.latency = {
			[SOURCE_L1] = MEMORY_LEAST_LATENCY,
			[SOURCE_LFB] = 8,
			[SOURCE_L2] = 12,
			[SOURCE_L3] = 36,
			[SOURCE_L3_SNOOP_MISS] = 44,
			[SOURCE_L3_SNOOP_HIT] = 56,
			[SOURCE_L3_HITM] = 72,
			[SOURCE_REMOTE_CACHE] = 170,
			[SOURCE_REMOTE_HITM] = 280,
			[SOURCE_LOCAL_SHARED] = 200,
			[SOURCE_REMOTE_SHARED] = 310,
			[SOURCE_LOCAL_EXCLUSIVE] = 200,
			[SOURCE_REMOTE_EXCLUSIVE] = 310,
			[SOURCE_IO] = 600,
			[SOURCE_UNCACHED] = 260,
		},
		.stlb_latency = 7, .walk_latency = 30,
		.split_latency = 6, .lock_latency = 14,
	};
}

static bool power_of_two(u32 n)
{
	return n && !(n & (n - 1));
}

bool memory_shape_fits(const struct memory_shape *s)
{
	for (unsigned i = 0; i < MEMORY_SOURCES; i++)
		if (s->latency[i] < MEMORY_LEAST_LATENCY)
			return false;
	return power_of_two(s->l1_sets) && s->l1_sets * MEMORY_L1_WAYS <= MEMORY_L1_MOST &&
	       power_of_two(s->l2_sets) && s->l2_sets * MEMORY_L2_WAYS <= MEMORY_L2_MOST &&
	       power_of_two(s->l3_sets) && s->l3_sets * MEMORY_L3_WAYS <= MEMORY_L3_MOST &&
	       power_of_two(s->dtlb_sets) && s->dtlb_sets * MEMORY_TLB_WAYS <= MEMORY_DTLB_MOST &&
	       power_of_two(s->stlb_sets) && s->stlb_sets * MEMORY_TLB_WAYS <= MEMORY_STLB_MOST &&
	       s->replacement < SETS_REPLACEMENTS;
}

void memory_reset(struct memory *memory, const struct memory_shape *shape, u64 seed)
{
	/* Most tests never come here with anything in it, and it is large. */
	if (memory->touched)
		__builtin_memset(memory, 0, offsetof(struct memory, busy));
	memory->shape = *shape;
	memory->random = seed;
	memory->remote_base = memory->remote_size = 0;
}

void memory_enter(struct memory *memory)
{
	for (u32 i = 0; i < LONG_ENOUGH && __atomic_test_and_set(&memory->busy, __ATOMIC_ACQUIRE);)
		i++;
}

void memory_leave(struct memory *memory)
{
	__atomic_clear(&memory->busy, __ATOMIC_RELEASE);
}

/* Any generator that gives the same sequence everywhere. */
static u64 chance(struct memory *memory)
{
	memory->random = memory->random * 6364136223846793005 + 1442695040888963407;
	return memory->random >> 33;
}

static u64 line_of(u64 physical)
{
	return (physical & PHYSICAL) / MEMORY_LINE;
}

static unsigned package_of(unsigned core)
{
	return core / MEMORY_PER_PACKAGE;
}

/* ---- the tables ---- */

static struct model_sets l1_of(struct memory *memory, unsigned core)
{
	return (struct model_sets){ memory->core[core].l1, memory->shape.l1_sets, MEMORY_L1_WAYS,
				    memory->shape.replacement };
}

static struct model_sets l2_of(struct memory *memory, unsigned core)
{
	return (struct model_sets){ memory->core[core].l2, memory->shape.l2_sets, MEMORY_L2_WAYS,
				    memory->shape.replacement };
}

static struct model_sets l3_of(struct memory *memory, unsigned package)
{
	return (struct model_sets){ memory->l3[package], memory->shape.l3_sets, MEMORY_L3_WAYS,
				    memory->shape.replacement };
}

static struct model_sets dtlb_of(struct memory *memory, unsigned core)
{
	return (struct model_sets){ memory->core[core].dtlb, memory->shape.dtlb_sets,
				    MEMORY_TLB_WAYS, memory->shape.replacement };
}

static struct model_sets stlb_of(struct memory *memory, unsigned core)
{
	return (struct model_sets){ memory->core[core].stlb, memory->shape.stlb_sets,
				    MEMORY_TLB_WAYS, memory->shape.replacement };
}

/* ---- lines of one processor ---- */

enum held { NOT_HELD, HELD, HELD_MODIFIED };

static enum held held_by(struct memory *memory, unsigned core, u64 line)
{
	const struct model_sets l1 = l1_of(memory, core), l2 = l2_of(memory, core);
	const u64 *in_l1 = sets_look(&l1, line), *in_l2 = sets_look(&l2, line);

	if ((in_l1 && *in_l1 & MODIFIED) || (in_l2 && *in_l2 & MODIFIED))
		return HELD_MODIFIED;
	return in_l1 || in_l2 ? HELD : NOT_HELD;
}

static void stop_fill(struct memory_core *core, u64 line)
{
	for (unsigned i = 0; i < MEMORY_FILLS; i++)
		if (core->fill[i].line == line)
			core->fill[i].left = 0;
}

static void drop_private(struct memory *memory, unsigned core, u64 line)
{
	const struct model_sets l1 = l1_of(memory, core), l2 = l2_of(memory, core);

	stop_fill(&memory->core[core], line);
	sets_drop(&l1, line);
	sets_drop(&l2, line);
}

static void clean_private(struct memory *memory, unsigned core, u64 line)
{
	const struct model_sets l1 = l1_of(memory, core), l2 = l2_of(memory, core);
	u64 *in_l1 = sets_look(&l1, line), *in_l2 = sets_look(&l2, line);

	if (in_l1)
		*in_l1 &= ~MODIFIED;
	if (in_l2)
		*in_l2 &= ~MODIFIED;
}

/* A modified line has left the private caches. The L3 has it, because it includes them. */
static void write_back(struct memory *memory, unsigned core, u64 line)
{
	const struct model_sets l3 = l3_of(memory, package_of(core));
	u64 *entry = sets_look(&l3, line);

	if (entry)
		*entry |= NEWER;
}

static void fill_l2(struct memory *memory, unsigned core, u64 line, u8 state)
{
	const struct model_sets l2 = l2_of(memory, core);
	u64 *there = sets_use(&l2, line), gone;

	if (there) {
		*there |= state;
		return;
	}
	gone = sets_fill(&l2, line, state, chance(memory));
	if (gone & MODIFIED)
		write_back(memory, core, sets_key(gone));
}

static void fill_l1(struct memory *memory, unsigned core, u64 line, u8 state)
{
	const struct model_sets l1 = l1_of(memory, core);
	u64 *there = sets_use(&l1, line), gone;

	if (there) {
		*there |= state;
		return;
	}
	gone = sets_fill(&l1, line, state, chance(memory));
	if (gone & MODIFIED)
		fill_l2(memory, core, sets_key(gone), MODIFIED);
}

/* ---- lines of packages ---- */

static void fill_l3(struct memory *memory, unsigned core, u64 line)
{
	unsigned package = package_of(core), first = package * MEMORY_PER_PACKAGE;
	const struct model_sets l3 = l3_of(memory, package);
	u64 gone = sets_fill(&l3, line, MAY_HOLD(core), chance(memory));

	for (unsigned c = first; gone && c < first + MEMORY_PER_PACKAGE; c++)
		if (gone & MAY_HOLD(c))
			drop_private(memory, c, sets_key(gone));
}

/* The L3 has the line. What another processor of the package says decides. */
static enum memory_source snoop_package(struct memory *memory, unsigned core, u64 line, u64 *entry)
{
	unsigned first = package_of(core) * MEMORY_PER_PACKAGE;
	enum memory_source source = SOURCE_L3;

	for (unsigned c = first; c < first + MEMORY_PER_PACKAGE; c++) {
		if (c == core || !(*entry & MAY_HOLD(c)))
			continue;
		switch (held_by(memory, c, line)) {
		case NOT_HELD:
			*entry &= ~(u64)MAY_HOLD(c);
			if (source == SOURCE_L3)
				source = SOURCE_L3_SNOOP_MISS;
			break;
		case HELD:
			if (source != SOURCE_L3_HITM)
				source = SOURCE_L3_SNOOP_HIT;
			break;
		case HELD_MODIFIED:
			clean_private(memory, c, line);
			*entry |= NEWER;
			source = SOURCE_L3_HITM;
			break;
		}
	}
	return source;
}

static unsigned home_of(const struct memory *memory, u64 line)
{
	return line * MEMORY_LINE - memory->remote_base < memory->remote_size ? 1 : 0;
}

static enum held held_by_package(struct memory *memory, unsigned package, u64 line)
{
	const struct model_sets l3 = l3_of(memory, package);
	u64 *entry = sets_look(&l3, line);
	unsigned first = package * MEMORY_PER_PACKAGE;

	if (!entry)
		return NOT_HELD;
	for (unsigned c = first; c < first + MEMORY_PER_PACKAGE; c++)
		if (held_by(memory, c, line) == HELD_MODIFIED) {
			clean_private(memory, c, line);
			*entry |= NEWER;
		}
	if (!(*entry & NEWER))
		return HELD;
	*entry &= ~NEWER;	/* memory gets it along with the asking package */
	return HELD_MODIFIED;
}

/* The package doesn't have the line. */
static enum memory_source ask_memory(struct memory *memory, unsigned core, u64 line)
{
	unsigned package = package_of(core);
	bool local = home_of(memory, line) == package;

	switch (held_by_package(memory, !package, line)) {
	case HELD_MODIFIED:
		return SOURCE_REMOTE_HITM;
	case HELD:
		if (local && memory->shape.clean_forward)
			return SOURCE_REMOTE_CACHE;
		return local ? SOURCE_LOCAL_SHARED : SOURCE_REMOTE_SHARED;
	case NOT_HELD:
		break;
	}
	return local ? SOURCE_LOCAL_EXCLUSIVE : SOURCE_REMOTE_EXCLUSIVE;
}

static enum memory_source ask_package(struct memory *memory, unsigned core, u64 line)
{
	const struct model_sets l3 = l3_of(memory, package_of(core));
	u64 *entry = sets_use(&l3, line);
	enum memory_source source;

	if (entry) {
		source = snoop_package(memory, core, line, entry);
		*entry |= MAY_HOLD(core);
		return source;
	}
	source = ask_memory(memory, core, line);
	fill_l3(memory, core, line);
	return source;
}

/* Nobody else keeps a line that is written. */
static void own(struct memory *memory, unsigned core, u64 line)
{
	const struct model_sets here = l3_of(memory, package_of(core));
	const struct model_sets there = l3_of(memory, !package_of(core));
	u64 *entry = sets_look(&here, line);

	for (unsigned c = 0; c < MEMORY_CORES; c++)
		if (c != core)
			drop_private(memory, c, line);
	if (entry)
		*entry = (*entry & ~(u64)HOLDERS) | MAY_HOLD(core);
	sets_drop(&there, line);
}

/* ---- a line, for a processor ---- */

enum level { INTO_L1, INTO_L2 };

static struct memory_fill *fill_under_way(struct memory_core *core, u64 line)
{
	for (unsigned i = 0; i < MEMORY_FILLS; i++)
		if (core->fill[i].left && core->fill[i].line == line)
			return &core->fill[i];
	return NULL;
}

static void begin_fill(struct memory *memory, unsigned core, u64 line, u32 latency)
{
	struct memory_core *c = &memory->core[core];

	/* This instruction, and so many further ones. */
	c->fill[c->next_fill] = (struct memory_fill){
		line, memory->shape.fill_window + 1, latency,
	};
	c->next_fill = (c->next_fill + 1) % MEMORY_FILLS;
}

/* Find a line and bring it near. *latency is what finding it took. */
static enum memory_source fetch(struct memory *memory, unsigned core, u64 line, enum level level,
				bool write, u32 *latency)
{
	const struct model_sets l1 = l1_of(memory, core), l2 = l2_of(memory, core);
	const struct memory_fill *fill = fill_under_way(&memory->core[core], line);
	enum memory_source source;

	if (sets_use(&l1, line)) {
		source = fill ? SOURCE_LFB : SOURCE_L1;
	} else if (sets_use(&l2, line)) {
		source = SOURCE_L2;
	} else {
		source = ask_package(memory, core, line);
		fill_l2(memory, core, line, 0);
	}
	*latency = memory->shape.latency[source];
	/* Half of the way, on average. */
	if (source == SOURCE_LFB && fill->latency / 2 > *latency)
		*latency = fill->latency / 2;
	if (level == INTO_L1)
		fill_l1(memory, core, line, write ? MODIFIED : 0);
	if (write)
		own(memory, core, line);
	return source;
}

enum memory_source memory_touch(struct memory *memory, unsigned core, u64 physical, bool store)
{
	u32 latency;

	memory->touched = true;
	return fetch(memory, core, line_of(physical), INTO_L1, store, &latency);
}

/* ---- pages ---- */

static struct memory_page page_of(const struct memory_tables *tables, u64 linear)
{
	struct memory_page page;

	if (tables->translate && tables->translate(tables->ctx, linear, &page))
		return page;
	return (struct memory_page){ .physical = linear, .bits = PAGE_4K };
}

static u64 tlb_key(u64 linear, u8 bits)
{
	/* The size in the highest bits: pages of different sizes are different ones. */
	return (linear << 16 >> 16 >> bits) | (u64)(bits - PAGE_4K) << 40;
}

static void translate(struct memory *memory, unsigned core, u64 linear,
		      const struct memory_page *page, struct memory_result *outcome)
{
	const struct model_sets dtlb = dtlb_of(memory, core), stlb = stlb_of(memory, core);
	u64 key = tlb_key(linear, page->bits);
	u8 state = page->global ? GLOBAL_PAGE : 0;

	if (sets_use(&dtlb, key))
		return;
	outcome->dtlb_miss = true;
	if (!sets_use(&stlb, key)) {
		outcome->stlb_miss = true;
		sets_fill(&stlb, key, state, chance(memory));
	}
	sets_fill(&dtlb, key, state, chance(memory));
}

static void drop_page(struct memory *memory, unsigned core, u64 linear)
{
	static const u8 sizes[] = { PAGE_4K, 21, 30 };
	const struct model_sets dtlb = dtlb_of(memory, core), stlb = stlb_of(memory, core);

	for (unsigned i = 0; i < sizeof(sizes); i++) {
		sets_drop(&dtlb, tlb_key(linear, sizes[i]));
		sets_drop(&stlb, tlb_key(linear, sizes[i]));
	}
}

static void drop_pages(const struct model_sets *tlb, bool global_too)
{
	for (u32 i = 0; i < tlb->sets * tlb->ways; i++)
		while (tlb->entry[i] && (global_too || !(tlb->entry[i] & GLOBAL_PAGE)))
			sets_drop(tlb, sets_key(tlb->entry[i]));
}

/* ---- accesses ---- */

/* One line's part of an access; the outcome gathers the farthest. */
static void access_line(struct memory *memory, unsigned core, const struct memory_tables *tables,
			u64 linear, bool store, struct memory_result *outcome)
{
	const struct memory_page page = page_of(tables, linear);
	enum memory_source source;
	u32 latency;

	translate(memory, core, linear, &page, outcome);
	if (page.type != MEMORY_WRITE_BACK) {
		source = page.type == MEMORY_IO ? SOURCE_IO : SOURCE_UNCACHED;
		latency = memory->shape.latency[source];
	} else {
		u64 line = line_of(page.physical);

		source = fetch(memory, core, line, INTO_L1, store, &latency);
		/* Stores wait in their buffer, and loads behind them are served from there. */
		if (source > SOURCE_LFB && !store)
			begin_fill(memory, core, line, latency);
	}
	if (latency >= outcome->latency) {
		outcome->source = (u8)source;
		outcome->latency = latency;
	}
	outcome->l1_hit = outcome->l1_hit && source == SOURCE_L1;
}

static void drain(struct memory_core *core)
{
	for (unsigned i = 0; i < MEMORY_FILLS; i++)
		core->fill[i].left = 0;
}

struct memory_result memory_access(struct memory *memory, unsigned core,
				    const struct memory_tables *tables, u64 linear, unsigned bytes,
				    bool store, bool locked)
{
	const struct memory_shape *shape = &memory->shape;
	u64 last = linear + (bytes ? bytes - 1 : 0);
	struct memory_result outcome = {
		.l1_hit = true, .split = linear / MEMORY_LINE != last / MEMORY_LINE,
	};

	memory->touched = true;
	if (locked)
		drain(&memory->core[core]);
	/* A locked load fetches its line to be written. */
	for (u64 at = linear; ; at = (at | (MEMORY_LINE - 1)) + 1) {
		access_line(memory, core, tables, at, store || locked, &outcome);
		if (at / MEMORY_LINE == last / MEMORY_LINE)
			break;
	}
	if (outcome.stlb_miss)
		outcome.latency += shape->walk_latency;
	else if (outcome.dtlb_miss)
		outcome.latency += shape->stlb_latency;
	if (outcome.split)
		outcome.latency += shape->split_latency;
	if (locked)
		outcome.latency += shape->lock_latency;
	if (shape->spread)
		outcome.latency += (u32)(chance(memory) % (shape->spread + 1));
	return outcome;
}

void memory_tick(struct memory *memory, unsigned core)
{
	struct memory_core *c = &memory->core[core];

	for (unsigned i = 0; i < MEMORY_FILLS; i++)
		if (c->fill[i].left)
			c->fill[i].left--;
}

static void flush_line(struct memory *memory, u64 line)
{
	for (unsigned c = 0; c < MEMORY_CORES; c++)
		drop_private(memory, c, line);
	for (unsigned p = 0; p < MEMORY_PACKAGES; p++) {
		const struct model_sets l3 = l3_of(memory, p);

		sets_drop(&l3, line);
	}
}

static void clean_line(struct memory *memory, u64 line)
{
	for (unsigned c = 0; c < MEMORY_CORES; c++)
		clean_private(memory, c, line);
	for (unsigned p = 0; p < MEMORY_PACKAGES; p++) {
		const struct model_sets l3 = l3_of(memory, p);
		u64 *entry = sets_look(&l3, line);

		if (entry)
			*entry &= ~NEWER;
	}
}

static void flush_package(struct memory *memory, unsigned package)
{
	unsigned first = package * MEMORY_PER_PACKAGE;

	for (unsigned c = first; c < first + MEMORY_PER_PACKAGE; c++) {
		struct memory_core *core = &memory->core[c];

		__builtin_memset(core->l1, 0, sizeof(core->l1));
		__builtin_memset(core->l2, 0, sizeof(core->l2));
		drain(core);
	}
	__builtin_memset(memory->l3[package], 0, sizeof(memory->l3[package]));
}

static void prefetch(struct memory *memory, unsigned core, const struct memory_tables *tables,
		     enum memory_act act, u64 linear)
{
	const struct memory_page page = page_of(tables, linear);
	u64 line = line_of(page.physical);
	enum level level = act == ACT_PREFETCH_L2 ? INTO_L2 : INTO_L1;
	struct memory_result ignored = { 0 };
	enum memory_source source;
	u32 latency;

	if (page.type != MEMORY_WRITE_BACK)
		return;
	translate(memory, core, linear, &page, &ignored);
	source = fetch(memory, core, line, level, act == ACT_PREFETCH_OWN, &latency);
	if (source > SOURCE_LFB && level == INTO_L1)
		begin_fill(memory, core, line, latency);
}

void memory_act(struct memory *memory, unsigned core, const struct memory_tables *tables,
		enum memory_act act, u64 linear)
{
	const struct model_sets dtlb = dtlb_of(memory, core), stlb = stlb_of(memory, core);

	memory->touched = true;
	switch (act) {
	case ACT_PREFETCH_L1:
	case ACT_PREFETCH_L2:
	case ACT_PREFETCH_OWN:
		prefetch(memory, core, tables, act, linear);
		break;
	case ACT_FLUSH_LINE:
		flush_line(memory, line_of(page_of(tables, linear).physical));
		break;
	case ACT_CLEAN_LINE:
		clean_line(memory, line_of(page_of(tables, linear).physical));
		break;
	case ACT_FLUSH_ALL:
		flush_package(memory, package_of(core));
		break;
	case ACT_DRAIN:
		drain(&memory->core[core]);
		break;
	case ACT_INVALIDATE_PAGE:
		drop_page(memory, core, linear);
		break;
	case ACT_LOAD_CR3:
	case ACT_FLUSH_TLB:
		drop_pages(&dtlb, act == ACT_FLUSH_TLB);
		drop_pages(&stlb, act == ACT_FLUSH_TLB);
		drain(&memory->core[core]);
		break;
	case ACT_NONE:
	case MEMORY_ACTS:
		break;
	}
}

void memory_forget(struct memory *memory, unsigned core)
{
	unsigned package = package_of(core);
	struct memory_core *c = &memory->core[core];
	const struct model_sets l3 = l3_of(memory, package);

	if (!memory->touched)
		return;
	__builtin_memset(c, 0, sizeof(*c));
	/* Lines that only this processor had; the entries behind a dropped one move up. */
	for (u32 i = 0; i < l3.sets * l3.ways; i++)
		while (l3.entry[i] && !(l3.entry[i] & HOLDERS & ~(u64)MAY_HOLD(core)))
			sets_drop(&l3, sets_key(l3.entry[i]));
}
