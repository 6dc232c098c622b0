/* SPDX-License-Identifier: MIT */
/*
 * Opcodes: SDM volume 2 "One-Byte Opcode Map", "Two-Byte Opcode Map", for 64-bit code with the
 * prefixes LOCK, REP, FS, GS and REX, and those that are part of an opcode.
 */
#include "tests/measure/classify.h"

static bool is_memory(u8 modrm)
{
	return modrm >> 6 != 3;
}

static bool two_bytes(const u8 *code, struct instruction_kind *kind)
{
	if (code[1] >= 0x80 && code[1] <= 0x8f) {	/* Jcc rel32 */
		kind->branch = kind->conditional = true;
		kind->length = 6;
		return true;
	}
	if (code[1] == 0x11) {				/* MOVUPS m, r */
		kind->store = is_memory(code[2]);
		return true;
	}
	if (code[1] == 0x10 || code[1] == 0x57 || code[1] == 0x58) {	/* MOVUPS, XORPS, ADDPS */
		kind->load = is_memory(code[2]);
		return true;
	}
	if (code[1] == 0x6e || code[1] == 0x70 || code[1] == 0xfe ||
	    code[1] == 0xef) {				/* MOVQ, PSHUFD, PADDD, PXOR */
		kind->load = is_memory(code[2]);
		return true;
	}
	if (code[1] == 0x77)				/* EMMS */
		return true;
	if (code[1] == 0xb1 || code[1] == 0xc1) {	/* CMPXCHG, XADD */
		kind->load = kind->store = is_memory(code[2]);
		return true;
	}
	if (code[1] == 0xa2)				/* CPUID */
		return true;
	/* Group 7 /7 in memory: INVLPG. Group 15 /7 in memory: CLFLUSH; /5 to /7 else: fences.
	 * Group P: PREFETCHW. Group 16: PREFETCHh. None of them is a load. */
	if (code[1] == 0x01)
		return is_memory(code[2]) && (code[2] >> 3 & 7) == 7;
	if (code[1] == 0xae)
		return (code[2] >> 3 & 7) == 7 || (!is_memory(code[2]) && (code[2] >> 3 & 7) >= 5);
	if (code[1] == 0x0d || code[1] == 0x18)
		return is_memory(code[2]);
	return code[1] == 0x1f;				/* NOP r/m: touches no memory */
}

/* Only INC, DEC, and CALL and JMP with a register are in use. */
static bool group_5(u8 modrm, struct instruction_kind *kind)
{
	switch (modrm >> 3 & 7) {
	case 0:
	case 1:
		kind->load = kind->store = is_memory(modrm);
		return true;
	case 2:
		kind->branch = kind->call = kind->store = true;
		return !is_memory(modrm);
	case 4:
		kind->branch = true;
		return !is_memory(modrm);
	default:
		return false;
	}
}

bool classify_instruction(const u8 *code, struct instruction_kind *kind)
{
	bool lock = false, known = true;

	*kind = (struct instruction_kind){ .load = false };
	if (*code == 0xf0) {
		lock = true;
		code++;
	}
	if ((*code == 0x66 || *code == 0xf2 || *code == 0xf3) &&
	    (code[1] == 0x0f || (*code == 0x66 && (code[1] == 0x83 || code[1] == 0x8b)) ||
	     (*code == 0x66 && code[1] >> 4 == 4 && code[2] == 0x0f)))
		code++;	/* a prefix in the opcode (ADDPD, ADDSD, ADDSS, MOVQ), or a size */
	if (*code == 0xf3) {
		kind->repeated = true;
		code++;
	}
	if (*code == 0x64 || *code == 0x65 || *code == 0x67)	/* FS, GS, an address of 32 bits */
		code++;
	if ((*code & 0xf0) == 0x40)	/* REX */
		code++;
	switch (*code) {
	case 0x90:			/* NOP */
	case 0xfc:
	case 0xfd:  /* CLD, STD */
	case 0xb8 ... 0xbf:		/* MOV r, imm */
	case 0x8d:			/* LEA */
		break;
	case 0x8c:			/* MOV r/m, Sreg */
		kind->store = is_memory(code[1]);
		break;
	case 0x9c:			/* PUSHF */
		kind->store = true;
		break;
	case 0xac:			/* LODSB */
		kind->load = 1;
		break;
	case 0xa7:			/* CMPS */
		kind->load = 2;
		break;
	case 0xcb:			/* far RET: loads RIP and CS */
		kind->branch = true;
		kind->load = 2;
		break;
	case 0xcf:			/* IRET: RIP, CS, RFLAGS, RSP, SS */
		kind->branch = true;
		kind->load = 5;
		break;
	case 0x01:			/* ADD r/m, r */
	case 0x21:			/* AND r/m, r */
		kind->load = kind->store = is_memory(code[1]);
		break;
	case 0x50 ... 0x57:		/* PUSH */
		kind->store = true;
		break;
	case 0x58 ... 0x5f:		/* POP */
		kind->load = 1;
		break;
	case 0x03:			/* ADD r, r/m */
	case 0x8a:			/* MOV r8, r/m8 */
	case 0x8b:			/* MOV r, r/m */
	case 0x85:			/* TEST r/m, r */
		kind->load = is_memory(code[1]);
		break;
	case 0x88:			/* MOV r/m8, r8 */
	case 0x89:			/* MOV r/m, r */
		kind->store = is_memory(code[1]);
		break;
	case 0x86:			/* XCHG r/m8, r8 */
	case 0x87:			/* XCHG r/m, r: locked without a prefix */
		lock |= is_memory(code[1]);
		kind->load = kind->store = is_memory(code[1]);
		break;
	case 0x80:			/* group 1 r/m8, imm8 */
	case 0x83:			/* group 1 r/m, imm8; /7 is CMP */
		kind->load = is_memory(code[1]);
		kind->store = kind->load && (code[1] >> 3 & 7) != 7;
		break;
	case 0xf7:			/* group 3 r/m; in memory only MUL is in use */
		kind->load = is_memory(code[1]);
		known = !kind->load || (code[1] >> 3 & 7) == 4;
		break;
	case 0xff:
		known = group_5(code[1], kind);
		break;
	case 0xa5:			/* MOVS */
		kind->load = 1;
		kind->store = true;
		break;
	case 0xad:			/* LODS */
		kind->load = 1;
		break;
	case 0xaa:			/* STOSB */
	case 0xab:			/* STOS */
		kind->store = true;
		break;
	case 0xe8:			/* CALL rel32: stores the return address */
		kind->branch = kind->call = kind->store = true;
		break;
	case 0xc2:			/* RET imm16 */
	case 0xc3:			/* RET: loads the return address */
		kind->branch = kind->ret = true;
		kind->load = 1;
		break;
	case 0x70 ... 0x7f:		/* Jcc rel8 */
		kind->branch = kind->conditional = true;
		kind->length = 2;
		break;
	case 0xe9:			/* JMP rel32 */
	case 0xeb:			/* JMP rel8 */
		kind->branch = true;
		break;
	case 0xd8 ... 0xdf:		/* x87; only register operands are in use */
		known = !is_memory(code[1]);
		break;
	case 0x0f:
		known = two_bytes(code, kind);
		break;
	default:
		known = false;
	}
	kind->locked = lock && kind->load;
	return known && (!lock || kind->locked);
}
