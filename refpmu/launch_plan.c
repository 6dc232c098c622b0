/* SPDX-License-Identifier: MIT */
/* See launch_plan.h. */
#include "refpmu/launch_plan.h"

struct span {
	const char *text;
	size_t length;
};

static const char *const generation_names[] = {
#define GENERATION(id, name, ...) [GEN_##id] = name,
#include "spec/generation.def"
};

static const char *const fault_names[] = {
	[FAULT_NONE] = "none",
#define FAULT(token, name, requirements, sentence) [FAULT_##token] = name,
#include "spec/fault.def"
};

void plan_open(struct plan *plan, const char *text, size_t length)
{
	*plan = (struct plan){ .text = text, .length = length };
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool equals(struct span span, const char *text)
{
	size_t i;

	for (i = 0; i < span.length; i++)
		if (span.text[i] != text[i] || !text[i])
			return false;
	return !text[i];
}

static bool find(struct span name, const char *const *names, unsigned count, unsigned *found)
{
	for (*found = 0; *found < count; ++*found)
		if (equals(name, names[*found]))
			return true;
	return false;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* Decimal, or hexadecimal behind 0x. */
static bool parse_number(struct span span, u64 *value)
{
	unsigned base = 10;
	size_t i = 0;

	if (span.length > 2 && span.text[0] == '0' && span.text[1] == 'x') {
		base = 16;
		i = 2;
	}
	if (i == span.length)
		return false;
	for (*value = 0; i < span.length; i++) {
		unsigned d = (unsigned)digit(span.text[i]);

		if (d >= base || *value > (~0ULL - d) / base)
			return false;
		*value = *value * base + d;
	}
	return true;
}

static bool copy(struct span from, char *to, size_t size)
{
	if (from.length >= size)
		return false;
	for (size_t i = 0; i < from.length; i++)
		to[i] = from.text[i];
	to[from.length] = 0;
	return true;
}

static struct span skip_blanks(struct span span)
{
	while (span.length && is_blank(*span.text)) {
		span.text++;
		span.length--;
	}
	return span;
}

/* Take what is before the first blank or, with equals_too, before the first '='. */
static struct span take_word(struct span *rest, bool equals_too)
{
	struct span word = { rest->text, 0 };

	while (word.length < rest->length && !is_blank(word.text[word.length]) &&
	       !(equals_too && word.text[word.length] == '='))
		word.length++;
	rest->text += word.length;
	rest->length -= word.length;
	return word;
}

enum key { KEY_CPU, KEY_FAULT, KEY_SEED, KEY_HT, KEY_EFI, KEY_ARGS, KEY_COUNT };
static const char *const key_names[KEY_COUNT] = { "cpu", "fault", "seed", "ht", "efi", "args" };

/* NULL: understood. */
static const char *set(struct plan_run *run, enum key key, struct span value)
{
	unsigned found;
	u64 number;

	switch (key) {
	case KEY_CPU:
		if (!find(value, generation_names, GEN_COUNT, &found))
			return "no such cpu";
		run->generation = (enum generation_id)found;
		run->cpu_name = generation_names[found];
		return NULL;
	case KEY_FAULT:
		if (!find(value, fault_names, FAULT_COUNT, &found))
			return "no such fault";
		run->fault = (enum fault_id)found;
		run->fault_name = fault_names[found];
		return NULL;
	case KEY_SEED:
		return parse_number(value, &run->seed) ? NULL : "seed isn't a 64-bit number";
	case KEY_HT:
		if (!parse_number(value, &number) || number > 1)
			return "ht is 0 or 1";
		run->hyper_threading = number;
		return NULL;
	case KEY_EFI:
		if (!value.length)
			return "efi is empty";
		return copy(value, run->efi, sizeof(run->efi)) ? NULL : "efi is too long";
	default:
		return copy(value, run->args, sizeof(run->args)) ? NULL : "args is too long";
	}
}

static const char *parse_line(struct span rest, struct plan_run *run)
{
	bool seen[KEY_COUNT] = { false };
	const char *wrong;

	if (!equals(take_word(&rest, false), "run"))
		return "a line begins with run";
	for (rest = skip_blanks(rest); rest.length; rest = skip_blanks(rest)) {
		struct span name = take_word(&rest, true), value;
		unsigned key;

		if (!find(name, key_names, KEY_COUNT, &key))
			return "unknown word; there are cpu fault seed ht efi args";
		if (!rest.length || *rest.text != '=')
			return "a word without =";
		if (seen[key])
			return "a word twice";
		seen[key] = true;
		rest.text++;
		rest.length--;
		if (key == KEY_ARGS) {
			value = rest;
			rest.length = 0;
		} else {
			value = take_word(&rest, false);
		}
		wrong = set(run, (enum key)key, value);
		if (wrong)
			return wrong;
	}
	return seen[KEY_EFI] ? NULL : "efi is missing";
}

static struct span next_line(struct plan *plan)
{
	struct span line = { plan->text + plan->at, 0 };

	while (plan->at < plan->length && plan->text[plan->at] != '\n')
		plan->at++;
	line.length = (size_t)(plan->text + plan->at - line.text);
	if (plan->at < plan->length)
		plan->at++;
	plan->line++;
	while (line.length && (is_blank(line.text[line.length - 1]) ||
			       line.text[line.length - 1] == '\r'))
		line.length--;
	return skip_blanks(line);
}

static bool printable(struct span line)
{
	for (size_t i = 0; i < line.length; i++)
		if ((line.text[i] < ' ' && line.text[i] != '\t') || line.text[i] > '~')
			return false;
	return true;
}

enum plan_result plan_next(struct plan *plan, struct plan_run *run, const char **reason)
{
	while (plan->at < plan->length) {
		struct span line = next_line(plan);

		if (!line.length || *line.text == '#')
			continue;
		*run = (struct plan_run){
			.generation = GEN_HASWELL,
			.cpu_name = generation_names[GEN_HASWELL],
			.fault = FAULT_NONE,
			.fault_name = fault_names[FAULT_NONE],
			.hyper_threading = true,
		};
		*reason = printable(line) ? parse_line(line, run) : "not printable ASCII";
		return *reason ? PLAN_BAD : PLAN_RUN;
	}
	return PLAN_END;
}
