/* SPDX-License-Identifier: MIT */
/* The rules that faults of transactions break. */
#include "host/model/rules_internal.h"

#define DATA		(RIG_MEMORY_BASE + 0x3000)
#define FALLBACK	0x600000ULL
#define INNER		0x700000ULL
#define PMC(n)		rig_get(r, MSR_IA32_PMC0 + (n))
#define TX_FIELD(n)	rig_record(r, n, 0xb8)
#define HIGH(value)	((value) & ~BITS(0, 31))

static void begin(struct rig *r, u64 fallback)
{
	struct model_registers before = r->regs;
	bool outermost = !model_in_tx(&r->m);

	rig_retire(r, &(struct model_retired){ .tx = outermost ? TX_STARTS : TX_NO_ACT });
	model_tx_begin(&r->m, &before, fallback);
}

static void end(struct rig *r)
{
	rig_retire(r, &(struct model_retired){ .tx = TX_COMMITS });
	model_tx_end(&r->m);
}

static void store(struct rig *r, u64 value)
{
	model_tx_access(&r->m, DATA, 8, true);
	rig_poke(r, DATA, value);
	rig_store(r, DATA);
}

static void abort_for(struct rig *r, enum tx_cause cause)
{
	begin(r, FALLBACK);
	store(r, 7);
	rig_nops(r, 2);
	model_tx_abort(&r->m, cause, 1, r->ip, 0);
}

/* One abort is counted, and the next recorded. */
static void record_abort(struct rig *r, enum tx_cause first, enum tx_cause recorded)
{
	rig_program_pebs(r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 1);
	rig_start(r, BIT(1));
	abort_for(r, first);
	abort_for(r, recorded);
}

static bool abort_is_recorded(struct rig *r)
{
	record_abort(r, TX_EXPLICIT, TX_EXPLICIT);
	return rig_records(r) == 1 && TX_FIELD(0) == (BIT(33) | BIT(34) | 3);
}

static bool event_is_recorded(struct rig *r)
{
	record_abort(r, TX_EXPLICIT, TX_EVENT);
	return rig_records(r) == 1 && HIGH(TX_FIELD(0)) == (BIT(33) | BIT(35) | BIT(36));
}

static bool capacity_is_recorded(struct rig *r)
{
	record_abort(r, TX_EXPLICIT, TX_CAPACITY_WRITES);
	return rig_records(r) == 1 && HIGH(TX_FIELD(0)) == (BIT(33) | BIT(35) | BIT(38));
}

static bool conflict_is_recorded(struct rig *r)
{
	record_abort(r, TX_EXPLICIT, TX_CONFLICT);
	return rig_records(r) == 1 &&
	       HIGH(TX_FIELD(0)) == (BIT(33) | BIT(35) | BIT(36) | BIT(37));
}

static bool goes_to_the_outermost(struct rig *r)
{
	rig_program_pebs(r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 1);
	rig_start(r, BIT(1));
	abort_for(r, TX_EXPLICIT);
	begin(r, FALLBACK);
	begin(r, INNER);
	model_tx_abort(&r->m, TX_EXPLICIT, 1, r->ip, 0);
	return rig_records(r) == 1 && rig_record(r, 0, 0x08) == FALLBACK;
}

static bool commits_are_no_aborts(struct rig *r)
{
	rig_program(r, 0, EVENT_RTM_RETIRED_ABORTED, 0, 0);
	rig_start(r, BIT(0));
	begin(r, FALLBACK);
	end(r);
	abort_for(r, TX_EXPLICIT);
	return PMC(0) == 1;
}

/* Begins, commits and aborts of four transactions. */
static bool all_are_counted(struct rig *r)
{
	rig_program(r, 0, EVENT_RTM_RETIRED_START, 0, 0);
	rig_program(r, 1, EVENT_RTM_RETIRED_COMMIT, 0, 0);
	rig_start(r, BIT(0) | BIT(1));
	for (unsigned i = 0; i < 3; i++) {
		begin(r, FALLBACK);
		end(r);
	}
	abort_for(r, TX_EXPLICIT);
	return PMC(0) == 4 && PMC(1) == 3;
}

static bool record_ends_transaction(struct rig *r)
{
	rig_program_pebs(r, 0, EVENT_MEM_UOPS_RETIRED_ALL_LOADS, 0, 1);
	rig_start(r, BIT(0));
	begin(r, FALLBACK);
	rig_load(r, DATA);
	rig_load(r, DATA);
	return !model_in_tx(&r->m) && rig_records(r) == 1;
}

static bool stores_are_taken_back(struct rig *r)
{
	rig_poke(r, DATA, 3);
	abort_for(r, TX_EXPLICIT);
	return rig_peek(r, DATA) == 3;
}

/* Instructions in counter n of an aborted transaction, with 20 others before. */
static u64 counted(struct rig *r, unsigned n, u64 bit)
{
	rig_program(r, n, EVENT_INST_RETIRED_ANY_P, bit, 0);
	rig_start(r, BIT(n));
	rig_nops(r, 20);
	abort_for(r, TX_EXPLICIT);
	return PMC(n);
}

/* One of the stores that a counter sees is outside, of those that it records none. */
static bool filter_holds_for_records(struct rig *r)
{
	rig_program_pebs(r, 0, EVENT_MEM_UOPS_RETIRED_ALL_STORES, IA32_PERFEVTSEL_IN_TX, 1);
	rig_start(r, BIT(0));
	for (unsigned i = 0; i < 5; i++)
		rig_store(r, DATA);
	return !rig_records(r) && rig_get(r, MSR_IA32_PMC0) != 0;
}

static bool in_tx_is_inside(struct rig *r)
{
	return counted(r, 0, IA32_PERFEVTSEL_IN_TX) == 3;
}

static bool in_txcp_takes_back(struct rig *r)
{
	return counted(r, 2, IA32_PERFEVTSEL_IN_TXCP) == 21;
}

static bool others_keep_theirs(struct rig *r)
{
	return counted(r, 0, 0) == 24;
}

rule *const tx_rules[FAULT_COUNT] = {
	[FAULT_TX_ABORT_UNCOUNTED] = abort_is_recorded,
	[FAULT_TX_COMMIT_ABORTS] = commits_are_no_aborts,
	[FAULT_TX_RECORD_COMMITS] = record_ends_transaction,
	[FAULT_TX_RECORD_LOST] = record_ends_transaction,
	[FAULT_TX_MEMORY_KEPT] = stores_are_taken_back,
	[FAULT_TX_INFORMATION_EMPTY] = abort_is_recorded,
	[FAULT_TX_INFORMATION_STALE] = event_is_recorded,
	[FAULT_TX_INFORMATION_SHIFTED] = abort_is_recorded,
	[FAULT_TX_SAYS_HLE] = abort_is_recorded,
	[FAULT_TX_CAUSE_EXCHANGED] = event_is_recorded,
	[FAULT_TX_CAPACITY_MISSING] = capacity_is_recorded,
	[FAULT_TX_CONFLICT_MISSING] = conflict_is_recorded,
	[FAULT_TX_RESERVED_SET] = abort_is_recorded,
	[FAULT_TX_CYCLES_ZERO] = abort_is_recorded,
	[FAULT_TX_STARTS_MISSED] = all_are_counted,
	[FAULT_TX_COMMITS_MISSED] = all_are_counted,
	[FAULT_TX_COMMITS_ALL] = all_are_counted,
	[FAULT_TX_RIP_ABORTING] = goes_to_the_outermost,
	[FAULT_TX_RIP_INNER] = goes_to_the_outermost,
	[FAULT_TX_FILTER_IGNORED] = in_tx_is_inside,
	[FAULT_TX_FILTER_INVERTED] = in_tx_is_inside,
	[FAULT_TX_FILTER_PEBS] = filter_holds_for_records,
	[FAULT_TX_CHECKPOINT_IGNORED] = in_txcp_takes_back,
	[FAULT_TX_CHECKPOINT_ZERO] = in_txcp_takes_back,
	[FAULT_TX_CHECKPOINT_ALL] = others_keep_theirs,
};
