/* SPDX-License-Identifier: MIT */
/* The configuration parser: what it takes, and that what it refuses gets one helpful line. */
#include "host/check.h"

#include "boot/config.h"

static char error[160];

static bool file(struct config *config, const char *text)
{
	config_default(config);
	error[0] = '\0';
	return config_parse_file(config, text, strlen(text), error, sizeof(error));
}

static bool options(struct config *config, const char *text)
{
	config_default(config);
	error[0] = '\0';
	return config_parse_options(config, text, strlen(text), error, sizeof(error));
}

static void empty_text_changes_nothing(void)
{
	struct config config, untouched;

	memset(&untouched, 0, sizeof(untouched));
	config_default(&untouched);
	CHECK(file(&config, ""));
	CHECK_STR(untouched.tests, config.tests);
	CHECK(file(&config, "\n\r\n  \n\t# a comment\n#\n"));
	CHECK(options(&config, ""));
	CHECK(options(&config, "   "));
	CHECK(options(&config, "pmutest86.efi"));
	CHECK_STR(untouched.tests, config.tests);
	CHECK_EQ(untouched.serial_port, config.serial_port);
}

static void every_key_is_taken(void)
{
	struct config config;

	CHECK(file(&config,
		   "tests = pmi.*\nrequire=PRIO,REC-HSW\r\nresults = off\n  screen=off\n"
		   "verbose = on   # why not\nserial = 0x2f8\nat_end = shutdown\nborrow_cycles=50"),
	      "%s", error);
	CHECK_STR("pmi.*", config.tests);
	CHECK_STR("PRIO,REC-HSW", config.require);
	CHECK(!config.results && !config.screen && config.verbose);
	CHECK_EQ(0x2f8, config.serial_port);
	CHECK_EQ(AT_END_SHUTDOWN, config.at_end);
	CHECK_EQ(50, config.borrow_cycles);
	CHECK(!config.strict && !config.checks, "off unless switched on");
	CHECK(file(&config, "strict = on\nchecks = on\n"), "%s", error);
	CHECK(config.strict && config.checks);
	CHECK(file(&config, "strict = on\nchecks = on\nstrict = off\nchecks=off"), "%s", error);
	CHECK(!config.strict && !config.checks, "the last one wins");
	CHECK(!config.no_inconclusive, "allowed unless forbidden");
	CHECK(file(&config, "inconclusive = error"), "%s", error);
	CHECK(config.no_inconclusive);
	CHECK(options(&config, "x.efi inconclusive=allowed"), "%s", error);
	CHECK(!config.no_inconclusive);
	CHECK(options(&config, "x.efi strict=on checks=on"), "%s", error);
	CHECK(config.strict && config.checks);
	CHECK(options(&config, "pmutest86.efi tests=cnt.* serial=off at_end=reset"), "%s", error);
	CHECK_STR("cnt.*", config.tests);
	CHECK_EQ(0, config.serial_port);
	CHECK_EQ(AT_END_RESET, config.at_end);
	CHECK_EQ(0, config.on, "the first unless said otherwise");
	CHECK(options(&config, "x on=all"), "%s", error);
	CHECK_EQ(CONFIG_ON_ALL, config.on);
	CHECK(options(&config, "x on=15"), "%s", error);
	CHECK_EQ(15, config.on);
	CHECK(options(&config, "x on=first"), "%s", error);
	CHECK_EQ(0, config.on);
}

static void options_win_over_the_file(void)
{
	struct config config;
	static const char words[] = "x.efi tests=b.*";

	CHECK(file(&config, "tests = a.*\nverbose = on\n"));
	CHECK(config_parse_options(&config, words, strlen(words), error, sizeof(error)));
	CHECK_STR("b.*", config.tests);
	CHECK(config.verbose, "what the options don't name stays");
}

static void the_version_is_asked_for_by_a_load_option(void)
{
	struct config config;

	CHECK(options(&config, "x.efi --version"));
	CHECK(config.version);
	CHECK(options(&config, "--version"), "also where the shell doesn't say the program's name");
	CHECK(config.version);
	CHECK(options(&config, "x.efi tests=*"));
	CHECK(!config.version);
	CHECK(!file(&config, "--version\n"), "a file can't ask");
}

static void bad_lines_get_one_helpful_line(void)
{
	static const char *const bad[] = {
		"tests", "= x", "colour = red\n", "verbose = maybe", "strict = yes",
		"inconclusive = off",
		"checks = 1", "checks =", "on = 16", "on = each", "serial = 0x10000",
		"serial = 12x",
		"serial = ", "at_end = explode", "borrow_cycles = -1", "borrow_cycles = 10001",
		"borrow_cycles = 99999999999999999999", "tests = a b", "results\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct config config;

		CHECK(!file(&config, bad[i]), "\"%s\"", bad[i]);
		CHECK(error[0], "\"%s\" gets no message", bad[i]);
		CHECK(!strchr(error, '\n'), "one line");
	}
	struct config config;

	CHECK(!file(&config, "\n# x\nverbose = maybe\n"));
	CHECK(strstr(error, "3"), "names the line: %s", error);
	CHECK(strstr(error, "on") && strstr(error, "off"), "says what would be right: %s", error);
}

static void the_terminator_is_not_needed(void)
{
	static const char text[] = "verbose = on\nverbose = off";
	struct config config;

	config_default(&config);
	CHECK(config_parse_file(&config, text, 12, error, sizeof(error)));
	CHECK(config.verbose);
}

static void too_long_a_value_is_refused(void)
{
	char text[CONFIG_PATTERN_SIZE + 16] = "tests = ";
	struct config config;

	memset(text + 8, 'a', CONFIG_PATTERN_SIZE - 1);
	CHECK(file(&config, text));
	text[8 + CONFIG_PATTERN_SIZE - 1] = 'a';
	CHECK(!file(&config, text));
	CHECK(error[0] && !strchr(error, '\n'));
}

static void a_small_error_buffer_is_respected(void)
{
	struct config config;
	char small[8];

	memset(small, 'x', sizeof(small));
	config_default(&config);
	CHECK(!config_parse_file(&config, "colour = red", 12, small, 4));
	CHECK(memchr(small, '\0', 4));
	CHECK_EQ('x', small[4]);
}

int main(void)
{
	RUN(empty_text_changes_nothing);
	RUN(every_key_is_taken);
	RUN(options_win_over_the_file);
	RUN(the_version_is_asked_for_by_a_load_option);
	RUN(bad_lines_get_one_helpful_line);
	RUN(the_terminator_is_not_needed);
	RUN(too_long_a_value_is_refused);
	RUN(a_small_error_buffer_is_respected);
	return check_end();
}
