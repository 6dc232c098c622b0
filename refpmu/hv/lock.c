/* SPDX-License-Identifier: MIT */
/* See lock.h. */
#include "refpmu/hv/lock.h"
#include "refpmu/hv/processors.h"

#define NO_OWNER		0u
#define SOON		1000		/* tries, if the owner was stopped: a moment more */
#define LONG_ENOUGH	1000000		/* tries, if the owner runs: the host may have other work */

static u32 owner_of(const struct cpu *cpu)
{
	return cpu->apic_id + 1u;
}

static bool is_running(u32 owner)
{
	for (unsigned i = 0; processors_get(i); i++)
		if (owner_of(processors_get(i)) == owner)
			return processors_get(i)->running;
	return false;
}

void lock_take(struct cpu *cpu, u32 *lock)
{
	u32 owner = NO_OWNER;

	for (u32 tries = 0; tries < LONG_ENOUGH; tries++) {
		owner = NO_OWNER;
		if (__atomic_compare_exchange_n(lock, &owner, owner_of(cpu), false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
		if (tries >= SOON && !is_running(owner))
			break;
		__builtin_ia32_pause();
	}
	__atomic_store_n(lock, owner_of(cpu), __ATOMIC_SEQ_CST);
}

void lock_give(struct cpu *cpu, u32 *lock)
{
	u32 owner = owner_of(cpu);

	__atomic_compare_exchange_n(lock, &owner, NO_OWNER, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
}

void lock_model(void *ctx, u32 *lock)
{
	lock_take(ctx, lock);
}

void unlock_model(void *ctx, u32 *lock)
{
	lock_give(ctx, lock);
}
