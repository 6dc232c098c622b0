/* SPDX-License-Identifier: MIT */
/*
 * Drawn programs whose branches are recorded: SDM "Last Branch, Interrupt, and Exception
 * Recording", "Filtering of Last Branch Records"; volume 4, IA32_LBR_CTL. The oracle
 * (tests/random/branches/oracle_branches.c) computes the expected entries.
 */
#include "pmu/counter.h"
#include "tests/lbr/arch.h"
#include "tests/random/decide.h"

/* The number of wrong claims that aren't about last branch records: counts, reads of counters,
 * interrupts. */
static unsigned wrong_others(const struct session *s)
{
	unsigned n = 0;

	for (enum draw_claim claim = 0; claim < DRAW_CLAIM_LBR_TOP; claim++)
		if (claim != DRAW_CLAIM_REGISTER && claim != DRAW_CLAIM_FREEZE_KEPT)
			n += s->wrong[claim];
	return n;
}

#define CASES_ENOUGH 20u /* one in three or so has entries that are examined */

/* No entry was examined, and the processor isn't the reason: the test is INCONCLUSIVE. */
static bool says_nothing(struct test *t, const struct session *s)
{
	if (s->looked[DRAW_CLAIM_LBR_TO])
		return false;
	if (s->cases < CASES_ENOUGH)
		test_inconclusive(t, "none of %u drawn cases has entries to examine", s->cases);
	else if (counter_caps()->hypervisor && !test_is_strict(t))
		test_inconclusive(t, "%u drawn cases: no guest's entries were kept", s->cases);
	else
		return false;
	return true;
}

/*
 * Decides LBR-02, LBR-04, LBR-05, LBR-06, LBR-07, LBR-09, LBR-10, LBR-11, LBR-12, LBR-13, LBR-14,
 * LBR-16, LBR-23, LBR-25, LBR-30, PMI-19, MSR-28, CNT-44 (claims/requirement.def has their
 * sentences).
 *
 * Given  drawn cases: MSR_LBR_SELECT, MSR_LASTBRANCH_TOS and the old contents of the newest entries
 *        are drawn. So are the program, at CPL 0 and partly at CPL 1, 2 or 3, its place, and its
 *        reads and writes of these registers. Sometimes a counter overflows, and its interrupt
 *        freezes, or is recorded
 * When   each program runs once, IA32_DEBUGCTL[0] written 1 at its beginning and 0 at its end
 * Then   MSR_LASTBRANCH_TOS and the entries that are examined are those of the branches that were
 *        selected, the newest ones; older entries stay
 * Control: entries with a branch of the program have been examined
 */
TEST(random, drawn_branches_are_recorded_as_the_oracle_has_it,
     REQS(LBR_02, LBR_04, LBR_05, LBR_06, LBR_07, LBR_09, LBR_10, LBR_11, LBR_12, LBR_13, LBR_14,
	  LBR_16, LBR_23, LBR_25, LBR_30, PMI_19, MSR_28, CNT_44),
     NEEDS(need_perfmon, need_instructions, need_branches, need_lbr))
{
	struct session s;

	if (!session_run(t, DRAW_BRANCHES, &s))
		return;
	DECIDE(s, DRAW_CLAIM_LBR_TOP, LBR_02, "another MSR_LASTBRANCH_TOS");
	DECIDE(s, DRAW_CLAIM_LBR_FROM, LBR_04, "another FROM");
	DECIDE(s, DRAW_CLAIM_LBR_TO, LBR_04, "another TO");
	DECIDE(s, DRAW_CLAIM_LBR_NOT_TAKEN, LBR_05, "branches recorded that aren't taken");
	DECIDE(s, DRAW_CLAIM_LBR_OFF, LBR_07, "branches recorded while IA32_DEBUGCTL[0] is 0");
	DECIDE(s, DRAW_CLAIM_LBR_LEVEL, LBR_09, "branches recorded of a level that is kept out");
	DECIDE(s, DRAW_CLAIM_LBR_CONDITIONAL, LBR_10, "conditional branches let in otherwise");
	DECIDE(s, DRAW_CLAIM_LBR_CALLS, LBR_11, "calls let in otherwise");
	DECIDE(s, DRAW_CLAIM_LBR_RETURNS, LBR_12, "near returns let in otherwise");
	DECIDE(s, DRAW_CLAIM_LBR_JUMPS, LBR_13, "jumps let in otherwise");
	DECIDE(s, DRAW_CLAIM_LBR_FAR, LBR_14, "far branches let in otherwise");
	DECIDE(s, DRAW_CLAIM_LBR_INTERRUPT, LBR_06, "interrupts recorded otherwise");
	DECIDE(s, DRAW_CLAIM_LBR_STACK, LBR_16, "calls removed otherwise in call-stack mode");
	DECIDE(s, DRAW_CLAIM_LBR_INFO, LBR_23, "flags of transactions outside of one");
	DECIDE(s, DRAW_CLAIM_LBR_OLD, LBR_25, "entries that aren't as they were written");
	DECIDE(s, DRAW_CLAIM_LBR_REMOVED, LBR_30, "entries that a return removed and aren't 0");
	DECIDE(s, DRAW_CLAIM_LBR_FROZEN, PMI_19, "branches recorded after a freeze");
	DECIDE(s, DRAW_CLAIM_FREEZE_KEPT, PMI_19, "another IA32_DEBUGCTL after an overflow");
	DECIDE(s, DRAW_CLAIM_REGISTER, MSR_28, "registers that read otherwise than written");
	CHECK_EQ(t, CNT_44, 0, wrong_others(&s),
		 "%u drawn cases: counts and interrupts that are wrong beside them", s.cases);
	if (says_nothing(t, &s))
		return;
	CONTROL_RANGE(t, LBR_04, 1, ~0ULL, s.looked[DRAW_CLAIM_LBR_TO],
		      "%u drawn cases: those in which entries of branches were looked at", s.cases);
}

/*
 * Decides ALBR-04, ALBR-06, ALBR-08, ALBR-09, ALBR-10, ALBR-11, ALBR-12, ALBR-13, ALBR-15,
 * ALBR-20, ALBR-21, ALBR-22, ALBR-27, ALBR-29, ALBR-30, FRZ-20, MSR-28, CNT-44
 * (claims/requirement.def has their sentences).
 *
 * Given  drawn cases: IA32_LBR_CTL, IA32_LBR_DEPTH and the old contents of the newest entries are
 *        drawn. So are the program, at CPL 0 and partly at CPL 1, 2 or 3, its place, and its reads
 *        and writes of these registers. Sometimes a counter overflows, and its interrupt freezes,
 *        or is recorded
 * When   each program runs once, IA32_LBR_CTL[0] written 1 at its beginning and 0 at its end
 * Then   the entries that are examined are those of the branches that were selected since the depth
 *        was written, the newest first; older ones follow them
 * Control: entries with a branch of the program have been examined
 */
TEST(random, drawn_branches_are_recorded_by_architectural_records_as_the_oracle_has_it,
     REQS(ALBR_04, ALBR_06, ALBR_08, ALBR_09, ALBR_10, ALBR_11, ALBR_12, ALBR_13, ALBR_15, ALBR_20,
	  ALBR_21, ALBR_22, ALBR_27, ALBR_29, ALBR_30, FRZ_20, MSR_28, CNT_44),
     NEEDS(need_perfmon, need_instructions, need_branches, need_arch_lbr))
{
	struct session s;

	if (!session_run(t, DRAW_BRANCHES, &s))
		return;
	DECIDE(s, DRAW_CLAIM_LBR_FROM, ALBR_13, "another FROM");
	DECIDE(s, DRAW_CLAIM_LBR_FROM, ALBR_21, "another FROM, recording off and on again");
	DECIDE(s, DRAW_CLAIM_LBR_FROM, ALBR_27, "another FROM, some of them read before");
	DECIDE(s, DRAW_CLAIM_LBR_TO, ALBR_13, "another TO");
	DECIDE(s, DRAW_CLAIM_LBR_OFF, ALBR_06, "branches recorded while IA32_LBR_CTL[0] is 0");
	DECIDE(s, DRAW_CLAIM_LBR_LEVEL, ALBR_08, "branches recorded of a level that isn't let in");
	DECIDE(s, DRAW_CLAIM_LBR_HIDDEN, ALBR_30, "another FROM where it must be all ones");
	DECIDE(s, DRAW_CLAIM_LBR_NOT_TAKEN, ALBR_09, "branches recorded that aren't taken");
	DECIDE(s, DRAW_CLAIM_LBR_CONDITIONAL, ALBR_09, "conditional branches let in otherwise");
	DECIDE(s, DRAW_CLAIM_LBR_JUMPS, ALBR_10, "jumps let in otherwise");
	DECIDE(s, DRAW_CLAIM_LBR_CALLS, ALBR_11, "calls let in otherwise");
	DECIDE(s, DRAW_CLAIM_LBR_RETURNS, ALBR_11, "near returns let in otherwise");
	DECIDE(s, DRAW_CLAIM_LBR_FAR, ALBR_12, "far branches let in otherwise");
	DECIDE(s, DRAW_CLAIM_LBR_INTERRUPT, ALBR_12, "interrupts recorded otherwise");
	DECIDE(s, DRAW_CLAIM_LBR_TYPE, ALBR_15, "another kind of branch in INFO");
	DECIDE(s, DRAW_CLAIM_LBR_STACK, ALBR_20, "calls removed otherwise in call-stack mode");
	DECIDE(s, DRAW_CLAIM_LBR_REMOVED, ALBR_29, "entries that a return removed and are there");
	DECIDE(s, DRAW_CLAIM_LBR_OLD, ALBR_22, "entries that aren't as they were written");
	DECIDE(s, DRAW_CLAIM_LBR_CLEARED, ALBR_04, "entries not cleared by a write of the depth");
	DECIDE(s, DRAW_CLAIM_LBR_FROZEN, FRZ_20, "branches recorded after a freeze");
	DECIDE(s, DRAW_CLAIM_REGISTER, MSR_28, "registers that read otherwise than written");
	CHECK_EQ(t, CNT_44, 0, wrong_others(&s),
		 "%u drawn cases: counts and interrupts that are wrong beside them", s.cases);
	if (says_nothing(t, &s))
		return;
	CONTROL_RANGE(t, ALBR_13, 1, ~0ULL, s.looked[DRAW_CLAIM_LBR_TO],
		      "%u drawn cases: those in which entries of branches were looked at", s.cases);
}
