/* SPDX-License-Identifier: MIT */
/* See model.h; the forms of the lines are those of the README, "How to read a result". */
#include "boot/screen/model.h"
#include "kernel/output/fmt.h"

#define LINES_MAX	65535u
#define US		1000000u
#define LEAST_US	3000000u	/* before that nothing is said of what is left */

/* What follows with in line; NULL: it doesn't begin so. */
static const char *after(const char *line, const char *with)
{
	while (*with && *line == *with) {
		line++;
		with++;
	}
	return *with ? NULL : line;
}

static const char *find(const char *text, const char *what)
{
	for (; *text; text++)
		if (after(text, what))
			return text;
	return NULL;
}

static u32 number(const char **text)
{
	u32 n = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++)
		n = n < 100000000 ? n * 10 + (u32)(**text - '0') : n;
	return n;
}

static bool same(const char *a, const char *b)
{
	for (; *a && *a == *b; b++)
		a++;
	return *a == *b;
}

void model_init(struct model *model, char *store, u32 size)
{
	*model = (struct model){ .store = store, .size = size, .soak = { 1, 1, 0, 0, 0 } };
}

/* false: the store is full. */
static bool keep(struct model *model, const char *line, u32 *at)
{
	u32 length = 0;

	while (line[length])
		length++;
	if (length + 1 > model->size - model->used)
		return false;
	*at = model->used;
	for (u32 i = 0; i <= length; i++)
		model->store[model->used++] = line[i];
	return true;
}

static enum model_verdict verdict_of(const char *line, bool ok)
{
	const char *directive = find(line, " # ");

	if (!ok)
		return directive && after(directive, " # TODO") ? MODEL_KNOWN : MODEL_FAIL;
	if (!directive || !after(directive, " # SKIP"))
		return MODEL_PASS;
	return after(directive, " # SKIP INCONCLUSIVE") ? MODEL_INCONCLUSIVE : MODEL_SKIP;
}

/* The index of a name's group, as far as there is room for them. */
static u8 group_of(struct model *model, const char *name)
{
	char group[sizeof(model->group[0].name)];
	u32 length = 0;

	for (; name[length] && name[length] != '.' && length + 1 < sizeof(group); length++)
		group[length] = name[length];
	group[length] = '\0';
	for (u32 i = 0; i < model->groups; i++)
		if (same(model->group[i].name, group))
			return (u8)i;
	if (model->groups == MODEL_GROUPS)
		return MODEL_GROUPS - 1;
	fmt_print(model->group[model->groups].name, sizeof(group), "%s", group);
	return (u8)model->groups++;
}

static void take_point(struct model *model, const char *line, const char *rest, bool ok)
{
	enum model_verdict verdict = verdict_of(line, ok);
	const char *name = find(rest, " - ");
	struct model_point *point;
	u32 text;
	u8 group = group_of(model, name ? name + 3 : "");

	model->done++;
	model->count[verdict]++;
	model->group[group].points++;
	model->group[group].bad += verdict == MODEL_FAIL;
	if (model->points == MODEL_POINTS || !keep(model, line, &text)) {
		model->lost++;
		return;
	}
	point = &model->point[model->points++];
	*point = (struct model_point){
		.text = text, .lines = 1, .verdict = (u8)verdict, .group = group
	};
}

/* A line of the last point's block. */
static void take_block(struct model *model, const char *line)
{
	struct model_point *point = &model->point[model->points - 1];
	u32 text;

	if (same(line, "  severity: error") && point->verdict == MODEL_FAIL) {
		point->verdict = MODEL_ERROR;
		model->count[MODEL_FAIL]--;
		model->count[MODEL_ERROR]++;
	}
	if (point->lines < LINES_MAX && keep(model, line, &text))
		point->lines++;
}

static void take_total(struct model *model, const char *line)
{
	if (model->totals == MODEL_TOTALS) {
		model->totals--;
		for (u32 i = 0; i < model->totals; i++)
			fmt_print(model->total[i], MODEL_TEXT, "%s", model->total[i + 1]);
	}
	fmt_print(model->total[model->totals++], MODEL_TEXT, "%s", line);
}

static void take_comment(struct model *model, const char *line)
{
	static const char *const totals[] = { "error: ", "required: ", "requirements decided",
					      "decided ", "NOT TESTED" };
	const char *rest;
	u32 text;

	rest = after(line, "# end of PMUTest86: exit ");
	if (rest) {
		model->ended = true;
		model->exit = number(&rest);
		return;
	}
	rest = after(line, "# NOT TESTED: ");
	if (rest)
		fmt_print(model->not_tested, MODEL_TEXT, "%s", rest);
	for (u32 i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
		if (after(line + 2, totals[i])) {
			take_total(model, line + 2);
			return;
		}
	if (!model->done && model->facts < MODEL_FACTS && keep(model, line, &text))
		model->fact[model->facts++] = text;
}

void model_take(struct model *model, const char *line)
{
	const char *rest;

	if ((rest = after(line, "ok "))) {
		take_point(model, line, rest, true);
	} else if ((rest = after(line, "not ok "))) {
		take_point(model, line, rest, false);
	} else if (after(line, "  ")) {
		/* A block whose point wasn't kept has no place either. */
		if (model->points && !model->lost)
			take_block(model, line);
	} else if ((rest = after(line, "1.."))) {
		model->plan = number(&rest);
	} else if ((rest = after(line, "Bail out! "))) {
		model->bailed_out = true;
		fmt_print(model->bail_out, MODEL_TEXT, "%s", rest);
	} else if (after(line, "# ")) {
		take_comment(model, line);
	}
}

void model_begin_test(struct model *model, const char *name)
{
	fmt_print(model->running, MODEL_TEXT, "%s", name ? name : "");
}

void model_at(struct model *model, u64 us)
{
	if (!model->began_us)
		model->began_us = us;
	model->now_us = us;
}

enum model_result model_result(const struct model *model)
{
	if (!model->ended)
		return model->bailed_out ? RESULT_NOT_TRUSTWORTHY : RESULT_NONE;
	if (model->exit == 1)
		return RESULT_FAILED;
	if (model->bailed_out)
		return RESULT_NOT_TRUSTWORTHY;
	if (!model->exit)
		return RESULT_PASSED;
	/* Nothing was decided; an error beside it is worse than that. */
	return model->not_tested[0] && !model->count[MODEL_ERROR] ? RESULT_NOT_TESTED :
								    RESULT_NOT_TRUSTWORTHY;
}

enum model_result model_result_of_all(const struct model *model)
{
	enum model_result result = model_result(model);

	if (model->soak.failed || result == RESULT_FAILED)
		return RESULT_FAILED;
	if (model->soak.not_trustworthy || result == RESULT_NOT_TRUSTWORTHY)
		return RESULT_NOT_TRUSTWORTHY;
	return model->soak.not_tested ? RESULT_NOT_TESTED : result;
}

const char *model_result_text(const struct model *model)
{
	switch (model_result_of_all(model)) {
	case RESULT_PASSED:
		return "PASSED";
	case RESULT_FAILED:
		return "FAILED";
	case RESULT_NOT_TESTED:
		/* Or what was asked for decides nothing. */
		if (after(model->not_tested, "no selected test") ||
		    after(model->not_tested, "each test was skipped"))
			return "NOT TESTED";
		return "NOT TESTED: no PMU";
	case RESULT_NOT_TRUSTWORTHY:
		return "NOT TRUSTWORTHY";
	default:
		return "";
	}
}

u32 model_seconds_left(const struct model *model)
{
	u64 elapsed = model->now_us - model->began_us;

	if (model->now_us < model->began_us || elapsed < LEAST_US || !model->done ||
	    model->done >= model->plan)
		return 0;
	return (u32)(elapsed * (model->plan - model->done) / model->done / US) + 1;
}

const char *model_fact(const struct model *model, const char *key)
{
	for (u32 i = 0; i < model->facts; i++) {
		const char *rest = after(model->store + model->fact[i] + 2, key);

		if (rest && rest[0] == ':' && rest[1] == ' ')
			return rest + 2;
	}
	return NULL;
}

const char *model_line(const struct model *model, const struct model_point *point, u32 n)
{
	const char *line = model->store + point->text;

	while (n--) {
		while (*line)
			line++;
		line++;
	}
	return line;
}

const char *model_name(const struct model *model, const struct model_point *point, char *text,
		       size_t size)
{
	const char *name = find(model_line(model, point, 0), " - ");
	size_t i = 0;

	if (name)
		for (name += 3; *name && *name != ' ' && i + 1 < size; name++)
			text[i++] = *name;
	if (size)
		text[i] = '\0';
	return text;
}

bool model_split(const char *line, char *key, size_t key_size, char *value, size_t value_size)
{
	size_t length = 0;
	bool quoted;

	line = after(line, "  ");
	if (!line)
		return false;
	for (; *line && *line != ':'; line++)
		if (length + 1 < key_size)
			key[length++] = *line;
	key[length] = '\0';
	if (line[0] != ':' || line[1] != ' ')
		return false;
	line += 2;
	quoted = *line == '"';
	line += quoted;
	for (length = 0; *line && length + 1 < value_size; line++) {
		if (quoted && *line == '"')
			break;
		if (quoted && line[0] == '\\' && line[1])
			line++;
		value[length++] = *line;
	}
	value[length] = '\0';
	return true;
}

bool model_value(const struct model *model, const struct model_point *point, const char *key,
		 char *text, size_t size)
{
	const char *line = model_line(model, point, 0);
	char found[32];

	for (u32 n = 1; n < point->lines; n++) {
		while (*line)
			line++;
		line++;
		if (model_split(line, found, sizeof(found), text, size) && same(found, key))
			return true;
	}
	return false;
}

bool model_is_bad(const struct model_point *point)
{
	return point->verdict == MODEL_FAIL || point->verdict == MODEL_ERROR;
}
