/* SPDX-License-Identifier: MIT */
/* See emulate.h: runs emulated instructions. */
#include "refpmu/engine/emulate/emulate.h"
#include "spec/x86.h"

#define RFLAGS_THEIRS	(RFLAGS_STATUS | RFLAGS_DF)	/* flags that it may change */

static void *nth_access_at(const struct emulate_ops *world, const struct instruction *insn,
			   const u64 gpr[REG_COUNT], unsigned n)
{
	const struct insn_access *access = &insn->access[n];

	return world->at(world->ctx, world->linear(world->ctx, insn, access, gpr), access->bytes,
			 access->store);
}

/* The host's address of the instruction's only access. */
static void *access_at(const struct emulate_ops *world, const struct instruction *insn,
		       const u64 gpr[REG_COUNT])
{
	return nth_access_at(world, insn, gpr, 0);
}

/* The code at a place from which it may run. Instructions with the same bytes share it. */
static const void *slot_of(const struct emulate_ops *world, const struct emulate_op *op)
{
	u64 a, b, *slot;

	__builtin_memcpy(&a, op->code, 8);
	__builtin_memcpy(&b, op->code + 8, 8);
	slot = (u64 *)(void *)
		       world->code->slot[((a ^ b) * 0x9e3779b97f4a7c15ULL >> 48) % EMULATE_SLOTS];
	if (slot[0] != a || slot[1] != b) {
		slot[0] = a;
		slot[1] = b;
	}
	return slot;
}

static bool run_code(const struct emulate_op *op, const struct instruction *insn,
		     const struct emulate_state *state, const struct emulate_ops *world)
{
	u64 *gpr = state->gpr, flags = (*state->rflags & RFLAGS_THEIRS) | RFLAGS_FIXED;
	u64 pointer = 0, stack = 0;

	if (op->pointer != REG_NONE) {
		void *at = access_at(world, insn, gpr);

		if (!at)
			return false;
		pointer = gpr[op->pointer];
		gpr[op->pointer] = (u64)at;
	}
	if (op->stack != REG_NONE) {
		stack = gpr[op->stack];
		gpr[op->stack] = gpr[REG_RSP];
	}
	emulate_call(gpr, &flags, slot_of(world, op));
	if (op->stack != REG_NONE) {
		gpr[REG_RSP] = gpr[op->stack];
		gpr[op->stack] = stack;
	}
	if (op->pointer != REG_NONE)
		gpr[op->pointer] = pointer;
	*state->rflags = (*state->rflags & ~RFLAGS_THEIRS) | (flags & RFLAGS_THEIRS);
	return true;
}

static bool read_word(const struct emulate_ops *world, u64 linear, u64 *value)
{
	const void *at = world->at(world->ctx, linear, sizeof(*value), false);

	if (at)
		__builtin_memcpy(value, at, sizeof(*value));
	return at;
}

static bool emulate_run_push(u64 gpr[REG_COUNT], const struct emulate_ops *world, u64 value)
{
	void *at = world->at(world->ctx, gpr[REG_RSP] - sizeof(value), sizeof(value), true);

	if (!at)
		return false;
	__builtin_memcpy(at, &value, sizeof(value));
	gpr[REG_RSP] -= sizeof(value);
	return true;
}

static bool run_string(const struct instruction *insn, const struct emulate_state *state,
		       const struct emulate_ops *world)
{
	struct string_places at = { NULL, NULL };

	if (*state->rflags & RFLAGS_DF)
		return false;
	for (unsigned i = 0; i < insn->n_access; i++) {
		void **place = insn->access[i].base == REG_RSI ? &at.rsi : &at.rdi;

		*place = nth_access_at(world, insn, state->gpr, i);
		if (!*place)
			return false;
	}
	emulate_string(insn, state, &at);
	return true;
}

static bool source(const struct emulate_op *op, const struct instruction *insn,
		   const u64 gpr[REG_COUNT], const struct emulate_ops *world, u64 *value)
{
	const void *at;

	*value = op->reg == REG_NONE ? op->value : gpr[op->reg];
	if (!op->memory)
		return true;
	/* Of PUSH, the first access is the load. */
	at = access_at(world, insn, gpr);
	if (at)
		__builtin_memcpy(value, at, sizeof(*value));
	return at;
}

/* *rip: the address of the next instruction. */
static bool run_other(const struct emulate_op *op, const struct instruction *insn,
		      const struct emulate_state *state, const struct emulate_ops *world, u64 *rip)
{
	u64 *gpr = state->gpr, behind = insn->rip + insn->length, value;

	*rip = behind;
	switch (op->kind) {
	case EMULATE_NOTHING:
		return true;
	case EMULATE_FLUSH:
		return world->at(world->ctx, world->linear(world->ctx, insn, &op->address, gpr), 1,
				 false);
	case EMULATE_LEA:
		gpr[op->reg] = world->linear(world->ctx, insn, &op->address, gpr) & op->value;
		return true;
	case EMULATE_PUSH:
		return source(op, insn, gpr, world, &value) && emulate_run_push(gpr, world, value);
	case EMULATE_POP:
		if (!read_word(world, gpr[REG_RSP], &value))
			return false;
		gpr[REG_RSP] += sizeof(value);
		gpr[op->reg] = value;
		return true;
	case EMULATE_LEAVE:
		if (!read_word(world, gpr[REG_RBP], &value))
			return false;
		gpr[REG_RSP] = gpr[REG_RBP] + sizeof(value);
		gpr[REG_RBP] = value;
		return true;
	case EMULATE_CONDITIONAL:
	case EMULATE_COUNTED:
		if (decode_condition(insn, gpr, *state->rflags))
			*rip = op->value;
		if (!address_is_canonical(*rip))
			return false;
		if (op->kind == EMULATE_COUNTED)
			gpr[REG_RCX] = (gpr[REG_RCX] - 1) & insn->count_mask;
		return true;
	case EMULATE_JUMP:
		return source(op, insn, gpr, world, rip) && address_is_canonical(*rip);
	case EMULATE_CALL:
		return source(op, insn, gpr, world, rip) && address_is_canonical(*rip) &&
		       emulate_run_push(gpr, world, behind);
	case EMULATE_RETURN:
		if (!read_word(world, gpr[REG_RSP], rip) || !address_is_canonical(*rip))
			return false;
		gpr[REG_RSP] += sizeof(*rip) + op->release;
		return true;
	case EMULATE_STRING:
		return run_string(insn, state, world);
	default:
		return false;
	}
}

bool emulate_run(const struct emulate_op *op, const struct instruction *insn,
		 const struct emulate_state *state, const struct emulate_ops *world)
{
	u64 rip = insn->rip + insn->length;
	bool done = op->kind == EMULATE_DIRECT ? run_code(op, insn, state, world) :
						 run_other(op, insn, state, world, &rip);

	if (done)
		*state->rip = rip;
	return done;
}
