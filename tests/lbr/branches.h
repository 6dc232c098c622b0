/* SPDX-License-Identifier: MIT */
/*
 * Pieces of code with a known list of taken branches, and functions that find these in the last
 * branch records. IA32_DEBUGCTL is written inside a piece's window, so that nothing but its
 * branches is recorded.
 */
#ifndef TESTS_LBR_BRANCHES_H
#define TESTS_LBR_BRANCHES_H

#include "kernel/interrupt/intr.h"
#include "pmu/lbr/lbr.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/workload.h"

/* This program supports the processor's stack, and its registers exist. */
bool need_lbr(char *reason, size_t size);
bool need_any_lbr(char *reason, size_t size);		/* that, or architectural ones */
bool need_any_lbr_info(char *reason, size_t size);
bool need_lbr_info(char *reason, size_t size);		/* with a third register an entry */
bool need_lbr_call_stack(char *reason, size_t size);	/* 4th generation and later */
bool need_lbr_transactions(char *reason, size_t size);	/* and RTM */
bool need_lbr_transaction_flags(char *reason, size_t size);	/* an entry has them */
bool need_lbr_elision(char *reason, size_t size);

/* As tests/lbr/branches.asm lays them out. */
struct lbr_row {
	u64 from, to, kind;
};
struct lbr_piece {
	const struct workload *workload;
	const struct lbr_row *rows, *end;	/* in the order in which they are taken */
};

#define LBR_LINKS	96

#define LBR_PIECE(name) extern const struct lbr_piece lbr_piece_##name \
	__attribute__((visibility("hidden")))
LBR_PIECE(lbr_kinds);		/* a branch of each kind; its mark is one that isn't taken */
LBR_PIECE(lbr_chain);		/* an indirect jump to the last n of LBR_LINKS jumps, its marks */
LBR_PIECE(lbr_nested);		/* three calls in each other, one indirect, then n returns */
LBR_PIECE(lbr_deep);		/* n[15:0] calls in each other, then n[31:16] returns */
LBR_PIECE(lbr_breakpoint);	/* INT3; the row's target is where its handler returns to */
LBR_PIECE(lbr_undefined);	/* the same of UD2, which its handler skips */
LBR_PIECE(lbr_protection);	/* the same of a load that raises #GP; #PF */
LBR_PIECE(lbr_page_fault);
LBR_PIECE(lbr_step);		/* a jump, then a single-step trap */
#define DELAY_JUMPS	3u
LBR_PIECE(lbr_delay);		/* n rounds of a loop between two jumps, soon a third */
LBR_PIECE(lbr_events);		/* jumps with stores and loads between them */
LBR_PIECE(lbr_events_apart);	/* a store, a conditional branch, a store, a jump, a jump */
LBR_PIECE(lbr_log_kinds);	/* a branch of each kind, an instruction before each */
LBR_PIECE(lbr_transaction);	/* jumps before, in and after a transaction */
LBR_PIECE(lbr_transaction_random);	/* n branches by chance in one, and a loop's */
LBR_PIECE(lbr_tx_nested);	/* the same, and three jumps of two that nest */
LBR_PIECE(lbr_tx_kinds);	/* a branch of each kind in one, but far ones */
LBR_PIECE(lbr_abort);		/* as before, ended by XABORT 5AH, its mark; EAX at memory */
LBR_PIECE(lbr_abort_fault);	/* the same, ended by a load that would raise #GP */
LBR_PIECE(lbr_elided);		/* a jump with a lock that PAUSE, its mark, ends the elision of */
#undef LBR_PIECE

/*
 * A guest of KVM loses its entries when it is scheduled while IA32_DEBUGCTL[0] is 0 (KVM,
 * intel_pmu_cleanup), and has none while its host records: all of them read 0. Then a test is to
 * be repeated; once it has been LBR_TRIES times it is INCONCLUSIVE. lbr_record() repeats by itself.
 */
#define LBR_TRIES	8
bool lbr_vanished(const struct lbr_stack *stack);
/* Must try `n`, counted from 0, be repeated? After the last try the test is INCONCLUSIVE. */
bool lbr_try_again(struct test *t, unsigned n, const struct lbr_stack *stack);
/* Are the entries lost even after all tries of lbr_record() and similar functions? Then the test is
 * INCONCLUSIVE. */
bool lbr_is_lost(struct test *t, const struct lbr_stack *stack);

/* Open the stack with select, and record the piece's branches. */
void lbr_record(const struct lbr_piece *piece, u64 n, u64 select, struct lbr_stack *stack);
/* The same with MSR_LASTBRANCH_TOS = top before it. */
void lbr_record_from(const struct lbr_piece *piece, u64 n, u64 select, unsigned top,
		     struct lbr_stack *stack);
/* Record the piece again, without clearing the stack, with this IA32_DEBUGCTL inside. */
void lbr_go_on(const struct lbr_piece *piece, u64 n, u64 debugctl, struct lbr_stack *stack);

/* The same for records of either kind (pmu/lbr/any.h), with every branch let in; above: the piece's
 * code at a higher address, PAGING_HIGH or PAGING_UPPER more. */
void lbr_any_go_on(const struct lbr_piece *piece, u64 n, struct lbr_stack *stack);
void lbr_any_go_on_above(const struct lbr_piece *piece, u64 n, u64 above, struct lbr_stack *stack);

/* The same with the piece's code at a higher address: PAGING_HIGH or PAGING_UPPER more. */
void lbr_record_above(const struct lbr_piece *piece, u64 n, u64 above, u64 select,
		      struct lbr_stack *stack);
/* The same at CPL 3, with the way there and back. */
void lbr_record_at_cpl_3(const struct lbr_piece *piece, u64 n, u64 select, struct lbr_stack *stack);
/* MSR_LBR_SELECT that keeps every near branch out; and call-stack mode: near calls and returns
 * alone.
 */
#define LBR_SELECT_NEAR_BRANCHES							\
	(LBR_SELECT_JCC | LBR_SELECT_NEAR_REL_CALL | LBR_SELECT_NEAR_IND_CALL |		\
	 LBR_SELECT_NEAR_RET | LBR_SELECT_NEAR_IND_JMP | LBR_SELECT_NEAR_REL_JMP)
#define LBR_SELECT_CALL_STACK								\
	(LBR_SELECT_EN_CALLSTACK | LBR_SELECT_JCC | LBR_SELECT_NEAR_IND_JMP |		\
	 LBR_SELECT_NEAR_REL_JMP | LBR_SELECT_FAR_BRANCH)

/* A handler of INT3, which goes on after it. */
void lbr_return_at_once(struct trap_frame *frame);
/* One that runs a loop and then INT3 again, for lbr_return_at_once(). And the check of the cycles
 * of these four branches, far ones alone. */
void lbr_break_late(struct trap_frame *frame);
void lbr_check_late(struct test *t, struct test_claim claim, const struct lbr_stack *stack);
/* Of UD2 in lbr_piece_lbr_undefined, and of the loads that raise #GP and #PF: returns to the
 * instruction after it. */
void lbr_skip_ud2(struct trap_frame *frame);
void lbr_skip_load(struct trap_frame *frame);
/*
 * Take a pending interrupt while the MSR has the value `recording`; before and after, it is 0.
 * Returns the number of interrupts.
 */
unsigned lbr_take_interrupt(u32 msr, u64 recording);
#define CYCLES_MOST	0xffffu		/* that INFO[15:0] can say */
/* An upper limit of the cycles in an entry whose window has that many core cycles by fixed counter
 * 1. The way to the entry is longer than the way to the counter's reads; on silicon it isn't known
 * by how much. */
u64 lbr_most_cycles(const struct test *t, u64 counted);

/* How many of the branches went to this address. */
unsigned lbr_entries_to(const struct lbr_stack *stack, u64 target);

/*
 * WRMSR and RDMSR of the FROM, TO or INFO registers from `msr` on, one of each entry: each bit of
 * `bits` is inverted in `base` alone, each in another entry, until each has been in one. All are 0
 * afterwards.
 */
void lbr_check_each_bit(struct test *t, struct test_claim claim, u32 msr, unsigned entries,
			u64 base, u64 bits);

/* Bits of FROM that are the address: the flags are above them. */
u64 lbr_address_bits(void);

/* The branch `age` branches before the last one of a chain of n links; age <= n. */
struct lbr_row lbr_chain_row(u64 n, unsigned age);

/* Compare the newest entries, of either kind of records, with the newest branches of a chain of
 * n. */
void lbr_check_chain(struct test *t, struct test_claim claim, const struct lbr_stack *stack, u64 n,
		     unsigned entries);

/* Is entry i of the stack this branch? */
bool lbr_is(const struct lbr_stack *stack, unsigned i, const struct lbr_row *row);

#endif
