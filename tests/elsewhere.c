/* SPDX-License-Identifier: MIT */
/* The steps that tests with an exerciser share. Nothing here knows what is right about a record. */
#include "tests/elsewhere.h"

#include "kernel/fmt.h"

#define LINE		64u
#define BYTES		(ELSEWHERE_LINES * LINE)
#define TURNS_MOST	800
#define TURNS_SILENT	200	/* without a record: there won't be any */

_Static_assert(BYTES <= 8 * WORKLOAD_WORDS, "the lines are in the workloads' memory");

bool need_exerciser(char *reason, size_t size)
{
	if (exerciser_is_here())
		return true;
	fmt_print(reason, size, exerciser_listed() ? "the exerciser of the configuration table "
		  "doesn't answer" : "no exerciser and no second core that could do it");
	return false;
}

/* Put all lines there. false: the test has ended, as INCONCLUSIVE. */
static bool put(struct test *t, const struct elsewhere *place)
{
	struct exerciser_answer answer = exerciser_put(place->state, place->h.at.memory, BYTES);

	if (answer.done)
		return true;
	test_inconclusive(t, "the exerciser says status %u, %u of %u lines: %s", answer.status,
			  answer.lines, ELSEWHERE_LINES, place->name);
	return false;
}

static void load(const struct elsewhere *place, struct pmc_mask on)
{
	hierarchy_run(&place->h, ELSEWHERE_LINES, on);
}

bool elsewhere_count(struct test *t, const struct elsewhere *place, unsigned counter, u16 event,
		     u64 *value)
{
	*value = ~0ULL;
	for (unsigned i = 0; i < 3 && *value; i++) {
		u64 got;

		/* Nearest first, while something counts: a model may look only then. */
		counter_program(counter, event, COUNT_BOTH);
		load(place, pmc_one(counter));
		if (!put(t, place)) {
			counter_program_disabled(counter, 0, 0);
			return false;
		}
		counter_write(counter, 0);
		load(place, pmc_one(counter));
		got = counter_read(counter);
		counter_program_disabled(counter, 0, 0);
		if (got < *value)
			*value = got;
	}
	return true;
}

bool elsewhere_prepare(struct test *t, struct elsewhere *place)
{
	struct event hit;
	u64 hits;

	if (!tagged_prepare(t, ACCESS_L1, &place->h))
		return false;
	if (!exerciser_offers(place->state, BYTES)) {
		test_skip(t, "the exerciser doesn't offer this: %s", place->name);
		return false;
	}
	if (place->remote)
		place->h.at.memory = exerciser_remote(BYTES);
	if (!place->h.at.memory) {
		test_skip(t, "the exerciser has no memory of another package");
		return false;
	}
	place->h.workload = &workload_stride;
	place->h.name = place->name;
	place->h.at.stride = LINE;
	place->h.at.mask = BYTES - 1;
	place->h.first = (u64)(uintptr_t)place->h.at.memory;
	place->h.last = place->h.first + place->h.at.mask;
	if (!event_get(EK_L1_HIT, 0, &hit))
		return true;
	if (!elsewhere_count(t, place, 0, hit.code, &hits))
		return false;
	if (hits <= ELSEWHERE_LINES / 2)
		return true;
	test_inconclusive(t, "the exerciser says it's done, and %lu loads hit the L1: %s", hits,
			  place->name);
	return false;
}

static u64 at(unsigned record, unsigned offset)
{
	return *(const volatile u64 *)((uintptr_t)ds_record(record) + offset);
}

unsigned elsewhere_take(struct test *t, struct test_claim claim, const struct elsewhere *place,
			const struct tagged_setup *setup,
			struct tagged_record records[TAGGED_MOST])
{
	struct ds_setup ds = sampling_setup(TAGGED_MOST);
	unsigned count;

	ds.reset[setup->counter] = pebs_reset_value(setup->counter, setup->period);
	ds_open(&ds);
	tagged_arm(setup, setup->period);
	for (unsigned i = 0; i < TURNS_MOST && ds_records() < setup->wanted; i++) {
		if (!put(t, place)) {
			tagged_off(setup);
			return 0;
		}
		load(place, pmc_one(setup->counter));
		if (i == TURNS_SILENT && !ds_records())
			break;
	}
	tagged_off(setup);
	count = ds_records();
	if (!tagged_enough(t, claim, &place->h, count, setup->wanted))
		return 0;
	for (unsigned i = 0; i < count; i++)
		records[i] = (struct tagged_record){ at(i, 0x98), at(i, 0xa0), at(i, 0xa8) };
	return count;
}
