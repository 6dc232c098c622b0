/* SPDX-License-Identifier: MIT */
/*
 * Instructions that operating systems execute often, and that can be neither executed directly nor
 * put into a block. They are carried out in C without a world switch. Unusual cases (an exception,
 * another mode, a flag that changes the instructions after it) are left to the processor.
 */
#ifndef REFPMU_ENGINE_EMULATE_SYSTEM_H
#define REFPMU_ENGINE_EMULATE_SYSTEM_H

#include "refpmu/hv/cpu.h"
#include "refpmu/engine/decode.h"

/*
 * Carry out the instruction at RIP, in 64-bit code without trap flag, breakpoints or interrupt
 * shadow. true: it has been carried out and reported, it has raised its exception, or an interrupt
 * was delivered before it. false: nothing was done.
 */
bool engine_system(struct cpu *cpu, const struct instruction *insn);

#endif
