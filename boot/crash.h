/* SPDX-License-Identifier: MIT */
/* Ways in which a test can crash or hang, each with the report that guard_run() must give. */
#ifndef BOOT_CRASH_H
#define BOOT_CRASH_H

#include "spec/types.h"

/* Run every kind once, while the machine is borrowed. false: why says which one had another report,
 * or which state it left behind. */
bool crash_all(char *why, size_t size);

#endif
