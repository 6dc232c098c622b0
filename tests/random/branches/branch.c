/* SPDX-License-Identifier: MIT */
/*
 * See branch.h. SDM "Filtering of Last Branch Records"; volume 4, IA32_LBR_CTL. LOOP and JRCXZ are
 * conditional branches (Linux, branch_type()).
 */
#include "tests/random/branches/branch.h"

#define OLD_ADDRESS_BITS	46

const struct branch_kind *branch_kind_get(enum lbr_kind kind)
{
	/* The names are those of spec/arch_lbr.def. */
	enum {
		JCC = LBR_CONDITIONAL,
		NEAR_IND_JMP = LBR_INDIRECT_JUMP,
		NEAR_REL_JMP = LBR_RELATIVE_JUMP,
		NEAR_IND_CALL = LBR_INDIRECT_CALL,
		NEAR_REL_CALL = LBR_RELATIVE_CALL,
		NEAR_RET = LBR_RETURN,
		OTHER_BRANCH = LBR_FAR,
	};
	static const struct branch_kind kinds[LBR_KINDS_END] = {
#define ARCH_LBR_KIND(name, low, high, filter, source) \
	[name] = { IA32_LBR_CTL_##filter, (low), (high) },
#include "spec/arch_lbr.def"
	};

	return &kinds[kind];
}

static enum lbr_kind kind_of(u32 flags)
{
	if (flags & ROW_FAR)
		return LBR_FAR;
	if (flags & ROW_CONDITIONAL)
		return LBR_CONDITIONAL;
	if (flags & ROW_RETURN)
		return LBR_RETURN;
	if (flags & ROW_CALL)
		return flags & ROW_INDIRECT ? LBR_INDIRECT_CALL : LBR_RELATIVE_CALL;
	return flags & ROW_INDIRECT ? LBR_INDIRECT_JUMP : LBR_RELATIVE_JUMP;
}

/* The return from CPL 3 has one branch: its RET. */
static u64 address_of(const struct draw_env *env, const struct trace_step *step)
{
	return step->row->flags & ROW_NOT_HERE ? env->branches.gate_return : step->ip;
}

bool branch_of(const struct draw_env *env, const struct trace *trace, unsigned step,
	       struct branch *branch)
{
	const struct trace_step *s = &trace->step[step], *next = s + 1;
	const u32 flags = s->row->flags;

	if (!(flags & (ROW_TAKEN | ROW_FAR)) || step + 1 >= trace->steps)
		return false;
	*branch = (struct branch){
		.kind = kind_of(flags), .from = address_of(env, s),
		.to = flags & ROW_TO_KERNEL ? env->branches.gate : next->ip,
		.from_user = s->user, .to_user = next->user,
	};
	return true;
}

int branch_find(const struct draw_env *env, const struct trace *trace, u64 from)
{
	for (unsigned i = 0; i < trace->steps; i++)
		if (trace->step[i].row->flags & ROW_BRANCH &&
		    !((address_of(env, &trace->step[i]) ^ from) & env->branches.from_bits))
			return (int)i;
	return -1;
}

struct lbr_raw branch_old(const struct draw_case *c, unsigned age)
{
	const u64 upper = c->upper ? ~draw_ones(OLD_ADDRESS_BITS) : 0;

	return (struct lbr_raw){
		.from = draw_constant(c, 2 * age) >> (64 - OLD_ADDRESS_BITS) | upper,
		.to = draw_constant(c, 2 * age + 1) >> (64 - OLD_ADDRESS_BITS) | upper,
	};
}
