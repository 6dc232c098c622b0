/* SPDX-License-Identifier: MIT */
/* Patterns for test names. Pure. */
#ifndef TESTS_FRAME_GLOB_H
#define TESTS_FRAME_GLOB_H

#include "spec/types.h"

/*
 * Does text match pattern as a whole? '*' stands for any run of characters, '?' for one; a
 * comma separates patterns of which one must match. NULL and "" match everything.
 */
bool glob_match(const char *pattern, const char *text);

/* glob_match_first(): the same with only the first of the patterns. The next function returns the
 * patterns after it; NULL: none. */
bool glob_match_first(const char *pattern, const char *text);
const char *glob_next(const char *pattern);

/* Does one of the patterns that matches begin with this word, letter by letter? */
bool glob_names(const char *pattern, const char *text, const char *word);

/* Is name one of the comma separated words of list? NULL is an empty list. */
bool glob_list_has(const char *list, const char *name);

#endif
