/* SPDX-License-Identifier: MIT */
/*
 * A cache of S sets and W ways loses lines that are accessed in turn if they are more than W and S
 * lines apart. The next cache, with more sets, keeps them. For the L1 there are 2 * W lines. For
 * the L2 there are 4 * W lines, because of 2 * W lines a cache with random replacement would still
 * have a fifth, in the L1 or the L2. If CPUID describes a next cache, it must have room for twice
 * these lines, because it can hold only few lines that are so far apart. Caches use physical
 * addresses; memory is identity mapped. SDM "CPUID: Deterministic Cache Parameters Leaf".
 */
#include "tests/measure/cache_workload.h"

#include "kernel/processor/cpuid.h"
#include "kernel/output/fmt.h"
#include "kernel/memory/arena.h"
#include "kernel/memory/pages.h"
#include "kernel/memory/paging.h"
#include "kernel/processor/percpu.h"

#define FAR_BYTES	(8u << 20)
#define LINE		64u

#define LEAF_CACHES	4u
#define CACHES_MOST	8u
#define TYPE_NONE	0u
#define TYPE_CODE	2u

struct cache {
	unsigned ways, sets;
};

/* Find the data cache of that level. false: CPUID describes only other caches. */
static bool find_cache(unsigned level, struct cache *cache)
{
	bool others = false;

	for (u32 i = 0; i < CACHES_MOST; i++) {
		struct cpuid r = cpuid_read(LEAF_CACHES, i);

		if ((r.eax & 0x1f) == TYPE_NONE)
			break;
		others = true;
		if ((r.eax & 0x1f) == TYPE_CODE || (r.eax >> 5 & 7) != level)
			continue;
		cache->ways = (r.ebx >> 22) + 1;
		cache->sets = r.ecx + 1;
		return true;
	}
	return !others;
}

/* Is a cache of that level at least twice as large as a walk over so many bytes? true for a cache
 * that CPUID doesn't describe. */
static bool holds(unsigned level, u64 bytes)
{
	struct cache cache = { 0, 0 };

	if (cpuid_get(CPUID_MAX_LEAF) < LEAF_CACHES || !find_cache(level, &cache) || !cache.ways)
		return true;
	return 2 * bytes <= (u64)cache.ways * cache.sets * LINE;
}

/* If CPUID says nothing, assume the caches of Nehalem and its successors. */
static struct cache cache_of_level(unsigned level)
{
	struct cache cache = { 8, level == 1 ? 64 : 512 };

	if (cpuid_get(CPUID_MAX_LEAF) >= LEAF_CACHES)
		find_cache(level, &cache);
	return cache;
}

bool cache_workload_level(unsigned level)
{
	struct cache cache;

	return cpuid_get(CPUID_MAX_LEAF) < LEAF_CACHES || find_cache(level, &cache);
}

static u64 round_up_to_power(u64 n)
{
	u64 power = 1;

	while (power < n)
		power <<= 1;
	return power;
}

static bool lay_out(struct cache_workload *h, unsigned lost_level, char *reason, size_t size)
{
	/* One for each processor: with shared lines, one would hit lines that another has
	 * loaded. */
	static u8 *places[CPU_MAX];
	u8 **far = &places[cpu_index()];
	struct cache cache = cache_of_level(lost_level);
	u64 stride = round_up_to_power((u64)cache.sets * LINE);
	u64 bytes = stride * round_up_to_power((lost_level == 1 ? 2 : 4) * (u64)cache.ways);

	if (bytes > FAR_BYTES) {
		fmt_print(reason, size, "the level %u cache has %u sets of %u ways (CPUID.4)",
			  lost_level, cache.sets, cache.ways);
		return false;
	}
	if (!holds(lost_level + 1, bytes)) {
		fmt_print(reason, size, "the level %u cache holds no walk over %lu bytes (CPUID.4)",
			  lost_level + 1, bytes);
		return false;
	}
	if (!*far)
		*far = arena_alloc(FAR_BYTES);
	if (!*far) {
		fmt_print(reason, size, "no memory");
		return false;
	}
	h->at = (struct workload_place){ *far, stride, bytes - 1 };
	h->first = (u64)(uintptr_t)*far;
	h->last = h->first + bytes - stride;
	return true;
}

/*
 * Access pages of 4 KiB in turn, with addresses in different sets of a cache. There are four times
 * as many pages as a first-level DTLB has entries (64, on each generation), and half as many as a
 * second-level TLB has (512 or more). The first access to each page is a page walk.
 */
static void lay_out_pages(struct cache_workload *h)
{
	h->at = (struct workload_place){ pages_get()->small, PAGE_SIZE + LINE,
					 PAGES_SMALL * PAGE_SIZE - 1 };
	h->first = (u64)(uintptr_t)pages_get()->small;
	h->last = h->first + h->at.mask;
}

static bool lay_out_elsewhere(struct cache_workload *h, u8 *place, char *reason, size_t size)
{
	if (!place) {
		fmt_print(reason, size, "no HPET, and no other device that is known");
		return false;
	}
	h->at.memory = place;
	h->first = h->last = (u64)(uintptr_t)place;
	return true;
}

/* last: offset of the last data word in the workloads' memory; lost: cache level to lay out for. */
static const struct {
	const char *name;
	const struct workload *workload;
	u32 last, lost;
} rows[] = {
	[ACCESS_L1] = { "loads of one line", &workload_load, 0, 0 },
	[ACCESS_PENDING] = { "loads of a line on its way", &workload_pending, 24, 0 },
	[ACCESS_L2] = { "loads that the L1 has lost", &workload_stride, 0, 1 },
	[ACCESS_L3] = { "loads that the L2 has lost", &workload_stride, 0, 2 },
	[ACCESS_MEMORY] = { "loads of a flushed line", &workload_uncached, 0, 0 },
	[ACCESS_TWO_PLACES] = { "loads near and far", &workload_two_places, TWO_PLACES_COLD, 0 },
	[ACCESS_PAGE_WALK] = { "loads after INVLPG", &workload_fresh_page, 0, 0 },
	[ACCESS_LOCKED] = { "locked additions", &workload_lock, 0, 0 },
	[ACCESS_SPLIT] = { "accesses across a line's end", &workload_split, 125, 0 },
	[ACCESS_STORE_HIT] = { "stores to one line", &workload_store, 0, 0 },
	[ACCESS_STORE_MISS] = { "stores to a flushed line", &workload_missed_store, 0, 0 },
	[ACCESS_STORE_L2] = { "stores to lines that the L1 has lost", &workload_stride_store, 0,
			      1 },
	[ACCESS_STORE_L3] = { "stores to lines that the L2 has lost", &workload_stride_store, 0,
			      2 },
	[ACCESS_STORE_PAGE_WALK] = { "stores after INVLPG", &workload_fresh_page_store, 0, 0 },
	[ACCESS_CANCELLED] = { "a load never meant", &workload_cancelled, CANCELLED_OFFSET, 0 },
	[ACCESS_PREFETCH] = { "prefetches", &workload_prefetch_t0, 0, 0 },
	[ACCESS_STLB] = { "loads that the DTLB has lost", &workload_stride, 0, 0 },
	[ACCESS_STORE_STLB] = { "stores that the DTLB has lost", &workload_stride_store, 0, 0 },
	[ACCESS_LOCKED_PAGE_WALK] = { "locked additions after INVLPG", &workload_fresh_page_lock,
				      0, 0 },
	[ACCESS_LOCKED_SPLIT] = { "locked additions across a line's end", &workload_split_lock, 61,
				  0 },
	[ACCESS_LOCKED_WIDTHS] = { "locked accesses of each size", &workload_lock_widths,
				   8 * (LOCK_WIDTHS - 1), 0 },
	[ACCESS_SPLIT_WALK] = { "loads across a line's end after INVLPG",
				&workload_split_fresh_load, 61, 0 },
	[ACCESS_PAGE_END_WALK] = { "loads across a page's end after INVLPG",
				   &workload_split_fresh_load, 61, 0 },
	[ACCESS_STORE_SPLIT_WALK] = { "stores across a line's end after INVLPG",
				      &workload_split_fresh_store, 61, 0 },
	[ACCESS_STORE_PAGE_END_WALK] = { "stores across a page's end after INVLPG",
					 &workload_split_fresh_store, 61, 0 },
	[ACCESS_STORE_MISS_WALK] = { "stores to a flushed line after INVLPG",
				     &workload_missed_fresh_store, 0, 0 },
	[ACCESS_STORE_MISS_SPLIT] = { "split stores to flushed lines",
				      &workload_missed_split_store, 61, 0 },
	[ACCESS_SLOW] = { "split loads of flushed lines", &workload_slow_split, 61, 0 },
	[ACCESS_UNCACHEABLE] = { "loads of uncacheable memory", &workload_load, 0, 0 },
	[ACCESS_LOCKED_MISS] = { "locked additions to a flushed line", &workload_missed_lock, 0,
				 0 },
	[ACCESS_DEVICE] = { "loads of a register of the HPET", &workload_load, 0, 0 },
};

bool cache_workload_get(enum access access, struct cache_workload *h, char *reason, size_t size)
{
	*h = (struct cache_workload){ .name = rows[access].name,
				      .workload = rows[access].workload };
	if (rows[access].lost)
		return lay_out(h, rows[access].lost, reason, size);
	if (access == ACCESS_STLB || access == ACCESS_STORE_STLB) {
		lay_out_pages(h);
		return true;
	}
	if (access == ACCESS_UNCACHEABLE)
		return lay_out_elsewhere(h, pages_get()->uncacheable, reason, size);
	if (access == ACCESS_DEVICE)
		return lay_out_elsewhere(h, pages_get()->device, reason, size);
	h->at.memory = workload_memory();
	if (access == ACCESS_PAGE_END_WALK || access == ACCESS_STORE_PAGE_END_WALK)
		h->at.memory = pages_get()->small + PAGE_SIZE - LINE;
	h->first = (u64)(uintptr_t)h->at.memory;
	h->last = h->first + rows[access].last;
	return true;
}

bool cache_workload_or_skip(struct test *t, enum access access, struct cache_workload *h)
{
	char reason[96];

	if (cache_workload_get(access, h, reason, sizeof(reason)))
		return true;
	test_skip(t, "%s", reason);
	return false;
}

void cache_workload_shift(struct cache_workload *h, unsigned bytes)
{
	h->at.memory = (u8 *)h->at.memory + bytes;
	h->first += bytes;
	h->last += bytes;
}

void cache_workload_run(const struct cache_workload *h, u64 n, struct pmc_mask on)
{
	workload_run_at(h->workload, n, &h->at, on);
}
