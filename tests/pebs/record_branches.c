/* SPDX-License-Identifier: MIT */
/*
 * Records of branches of each kind: the target of the branch. SDM "Processor Event Based Sampling
 * (PEBS)", "Data Address Profiling, EventingIP"; Linux setup_pebs_adaptive_sample_data. The targets
 * are known from single-stepping the same code (tests/measure/step.h).
 */
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/measure/step.h"

#define ROUNDS	320u	/* of each piece */
#define RECORDS	16u
#define STEPPED	64u	/* rounds; each conditional branch goes both ways in them */

/* Jumps, taken and not taken; calls and returns; returns with a number; far returns; IRETQ. */
static const struct workload *const pieces[] = {
	&workload_branch, &workload_call, &workload_mixed, &workload_kind_return_pop,
	&workload_kind_far_return, &workload_kind_iretq,
};

/* Neighbouring periods: if branches alternate, each of them is recorded. */
static const u64 periods[] = { 33, 34, 35 };

static void take_records(unsigned c, const struct workload *w, u64 period)
{
	struct ds_setup setup = sampling_setup(RECORDS);

	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		setup.reset[i] = pebs_reset_value(0, period);
	setup.threshold = RECORDS + 1;
	ds_open(&setup);
	pebs_arm(c, sampling_event(EK_BRANCHES), COUNT_BOTH, period);
	workload_run(w, ROUNDS, pmc_one(c));
	pebs_disarm();
	counter_program_disabled(c, 0, 0);
	counters_clear(BIT(c));
}

/* Check only the records of the piece's branches; other code runs before and after it. */
static unsigned check_records(struct test *t, struct test_claim claim, const struct workload *w,
			      const struct step_branches *went)
{
	const enum record_format format = counter_caps()->record_format;
	unsigned judged = 0, of_the_end = 0;

	for (unsigned i = 0; i < ds_records(); i++) {
		struct pebs_record record;
		u64 from, to;

		record_decode(format, ds_record(i), record_size(format), &record);
		from = sampling_field(&record, RECORD_eventing_ip);
		to = sampling_field(&record, RECORD_rip);
		if (!step_is_branch(went, from))
			continue;
		judged++;
		of_the_end += step_times(went, from, to) == 1;
		test_check(t, claim, step_times(went, from, to), "it went there",
			   "R/EIP %#lx of record %u, of the branch %#lx of piece %s", to, i, from,
			   w->name);
	}
	test_check_range(t, claim, 0, 1, of_the_end,
			 "records of branches of piece %s that went where one goes once in a run",
			 w->name);
	return judged;
}

/*
 * REC-03  The RIP field must be the address of the instruction after the one that caused the
 *         assist.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 * ADP-21  RIP of the GPR group must be the address of the instruction executed after the one that
 *         EventingIP names: for a taken branch its target.
 *         Linux setup_pebs_adaptive_sample_data
 *
 * Given  loops with jumps, conditional branches, calls, returns, returns with a number, far returns
 *        and IRETQ, single-stepped first
 * When   IA32_PMC0 to IA32_PMC3 make records of branches, every 33rd, 34th and 35th
 * Then   R/EIP of each is a target that single-stepping has shown for the branch that EventingIP
 *        names; at most one record of a run has the target of the loop's last branch at the loop's
 *        end
 * Control: there are records of the loop's branches
 */
TEST(record, next_address_of_each_kind_of_branch_is_where_it_went, REQS(REC_03, ADP_21),
     NEEDS(need_perfmon, need_four_counters, need_branches, need_pebs, need_eventing_ip,
	   need_events))
{
	const struct test_claim claim = counter_caps()->record_format == RECORD_ADAPTIVE ?
						AT(ADP_21) :
						AT(REC_03);
	static struct step_branches went;

	if (!HARNESS_CHECK(t, sampling_event(EK_BRANCHES), "a precise event of branches"))
		return;
	for (unsigned p = 0; p < sizeof(pieces) / sizeof(pieces[0]); p++) {
		unsigned judged = 0;

		step_branches(pieces[p], STEPPED, &went);
		for (unsigned i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
			take_records((p + i) % PEBS_COUNTERS, pieces[p], periods[i]);
			sampling_want(t, 1);
			judged += check_records(t, claim, pieces[p], &went);
		}
		test_check_range(t, test_control(claim), 1, ~0ULL, judged,
				 "records of branches of piece %s", pieces[p]->name);
	}
}
