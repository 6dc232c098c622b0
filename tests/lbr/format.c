/* SPDX-License-Identifier: MIT */
/*
 * The fields of an entry other than its two addresses: IA32_PERF_CAPABILITIES[5:0] names the
 * format. SDM "LBR Stack", Table 17-14, Table 17-16. It isn't known whether a single branch is
 * mispredicted, so that flag isn't checked here.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/counter.h"
#include "tests/frame/test.h"
#include "tests/lbr/branches.h"

#define IN_TX	 LBR5_INFO_IN_TX	/* in INFO; in format 4 the same bits are in FROM */
#define ABORTED	 LBR5_INFO_TSX_ABORT
_Static_assert(LBR4_FROM_IN_TX_SHIFT == LBR5_INFO_IN_TX_SHIFT, "one name for both");

/*
 * LBR-20  With formats 5 and 7 FROM must have no flags (canonical address).
 *         SDM 17.10 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *         based on Skylake Microarchitecture
 *
 * Given  format 5 or 7, a branch of each kind
 * When   they are recorded
 * Then   FROM and TO, all 64 bits, are the addresses
 */
TEST(lbr, from_and_to_have_no_flags_where_an_entry_has_info, REQS(LBR_20),
     NEEDS(need_lbr, need_lbr_info))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_kinds;
	unsigned rows = (unsigned)(piece->end - piece->rows);
	struct lbr_stack stack;

	lbr_record(piece, 0, 0, &stack);
	for (unsigned i = 0; i < rows; i++) {
		CHECK_EQ(t, LBR_20, piece->rows[rows - 1 - i].from, stack.raw[i].from,
			 "FROM as RDMSR reads it, entry %u", i);
		CHECK_EQ(t, LBR_20, piece->rows[rows - 1 - i].to, stack.raw[i].to,
			 "TO as RDMSR reads it, entry %u", i);
	}
}

/*
 * LBR-24  IA32_PERF_CAPABILITIES[5:0] must name the format that the registers show.
 *         SDM 17.4.8.1 LBR Stack and Intel 64 Processors: IA32_PERF_CAPABILITIES[5:0]
 *
 * Given  the format that IA32_PERF_CAPABILITIES[5:0] names
 * When   MSR_LBR_INFO_0, and each FROM and TO below the depth, are read
 * Then   #GP for MSR_LBR_INFO_0 where the format hasn't got it, and for nothing else
 */
TEST(msr, lbr_info_register_exists_if_the_lbr_format_has_it, REQS(LBR_24),
     NEEDS(need_lbr, need_refused_msrs))
{
	u64 value;

	CHECK_EQ(t, LBR_24, lbr_format_has_info(lbr_format()),
		 !msr_try_read(MSR_LBR_INFO_0, &value).raised,
		 "MSR_LBR_INFO_0 can be read, LBR_FMT = %u", lbr_format());
	for (unsigned i = 0; i < lbr_depth(); i++)
		CHECK(t, LBR_24,
		      !msr_try_read(MSR_LASTBRANCH_0_FROM_IP + i, &value).raised &&
			      !msr_try_read(MSR_LASTBRANCH_0_TO_IP + i, &value).raised,
		      "entry %u can be read, LBR_FMT = %u", i, lbr_format());
}

/*
 * LBR-23  INFO[62:61] must be 0 outside of transactions, and with format 7 always.
 *         SDM 17.10 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *         based on Skylake Microarchitecture, Table 17-16
 *
 * Given  format 5 or 7, a full stack of branches outside of transactions
 * When   INFO of each entry is read
 * Then   bits 62:61 are 0
 * Control: each entry has a branch
 */
TEST(lbr, info_says_no_transaction_outside_of_one, REQS(LBR_23), NEEDS(need_lbr, need_lbr_info))
{
	struct lbr_stack stack;

	lbr_record(&lbr_piece_lbr_chain, LBR_LINKS, 0, &stack);
	for (unsigned i = 0; i < stack.depth; i++) {
		CONTROL(t, LBR_23, stack.raw[i].from, "entry %u has a branch", i);
		CHECK_EQ(t, LBR_23, 0, stack.raw[i].info & (IN_TX | ABORTED),
			 "INFO[62:61] of entry %u", i);
	}
}

#define SHORT_ROUNDS	500u
#define LONG_ROUNDS	35000u
#define LONG_ROUNDS_MOST (1u << 18)

/* Run a loop between two jumps; the loop's branches are filtered out. Returns the cycles of the
 * second jump's entry; *soon: the cycles of a third jump, a few instructions later; *counted: fixed
 * counter 1's count of the loop. */
static unsigned delay(struct test *t, u64 rounds, u64 *counted, unsigned *soon)
{
	const struct lbr_piece *piece = &lbr_piece_lbr_delay;
	const volatile u64 *words = workload_memory();
	struct lbr_stack stack;

	counter_program(PMC_FIXED(1), 0, COUNT_BOTH);
	counter_write(PMC_FIXED(1), 0);
	lbr_open(LBR_SELECT_JCC, 0);
	counters_enable(pmc_one(PMC_FIXED(1)));
	lbr_go_on(piece, rounds, IA32_DEBUGCTL_LBR, &stack);
	counters_disable();
	lbr_close();
	*counted = (u32)(words[1] - words[0]);
	for (unsigned i = 0; i < DELAY_JUMPS; i++)
		CONTROL_EQ(t, LBR_22, piece->rows[DELAY_JUMPS - 1 - i].from, stack.branch[i].from,
			   "FROM of entry %u, a jump of the piece", i);
	*soon = stack.branch[0].cycles;
	return stack.branch[1].cycles;
}

/*
 * LBR-22  INFO[15:0] must be the core cycles since the previous entry, at most FFFFH.
 *         SDM 17.10 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *         based on Skylake Microarchitecture, Table 17-16
 *
 * Given  a loop between two jumps, its own branches filtered out, and a third jump soon after;
 *        fixed counter 1 counts the loop's core cycles
 * When   the loop is short; longer than FFFFH cycles; short again
 * Then   INFO[15:0] of the second jump is about the count; FFFFH; the same again; that of the third
 *        is less than half of a short loop's
 * Control: the three are the newest entries
 */
TEST(lbr, info_counts_core_cycles_since_the_entry_before, REQS(LBR_22),
     NEEDS(need_lbr, need_lbr_info, need_fixed_0_to_2))
{
	u64 counted, rounds = LONG_ROUNDS;
	unsigned soon, cycles = delay(t, SHORT_ROUNDS, &counted, &soon);

	CONTROL_RANGE(t, LBR_22, 1, CYCLES_MOST / 4, counted, "core cycles of a short loop");
	CHECK_RANGE(t, LBR_22, counted / 2, lbr_most_cycles(t, counted), cycles,
		    "INFO[15:0] of the jump after %lu core cycles", counted);
	CHECK_RANGE(t, LBR_22, 0, counted / 2, soon,
		    "INFO[15:0] of the jump a few instructions later");
	do {
		cycles = delay(t, rounds, &counted, &soon);
		rounds *= 2;
	} while (counted <= CYCLES_MOST && rounds <= LONG_ROUNDS_MOST);
	CONTROL_RANGE(t, LBR_22, CYCLES_MOST + 1, ~0ULL, counted, "core cycles of a long loop");
	CHECK_EQ(t, LBR_22, CYCLES_MOST, cycles, "INFO[15:0] of the jump after %lu core cycles",
		 counted);
	/* Repeat it: the time before the first piece may have exceeded 16 bits. */
	cycles = delay(t, SHORT_ROUNDS, &counted, &soon);
	CONTROL_RANGE(t, LBR_22, 1, CYCLES_MOST / 4, counted, "core cycles of a short loop");
	CHECK_RANGE(t, LBR_22, counted / 2, lbr_most_cycles(t, counted), cycles,
		    "INFO[15:0] of the jump after %lu core cycles, after a long loop", counted);
	CHECK_RANGE(t, LBR_22, 0, counted / 2, soon,
		    "INFO[15:0] of the jump a few instructions later, after a long loop");
}

#define TRANSACTION_TRIES 200

/* The flags of a transaction, which are in FROM or in INFO, depending on the format. */
static u64 transaction_flags(const struct lbr_raw *raw)
{
	return (lbr_format_has_info(lbr_format()) ? raw->info : raw->from) & (IN_TX | ABORTED);
}

/* Run the piece until its transaction commits. false: it never committed. */
static bool record_commit(struct test *t, const struct lbr_piece *piece, bool user,
			  struct lbr_stack *stack)
{
	const volatile u64 *committed = workload_memory();

	for (unsigned tries = 0; tries < TRANSACTION_TRIES; tries++) {
		/* Branches at CPL 0 after the return would fill a stack of 16 entries. */
		if (user)
			lbr_record_at_cpl_3(piece, 0, LBR_SELECT_CPL_EQ_0, stack);
		else
			lbr_record(piece, 0, 0, stack);
		if (*committed)
			return true;
	}
	test_inconclusive(t, "none of %u transactions committed", TRANSACTION_TRIES);
	return false;
}

/*
 * LBR-19  With format 4 bits 63, 62 and 61 of FROM must be mispredict, in-TSX and TSX-abort.
 *         SDM 17.9, Table 17-14
 * LBR-23  INFO[62:61] must be 0 outside of transactions, and with format 7 always.
 *         SDM 17.10 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *         based on Skylake Microarchitecture, Table 17-16
 *
 * Given  a jump before a transaction, one in it, one after it, at CPL 0 and at CPL 3; jumps before,
 *        in and after a transaction that is nested in another one, and one with a branch of each
 *        kind but far ones; each is repeated until it commits
 * When   they are recorded
 * Then   the in-TX flag alone is set of the branches in a transaction, nested or not, and neither
 *        flag of the others
 * Control: the jumps are entries, in order; at CPL 0 the newest ones
 */
TEST(lbr, branch_in_a_transaction_is_marked_and_others_are_not, REQS(LBR_19, LBR_23),
     NEEDS(need_lbr, need_lbr_transactions))
{
	static const struct {
		const struct lbr_piece *piece;
		bool user;
	} each[] = {
		{ &lbr_piece_lbr_transaction, false },
		{ &lbr_piece_lbr_transaction, true },
		{ &lbr_piece_lbr_tx_nested, false },
		{ &lbr_piece_lbr_tx_nested, true },
		{ &lbr_piece_lbr_tx_kinds, false },
		{ &lbr_piece_lbr_tx_kinds, true },
	};

	for (unsigned k = 0; k < sizeof(each) / sizeof(each[0]); k++) {
		const struct lbr_piece *piece = each[k].piece;
		const struct lbr_row *last = piece->end - 1;
		const char *name = piece->workload->name;
		const unsigned cpl = each[k].user ? 3 : 0;
		struct lbr_stack stack;
		unsigned newest;

		if (!record_commit(t, piece, each[k].user, &stack))
			return;
		newest = each[k].user ? lbr_find(&stack, last->from) : 0;
		for (const struct lbr_row *row = last; row >= piece->rows; row--) {
			const unsigned i = newest + (unsigned)(last - row);

			if (!CONTROL_RANGE(t, IDS(LBR_19, LBR_23), 0, stack.depth - 1, i,
					   "entry of a jump of %s at CPL %u", name, cpl))
				return;
			CONTROL_EQ(t, IDS(LBR_19, LBR_23), row->from, stack.branch[i].from,
				   "FROM of entry %u, %s at CPL %u", i, name, cpl);
			if (row == last || row == piece->rows)
				CHECK_EQ(t, IDS(LBR_19, LBR_23), 0,
					 transaction_flags(&stack.raw[i]),
					 "flags of the jump %s it, %s at CPL %u",
					 row == last ? "after" : "before", name, cpl);
			else
				CHECK_EQ(t, LBR_19, IN_TX, transaction_flags(&stack.raw[i]),
					 "flags of branch %u, in it, %s at CPL %u",
					 (unsigned)(row - piece->rows), name, cpl);
		}
	}
}

/*
 * LBR-22  INFO[15:0] must be the core cycles since the previous entry, at most FFFFH.
 *         SDM 17.10 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *         based on Skylake Microarchitecture, Table 17-16
 *
 * Given  software has written FFFFH to INFO of each entry
 * When   more jumps than there are entries are recorded, each right after the one before
 * Then   INFO[15:0] of each entry is less than a quarter of that
 * Control: INFO read FFFFH before; each entry is one of the jumps
 */
TEST(lbr, info_of_each_entry_has_the_cycles_of_its_own_branch, REQS(LBR_22),
     NEEDS(need_lbr, need_lbr_info))
{
	struct lbr_stack stack;

	lbr_open(0, 0);
	for (unsigned i = 0; i < lbr_depth(); i++) {
		msr_write(MSR_LBR_INFO_0 + i, CYCLES_MOST);
		CONTROL_EQ(t, LBR_22, CYCLES_MOST, msr_read(MSR_LBR_INFO_0 + i), "MSR_LBR_INFO_%u",
			   i);
	}
	lbr_go_on(&lbr_piece_lbr_chain, LBR_LINKS - 1, IA32_DEBUGCTL_LBR, &stack);
	lbr_close();
	lbr_check_chain(t, CONTROL_AT(LBR_22), &stack, LBR_LINKS - 1, stack.depth);
	for (unsigned i = 0; i < stack.depth; i++)
		CHECK_RANGE(t, LBR_22, 0, CYCLES_MOST / 4, stack.branch[i].cycles,
			    "INFO[15:0] of a jump %u before the newest", i);
}

/*
 * LBR-22  INFO[15:0] must be the core cycles since the previous entry, at most FFFFH.
 *         SDM 17.10 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *         based on Skylake Microarchitecture, Table 17-16
 *
 * Given  INT3, whose handler runs a loop and then INT3 once more; near branches filtered out
 * When   these are recorded
 * Then   INFO[15:0] of the two returns, after the loop, is less than half of that of the second
 *        INT3, which ends the loop
 * Control: that one has as many cycles as a quarter of the loop's rounds, and comes third
 */
TEST(lbr, info_has_the_cycles_since_an_exception_or_its_return, REQS(LBR_22),
     NEEDS(need_lbr, need_lbr_info))
{
	intr_handler before = intr_set_handler(VECTOR_BP, lbr_break_late);
	struct lbr_stack stack;

	lbr_record(&lbr_piece_lbr_breakpoint, 0, LBR_SELECT_NEAR_BRANCHES, &stack);
	intr_set_handler(VECTOR_BP, before);
	CONTROL_EQ(t, LBR_22, 4, stack.top, "far branches of two INT3");
	lbr_check_late(t, AT(LBR_22), &stack);
}
