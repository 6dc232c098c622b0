/* SPDX-License-Identifier: MIT */
/*
 * Borrows the machine and gives it back. The order of the steps is important:
 *
 * Taking: interrupts off, CR4 without features that our page tables don't support, EFER.NXE, CR3,
 * CR0, segments and gates, debug registers, local APIC, HPET, serial line. Giving back: switch off
 * what would otherwise continue (machine_on_return), remove our vectors from IRR and ISR, then all
 * steps above in reverse order. guard_run() ensures that no NMI is being handled.
 *
 * Each processor is taken and given back by code that runs on it (smp.c brings the others here).
 * Not handled: SYSCALL MSRs, FPU and vector state (never touched), LDTR (never touched). If TR was
 * null, as under most firmware, it can't be restored: it keeps our selector, which nothing uses as
 * long as no gate has an IST stack and no code runs at CPL 3.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/processor/cpu.h"
#include "kernel/processor/cpuid.h"
#include "kernel/interrupt/descriptor.h"
#include "kernel/interrupt/fault.h"
#include "kernel/output/fbcon.h"
#include "kernel/interrupt/hpet.h"
#include "kernel/machine/machine.h"
#include "kernel/memory/arena.h"
#include "kernel/memory/pages.h"
#include "kernel/memory/paging.h"
#include "kernel/processor/percpu.h"
#include "kernel/output/serial.h"
#include "kernel/memory/stack.h"
#include "kernel/machine/startup.h"
#include "kernel/interrupt/trap.h"
#include "spec/msr.h"

#define FOUR_GIB	BIT(32)
#define TWO_MIB		BIT(21)
#define ONE_GIB		BIT(30)
#define FIXED_NEED	TWO_MIB	/* stacks, lower tables, split pages of image and screen */

#define CR0_OURS	(CR0_MP | CR0_NE | CR0_WP)
#define CR0_NOT_OURS	(CR0_EM | CR0_TS | CR0_AM)
/* CR4.DE on: DR4 and DR5 raise #UD. Off: bits that deny CPL 0 the pages of CPL 3, or CPL 3 an
 * instruction; PCIDs; protection keys; global pages, whose translations stay after a write of
 * CR3. */
#define CR4_OURS	CR4_DE
#define CR4_NOT_OURS	(CR4_TSD | CR4_PGE | CR4_UMIP | CR4_PCIDE | CR4_SMEP | CR4_SMAP | \
			 CR4_PKE | CR4_CET | CR4_PKS)

#define TR_INDEX	0xfff8u
#define TSS_TYPE	BITS(40, 44)	/* type and S of a descriptor */
#define TSS_TYPE_FREE	(9ULL << 40)
#define TSS_TYPE_BUSY	(11ULL << 40)

/* machine.asm */
void machine_take(unsigned cpu, u64 rflags, bool cet);
struct machine_flags {
	u64 rflags, cet;
};
struct machine_flags machine_give(void);

extern const u8 text_begin[] __asm__("_text") __attribute__((visibility("hidden")));
extern const u8 text_end[] __asm__("_etext") __attribute__((visibility("hidden")));

static struct machine_setup machine;
static void (*on_return)(void);
static bool borrowed[CPU_MAX];

static struct saved {
	u64 cr0, cr3, cr4, efer, rflags, fs_base, gs_base;
	u64 dr[4], dr6, dr7;
	struct table_register gdtr, idtr;
	struct segments segments;
	u16 tr;
	bool cet;
} saved_states[CPU_MAX];

u64 machine_arena_need(u64 memory_top, unsigned processors)
{
	u64 mapped_by_a_table = (cpuid_get(CPUID_PAGE_1GB) ? 512 : 1) * ONE_GIB;

	return FIXED_NEED + pages_need() + processors * stack_need() +
	       (memory_top / mapped_by_a_table + 1) * PAGE_SIZE;
}

static bool map(void)
{
	u64 top = machine.memory_top > FOUR_GIB ? machine.memory_top : FOUR_GIB;
	u64 text = (u64)(uintptr_t)text_begin;
	u64 apic_page, video_size;

	if (!apic_find(&apic_page) || !paging_init(top) || !stack_guard_pages())
		return false;
	/* A stray access by a NULL pointer must fault; the harness uses nothing in the first
	 * page. */
	if (!paging_set(0, 0))
		return false;
	if (!paging_set_range(text, (u64)(text_end - text_begin), PAGE_CODE))
		return false;
	if (apic_page && !paging_set(apic_page, PAGE_DEVICE))
		return false;
	if (machine.hpet_base && !paging_set(machine.hpet_base, PAGE_DEVICE))
		return false;
	if (machine.ioapic_base && !paging_set(machine.ioapic_base, PAGE_DEVICE))
		return false;
	if (!pages_init(machine.hpet_base))
		return false;
	if (machine.exerciser_page && !paging_set(machine.exerciser_page, PAGE_DEVICE))
		return false;
	if (machine.exerciser_memory.base + machine.exerciser_memory.bytes > top &&
	    !paging_set_range(machine.exerciser_memory.base, machine.exerciser_memory.bytes,
			      PAGE_DATA))
		return false;
	video_size = (u64)machine.framebuffer.pitch * machine.framebuffer.height;
	return !machine.framebuffer.base ||
	       paging_set_range((u64)(uintptr_t)machine.framebuffer.base, video_size, PAGE_VIDEO);
}

bool machine_init(const struct machine_setup *setup)
{
	machine = *setup;
	arena_init(setup->arena_base, setup->arena_size);
	on_return = NULL;
	if (!setup->processors || setup->processors > CPU_MAX || !stack_init(setup->processors) ||
	    !map())
		return false;
	if (!startup_init(setup->startup_page, CR0_OURS | CR0_PE | CR0_ET | CR0_PG,
			  CR4_OURS | CR4_PAE | (cr4_read() & CR4_LA57),
			  EFER_LME | (paging_uses_nx() ? EFER_NXE : 0)))
		return false;
	descriptor_init();
	for (unsigned i = 0; i < setup->processors; i++) {
		borrowed[i] = false;
		descriptor_init_tss(i, stack_top_of(i, STACK_NMI), stack_top_of(i, STACK_DF),
				    stack_top_of(i, STACK_MC));
	}
	hpet_init(setup->hpet_base, setup->ioapic_base);
	serial_init(setup->serial_port);
	fbcon_init(&setup->framebuffer);
	return true;
}

void machine_on_return(void (*fn)(void))
{
	on_return = fn;
}

static void save(struct saved *saved)
{
	saved->cr0 = cr0_read();
	saved->cr3 = cr3_read();
	saved->cr4 = cr4_read();
	saved->efer = msr_read(MSR_IA32_EFER);
	saved->fs_base = msr_read(MSR_IA32_FS_BASE);
	saved->gs_base = msr_read(MSR_IA32_GS_BASE);
	saved->dr[0] = dr0_read();
	saved->dr[1] = dr1_read();
	saved->dr[2] = dr2_read();
	saved->dr[3] = dr3_read();
	saved->dr6 = dr6_read();
	saved->dr7 = dr7_read();
	segments_read(&saved->segments);
	__asm__ volatile("sgdt %0" : "=m"(saved->gdtr));
	__asm__ volatile("sidt %0" : "=m"(saved->idtr));
	__asm__ volatile("str %w0" : "=r"(saved->tr));
}

void machine_take(unsigned cpu, u64 rflags, bool cet)
{
	struct saved *saved = &saved_states[cpu];

	saved->rflags = rflags;
	saved->cet = cet;
	save(saved);
	cr4_write((saved->cr4 | CR4_OURS) & ~CR4_NOT_OURS);
	if (paging_uses_nx() && !(saved->efer & EFER_NXE))
		msr_write(MSR_IA32_EFER, saved->efer | EFER_NXE);
	cr3_write(paging_root());
	cr0_write((saved->cr0 | CR0_OURS) & ~CR0_NOT_OURS);
	descriptor_load(cpu);
	dr7_write(DR7_FIXED);
	dr6_write(DR6_FIXED);
	apic_init();
	if (cpu == CPU_BOOT) {
		hpet_borrow();
		serial_borrow();
	}
	borrowed[cpu] = true;
}

/* "IA-32 Processor States Following Power-up, Reset, or INIT": everything else is unchanged. */
void machine_resume_cpu(unsigned cpu)
{
	const struct saved *saved = &saved_states[cpu];

	cr4_write((saved->cr4 | CR4_OURS) & ~CR4_NOT_OURS);
	msr_write(MSR_IA32_EFER, saved->efer | (paging_uses_nx() ? EFER_NXE : 0));
	cr0_write((saved->cr0 | CR0_OURS) & ~CR0_NOT_OURS);
	descriptor_load(cpu);
	dr7_write(DR7_FIXED);
	dr6_write(DR6_FIXED);
	apic_resume();
}

/* LTR needs an available TSS and marks it busy; with our page tables the firmware's GDT is
 * writable. */
static void restore_tr(const struct saved *saved)
{
	u64 *descriptor = (u64 *)(uintptr_t)(saved->gdtr.base + (saved->tr & TR_INDEX));
	u64 type;

	if (!(saved->tr & TR_INDEX) || (saved->tr & TR_INDEX) + 15u > saved->gdtr.limit)
		return;
	type = *descriptor & TSS_TYPE;
	if (type != TSS_TYPE_FREE && type != TSS_TYPE_BUSY)
		return;		/* a selector that an earlier program left */
	*descriptor = (*descriptor & ~TSS_TYPE) | TSS_TYPE_FREE;
	__asm__ volatile("ltr %w0" ::"r"(saved->tr));
}

static void restore(const struct saved *saved)
{
	segments_load(&saved->gdtr, &saved->segments);
	restore_tr(saved);
	__asm__ volatile("lidt %0" ::"m"(saved->idtr));
	msr_write(MSR_IA32_FS_BASE, saved->fs_base);
	msr_write(MSR_IA32_GS_BASE, saved->gs_base);
	cr0_write(saved->cr0);
	/* CR4.PCIDE can be set only while the PCID in CR3 is 0. */
	cr3_write(saved->cr4 & CR4_PCIDE ? saved->cr3 & ~CR3_PCID : saved->cr3);
	if (paging_uses_nx() && !(saved->efer & EFER_NXE))
		msr_write(MSR_IA32_EFER, saved->efer);
	cr4_write(saved->cr4 & ~CR4_CET);
	if (saved->cr4 & CR4_PCIDE)
		cr3_write(saved->cr3);
	dr0_write(saved->dr[0]);
	dr1_write(saved->dr[1]);
	dr2_write(saved->dr[2]);
	dr3_write(saved->dr[3]);
	dr6_write(saved->dr6);
	dr7_write(saved->dr7);
}

struct machine_flags machine_give(void)
{
	unsigned cpu = cpu_index();
	const struct saved *saved = &saved_states[cpu];

	if (on_return)
		on_return();
	apic_timer_stop();
	apic_open_own_class();
	intr_drain();
	intr_drain_exceptions();
	if (cpu == CPU_BOOT) {
		serial_return();
		hpet_return();
	}
	apic_release();
	restore(saved);
	borrowed[cpu] = false;
	return (struct machine_flags){ saved->rflags, saved->cet };
}
