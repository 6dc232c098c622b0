/* SPDX-License-Identifier: MIT */
/*
 * MSR_LBR_SELECT: SDM "Filtering of Last Branch Records". A bit that is 1 filters out its kind of
 * branch. So each test has its controls in the same window: the branches of the other kinds.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/descriptor.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "kernel/memory/paging.h"
#include "tests/frame/test.h"
#include "tests/lbr/branches.h"

/* Record the kinds piece with these bits of MSR_LBR_SELECT: the branches of these kinds must be
 * missing, and all others must be there, in order. */
static void check_filter(struct test *t, struct test_claim claim, u64 select)
{
	const struct lbr_piece *piece = &lbr_piece_lbr_kinds;
	struct lbr_stack stack;
	unsigned age = 0;

	lbr_record(piece, 0, select, &stack);
	for (const struct lbr_row *row = piece->end; row-- > piece->rows;) {
		if (select & BIT(row->kind)) {
			test_check_eq(t, claim, stack.depth, lbr_find(&stack, row->from),
				      "entry of a branch of kind %lu, MSR_LBR_SELECT = %#lx",
				      row->kind, select);
			continue;
		}
		test_check_eq(t, test_control(claim), row->from, stack.branch[age].from,
			      "FROM of a branch of kind %lu, MSR_LBR_SELECT = %#lx", row->kind,
			      select);
		age++;
	}
	test_check_eq(t, claim, age, stack.top, "branches recorded, MSR_LBR_SELECT = %#lx", select);
}

/*
 * LBR-10  MSR_LBR_SELECT[2] = 1 must keep conditional branches out and nothing else.
 *         SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 *
 * Given  a branch of each kind
 * When   MSR_LBR_SELECT[2] = 1
 * Then   the conditional branch isn't recorded, and nothing else is missing
 * Control: each other branch is recorded, in order
 */
TEST(lbr, jcc_keeps_conditional_branches_out_and_nothing_else, REQS(LBR_10), NEEDS(need_lbr))
{
	check_filter(t, AT(LBR_10), LBR_SELECT_JCC);
}

/*
 * LBR-11  MSR_LBR_SELECT[3] = 1 must keep relative calls out and [4] = 1 indirect calls, each its
 *         own kind.
 *         SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 *
 * Given  a branch of each kind; the jump bits are 0, without which call bits don't work on
 *        Nehalem and Westmere
 * When   MSR_LBR_SELECT[3] = 1, [4] = 1, both
 * Then   the calls of these kinds aren't recorded, and nothing else is missing
 * Control: each other branch is recorded, in order
 */
TEST(lbr, call_bits_keep_their_own_kind_of_call_out, REQS(LBR_11), NEEDS(need_lbr))
{
	check_filter(t, AT(LBR_11), LBR_SELECT_NEAR_REL_CALL);
	check_filter(t, AT(LBR_11), LBR_SELECT_NEAR_IND_CALL);
	check_filter(t, AT(LBR_11), LBR_SELECT_NEAR_REL_CALL | LBR_SELECT_NEAR_IND_CALL);
}

/*
 * LBR-12  MSR_LBR_SELECT[5] = 1 must keep near returns out and nothing else.
 *         SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 *
 * Given  a branch of each kind, a far return among them
 * When   MSR_LBR_SELECT[5] = 1
 * Then   the near returns aren't recorded, and nothing else is missing
 * Control: each other branch is recorded, in order
 */
TEST(lbr, near_ret_keeps_near_returns_out_and_no_far_one, REQS(LBR_12), NEEDS(need_lbr))
{
	check_filter(t, AT(LBR_12), LBR_SELECT_NEAR_RET);
}

/*
 * LBR-13  MSR_LBR_SELECT[6] = 1 must keep indirect jumps out and [7] = 1 relative jumps, each its
 *         own kind.
 *         SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 *
 * Given  a branch of each kind
 * When   MSR_LBR_SELECT[6] = 1, [7] = 1, both
 * Then   the jumps of these kinds aren't recorded, and nothing else is missing
 * Control: each other branch is recorded, in order
 */
TEST(lbr, jump_bits_keep_their_own_kind_of_jump_out, REQS(LBR_13), NEEDS(need_lbr))
{
	check_filter(t, AT(LBR_13), LBR_SELECT_NEAR_IND_JMP);
	check_filter(t, AT(LBR_13), LBR_SELECT_NEAR_REL_JMP);
	check_filter(t, AT(LBR_13), LBR_SELECT_NEAR_IND_JMP | LBR_SELECT_NEAR_REL_JMP);
}

/*
 * LBR-10  MSR_LBR_SELECT[2] = 1 must keep conditional branches out and nothing else.
 * LBR-12  MSR_LBR_SELECT[5] = 1 must keep near returns out and nothing else.
 * LBR-13  MSR_LBR_SELECT[6] = 1 must keep indirect jumps out and [7] = 1 relative jumps, each its
 *         own kind.
 * LBR-14  MSR_LBR_SELECT[8] = 1 must keep far branches out and nothing else.
 *         SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 *
 * Given  a branch of each kind
 * When   MSR_LBR_SELECT has each set of the bits 2 and 8:5
 * Then   the kinds of the set are missing, and nothing else is
 * Control: each other branch is recorded, in order
 */
TEST(lbr, each_set_of_kinds_is_kept_out_and_nothing_else, REQS(LBR_10, LBR_12, LBR_13, LBR_14),
     NEEDS(need_lbr))
{
	static const u64 kinds[] = { LBR_SELECT_JCC, LBR_SELECT_NEAR_RET, LBR_SELECT_NEAR_IND_JMP,
				     LBR_SELECT_NEAR_REL_JMP, LBR_SELECT_FAR_BRANCH };
	const unsigned n = sizeof(kinds) / sizeof(kinds[0]);
	const u64 jumps = LBR_SELECT_NEAR_IND_JMP | LBR_SELECT_NEAR_REL_JMP;

	for (unsigned set = 0; set < BIT(n); set++) {
		u64 select = 0;

		for (unsigned i = 0; i < n; i++)
			select |= set & BIT(i) ? kinds[i] : 0;
		/* On Nehalem and Westmere the bits of jumps also act on calls and returns. */
		check_filter(t, select & jumps ? AT(LBR_13) : AT(LBR_10, LBR_12, LBR_14), select);
	}
}

/* Record INT3 with these bits: the branch to its handler, and the branch back. */
static void record_breakpoint(u64 select, struct lbr_stack *stack)
{
	intr_handler before = intr_set_handler(VECTOR_BP, lbr_return_at_once);

	lbr_record(&lbr_piece_lbr_breakpoint, 0, select, stack);
	intr_set_handler(VECTOR_BP, before);
}

/*
 * LBR-14  MSR_LBR_SELECT[8] = 1 must keep far branches out and nothing else.
 *         SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 *
 * Given  a branch of each kind; and INT3, near branches filtered out
 * When   MSR_LBR_SELECT[8] = 1
 * Then   the far return isn't recorded, and nothing else is missing; nothing is recorded of
 *        INT3
 * Control: each other branch is recorded, in order; without bit 8 INT3 and the return from its
 *          handler are
 */
TEST(lbr, far_branch_keeps_far_branches_out_and_no_near_one, REQS(LBR_14), NEEDS(need_lbr))
{
	struct lbr_stack stack;

	check_filter(t, AT(LBR_14), LBR_SELECT_FAR_BRANCH);
	record_breakpoint(LBR_SELECT_NEAR_BRANCHES, &stack);
	CONTROL_EQ(t, LBR_14, 2, stack.top, "far branches of INT3 and its handler");
	record_breakpoint(LBR_SELECT_NEAR_BRANCHES | LBR_SELECT_FAR_BRANCH, &stack);
	CHECK_EQ(t, LBR_14, 0, stack.top, "branches recorded of INT3, each kind kept out");
}

/*
 * LBR-06  An interrupt, an exception and IRET must be recorded unless filtered.
 *         SDM 17.4.1 IA32_DEBUGCTL MSR
 *
 * Given  INT3, whose handler returns; near branches filtered out
 * When   it is executed while LBR is 1
 * Then   there are two entries: from INT3 to the handler, and from there to the instruction
 *        after INT3
 */
TEST(lbr, exception_and_the_return_from_it_are_recorded, REQS(LBR_06), NEEDS(need_lbr))
{
	const struct lbr_row *row = lbr_piece_lbr_breakpoint.rows;
	const u64 handler = descriptor_gate(VECTOR_BP);
	struct lbr_stack stack;

	record_breakpoint(LBR_SELECT_NEAR_BRANCHES, &stack);
	CHECK_EQ(t, LBR_06, row->from, stack.branch[1].from, "FROM of INT3");
	CHECK_EQ(t, LBR_06, handler, stack.branch[1].to, "TO of INT3: its handler");
	CHECK_EQ(t, LBR_06, row->to, stack.branch[0].to, "TO of IRET from the handler");
	CHECK_EQ(t, LBR_06, 2, stack.top, "far branches of INT3 and its handler");
}

/*
 * LBR-06  An interrupt, an exception and IRET must be recorded unless filtered.
 *         SDM 17.4.1 IA32_DEBUGCTL MSR
 *
 * Given  INT3; UD2; loads that raise #GP and #PF, which have an error code: handlers skip these.
 *        They are below 4 GiB, above that, and in the upper half of the address space, where bits
 *        63:47 are 1
 * When   they are executed while LBR is 1, near branches filtered out
 * Then   FROM of the exception's entry and TO of its handler's IRET have each bit of the addresses
 * Control: MSR_LASTBRANCH_TOS says that both were recorded
 */
TEST(lbr, exception_in_either_half_is_recorded_with_its_whole_address, REQS(LBR_06),
     NEEDS(need_lbr))
{
	static const u64 halves[] = { 0, PAGING_HIGH, PAGING_UPPER };
	enum { HALVES = sizeof(halves) / sizeof(halves[0]) };
	static const struct {
		const struct lbr_piece *piece;
		u8 vector;
		intr_handler handler;
	} exceptions[] = {
		{ &lbr_piece_lbr_breakpoint, VECTOR_BP, lbr_return_at_once },
		{ &lbr_piece_lbr_undefined, VECTOR_UD, lbr_skip_ud2 },
		{ &lbr_piece_lbr_protection, VECTOR_GP, lbr_skip_load },
		{ &lbr_piece_lbr_page_fault, VECTOR_PF, lbr_skip_load },
	};
	struct lbr_stack stack;

	for (unsigned i = 0; i < HALVES * sizeof(exceptions) / sizeof(exceptions[0]); i++) {
		const u64 above = halves[i % HALVES];
		const u8 vector = exceptions[i / HALVES].vector;
		const struct lbr_row *row = exceptions[i / HALVES].piece->rows;
		intr_handler before = intr_set_handler(vector, exceptions[i / HALVES].handler);

		lbr_record_above(exceptions[i / HALVES].piece, 0, above, LBR_SELECT_NEAR_BRANCHES,
				 &stack);
		intr_set_handler(vector, before);
		if (lbr_is_lost(t, &stack))
			return;
		CONTROL_EQ(t, LBR_06, 2, stack.top, "far branches of exception %u", vector);
		CHECK_EQ(t, LBR_06, (row->from + above) & lbr_address_bits(),
			 stack.raw[1].from & lbr_address_bits(), "FROM of exception %u", vector);
		CHECK_EQ(t, LBR_06, row->to + above, stack.raw[0].to,
			 "TO of IRET from the handler of exception %u", vector);
	}
}

/*
 * LBR-06  An interrupt, an exception and IRET must be recorded unless filtered.
 *         SDM 17.4.1 IA32_DEBUGCTL MSR
 *
 * Given  an interrupt is pending; near branches filtered out
 * When   interrupts are enabled while LBR is 1
 * Then   one entry goes to the interrupt's handler, and there is one more far branch, back from
 *        it
 * Control: there is one interrupt
 */
TEST(lbr, interrupt_is_recorded_with_its_handler, REQS(LBR_06), NEEDS(need_lbr))
{
	struct lbr_stack stack;
	unsigned interrupts = 0;

	for (unsigned n = 0; n < LBR_TRIES; n++) {
		lbr_open(LBR_SELECT_NEAR_BRANCHES, 0);
		interrupts = lbr_take_interrupt(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
		lbr_read(&stack);
		lbr_close();
		if (!lbr_vanished(&stack))
			break;
	}
	CONTROL_EQ(t, LBR_06, 1, interrupts, "interrupts");
	if (lbr_is_lost(t, &stack))
		return;
	CHECK_EQ(t, LBR_06, 1, lbr_entries_to(&stack, descriptor_gate(VECTOR_PMI)),
		 "entries with the interrupt's handler as TO");
	CHECK_RANGE(t, LBR_06, 2, stack.depth - 1, stack.top,
		    "far branches: the interrupt, and IRET from its handler");
}

#define USER_LINKS	3

static void record_user(u64 select, struct lbr_stack *stack)
{
	lbr_record_at_cpl_3(&lbr_piece_lbr_chain, USER_LINKS, select, stack);
}

/* The number of the chain's branches in the stack. */
static unsigned user_branches(const struct lbr_stack *stack)
{
	unsigned found = 0;

	for (unsigned age = 0; age <= USER_LINKS; age++)
		found += lbr_find(stack, lbr_chain_row(USER_LINKS, age).from) < stack->depth;
	return found;
}

/*
 * LBR-09  MSR_LBR_SELECT[0] = 1 must keep branches that end at CPL 0 out, and [1] = 1 those that
 *         end at CPL > 0.
 *         SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 *
 * Given  jumps at CPL 3, and INT from there to CPL 0, recorded without a filter first
 * When   MSR_LBR_SELECT[0] = 1; [1] = 1
 * Then   with [0] INT isn't recorded, nor is a branch at CPL 0; with [1] no jump at CPL 3 is
 * Control: with [0] the jumps are recorded, with [1] INT is
 */
TEST(lbr, cpl_bits_keep_out_the_branches_that_end_at_their_level, REQS(LBR_09), NEEDS(need_lbr))
{
	const struct lbr_row last = lbr_chain_row(USER_LINKS, 0);
	struct lbr_stack all, stack;
	unsigned end;
	u64 back;

	/* Without a filter: the chain; then a branch over the WRMSR, which a piece at CPL 3 doesn't
	 * execute; the return; and the INT that ends at CPL 0. */
	enum { FROM_LAST_LINK_TO_INT = 3 };
	record_user(0, &all);
	if (lbr_is_lost(t, &all))
		return;
	end = lbr_find(&all, last.from);
	if (!CONTROL_RANGE(t, LBR_09, FROM_LAST_LINK_TO_INT, all.depth - 1, end,
			   "entry of the last branch of the chain at CPL 3, no filter"))
		return;
	back = all.branch[end - FROM_LAST_LINK_TO_INT].from;
	record_user(LBR_SELECT_CPL_EQ_0, &stack);
	if (lbr_is_lost(t, &stack))
		return;
	CHECK_EQ(t, LBR_09, stack.depth, lbr_find(&stack, back),
		 "entry of INT, which ends at CPL 0, MSR_LBR_SELECT = 1");
	CONTROL_EQ(t, LBR_09, USER_LINKS + 1, user_branches(&stack),
		   "branches of the chain at CPL 3, MSR_LBR_SELECT = 1");
	record_user(LBR_SELECT_CPL_NEQ_0, &stack);
	CHECK_EQ(t, LBR_09, 0, user_branches(&stack),
		 "branches of the chain at CPL 3, MSR_LBR_SELECT = 2");
	CONTROL(t, LBR_09, lbr_find(&stack, back) < stack.depth,
		"INT, which ends at CPL 0, is recorded, MSR_LBR_SELECT = 2");
	lbr_record(&lbr_piece_lbr_kinds, 0, LBR_SELECT_CPL_EQ_0, &stack);
	CHECK_EQ(t, LBR_09, 0, stack.top, "branches at CPL 0 recorded, MSR_LBR_SELECT = 1");
}

/*
 * LBR-09  MSR_LBR_SELECT[0] = 1 must keep branches that end at CPL 0 out, and [1] = 1 those that
 *         end at CPL > 0.
 *         SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 *
 * Given  a branch of each kind at CPL 0, and jumps at CPL 3 with the transitions to CPL 3 and back
 * When   MSR_LBR_SELECT[1:0] = 3
 * Then   nothing is recorded
 * Control: with each bit alone the branches that end at the other level are recorded
 */
TEST(lbr, both_cpl_bits_together_keep_every_branch_out, REQS(LBR_09), NEEDS(need_lbr))
{
	const u64 both = LBR_SELECT_CPL_EQ_0 | LBR_SELECT_CPL_NEQ_0;
	struct lbr_stack stack;

	lbr_record(&lbr_piece_lbr_kinds, 0, LBR_SELECT_CPL_NEQ_0, &stack);
	CONTROL_RANGE(t, LBR_09, 1, ~0ULL, stack.top, "branches at CPL 0, MSR_LBR_SELECT = 2");
	lbr_record(&lbr_piece_lbr_kinds, 0, both, &stack);
	CHECK_EQ(t, LBR_09, 0, stack.top, "branches at CPL 0, MSR_LBR_SELECT = 3");
	record_user(LBR_SELECT_CPL_EQ_0, &stack);
	if (lbr_is_lost(t, &stack))
		return;
	CONTROL_EQ(t, LBR_09, USER_LINKS + 1, user_branches(&stack),
		   "branches of the chain at CPL 3, MSR_LBR_SELECT = 1");
	record_user(both, &stack);
	CHECK_EQ(t, LBR_09, 0, stack.top,
		 "branches on the way to CPL 3, there, and back, MSR_LBR_SELECT = 3");
}

/* Each row of the kinds piece must be in the stack, one right after the other. */
static void check_each_kind(struct test *t, const struct lbr_stack *stack, const char *where)
{
	const struct lbr_piece *piece = &lbr_piece_lbr_kinds;
	const unsigned last = lbr_find(stack, (piece->end - 1)->from);
	unsigned age = last;

	for (const struct lbr_row *row = piece->end; row-- > piece->rows; age++)
		CHECK(t, LBR_09, lbr_is(stack, age, row),
		      "a branch of kind %lu %s is recorded in its turn, entry %u", row->kind, where,
		      age);
}

/*
 * LBR-09  MSR_LBR_SELECT[0] = 1 must keep branches that end at CPL 0 out, and [1] = 1 those that
 *         end at CPL > 0.
 *         SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 *
 * Given  a branch of each kind
 * When   they are executed at CPL 3 with MSR_LBR_SELECT[0] = 1; at CPL 0 with [1] = 1
 * Then   each of them is recorded, in order
 * Control: each is filtered out by the other bit
 */
TEST(lbr, cpl_bits_let_each_kind_of_the_other_level_in, REQS(LBR_09), NEEDS(need_lbr))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_kinds;
	struct lbr_stack stack;

	lbr_record_at_cpl_3(piece, 0, LBR_SELECT_CPL_EQ_0, &stack);
	if (lbr_is_lost(t, &stack))
		return;
	check_each_kind(t, &stack, "at CPL 3");
	lbr_record(piece, 0, LBR_SELECT_CPL_NEQ_0, &stack);
	check_each_kind(t, &stack, "at CPL 0");
	lbr_record(piece, 0, LBR_SELECT_CPL_EQ_0, &stack);
	CONTROL_EQ(t, LBR_09, 0, stack.top, "branches at CPL 0 recorded, MSR_LBR_SELECT = 1");
	lbr_record_at_cpl_3(piece, 0, LBR_SELECT_CPL_NEQ_0, &stack);
	for (const struct lbr_row *row = piece->rows; row < piece->end; row++)
		CONTROL_EQ(t, LBR_09, stack.depth, lbr_find(&stack, row->from),
			   "entry of a branch of kind %lu at CPL 3, MSR_LBR_SELECT = 2", row->kind);
}

/*
 * LBR-17  A write that sets a bit of MSR_LBR_SELECT[63:10] must raise #GP.
 *         Linux writes 3FFH and no other bit; SDM Table 17-13
 *
 * Given  MSR_LBR_SELECT with every other of bits 9 to 0 set
 * When   each bit above 9 is written together with the inverse of these
 * Then   each write raises #GP, and the register keeps its value
 * Control: bits 9 to 0 can be written and are read back
 */
TEST(msr, lbr_select_refuses_bits_that_are_reserved, REQS(LBR_17),
     NEEDS(need_lbr, need_lbr_call_stack, need_refused_msrs))
{
	const u64 named = BITS(0, LBR_SELECT_EN_CALLSTACK_SHIFT), kept = named & 0x155;

	msr_write(MSR_LBR_SELECT, named);
	CONTROL_EQ(t, LBR_17, named, msr_read(MSR_LBR_SELECT), "MSR_LBR_SELECT, all its bits");
	msr_write(MSR_LBR_SELECT, kept);
	for (unsigned bit = LBR_SELECT_EN_CALLSTACK_SHIFT + 1; bit < 64; bit++) {
		CHECK(t, LBR_17,
		      msr_try_write(MSR_LBR_SELECT, BIT(bit) | (named & ~kept)).raised,
		      "#GP of WRMSR of bit %u to MSR_LBR_SELECT", bit);
		CHECK_EQ(t, LBR_17, kept, msr_read(MSR_LBR_SELECT),
			 "MSR_LBR_SELECT after bit %u beside others was refused", bit);
	}
	msr_write(MSR_LBR_SELECT, 0);
}

#define CALLS	3

/* After that many returns the newest entries are the other calls. */
static void check_calls(struct test *t, const struct lbr_stack *stack, unsigned returns,
			unsigned cpl, u64 select)
{
	const struct lbr_piece *piece = &lbr_piece_lbr_nested;

	for (unsigned i = 0; i < CALLS - returns; i++)
		CHECK_EQ(t, LBR_16, piece->rows[CALLS - 1 - returns - i].from,
			 stack->branch[i].from,
			 "FROM of call %u, newest first, after 3 calls and %u returns at CPL %u, "
			 "MSR_LBR_SELECT %#lx",
			 i, returns, cpl, select);
}

/*
 * LBR-16  In call-stack mode, MSR_LBR_SELECT[9] = 1, a matching return must remove the newest
 *         call.
 *         SDM 17.9 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *         based on Haswell Microarchitecture
 *
 * Given  three nested calls, relative and indirect; MSR_LBR_SELECT[9] = 1, and only near calls and
 *        returns are recorded; then the same at CPL 0 and at CPL 3, and branches of the other level
 *        are filtered out
 * When   recording ends after none, one and two returns
 * Then   the newest entries are the calls that haven't returned, newest first, and at CPL 0
 *        MSR_LASTBRANCH_TOS has moved by their number
 * Control: without call-stack mode a return adds an entry
 */
TEST(lbr, return_removes_its_call_in_call_stack_mode, REQS(LBR_16),
     NEEDS(need_lbr, need_lbr_call_stack))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_nested;
	static const u64 filters[] = { 0, LBR_SELECT_CPL_NEQ_0 };
	struct lbr_stack stack;

	for (unsigned returns = 0; returns < CALLS; returns++) {
		for (unsigned i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
			lbr_record(piece, returns, LBR_SELECT_CALL_STACK | filters[i], &stack);
			if (lbr_is_lost(t, &stack))
				return;
			check_calls(t, &stack, returns, 0, LBR_SELECT_CALL_STACK | filters[i]);
			CHECK_EQ(t, LBR_16, CALLS - returns, stack.top,
				 "MSR_LASTBRANCH_TOS after 3 calls and %u returns, 0 before",
				 returns);
		}
		/* One more return leads from the piece to what has called it there. */
		if (returns + 1 == CALLS)
			break;
		lbr_record_at_cpl_3(piece, returns, LBR_SELECT_CALL_STACK | LBR_SELECT_CPL_EQ_0,
				    &stack);
		if (lbr_is_lost(t, &stack))
			return;
		check_calls(t, &stack, returns + 1, 3, LBR_SELECT_CALL_STACK | LBR_SELECT_CPL_EQ_0);
	}
	lbr_record(piece, 1, LBR_SELECT_CALL_STACK & ~LBR_SELECT_EN_CALLSTACK, &stack);
	CONTROL_EQ(t, LBR_16, CALLS + 1, stack.top,
		   "MSR_LASTBRANCH_TOS after 3 calls and a return without call-stack mode");
}

/*
 * LBR-30  In call-stack mode the entry that a return removes must read 0.
 *         Linux: reads a call stack until an entry whose FROM is 0
 *
 * Given  three nested calls in call-stack mode; each entry was 0
 * When   one, two and three of them have returned
 * Then   FROM and TO of the entries that were removed are 0
 * Control: the calls that haven't returned have entries; without a return all three have
 */
TEST(lbr, entry_that_a_return_removes_reads_0, REQS(LBR_30), NEEDS(need_lbr, need_lbr_call_stack))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_nested;
	struct lbr_stack stack;

	for (unsigned returns = 0; returns <= CALLS; returns++) {
		lbr_record(piece, returns, LBR_SELECT_CALL_STACK, &stack);
		for (unsigned call = 0; call < CALLS; call++) {
			struct lbr_raw
				raw = stack.raw[(stack.top + stack.depth - call - 1) % stack.depth];

			if (call < CALLS - returns)
				CONTROL_EQ(t, LBR_30, piece->rows[call].from, raw.from,
					   "FROM of call %u after %u returns", call, returns);
			else
				CHECK_EQ(t, LBR_30, 0, raw.from | raw.to,
					 "FROM and TO of call %u, removed by %u returns", call,
					 returns);
		}
	}
}
