/* SPDX-License-Identifier: MIT */
/* The rules that faults of transactions break. */
#include "host/model/rules/tx.h"

#define INNER		0x700000ULL

void rules_tx_begin(struct fixture *r, u64 fallback)
{
	struct model_registers before = r->regs;
	bool outermost = !model_in_tx(&r->m);

	fixture_retire(r, &(struct model_retired){ .tx = outermost ? TX_STARTS : TX_STARTS_INNER });
	model_tx_begin(&r->m, &before, fallback);
}

void rules_tx_end(struct fixture *r)
{
	fixture_retire(r, &(struct model_retired){
				  .tx = model_tx_outermost(&r->m) ? TX_COMMITS : TX_COMMITS_INNER,
			  });
	model_tx_end(&r->m);
}

static void store(struct fixture *r, u64 value)
{
	model_tx_access(&r->m, DATA, 8, true);
	fixture_poke(r, DATA, value);
	fixture_store(r, DATA);
}

u64 rules_tx_abort(struct fixture *r, enum tx_cause cause)
{
	u64 ip;

	rules_tx_begin(r, FALLBACK);
	store(r, 7);
	fixture_nops(r, 2);
	ip = r->ip;
	model_tx_abort(&r->m, cause, 1, ip, 0);
	return ip;
}

/* One abort is counted, and the next recorded. */
static void record_abort(struct fixture *r, enum tx_cause first, enum tx_cause recorded)
{
	fixture_program_pebs(r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 1);
	fixture_start(r, BIT(1));
	rules_tx_abort(r, first);
	rules_tx_abort(r, recorded);
}

/* Format 4: TSX_ABORT and IN_TX are bits 61 and 62 of FROM. */
static bool an_abort_is_a_branch(struct fixture *r)
{
	u64 ip;

	fixture_set(r, 0x1d9, BIT(0));
	ip = rules_tx_abort(r, TX_EXPLICIT);
	return fixture_get(r, 0x681) == (ip | BIT(61) | BIT(62)) &&
	       fixture_get(r, 0x6c1) == FALLBACK;
}

static u64 lbr_from(struct fixture *r, unsigned i)
{
	return fixture_get(r, 0x680 + i);
}

static bool an_abort_by_a_record_is_a_branch(struct fixture *r)
{
	fixture_set(r, 0x1d9, BIT(0));
	fixture_program_pebs(r, 0, LOADS, 0, 1);
	fixture_start(r, BIT(0));
	rules_tx_begin(r, FALLBACK);
	fixture_load(r, DATA);
	fixture_load(r, DATA);
	return !model_in_tx(&r->m) && lbr_from(r, 1) & BIT(61) && fixture_get(r, 0x6c1) == FALLBACK;
}

static bool an_abort_by_an_exception_is_a_branch(struct fixture *r)
{
	fixture_set(r, 0x1d9, BIT(0));
	rules_tx_abort(r, TX_EXCEPTION);
	return lbr_from(r, 1) & BIT(61);
}

/* At CPL 3, and not at CPL 0: with MSR_LBR_SELECT = 1, then 2. */
static bool an_abort_of_cpl_3_is_a_branch(struct fixture *r)
{
	fixture_set(r, 0x1d9, BIT(0));
	for (unsigned select = 1; select <= 2; select++) {
		fixture_set(r, 0x1c8, select);
		rules_tx_begin(r, FALLBACK);
		model_tx_abort(&r->m, TX_EXPLICIT, 1, r->ip, 3);
		if (fixture_get(r, 0x1c9) != 1)
			return false;
	}
	return (lbr_from(r, 1) & BITS(61, 62)) == BITS(61, 62);
}

static bool an_abort_by_memory_is_a_branch(struct fixture *r)
{
	fixture_set(r, 0x1d9, BIT(0));
	rules_tx_abort(r, TX_CONFLICT);
	rules_tx_abort(r, TX_CAPACITY_WRITES);
	return fixture_get(r, 0x1c9) == 2;
}

static void a_branch(struct fixture *r, enum model_branch branch, u8 cpl)
{
	fixture_retire(r, &(struct model_retired){
		.branch = branch, .taken = true, .cpl_after = cpl,
			  });
}

/* At CPL 3: in a transaction, in a nested one, and after that. */
static bool branches_inside_are_marked(struct fixture *r)
{
	fixture_set(r, 0x1d9, BIT(0));
	rules_tx_begin(r, FALLBACK);
	a_branch(r, BRANCH_JUMP, 3);
	rules_tx_begin(r, INNER);
	a_branch(r, BRANCH_JUMP, 0);
	rules_tx_end(r);
	a_branch(r, BRANCH_CALL, 0);
	return lbr_from(r, 1) & lbr_from(r, 2) & lbr_from(r, 3) & BIT(62);
}

static bool capacity_is_recorded(struct fixture *r)
{
	record_abort(r, TX_EXPLICIT, TX_CAPACITY_WRITES);
	return fixture_records(r) == 1 && HIGH(TX_FIELD(0)) == (BIT(33) | BIT(35) | BIT(38));
}

static bool goes_to_the_outermost(struct fixture *r)
{
	fixture_program_pebs(r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 1);
	fixture_start(r, BIT(1));
	rules_tx_abort(r, TX_EXPLICIT);
	rules_tx_begin(r, FALLBACK);
	rules_tx_begin(r, INNER);
	model_tx_abort(&r->m, TX_EXPLICIT, 1, r->ip, 0);
	return fixture_records(r) == 1 && fixture_record(r, 0, 0x08) == FALLBACK;
}

/* Instructions in counter n of an aborted transaction, with 20 others before. */
static u64 counted(struct fixture *r, unsigned n, u64 bit)
{
	fixture_program(r, n, EVENT_INST_RETIRED_ANY_P, bit, 0);
	fixture_start(r, BIT(n));
	fixture_nops(r, 20);
	rules_tx_abort(r, TX_EXPLICIT);
	return PMC(n);
}

RULE(in_txcp_takes_back, counted(r, 2, IA32_PERFEVTSEL_IN_TXCP) == 21)

static bool in_txcp_takes_cycles_back(struct fixture *r)
{
	fixture_program(r, 2, EVENT_UNHALTED_CORE_CYCLES,
			IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP, 0);
	fixture_start(r, BIT(2));
	rules_tx_abort(r, TX_EXPLICIT);
	return !PMC(2);
}

/* Of CPL 3: one that commits, and one that aborts. */
static bool user_transactions_are_counted(struct fixture *r)
{
	fixture_program(r, 0, EVENT_RTM_RETIRED_COMMIT, 0, 0);
	fixture_program(r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 0);
	fixture_start(r, BIT(0) | BIT(1));
	r->cpl = 3;
	rules_tx_begin(r, FALLBACK);
	rules_tx_end(r);
	rules_tx_begin(r, FALLBACK);
	model_tx_abort(&r->m, TX_EXPLICIT, 1, r->ip, 3);
	r->cpl = 0;
	return PMC(0) == 1 && PMC(1) == 1;
}

/* Bits 31:0 at B8H include the cycles before a nested XBEGIN. */
static bool cycles_begin_with_the_outermost(struct fixture *r)
{
	fixture_program_pebs(r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 1);
	fixture_start(r, BIT(1));
	rules_tx_abort(r, TX_EXPLICIT);
	rules_tx_begin(r, FALLBACK);
	fixture_nops(r, 50);
	rules_tx_begin(r, FALLBACK);
	model_tx_abort(&r->m, TX_EXPLICIT, 1, r->ip, 0);
	return fixture_records(r) == 1 && (u32)fixture_record(r, 0, 0xb8) > 10;
}

/* The cycles of a short transaction after a long one that has committed or aborted. */
static bool cycles_begin_anew(struct fixture *r, bool commits)
{
	fixture_program_pebs(r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 1);
	fixture_start(r, BIT(1));
	rules_tx_abort(r, TX_EXPLICIT);
	rules_tx_begin(r, FALLBACK);
	fixture_nops(r, 1000);
	if (commits) {
		rules_tx_end(r);
	} else {
		model_tx_abort(&r->m, TX_EXPLICIT, 1, r->ip, 0);
		rules_tx_abort(r, TX_EXPLICIT);
	}
	rules_tx_abort(r, TX_EXPLICIT);
	return fixture_records(r) == (commits ? 1 : 2) &&
	       (u32)fixture_record(r, commits ? 0 : 1, 0xb8) < 100;
}

RULE(cycles_begin_anew_after_a_commit, cycles_begin_anew(r, true))
RULE(cycles_begin_anew_after_an_abort, cycles_begin_anew(r, false))

/* RSP is at 48H, RFLAGS at 00H: CF, SF and the bit that is always 1. */
static bool an_abort_has_its_registers(struct fixture *r)
{
	const struct model_registers before = { .rflags = 0x83, .gpr[4] = 0x123450 };

	fixture_program_pebs(r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 1);
	fixture_start(r, BIT(1));
	rules_tx_abort(r, TX_EXPLICIT);
	model_tx_begin(&r->m, &before, FALLBACK);
	model_tx_abort(&r->m, TX_EXPLICIT, 1, r->ip, 0);
	return fixture_records(r) == 1 && fixture_record(r, 0, 0) == 0x83 &&
	       fixture_record(r, 0, 0x48) == 0x123450;
}

/* Ten instructions outside of any transaction, at CPL 3. */
static u64 outside(struct fixture *r, u32 event, u64 bits)
{
	r->cpl = 3;
	fixture_program(r, 2, event, IA32_PERFEVTSEL_IN_TX | bits, 0);
	fixture_start(r, BIT(2));
	fixture_nops(r, 10);
	loads(r, 10);
	return PMC(2);
}

RULE(no_instruction_is_in, outside(r, INST, 0) == 0)
RULE(no_cycle_is_in, outside(r, EVENT_UNHALTED_CORE_CYCLES, 0) == 0)
RULE(no_clock_of_loads_is_in, outside(r, LOADS, 1ULL << IA32_PERFEVTSEL_CMASK_SHIFT) == 0)
RULE(no_load_is_in, outside(r, LOADS, 0) == 0)

/* The counter begins at 2^32 - 2, and counts a transaction's instructions. */
static bool in_txcp_takes_a_carry_back(struct fixture *r)
{
	fixture_program(r, 2, INST, IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP, 0);
	r->m.counter[2].value = BIT(32) - 2;
	fixture_start(r, BIT(2));
	rules_tx_abort(r, TX_EXPLICIT);
	return PMC(2) == BIT(32) - 2;
}

/* Records of aborts, two for each cause. */
static bool bits_are_exact(struct fixture *r)
{
	static const struct {
		enum tx_cause cause;
		u64 high;
	} told[] = {
		{ TX_EXPLICIT, BIT(33) | BIT(34) },
		{ TX_EVENT, BIT(33) | BIT(35) | BIT(36) },
		{ TX_CONFLICT, BIT(33) | BIT(35) | BIT(36) | BIT(37) },
		{ TX_CAPACITY_WRITES, BIT(33) | BIT(35) | BIT(38) },
		{ TX_CAPACITY_READS, BIT(33) | BIT(35) | BIT(39) },
	};

	fixture_program_pebs(r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 1);
	fixture_start(r, BIT(1));
	for (unsigned i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		u64 ip;

		rules_tx_abort(r, told[i].cause);
		ip = rules_tx_abort(r, told[i].cause);
		if (fixture_records(r) != i + 1 || HIGH(TX_FIELD(i)) != told[i].high ||
		    (told[i].cause == TX_EXPLICIT && fixture_record(r, i, 0xb0) != ip))
			return false;
	}
	return true;
}

static bool both_filters_hold(struct fixture *r)
{
	const u64 both = IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP;

	if (counted(r, 2, both))
		return false;
	rules_tx_begin(r, FALLBACK);
	fixture_nops(r, 4);
	rules_tx_end(r);
	return PMC(2) == 5;
}

/* IN_TXCP removes the counts of a transaction that this cause aborts. */
static bool takes_back(struct fixture *r, enum tx_cause cause)
{
	fixture_program(r, 2, EVENT_INST_RETIRED_ANY_P, IA32_PERFEVTSEL_IN_TXCP, 0);
	fixture_start(r, BIT(2));
	rules_tx_abort(r, cause);
	return PMC(2) == 1;
}

RULE(event_takes_back, takes_back(r, TX_EVENT))
RULE(exception_takes_back, takes_back(r, TX_EXCEPTION))

/* Ten loads in each of three nested transactions. */
static bool nested_loads_are_in(struct fixture *r)
{
	fixture_program(r, 1, LOADS, IA32_PERFEVTSEL_IN_TX, 0);
	fixture_start(r, BIT(1));
	for (unsigned i = 0; i < 3; i++) {
		rules_tx_begin(r, FALLBACK);
		loads(r, 10);
	}
	for (unsigned i = 0; i < 3; i++)
		rules_tx_end(r);
	return PMC(1) == 30;
}

/* ---- elided locks ---- */

void rules_tx_acquire(struct fixture *r, u64 lock)
{
	if (!model_in_tx(&r->m) && !model_tx_declines(&r->m, r->ip)) {
		r->regs.rip = r->ip;
		model_tx_elide(&r->m, &r->regs, r->ip, r->ip + 4);
	}
	if (model_in_tx(&r->m)) {
		model_tx_access(&r->m, lock, 8, true);
		model_tx_acquire(&r->m, lock, 8, r->ip, r->ip + 4);
	}
	fixture_poke(r, lock, 1);
	fixture_store(r, lock);
}

void rules_tx_release(struct fixture *r, u64 lock)
{
	model_tx_access(&r->m, lock, 8, true);
	model_tx_release(&r->m, lock, 8);
	fixture_poke(r, lock, 0);
	fixture_store(r, lock);
}

/* An elision that ends well, and one that aborts in its inner lock. *at: the address of the abort;
 * *after: 4 bytes after its first lock. */
static void elide(struct fixture *r, u64 *at, u64 *after)
{
	rules_tx_acquire(r, DATA);
	rules_tx_release(r, DATA);
	fixture_nops(r, 1);
	*after = r->ip + 4;
	rules_tx_acquire(r, DATA);
	rules_tx_acquire(r, DATA + 64);
	*at = r->ip;
	model_tx_abort(&r->m, TX_INSTRUCTION, 0, r->ip, 0);
	fixture_poke(r, DATA, 0);
}

static bool elisions_are_counted(struct fixture *r)
{
	static const u32 events[4] = {
		EVENT_HLE_RETIRED_START, EVENT_HLE_RETIRED_COMMIT, EVENT_HLE_RETIRED_ABORTED,
		EVENT_RTM_RETIRED_ABORTED,
	};
	u64 at, after;

	for (unsigned i = 0; i < 4; i++)
		fixture_program(r, i, events[i], 0, 0);
	fixture_start(r, BITS(0, 3));
	elide(r, &at, &after);
	return PMC(0) == 2 && PMC(1) == 1 && PMC(2) == 1 && PMC(3) == 0;
}

static bool elisions_are_recorded(struct fixture *r)
{
	u64 at, after;

	fixture_program_pebs(r, 1, EVENT_HLE_RETIRED_ABORTED, 0, 1);
	fixture_start(r, BIT(1));
	elide(r, &at, &after);
	elide(r, &at, &after);
	return fixture_records(r) == 1 && fixture_record(r, 0, 0x08) == after &&
	       fixture_record(r, 0, 0xb0) == at && HIGH(TX_FIELD(0)) == (BIT(32) | BIT(34));
}

static bool an_elision_is_a_branch(struct fixture *r)
{
	u64 at, after;

	r->ip |= BITS(47, 63);
	fixture_set(r, 0x1d9, BIT(0));
	elide(r, &at, &after);
	return fixture_get(r, 0x6c1) == after;
}

static bool elisions_are_filtered(struct fixture *r)
{
	u64 at, after;

	fixture_program(r, 0, EVENT_MEM_UOPS_RETIRED_ALL_STORES, IA32_PERFEVTSEL_IN_TX, 0);
	fixture_program(r, 2, EVENT_MEM_UOPS_RETIRED_ALL_STORES, IA32_PERFEVTSEL_IN_TXCP, 0);
	fixture_start(r, BIT(0) | BIT(2));
	elide(r, &at, &after);
	return PMC(0) == 4 && PMC(2) == 2;
}

static bool nested_abort_is_one(struct fixture *r)
{
	fixture_program(r, 0, EVENT_RTM_RETIRED_ABORTED, 0, 0);
	fixture_start(r, BIT(0));
	rules_tx_begin(r, FALLBACK);
	rules_tx_begin(r, INNER);
	model_tx_abort(&r->m, TX_EXPLICIT, 1, r->ip, 0);
	return PMC(0) == 1;
}

/* Instructions that IA32_PMC2 with IN_TXCP keeps of a nested transaction; ends: it ends by XEND. */
static u64 kept_of_nested(struct fixture *r, bool ends)
{
	u64 before;

	fixture_program(r, 2, EVENT_INST_RETIRED_ANY_P, IA32_PERFEVTSEL_IN_TXCP, 0);
	fixture_start(r, BIT(2));
	rules_tx_begin(r, FALLBACK);
	before = PMC(2);
	fixture_nops(r, 3);
	rules_tx_begin(r, INNER);
	fixture_nops(r, 3);
	if (ends)
		rules_tx_end(r);
	model_tx_abort(&r->m, TX_EXPLICIT, 1, r->ip, 0);
	return PMC(2) - before;
}

RULE(inner_begin_keeps_nothing, kept_of_nested(r, false) == 0)
RULE(inner_end_keeps_nothing, kept_of_nested(r, true) == 0)

/* Loads with elided locks at a CPL: a record ends the elision. */
static bool record_ends_elision_of(struct fixture *r, unsigned locks, u8 cpl)
{
	fixture_program_pebs(r, 0, LOADS, 0, 1);
	fixture_start(r, BIT(0));
	r->cpl = cpl;
	for (unsigned i = 0; i < locks; i++)
		rules_tx_acquire(r, DATA + 64 * i);
	fixture_load(r, DATA);
	fixture_load(r, DATA);
	r->cpl = 0;
	return !model_in_tx(&r->m) && fixture_records(r) == 1;
}

RULE(record_ends_elision, record_ends_elision_of(r, 1, 0))
RULE(record_ends_nested_elision, record_ends_elision_of(r, 2, 0))
RULE(record_ends_elision_of_cpl_3, record_ends_elision_of(r, 1, 3))

/* The counter's record of an instruction in a transaction ends it; the instructions are jumps. */
static bool a_record_aborts(struct fixture *r, unsigned counter, u32 event)
{
	fixture_program_pebs(r, counter, event, 0, 2);
	fixture_start(r, BIT(counter));
	rules_tx_begin(r, FALLBACK);
	for (unsigned i = 0; i < 200 && !fixture_records(r); i++)
		a_branch(r, BRANCH_JUMP, 0);
	return !model_in_tx(&r->m) && fixture_records(r) == 1;
}

RULE(a_record_of_a_branch_aborts, a_record_aborts(r, 2, EVENT_BR_INST_RETIRED_ALL_BRANCHES_PEBS))
RULE(a_record_of_pdir_aborts, a_record_aborts(r, 1, EVENT_INST_RETIRED_PREC_DIST))

static bool a_nested_record_aborts(struct fixture *r)
{
	fixture_program_pebs(r, 0, EVENT_MEM_UOPS_RETIRED_ALL_LOADS, 0, 1);
	fixture_start(r, BIT(0));
	rules_tx_begin(r, FALLBACK);
	rules_tx_begin(r, INNER);
	fixture_load(r, DATA);
	fixture_load(r, DATA);
	return !model_in_tx(&r->m) && fixture_records(r) == 1;
}

static bool locks_start_no_transaction(struct fixture *r)
{
	u64 at, after;

	fixture_program(r, 0, EVENT_RTM_RETIRED_START, 0, 0);
	fixture_start(r, BIT(0));
	elide(r, &at, &after);
	return fixture_get(r, MSR_IA32_PMC0) == 0;
}

static bool conflicts_are_counted(struct fixture *r)
{
	static const u32 events[] = { EVENT_RTM_RETIRED_ABORTED, EVENT_RTM_RETIRED_ABORTED_MISC1,
				      EVENT_TX_MEM_ABORT_CONFLICT };

	for (unsigned i = 0; i < 3; i++)
		fixture_program(r, i, events[i], 0, 0);
	fixture_start(r, BITS(0, 2));
	rules_tx_abort(r, TX_CONFLICT);
	return PMC(0) == 1 && PMC(1) == 1 && PMC(2) == 1;
}

static bool nested_ones_are_counted_once(struct fixture *r)
{
	fixture_program(r, 0, EVENT_RTM_RETIRED_START, 0, 0);
	fixture_program(r, 1, EVENT_RTM_RETIRED_COMMIT, 0, 0);
	fixture_start(r, BIT(0) | BIT(1));
	rules_tx_begin(r, FALLBACK);
	rules_tx_begin(r, INNER);
	rules_tx_end(r);
	rules_tx_end(r);
	return PMC(0) == 1 && PMC(1) == 1;
}

static bool nested_elisions_are_counted_once(struct fixture *r)
{
	u64 at, after;

	fixture_program(r, 0, EVENT_HLE_RETIRED_START, 0, 0);
	fixture_program(r, 1, EVENT_HLE_RETIRED_COMMIT, 0, 0);
	fixture_program(r, 2, EVENT_HLE_RETIRED_ABORTED, 0, 0);
	fixture_start(r, BITS(0, 2));
	rules_tx_acquire(r, DATA);
	rules_tx_acquire(r, DATA + 64);
	rules_tx_release(r, DATA + 64);
	rules_tx_release(r, DATA);
	elide(r, &at, &after);
	return PMC(0) == 3 && PMC(1) == 2 && PMC(2) == 1;
}

/* IA32_PMC2 with IN_TXCP begins at a value with upper bits set, which must be kept. */
static bool takes_back_of(struct fixture *r, enum tx_cause cause)
{
	const u64 start = BITS(20, 47);

	fixture_program(r, 2, INST, IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP, 0);
	r->m.counter[2].value = start;
	fixture_start(r, BIT(2));
	rules_tx_abort(r, cause);
	return PMC(2) == start;
}

RULE(takes_back_of_conflicts, takes_back_of(r, TX_CONFLICT))
RULE(takes_back_of_reads, takes_back_of(r, TX_CAPACITY_READS))
RULE(takes_back_of_interrupts, takes_back_of(r, TX_EVENT))
RULE(no_clock_without_loads_is_in,
     outside(r, LOADS, 255ULL << IA32_PERFEVTSEL_CMASK_SHIFT | IA32_PERFEVTSEL_INV) == 0)
RULE(no_edge_is_in, outside(r, LOADS, IA32_PERFEVTSEL_E) == 0)

static bool clocks_inside_are_counted(struct fixture *r)
{
	fixture_program(r, 2, INST, IA32_PERFEVTSEL_IN_TX | 1ULL << IA32_PERFEVTSEL_CMASK_SHIFT, 0);
	fixture_start(r, BIT(2));
	rules_tx_abort(r, TX_EXPLICIT);
	return PMC(2) > 0;
}

/* Aborts at CPL 3, on IA32_PMC2: one is counted, the next recorded. */
static bool an_abort_of_cpl_3_is_told(struct fixture *r)
{
	u64 ip = 0;

	fixture_program_pebs(r, 2, EVENT_RTM_RETIRED_ABORTED, 0, 1);
	fixture_start(r, BIT(2));
	for (unsigned i = 0; i < 2; i++) {
		rules_tx_begin(r, FALLBACK);
		fixture_nops(r, 2);
		ip = r->ip;
		model_tx_abort(&r->m, TX_EXPLICIT, 1, ip, 3);
	}
	return fixture_records(r) == 1 && HIGH(TX_FIELD(0)) == (BIT(33) | BIT(34)) &&
	       fixture_record(r, 0, 0xb0) == ip;
}

/* A record inside of a transaction reaches the threshold. */
static bool an_aborting_record_is_complete(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	fixture_program_pebs(r, 0, LOADS, 0, 1);
	fixture_set_reset(r, 0, MINUS(1000));
	fixture_start(r, BIT(0));
	rules_tx_begin(r, FALLBACK);
	fixture_load(r, DATA);
	fixture_load(r, DATA);
	return fixture_records(r) == 1 && PMC(0) == MINUS(1000) &&
	       fixture_get(r, MSR_IA32_PERF_GLOBAL_STATUS) == BIT(62);
}

/* An instruction in a transaction makes fixed counter 0 overflow, with FREEZE_PERFMON_ON_PMI. */
static bool an_overflow_inside_freezes(struct fixture *r)
{
	fixture_set(r, 0x1d9, BIT(12));
	fixture_set(r, MSR_IA32_FIXED_CTR0, MINUS(2));
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0xb);
	fixture_start(r, BIT(32));
	rules_tx_begin(r, FALLBACK);
	fixture_nops(r, 4);
	return fixture_get(r, MSR_IA32_PERF_GLOBAL_CTRL) == 0;
}

rule *const tx_rules[FAULT_COUNT] = {
	[FAULT_TX_CONFLICT_UNCOUNTED] = conflicts_are_counted,
	[FAULT_TX_CONFLICT_NO_ABORT] = conflicts_are_counted,
	[FAULT_TX_STARTS_NESTED] = nested_ones_are_counted_once,
	[FAULT_TX_COMMITS_NESTED] = nested_ones_are_counted_once,
	[FAULT_HLE_STARTS_NESTED] = nested_elisions_are_counted_once,
	[FAULT_HLE_COMMITS_NESTED] = nested_elisions_are_counted_once,
	[FAULT_HLE_ABORTS_NESTED] = nested_elisions_are_counted_once,
	[FAULT_TX_CHECKPOINT_40] = takes_back_of_reads,
	[FAULT_TX_CHECKPOINT_READS] = takes_back_of_reads,
	[FAULT_TX_CHECKPOINT_CONFLICT] = takes_back_of_conflicts,
	[FAULT_TX_CHECKPOINT_INTERRUPT] = takes_back_of_interrupts,
	[FAULT_TX_FILTER_INV] = no_clock_without_loads_is_in,
	[FAULT_TX_FILTER_EDGE] = no_edge_is_in,
	[FAULT_TX_FILTER_CMASK_NONE] = clocks_inside_are_counted,
	[FAULT_TX_INFORMATION_USER] = an_abort_of_cpl_3_is_told,
	[FAULT_TX_EVENTING_IP_USER] = an_abort_of_cpl_3_is_told,
	[FAULT_TX_INFORMATION_COUNTER] = bits_are_exact,
	[FAULT_TX_RECORD_NO_RELOAD] = an_aborting_record_is_complete,
	[FAULT_TX_RECORD_KEEPS_STATUS] = an_aborting_record_is_complete,
	[FAULT_TX_RECORD_NO_THRESHOLD] = an_aborting_record_is_complete,
	[FAULT_TX_PMI_LOST_FIXED] = an_overflow_inside_freezes,
	[FAULT_TX_NO_FREEZE] = an_overflow_inside_freezes,
	[FAULT_LBR_ABORT_BY_RECORD_MISSED] = an_abort_by_a_record_is_a_branch,
	[FAULT_LBR_ABORT_OTHERS_MISSED] = an_abort_by_an_exception_is_a_branch,
	[FAULT_LBR_ABORT_USER_MISSED] = an_abort_of_cpl_3_is_a_branch,
	[FAULT_LBR_ABORT_USER_UNMARKED] = an_abort_of_cpl_3_is_a_branch,
	[FAULT_LBR_ABORT_LET_IN] = an_abort_of_cpl_3_is_a_branch,
	[FAULT_LBR_ABORT_BY_MEMORY_MISSED] = an_abort_by_memory_is_a_branch,
	[FAULT_LBR_IN_TX_USER] = branches_inside_are_marked,
	[FAULT_LBR_IN_TX_NO_CALLS] = branches_inside_are_marked,
	[FAULT_LBR_IN_TX_NESTED] = branches_inside_are_marked,
	[FAULT_LBR_IN_TX_AFTER_NESTED] = branches_inside_are_marked,
	[FAULT_LBR_ABORT_UNMARKED] = an_abort_is_a_branch,
	[FAULT_LBR_ABORT_MISSED] = an_abort_is_a_branch,
	[FAULT_LBR_ABORT_TO_CAUSE] = an_abort_is_a_branch,
	[FAULT_LBR_ABORT_TO_32] = an_abort_is_a_branch,
	[FAULT_LBR_ABORT_OUTSIDE] = an_abort_is_a_branch,
	[FAULT_LBR_ELIDED_TO_48] = an_elision_is_a_branch,
	[FAULT_TX_NESTED_ABORT_TWICE] = nested_abort_is_one,
	[FAULT_TX_CHECKPOINT_INNER] = inner_begin_keeps_nothing,
	[FAULT_TX_CHECKPOINT_INNER_END] = inner_end_keeps_nothing,
	[FAULT_TX_CAPACITY_MISSING] = capacity_is_recorded,
	[FAULT_TX_CYCLES_INNER] = cycles_begin_with_the_outermost,
	[FAULT_TX_CYCLES_ADD_COMMITS] = cycles_begin_anew_after_a_commit,
	[FAULT_TX_CYCLES_ADD_ABORTS] = cycles_begin_anew_after_an_abort,
	[FAULT_TX_RIP_INNER] = goes_to_the_outermost,
	[FAULT_TX_FILTER_LOADS_ONLY] = no_instruction_is_in,
	[FAULT_TX_FILTER_CYCLES] = no_cycle_is_in,
	[FAULT_TX_FILTER_CMASK] = no_clock_of_loads_is_in,
	[FAULT_TX_FILTER_USER] = no_load_is_in,
	[FAULT_TX_CHECKPOINT_LOADS_ONLY] = in_txcp_takes_back,
	[FAULT_TX_CHECKPOINT_CYCLES] = in_txcp_takes_cycles_back,
	[FAULT_TX_COMMITS_USER] = user_transactions_are_counted,
	[FAULT_TX_ABORTS_USER] = user_transactions_are_counted,
	[FAULT_TX_RECORD_RSP] = an_abort_has_its_registers,
	[FAULT_TX_RECORD_FLAGS] = an_abort_has_its_registers,
	[FAULT_TX_CHECKPOINT_32] = in_txcp_takes_a_carry_back,
	[FAULT_TX_CHECKPOINT_IGNORED] = in_txcp_takes_back,
	[FAULT_TX_READS_SAY_WRITES] = bits_are_exact,
	[FAULT_TX_EVENTING_IP_LATE] = bits_are_exact,
	[FAULT_TX_CHECKPOINT_DROPS_FILTER] = both_filters_hold,
	[FAULT_TX_FILTER_DROPS_CHECKPOINT] = both_filters_hold,
	[FAULT_TX_CHECKPOINT_EXPLICIT] = event_takes_back,
	[FAULT_TX_CHECKPOINT_NO_EVENT] = event_takes_back,
	[FAULT_TX_CHECKPOINT_NO_EXCEPTION] = exception_takes_back,
	[FAULT_TX_FILTER_OUTERMOST] = nested_loads_are_in,
	[FAULT_TX_STARTS_OF_LOCKS] = locks_start_no_transaction,
	[FAULT_HLE_STARTS_MISSED] = elisions_are_counted,
	[FAULT_HLE_COMMITS_MISSED] = elisions_are_counted,
	[FAULT_HLE_ABORT_UNCOUNTED] = elisions_are_counted,
	[FAULT_HLE_COMMIT_ABORTS] = elisions_are_counted,
	[FAULT_HLE_COUNTS_AS_RTM] = elisions_are_counted,
	[FAULT_HLE_SAYS_RTM] = elisions_are_recorded,
	[FAULT_HLE_NESTED_SAYS_RTM] = elisions_are_recorded,
	[FAULT_HLE_WITHOUT_INSTRUCTION] = elisions_are_recorded,
	[FAULT_HLE_RIP_ABORTING] = elisions_are_recorded,
	[FAULT_HLE_RIP_INNER] = elisions_are_recorded,
	[FAULT_HLE_FILTER_OUTSIDE] = elisions_are_filtered,
	[FAULT_HLE_CHECKPOINT_IGNORED] = elisions_are_filtered,
	[FAULT_TX_RECORD_COMMITS_NESTED] = a_nested_record_aborts,
	[FAULT_HLE_RECORD_COMMITS] = record_ends_elision,
	[FAULT_HLE_RECORD_COMMITS_NESTED] = record_ends_nested_elision,
	[FAULT_HLE_RECORD_COMMITS_USER] = record_ends_elision_of_cpl_3,
	[FAULT_TX_RECORD_COMMITS_BRANCHES] = a_record_of_a_branch_aborts,
	[FAULT_TX_RECORD_COMMITS_PDIR] = a_record_of_pdir_aborts,
#define FAULT_TX_BIT(token, bit, name, requirements, title, ...) \
	[FAULT_##token##_NEVER] = (bit) == 32 ? elisions_are_recorded : bits_are_exact, \
	[FAULT_##token##_ALWAYS] = (bit) == 33 ? elisions_are_recorded : bits_are_exact,
#include "refpmu/faults/fault_tx_bit.def"
};
