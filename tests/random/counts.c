/* SPDX-License-Identifier: MIT */
/*
 * Drawn programs, counted by all counters at once, each with its own event, levels, filters and
 * value: SDM "Architectural Performance Monitoring Version 1 Facilities" to "Version 3 Facilities".
 * The oracle (tests/random/oracle.c) computes the expected results.
 */
#include "tests/frame/needs.h"
#include "tests/random/decide.h"

#define CASES_THAT_MOVE 20

static void decide_kinds(struct test *t, const struct session *s)
{
	DECIDE(*s, DRAW_CLAIM_INSTRUCTIONS, CNT_01, "instructions counted otherwise");
	DECIDE(*s, DRAW_CLAIM_BRANCHES, CNT_02, "branches counted otherwise");
	DECIDE(*s, DRAW_CLAIM_CONDITIONAL, CNT_39, "conditional branches counted otherwise");
	DECIDE(*s, DRAW_CLAIM_CALLS, CNT_40, "near calls counted otherwise");
	DECIDE(*s, DRAW_CLAIM_RETURNS, CNT_41, "near returns counted otherwise");
	DECIDE(*s, DRAW_CLAIM_TAKEN, CNT_42, "near taken branches counted otherwise");
	DECIDE(*s, DRAW_CLAIM_LOADS, CNT_03, "loads counted otherwise");
	DECIDE(*s, DRAW_CLAIM_STORES, CNT_04, "stores counted otherwise");
	DECIDE(*s, DRAW_CLAIM_LOCKS, CNT_05, "locked loads counted otherwise");
	DECIDE(*s, DRAW_CLAIM_SPLITS, DLA_13, "split accesses counted otherwise");
	DECIDE(*s, DRAW_CLAIM_FIXED, CNT_12, "instructions of fixed counter 0 counted otherwise");
	DECIDE(*s, DRAW_CLAIM_RUNS, CNT_44, "counters that went on from another value");
	DECIDE(*s, DRAW_CLAIM_LEVEL, CNT_10, "counts at a level that isn't selected");
	DECIDE(*s, DRAW_CLAIM_FIXED_LEVEL, CNT_28,
	       "counts of a fixed counter at a level that isn't selected");
	DECIDE(*s, DRAW_CLAIM_OFF, CNT_11, "counts without both enables");
	DECIDE(*s, DRAW_CLAIM_FILTER, CNT_35, "counts that CMASK and INV don't allow");
	DECIDE(*s, DRAW_CLAIM_OVERFLOW, MSR_26, "overflows that aren't shown");
	DECIDE(*s, DRAW_CLAIM_OVERFLOW_FIXED, FIX_17,
	       "overflows of fixed counters that aren't shown");
	/* In so many cases neither a counter of cycles nor one of slots can stay unchanged every
	 * time. */
	for (unsigned i = 1; i < FIXED_SLOTS; i++)
		if (s->cycles_on[i] >= CASES_THAT_MOVE)
			CHECK_RANGE(t, CNT_44, 1, ~0ULL, s->cycles_moved[i],
				    "%u drawn cases: those in which fixed counter %u moved",
				    s->cycles_on[i], i);
	if (s->cycles_on[FIXED_SLOTS] >= CASES_THAT_MOVE)
		CHECK_RANGE(t, MET_02, 1, ~0ULL, s->cycles_moved[FIXED_SLOTS],
			    "%u drawn cases: those in which fixed counter 3 moved",
			    s->cycles_on[FIXED_SLOTS]);
	DECIDE(*s, DRAW_CLAIM_NO_OVERFLOW, CNT_30, "overflows shown that weren't");
}

static void decide_reads(struct test *t, const struct session *s)
{
	DECIDE(*s, DRAW_CLAIM_WRITTEN, CNT_45, "counters written while they counted");
	DECIDE(*s, DRAW_CLAIM_RDPMC, CNT_06, "RDPMC of another value");
	DECIDE(*s, DRAW_CLAIM_RDPMC_FIXED, CNT_16, "RDPMC of a fixed counter, of another value");
	DECIDE(*s, DRAW_CLAIM_RDMSR, CNT_06, "RDMSR of another value");
	DECIDE(*s, DRAW_CLAIM_REGISTER, MSR_28, "registers that read otherwise than written");
	DECIDE(*s, DRAW_CLAIM_UPPER, MSR_41, "upper halves that aren't 0");
}

static void decide_refused(struct test *t, const struct session *s)
{
	DECIDE(*s, DRAW_CLAIM_REFUSED_SELECT, MSR_29, REFUSED_TEXT);
	DECIDE(*s, DRAW_CLAIM_REFUSED_CONTROL, MSR_31, REFUSED_TEXT);
	DECIDE(*s, DRAW_CLAIM_REFUSED_GLOBAL, MSR_11, REFUSED_TEXT);
	DECIDE(*s, DRAW_CLAIM_REFUSED_GLOBAL, MSR_36, REFUSED_TEXT);
	DECIDE(*s, DRAW_CLAIM_REFUSED_CLEAR, MSR_32, REFUSED_TEXT);
	DECIDE(*s, DRAW_CLAIM_REFUSED_GP, MSR_05, REFUSED_TEXT);
	DECIDE(*s, DRAW_CLAIM_REFUSED_FIXED, MSR_30, REFUSED_TEXT);
	DECIDE(*s, DRAW_CLAIM_REFUSED_RDPMC, CNT_14, REFUSED_TEXT);
	DECIDE(*s, DRAW_CLAIM_REFUSED_FAST, CNT_20, REFUSED_TEXT);
	DECIDE(*s, DRAW_CLAIM_REFUSED_RDMSR, MSR_12, REFUSED_TEXT);
}

/*
 * Decides CNT-01, CNT-02, CNT-39, CNT-40, CNT-41, CNT-42, CNT-03, CNT-04, CNT-05, DLA-13, CNT-12,
 * CNT-44, CNT-10, CNT-28, CNT-11, CNT-35, MSR-26, FIX-17, MET-02, CNT-30 (claims/requirement.def
 * has their sentences).
 *
 * Given  drawn cases: each counter has a drawn event, levels, filters and a value anywhere in its
 *        width; fixed counters and enables are drawn too, and so are the program at CPL 0, its
 *        operands and their places
 * When   each program runs once
 * Then   each count follows from the instructions and the counter's setting, where cycles matter
 *        within a range; the status shows the counters that wrapped and no others
 * Control: enabled counters have counted the program's events
 */
TEST(random, drawn_programs_are_counted_as_the_oracle_counts,
     REQS(CNT_01, CNT_02, CNT_39, CNT_40, CNT_41, CNT_42, CNT_03, CNT_04, CNT_05, DLA_13, CNT_12,
	  CNT_44, CNT_10, CNT_28, CNT_11, CNT_35, MSR_26, FIX_17, MET_02, CNT_30),
     NEEDS(need_perfmon, need_instructions, need_branches))
{
	struct session s;

	if (!session_run(t, DRAW_COUNTS, &s))
		return;
	decide_kinds(t, &s);
}

/*
 * Decides CNT-01, CNT-02, CNT-39, CNT-40, CNT-41, CNT-42, CNT-03, CNT-04, CNT-05, DLA-13, CNT-12,
 * CNT-44, CNT-10, CNT-28, CNT-11, CNT-35, MSR-26, FIX-17, MET-02, CNT-30, CNT-45, CNT-06, CNT-16,
 * MSR-28, MSR-41, MSR-29, MSR-31, MSR-11, MSR-36, MSR-32, MSR-05, MSR-30, CNT-14, CNT-20, MSR-12
 * (claims/requirement.def has their sentences).
 *
 * Given  the same, and pieces of the program that write event selects, counters,
 *        IA32_FIXED_CTR_CTRL, IA32_PERF_GLOBAL_CTRL and IA32_PERF_GLOBAL_OVF_CTRL, or read
 *        registers by RDMSR and RDPMC, while counters run
 * When   each program runs once
 * Then   the values that were read, and the values at the end, agree with the oracle. Excepted is
 *        the instruction that reads or switches: the manual doesn't say whether it counts itself
 * Control: enabled counters have counted the program's events
 */
TEST(random, drawn_writes_and_reads_in_the_middle_agree_with_the_oracle,
     REQS(CNT_01, CNT_02, CNT_39, CNT_40, CNT_41, CNT_42, CNT_03, CNT_04, CNT_05, DLA_13, CNT_12,
	  CNT_44, CNT_10, CNT_28, CNT_11, CNT_35, MSR_26, FIX_17, MET_02, CNT_30, CNT_45, CNT_06,
	  CNT_16, MSR_28, MSR_41, MSR_29, MSR_31, MSR_11, MSR_36, MSR_32, MSR_05, MSR_30, CNT_14,
	  CNT_20, MSR_12),
     NEEDS(need_perfmon, need_instructions, need_branches))
{
	struct session s;

	if (!session_run(t, DRAW_OPERATIONS_CLASS, &s))
		return;
	decide_kinds(t, &s);
	decide_reads(t, &s);
	decide_refused(t, &s);
}

/*
 * Decides CNT-01, CNT-02, CNT-39, CNT-40, CNT-41, CNT-42, CNT-03, CNT-04, CNT-05, DLA-13, CNT-12,
 * CNT-44, CNT-10, CNT-28, CNT-11, CNT-35, MSR-26, FIX-17, MET-02, CNT-30, CNT-45, CNT-06, CNT-16,
 * MSR-28, MSR-41 (claims/requirement.def has their sentences).
 *
 * Given  the same, with a part of the program at CPL 3
 * When   each program runs once
 * Then   each counter has counted the instructions of the levels that it selects; the two
 *        instructions that change the level may count at either level
 * Control: enabled counters have counted the program's events
 */
TEST(random, drawn_programs_at_both_levels_are_counted_as_the_oracle_counts,
     REQS(CNT_01, CNT_02, CNT_39, CNT_40, CNT_41, CNT_42, CNT_03, CNT_04, CNT_05, DLA_13, CNT_12,
	  CNT_44, CNT_10, CNT_28, CNT_11, CNT_35, MSR_26, FIX_17, MET_02, CNT_30, CNT_45, CNT_06,
	  CNT_16, MSR_28, MSR_41),
     NEEDS(need_perfmon, need_instructions, need_branches))
{
	struct session s;

	if (!session_run(t, DRAW_LEVELS, &s))
		return;
	decide_kinds(t, &s);
	decide_reads(t, &s);
}
