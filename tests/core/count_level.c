/* SPDX-License-Identifier: MIT */
/*
 * Enables and privilege levels of counters that run at the same time, each with its own settings.
 * SDM "Architectural Performance Monitoring Version 1 Facilities" (USR, OS, EN, INV, CMASK),
 * "Version 2" (IA32_FIXED_CTR_CTRL, IA32_PERF_GLOBAL_CTRL).
 */
#include "kernel/interrupt/fault.h"
#include "pmu/counter.h"
#include "spec/event.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/overflow.h"
#include "tests/measure/window.h"

#define FEWER	10
#define MORE	90
#define LONG                                                                           \
	4000 /* rounds of many more cycles than a way down to CPL 3 and back, and than \
	      * the slow clock of fixed counter 2 needs for a step (tests/measure/overflow.h) */
#define LEVELS 4

static const u64 levels[LEVELS] = { COUNT_OS, COUNT_USR, COUNT_BOTH, 0 };

static u64 declared(u64 rounds)
{
	return workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, rounds);
}

/* Run work at CPL 3 and read these counters, with their present settings. */
static void count_user(struct pmc_mask on, u64 rounds, u64 value[WINDOW_COUNTERS])
{
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (on.bits & BIT(c))
			counter_write(c, 0);
	counters_enable(on);
	workload_run_user(&workload_load, rounds);
	counters_disable();
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		value[c] = on.bits & BIT(c) ? counter_read(c) : 0;
}

/* Run the work at CPL 0. */
static void count_kernel(struct pmc_mask on, u64 rounds, u64 value[WINDOW_COUNTERS])
{
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (on.bits & BIT(c))
			counter_write(c, 0);
	workload_run(&workload_load, rounds, on);
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		value[c] = on.bits & BIT(c) ? counter_read(c) : 0;
}

static void check_side_by_side(struct test *t, unsigned turn)
{
	struct pmc_mask on = counters_gp();
	u64 user[2][WINDOW_COUNTERS], kernel[2][WINDOW_COUNTERS];
	u64 more = declared(MORE) - declared(FEWER), far = window_far_slack(t);

	FOR_EACH_COUNTER (c, counters_gp().bits)
		counter_program(c, EVENT_INST_RETIRED_ANY_P, levels[(c + turn) % LEVELS]);
	for (unsigned k = 0; k < 2; k++) {
		count_user(on, k ? MORE : FEWER, user[k]);
		count_kernel(on, k ? MORE : FEWER, kernel[k]);
	}
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		u64 level = levels[(c + turn) % LEVELS];
		bool os = level & COUNT_OS, usr = level & COUNT_USR;

		if (level_counts_despite_errata(t, c, level))
			CHECK_RANGE(t, CNT_10, usr ? more : 0, (usr ? more : 0) + 2 * far,
				    user[1][c] - user[0][c] + far,
				    "80 more rounds at CPL 3, and %lu, IA32_PMC%u with OS = %u "
				    "USR = %u beside others",
				    far, c, os, usr);
		CHECK_EQ(t, CNT_10, os ? more : 0, kernel[1][c] - kernel[0][c],
			 "80 more rounds at "
			 "CPL 0, IA32_PMC%u with OS = %u USR = %u beside others",
			 c, os, usr);
	}
}

/*
 * CNT-10  A counter must count only at the privilege levels that its OS and USR bits select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: USR, OS
 *
 * Given  the general-purpose counters at the same time, each with another value of OS and USR, in
 *        four turns
 * When   all count the same work at CPL 3 and at CPL 0, in FEWER and in MORE rounds
 * Then   each count grows by the declared instructions at a level that its own bits select, and by
 *        none at another
 */
TEST(count, each_general_purpose_counter_has_privilege_levels_of_its_own, REQS(CNT_10),
     NEEDS(need_perfmon, need_instructions, need_two_counters), .under_every_fault = true)
{
	for (unsigned turn = 0; turn < LEVELS; turn++)
		check_side_by_side(t, turn);
}

/* Check one of three fixed counters that count together. Cycles of the transitions to CPL 3 and
 * back are counted with OS. */
static void check_fixed(struct test *t, unsigned i, u64 level, u64 few, u64 many)
{
	bool os = level & COUNT_OS, usr = level & COUNT_USR;
	u64 more = usr ? declared(LONG) - declared(FEWER) : 0, slack;

	if (!level)
		CHECK_EQ(t, CNT_28, 0, many, "fixed counter %u, enable 0, while others count", i);
	else if (i == 0) {
		slack = window_slack(t, PMC_FIXED(0)) + window_far_slack(t);
		CHECK_RANGE(t, CNT_28, more, more + 2 * slack, many - few + slack,
			    "instructions of %u more rounds at CPL 3, and %lu, OS = %u USR = %u",
			    LONG - FEWER, slack, os, usr);
	} else if (usr)
		CHECK_RANGE(t, CNT_28, LONG / 8, ~0ULL, many,
			    "fixed counter %u, OS = %u USR = 1, "
			    "over %u rounds at CPL 3",
			    i, os, LONG);
}

/*
 * CNT-28  A fixed counter must count only at the privilege levels that its two enable bits select.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  the fixed counters at the same time, each with another enable, in four turns; cycles of
 *        the transitions to CPL 3 and back are cycles of OS
 * When   all count the same work at CPL 3, FEWER and LONG rounds
 * Then   one with enable 0 counts nothing. With USR fixed counter 0 grows by the declared
 *        instructions, and the others by at least an eighth of LONG
 */
TEST(count, each_fixed_counter_has_privilege_levels_of_its_own, REQS(CNT_28),
     NEEDS(need_perfmon, need_fixed_0_to_2))
{
	struct pmc_mask on = counters_fixed();
	u64 few[WINDOW_COUNTERS], many[WINDOW_COUNTERS];

	for (unsigned turn = 0; turn < LEVELS; turn++) {
		FOR_EACH_COUNTER (i, on.bits >> PMC_FIXED(0))
			counter_program(PMC_FIXED(i), 0, levels[(i + turn) % LEVELS]);
		count_user(on, FEWER, few);
		count_user(on, LONG, many);
		FOR_EACH_COUNTER (i, on.bits >> PMC_FIXED(0))
			check_fixed(t, i, levels[(i + turn) % LEVELS], few[PMC_FIXED(i)],
				    many[PMC_FIXED(i)]);
	}
}

/*
 * CNT-28  A fixed counter must count only at the privilege levels that its two enable bits select.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  LONG rounds at CPL 3, and the transitions to CPL 3 and back, which count at CPL 0
 * When   the fixed counters of cycles count with enable 1 (OS), and with enable 2 (any ring above
 *        0)
 * Then   with 2 they count at least twice what they count with 1
 * Control: with 1 they count the cycles of the transitions
 */
TEST(count, fixed_counters_of_cycles_count_at_the_selected_level_only, REQS(CNT_28),
     NEEDS(need_perfmon, need_fixed_0_to_2))
{
	struct pmc_mask on = counters_fixed();
	u64 os[WINDOW_COUNTERS], usr[WINDOW_COUNTERS];

	FOR_EACH_COUNTER (i, on.bits >> PMC_FIXED(0))
		counter_program(PMC_FIXED(i), 0, COUNT_OS);
	count_user(on, LONG, os);
	FOR_EACH_COUNTER (i, on.bits >> PMC_FIXED(0))
		counter_program(PMC_FIXED(i), 0, COUNT_USR);
	count_user(on, LONG, usr);
	FOR_EACH_COUNTER (i, on.bits >> PMC_FIXED(1) << 1) {
		u64 way = os[PMC_FIXED(i)];

		CONTROL_RANGE(t, CNT_28, 1, ~0ULL, way,
			      "fixed counter %u, enable 1 (OS), on the way to CPL 3 and back", i);
		CHECK_RANGE(t, CNT_28, 2 * way, ~0ULL, usr[PMC_FIXED(i)],
			    "fixed counter %u, enable 2 (any ring above 0), over %u rounds at CPL "
			    "3; enable 1 counted %lu of the same",
			    i, LONG, way);
	}
}

/*
 * CNT-10  A counter must count only at the privilege levels that its OS and USR bits select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: USR, OS
 * CNT-08  With INV set and CMASK = n > 0 a counter must count the cycles in which fewer than n
 *         events occurred.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: INV
 *
 * Given  LONG rounds at CPL 3; a CMASK that no cycle reaches with INV, which counts every cycle
 * When   each general-purpose counter counts with USR alone, and with OS alone
 * Then   with USR alone it counts LONG / 8 cycles or more, with OS alone at most half of that
 */
TEST(count, inverted_condition_counts_cycles_of_the_selected_level_only, REQS(CNT_10, CNT_08),
     NEEDS(need_perfmon, need_instructions))
{
	const u64 inverted = COUNT_CMASK(255) | COUNT_INV;
	u64 os[WINDOW_COUNTERS], usr[WINDOW_COUNTERS];

	FOR_EACH_COUNTER (c, counters_gp().bits)
		counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_OS | inverted);
	count_user(counters_gp(), LONG, os);
	FOR_EACH_COUNTER (c, counters_gp().bits)
		counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_USR | inverted);
	count_user(counters_gp(), LONG, usr);
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		if (!level_counts_despite_errata(t, c, COUNT_USR))
			continue;
		CHECK_RANGE(t, CNT_08, LONG / 8, ~0ULL, usr[c],
			    "cycles with fewer than 255 instructions at CPL 3, IA32_PMC%u", c);
		CHECK_RANGE(t, CNT_10, 0, usr[c] / 2, os[c],
			    "the same with OS = 1 USR = 0, IA32_PMC%u", c);
	}
}

/* ---- enables ---- */

/*
 * CNT-11  A counter must count only while both its own enable and its bit of IA32_PERF_GLOBAL_CTRL
 *         are set.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  each general-purpose counter, its bit of IA32_PERF_GLOBAL_CTRL on all the time
 * When   the workload runs with EN = 0, with EN = 1, and with EN = 0 again
 * Then   the count stays 0, and stays at what it has reached once EN is cleared
 * Control: with EN = 1 it counts the workload's instructions
 */
TEST(count, event_select_enable_acts_while_the_global_enable_is_on, REQS(CNT_11),
     NEEDS(need_perfmon, need_instructions))
{
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		u64 off, on, stopped;

		counter_program_disabled(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
		counter_write(c, 0);
		counters_enable(pmc_one(c));
		workload_run_uncounted(&workload_load, FEWER);
		off = counter_read(c);
		counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
		workload_run_uncounted(&workload_load, FEWER);
		counter_program_disabled(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
		on = counter_read(c);
		workload_run_uncounted(&workload_load, FEWER);
		stopped = counter_read(c);
		counters_disable();
		CHECK_EQ(t, CNT_11, 0, off, "IA32_PMC%u, EN = 0, its global enable on", c);
		CONTROL_RANGE(t, CNT_11, declared(FEWER), ~0ULL, on,
			      "IA32_PMC%u, EN set while its global enable is on", c);
		CHECK_EQ(t, CNT_11, on, stopped,
			 "IA32_PMC%u after EN was cleared while its global enable is on", c);
	}
}

/*
 * CNT-11  A counter must count only while both its own enable and its bit of IA32_PERF_GLOBAL_CTRL
 *         are set.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  each fixed counter, its bit of IA32_PERF_GLOBAL_CTRL on all the time
 * When   the workload runs with its enable field 0, 3, and 0 again
 * Then   the count stays 0, and stays at what it has reached once the field is cleared
 * Control: with 3 it counts
 */
TEST(count, fixed_enable_acts_while_the_global_enable_is_on, REQS(CNT_11),
     NEEDS(need_perfmon, need_fixed_0_to_2))
{
	FOR_EACH_COUNTER (c, counters_fixed().bits) {
		unsigned i = c - PMC_FIXED(0);
		u64 off, on, stopped;

		counter_program_disabled(c, 0, COUNT_BOTH);
		counter_write(c, 0);
		counters_enable(pmc_one(c));
		workload_run_uncounted(&workload_load, LONG);
		off = counter_read(c);
		counter_program(c, 0, COUNT_BOTH);
		workload_run_uncounted(&workload_load, LONG);
		counter_program_disabled(c, 0, COUNT_BOTH);
		overflow_slow_update();
		on = counter_read(c);
		workload_run_uncounted(&workload_load, LONG);
		stopped = counter_read(c);
		counters_disable();
		CHECK_EQ(t, CNT_11, 0, off, "fixed counter %u, enable 0, its global enable on", i);
		CONTROL_RANGE(t, CNT_11, 1, ~0ULL, on,
			      "fixed counter %u, enabled while its global enable is on", i);
		CHECK_EQ(t, CNT_11, on, stopped,
			 "fixed counter %u after its enable was cleared again", i);
	}
}

/* Enable every counter except one by both enables: they must count, and the one must not. */
static void check_left_out(struct test *t, unsigned left_out, const char *name)
{
	struct pmc_mask all = pmc_or(counters_gp(), counters_fixed());
	u64 value[WINDOW_COUNTERS];

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(all.bits & BIT(c)))
			continue;
		counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
		counter_write(c, 0);
	}
	workload_run(&workload_load, LONG, (struct pmc_mask){ all.bits & ~BIT(left_out) });
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		value[c] = all.bits & BIT(c) ? counter_read(c) : 0;
	CHECK_EQ(t, CNT_11, 0, value[left_out],
		 "%s with its own enable, while every other counter counts", name);
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (all.bits & BIT(c) && c != left_out)
			CONTROL_RANGE(t, CNT_11, 1, ~0ULL, value[c],
				      "the counter of bit %u with both enables", c);
}

/*
 * CNT-11  A counter must count only while both its own enable and its bit of IA32_PERF_GLOBAL_CTRL
 *         are set.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  all counters with their own enable; all but one with that of IA32_PERF_GLOBAL_CTRL; each
 *        is left out once
 * When   LONG rounds are counted
 * Then   the one that is left out counts nothing
 * Control: every other one counts
 */
TEST(count, counter_without_its_global_enable_stands_beside_others, REQS(CNT_11),
     NEEDS(need_perfmon, need_instructions))
{
	char gp[] = "IA32_PMC0", fixed[] = "fixed counter 0";

	FOR_EACH_COUNTER (c, counters_gp().bits & BITS(0, 9)) {
		gp[sizeof(gp) - 2] = (char)('0' + c);
		check_left_out(t, c, gp);
	}
	FOR_EACH_COUNTER (c, counters_fixed().bits) {
		fixed[sizeof(fixed) - 2] = (char)('0' + c - PMC_FIXED(0));
		check_left_out(t, c, fixed);
	}
}

#define PRESET	0x12340000UL
#define FIELD	4	/* bits of IA32_FIXED_CTR_CTRL that a fixed counter has */

/*
 * CNT-21  A stopped counter must keep its value.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: EN
 * CNT-44  A counter must go on counting from the value written to it while it was stopped.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  fixed counters with values that differ, IA32_PERF_GLOBAL_CTRL = 0
 * When   each enable field is written with each of its values; then all are enabled, and LONG
 *        rounds are counted
 * Then   no write changes a count, and each goes on from its value
 */
TEST(count, writing_the_fixed_control_keeps_every_fixed_count, REQS(CNT_21, CNT_44),
     NEEDS(need_perfmon, need_fixed_0_to_2))
{
	const u64 all = counter_caps()->fixed_mask;

	FOR_EACH_COUNTER (i, all)
		counter_write(PMC_FIXED(i), PRESET + i);
	FOR_EACH_COUNTER (field, all)
		for (unsigned enable = 0; enable < 4; enable++) {
			msr_write(MSR_IA32_FIXED_CTR_CTRL, (u64)enable << FIELD * field);
			FOR_EACH_COUNTER (i, all)
				CHECK_EQ(t, CNT_21, PRESET + i, counter_read(PMC_FIXED(i)),
					 "fixed counter %u after writing %u to the enable field of "
					 "fixed "
					 "counter %u",
					 i, enable, field);
		}
	FOR_EACH_COUNTER (i, all)
		counter_program(PMC_FIXED(i), 0, COUNT_BOTH);
	workload_run(&workload_load, LONG, (struct pmc_mask){ all << PMC_FIXED(0) });
	/* From 4 on they count slots of bad speculation and similar events, which may not occur. */
	FOR_EACH_COUNTER (i, all)
		CHECK_RANGE(t, CNT_44, PRESET + i + (i < 4), PRESET + i + 1000000,
			    counter_read(PMC_FIXED(i)), "fixed counter %u, going on from %#lx", i,
			    PRESET + i);
}

/* What RDMSR and RDPMC have read while the counters ran, added up. */
struct sums {
	u64 by_rdmsr, by_rdpmc;
};

/* Read all counters except one while they run; one write starts them all and one stops them all.
 * Are the counts equal? */
static bool read_while_counting(unsigned unread, u64 read[WINDOW_COUNTERS], struct sums *sums)
{
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
		counter_write(c, 0);
	}
	counters_enable(counters_gp());
	FOR_EACH_COUNTER (c, counters_gp().bits)
		for (unsigned i = 0; i <= c && c != unread; i++) {
			sums->by_rdmsr += msr_read(MSR_IA32_PMC0 + c);
			sums->by_rdpmc += rdpmc(c);
		}
	counters_disable();
	FOR_EACH_COUNTER (c, counters_gp().bits)
		read[c] = counter_read(c);
	return window_are_equal(counters_gp(), read);
}

static void check_reads(struct test *t, unsigned unread)
{
	/* A host may take one of a guest's counters for a while. */
	const unsigned most = window_host_may_take_counters(t) ? WINDOW_GUEST_TRIES : 1;
	struct sums sums = { 0, 0 };
	u64 read[WINDOW_COUNTERS];

	for (unsigned i = 0; i < most; i++)
		if (read_while_counting(unread, read, &sums))
			break;
	CONTROL_RANGE(t, CNT_22, 1, ~0ULL, sums.by_rdmsr, "what RDMSR reads meanwhile, added up");
	CONTROL_RANGE(t, CNT_22, 1, ~0ULL, sums.by_rdpmc, "what RDPMC reads meanwhile, added up");
	FOR_EACH_COUNTER (c, counters_gp().bits)
		if (c != unread)
			CHECK_EQ(t, CNT_22, read[unread], read[c],
				 "IA32_PMC%u, read %u times while it ran, against IA32_PMC%u, not "
				 "read",
				 c, 2 * (c + 1), unread);
}

/*
 * CNT-22  Counters of one event that are all started and stopped by single writes of
 *         IA32_PERF_GLOBAL_CTRL must hold equal counts.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2; that counters of one event
 *         agree to the unit is read into it
 *
 * Given  all general-purpose counters count instructions, and start and stop by the same writes
 * When   each but one is read by RDMSR and RDPMC while they run, each another number of times
 * Then   each has counted as much as the one that isn't read
 * Control: the values read aren't all 0
 */
TEST(count, reading_a_running_counter_changes_no_count, REQS(CNT_22),
     NEEDS(need_perfmon, need_instructions, need_two_counters))
{
	check_reads(t, counter_last());
	check_reads(t, 0);
}
