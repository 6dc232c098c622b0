/* SPDX-License-Identifier: MIT */
/* See visit.h: which instructions, and what they are to do. SDM volume 2, "Opcode Map". */
#include "refpmu/engine/dbt/code_fields.h"
#include "refpmu/engine/visit/visit.h"

#define PREFIX_FS	0x64

static u8 place(u8 reg)
{
	return (u8)(8 * reg);
}

/* Of an operand of one byte: AH to BH are the second bytes of their registers. */
static u8 place_of_byte(const struct code_fields *f, u8 reg)
{
	return !f->rex && reg >= 4 ? (u8)(8 * (reg - 4) + 1) : place(reg);
}

static u8 place_of(const struct code_fields *f, u8 reg)
{
	return f->what & FIELD_BYTE ? place_of_byte(f, reg) : place(reg);
}

static u8 width_of(const struct code_fields *f)
{
	if (f->what & FIELD_BYTE)
		return VISIT_8;
	if (f->rex & PREFIX_REX_W)
		return VISIT_64;
	if (f->operand_size)
		return VISIT_16;
	return (f->what & FIELD_WRITE) && f->mod != 3 ? VISIT_32_MEMORY : VISIT_32;
}

static u8 bytes_of(u8 width)
{
	static const u8 bytes[VISIT_WIDTHS] = { 1, 2, 4, 8, 4 };

	return bytes[width];
}

static void set_address(struct visit_insn *insn, const struct code_fields *f, u64 rip)
{
	insn->base = f->base == REG_NONE ? VISIT_ZERO : f->base;
	insn->index = f->index == REG_NONE ? VISIT_ZERO : f->index;
	insn->scale = f->scale;
	insn->address = (u64)(int64_t)f->displacement;
	if (f->rip_relative)
		insn->address += rip + f->length;
	if (f->segment)
		insn->segment = f->segment == PREFIX_FS ? 1 : 2;
}

/* The operand of ModRM: which of the two it is, and how wide. */
static void set_rm(struct visit_insn *insn, const struct code_fields *f, u64 which, u8 bytes,
		   u64 rip)
{
	u8 *at = which == PLACE_TO ? &insn->head.to : &insn->head.from;

	if (f->mod == 3) {
		*at = bytes == 1 ? place_of_byte(f, f->rm) : place(f->rm);
		return;
	}
	insn->head.place = (u8)(which | (f->what & FIELD_WRITE ? PLACE_WRITES : 0));
	insn->width = bytes;
	set_address(insn, f, rip);
	insn->head.loads = f->what & FIELD_READ ? 1 : 0;
	insn->head.stores = f->what & FIELD_WRITE ? 1 : 0;
}

static bool operate(struct visit_insn *insn, unsigned operation, u8 width)
{
	insn->head.kind = (u8)VISIT_KIND(operation, width);
	return true;
}

/* `operation` on ModRM's operand, with the other one of ModRM, or the immediate. */
static bool on_rm(struct visit_insn *insn, const struct code_fields *f, u64 rip,
		  unsigned operation)
{
	u8 width = width_of(f);

	set_rm(insn, f, PLACE_TO, bytes_of(width), rip);
	if (f->what & FIELD_REG)
		insn->head.from = place_of(f, f->reg);
	else
		insn->head.place |= PLACE_IMMEDIATE;
	return operate(insn, operation, width);
}

/* The other way round. */
static bool on_reg(struct visit_insn *insn, const struct code_fields *f, u64 rip,
		   unsigned operation)
{
	u8 width = width_of(f);

	set_rm(insn, f, PLACE_FROM, bytes_of(width), rip);
	insn->head.to = place_of(f, f->reg);
	return operate(insn, operation, width);
}

static bool on_register(struct visit_insn *insn, const struct code_fields *f, u8 reg,
			unsigned operation)
{
	insn->head.to = place_of(f, reg);
	insn->head.place = PLACE_IMMEDIATE;
	return operate(insn, operation, width_of(f));
}

static bool shift(struct visit_insn *insn, const struct code_fields *f, u64 rip)
{
	u8 operation = f->modrm >> 3 & 7;

	on_rm(insn, f, rip, VISIT_ROL + (operation == 7 ? 6u : operation));
	insn->immediate = f->opcode < 0xd0 ? insn->immediate : 1;
	if (f->opcode >= 0xd2) {
		insn->head.place &= (u8)~PLACE_IMMEDIATE;
		insn->head.from = place(REG_RCX);
	}
	return true;
}

static bool extend(struct visit_insn *insn, const struct code_fields *f, u64 rip)
{
	static const u8 kinds[2][2][3] = {	/* sign, from 16 bits; to 16, 32, 64 */
		{ { VISIT_ZERO_8_16, VISIT_ZERO_8_64, VISIT_ZERO_8_64 },
		  { VISIT_ZERO_16_16, VISIT_ZERO_16_64, VISIT_ZERO_16_64 } },
		{ { VISIT_SIGN_8_16, VISIT_SIGN_8_32, VISIT_SIGN_8_64 },
		  { VISIT_SIGN_16_16, VISIT_SIGN_16_32, VISIT_SIGN_16_64 } },
	};
	bool sign = f->opcode >= 0xbe, wide = f->opcode & 1;

	set_rm(insn, f, PLACE_FROM, wide ? 2 : 1, rip);
	insn->head.to = place(f->reg);
	insn->head.kind = kinds[sign][wide][width_of(f) - VISIT_16];
	return true;
}

/* By operand size: the first of three kinds. */
static bool convert(struct visit_insn *insn, const struct code_fields *f, u8 first)
{
	insn->head.kind = (u8)(first + width_of(f) - VISIT_16);
	return true;
}

/* What pushes, pops or branches has 64 bits. */
static bool simple(struct visit_insn *insn, const struct code_fields *f, u8 kind)
{
	insn->head.kind = kind;
	return !f->operand_size;
}

static bool push(struct visit_insn *insn, const struct code_fields *f)
{
	insn->head.stores = 1;
	return simple(insn, f, VISIT_PUSH);
}

static bool jump(struct visit_insn *insn, const struct code_fields *f, u64 rip, u8 kind,
		 enum model_branch branch)
{
	insn->branch = (u8)branch;
	insn->head.condition = f->opcode & 0xf;
	insn->head.place = PLACE_IMMEDIATE;
	insn->immediate += rip + f->length;
	insn->head.stores = kind == VISIT_CALL;
	return simple(insn, f, kind);
}

/* FEH and FFH. */
static bool group_5(struct visit_insn *insn, const struct code_fields *f, u64 rip)
{
	switch (f->modrm >> 3 & 7) {
	case 0:
		return on_rm(insn, f, rip, VISIT_INC);
	case 1:
		return on_rm(insn, f, rip, VISIT_DEC);
	case 2:
		set_rm(insn, f, PLACE_FROM, 8, rip);
		insn->branch = BRANCH_CALL;
		insn->head.stores = 1;
		return simple(insn, f, VISIT_CALL);
	case 4:
		set_rm(insn, f, PLACE_FROM, 8, rip);
		insn->branch = BRANCH_JUMP;
		return simple(insn, f, VISIT_JUMP);
	case 6:
		set_rm(insn, f, PLACE_FROM, 8, rip);
		return push(insn, f);
	default:
		return false;
	}
}

static bool two_bytes(struct visit_insn *insn, const struct code_fields *f, u64 rip)
{
	insn->head.condition = f->opcode & 0xf;
	switch (f->opcode) {
	case 0x1f:
		insn->head.kind = VISIT_NOP;
		return true;
	case 0x40 ... 0x4f:
		return on_reg(insn, f, rip, VISIT_CMOV);
	case 0x80 ... 0x8f:
		return jump(insn, f, rip, VISIT_CONDITIONAL, BRANCH_CONDITIONAL);
	case 0x90 ... 0x9f:
		set_rm(insn, f, PLACE_TO, 1, rip);
		insn->head.kind = VISIT_SET;
		return true;
	case 0xaf:
		return on_reg(insn, f, rip, VISIT_MULTIPLY);
	case 0xb6:
	case 0xb7:
	case 0xbe:
	case 0xbf:
		return extend(insn, f, rip);
	default:
		return false;
	}
}

static bool arithmetic(struct visit_insn *insn, const struct code_fields *f, u64 rip)
{
	unsigned operation = f->opcode >> 3;

	switch (f->opcode & 7) {
	case 0:
	case 1:
		return on_rm(insn, f, rip, operation);
	case 2:
	case 3:
		return on_reg(insn, f, rip, operation);
	default:
		return on_register(insn, f, REG_RAX, operation);
	}
}

static bool one_byte(struct visit_insn *insn, const struct code_fields *f, u64 rip)
{
	u8 low = (u8)((f->opcode & 7) | (f->rex & PREFIX_REX_B) << 3);

	switch (f->opcode) {
	case 0x00 ... 0x3f:
		return arithmetic(insn, f, rip);
	case 0x50 ... 0x57:
		insn->head.from = place(low);
		return push(insn, f);
	case 0x58 ... 0x5f:
		insn->head.to = place(low);
		insn->head.loads = 1;
		return simple(insn, f, VISIT_POP);
	case 0x63:
		set_rm(insn, f, PLACE_FROM, 4, rip);
		insn->head.to = place(f->reg);
		insn->head.kind = VISIT_SIGN_32_64;
		return f->rex & PREFIX_REX_W;
	case 0x68:
	case 0x6a:
		insn->head.place = PLACE_IMMEDIATE;
		return push(insn, f);
	case 0x69:
	case 0x6b:
		return on_reg(insn, f, rip, VISIT_MULTIPLY_BY);
	case 0x70 ... 0x7f:
		return jump(insn, f, rip, VISIT_CONDITIONAL, BRANCH_CONDITIONAL);
	case 0x80:
	case 0x81:
	case 0x83:
		return on_rm(insn, f, rip, f->modrm >> 3 & 7);
	case 0x84:
	case 0x85:
		return on_rm(insn, f, rip, VISIT_TEST);
	case 0x86:
	case 0x87:
		return on_rm(insn, f, rip, VISIT_XCHG);
	case 0x88:
	case 0x89:
		return on_rm(insn, f, rip, VISIT_MOV);
	case 0x8a:
	case 0x8b:
		return on_reg(insn, f, rip, VISIT_MOV);
	case 0x8d:
		set_address(insn, f, rip);
		insn->head.to = place(f->reg);
		insn->head.kind = f->rex & PREFIX_REX_W ? VISIT_LEA_64 : VISIT_LEA_32;
		return f->mod != 3 && !f->operand_size;
	case 0x90:
		insn->head.kind = VISIT_NOP;
		insn->head.from = place(low);
		return !low || operate(insn, VISIT_XCHG, width_of(f));
	case 0x98:
		return convert(insn, f, VISIT_CBW);
	case 0x99:
		return convert(insn, f, VISIT_CWD);
	case 0xa8:
	case 0xa9:
		return on_register(insn, f, REG_RAX, VISIT_TEST);
	case 0xb0 ... 0xbf:
		return on_register(insn, f, low, VISIT_MOV);
	case 0xc0:
	case 0xc1:
	case 0xd0 ... 0xd3:
		return shift(insn, f, rip);
	case 0xc3:
		insn->head.loads = 1;
		insn->branch = BRANCH_RETURN;
		return simple(insn, f, VISIT_RETURN);
	case 0xc6:
	case 0xc7:
		return on_rm(insn, f, rip, VISIT_MOV);
	case 0xc9:
		insn->head.loads = 1;
		return simple(insn, f, VISIT_LEAVE);
	case 0xe0 ... 0xe3:
		return jump(insn, f, rip, VISIT_COUNTED, BRANCH_CONDITIONAL);
	case 0xe8:
		return jump(insn, f, rip, VISIT_CALL, BRANCH_CALL);
	case 0xe9:
	case 0xeb:
		return jump(insn, f, rip, VISIT_JUMP, BRANCH_JUMP);
	case 0xf6:
	case 0xf7:
		return on_rm(insn, f, rip, (f->modrm >> 3 & 7) == 0 ? VISIT_TEST :
			     VISIT_NOT + (f->modrm >> 3 & 7u) - 2);
	case 0xfe:
	case 0xff:
		return group_5(insn, f, rip);
	default:
		return false;
	}
}

bool visit_decode(struct visit_insn *insn, u64 rip, const u8 *bytes)
{
	struct code_fields f;

	if (!code_fields_read(&f, bytes))
		return false;
	*insn = (struct visit_insn){
		.head.length = f.length,
		.immediate = (u64)code_fields_immediate(&f, bytes),
	};
	__builtin_memcpy(&insn->bytes[0], bytes, 8);
	if (f.length > 8)
		__builtin_memcpy(&insn->bytes[1], bytes + f.length - 8, 8);
	return f.map ? two_bytes(insn, &f, rip) : one_byte(insn, &f, rip);
}
