/* SPDX-License-Identifier: MIT */
/*
 * Many instructions at once: for an engine that knows what a run of code does without looking
 * at each instruction of it. Part of the model's outside, like model.h: the outcome is the one of
 * as many calls of model_retire(), or the model says beforehand that it has to see each of them.
 */
#ifndef REFPMU_MODEL_BULK_H
#define REFPMU_MODEL_BULK_H

#include "refpmu/model/model.h"

/* More accesses of one kind than this, no instruction of a run has, but a REP string that is a
 * run by itself. */
#define MODEL_BULK_ACCESSES	4

/* What a run of retired instructions of one privilege level has done, in whatever order. */
struct model_events {
	u64 instructions;
	u64 loads, stores, locked_loads;
	u64 branches[BRANCH_FAR + 1];	/* by kind; [BRANCH_NONE] isn't looked at */
	/* Of the conditional ones; see model_bulk_needs_taken(). A branch that leads backward is
	 * mispredicted as often as it isn't taken, another one as often as it is. */
	u64 taken, mispredicted;
};

/* A near branch of a run that was taken, the last of so many of its instructions. */
struct model_taken {
	u64 instructions;
	u64 ip, next_ip, target;
	enum model_branch branch;
	bool indirect;
};

/*
 * May instructions of this privilege level retire many at once now? false: report the next one to
 * model_retire(). Either way, one that writes an MSR of the model is reported by itself.
 */
bool model_bulk_possible(const struct model *m, u8 cpl);

/*
 * Then: how many of them may retire in one run before something may happen that concerns a
 * single one (an overflow, an assist, an interrupt), whatever they are, if each has at most
 * `accesses` accesses of a kind.
 */
u64 model_bulk_budget(const struct model *m, u8 cpl, unsigned accesses);

/* Then: may just these retire, with at most that many taken and mispredicted branches? */
bool model_bulk_fits(const struct model *m, u8 cpl, const struct model_events *events);

/* Do model_events.taken and .mispredicted matter? While false they may be anything. Changes only in
 * model_wrmsr() and model_init(). */
bool model_bulk_needs_taken(const struct model *m);

/* Are branches of this level recorded? Then each that is taken is told by model_bulk_taken(), in
 * their order, before model_bulk_retire(). */
bool model_bulk_needs_branches(const struct model *m, u8 cpl);
void model_bulk_taken(struct model *m, u8 cpl, const struct model_taken *b);

/*
 * Then: need instructions of this level not be told at all, for as long as nothing else is? Only
 * the reference clock stands still meanwhile. model_bulk_ignore(): some retire now that aren't
 * told.
 */
bool model_bulk_ignores(const struct model *m, u8 cpl);
void model_bulk_ignore(struct model *m);

/* A run that fits has retired. */
void model_bulk_retire(struct model *m, u8 cpl, const struct model_events *events);

#endif
