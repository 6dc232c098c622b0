/* SPDX-License-Identifier: MIT */
/*
 * The PEBS interrupt threshold: SDM "Processor Event Based Sampling (PEBS)" ("reaches"), "Writing
 * the DS Interrupt Service Routine" ("matches/exceeds"). One record a window where the place of
 * the threshold matters, so that no late interrupt lets another record pass. A threshold between
 * two records isn't set: the manual asks for a record's address.
 */
#include "kernel/apic.h"
#include "kernel/fault.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

#define OVF_BUF IA32_PERF_GLOBAL_STATUS_OVF_BUF

/* One record at `start`, with the threshold behind so many. The log stays. */
static const struct pmi_log *one_record(unsigned c, unsigned start, unsigned threshold)
{
	struct ds_setup setup = sampling_setup(16);
	const struct pmi_log *log;

	setup.start = start;
	setup.threshold = threshold;
	pmi_open(NULL);
	sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	log = pmi_settle();
	pmi_close();
	return log;
}

TEST(ds, the_threshold_interrupts_at_its_record, REQS(DS_05, DS_06, DS_21, PMI_05),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	size_t size = record_size(counter_caps()->record_format);

	for (unsigned threshold = 1; threshold <= 6; threshold++) {
		unsigned c = threshold % 4;
		const struct pmi_log *log;

		if (threshold > 1) {
			log = one_record(c, threshold - 2, threshold);
			sampling_want(t, threshold - 1);
			CHECK_EQ(t, DS_06, 0, log->count,
				 "interrupts of record %u, threshold behind %u, IA32_PMC%u",
				 threshold - 1, threshold, c);
			CHECK_EQ(t, DS_06, threshold - 1, ds_records(), "records up to the index");
			CHECK_EQ(t, DS_21, 0, counters_status() & OVF_BUF,
				 "OvfBuf below the threshold");
		}
		log = one_record(c, threshold - 1, threshold);
		sampling_want(t, threshold);
		if (!CHECK_EQ(t, DS_05, 1, log->count,
			      "interrupts of record %u, threshold behind it, IA32_PMC%u",
			      threshold, c))
			continue;
		CHECK_EQ(t, DS_05, ds_base() + threshold * size, log->entry[0].index,
			 "index at the handler's entry: the threshold");
		CHECK_EQ(t, DS_21, OVF_BUF, log->entry[0].status & OVF_BUF,
			 "OvfBuf at the handler's entry");
		CHECK_EQ(t, PMI_05, VECTOR_PMI, log->entry[0].vector, "vector");
	}
}

/* The threshold far below the absolute maximum: read from each other's place, neither a record nor
 * its interrupt would come. */
TEST(ds, threshold_and_maximum_are_in_their_places, REQS(DS_20),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	const struct pmi_log *log = one_record(0, 3, 1);

	sampling_want(t, 4);
	CHECK_EQ(t, DS_20, 4 * record_size(counter_caps()->record_format), (u64)ds_bytes(),
		 "index - base after a record behind the threshold, below the maximum");
	CHECK_EQ(t, DS_20, 1, log->count, "interrupts of a record behind the threshold at 38H");
}

/* Software that leaves the index at the threshold or behind it is interrupted by each record. */
TEST(ds, beyond_the_threshold_interrupts_too, REQS(DS_05),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	for (unsigned c = 0; c < 4; c++) {
		CHECK_EQ(t, DS_05, 1, one_record(c, 2, 2)->count,
			 "interrupts of record 3, threshold behind 2, IA32_PMC%u", c);
		sampling_want(t, 3);
		CHECK_EQ(t, DS_05, 1, one_record(c, 5, 2)->count,
			 "interrupts of record 6, threshold behind 2, IA32_PMC%u", c);
		sampling_want(t, 6);
	}
}

/* The interrupts of three records with the threshold behind record `threshold`. */
static const struct pmi_log *threshold_interrupts(unsigned threshold)
{
	struct ds_setup setup = sampling_setup(16);
	const struct pmi_log *log;

	setup.threshold = threshold;
	pmi_open(NULL);
	sampling_rounds(&setup, 3);
	log = pmi_settle();
	pmi_close();
	counters_clear(counters_status());
	return log;
}

TEST(ds, reaching_the_threshold_interrupts, REQS(DS_05, PMI_05),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	size_t size = record_size(counter_caps()->record_format);
	const struct pmi_log *log;

	if (!sampling_shadow_fits(t))
		return;
	log = threshold_interrupts(3);
	sampling_want(t, 3);
	/* The handler's own loads can make a fourth record, if it comes late in the window. */
	if (!CHECK_RANGE(t, DS_05, 1, ds_records() < 4 ? 1 : 2, log->count,
			 "interrupts of three records, threshold behind the third"))
		return;
	CHECK_EQ(t, DS_05, ds_base() + 3 * size, log->entry[0].index,
		 "index at the handler's entry: the threshold");
	CHECK_EQ(t, PMI_05, VECTOR_PMI, log->entry[0].vector, "vector");
	CHECK_EQ(t, PMI_05, IA32_PERF_GLOBAL_STATUS_OVF_BUF,
		 log->entry[0].status & IA32_PERF_GLOBAL_STATUS_OVF_BUF,
		 "OvfBuf at the handler's entry");
}

TEST(ds, below_the_threshold_nothing_interrupts, REQS(DS_06, PRIO_11),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	const struct pmi_log *log;

	if (!sampling_shadow_fits(t))
		return;
	log = threshold_interrupts(8);
	sampling_want(t, 3);
	CHECK_EQ(t, DS_06, 0, log->count,
		 "interrupts of three records, threshold behind the eighth");
	CHECK_EQ(t, DS_06, 3, ds_records(), "records meanwhile");
	/* The control. */
	log = threshold_interrupts(3);
	if (!CHECK_RANGE(t, DS_06, 1, ~0ULL, log->count, "interrupts, threshold behind the third"))
		return;
	CHECK_RANGE(t, PRIO_11, ds_threshold(), ~0ULL, log->entry[0].index,
		    "index at the entry of the first threshold interrupt");
	CHECK(t, PRIO_11, ds_record_written(0), "a record with the interrupt");
}

/* The control is the same threshold interrupt without the freeze. */
TEST(ds, a_threshold_interrupt_freezes_too, REQS(PMI_18),
     NEEDS(need_perfmon, need_pebs, need_events, need_freeze))
{
	const struct pmi_log *log = threshold_interrupts(1);

	if (!CHECK_RANGE(t, PMI_18, 1, ~0ULL, log->count, "threshold interrupts without freeze"))
		return;
	if (!log->entry[0].global_ctrl) {
		test_inconclusive(t, "the interrupt comes only after the window");
		return;
	}
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	log = threshold_interrupts(1);
	msr_write(MSR_IA32_DEBUGCTL, 0);
	if (CHECK_RANGE(t, PMI_18, 1, ~0ULL, log->count, "threshold interrupts with freeze"))
		CHECK_EQ(t, PMI_18, 0, log->entry[0].global_ctrl,
			 "IA32_PERF_GLOBAL_CTRL at the handler's entry");
}
