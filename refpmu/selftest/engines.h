/* SPDX-License-Identifier: MIT */
/* Runs programs on all engines: a program must see the same on each. */
#ifndef REFPMU_SELFTEST_ENGINES_H
#define REFPMU_SELFTEST_ENGINES_H

#include "refpmu/engine/engine_name.h"
#include "refpmu/vmm/statistics.h"

/*
 * That many random programs from a seed on, every fourth compiled C instead; each is interrupted
 * after some random instruction. On the first `processors` ones at once (init_storm.h has the
 * others), each with the next seed, and counters, overflows and records of its own. Returns how
 * many programs differ, and prints the first difference. If too few programs were interrupted, or
 * if a processor doesn't start, all count as different. The fastest engine is on afterwards.
 */
u64 engines_compare(u64 first, u64 programs, unsigned processors);

/* Select the fastest engine: ENGINE_FAST, or ENGINE_DIRECT without a translator. */
enum engine_name engines_fastest(void);

/* The statistics of all comparisons so far: each comparison resets the processors and their
 * statistics. */
void engines_statistics(struct statistics *total);

/* Prints how many million instructions a second each engine counts. */
void engines_speed(void);

#endif
