/* SPDX-License-Identifier: MIT */
/*
 * The fragments of architectural PEBS records: Linux arch_pebs_record_continued(). When a processor
 * divides a record isn't told. This file walks the fragments itself, with its own literals.
 */
#include "tests/archpebs/archpebs.h"

#define HEADER_SIZE	BITS(0, 15)
#define HEADER_CONT	BIT(31)
#define HEADER_GROUPS	BITS(16, 63)	/* all 0: an empty fragment, which another one follows */
#define HEADER_BYTES	0x10u
#define RECORDS		2u

static bool need_arch_gpr(char *reason, size_t size)
{
	return need_arch_groups(GROUP_GPR, reason, size);
}

/* Groups of CFG_C by their places in this number: AUX, GPR, XMM, LBR with 8 entries, counters. */
static u64 groups_of(unsigned set)
{
	static const u64 groups[] = { GROUP_AUX, GROUP_GPR, GROUP_XMM, GROUP_LBR(1),
				      BITS(35, 38) };
	u64 all = 0;

	for (unsigned i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (set & 1u << i)
			all |= groups[i];
	return all & (u64)counter_caps()->v6.groups << 32;
}

/* Can one more fragment be read there? */
static bool is_fragment(u64 at, u64 written)
{
	const u64 size = at + HEADER_BYTES <= written ? arch_at(at) & HEADER_SIZE : 0;

	return size >= HEADER_BYTES && at + size <= written;
}

/* Walk the fragments of one record by their bits CONT. Returns where it ends; 0: it goes on where
 * no fragment is. */
static u64 walk(u64 at, u64 written, unsigned *fragments)
{
	while (is_fragment(at, written)) {
		const u64 header = arch_at(at);

		at += ((header & HEADER_SIZE) + ARCH_PEBS_UNIT - 1) & ~(u64)(ARCH_PEBS_UNIT - 1);
		++*fragments;
		if (header & HEADER_GROUPS && !(header & HEADER_CONT))
			return at;
	}
	return 0;
}

/*
 * APEBS-26  CONT must be 1 in each fragment of a record but the last.
 *           Linux arch_pebs_record_continued
 *
 * Given  each set of AUX, GPR, XMM, LBR with 8 entries and counters that CPUID.(23H,4):EBX allows,
 *        in CFG_C
 * When   a counter makes a record, and then another one
 * Then   each walk over fragments, on from one whose CONT is 1 and up to one whose CONT is 0, ends
 *        exactly where WR was after this record
 * Control: WR has grown by each record
 */
TEST(archpebs, cont_is_1_in_each_fragment_of_a_record_but_the_last, REQS(APEBS_26),
     NEEDS(need_perfmon, need_arch_load, need_events))
{
	enum { SETS = 32 };

	for (unsigned set = 0; set < SETS; set++) {
		const struct arch_run run = { .counter = counter_next(arch_load_counters(), 0),
					      .groups = groups_of(set) };
		u64 from = 0;

		arch_pebs_open(0, ARCH_PEBS_NEVER);
		for (unsigned i = 0; i < RECORDS; i++) {
			unsigned fragments = 0;
			u64 written;

			arch_go_on(&run);
			written = arch_pebs_written();
			if (written == from)
				test_missed(t);
			if (!CONTROL(t, APEBS_26, written > from, "record %u, CFG_C %#lx", i,
				     run.groups))
				return;
			if (!CHECK_EQ(t, APEBS_26, written, walk(from, written, &fragments),
				      "end of record %u by CONT, in %u fragments, CFG_C %#lx", i,
				      fragments, run.groups))
				return;
			from = written;
		}
		arch_pebs_close();
	}
}

/*
 * APEBS-06  A record must be written at IA32_PEBS_BASE + 16 * WR, and WR must grow by a sixteenth
 *           of its bytes.
 *           Linux intel_pmu_drain_arch_pebs
 *
 * Given  a buffer of two pages, CFG_C with GPR; WR one to thirteen units before the second page
 * When   a marked load is recorded
 * Then   the record is complete: the header and BASIC, with the counter alone in Applicable
 *        Counters, and GPR with the registers, partly in the first page and partly in the second
 */
TEST(archpebs, record_goes_on_in_the_next_page_of_the_buffer, REQS(APEBS_06),
     NEEDS(need_perfmon, need_arch_gpr, need_events))
{
	enum { RECORD_UNITS = 14, PAGE = 0x1000, GPR_AT = 0x40 };
	const struct arch_run run = { .counter = counter_next(arch_load_counters(), 0),
				      .groups = GROUP_GPR };

	for (u64 units = 1; units < RECORD_UNITS; units++) {
		const u64 from = PAGE - units * ARCH_PEBS_UNIT;

		arch_pebs_open(1, ARCH_PEBS_NEVER);
		arch_pebs_set_write(from);
		arch_go_on(&run);
		if (!arch_one_record(t, AT(APEBS_06), from))
			return;
		CHECK(t, APEBS_06,
		      workload_mark_at(sampling_any_piece(), SAMPLE_MARKS,
				       arch_at(from + AT_EVENTING_IP)) >= 0,
		      "EventingIP of a record %lu units before a page", units);
		CHECK_EQ(t, APEBS_06, BIT(run.counter), arch_at(from + AT_APPLICABLE),
			 "Applicable Counters of a record %lu units before a page", units);
		arch_check_registers(t, AT(APEBS_06), from + GPR_AT, workload_stack());
		arch_pebs_close();
	}
}
