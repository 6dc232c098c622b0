/* SPDX-License-Identifier: MIT */
/*
 * The exerciser of docs/EXERCISER.md: lines of memory are put where only another core or package
 * could bring them. It is found by boot/ like a device, and may be missing. One command at a time;
 * CPL 0, any processor.
 */
#ifndef PMU_EXERCISER_H
#define PMU_EXERCISER_H

#include "spec/exerciser.h"

/* Its register page, mapped; 0: none. Before anything else here. */
void exerciser_use(u64 registers);

/* Was there an entry for one? Does one answer now? */
bool exerciser_listed(void);
bool exerciser_is_here(void);
/* Does it offer this state, for that many bytes? There is one. */
bool exerciser_offers(enum exerciser_state state, u64 bytes);
/* Memory whose home is another package; NULL: it has less than that many bytes. */
void *exerciser_remote(u64 bytes);

struct exerciser_answer {
	u32 status, lines;	/* as they stand in the registers; BUSY: it hasn't ended in time */
	bool done;		/* all lines are in the state */
};

/* Put all lines of [memory, memory + bytes) into a state as this processor finds them. Bounded by
 * 100 ms. */
struct exerciser_answer exerciser_put(enum exerciser_state state, const void *memory, u64 bytes);

#endif
