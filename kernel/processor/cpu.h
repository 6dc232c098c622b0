/* SPDX-License-Identifier: MIT */
/*
 * Registers of the processor that take one privileged instruction each: control and debug
 * registers, descriptor-table registers, I/O ports. "Control Registers", "Debug Registers".
 */
#ifndef KERNEL_CPU_H
#define KERNEL_CPU_H

#include "spec/types.h"

#define CR0_PE		BIT(0)
#define CR0_MP		BIT(1)
#define CR0_EM		BIT(2)
#define CR0_TS		BIT(3)
#define CR0_ET		BIT(4)
#define CR0_NE		BIT(5)
#define CR0_WP		BIT(16)
#define CR0_AM		BIT(18)
#define CR0_PG		BIT(31)

#define CR4_TSD		BIT(2)
#define CR4_DE		BIT(3)
#define CR4_PAE		BIT(5)
#define CR4_PGE		BIT(7)
#define CR4_UMIP	BIT(11)
#define CR4_LA57	BIT(12)
#define CR4_PCIDE	BIT(17)
#define CR4_SMEP	BIT(20)
#define CR4_SMAP	BIT(21)
#define CR4_PKE		BIT(22)
#define CR4_CET		BIT(23)
#define CR4_PKS		BIT(24)

#define EFER_LME	BIT(8)
#define EFER_NXE	BIT(11)

#define RFLAGS_FIXED	BIT(1)
#define RFLAGS_IF	BIT(9)

#define DR7_FIXED	BIT(10)		/* no breakpoint enabled */
#define DR6_FIXED	0xffff0ff0ULL

#define CPU_REGISTER(name, reg)						\
	static inline u64 name##_read(void)				\
	{								\
		u64 value;						\
									\
		__asm__ volatile("mov %%" reg ", %0" : "=r"(value));	\
		return value;						\
	}								\
	static inline void name##_write(u64 value)			\
	{								\
		__asm__ volatile("mov %0, %%" reg :: "r"(value) : "memory"); \
	}

CPU_REGISTER(cr0, "cr0")
CPU_REGISTER(cr2, "cr2")
CPU_REGISTER(cr3, "cr3")
CPU_REGISTER(cr4, "cr4")
CPU_REGISTER(cr8, "cr8")
CPU_REGISTER(dr0, "dr0")
CPU_REGISTER(dr1, "dr1")
CPU_REGISTER(dr2, "dr2")
CPU_REGISTER(dr3, "dr3")
CPU_REGISTER(dr6, "dr6")
CPU_REGISTER(dr7, "dr7")

static inline u64 rflags_read(void)
{
	u64 value;

	__asm__ volatile("pushfq; pop %0" : "=r"(value));
	return value;
}

static inline void port_write8(u16 port, u8 value)
{
	__asm__ volatile("outb %0, %1" :: "a"(value), "Nd"(port) : "memory");
}

static inline u8 port_read8(u16 port)
{
	u8 value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

#endif
