/* SPDX-License-Identifier: MIT */
/*
 * The possible contents of last branch records during a drawn program. Where the manual leaves a
 * choice, there are two or more possible contents (paths). All of them are kept here, until the
 * records are read. Pure.
 */
#ifndef TESTS_RANDOM_BRANCH_PATHS_H
#define TESTS_RANDOM_BRANCH_PATHS_H

#include "tests/random/branches/branch.h"
#include "tests/random/oracle_internal.h"

enum entry_state {
	ENTRY_UNKNOWN,			/* never written */
	ENTRY_ANY,			/* a branch of whose entry nothing is stated */
	ENTRY_CLEARED,			/* by a write of the depth */
	ENTRY_REMOVED,			/* by a return */
	ENTRY_OLD,			/* as software wrote it: branch_old() of `step` */
	ENTRY_BRANCH,			/* of that step */
	ENTRY_HIDDEN,			/* the same, FROM all ones */
	/* Of an interrupt, whose number `step` is, and of the IRET from its handler: */
	ENTRY_INTERRUPT, ENTRY_INTERRUPT_HIDDEN, ENTRY_IRET, ENTRY_IRET_HIDDEN,
};

struct branch_entry {
	u8 state;			/* enum entry_state */
	u16 step;
};

/* Choices that the manual leaves open. A processor makes the same choice each time. */
enum branch_choice {
	/* A branch from a level that is let in to one that is kept out makes an entry. */
	CHOICE_LEAVES,
	/* In call-stack mode a call of the next instruction makes none. */
	CHOICE_CALL_OF_NEXT,
	/* In call-stack mode a return to elsewhere than after the newest call removes nothing. */
	CHOICE_OTHER_RETURN,
	/* The branch that overflows a counter, whose interrupt freezes, makes no entry. */
	CHOICE_LAST_BRANCH,
	CHOICES
};

/* Entries in a ring, as the legacy ones are: those of an age n are n before the top. */
struct branch_stack {
	unsigned top;
	u8 choices;			/* BIT(enum branch_choice) */
	struct branch_entry entry[ARCH_LBR_MAX_ENTRIES];
};

struct branch_paths {
	u64 select, control;		/* MSR_LBR_SELECT, IA32_LBR_CTL */
	unsigned depth;
	bool frozen;
	u8 met;				/* choices that have come up */
	unsigned paths;
	struct branch_stack path[1 << CHOICES];
	bool looked[DRAW_CLAIMS];	/* at what is decided once the entries are seen */
	/* By step: the reason why it isn't recorded. DRAW_CLAIMS: it is recorded, or it wasn't
	 * executed. */
	u8 kept_out[TRACE_STEPS];
};

/* The entry of an age, in a path. */
static inline struct branch_entry branch_entry_of(const struct branch_paths *b,
						  const struct branch_stack *stack, unsigned age)
{
	return stack->entry[(stack->top + b->depth - age % b->depth) % b->depth];
}

/* Its kind's claim. */
enum draw_claim branch_claim(enum lbr_kind kind);
/* Is it in call-stack mode? */
bool branch_calls_only(const struct oracle *o);

/* Registers of an entry. */
enum { BRANCH_FROM = 1, BRANCH_TO = 2, BRANCH_INFO = 4, BRANCH_WHOLE = 7 };

/*
 * Compare the registers of entry n (the number of its MSR) that were read with this path. Returns
 * the number of wrong registers. `tell`: report each.
 */
unsigned branch_compare(struct oracle *o, const struct branch_stack *stack, unsigned n,
			unsigned registers, const struct lbr_raw *got, bool tell);

#endif
