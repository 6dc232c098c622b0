/* SPDX-License-Identifier: MIT */
/*
 * See block_op.h. These aren't allowed in blocks, although it may seem possible: x87 instructions
 * (FXSAVE shows the address of the last one), REP strings of I/O or with 32-bit addresses, segment
 * loads, and all instructions that exit by themselves.
 */
#include "refpmu/engine/dbt/block_op.h"
#include "refpmu/model/bulk.h"

#define PREFIX_OPERAND_SIZE	0x66
#define PREFIX_ADDRESS_SIZE	0x67
#define PREFIX_FS		0x64
#define PREFIX_GS		0x65

static bool mnemonic_refused(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_SALC:
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
		return true;
	default:
		return false;
	}
}

static bool mnemonic_copied(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_LEAVE:
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_SFENCE:
	case ZYDIS_MNEMONIC_PAUSE:
	case ZYDIS_MNEMONIC_XLAT:
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_STR:
	case ZYDIS_MNEMONIC_SWAPGS:
	case ZYDIS_MNEMONIC_ENDBR32:
	case ZYDIS_MNEMONIC_ENDBR64:
		return true;
	default:
		return false;
	}
}

static bool category_copied(ZydisInstructionCategory category)
{
	switch (category) {
	case ZYDIS_CATEGORY_ADOX_ADCX:
	case ZYDIS_CATEGORY_AES:
	case ZYDIS_CATEGORY_AVX:
	case ZYDIS_CATEGORY_AVX2:
	case ZYDIS_CATEGORY_BINARY:
	case ZYDIS_CATEGORY_BITBYTE:
	case ZYDIS_CATEGORY_BLEND:
	case ZYDIS_CATEGORY_BMI1:
	case ZYDIS_CATEGORY_BMI2:
	case ZYDIS_CATEGORY_BROADCAST:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
	case ZYDIS_CATEGORY_CMOV:
	case ZYDIS_CATEGORY_CONVERT:
	case ZYDIS_CATEGORY_DATAXFER:
	case ZYDIS_CATEGORY_FLAGOP:
	case ZYDIS_CATEGORY_LOGICAL:
	case ZYDIS_CATEGORY_LOGICAL_FP:
	case ZYDIS_CATEGORY_LZCNT:
	case ZYDIS_CATEGORY_MMX:
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_PCLMULQDQ:
	case ZYDIS_CATEGORY_POP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_RDWRFSGS:
	case ZYDIS_CATEGORY_ROTATE:
	case ZYDIS_CATEGORY_SEMAPHORE:
	case ZYDIS_CATEGORY_SETCC:
	case ZYDIS_CATEGORY_SHA:
	case ZYDIS_CATEGORY_SHIFT:
	case ZYDIS_CATEGORY_SMAP:
	case ZYDIS_CATEGORY_SSE:
	case ZYDIS_CATEGORY_STRINGOP:
	case ZYDIS_CATEGORY_STTNI:
	case ZYDIS_CATEGORY_VFMA:
	case ZYDIS_CATEGORY_WIDENOP:
		return true;
	default:
		return false;
	}
}

/* Does it read or write segment, control or debug registers? */
static bool has_system_register(const ZydisDecodedInstruction *zi,
				const ZydisDecodedOperand *operands)
{
	for (unsigned i = 0; i < zi->operand_count; i++) {
		if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    operands[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			continue;
		switch (ZydisRegisterGetClass(operands[i].reg.value)) {
		case ZYDIS_REGCLASS_SEGMENT:
		case ZYDIS_REGCLASS_CONTROL:
		case ZYDIS_REGCLASS_DEBUG:
		case ZYDIS_REGCLASS_TEST:
			return true;
		default:
			break;
		}
	}
	return false;
}

static bool may_be_copied(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *operands)
{
	/* The model decides whether its lock is elided. */
	if (zi->attributes & ZYDIS_ATTRIB_HAS_XACQUIRE)
		return false;
	if (zi->meta.isa_ext == ZYDIS_ISA_EXT_X87 || mnemonic_refused(zi->mnemonic) ||
	    has_system_register(zi, operands))
		return false;
	return category_copied(zi->meta.category) || mnemonic_copied(zi->mnemonic);
}

/* Bit n: the instruction uses general register n, in any way and width. */
static u32 registers_used(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *operands)
{
	u32 used = 0;

	for (unsigned i = 0; i < zi->operand_count; i++) {
		const ZydisDecodedOperand *o = &operands[i];
		ZydisRegister reg[3] = { ZYDIS_REGISTER_NONE };

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			reg[0] = o->reg.value;
		} else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			reg[1] = o->mem.base;
			reg[2] = o->mem.index;
		}
		for (unsigned k = 0; k < 3; k++) {
			ZydisRegister
				whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
									 reg[k]);

			if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
				used |= 1u << (whole - ZYDIS_REGISTER_RAX);
		}
	}
	return used;
}

static u16 registers_changed(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *operands)
{
	u32 changed = 0;

	for (unsigned i = 0; i < zi->operand_count; i++) {
		ZydisRegister whole;

		if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
							 operands[i].reg.value);
		if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
			changed |= 1u << (whole - ZYDIS_REGISTER_RAX);
	}
	return (u16)changed;
}

static bool is_rip_relative(const ZydisDecodedInstruction *zi)
{
	return (zi->attributes & ZYDIS_ATTRIB_HAS_MODRM) && zi->raw.modrm.mod == 0 &&
	       zi->raw.modrm.rm == 5;
}

/* RSP and RBP can't replace RIP as a plain base register. */
static bool choose_scratch(struct block_op *op, u32 used)
{
	static const u8 candidates[] = { REG_RCX, REG_RAX, REG_RDX, REG_RBX, REG_RSI, REG_RDI };

	for (unsigned i = 0; i < sizeof(candidates); i++)
		if (!(used & 1u << candidates[i])) {
			op->scratch_register = candidates[i];
			return true;
		}
	return false;
}

/* REX.B and similar bits have no effect with RIP, but would have one with the register. In such a
 * case, and whenever the rewritten instruction isn't the same with another base, refuse. */
static bool rewritten_is_right(const ZydisDecoder *decoder, const struct block_op *op,
			       const ZydisDecodedInstruction *zi)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction now;
	u8 bytes[INSN_MAX_BYTES], length;

	length = block_op_rewrite(op, bytes);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, bytes, length, &now, operands)) ||
	    now.length != length || now.mnemonic != zi->mnemonic ||
	    now.operand_count != zi->operand_count)
		return false;
	for (unsigned i = 0; i < now.operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[i].mem.base ==
			    (ZydisRegister)(ZYDIS_REGISTER_RAX + op->scratch_register) &&
		    operands[i].mem.index == ZYDIS_REGISTER_NONE && operands[i].mem.disp.value == 0)
			return true;
	return false;
}

u8 block_op_rewrite(const struct block_op *op, u8 *to)
{
	u8 n = 0;

	for (u8 i = 0; i < op->length; i++) {
		if (i == op->modrm)
			to[n++] = (op->bytes[i] & 0x38) | op->scratch_register;
		else if (i < op->displacement || i >= op->displacement + 4)
			to[n++] = op->bytes[i];
	}
	return n;
}

static enum block_op_kind decode_copied(const ZydisDecoder *decoder, struct block_op *op,
					const ZydisDecodedInstruction *zi,
					const ZydisDecodedOperand *operands)
{
	if (!may_be_copied(zi, operands))
		return OP_REFUSED;
	if (!is_rip_relative(zi))
		return OP_COPY;
	if (zi->address_width != 64)
		return OP_REFUSED;
	op->modrm = zi->raw.modrm.offset;
	op->displacement = zi->raw.disp.offset;
	op->target = op->rip + op->length + (u64)zi->raw.disp.value;
	if (zi->mnemonic == ZYDIS_MNEMONIC_LEA) {
		op->scratch_register = decode_gpr_number(operands[0].reg.value);
		op->wide = zi->operand_width == 64;
		return zi->operand_width < 32 ? OP_REFUSED : OP_CONSTANT;
	}
	if (!choose_scratch(op, registers_used(zi, operands)) ||
	    !rewritten_is_right(decoder, op, zi))
		return OP_REFUSED;
	return OP_RIP_RELATIVE;
}

static bool has_prefix(const ZydisDecodedInstruction *zi, u8 prefix)
{
	for (unsigned i = 0; i < zi->raw.prefix_count; i++)
		if (zi->raw.prefixes[i].value == prefix)
			return true;
	return false;
}

static enum block_op_kind decode_indirect(struct block_op *op, const ZydisDecodedInstruction *zi,
					  enum block_op_kind kind)
{
	op->modrm = zi->raw.modrm.offset;
	op->rex = (zi->raw.rex.B & 1) | (u8)((zi->raw.rex.X & 1) << 1);
	op->prefix[0] = has_prefix(zi, PREFIX_GS) ? PREFIX_GS :
			has_prefix(zi, PREFIX_FS) ? PREFIX_FS :
						    0;
	op->prefix[1] = has_prefix(zi, PREFIX_ADDRESS_SIZE) ? PREFIX_ADDRESS_SIZE : 0;
	/* Of several segment prefixes the last one applies. */
	if (has_prefix(zi, PREFIX_GS) && has_prefix(zi, PREFIX_FS))
		return OP_REFUSED;
	op->rip_relative = is_rip_relative(zi);
	if (op->rip_relative) {
		if (op->prefix[1])
			return OP_REFUSED;
		op->target = op->rip + op->length + (u64)zi->raw.disp.value;
	}
	return kind;
}

static enum block_op_kind decode_branch(struct block_op *op, const ZydisDecodedInstruction *zi,
					const ZydisDecodedOperand *operands)
{
	bool relative = operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	/* Processors differ in the effect of an operand size prefix here. */
	if (has_prefix(zi, PREFIX_OPERAND_SIZE))
		return OP_REFUSED;
	if (relative)
		op->target = op->rip + op->length + (u64)zi->raw.imm[0].value.s;
	switch (op->branch) {
	case BRANCH_CONDITIONAL:
		op->condition = zi->opcode & 0xf;
		if (zi->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && zi->opcode >> 4 == 0xe)
			return OP_COUNTED;
		return OP_CONDITIONAL;
	case BRANCH_JUMP:
		return relative ? OP_JUMP : decode_indirect(op, zi, OP_JUMP_INDIRECT);
	case BRANCH_CALL:
		return relative ? OP_CALL : decode_indirect(op, zi, OP_CALL_INDIRECT);
	case BRANCH_RETURN:
		op->release = zi->raw.imm[0].size ? (u16)zi->raw.imm[0].value.u : 0;
		return OP_RETURN;
	default:
		return OP_REFUSED;
	}
}

static void count_accesses(struct block_op *op, const struct instruction *insn)
{
	for (unsigned i = 0; i < insn->n_access; i++) {
		op->loads = (u8)(op->loads + insn->access[i].load);
		op->stores = (u8)(op->stores + insn->access[i].store);
		op->locked = (u8)(op->locked + (insn->access[i].load && insn->locked));
	}
}

void block_op_decode(const ZydisDecoder *decoder, struct block_op *op, u64 rip, const u8 *bytes,
		     unsigned available)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	struct instruction insn = { .linear = rip, .rip = rip, .mode = 64 };
	ZydisDecodedInstruction zi;

	*op = (struct block_op){ .kind = OP_REFUSED, .rip = rip };
	if (!available ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, bytes, available, &zi, operands)))
		return;
	op->length = zi.length;
	__builtin_memcpy(op->bytes, bytes, zi.length);
	decode_fill(&insn, &zi, operands);
	op->branch = (u8)insn.branch;
	op->changes = registers_changed(&zi, operands);
	count_accesses(op, &insn);
	if (insn.incomplete || op->loads > MODEL_BULK_ACCESSES || op->stores > MODEL_BULK_ACCESSES)
		return;
	op->shadow = insn.kind == INSN_STI;
	if (insn.kind == INSN_POPF)
		op->kind = zi.operand_width == 64 ? OP_POPF : OP_REFUSED;
	else if (insn.kind == INSN_REP)
		op->kind = zi.meta.category == ZYDIS_CATEGORY_STRINGOP && zi.address_width == 64 ?
				   OP_REP :
				   OP_REFUSED;
	else if (insn.branch != BRANCH_NONE)
		op->kind = decode_branch(op, &zi, operands);
	else if (insn.kind == INSN_PLAIN || insn.kind == INSN_PUSHF || insn.kind == INSN_PAUSE ||
		 insn.kind == INSN_STI || insn.kind == INSN_RDTSC || insn.kind == INSN_STR)
		op->kind = decode_copied(decoder, op, &zi, operands);
}
