/* SPDX-License-Identifier: MIT */
/*
 * See block_op.h: the encodings that most code consists of, without Zydis, which takes ten times as
 * long. SDM volume 2, "Instruction Format", "Opcode Map". No prefix but 66H and REX; no vector
 * instruction; nothing that blocks refuse. What this says is compared with what Zydis says for any
 * bytes in host/engine/test_fast_decode.c.
 */
#include "refpmu/block_op.h"

#define PREFIX_OPERAND_SIZE	0x66
#define TWO_BYTES		0x0f
#define REX_W			8
#define REX_R			4
#define REX_X			2
#define REX_B			1

/* What an opcode has. */
enum {
	KNOWN	= 1,
	MODRM	= 2,
	IMM8	= 4,
	IMMZ	= 8,		/* 16 or 32 bits */
	READ	= 16,		/* the operand of ModRM, if it is memory */
	WRITE	= 32,		/* it, memory or not */
	REG	= 64,		/* the other operand of ModRM is a general register, */
	CHANGES	= 128,		/* which is written */
	BYTE	= 256,		/* operands of one byte */
	FLAGS	= 512,		/* all arithmetic flags are written and none is read */
	RAX	= 1024,		/* RAX is written */
	SPECIAL	= 2048,		/* see special() and group() */
};

#define ALU(op, flags) \
	[(op)] = KNOWN | MODRM | READ | WRITE | REG | BYTE | (flags), \
	[(op) + 1] = KNOWN | MODRM | READ | WRITE | REG | (flags), \
	[(op) + 2] = KNOWN | MODRM | READ | REG | CHANGES | BYTE | (flags), \
	[(op) + 3] = KNOWN | MODRM | READ | REG | CHANGES | (flags), \
	[(op) + 4] = KNOWN | IMM8 | RAX | BYTE | (flags), \
	[(op) + 5] = KNOWN | IMMZ | RAX | (flags)

static const u16 one_byte[256] = {
	ALU(0x00, FLAGS), ALU(0x08, FLAGS), ALU(0x10, 0), ALU(0x18, 0), ALU(0x20, FLAGS),
	ALU(0x28, FLAGS), ALU(0x30, FLAGS),
	[0x38] = KNOWN | MODRM | READ | REG | BYTE | FLAGS,
	[0x39] = KNOWN | MODRM | READ | REG | FLAGS,
	[0x3a] = KNOWN | MODRM | READ | REG | BYTE | FLAGS,
	[0x3b] = KNOWN | MODRM | READ | REG | FLAGS,
	[0x3c] = KNOWN | IMM8 | BYTE | FLAGS,
	[0x3d] = KNOWN | IMMZ | FLAGS,
	[0x50 ... 0x5f] = KNOWN | SPECIAL,		/* PUSH, POP */
	[0x63] = KNOWN | MODRM | READ | REG | CHANGES | SPECIAL,	/* MOVSXD */
	[0x68] = KNOWN | IMMZ | SPECIAL,		/* PUSH */
	[0x69] = KNOWN | MODRM | READ | REG | CHANGES | IMMZ,
	[0x6a] = KNOWN | IMM8 | SPECIAL,
	[0x6b] = KNOWN | MODRM | READ | REG | CHANGES | IMM8,
	[0x70 ... 0x7f] = KNOWN | IMM8 | SPECIAL,	/* Jcc */
	[0x80] = KNOWN | MODRM | READ | WRITE | BYTE | IMM8 | FLAGS | SPECIAL,
	[0x81] = KNOWN | MODRM | READ | WRITE | IMMZ | FLAGS | SPECIAL,
	[0x83] = KNOWN | MODRM | READ | WRITE | IMM8 | FLAGS | SPECIAL,
	[0x84] = KNOWN | MODRM | READ | REG | BYTE | FLAGS,
	[0x85] = KNOWN | MODRM | READ | REG | FLAGS,
	[0x88] = KNOWN | MODRM | WRITE | REG | BYTE,
	[0x89] = KNOWN | MODRM | WRITE | REG,
	[0x8a] = KNOWN | MODRM | READ | REG | CHANGES | BYTE,
	[0x8b] = KNOWN | MODRM | READ | REG | CHANGES,
	[0x8d] = KNOWN | MODRM | REG | CHANGES | SPECIAL,		/* LEA */
	[0x98] = KNOWN | RAX,
	[0x99] = KNOWN,
	[0xa8] = KNOWN | IMM8 | BYTE | FLAGS,
	[0xa9] = KNOWN | IMMZ | FLAGS,
	[0xb0 ... 0xb7] = KNOWN | IMM8 | BYTE | SPECIAL,		/* MOV */
	[0xb8 ... 0xbf] = KNOWN | SPECIAL,
	[0xc0] = KNOWN | MODRM | READ | WRITE | BYTE | IMM8 | SPECIAL,
	[0xc1] = KNOWN | MODRM | READ | WRITE | IMM8 | SPECIAL,
	[0xc3] = KNOWN | SPECIAL,			/* RET */
	[0xc6] = KNOWN | MODRM | WRITE | BYTE | IMM8 | SPECIAL,
	[0xc7] = KNOWN | MODRM | WRITE | IMMZ | SPECIAL,
	[0xd0] = KNOWN | MODRM | READ | WRITE | BYTE | SPECIAL,
	[0xd1] = KNOWN | MODRM | READ | WRITE | SPECIAL,
	[0xe8] = KNOWN | IMMZ | SPECIAL,		/* CALL */
	[0xe9] = KNOWN | IMMZ | SPECIAL,
	[0xeb] = KNOWN | IMM8 | SPECIAL,
	[0xf6] = KNOWN | MODRM | READ | BYTE | SPECIAL,
	[0xf7] = KNOWN | MODRM | READ | SPECIAL,
	[0xfe] = KNOWN | MODRM | READ | WRITE | BYTE | SPECIAL,
	[0xff] = KNOWN | MODRM | READ | WRITE | SPECIAL,
};

static const u16 two_bytes[256] = {
	[0x1f] = KNOWN | MODRM | SPECIAL,		/* NOP */
	[0x40 ... 0x4f] = KNOWN | MODRM | READ | REG | CHANGES,		/* CMOVcc */
	[0x80 ... 0x8f] = KNOWN | IMMZ | SPECIAL,	/* Jcc */
	[0x90 ... 0x9f] = KNOWN | MODRM | WRITE | BYTE,	/* SETcc */
	[0xaf] = KNOWN | MODRM | READ | REG | CHANGES,	/* IMUL */
	[0xb6] = KNOWN | MODRM | READ | REG | CHANGES,
	[0xb7] = KNOWN | MODRM | READ | REG | CHANGES,
	[0xbe] = KNOWN | MODRM | READ | REG | CHANGES,
	[0xbf] = KNOWN | MODRM | READ | REG | CHANGES,
};

struct fields {
	u16 what;
	bool operand_size;	/* 66H */
	u8 rex;			/* with REX itself, or 0 */
	u8 map, opcode;
	u8 modrm;
	u8 mod, reg, rm;	/* reg and rm with their fourth bit; rm if mod is 3 */
	bool rip_relative;
	int32_t displacement;	/* of a RIP-relative operand */
	u8 immediate_at, immediate_bytes;
};

static int32_t read32(const u8 *bytes)
{
	int32_t value;

	__builtin_memcpy(&value, bytes, sizeof(value));
	return value;
}

/* The register of this number: AH to BH without a REX prefix. */
static u8 whole(const struct fields *f, u8 reg)
{
	return (u8)((f->what & BYTE) && !f->rex && reg >= 4 ? reg - 4 : reg);
}

/* ModRM and what belongs to it: its length. */
static unsigned read_modrm(struct fields *f, const u8 *bytes)
{
	u8 rm = bytes[0] & 7;
	unsigned n = 1;

	f->modrm = bytes[0];
	f->mod = bytes[0] >> 6;
	f->reg = (u8)((bytes[0] >> 3 & 7) | (f->rex & REX_R) << 1);
	f->rm = (u8)(rm | (f->rex & REX_B) << 3);
	if (f->mod == 3)
		return 1;
	if (rm == 4) {
		n++;
		if (!f->mod && (bytes[1] & 7) == 5)
			return n + 4;
	} else if (!f->mod && rm == 5) {
		f->rip_relative = true;
		f->displacement = read32(bytes + 1);
		return n + 4;
	}
	return n + (f->mod == 1 ? 1 : f->mod == 2 ? 4 : 0);
}

/* The opcodes that have an operation in ModRM: narrow what they do; false: not known. */
static bool group(struct fields *f)
{
	u8 operation = f->modrm >> 3 & 7;

	switch (f->opcode) {
	case 0x80:
	case 0x81:
	case 0x83:
		if (operation == 7)
			f->what &= (u16)~WRITE;
		if (operation == 2 || operation == 3)
			f->what &= (u16)~FLAGS;
		return true;
	case 0xc0:
	case 0xc1:
	case 0xd0:
	case 0xd1:
		return operation != 6;
	case 0xc6:
	case 0xc7:
		return operation == 0;
	case 0xf6:
	case 0xf7:
		if (operation == 0) {
			f->what |= FLAGS | (f->what & BYTE ? IMM8 : IMMZ);
			return true;
		}
		if (operation == 2 || operation == 3) {
			f->what |= operation == 3 ? WRITE | FLAGS : WRITE;
			return true;
		}
		return false;
	case 0xfe:
	case 0xff:
		return operation < 2;
	default:
		return true;
	}
}

static int64_t immediate(const struct fields *f, const u8 *bytes)
{
	return f->immediate_bytes == 1 ? (int8_t)bytes[f->immediate_at] :
		read32(bytes + f->immediate_at);
}

static bool branch(struct block_op *op, const struct fields *f, enum block_op_kind kind,
		   enum model_branch is)
{
	op->kind = kind;
	op->branch = (u8)is;
	op->condition = kind == OP_CONDITIONAL ? f->opcode & 0xf : 0;
	op->target = op->rip + op->length + (u64)immediate(f, op->bytes);
	return !f->operand_size;
}

/* What the table doesn't say; its length is known. */
static bool special(struct block_op *op, const struct fields *f)
{
	u8 low = (u8)((f->opcode & 7) | (f->rex & REX_B) << 3);

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
		return f->rex & REX_W;
	case 0x70 ... 0x7f:
		return branch(op, f, OP_CONDITIONAL, BRANCH_CONDITIONAL);
	case 0xe9:
	case 0xeb:
		return branch(op, f, OP_JUMP, BRANCH_JUMP);
	case 0xe8:
		op->stores = 1;
		return branch(op, f, OP_CALL, BRANCH_CALL);
	case 0xc3:
		op->loads = 1;
		op->kind = OP_RETURN;
		op->branch = BRANCH_RETURN;
		return !f->operand_size;
	case 0x8d:
		return f->mod != 3 && !f->operand_size;
	case 0xb0 ... 0xb7:
		op->changes |= (u16)(1u << whole(f, low));
		return true;
	case 0xb8 ... 0xbf:
		op->changes |= (u16)(1u << low);
		return true;
	default:
		return true;		/* of group() */
	}
}

/* The borrowed register is the first that the instruction doesn't use. */
static bool relative(struct block_op *op, const struct fields *f, u8 modrm_at)
{
	static const u8 candidates[] = { REG_RCX, REG_RAX };
	u32 used = f->what & REG ? 1u << whole(f, f->reg) : 0;

	if (f->rex & (REX_B | REX_X))
		return false;
	op->modrm = modrm_at;
	op->displacement = (u8)(modrm_at + 1);
	op->target = op->rip + op->length + (u64)(int64_t)f->displacement;
	if (f->opcode == 0x8d && !f->map) {
		op->kind = OP_CONSTANT;
		op->borrow = f->reg;
		op->wide = f->rex & REX_W;
		return true;
	}
	op->kind = OP_RIP_RELATIVE;
	op->borrow = used & 1u << candidates[0] ? candidates[1] : candidates[0];
	return true;
}

static void operands(struct block_op *op, const struct fields *f)
{
	if (f->mod != 3) {
		op->loads = f->what & READ ? 1 : 0;
		op->stores = f->what & WRITE ? 1 : 0;
	} else if (f->what & WRITE) {
		op->changes |= (u16)(1u << whole(f, f->rm));
	}
	if (f->what & CHANGES)
		op->changes |= (u16)(1u << whole(f, f->reg));
}

static unsigned immediate_bytes(const struct fields *f)
{
	if (!f->map && f->opcode >= 0xb8 && f->opcode <= 0xbf)
		return f->rex & REX_W ? 8 : f->operand_size ? 2 : 4;
	if (f->what & IMM8)
		return 1;
	if (f->what & IMMZ)
		return f->operand_size && !(f->rex & REX_W) ? 2 : 4;
	return 0;
}

bool block_op_fast(struct block_op *op, u64 rip, const u8 *bytes)
{
	struct fields f = { 0 };
	unsigned n = 0, modrm_at;

	if (bytes[n] == PREFIX_OPERAND_SIZE) {
		f.operand_size = true;
		n++;
	}
	if ((bytes[n] & 0xf0) == 0x40)
		f.rex = bytes[n++];
	if (bytes[n] == TWO_BYTES) {
		f.map = 1;
		n++;
	}
	f.opcode = bytes[n++];
	f.what = f.map ? two_bytes[f.opcode] : one_byte[f.opcode];
	if (!f.what)
		return false;
	modrm_at = n;
	if (f.what & MODRM) {
		n += read_modrm(&f, bytes + n);
		if ((f.what & SPECIAL) && !f.map && !group(&f))
			return false;
	}
	f.immediate_at = (u8)n;
	f.immediate_bytes = (u8)immediate_bytes(&f);
	n += f.immediate_bytes;

	*op = (struct block_op){ .kind = OP_COPY, .rip = rip, .length = (u8)n };
	__builtin_memcpy(op->bytes, bytes, INSN_ROOM);
	if (f.what & MODRM)
		operands(op, &f);
	if (f.what & RAX)
		op->changes |= BIT(REG_RAX);
	if (f.what & SPECIAL && !special(op, &f))
		return false;
	op->frees_flags = (f.what & FLAGS) && !op->loads && !op->stores;
	return !f.rip_relative || relative(op, &f, (u8)modrm_at);
}
