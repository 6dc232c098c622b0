/* SPDX-License-Identifier: MIT */
/* See reports.h. */
#include "boot/results/reports.h"

static void json_point(const struct text_sink *sink, const struct item *point)
{
	struct span list = point->requirements, id;
	const char *comma = "";

	text_print(sink, "{\"number\": %u, ", point->number);
	text_put_member(sink, "name", point->name);
	text_put(sink, ", \"requirements\": [");
	while (span_word(&list, &id)) {
		if (span_is(id, "-"))
			continue;
		text_put(sink, comma);
		text_put_string(sink, id);
		comma = ", ";
	}
	text_print(sink, "], \"verdict\": \"%s\", ", item_verdict_names[point->verdict]);
	text_put_member(sink, "reason", point->reason);
	text_put(sink, ", \"details\": {");
	for (unsigned i = 0; i < point->details; i++) {
		text_put(sink, i ? ", " : "");
		text_put_string(sink, point->detail[i].key);
		text_put(sink, ": \"");
		text_put_value(sink, point->detail[i].value, text_escape_json);
		text_put(sink, "\"");
	}
	text_put(sink, "}}");
}

/* Print all items of this kind, as members of an array. */
static void json_items(const struct text_sink *sink, const char *lines, size_t length,
		       enum item_kind kind)
{
	struct item_reader reader = { .text = lines, .length = length };
	const char *comma = "";
	struct item item;

	while (item_next(&reader, &item)) {
		if (item.kind != kind)
			continue;
		text_put(sink, comma);
		text_put(sink, "\n   ");
		if (kind == ITEM_POINT)
			json_point(sink, &item);
		else
			text_put_string(sink, item.text);
		comma = ",";
	}
}

/* The name of a run is its machine. */
static struct span title(const struct totals *totals)
{
	return totals->title.length ? totals->title : span_of("unknown machine");
}

void reports_json(const struct totals *totals, const char *lines, size_t length,
		  const struct text_sink *sink)
{
	text_put(sink, "{\"format\": \"pmutest86-results\", \"version\": 1, \"runs\": [{\n"
		       "  \"settings\": {},\n  ");
	text_put_member(sink, "title", title(totals));
	text_print(sink, ",\n  \"complete\": %s,\n  ", totals->complete ? "true" : "false");
	text_put_member(sink, "problem", span_of(totals->problem));
	text_print(sink, ",\n  \"exit\": %d,\n  ", totals->exit);
	text_put_member(sink, "not_tested", span_of(totals->not_tested));
	text_print(sink, ",\n  \"decided\": %u,\n  \"counts\": {", totals->decided);
	for (unsigned i = 0; i < ITEM_VERDICTS; i++)
		text_print(sink, "%s\"%s\": %u", i ? ", " : "", item_verdict_names[i],
			   totals->count[i]);
	text_put(sink, "},\n  \"requirements\": {");
	for (unsigned i = 0; i < totals->requirements; i++) {
		text_put(sink, i ? ", " : "");
		text_put_string(sink, totals->requirement[i].id);
		text_print(sink, ": \"%s\"", item_verdict_names[totals->requirement[i].verdict]);
	}
	text_put(sink, "},\n  \"engine\": {},\n  \"comments\": [");
	json_items(sink, lines, length, ITEM_COMMENT);
	text_put(sink, "],\n  \"points\": [");
	json_items(sink, lines, length, ITEM_POINT);
	text_put(sink, "]\n}]}\n");
}

static const struct span *find_detail(const struct item *point, const char *key)
{
	for (unsigned i = 0; i < point->details; i++)
		if (span_is(point->detail[i].key, key))
			return &point->detail[i].value;
	return NULL;
}

static void put_detail(const struct text_sink *sink, const struct item *point, const char *key,
		       const char *otherwise)
{
	const struct span *value = find_detail(point, key);

	if (value)
		text_put_value(sink, *value, text_escape_xml);
	else
		text_put(sink, otherwise);
}

static void junit_failure(const struct text_sink *sink, const struct item *point)
{
	bool failed = point->verdict == ITEM_FAIL;
	const char *tag = failed ? "failure" : "error";

	text_print(sink, "   <%s message=\"", tag);
	if (failed) {
		put_detail(sink, point, "requirement", "");
		text_put(sink, ": ");
		put_detail(sink, point, "sentence", "");
	} else {
		put_detail(sink, point, "message", "error");
	}
	text_put(sink, "\">");
	for (unsigned i = 0; i < point->details; i++) {
		text_put(sink, i ? "\n" : "");
		text_put_escaped(sink, point->detail[i].key, text_escape_xml);
		text_put(sink, ": ");
		text_put_value(sink, point->detail[i].value, text_escape_xml);
	}
	text_print(sink, "</%s>\n", tag);
}

static void junit_case(const struct text_sink *sink, const struct item *point)
{
	struct span group = point->name, claim = point->name;

	for (group.length = 0; group.length < claim.length; group.length++)
		if (claim.text[group.length] == '.')
			break;
	claim = span_after(claim, group.length + 1);
	text_put(sink, "  <testcase classname=\"pmutest86.");
	text_put_escaped(sink, group, text_escape_xml);
	text_put(sink, "\" name=\"");
	text_put_escaped(sink, claim.length ? claim : group, text_escape_xml);
	text_put(sink, "\">\n");
	switch (point->verdict) {
	case ITEM_SKIP:
	case ITEM_INCONCLUSIVE:
	case ITEM_KNOWN:
		text_print(sink, "   <skipped message=\"%s: ", item_verdict_names[point->verdict]);
		text_put_escaped(sink, point->reason, text_escape_xml);
		text_put(sink, "\"/>\n");
		break;
	case ITEM_FAIL:
	case ITEM_ERROR:
		junit_failure(sink, point);
		break;
	default:
		break;
	}
	text_put(sink, "  </testcase>\n");
}

/* A problem of the whole run is a separate test case. */
static void junit_wrong(const struct text_sink *sink, const char *name, const char *what,
			const char *text)
{
	text_print(sink,
		   "  <testcase classname=\"pmutest86.run\" name=\"%s\">\n   <error message=\"",
		   name);
	text_put(sink, what);
	text_put_escaped(sink, span_of(text), text_escape_xml);
	text_put(sink, "\"/>\n  </testcase>\n");
}

void reports_junit(const struct totals *totals, const char *lines, size_t length,
		   const struct text_sink *sink)
{
	struct item_reader reader = { .text = lines, .length = length };
	struct item item;
	unsigned wrong;
	bool empty;

	empty = totals->not_tested[0] && !totals->problem[0];
	wrong = (totals->problem[0] ? 1u : 0u) + empty;
	text_put(sink,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n <testsuite name=\"");
	text_put_escaped(sink, title(totals), text_escape_xml);
	text_print(sink, "\" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\">\n",
	      totals->points + wrong, totals->count[ITEM_FAIL], totals->count[ITEM_ERROR] + wrong,
		   totals->count[ITEM_SKIP] + totals->count[ITEM_INCONCLUSIVE] +
			   totals->count[ITEM_KNOWN]);
	while (item_next(&reader, &item))
		if (item.kind == ITEM_POINT)
			junit_case(sink, &item);
	if (totals->problem[0])
		junit_wrong(sink, "is_complete", "", totals->problem);
	if (empty)
		junit_wrong(sink, "decides_something", "NOT TESTED: ", totals->not_tested);
	text_put(sink, " </testsuite>\n</testsuites>\n");
}
