/* SPDX-License-Identifier: MIT */
/*
 * Where the translator's blocks live: one space for CPL 0 and one for CPL 3, each with its region
 * of code and its cache of blocks. While blocks run, the guest's processor finds the region
 *  - in linear memory at an address that isn't canonical for the guest, through page tables of
 *    five levels, the lower four of which are the guest's,
 *  - in physical memory through nested tables of its own, beyond everything else.
 * Nothing of the guest's memory or page tables changes.
 */
#ifndef REFPMU_ENGINE_DBT_ENGINE_SPACE_H
#define REFPMU_ENGINE_DBT_ENGINE_SPACE_H

#include "refpmu/engine/dbt/block.h"
#include "refpmu/hv/cpu.h"

#define SPACE_REFUSED	1024
#define SPACE_PLACES	64		/* pages by which the region may be moved up */
#define SPACE_BYTES	(sizeof(struct block_region) + SPACE_PLACES * PAGE_SIZE)
#define SPACE_LARGE_PAGES ((sizeof(struct space_memory) + BIT(21) - 1) >> 21)	/* of 2 MiB */
#define SPACE_TABLES	((SPACE_BYTES + BIT(21) - 1) >> 21)

/* What the guest's processor reaches while it runs blocks. */
struct space_memory {
	u64 level5[PAGE_TABLE_ENTRIES];
	u64 low[PAGE_TABLE_ENTRIES];	/* copies of the guest's top-level table, of a half each */
	u64 high[PAGE_TABLE_ENTRIES];
	u64 level4[PAGE_TABLE_ENTRIES];	/* the region's from here on */
	u64 level3[PAGE_TABLE_ENTRIES], level2[PAGE_TABLE_ENTRIES];
	u64 level1[SPACE_TABLES][PAGE_TABLE_ENTRIES];
	struct block_region region;
};

struct engine_space {
	struct cpu *cpu;
	bool user;			/* of CPL 3 */
	struct block_cache cache;
	struct block_source source;
	struct space_memory *memory;
	u64 nested_cr3;
	unsigned place;			/* in pages */
	u64 physical;			/* guest-physical address of *memory */
	unsigned level5, level4, level3, level2;	/* entries that lead to the region */
	u64 refused[SPACE_REFUSED];	/* addresses at which blocks don't begin */
	bool stale;			/* page tables, or devices' memory, may have changed */
	u32 device_interrupts;		/* cpu->device_interrupts when all was checked, */
	u64 checked;			/* and the TSC */
	u32 epoch;			/* code_page_epoch() that the blocks fit */
	u64 cr0, cr3, cr4, efer;	/* when it was */
};

/* Once per processor, before its first VMRUN; all of *space is zero. */
void space_init(struct engine_space *space, struct cpu *cpu, bool user);

/* Forget all blocks. Not within a run. */
void space_flush(struct engine_space *space);

/* Look again at everything that may have changed since the last run; before each run. */
void space_check(struct engine_space *space);

/*
 * Put the region beside the guest's linear memory, which has four levels of page tables:
 * space->cache.runs_at. false: its top-level table can't be copied. space_enter() puts CR3, CR4 and
 * the nested tables that show it into the VMCB.
 */
bool space_map(struct engine_space *space);
void space_enter(const struct engine_space *space);

/* After the run: accessed bits that belong into the guest's own table. */
void space_unmap(struct engine_space *space);

/* Blocks don't begin at this address; ask, and note. */
bool space_refuses(const struct engine_space *space, u64 rip);
void space_refuse(struct engine_space *space, u64 rip);

#endif
