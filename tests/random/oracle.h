/* SPDX-License-Identifier: MIT */
/*
 * Computes the expected results of a drawn case: an executable reading of the manual, instruction
 * by instruction. Where the manual leaves a choice, a value is a range. Pure.
 */
#ifndef TESTS_RANDOM_ORACLE_H
#define TESTS_RANDOM_ORACLE_H

#include "tests/random/observation.h"
#include "tests/random/trace.h"

/* The claims that a case can break: each stands for one requirement, or a few, of the drawn
 * test. */
enum draw_claim {
	DRAW_CLAIM_INSTRUCTIONS, DRAW_CLAIM_BRANCHES, DRAW_CLAIM_CONDITIONAL, DRAW_CLAIM_CALLS,
	DRAW_CLAIM_RETURNS, DRAW_CLAIM_TAKEN, DRAW_CLAIM_LOADS, DRAW_CLAIM_STORES,
	DRAW_CLAIM_LOCKS, DRAW_CLAIM_SPLITS,
	DRAW_CLAIM_FIXED,		/* fixed counter 0 counts instructions */
	DRAW_CLAIM_RUNS,		/* a counter goes on from its value, a cycle counter too */
	DRAW_CLAIM_LEVEL,		/* OS and USR of a general-purpose counter */
	DRAW_CLAIM_FIXED_LEVEL,
	DRAW_CLAIM_OFF,			/* both enables */
	DRAW_CLAIM_FILTER,		/* CMASK that no cycle reaches */
	DRAW_CLAIM_WRITTEN,		/* a counter that is written while it counts */
	DRAW_CLAIM_OVERFLOW,		/* the status bit of a counter that wrapped */
	DRAW_CLAIM_OVERFLOW_FIXED,	/* ... of a fixed one */
	DRAW_CLAIM_NO_OVERFLOW,		/* ... that didn't */
	DRAW_CLAIM_CLEARED,		/* status bits that software cleared, and others */
	DRAW_CLAIM_RDPMC, DRAW_CLAIM_RDPMC_FIXED,
	DRAW_CLAIM_RDMSR,		/* of a counter */
	DRAW_CLAIM_REGISTER,		/* another register reads as it was written */
	DRAW_CLAIM_UPPER,		/* RAX and RDX, bits 63:32 */
	/* Writes that must be refused: of an event select, IA32_FIXED_CTR_CTRL, ... */
	DRAW_CLAIM_REFUSED_SELECT, DRAW_CLAIM_REFUSED_CONTROL, DRAW_CLAIM_REFUSED_GLOBAL,
	DRAW_CLAIM_REFUSED_CLEAR, DRAW_CLAIM_REFUSED_GP, DRAW_CLAIM_REFUSED_FIXED,
	DRAW_CLAIM_REFUSED_RDPMC, DRAW_CLAIM_REFUSED_FAST, DRAW_CLAIM_REFUSED_RDMSR,
	DRAW_CLAIM_REFUSED_ENABLE, DRAW_CLAIM_REFUSED_AREA,
	DRAW_CLAIM_REFUSED_INDEX, DRAW_CLAIM_REFUSED_CONFIG,	/* architectural PEBS */
	/* Interrupts */
	DRAW_CLAIM_PMI_GP, DRAW_CLAIM_PMI_FIXED, DRAW_CLAIM_PMI_NONE, DRAW_CLAIM_PMI_STATUS,
	DRAW_CLAIM_PMI_MASK, DRAW_CLAIM_PMI_MODE, DRAW_CLAIM_FREEZE, DRAW_CLAIM_FREEZE_KEPT,
	/* PEBS */
	DRAW_CLAIM_NO_RECORD,		/* one without an arm */
	DRAW_CLAIM_RECORD,		/* one is missing */
	DRAW_CLAIM_EVENT,		/* by another instruction than one with the event */
	DRAW_CLAIM_PDIR,
	DRAW_CLAIM_RIP, DRAW_CLAIM_REGISTERS, DRAW_CLAIM_FLAGS, DRAW_CLAIM_RSP,
	DRAW_CLAIM_IMAGE,		/* of the status */
	DRAW_CLAIM_GROUPS, DRAW_CLAIM_SIZE,	/* of an adaptive record */
	DRAW_CLAIM_APPLICABLE, DRAW_CLAIM_TSC, DRAW_CLAIM_TX, DRAW_CLAIM_VECTORS,
	DRAW_CLAIM_ENTRIES, DRAW_CLAIM_VALUES,
	DRAW_CLAIM_ADDRESS, DRAW_CLAIM_SOURCE, DRAW_CLAIM_LATENCY,
	DRAW_CLAIM_INDEX, DRAW_CLAIM_OUTSIDE, DRAW_CLAIM_AREA, DRAW_CLAIM_FULL, DRAW_CLAIM_RELOAD,
	DRAW_CLAIM_THRESHOLD,		/* its interrupt */
	DRAW_CLAIM_OVF_BUF, DRAW_CLAIM_NO_OVF_BUF,
	/* Architectural PEBS */
	DRAW_CLAIM_MODE, DRAW_CLAIM_RESERVED, DRAW_CLAIM_XSTATE,
	DRAW_CLAIM_THRESHOLD_BIT,	/* of the status */
	DRAW_CLAIM_BEYOND,		/* the buffer's end */
	/* Last branch records */
	DRAW_CLAIM_LBR_TOP,		/* how many were recorded, and where the newest is */
	DRAW_CLAIM_LBR_FROM, DRAW_CLAIM_LBR_TO,
	DRAW_CLAIM_LBR_NOT_TAKEN,	/* a branch that isn't taken */
	DRAW_CLAIM_LBR_OFF,		/* one while recording was off */
	DRAW_CLAIM_LBR_FROZEN,		/* ... or frozen */
	DRAW_CLAIM_LBR_LEVEL,
	DRAW_CLAIM_LBR_HIDDEN,		/* FROM of one from a level that is kept out */
	DRAW_CLAIM_LBR_CONDITIONAL, DRAW_CLAIM_LBR_CALLS, DRAW_CLAIM_LBR_RETURNS,
	DRAW_CLAIM_LBR_JUMPS, DRAW_CLAIM_LBR_FAR,	/* a kind let in or kept out */
	DRAW_CLAIM_LBR_INTERRUPT,	/* one, and the IRET from its handler */
	DRAW_CLAIM_LBR_STACK,		/* call-stack mode */
	DRAW_CLAIM_LBR_REMOVED,		/* the entry that a return removes */
	DRAW_CLAIM_LBR_OLD,		/* what was there before */
	DRAW_CLAIM_LBR_CLEARED,		/* by a write of the depth */
	DRAW_CLAIM_LBR_TYPE,
	DRAW_CLAIM_LBR_INFO,		/* flags of transactions outside of one */
	DRAW_CLAIMS
};


#define DRAW_WRONG	6		/* kept of one case */

struct draw_wrong {
	enum draw_claim claim;
	u64 least, most, got;		/* most - least is the room, modulo 2^64 */
	const char *what;		/* a format of one number */
	u64 number;
};

struct draw_verdict {
	unsigned wrongs;
	struct draw_wrong wrong[DRAW_WRONG];
	bool looked[DRAW_CLAIMS];	/* at that */
	bool vague;			/* the manual doesn't tell how the case ends */
	/* Fixed counters 1 and 2, by number: those that were on, those that hold another value. */
	u32 cycles_on, cycles_moved;
};

/* trace is that of the program, from trace_make(). */
void oracle_judge(const struct draw_env *env, const struct draw_case *c, const struct trace *trace,
		  const struct draw_observation *seen, struct draw_verdict *verdict);

/* "instructions", ... */
const char *oracle_claim_name(enum draw_claim claim);

#endif
