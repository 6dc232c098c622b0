/* SPDX-License-Identifier: MIT */
/*
 * Registers of the processor that take one privileged instruction each: control and debug
 * registers, descriptor-table registers, I/O ports. "Control Registers", "Debug Registers".
 */
#ifndef KERNEL_CPU_H
#define KERNEL_CPU_H

#include "spec/x86.h"

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

static inline void rflags_write(u64 value)
{
	__asm__ volatile("push %0; popfq" ::"r"(value) : "cc", "memory");
}

static inline void port_write8(u16 port, u8 value)
{
	__asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port) : "memory");
}

static inline u8 port_read8(u16 port)
{
	u8 value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline void port_write16(u16 port, u16 value)
{
	__asm__ volatile("outw %0, %1" ::"a"(value), "Nd"(port) : "memory");
}

static inline u16 port_read16(u16 port)
{
	u16 value;

	__asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline void port_write32(u16 port, u32 value)
{
	__asm__ volatile("outl %0, %1" ::"a"(value), "Nd"(port) : "memory");
}

static inline u32 port_read32(u16 port)
{
	u32 value;

	__asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

#endif
