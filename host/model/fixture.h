/* SPDX-License-Identifier: MIT */
/*
 * A bench for the model: a processor that retires the instructions that a test passes, and memory
 * with a DS area and a PEBS buffer. Its local APIC takes interrupts. If a test wants it, the APIC
 * unmasks LVTPC at once, as a handler would. The fixture keeps all events in their order.
 */
#ifndef HOST_MODEL_FIXTURE_H
#define HOST_MODEL_FIXTURE_H

#include "refpmu/faults/fault.h"
#include "refpmu/model/model.h"
#include "refpmu/model/core.h"
#include "refpmu/model/uncore.h"
#include "spec/event.h"
#include "spec/msr.h"

#define FIXTURE_MEMORY_BASE	0xffff900000010000ULL	/* linear address of memory[0] */
#define FIXTURE_PHYSICAL	0x210000ULL	/* where that is in physical memory */
#define FIXTURE_MEMORY	0x4000
#define FIXTURE_DS	FIXTURE_MEMORY_BASE
#define FIXTURE_BUFFER	(FIXTURE_MEMORY_BASE + 0x1000)
#define FIXTURE_RECORD	0xc0			/* Table 18-44: the last field begins at B8H */
#define FIXTURE_RECORD_FMT3	0xc8		/* Table 18-55: the last field begins at C0H */
#define FIXTURE_RECORD_BASIC	0x20		/* the basic group of an adaptive one */
#define FIXTURE_RECORD_FMT1	0xb0		/* Table 18-23: the last field begins at A8H */
#define FIXTURE_VECTOR	0xf0
#define FIXTURE_LOG	512

/* Generations before that have records of formats 1 to 3, and PEBS on counters 0 to 3. */
#define FIXTURE_GENERATIONS	GEN_ICELAKE

struct fixture_action {
	enum model_action action;
	unsigned counter;
	u64 at;			/* number of the instruction, 0: the first */
};

struct fixture_interrupt {
	enum pmi_kind kind;
	u8 vector;
	u64 status;		/* IA32_PERF_GLOBAL_STATUS on entry to the handler */
	u64 index;		/* the PEBS index in memory then */
	u64 at;
};

struct fixture {
	struct model m;
	struct model_host host;
	u8 memory[FIXTURE_MEMORY];
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
	u8 xmm;			/* XMM0 to XMM15 are bytes xmm, xmm + 1, ... */
	unsigned n_actions, n_interrupts;
	struct fixture_action action[FIXTURE_LOG];
	struct fixture_interrupt interrupt[FIXTURE_LOG];

	struct memory hierarchy;	/* large, and empty again after each fixture_open() */
	struct tx_log tx_log;
};

/*
 * Power on, then all counters 0 and off and the status clear, whatever the seed left there.
 * LVTPC is fixed, unmasked, with FIXTURE_VECTOR. A Haswell.
 */
void fixture_open(struct fixture *r, enum fault_id fault, u64 seed, bool hyper_threading);
/* The same with any configuration. */
void fixture_open_config(struct fixture *r, const struct model_config *config);

/* The same with two processors that are the threads of one core; `core` is theirs. */
void fixture_open_core(struct fixture *threads, struct model_core *core,
		       const struct model_config *config);

/* The same with `n` of them, and an uncore that all share. Threads 2k and 2k + 1 are core k's if
 * there is Hyper-Threading; cores[] has an entry for each core. uncore: NULL, or theirs. */
void fixture_open_package(struct fixture *processors, unsigned n, struct model_core *cores,
			  struct model_uncore *uncore, const struct model_config *config);

/* A correct Haswell with hyper-threading, seed 0 and this knob set by hand. */
void fixture_open_knob(struct fixture *r, enum latitude_id knob, u32 value);

/* WRMSR as an instruction: it retires unless it faults. The status is that of the write. */
enum msr_status fixture_wrmsr(struct fixture *r, u32 msr, u64 value);
/* Has the processor PEBS and a DS area? The profile kvm hasn't. */
bool fixture_has_pebs(const struct fixture *r);
/* Must succeed; a failing access is a failed check. */
void fixture_set(struct fixture *r, u32 msr, u64 value);
u64 fixture_get(struct fixture *r, u32 msr);
u64 fixture_status(struct fixture *r);
/* The guest writes LVTPC. */
void fixture_write_lvtpc(struct fixture *r, u32 value);

/*
 * Instructions. Each is four bytes long; registers change in a way that tells them apart.
 * fixture_retire() fills in address, privilege level and registers.
 */
void fixture_retire(struct fixture *r, struct model_retired *i);
void fixture_nops(struct fixture *r, unsigned n);
void fixture_load(struct fixture *r, u64 linear);
void fixture_store(struct fixture *r, u64 linear);
void fixture_locked_add(struct fixture *r, u64 linear);
void fixture_branch(struct fixture *r, enum model_branch branch, bool taken);
void fixture_backward_branch(struct fixture *r, bool taken);	/* a conditional one */

/* Memory of the rig, as the program sees it. */
u64 fixture_peek(const struct fixture *r, u64 linear);
void fixture_poke(struct fixture *r, u64 linear, u64 value);

/* A DS area with an empty buffer for `records` records and a threshold after `threshold` of
 * them. */
void fixture_ds(struct fixture *r, unsigned records, unsigned threshold);
void fixture_set_reset(struct fixture *r, unsigned counter, u64 value);
u64 fixture_index(const struct fixture *r);
unsigned fixture_records(const struct fixture *r);
/* A field of record n, by its offset in Table 18-44 or 18-23. */
u64 fixture_record(const struct fixture *r, unsigned n, unsigned offset);

/*
 * Counter n counts this event (EVENT_*) at all privilege levels with these further bits of
 * PERFEVTSELx, starting at -period. Enables in IA32_PERF_GLOBAL_CTRL stay as they are.
 */
void fixture_program(struct fixture *r, unsigned n, u32 event, u64 bits, u64 period);
/* The same with PEBS, period as reset value too. */
void fixture_program_pebs(struct fixture *r, unsigned n, u32 event, u64 bits, u64 period);
/* IA32_PERF_GLOBAL_CTRL: start these, stop all. */
void fixture_start(struct fixture *r, u64 counters);
void fixture_stop(struct fixture *r);

/* The actions so far as text: "ARM0 ASSIST0 THRESHOLD0 OVERFLOW1", in a static buffer. */
const char *fixture_actions(const struct fixture *r);

#endif
