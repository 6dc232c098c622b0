/* SPDX-License-Identifier: MIT */
/*
 * The interface between launcher and reference PMU: VMMCALL at CPL 0 (HYPERCALL_FAULT: at any, for
 * a program of an operating system, tools/linux/fault.c) with the magic number in RAX, the function
 * in RCX and the linear address of its structure in RDX. RAX returns a hypercall_status. Without
 * the magic number VMMCALL raises #UD, as on an Intel processor, so that programs under test find
 * nothing.
 */
#ifndef REFPMU_VMM_HYPERCALL_H
#define REFPMU_VMM_HYPERCALL_H

#include "refpmu/engine/engine_name.h"
#include "refpmu/model/model.h"
#include "refpmu/vmm/configure.h"
#include "refpmu/vmm/statistics.h"

#define HYPERCALL_MAGIC		0x3638747365545550ULL
#define HYPERCALL_VERSION_NUMBER 7

enum hypercall_function {
	HYPERCALL_VERSION,	/* struct hypercall_version, written */
	HYPERCALL_CONFIGURE,	/* struct model_config, read: a fresh PMU and statistics */
	HYPERCALL_STATISTICS,	/* struct statistics, written */
	HYPERCALL_ENGINE,	/* RDX isn't an address: enum engine_name, until CONFIGURE */
	HYPERCALL_TRACE,	/* RDX isn't an address: 1: print a trace (trace.h); 0: don't */
	HYPERCALL_FAULT,	/* struct hypercall_fault, read: it acts from now on */
};

/* All members are equal if both programs were built from one tree. */
struct hypercall_version {
	u64 version;
	u64 config_size, statistics_size;	/* of the structures of the functions above */
	u64 hidden_base, hidden_size;	/* the hypervisor's memory, physical */
};

/* The fault, or FAULT_NONE. CPUID stays as it was configured. */
struct hypercall_fault {
	u32 fault;
	struct fault_when when;
};

/* For programs: call and return the status. */
static inline u64 hypercall(enum hypercall_function function, void *structure)
{
	u64 status = HYPERCALL_MAGIC;

	__asm__ volatile("vmmcall" : "+a"(status) : "c"((u64)function), "d"(structure) : "memory");
	return status;
}

#endif
