/* SPDX-License-Identifier: MIT */
/* See processors.h. */
#include "refpmu/hv/apic.h"
#include "refpmu/hv/guest_tsc.h"
#include "refpmu/hv/instructions.h"
#include "refpmu/hv/lock.h"
#include "refpmu/model/core.h"
#include "refpmu/hv/panic.h"
#include "refpmu/hv/processors.h"
#include "refpmu/hv/svm.h"
#include "spec/msr.h"

#define STACK_PAGES		16
#define TSC_APART		BIT(38)		/* ticks: at least a minute */
#define TICKS_OF_LATENESS	1000000ULL

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
extern processors_start startup_entry __attribute__((visibility("hidden")));

static struct cpu *processors[PROCESSORS_MAX];
static unsigned n_processors;
static u32 startup_vector;
static u32 sending;	/* lock for INITs and calls, and for `running` and `called` */

void processors_add(struct cpu *cpu)
{
	cpu->running = !n_processors;		/* the other processors wait for their SIPI */
	processors[n_processors++] = cpu;
}

struct cpu *processors_get(unsigned index)
{
	return index < n_processors ? processors[index] : NULL;
}

static struct cpu *with_id(unsigned apic_id)
{
	for (unsigned i = 0; i < n_processors; i++)
		if (processors[i]->apic_id == apic_id)
			return processors[i];
	return NULL;
}

struct cpu *processors_find(u32 apic_id)
{
	struct cpu *cpu = with_id(apic_id);

	if (cpu)
		return cpu;
	panic("an unknown processor (APIC id)", 1, apic_id, 0, 0, 0);
}

static void place_startup(u64 page)
{
	u8 *at = (u8 *)page;
	struct startup_values *values = (void *)(at + (startup_values - startup_begin));

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

/* Number the processors so that neighbours share a core: struct model_host. */
static void number(void)
{
	unsigned ids = 0;

	for (unsigned i = 0; i < n_processors; i++)
		if (processors[i]->apic_id >= ids)
			ids = processors[i]->apic_id + 1u;
	hypervisor.n_cores = ids;	/* one core for each processor without Hyper-Threading */
	hypervisor.cores = hypervisor_pages(
		(unsigned)((ids * sizeof(*hypervisor.cores) + PAGE_SIZE - 1) / PAGE_SIZE));
	hypervisor.uncore = hypervisor_pages(
		(unsigned)((sizeof(*hypervisor.uncore) + PAGE_SIZE - 1) / PAGE_SIZE));
	for (unsigned i = 0; i < n_processors; i++) {
		struct cpu *cpu = processors[i];

		cpu->sibling = with_id(cpu->apic_id ^ 1u);
		cpu->model_host.processor = cpu->apic_id;
		cpu->model_host.processors = ids;
		cpu->model_host.cores = hypervisor.cores;
		cpu->model_host.uncore = hypervisor.uncore;
	}
}

void processors_init(u64 startup_page, const u8 *apic_ids, unsigned count,
		     struct cpu *(*create)(const u8 *stack_top), processors_start start)
{
	startup_entry = start;
	if (startup_page)
		place_startup(startup_page);
	for (unsigned i = 0; i < count; i++) {
		u8 *stack_top = (u8 *)hypervisor_pages(STACK_PAGES) + STACK_PAGES * PAGE_SIZE;
		struct cpu *cpu = create(stack_top);

		cpu->apic_id = apic_ids[i];
		startup_stacks[apic_ids[i]] = (u64)stack_top;
		processors_add(cpu);
	}
	number();
}

/* Does the command of this processor reach that one? A processor that isn't reached doesn't look at
 * a start-up vector. */
static bool goes_to(const struct cpu *from, const struct cpu *to, u32 low)
{
	u32 destination = *apic_register(APIC_ICR_HIGH) >> ICR_DESTINATION_SHIFT;

	switch (low & ICR_SHORTHAND) {
	case 0:
		return (low & ICR_LOGICAL) ?
			       from != to :
			       destination == ICR_EVERYBODY || destination == to->apic_id;
	case ICR_SELF:
		return from == to;
	default:
		return from != to;	/* neither INIT nor SIPI can include the sender */
	}
}

/* Is this an interrupt of fixed delivery to another processor, and the one that latitude
 * lost-wake-up loses? */
static bool gets_lost(const struct cpu *cpu, u32 low)
{
	u32 nth = cpu->model.latitude[LAT_LOST_WAKE_UP];

	if (!nth || (low & (ICR_DELIVERY | ICR_SHORTHAND | ICR_LOGICAL)) || goes_to(cpu, cpu, low))
		return false;
	return ++hypervisor.wake_ups == nth;
}

void processors_send(struct cpu *cpu, u32 low)
{
	u32 mode = low & ICR_DELIVERY;
	bool init = mode == ICR_INIT && !((low & ICR_LEVEL) && !(low & ICR_ASSERT));

	if (init && !(low & ICR_LOGICAL) && goes_to(cpu, processors[0], low))
		panic("an INIT for the boot processor resets the machine (APIC id, ICR, RIP)", 3,
		      cpu->apic_id, (u64)*apic_register(APIC_ICR_HIGH) << 32 | low,
		      cpu->vmcb->save.rip, 0);
	lock_take(cpu, &sending);
	if (gets_lost(cpu, low)) {
		lock_give(cpu, &sending);
		return;
	}
	for (unsigned i = 0; i < n_processors; i++) {
		if (!goes_to(cpu, processors[i], low))
			continue;
		if (init)
			processors[i]->running = false;
		else if (mode == ICR_STARTUP)
			processors[i]->startup_vector = (u8)low;
	}
	if (mode == ICR_STARTUP && startup_vector)
		low = (low & ~ICR_VECTOR) | startup_vector;
	*apic_register(APIC_ICR_LOW) = low;
	lock_give(cpu, &sending);
}

bool processors_first(const struct cpu *cpu)
{
	return cpu == processors[0];
}

u64 processors_tsc_adjust(const struct cpu *cpu)
{
	u32 apart = cpu->model.latitude[LAT_TSC_APART];

	if (!apart || cpu == processors[0])
		return 0;
	return apart == 1 ? TSC_APART : 0 - TSC_APART;
}

void processors_come_late(struct cpu *cpu)
{
	const u32 *latitude = cpu->model.latitude;
	u64 begin = tsc(), ticks = (latitude[LAT_LATE_PROCESSOR] + latitude[LAT_LOST_PROCESSOR]) *
				   TICKS_OF_LATENESS;

	if (!cpu->comes_late || cpu != processors[n_processors - 1] || cpu == processors[0])
		return;
	cpu->comes_late = false;
	cpu->halted = true;		/* no other processor waits for this one */
	while (tsc() - begin < ticks)
		__builtin_ia32_pause();
	cpu->halted = false;
}

void processors_kick(struct cpu *cpu, struct cpu *to)
{
	u32 high;

	lock_take(cpu, &sending);
	if (to->running && !to->kicked) {
		to->kicked = true;
		high = *apic_register(APIC_ICR_HIGH);
		*apic_register(APIC_ICR_HIGH) = (u32)to->apic_id << ICR_DESTINATION_SHIFT;
		*apic_register(APIC_ICR_LOW) = ICR_ASSERT | ICR_NMI;
		*apic_register(APIC_ICR_HIGH) = high;
	}
	lock_give(cpu, &sending);
}

void processors_started(struct cpu *cpu)
{
	lock_give(cpu, &sending);
	for (unsigned i = 0; i < hypervisor.n_cores; i++)
		lock_give(cpu, &hypervisor.cores[i].lock);
	lock_give(cpu, &hypervisor.uncore->lock);
	lock_give(cpu, &hypervisor.telling);
	cpu->halted = false;
	cpu->comes_late = true;
	lock_take(cpu, &sending);
	cpu->kicked = false;		/* an INIT ends the pending call */
	cpu->running = true;
	lock_give(cpu, &sending);
	guest_tsc_started(cpu);
}
