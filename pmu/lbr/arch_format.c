/* SPDX-License-Identifier: MIT */
/* See arch_format.h. CPUID "Last Branch Records Information"; SDM volume 4, IA32_LBR_x_INFO. */
#include "pmu/lbr/arch_format.h"

#define LISTED_DEPTHS	8	/* bits of EAX[7:0] */

#define CONTROL_CPL	BITS(1, 2)
#define CONTROL_STACK	BIT(3)
#define CONTROL_KINDS	BITS(16, 22)

#define INFO_CYCLES	BITS(0, 15)
#define INFO_EVENTS_SHIFT 32	/* for IA32_PMC0; two bits for each counter */
#define INFO_EVENTS	0x3u
#define INFO_KIND_SHIFT	56
#define INFO_KIND	0xfu
#define INFO_TIMED	BIT(60)
#define INFO_ABORTED	BIT(61)
#define INFO_IN_TX	BIT(62)
#define INFO_MISPREDICTED BIT(63)

struct lbr_leaf lbr_leaf_decode(u32 eax, u32 ebx, u32 ecx)
{
	return (struct lbr_leaf){
		.depths = (u8)eax,
		.cpl_filtering = ebx & BIT(0),
		.branch_filtering = ebx & BIT(1),
		.call_stack = ebx & BIT(2),
		.mispredict = ecx & BIT(0),
		.timed = ecx & BIT(1),
		.branch_type = ecx & BIT(2),
		.event_logging = ecx >> 16 & 0xf,
	};
}

unsigned lbr_leaf_deepest(const struct lbr_leaf *leaf)
{
	unsigned n = LISTED_DEPTHS;

	while (n && !(leaf->depths & BIT(n - 1)))
		n--;
	return n * ARCH_LBR_DEPTH_UNIT;
}

bool lbr_leaf_lists(const struct lbr_leaf *leaf, u64 depth)
{
	if (!depth || depth % ARCH_LBR_DEPTH_UNIT || depth > ARCH_LBR_MAX_ENTRIES)
		return false;
	return leaf->depths & BIT(depth / ARCH_LBR_DEPTH_UNIT - 1);
}

u64 lbr_leaf_control(const struct lbr_leaf *leaf)
{
	return BIT(0) | (leaf->cpl_filtering ? CONTROL_CPL : 0) |
	       (leaf->call_stack ? CONTROL_STACK : 0) |
	       (leaf->branch_filtering ? CONTROL_KINDS : 0);
}

struct lbr_branch lbr_arch_decode(const struct lbr_leaf *leaf, bool transactions,
				  const struct lbr_raw *raw)
{
	const bool timed = leaf->timed && (raw->info & INFO_TIMED);
	struct lbr_branch branch = {
		.from = raw->from,
		.to = raw->to,
		.mispredicted = leaf->mispredict && (raw->info & INFO_MISPREDICTED),
		.in_transaction = transactions && (raw->info & INFO_IN_TX),
		.aborted = transactions && (raw->info & INFO_ABORTED),
		.timed = timed,
		.cycles = timed ? (unsigned)(raw->info & INFO_CYCLES) : 0,
		.type = leaf->branch_type ? raw->info >> INFO_KIND_SHIFT & INFO_KIND : 0,
	};

	for (unsigned n = 0; n < LBR_LOGGED; n++)
		if (leaf->event_logging & BIT(n))
			branch.events[n] = raw->info >> (INFO_EVENTS_SHIFT + 2 * n) & INFO_EVENTS;
	return branch;
}
