/* SPDX-License-Identifier: MIT */
/* Segments, task-state segment and interrupt gates while the machine is borrowed. */
#ifndef KERNEL_DESCRIPTOR_H
#define KERNEL_DESCRIPTOR_H

#include "kernel/processor/selectors.h"
#include "spec/types.h"

/* Operand of LGDT, SGDT, LIDT and SIDT: "Memory-Management Registers". */
struct table_register {
	u16 limit;
	u64 base;
} __attribute__((packed));

struct segments {
	u16 cs, ss, ds, es, fs, gs;
};

/* Fill in GDT and IDT. Once. */
void descriptor_init(void);

/* Fill in the TSS of a processor and its descriptor; the three stack tops are those of NMI, #DF
 * and #MC. Once each, after descriptor_init(). */
void descriptor_init_tss(unsigned cpu, u64 nmi_stack_top, u64 df_stack_top, u64 mc_stack_top);

/* Make our GDT, the IDT and the TSS of cpu this processor's. Interrupts off. DS, ES, FS and GS
 * become null. */
void descriptor_load(unsigned cpu);

/* The first instruction that an interrupt or exception of this vector leads to. */
u64 descriptor_gate(unsigned vector);

/* Replace that address, for all processors; 0: restore the usual one. */
void descriptor_lead(unsigned vector, u64 address);

/* Add the segments of CPL 1 and 2 to the GDT, or remove them. */
void descriptor_open_rings(bool open);

/* The stack on which this processor takes an interrupt from another CPL than 0. */
void descriptor_set_rsp0(u64 rsp);

/* descriptor.asm */
void segments_read(struct segments *segments);
/* LGDT, then reload every segment register from it. FS and GS bases are lost. */
void segments_load(const struct table_register *gdt, const struct segments *segments);

#endif
