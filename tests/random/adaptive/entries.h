/* SPDX-License-Identifier: MIT */
/* Last branch records that don't change while drawn programs run, for the LBR group of adaptive
 * records. For the calling processor. */
#ifndef TESTS_RANDOM_ENTRIES_H
#define TESTS_RANDOM_ENTRIES_H

#include "tests/random/observation.h"

/* Their number; 0: there are none, or they can't be kept unchanged. */
unsigned entries_most(void);
/* Records some branches and returns all entries, the newest first; unused ones are 0. Recording is
 * off afterwards. */
void entries_hold(struct draw_entry entry[DRAW_ENTRIES]);
/* Switch recording on with every branch filtered out; switch it off. */
void entries_keep(void);
void entries_stop(void);
void entries_release(void);

#endif
