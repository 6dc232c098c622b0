/* SPDX-License-Identifier: MIT */
/*
 * The counting engine: run the guest while the model watches, and report every instruction that
 * retires, exactly and in order. An engine is asked for only while a counter may count; a faster
 * one can take the place of the single-stepping one behind this header.
 */
#ifndef REFPMU_ENGINE_ENGINE_H
#define REFPMU_ENGINE_ENGINE_H

#include "refpmu/hv/cpu.h"

/* Run the guest until model_watching() is over. Handles its exits, through exits.h. */
void engine_run(struct cpu *cpu);

/* What is at RIP isn't for native running (native_pages.h): run it, at least one instruction, until
 * it may again or the model watches. */
void engine_look(struct cpu *cpu);

/*
 * Behind an instruction at this RIP that has had an exit of its own, while the model doesn't watch:
 * where such instructions are in a loop, go round it without world switches.
 */
void engine_again(struct cpu *cpu, u64 rip);

/* Let the guest complete its next instruction (or take an event instead), whether or not the
 * model watches. For instructions that need another memory behind them: see exit_store.c. */
void engine_step(struct cpu *cpu);

#endif
