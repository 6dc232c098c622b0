/* SPDX-License-Identifier: MIT */
/*
 * Calibration. Interrupt skid: a sled of one-byte NOPs after the overflowing branch. Record shadow:
 * marked loads, or jumps, after the overflowing one. Masked interrupts: a PMI is raised while LVTPC
 * is masked. The events that the enabling and disabling WRMSR add: the difference between the count
 * and the declaration.
 */
#include "tests/frame/calibration.h"

#include "kernel/processor/percpu.h"
#include "kernel/memory/string.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/disturbance.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/frame/test.h"
#include "tests/measure/window.h"

/* If a machine is late in half of its tries, all tries are in time only once in a million. */
#define TRIES 20
#define DISTURBED_TRIES 4
#define BEYOND 1000	/* loads: the longest wait for a record */
#define OPENINGS 5
#define OPENING_MOST 15	/* events; one WRMSR's microcode has no more */

static struct calibration measured[CPU_MAX];
static bool calibrated[CPU_MAX];

static struct calibration *calibration_this_cpu(void)
{
	return &measured[cpu_index()];
}

/* Run one overflow of IA32_PMC0, with its interrupt, on the last branch before the sled. */
static void overflow_before_sled(void)
{
	counter_program(0, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH | COUNT_INT);
	counter_preset(0, PERIOD + calibration_this_cpu()->open_branches);
	workload_run(&workload_long_sled, PERIOD, pmc_one(0));
}

static void measure_skid(void)
{
	struct calibration *c = calibration_this_cpu();
	unsigned known = 0;

	c->skid_least = ~0u;
	for (unsigned i = 0; i < TRIES; i++) {
		const struct pmi_log *log;
		u64 skid;

		pmi_open(NULL);
		overflow_before_sled();
		log = pmi_settle();
		if (!i)
			c->first_interrupts = log->count;
		skid = log->entry[0].rip - workload_mark(&workload_long_sled, 0);
		if (log->count == 1 && skid <= LONG_SLED_NOPS) {
			known++;
			c->acts = true;
			if (skid < c->skid_least)
				c->skid_least = (unsigned)skid;
			if (skid > c->skid_most)
				c->skid_most = (unsigned)skid;
		}
		pmi_close();
		counter_reset();
	}
	c->skid_known = known == TRIES;
}

static void measure_masked(void)
{
	struct calibration *c = calibration_this_cpu();
	static const struct pmi_options masked = { .masked = true };
	const struct pmi_log *log;

	pmi_open(&masked);
	overflow_before_sled();
	log = pmi_settle();
	if (!log->count) {
		pmi_unmask();
		c->masked = pmi_settle()->count ? MASKED_LATCHED : MASKED_LOST;
	}
	pmi_close();
	counter_reset();
}

static void measure_shadow(void)
{
	struct calibration *c = calibration_this_cpu();
	enum record_format format = counter_caps()->record_format;
	struct ds_setup setup = { .format = format, .capacity = 8, .threshold = 8 };
	/* Use a counter without PDist: one with PDist has no shadow, so it doesn't show the shadow
	 * of others. */
	const unsigned ordinary = pebs_first_without_pdist();
	const unsigned counter = counter_caps()->pebs_mask & BIT(ordinary) ? ordinary : 0;
	const struct workload *piece = sampling_any_piece();
	const u16 event = sampling_any_event();
	const unsigned opening = LOADS ? c->open_loads : c->open_branches;
	unsigned known = 0, taken = 0;

	setup.reset[counter] = pebs_reset_value(counter, 1u << 20);
	c->shadow_least = ~0u;
	for (unsigned i = 0; i < TRIES; i++) {
		struct pebs_record record;
		int mark = -1;

		ds_open(&setup);
		pebs_arm(counter, event, COUNT_BOTH, PERIOD + opening);
		workload_run(piece, PERIOD, pmc_one(counter));
		if (ds_records() == 1 &&
		    record_decode(format, ds_record(0), record_size(format), &record))
			mark = sampling_mark(piece, SAMPLE_MARKS, &record);
		taken += ds_records();
		if (!i && ds_records() == 1) {
			c->first_record_taken = true;
			memcpy(c->first_record, ds_record(0), record_size(format));
		}
		if (mark >= 0) {
			known++;
			if ((unsigned)mark < c->shadow_least)
				c->shadow_least = (unsigned)mark;
			if ((unsigned)mark > c->shadow_most)
				c->shadow_most = (unsigned)mark;
		}
		counter_reset();
	}
	c->shadow_known = known == TRIES;
	if (!taken) {
		ds_open(&setup);
		pebs_arm(counter, event, COUNT_BOTH, PERIOD);
		workload_run(&workload_load, BEYOND, pmc_one(counter));
		c->shadow_beyond = ds_records();
		counter_reset();
	}
}

/* The count of this event in IA32_PMC0 when the piece begins: the minimum of several windows. */
static unsigned measure_opening(u16 event)
{
	u64 least = ~0ULL;

	for (unsigned i = 0; i < OPENINGS; i++) {
		u64 value;

		counter_program(0, event, COUNT_BOTH);
		counter_write(0, 0);
		workload_run(&workload_opening, 1, pmc_one(0));
		value = workload_memory()[0];
		if (value < least)
			least = value;
		counter_reset();
	}
	return least > OPENING_MOST ? 0 : (unsigned)least;
}

u64 calibration_period(u16 event, u64 n)
{
	const struct calibration *c = calibrated[cpu_index()] ? calibration_this_cpu() :
								&measured[CPU_BOOT];

	if (event == EVENT_BR_INST_RETIRED_ALL_BRANCHES)
		return n + c->open_branches;
	return event && event == LOADS ? n + c->open_loads : n;
}

static void measure(void)
{
	char reason[128];

	*calibration_this_cpu() = (struct calibration){ .sees_smis = disturbance_sees_smis() };
	if (!need_perfmon(reason, sizeof(reason)) || !need_branches(reason, sizeof(reason)))
		return;
	counter_reset();
	calibration_this_cpu()->open_branches = measure_opening(EVENT_BR_INST_RETIRED_ALL_BRANCHES);
	if (need_events(reason, sizeof(reason)))
		calibration_this_cpu()->open_loads = measure_opening(LOADS);
	measure_skid();
	measure_masked();
	if (need_any_pebs(reason, sizeof(reason)) && need_loads_or_branches(reason, sizeof(reason)))
		measure_shadow();
}

/* Repeat the measurement if it was disturbed. If every try was disturbed, the values stay
 * unknown. */
const struct calibration *calibration_get(void)
{
	struct attempt attempt = { .last_gaps = DISTURBANCE_FIRST };
	bool *done = &calibrated[cpu_index()];

	for (unsigned i = 0; i < DISTURBED_TRIES && !*done; i++) {
		disturbance_begin(&attempt);
		measure();
		*done = !disturbance_found(&attempt);
	}
	if (!*done)
		calibration_this_cpu()->skid_known = calibration_this_cpu()->shadow_known = false;
	*done = true;
	return calibration_this_cpu();
}

bool calibration_is_over(unsigned cpu)
{
	return calibrated[cpu];
}

void calibration_give_up(unsigned cpu)
{
	measured[cpu] = (struct calibration){ .given_up = true };
	calibrated[cpu] = true;
}

struct overhead {
	const char *name;
	u16 event;
	enum workload_count declared;
};

static void note_overheads(struct test *t)
{
	const struct overhead rows[] = {
		{ "instructions", EVENT_INST_RETIRED_ANY_P, WORKLOAD_INSTRUCTIONS },
		{ "branches", EVENT_BR_INST_RETIRED_ALL_BRANCHES, WORKLOAD_BRANCHES },
		{ "loads", LOADS, WORKLOAD_LOADS },
		{ "stores", STORES, WORKLOAD_STORES },
	};
	char reason[128];
	bool events = need_events(reason, sizeof(reason));

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *name = rows[i].name;
		u64 value, declared = workload_declared(&workload_mixed, rows[i].declared, 16);

		if (i >= 2 && !events)
			break;
		if (window_count_one(t, 0, rows[i].event, COUNT_BOTH, &workload_mixed, 16, &value))
			test_note(t, "calibration: a window of %lu %s counts %lu: %ld more",
				  declared, name, value, (long)(value - declared));
	}
}

static const char *masked_text(enum masked_pmi masked)
{
	switch (masked) {
	case MASKED_LATCHED:
		return "waits until the mask is cleared";
	case MASKED_LOST:
		return "is lost";
	default:
		return "wasn't seen";
	}
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  behaviour that the manual leaves open. Interrupt skid is measured by a sled of NOPs after
 *        the branch that overflows, record shadow by marked loads. Also measured: whether an
 *        interrupt that is raised while LVTPC is masked is kept; the events that the WRMSR which
 *        opens a window adds to a count
 * When   each is measured, several times
 * Then   an overflow of IA32_PMC0 has interrupted within the sled; if not, the test is
 *        INCONCLUSIVE. The log shows the other values
 */
TEST(calibration, calibration_sees_an_overflow_interrupt, NO_REQS,
     NEEDS(need_perfmon, need_branches))
{
	const struct calibration *c = calibration_get();

	if (!HARNESS_CHECK(t, !c->given_up, "the measurement came to its end"))
		return;
	if (c->skid_known)
		test_note(t, "calibration: interrupt skid %u to %u instructions", c->skid_least,
			  c->skid_most);
	else
		test_note(t, "calibration: interrupt skid isn't measurable");
	test_note(t, "calibration: the write that opens a window adds %u loads and %u branches",
		  c->open_loads, c->open_branches);
	test_note(t, "calibration: an interrupt raised while LVTPC is masked %s",
		  masked_text(c->masked));
	if (c->shadow_known)
		test_note(t, "calibration: record shadow %u to %u events", c->shadow_least,
			  c->shadow_most);
	else
		test_note(t, "calibration: record shadow %s",
			  c->shadow_beyond ? "of more events than are marked" : "isn't measurable");
	test_note(t, "calibration: SMIs %s be counted", c->sees_smis ? "can" : "can't");
	note_overheads(t);
	if (c->acts)
		HARNESS_CHECK(t, c->acts, "the PMU acts");
	else
		test_inconclusive(t, "no overflow of IA32_PMC0 interrupted within %u instructions",
				  LONG_SLED_NOPS);
}
