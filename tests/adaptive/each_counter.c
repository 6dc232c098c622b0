/* SPDX-License-Identifier: MIT */
/*
 * Properties of each single counter in adaptive records: its Adaptive_Record bit; and the counters
 * that a record names, for each general-purpose counter together with a fixed one.
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"

#define AT_WORD		0u	/* ADAPTIVE_BASIC_*, as literal numbers */
#define AT_APPLICABLE	0x10u
#define PAIR_ROUNDS	(4 * ROUNDS_PERIOD)	/* rounds of three instructions each */
#define PAIR_SLACK	(4 * PAIR_ROUNDS)	/* upper limit of instructions after a record */

/* Set or clear IA32_PERFEVTSELx[34] of each general-purpose counter except this one. */
static void set_adaptive_of_others(unsigned counter, bool on)
{
	FOR_EACH_COUNTER (i, counters_gp().bits)
		if (i != counter)
			msr_write(MSR_IA32_PERFEVTSEL0 + i, on ? IA32_PERFEVTSEL_ADAPTIVE : 0);
}

/*
 * ADP-31  IA32_PERFEVTSELx[34] must make the records of that counter adaptive and of no other.
 *         kvm-unit-tests pmu_pebs
 *
 * Given  MSR_PEBS_DATA_CFG asks for the GPR group; IA32_PERFEVTSELx[34] is set for one
 *        general-purpose counter only, or for all others only
 * When   that one makes a record, each in turn
 * Then   it has the GPR group in the first case, and is the basic group alone in the second
 */
TEST(adaptive, adaptive_bit_of_each_general_purpose_counter_is_of_its_records_alone, REQS(ADP_31),
     NEEDS(need_perfmon, need_baseline, need_branches))
{
	FOR_EACH_COUNTER (c, counters_gp().bits)
		for (unsigned others = 0; others < 2; others++) {
			const struct adaptive_run run = { .counter = c, .config = CONFIG_GPR,
							  .basic = others };
			struct adaptive_layout layout;
			struct ds_setup setup = adaptive_setup(&run, &layout);

			set_adaptive_of_others(c, others);
			adaptive_any_window(&run, &setup);
			set_adaptive_of_others(c, false);
			if (!adaptive_one_record(t, AT(ADP_31), &run))
				return;
			CHECK_EQ(t, ADP_31, others ? 0 : CONFIG_GPR,
				 adaptive_at(AT_WORD) & BITS(0, 31),
				 "bits 31:0 of the format word of IA32_PMC%u, bit 34 of %s", c,
				 others ? "all others" : "its own");
		}
}

/* The values of two counters differ by more than any window counts. */
static u64 reset_of(unsigned counter)
{
	return pebs_reset_value(counter, ((u64)counter + 1) << 24);
}

/*
 * ADP-37  Two PEBS counters that overflow on one instruction must both be named, by one record or
 *         by two.
 *         Linux setup_pebs_adaptive_sample_data and its callers
 * DS-13   After a record every counter that overflowed and is PEBS-enabled must be loaded with its
 *         reset value.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  PEBS on a general-purpose counter of instructions, each in turn, and on fixed counter 0,
 *        which counts them too; the same start value, and reset values that differ
 * When   both overflow
 * Then   one record, or two, name both of them, and each counter reads its own reset value plus its
 *        later events
 * Control: there are one or two records
 */
TEST(adaptive, general_purpose_and_fixed_counter_that_overflow_together_are_both_named,
     REQS(ADP_37, DS_13), NEEDS(need_perfmon, need_fixed_0_to_2, need_baseline, need_instructions))
{
	FOR_EACH_COUNTER (c, adaptive_instruction_counters(t)) {
		const struct pmc_mask both = pmc_or(pmc_one(c), pmc_one(PMC_FIXED(0)));
		const struct adaptive_run run = { .counter = c, .basic = true };
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);
		u64 named = 0;

		setup.reset[c] = reset_of(c);
		setup.reset[PMC_FIXED(0)] = reset_of(PMC_FIXED(0));
		ds_open(&setup);
		pebs_arm_as(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, ROUNDS_PERIOD);
		pebs_arm_as(PMC_FIXED(0), 0, COUNT_BOTH, ROUNDS_PERIOD);
		workload_run(&workload_load, PAIR_ROUNDS, both);
		pebs_disarm();
		if (!ds_bytes() && counter_caps()->hypervisor) {
			test_inconclusive(t, "no record");
			return;
		}
		sampling_want(t, 1);
		/* Both counters count the same instructions from the same value: they overflow
		 * together. */
		if (CONTROL_RANGE(t, ADP_37, 1, 2, ds_records(),
				  "records of IA32_PMC%u and fixed counter 0", c))
			for (unsigned i = 0; i < ds_records(); i++)
				named |= adaptive_at(i * BASIC_BYTES + AT_APPLICABLE);
		/* KVM leaves a guest's PEBS counter off if it has another number on the host. */
		if (counter_caps()->hypervisor && both.bits & ~named) {
			CHECK_EQ(t, ADP_37, 0, named & ~both.bits,
				 "counters too many in the records");
			test_inconclusive(t, "no record names counters %#lx", both.bits & ~named);
			return;
		}
		CHECK_EQ(t, ADP_37, both.bits, named,
			 "applicable counters of the records of IA32_PMC%u and fixed counter 0, "
			 "taken together",
			 c);
		FOR_EACH_COUNTER (i, both.bits)
			CHECK_RANGE(t, DS_13, reset_of(i), reset_of(i) + PAIR_SLACK,
				    counter_read(i),
				    "counter %u after the records of IA32_PMC%u and fixed counter "
				    "0",
				    i, c);
		counter_reset();
	}
}
