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

/*
 * What engines.asm finds by GS: begin, end and seen are registers in the order of their encoding,
 * after them RIP and RFLAGS; pmis counts the PMU's interrupts and faults #UDs; enable is
 * IA32_PERF_GLOBAL_CTRL while the program runs; stack is its caller's RSP.
 */
struct engine_context {
#define WORDS(name, count) u64 name[count];
#define WORD(name) u64 name;
#define POINTER(name) u8 *name;
#include "refpmu/selftest/context.def"
#undef POINTER
#undef WORD
#undef WORDS
};

/* Several may run at once, each on a processor of its own. */
struct program {
	struct engine_context context;
	/* PROGRAM_CODE and PROGRAM_DATA bytes, page aligned. Addresses are data too: for the same
	 * program on two machines it must be the same place. */
	u8 *memory;
};

/*
 * Fill the program's memory and what it begins with. Portably: only what does the same on each
 * machine, without CPUID, and is one instruction to every counter, without strings. One processor
 * makes the programs of all.
 */
void program_generate(struct program *program, u64 seed, bool portably);

/* A function of one argument instead, on a stack in the program's data; the seed for what is
 * drawn. */
void program_call(struct program *program, u64 seed, void (*function)(u64), u64 argument);

/* A number below `below`, of the sequence that the last of these two has begun. */
u32 program_draw(u32 below);

/* Run it, under machine_use_programs(). */
void program_run(struct program *program);

/* engines.asm */
void engine_go(void);
void engine_done(void);
void engine_pmi(void);
void engine_fault(void);

#endif
