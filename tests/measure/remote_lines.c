/* SPDX-License-Identifier: MIT */
/* Steps that tests with an exerciser share. This file doesn't judge records. */
#include "tests/measure/remote_lines.h"

#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/frame/disturbance.h"

#define LINE		64u
#define STRICT_LINES	32	/* each load is in its place there */
#define TURNS_MOST	800
#define TURNS_SILENT	200	/* turns without a record: there won't be any */

_Static_assert(REMOTE_LINES *LINE <= 8 * WORKLOAD_WORDS, "the lines are in the workloads' memory");

unsigned remote_lines_number(const struct test *t)
{
	return (unsigned)test_rounds(t, STRICT_LINES, REMOTE_LINES);
}

static unsigned bytes_of(const struct test *t)
{
	return remote_lines_number(t) * LINE;
}

static unsigned half_of(const struct test *t)
{
	return remote_lines_number(t) / 2;
}

bool need_exerciser(char *reason, size_t size)
{
	if (exerciser_is_here())
		return true;
	fmt_print(reason, size,
		  exerciser_listed() ? "the exerciser of the configuration table "
				       "doesn't answer" :
				       "no exerciser and no second core that could do it");
	return false;
}

/* Put all lines into that place. false: the test has ended as INCONCLUSIVE. */
static bool remote_lines_put(struct test *t, const struct remote_lines *place)
{
	struct exerciser_answer answer = exerciser_put(place->state, place->loads.at.memory,
						       bytes_of(t));

	if (answer.done)
		return true;
	test_inconclusive(t, "the exerciser says status %u, %u of %u lines: %s", answer.status,
			  answer.lines, remote_lines_number(t), place->name);
	return false;
}

static void remote_lines_load(const struct test *t, const struct remote_lines *place,
			      struct pmc_mask on)
{
	cache_workload_run(&place->loads, remote_lines_number(t), on);
}

/* Count one window. false: the test has ended. */
static bool count_once(struct test *t, const struct remote_lines *place, unsigned counter,
		       u16 event, u64 *value)
{
	struct attempt attempt = { .last_gaps = DISTURBANCE_FIRST };

	for (unsigned i = 0; i < WINDOW_TRIES; i++) {
		bool there;

		disturbance_begin(&attempt);
		/* First load the lines, so that they are near, while a counter counts: a model may
		 * track loads only then. */
		counter_program(counter, event, COUNT_BOTH);
		remote_lines_load(t, place, pmc_one(counter));
		there = remote_lines_put(t, place);
		if (there) {
			counter_write(counter, 0);
			remote_lines_load(t, place, pmc_one(counter));
			*value = counter_read(counter);
		}
		counter_program_disabled(counter, 0, 0);
		if (!there || !disturbance_found(&attempt))
			return there;
		if (i + 1 < WINDOW_TRIES)
			disturbance_forgive(&attempt);
	}
	test_inconclusive(t, "%u windows in a row were disturbed", WINDOW_TRIES);
	return false;
}

bool remote_lines_count(struct test *t, const struct remote_lines *place, unsigned counter,
			u16 event, u64 *value)
{
	const unsigned windows = test_is_strict(t) ? 1 : 3;

	*value = ~0ULL;
	for (unsigned i = 0; i < windows && *value; i++) {
		u64 got;

		if (!count_once(t, place, counter, event, &got))
			return false;
		if (got < *value)
			*value = got;
	}
	return true;
}

/* The response bits of loads from that place, on this processor; 0: these loads aren't counted
 * separately. */
static u64 responses(const struct remote_lines *place)
{
	const u32 facilities = counter_caps()->facilities;

	return facilities & FAC_OFFCORE_SNB ? place->later :
	       facilities & FAC_OFFCORE	    ? place->nehalem :
					      0;
}

/* The event by which this witness counts loads from that place. false: there is none. */
static bool witness_event(const struct remote_lines *place, enum remote_lines_witness witness,
			  struct event *event)
{
	if (witness == SEEN_BY_EVENT)
		return place->event != EK_NONE && event_get(place->event, 0, event);
	return responses(place) && event_get(EK_OFFCORE_0, 0, event);
}

static bool witness_count(struct test *t, const struct remote_lines *place,
			  enum remote_lines_witness witness, u64 *value)
{
	struct event event;
	bool counted;

	*value = 0;
	if (!witness_event(place, witness, &event))
		return true;
	if (witness == SEEN_BY_EVENT)
		return remote_lines_count(t, place, 0, event.code, value);
	if (msr_try_write(MSR_OFFCORE_RSP_0, responses(place) | REMOTE_LINES_DEMAND_READ).raised)
		return true;
	counted = remote_lines_count(t, place, 0, event.code, value);
	msr_try_write(MSR_OFFCORE_RSP_0, 0);
	return counted;
}

static u64 remote_lines_at(unsigned record, unsigned offset)
{
	return *(const volatile u64 *)((uintptr_t)ds_record(record) + offset);
}

/* Take turns until there are enough records. false: the test has ended. */
static bool make_records(struct test *t, const struct remote_lines *place,
			 const struct mem_sample_setup *setup)
{
	struct ds_setup ds = sampling_setup(MEM_SAMPLE_MOST);
	bool there = true;

	ds.reset[setup->counter] = pebs_reset_value(setup->counter, setup->period);
	ds_open(&ds);
	mem_sample_arm(setup, setup->period);
	for (unsigned i = 0; i < TURNS_MOST && ds_records() < setup->wanted; i++) {
		there = remote_lines_put(t, place);
		if (!there)
			break;
		remote_lines_load(t, place, pmc_one(setup->counter));
		if (i == TURNS_SILENT && !ds_records())
			break;
	}
	mem_sample_off(setup);
	return there;
}

/* Do most records of load latency show that place? From Sandy Bridge on the codes have other
 * meanings, and events exist instead. */
static bool witness_records(struct test *t, const struct remote_lines *place, u64 *value)
{
	const struct mem_sample_setup setup = mem_sample_loads(t);
	unsigned good = 0;
	char reason[96];

	*value = 0;
	if (!place->codes || counter_caps()->facilities & FAC_OFFCORE_SNB ||
	    !need_load_latency(reason, sizeof(reason)))
		return true;
	if (!make_records(t, place, &setup))
		return false;
	for (unsigned i = 0; i < ds_records(); i++)
		good += (unsigned)(place->codes >>
					   (remote_lines_at(i, sampling_offsets().source) & 0xf) &
				   1);
	if (good > ds_records() / 2)
		*value = half_of(t);
	return true;
}

bool remote_lines_confirmed(struct test *t, const struct remote_lines *place,
			    enum remote_lines_witness accused)
{
	struct event event;

	for (enum remote_lines_witness w = SEEN_IN_RECORDS; w <= SEEN_BY_OFFCORE; w++) {
		u64 value;

		if (w == accused)
			continue;
		if (w == SEEN_IN_RECORDS ? !witness_records(t, place, &value) :
					   !witness_count(t, place, w, &value))
			return false;
		if (value >= half_of(t))
			return true;
	}
	/* The reference PMU's exerciser can be believed where no processor could have a witness. */
	if (accused == SEEN_IN_RECORDS && !witness_event(place, SEEN_BY_EVENT, &event) &&
	    !witness_event(place, SEEN_BY_OFFCORE, &event) && test_is_strict(t))
		return true;
	test_inconclusive(t,
			  "the exerciser says it's done, and nothing else than what is judged "
			  "tells of %s",
			  place->name);
	return false;
}

bool remote_lines_prepare(struct test *t, struct remote_lines *place)
{
	struct event hit;
	u64 hits;

	if (!mem_sample_prepare(t, ACCESS_L1, &place->loads))
		return false;
	if (!exerciser_offers(place->state, bytes_of(t))) {
		test_skip(t, "the exerciser doesn't offer this: %s", place->name);
		return false;
	}
	if (place->remote)
		place->loads.at.memory = exerciser_remote(bytes_of(t));
	if (!place->loads.at.memory) {
		test_skip(t, "the exerciser has no memory of another package");
		return false;
	}
	place->loads.workload = &workload_stride;
	place->loads.name = place->name;
	place->loads.at.stride = LINE;
	place->loads.at.mask = bytes_of(t) - 1;
	place->loads.first = (u64)(uintptr_t)place->loads.at.memory;
	place->loads.last = place->loads.first + place->loads.at.mask;
	if (!event_get(EK_L1_HIT, 0, &hit))
		return true;
	if (!remote_lines_count(t, place, 0, hit.code, &hits))
		return false;
	if (hits <= half_of(t))
		return true;
	test_inconclusive(t, "the exerciser says it's done, and %lu loads hit the L1: %s", hits,
			  place->name);
	return false;
}

unsigned remote_lines_take(struct test *t, struct test_claim claim,
			   const struct remote_lines *place, const struct mem_sample_setup *setup,
			   struct mem_sample_record records[MEM_SAMPLE_MOST])
{
	const struct sampling_offsets at = sampling_offsets();
	unsigned count;

	if (!make_records(t, place, setup))
		return 0;
	count = ds_records();
	if (!mem_sample_enough(t, claim, &place->loads, count, setup->wanted))
		return 0;
	for (unsigned i = 0; i < count; i++)
		records[i] = (struct mem_sample_record){ remote_lines_at(i, at.address),
							 remote_lines_at(i, at.source),
							 remote_lines_at(i, at.latency),
							 ds_record(i) };
	return count;
}
