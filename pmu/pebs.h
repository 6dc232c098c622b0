/* SPDX-License-Identifier: MIT */
/*
 * Processor Event Based Sampling: a counter that writes a record instead of an interrupt, or in
 * addition to it. The DS area must be open (pmu/ds.h) before counting starts. CPL 0.
 */
#ifndef PMU_PEBS_H
#define PMU_PEBS_H

#include "pmu/counter.h"
#include "pmu/ds.h"

/*
 * Program counter for event with flags (COUNT_*), make it overflow on the nth event, and set its
 * PEBS enable; other counters' enables stay. The workload writes the global enable. If baseline is
 * 1, the counter's records are adaptive, and the set-up of the DS area says what they contain.
 */
void pebs_arm(unsigned counter, u16 event, u64 flags, u64 n);

/* The same, but the records are adaptive only if flags have COUNT_ADAPTIVE. */
void pebs_arm_as(unsigned counter, u16 event, u64 flags, u64 n);

/*
 * Has the counter PDist? Its record is for the event on which it overflows; other counters record
 * the next event. With a period below PDIST_LEAST_PERIOD it may behave like other counters. Source:
 * intel/perfmon README.
 */
bool pebs_has_pdist(unsigned counter);
/* The same, or true if it isn't known: for a processor with adaptive records but without a row in
 * spec/generation.def. */
bool pebs_may_have_pdist(unsigned counter);
/* The first counter without it. */
unsigned pebs_first_without_pdist(void);

/* Clear the PEBS enable of every counter. */
void pebs_disarm(void);

/* Write IA32_PEBS_ENABLE and, if baseline is 1, set the Adaptive_Record bit of each of these
 * counters. */
void pebs_enable(struct pmc_mask counters);

/* A reset slot's contents that make the counter overflow on the nth event after the reload. */
u64 pebs_reset_value(unsigned counter, u64 n);

#endif
