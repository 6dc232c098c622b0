/* SPDX-License-Identifier: MIT */
/*
 * The counting engine: runs the guest instruction by instruction, or in translated blocks, where it
 * may not run natively, and reports every instruction that retires, exactly and in order. That is
 * while the model watches (engine_run), and for code that the processor underneath would execute
 * wrongly (engine_run_untrusted, engine_exit_follow, engine_step). engine.c says which way an
 * instruction takes.
 */
#ifndef REFPMU_ENGINE_ENGINE_H
#define REFPMU_ENGINE_ENGINE_H

#include "refpmu/engine/engine_name.h"
#include "refpmu/hv/cpu.h"

/* Once per processor, before its first VMRUN. places: for hypervisor_pages_apart(). */
void engine_init(struct cpu *cpu, struct tlb_places *places);

/* After an INIT, whatever the processor was doing. */
void engine_forget(struct cpu *cpu);

/* Which ways instructions may take, on all processors. false: not on this machine, or in this
 * build. */
bool engine_choose(const struct cpu *cpu, enum engine_name engine);
enum engine_name engine_chosen(void);

/* Run the guest until model_needs_retire() is over. Handles its exits, through exits.h. */
void engine_run(struct cpu *cpu);

/* The page at RIP must not run natively (native_pages.h): run it, at least one instruction, until
 * RIP is on a page that may, or the model watches. */
void engine_run_untrusted(struct cpu *cpu);

/*
 * After the instruction at this RIP, which had an exit of its own, while the model doesn't watch:
 * where the next such instruction was near before, go on to it, and from it, without world
 * switches.
 */
void engine_exit_follow(struct cpu *cpu, u64 rip);

/* Let the guest complete its next instruction (or take an event instead), whether or not the
 * model watches. For instructions that need another memory after them: see exit_store.c. */
void engine_step(struct cpu *cpu);

#endif
