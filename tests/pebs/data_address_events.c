/* SPDX-License-Identifier: MIT */
/*
 * Data address profiling, event by event and operand by operand: SDM Table 18-45 "Precise Events
 * That Supports Data Linear Address Profiling", Table 18-46. Each event is provoked by its own
 * workload (tests/measure/cache_workload.h), whose accesses are at known addresses. Events that
 * need another core's cache are in snoop.c and remote_source.c.
 */
#include "tests/measure/addressing_mode.h"
#include "tests/measure/classify.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"

/* Table 18-45, in the order of its columns. */
static const struct listed {
	enum event_kind kind;
	enum access access;
} listed[] = {
	{ EK_STLB_MISS_LOADS, ACCESS_PAGE_WALK }, { EK_LOCK_LOADS, ACCESS_LOCKED },
	{ EK_SPLIT_LOADS, ACCESS_SPLIT }, { EK_LOADS, ACCESS_L1 }, { EK_L1_HIT, ACCESS_L1 },
	{ EK_L2_HIT, ACCESS_L2 }, { EK_L3_HIT, ACCESS_L3 }, { EK_L1_MISS, ACCESS_L2 },
	{ EK_L2_MISS, ACCESS_L3 }, { EK_L3_MISS, ACCESS_MEMORY }, { EK_HIT_LFB, ACCESS_PENDING },
	{ EK_STLB_MISS_STORES, ACCESS_STORE_PAGE_WALK }, { EK_SPLIT_STORES, ACCESS_SPLIT },
	{ EK_STORES, ACCESS_STORE_HIT }, { EK_LOCAL_DRAM, ACCESS_MEMORY },
	{ EK_XSNP_NONE, ACCESS_L3 },
};

static struct mem_sample_record records[MEM_SAMPLE_MOST];

#define INSTRUCTION_MOST 15	/* bytes */

/* CLFLUSH or INVLPG: an event may count them as a load or a store. */
static bool may_be_an_access(const u8 *code)
{
	return code[0] == 0x0f && (code[1] == 0xae || code[1] == 0x01);
}

static bool can_have_had(enum event_kind kind, const u8 *code)
{
	bool of_stores = kind == EK_STORES || kind == EK_SPLIT_STORES ||
			 kind == EK_STLB_MISS_STORES;
	struct instruction_kind what;

	return may_be_an_access(code) ||
	       (classify_instruction(code, &what) && (of_stores ? what.store : what.load));
}

/* Check the record's addresses: that of its instruction, and the next one. */
static void check_place(struct test *t, struct test_claim claim, struct test_claim claim_ip,
			const struct listed *l, const struct workload *w, const volatile void *raw)
{
	enum record_format format = counter_caps()->record_format;
	u64 begin = (u64)(uintptr_t)w->begin, end = (u64)(uintptr_t)w->end, ip, rip;
	struct pebs_record record;

	record_decode(format, (const void *)(uintptr_t)raw, record_size(format), &record);
	rip = sampling_field(&record, RECORD_rip);
	test_check_range(t, claim, begin + 1, end, rip, "R/EIP of a record of %s", w->name);
	if (!record_get(&record, RECORD_eventing_ip, &ip) ||
	    !test_check_range(t, claim_ip, begin, end - 1, ip, "EventingIP of a record of %s",
			      w->name))
		return;
	test_check(t, claim_ip, can_have_had(l->kind, (const u8 *)(uintptr_t)ip),
		   "an access that the event is about", "the instruction at 0x%lx of %s", ip,
		   w->name);
	test_check_range(t, claim, ip + 1, ip + INSTRUCTION_MOST, rip, "R/EIP after 0x%lx of %s",
			 ip, w->name);
}

/* One record of the event on a counter, enabled only by the counter's PEBS enable bit. */
static struct mem_sample_setup profile(const struct test *t, const struct event *event,
				       unsigned counter)
{
	return (struct mem_sample_setup){ .counter = counter, .event = event->code,
				      .period = mem_sample_period(t), .enable = pmc_one(counter),
					  .wanted = 1 };
}

/* false: there was no record, and the check has failed. */
static bool check_event(struct test *t, const struct listed *l, const struct event *event,
			unsigned counter)
{
	struct mem_sample_setup setup = profile(t, event, counter);
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_prepare(t, l->access, &h))
		return false;
	count = mem_sample_take(&setup, &h, records);
	if (!mem_sample_enough(t, AT(DLA_10), &h, count, 1))
		return false;
	for (unsigned i = 0; i < count; i++) {
		u64 address = records[i].address;

		CHECK(t, IDS(DLA_01, DLA_10), mem_sample_in_place(&h, address),
		      "address 0x%lx of %s on IA32_PMC%u, %s are from 0x%lx to 0x%lx", address,
		      event->name, counter, h.name, h.first, h.last);
		CHECK_EQ(t, DLA_04, 0, records[i].source & ~BIT(0), "bits 63:1 of A0H, %s",
			 event->name);
		CHECK_EQ(t, DLA_05, 0, records[i].latency, "A8H, %s", event->name);
		check_place(t, AT(REC_HSW_03), AT(REC_HSW_02), l, h.workload, records[i].raw);
	}
	return true;
}

/*
 * DLA-01      Data address profiling must be active for an event of Table 18-45 on each of
 *             IA32_PMC0 to IA32_PMC3 whose PEBS enable bit is set.
 *             SDM 18.11.3 PEBS Data Address Profiling
 * DLA-04      Bits 63:1 of A0H must be 0 in a data-address record.
 * DLA-05      Offset A8H must be 0 in a data-address record.
 *             SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 * DLA-10      Every event of Table 18-45 must yield a data address when PEBS is enabled for it.
 *             SDM 18.11.3 PEBS Data Address Profiling, Table 18-45
 * REC-HSW-02  Offset B0H, EventingIP, must hold the address of the retired instruction that
 *             triggered the assist.
 * REC-HSW-03  Offset 08H must hold the address of the next instruction executed after the assist.
 *             SDM 18.11.3.1 EventingIP Record
 *
 * Given  each event of Table 18-45, and a workload made to have it, whose accesses are in a known
 *        place
 * When   it makes records on IA32_PMC0, and on one of the other three, which changes from event to
 *        event
 * Then   each record's address is in that place, bits 63:1 of A0H are 0, and A8H is 0; EventingIP
 *        is an instruction of the workload that can have the event, and R/EIP is after it
 */
TEST(dla, each_event_of_table_18_45_has_its_data_address,
     REQS(DLA_01, DLA_04, DLA_05, DLA_10, REC_HSW_02, REC_HSW_03),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	for (unsigned i = 0; i < sizeof(listed) / sizeof(listed[0]); i++) {
		struct event event;

		/* Skylake's client parts have no events for the memory that a load came from; the
		 * memory may be another package's. */
		if (listed[i].kind == EK_LOCAL_DRAM &&
		    (!event_get(listed[i].kind, EV_DLA, &event) || !mem_sample_memory_is_local(t)))
			continue;
		if (!HARNESS_CHECK(t, event_get(listed[i].kind, EV_DLA, &event),
				   "row %u of Table 18-45 is in the table of events", i))
			return;
		if (!check_event(t, &listed[i], &event, 0) ||
		    !check_event(t, &listed[i], &event, 1 + i % 3))
			return;
	}
}

/*
 * MSR-22  Each of IA32_PMC0 to IA32_PMC3 must be usable for PEBS.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  each event of the kinds of Table 18-45 that is precise and has no data address (Table
 *        18-32 names them), and a workload made to have it; SKIP where all have one
 * When   it makes records on IA32_PMC0, and on one of the other three, which changes from event to
 *        event
 * Then   there is a record, and R/EIP is in the workload
 */
TEST(record, each_precise_event_of_accesses_makes_records, REQS(MSR_22),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	unsigned seen = 0;

	for (unsigned i = 0; i < sizeof(listed) / sizeof(listed[0]); i++) {
		const struct listed *l = &listed[i];
		struct event event;

		if (!event_get(l->kind, EV_PEBS, &event) || event.flags & EV_DLA)
			continue;
		if ((l->kind == EK_L3_HIT || l->kind == EK_XSNP_NONE) &&
		    test_erratum(t, ERRATUM_LLC_EVENTS))
			continue;
		seen++;
		for (unsigned c = 0; c <= 1 + i % 3; c += 1 + i % 3) {
			struct mem_sample_setup setup = profile(t, &event, c);
			struct cache_workload h;
			unsigned count;

			if (!mem_sample_prepare(t, l->access, &h))
				return;
			count = mem_sample_take(&setup, &h, records);
			if (!mem_sample_enough(t, AT(MSR_22), &h, count, 1))
				return;
			for (unsigned r = 0; r < count; r++)
				check_place(t, AT(MSR_22), AT(MSR_22), l, h.workload,
					    records[r].raw);
		}
	}
	if (!seen)
		test_skip(t, "each event of accesses has a data address");
}

#define FORM_ROUNDS	4000	/* each accesses near memory: 125 periods */

static void check_form(struct test *t, const struct addressing_mode *form, enum event_kind kind)
{
	struct mem_sample_setup setup;
	struct event event, hits;
	struct cache_workload h;
	unsigned count, hit = 0;

	if (!mem_sample_prepare(t, ACCESS_L1, &h) ||
	    !HARNESS_CHECK(t, event_get(kind, EV_DLA, &event), "the event is in the table"))
		return;
	setup = profile(t, &event, 2);
	setup.most = FORM_ROUNDS;
	h.workload = form->workload;
	h.name = form->name;
	addressing_mode_begin();
	count = mem_sample_take(&setup, &h, records);
	addressing_mode_end();
	if (!mem_sample_enough(t, AT(DLA_02), &h, count, 1))
		return;
	for (unsigned i = 0; i < count; i++)
		CHECK_EQ(t, DLA_02, form->address, records[i].address, "address of %s by %s",
			 event.name, form->name);
	for (unsigned i = 0; i < count; i++)
		hit += !!(records[i].source & BIT(0));
	if (event_get(kind, EV_DLA | EV_STORE_L1, &hits))
		CHECK_RANGE(t, DLA_03, (count + 1) / 2, count, hit,
			    "of %u records of stores by %s with bit 0 of A0H", count, form->name);
}

/*
 * DLA-02  Offset 98H must hold the linear address of the load, or of the destination of the store.
 * DLA-03  For the store events that Table 18-46 names, bit 0 of A0H must be 1 exactly when the
 *         store hit the L1 data cache.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 *
 * Given  loads and stores by base, index and scale, displacement, RIP, segment base, strings,
 *        stack
 * When   each form makes records on IA32_PMC2
 * Then   each record's address is the operand's linear one; bit 0 of A0H is 1 in at least half of
 *        those of stores, all of which are near
 */
TEST(dla, data_address_is_linear_for_each_operand_form, REQS(DLA_02, DLA_03),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	struct addressing_mode form;

	for (unsigned i = 0; addressing_mode_of_load(i, &form); i++)
		check_form(t, &form, EK_LOADS);
	for (unsigned i = 0; addressing_mode_of_store(i, &form); i++)
		check_form(t, &form, EK_STORES);
}

static bool hit(const struct mem_sample_record *record, u64 bit)
{
	return record->source & bit;
}

/* Check this only in a strict run: a processor may fetch the line before the store accesses it. */
static void check_missing(struct test *t, struct mem_sample_setup *setup, enum access access)
{
	if (test_is_strict(t))
		mem_sample_check_most(t, AT(DLA_03), setup, access, SHARE_FEWER, hit, BIT(0),
				      "have bit 0");
}

/*
 * DLA-03  For the store events that Table 18-46 names, bit 0 of A0H must be 1 exactly when the
 *         store hit the L1 data cache.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 *
 * Given  stores to lines in the L1 data cache, and to lines that are in the L2, in the L3, or only
 *        in memory; stores that walk pages, to lines in the L1 and to flushed ones; stores across
 *        the end of a line, both lines flushed
 * When   each counter makes records of stores, alternately of hits and misses; IA32_PMC0 makes
 *        records of stores that walk pages, and of split stores, with the events of these
 * Then   bit 0 of A0H is 1 in most records of hits, and in strict runs 0 in most of misses
 */
TEST(dla, store_record_has_the_hit_bit_exactly_if_the_l1_was_hit, REQS(DLA_03),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	static const enum access missing[] = { ACCESS_STORE_MISS, ACCESS_STORE_L2,
					       ACCESS_STORE_L3 };
	struct mem_sample_setup setup;
	struct event event;

	if (!HARNESS_CHECK(t, event_get(EK_STORES, EV_DLA | EV_STORE_L1, &event),
			   "the event is in the table"))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		setup = profile(t, &event, c);
		mem_sample_check_most(t, AT(DLA_03), &setup, ACCESS_STORE_HIT, SHARE_MORE, hit,
				      BIT(0), "have bit 0");
		for (unsigned i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
			check_missing(t, &setup, missing[i]);
	}
	if (!HARNESS_CHECK(t, event_get(EK_STLB_MISS_STORES, EV_DLA | EV_STORE_L1, &event),
			   "the event is in the table"))
		return;
	setup = profile(t, &event, 0);
	mem_sample_check_most(t, AT(DLA_03), &setup, ACCESS_STORE_PAGE_WALK, SHARE_MORE, hit,
			      BIT(0), "have bit 0");
	check_missing(t, &setup, ACCESS_STORE_MISS_WALK);
	if (!HARNESS_CHECK(t, event_get(EK_SPLIT_STORES, EV_DLA | EV_STORE_L1, &event),
			   "the event is in the table"))
		return;
	setup = profile(t, &event, 0);
	check_missing(t, &setup, ACCESS_STORE_MISS_SPLIT);
}
