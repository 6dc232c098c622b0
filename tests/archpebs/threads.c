/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS of two processors at once, each with its own buffer and thresholds: Linux
 * init_arch_pebs_on_cpu(); SDM Tables 35-13 and 35-18 (scope: Thread).
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "pmu/event.h"
#include "tests/archpebs/archpebs.h"
#include "tests/measure/mem_sample.h"
#include "tests/measure/two_cpus.h"

#define RECORD_UNITS	4u	/* of 16 bytes: a record of BASIC */
#define RECORD_BYTES	(RECORD_UNITS * 16)
#define LATENCY_LEAST	3u	/* cycles: the threshold that lets most loads be recorded */
#define LATENCY_MOST	0xffffu
#define LATENCY_PERIOD	8u
#define ROUNDS		512u
#define WINDOWS_LEAST	2u
#define WINDOWS_MOST	64u

struct both_reach {
	struct two_cpus both;
	unsigned reaches;		/* the side whose record reaches its THRESH */
	u64 written[2];
	int64_t outside[2];		/* a byte that was written outside the first record */
	bool beside[2];			/* there is such a byte */
	unsigned interrupts[2];
	u64 status[2], index[2];	/* in the handler, of the side that has an interrupt */
};

/* Both sides make one record, each in its own buffer; THRESH is after it, or after a second one. */
static void reach(void *arg)
{
	struct both_reach *r = arg;
	const unsigned side = two_cpus_side();
	const struct arch_run run = { .counter = counter_next(arch_load_counters(), 0) };
	const struct pmi_log *log;

	pmi_open(NULL);
	arch_pebs_open(0, (side == r->reaches ? 1 : 2) * RECORD_UNITS);
	two_cpus_barrier(&r->both);
	arch_go_on(&run);
	log = pmi_end();
	two_cpus_barrier(&r->both);
	r->written[side] = arch_pebs_written();
	r->beside[side] = arch_pebs_written_outside(0, RECORD_BYTES, &r->outside[side]);
	r->interrupts[side] = log->count;
	r->status[side] = log->entry[0].status;
	r->index[side] = log->entry[0].arch_index;
	arch_pebs_close();
	counters_clear(counters_status());
}

/*
 * APEBS-28  When WR reaches THRESH, IA32_PERF_GLOBAL_STATUS[54] must be set and an interrupt be
 *           raised.
 * APEBS-29  A record below THRESH must raise no interrupt.
 *           Linux handle_pmi_common
 *
 * Given  two processors, each with a buffer of its own; THRESH of one is after its first record,
 *        THRESH of the other one after two
 * When   each makes one record; then the same with the roles exchanged
 * Then   the one whose WR has reached its THRESH has one interrupt, whose handler finds
 *        IA32_PERF_GLOBAL_STATUS[54] = 1 and WR after the record; the other one has none
 * Control: each processor has one record, in its own buffer
 */
TEST(archpebs, each_processor_interrupts_at_its_own_threshold, REQS(APEBS_28, APEBS_29),
     NEEDS(need_perfmon, need_arch_load, need_loads_or_branches, need_partner))
{
	FOR_EACH_PARTNER (cpu)
		for (unsigned reaches = 0; reaches < 2; reaches++) {
			struct both_reach r = { .reaches = reaches };

			if (!two_cpus_run(t, &r.both, cpu, reach, &r))
				return;
			for (unsigned side = 0; side < 2; side++) {
				const char *whose = two_cpus_whose(cpu, side);

				if (!r.written[side])
					test_missed(t);
				CONTROL_EQ(t, IDS(APEBS_28, APEBS_29), RECORD_BYTES,
					   r.written[side], "bytes of WR of %s", whose);
				CONTROL(t, IDS(APEBS_28, APEBS_29), !r.beside[side],
					"no other byte of the buffer of %s is written (at %ld)",
					whose, (long)r.outside[side]);
			}
			CHECK_EQ(t, APEBS_29, 0, r.interrupts[!reaches],
				 "interrupts of %s, whose THRESH is after two records",
				 two_cpus_whose(cpu, !reaches));
			if (!CHECK_EQ(t, APEBS_28, 1, r.interrupts[reaches],
				      "interrupts of %s, whose THRESH is after one record",
				      two_cpus_whose(cpu, reaches)))
				return;
			CHECK_EQ(t, APEBS_28, IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD,
				 r.status[reaches] & IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD,
				 "IA32_PERF_GLOBAL_STATUS[54] in the handler of %s",
				 two_cpus_whose(cpu, reaches));
			CHECK_EQ(t, APEBS_28, RECORD_BYTES,
				 r.index[reaches] & IA32_PEBS_INDEX_WR,
				 "bytes of WR in the handler of %s", two_cpus_whose(cpu, reaches));
		}
}

/* A counter that samples loads by latency and writes records; false: there is none. */
static bool latency_counter(struct event *event, unsigned *counter)
{
	const u64 counters = arch_counters_of(EK_LOAD_LATENCY, event);

	*counter = counter_next(counters, 0);
	return counters;
}

struct both_latency {
	struct two_cpus both;
	unsigned open;		/* the side with the least threshold */
	volatile bool done;	/* it has a record, or has given up */
	u64 written[2];		/* bytes of records */
};

/* Both sides sample loads of a line that has just been flushed, each with its own threshold. */
static void sample_latency(void *arg)
{
	struct both_latency *l = arg;
	const unsigned side = two_cpus_side();
	const bool open = side == l->open;
	struct event event;
	unsigned c;

	if (!latency_counter(&event, &c))
		return;
	arch_pebs_open(0, ARCH_PEBS_NEVER);
	msr_write(MSR_PEBS_LD_LAT_THRESHOLD, open ? LATENCY_LEAST : LATENCY_MOST);
	two_cpus_barrier(&l->both);
	arch_pebs_arm(c, event.code, COUNT_BOTH, LATENCY_PERIOD, 0, LATENCY_PERIOD);
	for (unsigned i = 0; i < WINDOWS_MOST && (i < WINDOWS_LEAST || !l->done); i++) {
		workload_run(&workload_uncached, ROUNDS, pmc_one(c));
		l->done |= open && arch_pebs_written();
	}
	arch_pebs_disarm();
	counter_program_disabled(c, 0, 0);
	two_cpus_barrier(&l->both);
	l->written[side] = arch_pebs_written();
	msr_write(MSR_PEBS_LD_LAT_THRESHOLD, 0);
	arch_pebs_close();
	counters_clear(counters_status());
}

/*
 * MSR-38  Each logical processor must have a latency threshold and off-core response registers of
 *         its own.
 *         SDM Tables 35-13 and 35-18 (scope: Thread) against Linux, which takes them as shared by
 *         the threads of a core
 *
 * Given  two processors that load a line which has just been flushed, and sample these loads, until
 *        the one with the lower threshold has a record
 * When   one has the threshold 3 and the other one FFFFH; then the same with the roles exchanged
 * Then   the one with FFFFH makes no record
 * Control: the one with 3 makes records
 */
TEST(archpebs, each_processor_samples_loads_by_its_own_latency_threshold, REQS(MSR_38),
     NEEDS(need_perfmon, need_arch_load, need_arch_latency, need_partner))
{
	FOR_EACH_PARTNER (cpu)
		for (unsigned open = 0; open < 2; open++) {
			struct both_latency l = { .open = open };

			if (!two_cpus_run(t, &l.both, cpu, sample_latency, &l))
				return;
			if (!l.written[open])
				test_missed(t);
			CONTROL_RANGE(t, MSR_38, 1, ~0ULL, l.written[open],
				      "bytes of records of %s, threshold 3",
				      two_cpus_whose(cpu, open));
			CHECK_EQ(t, MSR_38, 0, l.written[!open],
				 "bytes of records of %s, threshold FFFFH",
				 two_cpus_whose(cpu, !open));
		}
}
