/* SPDX-License-Identifier: MIT */
/*
 * Timed PEBS: the retire latency of the basic group, bits 47:32 of the format word, with
 * IA32_PERF_CAPABILITIES[17]. It is the time between the retirement of the previous instruction and
 * of the instruction that caused the record, in core cycles (intel/perfmon README).
 */
#include "kernel/memory/pages.h"
#include "kernel/output/fmt.h"
#include "pmu/memory_sampling.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"
#include "tests/measure/mem_sample.h"

#define CYCLES		PMC_FIXED(1)	/* the unit of the field */
#define RECORDS		8u
#define BATCH		250u
#define WINDOWS_MOST	(MEM_SAMPLE_ROUNDS_MOST / BATCH)
#define LONG		20000u	/* loads of one REP LODSB, to begin with */
#define LONG_MOST	(8 * LONG)
#define LATENCY_SHIFT	32

static bool need_retire_latency(char *reason, size_t size)
{
	if (counter_caps()->perf_capabilities & IA32_PERF_CAPABILITIES_PEBS_TIMING_INFO)
		return true;
	fmt_print(reason, size, "no retire latency (IA32_PERF_CAPABILITIES = %#lx)",
		  counter_caps()->perf_capabilities);
	return false;
}

/* The groups of the records: the basic group alone; with further groups after it. */
static const u64 configs[] = { 0, CONFIG_MEMORY | CONFIG_GPR | CONFIG_XMM };
#define LATENCY_CONFIGS (sizeof(configs) / sizeof(configs[0]))

/* Take records of this workload's loads by the load latency event, and count core cycles too. The
 * basic group alone by the event's first counter, further groups by its last one. */
static struct retire_latencies take_in(const struct workload *w, u64 rounds, u64 config,
				       unsigned *windows)
{
	const struct workload_place at = { .memory = pages_get()->small };
	const struct adaptive_layout layout = {
		.config = config, .size = (u16)adaptive_bytes(config),
	};
	struct ds_setup setup = sampling_setup(MEM_SAMPLE_RECORDS_SURE);
	struct retire_latencies l = { .records = 0 };
	struct event event = { .counters = 1 };
	unsigned counter;

	event_get(EK_LOAD_LATENCY, EV_LL, &event);
	event.counters &= (u32)counters_gp().bits;
	counter = (unsigned)(config ? 31 - __builtin_clz(event.counters) :
				      __builtin_ctz(event.counters));
	setup.layout = &layout;
	setup.threshold = MEM_SAMPLE_RECORDS_SURE + 1;
	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		setup.reset[i] = pebs_reset_value(0, MEM_SAMPLE_PERIOD);
	ds_open(&setup);
	latency_set_threshold(LATENCY_THRESHOLD_LEAST);
	counter_program(CYCLES, 0, COUNT_BOTH);
	counter_write(CYCLES, 0);
	pebs_arm(counter, event.code, COUNT_BOTH, MEM_SAMPLE_PERIOD);
	for (*windows = 0; *windows < WINDOWS_MOST && ds_records() < RECORDS; (*windows)++)
		workload_run_at(w, rounds, &at, pmc_or(pmc_one(counter), pmc_one(CYCLES)));
	pebs_disarm();
	counter_program_disabled(counter, 0, 0);
	counter_program_disabled(CYCLES, 0, 0);
	counters_clear(counters_status());
	l.records = l.valid = ds_records();
	l.cycles = counter_read(CYCLES);
	for (unsigned i = 0; i < l.records; i++)
		l.sum += adaptive_at(i * layout.size) >> LATENCY_SHIFT & RETIRE_LATENCY_MOST;
	return l;
}

static struct retire_latencies take(const struct workload *w, u64 config)
{
	unsigned windows;

	return take_in(w, BATCH, config, &windows);
}

/*
 * HYB-17  Where IA32_PERF_CAPABILITIES[17] is 1, bits 47:32 of the format word must be a retire
 *         latency, at most FFFFH.
 *         intel/perfmon README: timed PEBS; Linux; kvm-unit-tests
 *
 * Given  loads of a line that was just flushed; core cycles counted by fixed counter 1
 * When   several of them are recorded by the basic group alone on the event's first counter, and
 *        with memory, GPR and XMM group on its last one
 * Then   the sum of the retire latencies is at most the number of cycles of the windows that made
 *        the records, because these times don't overlap; some are above 0
 */
TEST(adaptive, retire_latencies_are_no_more_than_the_cycles_that_passed, REQS(HYB_17),
     NEEDS(need_perfmon, need_baseline, need_events, need_load_latency, need_fixed_0_to_2,
	   need_retire_latency),
     .deadline_ms = 5000)
{
	for (unsigned i = 0; i < LATENCY_CONFIGS; i++) {
		const struct retire_latencies l = take(&workload_uncached, configs[i]);

		if (!retire_latencies_there(t, AT(HYB_17), &l))
			return;
		retire_latencies_fit(t, AT(HYB_17), &l, "MSR_PEBS_DATA_CFG", configs[i]);
	}
}

/*
 * HYB-18  A long stall before the sampled instruction retires must show as a larger retire latency
 *         than none.
 *         intel/perfmon README: timed PEBS
 *
 * Given  loads of one line that stays in the L1, and loads of a line that was just flushed
 * When   several of each are recorded
 * Then   the average retire latency of the second is above that of the first
 * Control: both kinds of loads are recorded
 */
TEST(adaptive, retire_latency_is_larger_after_a_stall, REQS(HYB_18),
     NEEDS(need_perfmon, need_baseline, need_events, need_load_latency, need_fixed_0_to_2,
	   need_retire_latency),
     .deadline_ms = 5000)
{
	const struct retire_latencies none = take(&workload_load, 0),
				      stall = take(&workload_uncached, 0);

	if (!retire_latencies_there(t, CONTROL_AT(HYB_18), &none) ||
	    !retire_latencies_there(t, CONTROL_AT(HYB_18), &stall))
		return;
	retire_latencies_rise(t, AT(HYB_18), &none, &stall);
}

/*
 * HYB-26  A retire latency of more than FFFFH cycles must be FFFFH.
 *         intel/perfmon README: timed PEBS (one source)
 *
 * Given  a REP LODSB whose loads take more than FFFFH cycles together: of 20000 loads, or of more
 *        if these are faster
 * When   it is recorded several times
 * Then   the retire latency of each record is FFFFH
 * Control: as many cycles passed in an average window, which is one such instruction
 */
TEST(adaptive, retire_latency_of_more_than_16_bits_is_ffff, REQS(HYB_26),
     NEEDS(need_perfmon, need_baseline, need_events, need_load_latency, need_fixed_0_to_2,
	   need_retire_latency),
     .deadline_ms = 30000)
{
	unsigned loads = LONG, windows;
	struct retire_latencies l = take_in(&workload_kind_rep_load, loads, 0, &windows);

	while (l.records && l.cycles / windows <= RETIRE_LATENCY_MOST && loads < LONG_MOST) {
		loads *= 2;
		l = take_in(&workload_kind_rep_load, loads, 0, &windows);
	}
	if (!retire_latencies_there(t, AT(HYB_26), &l))
		return;
	CONTROL_RANGE(t, HYB_26, RETIRE_LATENCY_MOST + 1, ~0ULL, l.cycles / windows,
		      "cycles of a window with %u loads", loads);
	CHECK_EQ(t, HYB_26, (u64)l.records * RETIRE_LATENCY_MOST, l.sum,
		 "sum of %u retire latencies", l.records);
}
