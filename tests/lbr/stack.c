/* SPDX-License-Identifier: MIT */
/*
 * The stack of last branch records: SDM "Last Branch, Interrupt, and Exception Recording", "LBR
 * Stack". Recording is on only inside a piece's window, so each entry is known.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "kernel/memory/paging.h"
#include "pmu/counter.h"
#include "pmu/pmi.h"
#include "tests/frame/test.h"
#include "tests/lbr/branches.h"

/*
 * LBR-01  The stack must have 16 entries (Nehalem to Broadwell) or 32 (Skylake to Rocket Lake).
 *         SDM 17.4.8 LBR Stack, Table 17-8; Linux
 * LBR-03  A branch recorded in a full stack must replace the oldest entry.
 *         SDM 17.4.8 LBR Stack
 *
 * Given  the depth that IA32_PERF_CAPABILITIES[5:0] names, a chain of jumps each to the next
 * When   branches are recorded, as many as the stack has entries; some more; more than twice as
 *        many
 * Then   each entry is, by age, one of the newest branches, and none is missing
 */
TEST(lbr, stack_holds_as_many_branches_as_its_format_says, REQS(LBR_01, LBR_03), NEEDS(need_lbr))
{
	const unsigned depth = lbr_depth();
	struct lbr_stack stack;

	lbr_record(&lbr_piece_lbr_chain, depth - 1, 0, &stack);
	lbr_check_chain(t, AT(LBR_01), &stack, depth - 1, depth);
	for (unsigned more = 1; more <= depth + 3; more += depth / 2) {
		lbr_record(&lbr_piece_lbr_chain, depth - 1 + more, 0, &stack);
		lbr_check_chain(t, AT(LBR_03), &stack, depth - 1 + more, depth);
	}
}

/*
 * LBR-02  MSR_LASTBRANCH_TOS must be the index of the newest entry; older entries must be at
 *         falling indices with wrap.
 *         SDM 17.4.8 LBR Stack
 *
 * Given  a stack of zeros, MSR_LASTBRANCH_TOS written 0, 1, depth - 3 and depth - 1
 * When   five branches are recorded
 * Then   MSR_LASTBRANCH_TOS is five more, modulo the depth; entries from there downwards, with
 *        wrap, are the branches from the newest to the oldest; the entry after these is still 0
 */
TEST(lbr, top_of_stack_is_the_index_of_the_newest_branch, REQS(LBR_02), NEEDS(need_lbr),
     .under_every_fault = true)
{
	const unsigned depth = lbr_depth(), links = 4;
	const unsigned tops[] = { 0, 1, depth - 3, depth - 1 };
	struct lbr_stack stack;

	for (unsigned i = 0; i < sizeof(tops) / sizeof(tops[0]); i++) {
		lbr_record_from(&lbr_piece_lbr_chain, links, 0, tops[i], &stack);
		if (lbr_is_lost(t, &stack))
			return;
		CHECK_EQ(t, LBR_02, (tops[i] + links + 1) % depth, stack.top,
			 "MSR_LASTBRANCH_TOS, %u before %u branches", tops[i], links + 1);
		lbr_check_chain(t, AT(LBR_02), &stack, links, links + 1);
		CHECK_EQ(t, LBR_02, 0, stack.raw[links + 1].from | stack.raw[links + 1].to,
			 "the entry before the first of %u branches, which was 0", links + 1);
	}
}

/*
 * LBR-04  FROM must be the address of the branch instruction and TO its target.
 *         SDM 17.4.8 LBR Stack
 * LBR-15  With MSR_LBR_SELECT = 0 every kind of branch must be recorded.
 *         SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 *
 * Given  MSR_LBR_SELECT = 0, a branch of each kind: conditional, relative and indirect jump and
 *        call, near and far return
 * When   they are recorded
 * Then   each is there, in order, FROM at its first byte, TO at its target, and nothing else
 */
TEST(lbr, record_has_the_addresses_of_a_branch_and_of_its_target, REQS(LBR_04, LBR_15),
     NEEDS(need_lbr), .under_every_fault = true)
{
	const struct lbr_piece *piece = &lbr_piece_lbr_kinds;
	unsigned rows = (unsigned)(piece->end - piece->rows);
	struct lbr_stack stack;

	lbr_record(piece, 0, 0, &stack);
	CHECK_EQ(t, LBR_15, rows, stack.top, "MSR_LASTBRANCH_TOS after %u branches from 0", rows);
	for (unsigned i = 0; i < rows; i++) {
		const struct lbr_row *row = &piece->rows[rows - 1 - i];

		CHECK_EQ(t, IDS(LBR_04, LBR_15), row->from, stack.branch[i].from,
			 "FROM of a branch of the kind of MSR_LBR_SELECT[%lu]", row->kind);
		CHECK_EQ(t, IDS(LBR_04, LBR_15), row->to, stack.branch[i].to,
			 "TO of a branch of the kind of MSR_LBR_SELECT[%lu]", row->kind);
	}
}

/*
 * LBR-04  FROM must be the address of the branch instruction and TO its target.
 *         SDM 17.4.8 LBR Stack
 *
 * Given  code above 4 GiB; then in the upper half of the address space, where bits 63:47 are 1
 * When   a branch of each kind is recorded
 * Then   FROM and TO, as RDMSR reads them, have each bit of the addresses that isn't a flag of the
 *        format
 * Control: MSR_LASTBRANCH_TOS says that all of them were recorded
 */
TEST(lbr, record_of_code_in_either_half_has_whole_addresses, REQS(LBR_04), NEEDS(need_lbr))
{
	static const u64 halves[] = { PAGING_HIGH, PAGING_UPPER };
	const struct lbr_piece *piece = &lbr_piece_lbr_kinds;
	unsigned rows = (unsigned)(piece->end - piece->rows);
	struct lbr_stack stack;

	for (unsigned half = 0; half < 2; half++) {
		lbr_record_above(piece, 0, halves[half], 0, &stack);
		if (lbr_is_lost(t, &stack))
			return;
		CONTROL_EQ(t, LBR_04, rows, stack.top, "MSR_LASTBRANCH_TOS after %u branches",
			   rows);
		for (unsigned i = 0; i < rows; i++) {
			const struct lbr_row *row = &piece->rows[rows - 1 - i];

			CHECK_EQ(t, LBR_04, (row->from + halves[half]) & lbr_address_bits(),
				 stack.raw[i].from & lbr_address_bits(),
				 "FROM of a branch of the kind of MSR_LBR_SELECT[%lu]", row->kind);
			CHECK_EQ(t, LBR_04, row->to + halves[half], stack.raw[i].to,
				 "TO of a branch of the kind of MSR_LBR_SELECT[%lu]", row->kind);
		}
	}
}

/*
 * LBR-05  A conditional branch that is not taken must not be recorded.
 *         SDM 17.4.1 IA32_DEBUGCTL MSR: LBR records taken branches
 *
 * Given  MSR_LBR_SELECT = 0, a JNE that isn't taken, then a JE that is
 * When   both are executed while LBR is 1
 * Then   no entry has the address of the JNE
 * Control: an entry has that of the JE
 */
TEST(lbr, conditional_branch_that_is_not_taken_is_not_recorded, REQS(LBR_05), NEEDS(need_lbr))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_kinds;
	const u64 not_taken = workload_mark(piece->workload, 0);
	struct lbr_stack stack;

	lbr_record(piece, 0, 0, &stack);
	if (lbr_is_lost(t, &stack))
		return;
	CONTROL(t, LBR_05, lbr_find(&stack, piece->rows[0].from) < stack.depth,
		"the taken conditional branch after it is recorded");
	CHECK_EQ(t, LBR_05, stack.depth, lbr_find(&stack, not_taken),
		 "entry with the branch at %#lx, of %u", not_taken, stack.depth);
}

/*
 * LBR-07  Nothing may be recorded while IA32_DEBUGCTL[0] is 0, and the entries must be kept.
 *         SDM 17.4.1 IA32_DEBUGCTL MSR
 *
 * Given  a full stack of known branches
 * When   other branches are executed, IA32_DEBUGCTL[0] = 0
 * Then   MSR_LASTBRANCH_TOS and each entry are as before
 * Control: with IA32_DEBUGCTL[0] = 1 these branches are recorded
 */
TEST(lbr, nothing_is_recorded_while_lbr_is_0, REQS(LBR_07), NEEDS(need_lbr),
     .under_every_fault = true)
{
	const u64 links = lbr_depth() + 2;
	struct lbr_stack before, after;

	for (unsigned n = 0; n < LBR_TRIES; n++) {
		lbr_open(0, 0);
		lbr_go_on(&lbr_piece_lbr_chain, links, IA32_DEBUGCTL_LBR, &before);
		lbr_go_on(&lbr_piece_lbr_kinds, 0, 0, &after);
		if (!lbr_try_again(t, n, &after))
			break;
		if (n + 1 == LBR_TRIES)
			return;
	}
	lbr_check_chain(t, CONTROL_AT(LBR_07), &before, links, before.depth);
	CHECK_EQ(t, LBR_07, before.top, after.top, "MSR_LASTBRANCH_TOS after branches, LBR = 0");
	lbr_check_chain(t, AT(LBR_07), &after, links, after.depth);
	lbr_go_on(&lbr_piece_lbr_kinds, 0, IA32_DEBUGCTL_LBR, &after);
	CONTROL(t, LBR_07, !lbr_same(&before, &after), "the same branches are recorded, LBR = 1");
	lbr_close();
}

/* A value that software may write to entry i: no address here has a bit above 46, so each format
 * keeps it unchanged. */
static struct lbr_raw pattern(unsigned i, bool inverted)
{
	const u64 low = 0x0000123456789000, high = 0x00006edcba987000;
	u64 info = lbr_format_has_info(lbr_format()) ? BIT(63) | (0x5a00 + i) : 0;

	return inverted ? (struct lbr_raw){ high + 64 * i, low + 64 * i, info ^ BIT(63) } :
			  (struct lbr_raw){ low + 64 * i, high + 64 * i, info };
}

/* Write each entry, and read each twice. false: the test is INCONCLUSIVE. */
static bool write_and_read(struct test *t, bool inverted, struct lbr_stack *read)
{
	read->depth = lbr_depth();
	for (unsigned n = 0; n < LBR_TRIES; n++) {
		lbr_open(0, 0);
		for (unsigned i = 0; i < read->depth; i++) {
			struct lbr_raw raw = pattern(i, inverted);

			lbr_put(i, &raw);
		}
		for (unsigned i = 0; i < 2 * read->depth; i++)
			read->raw[i % read->depth] = lbr_entry(i % read->depth);
		if (!lbr_try_again(t, n, read))
			return true;
	}
	return false;
}

/*
 * LBR-25  FROM, TO, INFO and MSR_LASTBRANCH_TOS must read back what WRMSR wrote (context switch
 *         use).
 *         Linux, KVM: switch them with the context; Table 17-16 prints R/O
 *
 * Given  recording is off; addresses below 2 to the 47th, which each format stores unchanged
 * When   FROM, TO, and INFO where there is one, of each entry are written, each with a different
 *        value, then with others, and read twice; MSR_LASTBRANCH_TOS with each index
 * Then   each register reads as it was written, at the second read too
 */
TEST(msr, lbr_entries_and_top_read_back_what_software_wrote, REQS(LBR_25), NEEDS(need_lbr))
{
	const unsigned depth = lbr_depth();
	struct lbr_stack read;

	for (unsigned inverted = 0; inverted < 2; inverted++) {
		if (!write_and_read(t, inverted, &read))
			return;
		for (unsigned i = 0; i < depth; i++) {
			struct lbr_raw want = pattern(i, inverted), got = read.raw[i];

			CHECK_EQ(t, LBR_25, want.from, got.from, "FROM of entry %u", i);
			CHECK_EQ(t, LBR_25, want.to, got.to, "TO of entry %u", i);
			if (lbr_format_has_info(lbr_format()))
				CHECK_EQ(t, LBR_25, want.info, got.info, "INFO of entry %u", i);
		}
	}
	for (unsigned i = 0; i < depth; i++) {
		msr_write(MSR_LASTBRANCH_TOS, i);
		CHECK_EQ(t, LBR_25, i, msr_read(MSR_LASTBRANCH_TOS), "MSR_LASTBRANCH_TOS");
	}
	lbr_open(0, 0);
	lbr_close();
}

/* Run HLT, ended by interrupts, with a full stack. Returns the interrupts. */
static unsigned halt_with(u64 links, struct lbr_stack *before, struct lbr_stack *after)
{
	unsigned interrupts;

	lbr_open(0, 0);
	lbr_go_on(&lbr_piece_lbr_chain, links, IA32_DEBUGCTL_LBR, before);
	pmi_open(NULL);
	intr_disable();
	counter_program(0, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counters_enable(pmc_one(0));
	apic_self_ipi(VECTOR_PMI);	/* ends HLT */
	__asm__ volatile("sti; hlt" ::: "memory");
	counters_disable();
	interrupts = pmi_settle()->count;
	pmi_close();
	lbr_read(after);
	return interrupts;
}

/*
 * LBR-26  HLT must keep the LBR stack.
 *         SDM 17.10.3 LBR Behavior and Deep C-State
 *
 * Given  a full stack of known branches, recording off; IA32_PMC0 counts, so that the processor is
 *        one under observation when it halts
 * When   HLT is executed, and ended by an interrupt
 * Then   MSR_LASTBRANCH_TOS and each entry are as before
 * Control: there was one interrupt
 */
TEST(lbr, hlt_keeps_the_stack, REQS(LBR_26), NEEDS(need_perfmon, need_instructions, need_lbr))
{
	const u64 links = lbr_depth();
	struct lbr_stack before, after;
	unsigned interrupts = 0;

	for (unsigned n = 0; n < LBR_TRIES; n++) {
		interrupts = halt_with(links, &before, &after);
		if (!lbr_try_again(t, n, &after))
			break;
		if (n + 1 == LBR_TRIES)
			return;
	}
	lbr_check_chain(t, CONTROL_AT(LBR_26), &before, links, before.depth);
	CONTROL_EQ(t, LBR_26, 1, interrupts, "interrupts that ended HLT");
	CHECK_EQ(t, LBR_26, before.top, after.top, "MSR_LASTBRANCH_TOS after HLT");
	lbr_check_chain(t, AT(LBR_26), &after, links, after.depth);
	lbr_close();
}
