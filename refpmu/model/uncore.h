/* SPDX-License-Identifier: MIT */
/*
 * The uncore of Nehalem and Westmere, which the processors of a package share. Each has a struct
 * model of its own, and retires at the same time as others: what is in struct model_uncore is
 * changed under its lock, after the core's where both are held.
 */
#ifndef REFPMU_MODEL_UNCORE_H
#define REFPMU_MODEL_UNCORE_H

#include "refpmu/model/model.h"

/*
 * A new configuration begins: no processor belongs to it until model_init() of its model. For the
 * host, which holds the lock.
 */
void model_uncore_reset(struct model_uncore *uncore);

/*
 * Does what other processors retire change what this one reads of the uncore? Asked by the host as
 * model_core_needs_sibling() is; then it is about all processors, whose model_needs_retire() is
 * true and whose model_bulk_possible() is false.
 */
bool model_uncore_needs_others(const struct model *m);

/* ---- for refpmu/model/ ---- */

/*
 * From model_init() of a processor that has an uncore. dirty: with what a firmware may leave:
 * programmed counters of any value, all of them off.
 */
void model_uncore_join(struct model *m, bool dirty);

#endif
