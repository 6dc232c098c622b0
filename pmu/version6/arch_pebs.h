/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS of the calling processor, CPUID.(23H,0):EAX[5:4] = 3: the buffer in physical
 * memory, between two guard zones, and counters that write records to it. Buffer and guards are
 * filled with a pattern before each use, so that every byte that was written can be recognised.
 * Memory is identity mapped. CPL 0; counters must be off in functions that write a register.
 */
#ifndef PMU_ARCH_PEBS_H
#define PMU_ARCH_PEBS_H

#include "pmu/version6/arch_record.h"
#include "pmu/counter.h"

#define ARCH_PEBS_LARGE		4u	/* a value of `size` for many records: 10000H bytes */
#define ARCH_PEBS_LARGEST	5u	/* and the largest: 20000H bytes */
/* A threshold that no record reaches. */
#define ARCH_PEBS_NEVER		(IA32_PEBS_INDEX_THRESH >> IA32_PEBS_INDEX_THRESH_SHIFT)

/* Allocate this processor's memory, once. false: no memory. */
bool arch_pebs_init(void);

/* Fill the buffer with the pattern; set IA32_PEBS_BASE for 1000H << size bytes, and IA32_PEBS_INDEX
 * with EN and this threshold, in units of 16 bytes. */
void arch_pebs_open(unsigned size, u64 threshold);
/* Write 0 to both registers and every CFG_C. The buffer's contents stay. */
void arch_pebs_close(void);
/* Set WR to that many bytes and clear FULL; the rest of IA32_PEBS_INDEX stays. */
void arch_pebs_set_write(u64 bytes);

/*
 * Program the counter for event with flags (COUNT_*), make it overflow on the nth event, and let it
 * write records with these groups (bits of IA32_PMC_x_CFG_C). After each record the counter is
 * reloaded to overflow on the reload-th event, 1 to 2^31.
 */
void arch_pebs_arm(unsigned counter, u16 event, u64 flags, u64 n, u64 groups, u64 reload);
/* Write 0 to each CFG_C. */
void arch_pebs_disarm(void);

/* The buffer; and the number of written bytes by WR. */
const u8 *arch_pebs_buffer(void);
u64 arch_pebs_written(void);
u64 arch_pebs_index(void);
/* The first byte outside [first, end) of the buffer that was written, the guards included: its
 * offset from the base in *offset. false: nothing was. */
bool arch_pebs_written_outside(u64 first, u64 end, int64_t *offset);

#endif
