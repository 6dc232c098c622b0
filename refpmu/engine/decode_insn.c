/* SPDX-License-Identifier: MIT */
/*
 * See decode_insn.h. Accesses are those of the operands. Some operands that the decoder calls a
 * read aren't counted by the processor; these are removed by category and name.
 */
#include "refpmu/engine/decode_insn.h"

u8 decode_gpr_number(ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8:
		return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH ?
			       REG_NONE :
			       (u8)(ZydisRegisterGetId(
				       ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
									reg)));
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		return (u8)ZydisRegisterGetId(reg);
	default:
		return REG_NONE;
	}
}

static bool is_stack_pointer(ZydisRegister reg)
{
	return decode_gpr_number(reg) == REG_RSP;
}

static u64 width_mask(unsigned bits)
{
	return bits >= 64 ? ~0ULL : BIT(bits) - 1;
}

/* Instructions whose memory operand isn't accessed, or isn't counted as an access. */
static bool touches_no_memory(const ZydisDecodedInstruction *zi)
{
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
		return true;
	default:
		break;
	}
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CLFLUSHOPT:
	case ZYDIS_MNEMONIC_CLWB:
	case ZYDIS_MNEMONIC_CLDEMOTE:
	case ZYDIS_MNEMONIC_INVLPG:
	/* An event pushed its frame, and that counts as no stores. */
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
		return true;
	default:
		return false;
	}
}

static enum memory_act act_of(const ZydisDecodedInstruction *zi,
			      const ZydisDecodedOperand *operands)
{
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_PREFETCHT0:
	case ZYDIS_MNEMONIC_PREFETCHNTA:
		return ACT_PREFETCH_L1;
	case ZYDIS_MNEMONIC_PREFETCHT1:
	case ZYDIS_MNEMONIC_PREFETCHT2:
		return ACT_PREFETCH_L2;
	case ZYDIS_MNEMONIC_PREFETCHW:
		return ACT_PREFETCH_OWN;
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CLFLUSHOPT:
		return ACT_FLUSH_LINE;
	case ZYDIS_MNEMONIC_CLWB:
		return ACT_CLEAN_LINE;
	case ZYDIS_MNEMONIC_WBINVD:
	case ZYDIS_MNEMONIC_INVD:
		return ACT_FLUSH_ALL;
	case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_WRMSR:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
		return ACT_DRAIN;
	case ZYDIS_MNEMONIC_INVLPG:
		return ACT_INVALIDATE_PAGE;
	case ZYDIS_MNEMONIC_INVPCID:
		return ACT_FLUSH_TLB;
	case ZYDIS_MNEMONIC_MOV:
		if (operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
			return ACT_NONE;
		if (operands[0].reg.value == ZYDIS_REGISTER_CR3)
			return ACT_LOAD_CR3;
		return operands[0].reg.value == ZYDIS_REGISTER_CR0 ||
				       operands[0].reg.value == ZYDIS_REGISTER_CR4 ?
			       ACT_FLUSH_TLB :
			       ACT_NONE;
	default:
		return ACT_NONE;
	}
}

static void add_access(struct instruction *insn, const struct insn_access *access)
{
	if (insn->n_access == INSN_MAX_ACCESSES) {
		insn->incomplete = true;
		return;
	}
	insn->access[insn->n_access++] = *access;
}

struct insn_access decode_operand(const struct instruction *insn, const ZydisDecodedInstruction *zi,
				  const ZydisDecodedOperand *o)
{
	bool hidden = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	struct insn_access a = {
		.base = decode_gpr_number(o->mem.base),
		.index = decode_gpr_number(o->mem.index),
		.scale = o->mem.scale,
		.segment = (u8)(o->mem.segment - ZYDIS_REGISTER_ES),
		.load = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ,
		.store = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE,
		.bytes = (u16)(o->size / 8),
		.displacement = (u64)o->mem.disp.value,
		.mask = width_mask(hidden && is_stack_pointer(o->mem.base) ? zi->stack_width :
									     zi->address_width),
	};

	if (ZydisRegisterGetClass(o->mem.base) == ZYDIS_REGCLASS_IP)
		a.displacement += insn->rip + insn->length;
	return a;
}

static void decode_memory(struct instruction *insn, const ZydisDecodedInstruction *zi,
			  const ZydisDecodedOperand *operands, const ZydisDecodedOperand *o)
{
	bool hidden = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	struct insn_access a = decode_operand(insn, zi, o);
	unsigned repeat = 1;

	if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
		insn->incomplete = true;
		return;
	}
	if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM || (!a.load && !a.store))
		return;
	if (hidden && is_stack_pointer(o->mem.base) && a.store)
		a.form = FORM_PUSH;
	else if (!hidden && is_stack_pointer(o->mem.base) && zi->mnemonic == ZYDIS_MNEMONIC_POP)
		a.form = FORM_POP_TARGET;

	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_XLAT:
		a.index = REG_RAX;
		a.scale = 1;
		a.index_is_byte = true;
		break;
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
		if (operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
			a.form = FORM_BIT_STRING;
			a.bit_register = decode_gpr_number(operands[1].reg.value);
		}
		break;
	case ZYDIS_MNEMONIC_ENTER:
		insn->incomplete = zi->raw.imm[1].value.u & 31;
		break;
	case ZYDIS_MNEMONIC_PUSHA:
	case ZYDIS_MNEMONIC_PUSHAD:
	case ZYDIS_MNEMONIC_POPA:
	case ZYDIS_MNEMONIC_POPAD:
		repeat = 8;
		a.bytes = (u16)(a.bytes / 8);
		break;
	default:
		break;
	}
	for (unsigned i = 0; i < repeat; i++) {
		add_access(insn, &a);
		a.displacement += a.form == FORM_PUSH ? 0ULL - a.bytes : a.bytes;
	}
}

/* A selector is stored in a register. POP has a second operand, the stack. */
static bool stores_segment(const ZydisDecodedOperand *operands)
{
	return operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ZydisRegisterGetClass(operands[1].reg.value) == ZYDIS_REGCLASS_SEGMENT;
}

static enum insn_kind kind_of(const ZydisDecodedInstruction *zi,
			      const ZydisDecodedOperand *operands)
{
	if (zi->attributes &
	    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		return INSN_REP;

	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFD:
	case ZYDIS_MNEMONIC_PUSHFQ:
		return INSN_PUSHF;
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFD:
	case ZYDIS_MNEMONIC_POPFQ:
		return INSN_POPF;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
		return INSN_IRET;
	case ZYDIS_MNEMONIC_RET:
		return zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR && zi->operand_width == 64 &&
				       !zi->raw.imm[0].size ?
			       INSN_FAR_RETURN :
			       INSN_PLAIN;
	case ZYDIS_MNEMONIC_STI:
		return INSN_STI;
	case ZYDIS_MNEMONIC_HLT:
		return INSN_HLT;
	case ZYDIS_MNEMONIC_PAUSE:
		return INSN_PAUSE;
	case ZYDIS_MNEMONIC_MWAIT:
		return INSN_MWAIT;
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT3:
		return INSN_INT;
	case ZYDIS_MNEMONIC_SYSCALL:
		return INSN_SYSCALL;
	case ZYDIS_MNEMONIC_SYSRET:
		return INSN_SYSRET;
	case ZYDIS_MNEMONIC_LSS:
		return INSN_LOAD_SS;
	case ZYDIS_MNEMONIC_XBEGIN:
		return INSN_XBEGIN;
	case ZYDIS_MNEMONIC_XEND:
		return INSN_XEND;
	case ZYDIS_MNEMONIC_XABORT:
		return INSN_XABORT;
	case ZYDIS_MNEMONIC_XTEST:
		return INSN_XTEST;
	case ZYDIS_MNEMONIC_INVLPG:
		return INSN_INVLPG;
	case ZYDIS_MNEMONIC_INVPCID:
		return INSN_INVPCID;
	case ZYDIS_MNEMONIC_CPUID:
		return INSN_CPUID;
	case ZYDIS_MNEMONIC_RDMSR:
		return INSN_RDMSR;
	case ZYDIS_MNEMONIC_WRMSR:
		return INSN_WRMSR;
	case ZYDIS_MNEMONIC_RDPMC:
		return INSN_RDPMC;
	case ZYDIS_MNEMONIC_VMMCALL:
		return INSN_VMMCALL;
	case ZYDIS_MNEMONIC_RDTSC:
		return INSN_RDTSC;
	case ZYDIS_MNEMONIC_STR:
		return operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? INSN_STR : INSN_PLAIN;
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_POP:
		for (unsigned i = 0; i < 2; i++) {
			if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
				continue;
			if (operands[i].reg.value == ZYDIS_REGISTER_SS && i == 0)
				return INSN_MOV_SS;
			if (operands[i].reg.value == ZYDIS_REGISTER_CR8)
				return INSN_MOV_CR8;
			if (operands[i].reg.value == ZYDIS_REGISTER_CR2 && i)
				return INSN_STORE_CR2;
			if (operands[i].reg.value == ZYDIS_REGISTER_CR3)
				return i ? INSN_STORE_CR3 : INSN_LOAD_CR3;
			if (operands[i].reg.value == ZYDIS_REGISTER_CR0 && i == 0)
				return INSN_LOAD_CR0;
			if (operands[i].reg.value == ZYDIS_REGISTER_CR4 && i == 0)
				return INSN_LOAD_CR4;
		}
		return stores_segment(operands) ? INSN_STORE_SEGMENT : INSN_PLAIN;
	default:
		return INSN_PLAIN;
	}
}

/* The decoder calls these instructions branches, but not XTEST. */
static bool is_no_branch_here(enum insn_kind kind)
{
	return kind == INSN_XBEGIN || kind == INSN_XEND || kind == INSN_XABORT;
}

static enum model_branch branch_of(const ZydisDecodedInstruction *zi)
{
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return BRANCH_CONDITIONAL;
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
		return BRANCH_FAR;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? BRANCH_FAR : BRANCH_JUMP;
	case ZYDIS_CATEGORY_CALL:
		return zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? BRANCH_FAR : BRANCH_CALL;
	case ZYDIS_CATEGORY_RET:
		if (zi->mnemonic != ZYDIS_MNEMONIC_RET)
			return BRANCH_FAR;		/* IRET */
		return zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? BRANCH_FAR : BRANCH_RETURN;
	default:
		return BRANCH_NONE;
	}
}

/* MOV m32, r32 and MOV m32, imm32. */
static void find_store32(struct instruction *insn, const ZydisDecodedInstruction *zi,
			 const ZydisDecodedOperand *operands)
{
	if (zi->mnemonic != ZYDIS_MNEMONIC_MOV || insn->n_access != 1 || !insn->access[0].store ||
	    insn->access[0].bytes != 4)
		return;
	if (operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
		insn->store_register = decode_gpr_number(operands[1].reg.value);
	else if (operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		insn->store_immediate = (u32)operands[1].imm.value.u;
	else
		return;
	insn->store32 = true;
}

/* Put loads before stores: the decoder lists the destination of MOVS first. */
static void order_accesses(struct instruction *insn)
{
	struct insn_access first;

	if (insn->n_access == 2 && !insn->access[0].load && insn->access[1].load) {
		first = insn->access[0];
		insn->access[0] = insn->access[1];
		insn->access[1] = first;
	}
}

/* Sums, products, comparisons and similar operations; not moves, conversions and shuffles. */
static enum model_arithmetic arithmetic_of(const ZydisDecodedInstruction *zi,
					   const ZydisDecodedOperand *operands)
{
#define FLOATING(operation) \
	case ZYDIS_MNEMONIC_##operation##PS: \
		return ARITHMETIC_PACKED_SP; \
	case ZYDIS_MNEMONIC_##operation##PD: \
		return ARITHMETIC_PACKED_DP; \
	case ZYDIS_MNEMONIC_##operation##SS: \
		return ARITHMETIC_SCALAR_SP; \
	case ZYDIS_MNEMONIC_##operation##SD: \
		return ARITHMETIC_SCALAR_DP;
	switch (zi->mnemonic) {
		FLOATING(ADD)
		FLOATING(SUB)
		FLOATING(MUL)
		FLOATING(DIV)
		FLOATING(SQRT)
		FLOATING(MIN)
		FLOATING(MAX)
	case ZYDIS_MNEMONIC_PADDB:
	case ZYDIS_MNEMONIC_PADDW:
	case ZYDIS_MNEMONIC_PADDD:
	case ZYDIS_MNEMONIC_PADDQ:
	case ZYDIS_MNEMONIC_PSUBB:
	case ZYDIS_MNEMONIC_PSUBW:
	case ZYDIS_MNEMONIC_PSUBD:
	case ZYDIS_MNEMONIC_PSUBQ:
	case ZYDIS_MNEMONIC_PMULLW:
	case ZYDIS_MNEMONIC_PMULHW:
	case ZYDIS_MNEMONIC_PMADDWD:
	case ZYDIS_MNEMONIC_PAND:
	case ZYDIS_MNEMONIC_POR:
	case ZYDIS_MNEMONIC_PXOR:
		return ZydisRegisterGetClass(operands[0].reg.value) == ZYDIS_REGCLASS_MMX ?
			       ARITHMETIC_MMX_64 :
			       ARITHMETIC_MMX_128;
	case ZYDIS_MNEMONIC_FADD:
	case ZYDIS_MNEMONIC_FADDP:
	case ZYDIS_MNEMONIC_FSUB:
	case ZYDIS_MNEMONIC_FSUBP:
	case ZYDIS_MNEMONIC_FSUBR:
	case ZYDIS_MNEMONIC_FSUBRP:
	case ZYDIS_MNEMONIC_FMUL:
	case ZYDIS_MNEMONIC_FMULP:
	case ZYDIS_MNEMONIC_FDIV:
	case ZYDIS_MNEMONIC_FDIVP:
	case ZYDIS_MNEMONIC_FDIVR:
	case ZYDIS_MNEMONIC_FDIVRP:
	case ZYDIS_MNEMONIC_FSQRT:
	case ZYDIS_MNEMONIC_FCHS:
	case ZYDIS_MNEMONIC_FABS:
		return ARITHMETIC_X87;
	default:
		return ARITHMETIC_NONE;
	}
#undef FLOATING
}

void decode_fill(struct instruction *insn, const ZydisDecodedInstruction *zi,
		 const ZydisDecodedOperand *operands)
{
	insn->length = zi->length;
	insn->kind = kind_of(zi, operands);
	insn->branch = is_no_branch_here(insn->kind) ? BRANCH_NONE : branch_of(zi);
	insn->indirect = (insn->branch == BRANCH_JUMP || insn->branch == BRANCH_CALL) &&
			 !zi->raw.imm[0].is_relative;
	insn->backward = insn->branch == BRANCH_CONDITIONAL && zi->raw.imm[0].value.s < 0;
	insn->store_register = REG_NONE;
	insn->selector_register = REG_NONE;
	insn->operand_bytes = (u8)(zi->operand_width / 8);
	insn->count_mask = width_mask(zi->address_width);
	insn->is_pop = zi->mnemonic == ZYDIS_MNEMONIC_POP;
	insn->act = act_of(zi, operands);
	insn->arithmetic = arithmetic_of(zi, operands);
	insn->port = zi->meta.category == ZYDIS_CATEGORY_IO ||
		     zi->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
	for (unsigned i = 0; i < zi->operand_count; i++) {
		if (operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (!touches_no_memory(zi))
			decode_memory(insn, zi, operands, &operands[i]);
		else if (insn->act)
			insn->act_operand = decode_operand(insn, zi, &operands[i]);
	}
	insn->locked = (zi->attributes & ZYDIS_ATTRIB_HAS_LOCK) ||
		       (zi->mnemonic == ZYDIS_MNEMONIC_XCHG && insn->n_access);
	if (insn->n_access == 1 && insn->access[0].store)
		insn->elision = zi->attributes & ZYDIS_ATTRIB_HAS_XACQUIRE ? ELISION_XACQUIRE :
				zi->attributes & ZYDIS_ATTRIB_HAS_XRELEASE ? ELISION_XRELEASE :
									     ELISION_NONE;
	if (insn->kind == INSN_INT)
		insn->vector = zi->mnemonic == ZYDIS_MNEMONIC_INT3 ? 3 : (u8)zi->raw.imm[0].value.u;
	if (insn->kind == INSN_XBEGIN || insn->kind == INSN_XABORT)
		insn->immediate = (int32_t)zi->raw.imm[0].value.s;
	if (insn->kind == INSN_MOV_SS && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
		insn->selector_register = decode_gpr_number(operands[1].reg.value);
	if (insn->kind == INSN_LOAD_CR0 || insn->kind == INSN_LOAD_CR3 ||
	    insn->kind == INSN_LOAD_CR4)
		insn->operand_register = decode_gpr_number(operands[1].reg.value);
	else if (insn->kind == INSN_STORE_CR2 || insn->kind == INSN_STORE_CR3 ||
		 insn->kind == INSN_STORE_SEGMENT || insn->kind == INSN_STR)
		insn->operand_register = decode_gpr_number(operands[0].reg.value);
	order_accesses(insn);
	find_store32(insn, zi, operands);
}

bool decode_condition(const struct instruction *insn, const u64 gpr[REG_COUNT], u64 flags)
{
	u64 count = gpr[REG_RCX];
	bool carry = flags & BIT(0), parity = flags & BIT(2), zero = flags & BIT(6);
	bool sign = flags & BIT(7), overflow = flags & BIT(11), holds;
	unsigned at = 0;
	u8 opcode;

	/* The opcode follows prefixes: REX, operand and address size, branch hints, BND. */
	for (at = 0; at + 1u < insn->length; at++) {
		u8 b = insn->bytes[at];

		if (!(b == 0x66 || b == 0x67 || b == 0x2e || b == 0x3e || b == 0xf2 || b == 0xf3 ||
		      b == 0x26 || b == 0x36 || b == 0x64 || b == 0x65 ||
		      (insn->mode == 64 && (b & 0xf0) == 0x40)))
			break;
	}
	opcode = insn->bytes[at] == 0x0f ? insn->bytes[at + 1] : insn->bytes[at];
	count &= insn->count_mask;
	switch (insn->bytes[at]) {
	case 0xe0:
		return ((count - 1) & insn->count_mask) && !zero;
	case 0xe1:
		return ((count - 1) & insn->count_mask) && zero;
	case 0xe2:
		return (count - 1) & insn->count_mask;
	case 0xe3:
		return !count;
	default:
		break;
	}
	switch (opcode >> 1 & 7) {
	case 0:
		holds = overflow;
		break;
	case 1:
		holds = carry;
		break;
	case 2:
		holds = zero;
		break;
	case 3:
		holds = carry || zero;
		break;
	case 4:
		holds = sign;
		break;
	case 5:
		holds = parity;
		break;
	case 6:
		holds = sign != overflow;
		break;
	default:
		holds = zero || sign != overflow;
		break;
	}
	return holds != (opcode & 1);
}

/* BT, BTS, BTR and BTC access the element that holds the bit, relative to the operand's address. */
static u64 bit_string_offset(const struct insn_access *access, const u64 gpr[REG_COUNT])
{
	unsigned shift = access->bytes == 8 ? 6 : access->bytes == 4 ? 5 : 4;
	u64 bit = gpr[access->bit_register];
	int64_t offset = access->bytes == 8 ? (int64_t)bit :
			 access->bytes == 4 ? (int32_t)bit :
					      (int16_t)bit;

	return (u64)(offset >> shift) * access->bytes;
}

u64 decode_effective(const struct insn_access *access, const u64 gpr[REG_COUNT])
{
	u64 address = access->displacement;

	if (access->base != REG_NONE)
		address += gpr[access->base];
	if (access->index_is_byte)
		address += (u8)gpr[REG_RAX];
	else if (access->index != REG_NONE)
		address += gpr[access->index] * access->scale;
	if (access->form == FORM_PUSH)
		address -= access->bytes;
	else if (access->form == FORM_POP_TARGET)
		address += access->bytes;
	else if (access->form == FORM_BIT_STRING)
		address += bit_string_offset(access, gpr);
	return address & access->mask;
}
