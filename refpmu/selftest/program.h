/* SPDX-License-Identifier: MIT */
/*
 * Random programs for the reference PMU: all kinds of operands, branches over, calls and loops of
 * some instructions, locked, vector and string instructions, exceptions, code that changes
 * itself. They end by themselves, whatever they draw. And the way they are run (engines.asm):
 * all registers given, counters switched on in front, everything kept at the end.
 */
#ifndef REFPMU_SELFTEST_PROGRAM_H
#define REFPMU_SELFTEST_PROGRAM_H

#include "spec/types.h"

#define PROGRAM_CODE	4096
#define PROGRAM_DATA	4096

extern u8 *program_code, *program_data;		/* next to each other */

/* Have them there instead, page aligned. Addresses are data too: for the same program on two
 * machines it must be the same place. */
void program_place(u8 *memory);

/* A number below `below`, of the sequence that program_generate() has begun. */
u32 program_draw(u32 below);

/*
 * Fill program_code, program_data and what engine_go() begins with. Portably: only what does the
 * same on each machine, without CPUID, and is one instruction whoever counts, without strings.
 */
void program_generate(u64 seed, bool portably);

/* A function of one argument instead, on a stack in program_data; the seed for what is drawn. */
void program_call(u64 seed, void (*function)(u64), u64 argument);

/* engines.asm: registers in the order of their numbers; behind them RIP and RFLAGS. */
extern u64 engine_begin[16], engine_end[18], engine_seen[18];
extern u64 engine_pmis;		/* interrupts of the PMU */
extern u64 engine_enable;	/* IA32_PERF_GLOBAL_CTRL while the program runs */
extern u8 *engine_code;
void engine_go(void);
void engine_done(void);

#endif
