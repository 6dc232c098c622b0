/* SPDX-License-Identifier: MIT */
/* Ways in which a test can go wrong, each with what guard_run() must say about it. */
#ifndef BOOT_CRASH_H
#define BOOT_CRASH_H

#include "spec/types.h"

/* Run every kind once, with the machine borrowed. false: why says which one ended otherwise, or
 * what was left over. */
bool crash_all(char *why, size_t size);

#endif
