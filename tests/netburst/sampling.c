/* SPDX-License-Identifier: MIT */
/*
 * Records of NetBurst: SDM "Processor Event-Based Sampling (PEBS)" and "BTS and DS Save Area". The
 * manual isn't exact about the record's instruction ("the linear IP ... nominally"). So the
 * overflow is on one of the marked loads, and the record may be of this load or the next.
 */
#include "tests/netburst/sampling.h"

#include "kernel/interrupt/fault.h"
#include "kernel/memory/string.h"
#include "pmu/pmi.h"
#include "tests/measure/marked_walk.h"

#define AMID	4u	/* the marked load that overflows */

struct netburst_sampling netburst_sample_loads(unsigned counter, u64 levels)
{
	return (struct netburst_sampling){
		.what = netburst_metric(NB_METRIC_MEMORY_LOADS, counter, levels, 0),
		.nth = NETBURST_PERIOD + AMID, .every = NETBURST_NEVER,
		.threshold = NETBURST_RECORDS,
		.w = &workload_sample, .n = NETBURST_PERIOD,
	};
}

struct netburst_sampling netburst_own_loads(void)
{
	unsigned thread = netburst_thread();

	return netburst_sample_loads(NETBURST_PEBS_COUNTER(thread), netburst_both(thread));
}

void netburst_sample_open(const struct netburst_sampling *s)
{
	const struct ds_setup setup = {
		.format = RECORD_NB64, .capacity = NETBURST_RECORDS, .threshold = s->threshold,
		.start = s->start,
		.reset = { (0 - s->every) & BITS(0, NB_WIDTH - 1) },
	};

	ds_open(&setup);
	if (s->threshold_bytes)
		ds_set_threshold_bytes(s->threshold_bytes);
	if (s->maximum_bytes)
		ds_set_maximum_bytes(s->maximum_bytes);
}

/* Each marked load adds a word of memory to RAX; all these words differ. */
static void fill_memory(u64 *rax, u64 *flags)
{
	u64 *operand = workload_memory() + SAMPLE_OFFSET / 8;

	rax[0] = SAMPLE_RAX;
	for (unsigned i = 0; i < SAMPLE_MARKS; i++) {
		operand[i] = 0x0123456789abcdef + 0x1111111111111111 * (u64)i;
		rax[i + 1] = rax[i] + operand[i];
		flags[i + 1] = flags_of_add(rax[i], operand[i]);
	}
}

void netburst_sample_run(const struct netburst_sampling *s, struct netburst_taken *taken)
{
	const struct workload_switch by = {
		.msr = netburst_cccr_msr(s->what.counter), .off = netburst_cccr(&s->what),
		.on = netburst_cccr(&s->what) | NB_CCCR_ENABLE, .above = s->above,
	};
	const struct pmi_options listening = { .masked = s->masked };
	int64_t offset;

	memset(taken, 0, sizeof(*taken));
	taken->w = s->w;
	taken->stack = workload_stack();
	fill_memory(taken->rax, taken->flags);
	netburst_preset(s->what.counter, s->nth);
	pmi_open(&listening);
	netburst_beside(&s->what, true);
	if (s->user) {
		msr_write(by.msr, by.on);
		taken->stack = workload_run_user(s->w, s->n);
		msr_write(by.msr, by.off);
	} else {
		workload_run_switched(s->w, s->n, &by);
	}
	netburst_beside(&s->what, false);
	taken->interrupts = pmi_settle()->count;
	pmi_close();
	taken->counter = netburst_read(s->what.counter);
	taken->records = ds_records();
	taken->bytes = ds_bytes();
	taken->outside = ds_written_outside(0, taken->records, &offset);
	for (unsigned i = s->start; i < taken->records; i++)
		taken->unwritten += !ds_record_written(i);
	memcpy(taken->first, ds_record(0), record_size(RECORD_NB64));
	record_decode(RECORD_NB64, taken->first, sizeof(taken->first), &taken->record);
	taken->memory = (u64)(uintptr_t)workload_memory();
}

void netburst_sample(const struct netburst_sampling *s, struct netburst_taken *taken)
{
	netburst_sample_open(s);
	netburst_pebs(true, false);
	netburst_sample_run(s, taken);
	netburst_pebs(false, false);
}

struct pebs_record netburst_record(unsigned i)
{
	struct pebs_record record;

	record_decode(RECORD_NB64, ds_record(i), RECORD_MAX_SIZE, &record);
	return record;
}

int netburst_mark_of(const struct workload *w, u64 ip)
{
	int mark = workload_mark_at(w, SAMPLE_MARKS, ip);

	if (mark >= 0)
		return mark;
	return workload_mark_at(w, SAMPLE_MARKS, ip - w->mark_length);
}

bool netburst_check_one(struct test *t, struct test_claim claim, const struct netburst_taken *taken,
			const char *what)
{
	u64 ip = taken->record.value[RECORD_rip], rax = taken->record.value[RECORD_rax];
	int mark = netburst_mark_of(taken->w, ip);

	if (!test_check_eq(t, claim, 1, taken->records, "records, %s", what) ||
	    !test_check(t, claim, mark >= 0, "a marked load, or the instruction after it",
			"IP 0x%lx, %s", ip, what))
		return false;
	return test_check(t, claim, rax == taken->rax[mark] || rax == taken->rax[mark + 1],
			  "RAX before or after it", "RAX 0x%lx with marked load %d, %s", rax, mark,
			  what);
}
