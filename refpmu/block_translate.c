/* SPDX-License-Identifier: MIT */
/* See block.h: the cache of blocks, and making one. */
#include "refpmu/block_emit.h"

#define PAGE	4096u

void block_init(struct block_cache *cache, struct block_region *region,
		const struct block_source *source, const u8 exit_code[3])
{
	cache->region = region;
	cache->source = source;
	__builtin_memcpy(cache->exit_code, exit_code, sizeof(cache->exit_code));
	ZydisDecoderInit(&cache->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (unsigned i = 0; i < 256; i++)
		region->trap_flag[i] = i & 1;		/* bit 8 */
	block_flush(cache);
	cache->flushed = 0;
}

void block_flush(struct block_cache *cache)
{
	struct emitter e;

	for (u32 i = 0; i < cache->n_blocks; i++)
		cache->region->indirect[cache->block[i].rip % BLOCK_TARGETS] = 0;
	for (u32 i = 0; i < BLOCK_BUCKETS; i++)
		cache->bucket[i] = BLOCK_NONE;
	cache->n_blocks = cache->n_insns = 0;
	cache->most_accesses = 1;
	cache->left_block = BLOCK_NONE;
	cache->flushed++;
	cache->code_used = 0;
	emit_begin(&e, cache);
	emit_miss(&e);
	emit_store(&e);
}

/* The guest's bytes at this address, some of which may be there already. */
static unsigned look(struct block_cache *cache, u64 rip, const u8 **bytes)
{
	u64 at = rip - cache->fetched;

	if (at >= cache->n_fetched || cache->n_fetched - at < INSN_MAX_BYTES) {
		cache->fetched = rip;
		cache->n_fetched = cache->source->fetch(cache->source->ctx, rip, cache->guest,
							sizeof(cache->guest));
		at = 0;
	}
	*bytes = cache->guest + at;
	return cache->n_fetched - (unsigned)at;
}

/* Decode up to the block's end: how many instructions, and their bytes in a row. */
static unsigned read_block(struct block_cache *cache, u64 rip, unsigned limit,
			   struct block_op *op, u8 *guest, unsigned *length)
{
	u64 page = rip / PAGE;
	unsigned n = 0, used = 0;

	while (n < limit && (rip + used) / PAGE == page) {
		const u8 *bytes;
		unsigned available = look(cache, rip + used, &bytes);

		block_op_decode(&cache->decoder, &op[n], rip + used, bytes, available);
		if (op[n].kind == OP_REFUSED || (op[n].kind == OP_REP && n))
			break;
		__builtin_memcpy(guest + used, bytes, op[n].length);
		used += op[n].length;
		n++;
		/* What a store changes is compared before it runs. An interrupt that STI has let
		 * in comes behind the next instruction. */
		if (op[n - 1].kind >= OP_CONDITIONAL || op[n - 1].stores ||
		    (n > 1 && op[n - 2].shadow))
			break;
	}
	while (n && op[n - 1].shadow)
		used -= op[--n].length;
	*length = used;
	return n;
}

static void note_insn(struct block_cache *cache, struct block_insn *insn,
		      const struct block_op *op, u64 rip)
{
	if (op->loads > cache->most_accesses)
		cache->most_accesses = op->loads;
	if (op->stores > cache->most_accesses)
		cache->most_accesses = op->stores;
	*insn = (struct block_insn){
		.guest = (u8)(op->rip - rip),
		.loads = op->kind == OP_REP ? 0 : op->loads,
		.stores = op->kind == OP_REP ? 0 : op->stores, .locked = op->locked,
		.branch = op->branch, .shadow = op->shadow,
	};
}

bool block_room(const struct block_cache *cache)
{
	return cache->n_blocks < BLOCK_MAX && cache->n_insns + BLOCK_MAX_INSNS <= BLOCK_INSNS &&
	       cache->code_used + EMIT_MAX <= BLOCK_CODE;
}

struct block *block_translate(struct block_cache *cache, u64 rip, u8 limit)
{
	u8 guest[BLOCK_MAX_INSNS * INSN_MAX_BYTES];
	struct block_op op[BLOCK_MAX_INSNS];
	unsigned length, n;
	struct block_insn *insn;
	struct emitter e;
	struct block *block;
	u32 number;

	cache->n_fetched = 0;
	n = read_block(cache, rip, limit, op, guest, &length);
	if (!n)
		return NULL;
	number = cache->n_blocks++;
	block = &cache->block[number];
	*block = (struct block){ .rip = rip, .insns = cache->n_insns, .n = (u8)n,
				 .limit = limit };
	block->keeps_rax = block->keeps_rcx = true;
	block->lone = op[0].kind == OP_REP;
	block->loads = op[0].loads;
	block->stored = op[0].stores;
	insn = &cache->insn[block->insns];
	cache->n_insns += n;
	cache->region->executed[number] = cache->region->taken[number] = 0;

	emit_begin(&e, cache);
	emit_prologue(&e, block, number, guest, length);
	for (unsigned i = 0; i < n; i++) {
		note_insn(cache, &insn[i], &op[i], rip);
		block->stores = block->stores || op[i].stores;
		block->keeps_rax = block->keeps_rax && !(op[i].changes & BIT(REG_RAX));
		block->keeps_rcx = block->keeps_rcx && !(op[i].changes & BIT(REG_RCX));
		insn[i].host = (u16)(e.at - block->first);
		insn[i].restore = op[i].kind >= OP_CONDITIONAL ?
			emit_terminator(&e, &op[i], block, number) : emit_op(&e, &op[i]);
	}
	if (op[n - 1].kind < OP_CONDITIONAL)
		block->target[BLOCK_BEHIND] = rip + length;
	emit_end(&e, block, number, op[n - 1].kind < OP_CONDITIONAL);
	emit_store(&e);
	cache->translated++;

	block->next = cache->bucket[rip % BLOCK_BUCKETS];
	cache->bucket[rip % BLOCK_BUCKETS] = number;
	return block;
}
