/* SPDX-License-Identifier: MIT */
/* See entries.h. */
#include "tests/random/adaptive/entries.h"

#include "kernel/interrupt/fault.h"
#include "kernel/processor/percpu.h"
#include "pmu/lbr/any.h"
#include "tests/adaptive/adaptive.h"
#include "tests/lbr/branches.h"

#define BRANCHES	11u	/* with the first branch fewer than the entries: some stay 0 */

unsigned entries_most(void)
{
	unsigned depth = lbr_any_depth();
	char reason[128];

	if (!need_any_lbr_info(reason, sizeof(reason)) ||
	    !adaptive_need_entries(reason, sizeof(reason)))
		return 0;
	return depth < DRAW_ENTRIES ? depth : DRAW_ENTRIES;
}

void entries_hold(struct draw_entry entry[DRAW_ENTRIES])
{
	static struct lbr_stack stacks[CPU_MAX];
	struct lbr_stack *stack = &stacks[cpu_index()];

	lbr_any_open();
	lbr_any_go_on(&lbr_piece_lbr_chain, BRANCHES, stack);
	for (unsigned i = 0; i < stack->depth && i < DRAW_ENTRIES; i++)
		entry[i] = (struct draw_entry){
			{ stack->raw[i].from, stack->raw[i].to, stack->raw[i].info }
		};
}

void entries_keep(void)
{
	adaptive_keep_entries();
}

void entries_stop(void)
{
	msr_write(lbr_any_switch().msr, 0);
}

void entries_release(void)
{
	lbr_any_close();
}
