/* SPDX-License-Identifier: MIT */
/*
 * The counting engine: runs the guest instruction by instruction, or in translated blocks, and
 * reports every instruction that retires, exactly and in order. It runs the guest while
 * model_needs_retire() is true (engine_run), and for code that the processor below would execute
 * wrongly (engine_run_untrusted, engine_exit_follow, engine_step). engine.c chooses the way that an
 * instruction takes.
 */
#ifndef REFPMU_ENGINE_ENGINE_H
#define REFPMU_ENGINE_ENGINE_H

#include "refpmu/engine/engine_name.h"
#include "refpmu/hv/cpu.h"

/* Once per processor, before its first VMRUN. places: for hypervisor_pages_apart(). */
void engine_init(struct cpu *cpu, struct tlb_places *places);

/* After an INIT: forget everything that was in progress. */
void engine_forget(struct cpu *cpu);

/* Select the engine, on all processors. false: it isn't available on this machine or in this
 * build. */
bool engine_choose(const struct cpu *cpu, enum engine_name engine);
enum engine_name engine_chosen(void);

/* Run the guest until model_needs_retire() is false. Handles its exits, through exits.h. */
void engine_run(struct cpu *cpu);

/* The page at RIP must not run natively (native_pages.h): run at least one instruction, until RIP
 * is on a page that may run natively, or model_needs_retire() is true. */
void engine_run_untrusted(struct cpu *cpu);

/*
 * Called after an instruction that exits by itself, while model_needs_retire() is false; rip: its
 * address. If the next such instruction was near in earlier runs, carry out the instructions up to
 * it without world switches, and so on.
 */
void engine_exit_follow(struct cpu *cpu, u64 rip);

/* Let the guest complete its next instruction (or take an event instead), even if
 * model_needs_retire() is false. For stores to a page that is replaced meanwhile: see
 * exit_store.c. */
void engine_step(struct cpu *cpu);

#endif
