/* SPDX-License-Identifier: MIT */
/*
 * A processor for the engine's tests: this one, in this process. A piece of code, with data and a
 * stack at fixed addresses, runs for a number of instructions: once one at a time by the trap flag,
 * and once through translated blocks. Then everything that it can have changed is compared.
 * Faulting instructions are skipped, in both. Linux on x86-64 only.
 */
#ifndef HOST_ENGINE_MACHINE_H
#define HOST_ENGINE_MACHINE_H

#include "refpmu/engine/dbt/block.h"

#define MACHINE_CODE	0x510000000ULL	/* outside the reach of 32-bit addresses */
#define MACHINE_DATA	0x510010000ULL
#define MACHINE_STACK	0x510020000ULL
#define MACHINE_BYTES	0x8000		/* of each; a hole after each */

#define MACHINE_BRANCHES 4096

struct machine_state {
	u64 gpr[REG_COUNT];
	u64 rip;
	u64 rflags;		/* CF PF AF ZF SF DF OF */
	u8 xmm[16][16];
	/* Not to begin with: as FXSAVE stores it, and the upper halves of YMM registers. */
	u8 x87[160], ymm[16][16];
};

struct machine_result {
	struct machine_state state;
	struct model_events events;
	/* Branches that were taken, but conditional ones to the next instruction. */
	struct model_taken taken[MACHINE_BRANCHES];
	unsigned n_taken;
	/* Of all the instructions: skipped; not in blocks; of these, emulated. */
	u64 faults, stepped, emulated, runs;
	u64 to_next;			/* stepped branches to the next instruction: taken or not */
	bool open;			/* it ended early, where the reference isn't one */
	const char *wrong;		/* NULL, or what must never be */
	u8 memory[3][MACHINE_BYTES];
};

/* Once: map the memory, build the cache of blocks, take the signals. */
void machine_open(void);
extern struct block_cache machine_cache;
/* May blocks be protected? A page of code is then read-only until the program stores to it. */
extern bool machine_holds;

/* What the memory holds before each run. */
extern u8 machine_code[MACHINE_BYTES], machine_data[MACHINE_BYTES];

/* Run from `begin` until that many instructions have retired. */
void machine_step(const struct machine_state *begin, u64 instructions,
		  struct machine_result *result);
/* The same, with each instruction that can be emulated run so (emulate.h). */
void machine_emulate(const struct machine_state *begin, u64 instructions,
		     struct machine_result *result);
/* The same in blocks, in runs of at most `quantum` instructions; with `request_exit`, a run is
 * interrupted by a signal now and then, wherever it is. */
void machine_blocks(const struct machine_state *begin, u64 instructions, u64 quantum,
		    bool request_exit, struct machine_result *result);
/* The same up to the first interruption, but at most that many instructions; the result's events
 * say where. */
void machine_interrupted(const struct machine_state *begin, u64 instructions,
			 struct machine_result *result);

#endif
