/* SPDX-License-Identifier: MIT */
/*
 * Performance-monitoring interrupts: LVTPC, the handler that all tests share, and its log, all for
 * the calling processor. The handler always works in this order: read the state, stop the counters,
 * drain (copy the newest record), clear the status, EOI, and unmask LVTPC last (an early unmask
 * gives spurious interrupts on Haswell).
 */
#ifndef PMU_PMI_H
#define PMU_PMI_H

#include "pmu/record.h"
#include "spec/types.h"

#define PMI_LOG_SIZE 8

struct pmi_entry {
	u8 vector;		/* how it arrived: VECTOR_PMI or VECTOR_NMI, others are wrong */
	u32 lvtpc;		/* at entry */
	u64 status;		/* at entry: IA32_PERF_GLOBAL_STATUS or its equivalent */
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

/* Set the handlers of the vectors. Once per borrow on each processor, before its first
 * pmi_open(). */
void pmi_init(void);

/* Drop an interrupt that is pending because LVTPC was masked, clear the log, set up LVTPC and begin
 * to log. Counters must be off. NULL options: all false. */
void pmi_open(const struct pmi_options *options);

/* Write LVTPC with its mask bit clear, or set, as pmi_open() would. */
void pmi_unmask(void);
void pmi_mask(void);

/*
 * Wait for interrupts that are on their way (bounded: some ten microseconds and some thousand
 * instructions), and return the log. Interrupts must be on.
 */
const struct pmi_log *pmi_settle(void);

/* Mask LVTPC and stop logging. */
void pmi_close(void);

/* pmi_settle(), then pmi_close(). Returns the log. */
const struct pmi_log *pmi_end(void);

/* Number of interrupts on these vectors outside pmi_open() and pmi_close(), since the last call. */
unsigned pmi_spurious(void);

#endif
