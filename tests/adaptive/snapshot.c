/* SPDX-License-Identifier: MIT */
/*
 * The counters group of a record of format 6: Linux __setup_pebs_counter_group, struct
 * pebs_cntr_header: 10H bytes with the sets of counters, then the values. This file has its own
 * literal offsets and reads the records without the decoder.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "kernel/output/fmt.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"

#define HEAD_BYTES	0x10u
#define METRICS_AT	0x08u	/* in the head */
#define SLOTS_AND_METRICS 3u
#define METRICS_ENABLE	BIT(48)	/* of IA32_PERF_GLOBAL_CTRL */
#define SLOTS		PMC_FIXED(3)
#define SIZE_OF_WORD(word) ((word) >> 48)
#define ENTRIES		4u	/* in the LBR group, if it exists */

/* Starting and stopping counters adds at most so many events of any kind except cycles and
 * slots. */
#define SWITCHING	32u

static bool need_counters_group(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (!need_baseline(reason, size))
		return false;
	if (c->pebs_format == PEBS_FORMAT_SNAPSHOT)
		return true;
	fmt_print(reason, size, "records have no counters (IA32_PERF_CAPABILITIES = %#lx)",
		  c->perf_capabilities);
	return false;
}

static bool need_slots_in_records(char *reason, size_t size)
{
	return need_counters_group(reason, size) && need_metrics(reason, size) &&
	       need_fixed_3(reason, size);
}

/* The counters with bits in MSR_PEBS_DATA_CFG: bit n here is bit 32 + n there. */
static u64 counters_with_bits(void)
{
	const struct pmu_caps *c = counter_caps();

	return (c->gp_mask & BITS(0, 15)) | (u64)(c->fixed_mask & BITS(0, 7)) << 16;
}

static u64 config_of(u64 set)
{
	return CONFIG_COUNTERS | (set & counters_with_bits()) << 32;
}

/* Sets of counters: each single counter, none, all of one kind, every second one, and all. */
static u64 set_of(unsigned i)
{
	static const u64 sets[] = { 0, 0xffff, 0xff0000, 0x555555, 0xaaaaaa, 0x090203, 0xffffff };
	enum { SINGLE = 24 };

	if (i < SINGLE)
		return BIT(i);
	return sets[i - SINGLE];
}
#define SETS	31u

/* The counter of this bit of a set. */
static unsigned counter_of(unsigned bit)
{
	return bit < 16 ? bit : PMC_FIXED(bit - 16);
}

/* A doubleword of the first record in the buffer. */
static u32 doubleword_at(unsigned byte)
{
	return (u32)(adaptive_at(byte & ~7u) >> (byte & 4 ? 32 : 0));
}

/* A value for a counter that doesn't count: both halves are unique, and some values have bit 47. */
static u64 value_of(unsigned c)
{
	return ((c & 1 ? 0xda0000000000ULL : 0x5a0000000000ULL) + (c + 1) * 0x100010101ULL) &
	       (BIT(counter_width(c)) - 1);
}

/* Preset all counters except the sampler; they don't count. */
static void preset_all_but(struct test *t, struct test_claim claim, unsigned sampler)
{
	FOR_EACH_COUNTER (c, counters_all().bits & ~BIT(sampler)) {
		counter_write(c, value_of(c));
		test_check_eq(t, test_control(claim), value_of(c), counter_read(c),
			      "counter %u, which stands still", c);
	}
}

/* Does MSR_PEBS_DATA_CFG accept this value? Every bit that exists may be set. */
static bool config_is_taken(struct test *t, struct test_claim claim, u64 config)
{
	return test_check(t, claim, !msr_try_write(MSR_PEBS_DATA_CFG, config).raised,
			  "no #GP of MSR_PEBS_DATA_CFG", "MSR_PEBS_DATA_CFG = %#lx", config);
}

/*
 * V6-22   In format 6 MSR_PEBS_DATA_CFG[4] must add a group of 10H bytes and 8 for each bit of
 *         MSR_PEBS_DATA_CFG[47:32] and [55:48].
 *         Linux
 * ADP-16  Bits 31:0 of the format word must be MSR_PEBS_DATA_CFG[31:0] in a record of an adaptive
 *         counter.
 *         kvm-unit-tests pmu_pebs
 *
 * Given  MSR_PEBS_DATA_CFG[4] with no counter in [47:32] and [55:48], with each single one, with
 *        every other one, and with all that there are
 * When   IA32_PMC0 to IA32_PMC3 make a record of a load
 * Then   the index moves by 20H, 10H and 8 for each counter, and bits 63:48 of the format word,
 *        whose bit 4 is 1, say the same; no byte outside the record is written. 00H of the group
 *        has the general-purpose counters, 04H the fixed ones. Without bit 4, or with
 *        Adaptive_Record = 0, the index moves by 20H, although [47:32] and [55:48] aren't 0
 */
TEST(adaptive, counters_group_adds_10h_and_8_bytes_for_each_counter, REQS(V6_22, ADP_16),
     NEEDS(need_perfmon, need_counters_group, need_events))
{
	struct adaptive_run run = { .config = config_of(~0ULL) & ~(u64)CONFIG_COUNTERS };
	int64_t offset = 0;

	if (!config_is_taken(t, AT(V6_22), config_of(~0ULL)))
		return;
	adaptive_window(&run);
	CHECK_EQ(t, V6_22, 0x20, (u64)ds_bytes(), "bytes of a record, MSR_PEBS_DATA_CFG = %#lx",
		 run.config);
	run = (struct adaptive_run){ .config = config_of(~0ULL), .basic = true };
	adaptive_window(&run);
	CHECK_EQ(t, V6_22, 0x20, (u64)ds_bytes(),
		 "bytes of a record with Adaptive_Record = 0, MSR_PEBS_DATA_CFG = %#lx",
		 run.config);
	run.basic = false;
	for (unsigned i = 0; i < SETS; i++) {
		const u64 set = set_of(i) & counters_with_bits();
		unsigned bytes = 0x20 + 0x10;

		FOR_EACH_COUNTER (bit, set)
			bytes += 8;
		run.config = config_of(set);
		run.counter = i % LOAD_COUNTERS;
		adaptive_window(&run);
		if (!adaptive_one_record(t, AT(V6_22), &run))
			return;
		CHECK_EQ(t, V6_22, bytes, (u64)ds_bytes(),
			 "bytes by which the index moved, MSR_PEBS_DATA_CFG = %#lx", run.config);
		CHECK_EQ(t, V6_22, bytes, SIZE_OF_WORD(adaptive_at(0)),
			 "bits 63:48 of the format word");
		CHECK_EQ(t, V6_22, set & 0xffff, doubleword_at(0x20),
			 "general-purpose counters at 00H");
		CHECK_EQ(t, V6_22, set >> 16, doubleword_at(0x24),
			 "fixed counters at 04H of the group");
		CHECK_EQ(t, ADP_16, 0x10, adaptive_at(0) & BITS(0, 31),
			 "bits 31:0 of the format word");
		CHECK(t, V6_22, ds_record_written(0) && !ds_written_outside(0, 1, &offset),
		      "the record, and no byte beside it (offset %ld), MSR_PEBS_DATA_CFG = %#lx",
		      (long)offset, run.config);
	}
}

/*
 * Check a counters group at this offset: its sets, and the values of the counters that don't count,
 * in the order of the bits.
 */
static void check_values(struct test *t, struct test_claim claim, unsigned group, u64 set,
			 unsigned sampler)
{
	unsigned at = group + HEAD_BYTES;

	test_check_eq(t, claim, set & 0xffff, doubleword_at(group),
		      "general-purpose counters at %#x, 00H of the group", group);
	test_check_eq(t, claim, set >> 16, doubleword_at(group + 4), "fixed counters at 04H");
	for (unsigned bit = 0; bit < 24; bit++) {
		const unsigned c = counter_of(bit);

		if (!(set & BIT(bit)))
			continue;
		if (c != sampler)
			test_check_eq(t, claim, value_of(c), adaptive_at(at),
				      "value of counter %u at %#x, set %#lx", c, at, set);
		at += 8;
	}
}

/*
 * V6-24  In format 6 the counters group must have its values in the order of the bits,
 *        general-purpose counters first.
 *        Linux
 *
 * Given  all counters but one stand still, with values that differ in both halves
 * When   that one makes a record with none of them, with each single one, with every other one and
 *        with all
 * Then   the group's head has the bits of the requested counters, and their values follow, low bits
 *        first, general-purpose counters before fixed ones; 08H has no metrics
 * Control: each counter reads the value that was written to it
 */
TEST(adaptive, counters_group_has_the_values_in_the_order_of_the_bits, REQS(V6_24),
     NEEDS(need_perfmon, need_counters_group, need_full_width, need_events))
{
	for (unsigned i = 0; i < SETS; i++) {
		const u64 set = set_of(i) & counters_with_bits();
		struct adaptive_run run = { .counter = i % LOAD_COUNTERS,
					    .config = config_of(set) };

		preset_all_but(t, CONTROL_AT(V6_24), run.counter);
		adaptive_window(&run);
		if (!adaptive_one_record(t, CONTROL_AT(V6_24), &run))
			return;
		check_values(t, AT(V6_24), BASIC_BYTES, set, run.counter);
		CHECK_EQ(t, V6_24, 0, doubleword_at(BASIC_BYTES + METRICS_AT),
			 "metrics at 08H of the group, none asked for");
	}
}

/* Check the groups before it: each must be where it is in a record without the counters group. */
static void check_groups_before(struct test *t, u64 config)
{
	unsigned at = BASIC_BYTES + (config & CONFIG_MEMORY ? 0x20 : 0);

	if (config & CONFIG_GPR) {
		CONTROL_EQ(t, IDS(V6_22, V6_24), SAMPLE_R(15), adaptive_at(at + 0x88),
			   "R15 at %#x, MSR_PEBS_DATA_CFG = %#lx", at + 0x88, config);
		at += 0x90;
	}
	if (config & CONFIG_XMM)
		CONTROL_EQ(t, IDS(V6_22, V6_24), SAMPLE_XMM(15), adaptive_at(at + 0xf0),
			   "XMM15 at %#x, MSR_PEBS_DATA_CFG = %#lx", at + 0xf0, config);
}

/*
 * V6-22  In format 6 MSR_PEBS_DATA_CFG[4] must add a group of 10H bytes and 8 for each bit of
 *        MSR_PEBS_DATA_CFG[47:32] and [55:48].
 * V6-24  In format 6 the counters group must have its values in the order of the bits,
 *        general-purpose counters first.
 *        Linux
 *
 * Given  every combination of the memory, GPR, XMM and LBR groups, the last with 4 entries
 * When   IA32_PMC0 makes a record with some counters too, which stand still
 * Then   the group of the counters begins at the end of the last of the other groups, and ends at
 *        the record's end
 * Control: R15 and XMM15 are at the same places as without counters
 */
TEST(adaptive, counters_group_comes_after_all_others, REQS(V6_22, V6_24),
     NEEDS(need_perfmon, need_counters_group, need_full_width, need_events),
     .under_every_fault = true)
{
	const u64 set = 0x02000a & counters_with_bits();
	unsigned own = 0x10;

	FOR_EACH_COUNTER (bit, set)
		own += 8;
	for (u32 i = 0; i < CONFIGS; i++) {
		struct adaptive_run run = { .workload = &workload_xmm_sample };
		unsigned before;

		run.config = config_of(set) | i;
		if (i & CONFIG_LBR)
			run.config |= CONFIG_LBR_OF(ENTRIES);
		before = adaptive_bytes_before_counters(run.config);
		preset_all_but(t, CONTROL_AT(V6_22, V6_24), 0);
		adaptive_window(&run);
		if (!adaptive_one_record(t, AT(V6_22), &run))
			return;
		check_groups_before(t, run.config);
		check_values(t, AT(V6_22, V6_24), before, set, 0);
		CHECK_EQ(t, V6_22, before + own, SIZE_OF_WORD(adaptive_at(0)),
			 "bits 63:48 of the format word, MSR_PEBS_DATA_CFG = %#lx", run.config);
	}
}

/*
 * V6-24  In format 6 the counters group must have its values in the order of the bits,
 *        general-purpose counters first.
 *        Linux
 *
 * Given  a PEBS index such that the boundary of a page is somewhere in the record to come
 * When   IA32_PMC0 makes a record of all counters, which stand still
 * Then   each value is at its place
 * Control: the boundary is inside the record
 */
TEST(adaptive, counters_group_across_a_page_has_each_value, REQS(V6_24),
     NEEDS(need_perfmon, need_counters_group, need_full_width, need_events))
{
	enum { RECORDS = 48, PAGE = 0x1000 };
	const u64 set = counters_with_bits();
	struct adaptive_run run = { .config = config_of(set), .capacity = RECORDS };
	const unsigned size = adaptive_bytes(run.config);

	for (unsigned before = 8; before < size; before += 8) {
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);
		unsigned start;

		preset_all_but(t, CONTROL_AT(V6_24), 0);
		ds_open(&setup);
		start = (unsigned)(PAGE - (ds_buffer() + before) % PAGE);
		CONTROL_EQ(t, V6_24, 0, (ds_buffer() + start + before) % PAGE,
			   "the page's end, %#x bytes into the record", before);
		ds_set_index_bytes(start);
		pebs_arm(0, LOADS, COUNT_BOTH, calibration_period(LOADS, PERIOD) + 1);
		workload_run(&workload_sample, PERIOD, pmc_one(0));
		pebs_disarm();
		counter_program_disabled(0, 0, 0);
		counters_clear(BIT(0));
		if (!ds_bytes() || ds_bytes() == start)
			test_missed(t);
		if (!CHECK_EQ(t, V6_24, start + size, (u64)ds_bytes(),
			      "index after a record whose byte %#x is in the next page", before))
			return;
		check_values(t, AT(V6_24), start + BASIC_BYTES, set, 0);
	}
}

/* Count slots and metrics of a piece, then stop them. */
static bool stopped_metrics(struct test *t, struct test_claim claim, u64 *slots, u64 *metrics)
{
	counter_program(SLOTS, 0, COUNT_BOTH);
	counter_write(SLOTS, 0);
	msr_write(MSR_PERF_METRICS, 0);
	workload_run(&workload_random, 8 * ROUNDS_PERIOD,
		     (struct pmc_mask){ BIT(SLOTS) | METRICS_ENABLE });
	*slots = counter_read(SLOTS);
	*metrics = msr_read(MSR_PERF_METRICS);
	return test_check(t, test_control(claim), *slots && *metrics && *slots != *metrics,
			  "slots and metrics differ", "slots %#lx, metrics %#lx", *slots, *metrics);
}

/*
 * V6-23  In format 6 MSR_PEBS_DATA_CFG[5] must add fixed counter 3, then MSR_PERF_METRICS, and 3
 *        in the group's word at 08H.
 *        Linux
 *
 * Given  fixed counter 3 and MSR_PERF_METRICS have counted, and stand still
 * When   IA32_PMC0 makes a record with MSR_PEBS_DATA_CFG[5] alone, and with counters too
 * Then   the group's word at 08H is 3, and after 10H bytes and those of the counters come fixed
 *        counter 3, then MSR_PERF_METRICS, and the end of the record
 * Control: both read the same after it; without bit 5 the word at 08H is 0
 */
TEST(adaptive, metrics_of_a_record_are_slots_and_then_the_metrics, REQS(V6_23),
     NEEDS(need_perfmon, need_slots_in_records, need_full_width, need_events))
{
	static const u64 sets[] = { 0, 0x000001, 0x010002, 0x0303ff };
	u64 slots, metrics;

	if (!config_is_taken(t, AT(V6_23), CONFIG_METRICS | config_of(~0ULL)))
		return;
	for (unsigned i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		const u64 set = sets[i] & counters_with_bits();
		struct adaptive_run run = { .config = set ? config_of(set) : 0 };
		unsigned at;

		preset_all_but(t, CONTROL_AT(V6_23), 0);
		if (!stopped_metrics(t, CONTROL_AT(V6_23), &slots, &metrics))
			return;
		if (set) {
			adaptive_window(&run);
			CONTROL_EQ(t, V6_23, 0, doubleword_at(BASIC_BYTES + METRICS_AT),
				   "metrics at 08H of the group without bit 5");
		}
		run.config |= CONFIG_METRICS;
		at = adaptive_bytes(run.config) - 2 * 8;
		adaptive_window(&run);
		if (!adaptive_one_record(t, AT(V6_23), &run))
			return;
		CHECK_EQ(t, V6_23, SLOTS_AND_METRICS, doubleword_at(BASIC_BYTES + METRICS_AT),
			 "metrics at 08H of the group, MSR_PEBS_DATA_CFG = %#lx", run.config);
		check_values(t, CONTROL_AT(V6_23), BASIC_BYTES, set, 0);
		CHECK_EQ(t, V6_23, slots, adaptive_at(at), "fixed counter 3 at %#x", at);
		CHECK_EQ(t, V6_23, metrics, adaptive_at(at + 8), "MSR_PERF_METRICS at %#x", at + 8);
		CHECK_EQ(t, V6_23, (u64)at + 2 * 8, SIZE_OF_WORD(adaptive_at(0)),
			 "bits 63:48 of the format word");
		CONTROL_EQ(t, V6_23, slots, counter_read(SLOTS), "fixed counter 3 after it");
		CONTROL_EQ(t, V6_23, metrics, msr_read(MSR_PERF_METRICS),
			   "MSR_PERF_METRICS after it");
	}
}

/* Take one record of counter c with all other counters in it, and with slots and metrics if they
 * are given. */
static bool check_all_values(struct test *t, unsigned c, const u64 *slots, const u64 *metrics)
{
	const u64 set = counters_with_bits();
	const struct adaptive_run run = {
		.counter = c, .config = config_of(set) | (slots ? CONFIG_METRICS : 0),
	};
	const unsigned end = adaptive_bytes(run.config);
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);

	adaptive_any_window(&run, &setup);
	if (!adaptive_one_record(t, AT(V6_22, V6_24), &run))
		return false;
	CHECK_EQ(t, V6_22, end, SIZE_OF_WORD(adaptive_at(0)),
		 "bits 63:48 of the format word, counter %u", c);
	if (!slots) {
		check_values(t, AT(V6_24), BASIC_BYTES, set, c);
		return true;
	}
	CHECK_EQ(t, V6_23, *slots, adaptive_at(end - 16), "fixed counter 3, record of counter %u",
		 c);
	CHECK_EQ(t, V6_23, *metrics, adaptive_at(end - 8), "MSR_PERF_METRICS, record of counter %u",
		 c);
	return true;
}

/*
 * V6-22  In format 6 MSR_PEBS_DATA_CFG[4] must add a group of 10H bytes and 8 for each bit of
 *        MSR_PEBS_DATA_CFG[47:32] and [55:48].
 * V6-23  In format 6 MSR_PEBS_DATA_CFG[5] must add fixed counter 3, then MSR_PERF_METRICS, and 3
 *        in the group's word at 08H.
 * V6-24  In format 6 the counters group must have its values in the order of the bits,
 *        general-purpose counters first.
 *        Linux
 *
 * Given  all counters but one stand still, with values that differ in both halves; then fixed
 *        counter 3 and MSR_PERF_METRICS, where they are there, after they have counted
 * When   each counter with PEBS, fixed ones too, makes a record with all of them
 * Then   the record has the size of the group, the values of the counters, and fixed counter 3 and
 *        MSR_PERF_METRICS at its end
 * Control: each counter reads the value that was written to it
 */
TEST(adaptive, counters_group_is_in_the_record_of_each_counter, REQS(V6_22, V6_23, V6_24),
     NEEDS(need_perfmon, need_counters_group, need_full_width, need_branches))
{
	char reason[128];
	const bool metered = need_slots_in_records(reason, sizeof(reason));
	u64 slots, metrics;

	FOR_EACH_COUNTER (c, adaptive_sure_counters()) {
		preset_all_but(t, CONTROL_AT(V6_22, V6_24), c);
		if (!check_all_values(t, c, NULL, NULL))
			return;
		if (!metered || c == SLOTS)
			continue;
		if (!stopped_metrics(t, CONTROL_AT(V6_23), &slots, &metrics) ||
		    !check_all_values(t, c, &slots, &metrics))
			return;
	}
}

/* The event of each counter other than the sampler; workload_load declares its number in n
 * rounds. */
enum { NOTHING, LOAD_EVENTS, BRANCH_EVENTS, INSTRUCTION_EVENTS };

static int kind_of(unsigned c)
{
	static const u8 kinds[] = { NOTHING, LOAD_EVENTS, BRANCH_EVENTS, INSTRUCTION_EVENTS };

	if (PMC_IS_FIXED(c))
		return c == PMC_FIXED(0) ? INSTRUCTION_EVENTS : NOTHING;
	return c < 4 ? kinds[c] : c & 1 ? BRANCH_EVENTS : NOTHING;
}

static u64 counted(int kind, u64 rounds)
{
	static const enum workload_count counts[] = { [LOAD_EVENTS] = WORKLOAD_LOADS,
		[BRANCH_EVENTS] = WORKLOAD_BRANCHES,
		[INSTRUCTION_EVENTS] = WORKLOAD_INSTRUCTIONS
	};

	return kind == NOTHING ? 0 : workload_declared(&workload_load, counts[kind], rounds);
}

/* Start values that are far from each other and from an overflow. */
static u64 start_of(unsigned c)
{
	return value_of(c) & BITS(0, 46);
}

/* Program the counters other than IA32_PMC0 by their kind. Returns those that count. */
static struct pmc_mask program_others(void)
{
	u64 on = 0;

	FOR_EACH_COUNTER (c, counters_all().bits & ~BIT(0)) {
		const int kind = kind_of(c);

		if (kind != NOTHING) {
			counter_program(c,
					kind == LOAD_EVENTS   ? LOADS :
					kind == BRANCH_EVENTS ? EVENT_BR_INST_RETIRED_ALL_BRANCHES :
								EVENT_INST_RETIRED_ANY_P,
					COUNT_BOTH);
			on |= BIT(c);
		}
		counter_write(c, start_of(c));
	}
	return (struct pmc_mask){ on };
}

static void stop_all(void)
{
	pebs_disarm();
	FOR_EACH_COUNTER (c, counters_all().bits)
		counter_program_disabled(c, 0, 0);
}

/* Check a value of the group: the counter doesn't count, or it has the count at the record's
 * round. */
static void check_at_record(struct test *t, struct test_claim claim, unsigned c, u64 value)
{
	const int kind = kind_of(c);
	const u64 least = counted(kind, ROUNDS_PERIOD - SWITCHING);
	const u64 most = counted(kind, ROUNDS_PERIOD + sampling_shadow_bound() + SWITCHING);

	if (kind == NOTHING)
		test_check_eq(t, claim, start_of(c), value, "counter %u, which stands still", c);
	else
		test_check_range(t, claim, start_of(c) + least, start_of(c) + most + SWITCHING,
				 value, "counter %u at a record about %u loads after it was %#lx",
				 c, ROUNDS_PERIOD, start_of(c));
}

/*
 * V6-25  In format 6 the counters group must have the values of the moment of the record.
 *        Linux
 *
 * Given  counters with values far apart: of loads, branches and instructions, and some that stand
 *        still; the threshold after the first record, and interrupts off
 * When   IA32_PMC0 makes a record after 512 of 2048 rounds of a load and a branch
 * Then   for each counter the group has its first value plus the events of 512 rounds; late records
 *        and the switching of counters may add to it
 * Control: each counter that runs ends at the events of 2048 rounds, and the interrupt comes after
 *        these rounds
 */
TEST(adaptive, counters_group_has_the_values_at_the_record, REQS(V6_25),
     NEEDS(need_perfmon, need_counters_group, need_full_width, need_instructions, need_branches,
	   need_events))
{
	enum { ROUNDS = 4 * ROUNDS_PERIOD };
	const u64 set = counters_with_bits();
	struct adaptive_run run = { .config = config_of(set) };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);
	unsigned at = BASIC_BYTES + HEAD_BYTES;
	struct pmc_mask others;

	setup.threshold = 1;
	if (!sampling_shadow_fits(t))
		return;
	pmi_open(NULL);
	intr_disable();
	ds_open(&setup);
	others = program_others();
	pebs_arm(0, LOADS, COUNT_BOTH, calibration_period(LOADS, ROUNDS_PERIOD));
	workload_run(&workload_load, ROUNDS, pmc_or(pmc_one(0), others));
	stop_all();
	intr_enable();
	CONTROL_EQ(t, V6_25, 1, pmi_end()->count, "interrupts of the threshold, after %u rounds",
		   ROUNDS);
	if (!adaptive_one_record(t, CONTROL_AT(V6_25), &run))
		return;
	for (unsigned bit = 0; bit < 24; bit++) {
		const unsigned c = counter_of(bit);

		if (!(set & BIT(bit)))
			continue;
		if (c) {
			check_at_record(t, AT(V6_25), c, adaptive_at(at));
			CONTROL_RANGE(t, V6_25, start_of(c) + counted(kind_of(c), ROUNDS),
				      start_of(c) + counted(kind_of(c), ROUNDS) + SWITCHING,
				      counter_read(c), "counter %u after %u rounds", c, ROUNDS);
		}
		at += 8;
	}
}

/*
 * V6-25  In format 6 the counters group must have the values of the moment of the record.
 *        Linux
 *
 * Given  IA32_PMC0 with a reset value of 512 loads, and counters of loads, branches and
 *        instructions that are never reloaded
 * When   three records follow each other
 * Then   from one record to the next each of these counters has grown by the events of 512 rounds.
 *        It may have grown by more if the later record is late
 * Control: there are three records
 */
TEST(adaptive, counters_of_two_records_differ_by_the_period, REQS(V6_25),
     NEEDS(need_perfmon, need_counters_group, need_full_width, need_instructions, need_branches,
	   need_events))
{
	enum { RECORDS = 3 };
	const u64 set = counters_with_bits();
	struct adaptive_run run = { .config = config_of(set) };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);
	const unsigned size = adaptive_bytes(run.config), first = BASIC_BYTES + HEAD_BYTES;
	struct pmc_mask others;
	unsigned at = first;

	if (!sampling_shadow_fits(t))
		return;
	setup.reset[0] = pebs_reset_value(0, ROUNDS_PERIOD);
	ds_open(&setup);
	others = program_others();
	pebs_arm(0, LOADS, COUNT_BOTH, ROUNDS_PERIOD);
	workload_run(&workload_load, ROUNDS_FOR(RECORDS), pmc_or(pmc_one(0), others));
	stop_all();
	sampling_want(t, RECORDS);
	if (!CONTROL_EQ(t, V6_25, RECORDS * size, (u64)ds_bytes(), "bytes of %u records", RECORDS))
		return;
	for (unsigned bit = 0; bit < 24; bit++) {
		const int kind = kind_of(counter_of(bit));

		if (!(set & BIT(bit)))
			continue;
		for (unsigned i = 1; kind != NOTHING && i < RECORDS; i++)
			/* A record may come in the middle of a round, so there may be a few events
			 * more or fewer than those of whole rounds: no more than SWITCHING. */
			CHECK_RANGE(t, V6_25, counted(kind, ROUNDS_PERIOD) - SWITCHING,
				    counted(kind, ROUNDS_PERIOD + sampling_shadow_bound()) +
					    SWITCHING,
				    adaptive_at(at + i * size) - adaptive_at(at + (i - 1) * size),
				    "counter %u from record %u to %u", counter_of(bit), i - 1, i);
		at += 8;
	}
}

/*
 * V6-23  In format 6 MSR_PEBS_DATA_CFG[5] must add fixed counter 3, then MSR_PERF_METRICS, and 3
 *        in the group's word at 08H.
 * V6-25  In format 6 the counters group must have the values of the moment of the record.
 *        Linux
 *
 * Given  fixed counter 3 and MSR_PERF_METRICS counting from 0
 * When   IA32_PMC0 makes a record after 512 of 2048 rounds of a load and a branch
 * Then   its slots are at least a quarter of the loads, and fewer than at the end
 * Control: fixed counter 3 has counted at the end
 */
TEST(adaptive, slots_of_a_record_are_fewer_than_at_the_end, REQS(V6_23, V6_25),
     NEEDS(need_perfmon, need_slots_in_records, need_events))
{
	enum { ROUNDS = 4 * ROUNDS_PERIOD };
	struct adaptive_run run = { .config = CONFIG_METRICS };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);
	u64 slots, end;

	ds_open(&setup);
	counter_program(SLOTS, 0, COUNT_BOTH);
	counter_write(SLOTS, 0);
	msr_write(MSR_PERF_METRICS, 0);
	pebs_arm(0, LOADS, COUNT_BOTH, ROUNDS_PERIOD);
	workload_run(&workload_load, ROUNDS,
		     (struct pmc_mask){ BIT(0) | BIT(SLOTS) | METRICS_ENABLE });
	stop_all();
	if (!adaptive_one_record(t, CONTROL_AT(V6_23, V6_25), &run))
		return;
	end = counter_read(SLOTS);
	slots = adaptive_at(BASIC_BYTES + HEAD_BYTES);
	CONTROL_RANGE(t, IDS(V6_23, V6_25), ROUNDS, ~0ULL, end, "slots at the end");
	CHECK_RANGE(t, IDS(V6_23, V6_25), ROUNDS_PERIOD / 4, end - 1, slots,
		    "slots of the record, %lu at the end", end);
}
