/* SPDX-License-Identifier: MIT */
/* A run of the tests. Between groups the machine is given back and the results are saved. */
#ifndef BOOT_RUN_H
#define BOOT_RUN_H

#include "boot/config.h"
#include "boot/screen/progress.h"
#include "spec/types.h"

/* While the firmware has the machine. soak: the number of the run; before: the exit status of the
 * earlier batches; exerciser: address of its register page, 0: none. Returns the run's exit status:
 * 0, 1 or 2. */
int run_tests(const struct config *config, const struct soak *soak, int before, u64 exerciser);

/* The batch of processors in which a reset interrupted this run, and the exit status of the batches
 * before it; 0: the run begins anew. */
unsigned run_cut_batch(const struct config *config, const struct soak *soak, int *before);

#endif
