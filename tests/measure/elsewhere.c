/* SPDX-License-Identifier: MIT */
/* The steps that tests with an exerciser share. Nothing here knows what is right about a record. */
#include "tests/measure/elsewhere.h"

#include "kernel/fault.h"
#include "kernel/fmt.h"
#include "spec/msr.h"
#include "tests/frame/evidence.h"

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

/* One window; false: the test has ended. */
static bool count_once(struct test *t, const struct elsewhere *place, unsigned counter, u16 event,
		       u64 *value)
{
	struct attempt attempt = { .last_gaps = EVIDENCE_FIRST };

	for (unsigned i = 0; i < WINDOW_TRIES; i++) {
		bool there;

		evidence_begin(&attempt);
		/* Nearest first, while something counts: a model may look only then. */
		counter_program(counter, event, COUNT_BOTH);
		load(place, pmc_one(counter));
		there = put(t, place);
		if (there) {
			counter_write(counter, 0);
			load(place, pmc_one(counter));
			*value = counter_read(counter);
		}
		counter_program_disabled(counter, 0, 0);
		if (!there || !evidence_disturbed(&attempt))
			return there;
		if (i + 1 < WINDOW_TRIES)
			evidence_forgive(&attempt);
	}
	test_inconclusive(t, "%u windows in a row were disturbed", WINDOW_TRIES);
	return false;
}

bool elsewhere_count(struct test *t, const struct elsewhere *place, unsigned counter, u16 event,
		     u64 *value)
{
	*value = ~0ULL;
	for (unsigned i = 0; i < 3 && *value; i++) {
		u64 got;

		if (!count_once(t, place, counter, event, &got))
			return false;
		if (got < *value)
			*value = got;
	}
	return true;
}

/* The responses of loads from there, on this processor; 0: they aren't told from others. */
static u64 responses(const struct elsewhere *place)
{
	return counter_caps()->facilities & FAC_OFFCORE_SNB ? place->later : place->nehalem;
}

static bool witness_count(struct test *t, const struct elsewhere *place,
			  enum elsewhere_witness witness, u64 *value)
{
	enum event_kind kind = witness == SEEN_BY_EVENT ? place->event : EK_OFFCORE_0;
	struct event event;
	bool counted;

	*value = 0;
	if (kind == EK_NONE || !event_get(kind, 0, &event))
		return true;
	if (witness == SEEN_BY_EVENT)
		return elsewhere_count(t, place, 0, event.code, value);
	if (!responses(place) || msr_try_write(MSR_OFFCORE_RSP_0, responses(place) |
					       ELSEWHERE_DEMAND_READ).raised)
		return true;
	counted = elsewhere_count(t, place, 0, event.code, value);
	msr_try_write(MSR_OFFCORE_RSP_0, 0);
	return counted;
}

bool elsewhere_confirmed(struct test *t, const struct elsewhere *place,
			 enum elsewhere_witness accused)
{
	for (enum elsewhere_witness w = SEEN_BY_EVENT; w <= SEEN_BY_OFFCORE; w++) {
		u64 value;

		if (w == accused)
			continue;
		if (!witness_count(t, place, w, &value))
			return false;
		if (value >= ELSEWHERE_MANY)
			return true;
	}
	test_inconclusive(t, "the exerciser says it's done, and nothing else than what is judged "
			  "tells of %s", place->name);
	return false;
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
	if (hits <= ELSEWHERE_MANY)
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
