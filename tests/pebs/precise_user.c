/* SPDX-License-Identifier: MIT */
/*
 * Precise distribution at CPL 3: SDM "Precise Distribution of Instructions Retired (PDIR)", and
 * PDist of intel/perfmon. tests/pebs/arming.c and tests/adaptive/pdist.c test it at CPL 0.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/cpu.h"
#include "spec/x86.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/pebs/precise_user.h"

#define READER		1u	/* workload_precise reads this counter by RDPMC */
#define NOPS_TRIED	3u	/* the overflow is on each of them in turn */
#define PDIR_PERIOD	192u
#define PDIST_PERIOD	PDIST_LEAST_PERIOD

#define BRANCH		EVENT_BR_INST_RETIRED_ALL_BRANCHES
#define BRANCHES_BEFORE	PRECISE_USER_BRANCHES

/* Run the piece at CPL 3, after so many branches there, while these counters are enabled. The piece
 * reads READER. */
__attribute__((noinline)) void precise_user_run(const struct workload *w, u64 branches,
						struct pmc_mask on)
{
	const u64 cr4 = cr4_read();

	cr4_write(cr4 | CR4_PCE);	/* so that RDPMC works at CPL 3 */
	counters_enable(on);
	if (branches)
		workload_run_user(&workload_branch, branches);
	workload_run_user(w, 0);
	counters_disable();
	cr4_write(cr4);
}

/* Run the NOPs of workload_precise. */
static void run_nops(struct pmc_mask on)
{
	precise_user_run(&workload_precise, 0, on);
}

/* How many events are counted at these levels before the window's first instruction: the counter's
 * value that RDPMC reads, less the instructions of the window before that RDPMC. */
static u64 counted_before(u16 event, u64 levels, struct pmc_mask on)
{
	counter_program(READER, event, levels);
	counter_write(READER, 0);
	run_nops(on);
	counter_program_disabled(READER, 0, 0);
	return (u32)workload_memory()[0] - (PRECISE_READ - 1);
}

/* Measure counted_before() twice. false: the values differ or are larger than a period, and the
 * test is INCONCLUSIVE. */
static bool known_before(struct test *t, u16 event, u64 levels, struct pmc_mask on, u64 *before)
{
	*before = counted_before(event, levels, on);
	if (*before == counted_before(event, levels, on) && *before + PRECISE_FIRST < PDIR_PERIOD)
		return true;
	test_inconclusive(t, "%ld instructions are counted before the window", (long)*before);
	return false;
}

/* Take the record of an overflow after so many instructions. */
static bool take(struct test *t, struct test_claim claim, unsigned counter, u16 event, u64 levels,
		 u64 period, struct pebs_record *record)
{
	struct ds_setup setup = sampling_setup(8);

	ds_open(&setup);
	pebs_arm(counter, event, levels, period);
	run_nops(pmc_or(pmc_one(counter), pmc_one(READER)));
	pebs_disarm();
	counter_program_disabled(counter, 0, 0);
	counters_clear(counters_status());
	return sampling_one_record(t, claim, record);
}

/* Periods are multiples of this, where the processor requires it: another period may make a second
 * record. */
static u64 period_unit(const struct test *t)
{
	struct event pdir;

	return !test_is_strict(t) && event_get(EK_INSTRUCTIONS, EV_PDIR, &pdir) ? pdir.period_unit :
										  1;
}

static u64 nop(u64 period, u64 before)
{
	return workload_mark(&workload_precise, (unsigned)(period - before - PRECISE_FIRST));
}

/*
 * ARM-09  With PDIR (IA32_PMC1, INST_RETIRED.PREC_DIST) the record must name the instruction whose
 *         retirement overflowed the counter.
 *         SDM 18.9.4.4 Precise Distribution of Instructions Retired (PDIR)
 * SKL-09  INST_RETIRED.PREC_DIST must be precise on PMC1: EventingIP is the instruction whose
 *         retirement overflowed the counter.
 *         SDM 18.13.1 6th Generation Intel Core: Processor Event Based Sampling (PEBS) Facility,
 *         Table 18-56, note 1
 *
 * Given  IA32_PMC1 counts INST_RETIRED.PREC_DIST with PEBS at CPL 3, and at every level, over NOPs
 *        at CPL 3 whose addresses are known one by one
 * When   it overflows on a NOP, each of three in turn; on one, where periods must be multiples of a
 *        larger number
 * Then   the record names exactly that NOP
 */
TEST(arm, pdir_record_at_cpl_3_names_the_instruction_that_overflowed, REQS(ARM_09, SKL_09),
     NEEDS(need_perfmon, need_pebs, need_pdir))
{
	static const u64 levels[] = { COUNT_USR, COUNT_BOTH };

	for (unsigned l = 0; l < sizeof(levels) / sizeof(levels[0]); l++) {
		struct pebs_record record;
		u64 before;

		if (!known_before(t, EVENT_INST_RETIRED_PREC_DIST, levels[l], pmc_one(READER),
				  &before))
			return;
		for (u64 period = PDIR_PERIOD; period < PDIR_PERIOD + NOPS_TRIED;
		     period += period_unit(t)) {
			if (!take(t, AT(ARM_09, SKL_09), READER, EVENT_INST_RETIRED_PREC_DIST,
				  levels[l], period, &record))
				return;
			CHECK_RANGE(t, IDS(ARM_09, SKL_09),
				    nop(period, before) - sampling_rdpmc_misses(t),
				    nop(period, before), sampling_ip(&workload_precise, &record),
				    "recorded instruction at CPL 3, overflow on instruction %lu "
				    "of the window, OS and USR %#lx",
				    period - before, levels[l]);
		}
	}
}

/*
 * FIX-12  Fixed counter 0 that overflows on instruction N, 256 at least after its start, must
 *         record that instruction or the next one.
 *         intel/perfmon README: PDist; Linux mailing list: KVM, PEBS for SPR, PDIR++
 *
 * Given  fixed counter 0 with PEBS at CPL 3 over NOPs at CPL 3 whose addresses are known one by one
 * When   it overflows on one of them, 256 instructions after its start and more
 * Then   EventingIP is that NOP or the next one
 */
TEST(adaptive, pdist_record_of_fixed_counter_0_at_cpl_3_is_as_precise, REQS(FIX_12),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_baseline, need_instructions, need_pdist))
{
	struct pmc_mask both = pmc_or(pmc_one(READER), pmc_one(PMC_FIXED(0)));
	struct pebs_record record;
	u64 before;

	if (!known_before(t, EVENT_INST_RETIRED_ANY_P, COUNT_USR, both, &before))
		return;
	for (u64 period = PDIST_PERIOD; period < PDIST_PERIOD + NOPS_TRIED; period++) {
		const u64 first = nop(period, before);

		counter_program(READER, EVENT_INST_RETIRED_ANY_P, COUNT_USR);
		if (!take(t, AT(FIX_12), PMC_FIXED(0), 0, COUNT_USR, period, &record))
			return;
		CHECK_RANGE(t, FIX_12, first - sampling_rdpmc_misses(t), first + 1,
			    sampling_ip(&workload_precise, &record),
			    "EventingIP at CPL 3, overflow %lu instructions after the start",
			    period);
	}
}

/* Branches at CPL 3 before the first marked one, read by RDPMC. */
static u64 branches_before(void)
{
	counter_program(READER, BRANCH, COUNT_USR);
	counter_write(READER, 0);
	precise_user_run(&workload_precise_jumps, BRANCHES_BEFORE, pmc_one(READER));
	counter_program_disabled(READER, 0, 0);
	return (u32)workload_memory()[0];
}

bool precise_user_counted(struct test *t, u64 least, u64 *before)
{
	*before = branches_before();
	if (*before == branches_before() && *before >= least)
		return true;
	test_inconclusive(t, "%lu branches are counted before the marked ones", *before);
	return false;
}

/* The counter overflows at CPL 3 on each of several marked branches in turn. */
static void check_branches(struct test *t, struct test_claim claim, unsigned counter)
{
	u64 before;

	if (!precise_user_counted(t, PDIST_PERIOD, &before))
		return;
	for (unsigned mark = 0; mark < NOPS_TRIED; mark++) {
		struct ds_setup setup = sampling_setup(8);
		struct pebs_record record;

		ds_open(&setup);
		pebs_arm(counter, BRANCH, COUNT_USR, before + 1 + mark);
		precise_user_run(&workload_precise_jumps, BRANCHES_BEFORE, pmc_one(counter));
		pebs_disarm();
		counter_program_disabled(counter, 0, 0);
		counters_clear(counters_status());
		if (!sampling_one_record(t, claim, &record))
			return;
		test_check_eq(t, claim, workload_mark(&workload_precise_jumps, mark),
			      sampling_ip(&workload_precise_jumps, &record),
			      "EventingIP at CPL 3, IA32_PMC%u overflows on branch %u of those "
			      "that are marked",
			      counter, mark);
	}
}

/*
 * FIX-13  IA32_PMC0 that overflows 256 events at least after its start must record the very event
 *         on which it overflowed.
 *         intel/perfmon README: PDist, Precise Distribution
 *
 * Given  branches at CPL 3, the last of them marked, each at a different address
 * When   IA32_PMC0 overflows on a marked one, each of three in turn, more than 256 branches after
 *        its start
 * Then   EventingIP is exactly that one
 */
TEST(adaptive, pdist_record_of_pmc0_at_cpl_3_is_as_precise, REQS(FIX_13),
     NEEDS(need_perfmon, need_baseline, need_branches, need_pdist))
{
	check_branches(t, AT(FIX_13), 0);
}

/*
 * FIX-14  On Crestmont and Skymont IA32_PMC1 that overflows 256 events at least after its start
 *         must record the very event on which it overflowed.
 *         Linux cmt_get_event_constraints: fixed counter 0, IA32_PMC0 and IA32_PMC1
 *
 * Given  branches at CPL 3, the last of them marked, each at a different address
 * When   IA32_PMC1 overflows on a marked one, each of three in turn, more than 256 branches after
 *        its start
 * Then   EventingIP is exactly that one
 */
TEST(adaptive, pdist_record_of_pmc1_at_cpl_3_is_as_precise, REQS(FIX_14),
     NEEDS(need_perfmon, need_baseline, need_branches, need_pdist_of_pmc1))
{
	check_branches(t, AT(FIX_14), 1);
}
