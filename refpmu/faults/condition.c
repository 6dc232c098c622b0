/* SPDX-License-Identifier: MIT */
/* Faults that act only on instructions of an unusual kind. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/kvm/kvm.h"
#include "refpmu/faults/condition.h"
#include "spec/x86.h"

#define PAGE_SIZE	4096
#define INSTRUCTION_MAX	15	/* bytes */

static u8 code_at(struct model *m, u64 linear)
{
	u8 byte = 0;

	m->host->read(m->host->ctx, linear, &byte, 1);
	return byte;
}

/* A prefix that doesn't change the opcode; REX is among them. */
static bool is_prefix(u8 byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
	       (byte & 0xf0) == 0x40;
}

/* The opcode; 0F00H is added if it follows 0FH. */
static unsigned opcode_of(struct model *m, const struct model_retired *r, bool *repeated)
{
	u64 at = r->ip;
	u8 byte;

	*repeated = false;
	while (is_prefix(byte = code_at(m, at)) && at - r->ip < INSTRUCTION_MAX) {
		*repeated = *repeated || byte == 0xf2 || byte == 0xf3;
		at++;
	}
	return byte == 0x0f ? 0x0f00u | code_at(m, at + 1) : byte;
}

/* Only for an instruction that isn't a branch: its length is the distance to the next RIP. */
static bool crosses_page(const struct model_retired *r)
{
	u64 bytes = r->after.rip - r->before.rip;

	return r->branch == BRANCH_NONE && bytes && bytes <= INSTRUCTION_MAX &&
	       r->ip % PAGE_SIZE + bytes > PAGE_SIZE;
}

static u64 break_instructions(struct model *m, const struct model_retired *r, u64 occurred)
{
	bool repeated, sets = r->after.rflags & ~r->before.rflags & RFLAGS_IF;
	unsigned opcode;

	if ((sets && broken(m, FAULT_IF_SETTERS_COUNT_TWICE)) ||
	    (crosses_page(r) && broken(m, FAULT_PAGE_CROSSERS_COUNT_TWICE)))
		return 2 * occurred;
	switch (m->config.fault) {
	case FAULT_CPUID_UNCOUNTED:
	case FAULT_KVM_EXITS_COUNT_TWICE:
	case FAULT_KVM_EXITS_FIXED_TWICE:
	case FAULT_RDPMC_UNCOUNTED:
	case FAULT_IRETQ_UNCOUNTED:
	case FAULT_HLT_UNCOUNTED:
	case FAULT_HLT_COUNTS_TWICE:
		break;
	default:
		return occurred;
	}
	opcode = opcode_of(m, r, &repeated);
	if (fault_kvm_counts_twice(m, opcode) ||
	    (opcode == 0xf4 && broken(m, FAULT_HLT_COUNTS_TWICE)))
		return 2 * occurred;
	if ((opcode == 0x0fa2 && broken(m, FAULT_CPUID_UNCOUNTED)) ||
	    (opcode == 0x0f33 && broken(m, FAULT_RDPMC_UNCOUNTED)) ||
	    (opcode == 0xcf && broken(m, FAULT_IRETQ_UNCOUNTED)) ||
	    (opcode == 0xf4 && broken(m, FAULT_HLT_UNCOUNTED)))
		return 0;
	return occurred;
}

static u64 break_loads(struct model *m, const struct model_retired *r, u64 occurred)
{
	bool repeated;

	if (r->act >= ACT_PREFETCH_L1 && r->act <= ACT_PREFETCH_OWN &&
	    broken(m, FAULT_PREFETCHES_ARE_LOADS))
		return occurred + 1;
	if (occurred < 2 || (m->config.fault != FAULT_REP_LOADS_COUNT_ONCE &&
			     m->config.fault != FAULT_TWO_LOADS_COUNT_ONCE))
		return occurred;
	opcode_of(m, r, &repeated);
	return broken(m, repeated ? FAULT_REP_LOADS_COUNT_ONCE : FAULT_TWO_LOADS_COUNT_ONCE) ?
		       1 :
		       occurred;
}

u64 fault_unusual_instruction(struct model *m, const struct model_rule *rule,
			      const struct model_retired *r, u64 occurred)
{
	bool repeated;

	switch ((enum event_kind)rule->kind) {
	case EK_INSTRUCTIONS:
		return break_instructions(m, r, occurred);
	case EK_BRANCHES:
		return m->config.fault == FAULT_IRETQ_IS_NO_BRANCH && r->branch == BRANCH_FAR &&
				       opcode_of(m, r, &repeated) == 0xcf &&
				       broken(m, FAULT_IRETQ_IS_NO_BRANCH) ?
			       0 :
			       occurred;
	case EK_NEAR_RETURNS:
		return m->config.fault == FAULT_RET_IMM16_UNCOUNTED &&
				       opcode_of(m, r, &repeated) == 0xc2 &&
				       broken(m, FAULT_RET_IMM16_UNCOUNTED) ?
			       0 :
			       occurred;
	case EK_LOADS:
		return break_loads(m, r, occurred);
	case EK_SPLIT_LOADS:
		return occurred > 1 && broken(m, FAULT_REP_SPLITS_COUNT_ONCE) ? 1 : occurred;
	default:
		return occurred;
	}
}
