/* SPDX-License-Identifier: MIT */
/*
 * NetBurst's registers and what they count: SDM "ESCR MSRs", "Performance Counters", "CCCR MSRs",
 * Table 18-63, Table 19-29. What qualifies by thread is in thread.c; the events beside
 * those of retirement are counted by one that each group of counters has.
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
#define COUNTERS	18u			/* Table 18-63 */
#define AROUND		8u			/* branches around a piece, and more */

/* Does this processor have the bits of a field row? */
static bool is_there(enum netburst_who who, bool extended)
{
	if (who == NB_EXTENDED)
		return extended;
	return who != NB_HT_ONLY || netburst_caps()->threads;
}

/* The defined bits of a register of one kind, from the field rows. */
static u64 fields_of(const char *kind, bool extended)
{
	static const struct { const char *reg; u64 bits; enum netburst_who who; } rows[] = {
#define NB_FIELD(reg, field, lo, hi, who, source) { #reg, BITS(lo, hi), (who) },
#include "spec/netburst.def"
	};
	u64 all = 0;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].reg, kind) && is_there(rows[i].who, extended))
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

static const struct { const char *name; u32 address; } escrs[] = {
#define NB_ESCR(name, address, select, pool, source) { "MSR_" #name, (address) },
#include "spec/netburst.def"
};
#define ESCRS (sizeof(escrs) / sizeof(escrs[0]))

static const struct { const char *name, *cccr; u32 cccr_address; bool extended; } cccrs[] = {
#define NB_COUNTER(name, number, address, cccr, cccr_address, pool, alternate, extended, source) \
	{ "MSR_" #name, "MSR_" #cccr, (cccr_address), (extended) != NB_NONE },
#include "spec/netburst.def"
};

TEST(msr, netburst_registers_keep_what_is_written, REQS(NB_30), NEEDS(need_netburst))
{
	static const u64 patterns[] = { ~0ULL, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 0 };

	/* Nothing is enabled, so nothing begins to count: CCCRs without ENABLE. */
	for (unsigned p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		for (unsigned i = 0; i < ESCRS; i++)
			msr_write(escrs[i].address, patterns[p] & escr_fields());
		for (unsigned i = 0; i < ESCRS; i++)
			CHECK_EQ(t, NB_30, patterns[p] & escr_fields(),
				 msr_read(escrs[i].address), "%s reads back", escrs[i].name);
		for (unsigned i = 0; i < ESCRS; i++)
			msr_write(escrs[i].address, 0);
		for (unsigned i = 0; i < COUNTERS; i++) {
			u64 value = patterns[p] & cccr_fields(cccrs[i].extended) & ~NB_CCCR_ENABLE;

			if (!netburst_caps()->threads)	/* "must be set to 11B" */
				value |= NB_CCCR_ACTIVE_THREAD;
			msr_write(cccrs[i].cccr_address, value);
			CHECK_EQ(t, NB_30, value, msr_read(cccrs[i].cccr_address),
				 "%s reads back", cccrs[i].cccr);
			msr_write(cccrs[i].cccr_address, NB_CCCR_ACTIVE_THREAD);
		}
	}
	/* ENABLE, with an ESCR that selects nothing. */
	for (unsigned i = 0; i < COUNTERS; i++) {
		msr_write(cccrs[i].cccr_address, NB_CCCR_ACTIVE_THREAD | NB_CCCR_ENABLE);
		CHECK_EQ(t, NB_30, NB_CCCR_ACTIVE_THREAD | NB_CCCR_ENABLE,
			 msr_read(cccrs[i].cccr_address), "%s reads back with its enable flag",
			 cccrs[i].cccr);
		msr_write(cccrs[i].cccr_address, NB_CCCR_ACTIVE_THREAD);
	}
}

TEST(msr, netburst_counters_hold_40_bits, REQS(NB_29), NEEDS(need_netburst),
     .under_every_fault = true)
{
	u64 value = 0;

	for (unsigned i = 0; i < COUNTERS; i++)
		netburst_write(i, PATTERN + 0x0101010101ULL * i);
	for (unsigned i = 0; i < COUNTERS; i++) {
		u64 want = (PATTERN + 0x0101010101ULL * i) & ONES;

		CHECK_EQ(t, NB_29, want, netburst_read(i), "RDMSR of %s", cccrs[i].name);
		CHECK_EQ(t, NB_29, want, rdpmc(i), "RDPMC of counter %u", i);
		CHECK_EQ(t, NB_29, want & 0xffffffff, rdpmc(i | 0x80000000u),
			 "fast RDPMC of counter %u: 32 bits", i);
	}
	for (unsigned i = 0; i < COUNTERS; i++) {
		netburst_write(i, ONES);
		CHECK_EQ(t, NB_29, ONES, netburst_read(i), "%s with all 40 bits set",
			 cccrs[i].name);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct fault fault = rdpmc_try(COUNTERS | (i ? 0x80000000u : 0), &value);

		CHECK(t, NB_29, fault.raised && fault.vector == VECTOR_GP,
		      "RDPMC of counter %u, which isn't there, raises #GP", COUNTERS);
	}
}

/* The counter wraps to 0 after its highest value and goes on. */
TEST(netburst, counters_wrap_at_40_bits, REQS(NB_45), NEEDS(need_netburst),
     .under_every_fault = true)
{
	u64 who = netburst_both(netburst_thread());

	for (unsigned i = 12; i < COUNTERS; i++) {
		struct netburst_setting s = netburst_instructions(i, who, 0);
		u64 whole = netburst_count(&s, &workload_load, NETBURST_MORE, false);

		netburst_program(&s);
		netburst_write(i, ONES - 19);
		msr_write(netburst_cccr_msr(i), netburst_cccr(&s) | NB_CCCR_ENABLE);
		workload_run_uncounted(&workload_load, NETBURST_MORE);
		msr_write(netburst_cccr_msr(i), netburst_cccr(&s));
		/* The call around the piece counts as well, some tens of instructions. */
		CHECK_RANGE(t, NB_45, whole - 20, whole + 100, netburst_read(i),
			    "counter %u, begun 20 below the wrap (%lu counted from 0)", i, whole);

		netburst_program(&s);
		netburst_write(i, BIT(32) - 20);
		msr_write(netburst_cccr_msr(i), netburst_cccr(&s) | NB_CCCR_ENABLE);
		workload_run_uncounted(&workload_load, NETBURST_MORE);
		msr_write(netburst_cccr_msr(i), netburst_cccr(&s));
		CHECK_RANGE(t, NB_45, BIT(32) + whole - 20, BIT(32) + whole + 100,
			    netburst_read(i), "counter %u, begun 20 below 2^32", i);
	}
}

TEST(netburst, instructions_are_counted_exactly, REQS(NB_44), NEEDS(need_netburst))
{
	const struct workload *const pieces[] = { &workload_load, &workload_branch, &workload_mixed,
						  &workload_sparse };
	u64 who = netburst_both(netburst_thread());

	for (unsigned i = 12; i < COUNTERS; i++) {
		struct netburst_setting s = netburst_instructions(i, who, 0);

		for (unsigned p = 0; p < sizeof(pieces) / sizeof(pieces[0]); p++)
			CHECK_EQ(t, NB_44, netburst_declared(pieces[p], WORKLOAD_INSTRUCTIONS),
				 netburst_gain(&s, pieces[p], false),
				 "instr_retired of %s on counter %u", pieces[p]->name, i);
	}
}

/* Mask bits of Table 19-29: M for predicted or mispredicted, N or T for not taken or taken. */
TEST(netburst, branches_are_counted_exactly, REQS(NB_43), NEEDS(need_netburst),
     .under_every_fault = true)
{
	u64 who = netburst_both(netburst_thread());
	struct netburst_setting all = {
		.counter = 13, .event = NB_EVENT_BRANCH_RETIRED, .mask = 0xf, .who = who,
	}, taken = all, not_taken = all;

	taken.mask = NB_BRANCH_RETIRED_MMTP | NB_BRANCH_RETIRED_MMTM;
	not_taken.mask = NB_BRANCH_RETIRED_MMNP | NB_BRANCH_RETIRED_MMNM;
	CHECK_EQ(t, NB_43, netburst_declared(&workload_branch, WORKLOAD_BRANCHES),
		 netburst_gain(&all, &workload_branch, false), "branch_retired, all bits");
	CHECK_EQ(t, NB_43, netburst_declared(&workload_branch, WORKLOAD_TAKEN),
		 netburst_gain(&taken, &workload_branch, false), "branch_retired, MMTP and MMTM");
	CHECK_EQ(t, NB_43, netburst_declared(&workload_branch, WORKLOAD_BRANCHES) -
			   netburst_declared(&workload_branch, WORKLOAD_TAKEN),
		 netburst_gain(&not_taken, &workload_branch, false),
		 "branch_retired, MMNP and MMNM");
}

/* Which branches are mispredicted is the processor's business; not more than there are. */
TEST(netburst, mispredicted_branches_are_some_of_all, REQS(NB_43), NEEDS(need_netburst))
{
	u64 who = netburst_both(netburst_thread());
	struct netburst_setting all = {
		.counter = 13, .event = NB_EVENT_BRANCH_RETIRED, .mask = 0xf, .who = who,
	}, mispredicted = all, retired = {
		.counter = 12, .event = NB_EVENT_MISPRED_BRANCH_RETIRED, .mask = 0x1, .who = who,
	};
	u64 branches = netburst_count(&all, &workload_branch, NETBURST_MORE, false);
	u64 most = workload_declared(&workload_branch, WORKLOAD_BRANCHES, NETBURST_MORE) + AROUND;

	mispredicted.mask = NB_BRANCH_RETIRED_MMNM | NB_BRANCH_RETIRED_MMTM;
	CHECK(t, NB_43, branches >= 3 * NETBURST_MORE, "branch_retired, all bits: %lu", branches);
	CHECK_RANGE(t, NB_43, 0, most,
		    netburst_count(&mispredicted, &workload_branch, NETBURST_MORE, false),
		    "branch_retired, MMNM and MMTM");
	CHECK_RANGE(t, NB_43, 0, most,
		    netburst_count(&retired, &workload_branch, NETBURST_MORE, false),
		    "mispred_branch_retired");
}

/* retired_branch_type, Table 19-28: bits 1 to 3. */
TEST(netburst, kinds_of_branches_are_counted_exactly, REQS(NB_31), NEEDS(need_netburst))
{
	static const struct { u32 mask; enum workload_count what; const char *name; } kinds[] = {
		{ 1 << 1, WORKLOAD_CONDITIONAL, "CONDITIONAL" },
		{ 1 << 2, WORKLOAD_CALLS, "CALL" },
		{ 1 << 3, WORKLOAD_RETURNS, "RETURN" },
	};

	for (unsigned counter = 4; counter < 8; counter++)
		for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			struct netburst_setting s = {
				.counter = counter, .event = NB_EVENT_RETIRED_BRANCH_TYPE,
				.mask = kinds[i].mask, .who = netburst_everyone(),
			};

			CHECK_EQ(t, NB_31, netburst_declared(&workload_call, kinds[i].what),
				 netburst_gain(&s, &workload_call, false),
				 "retired_branch_type %s on counter %u", kinds[i].name, counter);
		}
}

/* Every one of the eighteen counts something that its group can count. */
TEST(netburst, each_counter_counts_only_while_enabled, REQS(NB_31), NEEDS(need_netburst),
     .under_every_fault = true)
{
	for (unsigned i = 0; i < COUNTERS; i++) {
		struct netburst_setting s = netburst_usual(i, netburst_everyone(), 0);
		u64 before = PATTERN;

		netburst_program(&s);
		netburst_write(i, before);
		workload_run_uncounted(&workload_packed, NETBURST_MORE);
		CHECK_EQ(t, NB_31, before, netburst_read(i), "%s without its enable flag",
			 cccrs[i].name);
		netburst_start(i);
		workload_run_uncounted(&workload_packed, NETBURST_MORE);
		netburst_stop(i);
		CHECK(t, NB_31, netburst_read(i) >= before + NETBURST_MORE,
		      "%s counts while it is enabled", cccrs[i].name);
		before = netburst_read(i);
		workload_run_uncounted(&workload_packed, NETBURST_MORE);
		CHECK_EQ(t, NB_31, before, netburst_read(i), "%s keeps its value when stopped",
			 cccrs[i].name);
	}
}

/* Table 18-63: select 4 is MSR_CRU_ESCR0 and 1, select 5 MSR_CRU_ESCR2 and 3. */
TEST(netburst, the_selected_escr_says_what_is_counted, REQS(NB_31), NEEDS(need_netburst))
{
	u64 who = netburst_both(netburst_thread());

	for (unsigned i = 12; i < COUNTERS; i++) {
		struct netburst_setting instructions = netburst_instructions(i, who, 0);
		struct netburst_setting branches = {
			.counter = i, .event = NB_EVENT_BRANCH_RETIRED, .mask = 0xf, .who = who,
		};

		/* Both ESCRs stay programmed; the CCCR picks one. */
		netburst_program(&branches);
		CHECK_EQ(t, NB_31, netburst_declared(&workload_branch, WORKLOAD_INSTRUCTIONS),
			 netburst_gain(&instructions, &workload_branch, false),
			 "counter %u with select 4", i);
		CHECK_EQ(t, NB_31, netburst_declared(&workload_branch, WORKLOAD_BRANCHES),
			 netburst_gain(&branches, &workload_branch, false),
			 "counter %u with select 5", i);
	}
}

TEST(netburst, no_privilege_flag_no_count, REQS(NB_02, NB_27), NEEDS(need_netburst))
{
	for (unsigned i = 4; i < COUNTERS; i++) {
		struct netburst_setting none = netburst_usual(i, 0, 0);
		struct netburst_setting all = netburst_usual(i, netburst_everyone(), 0);
		u64 want = netburst_count(&all, &workload_packed, NETBURST_MORE, false);

		CHECK(t, NB_27, want >= NETBURST_MORE, "counter %u counts with all four flags", i);
		CHECK_EQ(t, NB_02, 0, netburst_count(&none, &workload_packed, NETBURST_MORE, false),
			 "counter %u at CPL 0 with no flag (%lu with all four)", i, want);
		CHECK_EQ(t, NB_02, 0, netburst_count(&none, &workload_packed, NETBURST_MORE, true),
			 "counter %u at CPL 3 with no flag", i);
	}
}

static void check_refused(struct test *t, u32 msr, unsigned bit, const char *name)
{
	u64 before = msr_read(msr);
	struct fault fault = msr_try_write(msr, before | BIT(bit));

	CHECK(t, NB_23, fault.raised && fault.vector == VECTOR_GP,
	      "%s: writing bit %u raises #GP", name, bit);
	CHECK_EQ(t, NB_23, before, msr_read(msr), "%s keeps its value", name);
}

/* The control is the neighbour, which is there on every processor. */
TEST(msr, netburst_bits_of_no_thread_are_reserved, REQS(NB_23),
     NEEDS(need_netburst_without_threads))
{
	check_refused(t, MSR_NB_PEBS_ENABLE, 26, "MSR_PEBS_ENABLE");
	CHECK(t, NB_23, !msr_try_write(MSR_NB_PEBS_ENABLE, BIT(25)).raised,
	      "MSR_PEBS_ENABLE: bit 25 can be written");
	for (unsigned i = 0; i < COUNTERS; i++) {
		check_refused(t, cccrs[i].cccr_address, 27, cccrs[i].cccr);
		CHECK(t, NB_23, !msr_try_write(cccrs[i].cccr_address,
					       NB_CCCR_ACTIVE_THREAD | BIT(26)).raised,
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

TEST(msr, netburst_reserved_bits_raise_gp, REQS(NB_41), NEEDS(need_netburst))
{
	for (unsigned i = 0; i < COUNTERS; i++)
		check_reserved(t, cccrs[i].cccr_address, cccr_fields(cccrs[i].extended),
			       cccrs[i].cccr);
	for (unsigned i = 0; i < ESCRS; i++)
		check_reserved(t, escrs[i].address, escr_fields(), escrs[i].name);
	check_reserved(t, MSR_NB_PEBS_ENABLE, fields_of("PEBS_ENABLE", false), "MSR_PEBS_ENABLE");
	check_reserved(t, MSR_NB_PEBS_MATRIX_VERT, fields_of("PEBS_MATRIX_VERT", false),
		       "MSR_PEBS_MATRIX_VERT");
}
