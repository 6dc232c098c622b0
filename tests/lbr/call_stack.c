/* SPDX-License-Identifier: MIT */
/*
 * Call-stack mode with each index of the newest entry: SDM "Last Branch, Call Stack, Interrupt, and
 * Exception Recording for Processors based on Haswell Microarchitecture".
 */
#include "kernel/interrupt/fault.h"
#include "tests/frame/test.h"
#include "pmu/counter.h"
#include "tests/lbr/arch.h"

#define CALLS	3u
#define OTHER_CALLS 7u	/* of the level that is filtered out */

/*
 * LBR-02  MSR_LASTBRANCH_TOS must be the index of the newest entry; older entries must be at
 *         falling indices with wrap.
 *         SDM 17.4.8 LBR Stack
 * LBR-16  In call-stack mode, MSR_LBR_SELECT[9] = 1, a matching return must remove the newest
 *         call.
 *         SDM 17.9 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *         based on Haswell Microarchitecture
 *
 * Given  call-stack mode, MSR_LASTBRANCH_TOS of each value that it can have
 * When   three calls are recorded, one in the other, and two of them return
 * Then   MSR_LASTBRANCH_TOS is one more, modulo the depth, and its entry is the first call
 * Control: before the returns it is three more, and its entry is the third call
 */
TEST(lbr, return_removes_its_call_wherever_the_top_of_the_stack_is, REQS(LBR_02, LBR_16),
     NEEDS(need_lbr, need_lbr_call_stack))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_nested;
	const unsigned depth = lbr_depth();
	struct lbr_stack stack;

	for (unsigned top = 0; top < depth; top++)
		for (unsigned returns = 0; returns < CALLS; returns += 2) {
			const unsigned left = CALLS - returns;

			lbr_record_from(piece, returns, LBR_SELECT_CALL_STACK, top, &stack);
			if (lbr_is_lost(t, &stack))
				return;
			if (!returns) {
				CONTROL_EQ(t, IDS(LBR_02, LBR_16), (top + left) % depth, stack.top,
					   "MSR_LASTBRANCH_TOS after 3 calls, %u before", top);
				CONTROL_EQ(t, IDS(LBR_02, LBR_16), piece->rows[left - 1].from,
					   stack.raw[0].from & lbr_address_bits(),
					   "FROM of the newest of 3 calls");
				continue;
			}
			CHECK_EQ(t, IDS(LBR_02, LBR_16), (top + left) % depth, stack.top,
				 "MSR_LASTBRANCH_TOS after 3 calls and 2 returns, %u before", top);
			CHECK_EQ(t, LBR_16, piece->rows[left - 1].from, stack.branch[0].from,
				 "FROM of the newest entry after 3 calls and 2 returns, "
				 "MSR_LASTBRANCH_TOS %u before",
				 top);
		}
}

#define RETURNS		3u

static bool need_any_call_stack(char *reason, size_t size)
{
	return counter_caps()->arch_lbr ?
		       need_arch_lbr_kinds(reason, size) && need_arch_lbr_call_stack(reason, size) :
		       need_lbr_call_stack(reason, size);
}

/* Record so many nested calls and so many returns, in call-stack mode. */
static void record_deep(unsigned calls, unsigned returns, unsigned top, struct lbr_stack *stack)
{
	const u64 n = calls | (u64)returns << 16;

	if (counter_caps()->arch_lbr)
		arch_lbr_record(&lbr_piece_lbr_deep, n,
				arch_lbr_only(IA32_LBR_CTL_NEAR_REL_CALL |
					      IA32_LBR_CTL_NEAR_IND_CALL | IA32_LBR_CTL_NEAR_RET) |
					IA32_LBR_CTL_CALL_STACK,
				stack);
	else
		lbr_record_from(&lbr_piece_lbr_deep, n, LBR_SELECT_CALL_STACK, top, stack);
}

/* The calls that haven't returned must be the newest entries. top: the index of the newest entry
 * before the calls. */
static void check_deep(struct test *t, unsigned calls, unsigned returns, unsigned top)
{
	const bool arch = counter_caps()->arch_lbr;
	const struct test_claim claim = arch ? AT(ALBR_13, ALBR_20) : AT(LBR_03, LBR_16);
	struct lbr_stack stack;
	unsigned left;

	record_deep(calls, returns, top, &stack);
	if (lbr_is_lost(t, &stack))
		return;
	left = (calls < stack.depth ? calls : stack.depth) - returns;
	for (unsigned i = 0; i < left; i++)
		/* The first call has a row of its own, and is the oldest entry. */
		test_check(t, claim,
			   lbr_is(&stack, i,
				  &lbr_piece_lbr_deep.rows[returns + i != calls - 1]),
			   "the call",
			   "entry %u is its call after %u calls and %u returns, MSR_LASTBRANCH_TOS "
			   "%u before; FROM %#lx",
			   i, calls, returns, top, stack.branch[i].from);
	if (calls < stack.depth)
		test_check_eq(t, arch ? CONTROL_AT(ALBR_13, ALBR_20) : CONTROL_AT(LBR_03, LBR_16),
			      0, stack.branch[calls].from, "FROM of entry %u after %u calls", calls,
			      calls);
	if (!arch)
		test_check_eq(t, claim, (top + calls - returns) % stack.depth, stack.top,
			      "MSR_LASTBRANCH_TOS after %u calls and %u returns, %u before", calls,
			      returns, top);
}

/*
 * LBR-03   A branch recorded in a full stack must replace the oldest entry.
 *          SDM 17.4.8 LBR Stack
 * LBR-16   In call-stack mode, MSR_LBR_SELECT[9] = 1, a matching return must remove the newest
 *          call.
 *          SDM 17.9 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *          based on Haswell Microarchitecture
 * ALBR-13  Entry 0 must be the newest branch, and a new branch must move each entry up by one.
 *          Linux intel_pmu_arch_lbr_read
 * ALBR-20  In call-stack mode, IA32_LBR_CTL[3] = 1, a matching return must remove the newest call.
 *          SDM volume 1, CPUID leaf 1CH; volume 4, IA32_LBR_CTL; Linux
 *
 * Given  call-stack mode; MSR_LASTBRANCH_TOS 0, and the last index, where there is one
 * When   calls in each other are recorded: one fewer than there are entries, as many, and three
 *        more; and three of these return
 * Then   each call that is left has an entry, as far as there are entries; MSR_LASTBRANCH_TOS has
 *        gone up by one with each call and down by one with each return
 * Control: after one call fewer than there are entries the oldest entry is empty
 */
TEST(lbr, calls_beyond_the_depth_replace_the_oldest_in_call_stack_mode,
     REQS(LBR_03, LBR_16, ALBR_13, ALBR_20), NEEDS(need_any_call_stack))
{
	const bool arch = counter_caps()->arch_lbr;
	const unsigned depth = arch ? arch_lbr_depth() : lbr_depth();

	for (unsigned top = 0; top < (arch ? 1 : depth); top += depth - 1) {
		check_deep(t, depth - 1, 0, top);
		for (unsigned more = 0; more <= RETURNS; more += RETURNS) {
			check_deep(t, depth + more, 0, top);
			check_deep(t, depth + more, RETURNS, top);
		}
	}
}

/* Run the piece at CPL 3 or 0, and record into the stack without clearing it. */
static void go_on_at(bool user, const struct lbr_piece *piece, u64 n, struct lbr_stack *stack)
{
	if (!user) {
		lbr_go_on(piece, n, IA32_DEBUGCTL_LBR, stack);
		return;
	}
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
	workload_run_user(piece->workload, n);
	msr_write(MSR_IA32_DEBUGCTL, 0);
	lbr_read(stack);
}

/* Record three calls at one level, then seven calls and so many returns at the other level. */
static void record_levels(bool first_user, u64 select, unsigned returns, struct lbr_stack *stack)
{
	lbr_open(LBR_SELECT_CALL_STACK | select, 0);
	go_on_at(first_user, &lbr_piece_lbr_nested, 0, stack);
	go_on_at(!first_user, &lbr_piece_lbr_deep, OTHER_CALLS | (u64)returns << 16, stack);
	lbr_close();
}

/*
 * LBR-09  MSR_LBR_SELECT[0] = 1 must keep branches that end at CPL 0 out, and [1] = 1 those that
 *         end at CPL > 0.
 *         SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 * LBR-16  In call-stack mode, MSR_LBR_SELECT[9] = 1, a matching return must remove the newest
 *         call.
 *         SDM 17.9 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *         based on Haswell Microarchitecture
 *
 * Given  call-stack mode with MSR_LBR_SELECT[0] = 1, and with [1] = 1; three calls of the level
 *        that is recorded
 * When   seven calls in each other are executed at the other level, and none or six of them return
 * Then   the stack is the same: a return that is filtered out removes no entry
 * Control: the outermost of the three calls is in the stack; with neither bit the returns move
 *        MSR_LASTBRANCH_TOS
 */
TEST(lbr, return_of_a_level_that_is_kept_out_removes_no_call, REQS(LBR_09, LBR_16),
     NEEDS(need_lbr, need_lbr_call_stack))
{
	for (unsigned user = 0; user < 2; user++) {
		const u64 select = user ? LBR_SELECT_CPL_EQ_0 : LBR_SELECT_CPL_NEQ_0;
		struct lbr_stack with, without;

		record_levels(user, 0, 0, &without);
		record_levels(user, 0, OTHER_CALLS - 1, &with);
		if (lbr_is_lost(t, &with) || lbr_is_lost(t, &without))
			return;
		CONTROL_EQ(t, IDS(LBR_09, LBR_16), OTHER_CALLS - 1,
			   (without.top - with.top) % with.depth,
			   "entries that returns at CPL %u remove", user ? 0 : 3);
		record_levels(user, select, 0, &without);
		record_levels(user, select, OTHER_CALLS - 1, &with);
		if (lbr_is_lost(t, &with) || lbr_is_lost(t, &without))
			return;
		CONTROL_RANGE(t, IDS(LBR_09, LBR_16), 0, with.depth - 1,
			      lbr_find(&without, lbr_piece_lbr_nested.rows[0].from),
			      "entry of the first call at CPL %u", user ? 3 : 0);
		CHECK_EQ(t, IDS(LBR_09, LBR_16), without.top, with.top,
			 "MSR_LASTBRANCH_TOS after returns at the other level, MSR_LBR_SELECT %#lx",
			 LBR_SELECT_CALL_STACK | select);
		for (unsigned i = 0; i < with.depth; i++)
			CHECK_EQ(t, IDS(LBR_09, LBR_16), without.branch[i].from,
				 with.branch[i].from,
				 "FROM of entry %u after returns at the other level, "
				 "MSR_LBR_SELECT %#lx",
				 i, LBR_SELECT_CALL_STACK | select);
	}
}
