/* SPDX-License-Identifier: MIT */
/*
 * The counters group of an architectural PEBS record: Linux struct arch_pebs_cntr_header, the same
 * as in format 6. CFG_C[35] of a counter says whether it may be in the group. CFG_C[38:36] of the
 * counter that makes the record select the kinds of counters. This file has its own literal
 * offsets.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/event.h"
#include "tests/archpebs/archpebs.h"
#include "tests/frame/calibration.h"

#define ALLOW_IN_RECORD	BIT(35)
#define GENERAL		BIT(36)
#define FIXED		BIT(37)
#define METRICS		BIT(38)

#define HEAD_BYTES	0x10u
#define METRICS_AT	0x08u
#define SLOTS_AND_METRICS 3u
#define METRICS_ENABLE	BIT(48)	/* of IA32_PERF_GLOBAL_CTRL */
#define SLOTS		PMC_FIXED(3)
#define STOPPED_METRICS	0x10204080u	/* value of MSR_PERF_METRICS; the low bytes differ */

static bool need_counters_group(char *reason, size_t size)
{
	return need_arch_groups(GENERAL | FIXED | ALLOW_IN_RECORD, reason, size);
}

static bool need_slots_in_records(char *reason, size_t size)
{
	return need_arch_groups(METRICS | ALLOW_IN_RECORD, reason, size) &&
	       need_metrics(reason, size) && need_fixed_3(reason, size);
}

/* A value for a counter that doesn't count: both halves are unique, and some values have bit 47. */
static u64 value_of(unsigned c)
{
	return ((c & 1 ? 0xda0000000000ULL : 0x5a0000000000ULL) + (c + 1) * 0x100010101ULL) &
	       (BIT(counter_width(c)) - 1);
}

/* Preset all counters except the sampler; they don't count. Those of `set` have CFG_C[35] = 1. */
static void preset_others(struct test *t, struct test_claim claim, unsigned sampler, u64 set)
{
	FOR_EACH_COUNTER (c, counter_caps()->v6.pebs & ~BIT(sampler)) {
		counter_write(c, value_of(c));
		test_check_eq(t, test_control(claim), value_of(c), counter_read(c),
			      "counter %u, which stands still", c);
		msr_write(version6_cfg_c(c), set & BIT(c) ? ALLOW_IN_RECORD : 0);
	}
}

static void clear_others(unsigned sampler)
{
	FOR_EACH_COUNTER (c, counter_caps()->v6.pebs & ~BIT(sampler))
		counter_write(c, 0);
	counters_clear(BIT(sampler));
}

/* Take a record with these bits of CFG_C. Returns the offset of the group; 0: there is none, and a
 * check has failed. */
static u64 record_counters(struct test *t, struct test_claim claim, unsigned c, u64 groups)
{
	struct arch_fragment f;
	u64 group;

	arch_pebs_arm(c, LOADS, COUNT_BOTH, calibration_period(LOADS, PERIOD) + 1, groups, NEVER);
	workload_run(&workload_sample, PERIOD, pmc_one(c));
	arch_pebs_disarm();
	counter_program_disabled(c, 0, 0);
	if (!arch_one_record(t, claim, 0))
		return 0;
	group = arch_group(0, ARCH_COUNTERS, &f);
	test_check(t, claim, group, "counters", "the group is there, CFG_C %#lx", groups);
	return group;
}

/* Case i: the counters with CFG_C[35] = 1, and the kinds that CFG_C[37:36] selects. The cases:
 * every counter; the sampler alone; every counter, but only one kind selected; every counter except
 * the sampler; each single counter and the sampler. false: there is no case i. */
static bool choose_case(unsigned i, unsigned sampler, u64 *set, u64 *kinds)
{
	enum { EVERY, NONE, GENERAL_ONLY, FIXED_ONLY, OTHERS, SINGLE };
	const u64 others = counter_caps()->v6.pebs & ~BIT(sampler);

	*kinds = i == GENERAL_ONLY ? GENERAL : i == FIXED_ONLY ? FIXED : GENERAL | FIXED;
	*set = i == NONE ? BIT(sampler) : i == OTHERS ? others : others | BIT(sampler);
	if (i < SINGLE)
		return true;
	*set = others;
	for (unsigned n = SINGLE; n < i; n++)
		*set &= *set - 1;
	if (!*set)
		return false;
	*set = (*set & -*set) | BIT(sampler);
	return true;
}

/*
 * APEBS-25  The counters group must have 10H bytes with its bits, 8 bytes for each counter, and at
 *           the end fixed counter 3 and MSR_PERF_METRICS if their bits are set.
 *           Linux struct arch_pebs_cntr_header
 *
 * Given  every counter of CPUID.(23H,5):EAX and ECX except one stands still, with a different value
 * When   that one makes a record with CFG_C[35] of all, of itself alone, of all but itself, and of
 *        itself and each single one, and CFG_C[36] and [37]; and with [36] or [37] alone
 * Then   the head has the bits of those that are in it, and after 10H bytes each has 8 bytes with
 *        its value, low bits first, general-purpose before fixed; 08H has no metrics
 * Control: each counter reads the value that was written to it
 */
TEST(archpebs, counters_group_holds_the_values_low_bits_first, REQS(APEBS_25),
     NEEDS(need_perfmon, need_counters_group, need_fixed_0_to_2, need_full_width, need_events))
{
	const unsigned c = counter_next(arch_load_counters(), 0);
	u64 set, kinds;

	for (unsigned i = 0; choose_case(i, c, &set, &kinds); i++) {
		const u64 wanted = set & ((kinds & GENERAL ? BITS(0, 31) : 0) |
					  (kinds & FIXED ? BITS(32, 63) : 0));
		u64 group, at;

		/* Without any counter in it the group may be left out. */
		if (!wanted)
			continue;
		arch_pebs_open(0, ARCH_PEBS_NEVER);
		preset_others(t, CONTROL_AT(APEBS_25), c, set);
		group = record_counters(t, AT(APEBS_25), c,
					kinds | (set & BIT(c) ? ALLOW_IN_RECORD : 0));
		if (!group)
			return;
		CHECK_EQ(t, APEBS_25, wanted, arch_at(group),
			 "bits of general-purpose counters at 00H, of fixed ones at 04H");
		at = group + HEAD_BYTES;
		FOR_EACH_COUNTER (n, arch_at(group)) {
			if (n != c)
				CHECK_EQ(t, APEBS_25, value_of(n), arch_at(at),
					 "value of counter %u, CFG_C[35] of %#lx", n, set);
			at += 8;
		}
		CHECK_EQ(t, APEBS_25, 0, arch_at(group + METRICS_AT),
			 "metrics at 08H, none asked for");
		arch_pebs_close();
		clear_others(c);
	}
}

/*
 * APEBS-25  The counters group must have 10H bytes with its bits, 8 bytes for each counter, and at
 *           the end fixed counter 3 and MSR_PERF_METRICS if their bits are set.
 *           Linux struct arch_pebs_cntr_header
 *
 * Given  fixed counter 3 and MSR_PERF_METRICS have counted, and stand still with different values;
 *        CFG_C[35] of every counter
 * When   a counter makes a record with CFG_C[38] alone, and with [36] and [37] too
 * Then   08H of the group is 3, and after the counters that its head names come fixed counter 3 and
 *        then MSR_PERF_METRICS
 * Control: both registers read the same after the record; without CFG_C[38] 08H is 0
 */
TEST(archpebs, slots_and_then_metrics_follow_the_counters_of_a_record, REQS(APEBS_25),
     NEEDS(need_perfmon, need_slots_in_records, need_full_width, need_events))
{
	static const u64 kinds[] = { METRICS, METRICS | GENERAL, METRICS | GENERAL | FIXED,
				     GENERAL | FIXED };
	const unsigned c = counter_next(arch_load_counters(), 0);
	const u64 all = counter_caps()->v6.pebs;

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		u64 slots, metrics, group, at;

		arch_pebs_open(0, ARCH_PEBS_NEVER);
		preset_others(t, CONTROL_AT(APEBS_25), c, all);
		counter_program(SLOTS, 0, COUNT_BOTH);
		counter_write(SLOTS, 0);
		msr_write(MSR_PERF_METRICS, 0);
		workload_run(&workload_random, ROUNDS_PERIOD,
			     (struct pmc_mask){ BIT(SLOTS) | METRICS_ENABLE });
		slots = counter_read(SLOTS);
		metrics = msr_read(MSR_PERF_METRICS);
		CONTROL(t, APEBS_25, slots && metrics && slots != metrics,
			"slots %#lx and metrics %#lx differ", slots, metrics);
		group = record_counters(t, AT(APEBS_25), c, kinds[i] | ALLOW_IN_RECORD);
		if (!group)
			return;
		CONTROL_EQ(t, APEBS_25, slots, counter_read(SLOTS), "fixed counter 3 after it");
		CONTROL_EQ(t, APEBS_25, metrics, msr_read(MSR_PERF_METRICS),
			   "MSR_PERF_METRICS after it");
		at = group + HEAD_BYTES + 8 * bits_set(arch_at(group));
		if (kinds[i] & METRICS) {
			CHECK_EQ(t, APEBS_25, SLOTS_AND_METRICS, arch_at(group + METRICS_AT),
				 "metrics at 08H, CFG_C[38] = 1");
			CHECK_EQ(t, APEBS_25, slots, arch_at(at), "fixed counter 3 at %#lx", at);
			CHECK_EQ(t, APEBS_25, metrics, arch_at(at + 8), "MSR_PERF_METRICS at %#lx",
				 at + 8);
		} else {
			CONTROL_EQ(t, APEBS_25, 0, arch_at(group + METRICS_AT),
				   "metrics at 08H, CFG_C[38] = 0");
		}
		counter_program_disabled(SLOTS, 0, 0);
		msr_write(MSR_PERF_METRICS, 0);
		arch_pebs_close();
		clear_others(c);
	}
}

/*
 * APEBS-25  The counters group must have 10H bytes with its bits, 8 bytes for each counter, and at
 *           the end fixed counter 3 and MSR_PERF_METRICS if their bits are set.
 *           Linux struct arch_pebs_cntr_header
 *
 * Given  all counters but one stand still, each with a different value, and CFG_C[35] of all
 * When   each counter of CPUID.(23H,5) makes a record with CFG_C[36] and [37], and where
 *        CPUID.(23H,4) has it with [38]
 * Then   the head has the bits of all counters, and the values are theirs; with [38] fixed counter
 *        3, which may make the record, and MSR_PERF_METRICS, which stands still, follow
 * Control: each counter reads the value that was written to it
 */
TEST(archpebs, counters_group_is_in_the_record_of_each_counter, REQS(APEBS_25),
     NEEDS(need_perfmon, need_counters_group, need_fixed_0_to_2, need_full_width, need_branches))
{
	const u64 all = counter_caps()->v6.pebs;
	char reason[128];
	const bool metrics = need_slots_in_records(reason, sizeof(reason));

	FOR_EACH_COUNTER (c, all & ARCH_SURE) {
		const struct arch_run run = { .counter = c,
					      .groups = GENERAL | FIXED | ALLOW_IN_RECORD |
							(metrics ? METRICS : 0) };
		struct arch_fragment f;
		u64 group, at;

		preset_others(t, CONTROL_AT(APEBS_25), c, all);
		if (metrics) {
			counter_write(SLOTS, value_of(SLOTS));
			msr_write(MSR_PERF_METRICS, STOPPED_METRICS);
		}
		arch_any_window(&run, NEVER);
		arch_pebs_disarm();
		counter_program_disabled(c, 0, 0);
		if (!arch_one_record(t, AT(APEBS_25), 0))
			return;
		group = arch_group(0, ARCH_COUNTERS, &f);
		if (!CHECK(t, APEBS_25, group, "the group is there, counter %u", c) ||
		    !CHECK_EQ(t, APEBS_25, all, arch_at(group),
			      "counters of a record of counter %u", c))
			return;
		at = group + HEAD_BYTES;
		FOR_EACH_COUNTER (n, all) {
			if (n != c)
				CHECK_EQ(t, APEBS_25, value_of(n), arch_at(at),
					 "value of counter %u, record of counter %u", n, c);
			at += 8;
		}
		if (metrics) {
			CHECK_EQ(t, APEBS_25, SLOTS_AND_METRICS, arch_at(group + METRICS_AT),
				 "metrics at 08H, record of counter %u", c);
			if (c != SLOTS)
				CHECK_EQ(t, APEBS_25, value_of(SLOTS), arch_at(at),
					 "fixed counter 3 after the counters, record of counter %u",
					 c);
			CHECK_EQ(t, APEBS_25, STOPPED_METRICS, arch_at(at + 8),
				 "MSR_PERF_METRICS after it, record of counter %u", c);
			msr_write(MSR_PERF_METRICS, 0);
		}
		arch_pebs_close();
		clear_others(c);
	}
}

/*
 * APEBS-25  The counters group must have 10H bytes with its bits, 8 bytes for each counter, and at
 *           the end fixed counter 3 and MSR_PERF_METRICS if their bits are set.
 *           Linux struct arch_pebs_cntr_header
 *
 * Given  one counter counts a branch a round; another one makes a record with the first one's value
 *        after 512 of 2048 rounds of a load and a branch
 * When   each of the first four counters makes the record
 * Then   the value in the record is that of about 512 branches; a late record may have more
 * Control: the counter has counted 2048 afterwards
 */
TEST(archpebs, counters_group_has_the_values_at_the_record, REQS(APEBS_25),
     NEEDS(need_perfmon, need_counters_group, need_full_width, need_branches, need_events))
{
	enum { ROUNDS = 4 * ROUNDS_PERIOD, SWITCHING = 32 };
	const u64 start = 0x5a0000010101;

	if (!sampling_shadow_fits(t))
		return;
	FOR_EACH_COUNTER (c, arch_load_counters()) {
		const u64 general = counter_caps()->v6.pebs & BITS(0, 31) & ~BIT(c);
		const unsigned counted = counter_next(general, 0);
		struct arch_fragment f;
		u64 group;

		if (counted >= COUNTERS_END)
			return;
		arch_pebs_open(0, ARCH_PEBS_NEVER);
		counter_program(counted, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH);
		counter_write(counted, start);
		arch_pebs_arm(c, LOADS, COUNT_BOTH, calibration_period(LOADS, ROUNDS_PERIOD),
			      GENERAL | ALLOW_IN_RECORD, NEVER);
		msr_write(version6_cfg_c(counted), ALLOW_IN_RECORD);
		workload_run(&workload_load, ROUNDS, pmc_or(pmc_one(c), pmc_one(counted)));
		arch_pebs_disarm();
		counter_program_disabled(c, 0, 0);
		counter_program_disabled(counted, 0, 0);
		if (!arch_one_record(t, CONTROL_AT(APEBS_25), 0))
			return;
		group = arch_group(0, ARCH_COUNTERS, &f);
		if (!CHECK_EQ(t, APEBS_25, BIT(c) | BIT(counted), group ? arch_at(group) : 0,
			      "counters of the record of IA32_PMC%u", c))
			return;
		CHECK_RANGE(t, APEBS_25, start + ROUNDS_PERIOD - SWITCHING,
			    start + ROUNDS_PERIOD + sampling_shadow_bound() + SWITCHING,
			    arch_at(group + HEAD_BYTES + (counted > c ? 8 : 0)),
			    "IA32_PMC%u at a record of IA32_PMC%u about %u rounds after %#lx",
			    counted, c, ROUNDS_PERIOD, start);
		CONTROL_RANGE(t, APEBS_25, start + ROUNDS, start + ROUNDS + SWITCHING,
			      counter_read(counted), "IA32_PMC%u after %u rounds", counted, ROUNDS);
		arch_pebs_close();
		clear_others(c);
	}
}

/*
 * APEBS-25  The counters group must have 10H bytes with its bits, 8 bytes for each counter, and at
 *           the end fixed counter 3 and MSR_PERF_METRICS if their bits are set.
 *           Linux struct arch_pebs_cntr_header
 *
 * Given  fixed counter 3 and MSR_PERF_METRICS are 0 and count; another counter makes a record with
 *        CFG_C[38] after 512 of 2048 rounds of a load and a branch, of 8192 where not every
 *        requirement is judged
 * When   each of the first four counters makes the record
 * Then   fixed counter 3 in it is above 0, and less than half of what it is at the end; the four
 *        lower bytes of MSR_PERF_METRICS in it add up to FFH, within 3 a byte
 * Control: neither is 0 at the end
 */
TEST(archpebs, counters_group_has_slots_and_metrics_at_the_record, REQS(APEBS_25),
     NEEDS(need_perfmon, need_slots_in_records, need_full_width, need_events))
{
	enum { WHOLE = 0xff, ERROR = 4 * 3 };
	/* On other machines a window begins with many slots that nothing fills. */
	const unsigned rounds = (test_is_strict(t) ? 4 : 16) * ROUNDS_PERIOD;

	FOR_EACH_COUNTER (c, arch_load_counters()) {
		struct arch_fragment f;
		u64 group, end, metrics, sum = 0;

		arch_pebs_open(0, ARCH_PEBS_NEVER);
		counter_program(SLOTS, 0, COUNT_BOTH);
		counter_write(SLOTS, 0);
		msr_write(MSR_PERF_METRICS, 0);
		arch_pebs_arm(c, LOADS, COUNT_BOTH, calibration_period(LOADS, ROUNDS_PERIOD),
			      METRICS | ALLOW_IN_RECORD, NEVER);
		workload_run(&workload_load, rounds,
			     pmc_or(pmc_one(c), (struct pmc_mask){ BIT(SLOTS) | METRICS_ENABLE }));
		arch_pebs_disarm();
		counter_program_disabled(c, 0, 0);
		counter_program_disabled(SLOTS, 0, 0);
		end = counter_read(SLOTS);
		CONTROL(t, APEBS_25, end && msr_read(MSR_PERF_METRICS),
			"slots %lu and MSR_PERF_METRICS %#lx at the end", end,
			msr_read(MSR_PERF_METRICS));
		if (!arch_one_record(t, CONTROL_AT(APEBS_25), 0))
			return;
		group = arch_group(0, ARCH_COUNTERS, &f);
		if (!CHECK_EQ(t, APEBS_25, SLOTS_AND_METRICS,
			      group ? arch_at(group + METRICS_AT) : 0,
			      "metrics at 08H, record of IA32_PMC%u", c))
			return;
		group += HEAD_BYTES + 8 * bits_set(arch_at(group));
		metrics = arch_at(group + 8);
		for (unsigned n = 0; n < 4; n++)
			sum += metrics >> 8 * n & WHOLE;
		CHECK_RANGE(t, APEBS_25, 1, end / 2, arch_at(group),
			    "slots at a record of IA32_PMC%u after %u of %u rounds", c,
			    ROUNDS_PERIOD, rounds);
		CHECK_RANGE(t, APEBS_25, WHOLE - ERROR, WHOLE + ERROR, sum,
			    "sum of bytes 0 to 3 of MSR_PERF_METRICS = %#lx in it", metrics);
		msr_write(MSR_PERF_METRICS, 0);
		arch_pebs_close();
		clear_others(c);
	}
}
