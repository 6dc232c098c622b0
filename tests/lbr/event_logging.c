/* SPDX-License-Identifier: MIT */
/*
 * Events of general-purpose counters in IA32_LBR_x_INFO[39:32], two bits a counter: CPUID.1CH:
 * ECX[19:16], IA32_PERFEVTSELx[35]. Linux calls them branch counters. Precise events are used. No
 * source says whether a branch counts for its own entry or for the next one. For the event
 * instructions this doesn't matter, because each entry except the oldest has exactly one branch.
 * The count of a piece's oldest entry began before the piece, so it isn't checked.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "pmu/counter.h"
#include "pmu/event.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/lbr/arch.h"

#define MOST		3u	/* the largest value of two bits */
/* Stores, and loads, between the jumps of lbr_events; there are more instructions. */
#define LEAST_EVENTS	11u

enum { OF_STORES, OF_LOADS, OF_INSTRUCTIONS, KINDS };

static const struct logged_kind {
	enum event_kind kind;
	const char *name;
} kinds[KINDS] = {
	{ EK_STORES, "stores" }, { EK_LOADS, "loads" }, { EK_INSTRUCTIONS, "instructions" },
};

/* The instructions between the jumps of the pieces, as in tests/lbr/branches.asm. */
struct between {
	u8 stores, loads, instructions;		/* with one branch, its own or the previous */
};
/* After jumps 0 to 5 of lbr_events. */
static const struct between events[] = { { 0, 0, 1 }, { 1, 0, 2 }, { 2, 1, 4 },
					 { 3, 5, 9 }, { 5, 2, 8 }, { 0, 3, 4 } };

static u64 at_most_3(const struct between *b, enum event_kind kind)
{
	const u64 n = kind == EK_STORES ? b->stores : kind == EK_LOADS ? b->loads : b->instructions;

	return n < MOST ? n : MOST;
}

static u32 logged_counters(void)
{
	return arch_lbr_leaf().event_logging & (u32)counters_gp().bits;
}

static unsigned counter_after(unsigned c)
{
	return (unsigned)__builtin_ctz(logged_counters() & ~(u32)BITS(0, c));
}

static bool need_two_logged_counters(char *reason, size_t size)
{
	const u32 logged = logged_counters();

	if (!need_arch_lbr_events(reason, size))
		return false;
	if (logged & (logged - 1))
		return true;
	fmt_print(reason, size, "one counter whose events are logged (CPUID.1CH:ECX[19:16] = %#x)",
		  arch_lbr_leaf().event_logging);
	return false;
}

/* The counter is set to 0, and counts this event. false: it can't. */
static bool start(unsigned c, enum event_kind kind, u64 flags)
{
	struct event event = { .code = 0 };
	char reason[128];

	if (!event_get(kind, 0, &event) || !(event.counters & BIT(c)) ||
	    (kind == EK_INSTRUCTIONS && !need_instructions(reason, sizeof(reason))))
		return false;
	counter_program(c, event.code, flags);
	counter_write(c, 0);
	counters_enable((struct pmc_mask){ msr_read(MSR_IA32_PERF_GLOBAL_CTRL) | BIT(c) });
	return true;
}

static void stop(unsigned c)
{
	counters_disable();
	counter_program_disabled(c, 0, 0);
}

/* Record the piece, and stop before the entries are read: the reference PMU is slow while a counter
 * logs. */
static void record_and_stop(unsigned c, const struct lbr_piece *piece, u64 control,
			    struct lbr_stack *stack)
{
	arch_lbr_close();
	arch_lbr_run(piece, 0, control);
	stop(c);
	arch_lbr_read(stack);
	arch_lbr_close();
}

/* Check the entries of the piece, newest first, without the oldest: are they in the order of the
 * piece? */
static bool check_entries(struct test *t, struct test_claim claim, const struct lbr_piece *piece,
			  const struct lbr_stack *stack, unsigned newest)
{
	bool there = true;
	unsigned i = newest;

	for (const struct lbr_row *row = piece->end; row-- > piece->rows + 1; i++)
		there &= test_check(t, claim, lbr_is(stack, i, row), "lbr_is(stack, i, row)",
				    "entry %u is the branch from %#lx", i, row->from);
	return there;
}

/* Each entry of lbr_events must have so many of the counter's events; 0 if they aren't logged. */
static void check_events(struct test *t, struct test_claim claim, const struct lbr_stack *stack,
			 unsigned newest, unsigned c, const struct logged_kind *kind, bool logged)
{
	unsigned i = newest;

	for (unsigned n = sizeof(events) / sizeof(events[0]); n--; i++)
		test_check_eq(t, claim, logged ? at_most_3(&events[n], kind->kind) : 0,
			      stack->branch[i].events[c],
			      "INFO[%u:%u] of entry %u: %s counted by IA32_PMC%u, INFO = %#lx",
			      33 + 2 * c, 32 + 2 * c, i, kind->name, c, stack->raw[i].info);
}

/*
 * ALBR-18  Where CPUID.1CH:ECX[16+n] and IA32_PERFEVTSELn[35] are 1, INFO[33+2n:32+2n] of an entry
 *          must be the events of IA32_PMCn since the entry before, at most 3.
 *          Linux LBR_INFO_BR_CNTR_OFFSET, intel_pmu_lbr_counters_reorder; public headers of SDM
 *          volume 4, IA32_LBR_x_INFO
 *
 * Given  jumps, and between them 0, 1, 2, 3 and 5 stores, 0, 1, 2, 3 and 5 loads; each counter that
 *        CPUID.1CH:ECX[19:16] lists in turn counts stores, loads, instructions
 * When   the jumps are recorded with IA32_PERFEVTSELn[35] = 1; with 0
 * Then   with 1 the counter's two bits of each entry but the oldest are the events since the entry
 *        before, 3 where there are more; with 0, and those of the other counters, they are 0
 * Control: each jump is recorded in its turn, and the counter counts with bit 35 clear
 */
TEST(lbr, info_has_a_logged_counters_events_since_the_entry_before, REQS(ALBR_18),
     NEEDS(need_perfmon, need_events, need_arch_lbr_events, need_arch_lbr_kinds))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_events;
	const u64 jumps = arch_lbr_only(IA32_LBR_CTL_NEAR_REL_JMP);
	struct lbr_stack stack;

	for (unsigned c = 0; c < LBR_LOGGED; c++) {
		for (unsigned k = 0; k < KINDS && logged_counters() & BIT(c); k++) {
			if (!start(c, kinds[k].kind, COUNT_BOTH | COUNT_LBR_LOG))
				continue;
			record_and_stop(c, piece, jumps, &stack);
			if (!check_entries(t, CONTROL_AT(ALBR_18), piece, &stack, 0))
				return;
			for (unsigned n = 0; n < LBR_LOGGED; n++)
				check_events(t, AT(ALBR_18), &stack, 0, n, &kinds[k], n == c);
			start(c, kinds[k].kind, COUNT_BOTH);
			record_and_stop(c, piece, jumps, &stack);
			if (!check_entries(t, CONTROL_AT(ALBR_18), piece, &stack, 0))
				return;
			CONTROL_RANGE(t, ALBR_18, LEAST_EVENTS, ~0ULL, counter_read(c),
				      "%s counted by IA32_PMC%u, bit 35 clear", kinds[k].name, c);
			check_events(t, AT(ALBR_18), &stack, 0, c, &kinds[k], false);
		}
	}
}

/*
 * ALBR-18  Where CPUID.1CH:ECX[16+n] and IA32_PERFEVTSELn[35] are 1, INFO[33+2n:32+2n] of an entry
 *          must be the events of IA32_PMCn since the entry before, at most 3.
 *          Linux LBR_INFO_BR_CNTR_OFFSET, intel_pmu_lbr_counters_reorder; public headers of SDM
 *          volume 4, IA32_LBR_x_INFO
 *
 * Given  jumps with stores and loads between them; two counters, each paired with the next one that
 *        CPUID.1CH:ECX[19:16] lists: one counts stores, the other loads, then the reverse
 * When   the jumps are recorded with bit 35 of both event selects set
 * Then   each entry but the oldest has the stores since the entry before in the two bits of the
 *        one, and the loads in those of the other, 3 where there are more
 * Control: each jump is recorded in its turn
 */
TEST(lbr, info_has_the_events_of_two_logged_counters_side_by_side, REQS(ALBR_18),
     NEEDS(need_perfmon, need_events, need_two_logged_counters, need_arch_lbr_kinds))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_events;
	struct lbr_stack stack;

	for (unsigned c = 0; logged_counters() >> c > 1; c++) {
		for (unsigned swap = 0; swap < 2 && logged_counters() & BIT(c); swap++) {
			const unsigned other = counter_after(c);
			const u64 flags = COUNT_BOTH | COUNT_LBR_LOG;

			if (!start(c, kinds[swap].kind, flags) ||
			    !start(other, kinds[!swap].kind, flags)) {
				stop(c);
				continue;
			}
			record_and_stop(c, piece, arch_lbr_only(IA32_LBR_CTL_NEAR_REL_JMP), &stack);
			stop(other);
			if (!check_entries(t, CONTROL_AT(ALBR_18), piece, &stack, 0))
				return;
			check_events(t, AT(ALBR_18), &stack, 0, c, &kinds[swap], true);
			check_events(t, AT(ALBR_18), &stack, 0, other, &kinds[!swap], true);
		}
	}
}

/*
 * ALBR-18  Where CPUID.1CH:ECX[16+n] and IA32_PERFEVTSELn[35] are 1, INFO[33+2n:32+2n] of an entry
 *          must be the events of IA32_PMCn since the entry before, at most 3.
 *          Linux LBR_INFO_BR_CNTR_OFFSET, intel_pmu_lbr_counters_reorder; public headers of SDM
 *          volume 4, IA32_LBR_x_INFO
 *
 * Given  jumps with stores between them; each counter that CPUID.1CH:ECX[19:16] lists counts and
 *        logs stores
 * When   the jumps are recorded; then 2, 9 or 17 further jumps without stores, or as many as leave
 *        these entries in the stack
 * Then   at their new indices the entries have the stores since the entry before, 3 where there are
 *        more
 * Control: each jump is recorded in its turn
 */
TEST(lbr, older_entries_keep_the_events_of_logged_counters, REQS(ALBR_18),
     NEEDS(need_perfmon, need_events, need_arch_lbr_events, need_arch_lbr_kinds))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_events;
	const u64 jumps = arch_lbr_only(IA32_LBR_CTL_NEAR_REL_JMP);
	const unsigned rows = (unsigned)(piece->end - piece->rows);
	struct lbr_stack stack;

	FOR_EACH_COUNTER (c, logged_counters()) {
		const unsigned most = arch_lbr_depth() - rows;
		const unsigned further[] = { 2, 9, 17, most };

		for (unsigned k = 0; k < sizeof(further) / sizeof(further[0]); k++) {
			if (further[k] > most || !start(c, EK_STORES, COUNT_BOTH | COUNT_LBR_LOG))
				continue;
			arch_lbr_close();
			arch_lbr_run(piece, 0, jumps);
			arch_lbr_run(&lbr_piece_lbr_chain, further[k], jumps);
			stop(c);
			arch_lbr_read(&stack);
			arch_lbr_close();
			if (!check_entries(t, CONTROL_AT(ALBR_18), piece, &stack, further[k]))
				return;
			check_events(t, AT(ALBR_18), &stack, further[k], c, &kinds[OF_STORES],
				     true);
		}
	}
}

/*
 * ALBR-18  Where CPUID.1CH:ECX[16+n] and IA32_PERFEVTSELn[35] are 1, INFO[33+2n:32+2n] of an entry
 *          must be the events of IA32_PMCn since the entry before, at most 3.
 *          Linux LBR_INFO_BR_CNTR_OFFSET, intel_pmu_lbr_counters_reorder; public headers of SDM
 *          volume 4, IA32_LBR_x_INFO
 *
 * Given  a branch of each kind, one instruction before each; each counter that CPUID.1CH:ECX[19:16]
 *        lists counts and logs instructions
 * When   all of them are recorded
 * Then   each entry but the oldest has two events: the instruction before it and one branch
 * Control: each branch is recorded in its turn
 */
TEST(lbr, entries_of_each_kind_of_branch_have_a_logged_counters_events, REQS(ALBR_18),
     NEEDS(need_perfmon, need_events, need_instructions, need_arch_lbr_events))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_log_kinds;
	struct lbr_stack stack;

	FOR_EACH_COUNTER (c, logged_counters()) {
		unsigned i = 0;

		if (!start(c, EK_INSTRUCTIONS, COUNT_BOTH | COUNT_LBR_LOG))
			continue;
		record_and_stop(c, piece, arch_lbr_everything(), &stack);
		if (!check_entries(t, CONTROL_AT(ALBR_18), piece, &stack, 0))
			return;
		for (const struct lbr_row *row = piece->end; row-- > piece->rows + 1; i++)
			CHECK_EQ(t, ALBR_18, 2, stack.branch[i].events[c],
				 "instructions of IA32_PMC%u in entry %u, of the branch from %#lx",
				 c, i, row->from);
	}
}

/*
 * ALBR-18  Where CPUID.1CH:ECX[16+n] and IA32_PERFEVTSELn[35] are 1, INFO[33+2n:32+2n] of an entry
 *          must be the events of IA32_PMCn since the entry before, at most 3.
 *          Linux LBR_INFO_BR_CNTR_OFFSET, intel_pmu_lbr_counters_reorder; public headers of SDM
 *          volume 4, IA32_LBR_x_INFO
 *
 * Given  jumps with stores between them; each counter that CPUID.1CH:ECX[19:16] lists is set to
 *        count and log stores
 * When   the jumps are recorded while the counter is off by its bit of IA32_PERF_GLOBAL_CTRL; by EN
 * Then   its bits of INFO are 0, and it reads 0
 * Control: each jump is recorded in its turn; with the counter on the entries have its stores
 */
TEST(lbr, counter_that_is_off_logs_nothing, REQS(ALBR_18),
     NEEDS(need_perfmon, need_events, need_arch_lbr_events, need_arch_lbr_kinds))
{
	enum { ON, OFF_GLOBALLY, OFF_BY_EN, STATES };
	const struct lbr_piece *piece = &lbr_piece_lbr_events;
	const u64 jumps = arch_lbr_only(IA32_LBR_CTL_NEAR_REL_JMP);
	struct lbr_stack stack;

	FOR_EACH_COUNTER (c, logged_counters()) {
		for (unsigned state = ON; state < STATES; state++) {
			if (!start(c, EK_STORES, COUNT_BOTH | COUNT_LBR_LOG))
				continue;
			if (state == OFF_GLOBALLY)
				counters_disable();
			if (state == OFF_BY_EN)
				msr_write(MSR_IA32_PERFEVTSEL0 + c,
					  msr_read(MSR_IA32_PERFEVTSEL0 + c) & ~IA32_PERFEVTSEL_EN);
			counter_write(c, 0);
			arch_lbr_record(piece, 0, jumps, &stack);
			if (state != ON)
				CHECK_EQ(t, ALBR_18, 0, counter_read(c), "IA32_PMC%u, off", c);
			stop(c);
			if (!check_entries(t, CONTROL_AT(ALBR_18), piece, &stack, 0))
				return;
			check_events(t, state == ON ? CONTROL_AT(ALBR_18) : AT(ALBR_18), &stack, 0,
				     c, &kinds[OF_STORES], state == ON);
		}
	}
}

/* Run lbr_events at CPL 3 and record the branches there. Returns the entry of its last jump. */
static unsigned record_user(struct lbr_stack *stack)
{
	const struct lbr_piece *piece = &lbr_piece_lbr_events;

	arch_lbr_close();
	msr_write(MSR_IA32_LBR_CTL, arch_lbr_everything() & ~IA32_LBR_CTL_OS);
	workload_run_user(piece->workload, 0);
	msr_write(MSR_IA32_LBR_CTL, 0);
	arch_lbr_read(stack);
	return lbr_find(stack, (piece->end - 1)->from);
}

/*
 * ALBR-18  Where CPUID.1CH:ECX[16+n] and IA32_PERFEVTSELn[35] are 1, INFO[33+2n:32+2n] of an entry
 *          must be the events of IA32_PMCn since the entry before, at most 3.
 *          Linux LBR_INFO_BR_CNTR_OFFSET, intel_pmu_lbr_counters_reorder; public headers of SDM
 *          volume 4, IA32_LBR_x_INFO
 *
 * Given  each counter that CPUID.1CH:ECX[19:16] lists counts stores and is logged
 * When   jumps with stores between them are recorded at CPL 0 and at CPL 3, with OS alone set in
 *        the event select, and with USR alone
 * Then   the entries have the stores of the level that is counted, and 0 of the other one
 * Control: each jump is recorded in its turn
 */
TEST(lbr, info_has_a_logged_counters_events_of_its_levels, REQS(ALBR_18),
     NEEDS(need_perfmon, need_events, need_arch_lbr_events, need_arch_lbr_levels))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_events;
	struct lbr_stack stack;

	for (unsigned c = 0; c < LBR_LOGGED; c++) {
		for (unsigned user = 0; user < 4 && logged_counters() & BIT(c); user++) {
			const bool at_cpl_3 = user & 1, counts_cpl_3 = user & 2;
			unsigned newest = 0;

			if (!start(c, EK_STORES,
				   (counts_cpl_3 ? COUNT_USR : COUNT_OS) | COUNT_LBR_LOG))
				continue;
			if (at_cpl_3)
				newest = record_user(&stack);
			else
				arch_lbr_record(piece, 0, arch_lbr_everything(), &stack);
			stop(c);
			arch_lbr_close();
			if (!check_entries(t, CONTROL_AT(ALBR_18), piece, &stack, newest))
				return;
			check_events(t, AT(ALBR_18), &stack, newest, c, &kinds[OF_STORES],
				     at_cpl_3 == counts_cpl_3);
		}
	}
}

/*
 * ALBR-18  Where CPUID.1CH:ECX[16+n] and IA32_PERFEVTSELn[35] are 1, INFO[33+2n:32+2n] of an entry
 *          must be the events of IA32_PMCn since the entry before, at most 3.
 *          Linux LBR_INFO_BR_CNTR_OFFSET, intel_pmu_lbr_counters_reorder; public headers of SDM
 *          volume 4, IA32_LBR_x_INFO
 *
 * Given  each counter that CPUID.1CH:ECX[19:16] lists counts stores and is logged; a store, a
 *        conditional branch that is taken, a store, a jump, a jump
 * When   they are recorded with only jumps selected; with conditional branches too
 * Then   with the branch filtered out the first jump's entry has both stores, because the branch
 *        between them has no entry; the next jump's has none
 * Control: with the branch selected its entry has one store, and the jump's the other
 */
TEST(lbr, info_counts_events_across_a_branch_that_is_kept_out, REQS(ALBR_18),
     NEEDS(need_perfmon, need_events, need_arch_lbr_events, need_arch_lbr_kinds))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_events_apart;
	const struct lbr_row *last = piece->end - 1, *jump = last - 1, *conditional = jump - 1;

	for (unsigned c = 0; c < LBR_LOGGED; c++) {
		struct lbr_stack stack;

		if (!(logged_counters() & BIT(c)) ||
		    !start(c, EK_STORES, COUNT_BOTH | COUNT_LBR_LOG))
			continue;
		arch_lbr_record(piece, 0,
				arch_lbr_only(IA32_LBR_CTL_NEAR_REL_JMP | IA32_LBR_CTL_JCC),
				&stack);
		CONTROL(t, ALBR_18,
			lbr_is(&stack, 0, last) && lbr_is(&stack, 1, jump) &&
				lbr_is(&stack, 2, conditional),
			"a branch and two jumps are recorded");
		CONTROL_EQ(t, ALBR_18, 1, stack.branch[2].events[c],
			   "stores of IA32_PMC%u in the branch's entry", c);
		CONTROL_EQ(t, ALBR_18, 1, stack.branch[1].events[c],
			   "stores of IA32_PMC%u in the jump's entry after the branch's", c);
		record_and_stop(c, piece, arch_lbr_only(IA32_LBR_CTL_NEAR_REL_JMP), &stack);
		CONTROL(t, ALBR_18, lbr_is(&stack, 0, last) && lbr_is(&stack, 1, jump),
			"two jumps are recorded");
		CHECK_EQ(t, ALBR_18, 2, stack.branch[1].events[c],
			 "stores of IA32_PMC%u in the jump's entry, the branch kept out", c);
		CHECK_EQ(t, ALBR_18, 0, stack.branch[0].events[c],
			 "stores of IA32_PMC%u in the entry of the jump right after it", c);
	}
}

/*
 * ALBR-18  Where CPUID.1CH:ECX[16+n] and IA32_PERFEVTSELn[35] are 1, INFO[33+2n:32+2n] of an entry
 *          must be the events of IA32_PMCn since the entry before, at most 3.
 *          Linux LBR_INFO_BR_CNTR_OFFSET, intel_pmu_lbr_counters_reorder; public headers of SDM
 *          volume 4, IA32_LBR_x_INFO
 *
 * Given  jumps at CPL 3 with stores between them; each counter that CPUID.1CH:ECX[19:16] lists
 *        counts and logs the stores of CPL 3
 * When   the jumps are recorded while the counter passes its end: at each of the stores in turn
 * Then   the entries have the stores since the entry before, 3 where there are more
 * Control: each jump is recorded in its turn, and the counter's status bit is 1
 */
TEST(lbr, counter_that_overflows_between_entries_logs_what_it_counts, REQS(ALBR_18),
     NEEDS(need_perfmon, need_events, need_arch_lbr_events, need_arch_lbr_levels))
{
	enum { STORES = 11 };	/* in lbr_events */
	struct lbr_stack stack;

	FOR_EACH_COUNTER (c, logged_counters()) {
		for (unsigned n = 1; n <= STORES; n++) {
			unsigned newest;

			if (!start(c, EK_STORES, COUNT_USR | COUNT_LBR_LOG))
				continue;
			counter_preset(c, n);
			newest = record_user(&stack);
			stop(c);
			arch_lbr_close();
			CONTROL_EQ(t, ALBR_18, BIT(c), counters_status() & BIT(c),
				   "status bit of IA32_PMC%u after %u stores", c, n);
			counters_clear(BIT(c));
			if (!check_entries(t, CONTROL_AT(ALBR_18), &lbr_piece_lbr_events, &stack,
					   newest))
				return;
			check_events(t, AT(ALBR_18), &stack, newest, c, &kinds[OF_STORES], true);
		}
	}
}
