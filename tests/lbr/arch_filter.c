/* SPDX-License-Identifier: MIT */
/*
 * The filter of IA32_LBR_CTL: CPUID "Last Branch Records Information", SDM volume 4, IA32_LBR_CTL.
 * A bit that is 1 enables its level or kind. Branches from one level to another aren't checked
 * here.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/descriptor.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "tests/frame/test.h"
#include "tests/lbr/arch.h"

/* Record the kinds piece with these kinds enabled: exactly their branches must be recorded, newest
 * first. */
static void check_kinds(struct test *t, struct test_claim claim, u64 kinds)
{
	const struct lbr_piece *piece = &lbr_piece_lbr_kinds;
	const u64 control = arch_lbr_only(kinds);
	struct lbr_stack stack;
	unsigned age = 0;

	arch_lbr_record(piece, 0, control, &stack);
	for (const struct lbr_row *row = piece->end; row-- > piece->rows;) {
		if (!(arch_lbr_filter(row->kind) & kinds)) {
			test_check_eq(t, claim, stack.depth, lbr_find(&stack, row->from),
				      "entry of a branch of kind %lu, IA32_LBR_CTL = %#lx",
				      row->kind, control);
			continue;
		}
		test_check_eq(t, claim, row->from, stack.branch[age].from,
			      "FROM of a branch of kind %lu, IA32_LBR_CTL = %#lx", row->kind,
			      control);
		test_check_eq(t, claim, row->to, stack.branch[age].to,
			      "TO of a branch of kind %lu, IA32_LBR_CTL = %#lx", row->kind,
			      control);
		age++;
	}
	test_check_eq(t, claim, age, arch_lbr_count(&stack),
		      "branches recorded, IA32_LBR_CTL = %#lx", control);
}

/*
 * ALBR-09  IA32_LBR_CTL[16] must let conditional branches in and nothing else.
 *          SDM volume 1, CPUID leaf 1CH; volume 4, IA32_LBR_CTL; Linux
 *
 * Given  a branch of each kind, and a conditional one that isn't taken
 * When   of the bits of kinds, IA32_LBR_CTL[22:16], [16] alone is 1; then all but [16] are 1
 * Then   first the conditional branch that is taken is recorded, and nothing else; then every taken
 *        branch but that one
 */
TEST(lbr, jcc_lets_conditional_branches_in_and_nothing_else, REQS(ALBR_09),
     NEEDS(need_arch_lbr_kinds))
{
	check_kinds(t, AT(ALBR_09), IA32_LBR_CTL_JCC);
	check_kinds(t, AT(ALBR_09), ARCH_LBR_EVERY_KIND & ~IA32_LBR_CTL_JCC);
}

/*
 * ALBR-10  IA32_LBR_CTL[17] must let relative jumps in and [18] indirect jumps, each its own kind.
 *          SDM volume 1, CPUID leaf 1CH; volume 4, IA32_LBR_CTL; Linux
 *
 * Given  a branch of each kind
 * When   of the bits of kinds, IA32_LBR_CTL[22:16], [17] alone is 1; [18] alone; both
 * Then   the jumps of these kinds are recorded, and nothing else
 */
TEST(lbr, jump_bits_let_their_own_kind_of_jump_in, REQS(ALBR_10), NEEDS(need_arch_lbr_kinds))
{
	check_kinds(t, AT(ALBR_10), IA32_LBR_CTL_NEAR_REL_JMP);
	check_kinds(t, AT(ALBR_10), IA32_LBR_CTL_NEAR_IND_JMP);
	check_kinds(t, AT(ALBR_10), IA32_LBR_CTL_NEAR_REL_JMP | IA32_LBR_CTL_NEAR_IND_JMP);
}

/*
 * ALBR-11  IA32_LBR_CTL[19] must let relative calls in, [20] indirect calls and [21] near returns,
 *          each its own kind.
 *          SDM volume 1, CPUID leaf 1CH; volume 4, IA32_LBR_CTL; Linux
 *
 * Given  a branch of each kind
 * When   of the bits of kinds, IA32_LBR_CTL[22:16], [19] alone is 1; [20] alone; [21] alone; these
 *        three
 * Then   the calls and returns of these kinds are recorded, and nothing else
 */
TEST(lbr, call_and_return_bits_let_their_own_kind_in, REQS(ALBR_11), NEEDS(need_arch_lbr_kinds),
     .under_every_fault = true)
{
	check_kinds(t, AT(ALBR_11), IA32_LBR_CTL_NEAR_REL_CALL);
	check_kinds(t, AT(ALBR_11), IA32_LBR_CTL_NEAR_IND_CALL);
	check_kinds(t, AT(ALBR_11), IA32_LBR_CTL_NEAR_RET);
	check_kinds(t, AT(ALBR_11),
		    IA32_LBR_CTL_NEAR_REL_CALL | IA32_LBR_CTL_NEAR_IND_CALL |
			    IA32_LBR_CTL_NEAR_RET);
}

/* Record INT3 with these kinds enabled: the branch to its handler, and the branch back. */
static void record_breakpoint(u64 kinds, struct lbr_stack *stack)
{
	intr_handler before = intr_set_handler(VECTOR_BP, lbr_return_at_once);

	arch_lbr_record(&lbr_piece_lbr_breakpoint, 0, arch_lbr_only(kinds), stack);
	intr_set_handler(VECTOR_BP, before);
}

/*
 * ALBR-12  IA32_LBR_CTL[22] must let far branches, exceptions and interrupts in and no near
 *          branch.
 *          SDM volume 1, CPUID leaf 1CH; volume 4, IA32_LBR_CTL; Linux
 *
 * Given  a branch of each kind, a far return among them; INT3, whose handler returns
 * When   of the bits of kinds, IA32_LBR_CTL[22:16], [22] alone is 1; then all but [22] are 1
 * Then   first the far return alone is recorded, and of INT3 the branch to its handler and the one
 *        back; then each near branch, and no far one. Of INT3 nothing is recorded where no kind is
 *        selected
 */
TEST(lbr, other_branch_lets_far_branches_and_exceptions_in, REQS(ALBR_12),
     NEEDS(need_arch_lbr_kinds))
{
	const struct lbr_row *row = lbr_piece_lbr_breakpoint.rows;
	struct lbr_stack stack;

	check_kinds(t, AT(ALBR_12), IA32_LBR_CTL_OTHER_BRANCH);
	check_kinds(t, AT(ALBR_12), ARCH_LBR_EVERY_KIND & ~IA32_LBR_CTL_OTHER_BRANCH);
	record_breakpoint(IA32_LBR_CTL_OTHER_BRANCH, &stack);
	CHECK_EQ(t, ALBR_12, 2, arch_lbr_count(&stack), "far branches of INT3 and its handler");
	CHECK_EQ(t, ALBR_12, row->from, stack.branch[1].from, "FROM of INT3");
	CHECK_EQ(t, ALBR_12, descriptor_gate(VECTOR_BP), stack.branch[1].to,
		 "TO of INT3: its handler");
	CHECK_EQ(t, ALBR_12, row->to, stack.branch[0].to, "TO of IRET from the handler");
	record_breakpoint(0, &stack);
	CHECK_EQ(t, ALBR_12, 0, arch_lbr_count(&stack), "branches of INT3, no kind let in");
}

/*
 * ALBR-12  IA32_LBR_CTL[22] must let far branches, exceptions and interrupts in and no near
 *          branch.
 *          SDM volume 1, CPUID leaf 1CH; volume 4, IA32_LBR_CTL; Linux
 *
 * Given  an interrupt is pending
 * When   it is taken while no bit of kinds is 1, so that its handler's branches don't overwrite its
 *        entry; then while IA32_LBR_CTL[22] alone is 1
 * Then   without [22] nothing is recorded; with it one entry goes to the interrupt's handler, and
 *        there is one more far branch, back from it
 * Control: there is one interrupt each time
 */
TEST(lbr, other_branch_lets_interrupts_in, REQS(ALBR_12), NEEDS(need_arch_lbr_kinds))
{
	static const u64 kinds[] = { 0, IA32_LBR_CTL_OTHER_BRANCH };

	for (unsigned far = 0; far < 2; far++) {
		struct lbr_stack stack;

		arch_lbr_close();
		CONTROL_EQ(t, ALBR_12, 1,
			   lbr_take_interrupt(MSR_IA32_LBR_CTL, arch_lbr_only(kinds[far])),
			   "interrupts");
		arch_lbr_read(&stack);
		arch_lbr_close();
		CHECK_EQ(t, ALBR_12, far, lbr_entries_to(&stack, descriptor_gate(VECTOR_PMI)),
			 "entries with the interrupt's handler as TO, IA32_LBR_CTL[22] = %u", far);
		if (far)
			CHECK_RANGE(t, ALBR_12, 2, stack.depth - 1, arch_lbr_count(&stack),
				    "far branches: the interrupt, and IRET from its handler");
		else
			CHECK_EQ(t, ALBR_12, 0, arch_lbr_count(&stack), "branches, no kind let in");
	}
}

#define USER_LINKS	3

/* The number of branches of the chain at CPL 3 that are recorded. The IRET to CPL 3 and the INT
 * back are executed too. */
static unsigned user_branches(u64 control)
{
	struct lbr_stack stack;
	unsigned found = 0;

	arch_lbr_close();
	msr_write(MSR_IA32_LBR_CTL, control);
	workload_run_user(lbr_piece_lbr_chain.workload, USER_LINKS);
	msr_write(MSR_IA32_LBR_CTL, 0);
	arch_lbr_read(&stack);
	for (unsigned age = 0; age <= USER_LINKS; age++)
		found += lbr_find(&stack, lbr_chain_row(USER_LINKS, age).from) < stack.depth;
	arch_lbr_close();
	return found;
}

static unsigned kernel_branches(u64 control)
{
	struct lbr_stack stack;

	arch_lbr_record(&lbr_piece_lbr_kinds, 0, control, &stack);
	return arch_lbr_count(&stack);
}

/*
 * ALBR-08  IA32_LBR_CTL[1] must let branches at CPL 0 in and [2] those at CPL > 0; with neither
 *          nothing may be recorded.
 *          SDM volume 1, CPUID leaf 1CH; volume 4, IA32_LBR_CTL; Linux
 *
 * Given  jumps at CPL 3; a branch of each kind at CPL 0
 * When   IA32_LBR_CTL[2:1] is 0; [1] alone is 1; [2] alone; both
 * Then   those at CPL 0, or as many as there are entries, are recorded if and only if [1] is 1,
 *        those at CPL 3 if and only if [2] is
 */
TEST(lbr, level_bits_let_the_branches_at_their_level_in, REQS(ALBR_08), NEEDS(need_arch_lbr_levels),
     .under_every_fault = true)
{
	const struct lbr_leaf leaf = arch_lbr_leaf();
	const u64 other = arch_lbr_everything() & ~(IA32_LBR_CTL_OS | IA32_LBR_CTL_USR);
	const unsigned kinds = (unsigned)(lbr_piece_lbr_kinds.end - lbr_piece_lbr_kinds.rows);
	const unsigned depth = lbr_leaf_deepest(&leaf), kernel = kinds < depth ? kinds : depth;

	for (unsigned levels = 0; levels < 4; levels++) {
		const bool os = levels & 1, usr = levels & 2;
		const u64 control = other | (os ? IA32_LBR_CTL_OS : 0) |
				    (usr ? IA32_LBR_CTL_USR : 0);

		CHECK_EQ(t, ALBR_08, os ? kernel : 0, kernel_branches(control),
			 "branches at CPL 0 recorded, IA32_LBR_CTL = %#lx", control);
		CHECK_EQ(t, ALBR_08, usr ? USER_LINKS + 1 : 0, user_branches(control),
			 "branches at CPL 3 recorded, IA32_LBR_CTL = %#lx", control);
	}
}

#define CALLS	3
#define CALL_STACK_KINDS \
	(IA32_LBR_CTL_NEAR_REL_CALL | IA32_LBR_CTL_NEAR_IND_CALL | IA32_LBR_CTL_NEAR_RET)

/*
 * ALBR-20  In call-stack mode, IA32_LBR_CTL[3] = 1, a matching return must remove the newest call.
 *          SDM volume 1, CPUID leaf 1CH; volume 4, IA32_LBR_CTL; Linux
 * ALBR-29  In call-stack mode a removed entry must leave no branch in its place.
 *          Linux intel_pmu_lbr_read: reads a call stack until an entry whose FROM is 0
 *
 * Given  three nested calls; IA32_LBR_CTL[3] = 1, and of the bits of kinds those of near calls and
 *        near returns alone
 * When   recording ends after none, one, two and three returns
 * Then   the first entries are the calls that haven't returned, newest first; a call that has
 *        returned isn't the first entry nor one of these (ALBR-20), nor any other (ALBR-29)
 * Control: without call-stack mode the calls stay, and a return adds an entry
 */
TEST(lbr, return_removes_its_call_in_call_stack_mode_of_architectural_records,
     REQS(ALBR_20, ALBR_29), NEEDS(need_arch_lbr_kinds, need_arch_lbr_call_stack))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_nested;
	const u64 control = arch_lbr_only(CALL_STACK_KINDS);
	struct lbr_stack stack;

	for (unsigned returns = 0; returns <= CALLS; returns++) {
		arch_lbr_record(piece, returns, control | IA32_LBR_CTL_CALL_STACK, &stack);
		for (unsigned call = 0; call < CALLS; call++) {
			const struct lbr_row *row = &piece->rows[call];
			const unsigned entry = lbr_find(&stack, row->from), left = CALLS - returns;

			if (call < left) {
				CHECK_EQ(t, ALBR_20, left - 1 - call, entry,
					 "entry of call %u after 3 calls and %u returns", call,
					 returns);
				continue;
			}
			/* Entries of a ring move round when the newest is removed: it becomes the
			 * oldest. */
			CHECK_RANGE(t, ALBR_20, left ? left : 1, stack.depth, entry,
				    "entry of call %u after 3 calls and %u returns", call, returns);
			CHECK_EQ(t, ALBR_29, stack.depth, entry,
				 "entry of call %u after 3 calls and %u returns", call, returns);
		}
		CHECK_EQ(t, ALBR_29, CALLS - returns, arch_lbr_count(&stack),
			 "entries in use after 3 calls and %u returns", returns);
	}
	arch_lbr_record(piece, 1, control, &stack);
	CONTROL_EQ(t, IDS(ALBR_20, ALBR_29), CALLS + 1, arch_lbr_count(&stack),
		   "entries after 3 calls and a return without call-stack mode");
}
