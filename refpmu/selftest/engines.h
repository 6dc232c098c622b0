/* SPDX-License-Identifier: MIT */
/* Random programs on both engines: nothing that a program can see may tell them apart. */
#ifndef REFPMU_SELFTEST_ENGINES_H
#define REFPMU_SELFTEST_ENGINES_H

#include "spec/types.h"

/* So many programs; how many differ. Prints what differs first. Leaves the fast engine on. */
unsigned engines_compare(unsigned programs);

/* Prints how many million instructions a second each engine counts. */
void engines_speed(void);

#endif
