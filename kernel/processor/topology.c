/* SPDX-License-Identifier: MIT */
/*
 * An APIC id consists of the fields thread, core and package, from the lowest bits up. Leaf 0BH
 * gives the widths of the fields. Without it they follow from the numbers of ids in leaf 1 and leaf
 * 4, each rounded up to a power of two.
 */
#include "kernel/processor/topology.h"

/* Level types of leaf 0BH. */
enum { LEVEL_INVALID, LEVEL_SMT, LEVEL_CORE };

/* The number of bits that number so many things. */
static unsigned width_of(u32 count)
{
	unsigned bits = 0;

	while (bits < 31 && (1u << bits) < count)
		bits++;
	return bits;
}

static struct topology split(u32 id, unsigned core_shift, unsigned package_shift)
{
	return (struct topology){
		.apic_id = id,
		.thread = id & ((1u << core_shift) - 1),
		.core = id >> core_shift,
		.package = id >> package_shift,
	};
}

struct topology topology_of(const struct topology_cpuid *cpuid)
{
	u32 processors = cpuid->htt && cpuid->logical_processors ? cpuid->logical_processors : 1;
	unsigned all = width_of(processors);
	unsigned cores = width_of(cpuid->cores + 1);
	unsigned core_shift = 0, package_shift = 0;

	/* "If EBX = 0, the leaf isn't there." */
	if (!cpuid->level[0].processors)
		return split(cpuid->initial_apic_id, all > cores ? all - cores : 0, all);
	for (unsigned i = 0; i < TOPOLOGY_LEVELS; i++) {
		if (!cpuid->level[i].processors)
			break;
		if (cpuid->level[i].type == LEVEL_SMT)
			core_shift = cpuid->level[i].shift;
		if (cpuid->level[i].type == LEVEL_SMT || cpuid->level[i].type == LEVEL_CORE)
			package_shift = cpuid->level[i].shift;
	}
	return split(cpuid->x2apic_id, core_shift, package_shift);
}
