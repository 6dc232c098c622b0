/* SPDX-License-Identifier: MIT */
/* See company.h. */
#include "tests/measure/company.h"

#include "kernel/interrupt/fault.h"
#include "kernel/processor/percpu.h"
#include "pmu/event.h"

static bool turn;
static struct pmc_mask last;

/* The lowest free one above them all, else the lowest. 0: there is none. */
static u64 next_free(u64 used)
{
	const u64 free = counters_gp().bits & ~used;
	const u64 above = used ? free & ~(~0ULL >> __builtin_clzll(used)) : free;

	return above ? above & -above : free & -free;
}

static bool may_have_company(struct pmc_mask used)
{
	const unsigned counter = (unsigned)__builtin_ctzll(used.bits);

	return PMC_IS_FIXED(counter) ||
	       !event_is_taken_alone((u16)msr_read(MSR_IA32_PERFEVTSEL0 + counter));
}

static bool is_idle(unsigned counter)
{
	return !msr_read(MSR_IA32_PERFEVTSEL0 + counter) && !counter_read(counter);
}

struct pmc_mask company_begin(struct pmc_mask used)
{
	const u64 candidate = next_free(used.bits & counters_gp().bits);

	if (cpu_index() != CPU_BOOT)
		return (struct pmc_mask){ 0 };
	last.bits = 0;
	if (!used.bits || used.bits & (used.bits - 1) || !candidate || counter_caps()->hypervisor)
		return last;
	turn = !turn;
	if (!turn || !may_have_company(used) || !is_idle((unsigned)__builtin_ctzll(candidate)))
		return last;
	last.bits = candidate;
	counter_program((unsigned)__builtin_ctzll(candidate), EVENT_BR_INST_RETIRED_ALL_BRANCHES,
			COUNT_BOTH);
	return last;
}

void company_end(struct pmc_mask company)
{
	if (!company.bits)
		return;
	counter_program_disabled((unsigned)__builtin_ctzll(company.bits), 0, 0);
	counter_write((unsigned)__builtin_ctzll(company.bits), 0);
}

struct pmc_mask company_last(void)
{
	return last;
}
