/* SPDX-License-Identifier: MIT */
/*
 * What the logical processors of a core have in common. Each has a struct model of its own; one
 * struct model_core ties the two together: "Architectural Performance Monitoring Version 3"
 * (AnyThread: a counter of one counts what the other one does, too).
 *
 * The two retire instructions at the same time. Whatever one does to the other's model happens
 * between model_core_enter() and _leave(), which hold the lock of the core while either could.
 * So the host has to see every instruction of both then: see model_core_needs_sibling().
 *
 * Not handled: the load latency event and MSR_OFFCORE_RSP_x of the one for long REP strings of the
 * other; cycles that both run in count twice with AnyThread.
 */
#ifndef REFPMU_MODEL_CORE_H
#define REFPMU_MODEL_CORE_H

#include "refpmu/model/model.h"

struct model_core {
	struct model *thread[CORE_THREADS];	/* NULL: not there, or of an older configuration */
	u64 watchers;	/* bit t: counters of thread t count what the other one does */
	u32 lock;	/* the host's: see model_host.lock; 0: it is free */
};

/*
 * A new configuration begins: no thread belongs to the core until model_init() of its model. For
 * the host, which holds the lock.
 */
void model_core_reset(struct model_core *core);

/*
 * Does what the sibling retires change this processor's model? Asked by the host after
 * model_wrmsr(): if so, it must not go on before all that the sibling retires is reported to
 * model_retire(), one by one and at once. The sibling's model_needs_retire() is true until then,
 * its model_bulk_possible() false.
 */
bool model_core_needs_sibling(const struct model *m);

/* The same about all other processors: true for processors with some faults only. */
bool model_core_needs_others(const struct model *m);

/* Does what this processor retires change the sibling's model? Part of model_needs_retire(). */
bool model_core_is_watched(const struct model *m);

/* ---- for refpmu/model/ ---- */

/* From model_init(), when the model is complete. */
void model_core_join(struct model *m);
/* From model_configure(): do counters of this processor count what the other one does? */
void model_core_watch(struct model *m, bool watch);
/* The other one of the core, or NULL. Stays valid between enter and leave only. */
struct model *model_core_sibling(const struct model *m);
/* Whose AnyThread counters count what this processor does: the sibling, and with a fault those of
 * other cores. Begin with *next = 0; NULL after the last. As above. */
struct model *model_core_other(const struct model *m, unsigned *next);
/* Is no model touched by another processor? Then many instructions may retire at once. */
bool model_core_is_quiet(const struct model *m);

/* true: the lock is held, the sibling's model may be used; false: it isn't needed. */
bool model_core_enter(struct model *m);
void model_core_leave(struct model *m, bool entered);

/* m has done something to the model `to`, perhaps its own: have that processor look at it soon. */
void model_core_kick(struct model *m, struct model *to);

#endif
