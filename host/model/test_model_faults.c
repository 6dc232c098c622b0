/* SPDX-License-Identifier: MIT */
/*
 * Each fault of refpmu/faults/fault.def acts: a program that uses everything has another
 * observation than on the correct processor (standard_program.h), or a rule that a program can
 * observe doesn't hold (rules/rules.h). `make mutants` shows whether the fault breaks what its
 * sentence says.
 */
#include "host/check.h"
#include "host/fault_names.h"
#include "host/model/rules/rules.h"
#include "host/model/standard_program.h"

/* No program can distinguish it from the correct processor, or it is legal. */
static bool undecidable(enum fault_id fault)
{
	static const char *const runs[FAULT_COUNT] = {
#define FAULT(token, name, requirements, sentence, ...) [FAULT_##token] = FAULT_RUNS(__VA_ARGS__),
#include "refpmu/faults/fault.def"
	};

	return strstr(runs[fault], "legal:");
}

static void the_standard_program_is_the_same_every_time(void)
{
	struct standard_difference where;

	CHECK(!standard_program_finds(FAULT_NONE, &where), "generation %u seed %u round %u",
	      where.generation, where.seed, where.round);
}

static void each_fault_acts(void)
{
	for (unsigned f = FAULT_NONE + 1; f < FAULT_COUNT; f++) {
		struct standard_difference where;

		if (undecidable(f))
			continue;
		if (rule_exists(f))
			CHECK(!rule_holds(f, f, false) && !rule_holds(f, f, true), "%s",
			      fault_names[f]);
		else
			CHECK(standard_program_finds(f, &where), "%s", fault_names[f]);
	}
}

/* A fault breaks only its rule and rules that depend on it: some other rules still hold. */
static void a_fault_is_one_fault(void)
{
	enum { SOME = 10 };

	for (unsigned f = FAULT_INERT + 1; f < FAULT_COUNT; f++) {
		unsigned hold = 0;

		for (unsigned other = FAULT_NONE + 1; other < FAULT_COUNT && hold < SOME; other++)
			hold += rule_exists(other) && rule_holds(other, f, true);
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

static bool acts(enum fault_id fault, const struct fault_when *when,
		 const struct standard_difference *of)
{
	struct standard_difference where = *of;

	return rule_exists(fault) ? !rule_holds_when(fault, fault, when) :
				    standard_program_shows(fault, when, &where);
}

/* In this program the fault acts on one counter, and not on another. */
static bool acts_on_some(enum fault_id fault, const struct standard_difference *of)
{
	static const struct fault_when always;
	bool one = false, other = false;

	if (!acts(fault, &always, of))
		return false;
	for (u8 c = 0; c < FAULT_COUNTERS && !(one && other); c++) {
		struct fault_when when = { .one_counter = true, .counter = c };

		if (acts(fault, &when, of))
			one = true;
		else
			other = true;
	}
	return one && other;
}

/* With a parameter the fault acts on some counter, and not on every one. */
static void faults_of_one_counter_leave_the_others_alone(void)
{
	static const enum generation_id generations[] = {
		GEN_HASWELL, GEN_SANDYBRIDGE, GEN_BROADWELL, GEN_NEHALEM,
	};

	for (unsigned f = FAULT_NONE + 1; f < FAULT_COUNT; f++) {
		bool some = !per_counter(f) || undecidable(f);

		for (unsigned n = 0; n < 4 * STANDARD_SEEDS && !some; n++)
			some = acts_on_some(f, &(struct standard_difference){
				.generation = generations[n % 4], .seed = n / 4,
					       });
		CHECK(some, "%s", fault_names[f]);
	}
}

static void every_fault_is_known_to_the_shell(void)
{
	for (unsigned f = FAULT_NONE + 1; f < FAULT_COUNT; f++)
		CHECK(fault_is_visible(f), "%s", fault_names[f]);
}

int main(void)
{
	RUN(the_standard_program_is_the_same_every_time);
	RUN(each_fault_acts);
	RUN(a_fault_is_one_fault);
	RUN(faults_of_one_counter_leave_the_others_alone);
	RUN(every_fault_is_known_to_the_shell);
	return check_end();
}
