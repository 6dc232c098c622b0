/* SPDX-License-Identifier: MIT */
/* Names of tests in the last release. Pure. */
#ifndef TESTS_FRAME_OLD_NAMES_H
#define TESTS_FRAME_OLD_NAMES_H

#include "spec/types.h"

/* An old name "group.claim" of the test with this group and claim that the first of the patterns
 * matches; NULL: none. */
const char *old_name_matching(const char *pattern, const char *group, const char *claim);

#endif
