/* SPDX-License-Identifier: MIT */
/* The configuration parser: the texts that it accepts, and one helpful line for each text that it
 * refuses. */
#include "host/check.h"

#include "boot/config.h"

static struct config_errors errors;
static char error[CONFIG_ERROR_SIZE];	/* the first error */

static bool file(struct config *config, const char *text)
{
	bool good;

	config_default(config);
	errors.count = 0;
	errors.line[0][0] = '\0';
	good = config_parse_file(config, text, strlen(text), &errors);
	memcpy(error, errors.line[0], sizeof(error));
	return good;
}

static bool options(struct config *config, const char *text)
{
	bool good;

	config_default(config);
	errors.count = 0;
	errors.line[0][0] = '\0';
	good = config_parse_options(config, text, strlen(text), &errors);
	memcpy(error, errors.line[0], sizeof(error));
	return good;
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
	CHECK_EQ(CONFIG_ON_KINDS, config.on, "unless said otherwise");
	CHECK(options(&config, "x on=all"), "%s", error);
	CHECK_EQ(CONFIG_ON_ALL, config.on);
	CHECK(options(&config, "x on=15"), "%s", error);
	CHECK_EQ(15, config.on);
	CHECK(options(&config, "x on=first"), "%s", error);
	CHECK_EQ(0, config.on);
}

static void drawing_is_by_time_or_by_cases(void)
{
	struct config config;

	CHECK(options(&config, "x seed=123456789012345678"), "%s", error);
	CHECK_EQ(123456789012345678ULL, config.seed);
	CHECK_EQ(CONFIG_DRAW_MS, config.draw_ms);
	CHECK_EQ(0, config.draw_cases);
	CHECK_EQ(0, config.draw_case, "all of them");
	CHECK(options(&config, "x draw=3s"), "%s", error);
	CHECK_EQ(3000, config.draw_ms);
	CHECK(options(&config, "x draw=250ms draw_case=0"), "%s", error);
	CHECK_EQ(250, config.draw_ms);
	CHECK_EQ(1, config.draw_case, "its number, plus 1");
	CHECK(options(&config, "x draw=1000"), "%s", error);
	CHECK_EQ(1000, config.draw_cases);
	CHECK(!options(&config, "x draw=0"));
	CHECK(!options(&config, "x draw=s"));
	CHECK(!options(&config, "x draw=ms"));
	CHECK(!options(&config, "x draw=1m"));
	CHECK(!options(&config, "x draw=1000001"));
	CHECK(!options(&config, "x seed=1234567890123456789"));
	CHECK(!options(&config, "x seed=0x1"));
	CHECK(!options(&config, "x draw_case="));
}

static void options_win_over_the_file(void)
{
	struct config config;
	static const char words[] = "x.efi tests=b.*";

	CHECK(file(&config, "tests = a.*\nverbose = on\n"));
	CHECK(config_parse_options(&config, words, strlen(words), &errors));
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
		"checks = 1", "checks =", "on = 1024", "on = each", "serial = 0x10000",
		"serial = 12x",
		"serial = ", "at_end = explode", "borrow_cycles = -1", "borrow_cycles = 10001",
		"processors = 0", "processors = 17", "order = 4294967296", "order = -1",
		"repeat = 0", "repeat = x", "repeat = 100001", "minutes = 1h",
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
	CHECK(config_parse_file(&config, text, 12, &errors));
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

static void each_wrong_line_is_told_and_the_others_are_taken(void)
{
	struct config config;
	char text[4000] = "";

	CHECK(!file(&config, "verbose = maybe\nat_end = wait\r\n# x\ncolour = red\n=\n"
			     "repeat = 0\ntests = pmi.*\n"));
	CHECK_EQ(4, errors.count);
	CHECK_STR("\\pmutest86.cfg: line 1: 'maybe' is not a value of verbose: on or off",
		  errors.line[0]);
	CHECK(!memcmp("\\pmutest86.cfg: line 4: 'colour' is not a key; the keys are tests, ",
		      errors.line[1], 60));
	CHECK(strstr(errors.line[2], "line 5: '' is not a key"), "%s", errors.line[2]);
	CHECK(strstr(errors.line[3], "line 6: '0' is not a value of repeat"), "%s", errors.line[3]);
	CHECK_EQ(AT_END_WAIT, config.at_end);
	CHECK_STR("pmi.*", config.tests);
	CHECK(!options(&config, "x.efi on=each tests=a.* b"));
	CHECK_EQ(2, errors.count);
	CHECK_STR("load options: 'each' is not a value of on: first, kinds, all or a processor's "
		  "number up to 1023",
		  errors.line[0]);
	CHECK_STR("load options: 'b' is not of the form key=value", errors.line[1]);
	for (unsigned i = 0; i < 100; i++)
		strcat(text, "x\n");
	CHECK(!file(&config, text));
	CHECK_EQ(100, errors.count, "all are counted");
	CHECK(strstr(errors.line[CONFIG_ERRORS - 1], "line 16: "), "the first ones are kept");
}

static void soaks_and_orders_are_taken(void)
{
	struct config config;

	CHECK(file(&config, ""));
	CHECK_EQ(1, config.repeat);
	CHECK_EQ(0, config.minutes);
	CHECK_EQ(0, config.order);
	CHECK_EQ(16, config.processors);
	CHECK(file(&config, "repeat = 100\nminutes = 90\norder = 0xffffffff\nprocessors = 1"));
	CHECK_EQ(100, config.repeat);
	CHECK_EQ(90, config.minutes);
	CHECK_EQ(0xffffffff, config.order);
	CHECK_EQ(1, config.processors);
}

int main(void)
{
	RUN(empty_text_changes_nothing);
	RUN(every_key_is_taken);
	RUN(drawing_is_by_time_or_by_cases);
	RUN(options_win_over_the_file);
	RUN(the_version_is_asked_for_by_a_load_option);
	RUN(bad_lines_get_one_helpful_line);
	RUN(the_terminator_is_not_needed);
	RUN(too_long_a_value_is_refused);
	RUN(each_wrong_line_is_told_and_the_others_are_taken);
	RUN(soaks_and_orders_are_taken);
	return check_end();
}
