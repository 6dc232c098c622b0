/* SPDX-License-Identifier: MIT */
/*
 * The fast engine: stretches of guest code run as translated blocks (block.h) in guest mode, with
 * nested paging and the guest's own page tables in force, so that whatever is hidden or trapped
 * stays so. It does what it can do exactly and leaves everything else to the stepping engine.
 */
#ifndef REFPMU_ENGINE_DBT_ENGINE_BLOCK_H
#define REFPMU_ENGINE_DBT_ENGINE_BLOCK_H

#include "refpmu/hv/cpu.h"

/* Once per processor, before its first VMRUN. Leaves cpu->blocks NULL on a machine without what
 * it needs. */
void engine_block_init(struct cpu *cpu);

/* Whatever it was doing: no blocks, no run. */
void engine_block_forget(struct cpu *cpu);

/* An instruction has retired behind which the guest's page tables may be others: each MOV to CR0,
 * CR3 or CR4, whatever the value, and each invalidation of the TLB. */
void engine_block_tables(struct cpu *cpu);

/* It was one that talks to a device, which may write to memory any time now. */
void engine_block_device(struct cpu *cpu);

/* The guest has run unobserved: what is known of its page tables may be out of date. */
void engine_block_begin(struct cpu *cpu);

/*
 * Run blocks from the guest's RIP on, while the model watches. true: something has retired or an
 * interrupt was delivered; false: the next instruction is for the stepping engine.
 */
bool engine_block_run(struct cpu *cpu);

#endif
