/* SPDX-License-Identifier: MIT */
/*
 * REP strings under way: one retired instruction, however many iterations, interrupts and faults
 * there are, whichever engine runs them. SDM volume 2, "REP/REPE/REPZ/REPNE/REPNZ".
 */
#ifndef REFPMU_ENGINE_EMULATE_REP_H
#define REFPMU_ENGINE_EMULATE_REP_H

#include "refpmu/hv/cpu.h"

struct instruction;

/* A REP string under way: one retired instruction, however many iterations and interrupts. */
struct rep_progress {
	bool active;
	u64 rip, cr3, rsp, rcx, rsi, rdi;	/* where it goes on; anything else is another one */
	struct model_retired retired;
};

/* The guest is at a REP string: cpu->engine->rep is its progress, if it was interrupted, or a new
 * one. */
void rep_begin(struct cpu *cpu);

/* It goes on from here. */
void rep_note(struct cpu *cpu);

/*
 * An iteration was stepped, RCX was `rcx` before it. QEMU 10 traps after the last one as after the
 * others, with RIP at the instruction and none left (docs/TRICKS.md): it is done then.
 */
void rep_end(struct cpu *cpu, const struct instruction *insn, u64 rcx);

/*
 * QEMU 10 sets RF between two iterations, QEMU 7.2 doesn't. Blocks aren't run with it, and without
 * instruction breakpoints nothing but the image in an interrupt's frame depends on it.
 */
void rep_drop_rf(struct cpu *cpu);

/*
 * Carry out the string at RIP without a world switch, or some of its iterations, and report it
 * when it is done. For 64-bit code (struct emulate_ops says where), outside of transactions, which
 * look at each access. false: it isn't simple (I/O, downwards, ...), or its next iteration isn't
 * plain accesses.
 */
bool rep_run(struct cpu *cpu, const struct instruction *insn);

#endif
