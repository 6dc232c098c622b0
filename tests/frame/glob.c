/* SPDX-License-Identifier: MIT */
/*
 * Wildcard matching for --tests and word lists for --require. The time for one pattern is linear,
 * except for '*': the search goes back only to the last '*', which is enough, so the time is never
 * exponential.
 */
#include "tests/frame/glob.h"

static bool pattern_ends(char c)
{
	return c == '\0' || c == ',';
}

/* One pattern, which ends at its terminator or at a comma. */
static bool match_one(const char *pattern, const char *text)
{
	const char *star = NULL, *resume = NULL;

	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			resume = text;
		} else if (*text && !pattern_ends(*pattern) &&
			   (*pattern == '?' || *pattern == *text)) {
			pattern++;
			text++;
		} else if (!*text && pattern_ends(*pattern)) {
			return true;
		} else if (star && *resume) {
			pattern = star;
			text = ++resume;
		} else {
			return false;
		}
	}
}

bool glob_match_first(const char *pattern, const char *text)
{
	return match_one(pattern, text);
}

const char *glob_next(const char *pattern)
{
	while (!pattern_ends(*pattern))
		pattern++;
	return *pattern ? pattern + 1 : NULL;
}

bool glob_match(const char *pattern, const char *text)
{
	if (!pattern || !*pattern)
		return true;
	for (; pattern; pattern = glob_next(pattern))
		if (match_one(pattern, text))
			return true;
	return false;
}

bool glob_names(const char *pattern, const char *text, const char *word)
{
	while (pattern && *pattern) {
		size_t n = 0;

		while (word[n] && pattern[n] == word[n])
			n++;
		if (!word[n] && match_one(pattern, text))
			return true;
		while (!pattern_ends(*pattern))
			pattern++;
		if (*pattern)
			pattern++;
	}
	return false;
}

bool glob_list_has(const char *list, const char *name)
{
	while (list && *list) {
		const char *word = list, *n = name;

		while (!pattern_ends(*list))
			list++;
		while (word < list && *n && *word == *n) {
			word++;
			n++;
		}
		if (word == list && !*n)
			return true;
		if (*list)
			list++;
	}
	return false;
}
