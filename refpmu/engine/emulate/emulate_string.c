/* SPDX-License-Identifier: MIT */
/* See emulate.h: string instructions. SDM volume 2, "CMPS", "LODS", "MOVS", "SCAS", "STOS". */
#include "refpmu/engine/emulate/emulate.h"
#include "spec/x86.h"

enum string_opcode { MOVS = 0xa4, CMPS = 0xa6, STOS = 0xaa, LODS = 0xac, SCAS = 0xae };

/* Bit 0 of the opcode gives the operand size. */
static unsigned opcode_of(const struct instruction *insn)
{
	return insn->bytes[insn->length - 1] & 0xfeu;
}

bool emulate_string_knows(const struct instruction *insn)
{
	/* After 0FH it is another instruction. */
	if (insn->mode != 64 || insn->count_mask != ~0ULL || insn->incomplete ||
	    (insn->length > 1 && insn->bytes[insn->length - 2] == 0x0f))
		return false;
	switch (opcode_of(insn)) {
	case MOVS:
	case CMPS:
	case STOS:
	case LODS:
	case SCAS:
		return true;
	default:
		return false;
	}
}

bool emulate_string_compares(const struct instruction *insn)
{
	return opcode_of(insn) == CMPS || opcode_of(insn) == SCAS;
}

static void copy(void *to, const void *from, unsigned bytes)
{
	switch (bytes) {
	case 1:
		__builtin_memcpy(to, from, 1);
		break;
	case 2:
		__builtin_memcpy(to, from, 2);
		break;
	case 4:
		__builtin_memcpy(to, from, 4);
		break;
	default:
		__builtin_memcpy(to, from, 8);
		break;
	}
}

/* The flags of a - b, of which only the low bytes count. AF and PF come from the lowest bits; for
 * the other flags both values are shifted up. */
static u64 compared(u64 a, u64 b, unsigned bytes)
{
	unsigned shift = 64 - 8 * bytes;
	u64 flags = (a ^ b ^ (a - b)) & RFLAGS_AF, difference;
	unsigned parity = (a - b) & 0xff;

	a <<= shift;
	b <<= shift;
	difference = a - b;
	for (unsigned half = 4; half; half /= 2)
		parity ^= parity >> half;
	if (!(parity & 1))
		flags |= RFLAGS_PF;
	if (a < b)
		flags |= RFLAGS_CF;
	if (!difference)
		flags |= RFLAGS_ZF;
	if (difference >> 63)
		flags |= RFLAGS_SF;
	if (((a ^ b) & (a ^ difference)) >> 63)
		flags |= RFLAGS_OF;
	return flags;
}

void emulate_string(const struct instruction *insn, const struct emulate_state *state,
		    const struct string_places *at)
{
	u64 *gpr = state->gpr, a = gpr[REG_RAX], b = 0;
	unsigned bytes = insn->access[0].bytes;

	switch (opcode_of(insn)) {
	case MOVS:
		copy(at->rdi, at->rsi, bytes);
		break;
	case STOS:
		copy(at->rdi, &gpr[REG_RAX], bytes);
		break;
	case LODS:
		copy(&gpr[REG_RAX], at->rsi, bytes);
		if (bytes == 4)
			gpr[REG_RAX] = (u32)gpr[REG_RAX];
		break;
	default:
		if (at->rsi)
			copy(&a, at->rsi, bytes);
		copy(&b, at->rdi, bytes);
		*state->rflags = (*state->rflags & ~RFLAGS_STATUS) | compared(a, b, bytes);
		break;
	}
	for (unsigned i = 0; i < insn->n_access; i++)
		gpr[insn->access[i].base] += bytes;
}
