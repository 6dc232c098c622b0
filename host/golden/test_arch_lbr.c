/* SPDX-License-Identifier: MIT */
/*
 * CPUID leaf 1CH and the registers of an architectural last branch record, typed by hand ("Last
 * Branch Records Information", IA32_LBR_x_INFO), and their decoded values; also compares
 * spec/arch_lbr.def with these values.
 */
#include "host/check.h"
#include "pmu/lbr/arch_format.h"
#include "spec/arch_lbr.h"
#include "spec/msr.h"

static const struct lbr_leaf all = {
	.depths = 0xff, .cpl_filtering = true, .branch_filtering = true, .call_stack = true,
	.mispredict = true, .timed = true, .branch_type = true, .event_logging = 0xf,
};
static const struct lbr_leaf bare = { .depths = 8 };

/* 32 entries, as on each known processor; all of EBX[2:0] and ECX[2:0]. */
static void leaf_of_32_entries_with_everything(void)
{
	struct lbr_leaf leaf = lbr_leaf_decode(0x00000008, 0x00000007, 0x00000007);

	CHECK_EQ(32, lbr_leaf_deepest(&leaf));
	CHECK(lbr_leaf_lists(&leaf, 32));
	CHECK(!lbr_leaf_lists(&leaf, 0) && !lbr_leaf_lists(&leaf, 8) && !lbr_leaf_lists(&leaf, 31));
	CHECK(!lbr_leaf_lists(&leaf, 40) && !lbr_leaf_lists(&leaf, 72));
	CHECK(!lbr_leaf_lists(&leaf, 0x100000020));
	CHECK(leaf.cpl_filtering && leaf.branch_filtering && leaf.call_stack);
	CHECK(leaf.mispredict && leaf.timed && leaf.branch_type);
	CHECK_EQ(0, leaf.event_logging);
	CHECK_EQ(0x7f000f, lbr_leaf_control(&leaf));
}

static void each_bit_of_the_leaf_is_a_field_of_its_own(void)
{
	struct lbr_leaf leaf = lbr_leaf_decode(0xc0000081, 0x1, 0xa0001);

	CHECK_EQ(64, lbr_leaf_deepest(&leaf));
	CHECK(lbr_leaf_lists(&leaf, 8) && lbr_leaf_lists(&leaf, 64) && !lbr_leaf_lists(&leaf, 32));
	CHECK(leaf.cpl_filtering && !leaf.branch_filtering && !leaf.call_stack);
	CHECK(leaf.mispredict && !leaf.timed && !leaf.branch_type);
	CHECK_EQ(0xa, leaf.event_logging);
	CHECK_EQ(0x7, lbr_leaf_control(&leaf));
	leaf = lbr_leaf_decode(0x1, 0x2, 0x2);
	CHECK_EQ(8, lbr_leaf_deepest(&leaf));
	CHECK(!leaf.cpl_filtering && leaf.branch_filtering && !leaf.call_stack);
	CHECK(!leaf.mispredict && leaf.timed && !leaf.branch_type);
	CHECK_EQ(0x7f0001, lbr_leaf_control(&leaf));
	leaf = lbr_leaf_decode(0, 0x4, 0x4);
	CHECK_EQ(0, lbr_leaf_deepest(&leaf));
	CHECK(!leaf.cpl_filtering && !leaf.branch_filtering && leaf.call_stack);
	CHECK(!leaf.mispredict && !leaf.timed && leaf.branch_type);
	CHECK_EQ(0x9, lbr_leaf_control(&leaf));
}

static struct lbr_branch decode(const struct lbr_leaf *leaf, u64 info)
{
	const struct lbr_raw raw = { 0xffffffff81000010, 0x00007fffffffeff0, info };

	return lbr_arch_decode(leaf, true, &raw);
}

static void info_has_flags_cycles_and_the_kind(void)
{
	struct lbr_branch b = decode(&all, 0x130000000000002a);	/* 60 valid, kind 3, 42 cycles */

	CHECK_EQ(0xffffffff81000010, b.from);
	CHECK_EQ(0x7fffffffeff0, b.to);
	CHECK(b.timed && !b.mispredicted && !b.in_transaction && !b.aborted);
	CHECK_EQ(42, b.cycles);
	CHECK_EQ(3, b.type);
	b = decode(&all, 0x850000000000ffff);			/* cycles, but not valid */
	CHECK(b.mispredicted && !b.timed && !b.in_transaction && !b.aborted);
	CHECK_EQ(0, b.cycles);
	CHECK_EQ(5, b.type);
	b = decode(&all, 0x4f000000ffff0000);
	CHECK(!b.mispredicted && !b.timed && b.in_transaction && !b.aborted);
	CHECK_EQ(15, b.type);
	b = decode(&all, 0x3000ffffffffffff);
	CHECK(!b.mispredicted && b.timed && !b.in_transaction && b.aborted);
	CHECK_EQ(0xffff, b.cycles);
	CHECK_EQ(0, b.type);
}

/* INFO[33:32] of IA32_PMC0, [35:34] of IA32_PMC1, [37:36] of IA32_PMC2, [39:38] of IA32_PMC3. */
static void info_has_the_events_of_four_counters(void)
{
	struct lbr_leaf leaf = lbr_leaf_decode(0x00000008, 0x00000007, 0x00050007);
	struct lbr_branch b = decode(&all, 0x000000e400000000);	/* 3, 2, 1, 0 from bit 39 down */

	CHECK_EQ(0, b.events[0]);
	CHECK_EQ(1, b.events[1]);
	CHECK_EQ(2, b.events[2]);
	CHECK_EQ(3, b.events[3]);
	CHECK(!b.timed && !b.mispredicted && b.type == 0 && b.cycles == 0);
	b = decode(&all, 0x0000001b00000000);
	CHECK_EQ(3, b.events[0]);
	CHECK_EQ(2, b.events[1]);
	CHECK_EQ(1, b.events[2]);
	CHECK_EQ(0, b.events[3]);
	b = decode(&all, 0xffffff00ffffffff);	/* every other bit */
	for (unsigned n = 0; n < 4; n++)
		CHECK_EQ(0, b.events[n]);
	b = decode(&leaf, 0x000000ff00000000);	/* ECX[16] and ECX[18] alone */
	CHECK_EQ(3, b.events[0]);
	CHECK_EQ(0, b.events[1]);
	CHECK_EQ(3, b.events[2]);
	CHECK_EQ(0, b.events[3]);
}

static void what_the_leaf_does_not_promise_is_not_said(void)
{
	const struct lbr_raw raw = { 0x1000, 0x2000, 0xffffffffffffffff };
	struct lbr_branch b = lbr_arch_decode(&bare, false, &raw);

	CHECK_EQ(0x1000, b.from);
	CHECK_EQ(0x2000, b.to);
	CHECK(!b.mispredicted && !b.timed && !b.in_transaction && !b.aborted);
	CHECK_EQ(0, b.cycles);
	CHECK_EQ(0, b.type);
	for (unsigned n = 0; n < 4; n++)
		CHECK_EQ(0, b.events[n]);
}

static void the_tables_say_the_same(void)
{
	CHECK_EQ(0x14ce, MSR_IA32_LBR_CTL);
	CHECK_EQ(0x14cf, MSR_IA32_LBR_DEPTH);
	CHECK_EQ(0x1200, MSR_IA32_LBR_0_INFO);
	CHECK_EQ(0x1500, MSR_IA32_LBR_0_FROM_IP);
	CHECK_EQ(0x1600, MSR_IA32_LBR_0_TO_IP);
	CHECK_EQ(0x1, IA32_LBR_CTL_LBREN);
	CHECK_EQ(0x2, IA32_LBR_CTL_OS);
	CHECK_EQ(0x4, IA32_LBR_CTL_USR);
	CHECK_EQ(0x8, IA32_LBR_CTL_CALL_STACK);
	CHECK_EQ(0x10000, IA32_LBR_CTL_JCC);
	CHECK_EQ(0x20000, IA32_LBR_CTL_NEAR_REL_JMP);
	CHECK_EQ(0x40000, IA32_LBR_CTL_NEAR_IND_JMP);
	CHECK_EQ(0x80000, IA32_LBR_CTL_NEAR_REL_CALL);
	CHECK_EQ(0x100000, IA32_LBR_CTL_NEAR_IND_CALL);
	CHECK_EQ(0x200000, IA32_LBR_CTL_NEAR_RET);
	CHECK_EQ(0x400000, IA32_LBR_CTL_OTHER_BRANCH);
	CHECK_EQ(0xffff, ARCH_LBR_CYC_CNT);
	CHECK_EQ(0x0f00000000000000, ARCH_LBR_BR_TYPE);
	CHECK_EQ(0x1000000000000000, ARCH_LBR_CYC_CNT_VALID);
	CHECK_EQ(0x2000000000000000, ARCH_LBR_TSX_ABORT);
	CHECK_EQ(0x4000000000000000, ARCH_LBR_IN_TSX);
	CHECK_EQ(0x8000000000000000, ARCH_LBR_MISPRED);
	CHECK_EQ(0, ARCH_LBR_TYPE_JCC);
	CHECK_EQ(1, ARCH_LBR_TYPE_NEAR_IND_JMP);
	CHECK_EQ(2, ARCH_LBR_TYPE_NEAR_REL_JMP);
	CHECK_EQ(3, ARCH_LBR_TYPE_NEAR_IND_CALL);
	CHECK_EQ(4, ARCH_LBR_TYPE_NEAR_REL_CALL);
	CHECK_EQ(5, ARCH_LBR_TYPE_NEAR_RET);
	CHECK_EQ(8, ARCH_LBR_TYPE_OTHER_BRANCH);
}

int main(void)
{
	RUN(leaf_of_32_entries_with_everything);
	RUN(each_bit_of_the_leaf_is_a_field_of_its_own);
	RUN(info_has_flags_cycles_and_the_kind);
	RUN(info_has_the_events_of_four_counters);
	RUN(what_the_leaf_does_not_promise_is_not_said);
	RUN(the_tables_say_the_same);
	return check_end();
}
