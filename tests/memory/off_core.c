/* SPDX-License-Identifier: MIT */
/*
 * Off-core response events. SDM "Off-core Response Performance Monitoring in the Processor Core"
 * (Nehalem: one register; Westmere: two; request in 7:0, response in 15:8) and "Off-core Response
 * Performance Monitoring" (Sandy Bridge and later: request in 15:0, any response in 16, supplier in
 * 30:17, snoop in 37:31). Loads of a line that was just flushed are demand data reads with a
 * response from outside the core; a prefetcher may add some.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/event.h"
#include "tests/measure/cache_workload.h"
#include "tests/frame/needs.h"
#include "tests/measure/window.h"

#define ROUNDS		64
#define OFF_CORE_REGISTERS 2u	/* MSR_OFFCORE_RSP_0 and _1, at most */
#define WINDOWS		3		/* the minimum of these counts */
#define STRICT_WINDOWS 1	/* nothing else accesses memory */
#define REQUEST		BIT(0)		/* demand data read, in both layouts */
#define REQUEST_RFO	BIT(1)		/* read for ownership: of a store, in both layouts */
#define FEW		(ROUNDS / 4)	/* events that other causes may add */
#define NHM_RESPONSES	0xf700
#define ANY_RESPONSE	BIT(16)
#define SUPPLIERS	BITS(17, 30)
#define SNOOPS		BITS(31, 37)
/* Responses that no load of a flushed line gets: modified in the L3, and a snoop with HITM. */
#define L3_MODIFIED	BIT(18)
#define SNOOP_HITM	BIT(36)
/* Possible suppliers: the L3, or one beyond it. */
#define L3_SUPPLIERS	BITS(18, 21)
#define FAR_SUPPLIERS	(BIT(17) | BITS(22, 30))
#define NHM_HITM	BIT(10)		/* modified in another core */
#define NHM_L3		BITS(8, 10)
#define NHM_FAR		BITS(12, 15)

struct setting {
	u64 value;
	const char *what;
};

enum { NAMES_BOTH };	/* index of the first setting: the control */

static const struct setting nehalem[] = {
	{ REQUEST | NHM_RESPONSES, "a request and every response" },
	{ 0, "nothing" }, { REQUEST, "a request alone" }, { NHM_RESPONSES, "responses alone" },
};
static const struct setting sandy_bridge[] = {
	{ REQUEST | ANY_RESPONSE, "a request and any response" },
	{ 0, "nothing" }, { REQUEST, "a request alone" },
	{ ANY_RESPONSE, "any response alone" },
#define BEFORE_SUPPLIERS 4 /* settings */
	{ SUPPLIERS | SNOOPS, "suppliers and snoops alone" },
	{ REQUEST | SUPPLIERS, "a request and suppliers alone" },
	{ REQUEST | SNOOPS, "a request and snoops alone" },
};

/* The minimum of three windows, of one in strict runs: accesses by other processors and devices
 * aren't in all of them. */
static u64 off_core_count(const struct test *t, u16 event, unsigned counter,
			  const struct cache_workload *h)
{
	u64 least = ~0ULL;

	for (unsigned i = 0; i < test_rounds(t, STRICT_WINDOWS, WINDOWS) && least; i++) {
		u64 value;

		counter_program(counter, event, COUNT_BOTH);
		counter_write(counter, 0);
		cache_workload_run(h, ROUNDS, pmc_one(counter));
		value = counter_read(counter);
		if (value < least)
			least = value;
	}
	counter_program_disabled(counter, 0, 0);
	return least;
}

/* Reserved bits of these fields are read as 0 if the processor accepts them; if not, the write
 * raises #GP. */
static bool off_core_set(u32 msr, u64 value)
{
	return !msr_try_write(msr, value).raised;
}

/* The event must count with the first setting of the register, and must not count with any other
 * one. */
static void check_settings(struct test *t, u32 msr, enum event_kind kind)
{
	bool snb = counter_caps()->facilities & FAC_OFFCORE_SNB;
	const struct setting *settings = snb ? sandy_bridge : nehalem;
	unsigned settings_count = snb ? sizeof(sandy_bridge) / sizeof(sandy_bridge[0]) :
					sizeof(nehalem) / sizeof(nehalem[0]);
	const struct generation *g = counter_caps()->generation;
	struct event event;
	struct cache_workload h;
	char reason[96];

	if (!cache_workload_get(ACCESS_MEMORY, &h, reason, sizeof(reason)) ||
	    !HARNESS_CHECK(t, event_get(kind, 0, &event), "the event is in the table"))
		return;
	/* Lion Cove names memory by bits 34:31 and 40:37 alone (intel/perfmon
	 * lunarlake_lioncove_core: OCR.DEMAND_DATA_RD.DRAM); for Darkmont no source says what the
	 * bits are. */
	if (snb && !test_is_strict(t) && g && g->set & (GENS_FROM_LNC | GENS_CLEARWATERFOREST))
		settings_count = BEFORE_SUPPLIERS;
	for (unsigned i = 0; i < settings_count; i++) {
		u64 value;

		if (!off_core_set(msr, settings[i].value)) {
			if (i == NAMES_BOTH) {
				test_inconclusive(t, "MSR 0x%x refuses %s (0x%lx)", msr,
						  settings[i].what, settings[i].value);
				return;
			}
			test_note(t, "MSR 0x%x refuses %s (0x%lx)", msr, settings[i].what,
				  settings[i].value);
			continue;
		}
		FOR_EACH_COUNTER (c, counters_for(event.code).bits) {
			value = off_core_count(t, event.code, c, &h);
			if (i == NAMES_BOTH)
				CONTROL_RANGE(t, MSR_18, ROUNDS / 2, ~0ULL, value,
					      "%s of %u %s on IA32_PMC%u, MSR 0x%x naming %s",
					      event.name, ROUNDS, h.name, c, msr, settings[i].what);
			else
				CHECK_EQ(t, MSR_18, 0, value,
					 "%s of %u %s on IA32_PMC%u, MSR 0x%x naming %s",
					 event.name, ROUNDS, h.name, c, msr, settings[i].what);
		}
	}
	off_core_set(msr, 0);
}

/*
 * MSR-18  An off-core response event must count nothing unless its MSR names a request and a
 *         response.
 *         SDM 18.8.1.3 Off-core Response Performance Monitoring in the Processor Core
 *
 * Given  loads of a flushed line, which are demand reads of data; MSR_OFFCORE_RSP_0 and the first
 *        off-core event
 * When   the register names nothing, requests alone, responses alone, and (Sandy Bridge to Redwood
 *        Cove; later ones where every requirement is judged) only one of suppliers and snoops
 * Then   the event counts none
 * Control: with a request and every response it counts at least half of the loads
 */
TEST(offcore, off_core_event_counts_only_with_request_and_response, REQS(MSR_18),
     NEEDS(need_perfmon, need_offcore), .under_every_fault = true)
{
	check_settings(t, MSR_OFFCORE_RSP_0, EK_OFFCORE_0);
}

/*
 * MSR-18  An off-core response event must count nothing unless its MSR names a request and a
 *         response.
 *         SDM 18.8.1.3 Off-core Response Performance Monitoring in the Processor Core
 * MSR-24  Both off-core response MSRs, 1A6H and 1A7H, must exist.
 *         SDM 18.8.1 Enhancements of Performance Monitoring in the Processor Core (Nehalem) (two);
 *         18.8.1.3 (one on Nehalem)
 *
 * Given  loads of a flushed line, which are demand reads of data; MSR_OFFCORE_RSP_0 names every
 *        response and must not matter
 * When   MSR_OFFCORE_RSP_1 (1A7H) names nothing, requests alone, responses alone, and (Sandy
 *        Bridge to Redwood Cove; later ones where every requirement is judged) only one of
 *        suppliers and snoops
 * Then   it can be read, and the second off-core event counts none
 * Control: with a request and every response in it the event counts at least half of the loads
 */
TEST(offcore, off_core_rsp_1_governs_the_second_off_core_event, REQS(MSR_18, MSR_24),
     NEEDS(need_perfmon, need_offcore, need_offcore_2))
{
	u64 value = 0;

	CHECK(t, MSR_24, !msr_try_read(MSR_OFFCORE_RSP_1, &value).raised, "reading 1A7H");
	/* The first register selects everything, and must have no effect. */
	off_core_set(MSR_OFFCORE_RSP_0, counter_caps()->facilities & FAC_OFFCORE_SNB ?
						REQUEST | ANY_RESPONSE :
						REQUEST | NHM_RESPONSES);
	check_settings(t, MSR_OFFCORE_RSP_1, EK_OFFCORE_1);
	off_core_set(MSR_OFFCORE_RSP_0, 0);
}

/*
 * MSR-47  With its any-response bit set an off-core response MSR must select every response,
 *         whatever supplier and snoop bits are set.
 *         SDM Off-core Response Performance Monitoring: if ANY is set, supplier and snoop bits are
 *         ignored
 *
 * Given  loads of a flushed line, to which neither "modified in the L3" nor HITM is an answer
 * When   MSR_OFFCORE_RSP_0 or MSR_OFFCORE_RSP_1 has ANY and this supplier, ANY and this snoop, or
 *        ANY and both
 * Then   its event counts at least half of the loads
 * Control: with supplier and snoop and without ANY it counts at most a quarter
 */
TEST(offcore, any_response_counts_whatever_supplier_and_snoop_are_beside_it, REQS(MSR_47),
     NEEDS(need_perfmon, need_offcore, need_offcore_2))
{
	static const struct setting beside[] = {
		{ L3_MODIFIED, "a supplier" },
		{ SNOOP_HITM, "a snoop" },
		{ L3_MODIFIED | SNOOP_HITM, "a supplier and a snoop" },
	};
	struct cache_workload h;

	if (!cache_workload_or_skip(t, ACCESS_MEMORY, &h))
		return;
	for (unsigned n = 0; n < 2; n++) {
		u32 msr = MSR_OFFCORE_RSP_0 + n;
		struct event event;

		if (!HARNESS_CHECK(t, event_get(EK_OFFCORE_0 + n, 0, &event),
				   "the event is in the table"))
			return;
		off_core_set(msr, REQUEST | L3_MODIFIED | SNOOP_HITM);
		CONTROL_RANGE(t, MSR_47, 0, FEW, off_core_count(t, event.code, 0, &h),
			      "%s of %u %s, MSR 0x%x naming a supplier and a snoop", event.name,
			      ROUNDS, h.name, msr);
		for (unsigned i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
			off_core_set(msr, REQUEST | ANY_RESPONSE | beside[i].value);
			CHECK_RANGE(t, MSR_47, ROUNDS / 2, ~0ULL,
				    off_core_count(t, event.code, 0, &h),
				    "%s of %u %s, MSR 0x%x naming any response, and %s", event.name,
				    ROUNDS, h.name, msr, beside[i].what);
		}
		off_core_set(msr, 0);
	}
}

/* Count one workload with both events at the same time: the first on IA32_PMC0, the second on
 * IA32_PMC1. Each value is the minimum of three windows, of one in strict runs. */
static void count_both(const struct test *t, const struct event event[2],
		       const struct cache_workload *h, u64 least[2])
{
	least[0] = least[1] = ~0ULL;
	for (unsigned i = 0; i < test_rounds(t, STRICT_WINDOWS, WINDOWS); i++) {
		for (unsigned c = 0; c < 2; c++) {
			counter_program(c, event[c].code, COUNT_BOTH);
			counter_write(c, 0);
		}
		cache_workload_run(h, ROUNDS, (struct pmc_mask){ BITS(0, 1) });
		for (unsigned c = 0; c < 2; c++) {
			u64 value = counter_read(c);

			if (value < least[c])
				least[c] = value;
			counter_program_disabled(c, 0, 0);
		}
	}
}

/*
 * MSR-48  Two off-core response events that count at once must each count by their own MSR.
 *         SDM Off-core Response Performance Monitoring, Off-Core Response Event Encoding
 *
 * Given  IA32_PMC0 counts the first off-core event and IA32_PMC1 the second, in the same window of
 *        loads, or of stores, of a flushed line
 * When   MSR_OFFCORE_RSP_0 and MSR_OFFCORE_RSP_1 name demand reads of data, or reads for ownership,
 *        in each combination, with every response
 * Then   each event counts at least half of the accesses where its register names their kind, and
 *        at most a quarter where it names the other
 */
TEST(offcore, off_core_events_at_once_count_by_their_own_registers, REQS(MSR_48),
     NEEDS(need_perfmon, need_two_counters, need_offcore, need_offcore_2))
{
	static const struct {
		u64 request;
		const char *what;
	} kinds[] = { { REQUEST, "demand reads" }, { REQUEST_RFO, "reads for ownership" } };
	static const enum access accesses[] = { ACCESS_MEMORY, ACCESS_STORE_MISS };
	u64 responses = counter_caps()->facilities & FAC_OFFCORE_SNB ? ANY_RESPONSE : NHM_RESPONSES;
	struct event event[2];

	for (unsigned n = 0; n < 2; n++)
		if (!HARNESS_CHECK(t, event_get(EK_OFFCORE_0 + n, 0, &event[n]),
				   "the event is in the table"))
			return;
	for (unsigned a = 0; a < 2; a++) {
		struct cache_workload h;

		if (!cache_workload_or_skip(t, accesses[a], &h))
			return;
		for (unsigned set = 0; set < 4; set++) {
			u64 least[2];

			for (unsigned n = 0; n < 2; n++)
				off_core_set(MSR_OFFCORE_RSP_0 + n,
					     kinds[set >> n & 1].request | responses);
			count_both(t, event, &h, least);
			for (unsigned n = 0; n < 2; n++) {
				const char *what = kinds[set >> n & 1].what;

				if ((set >> n & 1) == a)
					CHECK_RANGE(t, MSR_48, ROUNDS / 2, ~0ULL, least[n],
						    "%s of %u %s, its MSR naming %s, setting %u",
						    event[n].name, ROUNDS, h.name, what, set);
				else
					CHECK_RANGE(t, MSR_48, 0, FEW, least[n],
						    "%s of %u %s, its MSR naming %s, setting %u",
						    event[n].name, ROUNDS, h.name, what, set);
			}
		}
	}
	off_core_set(MSR_OFFCORE_RSP_0, 0);
	off_core_set(MSR_OFFCORE_RSP_1, 0);
}

/*
 * MSR-48  Two off-core response events that count at once must each count by their own MSR.
 *         SDM Off-core Response Performance Monitoring, Off-Core Response Event Encoding
 *
 * Given  IA32_PMC0 counts the first off-core event and IA32_PMC1 the second, in the same window of
 *        loads of a flushed line
 * When   both registers name demand reads; one names every response, the other one only a line
 *        that is modified in another core; then the other way round
 * Then   the event whose register names every response counts at least half of the loads, the other
 *        one at most a quarter
 */
TEST(offcore, off_core_events_at_once_count_by_the_responses_of_their_own_registers, REQS(MSR_48),
     NEEDS(need_perfmon, need_two_counters, need_offcore, need_offcore_2))
{
	const bool later = counter_caps()->facilities & FAC_OFFCORE_SNB;
	const u64 every = later ? ANY_RESPONSE : NHM_RESPONSES;
	const u64 modified = later ? L3_MODIFIED | SNOOP_HITM : NHM_HITM;
	struct cache_workload h;
	struct event event[2];

	/* The suppliers of later ones aren't in the manual. */
	if (counter_caps()->baseline || counter_caps()->arch_pebs) {
		test_skip(t, "a later processor than Skylake");
		return;
	}
	for (unsigned n = 0; n < 2; n++)
		if (!HARNESS_CHECK(t, event_get(EK_OFFCORE_0 + n, 0, &event[n]),
				   "the event is in the table"))
			return;
	if (!cache_workload_or_skip(t, ACCESS_MEMORY, &h))
		return;
	for (unsigned all = 0; all < 2; all++) {
		bool set = true;
		u64 least[2];

		for (unsigned n = 0; n < 2; n++)
			set = off_core_set(MSR_OFFCORE_RSP_0 + n,
					   REQUEST | (n == all ? every : modified)) &&
			      set;
		if (!set) {
			test_inconclusive(t, "a register refuses the responses");
			break;
		}
		count_both(t, event, &h, least);
		CHECK_RANGE(t, MSR_48, ROUNDS / 2, ~0ULL, least[all],
			    "%s of %u %s, its MSR naming every response", event[all].name, ROUNDS,
			    h.name);
		CHECK_RANGE(t, MSR_48, 0, FEW, least[!all],
			    "%s of %u %s, its MSR naming modified lines", event[!all].name, ROUNDS,
			    h.name);
	}
	off_core_set(MSR_OFFCORE_RSP_0, 0);
	off_core_set(MSR_OFFCORE_RSP_1, 0);
}

/* Count one window at CPL 3, with the workload's usual memory. */
static u64 count_at_cpl_3(u16 event, unsigned counter, const struct cache_workload *h)
{
	u64 value;

	counter_program(counter, event, COUNT_USR);
	counter_write(counter, 0);
	counters_enable(pmc_one(counter));
	workload_run_user(h->workload, ROUNDS);
	counters_disable();
	value = counter_read(counter);
	counter_program_disabled(counter, 0, 0);
	return value;
}

static void check_requests(struct test *t, const struct event *event, enum access access)
{
	struct cache_workload h;

	if (!cache_workload_or_skip(t, access, &h))
		return;
	for (unsigned c = 0; c < 4; c++) {
		CHECK_RANGE(t, MSR_40, ROUNDS / 2, ~0ULL, off_core_count(t, event->code, c, &h),
			    "%s of %u %s, IA32_PMC%u", event->name, ROUNDS, h.name, c);
		CHECK_RANGE(t, MSR_40, ROUNDS / 2, ~0ULL, count_at_cpl_3(event->code, c, &h),
			    "%s of %u %s at CPL 3, IA32_PMC%u", event->name, ROUNDS, h.name, c);
	}
}

/*
 * MSR-40  An off-core response event must count a request by the response that it got, and not
 *         where other responses alone are named.
 *         SDM Off-core Response Performance Monitoring, response types; supplier and snoop
 *         information
 *
 * Given  MSR_OFFCORE_RSP_0, then MSR_OFFCORE_RSP_1 where it exists, names demand reads of data and
 *        reads for ownership, both at once, and every response
 * When   a flushed line is loaded, or stored to, at CPL 0 and at CPL 3
 * Then   its off-core event counts at least half of the accesses on each counter
 */
TEST(offcore, each_counter_counts_both_requests_that_its_register_names, REQS(MSR_40),
     NEEDS(need_perfmon, need_four_counters, need_offcore))
{
	static const enum access accesses[] = { ACCESS_MEMORY, ACCESS_STORE_MISS };
	u64 responses = counter_caps()->facilities & FAC_OFFCORE_SNB ? ANY_RESPONSE : NHM_RESPONSES;
	struct event event;

	for (unsigned n = 0; n < OFF_CORE_REGISTERS && event_get(EK_OFFCORE_0 + n, 0, &event);
	     n++) {
		const u32 msr = MSR_OFFCORE_RSP_0 + n;

		if (!off_core_set(msr, REQUEST | REQUEST_RFO | responses)) {
			test_inconclusive(t, "MSR 0x%x refuses two requests", msr);
			return;
		}
		for (unsigned i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++)
			check_requests(t, &event, accesses[i]);
		off_core_set(msr, 0);
	}
}

/*
 * MSR-40  An off-core response event must count a request by the response that it got, and not
 *         where other responses alone are named.
 *         SDM Off-core Response Performance Monitoring, response types; supplier and snoop
 *         information
 *
 * Given  loads of a flushed line, and stores to one: something beyond the L3 answers
 * When   MSR_OFFCORE_RSP_0, or MSR_OFFCORE_RSP_1 where it exists, names their kind of request with
 *        the responses of the L3 alone, and with those of everything else alone; from Sandy Bridge
 *        on by supplier, and with every snoop result
 * Then   its event counts at most a quarter of the accesses with the first
 * Control: it counts at least half of them with the second
 */
TEST(offcore, off_core_responses_are_told_by_supplier_for_each_register_and_request, REQS(MSR_40),
     NEEDS(need_perfmon, need_offcore))
{
	static const struct {
		enum access access;
		u64 request;
	} kinds[] = { { ACCESS_MEMORY, REQUEST }, { ACCESS_STORE_MISS, REQUEST_RFO } };
	const bool snb = counter_caps()->facilities & FAC_OFFCORE_SNB;
	const u64 l3 = snb ? L3_SUPPLIERS | SNOOPS : NHM_L3;
	const u64 far = snb ? FAR_SUPPLIERS | SNOOPS : NHM_FAR;

	for (unsigned i = 0; i < 4; i++) {
		const u64 request = kinds[i & 1].request;
		const unsigned n = i >> 1;
		const u32 msr = MSR_OFFCORE_RSP_0 + n;
		struct cache_workload h;
		struct event event;

		if (!event_get(EK_OFFCORE_0 + n, 0, &event))
			return;
		if (!cache_workload_or_skip(t, kinds[i & 1].access, &h))
			return;
		if (!off_core_set(msr, request | far)) {
			test_inconclusive(t, "MSR 0x%x refuses 0x%lx", msr, request | far);
			return;
		}
		CONTROL_RANGE(t, MSR_40, ROUNDS / 2, ~0ULL, off_core_count(t, event.code, 0, &h),
			      "%s of %u %s, MSR 0x%x = 0x%lx", event.name, ROUNDS, h.name, msr,
			      request | far);
		off_core_set(msr, request | l3);
		CHECK_RANGE(t, MSR_40, 0, FEW, off_core_count(t, event.code, 0, &h),
			    "%s of %u %s, MSR 0x%x = 0x%lx", event.name, ROUNDS, h.name, msr,
			    request | l3);
		off_core_set(msr, 0);
	}
}

/*
 * MSR-18  An off-core response event must count nothing unless its MSR names a request and a
 *         response.
 *         SDM 18.8.1.3 Off-core Response Performance Monitoring in the Processor Core
 *
 * Given  IA32_PMC0, programmed once with an off-core event, while its register, MSR_OFFCORE_RSP_0,
 *        then MSR_OFFCORE_RSP_1 where it exists, names a request and every response; loads of a
 *        flushed line, which are demand reads of data
 * When   between windows nothing but that register is written: the same, 0, the same
 * Then   nothing is counted with 0
 * Control: with the others at least half of the loads are
 */
TEST(offcore, off_core_register_acts_while_the_event_stays_programmed, REQS(MSR_18),
     NEEDS(need_perfmon, need_offcore))
{
	const u64 all = counter_caps()->facilities & FAC_OFFCORE_SNB ? REQUEST | ANY_RESPONSE :
								       REQUEST | NHM_RESPONSES;
	struct cache_workload h;
	struct event event;
	u64 start, count[3];

	if (!cache_workload_or_skip(t, ACCESS_MEMORY, &h))
		return;
	for (unsigned n = 0; n < OFF_CORE_REGISTERS && event_get(EK_OFFCORE_0 + n, 0, &event);
	     n++) {
		for (unsigned i = 0; i < 3; i++) {
			if (!off_core_set(MSR_OFFCORE_RSP_0 + n, i == 1 ? 0 : all)) {
				test_inconclusive(t, "MSR_OFFCORE_RSP_%u refuses 0x%lx", n,
						  i == 1 ? 0 : all);
				return;
			}
			if (!i)
				counter_program(0, event.code, COUNT_BOTH);
			start = counter_read(0);
			cache_workload_run(&h, ROUNDS, pmc_one(0));
			count[i] = counter_read(0) - start;
		}
		counter_program_disabled(0, 0, 0);
		off_core_set(MSR_OFFCORE_RSP_0 + n, 0);
		CONTROL_RANGE(t, MSR_18, ROUNDS / 2, ~0ULL, count[0], "%s, 0x%lx", event.name, all);
		CHECK_EQ(t, MSR_18, 0, count[1], "%s, its register then 0", event.name);
		CONTROL_RANGE(t, MSR_18, ROUNDS / 2, ~0ULL, count[2], "%s, 0x%lx again", event.name,
			      all);
	}
}

/*
 * MSR-18  An off-core response event must count nothing unless its MSR names a request and a
 *         response.
 *         SDM 18.8.1.3 Off-core Response Performance Monitoring in the Processor Core
 *
 * Given  loads, stores and locked additions to a flushed line, and each across the end of one, both
 *        lines flushed; the same flushes without an access, which show what something else adds
 * When   MSR_OFFCORE_RSP_0, or MSR_OFFCORE_RSP_1 where it exists, names every response and the
 *        other kind of request alone: reads for ownership for loads, demand reads of data for
 *        stores and locked additions
 * Then   its event counts at most a quarter of the accesses more than of the flushes alone (locked
 *        additions across a line's end, which may take the bus, in strict runs only)
 * Control: with their own kind of request it counts at least half of the accesses
 */
TEST(offcore, off_core_event_counts_no_access_of_another_request, REQS(MSR_18),
     NEEDS(need_perfmon, need_offcore))
{
	static const struct {
		const char *name;
		const struct workload *workload;
		u64 own, other;
		bool strict;
	} forms[] = {
		{ "loads", &workload_uncached, REQUEST, REQUEST_RFO, false },
		{ "split loads", &workload_slow_split, REQUEST, REQUEST_RFO, false },
		{ "stores", &workload_missed_store, REQUEST_RFO, REQUEST, false },
		{ "split stores", &workload_missed_split_store, REQUEST_RFO, REQUEST, false },
		{ "locked additions", &workload_missed_lock, REQUEST_RFO, REQUEST, false },
		{ "split locked additions", &workload_missed_split_lock, REQUEST_RFO, REQUEST,
		  true },
	};
	u64 responses = counter_caps()->facilities & FAC_OFFCORE_SNB ? ANY_RESPONSE : NHM_RESPONSES;
	struct cache_workload h, flush;
	struct event event;

	if (!cache_workload_or_skip(t, ACCESS_MEMORY, &h))
		return;
	flush = h;
	flush.workload = &workload_flush;
	for (unsigned n = 0; n < OFF_CORE_REGISTERS && event_get(EK_OFFCORE_0 + n, 0, &event);
	     n++) {
		for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
			u64 without;

			if (forms[i].strict && !test_is_strict(t))
				continue;
			h.workload = forms[i].workload;
			off_core_set(MSR_OFFCORE_RSP_0 + n, forms[i].own | responses);
			CONTROL_RANGE(t, MSR_18, ROUNDS / 2, ~0ULL,
				      off_core_count(t, event.code, 0, &h),
				      "%s of %u %s, its MSR naming their request", event.name,
				      ROUNDS, forms[i].name);
			off_core_set(MSR_OFFCORE_RSP_0 + n, forms[i].other | responses);
			without = off_core_count(t, event.code, 0, &flush);
			CHECK_RANGE(t, MSR_18, 0, without + FEW,
				    off_core_count(t, event.code, 0, &h),
				    "%s of %u %s, its MSR naming another request", event.name,
				    ROUNDS, forms[i].name);
		}
		off_core_set(MSR_OFFCORE_RSP_0 + n, 0);
	}
}
