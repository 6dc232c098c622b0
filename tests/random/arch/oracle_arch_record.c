/* SPDX-License-Identifier: MIT */
/*
 * The contents of an architectural PEBS record: Linux struct arch_pebs_header, arch_pebs_basic,
 * arch_pebs_xer_header, arch_pebs_lbr_header, arch_pebs_cntr_header. Registers and the address are
 * checked as in other records.
 */
#include "tests/random/arch/oracle_arch.h"

/* The reserved bits of a header's first quadword. */
#define RESERVED	(BITS(16, 29) | BITS(32, 34) | BITS(42, 48) | BITS(51, 52) | BITS(56, 60))
#define KINDS		(IA32_PMC_GP0_CFG_C_CNTR_GP | IA32_PMC_GP0_CFG_C_CNTR_FIXED)
/* Bits 63:36 of CFG_C without the enable. No source explains bits 35 and 39 of a header. */
#define ASKED		(BITS(36, 38) | BITS(40, 62))
#define XMM_BIT		BIT(IA32_PMC_GP0_CFG_C_XER_SHIFT + ARCH_PEBS_XER_XMM)
#define LBR_EACH	8	/* entries of code 1; code 2 has twice as many */

/* Counters of the kinds that the record selects, if CFG_C[35] allows their values. */
static u64 allowed(const struct oracle *o, u64 config)
{
	u64 counters = 0;

	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (oracle_exists(o, i) && o->config[i] & IA32_PMC_GP0_CFG_C_ALLOW_IN_RECORD &&
		    config & (oracle_is_fixed(i) ? IA32_PMC_GP0_CFG_C_CNTR_FIXED :
						   IA32_PMC_GP0_CFG_C_CNTR_GP))
			counters |= oracle_bit(i);
	return counters;
}

static void judge_header(struct oracle *o, const struct draw_arch_record *r, u64 config)
{
	u64 groups = ASKED;

	oracle_expect(o, DRAW_CLAIM_MODE, ARCH_PEBS_MODE_64, 0, r->header & ARCH_PEBS_MODE_64,
		      "64-bit mode in the header of record %lu", o->record);
	oracle_expect(o, DRAW_CLAIM_RESERVED, 0, 0, (r->header & RESERVED) | r->reserved,
		      "reserved bits of the header of record %lu", o->record);
	/* A group without counters, or with registers that are all 0, may be left out. */
	if (!allowed(o, config))
		groups &= ~KINDS;
	/* If only one kind has counters, no source defines the other kind's bit. */
	if (!(allowed(o, config) & BITS(0, 31)))
		groups &= ~IA32_PMC_GP0_CFG_C_CNTR_GP;
	if (!(allowed(o, config) >> 32))
		groups &= ~IA32_PMC_GP0_CFG_C_CNTR_FIXED;
	oracle_expect(o, DRAW_CLAIM_GROUPS, (config & groups) | ARCH_PEBS_BASIC, 0,
		      r->header & (groups | ARCH_PEBS_BASIC), "groups of record %lu", o->record);
}

static void judge_basic(struct oracle *o, const struct draw_arch_record *r)
{
	u64 since = o->record ? o->seen->arch.record[o->record - 1].tsc : o->seen->begin;

	oracle_expect(o, DRAW_CLAIM_TSC, since, o->seen->end - since, r->tsc,
		      "TSC of record %lu, from that before it to the program's end", o->record);
}

/* Programs change XMM0. */
static void judge_xmm(struct oracle *o, const struct draw_arch_record *r)
{
	const u64 xmm = BIT(ARCH_PEBS_XER_XMM);

	if (!r->xer)
		return;
	if (o->c->arch.xmm >> 1)
		oracle_expect(o, DRAW_CLAIM_XSTATE, xmm, 0, r->xstate_bv, "XSTATE_BV of record %lu",
			      o->record);
	if (!(r->xstate_bv & xmm))
		return;
	for (unsigned half = 2; half < DRAW_ARCH_XMM; half++)
		oracle_expect(o, DRAW_CLAIM_VECTORS, draw_arch_xmm(&o->c->arch, half), 0,
			      r->xmm[half], "XMM1 to XMM15 of record %lu", o->record);
}

static void judge_lbr(struct oracle *o, const struct draw_arch_record *r, u64 config)
{
	u64 code = (config & IA32_PMC_GP0_CFG_C_LBR) >> IA32_PMC_GP0_CFG_C_LBR_SHIFT;

	if (!r->lbr)
		return;
	oracle_expect(o, DRAW_CLAIM_ENTRIES, o->env->arch.lbr_ctl, 0, r->lbr_ctl,
		      "IA32_LBR_CTL of record %lu", o->record);
	oracle_expect(o, DRAW_CLAIM_ENTRIES, o->env->arch.lbr_depth, 0, r->lbr_depth,
		      "IA32_LBR_DEPTH of record %lu", o->record);
	oracle_expect(o, DRAW_CLAIM_ENTRIES,
		      code == ARCH_PEBS_LBR_BY_DEPTH ? o->env->arch.lbr_depth : LBR_EACH * code, 0,
		      r->lbr_entries, "last branch records of record %lu", o->record);
}

/* The values are those before or after the record's instruction. Counters that the record reloads,
 * or that wrap on its instruction, may have either value. */
static void judge_counters(struct oracle *o, unsigned step, const struct draw_arch_record *r,
			   u64 config)
{
	const struct trace_step *at = &o->trace->step[step];

	if (!r->counters)
		return;
	oracle_expect(o, DRAW_CLAIM_VALUES, allowed(o, config), 0, r->there,
		      "counters in record %lu", o->record);
	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		const struct counter *k = &o->counter[i];
		bool on = oracle_exists(o, i) && oracle_is_on(o, i) &&
			  oracle_selects_level(o, i, at->user);
		u64 mask = oracle_width_mask(o, i), n = 0;

		if (!(r->there & oracle_bit(i)) || (r->applicable | o->wrapped) & oracle_bit(i) ||
		    oracle_arch_pending(o) & oracle_bit(i) || k->reloaded_at == step + 1)
			continue;
		if (on && !o->env->strict)
			continue;
		if (on)
			n = oracle_counted(o, i, at).most;
		oracle_expect(o, DRAW_CLAIM_VALUES, k->least - n, k->room + n,
			      r->value[i] & ~mask ?
				      r->value[i] :
				      k->least - n + ((r->value[i] - (k->least - n)) & mask),
			      "a counter's value in record %lu", o->record);
	}
}

void oracle_arch_judge(struct oracle *o, unsigned step, const struct draw_arch_record *r,
		       const struct pebs_record *fields)
{
	unsigned counter = 0;

	judge_basic(o, r);
	/* If a record is of several counters, no source says whose groups it has. */
	if (r->applicable & (r->applicable - 1))
		return;
	while (counter < DRAW_COUNTERS - 1 && !(r->applicable & oracle_bit(counter)))
		counter++;
	judge_header(o, r, o->config[counter]);
	oracle_expect_field(o, DRAW_CLAIM_RIP, fields, RECORD_rip, trace_next_ip(o->trace, step),
			    "R/EIP of record %lu");
	if (fields->present & ~(1u << RECORD_eventing_ip) & ~(1u << RECORD_data_linear_address))
		oracle_judge_registers(o, &o->trace->step[step], fields);
	oracle_judge_address(o, &o->trace->step[step], counter, fields);
	judge_xmm(o, r);
	judge_lbr(o, r, o->config[counter]);
	judge_counters(o, step, r, o->config[counter]);
}
