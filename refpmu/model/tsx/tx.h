/* SPDX-License-Identifier: MIT */
/*
 * Transactional memory and elided locks, carried out in software: "Intel TSX and PEBS Support",
 * "Performance Monitoring and Intel TSX", Table 18-51; volume 1, "Programming with Intel
 * Transactional Synchronization Extensions". Stores of a transaction go to memory at once and are
 * undone, byte by byte, when it aborts. All decisions are made here. The hypervisor reports what
 * the program is about to do, and restores registers when the model requests it.
 *
 * Writes by other processors or devices to the transaction's lines are found by comparing the
 * lines, a few at each instruction and all at the end of the transaction. Not handled: other
 * processors that read the transaction's stores, including an elided lock, see them before the
 * transaction ends.
 */
#ifndef REFPMU_MODEL_TSX_TX_H
#define REFPMU_MODEL_TSX_TX_H

#include "spec/types.h"

struct model;
struct model_registers;
struct retire_ctx;

#define TX_LINE		64
#define TX_LINES	512	/* that one may touch, */
#define TX_WRITES	128	/* and write: a processor's own, "capacity" */
#define TX_DEPTH	7	/* MAX_RTM_NEST_COUNT, a processor's own */
#define TX_BUCKETS	1024
#define TX_LOCKS	4	/* elided at once: a processor's own */

enum tx_cause {
	TX_FINE,		/* none */
	TX_EXPLICIT,		/* XABORT */
	TX_INSTRUCTION,		/* one that can't be in a transaction */
	TX_NESTING,		/* one XBEGIN too many */
	TX_EXCEPTION,
	TX_DEBUG,		/* a debug exception */
	TX_MEMORY_TYPE,		/* memory that isn't write-back */
	TX_EVENT,		/* an interrupt, or a record that is due */
	TX_CONFLICT,
	TX_CAPACITY_WRITES,
	TX_CAPACITY_READS,
	TX_FORCED,		/* all transactions abort where they begin */
	TX_CAUSES
};

struct tx_line {
	u64 linear;
	u64 written, fresh;	/* bit n: byte n, ever; by the instruction that runs now */
	u8 before[TX_LINE];	/* before the transaction */
	u8 seen[TX_LINE];	/* its contents now, if no other processor writes to it */
};

/* The owner's, zeroed once: too much for struct model, which tests copy. */
struct tx_log {
	u32 n, n_written;
	u32 next;		/* line to be compared next */
	u32 checks;		/* calls of model_tx_compare() */
	u32 n_fresh;
	u16 fresh[TX_LINES];	/* lines that the instruction which runs now stores to */
	u16 bucket[TX_BUCKETS];	/* index into line[] + 1, by address; 0: free */
	struct tx_line line[TX_LINES];
};

/* An elided lock, and what is to be in it again when it is released. */
struct tx_lock {
	u64 linear;
	u64 ip, behind;		/* linear address of its XACQUIRE, RIP after that */
	u32 bytes;
	u8 before[16];
};

/* In struct model. */
struct model_tx {
	u32 depth;		/* 0: no transaction */
	u64 fallback;		/* RIP, of the outermost */
	u8 cause;		/* of the last abort, */
	u64 information;	/* and bits 63:32 of Table 18-51, */
	u32 cycles;		/* Cycles_Last_TX */
	u64 cycles_so_far;	/* of this one */
	u64 gpr[16], rflags;	/* before */
	u64 counter[17];	/* general-purpose and fixed, before */
	bool elided;		/* this one, or the last, began with XACQUIRE */
	bool acquires, releases;	/* the instruction that runs now does so */
	bool broken_lock;	/* one was released with something else in it */
	u8 n_locks;
	struct tx_lock lock[TX_LOCKS];
	u64 not_again[TX_LOCKS];	/* XACQUIREs that go without elision once; 0: none */
};

/* Has the processor RTM? Then the hypervisor must see each XBEGIN, XABORT, XEND and XTEST, and must
 * report each instruction in a transaction. */
bool model_has_tx(const struct model *m);
bool model_in_tx(const struct model *m);
/* Is the processor in a transaction that began with XACQUIRE? */
bool model_tx_is_elided(const struct model *m);
/* An instruction in the transaction has taken that many cycles. */
void model_tx_takes(struct model *m, u64 cycles);
/* Is it in a transaction that isn't nested in another one? */
bool model_tx_outermost(const struct model *m);

/*
 * XBEGIN has retired: registers are those after it, fallback is a RIP. If the result isn't TX_FINE,
 * abort for that reason.
 */
enum tx_cause model_tx_begin(struct model *m, const struct model_registers *registers,
			     u64 fallback);

/*
 * In a transaction, before each instruction: has another processor or a device written to its
 * lines? Some lines are compared, once in TX_COMPARE_EVERY calls. And for each access that
 * the instruction will make: is there room? If the result isn't TX_FINE, abort instead.
 */
#define TX_COMPARE_EVERY	4
enum tx_cause model_tx_compare(struct model *m);
enum tx_cause model_tx_access(struct model *m, u64 linear, unsigned bytes, bool store);

/* XEND is about to retire in a transaction: may it? Then, when it has, end the transaction. */
enum tx_cause model_tx_may_end(struct model *m);
void model_tx_end(struct model *m);

/*
 * The next instruction has XACQUIRE and is outside of transactions. model_tx_declines() returns
 * true if it isn't elided this time. Otherwise it is elided: registers, including RIP, are those
 * before it; ip is its linear address, after the RIP after it.
 */
bool model_tx_declines(struct model *m, u64 ip);
void model_tx_elide(struct model *m, const struct model_registers *registers, u64 ip, u64 behind);

/* The next instruction, at linear address ip, has XACQUIRE or XRELEASE in a transaction; linear is
 * the address of its lock. behind: RIP after it. */
void model_tx_acquire(struct model *m, u64 linear, unsigned bytes, u64 ip, u64 behind);
/* true: the elision ends with this instruction, if the lock has its old value. */
bool model_tx_release(struct model *m, u64 linear, unsigned bytes);

/*
 * Abort the transaction: memory is restored, host->registers() gets the registers of the fallback
 * handler or those before XACQUIRE, and the events of an abort occur. ip: linear address of the
 * next instruction; code: of XABORT.
 */
void model_tx_abort(struct model *m, enum tx_cause cause, u8 code, u64 ip, u8 cpl);

#endif
