/* SPDX-License-Identifier: MIT */
/* See fault.h. */
#include "refpmu/launch/fault.h"

static const char *const fault_names[FAULT_COUNT] = {
	[FAULT_NONE] = "none",
#define FAULT(token, name, requirements, sentence, ...) [FAULT_##token] = name,
#include "refpmu/faults/fault.def"
};

static const u8 fault_scopes[FAULT_COUNT] = {
#define FAULT(token, name, requirements, sentence, ...) [FAULT_##token] = FAULT_SCOPE(__VA_ARGS__),
#include "refpmu/faults/fault.def"
};

/* A small number without a leading zero: 1 to 4294967295, or 0 if allowed. */
static bool parse_u32(struct span span, bool zero, u32 *value)
{
	u64 number;

	if (!span_number(span, &number) || number > ~(u32)0 ||
	    (span.text[0] == '0' && span.length > 1) || (!number && !zero))
		return false;
	*value = (u32)number;
	return true;
}

static const char *counter(struct span number, unsigned first, unsigned end, unsigned scope,
			   struct fault_when *when)
{
	u32 n;

	if (!parse_u32(number, true, &n) || n >= end - first)
		return "counters of a fault are pmc0 to pmc9 and fixed0 to fixed6";
	if (!(scope & OF_COUNTER))
		return "that fault isn't about one counter";
	if (when->one_counter)
		return "a fault with two counters";
	when->one_counter = true;
	when->counter = (u8)(first + n);
	return NULL;
}

static const struct {
	const char *word;
	u32 condition;
	bool counter;
} conditions[] = {
	{ "cpl3", FAULT_AT_CPL3, false },
	{ "cpu1", FAULT_ON_CPU1, false },
	{ "int", FAULT_WITH_INT, true },
	{ "beside", FAULT_BESIDE, true },
};

/* false: no such condition. */
static bool condition(struct span word, unsigned scope, struct fault_when *when, const char **wrong)
{
	*wrong = NULL;
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		if (!span_equals(word, conditions[i].word))
			continue;
		if (conditions[i].counter && !(scope & OF_COUNTER))
			*wrong = "that fault isn't about one counter";
		else if (when->conditions & conditions[i].condition)
			*wrong = "a condition of a fault twice";
		when->conditions |= conditions[i].condition;
		return true;
	}
	return false;
}

static const char *parameter(struct span word, unsigned scope, struct fault_when *when)
{
	const char *wrong;

	if (condition(word, scope, when, &wrong))
		return wrong;
	if (span_equals(word, "page-crossing")) {
		if ((scope & OF_RECORD) != OF_RECORD)
			return "that fault isn't about one record";
		when->page_crossing = true;
		return NULL;
	}
	if (span_skip(&word, "pmc"))
		return counter(word, 0, FAULT_FIRST_FIXED, scope, when);
	if (span_skip(&word, "fixed"))
		return counter(word, FAULT_FIRST_FIXED, FAULT_COUNTERS, scope, when);
	if (when->nth || when->from || when->every)
		return "a fault takes one of @nth=N, @from=N and @1inN, once";
	if (span_skip(&word, "nth="))
		return parse_u32(word, false, &when->nth) ? NULL : "@nth takes a number from 1";
	if (span_skip(&word, "from="))
		return parse_u32(word, false, &when->from) ? NULL : "@from takes a number from 1";
	if (span_skip(&word, "1in"))
		return parse_u32(word, false, &when->every) ? NULL : "@1in takes a number from 1";
	return "a fault's parameters are @pmcN @fixedN @page-crossing @int @beside @cpl3 @cpu1 "
	       "@nth=N @from=N @1inN";
}

const char *launch_fault(struct span text, enum fault_id *fault, struct fault_when *when)
{
	struct span name = span_take(&text, "@");
	unsigned found = span_find(name, fault_names, FAULT_COUNT);

	if (found == FAULT_COUNT)
		return "no such fault";
	*fault = (enum fault_id)found;
	*when = (struct fault_when){ .one_counter = false };
	if (text.length && *fault == FAULT_NONE)
		return "none takes no parameters";
	while (span_skip(&text, "@")) {
		const char *wrong = parameter(span_take(&text, "@"), fault_scopes[*fault], when);

		if (wrong)
			return wrong;
	}
	return NULL;
}
