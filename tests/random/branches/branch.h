/* SPDX-License-Identifier: MIT */
/*
 * An instruction of a drawn program as a last branch record: its kind of branch, its address and
 * its target. Pure.
 */
#ifndef TESTS_RANDOM_BRANCH_H
#define TESTS_RANDOM_BRANCH_H

#include "pmu/lbr/format.h"
#include "tests/random/trace.h"

struct branch {
	enum lbr_kind kind;
	u64 from, to;
	bool from_user, to_user;
};

/* The encoding of a kind in the registers. */
struct branch_kind {
	u64 control;			/* its bit of IA32_LBR_CTL, which lets it in */
	u8 type_least, type_most;	/* IA32_LBR_x_INFO[59:56] */
};

#define BRANCH_CONTROL_KINDS								\
	(IA32_LBR_CTL_JCC | IA32_LBR_CTL_NEAR_REL_JMP | IA32_LBR_CTL_NEAR_IND_JMP |	\
	 IA32_LBR_CTL_NEAR_REL_CALL | IA32_LBR_CTL_NEAR_IND_CALL |			\
	 IA32_LBR_CTL_NEAR_RET | IA32_LBR_CTL_OTHER_BRANCH)

/* MSR_LBR_SELECT that keeps each near branch out. */
#define BRANCH_SELECT_NEAR	BITS(LBR_CONDITIONAL, LBR_RELATIVE_JUMP)

const struct branch_kind *branch_kind_get(enum lbr_kind kind);

/* false: the step isn't a taken branch. */
bool branch_of(const struct draw_env *env, const struct trace *trace, unsigned step,
	       struct branch *branch);
/* The step of the branch, taken or not, at the address FROM; -1: none. */
int branch_find(const struct draw_env *env, const struct trace *trace, u64 from);

/* The value that was written to the entry of that age before the program. */
struct lbr_raw branch_old(const struct draw_case *c, unsigned age);

#endif
