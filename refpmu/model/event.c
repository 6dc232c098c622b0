/* SPDX-License-Identifier: MIT */
/*
 * The event of an event select on this generation (spec/event.def), and how often it occurs on an
 * instruction. Events of memory accesses are in access.c, slots in icelake/metrics.c.
 */
#include "refpmu/model/access.h"
#include "refpmu/model/lbr.h"
#include "refpmu/model/pmu.h"

static const struct event_row events[] = {
#define EVENT_ON(gens, name, flags, counters, sure, min_period, period_unit, source) \
	{ gens, EVENT_##name, flags, EVENT_KIND_##name, counters },
#define EVENT_UMASK2(gens, name, event, umask, umask2, kind, flags, counters, source) \
	{ gens, EVENT2_##name, flags, kind, counters },
#include "spec/event.def"
};

static const struct {
	u32 gens;
	u16 code;
	u16 counters;
} cycles_events[] = {
#define EVENT_CYCLES(gens, name, counters, sure, source) { gens, EVENT_##name, counters },
#include "spec/event.def"
};

u16 model_architectural_event(unsigned n)
{
	/* Table 18-1, and events 7 to 12 of CPUID.(23H,3):EAX. */
	static const u16 codes[MODEL_ARCHITECTURAL_EVENTS] = {
		EVENT_UNHALTED_CORE_CYCLES, EVENT_INST_RETIRED_ANY_P, EVENT_UNHALTED_REF_CYCLES,
		EVENT_LONGEST_LAT_CACHE_REFERENCE, EVENT_LONGEST_LAT_CACHE_MISS,
		EVENT_BR_INST_RETIRED_ALL_BRANCHES, EVENT_BR_MISP_RETIRED_ALL_BRANCHES,
		EVENT_TOPDOWN_SLOTS_P,		   EVENT_TOPDOWN_BACKEND_BOUND,
		EVENT_TOPDOWN_BAD_SPECULATION,	   EVENT_TOPDOWN_FRONTEND_BOUND,
		EVENT_TOPDOWN_RETIRING,		   EVENT_LBR_INSERTS,
	};

	return codes[n];
}

/* For CPUID.0AH:EBX: "Pre-defined Architectural Performance Events". */
u64 model_architectural_events(const struct model *m)
{
	u64 set = 0;

	for (unsigned i = 0; i < MODEL_ARCHITECTURAL_EVENTS; i++)
		if (model_event(m, model_architectural_event(i)))
			set |= BIT(i);
	return set;
}

u64 model_architectural_events_of(enum generation_id id)
{
	u64 set = 0;

	for (unsigned i = 0; i < MODEL_ARCHITECTURAL_EVENTS; i++)
		for (size_t k = 0; k < sizeof(events) / sizeof(events[0]); k++)
			if (events[k].code == model_architectural_event(i) &&
			    events[k].gens & BIT(id))
				set |= BIT(i);
	return set;
}

/* An event that CPUID.0AH:EBX marks as not available counts nothing: KVM, latitude
 * missing-events. */
static bool is_missing(const struct model *m, u32 code)
{
	for (unsigned i = 0; i < MODEL_ARCHITECTURAL_EVENTS; i++)
		if (m->latitude[LAT_MISSING_EVENTS] & BIT(i) &&
		    code == model_architectural_event(i))
			return true;
	return false;
}

/* A select of 0, as after a reset, needs no search. */
#define EVENT_ON(gens, name, flags, counters, sure, min_period, period_unit, source) \
	_Static_assert(EVENT_##name, "no event is 0");
#include "spec/event.def"

/* The tables of chapter 19, which spec/event.def has. Events of transactions need HLE or RTM:
 * "Performance Monitoring and Intel TSX". */
const struct event_row *model_event(const struct model *m, u32 code)
{
	if (!code || is_missing(m, code))
		return NULL;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i].code == code && events[i].gens & BIT(m->config.generation) &&
		    (!(events[i].flags & EV_TSX) || model_has_tx(m)))
			return &events[i];
	return NULL;
}

/* Table 18-1: cycles and instructions, bits 0 to 2 of CPUID.0AH:EBX. */
static bool is_of_cycles_or_instructions(u32 code)
{
	return code == EVENT_INST_RETIRED_ANY_P || code == EVENT_UNHALTED_CORE_CYCLES ||
	       code == EVENT_UNHALTED_REF_CYCLES;
}

/* Table 18-1, and events 7 to 12 of CPUID.(23H,3):EAX. */
static bool is_architectural(u32 code)
{
	for (unsigned i = 0; i < MODEL_ARCHITECTURAL_EVENTS; i++)
		if (code == model_architectural_event(i))
			return true;
	return false;
}

/* A host's filter of events: one that it denies is accepted and never counted. Linux
 * KVM_SET_PMU_EVENT_FILTER, latitude uncounted-events. */
bool model_event_is_uncounted(const struct model *m, u32 code)
{
	switch (m->latitude[LAT_UNCOUNTED_EVENTS]) {
	case 0:
		return false;
	case 1:
		return !is_architectural(code);
	case 2:
		return !is_of_cycles_or_instructions(code);
	default:
		return code != EVENT_INST_RETIRED_ANY_P;
	}
}

/* Xen core2_vpmu_do_wrmsr, with vpmu=arch and vpmu=ipc: latitude refused-events. Its list of
 * architectural events ends before the top-down slots. */
bool model_event_is_refused(const struct model *m, u16 code)
{
	switch (m->latitude[LAT_REFUSED_EVENTS]) {
	case 0:
		return false;
	case 1:
		return !is_architectural(code) || code == EVENT_TOPDOWN_SLOTS_P;
	default:
		return !is_of_cycles_or_instructions(code);
	}
}

/*
 * All cycles as a precise event, such as INST_RETIRED.TOTAL_CYCLES_PS of Table 18-56: with INV and
 * a CMASK above what can retire in a cycle. With precise distribution it may have the event and
 * PMC1 in common.
 */
bool model_is_total_cycles(const struct model *m, unsigned n)
{
	u64 select = m->perfevtsel[n];

	if (!(select & IA32_PERFEVTSEL_INV) ||
	    !(select >> IA32_PERFEVTSEL_CMASK_SHIFT & 0xff & ~(TOTAL_CYCLES_CMASK - 1u)))
		return false;
	for (size_t i = 0; i < sizeof(cycles_events) / sizeof(cycles_events[0]); i++)
		if (cycles_events[i].code == (u16)select && cycles_events[i].counters & BIT(n) &&
		    cycles_events[i].gens & BIT(m->config.generation))
			return true;
	return false;
}

/* ---- how often it occurs ---- */

/*
 * "Branch Misses Retired" (Table 18-1): the manual doesn't say which branches are mispredicted,
 * so any predictor is correct. This one is static: conditional branches that go backward are
 * predicted taken, and those that go forward not taken; all other branches are predicted right.
 * It has no history, so the mispredictions of a block follow from two numbers: how often it ran,
 * and how often its branch was taken (bulk.h).
 */
bool model_mispredicted(const struct model_retired *r)
{
	return r->branch == BRANCH_CONDITIONAL && r->taken != r->backward;
}

static bool taken(const struct model_retired *r)
{
	return r->branch != BRANCH_CONDITIONAL || r->taken;
}

/* Table 18-1, and the tables of chapter 19. Cycle events occur in each cycle of the instruction.
 * Far transfers are branches, but not near ones: docs/READINGS.md, "Branches". */
static u64 occurrences(enum event_kind kind, const struct model_retired *r, bool frontend)
{
	enum model_branch b = r->branch;

	switch (kind) {
	case EK_NONE:
		return 0;
	case EK_INSTRUCTIONS:
	case EK_CORE_CYCLES:
	case EK_REF_CYCLES:
		return 1;
	case EK_BRANCHES:
		return b != BRANCH_NONE;
	case EK_COND_BRANCHES:
		return b == BRANCH_CONDITIONAL;
	case EK_NEAR_CALLS:
		return b == BRANCH_CALL;
	case EK_NEAR_RETURNS:
		return b == BRANCH_RETURN;
	case EK_NEAR_TAKEN:
		return b != BRANCH_NONE && b != BRANCH_FAR && taken(r);
	case EK_MISPREDICTS:
		return model_mispredicted(r);
	case EK_COND_TAKEN:
		return b == BRANCH_CONDITIONAL && r->taken;
	case EK_COND_NOT_TAKEN:
		return b == BRANCH_CONDITIONAL && !r->taken;
	case EK_COND_TAKEN_BACKWARD:
		return b == BRANCH_CONDITIONAL && r->taken && r->backward;
	case EK_COND_TAKEN_FORWARD:
		return b == BRANCH_CONDITIONAL && r->taken && !r->backward;
	case EK_FAR_BRANCHES:
		return b == BRANCH_FAR;
	case EK_NEAR_INDIRECT:
		return (b == BRANCH_JUMP || b == BRANCH_CALL) && r->indirect;
	case EK_FRONTEND:
		return frontend;
	case EK_UOPS:
		/* A store has two micro-operations, address and data: docs/READINGS.md,
		 * "Micro-operations". */
		return 1 + (u64)r->stores;
	case EK_LOADS:
		return r->loads;
	case EK_STORES:
		return r->stores;
	case EK_LOCK_LOADS:
		return r->locked_loads;
	default:
		return 0;
	}
}

u64 model_events_of(struct model *m, struct retire_ctx *s, const struct model_rule *rule)
{
	const enum event_kind kind = (enum event_kind)rule->kind;

	if (kind == EK_SLOTS)
		return model_slots(m);
	if (model_is_topdown(kind))
		return model_topdown(m, s->r, s->cycles, kind);
	if (kind == EK_LBR_INSERTS)
		return fault_lbr_inserts(m, s->r, model_lbr_inserts(m, s->r));
	if (kind >= EK_TX_FIRST)
		return model_tx_occurs(m, s, kind);
	if (kind >= EK_SPLIT_LOADS)
		return model_access_count(m, s, kind);
	return occurrences(kind, s->r, s->frontend);
}
