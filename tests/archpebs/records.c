/* SPDX-License-Identifier: MIT */
/*
 * The addresses of architectural PEBS records, the counters that write them, and their parts: Linux
 * events/intel/ds.c. The size of each record is checked: its fragments must agree with their
 * headers, and WR with the fragments.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/time.h"
#include "tests/archpebs/archpebs.h"
#include "tests/frame/calibration.h"
#include "tests/measure/overflow.h"

#define HEADER_SIZE	BITS(0, 15)
#define HEADER_MODE_64	BIT(30)
#define HEADER_BASIC	BIT(63)
/* Reserved bits of the first quadword; the second quadword is entirely reserved. */
#define HEADER_RESERVED	(BITS(16, 29) | BITS(32, 34) | BITS(42, 48) | BITS(51, 52) | BITS(56, 60))
/* A record with BASIC alone: 10H + 30H. */
#define LEAST_BYTES	0x40u

/*
 * APEBS-06  A record must be written at IA32_PEBS_BASE + 16 * WR, and WR must grow by a sixteenth
 *           of its bytes.
 *           Linux intel_pmu_drain_arch_pebs
 * APEBS-11  Bits 15:0 of a header must be the bytes of its fragment.
 * APEBS-12  Bit 30 of a header must be 1 for what was sampled in 64-bit mode.
 * APEBS-13  The bits of a header must tell which groups follow: those that CFG_C of the counter
 *           asks for, and BASIC.
 * APEBS-14  Reserved bits of a header must be written, as 0.
 *           Linux struct arch_pebs_header
 * APEBS-16  BASIC must have 30H bytes, with EventingIP at 00H, Applicable Counters at 08H and the
 *           TSC at 10H.
 *           Linux struct arch_pebs_basic
 *
 * Given  CFG_C has no group; marked loads, or jumps if no table has loads; RDTSC before arming
 * When   each of IA32_PMC0 to IA32_PMC3 makes a record of a marked event, and RDTSC after it
 * Then   it is the first 40H bytes of the buffer, and no other byte is written; the header has 40H,
 *        64-bit mode and BASIC, and reserved bits are 0; BASIC has a marked event at 00H, that
 *        counter alone at 08H and a TSC between the two at 10H
 */
TEST(archpebs, basic_group_is_0x30_bytes_after_a_header,
     REQS(APEBS_06, APEBS_11, APEBS_12, APEBS_13, APEBS_14, APEBS_16),
     NEEDS(need_perfmon, need_arch_load, need_loads_or_branches), .under_every_fault = true)
{
	FOR_EACH_COUNTER (c, arch_load_counters()) {
		const struct arch_run run = { .counter = c };
		const u64 before = tsc_read();
		int64_t offset = 0;
		u64 after, header;

		arch_window(&run);
		after = tsc_read();
		if (!arch_one_record(t, AT(APEBS_06, APEBS_11), 0))
			return;
		header = arch_at(0);
		CHECK_EQ(t, IDS(APEBS_06, APEBS_16), LEAST_BYTES, arch_pebs_written(),
			 "bytes by which WR grew");
		CHECK(t, APEBS_06, !arch_pebs_written_outside(0, LEAST_BYTES, &offset),
		      "no byte beside the record (offset %ld)", (long)offset);
		CHECK_EQ(t, APEBS_11, LEAST_BYTES, header & HEADER_SIZE, "bits 15:0 of the header");
		CHECK_EQ(t, APEBS_12, HEADER_MODE_64, header & HEADER_MODE_64,
			 "bit 30 of the header");
		CHECK_EQ(t, APEBS_13, HEADER_BASIC,
			 header & ~(HEADER_SIZE | HEADER_MODE_64 | HEADER_RESERVED),
			 "groups of the header");
		CHECK_EQ(t, APEBS_14, 0, header & HEADER_RESERVED, "reserved bits of the header");
		CHECK_EQ(t, APEBS_14, 0, arch_at(8), "second quadword of the header");
		CHECK(t, APEBS_16,
		      workload_mark_at(sampling_any_piece(), SAMPLE_MARKS,
				       arch_at(AT_EVENTING_IP)) >= 0,
		      "EventingIP %#lx at 00H is a marked event", arch_at(AT_EVENTING_IP));
		CHECK_EQ(t, APEBS_16, BIT(c), arch_at(AT_APPLICABLE),
			 "applicable counters at 08H, PMC%u", c);
		CHECK_RANGE(t, APEBS_16, before, after, arch_at(AT_TSC),
			    "TSC at 10H, from RDTSC before arming to one after");
		arch_pebs_close();
	}
}

/*
 * APEBS-06  A record must be written at IA32_PEBS_BASE + 16 * WR, and WR must grow by a sixteenth
 *           of its bytes.
 * APEBS-07  With WR written 0 the next record must be at the base.
 *           Linux intel_pmu_drain_arch_pebs
 *
 * Given  a buffer with one record
 * When   the counter makes another one, with a group more; and one after WR = 0 has been written
 * Then   the second begins where WR was, and the third at the base; WR grows by the size of each
 */
TEST(archpebs, records_follow_each_other_from_wr_on, REQS(APEBS_06, APEBS_07),
     NEEDS(need_perfmon, need_arch_load, need_loads_or_branches), .under_every_fault = true)
{
	const u64 groups = (u64)counter_caps()->v6.groups << 32 & GROUP_GPR;
	const u64 longer = LEAST_BYTES + (groups ? 0xa0 : 0);
	struct arch_run run = { .counter = counter_next(arch_load_counters(), 0) };

	arch_window(&run);
	if (!arch_one_record(t, AT(APEBS_06), 0))
		return;
	run.groups = groups;
	arch_go_on(&run);
	if (!arch_one_record(t, AT(APEBS_06), LEAST_BYTES))
		return;
	CHECK_EQ(t, APEBS_06, LEAST_BYTES + longer, arch_pebs_written(),
		 "bytes of WR after the second record");
	arch_pebs_open(0, ARCH_PEBS_NEVER);
	arch_pebs_set_write(0x200);
	arch_pebs_set_write(0);
	arch_go_on(&run);
	if (!arch_one_record(t, AT(APEBS_07), 0))
		return;
	CHECK_EQ(t, APEBS_07, longer, arch_pebs_written(), "bytes of WR after WR = 0 and a record");
	arch_pebs_close();
}

/*
 * APEBS-08  A counter whose CFG_C[63] is 0 must not write records.
 *           Linux intel_pmu_enable_event_ext
 *
 * Given  a counter whose CFG_C has a value to load, and [63] = 0
 * When   it overflows
 * Then   WR stays 0, and no byte of the buffer is written
 * Control: with CFG_C[63] = 1 there is a record
 */
TEST(archpebs, counter_without_its_enable_writes_no_record, REQS(APEBS_08),
     NEEDS(need_perfmon, need_arch_load, need_loads_or_branches), .under_every_fault = true)
{
	FOR_EACH_COUNTER (c, arch_load_counters()) {
		struct arch_run run = { .counter = c, .without_enable = true };
		int64_t offset = 0;

		arch_window(&run);
		CHECK_EQ(t, APEBS_08, 0, arch_pebs_written(), "bytes of WR, CFG_C[63] = 0");
		CHECK(t, APEBS_08, !arch_pebs_written_outside(0, 0, &offset),
		      "no byte of the buffer (offset %ld)", (long)offset);
		run.without_enable = false;
		arch_window(&run);
		if (!arch_one_record(t, CONTROL_AT(APEBS_08), 0))
			return;
		arch_pebs_close();
	}
}

/* Far below 0. The values of two counters differ by more than a window counts. */
static u64 reload_of(unsigned c)
{
	return ((u64)(c % 32 + 1 + (PMC_IS_FIXED(c) ? 32 : 0)) << 24) + 0x5678;
}

static void check_counter(struct test *t, unsigned c)
{
	enum { RETIRED_SLACK = 0x100000 };	/* events after the record */
	const struct arch_run run = { .counter = c };
	const u64 ones = BIT(counter_width(c)) - 1;

	FOR_EACH_COUNTER (other, counter_caps()->v6.pebs & ~BIT(c))
		msr_write(version6_cfg_c(other), (u32)(0 - reload_of(other)));
	arch_any_window(&run, reload_of(c));
	if (arch_stood_still(t, c))
		return;
	if (!arch_one_record(t, AT(APEBS_10), 0))
		return;
	/* The manual says it of fixed counters alone. */
	test_check_eq(t, PMC_IS_FIXED(c) ? AT(APEBS_38) : AT(APEBS_16), BIT(c),
		      arch_at(AT_APPLICABLE), "applicable counters, counter %u", c);
	CHECK_RANGE(t, APEBS_10, (0 - reload_of(c)) & ones,
		    ((0 - reload_of(c)) & ones) + RETIRED_SLACK, counter_read(c),
		    "counter %u after a record, CFG_C[31:0] = %#x", c, (u32)(0 - reload_of(c)));
	arch_pebs_close();
	counter_reset();
}

/*
 * APEBS-10  A record must load its counter with CFG_C[31:0] and ones above it.
 *           Linux intel_pmu_enable_event_ext
 * APEBS-16  BASIC must have 30H bytes, with EventingIP at 00H, Applicable Counters at 08H and the
 *           TSC at 10H.
 *           Linux struct arch_pebs_basic
 * APEBS-38  A fixed counter i of CPUID.(23H,5):ECX must write records that have bit 32 + i in
 *           Applicable Counters.
 *           SDM volume 1, CPUID leaf 23H, sub-leaf 5; Linux
 *
 * Given  the counters of CPUID.(23H,5):EAX and ECX, each with a different value in CFG_C[31:0]
 * When   each of them makes a record
 * Then   the applicable counters are that counter alone, bit n or 32 + i; the counter holds its own
 *        value, with all higher bits 1, plus its later events
 */
TEST(archpebs, each_counter_writes_records_and_is_loaded_from_its_cfg_c,
     REQS(APEBS_10, APEBS_16, APEBS_38), NEEDS(need_perfmon, need_arch_pebs, need_branches),
     .under_every_fault = true)
{
	FOR_EACH_COUNTER (c, counter_caps()->v6.pebs)
		check_counter(t, c);
}

static bool need_two_load_counters(char *reason, size_t size)
{
	const u64 counters = arch_load_counters();

	if (!need_arch_pebs(reason, size))
		return false;
	if (counters & (counters - 1))
		return true;
	fmt_print(reason, size, "PEBS on fewer than two of IA32_PMC0 to 3 (CPUID.(23H,5): %#lx)",
		  counter_caps()->v6.pebs);
	return false;
}

/*
 * APEBS-33  Two counters with different groups must each write records of their own.
 *           Linux: CFG_C is each counter's
 *
 * Given  two counters, CFG_C of one asks for GPR, that of the other for AUX
 * When   they overflow far apart
 * Then   there are two records, each with the group that its own CFG_C asks for
 * Control: the first record is whole
 */
TEST(archpebs, records_of_two_counters_have_the_groups_of_their_cfg_c, REQS(APEBS_33),
     NEEDS(need_perfmon, need_two_load_counters, need_events), .under_every_fault = true)
{
	const u64 enumerated = (u64)counter_caps()->v6.groups << 32;
	const unsigned first = counter_next(arch_load_counters(), 0);
	const unsigned second = counter_next(arch_load_counters(), first + 1);
	const u64 groups[2] = { enumerated & GROUP_GPR, enumerated & GROUP_AUX };
	struct arch_fragment f;
	u64 bytes;

	arch_pebs_open(0, ARCH_PEBS_NEVER);
	arch_pebs_arm(first, LOADS, COUNT_BOTH, PERIOD, groups[0], NEVER);
	arch_pebs_arm(second, LOADS, COUNT_BOTH, 4 * PERIOD + 2 * SHADOW_MOST, groups[1], NEVER);
	workload_run(&workload_load, 8 * PERIOD + 4 * SHADOW_MOST,
		     pmc_or(pmc_one(first), pmc_one(second)));
	arch_pebs_disarm();
	bytes = arch_record_bytes(arch_pebs_buffer(), arch_pebs_written());
	if (!CONTROL(t, APEBS_33, bytes, "the first record is whole") ||
	    !arch_one_record(t, AT(APEBS_33), bytes))
		return;
	CHECK_EQ(t, APEBS_33, BIT(first), arch_at(AT_APPLICABLE),
		 "applicable counters of the first record");
	CHECK_EQ(t, APEBS_33, !!groups[0], !!arch_group(0, ARCH_GPR, &f),
		 "GPR in the first record");
	CHECK(t, APEBS_33, !arch_group(0, ARCH_AUX, &f), "no AUX in the first record");
	CHECK_EQ(t, APEBS_33, BIT(second), arch_at(bytes + AT_APPLICABLE),
		 "applicable counters of the second record");
	CHECK_EQ(t, APEBS_33, !!groups[1], !!arch_group(bytes, ARCH_AUX, &f),
		 "AUX in the second record");
	CHECK(t, APEBS_33, !arch_group(bytes, ARCH_GPR, &f), "no GPR in the second record");
	arch_pebs_close();
	counter_reset();
}

/* All counters that the records in the buffer name. The walk ends at an incomplete record. */
static u64 named_counters(void)
{
	u64 named = 0;

	for (u64 at = 0, next; (next = arch_next(at)); at = next)
		named |= arch_at(at + AT_APPLICABLE);
	return named;
}

/* The reload value of each counter of a pair: far below 0, and different. */
static u64 pair_reload(bool second)
{
	return second ? NEVER / 2 : NEVER;
}

static void check_pair_reload(struct test *t, struct test_claim claim, unsigned c, unsigned other,
			      bool second)
{
	enum { SINCE = 0x100000 };	/* events after the record */
	const u64 reload = BIT(counter_width(c)) - pair_reload(second);

	test_check_range(t, claim, reload, reload + SINCE, counter_read(c),
			 "counter %u, loaded with %#lx, after an overflow with counter %u", c,
			 reload, other);
}

/* Run enough loads for an overflow of each counter, with the same period, and for the records after
 * them. */
static void run_both(unsigned first, unsigned second, const u64 groups[2])
{
	arch_pebs_open(0, ARCH_PEBS_NEVER);
	arch_pebs_arm(first, LOADS, COUNT_BOTH, PERIOD, groups[0], pair_reload(false));
	arch_pebs_arm(second, LOADS, COUNT_BOTH, PERIOD, groups[1], pair_reload(true));
	workload_run(&workload_load, 2 * PERIOD + 2 * SHADOW_MOST,
		     pmc_or(pmc_one(first), pmc_one(second)));
	arch_pebs_disarm();
}

/*
 * APEBS-10  A record must load its counter with CFG_C[31:0] and ones above it.
 *           Linux intel_pmu_enable_event_ext
 * APEBS-33  Two counters with different groups must each write records of their own.
 *           Linux: CFG_C is each counter's
 *
 * Given  each pair of the first four counters, with the same event and period, so that they
 *        overflow on one load; CFG_C of one asks for GPR, that of the other for AUX, and each has a
 *        different value to load
 * When   they overflow
 * Then   the records name both counters, in one record or in two, and each counter is reloaded
 *        with its own value
 */
TEST(archpebs, counters_that_overflow_on_one_load_are_both_recorded_and_reloaded,
     REQS(APEBS_10, APEBS_33), NEEDS(need_perfmon, need_two_load_counters, need_events))
{
	const u64 enumerated = (u64)counter_caps()->v6.groups << 32;
	const u64 groups[2] = { enumerated & GROUP_GPR, enumerated & GROUP_AUX };

	FOR_EACH_COUNTER (first, arch_load_counters())
		FOR_EACH_COUNTER (second, arch_load_counters() & ~BIT(first)) {
			const u64 both = BIT(first) | BIT(second);

			run_both(first, second, groups);
			CHECK_EQ(t, APEBS_33, both, named_counters() & both,
				 "counters that the records of IA32_PMC%u and IA32_PMC%u name",
				 first, second);
			check_pair_reload(t, AT(APEBS_10, APEBS_33), first, second, false);
			check_pair_reload(t, AT(APEBS_10, APEBS_33), second, first, true);
			arch_pebs_close();
			counter_reset();
		}
}

/*
 * APEBS-40  A record of architectural PEBS must clear the overflow bit of its counter and no other
 *           one.
 *           SDM 18.9.4.1 PEBS Record Format, of the records of the DS area
 *
 * Given  each counter but one of CPUID.(23H,5), fixed counters 0 to 3 too, has overflowed without
 *        PEBS
 * When   that one makes a record; each in turn but fixed counter 2, whose clock is slow
 * Then   its bit is clear, where that is judged, and those of all others are set
 * Control: they were set before
 */
TEST(archpebs, record_leaves_the_status_bits_of_every_other_counter, REQS(APEBS_40),
     NEEDS(need_perfmon, need_arch_pebs, need_branches, need_fixed_0_to_2), .deadline_ms = 8000)
{
	/* No test judges on these processors whether a record clears its own counter's bit. */
	const bool clears = sampling_clears_status(t);

	FOR_EACH_COUNTER (c, counter_caps()->v6.pebs & ARCH_SURE & ~BIT(OVERFLOW_SLOW)) {
		const struct arch_run run = { .counter = c, .groups = 0 };
		const u64 judged = clears ? ARCH_SURE : ARCH_SURE & ~BIT(c);
		const u64 others = counters_all().bits & ARCH_SURE & ~BIT(c);

		FOR_EACH_COUNTER (i, others) {
			overflow(i, 0);
			counter_program_disabled(i, 0, 0);
		}
		CONTROL_EQ(t, APEBS_40, others, overflow_status() & ARCH_SURE,
			   "status before the record");
		arch_any_window(&run, NEVER);
		arch_pebs_disarm();
		counter_program_disabled(c, 0, 0);
		if (arch_one_record(t, CONTROL_AT(APEBS_40), 0))
			CHECK_EQ(t, APEBS_40, others & judged, overflow_status() & judged,
				 "status after a record of counter %u, all others having "
				 "overflowed before",
				 c);
		arch_pebs_close();
		counter_reset();
	}
}

static bool need_arch_pebs_of_both(char *reason, size_t size)
{
	const u64 pebs = counter_caps()->v6.pebs;

	if (!need_arch_pebs(reason, size))
		return false;
	if (pebs & BITS(0, 31) && pebs & BIT(PMC_FIXED(0)))
		return true;
	fmt_print(reason, size,
		  "no records of a general-purpose counter and of fixed counter 0: "
		  "CPUID.(23H,5):EAX %#lx ECX %#lx",
		  (u64)(u32)pebs, pebs >> 32);
	return false;
}

/*
 * APEBS-10  A record must load its counter with CFG_C[31:0] and ones above it.
 *           Linux intel_pmu_enable_event_ext
 * APEBS-33  Two counters with different groups must each write records of their own.
 *           Linux: CFG_C is each counter's
 *
 * Given  each general-purpose counter of CPUID.(23H,5):EAX counts instructions, and fixed counter
 *        0, which counts them too, has the same start value; each has a different value in CFG_C
 * When   both overflow
 * Then   the records name both counters, in one record or in two, and each counter is reloaded
 *        with its own value
 */
TEST(archpebs, general_purpose_and_fixed_counter_that_overflow_together_are_recorded,
     REQS(APEBS_10, APEBS_33),
     NEEDS(need_perfmon, need_arch_pebs_of_both, need_instructions, need_fixed_0_to_2),
     .deadline_ms = 8000)
{
	FOR_EACH_COUNTER (c, counter_caps()->v6.pebs & BITS(0, 31)) {
		const u64 both = BIT(c) | BIT(PMC_FIXED(0));

		arch_pebs_open(0, ARCH_PEBS_NEVER);
		arch_pebs_arm(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, ROUNDS_PERIOD, 0,
			      pair_reload(false));
		arch_pebs_arm(PMC_FIXED(0), 0, COUNT_BOTH, ROUNDS_PERIOD, 0, pair_reload(true));
		workload_run(&workload_load, 4 * ROUNDS_PERIOD, (struct pmc_mask){ both });
		arch_pebs_disarm();
		CHECK_EQ(t, APEBS_33, both, named_counters() & both,
			 "counters that the records of IA32_PMC%u and fixed counter 0 name", c);
		check_pair_reload(t, AT(APEBS_10, APEBS_33), c, PMC_FIXED(0), false);
		check_pair_reload(t, AT(APEBS_10, APEBS_33), PMC_FIXED(0), c, true);
		arch_pebs_close();
		counter_reset();
	}
}

#define ASSIGNMENTS	8u
#define APART		(SHADOW_MOST + 33u)	/* events between two overflows */

/* The groups of the nth counter. Neighbours get different groups; in odd assignments counters that
 * are four apart do too. */
static u64 groups_of(unsigned nth, unsigned assignment)
{
	static const u64 groups[] = { 0, GROUP_GPR, GROUP_AUX, GROUP_GPR | GROUP_AUX };

	return groups[(nth + (assignment & 1 ? nth / 4 : 0) + assignment / 2) % 4];
}

/* Periods whose overflows in one window are APART events from each other. c is the nth counter. */
static u64 period_of(unsigned c, unsigned nth)
{
	enum { FIRST_FIXED_ONE = 48, STEP = 16 };

	if (c == OVERFLOW_SLOW)
		return SLOW_PERIOD;
	return APART * (PMC_IS_FIXED(c) ? FIRST_FIXED_ONE + STEP * (c % 32) : 1ULL + nth);
}

/* Arm every counter that writes records, with its groups, which go into asked[], and run until each
 * has made a record. */
static void run_all(u64 asked[WINDOW_COUNTERS], unsigned assignment)
{
	enum { WINDOWS = 64, ROUNDS = 1024, SIZE = 2 };
	const u64 all = counter_caps()->v6.pebs;
	const u64 enumerated = (u64)counter_caps()->v6.groups << 32;
	unsigned nth = 0;

	arch_pebs_open(SIZE, ARCH_PEBS_NEVER);
	FOR_EACH_COUNTER (c, all) {
		asked[c] = groups_of(nth, assignment) & enumerated;
		arch_pebs_arm(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH, period_of(c, nth),
			      asked[c], NEVER);
		nth++;
	}
	for (unsigned i = 0; i < WINDOWS && all & ARCH_SURE & ~named_counters(); i++)
		workload_run(&workload_random, ROUNDS, (struct pmc_mask){ all });
	arch_pebs_disarm();
}

/*
 * APEBS-33  Two counters with different groups must each write records of their own.
 *           Linux: CFG_C is each counter's
 *
 * Given  all counters of CPUID.(23H,5):EAX and ECX at once; CFG_C of each asks for no group, for
 *        GPR, for AUX or for both, in eight assignments: any two counters differ in one at least
 * When   each makes a record
 * Then   a record that names one counter as applicable has the groups that the counter's CFG_C asks
 *        for, and no other; a record that names several counters isn't judged
 * Control: each counter but fixed ones from 4 on has made a record
 */
TEST(archpebs, records_of_all_counters_at_once_have_the_groups_of_their_cfg_c, REQS(APEBS_33),
     NEEDS(need_perfmon, need_two_load_counters, need_branches), .deadline_ms = 10000)
{
	const u64 all = counter_caps()->v6.pebs;
	u64 asked[WINDOW_COUNTERS] = { 0 };

	for (unsigned assignment = 0; assignment < ASSIGNMENTS; assignment++) {
		u64 next;

		run_all(asked, assignment);
		for (u64 at = 0; at < arch_pebs_written(); at = next) {
			const u64 applicable = arch_at(at + AT_APPLICABLE);
			struct arch_fragment f;
			unsigned c;

			next = arch_next(at);
			if (!CONTROL(t, APEBS_33, next, "the record at %#lx is whole", at))
				return;
			if (!applicable || applicable & (applicable - 1) || applicable & ~all)
				continue;
			c = counter_next(applicable, 0);
			CHECK_EQ(t, APEBS_33, !!(asked[c] & GROUP_GPR),
				 !!arch_group(at, ARCH_GPR, &f),
				 "GPR in the record of counter %u, CFG_C[63:32] %#lx", c,
				 asked[c] >> 32);
			CHECK_EQ(t, APEBS_33, !!(asked[c] & GROUP_AUX),
				 !!arch_group(at, ARCH_AUX, &f),
				 "AUX in the record of counter %u, CFG_C[63:32] %#lx", c,
				 asked[c] >> 32);
		}
		CONTROL_EQ(t, APEBS_33, all & ARCH_SURE, named_counters() & ARCH_SURE,
			   "counters that have made a record");
		arch_pebs_close();
		counter_reset();
	}
}

/*
 * APEBS-35  No byte may be written outside the buffer.
 *           SDM volume 4, IA32_PEBS_BASE
 *
 * Given  a buffer of 1000H bytes between two guards, all of whose bytes differ
 * When   a counter makes more records than fit: of 40H bytes, and with GPR of E0H bytes
 * Then   no byte outside it is written
 * Control: there are records at least up to the last tenth of the buffer
 */
TEST(archpebs, no_byte_outside_the_buffer_is_written, REQS(APEBS_35),
     NEEDS(need_perfmon, need_arch_load, need_branches))
{
	enum { BUFFER = 0x1000, EACH = 256, RECORDS = BUFFER / LEAST_BYTES };
	const u64 groups[] = { 0, (u64)counter_caps()->v6.groups << 32 & GROUP_GPR };
	const unsigned c = counter_next(arch_load_counters(), 0);
	const unsigned last = test_is_strict(t) ? BUFFER / 10 : BUFFER;	/* docs/READINGS.md */
	int64_t offset = 0;

	for (unsigned i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		arch_pebs_open(0, ARCH_PEBS_NEVER);
		arch_pebs_arm(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH, EACH, groups[i],
			      EACH);
		workload_run(&workload_load, 2 * RECORDS * EACH, pmc_one(c));
		arch_pebs_disarm();
		CHECK(t, APEBS_35, !arch_pebs_written_outside(0, BUFFER, &offset),
		      "no byte outside (offset %ld), CFG_C %#lx", (long)offset, groups[i]);
		CONTROL(t, APEBS_35, arch_pebs_written_outside(0, BUFFER - last, &offset),
			"records in the last %u bytes of the buffer, CFG_C %#lx", last, groups[i]);
		arch_pebs_close();
		counter_program_disabled(c, 0, 0);
	}
}
