/* SPDX-License-Identifier: MIT */
/* Facts of a made-up processor, for drawing and the oracle (tests/random). */
#ifndef HOST_RANDOM_ENV_H
#define HOST_RANDOM_ENV_H

#include "tests/random/draw.h"
#include "tests/random/oracle.h"

/* With four counters of 48 bits and three fixed ones, PEBS of format 2, judged strictly;
 * last branch records of format 5. */
struct draw_env random_env(void);
/* The same with adaptive records, of format 6. */
struct draw_env random_env_adaptive(void);
/* The same with architectural last branch records. */
struct draw_env random_env_architectural(void);

#endif
