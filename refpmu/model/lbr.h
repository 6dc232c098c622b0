/* SPDX-License-Identifier: MIT */
/*
 * Last branch records: "Last Branch, Interrupt, and Exception Recording" for processors from
 * Nehalem to Ice Lake, and architectural ones. The state is in struct model (state.h), the formats
 * are in spec/lbr.def and spec/arch_lbr.def.
 */
#ifndef REFPMU_MODEL_LBR_H
#define REFPMU_MODEL_LBR_H

#include "refpmu/model/bulk.h"
#include "refpmu/model/msr.h"
#include "spec/lbr.h"

/* The bit of a branch in MSR_LBR_SELECT; LBR_NO_KIND: not a taken branch. */
#define LBR_NO_KIND	0

/* One transfer of control. */
struct lbr_branch {
	u64 from, to;
	u64 kind;		/* LBR_SELECT_* */
	u64 next;		/* address of the instruction after a call */
	u8 cpl, cpl_before;	/* where it ends, where it begins */
	bool mispredicted, in_tx, abort;
	bool is_event;		/* an interrupt or exception, */
	bool with_error;	/* with an error code */
};

/* The effect of a transfer of control on the stack of records. */
struct lbr_plan {
	bool records;		/* as the newest entry */
	bool pops;		/* call-stack mode: the newest entry is removed, */
	bool keeps;		/* but reads as before: with some faults */
	unsigned entries;	/* of the stack */
	u64 from, to, info;	/* of the new entry */
	int step;		/* of MSR_LASTBRANCH_TOS */
	bool log_goes_on;	/* the entry doesn't begin the log of events anew; */
	bool log_begins;	/* a branch without an entry does */
};

/* Entries that the stack has; 0: there is none. */
unsigned model_lbr_entries(const struct model *m);
/* Is recording enabled, even if it is frozen? */
bool model_lbr_enabled(const struct model *m);
/* The entry that is the nth newest. */
const struct lbr_entry *model_lbr_entry(const struct model *m, unsigned n);
/* IA32_PERF_CAPABILITIES[5:0]. */
unsigned model_lbr_format(const struct model *m);
/* Bits of a register of the bank that hold flags, not an address. */
u64 model_lbr_flags(const struct model *m, enum model_reg reg);
/* Do MSR_LBR_INFO_x exist? */
bool model_lbr_has_info(const struct model *m);
/* An instruction has retired; a transaction has aborted (if a record aborted it, this comes
 * second). */
void model_lbr_retired(struct model *m, const struct model_retired *r);
void model_lbr_aborted(struct model *m, const struct model_retired *r);
/* The number of entries that an instruction makes when it retires, plus those of interrupts and
 * exceptions since the previous instruction. */
u64 model_lbr_inserts(const struct model *m, const struct model_retired *r);
/* For instructions that are reported in bulk: are branches at this level recorded? A branch was
 * taken. */
bool model_lbr_records(const struct model *m, u8 cpl);
void model_lbr_taken(struct model *m, u8 cpl, const struct model_taken *b);

/* goldencove/arch_lbr.c: architectural ones. */
/* The contents of CPUID leaf 1CH. */
struct arch_lbr_leaf {
	u8 depths;
	bool lip, deep_c_reset, cpl_filter, branch_filter, call_stack, mispredict, cycles, type;
	u64 logs;		/* bit n: events of IA32_PMCn */
};
struct arch_lbr_leaf model_arch_lbr_leaf(const struct model *m);
bool model_arch_lbr_is_depth(const struct model *m, u64 value);
void model_arch_lbr_reset(struct model *m);
/* WRMSR of IA32_LBR_CTL and IA32_LBR_DEPTH. */
void model_arch_lbr_control(struct model *m, u64 value);
void model_arch_lbr_set_depth(struct model *m, u64 value);
/* FROM and INFO of a new entry. */
void model_arch_lbr_fill(const struct model *m, const struct lbr_branch *b, struct lbr_plan *plan);

/* goldencove/event_log.c: "LBR event logging", IA32_PERFEVTSELx[35]. */
/* The fields of a new entry; it has been recorded. */
u64 model_lbr_log_info(const struct model *m);
void model_lbr_log_begin(struct model *m);

u64 model_lbr_read(const struct model *m, const struct msr_ref *p);
void model_lbr_write(struct model *m, const struct msr_ref *p, u64 value);

#endif
