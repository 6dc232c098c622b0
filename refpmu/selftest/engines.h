/* SPDX-License-Identifier: MIT */
/* Programs on all engines: nothing that a program can see may tell them apart. */
#ifndef REFPMU_SELFTEST_ENGINES_H
#define REFPMU_SELFTEST_ENGINES_H

#include "refpmu/engine/engine_name.h"
#include "refpmu/vmm/statistics.h"

/*
 * That many random programs from a seed on, every fourth compiled C instead; each is interrupted
 * after some random instruction. On the first `processors` ones at once (init_storm.h has the
 * others), each with the next seed, and counters, overflows and records of its own. Returns how
 * many differ, and prints what differs first; all of them if too few were interrupted to mean
 * anything, or a processor doesn't come. Leaves the fastest engine on.
 */
u64 engines_compare(u64 first, u64 programs, unsigned processors);

/* Choose it: ENGINE_FAST, or ENGINE_DIRECT where there is no translator. */
enum engine_name engines_fastest(void);

/* Of everything so far: a comparison makes each processor anew, with statistics of its own. */
void engines_statistics(struct statistics *total);

/* Prints how many million instructions a second each engine counts. */
void engines_speed(void);

#endif
