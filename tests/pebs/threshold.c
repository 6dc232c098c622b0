/* SPDX-License-Identifier: MIT */
/*
 * The PEBS interrupt threshold: SDM "Processor Event Based Sampling (PEBS)" ("reaches"), "Writing
 * the DS Interrupt Service Routine" ("matches/exceeds"). If the position of the threshold matters,
 * a window has only one record: then no further record comes before a late interrupt. No threshold
 * is set between two records, because the manual requires the address of a record.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

#define THRESHOLDS	8
#define NOT_REACHED	8	/* records; three are made */
#define OVF_BUF	IA32_PERF_GLOBAL_STATUS_OVF_BUF

/* The index and the threshold of a PEBS buffer, in records. */
struct in_records {
	unsigned index, threshold;
};

/* Make one record at the index. Returns the log. */
static const struct pmi_log *one_record(unsigned c, struct in_records at)
{
	struct ds_setup setup = sampling_setup(16);

	setup.start = at.index;
	setup.threshold = at.threshold;
	pmi_open(NULL);
	sampling_run_on(&setup, c, COUNT_BOTH);
	return pmi_end();
}

/*
 * DS-05   A threshold interrupt must be raised when the index has reached the threshold after a
 *         record.
 * DS-06   No threshold interrupt may be raised while the index is below the threshold.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-21   When a record has brought the index to the threshold, OvfBuf
 *         (IA32_PERF_GLOBAL_STATUS[62]) must be set.
 *         SDM 18.4.2, 18.9.1; Goldmont: Enhancements to IA32_PERF_GLOBAL_STATUS.OvfDSBuffer[62]
 * PMI-05  The threshold interrupt must use the vector of an overflow interrupt, the one in LVTPC.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  a PEBS buffer with a threshold after one to eight records; one record a window, so that a
 *        late interrupt can't come after another record
 * When   the last record below the threshold is made, then the record that reaches it
 * Then   the first raises no interrupt and doesn't set OvfBuf; the second raises one on the PMI's
 *        vector, whose handler finds OvfBuf and the index at the threshold
 * Control: the record below the threshold is written
 */
TEST(ds, threshold_interrupts_exactly_at_its_record, REQS(DS_05, DS_06, DS_21, PMI_05),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	size_t size = record_size(counter_caps()->record_format);

	for (unsigned threshold = 1; threshold <= THRESHOLDS; threshold++) {
		unsigned c = threshold % sampling_gp_counters();
		const struct pmi_log *log;

		if (threshold > 1) {
			log = one_record(c, (struct in_records){ .index = threshold - 2,
								 .threshold = threshold });
			sampling_want(t, threshold - 1);
			CHECK_EQ(t, DS_06, 0, log->count,
				 "interrupts of record %u, threshold after %u, IA32_PMC%u",
				 threshold - 1, threshold, c);
			CONTROL_EQ(t, DS_06, threshold - 1, ds_records(),
				   "records up to the index");
			CHECK_EQ(t, DS_21, 0, counters_status() & OVF_BUF,
				 "OvfBuf below the threshold");
		}
		log = one_record(c, (struct in_records){ .index = threshold - 1,
							 .threshold = threshold });
		sampling_want(t, threshold);
		if (!CHECK_EQ(t, DS_05, 1, log->count,
			      "interrupts of record %u, threshold after it, IA32_PMC%u", threshold,
			      c))
			continue;
		CHECK_EQ(t, DS_05, ds_buffer() + threshold * size, log->entry[0].index,
			 "index at the handler's entry: the threshold");
		CHECK_EQ(t, DS_21, OVF_BUF, log->entry[0].status & OVF_BUF,
			 "OvfBuf at the handler's entry");
		CHECK_EQ(t, PMI_05, VECTOR_PMI, log->entry[0].vector, "vector");
	}
}

/*
 * DS-20  The BTS fields must be at 00H to 18H and the PEBS fields base, index, absolute maximum,
 *        threshold at 20H, 28H, 30H, 38H of the DS area.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility, Figure
 *        18-22
 *
 * Given  a threshold far below the absolute maximum, and an index between them. A processor that
 *        confuses the two fields makes no record or no interrupt
 * When   a record is made
 * Then   it is written, and there is one interrupt
 */
TEST(ds, threshold_and_maximum_are_at_their_ds_area_offsets, REQS(DS_20),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	const struct pmi_log *log = one_record(0,
					       (struct in_records){ .index = 3, .threshold = 1 });

	sampling_want(t, 4);
	CHECK_EQ(t, DS_20, 4 * record_size(counter_caps()->record_format), (u64)ds_bytes(),
		 "index - base after a record after the threshold, below the maximum");
	CHECK_EQ(t, DS_20, 1, log->count, "interrupts of a record after the threshold at 38H");
}

/*
 * DS-05  A threshold interrupt must be raised when the index has reached the threshold after a
 *        record.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  a PEBS index at the threshold, and then three records after it, as with software that
 *        doesn't make room
 * When   each PEBS counter makes a record
 * Then   there is one interrupt
 */
TEST(ds, record_beyond_the_threshold_interrupts, REQS(DS_05),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	for (unsigned c = 0; c < sampling_gp_counters(); c++) {
		static const struct in_records at = { .index = 2, .threshold = 2 };
		static const struct in_records beyond = { .index = 5, .threshold = 2 };

		CHECK_EQ(t, DS_05, 1, one_record(c, at)->count,
			 "interrupts of record 3, threshold after 2, IA32_PMC%u", c);
		sampling_want(t, 3);
		CHECK_EQ(t, DS_05, 1, one_record(c, beyond)->count,
			 "interrupts of record 6, threshold after 2, IA32_PMC%u", c);
		sampling_want(t, 6);
	}
}

/*
 * DS-05   A threshold interrupt must be raised when the index has reached the threshold after a
 *         record.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * PMI-06  The delivery mode in LVTPC, fixed or NMI, must be honoured.
 * PMI-04  Delivery of a performance-monitoring interrupt must set the mask bit of LVTPC, and only
 *         software may clear it.
 *         SDM 10.5.1 Local Vector Table
 *
 * Given  RFLAGS.IF = 0, a PEBS threshold of one record
 * When   each PEBS counter makes it, with delivery mode fixed, then with NMI
 * Then   there is one interrupt: the fixed one is delivered only when IF = 1 again, the NMI before
 *        that; at the handler's entry LVTPC's mask bit is set
 */
TEST(ds, fixed_threshold_interrupt_waits_for_if_and_an_nmi_does_not, REQS(DS_05, PMI_06, PMI_04),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	for (unsigned n = 0; n < 2 * sampling_gp_counters(); n++) {
		const struct pmi_options options = { .nmi = n % 2 };
		const char *mode = options.nmi ? "NMI" : "fixed";
		struct ds_setup setup = sampling_setup(8);
		const struct pmi_log *log;
		unsigned off;

		setup.threshold = 1;
		pmi_open(&options);
		intr_disable();
		sampling_run_on(&setup, n / 2, COUNT_BOTH);
		off = pmi_settle()->count;
		intr_enable();
		sampling_want(t, 1);
		CHECK_EQ(t, PMI_06, options.nmi, off, "interrupts while IF = 0, %s, IA32_PMC%u",
			 mode, n / 2);
		log = pmi_end();
		if (CHECK_EQ(t, DS_05, 1, log->count, "interrupts in all, %s, IA32_PMC%u", mode,
			     n / 2))
			CHECK_EQ(t, PMI_04, LVT_MASKED, log->entry[0].lvtpc & LVT_MASKED,
				 "LVTPC's mask bit at the handler's entry, %s, IA32_PMC%u", mode,
				 n / 2);
		counters_clear(counters_status());
	}
}

/* The interrupts of three records, with the threshold after record `threshold`. */
static const struct pmi_log *threshold_interrupts(unsigned threshold)
{
	struct ds_setup setup = sampling_setup(16);
	const struct pmi_log *log;

	setup.threshold = threshold;
	pmi_open(NULL);
	sampling_rounds(&setup, 3);
	log = pmi_end();
	counters_clear(counters_status());
	return log;
}

/*
 * DS-05   A threshold interrupt must be raised when the index has reached the threshold after a
 *         record.
 * PMI-05  The threshold interrupt must use the vector of an overflow interrupt, the one in LVTPC.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  a PEBS threshold of three records
 * When   three records are made in one window; the handler's own loads can make a fourth, if it
 *        comes late
 * Then   there is one interrupt on the PMI's vector, whose handler finds OvfBuf and the index at
 *        the threshold
 */
TEST(ds, third_record_at_a_threshold_of_three_interrupts, REQS(DS_05, PMI_05),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	size_t size = record_size(counter_caps()->record_format);
	const struct pmi_log *log;

	if (!sampling_shadow_fits(t))
		return;
	log = threshold_interrupts(3);
	sampling_want(t, 3);
	/* If the interrupt comes late in the window, loads of the handler can make a fourth
	 * record. */
	if (!CHECK_RANGE(t, DS_05, 1, ds_records() < 4 ? 1 : 2, log->count,
			 "interrupts of three records, threshold after the third"))
		return;
	CHECK_EQ(t, DS_05, ds_buffer() + 3 * size, log->entry[0].index,
		 "index at the handler's entry: the threshold");
	CHECK_EQ(t, PMI_05, VECTOR_PMI, log->entry[0].vector, "vector");
	CHECK_EQ(t, PMI_05, IA32_PERF_GLOBAL_STATUS_OVF_BUF,
		 log->entry[0].status & IA32_PERF_GLOBAL_STATUS_OVF_BUF,
		 "OvfBuf at the handler's entry");
}

/*
 * DS-06    No threshold interrupt may be raised while the index is below the threshold.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * PRIO-11  A threshold interrupt must not be raised unless a PEBS assist has written a record (an
 *          index out of bounds is DS-09).
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 *
 * Given  a PEBS threshold of eight records
 * When   three records are made
 * Then   no interrupt is delivered; with a threshold of three the handler finds the index at the
 *        threshold and a record
 * Control: the three records are written, and with a threshold of three there is an interrupt
 */
TEST(ds, records_below_the_threshold_raise_no_interrupt, REQS(DS_06, PRIO_11),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	const struct pmi_log *log;

	if (!sampling_shadow_fits(t))
		return;
	log = threshold_interrupts(NOT_REACHED);
	sampling_want(t, 3);
	CHECK_EQ(t, DS_06, 0, log->count,
		 "interrupts of three records, threshold after the eighth");
	CONTROL_EQ(t, DS_06, 3, ds_records(), "records meanwhile");
	log = threshold_interrupts(3);
	if (!CONTROL_RANGE(t, DS_06, 1, ~0ULL, log->count, "interrupts, threshold after the third"))
		return;
	CHECK_RANGE(t, PRIO_11, ds_threshold(), ~0ULL, log->entry[0].index,
		    "index at the entry of the first threshold interrupt");
	CHECK(t, PRIO_11, ds_record_written(0), "a record with the interrupt");
}

/*
 * PMI-18  A threshold interrupt must freeze as an overflow interrupt does.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_DEBUGCTL[12] = 1, a PEBS threshold of one record
 * When   a record is made
 * Then   IA32_PERF_GLOBAL_CTRL reads 0 at the handler's entry
 * Control: without the freeze there is an interrupt inside the window, where IA32_PERF_GLOBAL_CTRL
 *          isn't 0; with it there is one too
 */
TEST(ds, threshold_interrupt_freezes_the_counters, REQS(PMI_18),
     NEEDS(need_perfmon, need_any_pebs, need_events, need_legacy_freeze, need_freeze))
{
	const struct pmi_log *log = threshold_interrupts(1);

	if (!CONTROL_RANGE(t, PMI_18, 1, ~0ULL, log->count, "threshold interrupts without freeze"))
		return;
	if (!log->entry[0].global_ctrl) {
		test_inconclusive(t, "the interrupt comes only after the window");
		return;
	}
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	log = threshold_interrupts(1);
	msr_write(MSR_IA32_DEBUGCTL, 0);
	if (CONTROL_RANGE(t, PMI_18, 1, ~0ULL, log->count, "threshold interrupts with freeze"))
		CHECK_EQ(t, PMI_18, 0, log->entry[0].global_ctrl,
			 "IA32_PERF_GLOBAL_CTRL at the handler's entry");
}

/*
 * DS-21  When a record has brought the index to the threshold, OvfBuf
 *        (IA32_PERF_GLOBAL_STATUS[62]) must be set.
 *        SDM 18.4.2, 18.9.1; Goldmont: Enhancements to IA32_PERF_GLOBAL_STATUS.OvfDSBuffer[62]
 *
 * Given  room for eight records, the threshold after the first, LVTPC masked
 * When   each PEBS counter makes a record and stays enabled
 * Then   OvfBuf is 1 while the counter goes on, and 0 before the record
 */
TEST(ds, ovfbuf_is_shown_while_the_counter_goes_on, REQS(DS_21),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	static const struct pmi_options masked = { .masked = true };

	if (!sampling_shadow_fits(t))
		return;
	for (unsigned c = 0; c < sampling_gp_counters(); c++) {
		struct ds_setup setup = sampling_setup(8);

		setup.threshold = 1;
		pmi_open(&masked);
		ds_open(&setup);
		pebs_arm(c, sampling_event_on(c), COUNT_BOTH, PERIOD);
		counters_enable(pmc_one(c));
		CHECK_EQ(t, DS_21, 0, counters_status() & OVF_BUF,
			 "OvfBuf before the record of IA32_PMC%u", c);
		workload_run_uncounted(&workload_load, ROUNDS_FOR(1));
		CHECK_EQ(t, DS_21, OVF_BUF, counters_status() & OVF_BUF,
			 "OvfBuf while IA32_PMC%u counts", c);
		counters_disable();
		pebs_disarm();
		pmi_close();
		counter_reset();
	}
}
