/* SPDX-License-Identifier: MIT */
/*
 * Runs one test, from a known clean state to its verdict. The runner writes this state, because
 * firmware or the previous test may have left other values in counters and control registers.
 * However the test ends, the PMU is switched off afterwards on each processor that took part. A
 * test may run on another processor; this one then waits for it.
 */
#include "tests/frame/runner.h"

#include "kernel/output/fmt.h"
#include "kernel/interrupt/intr.h"
#include "kernel/machine/smp.h"
#include "kernel/processor/time.h"
#include "pmu/counter.h"
#include "pmu/ds.h"
#include "pmu/exerciser.h"
#include "pmu/pmi.h"
#include "pmu/pmu.h"
#include "tests/frame/calibration.h"
#include "tests/frame/denied.h"
#include "tests/frame/disturbance.h"
#include "tests/frame/needs.h"

#define DEADLINE_MS 10000
#define WITH_EXERCISER 4	/* times the deadline: such a processor is a model in software */
#define REFUSAL_SIZE 96
#define CHANGE_SIZE 96
#define DISTURBED_TRIES 6
/* After so many runs with a missed record the test fails: more than half of five runs. Runs end
 * early when one misses no record. */
#define MISSED_TRIES	3
#define STEP_MS 2000	/* for steps on another processor before and after a test */

static const struct requirement *requirement_at(const struct test *t, unsigned i)
{
	return requirement_get((enum requirement_id)(t->test_case->reqs[i] - 1));
}

/* Has the test a requirement that is about this processor, or none at all? */
static bool is_about(const struct test *t)
{
	for (unsigned i = 0; t->test_case->reqs[i]; i++)
		if (verdict_applies(requirement_at(t, i), t->subject))
			return true;
	return !t->test_case->reqs[0];
}

/* Call add(ctx, id, verdict) for each requirement that this verdict is about. An id may come
 * twice. */
static void each_requirement(const struct test *t, enum verdict verdict,
			     void (*add)(void *ctx, enum requirement_id id, enum verdict verdict),
			     void *ctx)
{
	bool all = !is_about(t);

	switch (verdict) {
	case VERDICT_PASS:
		for (unsigned i = 0; i < t->seen_count; i++)
			if (t->seen[i].outcome == SEEN_OK && !t->seen[i].claim.control)
				add(ctx, t->seen[i].req, verdict);
		return;
	case VERDICT_FAIL:
	case VERDICT_KNOWN:	/* none for other requirements: the test may have stopped early */
		for (unsigned i = 0; i < t->failed && i < TEST_MAX_FAILURES; i++)
			add(ctx, t->failure[i].req, verdict);
		return;
	default:
		for (unsigned i = 0; t->test_case->reqs[i]; i++)
			if (all || verdict_applies(requirement_at(t, i), t->subject))
				add(ctx, (enum requirement_id)(t->test_case->reqs[i] - 1), verdict);
	}
}

static void add_to_tally(void *ctx, enum requirement_id id, enum verdict verdict)
{
	tally_add(ctx, id, verdict);
}

void runner_tally(const struct test *t, enum verdict verdict, struct tally *tally)
{
	each_requirement(t, verdict, add_to_tally, tally);
}

struct id_list {
	char *text;
	size_t size, length;
	bool listed[REQ_COUNT];
};

static void add_to_list(void *ctx, enum requirement_id id, enum verdict verdict)
{
	struct id_list *list = ctx;

	(void)verdict;
	if (list->listed[id] || list->length >= list->size)
		return;
	list->listed[id] = true;
	list->length += (size_t)fmt_print(list->text + list->length, list->size - list->length,
					  "%s%s", list->length ? "," : "", requirement_get(id)->id);
}

const char *runner_reqs(const struct test *t, enum verdict verdict, char *text, size_t size)
{
	struct id_list list = { .text = text, .size = size };

	fmt_print(text, size, "-");
	/* The block of a failed test names the requirements that failed. Here are all requirements
	 * of the test. */
	each_requirement(t, verdict == VERDICT_PASS ? verdict : VERDICT_NONE, add_to_list, &list);
	return text;
}

static void runner_call(void *arg)
{
	struct test *t = arg;

	evidence_begin(&t->evidence);
	t->test_case->run(t);
}

static void calibrate(void *arg)
{
	(void)arg;
	calibration_get();
}

/* Run fn(arg) on that processor. On the boot processor there is no guard: fn must not fail. */
static bool run_on_cpu(unsigned cpu, void (*fn)(void *arg), void *arg)
{
	struct guard_report report;

	if (cpu == CPU_BOOT) {
		fn(arg);
		return true;
	}
	return smp_run(cpu, fn, arg, STEP_MS, &report) && report.outcome == GUARD_DONE;
}

static void look_at_needs(void *arg)
{
	struct test *t = arg;

	for (unsigned i = 0; t->test_case->needs[i]; i++) {
		if (t->test_case->needs[i](t->reason, sizeof(t->reason)))
			continue;
		t->ended = VERDICT_SKIP;
		return;
	}
}

static bool needs_met(struct test *t)
{
	if (!is_about(t)) {
		t->ended = VERDICT_SKIP;
		/* Without a PMU neither version nor generation is known. */
		if (!need_monitoring(t->reason, sizeof(t->reason)))
			return false;
		fmt_print(t->reason, sizeof(t->reason), "a requirement of other generations: %s",
			  requirement_at(t, 0)->generations);
		return false;
	}
	if (!run_on_cpu(t->cpu, look_at_needs, t))
		test_inconclusive(t, "processor %u is lost", smp_number(t->cpu));
	return t->ended == VERDICT_NONE;
}

static const char *outcome_name(enum guard_outcome outcome)
{
	switch (outcome) {
	case GUARD_EXCEPTION:
		return "an unexpected exception";
	case GUARD_INTERRUPT:
		return "an unexpected interrupt";
	case GUARD_DEADLINE:
		return "the deadline has passed";
	case GUARD_ABORTED:
		return "aborted";
	case GUARD_RESTARTED:
		return "nothing reached the processor, which was started again";
	default:
		return "done";
	}
}

static void runner_begin(void *arg)
{
	bool *good = arg;

	*good &= pmu_init();
	if (cpu_index() != CPU_BOOT)	/* done in each group for this one */
		runner_begin_group();
}

bool runner_init(bool guest)
{
	bool good = true;

	caps_expect_guest(guest);
	for (unsigned cpu = 0; cpu < smp_count(); cpu++)
		if (!smp_is_lost(cpu) && !smp_is_left_out(cpu))
			good &= run_on_cpu(cpu, runner_begin, &good);
	return good;
}

void runner_begin_group(void)
{
	pmi_init();
	counter_reset();
	intr_window();
	pmi_spurious();
}

/* State before and after a test, on each processor that takes part in it. */
static struct around {
	struct attempt attempt;
	bool clean, disturbed;
	u64 stuck;		/* overflow bits that the reset hasn't cleared */
	unsigned spurious;
} arounds[CPU_MAX];

static u64 overflow_bits(void)
{
	u64 status;

	if (counter_caps()->version < 2 ||
	    msr_try_read(MSR_IA32_PERF_GLOBAL_STATUS, &status).raised)
		return 0;
	return status & counters_all().bits;
}

static void before(void *arg)
{
	struct around *around = arg;

	disturbance_begin(&around->attempt);
	around->clean = counter_reset();
	around->stuck = overflow_bits();
	pmi_spurious();
	ds_use(0);
}

/* Stop the PMU again. A pending interrupt is delivered now and not in the next test. */
static void after(void *arg)
{
	struct around *around = arg;

	disturbance_look(&around->attempt);
	counter_quiet();
	pmi_close();
	intr_set_handler(VECTOR_DB, NULL);
	pmi_init();
	intr_window();
	around->spurious = pmi_spurious();
	around->disturbed = disturbance_found(&around->attempt);
}

static bool has_part(const struct test *t, unsigned cpu)
{
	return cpu == t->cpu || (needs_others(t->test_case) && smp_is_idle(cpu));
}

static void run_under_guard(struct test *t, void (*fn)(void *arg), unsigned deadline)
{
	if (t->cpu == CPU_BOOT)
		t->guard = guard_run(fn, t, deadline);
	else if (!smp_run(t->cpu, fn, t, deadline, &t->guard))
		test_error(t, "processor %u is lost: neither interrupts nor an NMI reach it",
			   smp_number(t->cpu));
}

/* Calibrate before the first test that uses the PMU, under a separate guard: an exception there
 * isn't a verdict on the test; values that weren't measured stay unknown. */
static void calibrate_once(struct test *t)
{
	if (t->test_case->needs[0] != need_perfmon || calibration_is_over(t->cpu))
		return;
	run_under_guard(t, calibrate, DEADLINE_MS);
	if (t->guard.outcome == GUARD_DONE)
		return;
	calibration_give_up(t->cpu);
	test_note(t, "calibration: %s", outcome_name(t->guard.outcome));
	run_on_cpu(t->cpu, before, &arounds[t->cpu]);
}

static void run_on_its_processor(struct test *t)
{
	unsigned deadline = t->test_case->deadline_ms ? t->test_case->deadline_ms : DEADLINE_MS;
	struct smp_settled others;

	if (exerciser_is_here())
		deadline *= WITH_EXERCISER;
	calibrate_once(t);
	run_under_guard(t, runner_call, deadline);
	t->ended_on = t->cpu;
	others = smp_settle();
	if (others.lost)
		test_error(t, "processor %u is lost: neither interrupts nor an NMI reach it",
			   smp_number(others.lost));
	/* If this processor's part was ended, and not by an exception or interrupt of its own, the
	 * reason may be the other processor's failure, for which it waited. */
	if (others.failed && t->guard.outcome != GUARD_EXCEPTION &&
	    t->guard.outcome != GUARD_INTERRUPT) {
		t->guard = others.report;
		t->ended_on = others.failed;
	}
}

static void say_refusal(struct test *t, unsigned cpu)
{
	char text[REFUSAL_SIZE];

	if (smp_is_lost(cpu))
		test_error(t, "processor %u is lost", smp_number(cpu));
	else if (arounds[cpu].clean)
		test_error(t, "processor %u doesn't answer", smp_number(cpu));
	else
		test_error(t, "processor %u: %s", smp_number(cpu),
			   reset_format(counter_refusal(cpu), text, sizeof(text)));
}

static void run_guarded(struct test *t)
{
	u64 start = tsc_read();

	for (unsigned cpu = 0; cpu < smp_count(); cpu++)
		arounds[cpu].clean = true;
	for (unsigned cpu = 0; cpu < smp_count(); cpu++)
		if (has_part(t, cpu) &&
		    (!run_on_cpu(cpu, before, &arounds[cpu]) || !arounds[cpu].clean)) {
			say_refusal(t, cpu);
			return;
		} else if (has_part(t, cpu)) {
			t->stuck |= arounds[cpu].stuck;
		}
	run_on_its_processor(t);
	t->us = (tsc_read() - start) / time_tsc_per_us;
	if (t->guard.outcome != GUARD_DONE && t->ended_on != t->cpu)
		test_error(t, "%s, on processor %u", outcome_name(t->guard.outcome),
			   smp_number(t->ended_on));
	else if (t->guard.outcome != GUARD_DONE)
		test_error(t, "%s", outcome_name(t->guard.outcome));
	for (unsigned cpu = 0; cpu < smp_count(); cpu++) {
		struct around *around = &arounds[cpu];

		if (!has_part(t, cpu) && !(cpu && smp_has_run(cpu) && smp_is_idle(cpu)))
			continue;
		around->spurious = 0;
		run_on_cpu(cpu, after, around);
		smp_has_run(cpu);
		if (around->spurious)
			test_error(t,
				   "%u interrupts on the PMI's vectors of processor %u outside "
				   "the test's windows",
				   around->spurious, smp_number(cpu));
	}
}

/* A FAIL is KNOWN if every broken requirement is listed for this machine. */
static bool all_known(const struct test *t, struct known_issue *known)
{
	/* A strict run judges every rule: the errata of silicon excuse no model. */
	if (t->platform == PLATFORM_STRICT)
		return false;
	for (unsigned i = t->seen_count; i-- > 0;)
		if (t->seen[i].outcome == SEEN_FAILED &&
		    !verdict_known(t->subject, t->seen[i].req, known))
			return false;
	return true;
}

/* The reason names the first requirement that isn't judged. */
static void say_not_judged(struct test *t)
{
	const struct test_seen *seen = t->seen;
	const struct requirement *r;

	while (seen->outcome != SEEN_UNJUDGED && seen->outcome != SEEN_REPORTED)
		seen++;
	r = requirement_get(seen->req);
	fmt_print(t->reason, sizeof(t->reason), "nothing here is judged: %s, %s", r->id,
		  verdict_unjudged(r, t->platform, t->subject));
}

/* Some processors keep an overflow bit for good. What an earlier test left isn't judged here. */
static bool is_spoilt(struct test *t)
{
	if (!t->stuck || t->ended != VERDICT_NONE || counter_caps()->hypervisor ||
	    !test_erratum(t, ERRATUM_STATUS_STUCK))
		return false;
	fmt_print(t->reason, sizeof(t->reason),
		  "bits %#lx of IA32_PERF_GLOBAL_STATUS couldn't be cleared before the test",
		  t->stuck);
	return true;
}

static enum verdict verdict_of_failure(struct test *t, struct known_issue *known)
{
	return all_known(t, known) ? VERDICT_KNOWN :
	       is_spoilt(t)	   ? VERDICT_INCONCLUSIVE :
				     VERDICT_FAIL;
}

static enum verdict judge(struct test *t, struct known_issue *known)
{
	enum verdict verdict = t->ended;

	if (t->failed)
		verdict = verdict_worst(verdict, verdict_of_failure(t, known));
	if (verdict != VERDICT_NONE)
		return verdict;
	if (t->checks)
		return VERDICT_PASS;
	if (t->unjudged) {
		say_not_judged(t);
		return VERDICT_SKIP;
	}
	if (t->harness && !t->test_case->reqs[0])
		return VERDICT_PASS;
	if (t->errata) {
		fmt_print(t->reason, sizeof(t->reason),
			  "an erratum of this processor makes unreliable what is checked");
		return VERDICT_SKIP;
	}
	if (t->harness || t->controls) {
		fmt_print(t->reason, sizeof(t->reason), "no check of a requirement was reached");
		return VERDICT_INCONCLUSIVE;
	}
	fmt_print(t->reason, sizeof(t->reason), "the test ended without a check");
	return VERDICT_ERROR;
}

/* Reset the test to the state before its first run. */
static void forget(struct test *t)
{
	const struct test fresh = { .test_case = t->test_case, .tap = t->tap,
				    .platform = t->platform, .subject = t->subject,
				    .cpu = t->cpu, .errata = t->errata };

	*t = fresh;
}

/*
 * A disturbance makes a measurement worthless, whether it passed or failed. The test runs again
 * because of the disturbance alone, never because of the verdict.
 */
static void run_undisturbed(struct test *t)
{
	char changed[CHANGE_SIZE] = "";

	for (unsigned cpu = 0; cpu < CPU_MAX; cpu++)
		arounds[cpu].attempt.last_gaps = DISTURBANCE_FIRST;
	for (unsigned i = 0, missed = 0; i < DISTURBED_TRIES; i++) {
		bool disturbed = false;

		for (unsigned cpu = 0; cpu < CPU_MAX; cpu++)
			arounds[cpu].disturbed = false;
		forget(t);
		denied_forget();
		run_guarded(t);
		for (unsigned cpu = 0; cpu < CPU_MAX; cpu++) {
			disturbed |= arounds[cpu].disturbed;
			if (arounds[cpu].disturbed && arounds[cpu].attempt.changed.name)
				written_format(&arounds[cpu].attempt.changed, changed,
					       sizeof(changed));
		}
		if (disturbed)
			continue;
		if (!t->missed)
			return;
		missed++;
		tap_comment(t->tap, "run %u of %u in which a record is missed", missed,
			    MISSED_TRIES);
		if (missed == MISSED_TRIES)
			return;
	}
	forget(t);
	denied_forget();
	test_inconclusive(t, "disturbed in each of %u runs%s%s", DISTURBED_TRIES,
			  changed[0] ? ": after an SMI " : "", changed);
}

static void look_for_denial(void *arg)
{
	struct test *t = arg;
	char reason[TEST_TEXT];

	if (denied_explains(reason, sizeof(reason)))
		test_excuse(t, reason);
}

/* A guest's host may keep from it what CPUID promises: that fails no test, nor is it an error. */
static void excuse_what_is_denied(struct test *t)
{
	const struct guard_report guard = t->guard;
	u64 value;
	u32 msr;

	if (t->platform == PLATFORM_STRICT || !counter_caps_of(t->cpu)->hypervisor ||
	    (!t->failed && t->ended != VERDICT_ERROR))
		return;
	if (guard.outcome == GUARD_EXCEPTION) {
		if (!fault_is_wrmsr(&guard.frame, &msr, &value) || !denied_is_select(msr))
			return;
		denied_note_refusal(msr, value);
	} else if (guard.outcome != GUARD_DONE && guard.outcome != GUARD_DEADLINE) {
		return;
	}
	run_under_guard(t, look_for_denial, DEADLINE_MS);
	if (t->guard.outcome != GUARD_DONE)
		run_on_cpu(t->cpu, before, &arounds[t->cpu]);
	t->guard = guard;
}

enum verdict runner_run(struct test *t)
{
	struct known_issue known = { "", "" };
	enum verdict verdict;

	if (needs_met(t)) {
		if (t->before)
			t->before();
		run_undisturbed(t);
		excuse_what_is_denied(t);
	}
	verdict = judge(t, &known);
	report_test(t, verdict, &known);
	return verdict;
}
