/* SPDX-License-Identifier: MIT */
/*
 * One instruction after the other without world switches (emulate.h), each reported to the model as
 * after a step: where there is no translated code, the model has to see each, or a run of blocks
 * would cost more than it brings.
 */
#ifndef REFPMU_ENGINE_EMULATE_ENGINE_EMULATE_H
#define REFPMU_ENGINE_EMULATE_ENGINE_EMULATE_H

#include "refpmu/hv/cpu.h"

/* Once per processor, before its first VMRUN. */
void engine_emulate_init(struct cpu *cpu);

/* Is the processor in a state for it? 64-bit code at CPL 0 or 3 without trap flag, breakpoints
 * and shadow, with no event on its way. */
bool engine_emulate_fits(const struct cpu *cpu);

/*
 * The instruction at RIP, in such a state. true: it has been carried out and reported, or, with
 * `look`, an interrupt was delivered before it (*delivered). false: nothing was done.
 */
bool engine_emulate(struct cpu *cpu, bool look, bool *delivered);

/* The same for a few, one after the other, until goes_on() says no, an interrupt is delivered or
 * an instruction isn't for this. false: nothing was done. */
bool engine_emulate_run(struct cpu *cpu, bool (*goes_on)(const struct cpu *cpu));

#endif
