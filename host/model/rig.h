/* SPDX-License-Identifier: MIT */
/*
 * A bench for the model: a processor that retires the instructions a test hands it, a piece of
 * memory with a DS area and a PEBS buffer, a local APIC that takes interrupts and, if told to,
 * unmasks LVTPC at once as a handler would. Everything that happens is kept in order.
 */
#ifndef HOST_MODEL_RIG_H
#define HOST_MODEL_RIG_H

#include "refpmu/model/model.h"
#include "refpmu/model/core.h"
#include "refpmu/model/uncore.h"
#include "spec/event.h"
#include "spec/msr.h"

#define RIG_MEMORY_BASE	0xffff900000010000ULL	/* linear address of memory[0] */
#define RIG_MEMORY	0x4000
#define RIG_DS		RIG_MEMORY_BASE
#define RIG_BUFFER	(RIG_MEMORY_BASE + 0x1000)
#define RIG_RECORD	0xc0			/* Table 18-44: the last field begins at B8H */
#define RIG_RECORD_FMT1	0xb0			/* Table 18-23: the last field begins at A8H */
#define RIG_VECTOR	0xf0
#define RIG_LOG		512

struct rig_action {
	enum model_action action;
	unsigned counter;
	u64 at;			/* number of the instruction, 0: the first */
};

struct rig_interrupt {
	enum pmi_kind kind;
	u8 vector;
	u64 status;		/* IA32_PERF_GLOBAL_STATUS on entry to the handler */
	u64 index;		/* the PEBS index in memory then */
	u64 at;
};

struct rig {
	struct model m;
	struct model_host host;
	u8 memory[RIG_MEMORY];
	bool unmapped;		/* nothing is, as long as this is set */
	unsigned stray;		/* accesses outside memory */
	u64 dirty_lo, dirty_hi;	/* linear addresses that the model has written: lo..hi-1 */
	unsigned gp;		/* general-purpose counters that CPUID enumerates */
	unsigned record;	/* bytes, by the format in IA32_PERF_CAPABILITIES */

	u32 lvtpc;
	bool unmasks;		/* the handler clears the mask bit at its end */
	unsigned requests;	/* calls of host.pmi */
	unsigned calls;		/* for another processor, */
	u64 called;		/* bit n: processor n */
	unsigned lock_errors;	/* taken twice, or given back without */
	bool in_pmi;

	u64 now;		/* instructions retired */
	u64 ip;
	u8 cpl;
	struct model_registers regs;
	unsigned n_actions, n_interrupts;
	struct rig_action action[RIG_LOG];
	struct rig_interrupt interrupt[RIG_LOG];

	struct memory hierarchy;	/* large, and empty again after each rig_open() */
	struct tx_log tx_log;
};

/*
 * Power on, then all counters 0 and off and the status clear, whatever the seed left there.
 * LVTPC is fixed, unmasked, with RIG_VECTOR. A Haswell.
 */
void rig_open(struct rig *r, enum fault_id fault, u64 seed, bool hyper_threading);
/* The same with any configuration. */
void rig_open_config(struct rig *r, const struct model_config *config);

/* The same with two processors that are the threads of one core; `core` is theirs. */
void rig_open_core(struct rig *threads, struct model_core *core,
		   const struct model_config *config);

/* The same with `n` of them, and an uncore that all share. Threads 2k and 2k + 1 are core k's if
 * there is Hyper-Threading; cores[] has an entry for each core. uncore: NULL, or theirs. */
void rig_open_package(struct rig *processors, unsigned n, struct model_core *cores,
		      struct model_uncore *uncore, const struct model_config *config);

/* A correct Haswell with hyper-threading, seed 0 and this knob set by hand. */
void rig_open_knob(struct rig *r, enum latitude_id knob, u32 value);

/* WRMSR as an instruction: it retires unless it faults. The status is that of the write. */
enum msr_status rig_wrmsr(struct rig *r, u32 msr, u64 value);
/* Has the processor PEBS and a DS area? The profile kvm hasn't. */
bool rig_has_pebs(const struct rig *r);
/* Must succeed; a failing access is a failed check. */
void rig_set(struct rig *r, u32 msr, u64 value);
u64 rig_get(struct rig *r, u32 msr);
u64 rig_status(struct rig *r);
/* The guest writes LVTPC. */
void rig_write_lvtpc(struct rig *r, u32 value);

/*
 * Instructions. Each is four bytes long; registers change in a way that tells them apart.
 * rig_retire() fills in address, privilege level and registers.
 */
void rig_retire(struct rig *r, struct model_retired *i);
void rig_nops(struct rig *r, unsigned n);
void rig_load(struct rig *r, u64 linear);
void rig_store(struct rig *r, u64 linear);
void rig_locked_add(struct rig *r, u64 linear);
void rig_branch(struct rig *r, enum model_branch branch, bool taken);

/* Memory of the rig, as the program sees it. */
u64 rig_peek(const struct rig *r, u64 linear);
void rig_poke(struct rig *r, u64 linear, u64 value);

/* A DS area with an empty buffer for `records` records and a threshold after `threshold` of
 * them. */
void rig_ds(struct rig *r, unsigned records, unsigned threshold);
void rig_set_reset(struct rig *r, unsigned counter, u64 value);
u64 rig_index(const struct rig *r);
unsigned rig_records(const struct rig *r);
/* A field of record n, by its offset in Table 18-44 or 18-23. */
u64 rig_record(const struct rig *r, unsigned n, unsigned offset);

/*
 * Counter n counts this event (EVENT_*) at all privilege levels with these further bits of
 * PERFEVTSELx, starting at -period. Enables in IA32_PERF_GLOBAL_CTRL stay as they are.
 */
void rig_program(struct rig *r, unsigned n, u32 event, u64 bits, u64 period);
/* The same with PEBS, period as reset value too. */
void rig_program_pebs(struct rig *r, unsigned n, u32 event, u64 bits, u64 period);
/* IA32_PERF_GLOBAL_CTRL: start these, stop all. */
void rig_start(struct rig *r, u64 counters);
void rig_stop(struct rig *r);

/* The actions so far as text: "ARM0 ASSIST0 THRESHOLD0 OVERFLOW1", in a static buffer. */
const char *rig_actions(const struct rig *r);

#endif
