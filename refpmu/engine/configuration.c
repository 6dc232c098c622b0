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

bool configuration_follow(struct cpu *cpu)
{
	u64 epoch = __atomic_load_n(&hypervisor.epoch, __ATOMIC_ACQUIRE);

	if (cpu->epoch == epoch)
		return false;
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
	for (unsigned i = 0; processors_get(i); i++)
		if (processors_get(i) != cpu)
			siblings_kick(cpu, processors_get(i));
}
