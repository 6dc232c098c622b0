/* SPDX-License-Identifier: MIT */
/* A CPUID of answers that a test has typed: what isn't there is 0. */
#ifndef HOST_UNIT_CPUID_ANSWERS_H
#define HOST_UNIT_CPUID_ANSWERS_H

#include <string.h>

#include "spec/types.h"

struct answer {
	u32 leaf, subleaf, regs[4];
};

static const struct answer *answers;
static unsigned answer_count;

static void cpuid(u32 leaf, u32 subleaf, u32 regs[4])
{
	memset(regs, 0, 4 * sizeof(*regs));
	for (unsigned i = 0; i < answer_count; i++)
		if (answers[i].leaf == leaf && answers[i].subleaf == subleaf)
			memcpy(regs, answers[i].regs, sizeof(answers[i].regs));
}

#endif
