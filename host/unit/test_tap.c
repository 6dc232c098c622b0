/* SPDX-License-Identifier: MIT */
/* The TAP 14 writer: the format of its lines, and that no text can forge a line or a directive. */
#include "host/check.h"
#include "host/random.h"

#include "kernel/output/tap.h"

static char lines[64][1200];
static unsigned n_lines;

static void keep(void *ctx, const char *line)
{
	CHECK_EQ((uintptr_t)&n_lines, (uintptr_t)ctx, "the sink's context");
	if (n_lines < 64)
		snprintf(lines[n_lines++], sizeof(lines[0]), "%s", line);
}

static struct tap fresh(void)
{
	n_lines = 0;
	return (struct tap){ .sink = keep, .ctx = &n_lines };
}

static void a_run_looks_like_tap_14(void)
{
	struct tap tap = fresh();

	tap_begin(&tap);
	tap_plan(&tap, 3);
	tap_point(&tap, true, "pmi.one", NULL);
	tap_point(&tap, false, "pmi.two", NULL);
	tap_point(&tap, true, "pmi.three", "SKIP no counters");
	tap_comment(&tap, "%u of %u", 1, 3u);
	CHECK_EQ(6, n_lines);
	CHECK_STR("TAP version 14", lines[0]);
	CHECK_STR("1..3", lines[1]);
	CHECK_STR("ok 1 - pmi.one", lines[2]);
	CHECK_STR("not ok 2 - pmi.two", lines[3]);
	CHECK_STR("ok 3 - pmi.three # SKIP no counters", lines[4]);
	CHECK_STR("# 1 of 3", lines[5]);
	CHECK_EQ(3, tap.points);
}

/* "\" and "#" in a description are escaped: TAP 14 "Test Point", "Escaping". */
static void a_name_is_no_directive(void)
{
	struct tap tap = fresh();

	tap_begin(&tap);
	tap_point(&tap, true, "a # SKIP b \\ c", NULL);
	CHECK_STR("ok 1 - a \\# SKIP b \\\\ c", lines[1]);
}

static void yaml_block_is_indented_and_delimited(void)
{
	struct tap tap = fresh();

	tap_begin(&tap);
	tap_yaml_begin(&tap);
	tap_yaml_entry(&tap, "requirement", "PMI-01");
	tap_yaml_entry(&tap, "got", "a: b");
	tap_yaml_end(&tap);
	CHECK_STR("  ---", lines[1]);
	CHECK_STR("  requirement: PMI-01", lines[2]);
	CHECK_STR("  got: \"a: b\"", lines[3]);
	CHECK_STR("  ...", lines[4]);
}

/*
 * The value as a YAML reader understands it: plain text unchanged, double quotes with the escapes
 * undone. Only the escapes that the writer may use are allowed.
 */
static bool yaml_value(const char *line, char *value, size_t size)
{
	const char *at = strstr(line, ": ");
	size_t n = 0;

	if (!at)
		return false;
	at += 2;
	if (*at != '"') {
		snprintf(value, size, "%s", at);
		return true;
	}
	for (at++; *at && *at != '"' && n + 1 < size; at++) {
		if (*at == '\\') {
			at++;
			if (*at != '"' && *at != '\\' && *at != 'n')
				return false;
			value[n++] = *at == 'n' ? '\n' : *at;
		} else {
			value[n++] = *at;
		}
	}
	value[n] = '\0';
	return at[0] == '"' && at[1] == '\0';
}

static void any_value_survives_yaml(void)
{
	static const char alphabet[] = "abc019 :#\"'\\-?[]{}&*!|>%@`,~=\n";
	struct random random = { 99 };

	for (unsigned i = 0; i < 2000; i++) {
		struct tap tap = fresh();
		char text[24], back[64];
		size_t length = random_next(&random) % sizeof(text);

		for (size_t k = 0; k < length; k++)
			text[k] = alphabet[random_next(&random) % (sizeof(alphabet) - 1)];
		text[length ? length - 1 : 0] = '\0';
		tap_yaml_entry(&tap, "got", text);
		CHECK_EQ(1, n_lines, "one line for \"%s\"", text);
		if (CHECK(yaml_value(lines[0], back, sizeof(back)), "%s", lines[0]))
			CHECK_STR(text, back);
	}
}

/* Words that YAML doesn't read as text must be quoted. */
static void plain_values_begin_like_words(void)
{
	static const char *const values[] = {
		"", "- a", "[a]", "{a}", "*a", "&a", "!a", "@a", "`a", "%a", "\"a\"", "'a'", "a: b",
		"a #b", " a", "a ", "?a",
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct tap tap = fresh();

		tap_yaml_entry(&tap, "k", values[i]);
		CHECK(!strncmp(lines[0], "  k: \"", 6), "%s", lines[0]);
	}
}

static void control_characters_never_reach_the_sink(void)
{
	struct tap tap = fresh();

	tap_begin(&tap);
	tap_point(&tap, true, "a\nnot ok 2 - forged", "SKIP b\rc\x1b[0m");
	tap_comment(&tap, "one\ntwo\tthree");
	tap_yaml_entry(&tap, "k", "x\ny\x01z");
	CHECK_EQ(4, n_lines);
	for (unsigned i = 0; i < n_lines; i++)
		for (const char *c = lines[i]; *c; c++)
			CHECK((unsigned char)*c >= ' ' && *c != 0x7f, "line %u", i);
}

static void long_text_is_cut_and_not_split(void)
{
	struct tap tap = fresh();
	char text[5000];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	tap_point(&tap, true, text, "SKIP x");
	tap_comment(&tap, "%s", text);
	tap_yaml_entry(&tap, "k", text);
	text[0] = '"';
	tap_yaml_entry(&tap, "k", text);
	CHECK_EQ(4, n_lines);
	CHECK_EQ('"', lines[3][strlen(lines[3]) - 1], "the closing quote stays");
}

int main(void)
{
	RUN(a_run_looks_like_tap_14);
	RUN(a_name_is_no_directive);
	RUN(yaml_block_is_indented_and_delimited);
	RUN(any_value_survives_yaml);
	RUN(plain_values_begin_like_words);
	RUN(control_characters_never_reach_the_sink);
	RUN(long_text_is_cut_and_not_split);
	return check_end();
}
