/* SPDX-License-Identifier: MIT */
/* CPUID fields, from the rows of spec/cpuid.def. Nothing is cached, because on a hybrid processor
 * the result depends on the logical processor. */
#include "kernel/processor/cpuid.h"

enum reg { REG_EAX, REG_EBX, REG_ECX, REG_EDX };

struct row {
	u32 leaf, subleaf;
	enum reg reg;
	unsigned lo, hi;
};

static const struct row rows[] = {
#define CPUID_FIELD(name, leaf, subleaf, reg, lo, hi, source) \
	{ (leaf), (subleaf), REG_##reg, (lo), (hi) },
#include "spec/cpuid.def"
};

u32 cpuid_get(enum cpuid_field field)
{
	const struct row *row = &rows[field];
	/* EAX of a range's first leaf has the range's largest leaf. */
	u32 first = row->leaf & 0x80000000;
	struct cpuid r;
	u32 value;

	if (row->leaf != first && row->leaf > cpuid_read(first, 0).eax)
		return 0;
	r = cpuid_read(row->leaf, row->subleaf);
	switch (row->reg) {
	case REG_EAX:
		value = r.eax;
		break;
	case REG_EBX:
		value = r.ebx;
		break;
	case REG_ECX:
		value = r.ecx;
		break;
	default:
		value = r.edx;
		break;
	}
	return (u32)((value & BITS(row->lo, row->hi)) >> row->lo);
}
