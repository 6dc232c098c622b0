/* SPDX-License-Identifier: MIT */
/* Shared declarations of the oracle. The oracle computes the state that the PMU must have by the
 * manual, with a range where the manual leaves it open. */
#ifndef TESTS_RANDOM_ORACLE_INTERNAL_H
#define TESTS_RANDOM_ORACLE_INTERNAL_H

#include "spec/msr.h"
#include "tests/random/oracle.h"

/* More than the cycles of any window, and more than the events of any handler. */
#define CYCLES_MOST	(1ULL << 32)
/* Cycles in a tick of the time-stamp counter, and slots in a cycle, at most. */
#define CYCLES_OF_TICK	16
#define SLOTS_OF_CYCLE	16
#define HANDLER_MOST	4096

#define STATUS_COUNTERS	(BITS(0, 31) | BITS(32, 32 + DRAW_FIXED - 1))

/*
 * The value of a counter is from least to least + room. cut: the greatest of these values has
 * passed the counter's end, but the least hasn't.
 */
struct counter {
	u64 least, room;
	bool written, ran, cut;		/* written while it counted; counted at all */
	bool cleared;			/* its status bit, since it was cut */
	bool reloaded;
	unsigned reloaded_at;		/* number of the step after the last reload */
	bool lost;			/* a record may have reloaded it: its value isn't known */
};

struct branch_paths;

struct oracle {
	const struct draw_env *env;
	const struct draw_case *c;
	const struct trace *trace;
	const struct draw_observation *seen;
	struct draw_verdict *verdict;
	u64 select[DRAW_GP], fixed_control, global, pebs_enable, debugctl;
	struct counter counter[DRAW_COUNTERS];
	u64 must, may;			/* status bits that are set; further bits that may be set */
	u64 stale;			/* status bits of records, for ERRATUM_STATUS_STAYS */

	/* Of the present instruction, as status bits: */
	u64 wrapped;			/* counters that went past their end */
	u64 wrapped_by_now;		/* ... and those that may have done so before */
	u64 may_wrap;			/* counters that may have gone past their end */
	u64 hit, may_hit;		/* counters whose event happened, or may have */
	bool freezes;			/* its interrupt freezes the counters */
	bool freezes_branches;		/* ... and the last branch records */

	u64 armed, held;		/* armed counters; counters whose interrupt waits for it */
	unsigned record;		/* the next record of those seen */
	u64 index;			/* PEBS index, in bytes from the buffer's base */
	/* Architectural PEBS: CFG_C; the run of records; THRESH in units; counters whose record is
	 * certain; counters whose setting the present instruction changes. */
	u64 config[DRAW_COUNTERS], threshold, sure, changed;
	unsigned run;
	bool frozen;			/* by CTR_Frz */
	/* Where baseline is 1: PEBS counters that may be armed, since an unknown time. */
	u64 loose;
	unsigned placed;		/* records that are known to be the program's */
	u64 tsc;			/* time stamp of the record before */

	unsigned interrupt;		/* the next interrupt of those seen */
	unsigned least, most;		/* interrupts that are due: at least, at most */
	enum draw_claim cause;		/* the claim of the first of these */
	bool masked;			/* LVTPC */
	bool handler;			/* the instructions that are counted now are a handler's */
	bool handlers; /* a handler has made records: all records up to the program's next */
	bool more;			/* interrupts without a cause are no breach any more */

	struct branch_paths *branches;

	bool vague;			/* the manual doesn't say what happens from here on */
};

/* oracle.c */
/* The bits of this value of IA32_DEBUGCTL that are judged: without bit 0 where last branch records
 * are architectural. */
u64 oracle_debugctl(const struct oracle *o, u64 value);
void oracle_expect(struct oracle *o, enum draw_claim claim, u64 least, u64 room, u64 got,
		   const char *what, u64 number);
/* Judge OvfBuf in a status that was read. */
void oracle_expect_ovf_buf(struct oracle *o, u64 status, const char *what);
void oracle_wrong(struct oracle *o, enum draw_claim claim, const char *what, u64 number);

/* oracle_count.c: counters, and the count of one instruction */
bool oracle_is_fixed(unsigned i);
bool oracle_exists(const struct oracle *o, unsigned i);
/* The existing counters for which is() returns true, as status bits. */
u64 oracle_those(const struct oracle *o, bool (*is)(const struct oracle *o, unsigned i));
u64 oracle_width_mask(const struct oracle *o, unsigned i);
u64 oracle_bit(unsigned i);
const struct draw_event *oracle_event_of(const struct oracle *o, unsigned i);
bool oracle_selects_level(const struct oracle *o, unsigned i, bool user);
bool oracle_is_on(const struct oracle *o, unsigned i);
bool oracle_has_interrupt(const struct oracle *o, unsigned i);
bool oracle_records(const struct oracle *o, unsigned i);
unsigned oracle_cmask(u64 select);
/* CMASK, INV and E, of an instruction that counts n; exits: a hypervisor executes it itself. */
struct span oracle_filtered(const struct oracle *o, unsigned i, struct span n, bool exits);
struct span oracle_counted(const struct oracle *o, unsigned i, const struct trace_step *step);
void oracle_advance(struct oracle *o, unsigned i, struct span n);
void oracle_load(struct oracle *o, unsigned i, u64 value);
/* Does a value that was read show that the counter has passed its end, and isn't its status bit
 * cleared? */
bool oracle_has_wrapped(const struct oracle *o, unsigned i, u64 got);
void oracle_clear_status(struct oracle *o, u64 bits);
/* These counters have their record: an assist clears their status bits. */
void oracle_serve(struct oracle *o, u64 counters);
/* Status bits whose value isn't defined. */
u64 oracle_untold(const struct oracle *o);
bool oracle_is_cycles(const struct draw_event *event);

/* oracle_operation.c: the program's own reads and writes of registers */
void oracle_write(struct oracle *o, const struct trace_step *step);
void oracle_read(struct oracle *o, const struct trace_step *step);
/* A write that must raise #GP; and its remaining effect, at the end. */
void oracle_refuse(struct oracle *o, const struct trace_step *step);
void oracle_end_refused(struct oracle *o);
void oracle_expect_counter(struct oracle *o, enum draw_claim claim, unsigned i, u64 got,
			   const char *what);

/* oracle_signal.c: interrupts */
void oracle_deliver(struct oracle *o, unsigned step);
void oracle_overflows(struct oracle *o);
void oracle_request(struct oracle *o, enum draw_claim cause);
/* Add the events of a handler, before it stops the counters, to these counters. */
void oracle_count_handler(struct oracle *o, u64 counters);
void oracle_end_interrupts(struct oracle *o);

/* oracle_fields.c: fields of every record format */
void oracle_expect_field(struct oracle *o, enum draw_claim claim, const struct pebs_record *r,
			 enum record_field field, u64 want, const char *what);
void oracle_judge_registers(struct oracle *o, const struct trace_step *step,
			    const struct pebs_record *r);
void oracle_judge_address(struct oracle *o, const struct trace_step *step, unsigned counter,
			  const struct pebs_record *r);

/* oracle_groups.c: further fields of adaptive records. named: the applicable counters. */
void oracle_judge_groups(struct oracle *o, unsigned step, const struct pebs_record *r,
			 const struct draw_groups *groups, u64 named);

/* oracle_adaptive.c: adaptive records. */
void oracle_adaptive_assists(struct oracle *o, unsigned step);
/* It isn't known any more whether these counters are armed. */
void oracle_loosen(struct oracle *o, u64 counters);
/* The records in the buffer must lead from one to the next. */
void oracle_adaptive_begin(struct oracle *o);
/* Records that a handler's own instructions made, after they have been counted. */
void oracle_adaptive_handler(struct oracle *o);
/* The window is closed: a record of the closing write can't be assigned to an instruction. */
void oracle_adaptive_end(struct oracle *o);

/* oracle_record.c: PEBS. NO_STEP: the write that opens the window, of which nothing is recorded. */
#define NO_STEP	(~0u)
void oracle_assists(struct oracle *o, unsigned step);
/* The next record, if it was seen. */
const struct pebs_record *oracle_next_record(const struct oracle *o);
/* Is it one of this instruction? */
bool oracle_is_here(const struct oracle *o, unsigned step, const struct pebs_record *r);
void oracle_end_records(struct oracle *o);

/* oracle_branches.c: last branch records, after the counts of a step are known */
void oracle_open_branches(struct oracle *o);
bool oracle_branches_on(const struct oracle *o);
/* The interrupt that is delivered before a step, and the way back from it. */
void oracle_interrupt_branches(struct oracle *o, unsigned step);
void oracle_branch(struct oracle *o, unsigned step);	/* or NO_STEP */
void oracle_write_branches(struct oracle *o, u32 msr, u64 value);
void oracle_read_branches(struct oracle *o, u32 msr, u64 got);
/* oracle_branches_end.c: compares the records that were read afterwards */
void oracle_end_branches(struct oracle *o);

#endif
