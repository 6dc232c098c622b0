/* SPDX-License-Identifier: MIT */
/* See user_only.h. APM volume 2, "Page-Translation-Table Entry Fields": NX of an upper level. */
#include "refpmu/engine/engine_cpu.h"
#include "refpmu/engine/siblings.h"
#include "refpmu/engine/translator.h"
#include "refpmu/engine/user_only.h"
#include "refpmu/hv/deliver.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/hv/nested_paging.h"
#include "refpmu/hv/vmrun.h"
#include "refpmu/model/bulk.h"

#define LEAF_STRUCTURED		7
#define STRUCTURED_INVPCID	BIT(10)		/* EBX */
#define PLACES			BIT(16)		/* of 2 MiB, from NESTED_PAGING_EXTRA on */
#define DESCRIPTORS		64		/* descriptors that are searched, at most */
#define DESCRIPTOR_CODE		(BIT(43) | BIT(44))
#define DESCRIPTOR_DPL		45
#define TOP_SHIFT		39
#define LOWER_SHIFT		30
#define NONE			PAGE_TABLE_ENTRIES

void user_only_init(struct cpu *cpu)
{
	struct user_only *own = &cpu->engine->user_only;
	u32 regs[4];

	cpuid(LEAF_STRUCTURED, 0, regs);
	/* INVPCID changes the processor's TLBs without an exit. */
	if (regs[1] & STRUCTURED_INVPCID)
		return;
	own->top.shown = hypervisor_pages(2);
	own->lower.shown = own->top.shown + PAGE_TABLE_ENTRIES;
	own->physical = NESTED_PAGING_EXTRA + (tsc() % PLACES << 21);
	own->nested_cr3 = nested_paging_with(cpu, own->physical, own->top.shown, 2 * PAGE_SIZE,
					     2 * PAGE_SIZE);
}

/* RIP's index in a table of this level. */
static unsigned index_at(const struct cpu *cpu, unsigned shift)
{
	return cpu->vmcb->save.rip >> shift & (PAGE_TABLE_ENTRIES - 1);
}

static u64 *guest_table(u64 entry)
{
	return nested_paging_host(entry & PTE_ADDRESS);
}

static u64 shown(u64 entry)
{
	return (entry & PTE_P) && (entry & PTE_U) ? entry | PTE_NX : entry;
}

static bool copy(struct user_only_table *table)
{
	bool differed = false;

	for (unsigned i = 0; i < PAGE_TABLE_ENTRIES; i++) {
		u64 entry = i == table->except ? table->instead : shown(table->guests[i]);

		if (((entry ^ table->shown[i]) & ~PTE_A) || (entry & ~table->shown[i] & PTE_A)) {
			table->shown[i] = entry;
			differed = true;
		}
	}
	return differed;
}

/*
 * Update the copies. true: they differed. Linux allows CPL 3 in the upper-level entry of its text,
 * but not in the lower one: then that level has a copy too.
 */
static bool renew(struct cpu *cpu)
{
	struct user_only *own = &cpu->engine->user_only;
	unsigned at = index_at(cpu, TOP_SHIFT);
	bool differed = false;
	u64 entry;

	own->top.guests = guest_table(cpu->vmcb->save.cr3);
	entry = own->top.guests[at];
	own->top.except = own->lower.except = NONE;
	own->lower.guests = NULL;
	if (entry & PTE_U) {
		own->lower.guests = guest_table(entry);
		own->top.except = at;
		own->top.instead = (entry & ~PTE_ADDRESS) | (own->physical + PAGE_SIZE);
		differed = copy(&own->lower);
	}
	return copy(&own->top) || differed;
}

/* Accessed bits must go into the guest's own tables. */
static void give_back(struct cpu *cpu, const struct user_only_table *table)
{
	if (!table->guests)
		return;
	for (unsigned i = 0; i < PAGE_TABLE_ENTRIES; i++) {
		u64 *entry = &table->guests[i];

		if ((*entry & PTE_P) && !(*entry & PTE_A) && (table->shown[i] & PTE_A) &&
		    (i == table->except || !((*entry ^ table->shown[i]) & PTE_ADDRESS)))
			guest_memory_accessed(cpu, entry);
	}
}

/* CPL 1 and 2 count like CPL 3 but fetch like CPL 0, so the guest must not be able to enter
 * them. */
static bool has_rings_between(struct cpu *cpu)
{
	const struct vmcb_segment *gdtr = &cpu->vmcb->save.gdtr;
	u64 descriptor[DESCRIPTORS];
	unsigned bytes = gdtr->limit + 1;
	u16 ldt;

	/* The register always holds the guest's value. */
	__asm__ volatile("sldt %0" : "=m"(ldt));
	if (ldt || bytes > sizeof(descriptor) ||
	    !guest_read(cpu, gdtr->base, descriptor, bytes, NULL))
		return true;
	for (unsigned i = 0; i < bytes / sizeof(descriptor[0]); i++) {
		unsigned dpl = descriptor[i] >> DESCRIPTOR_DPL & 3;

		if ((descriptor[i] & DESCRIPTOR_CODE) == DESCRIPTOR_CODE && (dpl == 1 || dpl == 2))
			return true;
	}
	return false;
}

/* Do the upper two tables forbid CPL 3 to execute any page around RIP? */
static bool is_for_supervisor(const struct cpu *cpu)
{
	const u64 *table = guest_table(cpu->vmcb->save.cr3);
	u64 entry = table ? table[index_at(cpu, TOP_SHIFT)] : 0;

	if (!(entry & PTE_P) || !(entry & PTE_U))
		return entry & PTE_P;
	table = guest_table(entry);
	/* For pages of 1 GiB, dirty bits would have to be copied back too. */
	for (unsigned i = 0; table && i < PAGE_TABLE_ENTRIES; i++)
		if (table[i] & PTE_PS)
			return false;
	entry = table ? table[index_at(cpu, LOWER_SHIFT)] : 0;
	return (entry & PTE_P) && !(entry & PTE_U);
}

bool user_only_fits(struct cpu *cpu)
{
	const struct vmcb_save *save = &cpu->vmcb->save;

	return cpu->engine->user_only.top.shown && !cpu_cpl(cpu) && cpu_64bit_code(cpu) &&
	       !(save->cr4 & CR4_LA57) && (save->efer & EFER_NXE) && !cpu->drives_tsc &&
	       !model_has_tx(&cpu->model) && is_for_supervisor(cpu) && !has_rings_between(cpu);
}

static u64 enter_guest(struct cpu *cpu)
{
	const struct user_only *own = &cpu->engine->user_only;
	struct vmcb_save *save = &cpu->vmcb->save;
	u64 cr3 = save->cr3, nested_cr3 = cpu->vmcb->control.nested_cr3, code;

	save->cr3 = own->physical | (cr3 & ~PTE_ADDRESS);
	cpu->vmcb->control.nested_cr3 = own->nested_cr3;
	code = vmrun(cpu);
	save->cr3 = cr3;
	cpu->vmcb->control.nested_cr3 = nested_cr3;
	return code;
}

/* An event that was being delivered to the guest is delivered again; an INT instruction repeats
 * itself. */
static void resume_delivery(struct cpu *cpu)
{
	struct vmcb_control *control = &cpu->vmcb->control;
	u64 delivering = control->exit_int_info;

	if (!(delivering & EVENT_VALID) || (delivering & EVENT_TYPE) == EVENT_TYPE_SOFT)
		return;
	control->event_injection = (u32)delivering;
	control->event_injection_error = (u32)(delivering >> 32);
	deliver_injected(cpu);
}

/* Leave before the instruction at RIP, which is then handled alone. */
static void leave(struct cpu *cpu, u64 code)
{
	give_back(cpu, &cpu->engine->user_only.top);
	give_back(cpu, &cpu->engine->user_only.lower);
	vmrun_set_intercepts(cpu, false);
	/* QEMU reports a shadow at #VMEXIT and doesn't restore it at VMRUN. */
	cpu->shadow = cpu->vmcb->control.int_state & INT_STATE_SHADOW ? SHADOW_STI : SHADOW_NONE;
	cpu->nmis_may_be_blocked = true;
	translator_tables_changed(cpu);
	if (code == EXIT_SHUTDOWN)
		vmrun_shutdown(cpu);
	resume_delivery(cpu);
	if (code == EXIT_NMI)
		vmrun_take_interrupt(cpu, false, false);
}

void user_only_run(struct cpu *cpu)
{
	u64 code = EXIT_NOT_RUN;

	siblings_untracked(cpu);
	/* Check again after the others know that it runs. */
	if (!hypervisor.several || model_bulk_ignores(&cpu->model, cpu_cpl(cpu))) {
		model_bulk_ignore(&cpu->model);
		vmrun_intercept_user_only(cpu);
		renew(cpu);
		do
			code = enter_guest(cpu);
		while (code == EXIT_PF && !cpu_cpl(cpu) &&
		       !(cpu->vmcb->control.exit_int_info & EVENT_VALID) && renew(cpu));
		cpu->engine->statistics.user_only_runs++;
	}
	siblings_tracked(cpu);
	if (code != EXIT_NOT_RUN)
		leave(cpu, code);
}
