/* SPDX-License-Identifier: MIT */
/* APM volume 2, "Nested Paging". Nested entries must allow user access: all guest accesses are
 * treated as such. */
#include "refpmu/apic.h"
#include "refpmu/nested_paging.h"
#include "refpmu/processors.h"
#include "refpmu/svm.h"

#define ENTRY		0x7ULL		/* present, writable, user */
#define ENTRY_LARGE	0x87ULL
#define LARGE		BIT(7)
#define ENTRY_READ_ONLY	0x5ULL
#define NESTED_ENABLE	BIT(0)
#define TOP		(512ULL << 30)

/* 2 MiB pages of the gigabyte `gigabyte`, in a fresh table. */
static u64 *split_gigabyte(u64 *level3, u64 gigabyte)
{
	u64 *level2 = hypervisor_pages(1);

	for (u64 i = 0; i < PAGE_TABLE_ENTRIES; i++)
		level2[i] = gigabyte << 30 | i << 21 | ENTRY_LARGE;
	level3[gigabyte] = (u64)level2 | ENTRY;
	return level2;
}

void nested_paging_init(struct cpu *cpu)
{
	u64 *level5 = hypervisor_pages(1), *level4 = hypervisor_pages(1);
	u64 *level3 = hypervisor_pages(1), *level2, *level1;

	level5[0] = (u64)level4 | ENTRY;
	level4[0] = (u64)level3 | ENTRY;
	for (u64 i = 4; i < PAGE_TABLE_ENTRIES; i++)
		level3[i] = i << 30 | ENTRY_LARGE;
	/* Small pages below 4 GiB, where both the hypervisor and the APIC are. */
	for (u64 i = 0; i < 4; i++) {
		level2 = split_gigabyte(level3, i);
		if (i == APIC_BASE >> 30) {
			level1 = hypervisor_pages(1);
			for (u64 k = 0; k < PAGE_TABLE_ENTRIES; k++)
				level1[k] = (APIC_BASE & ~BITS(0, 20)) | k << 12 | ENTRY;
			level2[APIC_BASE >> 21 & 511] = (u64)level1 | ENTRY;
			cpu->apic_entry = &level1[APIC_BASE >> 12 & 511];
		}
		if (i == hypervisor.base >> 30) {
			level1 = hypervisor_pages(1);
			for (u64 k = 0; k < PAGE_TABLE_ENTRIES; k++)
				level1[k] = (u64)hypervisor.dummy_page | ENTRY;
			for (u64 a = 0; a < hypervisor.size; a += BIT(21))
				level2[(hypervisor.base + a) >> 21 & 511] = (u64)level1 | ENTRY;
		}
	}
	nested_paging_apic_scratch(cpu, false);
	cpu->vmcb->control.nested_control = NESTED_ENABLE;
	/* The nested walk has as many levels as the host's. */
	cpu->vmcb->control.nested_cr3 = (u64)(READ_REGISTER(cr4) & CR4_LA57 ? level5 : level4);
}

u64 nested_paging_with(struct cpu *cpu, const void *memory, u64 bytes)
{
	u64 *level5 = hypervisor_pages(1), *level4 = hypervisor_pages(1);
	u64 *level3 = hypervisor_pages(1), *level2 = hypervisor_pages(1), *level1 = NULL;
	u64 *guests = (u64 *)cpu->vmcb->control.nested_cr3;
	bool five = READ_REGISTER(cr4) & CR4_LA57;

	if (five)
		guests = (u64 *)(guests[0] & ~(PAGE_SIZE - 1));
	level5[0] = (u64)level4 | ENTRY;
	level4[0] = guests[0];
	level4[NESTED_PAGING_EXTRA >> 39] = (u64)level3 | ENTRY;
	level3[NESTED_PAGING_EXTRA >> 30 & 511] = (u64)level2 | ENTRY;
	for (u64 a = 0; a < bytes; a += PAGE_SIZE) {
		if (!(a % BIT(21))) {
			level1 = hypervisor_pages(1);
			level2[a >> 21] = (u64)level1 | ENTRY;
		}
		level1[a >> 12 & 511] = ((u64)memory + a) | ENTRY;
	}
	return (u64)(five ? level5 : level4);
}

/* Below 4 GiB there is a table of 2 MiB pages. */
static u64 *level2_entry(const struct cpu *cpu, u64 guest_physical)
{
	u64 *table = (u64 *)cpu->vmcb->control.nested_cr3;

	for (unsigned level = READ_REGISTER(cr4) & CR4_LA57 ? 5 : 4; level > 2; level--) {
		u64 index = guest_physical >> (3 + 9 * level) & (PAGE_TABLE_ENTRIES - 1);

		table = (u64 *)(table[index] & ~(PAGE_SIZE - 1));
	}
	return &table[guest_physical >> 21 & (PAGE_TABLE_ENTRIES - 1)];
}

bool nested_paging_is_plain(u64 guest_physical)
{
	return *level2_entry(processors_get(0), guest_physical) & LARGE;
}

void nested_paging_split(struct cpu *cpu, u64 guest_physical, const u64 *level1)
{
	*level2_entry(cpu, guest_physical) = (u64)level1 | ENTRY;
}

u64 nested_paging_entry(u64 guest_physical, bool writable)
{
	return guest_physical | (writable ? ENTRY : ENTRY_READ_ONLY);
}

void nested_paging_apic_scratch(struct cpu *cpu, bool scratch)
{
	*cpu->apic_entry = scratch ? (u64)cpu->apic_scratch | ENTRY : APIC_BASE | ENTRY_READ_ONLY;
}

void *nested_paging_host(u64 guest_physical)
{
	if (guest_physical >= TOP)
		return NULL;
	if (guest_physical - hypervisor.base < hypervisor.size)
		return hypervisor.dummy_page + guest_physical % PAGE_SIZE;
	return (void *)guest_physical;
}
