/* SPDX-License-Identifier: MIT */
/*
 * The translator (dbt/), as the rest of the engine sees it: an accelerator for programs that retire
 * millions of instructions under a counter. A build without it (make DBT=0) has no_translator.c
 * instead, and counts the same.
 */
#ifndef REFPMU_ENGINE_TRANSLATOR_H
#define REFPMU_ENGINE_TRANSLATOR_H

#include "refpmu/engine/statistics.h"
#include "refpmu/hv/cpu.h"

struct translator {
	/* Once per processor, before its first VMRUN. false: this machine lacks what it needs. */
	bool (*init)(struct cpu *cpu);

	/*
	 * Run translated code from the guest's RIP on, in 64-bit code at CPL 0 or 3 with no trap
	 * and no event pending, while model_bulk_possible(). true: something has retired, or an
	 * interrupt was delivered. false: the next instruction is for another way; *why says why,
	 * or FALLBACK_REASONS if nothing is to be counted.
	 */
	bool (*run)(struct cpu *cpu, enum fallback_reason *why);

	/* The guest's page tables may have changed: MOV to CR0, CR3 or CR4, an invalidation of the
	 * TLB, code that ran unobserved. */
	void (*tables_changed)(struct cpu *cpu);

	/* The guest has talked to a device, which may write to memory at any time now. */
	void (*device_accessed)(struct cpu *cpu);

	/* Drop all that was translated. */
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
