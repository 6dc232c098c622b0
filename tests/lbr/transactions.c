/* SPDX-License-Identifier: MIT */
/*
 * The entry of a transaction's abort: SDM Table 17-14 and Table 17-16. FROM is "EIP at the time of
 * the abort": for an instruction that aborts, its own address or the next one; TO is the handler of
 * an RTM abort, or the start of the elided region. A processor may abort at any time and for any
 * reason, so a piece is repeated until the abort has the intended cause.
 */
#include "kernel/memory/paging.h"
#include "kernel/memory/string.h"
#include "pmu/counter.h"
#include "tests/frame/test.h"
#include "tests/lbr/branches.h"

#define TRIES		200
#define BY_XABORT	0x5a000001u	/* EAX after XABORT 5AH: "RTM Abort Status Definition" */

/* The rows of lbr_abort and of lbr_elided, oldest first; the last row is the newest entry. */
enum { ABORT_JUMP_BEFORE, ABORT_JUMP_INSIDE, ABORT_ITSELF, ABORT_JUMP_AFTER, ABORT_ROWS };
enum { ELIDED_JUMP, ELIDED_ABORT, ELIDED_JUMP_AGAIN, ELIDED_ROWS };

/* On Haswell an abort may leave a second entry, newer than the first and without TSX_ABORT (Linux,
 * lbr_double_abort). Remove it. In these pieces one jump follows each abort. */
static void leave_out_second_entry(const struct test *t, struct lbr_stack *stack)
{
	const struct generation *generation = counter_caps()->generation;
	const unsigned second = 1, left = stack->depth - second - 1;

	if (test_is_strict(t) || !generation || !(generation->set & GENS_HASWELL) ||
	    !stack->branch[second + 1].aborted)
		return;
	memmove(&stack->raw[second], &stack->raw[second + 1], left * sizeof(stack->raw[0]));
	memmove(&stack->branch[second], &stack->branch[second + 1],
		left * sizeof(stack->branch[0]));
	stack->top = (stack->top + stack->depth - 1) % stack->depth;
}

/* FROM of the abort must be the instruction that ends the transaction, or the next one. */
static void check_from(struct test *t, const struct lbr_piece *piece, u64 above,
		       const struct lbr_branch *abort)
{
	const u64 cause = workload_mark(piece->workload, 0) + above;

	CHECK_RANGE(t, LBR_29, cause, cause + piece->workload->mark_length, abort->from,
		    "FROM of the abort: %#lx ends the transaction", cause);
}

/* Record lbr_abort until XABORT is what ends its transaction. false: it never was. */
static bool record_xabort(struct test *t, u64 above, struct lbr_stack *stack)
{
	const volatile u64 *eax = workload_memory();

	for (unsigned tries = 0; tries < TRIES; tries++) {
		lbr_record_above(&lbr_piece_lbr_abort, 0, above, 0, stack);
		leave_out_second_entry(t, stack);
		if (*eax == BY_XABORT)
			return true;
	}
	test_inconclusive(t, "none of %u transactions got to XABORT", TRIES);
	return false;
}

/*
 * LBR-29  The abort of a transaction must be an entry with TSX_ABORT, in FROM where it aborted and
 *         in TO where the processor goes on.
 *         SDM 17.9, Table 17-14; 17.10, Table 17-16
 * LBR-31  The entry of an abort must have IN_TX.
 *         SDM Table 17-14, Table 17-16: the entry occurred in a TSX region
 *
 * Given  a jump before a transaction, one in it, XABORT, one after it; until EAX says XABORT
 * When   they are recorded
 * Then   the entries are the jump before, the one inside with IN_TX alone, the abort from XABORT
 *        to its handler with TSX_ABORT and IN_TX, the jump after it with neither
 * Control: the newest entry is the jump after the transaction
 */
TEST(lbr, abort_of_a_transaction_is_an_entry_with_tsx_abort, REQS(LBR_29, LBR_31),
     NEEDS(need_lbr, need_lbr_transactions))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_abort;
	const struct lbr_row *rows = piece->rows;
	const struct lbr_branch *before, *inside, *abort, *after;
	struct lbr_stack stack;

	if (!record_xabort(t, 0, &stack))
		return;
	before = &stack.branch[ABORT_ROWS - 1 - ABORT_JUMP_BEFORE];
	inside = &stack.branch[ABORT_ROWS - 1 - ABORT_JUMP_INSIDE];
	abort = &stack.branch[ABORT_ROWS - 1 - ABORT_ITSELF];
	after = &stack.branch[ABORT_ROWS - 1 - ABORT_JUMP_AFTER];
	CONTROL_EQ(t, IDS(LBR_29, LBR_31), rows[ABORT_JUMP_AFTER].from, after->from,
		   "FROM of the newest entry, the jump after it");
	CHECK_EQ(t, LBR_29, rows[ABORT_ITSELF].to, abort->to, "TO of the abort, its handler");
	check_from(t, piece, 0, abort);
	CHECK(t, LBR_29, abort->aborted, "TSX_ABORT of the abort");
	CHECK(t, LBR_31, abort->in_transaction, "IN_TX of the abort");
	CHECK_EQ(t, LBR_29, rows[ABORT_JUMP_INSIDE].from, inside->from,
		 "FROM of the entry before it, the jump inside");
	CHECK(t, LBR_29, inside->in_transaction && !inside->aborted,
	      "IN_TX and not TSX_ABORT of the jump inside");
	CHECK_EQ(t, LBR_29, rows[ABORT_JUMP_BEFORE].from, before->from,
		 "FROM of the entry before that, the jump before");
	CHECK(t, IDS(LBR_29, LBR_31), !before->in_transaction && !before->aborted,
	      "neither flag of the jump before");
	CHECK(t, IDS(LBR_29, LBR_31), !after->in_transaction && !after->aborted,
	      "neither flag of the jump after it");
}

/*
 * LBR-29  The abort of a transaction must be an entry with TSX_ABORT, in FROM where it aborted and
 *         in TO where the processor goes on.
 *         SDM 17.9, Table 17-14; 17.10, Table 17-16
 *
 * Given  a transaction that XABORT ends, at the top of the lower half of the address space; then in
 *        the upper half
 * When   its abort is recorded; repeated until EAX shows that XABORT ended it
 * Then   FROM and TO of the abort hold all bits of the addresses, FROM except those of its flags
 * Control: the entry has TSX_ABORT
 */
TEST(lbr, abort_in_either_half_is_an_entry_with_whole_addresses, REQS(LBR_29),
     NEEDS(need_lbr, need_lbr_transactions))
{
	static const u64 halves[] = { PAGING_HIGH, PAGING_UPPER };
	enum { ABORT_AGE = ABORT_ROWS - 1 - ABORT_ITSELF };
	const struct lbr_piece *piece = &lbr_piece_lbr_abort;
	const u64 cause = workload_mark(piece->workload, 0);
	struct lbr_stack stack;

	for (unsigned half = 0; half < 2; half++) {
		const u64 from = (cause + halves[half]) & lbr_address_bits();

		if (!record_xabort(t, halves[half], &stack))
			return;
		CONTROL(t, LBR_29, stack.branch[ABORT_AGE].aborted,
			"TSX_ABORT of the entry before the newest");
		CHECK_RANGE(t, LBR_29, from, from + piece->workload->mark_length,
			    stack.raw[ABORT_AGE].from & lbr_address_bits(),
			    "FROM of the abort: XABORT, or what follows it");
		CHECK_EQ(t, LBR_29, piece->rows[ABORT_ITSELF].to + halves[half],
			 stack.raw[ABORT_AGE].to, "TO of the abort, its handler");
	}
}

/*
 * LBR-29  The abort of a transaction must be an entry with TSX_ABORT, in FROM where it aborted and
 *         in TO where the processor goes on.
 *         SDM 17.9, Table 17-14; 17.10, Table 17-16
 * LBR-31  The entry of an abort must have IN_TX.
 *         SDM Table 17-14, Table 17-16: the entry occurred in a TSX region
 *
 * Given  a jump in a transaction; then a load from a non-canonical address ends the transaction,
 *        and its exception is suppressed; until EAX is 0, which says neither XABORT nor that a
 *        retry may succeed
 * When   they are recorded
 * Then   the entry after that of the jump goes to the handler of the abort and has TSX_ABORT and
 *        IN_TX; where nothing else aborts, it is from the load
 * Control: the jump before the abort is an entry, and the one after it is the newest
 */
TEST(lbr, abort_by_an_exception_is_an_entry_with_tsx_abort, REQS(LBR_29, LBR_31),
     NEEDS(need_lbr, need_lbr_transactions))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_abort_fault;
	const volatile u64 *eax = workload_memory();
	const struct lbr_branch *abort;
	struct lbr_stack stack;
	unsigned tries = 0;

	do {
		lbr_record(piece, 0, 0, &stack);
		leave_out_second_entry(t, &stack);
	} while ((u32)*eax && ++tries < TRIES);
	if ((u32)*eax) {
		test_inconclusive(t, "none of %u transactions got to #GP", TRIES);
		return;
	}
	abort = &stack.branch[ABORT_ROWS - 1 - ABORT_ITSELF];
	CONTROL_EQ(t, IDS(LBR_29, LBR_31), piece->rows[ABORT_JUMP_AFTER].from, stack.branch[0].from,
		   "FROM of the newest entry, the jump after it");
	CHECK_EQ(t, LBR_29, piece->rows[ABORT_ITSELF].to, abort->to, "TO of the abort by #GP");
	CHECK(t, LBR_29, abort->aborted, "TSX_ABORT of the abort by #GP");
	CHECK(t, LBR_31, abort->in_transaction, "IN_TX of the abort by #GP");
	if (!test_sees_exactly(t, REQ_LBR_29))
		return;
	check_from(t, piece, 0, abort);
	CONTROL_EQ(t, IDS(LBR_29, LBR_31), piece->rows[ABORT_JUMP_INSIDE].from, abort[1].from,
		   "FROM of the entry before it, the jump inside");
}

/* The entry of the abort to lbr_abort's handler: the oldest branch to it. NULL: there is none. */
static const struct lbr_branch *abort_of(const struct lbr_stack *stack)
{
	const u64 handler = lbr_piece_lbr_abort.rows[ABORT_ITSELF].to;

	for (unsigned i = stack->depth; i--;)
		if (stack->branch[i].to == handler)
			return &stack->branch[i];
	return NULL;
}

/* Record lbr_abort at CPL 3, until XABORT ends its transaction. select: the filters. */
static bool record_user_xabort(struct test *t, u64 select, struct lbr_stack *stack)
{
	const volatile u64 *eax = workload_memory();

	for (unsigned tries = 0; tries < TRIES; tries++) {
		lbr_record_at_cpl_3(&lbr_piece_lbr_abort, 0, select, stack);
		if (*eax == BY_XABORT)
			return true;
	}
	test_inconclusive(t, "none of %u transactions of CPL 3 got to XABORT", TRIES);
	return false;
}

/*
 * LBR-29  The abort of a transaction must be an entry with TSX_ABORT, in FROM where it aborted and
 *         in TO where the processor goes on.
 *         SDM 17.9, Table 17-14; 17.10, Table 17-16
 * LBR-31  The entry of an abort must have IN_TX.
 *         SDM Table 17-14, Table 17-16: the entry occurred in a TSX region
 * LBR-09  MSR_LBR_SELECT[0] = 1 must keep branches that end at CPL 0 out, and [1] = 1 those that
 *         end at CPL > 0.
 *         SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 *
 * Given  a transaction at CPL 3 with a jump, ended by XABORT; until EAX says XABORT
 * When   its branches are recorded with MSR_LBR_SELECT[0] = 1, then with [1] = 1
 * Then   with [0] = 1 there is an entry from XABORT to its handler, with TSX_ABORT and IN_TX, and
 *        before it that of the jump, with IN_TX alone; with [1] = 1 there is no entry to the
 *        handler, and none with TSX_ABORT
 * Control: the jump is an entry with [0] = 1
 */
TEST(lbr, abort_of_a_transaction_of_cpl_3_is_an_entry_with_tsx_abort, REQS(LBR_29, LBR_31, LBR_09),
     NEEDS(need_lbr, need_lbr_transactions))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_abort;
	const struct lbr_branch *abort;
	struct lbr_stack stack;
	unsigned aborted = 0;

	if (!record_user_xabort(t, LBR_SELECT_CPL_EQ_0, &stack))
		return;
	abort = abort_of(&stack);
	CONTROL_RANGE(t, IDS(LBR_29, LBR_31, LBR_09), 1, stack.depth,
		      lbr_entries_to(&stack, piece->rows[ABORT_JUMP_INSIDE].to),
		      "entries of the jump inside, MSR_LBR_SELECT[0] = 1");
	if (!CHECK(t, IDS(LBR_29, LBR_09), abort && abort < &stack.branch[stack.depth - 1],
		   "an entry goes to the handler of the abort, MSR_LBR_SELECT[0] = 1"))
		return;
	check_from(t, piece, 0, abort);
	CHECK(t, LBR_29, abort->aborted, "TSX_ABORT of the abort at CPL 3");
	CHECK(t, LBR_31, abort->in_transaction, "IN_TX of the abort at CPL 3");
	CHECK_EQ(t, LBR_29, piece->rows[ABORT_JUMP_INSIDE].from, abort[1].from,
		 "FROM of the entry before it, the jump inside");
	CHECK(t, LBR_29, abort[1].in_transaction && !abort[1].aborted,
	      "IN_TX and not TSX_ABORT of the jump inside");
	if (!record_user_xabort(t, LBR_SELECT_CPL_NEQ_0, &stack))
		return;
	for (unsigned i = 0; i < stack.depth; i++)
		aborted += stack.branch[i].aborted;
	CHECK(t, LBR_09, !abort_of(&stack), "no entry goes to the handler, MSR_LBR_SELECT[1] = 1");
	CHECK_EQ(t, LBR_09, 0, aborted, "entries with TSX_ABORT, MSR_LBR_SELECT[1] = 1");
}

/* Record lbr_elided until its lock was elided and PAUSE alone has aborted the elision. Without
 * elision there is no abort; an abort of another cause adds entries. false: it never happened. */
static bool record_elided(struct test *t, u64 above, struct lbr_stack *stack)
{
	const struct lbr_piece *piece = &lbr_piece_lbr_elided;
	const struct lbr_branch *elided = &stack->branch[ELIDED_ROWS - 1 - ELIDED_JUMP];

	for (unsigned tries = 0; tries < TRIES; tries++) {
		*workload_memory() = 0;
		lbr_record_above(piece, 0, above, 0, stack);
		leave_out_second_entry(t, stack);
		if (elided->from == piece->rows[ELIDED_JUMP].from + above &&
		    stack->top == ELIDED_ROWS)
			return true;
	}
	test_inconclusive(t, "none of %u locks was elided and aborted by PAUSE alone", TRIES);
	return false;
}

/*
 * LBR-29  The abort of a transaction must be an entry with TSX_ABORT, in FROM where it aborted and
 *         in TO where the processor goes on.
 *         SDM 17.9, Table 17-14; 17.10, Table 17-16
 *
 * Given  a jump and PAUSE with a lock elided: PAUSE aborts the elision, and the jump is executed
 *        again with the lock taken; repeated until PAUSE, and nothing else, aborts an elision; then
 *        the same in the upper half of the address space
 * When   the branches are recorded
 * Then   the entries are the jump with IN_TX, the abort from PAUSE to the start of the region with
 *        TSX_ABORT, and the jump again with neither
 * Control: the newest entry is the jump
 */
TEST(lbr, abort_of_an_elided_lock_is_an_entry_with_tsx_abort, REQS(LBR_29),
     NEEDS(need_lbr, need_lbr_transactions, need_lbr_elision))
{
	static const u64 halves[] = { 0, PAGING_UPPER };
	const struct lbr_piece *piece = &lbr_piece_lbr_elided;
	const struct lbr_row *rows = piece->rows;
	struct lbr_stack stack;
	const struct lbr_branch *elided = &stack.branch[ELIDED_ROWS - 1 - ELIDED_JUMP];
	const struct lbr_branch *abort = &stack.branch[ELIDED_ROWS - 1 - ELIDED_ABORT];
	const struct lbr_branch *taken = &stack.branch[ELIDED_ROWS - 1 - ELIDED_JUMP_AGAIN];

	for (unsigned half = 0; half < 2; half++) {
		const u64 above = halves[half];

		if (!record_elided(t, above, &stack))
			return;
		CONTROL_EQ(t, LBR_29, rows[ELIDED_JUMP_AGAIN].from + above, taken->from,
			   "FROM of the newest entry, the jump");
		/* After the abort execution continues at XCHG, which runs again without its prefix,
		 * or after XCHG. */
		CHECK_RANGE(t, LBR_29, rows[ELIDED_ABORT].to + above,
			    rows[ELIDED_JUMP].from + above,
			    stack.raw[ELIDED_ROWS - 1 - ELIDED_ABORT].to,
			    "TO of the abort, the start of the region");
		check_from(t, piece, above, abort);
		CHECK(t, LBR_29, abort->aborted, "TSX_ABORT of the abort");
		CHECK(t, LBR_29, elided->in_transaction && !elided->aborted,
		      "IN_TX and not TSX_ABORT of the jump with the lock elided");
		CHECK(t, LBR_29, !taken->in_transaction && !taken->aborted,
		      "neither flag of the jump with the lock taken");
	}
}
