/* SPDX-License-Identifier: MIT */
/*
 * Faults that are expected, and the instructions that may raise them. Each *_try function
 * executes one instruction which is listed in the exception table; an exception there resumes after
 * it and is returned. An exception anywhere else ends the running test (kernel/interrupt/guard.h).
 */
#ifndef KERNEL_FAULT_H
#define KERNEL_FAULT_H

#include "kernel/interrupt/registers.h"

enum vector {
	VECTOR_DB = 1,
	VECTOR_NMI = 2,
	VECTOR_BP = 3,
	VECTOR_UD = 6,
	VECTOR_DF = 8,
	VECTOR_GP = 13,
	VECTOR_PF = 14,
	VECTOR_MC = 18
};

/* Machine state as the entry stubs push it; handlers may change what IRETQ will restore. */
struct trap_frame {
	struct all_registers reg;
	u64 vector, error;		/* error is 0 for vectors without an error code */
	u64 rip, cs, rflags, rsp, ss;	/* what the processor pushed */
};
_Static_assert(sizeof(struct trap_frame) == 22 * sizeof(u64), "vectors.asm: no gaps");

struct fault {
	bool raised;
	u8 vector;
	u32 error;
	u64 rip, cr2;			/* cr2 is of VECTOR_PF only */
};

/* Has a WRMSR (0F 30, without prefixes) raised this #GP? Then *msr is ECX, and *value EDX:EAX. The
 * two bytes at frame->rip must be readable. */
bool fault_is_wrmsr(const struct trap_frame *frame, u32 *msr, u64 *value);

/* #GP and nothing else: the access was refused. */
static inline bool fault_is_gp(struct fault fault)
{
	return fault.raised && fault.vector == VECTOR_GP;
}

/* In any CPL 0 state. On a fault *value isn't changed. */
struct fault msr_try_read(u32 msr, u64 *value);
struct fault msr_try_write(u32 msr, u64 value);
/* Write the same value to `count` MSRs whose numbers are `stride` apart. Returns the last fault, if
 * any. */
struct fault msr_try_write_row(u32 first, unsigned stride, unsigned count, u64 value);
struct fault rdpmc_try(u32 ecx, u64 *value);

/* Called after each refused WRMSR of the functions above, on the processor that executed it. NULL:
 * nothing is called. */
extern void (*fault_on_refused_write)(u32 msr, u64 value);

/* For accesses that must succeed: a fault ends the test. */
u64 msr_read(u32 msr);
void msr_write(u32 msr, u64 value);
/* `count` consecutive MSRs. One RDMSR or WRMSR soon after another takes less time in a guest whose
 * hypervisor looks ahead, as the reference PMU does. */
void msr_read_row(u32 first, unsigned count, u64 *values);
void msr_write_row(u32 first, unsigned count, u64 value);
u64 rdpmc(u32 ecx);

#endif
