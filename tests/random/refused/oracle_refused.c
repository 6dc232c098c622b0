/* SPDX-License-Identifier: MIT */
/*
 * Accesses that must be refused: SDM volume 2 WRMSR, RDMSR and RDPMC, "Protected Mode Exceptions"
 * ("#GP(0)"); volume 3A "64-Bit Mode Stack Frame". An effect on counters shows in their counts.
 */
#include "pmu/version6/version6.h"
#include "tests/random/oracle_internal.h"

static enum draw_claim claim_of(const struct trace_step *step, u32 msr)
{
	const u32 flags = piece_get(step->piece)->flags;
	static const struct {
		u32 first, count;
		enum draw_claim claim;
	} table[] = {
		{ MSR_IA32_PERFEVTSEL0, DRAW_GP, DRAW_CLAIM_REFUSED_SELECT },
		{ MSR_IA32_A_PMC0, DRAW_GP, DRAW_CLAIM_REFUSED_GP },
		{ MSR_IA32_FIXED_CTR0, DRAW_FIXED, DRAW_CLAIM_REFUSED_FIXED },
		{ MSR_IA32_FIXED_CTR_CTRL, 1, DRAW_CLAIM_REFUSED_CONTROL },
		{ MSR_IA32_PERF_GLOBAL_CTRL, 1, DRAW_CLAIM_REFUSED_GLOBAL },
		{ MSR_IA32_PERF_GLOBAL_OVF_CTRL, 1, DRAW_CLAIM_REFUSED_CLEAR },
		{ MSR_IA32_PEBS_ENABLE, 1, DRAW_CLAIM_REFUSED_ENABLE },
		{ MSR_IA32_DS_AREA, 1, DRAW_CLAIM_REFUSED_AREA },
		{ MSR_IA32_PEBS_INDEX, 1, DRAW_CLAIM_REFUSED_INDEX },
	};

	if (flags & PIECE_RDPMC)
		return msr & BIT(31) ? DRAW_CLAIM_REFUSED_FAST : DRAW_CLAIM_REFUSED_RDPMC;
	if (flags & PIECE_READ)
		return DRAW_CLAIM_REFUSED_RDMSR;
	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (msr - table[i].first < table[i].count)
			return table[i].claim;
	return DRAW_CLAIM_REFUSED_CONFIG;
}

/* Without #GP the program doesn't continue as drawn, so nothing after it can be judged. */
void oracle_refuse(struct oracle *o, const struct trace_step *step)
{
	const struct draw_result *r = &o->seen->result[step->slot];
	const u32 msr = o->c->operation[step->slot].msr;

	oracle_expect(o, claim_of(step, msr), 0, 0, r->rax, "error code of #GP by %#lx", msr);
	/* The handler must have popped the error code. */
	if (r->rax)
		o->vague = true;
	else
		oracle_expect(o, claim_of(step, msr), step->rsp + 8, 0, r->rdx,
			      "RSP in the handler of #GP by %#lx", msr);
}

void oracle_end_refused(struct oracle *o)
{
	for (unsigned i = 0; i < o->trace->steps; i++) {
		const struct trace_step *step = &o->trace->step[i];
		const u32 msr = o->c->operation[step->slot].msr;

		if (!(step->row->flags & ROW_REFUSED) ||
		    piece_get(step->piece)->flags & (PIECE_READ | PIECE_RDPMC))
			continue;
		if (msr - MSR_IA32_PERFEVTSEL0 < DRAW_GP)
			oracle_expect(o, claim_of(step, msr), o->select[msr - MSR_IA32_PERFEVTSEL0],
				      0, o->seen->left, "what a refused write of %#lx leaves", msr);
		if (msr == MSR_IA32_FIXED_CTR_CTRL)
			oracle_expect(o, claim_of(step, msr), o->fixed_control, 0, o->seen->left,
				      "what a refused write of %#lx leaves", msr);
	}
}
