/* SPDX-License-Identifier: MIT */
/*
 * While the counters count only CPL 3, and nothing else observes CPL 0, code at CPL 0 runs
 * natively. The hypervisor notices when it reaches CPL 3: the processor uses a copy of the guest's
 * top-level page table, in which every entry that permits CPL 3 forbids execution. If RIP is below
 * such an entry, the table at the next level is copied in the same way. So the first fetch at CPL 3
 * faults, before its instruction. Loads, stores, and code at CPL 0 below the other entries behave
 * as with the guest's own tables.
 *
 * The copies are updated before each run. During a run the guest may add an entry to its own
 * tables: an access that needs the entry faults first. To remove an entry the guest needs MOV to
 * CR3, INVLPG or a similar instruction, which exit.
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

/* May the code at RIP run in this way? The caller must check model_bulk_ignores() too. */
bool user_only_fits(struct cpu *cpu);

/* Run from RIP on, until CPL 3 or an instruction that the engine must carry out. */
void user_only_run(struct cpu *cpu);

#endif
