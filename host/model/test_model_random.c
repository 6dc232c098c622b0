/* SPDX-License-Identifier: MIT */
/* Random programs: rules that always hold must hold for every seed, and the same input must have
 * the same result. */
#include "host/check.h"
#include "host/model/program.h"

#define PROGRAMS	200	/* make fuzz runs more */
#define BYTES		1500
#define PROGRAMS_A_FAULT 3	/* there are hundreds of faults */

static struct fixture r, again;
static u8 bytes[BYTES];

/* Any generator will do that has the same sequence on every machine. */
static u64 random_state;
static u8 random_byte(void)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return (u8)(random_state >> 56);
}

static void make_program(u64 n)
{
	random_state = n;
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = random_byte();
}

/* Program n runs on generation n; in the next round of programs it runs on the next generation. */
static struct model_config config_of(u64 n, enum fault_id fault, u64 seed, bool hyper_threading)
{
	return (struct model_config){
		.generation = (n + n / FIXTURE_GENERATIONS) % FIXTURE_GENERATIONS,
		.hyper_threading = hyper_threading,
		.fault = fault,
		.latitude.seed = seed,
	};
}

/* Run these bytes as a program of this processor. */
static const char *run(struct fixture *on, u64 n, enum fault_id fault, u64 seed,
		       bool hyper_threading)
{
	struct model_config config = config_of(n, fault, seed, hyper_threading);

	return program_run(on, bytes, BYTES, &config);
}

static void rules_hold_for_every_seed(void)
{
	u64 records = 0, interrupts = 0, instructions = 0;

	for (u64 n = 0; n < PROGRAMS; n++) {
		const char *wrong;

		make_program(n);
		wrong = run(&r, n, FAULT_NONE, n % 4 ? n : 0, n & 1);
		CHECK(!wrong, "generation %u, program %" PRIu64 ", instruction %" PRIu64 ": %s",
		      r.m.config.generation, n, r.now, wrong);
		for (unsigned i = 0; i < r.n_actions; i++)
			records += r.action[i].action == ACTION_ASSIST;
		interrupts += r.n_interrupts;
		instructions += r.now;
	}
	/* The programs must have reached the cases of the rules. */
	CHECK(records > PROGRAMS / 2, "only %" PRIu64 " records", records);
	CHECK(interrupts > PROGRAMS / 2, "only %" PRIu64 " interrupts", interrupts);
	CHECK(instructions > 100 * PROGRAMS);
}

static void no_program_harms_a_broken_processor(void)
{
	const bool all = check_amount(0, 1);

	for (unsigned f = FAULT_NONE + 1; f < FAULT_COUNT; f++)
		for (u64 n = 0; n < PROGRAMS_A_FAULT; n++) {
			if (!all && n != f % PROGRAMS_A_FAULT)
				continue;
			make_program(1000 * f + n);
			CHECK(!run(&r, f + n, f, n, n & 1), "fault %u, generation %u", f,
			      r.m.config.generation);
		}
}

/* Compare everything that is visible of a run, field by field, because there is padding. */
static bool same_course(const struct fixture *a, const struct fixture *b)
{
	bool same = a->now == b->now && a->requests == b->requests && a->lvtpc == b->lvtpc &&
		    a->n_actions == b->n_actions && a->n_interrupts == b->n_interrupts &&
		    !memcmp(a->memory, b->memory, sizeof(a->memory));

	for (unsigned i = 0; same && i < a->n_actions; i++)
		same = a->action[i].action == b->action[i].action &&
		       a->action[i].counter == b->action[i].counter &&
		       a->action[i].at == b->action[i].at;
	for (unsigned i = 0; same && i < a->n_interrupts; i++)
		same = a->interrupt[i].kind == b->interrupt[i].kind &&
		       a->interrupt[i].status == b->interrupt[i].status &&
		       a->interrupt[i].at == b->interrupt[i].at;
	return same;
}

static void the_same_again(void)
{
	unsigned others = 0;

	for (u64 n = 0; n < 100; n++) {
		make_program(n);
		run(&r, n, FAULT_NONE, n, n & 1);
		run(&again, n, FAULT_NONE, n, n & 1);
		CHECK(same_course(&r, &again), "program %" PRIu64, n);
		run(&again, n, FAULT_NONE, n + 1, n & 1);
		others += !same_course(&r, &again);
	}
	CHECK(others > 50, "only %u programs take another course with another seed", others);
}

/* One seed within each profile, and each knob alone at both ends. */
static void rules_hold_for_profiles_and_extremes(void)
{
	static const struct {
		const char *name;
		u32 low, high;
		bool told;
	} knobs[LAT_COUNT] = {
#define LATITUDE(token, name, low, high, source) { name, low, high, false },
#define TROUBLE(token, name, low, high, source) { name, low, low, false },	/* illegal */
#define TOLD(token, name, low, high, source) { name, low, low, true },
#include "refpmu/model/latitude.def"
	};

	for (u64 n = 0; n < PROGRAMS; n++) {
		struct model_config config = config_of(n, FAULT_NONE, n / 2, n & 2);
		unsigned knob = (unsigned)(n / 2 % LAT_COUNT);
		const char *wrong;

		make_program(n);
		config.latitude.profile = 1 + n % (PROFILE_COUNT - 1);
		wrong = program_run(&r, bytes, BYTES, &config);
		CHECK(!wrong, "profile %u, program %" PRIu64 ", instruction %" PRIu64 ": %s",
		      (unsigned)config.latitude.profile, n, r.now, wrong);
		config = config_of(n, FAULT_NONE, 0, n & 1);
		config.latitude.set = knobs[knob].told ? 0 : LATITUDE_BIT(knob);
		config.latitude.value[knob] = n / 2 / LAT_COUNT % 2 ? knobs[knob].low :
								      knobs[knob].high;
		wrong = program_run(&r, bytes, BYTES, &config);
		CHECK(!wrong, "%s, program %" PRIu64 ", instruction %" PRIu64 ": %s",
		      knobs[knob].name, n, r.now, wrong);
	}
}

int main(void)
{
	RUN(rules_hold_for_every_seed);
	RUN(rules_hold_for_profiles_and_extremes);
	RUN(no_program_harms_a_broken_processor);
	RUN(the_same_again);
	return check_end();
}
