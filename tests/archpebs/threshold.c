/* SPDX-License-Identifier: MIT */
/*
 * The threshold of architectural PEBS: Linux handle_pmi_common(), intel_pmu_drain_arch_pebs(). Its
 * status bit is IA32_PERF_GLOBAL_STATUS[54], not OvfBuf.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "tests/archpebs/archpebs.h"
#include "tests/lbr/arch.h"
#include "tests/measure/overflow.h"

#define OVF_BUF		BIT(62)
#define RECORD_UNITS	4u	/* of 16 bytes: a record of BASIC */
#define RECORD_BYTES	(RECORD_UNITS * 16)

static unsigned counter(void)
{
	return counter_next(arch_load_counters(), 0);
}

/* Make one more record. Returns its interrupts. */
static const struct pmi_log *one_more(const struct pmi_options *options)
{
	const struct arch_run run = { .counter = counter() };

	pmi_open(options);
	arch_go_on(&run);
	return pmi_end();
}

/*
 * APEBS-28  When WR reaches THRESH, IA32_PERF_GLOBAL_STATUS[54] must be set and an interrupt be
 *           raised.
 * APEBS-29  A record below THRESH must raise no interrupt.
 * APEBS-31  Records of architectural PEBS must leave IA32_PERF_GLOBAL_STATUS[62] at 0.
 *           Linux handle_pmi_common
 *
 * Given  THRESH at the end of the first record, then of the fourth
 * When   records are made one by one
 * Then   records before it raise no interrupt, and that one does; its handler finds
 *        IA32_PERF_GLOBAL_STATUS[54] = 1, [62] = 0, and WR after the record
 * Control: each record is written, those without an interrupt too
 */
TEST(archpebs, record_that_reaches_the_threshold_interrupts, REQS(APEBS_28, APEBS_29, APEBS_31),
     NEEDS(need_perfmon, need_arch_load, need_loads_or_branches), .under_every_fault = true)
{
	static const unsigned at_the_end_of[] = { 1, 4 };	/* records */

	for (unsigned k = 0; k < sizeof(at_the_end_of) / sizeof(at_the_end_of[0]); k++) {
		const unsigned records = at_the_end_of[k];

		arch_pebs_open(0, records * RECORD_UNITS);
		for (unsigned i = 1; i <= records; i++) {
			const struct pmi_log *log = one_more(NULL);

			if (!arch_one_record(t, CONTROL_AT(APEBS_28, APEBS_29),
					     (i - 1) * RECORD_BYTES))
				return;
			if (i < records) {
				CHECK_EQ(t, APEBS_29, 0, log->count,
					 "interrupts of record %u, threshold after %u", i, records);
				continue;
			}
			if (!CHECK_EQ(t, APEBS_28, 1, log->count,
				      "interrupts of record %u, threshold after it", i))
				return;
			CHECK_EQ(t, APEBS_28, IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD,
				 log->entry[0].status & IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD,
				 "IA32_PERF_GLOBAL_STATUS[54] in the handler");
			CHECK_EQ(t, APEBS_31, 0, log->entry[0].status & OVF_BUF,
				 "IA32_PERF_GLOBAL_STATUS[62] in the handler");
			CHECK_EQ(t, APEBS_28, records * RECORD_BYTES,
				 log->entry[0].arch_index & IA32_PEBS_INDEX_WR,
				 "bytes of WR in the handler");
		}
		arch_pebs_close();
	}
}

/*
 * APEBS-28  When WR reaches THRESH, IA32_PERF_GLOBAL_STATUS[54] must be set and an interrupt be
 *           raised.
 * APEBS-29  A record below THRESH must raise no interrupt.
 * APEBS-31  Records of architectural PEBS must leave IA32_PERF_GLOBAL_STATUS[62] at 0.
 *           Linux handle_pmi_common
 * PMI-04    Delivery of a performance-monitoring interrupt must set the mask bit of LVTPC, and
 *           only software may clear it.
 *           SDM 10.5.1 Local Vector Table
 *
 * Given  THRESH at the end of the second record, then of the first
 * When   each counter of CPUID.(23H,5):EAX and ECX makes one
 * Then   it raises no interrupt, then one, whose handler finds IA32_PERF_GLOBAL_STATUS[54] = 1,
 *        [62] = 0, WR after the record, and LVTPC's mask bit set
 * Control: both records are written, the one without an interrupt too
 */
TEST(archpebs, record_of_each_counter_reaches_the_threshold,
     REQS(APEBS_28, APEBS_29, APEBS_31, PMI_04), NEEDS(need_perfmon, need_arch_pebs, need_branches),
     .deadline_ms = 5000)
{
	FOR_EACH_COUNTER (c, counter_caps()->v6.pebs)
		for (unsigned reaches = 0; reaches < 2; reaches++) {
			const u64 threshold = (reaches ? 1 : 2) * RECORD_UNITS;
			const struct arch_run run = { .counter = c, .threshold = threshold };
			const struct pmi_log *log;

			pmi_open(NULL);
			arch_any_window(&run, NEVER);
			log = pmi_end();
			if (arch_stood_still(t, c))
				break;
			if (!arch_one_record(t, CONTROL_AT(APEBS_28, APEBS_29, APEBS_31), 0))
				return;
			if (!reaches)
				CHECK_EQ(t, APEBS_29, 0, log->count,
					 "interrupts of a record of counter %u, threshold after "
					 "two",
					 c);
			else if (CHECK_EQ(t, APEBS_28, 1, log->count,
					  "interrupts of a record of counter %u, threshold after "
					  "it",
					  c)) {
				const struct pmi_entry *e = &log->entry[0];

				CHECK_EQ(t, APEBS_28, IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD,
					 e->status & IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD,
					 "IA32_PERF_GLOBAL_STATUS[54] in the handler, counter %u",
					 c);
				CHECK_EQ(t, APEBS_31, 0, e->status & OVF_BUF,
					 "IA32_PERF_GLOBAL_STATUS[62] in the handler, counter %u",
					 c);
				CHECK_EQ(t, APEBS_28, RECORD_BYTES,
					 e->arch_index & IA32_PEBS_INDEX_WR,
					 "bytes of WR in the handler, counter %u", c);
				CHECK_EQ(t, PMI_04, LVT_MASKED, e->lvtpc & LVT_MASKED,
					 "LVTPC's mask bit in the handler, counter %u", c);
			}
			arch_pebs_close();
			counter_reset();
		}
}

/*
 * APEBS-43  The interrupt of the threshold of architectural PEBS must freeze the counters exactly
 *           where FREEZE_PERFMON_ON_PMI is set.
 *           SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  THRESH at the end of the first record
 * When   each counter of CPUID.(23H,5):EAX and ECX makes one, without IA32_DEBUGCTL[12] and with it
 * Then   the handler finds CTR_Frz, IA32_PERF_GLOBAL_STATUS[59], as that bit
 * Control: there is one interrupt
 */
TEST(archpebs, threshold_interrupt_of_each_counter_freezes_if_asked_to, REQS(APEBS_43),
     NEEDS(need_perfmon, need_arch_pebs, need_branches, need_freeze), .deadline_ms = 5000)
{
	static const struct pmi_options options = { .keep_status = true };

	FOR_EACH_COUNTER (c, counter_caps()->v6.pebs)
		for (unsigned asked = 0; asked < 2; asked++) {
			const struct arch_run run = { .counter = c, .threshold = RECORD_UNITS };
			const struct pmi_log *log;

			msr_write(MSR_IA32_DEBUGCTL,
				  asked ? IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI : 0);
			pmi_open(&options);
			arch_any_window(&run, NEVER);
			log = pmi_end();
			msr_write(MSR_IA32_DEBUGCTL, 0);
			counters_clear(counters_status());
			if (arch_stood_still(t, c))
				break;
			if (!CONTROL_EQ(t, APEBS_43, 1, log->count,
					"interrupts of a record of counter %u", c))
				return;
			CHECK_EQ(t, APEBS_43, asked ? IA32_PERF_GLOBAL_STATUS_CTR_FRZ : 0,
				 log->entry[0].status & IA32_PERF_GLOBAL_STATUS_CTR_FRZ,
				 "CTR_Frz in the handler, counter %u, IA32_DEBUGCTL[12] = %u", c,
				 asked);
			arch_pebs_close();
			counter_reset();
		}
}

#define CTR_FRZ		IA32_PERF_GLOBAL_STATUS_CTR_FRZ
#define LBR_FRZ		IA32_PERF_GLOBAL_STATUS_LBR_FRZ

/* The freeze bits, and the status bits that they must set. */
static const struct {
	u64 debugctl, status;
} freezes[] = {
	{ 0, 0 },
	{ IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI, CTR_FRZ },
	{ IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI, LBR_FRZ },
	{ BOTH_FREEZES, CTR_FRZ | LBR_FRZ },
};

/*
 * FRZ-20    FREEZE_LBRS_ON_PMI must freeze the architectural LBR by LBR_Frz and leave 14CEH[0]
 *           unchanged.
 *           Linux
 * APEBS-43  The interrupt of the threshold of architectural PEBS must freeze the counters exactly
 *           where FREEZE_PERFMON_ON_PMI is set.
 *           SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  THRESH at the end of the first record; IA32_LBR_CTL records every branch
 * When   each counter of CPUID.(23H,5):EAX and ECX makes one, alternately as a fixed interrupt and
 *        as an NMI, with each of the four values of IA32_DEBUGCTL[12:11]
 * Then   the handler finds LBR_Frz as [11] and CTR_Frz as [12]; IA32_LBR_CTL[0] is still 1
 * Control: there is one interrupt
 */
TEST(archpebs, threshold_interrupt_of_each_counter_freezes_branch_records_if_asked_to,
     REQS(FRZ_20, APEBS_43),
     NEEDS(need_perfmon, need_arch_pebs, need_branches, need_freeze, need_arch_lbr),
     .deadline_ms = 15000)
{
	const u64 recording = arch_lbr_everything();

	FOR_EACH_COUNTER (c, counter_caps()->v6.pebs)
		for (unsigned i = 0; i < sizeof(freezes) / sizeof(freezes[0]); i++) {
			const struct pmi_options options = { .keep_status = true,
							     .nmi = (c + i) & 1 };
			const struct arch_run run = { .counter = c, .threshold = RECORD_UNITS };
			const struct pmi_log *log;
			u64 control;

			arch_lbr_close();
			msr_write(MSR_IA32_DEBUGCTL, freezes[i].debugctl);
			pmi_open(&options);
			msr_write(MSR_IA32_LBR_CTL, recording);
			arch_any_window(&run, NEVER);
			log = pmi_end();
			control = msr_read(MSR_IA32_LBR_CTL);
			msr_write(MSR_IA32_DEBUGCTL, 0);
			counters_clear(counters_status());
			arch_lbr_close();
			if (arch_stood_still(t, c))
				break;
			if (!CONTROL_EQ(t, FRZ_20, 1, log->count,
					"interrupts of a record of counter %u", c))
				return;
			CHECK_EQ(t, FRZ_20, freezes[i].status & LBR_FRZ,
				 log->entry[0].status & LBR_FRZ,
				 "LBR_Frz in the handler, counter %u, IA32_DEBUGCTL = %#lx", c,
				 freezes[i].debugctl);
			CHECK_EQ(t, APEBS_43, freezes[i].status & CTR_FRZ,
				 log->entry[0].status & CTR_FRZ,
				 "CTR_Frz in the handler, counter %u, IA32_DEBUGCTL = %#lx", c,
				 freezes[i].debugctl);
			CHECK_EQ(t, FRZ_20, recording, control,
				 "IA32_LBR_CTL after it, counter %u, IA32_DEBUGCTL = %#lx", c,
				 freezes[i].debugctl);
			arch_pebs_close();
			counter_reset();
		}
}

/*
 * APEBS-06  A record must be written at IA32_PEBS_BASE + 16 * WR, and WR must grow by a sixteenth
 *           of its bytes.
 *           Linux intel_pmu_drain_arch_pebs
 * APEBS-29  A record below THRESH must raise no interrupt.
 *           Linux handle_pmi_common
 *
 * Given  a buffer of 2000H bytes, and THRESH in its second half
 * When   a counter makes more records than the first half has room for
 * Then   WR goes beyond 1000H, and the first interrupt comes when WR has reached THRESH
 * Control: there is an interrupt
 */
TEST(archpebs, buffer_and_threshold_go_beyond_1000h_bytes, REQS(APEBS_06, APEBS_29),
     NEEDS(need_perfmon, need_arch_load, need_branches))
{
	enum { EACH = 256, RECORDS = 0x2000 / RECORD_BYTES, THRESH = 0x120 };
	const unsigned c = counter();
	const struct pmi_log *log;

	pmi_open(NULL);
	arch_pebs_open(1, THRESH);
	arch_pebs_arm(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH, EACH, 0, EACH);
	workload_run(&workload_load, RECORDS * EACH, pmc_one(c));
	arch_pebs_disarm();
	counter_program_disabled(c, 0, 0);
	log = pmi_end();
	CHECK_RANGE(t, APEBS_06, THRESH * 16, 0x2000, arch_pebs_written(),
		    "bytes of WR in a buffer of 2000H");
	if (CONTROL_RANGE(t, APEBS_29, 1, ~0ULL, log->count, "interrupts, THRESH %#x", THRESH))
		CHECK_RANGE(t, APEBS_29, THRESH * 16, 0x2000,
			    log->entry[0].arch_index & IA32_PEBS_INDEX_WR,
			    "bytes of WR at the first interrupt, THRESH %#x", THRESH);
	arch_pebs_close();
}

/*
 * APEBS-06  A record must be written at IA32_PEBS_BASE + 16 * WR, and WR must grow by a sixteenth
 *           of its bytes.
 *           Linux intel_pmu_drain_arch_pebs
 *
 * Given  a buffer of each size from 1000H to 20000H bytes, WR at its middle, where a smaller buffer
 *        would end; where every requirement is judged, WR one record before its end
 * When   a record is made
 * Then   it is written there: WR is after it, and no other byte was written
 */
TEST(archpebs, buffer_of_each_size_has_room_for_a_record_at_its_end, REQS(APEBS_06),
     NEEDS(need_perfmon, need_arch_load, need_loads_or_branches))
{
	const struct arch_run run = { .counter = counter() };

	for (unsigned size = 0; size <= ARCH_PEBS_LARGEST; size++) {
		const u64 bytes = (u64)ARCH_PEBS_LEAST_BUFFER << size;
		const u64 from = test_is_strict(t) ? bytes - RECORD_BYTES : bytes / 2;
		int64_t offset = 0;

		arch_pebs_open(size, ARCH_PEBS_NEVER);
		arch_pebs_set_write(from);
		arch_go_on(&run);
		if (!arch_one_record(t, AT(APEBS_06), from))
			return;
		CHECK_EQ(t, APEBS_06, from + RECORD_BYTES, arch_pebs_written(),
			 "bytes of WR, SIZE = %u", size);
		CHECK(t, APEBS_06, !arch_pebs_written_outside(from, from + RECORD_BYTES, &offset),
		      "no other byte written, SIZE = %u (at %ld)", size, offset);
		arch_pebs_close();
	}
}

/*
 * APEBS-10  A record must load its counter with CFG_C[31:0] and ones above it.
 *           Linux intel_pmu_enable_event_ext
 * APEBS-30  With THRESH 1 each record must raise an interrupt.
 *           Linux ARCH_PEBS_THRESH_SINGLE
 *
 * Given  THRESH = 1, less than any record; WR = 0 is written after each
 * When   four records are made
 * Then   each raises one interrupt, and loads the counter
 * Control: each record is written
 */
TEST(archpebs, threshold_of_1_interrupts_at_each_record, REQS(APEBS_10, APEBS_30),
     NEEDS(need_perfmon, need_arch_load, need_loads_or_branches))
{
	const u64 loaded = (0 - (u64)NEVER) & (BIT(counter_width(counter())) - 1);

	arch_pebs_open(0, 1);
	for (unsigned i = 0; i < 4; i++) {
		const struct pmi_log *log = one_more(NULL);

		if (!arch_one_record(t, CONTROL_AT(APEBS_30), 0))
			return;
		CHECK_RANGE(t, APEBS_10, loaded, loaded + ROUNDS_PERIOD, counter_read(counter()),
			    "the counter after record %u, which has reached THRESH", i + 1);
		CHECK_EQ(t, APEBS_30, 1, log->count, "interrupts of record %u, THRESH = 1", i + 1);
		arch_pebs_set_write(0);
	}
	arch_pebs_close();
}

/*
 * APEBS-32  IA32_PERF_GLOBAL_STATUS_RESET[54] must clear IA32_PERF_GLOBAL_STATUS[54].
 *           Linux intel_pmu_ack_status
 *
 * Given  a record has reached THRESH, the end of the second one; its handler has left the status as
 *        it is
 * When   WR = 0 is written and another record is made, which is below THRESH; then
 *        IA32_PERF_GLOBAL_STATUS_RESET[54] is written
 * Then   IA32_PERF_GLOBAL_STATUS[54] is 0 at the end; where every requirement is judged, it is
 *        still 1 before
 * Control: it was 1 after the record at THRESH
 */
TEST(archpebs, status_reset_clears_the_threshold_bit, REQS(APEBS_32),
     NEEDS(need_perfmon, need_arch_load, need_loads_or_branches))
{
	const struct pmi_options options = { .keep_status = true };

	arch_pebs_open(0, 2 * RECORD_UNITS);
	one_more(&options);
	one_more(&options);
	CONTROL_EQ(t, APEBS_32, IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD,
		   counters_status() & IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD,
		   "IA32_PERF_GLOBAL_STATUS[54] after the record at THRESH");
	arch_pebs_set_write(0);
	one_more(&options);
	if (!arch_one_record(t, CONTROL_AT(APEBS_32), 0))
		return;
	if (test_is_strict(t))
		CHECK_EQ(t, APEBS_32, IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD,
			 counters_status() & IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD,
			 "IA32_PERF_GLOBAL_STATUS[54] after a record below THRESH");
	counters_clear(IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD);
	CHECK_EQ(t, APEBS_32, 0, counters_status() & IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD,
		 "IA32_PERF_GLOBAL_STATUS[54] after its bit was written to 390H");
	arch_pebs_close();
}
