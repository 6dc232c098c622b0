/* SPDX-License-Identifier: MIT */
/* See draw.h. docs/DRAWN-TESTS.md says what is drawn, and how often. */
#include "tests/random/draw.h"

#include "kernel/memory/string.h"
#include "spec/msr.h"
#include "tests/random/branches/draw_branches.h"
#include "tests/random/arch/draw_arch.h"
#include "tests/random/draw_sampling.h"
#include "tests/random/prng.h"

#define PIECES_MOST	14		/* drawn pieces */
#define PIECES_MOST_LONG 28
#define FIXED_ADAPTIVE	BITS(32, 63)	/* Adaptive_Record bits of IA32_FIXED_CTR_CTRL */
#define WITH_ANY_THREAD	3		/* fixed counters that have AnyThread */
#define NEAR		320		/* offsets of a data pointer from the middle of its pages */

/* ---- the program */

static bool has_loops(unsigned piece)
{
	for (unsigned r = 0; r < piece_rows(piece); r++)
		if (draw_rows[piece_get(piece)->first + r].flags & ROW_LOOP)
			return true;
	return false;
}

static bool may_draw(const struct draw_env *env, enum draw_class class, unsigned which, bool user)
{
	const struct draw_piece *piece = piece_get(which);

	/* With this erratum it isn't known which filters the branches of LOOP obey. */
	if (class == DRAW_BRANCHES && env->errata & BIT(ERRATUM_LOOPS) && has_loops(which))
		return false;
	if (piece->flags & (PIECE_SPECIAL | PIECE_OPERATION))
		return false;
	if (piece->flags & PIECE_EXITS && env->hypervisor)
		return false;
	return !(user && piece->flags & PIECE_KERNEL);
}

static bool holds(const struct draw_case *c, unsigned piece)
{
	for (unsigned i = 0; i < c->pieces; i++)
		if (c->piece[i] == piece)
			return true;
	return false;
}

static void append(struct draw_case *c, unsigned piece)
{
	if (c->pieces < DRAW_PROGRAM)
		c->piece[c->pieces++] = (u16)piece;
}

static void append_named(struct draw_case *c, const char *name)
{
	int piece = piece_find(name, 0);

	if (piece >= 0)
		append(c, (unsigned)piece);
}

/* "write3" */
static void append_slot(struct draw_case *c, const char *name, unsigned slot)
{
	char text[8];
	size_t length = strlen(name);

	memcpy(text, name, length);
	text[length] = (char)('0' + slot);
	text[length + 1] = '\0';
	append_named(c, text);
}

/* Draw the piece's name here; its operation is filled in after the counters are drawn. */
static void draw_operation(struct prng *p, struct draw_case *c, unsigned slot, bool user)
{
	static const char *const names[] = { "read", "write", "rdpmc", "write" };

	/* RDPMC reads nothing of last branch records. */
	if (c->class == DRAW_BRANCHES)
		append_slot(c, names[prng_below(p, 2)], slot);
	else
		append_slot(c, names[user ? 2 : prng_below(p, 4)], slot);
}

static unsigned draw_rare(struct prng *p)
{
	static const char *const names[] = { "two_pages", "load_backward", "cli_sti", "cli_popf" };
	unsigned which = (unsigned)prng_below(p, sizeof(names) / sizeof(names[0]));
	int piece = piece_find(names[which], which ? (unsigned)prng_below(p, DRAW_INSTANCES) : 0);

	return piece < 0 ? 0 : (unsigned)piece;
}

/* Draw so many pieces at one level, sometimes an operation among them. */
static void draw_pieces_of(const struct draw_env *env, struct prng *p, struct draw_case *c,
			   unsigned n, bool user, unsigned *slots)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned piece = (unsigned)prng_below(p, piece_count());

		/* Pieces in which only a few instructions matter. */
		if (prng_one_in(p, 10))
			piece = draw_rare(p);
		else if (c->class == DRAW_BRANCHES && !prng_one_in(p, 3))
			piece = draw_branching_piece(p);
		if (*slots && prng_one_in(p, 3) && !(user && c->class == DRAW_BRANCHES)) {
			draw_operation(p, c, --*slots, user);
			continue;
		}
		/* Each piece at most once, because each address of the program is executed once. */
		if (may_draw(env, c->class, piece, user) && !holds(c, piece))
			append(c, piece);
	}
}

static const char *draw_way_down(const struct draw_env *env, struct prng *p)
{
	static const char *const names[] = { "to_user", "to_user", "to_ring1", "to_ring2" };

	return names[env->rings ? prng_below(p, sizeof(names) / sizeof(names[0])) : 0];
}

/* Refused accesses aren't drawn with adaptive records or last branch records. */
static bool may_refuse(const struct draw_env *env, enum draw_class class)
{
	if (class == DRAW_RECORDS && (!env->pebs || env->adaptive.baseline))
		return false;
	return env->refuses &&
	       (class == DRAW_OPERATIONS_CLASS || class == DRAW_RECORDS || class == DRAW_ARCH);
}

/* Insert it after any piece before the transition to CPL 3. */
static void draw_refused_piece(const struct draw_env *env, struct prng *p, struct draw_case *c)
{
	static const char *const names[] = { "refused7", "refused7", "refused_rdpmc7",
					     "refused_read7" };
	/* With records only a write. Reads of absent registers are known only for processors with
	 * four counters. */
	unsigned kinds = c->class != DRAW_OPERATIONS_CLASS ? 1 : env->general == BITS(0, 3) ? 4 : 3;
	int piece = piece_find(names[prng_below(p, kinds)], 0);
	unsigned last = 1, at;

	if (piece < 0 || c->pieces == DRAW_PROGRAM)
		return;
	while (last < c->pieces && !(piece_get(c->piece[last])->flags & PIECE_SPECIAL))
		last++;
	at = 1 + (unsigned)prng_below(p, last);
	for (unsigned i = c->pieces++; i > at; i--)
		c->piece[i] = c->piece[i - 1];
	c->piece[at] = (u16)piece;
}

static void draw_program(const struct draw_env *env, struct prng *p, struct draw_case *c)
{
	/* If periods can't be short, programs must be long. */
	unsigned n = 1 + (unsigned)prng_below(p, env->strict ? PIECES_MOST : PIECES_MOST_LONG);
	unsigned slots = 0;
	bool levels = c->class == DRAW_LEVELS;

	if (c->class == DRAW_OPERATIONS_CLASS)
		slots = 1 + (unsigned)prng_below(p, DRAW_SLOT_REFUSED);
	if (c->class >= DRAW_INTERRUPTS) {
		slots = (unsigned)prng_below(p, 5);
		levels = prng_one_in(p, 2);
	}
	append_named(c, "start");
	if (c->class == DRAW_BRANCHES)
		append_slot(c, "write", DRAW_SLOT_BEGIN);
	if (levels) {
		unsigned above = (unsigned)prng_below(p, n);

		slots = slots ? slots : (unsigned)prng_below(p, 4);
		draw_pieces_of(env, p, c, above / 2, false, &slots);
		append_named(c, draw_way_down(env, p));
		draw_pieces_of(env, p, c, n - above, true, &slots);
		append_named(c, "to_kernel");
		draw_pieces_of(env, p, c, above - above / 2, false, &slots);
	} else {
		draw_pieces_of(env, p, c, n + slots, false, &slots);
	}
	if (may_refuse(env, c->class) && prng_one_in(p, 8))
		draw_refused_piece(env, p, c);
	if (c->class == DRAW_BRANCHES)
		append_slot(c, "write", DRAW_SLOT_END);
	append_named(c, "stop");
}

static int16_t draw_offset(struct prng *p)
{
	if (prng_one_in(p, 3))
		return (int16_t)((int)prng_below(p, 2 * NEAR) - NEAR);
	return (int16_t)(64 * ((int)prng_below(p, 8) - 4) + (int)prng_below(p, 3) - 1);
}

/* ---- counters */

static u64 draw_event_select(const struct draw_env *env, struct prng *p, unsigned counter)
{
	for (unsigned tries = 0; tries < 8; tries++) {
		const struct draw_event *e = &env->event[prng_below(p, env->events)];

		if (e->counters >> counter & 1)
			return e->code;
	}
	return EVENT_INST_RETIRED_ANY_P;
}

static u64 draw_filter(struct prng *p)
{
	static const u8 masks[] = { 1, 2, 4, 0x40, 0x80, 0xff };
	u64 select = 0, any = prng_below(p, 0x100);

	if (prng_one_in(p, 2))
		select |= (prng_one_in(p, 3) ? any : masks[prng_below(p, sizeof(masks))])
			  << IA32_PERFEVTSEL_CMASK_SHIFT;
	if (prng_one_in(p, 2))
		select |= IA32_PERFEVTSEL_INV;
	if (prng_one_in(p, 3))
		select |= IA32_PERFEVTSEL_E;
	return select;
}

static u64 draw_select(const struct draw_env *env, struct prng *p, unsigned counter)
{
	u64 select = draw_event_select(env, p, counter);

	if (prng_one_in(p, 8))
		return 0;
	select |= prng_below(p, 4) << 16;		/* USR, OS */
	if (prng_one_in(p, 2))
		select |= IA32_PERFEVTSEL_OS;
	if (!prng_one_in(p, 10))
		select |= IA32_PERFEVTSEL_EN;
	if (prng_one_in(p, 8))
		select |= draw_filter(p);
	if (env->any_thread && prng_one_in(p, 12))
		select |= IA32_PERFEVTSEL_ANY;
	return select;
}

/* The approximate number of the counter's events in the program. */
static u64 total(const struct draw_env *env, const struct draw_case *c, const struct trace *trace,
		 u64 select)
{
	const struct draw_event *event = draw_event_of(env, select);
	u64 n = 0;

	for (unsigned i = 0; event && i < trace->steps; i++)
		n += trace_count(env, c, event, &trace->step[i]).least;
	return n;
}

static u64 draw_value(const struct draw_env *env, struct prng *p, unsigned width, u64 events)
{
	static const u64 edges[] = { BIT(31), BIT(32), BIT(33), BIT(39), BIT(47) };
	u64 end = draw_ones(width);

	switch (prng_below(p, 8)) {
	case 0:
		return 0;
	case 1:
		return prng_below(p, 1000);
	case 2:
		return prng_next(p) & end;
	case 3:
		return (edges[prng_below(p, 5)] - prng_below(p, events + 2)) & end;
	default:
		return (1ULL - env->period_least - prng_below(p, events + 4)) & end;
	}
}

static u64 draw_preset(const struct draw_env *env, struct prng *p, unsigned counter, u64 events)
{
	u64 value = draw_value(env, p, env->gp_width, events);

	(void)counter;
	/* IA32_PMCx takes 32 bits, and sign-extends them. */
	if (!env->full_width)
		value = (u64)(int64_t)(int32_t)(u32)value & draw_ones(env->gp_width);
	return value;
}

static u64 draw_fixed_control(const struct draw_env *env, struct prng *p)
{
	u64 control = 0;

	for (unsigned i = 0; i < DRAW_FIXED; i++) {
		if (!draw_has_fixed(env, i))
			continue;
		control |= prng_below(p, 4) << 4 * i;
		if (env->any_thread && i < WITH_ANY_THREAD && prng_one_in(p, 8))
			control |= IA32_FIXED_CTR_CTRL_ANY0 << 4 * i;
	}
	return control;
}

/* Draw an existing fixed counter; 0 if there is none. */
static unsigned draw_fixed(const struct draw_env *env, struct prng *p)
{
	unsigned i;

	do
		i = (unsigned)prng_below(p, DRAW_FIXED);
	while (env->fixed && !draw_has_fixed(env, i));
	return env->fixed ? i : 0;
}

static u64 draw_global(const struct draw_env *env, struct prng *p)
{
	return prng_one_in(p, 2) ? draw_every_counter(env) : prng_next(p) & draw_every_counter(env);
}

static void draw_counters(const struct draw_env *env, struct prng *p, struct draw_case *c,
			  const struct trace *trace)
{
	FOR_EACH_COUNTER (i, env->general) {
		c->select[i] = draw_select(env, p, i);
		c->preset[i] = draw_preset(env, p, i, total(env, c, trace, c->select[i]));
	}
	c->fixed_control = draw_fixed_control(env, p);
	for (unsigned i = 0; i < DRAW_FIXED; i++)
		if (draw_has_fixed(env, i))
			c->fixed_preset[i] = draw_value(env, p, env->fixed_width,
							total(env, c, trace,
							      EVENT_INST_RETIRED_ANY_P));
	/* This counter must not wrap: its status bit may be set again after it was cleared (Intel's
	 * event files, CPU_CLK_UNHALTED.REF_TSC). */
	if (draw_has_fixed(env, FIXED_REF_TSC))
		c->fixed_preset[FIXED_REF_TSC] &= draw_ones(env->fixed_width - 1);
	c->global = draw_global(env, p);
	if (c->class >= DRAW_INTERRUPTS)
		draw_sampling(env, p, c, trace);
	if (c->class == DRAW_ARCH)
		draw_arch(env, p, c, trace);
}

/* ---- operations */

static struct draw_operation writes(u32 msr, u64 value)
{
	return (struct draw_operation){ .msr = msr, .low = (u32)value, .high = (u32)(value >> 32) };
}

static struct draw_operation draw_write(const struct draw_env *env, struct prng *p,
					struct draw_case *c)
{
	unsigned gp = draw_some_general(env, p), fixed = draw_fixed(env, p);
	u64 value;

	if (c->arch.used && prng_one_in(p, 2))
		return draw_arch_write(env, p, c);
	if (c->ds.used && prng_one_in(p, 3))
		return writes(MSR_IA32_PEBS_ENABLE, c->pebs_enable & prng_next(p));
	if (c->class >= DRAW_INTERRUPTS && prng_one_in(p, 3))
		return writes(MSR_IA32_PERF_GLOBAL_CTRL, draw_every_counter(env));
	switch (prng_below(p, env->fixed ? 7 : 4)) {
	case 0:
		value = draw_preset(env, p, gp, 40);
		if (env->full_width && prng_one_in(p, 2))
			return writes(MSR_IA32_A_PMC0 + gp, value);
		/* The processor ignores EDX. */
		value = (u32)value | (prng_one_in(p, 2) ? prng_next(p) << 32 : 0);
		return writes(MSR_IA32_PMC0 + gp, value);
	case 1:
		value = c->select[gp];
		if (prng_one_in(p, 3))
			value = draw_select(env, p, gp);
		else
			value ^= prng_one_in(p, 2) ? IA32_PERFEVTSEL_EN : IA32_PERFEVTSEL_OS;
		if (env->adaptive.baseline && prng_one_in(p, 2))
			value |= IA32_PERFEVTSEL_ADAPTIVE;
		return writes(MSR_IA32_PERFEVTSEL0 + gp, value);
	case 2:
		return writes(MSR_IA32_PERF_GLOBAL_CTRL, draw_global(env, p));
	case 3:
		/* Writing 1 to a status bit that isn't set has no effect. */
		value = prng_one_in(p, 2) ? draw_every_counter(env) :
					    prng_next(p) & draw_every_counter(env);
		if (c->ds.used && prng_one_in(p, 2))
			value |= IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF;
		return writes(MSR_IA32_PERF_GLOBAL_OVF_CTRL, value);
	case 4:
		return writes(MSR_IA32_FIXED_CTR0 + fixed,
			      draw_value(env, p, env->fixed_width, 60));
	default:
		value = c->fixed_control;
		if (prng_one_in(p, 2))
			value ^= (1 + prng_below(p, 3)) << 4 * fixed;
		else
			value = draw_fixed_control(env, p) | (c->fixed_control & FIXED_ADAPTIVE);
		return writes(MSR_IA32_FIXED_CTR_CTRL, value);
	}
}

static struct draw_operation draw_read(const struct draw_env *env, struct prng *p,
				       const struct draw_case *c)
{
	unsigned gp = draw_some_general(env, p);

	if (c->arch.used && prng_one_in(p, 2))
		return draw_arch_read(env, p, c);
	/* Read OvfBuf while records are made. */
	if (c->ds.used && prng_one_in(p, 3))
		return writes(MSR_IA32_PERF_GLOBAL_STATUS, 0);
	switch (prng_below(p, 8)) {
	case 0:
		return writes(MSR_IA32_PERFEVTSEL0 + gp, 0);
	case 1:
		return writes(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	case 2:
	case 3:
		return writes(MSR_IA32_PERF_GLOBAL_STATUS, 0);
	case 4:
		return writes(env->fixed ? MSR_IA32_FIXED_CTR_CTRL : MSR_IA32_PERF_GLOBAL_CTRL, 0);
	case 5:
		if (env->fixed)
			return writes(MSR_IA32_FIXED_CTR0 + draw_fixed(env, p), 0);
		/* fall through */
	default:
		return writes((env->full_width && prng_one_in(p, 2) ? MSR_IA32_A_PMC0 :
								      MSR_IA32_PMC0) +
				      gp,
			      0);
	}
}

/* Often the same counter as before, so that the events between the two reads are checked. */
static struct draw_operation draw_rdpmc(const struct draw_env *env, struct prng *p,
					const struct draw_operation *before)
{
	if (before && prng_one_in(p, 2))
		return *before;
	if (env->fixed && prng_one_in(p, 2))
		return writes((u32)BIT(30) | draw_fixed(env, p), 0);
	return writes(draw_some_general(env, p), 0);
}

static void fill_operations(const struct draw_env *env, struct prng *p, struct draw_case *c)
{
	const struct draw_operation *before = NULL;

	for (unsigned i = 0; i < c->pieces; i++) {
		const struct draw_piece *piece = piece_get(c->piece[i]);
		const char *at = piece->name;
		struct draw_operation *op;

		if (!(piece->flags & PIECE_OPERATION))
			continue;
		while (at[1])
			at++;
		op = &c->operation[(unsigned)(*at - '0') % DRAW_OPERATIONS];
		if (piece->flags & PIECE_REFUSED) {
			*op = draw_refused(env, p, c, piece->flags);
			continue;
		}
		*op = piece->flags & PIECE_WRITE ? draw_write(env, p, c) :
		      piece->flags & PIECE_READ	 ? draw_read(env, p, c) :
						   draw_rdpmc(env, p, before);
		if (piece->flags & PIECE_RDPMC)
			before = op;
	}
}

void draw_make(const struct draw_env *env, enum draw_class class, u64 seed, u64 number,
	       struct draw_case *c, struct trace *trace)
{
	struct prng p = prng_begin(seed, class, number);

	do {
		*c = (struct draw_case){ .class = class, .constant = prng_next(&p) };
		c->si = draw_offset(&p);
		c->bp = draw_offset(&p);
		c->bx = draw_offset(&p);
		c->high = (u8)(prng_one_in(&p, 2) ? prng_below(&p, 16) : 0);
		c->upper = prng_one_in(&p, 2);
		draw_program(env, &p, c);
	} while (!trace_make(env, c, trace));
	if (class == DRAW_BRANCHES) {
		draw_branches(env, &p, c, trace);
		return;
	}
	draw_counters(env, &p, c, trace);
	fill_operations(env, &p, c);
}
