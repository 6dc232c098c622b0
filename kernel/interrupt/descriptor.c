/* SPDX-License-Identifier: MIT */
/*
 * GDT, TSS and IDT: "Segment Descriptors", "64-Bit Task State Segment", "64-Bit Mode IDT". All 256
 * gates are interrupt gates to vectors.asm. NMI, #DF and #MC run on IST stacks, so that they
 * survive a broken stack pointer. The descriptors' accessed bits are set in advance, so that the
 * processor writes nothing into the table.
 */
#include "kernel/interrupt/descriptor.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/user.h"
#include "kernel/processor/percpu.h"

#define SEGMENT_KERNEL_CODE	0x00af9b000000ffffULL	/* L, present, DPL 0, execute/read */
#define SEGMENT_COMPAT_CODE	0x00cf9b000000ffffULL	/* the same without L, 32-bit */
#define SEGMENT_KERNEL_DATA	0x00cf93000000ffffULL
#define SEGMENT_USER_DATA	0x00cff3000000ffffULL
#define SEGMENT_USER_CODE	0x00affb000000ffffULL
#define SEGMENT_DPL(n)		((u64)(n) << 45)	/* of a kernel segment */
#define TSS_AVAILABLE		0x89ULL			/* present, 64-bit TSS, not busy */

#define GATE_INTERRUPT		0x8e			/* present, DPL 0, 64-bit interrupt gate */
#define GATE_DPL3		0x60

enum ist { IST_NONE, IST_NMI, IST_DF, IST_MC };

struct tss {
	u32 reserved0;
	u64 rsp[3];
	u64 reserved1;
	u64 ist[7];
	u64 reserved2;
	u16 reserved3, io_map_base;
} __attribute__((packed));
_Static_assert(sizeof(struct tss) == 104, "64-bit TSS");

struct gate {
	u16 offset_low, selector;
	u8 ist, type;
	u16 offset_middle;
	u32 offset_high, reserved;
};
_Static_assert(sizeof(struct gate) == 16, "64-bit gate");

extern const u8 vectors_begin[] __attribute__((visibility("hidden")));

static u64 gdt[SELECTOR_TSS / 8 + CPU_MAX * TSS_DESCRIPTOR_SIZE / 8] __attribute__((aligned(16)));
static struct tss tss[CPU_MAX] __attribute__((aligned(16)));
static struct gate idt[256] __attribute__((aligned(16)));

static void set_gate(unsigned vector, const u8 *entry, enum ist ist, u8 dpl)
{
	u64 offset = (u64)(uintptr_t)entry;

	idt[vector] = (struct gate){
		.offset_low = (u16)offset,
		.offset_middle = (u16)(offset >> 16),
		.offset_high = (u32)(offset >> 32),
		.selector = SELECTOR_KERNEL_CODE,
		.ist = (u8)ist,
		.type = (u8)(GATE_INTERRUPT | dpl),
	};
}

#define STUB_BYTES 16	/* vectors.asm */

static const u8 *stub(unsigned vector)
{
	return vectors_begin + STUB_BYTES * vector;
}

u64 descriptor_gate(unsigned vector)
{
	return (u64)(uintptr_t)stub(vector);
}

void descriptor_lead(unsigned vector, u64 address)
{
	set_gate(vector, address ? (const u8 *)(uintptr_t)address : stub(vector), IST_NONE, 0);
}

static u64 *tss_descriptor(unsigned cpu)
{
	return &gdt[SELECTOR_TSS / 8 + cpu * TSS_DESCRIPTOR_SIZE / 8];
}

void descriptor_init_tss(unsigned cpu, u64 nmi_stack_top, u64 df_stack_top, u64 mc_stack_top)
{
	u64 base = (u64)(uintptr_t)&tss[cpu];
	u64 *descriptor = tss_descriptor(cpu);

	tss[cpu] = (struct tss){ .io_map_base = sizeof tss[cpu] };	/* no I/O bitmap */
	tss[cpu].ist[IST_NMI - 1] = nmi_stack_top;
	tss[cpu].ist[IST_DF - 1] = df_stack_top;
	tss[cpu].ist[IST_MC - 1] = mc_stack_top;
	descriptor[0] = (sizeof tss[cpu] - 1) | (base & 0xffffff) << 16 | TSS_AVAILABLE << 40 |
			((base >> 24) & 0xff) << 56;
	descriptor[1] = base >> 32;
}

void descriptor_init(void)
{
	gdt[SELECTOR_KERNEL_CODE / 8] = SEGMENT_KERNEL_CODE;
	gdt[SELECTOR_KERNEL_DATA / 8] = SEGMENT_KERNEL_DATA;
	gdt[SELECTOR_USER_DATA / 8] = SEGMENT_USER_DATA;
	gdt[SELECTOR_USER_CODE / 8] = SEGMENT_USER_CODE;
	gdt[SELECTOR_COMPAT_CODE / 8] = SEGMENT_COMPAT_CODE;

	for (unsigned vector = 0; vector < 256; vector++)
		set_gate(vector, stub(vector), IST_NONE, 0);
	set_gate(VECTOR_NMI, stub(VECTOR_NMI), IST_NMI, 0);
	set_gate(VECTOR_DF, stub(VECTOR_DF), IST_DF, 0);
	set_gate(VECTOR_MC, stub(VECTOR_MC), IST_MC, 0);
	set_gate(VECTOR_GUARD_ABORT, stub(VECTOR_GUARD_ABORT), IST_NONE, GATE_DPL3);
	/* Not by way of the stub, so that few instructions run at CPL 0 between CPL 3 and the
	 * caller. */
	set_gate(VECTOR_USER_RETURN, user_return, IST_NONE, GATE_DPL3);
}

void descriptor_load(unsigned cpu)
{
	const struct table_register gdtr = { sizeof gdt - 1, (u64)(uintptr_t)gdt };
	const struct table_register idtr = { sizeof idt - 1, (u64)(uintptr_t)idt };
	const struct segments segments = { .cs = SELECTOR_KERNEL_CODE,
					   .ss = SELECTOR_KERNEL_DATA };

	/* LTR marks the TSS busy and refuses a busy TSS: clear the mark of the last borrow. */
	*tss_descriptor(cpu) &= ~(2ULL << 40);
	segments_load(&gdtr, &segments);
	__asm__ volatile("ltr %w0" ::"r"(SELECTOR_TSS + cpu * TSS_DESCRIPTOR_SIZE));
	__asm__ volatile("lidt %0" ::"m"(idtr));
}

void descriptor_open_rings(bool open)
{
	volatile u64 *const table = gdt;
	const u64 code = open ? SEGMENT_KERNEL_CODE : 0, data = open ? SEGMENT_KERNEL_DATA : 0;

	table[SELECTOR_RING1_CODE / 8] = code | SEGMENT_DPL(1);
	table[SELECTOR_RING1_DATA / 8] = data | SEGMENT_DPL(1);
	table[SELECTOR_RING2_CODE / 8] = code | SEGMENT_DPL(2);
	table[SELECTOR_RING2_DATA / 8] = data | SEGMENT_DPL(2);
}

void descriptor_set_rsp0(u64 rsp)
{
	tss[cpu_index()].rsp[0] = rsp;
}
