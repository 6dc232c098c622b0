/* SPDX-License-Identifier: MIT */
/*
 * The uncore's interrupts: SDM "Uncore Performance Monitoring Management Facility", Table 35-13;
 * and the last sentences on counter priority: an interrupt of the uncore may come together with one
 * of the core.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "pmu/counter.h"
#include "pmu/pmi.h"
#include "tests/frame/needs.h"
#include "tests/uncore/uncore.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"

#define WRAPS	4	/* wraps in a row, each with its interrupt */
#define SETTLES	3	/* waits for a late interrupt */

#define LISTENS	IA32_DEBUGCTL_ENABLE_UNCORE_PMI
/* Other bits of IA32_DEBUGCTL, none of which is about which interrupts come. */
#define BESIDE	(BOTH_FREEZES | IA32_DEBUGCTL_LBR)

/* The interrupts of one wrap of the fixed counter. */
static const struct pmi_log *interrupts(bool pmi, bool selected, u64 debugctl)
{
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	pmi_open(NULL);
	uncore_wrap(pmi, selected ? uncore_cores() : 0);
	return pmi_end();
}

/*
 * PMI-09  An uncore interrupt must reach only cores that are selected in the uncore and have
 *         IA32_DEBUGCTL[13] set.
 *         SDM 18.8.2 Performance Monitoring Facility in the Uncore
 * UNC-05  An uncore counter that wraps without its PMI enable must interrupt no core.
 *         SDM 18.8.2.2 Uncore Performance Event Configuration Facility
 *
 * Given  the uncore's fixed counter, alone
 * When   it wraps with each combination of the select bits EN_PMI_COREx and IA32_DEBUGCTL[13];
 *        the same with IA32_DEBUGCTL[12], [11] and [0] set too; then with all of them and its own
 *        PMI enable 0
 * Then   there is one interrupt where both are 1, and none in any other case
 * Control: the status shows each time that the counter has wrapped
 */
TEST(unc, uncore_interrupt_needs_pmi_enable_select_bit_and_debugctl, REQS(PMI_09, UNC_05),
     NEEDS(need_perfmon, need_uncore))
{
	if (!uncore_reaches(t))
		return;
	for (unsigned i = 0; i < 8; i++) {
		bool selected = i & 1, listens = i & 2;
		const u64 debugctl = (listens ? LISTENS : 0) | (i & 4 ? BESIDE : 0);
		const struct pmi_log *log = interrupts(true, selected, debugctl);

		CONTROL_EQ(t, PMI_09, OVF_FC0, uncore_status() & OVF_FC0,
			   "OVF_FC0: the fixed counter has wrapped");
		CHECK_EQ(t, PMI_09, selected && listens, log->count,
			 "interrupts with EN_PMI_COREx = %u, IA32_DEBUGCTL = %#lx", selected,
			 debugctl);
		uncore_off();
	}
	CHECK_EQ(t, UNC_05, 0, interrupts(false, true, LISTENS)->count,
		 "interrupts of a wrap without the counter's PMI enable");
	CONTROL_EQ(t, UNC_05, OVF_FC0, uncore_status() & OVF_FC0, "OVF_FC0 of that wrap");
	uncore_off();
}

/*
 * PMI-12  Bit 61 of IA32_PERF_GLOBAL_STATUS must be set by an uncore interrupt and cleared by bit
 *         61 of IA32_PERF_GLOBAL_OVF_CTRL.
 *         SDM Table 35-13, Figures 18-33 and 18-34
 *
 * Given  only the uncore's fixed counter can interrupt; an interrupt without bit 61 would have no
 *        cause
 * When   the counter wraps four times
 * Then   bit 61 of IA32_PERF_GLOBAL_STATUS (38EH) is 1 at the entry of each interrupt
 * Control: each wrap has interrupted
 */
TEST(unc, every_uncore_interrupt_finds_bit_61_set, REQS(PMI_12), NEEDS(need_perfmon, need_uncore))
{
	const struct pmi_log *log;

	if (!uncore_reaches(t))
		return;
	for (unsigned i = 0; i < WRAPS; i++) {
		log = interrupts(true, true, LISTENS);
		CONTROL_RANGE(t, PMI_12, 1, ~0ULL, log->count,
			      "interrupts of a wrap of the uncore's fixed counter");
		for (unsigned k = 0; k < log->count && k < PMI_LOG_SIZE; k++)
			CHECK_EQ(t, PMI_12, CORE_UNC_OVF, log->entry[k].status & CORE_UNC_OVF,
				 "38EH[61] at the entry of interrupt %u", k);
		uncore_off();
	}
}

/* The fixed counter wraps with these settings of LVTPC. *mask: LVTPC's mask bit after that. */
static const struct pmi_log *delivered(const struct pmi_options *options, u32 *mask)
{
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
	pmi_open(options);
	uncore_wrap(true, uncore_cores());
	uncore_enable(0);
	pmi_settle();
	*mask = apic_lvtpc_read() & LVT_MASKED;
	return pmi_end();
}

/*
 * PMI-04  Delivery of a performance-monitoring interrupt must set the mask bit of LVTPC, and only
 *         software may clear it.
 * PMI-06  The delivery mode in LVTPC, fixed or NMI, must be honoured.
 *         SDM 10.5.1 Local Vector Table
 *
 * Given  the uncore's fixed counter, which can interrupt
 * When   it wraps with LVTPC's delivery mode fixed, then NMI, with a handler that doesn't write
 *        LVTPC; then with LVTPC masked
 * Then   the first interrupt comes on LVTPC's vector, the second as an NMI, and both find the mask
 *        bit set by their delivery; the third doesn't come
 * Control: the status shows each time that the counter has wrapped
 */
TEST(unc, uncore_interrupt_is_delivered_as_lvtpc_says, REQS(PMI_04, PMI_06),
     NEEDS(need_perfmon, need_uncore))
{
	static const struct pmi_options ways[] = {
		{ .stay_masked = true }, { .nmi = true, .stay_masked = true }, { .masked = true },
	};

	if (!uncore_reaches(t))
		return;
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		u32 mask;
		const struct pmi_log *log = delivered(&ways[i], &mask);

		CONTROL_EQ(t, IDS(PMI_04, PMI_06), OVF_FC0, uncore_status() & OVF_FC0,
			   "OVF_FC0: the fixed counter has wrapped");
		CHECK_EQ(t, PMI_04, !ways[i].masked, log->count, "interrupts, LVTPC as in row %u",
			 i);
		CHECK_EQ(t, PMI_04, LVT_MASKED, mask, "mask bit of LVTPC after that");
		if (log->count)
			CHECK_EQ(t, PMI_06, ways[i].nmi ? VECTOR_NMI : VECTOR_PMI,
				 log->entry[0].vector, "vector, delivery mode NMI = %u",
				 ways[i].nmi);
		uncore_off();
	}
}

/*
 * PMI-12  Bit 61 of IA32_PERF_GLOBAL_STATUS must be set by an uncore interrupt and cleared by bit
 *         61 of IA32_PERF_GLOBAL_OVF_CTRL.
 *         SDM Table 35-13, Figures 18-33 and 18-34
 *
 * Given  bit 61 of IA32_PERF_GLOBAL_STATUS (38EH) is 0, and the handler doesn't write the status
 * When   the uncore's fixed counter interrupts; its status is cleared by 393H; 1 is written to the
 *        bit of each counter of the core, to bit 62 and to bit 63 of IA32_PERF_GLOBAL_OVF_CTRL
 *        (390H), each alone; then to bit 61
 * Then   bit 61 of 38EH is 1 until the last write, and 0 after it
 * Control: OVF_PMI, bit 61 of MSR_UNCORE_PERF_GLOBAL_STATUS (392H), is set by the interrupt
 */
TEST(unc, uncore_interrupt_sets_bit_61_until_390h_clears_it, REQS(PMI_12),
     NEEDS(need_perfmon, need_uncore))
{
	static const struct pmi_options keep = { .keep_status = true };

	if (!uncore_reaches(t))
		return;
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
	pmi_open(&keep);
	CONTROL_EQ(t, PMI_12, 0, counters_status() & CORE_UNC_OVF, "38EH[61] before");
	uncore_wrap(true, uncore_cores());
	pmi_end();
	CHECK_EQ(t, PMI_12, CORE_UNC_OVF, counters_status() & CORE_UNC_OVF,
		 "38EH[61] after an uncore interrupt");
	CONTROL_EQ(t, PMI_12, OVF_PMI, uncore_status() & OVF_PMI, "392H[61]");
	uncore_enable(0);
	uncore_clear(OVF_FC0 | OVF_PMI);
	CHECK_EQ(t, PMI_12, CORE_UNC_OVF, counters_status() & CORE_UNC_OVF,
		 "38EH[61] after 393H: only 390H clears it");
	FOR_EACH_COUNTER (bit, counters_all().bits | BITS(62, 63)) {
		counters_clear(BIT(bit));
		CHECK_EQ(t, PMI_12, CORE_UNC_OVF, counters_status() & CORE_UNC_OVF,
			 "38EH[61] after 390H = bit %u alone", bit);
	}
	counters_clear(CORE_UNC_OVF);
	CHECK_EQ(t, PMI_12, 0, counters_status() & CORE_UNC_OVF, "38EH[61] after 390H[61]");
	uncore_off();
}

#define STATUS_TRIES 8	/* as in tests/pebs/record.c: some images may be 0 */

/* Take one record of IA32_PMC0. Returns the status in it; 0: there is no record. */
static u64 status_of_a_record(struct test *t)
{
	const struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;

	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	counters_clear(BIT(0));
	return sampling_one_record(t, AT(REC_07), &record) ?
		       sampling_field(&record, RECORD_status) :
		       0;
}

/*
 * REC-07  The status field of formats 1 and 2 must be IA32_PERF_GLOBAL_STATUS as it was before the
 *         assist.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  the uncore's fixed counter has interrupted, and the handler hasn't written the status
 * When   a record is made; then another one after bit 61 of IA32_PERF_GLOBAL_STATUS was cleared
 * Then   bit 61 is 1 in the status of the first, and 0 in that of the second
 * Control: bit 61 of IA32_PERF_GLOBAL_STATUS is 1 before the first and afterwards
 */
TEST(record, status_of_a_record_shows_ovf_uncore, REQS(REC_07),
     NEEDS(need_perfmon, need_status_image, need_events, need_uncore))
{
	static const struct pmi_options keep = { .keep_status = true };
	unsigned tries = test_sees_exactly(t, REQ_REC_07) ? 1 : STATUS_TRIES;
	u64 status;

	if (!uncore_reaches(t))
		return;
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
	pmi_open(&keep);
	uncore_wrap(true, uncore_cores());
	pmi_end();
	uncore_enable(0);
	CONTROL_EQ(t, REC_07, CORE_UNC_OVF, counters_status() & CORE_UNC_OVF, "38EH[61] before");
	do {
		status = status_of_a_record(t);
	} while (!status && --tries);
	CONTROL_EQ(t, REC_07, CORE_UNC_OVF, counters_status() & CORE_UNC_OVF,
		   "38EH[61] afterwards");
	CHECK_EQ(t, REC_07, CORE_UNC_OVF, status & CORE_UNC_OVF,
		 "bit 61 of the status of a record (0x%lx) after an uncore interrupt", status);
	counters_clear(CORE_UNC_OVF);
	CHECK_EQ(t, REC_07, 0, status_of_a_record(t) & CORE_UNC_OVF,
		 "bit 61 of the status of a record after 390H[61]");
	uncore_off();
}

#define CORE_COUNTER 2

/* The core's counter wraps, with INT set, on the last branch of the workload. */
static void wrap_core(void)
{
	counter_program(CORE_COUNTER, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH | COUNT_INT);
	counter_preset(CORE_COUNTER, PERIOD);
	workload_run(&workload_sled, PERIOD, pmc_one(CORE_COUNTER));
}

struct origin {
	unsigned count;			/* interrupts */
	u64 core, uncore, at_entry;	/* status before the handler; at its entry */
};

/* Let the core's counter, the uncore's, or both wrap while interrupts are disabled. Then one
 * handler runs for all causes. */
static struct origin uncore_interrupt_take(bool core, bool uncore)
{
	const struct pmi_log *log;
	struct origin origin;

	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
	pmi_open(NULL);
	intr_disable();
	if (uncore)
		uncore_wrap(true, uncore_cores());
	if (core)
		wrap_core();
	origin.core = counters_status();
	origin.uncore = uncore_status();
	intr_enable();
	log = pmi_end();
	origin.count = log->count;
	origin.at_entry = log->entry[0].status;
	counter_program_disabled(CORE_COUNTER, 0, 0);
	return origin;
}

/*
 * PMI-11  The core and uncore status registers together must name every cause of a coincident
 *         interrupt.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 * PMI-12  Bit 61 of IA32_PERF_GLOBAL_STATUS must be set by an uncore interrupt and cleared by bit
 *         61 of IA32_PERF_GLOBAL_OVF_CTRL.
 *         SDM Table 35-13, Figures 18-33 and 18-34
 *
 * Given  interrupts are disabled
 * When   IA32_PMC2, the uncore's fixed counter, or both wrap, and then interrupts are enabled
 * Then   38EH[2] is set exactly if IA32_PMC2 has wrapped, 392H[32] and 38EH[61] exactly if the
 *        uncore's counter has; the core's handler clears nothing of the uncore's status
 * Control: there are one or two interrupts
 */
TEST(unc, core_and_uncore_status_name_each_cause_of_an_interrupt, REQS(PMI_11, PMI_12),
     NEEDS(need_perfmon, need_four_counters, need_branches, need_uncore))
{
	if (!uncore_reaches(t))
		return;
	for (unsigned i = 1; i < 4; i++) {
		bool core = i & 1, uncore = i & 2;
		struct origin origin = uncore_interrupt_take(core, uncore);

		CONTROL_RANGE(t, PMI_11, 1, 2, origin.count, "interrupts, core %u uncore %u", core,
			      uncore);
		CHECK_EQ(t, PMI_11, core, origin.core >> CORE_COUNTER & 1,
			 "38EH[%u], core %u uncore %u", CORE_COUNTER, core, uncore);
		CHECK_EQ(t, PMI_11, uncore ? OVF_FC0 : 0, origin.uncore & OVF_FC0,
			 "392H[32], core %u uncore %u", core, uncore);
		CHECK_EQ(t, PMI_11, core, origin.at_entry >> CORE_COUNTER & 1,
			 "38EH[%u] at the handler's entry, core %u uncore %u", CORE_COUNTER, core,
			 uncore);
		CHECK_EQ(t, PMI_12, uncore ? CORE_UNC_OVF : 0, origin.core & CORE_UNC_OVF,
			 "38EH[61], core %u uncore %u", core, uncore);
		/* The core's handler has cleared the core's status only. */
		CHECK_EQ(t, PMI_11, uncore ? OVF_FC0 : 0, uncore_status() & OVF_FC0,
			 "392H[32] after the core's handler, core %u uncore %u", core, uncore);
		uncore_off();
	}
}

#define CORE_INSTRUCTIONS	32	/* before the first of the core's counters wraps */
#define CORE_COUNTERS		4	/* each wraps one instruction after the previous one */
#define DISTANCES		512	/* ticks: more than between the two enabling writes */
#define ROUNDS			64	/* rounds of branches, in which the core's counters wrap */

/*
 * All counters wrap in one window. The uncore's counter wraps a number of ticks after it was
 * enabled. In some of the distances it wraps together with a counter of the core, if an instruction
 * takes only a few ticks.
 */
static void coincide(unsigned distance)
{
	uncore_preset(UNCORE_FIXED, CORE_INSTRUCTIONS + distance);
	uncore_program_fixed(true);
	for (unsigned c = 0; c < CORE_COUNTERS; c++) {
		counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH | COUNT_INT);
		counter_preset(c, CORE_INSTRUCTIONS + c);
	}
	uncore_enable(EN_FC0 | uncore_cores());
	workload_run(&workload_branch, ROUNDS, (struct pmc_mask){ BIT(CORE_COUNTERS) - 1 });
	uncore_wait_for_wrap();
	uncore_enable(0);
}

/*
 * PMI-11  The core and uncore status registers together must name every cause of a coincident
 *         interrupt.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 *
 * Given  four counters of the core wrap one instruction after another; the interrupts stay masked
 * When   the uncore's fixed counter wraps in the same window, after each of many numbers of ticks,
 *        so that some of them fall together
 * Then   all five overflow bits are set after each window
 * Control: interrupts have come by the end
 */
TEST(unc, coincident_core_and_uncore_overflows_are_all_shown, REQS(PMI_11),
     NEEDS(need_perfmon, need_four_counters, need_instructions, need_uncore))
{
	if (!uncore_reaches(t))
		return;
	/* stay_masked: with an old overflow in the status a processor might interrupt forever if
	 * LVTPC were unmasked. */
	static const struct pmi_options keep = { .keep_status = true, .keep_counting = true,
						 .stay_masked = true };
	unsigned count = 0;

	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
	pmi_open(&keep);
	for (unsigned distance = 0; distance < DISTANCES; distance += CORE_COUNTERS) {
		coincide(distance);
		CHECK_EQ(t, PMI_11, BIT(CORE_COUNTERS) - 1,
			 counters_status() & (BIT(CORE_COUNTERS) - 1),
			 "38EH[3:0], the uncore's counter set to wrap after %u ticks",
			 CORE_INSTRUCTIONS + distance);
		CHECK_EQ(t, PMI_11, OVF_FC0, uncore_status() & OVF_FC0, "392H[32] as well");
		uncore_clear(OVF_FC0 | OVF_PMI);
		counters_clear(counters_status());
		pmi_unmask();
	}
	/* Take late or pending interrupts here, and not in the next test. */
	for (unsigned i = 0; i < SETTLES; i++) {
		count = pmi_settle()->count;
		pmi_unmask();
	}
	pmi_close();
	CONTROL_RANGE(t, PMI_11, 1, ~0ULL, count, "interrupts in all");
	uncore_off();
}

/*
 * PMI-13  With PMI_FRZ set, the uncore counters must stop when one of them signals, until software
 *         enables them again.
 *         SDM 18.8.2 Performance Monitoring Facility in the Uncore
 *
 * Given  the uncore's fixed counter, which goes on counting after its interrupt while PMI_FRZ is 0
 * When   it interrupts with PMI_FRZ = 1; then MSR_UNCORE_PERF_GLOBAL_CTRL enables it again
 * Then   the counter stands after the interrupt, and moves after the second
 * Control: it interrupts and moves without PMI_FRZ; with PMI_FRZ the interrupt has come
 */
TEST(unc, pmi_frz_stops_the_uncore_counters_until_enabled_again, REQS(PMI_13),
     NEEDS(need_perfmon, need_uncore))
{
	unsigned count;

	if (!uncore_reaches(t))
		return;
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
	pmi_open(NULL);
	uncore_wrap(true, uncore_cores());
	count = pmi_settle()->count;
	CONTROL_EQ(t, PMI_13, 1, count, "interrupts without PMI_FRZ");
	CONTROL(t, PMI_13, uncore_moves(), "the fixed counter goes on without PMI_FRZ");
	uncore_reset();
	counters_clear(counters_status());
	uncore_wrap(true, uncore_cores() | PMI_FRZ);
	count = pmi_settle()->count;
	CONTROL_EQ(t, PMI_13, 2, count, "interrupts in all, with PMI_FRZ as well");
	CHECK(t, PMI_13, !uncore_moves(), "the fixed counter stands with PMI_FRZ");
	uncore_clear(OVF_FC0 | OVF_PMI);
	uncore_enable(EN_FC0);
	CHECK(t, PMI_13, uncore_moves(), "the fixed counter goes on when enabled again");
	pmi_close();
	uncore_off();
}
