/* SPDX-License-Identifier: MIT */
/*
 * Runs one instruction after the other without world switches (emulate.h), and reports each to the
 * model like a step. Used where there is no translated code, where the model must see each
 * instruction, or where a run of blocks would take longer.
 */
#ifndef REFPMU_ENGINE_EMULATE_ENGINE_EMULATE_H
#define REFPMU_ENGINE_EMULATE_ENGINE_EMULATE_H

#include "refpmu/hv/cpu.h"

#define EMULATE_IN_ONE_GO	16	/* instructions between two checks for external events */

/* Once per processor, before its first VMRUN. */
void engine_emulate_init(struct cpu *cpu);

/* Is the processor in a suitable state? 64-bit code at CPL 0 or 3, without trap flag, breakpoints
 * and interrupt shadow, and without a pending event. */
bool engine_emulate_fits(const struct cpu *cpu);

/*
 * Carry out the instruction at RIP, in such a state. true: it has been carried out and reported or,
 * with `look`, an interrupt was delivered before it (*delivered). false: nothing was done.
 */
bool engine_emulate(struct cpu *cpu, bool look, bool *delivered);

/* The same for several instructions, until goes_on() returns false, an interrupt is delivered, or
 * an instruction can't be emulated. false: nothing was done. */
bool engine_emulate_run(struct cpu *cpu, bool (*goes_on)(const struct cpu *cpu));

#endif
