/* SPDX-License-Identifier: MIT */
/*
 * Sampled stores: MEM_TRANS_RETIRED.STORE_SAMPLE, and MEM_UOPS_RETIRED.STORE_LATENCY of E-cores.
 * All stores of a piece are to one address. The manual doesn't say which of them is tagged.
 */
#include "kernel/memory/pages.h"
#include "kernel/memory/paging.h"
#include "kernel/output/fmt.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"
#include "tests/measure/mem_sample.h"

#define CONFIG		(CONFIG_MEMORY | CONFIG_GPR)
#define AT_EVENTING_IP	ADAPTIVE_BASIC_eventing_ip
#define AT_SOURCE	(BASIC_BYTES + ADAPTIVE_MEMORY_data_source)
#define AT_ADDRESS	(BASIC_BYTES + ADAPTIVE_MEMORY_data_linear_address)
#define AT_RIP		(BASIC_BYTES + ADAPTIVE_MEMORY_BYTES + ADAPTIVE_GPR_rip)
#define BATCH		250u	/* rounds */
#define FEW_RECORDS	2u	/* of each shape, all with one address */
#define LINE		64u
#define SPLIT_STORE	125u	/* offset of the store in workload_split */
#define ODD		13u	/* offset in a line, so that the store stays in the line */

static const struct {
	const char *name;
	const struct workload *workload;
	unsigned memory, store;		/* offset of the piece's memory; of the store in it */
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

/* A run of a piece whose stores are at `address`. */
struct store_run {
	const struct workload *workload;
	struct workload_place place;
	u64 address;
	unsigned wanted;	/* number of records */
	unsigned counter;
	bool user;		/* at CPL 3, with the way there and back */
};

static struct store_run run_of(const struct workload *w, u64 address)
{
	return (struct store_run){
		.workload = w,
		.place.memory = workload_memory(),
		.address = address,
		.wanted = MEM_SAMPLE_RECORDS,
	};
}

static unsigned take(const struct store_run *run)
{
	const struct adaptive_layout layout = { .config = CONFIG,
						.size = (u16)adaptive_bytes(CONFIG) };
	struct ds_setup setup = sampling_setup(MEM_SAMPLE_RECORDS_SURE);
	struct event event = { .code = 0 };

	setup.layout = &layout;
	setup.threshold = MEM_SAMPLE_RECORDS_SURE + 1;
	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		setup.reset[i] = pebs_reset_value(0, MEM_SAMPLE_PERIOD);
	event_get(EK_STORE_SAMPLE, 0, &event);
	ds_open(&setup);
	pebs_arm(run->counter, event.code, run->user ? COUNT_USR : COUNT_BOTH, MEM_SAMPLE_PERIOD);
	for (unsigned rounds = 0; rounds < MEM_SAMPLE_ROUNDS_MOST && ds_records() < run->wanted;
	     rounds += BATCH) {
		if (run->user) {
			counters_enable(pmc_one(run->counter));
			workload_run_user(run->workload, BATCH);
			counters_disable();
		} else {
			workload_run_at(run->workload, BATCH, &run->place, pmc_one(run->counter));
		}
	}
	pebs_disarm();
	counter_program_disabled(run->counter, 0, 0);
	counters_clear(counters_status());
	return ds_records();
}

/* Check that there are records, and that each record in the loop has the address of the stores.
 * false: the test has ended. */
static bool check_addresses(struct test *t, struct test_claim claim, const struct store_run *run,
			    const char *stores)
{
	const unsigned records = take(run);
	unsigned right = 0;

	if (!records && !test_is_strict(t)) {
		test_inconclusive(t, "no store was tagged: %s", stores);
		return false;
	}
	if (!test_check_range(t, claim, 1, ~0ULL, records, "records of stores %s, IA32_PMC%u",
			      stores, run->counter))
		return false;
	for (unsigned i = 0; i < records; i++) {
		const unsigned at = i * adaptive_bytes(CONFIG);

		right += run->address == adaptive_at(at + AT_ADDRESS);
		if (!run->user && !sampling_is_switching(run->workload, adaptive_at(at + AT_RIP)))
			test_check_eq(t, claim, run->address, adaptive_at(at + AT_ADDRESS),
				      "address of record %u of stores %s, IA32_PMC%u, EventingIP "
				      "%#lx",
				      i, stores, run->counter, adaptive_at(at + AT_EVENTING_IP));
	}
	if (run->user)
		test_check_range(t, claim, records / 2 + 1, records, right,
				 "of %u records of stores %s at CPL 3 have their address, "
				 "IA32_PMC%u",
				 records, stores, run->counter);
	return true;
}

/*
 * ADP-13  A record of MEM_TRANS_RETIRED.STORE_SAMPLE on IA32_PMC0 must have the linear address of
 *         a store.
 *         intel/perfmon MEM_TRANS_RETIRED.STORE_SAMPLE; Linux
 *
 * Given  IA32_PMC0 with MEM_TRANS_RETIRED.STORE_SAMPLE; loops with a store to one address: of each
 *        form of an operand, MOVSQ, which loads from another address, and a locked addition
 * When   it makes records with the memory group
 * Then   there are records, and the address of each one in the loop is the store's
 */
TEST(adaptive, store_sample_has_the_linear_address_of_a_store, REQS(ADP_13),
     NEEDS(need_perfmon, need_baseline, need_events, need_store_sample), .deadline_ms = 5000)
{
	const u64 memory = (u64)(uintptr_t)workload_memory();
	const struct store_run plain = run_of(&workload_store, memory),
			       locked = run_of(&workload_lock, memory);
	struct addressing_mode form;
	bool more = check_addresses(t, AT(ADP_13), &plain, "of eight bytes") &&
		    check_addresses(t, AT(ADP_13), &locked, "of a locked addition");

	addressing_mode_begin();
	for (unsigned i = 0; more && addressing_mode_of_store(i, &form); i++) {
		const struct store_run run = run_of(form.workload, form.address);

		more = check_addresses(t, AT(ADP_13), &run, form.workload->name);
	}
	addressing_mode_end();
}

/*
 * HYB-09  Sampled stores must be usable on IA32_PMC0 from Golden Cove to Redwood Cove, on
 *         IA32_PMC0 and IA32_PMC1 of Lion Cove, and on each general-purpose counter of Gracemont,
 *         Crestmont and Skymont.
 *         Linux; intel/perfmon MEM_TRANS_RETIRED.STORE_SAMPLE, MEM_UOPS_RETIRED.STORE_LATENCY
 *
 * Given  a loop with a store to one address
 * When   each general-purpose counter that has the event of sampled stores makes records with the
 *        memory group, and then at CPL 3
 * Then   there are records, and the address of each one in the loop is the store's; at CPL 3 the
 *        address of more than half, as the transitions have stores too
 */
TEST(adaptive, each_counter_of_sampled_stores_has_the_address_of_a_store, REQS(HYB_09),
     NEEDS(need_perfmon, need_baseline, need_events, need_store_sample), .deadline_ms = 5000)
{
	struct store_run run = run_of(&workload_store, (u64)(uintptr_t)workload_memory());
	struct event event = { .counters = 0 };

	event_get(EK_STORE_SAMPLE, 0, &event);
	FOR_EACH_COUNTER (c, event.counters & counters_gp().bits) {
		run.counter = c;
		run.user = false;
		if (!check_addresses(t, AT(HYB_09), &run, "of eight bytes"))
			return;
		run.user = true;
		if (!check_addresses(t, AT(HYB_09), &run, "of eight bytes"))
			return;
	}
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
		const struct store_run run = {
			.workload = shapes[s].workload,
			.place.memory = memory,
			.address = (u64)(uintptr_t)memory + shapes[s].store,
			.wanted = FEW_RECORDS,
		};

		if (!check_addresses(t, AT(ADP_13), &run, shapes[s].name))
			return;
	}
}

/* Count the records of the stores, and how many of these have the bits. */
static void count_bits(const struct store_run *run, unsigned records, u64 bits, unsigned *stores,
		       unsigned *with)
{
	*stores = *with = 0;
	for (unsigned i = 0; i < records; i++) {
		const unsigned at = i * adaptive_bytes(CONFIG);

		if (adaptive_at(at + AT_ADDRESS) != run->address ||
		    sampling_is_switching(run->workload, adaptive_at(at + AT_RIP)))
			continue;
		++*stores;
		*with += (adaptive_at(at + AT_SOURCE) & bits) != 0;
	}
}

struct bit_row {
	const struct workload *workload;
	const char *name;
	u64 bit;
	enum mem_sample_share share;	/* of the records that have the bit */
	bool user;
};

/* false: the test has ended. */
static bool check_bits(struct test *t, const struct bit_row *row, unsigned c)
{
	void *memory = row->user ? (void *)workload_memory() : (void *)pages_get()->small;
	const struct store_run run = {
		.counter = c,
		.workload = row->workload,
		.place.memory = memory,
		.address = (u64)(uintptr_t)memory,
		.wanted = MEM_SAMPLE_RECORDS,
		.user = row->user,
	};
	const unsigned records = take(&run);
	unsigned stores, with;

	count_bits(&run, records, row->bit, &stores, &with);
	if (!stores && !test_is_strict(t)) {
		test_inconclusive(t, "no store was tagged: %s", row->name);
		return false;
	}
	if (!CONTROL_RANGE(t, HYB_24, 1, MEM_SAMPLE_MOST, stores,
			   "records of stores %s, IA32_PMC%u", row->name, c))
		return false;
	CHECK_RANGE(t, HYB_24, mem_sample_share_least(row->share, stores),
		    mem_sample_share_most(row->share, stores), with,
		    "of %u records of stores %s, IA32_PMC%u, have bits %#lx", stores, row->name, c,
		    row->bit);
	return true;
}

/*
 * HYB-24  A record of a sampled store that missed the STLB, or that was locked, must have the bit
 *         set that a record of such a load has on its core, and one of a plain store must not.
 *         Linux store_latency_data; INTEL_HYBRID_LAT_CONSTRAINT and INTEL_HYBRID_STLAT_CONSTRAINT:
 *         its decoders of loads
 *
 * Given  loops with a store to one address: after INVLPG, which needs a page walk; a locked
 *        addition; a plain one; the last two also at CPL 3
 * When   each general-purpose counter that has the event of sampled stores makes records of them
 *        with the memory group
 * Then   this core's bit of an STLB miss is 1 in more than half of the first records, its lock bit
 *        in each of the second. Of the plain stores no record has the lock bit, and fewer than half
 *        have the other bit (at CPL 3 the lock bit alone is looked at)
 * Control: stores of each loop are recorded
 */
TEST(adaptive, sampled_store_has_the_stlb_and_lock_bits_of_its_type_of_core, REQS(HYB_24),
     NEEDS(need_perfmon, need_baseline, need_events, need_store_sample), .deadline_ms = 20000)
{
	const struct bit_row rows[] = {
		{ &workload_fresh_page_store, "after INVLPG", latency_stlb_bit(), SHARE_MORE,
		  false },
		{ &workload_lock, "of a locked addition", latency_lock_bit(), SHARE_EACH, false },
		{ &workload_store, "of eight bytes", latency_stlb_bit(), SHARE_FEWER, false },
		{ &workload_store, "of eight bytes", latency_lock_bit(), SHARE_NONE, false },
		{ &workload_lock, "of a locked addition, CPL 3", latency_lock_bit(), SHARE_EACH,
		  true },
		{ &workload_store, "of eight bytes, CPL 3", latency_lock_bit(), SHARE_NONE, true },
	};
	struct event event = { .counters = 0 };

	event_get(EK_STORE_SAMPLE, 0, &event);
	FOR_EACH_COUNTER (c, event.counters & counters_gp().bits)
		for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (!check_bits(t, &rows[i], c))
				return;
}
