/* SPDX-License-Identifier: MIT */
/* See plan.h. */
#include "refpmu/launch/plan.h"
#include "refpmu/launch/fault.h"
#include "refpmu/launch/span.h"

static const char *const generation_names[] = {
#define GENERATION(id, code, name, ...) [GEN_##id] = name,
#include "spec/generation.def"
};

static const char *const profile_names[] = {
	[PROFILE_NONE] = "none",
#define PROFILE(token, name, title) [PROFILE_##token] = name,
#include "refpmu/model/profile.def"
};

static const char *const knob_names[] = {
#define LATITUDE(token, name, low, high, source) name,
#include "refpmu/model/latitude.def"
};

static const struct {
	u32 low, high;
} knob_ranges[] = {
#define LATITUDE(token, name, low, high, source) { low, high },
#include "refpmu/model/latitude.def"
};

const char *const plan_engine_name[ENGINES] = {
	[ENGINE_STEP] = "step",
	[ENGINE_DIRECT] = "direct",
	[ENGINE_FAST] = "fast",
};

#define BLANKS	" \t"

void plan_open(struct plan *plan, const char *text, size_t length)
{
	*plan = (struct plan){ .text = text, .length = length };
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct span skip_blanks(struct span span)
{
	while (span.length && is_blank(*span.text)) {
		span.text++;
		span.length--;
	}
	return span;
}

enum key {
	KEY_CPU,
	KEY_FAULT,
	KEY_SEED,
	KEY_PROFILE,
	KEY_LATITUDE,
	KEY_HT,
	KEY_ENGINE,
	KEY_KEEP,
	KEY_TRACE,
	KEY_EFI,
	KEY_ARGS,
	KEY_COUNT
};
static const char *const key_names[KEY_COUNT] = {
	"cpu", "fault", "seed", "profile", "latitude", "ht", "engine", "keep", "trace", "efi",
	"args",
};

/* knob:value,knob:value */
static const char *set_latitude(struct model_latitude *latitude, struct span text)
{
	do {
		struct span setting = span_take(&text, ","), name = span_take(&setting, ":");
		unsigned knob = span_find(name, knob_names, LAT_COUNT);
		u64 value;

		if (knob == LAT_COUNT)
			return "no such knob in latitude";
		if (!span_skip(&setting, ":") || !span_number(setting, &value) ||
		    value < knob_ranges[knob].low || value > knob_ranges[knob].high)
			return "latitude takes knob:value, within the knob's range";
		if (latitude->set & LATITUDE_BIT(knob))
			return "a knob twice in latitude";
		latitude->set |= LATITUDE_BIT(knob);
		latitude->value[knob] = (u32)value;
	} while (span_skip(&text, ","));
	return NULL;
}

static const char *set_fault(struct plan_run *run, struct span value)
{
	enum fault_id fault;
	const char *wrong = launch_fault(value, &fault, &run->config.when);

	if (wrong)
		return wrong;
	run->config.fault = fault;
	return span_copy(value, run->fault_name, sizeof(run->fault_name)) ? NULL :
									    "fault is too long";
}

static bool set_flag(bool *flag, struct span value)
{
	u64 number;

	if (!span_number(value, &number) || number > 1)
		return false;
	*flag = number;
	return true;
}

/* NULL: understood. */
static const char *plan_set(struct plan_run *run, enum key key, struct span value)
{
	unsigned found;

	switch (key) {
	case KEY_CPU:
		found = span_find(value, generation_names, GEN_COUNT);
		if (found == GEN_COUNT)
			return "no such cpu";
		run->config.generation = (enum generation_id)found;
		run->cpu_name = generation_names[found];
		return NULL;
	case KEY_FAULT:
		return set_fault(run, value);
	case KEY_SEED:
		return span_number(value, &run->config.latitude.seed) ?
			       NULL :
			       "seed isn't a 64-bit number";
	case KEY_PROFILE:
		found = span_find(value, profile_names, PROFILE_COUNT);
		if (found == PROFILE_COUNT)
			return "no such profile";
		run->config.latitude.profile = (enum profile_id)found;
		run->profile_name = profile_names[found];
		return NULL;
	case KEY_LATITUDE:
		return set_latitude(&run->config.latitude, value);
	case KEY_HT:
		return set_flag(&run->config.hyper_threading, value) ? NULL : "ht is 0 or 1";
	case KEY_TRACE:
		return set_flag(&run->trace, value) ? NULL : "trace is 0 or 1";
	case KEY_KEEP:
		return set_flag(&run->keep, value) ? NULL : "keep is 0 or 1";
	case KEY_ENGINE:
		found = span_find(value, plan_engine_name, ENGINES);
		if (found == ENGINES)
			return "engine is step, direct or fast";
		run->engine = (enum engine_name)found;
		return NULL;
	case KEY_EFI:
		if (!value.length)
			return "efi is empty";
		return span_copy(value, run->efi, sizeof(run->efi)) ? NULL : "efi is too long";
	default:
		return span_copy(value, run->args, sizeof(run->args)) ? NULL : "args is too long";
	}
}

static const char *parse_line(struct span rest, struct plan_run *run)
{
	bool seen[KEY_COUNT] = { false };
	const char *wrong;

	if (!span_equals(span_take(&rest, BLANKS), "run"))
		return "a line begins with run";
	for (rest = skip_blanks(rest); rest.length; rest = skip_blanks(rest)) {
		struct span name = span_take(&rest, BLANKS "="), value;
		unsigned key = span_find(name, key_names, KEY_COUNT);

		if (key == KEY_COUNT)
			return "unknown word; there are cpu fault seed profile latitude ht "
			       "engine keep trace efi args";
		if (!span_skip(&rest, "="))
			return "a word without =";
		if (seen[key])
			return "a word twice";
		seen[key] = true;
		if (key == KEY_ARGS) {
			value = rest;
			rest.length = 0;
		} else {
			value = span_take(&rest, BLANKS);
		}
		wrong = plan_set(run, (enum key)key, value);
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
	while (line.length &&
	       (is_blank(line.text[line.length - 1]) || line.text[line.length - 1] == '\r'))
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
			.config = { .generation = GEN_HASWELL, .hyper_threading = true },
			.cpu_name = generation_names[GEN_HASWELL],
			.fault_name = "none",
			.profile_name = profile_names[PROFILE_NONE],
			.engine = ENGINE_DIRECT,
		};
		*reason = printable(line) ? parse_line(line, run) : "not printable ASCII";
		return *reason ? PLAN_BAD : PLAN_RUN;
	}
	return PLAN_END;
}
