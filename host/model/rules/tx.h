/* SPDX-License-Identifier: MIT */
/* What tx.c and tx_counts.c share: transactions and elided locks, step by step. */
#ifndef HOST_MODEL_RULES_TX_H
#define HOST_MODEL_RULES_TX_H

#include "host/model/rules/internal.h"

#define DATA		(FIXTURE_MEMORY_BASE + 0x3000)
#define FALLBACK	0x600000600000ULL
#define TX_FIELD(n)	fixture_record(r, n, 0xb8)
#define HIGH(value)	((value) & ~BITS(0, 31))

/* XBEGIN, XEND. */
void rules_tx_begin(struct fixture *r, u64 fallback);
void rules_tx_end(struct fixture *r);

/* A transaction with a store and some instructions that aborts at CPL 0. Returns where. */
u64 rules_tx_abort(struct fixture *r, enum tx_cause cause);

/* Stores with XACQUIRE and XRELEASE to a lock. */
void rules_tx_acquire(struct fixture *r, u64 lock);
void rules_tx_release(struct fixture *r, u64 lock);

#endif
