/* SPDX-License-Identifier: MIT */
/* See session.h. */
#include "tests/random/session.h"

#include "kernel/interrupt/guard.h"
#include "kernel/memory/string.h"
#include "kernel/processor/percpu.h"
#include "kernel/processor/time.h"
#include "tests/frame/disturbance.h"
#include "tests/frame/draw_options.h"
#include "tests/random/draw.h"
#include "tests/random/machine.h"
#include "tests/random/print.h"
#include "tests/random/shrink.h"

#define RENEW_EVERY	64		/* cases */
#define AGAIN		8		/* runs in which a wrong case must be wrong once more */
#define TOLD		3		/* wrong cases that are shrunk and printed */

static struct work {
	struct trace trace;
	struct draw_observation seen;
	struct draw_verdict verdict;
	struct draw_case c;
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

/* An SMI's handler, or a host, may have had the processor: such a run is no evidence. */
static bool is_wrong_again(const struct draw_env *env, struct work *w)
{
	struct attempt attempt = { .last_gaps = DISTURBANCE_FIRST };
	/* A record that comes later than calibration has seen one is no breach: it is missing each
	 * time where it is. */
	bool always = w->verdict.wrong[0].claim == DRAW_CLAIM_RECORD;

	for (unsigned i = 0; i < AGAIN; i++) {
		bool disturbed;

		disturbance_begin(&attempt);
		judge_once(env, w);
		disturbed = disturbance_found(&attempt);
		if (always && !w->verdict.wrongs)
			return false;
		if (!always && w->verdict.wrongs && !disturbed)
			return true;
	}
	return w->verdict.wrongs;
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
	u64 wrong = 0;

	for (unsigned i = 0; i < v->wrongs && i < DRAW_WRONG; i++)
		wrong |= BIT(v->wrong[i].claim);
	s->vague += v->vague;
	for (unsigned i = 0; i < DRAW_FIXED; i++) {
		s->cycles_on[i] += v->cycles_on >> i & 1;
		s->cycles_moved[i] += v->cycles_moved >> i & 1;
	}
	for (unsigned i = 0; i < DRAW_CLAIMS; i++) {
		s->looked[i] += (v->claims & BIT(i)) != 0;
		s->wrong[i] += (wrong & BIT(i)) != 0;
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

bool session_run(struct test *t, enum draw_class class, struct session *s)
{
	const struct draw_options *options = draw_options();
	const struct draw_env *env = machine_begin(test_is_strict(t));
	struct work *w = work_here();
	u64 number = options->only ? options->only - 1 : 0;
	u64 deadline = time_deadline(1000ULL * options->ms);
	unsigned told = 0;
	u64 begin;

	w->drawing = w->running = w->judging = 0;
	*s = (struct session){ .cases = 0 };
	if (!env) {
		test_error(t, "no memory for drawn programs");
		return false;
	}
	for (; goes_on(options, s, deadline); s->cases++, number++) {
		if (s->cases % RENEW_EVERY == 0)
			guard_renew();
		begin = tsc_read();
		draw_make(env, class, options->seed, number, &w->c, &w->trace);
		w->drawing += tsc_read() - begin;
		judge_once(env, w);
		if (w->verdict.wrongs && !is_wrong_again(env, w)) {
			test_note(t, "draw: case %lu was wrong once, and not again", number);
			w->verdict.wrongs = 0;
		}
		note(s, &w->verdict);
		if (!w->verdict.wrongs)
			continue;
		tell(t, env, w, number);
		guard_renew();
		if (++told == TOLD)
			break;
	}
	machine_end();
	test_note(t,
		  "draw: %u cases of seed %lu (%u open in the end), %lu us each: drawing %lu, "
		  "running "
		  "%lu, judging %lu",
		  s->cases, options->seed, s->vague,
		  microseconds(w->drawing + w->running + w->judging, s->cases),
		  microseconds(w->drawing, s->cases), microseconds(w->running, s->cases),
		  microseconds(w->judging, s->cases));
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
	const struct draw_env *env = machine_begin(test_is_strict(t));
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
