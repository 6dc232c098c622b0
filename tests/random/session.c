/* SPDX-License-Identifier: MIT */
/* See session.h. */
#include "tests/random/session.h"

#include "kernel/interrupt/guard.h"
#include "kernel/memory/string.h"
#include "kernel/processor/percpu.h"
#include "kernel/processor/time.h"
#include "tests/frame/disturbance.h"
#include "tests/frame/draw_options.h"
#include "tests/measure/two_cpus.h"
#include "tests/random/draw.h"
#include "tests/random/machine.h"
#include "tests/random/print.h"
#include "tests/random/shrink.h"

#define RENEW_EVERY	8		/* cases between two renewals */
#define AGAIN		8		/* runs in which a wrong case must be wrong again */
#define TOLD		1		/* wrong cases that are shrunk and printed */

/* The settings of a session on one processor. */
struct session_plan {
	enum draw_class class;
	u64 seed;
	u32 ms;
	bool strict;
	u64 errata;			/* bit n: enum erratum n */
};

static struct work {
	struct trace trace;
	struct draw_observation seen;
	struct draw_verdict verdict;
	struct draw_case c;
	struct draw_env env;		/* the environment if not everything is drawn */
	u64 drawing, running, judging;	/* ticks of the TSC */
} works[CPU_MAX];

static struct work *work_here(void)
{
	return &works[cpu_index()];
}

static void judge_once(const struct draw_env *env, struct work *w)
{
	u64 begin = tsc_read(), ran;

	machine_run(&w->c, &w->trace, &w->seen);
	ran = tsc_read();
	oracle_judge(env, &w->c, &w->trace, &w->seen, &w->verdict);
	w->running += ran - begin;
	w->judging += tsc_read() - ran;
}

/* Run the case once. true: it was wrong, but an SMI or a host has disturbed it, so it is no
 * evidence. */
static bool judge_attempt(const struct draw_env *env, struct work *w)
{
	struct attempt attempt = { .last_gaps = DISTURBANCE_FIRST };

	disturbance_begin(&attempt);
	judge_once(env, w);
	return w->verdict.wrongs && disturbance_found(&attempt);
}

static bool is_wrong_again(const struct draw_env *env, struct work *w)
{
	/* A record that is later than the calibrated shadow is no breach: the case is wrong only if
	 * a record is missing in every run. The same holds for an entry that a guest loses
	 * sometimes. */
	bool always = w->verdict.wrong[0].claim == DRAW_CLAIM_RECORD ||
		      (w->c.class == DRAW_BRANCHES && env->hypervisor && !env->strict);

	for (unsigned i = 0; i < AGAIN; i++) {
		bool disturbed = judge_attempt(env, w);

		if (always && !w->verdict.wrongs)
			return false;
		if (!always && w->verdict.wrongs && !disturbed)
			return true;
	}
	return w->verdict.wrongs;
}

/*
 * A case that is wrong once and not again, where another processor doesn't draw too: on silicon
 * that is noise. The reference PMU without latitude has none, so the case is wrong because of what
 * came before it: a record with a field of the record before, say.
 */
static bool stays_wrong(struct test *t, const struct draw_env *env, struct work *w, bool disturbed)
{
	const struct draw_verdict first = w->verdict;

	if (is_wrong_again(env, w))
		return true;
	if (!t || !env->strict || disturbed)
		return false;
	test_note(t, "draw: the next case is wrong after those before it, and not by itself");
	w->verdict = first;
	return true;
}

static void tell(struct test *t, const struct draw_env *env, struct work *w, u64 number)
{
	const struct draw_options *options = draw_options();
	struct draw_verdict verdict = w->verdict;
	struct shrink_work shrink = { env, &w->c, &w->trace, &w->seen, &w->verdict };

	test_note(t, "draw: case %lu of seed %lu is wrong (--draw-seed %lu --draw-case %lu)",
		  number, options->seed, options->seed, number);
	print_wrongs(t, &verdict);
	shrink_case(&shrink, verdict.wrong[0].claim);
	print_case(t, &w->c);
	print_seen(t, &w->trace, &w->seen);
	print_wrongs(t, &w->verdict);
}

static void note(struct session *s, const struct draw_verdict *v)
{
	bool wrong[DRAW_CLAIMS] = { false };

	for (unsigned i = 0; i < v->wrongs && i < DRAW_WRONG; i++)
		wrong[v->wrong[i].claim] = true;
	s->vague += v->vague;
	for (unsigned i = 0; i < DRAW_FIXED; i++) {
		s->cycles_on[i] += v->cycles_on >> i & 1;
		s->cycles_moved[i] += v->cycles_moved >> i & 1;
	}
	for (unsigned i = 0; i < DRAW_CLAIMS; i++) {
		s->looked[i] += v->looked[i];
		s->wrong[i] += wrong[i];
	}
}

static bool goes_on(const struct draw_options *options, const struct session *s, u64 deadline)
{
	if (options->only)
		return !s->cases;
	if (options->cases)
		return s->cases < options->cases;
	return !s->cases || !time_expired(deadline);
}

static u64 microseconds(u64 ticks, unsigned cases)
{
	return ticks / (time_tsc_per_us ? time_tsc_per_us : 1) / (cases ? cases : 1);
}

/* While another thread of the core is busy, AnyThread counts its events too, and a processor's
 * memory events aren't exact (spec's notes on counting): these aren't drawn. */
static const struct draw_env *beside_another(struct work *w, const struct draw_env *env)
{
	w->env = *env;
	w->env.any_thread = false;
	/* The side that ends first removes the segments of CPL 1 and 2. */
	w->env.rings = false;
	/* All processors share the gate of #GP. */
	w->env.refuses = false;
	w->env.events = 0;
	for (unsigned i = 0; i < env->events; i++)
		if (env->strict || env->event[i].kind < EK_LOADS)
			w->env.event[w->env.events++] = env->event[i];
	return &w->env;
}

/* t: NULL if another processor draws too; then the session ends at the first wrong case. */
static bool draw_cases(struct test *t, const struct draw_env *env, const struct session_plan *plan,
		       struct session *s)
{
	const struct draw_options *options = draw_options();
	struct work *w = work_here();
	u64 number = options->only ? options->only - 1 : 0;
	u64 deadline = time_deadline(1000ULL * plan->ms), begin;
	unsigned told = 0;

	for (; goes_on(options, s, deadline); s->cases++, number++) {
		bool disturbed;

		if (s->cases % RENEW_EVERY == 0)
			guard_renew();
		begin = tsc_read();
		draw_make(env, plan->class, plan->seed, number, &w->c, &w->trace);
		w->drawing += tsc_read() - begin;
		disturbed = judge_attempt(env, w);
		if (w->verdict.wrongs && !stays_wrong(t, env, w, disturbed)) {
			*(disturbed ? &s->disturbed : &s->once) += 1;
			w->verdict.wrongs = 0;
		}
		note(s, &w->verdict);
		if (!w->verdict.wrongs)
			continue;
		s->last_wrong = number;
		if (!t)
			return false;
		tell(t, env, w, number);
		guard_renew();
		if (++told == TOLD)
			return false;
	}
	return true;
}

/* The errata that the drawing or the oracle takes into account. AnyThread isn't drawn on
 * silicon. */
static u64 errata_of(struct test *t)
{
	static const enum erratum asked[] = {
		ERRATUM_CTR_FRZ, ERRATUM_PREFETCH_LOADS, ERRATUM_FAR_BRANCHES,
		ERRATUM_FAR_INSTRUCTIONS, ERRATUM_IRET, ERRATUM_FAST_STRINGS,
		ERRATUM_BEFORE_BRANCH, ERRATUM_READ_EVENT_SELECT, ERRATUM_USR_ALONE,
		ERRATUM_PMI_AGAIN, ERRATUM_FIXED_0_MORE, ERRATUM_LOOPS, ERRATUM_STATUS_STAYS,
		ERRATUM_JUMP_FILTERS,
	};
	u64 errata = 0;

	for (unsigned i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		if (test_erratum(t, asked[i]))
			errata |= BIT(asked[i]);
	return errata;
}

/* Run on the calling processor. false: no memory. */
static bool run_here(struct test *t, const struct session_plan *plan, struct session *s)
{
	const struct draw_env *env = machine_begin(plan->strict, plan->errata);
	struct attempt whole = { .last_gaps = DISTURBANCE_FIRST };
	struct work *w = work_here();

	disturbance_begin(&whole);
	w->drawing = w->running = w->judging = 0;
	*s = (struct session){ .cases = 0 };
	if (!env)
		return false;
	if (!t)
		env = beside_another(w, env);
	draw_cases(t, env, plan, s);
	machine_end();
	/* Disturbances were already handled in each case. */
	disturbance_forgive(&whole);
	return true;
}

static void say(struct test *t, const struct session *s, const struct work *w, u64 seed)
{
	test_note(t,
		  "draw: %u cases of seed %lu (%u open in the end, %u wrong beside an SMI or lost "
		  "time alone, %u wrong once and not again), %lu us each: drawing %lu, running "
		  "%lu, "
		  "judging %lu",
		  s->cases, seed, s->vague, s->disturbed, s->once,
		  microseconds(w->drawing + w->running + w->judging, s->cases),
		  microseconds(w->drawing, s->cases), microseconds(w->running, s->cases),
		  microseconds(w->judging, s->cases));
}

unsigned session_wrong_counts(const struct session *s)
{
	unsigned n = 0;

	for (enum draw_claim claim = 0; claim <= DRAW_CLAIM_UPPER; claim++)
		if (claim < DRAW_CLAIM_OVERFLOW || claim > DRAW_CLAIM_NO_OVERFLOW)
			n += s->wrong[claim];
	return n;
}

bool session_run(struct test *t, enum draw_class class, struct session *s)
{
	const struct session_plan plan = { class, draw_options()->seed, draw_options()->ms,
					   test_is_strict(t), errata_of(t) };

	if (!run_here(t, &plan, s)) {
		test_error(t, "no memory for drawn programs");
		return false;
	}
	say(t, s, work_here(), plan.seed);
	return true;
}

struct pair {
	struct two_cpus both;
	struct session_plan plan[2];
	struct session *session[2];
	bool memory[2];
};

static void run_side(void *arg)
{
	struct pair *pair = arg;
	unsigned side = two_cpus_side();

	two_cpus_barrier(&pair->both);
	pair->memory[side] = run_here(NULL, &pair->plan[side], pair->session[side]);
}

bool session_run_two(struct test *t, unsigned cpu, const enum draw_class class[2],
		     struct session s[2])
{
	struct pair pair = { .session = { &s[0], &s[1] } };

	for (unsigned side = 0; side < 2; side++)
		pair.plan[side] = (struct session_plan){ class[side], draw_options()->seed + side,
							 draw_options()->ms / 2 + 1,
							 test_is_strict(t), errata_of(t) };
	if (!two_cpus_run(t, &pair.both, cpu, run_side, &pair))
		return false;
	for (unsigned side = 0; side < 2; side++) {
		const struct work *w = &works[side ? cpu : CPU_BOOT];

		if (!pair.memory[side]) {
			test_error(t, "no memory for drawn programs");
			return false;
		}
		say(t, &s[side], w, pair.plan[side].seed);
		if (!w->verdict.wrongs)
			continue;
		test_note(t, "draw: case %lu of seed %lu is wrong on %s", s[side].last_wrong,
			  pair.plan[side].seed, two_cpus_whose(cpu, side));
		print_case(t, &w->c);
		print_seen(t, &w->trace, &w->seen);
		print_wrongs(t, &w->verdict);
	}
	return true;
}

static bool parse_program(const char *program, struct draw_case *c)
{
	while (*program) {
		char name[32];
		unsigned length = 0, instance = 0;
		int piece;

		while (*program == ' ')
			program++;
		while (*program && *program != ' ' && *program != '.' && length < sizeof(name) - 1)
			name[length++] = *program++;
		name[length] = '\0';
		if (*program == '.' && program[1]) {
			instance = (unsigned)(program[1] - '0');
			program += 2;
		}
		piece = piece_find(name, instance);
		if (piece < 0 || c->pieces == DRAW_PROGRAM)
			return false;
		c->piece[c->pieces++] = (u16)piece;
	}
	return true;
}

bool session_judge(struct test *t, const struct draw_case *pasted, const char *program,
		   struct draw_verdict *verdict)
{
	const struct draw_env *env = machine_begin(test_is_strict(t), errata_of(t));
	struct work *w = work_here();
	bool good;

	w->c = *pasted;
	w->c.pieces = 0;
	good = env && parse_program(program, &w->c) && trace_make(env, &w->c, &w->trace);
	if (good) {
		judge_once(env, w);
		*verdict = w->verdict;
	}
	machine_end();
	return good;
}
