/* SPDX-License-Identifier: MIT */
/*
 * Instructions that C can't express, for the hypervisor and for its self test, which is its guest.
 * None of these may fault.
 */
#ifndef REFPMU_HV_INSTRUCTIONS_H
#define REFPMU_HV_INSTRUCTIONS_H

#include "spec/types.h"
#include "spec/x86.h"

static inline u64 msr_read(u32 msr)
{
	u32 low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (u64)high << 32 | low;
}

static inline void msr_write(u32 msr, u64 value)
{
	__asm__ volatile("wrmsr" ::"c"(msr), "a"((u32)value), "d"((u32)(value >> 32)) : "memory");
}

static inline void cpuid(u32 leaf, u32 subleaf, u32 regs[4])
{
	__asm__ volatile("cpuid"
			 : "=a"(regs[0]), "=b"(regs[1]), "=c"(regs[2]), "=d"(regs[3])
			 : "a"(leaf), "c"(subleaf));
}

static inline u64 tsc(void)
{
	u32 low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (u64)high << 32 | low;
}

/* FXSAVE: 512 bytes at a multiple of 16; the XMM registers are at FXSAVE_XMM. */
#define FXSAVE_BYTES	512
#define FXSAVE_XMM	160

static inline void fxsave(void *area)
{
	__asm__ volatile("fxsave64 (%0)" ::"r"(area) : "memory");
}

#define READ_REGISTER(name) \
	({ u64 value_; __asm__ volatile("mov %%" #name ", %0" : "=r"(value_)); value_; })
#define WRITE_REGISTER(name, value) \
	__asm__ volatile("mov %0, %%" #name :: "r"((u64)(value)) : "memory")

/*
 * Prepare for XSAVE and XRSTOR as in a program with this CR4. false: the program hasn't set
 * CR4.OSXSAVE; then don't call end_xsave(). end_xsave() restores *cr4.
 */
static inline bool begin_xsave(u64 program_cr4, u64 *cr4)
{
	*cr4 = READ_REGISTER(cr4);
	if (!(program_cr4 & CR4_OSXSAVE))
		return false;
	WRITE_REGISTER(cr4, *cr4 | CR4_OSXSAVE);
	return true;
}

static inline void end_xsave(u64 cr4)
{
	WRITE_REGISTER(cr4, cr4);
}

/* The features that the program has enabled; between these two. */
static inline u64 xcr0(void)
{
	u32 low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (u64)high << 32 | low;
}

/* GDTR and IDTR. */
struct descriptor_table {
	u16 limit;
	u64 base;
} __attribute__((packed));

/* Load both, CS with code, and DS, ES and SS with data. */
void load_descriptor_tables(const struct descriptor_table *gdt, const struct descriptor_table *idt,
			    u64 code, u64 data);

#endif
