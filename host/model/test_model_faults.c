/* SPDX-License-Identifier: MIT */
/*
 * Each fault of refpmu/faults/fault.def breaks what its sentence says: a rule that a program can
 * observe, which holds on the correct processor (test_model_rules.c) and doesn't on the broken one.
 * rules.h has the rules.
 */
#include "host/check.h"
#include "host/model/rules/rules.h"

static const char *const fault_names[FAULT_COUNT] = {
	[FAULT_NONE] = "none",
#define FAULT(token, name, requirements, sentence, ...) [FAULT_##token] = name,
#include "refpmu/faults/fault.def"
};

/* Not different from the correct processor for any program, or legal. */
static bool undecidable(enum fault_id fault)
{
	static const char *const runs[FAULT_COUNT] = {
#define FAULT(token, name, requirements, sentence, ...) [FAULT_##token] = FAULT_RUNS(__VA_ARGS__),
#include "refpmu/faults/fault.def"
	};

	return strstr(runs[fault], "legal:");
}

static void each_fault_breaks_its_rule(void)
{
	for (unsigned hyper_threading = 0; hyper_threading < 2; hyper_threading++)
		for (unsigned f = FAULT_NONE + 1; f < FAULT_COUNT; f++)
			CHECK(!rule_holds(f, f, hyper_threading) || undecidable(f), "%s",
			      fault_names[f]);
}

/* Nothing else than its rule and what depends on it: some other rules still hold. */
static void a_fault_is_one_fault(void)
{
	enum { SOME = 10 };

	for (unsigned f = FAULT_INERT + 1; f < FAULT_COUNT; f++) {
		unsigned hold = 0;

		for (unsigned other = FAULT_NONE + 1; other < FAULT_COUNT && hold < SOME; other++)
			hold += rule_holds(other, f, true);
		CHECK(hold == SOME, "%s leaves %u rules", fault_names[f], hold);
	}
}

static bool per_counter(enum fault_id fault)
{
	static const u8 scopes[FAULT_COUNT] = {
#define FAULT(token, name, requirements, sentence, ...) [FAULT_##token] = FAULT_SCOPE(__VA_ARGS__),
#include "refpmu/faults/fault.def"
	};

	return scopes[fault] & OF_COUNTER;
}

/* With a parameter it breaks its rule on some counter, and not on every one. */
static void faults_of_one_counter_leave_the_others_alone(void)
{
	for (unsigned f = FAULT_NONE + 1; f < FAULT_COUNT; f++) {
		unsigned broken = 0;

		if (!per_counter(f) || undecidable(f))
			continue;
		for (u8 c = 0; c < FAULT_COUNTERS; c++) {
			struct fault_when when = { .one_counter = true, .counter = c };

			broken += !rule_holds_when(f, f, &when);
		}
		CHECK(broken > 0 && broken < FAULT_COUNTERS, "%s breaks its rule on %u counters",
		      fault_names[f], broken);
	}
}

static void every_fault_is_known_to_the_shell(void)
{
	for (unsigned f = FAULT_NONE + 1; f < FAULT_COUNT; f++)
		CHECK(fault_is_visible(f), "%s", fault_names[f]);
}

int main(void)
{
	RUN(each_fault_breaks_its_rule);
	RUN(a_fault_is_one_fault);
	RUN(faults_of_one_counter_leave_the_others_alone);
	RUN(every_fault_is_known_to_the_shell);
	return check_end();
}
