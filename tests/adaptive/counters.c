/* SPDX-License-Identifier: MIT */
/*
 * The counters that make adaptive records, and their reset values: kvm-unit-tests pmu_pebs, Linux
 * struct debug_store. With baseline each counter that CPUID reports makes records, fixed counters
 * too, and for any event.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"
#include "tests/measure/overflow.h"

#define AT_EVENTING_IP	ADAPTIVE_BASIC_eventing_ip
#define AT_APPLICABLE	ADAPTIVE_BASIC_applicable
#define CORE_CYCLES	0x003c
#define RETIRED_SLACK	0x100000	/* events after the record; no window has so many */

static bool is_pebs_counter(unsigned c)
{
	return PMC_IS_FIXED(c) ? counter_caps()->pebs_fixed_mask & BIT(c - PMC_FIXED(0)) :
				 counter_caps()->pebs_mask & BIT(c);
}

/*
 * Slots of bad speculation and similar events of fixed counters 4 and up may be too few for an
 * overflow in all windows of a test. true: this counter has enough of them here.
 */
static bool overflows_here(unsigned c)
{
	const unsigned windows = 32;
	u64 value;

	if (!PMC_IS_FIXED(c) || c <= PMC_FIXED(3))
		return true;
	counter_program(c, 0, COUNT_BOTH);
	counter_write(c, 0);
	workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(c));
	value = counter_read(c);
	counter_program_disabled(c, 0, 0);
	return value * windows >= ROUNDS_PERIOD;
}

/*
 * ADP-35  The applicable counters must have bit n for IA32_PMCn and bit 32+i for fixed counter i.
 *         Linux; kvm-unit-tests pmu_pebs
 * ADP-41  Where baseline is 1, each general-purpose counter must be usable for PEBS.
 *         KVM, kvm-unit-tests: IA32_PERF_CAPABILITIES[14], PEBS_BASELINE
 *
 * Given  IA32_PERF_CAPABILITIES[14] = 1; MSR_PEBS_DATA_CFG asks for the GPR group
 * When   each general-purpose counter counts branches and overflows
 * Then   there is a record, whose applicable counters are that counter alone
 */
TEST(adaptive, each_general_purpose_counter_makes_records, REQS(ADP_35, ADP_41),
     NEEDS(need_perfmon, need_baseline, need_branches), .under_every_fault = true)
{
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		struct adaptive_run run = { .counter = c, .config = CONFIG_GPR };
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);

		adaptive_any_window(&run, &setup);
		if (!adaptive_one_record(t, AT(ADP_41), &run))
			return;
		CHECK_EQ(t, IDS(ADP_35, ADP_41), BIT(c), adaptive_at(AT_APPLICABLE),
			 "applicable counters of a record of IA32_PMC%u", c);
	}
}

/*
 * ADP-07  Where baseline is 1, fixed counters must make PEBS records by IA32_PEBS_ENABLE[35:32].
 *         KVM, kvm-unit-tests: IA32_PERF_CAPABILITIES[14], PEBS_BASELINE
 * ADP-35  The applicable counters must have bit n for IA32_PMCn and bit 32+i for fixed counter i.
 *         Linux; kvm-unit-tests pmu_pebs
 * FIX-09  IA32_PEBS_ENABLE[32+i] must make fixed counter i write records whose applicable counters
 *         have bit 32+i.
 *         kvm-unit-tests pmu_pebs; Linux
 * MSR-14  IA32_PEBS_ENABLE[35:32] must enable PEBS on the fixed counters, and not load latency.
 *         Linux, KVM
 *
 * Given  PEBS with baseline; IA32_PEBS_ENABLE[32+i] alone is set
 * When   fixed counter i overflows
 * Then   there is a record with the GPR group, whose applicable counters are bit 32+i alone
 */
TEST(adaptive, each_fixed_counter_makes_records, REQS(ADP_07, ADP_35, FIX_09, MSR_14),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_baseline), .under_every_fault = true)
{
	FOR_EACH_COUNTER (i, counter_caps()->pebs_fixed_mask) {
		struct adaptive_run run = { .counter = PMC_FIXED(i), .config = CONFIG_GPR };
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);

		if (!overflows_here(PMC_FIXED(i)))
			continue;
		adaptive_any_window(&run, &setup);
		if (!adaptive_one_record(t, AT(ADP_07, FIX_09, MSR_14), &run))
			return;
		CHECK_EQ(t, IDS(ADP_35, FIX_09, MSR_14), BIT(PMC_FIXED(i)),
			 adaptive_at(AT_APPLICABLE),
			 "applicable counters of a record of fixed counter %u", i);
	}
}

/*
 * ADP-32  IA32_FIXED_CTR_CTRL[32+4i] must make the records of fixed counter i adaptive and of no
 *         other.
 *         kvm-unit-tests pmu_pebs; Linux
 *
 * Given  MSR_PEBS_DATA_CFG asks for the GPR group; IA32_FIXED_CTR_CTRL[32+4i] is set for one fixed
 *        counter
 * When   each fixed counter makes a record
 * Then   that of the counter whose bit is set has the GPR group, those of the others are the basic
 *        group alone
 */
TEST(adaptive, adaptive_bit_of_one_fixed_counter_is_of_its_records_alone, REQS(ADP_32),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_baseline))
{
	FOR_EACH_COUNTER (bit, counter_caps()->pebs_fixed_mask) {
		FOR_EACH_COUNTER (i, counter_caps()->pebs_fixed_mask) {
			struct adaptive_run run = { .counter = PMC_FIXED(i), .config = CONFIG_GPR,
						    .basic = i != bit };
			struct adaptive_layout layout;
			struct ds_setup setup = adaptive_setup(&run, &layout);

			if (!overflows_here(PMC_FIXED(i)))
				continue;
			/* Write the bits of the other counters here: pebs_arm() writes only this
			 * counter's bit. */
			msr_write(MSR_IA32_FIXED_CTR_CTRL, BIT(32 + 4 * bit));
			adaptive_any_window(&run, &setup);
			if (!adaptive_one_record(t, AT(ADP_32), &run))
				return;
			CHECK_EQ(t, ADP_32, i == bit ? CONFIG_GPR : 0,
				 adaptive_at(0) & BITS(0, 31),
				 "bits 31:0 of the format word of fixed counter %u, "
				 "IA32_FIXED_CTR_CTRL[%u] = 1",
				 i, 32 + 4 * bit);
			counter_reset();
		}
	}
}

#define WINDOWS_MOST	SLOW_WINDOWS	/* for fixed counters, whose events may be rare */

/* Run windows, with the counters `on`, until counter c has one more record. */
static void run_until_record(unsigned c, struct pmc_mask on)
{
	const unsigned windows = PMC_IS_FIXED(c) ? WINDOWS_MOST : 1;
	const u64 rounds = c == OVERFLOW_SLOW ? SLOW_ROUNDS : ROUNDS_FOR(1);
	const int64_t before = ds_bytes();

	for (unsigned i = 0; i < windows && ds_bytes() == before; i++)
		workload_run(&workload_load, rounds, on);
}

static u64 period_of(unsigned c)
{
	return c == OVERFLOW_SLOW ? SLOW_PERIOD : ROUNDS_PERIOD;
}

/*
 * ADP-07  Where baseline is 1, fixed counters must make PEBS records by IA32_PEBS_ENABLE[35:32].
 * ADP-41  Where baseline is 1, each general-purpose counter must be usable for PEBS.
 *         KVM, kvm-unit-tests: IA32_PERF_CAPABILITIES[14], PEBS_BASELINE
 * FIX-09  IA32_PEBS_ENABLE[32+i] must make fixed counter i write records whose applicable counters
 *         have bit 32+i.
 *         kvm-unit-tests pmu_pebs; Linux
 *
 * Given  PEBS on all counters, general-purpose and fixed, all of which count; only one of them is
 *        near its overflow
 * When   that one overflows; each in turn, except fixed counters from 4 on with too few events here
 * Then   there is a record, whose applicable counters are that counter alone
 */
TEST(adaptive, each_counter_makes_records_beside_all_others, REQS(ADP_07, ADP_41, FIX_09),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_baseline, need_branches))
{
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		struct adaptive_run run = { .counter = c, .config = CONFIG_GPR };
		const struct test_claim claim = PMC_IS_FIXED(c) ? AT(ADP_07, FIX_09) : AT(ADP_41);
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);
		struct pmc_mask all = { 0 };

		if (!is_pebs_counter(c) || !overflows_here(c))
			continue;
		ds_open(&setup);
		for (unsigned i = 0; i < WINDOW_COUNTERS; i++) {
			if (!is_pebs_counter(i))
				continue;
			pebs_arm(i, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH,
				 i == c ? period_of(c) : NEVER);
			all = pmc_or(all, pmc_one(i));
		}
		run_until_record(c, all);
		pebs_disarm();
		if (!adaptive_one_record(t, claim, &run))
			return;
		test_check_eq(t, claim, BIT(c), adaptive_at(AT_APPLICABLE),
			      "applicable counters of a record of counter %u, PEBS on %#lx", c,
			      all.bits);
		counter_reset();
	}
}

/*
 * ADP-40  Where baseline is 1, an event that is not precise must make records too.
 *         KVM, kvm-unit-tests: IA32_PERF_CAPABILITIES[14], PEBS_BASELINE
 *
 * Given  PEBS with baseline
 * When   each general-purpose counter overflows in core cycles
 * Then   there is a record, whose applicable counters are that counter alone
 */
TEST(adaptive, event_that_is_not_precise_makes_records, REQS(ADP_40),
     NEEDS(need_perfmon, need_baseline, need_cycles))
{
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		struct adaptive_run run = { .counter = c, .config = CONFIG_GPR,
					    .event = CORE_CYCLES };
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);

		adaptive_any_window(&run, &setup);
		if (!adaptive_one_record(t, AT(ADP_40), &run))
			return;
		CHECK_EQ(t, ADP_40, BIT(c), adaptive_at(AT_APPLICABLE),
			 "applicable counters of a record of cycles, IA32_PMC%u", c);
	}
}

/*
 * FIX-11  A record of fixed counter 0 must name an instruction that retired at or after the
 *         overflow.
 *         Linux: fixed counter 0 has reduced skid
 *
 * Given  fixed counter 0 with PEBS, which overflows on an instruction among NOPs of one byte
 * When   it makes a record
 * Then   EventingIP is that NOP or a later one, because opening the window adds instructions before
 *        it
 * Control: there is one record
 */
TEST(adaptive, record_of_fixed_counter_0_is_not_before_its_overflow, REQS(FIX_11),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_baseline))
{
	enum { BEFORE = 2 * PERIOD, OPENING = 8 };

	for (unsigned nop = 2 * OPENING; nop < SLED_NOPS / 2; nop += 13) {
		struct adaptive_run run = { .counter = PMC_FIXED(0), .config = CONFIG_GPR };
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);
		u64 first = workload_mark(&workload_sled, 0);

		ds_open(&setup);
		pebs_arm(PMC_FIXED(0), 0, COUNT_BOTH, BEFORE + nop + 1);
		workload_run(&workload_sled, PERIOD, pmc_one(PMC_FIXED(0)));
		pebs_disarm();
		counter_program_disabled(PMC_FIXED(0), 0, 0);
		counters_clear(BIT(PMC_FIXED(0)));
		if (!adaptive_one_record(t, CONTROL_AT(FIX_11), &run))
			return;
		CHECK_RANGE(t, FIX_11, first + nop - OPENING, ~0ULL, adaptive_at(AT_EVENTING_IP),
			    "EventingIP, NOP %u at the overflow, of %u that the opening may add",
			    nop, OPENING);
	}
}

/* Far below 0; two values differ by more than any window counts, and in bits 47:32 alone. Bit 31 is
 * 0 or 1, and the low bits aren't 0. */
static u64 reload_of(unsigned counter)
{
	return BIT(47) | ((u64)counter + 1) << 33 | (u64)(counter & 1) << 31 | 0x7ffff0;
}

/* The value that the counter reads after such a reload. */
static u64 reloaded(unsigned counter)
{
	return reload_of(counter) & (BIT(counter_width(counter)) - 1);
}

static bool need_format_4_slots(char *reason, size_t size)
{
	if (counter_caps()->pebs_format == PEBS_FORMAT_ADAPTIVE)
		return true;
	fmt_print(reason, size, "reset slots of another format (IA32_PERF_CAPABILITIES = %#lx)",
		  counter_caps()->perf_capabilities);
	return false;
}

static bool need_format_5_slots(char *reason, size_t size)
{
	if (counter_caps()->pebs_format >= PEBS_FORMAT_MORE_RESETS)
		return true;
	fmt_print(reason, size, "reset slots of another format (IA32_PERF_CAPABILITIES = %#lx)",
		  counter_caps()->perf_capabilities);
	return false;
}

/* The claim about the place of a counter's reset value, which depends on the format and the kind of
 * counter. */
static struct test_claim claim_of_slot(unsigned counter)
{
	if (counter_caps()->pebs_format >= PEBS_FORMAT_MORE_RESETS)
		return AT(ADP_45);
	return PMC_IS_FIXED(counter) ? AT(ADP_08) : AT(ADP_44);
}

/* Take a record of the counter, with a different value in each slot. false: there is none. */
static bool reload_window(struct test *t, struct test_claim claim, unsigned counter)
{
	struct adaptive_run run = { .counter = counter, .basic = true };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);

	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		setup.reset[i] = reload_of(i);
	adaptive_any_window(&run, &setup);
	return adaptive_one_record(t, claim, &run);
}

/*
 * ADP-44  In format 4 the reset value of IA32_PMCn must come from offset 40H + 8n of the DS save
 *         area, n = 0 to 7.
 *         Linux struct debug_store
 *
 * Given  reset values that differ in each of the twelve slots of the DS area
 * When   each general-purpose counter makes a record
 * Then   it reads the value at 40H + 8n, plus its later events
 * Control: there is a record
 */
TEST(adaptive, general_purpose_counter_is_reloaded_from_its_own_slot, REQS(ADP_44),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_baseline, need_format_4_slots, need_branches),
     .under_every_fault = true)
{
	FOR_EACH_COUNTER (c, counters_gp().bits & BITS(0, 7)) {
		if (!reload_window(t, CONTROL_AT(ADP_44), c))
			return;
		CHECK_RANGE(t, ADP_44, reloaded(c), reloaded(c) + RETIRED_SLACK,
			    counter_read(c),
			    "IA32_PMC%u after a record, slot at %#x of the DS area", c,
			    0x40 + 8 * c);
	}
}

/*
 * ADP-08  In format 4 the reset value of fixed counter i must come from offset 80H + 8i of the DS
 *         save area.
 * FIX-16  A record must leave in a fixed counter the reset value of the counter's own slot.
 *         Linux struct debug_store
 *
 * Given  reset values that differ in each of the twelve slots of the DS area
 * When   each fixed counter makes a record
 * Then   it reads the value at 80H + 8i, plus its later events
 * Control: there is a record
 */
TEST(adaptive, fixed_counter_is_reloaded_from_its_own_slot, REQS(ADP_08, FIX_16),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_baseline, need_format_4_slots),
     .under_every_fault = true)
{
	FOR_EACH_COUNTER (i, counters_fixed().bits >> PMC_FIXED(0)) {
		const unsigned c = PMC_FIXED(i);

		if (!reload_window(t, CONTROL_AT(ADP_08, FIX_16), c))
			return;
		CHECK_RANGE(t, IDS(ADP_08, FIX_16), reloaded(c), reloaded(c) + RETIRED_SLACK,
			    counter_read(c),
			    "fixed counter %u after a record, slot at %#x of the DS area", i,
			    0x80 + 8 * i);
	}
}

/*
 * ADP-45  In format 5 and later the reset value of IA32_PMCn must come from offset 40H + 8n of the
 *         DS save area, and that of fixed counter i from 140H + 8i.
 * FIX-16  A record must leave in a fixed counter the reset value of the counter's own slot.
 *         Linux struct debug_store
 *
 * Given  format 5 or 6; reset values that differ in each of the 48 slots of the DS area
 * When   each counter, general-purpose or fixed, makes a record
 * Then   it reads the value at 40H + 8n or 140H + 8i, plus its later events
 * Control: there is a record
 */
TEST(adaptive, counter_is_reloaded_from_its_slot_of_format_5, REQS(ADP_45, FIX_16),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_baseline, need_format_5_slots, need_branches),
     .under_every_fault = true)
{
	FOR_EACH_COUNTER (c, counters_all().bits) {
		if (!is_pebs_counter(c) || !overflows_here(c))
			continue;
		if (!reload_window(t, CONTROL_AT(ADP_45, FIX_16), c))
			return;
		if (PMC_IS_FIXED(c))
			CHECK_RANGE(t, IDS(ADP_45, FIX_16), reloaded(c),
				    reloaded(c) + RETIRED_SLACK, counter_read(c),
				    "fixed counter %u after a record, slot at %#x of the DS area",
				    c - PMC_FIXED(0), 0x140 + 8 * (c - PMC_FIXED(0)));
		else
			CHECK_RANGE(t, ADP_45, reloaded(c), reloaded(c) + RETIRED_SLACK,
				    counter_read(c),
				    "IA32_PMC%u after a record, slot at %#x of the DS area", c,
				    0x40 + 8 * c);
	}
}

/*
 * ADP-44  In format 4 the reset value of IA32_PMCn must come from offset 40H + 8n of the DS save
 *         area, n = 0 to 7.
 * ADP-08  In format 4 the reset value of fixed counter i must come from offset 80H + 8i of the DS
 *         save area.
 * ADP-45  In format 5 and later the reset value of IA32_PMCn must come from offset 40H + 8n of the
 *         DS save area, and that of fixed counter i from 140H + 8i.
 *         Linux struct debug_store
 *
 * Given  PEBS on one counter, whose slot of the DS area holds its period; it has made a record
 * When   the slot alone is changed in memory, and the counter overflows again
 * Then   the counter reads the new value, plus its later events
 * Control: there are two records
 */
TEST(adaptive, reset_slot_that_changes_between_records_is_reloaded, REQS(ADP_44, ADP_08, ADP_45),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_baseline, need_branches))
{
	FOR_EACH_COUNTER (c, counters_all().bits) {
		const struct test_claim claim = claim_of_slot(c);
		struct adaptive_run run = { .counter = c, .basic = true,
					    .capacity = DS_CAPACITY };
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);

		if (!is_pebs_counter(c) || !overflows_here(c))
			continue;
		setup.reset[c] = pebs_reset_value(c, period_of(c));
		ds_open(&setup);
		pebs_arm_as(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH, period_of(c));
		run_until_record(c, pmc_one(c));
		/* A fixed counter may make several records. */
		ds_set_index(0);
		ds_set_reset(c, reload_of(c));
		run_until_record(c, pmc_one(c));
		pebs_disarm();
		if (!adaptive_one_record(t, test_control(claim), &run))
			return;
		test_check_range(t, claim, reloaded(c), reloaded(c) + RETIRED_SLACK,
				 counter_read(c),
				 "counter %u after a record, its slot changed since the one before",
				 c);
		counter_reset();
	}
}

/*
 * ADP-46  A reset value of 0 must restart the counter at 0.
 *         Linux intel_pmu_pebs_enable: writes 0 for a counter without reload
 *
 * Given  a reset value of 0 for one counter, large ones in all other slots; not fixed counter 4,
 *        whose event no window is sure to have
 * When   it makes a record
 * Then   it reads the number of its later events, from 0
 * Control: there is a record
 */
TEST(adaptive, reset_value_of_zero_restarts_the_counter_at_zero, REQS(ADP_46),
     NEEDS(need_perfmon, need_baseline, need_branches))
{
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		struct adaptive_run run = { .counter = c, .basic = true };
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);

		if (!is_pebs_counter(c) || !overflows_here(c))
			continue;
		for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
			setup.reset[i] = reload_of(i);
		setup.reset[c] = 0;
		adaptive_any_window(&run, &setup);
		if (!adaptive_one_record(t, CONTROL_AT(ADP_46), &run))
			return;
		CHECK_RANGE(t, ADP_46, 0, RETIRED_SLACK, counter_read(c),
			    "counter %u after a record, its reset value 0", c);
	}
}
