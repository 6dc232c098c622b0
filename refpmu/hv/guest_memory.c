/* SPDX-License-Identifier: MIT */
/* APM volume 2, "Long-Mode Page Translation". Protection keys don't apply to supervisor pages on
 * the processor presented; SMAP doesn't apply to accesses by microcode. */
#include "refpmu/hv/code_page.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/hv/nested_paging.h"
#include "refpmu/hv/page_walk.h"
#include "refpmu/hv/svm.h"
#include "spec/msr.h"

#define PAGE_SHIFT	12
#define PAT_WT		4
#define PAT_WB		6

/* I/O APIC, HPET, local APIC; above them is the firmware's flash, which is memory. */
#define IO_BASE		0xfec00000ULL
#define IO_END		0xff000000ULL

/* ---- pages that were found ---- */

/*
 * A walk through four levels takes most of the time of an emulated instruction. So the result of a
 * walk is kept until the guest runs by itself, invalidates a page, or changes a register that it
 * depends on; a processor's TLB may keep it as long. The accessed and dirty bits are set by then.
 */
enum use {
	USE_READ, USE_WRITE, USE_EXECUTE,		/* at CPL 0, */
	USE_READ_3, USE_WRITE_3, USE_EXECUTE_3,		/* and at CPL 3 */
	USE_MICROCODE_READ, USE_MICROCODE_WRITE,
	USE_MODEL,
};

static u64 key_of(u64 linear, enum use use)
{
	return (linear & ~(PAGE_SIZE - 1)) | use;
}

static struct translation *place_of(struct cpu *cpu, u64 linear, enum use use)
{
	return &cpu->translations.page[(linear / PAGE_SIZE + 7 * use) % TRANSLATIONS];
}

/* The result of an earlier walk, or NULL. */
static const struct translation *found_before(struct cpu *cpu, u64 linear, enum use use)
{
	const struct translation *page = place_of(cpu, linear, use);
	const struct vmcb_save *save = &cpu->vmcb->save;
	struct translations *all = &cpu->translations;

	if (all->cr3 == save->cr3 && all->cr0 == save->cr0 && all->cr4 == save->cr4 &&
	    all->efer == save->efer)
		return page->key == key_of(linear, use) && page->generation == all->generation ?
			       page :
			       NULL;
	all->cr3 = save->cr3;
	all->cr0 = save->cr0;
	all->cr4 = save->cr4;
	all->efer = save->efer;
	all->generation++;
	return NULL;
}

static struct translation *keep(struct cpu *cpu, u64 linear, enum use use, u64 physical)
{
	struct translation *page = place_of(cpu, linear, use);

	page->key = key_of(linear, use);
	page->physical = physical & ~(PAGE_SIZE - 1);
	page->generation = cpu->translations.generation;
	return page;
}

/* ---- */

/* Sign extension from the highest translated bit upwards. */
static bool canonical(u64 linear, unsigned bits)
{
	u64 top = linear >> (bits - 1);

	return top == 0 || top == ~0ULL >> (bits - 1);
}

/* Set accessed and dirty bits. Page tables may be in the same page as code. */
static void set_bits(struct cpu *cpu, u64 *entry, u64 bits)
{
	if ((*entry & bits) == bits)
		return;
	code_page_written(cpu, (u64)entry);
	*entry |= bits;
}

/* The host's address of guest memory that will be written. */
static u8 *writable_at(struct cpu *cpu, u64 physical)
{
	code_page_written(cpu, physical);
	return nested_paging_host(physical);
}

static u8 *at_page(struct cpu *cpu, const struct translation *page, u64 linear, bool write)
{
	u64 physical = page->physical + linear % PAGE_SIZE;

	return write ? writable_at(cpu, physical) : nested_paging_host(physical);
}

static unsigned levels_of(const struct cpu *cpu)
{
	return cpu->vmcb->save.cr4 & CR4_LA57 ? 5 : 4;
}

static bool walk_guest(const struct cpu *cpu, u64 linear, struct page_walk *walk)
{
	return page_walk(cpu->vmcb->save.cr3, levels_of(cpu), linear, nested_paging_host, walk);
}

/* Set the accessed bits of the entries from the top to this level. */
static void set_accessed(struct cpu *cpu, const struct page_walk *walk, unsigned last)
{
	for (unsigned level = levels_of(cpu); level >= last; level--)
		set_bits(cpu, walk->entry[level], PTE_A);
}

/* translate() of an address that isn't known. Apart, so that the usual path is short. */
static __attribute__((noinline)) u8 *translate_new(struct cpu *cpu, u64 linear, enum use use,
						   u32 *error)
{
	bool write = use == USE_MICROCODE_WRITE;
	struct page_walk walk;
	bool found;

	if (!cpu_long_mode(cpu) || !canonical(linear, 12 + 9 * levels_of(cpu)))
		return NULL;
	found = walk_guest(cpu, linear, &walk);
	set_accessed(cpu, &walk, walk.level + 1);
	if (!found)
		return NULL;
	if (write && !(walk.all & PTE_W) && (cpu->vmcb->save.cr0 & CR0_WP)) {
		*error |= PF_PRESENT;
		return NULL;
	}
	set_bits(cpu, walk.entry[walk.level], write ? PTE_A | PTE_D : PTE_A);
	return at_page(cpu, keep(cpu, linear, use, walk.physical), linear, write);
}

/* The host's address of one byte, or NULL with the page fault's error code. */
static u8 *translate(struct cpu *cpu, u64 linear, bool write, u32 *error)
{
	enum use use = write ? USE_MICROCODE_WRITE : USE_MICROCODE_READ;
	const struct translation *page;

	*error = write ? PF_WRITE : 0;
	if (!(cpu->vmcb->save.cr0 & CR0_PG))
		return write ? writable_at(cpu, (u32)linear) : nested_paging_host((u32)linear);
	page = found_before(cpu, linear, use);
	return page ? at_page(cpu, page, linear, write) : translate_new(cpu, linear, use, error);
}

struct span {
	u8 *host[2];
	size_t first;		/* bytes in the first page */
};

static bool locate(struct cpu *cpu, u64 linear, size_t bytes, bool write, struct span *span,
		   struct guest_fault *fault)
{
	size_t left = PAGE_SIZE - linear % PAGE_SIZE;
	struct guest_fault unused;

	if (!fault)
		fault = &unused;
	span->first = bytes < left ? bytes : left;
	span->host[1] = NULL;
	fault->linear = linear;
	span->host[0] = translate(cpu, linear, write, &fault->error);
	if (!span->host[0])
		return false;
	if (span->first == bytes)
		return true;
	fault->linear = linear + span->first;
	span->host[1] = translate(cpu, fault->linear, write, &fault->error);
	return span->host[1];
}

bool guest_read(struct cpu *cpu, u64 linear, void *to, size_t bytes, struct guest_fault *fault)
{
	struct span span;

	if (!locate(cpu, linear, bytes, false, &span, fault))
		return false;
	__builtin_memcpy(to, span.host[0], span.first);
	if (span.host[1])
		__builtin_memcpy((u8 *)to + span.first, span.host[1], bytes - span.first);
	return true;
}

bool guest_write(struct cpu *cpu, u64 linear, const void *from, size_t bytes,
		 struct guest_fault *fault)
{
	struct span span;

	if (!locate(cpu, linear, bytes, true, &span, fault))
		return false;
	__builtin_memcpy(span.host[0], from, span.first);
	if (span.host[1])
		__builtin_memcpy(span.host[1], (const u8 *)from + span.first, bytes - span.first);
	return true;
}

/* May code at this address execute at CPL 0 or 3? */
static enum guest_code walk_code(const struct cpu *cpu, u64 linear, bool user,
				 struct page_walk *walk)
{
	const struct vmcb_save *save = &cpu->vmcb->save;

	if (!cpu_long_mode(cpu) || save->cr4 & CR4_LA57 || !canonical(linear, 48) ||
	    !walk_guest(cpu, linear, walk))
		return CODE_ABSENT;
	if ((walk->any & PTE_NX && save->efer & EFER_NXE) ||
	    (user ? !(walk->all & PTE_U) : walk->all & PTE_U && save->cr4 & CR4_SMEP))
		return CODE_FORBIDDEN;
	return CODE_ALLOWED;
}

enum guest_code guest_code_at(struct cpu *cpu, u64 linear, bool user, const u8 **host)
{
	struct page_walk walk;
	enum guest_code code = walk_code(cpu, linear, user, &walk);

	if (code != CODE_ALLOWED || !host)
		return code;
	*host = nested_paging_host(walk.physical);
	return *host ? CODE_ALLOWED : CODE_ABSENT;
}

const u8 *guest_code_page(struct cpu *cpu, u64 linear, bool user, bool set)
{
	struct page_walk walk;
	const u8 *host;

	if (walk_code(cpu, linear & ~(PAGE_SIZE - 1), user, &walk) != CODE_ALLOWED)
		return NULL;
	host = nested_paging_host(walk.physical);
	if (set && host)
		set_accessed(cpu, &walk, walk.level);
	return set || walk.all & PTE_A ? host : NULL;
}

void guest_memory_accessed(struct cpu *cpu, u64 *entry)
{
	set_bits(cpu, entry, PTE_A);
}

/* all: the AND of all levels' bits; any: their OR. */
static bool is_allowed(const struct cpu *cpu, u64 all, u64 any, enum use use)
{
	const struct vmcb_save *save = &cpu->vmcb->save;

	if (cpu_cpl(cpu) == 3 && !(all & PTE_U))
		return false;
	if (cpu_cpl(cpu) != 3 && all & PTE_U &&
	    save->cr4 & (use == USE_EXECUTE ? CR4_SMEP : CR4_SMAP))
		return false;
	switch (use) {
	case USE_WRITE:
		return all & PTE_W;
	case USE_EXECUTE:
		return !(any & PTE_NX && save->efer & EFER_NXE);
	default:
		return true;
	}
}

/* page_for() of an address that isn't known; apart for the same reason. */
static __attribute__((noinline)) u8 *walk_page(struct cpu *cpu, u64 linear, enum use use,
					       enum use at_level)
{
	struct page_walk walk;

	if (!walk_guest(cpu, linear, &walk) || !is_allowed(cpu, walk.all, walk.any, use) ||
	    (walk.physical >= IO_BASE && walk.physical < IO_END))
		return NULL;
	if (use == USE_WRITE)
		set_bits(cpu, walk.entry[walk.level], PTE_D);
	set_accessed(cpu, &walk, walk.level);
	return at_page(cpu, keep(cpu, linear, at_level, walk.physical), linear, use == USE_WRITE);
}

static u8 *page_for(struct cpu *cpu, u64 linear, enum use use)
{
	enum use at_level = cpu_cpl(cpu) == 3 ? use + USE_READ_3 : use;
	const struct translation *page = found_before(cpu, linear, at_level);

	return page ? at_page(cpu, page, linear, use == USE_WRITE) :
		      walk_page(cpu, linear, use, at_level);
}

static bool usual_paging(const struct cpu *cpu)
{
	return cpu_long_mode(cpu) && !(cpu->vmcb->save.cr4 & (CR4_LA57 | CR4_PKE));
}

void *guest_data_at(struct cpu *cpu, u64 linear, unsigned bytes, bool write)
{
	enum use use = write ? USE_WRITE : USE_READ;
	u64 last = linear + bytes - 1;
	u8 *first, *second;

	if (!bytes || !usual_paging(cpu) || !canonical(linear, 48) || !canonical(last, 48))
		return NULL;
	first = page_for(cpu, linear, use);
	if (!first || linear / PAGE_SIZE == last / PAGE_SIZE)
		return first;
	second = page_for(cpu, last, use);
	return second == first + bytes - 1 ? first : NULL;
}

const u8 *guest_text_at(struct cpu *cpu, u64 linear)
{
	return usual_paging(cpu) && canonical(linear, 48) ? page_for(cpu, linear, USE_EXECUTE) :
							    NULL;
}

/* "Page-Attribute Table": three bits of the entry select a byte of the MSR. */
static u8 memory_type_of(u64 entry, unsigned shift, u64 physical)
{
	bool pat = entry & (shift == PAGE_SHIFT ? PTE_PAT : PTE_PAT_LARGE);
	unsigned index = (unsigned)(entry >> 3 & 3) | (pat ? 4 : 0);
	u8 type = (u8)(msr_read(MSR_IA32_PAT) >> 8 * index) & 7;

	if (physical >= IO_BASE && physical < IO_END)
		return MEMORY_IO;
	return type >= PAT_WT && type <= PAT_WB ? MEMORY_WRITE_BACK : MEMORY_UNCACHED;
}

bool guest_model_translate(void *ctx, u64 linear, struct memory_page *page)
{
	struct cpu *cpu = ctx;
	const struct vmcb_save *save = &cpu->vmcb->save;
	const struct translation *before = found_before(cpu, linear, USE_MODEL);
	struct translation *found;
	struct page_walk walk;
	u64 entry;

	if (!before) {
		if (!(save->cr0 & CR0_PG) || !cpu_long_mode(cpu) || !walk_guest(cpu, linear, &walk))
			return false;
		entry = *walk.entry[walk.level];
		found = keep(cpu, linear, USE_MODEL, walk.physical);
		found->bits = (u8)walk.shift;
		found->type = memory_type_of(entry, walk.shift, walk.physical);
		found->global = (entry & PTE_G) && (save->cr4 & CR4_PGE);
		before = found;
	}
	page->physical = before->physical + linear % PAGE_SIZE;
	page->bits = before->bits;
	page->type = before->type;
	page->global = before->global;
	return true;
}

bool guest_model_cacheable(void *ctx, u64 physical, u64 bytes)
{
	(void)ctx;
	return physical + bytes > physical && nested_paging_host(physical + bytes - 1) &&
	       (physical + bytes <= IO_BASE || physical >= IO_END);
}

bool guest_model_write_physical(void *ctx, u64 physical, const void *from, size_t bytes)
{
	if (!guest_model_cacheable(ctx, physical, bytes))
		return false;
	/* Memory that is contiguous for the guest is contiguous for the host. */
	__builtin_memcpy(nested_paging_host(physical), from, bytes);
	return true;
}

unsigned guest_read_some(struct cpu *cpu, u64 linear, void *to, unsigned bytes)
{
	unsigned left = (unsigned)(PAGE_SIZE - linear % PAGE_SIZE);

	if (guest_read(cpu, linear, to, bytes, NULL))
		return bytes;
	if (left < bytes && guest_read(cpu, linear, to, left, NULL))
		return left;
	return 0;
}

/* Is the whole range mapped? For a long access, all pages are checked before any byte is copied. */
static bool accessible(struct cpu *cpu, u64 linear, size_t bytes, bool write)
{
	u32 error;

	for (u64 a = linear; a - linear < bytes; a = (a | (PAGE_SIZE - 1)) + 1)
		if (!translate(cpu, a, write, &error))
			return false;
	return true;
}

/* guest_read() and guest_write() check two pages before they copy; longer ranges have more. */
#define CHECKED_BYTES	(PAGE_SIZE + 1)

bool guest_model_read(void *ctx, u64 linear, void *to, size_t bytes)
{
	if (bytes <= CHECKED_BYTES)
		return guest_read(ctx, linear, to, bytes, NULL);
	if (!accessible(ctx, linear, bytes, false))
		return false;
	for (size_t done = 0; done < bytes; done += PAGE_SIZE) {
		size_t part = bytes - done < PAGE_SIZE ? bytes - done : PAGE_SIZE;

		if (!guest_read(ctx, linear + done, (u8 *)to + done, part, NULL))
			return false;
	}
	return true;
}

bool guest_model_write(void *ctx, u64 linear, const void *from, size_t bytes)
{
	if (bytes <= CHECKED_BYTES)
		return guest_write(ctx, linear, from, bytes, NULL);
	if (!accessible(ctx, linear, bytes, true))
		return false;
	for (size_t done = 0; done < bytes; done += PAGE_SIZE) {
		size_t part = bytes - done < PAGE_SIZE ? bytes - done : PAGE_SIZE;

		if (!guest_write(ctx, linear + done, (const u8 *)from + done, part, NULL))
			return false;
	}
	return true;
}
