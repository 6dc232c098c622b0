/* SPDX-License-Identifier: MIT */
/*
 * The uncore of Nehalem and Westmere, which the processors of a package share. The processors run
 * at the same time, each with its own struct model. So struct model_uncore is changed only under
 * its lock. If the lock of the core is taken too, it is taken first.
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
 * Do instructions of other processors change what this processor reads from the uncore? The host
 * asks this like model_core_needs_sibling(), but the answer concerns all processors: their
 * model_needs_retire() is true and their model_bulk_possible() is false.
 */
bool model_uncore_needs_others(const struct model *m);

/* ---- for refpmu/model/ ---- */

/*
 * From model_init() of a processor that has an uncore. dirty: the uncore is as some firmware may
 * leave it: counters programmed, with any values, all of them off.
 */
void model_uncore_join(struct model *m, bool dirty);

#endif
