/* SPDX-License-Identifier: MIT */
/*
 * Other processors that run C of ours, with interrupts off: two threads of a core that count at the
 * same time, and two processors that stop each other by INITs. After init_storm_open().
 */
#ifndef REFPMU_SELFTEST_SECOND_H
#define REFPMU_SELFTEST_SECOND_H

#include "spec/types.h"

/* Start the processor number `which` of init_storm.h, below SECOND_STACKS, with a stack of its own.
 * The next one only when it has come, and init_storm_send_init() when it isn't needed any more. */
#define SECOND_STACKS	4
void second_start(unsigned which, void (*entry)(void *), void *argument);

/* Is there another thread of this processor's core (its APIC id differs in the lowest bit)? */
bool second_has_sibling(void);

/* Locked loads of both threads at once: what each counts, alone and with AnyThread, first while
 * both have counters on, then with the other one unobserved till AnyThread is switched on. NULL, or
 * what was wrong. */
const char *second_counts(void);

/* Are there two others? They send INITs to each other, begun anew `times` times; afterwards each
 * starts as ever. */
bool second_has_two(void);
const char *second_init_race(unsigned times);

#endif
