/* SPDX-License-Identifier: MIT */
/*
 * Processor Event Based Sampling: a counter that writes a record instead of, or beside,
 * interrupting. The DS area must be open (pmu/ds.h) before counting starts. CPL 0.
 */
#ifndef PMU_PEBS_H
#define PMU_PEBS_H

#include "pmu/counter.h"
#include "pmu/ds.h"

/*
 * Program counter for event with flags (COUNT_*), make it overflow on the nth event, and set its
 * PEBS enable; other counters' enables stay. The global enable is left to the workload. Where
 * baseline is 1 the counter's records are adaptive, and what they hold is the DS area's set-up's.
 */
void pebs_arm(unsigned counter, u16 event, u64 flags, u64 n);

/* The same, and whether the records are adaptive is COUNT_ADAPTIVE's. */
void pebs_arm_as(unsigned counter, u16 event, u64 flags, u64 n);

/*
 * PDist: the counter's record is of the event on which it overflows, where others wait for the next
 * one. Nearer than PDIST_LEAST_PERIOD events it may be like them. intel/perfmon README.
 */
bool pebs_has_pdist(unsigned counter);
/* The same, or not known: of a processor without a row that has adaptive records. */
bool pebs_may_have_pdist(unsigned counter);
/* The first counter without it. */
unsigned pebs_first_without_pdist(void);

/* The PEBS enable of every counter off. */
void pebs_disarm(void);

/* IA32_PEBS_ENABLE, and where baseline is 1 the Adaptive_Record bit of each counter of it. */
void pebs_enable(struct pmc_mask counters);

/* A reset slot's contents that make the counter overflow on the nth event after the reload. */
u64 pebs_reset_value(unsigned counter, u64 n);

#endif
