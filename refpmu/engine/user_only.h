/* SPDX-License-Identifier: MIT */
/*
 * While the counters count CPL 3 alone, and nothing else observes CPL 0, code of CPL 0 runs
 * natively. It can't reach CPL 3 unnoticed: the processor has a copy of the guest's top-level page
 * table in which every entry that lets CPL 3 in forbids execution; where that is the entry of RIP,
 * the table below it has such a copy. So the first fetch at CPL 3 faults, before its instruction.
 * Loads and stores, and code of CPL 0 in the other entries, are as the guest has them.
 *
 * The copies are renewed with each run. In a run the guest's own tables may get an entry: what
 * needs it faults here first. An entry that is taken away needs MOV to CR3, INVLPG or the like,
 * which exit.
 */
#ifndef REFPMU_ENGINE_USER_ONLY_H
#define REFPMU_ENGINE_USER_ONLY_H

#include "refpmu/hv/cpu.h"

struct user_only_table {
	u64 *guests, *shown;		/* the guest's own, or NULL; the copy */
	unsigned except;		/* this entry is another one: */
	u64 instead;
};

struct user_only {
	struct user_only_table top, lower;	/* top.shown is NULL: not on this machine */
	u64 physical;			/* where the guest's processor finds the copies */
	u64 nested_cr3;			/* of the tables that show them */
};

/* Once per processor, before its first VMRUN. */
void user_only_init(struct cpu *cpu);

/* May the code at RIP run so? model_bulk_ignores() is for the caller to ask, too. */
bool user_only_fits(struct cpu *cpu);

/* From RIP on until CPL 3, or an instruction that is for the engine. */
void user_only_run(struct cpu *cpu);

#endif
