/* SPDX-License-Identifier: MIT */
/*
 * Instructions that operating systems run all the time, and that run neither directly nor in a
 * block: carried out in C, while the guest's state is at hand. What is unusual about one (an
 * exception, another mode, a flag that changes what comes after it) is left to the processor.
 */
#ifndef REFPMU_ENGINE_EMULATE_SYSTEM_H
#define REFPMU_ENGINE_EMULATE_SYSTEM_H

#include "refpmu/hv/cpu.h"
#include "refpmu/engine/decode.h"

/*
 * The instruction at RIP, in 64-bit code without trap flag, breakpoints or shadow. true: it has
 * been carried out and reported, has raised its exception, or an interrupt was delivered before
 * it. false: nothing was done.
 */
bool engine_system(struct cpu *cpu, const struct instruction *insn);

#endif
