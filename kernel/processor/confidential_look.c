/* SPDX-License-Identifier: MIT */
/* The part of confidential.h that reads the processor. "Linear-Address Translation with 4-Level
 * Paging and 5-Level Paging": CR3 has the address of the tables, and UEFI firmware uses an identity
 * map. */
#include "kernel/processor/confidential.h"

#include "kernel/processor/cpu.h"
#include "kernel/processor/cpuid.h"

#define LEAF_TDX		0x21u
#define LEAF_ENCRYPTION		0x8000001fu
#define ENTRY_ADDRESS		BITS(12, 45)	/* below any encryption bit; no machine has more */
#define ENTRIES			512u

static struct confidential_leaf leaf(u32 number)
{
	struct cpuid r = { 0, 0, 0, 0 };

	if (cpuid_read(number & 0x80000000, 0).eax >= number)
		r = cpuid_read(number, 0);
	return (struct confidential_leaf){ r.eax, r.ebx, r.ecx, r.edx };
}

void confidential_look(struct confidential_view *view)
{
	const u64 *top = (const u64 *)(uintptr_t)(cr3_read() & ENTRY_ADDRESS);
	unsigned shift = cr4_read() & CR4_LA57 ? 48 : 39;
	u64 here = (u64)(uintptr_t)&confidential_look;

	*view = (struct confidential_view){
		.tdx = leaf(LEAF_TDX),
		.encryption = leaf(LEAF_ENCRYPTION),
		.top_entry = top[here >> shift & (ENTRIES - 1)],
	};
}
