/* SPDX-License-Identifier: MIT */
/* See machine.h. TR keeps our TSS afterwards: the processor uses it only at a change of the
 * privilege level, and the firmware makes none. */
#include "refpmu/selftest/machine.h"

#include "refpmu/hv/apic.h"
#include "refpmu/hv/architecture.h"
#include "refpmu/selftest/blobs.h"
#include "refpmu/selftest/program.h"
#include "spec/msr.h"

#define SYSRET_BASE	0x18ULL

#define LVT_MASKED	BIT(16)
#define SVR_ENABLE	BIT(8)
#define TPR_OURS_ONLY	0xd0		/* class 14 and above stays open */

struct task_state {
	u32 reserved_0;
	u64 rsp[3];
	u64 reserved_1c;
	u64 ist[7];
	u64 reserved_5c;
	u16 reserved_64, io_map;
} __attribute__((packed));
_Static_assert(sizeof(struct task_state) == 104, "TSS");

static const u64 descriptors[6] = {
	0, 0x00af9b000000ffff, 0x00cf93000000ffff,
	0x00cffb000000ffff, 0x00cff3000000ffff, 0x00affb000000ffff,
};

/* Each processor's own. */
static struct tables {
	u8 kernel_stack[4096], fault_stack[4096];
	u64 gdt[8];
	struct task_state tss;
} tables[1 + MACHINE_OTHERS] __attribute__((aligned(4096)));

static u64 idt[256][2], program_idt[256][2];
static u64 level4[512] __attribute__((aligned(4096)));
static u64 level3[512] __attribute__((aligned(4096)));

static const u32 held[] = { APIC_SVR, APIC_LVT_TIMER, APIC_LVT_LINT0, APIC_LVT_LINT1, APIC_TPR };
static u32 held_values[5];
static struct descriptor_table firmware_gdt, firmware_idt;
static u64 firmware_cr3, firmware_efer;
static u16 firmware_cs, firmware_ds;

static void gate(u64 table[256][2], u8 vector, void (*handler)(void), unsigned ist, unsigned dpl)
{
	u64 address = (u64)handler;

	table[vector][0] = (address & 0xffff) | (u64)KERNEL_CODE << 16 | (u64)ist << 32 |
			   (0x8eULL | dpl << 5) << 40 | (address & 0xffff0000) << 32;
	table[vector][1] = address >> 32;
}

static void build_interrupts(void)
{
	gate(idt, 1, trap_handler, 0, 0);
	gate(idt, 2, nmi_handler, 0, 0);
	gate(idt, 6, fault_handler, 1, 0);
	gate(idt, 13, error_handler, 0, 0);
	gate(idt, 14, error_handler, 1, 0);
	gate(idt, VECTOR_INT, int_handler, 0, 0);
	gate(idt, VECTOR_RETURN, return_handler, 0, 3);
	gate(idt, VECTOR_IPI, interrupt_handler, 0, 0);
	gate(program_idt, 6, engine_fault, 1, 0);
	gate(program_idt, VECTOR_PMI, engine_pmi, 0, 0);
}

static void load_tables(struct tables *own, u64 interrupts[256][2])
{
	struct descriptor_table gdtr = { sizeof(own->gdt) - 1, (u64)own->gdt };
	struct descriptor_table idtr = { sizeof(idt) - 1, (u64)interrupts };
	u64 address = (u64)&own->tss;

	for (unsigned i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++)
		own->gdt[i] = descriptors[i];
	own->gdt[6] = (sizeof(own->tss) - 1) | (address & 0xffffff) << 16 | 0x89ULL << 40 |
		      (address >> 24 & 0xff) << 56;
	own->gdt[7] = address >> 32;
	own->tss.rsp[0] = (u64)(own->kernel_stack + sizeof(own->kernel_stack));
	own->tss.ist[0] = (u64)(own->fault_stack + sizeof(own->fault_stack));
	own->tss.io_map = sizeof(own->tss);
	load_descriptor_tables(&gdtr, &idtr, KERNEL_CODE, KERNEL_DATA);
	__asm__ volatile("ltr %0" ::"r"((u16)TSS_SELECTOR));
}

void machine_hold(void)
{
	for (unsigned i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		held_values[i] = *apic_register(held[i]);
	*apic_register(APIC_SVR) |= (u32)SVR_ENABLE;
	*apic_register(APIC_LVT_TIMER) |= (u32)LVT_MASKED;
	*apic_register(APIC_LVT_LINT0) |= (u32)LVT_MASKED;
	*apic_register(APIC_LVT_LINT1) |= (u32)LVT_MASKED;
	*apic_register(APIC_TPR) = TPR_OURS_ONLY;
}

void machine_release(void)
{
	for (unsigned i = sizeof(held) / sizeof(held[0]); i--;)
		*apic_register(held[i]) = held_values[i];
}

void machine_enter(void)
{
	__asm__ volatile("cli");
	build_interrupts();
	level4[0] = (u64)level3 | 7;
	for (u64 i = 0; i < 512; i++)
		level3[i] = i << 30 | 0x87;
	__asm__ volatile("sgdt %0" : "=m"(firmware_gdt));
	__asm__ volatile("sidt %0" : "=m"(firmware_idt));
	__asm__ volatile("mov %%cr3, %0" : "=r"(firmware_cr3));
	__asm__ volatile("mov %%cs, %0" : "=r"(firmware_cs));
	__asm__ volatile("mov %%ds, %0" : "=r"(firmware_ds));
	machine_hold();

	__asm__ volatile("mov %0, %%cr3" ::"r"(level4) : "memory");
	load_tables(&tables[0], idt);
	firmware_efer = msr_read(MSR_IA32_EFER);
	msr_write(MSR_IA32_EFER, firmware_efer | EFER_SCE);
	msr_write(MSR_IA32_STAR, SYSRET_BASE << 48 | (u64)KERNEL_CODE << 32);
	msr_write(MSR_IA32_LSTAR, (u64)syscall_handler);
	msr_write(MSR_IA32_FMASK, RFLAGS_TF);
}

void machine_enter_other(unsigned which)
{
	load_tables(&tables[1 + which], program_idt);
	*apic_register(APIC_SVR) |= (u32)SVR_ENABLE;
	*apic_register(APIC_TPR) = TPR_OURS_ONLY;
}

void machine_use_traps(void (*handler)(void))
{
	gate(idt, 1, handler, 0, 0);
}

void machine_use_programs(bool yes)
{
	struct descriptor_table idtr = { sizeof(idt) - 1, (u64)(yes ? program_idt : idt) };

	__asm__ volatile("lidt %0" ::"m"(idtr));
}

void machine_leave(void)
{
	msr_write(MSR_IA32_EFER, firmware_efer);
	load_descriptor_tables(&firmware_gdt, &firmware_idt, firmware_cs, firmware_ds);
	__asm__ volatile("mov %0, %%cr3" ::"r"(firmware_cr3) : "memory");
	machine_release();
	__asm__ volatile("sti");
}
