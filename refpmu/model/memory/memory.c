/* SPDX-License-Identifier: MIT */
/* See memory.h: this file has pages and TLBs, and accesses; line.c has the lines. */
#include "refpmu/model/memory/line.h"

#define GLOBAL_PAGE	BIT(0)		/* TLBs */
#define LONG_ENOUGH	10000000	/* tries to enter; the longest operation is a flush */

#define PAGE_4K		12

/* "... the minimum detectable load latency is 4 core clock cycles". All other numbers are the
 * model's own. */
struct memory_shape memory_usual_shape(void)
{
	return (struct memory_shape){
		.l1_sets = 64, .l2_sets = 512, .l3_sets = 4096,
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

void memory_reset(struct memory *memory, const struct memory_shape *shape, u64 seed)
{
	/* Clear only what was used: in most tests that is nothing, and the memory is large. */
	for (u32 left = memory->touched; left; left &= left - 1)
		memory->core[__builtin_ctz(left)] = (struct memory_core){ 0 };
	if (memory->touched)
		__builtin_memset(memory->l3, 0, sizeof(memory->l3));
	memory->touched = 0;
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

/* ---- pages ---- */

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

static struct memory_page page_of(const struct memory_tables *tables, u64 linear)
{
	struct memory_page page;

	if (tables->translate && tables->translate(tables->ctx, linear, &page))
		return page;
	return (struct memory_page){ .physical = linear, .bits = PAGE_4K };
}

static u64 tlb_key(u64 linear, u8 bits)
{
	/* The highest bits have the page size: pages of different sizes are different entries. */
	return (linear << 16 >> 16 >> bits) | (u64)(bits - PAGE_4K) / 9 << 36;
}

/* Table 18-33, STLB_MISS: "The load did not miss the STLB (hit the DTLB or STLB)", or it "missed
 * the STLB". */
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
		sets_fill(&stlb, key, state, memory_chance(memory));
	}
	sets_fill(&dtlb, key, state, memory_chance(memory));
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

/* The part of an access in one line; the outcome keeps the farthest source. Table 18-24: 0EH is
 * I/O, and 0FH is uncacheable memory. */
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
		u64 line = memory_line(page.physical);

		source = memory_fetch(memory, core, line, MEMORY_INTO_L1, store, &latency);
		/* Stores wait in the store buffer, and later loads take their data from there. */
		if (source > SOURCE_LFB && !store)
			memory_begin_fill(memory, core, line, latency);
	}
	if (latency >= outcome->latency) {
		outcome->source = (u8)source;
		outcome->latency = latency;
	}
	outcome->l1_hit = outcome->l1_hit && source == SOURCE_L1;
}

/*
 * "Load Latency Performance Monitoring Facility": the latency is "from load's first dispatch of
 * till final data writeback from the memory subsystem". It "accounts for re-dispatches". Table
 * 18-33: "The load was part of a locked transaction."
 */
struct memory_result memory_access(struct memory *memory, unsigned core,
				   const struct memory_tables *tables, u64 linear, unsigned bytes,
				   bool store, bool locked)
{
	const struct memory_shape *shape = &memory->shape;
	u64 last = linear + (bytes ? bytes - 1 : 0);
	struct memory_result outcome = {
		.l1_hit = true, .split = linear / MEMORY_LINE != last / MEMORY_LINE,
	};

	memory->touched |= (u32)BIT(core);
	if (locked)
		memory_drain(&memory->core[core]);
	/* A locked load fetches its line for a write. */
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
		outcome.latency += (u32)(memory_chance(memory) % (shape->spread + 1));
	return outcome;
}

void memory_tick(struct memory *memory, unsigned core)
{
	struct memory_core *c = &memory->core[core];

	for (unsigned i = 0; i < MEMORY_FILLS; i++)
		if (c->fill[i].left && !c->fill[i].waits)
			c->fill[i].left--;
}

static void prefetch(struct memory *memory, unsigned core, const struct memory_tables *tables,
		     enum memory_act act, u64 linear)
{
	const struct memory_page page = page_of(tables, linear);
	u64 line = memory_line(page.physical);
	enum memory_level level = act == ACT_PREFETCH_L2 ? MEMORY_INTO_L2 : MEMORY_INTO_L1;
	struct memory_result ignored = { 0 };
	enum memory_source source;
	u32 latency;

	if (page.type != MEMORY_WRITE_BACK)
		return;
	translate(memory, core, linear, &page, &ignored);
	source = memory_fetch(memory, core, line, level, act == ACT_PREFETCH_OWN, &latency);
	if (source > SOURCE_LFB && level == MEMORY_INTO_L1)
		memory_begin_fill(memory, core, line, latency);
}

void memory_act(struct memory *memory, unsigned core, const struct memory_tables *tables,
		enum memory_act act, u64 linear)
{
	const struct model_sets dtlb = dtlb_of(memory, core), stlb = stlb_of(memory, core);

	memory->touched |= (u32)BIT(core);
	switch (act) {
	case ACT_PREFETCH_L1:
	case ACT_PREFETCH_L2:
	case ACT_PREFETCH_OWN:
		prefetch(memory, core, tables, act, linear);
		break;
	case ACT_FLUSH_LINE:
		memory_flush_line(memory, memory_line(page_of(tables, linear).physical));
		break;
	case ACT_CLEAN_LINE:
		memory_clean_line(memory, memory_line(page_of(tables, linear).physical));
		break;
	case ACT_FLUSH_ALL:
		memory_flush_package(memory, core);
		break;
	case ACT_DRAIN:
		memory_drain(&memory->core[core]);
		break;
	case ACT_INVALIDATE_PAGE:
		drop_page(memory, core, linear);
		break;
	case ACT_LOAD_CR3:
	case ACT_FLUSH_TLB:
		drop_pages(&dtlb, act == ACT_FLUSH_TLB);
		drop_pages(&stlb, act == ACT_FLUSH_TLB);
		memory_drain(&memory->core[core]);
		break;
	case ACT_NONE:
	case MEMORY_ACTS:
		break;
	}
}
