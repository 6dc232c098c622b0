/* SPDX-License-Identifier: MIT */
/* See emulate.h: decides which instructions are emulated, and rewrites them. SDM volume 2,
 * "Instruction Format". */
#include "refpmu/engine/emulate/emulate.h"

#define RET_OPCODE	0xc3
#define REX_B		BIT(0)
#define REX_X		BIT(1)
#define SEGMENT_DS	3

/* Only general registers, in every processor with 64-bit mode, and no fault except by the
 * access. */
static bool is_plain(const ZydisDecodedInstruction *zi)
{
	if (zi->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
	    (zi->meta.isa_ext != ZYDIS_ISA_EXT_BASE && zi->meta.isa_ext != ZYDIS_ISA_EXT_LONGMODE))
		return false;
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
	case ZYDIS_MNEMONIC_CMPXCHG16B:
	case ZYDIS_MNEMONIC_STI:
	case ZYDIS_MNEMONIC_CLI:
	case ZYDIS_MNEMONIC_SALC:
		return false;
	default:
		break;
	}
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_BINARY:
	case ZYDIS_CATEGORY_BITBYTE:
	case ZYDIS_CATEGORY_CMOV:
	case ZYDIS_CATEGORY_CONVERT:
	case ZYDIS_CATEGORY_DATAXFER:
	case ZYDIS_CATEGORY_FLAGOP:
	case ZYDIS_CATEGORY_LOGICAL:
	case ZYDIS_CATEGORY_ROTATE:
	case ZYDIS_CATEGORY_SEMAPHORE:
	case ZYDIS_CATEGORY_SETCC:
	case ZYDIS_CATEGORY_SHIFT:
		return true;
	default:
		return false;
	}
}

/* Other moves fault if their operand isn't aligned. */
static bool is_unaligned_move(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_MOVUPS || mnemonic == ZYDIS_MNEMONIC_MOVUPD ||
	       mnemonic == ZYDIS_MNEMONIC_MOVDQU;
}

/* XMM registers, perhaps general ones; look_at_operands() checks that there is nothing else. */
static bool is_vector(const ZydisDecodedInstruction *zi)
{
	return zi->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	       (zi->meta.isa_ext == ZYDIS_ISA_EXT_SSE || zi->meta.isa_ext == ZYDIS_ISA_EXT_SSE2) &&
	       (zi->attributes & ZYDIS_ATTRIB_HAS_MODRM) &&
	       (zi->raw.modrm.mod == 3 || is_unaligned_move(zi->mnemonic));
}

/* Not everything that the decoder calls a NOP: a prefetch with a register operand raises #UD. */
static bool is_nothing(const ZydisDecodedInstruction *zi)
{
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return zi->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
		       zi->opcode == (zi->opcode_map == ZYDIS_OPCODE_MAP_0F ? 0x1f : 0x90);
	case ZYDIS_CATEGORY_PREFETCH:
		return zi->attributes & ZYDIS_ATTRIB_HAS_MODRM && zi->raw.modrm.mod != 3;
	default:
		return false;
	}
}

/* ---- rewriting ---- */

struct rewrite {
	const ZydisDecodedInstruction *zi;
	const ZydisDecodedOperand *operands;
	bool memory;		/* there is a memory operand */
	bool reg, rm;		/* RSP is in these fields */
	bool vector;		/* XMM registers are allowed */
};

static u8 number_of(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ?
		       (u8)(whole - ZYDIS_REGISTER_RAX) :
		       REG_NONE;
}

/* Bit n: register n is used. */
static u32 registers_used(const struct rewrite *w)
{
	u32 used = BIT(REG_RSP) | BIT(REG_RBP);

	for (unsigned i = 0; i < w->zi->operand_count; i++) {
		const ZydisDecodedOperand *o = &w->operands[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && number_of(o->reg.value) != REG_NONE)
			used |= 1u << number_of(o->reg.value);
	}
	return used;
}

static u8 take_free(u32 *used)
{
	for (u8 reg = 0; reg < 8; reg++)
		if (!(*used & 1u << reg)) {
			*used |= 1u << reg;
			return reg;
		}
	return REG_NONE;
}

/* Collect the operands. false: the instruction can't be rewritten. */
static bool look_at_operands(struct rewrite *w)
{
	for (unsigned i = 0; i < w->zi->operand_count; i++) {
		const ZydisDecodedOperand *o = &w->operands[i];

		if (o->type == ZYDIS_OPERAND_TYPE_POINTER)
			return false;
		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			if (w->memory || o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN ||
			    o->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
			    o->encoding != ZYDIS_OPERAND_ENCODING_MODRM_RM)
				return false;
			w->memory = true;
		}
		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    (w->vector && o->reg.value == ZYDIS_REGISTER_MXCSR))
			continue;
		switch (ZydisRegisterGetClass(o->reg.value)) {
		case ZYDIS_REGCLASS_GPR8:
		case ZYDIS_REGCLASS_GPR16:
		case ZYDIS_REGCLASS_GPR32:
		case ZYDIS_REGCLASS_GPR64:
		case ZYDIS_REGCLASS_FLAGS:
			break;
		case ZYDIS_REGCLASS_XMM:
			if (!w->vector)
				return false;
			break;
		default:
			return false;
		}
		if (number_of(o->reg.value) != REG_RSP)
			continue;
		if (o->encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG)
			w->reg = true;
		else if (o->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM)
			w->rm = true;
		else
			return false;
	}
	return true;
}

static bool is_dropped(const struct rewrite *w, u8 prefix)
{
	switch (prefix) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x67:
		return w->memory;
	default:
		return false;
	}
}

/* Write the instruction with [pointer] as its memory operand and `stack` in place of RSP. Returns
 * its length. */
static u8 write_code(const struct rewrite *w, struct emulate_op *op, const u8 *bytes)
{
	const ZydisDecodedInstruction *zi = w->zi;
	u8 n = 0, at = 0, modrm;

	for (; at < zi->raw.prefix_count; at++) {
		u8 b = bytes[at];

		if ((zi->attributes & ZYDIS_ATTRIB_HAS_REX) && at == zi->raw.rex.offset)
			op->code[n++] = w->memory ? (u8)(b & ~(REX_B | REX_X)) : b;
		else if (!is_dropped(w, b))
			op->code[n++] = b;
	}
	if (!(zi->attributes & ZYDIS_ATTRIB_HAS_MODRM)) {
		while (at < zi->length)
			op->code[n++] = bytes[at++];
		return n;
	}
	while (at < zi->raw.modrm.offset)
		op->code[n++] = bytes[at++];
	modrm = bytes[at++];
	if (w->memory)
		modrm = (u8)((modrm & 0x38) | op->pointer);
	if (w->reg)
		modrm = (u8)((modrm & 0xc7) | op->stack << 3);
	if (w->rm)
		modrm = (u8)((modrm & 0xf8) | op->stack);
	op->code[n++] = modrm;
	if (w->memory)
		at = (u8)(zi->raw.disp.size ?
				  zi->raw.disp.offset + zi->raw.disp.size / 8 :
				  zi->raw.modrm.offset +
					  ((zi->attributes & ZYDIS_ATTRIB_HAS_SIB) ? 2 : 1));
	while (at < zi->length)
		op->code[n++] = bytes[at++];
	return n;
}

static bool same_register(const struct emulate_op *op, ZydisRegister old, ZydisRegister now)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(old);

	if (number_of(old) != REG_RSP)
		return now == old;
	return class != ZYDIS_REGCLASS_GPR8 && class == ZydisRegisterGetClass(now) &&
	       number_of(now) == op->stack;
}

/* Is the rewritten instruction otherwise the same? */
static bool is_right(const ZydisDecoder *decoder, const struct rewrite *w,
		     const struct emulate_op *op, u8 length)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction now;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, op->code, length, &now, operands)) ||
	    now.length != length || now.mnemonic != w->zi->mnemonic ||
	    now.operand_width != w->zi->operand_width ||
	    now.operand_count != w->zi->operand_count ||
	    (now.attributes ^ w->zi->attributes) & ZYDIS_ATTRIB_HAS_LOCK)
		return false;
	for (unsigned i = 0; i < now.operand_count; i++) {
		const ZydisDecodedOperand *a = &w->operands[i], *b = &operands[i];

		if (a->type != b->type || a->size != b->size || a->actions != b->actions)
			return false;
		switch (a->type) {
		case ZYDIS_OPERAND_TYPE_REGISTER:
			if (!same_register(op, a->reg.value, b->reg.value))
				return false;
			break;
		case ZYDIS_OPERAND_TYPE_MEMORY:
			if (b->mem.base != (ZydisRegister)(ZYDIS_REGISTER_RAX + op->pointer) ||
			    b->mem.index != ZYDIS_REGISTER_NONE || b->mem.disp.value ||
			    b->mem.segment != ZYDIS_REGISTER_DS)
				return false;
			break;
		default:
			if (a->imm.value.u != b->imm.value.u)
				return false;
			break;
		}
	}
	return true;
}

static enum emulate_kind decode_run(const ZydisDecoder *decoder, struct emulate_op *op,
				    const struct instruction *insn, struct rewrite *w)
{
	u32 used;
	u8 length;

	if (!look_at_operands(w) || insn->incomplete || insn->n_access != w->memory ||
	    (w->memory && insn->access[0].form != FORM_PLAIN))
		return EMULATE_REFUSED;
	used = registers_used(w);
	if (w->memory)
		op->pointer = take_free(&used);
	if (w->reg || w->rm)
		op->stack = take_free(&used);
	if ((w->memory && op->pointer == REG_NONE) || ((w->reg || w->rm) && op->stack == REG_NONE))
		return EMULATE_REFUSED;
	length = write_code(w, op, insn->bytes);
	if (!is_right(decoder, w, op, length))
		return EMULATE_REFUSED;
	op->code[length] = RET_OPCODE;
	return EMULATE_DIRECT;
}

/* ---- what C does ---- */

static bool has_operand_size_prefix(const ZydisDecodedInstruction *zi)
{
	for (unsigned i = 0; i < zi->raw.prefix_count; i++)
		if (zi->raw.prefixes[i].value == 0x66)
			return true;
	return false;
}

/* Decode the target of a branch, or the operand of PUSH. */
static bool decode_source(struct emulate_op *op, const struct instruction *insn,
			  const struct rewrite *w)
{
	const ZydisDecodedOperand *o = &w->operands[0];

	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		op->value = (u64)o->imm.value.s;
		if (o->imm.is_relative)
			op->value += insn->rip + insn->length;
		return true;
	case ZYDIS_OPERAND_TYPE_REGISTER:
		op->reg = decode_gpr_number(o->reg.value);
		return ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_GPR64;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		op->memory = true;
		return insn->n_access && insn->access[0].load && insn->access[0].bytes == 8;
	default:
		return false;
	}
}

static enum emulate_kind decode_branch(struct emulate_op *op, const struct instruction *insn,
				       const struct rewrite *w)
{
	/* Processors differ in the effect of an operand size prefix here. */
	if (has_operand_size_prefix(w->zi))
		return EMULATE_REFUSED;
	switch (insn->branch) {
	case BRANCH_CONDITIONAL:
		if (!decode_source(op, insn, w))
			return EMULATE_REFUSED;
		return w->zi->mnemonic == ZYDIS_MNEMONIC_LOOP ||
				       w->zi->mnemonic == ZYDIS_MNEMONIC_LOOPE ||
				       w->zi->mnemonic == ZYDIS_MNEMONIC_LOOPNE ?
			       EMULATE_COUNTED :
			       EMULATE_CONDITIONAL;
	case BRANCH_JUMP:
		return decode_source(op, insn, w) ? EMULATE_JUMP : EMULATE_REFUSED;
	case BRANCH_CALL:
		return decode_source(op, insn, w) ? EMULATE_CALL : EMULATE_REFUSED;
	case BRANCH_RETURN:
		op->release = w->zi->raw.imm[0].size ? (u16)w->zi->raw.imm[0].value.u : 0;
		return EMULATE_RETURN;
	default:
		return EMULATE_REFUSED;
	}
}

static enum emulate_kind decode_lea(struct emulate_op *op, const struct instruction *insn,
				    const struct rewrite *w)
{
	op->reg = decode_gpr_number(w->operands[0].reg.value);
	op->address = decode_operand(insn, w->zi, &w->operands[1]);
	op->address.segment = SEGMENT_DS;
	op->value = w->zi->operand_width == 64 ? ~0ULL : ~(u32)0;
	return w->zi->operand_width < 32 ? EMULATE_REFUSED : EMULATE_LEA;
}

/* CLFLUSH faults like a load. */
static enum emulate_kind decode_flush(struct emulate_op *op, const struct instruction *insn,
				      const struct rewrite *w)
{
	op->address = decode_operand(insn, w->zi, &w->operands[0]);
	return EMULATE_FLUSH;
}

static enum emulate_kind decode_stack(struct emulate_op *op, const struct instruction *insn,
				      const struct rewrite *w)
{
	const ZydisDecodedOperand *o = &w->operands[0];

	if (w->zi->operand_width != 64)
		return EMULATE_REFUSED;
	switch (w->zi->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		return decode_source(op, insn, w) ? EMULATE_PUSH : EMULATE_REFUSED;
	case ZYDIS_MNEMONIC_POP:
		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    ZydisRegisterGetClass(o->reg.value) != ZYDIS_REGCLASS_GPR64)
			return EMULATE_REFUSED;
		op->reg = decode_gpr_number(o->reg.value);
		return EMULATE_POP;
	default:
		return EMULATE_LEAVE;
	}
}

static enum emulate_kind kind_of(const ZydisDecoder *decoder, struct emulate_op *op,
				 const struct instruction *insn, struct rewrite *w)
{
	const ZydisDecodedInstruction *zi = w->zi;

	if (insn->branch != BRANCH_NONE)
		return decode_branch(op, insn, w);
	if (insn->kind != INSN_PLAIN)
		return EMULATE_REFUSED;
	if (is_nothing(zi))
		return EMULATE_NOTHING;
	if (zi->meta.category == ZYDIS_CATEGORY_STRINGOP)
		return emulate_string_knows(insn) ? EMULATE_STRING : EMULATE_REFUSED;
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
		return decode_lea(op, insn, w);
	case ZYDIS_MNEMONIC_CLFLUSH:
		return decode_flush(op, insn, w);
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_SFENCE:
		return decode_run(decoder, op, insn, w);
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_LEAVE:
		return decode_stack(op, insn, w);
	default:
		w->vector = op->vector = is_vector(zi);
		return is_plain(zi) || w->vector ? decode_run(decoder, op, insn, w) :
						   EMULATE_REFUSED;
	}
}

void emulate_decode(const ZydisDecoder *decoder, struct emulate_op *op,
		    const struct instruction *insn)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	struct rewrite w = { .zi = &zi, .operands = operands };

	*op = (struct emulate_op){
		.kind = EMULATE_REFUSED, .pointer = REG_NONE, .stack = REG_NONE, .reg = REG_NONE
	};
	if (insn->mode != 64 || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, insn->bytes,
								     insn->length, &zi, operands)))
		return;
	op->kind = (u8)kind_of(decoder, op, insn, &w);
}
