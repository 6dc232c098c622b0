/* SPDX-License-Identifier: MIT */
/*
 * The condition of a counter, for each value of CMASK: the cycles with at least that many events,
 * the cycles with fewer, and how often each begins. SDM "Architectural Performance Monitoring
 * Version 1 Facilities" (CMASK is bits 31:24; INV, E). Counters that one write starts see the same
 * cycles.
 */
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/sampling.h"

#define ROUNDS		60
#define SPARSE		16	/* loads with NOPs between them */
#define CMASK_NEVER	255
#define LEAST_CYCLES	10	/* in 180 instructions, on any processor */
#define SETTINGS	3
#define PARTS		4	/* counters of one event: all of it, and CMASK = 1 to 3 */
#define MOST_EVENTS	16	/* of a cycle: no processor retires more micro-operations */
#define MOST_SLOTS	10	/* of a cycle: no processor has more */

/* No processor retires so many instructions in a cycle. The values have each of the upper three
 * bits alone, and all three. */
static const u8 unreachable[] = { 0x20, 0x40, 0x80, 0x60, 0xa0, 0xc0, 0xff };

/* Settings that count at the same time, and their counts. */
struct side_by_side {
	unsigned counter[SETTINGS];
	struct {
		u16 event;
		u64 flags;
	} set[SETTINGS];
	u64 value[SETTINGS];
};

/* Place the settings on counters, from the first one on. false: the last event can't be counted
 * there. */
static bool place(struct side_by_side *s, unsigned first)
{
	for (unsigned i = 0; i < SETTINGS; i++) {
		s->counter[i] = counter_from(first, i);
		if (!(counters_for(s->set[i].event).bits & BIT(s->counter[i])))
			return false;
	}
	return true;
}

static void count(struct side_by_side *s, const struct workload *w, u64 n)
{
	struct pmc_mask on = { 0 };

	for (unsigned i = 0; i < SETTINGS; i++) {
		counter_program(s->counter[i], s->set[i].event, s->set[i].flags | COUNT_BOTH);
		counter_write(s->counter[i], 0);
		on = pmc_or(on, pmc_one(s->counter[i]));
	}
	workload_run(w, n, on);
	for (unsigned i = 0; i < SETTINGS; i++)
		s->value[i] = counter_read(s->counter[i]);
}

/*
 * CNT-35  With a CMASK that no cycle can reach a counter must count nothing.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: CMASK
 * CNT-09  With the edge bit set a counter must count the deasserted to asserted transitions of its
 *         condition.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: E
 *
 * Given  each general-purpose counter; values of CMASK with each of its upper three bits, which no
 *        cycle reaches
 * When   it counts instructions with that CMASK; with E set too; with E and INV set
 * Then   the first two counts are 0, because the condition never holds. The third is 2 at most,
 *        because the condition always holds. A hypervisor may add the two writes of the window,
 *        which it emulates
 * Control: with CMASK = 1 it counts cycles, and with INV alone it counts those of the work
 */
TEST(count, each_high_bit_of_cmask_is_compared, REQS(CNT_35, CNT_09),
     NEEDS(need_perfmon, need_instructions, need_four_counters))
{
	const u64 emulated = window_emulated(t);

	FOR_EACH_COUNTER (first, counters_gp().bits)
		for (unsigned i = 0; i < sizeof(unreachable); i++) {
			const u64 cmask = COUNT_CMASK(unreachable[i]);
			struct side_by_side s = {
				.set[0] = { EVENT_INST_RETIRED_ANY_P, cmask },
				.set[1] = { EVENT_INST_RETIRED_ANY_P, cmask | COUNT_EDGE },
				.set[2] = { EVENT_INST_RETIRED_ANY_P,
					    cmask | COUNT_EDGE | COUNT_INV },
			};

			if (!place(&s, first))
				continue;
			count(&s, &workload_load, ROUNDS);
			CHECK_RANGE(t, CNT_35, 0, emulated, s.value[0],
				    "cycles of %#x instructions or more, IA32_PMC%u",
				    unreachable[i], s.counter[0]);
			CHECK_RANGE(t, CNT_09, 0, emulated, s.value[1],
				    "how often they begin, IA32_PMC%u", s.counter[1]);
			CHECK_RANGE(t, CNT_09, 0, 2 + emulated, s.value[2],
				    "begins of cycles of fewer than %#x instructions, IA32_PMC%u",
				    unreachable[i], s.counter[2]);
			s.set[0].flags = COUNT_CMASK(1);
			s.set[1].flags = s.set[2].flags = cmask | COUNT_INV;
			count(&s, &workload_load, ROUNDS);
			CONTROL_RANGE(t, CNT_35, 1, ~0ULL, s.value[0],
				      "cycles of an instruction or more, IA32_PMC%u", s.counter[0]);
			for (unsigned k = 1; k < SETTINGS; k++)
				CONTROL_RANGE(t, CNT_09, LEAST_CYCLES, ~0ULL, s.value[k],
					      "cycles of fewer than %#x instructions, IA32_PMC%u",
					      unreachable[i], s.counter[k]);
		}
}

/* An event, and work with different numbers of it from cycle to cycle. */
static const struct {
	enum { WORK_LOADS, WORK_INSTRUCTIONS, WORK_SLOTS } event;
	const struct workload *work;
	u64 n;
	const char *what;
} works[] = {
	{ WORK_LOADS, &workload_kind_compare, ROUNDS, "loads, two at a time" },
	{ WORK_LOADS, &workload_sparse, SPARSE, "loads, far apart" },
	{ WORK_INSTRUCTIONS, &workload_mixed, ROUNDS, "instructions" },
	{ WORK_SLOTS, &workload_mixed, ROUNDS, "slots" },
};
enum { SLOTS = 3, EVENT_WORKS = SLOTS }; /* the row of slots is the last one */
static const u8 masks[] = { 1, 2, 3, 4, 5, 8, 16 };

static u16 event_of(unsigned i)
{
	return works[i].event == WORK_LOADS ? LOADS :
	       works[i].event == WORK_SLOTS ? EVENT_TOPDOWN_SLOTS_P :
					      EVENT_INST_RETIRED_ANY_P;
}

/* In a strict run each counter takes every fourth CMASK of each work, if every counter counts the
 * event: then four counters that follow each other take all. There is no chance in these counts. */
static bool is_left_out(const struct test *t, unsigned counter, unsigned work, unsigned mask)
{
	enum { SHARES = 4 };

	return test_is_strict(t) && counters_for(event_of(work)).bits == counters_gp().bits &&
	       (counter + work + mask) % SHARES;
}

static void check_rises(struct test *t, unsigned first, unsigned i, u64 condition)
{
	struct side_by_side s = {
		.set[0] = { event_of(i), condition },
		.set[1] = { event_of(i), condition | COUNT_EDGE },
		.set[2] = { event_of(i), COUNT_CMASK(1) | COUNT_EDGE },
	};

	if (!place(&s, first))
		return;
	count(&s, works[i].work, works[i].n);
	CHECK_RANGE(t, CNT_09, 0, s.value[0], s.value[1],
		    "begins of a condition, IA32_PMC%u, whose cycles IA32_PMC%u counts; CMASK = "
		    "%lu INV = %u, %s",
		    s.counter[1], s.counter[0], condition >> IA32_PERFEVTSEL_CMASK_SHIFT,
		    !!(condition & COUNT_INV), works[i].what);
	CONTROL_RANGE(t, CNT_09, 1, ~0ULL, s.value[2],
		      "begins of cycles with an event, IA32_PMC%u, %s", s.counter[2],
		      works[i].what);
}

/*
 * CNT-09  With the edge bit set a counter must count the deasserted to asserted transitions of its
 *         condition.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: E
 *
 * Given  work in which cycles have different numbers of an event; the numbers aren't known. A
 *        condition of each CMASK, with and without INV
 * When   one counter counts the cycles of the condition, another one how often it begins (E = 1),
 *        over the same cycles; each counter in turn, in a strict run with a quarter of the CMASKs
 * Then   it begins no more often than there are cycles of it
 * Control: cycles with an event begin at least once
 */
TEST(count, condition_rises_no_more_often_than_it_holds, REQS(CNT_09),
     NEEDS(need_perfmon, need_instructions, need_events, need_four_counters))
{
	FOR_EACH_COUNTER (first, counters_gp().bits)
		for (unsigned i = 0; i < EVENT_WORKS; i++)
			for (unsigned k = 0; k < sizeof(masks); k++) {
				if (is_left_out(t, first, i, k))
					continue;
				check_rises(t, first, i, COUNT_CMASK(masks[k]));
				check_rises(t, first, i, COUNT_CMASK(masks[k]) | COUNT_INV);
			}
}

static void check_sum(struct test *t, unsigned first, unsigned i, u64 cmask)
{
	struct side_by_side s = {
		.set[0] = { event_of(i), cmask },
		.set[1] = { event_of(i), cmask | COUNT_INV },
		.set[2] = { event_of(i), COUNT_CMASK(CMASK_NEVER) | COUNT_INV },
	};
	u64 all, slack;

	if (!place(&s, first))
		return;
	count(&s, works[i].work, works[i].n);
	all = s.value[2];
	slack = all / 16 + 16;
	CONTROL_RANGE(t, IDS(CNT_07, CNT_08), LEAST_CYCLES, ~0ULL, all,
		      "cycles of any number of events, IA32_PMC%u, %s", s.counter[2],
		      works[i].what);
	if (cmask == COUNT_CMASK(1))
		CONTROL_RANGE(t, IDS(CNT_07, CNT_08), 1, ~0ULL, s.value[0],
			      "cycles with an event, IA32_PMC%u, %s", s.counter[0], works[i].what);
	CHECK_RANGE(t, IDS(CNT_07, CNT_08), all > slack ? all - slack : 0, all + slack,
		    s.value[0] + s.value[1],
		    "cycles of %lu events or more, IA32_PMC%u, and of fewer, IA32_PMC%u, of %lu; "
		    "%s",
		    cmask >> IA32_PERFEVTSEL_CMASK_SHIFT, s.counter[0], s.counter[1], all,
		    works[i].what);
}

/*
 * CNT-07  With CMASK = n > 0 a counter must count the cycles in which at least n events occurred.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: CMASK
 * CNT-08  With INV set and CMASK = n > 0 a counter must count the cycles in which fewer than n
 *         events occurred.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: INV
 *
 * Given  work in which cycles have different numbers of an event, some of them exactly n
 * When   one counter counts cycles with CMASK = n, another one with CMASK = n and INV = 1, a third
 *        one those of any number (INV = 1 with a CMASK that no cycle reaches); each counter in turn
 * Then   the first two add up to the third, within a sixteenth and 16: a cycle of n events is in
 *        one of them and not in both
 * Control: there are cycles, and cycles with an event
 */
TEST(count, each_cycle_is_at_cmask_or_below_it, REQS(CNT_07, CNT_08),
     NEEDS(need_perfmon, need_instructions, need_events, need_four_counters))
{
	FOR_EACH_COUNTER (first, counters_gp().bits)
		for (unsigned i = 0; i < EVENT_WORKS; i++)
			for (unsigned k = 0; k < sizeof(masks); k++)
				if (!is_left_out(t, first, i, k))
					check_sum(t, first, i, COUNT_CMASK(masks[k]));
}

/* A cycle of n events is in n of the sums over CMASK = 1, 2, 3 and so on, whatever the cycles are.
 */
static void check_parts(struct test *t, unsigned first, u16 event, const struct workload *work,
			const char *what, bool two)
{
	struct pmc_mask on = { 0 };
	u64 value[PARTS], parts, slack;

	for (unsigned k = 0; k < PARTS; k++) {
		const unsigned c = counter_from(first, k);

		if (!(counters_for(event).bits & BIT(c)))
			return;
		counter_program(c, event, COUNT_BOTH | COUNT_CMASK(k));
		counter_write(c, 0);
		on = pmc_or(on, pmc_one(c));
	}
	workload_run(work, ROUNDS, on);
	for (unsigned k = 0; k < PARTS; k++)
		value[k] = counter_read(counter_from(first, k));
	slack = value[0] / 16 + 16;
	parts = value[1] + value[2] + value[3];
	CONTROL_RANGE(t, CNT_07, LEAST_CYCLES, ~0ULL, value[1],
		      "cycles with an event, IA32_PMC%u, %s", counter_from(first, 1), what);
	if (two)
		CONTROL_RANGE(t, CNT_07, 1, ~0ULL, value[2],
			      "cycles with two events, IA32_PMC%u, %s", counter_from(first, 2),
			      what);
	CHECK_RANGE(t, CNT_07, parts > slack ? parts - slack : 0,
		    parts + (MOST_EVENTS - 3) * value[3] + slack, value[0],
		    "events of IA32_PMC%u, %s; cycles of at least 1, 2 and 3: %lu, %lu, %lu", first,
		    what, value[1], value[2], value[3]);
}

/*
 * CNT-07  With CMASK = n > 0 a counter must count the cycles in which at least n events occurred.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: CMASK
 *
 * Given  loads, two of an instruction (which count as one where the event counts instructions), and
 *        micro-operations where a table has them; how many a cycle has isn't known
 * When   four counters count the same cycles: one all events, the others the cycles of at least 1,
 *        of at least 2 and of at least 3; each counter in turn
 * Then   the cycles add up to the events, within a sixteenth and 16; where cycles have 3 events or
 *        more, each of these may have up to MOST_EVENTS - 3 more
 * Control: there are cycles with an event, and where every requirement is judged also cycles with
 *          two, unless the event counts instructions
 */
TEST(count, cycles_of_each_cmask_add_up_to_the_events, REQS(CNT_07),
     NEEDS(need_perfmon, need_instructions, need_events, need_four_counters))
{
	struct event uops, loads;
	const bool has_uops = event_get(EK_UOPS, 0, &uops);
	const bool by_instruction = event_get(EK_LOADS, EV_INSN, &loads);

	FOR_EACH_COUNTER (first, counters_gp().bits) {
		check_parts(t, first, LOADS, &workload_kind_compare, "loads, two at a time",
			    test_is_strict(t) && !by_instruction);
		if (has_uops)
			check_parts(t, first, uops.code, &workload_store, "micro-operations",
				    test_is_strict(t));
	}
}

/*
 * CNT-07  With CMASK = n > 0 a counter must count the cycles in which at least n events occurred.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: CMASK
 * CNT-08  With INV set and CMASK = n > 0 a counter must count the cycles in which fewer than n
 *         events occurred.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: INV
 *
 * Given  top-down slots, of which a cycle has several; the processor's own number isn't known
 * When   one counter counts cycles with CMASK = n, another one with CMASK = n and INV = 1, a third
 *        one those of any number; n from 1 to MOST_SLOTS; each counter in turn
 * Then   the first two add up to the third, within a sixteenth and 16
 * Control: there are cycles, and cycles with a slot
 */
TEST(count, each_cycle_of_slots_is_at_cmask_or_below_it, REQS(CNT_07, CNT_08),
     NEEDS(need_perfmon, need_slots, need_four_counters))
{
	FOR_EACH_COUNTER (first, counters_gp().bits)
		for (unsigned n = 1; n <= MOST_SLOTS; n++)
			check_sum(t, first, SLOTS, COUNT_CMASK(n));
}

/*
 * CNT-35  With a CMASK that no cycle can reach a counter must count nothing.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: CMASK
 * CNT-08  With INV set and CMASK = n > 0 a counter must count the cycles in which fewer than n
 *         events occurred.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: INV
 * CNT-09  With the edge bit set a counter must count the deasserted to asserted transitions of its
 *         condition.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: E
 *
 * Given  counters that count instructions at CPL 3 only, three at a time
 * When   work is done at CPL 3: with a CMASK that no cycle reaches; with INV too; with INV and E.
 *        With INV the condition holds in each cycle at CPL 3: that is one run of cycles, and maybe
 *        a few more where an interrupt occurs
 * Then   the first counter counts nothing, the second one cycles, and the third one no more than a
 *        tenth of these
 */
TEST(count, cmask_inv_and_edge_act_at_cpl_3, REQS(CNT_35, CNT_08, CNT_09),
     NEEDS(need_perfmon, need_instructions, need_four_counters))
{
	const u64 flags[SETTINGS] = {
		COUNT_CMASK(CMASK_NEVER),
		COUNT_CMASK(CMASK_NEVER) | COUNT_INV,
		COUNT_CMASK(CMASK_NEVER) | COUNT_INV | COUNT_EDGE,
	};

	FOR_EACH_COUNTER (first, counters_gp().bits) {
		struct pmc_mask on = { 0 };
		u64 value[SETTINGS];
		bool counts = true;

		for (unsigned i = 0; i < SETTINGS; i++) {
			const unsigned c = counter_from(first, i);

			counter_program(c, EVENT_INST_RETIRED_ANY_P, flags[i] | COUNT_USR);
			counter_write(c, 0);
			on = pmc_or(on, pmc_one(c));
			counts &= level_counts_despite_errata(t, c, COUNT_USR);
		}
		counters_enable(on);
		workload_run_user(&workload_load, 16 * ROUNDS);
		counters_disable();
		for (unsigned i = 0; i < SETTINGS; i++)
			value[i] = counter_read(counter_from(first, i));
		CHECK_EQ(t, CNT_35, 0, value[0],
			 "cycles of 255 instructions or more at CPL 3, from IA32_PMC%u on", first);
		if (counts) {
			CHECK_RANGE(t, CNT_08, 10 * LEAST_CYCLES, ~0ULL, value[1],
				    "cycles of fewer at CPL 3, from IA32_PMC%u on", first);
			CHECK_RANGE(t, CNT_09, 0, value[1] / 10, value[2],
				    "how often these begin, from IA32_PMC%u on", first);
		}
		for (unsigned i = 0; i < SETTINGS; i++)
			counter_program_disabled(counter_from(first, i), 0, 0);
	}
}
