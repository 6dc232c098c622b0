/* SPDX-License-Identifier: MIT */
/* Accesses that must be refused: SDM volume 2 WRMSR, RDMSR, RDPMC, "Protected Mode Exceptions";
 * volume 4. */
#include "pmu/version6/version6.h"
#include "spec/msr.h"
#include "tests/random/draw_sampling.h"

/* Bits that no processor has: there are fewer than 20 counters, event selects end at bit 47, fields
 * of fixed counters at bit 59. */
#define ABSENT_COUNTER	20
#define ABSENT_COUNTERS 12
#define ABSENT_SELECT	48
#define ABSENT_FIELD	60

/* The other bits of the value are legal, and differ from the register's contents. */
static struct draw_operation refused(u32 msr, u64 value, unsigned from, unsigned bits,
				     struct prng *p)
{
	value |= BIT(from + prng_below(p, bits));
	return (struct draw_operation){ .msr = msr, .low = (u32)value, .high = (u32)(value >> 32) };
}

static struct draw_operation of_records(const struct draw_env *env, struct prng *p,
					const struct draw_case *c)
{
	if (prng_one_in(p, 2))
		return refused(MSR_IA32_PEBS_ENABLE, c->pebs_enable & prng_next(p), ABSENT_COUNTER,
			       ABSENT_COUNTERS, p);
	/* Not canonical. */
	return refused(MSR_IA32_DS_AREA, env->data[0], 62, 1, p);
}

static struct draw_operation of_arch(const struct draw_env *env, struct prng *p,
				     const struct draw_case *c)
{
	unsigned i = draw_some_general(env, p), bit = 32;

	if (!(env->arch.pebs >> i & 1) || prng_one_in(p, 2))
		return refused(MSR_IA32_PEBS_INDEX,
			       draw_arch_index(c->arch.write / 2, DRAW_ARCH_NEVER), 63, 1, p);
	while ((env->arch.groups | IA32_PMC_GP0_CFG_C_PEBS_EN) >> bit & 1)
		bit++;
	return refused(version6_cfg_c(i), c->arch.config[i] ^ IA32_PMC_GP0_CFG_C_PEBS_EN, bit, 1,
		       p);
}

/* The address of one of IA32_PMC4 to 7, which the processor doesn't have. */
static u32 absent_msr(struct prng *p)
{
	u32 first = prng_one_in(p, 2) ? MSR_IA32_PERFEVTSEL0 : MSR_IA32_PMC0;

	return first + 4 + (u32)prng_below(p, 4);
}

struct draw_operation draw_refused(const struct draw_env *env, struct prng *p,
				   const struct draw_case *c, u32 flags)
{
	unsigned i = draw_some_general(env, p);

	if (flags & PIECE_READ)
		return (struct draw_operation){ .msr = absent_msr(p) };
	if (flags & PIECE_RDPMC && prng_one_in(p, 3))
		return (struct draw_operation){ .msr = (u32)BIT(31) | i };
	if (flags & PIECE_RDPMC)
		return (struct draw_operation){
			.msr = ABSENT_COUNTER + (prng_one_in(p, 2) ? (u32)BIT(30) : 0),
		};
	if (c->arch.used)
		return of_arch(env, p, c);
	if (c->ds.used)
		return of_records(env, p, c);
	switch (prng_below(p, env->fixed ? 6 : 4)) {
	case 0:
		if (env->full_width)
			return refused(MSR_IA32_A_PMC0 + i, prng_next(p) & draw_ones(env->gp_width),
				       env->gp_width, 64 - env->gp_width, p);
		/* fall through */
	case 1:
		return refused(MSR_IA32_PERFEVTSEL0 + i,
			       c->select[i] ^ (IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS),
			       ABSENT_SELECT, 64 - ABSENT_SELECT, p);
	case 2:
		return refused(MSR_IA32_PERF_GLOBAL_CTRL, prng_next(p) & draw_every_counter(env),
			       ABSENT_COUNTER, ABSENT_COUNTERS, p);
	case 3:
		return refused(MSR_IA32_PERF_GLOBAL_OVF_CTRL, draw_every_counter(env),
			       ABSENT_COUNTER, ABSENT_COUNTERS, p);
	case 4:
		return refused(MSR_IA32_FIXED_CTR_CTRL, c->fixed_control ^ 3, ABSENT_FIELD,
			       64 - ABSENT_FIELD, p);
	default:
		return refused(MSR_IA32_FIXED_CTR0, prng_next(p) & draw_ones(env->fixed_width),
			       env->fixed_width, 64 - env->fixed_width, p);
	}
}
