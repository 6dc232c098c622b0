/* SPDX-License-Identifier: MIT */
/* See pmu.h. */
#include "refpmu/model/core.h"
#include "refpmu/model/netburst/netburst.h"
#include "refpmu/model/pmu.h"

static bool is_netburst(const struct model *m)
{
	return model_generation(m)->facilities & FAC_NETBURST;
}

void pmu_reset(struct model *m)
{
	if (is_netburst(m))
		netburst_init(m);
	else
		arch_reset(m);
}

void pmu_halt(struct model *m)
{
	if (is_netburst(m))
		netburst_halt(m);
}

/* "Performance Monitoring and Intel Hyper-Threading Technology in Processors Based on Intel
 * NetBurst Microarchitecture": the logical processors of a core share its counters. */
bool pmu_is_shared(const struct model *m)
{
	return is_netburst(m);
}

bool pmu_shared_counts(const struct model *m)
{
	return is_netburst(m) && netburst_counts(m);
}

bool model_needs_retire(const struct model *m)
{
	return is_netburst(m) ? netburst_needs_retire(m) : arch_watching(m);
}

void model_resumed(struct model *m, u8 cpl)
{
	if (is_netburst(m))
		netburst_resumed(m, cpl);
}

void model_retire(struct model *m, const struct model_retired *r)
{
	bool shared = model_core_enter(m);

	fault_instruction(m, r);
	if (is_netburst(m))
		netburst_retire(m, r);
	else
		arch_retire(m, shared, r);
	model_core_leave(m, shared);
}

/* NetBurst shares some registers with other generations; model/msr.c has these. */
static struct msr_result rdmsr(struct model *m, u32 msr)
{
	struct msr_result result = { .status = MSR_NOT_OURS };

	if (is_netburst(m))
		result = netburst_rdmsr(m, msr);
	return result.status == MSR_NOT_OURS ? arch_rdmsr(m, msr) : result;
}

static struct msr_result wrmsr(struct model *m, u32 msr, u64 value)
{
	struct msr_result result = { .status = MSR_NOT_OURS };

	if (is_netburst(m))
		result = netburst_wrmsr(m, msr, value);
	return result.status == MSR_NOT_OURS ? arch_wrmsr(m, msr, value) : result;
}

/* Remember an access that a hypervisor carries out, until the instruction retires: KVM counts
 * it, see of_exit(). */
static void note_exit(struct model *m, const struct msr_result *result)
{
	m->exited = m->facts & (FACT_EXITS_COUNT | FACT_EXITS_UNCOUNTED) &&
		    result->status == MSR_DONE && (m->active || m->writing);
}

struct msr_result model_rdmsr(struct model *m, u32 msr)
{
	bool shared = model_core_enter(m);
	struct msr_result result;

	model_uncore_take(m);
	result = rdmsr(m, msr);
	note_exit(m, &result);
	model_core_leave(m, shared);
	return result;
}

struct msr_result model_wrmsr(struct model *m, u32 msr, u64 value)
{
	bool shared = model_core_enter(m);
	struct msr_result result;

	model_uncore_take(m);
	result = wrmsr(m, msr, value);
	note_exit(m, &result);
	model_core_leave(m, shared);
	return result;
}

struct msr_result model_rdpmc(struct model *m, u32 ecx)
{
	bool shared = model_core_enter(m);
	struct msr_result result = is_netburst(m) ? netburst_rdpmc(m, ecx) : arch_rdpmc(m, ecx);

	note_exit(m, &result);
	model_core_leave(m, shared);
	return result;
}
