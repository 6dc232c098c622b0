/* SPDX-License-Identifier: MIT */
/*
 * Instructions of unusual kinds count as instructions too: SDM "Pre-defined Architectural
 * Performance Events", chapter 19's events of branches and loads. The tests compare two sizes of a
 * piece.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/intr.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/time.h"
#include "pmu/counter.h"
#include "pmu/event.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/frame/test.h"
#include "tests/measure/window.h"

#define FEWER	10
#define MORE	90
#define SHORT_LOOP	1000	/* rounds */
#define LONG_LOOP	70000	/* more loads than 16 bits hold */
#define PAGE	4096
#define HALTS	16
#define UNTIL_PENDING	2	/* us until an interrupt sent to itself is pending */

/* In workload_kind_page: the size of the MOV that lies in two pages, and of the DEC and JNZ after
 * it. */
#define MOV_BYTES	10
#define LOOP_BYTES	5

static u64 declared_difference(const struct workload *w, enum workload_count what)
{
	return workload_declared(w, what, MORE) - workload_declared(w, what, FEWER);
}

struct kind {
	const struct workload *piece;
	const char *name;
};

/* A hypervisor may emulate these instructions: then no instruction retires. */
static const struct kind may_exit[] = {
	{ &workload_kind_cpuid, "CPUID" }, { &workload_kind_rdpmc, "RDPMC" },
};
static const struct kind kinds[] = {
	{ &workload_kind_iretq, "IRETQ" }, { &workload_kind_far_return, "a far RET" },
	{ &workload_kind_flags, "CLI, STI and POPFQ" },
	{ &workload_kind_return_pop, "RET with a number" },
	{ &workload_kind_prefetch, "prefetches" }, { &workload_kind_compare, "CMPSQ" },
	{ &workload_kind_page, "an instruction in two pages" },
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static bool over_counts(struct test *t, const struct workload *piece)
{
	if (piece == &workload_kind_iretq && test_erratum(t, ERRATUM_IRET))
		return true;
	return (piece == &workload_kind_iretq || piece == &workload_kind_far_return) &&
	       test_erratum(t, ERRATUM_FAR_INSTRUCTIONS);
}

/* Check the piece on the first and the last general-purpose counter. */
static bool check_kind(struct test *t, const struct kind *k)
{
	unsigned last = counter_last();
	struct pmc_mask on = pmc_or(pmc_one(0), pmc_one(last));
	u64 want = declared_difference(k->piece, WORKLOAD_INSTRUCTIONS);
	u64 most = over_counts(t, k->piece) ? ~0ULL : want;
	u64 got[WINDOW_COUNTERS];

	if (!window_difference(t, on, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, k->piece, FEWER, MORE,
			       got))
		return false;
	FOR_EACH_COUNTER (c, on.bits)
		CHECK_RANGE(t, CNT_01, want, most, got[c],
			    "instructions in 80 more rounds of %s, IA32_PMC%u", k->name, c);
	return true;
}

/*
 * CNT-01  Runs of one workload must differ in retired instructions by exactly the declared
 *         difference.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events
 *
 * Given  IRETQ, far RET, CLI, STI and POPFQ, RET with a number, prefetches, CMPSQ, an instruction
 *        that lies in two pages. CPUID and RDPMC too, but not under a hypervisor, which may emulate
 *        them
 * When   each piece is counted in FEWER and in MORE rounds on the first and the last
 *        general-purpose counter
 * Then   each count grows by the declared instructions; by IRETQ and far RET by no fewer, where an
 *        erratum counts them more than once
 */
TEST(count, unusual_instructions_are_counted_exactly, REQS(CNT_01),
     NEEDS(need_perfmon, need_instructions))
{
	const u8 *across = workload_kind_page.end - LOOP_BYTES - MOV_BYTES;
	u64 first = (u64)(uintptr_t)across;

	HARNESS_CHECK(t,
		      across[0] == 0x48 && across[1] == 0xb8 &&
			      first / PAGE != (first + MOV_BYTES - 1) / PAGE,
		      "a MOV of 64 bits, in two pages, is at %#lx", first);
	for (unsigned i = 0; i < COUNT_OF(kinds); i++)
		if (!check_kind(t, &kinds[i]))
			return;
	for (unsigned i = 0; i < COUNT_OF(may_exit) && !counter_caps()->hypervisor; i++)
		if (!check_kind(t, &may_exit[i]))
			return;
}

static bool need_own_halt(char *reason, size_t size)
{
	if (!counter_caps()->hypervisor)
		return true;
	fmt_print(reason, size, "a hypervisor carries out HLT itself: no instruction retires");
	return false;
}

/* An interrupt is pending: it ends HLT at once, and in the other piece it is taken after NOP. */
#define HALT_WINDOW(name, instruction)                                    \
	static __attribute__((noinline)) void name(struct pmc_mask on)    \
	{                                                                 \
		counters_enable(on);                                      \
		__asm__ volatile("sti; " instruction ::: "memory");       \
		counters_disable();                                       \
	}
HALT_WINDOW(count_hlt, "hlt")
HALT_WINDOW(count_nop, "nop")

static void on_wait_over(struct trap_frame *frame)
{
	(void)frame;
	apic_eoi();
}

static void count_waits(void (*window)(struct pmc_mask on), struct pmc_mask on,
			u64 value[WINDOW_COUNTERS])
{
	const intr_handler before = intr_set_handler(VECTOR_IPI + 1, on_wait_over);

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (on.bits & BIT(c)) {
			counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
			counter_write(c, 0);
		}
	for (unsigned i = 0; i < HALTS; i++) {
		intr_disable();
		apic_self_ipi(VECTOR_IPI + 1);
		time_stall(UNTIL_PENDING);
		window(on);
	}
	intr_set_handler(VECTOR_IPI + 1, before);
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (on.bits & BIT(c)) {
			value[c] = counter_read(c);
			counter_program_disabled(c, 0, 0);
		}
}

/* A processor may count an interrupt as an instruction when it ends HLT, and not when it interrupts
 * other code. The first counter can't distinguish this from an extra count of HLT. */
static bool one_of_each_apart(const u64 halts[WINDOW_COUNTERS], const u64 nops[WINDOW_COUNTERS])
{
	const u64 apart = halts[0] < nops[0] ? nops[0] - halts[0] : halts[0] - nops[0];

	return apart >= HALTS / 2 && apart < HALTS + HALTS / 2;
}

/*
 * CNT-01  Runs of one workload must differ in retired instructions by exactly the declared
 *         difference.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events
 * CNT-12  Fixed counter 0 must count what a general-purpose counter programmed for retired
 *         instructions counts.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2; that it counts the same is
 *         read into it: errata and updates of the two differ
 *
 * Given  the first and the last general-purpose counter and fixed counter 0; an interrupt is
 *        pending while interrupts are disabled
 * When   they count STI, HLT and the handler, HALTS times, then the same with NOP in place of HLT
 * Then   both counts are the same: HLT is one instruction, and so is NOP. On a processor each
 *        interrupt may add to them: a difference below half of the number of interrupts passes, and
 *        one of about that number is INCONCLUSIVE
 * Control: each window has more than these two instructions
 */
TEST(count, hlt_is_one_retired_instruction, REQS(CNT_01, CNT_12),
     NEEDS(need_perfmon, need_instructions, need_fixed_0_to_2, need_own_halt))
{
	const struct pmc_mask on = { BIT(0) | BIT(counter_last()) | BIT(PMC_FIXED(0)) };
	const u64 slack = test_is_strict(t) ? 0 : HALTS / 2 - 1;
	u64 halts[WINDOW_COUNTERS], nops[WINDOW_COUNTERS];

	count_waits(count_hlt, on, halts);
	count_waits(count_nop, on, nops);
	if (!test_is_strict(t) && one_of_each_apart(halts, nops)) {
		test_inconclusive(t,
				  "%lu instructions of %u windows with HLT, %lu with NOP: one of "
				  "each may be the interrupt's",
				  halts[0], HALTS, nops[0]);
		return;
	}
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(on.bits & BIT(c)))
			continue;
		CONTROL_RANGE(t, IDS(CNT_01, CNT_12), 2 * HALTS + 1, ~0ULL, nops[c],
			      "instructions of %u windows with NOP, counter %u", HALTS, c);
		if (PMC_IS_FIXED(c))
			CHECK_RANGE(t, CNT_12, nops[c] - slack, nops[c] + slack, halts[c],
				    "instructions of %u windows with HLT, as with NOP, fixed "
				    "counter 0",
				    HALTS);
		else
			CHECK_RANGE(t, CNT_01, nops[c] - slack, nops[c] + slack, halts[c],
				    "instructions of %u windows with HLT, as with NOP, "
				    "IA32_PMC%u",
				    HALTS, c);
	}
}

static bool check_branches(struct test *t, struct test_claim claim, u16 event,
			   const struct workload *w, enum workload_count what, const char *text)
{
	u64 want = declared_difference(w, what), got;
	bool far = w == &workload_kind_iretq || w == &workload_kind_far_return;

	if (!window_difference_one(t, 0, event, COUNT_BOTH, w, FEWER, MORE, &got))
		return false;
	return test_check_range(t, claim, want,
				far && test_erratum(t, ERRATUM_FAR_BRANCHES) ? ~0ULL : want, got,
				"%s in 80 more rounds of %s", text, w->name);
}

static u64 branches_at_cpl_3(const struct workload *w, u64 n)
{
	counter_program(0, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_USR);
	counter_write(0, 0);
	counters_enable(pmc_one(0));
	workload_run_user(w, n);
	counters_disable();
	return counter_read(0);
}

/* Its way to CPL 3 and back is the same in each run. Not where a host may take the counter. */
static void check_far_return_at_cpl_3(struct test *t)
{
	const struct workload *w = &workload_kind_far_return;
	const u64 want = declared_difference(w, WORKLOAD_BRANCHES), slack = window_far_slack(t);
	u64 fewer;

	if (window_host_may_take_counters(t))
		return;
	fewer = branches_at_cpl_3(w, FEWER);
	CHECK_RANGE(t, CNT_02, want,
		    test_erratum(t, ERRATUM_FAR_BRANCHES) ? ~0ULL : want + 2 * slack,
		    branches_at_cpl_3(w, MORE) - fewer + slack,
		    "branches in 80 more rounds of far_return at CPL 3, and %lu", slack);
}

/*
 * CNT-02  Runs of one workload must differ in retired branches by exactly the declared difference,
 *         taken or not.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events
 *
 * Given  pieces with IRETQ, far RET, RET with a number, POPFQ; "All Branch Instruction Retired"
 *        has far ones among them
 * When   IA32_PMC0 counts their branches in FEWER and in MORE rounds; those of the far RET at CPL 3
 *        with USR alone too
 * Then   the count grows by the declared branches; by IRETQ and far RET by no fewer, where an
 *        erratum counts them more than once
 */
TEST(count, far_transfers_are_branches, REQS(CNT_02), NEEDS(need_perfmon, need_branches))
{
	static const struct workload *const pieces[] = {
		&workload_kind_iretq, &workload_kind_far_return, &workload_kind_return_pop,
		&workload_kind_flags,
	};

	for (unsigned i = 0; i < COUNT_OF(pieces); i++)
		check_branches(t, AT(CNT_02), EVENT_BR_INST_RETIRED_ALL_BRANCHES, pieces[i],
			       WORKLOAD_BRANCHES, "branches");
	check_far_return_at_cpl_3(t);
}

/*
 * CNT-41  Runs of one workload must differ in retired near returns by exactly the declared
 *         difference.
 * CNT-40  Runs of one workload must differ in retired near calls by exactly the declared
 *         difference.
 *         SDM chapter 19, events of each generation
 *
 * Given  a piece with CALL and RET with a number
 * When   IA32_PMC0 counts near calls and near returns in FEWER and in MORE rounds
 * Then   the counts grow by the declared calls and returns
 */
TEST(count, ret_with_a_number_is_a_near_return, REQS(CNT_41, CNT_40),
     NEEDS(need_perfmon, need_events))
{
	const struct workload *w = &workload_kind_return_pop;
	u16 returns = sampling_event(EK_NEAR_RETURNS), calls = sampling_event(EK_NEAR_CALLS);

	if (calls)
		check_branches(t, AT(CNT_40), calls, w, WORKLOAD_CALLS, "near calls");
	if (returns)
		check_branches(t, AT(CNT_41), returns, w, WORKLOAD_RETURNS, "near returns");
	if (!calls && !returns)
		test_skip(t, "no event of near calls or returns known for family %02x model %02x",
			  counter_caps()->family, counter_caps()->model);
}

/* On Nehalem the event counts instructions that load; on later processors it counts loads. */
static bool loads_by_instruction(void)
{
	struct event event;

	return event_get(EK_LOADS, 0, &event) && event.flags & EV_INSN;
}

static void check_loads(struct test *t, const struct workload *w, u64 least, u64 want)
{
	u64 got[WINDOW_COUNTERS];
	bool counted = test_sees_exactly(t, REQ_CNT_03) ?
			       window_difference(t, pmc_one(0), LOADS, COUNT_BOTH, w, FEWER, MORE,
						 got) :
			       window_least_difference(t, pmc_one(0), LOADS, COUNT_BOTH, w, FEWER,
						       MORE, got);

	if (counted)
		CHECK_RANGE(t, CNT_03, least, want, got[0], "loads in 80 more rounds of %s",
			    w->name);
}

/*
 * CNT-03  Runs of one workload must differ in retired loads by exactly the declared difference.
 *         SDM chapter 19, events of each generation
 *
 * Given  CMPSQ, which loads twice, and REP with loads; Nehalem's event counts instructions that
 *        load, later ones count loads
 * When   IA32_PMC0 counts loads in FEWER and in MORE rounds
 * Then   the count grows by two a round for CMPSQ and one for each iteration of REP; by one and
 *        none where the event counts instructions. An E-core's event counts micro-operations; for
 *        REP it may be fewer than one for each iteration (docs/READINGS.md, as for REP MOVS)
 */
TEST(count, each_load_of_one_instruction_counts, REQS(CNT_03), NEEDS(need_perfmon, need_events))
{
	const struct generation *g = counter_caps()->generation;
	const bool exact = test_is_strict(t) || (g && g->set & GENS_TO_BDW);
	bool insn = loads_by_instruction();
	u64 rounds = MORE - FEWER;

	check_loads(t, &workload_kind_compare, insn ? rounds : 2 * rounds,
		    insn ? rounds : 2 * rounds);
	check_loads(t, &workload_kind_rep_load, insn || !exact ? 0 : rounds, insn ? 0 : rounds);
}

/*
 * CNT-03  Runs of one workload must differ in retired loads by exactly the declared difference.
 *         SDM chapter 19, events of each generation
 *
 * Given  a loop with a load a round
 * When   IA32_PMC0 counts loads in SHORT_LOOP and in LONG_LOOP rounds, which are more than 16 bits
 *        hold
 * Then   the count grows by one a round
 */
TEST(count, loads_of_a_loop_of_more_than_65535_rounds_are_counted_exactly, REQS(CNT_03),
     NEEDS(need_perfmon, need_events))
{
	u64 want = LONG_LOOP - SHORT_LOOP, got;
	bool counted;

	if (test_sees_exactly(t, REQ_CNT_03))
		counted = window_difference_one(t, 0, LOADS, COUNT_BOTH, &workload_load, SHORT_LOOP,
						LONG_LOOP, &got);
	else {
		u64 value[WINDOW_COUNTERS];

		counted = window_least_difference(t, pmc_one(0), LOADS, COUNT_BOTH, &workload_load,
						  SHORT_LOOP, LONG_LOOP, value);
		got = value[0];
	}
	if (counted)
		CHECK_EQ(t, CNT_03, want, got, "loads in %lu more rounds of %s", want,
			 workload_load.name);
}

/* Events of the long loop, and the declared number that each counts. */
static const struct {
	enum event_kind kind;
	enum workload_count what;
} of_loop[] = {
	{ EK_INSTRUCTIONS, WORKLOAD_INSTRUCTIONS }, { EK_BRANCHES, WORKLOAD_BRANCHES },
	{ EK_STORES, WORKLOAD_STORES },		    { EK_LOCK_LOADS, WORKLOAD_LOCKS },
	{ EK_COND_BRANCHES, WORKLOAD_CONDITIONAL }, { EK_NEAR_CALLS, WORKLOAD_CALLS },
	{ EK_NEAR_RETURNS, WORKLOAD_RETURNS },	    { EK_NEAR_TAKEN, WORKLOAD_TAKEN },
};

#define MANY_ROUNDS	6000	/* rounds with more instructions than 16 bits hold */
#define AT_ONCE		4u	/* events at the same time, each on another counter */

/* Count n rounds: value[] has the increment of each of the four counters. */
static void count_loop(const struct event event[AT_ONCE], const struct workload *w, u64 n,
		       u64 value[AT_ONCE])
{
	for (unsigned c = 0; c < AT_ONCE; c++) {
		counter_program(c, event[c].code, COUNT_BOTH);
		counter_write(c, 0);
	}
	workload_run(w, n, (struct pmc_mask){ BIT(AT_ONCE) - 1 });
	for (unsigned c = 0; c < AT_ONCE; c++) {
		value[c] = counter_read(c);
		counter_program_disabled(c, 0, 0);
	}
}

/* Check four events of the table from `first` on. `turn` rotates them over the counters, so that
 * each event is on each counter in one of the runs. An event that this processor doesn't have, or
 * that counts instructions with an access, is replaced by instructions: for such an event the
 * reference PMU looks at each instruction. */
static void check_loop(struct test *t, const struct test_claim *claims, const struct workload *w,
		       unsigned first, unsigned turn)
{
	struct event event[AT_ONCE];
	u64 fewer[AT_ONCE], more[AT_ONCE];
	bool has[AT_ONCE];

	for (unsigned c = 0; c < AT_ONCE; c++) {
		has[c] = event_get(of_loop[first + (c + turn) % AT_ONCE].kind, 0, &event[c]) &&
			 !(event[c].flags & EV_INSN);
		if (!has[c])
			event[c].code = EVENT_INST_RETIRED_ANY_P;
	}
	count_loop(event, w, SHORT_LOOP, fewer);
	count_loop(event, w, MANY_ROUNDS, more);
	for (unsigned c = 0; c < AT_ONCE; c++) {
		const unsigned row = first + (c + turn) % AT_ONCE;

		if (has[c] && test_sees_claim(t, &claims[row]))
			test_check_eq(t, claims[row],
				      workload_declared(w, of_loop[row].what, MANY_ROUNDS) -
					      workload_declared(w, of_loop[row].what, SHORT_LOOP),
				      more[c] - fewer[c],
				      "event %#x in %u more rounds of %s, IA32_PMC%u",
				      event[c].code, MANY_ROUNDS - SHORT_LOOP, w->name, c);
	}
}

/*
 * Decides CNT-01, CNT-02, CNT-04, CNT-05, CNT-39, CNT-40, CNT-41, CNT-42 (claims/requirement.def
 * has their sentences).
 *
 * Given  two pieces: calls and returns; loads, stores, locked loads and branches
 * When   each runs for SHORT_LOOP and for MANY_ROUNDS rounds while IA32_PMC0 to 3 count four events
 *        at once: instructions, branches, stores, locked loads; conditional branches, calls,
 *        returns, taken branches; each event on another counter for each piece
 * Then   each count grows by the declared number, of those events that are seen exactly
 */
TEST(count, four_events_of_a_long_loop_are_counted_at_once,
     REQS(CNT_01, CNT_02, CNT_04, CNT_05, CNT_39, CNT_40, CNT_41, CNT_42),
     NEEDS(need_perfmon, need_four_counters, need_instructions, need_branches, need_four_counters,
	   need_events))
{
	/* In the order of of_loop[]. */
	const struct test_claim claims[] = { AT(CNT_01), AT(CNT_02), AT(CNT_04), AT(CNT_05),
					     AT(CNT_39), AT(CNT_40), AT(CNT_41), AT(CNT_42) };

	check_loop(t, claims, &workload_mixed, 0, 0);
	check_loop(t, claims, &workload_mixed, 4, 1);
	check_loop(t, claims, &workload_call, 0, 2);
	check_loop(t, claims, &workload_call, 4, 3);
}

/*
 * CNT-03  Runs of one workload must differ in retired loads by exactly the declared difference.
 *         SDM chapter 19, events of each generation
 *
 * Given  a piece of prefetch instructions
 * When   IA32_PMC0 counts loads in FEWER and in MORE rounds
 * Then   the count doesn't grow; from Sandy Bridge on it may on a processor, whose event may be of
 *        software prefetches too
 * Control: the loads of another piece are counted
 */
TEST(count, prefetches_are_not_counted_as_loads, REQS(CNT_03), NEEDS(need_perfmon, need_events))
{
	check_loads(t, &workload_load, MORE - FEWER, MORE - FEWER);
	if (!test_erratum(t, ERRATUM_PREFETCH_LOADS))
		check_loads(t, &workload_kind_prefetch, 0, 0);
}

/*
 * CNT-07  With CMASK = n > 0 a counter must count the cycles in which at least n events occurred.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: CMASK
 *
 * Given  80 more rounds of CMPSQ, which loads twice: more events than CMASK may be in one cycle
 * When   IA32_PMC0 counts the cycles in which at least one load retires (CMASK = 1)
 * Then   it counts an eighth of the rounds or more, because no processor retires more than 16
 *        loads in a cycle, and no more than there are loads
 */
TEST(count, cmask_counts_cycles_of_more_events_than_it_too, REQS(CNT_07),
     NEEDS(need_perfmon, need_events))
{
	u64 rounds = MORE - FEWER, got;

	if (window_difference_one(t, 0, LOADS, COUNT_BOTH | COUNT_CMASK(1), &workload_kind_compare,
				  FEWER, MORE, &got))
		CHECK_RANGE(t, CNT_07, rounds / 8, 2 * rounds, got,
			    "cycles with at least one load, in %lu more rounds of CMPSQ", rounds);
}

/*
 * CNT-13  A counter must wrap to 0 after its highest value, the one of all ones at the enumerated
 *         width.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * MSR-26  General-purpose counter i must show its overflow at bit i of IA32_PERF_GLOBAL_STATUS,
 *         fixed counter i at bit 32 + i.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2; Figure 18-20
 *
 * Given  each counter up to IA32_PMC3 counts the pairs of loads of CMPSQ. It is preset to four
 *        successive values, so that it wraps by the first load and by the second one, however many
 *        loads the switching adds
 * When   twice as many loads are counted as the counter needs to wrap
 * Then   its status bit is the only one that is set, and the count has begun again at 0
 */
TEST(count, counter_passed_by_two_events_at_once_has_overflowed, REQS(CNT_13, MSR_26),
     NEEDS(need_perfmon, need_events))
{
	FOR_EACH_COUNTER (c, counters_gp().bits & BITS(0, 3))
		for (u64 before_end = PERIOD; before_end < PERIOD + 4; before_end++) {
			u64 value;

			counter_program(c, LOADS, COUNT_BOTH);
			counter_preset(c, before_end);
			workload_run(&workload_kind_compare, 2 * PERIOD, pmc_one(c));
			value = counter_read(c);
			CHECK_EQ(t, MSR_26, BIT(c), counters_status() & counters_gp().bits,
				 "status after IA32_PMC%u, preset to %lu before its end, counted "
				 "pairs of loads",
				 c, before_end);
			CHECK_RANGE(t, CNT_13, 0, 8 * PERIOD, value, "IA32_PMC%u after its end", c);
			counters_clear(BIT(c));
		}
}

static bool need_micro_operations(char *reason, size_t size)
{
	struct event event;

	if (event_get(EK_UOPS, 0, &event))
		return true;
	fmt_print(reason, size, "no event of retired micro-operations is known for it");
	return false;
}

/* The difference between the counts of MORE and of FEWER rounds of this workload. */
static u64 micro_operations(unsigned c, u16 code, bool user, const struct workload *w)
{
	u64 got[2];

	for (unsigned i = 0; i < 2; i++) {
		const u64 n = i ? MORE : FEWER;

		counter_program(c, code, user ? COUNT_USR : COUNT_OS);
		counter_write(c, 0);
		if (user) {
			counters_enable(pmc_one(c));
			workload_run_user(w, n);
			counters_disable();
		} else {
			workload_run(w, n, pmc_one(c));
		}
		got[i] = counter_read(c);
		counter_program_disabled(c, 0, 0);
	}
	return got[1] > got[0] ? got[1] - got[0] : 0;
}

/*
 * CNT-53  UOPS_RETIRED must count retired micro-operations, with or without PEBS.
 *         SDM chapter 19: UOPS_RETIRED.ANY of Intel Core i7, UOPS_RETIRED.ALL of Sandy Bridge to
 *         Broadwell
 *
 * Given  each general-purpose counter that can count the event. A round of one workload is a load
 *        and a loop's branch; a round of the other has 16 NOPs between these. The manual doesn't
 *        say how many micro-operations an instruction has
 * When   the counter counts UOPS_RETIRED in FEWER and in MORE rounds of each workload, without
 *        PEBS, at CPL 0 with OS and at CPL 3 with USR
 * Then   each further round counts at least one, and the longer workload counts more than the
 *        shorter one, although it has as many loads and branches
 */
TEST(count, micro_operations_are_counted_on_each_counter, REQS(CNT_53),
     NEEDS(need_perfmon, need_micro_operations))
{
	struct event event;

	event_get(EK_UOPS, 0, &event);
	FOR_EACH_COUNTER (c, counters_for(event.code).bits)
		for (unsigned user = 0; user < 2; user++) {
			u64 shorter, longer;

			if (!level_counts_despite_errata(t, c, user ? COUNT_USR : COUNT_OS))
				continue;
			shorter = micro_operations(c, event.code, user, &workload_load);
			longer = micro_operations(c, event.code, user, &workload_sparse);
			CHECK_RANGE(t, CNT_53, MORE - FEWER, ~0ULL, shorter,
				    "%s in %u more rounds at CPL %u, IA32_PMC%u", event.name,
				    MORE - FEWER, user ? 3 : 0, c);
			CHECK_RANGE(t, CNT_53, shorter + 1, ~0ULL, longer,
				    "%s in %u more rounds with 16 NOPs each at CPL %u, IA32_PMC%u",
				    event.name, MORE - FEWER, user ? 3 : 0, c);
		}
}
