/* SPDX-License-Identifier: MIT */
/*
 * Several records of NetBurst in one buffer: SDM "BTS and DS Save Area". The index is the address
 * of the next record. It is compared with threshold and absolute maximum, which are 64-bit linear
 * addresses. The threshold requests an interrupt, but doesn't stop records. The manual doesn't say
 * how late a record is: some events are allowed here, fewer than half of a long period.
 */
#include "tests/netburst/needs.h"
#include "tests/netburst/sampling.h"

#define SIZE	144u	/* bytes of a record, Figure 17-10 */
#define THIRD	3u	/* records up to the threshold or the maximum */
#define PERIODS	6u
#define AGAIN	2u
#define SHORT	16u	/* marked loads from one record to the next overflow */
/* A distance that doesn't change the lower 32 bits, and is a whole number of records. */
#define FAR	(9 * BIT(32))

/* Loads for six periods, and so for more than three records. */
static struct netburst_sampling six_periods(void)
{
	struct netburst_sampling s = netburst_own_loads();

	s.w = &workload_load;
	s.nth = s.every = NETBURST_LONG_PERIOD;
	s.n = PERIODS * (NETBURST_LONG_PERIOD + 1) + NETBURST_LONG_PERIOD / 2;
	return s;
}

static struct netburst_taken taken;

/* Windows of six periods on one thread: where the threshold and the absolute maximum are, as in
 * struct netburst_sampling, and the result. */
#define WINDOWS	4u

static struct windows {
	struct {
		unsigned threshold;
		u64 threshold_bytes, maximum_bytes;
		bool user, masked;
	} how[WINDOWS];
	unsigned n;
	struct netburst_taken taken[WINDOWS];
} windows;

static void run_windows(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < windows.n; i++) {
		struct netburst_sampling s = six_periods();

		s.threshold = windows.how[i].threshold;
		s.threshold_bytes = windows.how[i].threshold_bytes;
		s.maximum_bytes = windows.how[i].maximum_bytes;
		s.user = windows.how[i].user;
		s.masked = windows.how[i].masked;
		netburst_sample(&s, &windows.taken[i]);
	}
}

/*
 * NB-38  After a record the counter must hold the reset value of the DS save area and the index
 *        must point after the record.
 *        SDM 18.15.7 Processor Event-Based Sampling (PEBS)
 *
 * Given  a period of 16 marked loads, each of which is executed once
 * When   the counter overflows several times between them
 * Then   the second record is of a later marked load than the first
 */
TEST(netburst, pebs_records_follow_each_other_as_their_loads_do, REQS(NB_38),
     NEEDS(need_netburst_pebs))
{
	struct netburst_sampling s = netburst_own_loads();
	int first, second;

	s.every = SHORT;
	s.threshold = NETBURST_RECORDS + 1;
	netburst_sample(&s, &taken);
	if (!CHECK_RANGE(t, NB_38, 2, NETBURST_RECORDS, taken.records, "records"))
		return;
	first = netburst_mark_of(s.w, netburst_record(0).value[RECORD_rip]);
	second = netburst_mark_of(s.w, netburst_record(1).value[RECORD_rip]);
	CHECK(t, NB_38, first >= 0, "the first record is of marked load %d", first);
	CHECK(t, NB_38, second > first, "the second record is of marked load %d, after %d", second,
	      first);
}

/*
 * NB-38  After a record the counter must hold the reset value of the DS save area and the index
 *        must point after the record.
 *        SDM 18.15.7 Processor Event-Based Sampling (PEBS)
 *
 * Given  a threshold after three records, and LVTPC masked or not, on either thread
 * When   loads for six periods retire, at CPL 0 or 3
 * Then   with LVTPC masked, so that no handler stops the counter, there are more than three
 *        records, each written
 * Control: with LVTPC unmasked an interrupt comes
 */
TEST(netburst, pebs_records_go_on_after_the_threshold, REQS(NB_38), NEEDS(need_netburst_pebs))
{
	windows = (struct windows){
		.n = 4,
		.how = { { .threshold = THIRD },
			 { .threshold = THIRD, .masked = true },
			 { .threshold = THIRD, .user = true },
			 { .threshold = THIRD, .user = true, .masked = true } },
	};
	for (unsigned thread = 0; thread < 2; thread++) {
		if (!netburst_runs_on(thread))
			continue;
		if (!netburst_run(t, thread, NETBURST_ASLEEP, run_windows, NULL))
			return;
		for (unsigned i = 0; i < windows.n; i += 2) {
			const struct netburst_taken *masked = &windows.taken[i + 1];
			const unsigned cpl = windows.how[i].user ? 3 : 0;

			CONTROL_RANGE(t, NB_38, 1, PERIODS, windows.taken[i].interrupts,
				      "interrupts, LVTPC unmasked, T%u, CPL %u", thread, cpl);
			CHECK_RANGE(t, NB_38, THIRD + 1, NETBURST_RECORDS, masked->records,
				    "records, LVTPC masked, T%u, CPL %u", thread, cpl);
			CHECK_EQ(t, NB_38, 0, masked->unwritten, "of them that were not written");
		}
	}
}

/*
 * NB-38  After a record the counter must hold the reset value of the DS save area and the index
 *        must point after the record.
 *        SDM 18.15.7 Processor Event-Based Sampling (PEBS)
 * NB-39  A PMI must come when the PEBS index reaches the threshold, on the logical processor whose
 *        DS save area it is.
 *        SDM 17.4.9.5 Writing the DS Interrupt Service Routine
 *
 * Given  threshold and absolute maximum after the third record; then 36 GiB and 72 GiB beyond it,
 *        with the lower 32 bits unchanged; on either thread
 * When   loads for six periods retire
 * Then   where they are far away no interrupt is delivered, and there are more than three records
 * Control: with the threshold after the third record an interrupt comes; with the maximum there,
 *          there are three records
 */
TEST(netburst, pebs_index_is_compared_by_64_bits, REQS(NB_38, NB_39), NEEDS(need_netburst_pebs))
{
	windows = (struct windows){
		.n = 3,
		.how = { { .threshold = THIRD },
			 { .threshold = NETBURST_RECORDS + 1, .maximum_bytes = THIRD * SIZE },
			 { .threshold_bytes = THIRD * SIZE + FAR,
			   .maximum_bytes = THIRD * SIZE + 2 * FAR } },
	};
	for (unsigned thread = 0; thread < 2; thread++) {
		if (!netburst_runs_on(thread))
			continue;
		if (!netburst_run(t, thread, NETBURST_ASLEEP, run_windows, NULL))
			return;
		CONTROL_RANGE(t, NB_39, 1, PERIODS, windows.taken[0].interrupts,
			      "interrupts of T%u, threshold after record %u", thread, THIRD);
		CONTROL_EQ(t, NB_38, THIRD, windows.taken[1].records,
			   "records of T%u, maximum after record %u", thread, THIRD);
		CHECK_EQ(t, NB_39, 0, windows.taken[2].interrupts,
			 "interrupts of T%u, threshold far beyond record %u", thread, THIRD);
		CHECK_RANGE(t, NB_38, THIRD + 1, NETBURST_RECORDS, windows.taken[2].records,
			    "records of T%u, maximum far beyond record %u", thread, THIRD);
	}
}

/*
 * NB-38  After a record the counter must hold the reset value of the DS save area and the index
 *        must point after the record.
 *        SDM 18.15.7 Processor Event-Based Sampling (PEBS)
 *
 * Given  an absolute maximum one byte after the third record, as "a multiple of the PEBS record
 *        size plus 1" asks; and, where every requirement is judged, one byte before the end of a
 *        fourth; on either thread
 * When   loads for six periods retire
 * Then   there are three records, and nothing was written after them
 * Control: with the maximum at the end of a fourth record there are four
 */
TEST(netburst, pebs_record_that_would_end_beyond_the_maximum_is_not_written, REQS(NB_38),
     NEEDS(need_netburst_pebs))
{
	const unsigned far = NETBURST_RECORDS + 1;

	windows = (struct windows){
		.n = test_is_strict(t) ? 3 : 2,
		.how = { { .threshold = far, .maximum_bytes = (THIRD + 1) * SIZE },
			 { .threshold = far, .maximum_bytes = THIRD * SIZE + 1 },
			 { .threshold = far, .maximum_bytes = (THIRD + 1) * SIZE - 1 } },
	};
	for (unsigned thread = 0; thread < 2; thread++) {
		if (!netburst_runs_on(thread))
			continue;
		if (!netburst_run(t, thread, NETBURST_ASLEEP, run_windows, NULL))
			return;
		CONTROL_EQ(t, NB_38, THIRD + 1, windows.taken[0].records,
			   "records of T%u, maximum after record %u", thread, THIRD + 1);
		for (unsigned i = 1; i < windows.n; i++) {
			const struct netburst_taken *got = &windows.taken[i];

			CHECK_EQ(t, NB_38, THIRD, got->records,
				 "records of T%u, maximum after %lu bytes", thread,
				 windows.how[i].maximum_bytes);
			CHECK_EQ(t, NB_38, THIRD * SIZE, (u64)got->bytes, "bytes up to the index");
			CHECK(t, NB_38, !got->outside, "no byte after record %u was written",
			      THIRD);
		}
	}
}

/* Loads until the buffer is full, and then, PEBS staying enabled, with a new index, threshold and
 * reset value. */
static void fill_and_go_on(void *arg)
{
	const u64 *reset = arg;
	struct netburst_sampling s = six_periods();

	s.threshold = NETBURST_RECORDS + 1;
	s.maximum_bytes = THIRD * SIZE;
	netburst_sample_open(&s);
	netburst_pebs(true, false);
	netburst_sample_run(&s, &windows.taken[0]);
	ds_set_reset(0, *reset);
	ds_set_threshold_bytes(SIZE);
	for (unsigned again = 1; again <= AGAIN; again++) {
		ds_set_index(0);
		netburst_sample_run(&s, &windows.taken[again]);
	}
	netburst_pebs(false, false);
}

/*
 * NB-38  After a record the counter must hold the reset value of the DS save area and the index
 *        must point after the record.
 *        SDM 18.15.7 Processor Event-Based Sampling (PEBS)
 * NB-39  A PMI must come when the PEBS index reaches the threshold, on the logical processor whose
 *        DS save area it is.
 *        SDM 17.4.9.5 Writing the DS Interrupt Service Routine
 *
 * Given  the absolute maximum after three records, the threshold far away, and loads for six
 *        periods on either thread: the buffer is full
 * When   twice, as a handler does, the index is set to the base, with the threshold after one
 *        record and a reset value that no window reaches; MSR_PEBS_ENABLE and IA32_DS_AREA
 *        aren't written; loads for six periods retire again
 * Then   each time there is one record and one interrupt, and the counter is near the new reset
 *        value
 * Control: at first there are three records and no interrupt
 */
TEST(netburst, ds_area_is_read_anew_while_pebs_stays_enabled, REQS(NB_38, NB_39),
     NEEDS(need_netburst_pebs))
{
	static u64 reset = (0 - NETBURST_NEVER) & BITS(0, NB_WIDTH - 1);
	const struct netburst_taken *got = windows.taken;

	for (unsigned thread = 0; thread < 2; thread++) {
		if (!netburst_runs_on(thread))
			continue;
		if (!netburst_run(t, thread, NETBURST_ASLEEP, fill_and_go_on, &reset))
			return;
		CONTROL_EQ(t, NB_38, THIRD, got[0].records,
			   "records of T%u, maximum after record %u", thread, THIRD);
		CONTROL_EQ(t, NB_39, 0, got[0].interrupts, "interrupts, threshold far away");
		for (unsigned again = 1; again <= AGAIN; again++) {
			CHECK_EQ(t, NB_38, 1, got[again].records,
				 "records of T%u, index set to the base %u times", thread, again);
			CHECK_EQ(t, NB_39, 1, got[again].interrupts,
				 "interrupts of T%u, index set to the base %u times", thread,
				 again);
			CHECK_RANGE(t, NB_38, reset,
				    reset + PERIODS * (NETBURST_LONG_PERIOD + 1) +
					    NETBURST_LONG_PERIOD / 2,
				    got[again].counter,
				    "the counter of T%u, index set to the base %u times", thread,
				    again);
		}
	}
}
