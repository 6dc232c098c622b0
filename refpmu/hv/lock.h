/* SPDX-License-Identifier: MIT */
/*
 * What keeps processors out of each other's way. An INIT may stop a processor while it holds a
 * lock: the word says which processor holds it, a waiting one takes it from one that doesn't run
 * any more, and one that starts anew gives back what it had.
 */
#ifndef REFPMU_HV_LOCK_H
#define REFPMU_HV_LOCK_H

#include "refpmu/hv/cpu.h"

/* Wait for it, for a second or so at most: then it is taken from its holder. */
void lock_take(struct cpu *cpu, u32 *lock);
/* Give it back if it is still ours. */
void lock_give(struct cpu *cpu, u32 *lock);

/* The same as struct model_host's lock() and unlock(); ctx is the struct cpu. */
void lock_model(void *ctx, u32 *lock);
void unlock_model(void *ctx, u32 *lock);

#endif
