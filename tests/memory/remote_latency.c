/* SPDX-License-Identifier: MIT */
/*
 * The two latencies of loads that take more than 256 cycles: loads of lines that an exerciser has
 * put into another package's memory. intel/perfmon README: the time from dispatch to completion,
 * and the time in the memory subsystem.
 */
#include "kernel/output/fmt.h"
#include "tests/frame/needs.h"
#include "tests/measure/remote_lines.h"

/* The two latencies in the latency field of a record: bits 15:0 and 47:32. */
#define LATENCY_MASK	0xffffu
#define CACHE_SHIFT	32
#define LONG_LATENCY	256u	/* cycles: more than eight bits can hold */

static struct mem_sample_record records[MEM_SAMPLE_MOST];

static bool need_two_latencies(char *reason, size_t size)
{
	if (counter_caps()->facilities & FAC_LL_SPLIT)
		return true;
	fmt_print(reason, size, "one latency (family %02x model %02x)", counter_caps()->family,
		  counter_caps()->model);
	return false;
}

/*
 * HYB-15  The latency of the instruction must not be below that of the cache.
 *         intel/perfmon README: dispatch to completion, and the time in the memory subsystem
 *
 * Given  load latency; loads from another package's memory. The latency field of a record has the
 *        instruction's latency, from dispatch to completion, at bits 15:0, and the cache's, the
 *        time in the memory subsystem, at bits 47:32
 * When   records are made
 * Then   the cache's latency is never above the instruction's
 * Control: the cache's latency of one of them is above 256, which eight bits can't hold
 */
TEST(ll, instruction_latency_is_at_least_a_cache_latency_of_more_than_256_cycles, REQS(HYB_15),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_two_latencies, need_exerciser))
{
	struct remote_lines place = { .state = EXERCISE_NOWHERE, .remote = true,
				      .name = "loads from another package's memory",
				      .event = EK_REMOTE_DRAM };
	struct mem_sample_setup setup = mem_sample_loads(t);
	unsigned count, slow = 0;

	if (!remote_lines_prepare(t, &place))
		return;
	count = remote_lines_take(t, AT(HYB_15), &place, &setup, records);
	for (unsigned i = 0; i < count; i++) {
		const u64 both = records[i].latency;
		const u64 instruction = both & LATENCY_MASK;
		const u64 cache = both >> CACHE_SHIFT & LATENCY_MASK;

		CHECK_RANGE(t, HYB_15, 0, instruction, cache,
			    "the cache's latency, bits 47:32 of field %#lx of record %u", both, i);
		slow += cache > LONG_LATENCY;
	}
	if (count)
		CONTROL_RANGE(t, HYB_15, 1, count, slow,
			      "of %u records those with a cache's latency of more than %u cycles",
			      count, LONG_LATENCY);
}
