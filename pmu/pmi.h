/* SPDX-License-Identifier: MIT */
/*
 * Performance-monitoring interrupts: LVTPC, the one handler that all tests share, and the log of
 * what it saw, all of the processor that calls. The handler's order is always: look, stop, drain
 * (take a copy of the newest record), clear, EOI, unmask LVTPC last (an early unmask gives spurious
 * interrupts on Haswell).
 */
#ifndef PMU_PMI_H
#define PMU_PMI_H

#include "pmu/record.h"
#include "spec/types.h"

#define PMI_LOG_SIZE 8

struct pmi_entry {
	u8 vector;		/* how it arrived: VECTOR_PMI or VECTOR_NMI, others are wrong */
	u32 lvtpc;		/* at entry */
	u64 status;		/* at entry: IA32_PERF_GLOBAL_STATUS, or its like */
	u64 global_ctrl;	/* IA32_PERF_GLOBAL_CTRL at entry, before the handler's stop */
	u64 debugctl;		/* IA32_DEBUGCTL at entry */
	u64 index;		/* the PEBS index field, read first of all */
	u64 arch_index;		/* IA32_PEBS_INDEX at entry, where there is one */
	u64 rip, rflags;	/* of what was interrupted */
	u64 tsc;
	u8 record[RECORD_MAX_SIZE];	/* bytes just below the index, zero without a DS area */
};

struct pmi_log {
	unsigned count;		/* since pmi_open(); only the first PMI_LOG_SIZE are kept */
	struct pmi_entry entry[PMI_LOG_SIZE];
};

struct pmi_options {
	bool nmi;		/* delivery mode NMI instead of fixed */
	bool masked;		/* begin with LVTPC's mask bit set */
	bool keep_counting;	/* don't write IA32_PERF_GLOBAL_CTRL in the handler */
	bool keep_status;	/* don't clear IA32_PERF_GLOBAL_STATUS in the handler */
	bool stay_masked;	/* don't unmask LVTPC at the end of the handler */
};

/* Take the vectors. Once per borrow on each processor, before its first pmi_open(). */
void pmi_init(void);

/* Let go an interrupt that waits since LVTPC was masked, empty the log, set up LVTPC and listen.
 * Counters are off. NULL options: all false. */
void pmi_open(const struct pmi_options *options);

/* Write LVTPC with its mask bit clear, or set, as pmi_open() would. */
void pmi_unmask(void);
void pmi_mask(void);

/*
 * Give interrupts that are under way the time and the instructions to arrive (bounded, some ten
 * microseconds and some thousand instructions), and
 * return the log as it then stands. Interrupts must be on.
 */
const struct pmi_log *pmi_settle(void);

/* Mask LVTPC and stop listening. */
void pmi_close(void);

/* pmi_settle(), then pmi_close(): the log of what had begun before. */
const struct pmi_log *pmi_end(void);

/* Interrupts on these vectors that no test waited for, since the last call. */
unsigned pmi_spurious(void);

#endif
