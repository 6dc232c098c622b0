/* SPDX-License-Identifier: MIT */
/*
 * Loads that never retire, because their instruction raises #PF. SDM "Load Latency Performance
 * Monitoring Facility" of Sandy Bridge: the event counts only tagged retired loads. A cancelled
 * load isn't counted and doesn't update the state of the facility, and the next available load is
 * tagged. Everything runs at CPL 3, where the exception's handler isn't counted.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/memory/arena.h"
#include "kernel/interrupt/user.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"

#define ROUNDS		96	/* in a window: few, because each is an exception */
#define ROUNDS_STRICT	32	/* in strict runs */
#define RECORDS		2	/* enough records */
#define OFFSET_ADDRESS	0x98	/* Data Linear Address: Table 18-23 */
#define WINDOWS_STRICT	64	/* in strict runs, where loads are rarely tagged */
#define WINDOWS_MOST	(MEM_SAMPLE_ROUNDS_MOST / ROUNDS)	/* in other runs */
#define AROUND		16	/* loads of user_cancelled() and user_call() around the rounds */
#define MISSING		0x108	/* offset in the first page, which isn't mapped */

struct cancelled_probe {
	struct fault fault;
	u64 cancelled, retired, rounds;
};
_Static_assert(offsetof(struct cancelled_probe, cancelled) == 24, "CANCELLED_PROBE_CANCELLED");
_Static_assert(offsetof(struct cancelled_probe, retired) == 32, "CANCELLED_PROBE_RETIRED");
_Static_assert(offsetof(struct cancelled_probe, rounds) == 40, "CANCELLED_PROBE_ROUNDS");

u64 user_cancelled(u64 probe);

static u64 rounds_of(const struct test *t)
{
	return test_rounds(t, ROUNDS_STRICT, ROUNDS);
}

static struct cancelled_probe *probe_get(const struct test *t, u64 cancelled)
{
	static struct cancelled_probe *probe;
	static u64 word;

	if (!probe)
		probe = arena_alloc(sizeof(*probe));
	*probe = (struct cancelled_probe){
		.cancelled = cancelled, .retired = (u64)(uintptr_t)&word, .rounds = rounds_of(t),
	};
	return probe;
}

/* The count of the load latency event in a window at CPL 3. There are records if the DS area is
 * open. */
static u64 count_window(const struct mem_sample_setup *setup, struct cancelled_probe *probe)
{
	u64 before = counter_read(setup->counter), after;

	counters_enable(pmc_one(setup->counter));
	user_call(user_cancelled, (u64)(uintptr_t)probe);
	counters_disable();
	after = counter_read(setup->counter);
	return after - before;
}

static void arm(const struct mem_sample_setup *setup, u64 n)
{
	latency_set_threshold(setup->threshold);
	pebs_disarm();
	counter_program(setup->counter, setup->event, COUNT_USR);
	counter_preset(setup->counter, n);
	pebs_enable(setup->enable);
}

static u64 windows_most(const struct test *t)
{
	return test_is_strict(t) ? WINDOWS_STRICT : WINDOWS_MOST;
}

/* The manual doesn't say how many loads are tagged, so too few of them fail only a strict run. */
static bool too_few(struct test *t, u64 seen, u64 wanted, u64 windows)
{
	if (seen >= wanted || test_is_strict(t))
		return false;
	test_inconclusive(t, "%lu of %lu that are wanted, in %lu windows of %lu loads", seen,
			  wanted, windows, rounds_of(t));
	return true;
}

/*
 * LL-12  The event must count tagged retired loads only; a load that is cancelled must neither
 *        count nor be recorded, and the next available load is tagged in its place.
 *        SDM 18.9.4.2 Load Latency Performance Monitoring Facility
 * LL-09  Only retired demand loads may be counted and recorded: no prefetches and no loads that
 *        were given up.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  at CPL 3, rounds of a load that raises #PF and a load that retires, 96 of each (32 in
 *        strict runs) in a window
 * When   the load latency event counts windows
 * Then   each window has at most as many events as loads that retire
 * Control: some of those are counted: "hardware tags the next available load". Off strict runs it
 *        is INCONCLUSIVE where too few are
 */
TEST(ll, load_latency_event_does_not_count_loads_that_fault, REQS(LL_12, LL_09),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cancelled_probe *probe = probe_get(t, MISSING);
	struct ds_setup ds = sampling_setup(MEM_SAMPLE_MOST);
	u64 counted = 0, windows = 0;

	ds_open(&ds);
	arm(&setup, NEVER);
	for (; windows < windows_most(t) && counted < MEM_SAMPLE_RECORDS; windows++) {
		u64 now = count_window(&setup, probe);

		if (!HARNESS_CHECK(t, probe->fault.raised && probe->fault.vector == VECTOR_PF,
				   "a load from a page that isn't mapped: vector %u",
				   probe->fault.vector))
			break;
		/* One load in each round retires, and may be tagged. */
		CHECK_RANGE(t, IDS(LL_12, LL_09), 0, rounds_of(t) + AROUND, now,
			    "load latency events of %lu loads that retire, %lu that fault",
			    rounds_of(t), rounds_of(t));
		counted += now;
	}
	mem_sample_off(&setup);
	if (too_few(t, counted, MEM_SAMPLE_RECORDS, windows))
		return;
	CONTROL_RANGE(t, IDS(LL_12, LL_09), MEM_SAMPLE_RECORDS, ~0ULL, counted,
		      "load latency events of loads that retire, each after one that faults, in "
		      "%lu",
		      windows * rounds_of(t));
}

/*
 * LL-12  The event must count tagged retired loads only; a load that is cancelled must neither
 *        count nor be recorded, and the next available load is tagged in its place.
 *        SDM 18.9.4.2 Load Latency Performance Monitoring Facility
 *
 * Given  at CPL 3, rounds of a load that raises #PF and a load that retires
 * When   records are made
 * Then   none has the address of the load that raised #PF
 * Control: there are records, of loads that retire. Off strict runs it is INCONCLUSIVE where there
 *        are none
 */
TEST(ll, latency_record_is_never_of_a_load_that_faults, REQS(LL_12),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cancelled_probe *probe = probe_get(t, MISSING);
	struct ds_setup ds = sampling_setup(MEM_SAMPLE_MOST);
	unsigned windows = 0, count;

	ds.reset[setup.counter] = pebs_reset_value(setup.counter, setup.period);
	ds_open(&ds);
	arm(&setup, setup.period);
	for (; windows < windows_most(t) && ds_records() < RECORDS; windows++)
		count_window(&setup, probe);
	mem_sample_off(&setup);
	count = ds_records();
	if (too_few(t, count, 1, windows))
		return;
	CONTROL_RANGE(t, LL_12, 1, MEM_SAMPLE_MOST, count, "records of %u windows", windows);
	for (unsigned i = 0; i < count; i++) {
		const u8 *record = ds_record(i);
		u64 address;

		__builtin_memcpy(&address, record + OFFSET_ADDRESS, sizeof(address));
		CHECK(t, LL_12, address != MISSING,
		      "record %u: address 0x%lx, of the load that "
		      "raised #PF",
		      i, address);
	}
}
