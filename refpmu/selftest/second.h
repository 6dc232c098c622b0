/* SPDX-License-Identifier: MIT */
/*
 * Other processors that run our C functions, with interrupts off: two threads of a core that count
 * at the same time, and two processors that stop each other by INITs. After init_storm_open().
 */
#ifndef REFPMU_SELFTEST_SECOND_H
#define REFPMU_SELFTEST_SECOND_H

#include "spec/types.h"

/* Start the processor number `which` of init_storm.h, below SECOND_STACKS, with a stack of its own.
 * Start the next one only after this one has started. Call init_storm_send_init() when it isn't
 * needed any more. */
#define SECOND_STACKS	4
void second_start(unsigned which, void (*entry)(void *), void *argument);

/* Is there another thread of this processor's core (its APIC id differs in the lowest bit)? */
bool second_has_sibling(void);

/* Locked loads of both threads at once: check the counts of each, without and with AnyThread; first
 * while both have counters on, then while the other one runs unobserved until AnyThread is switched
 * on. NULL, or what was wrong. */
const char *second_counts(void);

/* Are there two other processors? second_init_race(): they send INITs to each other, `times` times;
 * afterwards each must start as usual. */
bool second_has_two(void);
const char *second_init_race(unsigned times);

#endif
