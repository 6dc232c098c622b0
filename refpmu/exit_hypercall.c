/* SPDX-License-Identifier: MIT */
/* VMMCALL: the launcher's requests, or #UD. See hypercall.h. */
#include "refpmu/deliver.h"
#include "refpmu/exits.h"
#include "refpmu/guest_memory.h"
#include "refpmu/hypercall.h"

void exit_hypercall_reset(struct cpu *cpu, const struct model_config *config)
{
	cpu->rep.active = false;
	cpu->statistics = (struct statistics){ 0 };
	model_init(&cpu->model, config, &cpu->model_host);
}

static enum hypercall_status version(struct cpu *cpu, u64 address)
{
	const struct hypercall_version answer = {
		.version = HYPERCALL_VERSION_NUMBER,
		.hidden_base = hypervisor.base,
		.hidden_size = hypervisor.size,
	};

	return guest_write(cpu, address, &answer, sizeof(answer), NULL) ? HYPERCALL_DONE :
		HYPERCALL_BAD_ADDRESS;
}

static enum hypercall_status configure(struct cpu *cpu, u64 address)
{
	struct hypercall_configure request;
	struct model_config config;

	if (!guest_read(cpu, address, &request, sizeof(request), NULL))
		return HYPERCALL_BAD_ADDRESS;
	if (request.generation >= GEN_COUNT || request.fault >= FAULT_COUNT ||
	    request.hyper_threading > 1 || request.reserved)
		return HYPERCALL_BAD_VALUE;
	config = (struct model_config){
		.generation = (enum generation_id)request.generation,
		.hyper_threading = request.hyper_threading,
		.fault = (enum fault_id)request.fault,
		.seed = request.seed,
	};
	exit_hypercall_reset(cpu, &config);
	return HYPERCALL_DONE;
}

static enum hypercall_status statistics(struct cpu *cpu, u64 address)
{
	return guest_write(cpu, address, &cpu->statistics, sizeof(cpu->statistics), NULL) ?
		HYPERCALL_DONE : HYPERCALL_BAD_ADDRESS;
}

bool exit_hypercall(struct cpu *cpu)
{
	u64 address = cpu->gpr[REG_RDX], status;

	if (cpu->gpr[REG_RAX] != HYPERCALL_MAGIC || cpu_cpl(cpu)) {
		deliver_exception(cpu, VECTOR_UD, 0);
		return false;
	}
	switch (cpu->gpr[REG_RCX]) {
	case HYPERCALL_VERSION:
		status = version(cpu, address);
		break;
	case HYPERCALL_CONFIGURE:
		status = configure(cpu, address);
		break;
	case HYPERCALL_STATISTICS:
		status = statistics(cpu, address);
		break;
	default:
		status = HYPERCALL_UNKNOWN;
		break;
	}
	cpu->gpr[REG_RAX] = status;
	return true;
}
