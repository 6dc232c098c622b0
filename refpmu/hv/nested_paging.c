/* SPDX-License-Identifier: MIT */
/* APM volume 2, "Nested Paging". Nested entries must allow user access, because all guest accesses
 * count as user accesses. */
#include "refpmu/hv/apic.h"
#include "refpmu/hv/nested_paging.h"
#include "refpmu/hv/page_walk.h"
#include "refpmu/hv/processors.h"
#include "refpmu/hv/svm.h"

#define ENTRY_READ_ONLY	(PTE_P | PTE_U)
#define ENTRY		(ENTRY_READ_ONLY | PTE_W)
#define ENTRY_LARGE	(ENTRY | PTE_PS)
#define NESTED_ENABLE	BIT(0)
#define TOP		(512ULL << 30)

/* Map this gigabyte with 2 MiB pages, in a new table. */
static u64 *split_gigabyte(u64 *level3, u64 gigabyte, u64 rights)
{
	u64 *level2 = hypervisor_pages(1);

	for (u64 i = 0; i < PAGE_TABLE_ENTRIES; i++)
		level2[i] = gigabyte << 30 | i << 21 | ENTRY_LARGE | rights;
	level3[gigabyte % PAGE_TABLE_ENTRIES] = (u64)level2 | ENTRY;
	return level2;
}

/* There is no memory above; the machine decides what happens there. */
static u64 *beyond_top(u64 rights)
{
	u64 *level3 = hypervisor_pages(1);

	for (u64 i = 0; i < PAGE_TABLE_ENTRIES; i++)
		level3[i] = (TOP + (i << 30)) | ENTRY_LARGE | rights;
	return level3;
}

/* Map all memory except the hypervisor's. Returns the root. *trapped: the table of the 2 MiB with
 * the pages whose stores exit. */
static u64 build(u64 rights, u64 **trapped)
{
	u64 *level5 = hypervisor_pages(1), *level4 = hypervisor_pages(1);
	u64 *level3 = hypervisor_pages(1), *level2, *level1;

	level5[0] = (u64)level4 | ENTRY;
	level4[0] = (u64)level3 | ENTRY;
	for (u64 i = 4; i < PAGE_TABLE_ENTRIES; i++)
		level3[i] = i << 30 | ENTRY_LARGE | rights;
	level4[TOP >> 39] = (u64)beyond_top(rights) | ENTRY;
	/* Use small pages below 4 GiB, where the hypervisor, the APIC and the exerciser are. */
	for (u64 i = 0; i < 4; i++) {
		level2 = split_gigabyte(level3, i, rights);
		if (i == APIC_BASE >> 30) {
			level1 = hypervisor_pages(1);
			for (u64 k = 0; k < PAGE_TABLE_ENTRIES; k++)
				level1[k] = (APIC_BASE & ~BITS(0, 20)) | k << 12 | ENTRY | rights;
			level2[APIC_BASE >> 21 & 511] = (u64)level1 | ENTRY;
			*trapped = level1;
		}
		if (i == hypervisor.base >> 30) {
			level1 = hypervisor_pages(1);
			for (u64 k = 0; k < PAGE_TABLE_ENTRIES; k++)
				level1[k] = (u64)hypervisor.dummy_page | ENTRY | rights;
			for (u64 a = 0; a < hypervisor.size; a += TWO_MIB)
				level2[(hypervisor.base + a) >> 21 & 511] = (u64)level1 | ENTRY;
		}
	}
	/* The nested walk has as many levels as the host's. */
	return (u64)(READ_REGISTER(cr4) & CR4_LA57 ? level5 : level4);
}

static u64 *entry_of(u64 *level1, enum trapped_page page)
{
	return &level1[nested_paging_trapped(page) >> 12 & (PAGE_TABLE_ENTRIES - 1)];
}

void nested_paging_init(struct cpu *cpu)
{
	u64 *trapped;

	cpu->nested_root = build(0, &trapped);
	for (unsigned page = 0; page < TRAPPED_PAGES; page++)
		cpu->trapped_entry[page] = entry_of(trapped, page);
	nested_paging_trap_again(cpu);
	cpu->vmcb->control.nested_control = NESTED_ENABLE;
	cpu->vmcb->control.nested_cr3 = cpu->nested_root;
}

static u64 native_root;

void nested_paging_init_native(void)
{
	u64 *trapped;

	native_root = build(PTE_NX, &trapped);
	for (unsigned page = 0; page < TRAPPED_PAGES; page++)
		*entry_of(trapped, page) = nested_paging_shown(page) | ENTRY_READ_ONLY | PTE_NX;
}

u64 nested_paging_native(void)
{
	return native_root;
}

/* Replace a page of 2 MiB by 4-KiB pages. */
static u64 *split_two_mib(u64 *entry)
{
	u64 *level1 = hypervisor_pages(1), first = *entry & ~PTE_PS;

	for (u64 i = 0; i < PAGE_TABLE_ENTRIES; i++)
		level1[i] = first + i * PAGE_SIZE;
	*entry = (u64)level1 | ENTRY;
	return level1;
}

u64 nested_paging_with(struct cpu *cpu, u64 at, const void *memory, u64 bytes, u64 writable)
{
	u64 *level5 = hypervisor_pages(1), *level4 = hypervisor_pages(1);
	u64 *level3 = beyond_top(0), *level2 = split_gigabyte(level3, at >> 30, 0);
	u64 *level1 = NULL;
	u64 *guests = (u64 *)cpu->vmcb->control.nested_cr3;
	bool five = READ_REGISTER(cr4) & CR4_LA57;

	if (five)
		guests = (u64 *)(guests[0] & ~(PAGE_SIZE - 1));
	level5[0] = (u64)level4 | ENTRY;
	level4[0] = guests[0];
	level4[TOP >> 39] = (u64)level3 | ENTRY;
	for (u64 a = 0; a < bytes; a += PAGE_SIZE) {
		if (!(a % TWO_MIB))
			level1 = split_two_mib(&level2[(at + a) >> 21 & (PAGE_TABLE_ENTRIES - 1)]);
		level1[a >> 12 & (PAGE_TABLE_ENTRIES - 1)] = ((u64)memory + a) |
							     (a < writable ? ENTRY :
									     ENTRY_READ_ONLY);
	}
	return (u64)(five ? level5 : level4);
}

/* The hypervisor's own memory is identity mapped. */
static void *own(u64 physical)
{
	return (void *)physical;
}

/* Below 4 GiB there is a table of 2 MiB pages. */
static u64 *level2_entry(u64 root, u64 guest_physical)
{
	struct page_walk walk;

	page_walk(root, READ_REGISTER(cr4) & CR4_LA57 ? 5 : 4, guest_physical, own, &walk);
	return walk.entry[2];
}

bool nested_paging_is_plain(u64 guest_physical)
{
	return *level2_entry(native_root, guest_physical) & PTE_PS;
}

void nested_paging_split(u64 guest_physical, const u64 *level1, const u64 *native)
{
	for (unsigned i = 0; processors_get(i); i++)
		*level2_entry(processors_get(i)->nested_root, guest_physical) = (u64)level1 | ENTRY;
	*level2_entry(native_root, guest_physical) = (u64)native | ENTRY;
}

u64 nested_paging_entry(u64 guest_physical, bool writable)
{
	return guest_physical | (writable ? ENTRY : ENTRY_READ_ONLY);
}

u64 nested_paging_native_entry(u64 guest_physical, bool writable, bool executable)
{
	return nested_paging_entry(guest_physical, writable) | (executable ? 0 : PTE_NX);
}

u64 nested_paging_trapped(enum trapped_page page)
{
	return page == TRAPPED_APIC ? APIC_BASE : EXERCISER_PAGE;
}

u64 nested_paging_shown(enum trapped_page page)
{
	return page == TRAPPED_APIC ? APIC_BASE : (u64)hypervisor.exerciser;
}

void nested_paging_scratch(struct cpu *cpu, enum trapped_page page)
{
	*cpu->trapped_entry[page] = (u64)cpu->trapped_scratch | ENTRY;
}

void nested_paging_trap_again(struct cpu *cpu)
{
	for (unsigned page = 0; page < TRAPPED_PAGES; page++)
		*cpu->trapped_entry[page] = nested_paging_shown(page) | ENTRY_READ_ONLY;
}

void *nested_paging_host(u64 guest_physical)
{
	if (guest_physical >= TOP)
		return NULL;
	if (guest_physical - hypervisor.base < hypervisor.size)
		return hypervisor.dummy_page + guest_physical % PAGE_SIZE;
	return (void *)guest_physical;
}
