/* SPDX-License-Identifier: MIT */
/* See engine_mapping.h. APM volume 2, "Long-Mode Page Translation". */
#include "refpmu/engine/dbt/block_page.h"
#include "refpmu/hv/code_page.h"
#include "refpmu/engine/dbt/engine_mapping.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/hv/instructions.h"
#include "refpmu/hv/nested_paging.h"

#define PTE_ENTRY	(PTE_P | PTE_W | PTE_U | PTE_A | PTE_D)
#define PTE_TOP_ENTRY	(PTE_P | PTE_W | PTE_A)		/* accessible at CPL 0 only */
#define PTE_TOP_USER	(PTE_TOP_ENTRY | PTE_U)

/*
 * While blocks run, the guest's processor can access the region, but the guest's program must not:
 * a stray access there must fault. So no address that the program may use leads to the region. The
 * guest has four levels of page tables; blocks run with five. Of the top level's entries, the first
 * and the last map the addresses that are canonical with four levels, and the region is in one of
 * the other entries. Non-canonical addresses fault as well, except in the region itself, which may
 * be in any of 510 * 512 * 512 * 507 places. In physical memory the region is above everything that
 * this machine has, in one of some 130 thousand places; from 3/4 TiB on firmware may have devices.
 */
#define MAPPING_GIGABYTES	256u
#define LAST_ENTRY	(PAGE_TABLE_ENTRIES - 1)
#define HALF		(PAGE_TABLE_ENTRIES / 2)
_Static_assert(offsetof(struct mapping_memory, region.jump_cache) % PAGE_SIZE == 0,
	       "writable pages");

/* The region's first pages: the context, and the counts of the first blocks. */
#define MAPPING_BUSY	4

/* Ticks of the TSC between two checks for changes by devices. */
#define LONG_AGO	BIT(24)

/* An instruction may lie in two pages, both of which must be executable. */
static unsigned mapping_fetch(void *ctx, u64 linear, u8 *to, unsigned most)
{
	const struct engine_mapping *mapping = ctx;
	unsigned left = (unsigned)(PAGE_SIZE - linear % PAGE_SIZE);
	unsigned n = most < left ? most : left;
	const u8 *at;

	if (guest_code_at(mapping->cpu, linear, mapping->user, &at) != CODE_ALLOWED)
		return 0;
	__builtin_memcpy(to, at, n);
	if (n >= INSN_MAX_BYTES ||
	    guest_code_at(mapping->cpu, linear + n, mapping->user, &at) != CODE_ALLOWED)
		return n;
	__builtin_memcpy(to + n, at, INSN_MAX_BYTES - n);
	return INSN_MAX_BYTES;
}

static bool hold(void *ctx, u64 linear, struct block_page *page)
{
	const struct engine_mapping *mapping = ctx;

	page->bytes = guest_code_page(mapping->cpu, linear, mapping->user, true);
	return page->bytes && code_page_protect(mapping->cpu, (u64)page->bytes, &page->generation);
}

static u64 extra_address(const struct engine_mapping *mapping, const void *host)
{
	return mapping->physical + ((u64)host - (u64)mapping->memory);
}

static void map_region(struct engine_mapping *mapping)
{
	struct mapping_memory *memory = mapping->memory;
	u64 region = extra_address(mapping, &memory->region);

	memory->level4[mapping->level4] = extra_address(mapping, memory->level3) | PTE_ENTRY;
	memory->level3[mapping->level3] = extra_address(mapping, memory->level2) | PTE_ENTRY;
	for (size_t i = 0; i < MAPPING_TABLES; i++)
		memory->level2[mapping->level2 + i] = extra_address(mapping, memory->level1[i]) |
						      PTE_ENTRY;
	for (size_t i = 0; i < MAPPING_TABLES * PAGE_TABLE_ENTRIES; i++) {
		u64 offset = (i - mapping->place) * PAGE_SIZE;

		memory->level1[i / PAGE_TABLE_ENTRIES]
			      [i % PAGE_TABLE_ENTRIES] = offset < sizeof(memory->region) ?
								 (region + offset) | PTE_ENTRY :
								 0;
	}
}

/*
 * QEMU's TLB is direct-mapped by the page's number, and small after the flush at each VMRUN. If a
 * page of the guest and a page that every block writes have the same entry, each access takes 20 ns
 * more.
 */
static bool meets(const struct engine_mapping *mapping, u64 linear)
{
	return (linear / PAGE_SIZE - mapping->place) % MAPPING_PLACES < MAPPING_BUSY;
}

static void keep_apart(struct engine_mapping *mapping)
{
	const struct vmcb_save *save = &mapping->cpu->vmcb->save;
	unsigned before = mapping->place;

	for (unsigned i = 0; i < MAPPING_PLACES; i++) {
		if (!meets(mapping, save->rip) && !meets(mapping, mapping->cpu->gpr[REG_RSP]))
			break;
		mapping->place = (mapping->place + 1) % MAPPING_PLACES;
	}
	if (mapping->place != before)
		map_region(mapping);
}

static unsigned random_below(u64 *random, unsigned bound)
{
	*random = (*random + tsc()) * 0x9e3779b97f4a7c15;
	return (unsigned)((*random >> 32) % bound);
}

/* Choose the places from the present value of the TSC. */
static void choose_places(struct engine_mapping *mapping)
{
	u64 random = (u64)mapping;

	mapping->physical = NESTED_PAGING_EXTRA +
			    ((u64)random_below(&random, MAPPING_GIGABYTES) << 30) +
			    ((u64)random_below(&random, PAGE_TABLE_ENTRIES - MAPPING_LARGE_PAGES)
			     << 21);
	mapping->level5 = 1 + random_below(&random, PAGE_TABLE_ENTRIES - 2);
	mapping->level4 = random_below(&random, PAGE_TABLE_ENTRIES);
	mapping->level3 = random_below(&random, PAGE_TABLE_ENTRIES);
	mapping->level2 = random_below(&random, PAGE_TABLE_ENTRIES - MAPPING_TABLES);
}

static u64 region_begin(const struct engine_mapping *mapping)
{
	u64 begin = ((u64)mapping->level5 << 48) + ((u64)mapping->level4 << 39) +
		    ((u64)mapping->level3 << 30) + ((u64)mapping->level2 << 21);

	return mapping->level5 < HALF ? begin : begin | BITS(57, 63);
}

/* Build the tables, without the guest's entries. */
static void build_tables(struct engine_mapping *mapping)
{
	struct mapping_memory *memory = mapping->memory;

	memory->level5[0] = extra_address(mapping, memory->low) | PTE_ENTRY;
	memory->level5[LAST_ENTRY] = extra_address(mapping, memory->high) | PTE_ENTRY;
	memory->level5[mapping->level5] = extra_address(mapping, memory->level4) |
					  (mapping->user ? PTE_TOP_USER : PTE_TOP_ENTRY);
	map_region(mapping);
}

void mapping_init(struct engine_mapping *mapping, struct cpu *cpu, bool user)
{
	static const u8 vmmcall[3] = { 0x0f, 0x01, 0xd9 };

	mapping->cpu = cpu;
	mapping->user = user;
	mapping->memory = hypervisor_pages(
		(unsigned)((sizeof(*mapping->memory) + PAGE_SIZE - 1) / PAGE_SIZE));
	choose_places(mapping);
	/* Only the host writes the code and the targets of indirect branches. */
	mapping->nested_cr3 = nested_paging_with(cpu, mapping->physical, mapping->memory,
						 sizeof(*mapping->memory),
						 offsetof(struct mapping_memory,
							  region.jump_cache));
	build_tables(mapping);
	mapping->source = (struct block_source){ .ctx = mapping,
						 .fetch = mapping_fetch,
						 .hold = hold };
	block_init(&mapping->cache, &mapping->memory->region, &mapping->source, vmmcall);
}

bool mapping_refuses(const struct engine_mapping *mapping, u64 rip)
{
	return mapping->refused[rip % MAPPING_REFUSED] == rip;
}

void mapping_refuse(struct engine_mapping *mapping, u64 rip)
{
	mapping->refused[rip % MAPPING_REFUSED] = rip;
}

static void forget_refused(struct engine_mapping *mapping)
{
	for (unsigned i = 0; i < MAPPING_REFUSED; i++)
		mapping->refused[i] = 0;
}

void mapping_flush(struct engine_mapping *mapping)
{
	block_flush(&mapping->cache);
	forget_refused(mapping);
}

/* Is the page at the same address, executable and unchanged? */
static bool is_same(const struct engine_mapping *mapping, const struct block_page *page)
{
	return code_page_holds((u64)page->bytes, page->generation) &&
	       guest_code_page(mapping->cpu, page->linear, mapping->user, false) == page->bytes &&
	       block_page_same(page);
}

/* Stores by processors end the protection, whatever the page tables say. */
static void check_protection(struct engine_mapping *mapping)
{
	struct block_cache *cache = &mapping->cache;

	if (mapping->epoch == code_page_epoch())
		return;
	mapping->epoch = code_page_epoch();
	for (unsigned i = 0; i < BLOCK_PAGES; i++)
		if (cache->page[i].protected &&
		    !code_page_holds((u64)cache->page[i].bytes, cache->page[i].generation))
			block_page_drop(cache, &cache->page[i]);
}

/*
 * A block that compares its bytes faults if nothing is mapped. It can't notice that the code has
 * become data, or belongs to another privilege level.
 */
static void check_compared(struct engine_mapping *mapping)
{
	const struct block_cache *cache = &mapping->cache;
	u64 page = ~0ULL;

	for (u32 i = 0; i < cache->n_blocks; i++) {
		if (cache->block[i].page != BLOCK_PAGE_NONE ||
		    cache->block[i].rip / PAGE_SIZE == page)
			continue;
		page = cache->block[i].rip / PAGE_SIZE;
		/* Its last instruction may extend into the next page. */
		if (guest_code_at(mapping->cpu, page * PAGE_SIZE, mapping->user, NULL) ==
			    CODE_FORBIDDEN ||
		    guest_code_at(mapping->cpu, (page + 1) * PAGE_SIZE, mapping->user, NULL) ==
			    CODE_FORBIDDEN) {
			mapping_flush(mapping);
			return;
		}
	}
}

/*
 * Page tables take effect, at the latest, when one of the registers below is written, even with its
 * old value, or with INVLPG and similar instructions. No block has those, and retire.c notes them.
 * Changes by devices are found at the same time, and after some time without a check.
 */
void mapping_check(struct engine_mapping *mapping)
{
	const struct vmcb_save *save = &mapping->cpu->vmcb->save;
	struct block_cache *cache = &mapping->cache;
	u64 now = tsc();

	check_protection(mapping);
	if (!mapping->stale && mapping->device_interrupts == mapping->cpu->device_interrupts &&
	    now - mapping->checked < LONG_AGO && mapping->cr0 == save->cr0 &&
	    mapping->cr3 == save->cr3 && mapping->cr4 == save->cr4 && mapping->efer == save->efer)
		return;
	mapping->stale = false;
	mapping->device_interrupts = mapping->cpu->device_interrupts;
	mapping->checked = now;
	mapping->cr0 = save->cr0;
	mapping->cr3 = save->cr3;
	mapping->cr4 = save->cr4;
	mapping->efer = save->efer;
	forget_refused(mapping);
	for (unsigned i = 0; i < BLOCK_PAGES; i++)
		if (cache->page[i].protected && !is_same(mapping, &cache->page[i])) {
			block_page_drop(cache, &cache->page[i]);
			block_page_mistaken(&cache->page[i]);
		}
	check_compared(mapping);
}

/* ---- the guest's top-level table, as one half of memory each ---- */

static u64 *guest_top(const struct engine_mapping *mapping)
{
	return nested_paging_host(mapping->cpu->vmcb->save.cr3 & PTE_ADDRESS);
}

/* The entries of the copy from number i on; the other half of each of its tables stays empty. */
static u64 *copied(struct mapping_memory *memory, unsigned i)
{
	return i < HALF ? &memory->low[i] : &memory->high[i];
}

_Static_assert(HALF % MAPPING_GROUP == 0, "a group is in one half");

/* Most entries are 0, and so are most groups of them. */
static bool any_entry(const u64 group[MAPPING_GROUP])
{
	u64 any = 0;

	for (unsigned i = 0; i < MAPPING_GROUP; i++)
		any |= group[i];
	return any;
}

bool mapping_map(struct engine_mapping *mapping)
{
	const u64 *top = guest_top(mapping);

	if (!top)
		return false;
	for (unsigned i = 0; i < PAGE_TABLE_ENTRIES; i += MAPPING_GROUP) {
		bool *is_used = &mapping->is_used[i / MAPPING_GROUP];
		bool was_used = *is_used;

		*is_used = any_entry(top + i);
		if (*is_used || was_used)
			__builtin_memcpy(copied(mapping->memory, i), top + i,
					 MAPPING_GROUP * sizeof(*top));
	}
	keep_apart(mapping);
	mapping->cache.runs_at = region_begin(mapping) + mapping->place * PAGE_SIZE;
	return true;
}

void mapping_enter(const struct engine_mapping *mapping)
{
	struct vmcb_save *save = &mapping->cpu->vmcb->save;

	save->cr3 = extra_address(mapping, mapping->memory->level5);
	save->cr4 |= CR4_LA57;
	mapping->cpu->vmcb->control.nested_cr3 = mapping->nested_cr3;
}

void mapping_unmap(struct engine_mapping *mapping)
{
	u64 *top = guest_top(mapping);

	for (unsigned first = 0; first < PAGE_TABLE_ENTRIES; first += MAPPING_GROUP) {
		if (!mapping->is_used[first / MAPPING_GROUP])
			continue;
		for (unsigned i = first; i < first + MAPPING_GROUP; i++)
			if ((top[i] & PTE_P) && !(top[i] & PTE_A) &&
			    (*copied(mapping->memory, i) & PTE_A))
				guest_memory_accessed(mapping->cpu, &top[i]);
	}
}
