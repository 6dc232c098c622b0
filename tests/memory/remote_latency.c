/* SPDX-License-Identifier: MIT */
/*
 * The two latencies of loads that take more than 256 cycles: loads of lines that an exerciser has
 * put into another package's memory. intel/perfmon README: the time from dispatch to completion,
 * and the time in the memory subsystem.
 */
#include "kernel/output/fmt.h"
#include "tests/frame/needs.h"
#include "tests/measure/remote_lines.h"

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
 * Given  load latency; loads from another package's memory
 * When   records are made
 * Then   bits 47:32 of the latency are never above bits 15:0
 * Control: bits 47:32 of one of them are above 256
 */
TEST(ll, latency_of_the_instruction_is_no_less_than_a_long_one_of_the_cache, REQS(HYB_15),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_two_latencies, need_exerciser))
{
	struct remote_lines place = { .state = EXERCISE_NOWHERE, .remote = true,
				      .name = "loads from another package's memory",
				      .event = EK_REMOTE_DRAM };
	struct mem_sample_setup setup = mem_sample_loads();
	unsigned count, slow = 0;

	if (!remote_lines_prepare(t, &place))
		return;
	count = remote_lines_take(t, AT(HYB_15), &place, &setup, records);
	for (unsigned i = 0; i < count; i++) {
		const u64 word = records[i].latency;
		const u64 instruction = word & 0xffff, cache = word >> 32 & 0xffff;

		CHECK_RANGE(t, HYB_15, 0, instruction, cache,
			    "bits 47:32 of the latency of record %u, %#lx", i, word);
		slow += cache > LONG_LATENCY;
	}
	if (count)
		CONTROL_RANGE(t, HYB_15, 1, count, slow,
			      "of %u records those with more than %u cycles in bits 47:32", count,
			      LONG_LATENCY);
}
