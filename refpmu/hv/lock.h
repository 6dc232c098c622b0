/* SPDX-License-Identifier: MIT */
/*
 * Locks between processors. An INIT may stop a processor while it holds a lock. So the word of the
 * lock says which processor holds it. A waiting processor takes the lock from a holder that doesn't
 * run any more, and a restarted processor releases its locks.
 */
#ifndef REFPMU_HV_LOCK_H
#define REFPMU_HV_LOCK_H

#include "refpmu/hv/cpu.h"

/* Wait for the lock, for about a second at most; then it is taken from its holder. */
void lock_take(struct cpu *cpu, u32 *lock);
/* Release it if this processor still holds it. */
void lock_give(struct cpu *cpu, u32 *lock);

/* The same as struct model_host's lock() and unlock(); ctx is the struct cpu. */
void lock_model(void *ctx, u32 *lock);
void unlock_model(void *ctx, u32 *lock);

#endif
