/* SPDX-License-Identifier: MIT */
/*
 * The model: a PMU in plain C. It has no globals, no assembly and no allocation. It also compiles
 * for the development machine, where it is tested and fuzzed. The hypervisor reports to the model
 * what the guest did, and carries out what the model requests.
 *
 * Order of calls: every call is one moment of one logical processor. Effects reach the guest
 * through struct model_host in the order in which the processor would produce them.
 *
 * Files: model.c (configuration), core.c (state shared by the processors of a core), latitude.c
 * (parameters for what the manual leaves open), enumeration/ (CPUID and similar), msr.c and
 * msr_bits.c (rules of reads and writes), counter.c (events, counting, overflow), priority.c (the
 * order of assists and interrupts), pebs.c (assist, index, threshold), record.c (contents of a
 * record), lvt.c (from the request of a PMI to its delivery by the local APIC), lbr.c (last branch
 * records), uncore.c (the uncore's counters), hooks.h (the calls by which refpmu/faults/ changes
 * plans). Memory: memory/memory.c, line.c, place.c (caches and TLBs, shared by all processors),
 * based on memory/sets.c; memory/frontend.c (code), exerciser.c (lines put into caches on request),
 * access.c (loads and stores), load_latency.c (tags), offcore.c, data_address.c (memory fields of
 * records). Transactions: model/tsx/tx.c, model/tsx/log.c. NetBurst: netburst/, called by pmu.c.
 * docs/READINGS.md lists the decisions where the manual leaves a choice. May include spec/ only.
 */
#ifndef REFPMU_MODEL_MODEL_H
#define REFPMU_MODEL_MODEL_H

#include "refpmu/model/fault_when.h"
#include "refpmu/model/latitude.h"
#include "refpmu/model/memory/memory.h"
#include "refpmu/model/tsx/tx.h"
#include "spec/event.h"
#include "spec/generation.h"
#include "spec/types.h"

#define CORE_THREADS	2	/* logical processors of a core, with Hyper-Threading */
#define MODEL_MAX_GP	10
#define MODEL_MAX_FIXED	7
/* One index for all counters in priority order: 0..9 general-purpose, 10..16 fixed. */
#define MODEL_MAX_COUNTERS (MODEL_MAX_GP + MODEL_MAX_FIXED)

struct netburst;	/* refpmu/model/netburst/netburst.h */

/* The configuration: which processor is presented, and how it deviates from the manual. */
struct model_config {
	enum generation_id generation;
	/* Two threads a core; 4 counters, not 8, where it matters. E-cores have one. */
	bool hyper_threading;
	u32 fault;		/* the configured fault: enum fault_id, or 0 */
	struct fault_when when;
	struct model_latitude latitude;
};

enum model_action {
	ACTION_ARM, ACTION_ASSIST, ACTION_THRESHOLD_INT, ACTION_OVERFLOW_INT,
	ACTION_UNCORE_INT,	/* counter: of the uncore, 0..7, 8 the fixed one */
};

struct model_core;
struct model_uncore;
struct exerciser;
struct pmi_delivery;

/* The functions and data that the host provides. The model calls them only inside model_* calls of
 * that processor. */
struct model_registers;
struct model_host {
	void *ctx;
	/*
	 * Access memory at a linear address as the processor's own microcode does (supervisor,
	 * through the current page tables; a write sets accessed and dirty bits).
	 * false: not mapped; nothing was transferred.
	 */
	bool (*read)(void *ctx, u64 linear, void *to, size_t bytes);
	bool (*write)(void *ctx, u64 linear, const void *from, size_t bytes);
	/* The same for physical memory; false: it isn't memory. NULL: linear and physical addresses
	 * are equal. */
	bool (*write_physical)(void *ctx, u64 physical, const void *from, size_t bytes);
	/*
	 * A PMI arrives at the local APIC. lvtpc() returns LVTPC; deliver() carries out what the
	 * APIC does with the PMI. Two calls of deliver() in a row are two interrupts.
	 */
	u32 (*lvtpc)(void *ctx);
	void (*deliver)(void *ctx, const struct pmi_delivery *delivery);
	/* Optional (may be NULL): one action of the processor, in order, for tests of the model. */
	void (*trace)(void *ctx, enum model_action action, unsigned counter);
	/*
	 * Its initial APIC id, and how many ids there are: all processors are in one package, with
	 * Hyper-Threading 2k and 2k + 1 are the threads of core k, without it each is a core. 0 or
	 * 1: it is alone.
	 */
	unsigned processor, processors;
	/*
	 * The memory hierarchy. NULL: there is none, all data are in the L1. The same is true for
	 * cores from MEMORY_PROGRAMS on, for which the hierarchy has no room. Zeroed once by the
	 * owner; model_init() of processor 0 empties it.
	 */
	struct memory *memory;
	/* Physical memory whose home is another package; none if there are no bytes. */
	u64 remote_base;
	u32 remote_bytes;
	/*
	 * The exerciser's register page as a program reads it (exerciser.h), kept by the owner.
	 * model_init() of processor 0 resets it. NULL: there is no exerciser.
	 */
	struct exerciser *exerciser;
	/* Is this range memory that can be cached? NULL: all memory is. */
	bool (*cacheable)(void *ctx, u64 physical, u64 bytes);
	/* The page tables, as in struct memory_tables. NULL: every address is mapped to itself. */
	bool (*translate)(void *ctx, u64 linear, struct memory_page *page);
	/* The state of transactions, zeroed once by the owner. NULL: the processor has no RTM. */
	struct tx_log *tx_log;
	/* A transaction has aborted, and these are the program's registers now. May be NULL. */
	void (*registers)(void *ctx, const struct model_registers *registers);
	/*
	 * NetBurst: the state that the logical processors of a core share, an array by the number
	 * of the core, kept by the owner (not NULL if that generation is configured).
	 */
	struct netburst *netburst;
	/*
	 * The state that the threads of a core share, an array by the number of the core, zeroed by
	 * the owner (core.h). NULL: this processor shares nothing.
	 */
	struct model_core *cores;
	/*
	 * The uncore that all processors share, zeroed by the owner (uncore.h). NULL: this
	 * processor has its own uncore.
	 */
	struct model_uncore *uncore;
	/*
	 * Locking; optional if processors don't run at the same time. If the processor that holds
	 * the lock was restarted, lock() may take the lock from it. A lock is never taken twice by
	 * one processor.
	 */
	void (*lock)(void *ctx, u32 *lock);
	void (*unlock)(void *ctx, u32 *lock);
	/*
	 * Make another processor call its model soon: model_retire() for a few instructions, even
	 * if it runs unobserved, or model_halt() if it is halted. Doesn't wait for it. NULL: there
	 * is no other processor.
	 */
	void (*kick)(void *ctx, unsigned processor);
	/* The program's XMM0 to XMM15 as they are now, 16 bytes each. NULL: all of them are 0. */
	void (*xmm)(void *ctx, u8 *bytes);
	/* Bits 255:128 of its YMM0 to YMM15, 16 bytes each. false, or NULL: the program hasn't
	 * enabled them. */
	bool (*ymmh)(void *ctx, u8 *bytes);
	/* The value that RDTSC would read now. NULL: the cycles of all instructions so far. */
	u64 (*tsc)(void *ctx);
};

enum model_branch {
	BRANCH_NONE,
	BRANCH_CONDITIONAL,	/* Jcc, LOOP, JRCXZ */
	BRANCH_JUMP,		/* near JMP, direct or indirect */
	BRANCH_CALL,		/* near CALL */
	BRANCH_RETURN,		/* near RET */
	BRANCH_FAR,		/* far transfers: IRET, SYSCALL, INT n, far CALL/JMP/RET */
};

/* Does a branch lead backward, from the instruction after it to its target? */
static inline bool model_branch_is_backward(u64 next, u64 target)
{
	return (int64_t)(target - next) < 0;
}

/* The outermost XBEGIN, and its XEND. The model itself finds out the effect of XACQUIRE and
 * XRELEASE. */
enum model_tx_act {
	TX_NO_ACT, TX_STARTS, TX_COMMITS, TX_ELIDES, TX_RELEASES,
	/* The same inside of another transaction; no event counts these. */
	TX_STARTS_INNER, TX_COMMITS_INNER, TX_ELIDES_INNER, TX_RELEASES_INNER,
};

/* Sixteen general registers in the order of their encoding. The list is also used by assembly
 * (refpmu/hv/registers.inc). It has no comment, because C and assembly have no common syntax for
 * comments. */
enum {
#define REGISTER(NAME, name) REG_##NAME,
#include "spec/register.def"
#undef REGISTER
	REG_COUNT
};
_Static_assert(REG_RSP == 4 && REG_RDI == 7 && REG_R15 == 15 && REG_COUNT == 16,
	       "SDM \"REX Prefixes\", \"Register encodings\"");

struct model_registers {
	u64 gpr[REG_COUNT];
	u64 rip;		/* of the instruction that comes next */
	u64 rflags;		/* as the guest sees them (no TF of a stepping engine) */
};

struct model_access {
	u64 linear;
	u16 bytes;
	bool store;
	bool locked;
};

#define MODEL_MAX_ACCESSES 8
/* Events that depend on the outcome of an access, from EK_SPLIT_LOADS on. */
#define MODEL_SPILLED_KINDS (EK_OFFCORE_1 - EK_SPLIT_LOADS + 1)

/* The arithmetic of an instruction of the vector and x87 units; moves and conversions are NONE. */
enum model_arithmetic {
	ARITHMETIC_NONE,
	ARITHMETIC_PACKED_SP, ARITHMETIC_PACKED_DP, ARITHMETIC_SCALAR_SP, ARITHMETIC_SCALAR_DP,
	ARITHMETIC_MMX_64, ARITHMETIC_MMX_128, ARITHMETIC_X87,
};

/* One retired instruction. A REP string is one instruction with the accesses of all iterations. */
struct model_retired {
	u64 ip;				/* linear address of the instruction itself */
	u8 cpl, cpl_after;
	bool compatibility;		/* 32-bit code in IA-32e mode */
	bool legacy;			/* outside IA-32e mode */
	enum model_arithmetic arithmetic;
	enum model_branch branch;
	bool taken;			/* of a conditional branch; others are always taken */
	bool indirect;			/* of a near jump or call: its target isn't in it */
	u64 next_ip;			/* address of the instruction that follows in memory */
	bool backward;			/* of a conditional branch: model_branch_is_backward() */
	u8 tx;				/* enum model_tx_act */
	/* Memory accesses. The counts are complete; access[] has the last n_access of them. */
	u32 loads, stores, locked_loads;
	unsigned n_access;
	struct model_access access[MODEL_MAX_ACCESSES];
	/* For accesses for which access[] had no room: model_spill_access() fills this in. */
	bool any_spilled;
	u32 spilled[MODEL_SPILLED_KINDS];
	u64 spilled_cycles;		/* and the cycles of the loads among them */
	/* Its other effect on caches and TLBs, and the address: before its accesses. */
	enum memory_act act;
	u64 act_linear;
	struct model_registers before, after;	/* around the instruction */
};

enum msr_status {
	MSR_NOT_OURS,		/* not an MSR of the model: let the machine below answer */
	MSR_DONE,
	MSR_GP,			/* raise #GP(0); nothing was changed */
};

struct msr_result {
	enum msr_status status;
	u64 value;		/* MSR_DONE of a read */
};

#include "refpmu/model/state.h"	/* struct model: the model's own business, sized here */

/* Enumerations (TOLD in latitude.def) that no processor of this model can have. */
enum model_contradiction {
	CONTRADICTION_NONE,
	CONTRADICTION_NETBURST,		/* it has none of this */
	CONTRADICTION_UNCORE,		/* version 4, and the uncore of Nehalem at 391H */
	CONTRADICTION_COUNTERS,		/* more of them than the version has */
	CONTRADICTION_EXT,		/* a leaf 23H that the generation can't have */
	CONTRADICTION_CAPABILITIES,	/* bits of IA32_PERF_CAPABILITIES that aren't modelled */
	CONTRADICTION_PEBS,		/* with a record format that isn't the generation's */
	CONTRADICTIONS
};
enum model_contradiction model_contradiction(const struct model_config *config);

/* Set up a processor as after power-on, with this configuration. The previous state of *m doesn't
 * matter; host is kept by reference. */
void model_init(struct model *m, const struct model_config *config, const struct model_host *host);

/* Change the configured fault, 0 for none. The registers don't change. */
void model_set_fault(struct model *m, u32 fault, const struct fault_when *when);

/* IA32_BIOS_SIGN_ID of the boot processor (is_first), or of another processor. */
u64 model_microcode(const struct model *m, bool is_first);
/* RDMSR and WRMSR at CPL 0. A #GP leaves everything unchanged. */
struct msr_result model_rdmsr(struct model *m, u32 msr);
struct msr_result model_wrmsr(struct model *m, u32 msr, u64 value);
/* RDPMC with this ECX; the caller has checked CPL and CR4.PCE. Never MSR_NOT_OURS. */
struct msr_result model_rdpmc(struct model *m, u32 ecx);
/* The same at CPL > 0, where counters may be hidden from RDPMC. */
struct msr_result model_rdpmc_user(struct model *m, u32 ecx);
/* Profiles of some hypervisors: does this ECX select a time instead of a counter? Every CPL may
 * read it. */
bool model_rdpmc_tells_time(const struct model *m, u32 ecx);

/*
 * Must the caller report instructions? True while a counter may count, while an interrupt is on its
 * way (skid), before a WRMSR that changed the counting has retired, in a transaction, and while
 * branches are recorded. While false, calls of model_retire() may be left out. Changes only in
 * model_* calls; ask after model_wrmsr(), not before it.
 */
bool model_needs_retire(const struct model *m);

/*
 * One instruction has retired; call in program order while model_needs_retire(). For an instruction
 * that writes an MSR of the model, call model_wrmsr() first and model_retire() after it: the
 * model itself decides under which state the instruction counts (latitude ENABLE_COUNTS and
 * DISABLE_COUNTS). An instruction that faulted hasn't retired.
 */
void model_retire(struct model *m, const struct model_retired *r);

/*
 * An instruction that accesses memory raised an exception: its loads are cancelled. They don't
 * count and don't change the load latency facility.
 */
void model_cancel(struct model *m, const struct model_retired *r);

/*
 * access[] of an instruction that isn't reported yet is full: its oldest access, a, will be dropped
 * from it. In program order, as often as needed.
 */
void model_spill_access(struct model *m, struct model_retired *r, const struct model_access *a);

/*
 * An interrupt or exception has transferred control from one address and privilege level to its
 * handler. kind: 0, or flags. Not for instructions that transfer control; model_retire() reports
 * these.
 */
enum {
	TRANSFER_DEBUG = 1,		/* a debug exception, */
	TRANSFER_BREAKPOINT = 2,	/* of a breakpoint register */
	TRANSFER_ERROR_CODE = 4,	/* an exception with an error code */
};
void model_transfer(struct model *m, u64 from, u64 to, u8 cpl_before, u8 cpl, unsigned kind);

/*
 * The processor stops executing (HLT) after the instruction reported last: interrupts on their
 * way are raised now, because no further instruction will retire to bring them closer.
 */
void model_halt(struct model *m);
/* The processor runs at this privilege level: call it after HLT, and after instructions that
 * weren't reported. */
void model_resumed(struct model *m, u8 cpl);

/*
 * Ticks of the time-stamp counter during which the program didn't run, since the last call (steal
 * time). Ask after each model_retire().
 */
u64 model_stolen_tsc(struct model *m);

/* Does a counter count reference cycles? Changes like model_needs_retire(). */
bool model_counts_reference(const struct model *m);
/* Ticks of the reference clock during all instructions that have been reported. */
u64 model_reference_clock(const struct model *m);

/* The leaf whose data CPUID returns for this value of EAX. */
u32 model_cpuid_leaf(const struct model *m, u32 leaf);
/* CPUID, with a leaf of model_cpuid_leaf(): change the result of the machine below (regs: EAX EBX
 * ECX EDX) to that of the Intel processor. */
void model_cpuid(struct model *m, u32 leaf, u32 subleaf, u32 regs[4]);

/* Why last branch records stop. */
enum lbr_stop { LBR_STOP_FREEZE, LBR_STOP_FLAG, LBR_STOP_HLT };

/* What the local APIC does with a PMI: "Local Vector Table", "Delivery Mode". */
enum pmi_kind { PMI_DROPPED, PMI_FIXED, PMI_NMI };
struct pmi_delivery {
	enum pmi_kind kind;
	u8 vector;		/* of PMI_FIXED */
	u32 lvtpc;		/* LVTPC afterwards: mask bit set by a delivery */
};
/*
 * The guest has written LVTPC, which has this value now. Returns the delivery of a PMI that waited
 * for the mask bit to be cleared; otherwise PMI_DROPPED and an unchanged lvtpc.
 */
struct pmi_delivery model_lvt_written(struct model *m, u32 lvtpc);

#endif
