/* SPDX-License-Identifier: MIT */
/*
 * The memory of the translator's blocks: one space for CPL 0 and one for CPL 3, each with its
 * region of code and its cache of blocks. While blocks run, the region is mapped
 *  - in linear memory at an address that isn't canonical for the guest, through page tables of
 *    five levels, the lower four of which are the guest's,
 *  - in physical memory through nested tables of its own, beyond everything else.
 * Nothing of the guest's memory or page tables changes.
 */
#ifndef REFPMU_ENGINE_DBT_ENGINE_MAPPING_H
#define REFPMU_ENGINE_DBT_ENGINE_MAPPING_H

#include "refpmu/engine/dbt/block.h"
#include "refpmu/hv/cpu.h"

#define MAPPING_REFUSED	1024
#define MAPPING_PLACES	64		/* pages by which the region may be moved up */
#define MAPPING_BYTES	(sizeof(struct block_region) + MAPPING_PLACES * PAGE_SIZE)
#define MAPPING_LARGE_PAGES ((sizeof(struct mapping_memory) + BIT(21) - 1) >> 21) /* of 2 MiB */
#define MAPPING_TABLES	((MAPPING_BYTES + BIT(21) - 1) >> 21)

#define MAPPING_GROUP	8u	/* entries of the top level that are looked at together */

/* Memory that the guest's processor can access while it runs blocks. */
struct mapping_memory {
	u64 level5[PAGE_TABLE_ENTRIES];
	u64 low[PAGE_TABLE_ENTRIES];	/* copies of the guest's top-level table, of a half each */
	u64 high[PAGE_TABLE_ENTRIES];
	u64 level4[PAGE_TABLE_ENTRIES];	/* the region's from here on */
	u64 level3[PAGE_TABLE_ENTRIES], level2[PAGE_TABLE_ENTRIES];
	u64 level1[MAPPING_TABLES][PAGE_TABLE_ENTRIES];
	struct block_region region;
};

struct engine_mapping {
	struct cpu *cpu;
	bool user;			/* of CPL 3 */
	struct block_cache cache;
	struct block_source source;
	struct mapping_memory *memory;
	u64 nested_cr3;
	unsigned place;			/* in pages */
	u64 physical;			/* guest-physical address of *memory */
	unsigned level5, level4, level3, level2;	/* entries that lead to the region */
	u64 refused[MAPPING_REFUSED];	/* addresses at which blocks don't begin */
	u64 needless_runs;		/* since one whose branches were recorded */
	bool is_used[PAGE_TABLE_ENTRIES / MAPPING_GROUP];	/* of the copy of the top level */
	bool stale;			/* page tables, or devices' memory, may have changed */
	u32 device_interrupts;		/* cpu->device_interrupts when all was checked, */
	u64 checked;			/* and the TSC */
	u32 epoch;			/* code_page_epoch() that the blocks fit */
	u64 cr0, cr3, cr4, efer;	/* when it was */
};

/* Once per processor, before its first VMRUN; all of *space is zero. */
void mapping_init(struct engine_mapping *mapping, struct cpu *cpu, bool user);

/* Forget all blocks. Not within a run. */
void mapping_flush(struct engine_mapping *mapping);

/* Check everything that may have changed since the last run; before each run. */
void mapping_check(struct engine_mapping *mapping);

/*
 * Map the region outside of the guest's linear memory, which has four levels of page tables; its
 * address is space->cache.runs_at. false: the guest's top-level table can't be copied.
 * mapping_enter() puts CR3, CR4 and the nested tables with the region into the VMCB.
 */
bool mapping_map(struct engine_mapping *mapping);
void mapping_enter(const struct engine_mapping *mapping);

/* After the run: copy accessed bits to the guest's own table. */
void mapping_unmap(struct engine_mapping *mapping);

/* Addresses at which blocks don't begin: is this one? Note this one. */
bool mapping_refuses(const struct engine_mapping *mapping, u64 rip);
void mapping_refuse(struct engine_mapping *mapping, u64 rip);

#endif
