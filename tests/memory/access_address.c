/* SPDX-License-Identifier: MIT */
/*
 * The data linear address of accesses other than aligned loads and stores of eight bytes at nearby
 * addresses. SDM "Load Latency Performance Monitoring Facility" ("the linear address of the target
 * of the load operation"), "Precise Store Facility", Table 18-34, "PEBS Data Address Profiling",
 * Table 18-46. All accesses of a window are to one address; every record must hold it, and all of
 * its bits.
 */
#include "kernel/memory/pages.h"
#include "kernel/memory/paging.h"
#include "pmu/pebs.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"

#define ODD		13u	/* offset in a line; eight bytes from it stay in the line */
#define SPLIT_LOAD	61u	/* offset of the load in workload_split, workload_split_lock */
#define SPLIT_STORE	125u
#define LINE		64u
#define ROUNDS_MOST	20000u
#define RECORDS_NEAR	2	/* of each shape, all with one address */
#define ROUNDS_BEFORE	512	/* uncounted; then the lines of the accesses have arrived */
#define RECORDS_FAR	4	/* of accesses that missed, each with one of several addresses */
#define CPL3_ROUNDS	4000u
#define CPL3_STRICT	400u	/* the reference PMU tags one of some loads */
#define CPL3_TURNS	8u
#define LATENCY_LEAST	4u	/* "smallest detectable", core cycles */
#define PROFILED	1u	/* the counter of data-address records here */

static struct mem_sample_record records[MEM_SAMPLE_MOST];
static unsigned taken; /* number of records that check_addresses() has taken */

/* All accesses of one kind in a piece are at this offset of its memory. */
static const struct shape {
	const char *name;
	const struct workload *workload;
	unsigned memory, load, store;	/* of the piece's memory; in it */
	enum { NEAR, HIGH, UPPER } where;	/* below 4 GiB, above it, in the upper half */
} shapes[] = {
	{ "bytes", &workload_bytes, ODD, 0, ACCESS_STORE, NEAR },
	{ "sixteen bytes", &workload_sixteen, 5, 0, ACCESS_STORE, NEAR },
	{ "across a line's end", &workload_split, 0, SPLIT_LOAD, SPLIT_STORE, NEAR },
	{ "loads across a page's end", &workload_split, PAGE_SIZE - LINE, SPLIT_LOAD, SPLIT_STORE,
	  NEAR },
	{ "stores across a page's end", &workload_split, PAGE_SIZE - 2 * LINE, SPLIT_LOAD,
	  SPLIT_STORE, NEAR },
	{ "bytes above 4 GiB", &workload_bytes, ODD, 0, ACCESS_STORE, HIGH },
	{ "across a page's end above 4 GiB", &workload_split, PAGE_SIZE - LINE, SPLIT_LOAD,
	  SPLIT_STORE, HIGH },
	{ "bytes in the upper half", &workload_bytes, ODD, 0, ACCESS_STORE, UPPER },
	{ "across a page's end in the upper half", &workload_split, PAGE_SIZE - LINE, SPLIT_LOAD,
	  SPLIT_STORE, UPPER },
};

/* A locked addition or exchange has its load and its store at one address. */
static const struct shape locked_shapes[] = {
	{ "locked additions", &workload_lock, ODD, 0, 0, NEAR },
	{ "locked additions of one byte", &workload_lock_byte, ODD, 0, 0, NEAR },
	{ "locked additions of two bytes", &workload_lock_word, ODD, 0, 0, NEAR },
	{ "locked additions of four bytes", &workload_lock_dword, ODD, 0, 0, NEAR },
	{ "exchanges", &workload_exchange, ODD, 0, 0, NEAR },
	{ "locked additions across a line's end", &workload_split_lock, 0, SPLIT_LOAD, SPLIT_LOAD,
	  NEAR },
	{ "locked additions across a page's end", &workload_split_lock, PAGE_SIZE - LINE,
	  SPLIT_LOAD, SPLIT_LOAD, NEAR },
	{ "locked additions above 4 GiB", &workload_lock, ODD, 0, 0, HIGH },
};

enum accesses { LOADS_OF_IT, STORES_OF_IT };		/* of a shape */

/* The required contents of a record other than the address: the least latency, and bits of A0H. */
struct fields {
	u64 latency, mask, source;
	const char *what;
};
static const struct fields address_alone = { .what = "" };
static const struct fields a_latency = { .latency = LATENCY_LEAST,
					 .what = ", a latency of 4 or more" };
static const struct fields code_01 = { .mask = 0xf, .source = 1, .what = ", code 01H in A0H" };
static const struct fields bit_0 = { .mask = BIT(0), .source = BIT(0), .what = ", bit 0 of A0H" };
static const struct fields bit_5 = { .mask = BIT(5), .source = BIT(5), .what = ", bit 5 of A0H" };

/* Each of these memories has at least two pages of 4 KiB. */
static void lay_out(struct cache_workload *h, const struct shape *s, enum accesses which)
{
	u8 *memory = s->where == HIGH ? pages_get()->high : pages_get()->small;

	if (s->where == UPPER)
		memory = (u8 *)((uintptr_t)memory + PAGING_UPPER);

	*h = (struct cache_workload){ .name = s->name, .workload = s->workload };
	h->at.memory = memory + s->memory;
	h->first = h->last = (u64)(uintptr_t)h->at.memory +
			     (which == STORES_OF_IT ? s->store : s->load);
}

static void check_each(struct test *t, struct test_claim claim, const struct cache_workload *h,
		       enum accesses which)
{
	for (unsigned i = 0; i < taken; i++)
		test_check_eq(t, claim, h->first, records[i].address,
			      "address of record %u of %s, "
			      "%s",
			      i, which == STORES_OF_IT ? "stores" : "loads", h->name);
}

/* Take records of one facility; all must have the address. The line is fetched before, uncounted.
 */
static bool check_addresses(struct test *t, struct test_claim claim, struct mem_sample_setup *setup,
			    const struct shape *s, enum accesses which)
{
	struct cache_workload h;
	unsigned count;

	lay_out(&h, s, which);
	cache_workload_run(&h, ROUNDS_BEFORE, NO_OTHERS);
	setup->wanted = RECORDS_NEAR;
	/* If an event doesn't count these accesses, other tests must not use shorter runs because
	 * of that. */
	setup->most = ROUNDS_MOST;
	taken = count = mem_sample_take(setup, &h, records);
	if (!mem_sample_enough(t, claim, &h, count, setup->wanted))
		return false;
	check_each(t, claim, &h, which);
	return true;
}

/* Check records of accesses that missed, each at an odd offset in its line. */
static void check_misses(struct test *t, struct test_claim claim, struct mem_sample_setup *setup,
			 enum access access)
{
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_prepare(t, access, &h))
		return;
	cache_workload_shift(&h, ODD);
	setup->wanted = RECORDS_FAR;
	count = mem_sample_take(setup, &h, records);
	if (!mem_sample_enough(t, claim, &h, count, setup->wanted))
		return;
	for (unsigned i = 0; i < count; i++) {
		u64 offset = records[i].address - h.first;

		test_check(t, claim,
			   mem_sample_in_place(&h, records[i].address) &&
				   (access == ACCESS_PENDING ? offset % 8 == 0 :
			    offset % LINE == 0), "an address that the piece accesses",
			   "address 0x%lx of record %u of %s from 0x%lx on", records[i].address, i,
			   h.name, h.first);
	}
}

static const enum access far_loads[] = { ACCESS_MEMORY, ACCESS_L2, ACCESS_L3, ACCESS_PENDING };

/* Entering and leaving the piece at CPL 3 has a few accesses too: most records must be of the
 * piece. */
static void check_cpl_3(struct test *t, struct test_claim claim,
			const struct mem_sample_setup *setup, const struct workload *w,
			const struct fields *fields)
{
	const struct sampling_offsets at = sampling_offsets();
	struct ds_setup ds = sampling_setup(MEM_SAMPLE_MOST);
	const struct cache_workload h = { .name = "accesses at CPL 3" };
	const u64 address = (u64)(uintptr_t)workload_memory() + ODD;
	const struct workload_place place = { .memory = (void *)(uintptr_t)address };
	unsigned count, right = 0;

	ds.reset[setup->counter] = pebs_reset_value(setup->counter, setup->period);
	ds_open(&ds);
	mem_sample_arm(setup, setup->period);
	counter_program(setup->counter, setup->event,
			COUNT_USR | (counter_caps()->baseline ? COUNT_ADAPTIVE : 0));
	counter_preset(setup->counter, setup->period);
	for (unsigned i = 0; i < CPL3_TURNS && ds_records() < MEM_SAMPLE_RECORDS; i++) {
		counters_enable(pmc_one(setup->counter));
		workload_run_user_at(w, test_rounds(t, CPL3_STRICT, CPL3_ROUNDS), &place);
		counters_disable();
	}
	mem_sample_off(setup);
	count = ds_records();
	if (!mem_sample_enough(t, claim, &h, count, MEM_SAMPLE_RECORDS))
		return;
	for (unsigned i = 0; i < count; i++) {
		const volatile u64 *field = ds_record(i);

		right += field[at.address / 8] == address &&
			 field[at.latency / 8] >= fields->latency &&
			 (field[at.source / 8] & fields->mask) == fields->source;
	}
	test_check_range(t, claim, count / 2 + 1, count, right,
			 "of %u records of %s at CPL 3 with "
			 "the address 0x%lx%s",
			 count, w->name, address, fields->what);
}

/* ---- load latency ---- */

/*
 * LL-26  The data linear address of a load-latency record must be the linear address of the target
 *        of the load, segment base included.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility
 *
 * Given  loads of 1, 8 and 16 bytes at odd addresses, across the end of a line and of a page, below
 *        and above 4 GiB. All loads of one shape have one address
 * When   IA32_PMC3 makes two records of each shape
 * Then   the address at 98H of each record is that of the load, with all bits
 */
TEST(ll, latency_record_address_has_every_bit_of_any_load, REQS(LL_26),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct mem_sample_setup setup = mem_sample_loads(t);

		if (!check_addresses(t, AT(LL_26), &setup, &shapes[i], LOADS_OF_IT))
			return;
	}
}

/*
 * LL-26  The data linear address of a load-latency record must be the linear address of the target
 *        of the load, segment base included.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility
 *
 * Given  loads 13 bytes after the beginning of a line, from memory, from the L2, from the L3, and
 *        of a line that is on its way
 * When   IA32_PMC3 makes four records of each
 * Then   the address at 98H of each record is that of a load, not that of its line
 */
TEST(ll, latency_record_address_of_a_miss_is_not_that_of_its_line, REQS(LL_26),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	for (unsigned i = 0; i < sizeof(far_loads) / sizeof(far_loads[0]); i++) {
		struct mem_sample_setup setup = mem_sample_loads(t);

		check_misses(t, AT(LL_26), &setup, far_loads[i]);
	}
}

/*
 * LL-01  The load-latency event (event 0BH, umask 10H on Nehalem and Westmere, CDH and 01H
 *        afterwards) must make load-latency records.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility (the printed 100H is event 0BH,
 *        umask 10H with a digit lost); SDM 18.9.4.2 Load Latency Performance Monitoring Facility
 * LL-26  The data linear address of a load-latency record must be the linear address of the target
 *        of the load, segment base included.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility
 * LL-27  Bit 5 of the data source must be 1 for the load of a locked read-modify-write and 0 for a
 *        plain load.
 *        SDM 18.9.4.2 Load Latency Performance Monitoring Facility, Table 18-33 Layout of Data
 *        Source Field of Load Latency Record
 * LL-31  A load that hits the L1 data cache must be reported with code 01H.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  loads of one odd address at CPL 3, which hit the L1, and locked additions to it, counted
 *        with USR and without OS
 * When   IA32_PMC3 makes eight records of each
 * Then   more than half of the first hold that address at 98H, a latency of at least 4 cycles at
 *        A8H, and code 01H in bits 3:0 at A0H; more than half of the second the address and, where
 *        it is defined, bit 5 at A0H. The others may be of the few loads on the transitions to the
 *        workload and back
 */
TEST(ll, latency_records_of_cpl_3_hold_latency_and_address, REQS(LL_01, LL_26, LL_27, LL_31),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);

	check_cpl_3(t, AT(LL_01), &setup, &workload_load, &a_latency);
	check_cpl_3(t, AT(LL_26), &setup, &workload_load, &address_alone);
	check_cpl_3(t, AT(LL_31), &setup, &workload_load, &code_01);
	if (counter_caps()->facilities & FAC_STLB_LOCK)
		check_cpl_3(t, AT(LL_27), &setup, &workload_lock, &bit_5);
}

/* ---- precise store ---- */

/*
 * PS-04  Offset 98H must hold the linear address of the store's destination.
 *        SDM 18.9.4.3 Precise Store Facility, Table 18-34
 *
 * Given  stores of 1, 8 and 16 bytes at odd addresses, across the end of a line and of a page,
 *        below and above 4 GiB. All stores of one shape have one address
 * When   IA32_PMC3 makes two precise-store records of each shape
 * Then   there are such records of each shape, and the address at 98H of each is that of the
 *        store, with all bits
 */
TEST(ps, precise_store_address_has_every_bit_of_any_store, REQS(PS_04),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct mem_sample_setup setup = mem_sample_stores(t);

		if (!check_addresses(t, AT(PS_04), &setup, &shapes[i], STORES_OF_IT))
			return;
	}
}

/*
 * PS-04  Offset 98H must hold the linear address of the store's destination.
 *        SDM 18.9.4.3 Precise Store Facility, Table 18-34
 *
 * Given  stores 13 bytes after the beginning of a line that was just flushed
 * When   IA32_PMC3 makes four precise-store records
 * Then   the address at 98H of each is that of a store, not that of its line
 */
TEST(ps, precise_store_address_of_a_miss_is_not_that_of_its_line, REQS(PS_04),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores(t);

	check_misses(t, AT(PS_04), &setup, ACCESS_STORE_MISS);
}

/*
 * PS-04  Offset 98H must hold the linear address of the store's destination.
 * PS-05  Bit 0 of A0H must be 1 for a store that hit the L1 data cache and 0 for one that missed
 *        it.
 * PS-07  Bit 5 of A0H must be 1 for a store that is part of a locked access and 0 for a plain
 *        store.
 *        SDM 18.9.4.3 Precise Store Facility, Table 18-34
 *
 * Given  stores to one address at CPL 3, which hit the L1, and locked additions to it, counted with
 *        USR and without OS
 * When   IA32_PMC3 makes eight precise-store records of each
 * Then   more than half of them hold that address at 98H, and at A0H bit 0 of the first, and bit 5
 *        of the second; the others may be of the few stores on the transitions to the workload and
 *        back
 */
TEST(ps, precise_store_records_of_cpl_3_hold_the_address, REQS(PS_04, PS_05, PS_07),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores(t);

	check_cpl_3(t, AT(PS_04), &setup, &workload_store, &address_alone);
	check_cpl_3(t, AT(PS_05), &setup, &workload_store, &bit_0);
	check_cpl_3(t, AT(PS_07), &setup, &workload_lock, &bit_5);
}

/* ---- data address profiling ---- */

static bool profile(struct test *t, enum event_kind kind, struct mem_sample_setup *setup)
{
	struct event event;

	if (!HARNESS_CHECK(t, event_get(kind, EV_DLA, &event), "the event is in the table"))
		return false;
	*setup = (struct mem_sample_setup){ .counter = PROFILED, .event = event.code,
					    .period = mem_sample_period(t),
					    .enable = pmc_one(PROFILED) };
	return true;
}

static void profile_on(unsigned counter, struct mem_sample_setup *setup)
{
	setup->counter = counter;
	setup->enable = pmc_one(counter);
}

/* Does the event of stores report hits? */
static bool tells_hits(void)
{
	struct event event;

	return event_get(EK_STORES, EV_DLA | EV_STORE_L1, &event);
}

/* For stores to near memory: at least every second one of the records just taken must report a
 * hit. */
static void check_hits(struct test *t, const char *what)
{
	unsigned hits = 0;

	if (!tells_hits())
		return;
	for (unsigned i = 0; i < taken; i++)
		hits += !!(records[i].source & BIT(0));
	CHECK_RANGE(t, DLA_03, (taken + 1) / 2, taken, hits,
		    "of %u records of stores, %s, with bit 0 of A0H", taken, what);
}

/*
 * DLA-02  Offset 98H must hold the linear address of the load, or of the destination of the store.
 * DLA-03  For the store events that Table 18-46 names, bit 0 of A0H must be 1 exactly when the
 *         store hit the L1 data cache.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 *
 * Given  loads and stores of 1, 8 and 16 bytes at odd addresses, across the end of a line and of a
 *        page, below and above 4 GiB. All accesses of one shape have one address
 * When   two records of each shape are made, of the event of loads and of that of stores, on one
 *        counter after the other
 * Then   the address at 98H of each record is that of the access, with all bits; bit 0 of A0H is 1
 *        in at least half of those of stores, all of which are near
 */
TEST(dla, data_address_has_every_bit_of_any_access, REQS(DLA_02, DLA_03),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	struct mem_sample_setup loads, stores;

	if (!profile(t, EK_LOADS, &loads) || !profile(t, EK_STORES, &stores))
		return;
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		profile_on(i % PEBS_COUNTERS, &loads);
		profile_on(i % PEBS_COUNTERS, &stores);
		if (!check_addresses(t, AT(DLA_02), &loads, &shapes[i], LOADS_OF_IT) ||
		    !check_addresses(t, AT(DLA_02), &stores, &shapes[i], STORES_OF_IT))
			return;
		check_hits(t, shapes[i].name);
	}
}

/*
 * DLA-10  Every event of Table 18-45 must yield a data address when PEBS is enabled for it.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-45
 * DLA-02  Offset 98H must hold the linear address of the load, or of the destination of the store.
 * DLA-03  For the store events that Table 18-46 names, bit 0 of A0H must be 1 exactly when the
 *         store hit the L1 data cache.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 *
 * Given  loads and stores across the end of a line, within a page and across the end of one, below
 *        and above 4 GiB
 * When   two records of each are made, of the events of split loads and of split stores, on one
 *        counter after the other
 * Then   the address at 98H is that of the access's first byte, not one in the second line; bit 0
 *        of A0H is 1 in at least half of those of stores, which are near
 */
TEST(dla, split_access_record_holds_the_address_of_its_first_byte, REQS(DLA_10, DLA_02, DLA_03),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	struct mem_sample_setup loads, stores;

	if (!profile(t, EK_SPLIT_LOADS, &loads) || !profile(t, EK_SPLIT_STORES, &stores))
		return;
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (shapes[i].workload != &workload_split)
			continue;
		profile_on(i % PEBS_COUNTERS, &loads);
		profile_on(i % PEBS_COUNTERS, &stores);
		if (!check_addresses(t, AT(DLA_02, DLA_10), &loads, &shapes[i], LOADS_OF_IT) ||
		    !check_addresses(t, AT(DLA_10), &stores, &shapes[i], STORES_OF_IT))
			return;
		check_hits(t, shapes[i].name);
	}
}

/*
 * DLA-02  Offset 98H must hold the linear address of the load, or of the destination of the store.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 *
 * Given  locked additions of 1 to 8 bytes and exchanges within a line, across the end of one and
 *        of a page, and above 4 GiB; all of one shape are to one address
 * When   IA32_PMC1 makes two records of each shape, of the event of stores; and records of the
 *        event of split stores, as far as the locked ones are such
 * Then   the address at 98H of each record is that of the first byte of the store's destination
 */
TEST(dla, locked_store_record_holds_the_address_of_its_destination, REQS(DLA_02),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	struct mem_sample_setup stores, splits;

	if (!profile(t, EK_STORES, &stores) || !profile(t, EK_SPLIT_STORES, &splits))
		return;
	splits.wanted = RECORDS_NEAR;
	splits.most = ROUNDS_MOST;
	for (unsigned i = 0; i < sizeof(locked_shapes) / sizeof(locked_shapes[0]); i++) {
		const struct shape *s = &locked_shapes[i];
		struct cache_workload h;

		if (!check_addresses(t, AT(DLA_02), &stores, s, STORES_OF_IT))
			return;
		if (s->workload != &workload_split_lock)
			continue;
		lay_out(&h, s, STORES_OF_IT);
		taken = mem_sample_take(&splits, &h, records);
		check_each(t, AT(DLA_02), &h, STORES_OF_IT);
	}
}

static const struct {
	enum event_kind kind;
	enum access access;
} far_events[] = {
	{ EK_L2_HIT, ACCESS_L2 },
	{ EK_L3_HIT, ACCESS_L3 },
	{ EK_L1_MISS, ACCESS_L2 },
	{ EK_L2_MISS, ACCESS_L3 },
	{ EK_L3_MISS, ACCESS_MEMORY },
	{ EK_HIT_LFB, ACCESS_PENDING },
	{ EK_LOCAL_DRAM, ACCESS_MEMORY },
	{ EK_STORES, ACCESS_STORE_MISS },
	{ EK_STLB_MISS_LOADS, ACCESS_PAGE_WALK },
	{ EK_STLB_MISS_STORES, ACCESS_STORE_PAGE_WALK },
};

/*
 * DLA-10  Every event of Table 18-45 must yield a data address when PEBS is enabled for it.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-45
 * DLA-02  Offset 98H must hold the linear address of the load, or of the destination of the store.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 *
 * Given  loads and stores 13 bytes after the beginning of a line. They hit the L2, hit the L3, go
 *        to memory (the event of local memory: in one package), find their line on its way, or need
 *        a page walk
 * When   IA32_PMC1 makes four records of the event of Table 18-45 that is about them
 * Then   the address at 98H of each record is that of an access, not that of its line
 */
TEST(dla, data_address_of_a_miss_is_not_that_of_its_line, REQS(DLA_10, DLA_02),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	for (unsigned i = 0; i < sizeof(far_events) / sizeof(far_events[0]); i++) {
		struct mem_sample_setup setup;
		struct event event;

		/* Skylake's client parts have no events for the memory that a load came from. */
		if (far_events[i].kind == EK_LOCAL_DRAM &&
		    (!event_get(EK_LOCAL_DRAM, EV_DLA, &event) || !mem_sample_memory_is_local(t)))
			continue;
		if (far_events[i].kind == EK_L3_HIT && test_erratum(t, ERRATUM_VICTIM_L3))
			continue;
		if (!profile(t, far_events[i].kind, &setup))
			return;
		check_misses(t, AT(DLA_10), &setup, far_events[i].access);
		if (far_events[i].kind == EK_L3_MISS)
			check_misses(t, AT(DLA_02), &setup, far_events[i].access);
	}
}

/*
 * DLA-02  Offset 98H must hold the linear address of the load, or of the destination of the store.
 * DLA-03  For the store events that Table 18-46 names, bit 0 of A0H must be 1 exactly when the
 *         store hit the L1 data cache.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 * DLA-06  Data address profiling must cover loads as well as stores.
 *         SDM 18.11.3 PEBS Data Address Profiling
 *
 * Given  loads from one address, and stores to it, at CPL 3, counted with USR and without OS
 * When   IA32_PMC1 makes eight records of loads, and eight of stores
 * Then   more than half of them hold that address at 98H, and 1 in bit 0 of A0H if they are of
 *        stores; the others may be of the few accesses on the transitions to the workload and back
 */
TEST(dla, data_address_records_of_cpl_3_hold_the_address, REQS(DLA_02, DLA_03, DLA_06),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	struct mem_sample_setup loads, stores;

	if (!profile(t, EK_LOADS, &loads) || !profile(t, EK_STORES, &stores))
		return;
	check_cpl_3(t, AT(DLA_02), &loads, &workload_load, &address_alone);
	check_cpl_3(t, AT(DLA_06), &stores, &workload_store, &address_alone);
	if (tells_hits())
		check_cpl_3(t, AT(DLA_03), &stores, &workload_store, &bit_0);
}

/* ---- the memory group ---- */

/*
 * ADP-47  The address of a memory group must be the linear address of the access that was sampled.
 *         Linux struct pebs_meminfo
 *
 * Given  loads and stores of 1, 8 and 16 bytes at odd addresses, across the end of a line and of a
 *        page, locked ones, below and above 4 GiB and in the upper half; and with each addressing
 *        mode. All accesses of one shape or mode have one address
 * When   IA32_PMC1 makes two records of each shape, and one of each mode, of the event of loads and
 *        of that of stores; and records at CPL 3
 * Then   the address in the memory group is that of the access, with all bits; at CPL 3 in more
 *        than half of the records, as the transitions have accesses too
 */
TEST(adaptive, memory_group_address_has_every_bit_of_any_access, REQS(ADP_47),
     NEEDS(need_perfmon, need_baseline, need_events), .deadline_ms = 5000)
{
	struct mem_sample_setup loads, stores;

	if (!profile(t, EK_LOADS, &loads) || !profile(t, EK_STORES, &stores))
		return;
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (!check_addresses(t, AT(ADP_47), &loads, &shapes[i], LOADS_OF_IT) ||
		    !check_addresses(t, AT(ADP_47), &stores, &shapes[i], STORES_OF_IT))
			return;
	for (unsigned i = 0; i < sizeof(locked_shapes) / sizeof(locked_shapes[0]); i++)
		if (!check_addresses(t, AT(ADP_47), &stores, &locked_shapes[i], STORES_OF_IT))
			return;
	mem_sample_check_addressing_modes(t, AT(ADP_47), &loads, ACCESS_L1, addressing_mode_of_load,
					  records);
	mem_sample_check_addressing_modes(t, AT(ADP_47), &stores, ACCESS_STORE_HIT,
					  addressing_mode_of_store, records);
	check_cpl_3(t, AT(ADP_47), &loads, &workload_load, &address_alone);
	check_cpl_3(t, AT(ADP_47), &stores, &workload_store, &address_alone);
}

/*
 * ADP-47  The address of a memory group must be the linear address of the access that was sampled.
 *         Linux struct pebs_meminfo
 *
 * Given  the same loads, and loads that hit the L2 or the L3, go to memory or find their line on
 *        its way, 13 bytes after the beginning of a line
 * When   load latency makes two records of each shape, one of each mode, four of the far loads, and
 *        records at CPL 3
 * Then   the address in the memory group is that of the load, with all bits; at CPL 3 in more than
 *        half of the records
 */
TEST(adaptive, memory_group_address_of_load_latency_has_every_bit, REQS(ADP_47),
     NEEDS(need_perfmon, need_baseline, need_events, need_load_latency), .deadline_ms = 5000)
{
	struct mem_sample_setup setup = mem_sample_loads(t);

	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (!check_addresses(t, AT(ADP_47), &setup, &shapes[i], LOADS_OF_IT))
			return;
	for (unsigned i = 0; i < sizeof(far_loads) / sizeof(far_loads[0]); i++)
		check_misses(t, AT(ADP_47), &setup, far_loads[i]);
	mem_sample_check_addressing_modes(t, AT(ADP_47), &setup, ACCESS_L1, addressing_mode_of_load,
					  records);
	check_cpl_3(t, AT(ADP_47), &setup, &workload_load, &address_alone);
}
