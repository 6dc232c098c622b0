/* SPDX-License-Identifier: MIT */
/* VMMCALL: the launcher's requests, or #UD. See hypercall.h. */
#include "refpmu/vmm/configure.h"
#include "refpmu/hv/deliver.h"
#include "refpmu/engine/configuration.h"
#include "refpmu/engine/engine.h"
#include "refpmu/engine/engine_cpu.h"
#include "refpmu/faults/fault.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/vmm/hypercall.h"
#include "refpmu/hv/processors.h"
#include "refpmu/vmm/exit_hypercall.h"
#include "refpmu/vmm/trace.h"

static enum hypercall_status version(struct cpu *cpu, u64 address)
{
	const struct hypercall_version answer = {
		.version = HYPERCALL_VERSION_NUMBER,
		.config_size = sizeof(struct model_config),
		.statistics_size = sizeof(struct statistics),
		.hidden_base = hypervisor.base,
		.hidden_size = hypervisor.size,
	};

	return guest_write(cpu, address, &answer, sizeof(answer), NULL) ? HYPERCALL_DONE :
									  HYPERCALL_BAD_ADDRESS;
}

static enum hypercall_status take_configuration(struct cpu *cpu, u64 address)
{
	enum hypercall_status status;
	struct model_config config;

	if (!guest_read(cpu, address, &config, sizeof(config), NULL))
		return HYPERCALL_BAD_ADDRESS;
	status = configure_check(&config);
	if (status == HYPERCALL_DONE)
		configuration_reset(cpu, &config);
	return status;
}

static enum hypercall_status take_fault(struct cpu *cpu, u64 address)
{
	struct model_config config = hypervisor.config;
	enum hypercall_status status;
	struct hypercall_fault fault;

	if (!guest_read(cpu, address, &fault, sizeof(fault), NULL))
		return HYPERCALL_BAD_ADDRESS;
	config.fault = fault.fault;
	config.when = fault.when;
	status = configure_check(&config);
	if (status == HYPERCALL_DONE)
		configuration_set_fault(cpu, fault.fault, &fault.when);
	return status;
}

static void add_statistics(struct statistics *sum, const struct cpu *cpu)
{
	const struct statistics one = {
		.exit = cpu->statistics,
		.engine = cpu->engine->statistics,
		.fault_acted = model_fault_acted(&cpu->model),
	};
	const u64 *from = (const u64 *)&one;
	u64 *to = (u64 *)sum;

	for (unsigned i = 0; i < sizeof(one) / sizeof(u64); i++)
		to[i] += from[i];
}

void hypercall_statistics(const struct cpu *cpu, struct statistics *sum)
{
	*sum = (struct statistics){ 0 };
	for (unsigned i = 0; processors_get(i); i++)
		if (processors_get(i)->epoch == cpu->epoch)
			add_statistics(sum, processors_get(i));
}

static enum hypercall_status statistics(struct cpu *cpu, u64 address)
{
	struct statistics sum;

	hypercall_statistics(cpu, &sum);
	return guest_write(cpu, address, &sum, sizeof(sum), NULL) ? HYPERCALL_DONE :
								    HYPERCALL_BAD_ADDRESS;
}

static enum hypercall_status engine(struct cpu *cpu, u64 which)
{
	return which < ENGINES && engine_choose(cpu, (enum engine_name)which) ?
		       HYPERCALL_DONE :
		       HYPERCALL_BAD_ENGINE;
}

bool exit_hypercall(struct cpu *cpu)
{
	u64 address = cpu->gpr[REG_RDX], status;

	if (cpu->gpr[REG_RAX] != HYPERCALL_MAGIC ||
	    (cpu_cpl(cpu) && cpu->gpr[REG_RCX] != HYPERCALL_FAULT)) {
		deliver_exception(cpu, VECTOR_UD, 0);
		return false;
	}
	switch (cpu->gpr[REG_RCX]) {
	case HYPERCALL_VERSION:
		status = version(cpu, address);
		break;
	case HYPERCALL_CONFIGURE:
		status = take_configuration(cpu, address);
		break;
	case HYPERCALL_STATISTICS:
		status = statistics(cpu, address);
		break;
	case HYPERCALL_ENGINE:
		status = engine(cpu, address);
		break;
	case HYPERCALL_FAULT:
		status = take_fault(cpu, address);
		break;
	case HYPERCALL_TRACE:
		trace_switch(address);
		status = HYPERCALL_DONE;
		break;
	default:
		status = HYPERCALL_UNKNOWN;
		break;
	}
	cpu->gpr[REG_RAX] = status;
	return true;
}
