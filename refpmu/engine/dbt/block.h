/* SPDX-License-Identifier: MIT */
/*
 * Basic blocks: guest code is translated into code with the same effect, which also counts its
 * instructions, and stops before a block that would exceed the budget of instructions. Pure: no
 * privileged instruction, no VMCB. The result runs in the hypervisor's guest mode or, in host
 * tests, in a process. docs/ENGINE.md describes the whole design.
 *
 * A block is a piece of 64-bit code without a branch inside. Its instructions are copied; only
 * those that depend on their address (RIP-relative operands, branches, calls) are rewritten.
 *
 * A protected block was made from a write-protected page (block_page.h); it is dropped when the
 * page changes. A self-checking block, before it runs, compares the guest's bytes with the bytes
 * that it was made from. So it notices code that was modified, remapped or reloaded by any means. A
 * self-checking block ends after a store, so that modified code is compared again.
 *
 * All data and code of blocks are in one region, and are position independent: the region may be
 * mapped at one address for running and at another for this code.
 */
#ifndef REFPMU_ENGINE_DBT_BLOCK_H
#define REFPMU_ENGINE_DBT_BLOCK_H

#include "refpmu/engine/dbt/block_op.h"
#include "refpmu/model/bulk.h"

#define BLOCK_MAX_INSNS	64
#define BLOCK_COMPARED	16		/* at most, where bytes are compared */
#define BLOCK_MAX	12288		/* blocks */
#define BLOCK_INSNS	98304		/* instructions of all blocks */
#define BLOCK_CODE	(8u << 20)	/* bytes of code: an operating system runs that much */
#define BLOCK_BUCKETS	4096
#define BLOCK_TARGETS	65536		/* of indirect branches, by the low 16 bits */
#define BLOCK_FETCH	256		/* bytes of the guest's code that are looked at in one go */
#define BLOCK_NONE	0xffffffffu
#define BLOCK_PAGES	512		/* with protected blocks */
#define BLOCK_PAGE_NONE	0xffff
#define BLOCK_PAGE_SIZE	4096u
/* A protected block may subtract its length from the budget after some of its first
 * BLOCK_LATE_CHECK instructions, before an instruction that writes all flags. If the budget is
 * exceeded, the block exits after this instruction. So that many instructions are kept in
 * reserve. */
#define BLOCK_LATE_CHECK	8

#define BLOCK_BRANCHES	4096	/* taken, of a run that keeps them */

/* A taken branch of a run. */
struct block_branch {
	u32 block;			/* it ends that */
	u32 budget;			/* low half of the rest of the budget, without this block */
	u64 target;			/* of an indirect one */
};

/* The data that running blocks read and write, on pages without code. */
struct block_context {
	u64 budget;			/* instructions that may still run */
	u64 rax, rcx, rdx, scratch;	/* registers of the guest, while a block uses them */
	u64 target;			/* of the last indirect branch */
	u64 branches;			/* bytes in use of what the region has for them */
} __attribute__((aligned(4096)));

struct block_region {
	struct block_context context;
	u64 executed[BLOCK_MAX];	/* complete runs since they were last settled */
	u64 taken[BLOCK_MAX];		/* of the conditional branch at its end */
	struct block_branch branch[BLOCK_BRANCHES];
	/* Blocks only read the following members, so they may be mapped read-only. */
	u32 jump_cache[BLOCK_TARGETS];	/* offset of a block's entry for indirect branches, or 0 */
	u8 trap_flag[256];		/* is it set in the second byte of an image of RFLAGS? */
	u8 code[BLOCK_CODE] __attribute__((aligned(4096)));
};

struct block_insn {
	u16 host;			/* where its code begins, from the block's first byte */
	u16 guest;			/* and its own bytes, from the block's address */
	u8 restore;			/* RESTORE_*: registers in use when it faults */
	u8 loads, stores, locked, branch;
	bool shadow;			/* see struct block_op */
};

/* How a block is left. */
enum { BLOCK_FALLTHROUGH, BLOCK_TAKEN, BLOCK_CHECK, BLOCK_DROPPED };

struct block {
	u64 rip, end;			/* of its first instruction; after its last one */
	u64 target[2];			/* BLOCK_FALLTHROUGH, BLOCK_TAKEN */
	u32 patch[2];			/* where the jump to it is, in code[]; 0: there is none */
	u32 first, entry, again, body;	/* offsets in code[] */
	u32 check, check_end;		/* between them the budget is in RAX, or RCX if protected */
	u32 insns;			/* index of the first of n */
	u32 next, next_on_page;		/* in its bucket; of its page */
	u16 page;			/* of the cache; BLOCK_PAGE_NONE: not protected */
	u8 n, limit;			/* it was cut to that many; BLOCK_MAX_INSNS: it wasn't */
	u8 check_at;			/* the budget is looked at in front of this instruction */
	bool check_first;		/* at the very beginning, without a flag */
	u16 all_loads, all_stores, all_locked;
	u8 loading, storing, locking;	/* instructions with one */
	u8 last_branch;			/* the kind of its last instruction, if that is one */
	bool last_indirect;
	bool stores;
	bool keeps_rax, keeps_rcx;	/* doesn't change them */
	bool unchained;			/* a REP string: no jumps from or to other blocks */
	u8 loads, stored;		/* then: an iteration's; insn[] doesn't count them */
	bool dead;			/* its bytes have changed */
};

/* See block_page.h. */
struct block_page {
	u64 linear;
	const u8 *bytes;
	u32 generation;			/* for the code that watches it */
	u32 blocks;			/* the first */
	u64 lines;			/* of 64 bytes: that blocks were made from */
	u64 sum;			/* of these */
	u8 losses;			/* so often something else was there */
	bool protected;			/* may be relied on */
};

struct block_source {
	void *ctx;
	/*
	 * Copy up to `most` (at least 15) bytes of code that the guest may execute at this address
	 * now, up to the end of its page, or 15 bytes if the end is near. Returns the number of
	 * bytes.
	 */
	unsigned (*fetch)(void *ctx, u64 linear, u8 *to, unsigned most);
	/* If the page with this address may be executed now, write-protect it and fill in bytes and
	 * generation. May be NULL: pages can't be protected. */
	bool (*hold)(void *ctx, u64 linear, struct block_page *page);
};

struct block_cache {
	struct block_region *region;
	u64 runs_at;			/* address at which the region is mapped for blocks */
	const struct block_source *source;
	u8 exit_code[3];		/* an instruction that leaves blocks with all registers */
	bool count_taken;		/* count how often conditional branches are taken */
	bool keep_branches;		/* taken ones of a run, in their order */
	u8 most_accesses;		/* of a kind, that any instruction here has */
	ZydisDecoder decoder;

	u32 n_blocks, n_insns, code_used;
	u32 bucket[BLOCK_BUCKETS];
	struct block block[BLOCK_MAX];
	struct block_insn insn[BLOCK_INSNS];
	struct block_page page[BLOCK_PAGES];	/* by the low bits of its number */

	/* a run */
	u64 given;			/* budget at its begin */
	struct model_events extra;	/* of the parts of blocks that didn't complete */
	u32 left_block, left_exit;	/* how the last block was left; BLOCK_NONE: otherwise */
	u8 run_most;			/* most_accesses at its begin */
	bool exact;			/* of a part, without the reserve: nothing may follow it */
	bool exit_requested;
	bool left_in_shadow;		/* block_faulted(): the instruction before was STI */
	u64 translated, dropped, flushed;	/* statistics */
	u8 guest[BLOCK_FETCH];		/* code at `fetched`; n_fetched bytes are there */
	u64 fetched;
	unsigned n_fetched;
};

/* Call it once, with region zeroed. */
void block_init(struct block_cache *cache, struct block_region *region,
		const struct block_source *source, const u8 exit_code[3]);

/* Forget all blocks. Not during a run; settle first. */
void block_flush(struct block_cache *cache);

/* QEMU intercepts stores to pages with code that it has translated, so such stores are slow:
 * continue on another page of code[]. */
void block_fresh_page(struct block_cache *cache);

/* Is there room for one more block? */
bool block_room(const struct block_cache *cache);

/* Translate the block at rip, or its first `limit` instructions; there must be room for it. NULL:
 * its first instruction can't be in a block, or can't be read. */
struct block *block_translate(struct block_cache *cache, u64 rip, u8 limit);

/*
 * Translate the successors of this block, which was made last, and their successors, on the same
 * page, as far as they will probably run. Then the code continues without an exit from the blocks.
 */
void block_translate_successors(struct block_cache *cache, const struct block *first);

/* The offset in code[] to which this exit of a block may jump directly; 0: its target has no block
 * yet. */
u32 block_way_to(struct block_cache *cache, const struct block *from, u32 exit);

/* The block at rip that was cut to `limit` instructions, or BLOCK_MAX_INSNS; NULL: there is
 * none. */
struct block *block_find(struct block_cache *cache, u64 rip, u8 limit);

/* ---- running; the registers are gpr[REG_COUNT] and rip, flags are never changed ---- */

/* Begin a run of at most `budget` instructions, less BLOCK_LATE_CHECK, each with at most
 * most_accesses accesses of a kind. */
void block_begin(struct block_cache *cache, u64 budget);

enum block_entered {
	BLOCK_RUN,		/* go on at *at */
	BLOCK_REFUSED,		/* the next instruction isn't for blocks */
	BLOCK_OVER_BUDGET,	/* the block at rip doesn't fit into this run, or none does */
	BLOCK_UNCHAINED,	/* a REP string: block_enter_unchained() */
	BLOCK_FULL,		/* no room: end the run, block_flush() */
};
/* Find the block for the guest's rip; *at: its address in the region as mapped for blocks. */
enum block_entered block_enter(struct block_cache *cache, u64 rip, u64 *at);

/* The events of the first n instructions of the block at rip, after BLOCK_OVER_BUDGET; every
 * conditional branch counts as taken and mispredicted. false: the block is shorter. */
bool block_events(struct block_cache *cache, u64 rip, unsigned n, struct model_events *events);

/* Begin a run of exactly the first n instructions of the block at rip. */
enum block_entered block_enter_part(struct block_cache *cache, u64 rip, unsigned n, u64 *at);

/*
 * The block at rip is a REP string instruction: the number of loads and stores of an iteration; and
 * begin a run of this block. The caller counts the accesses, by RCX before and after it.
 */
void block_unchained(struct block_cache *cache, u64 rip, unsigned *loads, unsigned *stores);
enum block_entered block_enter_unchained(struct block_cache *cache, u64 rip, u64 *at);
/* Is this the address of the string instruction itself? Then block_faulted() may end the run there,
 * between two iterations. */
bool block_between(struct block_cache *cache, u64 at);

/* The nth taken branch of a run, from 0 on, before block_end(); false: there are no more. Needs
 * cache->keep_branches. */
bool block_taken(const struct block_cache *cache, unsigned n, struct model_taken *taken);

/* Is this an address of the region's code? */
bool block_owns(const struct block_cache *cache, u64 at);

/* The exit instruction at this address was executed. Returns the guest's RIP. */
u64 block_left(struct block_cache *cache, u64 at);

/* The instruction at this address faulted. Restore the guest's registers before its corresponding
 * instruction, and return the guest's RIP. */
u64 block_faulted(struct block_cache *cache, u64 at, u64 gpr[REG_COUNT]);

/* The run was interrupted at this address. Is this before the beginning of a block, with all
 * registers those of the guest? Then the run may end there; *rip: the guest's RIP. */
bool block_not_begun(struct block_cache *cache, u64 at, u64 *rip);

/* Make the run end at the beginning of the next block, or at its check of the budget. The block
 * that was interrupted at this address continues there with these registers. */
void block_request_exit(struct block_cache *cache, u64 at, u64 gpr[REG_COUNT]);

/* End the run; *events: the events of its retired instructions. */
void block_end(struct block_cache *cache, struct model_events *events);

#endif
