/* SPDX-License-Identifier: MIT */
/*
 * Last branch records of a transaction that a PEBS record aborts: SDM "Intel TSX and PEBS Support",
 * Table 17-14 and Table 17-16.
 */
#include "pmu/lbr/lbr.h"
#include "pmu/pebs.h"
#include "tests/frame/needs.h"
#include "tests/lbr/branches.h"
#include "tests/measure/sampling.h"
#include "tests/tsx/transaction.h"

#define TRIES 100

/* Run the piece until PEBS records a load in its transaction. Returns the branches of that run. */
static bool record_with_branches(const struct transaction *piece, unsigned counter,
				 struct lbr_stack *stack, u64 *status)
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	bool found = false;

	setup.reset[counter] = pebs_reset_value(counter, PERIOD);
	ds_open(&setup);
	pebs_arm(counter, LOADS, COUNT_BOTH, PERIOD);
	for (unsigned i = 0; i < TRIES && !found; i++) {
		lbr_open(0, 0);
		counters_enable(pmc_one(counter));
		msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
		*status = piece->run(transaction_words(), PERIOD / 2);
		msr_write(MSR_IA32_DEBUGCTL, 0);
		counters_disable();
		lbr_read(stack);
		lbr_close();
		if (!ds_records())
			continue;
		record_decode(setup.format, ds_record(0), record_size(setup.format), &record);
		found = transaction_holds(piece, sampling_field(&record, RECORD_eventing_ip));
		ds_set_index(0);
	}
	pebs_disarm();
	counter_program_disabled(counter, 0, 0);
	return found;
}

/*
 * LBR-29  The abort of a transaction must be an entry with TSX_ABORT, in FROM where it aborted and
 *         in TO where the processor goes on.
 *         SDM 17.9, Table 17-14; 17.10, Table 17-16
 * LBR-31  The entry of an abort must have IN_TX.
 *         SDM Table 17-14, Table 17-16: the entry occurred in a TSX region
 *
 * Given  each counter samples loads, nearly all of which are inside of a transaction's loop, or of
 *        one that is nested in another one
 * When   branches are recorded until a load inside makes a PEBS record
 * Then   one entry has TSX_ABORT; it has IN_TX too, FROM inside, and goes to the fallback of the
 *        outermost XBEGIN. Where an abort makes one entry, the one before it is of a branch of the
 *        loop, with IN_TX alone
 * Control: the transaction doesn't commit, and the newest entry isn't in it
 */
TEST(lbr, abort_by_a_pebs_record_is_an_entry_with_tsx_abort, REQS(LBR_29, LBR_31),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events, need_lbr_transactions))
{
	static const struct transaction *const pieces[] = { &transaction_commit,
							    &transaction_nested_commit };

	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		const struct transaction *piece = pieces[c % 2];
		unsigned aborts = 0, at = 0;
		struct lbr_stack stack;
		u64 status = 0;

		if (!CONTROL(t, IDS(LBR_29, LBR_31),
			     record_with_branches(piece, c, &stack, &status),
			     "a load of %s is recorded, IA32_PMC%u", piece->name, c))
			return;
		CONTROL(t, IDS(LBR_29, LBR_31), status != COMMITTED, "%s doesn't commit",
			piece->name);
		for (unsigned i = stack.depth; i--;) {
			aborts += stack.branch[i].aborted;
			at = stack.branch[i].aborted ? i : at;
		}
		if (!CHECK_EQ(t, LBR_29, 1, aborts, "entries with TSX_ABORT, %s, IA32_PMC%u",
			      piece->name, c))
			return;
		CHECK_EQ(t, LBR_29, (u64)(uintptr_t)piece->fallback, stack.branch[at].to,
			 "TO of the abort, %s", piece->name);
		CHECK_RANGE(t, LBR_29, (u64)(uintptr_t)piece->begin, (u64)(uintptr_t)piece->end,
			    stack.branch[at].from, "FROM of the abort, %s", piece->name);
		CHECK(t, LBR_31, stack.branch[at].in_transaction, "IN_TX of the abort, %s",
		      piece->name);
		CONTROL(t, IDS(LBR_29, LBR_31),
			!stack.branch[0].in_transaction && !stack.branch[0].aborted,
			"neither flag of the newest entry, after %s", piece->name);
		if (!test_sees_exactly(t, REQ_LBR_29))
			continue;
		CHECK(t, LBR_29,
		      transaction_holds(piece, stack.branch[at + 1].from) &&
			      stack.branch[at + 1].in_transaction && !stack.branch[at + 1].aborted,
		      "the entry before it, FROM %#lx, is of a branch inside, %s",
		      stack.branch[at + 1].from, piece->name);
	}
}

/* Record the branches of the piece until EAX after its abort has that bit. */
static bool record_abort_by(const struct transaction *piece, u64 n, u64 bit,
			    struct lbr_stack *stack)
{
	u64 status = COMMITTED;

	for (unsigned i = 0; i < TRIES; i++) {
		lbr_open(0, 0);
		msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
		status = piece->run(transaction_words(), n);
		msr_write(MSR_IA32_DEBUGCTL, 0);
		lbr_read(stack);
		lbr_close();
		if (status != COMMITTED && status & bit)
			return true;
	}
	return false;
}

/* Exactly one entry must be of the abort. */
static void check_abort(struct test *t, const struct transaction *piece,
			const struct lbr_stack *stack)
{
	unsigned aborts = 0, at = 0;

	for (unsigned i = stack->depth; i--;) {
		aborts += stack->branch[i].aborted;
		at = stack->branch[i].aborted ? i : at;
	}
	if (!CHECK_EQ(t, LBR_29, 1, aborts, "entries with TSX_ABORT, %s", piece->name))
		return;
	CHECK_EQ(t, LBR_29, (u64)(uintptr_t)piece->fallback, stack->branch[at].to,
		 "TO of the abort, %s", piece->name);
	CHECK_RANGE(t, LBR_29, (u64)(uintptr_t)piece->begin, (u64)(uintptr_t)piece->end,
		    stack->branch[at].from, "FROM of the abort, %s", piece->name);
	CHECK(t, LBR_31, stack->branch[at].in_transaction, "IN_TX of the abort, %s", piece->name);
}

/*
 * LBR-29  The abort of a transaction must be an entry with TSX_ABORT, in FROM where it aborted and
 *         in TO where the processor goes on.
 *         SDM 17.9, Table 17-14; 17.10, Table 17-16
 * LBR-31  The entry of an abort must have IN_TX.
 *         SDM Table 17-14, Table 17-16: the entry occurred in a TSX region
 *
 * Given  a transaction that stores to more lines than the L1 has
 * When   its branches are recorded, until EAX reports an overflow
 * Then   one entry has TSX_ABORT; it has IN_TX too, FROM inside, and goes to the fallback
 */
TEST(lbr, abort_by_the_capacity_is_an_entry_with_tsx_abort, REQS(LBR_29, LBR_31),
     NEEDS(need_rtm, need_lbr_transactions))
{
	const struct transaction *piece = &transaction_stores;
	struct lbr_stack stack;

	if (!transaction_works(t))
		return;
	if (!record_abort_by(piece, TRANSACTION_LINES, EAX_OVERFLOW, &stack)) {
		test_inconclusive(t, "no abort of %u by an overflow", TRIES);
		return;
	}
	check_abort(t, piece, &stack);
}

/*
 * LBR-29  The abort of a transaction must be an entry with TSX_ABORT, in FROM where it aborted and
 *         in TO where the processor goes on.
 *         SDM 17.9, Table 17-14; 17.10, Table 17-16
 * LBR-31  The entry of an abort must have IN_TX.
 *         SDM Table 17-14, Table 17-16: the entry occurred in a TSX region
 *
 * Given  another processor stores to a line all the time; a transaction loads from it
 * When   its branches are recorded, until EAX reports a conflict
 * Then   one entry has TSX_ABORT; it has IN_TX too, FROM inside, and goes to the fallback
 */
TEST(lbr, abort_by_a_conflict_is_an_entry_with_tsx_abort, REQS(LBR_29, LBR_31),
     NEEDS(need_rtm, need_lbr_transactions, need_second_processor))
{
	const struct transaction *piece = &transaction_watch;
	struct lbr_stack stack;
	bool found;

	if (!transaction_works(t) || !transaction_write_on(t))
		return;
	found = record_abort_by(piece, WATCHED, EAX_CONFLICT, &stack);
	if (!transaction_write_off(t))
		return;
	if (!found) {
		test_inconclusive(t, "no abort of %u by a conflict", TRIES);
		return;
	}
	check_abort(t, piece, &stack);
}
