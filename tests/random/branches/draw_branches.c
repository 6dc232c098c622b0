/* SPDX-License-Identifier: MIT */
/* See draw_branches.h. */
#include "tests/random/branches/draw_branches.h"

#include "spec/arch_lbr.h"
#include "spec/msr.h"
#include "tests/random/branches/branch.h"
#include "tests/random/draw_sampling.h"

#define OLD_MOST	4		/* entries that are written before the program */
#define LOOK_NEWEST	8		/* entries that are read: at most so many of the newest */
#define LOOK_OTHERS	4		/* and so many others */

#define NOT_IN_CALL_STACK							\
	(LBR_SELECT_JCC | LBR_SELECT_NEAR_IND_JMP | LBR_SELECT_NEAR_REL_JMP |	\
	 LBR_SELECT_FAR_BRANCH)
#define JUMPS		(LBR_SELECT_NEAR_IND_JMP | LBR_SELECT_NEAR_REL_JMP)
#define WITH_JUMPS						\
	(JUMPS | LBR_SELECT_NEAR_REL_CALL | LBR_SELECT_NEAR_IND_CALL | LBR_SELECT_NEAR_RET)
#define IN_CALL_STACK									\
	(IA32_LBR_CTL_NEAR_REL_CALL | IA32_LBR_CTL_NEAR_IND_CALL | IA32_LBR_CTL_NEAR_RET)

unsigned draw_branching_piece(struct prng *p)
{
	static const char *const names[] = {
		"jump_taken", "jump_near", "jump_indirect", "loops", "call_return",
		"call_indirect", "call_memory", "return_number", "call_next", "call_left",
		"call_left_indirect", "return_alone", "iretq", "far_return",
	};
	const char *name = names[prng_below(p, sizeof(names) / sizeof(names[0]))];
	int piece = piece_find(name, (unsigned)prng_below(p, DRAW_INSTANCES));

	return piece < 0 ? 0 : (unsigned)piece;
}

/* ---- filters */

static bool calls_only(const struct draw_env *env, const struct draw_case *c)
{
	return env->branches.legacy ? c->branches.select & LBR_SELECT_EN_CALLSTACK :
				      c->operation[DRAW_SLOT_BEGIN].low & IA32_LBR_CTL_CALL_STACK;
}

/* true: a handler runs while branches are recorded, so its near branches are filtered out. */
static bool far_alone(const struct draw_case *c)
{
	return c->global && !c->branches.freeze && c->lvt != DRAW_LVT_MASKED;
}

/* Most kinds are recorded, sometimes all. far: no near branch, such as those of a handler. */
static u64 draw_select(const struct draw_env *env, struct prng *p, bool calls, bool far)
{
	static const u64 levels[] = {
		0, 0, 0, 0, LBR_SELECT_CPL_EQ_0, LBR_SELECT_CPL_NEQ_0, LBR_SELECT_CPL_NEQ_0
	};
	u64 select = levels[prng_below(p, sizeof(levels) / sizeof(levels[0]))];

	if (prng_one_in(p, 24))
		select = LBR_SELECT_CPL_EQ_0 | LBR_SELECT_CPL_NEQ_0;
	if (calls)
		return select | LBR_SELECT_EN_CALLSTACK | NOT_IN_CALL_STACK;
	if (far)
		return select | BRANCH_SELECT_NEAR;
	if (prng_one_in(p, 5))
		return select;
	for (unsigned kind = LBR_CONDITIONAL; kind < LBR_KINDS_END; kind++)
		if (prng_one_in(p, 3))
			select |= BIT(kind);
	/* An erratum lets the bits of jumps filter out other branches too: then their own bits are
	 * set as well. */
	if (env->errata & BIT(ERRATUM_JUMP_FILTERS) && select & JUMPS)
		select |= WITH_JUMPS;
	return select;
}

static u64 draw_control(const struct draw_env *env, struct prng *p, bool calls, bool far)
{
	const u64 both = IA32_LBR_CTL_OS | IA32_LBR_CTL_USR;
	const u64 levels[] = { both, both, both, IA32_LBR_CTL_OS, IA32_LBR_CTL_USR, both,
			       IA32_LBR_CTL_OS };
	u64 control = levels[prng_below(p, sizeof(levels) / sizeof(levels[0]))];

	/* An interrupt and its return are between two levels. */
	if (far)
		control = levels[2 + prng_below(p, 3)];
	if (prng_one_in(p, 24))
		control = 0;
	if (calls)
		control |= IA32_LBR_CTL_CALL_STACK | IN_CALL_STACK;
	else if (far)
		control |= IA32_LBR_CTL_OTHER_BRANCH;
	else if (prng_one_in(p, 5))
		control |= BRANCH_CONTROL_KINDS;
	else
		for (unsigned kind = LBR_CONDITIONAL; kind < LBR_KINDS_END; kind++)
			if (!prng_one_in(p, 3))
				control |= branch_kind_get(kind)->control;
	return control & env->branches.control;
}

static u8 draw_depth(const struct draw_env *env, struct prng *p)
{
	unsigned n = (unsigned)prng_below(p, 8);

	while (!(env->branches.depths >> n & 1))
		n = (n + 1) % 8;
	return (u8)(ARCH_LBR_DEPTH_UNIT * (n + 1));
}

/* ---- operations */

static struct draw_operation writes(u32 msr, u64 value)
{
	return (struct draw_operation){ .msr = msr, .low = (u32)value, .high = (u32)(value >> 32) };
}

static struct draw_operation draw_write(const struct draw_env *env, struct prng *p,
					const struct draw_case *c)
{
	const bool calls = calls_only(env, c);

	if (c->branches.freeze && env->branches.streamlined && prng_one_in(p, 3))
		return writes(MSR_IA32_PERF_GLOBAL_OVF_CTRL, IA32_PERF_GLOBAL_OVF_CTRL_CLR_LBR_FRZ);
	if (env->branches.legacy) {
		if (prng_one_in(p, 2))
			return writes(MSR_LBR_SELECT, draw_select(env, p, calls, far_alone(c)));
		return writes(MSR_IA32_DEBUGCTL,
			      draw_debugctl(c) | (prng_one_in(p, 2) ? IA32_DEBUGCTL_LBR : 0));
	}
	if (prng_one_in(p, 6))
		return writes(MSR_IA32_LBR_DEPTH, draw_depth(env, p));
	if (env->branches.debug_bit && prng_one_in(p, 6))
		return writes(MSR_IA32_DEBUGCTL,
			      draw_debugctl(c) | (prng_one_in(p, 2) ? IA32_DEBUGCTL_LBR : 0));
	return writes(MSR_IA32_LBR_CTL, draw_control(env, p, calls, far_alone(c)) |
						(prng_one_in(p, 3) ? 0 : IA32_LBR_CTL_LBREN));
}

static struct draw_operation draw_read(const struct draw_env *env, struct prng *p)
{
	const bool legacy = env->branches.legacy;
	u32 n = (u32)prng_below(p, legacy ? env->branches.deepest : ARCH_LBR_DEPTH_UNIT);

	/* With architectural records, often the newest entry. */
	if (!legacy && prng_one_in(p, 2))
		n = 0;
	switch (prng_below(p, 6)) {
	case 0:
		return writes(legacy ? MSR_LBR_SELECT : MSR_IA32_LBR_CTL, 0);
	case 1:
		return writes(legacy ? MSR_IA32_DEBUGCTL : MSR_IA32_LBR_DEPTH, 0);
	case 2:
		return writes((legacy ? MSR_LASTBRANCH_0_TO_IP : MSR_IA32_LBR_0_TO_IP) + n, 0);
	case 3:
		if (legacy)
			return writes(MSR_LASTBRANCH_TOS, 0);
		/* fall through */
	default:
		return writes((legacy ? MSR_LASTBRANCH_0_FROM_IP : MSR_IA32_LBR_0_FROM_IP) + n, 0);
	}
}

static void draw_begin_and_end(const struct draw_env *env, struct prng *p, struct draw_case *c)
{
	struct draw_operation *begin = &c->operation[DRAW_SLOT_BEGIN];
	struct draw_operation *end = &c->operation[DRAW_SLOT_END];
	/* With freezing: a PMI near a call or return moves the top of the stack by one (Linux). */
	const bool far = far_alone(c);
	const bool calls = env->branches.call_stack && !c->branches.freeze && !far &&
			   prng_one_in(p, 4);

	if (env->branches.legacy) {
		c->branches.select = (u16)draw_select(env, p, calls, far);
		*begin = writes(MSR_IA32_DEBUGCTL, draw_debugctl(c) | IA32_DEBUGCTL_LBR);
		*end = writes(MSR_IA32_DEBUGCTL, draw_debugctl(c));
	} else {
		*begin = writes(MSR_IA32_LBR_CTL,
				draw_control(env, p, calls, far) | IA32_LBR_CTL_LBREN);
		*end = writes(MSR_IA32_LBR_CTL, 0);
	}
}

static void fill_operations(const struct draw_env *env, struct prng *p, struct draw_case *c,
			    const struct trace *trace)
{
	for (unsigned i = 0; i < trace->steps; i++) {
		const struct trace_step *step = &trace->step[i];

		if (step->slot >= DRAW_SLOT_BEGIN || step->row->flags & ROW_STOP)
			continue;
		if (step->row->flags & ROW_WRMSR)
			c->operation[step->slot] = draw_write(env, p, c);
		if (step->row->flags & ROW_RDMSR)
			c->operation[step->slot] = draw_read(env, p);
	}
}

/* ---- counters: one that overflows, and may freeze */

static const struct draw_event *draw_exact_event(const struct draw_env *env, struct prng *p)
{
	for (unsigned tries = 0; tries < 8; tries++) {
		const struct draw_event *e = &env->event[prng_below(p, env->events)];

		if (e->kind != EK_CORE_CYCLES && e->kind != EK_REF_CYCLES)
			return e;
	}
	return NULL;
}

static void draw_overflow(const struct draw_env *env, struct prng *p, struct draw_case *c,
			  const struct trace *trace)
{
	static const u8 lvt[] = { DRAW_LVT_FIXED, DRAW_LVT_NMI, DRAW_LVT_MASKED };
	const unsigned i = draw_some_general(env, p);
	const struct draw_event *event = draw_exact_event(env, p);
	u64 events = 0;

	if (!event || !(event->counters >> i & 1))
		return;
	for (unsigned step = 0; step < trace->steps; step++)
		events += trace_count(env, c, event, &trace->step[step]).least;
	c->select[i] = event->code | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_EN |
		       IA32_PERFEVTSEL_INT;
	c->preset[i] = (0ULL - 1 - prng_below(p, events + 1)) & draw_ones(env->gp_width);
	if (!env->full_width)
		c->preset[i] = (u64)(int64_t)(int32_t)(u32)c->preset[i] & draw_ones(env->gp_width);
	c->global = BIT(i);
	if (prng_one_in(p, 8))
		c->select[i] &= ~IA32_PERFEVTSEL_INT;
	c->branches.freeze = prng_one_in(p, 2);
	c->freeze = env->freeze && prng_one_in(p, 3);
	c->lvt = lvt[prng_below(p, sizeof(lvt))];
	/* The handler's branches would be recorded. */
	if (!c->branches.freeze && env->branches.architectural &&
	    !(env->branches.control & BRANCH_CONTROL_KINDS))
		c->lvt = DRAW_LVT_MASKED;
	/* The handler must not clear LBR_FRZ: this would end the freeze. */
	c->keep_status = c->stay_masked = env->branches.streamlined;
}

static u64 draw_look(const struct draw_env *env, struct prng *p)
{
	u64 look = draw_ones((unsigned)prng_below(p, LOOK_NEWEST + 1));

	if (prng_one_in(p, 8))
		return draw_ones(env->branches.deepest);
	for (unsigned i = 0; i < LOOK_OTHERS; i++)
		look |= BIT(prng_below(p, env->branches.deepest));
	return look;
}

void draw_branches(const struct draw_env *env, struct prng *p, struct draw_case *c,
		   const struct trace *trace)
{
	const struct draw_branch_env *b = &env->branches;
	static const u8 tops[] = { 0, 0, 1, 0xff };

	if (!b->legacy && !b->architectural)
		return;
	c->branches.depth = b->architectural ? draw_depth(env, p) : b->deepest;
	c->branches.top = (u8)(prng_one_in(p, 2) ? prng_below(p, b->deepest) :
						   tops[prng_below(p, sizeof(tops))] % b->deepest);
	c->branches.old = (u8)prng_below(p, OLD_MOST + 1);
	c->branches.look = draw_look(env, p);
	if (b->freeze && prng_one_in(p, 4))
		draw_overflow(env, p, c, trace);
	draw_begin_and_end(env, p, c);
	fill_operations(env, p, c, trace);
}
