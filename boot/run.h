/* SPDX-License-Identifier: MIT */
/* A run of the tests, with the machine given back and the results saved between groups. */
#ifndef BOOT_RUN_H
#define BOOT_RUN_H

#include "boot/config.h"
#include "boot/screen/progress.h"
#include "spec/types.h"

/* With the machine given back; soak: which run it is; before: what the batches before it came to;
 * exerciser: of its register page, 0: none. Returns the run's exit status: 0, 1 or 2. */
int run_tests(const struct config *config, const struct soak *soak, int before, u64 exerciser);

/* The batch of processors in which a reset has cut this run, and what those before it came to; 0:
 * from the beginning. */
unsigned run_cut_batch(const struct config *config, const struct soak *soak, int *before);

#endif
