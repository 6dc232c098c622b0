/* SPDX-License-Identifier: MIT */
/*
 * The DS area is memory, and each assist uses its contents at that time: SDM "Processor Event Based
 * Sampling (PEBS)", Figure 18-22 "PEBS Programming Environment"; Linux changes the threshold and
 * the reset values of an area while IA32_DS_AREA points to it. Also threshold interrupts after the
 * first one, with each delivery mode. Counters are off while fields are changed.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/intr.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"

#define OVF_BUF	   IA32_PERF_GLOBAL_STATUS_OVF_BUF
#define FIRST_SLOT 0x1234000
#define OTHER_SLOT 0x5678000
/* Events of the instructions that close a window, and loads of their microcode. */
#define SLACK (SAMPLE_MARKS + 32)

/* Make one more record of counter c. The area isn't changed. */
static void overflow_once(unsigned c)
{
	sampling_overflow_on(c, COUNT_BOTH);
	pebs_disarm();
	counter_program_disabled(c, 0, 0);
}

static const struct pmi_log *one_more(unsigned c)
{
	pmi_open(NULL);
	overflow_once(c);
	return pmi_end();
}

static void check_changed(struct test *t, unsigned c)
{
	struct ds_setup setup = sampling_setup(8);
	const struct pmi_log *log;

	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		setup.reset[i] = FIRST_SLOT;
	ds_open(&setup);
	log = one_more(c);
	sampling_want(t, 1);
	CONTROL_EQ(t, IDS(DS_05, DS_10, DS_15), 1, ds_records(), "records, IA32_PMC%u", c);
	CONTROL_EQ(t, DS_05, 0, log->count, "interrupts below the threshold");
	CONTROL_RANGE(t, DS_15, FIRST_SLOT, FIRST_SLOT + SLACK, counter_read(c),
		      "IA32_PMC%u after a record", c);
	/* Only memory is written. */
	ds_set_threshold_bytes(2 * ds_record_size());
	ds_set_reset(c, OTHER_SLOT);
	log = one_more(c);
	sampling_want(t, 2);
	CHECK_EQ(t, DS_05, 1, log->count,
		 "interrupts of record 2, the threshold set after it meanwhile, IA32_PMC%u", c);
	CHECK_RANGE(t, DS_15, OTHER_SLOT, OTHER_SLOT + SLACK, counter_read(c),
		    "IA32_PMC%u after a record, its slot changed meanwhile", c);
	ds_set_maximum_bytes(2 * ds_record_size());
	one_more(c);
	CHECK(t, DS_10, !ds_record_written(2),
	      "no record 3, the maximum set before it meanwhile, IA32_PMC%u", c);
	counter_reset();
}

/*
 * DS-05  A threshold interrupt must be raised when the index has reached the threshold after a
 *        record.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-10  An assist must write nothing when its bounds check fails.
 *        SDM 18.9.1 Global Counter Control Facilities in Sandy Bridge
 * DS-15  The reset values of IA32_PMC0 to IA32_PMC3 must be at 40H, 48H, 50H and 58H of the DS
 *        area.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility, Figure
 *        18-22
 *
 * Given  a DS area of which a record has been made
 * When   threshold, reset value and absolute maximum are changed in memory, IA32_DS_AREA is not
 *        written, and each PEBS counter overflows again
 * Then   the next assist interrupts at the new threshold and reloads the new value; after the new
 *        maximum there is no record
 * Control: the record before was made by the old values
 */
TEST(ds, assist_goes_by_the_ds_area_as_it_is_in_memory, REQS(DS_05, DS_10, DS_15),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	for (unsigned c = 0; c < sampling_gp_counters(); c++)
		check_changed(t, c);
}

/* A period whose counter values overlap with those of no other period here. */
#define LONG_PERIOD (3 * ROUNDS_PERIOD)

/* Run one window in which the counter overflows once. records: the records after that. */
static void overflow_again(struct test *t, unsigned c, u64 rounds, unsigned records)
{
	workload_run(&workload_load, rounds, pmc_one(c));
	sampling_want(t, records);
}

static void check_period(struct test *t, struct test_claim claim, unsigned c, u64 period)
{
	u64 reset = pebs_reset_value(c, period);

	test_check_range(t, claim, reset, reset + ROUNDS_FOR(1), counter_read(c),
			 "IA32_PMC%u after record %u, its slot being -%lu since the one before", c,
			 ds_records(), period);
}

/* Check the slots by the periods: each of two records must reload the value that its slot has at
 * that time. */
static void check_slots(struct test *t, unsigned c, struct ds_setup *setup)
{
	for (unsigned i = 0; i < DS_RESET_SLOTS_OF_FORMAT_3; i++)
		setup->reset[i] = pebs_reset_value(i, ROUNDS_PERIOD);
	ds_open(setup);
	pebs_arm(c, sampling_event_on(c), COUNT_BOTH, ROUNDS_PERIOD);
	overflow_again(t, c, ROUNDS_FOR(1), 1);
	CONTROL_EQ(t, DS_15, 1, ds_records(), "records of IA32_PMC%u", c);
	check_period(t, CONTROL_AT(DS_15), c, ROUNDS_PERIOD);
	ds_set_reset(c, pebs_reset_value(c, LONG_PERIOD));
	overflow_again(t, c, ROUNDS_FOR(1), 2);
	check_period(t, AT(DS_15), c, LONG_PERIOD);
	ds_set_reset(c, pebs_reset_value(c, NEVER));
	overflow_again(t, c, LONG_PERIOD + SHADOW_MOST + 8, 3);
	check_period(t, AT(DS_15), c, NEVER);
}

static const struct pmi_log *next_record(unsigned c)
{
	pmi_open(NULL);
	counter_preset(c, ROUNDS_PERIOD);
	workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(c));
	return pmi_end();
}

/* Make three records. Then change threshold, index and maximum, one at a time. */
static void check_bounds(struct test *t, unsigned c)
{
	const u64 size = ds_record_size();

	ds_set_threshold_bytes(4 * size);
	CHECK_EQ(t, DS_05, 1, next_record(c)->count,
		 "interrupts of record 4 of IA32_PMC%u, the threshold set after it meanwhile", c);
	sampling_want(t, 4);
	ds_set_threshold_bytes(8 * size);
	ds_set_index(6);
	CHECK_EQ(t, DS_06, 0, next_record(c)->count,
		 "interrupts of IA32_PMC%u, the threshold set further on again", c);
	CHECK(t, DS_02, ds_record_written(6) && ds_bytes() == (int64_t)(7 * size),
	      "a record at the index, 6 records on meanwhile, IA32_PMC%u", c);
	ds_set_maximum_bytes(7 * size);
	next_record(c);
	CHECK(t, DS_10, !ds_record_written(7) && ds_bytes() == (int64_t)(7 * size),
	      "no record after the maximum, set to the index meanwhile, IA32_PMC%u", c);
	ds_set_maximum_bytes(8 * size);
	next_record(c);
	CONTROL(t, DS_10, ds_record_written(7), "a record, the maximum further on again");
}

/*
 * DS-02  A record must be written at the address in the PEBS index field, also where that isn't
 *        the buffer base.
 * DS-05  A threshold interrupt must be raised when the index has reached the threshold after a
 *        record.
 * DS-06  No threshold interrupt may be raised while the index is below the threshold.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-10  An assist must write nothing when its bounds check fails.
 *        SDM 18.9.1 Global Counter Control Facilities in Sandy Bridge
 * DS-15  The reset values of IA32_PMC0 to IA32_PMC3 must be at 40H, 48H, 50H and 58H of the DS
 *        area.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility, Figure
 *        18-22
 *
 * Given  PEBS on one counter, and neither IA32_DS_AREA nor IA32_PEBS_ENABLE is written any more
 * When   its reset slot is changed twice, then the threshold, the index and the absolute maximum,
 *        with a record after each change
 * Then   each assist uses the values in memory at its time
 * Control: before the first change there is a record by the old values; after the last one there is
 *          room again, and a record
 */
TEST(ds, assist_goes_by_the_ds_area_while_pebs_stays_enabled,
     REQS(DS_02, DS_05, DS_06, DS_10, DS_15), NEEDS(need_perfmon, need_any_pebs, need_events))
{
	if (!sampling_shadow_fits(t))
		return;
	for (unsigned c = 0; c < sampling_gp_counters(); c++) {
		struct ds_setup setup = sampling_setup(8);

		check_slots(t, c, &setup);
		if (ds_records() == 3)
			check_bounds(t, c);
		counter_reset();
	}
}

/*
 * DS-05   A threshold interrupt must be raised when the index has reached the threshold after a
 *         record.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * PMI-06  The delivery mode in LVTPC, fixed or NMI, must be honoured.
 *         SDM 10.5.1 Local Vector Table
 *
 * Given  a threshold of one record, delivery mode fixed and then NMI; OvfBuf is still set from a
 *        record made while LVTPC was masked, and LVTPC is no longer masked
 * When   another record is made
 * Then   there is one interrupt, of that mode; none is INCONCLUSIVE on a real processor, because no
 *        sentence says that the set bit is requested again
 * Control: OvfBuf was set, and both records are written
 */
TEST(ds, record_at_the_threshold_interrupts_although_ovfbuf_is_set, REQS(DS_05, PMI_06),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	for (unsigned nmi = 0; nmi < 2; nmi++) {
		const struct pmi_options masked = { .masked = true };
		const struct pmi_options leave = { .nmi = nmi, .keep_status = true,
						   .stay_masked = true };
		struct ds_setup setup = sampling_setup(8);
		const struct pmi_log *log;

		setup.threshold = 1;
		ds_open(&setup);
		pmi_open(&masked);
		overflow_once(nmi);
		pmi_settle();
		CONTROL_EQ(t, DS_05, OVF_BUF, counters_status() & OVF_BUF, "OvfBuf before");
		/* It lets through an interrupt that was pending. */
		pmi_open(&leave);
		if (pmi_settle()->count) {
			pmi_close();
			test_inconclusive(t,
					  "unmasking LVTPC with OvfBuf set interrupts by itself");
			return;
		}
		overflow_once(nmi);
		log = pmi_settle();
		sampling_want(t, 2);
		CONTROL_EQ(t, DS_05, 2, ds_records(), "records");
		if (!log->count && !test_is_strict(t))
			test_inconclusive(t, "no interrupt: perhaps there is none while OvfBuf is "
					     "set");
		else if (CHECK_EQ(t, DS_05, 1, log->count, "interrupts of a record, OvfBuf set"))
			CHECK_EQ(t, PMI_06, nmi ? VECTOR_NMI : VECTOR_PMI, log->entry[0].vector,
				 "vector of a threshold interrupt, delivery mode %s",
				 nmi ? "NMI" : "fixed");
		pmi_close();
		counter_reset();
	}
}

/*
 * PMI-01   The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *          through the local APIC's LVTPC.
 *          SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PRIO-08  When one counter has both PEBS and its interrupt enabled, its assist must be completed
 *          before its overflow interrupt is raised.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 *
 * Given  PEBS on each counter with INT, a period in its reset slot, the threshold out of reach
 * When   it overflows three times without a write in between, and makes a record each time
 * Then   each record is followed by one interrupt, whose handler finds the index after it
 */
TEST(arm, each_further_record_of_a_counter_with_int_interrupts, REQS(PMI_01, PRIO_08),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	if (!sampling_int_or_skip(t) || !sampling_shadow_fits(t))
		return;
	for (unsigned c = 0; c < sampling_gp_counters(); c++) {
		struct ds_setup setup = sampling_setup(8);
		const struct pmi_log *log;
		u64 size;

		for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
			setup.reset[i] = pebs_reset_value(i, ROUNDS_PERIOD);
		pmi_open(NULL);
		ds_open(&setup);
		size = ds_record_size();
		pebs_arm(c, sampling_event_on(c), COUNT_BOTH | COUNT_INT, ROUNDS_PERIOD);
		for (unsigned n = 1; n <= 3; n++) {
			workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(c));
			log = pmi_settle();
			sampling_want(t, n);
			if (!CHECK_RANGE(t, PMI_01, n, overflow_allowed(t, n, log->count),
					 log->count, "interrupts of %u records of IA32_PMC%u", n,
					 c) ||
			    log->count > n)
				break;
			CHECK_EQ(t, PRIO_08, ds_buffer() + n * size, log->entry[n - 1].index,
				 "index at the handler's entry, record %u", n);
		}
		pmi_close();
		counter_reset();
	}
}
