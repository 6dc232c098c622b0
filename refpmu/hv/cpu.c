/* SPDX-License-Identifier: MIT */
/* See cpu.h. */
#include "refpmu/hv/cpu.h"
#include "refpmu/hv/panic.h"

struct hypervisor hypervisor;

static bool is_taken(const struct tlb_places *places, const u8 *first, unsigned pages)
{
	for (unsigned i = 0; i < pages; i++) {
		u64 place = (u64)first / PAGE_SIZE + i;

		if (places->taken[place % TLB_PLACES / 64] & BIT(place % 64))
			return true;
	}
	return false;
}

void hypervisor_note_places(struct tlb_places *places, const void *first, const void *end)
{
	for (u64 place = (u64)first / PAGE_SIZE; place * PAGE_SIZE < (u64)end; place++)
		places->taken[place % TLB_PLACES / 64] |= BIT(place % 64);
}

void *hypervisor_pages_apart(struct tlb_places *places, unsigned pages, unsigned hot)
{
	u8 *first = hypervisor.free, *next = first;

	while (is_taken(places, next, hot) && next < first + TLB_PLACES * PAGE_SIZE)
		next += PAGE_SIZE;
	if (!is_taken(places, next, hot))
		hypervisor.free = next;
	first = hypervisor_pages(pages);
	hypervisor_note_places(places, first, first + hot * PAGE_SIZE);
	return first;
}

void *hypervisor_pages(unsigned pages)
{
	u8 *first = hypervisor.free;

	hypervisor.free += pages * PAGE_SIZE;
	if ((u64)hypervisor.free > hypervisor.base + hypervisor.size)
		panic("out of memory of its own (pages)", 1, pages, 0, 0, 0);
	return first;
}
