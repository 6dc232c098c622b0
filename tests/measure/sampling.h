/* SPDX-License-Identifier: MIT */
/* Takes PEBS records of a workload: shared code of the tests of records, arming and the DS area. */
#ifndef TESTS_MEASURE_SAMPLING_H
#define TESTS_MEASURE_SAMPLING_H

#include "pmu/event.h"
#include "pmu/pebs.h"
#include "tests/frame/test.h"
#include "tests/measure/window.h"

#define NO_OTHERS	((struct pmc_mask){ 0 })
#define PEBS_COUNTERS	4u	/* IA32_PMC0 to IA32_PMC3: PEBS on every generation */
#define NEVER		(1ULL << 30)	/* a period that no window reaches */
/* This processor's precise events of all loads and all stores; for tests that need_events(). */
#define LOADS		sampling_event(EK_LOADS)
#define STORES		sampling_event(EK_STORES)

/*
 * Several records in one window. records_rounds(k) rounds of a workload with one event in each
 * round, and a counter that overflows every ROUNDS_PERIOD events, give exactly k records, for k up
 * to 3, if the shadow is at most SHADOW_MOST events, and if opening and closing the window add at
 * most 15 events. For k assists take at most k * (ROUNDS_PERIOD + 1 + SHADOW_MOST) events, and k +
 * 1 assists take at least (k + 1) * ROUNDS_PERIOD.
 */
#define SHADOW_MOST	(SAMPLE_MARKS - 1)
#define ROUNDS_PERIOD	512
#define ROUNDS_FOR(k)	((k) * (ROUNDS_PERIOD + 1 + SHADOW_MOST) + 4)

/* A buffer for capacity records, the threshold after the last, every reload out of reach. */
struct ds_setup sampling_setup(unsigned capacity);

/*
 * Take one record of the workload's event on a counter. Opens the DS area with setup, and arms the
 * counter to overflow on the PERIODth event of the workload (with PDist on the next one), so that
 * the record is for an event after the PERIODth. Runs the workload with n = PERIOD, and with the
 * counters in `with` on too. Afterwards everything is stopped and the buffer is unchanged.
 */
void sampling_run(const struct ds_setup *setup, unsigned counter, u16 event, u64 flags,
		  const struct workload *w, struct pmc_mask with);

/* Does this machine's shadow fit that rule? false: the test is INCONCLUSIVE. */
bool sampling_shadow_fits(struct test *t);

/* Is each record of the first event after the overflow? false: the test is INCONCLUSIVE. */
bool sampling_records_next_event(struct test *t);
/* With PEBS baseline no source says whether a record is of the next event or of the next
 * instruction. There, and if not every requirement is judged, the machine must have shown that it
 * is of the next event; false: it hasn't, and the test is INCONCLUSIVE. */
bool sampling_may_judge_next_event(struct test *t);

/* An upper limit of the shadow on this machine, in events: the calibrated value and a margin. */
unsigned sampling_shadow_bound(void);

/* With every reset value one period before the overflow: open the DS area and arm IA32_PMC0. The
 * function with _rounds also takes that many records. */
void sampling_open_rounds(struct ds_setup *setup);
void sampling_rounds(struct ds_setup *setup, unsigned records);

/*
 * The single record that sampling_run() must have left. false, and the check has failed:
 * there isn't exactly one; if there is none, test_missed(). Under a hypervisor none at all is
 * INCONCLUSIVE: its host may be using PEBS itself.
 */
bool sampling_one_record(struct test *t, struct test_claim claim, struct pebs_record *record);

/*
 * Must the status bit of a counter be 0 after its record? Not judged on processors from Haswell on,
 * nor on unknown ones (docs/READINGS.md, "The overflow bit of a counter that has its record").
 */
bool sampling_clears_status(struct test *t);

/*
 * Is a record with this R/EIP a record of the WRMSR that opens or closes the piece's window? The
 * microcode of the WRMSR may have the event (latitude open-loads and similar), with any address.
 */
bool sampling_is_switching(const struct workload *w, u64 rip);

/* This window should have made that many records: calls test_missed() if there are fewer. */
void sampling_want(struct test *t, unsigned records);

/* Code of the precise event of this kind; 0, an event that never occurs: there is none. */
u16 sampling_event(enum event_kind kind);

/*
 * For records of which the event doesn't matter, in tests that need_loads_or_branches(): LOADS, or
 * architectural branches on a processor that no table has. The pieces have n of these events, and
 * then marked ones: workload_sample or workload_jumps; with known registers workload_xmm_sample or
 * workload_xmm_jumps.
 */
u16 sampling_any_event(void);
const struct workload *sampling_any_piece(void);
const struct workload *sampling_any_registers(void);

/*
 * Each general-purpose counter that makes records: how many there are, from IA32_PMC0 on; the event
 * of its records, and the piece with n of these events and then marked ones. The first four have
 * LOADS, which later ones may not count ("Counter" in Intel's event files); these have branches.
 */
unsigned sampling_gp_counters(void);
u16 sampling_event_on(unsigned counter);
const struct workload *sampling_piece_on(unsigned counter);
/* sampling_run() with these. The second function leaves the DS area as it is, and afterwards the
 * counter and PEBS too: it arms the counter and runs the piece. */
void sampling_run_on(const struct ds_setup *setup, unsigned counter, u64 flags);
void sampling_overflow_on(unsigned counter, u64 flags);

/*
 * The address of the instruction that caused the record: EventingIP or, if the format doesn't have
 * it, R/EIP minus the length of a marked instruction of the workload. So without EventingIP the
 * marks must not be taken branches.
 */
u64 sampling_ip(const struct workload *w, const struct pebs_record *record);

/* RAX and the flags after each mark of the sample pieces: the result of ADD. */
struct sampling_sum {
	u64 rax, flags;
};

/* Offsets of fields in the bytes of a record: by Tables 18-23 and 18-44, or in an adaptive record
 * with the memory and GPR groups. */
struct sampling_offsets {
	unsigned rip, address, source, latency;
};
struct sampling_offsets sampling_offsets(void);

/* Set the operands of that many marks, so that RAX and each flag change: to 0 and to 1. */
void sampling_fill(struct sampling_sum sums[], unsigned marks);

/*
 * Probes whether two interrupts that one instruction requests are delivered separately: IA32_PMC1
 * overflows on the load that starts the assist of IA32_PMC2, whose record reaches the threshold.
 */
bool sampling_two_interrupts_stay_two(void);

/* For a test that needs an assist on the very next event: are they? false: the test has a verdict.
 */
bool sampling_assists_are_prompt(struct test *t);

/* Which mark caused the record; -1: none. */
int sampling_mark(const struct workload *w, unsigned marks, const struct pebs_record *record);

/* Check the general registers except RAX, at their offsets in the table, in a record of a sample
 * piece. Memory and stack are those of the processor on which it ran. */
void sampling_check_registers(struct test *t, struct test_claim claim, const void *record,
			      u64 memory, u64 stack);

/* The bits of the TX abort information that are 0 in a record without an abort: on a processor with
 * transactions bits 31:0 hold the cycles of the last transaction (Table 18-51). */
u64 sampling_tx_mask(void);

/* The loads at CPL 3 of workload_load with n = 2 * PERIOD, counted by IA32_PMC0, including those of
 * the way to CPL 3 and back. */
u64 sampling_user_loads(void);

/* The number of instructions that fixed counter 0 counts before the first instruction of
 * workload_precise: the difference between IA32_PMC1, which runs too and is read by RDPMC, and the
 * instructions that have retired by then. false, and the test is INCONCLUSIVE: two windows differ,
 * or the number is larger than `most`. */
bool sampling_counted_before(struct test *t, u64 most, u64 *before);

/* How many instructions that value may miss: RDPMC "does not imply that all the events caused by
 * the preceding instructions have been completed" (SDM volume 2), and the LFENCE right before it is
 * one of these. 0 in strict runs. */
unsigned sampling_rdpmc_misses(const struct test *t);

u64 sampling_field(const struct pebs_record *record, enum record_field field);

/* The counters that a record names: in its status field, or as its applicable counters. */
u64 sampling_counters(const struct pebs_record *record);

/*
 * Does a source say when a PEBS counter with INT interrupts on this processor? For processors up to
 * Broadwell the manual says that it does so after its assist (SDM 18.8.1.1 Processor Event Based
 * Sampling (PEBS): Performance Counter Prioritization). For later ones no source says whether it
 * does so at the overflow, after the assist, or never: docs/READINGS.md.
 */
bool sampling_source_tells_int(void);
/* The same, or the run is strict. */
bool sampling_int_has_source(const struct test *t);
/* The same, for a test of nothing else: if it is false, the test is SKIP. */
bool sampling_int_or_skip(struct test *t);

#endif
