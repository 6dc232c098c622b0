/* SPDX-License-Identifier: MIT */
/*
 * REP string instructions in progress: each is one retired instruction, for any number of
 * iterations, interrupts and faults, and on any engine. SDM volume 2, "REP/REPE/REPZ/REPNE/REPNZ".
 */
#ifndef REFPMU_ENGINE_EMULATE_REP_H
#define REFPMU_ENGINE_EMULATE_REP_H

#include "refpmu/hv/cpu.h"

struct instruction;

/* A REP string in progress: one retired instruction, for any number of iterations and
 * interrupts. */
struct rep_progress {
	bool active;
	u64 rip, cr3, rsp, rcx, rsi, rdi;	/* where it continues */
	struct model_retired retired;
};

/* The guest is at a REP string: set cpu->engine->rep to its progress, if it was interrupted, or to
 * the beginning. */
void rep_begin(struct cpu *cpu);

/* It will continue from here. */
void rep_note(struct cpu *cpu);

/*
 * An iteration was stepped; RCX was `rcx` before it. QEMU 10 traps after the last iteration as
 * after the others, with RIP still at the instruction (docs/TRICKS.md): the instruction is complete
 * then.
 */
void rep_end(struct cpu *cpu, const struct instruction *insn, u64 rcx);

/*
 * Clear RF. QEMU 10 sets RF between two iterations, QEMU 7.2 doesn't. Blocks can't run with RF set.
 * Without instruction breakpoints only the RFLAGS image in an interrupt's frame depends on it.
 */
void rep_drop_rf(struct cpu *cpu);

/*
 * Carry out the string at RIP without a world switch, or some of its iterations, and report it when
 * it is done. For 64-bit code (struct emulate_ops finds the memory), outside of transactions, which
 * must see each access. false: it isn't a simple string (I/O, DF = 1, ...), or the accesses of its
 * next iteration aren't plain.
 */
bool rep_run(struct cpu *cpu, const struct instruction *insn);

#endif
