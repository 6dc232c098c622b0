/* SPDX-License-Identifier: MIT */
/*
 * See translator.h and docs/ENGINE.md: code runs as translated blocks (block.h) in guest mode, with
 * nested paging and the guest's own page tables, so that hidden and trapped memory stays hidden and
 * trapped. Code that blocks can't count exactly runs by the other methods.
 *
 * A run of blocks is one or a few VMRUNs, with a changed VMCB: RIP points into the blocks; CR3,
 * CR4.LA57 and the nested tables are those in which the blocks are mapped (engine_mapping.h).
 *
 * Exceptions and nested page faults exit in the middle of a block; the instruction is undone, and a
 * step executes it, in which they occur again. Interrupts and NMIs wait for the beginning of the
 * next block.
 */
#include "refpmu/hv/code_page.h"
#include "refpmu/hv/deliver.h"
#include "refpmu/engine/dbt/engine_mapping.h"
#include "refpmu/hv/vmrun.h"
#include "refpmu/hv/panic.h"
#include "refpmu/engine/emulate/rep.h"
#include "refpmu/engine/siblings.h"
#include "refpmu/engine/translator.h"
#include "refpmu/engine/engine_cpu.h"

#define LEAF_STRUCTURED		7
#define STRUCTURED_LA57		BIT(16)		/* ECX */
#define LEAF_ADDRESS_SIZES	0x80000008
#define ADDRESS_BITS_NEEDED	40	/* for NESTED_PAGING_EXTRA */

/* The longest run: a guest that disables interrupts and loops still returns to the engine. */
#define LONGEST_RUN	BIT(24)
#define LONGEST_UNTRUSTED_RUN	256	/* if other code could run natively */
/* For fewer instructions a run of blocks takes longer than separate emulation. */
#define WORTH_A_RUN	10
#define MOST_ITERATIONS	BIT(30)	/* iterations of a REP string at a time */
/* An operating system disables branch records while it reads them. */
#define MOST_NEEDLESS_RUNS 4096

/*
 * A program that uses a device by I/O ports may wait for the device by reading memory, and then
 * execute what the device has written; nothing else shows this. So the next runs are short, with a
 * check of the code before each.
 */
#define REVALIDATE_RUNS	64
#define REVALIDATE_BUDGET	256

struct engine_blocks {
	struct engine_mapping supervisor, user;
	unsigned revalidate_runs;	/* runs left */
};

/* Can the region's addresses be used? The guest's addresses aren't enough. */
static bool has_room(void)
{
	u32 sizes[4], features[4];

	cpuid(LEAF_ADDRESS_SIZES, 0, sizes);
	cpuid(LEAF_STRUCTURED, 0, features);
	return (sizes[0] & 0xff) >= ADDRESS_BITS_NEEDED && (features[2] & STRUCTURED_LA57);
}

static bool init(struct cpu *cpu)
{
	struct engine_blocks *blocks;

	if (!has_room())
		return false;
	blocks = hypervisor_pages((unsigned)((sizeof(*blocks) + PAGE_SIZE - 1) / PAGE_SIZE));
	mapping_init(&blocks->supervisor, cpu, false);
	mapping_init(&blocks->user, cpu, true);
	cpu->engine->blocks = blocks;
	return true;
}

static void tables_changed(struct cpu *cpu)
{
	if (cpu->engine->blocks)
		cpu->engine->blocks->supervisor.stale = cpu->engine->blocks->user.stale = true;
}

static void device_accessed(struct cpu *cpu)
{
	if (cpu->engine->blocks)
		cpu->engine->blocks->revalidate_runs = REVALIDATE_RUNS;
}

static void forget(struct cpu *cpu)
{
	mapping_flush(&cpu->engine->blocks->supervisor);
	mapping_flush(&cpu->engine->blocks->user);
}

/* ---- a run ---- */

struct run {
	struct engine_mapping *mapping;
	u64 cr3, cr4, nested_cr3;	/* values of the guest */
	u64 rip;		/* the guest's RIP, while it isn't in a block */
	bool interrupt, nmi;	/* one came during the run, */
	bool kicked;		/* or a call by another processor */
	enum fallback_reason why;
	bool exact;		/* only these instructions, whose events are known, fit */
	bool over;
	bool unchained;		/* the next instruction is a REP string */
	bool rep;		/* the run is one REP string, of at most so many iterations, */
	u64 iterations;
	unsigned loads, stores;	/* with so many accesses in each iteration */
};

/* Something has to be delivered: leave at the beginning of the next block. */
static void request_exit(struct cpu *cpu, const struct run *run, u64 at)
{
	block_request_exit(&run->mapping->cache, at, cpu->gpr);
	cpu->vmcb->control.int_ctl = V_INTR_MASKING;
}

static void take_nmi(struct cpu *cpu, struct run *run)
{
	struct pending_irq pending = { .vector = PENDING_IRQ_NONE };

	run->kicked = vmrun_acknowledge(cpu, &pending, false, false) || run->kicked;
	run->nmi = run->nmi || pending.nmi;
	cpu->nmis_may_be_blocked = cpu->nmis_may_be_blocked || pending.nmi;
}

/* Do one VMRUN with the tables that map the region, then restore the guest's tables, because
 * translating the next block reads its bytes through them. Before the run the blocks must be
 * unchanged; the rest of an interrupted block runs as it is. */
static u64 enter_guest(struct cpu *cpu, const struct run *run, bool begins)
{
	u64 code;

	mapping_enter(run->mapping);
	code = vmrun_unless(cpu, begins ? &run->mapping->epoch : NULL);
	cpu->vmcb->save.cr3 = run->cr3;
	cpu->vmcb->save.cr4 = run->cr4;
	cpu->vmcb->control.nested_cr3 = run->nested_cr3;
	return code;
}

/* Run from one entry into blocks to the exit from them. */
static void run_blocks(struct cpu *cpu, struct run *run, u64 at)
{
	struct block_cache *cache = &run->mapping->cache;
	struct vmcb_save *save = &cpu->vmcb->save;

	for (bool begins = true;; begins = false) {
		u64 code;

		save->rip = at;
		code = enter_guest(cpu, run, begins);
		if (code == EXIT_NOT_RUN) {
			run->over = true;
			return;
		}
		at = save->rip;
		if (!block_owns(cache, at))
			vmrun_unexpected(cpu, code);
		if (code == EXIT_VMMCALL) {
			run->rip = block_left(cache, at);
			run->over = run->interrupt || run->nmi || run->kicked;
			return;
		}
		if (code == EXIT_NPF || (code >= EXIT_EXCEPTION && code <= EXIT_EXCEPTION_LAST)) {
			run->rip = block_faulted(cache, at, cpu->gpr);
			if (cache->left_in_shadow)
				cpu->shadow = SHADOW_STI;
			run->why = FALLBACK_FAULT;
			run->over = true;
			return;
		}
		if (code == EXIT_RDTSC || code == EXIT_RDTSCP) {
			run->rip = block_faulted(cache, at, cpu->gpr);
			run->why = FALLBACK_INSTRUCTION;
			run->over = true;
			return;
		}
		if (code == EXIT_INTR)
			run->interrupt = true;
		else if (code == EXIT_NMI)
			take_nmi(cpu, run);
		else
			vmrun_unexpected(cpu, code);
		if (block_not_begun(cache, at, &run->rip)) {
			run->over = true;
			return;
		}
		if (run->rep && block_between(cache, at)) {
			run->rip = block_faulted(cache, at, cpu->gpr);
			run->over = true;
			return;
		}
		request_exit(cpu, run, at);
	}
}

static void leave_blocks(struct cpu *cpu, const struct run *run)
{
	cpu->vmcb->control.int_ctl = 0;
	cpu->vmcb->save.rip = run->rip;
	mapping_unmap(run->mapping);
}

/* The accesses of the string, with those before an interruption, belong to one instruction. */
static void settle_rep(struct cpu *cpu, const struct run *run, struct model_events *events)
{
	struct rep_progress *rep = &cpu->engine->rep;
	u64 done = run->iterations - cpu->gpr[REG_RCX];

	rep->retired.loads += (u32)done * run->loads;
	rep->retired.stores += (u32)done * run->stores;
	if (events->instructions) {
		events->loads += rep->retired.loads;
		events->stores += rep->retired.stores;
		events->loading += !!rep->retired.loads;
		events->storing += !!rep->retired.stores;
		rep->active = false;
	} else {
		rep_note(cpu);
	}
}

static void tell_branches(struct cpu *cpu, const struct block_cache *cache)
{
	struct model_taken taken;

	if (!cache->keep_branches || !model_bulk_needs_branches(&cpu->model, cpu_cpl(cpu)))
		return;
	for (unsigned n = 0; block_taken(cache, n, &taken); n++)
		model_bulk_taken(&cpu->model, cpu_cpl(cpu), &taken);
}

/* Count the retired instructions; the budget is a second way to compute them. */
static u64 settle(struct cpu *cpu, const struct run *run)
{
	struct block_cache *cache = &run->mapping->cache;
	struct model_events events;

	tell_branches(cpu, cache);
	block_end(cache, &events);
	if (events.instructions != cache->given - cache->region->context.budget)
		panic("blocks have miscounted (events, given, left)", 3, events.instructions,
		      cache->given, cache->region->context.budget, 0);
	if (run->rep)
		settle_rep(cpu, run, &events);
	if (!model_bulk_fits(&cpu->model, cpu_cpl(cpu), &events))
		panic("blocks went past an overflow (events, loads, stores, given)", 4,
		      events.instructions, events.loads, events.stores, cache->given);
	model_bulk_retire(&cpu->model, cpu_cpl(cpu), &events);
	cpu->engine->statistics.in_blocks += events.instructions;
	cpu->engine->statistics.block_runs++;
	return events.instructions;
}

/* Deliver the interrupts that ended the run, at the boundary at which it ended. */
static bool deliver_pending(struct cpu *cpu, const struct run *run)
{
	const struct guest_event nmi = { .vector = VECTOR_NMI, .type = EVENT_NMI };
	bool delivered = run->nmi;

	if (run->interrupt)
		delivered = vmrun_take_interrupt(cpu, cpu->vmcb->save.rflags & RFLAGS_IF, false) ||
			    delivered;
	if (run->nmi) {
		deliver(cpu, &nmi);
		cpu->statistics.exits[KIND_NMI]++;
	}
	return delivered;
}

/* Find the next block. false: the instruction isn't for blocks, or the budget is too small. */
static bool enter_next_block(struct run *run, u64 *at)
{
	switch (block_enter(&run->mapping->cache, run->rip, at)) {
	case BLOCK_RUN:
		return true;
	case BLOCK_REFUSED:
		mapping_refuse(run->mapping, run->rip);
		run->why = FALLBACK_INSTRUCTION;
		break;
	case BLOCK_UNCHAINED:
		run->unchained = true;
		run->why = FALLBACK_OVERFLOW;
		break;
	case BLOCK_OVER_BUDGET:
	case BLOCK_FULL:
		run->why = FALLBACK_OVERFLOW;
		break;
	}
	return false;
}

/* The block at RIP is longer than the budget: enter a part with as many instructions as fit. */
static bool enter_part(struct cpu *cpu, struct run *run, u64 *at)
{
	struct block_cache *cache = &run->mapping->cache;
	struct model_events events;
	unsigned n = 0;

	while (block_events(cache, run->rip, n + 1, &events) &&
	       model_bulk_fits(&cpu->model, cpu_cpl(cpu), &events))
		n++;
	run->exact = true;
	return n >= WORTH_A_RUN && block_enter_part(cache, run->rip, n, at) == BLOCK_RUN;
}

/* Enter all iterations of the REP string at RIP, if they fit. */
static bool enter_rep(struct cpu *cpu, struct run *run, u64 *at)
{
	struct block_cache *cache = &run->mapping->cache;
	struct model_events events = { .instructions = 1 };

	rep_begin(cpu);
	block_unchained(cache, run->rip, &run->loads, &run->stores);
	run->iterations = cpu->gpr[REG_RCX];
	if (run->iterations > MOST_ITERATIONS)
		return false;
	events.loads = cpu->engine->rep.retired.loads + run->iterations * run->loads;
	events.stores = cpu->engine->rep.retired.stores + run->iterations * run->stores;
	events.loading = !!events.loads;
	events.storing = !!events.stores;
	run->exact = run->rep = true;
	return model_bulk_fits(&cpu->model, cpu_cpl(cpu), &events) &&
	       block_enter_unchained(cache, run->rip, at) == BLOCK_RUN;
}

/* The next block can't simply run: enter a part of it, or a REP string. */
static bool enter_partial_or_rep(struct cpu *cpu, struct run *run, u64 *at)
{
	if (run->why == FALLBACK_INSTRUCTION)
		return false;
	return run->unchained ? enter_rep(cpu, run, at) : enter_part(cpu, run, at);
}

static u64 longest_run(const struct cpu *cpu)
{
	if (cpu->engine->blocks->revalidate_runs)
		return REVALIDATE_BUDGET;
	return cpu->untrusted && !cpu->engine->look.linger ? LONGEST_UNTRUSTED_RUN : LONGEST_RUN;
}

/* Run from the guest's RIP, which is at a block. false: nothing was done. */
static bool run_chain(struct cpu *cpu, struct run *run)
{
	struct engine_mapping *mapping = run->mapping;
	u64 budget, at, before, retired, longest = longest_run(cpu);

	budget = model_bulk_budget(&cpu->model, cpu_cpl(cpu), mapping->cache.most_accesses);
	block_begin(&mapping->cache, budget < longest ? budget : longest);
	if (!enter_next_block(run, &at) && !enter_partial_or_rep(cpu, run, &at))
		return false;
	before = mapping->cache.runs_at;
	if (!mapping_map(mapping)) {
		run->why = FALLBACK_MODE;
		return false;
	}
	at += mapping->cache.runs_at - before;
	run->why = FALLBACK_REASONS;
	do
		run_blocks(cpu, run, at);
	while (!run->over && !run->exact && mapping->epoch == code_page_epoch() &&
	       enter_next_block(run, &at));
	leave_blocks(cpu, run);
	retired = settle(cpu, run);
	if (run->why == FALLBACK_FAULT)
		cpu->engine->statistics.fallback[FALLBACK_FAULT]++;
	return deliver_pending(cpu, run) || (retired && run->why != FALLBACK_FAULT);
}

/* Run only while no other processor watches this one: check again after the others know that it
 * runs. */
static bool run_untracked(struct cpu *cpu, struct run *run)
{
	bool done;

	siblings_untracked(cpu);
	done = (!hypervisor.several || model_bulk_possible(&cpu->model, cpu_cpl(cpu))) &&
	       run_chain(cpu, run);
	siblings_tracked(cpu);
	return done;
}

/*
 * Was the cache made for fewer events, or is it full? A cache that counts more than needed can
 * stay, but one that keeps branches has short runs.
 */
static bool out_of_date(const struct cpu *cpu, struct engine_mapping *mapping)
{
	const struct block_cache *cache = &mapping->cache;
	bool needs_taken = model_bulk_needs_taken(&cpu->model);
	bool needs_branches = model_bulk_needs_branches(&cpu->model, cpu_cpl(cpu));

	mapping->needless_runs = needs_branches ? 0 : mapping->needless_runs + 1;
	return (needs_taken && !cache->count_taken) || !block_room(cache) ||
	       (!cache->n_blocks && cache->count_taken != needs_taken) ||
	       (needs_branches && !cache->keep_branches) ||
	       (cache->keep_branches && mapping->needless_runs > MOST_NEEDLESS_RUNS);
}

static bool translated_run(struct cpu *cpu, enum fallback_reason *why)
{
	struct run run = {
		.rip = cpu->vmcb->save.rip,
		.cr3 = cpu->vmcb->save.cr3,
		.cr4 = cpu->vmcb->save.cr4,
		.nested_cr3 = cpu->vmcb->control.nested_cr3,
		.why = FALLBACK_REASONS,
	};
	struct engine_blocks *blocks = cpu->engine->blocks;
	struct engine_mapping *mapping;
	bool done;

	run.mapping = mapping = cpu_cpl(cpu) ? &blocks->user : &blocks->supervisor;
	if (blocks->revalidate_runs) {
		blocks->revalidate_runs--;
		mapping->stale = true;
	}
	mapping_check(mapping);
	if (out_of_date(cpu, mapping)) {
		mapping->cache.count_taken = model_bulk_needs_taken(&cpu->model);
		mapping->cache.keep_branches = mapping->needless_runs <= MOST_NEEDLESS_RUNS &&
					       (mapping->cache.keep_branches ||
						!mapping->needless_runs);
		mapping_flush(mapping);
	}
	*why = FALLBACK_INSTRUCTION;
	if (mapping_refuses(mapping, run.rip))
		return false;
	done = run_untracked(cpu, &run);
	/* That fallback was already counted, whether or not an instruction had retired before
	 * it. */
	*why = run.why == FALLBACK_FAULT ? FALLBACK_REASONS : run.why;
	return done;
}

static const struct translator with_blocks = {
	.init = init, .run = translated_run, .tables_changed = tables_changed,
	.device_accessed = device_accessed, .forget = forget,
};

const struct translator *const translator = &with_blocks;
