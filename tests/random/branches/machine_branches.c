/* SPDX-License-Identifier: MIT */
/* See machine_branches.h. */
#include "tests/random/branches/machine_branches.h"

#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/descriptor.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/user.h"
#include "pmu/counter.h"
#include "pmu/lbr/any.h"
#include "spec/msr.h"
#include "tests/lbr/arch.h"
#include "tests/random/branches/branch.h"

static void learn_architectural(struct draw_branch_env *env)
{
	const struct lbr_leaf leaf = arch_lbr_leaf();

	env->architectural = true;
	env->info = true;
	env->types = leaf.branch_type;
	env->call_stack = leaf.call_stack && leaf.branch_filtering;
	env->deepest = (u8)lbr_leaf_deepest(&leaf);
	env->depths = leaf.depths;
	env->control = lbr_leaf_control(&leaf);
	env->from_bits = ~0ULL;
	env->debug_bit = !msr_try_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR).raised;
	(void)msr_try_write(MSR_IA32_DEBUGCTL, 0);
}

static void learn_legacy(struct draw_branch_env *env)
{
	char reason[128];

	env->legacy = true;
	env->info = lbr_format_has_info(lbr_format());
	env->call_stack = need_lbr_call_stack(reason, sizeof(reason));
	env->deepest = (u8)lbr_depth();
	env->from_bits = lbr_address_bits();
}

struct draw_branch_env machine_branches_learn(bool strict)
{
	struct draw_branch_env env = { .gate = (u64)(uintptr_t)user_return,
				       .gate_return = (u64)(uintptr_t)user_return_end,
				       .pmi_gate = descriptor_gate(VECTOR_PMI),
				       .nmi_gate = descriptor_gate(VECTOR_NMI) };
	char reason[128];

	if (!need_any_lbr(reason, sizeof(reason)))
		return env;
	if (counter_caps()->arch_lbr)
		learn_architectural(&env);
	else
		learn_legacy(&env);
	/* Only the reference PMU's delay of a freeze is known. */
	env.freeze = strict && need_freeze(reason, sizeof(reason));
	env.streamlined = need_version_4(reason, sizeof(reason));
	return env;
}

void machine_branches_open(const struct draw_env *env, const struct draw_case *c)
{
	const struct draw_branches *b = &c->branches;

	if (env->branches.architectural) {
		msr_write(MSR_IA32_LBR_DEPTH, b->depth);
	} else {
		msr_write(MSR_LASTBRANCH_TOS, b->top);
		msr_write(MSR_LBR_SELECT, b->select);
	}
	for (unsigned age = 0; age < b->old && age < b->depth; age++) {
		const struct lbr_raw raw = branch_old(c, age);
		const u32 n = (u32)(b->top + b->depth - (int)age) % b->depth;

		if (env->branches.architectural) {
			msr_write(MSR_IA32_LBR_0_FROM_IP + age, raw.from);
			msr_write(MSR_IA32_LBR_0_TO_IP + age, raw.to);
		} else {
			msr_write(MSR_LASTBRANCH_0_FROM_IP + n, raw.from);
			msr_write(MSR_LASTBRANCH_0_TO_IP + n, raw.to);
		}
	}
}

void machine_branches_look(const struct draw_env *env, const struct draw_case *c,
			   struct draw_observation *seen)
{
	struct draw_branches_seen *b = &seen->branches;
	unsigned depth = env->branches.deepest;

	/* A program that the shrinker has made smaller may leave recording on. */
	msr_write(env->branches.architectural ? MSR_IA32_LBR_CTL : MSR_IA32_DEBUGCTL, 0);
	if (env->branches.architectural)
		b->depth = depth = arch_lbr_depth();
	else
		b->top = msr_read(MSR_LASTBRANCH_TOS);
	for (unsigned age = 0; age < depth; age++) {
		const unsigned n = env->branches.architectural ?
					   age :
					   (unsigned)(b->top + depth - age) % depth;

		if (!(c->branches.look >> age & 1))
			continue;
		b->looked |= BIT(n);
		b->entry[n] = env->branches.architectural ? arch_lbr_entry(n) : lbr_entry(n);
	}
}

void machine_branches_close(const struct draw_env *env)
{
	if (env->branches.legacy || env->branches.architectural)
		lbr_any_close();
}
