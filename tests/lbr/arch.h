/* SPDX-License-Identifier: MIT */
/*
 * Records the pieces of branches.h in architectural last branch records. IA32_LBR_CTL is written
 * inside a piece's window, so that nothing but its branches is recorded.
 */
#ifndef TESTS_LBR_ARCH_H
#define TESTS_LBR_ARCH_H

#include "pmu/lbr/arch.h"
#include "tests/lbr/branches.h"

/* There are such records, and their registers can be written. */
bool need_arch_lbr(char *reason, size_t size);
/* And CPUID leaf 1CH enumerates this. */
bool need_arch_lbr_depths(char *reason, size_t size);		/* EAX[7:0]: several */
bool need_arch_lbr_levels(char *reason, size_t size);		/* EBX[0] */
bool need_arch_lbr_kinds(char *reason, size_t size);		/* EBX[1] */
bool need_arch_lbr_call_stack(char *reason, size_t size);	/* EBX[2] */
bool need_arch_lbr_mispredict(char *reason, size_t size);	/* ECX[0] */
bool need_arch_lbr_timed(char *reason, size_t size);		/* ECX[1] */
bool need_arch_lbr_types(char *reason, size_t size);		/* ECX[2] */
bool need_arch_lbr_events(char *reason, size_t size);		/* ECX[19:16] */

/* The bit of IA32_LBR_CTL that lets a kind of branch in (enum lbr_kind); all of them. */
u64 arch_lbr_filter(u64 kind);
#define ARCH_LBR_EVERY_KIND \
	(IA32_LBR_CTL_JCC | IA32_LBR_CTL_NEAR_REL_JMP | IA32_LBR_CTL_NEAR_IND_JMP | \
	 IA32_LBR_CTL_NEAR_REL_CALL | IA32_LBR_CTL_NEAR_IND_CALL | IA32_LBR_CTL_NEAR_RET | \
	 IA32_LBR_CTL_OTHER_BRANCH)
/* IA32_LBR_CTL that records these kinds alone, at each level. */
u64 arch_lbr_only(u64 kinds);

/* Clear the entries, set the greatest depth, and record the piece's branches with this
 * IA32_LBR_CTL. */
void arch_lbr_record(const struct lbr_piece *piece, u64 n, u64 control, struct lbr_stack *stack);
/* Record the piece again, without clearing the entries; arch_lbr_run() doesn't read them. */
void arch_lbr_run(const struct lbr_piece *piece, u64 n, u64 control);
void arch_lbr_go_on(const struct lbr_piece *piece, u64 n, u64 control, struct lbr_stack *stack);

#endif
