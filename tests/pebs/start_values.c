/* SPDX-License-Identifier: MIT */
/*
 * Start values and events of PEBS counters: on Skylake any start value, and the event of all cycles
 * with INV and CMASK. SDM Table 18-56; Linux has no limit_period for these processors. Also:
 * Skylake's memory events count instructions.
 */
#include "kernel/output/fmt.h"
#include "pmu/event.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

#define LONGEST_START	200u	/* longer than every limit of the previous generation: 128 */
#define SHORTEST_START	2u	/* Linux uses 2; no source says whether 1 works */
#define SWITCHING	32u	/* most loads of opening and closing a window */
#define CYCLES_PERIOD	128u	/* a multiple of 64, as Broadwell's PREC_DIST requires */
#define ABOVE_WIDTH	TOTAL_CYCLES_CMASK	/* more than any cycle retires */

static bool need_events_of_instructions(char *reason, size_t size)
{
	struct event event;

	if (event_get(EK_LOADS, EV_PEBS | EV_INSN, &event))
		return true;
	fmt_print(reason, size, "no event of instructions that load (family %02x model %02x)",
		  counter_caps()->family, counter_caps()->model);
	return false;
}

/* PEBS of any event counts all cycles; INST_RETIRED.PREC_DIST does on other counters than
 * IA32_PMC1. */
static bool need_cycles_as_records(char *reason, size_t size)
{
	struct event event;

	if (event_cycles(0, &event))
		return true;
	fmt_print(reason, size, "no PEBS of all cycles known for family %02x model %02x",
		  counter_caps()->family, counter_caps()->model);
	return false;
}

static bool need_total_cycles(char *reason, size_t size)
{
	struct event event;

	for (unsigned n = 0; event_cycles(n, &event); n++)
		if (event.code == EVENT_INST_RETIRED_PREC_DIST && event.counters & BIT(0))
			return true;
	fmt_print(reason, size, "no INST_RETIRED.TOTAL_CYCLES_PS known for family %02x model %02x",
		  counter_caps()->family, counter_caps()->model);
	return false;
}

/*
 * SKL-12  A PEBS counter must accept any start value from -1 on (no multiple of 64, no minimum of
 *         128).
 *         Linux: no limit_period for Skylake; period 1 is inference
 *
 * Given  start values from -2 to -200, on IA32_PMC0 to IA32_PMC3 in turn, and a reset value out of
 *        reach
 * When   that number of loads, and 256 more, in a strict run 144 more, are executed
 * Then   there is one record each time, and the counter has counted those, less a shadow, since its
 *        reload: not more, as after a start value nearer to 0, and not fewer
 */
TEST(arm, pebs_counter_takes_any_start_value, REQS(SKL_12),
     NEEDS(need_perfmon, need_pebs, need_events_of_instructions))
{
	/* longer than the delay by a minimum or a step; other processors also have a shadow */
	const unsigned more = test_is_strict(t) ? 144 : 256;
	const u64 reload = BIT(counter_width(0)) - NEVER;
	const unsigned late = sampling_shadow_bound();
	struct ds_setup setup = sampling_setup(8);

	if (!sampling_shadow_fits(t))
		return;
	for (unsigned n = SHORTEST_START; n <= LONGEST_START; n++) {
		const unsigned c = n % PEBS_COUNTERS;

		ds_open(&setup);
		pebs_arm(c, LOADS, COUNT_BOTH, n);
		workload_run(&workload_load, n + more, pmc_one(c));
		pebs_disarm();
		sampling_want(t, 1);
		CHECK_EQ(t, SKL_12, 1, ds_records(), "records of IA32_PMC%u, started at -%u", c, n);
		CHECK_RANGE(t, SKL_12, reload + more - 1 - late, reload + more + SWITCHING,
			    counter_read(c), "IA32_PMC%u after its record, started at -%u", c, n);
		counter_program_disabled(c, 0, 0);
		counters_clear(BIT(c));
	}
}

/*
 * SKL-11  01C0H with INV = 1 and a CMASK above the retire width must be usable with PEBS although
 *         INV and CMASK are set.
 *         SDM 18.13.1 6th Generation Intel Core: Processor Event Based Sampling (PEBS) Facility,
 *         Table 18-56; Linux, intel/perfmon
 *
 * Given  event 01C0H with INV and a CMASK of 16, more than a cycle retires
 * When   IA32_PMC0, IA32_PMC2 and IA32_PMC3 overflow with PEBS
 * Then   each makes a record
 */
TEST(arm, all_cycles_make_records_although_inv_and_cmask_are_set, REQS(SKL_11),
     NEEDS(need_perfmon, need_pebs, need_total_cycles))
{
	static const unsigned counters[] = { 0, 2, 3 };	/* from intel/perfmon */

	for (unsigned i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		const unsigned c = counters[i];
		struct ds_setup setup = sampling_setup(8);

		ds_open(&setup);
		pebs_arm(c, EVENT_INST_RETIRED_PREC_DIST,
			 COUNT_BOTH | COUNT_INV | COUNT_CMASK(ABOVE_WIDTH), PERIOD);
		workload_run(&workload_load, 16 * PERIOD, pmc_one(c));
		pebs_disarm();
		sampling_want(t, 1);
		CHECK_EQ(t, SKL_11, 1, ds_records(), "records of all cycles, IA32_PMC%u", c);
		counter_reset();
	}
}

/*
 * ARM-11  A retirement event with INV = 1 and CMASK = 16, which counts every cycle, must make PEBS
 *         records where Linux or Intel's event files use it so.
 *         intel/perfmon: INST_RETIRED.TOTAL_CYCLES and UOPS_RETIRED.TOTAL_CYCLES of
 *         NehalemEP_core; Linux intel_pebs_aliases_core2, _snb and _precdist (cycles:pp and
 *         cycles:ppp)
 *
 * Given  each event of spec/event.def that is precise with INV and a CMASK of 16
 * When   each counter overflows with PEBS, unless a source says that it can't
 * Then   it makes a record
 */
TEST(arm, events_of_all_cycles_make_records, REQS(ARM_11),
     NEEDS(need_perfmon, need_pebs, need_instructions, need_cycles_as_records))
{
	struct event event;

	for (unsigned n = 0; event_cycles(n, &event); n++)
		for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
			struct ds_setup setup = sampling_setup(8);

			if (!(event.sure & BIT(c)))
				continue;
			ds_open(&setup);
			pebs_arm(c, event.code,
				 COUNT_BOTH | COUNT_INV | COUNT_CMASK(TOTAL_CYCLES_CMASK),
				 calibration_period(event.code, CYCLES_PERIOD));
			workload_run(&workload_load, 16 * CYCLES_PERIOD, pmc_one(c));
			pebs_disarm();
			sampling_want(t, 1);
			CHECK_EQ(t, ARM_11, 1, ds_records(),
				 "records of all cycles by event %04x, IA32_PMC%u", event.code, c);
			counter_reset();
		}
}

/*
 * SKL-13  MEM_INST_RETIRED must count an instruction once however many loads or stores it has.
 *         SDM 18.13.1 6th Generation Intel Core: Processor Event Based Sampling (PEBS) Facility,
 *         Table 18-56, note 4; intel/perfmon
 *
 * Given  MEM_INST_RETIRED.ALL_LOADS on IA32_PMC0
 * When   PERIOD more CMPSQ, with two loads each, are executed
 * Then   the count is PERIOD more
 * Control: the same is true of instructions with one load
 */
TEST(count, instruction_with_two_loads_counts_once, REQS(SKL_13),
     NEEDS(need_perfmon, need_events_of_instructions))
{
	const u64 loads = workload_declared(&workload_kind_compare, WORKLOAD_LOADS, PERIOD);
	u64 counted;

	if (!window_difference_one(t, 0, LOADS, COUNT_BOTH, &workload_kind_compare, PERIOD,
				   2 * PERIOD, &counted))
		return;
	CHECK_EQ(t, SKL_13, PERIOD, counted, "instructions that load, in %u CMPSQ with %lu loads",
		 PERIOD, loads);
	if (!window_difference_one(t, 0, LOADS, COUNT_BOTH, &workload_load, PERIOD, 2 * PERIOD,
				   &counted))
		return;
	CONTROL_EQ(t, SKL_13, PERIOD, counted, "instructions that load, in %u with one load each",
		   PERIOD);
}

/*
 * FIX-15  A record must never name an event before the one that overflowed the counter.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): the record is of an event after the
 *         overflow
 *
 * Given  marked loads, and a counter that overflows on one among them
 * When   each PEBS counter of loads makes a record
 * Then   the record's instruction is that load or a later one
 * Control: there is one record
 */
TEST(arm, record_names_no_load_before_the_overflow, REQS(FIX_15),
     NEEDS(need_perfmon, need_any_pebs, need_events), .under_every_fault = true)
{
	enum { LATER = 40 };
	const struct calibration *known = calibration_get();

	if (known->shadow_beyond || known->shadow_most + LATER >= SAMPLE_MARKS) {
		test_inconclusive(t, "record shadow of up to %u events", known->shadow_most);
		return;
	}

	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct ds_setup setup = sampling_setup(8);
		struct pebs_record record;

		ds_open(&setup);
		pebs_arm(c, LOADS, COUNT_BOTH, calibration_period(LOADS, PERIOD + LATER));
		workload_run(&workload_sample, PERIOD, pmc_one(c));
		pebs_disarm();
		counter_program_disabled(c, 0, 0);
		if (!sampling_one_record(t, CONTROL_AT(FIX_15), &record))
			return;
		CHECK_RANGE(t, FIX_15, workload_mark(&workload_sample, LATER - 1),
			    ~0ULL,
			    sampling_ip(&workload_sample, &record),
			    "the record's load, overflow on mark %u, IA32_PMC%u", LATER - 1, c);
		counters_clear(counters_status());
	}
}
