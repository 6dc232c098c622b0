/* SPDX-License-Identifier: MIT */
/*
 * See generate.h. RBX and RSI point into the data and are changed rarely; RSP is the stack. Left
 * out are instructions that the host would notice (system calls, FS), instructions in which the
 * trap flag of the reference run shows (PUSHF, POPF), and time and random numbers.
 */
#include "host/engine/generate.h"

#include <stdlib.h>
#include <string.h>

static u64 state;
static u8 *at;

static u32 draw(u32 below)
{
	state += 0x9e3779b97f4a7c15ULL;
	u64 z = state;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (u32)((z ^ z >> 31) % below);
}

static void generate_put(u8 value)
{
	*at++ = value;
}

static void put32(u32 value)
{
	memcpy(at, &value, sizeof(value));
	at += sizeof(value);
}

static u64 here(void)
{
	return MACHINE_CODE + (u64)(at - machine_code);
}

/* Draw a general register that may be changed: never RSP, and rarely RBX and RSI. */
static u8 any_register(void)
{
	u8 reg = (u8)draw(16);

	if (reg == REG_RSP || ((reg == REG_RBX || reg == REG_RSI) && draw(20)))
		return REG_RAX;
	return reg;
}

/* Emit a memory operand in the data, or a RIP-relative one; `reg` is the other operand. The caller
 * emits REX and the opcode before, with room only for REX.R. */
static void modrm_memory(u8 reg, unsigned immediate)
{
	u8 r = (u8)((reg & 7) << 3);
	u32 offset;

	switch (draw(6)) {
	case 0:
		generate_put((u8)(0x03 | r));		/* [RBX] */
		break;
	case 1:
		generate_put((u8)(0x46 | r));		/* [RSI + 8] */
		generate_put((u8)draw(128));
		break;
	case 2:
		generate_put((u8)(0x83 | r));		/* [RBX + 32] */
		put32(draw(0x2000));
		break;
	case 3:
		generate_put((u8)(0x44 | r));		/* [RBX + RBP * s + 8] */
		generate_put((u8)(0x2b | draw(4) << 6));
		generate_put((u8)draw(128));
		break;
	case 4:
		generate_put((u8)(0x44 | r));		/* [RSP + 8] */
		generate_put(0x24);
		generate_put((u8)draw(64));
		break;
	default:
		generate_put((u8)(0x05 | r));		/* [RIP + 32] */
		/* Sometimes in the hole after the data. */
		offset = draw(12) ? draw(MACHINE_BYTES - 64) : MACHINE_BYTES + draw(0x4000);
		put32((u32)(MACHINE_DATA + offset - (here() + 4 + immediate)));
		break;
	}
}

static void arithmetic(void)
{
	u8 reg = any_register(), rex = (u8)(0x40 | (draw(2) ? 8 : 0) | (reg >= 8 ? 4 : 0));
	u8 opcode = (u8)(draw(8) << 3 | draw(4));	/* ADD OR ADC SBB AND SUB XOR CMP */

	/* With REX the byte registers of RSP to RDI are SPL to DIL; SPL isn't allowed. */
	if (!(opcode & 1) && (reg & 7) == 4)
		opcode |= 1;
	if (draw(12) == 0 && !(opcode & 2) && opcode < 0x38)
		generate_put(0xf0);			/* LOCK */
	generate_put(rex);
	generate_put(opcode);
	modrm_memory(reg, 0);
}

static void register_arithmetic(void)
{
	u8 a = any_register(), b = (u8)draw(16);
	static const u8 two[][2] = { { 0, 0xaf }, { 0, 0x44 }, { 0, 0x4f }, { 0, 0xbc },
				     { 0, 0xbd }, { 0, 0xa3 }, { 0, 0xb6 }, { 0, 0xbf } };

	generate_put((u8)(0x48 | (a >= 8 ? 4 : 0) | (b >= 8)));
	if (draw(2)) {
		generate_put((u8)(draw(8) << 3 | 3));
	} else {
		generate_put(0x0f);
		generate_put(two[draw(8)][1]);
	}
	generate_put((u8)(0xc0 | (a & 7) << 3 | (b & 7)));
}

static void shift_or_unary(void)
{
	u8 a = any_register();

	generate_put((u8)(0x48 | (a >= 8)));
	switch (draw(4)) {
	case 0:
		generate_put(0xc1);
		generate_put((u8)(0xc0 | draw(8) << 3 | (a & 7)));
		generate_put((u8)draw(70));
		break;
	case 1:
		generate_put(0xd3);
		generate_put((u8)(0xc0 | draw(8) << 3 | (a & 7)));
		break;
	case 2:
		generate_put(0xf7);			/* NOT NEG MUL IMUL DIV IDIV */
		generate_put((u8)(0xc0 | (2 + draw(6)) << 3 | (a & 7)));
		break;
	default:
		generate_put(0xff);			/* INC DEC */
		generate_put((u8)(0xc0 | draw(2) << 3 | (a & 7)));
		break;
	}
}

static void moves(void)
{
	u8 reg = any_register();

	switch (draw(8)) {
	case 0:
		generate_put((u8)(0x48 | (reg >= 8 ? 4 : 0)));
		generate_put(0x8b);
		modrm_memory(reg, 0);
		break;
	case 1:
		generate_put((u8)(0x48 | (reg >= 8 ? 4 : 0)));
		generate_put(0x89);
		modrm_memory(reg, 0);
		break;
	case 2:
		generate_put((u8)(0x48 | (reg >= 8 ? 4 : 0)));
		generate_put(0x8d);
		modrm_memory(reg, 0);
		break;
	case 3:
		generate_put(0xc7);
		modrm_memory(0, 4);
		put32(draw(0xffffffff));
		break;
	case 4:
		generate_put((u8)(0x50 | draw(8)));	/* PUSH */
		break;
	case 5:
		generate_put((u8)(0x58 | (draw(2) ? REG_RCX : REG_RDX)));
		break;
	case 6:
		generate_put(0xff);			/* PUSH m */
		modrm_memory(6, 0);
		break;
	default:
		generate_put(0x8f);			/* POP m */
		modrm_memory(0, 0);
		break;
	}
}

static void vectors(void)
{
	static const u8 opcodes[] = { 0x6f, 0x7f, 0xef, 0xfe, 0xdb, 0x62, 0x74, 0xd4, 0x58, 0x28 };

	switch (draw(4)) {
	case 0:
		generate_put(0xf3);			/* MOVDQU, either way */
		generate_put(0x0f);
		generate_put(draw(2) ? 0x6f : 0x7f);
		modrm_memory((u8)draw(8), 0);
		break;
	case 1:
		generate_put(0x66);
		generate_put(0x0f);
		generate_put(opcodes[draw(10)]);
		generate_put((u8)(0xc0 | draw(64)));
		break;
	case 2:
		generate_put(0xc5);			/* VMOVDQU XMM, m */
		generate_put(0xfa);
		generate_put(0x6f);
		modrm_memory((u8)draw(8), 0);
		break;
	default:
		generate_put(0xf2);			/* CVTSI2SD, from memory */
		generate_put(0x48);
		generate_put(0x0f);
		generate_put(0x2a);
		modrm_memory((u8)draw(8), 0);
		break;
	}
}

/* Emit a VEX prefix of two bytes, with 256 or 128 bits, and with a second source or none. */
static void vex(u8 source, u8 prefix)
{
	generate_put(0xc5);
	generate_put((u8)(0x80 | (source ^ 15u) << 3 | draw(2) << 2 | prefix));
}

static void wide_vectors(void)
{
	static const u8 opcodes[] = { 0xef, 0xfe, 0xdb, 0xeb, 0xd4, 0xfa, 0x74, 0x58 };

	switch (draw(3)) {
	case 0:
		vex(0, 2);				/* VMOVDQU, either way */
		generate_put(draw(2) ? 0x6f : 0x7f);
		modrm_memory((u8)draw(8), 0);
		break;
	case 1:
		vex((u8)draw(16), 1);
		generate_put(opcodes[draw(8)]);
		generate_put((u8)(0xc0 | draw(64)));
		break;
	default:
		vex((u8)draw(16), 1);
		generate_put(opcodes[draw(8)]);
		modrm_memory((u8)draw(8), 0);
		break;
	}
}

static void x87(void)
{
	static const u8 some[][2] = {
		{ 0xd9, 0xe8 }, { 0xd9, 0xeb }, { 0xd9, 0xee },	/* FLD1, FLDPI, FLDZ */
		{ 0xde, 0xc1 }, { 0xde, 0xc9 }, { 0xde, 0xe9 },	/* FADDP, FMULP, FSUBP */
		{ 0xd9, 0xc9 }, { 0xdd, 0xd9 }, { 0xdf, 0xe0 },	/* FXCH, FSTP ST(1), FNSTSW AX */
		{ 0xdf, 0xf1 },					/* FCOMIP, which sets flags */
	};
	unsigned i = draw(14);

	if (i < 10) {
		generate_put(some[i][0]);
		generate_put(some[i][1]);
		return;
	}
	generate_put(0xdd);				/* FLD, FSTP m64 */
	modrm_memory(i & 1 ? 0 : 3, 0);
}

static void atomics(void)
{
	u8 reg = any_register();

	if (draw(3))
		generate_put(0xf0);
	switch (draw(3)) {
	case 0:
		generate_put((u8)(0x48 | (reg >= 8 ? 4 : 0)));
		generate_put(0x0f);
		generate_put(draw(2) ? 0xb1 : 0xc1);	/* CMPXCHG, XADD */
		modrm_memory(reg, 0);
		break;
	case 1:
		generate_put((u8)(0x48 | (reg >= 8 ? 4 : 0)));
		generate_put(0x87);			/* XCHG */
		modrm_memory(reg, 0);
		break;
	default:
		generate_put(0x48);
		generate_put(0x0f);
		generate_put(0xba);			/* BTS m, imm8 */
		modrm_memory(5, 1);
		generate_put((u8)draw(64));
		break;
	}
}

static void strings(void)
{
	static const u8 opcodes[] = { 0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf };
	static const u8 prefixes[] = { 0x48, 0x48, 0x66, 0x67, 0x65, 0x36 };

	/* LEA RDI, [RBX + 32], sometimes at the data's end; perhaps MOV ECX, n and a prefix; the
	 * string, sometimes downwards. */
	generate_put(0x48);
	generate_put(0x8d);
	generate_put(0xbb);
	put32(draw(8) ? draw(0x1000) : MACHINE_BYTES - 0x1000 - draw(64));
	if (!draw(16))
		generate_put(0xfd);			/* STD */
	if (draw(2)) {
		generate_put(0xb9);
		put32(draw(6));
		generate_put(draw(2) ? 0xf3 : 0xf2);
	}
	if (draw(3))
		generate_put(prefixes[draw(sizeof(prefixes))]);
	generate_put(opcodes[draw(sizeof(opcodes))]);
	if (!draw(3))
		generate_put(0x9f);			/* LAHF */
	if (draw(2))
		generate_put(0xfc);			/* CLD */
}

/* The address of an instruction's first byte, among those laid out so far. */
#define PLACES 64
static u64 place[PLACES];
static unsigned n_places;

static u64 any_place(void)
{
	return place[draw(n_places)];
}

static void branches(void)
{
	u64 to = any_place();

	switch (draw(9)) {
	case 0:
	case 1:
		generate_put(0x0f);			/* Jcc, mostly over a few bytes */
		generate_put((u8)(0x80 | draw(16)));
		if (draw(3))
			put32(1 + draw(3));
		else
			put32((u32)(to - (here() + 4)));
		break;
	case 2:
		generate_put((u8)(0x70 | draw(16)));
		generate_put((u8)(1 + draw(6)));
		break;
	case 3:
		generate_put((u8)(0xe0 | draw(4)));	/* LOOP and kin */
		generate_put((u8)(1 + draw(6)));
		break;
	case 4:
		generate_put(0xe9);
		put32(draw(3) ? 1 + draw(4) : (u32)(to - (here() + 4)));
		break;
	case 5:
		generate_put(0xe8);
		put32(draw(2) ? draw(4) : (u32)(to - (here() + 4)));
		break;
	case 6:
		generate_put(0xc3);
		break;
	case 7:						/* LEA RAX, place; JMP or CALL RAX */
		generate_put(0x48);
		generate_put(0x8d);
		generate_put(0x05);
		put32((u32)(to - (here() + 4)));
		generate_put(0xff);
		generate_put(draw(2) ? 0xe0 : 0xd0);
		break;
	default:					/* the same through memory */
		generate_put(0x48);
		generate_put(0x8d);
		generate_put(0x05);
		put32((u32)(to - (here() + 4)));
		generate_put(0x48);
		generate_put(0x89);
		generate_put(0x43);
		generate_put(0x10);
		generate_put(0xff);
		generate_put(draw(2) ? 0x63 : 0x53);	/* JMP or CALL [RBX + 10H] */
		generate_put(0x10);
		break;
	}
}

/* MOV byte [RIP + n], imm8: changes the immediate of an instruction that follows directly or a
 * little later. */
static void change_code(void)
{
	unsigned between = draw(4);

	generate_put(0xc6);
	generate_put(0x05);
	put32(1 + between + 1);
	generate_put((u8)draw(256));
	for (unsigned i = 0; i < between; i++)
		generate_put(0x90);
	generate_put(0x05);				/* ADD EAX, imm32 */
	put32(draw(256));
	generate_put(0x90);
}

static bool harmless(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *operands)
{
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_SEGOP:
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_RDRAND:
	case ZYDIS_CATEGORY_RDSEED:
	case ZYDIS_CATEGORY_RDWRFSGS:
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
	case ZYDIS_CATEGORY_PKU:
	case ZYDIS_CATEGORY_CET:
	case ZYDIS_CATEGORY_UINTR:
	case ZYDIS_CATEGORY_WAITPKG:
	case ZYDIS_CATEGORY_AVX2GATHER:
	case ZYDIS_CATEGORY_GATHER:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_RDPID:
		return false;
	default:
		break;
	}
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_XABORT:
	case ZYDIS_MNEMONIC_XEND:
	case ZYDIS_MNEMONIC_XTEST:
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
	case ZYDIS_MNEMONIC_LDMXCSR:
	case ZYDIS_MNEMONIC_VLDMXCSR:
		return false;
	default:
		break;
	}
	if (zi->meta.isa_ext == ZYDIS_ISA_EXT_X87 || zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return false;
	for (unsigned i = 0; i < zi->operand_count; i++) {
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[i].mem.segment == ZYDIS_REGISTER_FS)
			return false;
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(operands[i].reg.value) == ZYDIS_REGCLASS_SEGMENT)
			return false;
	}
	return true;
}

/* Emit any bytes that the decoder knows; 32-bit addresses are such that aren't mapped. */
static void any_bytes(void)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	u8 bytes[INSN_MAX_BYTES];

	for (unsigned attempt = 0; attempt < 200; attempt++) {
		for (unsigned i = 0; i < sizeof(bytes); i++)
			bytes[i] = (u8)draw(256);
		if (!draw(3))
			bytes[0] = (u8)(0x40 | draw(16));
		if (!draw(3))
			bytes[draw(3)] = 0x0f;
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&machine_cache.decoder, bytes,
							 sizeof(bytes), &zi, operands)) ||
		    !harmless(&zi, operands))
			continue;
		if (zi.raw.disp.size == 32) {
			bytes[zi.raw.disp.offset + 2] &= 1;
			bytes[zi.raw.disp.offset + 3] = 0;
		}
		memcpy(at, bytes, zi.length);
		at += zi.length;
		return;
	}
}

static void generate_one(void)
{
	static void (*const kinds[])(void) = {
		arithmetic, arithmetic, register_arithmetic, register_arithmetic, shift_or_unary,
		moves, moves, moves, vectors, wide_vectors, x87, atomics, strings, branches,
		branches, branches, change_code, any_bytes, any_bytes,
	};

	kinds[draw(sizeof(kinds) / sizeof(kinds[0]))]();
}

static void begin_with(struct machine_state *begin)
{
	memset(begin, 0, sizeof(*begin));
	for (unsigned i = 0; i < REG_COUNT; i++)
		begin->gpr[i] = draw(2) ? draw(0x1000) :
					  (u64)draw(0xffffffff) << 32 | draw(0xffffffff);
	begin->gpr[REG_RBX] = MACHINE_DATA + 0x1000 + draw(64);
	begin->gpr[REG_RSI] = MACHINE_DATA + 0x2000;
	begin->gpr[REG_RBP] = draw(256);
	begin->gpr[REG_RSP] = MACHINE_STACK + MACHINE_BYTES / 2 + draw(2) * draw(16);
	begin->rip = MACHINE_CODE;
	begin->rflags = draw(0xffff) & 0x8d5;
	for (unsigned i = 0; i < 16; i++)
		for (unsigned k = 0; k < 16; k++)
			begin->xmm[i][k] = (u8)draw(256);
	for (unsigned i = 0; i < MACHINE_BYTES; i++)
		machine_data[i] = (u8)draw(256);
}

void generate(u64 seed, struct machine_state *begin)
{
	unsigned bytes = 64 + (unsigned)(seed % 7) * 200;

	state = seed;
	memset(machine_code, 0x90, sizeof(machine_code));
	begin_with(begin);
	at = machine_code;
	n_places = 1;
	place[0] = MACHINE_CODE;
	while (at < machine_code + bytes) {
		if (n_places < PLACES && !draw(4))
			place[n_places++] = here();
		generate_one();
	}
	generate_put(0xe9);				/* an endless loop */
	put32((u32)(MACHINE_CODE - (here() + 4)));
}
