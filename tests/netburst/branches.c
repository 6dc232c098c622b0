/* SPDX-License-Identifier: MIT */
/*
 * Retired branches of every kind, and whether they were predicted: SDM Table 19-29 (branch_retired,
 * mispred_branch_retired), Table 19-33 (tagged_mispred_branch), Table 19-28 (retired_branch_type).
 * A program can't know which branches are mispredicted, so two counters count the same branches.
 */
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"

#define TAKEN		(NB_BRANCH_RETIRED_MMTP | NB_BRANCH_RETIRED_MMTM)
#define MISPREDICTED	(NB_BRANCH_RETIRED_MMNM | NB_BRANCH_RETIRED_MMTM)
#define PREDICTED	(NB_BRANCH_RETIRED_MMNP | NB_BRANCH_RETIRED_MMTP)
#define ROUNDS		800u		/* of workload_random */
#define FEW		(ROUNDS / 8)	/* branches around a piece; mispredicted are more */
#define NEARLY		4u		/* within a quarter */

static struct netburst_setting branches(unsigned counter, u32 mask)
{
	return (struct netburst_setting){
		.counter = counter, .event = NB_EVENT_BRANCH_RETIRED, .mask = mask,
		.levels = netburst_both(netburst_thread()),
	};
}

static struct netburst_setting mispredicted(unsigned counter, u64 levels)
{
	return (struct netburst_setting){
		.counter = counter, .event = NB_EVENT_MISPRED_BRANCH_RETIRED,
		.mask = NB_MISPRED_BRANCH_RETIRED_NBOGUS, .levels = levels,
	};
}

/* Count two settings over one window of random branches. */
static void count_random(const struct netburst_setting *a, const struct netburst_setting *b,
			 u64 value[2])
{
	const struct netburst_setting *const s[2] = { a, b };

	for (unsigned i = 0; i < 2; i++) {
		netburst_program(s[i]);
		netburst_write(s[i]->counter, 0);
	}
	for (unsigned i = 0; i < 2; i++)
		netburst_start(s[i]->counter);
	workload_run_uncounted(&workload_random, ROUNDS);
	for (unsigned i = 0; i < 2; i++)
		netburst_stop(s[i]->counter);
	for (unsigned i = 0; i < 2; i++)
		value[i] = netburst_read(s[i]->counter);
}

/*
 * NB-43  Branch_retired must count retired branches by whether they are taken and predicted, and
 *        mispred_branch_retired those that are not predicted.
 *        SDM Table 19-29
 *
 * Given  counters 12 and 14, one of branch_retired with MMTP and MMNP, the other with MMTM and
 *        MMNM
 * When   a workload runs with two branches a round, one of which is random, 800 rounds
 * Then   their sum is the number of all branches, plus at most some around the workload: each
 *        branch is either predicted or mispredicted
 * Control: there are mispredicted branches, at least one in eight rounds
 */
TEST(netburst, each_branch_is_either_predicted_or_mispredicted, REQS(NB_43), NEEDS(need_netburst),
     .under_every_fault = true)
{
	const u64 all = workload_declared(&workload_random, WORKLOAD_BRANCHES, ROUNDS);

	for (unsigned swap = 0; swap < 2; swap++) {
		const struct netburst_setting first = branches(NB_IQ_COUNTER0,
							       swap ? MISPREDICTED : PREDICTED);
		const struct netburst_setting second = branches(NB_IQ_COUNTER2,
								swap ? PREDICTED : MISPREDICTED);
		u64 value[2];

		count_random(&first, &second, value);
		CONTROL_RANGE(t, NB_43, FEW, all, value[!swap], "mispredicted ones by counter %u",
			      swap ? first.counter : second.counter);
		CHECK_RANGE(t, NB_43, all, all + FEW, value[0] + value[1],
			    "branches, predicted ones by counter %u and mispredicted ones",
			    swap ? second.counter : first.counter);
	}
}

/*
 * NB-43  Branch_retired must count retired branches by whether they are taken and predicted, and
 *        mispred_branch_retired those that are not predicted.
 *        SDM Table 19-29
 * NB-36  Replay_event must count what the metric's bits select.
 *        SDM Table 19-33
 *
 * Given  counter 14 of branch_retired with MMTM and MMNM; counter 12 of mispred_branch_retired,
 *        and then of tagged_mispred_branch
 * When   a workload runs with two branches a round, one of which is random, 800 rounds
 * Then   the second counts the same number as the first, within a quarter
 * Control: there are mispredicted branches, at least one in eight rounds
 */
TEST(netburst, three_events_agree_on_mispredicted_branches, REQS(NB_43, NB_36),
     NEEDS(need_netburst))
{
	const struct netburst_setting by_mask = branches(NB_IQ_COUNTER2, MISPREDICTED);
	const u64 own = netburst_both(netburst_thread());
	struct netburst_setting s = mispredicted(NB_IQ_COUNTER0, own);
	u64 value[2];

	count_random(&s, &by_mask, value);
	CONTROL_RANGE(t, NB_43, FEW, ~0ULL, value[1], "mispredicted ones by branch_retired");
	CHECK_RANGE(t, NB_43, value[1] - value[1] / NEARLY, value[1] + value[1] / NEARLY, value[0],
		    "mispred_branch_retired, %lu by branch_retired", value[1]);
	s = netburst_metric(NB_METRIC_TAGGED_MISPRED_BRANCH, NB_IQ_COUNTER0, own, 0);
	count_random(&s, &by_mask, value);
	CONTROL_RANGE(t, NB_36, FEW, ~0ULL, value[1], "mispredicted ones by branch_retired");
	CHECK_RANGE(t, NB_36, value[1] - value[1] / NEARLY, value[1] + value[1] / NEARLY, value[0],
		    "tagged_mispred_branch, %lu by branch_retired", value[1]);
}

/*
 * NB-01  A thread-specific at-retirement event must be counted only on a logical processor whose
 *        OS or USR flag in the ESCR matches its CPL.
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-66
 *
 * Given  mispred_branch_retired on each counter of the IQ group, with the USR flag of this thread
 *        alone, or with no flag
 * When   a workload runs with two branches a round, one of which is random at CPL 0
 * Then   nothing is counted
 * Control: with the OS flag alone at least one in eight rounds is counted
 */
TEST(netburst, mispred_branch_retired_goes_by_the_flags_of_its_escr, REQS(NB_01),
     NEEDS(need_netburst))
{
	const u64 own = netburst_both(netburst_thread());
	const u64 os = own & (NB_ESCR_T0_OS | NB_ESCR_T1_OS);

	for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++) {
		struct netburst_setting s = mispredicted(c, os);

		CONTROL_RANGE(t, NB_01, FEW, ~0ULL,
			      netburst_count(&s, &workload_random, ROUNDS, false),
			      "mispredicted ones by counter %u, OS flag", c);
		for (unsigned i = 0; i < 2; i++) {
			s.levels = i ? own & ~os : 0;
			CHECK_EQ(t, NB_01, 0,
				 netburst_count(&s, &workload_random, ROUNDS, false),
				 "mispredicted ones by counter %u, %s", c,
				 i ? "USR flag" : "no flag");
		}
	}
}

/* Pieces with calls and returns, and with a call and a jump to the address in a register. */
static const struct workload *const pieces[] = { &workload_call, &workload_kind_indirect };
#define PIECES (sizeof(pieces) / sizeof(pieces[0]))

/*
 * NB-43
 *
 * Given  branch_retired on each counter of the IQ group, with all four bits of its mask, and with
 *        those of taken ones, MMTP and MMTM
 * When   workloads of calls and returns, and of indirect calls and jumps, run 20 rounds and 60
 * Then   the two windows differ by the branches, or the taken ones, of 40 rounds
 */
TEST(netburst, branch_retired_counts_calls_returns_and_indirect_branches, REQS(NB_43),
     NEEDS(need_netburst))
{
	for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++)
		for (unsigned i = 0; i < PIECES; i++) {
			const struct netburst_setting all = branches(c, PREDICTED | MISPREDICTED);
			const struct netburst_setting taken = branches(c, TAKEN);

			CHECK_EQ(t, NB_43, netburst_declared(pieces[i], WORKLOAD_BRANCHES),
				 netburst_gain(&all, pieces[i], false),
				 "branch_retired of %s, all bits, counter %u", pieces[i]->name, c);
			CHECK_EQ(t, NB_43, netburst_declared(pieces[i], WORKLOAD_TAKEN),
				 netburst_gain(&taken, pieces[i], false),
				 "branch_retired of %s, MMTP and MMTM, counter %u", pieces[i]->name,
				 c);
		}
}
