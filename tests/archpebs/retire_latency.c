/* SPDX-License-Identifier: MIT */
/*
 * The retire latency of architectural PEBS, bits 15:0 of BASIC+18H; bit 16 says that it is valid.
 * It is the time between the retirement of the previous instruction and of the instruction that
 * caused the record, in core cycles (intel/perfmon README: timed PEBS). When it is valid is told
 * nowhere, so without a valid one nothing is judged.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/memory/pages.h"
#include "kernel/output/fmt.h"
#include "pmu/event.h"
#include "pmu/memory_sampling.h"
#include "tests/archpebs/archpebs.h"
#include "tests/measure/mem_sample.h"

#define CYCLES		PMC_FIXED(1)	/* the unit of the field */
#define AT_RETIRE	0x28u		/* after the header: BASIC+18H */
#define LATENCY_VALID	BIT(16)
#define RECORDS		8u
#define WINDOWS_MOST	64u

static bool need_latency_records(char *reason, size_t size)
{
	return need_arch_pebs(reason, size) && need_arch_latency(reason, size) &&
	       need_fixed_0_to_2(reason, size);
}

/* Take records of this workload's loads by the load latency event, and count core cycles too. */
static struct retire_latencies take(const struct workload *w, u64 groups)
{
	enum { ROUNDS = 512, EACH = 128 };
	const struct workload_place place = { .memory = pages_get()->small };
	struct retire_latencies l = { .records = 0 };
	struct event event = { .counters = 1 };
	unsigned c, windows = 0;

	c = (unsigned)__builtin_ctzll(arch_counters_of(EK_LOAD_LATENCY, &event));
	arch_pebs_open(ARCH_PEBS_LARGE, ARCH_PEBS_NEVER);
	latency_set_threshold(LATENCY_THRESHOLD_LEAST);
	counter_program(CYCLES, 0, COUNT_BOTH);
	counter_write(CYCLES, 0);
	arch_pebs_arm(c, event.code, COUNT_BOTH, EACH, groups, EACH);
	while (windows++ < WINDOWS_MOST && l.records < RECORDS) {
		workload_run_at(w, ROUNDS, &place, pmc_or(pmc_one(c), pmc_one(CYCLES)));
		l.records = 0;
		for (u64 at = 0; (at = arch_next(at));)
			l.records++;
	}
	arch_pebs_disarm();
	counter_program_disabled(c, 0, 0);
	counter_program_disabled(CYCLES, 0, 0);
	counters_clear(counters_status());
	latency_set_threshold(0);
	l.cycles = counter_read(CYCLES);
	for (u64 at = 0, next; (next = arch_next(at)); at = next) {
		const u64 retire = arch_at(at + AT_RETIRE);

		l.valid += !!(retire & LATENCY_VALID);
		l.sum += retire & LATENCY_VALID ? retire & RETIRE_LATENCY_MOST : 0;
	}
	arch_pebs_close();
	return l;
}

/*
 * APEBS-17  BASIC+18H[15:0] must be the retire latency if bit 16 is 1.
 *           Linux struct arch_pebs_basic
 *
 * Given  loads of a line that was just flushed; core cycles counted by fixed counter 1
 * When   several of them are recorded with BASIC alone, and with every further group of AUX, GPR
 *        and XMM that is there
 * Then   the sum of the valid retire latencies is at most the number of cycles of the windows that
 *        made the records, because these times don't overlap; some are above 0
 * Control: the loads are recorded
 */
TEST(archpebs, valid_retire_latencies_are_no_more_than_the_cycles_that_passed, REQS(APEBS_17),
     NEEDS(need_perfmon, need_latency_records), .deadline_ms = 5000)
{
	const u64 there = (u64)counter_caps()->v6.groups << 32;
	const u64 sets[] = { 0, there & (GROUP_AUX | GROUP_GPR | GROUP_XMM) };

	for (unsigned i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		const struct retire_latencies l = take(&workload_uncached, sets[i]);

		if (!retire_latencies_there(t, CONTROL_AT(APEBS_17), &l))
			return;
		retire_latencies_fit(t, AT(APEBS_17), &l, "CFG_C", sets[i]);
	}
}

/*
 * APEBS-17  BASIC+18H[15:0] must be the retire latency if bit 16 is 1.
 *           Linux struct arch_pebs_basic
 *
 * Given  loads of one line that stays in the L1, and loads of a line that was just flushed
 * When   several of each are recorded
 * Then   the average of the valid retire latencies of the second is above that of the first
 * Control: both kinds of loads are recorded
 */
TEST(archpebs, valid_retire_latency_is_larger_after_a_stall, REQS(APEBS_17),
     NEEDS(need_perfmon, need_latency_records), .deadline_ms = 5000)
{
	const struct retire_latencies none = take(&workload_load, 0),
				      stall = take(&workload_uncached, 0);

	if (!retire_latencies_there(t, CONTROL_AT(APEBS_17), &none) ||
	    !retire_latencies_there(t, CONTROL_AT(APEBS_17), &stall))
		return;
	retire_latencies_rise(t, AT(APEBS_17), &none, &stall);
}
