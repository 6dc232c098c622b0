/* SPDX-License-Identifier: MIT */
/*
 * A memory hierarchy, small and deterministic: per core an L1 data cache, an L2, line fill buffers,
 * a DTLB and an STLB; per package an inclusive L3 that knows which of its cores may hold a line;
 * memory at two homes. For each access it reports the source of the data, whether the TLBs hit, and
 * the latency. "Load Latency Performance Monitoring Facility" and Table 18-24 define the possible
 * reports. No manual defines how a processor arrives at them, so sizes, latencies and replacement
 * (the shape) are drawn from the seed.
 *
 * Time is measured in retired instructions of the core. A line that is being fetched is on its way
 * for the next fill_window instructions, and a load of it hits a fill buffer.
 *
 * One struct memory is shared by all processors; two threads of a core are one core here. The
 * processors presented are all in package 0, which has a further core that runs no program
 * (MEMORY_NEIGHBOUR); package 1 has one such core. These two cores hold lines only on request, by
 * memory_place(). Not handled: instruction fetches, page tables as data, hardware prefetchers,
 * non-temporal stores (plain stores here).
 */
#ifndef REFPMU_MODEL_MEMORY_MEMORY_H
#define REFPMU_MODEL_MEMORY_MEMORY_H

#include "refpmu/model/memory/sets.h"
#include "spec/exerciser.h"

#define MEMORY_LINE		64
#define MEMORY_PROGRAMS		16	/* cores that may run programs, from 0 on */
#define MEMORY_NEIGHBOUR	MEMORY_PROGRAMS
#define MEMORY_REMOTE		(MEMORY_NEIGHBOUR + 1)	/* the core of package 1 */
#define MEMORY_CORES		(MEMORY_REMOTE + 1)
#define MEMORY_PACKAGES		2
#define MEMORY_FILLS		10	/* line fill buffers of a core */

#define MEMORY_L1_WAYS		8
#define MEMORY_L2_WAYS		8
#define MEMORY_L3_WAYS		16
#define MEMORY_TLB_WAYS		4

/* The largest tables, in entries; the shape may use less of them. */
#define MEMORY_L1_MOST		512
#define MEMORY_L2_MOST		4096
#define MEMORY_L3_MOST		65536
#define MEMORY_DTLB_MOST	64
#define MEMORY_STLB_MOST	1536

/* The source of an access's data, nearest first. */
enum memory_source {
	SOURCE_L1,
	SOURCE_LFB,		/* the line was on its way already */
	SOURCE_L2,
	SOURCE_L3,		/* no other core of the package may have it */
	SOURCE_L3_SNOOP_MISS,	/* one might have, but hasn't */
	SOURCE_L3_SNOOP_HIT,	/* one has it, unmodified */
	SOURCE_L3_HITM,		/* one has it, modified */
	SOURCE_REMOTE_CACHE,	/* of the other package, unmodified */
	SOURCE_REMOTE_HITM,
	SOURCE_LOCAL_SHARED,	/* memory; the other package has the line too */
	SOURCE_REMOTE_SHARED,
	SOURCE_LOCAL_EXCLUSIVE,
	SOURCE_REMOTE_EXCLUSIVE,
	SOURCE_IO,
	SOURCE_UNCACHED,
	MEMORY_SOURCES
};

struct memory_shape {
	u32 l1_sets, l2_sets, l3_sets;	/* powers of two */
	u32 dtlb_sets, stlb_sets;
	u8 replacement;			/* enum sets_replacement, of caches and TLBs alike */
	bool clean_forward;		/* the other package's clean line comes from there */
	u32 fill_window;		/* retired instructions */
	u32 latency[MEMORY_SOURCES];	/* core cycles */
	u32 stlb_latency, walk_latency;	/* on top, for a hit in the STLB and for a miss */
	u32 split_latency, lock_latency;
	u32 spread;			/* bound of what each access may take longer */
};

/* The smallest latency there is: "the minimum detectable load latency is 4 core clock cycles". */
#define MEMORY_LEAST_LATENCY	4

enum memory_type { MEMORY_WRITE_BACK, MEMORY_UNCACHED, MEMORY_IO };

/* The translation of a linear address. */
struct memory_page {
	u64 physical;		/* of the byte itself */
	u8 bits;		/* of the page's size: 12, 21, 30 */
	u8 type;		/* enum memory_type */
	bool global;		/* outlives a load of CR3 */
};

/* The current page tables. false: not mapped. This can happen for a retired access only if the
 * instruction itself removed the page; the address then counts as mapped to itself. */
struct memory_tables {
	bool (*translate)(void *ctx, u64 linear, struct memory_page *page);
	void *ctx;
};

struct memory_result {
	u8 source;		/* enum memory_source; of a split access, the farther of the two */
	bool l1_hit;		/* found in the L1: what a store tells */
	bool dtlb_miss, stlb_miss;
	bool split;		/* touches two lines */
	u32 latency;		/* from first dispatch to the data, re-dispatches included */
};

struct memory_fill {
	u64 line;
	bool waits;		/* for a fetch of the line to end it */
	u32 left;		/* instructions that it is still on its way; 0: free */
	u32 latency;
};

struct memory_core {
	u64 l1[MEMORY_L1_MOST], l2[MEMORY_L2_MOST];
	u64 dtlb[MEMORY_DTLB_MOST], stlb[MEMORY_STLB_MOST];
	struct memory_fill fill[MEMORY_FILLS];
	unsigned next_fill;
};

struct memory {
	struct memory_shape shape;
	bool busy;		/* a processor is in here */
	u64 random;
	u32 touched;		/* bit n: core n has had something, and so has its package's L3 */
	u64 remote_base, remote_size;	/* physical: memory whose home is package 1 */
	struct memory_core core[MEMORY_CORES];
	u64 l3[MEMORY_PACKAGES][MEMORY_L3_MOST];
};

/*
 * Processors that run at the same time call all functions below between these two. A processor that
 * is restarted in between never leaves. If another processor waits for it too long, it continues
 * all the same; the hierarchy may then be in any state, but the state is valid.
 */
void memory_enter(struct memory *memory);
void memory_leave(struct memory *memory);

/* The shape without latitude. In every shape the numbers of sets are powers of two, no table is
 * larger than above, and no latency is below MEMORY_LEAST_LATENCY. */
struct memory_shape memory_usual_shape(void);

/* Empty everything; the home of all memory is package 0. The previous state doesn't matter. */
void memory_reset(struct memory *memory, const struct memory_shape *shape, u64 seed);

/* Carry out an access of a retired load or store. */
struct memory_result memory_access(struct memory *memory, unsigned core,
				   const struct memory_tables *tables, u64 linear, unsigned bytes,
				   bool store, bool locked);

/* The core begins its next instruction. */
void memory_tick(struct memory *memory, unsigned core);

/* Effects of instructions other than loads and stores. */
enum memory_act {
	ACT_NONE,
	ACT_PREFETCH_L1,	/* PREFETCHT0, PREFETCHNTA */
	ACT_PREFETCH_L2,	/* PREFETCHT1, PREFETCHT2 */
	ACT_PREFETCH_OWN,	/* PREFETCHW */
	ACT_FLUSH_LINE,		/* CLFLUSH, CLFLUSHOPT: from all caches */
	ACT_CLEAN_LINE,		/* CLWB */
	ACT_FLUSH_ALL,		/* WBINVD, INVD: all caches of the package */
	ACT_DRAIN,		/* fences, serialising instructions: lines on their way have come */
	ACT_INVALIDATE_PAGE,	/* INVLPG, also of global pages */
	ACT_LOAD_CR3,		/* all pages but the global ones */
	ACT_FLUSH_TLB,		/* INVPCID, changes of CR0 and CR4: all pages */
	MEMORY_ACTS
};
void memory_act(struct memory *memory, unsigned core, const struct memory_tables *tables,
		enum memory_act act, u64 linear);

/* The processor has run unobserved, so the contents of its caches and TLBs are unknown: make them
 * empty. Other processors' caches don't change. */
void memory_forget(struct memory *memory, unsigned core);

/* An access by another agent: without page tables and TLB. */
enum memory_source memory_touch(struct memory *memory, unsigned core, u64 physical, bool store);

/*
 * Put the line with this address into a state (spec/exerciser.def), as seen from `core`, which is
 * in package 0, wherever the line was before. false: there is no such state.
 */
bool memory_place(struct memory *memory, unsigned core, u64 physical, enum exerciser_state state);
/* Empty the caches of the two cores that run no program. */
void memory_place_begin(struct memory *memory);

#endif
