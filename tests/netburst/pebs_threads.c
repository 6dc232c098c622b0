/* SPDX-License-Identifier: MIT */
/*
 * PEBS and the two threads: SDM "IA32_PEBS_ENABLE MSR" of Hyper-Threading ("my thread", "other
 * thread"), Table 35-41 (what is shared). The manual doesn't say how bits 25 and 26 read on the
 * other thread (docs/READINGS.md).
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/sampling.h"

/* The sampling of one thread: one record of its loads, or none. */
struct sampler {
	struct netburst_sampling s;
	struct netburst_taken taken;
};

static void prepare(void *arg)
{
	struct sampler *sampler = arg;

	sampler->s = netburst_own_loads();
	netburst_sample_open(&sampler->s);
}

static void sample(void *arg)
{
	struct sampler *sampler = arg;

	netburst_sample_run(&sampler->s, &sampler->taken);
}

static void enable_mine(void *arg)
{
	(void)arg;
	netburst_pebs(true, false);
}

static void enable_others(void *arg)
{
	(void)arg;
	netburst_pebs(false, true);
}

static void enable_both(void *arg)
{
	(void)arg;
	netburst_pebs(true, true);
}

static void enable_others_for_a_moment(void *arg)
{
	(void)arg;
	netburst_pebs(false, true);
	netburst_pebs(true, false);
}

static void enable_mine_for_a_moment(void *arg)
{
	(void)arg;
	netburst_pebs(true, false);
	netburst_pebs(false, true);
}

static bool on(struct test *t, unsigned thread, void (*fn)(void *arg), void *arg)
{
	return netburst_run(t, thread, NETBURST_ASLEEP, fn, arg);
}

static struct sampler samplers[2];

/* Take the records of each thread, after `writer` has written MSR_PEBS_ENABLE by `enable`, and
 * then, unless `again` is NULL, the other thread has written it by `again`. */
static bool sample_on_each(struct test *t, unsigned writer, void (*enable)(void *arg),
			   void (*again)(void *arg))
{
	for (unsigned thread = 0; thread < 2; thread++)
		if (!on(t, thread, prepare, &samplers[thread]))
			return false;
	if (!on(t, writer, enable, NULL) || (again && !on(t, !writer, again, NULL)))
		return false;
	for (unsigned thread = 0; thread < 2; thread++)
		if (!on(t, thread, sample, &samplers[thread]))
			return false;
	return true;
}

static void check_records(struct test *t, struct test_claim claim, const bool want[2],
			  const char *how, unsigned writer)
{
	for (unsigned thread = 0; thread < 2; thread++)
		test_check_eq(t, claim, want[thread], samplers[thread].taken.records,
			      "records of T%u, T%u has written %s", thread, writer, how);
}

/*
 * NB-05  ENABLE_PEBS_MY_THR must enable PEBS on the logical processor that writes it and
 *        ENABLE_PEBS_OTH_THR on the other one.
 * NB-06  A PEBS record must come from the logical processor for which PEBS is enabled, and no
 *        record from the other.
 *        SDM 18.16.3 IA32_PEBS_ENABLE MSR
 *
 * Given  both threads with a PEBS counter of their own, MSR_PEBS_ENABLE written by T0, and by T1
 * When   ENABLE_PEBS_MY_THR, ENABLE_PEBS_OTH_THR, or both are set, or one is set, cleared again
 *        and the other one set, and each thread's counter overflows
 * Then   a record is written on the thread that wrote, on the other one, or on both, and on no
 *        other; a bit that was cleared again enables nothing
 */
TEST(netburst, pebs_enables_are_relative_to_the_thread_that_writes, REQS(NB_05, NB_06),
     NEEDS(need_netburst_pebs, need_sibling_thread))
{
	static const bool both[2] = { true, true };

	for (unsigned writer = 0; writer < 2; writer++) {
		const bool mine[2] = { !writer, writer }, others[2] = { writer, !writer };

		if (!sample_on_each(t, writer, enable_mine, NULL))
			return;
		check_records(t, AT(NB_05), mine, "ENABLE_PEBS_MY_THR", writer);
		if (!sample_on_each(t, writer, enable_others, NULL))
			return;
		check_records(t, AT(NB_05), others, "ENABLE_PEBS_OTH_THR", writer);
		if (!sample_on_each(t, writer, enable_both, NULL))
			return;
		check_records(t, AT(NB_06), both, "both", writer);
		if (!sample_on_each(t, writer, enable_others_for_a_moment, NULL))
			return;
		check_records(t, AT(NB_05), mine, "_OTH_THR, then _MY_THR alone", writer);
		if (!sample_on_each(t, writer, enable_mine_for_a_moment, NULL))
			return;
		check_records(t, AT(NB_05), others, "_MY_THR, then _OTH_THR alone", writer);
	}
}

/*
 * NB-06  A PEBS record must come from the logical processor for which PEBS is enabled, and no
 *        record from the other.
 *        SDM 18.16.3 IA32_PEBS_ENABLE MSR
 *
 * Given  PEBS enabled for one thread alone; a record of another thread would have that thread's
 *        data and be in that thread's buffer
 * When   both threads' counters overflow
 * Then   the enabled thread has one record, with its own RSI; no byte of the other one's buffer is
 *        written
 */
TEST(netburst, pebs_record_comes_from_the_enabled_thread, REQS(NB_06),
     NEEDS(need_netburst_pebs, need_sibling_thread))
{
	for (unsigned writer = 0; writer < 2; writer++) {
		if (!sample_on_each(t, writer, enable_mine, NULL))
			return;
		if (netburst_check_one(t, AT(NB_06), &samplers[writer].taken, "of the enabled one"))
			CHECK_EQ(t, NB_06, samplers[writer].taken.memory,
				 samplers[writer].taken.record.value[RECORD_rsi],
				 "RSI of the record, T%u's memory", writer);
		CHECK(t, NB_06,
		      !samplers[!writer].taken.records && !samplers[!writer].taken.bytes &&
			      !samplers[!writer].taken.outside,
		      "no byte of T%u, for which PEBS is off", !writer);
	}
}

/* The two bits as each thread has read them. */
static u64 enables[2];

static void read_and_write_back(void *arg)
{
	u64 value = msr_read(MSR_NB_PEBS_ENABLE);

	(void)arg;
	enables[netburst_thread()] = value & (NB_PEBS_ENABLE_MY_THR | NB_PEBS_ENABLE_OTH_THR);
	msr_write(MSR_NB_PEBS_ENABLE, value);
}

static void read_enables(void *arg)
{
	(void)arg;
	enables[netburst_thread()] = msr_read(MSR_NB_PEBS_ENABLE) &
				     (NB_PEBS_ENABLE_MY_THR | NB_PEBS_ENABLE_OTH_THR);
}

static void enable_mine_and_write_back(void *arg)
{
	enable_mine(arg);
	read_and_write_back(arg);
}

static void enable_others_and_write_back(void *arg)
{
	enable_others(arg);
	read_and_write_back(arg);
}

/* One thread has written `enable`; the other one has read the register, and has written that value
 * back if it reads the bits relative to itself. want: the threads that have PEBS enabled after
 * that. */
static bool check_written_back(struct test *t, unsigned writer, void (*enable)(void *arg),
			       u64 written, const bool want[2], const char *how)
{
	const u64 both = NB_PEBS_ENABLE_MY_THR | NB_PEBS_ENABLE_OTH_THR;
	bool relative;

	if (!sample_on_each(t, writer, enable, read_enables))
		return false;
	test_check_eq(t, AT(NB_24), written, enables[writer],
		      "bits that T%u reads, having written "
		      "%s",
		      writer, how);
	check_records(t, AT(NB_24), want, how, writer);
	relative = enables[!writer] == (written ^ both);
	test_note(t,
		  "bits 25 and 26 of MSR_PEBS_ENABLE, written by T%u as %#lx, read as %#lx on "
		  "the other thread: %s",
		  writer, written, enables[!writer],
		  relative ? "relative to the reader" :
		  enables[!writer] == written ? "as written" :
						"neither as written nor relative");
	if (!relative)
		return true;
	if (!sample_on_each(t, writer, enable, read_and_write_back))
		return false;
	check_records(t, AT(NB_24), want, how, writer);
	return true;
}

/*
 * NB-24  A logical processor that has written MSR_PEBS_ENABLE and writes back what it reads must
 *        not change which logical processors have PEBS enabled.
 *        SDM 18.16.3 IA32_PEBS_ENABLE MSR
 *
 * Given  MSR_PEBS_ENABLE written by one thread; the manual doesn't say how bits 25 and 26 read on
 *        the other thread, so this is only reported
 * When   the writer writes back what it reads, and so does the other thread if it reads the bits
 *        relative to itself
 * Then   the same threads make records as before
 */
TEST(netburst, pebs_enable_written_back_enables_the_same_threads, REQS(NB_24),
     NEEDS(need_netburst_pebs, need_sibling_thread))
{
	for (unsigned writer = 0; writer < 2; writer++) {
		const bool mine[2] = { !writer, writer }, others[2] = { writer, !writer };

		if (!check_written_back(t, writer, enable_mine_and_write_back,
					NB_PEBS_ENABLE_MY_THR, mine,
					"ENABLE_PEBS_MY_THR and what was read") ||
		    !check_written_back(t, writer, enable_others_and_write_back,
					NB_PEBS_ENABLE_OTH_THR, others,
					"ENABLE_PEBS_OTH_THR and what was read"))
			return;
	}
}

/* Both threads sample at the same time, for many periods. */
#define AT_ONCE	3u

static void prepare_many(void *arg)
{
	struct sampler *sampler = arg;

	prepare(arg);
	sampler->s.w = &workload_load;
	sampler->s.nth = sampler->s.every = NETBURST_LONG_PERIOD;
	sampler->s.n = AT_ONCE * (NETBURST_LONG_PERIOD + 1) + NETBURST_LONG_PERIOD / 2;
	netburst_sample_open(&sampler->s);
}

/*
 * NB-20  PEBS of one logical processor must not depend on what PEBS of the other one does.
 *        SDM 18.16.3 IA32_PEBS_ENABLE MSR
 *
 * Given  both threads sample loads, PEBS enabled for both
 * When   both run at once, for three periods each
 * Then   each has three records in its own buffer, with its own RSI, and no byte outside them
 */
TEST(netburst, pebs_of_both_threads_at_once_writes_both_buffers, REQS(NB_20),
     NEEDS(need_netburst_pebs, need_sibling_thread))
{
	static void (*const fns[2])(void *arg) = { sample, sample };
	void *const args[2] = { &samplers[0], &samplers[1] };

	for (unsigned thread = 0; thread < 2; thread++)
		if (!on(t, thread, prepare_many, args[thread]))
			return;
	enable_both(NULL);
	if (!netburst_run_both(t, fns, args))
		return;
	for (unsigned thread = 0; thread < 2; thread++) {
		const struct netburst_taken *taken = &samplers[thread].taken;

		CHECK_EQ(t, NB_20, AT_ONCE, taken->records, "records of T%u", thread);
		CHECK_EQ(t, NB_20, taken->memory, taken->record.value[RECORD_rsi],
			 "RSI of T%u's first record, its own memory", thread);
		CHECK(t, NB_20, !taken->outside, "no byte of T%u's buffer beside its records",
		      thread);
	}
}

/* Each has half of bits 39:32 different from its bit 31. */
static const u64 wide_resets[] = { 0x5555555555, 0xaaaaaaaa00 };

struct wide_sampler {
	struct sampler *sampler;
	u64 reset;
};

static void prepare_wide(void *arg)
{
	const struct wide_sampler *wide = arg;

	wide->sampler->s = netburst_own_loads();
	wide->sampler->s.every = BIT(NB_WIDTH) - wide->reset;
	netburst_sample_open(&wide->sampler->s);
}

/* Each thread makes a record, and its counter is reloaded with this value. false: not done. */
static bool check_wide(struct test *t, u64 reset)
{
	for (unsigned thread = 0; thread < 2; thread++) {
		struct wide_sampler wide = { &samplers[thread], reset };

		if (!on(t, thread, prepare_wide, &wide))
			return false;
	}
	enable_both(NULL);
	for (unsigned thread = 0; thread < 2; thread++) {
		const struct netburst_taken *taken = &samplers[thread].taken;

		if (!on(t, thread, sample, &samplers[thread]))
			return false;
		CONTROL_EQ(t, NB_38, 1, taken->records, "records of T%u", thread);
		CHECK_RANGE(t, NB_38, reset, reset + SAMPLE_MARKS, taken->counter,
			    "the counter of T%u, reloaded and gone on", thread);
	}
	return true;
}

/*
 * NB-38  After a record the counter must hold the reset value of the DS save area and the index
 *        must point after the record.
 *        SDM 18.15.7 Processor Event-Based Sampling (PEBS)
 *
 * Given  counter reset values of two patterns over all 40 bits, in the DS area of each thread
 * When   each thread makes a record
 * Then   its counter holds the reset value, or a little more
 * Control: each has one record
 */
TEST(netburst, pebs_record_of_each_thread_reloads_all_40_bits, REQS(NB_38),
     NEEDS(need_netburst_pebs, need_sibling_thread))
{
	for (unsigned i = 0; i < sizeof(wide_resets) / sizeof(wide_resets[0]); i++)
		if (!check_wide(t, wide_resets[i]))
			return;
}

#define REPLAY_BITS	0x2a5u		/* some of bits 12:0, which select metrics */
#define ANOTHER		0x1000u		/* bytes between two DS areas: nothing is written */

/* The values of a register that the threads read in turns. */
struct access {
	u32 msr;
	u64 value;
};

static void write_it(void *arg)
{
	const struct access *a = arg;

	msr_write(a->msr, a->value);
}

static void read_it(void *arg)
{
	struct access *a = arg;

	a->value = msr_read(a->msr);
}

static void check_shared(struct test *t, struct test_claim claim, u32 msr, u64 value,
			 const char *name)
{
	for (unsigned writer = 0; writer < 2; writer++) {
		struct access written = { msr, writer ? value : value & (value - 1) };
		struct access read = { msr, 0 };

		if (!on(t, writer, write_it, &written) || !on(t, !writer, read_it, &read))
			return;
		test_check_eq(t, claim, written.value, read.value, "%s on T%u, written by T%u",
			      name, !writer, writer);
	}
}

/*
 * NB-14  MSR_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT must be shared by the logical processors of a
 *        core.
 *        SDM Table 35-41 MSRs Unique/Shared in Processors Based on Intel NetBurst
 *        Microarchitecture
 *
 * Given  MSR_PEBS_ENABLE, the bits of the replay metrics, and MSR_PEBS_MATRIX_VERT
 * When   one thread writes a value, T0 and T1 in turn
 * Then   the other one reads it
 */
TEST(msr, netburst_pebs_registers_are_shared_by_both_threads, REQS(NB_14),
     NEEDS(need_netburst, need_sibling_thread))
{
	check_shared(t, AT(NB_14), MSR_NB_PEBS_ENABLE, REPLAY_BITS, "MSR_PEBS_ENABLE[12:0]");
	check_shared(t, AT(NB_14), MSR_NB_PEBS_MATRIX_VERT,
		     NB_PEBS_MATRIX_VERT_LOADS | NB_PEBS_MATRIX_VERT_STORES,
		     "MSR_PEBS_MATRIX_VERT");
}

static const struct {
	const char *name;
	u32 msr;
	u64 fixed, bits;	/* bits that are set; bits that differ */
} shared[] = {
#define NB_COUNTER(name, number, address, cccr, cccr_address, pool, alternate, extended, source) \
	{ "MSR_" #name, (address), 0, BITS(0, NB_WIDTH - 1) }, \
	{ "MSR_" #cccr, (cccr_address), NB_CCCR_ACTIVE_THREAD, \
	  NB_CCCR_THRESHOLD | NB_CCCR_ESCR_SELECT },
#define NB_ESCR(name, address, select, pool, source) \
	{ "MSR_" #name, (address), 0, NB_ESCR_EVENT_SELECT | NB_ESCR_EVENT_MASK },
#include "spec/netburst.def"
};
#define SHARED (sizeof(shared) / sizeof(shared[0]))

static u64 shared_seen[SHARED];

static u64 shared_value(unsigned i, unsigned writer)
{
	return shared[i].fixed | (((2 * i + writer + 1) * 0x0123456789abcdULL) & shared[i].bits);
}

static void write_shared(void *arg)
{
	const unsigned *writer = arg;

	for (unsigned i = 0; i < SHARED; i++)
		msr_write(shared[i].msr, shared_value(i, *writer));
}

static void read_shared(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < SHARED; i++)
		shared_seen[i] = msr_read(shared[i].msr);
}

/*
 * NB-42  Counters, CCCRs and ESCRs must be shared by the logical processors of a core.
 *        SDM Table 35-41 MSRs Unique/Shared in Processors Based on Intel NetBurst
 *        Microarchitecture
 *
 * Given  all counters, CCCRs and ESCRs
 * When   one thread writes a different value to each, T0 and T1 in turn
 * Then   the other one reads them
 */
TEST(msr, netburst_counters_escrs_and_cccrs_are_shared_by_both_threads, REQS(NB_42),
     NEEDS(need_netburst, need_sibling_thread))
{
	for (unsigned writer = 0; writer < 2; writer++) {
		if (!on(t, writer, write_shared, &writer) || !on(t, !writer, read_shared, NULL))
			return;
		for (unsigned i = 0; i < SHARED; i++)
			CHECK_EQ(t, NB_42, shared_value(i, writer), shared_seen[i],
				 "%s on T%u, written by T%u", shared[i].name, !writer, writer);
	}
}

/*
 * NB-40  Each logical processor must have an IA32_DS_AREA and an MSR_DEBUGCTLA of its own.
 *        SDM Table 35-41: IA32_DS_AREA, MSR_DEBUGCTLA
 *
 * Given  both threads, each with another address in IA32_DS_AREA
 * When   each reads it, after both have written
 * Then   each reads its own
 */
TEST(msr, netburst_threads_have_ds_areas_of_their_own, REQS(NB_40),
     NEEDS(need_netburst_pebs, need_sibling_thread))
{
	u64 here = ds_area();
	struct access area[2] = { { MSR_IA32_DS_AREA, here },
				  { MSR_IA32_DS_AREA, here + ANOTHER } };

	for (unsigned thread = 0; thread < 2; thread++)
		if (!on(t, thread, write_it, &area[thread]))
			return;
	for (unsigned thread = 0; thread < 2; thread++) {
		struct access read = { MSR_IA32_DS_AREA, 0 }, none = { MSR_IA32_DS_AREA, 0 };

		if (!on(t, thread, read_it, &read))
			return;
		CHECK_EQ(t, NB_40, area[thread].value, read.value, "IA32_DS_AREA of T%u", thread);
		if (!on(t, thread, write_it, &none))
			return;
	}
}

/*
 * NB-40  Each logical processor must have an IA32_DS_AREA and an MSR_DEBUGCTLA of its own.
 *        SDM Table 35-41: IA32_DS_AREA, MSR_DEBUGCTLA
 *
 * Given  bits LBR and BTF of MSR_DEBUGCTLA, in each pair of values that differ by thread
 * When   both threads have written their own
 * Then   each reads it
 */
TEST(msr, netburst_threads_have_debugctlas_of_their_own, REQS(NB_40),
     NEEDS(need_netburst, need_sibling_thread))
{
	static const u64 values[][2] = { { 1, 0 }, { 0, 1 }, { 2, 1 }, { 1, 2 }, { 3, 0 } };

	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (unsigned last = 0; last < 2; last++) {
			struct access own[2] = { { MSR_NB_DEBUGCTLA, values[i][0] },
						 { MSR_NB_DEBUGCTLA, values[i][1] } };

			if (!on(t, !last, write_it, &own[!last]) ||
			    !on(t, last, write_it, &own[last]))
				return;
			for (unsigned thread = 0; thread < 2; thread++) {
				struct access none = { MSR_NB_DEBUGCTLA, 0 };

				if (!on(t, thread, read_it, &own[thread]))
					return;
				CHECK_EQ(t, NB_40, values[i][thread], own[thread].value,
					 "MSR_DEBUGCTLA of T%u, T%u wrote last", thread, last);
				if (!on(t, thread, write_it, &none))
					return;
			}
		}
}
