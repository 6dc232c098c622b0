/* SPDX-License-Identifier: MIT */
/* C's view of svm.asm: see there. All but svm_launch() run in the hypervisor, with GIF clear. */
#ifndef REFPMU_SVM_H
#define REFPMU_SVM_H

#include "spec/types.h"

struct taken {
	u32 vector;	/* TAKEN_NONE, or an interrupt that the APIC now sees in service */
	u32 nmi;	/* 1: an NMI came, and NMIs are blocked until the next IRET */
};
#define TAKEN_NONE	0xffffffffu

/* GDTR and IDTR. */
struct descriptor_table {
	u16 limit;
	u64 base;
} __attribute__((packed));

/* Load both, CS with code, and DS, ES and SS with data. */
void svm_load_tables(const struct descriptor_table *gdt, const struct descriptor_table *idt,
		     u64 code, u64 data);

/* Run host(argument, rip, rsp) on another stack; returns when host has made us a guest. */
void svm_launch(void (*host)(void *argument, u64 rip, u64 rsp), void *stack_top, void *argument);

void svm_run(u64 vmcb_address, u64 *gpr);
void svm_save(u64 vmcb_address);

void svm_window(struct taken *taken, bool interrupts);
void svm_wait(struct taken *taken, bool interrupts);

/* Let NMIs come again as the IRET of a handler would: one has been taken, and isn't the guest's. */
void svm_unblock_nmi(void);

extern const u8 host_stubs[];	/* 256 of 16 bytes */

static inline u64 msr_read(u32 msr)
{
	u32 low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (u64)high << 32 | low;
}

static inline void msr_write(u32 msr, u64 value)
{
	__asm__ volatile("wrmsr" :: "c"(msr), "a"((u32)value), "d"((u32)(value >> 32)) : "memory");
}

static inline void cpuid(u32 leaf, u32 subleaf, u32 regs[4])
{
	__asm__ volatile("cpuid" : "=a"(regs[0]), "=b"(regs[1]), "=c"(regs[2]), "=d"(regs[3])
			 : "a"(leaf), "c"(subleaf));
}

#define READ_REGISTER(name) \
	({ u64 value_; __asm__ volatile("mov %%" #name ", %0" : "=r"(value_)); value_; })
#define WRITE_REGISTER(name, value) \
	__asm__ volatile("mov %0, %%" #name :: "r"((u64)(value)) : "memory")

#endif
