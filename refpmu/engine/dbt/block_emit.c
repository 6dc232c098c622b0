/* SPDX-License-Identifier: MIT */
/* See block_emit.h. Encodings: SDM volume 2, "Instruction Format". */
#include "refpmu/engine/dbt/block_emit.h"

#define REX_W		0x48
#define CONTEXT(field)	((u32)offsetof(struct block_region, context.field))

#define WORD		8u
#define OPCODE_JMP	0xe9
#define LEAVE_BYTES	8u	/* bytes of block_emit_leave() */

void emit_begin(struct emitter *e, struct block_cache *cache)
{
	e->cache = cache;
	e->begin = e->at = cache->code_used;
	e->over_budget_jump = 0;
}

void emit_store(struct emitter *e)
{
	u32 words = (e->at - e->begin + WORD - 1) / WORD;
	u64 *to = (u64 *)(void *)&e->cache->region->code[e->begin];
	const u64 *from = (const u64 *)(const void *)e->buffer;

	for (u32 i = 0; i < words; i++)
		to[i] = from[i];
	e->cache->code_used = e->begin + words * WORD;
}

/* block_room() has made sure that there is room. */
static void byte(struct emitter *e, u8 value)
{
	if (e->at - e->begin < EMIT_MAX)
		e->buffer[e->at - e->begin] = value;
	e->at++;
}

/* Always inlined, so that short constants become single stores. */
static inline __attribute__((always_inline)) void bytes(struct emitter *e, const u8 *from,
							unsigned n)
{
	if (e->at - e->begin + n <= EMIT_MAX)
		__builtin_memcpy(&e->buffer[e->at - e->begin], from, n);
	e->at += n;
}

static inline __attribute__((always_inline)) void word(struct emitter *e, u64 value, unsigned n)
{
	bytes(e, (const u8 *)&value, n);
}

/* Copy a whole instruction: always the maximum length, of which n bytes belong to it. */
static void block_emit_copy(struct emitter *e, const u8 from[INSN_ROOM], unsigned n)
{
	if (e->at - e->begin + INSN_ROOM <= EMIT_MAX)
		__builtin_memcpy(&e->buffer[e->at - e->begin], from, INSN_ROOM);
	e->at += n;
}

/* A 32-bit displacement from the end of this field to an offset in the region, which contains
 * code[]. */
static void relative(struct emitter *e, u32 to)
{
	word(e, to - (u32)offsetof(struct block_region, code) - (e->at + 4), 4);
}

/* MOV [context], r64, and the reverse; r is below 8. */
static void save(struct emitter *e, u8 reg, u32 to)
{
	bytes(e, (const u8[]){ REX_W, 0x89, (u8)(0x05 | reg << 3) }, 3);
	relative(e, to);
}

static void block_emit_load(struct emitter *e, u8 reg, u32 from)
{
	bytes(e, (const u8[]){ REX_W, 0x8b, (u8)(0x05 | reg << 3) }, 3);
	relative(e, from);
}

/* MOV r64, imm64. */
static void constant(struct emitter *e, u8 reg, u64 value)
{
	bytes(e, (const u8[]){ (u8)(REX_W | reg >> 3), (u8)(0xb8 | (reg & 7)) }, 2);
	word(e, value, 8);
}

/* LEA r64, [r64 + disp32]; r is below 8 and not RSP. */
static void add_to(struct emitter *e, u8 reg, u32 value)
{
	bytes(e, (const u8[]){ REX_W, 0x8d, (u8)(0x80 | reg << 3 | reg) }, 3);
	word(e, value, 4);
}

/* LEA RCX, [RCX + RAX]. */
static void add_rax_to_rcx(struct emitter *e)
{
	bytes(e, (const u8[]){ REX_W, 0x8d, 0x0c, 0x01 }, 4);
}

/* Add to a counter in the region, by way of RAX. */
static void block_emit_count(struct emitter *e, u8 through, u32 counter)
{
	block_emit_load(e, through, counter);
	add_to(e, through, 1);
	save(e, through, counter);
}

static void block_emit_jump(struct emitter *e, u32 to)
{
	byte(e, 0xe9);
	word(e, to - (e->at + 4), 4);
}

/* JRCXZ; land() fills in its target. */
static u32 jump_if_rcx_zero(struct emitter *e)
{
	bytes(e, (const u8[]){ 0xe3, 0 }, 2);
	return e->at;
}

static void land(struct emitter *e, u32 from)
{
	if (e->at - e->begin <= EMIT_MAX)
		e->buffer[from - 1 - e->begin] = (u8)(e->at - from);
}

/*
 * Leave the block, with all registers as the guest's. The exit's number, 4 * block + exit, follows
 * as the displacement of a JMP that never runs: QEMU continues to translate after VMMCALL, so the
 * bytes there must be a jump or valid code. QEMU aborted when misaligned bytes looked like a
 * VPINSRW with 256 bits (gen_pinsr: Assertion `vec_len == 16').
 */
static void block_emit_leave(struct emitter *e, u32 number, u32 exit)
{
	bytes(e, e->cache->exit_code, sizeof(e->cache->exit_code));
	byte(e, OPCODE_JMP);
	word(e, 4 * number + exit, 4);
}

void emit_patch(struct block_cache *cache, u32 at, u32 to)
{
	u32 distance = to - (at + 4);

	__builtin_memcpy(&cache->region->code[at], &distance, sizeof(distance));
}

static u32 saves(const struct block *block)
{
	if (block->page == BLOCK_PAGE_NONE)
		return 2 * EMIT_SAVE;
	return block->check_first ? EMIT_SAVE : 0;
}

u32 emit_entry(const struct block *block, u32 saved)
{
	return block->entry + (saved < saves(block) ? saved : saves(block));
}

static void forward(struct block_cache *cache, const struct block *from, u32 at,
		    const struct block *to)
{
	for (u32 saved = 0; saved <= saves(from); saved += EMIT_SAVE) {
		cache->region->code[at + saved] = 0xe9;
		emit_patch(cache, at + saved + 1, emit_entry(to, saved));
	}
}

void emit_forward(struct block_cache *cache, const struct block *from, const struct block *to)
{
	forward(cache, from, from->entry, to);
	if (from->again != from->entry)
		forward(cache, from, from->again, to);
}

void emit_drop(struct block_cache *cache, const struct block *block)
{
	u32 id = 4 * (u32)(block - cache->block) + BLOCK_DROPPED;

	for (u32 saved = 0; saved <= saves(block); saved += EMIT_SAVE) {
		u8 *at = &cache->region->code[block->entry + saved];

		/* The next exit begins at the last byte of this one, which isn't used. */
		__builtin_memcpy(at, cache->exit_code, sizeof(cache->exit_code));
		at[sizeof(cache->exit_code)] = OPCODE_JMP;
		__builtin_memcpy(at + sizeof(cache->exit_code) + 1, &id, sizeof(id));
	}
}

void emit_miss(struct emitter *e)
{
	block_emit_load(e, REG_RAX, CONTEXT(rax));
	block_emit_load(e, REG_RCX, CONTEXT(rcx));
	block_emit_leave(e, BLOCK_MAX, 0);
}

/* MOV EAX, [address] or a part of it, zero-extended. */
static void load_guest(struct emitter *e, u64 address, unsigned n)
{
	if (n == 4) {
		byte(e, 0xa1);
		word(e, address, 8);
		return;
	}
	constant(e, REG_RAX, address);
	bytes(e, (const u8[]){ 0x0f, n == 2 ? 0xb7 : 0xb6, 0x00 }, 3);
}

/* Compare the first eight bytes with one load: RCX = the differences of their halves. */
static void compare_eight(struct emitter *e, u64 rip, const u8 *guest)
{
	u32 low, high;

	__builtin_memcpy(&low, guest, 4);
	__builtin_memcpy(&high, guest + 4, 4);
	bytes(e, (const u8[]){ REX_W, 0xa1 }, 2);		/* MOV RAX, [address] */
	word(e, rip, 8);
	bytes(e, (const u8[]){ 0x8d, 0x88 }, 2);		/* LEA ECX, [RAX - low] */
	word(e, 0u - low, 4);
	bytes(e, (const u8[]){ REX_W, 0x0f, 0xc8 }, 3);		/* BSWAP RAX */
	bytes(e, (const u8[]){ 0x8d, 0x80 }, 2);		/* LEA EAX, [RAX - swapped] */
	word(e, 0u - __builtin_bswap32(high), 4);
	add_rax_to_rcx(e);
}

/*
 * RCX = 0 if the guest's bytes are these. Each difference is zero-extended from 32 bits, so their
 * sum is 0 only if all are 0.
 */
static void compare(struct emitter *e, u64 rip, const u8 *guest, unsigned length)
{
	unsigned begin = length >= 8 ? 8 : 0;

	if (begin)
		compare_eight(e, rip, guest);
	for (unsigned at = begin; at < length;) {
		unsigned n = length - at >= 4 ? 4 : length - at >= 2 ? 2 : 1;
		u32 expected = 0;

		/* The last piece may overlap the previous one. */
		if (n < 4 && length >= 4) {
			at = length - 4;
			n = 4;
		}
		__builtin_memcpy(&expected, guest + at, n);
		load_guest(e, rip + at, n);
		/* LEA ECX or EAX, [RAX - expected] */
		bytes(e, (const u8[]){ 0x8d, at ? 0x80 : 0x88 }, 2);
		word(e, 0u - expected, 4);
		if (at)
			add_rax_to_rcx(e);
		at += n;
	}
}

/* Save both registers, in this order; each takes EMIT_SAVE bytes. */
static void save_both(struct emitter *e)
{
	save(e, REG_RCX, CONTEXT(rcx));
	save(e, REG_RAX, CONTEXT(rax));
}

/* Entry from an indirect branch: RCX is its target; RAX and RCX are saved in the context. */
static u32 indirect_entry(struct emitter *e, struct block *block)
{
	u32 hit;

	block->first = e->at;
	constant(e, REG_RAX, 0 - block->rip);
	add_rax_to_rcx(e);
	hit = jump_if_rcx_zero(e);
	block_emit_jump(e, 0);
	return hit;
}

static u32 executed_of(u32 number)
{
	return (u32)(offsetof(struct block_region, executed) + 8 * (size_t)number);
}

void emit_prologue(struct emitter *e, struct block *block, u32 number, const u8 *guest,
		   unsigned length)
{
	u32 hit = indirect_entry(e, block), enough;

	block->entry = e->at;
	save_both(e);
	land(e, hit);
	compare(e, block->rip, guest, length);

	block->check = e->at;
	block_emit_load(e, REG_RAX, CONTEXT(budget));
	add_to(e, REG_RAX, 0u - block->n);
	block->check_end = e->at;
	save(e, REG_RAX, CONTEXT(budget));
	/* A negative budget has a highest byte other than 0: BSWAP RAX; MOVZX EAX, AL. */
	bytes(e, (const u8[]){ REX_W, 0x0f, 0xc8, 0x0f, 0xb6, 0xc0 }, 6);
	add_rax_to_rcx(e);
	enough = jump_if_rcx_zero(e);
	block_emit_load(e, REG_RAX, CONTEXT(rax));
	block_emit_load(e, REG_RCX, CONTEXT(rcx));
	block_emit_leave(e, number, BLOCK_CHECK);
	/* Entry from the block itself, which has no stores: its bytes are still the same. */
	block->again = e->at;
	save_both(e);
	byte(e, 0xb9);				/* MOV ECX, 0 */
	word(e, 0, 4);
	block_emit_jump(e, block->check);

	land(e, enough);
	block_emit_count(e, REG_RAX, executed_of(number));
	block_emit_load(e, REG_RAX, CONTEXT(rax));
	block_emit_load(e, REG_RCX, CONTEXT(rcx));
	block->body = e->at;
}

void emit_protected_prologue(struct emitter *e, struct block *block, u32 number)
{
	u32 enough;

	land(e, indirect_entry(e, block));
	block_emit_load(e, REG_RAX, CONTEXT(rax));
	block_emit_load(e, REG_RCX, CONTEXT(rcx));
	block->entry = block->again = block->body = block->check = block->check_end = e->at;
	if (!block->check_first)
		return;
	save(e, REG_RCX, CONTEXT(rcx));
	block->check = e->at;
	block_emit_load(e, REG_RCX, CONTEXT(budget));
	add_to(e, REG_RCX, 0u - block->n);
	block->check_end = e->at;
	save(e, REG_RCX, CONTEXT(budget));
	/* A negative budget has a highest byte other than 0: MOVZX ECX, [budget + 7]. */
	bytes(e, (const u8[]){ 0x0f, 0xb6, 0x0d }, 3);
	relative(e, CONTEXT(budget) + 7);
	enough = jump_if_rcx_zero(e);
	block_emit_load(e, REG_RCX, CONTEXT(rcx));
	block_emit_leave(e, number, BLOCK_CHECK);
	land(e, enough);
	block_emit_count(e, REG_RCX, executed_of(number));
	block_emit_load(e, REG_RCX, CONTEXT(rcx));
	block->body = e->at;
}

void emit_late_check(struct emitter *e, const struct block *block, u32 number)
{
	/* SUB QWORD [budget], n: the displacement is from the instruction's end. */
	bytes(e, (const u8[]){ REX_W, 0x83, 0x2d }, 3);
	relative(e, CONTEXT(budget) - 1);
	byte(e, block->n);
	bytes(e, (const u8[]){ 0x0f, 0x88 }, 2);		/* JS */
	word(e, 0, 4);
	e->over_budget_jump = e->at - 4;
	bytes(e, (const u8[]){ REX_W, 0xff, 0x05 }, 3);		/* INC QWORD [executed] */
	relative(e, executed_of(number));
}

u8 emit_op(struct emitter *e, const struct block_op *op)
{
	u8 rewritten[INSN_ROOM];

	switch (op->kind) {
	case OP_CONSTANT:
		if (op->wide) {
			constant(e, op->scratch_register, op->target);
			return 0;
		}
		if (op->scratch_register >= 8)
			byte(e, 0x41);
		byte(e, (u8)(0xb8 | (op->scratch_register & 7)));
		word(e, op->target, 4);
		return 0;
	case OP_RIP_RELATIVE:
		save(e, op->scratch_register, CONTEXT(scratch));
		constant(e, op->scratch_register, op->target);
		block_emit_copy(e, rewritten, block_op_rewrite(op, rewritten));
		block_emit_load(e, op->scratch_register, CONTEXT(scratch));
		return (u8)(RESTORE_SCRATCH | (u64)op->scratch_register << RESTORE_SHIFT);
	default:
		block_emit_copy(e, op->bytes, op->length);
		return 0;
	}
}

/*
 * Record that a branch of the block is taken. All registers are kept; for an indirect branch RAX
 * and RCX are saved in the context, and RCX has the target.
 */
static void keep_branch(struct emitter *e, u32 number, bool indirect)
{
	if (!e->cache->keep_branches)
		return;
	if (!indirect)
		save_both(e);
	block_emit_load(e, REG_RAX, CONTEXT(branches));
	bytes(e, (const u8[]){ REX_W, 0x8d, 0x0d }, 3);		/* LEA RCX, branch */
	relative(e, (u32)offsetof(struct block_region, branch));
	bytes(e, (const u8[]){ REX_W, 0x8d, 0x04, 0x08 }, 4);	/* LEA RAX, [RAX + RCX] */
	bytes(e, (const u8[]){ 0xc7, 0x00 }, 2);		/* MOV DWORD [RAX], number */
	word(e, number, 4);
	bytes(e, (const u8[]){ 0x8b, 0x0d }, 2);		/* MOV ECX, [budget] */
	relative(e, CONTEXT(budget));
	bytes(e, (const u8[]){ 0x89, 0x48, offsetof(struct block_branch, budget) }, 3);
	if (indirect) {
		block_emit_load(e, REG_RCX, CONTEXT(target));
		bytes(e, (const u8[]){ REX_W, 0x89, 0x48, offsetof(struct block_branch, target) },
		      4);
	}
	block_emit_load(e, REG_RAX, CONTEXT(branches));
	add_to(e, REG_RAX, sizeof(struct block_branch));
	save(e, REG_RAX, CONTEXT(branches));
	if (!indirect) {
		block_emit_load(e, REG_RCX, CONTEXT(rcx));
		block_emit_load(e, REG_RAX, CONTEXT(rax));
	}
}

/*
 * RCX is the target; RAX and RCX are saved in the context. Jump to the block that was entered last
 * for these low 16 bits; that block checks whether the target is its own.
 */
static void go_indirect(struct emitter *e, const struct block *block, u32 number)
{
	save(e, REG_RCX, CONTEXT(target));
	keep_branch(e, number, true);
	/* A shortened block leaves no reserve to a successor that checks the budget late. */
	if (block->limit != BLOCK_MAX_INSNS) {
		emit_miss(e);
		return;
	}
	save(e, REG_RDX, CONTEXT(rdx));
	bytes(e, (const u8[]){ 0x0f, 0xb7, 0xd1 }, 3);		/* MOVZX EDX, CX */
	bytes(e, (const u8[]){ REX_W, 0x8d, 0x05 }, 3);		/* LEA RAX, indirect */
	relative(e, (u32)offsetof(struct block_region, jump_cache));
	bytes(e, (const u8[]){ 0x8b, 0x04, 0x90 }, 3);		/* MOV EAX, [RAX + 4 * RDX] */
	bytes(e, (const u8[]){ REX_W, 0x8d, 0x15 }, 3);		/* LEA RDX, code */
	relative(e, (u32)offsetof(struct block_region, code));
	bytes(e, (const u8[]){ REX_W, 0x8d, 0x04, 0x10 }, 4);	/* LEA RAX, [RAX + RDX] */
	block_emit_load(e, REG_RDX, CONTEXT(rdx));
	bytes(e, (const u8[]){ 0xff, 0xe0 }, 2);		/* JMP RAX */
}

/* PUSH an address with one store; RAX may be changed. */
static void push_through_rax(struct emitter *e, u64 address)
{
	constant(e, REG_RAX, address);
	byte(e, 0x50);
}

/* RCX = the pointer that the branch reads from memory. */
static void load_pointer(struct emitter *e, const struct block_op *op)
{
	if (op->rip_relative)
		constant(e, REG_RCX, op->target);
	for (unsigned i = 0; i < 2; i++)
		if (op->prefix[i])
			byte(e, op->prefix[i]);
	byte(e, (u8)(REX_W | (op->rip_relative ? 0 : op->rex)));
	byte(e, 0x8b);
	if (op->rip_relative) {
		byte(e, 0x09);				/* MOV RCX, [RCX] */
		return;
	}
	byte(e, (u8)((op->bytes[op->modrm] & 0xc7) | REG_RCX << 3));
	bytes(e, op->bytes + op->modrm + 1, (unsigned)(op->length - op->modrm - 1));
}

/* JMP to an exit; it will be patched to the target's block. */
static void jump_out(struct emitter *e, struct block *block, unsigned exit, u64 target)
{
	block->target[exit] = target;
	block->patch[exit] = e->at + 1;
	byte(e, 0xe9);
	word(e, 0, 4);
}

static void emit_conditional(struct emitter *e, const struct block_op *op, struct block *block,
			     u32 number)
{
	u32 taken = (u32)(offsetof(struct block_region, taken) + 8 * (size_t)number);
	bool counts = e->cache->count_taken;
	u32 from;

	if (op->kind == OP_COUNTED) {
		/* Patch its rel8 (the last byte) so that it skips the following jump. */
		bytes(e, op->bytes, op->length - 1u);
		byte(e, 5);
		from = 0;
	} else {
		bytes(e, (const u8[]){ 0x0f, (u8)(0x80 | op->condition) }, 2);
		word(e, 5, 4);
		from = e->at - 4;
	}
	jump_out(e, block, BLOCK_FALLTHROUGH, op->rip + op->length);
	if (!counts && !e->cache->keep_branches && from) {
		/* The branch itself can jump to the target. */
		block->target[BLOCK_TAKEN] = op->target;
		block->patch[BLOCK_TAKEN] = from;
		return;
	}
	if (counts) {
		save(e, REG_RCX, CONTEXT(rcx));
		block_emit_count(e, REG_RCX, taken);
		block_emit_load(e, REG_RCX, CONTEXT(rcx));
	}
	keep_branch(e, number, false);
	jump_out(e, block, BLOCK_TAKEN, op->target);
}

/*
 * If the flags on the stack have the trap flag, the instruction needs a step: leave by an
 * exception. The code must not change flags, because the stack may not be mapped.
 */
static void emit_popf(struct emitter *e, const struct block_op *op)
{
	u32 good;

	save(e, REG_RAX, CONTEXT(rax));
	save(e, REG_RCX, CONTEXT(rcx));
	bytes(e, (const u8[]){ 0x0f, 0xb6, 0x4c, 0x24, 0x01 }, 5);	/* MOVZX ECX, [RSP + 1] */
	bytes(e, (const u8[]){ REX_W, 0x8d, 0x05 }, 3);			/* LEA RAX, trap_flag */
	relative(e, (u32)offsetof(struct block_region, trap_flag));
	bytes(e, (const u8[]){ 0x0f, 0xb6, 0x0c, 0x08 }, 4);		/* MOVZX ECX, [RAX + RCX] */
	good = jump_if_rcx_zero(e);
	bytes(e, (const u8[]){ 0x0f, 0x0b }, 2);			/* UD2 */
	land(e, good);
	block_emit_load(e, REG_RAX, CONTEXT(rax));
	block_emit_load(e, REG_RCX, CONTEXT(rcx));
	bytes(e, op->bytes, op->length);
}

u8 emit_terminator(struct emitter *e, const struct block_op *op, struct block *block, u32 number)
{
	u64 next_ip = op->rip + op->length;

	switch (op->kind) {
	case OP_CONDITIONAL:
	case OP_COUNTED:
		emit_conditional(e, op, block, number);
		return 0;
	case OP_JUMP:
		keep_branch(e, number, false);
		jump_out(e, block, BLOCK_TAKEN, op->target);
		return 0;
	case OP_CALL:
		if ((u64)(int64_t)(int32_t)next_ip == next_ip) {
			byte(e, 0x68);
			word(e, next_ip, 4);
			keep_branch(e, number, false);
			jump_out(e, block, BLOCK_TAKEN, op->target);
			return 0;
		}
		save(e, REG_RAX, CONTEXT(rax));
		push_through_rax(e, next_ip);
		block_emit_load(e, REG_RAX, CONTEXT(rax));
		keep_branch(e, number, false);
		jump_out(e, block, BLOCK_TAKEN, op->target);
		return RESTORE_RAX;
	case OP_REP:
		bytes(e, op->bytes, op->length);
		jump_out(e, block, BLOCK_FALLTHROUGH, next_ip);
		return 0;
	case OP_POPF:
		emit_popf(e, op);
		jump_out(e, block, BLOCK_FALLTHROUGH, next_ip);
		return RESTORE_RAX | RESTORE_RCX;
	case OP_RETURN:
		save(e, REG_RAX, CONTEXT(rax));
		save(e, REG_RCX, CONTEXT(rcx));
		byte(e, 0x59);				/* POP RCX */
		if (op->release) {
			bytes(e, (const u8[]){ REX_W, 0x8d, 0xa4, 0x24 }, 4);
			word(e, op->release, 4);
		}
		break;
	default:
		save(e, REG_RAX, CONTEXT(rax));
		save(e, REG_RCX, CONTEXT(rcx));
		load_pointer(e, op);
		if (op->kind == OP_CALL_INDIRECT)
			push_through_rax(e, next_ip);
		break;
	}
	go_indirect(e, block, number);
	return RESTORE_RAX | RESTORE_RCX;
}

/* Set the target of a jump in the code that is being made. */
static void aim(struct emitter *e, u32 jump_at, u32 to)
{
	u32 distance = to - (jump_at + 4);

	__builtin_memcpy(&e->buffer[jump_at - e->begin], &distance, sizeof(distance));
}

void emit_end(struct emitter *e, struct block *block, u32 number, bool falls_through,
	      const struct block_op *late)
{
	if (falls_through)
		jump_out(e, block, BLOCK_FALLTHROUGH, block->target[BLOCK_FALLTHROUGH]);
	if (late) {
		aim(e, e->over_budget_jump, e->at);
		emit_op(e, late);
		block_emit_leave(e, number, BLOCK_CHECK);
	}
	for (u32 exit = BLOCK_FALLTHROUGH; exit <= BLOCK_TAKEN; exit++) {
		u32 known;

		if (!block->patch[exit] || e->at + LEAVE_BYTES - e->begin > EMIT_MAX)
			continue;
		aim(e, block->patch[exit], e->at);
		block_emit_leave(e, number, exit);
		known = block_way_to(e->cache, block, exit);
		if (known)
			aim(e, block->patch[exit], known);
	}
}
