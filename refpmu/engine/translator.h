/* SPDX-License-Identifier: MIT */
/*
 * The interface of the translator (dbt/), which makes programs with millions of counted
 * instructions faster. A build without it (make DBT=0) has no_translator.c instead, and its counts
 * are the same.
 */
#ifndef REFPMU_ENGINE_TRANSLATOR_H
#define REFPMU_ENGINE_TRANSLATOR_H

#include "refpmu/engine/statistics.h"
#include "refpmu/hv/cpu.h"

struct translator {
	/* Once per processor, before its first VMRUN. false: this machine lacks a feature that it
	 * needs. */
	bool (*init)(struct cpu *cpu);

	/*
	 * Run translated code from the guest's RIP on, in 64-bit code at CPL 0 or 3 with no trap
	 * and no event pending, while model_bulk_possible(). true: something has retired, or an
	 * interrupt was delivered. false: the next instruction must take another way; *why is the
	 * reason, or FALLBACK_REASONS if the statistics shouldn't count it.
	 */
	bool (*run)(struct cpu *cpu, enum fallback_reason *why);

	/* The guest's page tables may have changed: MOV to CR0, CR3 or CR4, an invalidation of the
	 * TLB, code that ran unobserved. */
	void (*tables_changed)(struct cpu *cpu);

	/* The guest has accessed a device, which may write to memory at any time now. */
	void (*device_accessed)(struct cpu *cpu);

	/* Drop all translated code. */
	void (*forget)(struct cpu *cpu);
};

/* NULL: not in this build. */
extern const struct translator *const translator;

static inline void translator_tables_changed(struct cpu *cpu)
{
	if (translator)
		translator->tables_changed(cpu);
}

static inline void translator_device_accessed(struct cpu *cpu)
{
	if (translator)
		translator->device_accessed(cpu);
}

#endif
