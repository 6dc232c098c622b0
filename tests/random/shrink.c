/* SPDX-License-Identifier: MIT */
/* See shrink.h. Each try is one run, or several if the case isn't wrong in every run. */
#include "tests/random/shrink.h"

#include "kernel/interrupt/guard.h"
#include "kernel/memory/string.h"
#include "kernel/processor/time.h"
#include "spec/msr.h"
#include "tests/random/machine.h"

#define RUNS_MOST	1500
#define SHRINK_US	2000000
#define RENEW_EVERY	8
#define TRIES		2

struct shrinking {
	const struct shrink_work *w;
	enum draw_claim claim;
	unsigned runs;
	u64 deadline;
	bool changed;
};

static bool has_claim(const struct draw_verdict *v, enum draw_claim claim)
{
	for (unsigned i = 0; i < v->wrongs && i < DRAW_WRONG; i++)
		if (v->wrong[i].claim == claim)
			return true;
	return false;
}

static bool is_wrong(struct shrinking *s)
{
	const struct shrink_work *w = s->w;

	for (unsigned i = 0; i < TRIES; i++) {
		if (!trace_make(w->env, w->c, w->trace))
			return false;
		if (s->runs++ % RENEW_EVERY == 0)
			guard_renew();
		machine_run(w->c, w->trace, w->seen);
		oracle_judge(w->env, w->c, w->trace, w->seen, w->verdict);
		if (has_claim(w->verdict, s->claim))
			return true;
	}
	return false;
}

static bool is_over(const struct shrinking *s)
{
	return s->runs >= RUNS_MOST || time_expired(s->deadline);
}

/* The case has been made smaller. If it isn't wrong any more, undo the change. */
static void keep_or_undo(struct shrinking *s, const struct draw_case *before)
{
	if (!memcmp(s->w->c, before, sizeof(*before)))
		return;
	if (!is_over(s) && is_wrong(s))
		s->changed = true;
	else
		*s->w->c = *before;
}

static void without_pieces(struct shrinking *s)
{
	struct draw_case *c = s->w->c;

	for (unsigned size = 4; size; size /= 2)
		for (unsigned i = 1; i + size < c->pieces; i++) {
			struct draw_case before = *c;
			bool special = false;

			for (unsigned k = 0; k < size; k++)
				special |= (piece_get(c->piece[i + k])->flags & PIECE_SPECIAL) != 0;
			if (special)
				continue;
			memmove(&c->piece[i], &c->piece[i + size],
				(c->pieces - i - size) * sizeof(c->piece[0]));
			c->pieces -= size;
			keep_or_undo(s, &before);
			if (c->pieces < before.pieces)
				i--;
		}
}

static void with_zero(struct shrinking *s, u64 *word, u64 keep)
{
	struct draw_case before = *s->w->c;

	*word &= keep;
	keep_or_undo(s, &before);
}

static void without_counters(struct shrinking *s)
{
	struct draw_case *c = s->w->c;

	for (unsigned i = 0; i < DRAW_GP; i++) {
		with_zero(s, &c->select[i], 0);
		with_zero(s, &c->preset[i], 0);
		with_zero(s, &c->select[i], BITS(0, 23) | IA32_PERFEVTSEL_ADAPTIVE);
		for (unsigned bit = 16; bit < 24; bit++)
			with_zero(s, &c->select[i], ~BIT(bit));
		with_zero(s, &c->global, ~BIT(i));
	}
	for (unsigned i = 0; i < DRAW_FIXED; i++) {
		with_zero(s, &c->fixed_control, ~(BITS(0, 3) << 4 * i));
		with_zero(s, &c->fixed_control, ~(IA32_FIXED_CTR_CTRL_ADAPTIVE0 << 4 * i));
		with_zero(s, &c->fixed_preset[i], 0);
		with_zero(s, &c->global, ~BIT(32 + i));
	}
}

/* Remove one group at a time, then the LBR group's entries, and the counters of the counters
 * group. */
static void without_groups(struct shrinking *s)
{
	u64 *config = &s->w->c->ds.config;
	struct draw_case before = *s->w->c;

	s->w->c->ds.recording = 0;
	keep_or_undo(s, &before);
	with_zero(s, config, ~PEBS_DATA_CFG_MEMORY);
	with_zero(s, config, ~PEBS_DATA_CFG_GPR);
	with_zero(s, config, ~PEBS_DATA_CFG_XMM);
	with_zero(s, config, ~(PEBS_DATA_CFG_LBR | PEBS_DATA_CFG_LBR_ENTRIES));
	with_zero(s, config, ~PEBS_DATA_CFG_LBR_ENTRIES);
	with_zero(s, config, ~PEBS_DATA_CFG_METRICS);
	with_zero(s, config,
		  ~(PEBS_DATA_CFG_CNTR | PEBS_DATA_CFG_CNTR_GP | PEBS_DATA_CFG_CNTR_FIXED));
}

static void without_places(struct shrinking *s)
{
	struct draw_case *c = s->w->c;
	struct draw_case before = *c;

	c->si = c->bp = c->bx = 0;
	keep_or_undo(s, &before);
	before = *c;
	c->high = c->upper = 0;
	keep_or_undo(s, &before);
	with_zero(s, &c->constant, 0);
	before = *c;
	c->keep_status = 0;
	keep_or_undo(s, &before);
	before = *c;
	c->stay_masked = c->keep_status;
	keep_or_undo(s, &before);
	before = *c;
	c->freeze = 0;
	keep_or_undo(s, &before);
	before = *c;
	c->lvt = DRAW_LVT_FIXED;
	keep_or_undo(s, &before);
	before = *c;
	c->ds.high = 0;
	keep_or_undo(s, &before);
	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		with_zero(s, &c->pebs_enable, ~BIT(draw_status_bit(i)));
		with_zero(s, &c->ds.reset[i], 0);
	}
	without_groups(s);
}

static void without_records(struct shrinking *s)
{
	struct draw_arch *arch = &s->w->c->arch;
	struct draw_case before = *s->w->c;

	arch->place = arch->size = 0;
	keep_or_undo(s, &before);
	before = *s->w->c;
	arch->write = 0;
	keep_or_undo(s, &before);
	before = *s->w->c;
	arch->xmm = 0;
	keep_or_undo(s, &before);
	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		with_zero(s, &arch->config[i], 0);
		for (unsigned bit = 35; bit < 63; bit++)
			with_zero(s, &arch->config[i], ~BIT(bit));
	}
}

/* Remove settings of the recording as it begins; the writes that start and end it stay. */
static void without_branches(struct shrinking *s)
{
	struct draw_branches *b = &s->w->c->branches;
	struct draw_case before;

	for (unsigned i = 0; i < ARCH_LBR_MAX_ENTRIES; i++)
		with_zero(s, &b->look, ~BIT(i));
	before = *s->w->c;
	b->old = 0;
	keep_or_undo(s, &before);
	before = *s->w->c;
	b->top = 0;
	keep_or_undo(s, &before);
	for (unsigned bit = 0; bit < 16; bit++) {
		before = *s->w->c;
		b->select &= (u16)~BIT(bit);
		keep_or_undo(s, &before);
	}
}

/* Clear operations that the program doesn't use. */
static void without_operations(struct draw_case *c)
{
	bool used[DRAW_OPERATIONS] = { false };

	for (unsigned i = 0; i < c->pieces; i++) {
		const char *at = piece_get(c->piece[i])->name;

		if (!(piece_get(c->piece[i])->flags & PIECE_OPERATION))
			continue;
		while (at[1])
			at++;
		used[(unsigned)(*at - '0') % DRAW_OPERATIONS] = true;
	}
	for (unsigned i = 0; i < DRAW_OPERATIONS; i++)
		if (!used[i])
			c->operation[i] = (struct draw_operation){ .msr = 0 };
}

void shrink_case(const struct shrink_work *w, enum draw_claim claim)
{
	struct shrinking s = { .w = w, .claim = claim, .deadline = time_deadline(SHRINK_US) };

	do {
		s.changed = false;
		without_pieces(&s);
		without_counters(&s);
		without_places(&s);
		if (w->c->arch.used)
			without_records(&s);
		without_branches(&s);
	} while (s.changed && !is_over(&s));
	without_operations(w->c);
	/* Print the results of the smallest case. */
	s.runs = 0;
	(void)is_wrong(&s);
}
