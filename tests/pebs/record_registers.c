/* SPDX-License-Identifier: MIT */
/*
 * Register values in a record that the record's own instruction has changed: each general register
 * that a load writes, the flags of an addition to memory, and RSP. SDM "Processor Event Based
 * Sampling (PEBS)", Table 18-23.
 */
#include "tests/frame/needs.h"
#include "tests/measure/marked_walk.h"

#define TURN	19u	/* marks, each with its own register */
#define LEAST	8u	/* records of marks, at least, in TURN windows */

/* By the mark's number, from 0. */
static const enum record_field loaded[TURN] = {
	RECORD_rax, RECORD_rbx, RECORD_rcx, RECORD_rdx, RECORD_rdi, RECORD_rbp, RECORD_r8,
	RECORD_r9,  RECORD_r10, RECORD_r11, RECORD_r12, RECORD_r13, RECORD_r14, RECORD_r15,
	RECORD_rcx, RECORD_rbx, RECORD_r13, RECORD_rax, RECORD_r12,
};
enum { WRITES_ECX = 14, WRITES_BX, WRITES_R13B, MULTIPLIES };	/* marks of a turn */

static u64 operand(unsigned mark)
{
	return 0x1234567800000001ULL * (mark + 3);
}

/* The register after the mark; high: the other one that MUL writes, RDX. */
static u64 written(unsigned mark, bool high)
{
	const unsigned place = mark % TURN, turn = mark - place;
	const u64 v = operand(mark);

	switch (place) {
	case WRITES_ECX:
		return (u32)v;
	case WRITES_BX:
		return (operand(turn + 1) & ~BITS(0, 15)) | (v & BITS(0, 15));
	case WRITES_R13B:
		return (operand(turn + 11) & ~BITS(0, 7)) | (v & BITS(0, 7));
	case MULTIPLIES:
		return (u64)((unsigned __int128)operand(turn) * v >> (high ? 64 : 0));
	default:
		return v;
	}
}

/* Take the record of an overflow near the marks; earlier: fewer accesses before them than the
 * period. false: there isn't exactly one record. */
static bool take_record(struct test *t, struct test_claim claim, const struct workload *w,
			u16 event, unsigned earlier, struct pebs_record *record)
{
	struct ds_setup setup = sampling_setup(8);

	ds_open(&setup);
	pebs_arm(0, event, COUNT_BOTH, PERIOD);
	workload_run(w, PERIOD - earlier, pmc_one(0));
	pebs_disarm();
	counter_program_disabled(0, 0, 0);
	counters_clear(BIT(0));
	return sampling_one_record(t, claim, record);
}

/* The same; returns the mark that the record is of, or -1. */
static int take(struct test *t, struct test_claim claim, const struct workload *w, u16 event,
		unsigned marks, unsigned earlier, struct pebs_record *record)
{
	return take_record(t, claim, w, event, earlier, record) ? sampling_mark(w, marks, record) :
								  -1;
}

/*
 * REC-04  The register fields must hold the values after the causing instruction retired, a
 *         register that it loaded included.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  marked loads into each general register but RSP and RSI in turn, then one each of 32, 16
 *        and 8 bits, a multiplication and an exchange, with an operand each
 * When   IA32_PMC0 makes records of loads, each of which is some marks after the previous one
 * Then   the register that the record's load wrote has that load's operand: zero-extended if it has
 *        32 bits, beside what was there before if it has fewer; after a multiplication RAX and RDX
 *        have the product
 * Control: there are records of marked loads
 */
TEST(record, register_that_the_recorded_load_wrote_is_new, REQS(REC_04),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	u64 *operands = workload_memory() + SAMPLE_OFFSET / 8;
	unsigned seen = 0;

	if (!sampling_shadow_fits(t))
		return;
	for (unsigned k = 0; k < TURN; k++) {
		struct pebs_record record;
		unsigned place;
		int mark;

		for (unsigned i = 0; i < SAMPLE_TURNS * TURN; i++)
			operands[i] = operand(i);
		mark = take(t, AT(REC_04), &workload_sample_registers, LOADS, SAMPLE_TURNS * TURN,
			    k, &record);
		if (mark < 0)
			continue;
		place = (unsigned)mark % TURN;
		seen++;
		CHECK_EQ(t, REC_04, written((unsigned)mark, false),
			 sampling_field(&record, loaded[place]),
			 "%s after mark %d, which writes it", record_field_name(loaded[place]),
			 mark);
		if (place == MULTIPLIES)
			CHECK_EQ(t, REC_04, written((unsigned)mark, true),
				 sampling_field(&record, RECORD_rdx),
				 "RDX after mark %d, which writes RAX as well", mark);
	}
	CONTROL_RANGE(t, REC_04, LEAST, TURN, seen, "records of marked loads");
}

/*
 * REC-11  The flags field must hold RFLAGS after the causing instruction.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  marked additions of RAX to memory, with an operand each
 * When   IA32_PMC0 makes records of stores, each of which is some marks after the previous one
 * Then   the status flags are those of the addition that the record is of
 * Control: there are records of marked additions
 */
TEST(record, flags_of_a_recorded_addition_to_memory_are_its_own, REQS(REC_11),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	u64 *operands = workload_memory() + SAMPLE_OFFSET / 8;
	unsigned seen = 0;

	if (!sampling_shadow_fits(t))
		return;
	for (unsigned k = 0; k < TURN; k++) {
		struct pebs_record record;
		int mark;

		for (unsigned i = 0; i < SAMPLE_MARKS; i++)
			operands[i] = i & 1 ? operand(i) : 0 - SAMPLE_RAX;
		mark = take(t, AT(REC_11), &workload_sample_add, STORES, SAMPLE_MARKS, k, &record);
		if (mark < 0)
			continue;
		seen++;
		CHECK_EQ(t, REC_11,
			 flags_of_add(mark & 1 ? operand((unsigned)mark) : 0 - SAMPLE_RAX,
				      SAMPLE_RAX),
			 sampling_field(&record, RECORD_rflags) & RFLAGS_STATUS,
			 "status flags after addition %d", mark);
	}
	CONTROL_RANGE(t, REC_11, LEAST, TURN, seen, "records of marked additions");
}

/* Marked instructions that move RSP by 8 each. falls: down from the top of the stack; if not, up to
 * it. branch: the next instruction is the next mark. */
static const struct {
	const struct workload *w;
	enum event_kind kind;
	bool falls, branch;
} moving[] = {
	{ &workload_call_sample, EK_STORES, true, true },
	{ &workload_call_sample, EK_NEAR_CALLS, true, true },
	{ &workload_return_sample, EK_LOADS, false, true },
	{ &workload_return_sample, EK_NEAR_RETURNS, false, true },
	{ &workload_push_sample, EK_STORES, true, false },
	{ &workload_pop_sample, EK_LOADS, false, false },
};

#define MOVING_TURNS	4u
/* Marks between the records of two turns: more loads than the WRMSR that begins the window may
 * have, which bring the record forward. */
#define MOVING_APART	4u

/* The mark that the record is of, by EventingIP or by the next instruction; -1: none. */
static int moving_mark(unsigned kind, const struct pebs_record *record)
{
	const struct workload *w = moving[kind].w;
	u64 ip = sampling_field(record, RECORD_rip), at;

	if (record_get(record, RECORD_eventing_ip, &at))
		return workload_mark_at(w, SAMPLE_MARKS, at);
	return workload_mark_at(w, SAMPLE_MARKS,
				ip - (moving[kind].branch ? w->mark_stride : w->mark_length));
}

/*
 * REC-04  The register fields must hold the values after the causing instruction retired, a
 *         register that it loaded included.
 * REC-12  The RSP field must be the stack pointer of the sampled code.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  marked calls, returns, pushes and pops, each of which moves RSP by 8
 * When   IA32_PMC0 makes records of them by events of stores, loads, calls and returns, where the
 *        event has PEBS; each is four marks after the previous one
 * Then   RSP has the value after the call, return, push or pop that the record names
 * Control: there are records of the marks of each event
 */
TEST(record, stack_pointer_in_a_record_is_that_after_its_call_return_push_or_pop,
     REQS(REC_04, REC_12), NEEDS(need_perfmon, need_pebs, need_events))
{
	if (!sampling_shadow_fits(t))
		return;
	for (unsigned kind = 0; kind < sizeof(moving) / sizeof(moving[0]); kind++) {
		const struct workload *w = moving[kind].w;
		const u16 event = sampling_event(moving[kind].kind);
		unsigned seen = 0;

		for (unsigned k = 0; event && k < MOVING_TURNS; k++) {
			struct pebs_record record;
			u64 moved;
			int mark;

			if (!take_record(t, AT(REC_04), w, event, MOVING_APART * k, &record))
				return;
			mark = moving_mark(kind, &record);
			if (mark < 0)
				continue;
			seen++;
			moved = 8 *
				(moving[kind].falls ? (u64)mark + 1 : SAMPLE_MARKS - 1 - (u64)mark);
			CHECK_EQ(t, IDS(REC_04, REC_12), workload_stack() - moved,
				 sampling_field(&record, RECORD_rsp), "RSP after mark %d of %s",
				 mark, w->name);
		}
		if (event)
			CONTROL_RANGE(t, REC_04, MOVING_TURNS / 2, MOVING_TURNS, seen,
				      "records of marks of %s, event 0x%x", w->name, event);
	}
}
