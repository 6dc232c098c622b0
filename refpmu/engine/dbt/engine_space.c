/* SPDX-License-Identifier: MIT */
/* See engine_space.h. APM volume 2, "Long-Mode Page Translation". */
#include "refpmu/engine/dbt/block_page.h"
#include "refpmu/hv/code_page.h"
#include "refpmu/engine/dbt/engine_space.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/hv/instructions.h"
#include "refpmu/hv/nested_paging.h"

#define PTE_ENTRY	(PTE_P | PTE_W | PTE_U | PTE_A | PTE_D)
#define PTE_TOP_ENTRY	(PTE_P | PTE_W | PTE_A)		/* for CPL 0 only */
#define PTE_TOP_USER	(PTE_TOP_ENTRY | PTE_U)

/*
 * The guest's processor reaches the region while blocks run, and its program is not to: what strays
 * there must fault. So no address that the program may use leads to it. The guest has four levels
 * of page tables, blocks run with five; of the upper one's entries the first and the last map what
 * is canonical with four, and the region is in one of the others. What isn't canonical faults as
 * well, but for the region itself, and that may be in any of 510 * 512 * 512 * 510 places. In
 * physical memory it is beyond all that this machine has, in one of some 130 thousand places; from
 * 3/4 TiB on firmware may have devices.
 */
#define SPACE_GIGABYTES	256u
#define LAST_ENTRY	(PAGE_TABLE_ENTRIES - 1)
#define HALF		(PAGE_TABLE_ENTRIES / 2)
_Static_assert(offsetof(struct space_memory, region.indirect) % PAGE_SIZE == 0, "writable pages");

/* The region's first pages: its context, and the counts of the first blocks. */
#define SPACE_BUSY	4

/* So many ticks of the TSC after the last look at what devices may have changed comes another. */
#define LONG_AGO	BIT(24)

/* Instructions may straddle two pages, both of which must be executable. */
static unsigned fetch(void *ctx, u64 linear, u8 *to, unsigned most)
{
	const struct engine_space *space = ctx;
	unsigned left = (unsigned)(PAGE_SIZE - linear % PAGE_SIZE);
	unsigned n = most < left ? most : left;
	const u8 *at;

	if (guest_code_at(space->cpu, linear, space->user, &at) != CODE_ALLOWED)
		return 0;
	__builtin_memcpy(to, at, n);
	if (n >= INSN_MAX_BYTES ||
	    guest_code_at(space->cpu, linear + n, space->user, &at) != CODE_ALLOWED)
		return n;
	__builtin_memcpy(to + n, at, INSN_MAX_BYTES - n);
	return INSN_MAX_BYTES;
}

static bool hold(void *ctx, u64 linear, struct block_page *page)
{
	const struct engine_space *space = ctx;

	page->bytes = guest_code_page(space->cpu, linear, space->user, true);
	return page->bytes && code_page_protect(space->cpu, (u64)page->bytes, &page->generation);
}

static u64 extra_address(const struct engine_space *space, const void *host)
{
	return space->physical + ((u64)host - (u64)space->memory);
}

static void map_region(struct engine_space *space)
{
	struct space_memory *memory = space->memory;
	u64 region = extra_address(space, &memory->region);

	memory->level4[space->level4] = extra_address(space, memory->level3) | PTE_ENTRY;
	memory->level3[space->level3] = extra_address(space, memory->level2) | PTE_ENTRY;
	for (size_t i = 0; i < SPACE_TABLES; i++)
		memory->level2[space->level2 + i] = extra_address(space, memory->level1[i]) |
						   PTE_ENTRY;
	for (size_t i = 0; i < SPACE_TABLES * PAGE_TABLE_ENTRIES; i++) {
		u64 offset = (i - space->place) * PAGE_SIZE;

		memory->level1[i / PAGE_TABLE_ENTRIES][i % PAGE_TABLE_ENTRIES] =
			offset < sizeof(memory->region) ? (region + offset) | PTE_ENTRY : 0;
	}
}

/*
 * QEMU's TLB is direct-mapped by the page's number, and small after the flush at each VMRUN: where
 * a page of the guest's and one that every block writes meet in it, each access costs 20 ns.
 */
static bool meets(const struct engine_space *space, u64 linear)
{
	return (linear / PAGE_SIZE - space->place) % SPACE_PLACES < SPACE_BUSY;
}

static void keep_apart(struct engine_space *space)
{
	const struct vmcb_save *save = &space->cpu->vmcb->save;
	unsigned before = space->place;

	for (unsigned i = 0; i < SPACE_PLACES; i++) {
		if (!meets(space, save->rip) && !meets(space, space->cpu->gpr[REG_RSP]))
			break;
		space->place = (space->place + 1) % SPACE_PLACES;
	}
	if (space->place != before)
		map_region(space);
}

static unsigned random_below(u64 *random, unsigned bound)
{
	*random = (*random + tsc()) * 0x9e3779b97f4a7c15;
	return (unsigned)((*random >> 32) % bound);
}

/* Of what the time stamp counter happens to be. */
static void choose_places(struct engine_space *space)
{
	u64 random = (u64)space;

	space->physical = NESTED_PAGING_EXTRA +
		((u64)random_below(&random, SPACE_GIGABYTES) << 30) +
		((u64)random_below(&random, PAGE_TABLE_ENTRIES - SPACE_LARGE_PAGES) << 21);
	space->level5 = 1 + random_below(&random, PAGE_TABLE_ENTRIES - 2);
	space->level4 = random_below(&random, PAGE_TABLE_ENTRIES);
	space->level3 = random_below(&random, PAGE_TABLE_ENTRIES);
	space->level2 = random_below(&random, PAGE_TABLE_ENTRIES - SPACE_TABLES);
}

static u64 region_begin(const struct engine_space *space)
{
	u64 begin = ((u64)space->level5 << 48) + ((u64)space->level4 << 39) +
		    ((u64)space->level3 << 30) + ((u64)space->level2 << 21);

	return space->level5 < HALF ? begin : begin | BITS(57, 63);
}

/* All but the guest's entries. */
static void build_tables(struct engine_space *space)
{
	struct space_memory *memory = space->memory;

	memory->level5[0] = extra_address(space, memory->low) | PTE_ENTRY;
	memory->level5[LAST_ENTRY] = extra_address(space, memory->high) | PTE_ENTRY;
	memory->level5[space->level5] = extra_address(space, memory->level4) |
					(space->user ? PTE_TOP_USER : PTE_TOP_ENTRY);
	map_region(space);
}

void space_init(struct engine_space *space, struct cpu *cpu, bool user)
{
	static const u8 vmmcall[3] = { 0x0f, 0x01, 0xd9 };

	space->cpu = cpu;
	space->user = user;
	space->memory = hypervisor_pages((unsigned)((sizeof(*space->memory) + PAGE_SIZE - 1) /
						    PAGE_SIZE));
	choose_places(space);
	/* Code, and where indirect branches go, is for the host to write. */
	space->nested_cr3 = nested_paging_with(cpu, space->physical, space->memory,
					       sizeof(*space->memory),
					       offsetof(struct space_memory, region.indirect));
	build_tables(space);
	space->source = (struct block_source){ .ctx = space, .fetch = fetch, .hold = hold };
	block_init(&space->cache, &space->memory->region, &space->source, vmmcall);
}

bool space_refuses(const struct engine_space *space, u64 rip)
{
	return space->refused[rip % SPACE_REFUSED] == rip;
}

void space_refuse(struct engine_space *space, u64 rip)
{
	space->refused[rip % SPACE_REFUSED] = rip;
}

static void forget_refused(struct engine_space *space)
{
	for (unsigned i = 0; i < SPACE_REFUSED; i++)
		space->refused[i] = 0;
}

void space_flush(struct engine_space *space)
{
	block_flush(&space->cache);
	forget_refused(space);
}

/* Is the page where it was, executable, and what it was? */
static bool is_same(const struct engine_space *space, const struct block_page *page)
{
	return code_page_holds((u64)page->bytes, page->generation) &&
	       guest_code_page(space->cpu, page->linear, space->user, false) == page->bytes &&
	       block_page_same(page);
}

/* Processors' stores end the protection, whatever the page tables say. */
static void check_protection(struct engine_space *space)
{
	struct block_cache *cache = &space->cache;

	if (space->epoch == code_page_epoch())
		return;
	space->epoch = code_page_epoch();
	for (unsigned i = 0; i < BLOCK_PAGES; i++)
		if (cache->page[i].firm && !code_page_holds((u64)cache->page[i].bytes,
							    cache->page[i].generation))
			block_page_drop(cache, &cache->page[i]);
}

/*
 * Blocks that compare their bytes fault where nothing is mapped; what they can't see is that code
 * has become data, or is for another privilege level.
 */
static void check_compared(struct engine_space *space)
{
	const struct block_cache *cache = &space->cache;
	u64 page = ~0ULL;

	for (u32 i = 0; i < cache->n_blocks; i++) {
		if (cache->block[i].page != BLOCK_PAGE_NONE ||
		    cache->block[i].rip / PAGE_SIZE == page)
			continue;
		page = cache->block[i].rip / PAGE_SIZE;
		/* Its last instruction may reach into the next one. */
		if (guest_code_at(space->cpu, page * PAGE_SIZE, space->user, NULL) ==
		    CODE_FORBIDDEN ||
		    guest_code_at(space->cpu, (page + 1) * PAGE_SIZE, space->user, NULL) ==
		    CODE_FORBIDDEN) {
			space_flush(space);
			return;
		}
	}
}

/*
 * Page tables take effect at the latest when one of the registers below is written, if only with
 * the value that it has, or with INVLPG and the like: no block holds those, and retire.c notes
 * them. What a device has written is found at the same time, and when
 * the last look was some while ago.
 */
void space_check(struct engine_space *space)
{
	const struct vmcb_save *save = &space->cpu->vmcb->save;
	struct block_cache *cache = &space->cache;
	u64 now = tsc();

	check_protection(space);
	if (!space->stale && space->device_interrupts == space->cpu->device_interrupts &&
	    now - space->checked < LONG_AGO && space->cr0 == save->cr0 &&
	    space->cr3 == save->cr3 && space->cr4 == save->cr4 && space->efer == save->efer)
		return;
	space->stale = false;
	space->device_interrupts = space->cpu->device_interrupts;
	space->checked = now;
	space->cr0 = save->cr0;
	space->cr3 = save->cr3;
	space->cr4 = save->cr4;
	space->efer = save->efer;
	forget_refused(space);
	for (unsigned i = 0; i < BLOCK_PAGES; i++)
		if (cache->page[i].firm && !is_same(space, &cache->page[i])) {
			block_page_drop(cache, &cache->page[i]);
			block_page_mistaken(&cache->page[i]);
		}
	check_compared(space);
}

/* ---- the guest's top-level table, as one half of memory each ---- */

static u64 *guest_top(const struct engine_space *space)
{
	return nested_paging_host(space->cpu->vmcb->save.cr3 & PTE_ADDRESS);
}

/* The entry of the copy: the other half of each of its tables stays empty. */
static u64 *copied(struct space_memory *memory, unsigned i)
{
	return i < HALF ? &memory->low[i] : &memory->high[i];
}

bool space_map(struct engine_space *space)
{
	const u64 *top = guest_top(space);

	if (!top)
		return false;
	for (unsigned i = 0; i < PAGE_TABLE_ENTRIES; i++)
		*copied(space->memory, i) = top[i];
	keep_apart(space);
	space->cache.runs_at = region_begin(space) + space->place * PAGE_SIZE;
	return true;
}

void space_enter(const struct engine_space *space)
{
	struct vmcb_save *save = &space->cpu->vmcb->save;

	save->cr3 = extra_address(space, space->memory->level5);
	save->cr4 |= CR4_LA57;
	space->cpu->vmcb->control.nested_cr3 = space->nested_cr3;
}

void space_unmap(struct engine_space *space)
{
	u64 *top = guest_top(space);

	for (unsigned i = 0; i < PAGE_TABLE_ENTRIES; i++)
		if ((top[i] & PTE_P) && !(top[i] & PTE_A) && (*copied(space->memory, i) & PTE_A))
			guest_memory_accessed(space->cpu, &top[i]);
}
