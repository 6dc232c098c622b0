/* SPDX-License-Identifier: MIT */
/*
 * The PMU of NetBurst: counters, CCCRs and ESCRs shared by the logical processors of a core,
 * "Performance Monitoring and Intel Hyper-Threading Technology in Processors Based on Intel
 * NetBurst Microarchitecture". One struct netburst belongs to a core; each logical processor has
 * its struct model, whose calls (model.h) come here if its generation has FAC_NETBURST.
 *
 * All functions except netburst_needs_retire() are called under the lock of the core
 * (model/core.h).
 *
 * Files: netburst.c (counting, overflow, cascades, interrupts), msr.c
 * (registers), event.c (what is counted for which thread), replay.c (replays
 * of tagged micro-operations), pebs.c (records).
 * For refpmu/model/.
 *
 * Not handled: events that have no meaning here (spec/netburst.def lists the known events), bogus
 * micro-operations, branch records, MSR_TC_PRECISE_EVENT, which only keeps what is written.
 */
#ifndef REFPMU_MODEL_NETBURST_NETBURST_H
#define REFPMU_MODEL_NETBURST_NETBURST_H

#include "refpmu/model/internal.h"
#include "refpmu/model/msr.h"
#include "refpmu/model/netburst/state.h"

/* The state that its core shares. */
static inline struct netburst *netburst_of(const struct model *m)
{
	return &m->host->netburst[m->core];
}

/* Of this struct model: 0 or 1, bit 0 of the initial APIC ID. */
unsigned netburst_thread_of(const struct model *m);
/* Does the processor have Hyper-Threading, as CPUID shows it? */
bool netburst_has_ht(const struct model *m);

/* Each has the contract of model.h's function of the same name, model_init() and so on. The
 * functions for RDMSR and WRMSR may also return MSR_NOT_OURS. */
void netburst_init(struct model *m);
struct msr_result netburst_rdmsr(struct model *m, u32 msr);
struct msr_result netburst_wrmsr(struct model *m, u32 msr, u64 value);
struct msr_result netburst_rdpmc(struct model *m, u32 ecx);
/* Does a counter count? */
bool netburst_counts(const struct model *m);
bool netburst_needs_retire(const struct model *m);
void netburst_retire(struct model *m, const struct model_retired *r);
void netburst_halt(struct model *m);
void netburst_resumed(struct model *m, u8 cpl);

/* ---- between the files ---- */

/* A register, by the tokens of refpmu/faults/fault_netburst.def. */
enum netburst_reg {
	NBR_NONE, NBR_COUNTER, NBR_CCCR, NBR_ESCR, NBR_PEBS_ENABLE, NBR_MATRIX_VERT,
	NBR_TC_PRECISE_EVENT, NBR_DEBUGCTLA, NBR_KINDS,
};

struct netburst_place {
	enum netburst_reg reg;
	unsigned i;		/* member of a bank */
};

/* The filters of a CCCR: with compare the input passes if it is at least this much, or, with
 * complement, if it isn't; edge needs compare. */
struct netburst_filter {
	bool compare, complement, edge;
	u64 least;
};

/* The PMI of a counter: was it due, is it raised now, is it due with the next count? */
struct netburst_pmi {
	bool was_due, raised, due;
};

/* One row of NB_COUNTER. */
struct netburst_counter_row {
	u8 pool, alternate, extended;
};
extern const struct netburst_counter_row netburst_counters[NB_COUNTERS];

/* One retired instruction on its way through the PMU. */
struct netburst_step {
	struct retire_ctx core;		/* for the memory hierarchy: r and outcome */
	const struct netburst_settings *with;
	unsigned thread;
	bool mispredicted;
	bool load_tags, store_tags;	/* uop_type has tagged its loads, its stores */
	u8 execution_tags;		/* tag values of its arithmetic micro-operation */
	bool split_load_tags, split_store_tags;
	u64 replay_causes;		/* NB_MOB_LOAD_REPLAY_* that are tagged */
};

/* netburst.c */
/* The bits that a counter holds. */
u64 netburst_width(struct model *m);
/* CCCRs have been written: which counters run? */
void netburst_configure(struct model *m, u32 keep_started);

/* event.c */
/* ESCR e, or the CCCR of counter n, holds another value: work out what it means. */
void netburst_escr_written(struct netburst_settings *with, unsigned e);
void netburst_cccr_written(struct netburst_settings *with, unsigned n);
/* Does some ESCR of a running counter ask what memory accesses met? */
bool netburst_watches_memory(const struct netburst_settings *with);
/* Fill in the tags of upstream ESCRs. */
void netburst_tag(struct model *m, struct netburst_step *s);
/* The input of counter n: events of this instruction that its ESCR selects. */
struct netburst_input {
	u64 count;
	bool per_clock;		/* in each of its clocks */
	bool precise;		/* PEBS can be made of the event */
};
struct netburst_input netburst_input(struct model *m, const struct netburst_step *s, unsigned n);
/* The flag of an ESCR for this logical processor at CPL 0, or above. */
u64 netburst_flag_of(unsigned thread, bool user);

/* replay.c */
/* What MSR_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT tag. */
struct netburst_replay {
	bool tags;		/* UOP_Tag */
	u64 metrics;		/* bits 12:0 */
	bool loads, stores, branches;
};
/* Replays of tagged micro-operations on this instruction: Table 19-33. */
u64 netburst_replayed(struct model *m, const struct netburst_step *s);
/* Accesses of an instruction that are of this kind; locked ones only if locked_too. */
u64 netburst_accesses(struct model *m, const struct netburst_step *s, enum event_kind kind,
		      bool locked_too);
/* After the instruction: later loads may meet its stores. */
void netburst_note_stores(struct model *m, const struct netburst_step *s);

/* pebs.c */
enum netburst_form { NETBURST_FORM_NB64, NETBURST_FORM_NB32, NETBURST_FORMS };
/* The fields of the DS area. */
struct netburst_ds {
	u64 base, index, maximum, threshold, reset;
};
/* The effect of a record on the DS area. */
struct netburst_assist {
	bool fits;		/* there is room: otherwise nothing happens */
	bool written;
	u64 at;			/* there */
	u64 index;		/* after it */
	bool reloads;		/* the counter, from its reset value */
	u64 reload;		/* that value */
};
/* The record of logical processor s->thread. true: it was written, and the
 * counter holds the reset value. */
bool netburst_assist(struct model *m, const struct netburst_step *s, unsigned counter);

#endif
