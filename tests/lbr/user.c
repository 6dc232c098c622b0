/* SPDX-License-Identifier: MIT */
/*
 * Fields of records of either kind for branches at CPL 3: the mispredict flag, core cycles.
 * tests/lbr/mispredicted.c, format.c and arch_info.c test them at CPL 0.
 */
#include "kernel/processor/cpu.h"
#include "pmu/counter.h"
#include "pmu/lbr/any.h"
#include "spec/x86.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/lbr/arch.h"

#define WINDOWS		40u
#define ROUNDS		64u	/* in a loop */
#define LEAST		100u	/* entries of each kind */
#define SHORT_ROUNDS	500u
#define LONG_ROUNDS	70000u
#define TRIES		8u

enum recorded { CPL_3, JUMPS_AT_CPL_3 };

static bool architectural(void)
{
	return counter_caps()->arch_lbr;
}

static bool need_user_lbr(char *reason, size_t size)
{
	return architectural() ? need_arch_lbr_levels(reason, size) : need_lbr(reason, size);
}

static bool need_user_mispredict(char *reason, size_t size)
{
	return need_user_lbr(reason, size) &&
	       (!architectural() || need_arch_lbr_mispredict(reason, size));
}

static bool need_user_cycles(char *reason, size_t size)
{
	return need_user_lbr(reason, size) &&
	       (architectural() ?
			need_arch_lbr_timed(reason, size) && need_arch_lbr_kinds(reason, size) :
			need_lbr_info(reason, size));
}

/* Clear the entries. Returns the value of the register that begins to record at CPL 3. */
static u64 prepare(enum recorded what)
{
	u64 control = lbr_any_switch().on;

	lbr_any_open();
	if (!architectural()) {
		lbr_open(LBR_SELECT_CPL_EQ_0 | (what == JUMPS_AT_CPL_3 ? LBR_SELECT_JCC : 0), 0);
		return control;
	}
	if (what == JUMPS_AT_CPL_3)
		control = arch_lbr_only(IA32_LBR_CTL_NEAR_REL_JMP);
	return control & ~(u64)IA32_LBR_CTL_OS;
}

/* Run the workload at CPL 3, where it may read counters. */
static void record(const struct workload *w, u64 n, enum recorded what, struct lbr_stack *stack)
{
	const u32 msr = lbr_any_switch().msr;
	const u64 cr4 = cr4_read();

	cr4_write(cr4 | CR4_PCE);
	for (unsigned i = 0; i < LBR_TRIES; i++) {
		const u64 control = prepare(what);

		msr_write(msr, control);
		workload_run_user(w, n);
		msr_write(msr, 0);
		lbr_any_read(stack);
		if (architectural() || !lbr_vanished(stack))
			break;
	}
	lbr_any_close();
	cr4_write(cr4);
}

static bool is_in(const struct workload *w, u64 address)
{
	return address >= (u64)(uintptr_t)w->begin && address < (u64)(uintptr_t)w->end;
}

/*
 * LBR-18   With format 3 bit 63 of FROM must be 1 for a mispredicted branch.
 *          SDM 17.6.1 LBR Stack, Table 17-9
 * LBR-19   With format 4 bits 63, 62 and 61 of FROM must be mispredict, in-TSX and TSX-abort.
 *          SDM 17.9, Table 17-14
 * LBR-21   With formats 5 and 7 INFO[63] must be the mispredict flag.
 *          SDM 17.10 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *          based on Skylake Microarchitecture, Table 17-16
 * ALBR-17  Where CPUID.1CH:ECX[0] is 1, IA32_LBR_x_INFO[63] must say that the branch was
 *          mispredicted.
 *          SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 1CH,
 *          ECX[0]
 *
 * Given  a loop at CPL 3 with a branch by unpredictable bits, CPL 0 filtered out
 * When   forty windows are recorded, in a strict run until there are a hundred entries of each
 * Then   some entries of that branch are mispredicted, and a larger share than of the loop's own
 *        branch
 * Control: there are a hundred entries of each
 */
TEST(lbr, mispredict_flag_at_cpl_3_is_that_of_branches_by_chance,
     REQS(LBR_18, LBR_19, LBR_21, ALBR_17), NEEDS(need_user_mispredict))
{
	const struct test_claim control = architectural() ? CONTROL_AT(ALBR_17) :
							    CONTROL_AT(LBR_18, LBR_19, LBR_21);
	const struct test_claim claim = architectural() ? AT(ALBR_17) : AT(LBR_18, LBR_19, LBR_21);
	const struct workload *w = &workload_random;
	/* For the loop's branch, which goes backward, and for the other branch, which goes
	 * forward. */
	unsigned entries[2] = { 0, 0 }, flagged[2] = { 0, 0 };
	struct lbr_stack stack;

	for (unsigned i = 0; i < WINDOWS; i++) {
		if (test_is_strict(t) && entries[0] >= LEAST && entries[1] >= LEAST)
			break;
		record(w, ROUNDS, CPL_3, &stack);
		if (lbr_is_lost(t, &stack))
			return;
		for (unsigned k = 0; k < stack.depth; k++) {
			const struct lbr_branch *b = &stack.branch[k];

			if (!is_in(w, b->from) || !is_in(w, b->to))
				continue;
			entries[b->to > b->from]++;
			flagged[b->to > b->from] += b->mispredicted;
		}
	}
	test_check_range(t, control, LEAST, ~0ULL, entries[1], "entries of a branch by chance");
	test_check_range(t, control, LEAST, ~0ULL, entries[0], "entries of a loop's branch");
	test_check_range(t, claim, 1, ~0ULL, flagged[1],
			 "mispredicted of %u branches by chance at CPL 3", entries[1]);
	test_check(t, claim, (u64)flagged[1] * entries[0] > (u64)flagged[0] * entries[1],
		   "a larger share of branches by chance",
		   "%u of %u branches by chance are mispredicted at CPL 3, %u of %u of a loop's",
		   flagged[1], entries[1], flagged[0], entries[0]);
}

/* Run a loop between two jumps at CPL 3. The second jump's entry has valid cycles; *soon: the entry
 * of a third jump; *counted: fixed counter 1's count of the loop. false: the cycles were never
 * valid. */
static bool delay(struct test *t, u64 rounds, u64 *counted, struct lbr_branch *jump,
		  struct lbr_branch *soon)
{
	const struct lbr_piece *piece = &lbr_piece_lbr_delay;
	const struct test_claim control = architectural() ? CONTROL_AT(ALBR_16) :
							    CONTROL_AT(LBR_22);
	const volatile u64 *words = workload_memory();
	struct lbr_stack stack;

	counter_program(PMC_FIXED(1), 0, COUNT_BOTH);
	for (unsigned i = 0; i < TRIES; i++) {
		unsigned at;

		counter_write(PMC_FIXED(1), 0);
		counters_enable(pmc_one(PMC_FIXED(1)));
		record(piece->workload, rounds, JUMPS_AT_CPL_3, &stack);
		counters_disable();
		*counted = (u32)(words[1] - words[0]);
		at = lbr_find(&stack, piece->rows[DELAY_JUMPS - 1].from);
		for (unsigned k = 0; k < DELAY_JUMPS; k++)
			if (!test_check(t, control,
					at + k < stack.depth &&
						lbr_is(&stack, at + k,
						       &piece->rows[DELAY_JUMPS - 1 - k]),
					"a jump of the piece in its turn", "entry %u", at + k))
				return false;
		*jump = stack.branch[at + 1];
		*soon = stack.branch[at];
		if (!architectural() || jump->timed)
			return true;
	}
	test_inconclusive(t, "IA32_LBR_x_INFO[60] was never 1 in %u tries", TRIES);
	return false;
}

/*
 * LBR-22   INFO[15:0] must be the core cycles since the previous entry, at most FFFFH.
 *          SDM 17.10 Last Branch, Call Stack, Interrupt, and Exception Recording for Processors
 *          based on Skylake Microarchitecture, Table 17-16
 * ALBR-16  Where CPUID.1CH:ECX[1] is 1 and IA32_LBR_x_INFO[60] is 1, [15:0] must be the core
 *          cycles since the entry before, at most FFFFH.
 *          Linux get_lbr_cycles
 *
 * Given  a loop at CPL 3 between two jumps, its own branches filtered out, and a third jump soon
 *        after; fixed counter 1 counts the loop's core cycles; CPL 0 is filtered out
 * When   the loop is short; longer than FFFFH cycles
 * Then   INFO[15:0] of the second jump, where it is valid, is about the count; FFFFH; that of the
 *        third is less than half of a short loop's
 * Control: the three are entries next to each other
 */
TEST(lbr, info_counts_core_cycles_at_cpl_3, REQS(LBR_22, ALBR_16),
     NEEDS(need_user_cycles, need_fixed_0_to_2))
{
	const struct test_claim claim = architectural() ? AT(ALBR_16) : AT(LBR_22);
	struct lbr_branch jump, soon;
	u64 counted;

	if (!delay(t, SHORT_ROUNDS, &counted, &jump, &soon))
		return;
	test_check_range(t, claim, counted / 2, lbr_most_cycles(t, counted), jump.cycles,
			 "INFO[15:0] of the jump at CPL 3 after %lu core cycles", counted);
	if (!architectural() || soon.timed)
		test_check_range(t, claim, 0, counted / 2, soon.cycles,
				 "INFO[15:0] of the jump at CPL 3 a few instructions later");
	if (delay(t, LONG_ROUNDS, &counted, &jump, &soon) && counted > CYCLES_MOST)
		test_check_eq(t, claim, CYCLES_MOST, jump.cycles,
			      "INFO[15:0] of the jump at CPL 3 after %lu core cycles", counted);
}
