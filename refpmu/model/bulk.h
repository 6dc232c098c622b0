/* SPDX-License-Identifier: MIT */
/*
 * Many instructions at once: for an engine that knows the number of events of a run of code without
 * looking at each instruction. This is part of the model's interface, like model.h. The result is
 * the same as that of one call of model_retire() for each instruction. If that isn't possible, the
 * model says beforehand that it must see each instruction.
 */
#ifndef REFPMU_MODEL_BULK_H
#define REFPMU_MODEL_BULK_H

#include "refpmu/model/model.h"

/* The most accesses of one kind that an instruction of a run may have; except a REP string
 * instruction, which is a run by itself. */
#define MODEL_BULK_ACCESSES	4

/* The events of a run of retired instructions at one privilege level, in any order. */
struct model_events {
	u64 instructions;
	u64 loads, stores, locked_loads;
	u64 loading, storing, locking;	/* instructions with at least one of these */
	u64 branches[BRANCH_FAR + 1];	/* by kind; [BRANCH_NONE] isn't looked at */
	/* Of conditional branches; see model_bulk_needs_taken(). A backward branch is mispredicted
	 * each time that it isn't taken, a forward branch each time that it is taken. */
	u64 taken, mispredicted;
};

/* A taken near branch of a run, and the number of the run's instructions up to it. */
struct model_taken {
	u64 instructions;
	u64 ip, next_ip, target;
	enum model_branch branch;
	bool indirect;
};

/*
 * May many instructions at this privilege level retire at once now? false: report the next one to
 * model_retire(). In both cases an instruction that writes an MSR of the model is reported by
 * itself.
 */
bool model_bulk_possible(const struct model *m, u8 cpl);

/*
 * After true: how many of them may retire in one run before an event that belongs to a single
 * instruction (an overflow, an assist, an interrupt)? The number is valid for any instructions with
 * at most `accesses` accesses of a kind.
 */
u64 model_bulk_budget(const struct model *m, u8 cpl, unsigned accesses);

/* After true: may these instructions retire, with at most that many taken and mispredicted
 * branches? */
bool model_bulk_fits(const struct model *m, u8 cpl, const struct model_events *events);

/* Do model_events.taken and .mispredicted matter? If not, they may have any value. Changes only in
 * model_wrmsr() and model_init(). */
bool model_bulk_needs_taken(const struct model *m);

/* Are branches at this level recorded? If so, report each taken branch by model_bulk_taken(), in
 * their order, before model_bulk_retire(). */
bool model_bulk_needs_branches(const struct model *m, u8 cpl);
void model_bulk_taken(struct model *m, u8 cpl, const struct model_taken *b);

/*
 * May instructions at this level retire without any report, as long as nothing else is reported?
 * Only the reference clock then stands still. Call model_bulk_ignore() when such instructions
 * retire.
 */
bool model_bulk_ignores(const struct model *m, u8 cpl);
void model_bulk_ignore(struct model *m);

/* Report a run for which model_bulk_fits() is true. */
void model_bulk_retire(struct model *m, u8 cpl, const struct model_events *events);

#endif
