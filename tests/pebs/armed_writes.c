/* SPDX-License-Identifier: MIT */
/*
 * An armed counter, after its overflow and before the next event. Writes of other registers, HLT
 * and unrelated interrupts leave it armed; a write of its own PEBS enable disarms it. Counters
 * count only at CPL 3; everything else runs at CPL 0.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "pmu/memory_sampling.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"

#define OTHER_FIXED	1u	/* a counter that isn't under test */
#define FIXED_FIELD(i)	(4 * (i))	/* field in IA32_FIXED_CTR_CTRL */
#define ARM_ROUNDS	(2 * PERIOD)

/* Another general-purpose counter than c. */
static unsigned other_than(unsigned c)
{
	return c == 2 ? 3 : 2;
}

static void write_nothing(unsigned c)
{
	(void)c;
}

static void write_fixed_control(unsigned c)
{
	const u64 control = msr_read(MSR_IA32_FIXED_CTR_CTRL);

	(void)c;
	msr_write(MSR_IA32_FIXED_CTR_CTRL,
		  control | (IA32_FIXED_CTR_CTRL_EN0 | IA32_FIXED_CTR_CTRL_PMI0)
				    << FIXED_FIELD(OTHER_FIXED));
	msr_write(MSR_IA32_FIXED_CTR_CTRL, control);
}

static void write_select(unsigned c)
{
	counter_program(other_than(c), EVENT_INST_RETIRED_ANY_P, COUNT_BOTH | COUNT_INT);
	counter_program_disabled(other_than(c), 0, 0);
}

static void write_counters(unsigned c)
{
	counter_write(other_than(c), PERIOD);
	counter_write(PMC_FIXED(OTHER_FIXED), PERIOD);
}

static void write_pebs_enable(unsigned c)
{
	pebs_enable(pmc_or(pmc_one(c), pmc_one(other_than(c))));
	pebs_enable(pmc_one(c));
}

/* Where counters have bits of their own for load latency: before PEBS baseline, which has those of
 * fixed counters there. */
static void write_latency_enable(unsigned c)
{
	const u64 other = BIT(IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT + other_than(c));

	if (counter_caps()->baseline)
		return;
	if (!msr_try_write(MSR_IA32_PEBS_ENABLE, BIT(c) | other).raised)
		msr_write(MSR_IA32_PEBS_ENABLE, BIT(c));
}

/* Write another area's address, then the former address. */
static void write_ds_area(unsigned c)
{
	(void)c;
	for (unsigned area = DS_AREAS; area-- > 0;) {
		ds_use(area);
		msr_write(MSR_IA32_DS_AREA, ds_area());
	}
}

/* A bit that this processor doesn't have, or that a hypervisor refuses, isn't changed. */
static void write_debug_control(unsigned c)
{
	(void)c;
	msr_try_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	msr_try_write(MSR_IA32_DEBUGCTL, 0);
}

static void write_latency_threshold(unsigned c)
{
	(void)c;
	msr_try_write(MSR_PEBS_LD_LAT_THRESHOLD, LATENCY_THRESHOLD_MOST);
	msr_try_write(MSR_PEBS_LD_LAT_THRESHOLD, 0);
}

static void clear_other_status(unsigned c)
{
	counters_clear(BIT(other_than(c)) | BIT(PMC_FIXED(OTHER_FIXED)));
	msr_try_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF);
}

/* The handlers don't clear the armed counter's status bit. */
static const struct pmi_options keep_status = { .keep_status = true, .stay_masked = true };

static void halt(unsigned c)
{
	pmi_open(&keep_status);
	intr_disable();
	counters_enable(pmc_one(c));
	apic_self_ipi(VECTOR_PMI);	/* ends HLT */
	__asm__ volatile("sti; hlt" ::: "memory");
	counters_disable();
	pmi_close();
}

static void write_own_pebs_enable(unsigned c)
{
	pebs_disarm();
	pebs_enable(pmc_one(c));
}

/* The write that clears its bit sets another one's. */
static void write_own_for_another(unsigned c)
{
	pebs_enable(pmc_one(other_than(c)));
	pebs_enable(pmc_one(c));
}

static void write_own_select(unsigned c)
{
	const u32 msr = PMC_IS_FIXED(c) ? MSR_IA32_FIXED_CTR_CTRL : MSR_IA32_PERFEVTSEL0 + c;
	const u64 select = msr_read(msr);

	msr_write(msr, 0);
	msr_write(msr, select);
}

static const struct armed_write {
	const char *name;
	void (*write)(unsigned armed);
	bool disarms;
} writes[] = {
	{ "nothing is written", write_nothing, false },
	{ "another counter's field of IA32_FIXED_CTR_CTRL", write_fixed_control, false },
	{ "another counter's event select", write_select, false },
	{ "other counters' values", write_counters, false },
	{ "another counter's bit of IA32_PEBS_ENABLE", write_pebs_enable, false },
	{ "another counter's LL_EN of IA32_PEBS_ENABLE", write_latency_enable, false },
	{ "IA32_DS_AREA, another one's and its own again", write_ds_area, false },
	{ "IA32_DEBUGCTL", write_debug_control, false },
	{ "MSR_PEBS_LD_LAT_THRESHOLD", write_latency_threshold, false },
	{ "other bits of IA32_PERF_GLOBAL_OVF_CTRL", clear_other_status, false },
	{ "HLT, ended by an interrupt", halt, false },
	{ "its own bit of IA32_PEBS_ENABLE, cleared and set", write_own_pebs_enable, true },
	{ "its own bit of IA32_PEBS_ENABLE, cleared while another's is set, and set again",
	  write_own_for_another, true },
	{ "its own event select or control, cleared and written again", write_own_select, true },
};
#define WRITES (sizeof(writes) / sizeof(writes[0]))

static void run_at_cpl_3(unsigned c)
{
	counters_enable(pmc_one(c));
	workload_run_user(&workload_load, ARM_ROUNDS);
	counters_disable();
}

static u16 event_of(unsigned c)
{
	return PMC_IS_FIXED(c) ? 0 : LOADS;
}

/* Arm the counter by the last of its events at CPL 3. false: it isn't armed, and the test is
 * INCONCLUSIVE. */
static bool arm_by_last_event(struct test *t, unsigned c)
{
	struct ds_setup setup = sampling_setup(8);
	u64 events;

	counter_program(c, event_of(c), COUNT_USR);
	counter_write(c, 0);
	run_at_cpl_3(c);
	events = counter_read(c);
	ds_open(&setup);
	pebs_arm(c, event_of(c), COUNT_USR, events);
	run_at_cpl_3(c);
	if (counters_status() & BIT(c) && !ds_bytes())
		return true;
	test_inconclusive(t, "counter %u wasn't armed by the last of %lu events at CPL 3", c,
			  events);
	return false;
}

static unsigned records_after(struct test *t, const struct armed_write *w, unsigned c)
{
	unsigned records;

	w->write(c);
	run_at_cpl_3(c);
	records = ds_records();
	sampling_want(t, !w->disarms);
	pebs_disarm();
	counter_reset();
	return records;
}

/* The counters that make a record of the event after the overflow: general-purpose ones of loads,
 * and fixed counter 0. */
static struct pmc_mask armed_counters(void)
{
	struct pmc_mask counters = { 0 };

	for (unsigned c = 0; c < sampling_gp_counters(); c++)
		if (!pebs_has_pdist(c) && counters_for(LOADS).bits & BIT(c))
			counters.bits |= BIT(c);
	if (counter_caps()->pebs_fixed_mask & 1 && !pebs_has_pdist(PMC_FIXED(0)))
		counters.bits |= BIT(PMC_FIXED(0));
	return counters;
}

/*
 * ARM-04  No record may be written when the counter or its PEBS bit is switched off between arming
 *         and the next event.
 *         SDM 18.4.4.4 Re-configuring PEBS Facilities (asks for a quiescent period)
 * ARM-12  An armed counter must stay armed while it is off in IA32_PERF_GLOBAL_CTRL, whatever is
 *         done about other counters meanwhile.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): the first event after arming
 *
 * Given  each counter of loads without PDist, and fixed counter 0 where it makes records, at CPL 3,
 *        armed by its last event there
 * When   at CPL 0 nothing is written; another counter's field of IA32_FIXED_CTR_CTRL, event select,
 *        value, PEBS enable, LL_EN, and bit of IA32_PERF_GLOBAL_OVF_CTRL; IA32_DS_AREA,
 *        IA32_DEBUGCTL, MSR_PEBS_LD_LAT_THRESHOLD, each with its old value at the end; HLT is
 *        executed; its own PEBS enable, cleared alone or while another's is set, and set; its own
 *        event select or IA32_FIXED_CTR_CTRL, cleared and written again; then events at CPL 3
 * Then   there is a record in each case except the last three, which make none
 */
TEST(arm, write_about_another_counter_keeps_an_armed_one_armed, REQS(ARM_04, ARM_12),
     NEEDS(need_perfmon, need_pebs, need_events, need_instructions, need_fixed_0_to_2))
{
	FOR_EACH_COUNTER (c, armed_counters().bits)
		for (unsigned w = 0; w < WRITES; w++) {
			unsigned records;

			if (!arm_by_last_event(t, c)) {
				counter_reset();
				return;
			}
			records = records_after(t, &writes[w], c);
			if (writes[w].disarms) {
				CHECK_EQ(t, ARM_04, 0, records, "records of armed counter %u: %s",
					 c, writes[w].name);
				continue;
			}
			CHECK_EQ(t, ARM_12, 1, records, "records of armed counter %u: %s", c,
				 writes[w].name);
		}
}

/* Another counter overflows at CPL 0 and freezes all counters, the armed one included. From version
 * 4 on the events of the armed one go on while CTR_Frz is set. */
static unsigned freeze_by_another(struct test *t, unsigned c)
{
	const u64 ctr_frz = IA32_PERF_GLOBAL_STATUS_CTR_FRZ;
	const unsigned other = other_than(c);
	unsigned interrupts;

	pmi_open(&keep_status);
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	overflow_prepare(other, COUNT_INT);
	workload_run(&workload_long_sled, PERIOD, pmc_or(pmc_one(c), pmc_one(other)));
	interrupts = pmi_settle()->count;
	msr_write(MSR_IA32_DEBUGCTL, 0);
	pmi_close();
	overflow_off(other);
	if (counter_caps()->version >= 4 && overflow_freezable(t) & BIT(c)) {
		run_at_cpl_3(c);
		CONTROL_EQ(t, FRZ_26, ctr_frz, counters_status() & ctr_frz, "CTR_FRZ");
		CHECK_EQ(t, FRZ_26, 0, (u64)ds_bytes(),
			 "bytes by which the index moved, counter %u armed, CTR_FRZ set", c);
	}
	counters_clear(counters_status() & ctr_frz);
	return interrupts;
}

/*
 * ARM-12  An armed counter must stay armed while it is off in IA32_PERF_GLOBAL_CTRL, whatever is
 *         done about other counters meanwhile.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): the first event after arming
 * FRZ-26  No PEBS record may be written while CTR_Frz is set.
 *         SDM 18.2.4.1 Enhancement in IA32_PERF_GLOBAL_STATUS (records are not named)
 *
 * Given  each counter of loads without PDist, and fixed counter 0 where it makes records, at CPL 3,
 *        armed by its last event there; IA32_DEBUGCTL[12] = 1
 * When   another counter overflows at CPL 0 with INT and freezes both; from version 4 on events
 *        follow at CPL 3; software ends the freeze and switches the armed one on again; then events
 *        follow at CPL 3
 * Then   there is no record while CTR_Frz is set, and then there is one
 * Control: there was an interrupt
 */
TEST(arm, freeze_by_another_counter_keeps_an_armed_one_armed, REQS(ARM_12, FRZ_26),
     NEEDS(need_perfmon, need_pebs, need_events, need_branches, need_instructions, need_freeze))
{
	FOR_EACH_COUNTER (c, armed_counters().bits) {
		unsigned interrupts;

		if (!arm_by_last_event(t, c)) {
			counter_reset();
			return;
		}
		interrupts = freeze_by_another(t, c);
		CONTROL_RANGE(t, ARM_12, 1, overflow_allowed(t, 1, interrupts), interrupts,
			      "interrupts of counter %u, beside the armed one", other_than(c));
		CHECK_EQ(t, ARM_12, 1, records_after(t, &writes[0], c),
			 "records of armed counter %u after a freeze", c);
	}
}
