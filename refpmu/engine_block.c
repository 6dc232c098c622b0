/* SPDX-License-Identifier: MIT */
/*
 * See engine_block.h and docs/ENGINE.md. A run of blocks is one VMRUN or a few, with three things
 * exchanged in the VMCB: RIP points into the blocks; CR3 at a copy of the guest's top-level table
 * with one more entry, for the region of the blocks; the nested tables show that region and the
 * copy, at a guest-physical address where nothing else is.
 *
 * Exceptions and nested page faults leave a block in the middle; the instruction is undone and
 * left to the stepping engine, which meets them again. Interrupts and NMIs wait for the next
 * beginning of a block.
 */
#include "refpmu/block.h"
#include "refpmu/decode.h"
#include "refpmu/deliver.h"
#include "refpmu/engine_block.h"
#include "refpmu/engine_system.h"
#include "refpmu/exits.h"
#include "refpmu/guest_memory.h"
#include "refpmu/nested_paging.h"
#include "refpmu/panic.h"
#include "refpmu/svm.h"

#define LEAF_ADDRESS_SIZES	0x80000008
#define ADDRESS_BITS_NEEDED	40	/* for NESTED_PAGING_EXTRA */

#define PTE_PRESENT	BIT(0)
#define PTE_ACCESSED	BIT(5)
#define PTE_ENTRY	0x67ULL		/* present, writable, user, accessed, dirty */
#define PTE_TOP_ENTRY	0x23ULL		/* present, writable, accessed: for CPL 0 only */
#define PTE_ADDRESS	BITS(12, 51)
#define BREAKPOINTS	BITS(0, 7)	/* of DR7: enabled */

/* The longest run: a guest that switches interrupts off and loops still meets the engine. */
#define LONGEST_RUN	BIT(24)
#define REFUSED_ENTRIES	1024

#define REGION_TABLES	((sizeof(struct block_region) + BIT(21) - 1) >> 21)

/* What the guest's processor reaches while it runs blocks. */
struct engine_memory {
	u64 top[PAGE_TABLE_ENTRIES];	/* the copy, and the region */
	u64 level3[PAGE_TABLE_ENTRIES], level2[PAGE_TABLE_ENTRIES];
	u64 level1[REGION_TABLES][PAGE_TABLE_ENTRIES];
	struct block_region region;
};

struct engine_blocks {
	struct block_cache cache;
	struct block_source source;
	struct engine_memory *memory;
	u64 nested_cr3;
	u64 refused[REFUSED_ENTRIES];	/* addresses at which blocks don't begin */
	bool stale;			/* page tables may have changed since all was checked */
	u64 cr0, cr3, cr4, efer;	/* when it was */
};

static unsigned pages_of(size_t bytes)
{
	return (unsigned)((bytes + PAGE_SIZE - 1) / PAGE_SIZE);
}

/* Instructions may straddle two pages, both of which must be executable. */
static unsigned fetch(void *ctx, u64 linear, u8 *to)
{
	struct cpu *cpu = ctx;
	unsigned left = (unsigned)(PAGE_SIZE - linear % PAGE_SIZE), n = INSN_MAX_BYTES;

	if (guest_code_at(cpu, linear) != CODE_ALLOWED)
		return 0;
	if (left < n && guest_code_at(cpu, linear + left) != CODE_ALLOWED)
		n = left;
	return guest_read_some(cpu, linear, to, n);
}

static u64 extra_address(const struct engine_blocks *blocks, const void *host)
{
	return NESTED_PAGING_EXTRA + ((u64)host - (u64)blocks->memory);
}

static void map_region(struct engine_blocks *blocks)
{
	struct engine_memory *memory = blocks->memory;
	u64 region = extra_address(blocks, &memory->region);

	memory->level3[0] = extra_address(blocks, memory->level2) | PTE_ENTRY;
	for (size_t i = 0; i < REGION_TABLES; i++)
		memory->level2[i] = extra_address(blocks, memory->level1[i]) | PTE_ENTRY;
	for (u64 a = 0; a < sizeof(memory->region); a += PAGE_SIZE)
		memory->level1[a >> 21][a >> 12 & 511] = (region + a) | PTE_ENTRY;
}

void engine_block_init(struct cpu *cpu)
{
	static const u8 vmmcall[3] = { 0x0f, 0x01, 0xd9 };
	struct engine_blocks *blocks;
	u32 regs[4];

	cpuid(LEAF_ADDRESS_SIZES, 0, regs);
	if ((regs[0] & 0xff) < ADDRESS_BITS_NEEDED)
		return;
	blocks = hypervisor_pages(pages_of(sizeof(*blocks)));
	blocks->memory = hypervisor_pages(pages_of(sizeof(*blocks->memory)));
	blocks->nested_cr3 = nested_paging_with(cpu, blocks->memory, sizeof(*blocks->memory));
	map_region(blocks);
	blocks->source = (struct block_source){ .ctx = cpu, .fetch = fetch };
	block_init(&blocks->cache, &blocks->memory->region, &blocks->source, vmmcall);
	cpu->blocks = blocks;
}

static void flush(struct engine_blocks *blocks)
{
	block_flush(&blocks->cache);
	for (unsigned i = 0; i < REFUSED_ENTRIES; i++)
		blocks->refused[i] = 0;
}

void engine_block_forget(struct cpu *cpu)
{
	if (cpu->blocks)
		flush(cpu->blocks);
}

/* ---- may blocks run now? ---- */

static bool mode_fits(const struct cpu *cpu)
{
	return cpu_64bit_code(cpu) && cpu_cpl(cpu) == 0 && !(cpu->vmcb->save.cr4 & CR4_LA57);
}

static bool traps_pending(const struct cpu *cpu)
{
	const struct vmcb_save *save = &cpu->vmcb->save;

	return (save->rflags & (RFLAGS_TF | RFLAGS_RF | RFLAGS_VM)) || (save->dr7 & BREAKPOINTS) ||
	       cpu->shadow != SHADOW_NONE ||
	       (cpu->vmcb->control.event_injection & EVENT_VALID);
}

void engine_block_begin(struct cpu *cpu)
{
	if (cpu->blocks)
		cpu->blocks->stale = true;
	cpu->nmis_may_be_blocked = true;
}

/*
 * Blocks compare their bytes, and fault where nothing is mapped; what they can't see is that code
 * has become data, or a user's. Page tables take effect at the latest when one of the registers
 * below is written, or with INVLPG and the like: all of them are stepped.
 */
static void check_pages(struct cpu *cpu)
{
	const struct vmcb_save *save = &cpu->vmcb->save;
	struct engine_blocks *blocks = cpu->blocks;
	const struct block_cache *cache = &blocks->cache;
	u64 page = ~0ULL;

	if (!blocks->stale && blocks->cr0 == save->cr0 && blocks->cr3 == save->cr3 &&
	    blocks->cr4 == save->cr4 && blocks->efer == save->efer)
		return;
	blocks->stale = false;
	blocks->cr0 = save->cr0;
	blocks->cr3 = save->cr3;
	blocks->cr4 = save->cr4;
	blocks->efer = save->efer;
	for (unsigned i = 0; i < REFUSED_ENTRIES; i++)
		blocks->refused[i] = 0;
	for (u32 i = 0; i < cache->n_blocks; i++) {
		if (cache->block[i].rip / PAGE_SIZE == page)
			continue;
		page = cache->block[i].rip / PAGE_SIZE;
		/* Its last instruction may reach into the next one. */
		if (guest_code_at(cpu, page * PAGE_SIZE) == CODE_FORBIDDEN ||
		    guest_code_at(cpu, (page + 1) * PAGE_SIZE) == CODE_FORBIDDEN) {
			flush(blocks);
			return;
		}
	}
}

/* ---- the guest's top-level table with the region in it ---- */

static u64 *guest_top(const struct cpu *cpu)
{
	return nested_paging_host(cpu->vmcb->save.cr3 & PTE_ADDRESS);
}

/* An entry that the guest doesn't use: in the upper half first. 0: there is none. */
static unsigned free_entry(const u64 *top)
{
	for (unsigned n = 0; n < PAGE_TABLE_ENTRIES; n++) {
		unsigned i = (PAGE_TABLE_ENTRIES / 2 + n) % PAGE_TABLE_ENTRIES;

		if (!(top[i] & PTE_PRESENT))
			return i;
	}
	return 0;
}

static bool copy_top(struct cpu *cpu)
{
	struct engine_blocks *blocks = cpu->blocks;
	struct engine_memory *memory = blocks->memory;
	const u64 *top = guest_top(cpu);
	unsigned entry;

	if (!top)
		return false;
	entry = free_entry(top);
	if (!entry)
		return false;
	for (unsigned i = 0; i < PAGE_TABLE_ENTRIES; i++)
		memory->top[i] = top[i];
	memory->top[entry] = extra_address(blocks, memory->level3) | PTE_TOP_ENTRY;
	blocks->cache.runs_at = (u64)entry << 39;
	if (entry >= PAGE_TABLE_ENTRIES / 2)
		blocks->cache.runs_at |= BITS(48, 63);
	return true;
}

/* The processor has marked entries of the copy as used that are the guest's. */
static void return_accessed(struct cpu *cpu)
{
	const u64 *copy = cpu->blocks->memory->top;
	u64 *top = guest_top(cpu);

	for (unsigned i = 0; i < PAGE_TABLE_ENTRIES; i++)
		if ((top[i] & PTE_PRESENT) && !(top[i] & PTE_ACCESSED) &&
		    (copy[i] & PTE_ACCESSED))
			top[i] |= PTE_ACCESSED;
}

/* ---- a run ---- */

struct run {
	u64 cr3, nested_cr3;	/* the guest's */
	u64 rip;		/* the guest's, while it isn't in a block */
	bool interrupt, nmi;	/* came meanwhile */
	enum handover_reason why;
	bool exact;		/* just these instructions, whose events are known, fit */
	bool over;
};

/* Something wants to be delivered: come out at the next beginning of a block. */
static void hurry(struct cpu *cpu, u64 at)
{
	block_hurry(&cpu->blocks->cache, at, cpu->gpr);
	cpu->vmcb->control.int_ctl = V_INTR_MASKING;
}

static void take_nmi(struct cpu *cpu, struct run *run)
{
	struct taken taken = { .vector = TAKEN_NONE };

	svm_window(&taken, false);
	run->nmi = run->nmi || taken.nmi;
	cpu->nmis_may_be_blocked = cpu->nmis_may_be_blocked || taken.nmi;
}

/* One VMRUN with the tables that show the region. Back with the guest's: translating the next
 * block looks its bytes up in them. */
static u64 vmrun(struct cpu *cpu, const struct run *run)
{
	u64 code;

	cpu->vmcb->save.cr3 = extra_address(cpu->blocks, cpu->blocks->memory->top);
	cpu->vmcb->control.nested_cr3 = cpu->blocks->nested_cr3;
	code = exits_vmrun(cpu);
	cpu->vmcb->save.cr3 = run->cr3;
	cpu->vmcb->control.nested_cr3 = run->nested_cr3;
	return code;
}

/* From one entry into blocks to the place where they are left. */
static void run_blocks(struct cpu *cpu, struct run *run, u64 at)
{
	struct block_cache *cache = &cpu->blocks->cache;
	struct vmcb_save *save = &cpu->vmcb->save;

	for (;;) {
		u64 code;

		save->rip = at;
		code = vmrun(cpu, run);
		at = save->rip;
		if (!block_owns(cache, at))
			exits_unexpected(cpu, code);
		if (code == EXIT_VMMCALL) {
			run->rip = block_left(cache, at);
			run->over = run->interrupt || run->nmi;
			return;
		}
		if (code == EXIT_NPF || (code >= EXIT_EXCEPTION && code <= EXIT_EXCEPTION_LAST)) {
			run->rip = block_faulted(cache, at, cpu->gpr);
			if (cache->left_in_shadow)
				cpu->shadow = SHADOW_STI;
			run->why = HANDOVER_FAULT;
			run->over = true;
			return;
		}
		if (code == EXIT_INTR)
			run->interrupt = true;
		else if (code == EXIT_NMI)
			take_nmi(cpu, run);
		else
			exits_unexpected(cpu, code);
		hurry(cpu, at);
	}
}

static void end(struct cpu *cpu, const struct run *run)
{
	cpu->vmcb->control.int_ctl = 0;
	cpu->vmcb->save.rip = run->rip;
	return_accessed(cpu);
}

/* What retired; the budget is the second opinion. */
static u64 settle(struct cpu *cpu)
{
	struct block_cache *cache = &cpu->blocks->cache;
	struct model_events events;

	block_end(cache, &events);
	if (events.instructions != cache->given - cache->region->context.budget)
		panic("the fast engine has miscounted (events, given, left)", 3,
		      events.instructions, cache->given, cache->region->context.budget, 0);
	model_bulk_retire(&cpu->model, cpu_cpl(cpu), &events);
	cpu->statistics.in_blocks += events.instructions;
	cpu->statistics.block_runs++;
	return events.instructions;
}

/* Interrupts that ended the run, at the boundary where it ended. */
static bool deliver_pending(struct cpu *cpu, const struct run *run)
{
	const struct event nmi = { .vector = VECTOR_NMI, .type = EVENT_NMI };
	bool delivered = run->nmi;

	if (run->interrupt)
		delivered = exits_take_interrupt(cpu, cpu->vmcb->save.rflags & RFLAGS_IF,
						 false) || delivered;
	if (run->nmi) {
		deliver(cpu, &nmi);
		cpu->statistics.exits[KIND_NMI]++;
	}
	return delivered;
}

static bool hand_over(struct cpu *cpu, enum handover_reason why)
{
	cpu->statistics.handover[why]++;
	return false;
}

/* Where the next block is; false: it isn't for blocks, or the budget is too small for it. */
static bool enter(struct cpu *cpu, struct run *run, u64 *at)
{
	struct engine_blocks *blocks = cpu->blocks;

	switch (block_enter(&blocks->cache, run->rip, at)) {
	case BLOCK_RUN:
		return true;
	case BLOCK_REFUSED:
		blocks->refused[run->rip % REFUSED_ENTRIES] = run->rip;
		run->why = HANDOVER_INSTRUCTION;
		break;
	case BLOCK_SPENT:
	case BLOCK_FULL:
		run->why = HANDOVER_OVERFLOW;
		break;
	}
	return false;
}

/* The block at RIP is longer than the budget: as many of its instructions as fit all the same. */
static bool enter_part(struct cpu *cpu, struct run *run, u64 *at)
{
	struct block_cache *cache = &cpu->blocks->cache;
	struct model_events events;
	unsigned n = 0;

	while (block_events(cache, run->rip, n + 1, &events) &&
	       model_bulk_fits(&cpu->model, cpu_cpl(cpu), &events))
		n++;
	run->exact = true;
	return n && block_enter_part(cache, run->rip, n, at) == BLOCK_RUN;
}

bool engine_block_run(struct cpu *cpu)
{
	struct engine_blocks *blocks = cpu->blocks;
	struct run run = {
		.rip = cpu->vmcb->save.rip,
		.cr3 = cpu->vmcb->save.cr3,
		.nested_cr3 = cpu->vmcb->control.nested_cr3,
	};
	const struct instruction *insn;
	u64 budget, at, retired;

	if (!blocks || !hypervisor.fast)
		return false;
	if (!mode_fits(cpu))
		return hand_over(cpu, HANDOVER_MODE);
	if (traps_pending(cpu))
		return hand_over(cpu, HANDOVER_TRAP);
	if (!model_bulk_possible(&cpu->model, cpu_cpl(cpu)))
		return hand_over(cpu, HANDOVER_MODEL);
	check_pages(cpu);
	if (blocks->cache.count_taken != model_bulk_needs_taken(&cpu->model) ||
	    !block_room(&blocks->cache)) {
		blocks->cache.count_taken = model_bulk_needs_taken(&cpu->model);
		flush(blocks);
	}
	if (blocks->refused[run.rip % REFUSED_ENTRIES] == run.rip)
		goto refused;
	budget = model_bulk_budget(&cpu->model, cpu_cpl(cpu), blocks->cache.most_accesses);
	block_begin(&blocks->cache, budget < LONGEST_RUN ? budget : LONGEST_RUN);
	if (!enter(cpu, &run, &at)) {
		if (run.why == HANDOVER_INSTRUCTION)
			goto refused;
		if (!enter_part(cpu, &run, &at))
			return hand_over(cpu, run.why);
	}
	if (!copy_top(cpu))
		return hand_over(cpu, HANDOVER_MODE);
	at = blocks->cache.runs_at + (at & BITS(0, 38));
	do
		run_blocks(cpu, &run, at);
	while (!run.over && !run.exact && enter(cpu, &run, &at));
	end(cpu, &run);
	retired = settle(cpu);
	if (run.why == HANDOVER_FAULT)
		cpu->statistics.handover[HANDOVER_FAULT]++;
	return deliver_pending(cpu, &run) || (retired && run.why != HANDOVER_FAULT);

refused:
	insn = decode_current(cpu);
	if (!insn)
		return hand_over(cpu, HANDOVER_INSTRUCTION);
	if (insn->kind == INSN_INVLPG || insn->kind == INSN_INVPCID)
		blocks->stale = true;
	if (!engine_system(cpu, insn))
		return hand_over(cpu, HANDOVER_INSTRUCTION);
	cpu->statistics.carried_out++;
	return true;
}
