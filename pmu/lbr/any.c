/* SPDX-License-Identifier: MIT */
/* See any.h. */
#include "pmu/lbr/any.h"

#include "pmu/counter.h"
#include "pmu/lbr/arch.h"

static bool architectural(void)
{
	return counter_caps()->arch_lbr;
}

unsigned lbr_any_depth(void)
{
	return architectural() ? arch_lbr_depth() : lbr_depth();
}

struct lbr_switch lbr_any_switch(void)
{
	if (architectural())
		return (struct lbr_switch){ MSR_IA32_LBR_CTL, arch_lbr_everything(),
					    "IA32_LBR_CTL[0]" };
	return (struct lbr_switch){ MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR, "IA32_DEBUGCTL[0]" };
}

void lbr_any_open(void)
{
	if (architectural())
		arch_lbr_close();
	else
		lbr_open(0, 0);
}

void lbr_any_close(void)
{
	if (architectural())
		arch_lbr_close();
	else
		lbr_close();
}

void lbr_any_read(struct lbr_stack *stack)
{
	if (architectural())
		arch_lbr_read(stack);
	else
		lbr_read(stack);
}
