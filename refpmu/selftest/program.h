/* SPDX-License-Identifier: MIT */
/*
 * Random programs for the reference PMU: all kinds of operands, branches over, calls and loops of
 * some instructions, locked, vector and string instructions, exceptions, code that changes itself.
 * Every program ends by itself. engines.asm runs them: it loads all registers, switches the
 * counters on before the program, and saves all registers at the end.
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

/* Several programs may run at once, each on its own processor. */
struct program {
	struct engine_context context;
	/* PROGRAM_CODE and PROGRAM_DATA bytes, page aligned. Addresses are data too: for the same
	 * program on two machines it must be the same place. */
	u8 *memory;
};

/*
 * Fill the program's memory and its initial registers. portably: use only instructions with the
 * same effect on each machine (no CPUID), each of which is one instruction for every counter (no
 * strings). One processor makes the programs of all processors.
 */
void program_generate(struct program *program, u64 seed, bool portably);

/* Make a program that calls a function with one argument, on a stack in the program's data; seed is
 * for random numbers. */
void program_call(struct program *program, u64 seed, void (*function)(u64), u64 argument);

/* A random number below `below`, from the sequence that the last call of these two has begun. */
u32 program_draw(u32 below);

/* Run it, under machine_use_programs(). */
void program_run(struct program *program);

/* engines.asm */
void engine_go(void);
void engine_done(void);
void engine_pmi(void);
void engine_fault(void);

#endif
