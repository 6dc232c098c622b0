/* SPDX-License-Identifier: MIT */
/*
 * MEM_TRANS_RETIRED.STORE_SAMPLE, of stores of other sizes and places than the aligned eight bytes
 * of tests/adaptive/memory.c. All stores of a piece are to one address.
 */
#include "kernel/memory/pages.h"
#include "kernel/memory/paging.h"
#include "kernel/output/fmt.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"
#include "tests/measure/mem_sample.h"

#define CONFIG		(CONFIG_MEMORY | CONFIG_GPR)
#define AT_ADDRESS	0x20u	/* the memory group comes after the basic one */
#define AT_RIP		0x48u	/* of the GPR group */
#define BATCH		500u	/* rounds */
#define ROUNDS_MOST	20000u
#define RECORDS		2u	/* of each shape, all at one address */
#define LINE		64u
#define SPLIT_STORE	125u	/* workload_split */
#define ODD		13u	/* into a line, where its bytes stay in it */

static const struct {
	const char *name;
	const struct workload *workload;
	unsigned memory, store;		/* offsets: of the piece's memory, and in it */
} shapes[] = {
	{ "one byte", &workload_bytes, ODD, ACCESS_STORE },
	{ "sixteen bytes", &workload_sixteen, 0, ACCESS_STORE },
	{ "across a line's end", &workload_split, 0, SPLIT_STORE },
	{ "across a page's end", &workload_split, PAGE_SIZE - 2 * LINE, SPLIT_STORE },
	{ "of a flushed line", &workload_missed_store, 0, 0 },
	{ "after INVLPG", &workload_fresh_page_store, 0, 0 },
	{ "locked, after INVLPG", &workload_fresh_page_lock, 0, 0 },
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* Records of IA32_PMC0, of the stores of one shape. */
static unsigned take(const struct workload *w, void *memory)
{
	const struct workload_place place = { .memory = memory };
	const struct adaptive_layout layout = { .config = CONFIG,
						.size = (u16)adaptive_bytes(CONFIG) };
	struct ds_setup setup = sampling_setup(MEM_SAMPLE_RECORDS_SURE);
	struct event event = { .code = 0 };

	setup.layout = &layout;
	setup.threshold = MEM_SAMPLE_RECORDS_SURE + 1;
	setup.reset[0] = pebs_reset_value(0, MEM_SAMPLE_PERIOD);
	event_get(EK_STORE_SAMPLE, 0, &event);
	ds_open(&setup);
	pebs_arm(0, event.code, COUNT_BOTH, MEM_SAMPLE_PERIOD);
	for (unsigned rounds = 0; rounds < ROUNDS_MOST && ds_records() < RECORDS; rounds += BATCH)
		workload_run_at(w, BATCH, &place, pmc_one(0));
	pebs_disarm();
	counter_program_disabled(0, 0, 0);
	counters_clear(counters_status());
	return ds_records();
}

/*
 * ADP-13  A record of MEM_TRANS_RETIRED.STORE_SAMPLE on IA32_PMC0 must have the linear address of
 *         a store.
 *         intel/perfmon MEM_TRANS_RETIRED.STORE_SAMPLE; Linux
 *
 * Given  IA32_PMC0 with MEM_TRANS_RETIRED.STORE_SAMPLE; loops with a store to one address: of one
 *        and of sixteen bytes, across a line's end and across a page's, to a flushed line, after
 *        INVLPG, locked after INVLPG
 * When   it makes records with the memory group
 * Then   there are records, and the address of each one in the loop is the store's
 */
TEST(adaptive, store_sample_address_is_the_stores_for_each_size_and_place, REQS(ADP_13),
     NEEDS(need_perfmon, need_baseline, need_events, need_store_sample), .deadline_ms = 5000)
{
	for (unsigned s = 0; s < SHAPES; s++) {
		u8 *memory = (u8 *)pages_get()->small + shapes[s].memory;
		const unsigned records = take(shapes[s].workload, memory);
		const u64 address = (u64)(uintptr_t)memory + shapes[s].store;

		if (!records && !test_is_strict(t)) {
			test_inconclusive(t, "no store was tagged: %s", shapes[s].name);
			return;
		}
		if (!CHECK_RANGE(t, ADP_13, 1, ~0ULL, records, "records of stores %s",
				 shapes[s].name))
			return;
		for (unsigned i = 0; i < records; i++) {
			const unsigned at = i * adaptive_bytes(CONFIG);

			if (!sampling_is_switching(shapes[s].workload, adaptive_at(at + AT_RIP)))
				CHECK_EQ(t, ADP_13, address, adaptive_at(at + AT_ADDRESS),
					 "address of record %u of stores %s", i, shapes[s].name);
		}
	}
}
