/* SPDX-License-Identifier: MIT */
/* Records of tagged accesses, and their events. The data source codes of memory are the only thing
 * that this file judges. */
#include "tests/measure/mem_sample.h"

#include "kernel/machine/smp.h"
#include "pmu/pmi.h"
#include "tests/measure/marked_walk.h"

#define BATCH_SILENT	250	/* rounds of a batch where none gives a record */
#define BATCH_GROWTH	4
#define WINDOWS		3

/* The largest batch gave no record: smaller ones are used until there is a record again. A batch
 * whose accesses are never tagged says nothing about others. */
static bool silent;
/* The last records are of loads, of which the processor tags some "randomly". false: of stores. */
static bool taken_of_loads;
static u16 taken_event;		/* of the last records */

static u16 code_of(enum event_kind kind, unsigned flags)
{
	struct event event = { .code = 0 };

	event_get(kind, flags, &event);
	return event.code;
}

#define USUAL_COUNTER	3u

/* The counter that each P-core can use for this event, or the last one that this processor can
 * use. */
static unsigned latency_counter(void)
{
	struct event event = { .counters = BIT(USUAL_COUNTER) };

	event_get(EK_LOAD_LATENCY, EV_LL, &event);
	if (!event.counters || event.counters & BIT(USUAL_COUNTER))
		return USUAL_COUNTER;
	return 31u - (unsigned)__builtin_clz(event.counters);
}

u64 mem_sample_period(const struct test *t)
{
	return test_rounds(t, MEM_SAMPLE_PERIOD_STRICT, MEM_SAMPLE_PERIOD);
}

struct mem_sample_setup mem_sample_loads(const struct test *t)
{
	const unsigned counter = latency_counter();

	return (struct mem_sample_setup){ .counter = counter,
					  .event = code_of(EK_LOAD_LATENCY, EV_LL),
					  .threshold = LATENCY_THRESHOLD_LEAST,
					  .period = mem_sample_period(t),
					  .enable = latency_enable(counter),
					  .wanted = MEM_SAMPLE_RECORDS };
}

struct mem_sample_setup mem_sample_stores(const struct test *t)
{
	return (struct mem_sample_setup){ .counter = PRECISE_STORE_COUNTER,
					  .event = code_of(EK_PRECISE_STORE, EV_PS),
					  .period = mem_sample_period(t),
					  .enable = precise_store_enable(),
					  .wanted = MEM_SAMPLE_RECORDS };
}

void mem_sample_arm(const struct mem_sample_setup *setup, u64 period)
{
	taken_of_loads = setup->threshold;
	taken_event = setup->event;
	if (setup->threshold)
		latency_set_threshold(setup->threshold);
	memory_sampling_arm(setup->counter, setup->event, setup->user ? COUNT_USR : COUNT_BOTH,
			    setup->enable, period);
}

static void run_rounds(const struct mem_sample_setup *setup, const struct cache_workload *h, u64 n)
{
	const struct pmc_mask on = pmc_or(pmc_one(setup->counter), setup->beside);

	if (!setup->user) {
		cache_workload_run(h, n, on);
		return;
	}
	counters_enable(on);
	workload_run_user_at(h->workload, n, &h->at);
	counters_disable();
}

void mem_sample_off(const struct mem_sample_setup *setup)
{
	pebs_disarm();
	counter_program_disabled(setup->counter, 0, 0);
	counters_clear(counters_status());
}

u64 mem_sample_at(const void *record, unsigned offset)
{
	return *(const volatile u64 *)((uintptr_t)record + offset);
}

/* true: the record is of the workload, not of the WRMSR that opens or closes the window. */
static bool is_of_workload(const struct cache_workload *h, unsigned i)
{
	return !sampling_is_switching(h->workload,
				      mem_sample_at(ds_record(i), sampling_offsets().rip));
}

static unsigned records_of(const struct cache_workload *h)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < ds_records(); i++)
		kept += is_of_workload(h, i);
	return kept;
}

/* Rounds for the missing records, estimated from the rounds that the present records took; at first
 * with one event in each round. One record more makes up for a period that has only begun. */
static u64 next_batch(const struct mem_sample_setup *setup, u64 batch, unsigned have)
{
	if (!setup->rounds)
		return (setup->wanted + 1) * setup->period;
	if (!have)
		return batch * BATCH_GROWTH;
	return setup->rounds * (setup->wanted - have) / have + setup->period;
}

unsigned mem_sample_take(struct mem_sample_setup *setup, const struct cache_workload *h,
			 struct mem_sample_record records[MEM_SAMPLE_MOST])
{
	const struct sampling_offsets at = sampling_offsets();
	struct ds_setup ds = sampling_setup(MEM_SAMPLE_MOST);
	u64 most = setup->most ? setup->most : silent ? 2 * BATCH_SILENT : MEM_SAMPLE_ROUNDS_MOST;
	unsigned all, count = 0;
	u64 n;

	ds.reset[setup->counter] = pebs_reset_value(setup->counter, setup->period);
	setup->rounds = 0;
	n = next_batch(setup, 0, 0);
	ds_open(&ds);
	mem_sample_arm(setup, setup->period);
	while (count < setup->wanted && ds_records() < MEM_SAMPLE_MOST && setup->rounds < most) {
		if (n > most - setup->rounds)
			n = most - setup->rounds;
		run_rounds(setup, h, n);
		setup->rounds += n;
		count = records_of(h);
		if (count < setup->wanted)
			n = next_batch(setup, n, count);
	}
	mem_sample_off(setup);
	all = ds_records();
	count = 0;
	if (all)
		silent = false;
	else if (!setup->most)
		silent = true;
	for (unsigned i = 0; i < all; i++) {
		if (!is_of_workload(h, i))
			continue;
		records[count++] = (struct mem_sample_record){
			mem_sample_at(ds_record(i), at.address),
			mem_sample_at(ds_record(i), at.source),
			mem_sample_at(ds_record(i), at.latency),
			ds_record(i),
		};
	}
	return count;
}

bool mem_sample_has_bit(const struct mem_sample_record *record, u64 bit)
{
	return record->source & bit;
}

bool mem_sample_has_code(const struct mem_sample_record *record, u64 codes)
{
	return codes >> (record->source & 0xf) & 1;
}

bool mem_sample_has_code_of_core(const struct mem_sample_record *record, u64 codes)
{
	return latency_source_is(record->source, codes);
}

bool mem_sample_in_place(const struct cache_workload *h, u64 address)
{
	return address >= h->first && address <= h->last;
}

u64 mem_sample_count(const struct mem_sample_setup *setup, const struct cache_workload *h, u64 n)
{
	struct ds_setup ds = sampling_setup(8);
	u64 start, count;

	ds_open(&ds);
	mem_sample_arm(setup, NEVER);
	start = counter_read(setup->counter);
	run_rounds(setup, h, n);
	count = counter_read(setup->counter) - start;
	mem_sample_off(setup);
	return count;
}

u64 mem_sample_count_least(const struct mem_sample_setup *setup, const struct cache_workload *h,
			   u64 n)
{
	u64 least = ~0ULL;

	for (unsigned i = 0; i < WINDOWS && least; i++) {
		u64 count = mem_sample_count(setup, h, n);

		if (count < least)
			least = count;
	}
	return least;
}

/* L3_HIT and L3_MISS of MEM_LOAD_UOPS_RETIRED, the XSNP events and LOCAL_DRAM */
static bool is_event_of_the_l3(u16 event)
{
	enum { RETIRED = 0xd1, L3_HIT_RETIRED = 0xd2, L3_MISS_RETIRED = 0xd3 };
	enum { L3_HIT = 0x04, L3_MISS = 0x20 };
	const u8 code = (u8)event, mask = (u8)(event >> 8);

	if (code == RETIRED)
		return mask == L3_HIT || mask == L3_MISS;
	return code == L3_HIT_RETIRED || code == L3_MISS_RETIRED;
}

bool mem_sample_hits_are_short(struct test *t, u64 n)
{
	const struct generation *g = counter_caps()->generation;

	if (n || !g || !(g->set & GENS_ONE_THREAD) || test_is_strict(t))
		return false;
	test_inconclusive(t, "no load latency event of L1 hits, which may be shorter than that");
	return true;
}

bool mem_sample_event_is_short(struct test *t, enum event_kind kind)
{
	switch (kind) {
	case EK_L2_HIT:
	case EK_LOCK_LOADS:
		return test_erratum(t, ERRATUM_L2_LOADS);
	case EK_L3_HIT:
	case EK_L3_MISS:
		return test_erratum(t, ERRATUM_L3_LOADS);
	default:
		return false;
	}
}

bool mem_sample_enough(struct test *t, struct test_claim claim, const struct cache_workload *h,
		       unsigned records, unsigned wanted)
{
	if (!records && counter_caps()->hypervisor) {
		test_inconclusive(t, "no record under hypervisor \"%s\"",
				  counter_caps()->host.signature);
		return false;
	}
	if (!records && taken_of_loads && test_erratum(t, ERRATUM_LATENCY_STOPS)) {
		test_inconclusive(t, "no record of %s: load latency may have stopped", h->name);
		return false;
	}
	if (records && records < wanted && taken_of_loads && !test_is_strict(t)) {
		test_inconclusive(t, "%u records of %s, too few to judge: %u are wanted", records,
				  h->name, wanted);
		return false;
	}
	if (records < wanted && is_event_of_the_l3(taken_event) &&
	    test_erratum(t, ERRATUM_L3_LOADS)) {
		test_inconclusive(t, "%u records of %s: event %#x may count too few", records,
				  h->name, taken_event);
		return false;
	}
	return test_check_range(t, claim, wanted, ~0ULL, records, "records of %s", h->name);
}

#define CODES_MEMORY	(BIT(0x0) | BIT(0xa) | BIT(0xb) | BIT(0xc) | BIT(0xd))
#define CODES_L4	(BIT(0x8) | BIT(0x9))

u64 mem_sample_codes_of_memory(struct test *t)
{
	return CODES_MEMORY | (test_erratum(t, ERRATUM_MEMORY_CACHE) ? CODES_L4 : 0);
}

static u64 codes_of_memory_of_core(struct test *t)
{
	u64 codes = latency_codes(MEM_LOCAL_SHARED) | latency_codes(MEM_LOCAL_EXCLUSIVE);

	if (!mem_sample_memory_is_local(t))
		codes |= latency_codes(MEM_REMOTE_SHARED) | latency_codes(MEM_REMOTE_EXCLUSIVE);
	if (!test_is_strict(t))
		codes |= latency_codes(MEM_UNKNOWN_L3_MISS);
	if (test_erratum(t, ERRATUM_MEMORY_SIDE))
		codes |= latency_codes(MEM_L4) | latency_codes(MEM_REMOTE_L4);
	return codes;
}

u64 mem_sample_codes_of_core(struct test *t, enum access access)
{
	switch (access) {
	case ACCESS_L1:
		return latency_codes(MEM_L1);
	case ACCESS_PENDING:
		return latency_codes(MEM_LFB);
	case ACCESS_L2:
		return latency_codes(MEM_L2) |
		       (test_erratum(t, ERRATUM_LARGER_L1) ? latency_codes(MEM_L1) : 0);
	case ACCESS_L3:
		return latency_codes(MEM_L3) |
		       (test_erratum(t, ERRATUM_VICTIM_L3) ? codes_of_memory_of_core(t) : 0);
	case ACCESS_MEMORY:
		return codes_of_memory_of_core(t);
	default:
		return 0;
	}
}

bool mem_sample_memory_is_local(const struct test *t)
{
	struct topology first = smp_topology(CPU_BOOT);
	bool local = true;

	for (unsigned cpu = 1; cpu < smp_count(); cpu++) {
		struct topology other = smp_topology(cpu);

		local &= topology_same_package(&first, &other);
	}
	return local || test_is_strict(t);
}

bool mem_sample_prepare(struct test *t, enum access access, struct cache_workload *h)
{
	char reason[96];

	if (cache_workload_get(access, h, reason, sizeof(reason)))
		return true;
	test_skip(t, "%s", reason);
	return false;
}

static unsigned holding(const struct mem_sample_record *records, unsigned count,
			bool (*holds)(const struct mem_sample_record *record, u64 arg), u64 arg)
{
	unsigned hits = 0;

	for (unsigned i = 0; i < count; i++)
		hits += holds(&records[i], arg);
	return hits;
}

void mem_sample_check_most(struct test *t, struct test_claim claim, struct mem_sample_setup *setup,
			   enum access access, enum mem_sample_share share,
			   bool (*holds)(const struct mem_sample_record *record, u64 arg), u64 arg,
			   const char *what)
{
	static struct mem_sample_record records[MEM_SAMPLE_MOST];
	const bool most = share == SHARE_MORE;
	unsigned count, hits, clear;
	struct cache_workload h;

	if (!mem_sample_prepare(t, access, &h))
		return;
	setup->wanted = MEM_SAMPLE_RECORDS;
	count = mem_sample_take(setup, &h, records);
	hits = holding(records, count, holds, arg);
	clear = most ? hits : count - hits;
	if (count && 4 * clear < 3 * count) {
		setup->wanted = MEM_SAMPLE_RECORDS_SURE;
		count = mem_sample_take(setup, &h, records);
		hits = holding(records, count, holds, arg);
	}
	if (!count && !test_is_strict(t) &&
	    (access == ACCESS_DEVICE || access == ACCESS_UNCACHEABLE)) {
		test_inconclusive(t, "no record of %s, which perhaps are never tagged", h.name);
		return;
	}
	if (!mem_sample_enough(t, claim, &h, count, setup->wanted))
		return;
	test_check_range(t, claim, most ? count / 2 + 1 : 0, most ? count : (count - 1) / 2, hits,
			 "of %u records of %s %s (A0H of the first is 0x%lx)", count, h.name, what,
			 records[0].source);
}

bool mem_sample_collect(struct test *t, struct test_claim claim, struct mem_sample_setup *setup,
			enum access access, struct cache_workload *h,
			struct mem_sample_record records[MEM_SAMPLE_MOST], unsigned *count)
{
	if (!mem_sample_prepare(t, access, h))
		return false;
	*count = mem_sample_take(setup, h, records);
	if (access == ACCESS_L1 && taken_of_loads && mem_sample_hits_are_short(t, *count))
		return false;
	return mem_sample_enough(t, claim, h, *count, setup->wanted);
}

void mem_sample_check_addressing_modes(struct test *t, struct test_claim claim,
				       struct mem_sample_setup *setup, enum access access,
				       bool (*form_of)(unsigned i, struct addressing_mode *form),
				       struct mem_sample_record records[MEM_SAMPLE_MOST])
{
	struct cache_workload h;
	struct addressing_mode form;

	if (!mem_sample_prepare(t, access, &h))
		return;
	setup->wanted = 1;
	for (unsigned i = 0; form_of(i, &form); i++) {
		unsigned count;

		h.workload = form.workload;
		h.name = form.name;
		addressing_mode_begin();
		count = mem_sample_take(setup, &h, records);
		addressing_mode_end();
		if (!mem_sample_enough(t, claim, &h, count, setup->wanted))
			return;
		for (unsigned r = 0; r < count; r++)
			test_check_eq(t, claim, form.address, records[r].address,
				      "address of record %u of %s", r, form.name);
	}
}

#define RUNS_MOST	4000	/* of a sample piece */

static void check_mark(struct test *t, const struct mem_sample_claims *claims, unsigned counter,
		       const struct sampling_sum *sum, const void *raw)
{
	enum record_format format = counter_caps()->record_format;
	struct pebs_record record;
	u64 status;

	record_decode(format, raw, record_size(format), &record);
	test_check_eq(t, claims->rax, sum->rax, sampling_field(&record, RECORD_rax),
		      "RAX of a record of IA32_PMC%u", counter);
	if (sum->flags)
		test_check_eq(t, claims->flags, sum->flags,
			      sampling_field(&record, RECORD_rflags) & RFLAGS_STATUS,
			      "status flags of a record of IA32_PMC%u", counter);
	sampling_check_registers(t, claims->registers, raw, (u64)(uintptr_t)workload_memory(),
				 workload_stack());
	if (record_get(&record, RECORD_status, &status) && test_is_strict(t))
		test_check_eq(t, claims->status, BIT(counter), status & BIT(counter),
			      "bit of IA32_PMC%u in the status of its record", counter);
}

void mem_sample_check_registers(struct test *t, const struct mem_sample_claims *claims,
				struct mem_sample_setup *setup, const struct workload *w)
{
	enum record_format format = counter_caps()->record_format;
	static struct sampling_sum sums[SAMPLE_MARKS];
	struct ds_setup ds = sampling_setup(MEM_SAMPLE_RECORDS_SURE);
	const struct cache_workload h = { .name = w->name };
	unsigned marked = 0;

	sampling_fill(sums, SAMPLE_MARKS);
	ds.reset[setup->counter] = pebs_reset_value(setup->counter, setup->period);
	ds_open(&ds);
	mem_sample_arm(setup, setup->period);
	for (unsigned i = 0; i < RUNS_MOST && ds_records() < MEM_SAMPLE_RECORDS_SURE; i++)
		workload_run(w, 1, pmc_one(setup->counter));
	mem_sample_off(setup);
	taken_of_loads = setup->threshold;
	taken_event = setup->event;
	if (!mem_sample_enough(t, claims->rax, &h, ds_records(), MEM_SAMPLE_RECORDS))
		return;
	for (unsigned i = 0; i < ds_records(); i++) {
		static const struct sampling_sum kept = { SAMPLE_RAX, 0 };
		struct pebs_record record;
		int mark;

		record_decode(format, ds_record(i), record_size(format), &record);
		mark = sampling_mark(w, SAMPLE_MARKS, &record);
		if (mark < 0)
			continue;
		marked++;
		check_mark(t, claims, setup->counter, setup->threshold ? &sums[mark] : &kept,
			   ds_record(i));
	}
	if (!marked)
		test_inconclusive(t, "%u records, none of a marked access", ds_records());
}

#define BATCHES	8

struct mem_sample_end mem_sample_one(struct mem_sample_setup *setup, const struct cache_workload *h,
				     bool threshold, bool interrupts)
{
	struct ds_setup ds = sampling_setup(8);
	struct mem_sample_end end;
	const struct pmi_log *log;

	ds.threshold = threshold ? 1 : ds.capacity;
	ds_open(&ds);
	pmi_open(NULL);
	mem_sample_arm(setup, NEVER);
	pebs_disarm();
	counter_program(setup->counter, setup->event,
			COUNT_BOTH | (interrupts ? IA32_PERFEVTSEL_INT : 0));
	counter_preset(setup->counter, setup->period);
	pebs_enable(setup->enable);
	for (unsigned i = 0; i < BATCHES && !ds_records(); i++)
		cache_workload_run(h, setup->rounds, pmc_one(setup->counter));
	log = pmi_end();
	end = (struct mem_sample_end){
		.records = ds_records(), .interrupts = log->count,
		.entry = log->entry[0].status,
	};
	mem_sample_off(setup);
	return end;
}

u64 mem_sample_share_least(enum mem_sample_share share, u64 records)
{
	return share == SHARE_EACH ? records : share == SHARE_MORE ? records / 2 + 1 : 0;
}

u64 mem_sample_share_most(enum mem_sample_share share, u64 records)
{
	return share == SHARE_NONE ? 0 : share == SHARE_FEWER ? (records - 1) / 2 : records;
}

bool retire_latencies_there(struct test *t, struct test_claim claim,
			    const struct retire_latencies *l)
{
	if (!l->records && !test_is_strict(t)) {
		test_inconclusive(t, "no load was tagged");
		return false;
	}
	if (!test_check(t, claim, l->records > 0, "records", "records of loads"))
		return false;
	if (l->valid)
		return true;
	test_inconclusive(t, "no retire latency of %u records is valid", l->records);
	return false;
}

void retire_latencies_fit(struct test *t, struct test_claim claim, const struct retire_latencies *l,
			  const char *config, u64 value)
{
	test_check_range(t, claim, 1, l->cycles, l->sum,
			 "sum of %u retire latencies, of %lu cycles, %s = %#lx", l->valid,
			 l->cycles, config, value);
}

void retire_latencies_rise(struct test *t, struct test_claim claim,
			   const struct retire_latencies *none,
			   const struct retire_latencies *stall)
{
	test_check_range(t, claim, none->sum / none->valid + 1, RETIRE_LATENCY_MOST,
			 stall->sum / stall->valid, "average of %u loads from memory, against %lu",
			 stall->valid, none->sum / none->valid);
}
