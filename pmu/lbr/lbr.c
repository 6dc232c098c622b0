/* SPDX-License-Identifier: MIT */
/*
 * See lbr.h. SDM "Last Branch, Interrupt, and Exception Recording". The addresses after a stack's
 * last entry are other registers, so the depth is taken from the format and isn't probed.
 */
#include "pmu/lbr/lbr.h"

#include "kernel/interrupt/fault.h"
#include "pmu/counter.h"
#include "spec/msr.h"

unsigned lbr_format(void)
{
	return (unsigned)((counter_caps()->perf_capabilities & IA32_PERF_CAPABILITIES_LBR_FMT) >>
			  IA32_PERF_CAPABILITIES_LBR_FMT_SHIFT);
}

unsigned lbr_depth(void)
{
	const struct pmu_caps *caps = counter_caps();

	return caps->pdcm && (caps->facilities & FAC_LBR) ? lbr_format_depth(lbr_format()) : 0;
}

struct lbr_raw lbr_entry(unsigned i)
{
	return (struct lbr_raw){
		.from = msr_read(MSR_LASTBRANCH_0_FROM_IP + i),
		.to = msr_read(MSR_LASTBRANCH_0_TO_IP + i),
		.info = lbr_format_has_info(lbr_format()) ? msr_read(MSR_LBR_INFO_0 + i) : 0,
	};
}

void lbr_put(unsigned i, const struct lbr_raw *raw)
{
	msr_write(MSR_LASTBRANCH_0_FROM_IP + i, raw->from);
	msr_write(MSR_LASTBRANCH_0_TO_IP + i, raw->to);
	if (lbr_format_has_info(lbr_format()))
		msr_write(MSR_LBR_INFO_0 + i, raw->info);
}

void lbr_open(u64 select, unsigned top)
{
	msr_write(MSR_IA32_DEBUGCTL, 0);
	msr_write_row(MSR_LASTBRANCH_0_FROM_IP, lbr_depth(), 0);
	msr_write_row(MSR_LASTBRANCH_0_TO_IP, lbr_depth(), 0);
	if (lbr_format_has_info(lbr_format()))
		msr_write_row(MSR_LBR_INFO_0, lbr_depth(), 0);
	msr_write(MSR_LASTBRANCH_TOS, top);
	msr_write(MSR_LBR_SELECT, select);
}

void lbr_close(void)
{
	msr_write(MSR_IA32_DEBUGCTL, 0);
	msr_write(MSR_LBR_SELECT, 0);
}

void lbr_read(struct lbr_stack *stack)
{
	u64 from[ARCH_LBR_MAX_ENTRIES], to[ARCH_LBR_MAX_ENTRIES],
		info[ARCH_LBR_MAX_ENTRIES] = { 0 };

	*stack = (struct lbr_stack){ .depth = lbr_depth(), .top = msr_read(MSR_LASTBRANCH_TOS) };
	msr_read_row(MSR_LASTBRANCH_0_FROM_IP, stack->depth, from);
	msr_read_row(MSR_LASTBRANCH_0_TO_IP, stack->depth, to);
	if (lbr_format_has_info(lbr_format()))
		msr_read_row(MSR_LBR_INFO_0, stack->depth, info);
	for (unsigned i = 0; i < stack->depth; i++) {
		unsigned place = (unsigned)(stack->top + stack->depth - i) % stack->depth;

		stack->raw[i] = (struct lbr_raw){ from[place], to[place], info[place] };
		lbr_format_decode(lbr_format(), &stack->raw[i], &stack->branch[i]);
	}
}

unsigned lbr_find(const struct lbr_stack *stack, u64 from)
{
	unsigned i = 0;

	while (i < stack->depth && stack->branch[i].from != from)
		i++;
	return i;
}

bool lbr_same(const struct lbr_stack *a, const struct lbr_stack *b)
{
	if (a->depth != b->depth || a->top != b->top)
		return false;
	for (unsigned i = 0; i < a->depth; i++)
		if (a->raw[i].from != b->raw[i].from || a->raw[i].to != b->raw[i].to ||
		    a->raw[i].info != b->raw[i].info)
			return false;
	return true;
}
