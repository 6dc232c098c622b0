/* SPDX-License-Identifier: MIT */
/* See progress.h; the lines have the format of the README, "How to read a result". */
#include "boot/screen/progress.h"
#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"

#define LINES_MAX	65535u
#define US		1000000u
#define LEAST_US	3000000u	/* no estimate of the remaining time before this */

/* The text after `with`, if line begins with it; else NULL. */
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

void progress_init(struct progress *progress, char *store, u32 size)
{
	*progress = (struct progress){ .store = store,
				       .size = size,
				       .soak = { .run = 1, .runs = 1, .batches = 1 } };
}

/* false: the store is full. */
static bool keep(struct progress *progress, const char *line, u32 *at)
{
	u32 length = 0;

	while (line[length])
		length++;
	if (length + 1 > progress->size - progress->used)
		return false;
	*at = progress->used;
	for (u32 i = 0; i <= length; i++)
		progress->store[progress->used++] = line[i];
	return true;
}

static enum progress_verdict verdict_of(const char *line, bool ok)
{
	const char *directive = find(line, " # ");

	if (!ok)
		return directive && after(directive, " # TODO") ? PROGRESS_KNOWN : PROGRESS_FAIL;
	if (!directive || !after(directive, " # SKIP"))
		return PROGRESS_PASS;
	return after(directive, " # SKIP INCONCLUSIVE") ? PROGRESS_INCONCLUSIVE : PROGRESS_SKIP;
}

/* The index of a name's group. Once the table is full, the further groups share its last entry. */
static u8 group_of(struct progress *progress, const char *name)
{
	char group[sizeof(progress->group[0].name)];
	u32 length = 0;

	for (; name[length] && name[length] != '.' && length + 1 < sizeof(group); length++)
		group[length] = name[length];
	group[length] = '\0';
	for (u32 i = 0; i < progress->groups; i++)
		if (!strcmp(progress->group[i].name, group))
			return (u8)i;
	if (progress->groups == PROGRESS_GROUPS)
		return PROGRESS_GROUPS - 1;
	fmt_print(progress->group[progress->groups].name, sizeof(group), "%s", group);
	return (u8)progress->groups++;
}

static void take_point(struct progress *progress, const char *line, const char *rest, bool ok)
{
	enum progress_verdict verdict = verdict_of(line, ok);
	const char *name = find(rest, " - ");
	struct progress_point *point;
	u32 text;
	u8 group = group_of(progress, name ? name + 3 : "");

	progress->done++;
	progress->count[verdict]++;
	progress->last = verdict;
	progress->group[group].points++;
	progress->group[group].bad += verdict == PROGRESS_FAIL;
	progress->kept = progress->points < PROGRESS_POINTS && keep(progress, line, &text);
	if (!progress->kept) {
		progress->lost++;
		return;
	}
	point = &progress->point[progress->points++];
	*point = (struct progress_point){
		.text = text, .lines = 1, .verdict = (u8)verdict, .group = group
	};
}

/* Points have priority: a block gets only the room that the points still due don't need. */
static bool has_room_for_blocks(const struct progress *progress)
{
	u32 due = progress->plan > progress->done ? progress->plan - progress->done : 0;

	return (u64)due * PROGRESS_LINE < progress->size - progress->used;
}

/* Take a line of the last point's block. */
static void take_block(struct progress *progress, const char *line)
{
	struct progress_point *point = NULL;
	u32 text;

	if (progress->kept)
		point = &progress->point[progress->points - 1];
	if (!strcmp(line, "  severity: error") && progress->last == PROGRESS_FAIL) {
		progress->last = PROGRESS_ERROR;
		progress->count[PROGRESS_FAIL]--;
		progress->count[PROGRESS_ERROR]++;
		if (point)
			point->verdict = PROGRESS_ERROR;
	}
	if (point && point->lines < LINES_MAX && has_room_for_blocks(progress) &&
	    keep(progress, line, &text))
		point->lines++;
	else
		progress->lost_lines++;
}

static void take_total(struct progress *progress, const char *line)
{
	if (progress->totals == PROGRESS_TOTALS) {
		progress->totals--;
		for (u32 i = 0; i < progress->totals; i++)
			fmt_print(progress->total[i], PROGRESS_TEXT, "%s", progress->total[i + 1]);
	}
	fmt_print(progress->total[progress->totals++], PROGRESS_TEXT, "%s", line);
}

static void take_comment(struct progress *progress, const char *line)
{
	static const char *const totals[] = { "error: ", "required: ", "requirements decided",
					      "decided ", "NOT TESTED" };
	const char *rest;
	u32 text;

	rest = after(line, "# end of PMUTest86: exit ");
	if (rest) {
		progress->ended = true;
		progress->exit = number(&rest);
		return;
	}
	rest = after(line, "# NOT TESTED: ");
	if (rest)
		fmt_print(progress->not_tested, PROGRESS_TEXT, "%s", rest);
	for (u32 i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
		if (after(line + 2, totals[i])) {
			take_total(progress, line + 2);
			return;
		}
	if (!progress->done && progress->facts < PROGRESS_FACTS && keep(progress, line, &text))
		progress->fact[progress->facts++] = text;
}

void progress_take(struct progress *progress, const char *line)
{
	const char *rest;

	if ((rest = after(line, "ok "))) {
		take_point(progress, line, rest, true);
	} else if ((rest = after(line, "not ok "))) {
		take_point(progress, line, rest, false);
	} else if (after(line, "  ")) {
		if (progress->done)
			take_block(progress, line);
	} else if ((rest = after(line, "1.."))) {
		progress->plan = number(&rest);
	} else if ((rest = after(line, "Bail out! "))) {
		progress->bailed_out = true;
		fmt_print(progress->bail_out, PROGRESS_TEXT, "%s", rest);
	} else if (after(line, "# ")) {
		take_comment(progress, line);
	}
}

void progress_begin_test(struct progress *progress, const char *name)
{
	fmt_print(progress->running, PROGRESS_TEXT, "%s", name ? name : "");
}

void progress_at(struct progress *progress, u64 us)
{
	if (!progress->began_us)
		progress->began_us = us;
	progress->now_us = us;
}

enum progress_result progress_result(const struct progress *progress)
{
	if (!progress->ended)
		return progress->bailed_out ? RESULT_NOT_TRUSTWORTHY : RESULT_NONE;
	if (progress->exit == 1)
		return RESULT_FAILED;
	if (progress->bailed_out)
		return RESULT_NOT_TRUSTWORTHY;
	if (!progress->exit)
		return RESULT_PASSED;
	/* Nothing was decided; an error would be worse. */
	return progress->not_tested[0] && !progress->count[PROGRESS_ERROR] ? RESULT_NOT_TESTED :
									     RESULT_NOT_TRUSTWORTHY;
}

enum progress_result progress_result_of_all(const struct progress *progress)
{
	enum progress_result result = progress_result(progress);

	if (progress->soak.failed || result == RESULT_FAILED)
		return RESULT_FAILED;
	if (progress->soak.not_trustworthy || result == RESULT_NOT_TRUSTWORTHY)
		return RESULT_NOT_TRUSTWORTHY;
	return progress->soak.not_tested ? RESULT_NOT_TESTED : result;
}

const char *progress_result_text(const struct progress *progress)
{
	switch (progress_result_of_all(progress)) {
	case RESULT_PASSED:
		return "PASSED";
	case RESULT_FAILED:
		return "FAILED";
	case RESULT_NOT_TESTED:
		/* Or the selected tests decide nothing. */
		if (after(progress->not_tested, "no selected test") ||
		    after(progress->not_tested, "each test was skipped"))
			return "NOT TESTED";
		return "NOT TESTED: no PMU";
	case RESULT_NOT_TRUSTWORTHY:
		return "NOT TRUSTWORTHY";
	default:
		return "";
	}
}

u32 progress_seconds_left(const struct progress *progress)
{
	u64 elapsed = progress->now_us - progress->began_us;

	if (progress->now_us < progress->began_us || elapsed < LEAST_US || !progress->done ||
	    progress->done >= progress->plan)
		return 0;
	return (u32)(elapsed * (progress->plan - progress->done) / progress->done / US) + 1;
}

const char *progress_fact(const struct progress *progress, const char *key)
{
	for (u32 i = 0; i < progress->facts; i++) {
		const char *rest = after(progress->store + progress->fact[i] + 2, key);

		if (rest && rest[0] == ':' && rest[1] == ' ')
			return rest + 2;
	}
	return NULL;
}

const char *progress_line(const struct progress *progress, const struct progress_point *point,
			  u32 n)
{
	const char *line = progress->store + point->text;

	while (n--) {
		while (*line)
			line++;
		line++;
	}
	return line;
}

const char *progress_name(const struct progress *progress, const struct progress_point *point,
			  char *text, size_t size)
{
	const char *name = find(progress_line(progress, point, 0), " - ");
	size_t i = 0;

	if (name)
		for (name += 3; *name && *name != ' ' && i + 1 < size; name++)
			text[i++] = *name;
	if (size)
		text[i] = '\0';
	return text;
}

bool progress_split(const char *line, char *key, size_t key_size, char *value, size_t value_size)
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

bool progress_value(const struct progress *progress, const struct progress_point *point,
		    const char *key, char *text, size_t size)
{
	const char *line = progress_line(progress, point, 0);
	char found[32];

	for (u32 n = 1; n < point->lines; n++) {
		while (*line)
			line++;
		line++;
		if (progress_split(line, found, sizeof(found), text, size) && !strcmp(found, key))
			return true;
	}
	return false;
}

bool progress_is_bad(const struct progress_point *point)
{
	return point->verdict == PROGRESS_FAIL || point->verdict == PROGRESS_ERROR;
}
