/* SPDX-License-Identifier: MIT */
/* See cpu.h. */
#include "refpmu/hv/cpu.h"
#include "refpmu/hv/panic.h"

struct hypervisor hypervisor;

void *hypervisor_pages(unsigned pages)
{
	u8 *first = hypervisor.free;

	hypervisor.free += pages * PAGE_SIZE;
	if ((u64)hypervisor.free > hypervisor.base + hypervisor.size)
		panic("out of memory of its own (pages)", 1, pages, 0, 0, 0);
	return first;
}
