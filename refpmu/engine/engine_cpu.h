/* SPDX-License-Identifier: MIT */
/* The engine's state for a processor: cpu->engine. Each member belongs to one module. */
#ifndef REFPMU_ENGINE_ENGINE_CPU_H
#define REFPMU_ENGINE_ENGINE_CPU_H

#include "refpmu/engine/emulate/rep.h"
#include "refpmu/engine/siblings.h"
#include "refpmu/engine/statistics.h"
#include "refpmu/engine/user_only.h"

struct decode_cache;
struct engine_blocks;
struct emulate_code;

#define EXIT_PLACES	128

/* engine_exit_follow(): an instruction that exits by itself, and how often no further one was
 * near. */
struct exit_place {
	u64 rip;
	u8 misses;
};

struct engine_cpu {
	struct engine_statistics statistics;
	struct siblings_state siblings;
	struct rep_progress rep;
	/* engine_run_untrusted(): the page, by number; the TSC when it was left, and ticks to stay
	 * on. */
	struct {
		u64 page, until, linger;
	} look;
	struct exit_place place[EXIT_PLACES];
	struct user_only user_only;
	bool pmi_raised;		/* and interrupts haven't been looked for since */
	unsigned one_by_one;		/* instructions until blocks may run */
	bool translates;		/* the translator may be used on this machine, */
	struct engine_blocks *blocks;	/* and its own */
	struct decode_cache *decode_cache;
	struct emulate_code *emulate_code;
	void *vectors;			/* an XSAVE area: transaction.c */
};

#endif
