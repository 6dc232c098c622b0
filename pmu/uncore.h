/* SPDX-License-Identifier: MIT */
/*
 * The uncore's counters of Nehalem and Westmere: SDM "Performance Monitoring Facility in the
 * Uncore". One set for the package: whatever its other cores do is counted as well. A counter is
 * named by its bit in MSR_UNCORE_PERF_GLOBAL_CTRL. CPL 0, on a processor that has them.
 */
#ifndef PMU_UNCORE_H
#define PMU_UNCORE_H

#include "spec/types.h"

#define UNCORE_COUNTERS	8u
#define UNCORE_FIXED	32u	/* counts the uncore's clock */
#define UNCORE_WIDTH	48u

/* Is it there? Reading one of its registers raises no exception. */
bool uncore_present(void);

/* Everything off and zero. false: the processor refused a write. */
bool uncore_reset(void);

/* Program and enable locally, with the PMI enable or without; the fixed counter has its event. */
void uncore_program(unsigned counter, u16 event, bool pmi);
/* The same without the local enable. */
void uncore_program_disabled(unsigned counter);

void uncore_write(unsigned counter, u64 value);		/* 48 bits */
/* Make it overflow on the nth event from now. */
void uncore_preset(unsigned counter, u64 n);
u64 uncore_read(unsigned counter);

/* MSR_UNCORE_PERF_GLOBAL_CTRL, _STATUS and _OVF_CTRL. */
void uncore_enable(u64 control);
u64 uncore_status(void);
void uncore_clear(u64 status);

#endif
