/* SPDX-License-Identifier: MIT */
/* See block.h: runs blocks, and after an exit computes the retired instructions. */
#include "refpmu/engine/dbt/block_emit.h"

/* Added to the budget so that every check fails; far from any real budget. */
#define EXIT_REQUEST	BIT(62)

static void block_run_begin(struct block_cache *cache, u64 budget)
{
	cache->given = budget;
	cache->region->context.budget = budget;
	cache->region->context.branches = 0;
	cache->extra = (struct model_events){ 0 };
	cache->left_block = BLOCK_NONE;
	cache->exit_requested = cache->exact = false;
	cache->run_most = cache->most_accesses;
}

void block_begin(struct block_cache *cache, u64 budget)
{
	if (cache->keep_branches && budget > BLOCK_BRANCHES)
		budget = BLOCK_BRANCHES;
	block_run_begin(cache, budget > BLOCK_LATE_CHECK ? budget - BLOCK_LATE_CHECK : 0);
}

struct block *block_find(struct block_cache *cache, u64 rip, u8 limit)
{
	u32 number = cache->bucket[rip % BLOCK_BUCKETS];

	while (number != BLOCK_NONE) {
		struct block *block = &cache->block[number];

		if (block->rip == rip && block->limit == limit && !block->dead)
			return block;
		number = block->next;
	}
	return NULL;
}

/* The block's bytes have changed: until it is replaced, a jump to it leaves the blocks at once. */
static void drop(struct block_cache *cache, struct block *block)
{
	cache->dropped += !block->dead;
	block->dead = true;
	cache->region->jump_cache[block->rip % BLOCK_TARGETS] = 0;
}

/* Link the exit that was taken last to this block. */
static void link(struct block_cache *cache, const struct block *to)
{
	struct block *from;
	u32 exit = cache->left_exit;

	if (cache->left_block == BLOCK_NONE || to->unchained)
		return;
	if (cache->left_block == BLOCK_MAX) {
		cache->region->jump_cache[to->rip % BLOCK_TARGETS] = to->first;
		return;
	}
	from = &cache->block[cache->left_block];
	if (exit >= BLOCK_CHECK) {
		if (from->rip == to->rip && from != to)
			emit_forward(cache, from, to);
		return;
	}
	if (from->patch[exit] && from->target[exit] == to->rip && block_way_to(cache, from, exit))
		emit_patch(cache, from->patch[exit], block_way_to(cache, from, exit));
}

static enum block_entered find_or_make(struct block_cache *cache, u64 rip, u8 limit,
				       struct block **block)
{
	*block = block_find(cache, rip, limit);
	if (*block)
		return BLOCK_RUN;
	block_fresh_page(cache);
	if (!block_room(cache))
		return BLOCK_FULL;
	*block = block_translate(cache, rip, limit);
	if (!*block)
		return BLOCK_REFUSED;
	if (limit == BLOCK_MAX_INSNS)
		block_translate_successors(cache, *block);
	return BLOCK_RUN;
}

static u64 entry_of(const struct block_cache *cache, const struct block *block)
{
	return cache->runs_at + offsetof(struct block_region, code) + block->entry;
}

enum block_entered block_enter(struct block_cache *cache, u64 rip, u64 *at)
{
	struct block *block;
	enum block_entered found;

	if (cache->exact)
		return BLOCK_OVER_BUDGET;
	found = find_or_make(cache, rip, BLOCK_MAX_INSNS, &block);
	if (found != BLOCK_RUN)
		return found;
	/* A new block may have more accesses than the budget assumes. */
	if (cache->most_accesses > cache->run_most)
		return BLOCK_OVER_BUDGET;
	if (block->unchained)
		return BLOCK_UNCHAINED;
	link(cache, block);
	/* The budget is negative if the last block checked it late. */
	if ((int64_t)cache->region->context.budget < block->n)
		return BLOCK_OVER_BUDGET;
	*at = entry_of(cache, block);
	return BLOCK_RUN;
}

/* Do both blocks count the same, up to the end of the part? One of them may be of code that has
 * changed. */
static bool is_part(const struct block_cache *cache, const struct block *part,
		    const struct block *whole)
{
	const struct block_insn *a = &cache->insn[part->insns], *b = &cache->insn[whole->insns];

	for (unsigned i = 0; i < part->n; i++)
		if (a[i].loads != b[i].loads || a[i].stores != b[i].stores ||
		    a[i].locked != b[i].locked || a[i].branch != b[i].branch)
			return false;
	return part->n <= whole->n;
}

enum block_entered block_enter_part(struct block_cache *cache, u64 rip, unsigned n, u64 *at)
{
	struct block *whole = block_find(cache, rip, BLOCK_MAX_INSNS), *block = whole;
	enum block_entered found = BLOCK_RUN;

	if (!whole)
		return BLOCK_REFUSED;
	/* A block that continues to other blocks relies on the reserve. */
	if (n == BLOCK_MAX_INSNS)
		n--;
	if (!whole->unchained)
		found = find_or_make(cache, rip, (u8)n, &block);
	if (found != BLOCK_RUN)
		return found;
	if (block->unchained != whole->unchained || !is_part(cache, block, whole)) {
		drop(cache, whole);
		drop(cache, block);
		return BLOCK_OVER_BUDGET;
	}
	block_run_begin(cache, block->n);
	cache->exact = true;
	*at = entry_of(cache, block);
	return BLOCK_RUN;
}

void block_unchained(struct block_cache *cache, u64 rip, unsigned *loads, unsigned *stores)
{
	const struct block *block = block_find(cache, rip, BLOCK_MAX_INSNS);

	*loads = block ? block->loads : 0;
	*stores = block ? block->stored : 0;
}

enum block_entered block_enter_unchained(struct block_cache *cache, u64 rip, u64 *at)
{
	return block_enter_part(cache, rip, 1, at);
}

static u32 offset_of(const struct block_cache *cache, u64 at)
{
	return (u32)(at - cache->runs_at - offsetof(struct block_region, code));
}

bool block_owns(const struct block_cache *cache, u64 at)
{
	return at - cache->runs_at - offsetof(struct block_region, code) < cache->code_used;
}

static void cancel_exit_request(struct block_cache *cache)
{
	if (cache->exit_requested)
		cache->region->context.budget += EXIT_REQUEST;
	cache->exit_requested = false;
}

static void add_insn(struct model_events *events, const struct block_insn *insn)
{
	events->instructions++;
	events->loads += insn->loads;
	events->stores += insn->stores;
	events->locked_loads += insn->locked;
	events->loading += !!insn->loads;
	events->storing += !!insn->stores;
	events->locking += !!insn->locked;
	events->branches[insn->branch]++;
}

/* The instructions that ran before the check, and the one after it, are counted separately. */
static u64 left_at_late_check(struct block_cache *cache, const struct block *block)
{
	const struct block_insn *insn = &cache->insn[block->insns];
	unsigned n = block->check_at + 1u;

	if (block->page == BLOCK_PAGE_NONE || block->check_first)
		return block->rip;
	cache->region->context.budget -= n;
	for (unsigned i = 0; i < n; i++)
		add_insn(&cache->extra, &insn[i]);
	return n < block->n ? block->rip + insn[n].guest : block->target[BLOCK_FALLTHROUGH];
}

u64 block_left(struct block_cache *cache, u64 at)
{
	struct block_context *context = &cache->region->context;
	bool exit_requested = cache->exit_requested;
	struct block *block;
	u32 id;

	cancel_exit_request(cache);
	__builtin_memcpy(&id,
			 &cache->region->code[offset_of(cache, at) + sizeof(cache->exit_code) + 1],
			 sizeof(id));
	id &= LEAVE_ID;
	cache->left_block = id / 4;
	cache->left_exit = id % 4;
	if (cache->left_block == BLOCK_MAX)
		return context->target;
	block = &cache->block[cache->left_block];
	if (cache->left_exit < BLOCK_CHECK)
		return block->target[cache->left_exit];
	if (cache->left_exit == BLOCK_DROPPED)
		return block->rip;
	/* The check has subtracted the block's instructions from the budget. */
	context->budget += block->n;
	if (block->page == BLOCK_PAGE_NONE && !exit_requested && context->budget >= block->n) {
		drop(cache, block);
		return block->rip;
	}
	cache->left_block = BLOCK_NONE;
	return left_at_late_check(cache, block);
}

/* The block whose code contains this offset; blocks are stored in their order. */
static struct block *block_at(struct block_cache *cache, u32 offset)
{
	u32 low = 0, high = cache->n_blocks;

	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (cache->block[middle].first <= offset)
			low = middle;
		else
			high = middle;
	}
	return &cache->block[low];
}

static void restore(struct block_cache *cache, u8 what, u64 gpr[REG_COUNT])
{
	const struct block_context *context = &cache->region->context;

	if (what & RESTORE_RAX)
		gpr[REG_RAX] = context->rax;
	if (what & RESTORE_RCX)
		gpr[REG_RCX] = context->rcx;
	if (what & RESTORE_SCRATCH)
		gpr[what >> RESTORE_SHIFT] = context->scratch;
}

u64 block_faulted(struct block_cache *cache, u64 at, u64 gpr[REG_COUNT])
{
	u32 offset = offset_of(cache, at);
	struct block *block = block_at(cache, offset);
	const struct block_insn *insn = &cache->insn[block->insns];
	u32 number = (u32)(block - cache->block);
	unsigned k;

	cache->left_block = BLOCK_NONE;
	cache->left_in_shadow = false;
	cancel_exit_request(cache);
	if (offset < block->body) {
		/* Only the load of the guest's bytes can fault there, and nothing is counted before
		 * it. */
		restore(cache, RESTORE_RAX | RESTORE_RCX, gpr);
		return block->rip;
	}
	for (k = block->n - 1u; block->first + insn[k].host > offset; k--)
		;
	restore(cache, insn[k].restore, gpr);
	cache->left_in_shadow = k && insn[k - 1].shadow;
	if (k >= block->check_at) {
		cache->region->executed[number]--;
		cache->region->context.budget += block->n;
	}
	cache->region->context.budget -= k;
	for (unsigned i = 0; i < k; i++)
		add_insn(&cache->extra, &insn[i]);
	return block->rip + insn[k].guest;
}

bool block_events(struct block_cache *cache, u64 rip, unsigned n, struct model_events *events)
{
	const struct block *block = block_find(cache, rip, BLOCK_MAX_INSNS);

	*events = (struct model_events){ 0 };
	if (!block || n > block->n)
		return false;
	for (unsigned i = 0; i < n; i++)
		add_insn(events, &cache->insn[block->insns + i]);
	events->taken = events->mispredicted = events->branches[BRANCH_CONDITIONAL];
	return true;
}

bool block_between(struct block_cache *cache, u64 at)
{
	const struct block *block = block_at(cache, offset_of(cache, at));

	return block->unchained &&
	       offset_of(cache, at) == block->first + cache->insn[block->insns].host;
}

bool block_not_begun(struct block_cache *cache, u64 at, u64 *rip)
{
	const struct block *block = block_at(cache, offset_of(cache, at));

	if (offset_of(cache, at) != block->entry)
		return false;
	cancel_exit_request(cache);
	cache->left_block = BLOCK_NONE;
	*rip = block->rip;
	return true;
}

void block_request_exit(struct block_cache *cache, u64 at, u64 gpr[REG_COUNT])
{
	u32 offset = offset_of(cache, at);
	const struct block *block = block_at(cache, offset);

	if (cache->exit_requested)
		return;
	cache->exit_requested = true;
	cache->region->context.budget -= EXIT_REQUEST;
	/* Between its read and its write the budget is in RAX. */
	if (offset > block->check && offset <= block->check_end)
		gpr[block->page == BLOCK_PAGE_NONE ? REG_RAX : REG_RCX] -= EXIT_REQUEST;
}

bool block_taken(const struct block_cache *cache, unsigned n, struct model_taken *taken)
{
	const struct block_branch *b = &cache->region->branch[n];
	const struct block *block;

	if (n >= cache->region->context.branches / sizeof(*b))
		return false;
	block = &cache->block[b->block];
	*taken = (struct model_taken){
		.instructions = (u32)cache->given - b->budget,
		.ip = block->rip + cache->insn[block->insns + block->n - 1].guest,
		.next_ip = block->end,
		.target = block->patch[BLOCK_TAKEN] ? block->target[BLOCK_TAKEN] : b->target,
		.branch = block->last_branch,
		.indirect = block->last_indirect,
	};
	return true;
}

/* Several blocks are examined at a time for whether they have run: there are thousands, and a run
 * is often short. */
#define AT_ONCE	8
_Static_assert(BLOCK_MAX % AT_ONCE == 0, "whole groups");

static bool is_backward(const struct block *block)
{
	return model_branch_is_backward(block->target[BLOCK_FALLTHROUGH],
					block->target[BLOCK_TAKEN]);
}

static void settle_block(struct block_cache *cache, u32 number, struct model_events *events)
{
	struct block_region *region = cache->region;
	const struct block *block = &cache->block[number];
	u64 times = region->executed[number], taken = region->taken[number];

	events->instructions += times * block->n;
	events->loads += times * block->all_loads;
	events->stores += times * block->all_stores;
	events->locked_loads += times * block->all_locked;
	events->loading += times * block->loading;
	events->storing += times * block->storing;
	events->locking += times * block->locking;
	events->branches[block->last_branch] += times;
	events->taken += taken;
	if (block->last_branch == BRANCH_CONDITIONAL)
		events->mispredicted += is_backward(block) ? times - taken : taken;
	region->executed[number] = region->taken[number] = 0;
}

void block_end(struct block_cache *cache, struct model_events *events)
{
	cancel_exit_request(cache);
	*events = cache->extra;
	for (u32 i = 0; i < cache->n_blocks; i += AT_ONCE) {
		const u64 *executed = &cache->region->executed[i];

		if (!(executed[0] | executed[1] | executed[2] | executed[3] | executed[4] |
		      executed[5] | executed[6] | executed[7]))
			continue;
		for (u32 k = i; k < i + AT_ONCE && k < cache->n_blocks; k++)
			if (cache->region->executed[k])
				settle_block(cache, k, events);
	}
}
