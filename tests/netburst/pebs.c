/* SPDX-License-Identifier: MIT */
/*
 * PEBS of NetBurst on one thread: SDM "Processor Event-Based Sampling (PEBS)", "IA32_PEBS_ENABLE
 * MSR" of Hyper-Threading, "BTS and DS Save Area". Registers in a record may be "partially
 * modified". So the marked loads change only RAX and the flags, and a record may have the values
 * after any marked load.
 */
#include "kernel/memory/paging.h"
#include "kernel/processor/cpu.h"
#include "kernel/machine/smp.h"
#include "pmu/pmi.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/sampling.h"
#include "tests/measure/sampling.h"
#include "tests/measure/marked_walk.h"

#define PERIODS	3u
#define USER_LOADS 12u	/* more loads than the code before the piece has at CPL 3 */
#define SIZE	144u	/* Figure 17-10: the last field begins at 88H */
/* Offsets from Figure 17-10, as literal numbers. */
#define AT_RFLAGS	0x00
#define AT_RIP		0x08
#define AT_RAX		0x10

static u64 pebs_at(const u8 *record, unsigned offset)
{
	return *(const volatile u64 *)(uintptr_t)(record + offset);
}

static void check_record(struct test *t, const struct netburst_taken *taken, const char *what)
{
	u64 others = rflags_read() & FLAGS_LOOKED_AT & ~RFLAGS_STATUS, status;
	int mark;

	if (!netburst_check_one(t, AT(NB_37), taken, what))
		return;
	mark = netburst_mark_of(taken->w, taken->record.value[RECORD_rip]);
	status = pebs_at(taken->first, AT_RFLAGS) & RFLAGS_STATUS;
	CHECK(t, NB_37, status == taken->flags[mark] || status == taken->flags[mark + 1],
	      "status flags 0x%lx with marked load %d: 0x%lx before it, 0x%lx after it, %s", status,
	      mark, taken->flags[mark], taken->flags[mark + 1], what);
	CHECK_EQ(t, NB_37, SIZE, (u64)taken->bytes, "bytes by which the index moved, %s", what);
	CHECK(t, NB_37, !taken->outside, "no byte beside the record was written, %s", what);
	CHECK_EQ(t, NB_37, taken->record.value[RECORD_rip], pebs_at(taken->first, AT_RIP),
		 "RIP at 08H, %s", what);
	CHECK_EQ(t, NB_37, others,
		 pebs_at(taken->first, AT_RFLAGS) & FLAGS_LOOKED_AT & ~RFLAGS_STATUS,
		 "flags at 00H that the loads don't change, %s", what);
	CHECK_EQ(t, NB_37, taken->record.value[RECORD_rax], pebs_at(taken->first, AT_RAX),
		 "RAX at 10H, %s", what);
	sampling_check_registers(t, AT(NB_37), taken->first, taken->memory, taken->stack);
}

static void take_one(void *arg)
{
	struct netburst_sampling s = netburst_own_loads();

	netburst_sample(&s, arg);
}

static struct netburst_taken one;

/* The events that make records, besides loads by front_end_event. */
static const struct {
	enum netburst_metric metric;
	const struct workload *w;
	const char *name;
} precise[] = {
	{ NB_METRIC_PACKED_SP_RETIRED, &workload_packed, "execution_event" },
	{ NB_METRIC_SPLIT_LOAD_RETIRED, &workload_split, "split_load_retired" },
	{ NB_METRIC_SPLIT_STORE_RETIRED, &workload_split, "split_store_retired" },
	{ NB_METRIC_FIRST_LEVEL_LOAD_MISS_RETIRED, &workload_uncached,
	  "1stL_cache_load_miss_retired" },
	{ NB_METRIC_SECOND_LEVEL_LOAD_MISS_RETIRED, &workload_uncached,
	  "2ndL_cache_load_miss_retired" },
	{ NB_METRIC_DTLB_LOAD_MISS_RETIRED, &workload_fresh_page, "DTLB_load_miss_retired" },
	{ NB_METRIC_DTLB_STORE_MISS_RETIRED, &workload_fresh_page_store,
	  "DTLB_store_miss_retired" },
	{ NB_METRIC_DTLB_ALL_MISS_RETIRED, &workload_fresh_page, "DTLB_all_miss_retired" },
	{ NB_METRIC_MOB_LOAD_REPLAY_RETIRED, &workload_partial, "MOB_load_replay_retired" },
	{ NB_METRIC_TAGGED_MISPRED_BRANCH, &workload_random, "tagged_mispred_branch" },
	{ NB_METRIC_MEMORY_STORES, &workload_store, "front_end_event" },
};
#define PRECISE (sizeof(precise) / sizeof(precise[0]))

static struct netburst_taken several[PRECISE];

static void take_precise(void *arg)
{
	struct netburst_taken *taken = arg;
	const unsigned thread = netburst_thread();

	for (unsigned i = 0; i < PRECISE; i++) {
		struct netburst_sampling s = {
			.what = netburst_metric(precise[i].metric, NETBURST_PEBS_COUNTER(thread),
						netburst_both(thread), 0),
			.nth = NETBURST_PERIOD, .every = NETBURST_NEVER,
			.threshold = NETBURST_RECORDS, .w = precise[i].w, .n = 2 * NETBURST_PERIOD,
		};

		/* Half of its branches are unpredictable. */
		if (precise[i].metric == NB_METRIC_TAGGED_MISPRED_BRANCH) {
			s.nth = NETBURST_PERIOD / 2;
			s.n = 8 * NETBURST_PERIOD;
		}
		netburst_sample(&s, &taken[i]);
	}
}

static void check_precise(struct test *t)
{
	for (unsigned i = 0; i < PRECISE; i++) {
		CHECK_EQ(t, NB_04, 1, several[i].records, "records of %s", precise[i].name);
		CHECK_RANGE(t, NB_04, (u64)(uintptr_t)precise[i].w->begin,
			    (u64)(uintptr_t)precise[i].w->end, several[i].record.value[RECORD_rip],
			    "IP of the record of %s, in the loop", precise[i].name);
	}
}

static const u64 halves[] = { PAGING_HIGH, PAGING_UPPER };

static void take_of_halves(void *arg)
{
	struct netburst_taken *taken = arg;
	struct netburst_sampling s = netburst_own_loads();

	for (unsigned half = 0; half < 2; half++) {
		s.above = halves[half];
		netburst_sample(&s, &taken[half]);
		taken[half].record.value[RECORD_rip] -= s.above;
	}
}

static void check_halves(struct test *t)
{
	for (unsigned half = 0; half < 2; half++)
		netburst_check_one(t, AT(NB_37), &several[half],
				   half ? "upper half" : "above 4 GiB");
}

static void take_at_cpl_3(void *arg)
{
	const unsigned thread = netburst_thread();
	struct netburst_sampling s = netburst_sample_loads(NETBURST_PEBS_COUNTER(thread),
							   thread ? NB_ESCR_T1_USR :
								    NB_ESCR_T0_USR);

	s.w = &workload_user_sample;
	s.n -= USER_LOADS;
	s.user = true;
	netburst_sample(&s, arg);
}

/*
 * NB-37  A record of the 64-bit form must have 144 bytes: flags, RIP, RAX, RBX, RCX, RDX, RSI,
 *        RDI, RBP, RSP, R8 to R15.
 *        SDM 17.4.9 BTS and DS Save Area, Figure 17-8
 *
 * Given  tagged loads of the thread that calls on its PEBS counter, an overflow amid marked loads
 * When   one record is written
 * Then   it has 144 bytes, its fields are at the offsets of Figure 17-10, the registers and flags
 *        are those of a marked load, and no byte outside it was written
 */
TEST(netburst, pebs_record_of_netburst_is_0x90_bytes_of_registers, REQS(NB_37),
     NEEDS(need_netburst_pebs), .under_every_fault = true)
{
	take_one(&one);
	check_record(t, &one, "this thread");
}

/*
 * NB-37  A record of the 64-bit form must have 144 bytes: flags, RIP, RAX, RBX, RCX, RDX, RSI,
 *        RDI, RBP, RSP, R8 to R15.
 *        SDM 17.4.9 BTS and DS Save Area, Figure 17-8
 *
 * Given  tagged loads of the other thread on its PEBS counter, an overflow amid marked loads
 * When   one record is written
 * Then   it has 144 bytes, its fields are at the offsets of Figure 17-10, the registers and flags
 *        are those of a marked load, and no byte outside it was written
 */
TEST(netburst, pebs_record_of_the_other_thread_is_0x90_bytes_too, REQS(NB_37),
     NEEDS(need_netburst_pebs, need_sibling_thread))
{
	if (netburst_run(t, !netburst_thread(), NETBURST_ASLEEP, take_one, &one))
		check_record(t, &one, "the other thread");
}

/*
 * NB-37  A record of the 64-bit form must have 144 bytes: flags, RIP, RAX, RBX, RCX, RDX, RSI,
 *        RDI, RBP, RSP, R8 to R15.
 *        SDM 17.4.9 BTS and DS Save Area, Figure 17-8
 *
 * Given  the marked loads above 4 GiB; then in the upper half of the address space, where bits
 *        63:47 are 1
 * When   one record is written
 * Then   its RIP has each bit of a marked load's address
 */
TEST(netburst, record_of_code_in_either_half_has_its_whole_rip, REQS(NB_37),
     NEEDS(need_netburst_pebs))
{
	take_of_halves(several);
	check_halves(t);
}

/*
 * NB-37  A record of the 64-bit form must have 144 bytes: flags, RIP, RAX, RBX, RCX, RDX, RSI,
 *        RDI, RBP, RSP, R8 to R15.
 *        SDM 17.4.9 BTS and DS Save Area, Figure 17-8
 *
 * Given  tagged loads at CPL 3 on the PEBS counter, whose ESCR selects CPL 3 alone; an overflow
 *        amid marked loads
 * When   one record is written
 * Then   it has 144 bytes, the registers and flags are those of a marked load, RSP that of CPL 3,
 *        and no byte outside it was written
 */
TEST(netburst, pebs_record_of_code_at_cpl_3_is_that_of_cpl_0, REQS(NB_37),
     NEEDS(need_netburst_pebs))
{
	take_at_cpl_3(&one);
	check_record(t, &one, "CPL 3");
}

/*
 * NB-06  A PEBS record must come from the logical processor for which PEBS is enabled, and no
 *        record from the other.
 *        SDM 18.16.3 IA32_PEBS_ENABLE MSR
 *
 * Given  tagged loads on the PEBS counter, ENABLE_PEBS_MY_THR and ENABLE_PEBS_OTH_THR clear
 * When   the counter overflows
 * Then   nothing is written to the buffer
 * Control: with ENABLE_PEBS_MY_THR there is one record
 */
TEST(netburst, overflow_without_a_pebs_enable_writes_no_record, REQS(NB_06),
     NEEDS(need_netburst_pebs), .under_every_fault = true)
{
	struct netburst_sampling s = netburst_own_loads();

	netburst_sample_open(&s);
	netburst_sample_run(&s, &one);
	CHECK(t, NB_06, !one.records && !one.bytes && !one.outside,
	      "no record with ENABLE_PEBS_MY_THR and ENABLE_PEBS_OTH_THR clear (%u)", one.records);
	netburst_sample(&s, &one);
	netburst_check_one(t, CONTROL_AT(NB_06), &one, "with ENABLE_PEBS_MY_THR");
}

/*
 * NB-38  After a record the counter must hold the reset value of the DS save area and the index
 *        must point after the record.
 *        SDM 18.15.7 Processor Event-Based Sampling (PEBS)
 *
 * Given  counter reset values of the DS area with bits above the 32nd: all ones, and patterns of
 *        zeros and ones over all 40 bits
 * When   one record is written
 * Then   the counter holds the reset value, or a little more, and the index points after the record
 * Control: the record is that of a marked load
 */
TEST(netburst, pebs_record_reloads_the_counter_with_all_40_bits, REQS(NB_38),
     NEEDS(need_netburst_pebs))
{
	static const u64 resets[] = {
		BIT(NB_WIDTH) - NETBURST_NEVER, 0x5555555555, 0xaaaaaaaa00,
	};
	struct netburst_sampling s = netburst_own_loads();
	struct netburst_taken taken;

	for (unsigned i = 0; i < sizeof(resets) / sizeof(resets[0]); i++) {
		s.every = BIT(NB_WIDTH) - resets[i];
		netburst_sample(&s, &taken);
		if (!netburst_check_one(t, CONTROL_AT(NB_38), &taken, "of the loads"))
			return;
		CHECK_EQ(t, NB_38, SIZE, (u64)taken.bytes, "the index points after the record");
		CHECK_RANGE(t, NB_38, resets[i], resets[i] + SAMPLE_MARKS, taken.counter,
			    "the counter, reloaded and gone on");
	}
}

/*
 * NB-38  After a record the counter must hold the reset value of the DS save area and the index
 *        must point after the record.
 *        SDM 18.15.7 Processor Event-Based Sampling (PEBS)
 *
 * Given  DS area and buffer above 4 GiB, whose lower halves are other memory; then in the upper
 *        half of the address space
 * When   one record is written
 * Then   it is there, and the index, all 64 bits of it, points after the record
 */
TEST(netburst, pebs_area_and_buffer_may_lie_in_either_half, REQS(NB_38), NEEDS(need_netburst_pebs))
{
	struct netburst_sampling s = netburst_own_loads();

	for (unsigned area = DS_HIGH; area <= DS_UPPER; area++) {
		ds_use(area);
		netburst_sample(&s, &one);
		netburst_check_one(t, AT(NB_38), &one,
				   area == DS_UPPER ? "upper half" : "above 4 GiB");
		CHECK_EQ(t, NB_38, ds_buffer() + SIZE, ds_index(), "the index after a record");
		CHECK(t, NB_38, !one.outside, "no byte beside the record was written");
		ds_use(0);
	}
}

/*
 * NB-38  After a record the counter must hold the reset value of the DS save area and the index
 *        must point after the record.
 *        SDM 18.15.7 Processor Event-Based Sampling (PEBS)
 *
 * Given  loads counted with a period of 256, which takes 256 events or some more
 * When   loads for one, two and three periods and a half more retire
 * Then   there are one, two and three records, each of them has been written, is of the loop, and
 *        has the RSI that the loop doesn't change
 */
TEST(netburst, pebs_records_come_once_a_period, REQS(NB_38), NEEDS(need_netburst_pebs),
     .under_every_fault = true)
{
	struct netburst_taken taken;

	for (unsigned records = 1; records <= PERIODS; records++) {
		struct netburst_sampling s = netburst_own_loads();

		s.w = &workload_load;
		s.nth = s.every = NETBURST_LONG_PERIOD;
		s.n = records * (NETBURST_LONG_PERIOD + 1) + NETBURST_LONG_PERIOD / 2;
		netburst_sample(&s, &taken);
		CHECK_EQ(t, NB_38, records, taken.records, "records of %lu loads, one in %u", s.n,
			 NETBURST_LONG_PERIOD);
		CHECK_EQ(t, NB_38, 0, taken.unwritten, "of them that were not written");
		for (unsigned i = 0; i < taken.records; i++) {
			const struct pebs_record record = netburst_record(i);

			CHECK_EQ(t, NB_38, taken.memory, record.value[RECORD_rsi],
				 "RSI of record %u, which the loop leaves alone", i);
			CHECK_RANGE(t, NB_38, (u64)(uintptr_t)s.w->begin, (u64)(uintptr_t)s.w->end,
				    record.value[RECORD_rip], "IP of record %u, in the loop", i);
		}
	}
}

static void overfill(void *arg)
{
	struct netburst_sampling s = netburst_own_loads();

	s.w = &workload_load;
	s.nth = s.every = NETBURST_PERIOD;
	s.n = 2 * NETBURST_RECORDS * (NETBURST_PERIOD + 1);
	s.threshold = NETBURST_RECORDS + 1;	/* an interrupt would stop the counters */
	netburst_sample(&s, arg);
}

/*
 * NB-38  After a record the counter must hold the reset value of the DS save area and the index
 *        must point after the record.
 *        SDM 18.15.7 Processor Event-Based Sampling (PEBS)
 *
 * Given  a buffer for eight records, its threshold beyond them, on either thread
 * When   twice as many periods pass
 * Then   there are eight records, each written, the index stands at the absolute maximum, and no
 *        byte after it was written
 */
TEST(netburst, pebs_records_end_at_the_absolute_maximum, REQS(NB_38), NEEDS(need_netburst_pebs))
{
	for (unsigned thread = 0; thread < 2; thread++) {
		if (!netburst_runs_on(thread))
			continue;
		if (!netburst_run(t, thread, NETBURST_ASLEEP, overfill, &one))
			return;
		CHECK_EQ(t, NB_38, NETBURST_RECORDS, one.records,
			 "records of T%u in a buffer for %u", thread, NETBURST_RECORDS);
		CHECK_EQ(t, NB_38, NETBURST_RECORDS * SIZE, (u64)one.bytes,
			 "the index, at the absolute maximum");
		CHECK_EQ(t, NB_38, 0, one.unwritten, "of them that were not written");
		CHECK(t, NB_38, !one.outside, "no byte after the absolute maximum was written");
	}
}

/* Three records; their interrupts depend on the threshold. */
#define WRITTEN	3u

static const unsigned thresholds[] = { WRITTEN, WRITTEN + 1, NETBURST_RECORDS };
#define THRESHOLDS (sizeof(thresholds) / sizeof(thresholds[0]))

struct interrupted {
	struct netburst_taken taken[THRESHOLDS];
};

/* The handler has loads too before it stops the counter, but not enough for a fourth record. */
static void sample_with_thresholds(void *arg)
{
	struct interrupted *seen = arg;

	for (unsigned i = 0; i < THRESHOLDS; i++) {
		struct netburst_sampling s = netburst_own_loads();

		s.w = &workload_load;
		s.nth = s.every = NETBURST_LONG_PERIOD;
		s.n = WRITTEN * (NETBURST_LONG_PERIOD + 1) + NETBURST_LONG_PERIOD / 2;
		s.threshold = thresholds[i];
		netburst_sample(&s, &seen->taken[i]);
	}
}

static struct interrupted interrupted;

static void check_thresholds(struct test *t, const char *what)
{
	for (unsigned i = 0; i < THRESHOLDS; i++) {
		const struct netburst_taken *taken = &interrupted.taken[i];

		CHECK_EQ(t, NB_39, WRITTEN, taken->records, "records, %s", what);
		CHECK_EQ(t, NB_39, 0, taken->unwritten, "of them that were not written, %s", what);
		CHECK_EQ(t, NB_39, thresholds[i] == WRITTEN ? 1 : 0, taken->interrupts,
			 "interrupts, threshold after %u records, %s", thresholds[i], what);
	}
}

/*
 * NB-39  A PMI must come when the PEBS index reaches the threshold, on the logical processor whose
 *        DS save area it is.
 *        SDM 17.4.9.5 Writing the DS Interrupt Service Routine
 *
 * Given  the buffer's interrupt threshold after three, four and eight records
 * When   three records are written on this thread
 * Then   one interrupt comes with the first threshold, none with the other two
 */
TEST(netburst, third_record_at_a_threshold_of_three_interrupts, REQS(NB_39),
     NEEDS(need_netburst_pebs), .under_every_fault = true)
{
	sample_with_thresholds(&interrupted);
	check_thresholds(t, "this thread");
}

/*
 * NB-39  A PMI must come when the PEBS index reaches the threshold, on the logical processor whose
 *        DS save area it is.
 *        SDM 17.4.9.5 Writing the DS Interrupt Service Routine
 * NB-38  After a record the counter must hold the reset value of the DS save area and the index
 *        must point after the record.
 *        SDM 18.15.7 Processor Event-Based Sampling (PEBS)
 *
 * Given  an index that stands after three records, the threshold after one, three and eight; an
 *        index after seven, the threshold at the absolute maximum, after eight
 * When   one more record is written
 * Then   one interrupt comes where the index is at or beyond the threshold, and none before it; the
 *        record, of a marked load, lies where the index stood, and no byte before it was written
 * Control: there is one record more
 */
TEST(netburst, index_beyond_the_threshold_interrupts_too, REQS(NB_39, NB_38),
     NEEDS(need_netburst_pebs))
{
	static const struct {
		unsigned start, threshold;
	} at[] = {
		{ WRITTEN, 1 },
		{ WRITTEN, WRITTEN },
		{ WRITTEN, NETBURST_RECORDS },
		{ NETBURST_RECORDS - 1, NETBURST_RECORDS },
	};

	for (unsigned i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct netburst_sampling s = netburst_own_loads();

		s.start = at[i].start;
		s.threshold = at[i].threshold;
		netburst_sample(&s, &one);
		CONTROL_EQ(t, NB_39, s.start + 1, one.records, "records up to the index");
		CHECK_EQ(t, NB_39, s.threshold <= s.start + 1 ? 1 : 0, one.interrupts,
			 "interrupts of record %u, threshold after %u records", s.start,
			 s.threshold);
		for (unsigned r = 0; r < s.start; r++)
			CHECK(t, NB_38, !ds_record_written(r), "nothing is at record %u", r);
		CHECK(t, NB_38,
		      !one.unwritten &&
			      netburst_mark_of(s.w, netburst_record(s.start).value[RECORD_rip]) >=
				      0,
		      "record %u is one of a marked load", s.start);
	}
}

/* The first thread listens while the other one samples. */
static struct {
	struct smp_barrier begin, over;
	unsigned heard;
} listening;

static void sample_for_a_listener(void *arg)
{
	smp_barrier_wait(&listening.begin);
	sample_with_thresholds(arg);
	smp_barrier_wait(&listening.over);
}

static void listen_to_a_sampler(void *arg)
{
	(void)arg;
	pmi_open(NULL);
	smp_barrier_wait(&listening.begin);
	smp_barrier_wait(&listening.over);
	listening.heard = pmi_settle()->count;
	pmi_close();
}

/*
 * NB-39  A PMI must come when the PEBS index reaches the threshold, on the logical processor whose
 *        DS save area it is.
 *        SDM 17.4.9.5 Writing the DS Interrupt Service Routine
 *
 * Given  one thread samples as in the previous test, the other one accepts interrupts; T0 and T1 in
 *        both roles
 * When   three records are written
 * Then   the thread that samples has one interrupt with a threshold of three records and none
 *        beyond; the other thread has none
 */
TEST(netburst, threshold_interrupts_the_thread_that_samples, REQS(NB_39),
     NEEDS(need_netburst_pebs, need_sibling_thread))
{
	for (unsigned sampler = 0; sampler < 2; sampler++) {
		void (*const fns[2])(void *arg) = {
			sampler ? listen_to_a_sampler : sample_for_a_listener,
			sampler ? sample_for_a_listener : listen_to_a_sampler,
		};
		static void *const args[2] = { &interrupted, &interrupted };

		listening.begin = (struct smp_barrier){ .count = 2 };
		listening.over = (struct smp_barrier){ .count = 2 };
		if (!netburst_run_both(t, fns, args))
			return;
		check_thresholds(t, sampler ? "T1 samples" : "T0 samples");
		CHECK_EQ(t, NB_39, 0, listening.heard, "interrupts of T%u", !sampler);
	}
}

/*
 * NB-03  PEBS must be carried out with MSR_IQ_COUNTER4 on logical processor 0 and MSR_IQ_COUNTER5
 *        on logical processor 1, and with no other counter.
 *        SDM 18.16.3 IA32_PEBS_ENABLE MSR
 *
 * Given  the same event, tags and PEBS enable on each counter of the IQ group
 * When   the counter overflows on this thread
 * Then   a record is written for IQ_COUNTER4 on T0, IQ_COUNTER5 on T1, and for no other
 * Control: each of the counters has overflowed
 */
TEST(netburst, pebs_records_come_of_one_counter_of_a_thread, REQS(NB_03), NEEDS(need_netburst_pebs))
{
	unsigned thread = netburst_thread();
	struct netburst_taken taken;

	for (unsigned c = NB_IQ_COUNTER0; c < NB_COUNTERS; c++) {
		struct netburst_sampling s = netburst_sample_loads(c, netburst_both(thread));

		netburst_sample(&s, &taken);
		if (c == NETBURST_PEBS_COUNTER(thread))
			netburst_check_one(t, AT(NB_03), &taken, "T's own counter");
		else
			CHECK(t, NB_03, !taken.records && !taken.outside && !taken.bytes,
			      "no record of counter %u on T%u (%u)", c, thread, taken.records);
		/* The counter has counted from 0 or from its reload value; if not, it is below 0 by
		 * about its preset. */
		CONTROL(t, NB_03,
			taken.counter < SAMPLE_MARKS ||
				(taken.counter >= BIT(NB_WIDTH) - NETBURST_NEVER &&
				 taken.counter < BIT(NB_WIDTH) - SAMPLE_MARKS),
			"counter %u overflowed, and holds 0x%lx", c, taken.counter);
	}
}

struct one_counter {
	unsigned counter;
	struct netburst_taken taken;
};

static void sample_on_counter(void *arg)
{
	struct one_counter *c = arg;
	struct netburst_sampling s = netburst_sample_loads(c->counter,
							   netburst_both(netburst_thread()));

	netburst_sample(&s, &c->taken);
}

/*
 * NB-03  PEBS must be carried out with MSR_IQ_COUNTER4 on logical processor 0 and MSR_IQ_COUNTER5
 *        on logical processor 1, and with no other counter.
 *        SDM 18.16.3 IA32_PEBS_ENABLE MSR
 *
 * Given  the same event, tags and PEBS enable on each counter of the IQ group, on either thread
 * When   the counter overflows
 * Then   there is one record of counter 16 on T0 and of counter 17 on T1, and none of another
 */
TEST(netburst, pebs_counter_is_iq4_on_t0_and_iq5_on_t1, REQS(NB_03),
     NEEDS(need_netburst_pebs, need_sibling_thread))
{
	static const unsigned its_own[2] = { NB_IQ_COUNTER4, NB_IQ_COUNTER5 };
	static struct one_counter c;

	for (unsigned thread = 0; thread < 2; thread++)
		for (c.counter = NB_IQ_COUNTER0; c.counter < NB_COUNTERS; c.counter++) {
			if (!netburst_run(t, thread, NETBURST_ASLEEP, sample_on_counter, &c))
				return;
			CHECK_EQ(t, NB_03, c.counter == its_own[thread] ? 1 : 0, c.taken.records,
				 "records of counter %u on T%u", c.counter, thread);
		}
}

/*
 * NB-04  Only Execution_event, Front_end_event and Replay_event may make PEBS records; others must
 *        make no record.
 *        SDM 18.16.3 IA32_PEBS_ENABLE MSR
 *
 * Given  five events of Tables 19-29 and 19-30 that aren't among the three precise events, on the
 *        PEBS counter with PEBS enabled
 * When   the counter overflows
 * Then   nothing is written to the buffer
 * Control: the counter has overflowed and wasn't reloaded; front_end_event writes one record
 */
TEST(netburst, at_retirement_events_but_three_write_no_record, REQS(NB_04),
     NEEDS(need_netburst_pebs))
{
	static const struct {
		enum netburst_event event;
		u32 mask;
		const char *name;
	} others[] = {
		{ NB_EVENT_INSTR_RETIRED, NB_INSTR_RETIRED_NBOGUSNTAG | NB_INSTR_RETIRED_NBOGUSTAG,
		  "instr_retired" },
		{ NB_EVENT_INSTR_COMPLETED, NB_INSTR_COMPLETED_NBOGUS, "instr_completed" },
		{ NB_EVENT_UOPS_RETIRED, NB_UOPS_RETIRED_NBOGUS, "uops_retired" },
		{ NB_EVENT_BRANCH_RETIRED,
		  NB_BRANCH_RETIRED_MMNP | NB_BRANCH_RETIRED_MMNM | NB_BRANCH_RETIRED_MMTP |
			  NB_BRANCH_RETIRED_MMTM,
		  "branch_retired" },
		{ NB_EVENT_MISPRED_BRANCH_RETIRED, NB_MISPRED_BRANCH_RETIRED_NBOGUS,
		  "mispred_branch_retired" },
	};
	struct netburst_sampling s = netburst_own_loads();
	struct netburst_taken taken;

	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		s.what.event = others[i].event;
		s.what.mask = others[i].mask;
		s.nth = NETBURST_PERIOD / 2;
		/* Half of these branches are unpredictable. */
		if (others[i].event == NB_EVENT_MISPRED_BRANCH_RETIRED) {
			s.w = &workload_random;
			s.n = 8 * NETBURST_PERIOD;
		}
		netburst_program(&s.what);
		netburst_sample(&s, &taken);
		CONTROL(t, NB_04, taken.counter > 0 && taken.counter < NETBURST_NEVER,
			"%s overflowed and wasn't reloaded: 0x%lx", others[i].name, taken.counter);
		CHECK(t, NB_04, !taken.records && !taken.bytes && !taken.outside,
		      "no record of %s (%u)", others[i].name, taken.records);
	}
	s = netburst_own_loads();
	netburst_sample(&s, &taken);
	netburst_check_one(t, CONTROL_AT(NB_04), &taken, "front_end_event");
}

/*
 * NB-04  Only Execution_event, Front_end_event and Replay_event may make PEBS records; others must
 *        make no record.
 *        SDM 18.16.3 IA32_PEBS_ENABLE MSR
 *
 * Given  execution_event, replay_event with each metric of Table 19-33, and front_end_event of
 *        stores, on the PEBS counter with PEBS enabled
 * When   the counter overflows once
 * Then   there is one record, and its IP is in the workload
 */
TEST(netburst, execution_and_replay_events_write_records, REQS(NB_04), NEEDS(need_netburst_pebs))
{
	take_precise(several);
	check_precise(t);
}

/*
 * NB-37  A record of the 64-bit form must have 144 bytes: flags, RIP, RAX, RBX, RCX, RDX, RSI,
 *        RDI, RBP, RSP, R8 to R15.
 *        SDM 17.4.9 BTS and DS Save Area, Figure 17-8
 * NB-04  Only Execution_event, Front_end_event and Replay_event may make PEBS records; others must
 *        make no record.
 *        SDM 18.16.3 IA32_PEBS_ENABLE MSR
 *
 * Given  PEBS on the other thread's counter, of code above 4 GiB and in the upper half, of code at
 *        CPL 3, and of each precise event
 * When   the counter overflows, as in the tests of this thread
 * Then   the record is written, and it is that of this thread's tests
 */
TEST(netburst, pebs_records_of_the_other_thread_are_those_of_this, REQS(NB_37, NB_04),
     NEEDS(need_netburst_pebs, need_sibling_thread))
{
	const unsigned other = !netburst_thread();

	if (netburst_run(t, other, NETBURST_ASLEEP, take_of_halves, several))
		check_halves(t);
	if (netburst_run(t, other, NETBURST_ASLEEP, take_at_cpl_3, &one))
		check_record(t, &one, "CPL 3");
	if (netburst_run(t, other, NETBURST_ASLEEP, take_precise, several))
		check_precise(t);
}
