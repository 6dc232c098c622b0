/* SPDX-License-Identifier: MIT */
/*
 * "Off-core Response Performance Monitoring": which of an instruction's accesses are requests
 * beyond the L2, and which of those MSR_OFFCORE_RSP_0 or _1 selects: a request bit, and either any
 * response or (from Sandy Bridge on) a supplier and a snoop result; else nothing.
 *
 * Not handled: requests other than demand data reads and reads for ownership.
 */
#include "refpmu/model/access.h"

/* Bits of the request, both layouts. */
#define DEMAND_DATA_RD	BIT(0)
#define DEMAND_RFO	BIT(1)

/* Table "MSR_OFFCORE_RSP_0 and MSR_OFFCORE_RSP_1 Bit Field Definition" of Nehalem. */
enum { UNCORE_HIT = 8, OTHER_CORE_HIT_SNP, OTHER_CORE_HITM, REMOTE_CACHE_FWD = 12, REMOTE_DRAM,
       LOCAL_DRAM, NON_DRAM };
static const u8 nehalem_response[MEMORY_SOURCES] = {
	[SOURCE_L3] = UNCORE_HIT,
	[SOURCE_L3_SNOOP_MISS] = UNCORE_HIT,
	[SOURCE_L3_SNOOP_HIT] = OTHER_CORE_HIT_SNP,
	[SOURCE_L3_HITM] = OTHER_CORE_HITM,
	[SOURCE_REMOTE_CACHE] = REMOTE_CACHE_FWD,
	[SOURCE_REMOTE_HITM] = REMOTE_CACHE_FWD,
	[SOURCE_LOCAL_SHARED] = LOCAL_DRAM,
	[SOURCE_LOCAL_EXCLUSIVE] = LOCAL_DRAM,
	[SOURCE_REMOTE_SHARED] = REMOTE_DRAM,
	[SOURCE_REMOTE_EXCLUSIVE] = REMOTE_DRAM,
	[SOURCE_IO] = NON_DRAM,
	[SOURCE_UNCACHED] = NON_DRAM,
};

/* The tables of Sandy Bridge, "Response Supplier" and "Response Snoop Info". */
enum {
	LLC_HITM = 18,
	LLC_HITE,
	LLC_HITS,
	LOCAL = 22,
	REMOTE,
	SNP_NOT_NEEDED = 32,
	SNP_MISS,
	SNP_NO_FWD,
	SNP_FWD,
	HITM,
	SNP_NON_DRAM
};
static const struct {
	u8 supplier, snoop;
} sandybridge_response[MEMORY_SOURCES] = {
	[SOURCE_L3] = { LLC_HITE, SNP_NOT_NEEDED },
	[SOURCE_L3_SNOOP_MISS] = { LLC_HITE, SNP_MISS },
	[SOURCE_L3_SNOOP_HIT] = { LLC_HITS, SNP_NO_FWD },
	[SOURCE_L3_HITM] = { LLC_HITM, HITM },
	[SOURCE_REMOTE_CACHE] = { LOCAL, SNP_FWD },
	[SOURCE_REMOTE_HITM] = { LOCAL, HITM },
	[SOURCE_LOCAL_SHARED] = { LOCAL, SNP_NO_FWD },
	[SOURCE_LOCAL_EXCLUSIVE] = { LOCAL, SNP_MISS },
	[SOURCE_REMOTE_SHARED] = { REMOTE, SNP_NO_FWD },
	[SOURCE_REMOTE_EXCLUSIVE] = { REMOTE, SNP_MISS },
	[SOURCE_IO] = { LOCAL, SNP_NON_DRAM },
	[SOURCE_UNCACHED] = { LOCAL, SNP_NON_DRAM },
};

/* "Off-core Response Performance Monitoring": from Sandy Bridge on any response, or a supplier
 * and a snoop result; of Nehalem's responses each has a bit. */
static bool response_selected(const struct model *m, const struct offcore_access *access)
{
	u64 select = access->select;

	if (!(model_generation(m)->facilities & FAC_OFFCORE_SNB))
		return select & BIT(nehalem_response[access->source]);
	return select & OFFCORE_RSP_ANY_RESPONSE ||
	       (select & BIT(sandybridge_response[access->source].supplier) &&
		select & BIT(sandybridge_response[access->source].snoop));
}

/*
 * "This facility in the processor core allows software to count certain transaction responses
 * between the processor core to sub-systems outside the processor core (uncore)." The access goes
 * beyond the L2, and MSR_OFFCORE_RSP_x selects its request and response.
 */
bool model_offcore_is(struct model *m, unsigned n, const struct model_access *a, u8 source)
{
	struct offcore_access access = {
		.n = n,
		.request = a->store || a->locked ? DEMAND_RFO : DEMAND_DATA_RD,
		.store = a->store,
		.locked = a->locked,
		.split = model_is_split(a),
		.source = source,
		.select = m->offcore_rsp[n],
	};

	if (source < SOURCE_L3)
		return false;
	fault_offcore(m, &access);
	return access.select & access.request && response_selected(m, &access);
}
