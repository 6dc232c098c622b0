/* SPDX-License-Identifier: MIT */
/*
 * Decodes the encodings of which most 64-bit code consists, without Zydis, which takes ten times as
 * long. SDM volume 2, "Instruction Format", "Opcode Map". No prefix except 66H, FS, GS and REX; no
 * vector instruction; no instruction that blocks refuse. For block_op_fast.c.
 */
#ifndef REFPMU_ENGINE_DBT_CODE_FIELDS_H
#define REFPMU_ENGINE_DBT_CODE_FIELDS_H

#include "spec/types.h"

#define CODE_FIELDS_ROOM 16	/* that many bytes are examined, whatever the length */

/* The properties of an opcode. */
enum {
	FIELD_KNOWN	= 1,
	FIELD_MODRM	= 2,
	FIELD_IMM8	= 4,
	FIELD_IMMZ	= 8,		/* 16 or 32 bits */
	FIELD_READ	= 16,		/* the operand of ModRM, if it is memory */
	FIELD_WRITE	= 32,		/* it, memory or not */
	FIELD_REG	= 64,		/* the other operand of ModRM is a general register, */
	FIELD_CHANGES	= 128,		/* which is written */
	FIELD_BYTE	= 256,		/* operands of one byte */
	FIELD_FLAGS	= 512,		/* all arithmetic flags are written and none is read */
	FIELD_RAX	= 1024,		/* RAX is written */
	FIELD_SPECIAL	= 2048,		/* these bits aren't enough */
	FIELD_RDX	= 4096,		/* RDX is written */
};

#define PREFIX_REX_W		8
#define PREFIX_REX_R		4
#define PREFIX_REX_X		2
#define PREFIX_REX_B		1

struct code_fields {
	u16 what;
	bool operand_size;	/* 66H */
	u8 segment;		/* FS or GS prefix, or 0 */
	u8 rex;			/* with REX itself, or 0 */
	u8 map, opcode;		/* map 1: after 0FH */
	u8 length;
	u8 modrm_at, modrm;
	u8 mod, reg, rm;	/* reg and rm with their fourth bit; rm if mod is 3 */
	bool rip_relative;
	int32_t displacement;	/* then */
	u8 immediate_at, immediate_bytes;
};

/* false, with *f undefined: another encoding. CODE_FIELDS_ROOM bytes are given. */
bool code_fields_read(struct code_fields *f, const u8 *bytes);

/* The immediate, sign-extended; 0 without one. */
int64_t code_fields_immediate(const struct code_fields *f, const u8 *bytes);

/* The general register that this number in an opcode or ModRM means: AH to BH, without a REX
 * prefix, are parts of RAX to RBX. */
u8 code_fields_whole(const struct code_fields *f, u8 reg);

#endif
