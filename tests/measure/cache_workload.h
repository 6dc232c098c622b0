/* SPDX-License-Identifier: MIT */
/*
 * Workloads whose accesses hit or miss given levels of the memory hierarchy: each is a piece of
 * tests/measure/workload_memory.asm (or workload.asm) with suitable memory. The layout of the
 * memory follows the caches that CPUID describes. Some accesses may have another outcome (because
 * of an interrupt, a prefetcher or another processor), but not most of them.
 */
#ifndef TESTS_MEASURE_CACHE_WORKLOAD_H
#define TESTS_MEASURE_CACHE_WORKLOAD_H

#include "tests/frame/test.h"
#include "tests/measure/workload.h"

enum access {
	ACCESS_L1,		/* loads of one line, again and again */
	ACCESS_PENDING,		/* three of four loads are of a line that is on its way */
	ACCESS_L2,		/* loads that the L1 has lost and the L2 hasn't */
	ACCESS_L3,		/* loads that the L2 has lost and the L3 hasn't */
	ACCESS_MEMORY,		/* loads of a line that was flushed */
	ACCESS_TWO_PLACES,	/* two near loads, one from memory */
	ACCESS_PAGE_WALK,	/* loads with a page walk each */
	ACCESS_LOCKED,		/* locked read-modify-writes of one line */
	ACCESS_SPLIT,		/* loads and stores across a line's end */
	ACCESS_STORE_HIT,	/* stores to one line */
	ACCESS_STORE_MISS,	/* stores to a line that was flushed */
	ACCESS_STORE_L2,	/* stores to lines that the L1 has lost and the L2 hasn't */
	ACCESS_STORE_L3,	/* stores to lines that the L2 has lost and the L3 hasn't */
	ACCESS_STORE_PAGE_WALK,
	ACCESS_CANCELLED,	/* a load that a processor may begin and must give up */
	ACCESS_PREFETCH,	/* no load at all */
	ACCESS_STLB,		/* loads whose translation the first-level TLB has lost */
	ACCESS_STORE_STLB,
	ACCESS_LOCKED_PAGE_WALK,	/* locked read-modify-writes with a page walk each */
	ACCESS_LOCKED_SPLIT,	/* locked read-modify-writes across a line's end */
	ACCESS_LOCKED_WIDTHS,	/* locked ones of each size in turn, XCHG among them */
	ACCESS_SPLIT_WALK,	/* loads across a line's end, with a page walk each */
	ACCESS_PAGE_END_WALK,	/* the same across a page's end */
	ACCESS_STORE_SPLIT_WALK,
	ACCESS_STORE_PAGE_END_WALK,
	ACCESS_STORE_MISS_WALK,	/* stores to a line that was flushed, with a page walk each */
	ACCESS_STORE_MISS_SPLIT,	/* stores across the end of a line, both lines flushed */
	ACCESS_SLOW,		/* loads across a line's end, from memory, with a page walk each */
	ACCESS_UNCACHEABLE,	/* loads of a page that isn't cacheable */
	ACCESS_LOCKED_MISS,	/* locked read-modify-writes of a line that was flushed */
	ACCESS_DEVICE,		/* loads of a device's register */
	ACCESSES
};

struct cache_workload {
	const char *name;
	const struct workload *workload;
	struct workload_place at;
	u64 first, last;	/* linear addresses of its first and last data word */
};

/* false: the caches that CPUID describes need more memory than there is, or this machine has no
 * such place (see reason). */
bool cache_workload_get(enum access access, struct cache_workload *h, char *reason, size_t size);

/* The same for a test that needs it: if the result is false, the test has been skipped. */
bool cache_workload_or_skip(struct test *t, enum access access, struct cache_workload *h);

/* Does CPUID describe a cache of that level for data, or none at all? */
bool cache_workload_level(unsigned level);

/* Move all accesses by `bytes` bytes; the memory must be large enough. */
void cache_workload_shift(struct cache_workload *h, unsigned bytes);

void cache_workload_run(const struct cache_workload *h, u64 n, struct pmc_mask on);

#endif
