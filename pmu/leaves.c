/* SPDX-License-Identifier: MIT */
/*
 * SDM volume 2A, "CPUID - CPU Identification". Each loop over subleaves ends where the leaf's data
 * says so, but in any case after a few, because a hypervisor may return anything.
 */
#include "pmu/leaves.h"

#include "spec/hypervisor.h"

#define EXTENDED_LEAF	0x80000000u

enum reg { EAX, EBX, ECX, EDX };

/* How to find the further subleaves. */
enum more {
	ALONE,
	CACHES,		/* as long as EAX[4:0], the type, isn't 0 */
	LEVELS,		/* as long as ECX[15:8], the type, isn't 0 */
	COUNTED,	/* EAX of subleaf 0 is their number */
	LISTED,		/* EAX of subleaf 0 has a bit for each */
};

static const struct {
	u32 number;
	enum more more;
} basic[] = {
	{ 0x0, ALONE }, { 0x1, ALONE }, { 0x4, CACHES }, { 0x6, ALONE }, { 0x7, COUNTED },
	{ 0xa, ALONE }, { 0xb, LEVELS }, { 0xd, ALONE }, { 0x14, COUNTED }, { 0x15, ALONE },
	{ 0x16, ALONE }, { 0x1a, ALONE }, { 0x1c, ALONE }, { 0x23, LISTED },
};

#define CACHES_MAX	8u
#define LEVELS_MAX	6u
#define COUNTED_MAX	2u
#define LISTED_MAX	6u
#define HYPERVISOR_MAX	8u	/* leaves from the signature's leaf on */
#define EXTENDED_MAX	9u	/* 80000000H to 80000008H */

typedef void cpuid_function(u32 leaf, u32 subleaf, u32 regs[4]);

static void leaves_add(struct leaves *leaves, u32 number, u32 subleaf, const u32 regs[4])
{
	struct leaf *leaf = &leaves->at[leaves->count];

	if (leaves->count == LEAVES_MAX || !(regs[EAX] | regs[EBX] | regs[ECX] | regs[EDX]))
		return;
	leaf->number = number;
	leaf->subleaf = subleaf;
	for (unsigned i = 0; i < 4; i++)
		leaf->regs[i] = regs[i];
	leaves->count++;
}

static void add_leaf(struct leaves *leaves, u32 number, enum more more, cpuid_function *cpuid)
{
	static const unsigned most[] = {
		[ALONE] = 1, [CACHES] = CACHES_MAX, [LEVELS] = LEVELS_MAX,
		[COUNTED] = COUNTED_MAX, [LISTED] = LISTED_MAX,
	};
	u32 first = 0;

	for (u32 subleaf = 0; subleaf < most[more]; subleaf++) {
		u32 regs[4];

		if (subleaf && ((more == COUNTED && subleaf > first) ||
				(more == LISTED && !(first >> subleaf & 1))))
			continue;
		cpuid(number, subleaf, regs);
		if (!subleaf)
			first = regs[EAX];
		if ((more == CACHES && !(regs[EAX] & BITS(0, 4))) ||
		    (more == LEVELS && !(regs[ECX] & BITS(8, 15))))
			return;
		leaves_add(leaves, number, subleaf, regs);
	}
}

/* Add the leaves from `first` up to EAX of `first`, at most `most` of them. */
static void add_range(struct leaves *leaves, u32 first, unsigned most, cpuid_function *cpuid)
{
	u32 regs[4];

	cpuid(first, 0, regs);
	leaves_add(leaves, first, 0, regs);
	/* KVM sometimes has 0 there, and means its next leaf. */
	if (!regs[EAX])
		regs[EAX] = first + 1;
	for (u32 i = 1, last = regs[EAX]; i < most && first + i <= last; i++) {
		cpuid(first + i, 0, regs);
		leaves_add(leaves, first + i, 0, regs);
	}
}

void leaves_read(struct leaves *leaves, u32 hypervisor, cpuid_function *cpuid)
{
	u32 regs[4];

	leaves->count = 0;
	cpuid(0, 0, regs);
	for (unsigned i = 0; i < sizeof(basic) / sizeof(basic[0]); i++)
		if (basic[i].number <= regs[EAX])
			add_leaf(leaves, basic[i].number, basic[i].more, cpuid);
	if (hypervisor && hypervisor != HYPERVISOR_LEAF)
		add_range(leaves, HYPERVISOR_LEAF, HYPERVISOR_MAX, cpuid);
	if (hypervisor)
		add_range(leaves, hypervisor, HYPERVISOR_MAX, cpuid);
	cpuid(EXTENDED_LEAF, 0, regs);
	if (regs[EAX] >= EXTENDED_LEAF)
		add_range(leaves, EXTENDED_LEAF, EXTENDED_MAX, cpuid);
}

const struct leaf *leaves_find(const struct leaves *leaves, u32 number, u32 subleaf)
{
	for (unsigned i = 0; i < leaves->count; i++)
		if (leaves->at[i].number == number && leaves->at[i].subleaf == subleaf)
			return &leaves->at[i];
	return NULL;
}

static u32 eax_of(const struct leaves *leaves, u32 number)
{
	const struct leaf *leaf = leaves_find(leaves, number, 0);

	return leaf ? leaf->regs[EAX] : 0;
}

bool leaves_same_kind(const struct leaves *a, const struct leaves *b)
{
	return eax_of(a, 0x1) == eax_of(b, 0x1) && eax_of(a, 0x1a) == eax_of(b, 0x1a);
}
