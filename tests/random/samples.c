/* SPDX-License-Identifier: MIT */
/*
 * Drawn programs with interrupts and PEBS records: SDM "Processor Event Based Sampling", "Freezing
 * LBR and Performance Counters on PMI", "Local Vector Table". The oracle computes the expected
 * results.
 */
#include "tests/frame/needs.h"
#include "tests/random/decide.h"

static void decide_interrupts(struct test *t, const struct session *s)
{
	DECIDE(*s, DRAW_CLAIM_PMI_GP, PMI_01, "overflows without their interrupt");
	DECIDE(*s, DRAW_CLAIM_PMI_FIXED, PMI_02, "overflows of a fixed counter without theirs");
	DECIDE(*s, DRAW_CLAIM_PMI_NONE, PRIO_15, "interrupts without a cause");
	DECIDE(*s, DRAW_CLAIM_PMI_STATUS, PMI_03, "another status at an interrupt");
	DECIDE(*s, DRAW_CLAIM_PMI_MASK, PMI_04, "LVTPC not masked at an interrupt");
	DECIDE(*s, DRAW_CLAIM_PMI_MODE, PMI_06, "interrupts in another mode than LVTPC's");
	DECIDE(*s, DRAW_CLAIM_FREEZE, PMI_14, "IA32_PERF_GLOBAL_CTRL not cleared by a freeze");
	DECIDE(*s, DRAW_CLAIM_FREEZE_KEPT, PMI_14, "IA32_DEBUGCTL changed by a freeze");
	DECIDE(*s, DRAW_CLAIM_OVERFLOW, PMI_07, "overflows that aren't shown");
	DECIDE(*s, DRAW_CLAIM_NO_OVERFLOW, CNT_30, "overflows shown that weren't");
}

static void decide_records(struct test *t, const struct session *s)
{
	DECIDE(*s, DRAW_CLAIM_NO_RECORD, ARM_01, "records without an arm");
	DECIDE(*s, DRAW_CLAIM_RECORD, ARM_02, "records that are missing");
	DECIDE(*s, DRAW_CLAIM_EVENT, ARM_02, "records of an instruction without the event");
	DECIDE(*s, DRAW_CLAIM_PDIR, ARM_09, "records with precise distribution that are missing");
	DECIDE(*s, DRAW_CLAIM_RIP, REC_03, "another R/EIP");
	DECIDE(*s, DRAW_CLAIM_REGISTERS, REC_04, "other registers in a record");
	DECIDE(*s, DRAW_CLAIM_FLAGS, REC_11, "other flags in a record");
	DECIDE(*s, DRAW_CLAIM_RSP, REC_12, "another RSP in a record");
	DECIDE(*s, DRAW_CLAIM_IMAGE, REC_07, "another status in a record");
	DECIDE(*s, DRAW_CLAIM_IMAGE, REC_08, "another status in a record, of other counters too");
	DECIDE(*s, DRAW_CLAIM_ADDRESS, DLA_02, "another data linear address");
	DECIDE(*s, DRAW_CLAIM_SOURCE, DLA_04, "another data source");
	DECIDE(*s, DRAW_CLAIM_LATENCY, DLA_05, "a latency without load latency");
	DECIDE(*s, DRAW_CLAIM_INDEX, DS_03, "another index after the records");
	DECIDE(*s, DRAW_CLAIM_OUTSIDE, REC_13, "bytes written outside the records");
	DECIDE(*s, DRAW_CLAIM_AREA, DS_17, "fields of the DS area changed");
	DECIDE(*s, DRAW_CLAIM_FULL, DS_10, "records where there is no room");
	DECIDE(*s, DRAW_CLAIM_RELOAD, DS_12, "counters reloaded otherwise");
	DECIDE(*s, DRAW_CLAIM_RELOAD, DS_13, "counters reloaded otherwise, several at once");
	DECIDE(*s, DRAW_CLAIM_THRESHOLD, DS_05, "threshold interrupts that are missing");
	DECIDE(*s, DRAW_CLAIM_OVF_BUF, DS_21, "OvfBuf not set at the threshold");
	DECIDE(*s, DRAW_CLAIM_NO_OVF_BUF, DS_06, "OvfBuf set without the threshold");
}

/*
 * Decides PMI-01, PMI-02, PRIO-15, PMI-03, PMI-04, PMI-06, PMI-14, PMI-07, FIX-05, FIX-17, CNT-30,
 * CNT-44 (claims/requirement.def has their sentences).
 *
 * Given  drawn cases as before, some counters with INT and near their end; LVTPC fixed, NMI or
 *        masked, freezing on PMIs or not, and handlers that leave the status or the mask
 * When   each program runs once, and pending interrupts are given time
 * Then   each interrupt has a cause and finds the status, mask, mode and global control that follow
 *        from the instructions before it; none is missing, and frozen counters stand still
 * Control: overflows with INT have interrupted
 */
TEST(random, drawn_overflows_interrupt_and_freeze_as_the_oracle_has_it,
     REQS(PMI_01, PMI_02, PRIO_15, PMI_03, PMI_04, PMI_06, PMI_14, PMI_07, FIX_05, FIX_17, CNT_30,
	  CNT_44),
     NEEDS(need_perfmon, need_instructions, need_branches))
{
	struct session s;

	if (!session_run(t, DRAW_INTERRUPTS, &s))
		return;
	decide_interrupts(t, &s);
	DECIDE(s, DRAW_CLAIM_PMI_FIXED, FIX_05, "interrupts of a fixed counter, by its PMI bit");
	DECIDE(s, DRAW_CLAIM_OVERFLOW_FIXED, FIX_17, "overflows of fixed counters, in the status");
	CHECK_EQ(t, CNT_44, 0, session_wrong_counts(&s),
		 "%u drawn cases: counts and reads that are wrong, with interrupts", s.cases);
}

/*
 * Decides PMI-01, PMI-02, PRIO-15, PMI-03, PMI-04, PMI-06, PMI-14, PMI-07, CNT-30, ARM-01, ARM-02,
 * ARM-09, REC-03, REC-04, REC-11, REC-12, REC-07, REC-08, DLA-02, DLA-04, DLA-05, DS-03, REC-13,
 * DS-17, DS-10, DS-12, DS-13, DS-05, DS-21, DS-06, DS-14, MSR-13, DS-19 (claims/requirement.def
 * has their sentences).
 *
 * Given  the same, and PEBS on drawn counters with precise events: DS area and buffer anywhere,
 *        index, maximum and threshold at or between records, and drawn reset values
 * When   each program runs once
 * Then   each record is of an instruction with the event after the overflow, its fields are that
 *        instruction's, and index, reloads, status and threshold follow it
 * Control: records have been written
 */
TEST(random, drawn_samples_are_recorded_as_the_oracle_has_it,
     REQS(PMI_01, PMI_02, PRIO_15, PMI_03, PMI_04, PMI_06, PMI_14, PMI_07, CNT_30, ARM_01, ARM_02,
	  ARM_09, REC_03, REC_04, REC_11, REC_12, REC_07, REC_08, DLA_02, DLA_04, DLA_05, DS_03,
	  REC_13, DS_17, DS_10, DS_12, DS_13, DS_05, DS_21, DS_06, DS_14, MSR_13, DS_19),
     NEEDS(need_pebs, need_no_baseline, need_instructions, need_branches, need_events,
	   need_ds_write))
{
	struct session s;

	if (!session_run(t, DRAW_RECORDS, &s))
		return;
	decide_interrupts(t, &s);
	decide_records(t, &s);
	DECIDE(s, DRAW_CLAIM_REFUSED_ENABLE, MSR_13, REFUSED_TEXT);
	DECIDE(s, DRAW_CLAIM_REFUSED_AREA, DS_19, REFUSED_TEXT);
	CHECK_EQ(t, DS_14, 0, session_wrong_counts(&s),
		 "%u drawn cases: counts and reads that are wrong, with records", s.cases);
}

static void decide_adaptive(struct test *t, const struct session *s)
{
	DECIDE(*s, DRAW_CLAIM_NO_RECORD, ARM_01, "records without an arm");
	DECIDE(*s, DRAW_CLAIM_RECORD, ARM_02, "records that are missing");
	DECIDE(*s, DRAW_CLAIM_EVENT, ARM_02, "records of an instruction without the event");
	DECIDE(*s, DRAW_CLAIM_GROUPS, ADP_16, "other groups than asked for in a record");
	DECIDE(*s, DRAW_CLAIM_GROUPS, ADP_17, "groups in a record that isn't adaptive");
	DECIDE(*s, DRAW_CLAIM_GROUPS, ADP_32, "groups by another counter's Adaptive_Record bit");
	DECIDE(*s, DRAW_CLAIM_SIZE, ADP_01, "another size in a record");
	DECIDE(*s, DRAW_CLAIM_APPLICABLE, ADP_35, "other applicable counters");
	DECIDE(*s, DRAW_CLAIM_APPLICABLE, ADP_37, "counters that are due and aren't named");
	DECIDE(*s, DRAW_CLAIM_TSC, ADP_38, "TSC outside of the case's time");
	DECIDE(*s, DRAW_CLAIM_RIP, ADP_21, "another RIP");
	DECIDE(*s, DRAW_CLAIM_REGISTERS, ADP_04, "other registers in a record");
	DECIDE(*s, DRAW_CLAIM_FLAGS, ADP_04, "other flags in a record");
	DECIDE(*s, DRAW_CLAIM_RSP, ADP_04, "another RSP in a record");
	DECIDE(*s, DRAW_CLAIM_VECTORS, ADP_06, "other XMM registers in a record");
	DECIDE(*s, DRAW_CLAIM_ENTRIES, ADP_25, "other last branch records in a record");
	DECIDE(*s, DRAW_CLAIM_VALUES, V6_24, "other counters in a record");
	DECIDE(*s, DRAW_CLAIM_ADDRESS, ADP_47, "another address in the memory group");
	DECIDE(*s, DRAW_CLAIM_TX, ADP_50, "TX abort information outside of transactions");
	DECIDE(*s, DRAW_CLAIM_FULL, ADP_42, "records where there is no room for them");
	DECIDE(*s, DRAW_CLAIM_RELOAD, FIX_16, "counters reloaded otherwise");
	DECIDE(*s, DRAW_CLAIM_RELOAD, DS_12, "counters reloaded otherwise");
	DECIDE(*s, DRAW_CLAIM_RELOAD, DS_13, "counters reloaded otherwise, several at once");
	DECIDE(*s, DRAW_CLAIM_INDEX, DS_03, "another index after the records");
	DECIDE(*s, DRAW_CLAIM_OUTSIDE, REC_13, "bytes written outside the records");
	DECIDE(*s, DRAW_CLAIM_AREA, DS_17, "fields of the DS area changed");
	DECIDE(*s, DRAW_CLAIM_THRESHOLD, DS_05, "threshold interrupts that are missing");
	DECIDE(*s, DRAW_CLAIM_OVF_BUF, DS_21, "OvfBuf not set at the threshold");
	DECIDE(*s, DRAW_CLAIM_NO_OVF_BUF, DS_06, "OvfBuf set without the threshold");
}

/*
 * Decides PMI-01, PMI-02, PRIO-15, PMI-03, PMI-04, PMI-06, PMI-14, PMI-07, CNT-30, ARM-01, ARM-02,
 * ADP-16, ADP-17, ADP-32, ADP-01, ADP-35, ADP-37, ADP-38, ADP-21, ADP-04, ADP-06, ADP-25, V6-24,
 * ADP-47, ADP-50, ADP-42, FIX-16, DS-12, DS-13, DS-03, REC-13, DS-17, DS-05, DS-21, DS-06, DS-14
 * (claims/requirement.def has their sentences).
 *
 * Given  the same where baseline is 1: any event, the fixed counters too, drawn groups, and the
 *        Adaptive_Record bit of each counter by itself
 * When   each program runs once
 * Then   each record names counters that have overflowed, one of them due; its size and groups are
 *        those of their Adaptive_Record bits, and its contents are those after its instruction;
 *        index, reloads, status and threshold follow it
 * Control: records have been written
 */
TEST(random, drawn_samples_of_adaptive_records_are_as_the_oracle_has_it,
     REQS(PMI_01, PMI_02, PRIO_15, PMI_03, PMI_04, PMI_06, PMI_14, PMI_07, CNT_30, ARM_01, ARM_02,
	  ADP_16, ADP_17, ADP_32, ADP_01, ADP_35, ADP_37, ADP_38, ADP_21, ADP_04, ADP_06, ADP_25,
	  V6_24, ADP_47, ADP_50, ADP_42, FIX_16, DS_12, DS_13, DS_03, REC_13, DS_17, DS_05, DS_21,
	  DS_06, DS_14),
     NEEDS(need_pebs, need_baseline, need_instructions, need_branches, need_events, need_ds_write))
{
	struct session s;

	if (!session_run(t, DRAW_RECORDS, &s))
		return;
	decide_interrupts(t, &s);
	decide_adaptive(t, &s);
	CHECK_EQ(t, DS_14, 0, session_wrong_counts(&s),
		 "%u drawn cases: counts and reads that are wrong, with adaptive records", s.cases);
}
