/* SPDX-License-Identifier: MIT */
/*
 * FRONTEND_RETIRED: counts an instruction at the beginning of a line of code if its fetch missed
 * the structure that MSR_PEBS_FRONTEND selects: "at most once per cache line". The caches of code
 * are small, with one way each; no rule gives their sizes. The latency is that of the missed
 * structure.
 */
#include "refpmu/model/internal.h"

#define LINE_BITS	6
#define PAGE_BITS	12
/* Cycles for which the front end delivers nothing after a miss. */
enum { BUBBLES_DSB = 2, BUBBLES_L1I = 12, BUBBLES_L2 = 40, BUBBLES_ITLB = 9, BUBBLES_STLB = 60 };

/* Was it a miss? From now on the entry is there. */
static bool misses(u32 *entries, unsigned count, u64 number)
{
	u32 tag = (u32)number | 1u << 31, *entry = &entries[number % count];
	bool missed = *entry != tag;

	*entry = tag;
	return missed;
}

#define MISSES(entries, number) misses(entries, sizeof(entries) / sizeof((entries)[0]), number)

/* MSR_PEBS_FRONTEND[19:8], the bubble length in cycles, for LATENCY_GE_n (intel/perfmon): Table
 * 18-59. All slots of these cycles are empty here, so each bubble width fits. */
static bool is_long(u64 select, unsigned bubbles)
{
	return bubbles && bubbles >= (select & PEBS_FRONTEND_BUBBLE_LENGTH) >>
				  PEBS_FRONTEND_BUBBLE_LENGTH_SHIFT;
}

/* MSR_PEBS_FRONTEND[7:0], Table 18-59: one structure of the front end. The encodings are those
 * of intel/perfmon, FRONTEND_RETIRED. */
bool model_frontend_occurs(struct model *m, const struct model_retired *r)
{
	u64 line = r->ip >> LINE_BITS, page = r->ip >> PAGE_BITS, select = m->pebs_frontend;
	bool dsb, l1i, l2, itlb, stlb;

	if (line == m->fetch.line)
		return false;
	m->fetch.line = line;
	dsb = MISSES(m->fetch.dsb, line);
	l1i = MISSES(m->fetch.l1i, line);
	l2 = l1i && MISSES(m->fetch.l2, line);
	itlb = MISSES(m->fetch.itlb, page);
	stlb = itlb && MISSES(m->fetch.stlb, page);
	switch (select & (PEBS_FRONTEND_EVTSEL | PEBS_FRONTEND_EVTSEL_HIGH)) {
	case FRONTEND_ANY_DSB_MISS:
	case FRONTEND_DSB_MISS:
		return dsb;
	case FRONTEND_L1I_MISS:
		return l1i;
	case FRONTEND_L2_MISS:
		return l2;
	case FRONTEND_ITLB_MISS:
		return itlb;
	case FRONTEND_STLB_MISS:
		return stlb;
	case FRONTEND_LATENCY:
		return is_long(select, (dsb ? BUBBLES_DSB : 0u) + (l1i ? BUBBLES_L1I : 0u) +
					       (l2 ? BUBBLES_L2 : 0u) + (itlb ? BUBBLES_ITLB : 0u) +
					       (stlb ? BUBBLES_STLB : 0u));
	}
	return false;
}
