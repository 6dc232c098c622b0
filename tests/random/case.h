/* SPDX-License-Identifier: MIT */
/*
 * A drawn case: the settings of the PMU, the program, and its addresses. struct draw_env has the
 * facts of the processor that drawing and the oracle use. Pure.
 */
#ifndef TESTS_RANDOM_CASE_H
#define TESTS_RANDOM_CASE_H

#include "claims/erratum.h"
#include "pmu/version6/version6.h"
#include "spec/event.h"
#include "spec/msr.h"
#include "spec/types.h"
#include "tests/random/arch/arch.h"
#include "tests/random/piece.h"

#define FIXED_REF_TSC 2u	/* IA32_FIXED_CTR2: CPU_CLK_UNHALTED.REF_TSC */
#define FIXED_SLOTS   3u	/* IA32_FIXED_CTR3: TOPDOWN.SLOTS */
#define DRAW_PROGRAM	40		/* pieces of a program */
#define DRAW_EVENTS	24

/* What a test draws. The stream of its numbers, too. */
enum draw_class { DRAW_COUNTS, DRAW_OPERATIONS_CLASS, DRAW_LEVELS, DRAW_INTERRUPTS, DRAW_RECORDS,
		  DRAW_ARCH, DRAW_BRANCHES, DRAW_CLASSES };

enum draw_lvt { DRAW_LVT_FIXED, DRAW_LVT_NMI, DRAW_LVT_MASKED };

/* The DS area and its buffer. Offsets are in bytes, from the buffer's base. */
struct draw_ds {
	u8 used;
	u8 high;			/* bit 0: the area, bit 1: the buffer, above 4 GiB;
		  * bit 2: in the upper half, what is so */
	u16 area, base;			/* offsets in their memory */
	int16_t index, maximum, threshold;
	u8 recording;			/* last branch records, and every branch kept out */
	u64 config;			/* MSR_PEBS_DATA_CFG, where baseline is 1 */
	u64 reset[DRAW_COUNTERS];	/* by position; of fixed ones, where baseline is 1 */
};

/*
 * Last branch records, legacy or architectural ones. The program itself writes the register that
 * starts and ends recording.
 */
struct draw_branches {
	u8 depth;			/* IA32_LBR_DEPTH before; of legacy ones the entries */
	u8 top;				/* legacy: MSR_LASTBRANCH_TOS before */
	u8 old;				/* entries that are written before: the newest ones */
	u8 freeze;			/* FREEZE_LBRS_ON_PMI */
	u16 select;			/* legacy: MSR_LBR_SELECT before */
	u64 look;			/* bit n: the entry of age n is looked at afterwards */
};

struct draw_case {
	u32 class;
	u64 select[DRAW_GP];		/* IA32_PERFEVTSELx */
	u64 preset[DRAW_GP];
	u64 fixed_control;		/* IA32_FIXED_CTR_CTRL */
	u64 fixed_preset[DRAW_FIXED];
	u64 global;			/* IA32_PERF_GLOBAL_CTRL */
	u64 pebs_enable;
	u8 freeze;			/* FREEZE_PERFMON_ON_PMI */
	u8 lvt, keep_status, stay_masked;	/* pmu/pmi.h */
	struct draw_ds ds;
	struct draw_arch arch;
	struct draw_branches branches;
	int16_t si, bp, bx;  /* the three data pointers, from the middle of their pages */
	u8 high;			/* bit 0 to 2: SI, BP, BX, 3: the code above 4 GiB */
	u8 upper;			/* what is so is in the upper half, bits 63:47 all 1 */
	u64 constant;			/* what R8 to R12 are made of */
	unsigned pieces;
	u16 piece[DRAW_PROGRAM];	/* piece_get() */
	struct draw_operation operation[DRAW_OPERATIONS];
};

struct draw_event {
	u16 code, kind;			/* enum event_kind */
	u16 flags;			/* EV_* */
	u16 counters;			/* PMCn may count it */
	u16 pebs;			/* and record it */
	u64 whole;			/* what a window adds by its opening and closing writes */
	u64 open_least, open_most;	/* of that, by the opening one */
};

/* FROM, TO and INFO of a last branch record. */
struct draw_entry {
	u64 word[3];
};

/* With baseline = 1: adaptive records, for any event and also of fixed counters. */
struct draw_adaptive {
	bool baseline;
	bool timing;			/* records have a retire latency */
	u8 fixed;			/* bit i: fixed counter i makes records */
	u64 soon;			/* status bits: the record may be of the overflow itself */
	u64 tx_bits;			/* of the TX abort information: 0 outside of transactions */
	u64 counters;			/* bits of MSR_PEBS_DATA_CFG that format 6 adds */
	unsigned entries;		/* of the LBR group, at most */
	const struct draw_entry *entry;	/* what they are, the newest first; NULL: not known */
};

/* The last branch records of the processor. */
struct draw_branch_env {
	bool legacy, architectural;	/* one of them, or neither */
	bool info, types;		/* entries have INFO; it says the kind of branch */
	bool call_stack;
	bool freeze;			/* FREEZE_LBRS_ON_PMI */
	bool streamlined;		/* ... by LBR_FRZ */
	bool debug_bit;			/* architectural: IA32_DEBUGCTL[0] can be written 1 */
	u8 deepest;			/* the greatest number of entries */
	u8 depths;			/* architectural: CPUID.1CH:EAX[7:0] */
	u64 control;			/* bits of IA32_LBR_CTL that are there */
	u64 from_bits;			/* those of FROM that are the address */
	u64 gate, gate_return;		/* where INT leads from CPL 3, and the RET there */
	u64 pmi_gate, nmi_gate;
};

struct draw_env {
	u64 errata;   /* bit n: enum erratum n is one of the processor's, and is heard */
	unsigned gp_width, fixed_width, version;
	u32 general;			/* bit n: IA32_PMCn is there; at least one is */
	u32 fixed;			/* bit i: fixed counter i is there */
	bool full_width, any_thread, hypervisor, strict;
	unsigned events;
	struct draw_event event[DRAW_EVENTS];
	u64 code, stack, table, frame, operations;	/* linear addresses */
	u64 data[3];			/* middle of the page of each data pointer */
	u64 above[2];			/* what is added for a high address, and for an upper */
	u64 flags;			/* RFLAGS.IF when the program begins */
	/* Interrupts and PEBS. */
	bool freeze;   /* as versions 2 and 3 have it, and IA32_DEBUGCTL is there */
	bool pebs;
	struct draw_adaptive adaptive;
	bool rings;			/* programs may run at CPL 1 and 2 */
	bool refuses;			/* writes that must be refused may be drawn */
	bool int_open;			/* when a PEBS counter with INT interrupts */
	bool shadow_exact;		/* the assist comes with the first event after arming */
	unsigned period_least;		/* no counter overflows sooner than that */
	u8 format;			/* enum record_format */
	unsigned record_bytes;
	u32 nmi_vector, pmi_vector;
	struct draw_arch_env arch;
	struct draw_branch_env branches;
};

/* By position: general-purpose counters, then fixed ones. */
static inline unsigned draw_status_bit(unsigned c)
{
	return c < DRAW_GP ? c : 32 + c - DRAW_GP;
}

static inline bool draw_has_general(const struct draw_env *env, unsigned i)
{
	return i < DRAW_GP && env->general >> i & 1;
}

static inline bool draw_has_fixed(const struct draw_env *env, unsigned i)
{
	return i < DRAW_FIXED && env->fixed >> i & 1;
}

/* Every counter, as IA32_PERF_GLOBAL_CTRL has it. */
static inline u64 draw_every_counter(const struct draw_env *env)
{
	return env->general | (u64)env->fixed << 32;
}

/* The counter's field of IA32_FIXED_CTR_CTRL. */
static inline u64 draw_fixed_field(u64 control, unsigned i)
{
	return control >> 4 * i & 0xf;
}

/* R8 to R12 (n = 0 to 4) of a case. */
u64 draw_constant(const struct draw_case *c, unsigned n);
/* The data pointer (0 SI, 1 BP, 2 BX) of a case. */
u64 draw_pointer(const struct draw_env *env, const struct draw_case *c, unsigned n);
/* Where draw_code is. */
u64 draw_code_of(const struct draw_env *env, const struct draw_case *c);
const struct draw_event *draw_event_of(const struct draw_env *env, u64 select);

/* The low (half = 0) or the high half of XMMn, as a program begins. */
u64 draw_vector(const struct draw_case *c, unsigned n, unsigned half);

/* Bytes of an adaptive record with that MSR_PEBS_DATA_CFG. */
unsigned draw_adaptive_bytes(u64 config);
/* Has the counter its Adaptive_Record bit? By position. */
bool draw_is_adaptive(u64 select, u64 fixed_control, unsigned i);

/* Do its counters count? Cases of last branch records need no counter. */
static inline bool draw_counts(const struct draw_case *c)
{
	return c->class != DRAW_BRANCHES || c->global;
}

/* May it have interrupts and records? */
static inline bool draw_samples(const struct draw_case *c)
{
	return c->class >= DRAW_INTERRUPTS && draw_counts(c);
}

/* IA32_DEBUGCTL when the program begins. */
static inline u64 draw_debugctl(const struct draw_case *c)
{
	return (c->freeze ? IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI : 0) |
	       (c->branches.freeze ? IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI : 0);
}

/* The value of a register of so many bits, all 1. */
static inline u64 draw_ones(unsigned bits)
{
	return bits < 64 ? BIT(bits) - 1 : ~0ULL;
}

#endif
