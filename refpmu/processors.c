/* SPDX-License-Identifier: MIT */
/* See processors.h. */
#include "refpmu/panic.h"
#include "refpmu/processors.h"
#include "refpmu/svm.h"
#include "refpmu/virtualise.h"
#include "spec/msr.h"

#define STACK_PAGES		16

/* Interrupt command register: SDM volume 3, "Interrupt Command Register (ICR)". */
#define ICR_VECTOR		0xffu
#define ICR_DELIVERY		(7u << 8)
#define ICR_STARTUP		(6u << 8)
#define ICR_LOGICAL		(1u << 11)
#define ICR_SHORTHAND		(3u << 18)
#define ICR_DESTINATION_SHIFT	24
#define EVERYBODY		0xffu

struct startup_values {
	u32 gdt;
	u32 far_offset;
	u16 far_selector;
	u32 cr0, cr3, cr4;
	u32 efer_number, efer;
	u64 entry;
} __attribute__((packed));

extern const u8 startup_begin[] __attribute__((visibility("hidden")));
extern const u8 startup_end[] __attribute__((visibility("hidden")));
extern const u8 startup_values[] __attribute__((visibility("hidden")));
extern const u8 startup_other[] __attribute__((visibility("hidden")));
extern u64 startup_stacks[256] __attribute__((visibility("hidden")));

static struct cpu *processors[PROCESSORS_MAX];
static unsigned n_processors;
static u32 startup_vector;

void processors_add(struct cpu *cpu)
{
	processors[n_processors++] = cpu;
}

struct cpu *processors_get(unsigned index)
{
	return index < n_processors ? processors[index] : NULL;
}

struct cpu *processors_find(u32 apic_id)
{
	for (unsigned i = 0; i < n_processors; i++)
		if (processors[i]->apic_id == apic_id)
			return processors[i];
	panic("a processor that nobody knows (APIC id)", 1, apic_id, 0, 0, 0);
}

static void place_startup(u64 page)
{
	u8 *at = (u8 *)page;
	struct startup_values *values =
		(void *)(at + (startup_values - startup_begin));

	for (u64 i = 0; i < (u64)(startup_end - startup_begin); i++)
		at[i] = startup_begin[i];
	values->gdt += (u32)page;
	values->far_offset += (u32)page;
	values->cr0 = (u32)READ_REGISTER(cr0);
	values->cr3 = (u32)hypervisor.host_cr3;
	values->cr4 = (u32)READ_REGISTER(cr4);
	values->efer_number = MSR_IA32_EFER;
	values->efer = (u32)(EFER_LME | EFER_NXE | EFER_SVME);
	values->entry = (u64)startup_other;
	startup_vector = (u32)(page / PAGE_SIZE);
}

/* Who is whose neighbour: struct model_host. */
static void number(void)
{
	unsigned ids = 0;

	for (unsigned i = 0; i < n_processors; i++)
		if (processors[i]->apic_id >= ids)
			ids = processors[i]->apic_id + 1u;
	for (unsigned i = 0; i < n_processors; i++) {
		processors[i]->model_host.processor = processors[i]->apic_id;
		processors[i]->model_host.processors = ids;
	}
}

void processors_init(u64 startup_page, const u8 *apic_ids, unsigned count,
		     struct cpu *(*create)(void))
{
	if (startup_page)
		place_startup(startup_page);
	for (unsigned i = 0; i < count; i++) {
		struct cpu *cpu = create();

		cpu->apic_id = apic_ids[i];
		startup_stacks[apic_ids[i]] =
			(u64)hypervisor_pages(STACK_PAGES) + STACK_PAGES * PAGE_SIZE;
		processors_add(cpu);
	}
	number();
}

u32 processors_command(u32 low, u32 high)
{
	u32 destination = high >> ICR_DESTINATION_SHIFT;
	bool all = (low & (ICR_SHORTHAND | ICR_LOGICAL)) || destination == EVERYBODY;

	if ((low & ICR_DELIVERY) != ICR_STARTUP || !startup_vector)
		return low;
	/* One that the command doesn't reach never looks at it. */
	for (unsigned i = 0; i < n_processors; i++)
		if (all || processors[i]->apic_id == destination)
			processors[i]->startup_vector = (u8)low;
	return (low & ~ICR_VECTOR) | startup_vector;
}
