/* SPDX-License-Identifier: MIT */
/* Name patterns, compared with the C library's fnmatch for the patterns that both support. */
#include "host/check.h"
#include "host/random.h"

#include <fnmatch.h>

#include "tests/frame/glob.h"
#include "tests/frame/old_names.h"

static void documented_examples_hold(void)
{
	CHECK(glob_match(NULL, "pmi.one"));
	CHECK(glob_match("", "pmi.one"));
	CHECK(glob_match("*", "pmi.one"));
	CHECK(glob_match("*", ""));
	CHECK(glob_match("pmi.*", "pmi.one"));
	CHECK(!glob_match("pmi", "pmi.one"), "the whole text must match");
	CHECK(!glob_match("?", ""));
	CHECK(glob_match("pmi.???", "pmi.one"));
	CHECK(!glob_match("pmi.??", "pmi.one"));
	CHECK(glob_match("cnt.*,pmi.*", "pmi.one"));
	CHECK(glob_match("cnt.*,pmi.*", "cnt.x"));
	CHECK(!glob_match("cnt.*,pmi.*", "rec.x"));
	CHECK(!glob_match("cnt.*,pmi.*", "cnt.x,pmi.y") || glob_match("cnt.*", "cnt.x,pmi.y"));
}

static void random_patterns_match_as_fnmatch_does(void)
{
	struct random random = { 5 };
	unsigned matched = 0;

	for (unsigned i = 0; i < 20000; i++) {
		char pattern[12], text[12];
		size_t p = random_next(&random) % 11 + 1, n = random_next(&random) % 11;
		bool want;

		for (size_t k = 0; k < p; k++)
			pattern[k] = "ab.*?"[random_next(&random) % 5];
		pattern[p] = '\0';
		for (size_t k = 0; k < n; k++)
			text[k] = "ab."[random_next(&random) % 3];
		text[n] = '\0';
		want = fnmatch(pattern, text, 0) == 0;
		matched += want;
		CHECK_EQ(want, glob_match(pattern, text), "\"%s\" on \"%s\"", pattern, text);
	}
	CHECK(matched > 500, "%u", matched);
}

static void a_comma_means_or(void)
{
	struct random random = { 6 };

	for (unsigned i = 0; i < 5000; i++) {
		char a[6], b[6], both[16], text[8];
		size_t n = random_next(&random) % 6;

		for (size_t k = 0; k < sizeof(a) - 1; k++) {
			a[k] = "ab*?"[random_next(&random) % 4];
			b[k] = "ab*?"[random_next(&random) % 4];
		}
		a[random_next(&random) % 5 + 1] = '\0';
		b[random_next(&random) % 5 + 1] = '\0';
		for (size_t k = 0; k < n; k++)
			text[k] = "ab"[random_next(&random) % 2];
		text[n] = '\0';
		snprintf(both, sizeof(both), "%s,%s", a, b);
		CHECK_EQ(glob_match(a, text) || glob_match(b, text), glob_match(both, text),
			 "%s on \"%s\"", both, text);
	}
}

/* The patterns of a list one after the other, as in glob_match(). */
static void patterns_are_walked_one_by_one(void)
{
	const char *pattern = "cnt.*,pmi.?";

	CHECK(glob_match_first(pattern, "cnt.x"));
	CHECK(!glob_match_first(pattern, "pmi.x"), "it is the second one's");
	pattern = glob_next(pattern);
	CHECK(pattern && glob_match_first(pattern, "pmi.x"));
	CHECK(!glob_next(pattern));
}

static void old_names_are_found_by_the_new_one(void)
{
	unsigned rows = 0;

#define OLD_NAME(group, old, claim) \
	CHECK(old_name_matching(#group "." #old, #group, #claim)); \
	CHECK(!old_name_matching(#group "." #old, #group, "another")); \
	rows++;
#include "tests/frame/old_names.def"
	CHECK(rows || !old_name_matching("*", "pmi", "one"));
}

/* Many stars must not take exponential time. */
static void many_stars_are_quick(void)
{
	char text[400], pattern[] = "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b";

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK(!glob_match(pattern, text));
}

static void list_holds_whole_words(void)
{
	CHECK(glob_list_has("PRIO,REC,DS", "REC"));
	CHECK(glob_list_has("PRIO", "PRIO"));
	CHECK(glob_list_has("PRIO,REC-HSW", "REC-HSW"));
	CHECK(!glob_list_has("PRIO,REC-HSW", "REC"));
	CHECK(!glob_list_has("PRIO,REC", "REC-HSW"));
	CHECK(!glob_list_has("PRIO", "PRI"));
	CHECK(!glob_list_has("", "PRIO"));
	CHECK(!glob_list_has(NULL, "PRIO"));
}

static void a_name_is_asked_for_by_its_letters(void)
{
	CHECK(glob_names("deadly.*", "deadly.a_hang", "deadly."));
	CHECK(glob_names("pmi.*,deadly.a_?ang", "deadly.a_hang", "deadly."));
	CHECK(!glob_names("*", "deadly.a_hang", "deadly."));
	CHECK(!glob_names("d*", "deadly.a_hang", "deadly."));
	CHECK(!glob_names("*,deadly.b*", "deadly.a_hang", "deadly."));
	CHECK(!glob_names("", "deadly.a_hang", "deadly."));
	CHECK(!glob_names(NULL, "deadly.a_hang", "deadly."));
}

int main(void)
{
	RUN(a_name_is_asked_for_by_its_letters);
	RUN(documented_examples_hold);
	RUN(random_patterns_match_as_fnmatch_does);
	RUN(a_comma_means_or);
	RUN(patterns_are_walked_one_by_one);
	RUN(old_names_are_found_by_the_new_one);
	RUN(many_stars_are_quick);
	RUN(list_holds_whole_words);
	return check_end();
}
