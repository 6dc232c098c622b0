/* SPDX-License-Identifier: MIT */
/* See siblings.h. */
#include "refpmu/model_core.h"
#include "refpmu/processors.h"
#include "refpmu/siblings.h"

#define PATIENCE	4000000000ULL	/* TSC ticks: a second or more, on a loaded host */

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

/* The sibling, if it counts; it may still be of an older configuration. */
static struct cpu *watched_by(const struct cpu *cpu)
{
	if (!cpu->sibling || cpu->epoch != hypervisor.epoch ||
	    !model_core_needs_sibling(&cpu->model))
		return NULL;
	return cpu->sibling;
}

void siblings_engage(struct cpu *cpu)
{
	struct cpu *other = watched_by(cpu);
	u64 begin;

	if (!other)
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	begin = tsc();
	while (other->running && (other->unseen || other->epoch != cpu->epoch)) {
		processors_call(cpu, other);
		if (tsc() - begin > PATIENCE) {
			cpu->statistics.inexact[INEXACT_SIBLING]++;
			return;
		}
		__builtin_ia32_pause();
	}
}

void siblings_settle(struct cpu *cpu)
{
	struct cpu *other = watched_by(cpu);
	u32 steps;
	u64 begin;

	if (!other)
		return;
	steps = other->steps;
	begin = tsc();
	while ((steps & 1) && other->steps == steps && other->running && !other->halted) {
		if (tsc() - begin > PATIENCE) {
			cpu->statistics.inexact[INEXACT_SIBLING]++;
			return;
		}
		__builtin_ia32_pause();
	}
}

void siblings_call(struct cpu *cpu, struct cpu *to)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (to->unseen || to->halted)
		processors_call(cpu, to);
}

void siblings_call_model(void *ctx)
{
	struct cpu *cpu = ctx;

	if (cpu->sibling)
		siblings_call(cpu, cpu->sibling);
}
