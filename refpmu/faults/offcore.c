/* SPDX-License-Identifier: MIT */
/* Faults of refpmu/model/offcore.c: which requests and responses MSR_OFFCORE_RSP_x selects. */
#include "refpmu/faults/broken.h"
#include "refpmu/model/access.h"
#include "refpmu/model/core.h"

#define REQUESTS	BITS(0, 1)	/* demand reads of data, reads for ownership */
#define RESPONSES	BITS(7, 63)
#define L3_HITS_NEHALEM	BITS(8, 10)
#define SNOOPS		BITS(32, 37)	/* from Sandy Bridge on */
#define SUPPLIERS	BITS(17, 30)
#define SUPPLIERS_AND_SNOOPS BITS(17, 37)

static bool first_event_counts(const struct model *m)
{
	for (u64 left = m->active; left; left &= left - 1)
		if (m->counter[__builtin_ctzll(left)].rule.kind == EK_OFFCORE_0)
			return true;
	return false;
}

/* The second event changes the first one's register. */
static void break_second(struct model *m, struct offcore_access *access)
{
	u64 first = m->offcore_rsp[0];

	if (access->n != 1 || !first_event_counts(m))
		return;
	if (first != access->select && broken(m, FAULT_OFFCORE_SECOND_BY_FIRST))
		access->select = first;
	if ((first ^ access->select) & RESPONSES && broken(m, FAULT_OFFCORE_SECOND_RESPONSES))
		access->select = (access->select & ~RESPONSES) | (first & RESPONSES);
	if (first == access->select && broken(m, FAULT_OFFCORE_FIRST_TAKES))
		access->select = 0;
}

/* The access's request also counts as the other kind of request. */
static bool is_both_requests(struct model *m, const struct offcore_access *access)
{
	if (access->locked && broken(m, FAULT_OFFCORE_LOCKS_READ))
		return true;
	if (!access->split)
		return false;
	if (access->locked)
		return broken(m, FAULT_OFFCORE_SPLIT_LOCKS_READ);
	return broken(m, access->store ? FAULT_OFFCORE_SPLIT_STORES_READ :
					 FAULT_OFFCORE_SPLIT_LOADS_OWN);
}

static void break_response(struct model *m, struct offcore_access *access)
{
	bool later = model_generation(m)->facilities & FAC_OFFCORE_SNB;
	u64 hits = later ? SNOOPS : L3_HITS_NEHALEM;

	if (access->source == SOURCE_L3_HITM && broken(m, FAULT_OFFCORE_MODIFIED_AS_CLEAN))
		access->source = SOURCE_L3_SNOOP_HIT;
	else if (access->source == SOURCE_L3_SNOOP_HIT && broken(m, FAULT_OFFCORE_CORE_AS_L3))
		access->source = SOURCE_L3;
	else if (access->source == SOURCE_LOCAL_EXCLUSIVE && access->n == 1 &&
		 broken(m, FAULT_OFFCORE_SECOND_REMOTE))
		access->source = SOURCE_REMOTE_EXCLUSIVE;
	else if (access->source == SOURCE_REMOTE_EXCLUSIVE &&
		 broken(m, FAULT_OFFCORE_REMOTE_AS_LOCAL))
		access->source = SOURCE_LOCAL_EXCLUSIVE;
	if (later && access->select & OFFCORE_RSP_ANY_RESPONSE) {
		if (access->select & SUPPLIERS_AND_SNOOPS && broken(m, FAULT_OFFCORE_ANY_NARROWED))
			access->select &= ~OFFCORE_RSP_ANY_RESPONSE;
		return;
	}
	if (later && ((access->n == 1 && broken(m, FAULT_OFFCORE_SECOND_ANY_ONLY)) ||
		      (access->request > 1 && broken(m, FAULT_OFFCORE_RFO_ANY_ONLY))))
		access->select = 0;
	if (later && access->select & SUPPLIERS && broken(m, FAULT_OFFCORE_ONE_SUPPLIER))
		access->select |= SUPPLIERS;
	if (access->select & hits && broken(m, FAULT_OFFCORE_SNOOP_IGNORED))
		access->select |= hits;
}

void fault_offcore(struct model *m, struct offcore_access *access)
{
	const struct model *first;

	if (m->config.fault == FAULT_NONE)
		return;
	first = m->host->processor & 1 ? model_core_sibling(m) : NULL;
	if (first && (broken(m, FAULT_OFFCORE_SIBLING_RULES) ||
		      (access->n == 1 && broken(m, FAULT_OFFCORE_SECOND_SIBLING))))
		access->select = first->offcore_rsp[access->n];
	if (faults_of(m)->offcore_latched[access->n] != access->select &&
	    (broken(m, FAULT_OFFCORE_LATCHED) ||
	     (access->n == 1 && broken(m, FAULT_OFFCORE_SECOND_LATCHED))))
		access->select = faults_of(m)->offcore_latched[access->n];
	if (broken(m, FAULT_OFFCORE_SILENT) ||
	    (faults_of(m)->cpl == 3 && broken(m, FAULT_OFFCORE_USER_LOST)))
		access->select = 0;
	if (access->select & (access->request - 1) &&
	    (broken(m, FAULT_OFFCORE_ONE_REQUEST) ||
	     (access->n == 1 && broken(m, FAULT_OFFCORE_SECOND_ONE_REQUEST))))
		access->select &= ~(u64)access->request;
	break_second(m, access);
	if (is_both_requests(m, access))
		access->request |= REQUESTS;
	if (!(access->select & access->request) && broken(m, FAULT_OFFCORE_ANY_REQUEST))
		access->select |= access->request;
	if (!(access->select & access->request))
		return;
	if (broken(m, FAULT_OFFCORE_ANY_RESPONSE))
		access->select |= RESPONSES;
	break_response(m, access);
}
