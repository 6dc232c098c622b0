/* SPDX-License-Identifier: MIT */
/*
 * Call-stack mode at each place of the stack: SDM "Last Branch, Call Stack, Interrupt, and
 * Exception Recording for Processors based on Haswell Microarchitecture".
 */
#include "kernel/interrupt/fault.h"
#include "tests/frame/test.h"
#include "tests/lbr/branches.h"

#define CALLS	3u

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
