/* SPDX-License-Identifier: MIT */
/*
 * The configuration's parser. A file's line is blank, a comment (`#`, also after a value and a
 * blank) or `key = value`. A UTF-8 byte order mark and CR LF are accepted, because some editors
 * write them. Not handled: quotes and escapes; no value needs a blank or a '#'.
 */
#include "boot/config.h"
#include "kernel/output/fmt.h"

#define KEYS "tests, results, serial, screen, at_end, require, borrow_cycles, strict, " \
	"inconclusive, verbose, checks, debugger, on, seed, draw, draw_case, watchdog, " \
	"processors, order, repeat, minutes, exit_port"
#define SERIAL_DEFAULT	0x3f8		/* COM1 */
#define EXIT_DEFAULT	0x501		/* the default of QEMU's isa-debug-exit */
#define WATCHDOG_LEAST	5
#define WATCHDOG_DEFAULT 120		/* longer than any test, with repetitions */
#define SERIAL_LAST	0xfff8u		/* eight registers begin here */
#define PORT_LAST	0xffffu

struct span {
	const char *text;
	size_t length;
};

/* The place for an error's line, and its beginning: "FILE: line 3: ". */
struct error_place {
	struct config_errors *errors;
	const char *source;
	unsigned line;			/* 0: no line number */
};

#define NAME_MAX 40	/* length of a wrong key or value in an error's text */

static void report(const struct error_place *place, struct span name, const char *what)
{
	struct config_errors *errors = place->errors;
	char text[NAME_MAX + 1];
	char line[24] = "";
	size_t i;

	errors->count++;
	if (errors->count > CONFIG_ERRORS)
		return;
	for (i = 0; i < name.length && i < NAME_MAX; i++)
		text[i] = name.text[i] >= ' ' && name.text[i] <= '~' ? name.text[i] : '?';
	text[i] = '\0';
	if (place->line)
		fmt_print(line, sizeof line, "line %u: ", place->line);
	fmt_print(errors->line[errors->count - 1], CONFIG_ERROR_SIZE, "%s: %s'%s' %s",
		  place->source, line, text, what);
}

void config_error(struct config_errors *errors, const char *source, const char *what)
{
	if (errors->count++ < CONFIG_ERRORS)
		fmt_print(errors->line[errors->count - 1], CONFIG_ERROR_SIZE, "%s: %s", source,
			  what);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct span trim(struct span s)
{
	while (s.length > 0 && is_blank(s.text[0])) {
		s.text++;
		s.length--;
	}
	while (s.length > 0 && is_blank(s.text[s.length - 1]))
		s.length--;
	return s;
}

static bool is(struct span s, const char *word)
{
	size_t i;

	for (i = 0; i < s.length; i++)
		if (!word[i] || word[i] != s.text[i])
			return false;
	return !word[i];
}

static bool parse_text(char *text, size_t size, struct span value)
{
	size_t i;

	if (value.length >= size)
		return false;
	for (i = 0; i < value.length; i++) {
		if (value.text[i] <= ' ' || value.text[i] > '~')
			return false;
		text[i] = value.text[i];
	}
	text[i] = '\0';
	return true;
}

static bool parse_switch(bool *on, struct span value)
{
	*on = is(value, "on");
	return *on || is(value, "off");
}

static bool parse_inconclusive(bool *is_error, struct span value)
{
	*is_error = is(value, "error");
	return *is_error || is(value, "allowed");
}

static unsigned digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 16;
}

/* Parse a decimal number, or a hexadecimal one after 0x; at most max. */
static bool parse_number(unsigned *number, struct span value, unsigned max)
{
	unsigned base = 10;
	u64 n = 0;

	if (value.length > 2 && value.text[0] == '0' && (value.text[1] | 0x20) == 'x') {
		base = 16;
		value.text += 2;
		value.length -= 2;
	}
	if (!value.length)
		return false;
	for (size_t i = 0; i < value.length; i++) {
		unsigned d = digit(value.text[i]);

		if (d >= base)
			return false;
		n = n * base + d;
		if (n > max)
			return false;
	}
	*number = (unsigned)n;
	return true;
}

static bool parse_port(u16 *port, struct span value, unsigned last)
{
	unsigned number = 0;

	if (!parse_number(&number, value, last) || !number)
		return false;
	*port = (u16)number;
	return true;
}

static bool parse_serial(u16 *port, struct span value)
{
	if (!is(value, "off"))
		return parse_port(port, value, SERIAL_LAST);
	*port = 0;
	return true;
}

static bool parse_watchdog(unsigned *seconds, struct span value)
{
	*seconds = 0;
	return is(value, "off") ||
	       (parse_number(seconds, value, CONFIG_MAX_WATCHDOG) && *seconds >= WATCHDOG_LEAST);
}

static bool parse_at_end(enum config_at_end *at_end, struct span value)
{
	if (is(value, "return"))
		*at_end = AT_END_RETURN;
	else if (is(value, "wait"))
		*at_end = AT_END_WAIT;
	else if (is(value, "shutdown"))
		*at_end = AT_END_SHUTDOWN;
	else if (is(value, "reset"))
		*at_end = AT_END_RESET;
	else if (is(value, "exit"))
		*at_end = AT_END_EXIT;
	else
		return false;
	return true;
}

static bool parse_on(unsigned *on, struct span value)
{
	if (is(value, "first"))
		*on = 0;
	else if (is(value, "all"))
		*on = CONFIG_ON_ALL;
	else if (is(value, "kinds"))
		*on = CONFIG_ON_KINDS;
	else
		return parse_number(on, value, CONFIG_ON_MOST);
	return true;
}

/* Like parse_number(), with 64 bits. */
static bool parse_long(u64 *number, struct span value)
{
	u64 n = 0;

	if (!value.length || value.length > 18)
		return false;
	for (size_t i = 0; i < value.length; i++) {
		if (digit(value.text[i]) >= 10)
			return false;
		n = n * 10 + digit(value.text[i]);
	}
	*number = n;
	return true;
}

/* Parse "500" cases, "2s" or "250ms". */
static bool parse_draw(struct config *config, struct span value)
{
	unsigned number, unit = 0;

	if (value.length > 2 && value.text[value.length - 2] == 'm' &&
	    value.text[value.length - 1] == 's') {
		unit = 1;
		value.length -= 2;
	} else if (value.length > 1 && value.text[value.length - 1] == 's') {
		unit = 1000;
		value.length--;
	}
	if (!parse_number(&number, value, CONFIG_DRAW_MOST) || !number)
		return false;
	config->draw_cases = unit ? 0 : number;
	config->draw_ms = number * unit;
	return true;
}

static bool parse_draw_case(struct config *config, struct span value)
{
	if (!parse_long(&config->draw_case, value))
		return false;
	config->draw_case++;
	return true;
}

static bool config_set(struct config *config, struct span key, struct span value,
		       const struct error_place *place)
{
	const char *want;
	bool good;

	if (is(key, "tests")) {
		good = value.length > 0 && parse_text(config->tests, sizeof(config->tests), value);
		want = "is not a pattern for tests: up to 767 characters without blanks";
	} else if (is(key, "require")) {
		good = parse_text(config->require, sizeof(config->require), value);
		want = "is not a list for require: GROUP,GROUP,... of up to 127 characters";
	} else if (is(key, "results")) {
		good = parse_switch(&config->results, value);
		want = "is not a value of results: on or off";
	} else if (is(key, "screen")) {
		good = parse_switch(&config->screen, value);
		want = "is not a value of screen: on or off";
	} else if (is(key, "strict")) {
		good = parse_switch(&config->strict, value);
		want = "is not a value of strict: on or off";
	} else if (is(key, "inconclusive")) {
		good = parse_inconclusive(&config->no_inconclusive, value);
		want = "is not a value of inconclusive: allowed or error";
	} else if (is(key, "verbose")) {
		good = parse_switch(&config->verbose, value);
		want = "is not a value of verbose: on or off";
	} else if (is(key, "checks")) {
		good = parse_switch(&config->checks, value);
		want = "is not a value of checks: on or off";
	} else if (is(key, "debugger")) {
		good = parse_switch(&config->debugger, value);
		want = "is not a value of debugger: on or off";
	} else if (is(key, "serial")) {
		good = parse_serial(&config->serial_port, value);
		want = "is not a value of serial: an I/O port such as 0x3f8, or off";
	} else if (is(key, "at_end")) {
		good = parse_at_end(&config->at_end, value);
		want = "is not a value of at_end: return, wait, shutdown, reset or exit";
	} else if (is(key, "exit_port")) {
		good = parse_port(&config->exit_port, value, PORT_LAST);
		want = "is not a value of exit_port: an I/O port such as 0x501";
	} else if (is(key, "watchdog")) {
		good = parse_watchdog(&config->watchdog, value);
		want = "is not a value of watchdog: off, or 5 to 600 seconds";
	} else if (is(key, "on")) {
		good = parse_on(&config->on, value);
		want = "is not a value of on: first, kinds, all or a processor's number up to 1023";
	} else if (is(key, "seed")) {
		good = parse_long(&config->seed, value);
		want = "is not a value of seed: a number of up to 18 digits";
	} else if (is(key, "draw")) {
		good = parse_draw(config, value);
		want = "is not a value of draw: a number of cases, or a time such as 2s or 250ms";
	} else if (is(key, "draw_case")) {
		good = parse_draw_case(config, value);
		want = "is not a value of draw_case: a number of up to 18 digits";
	} else if (is(key, "processors")) {
		good = parse_number(&config->processors, value, CONFIG_MAX_PROCESSORS) &&
		       config->processors;
		want = "is not a value of processors: how many at most, 1 to 16";
	} else if (is(key, "order")) {
		good = parse_number(&config->order, value, CONFIG_MAX_ORDER);
		want = "is not a value of order: 0, or a seed up to 4294967295";
	} else if (is(key, "repeat")) {
		good = parse_number(&config->repeat, value, CONFIG_MAX_REPEAT) && config->repeat;
		want = "is not a value of repeat: how many runs, 1 to 100000";
	} else if (is(key, "minutes")) {
		good = parse_number(&config->minutes, value, CONFIG_MAX_REPEAT);
		want = "is not a value of minutes: for how long runs are begun, up to 100000";
	} else if (is(key, "borrow_cycles")) {
		good = parse_number(&config->borrow_cycles, value, CONFIG_MAX_BORROW_CYCLES);
		want = "is not a value of borrow_cycles: a number up to 10000";
	} else {
		report(place, key, "is not a key; the keys are " KEYS);
		return false;
	}
	if (!good)
		report(place, value, want);
	return good;
}

/* key = value */
static bool assign(struct config *config, struct span text, const struct error_place *place)
{
	struct span key = text, value;

	for (key.length = 0; key.length < text.length; key.length++)
		if (text.text[key.length] == '=')
			break;
	if (key.length == text.length) {
		report(place, text, "is not of the form key=value");
		return false;
	}
	value = (struct span){ text.text + key.length + 1, text.length - key.length - 1 };
	return config_set(config, trim(key), trim(value), place);
}

void config_default(struct config *config)
{
	*config = (struct config){
		.tests = "*",
		.results = true,
		.screen = true,
		.serial_port = SERIAL_DEFAULT,
		.at_end = AT_END_RETURN,
		.exit_port = EXIT_DEFAULT,
		.draw_ms = CONFIG_DRAW_MS,
		.watchdog = WATCHDOG_DEFAULT,
		.on = CONFIG_ON_KINDS,
		.processors = CONFIG_MAX_PROCESSORS,
		.repeat = 1,
	};
}

static size_t comment_start(struct span line)
{
	for (size_t i = 0; i < line.length; i++)
		if (line.text[i] == '#' && (i == 0 || is_blank(line.text[i - 1])))
			return i;
	return line.length;
}

bool config_parse_file(struct config *config, const char *text, size_t length,
		       struct config_errors *errors)
{
	struct error_place place = { errors, CONFIG_PATH, 0 };
	unsigned before = errors->count;
	struct span rest = { text, length };

	if (length >= 3 && text[0] == '\xef' && text[1] == '\xbb' && text[2] == '\xbf')
		rest = (struct span){ text + 3, length - 3 };
	while (rest.length > 0) {
		struct span line = { rest.text, 0 };

		place.line++;
		while (line.length < rest.length && rest.text[line.length] != '\n')
			line.length++;
		rest.text += line.length;
		rest.length -= line.length;
		if (rest.length > 0) {		/* skip the line feed */
			rest.text++;
			rest.length--;
		}
		line.length = comment_start(line);
		line = trim(line);
		if (line.length > 0)
			assign(config, line, &place);
	}
	return errors->count == before;
}

bool config_parse_options(struct config *config, const char *text, size_t length,
			  struct config_errors *errors)
{
	struct error_place place = { errors, "load options", 0 };
	unsigned before = errors->count;
	bool first = true;
	size_t i = 0;

	while (i < length) {
		struct span word = { text + i, 0 };
		bool assignment = false;

		while (i < length && !is_blank(text[i])) {
			assignment = assignment || text[i] == '=';
			i++;
			word.length++;
		}
		if (is(word, "--version")) {
			config->version = true;
		} else if (word.length > 0) {
			if (assignment || !first)
				assign(config, word, &place);
			first = false;
		}
		while (i < length && is_blank(text[i]))
			i++;
	}
	return errors->count == before;
}
