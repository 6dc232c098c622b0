/* SPDX-License-Identifier: MIT */
/* Last branch records of two processors: Table 35-13 and those of later generations, scope: Thread.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/lbr/any.h"
#include "tests/frame/test.h"
#include "tests/lbr/arch.h"
#include "tests/lbr/branches.h"
#include "tests/measure/overflow.h"
#include "tests/measure/two_cpus.h"

#define CALL_RETURNS	2u	/* of three calls */

struct both_record {
	struct two_cpus both;
	u64 filter;			/* MSR_LBR_SELECT of the other side; that of the first: 0 */
	struct lbr_stack stack[2];
	u64 select[2];
};

/* The first processor records a chain; the other one records the kinds, with other filters, or
 * three nested calls, of which two return, in call-stack mode. */
static void record(void *arg)
{
	struct both_record *r = arg;
	unsigned side = two_cpus_side();

	lbr_open(side ? r->filter : 0, 0);
	two_cpus_barrier(&r->both);
	if (!side)
		lbr_go_on(&lbr_piece_lbr_chain, LBR_LINKS, IA32_DEBUGCTL_LBR, &r->stack[0]);
	two_cpus_barrier(&r->both);
	if (side && r->filter == LBR_SELECT_CALL_STACK)
		lbr_go_on(&lbr_piece_lbr_nested, CALL_RETURNS, IA32_DEBUGCTL_LBR, &r->stack[1]);
	else if (side)
		lbr_go_on(&lbr_piece_lbr_kinds, 0, IA32_DEBUGCTL_LBR, &r->stack[1]);
	two_cpus_barrier(&r->both);
	lbr_read(&r->stack[side]);
	r->select[side] = msr_read(MSR_LBR_SELECT);
	lbr_close();
}

/* false: the other processor doesn't answer, or the entries are lost in each try. */
static bool record_both(struct test *t, unsigned cpu, u64 filter, struct both_record *r)
{
	for (unsigned n = 0; n < LBR_TRIES; n++) {
		*r = (struct both_record){ .filter = filter, .select = { ~0ULL, ~0ULL } };
		if (!two_cpus_run(t, &r->both, cpu, record, r))
			return false;
		if (!lbr_try_again(t, n, &r->stack[lbr_vanished(&r->stack[1])]))
			return true;
	}
	return false;
}

static bool has_own_select(struct test *t, unsigned cpu)
{
	const struct topology first = smp_topology(CPU_BOOT), other = smp_topology(cpu);

	return !topology_same_core(&first, &other) || !test_erratum(t, ERRATUM_SELECT_OF_CORE);
}

/* What the other side records goes by its own MSR_LBR_SELECT. false: the test has ended. */
static bool check_filters(struct test *t, unsigned cpu)
{
	static const u64 kept_out[] = { LBR_SELECT_JCC, LBR_SELECT_NEAR_RET,
					LBR_SELECT_NEAR_REL_JMP, LBR_SELECT_FAR_BRANCH };
	const struct lbr_piece *kinds = &lbr_piece_lbr_kinds;
	struct both_record r;
	char reason[96];

	for (unsigned i = 0; i < sizeof(kept_out) / sizeof(kept_out[0]); i++) {
		u64 left = 0;

		/* This filter keeps calls out too there. */
		if (kept_out[i] == LBR_SELECT_NEAR_REL_JMP && test_erratum(t, ERRATUM_JUMP_FILTERS))
			continue;
		if (!record_both(t, cpu, kept_out[i], &r))
			return false;
		for (const struct lbr_row *row = kinds->rows; row < kinds->end; row++) {
			if (!(kept_out[i] & BIT(row->kind)))
				left++;
			else
				CHECK_EQ(t, LBR_27, r.stack[1].depth,
					 lbr_find(&r.stack[1], row->from),
					 "entry of a branch of kind %lu of %s, its MSR_LBR_SELECT "
					 "= %#lx",
					 row->kind, two_cpus_name(cpu), kept_out[i]);
		}
		CHECK_EQ(t, LBR_27, left, r.stack[1].top,
			 "branches recorded on %s, its MSR_LBR_SELECT = %#lx", two_cpus_name(cpu),
			 kept_out[i]);
	}
	if (!need_lbr_call_stack(reason, sizeof(reason)))
		return true;
	if (!record_both(t, cpu, LBR_SELECT_CALL_STACK, &r))
		return false;
	CHECK_EQ(t, LBR_27, 1, r.stack[1].top,
		 "calls left on %s of 3, of which %u return, call-stack mode", two_cpus_name(cpu),
		 CALL_RETURNS);
	CHECK_EQ(t, LBR_27, lbr_piece_lbr_nested.rows[0].from, r.stack[1].branch[0].from,
		 "FROM of the call that is left");
	return true;
}

/*
 * LBR-27  Each logical processor must have its own stack and select register.
 *         SDM tables of chapter 35 (scope: Thread)
 *
 * Given  two processors, with different values of MSR_LBR_SELECT
 * When   one records a chain of jumps; then the other one branches of other kinds
 * Then   each one's newest entry, MSR_LASTBRANCH_TOS and MSR_LBR_SELECT are its own (on Nehalem and
 *        Westmere MSR_LBR_SELECT may be the core's); the kinds that the other one's keeps out are
 *        missing there, and in call-stack mode calls that have returned
 * Control: each other branch of that one is recorded
 */
TEST(lbr, each_processor_has_a_stack_and_a_select_of_its_own, REQS(LBR_27),
     NEEDS(need_lbr, need_partner))
{
	const struct lbr_row last = lbr_chain_row(LBR_LINKS, 0);
	const struct lbr_row *kinds = lbr_piece_lbr_kinds.end - 1;

	FOR_EACH_PARTNER (cpu) {
		struct both_record r;

		if (!record_both(t, cpu, LBR_SELECT_FAR_BRANCH, &r))
			return;
		CHECK_EQ(t, LBR_27, last.from, r.stack[0].branch[0].from,
			 "FROM of the newest entry of the first processor, paired with %s",
			 two_cpus_name(cpu));
		CHECK_EQ(t, LBR_27, kinds->from, r.stack[1].branch[0].from,
			 "FROM of the newest entry of %s", two_cpus_name(cpu));
		if (has_own_select(t, cpu)) {
			CHECK_EQ(t, LBR_27, 0, r.select[0],
				 "MSR_LBR_SELECT of the first processor");
			CHECK_EQ(t, LBR_27, LBR_SELECT_FAR_BRANCH, r.select[1],
				 "MSR_LBR_SELECT of %s", two_cpus_name(cpu));
		}
		CHECK_EQ(t, LBR_27, (LBR_LINKS + 1) % r.stack[0].depth, r.stack[0].top,
			 "MSR_LASTBRANCH_TOS of the first processor");
		if (has_own_select(t, cpu) && !check_filters(t, cpu))
			return;
	}
}

#define EACH	5	/* every fifth entry: 0 to 30 of 32, 0 to 15 of 16 */

struct both_write {
	struct two_cpus both;
	u32 msr;
	u64 value[2], seen[2];
};

/* Each side writes its own value; after both writes each side reads. */
static void write_own(void *arg)
{
	struct both_write *w = arg;
	const unsigned side = two_cpus_side();

	for (unsigned turn = 0; turn < 2; turn++) {
		if (turn == side)
			msr_write(w->msr, w->value[side]);
		two_cpus_barrier(&w->both);
	}
	w->seen[side] = msr_read(w->msr);
	two_cpus_barrier(&w->both);
	msr_write(w->msr, 0);
}

static void check_written(struct test *t, unsigned cpu, const char *name, u32 msr, u64 here,
			  u64 there)
{
	struct both_write w;

	/* If KVM reschedules the guest while recording is off, the written value is lost. */
	for (unsigned n = 0;; n++) {
		w = (struct both_write){ .msr = msr, .value = { here, there },
					 .seen = { ~0ULL, ~0ULL } };
		if (!two_cpus_run(t, &w.both, cpu, write_own, &w))
			return;
		if (test_is_strict(t) || counter_caps()->host.id != HYPERVISOR_KVM ||
		    (w.seen[0] && w.seen[1]))
			break;
		if (n + 1 == LBR_TRIES) {
			test_inconclusive(t, "under KVM %s reads 0, %u times", name, LBR_TRIES);
			return;
		}
	}
	CHECK_EQ(t, LBR_27, here, w.seen[0], "%s (MSR %#x) of the first processor, %s has another",
		 name, msr, two_cpus_name(cpu));
	CHECK_EQ(t, LBR_27, there, w.seen[1], "%s (MSR %#x) of %s", name, msr, two_cpus_name(cpu));
}

/*
 * LBR-27  Each logical processor must have its own stack and select register.
 *         SDM tables of chapter 35 (scope: Thread)
 *
 * Given  two processors, recording off on both
 * When   one writes MSR_LBR_SELECT, MSR_LASTBRANCH_TOS, and FROM, TO and INFO of each fifth entry
 *        in turn, then the other one the same register with another value
 * Then   each reads its own
 */
TEST(msr, each_logical_processor_has_each_register_of_the_lbr_stack_for_itself, REQS(LBR_27),
     NEEDS(need_lbr, need_partner))
{
	FOR_EACH_PARTNER (cpu) {
		const unsigned last = lbr_depth() - 1;

		if (has_own_select(t, cpu))
			check_written(t, cpu, "MSR_LBR_SELECT", MSR_LBR_SELECT, LBR_SELECT_JCC,
				      LBR_SELECT_NEAR_RET);
		check_written(t, cpu, "MSR_LASTBRANCH_TOS", MSR_LASTBRANCH_TOS, last, 1);
		for (unsigned i = 0; i <= last; i += EACH) {
			check_written(t, cpu, "FROM", MSR_LASTBRANCH_0_FROM_IP + i, 0x1000 + i,
				      0x2000 + i);
			check_written(t, cpu, "TO", MSR_LASTBRANCH_0_TO_IP + i, 0x3000 + i,
				      0x4000 + i);
			if (lbr_format_has_info(lbr_format()))
				check_written(t, cpu, "INFO", MSR_LBR_INFO_0 + i, 0x5000 + i,
					      0x6000 + i);
		}
	}
}

/*
 * ALBR-28  Each logical processor must have its own entries, IA32_LBR_CTL and IA32_LBR_DEPTH.
 *          SDM tables of chapter 35 for last branch records (scope: Thread)
 *
 * Given  two processors, recording off on both
 * When   one writes each fifth register of FROM, TO, and INFO if it has cycles, of all entries,
 *        then the other one the same register with another value
 * Then   each reads its own
 */
TEST(msr, each_logical_processor_has_each_architectural_entry_for_itself, REQS(ALBR_28),
     NEEDS(need_arch_lbr, need_partner))
{
	static const u32 entries[] = { MSR_IA32_LBR_0_FROM_IP, MSR_IA32_LBR_0_TO_IP,
				       MSR_IA32_LBR_0_INFO };

	/* No source defines the fields of INFO that the leaf doesn't enumerate. */
	const unsigned banks = arch_lbr_leaf().timed ? 3 : 2;

	FOR_EACH_PARTNER (cpu) {
		for (unsigned i = 0; i < arch_lbr_depth() * banks; i += EACH) {
			struct both_write w = { .msr = entries[i % banks] + i / banks,
						.value = { 0x1000 + i, 0x2000 + i },
						.seen = { ~0ULL, ~0ULL } };

			if (!two_cpus_run(t, &w.both, cpu, write_own, &w))
				return;
			CHECK_EQ(t, ALBR_28, w.value[0], w.seen[0],
				 "MSR %#x of the first processor, %s has another", w.msr,
				 two_cpus_name(cpu));
			CHECK_EQ(t, ALBR_28, w.value[1], w.seen[1], "MSR %#x of %s", w.msr,
				 two_cpus_name(cpu));
		}
	}
}

#define LBR_FRZ		IA32_PERF_GLOBAL_STATUS_LBR_FRZ
#define FREEZE_LBRS	IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI

struct both_freeze {
	struct two_cpus both;
	unsigned freezer;	/* the side that overflows */
	u64 on[2], frozen[2];	/* the enable bit of recording, and LBR_Frz */
	unsigned interrupts;
	struct lbr_stack stack;	/* of the other side, with a chain */
};

/* Both sides record, with the freeze bit; one side overflows; then the other side runs the
 * chain. */
static void freeze_one(void *arg)
{
	static const struct pmi_options leave = { .keep_status = true, .stay_masked = true };
	const struct lbr_switch recording = lbr_any_switch();
	const u64 beside = recording.msr == MSR_IA32_DEBUGCTL ? FREEZE_LBRS : 0;
	struct both_freeze *f = arg;
	const unsigned side = two_cpus_side();

	lbr_any_open();
	pmi_open(&leave);
	msr_write(MSR_IA32_DEBUGCTL, FREEZE_LBRS);
	msr_write(recording.msr, recording.on | beside);
	two_cpus_barrier(&f->both);
	if (side == f->freezer) {
		overflow_in(&workload_long_sled, 0, COUNT_INT);
		f->interrupts = pmi_settle()->count;
	}
	two_cpus_barrier(&f->both);
	if (side != f->freezer)
		workload_run_uncounted(lbr_piece_lbr_chain.workload, LBR_LINKS);
	f->on[side] = msr_read(recording.msr) & recording.on;
	f->frozen[side] = counters_status() & LBR_FRZ;
	msr_write(recording.msr, 0);
	msr_write(MSR_IA32_DEBUGCTL, 0);
	if (side != f->freezer)
		lbr_any_read(&f->stack);
	lbr_any_close();
	pmi_close();
	overflow_off(0);
	counters_clear(f->frozen[side]);
}

/* false: the other processor doesn't answer, or the entries are lost in each try. */
static bool freeze_side(struct test *t, unsigned cpu, unsigned freezer, struct both_freeze *f)
{
	for (unsigned n = 0; n < LBR_TRIES; n++) {
		*f = (struct both_freeze){ .freezer = freezer };
		if (!two_cpus_run(t, &f->both, cpu, freeze_one, f))
			return false;
		if (!lbr_try_again(t, n, &f->stack))
			return true;
	}
	return false;
}

/*
 * MSR-37  Each logical processor must have event selects, counters, global control and status,
 *         IA32_PEBS_ENABLE, IA32_DS_AREA and IA32_DEBUGCTL of its own.
 *         SDM Tables 35-13, 35-18 and 35-22 (scope: Thread)
 *
 * Given  two processors that record branches, both with IA32_DEBUGCTL[11] = 1
 * When   IA32_PMC0 of one overflows with INT, which freezes; then the other one runs a chain of
 *        jumps
 * Then   recording is still enabled on the other one, LBR_Frz is 0 there, and the last jump of the
 *        chain is recorded
 * Control: there was an interrupt, and the one that overflowed is frozen: recording is off, or from
 *          version 4 on LBR_Frz is set
 */
TEST(lbr, freeze_on_pmi_stops_recording_of_its_own_processor_only, REQS(MSR_37),
     NEEDS(need_perfmon, need_branches, need_any_lbr, need_freeze, need_partner))
{
	const struct lbr_switch recording = lbr_any_switch();
	const u64 last = lbr_chain_row(LBR_LINKS, 0).from;
	const bool streamlined = counter_caps()->version >= 4;

	FOR_EACH_PARTNER (cpu)
		for (unsigned freezer = 0; freezer < 2; freezer++) {
			const char *whose = two_cpus_whose(cpu, !freezer);
			struct both_freeze f;

			if (!freeze_side(t, cpu, freezer, &f))
				return;
			CONTROL_RANGE(t, MSR_37, 1, overflow_allowed(t, 1, f.interrupts),
				      f.interrupts, "interrupts of the side that froze (%u)",
				      freezer);
			CONTROL_EQ(t, MSR_37, streamlined ? LBR_FRZ : 0,
				   streamlined ? f.frozen[freezer] : f.on[freezer],
				   "%s of the side that froze",
				   streamlined ? "LBR_Frz" : recording.name);
			CHECK_EQ(t, MSR_37, recording.on, f.on[!freezer],
				 "%s of %s after a freeze of the other one", recording.name, whose);
			CHECK_EQ(t, MSR_37, 0, f.frozen[!freezer], "LBR_Frz of %s", whose);
			CHECK(t, MSR_37, lbr_find(&f.stack, last) < f.stack.depth,
			      "a jump of %s after the freeze is recorded", whose);
		}
}

#define TURNS_LEAST	8u	/* of each side, beside the other one */
#define TURNS_MOST	200u
#define ROUNDS		8u	/* of the code in a turn */

struct both_busy {
	struct two_cpus both;
	volatile unsigned turns[2], rounds[2];
	volatile unsigned beside[2];	/* rounds of the other side while this one recorded */
	/* Of all turns: entries of the own code and of the other one's; turns whose entries all
	 * read 0. */
	unsigned own[2], foreign[2], lost[2];
};

static const struct lbr_piece *piece_of(unsigned side)
{
	return side ? &lbr_piece_lbr_kinds : &lbr_piece_lbr_chain;
}

/* Entries whose FROM lies in the piece. */
static unsigned entries_of(const struct lbr_piece *piece, const struct lbr_stack *stack)
{
	const u64 begin = (u64)(uintptr_t)piece->workload->begin;
	const u64 end = (u64)(uintptr_t)piece->workload->end;
	unsigned found = 0;

	for (unsigned i = 0; i < stack->depth; i++)
		found += stack->branch[i].from >= begin && stack->branch[i].from < end;
	return found;
}

/* The side runs its code a few times, records, and looks at the entries. */
static void take_turn(struct both_busy *b, unsigned side)
{
	const struct lbr_switch recording = lbr_any_switch();
	struct lbr_stack stack;
	unsigned before;

	lbr_any_open();
	msr_write(recording.msr, recording.on);
	before = b->rounds[!side];
	for (unsigned n = 0; n < ROUNDS; n++) {
		workload_run_uncounted(piece_of(side)->workload, side ? 0 : LBR_LINKS);
		b->rounds[side]++;
	}
	b->beside[side] += b->rounds[!side] - before;
	msr_write(recording.msr, 0);
	lbr_any_read(&stack);
	lbr_any_close();
	b->own[side] += entries_of(piece_of(side), &stack);
	b->foreign[side] += entries_of(piece_of(!side), &stack);
	b->lost[side] += lbr_vanished(&stack);
	b->turns[side]++;
}

static void record_busy(void *arg)
{
	struct both_busy *b = arg;
	const unsigned side = two_cpus_side();

	two_cpus_barrier(&b->both);
	while ((b->turns[0] < TURNS_LEAST || b->turns[1] < TURNS_LEAST || !b->beside[0] ||
		!b->beside[1]) &&
	       b->turns[side] < TURNS_MOST)
		take_turn(b, side);
}

/*
 * LBR-27   Each logical processor must have its own stack and select register.
 *          SDM tables of chapter 35 (scope: Thread)
 * ALBR-28  Each logical processor must have its own entries, IA32_LBR_CTL and IA32_LBR_DEPTH.
 *          SDM tables of chapter 35 for last branch records (scope: Thread)
 *
 * Given  two processors that record every branch, in turns that overlap
 * When   one runs a chain of jumps again and again, the other one branches of each kind
 * Then   no entry of either is a branch of the other's code
 * Control: each ran its code while the other one recorded, and has recorded a branch of its own
 */
TEST(lbr, branches_of_two_processors_at_once_are_in_their_own_records, REQS(LBR_27, ALBR_28),
     NEEDS(need_any_lbr, need_partner))
{
	struct both_busy b;

	FOR_EACH_PARTNER (cpu) {
		b = (struct both_busy){ .turns = { 0 } };
		if (!two_cpus_run(t, &b.both, cpu, record_busy, &b))
			return;
		for (unsigned side = 0; side < 2; side++) {
			const char *whose = two_cpus_whose(cpu, side);

			if (!test_is_strict(t) && b.lost[side] == b.turns[side]) {
				test_inconclusive(t, "all entries of %s read 0, %u times", whose,
						  b.turns[side]);
				return;
			}
			if (!test_is_strict(t) && !b.beside[side]) {
				test_inconclusive(t,
						  "the turns of %s overlap with none of the "
						  "other one's",
						  whose);
				return;
			}
			CONTROL(t, IDS(LBR_27, ALBR_28), b.beside[side] > 0,
				"rounds of the other one while %s recorded: %u", whose,
				b.beside[side]);
			CONTROL(t, IDS(LBR_27, ALBR_28), b.own[side] > 0,
				"entries of its own code on %s", whose);
			CHECK_EQ(t, IDS(LBR_27, ALBR_28), 0, b.foreign[side],
				 "entries of the other one's code on %s, of %u turns", whose,
				 b.turns[side]);
		}
	}
}
