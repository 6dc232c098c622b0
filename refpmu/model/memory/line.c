/* SPDX-License-Identifier: MIT */
/*
 * See line.h. The state of an entry in a private cache is MODIFIED or nothing. An entry in an L3
 * says which processors of its package may hold the line, and whether memory is out of date.
 *
 * Rules that hold after every call: a line in a private cache is in its package's L3, with the
 * processor's bit set; a modified line is in no other processor's cache, and in one L3 only.
 */
#include "refpmu/model/memory/line.h"

#define MODIFIED	BIT(0)		/* private caches */
/* L3: a bit for each core of the package, by the core's number as in struct memory. */
#define MAY_HOLD(core)	BIT(core)
#define HOLDERS		BITS(0, MEMORY_CORES - 1)
#define NEWER		BIT(SETS_STATE_BITS - 1)

_Static_assert(MEMORY_CORES < SETS_STATE_BITS, "a bit for each core and one more");

/* Any generator will do that has the same sequence on every machine. */
u64 memory_chance(struct memory *memory)
{
	memory->random = memory->random * 6364136223846793005 + 1442695040888963407;
	return memory->random >> 33;
}

static unsigned package_of(unsigned core)
{
	return core >= MEMORY_REMOTE;
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
			core->fill[i] = (struct memory_fill){ 0 };
}

void memory_drop_private(struct memory *memory, unsigned core, u64 line)
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

/* A modified line leaves the private caches. The L3 has it, because the L3 is inclusive. */
static void write_back(struct memory *memory, unsigned core, u64 line)
{
	const struct model_sets l3 = l3_of(memory, package_of(core));
	u64 *entry = sets_look(&l3, line);

	if (entry)
		*entry |= NEWER;
}

/* Put the line into one cache. Returns the line that was evicted; 0: none. */
static u64 memory_line_put(struct memory *memory, const struct model_sets *cache, u64 line,
			   u8 state)
{
	u64 *there = sets_use(cache, line);

	if (!there)
		return sets_fill(cache, line, state, memory_chance(memory));
	*there |= state;
	return 0;
}

static void fill_l2(struct memory *memory, unsigned core, u64 line, u8 state)
{
	const struct model_sets l2 = l2_of(memory, core);
	u64 gone = memory_line_put(memory, &l2, line, state);

	if (gone & MODIFIED)
		write_back(memory, core, sets_key(gone));
}

static void fill_l1(struct memory *memory, unsigned core, u64 line, u8 state)
{
	const struct model_sets l1 = l1_of(memory, core);
	u64 gone = memory_line_put(memory, &l1, line, state);

	if (gone & MODIFIED)
		fill_l2(memory, core, sets_key(gone), MODIFIED);
}

/* ---- lines of packages ---- */

static void fill_l3(struct memory *memory, unsigned core, u64 line)
{
	const struct model_sets l3 = l3_of(memory, package_of(core));
	u64 gone = sets_fill(&l3, line, (u32)MAY_HOLD(core), memory_chance(memory));

	for (u64 left = gone & HOLDERS; left; left &= left - 1)
		memory_drop_private(memory, (unsigned)__builtin_ctzll(left), sets_key(gone));
}

/* Table 18-24: 04H no snoop, 05H a clean copy in another core, 06H a modified one (HITM). The L3
 * has the line, and the answer of another processor of the package decides the source. */
static enum memory_source snoop_package(struct memory *memory, unsigned core, u64 line, u64 *entry)
{
	enum memory_source source = SOURCE_L3;

	for (u64 left = *entry & HOLDERS & ~MAY_HOLD(core); left; left &= left - 1) {
		unsigned c = (unsigned)__builtin_ctzll(left);

		switch (held_by(memory, c, line)) {
		case NOT_HELD:
			*entry &= ~MAY_HOLD(c);
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

/* Table 18-24: "local" memory is attached to the package of the core that loads. */
static unsigned home_of(const struct memory *memory, u64 line)
{
	return line * MEMORY_LINE - memory->remote_base < memory->remote_size ? 1 : 0;
}

static enum held held_by_package(struct memory *memory, unsigned package, u64 line)
{
	const struct model_sets l3 = l3_of(memory, package);
	u64 *entry = sets_look(&l3, line);

	if (!entry)
		return NOT_HELD;
	for (u64 left = *entry & HOLDERS; left; left &= left - 1) {
		unsigned c = (unsigned)__builtin_ctzll(left);

		if (held_by(memory, c, line) == HELD_MODIFIED) {
			clean_private(memory, c, line);
			*entry |= NEWER;
		}
	}
	if (!(*entry & NEWER))
		return HELD;
	*entry &= ~NEWER;	/* memory is written together with the answer */
	return HELD_MODIFIED;
}

/*
 * Table 18-24: 08H forwarded from another package without a modified copy, for the local home;
 * 0AH to 0DH memory by home and by shared or exclusive state. The package doesn't have the line.
 */
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

/* Drop the line from the private caches of all cores that the package's L3 names, without those in
 * `except`. */
static u64 *drop_from(struct memory *memory, unsigned package, u64 line, u64 except)
{
	const struct model_sets l3 = l3_of(memory, package);
	u64 *entry = sets_look(&l3, line);

	for (u64 left = entry ? *entry & HOLDERS & ~except : 0; left; left &= left - 1)
		memory_drop_private(memory, (unsigned)__builtin_ctzll(left), line);
	return entry;
}

/* A line that is written is in no other cache. */
static void own(struct memory *memory, unsigned core, u64 line)
{
	const struct model_sets there = l3_of(memory, !package_of(core));
	u64 *entry = drop_from(memory, package_of(core), line, MAY_HOLD(core));

	if (entry)
		*entry = (*entry & ~HOLDERS) | MAY_HOLD(core);
	drop_from(memory, !package_of(core), line, 0);
	sets_drop(&there, line);
}

/* ---- a line, for a processor ---- */

/* Table 18-24, 02H: a miss of the same line was already outstanding. */
static struct memory_fill *fill_under_way(struct memory_core *core, u64 line)
{
	for (unsigned i = 0; i < MEMORY_FILLS; i++)
		if (core->fill[i].left && core->fill[i].line == line)
			return &core->fill[i];
	return NULL;
}

/* The next buffer in turn, without a buffer that waits. */
static struct memory_fill *free_fill(struct memory_core *core)
{
	struct memory_fill *fill;

	do {
		fill = &core->fill[core->next_fill];
		core->next_fill = (core->next_fill + 1) % MEMORY_FILLS;
	} while (fill->waits);
	return fill;
}

void memory_begin_fill(struct memory *memory, unsigned core, u64 line, u32 latency)
{
	/* The fill lasts for this instruction and so many more. */
	*free_fill(&memory->core[core]) = (struct memory_fill){
		.line = line, .left = memory->shape.fill_window + 1, .latency = latency,
	};
}

void memory_begin_waiting_fill(struct memory *memory, unsigned core, u64 line, u32 latency)
{
	struct memory_core *c = &memory->core[core];

	for (unsigned i = 0; i < MEMORY_FILLS; i++)
		if (c->fill[i].waits)
			c->fill[i] = (struct memory_fill){ 0 };
	*free_fill(c) = (struct memory_fill){
		.line = line, .waits = true, .left = 1, .latency = latency,
	};
}

/* Table 18-24: the source of the data, by the nearest place that has the line. The times are the
 * model's own (memory.h). */
enum memory_source memory_fetch(struct memory *memory, unsigned core, u64 line,
				enum memory_level level, bool write, u32 *latency)
{
	const struct model_sets l1 = l1_of(memory, core), l2 = l2_of(memory, core);
	struct memory_fill *fill = fill_under_way(&memory->core[core], line);
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
	/* On average half of the latency has passed. */
	if (source == SOURCE_LFB && fill->latency / 2 > *latency)
		*latency = fill->latency / 2;
	if (fill && fill->waits)
		*fill = (struct memory_fill){ 0 };
	if (level == MEMORY_INTO_L1)
		fill_l1(memory, core, line, write ? MODIFIED : 0);
	if (write)
		own(memory, core, line);
	return source;
}

enum memory_source memory_touch(struct memory *memory, unsigned core, u64 physical, bool store)
{
	u32 latency;

	memory->touched |= (u32)BIT(core);
	return memory_fetch(memory, core, memory_line(physical), MEMORY_INTO_L1, store, &latency);
}

/* ---- a line, or all, in all caches ---- */

void memory_drain(struct memory_core *core)
{
	for (unsigned i = 0; i < MEMORY_FILLS; i++)
		if (!core->fill[i].waits)
			core->fill[i].left = 0;
}

void memory_nobody_holds(struct memory *memory, unsigned core, u64 line)
{
	const struct model_sets l3 = l3_of(memory, package_of(core));
	u64 *entry = sets_look(&l3, line);

	if (entry)
		*entry &= ~HOLDERS;
}

void memory_flush_line(struct memory *memory, u64 line)
{
	for (unsigned p = 0; p < MEMORY_PACKAGES; p++) {
		const struct model_sets l3 = l3_of(memory, p);

		drop_from(memory, p, line, 0);
		sets_drop(&l3, line);
	}
}

void memory_clean_line(struct memory *memory, u64 line)
{
	for (unsigned p = 0; p < MEMORY_PACKAGES; p++) {
		const struct model_sets l3 = l3_of(memory, p);
		u64 *entry = sets_look(&l3, line);

		if (!entry)
			continue;
		for (u64 left = *entry & HOLDERS; left; left &= left - 1)
			clean_private(memory, (unsigned)__builtin_ctzll(left), line);
		*entry &= ~NEWER;
	}
}

void memory_flush_package(struct memory *memory, unsigned core)
{
	unsigned package = package_of(core);

	for (u32 left = memory->touched; left; left &= left - 1) {
		unsigned c = (unsigned)__builtin_ctz(left);
		struct memory_core *one = &memory->core[c];

		if (package_of(c) != package)
			continue;
		__builtin_memset(one->l1, 0, sizeof(one->l1));
		__builtin_memset(one->l2, 0, sizeof(one->l2));
		__builtin_memset(one->fill, 0, sizeof(one->fill));
	}
	__builtin_memset(memory->l3[package], 0, sizeof(memory->l3[package]));
}

void memory_forget(struct memory *memory, unsigned core)
{
	const struct model_sets l3 = l3_of(memory, package_of(core));
	const u32 n = l3.sets * l3.ways;

	if (!(memory->touched & BIT(core)))
		return;
	memory->core[core] = (struct memory_core){ 0 };
	/* Drop lines that only this processor had; the entries after a dropped one move up. */
	for (u32 i = 0; i < n; i++) {
		if (!l3.entry[i])	/* quickly: most are 0 */
			continue;
		while (l3.entry[i] && !(l3.entry[i] & HOLDERS & ~MAY_HOLD(core)))
			sets_drop(&l3, sets_key(l3.entry[i]));
	}
}
