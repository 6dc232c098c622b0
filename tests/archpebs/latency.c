/* SPDX-License-Identifier: MIT */
/*
 * The AUX group of an architectural PEBS record for a load sampled by load latency, or for a
 * sampled store: latencies, and the data source, whose codes and further bits differ by type of
 * core. Linux struct arch_pebs_aux; ds.c, latency data and data source tables of each core. This
 * file has its own literal offsets.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/memory/pages.h"
#include "kernel/output/fmt.h"
#include "pmu/event.h"
#include "pmu/memory_sampling.h"
#include "tests/archpebs/archpebs.h"
#include "tests/measure/mem_sample.h"

#define LEAST_THRESHOLD	3u	/* cycles, at least */
#define RECORDS		4u	/* records, at least */
#define WINDOWS_MOST	64u
#define AT_SOURCE	0x28u	/* in the AUX group */
#define AT_LATENCIES	0x30u
#define AT_RIP		0x08u	/* in the GPR group */

static bool need_latencies(char *reason, size_t size)
{
	return need_arch_groups(GROUP_AUX | GROUP_GPR, reason, size) &&
	       need_arch_latency(reason, size);
}

/* Take records with AUX and GPR of loads or stores of the piece at that place, at least wanted of
 * them. */
static void take_at(const struct workload *w, const struct workload_place *place, unsigned c,
		    u16 event, unsigned threshold, unsigned windows, unsigned wanted)
{
	enum { ROUNDS = 512, EVERY = 8, BYTES = 0x120 };

	arch_pebs_open(wanted > RECORDS ? ARCH_PEBS_LARGE : 0, ARCH_PEBS_NEVER);
	msr_write(MSR_PEBS_LD_LAT_THRESHOLD, threshold);
	arch_pebs_arm(c, event, COUNT_BOTH, EVERY, GROUP_AUX | GROUP_GPR, EVERY);
	for (unsigned i = 0; i < windows && arch_pebs_written() < wanted * BYTES; i++)
		workload_run_at(w, ROUNDS, place, pmc_one(c));
	arch_pebs_disarm();
	counter_program_disabled(c, 0, 0);
	msr_write(MSR_PEBS_LD_LAT_THRESHOLD, 0);
}

/* Like take_at(), for a piece whose accesses are all in one page. */
static void take(const struct workload *w, unsigned c, u16 event, unsigned threshold,
		 unsigned windows)
{
	const struct workload_place place = { .memory = pages_get()->small };

	take_at(w, &place, c, event, threshold, windows, RECORDS);
}

/*
 * APEBS-18  AUX must have 40H bytes, with the address at 00H, the source at 28H, the latencies at
 *           30H and the TX information at 38H.
 * APEBS-19  AUX+30H must be the instruction's latency in [15:0] and the cache's in [47:32].
 *           Linux struct arch_pebs_aux
 *
 * Given  load latency with a threshold of 3 cycles, and loads of a line that has just been flushed;
 *        then locked loads of one line
 * When   each counter that does load latency makes records with AUX
 * Then   in each record 15:0 of AUX+30H have the instruction's latency, which is above the
 *        threshold, and 47:32 the cache's latency, which isn't longer. For the flushed line the
 *        cache's latency isn't 0 in at least one record, in a strict run in each; the source at 28H
 *        isn't 0
 * Control: there are as many records as are wanted, each with AUX
 */
TEST(archpebs, aux_group_holds_both_latencies, REQS(APEBS_18, APEBS_19),
     NEEDS(need_perfmon, need_latencies, need_events))
{
	struct event event;

	FOR_EACH_COUNTER (c, arch_counters_of(EK_LOAD_LATENCY, &event))
		for (unsigned locked = 0; locked < 2; locked++) {
			unsigned records = 0, waited = 0;
			struct arch_fragment f;

			take(locked ? &workload_lock : &workload_uncached, c, event.code,
			     LEAST_THRESHOLD, WINDOWS_MOST);
			for (u64 at = 0, next; (next = arch_next(at)); at = next) {
				const u64 aux = arch_group(at, ARCH_AUX, &f);
				const u64 latency = arch_at(aux + AT_LATENCIES);

				if (!CONTROL(t, IDS(APEBS_18, APEBS_19), aux, "AUX of record %u",
					     records))
					return;
				CHECK(t, APEBS_18, arch_at(aux + AT_SOURCE),
				      "the source at 28H is told");
				CHECK_RANGE(t, APEBS_19, LEAST_THRESHOLD + 1, 0xffff,
					    latency & 0xffff,
					    "bits 15:0 of the latencies, threshold %u, IA32_PMC%u",
					    LEAST_THRESHOLD, c);
				CHECK_RANGE(t, APEBS_19, 0, latency & 0xffff,
					    latency >> 32 & 0xffff,
					    "bits 47:32 of the latencies, IA32_PMC%u", c);
				waited += !!(latency >> 32 & 0xffff);
				records++;
			}
			if (records < RECORDS)
				test_missed(t);
			CONTROL_RANGE(t, IDS(APEBS_18, APEBS_19), RECORDS, ~0ULL, records,
				      "records of load latency, IA32_PMC%u", c);
			if (!locked)
				CHECK_RANGE(t, APEBS_19, test_is_strict(t) ? records : 1, records,
					    waited,
					    "records of loads that miss whose bits 47:32 aren't 0, "
					    "IA32_PMC%u",
					    c);
			arch_pebs_close();
			counter_reset();
		}
}


/*
 * ADP-49  The latency of a load latency record must be above the threshold of
 *         MSR_PEBS_LD_LAT_THRESHOLD.
 *         SDM 18.8.1.2 Load Latency Performance Monitoring Facility; Linux struct pebs_meminfo
 *
 * Given  loads of a line that has just been flushed; loads of one line, which hit the L1
 * When   each counter that does load latency samples the first with a threshold of FFFFH cycles,
 *        and the others with 255, 256, 1000H and 8003H: both bytes of the threshold count
 * Then   there is no record
 * Control: there are of both with a threshold of 3
 */
TEST(archpebs, no_load_below_the_latency_threshold_is_recorded, REQS(ADP_49),
     NEEDS(need_perfmon, need_latencies, need_events))
{
	static const struct {
		const struct workload *workload;
		unsigned threshold;
	} rows[] = {
		{ &workload_uncached, 0xffff }, { &workload_uncached, LEAST_THRESHOLD },
		{ &workload_load, LEAST_THRESHOLD }, { &workload_load, 255 },
		{ &workload_load, 256 }, { &workload_load, 0x1000 }, { &workload_load, 0x8003 },
	};
	enum { WINDOWS = 4 };
	struct event event;

	FOR_EACH_COUNTER (c, arch_counters_of(EK_LOAD_LATENCY, &event))
		for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			const bool least = rows[i].threshold == LEAST_THRESHOLD;

			take(rows[i].workload, c, event.code, rows[i].threshold,
			     least ? WINDOWS_MOST : WINDOWS);
			if (least)
				CONTROL_RANGE(t, ADP_49, 1, ~0ULL, arch_pebs_written(),
					      "bytes of records, threshold 3, IA32_PMC%u", c);
			else
				CHECK_EQ(t, ADP_49, 0, arch_pebs_written(),
					 "bytes of records, threshold %#x, IA32_PMC%u",
					 rows[i].threshold, c);
			arch_pebs_close();
			counter_reset();
		}
}

/* Count how many records of the piece's loads or stores have the bit. false: there are too few
 * records. */
static bool check_bit(struct test *t, struct test_claim claim, enum event_kind kind, unsigned c,
		      const struct workload *w, u64 bit, enum mem_sample_share share)
{
	unsigned records = 0, with = 0;
	struct event event = { .code = 0 };
	struct arch_fragment f;

	event_get(kind, EV_PEBS, &event);
	take(w, c, event.code, LEAST_THRESHOLD, WINDOWS_MOST);
	for (u64 at = 0, next; (next = arch_next(at)); at = next) {
		const u64 aux = arch_group(at, ARCH_AUX, &f), gpr = arch_group(at, ARCH_GPR, &f);

		if (!aux || arch_at(aux) != (u64)(uintptr_t)pages_get()->small ||
		    sampling_is_switching(w, arch_at(gpr + AT_RIP)))
			continue;
		records++;
		with += !!(arch_at(aux + AT_SOURCE) & bit);
	}
	arch_pebs_close();
	counter_reset();
	if (!records && !test_is_strict(t)) {
		test_inconclusive(t, "no access was tagged: %s", w->name);
		return false;
	}
	if (!test_check_range(t, test_control(claim), 1, ~0ULL, records,
			      "records of accesses of %s, IA32_PMC%u", w->name, c))
		return false;
	return test_check_range(t, claim, mem_sample_share_least(share, records),
				mem_sample_share_most(share, records), with,
				"of %u records of %s, IA32_PMC%u, have bits %#lx of AUX+28H",
				records, w->name, c, bit);
}

/*
 * HYB-11  A record of a locked load must have the lock bit of its core set, and one of a plain
 *         load must not: bit 4 of the data source on Gracemont, 5 on Crestmont, Skymont and
 *         Darkmont and from Golden Cove to Redwood Cove, 11 on Lion Cove and Cougar Cove.
 * HYB-12  A record of a load that missed the STLB must have the bit of its core set: bit 5 of the
 *         data source on Gracemont, 6 on Crestmont, Skymont and Darkmont, 4 from Golden Cove to
 *         Redwood Cove, 10 on Lion Cove and Cougar Cove.
 *         Linux grt_latency_data, adl_latency_data_p, cmt_latency_data, lnl_latency_data
 *
 * Given  loops of locked additions, of loads of a line just flushed, of loads after INVLPG, which
 *        need a page walk, and of plain loads, to one address
 * When   each counter that does load latency makes records with AUX
 * Then   this core's lock bit is 1 in each record of a locked addition, and 0 in each of a line
 *        just flushed; its bit of an STLB miss is 1 in more than half of those after INVLPG, and in
 *        fewer than half of plain ones
 * Control: there are records of each at that address
 */
TEST(archpebs, source_of_a_load_has_the_lock_and_stlb_bits_of_its_type_of_core,
     REQS(HYB_11, HYB_12), NEEDS(need_perfmon, need_latencies, need_events))
{
	const enum event_kind kind = EK_LOAD_LATENCY;
	const u64 lock = latency_lock_bit(), stlb = latency_stlb_bit();
	struct event event;

	FOR_EACH_COUNTER (c, arch_counters_of(kind, &event))
		if (!check_bit(t, AT(HYB_11), kind, c, &workload_lock, lock, SHARE_EACH) ||
		    !check_bit(t, AT(HYB_11), kind, c, &workload_uncached, lock, SHARE_NONE) ||
		    !check_bit(t, AT(HYB_12), kind, c, &workload_fresh_page, stlb, SHARE_MORE) ||
		    !check_bit(t, AT(HYB_12), kind, c, &workload_load, stlb, SHARE_FEWER))
			return;
}

/* Most records of a workload's loads have a code of this core. */
static void check_codes(struct test *t, struct test_claim claim, unsigned c, u16 event,
			enum access access)
{
	const u64 codes = mem_sample_codes_of_core(t, access);
	unsigned records = 0, with = 0;
	struct cache_workload h;
	struct arch_fragment f;
	u64 source = 0;

	if (!mem_sample_prepare(t, access, &h))
		return;
	take_at(h.workload, &h.at, c, event, LEAST_THRESHOLD, WINDOWS_MOST,
		MEM_SAMPLE_RECORDS_SURE);
	for (u64 at = 0, next; (next = arch_next(at)); at = next) {
		const u64 aux = arch_group(at, ARCH_AUX, &f), gpr = arch_group(at, ARCH_GPR, &f);

		if (!aux || !mem_sample_in_place(&h, arch_at(aux)) ||
		    sampling_is_switching(h.workload, arch_at(gpr + AT_RIP)))
			continue;
		source = latency_source_code(arch_at(aux + AT_SOURCE));
		records++;
		with += source < 64 && codes >> source & 1;
	}
	arch_pebs_close();
	counter_reset();
	if (records < MEM_SAMPLE_RECORDS && !test_is_strict(t)) {
		test_inconclusive(t, "%u records of %s", records, h.name);
		return;
	}
	if (test_check_range(t, test_control(claim), MEM_SAMPLE_RECORDS, ~0ULL, records,
			     "records of %s, IA32_PMC%u", h.name, c))
		test_check_range(t, claim, records / 2 + 1, records, with,
				 "of %u records of %s, IA32_PMC%u, have a code of this core "
				 "(the last has %#lx)",
				 records, h.name, c, source);
}

/*
 * LL-47  A load that hits the L1 data cache must be reported with a code of its core: 01H, on Lion
 *        Cove and Cougar Cove 01H or 02H.
 * LL-48  A load whose line is on its way already must be reported with a code of its core: 02H, on
 *        Lion Cove and Cougar Cove 03H or 06H.
 * LL-49  A load that hits the L2 must be reported with the code of its core: 03H, on Lion Cove and
 *        Cougar Cove 05H.
 * LL-50  A load that hits the L3 and needs no snoop must be reported with a code of its core: 04H,
 *        on Crestmont, Skymont and Darkmont 04H or 05H, on Lion Cove and Cougar Cove 08H.
 * LL-51  A load that memory serves must be reported with a code of memory of its core: 0AH or 0BH,
 *        on Gracemont 0AH to 0DH, on Lion Cove and Cougar Cove 11H.
 *        Linux intel_pmu_pebs_data_source_skl, _grt, _cmt, _lnl
 *
 * Given  the last counter that does load latency; loads of one line, of lines on their way, that
 *        the L1 has lost, that the L2 has lost, and of a flushed line
 * When   it makes records with AUX
 * Then   most of each have this core's code of an L1 hit, a line on its way, an L2 hit, an L3 hit,
 *        memory in AUX+28H; or one of memory where the L3 need not have what the L2 has lost
 * Control: there are records of each at its addresses
 */
TEST(archpebs, source_of_a_load_has_the_code_of_its_type_of_core,
     REQS(LL_47, LL_48, LL_49, LL_50, LL_51), NEEDS(need_perfmon, need_latencies, need_events),
     .deadline_ms = 5000)
{
	struct event event;
	const u64 counters = arch_counters_of(EK_LOAD_LATENCY, &event);
	const unsigned c = 63u - (unsigned)__builtin_clzll(counters);

	check_codes(t, AT(LL_47), c, event.code, ACCESS_L1);
	check_codes(t, AT(LL_48), c, event.code, ACCESS_PENDING);
	check_codes(t, AT(LL_49), c, event.code, ACCESS_L2);
	check_codes(t, AT(LL_50), c, event.code, ACCESS_L3);
	check_codes(t, AT(LL_51), c, event.code, ACCESS_MEMORY);
}

/* The properties of each record's source that are judged together. */
struct source_claims {
	struct test_claim code, bits, blocked;
	bool free;		/* no store is in front of the loads */
};

static bool check_sources(struct test *t, const struct source_claims *claims, unsigned c, u16 event,
			  const struct workload *w)
{
	unsigned records = 0;
	struct arch_fragment f;

	take(w, c, event, LEAST_THRESHOLD, WINDOWS_MOST);
	for (u64 at = 0, next; (next = arch_next(at)); at = next) {
		const u64 aux = arch_group(at, ARCH_AUX, &f), gpr = arch_group(at, ARCH_GPR, &f);
		u64 source, code;

		if (!aux || sampling_is_switching(w, arch_at(gpr + AT_RIP)))
			continue;
		source = arch_at(aux + AT_SOURCE);
		code = latency_source_code(source);
		test_check(t, claims->code, latency_source_is(source, latency_codes_of_core()),
			   "a code of the table", "code %lx of record %u, IA32_PMC%u", code,
			   records, c);
		test_check_eq(t, claims->bits, 0, source & ~latency_named_bits(),
			      "bits %#lx of record %u, IA32_PMC%u", ~latency_named_bits(), records,
			      c);
		if (claims->free)
			test_check_eq(t, claims->blocked, 0, source & latency_blocked_bits(),
				      "bits %#lx of record %u of loads behind no store, IA32_PMC%u",
				      latency_blocked_bits(), records, c);
		records++;
	}
	arch_pebs_close();
	counter_reset();
	if (!records)
		test_missed(t);
	return test_check_range(t, test_control(claims->bits), 1, ~0ULL, records,
				"records of load latency, IA32_PMC%u", c);
}

/*
 * HYB-13  The code of a data source must be one that the table of its core has: on Lion Cove and
 *         Cougar Cove 00H to 03H, 05H, 06H, 08H, 0CH, 0DH, 0FH, 10H or 11H.
 *         Linux: lnl_ and arl_ tables (one source)
 * HYB-27  Bits of a load's data source that have no name on its core must be 0, but for bits 7:6
 *         of Ice Lake and bit 4 of Crestmont, Skymont and Darkmont, which may have one.
 *         Linux grt_latency_data, adl_latency_data_p, cmt_latency_data, lnl_latency_data: the bits
 *         that they name
 * HYB-28  A record of a load that no store is in front of must not say that it was blocked: bits
 *         7:6 of the data source from Golden Cove to Redwood Cove, on Golden Cove while event
 *         8203H counts too; 13:12 on Lion Cove and Cougar Cove, 6 on Gracemont, 7 on Crestmont,
 *         Skymont and Darkmont.
 *         Linux pebs_block, PMU_FL_MEM_LOADS_AUX; ds.c, latency data of each core
 *
 * Given  loads of one line, of a line that was just flushed, after INVLPG, across a line's end, and
 *        locked ones
 * When   each counter that does load latency makes records with AUX
 * Then   the code of each source is in the table of this core, and the bits without a name are 0;
 *        for the first, which no store is in front of, those of a blocked load are 0 too
 * Control: there are records of each
 */
TEST(archpebs, source_of_each_load_has_codes_and_bits_of_its_type_of_core,
     REQS(HYB_13, HYB_27, HYB_28), NEEDS(need_perfmon, need_latencies))
{
	static const struct workload *const pieces[] = { &workload_load, &workload_uncached,
							 &workload_fresh_page, &workload_split,
							 &workload_lock };
	struct event event;

	FOR_EACH_COUNTER (c, arch_counters_of(EK_LOAD_LATENCY, &event))
		for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
			const struct source_claims claims = {
				.code = AT(HYB_13), .bits = AT(HYB_27), .blocked = AT(HYB_28),
				.free = !i,
			};

			if (!check_sources(t, &claims, c, event.code, pieces[i]))
				return;
		}
}

static bool need_sampled_stores(char *reason, size_t size)
{
	return need_arch_groups(GROUP_AUX | GROUP_GPR, reason, size) &&
	       need_arch_stores(reason, size);
}

/*
 * HYB-24  A record of a sampled store that missed the STLB, or that was locked, must have the bit
 *         set that a record of such a load has on its core, and one of a plain store must not.
 *         Linux store_latency_data; INTEL_HYBRID_LAT_CONSTRAINT and INTEL_HYBRID_STLAT_CONSTRAINT:
 *         its decoders of loads
 *
 * Given  loops of stores to one address: locked additions, plain stores, and stores after INVLPG,
 *        which need a page walk
 * When   each counter that samples stores makes records with AUX
 * Then   this core's lock bit is 1 in each record of a locked addition, and 0 in each of a plain
 *        store; its bit of an STLB miss is 1 in more than half of those after INVLPG, and in fewer
 *        than half of plain ones
 * Control: there are records of each at that address
 */
TEST(archpebs, source_of_a_store_has_the_lock_and_stlb_bits_of_its_type_of_core, REQS(HYB_24),
     NEEDS(need_perfmon, need_sampled_stores))
{
	const enum event_kind kind = EK_STORE_SAMPLE;
	const u64 lock = latency_lock_bit(), stlb = latency_stlb_bit();
	struct event event;

	FOR_EACH_COUNTER (c, arch_counters_of(kind, &event))
		if (!check_bit(t, AT(HYB_24), kind, c, &workload_lock, lock, SHARE_EACH) ||
		    !check_bit(t, AT(HYB_24), kind, c, &workload_store, lock, SHARE_NONE) ||
		    !check_bit(t, AT(HYB_24), kind, c, &workload_fresh_page_store, stlb,
			       SHARE_MORE) ||
		    !check_bit(t, AT(HYB_24), kind, c, &workload_store, stlb, SHARE_FEWER))
			return;
}
