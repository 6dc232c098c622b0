/* SPDX-License-Identifier: MIT */
/*
 * Drives the exerciser of docs/EXERCISER.md, a device that puts lines of memory into caches of
 * other cores or packages. boot/ finds it; most machines have none. One command at a time; CPL 0,
 * any processor.
 */
#ifndef PMU_EXERCISER_H
#define PMU_EXERCISER_H

#include "spec/exerciser.h"

/* Set the address of its register page, which is mapped; 0: none. Before any other function
 * here. */
void exerciser_use(u64 registers);

/* Has the firmware an entry for an exerciser? Does the exerciser answer now? */
bool exerciser_listed(void);
bool exerciser_is_here(void);
/* Does the exerciser support this state, for that many bytes? Only if there is an exerciser. */
bool exerciser_offers(enum exerciser_state state, u64 bytes);
/* Memory whose home is another package; NULL: it has less than that many bytes. */
void *exerciser_remote(u64 bytes);

struct exerciser_answer {
	u32 status, lines;	/* as read from the registers; BUSY: it hasn't ended in time */
	bool done;		/* all lines are in the state */
};

/* Put all lines of [memory, memory + bytes) into a state, as seen from this processor. Takes at
 * most 100 ms. */
struct exerciser_answer exerciser_put(enum exerciser_state state, const void *memory, u64 bytes);

#endif
