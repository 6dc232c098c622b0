/* SPDX-License-Identifier: MIT */
/*
 * State that the logical processors of a core share. Each has its own struct model; one struct
 * model_core connects the two. Source: "Architectural Performance Monitoring Version 3" (AnyThread:
 * a counter of one processor also counts events of the other).
 *
 * The two retire instructions at the same time. One changes the other's model only between
 * model_core_enter() and model_core_leave(). These hold the lock of the core while such a change is
 * possible. During that time the host must see every instruction of both: see
 * model_core_needs_sibling().
 *
 * Not handled: with AnyThread, the load latency event and MSR_OFFCORE_RSP_x of one processor for
 * long REP strings of the other. With AnyThread, cycles in which both run count twice.
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
 * Do instructions of the sibling change this processor's model? The host asks this after
 * model_wrmsr(). If so, this processor mustn't continue until each instruction of the sibling is
 * reported to model_retire() at once. Meanwhile the sibling's model_needs_retire() is true and its
 * model_bulk_possible() is false.
 */
bool model_core_needs_sibling(const struct model *m);

/* The same for all other processors: true only with some faults. */
bool model_core_needs_others(const struct model *m);

/* Do this processor's instructions change the sibling's model? Part of model_needs_retire(). */
bool model_core_is_watched(const struct model *m);

/* ---- for refpmu/model/ ---- */

/* From model_init(), when the model is complete. */
void model_core_join(struct model *m);
/* From model_configure(): do counters of this processor count events of the other one? */
void model_core_watch(struct model *m, bool watch);
/* The other processor of the core, or NULL. Valid only between enter and leave. */
struct model *model_core_sibling(const struct model *m);
/* The processors whose AnyThread counters count this processor's events: the sibling and, with a
 * fault, processors of other cores. Begin with *next = 0; NULL after the last. Valid only between
 * enter and leave. */
struct model *model_core_other(const struct model *m, unsigned *next);
/* Is no model changed by another processor? Then many instructions may retire at once. */
bool model_core_is_quiet(const struct model *m);

/* true: the lock is held, the sibling's model may be used; false: it isn't needed. */
bool model_core_enter(struct model *m);
void model_core_leave(struct model *m, bool entered);

/* m has changed the model `to`, perhaps its own: make that processor look at it soon. */
void model_core_kick(struct model *m, struct model *to);

#endif
