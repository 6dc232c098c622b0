/* SPDX-License-Identifier: MIT */
/*
 * The two PMUs below the interface of model.h. The architectural PMU of the Core microarchitecture
 * and its successors (counter.c, msr.c, pebs.c ...): each logical processor has its own counters.
 * NetBurst's PMU (netburst/): the counters belong to the core. Only pmu.c chooses between them.
 *
 * For refpmu/model/.
 */
#ifndef REFPMU_MODEL_PMU_H
#define REFPMU_MODEL_PMU_H

#include "refpmu/model/internal.h"

/* The registers after RESET. */
void pmu_reset(struct model *m);
/* The logical processor halts. */
void pmu_halt(struct model *m);
/* Do the logical processors of a core have one PMU, and does a counter of it count? */
bool pmu_is_shared(const struct model *m);
bool pmu_shared_counts(const struct model *m);

/* The architectural PMU; netburst/netburst.h has the same functions for NetBurst's. */
void arch_reset(struct model *m);
struct msr_result arch_rdmsr(struct model *m, u32 msr);
struct msr_result arch_wrmsr(struct model *m, u32 msr, u64 value);
struct msr_result arch_rdpmc(struct model *m, u32 ecx);
bool arch_watching(const struct model *m);
/* shared: the lock of its core is held, and counters of other processors may count this
 * instruction. */
void arch_retire(struct model *m, bool shared, const struct model_retired *r);

#endif
