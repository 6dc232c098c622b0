/* SPDX-License-Identifier: MIT */
/*
 * The filters by privilege level, when an event changes the level: an exception and an interrupt at
 * CPL 3, and the returns from their handlers. Legacy records (SDM "Filtering of Last Branch
 * Records") and architectural ones (IA32_LBR_CTL).
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/intr.h"
#include "kernel/interrupt/fault.h"
#include "pmu/pmi.h"
#include "pmu/lbr/any.h"
#include "tests/lbr/arch.h"
#include "tests/measure/overflow.h"

extern const u8 vectors_begin[] __attribute__((visibility("hidden")));

#define STUB_BYTES	16	/* kernel/interrupt/vectors.asm: size of a stub, a gate's target */
#define EVERY_NEAR_BRANCH (LBR_SELECT_JCC | LBR_SELECT_NEAR_REL_CALL | LBR_SELECT_NEAR_IND_CALL | \
			   LBR_SELECT_NEAR_RET | LBR_SELECT_NEAR_IND_JMP |			  \
			   LBR_SELECT_NEAR_REL_JMP)
#define INTERRUPTED_ROUNDS 4096u	/* rounds of a loop at CPL 3: many follow the overflow */
#define FROM_OTHER_LEVEL ~0ULL	/* FROM of a branch that begins at a filtered-out level */

static u64 gate(unsigned vector)
{
	return (u64)(uintptr_t)(vectors_begin + STUB_BYTES * vector);
}

enum transition {
	EXCEPTION,
	EXCEPTION_RETURN,
	FAULT,				/* an exception with an error code */
	FAULT_RETURN,
	INTERRUPT,
	INTERRUPT_RETURN,
	TRANSITIONS
};

static const struct {
	const char *name;
	bool to_user;			/* true: it ends at CPL 3; false: at CPL 0 */
} transitions[TRANSITIONS] = {
	[EXCEPTION] = { "#UD at CPL 3", false },
	[EXCEPTION_RETURN] = { "the return from the handler of #UD to CPL 3", true },
	[FAULT] = { "#GP at CPL 3", false },
	[FAULT_RETURN] = { "the return from the handler of #GP to CPL 3", true },
	[INTERRUPT] = { "the interrupt at CPL 3", false },
	[INTERRUPT_RETURN] = { "the return from the interrupt's handler to CPL 3", true },
};

/* For each transition: the number of its entries, and FROM of one. */
struct recorded {
	unsigned entries[TRANSITIONS];
	u64 from[TRANSITIONS];
};

static bool is_in(const struct workload *w, u64 address)
{
	return address >= (u64)(uintptr_t)w->begin && address < (u64)(uintptr_t)w->end;
}

/* The transition that leads to this address; TRANSITIONS: none. */
static enum transition transition_to(u64 to)
{
	if (to == gate(VECTOR_UD))
		return EXCEPTION;
	if (to == lbr_piece_lbr_undefined.rows->to)
		return EXCEPTION_RETURN;
	if (to == gate(VECTOR_GP))
		return FAULT;
	if (to == lbr_piece_lbr_protection.rows->to)
		return FAULT_RETURN;
	if (to == gate(VECTOR_PMI))
		return INTERRUPT;
	return is_in(&workload_load, to) ? INTERRUPT_RETURN : TRANSITIONS;
}

static void add_recorded(struct recorded *recorded, const struct lbr_stack *stack)
{
	for (unsigned i = 0; i < stack->depth; i++) {
		const enum transition which = transition_to(stack->branch[i].to);

		if (which == TRANSITIONS)
			continue;
		recorded->entries[which]++;
		recorded->from[which] = stack->raw[i].from;
	}
}

/* Run a piece at CPL 3 that raises this exception; the handler skips its instruction. */
static void raise_exception(const struct lbr_piece *piece, u8 vector, intr_handler skip)
{
	intr_handler before = intr_set_handler(vector, skip);

	workload_run_user(piece->workload, 0);
	intr_set_handler(vector, before);
}

/* IA32_PMC0 overflows in a loop at CPL 3. true: there was one interrupt, and it came in the
 * loop. */
static unsigned raise_interrupt(bool nmi)
{
	const struct pmi_options options = { .nmi = nmi };
	const struct pmi_log *log;

	pmi_open(&options);
	counter_program(0, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_USR | COUNT_INT);
	counter_preset(0, PERIOD);
	counters_enable(pmc_one(0));
	workload_run_user(&workload_load, INTERRUPTED_ROUNDS);
	counters_disable();
	log = pmi_settle();
	pmi_close();
	overflow_off(0);
	return log->count == 1 && is_in(&workload_load, log->entry[0].rip);
}

enum cause { BY_EXCEPTION, BY_FAULT, BY_INTERRUPT, BY_NMI };

/* Record one of the causes, with this value in the register that enables recording. false: the test
 * is INCONCLUSIVE, because the interrupt didn't come in the loop or the entries are lost in each
 * try. */
static bool record_transition(struct test *t, u64 enable, u64 select, enum cause cause,
			      struct lbr_stack *stack)
{
	const u32 msr = lbr_any_switch().msr;
	bool came = true;

	for (unsigned n = 0; n < LBR_TRIES; n++) {
		if (msr == MSR_IA32_DEBUGCTL)
			lbr_open(select, 0);
		else
			arch_lbr_close();
		msr_write(msr, enable);
		if (cause == BY_EXCEPTION)
			raise_exception(&lbr_piece_lbr_undefined, VECTOR_UD, lbr_skip_ud2);
		else if (cause == BY_FAULT)
			raise_exception(&lbr_piece_lbr_protection, VECTOR_GP, lbr_skip_load);
		else
			came = raise_interrupt(cause == BY_NMI);
		msr_write(msr, 0);
		lbr_any_read(stack);
		lbr_any_close();
		if (!came)
			test_inconclusive(t, "the interrupt didn't come in the loop at CPL 3");
		/* With far branches filtered out no entry is expected. */
		if (!came || select & LBR_SELECT_FAR_BRANCH || !lbr_try_again(t, n, stack))
			return came;
	}
	return false;
}

/* Record the causes but NMI. */
static bool record_transitions(struct test *t, u64 enable, u64 select, struct recorded *recorded)
{
	struct lbr_stack stack;

	*recorded = (struct recorded){ .entries = { 0 } };
	for (unsigned cause = BY_EXCEPTION; cause <= BY_INTERRUPT; cause++) {
		if (!record_transition(t, enable, select, cause, &stack))
			return false;
		add_recorded(recorded, &stack);
	}
	return true;
}

static bool need_far_branches(char *reason, size_t size)
{
	return lbr_any_switch().msr == MSR_IA32_DEBUGCTL || need_arch_lbr_kinds(reason, size);
}

/*
 * LBR-06   An interrupt, an exception and IRET must be recorded unless filtered.
 *          SDM 17.4.1 IA32_DEBUGCTL MSR
 * ALBR-12  IA32_LBR_CTL[22] must let far branches, exceptions and interrupts in and no near
 *          branch.
 *          SDM volume 1, CPUID leaf 1CH; volume 4, IA32_LBR_CTL; Linux
 *
 * Given  a performance-monitoring interrupt of delivery mode NMI; fixed. Near branches filtered out
 * When   it is taken in a loop at CPL 3 while recording is on
 * Then   one entry goes to its vector's gate, and one back to the loop
 */
TEST(lbr, nmi_is_recorded_as_an_interrupt_is, REQS(LBR_06, ALBR_12),
     NEEDS(need_perfmon, need_branches, need_any_lbr, need_far_branches))
{
	const bool legacy = lbr_any_switch().msr == MSR_IA32_DEBUGCTL;
	const struct test_claim claim = legacy ? AT(LBR_06) : AT(ALBR_12);

	for (unsigned nmi = 0; nmi < 2; nmi++) {
		const u64 target = gate(nmi ? VECTOR_NMI : VECTOR_PMI);
		const u64 enable = legacy ? IA32_DEBUGCTL_LBR :
					    arch_lbr_only(IA32_LBR_CTL_OTHER_BRANCH);
		unsigned back = 0;
		struct lbr_stack stack;

		if (!record_transition(t, enable, EVERY_NEAR_BRANCH, nmi ? BY_NMI : BY_INTERRUPT,
				       &stack))
			return;
		for (unsigned i = 0; i < stack.depth; i++)
			back += transition_to(stack.branch[i].to) == INTERRUPT_RETURN;
		test_check_eq(t, claim, 1, lbr_entries_to(&stack, target),
			      "entries with the handler as TO, delivery mode %s",
			      nmi ? "NMI" : "fixed");
		test_check_eq(t, claim, 1, back, "entries with the loop as TO, delivery mode %s",
			      nmi ? "NMI" : "fixed");
	}
}

/*
 * LBR-14   MSR_LBR_SELECT[8] = 1 must keep far branches out and nothing else.
 *          SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 * ALBR-12  IA32_LBR_CTL[22] must let far branches, exceptions and interrupts in and no near
 *          branch.
 *          SDM volume 1, CPUID leaf 1CH; volume 4, IA32_LBR_CTL; Linux
 *
 * Given  UD2 and a load that raises #GP, whose handlers skip them, an interrupt and an NMI of an
 *        overflow, each at CPL 3; near branches filtered out
 * When   far branches are filtered out too (MSR_LBR_SELECT[8] = 1, IA32_LBR_CTL[22] = 0)
 * Then   nothing is recorded
 * Control: with far branches selected, one entry goes to the gate of each
 */
TEST(lbr, exceptions_and_interrupts_are_kept_out_with_far_branches, REQS(LBR_14, ALBR_12),
     NEEDS(need_perfmon, need_branches, need_any_lbr, need_far_branches))
{
	static const u8 vectors[] = { [BY_EXCEPTION] = VECTOR_UD,
				      [BY_FAULT] = VECTOR_GP,
				      [BY_INTERRUPT] = VECTOR_PMI,
				      [BY_NMI] = VECTOR_NMI };
	const bool legacy = lbr_any_switch().msr == MSR_IA32_DEBUGCTL;

	for (unsigned n = 0; n < 2 * sizeof(vectors); n++) {
		const u8 vector = vectors[n / 2];
		const bool far = n % 2;
		const u64 control = arch_lbr_only(far ? IA32_LBR_CTL_OTHER_BRANCH : 0);
		const u64 select = EVERY_NEAR_BRANCH | (far ? 0 : LBR_SELECT_FAR_BRANCH);
		struct lbr_stack stack;

		if (!record_transition(t, legacy ? IA32_DEBUGCTL_LBR : control, select,
				       (enum cause)(n / 2), &stack))
			return;
		if (far)
			CONTROL_EQ(t, IDS(LBR_14, ALBR_12), 1,
				   lbr_entries_to(&stack, gate(vector)),
				   "entries that go to the gate of vector %u", vector);
		else
			CHECK_EQ(t, IDS(LBR_14, ALBR_12), stack.depth, lbr_entries_to(&stack, 0),
				 "empty entries after vector %u, all branches kept out", vector);
	}
}

/*
 * LBR-09  MSR_LBR_SELECT[0] = 1 must keep branches that end at CPL 0 out, and [1] = 1 those that
 *         end at CPL > 0.
 *         SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 *
 * Given  UD2 and a load that raises #GP at CPL 3, whose handlers skip them, and an interrupt in a
 *        loop at CPL 3; near branches filtered out
 * When   they are recorded with MSR_LBR_SELECT[1:0] = 1, and = 2
 * Then   with 1 the returns to CPL 3 are recorded and neither the exceptions nor the interrupt,
 *        which end at CPL 0; with 2 it is the reverse
 * Control: with 0 each of the six is recorded
 */
TEST(lbr, cpl_bits_filter_exceptions_interrupts_and_their_returns_by_where_they_end, REQS(LBR_09),
     NEEDS(need_perfmon, need_branches, need_lbr))
{
	static const u64 filters[] = { 0, LBR_SELECT_CPL_EQ_0, LBR_SELECT_CPL_NEQ_0 };

	for (unsigned f = 0; f < sizeof(filters) / sizeof(filters[0]); f++) {
		const u64 select = EVERY_NEAR_BRANCH | filters[f];
		struct recorded recorded;

		if (!record_transitions(t, IA32_DEBUGCTL_LBR, select, &recorded))
			return;
		for (unsigned i = 0; i < TRANSITIONS; i++) {
			const bool kept_out = transitions[i].to_user ?
						      select & LBR_SELECT_CPL_NEQ_0 :
						      select & LBR_SELECT_CPL_EQ_0;

			if (filters[f])
				CHECK_EQ(t, LBR_09, !kept_out, recorded.entries[i],
					 "entries of %s, MSR_LBR_SELECT = %#lx",
					 transitions[i].name, select);
			else
				CONTROL_EQ(t, LBR_09, 1, recorded.entries[i],
					   "entries of %s, MSR_LBR_SELECT = %#lx",
					   transitions[i].name, select);
		}
	}
}

/*
 * ALBR-30  A branch or event from a CPL that IA32_LBR_CTL[2:1] keeps out to one that it lets in
 *          must be recorded with FFFFFFFFFFFFFFFFH as its FROM.
 *          SDM volume 3, architectural last branch records: FROM_IP of a CPL transition
 *
 * Given  UD2 and a load that raises #GP at CPL 3, whose handlers skip them, and an interrupt in a
 *        loop at CPL 3; of the kinds only far branches are selected
 * When   they are recorded with both of IA32_LBR_CTL[2:1], with [1], and with [2] alone
 * Then   with [1] (CPL 0) the exceptions and the interrupt are recorded, with [2] (CPL 3) the three
 *        returns to CPL 3; FROM of each, which is at the other level, is all ones
 * Control: with both bits each of the six is recorded, and its FROM isn't all ones
 */
TEST(lbr, transition_from_a_level_that_is_kept_out_is_recorded_with_from_all_ones, REQS(ALBR_30),
     NEEDS(need_perfmon, need_branches, need_arch_lbr_levels, need_arch_lbr_kinds))
{
	const u64 both = IA32_LBR_CTL_OS | IA32_LBR_CTL_USR;
	const u64 levels[] = { both, IA32_LBR_CTL_OS, IA32_LBR_CTL_USR };
	const u64 other = arch_lbr_only(IA32_LBR_CTL_OTHER_BRANCH) & ~both;

	for (unsigned l = 0; l < sizeof(levels) / sizeof(levels[0]); l++) {
		const u64 control = other | levels[l];
		struct recorded recorded;

		if (!record_transitions(t, control, 0, &recorded))
			return;
		for (unsigned i = 0; i < TRANSITIONS; i++) {
			const char *name = transitions[i].name;

			if (levels[l] == both) {
				CONTROL_EQ(t, ALBR_30, 1, recorded.entries[i],
					   "entries of %s, both levels let in", name);
				CONTROL(t, ALBR_30, recorded.from[i] != FROM_OTHER_LEVEL,
					"FROM of %s is an address, both levels let in", name);
			} else if (transitions[i].to_user == (levels[l] == IA32_LBR_CTL_USR)) {
				CHECK_EQ(t, ALBR_30, 1, recorded.entries[i],
					 "entries of %s, IA32_LBR_CTL = %#lx", name, control);
				CHECK_EQ(t, ALBR_30, FROM_OTHER_LEVEL, recorded.from[i],
					 "FROM of %s, IA32_LBR_CTL = %#lx", name, control);
			}
		}
	}
}
