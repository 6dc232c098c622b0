/* SPDX-License-Identifier: MIT */
/* Last branch records that stay as they are while drawn programs run, for the LBR group of adaptive
 * records. Of the processor that calls. */
#ifndef TESTS_RANDOM_ENTRIES_H
#define TESTS_RANDOM_ENTRIES_H

#include "tests/random/observation.h"

/* How many; 0: there are none, or none that can be held. */
unsigned entries_most(void);
/* Records some branches, and tells what all entries are, the newest first; the others are 0.
 * Recording is off afterwards. */
void entries_hold(struct draw_entry entry[DRAW_ENTRIES]);
/* Recording on, and every branch kept out; and off. */
void entries_keep(void);
void entries_stop(void);
void entries_release(void);

#endif
