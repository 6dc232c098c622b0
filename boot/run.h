/* SPDX-License-Identifier: MIT */
/* A run of the tests, with the machine given back and the results saved between groups. */
#ifndef BOOT_RUN_H
#define BOOT_RUN_H

#include "boot/config.h"
#include "boot/screen/progress.h"
#include "spec/types.h"

/* With the machine given back; soak: which run it is; exerciser: of its register page, 0: none.
 * Returns the run's exit status: 0, 1 or 2. */
int run_tests(const struct config *config, const struct soak *soak, u64 exerciser);

#endif
