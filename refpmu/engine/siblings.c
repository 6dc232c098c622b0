/* SPDX-License-Identifier: MIT */
/* See siblings.h. */
#include "refpmu/hv/instructions.h"
#include "refpmu/model/core.h"
#include "refpmu/model/uncore.h"
#include "refpmu/hv/processors.h"
#include "refpmu/engine/siblings.h"
#include "refpmu/engine/engine_cpu.h"

#define TIMEOUT_TICKS	4000000000ULL	/* TSC ticks: at least a second, on a loaded host */
#define TURN		128u		/* half of the instructions in a turn */
#define TURN_TICKS	200000ULL	/* some tens of microseconds, if it doesn't run */

/* Each side publishes its next action, and then reads what the other side has published. */
static void publish(volatile bool *what, bool value)
{
	__atomic_store_n(what, value, __ATOMIC_SEQ_CST);
}

void siblings_started(struct cpu *cpu)
{
	cpu->engine->siblings.steps = 0;
	cpu->engine->siblings.untracked = false;
}

void siblings_untracked(struct cpu *cpu)
{
	if (hypervisor.several)
		publish(&cpu->engine->siblings.untracked, true);
}

void siblings_tracked(struct cpu *cpu)
{
	if (!hypervisor.several)
		return;
	__atomic_add_fetch(&cpu->engine->siblings.track_generation, 1, __ATOMIC_SEQ_CST);
	publish(&cpu->engine->siblings.untracked, false);
}

/* Are the other one's events counted here? It may still have an older configuration. */
static bool watches(const struct cpu *cpu, const struct cpu *other)
{
	if (other == cpu || cpu->epoch != hypervisor.epoch)
		return false;
	return (other == cpu->sibling && model_core_needs_sibling(&cpu->model)) ||
	       model_core_needs_others(&cpu->model) || model_uncore_needs_others(&cpu->model);
}

/*
 * Do not wait for `untracked` to be clear now: an unobserved sibling resumes native execution at
 * once, perhaps while this host thread isn't scheduled. Wait for the generation counter to change.
 */
static bool is_away(const struct cpu *cpu, const struct cpu *other, u32 track_generation)
{
	const struct siblings_state *its = &other->engine->siblings;

	return other->running && (other->epoch != cpu->epoch ||
				  (its->untracked && its->track_generation == track_generation));
}

static void synchronize(struct cpu *cpu, struct cpu *other)
{
	u64 begin = tsc();
	u32 track_generation;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	track_generation = other->engine->siblings.track_generation;
	while (is_away(cpu, other, track_generation)) {
		processors_kick(cpu, other);
		if (tsc() - begin > TIMEOUT_TICKS) {
			cpu->statistics.inexact[INEXACT_SIBLING]++;
			return;
		}
		__builtin_ia32_pause();
	}
}

static void drain(struct cpu *cpu, const struct cpu *other)
{
	u32 steps = other->engine->siblings.steps;
	u64 begin = tsc();

	while ((steps & 1) && other->engine->siblings.steps == steps && other->running &&
	       !other->halted) {
		if (tsc() - begin > TIMEOUT_TICKS) {
			cpu->statistics.inexact[INEXACT_SIBLING]++;
			return;
		}
		__builtin_ia32_pause();
	}
}

void siblings_synchronize(struct cpu *cpu)
{
	for (unsigned i = 0; processors_get(i); i++)
		if (watches(cpu, processors_get(i)))
			synchronize(cpu, processors_get(i));
}

void siblings_drain(struct cpu *cpu)
{
	siblings_interleave(cpu);
	for (unsigned i = 0; processors_get(i); i++)
		if (watches(cpu, processors_get(i)))
			drain(cpu, processors_get(i));
}

/* Wait until the other one has made `turn` steps. */
static void give_way(const struct cpu *other, u32 turn)
{
	u32 steps = other->engine->siblings.steps;
	u64 begin = tsc();

	while (other->engine->siblings.steps - steps < turn && other->running && !other->halted &&
	       tsc() - begin < TURN_TICKS)
		__builtin_ia32_pause();
}

void siblings_pause(struct cpu *cpu)
{
	cpu->engine->siblings.pausing = false;
	if (hypervisor.several && cpu->sibling && !cpu->sibling->engine->siblings.untracked &&
	    model_needs_retire(&cpu->model))
		give_way(cpu->sibling, TURN);
}

void siblings_interleave(struct cpu *cpu)
{
	u32 most = cpu->model.latitude[LAT_INTERLEAVING], random;
	u64 *state = &cpu->engine->siblings.interleave_random;

	if (!hypervisor.several || !cpu->sibling || !most)
		return;
	/* Knuth's MMIX generator; its upper bits are better. */
	*state = *state * 6364136223846793005 + 1442695040888963407;
	random = (u32)(*state >> 32);
	if (random >> 28 == 0)		/* one in sixteen */
		give_way(cpu->sibling, random % (most + 1));
}

void siblings_kick(struct cpu *cpu, struct cpu *to)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (to->engine->siblings.untracked || to->halted)
		processors_kick(cpu, to);
}

void siblings_kick_for_model(void *ctx, unsigned processor)
{
	siblings_kick(ctx, processors_find(processor));
}
