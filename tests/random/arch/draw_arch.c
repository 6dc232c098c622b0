/* SPDX-License-Identifier: MIT */
/* See draw_arch.h. CFG_C of a counter: Linux intel_pmu_enable_event_ext(). */
#include "tests/random/arch/draw_arch.h"

#include "pmu/version6/version6.h"
#include "spec/msr.h"
#include "tests/random/draw_sampling.h"

#define PLACES		4	/* pages at which a buffer may begin */
#define ZONES		DRAW_ARCH_RUNS	/* quarters of the buffer, one for each run of records */
#define ZONE_ROOM	16	/* units: a run may begin anywhere in so many of its quarter */
#define UNITS_MOST	64	/* units of a few records, the range of drawn thresholds */
#define NEAR_END	40	/* units before the buffer's end */

#define KINDS	    (IA32_PMC_GP0_CFG_C_CNTR_GP | IA32_PMC_GP0_CFG_C_CNTR_FIXED)
#define LBR_CODES	3
#define LBR_EACH	8	/* entries of code 1; code 2 has twice as many */

u64 draw_arch_xmm(const struct draw_arch *arch, unsigned half)
{
	return arch->xmm >> half / 2 & 1 ? (half + 1) * 0x9e3779b97f4a7c15ULL | 1 : 0;
}

u64 draw_arch_index(u64 write, u64 threshold)
{
	return IA32_PEBS_INDEX_EN | write * ARCH_PEBS_UNIT |
	       threshold << IA32_PEBS_INDEX_THRESH_SHIFT;
}

static u64 units_of(const struct draw_arch *arch)
{
	return ((u64)ARCH_PEBS_LEAST_BUFFER << arch->size) / ARCH_PEBS_UNIT;
}

/* Each run of records begins in a different quarter. */
static u64 draw_begin(struct prng *p, const struct draw_arch *arch, unsigned run)
{
	return (arch->write * ZONES / units_of(arch) + run) % ZONES * units_of(arch) / ZONES +
	       prng_below(p, ZONE_ROOM);
}

/* The threshold is above WR: no source defines a threshold that is reached from the beginning. */
static u64 draw_threshold(struct prng *p, u64 write)
{
	if (prng_one_in(p, 2))
		return DRAW_ARCH_NEVER;
	if (prng_one_in(p, 4))
		return write + 1;
	return write + 1 + prng_below(p, UNITS_MOST);
}

static void draw_buffer(struct prng *p, struct draw_arch *arch)
{
	arch->used = 1;
	arch->place = (u8)prng_below(p, PLACES);
	arch->size = (u8)(prng_one_in(p, 8) ? prng_below(p, 5) : 1 + prng_below(p, 2));
	arch->write = (u32)(prng_below(p, ZONES) * units_of(arch) / ZONES);
	if (!prng_one_in(p, 3))
		arch->write += (u32)prng_below(p, ZONE_ROOM);
	if (prng_one_in(p, 12))
		arch->write = (u32)(units_of(arch) - prng_below(p, NEAR_END));
	arch->threshold = (u32)draw_threshold(p, arch->write);
	if (!prng_one_in(p, 4))
		arch->xmm = (u16)(prng_one_in(p, 2) ? BIT(prng_below(p, 16)) : prng_next(p));
}

static u64 draw_groups(const struct draw_env *env, struct prng *p)
{
	u64 groups = prng_next(p) & (IA32_PMC_GP0_CFG_C_AUX | IA32_PMC_GP0_CFG_C_GPR);
	u64 code = prng_below(p, LBR_CODES + 1);

	if (prng_one_in(p, 3))
		groups |= BIT(IA32_PMC_GP0_CFG_C_XER_SHIFT + ARCH_PEBS_XER_XMM);
	if (prng_one_in(p, 4) &&
	    (code == ARCH_PEBS_LBR_BY_DEPTH || LBR_EACH * code <= env->arch.lbr_depth))
		groups |= code << IA32_PMC_GP0_CFG_C_LBR_SHIFT;
	/* A group without counters may be left out of the record. */
	if (prng_one_in(p, 3))
		groups |= (KINDS & prng_next(p)) | IA32_PMC_GP0_CFG_C_ALLOW_IN_RECORD;
	return groups & env->arch.groups;
}

/* The lower half of a negative count; the bits above it are ones. */
static u64 draw_reload(const struct draw_env *env, struct prng *p, u64 events, bool far)
{
	if (far || prng_one_in(p, 3))
		return BIT(31) | (prng_next(p) & BITS(0, 30));
	return (u32)(0 - (u64)env->period_least - prng_below(p, events + 1));
}

static bool may_record(const struct draw_env *env, unsigned i)
{
	return env->arch.pebs >> draw_status_bit(i) & 1;
}

/* Draw an event whose instructions are known on this counter. */
static u64 draw_event(const struct draw_env *env, struct prng *p, unsigned counter)
{
	for (unsigned tries = 0; tries < 16; tries++) {
		const struct draw_event *e = &env->event[prng_below(p, env->events)];

		if (e->counters >> counter & 1 &&
		    (e->flags & EV_PEBS || e->kind == EK_INSTRUCTIONS || e->kind == EK_BRANCHES))
			return e->code;
	}
	return EVENT_INST_RETIRED_ANY_P;
}

/* Draw USR and OS. If the program has a part at another level, that level alone is more likely:
 * records of the return path have no known instruction. */
static u64 draw_levels(struct prng *p, const struct trace *trace)
{
	bool user = false;

	for (unsigned i = 0; i < trace->steps; i++)
		user |= trace->step[i].user;
	return user && prng_one_in(p, 2) ? 1 : 1 + prng_below(p, 3);
}

static void draw_general(const struct draw_env *env, struct prng *p, struct draw_case *c,
			 const struct trace *trace, unsigned i, bool far)
{
	u64 select = draw_event(env, p, i) | draw_levels(p, trace) << 16 | IA32_PERFEVTSEL_EN;
	u64 events = draw_sampling_events(env, c, trace, select);

	c->select[i] = select;
	c->preset[i] = (0 - (u64)env->period_least - prng_below(p, events / 2 + 1)) &
		       draw_ones(env->gp_width);
	/* Sometimes take the settings of the previous counter: then both overflow on one
	 * instruction. */
	if (i && c->arch.config[i - 1] & IA32_PMC_GP0_CFG_C_PEBS_EN &&
	    draw_event_of(env, c->select[i - 1])->counters >> i & 1 && prng_one_in(p, 3)) {
		c->select[i] = c->select[i - 1];
		c->preset[i] = c->preset[i - 1];
	}
	c->arch.config[i] |= draw_reload(env, p, events / 2, far);
}

static void draw_fixed(const struct draw_env *env, struct prng *p, struct draw_case *c,
		       const struct trace *trace, unsigned i, bool far)
{
	u64 levels = draw_levels(p, trace), field = levels >> 1 | (levels & 1) << 1, events;

	c->fixed_control &= ~(BITS(0, 3) << 4 * i);
	c->fixed_control |= field << 4 * i;
	events = draw_sampling_events(env, c, trace,
				      EVENT_INST_RETIRED_ANY_P | (field & 2) << 15 |
					      (field & 1) << 17);
	/* The place of a cycle counter's overflow can't be known. */
	if (i && (i == FIXED_REF_TSC || prng_one_in(p, 2)))
		c->fixed_preset[i] = prng_below(p, 1000);
	else if (i)
		c->fixed_preset[i] = draw_near(env, p, trace->steps) & draw_ones(env->fixed_width);
	else
		c->fixed_preset[i] = (0 - (u64)env->period_least - prng_below(p, events / 2 + 1)) &
				     draw_ones(env->fixed_width);
	c->arch.config[DRAW_GP + i] |= draw_reload(env, p, events / 2, far);
}

/* Units of one to three records of a counter whose groups are AUX, GPR, both or neither. */
static u64 draw_records_units(struct prng *p, const struct draw_case *c)
{
	u64 bytes = ARCH_PEBS_HEADER_BYTES + ARCH_PEBS_BASIC_BYTES, config = 0;

	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (c->arch.config[i] & IA32_PMC_GP0_CFG_C_PEBS_EN &&
		    (!config || prng_one_in(p, 2)))
			config = c->arch.config[i];
	if (config & IA32_PMC_GP0_CFG_C_AUX)
		bytes += ARCH_PEBS_AUX_BYTES;
	if (config & IA32_PMC_GP0_CFG_C_GPR)
		bytes += ARCH_PEBS_GPR_BYTES;
	return (1 + prng_below(p, 3)) * bytes / ARCH_PEBS_UNIT;
}

void draw_arch(const struct draw_env *env, struct prng *p, struct draw_case *c,
	       const struct trace *trace)
{
	unsigned rare = 2 + (unsigned)prng_below(p, 5);
	bool far = prng_one_in(p, 2), allow = prng_one_in(p, 3);

	if (!env->arch.pebs)
		return;
	c->freeze = env->arch.freeze && prng_one_in(p, 2);
	draw_buffer(p, &c->arch);
	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		if (!may_record(env, i))
			continue;
		if (allow && prng_one_in(p, 2))
			c->arch.config[i] |= IA32_PMC_GP0_CFG_C_ALLOW_IN_RECORD & env->arch.groups;
		if (!prng_one_in(p, rare + (i > DRAW_GP ? 4 : 0)))
			continue;
		c->arch.config[i] |= IA32_PMC_GP0_CFG_C_PEBS_EN | draw_groups(env, p);
		if (i < DRAW_GP)
			draw_general(env, p, c, trace, i, far);
		else
			draw_fixed(env, p, c, trace, i - DRAW_GP, far);
	}
	if (c->arch.threshold != DRAW_ARCH_NEVER && prng_one_in(p, 2))
		c->arch.threshold = (u32)(c->arch.write + draw_records_units(p, c));
	/* Mostly records without other interrupts: then there are more records. */
	if (!prng_one_in(p, 5)) {
		FOR_EACH_COUNTER (i, env->general)
			c->select[i] &= ~IA32_PERFEVTSEL_INT;
		for (unsigned i = 0; i < DRAW_FIXED; i++)
			c->fixed_control &= ~(BIT(3) << 4 * i);
	}
	if (!prng_one_in(p, 4))
		c->global = draw_every_counter(env);
}

/* ---- the program's own writes and reads */

static unsigned some_counter(const struct draw_env *env, struct prng *p, const struct draw_case *c)
{
	unsigned found = (unsigned)prng_below(p, DRAW_COUNTERS);

	for (unsigned tries = 0; tries < 8; tries++) {
		unsigned i = (unsigned)prng_below(p, DRAW_COUNTERS);

		if (!may_record(env, i))
			continue;
		found = i;
		if (c->arch.config[i] & IA32_PMC_GP0_CFG_C_PEBS_EN)
			return i;
	}
	/* Another one may have no IA32_PMC_GPn_CFG_C. */
	while (!may_record(env, found))
		found = (found + 1) % DRAW_COUNTERS;
	return found;
}

static struct draw_operation operation(u32 msr, u64 value)
{
	return (struct draw_operation){ .msr = msr, .low = (u32)value, .high = (u32)(value >> 32) };
}

static struct draw_operation write_config(const struct draw_env *env, struct prng *p,
					  const struct draw_case *c)
{
	const u64 enable = IA32_PMC_GP0_CFG_C_PEBS_EN, reload = IA32_PMC_GP0_CFG_C_RELOAD;
	unsigned i = some_counter(env, p, c);
	u64 value = c->arch.config[i];

	switch (prng_below(p, 3)) {
	case 0:
		value ^= enable;
		break;
	case 1:
		value = (value & reload) | enable | draw_groups(env, p);
		break;
	default:
		value = (value & ~reload) | draw_reload(env, p, 20, false);
	}
	/* The reload value must have bit 31 set. */
	return operation(version6_cfg_c(draw_status_bit(i)), value | BIT(31));
}

struct draw_operation draw_arch_write(const struct draw_env *env, struct prng *p,
				      struct draw_case *c)
{
	u64 write;

	if (c->arch.writes + 1 < DRAW_ARCH_RUNS && prng_one_in(p, 2)) {
		write = draw_begin(p, &c->arch, ++c->arch.writes);
		return operation(MSR_IA32_PEBS_INDEX,
				 draw_arch_index(write, draw_threshold(p, write)));
	}
	if (prng_one_in(p, 2))
		return operation(MSR_IA32_PERF_GLOBAL_OVF_CTRL,
				 IA32_PERF_GLOBAL_OVF_CTRL_CLR_ARCH_PEBS_THRESHOLD |
					 (prng_next(p) & env->general));
	return write_config(env, p, c);
}

struct draw_operation draw_arch_read(const struct draw_env *env, struct prng *p,
				     const struct draw_case *c)
{
	switch (prng_below(p, 4)) {
	case 0:
		return operation(MSR_IA32_PEBS_BASE, 0);
	case 1:
		return operation(version6_cfg_c(draw_status_bit(some_counter(env, p, c))), 0);
	default:
		return operation(MSR_IA32_PEBS_INDEX, 0);
	}
}
