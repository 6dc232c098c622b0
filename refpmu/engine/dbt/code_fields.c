/* SPDX-License-Identifier: MIT */
/* See code_fields.h. host/engine/test_fast_decode.c compares the results with those of Zydis, for
 * arbitrary bytes. */
#include "refpmu/engine/dbt/code_fields.h"
#include "refpmu/engine/decode.h"

#define PREFIX_OPERAND_SIZE	0x66
#define PREFIX_FS		0x64
#define PREFIX_GS		0x65
#define TWO_BYTES		0x0f

#define KNOWN	FIELD_KNOWN
#define MODRM	(FIELD_KNOWN | FIELD_MODRM)
#define READ	(MODRM | FIELD_READ)
#define WRITE	(MODRM | FIELD_WRITE)
#define MODIFY	(READ | FIELD_WRITE)
#define INTO	(READ | FIELD_REG | FIELD_CHANGES)
#define IMM8	(FIELD_KNOWN | FIELD_IMM8)
#define IMMZ	(FIELD_KNOWN | FIELD_IMMZ)
#define REG	FIELD_REG
#define BYTE	FIELD_BYTE
#define FLAGS	FIELD_FLAGS
#define RAX	FIELD_RAX
#define SPECIAL	FIELD_SPECIAL

#define ALU(op, flags) \
	[(op)] = MODIFY | REG | BYTE | (flags), \
	[(op) + 1] = MODIFY | REG | (flags), \
	[(op) + 2] = INTO | BYTE | (flags), \
	[(op) + 3] = INTO | (flags), \
	[(op) + 4] = IMM8 | RAX | BYTE | (flags), \
	[(op) + 5] = IMMZ | RAX | (flags)

static const u16 one_byte[256] = {
	ALU(0x00, FLAGS), ALU(0x08, FLAGS), ALU(0x10, 0), ALU(0x18, 0), ALU(0x20, FLAGS),
	ALU(0x28, FLAGS), ALU(0x30, FLAGS),
	[0x38] = READ | REG | BYTE | FLAGS,
	[0x39] = READ | REG | FLAGS,
	[0x3a] = READ | REG | BYTE | FLAGS,
	[0x3b] = READ | REG | FLAGS,
	[0x3c] = IMM8 | BYTE | FLAGS,
	[0x3d] = IMMZ | FLAGS,
	[0x50 ... 0x5f] = KNOWN | SPECIAL,	/* PUSH, POP */
	[0x63] = INTO | SPECIAL,		/* MOVSXD */
	[0x68] = IMMZ | SPECIAL,		/* PUSH */
	[0x69] = INTO | IMMZ,			/* IMUL */
	[0x6a] = IMM8 | SPECIAL,
	[0x6b] = INTO | IMM8,
	[0x70 ... 0x7f] = IMM8 | SPECIAL,	/* Jcc */
	[0x80] = MODIFY | BYTE | IMM8 | FLAGS | SPECIAL,
	[0x81] = MODIFY | IMMZ | FLAGS | SPECIAL,
	[0x83] = MODIFY | IMM8 | FLAGS | SPECIAL,
	[0x84] = READ | REG | BYTE | FLAGS,	/* TEST */
	[0x85] = READ | REG | FLAGS,
	[0x86] = WRITE | REG | FIELD_CHANGES | BYTE | SPECIAL,		/* XCHG */
	[0x87] = WRITE | REG | FIELD_CHANGES | SPECIAL,
	[0x88] = WRITE | REG | BYTE,		/* MOV */
	[0x89] = WRITE | REG,
	[0x8a] = INTO | BYTE,
	[0x8b] = INTO,
	[0x8d] = MODRM | REG | FIELD_CHANGES | SPECIAL,	/* LEA */
	[0x90] = KNOWN | SPECIAL,		/* NOP, XCHG R8 */
	[0x98] = KNOWN | RAX,
	[0x99] = KNOWN | FIELD_RDX,
	[0xa8] = IMM8 | BYTE | FLAGS,
	[0xa9] = IMMZ | FLAGS,
	[0xb0 ... 0xb7] = IMM8 | BYTE | SPECIAL,	/* MOV */
	[0xb8 ... 0xbf] = KNOWN | SPECIAL,
	[0xc0] = MODIFY | BYTE | IMM8 | SPECIAL,	/* shifts */
	[0xc1] = MODIFY | IMM8 | SPECIAL,
	[0xc3] = KNOWN | SPECIAL,		/* RET */
	[0xc6] = WRITE | BYTE | IMM8 | SPECIAL,	/* MOV */
	[0xc7] = WRITE | IMMZ | SPECIAL,
	[0xc9] = KNOWN | SPECIAL,		/* LEAVE */
	[0xd0] = MODIFY | BYTE | SPECIAL,	/* shifts */
	[0xd1] = MODIFY | SPECIAL,
	[0xd2] = MODIFY | BYTE | SPECIAL,
	[0xd3] = MODIFY | SPECIAL,
	[0xe0 ... 0xe3] = IMM8 | SPECIAL,	/* LOOP, JRCXZ */
	[0xe8] = IMMZ | SPECIAL,		/* CALL */
	[0xe9] = IMMZ | SPECIAL,
	[0xeb] = IMM8 | SPECIAL,
	[0xf6] = READ | BYTE | SPECIAL,
	[0xf7] = READ | SPECIAL,
	[0xfe] = MODIFY | BYTE | SPECIAL,	/* INC, DEC */
	[0xff] = READ | SPECIAL,
};

static const u16 two_bytes[256] = {
	[0x1f] = MODRM | SPECIAL,		/* NOP */
	[0x40 ... 0x4f] = INTO,			/* CMOVcc */
	[0x80 ... 0x8f] = IMMZ | SPECIAL,	/* Jcc */
	[0x90 ... 0x9f] = WRITE | BYTE,		/* SETcc */
	[0xaf] = INTO,				/* IMUL */
	[0xb6] = INTO,				/* MOVZX, MOVSX */
	[0xb7] = INTO,
	[0xbe] = INTO,
	[0xbf] = INTO,
};

static int32_t read32(const u8 *bytes)
{
	int32_t value;

	__builtin_memcpy(&value, bytes, sizeof(value));
	return value;
}

u8 code_fields_whole(const struct code_fields *f, u8 reg)
{
	return (u8)((f->what & FIELD_BYTE) && !f->rex && reg >= 4 ? reg - 4 : reg);
}

int64_t code_fields_immediate(const struct code_fields *f, const u8 *bytes)
{
	int64_t wide;
	int16_t half;

	bytes += f->immediate_at;
	switch (f->immediate_bytes) {
	case 0:
		return 0;
	case 1:
		return (int8_t)*bytes;
	case 2:
		__builtin_memcpy(&half, bytes, sizeof(half));
		return half;
	case 4:
		return read32(bytes);
	default:
		__builtin_memcpy(&wide, bytes, sizeof(wide));
		return wide;
	}
}

/* Read ModRM, SIB and displacement. Returns their length. */
static unsigned read_modrm(struct code_fields *f, const u8 *bytes)
{
	u8 rm = bytes[0] & 7;
	unsigned n = 1;

	f->modrm = bytes[0];
	f->mod = bytes[0] >> 6;
	f->reg = (u8)((bytes[0] >> 3 & 7) | (f->rex & PREFIX_REX_R) << 1);
	f->rm = (u8)(rm | (f->rex & PREFIX_REX_B) << 3);
	if (f->mod == 3)
		return n;
	if (!f->mod && rm == 5) {
		f->rip_relative = true;
		f->displacement = read32(bytes + n);
		return n + 4;
	}
	if (rm == 4) {
		u8 sib = bytes[n++];

		if (!f->mod && (sib & 7) == 5)
			return n + 4;
	}
	if (f->mod == 1)
		return n + 1;
	return f->mod == 2 ? n + 4 : n;
}

/* The groups F6H and F7H. */
static bool unary(struct code_fields *f, u8 operation)
{
	switch (operation) {
	case 0:			/* TEST */
		f->what |= FLAGS | (f->what & BYTE ? FIELD_IMM8 : FIELD_IMMZ);
		return true;
	case 2:			/* NOT */
		f->what |= FIELD_WRITE;
		return true;
	case 3:			/* NEG */
		f->what |= FIELD_WRITE | FLAGS;
		return true;
	case 4:			/* MUL, IMUL */
	case 5:
		f->what |= f->what & BYTE ? RAX : RAX | FIELD_RDX;
		return true;
	default:
		return false;
	}
}

/* Opcodes whose ModRM has the operation: set its properties. false: the operation isn't known. */
static bool group(struct code_fields *f)
{
	u8 operation = f->modrm >> 3 & 7;

	switch (f->opcode) {
	case 0x80:
	case 0x81:
	case 0x83:
		if (operation == 7)
			f->what &= (u16)~FIELD_WRITE;
		if (operation == 2 || operation == 3)
			f->what &= (u16)~FLAGS;
		return true;
	case 0x86:
	case 0x87:
		return f->mod == 3;	/* XCHG with memory is locked */
	case 0xc0:
	case 0xc1:
	case 0xd0 ... 0xd3:
		return operation != 6;
	case 0xc6:
	case 0xc7:
		return operation == 0;
	case 0xf6:
	case 0xf7:
		return unary(f, operation);
	case 0xfe:
		return operation < 2;
	case 0xff:
		if (operation < 2)
			f->what |= FIELD_WRITE;
		return operation < 2 || operation == 2 || operation == 4 || operation == 6;
	default:
		return true;
	}
}

static u8 immediate_bytes(const struct code_fields *f)
{
	if (!f->map && f->opcode >= 0xb8 && f->opcode <= 0xbf)
		return f->rex & PREFIX_REX_W ? 8 : f->operand_size ? 2 : 4;
	if (f->what & FIELD_IMM8)
		return 1;
	if (f->what & FIELD_IMMZ)
		return f->operand_size && !(f->rex & PREFIX_REX_W) ? 2 : 4;
	return 0;
}

bool code_fields_read(struct code_fields *f, const u8 *bytes)
{
	unsigned n = 0;

	*f = (struct code_fields){ 0 };
	for (; n < 2; n++)
		if (bytes[n] == PREFIX_OPERAND_SIZE && !f->operand_size)
			f->operand_size = true;
		else if ((bytes[n] == PREFIX_FS || bytes[n] == PREFIX_GS) && !f->segment)
			f->segment = bytes[n];
		else
			break;
	if ((bytes[n] & 0xf0) == 0x40)
		f->rex = bytes[n++];
	if (bytes[n] == TWO_BYTES) {
		f->map = 1;
		n++;
	}
	f->opcode = bytes[n++];
	f->what = f->map ? two_bytes[f->opcode] : one_byte[f->opcode];
	if (!f->what)
		return false;
	f->modrm_at = (u8)n;
	if (f->what & FIELD_MODRM) {
		n += read_modrm(f, bytes + n);
		if ((f->what & SPECIAL) && !f->map && !group(f))
			return false;
	}
	f->immediate_at = (u8)n;
	f->immediate_bytes = immediate_bytes(f);
	f->length = (u8)(n + f->immediate_bytes);
	return f->length <= INSN_MAX_BYTES;
}
