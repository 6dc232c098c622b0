/* SPDX-License-Identifier: MIT */
/* See configuration.h. */
#include "refpmu/engine/configuration.h"
#include "refpmu/engine/engine.h"
#include "refpmu/engine/exits.h"
#include "refpmu/engine/siblings.h"
#include "refpmu/hv/guest_tsc.h"
#include "refpmu/hv/lock.h"
#include "refpmu/hv/processors.h"
#include "refpmu/hv/vmrun.h"
#include "refpmu/model/core.h"
#include "refpmu/model/uncore.h"
#include "refpmu/engine/engine_cpu.h"

static void tell_others(struct cpu *cpu)
{
	for (unsigned i = 0; processors_get(i); i++)
		if (processors_get(i) != cpu)
			siblings_kick(cpu, processors_get(i));
}

static bool follow_fault(struct cpu *cpu)
{
	u32 change = __atomic_load_n(&hypervisor.fault_changes, __ATOMIC_ACQUIRE);

	if (cpu->fault_changes == change)
		return false;
	cpu->fault_changes = change;
	model_set_fault(&cpu->model, hypervisor.config.fault, &hypervisor.config.when);
	return true;
}

bool configuration_follow(struct cpu *cpu)
{
	u64 epoch = __atomic_load_n(&hypervisor.epoch, __ATOMIC_ACQUIRE);

	if (cpu->epoch == epoch)
		return follow_fault(cpu);
	cpu->epoch = epoch;
	cpu->engine->rep.active = false;
	cpu->statistics = (struct exit_statistics){ 0 };
	cpu->engine->statistics = (struct engine_statistics){ 0 };
	guest_tsc_leave(cpu);
	model_init(&cpu->model, &hypervisor.config, &cpu->model_host);
	exit_msr_set_tsc_adjust(cpu, processors_tsc_adjust(cpu));
	vmrun_set_intercepts(cpu, false);
	return true;
}

void configuration_reset(struct cpu *cpu, const struct model_config *config)
{
	engine_choose(cpu, ENGINE_STEP);
	hypervisor.config = *config;
	hypervisor.wake_ups = 0;
	for (unsigned i = 0; i < hypervisor.n_cores; i++) {
		lock_take(cpu, &hypervisor.cores[i].lock);
		model_core_reset(&hypervisor.cores[i]);
		lock_give(cpu, &hypervisor.cores[i].lock);
	}
	lock_take(cpu, &hypervisor.uncore->lock);
	model_uncore_reset(hypervisor.uncore);
	lock_give(cpu, &hypervisor.uncore->lock);
	__atomic_store_n(&hypervisor.epoch, hypervisor.epoch + 1, __ATOMIC_SEQ_CST);
	configuration_follow(cpu);
	tell_others(cpu);
}

void configuration_set_fault(struct cpu *cpu, u32 fault, const struct fault_when *when)
{
	hypervisor.config.fault = fault;
	hypervisor.config.when = *when;
	__atomic_fetch_add(&hypervisor.fault_changes, 1, __ATOMIC_SEQ_CST);
	configuration_follow(cpu);
	tell_others(cpu);
}
