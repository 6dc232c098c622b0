/* SPDX-License-Identifier: MIT */
/*
 * The fields of IA32_LBR_x_INFO, if CPUID.1CH:ECX enumerates the field. SDM volume 4,
 * IA32_LBR_x_INFO. It isn't known whether a single branch is mispredicted, so many branches are
 * checked.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/descriptor.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "pmu/counter.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/lbr/arch.h"

#define DEPTH_OF_BOTH	16u	/* entries of the branches of each kind, and of the way to CPL 3 */
#define FROM_OTHER_LEVEL (~0ULL) /* of a branch from a level that is kept out: docs/READINGS.md */

/* IA32_LBR_x_INFO[59:56] for a kind of branch: lowest and highest value. */
static const struct {
	u8 low, high;
} types[LBR_KINDS_END] = {
	[LBR_CONDITIONAL] = { 0, 0 }, [LBR_INDIRECT_JUMP] = { 1, 1 },
	[LBR_RELATIVE_JUMP] = { 2, 2 }, [LBR_INDIRECT_CALL] = { 3, 3 },
	[LBR_RELATIVE_CALL] = { 4, 4 }, [LBR_RETURN] = { 5, 5 },
	[LBR_FAR] = { 8, 15 },
};

/*
 * ALBR-15  Where CPUID.1CH:ECX[2] is 1, IA32_LBR_x_INFO[59:56] must be the kind of the branch.
 *          Linux arch_lbr_br_type_map
 *
 * Given  a branch of each kind
 * When   they are recorded
 * Then   IA32_LBR_x_INFO[59:56] is 0 for a conditional branch, 1 and 2 for indirect and relative
 *        jumps, 3 and 4 for indirect and relative calls, 5 for a return, 8 to 15 for a far one
 * Control: each is recorded in its turn
 */
TEST(lbr, info_names_the_kind_of_each_branch, REQS(ALBR_15), NEEDS(need_arch_lbr_types))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_kinds;
	struct lbr_stack stack;
	unsigned i = 0;

	arch_lbr_record(piece, 0, arch_lbr_everything(), &stack);
	for (const struct lbr_row *row = piece->end; i < stack.depth && row-- > piece->rows; i++) {
		CONTROL_EQ(t, ALBR_15, row->from, stack.branch[i].from, "FROM of entry %u", i);
		CHECK_RANGE(t, ALBR_15, types[row->kind].low, types[row->kind].high,
			    stack.branch[i].type, "INFO[59:56] of entry %u, kind %lu", i,
			    row->kind);
	}
}

/*
 * ALBR-15  Where CPUID.1CH:ECX[2] is 1, IA32_LBR_x_INFO[59:56] must be the kind of the branch.
 *          Linux arch_lbr_br_type_map
 *
 * Given  a branch of each kind; only branches at CPL > 0 are selected
 * When   they are executed at CPL 3
 * Then   IA32_LBR_x_INFO[59:56] is that of each kind, as at CPL 0; and 8 to 15 in the entry of the
 *        far return to CPL 3
 * Control: each is recorded in its turn
 */
TEST(lbr, info_names_the_kind_of_each_branch_at_cpl_3, REQS(ALBR_15),
     NEEDS(need_arch_lbr_types, need_arch_lbr_levels))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_kinds;
	struct lbr_stack stack;
	unsigned i;

	arch_lbr_close();
	msr_write(MSR_IA32_LBR_CTL, arch_lbr_everything() & ~IA32_LBR_CTL_OS);
	workload_run_user(piece->workload, 0);
	msr_write(MSR_IA32_LBR_CTL, 0);
	arch_lbr_read(&stack);
	i = lbr_find(&stack, (piece->end - 1)->from);
	for (const struct lbr_row *row = piece->end; i < stack.depth && row-- > piece->rows; i++) {
		if (!CONTROL(t, ALBR_15, lbr_is(&stack, i, row),
			     "a branch of kind %lu at CPL 3 is recorded in its turn, entry %u",
			     row->kind, i))
			break;
		CHECK_RANGE(t, ALBR_15, types[row->kind].low, types[row->kind].high,
			    stack.branch[i].type, "INFO[59:56] of entry %u, kind %lu at CPL 3", i,
			    row->kind);
	}
	i = lbr_find(&stack, FROM_OTHER_LEVEL);
	if (stack.depth >= DEPTH_OF_BOTH &&
	    CONTROL_RANGE(t, ALBR_15, 0, stack.depth - 1, i, "entry of the return to CPL 3"))
		CHECK_RANGE(t, ALBR_15, types[LBR_FAR].low, types[LBR_FAR].high,
			    stack.branch[i].type, "INFO[59:56] of the return to CPL 3");
	arch_lbr_close();
}

/*
 * ALBR-15  Where CPUID.1CH:ECX[2] is 1, IA32_LBR_x_INFO[59:56] must be the kind of the branch.
 *          Linux arch_lbr_br_type_map
 *
 * Given  INT3, whose handler returns; near branches filtered out
 * When   it is recorded
 * Then   IA32_LBR_x_INFO[59:56] of the exception and of the return from its handler is 8 to 15, as
 *        of far branches
 * Control: both are the newest entries
 */
TEST(lbr, info_names_exceptions_and_their_returns_as_far_branches, REQS(ALBR_15),
     NEEDS(need_arch_lbr_types, need_arch_lbr_kinds))
{
	const struct lbr_row *row = lbr_piece_lbr_breakpoint.rows;
	intr_handler before = intr_set_handler(VECTOR_BP, lbr_return_at_once);
	struct lbr_stack stack;

	arch_lbr_record(&lbr_piece_lbr_breakpoint, 0, arch_lbr_only(IA32_LBR_CTL_OTHER_BRANCH),
			&stack);
	intr_set_handler(VECTOR_BP, before);
	CONTROL_EQ(t, ALBR_15, row->from, stack.branch[1].from, "FROM of INT3");
	CONTROL_EQ(t, ALBR_15, row->to, stack.branch[0].to, "TO of IRET from its handler");
	for (unsigned i = 0; i < 2; i++)
		CHECK_RANGE(t, ALBR_15, types[LBR_FAR].low, types[LBR_FAR].high,
			    stack.branch[i].type, "INFO[59:56] of %s", i ? "INT3" : "IRET");
}

/*
 * ALBR-15  Where CPUID.1CH:ECX[2] is 1, IA32_LBR_x_INFO[59:56] must be the kind of the branch.
 *          Linux arch_lbr_br_type_map
 *
 * Given  UD2, whose handler skips it; an interrupt is pending
 * When   each of them is recorded, near branches filtered out
 * Then   IA32_LBR_x_INFO[59:56] of both is 8 to 15
 * Control: the entry of UD2 has it as FROM; one entry goes to the interrupt's handler
 */
TEST(lbr, info_names_faults_and_interrupts_as_far_branches, REQS(ALBR_15),
     NEEDS(need_arch_lbr_types, need_arch_lbr_kinds))
{
	const u64 far = arch_lbr_only(IA32_LBR_CTL_OTHER_BRANCH);
	const u64 gate = descriptor_gate(VECTOR_PMI);
	intr_handler before = intr_set_handler(VECTOR_UD, lbr_skip_ud2);
	struct lbr_stack stack;
	unsigned i = 0;

	arch_lbr_record(&lbr_piece_lbr_undefined, 0, far, &stack);
	intr_set_handler(VECTOR_UD, before);
	CONTROL_EQ(t, ALBR_15, lbr_piece_lbr_undefined.rows->from, stack.branch[1].from,
		   "FROM of UD2");
	CHECK_RANGE(t, ALBR_15, types[LBR_FAR].low, types[LBR_FAR].high, stack.branch[1].type,
		    "INFO[59:56] of UD2");
	arch_lbr_close();
	(void)lbr_take_interrupt(MSR_IA32_LBR_CTL, far);
	arch_lbr_read(&stack);
	arch_lbr_close();
	if (!CONTROL_EQ(t, ALBR_15, 1, lbr_entries_to(&stack, gate),
			"entries that go to the interrupt's handler"))
		return;
	while (stack.branch[i].to != gate)
		i++;
	CHECK_RANGE(t, ALBR_15, types[LBR_FAR].low, types[LBR_FAR].high, stack.branch[i].type,
		    "INFO[59:56] of the interrupt");
}

#define SHORT_ROUNDS	500u
#define LONG_ROUNDS	35000u
#define LONG_ROUNDS_MOST (1u << 18)
#define TRIES		8u

/* Run a loop between two jumps. Returns the second jump's entry; *soon: the entry of a third jump,
 * a few instructions later; *counted: fixed counter 1's count of the loop. The loop's branches are
 * filtered out if possible; if not, the second jump comes right after one of them. */
static struct lbr_branch delay(struct test *t, u64 rounds, u64 *counted, struct lbr_branch *soon)
{
	const struct lbr_piece *piece = &lbr_piece_lbr_delay;
	const volatile u64 *words = workload_memory();
	struct lbr_stack stack;

	counter_program(PMC_FIXED(1), 0, COUNT_BOTH);
	for (unsigned i = 0; i < TRIES; i++) {
		counter_write(PMC_FIXED(1), 0);
		counters_enable(pmc_one(PMC_FIXED(1)));
		arch_lbr_record(piece, rounds, arch_lbr_only(IA32_LBR_CTL_NEAR_REL_JMP), &stack);
		counters_disable();
		*counted = (u32)(words[1] - words[0]);
		for (unsigned k = 0; k < DELAY_JUMPS; k++)
			CONTROL_EQ(t, ALBR_16, piece->rows[DELAY_JUMPS - 1 - k].from,
				   stack.branch[k].from, "FROM of entry %u, a jump of the piece",
				   k);
		if (stack.branch[1].timed)
			break;
	}
	*soon = stack.branch[0];
	return stack.branch[1];
}

static void check_short(struct test *t, struct lbr_branch jump, struct lbr_branch soon, u64 counted)
{
	CONTROL_RANGE(t, ALBR_16, 1, CYCLES_MOST / 4, counted, "core cycles of a short loop");
	if (jump.timed)
		CHECK_RANGE(t, ALBR_16, counted / 2, lbr_most_cycles(t, counted), jump.cycles,
			    "INFO[15:0] of the jump after %lu core cycles", counted);
	if (soon.timed)
		CHECK_RANGE(t, ALBR_16, 0, counted / 2, soon.cycles,
			    "INFO[15:0] of the jump a few instructions later");
}

/*
 * ALBR-16  Where CPUID.1CH:ECX[1] is 1 and IA32_LBR_x_INFO[60] is 1, [15:0] must be the core
 *          cycles since the entry before, at most FFFFH.
 *          Linux get_lbr_cycles
 *
 * Given  a loop between two jumps, its own branches filtered out, and a third jump soon after;
 *        fixed counter 1 counts the loop's core cycles
 * When   the loop is short; longer than FFFFH cycles; short again; each up to eight times, until
 *        IA32_LBR_1_INFO[60] is 1
 * Then   where that bit is 1, [15:0] of the second jump is about the count; FFFFH; about the
 *        count again; that of the third jump is less than half of a short loop's
 * Control: the three are the newest entries
 */
TEST(lbr, info_counts_core_cycles_where_its_valid_bit_is_1, REQS(ALBR_16),
     NEEDS(need_arch_lbr_timed, need_arch_lbr_kinds, need_fixed_0_to_2))
{
	u64 counted, rounds = LONG_ROUNDS;
	struct lbr_branch soon, jump = delay(t, SHORT_ROUNDS, &counted, &soon);

	if (!jump.timed) {
		test_inconclusive(t, "IA32_LBR_1_INFO[60] was never 1 in %u tries", TRIES);
		return;
	}
	check_short(t, jump, soon, counted);
	do {
		jump = delay(t, rounds, &counted, &soon);
		rounds *= 2;
	} while (counted <= CYCLES_MOST && rounds <= LONG_ROUNDS_MOST);
	CONTROL_RANGE(t, ALBR_16, CYCLES_MOST + 1, ~0ULL, counted, "core cycles of a long loop");
	if (jump.timed)
		CHECK_EQ(t, ALBR_16, CYCLES_MOST, jump.cycles,
			 "INFO[15:0] of the jump after %lu core cycles", counted);
	jump = delay(t, SHORT_ROUNDS, &counted, &soon);
	check_short(t, jump, soon, counted);
}

/*
 * ALBR-16  Where CPUID.1CH:ECX[1] is 1 and IA32_LBR_x_INFO[60] is 1, [15:0] must be the core
 *          cycles since the entry before, at most FFFFH.
 *          Linux get_lbr_cycles
 *
 * Given  INT3, whose handler runs a loop and then INT3 once more; near branches filtered out
 * When   these are recorded
 * Then   where bit 60 is 1, INFO[15:0] of the two returns, after the loop, is less than half of
 *        that of the second INT3, which ends the loop
 * Control: that one has as many cycles as a quarter of the loop's rounds, and comes third
 */
TEST(lbr, architectural_info_has_the_cycles_since_an_exception_or_its_return, REQS(ALBR_16),
     NEEDS(need_arch_lbr_timed, need_arch_lbr_kinds))
{
	intr_handler before = intr_set_handler(VECTOR_BP, lbr_break_late);
	struct lbr_stack stack;

	for (unsigned i = 0; i < TRIES; i++) {
		arch_lbr_record(&lbr_piece_lbr_breakpoint, 0,
				arch_lbr_only(IA32_LBR_CTL_OTHER_BRANCH), &stack);
		if (stack.branch[0].timed && stack.branch[1].timed && stack.branch[2].timed)
			break;
	}
	intr_set_handler(VECTOR_BP, before);
	if (!(stack.branch[0].timed && stack.branch[1].timed && stack.branch[2].timed)) {
		test_inconclusive(t, "IA32_LBR_x_INFO[60] of three entries was never 1 in %u tries",
				  TRIES);
		return;
	}
	CONTROL_EQ(t, ALBR_16, 4, arch_lbr_count(&stack), "far branches of two INT3");
	lbr_check_late(t, AT(ALBR_16), &stack);
}

#define WINDOWS		40u
#define ROUNDS		64u	/* in a loop */
#define LEAST		100u	/* entries of each kind */

/*
 * ALBR-17  Where CPUID.1CH:ECX[0] is 1, IA32_LBR_x_INFO[63] must say that the branch was
 *          mispredicted.
 *          SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 1CH,
 *          ECX[0]
 *
 * Given  a loop with a branch by unpredictable bits
 * When   forty windows are recorded, in a strict run until there are a hundred entries of each
 * Then   some entries of that branch are mispredicted, and a larger share than of the loop's own
 *        branch
 * Control: there are a hundred entries of each
 */
TEST(lbr, mispredict_flag_of_info_is_that_of_branches_by_chance, REQS(ALBR_17),
     NEEDS(need_arch_lbr_mispredict))
{
	static const struct lbr_piece piece = { &workload_random, NULL, NULL };
	/* For the loop's branch, which goes backward, and for the other branch, which goes
	 * forward. */
	unsigned entries[2] = { 0, 0 }, mispredicted[2] = { 0, 0 };
	struct lbr_stack stack;

	for (unsigned i = 0; i < WINDOWS; i++) {
		if (test_is_strict(t) && entries[0] >= LEAST && entries[1] >= LEAST)
			break;
		arch_lbr_record(&piece, ROUNDS, arch_lbr_everything(), &stack);
		for (unsigned k = 0; k < stack.depth; k++) {
			const bool forward = stack.branch[k].to > stack.branch[k].from;

			entries[forward]++;
			mispredicted[forward] += stack.branch[k].mispredicted;
		}
	}
	CONTROL_RANGE(t, ALBR_17, LEAST, ~0ULL, entries[1], "entries of a branch by chance");
	CONTROL_RANGE(t, ALBR_17, LEAST, ~0ULL, entries[0], "entries of a loop's branch");
	CHECK_RANGE(t, ALBR_17, 1, ~0ULL, mispredicted[1], "mispredicted of %u branches by chance",
		    entries[1]);
	CHECK(t, ALBR_17,
	      (u64)mispredicted[1] * entries[0] > (u64)mispredicted[0] * entries[1],
	      "a larger share of branches by chance, %u of %u, than of a loop's, %u of %u",
	      mispredicted[1], entries[1], mispredicted[0], entries[0]);
}
