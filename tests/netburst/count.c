/* SPDX-License-Identifier: MIT */
/*
 * NetBurst's registers and counting: SDM "ESCR MSRs", "Performance Counters", "CCCR MSRs", Table
 * 18-63, Table 19-29. Qualification by thread is in thread.c. Of the events that aren't about
 * retirement, one for each group of counters is used.
 */
#include "kernel/processor/cpuid.h"
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/memory/string.h"
#include "pmu/netburst/caps.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"

#define PATTERN		0xa5c3961e78ULL		/* 40 bits */
#define ONES		0xffffffffffULL		/* "40-bit" counters */
#define STEP		0x0101010101ULL		/* between the values of two counters */
#define UOP_TAG		24u			/* the highest bit of MSR_PEBS_ENABLE here */
#define BELOW		20u			/* events before a wrap, in the first try */
#define CALL_AROUND	100u			/* most instructions around a piece */
#define RANDOM_ROUNDS	200u
#define RANDOM_BRANCHES	2u			/* branches in a round of workload_random */
#define FEW		(RANDOM_ROUNDS / 8)

#define BRANCHES_NOT_TAKEN	(NB_BRANCH_RETIRED_MMNP | NB_BRANCH_RETIRED_MMNM)
#define BRANCHES_TAKEN		(NB_BRANCH_RETIRED_MMTP | NB_BRANCH_RETIRED_MMTM)
#define BRANCHES_MISPREDICTED	(NB_BRANCH_RETIRED_MMNM | NB_BRANCH_RETIRED_MMTM)
#define BRANCHES_ALL		(BRANCHES_NOT_TAKEN | BRANCHES_TAKEN)

/* Does this processor have the bits of this field row? */
static bool is_there(enum netburst_present present, bool extended)
{
	if (present == NB_EXTENDED)
		return extended;
	return present != NB_HT_ONLY || netburst_caps()->threads;
}

/* The defined bits of a kind of register, from the field rows. */
static u64 fields_of(const char *kind, bool extended)
{
	static const struct {
		const char *reg;
		u64 bits;
		enum netburst_present present;
	} rows[] = {
#define NB_FIELD(reg, field, lo, hi, present, source) { #reg, BITS(lo, hi), (present) },
#include "spec/netburst.def"
	};
	u64 all = 0;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].reg, kind) && is_there(rows[i].present, extended))
			all |= rows[i].bits;
	return all;
}

static u64 cccr_fields(bool extended)
{
	return fields_of("CCCR", extended);
}

static u64 escr_fields(void)
{
	return fields_of("ESCR", false);
}

static const struct {
	const char *name;
	u32 address;
	u8 select, pool;
} escrs[] = {
#define NB_ESCR(name, address, select, pool, source) { "MSR_" #name, (address), (select), (pool) },
#include "spec/netburst.def"
};
#define ESCRS (sizeof(escrs) / sizeof(escrs[0]))

static const struct {
	const char *name, *cccr;
	u32 cccr_address;
	u8 pool;
	bool extended;
} cccrs[] = {
#define NB_COUNTER(name, number, address, cccr, cccr_address, pool, alternate, extended, source) \
	{ "MSR_" #name, "MSR_" #cccr, (cccr_address), (pool), (extended) != NB_NONE },
#include "spec/netburst.def"
};

/*
 * NB-30  Each counter, CCCR and ESCR must keep what is written to its defined bits.
 *        SDM 18.15.1 ESCR MSRs, 18.15.3 CCCR MSRs, Table 18-63
 *
 * Given  every ESCR and every CCCR of Table 18-63, nothing enabled
 * When   four patterns are written to their defined bits, and then the enable flag of each CCCR,
 *        whose ESCR selects nothing
 * Then   each register reads back what was written; without Hyper-Threading bits 17:16 of a CCCR
 *        "must be set to 11B"
 */
TEST(msr, netburst_escrs_and_cccrs_keep_every_defined_bit, REQS(NB_30), NEEDS(need_netburst))
{
	static const u64 patterns[] = { ~0ULL, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 0 };

	/* Only CCCRs without ENABLE are written, so nothing begins to count. */
	for (unsigned p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		for (unsigned i = 0; i < ESCRS; i++)
			msr_write(escrs[i].address, patterns[p] & escr_fields());
		for (unsigned i = 0; i < ESCRS; i++)
			CHECK_EQ(t, NB_30, patterns[p] & escr_fields(), msr_read(escrs[i].address),
				 "%s reads back", escrs[i].name);
		for (unsigned i = 0; i < ESCRS; i++)
			msr_write(escrs[i].address, 0);
		for (unsigned i = 0; i < NB_COUNTERS; i++) {
			u64 value = patterns[p] & cccr_fields(cccrs[i].extended) & ~NB_CCCR_ENABLE;

			if (!netburst_caps()->threads)	/* "must be set to 11B" */
				value |= NB_CCCR_ACTIVE_THREAD;
			msr_write(cccrs[i].cccr_address, value);
			CHECK_EQ(t, NB_30, value, msr_read(cccrs[i].cccr_address), "%s reads back",
				 cccrs[i].cccr);
			msr_write(cccrs[i].cccr_address, NB_CCCR_ACTIVE_THREAD);
		}
	}
	/* Set ENABLE, with an ESCR that selects nothing. */
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		msr_write(cccrs[i].cccr_address, NB_CCCR_ACTIVE_THREAD | NB_CCCR_ENABLE);
		CHECK_EQ(t, NB_30, NB_CCCR_ACTIVE_THREAD | NB_CCCR_ENABLE,
			 msr_read(cccrs[i].cccr_address), "%s reads back with its enable flag",
			 cccrs[i].cccr);
		msr_write(cccrs[i].cccr_address, NB_CCCR_ACTIVE_THREAD);
	}
}

static u64 own_cccr(unsigned i)
{
	return NB_CCCR_ACTIVE_THREAD | ((i + 1) & 0xf) << NB_CCCR_THRESHOLD_SHIFT |
	       (i + 1) >> 4 << NB_CCCR_ESCR_SELECT_SHIFT;
}

static u64 own_escr(unsigned i)
{
	return (i + 1) * 0x01010101ULL & escr_fields();
}

static void check_own(struct test *t, u64 enable, u64 matrix)
{
	for (unsigned i = 0; i < ESCRS; i++)
		CHECK_EQ(t, NB_30, own_escr(i), msr_read(escrs[i].address),
			 "%s, all registers written", escrs[i].name);
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		CHECK_EQ(t, NB_30, own_cccr(i), msr_read(cccrs[i].cccr_address),
			 "%s, all registers written", cccrs[i].cccr);
		CHECK_EQ(t, NB_30, PATTERN + STEP * i, netburst_read(i),
			 "%s, all registers written", cccrs[i].name);
	}
	CHECK_EQ(t, NB_48, enable, msr_read(MSR_NB_PEBS_ENABLE),
		 "MSR_PEBS_ENABLE, all registers written");
	CHECK_EQ(t, NB_48, matrix, msr_read(MSR_NB_PEBS_MATRIX_VERT),
		 "MSR_PEBS_MATRIX_VERT, all registers written");
}

/*
 * NB-30  Each counter, CCCR and ESCR must keep what is written to its defined bits.
 *        SDM 18.15.1 ESCR MSRs, 18.15.3 CCCR MSRs, Table 18-63
 * NB-48  MSR_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT must keep what is written to their defined bits.
 *        SDM Table 35-41 MSRs in the Pentium 4 and Intel Xeon Processors; Table 19-33
 *
 * Given  nothing enabled
 * When   a different value is written to each counter, CCCR and ESCR, in either order. To
 *        MSR_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT each of their bits in turn, except those that
 *        enable PEBS, and 0 are written
 * Then   each reads the value that was written to it last
 */
TEST(msr, netburst_registers_hold_values_of_their_own_at_once, REQS(NB_30, NB_48),
     NEEDS(need_netburst))
{
	const u64 enables = fields_of("PEBS_ENABLE", false) &
			    ~(u64)(NB_PEBS_ENABLE_MY_THR | NB_PEBS_ENABLE_OTH_THR);
	const u64 matrices = fields_of("PEBS_MATRIX_VERT", false);

	for (unsigned bit = 0; bit <= UOP_TAG + 1; bit++) {
		const u64 enable = enables & BIT(bit);
		const u64 matrix = matrices & BIT((UOP_TAG + 1 - bit) % (UOP_TAG + 1));

		for (unsigned k = 0; k < ESCRS; k++) {
			const unsigned i = bit % 2 ? (unsigned)ESCRS - 1 - k : k;

			msr_write(escrs[i].address, own_escr(i));
			if (i >= NB_COUNTERS)
				continue;
			msr_write(cccrs[i].cccr_address, own_cccr(i));
			netburst_write(i, PATTERN + STEP * i);
		}
		msr_write(MSR_NB_PEBS_ENABLE, enable);
		msr_write(MSR_NB_PEBS_MATRIX_VERT, matrix);
		check_own(t, enable, matrix);
	}
	for (unsigned i = 0; i < ESCRS; i++)
		msr_write(escrs[i].address, 0);
	for (unsigned i = 0; i < NB_COUNTERS; i++)
		msr_write(cccrs[i].cccr_address, NB_CCCR_ACTIVE_THREAD);
}

/*
 * NB-29  Each counter must hold 40 bits, and RDPMC of its number must read it; with ECX[31] set,
 *        its lower 32 bits.
 *        SDM 18.15.2 Performance Counters
 *
 * Given  the eighteen counters, stopped, each with a different value that fills 40 bits
 * When   they are read by RDMSR, by RDPMC of their number, and by RDPMC with ECX[31] set; all 40
 *        bits are written as ones
 * Then   the first two give the value, the fast read its lower 32 bits; all ones are kept; RDPMC
 *        of a number that no counter has raises #GP either way: of 18 and more, of numbers that
 *        end as those of counters do, and of those of other families
 */
TEST(msr, netburst_counters_hold_40_bits, REQS(NB_29), NEEDS(need_netburst),
     .under_every_fault = true)
{
	/* Numbers 19 to 25 are the L3 counters of some processors; bits 29 and 30 are used in
	 * family 6. */
	static const u32 absent[] = {
		NB_COUNTERS, 26,      31,	    32,		  32 + 17,	   64,
		0x100,	     0x10000, (u32)BIT(29), (u32)BIT(30), (u32)BIT(30) + 1
	};
	u64 value = 0;

	for (unsigned i = 0; i < NB_COUNTERS; i++)
		netburst_write(i, PATTERN + STEP * i);
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		u64 want = (PATTERN + STEP * i) & ONES;

		CHECK_EQ(t, NB_29, want, netburst_read(i), "RDMSR of %s", cccrs[i].name);
		CHECK_EQ(t, NB_29, want, rdpmc(i), "RDPMC of counter %u", i);
		CHECK_EQ(t, NB_29, want & BITS(0, 31), rdpmc(i | (u32)NB_RDPMC_FAST),
			 "fast RDPMC of counter %u: 32 bits", i);
	}
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		netburst_write(i, ONES);
		CHECK_EQ(t, NB_29, ONES, netburst_read(i), "%s with all 40 bits set",
			 cccrs[i].name);
	}
	for (unsigned i = 0; i < 2 * sizeof(absent) / sizeof(absent[0]); i++) {
		u32 ecx = absent[i / 2] | (i & 1 ? (u32)NB_RDPMC_FAST : 0);
		struct fault fault = rdpmc_try(ecx, &value);

		CHECK(t, NB_29, fault.raised && fault.vector == VECTOR_GP,
		      "RDPMC of 0x%x, which no counter has, raises #GP", ecx);
	}
}

/*
 * NB-45  A counter that overflows must wrap at 40 bits and go on counting.
 *        SDM 18.15.2 Performance Counters
 *
 * Given  each counter of the IQ group counts instructions, 20 below the end of 40 bits, and 20
 *        below bit 32
 * When   a few more instructions than 20 retire
 * Then   the counter has gone through 0 and counted on, and has carried into bit 32; the
 *        instructions around the workload, some tens of them, count too
 */
TEST(netburst, counter_of_instructions_wraps_at_40_bits_and_goes_on, REQS(NB_45),
     NEEDS(need_netburst), .under_every_fault = true)
{
	u64 levels = netburst_both(netburst_thread());

	for (unsigned i = NB_IQ_COUNTER0; i < NB_COUNTERS; i++) {
		struct netburst_setting s = netburst_instructions(i, levels, 0);
		u64 whole = netburst_count(&s, &workload_load, NETBURST_MORE, false);
		u64 off = netburst_cccr(&s);
		u32 cccr = netburst_cccr_msr(i);

		netburst_program(&s);
		netburst_write(i, ONES - (BELOW - 1));
		msr_write(cccr, off | NB_CCCR_ENABLE);
		workload_run_uncounted(&workload_load, NETBURST_MORE);
		msr_write(cccr, off);
		/* The call around the piece counts too: some tens of instructions. */
		CHECK_RANGE(t, NB_45, whole - BELOW, whole + CALL_AROUND, netburst_read(i),
			    "counter %u, begun 20 below the wrap (%lu counted from 0)", i, whole);

		netburst_program(&s);
		netburst_write(i, BIT(32) - BELOW);
		msr_write(cccr, off | NB_CCCR_ENABLE);
		workload_run_uncounted(&workload_load, NETBURST_MORE);
		msr_write(cccr, off);
		CHECK_RANGE(t, NB_45, BIT(32) + whole - BELOW,
			    BIT(32) + whole + CALL_AROUND,
			    netburst_read(i), "counter %u, begun 20 below 2^32", i);
	}
}

/*
 * NB-44  Instr_retired must count retired instructions.
 *        SDM Table 19-29
 *
 * Given  instr_retired, tagged or not, on each counter of the IQ group, for this thread
 * When   four workloads run, 20 rounds and 60
 * Then   the two windows differ by the instructions of 40 rounds
 */
TEST(netburst, instr_retired_counts_instructions_exactly, REQS(NB_44), NEEDS(need_netburst))
{
	const struct workload *const pieces[] = { &workload_load, &workload_branch, &workload_mixed,
						  &workload_sparse };
	u64 levels = netburst_both(netburst_thread());

	for (unsigned i = NB_IQ_COUNTER0; i < NB_COUNTERS; i++) {
		struct netburst_setting s = netburst_instructions(i, levels, 0);

		for (unsigned p = 0; p < sizeof(pieces) / sizeof(pieces[0]); p++)
			CHECK_EQ(t, NB_44, netburst_declared(pieces[p], WORKLOAD_INSTRUCTIONS),
				 netburst_gain(&s, pieces[p], false),
				 "instr_retired of %s on counter %u", pieces[p]->name, i);
	}
}

/*
 * NB-43  Branch_retired must count retired branches by whether they are taken and predicted, and
 *        mispred_branch_retired those that are not predicted.
 *        SDM Table 19-29
 *
 * Given  branch_retired on each counter of the IQ group, with all four bits of its mask, with those
 *        of taken ones, MMTP and MMTM, and with those of branches not taken, MMNP and MMNM
 * When   a workload with three branches a round, two of them taken, runs 20 rounds and 60
 * Then   the two windows differ by the branches, the taken ones, and those not taken of 40 rounds
 */
TEST(netburst, branch_retired_counts_taken_and_not_taken_exactly, REQS(NB_43), NEEDS(need_netburst),
     .under_every_fault = true)
{
	const u64 all = netburst_declared(&workload_branch, WORKLOAD_BRANCHES);
	const u64 taken = netburst_declared(&workload_branch, WORKLOAD_TAKEN);

	for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++) {
		struct netburst_setting s = {
			.counter = c, .event = NB_EVENT_BRANCH_RETIRED, .mask = BRANCHES_ALL,
			.levels = netburst_both(netburst_thread()),
		};

		CHECK_EQ(t, NB_43, all, netburst_gain(&s, &workload_branch, false),
			 "branch_retired, all bits, counter %u", c);
		s.mask = BRANCHES_TAKEN;
		CHECK_EQ(t, NB_43, taken, netburst_gain(&s, &workload_branch, false),
			 "branch_retired, MMTP and MMTM, counter %u", c);
		s.mask = BRANCHES_NOT_TAKEN;
		CHECK_EQ(t, NB_43, all - taken, netburst_gain(&s, &workload_branch, false),
			 "branch_retired, MMNP and MMNM, counter %u", c);
	}
}

/* Many of the random branches are mispredicted, and few of a loop's. */
static void check_mispredicted(struct test *t, const struct netburst_setting *s, const char *name)
{
	/* A round has two branches, one of them random; the manual doesn't say how the other one is
	 * predicted. */
	CHECK_RANGE(t, NB_43, FEW, RANDOM_BRANCHES * RANDOM_ROUNDS - FEW,
		    netburst_count(s, &workload_random, RANDOM_ROUNDS, false),
		    "%s of random branches, counter %u", name, s->counter);
	CHECK_RANGE(t, NB_43, 0, FEW, netburst_count(s, &workload_load, RANDOM_ROUNDS, false),
		    "%s of a loop's branches, counter %u", name, s->counter);
}

/*
 * NB-43  Branch_retired must count retired branches by whether they are taken and predicted, and
 *        mispred_branch_retired those that are not predicted.
 *        SDM Table 19-29
 *
 * Given  branch_retired with the bits of mispredicted ones, MMNM and MMTM, and
 *        mispred_branch_retired, on each counter of the IQ group
 * When   a workload runs with two branches a round, one of which is random 200 rounds, and a loop
 *        whose branch goes back each time
 * Then   of the random workload at least one in eight rounds is counted, and far fewer than all
 *        branches; of the loop at most one in eight
 * Control: branch_retired with all bits counts each branch of both
 */
TEST(netburst, mispredicted_branches_are_many_of_random_ones_and_few_of_a_loop, REQS(NB_43),
     NEEDS(need_netburst))
{
	const u64 levels = netburst_both(netburst_thread());

	for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++) {
		struct netburst_setting retired = {
			.counter = c, .event = NB_EVENT_BRANCH_RETIRED, .mask = BRANCHES_ALL,
			.levels = levels,
		};
		const struct netburst_setting mispredicted = {
			.counter = c, .event = NB_EVENT_MISPRED_BRANCH_RETIRED,
			.mask = NB_MISPRED_BRANCH_RETIRED_NBOGUS, .levels = levels,
		};

		CONTROL_RANGE(t, NB_43, RANDOM_BRANCHES * RANDOM_ROUNDS, ~0ULL,
			      netburst_count(&retired, &workload_random, RANDOM_ROUNDS, false),
			      "branch_retired, all bits, of random branches, counter %u", c);
		CONTROL_RANGE(t, NB_43, RANDOM_ROUNDS, ~0ULL,
			      netburst_count(&retired, &workload_load, RANDOM_ROUNDS, false),
			      "branch_retired, all bits, of a loop's branches, counter %u", c);
		retired.mask = BRANCHES_MISPREDICTED;
		check_mispredicted(t, &retired, "branch_retired, MMNM and MMTM,");
		check_mispredicted(t, &mispredicted, "mispred_branch_retired");
	}
}

/*
 * NB-31  A counter must count the event of the ESCR that its CCCR selects, and none while the
 *        CCCR's enable flag is clear.
 *        SDM 18.15.3 CCCR MSRs, Table 18-63
 *
 * Given  retired_branch_type of Table 19-28 with bit CONDITIONAL, CALL or RETURN on each counter
 *        of the MS group
 * When   a workload of calls, and one of indirect calls and jumps, runs, 20 rounds and 60
 * Then   the two windows differ by the conditional branches, the calls and the returns of 40
 *        rounds
 */
TEST(netburst, retired_branch_type_counts_each_kind_of_branch_exactly, REQS(NB_31),
     NEEDS(need_netburst))
{
	static const struct {
		u32 mask;
		enum workload_count what;
		const char *name;
	} kinds[] = {
		{ NB_RETIRED_BRANCH_TYPE_CONDITIONAL, WORKLOAD_CONDITIONAL, "CONDITIONAL" },
		{ NB_RETIRED_BRANCH_TYPE_CALL, WORKLOAD_CALLS, "CALL" },
		{ NB_RETIRED_BRANCH_TYPE_RETURN, WORKLOAD_RETURNS, "RETURN" },
	};

	for (unsigned counter = NB_MS_COUNTER0; counter < NB_FLAME_COUNTER0; counter++)
		for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			struct netburst_setting s = {
				.counter = counter, .event = NB_EVENT_RETIRED_BRANCH_TYPE,
				.mask = kinds[i].mask, .levels = netburst_every_level(),
			};

			for (unsigned k = 0; k < 2; k++) {
				const struct workload *w = k ? &workload_kind_indirect :
							       &workload_call;

				CHECK_EQ(t, NB_31, netburst_declared(w, kinds[i].what),
					 netburst_gain(&s, w, false),
					 "retired_branch_type %s of %s on counter %u",
					 kinds[i].name, w->name, counter);
			}
		}
}

/*
 * NB-31  A counter must count the event of the ESCR that its CCCR selects, and none while the
 *        CCCR's enable flag is clear.
 *        SDM 18.15.3 CCCR MSRs, Table 18-63
 *
 * Given  each of the eighteen counters with an event that its group can count
 * When   a workload runs without the enable flag, with it, and after it was cleared
 * Then   the counter's value is unchanged at first, and after it was stopped
 * Control: while it was enabled it counted at least one event a round
 */
TEST(netburst, counter_counts_only_while_its_enable_flag_is_set, REQS(NB_31), NEEDS(need_netburst),
     .under_every_fault = true)
{
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		struct netburst_setting s = netburst_usual(i, netburst_every_level(), 0);
		u64 before = PATTERN;

		netburst_program(&s);
		netburst_write(i, before);
		workload_run_uncounted(&workload_packed, NETBURST_MORE);
		CHECK_EQ(t, NB_31, before, netburst_read(i), "%s without its enable flag",
			 cccrs[i].name);
		netburst_start(i);
		workload_run_uncounted(&workload_packed, NETBURST_MORE);
		netburst_stop(i);
		CONTROL(t, NB_31, netburst_read(i) >= before + NETBURST_MORE,
			"%s counts while it is enabled", cccrs[i].name);
		before = netburst_read(i);
		workload_run_uncounted(&workload_packed, NETBURST_MORE);
		CHECK_EQ(t, NB_31, before, netburst_read(i), "%s keeps its value when stopped",
			 cccrs[i].name);
	}
}

/*
 * NB-31  A counter must count the event of the ESCR that its CCCR selects, and none while the
 *        CCCR's enable flag is clear.
 *        SDM 18.15.3 CCCR MSRs, Table 18-63
 *
 * Given  each counter of the IQ group; its ESCR of select 4, MSR_CRU_ESCR0 or 1, counts
 *        instructions, that of select 5, MSR_CRU_ESCR2 or 3, branches, at the same time
 * When   a workload runs with either select in the CCCR
 * Then   instructions are counted with select 4, branches with select 5
 */
TEST(netburst, escr_that_the_cccr_selects_says_what_is_counted, REQS(NB_31), NEEDS(need_netburst))
{
	u64 levels = netburst_both(netburst_thread());

	for (unsigned i = NB_IQ_COUNTER0; i < NB_COUNTERS; i++) {
		struct netburst_setting instructions = netburst_instructions(i, levels, 0);
		struct netburst_setting branches = {
			.counter = i, .event = NB_EVENT_BRANCH_RETIRED, .mask = BRANCHES_ALL,
			.levels = levels,
		};

		/* Both ESCRs stay programmed; the CCCR selects one. */
		netburst_program(&branches);
		CHECK_EQ(t, NB_31, netburst_declared(&workload_branch, WORKLOAD_INSTRUCTIONS),
			 netburst_gain(&instructions, &workload_branch, false),
			 "counter %u with select 4", i);
		CHECK_EQ(t, NB_31, netburst_declared(&workload_branch, WORKLOAD_BRANCHES),
			 netburst_gain(&branches, &workload_branch, false),
			 "counter %u with select 5", i);
	}
}

/* The counter's count while its CCCR selects this ESCR of its group. */
static u64 count_by_select(unsigned counter, u64 select)
{
	const u64 cccr = NB_CCCR_ACTIVE_THREAD | select << NB_CCCR_ESCR_SELECT_SHIFT;

	netburst_write(counter, 0);
	msr_write(cccrs[counter].cccr_address, cccr | NB_CCCR_ENABLE);
	workload_run_uncounted(&workload_packed, NETBURST_MORE);
	msr_write(cccrs[counter].cccr_address, cccr);
	return netburst_read(counter);
}

/*
 * NB-31  A counter must count the event of the ESCR that its CCCR selects, and none while the
 *        CCCR's enable flag is clear.
 *        SDM 18.15.3 CCCR MSRs, Table 18-63
 *
 * Given  each of the eighteen counters; the ESCR of an event of its group is programmed, all others
 *        of the group are 0
 * When   a workload runs with each select of Table 18-63 in the CCCR
 * Then   nothing is counted with the select of another ESCR
 * Control: with that of the programmed one at least one event a round is counted
 */
TEST(netburst, each_escr_select_of_a_group_is_told_from_the_others, REQS(NB_31),
     NEEDS(need_netburst))
{
	for (unsigned c = 0; c < NB_COUNTERS; c++) {
		const struct netburst_setting s = netburst_usual(c, netburst_every_level(), 0);
		const u32 programmed = netburst_escr_msr(c, s.event);

		netburst_program(&s);
		for (unsigned i = 0; i < ESCRS; i++) {
			if (escrs[i].pool != cccrs[c].pool)
				continue;
			if (escrs[i].address == programmed)
				CONTROL_RANGE(t, NB_31, NETBURST_MORE, ~0ULL,
					      count_by_select(c, escrs[i].select),
					      "%s with select %u", cccrs[c].name, escrs[i].select);
			else
				CHECK_EQ(t, NB_31, 0, count_by_select(c, escrs[i].select),
					 "%s with select %u, %s", cccrs[c].name, escrs[i].select,
					 escrs[i].name);
		}
		netburst_program(&(struct netburst_setting){ .counter = c, .event = s.event });
		msr_write(programmed, 0);
	}
}

/*
 * NB-02  With none of the OS and USR flags of its ESCR set a counter must not count.
 *        SDM 18.15.1 ESCR MSRs
 * NB-27  All four OS and USR flags clear must give a zero count, and all four set must count
 *        irrespective of CPL and logical processor.
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-66
 *
 * Given  counters 4 to 17 with an event of their group and none of the four OS and USR flags
 * When   a workload runs at CPL 0 and at CPL 3
 * Then   the count is zero; with all four flags the same workload is counted
 */
TEST(netburst, counter_with_no_privilege_flag_counts_nothing, REQS(NB_02, NB_27),
     NEEDS(need_netburst))
{
	for (unsigned i = NB_MS_COUNTER0; i < NB_COUNTERS; i++) {
		struct netburst_setting none = netburst_usual(i, 0, 0);
		struct netburst_setting all = netburst_usual(i, netburst_every_level(), 0);
		u64 want = netburst_count(&all, &workload_packed, NETBURST_MORE, false);

		CHECK(t, NB_27, want >= NETBURST_MORE, "counter %u counts with all four flags", i);
		CHECK_EQ(t, NB_02, 0, netburst_count(&none, &workload_packed, NETBURST_MORE, false),
			 "counter %u at CPL 0 with no flag (%lu with all four)", i, want);
		CHECK_EQ(t, NB_02, 0, netburst_count(&none, &workload_packed, NETBURST_MORE, true),
			 "counter %u at CPL 3 with no flag", i);
	}
}

/* The count with NETBURST_MORE rounds, minus the count with NETBURST_FEWER. */
static u64 gain_at(unsigned cpl, const struct netburst_setting *s)
{
	u64 fewer = netburst_count_at(cpl, s, &workload_load, NETBURST_FEWER);

	return netburst_count_at(cpl, s, &workload_load, NETBURST_MORE) - fewer;
}

/*
 * NB-01  A thread-specific at-retirement event must be counted only on a logical processor whose
 *        OS or USR flag in the ESCR matches its CPL.
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-66
 *
 * Given  each counter of instructions, or of conditional branches, with the OS flag of this thread
 *        alone, and with its USR flag
 * When   a workload runs at CPL 1, and at CPL 2
 * Then   with USR its instructions or branches are counted, with OS none of them
 */
TEST(netburst, usr_flag_selects_cpl_1_and_2, REQS(NB_01), NEEDS(need_netburst_threads))
{
	const u64 os = netburst_both(netburst_thread()) & (NB_ESCR_T0_OS | NB_ESCR_T1_OS);
	const u64 usr = netburst_both(netburst_thread()) & (NB_ESCR_T0_USR | NB_ESCR_T1_USR);

	for (unsigned cpl = 1; cpl <= 2; cpl++)
		for (unsigned i = NB_MS_COUNTER0; i < NB_COUNTERS; i++) {
			struct netburst_setting s = netburst_usual(i, usr, 0);

			if (s.event == NB_EVENT_PACKED_SP_UOP)	/* thread-independent */
				continue;
			CHECK_EQ(t, NB_01,
				 netburst_declared(&workload_load, i < NB_FLAME_COUNTER0 ?
									   WORKLOAD_CONDITIONAL :
									   WORKLOAD_INSTRUCTIONS),
				 gain_at(cpl, &s), "counter %u at CPL %u with the USR flag", i,
				 cpl);
			s.levels = os;
			CHECK_EQ(t, NB_01, 0, gain_at(cpl, &s),
				 "counter %u at CPL %u with the OS flag", i, cpl);
		}
}

static void check_refused(struct test *t, u32 msr, unsigned bit, const char *name)
{
	u64 before = msr_read(msr);
	struct fault fault = msr_try_write(msr, before | BIT(bit));

	CHECK(t, NB_23, fault.raised && fault.vector == VECTOR_GP, "%s: writing bit %u raises #GP",
	      name, bit);
	CHECK_EQ(t, NB_23, before, msr_read(msr), "%s keeps its value", name);
}

/*
 * NB-23  Without Hyper-Threading bit 26 of MSR_PEBS_ENABLE and bit 27 of a CCCR must be reserved.
 *        SDM 18.15.3 CCCR MSRs, Table 35-41
 *
 * Given  a processor without Hyper-Threading
 * When   bit 26 of MSR_PEBS_ENABLE, and bit 27 of each CCCR, is set
 * Then   the write raises #GP, and the register keeps its value
 * Control: the neighbours, bit 25 and bit 26, can be set
 */
TEST(msr, netburst_bits_of_a_second_thread_raise_gp_without_it, REQS(NB_23),
     NEEDS(need_netburst_without_threads))
{
	check_refused(t, MSR_NB_PEBS_ENABLE, NB_PEBS_ENABLE_OTH_THR_SHIFT, "MSR_PEBS_ENABLE");
	CONTROL(t, NB_23, !msr_try_write(MSR_NB_PEBS_ENABLE, NB_PEBS_ENABLE_MY_THR).raised,
		"MSR_PEBS_ENABLE: bit 25 can be written");
	for (unsigned i = 0; i < NB_COUNTERS; i++) {
		check_refused(t, cccrs[i].cccr_address, NB_CCCR_OVF_PMI_T1_SHIFT, cccrs[i].cccr);
		CONTROL(t, NB_23,
			!msr_try_write(cccrs[i].cccr_address,
				       NB_CCCR_ACTIVE_THREAD | NB_CCCR_OVF_PMI_T0)
				 .raised,
			"%s: bit 26 can be written", cccrs[i].cccr);
	}
}

static void check_reserved(struct test *t, u32 msr, u64 fields, const char *name)
{
	u64 before = msr_read(msr);

	for (unsigned bit = 0; bit < 64; bit++) {
		struct fault fault;

		if (fields & BIT(bit))
			continue;
		fault = msr_try_write(msr, before | BIT(bit));
		CHECK(t, NB_41, fault.raised && fault.vector == VECTOR_GP,
		      "%s: writing reserved bit %u raises #GP", name, bit);
		CHECK_EQ(t, NB_41, before, msr_read(msr), "%s keeps its value", name);
	}
}

/*
 * NB-41  Setting a reserved bit of an ESCR, a CCCR, MSR_PEBS_ENABLE, MSR_PEBS_MATRIX_VERT or
 *        MSR_DEBUGCTLA must raise #GP.
 *        SDM 18.15.1 ESCR MSRs, 18.15.3 CCCR MSRs, Table 35-41
 *
 * Given  every ESCR, every CCCR, MSR_PEBS_ENABLE, MSR_PEBS_MATRIX_VERT and MSR_DEBUGCTLA
 * When   each bit that no field has is set
 * Then   the write raises #GP, and the register keeps its value
 */
TEST(msr, netburst_registers_refuse_reserved_bits, REQS(NB_41), NEEDS(need_netburst))
{
	for (unsigned i = 0; i < NB_COUNTERS; i++)
		check_reserved(t, cccrs[i].cccr_address, cccr_fields(cccrs[i].extended),
			       cccrs[i].cccr);
	for (unsigned i = 0; i < ESCRS; i++)
		check_reserved(t, escrs[i].address, escr_fields(), escrs[i].name);
	check_reserved(t, MSR_NB_PEBS_ENABLE, fields_of("PEBS_ENABLE", false), "MSR_PEBS_ENABLE");
	check_reserved(t, MSR_NB_PEBS_MATRIX_VERT, fields_of("PEBS_MATRIX_VERT", false),
		       "MSR_PEBS_MATRIX_VERT");
	check_reserved(t, MSR_NB_DEBUGCTLA, BITS(0, 6), "MSR_DEBUGCTLA");
}
