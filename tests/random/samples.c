/* SPDX-License-Identifier: MIT */
/*
 * Drawn programs with interrupts and PEBS records: SDM "Processor Event Based Sampling", "Freezing
 * LBR and Performance Counters on PMI", "Local Vector Table". The oracle says what must come out.
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
 * PMI-01   The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *          through the local APIC's LVTPC.
 *          SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PMI-02   The overflow of a fixed counter whose PMI bit is set must raise an interrupt through
 *          LVTPC.
 *          SDM 18.2.2 Architectural Performance Monitoring Version 2
 * PRIO-15  A counter that wraps with its INT bit clear must set its overflow bit and raise no
 *          interrupt.
 *          SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PMI-03   When its interrupt is taken, an overflow must be shown in IA32_PERF_GLOBAL_STATUS.
 *          SDM 18.2.2 Architectural Performance Monitoring Version 2
 * PMI-04   Delivery of a performance-monitoring interrupt must set the mask bit of LVTPC, and only
 *          software may clear it.
 * PMI-06   The delivery mode in LVTPC, fixed or NMI, must be honoured.
 *          SDM 10.5.1 Local Vector Table
 * PMI-14   With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must clear
 *          IA32_PERF_GLOBAL_CTRL.
 *          SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 * PMI-07   An overflow bit must stay set until software clears it or the assist of its PEBS
 *          counter does.
 * CNT-30   A counter that has not wrapped must not set its bit of IA32_PERF_GLOBAL_STATUS.
 *          SDM 18.2.2 Architectural Performance Monitoring Version 2
 * CNT-44   A counter must go on counting from the value written to it while it was stopped.
 *          SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  drawn cases as before, some counters with INT and near their end; LVTPC fixed, NMI or
 *        masked, freezing on PMIs or not, and handlers that leave the status or the mask
 * When   each program runs once, and what is on its way is given time
 * Then   each interrupt has a cause and finds the status, mask, mode and global control that the
 *        instructions before it make; none is missing, and frozen counters stand
 * Control: overflows with INT have interrupted
 */
TEST(random, drawn_overflows_interrupt_and_freeze_as_the_oracle_has_it,
     REQS(PMI_01, PMI_02, PRIO_15, PMI_03, PMI_04, PMI_06, PMI_14, PMI_07, CNT_30, CNT_44),
     NEEDS(need_perfmon, need_instructions, need_branches))
{
	struct session s;

	if (!session_run(t, DRAW_INTERRUPTS, &s))
		return;
	decide_interrupts(t, &s);
	CHECK_EQ(t, CNT_44, 0, session_wrong_counts(&s),
		 "%u drawn cases: counts and reads that are wrong, with interrupts", s.cases);
}

/*
 * PMI-01   The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *          through the local APIC's LVTPC.
 *          SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PMI-02   The overflow of a fixed counter whose PMI bit is set must raise an interrupt through
 *          LVTPC.
 *          SDM 18.2.2 Architectural Performance Monitoring Version 2
 * PRIO-15  A counter that wraps with its INT bit clear must set its overflow bit and raise no
 *          interrupt.
 *          SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PMI-03   When its interrupt is taken, an overflow must be shown in IA32_PERF_GLOBAL_STATUS.
 *          SDM 18.2.2 Architectural Performance Monitoring Version 2
 * PMI-04   Delivery of a performance-monitoring interrupt must set the mask bit of LVTPC, and only
 *          software may clear it.
 * PMI-06   The delivery mode in LVTPC, fixed or NMI, must be honoured.
 *          SDM 10.5.1 Local Vector Table
 * PMI-14   With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must clear
 *          IA32_PERF_GLOBAL_CTRL.
 *          SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 * PMI-07   An overflow bit must stay set until software clears it or the assist of its PEBS
 *          counter does.
 * CNT-30   A counter that has not wrapped must not set its bit of IA32_PERF_GLOBAL_STATUS.
 *          SDM 18.2.2 Architectural Performance Monitoring Version 2
 * ARM-01   The wrap of a PEBS-enabled counter must arm PEBS and must not by itself write a record.
 * ARM-02   The assist must be started by the first occurrence of the programmed event after
 *          arming.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 * ARM-09   With PDIR (IA32_PMC1, INST_RETIRED.PREC_DIST) the record must name the instruction
 *          whose retirement overflowed the counter.
 *          SDM 18.9.4.4 Precise Distribution of Instructions Retired (PDIR)
 * REC-03   The RIP field must be the address of the instruction after the one that caused the
 *          assist.
 * REC-04   The register fields must hold the values after the causing instruction retired, a
 *          register that it loaded included.
 * REC-11   The flags field must hold RFLAGS after the causing instruction.
 * REC-12   The RSP field must be the stack pointer of the sampled code.
 * REC-07   The status field of formats 1 and 2 must be IA32_PERF_GLOBAL_STATUS as it was before
 *          the assist.
 * REC-08   The status field of formats 1 and 2 must show the overflow of counters that are not
 *          enabled for PEBS too.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 * DLA-02   Offset 98H must hold the linear address of the load, or of the destination of the
 *          store.
 * DLA-04   Bits 63:1 of A0H must be 0 in a data-address record.
 * DLA-05   Offset A8H must be 0 in a data-address record.
 *          SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 * DS-03    After a record the PEBS index must have advanced by the record's size.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * REC-13   An assist must write no byte of the buffer outside its record.
 * DS-17    PEBS records must not go to the BTS buffer, nor branch records to the PEBS buffer.
 *          SDM 17.4.9 BTS and DS Save Area
 * DS-10    An assist must write nothing when its bounds check fails.
 *          SDM 18.9.1 Global Counter Control Facilities in Sandy Bridge
 * DS-12    After a record the counter that caused it must be loaded with its reset value.
 * DS-13    After a record every counter that overflowed and is PEBS-enabled must be loaded with
 *          its reset value.
 * DS-05    A threshold interrupt must be raised when the index has reached the threshold after a
 *          record.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-21    When a record has brought the index to the threshold, OvfBuf
 *          (IA32_PERF_GLOBAL_STATUS[62]) must be set.
 *          SDM 18.4.2, 18.9.1; Goldmont: Enhancements to IA32_PERF_GLOBAL_STATUS.OvfDSBuffer[62]
 * DS-06    No threshold interrupt may be raised while the index is below the threshold.
 * DS-14    An assist must not modify a counter that isn't enabled for PEBS.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
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
	  REC_13, DS_17, DS_10, DS_12, DS_13, DS_05, DS_21, DS_06, DS_14),
     NEEDS(need_pebs, need_instructions, need_branches, need_events, need_ds_write))
{
	struct session s;

	if (!session_run(t, DRAW_RECORDS, &s))
		return;
	decide_interrupts(t, &s);
	decide_records(t, &s);
	CHECK_EQ(t, DS_14, 0, session_wrong_counts(&s),
		 "%u drawn cases: counts and reads that are wrong, with records", s.cases);
}
