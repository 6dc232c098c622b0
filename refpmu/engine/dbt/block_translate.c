/* SPDX-License-Identifier: MIT */
/* See block.h: the cache of blocks, and the translation of one block. */
#include "refpmu/engine/dbt/block_emit.h"
#include "refpmu/engine/dbt/block_page.h"

#define PAGE	BLOCK_PAGE_SIZE

void block_init(struct block_cache *cache, struct block_region *region,
		const struct block_source *source, const u8 exit_code[3])
{
	struct emitter e;

	cache->region = region;
	cache->source = source;
	__builtin_memcpy(cache->exit_code, exit_code, sizeof(cache->exit_code));
	ZydisDecoderInit(&cache->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (unsigned i = 0; i < 256; i++)
		region->trap_flag[i] = i & 1;		/* bit 8 */
	cache->code_used = 0;
	emit_begin(&e, cache);
	emit_miss(&e);
	emit_store(&e);
	block_flush(cache);
	cache->flushed = 0;
}

void block_flush(struct block_cache *cache)
{
	for (u32 i = 0; i < cache->n_blocks; i++)
		cache->region->jump_cache[cache->block[i].rip % BLOCK_TARGETS] = 0;
	for (u32 i = 0; i < BLOCK_BUCKETS; i++)
		cache->bucket[i] = BLOCK_NONE;
	for (u32 i = 0; i < BLOCK_PAGES; i++)
		cache->page[i] = (struct block_page){ .protected = false };
	cache->n_blocks = cache->n_insns = 0;
	cache->most_accesses = 1;
	cache->left_block = BLOCK_NONE;
	cache->flushed++;
	/* Continue after the existing blocks as long as there is room: code that has run is slow to
	 * replace. */
	block_fresh_page(cache);
	if (cache->code_used > BLOCK_CODE / 2)
		cache->code_used = PAGE;
}

/* Read the guest's bytes at this address; some may be there already. */
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

/* After STI, interrupts come only after the next instruction: no block may end between the two. */
static unsigned without_shadow(const struct block_op *op, unsigned n, unsigned *length)
{
	while (n && op[n - 1].shadow)
		*length -= op[--n].length;
	return n;
}

static bool ends(const struct block_op *op, unsigned n)
{
	return op[n - 1].kind >= OP_CONDITIONAL || (n > 1 && op[n - 2].shadow);
}

/* On a protected page: read up to the end of the block or of the page. */
static unsigned read_protected(struct block_cache *cache, struct block_page *page, u64 rip,
			       unsigned limit, struct block_op *op, unsigned *length)
{
	unsigned at = (unsigned)(rip % PAGE), begin = at, n = 0;

	while (n < limit && at < PAGE) {
		unsigned left = PAGE - at;

		block_page_use(page, at);
		if (left < INSN_ROOM || !block_op_fast(&op[n], page->linear + at, page->bytes + at))
			block_op_decode(&cache->decoder, &op[n], page->linear + at,
					page->bytes + at, left);
		if (op[n].kind == OP_REFUSED || (op[n].kind == OP_REP && n))
			break;
		at += op[n++].length;
		if (ends(op, n))
			break;
	}
	*length = at - begin;
	return without_shadow(op, n, length);
}

/* Decode up to the block's end. Returns the number of instructions; their bytes are consecutive. */
static unsigned read_block(struct block_cache *cache, u64 rip, unsigned limit, struct block_op *op,
			   u8 *guest, unsigned *length)
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
		/* Bytes that a store may change are compared before they run. */
		if (ends(op, n) || op[n - 1].stores)
			break;
	}
	*length = used;
	return without_shadow(op, n, length);
}

static void note_insn(struct block_cache *cache, struct block_insn *insn, const struct block_op *op,
		      u64 rip)
{
	if (op->loads > cache->most_accesses)
		cache->most_accesses = op->loads;
	if (op->stores > cache->most_accesses)
		cache->most_accesses = op->stores;
	*insn = (struct block_insn){
		.guest = (u16)(op->rip - rip),
		.loads = op->kind == OP_REP ? 0 : op->loads,
		.stores = op->kind == OP_REP ? 0 : op->stores, .locked = op->locked,
		.branch = op->branch, .shadow = op->shadow,
	};
}

void block_fresh_page(struct block_cache *cache)
{
	cache->code_used = (cache->code_used + PAGE - 1) & ~(PAGE - 1);
}

bool block_room(const struct block_cache *cache)
{
	return cache->n_blocks < BLOCK_MAX && cache->n_insns + BLOCK_MAX_INSNS <= BLOCK_INSNS &&
	       cache->code_used + EMIT_MAX <= BLOCK_CODE;
}

static struct block *new_block(struct block_cache *cache, u64 rip, unsigned n, u8 limit)
{
	struct block *block = &cache->block[cache->n_blocks];

	*block = (struct block){ .rip = rip, .insns = cache->n_insns, .n = (u8)n, .limit = limit,
				 .page = BLOCK_PAGE_NONE, .keeps_rax = true, .keeps_rcx = true };
	cache->region->executed[cache->n_blocks] = cache->region->taken[cache->n_blocks] = 0;
	cache->n_insns += n;
	cache->n_blocks++;
	return block;
}

/* Sum up the effects of all instructions. */
static void sum_up(struct block_cache *cache, struct block *block, const struct block_op *op)
{
	struct block_insn *insn = &cache->insn[block->insns];

	block->unchained = op[0].kind == OP_REP;
	block->loads = op[0].loads;
	block->stored = op[0].stores;
	for (unsigned i = 0; i < block->n; i++) {
		note_insn(cache, &insn[i], &op[i], block->rip);
		block->all_loads = (u16)(block->all_loads + insn[i].loads);
		block->all_stores = (u16)(block->all_stores + insn[i].stores);
		block->all_locked = (u16)(block->all_locked + insn[i].locked);
		block->loading = (u8)(block->loading + !!insn[i].loads);
		block->storing = (u8)(block->storing + !!insn[i].stores);
		block->locking = (u8)(block->locking + !!insn[i].locked);
		block->stores = block->stores || op[i].stores;
		block->keeps_rax = block->keeps_rax && !(op[i].changes & BIT(REG_RAX));
		block->keeps_rcx = block->keeps_rcx && !(op[i].changes & BIT(REG_RCX));
	}
	block->last_branch = insn[block->n - 1].branch;
	block->last_indirect = op[block->n - 1].kind == OP_JUMP_INDIRECT ||
			       op[block->n - 1].kind == OP_CALL_INDIRECT;
	block->end = op[block->n - 1].rip + op[block->n - 1].length;
}

/* Choose where a protected block checks the budget: at an instruction after which the flags are
 * free, if there is one soon. That instruction runs before the check. */
static void choose_check(struct block *block, const struct block_op *op)
{
	for (unsigned i = 0; i < block->n && i < BLOCK_LATE_CHECK && !op[i].shadow; i++)
		if (op[i].frees_flags) {
			block->check_at = (u8)i;
			return;
		}
	block->check_first = true;
}

/* Emit the block's code. guest: the bytes to compare; not for a protected block. */
static void emit_block(struct block_cache *cache, struct block *block, const struct block_op *op,
		       const u8 *guest, unsigned length)
{
	struct block_insn *insn = &cache->insn[block->insns];
	u32 number = (u32)(block - cache->block);
	const struct block_op *last = &op[block->n - 1], *late = NULL;
	struct emitter e;

	emit_begin(&e, cache);
	if (block->page == BLOCK_PAGE_NONE) {
		emit_prologue(&e, block, number, guest, length);
	} else {
		choose_check(block, op);
		if (!block->check_first)
			late = &op[block->check_at];
		emit_protected_prologue(&e, block, number);
	}
	for (unsigned i = 0; i < block->n; i++) {
		if (&op[i] == late)
			emit_late_check(&e, block, number);
		insn[i].host = (u16)(e.at - block->first);
		insn[i].restore = op[i].kind >= OP_CONDITIONAL ?
					  emit_terminator(&e, &op[i], block, number) :
					  emit_op(&e, &op[i]);
	}
	if (last->kind < OP_CONDITIONAL)
		block->target[BLOCK_FALLTHROUGH] = block->rip + length;
	emit_end(&e, block, number, last->kind < OP_CONDITIONAL, late);
	emit_store(&e);
}

struct block *block_translate(struct block_cache *cache, u64 rip, u8 limit)
{
	u8 guest[BLOCK_COMPARED * INSN_MAX_BYTES];
	struct block_op op[BLOCK_MAX_INSNS];
	struct block_page *page = block_page_hold(cache, rip);
	unsigned length, n = 0;
	struct block *block;
	u32 number;

	cache->n_fetched = 0;
	if (page)
		n = read_protected(cache, page, rip, limit, op, &length);
	/* An instruction that extends into the next page is compared. */
	if (!n && page && PAGE - rip % PAGE >= INSN_MAX_BYTES)
		return NULL;
	if (!n) {
		page = NULL;
		n = read_block(cache, rip, limit < BLOCK_COMPARED ? limit : BLOCK_COMPARED, op,
			       guest, &length);
	}
	if (!n)
		return NULL;
	number = cache->n_blocks;
	block = new_block(cache, rip, n, limit);
	if (page) {
		block->page = (u16)(page - cache->page);
		block->next_on_page = page->blocks;
		page->blocks = number;
	}
	sum_up(cache, block, op);
	emit_block(cache, block, op, guest, length);
	cache->translated++;
	block->next = cache->bucket[rip % BLOCK_BUCKETS];
	cache->bucket[rip % BLOCK_BUCKETS] = number;
	return block;
}
