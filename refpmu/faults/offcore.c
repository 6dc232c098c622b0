/* SPDX-License-Identifier: MIT */
/* Faults of refpmu/model/offcore.c: which requests and responses MSR_OFFCORE_RSP_x selects. */
#include "refpmu/faults/broken.h"
#include "refpmu/model/access.h"

#define RESPONSES	BITS(7, 63)
#define L3_HITS_NEHALEM	BITS(8, 10)
#define SNOOPS		BITS(32, 37)	/* from Sandy Bridge on */

static void break_response(struct model *m, struct offcore_access *access)
{
	bool later = model_generation(m)->facilities & FAC_OFFCORE_SNB;
	u64 hits = later ? SNOOPS : L3_HITS_NEHALEM;

	if (access->source == SOURCE_L3_HITM && broken(m, FAULT_OFFCORE_MODIFIED_AS_CLEAN))
		access->source = SOURCE_L3_SNOOP_HIT;
	if (later && access->select & OFFCORE_RSP_ANY_RESPONSE)
		return;
	if (access->select & hits && broken(m, FAULT_OFFCORE_SNOOP_IGNORED))
		access->select |= hits;
}

void fault_offcore(struct model *m, struct offcore_access *access)
{
	if (m->config.fault == FAULT_NONE)
		return;
	if (!(access->select & access->request) && broken(m, FAULT_OFFCORE_ANY_REQUEST))
		access->select |= access->request;
	if (!(access->select & access->request))
		return;
	if (broken(m, FAULT_OFFCORE_ANY_RESPONSE))
		access->select |= RESPONSES;
	break_response(m, access);
}
