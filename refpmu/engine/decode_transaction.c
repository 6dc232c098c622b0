/* SPDX-License-Identifier: MIT */
/*
 * Which instructions abort a transaction: SDM volume 1, "Programming Considerations", "Instruction
 * Based Considerations". Instructions that "may always cause" an abort in some implementations
 * always do so here.
 */
#include "refpmu/engine/decode_insn.h"

static bool category_unfriendly(ZydisInstructionCategory category)
{
	switch (category) {
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_SEGOP:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
		return true;
	default:
		return false;
	}
}

/* Unfriendly instructions of friendly categories, and friendly instructions of the categories
 * above. */
static bool mnemonic_decides(ZydisMnemonic mnemonic, bool *unfriendly)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_PAUSE:
	case ZYDIS_MNEMONIC_CLI:
	case ZYDIS_MNEMONIC_STI:
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFD:
	case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_WRFSBASE:
	case ZYDIS_MNEMONIC_WRGSBASE:
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CLFLUSHOPT:
	case ZYDIS_MNEMONIC_MOVNTDQA:
	case ZYDIS_MNEMONIC_MOVNTDQ:
	case ZYDIS_MNEMONIC_MOVNTI:
	case ZYDIS_MNEMONIC_MOVNTPD:
	case ZYDIS_MNEMONIC_MOVNTPS:
	case ZYDIS_MNEMONIC_MOVNTQ:
	case ZYDIS_MNEMONIC_VMOVNTDQA:
	case ZYDIS_MNEMONIC_VMOVNTDQ:
	case ZYDIS_MNEMONIC_VMOVNTPD:
	case ZYDIS_MNEMONIC_VMOVNTPS:
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
	case ZYDIS_MNEMONIC_VZEROUPPER:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_MONITOR:
	case ZYDIS_MNEMONIC_MWAIT:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_GETSEC:
		*unfriendly = true;
		return true;
	case ZYDIS_MNEMONIC_RDPMC:
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_SMSW:
	case ZYDIS_MNEMONIC_XGETBV:
		*unfriendly = false;
		return true;
	default:
		return false;
	}
}

/* MOV and POP to segment registers, to control and debug registers. */
static bool writes_system_register(const ZydisDecodedInstruction *zi,
				   const ZydisDecodedOperand *operands)
{
	for (unsigned i = 0; i < zi->operand_count; i++) {
		if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    operands[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN ||
		    !(operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		switch (ZydisRegisterGetClass(operands[i].reg.value)) {
		case ZYDIS_REGCLASS_SEGMENT:
		case ZYDIS_REGCLASS_CONTROL:
		case ZYDIS_REGCLASS_DEBUG:
			return true;
		default:
			break;
		}
	}
	return false;
}

/* MOV from control registers is in the system category, but is friendly. */
static bool reads_control_register(const ZydisDecodedInstruction *zi,
				   const ZydisDecodedOperand *operands)
{
	return zi->mnemonic == ZYDIS_MNEMONIC_MOV &&
	       operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ZydisRegisterGetClass(operands[1].reg.value) == ZYDIS_REGCLASS_CONTROL;
}

bool decode_unfriendly(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *operands)
{
	bool unfriendly;

	if (mnemonic_decides(zi->mnemonic, &unfriendly))
		return unfriendly;
	return (category_unfriendly(zi->meta.category) && !reads_control_register(zi, operands)) ||
	       zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
	       zi->meta.isa_ext == ZYDIS_ISA_EXT_X87 || zi->meta.isa_ext == ZYDIS_ISA_EXT_MMX ||
	       writes_system_register(zi, operands);
}
