/* SPDX-License-Identifier: MIT */
/* Taking PEBS records of a workload: the set-up that record, arming and DS tests share. */
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
 * Several records of one window: with a shadow of up to SHADOW_MOST events, records_rounds(k)
 * rounds of a workload with one event a round and counters that overflow every ROUNDS_PERIOD
 * events give k records, neither fewer nor more, whatever up to 15 events opening and closing the
 * window add: k assists take at most k * (ROUNDS_PERIOD + 1 + SHADOW_MOST) events, k + 1 at least
 * (k + 1) * ROUNDS_PERIOD. For k up to 3.
 */
#define SHADOW_MOST	(SAMPLE_MARKS - 1)
#define ROUNDS_PERIOD	512
#define ROUNDS_FOR(k)	((k) * (ROUNDS_PERIOD + 1 + SHADOW_MOST) + 4)

/* A buffer for capacity records, the threshold after the last, every reload out of reach. */
struct ds_setup sampling_setup(unsigned capacity);

/*
 * One record of the workload's event on a counter. The DS area is open with setup, and the counter
 * armed to overflow on the PERIODth event of the workload, with PDist on the next one: so the
 * record is of an event after the PERIODth. That runs with n = PERIOD and with the counters in
 * `with` on as well. Leaves everything stopped and the buffer as it is.
 */
void sampling_run(const struct ds_setup *setup, unsigned counter, u16 event, u64 flags,
		  const struct workload *w, struct pmc_mask with);

/* The counting rule bears the shadow of this machine; false: the test is INCONCLUSIVE. */
bool sampling_shadow_fits(struct test *t);

/* No assist of this machine is later than that many events: what calibration saw, and a margin. */
unsigned sampling_shadow_bound(void);

/* Every reload a period away: DS area open and IA32_PMC0 armed, and with _rounds() that many
 * records of it taken. */
void sampling_open_rounds(struct ds_setup *setup);
void sampling_rounds(struct ds_setup *setup, unsigned records);

/*
 * The single record that sampling_run() must have left. false, and the check has failed:
 * there isn't exactly one; if there is none, test_missed(). Under a hypervisor none at all is
 * INCONCLUSIVE: its host may be using PEBS itself.
 */
bool sampling_one_record(struct test *t, struct test_claim claim, struct pebs_record *record);

/*
 * Is the status bit of a counter 0 once its record is made? Not judged of processors from Haswell
 * on, nor of unknown ones (docs/READINGS.md, "The overflow bit of a counter that has its record").
 */
bool sampling_clears_status(struct test *t);

/*
 * Is a record with this R/EIP one of a write that opens or closes the piece's window? Its microcode
 * may have the event (latitude open-loads and the like), of whatever address.
 */
bool sampling_is_switching(const struct workload *w, u64 rip);

/* That many records are wanted of this window: test_missed() if there are fewer. */
void sampling_want(struct test *t, unsigned records);

/* Code of the precise event of this kind; 0, an event that never occurs: there is none. */
u16 sampling_event(enum event_kind kind);

/*
 * The instruction that caused the record: EventingIP, or where the format hasn't got it, R/EIP
 * less the length of one of the workload's marked instructions.
 */
u64 sampling_ip(const struct workload *w, const struct pebs_record *record);

/* RAX and the flags after each mark of the sample pieces: what ADD says of the operands. */
struct sampling_sum {
	u64 rax, flags;
};

/* Where fields are in a record as bytes: by Tables 18-23 and 18-44, or in an adaptive one with the
 * memory and the GPR group. */
struct sampling_offsets {
	unsigned rip, address, source, latency;
};
struct sampling_offsets sampling_offsets(void);

/* Operands of that many marks, such that RAX and the flags change at each: to 0, and away from
 * it. */
void sampling_fill(struct sampling_sum sums[], unsigned marks);

/* Which mark caused the record; -1: none. */
int sampling_mark(const struct workload *w, unsigned marks, const struct pebs_record *record);

/* The general registers but RAX, at their offsets of the table, in a record of one of the sample
 * pieces. Memory and stack are those of the processor that it ran on. */
void sampling_check_registers(struct test *t, struct test_claim claim, const void *record,
			      u64 memory, u64 stack);

/* The bits of the TX abort information that are 0 in a record of no abort: where transactions are,
 * bits 31:0 hold the cycles of the last one (Table 18-51). */
u64 sampling_tx_mask(void);

/* Loads at CPL 3 of workload_load with n = 2 * PERIOD, those of the way there and back included, by
 * IA32_PMC0. */
u64 sampling_user_loads(void);

/* How many instructions before the first one of workload_precise are counted by fixed counter 0:
 * IA32_PMC1, which runs beside it, read by RDPMC, against those that have retired by then. false,
 * and the test is INCONCLUSIVE: two windows differ, or they are more than `most`. */
bool sampling_counted_before(struct test *t, u64 most, u64 *before);

u64 sampling_field(const struct pebs_record *record, enum record_field field);

/* The counters that a record names: in its status, or as those that it is for. */
u64 sampling_counters(const struct pebs_record *record);

#endif
