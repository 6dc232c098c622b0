/* SPDX-License-Identifier: MIT */
/* See totals.h. */
#include "boot/results/totals.h"
#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"

/* The state while the run's items are taken. */
struct taking {
	struct totals *totals;
	unsigned plan, claim, last;
	bool planned, others;
	struct span not_tested, bail_out;
	struct item point;		/* the last point */
	bool pending;
	struct span broken[TOTALS_BROKEN], failed[TOTALS_BROKEN];
	unsigned broken_count, failed_count;
};

static bool is_equal(struct span a, struct span b)
{
	return a.length == b.length && !memcmp(a.text, b.text, a.length);
}

static bool is_listed(const struct span *list, unsigned count, struct span id)
{
	for (unsigned i = 0; i < count; i++)
		if (is_equal(list[i], id))
			return true;
	return false;
}

static void add(struct span *list, unsigned *count, struct span id)
{
	if (id.length && *count < TOTALS_BROKEN && !is_listed(list, *count, id))
		list[(*count)++] = id;
}

static bool is_open(enum item_verdict verdict)
{
	return verdict == ITEM_SKIP || verdict == ITEM_INCONCLUSIVE;
}

/* Keep the worst verdict; a SKIP or INCONCLUSIVE doesn't replace a PASS. */
static void judge(struct totals *totals, struct span id, enum item_verdict verdict)
{
	unsigned i = 0;
	enum item_verdict old;

	while (i < totals->requirements && !is_equal(totals->requirement[i].id, id))
		i++;
	if (i == TOTALS_REQUIREMENTS)
		return;
	if (i == totals->requirements) {
		totals->requirement[totals->requirements].id = id;
		totals->requirement[totals->requirements++].verdict = verdict;
		return;
	}
	old = totals->requirement[i].verdict;
	if ((is_open(old) && verdict == ITEM_PASS) ||
	    (verdict > old && !(old == ITEM_PASS && is_open(verdict))))
		totals->requirement[i].verdict = verdict;
}

/* The ids in a failure's block: "requirement", and the first word of each "also_N". */
static void find_broken(struct taking *taking)
{
	const struct item *point = &taking->point;

	for (unsigned i = 0; i < point->details; i++) {
		struct span key = point->detail[i].key, value = point->detail[i].value;

		if (value.length && value.text[0] == '"')
			value = span_after(value, 1);
		if (span_begins(key, "also_")) {
			for (size_t n = 0; n < value.length; n++)
				if (value.text[n] == ' ')
					value.length = n;
		} else if (!span_is(key, "requirement")) {
			continue;
		}
		if (value.length && value.text[value.length - 1] == '"')
			value.length--;
		add(taking->broken, &taking->broken_count, value);
	}
}

/* The last point and its checks are complete. */
static void settle(struct taking *taking)
{
	struct span list = taking->point.requirements, id;
	const struct span *broken = taking->failed;
	unsigned count;

	if (!taking->pending)
		return;
	taking->pending = false;
	taking->broken_count = 0;
	count = 0;
	if (taking->point.verdict == ITEM_FAIL || taking->point.verdict == ITEM_KNOWN) {
		find_broken(taking);
		count = taking->failed_count;
		if (!count) {
			broken = taking->broken;
			count = taking->broken_count;
		}
	}
	/* If a requirement is broken, the point has no verdict on the others. */
	while (!count && span_word(&list, &id))
		if (!span_is(id, "-"))
			judge(taking->totals, id, taking->point.verdict);
	for (unsigned i = 0; i < count; i++)
		judge(taking->totals, broken[i], taking->point.verdict);
}

static void take_point(struct taking *taking, const struct item *item)
{
	struct totals *totals = taking->totals;

	taking->point = *item;
	taking->pending = true;
	taking->failed_count = 0;
	taking->others |= span_begins(item->name, "borrow.") || span_begins(item->name, "efi.");
	taking->last = item->number;
	totals->points++;
	totals->count[item->verdict]++;
}

static void take_comment(struct taking *taking, struct span text)
{
	static const char processor[] = "processor: ", not_tested[] = "NOT TESTED: ";

	if (span_begins(text, processor) && !taking->totals->title.length)
		taking->totals->title = span_after(text, sizeof(processor) - 1);
	if (span_begins(text, not_tested) && !taking->not_tested.length)
		taking->not_tested = span_after(text, sizeof(not_tested) - 1);
}

static void copy(char *to, size_t size, struct span from)
{
	size_t length = from.length < size ? from.length : size - 1;

	memcpy(to, from.text, length);
	to[length] = '\0';
}

static void find_problem(const struct taking *taking)
{
	struct totals *totals = taking->totals;

	if (taking->bail_out.length)
		copy(totals->problem, sizeof(totals->problem), taking->bail_out);
	else if (!totals->complete && !totals->points)
		fmt_print(totals->problem, sizeof(totals->problem),
			  "the log ends after the first line, without its end line");
	else if (!totals->complete)
		fmt_print(totals->problem, sizeof(totals->problem),
			  "the log ends after test point %u, without its end line", taking->last);
	else if (taking->planned && taking->plan != totals->points)
		fmt_print(totals->problem, sizeof(totals->problem),
			  "%u tests were planned, %u are in the log", taking->plan, totals->points);
}

static void conclude(const struct taking *taking)
{
	struct totals *totals = taking->totals;

	for (unsigned i = 0; i < totals->requirements; i++)
		totals->decided += totals->requirement[i].verdict == ITEM_PASS ||
				   totals->requirement[i].verdict == ITEM_KNOWN ||
				   totals->requirement[i].verdict == ITEM_FAIL;
	find_problem(taking);
	if (!totals->decided && !taking->others) {
		if (taking->not_tested.length)
			copy(totals->not_tested, sizeof(totals->not_tested), taking->not_tested);
		else
			fmt_print(totals->not_tested, sizeof(totals->not_tested), "%s",
				  totals->problem[0] ? totals->problem :
						       "no requirement was decided");
	}
	if (totals->count[ITEM_FAIL])
		totals->exit = 1;
	else if (totals->problem[0] || taking->claim || totals->count[ITEM_ERROR] ||
		 totals->not_tested[0])
		totals->exit = 2;
}

void totals_take(struct totals *totals, const char *lines, size_t length)
{
	struct item_reader reader = { .text = lines, .length = length };
	struct taking taking = { .totals = totals };
	struct item item;

	memset(totals, 0, sizeof(*totals));
	while (item_next(&reader, &item)) {
		switch (item.kind) {
		case ITEM_POINT:
			settle(&taking);
			take_point(&taking, &item);
			break;
		case ITEM_CHECK:
			if (item.failed)
				add(taking.failed, &taking.failed_count, item.requirement);
			break;
		case ITEM_COMMENT:
			take_comment(&taking, item.text);
			break;
		case ITEM_PLAN:
			taking.planned = true;
			taking.plan = item.number;
			break;
		case ITEM_BAIL_OUT:
			taking.bail_out = item.text;
			break;
		case ITEM_END:
			totals->complete = true;
			taking.claim = item.number;
			break;
		case ITEM_OTHER:
			break;
		}
	}
	settle(&taking);
	conclude(&taking);
}

static unsigned number_at(struct span text, size_t at)
{
	unsigned number = 0;

	for (; at < text.length && text.text[at] >= '0' && text.text[at] <= '9'; at++)
		number = number * 10 + (unsigned)(text.text[at] - '0');
	return number;
}

void totals_count(struct totals_counted *counted, const char *line)
{
	static const char decided[] = "requirements decided ";
	struct item_reader reader = { .text = line, .length = strlen(line) };
	struct item item;

	if (!item_next(&reader, &item))
		return;
	if (item.kind == ITEM_POINT) {
		counted->last = item.verdict;
		counted->count[item.verdict]++;
	} else if (item.kind == ITEM_END) {
		counted->exit = (int)item.number;
	} else if (item.kind == ITEM_COMMENT && span_begins(item.text, decided)) {
		counted->decided = number_at(item.text, sizeof(decided) - 1);
	} else if (span_is(item.text, "  severity: error") && counted->last == ITEM_FAIL) {
		counted->last = ITEM_ERROR;
		counted->count[ITEM_FAIL]--;
		counted->count[ITEM_ERROR]++;
	}
}

void totals_correct(struct totals *totals, const struct totals_counted *counted)
{
	unsigned listed = totals->points, points = 0;

	for (unsigned i = 0; i < ITEM_VERDICTS; i++) {
		totals->count[i] = counted->count[i];
		points += counted->count[i];
	}
	totals->points = points;
	totals->decided = counted->decided;
	totals->exit = counted->exit;
	fmt_print(totals->problem, sizeof(totals->problem),
		  "there was no room for the whole log: what follows is of %u points of %u", listed,
		  points);
}
