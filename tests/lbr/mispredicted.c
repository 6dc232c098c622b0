/* SPDX-License-Identifier: MIT */
/*
 * The mispredict flag: bit 63 of FROM in formats 3 and 4 (Table 17-9, Table 17-14), of INFO in 5
 * and 7 (Table 17-16). It isn't known whether a single branch is mispredicted, so many executions
 * are checked, of a branch on unpredictable bits and of a loop's branch.
 */
#include "kernel/memory/paging.h"
#include "tests/frame/test.h"
#include "tests/lbr/branches.h"

#define WINDOWS		100u
#define FEW_WINDOWS	10u
#define ROUNDS		64u	/* in a loop */
#define PLAIN_ROUNDS	1000u	/* in a loop without another branch */
#define FEW_OF		4u	/* less than one of so many */
#define TRANSACTIONS	200u
#define LEAST		100u	/* entries of each kind */
#define LEAST_OF_REGISTER 24u	/* entries: none of them is mispredicted once in 2^24 */
#define UPPER_SHIFT	39	/* more than the length of any piece */

struct share {
	unsigned entries, mispredicted;
};

static void add(struct share *share, const struct lbr_branch *branch)
{
	share->entries++;
	share->mispredicted += branch->mispredicted;
}

/* Has the entry a flag of a transaction, wherever its format has it? */
static bool says_transaction(const struct lbr_branch *branch)
{
	return branch->in_transaction || branch->aborted;
}

/* Both branches are conditional and in one loop: the loop's branch goes backward, the other one
 * forward. registers: those by chance, by the register that holds the entry. false: the entries are
 * lost, and the test has ended. */
static bool look(struct test *t, struct share *by_chance, struct share *loop,
		 struct share registers[])
{
	static const struct lbr_piece piece = { &workload_random, NULL, NULL };
	struct lbr_stack stack;

	for (unsigned i = 0; i < WINDOWS; i++) {
		if (test_is_strict(t) && by_chance->entries >= LEAST && loop->entries >= LEAST)
			break;
		lbr_record(&piece, ROUNDS, 0, &stack);
		if (lbr_is_lost(t, &stack))
			return false;
		for (unsigned k = 0; k < stack.depth; k++) {
			const bool forward = stack.branch[k].to > stack.branch[k].from;

			add(forward ? by_chance : loop, &stack.branch[k]);
			if (forward)
				add(&registers[(stack.top + stack.depth - k) % stack.depth],
				    &stack.branch[k]);
		}
	}
	return true;
}

/*
 * LBR-18  With format 3 bit 63 of FROM must be 1 for a mispredicted branch.
 *         SDM 17.6.1 LBR Stack, Table 17-9
 * LBR-19  With format 4 bits 63, 62 and 61 of FROM must be mispredict, in-TSX and TSX-abort.
 *         SDM 17.9, Table 17-14
 * LBR-21  With formats 5 and 7 INFO[63] must be the mispredict flag.
 *         SDM 17.10 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *         based on Skylake Microarchitecture, Table 17-16
 *
 * Given  a loop with a branch by unpredictable bits, MSR_LBR_SELECT = 0
 * When   a hundred windows are recorded, in a strict run until there are a hundred entries of each
 * Then   some entries of that branch are mispredicted, and a larger share than of the loop's
 *        own branch; and some of those in each register of the stack that has 24 of them, or one
 *        in a strict run
 * Control: there are a hundred entries of each
 */
TEST(lbr, mispredict_flag_is_set_of_branches_by_chance_rather_than_of_loops,
     REQS(LBR_18, LBR_19, LBR_21), NEEDS(need_lbr))
{
	struct share by_chance = { 0, 0 }, loop = { 0, 0 };
	struct share registers[ARCH_LBR_MAX_ENTRIES] = { 0 };
	const unsigned least = test_is_strict(t) ? 1 : LEAST_OF_REGISTER;

	if (!look(t, &by_chance, &loop, registers))
		return;
	CONTROL_RANGE(t, IDS(LBR_18, LBR_19, LBR_21), LEAST, ~0ULL, by_chance.entries,
		      "entries of a branch by chance");
	CONTROL_RANGE(t, IDS(LBR_18, LBR_19, LBR_21), LEAST, ~0ULL, loop.entries,
		      "entries of a loop's branch");
	CHECK_RANGE(t, IDS(LBR_18, LBR_19, LBR_21), 1, ~0ULL, by_chance.mispredicted,
		    "mispredicted of %u branches by chance", by_chance.entries);
	CHECK(t, IDS(LBR_18, LBR_19, LBR_21),
	      (u64)by_chance.mispredicted * loop.entries >
		      (u64)loop.mispredicted * by_chance.entries,
	      "a larger share of branches by chance, %u of %u, than of a loop's, %u of %u",
	      by_chance.mispredicted, by_chance.entries, loop.mispredicted, loop.entries);
	for (unsigned i = 0; i < lbr_depth(); i++)
		if (registers[i].entries >= least)
			CHECK_RANGE(t, IDS(LBR_18, LBR_19, LBR_21), 1, ~0ULL,
				    registers[i].mispredicted,
				    "mispredicted of %u branches by chance in entry %u of the "
				    "stack",
				    registers[i].entries, i);
}

/*
 * LBR-19  With format 4 bits 63, 62 and 61 of FROM must be mispredict, in-TSX and TSX-abort.
 *         SDM 17.9, Table 17-14
 * LBR-23  INFO[62:61] must be 0 outside of transactions, and with format 7 always.
 *         SDM 17.10 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *         based on Skylake Microarchitecture, Table 17-16
 *
 * Given  a loop with a branch by unpredictable bits, no transaction
 * When   ten windows are recorded
 * Then   no entry has a flag of a transaction, whether it has the mispredict flag or not
 * Control: some entry has the mispredict flag, and some hasn't
 */
TEST(lbr, mispredicted_branch_has_no_flag_of_a_transaction, REQS(LBR_19, LBR_23),
     NEEDS(need_lbr, need_lbr_transaction_flags))
{
	static const struct lbr_piece piece = { &workload_random, NULL, NULL };
	unsigned entries[2] = { 0, 0 }, flagged[2] = { 0, 0 };
	struct lbr_stack stack;

	for (unsigned i = 0; i < FEW_WINDOWS; i++) {
		lbr_record(&piece, ROUNDS, 0, &stack);
		if (lbr_is_lost(t, &stack))
			return;
		for (unsigned k = 0; k < stack.depth; k++) {
			const unsigned kind = stack.branch[k].mispredicted;

			entries[kind]++;
			flagged[kind] += says_transaction(&stack.branch[k]);
		}
	}
	for (unsigned kind = 0; kind < 2; kind++) {
		CONTROL_RANGE(t, IDS(LBR_19, LBR_23), 1, ~0ULL, entries[kind],
			      "entries whose mispredict flag is %u", kind);
		CHECK_EQ(t, IDS(LBR_19, LBR_23), 0, flagged[kind],
			 "of %u entries whose mispredict flag is %u, those with a flag of a "
			 "transaction",
			 entries[kind], kind);
	}
}

/*
 * LBR-19  With format 4 bits 63, 62 and 61 of FROM must be mispredict, in-TSX and TSX-abort.
 *         SDM 17.9, Table 17-14
 * LBR-21  With formats 5 and 7 INFO[63] must be the mispredict flag.
 *         SDM 17.10 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *         based on Skylake Microarchitecture, Table 17-16
 *
 * Given  a loop in a transaction with a branch by unpredictable bits
 * When   it is recorded until there are a hundred entries with the in-TX flag
 * Then   some of them have the mispredict flag as well
 * Control: some haven't
 */
TEST(lbr, mispredicted_branch_in_a_transaction_has_both_flags, REQS(LBR_19, LBR_21),
     NEEDS(need_lbr, need_lbr_transactions))
{
	struct share inside = { 0, 0 };
	struct lbr_stack stack;

	for (unsigned i = 0; i < TRANSACTIONS && inside.entries < LEAST; i++) {
		lbr_record(&lbr_piece_lbr_transaction_random, ROUNDS, 0, &stack);
		if (lbr_is_lost(t, &stack))
			return;
		for (unsigned k = 0; k < stack.depth; k++)
			if (stack.branch[k].in_transaction && !stack.branch[k].aborted)
				add(&inside, &stack.branch[k]);
	}
	if (inside.entries < LEAST) {
		test_inconclusive(t, "%u entries of branches in %u transactions", inside.entries,
				  TRANSACTIONS);
		return;
	}
	CHECK_RANGE(t, IDS(LBR_19, LBR_21), 1, ~0ULL, inside.mispredicted,
		    "mispredicted of %u branches in transactions", inside.entries);
	CONTROL_RANGE(t, IDS(LBR_19, LBR_21), 0, inside.entries - 1, inside.mispredicted,
		      "mispredicted of %u branches in transactions", inside.entries);
}

static unsigned mispredicted(const struct lbr_stack *stack)
{
	unsigned n = 0;

	for (unsigned k = 0; k < stack->depth; k++)
		n += stack->branch[k].mispredicted;
	return n;
}

/*
 * LBR-18  With format 3 bit 63 of FROM must be 1 for a mispredicted branch.
 *         SDM 17.6.1 LBR Stack, Table 17-9
 * LBR-19  With format 4 bits 63, 62 and 61 of FROM must be mispredict, in-TSX and TSX-abort.
 *         SDM 17.9, Table 17-14
 * LBR-21  With formats 5 and 7 INFO[63] must be the mispredict flag.
 *         SDM 17.10 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *         based on Skylake Microarchitecture, Table 17-16
 *
 * Given  windows of a loop with a branch by unpredictable bits are recorded, each over the previous
 *        one, until a quarter of the entries or more have the mispredict flag at the same time, and
 *        the windows together had as many such entries as the stack has; at most forty windows. The
 *        stack is cleared before the first one only
 * When   a thousand rounds of a loop without another branch are recorded over these entries
 * Then   fewer than a quarter of the entries have the mispredict flag
 * Control: a quarter of the entries that are overwritten had it, or more. If the last of forty
 *          windows on a processor has fewer, the test is INCONCLUSIVE
 */
TEST(lbr, mispredict_flag_of_an_entry_is_not_that_of_the_branch_before_it_there,
     REQS(LBR_18, LBR_19, LBR_21), NEEDS(need_lbr))
{
	static const struct lbr_piece random = { &workload_random, NULL, NULL };
	static const struct lbr_piece plain = { &workload_load, NULL, NULL };
	const unsigned few = (lbr_depth() - 1) / FEW_OF;
	struct lbr_stack stack;
	unsigned flagged = 0, before = 0;

	lbr_open(0, 0);
	for (unsigned i = 0; i < WINDOWS && (flagged <= few || before < lbr_depth()); i++) {
		lbr_go_on(&random, ROUNDS, IA32_DEBUGCTL_LBR, &stack);
		flagged = mispredicted(&stack);
		before += flagged;
	}
	if (lbr_is_lost(t, &stack)) {
		lbr_close();
		return;
	}
	if (!test_is_strict(t) && flagged <= few) {
		lbr_close();
		test_inconclusive(t,
				  "the last of %u windows has no more than %u entries with the "
				  "flag",
				  WINDOWS, few);
		return;
	}
	CONTROL_RANGE(t, IDS(LBR_18, LBR_19, LBR_21), few + 1, stack.depth, flagged,
		      "of %u entries of a branch by chance those that have the mispredict flag",
		      stack.depth);
	lbr_go_on(&plain, PLAIN_ROUNDS, IA32_DEBUGCTL_LBR, &stack);
	lbr_close();
	if (lbr_is_lost(t, &stack))
		return;
	CHECK_RANGE(t, IDS(LBR_18, LBR_19, LBR_21), 0, few, mispredicted(&stack),
		    "of %u entries of a plain loop, recorded over those, that have the flag",
		    stack.depth);
}

/*
 * LBR-18  With format 3 bit 63 of FROM must be 1 for a mispredicted branch.
 *         SDM 17.6.1 LBR Stack, Table 17-9
 * LBR-19  With format 4 bits 63, 62 and 61 of FROM must be mispredict, in-TSX and TSX-abort.
 *         SDM 17.9, Table 17-14
 * LBR-21  With formats 5 and 7 INFO[63] must be the mispredict flag.
 *         SDM 17.10 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *         based on Skylake Microarchitecture, Table 17-16
 *
 * Given  code above 4 GiB; then in the upper half of the address space, where bits 63:47 are 1
 * When   a thousand rounds of a loop without another branch are recorded; then windows of a loop
 *        with a branch by unpredictable bits, until an entry has the mispredict flag, or forty
 * Then   fewer than a quarter of the first entries have the mispredict flag, and some of the
 *        others
 * Control: the newest entry has an address of the loop there
 */
TEST(lbr, mispredict_flag_is_not_a_bit_of_the_address, REQS(LBR_18, LBR_19, LBR_21),
     NEEDS(need_lbr))
{
	static const struct lbr_piece random = { &workload_random, NULL, NULL };
	static const struct lbr_piece plain = { &workload_load, NULL, NULL };
	static const u64 halves[] = { PAGING_HIGH, PAGING_UPPER };
	struct lbr_stack stack;

	for (unsigned half = 0; half < 2; half++) {
		unsigned by_chance = 0;

		lbr_record_above(&plain, PLAIN_ROUNDS, halves[half], 0, &stack);
		if (lbr_is_lost(t, &stack))
			return;
		CONTROL_EQ(t, IDS(LBR_18, LBR_19, LBR_21), halves[half] >> UPPER_SHIFT,
			   stack.raw[0].to >> UPPER_SHIFT, "bits 63:39 of TO of the newest entry");
		CHECK_RANGE(t, IDS(LBR_18, LBR_19, LBR_21), 0, (stack.depth - 1) / FEW_OF,
			    mispredicted(&stack),
			    "of %u entries of a plain loop that have the flag", stack.depth);
		for (unsigned i = 0; i < WINDOWS && !by_chance; i++) {
			lbr_record_above(&random, ROUNDS, halves[half], 0, &stack);
			if (lbr_is_lost(t, &stack))
				return;
			by_chance += mispredicted(&stack);
		}
		CHECK_RANGE(t, IDS(LBR_18, LBR_19, LBR_21), 1, ~0ULL, by_chance,
			    "entries of up to %u windows with branches by chance that have the "
			    "flag",
			    WINDOWS);
	}
}
