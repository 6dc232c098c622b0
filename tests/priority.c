/* SPDX-License-Identifier: MIT */
/*
 * Several counters, or several causes, at the same time: SDM "Processor Event Based Sampling
 * (PEBS)", the paragraphs on performance counter prioritization. Two things on one instruction
 * are only known to meet where calibration shows no skid and no shadow; elsewhere those tests are
 * a SKIP with what was measured. Which of two interrupts was raised first can't be seen once both
 * wait, so what is looked at is that neither action is lost, and the order of what each leaves.
 */
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/calibration.h"
#include "tests/needs.h"
#include "tests/sampling.h"

#define OVF_BUF IA32_PERF_GLOBAL_STATUS_OVF_BUF

/* In a test that needs two actions on one instruction. */
static bool actions_meet(struct test *t)
{
	const struct calibration *c = calibration_get();

	if (c->skid_known && c->skid_most == 0 && c->shadow_known && c->shadow_most == 0)
		return true;
	/* Either alone keeps them apart. */
	if (c->skid_known && c->skid_most)
		test_skip(t, "interrupt skid %u to %u instructions", c->skid_least, c->skid_most);
	else if (c->shadow_known && c->shadow_most)
		test_skip(t, "record shadow %u to %u events", c->shadow_least, c->shadow_most);
	else if (c->shadow_beyond)
		test_skip(t, "record shadow of more than %u events", SAMPLE_MARKS);
	else
		test_inconclusive(t, "interrupt skid and record shadow aren't measurable");
	return false;
}

/*
 * Whether counters that count one event wrap on the same one is a question of where they start
 * and stop: they do if they show equal counts of the same window.
 */
static bool wrap_together(struct test *t, struct pmc_mask counters, u16 event)
{
	u64 value[WINDOW_COUNTERS], first = 0;

	if (!window_count(counters, event, COUNT_BOTH, &workload_sled, PERIOD, value)) {
		test_inconclusive(t, "disturbed windows");
		return false;
	}
	for (unsigned c = WINDOW_COUNTERS; c-- > 0;)
		if (counters.bits & BIT(c))
			first = value[c];
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(counters.bits & BIT(c)) || value[c] == first)
			continue;
		test_inconclusive(t, "counter %u counts %lu, the first one %lu", c, value[c],
				  first);
		return false;
	}
	return true;
}

static const struct pmi_log *run_all(struct pmc_mask counters, u16 event)
{
	const struct pmi_log *log;

	pmi_open(NULL);
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(counters.bits & BIT(c)))
			continue;
		counter_program(c, event, COUNT_BOTH | COUNT_INT);
		counter_preset(c, PERIOD);
	}
	workload_run(&workload_sled, PERIOD, counters);
	log = pmi_settle();
	pmi_close();
	return log;
}

TEST(priority, counters_that_wrap_together_raise_one_interrupt, REQS(PRIO_13, PRIO_14),
     NEEDS(need_perfmon, need_branches, need_two_counters))
{
	struct pmc_mask all = counters_gp();
	const struct pmi_log *log;

	if (!wrap_together(t, all, EVENT_BR_INST_RETIRED_ALL_BRANCHES))
		return;
	log = run_all(all, EVENT_BR_INST_RETIRED_ALL_BRANCHES);
	CHECK_EQ(t, PRIO_13, 1, log->count, "interrupts of %u counters that wrap on one branch",
		 counter_caps()->gp);
	if (log->count)
		CHECK_EQ(t, PRIO_14, all.bits, log->entry[0].status & all.bits,
			 "their status bits at the handler's entry");
}

TEST(priority, a_fixed_counter_that_wraps_too_raises_no_other, REQS(PRIO_13, PRIO_14),
     NEEDS(need_perfmon, need_instructions, need_fixed))
{
	struct pmc_mask both = pmc_or(pmc_one(0), pmc_one(PMC_FIXED(0)));
	const struct pmi_log *log;

	if (!wrap_together(t, both, EVENT_INST_RETIRED_ANY_P))
		return;
	log = run_all(both, EVENT_INST_RETIRED_ANY_P);
	CHECK_EQ(t, PRIO_13, 1, log->count,
		 "interrupts of IA32_PMC0 and fixed counter 0, which wrap on one instruction");
	if (log->count)
		CHECK_EQ(t, PRIO_14, both.bits, log->entry[0].status & both.bits,
			 "their status bits at the handler's entry");
}

/* The interrupts of one record of a counter. */
static const struct pmi_log *run_record(unsigned c, u64 flags, unsigned threshold)
{
	struct ds_setup setup = sampling_setup(8);
	const struct pmi_log *log;

	setup.threshold = threshold;
	pmi_open(NULL);
	sampling_run(&setup, c, LOADS, COUNT_BOTH | flags, &workload_sample, NO_OTHERS);
	log = pmi_settle();
	pmi_close();
	return log;
}

static u64 one_record_on(void)
{
	return ds_base() + record_size(counter_caps()->record_format);
}

TEST(priority, record_and_index_are_in_memory_at_the_threshold_interrupt, REQS(PRIO_12),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	enum record_format format = counter_caps()->record_format;
	const struct pmi_log *log = run_record(0, 0, 1);
	struct pebs_record record;

	if (!CHECK_EQ(t, PRIO_12, 1, log->count,
		      "interrupts of one record, which meets the threshold"))
		return;
	CHECK_EQ(t, PRIO_12, OVF_BUF, log->entry[0].status & OVF_BUF,
		 "OvfBuf at the handler's entry");
	CHECK_EQ(t, PRIO_12, one_record_on(), log->entry[0].index, "index at the handler's entry");
	record_decode(format, log->entry[0].record, RECORD_MAX_SIZE, &record);
	CHECK(t, PRIO_12, sampling_mark(&workload_sample, SAMPLE_MARKS, &record) >= 0,
	      "instruction 0x%lx of the record at the handler's entry is a marked load",
	      sampling_ip(&workload_sample, &record));
}

/* At CPL 3, counting nothing else: the handler's own loads mustn't be what starts the assist. */
TEST(priority, a_counters_assist_comes_before_its_overflow_interrupt, REQS(PRIO_08),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(8);
	const struct pmi_log *log;

	pmi_open(NULL);
	ds_open(&setup);
	pebs_arm(0, LOADS, COUNT_USR | COUNT_INT, PERIOD);
	counters_enable(pmc_one(0));
	workload_run_user(&workload_load, 2 * PERIOD);
	counters_disable();
	log = pmi_settle();
	pmi_close();
	pebs_disarm();
	if (!CHECK_EQ(t, PRIO_08, 1, log->count,
		      "interrupts of one record, INT = 1, threshold out of reach"))
		return;
	CHECK_EQ(t, PRIO_08, one_record_on(), log->entry[0].index,
		 "index at the entry of the overflow interrupt");
}

/*
 * Do two interrupts that are requested on one instruction arrive as two? Asked of two counters:
 * IA32_PMC1 overflows where an assist of IA32_PMC2 is due, whose record reaches the threshold.
 */
static bool two_stay_two(void)
{
	const struct calibration *c = calibration_get();
	struct ds_setup setup = sampling_setup(8);
	unsigned interrupts;

	if (!c->skid_known || c->skid_most || !c->shadow_known || c->shadow_most ||
	    c->masked != MASKED_LATCHED)
		return false;
	setup.threshold = 1;
	pmi_open(NULL);
	counter_program(1, LOADS, COUNT_BOTH | COUNT_INT);
	counter_preset(1, PERIOD + 1);
	sampling_run(&setup, 2, LOADS, COUNT_BOTH, &workload_sample, pmc_one(1));
	interrupts = pmi_settle()->count;
	pmi_close();
	counter_reset();
	return interrupts == 2;
}

/*
 * One interrupt that shows the threshold is all that can be asked where a second one may be lost
 * or merged: where interrupts aren't taken at once, don't wait while LVTPC is masked, or are one
 * when they are requested together.
 */
static void check_two(struct test *t, unsigned c, bool exact)
{
	const struct pmi_log *log = run_record(c, COUNT_INT, 1);

	if (!CHECK_RANGE(t, PRIO_10, 1, 2, log->count,
			 "interrupts of one record of IA32_PMC%u, INT = 1, which meets the "
			 "threshold", c))
		return;
	CHECK_EQ(t, PRIO_09, OVF_BUF, log->entry[0].status & OVF_BUF,
		 "OvfBuf at the entry of the first of %u interrupts", log->count);
	CHECK_EQ(t, PRIO_09, one_record_on(), log->entry[0].index,
		 "index at the entry of the first interrupt");
	if (log->count == 2 || exact)
		CHECK_EQ(t, PRIO_10, 2, log->count, "separate interrupts, IA32_PMC%u", c);
	else
		test_inconclusive(t, "one interrupt for threshold and overflow of IA32_PMC%u: %s",
				  c, calibration_get()->masked == MASKED_LOST ?
				  "what LVTPC masks is lost here" :
				  "what is requested together may arrive as one here");
}

TEST(priority, threshold_interrupt_then_overflow_interrupt, REQS(PRIO_09, PRIO_10),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	bool exact = two_stay_two();

	for (unsigned c = 0; c < 4; c++) {
		check_two(t, c, exact);
		counter_reset();
	}
}

/*
 * Counter `sampled`, with PEBS, is armed by the last load before the marks, so that its assist is
 * due on the first marked load, on which counter `plain` wraps with its interrupt.
 */
static void check_meeting(struct test *t, struct test_claim claim, unsigned sampled, unsigned plain)
{
	struct ds_setup setup = sampling_setup(8);
	const struct pmi_log *log;
	struct pebs_record record;

	pmi_open(NULL);
	counter_program(plain, LOADS, COUNT_BOTH | COUNT_INT);
	counter_preset(plain, PERIOD + 1);
	sampling_run(&setup, sampled, LOADS, COUNT_BOTH, &workload_sample, pmc_one(plain));
	log = pmi_settle();
	pmi_close();
	if (test_check_eq(t, claim, 1, log->count,
			  "interrupts: IA32_PMC%u wraps where an assist of IA32_PMC%u is due",
			  plain, sampled))
		test_check_eq(t, claim, BIT(plain), log->entry[0].status & BIT(plain),
			      "status bit of IA32_PMC%u at the handler's entry", plain);
	if (sampling_one_record(t, claim, &record))
		test_check_eq(t, claim, workload_mark(&workload_sample, 0),
			      sampling_ip(&workload_sample, &record),
			      "instruction of IA32_PMC%u's record: the first marked load", sampled);
	counters_clear(counters_status());
	counter_reset();
}

TEST(priority, an_assist_keeps_the_interrupt_of_a_lower_counter, REQS(PRIO_06),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	if (!actions_meet(t))
		return;
	check_meeting(t, AT(PRIO_06), 2, 1);
	check_meeting(t, AT(PRIO_06), 3, 0);
}

TEST(priority, an_interrupt_keeps_the_assist_of_a_lower_counter, REQS(PRIO_07),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	if (!actions_meet(t))
		return;
	check_meeting(t, AT(PRIO_07), 1, 2);
	check_meeting(t, AT(PRIO_07), 0, 3);
}

/*
 * At CPL 3, where the handler isn't counted, fixed counter 0 interrupts with its nth instruction,
 * while `sampled` is armed by the PERIODth load and `plain` counts loads too. How many had retired
 * at the interrupt; when the one behind the PERIODth is among them, its record must be in memory.
 */
static u64 check_fixed_at(struct test *t, unsigned sampled, unsigned plain, u64 nth)
{
	struct ds_setup setup = sampling_setup(8);
	const struct pmi_log *log;
	u64 loads;

	pmi_open(NULL);
	ds_open(&setup);
	pebs_arm(sampled, LOADS, COUNT_USR, PERIOD);
	counter_program(plain, LOADS, COUNT_USR);
	counter_write(plain, 0);
	counter_program(PMC_FIXED(0), 0, COUNT_USR | COUNT_INT);
	counter_preset(PMC_FIXED(0), nth);
	counters_enable(pmc_or(pmc_or(pmc_one(sampled), pmc_one(plain)), pmc_one(PMC_FIXED(0))));
	workload_run_user(&workload_load, 2 * PERIOD);
	counters_disable();
	log = pmi_settle();
	pmi_close();
	loads = counter_read(plain);
	if (CHECK_EQ(t, PRIO_04, 1, log->count,
		     "interrupts of fixed counter 0, behind %lu instructions", nth) &&
	    loads > PERIOD)
		CHECK_EQ(t, PRIO_04, one_record_on(), log->entry[0].index,
			 "index at the entry of fixed counter 0's interrupt, %lu loads behind the "
			 "overflow of IA32_PMC%u", loads - PERIOD, sampled);
	counter_reset();
	return loads;
}

/* The first instruction whose interrupt finds that load retired is the load itself. */
static void check_before_fixed(struct test *t, unsigned sampled, unsigned plain)
{
	u64 before = 1, at = workload_declared(&workload_load, COUNT_INSTRUCTIONS, 2 * PERIOD);
	u64 loads_before, loads_at;

	loads_before = check_fixed_at(t, sampled, plain, before);
	loads_at = check_fixed_at(t, sampled, plain, at);
	while (at - before > 1) {
		u64 nth = (before + at) / 2, loads = check_fixed_at(t, sampled, plain, nth);

		if (loads > PERIOD) {
			at = nth;
			loads_at = loads;
		} else {
			before = nth;
			loads_before = loads;
		}
	}
	if (loads_before != PERIOD || loads_at != PERIOD + 1)
		test_inconclusive(t, "behind %lu instructions %lu loads have retired, behind %lu "
				  "%lu", before, loads_before, at, loads_at);
}

TEST(priority, an_assist_comes_before_a_fixed_counters_interrupt, REQS(PRIO_04),
     NEEDS(need_perfmon, need_pebs, need_events, need_fixed, need_two_counters))
{
	if (!actions_meet(t))
		return;
	check_before_fixed(t, 0, 1);
	check_before_fixed(t, 3, 0);
}

/*
 * The first record of two overflows on different loads, `gap` apart, that of `earlier` first. Its
 * status must show the earlier one (the assist clears it afterwards); where the assist comes at
 * once, it isn't held up by an overflow on its own load either.
 */
static void check_earlier(struct test *t, unsigned earlier, unsigned later, u64 gap)
{
	const struct calibration *c = calibration_get();
	enum record_format format = counter_caps()->record_format;
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	u64 status;

	ds_open(&setup);
	pebs_arm(later, LOADS, COUNT_BOTH, PERIOD + gap);
	pebs_arm(earlier, LOADS, COUNT_BOTH, PERIOD);
	workload_run(&workload_sample, PERIOD, pmc_or(pmc_one(earlier), pmc_one(later)));
	if (!CHECK_RANGE(t, PRIO_16, 1, 2, ds_records(), "records of two overflows"))
		return;
	record_decode(format, ds_record(0), record_size(format), &record);
	status = sampling_field(&record, RECORD_status);
	CHECK_EQ(t, PRIO_16, BIT(earlier), status & BIT(earlier),
		 "IA32_PMC%u, %lu loads before IA32_PMC%u, in the first record's status 0x%lx",
		 earlier, gap, later, status);
	if (c->shadow_known && c->shadow_most == 0)
		CHECK_EQ(t, PRIO_16, workload_mark(&workload_sample, 0),
			 sampling_ip(&workload_sample, &record),
			 "instruction of IA32_PMC%u's record, IA32_PMC%u overflowing %lu loads on",
			 earlier, later, gap);
	counter_reset();
}

TEST(priority, an_earlier_overflow_is_not_overtaken, REQS(PRIO_16),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	calibration_get();
	check_earlier(t, 3, 0, 1);
	check_earlier(t, 2, 1, 6);
	check_earlier(t, 0, 1, 1);
}

/* Was the counter loaded from its slot, which is out of anything's reach? */
static bool reloaded(unsigned counter)
{
	return counter_read(counter) >= BIT(counter_width(counter) - 1);
}

/*
 * Two assists due on one load that can't share a record, and room for one record: at CPL 3, where
 * the handler isn't counted, three counters wrap on the same load; the interrupt of the third is
 * taken before the next load, and its handler clears the status bits of the other two, so that an
 * assist of one doesn't take the other for overflowed. The next load finds both due. Returns the
 * records that were written.
 */
static unsigned two_assists(unsigned first, unsigned second, unsigned room)
{
	static const struct pmi_options running = { .keep_counting = true };
	unsigned third = 0;
	struct ds_setup setup = sampling_setup(room);
	struct pmc_mask all;
	unsigned records;

	while (third == first || third == second)
		third++;
	all = pmc_or(pmc_one(first), pmc_or(pmc_one(second), pmc_one(third)));
	setup.threshold = DS_CAPACITY;
	pmi_open(&running);
	ds_open(&setup);
	pebs_arm(first, LOADS, COUNT_USR, PERIOD);
	pebs_arm(second, LOADS, COUNT_USR, PERIOD);
	counter_program(third, LOADS, COUNT_USR | COUNT_INT);
	counter_preset(third, PERIOD);
	counters_enable(all);
	workload_run_user(&workload_load, PERIOD + 1);
	counters_disable();
	pmi_settle();
	pmi_close();
	records = ds_records();
	pebs_disarm();
	return records;
}

static void check_order(struct test *t, struct test_claim claim, unsigned first, unsigned second)
{
	bool served_first, served_second;

	if (two_assists(first, second, 4) != 2) {
		test_inconclusive(t, "the assists of IA32_PMC%u and IA32_PMC%u share a record",
				  first, second);
		counter_reset();
		return;
	}
	counter_reset();
	if (two_assists(first, second, 1) != 1)
		test_inconclusive(t, "the buffer's only record wasn't written once");
	served_first = reloaded(first);
	served_second = reloaded(second);
	test_check(t, claim, served_first && !served_second, "the lower one is served",
		   "one record for IA32_PMC%u (reloaded: %u) and IA32_PMC%u (%u)", first,
		   served_first, second, served_second);
	counter_reset();
}

TEST(priority, assists_are_served_in_counter_order, REQS(PRIO_01, PRIO_02, PRIO_03),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	if (!actions_meet(t))
		return;
	check_order(t, AT(PRIO_02), 0, 1);
	check_order(t, AT(PRIO_02), 0, 3);
	check_order(t, AT(PRIO_03), 1, 2);
	check_order(t, AT(PRIO_01), 2, 3);
}
