/* SPDX-License-Identifier: MIT */
/*
 * The entry of a transaction's abort: SDM Table 17-14 and Table 17-16. FROM is "EIP at the time of
 * the abort", which of an instruction that aborts is that one or the next; TO is the handler of an
 * RTM abort, or the start of the elided region. A processor may abort at any time and for reasons
 * of its own, so a piece is repeated until the abort is the one that it asks for.
 */
#include "kernel/memory/paging.h"
#include "tests/frame/test.h"
#include "tests/lbr/branches.h"

#define TRIES		200
#define BY_XABORT	0x5a000001u	/* EAX after XABORT 5AH: "RTM Abort Status Definition" */

static u64 from_of(const struct lbr_piece *piece, unsigned row)
{
	return piece->rows[row].from;
}

/* Of the abort, FROM: the instruction that ends it, or the one after that. */
static void check_from(struct test *t, const struct lbr_piece *piece,
		       const struct lbr_branch *abort)
{
	const u64 cause = workload_mark(piece->workload, 0);

	CHECK_RANGE(t, LBR_29, cause, cause + piece->workload->mark_length, abort->from,
		    "FROM of the abort: %#lx ends the transaction", cause);
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
 */
TEST(lbr, abort_of_a_transaction_is_an_entry_with_its_flag, REQS(LBR_29, LBR_31),
     NEEDS(need_lbr, need_lbr_transactions))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_abort;
	const volatile u64 *eax = workload_memory();
	const struct lbr_branch *abort;
	struct lbr_stack stack;
	unsigned tries = 0;

	do
		lbr_record(piece, 0, 0, &stack);
	while (*eax != BY_XABORT && ++tries < TRIES);
	if (*eax != BY_XABORT) {
		test_inconclusive(t, "none of %u transactions got to XABORT", tries);
		return;
	}
	abort = &stack.branch[1];
	CONTROL_EQ(t, IDS(LBR_29, LBR_31), from_of(piece, 3), stack.branch[0].from,
		   "FROM of the newest entry, the jump after it");
	CHECK_EQ(t, LBR_29, piece->rows[2].to, abort->to, "TO of the abort, its handler");
	check_from(t, piece, abort);
	CHECK(t, LBR_29, abort->aborted, "TSX_ABORT of the abort");
	CHECK(t, LBR_31, abort->in_transaction, "IN_TX of the abort");
	CHECK_EQ(t, LBR_29, from_of(piece, 1), stack.branch[2].from,
		 "FROM of the entry before it, the jump inside");
	CHECK(t, LBR_29, stack.branch[2].in_transaction && !stack.branch[2].aborted,
	      "IN_TX and not TSX_ABORT of the jump inside");
	CHECK_EQ(t, LBR_29, from_of(piece, 0), stack.branch[3].from,
		 "FROM of the entry before that, the jump before");
	for (unsigned i = 0; i <= 3; i += 3)
		CHECK(t, IDS(LBR_29, LBR_31),
		      !stack.branch[i].in_transaction && !stack.branch[i].aborted,
		      "neither flag of entry %u, outside", i);
}

/*
 * LBR-29  The abort of a transaction must be an entry with TSX_ABORT, in FROM where it aborted and
 *         in TO where the processor goes on.
 *         SDM 17.9, Table 17-14; 17.10, Table 17-16
 *
 * Given  a transaction that XABORT ends, above 4 GiB; then in the upper half of the address space
 * When   its abort is recorded; until EAX says XABORT
 * Then   FROM and TO of the abort have each bit of the addresses
 * Control: the entry has TSX_ABORT
 */
TEST(lbr, abort_in_either_half_is_an_entry_with_whole_addresses, REQS(LBR_29),
     NEEDS(need_lbr, need_lbr_transactions))
{
	static const u64 halves[] = { PAGING_HIGH, PAGING_UPPER };
	const struct lbr_piece *piece = &lbr_piece_lbr_abort;
	const u64 cause = workload_mark(piece->workload, 0);
	const volatile u64 *eax = workload_memory();
	struct lbr_stack stack;

	for (unsigned half = 0; half < 2; half++) {
		const u64 from = (cause + halves[half]) & lbr_address_bits();
		unsigned tries = 0;

		do
			lbr_record_above(piece, halves[half], 0, &stack);
		while (*eax != BY_XABORT && ++tries < TRIES);
		if (*eax != BY_XABORT) {
			test_inconclusive(t, "none of %u transactions got to XABORT", tries);
			return;
		}
		CONTROL(t, LBR_29, stack.branch[1].aborted,
			"TSX_ABORT of the entry before the newest");
		CHECK_RANGE(t, LBR_29, from, from + piece->workload->mark_length,
			    stack.raw[1].from & lbr_address_bits(),
			    "FROM of the abort: XABORT, or what follows it");
		CHECK_EQ(t, LBR_29, piece->rows[2].to + halves[half], stack.raw[1].to,
			 "TO of the abort, its handler");
	}
}

/*
 * LBR-29  The abort of a transaction must be an entry with TSX_ABORT, in FROM where it aborted and
 *         in TO where the processor goes on.
 *         SDM 17.9, Table 17-14; 17.10, Table 17-16
 *
 * Given  a lock that is elided, a jump, PAUSE; until the lock was elided
 * When   they are recorded
 * Then   the entries are the jump with IN_TX, the abort from PAUSE to the start of the region with
 *        TSX_ABORT, and the jump again with neither
 */
TEST(lbr, abort_of_an_elided_lock_is_an_entry_with_its_flag, REQS(LBR_29),
     NEEDS(need_lbr, need_lbr_transactions, need_lbr_elision))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_elided;
	const u64 jump = from_of(piece, 0);
	struct lbr_stack stack;
	unsigned tries = 0;

	/* The whole of what a try records has to be of this one. */
	do {
		*workload_memory() = 0;
		lbr_record(piece, 0, 0, &stack);
	} while ((stack.branch[2].from != jump || stack.top != 3) && ++tries < TRIES);
	if (tries == TRIES) {
		test_inconclusive(t, "none of %u locks was elided and aborted by PAUSE alone",
				  tries);
		return;
	}
	CONTROL_EQ(t, LBR_29, jump, stack.branch[0].from, "FROM of the newest entry, the jump");
	/* It goes on with XCHG, without the prefix. */
	CHECK_RANGE(t, LBR_29, piece->rows[1].to, jump, stack.branch[1].to,
		    "TO of the abort, the start of the region");
	check_from(t, piece, &stack.branch[1]);
	CHECK(t, LBR_29, stack.branch[1].aborted, "TSX_ABORT of the abort");
	CHECK(t, LBR_29, stack.branch[2].in_transaction && !stack.branch[2].aborted,
	      "IN_TX and not TSX_ABORT of the jump with the lock elided");
	CHECK(t, LBR_29, !stack.branch[0].in_transaction && !stack.branch[0].aborted,
	      "neither flag of the jump with the lock taken");
}
