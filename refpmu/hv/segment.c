/* SPDX-License-Identifier: MIT */
/* See segment.h. */
#include "refpmu/hv/segment.h"
#include "refpmu/hv/svm.h"

#define SELECTOR_TI		BIT(2)		/* the local table, not the global one */
#define DESCRIPTOR_GRANULARITY	BIT(55)

bool segment_locate(struct cpu *cpu, u16 selector, u64 *linear)
{
	const struct vmcb_segment *table = &cpu->vmcb->save.gdtr;

	if (selector & SELECTOR_TI) {
		svm_save((u64)cpu->extra);
		table = &cpu->extra->save.ldtr;
	}
	*linear = table->base + (selector & ~7u);
	return (selector | 7u) <= table->limit;
}

void segment_unpack(u64 descriptor, u16 selector, struct vmcb_segment *segment)
{
	u32 limit = (u32)((descriptor & 0xffff) | (descriptor >> 32 & 0xf0000));

	if (descriptor & DESCRIPTOR_GRANULARITY)
		limit = limit << 12 | 0xfff;
	*segment = (struct vmcb_segment){
		.selector = selector,
		.attributes = (u16)((descriptor >> 40 & 0xff) | (descriptor >> 52 & 0xf) << 8),
		.limit = limit,
		.base = (descriptor >> 16 & 0xffffff) | (descriptor >> 32 & 0xff000000),
	};
}
