/* SPDX-License-Identifier: MIT */
/*
 * See block_op.h: decodes the encodings of code_fields.h for blocks, without Zydis.
 * host/engine/test_fast_decode.c compares the results with those of Zydis, for arbitrary bytes.
 */
#include "refpmu/engine/dbt/block_op.h"
#include "refpmu/engine/dbt/code_fields.h"

_Static_assert(INSN_ROOM >= CODE_FIELDS_ROOM, "all that is looked at");

static bool branch(struct block_op *op, const struct code_fields *f, enum block_op_kind kind,
		   enum model_branch is)
{
	op->kind = kind;
	op->branch = (u8)is;
	op->condition = kind == OP_CONDITIONAL ? f->opcode & 0xf : 0;
	op->target = op->rip + op->length + (u64)code_fields_immediate(f, op->bytes);
	return !f->operand_size;
}

static bool ret(struct block_op *op, const struct code_fields *f)
{
	op->loads = 1;
	op->kind = OP_RETURN;
	op->branch = BRANCH_RETURN;
	return !f->operand_size;
}

/* Properties that the table doesn't have. */
static bool special(struct block_op *op, const struct code_fields *f)
{
	u8 low = (u8)((f->opcode & 7) | (f->rex & PREFIX_REX_B) << 3);

	if (f->map) {
		if (f->opcode >= 0x80 && f->opcode <= 0x8f)
			return branch(op, f, OP_CONDITIONAL, BRANCH_CONDITIONAL);
		return f->opcode == 0x1f && !(f->modrm & 0x38) && !f->rip_relative;
	}
	switch (f->opcode) {
	case 0x50 ... 0x57:
	case 0x68:
	case 0x6a:
		op->stores = 1;
		return !f->operand_size;
	case 0x58 ... 0x5f:
		op->loads = 1;
		op->changes |= (u16)(1u << low);
		return !f->operand_size;
	case 0x63:
		return f->rex & PREFIX_REX_W;
	case 0x70 ... 0x7f:
		return branch(op, f, OP_CONDITIONAL, BRANCH_CONDITIONAL);
	case 0xe0 ... 0xe3:		/* LOOP, JRCXZ */
		return false;
	case 0xe9:
	case 0xeb:
		return branch(op, f, OP_JUMP, BRANCH_JUMP);
	case 0xe8:
		op->stores = 1;
		return branch(op, f, OP_CALL, BRANCH_CALL);
	case 0xc3:
		return ret(op, f);
	case 0xc9:
		op->loads = 1;
		return !f->operand_size;
	case 0x8d:
		return f->mod != 3 && !f->operand_size;
	case 0x90:
		if (low)
			op->changes |= (u16)(BIT(REG_RAX) | 1u << low);
		return true;
	case 0xb0 ... 0xb7:
		op->changes |= (u16)(1u << code_fields_whole(f, low));
		return true;
	case 0xb8 ... 0xbf:
		op->changes |= (u16)(1u << low);
		return true;
	case 0xff:
		/* PUSH; indirect branches need more than this. */
		if ((f->modrm >> 3 & 7) >= 2)
			op->stores = 1;
		return (f->modrm >> 3 & 7) < 2 || ((f->modrm >> 3 & 7) == 6 && !f->operand_size);
	default:
		return true;		/* an instruction of a group */
	}
}

/* Borrow the first register that the instruction doesn't use. */
static bool relative(struct block_op *op, const struct code_fields *f)
{
	static const u8 candidates[] = { REG_RCX, REG_RAX };
	u32 used = f->what & FIELD_REG ? 1u << code_fields_whole(f, f->reg) : 0;

	if (f->rex & (PREFIX_REX_B | PREFIX_REX_X))
		return false;
	/* Shifts by CL. */
	if (!f->map && (f->opcode == 0xd2 || f->opcode == 0xd3))
		used |= BIT(REG_RCX);
	op->modrm = f->modrm_at;
	op->displacement = (u8)(f->modrm_at + 1);
	op->target = op->rip + op->length + (u64)(int64_t)f->displacement;
	if (f->opcode == 0x8d && !f->map) {
		op->kind = OP_CONSTANT;
		op->scratch_register = f->reg;
		op->wide = f->rex & PREFIX_REX_W;
		return true;
	}
	op->kind = OP_RIP_RELATIVE;
	op->scratch_register = used & 1u << candidates[0] ? candidates[1] : candidates[0];
	return true;
}

static void operands(struct block_op *op, const struct code_fields *f)
{
	if (f->mod != 3) {
		op->loads = f->what & FIELD_READ ? 1 : 0;
		op->stores = f->what & FIELD_WRITE ? 1 : 0;
	} else if (f->what & FIELD_WRITE) {
		op->changes |= (u16)(1u << code_fields_whole(f, f->rm));
	}
	if (f->what & FIELD_CHANGES)
		op->changes |= (u16)(1u << code_fields_whole(f, f->reg));
}

bool block_op_fast(struct block_op *op, u64 rip, const u8 *bytes)
{
	struct code_fields f;

	if (!code_fields_read(&f, bytes))
		return false;
	*op = (struct block_op){ .kind = OP_COPY, .rip = rip, .length = f.length };
	__builtin_memcpy(op->bytes, bytes, INSN_ROOM);
	if (f.what & FIELD_MODRM)
		operands(op, &f);
	if (f.what & FIELD_RAX)
		op->changes |= BIT(REG_RAX);
	if (f.what & FIELD_RDX)
		op->changes |= BIT(REG_RDX);
	if (f.what & FIELD_SPECIAL && !special(op, &f))
		return false;
	op->frees_flags = (f.what & FIELD_FLAGS) && !op->loads && !op->stores;
	return !f.rip_relative || relative(op, &f);
}
