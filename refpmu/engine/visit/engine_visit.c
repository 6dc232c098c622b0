/* SPDX-License-Identifier: MIT */
/*
 * See engine_visit.h. Where data is, the guest's page tables say (guest_data_at()), once per page
 * and run: as long as a processor may rely on a translation that nobody has told it to drop.
 *
 * A page's protection (code_page.h) may begin at any time, and whoever begins it waits till no
 * processor is inside: so a run is, but while it asks for a page, which may itself end a protection
 * and wait for others.
 */
#include "refpmu/hv/code_page.h"
#include "refpmu/engine/visit/engine_visit.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/hv/panic.h"
#include "refpmu/engine/visit/visit.h"
#include "refpmu/hv/vmrun.h"
#include "spec/msr.h"

#define RFLAGS_AC	BIT(18)
#define ENOUGH		32	/* visits, behind which a block is worth its while */
#define ATTEMPTS	4	/* to find a page whose protection doesn't change meanwhile */

static bool enter(struct cpu *cpu)
{
	u32 changes = cpu->visit_changes;

	code_page_enter(cpu, NULL);
	cpu->visit_changes = hypervisor.nested_changes;
	return changes == cpu->visit_changes;
}

static void *data_at(void *ctx, u64 linear, unsigned bytes, bool write)
{
	struct cpu *cpu = ctx;

	for (unsigned i = 0; i < ATTEMPTS; i++) {
		void *at;
		bool same;

		code_page_leave(cpu);
		at = guest_data_at(cpu, linear, bytes, write);
		same = enter(cpu);
		if (same || !at)
			return at;
		visit_forget_pages(cpu->visits);
	}
	return NULL;
}

static const u8 *text_at(void *ctx, u64 linear)
{
	struct cpu *cpu = ctx;
	const u8 *at;

	code_page_leave(cpu);
	at = guest_text_at(cpu, linear);
	if (!enter(cpu))
		visit_forget_pages(cpu->visits);
	return at;
}

static u64 segment_base(void *ctx, unsigned segment)
{
	(void)ctx;
	return msr_read(segment == 1 ? MSR_IA32_FS_BASE : MSR_IA32_GS_BASE);
}

static bool mispredicted(void *ctx, u64 rip, bool taken)
{
	struct cpu *cpu = ctx;

	return model_bulk_conditional(&cpu->model, rip, taken);
}

void engine_visit_init(struct cpu *cpu)
{
	static const struct visit_world world = { .at = data_at, .text = text_at,
					    .segment = segment_base, .mispredicted = mispredicted };
	struct visit_cache *cache;

	cache = hypervisor_pages((unsigned)((sizeof(*cache) + PAGE_SIZE - 1) / PAGE_SIZE));
	cache->world = &world;
	cache->ctx = cpu;
	cache->enough = ENOUGH;
	cpu->visits = cache;
}

void engine_visit_forget(struct cpu *cpu)
{
	visit_forget(cpu->visits);
}

static u64 run(struct cpu *cpu, u64 most)
{
	struct vmcb_save *save = &cpu->vmcb->save;
	u64 n;

	enter(cpu);
	n = visit_run(cpu->visits, cpu->gpr, &save->rip, &save->rflags, most);
	code_page_leave(cpu);
	save->rsp = cpu->gpr[REG_RSP];
	return n;
}

bool engine_visit_wants(const struct cpu *cpu, u64 rip)
{
	return !(cpu->vmcb->save.rflags & RFLAGS_AC) && visit_wants(cpu->visits, rip);
}

bool engine_visit(struct cpu *cpu, u64 most)
{
	const struct vmcb_save *save = &cpu->vmcb->save;
	struct visit_cache *cache = cpu->visits;
	u64 budget = model_bulk_budget(&cpu->model, cpu_cpl(cpu), VISIT_ACCESSES);

	if (vmrun_take_interrupt(cpu, save->rflags & RFLAGS_IF, false))
		return true;
	if (budget < most)
		most = budget;
	if (!run(cpu, most))
		return false;
	if (!model_bulk_fits(&cpu->model, cpu_cpl(cpu), &cache->events))
		panic("first visits went past an overflow (instructions, loads, stores, most)", 4,
		      cache->events.instructions, cache->events.loads, cache->events.stores, most);
	model_bulk_retire(&cpu->model, cpu_cpl(cpu), &cache->events);
	cpu->statistics.visited += cache->events.instructions;
	return true;
}

bool engine_visit_telling(struct cpu *cpu, u64 most)
{
	bool done;

	if (cpu->vmcb->save.rflags & RFLAGS_AC)
		return false;
	cpu->visits->tells = true;
	done = engine_visit(cpu, most);
	cpu->visits->tells = false;
	return done;
}
