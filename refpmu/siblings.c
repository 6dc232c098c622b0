/* SPDX-License-Identifier: MIT */
/* See siblings.h. */
#include "refpmu/model_core.h"
#include "refpmu/model_uncore.h"
#include "refpmu/processors.h"
#include "refpmu/siblings.h"

#define PATIENCE	4000000000ULL	/* TSC ticks: a second or more, on a loaded host */
#define TURN		128u		/* half as many instructions */
#define TURN_TICKS	200000ULL	/* some tens of microseconds, if it doesn't go on */

static u64 tsc(void)
{
	u32 low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (u64)high << 32 | low;
}

/* Each side says what it is about to do and then looks at what the other one has said. */
static void say(volatile bool *what, bool value)
{
	__atomic_store_n(what, value, __ATOMIC_SEQ_CST);
}

void siblings_unseen(struct cpu *cpu)
{
	if (hypervisor.several)
		say(&cpu->unseen, true);
}

void siblings_seen(struct cpu *cpu)
{
	if (hypervisor.several)
		say(&cpu->unseen, false);
}

/* Is what the other one does counted here? It may still be of an older configuration. */
static bool watches(const struct cpu *cpu, const struct cpu *other)
{
	if (other == cpu || cpu->epoch != hypervisor.epoch)
		return false;
	return (other == cpu->sibling && model_core_needs_sibling(&cpu->model)) ||
	       model_uncore_needs_others(&cpu->model);
}

static void engage(struct cpu *cpu, struct cpu *other)
{
	u64 begin = tsc();

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	while (other->running && (other->unseen || other->epoch != cpu->epoch)) {
		processors_call(cpu, other);
		if (tsc() - begin > PATIENCE) {
			cpu->statistics.inexact[INEXACT_SIBLING]++;
			return;
		}
		__builtin_ia32_pause();
	}
}

static void settle(struct cpu *cpu, const struct cpu *other)
{
	u32 steps = other->steps;
	u64 begin = tsc();

	while ((steps & 1) && other->steps == steps && other->running && !other->halted) {
		if (tsc() - begin > PATIENCE) {
			cpu->statistics.inexact[INEXACT_SIBLING]++;
			return;
		}
		__builtin_ia32_pause();
	}
}

void siblings_engage(struct cpu *cpu)
{
	for (unsigned i = 0; processors_get(i); i++)
		if (watches(cpu, processors_get(i)))
			engage(cpu, processors_get(i));
}

void siblings_settle(struct cpu *cpu)
{
	for (unsigned i = 0; processors_get(i); i++)
		if (watches(cpu, processors_get(i)))
			settle(cpu, processors_get(i));
}

void siblings_pause(struct cpu *cpu)
{
	const struct cpu *other = hypervisor.several ? cpu->sibling : NULL;
	u32 steps;
	u64 begin;

	cpu->pausing = false;
	if (!other || other->unseen || !model_watching(&cpu->model))
		return;
	steps = other->steps;
	begin = tsc();
	while (other->steps - steps < TURN && other->running && !other->halted &&
	       tsc() - begin < TURN_TICKS)
		__builtin_ia32_pause();
}

void siblings_call(struct cpu *cpu, struct cpu *to)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (to->unseen || to->halted)
		processors_call(cpu, to);
}

void siblings_call_model(void *ctx, unsigned processor)
{
	siblings_call(ctx, processors_find(processor));
}
