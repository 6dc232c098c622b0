/* SPDX-License-Identifier: MIT */
/*
 * The uncore's counters of Nehalem and Westmere: SDM "Performance Monitoring Facility in the
 * Uncore". There is one set for the package, so events of other cores are counted too. A counter is
 * named by its bit in MSR_UNCORE_PERF_GLOBAL_CTRL. CPL 0, on a processor that has them.
 */
#ifndef PMU_UNCORE_H
#define PMU_UNCORE_H

#include "spec/types.h"

#define UNCORE_COUNTERS	8u
#define UNCORE_FIXED	32u	/* counts the uncore's clock */
#define UNCORE_WIDTH	48u

/* Does it exist? Yes if reading one of its registers raises no exception. */
bool uncore_present(void);

/* Switch everything off and write 0. false: the processor refused a write. */
bool uncore_reset(void);

/* Program a counter with its local enable, with or without the PMI enable. The fixed counter
 * ignores event. */
void uncore_program(unsigned counter, u16 event, bool pmi);
/* The same without the local enable. */
void uncore_program_disabled(unsigned counter);

void uncore_write(unsigned counter, u64 value);		/* 48 bits */
/* Set the counter to overflow on the nth event from now. */
void uncore_preset(unsigned counter, u64 n);
u64 uncore_read(unsigned counter);

/* MSR_UNCORE_PERF_GLOBAL_CTRL, _STATUS and _OVF_CTRL. */
void uncore_enable(u64 control);
u64 uncore_status(void);
void uncore_clear(u64 status);

#endif
