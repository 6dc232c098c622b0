/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS of the processor that calls, CPUID.(23H,0):EAX[5:4] = 3: the buffer in
 * physical memory, between two guard zones, and counters that write records to it. Buffer and
 * guards are filled with a pattern before each use, so that every byte that was written can be
 * told. Memory is mapped to itself. CPL 0; counters are off where a register is written.
 */
#ifndef PMU_ARCH_PEBS_H
#define PMU_ARCH_PEBS_H

#include "pmu/version6/arch_record.h"
#include "pmu/counter.h"

#define ARCH_PEBS_LARGEST	4u	/* most that size may be: 10000H bytes */
/* IA32_PEBS_INDEX_THRESH that no record reaches. */
#define ARCH_PEBS_NEVER		(IA32_PEBS_INDEX_THRESH >> IA32_PEBS_INDEX_THRESH_SHIFT)

/* Allocate this processor's memory, once. false: no memory. */
bool arch_pebs_init(void);

/* Fill, and set IA32_PEBS_BASE for 1000H << size bytes and IA32_PEBS_INDEX with EN and this
 * threshold, in units of 16 bytes. */
void arch_pebs_open(unsigned size, u64 threshold);
/* Both registers and every CFG_C 0. The buffer's contents stay. */
void arch_pebs_close(void);
/* WR to that many bytes; what else there is of IA32_PEBS_INDEX stays, but for FULL. */
void arch_pebs_set_write(u64 bytes);

/*
 * Program the counter for event with flags (COUNT_*), make it overflow on the nth event, and have
 * it write records with these groups: bits of IA32_PMC_x_CFG_C. After each it is loaded to overflow
 * on the reload-th event, 1 to 2^31.
 */
void arch_pebs_arm(unsigned counter, u16 event, u64 flags, u64 n, u64 groups, u64 reload);
/* Each CFG_C 0. */
void arch_pebs_disarm(void);

/* The buffer, where the processor finds it; how many bytes of it WR says are written. */
const u8 *arch_pebs_buffer(void);
u64 arch_pebs_written(void);
u64 arch_pebs_index(void);
/* The first byte outside [first, end) of the buffer that was written, the guards included: its
 * offset from the base in *offset. false: nothing was. */
bool arch_pebs_written_outside(u64 first, u64 end, int64_t *offset);

#endif
