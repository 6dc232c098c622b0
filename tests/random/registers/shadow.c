/* SPDX-License-Identifier: MIT */
/* See shadow.h. */
#include "tests/random/registers/shadow.h"

#include "spec/msr.h"

#define SIGN		31u	/* sign bit of EAX */
#define FIXED_BITS	4u	/* bits of IA32_FIXED_CTR_CTRL for each fixed counter */

void shadow_begin(struct shadow *s)
{
	for (unsigned i = 0; i < s->rows; i++)
		s->held[i] = s->row[i].bits.always;
	s->status = 0;
}

/* Draw any value, one with few bits or with most bits, or the held value with one bit changed. */
static u64 drawn_value(struct prng *p, u64 held, u64 writable)
{
	u64 few = writable;

	switch (prng_below(p, 5)) {
	case 0:
		return prng_next(p) & writable;
	case 1:
		return held ^ (BIT(prng_below(p, 64)) & writable);
	case 2:
		return ~held & writable;
	default:
		for (unsigned i = 0; i < 3; i++)
			few &= prng_next(p);
		return prng_one_in(p, 2) ? few : writable & ~few;
	}
}

static u64 drawn_status(const struct shadow *s, struct prng *p)
{
	return drawn_value(p, s->status, s->settable);
}

void shadow_draw(const struct shadow *s, struct prng *p, struct shadow_write *w)
{
	const struct shadow_row *row;

	if (s->settable && prng_one_in(p, 5)) {
		w->access = prng_one_in(p, 2) ? SHADOW_SET : SHADOW_RESET;
		w->value = drawn_status(s, p);
		return;
	}
	w->access = SHADOW_WRITE;
	w->row = (unsigned)prng_below(p, s->rows);
	row = &s->row[w->row];
	w->value = drawn_value(p, shadow_of(s, w->row), row->bits.writable) | row->bits.always;
	if (row->kind == SHADOW_COUNTER)
		w->value = prng_next(p);
	else if (s->refuses && row->bits.reserved && prng_one_in(p, 3)) {
		/* One, any, or all of the reserved bits: reserved bits above a sign bit may look
		 * like copies of it. */
		u64 refused = BIT(prng_below(p, 64)) & row->bits.reserved;

		if (prng_one_in(p, 4))
			refused = row->bits.reserved;
		else if (!refused)
			refused = prng_next(p) & row->bits.reserved;
		if (refused) {
			w->access = SHADOW_REFUSED;
			w->value |= refused;
		}
	}
}

static u64 counter_after(const struct shadow *s, u64 value)
{
	u64 low = value & BITS(0, SIGN);

	if (low & BIT(SIGN))
		low |= ~BITS(0, SIGN);
	return low & (BIT(s->width) - 1);
}

void shadow_apply(struct shadow *s, const struct shadow_write *w)
{
	const struct shadow_row *row = &s->row[w->row];
	const unsigned holder = row->of == SHADOW_NONE ? w->row : row->of;

	switch (w->access) {
	case SHADOW_WRITE:
		s->held[holder] = row->kind == SHADOW_COUNTER ? counter_after(s, w->value) :
								w->value;
		break;
	case SHADOW_REFUSED:
		break;
	case SHADOW_SET:
		s->status |= w->value;
		break;
	case SHADOW_RESET:
		s->status &= ~w->value;
		break;
	}
}

u64 shadow_of(const struct shadow *s, unsigned row)
{
	const unsigned of = s->row[row].of;

	return s->held[of == SHADOW_NONE ? row : of];
}

/* The manual lists IA32_FIXED_CTR_CTRL.ENi_PMI of i = 0, 1, 2. */
#define FIXED_LISTED	3u

/* Bits of fixed counters that are in use; its interrupt bits go to *pmi, a bit each. */
static u64 fixed_in_use(u64 control, u64 there, u64 *pmi)
{
	u64 in_use = 0;

	for (unsigned n = 0; n < 64 / FIXED_BITS; n++) {
		const u64 field = control >> n * FIXED_BITS;

		if (!(there & BIT(n)))
			continue;
		in_use |= field & IA32_FIXED_CTR_CTRL_EN0 ? BIT(32 + n) : 0;
		*pmi |= field & IA32_FIXED_CTR_CTRL_PMI0 ? BIT(n) : 0;
	}
	return in_use;
}

/* With PMI_InUse by the interrupts of these fixed counters and these bits of IA32_PEBS_ENABLE. */
static u64 in_use_by(const struct shadow *s, u64 fixed, u64 pebs)
{
	u64 in_use = 0, pmi = 0;
	bool interrupts = false;

	for (unsigned i = 0; i < s->rows; i++) {
		const u64 held = s->held[i];

		if (s->row[i].of != SHADOW_NONE)
			continue;
		switch (s->row[i].kind) {
		case SHADOW_SELECT:
			in_use |= held & IA32_PERFEVTSEL_EVENT ? BIT(s->row[i].number) : 0;
			interrupts |= held & IA32_PERFEVTSEL_INT;
			break;
		case SHADOW_FIXED_CONTROL:
			in_use |= fixed_in_use(held, s->fixed, &pmi);
			interrupts |= pmi & fixed;
			break;
		case SHADOW_PEBS_ENABLE:
			interrupts |= held & pebs;
			break;
		case SHADOW_PLAIN:
		case SHADOW_COUNTER:
			break;
		}
	}
	return in_use | (interrupts ? IA32_PERF_GLOBAL_INUSE_PMI : 0);
}

u64 shadow_in_use(const struct shadow *s)
{
	return in_use_by(s, ~0ULL, ~0ULL);
}

u64 shadow_in_use_listed(const struct shadow *s)
{
	return in_use_by(s, BIT(FIXED_LISTED) - 1, s->pebs_listed);
}
