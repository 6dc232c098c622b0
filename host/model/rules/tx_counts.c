/* SPDX-License-Identifier: MIT */
/* The rules that faults in the counts of transactions break: events, cycles, IN_TXCP, and overflows
 * on an abort. */
#include "host/model/rules/tx.h"

#define SOME	1000u	/* instructions in a long transaction */

static void count(struct fixture *r, const u32 *events, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fixture_program(r, i, events[i], 0, 0);
	fixture_start(r, BIT(n) - 1);
}

static bool all_causes_are_counted(struct fixture *r)
{
	static const u32 events[] = { EVENT_RTM_RETIRED_ABORTED, EVENT_RTM_RETIRED_ABORTED_MISC5 };
	static const enum tx_cause causes[] = { TX_EXCEPTION, TX_EVENT, TX_CONFLICT };

	count(r, events, 2);
	for (unsigned i = 0; i < 3; i++)
		rules_tx_abort(r, causes[i]);
	return PMC(0) == 3 && PMC(1) == 2;
}

/* IA32_PMC1 counts an event of aborts, when a load's record has aborted the transaction. */
static bool record_abort_is_one(struct fixture *r, u32 event)
{
	fixture_program_pebs(r, 0, LOADS, 0, 1);
	fixture_program(r, 1, event, 0, 0);
	fixture_start(r, BIT(0) | BIT(1));
	if (event == EVENT_RTM_RETIRED_ABORTED)
		rules_tx_begin(r, FALLBACK);
	else
		rules_tx_acquire(r, DATA);
	loads(r, 2);
	return PMC(1) == 1;
}

RULE(record_aborts_a_region, record_abort_is_one(r, EVENT_RTM_RETIRED_ABORTED))
RULE(record_aborts_a_lock, record_abort_is_one(r, EVENT_HLE_RETIRED_ABORTED))

/* Of CPL 3: one that ends well, and one that aborts. */
static bool user_locks_are_counted(struct fixture *r)
{
	static const u32 events[] = { EVENT_HLE_RETIRED_START, EVENT_HLE_RETIRED_COMMIT,
				      EVENT_HLE_RETIRED_ABORTED };

	count(r, events, 3);
	r->cpl = 3;
	rules_tx_acquire(r, DATA);
	rules_tx_release(r, DATA);
	fixture_nops(r, 1);
	rules_tx_acquire(r, DATA);
	model_tx_abort(&r->m, TX_INSTRUCTION, 0, r->ip, 3);
	return PMC(0) == 2 && PMC(1) == 1 && PMC(2) == 1;
}

/* Two elisions that too many stores end; the second is recorded on IA32_PMC3. */
static bool elisions_end_by_capacity(struct fixture *r)
{
	struct model_registers before = r->regs;

	fixture_program(r, 0, EVENT_TX_MEM_ABORT_CAPACITY_WRITE, 0, 0);
	fixture_program(r, 1, EVENT_RTM_RETIRED_ABORTED_MISC1, 0, 0);
	fixture_program_pebs(r, 3, EVENT_HLE_RETIRED_ABORTED, 0, 1);
	fixture_start(r, BITS(0, 3));
	for (unsigned i = 0; i < 2; i++) {
		before = r->regs;
		rules_tx_acquire(r, DATA);
		model_tx_abort(&r->m, TX_CAPACITY_WRITES, 0, r->ip, 0);
		fixture_poke(r, DATA, 0);
	}
	return PMC(0) == 2 && PMC(1) == 0 && fixture_records(r) == 1 &&
	       HIGH(TX_FIELD(0)) == (BIT(32) | BIT(35) | BIT(38)) &&
	       fixture_record(r, 0, 0x10) == before.gpr[REG_RAX] &&
	       fixture_record(r, 0, 0x20) == before.gpr[REG_RCX];
}

static void user_abort(struct fixture *r, enum tx_cause cause)
{
	r->cpl = 3;
	rules_tx_begin(r, FALLBACK);
	fixture_nops(r, SOME);
	model_tx_abort(&r->m, cause, 1, r->ip, 3);
}

static bool user_causes_are_counted(struct fixture *r)
{
	static const u32 events[] = { EVENT_RTM_RETIRED_ABORTED_MISC1,
				      EVENT_RTM_RETIRED_ABORTED_MISC3,
				      EVENT_RTM_RETIRED_ABORTED_MISC5,
				      EVENT_TX_MEM_ABORT_CAPACITY_WRITE };
	static const enum tx_cause causes[] = { TX_CAPACITY_WRITES, TX_INSTRUCTION, TX_EXCEPTION };

	count(r, events, 4);
	for (unsigned i = 0; i < 3; i++)
		user_abort(r, causes[i]);
	return PMC(0) == 1 && PMC(1) == 1 && PMC(2) == 1 && PMC(3) == 1;
}

static bool user_causes_of_memory_are_counted(struct fixture *r)
{
	static const u32 events[] = { EVENT_RTM_RETIRED_ABORTED_MISC4,
				      EVENT_TX_MEM_ABORT_CONFLICT };

	count(r, events, 2);
	user_abort(r, TX_MEMORY_TYPE);
	user_abort(r, TX_CONFLICT);
	return PMC(0) == 1 && PMC(1) == 1;
}

/* A counter with OS alone counts nothing of a transaction at CPL 3. */
static bool others_levels_are_not_counted(struct fixture *r)
{
	fixture_set(r, MSR_IA32_PERFEVTSEL0,
		    EVENT_RTM_RETIRED_ABORTED_MISC5 | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS);
	fixture_start(r, BIT(0));
	user_abort(r, TX_EXCEPTION);
	return PMC(0) == 0;
}

/* Is the record of the transaction with SOME instructions, which follows a short one? */
static bool is_long(struct fixture *r)
{
	return fixture_records(r) == 1 && (u32)TX_FIELD(0) >= SOME;
}

static bool locks_have_cycles(struct fixture *r)
{
	fixture_program_pebs(r, 1, EVENT_HLE_RETIRED_ABORTED, 0, 1);
	fixture_start(r, BIT(1));
	for (unsigned i = 0; i < 2; i++) {
		rules_tx_acquire(r, DATA);
		fixture_nops(r, i ? SOME : 1);
		model_tx_abort(&r->m, TX_INSTRUCTION, 0, r->ip, 0);
		fixture_poke(r, DATA, 0);
		fixture_nops(r, 1);
	}
	return is_long(r);
}

static bool a_loads_record_is_long(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 1);
	fixture_start(r, BIT(0));
	loads(r, 2);
	return is_long(r);
}

/* After a short transaction, a record after XRELEASE. */
static bool released_locks_have_cycles(struct fixture *r)
{
	rules_tx_begin(r, FALLBACK);
	rules_tx_end(r);
	rules_tx_acquire(r, DATA);
	fixture_nops(r, SOME);
	rules_tx_release(r, DATA);
	return a_loads_record_is_long(r);
}

/* After a short transaction, a record after the XEND of one with another in it. */
static bool nested_ones_have_cycles(struct fixture *r)
{
	rules_tx_begin(r, FALLBACK);
	rules_tx_end(r);
	rules_tx_begin(r, FALLBACK);
	rules_tx_begin(r, FALLBACK);
	fixture_nops(r, SOME);
	rules_tx_end(r);
	rules_tx_end(r);
	return a_loads_record_is_long(r);
}

static bool has_cycles(struct fixture *r, enum tx_cause cause)
{
	fixture_program_pebs(r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 1);
	fixture_start(r, BIT(1));
	rules_tx_abort(r, TX_EXPLICIT);
	rules_tx_begin(r, FALLBACK);
	fixture_nops(r, SOME);
	model_tx_abort(&r->m, cause, 0, r->ip, 0);
	return is_long(r);
}

RULE(aborts_by_conflicts_have_cycles, has_cycles(r, TX_CONFLICT))
RULE(aborts_by_capacity_have_cycles, has_cycles(r, TX_CAPACITY_WRITES))
RULE(aborts_by_reads_have_cycles, has_cycles(r, TX_CAPACITY_READS))
RULE(aborts_by_exceptions_have_cycles, has_cycles(r, TX_EXCEPTION))

static bool aborts_by_records_have_cycles(struct fixture *r)
{
	rules_tx_begin(r, FALLBACK);
	fixture_nops(r, SOME);
	return a_loads_record_is_long(r);
}

static bool locks_that_records_abort_have_cycles(struct fixture *r)
{
	rules_tx_acquire(r, DATA);
	fixture_nops(r, SOME);
	return a_loads_record_is_long(r);
}

/* IA32_PMC2 with IN_TX and IN_TXCP keeps less than half of the count of a transaction at CPL 3. */
static bool takes_back_with(struct fixture *r, u64 bits)
{
	fixture_program(r, 2, INST, IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP | bits, 0);
	fixture_start(r, BIT(2));
	user_abort(r, TX_EXPLICIT);
	return PMC(2) < SOME / 2;
}

RULE(takes_back_at_cpl_3, takes_back_with(r, 0))
RULE(takes_back_clocks, takes_back_with(r, 1ULL << IA32_PERFEVTSEL_CMASK_SHIFT))
RULE(takes_back_clocks_without,
     takes_back_with(r, 255ULL << IA32_PERFEVTSEL_CMASK_SHIFT | IA32_PERFEVTSEL_INV))

/* Loads, each after an instruction without a load, so that the condition begins again. */
static bool takes_back_begins(struct fixture *r)
{
	fixture_program(r, 2, LOADS,
			IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP | IA32_PERFEVTSEL_E |
				1ULL << IA32_PERFEVTSEL_CMASK_SHIFT,
			0);
	fixture_start(r, BIT(2));
	rules_tx_begin(r, FALLBACK);
	for (unsigned i = 0; i < 10; i++) {
		loads(r, 1);
		fixture_nops(r, 1);
	}
	model_tx_abort(&r->m, TX_EXPLICIT, 1, r->ip, 0);
	return PMC(2) == 0;
}

/* Two aborts, with INT: the second overflows. */
static bool an_abort_interrupts(struct fixture *r)
{
	fixture_program(r, 0, EVENT_RTM_RETIRED_ABORTED, BIT(20), 2);
	fixture_start(r, BIT(0));
	rules_tx_abort(r, TX_EXPLICIT);
	rules_tx_abort(r, TX_EXPLICIT);
	return fixture_get(r, MSR_IA32_PERF_GLOBAL_STATUS) == BIT(0) && r->n_interrupts == 1;
}

/* A record of an abort reaches the threshold. */
static bool a_record_of_an_abort_is_complete(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	fixture_program_pebs(r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 1);
	fixture_set_reset(r, 1, MINUS(1000));
	fixture_start(r, BIT(1));
	rules_tx_abort(r, TX_EXPLICIT);
	rules_tx_abort(r, TX_EXPLICIT);
	return fixture_records(r) == 1 && PMC(1) == MINUS(1000) &&
	       fixture_get(r, MSR_IA32_PERF_GLOBAL_STATUS) == BIT(62);
}

/* The second abort is recorded: of the inner one of two transactions, or of one. */
static bool tells(struct fixture *r, bool nested, enum tx_cause cause, u64 bits)
{
	fixture_program_pebs(r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 1);
	fixture_start(r, BIT(1));
	rules_tx_abort(r, TX_EXPLICIT);
	rules_tx_begin(r, FALLBACK);
	if (nested)
		rules_tx_begin(r, FALLBACK);
	model_tx_abort(&r->m, cause, 0, r->ip, 0);
	return fixture_records(r) == 1 && HIGH(TX_FIELD(0)) == (BIT(33) | bits);
}

RULE(a_nested_abort_tells_its_cause, tells(r, true, TX_CAPACITY_WRITES, BIT(35) | BIT(38)))
RULE(an_exception_is_not_for_retry, tells(r, false, TX_EXCEPTION, BIT(34)))

#define MANY	70000u	/* more than 16 bits hold */

static bool cycles_have_32_bits(struct fixture *r)
{
	fixture_program_pebs(r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 1);
	fixture_start(r, BIT(1));
	rules_tx_abort(r, TX_EXPLICIT);
	rules_tx_begin(r, FALLBACK);
	fixture_nops(r, MANY);
	model_tx_abort(&r->m, TX_EXPLICIT, 0, r->ip, 0);
	return fixture_records(r) == 1 && (u32)TX_FIELD(0) >= MANY;
}

/* A lock with SOME instructions, then a lock in it with some loads, which ends by PAUSE. */
static void two_locks(struct fixture *r)
{
	rules_tx_acquire(r, DATA);
	fixture_nops(r, SOME);
	rules_tx_acquire(r, DATA + 64);
	loads(r, 10);
	model_tx_abort(&r->m, TX_INSTRUCTION, 0, r->ip, 0);
}

static bool loads_of_an_inner_lock_are_in(struct fixture *r)
{
	fixture_program(r, 1, LOADS, IA32_PERFEVTSEL_IN_TX, 0);
	fixture_start(r, BIT(1));
	two_locks(r);
	return PMC(1) >= 10;
}

static bool an_inner_lock_keeps_nothing(struct fixture *r)
{
	fixture_program(r, 2, INST, IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP, 0);
	fixture_start(r, BIT(2));
	two_locks(r);
	return PMC(2) < SOME;
}

/* An interrupt ends an elision: IA32_PMC0 counts that, IA32_PMC2 keeps nothing of it. */
static void interrupted_lock(struct fixture *r)
{
	fixture_program(r, 0, EVENT_HLE_RETIRED_ABORTED, 0, 0);
	fixture_program(r, 2, INST, IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP, 0);
	fixture_start(r, BIT(0) | BIT(2));
	rules_tx_acquire(r, DATA);
	fixture_nops(r, SOME);
	model_tx_abort(&r->m, TX_EVENT, 0, r->ip, 0);
}

static bool an_interrupted_lock_is_counted(struct fixture *r)
{
	interrupted_lock(r);
	return PMC(0) == 1;
}

static bool an_interrupted_lock_keeps_nothing(struct fixture *r)
{
	interrupted_lock(r);
	return PMC(2) < SOME;
}

/* On a counter that is enabled for PEBS. */
static bool sampled_loads_of_a_lock_are_in(struct fixture *r)
{
	fixture_program_pebs(r, 2, LOADS, IA32_PERFEVTSEL_IN_TX, SOME);
	fixture_start(r, BIT(2));
	rules_tx_acquire(r, DATA);
	loads(r, 10);
	rules_tx_release(r, DATA);
	return PMC(2) == MINUS(SOME - 10);
}

/* With INT: its record ends the transaction. */
static bool an_aborting_record_interrupts(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, INT, 1);
	fixture_set_reset(r, 0, MINUS(SOME));
	fixture_start(r, BIT(0));
	rules_tx_begin(r, FALLBACK);
	loads(r, 2);
	return fixture_records(r) == 1 && !model_in_tx(&r->m) && r->n_interrupts == 1;
}

/* Two elisions that a conflict ends; the second is recorded on IA32_PMC3. */
static bool elisions_end_by_a_conflict(struct fixture *r)
{
	fixture_program(r, 0, EVENT_TX_MEM_ABORT_CONFLICT, 0, 0);
	fixture_program_pebs(r, 3, EVENT_HLE_RETIRED_ABORTED, 0, 1);
	fixture_start(r, BIT(0) | BIT(3));
	for (unsigned i = 0; i < 2; i++) {
		rules_tx_acquire(r, DATA);
		model_tx_abort(&r->m, TX_CONFLICT, 0, r->ip, 0);
		fixture_poke(r, DATA, 0);
		fixture_nops(r, 1);
	}
	return PMC(0) == 2 && fixture_records(r) == 1 && TX_FIELD(0) & BIT(37);
}

static bool an_overflow_in_a_lock_interrupts(struct fixture *r)
{
	fixture_program(r, 0, INST, BIT(20), 5);
	fixture_start(r, BIT(0));
	rules_tx_acquire(r, DATA);
	fixture_nops(r, 8);
	model_tx_abort(&r->m, TX_INSTRUCTION, 0, r->ip, 0);
	fixture_nops(r, 8);
	return r->n_interrupts == 1;
}

rule *const tx_counts_rules[FAULT_COUNT] = {
	[FAULT_TX_EXCEPTIONS_UNCOUNTED] = all_causes_are_counted,
	[FAULT_TX_INTERRUPT_UNCOUNTED] = all_causes_are_counted,
	[FAULT_TX_OTHERS_UNCOUNTED] = all_causes_are_counted,
	[FAULT_TX_ALL_AS_OTHERS] = all_causes_are_counted,
	[FAULT_TX_EVENTS_NOT_AS_OTHERS] = all_causes_are_counted,
	[FAULT_TX_RECORD_UNCOUNTED] = record_aborts_a_region,
	[FAULT_HLE_RECORD_UNCOUNTED] = record_aborts_a_lock,
	[FAULT_HLE_STARTS_USER] = user_locks_are_counted,
	[FAULT_HLE_COMMITS_USER] = user_locks_are_counted,
	[FAULT_HLE_ABORTS_USER] = user_locks_are_counted,
	[FAULT_HLE_RECORD_STATUS] = elisions_end_by_capacity,
	[FAULT_HLE_RECORD_NO_REGISTERS] = elisions_end_by_capacity,
	[FAULT_HLE_INFORMATION_BY_INSTRUCTIONS] = elisions_end_by_capacity,
	[FAULT_HLE_MEMORY_UNCOUNTED] = elisions_end_by_capacity,
	[FAULT_HLE_COUNTS_BY_CAUSE] = elisions_end_by_capacity,
	[FAULT_TX_CAUSES_USER] = user_causes_are_counted,
	[FAULT_TX_TYPE_USER] = user_causes_of_memory_are_counted,
	[FAULT_TX_CONFLICT_USER] = user_causes_of_memory_are_counted,
	[FAULT_TX_ANY_LEVEL] = others_levels_are_not_counted,
	[FAULT_TX_CYCLES_NOT_OF_LOCKS] = locks_have_cycles,
	[FAULT_TX_CYCLES_NOT_OF_RELEASED] = released_locks_have_cycles,
	[FAULT_TX_CYCLES_NOT_OF_RECORDS] = aborts_by_records_have_cycles,
	[FAULT_TX_CYCLES_NOT_OF_CAPACITY] = aborts_by_capacity_have_cycles,
	[FAULT_TX_CYCLES_NOT_OF_CONFLICTS] = aborts_by_conflicts_have_cycles,
	[FAULT_TX_CYCLES_NOT_OF_NESTED] = nested_ones_have_cycles,
	[FAULT_TX_CYCLES_NOT_OF_READS] = aborts_by_reads_have_cycles,
	[FAULT_TX_CYCLES_NOT_OF_EXCEPTIONS] = aborts_by_exceptions_have_cycles,
	[FAULT_HLE_CYCLES_NOT_OF_RECORDS] = locks_that_records_abort_have_cycles,
	[FAULT_TX_CHECKPOINT_USER] = takes_back_at_cpl_3,
	[FAULT_TX_CHECKPOINT_CMASK] = takes_back_clocks,
	[FAULT_TX_CHECKPOINT_INV] = takes_back_clocks_without,
	[FAULT_TX_CHECKPOINT_EDGE] = takes_back_begins,
	[FAULT_TX_NESTED_CAUSE_LOST] = a_nested_abort_tells_its_cause,
	[FAULT_TX_EXCEPTION_RETRY] = an_exception_is_not_for_retry,
	[FAULT_TX_CYCLES_16] = cycles_have_32_bits,
	[FAULT_HLE_FILTER_INNER] = loads_of_an_inner_lock_are_in,
	[FAULT_HLE_CHECKPOINT_INNER] = an_inner_lock_keeps_nothing,
	[FAULT_HLE_CONFLICT_HIDDEN] = elisions_end_by_a_conflict,
	[FAULT_HLE_CONFLICT_UNCOUNTED] = elisions_end_by_a_conflict,
	[FAULT_HLE_INTERRUPT_UNCOUNTED] = an_interrupted_lock_is_counted,
	[FAULT_HLE_CHECKPOINT_NO_EVENT] = an_interrupted_lock_keeps_nothing,
	[FAULT_HLE_FILTER_NO_RECORDS] = sampled_loads_of_a_lock_are_in,
	[FAULT_TX_RECORD_INT_LOST] = an_aborting_record_interrupts,
	[FAULT_HLE_PMI_LOST] = an_overflow_in_a_lock_interrupts,
	[FAULT_TX_ABORT_PMI_LOST] = an_abort_interrupts,
	[FAULT_TX_ABORT_NO_RELOAD] = a_record_of_an_abort_is_complete,
	[FAULT_TX_ABORT_KEEPS_STATUS] = a_record_of_an_abort_is_complete,
	[FAULT_TX_ABORT_NO_THRESHOLD] = a_record_of_an_abort_is_complete,
};
