/* SPDX-License-Identifier: MIT */
/*
 * See engine.h. The ways that the guest's instructions take, the fastest first:
 *
 *	native		VMRUN, while the model doesn't watch (vmm/main_loop.c), or not at CPL 0
 *			(user_only.h)
 *	translated	blocks, whose events are counted together (translator.h)
 *	direct		the instruction itself, executed by the hypervisor on the guest's
 *			registers, or a REP string in C (emulate/engine_emulate.h)
 *	system		in C: what operating systems execute all the time, and what has an exit of
 *			its own (emulate/system.h)
 *	transaction	in C: XBEGIN, XEND, XABORT, XTEST, and what begins an elision
 *			(transaction.h)
 *	step		by the trap flag, a world switch each; what swallows the trap in C (step.h)
 *
 * run_next() tries them in turn. If a way doesn't take the instruction at RIP, it returns false and
 * has changed nothing. A step takes every instruction.
 */
#include "refpmu/hv/deliver.h"
#include "refpmu/engine/configuration.h"
#include "refpmu/engine/decode.h"
#include "refpmu/engine/engine.h"
#include "refpmu/engine/native_pages.h"
#include "refpmu/engine/siblings.h"
#include "refpmu/engine/step.h"
#include "refpmu/engine/transaction.h"
#include "refpmu/engine/translator.h"
#include "refpmu/engine/emulate/engine_emulate.h"
#include "refpmu/engine/emulate/rep.h"
#include "refpmu/engine/emulate/system.h"
#include "refpmu/engine/user_only.h"
#include "refpmu/hv/vmrun.h"
#include "refpmu/model/bulk.h"
#include "refpmu/engine/engine_cpu.h"

#define REACH		12	/* instructions: fewer are emulated faster than one world switch */
#define ROUNDS		256	/* most rounds between two external checks */
/* At a place each miss adds 2, each hit subtracts 1. A place that reaches this is left alone. */
#define PATIENCE	4
#define UNTRUSTED_TRIES	4	/* most runs of untrusted pages in a row */
#define MANY_UNTRUSTED	64	/* so many of them in a row are many */
#define LINGER_LEAST	100000	/* TSC ticks that some exits take */
#define LINGER_MOST	10000000
#define KEY_0		BITS(0, 1)	/* of PKRU: access or write disable for key 0 */

/* enum engine_name; another processor may write it while this one counts. */
static volatile u8 chosen;

void engine_init(struct cpu *cpu, struct tlb_places *places)
{
	_Static_assert(sizeof(*cpu->engine) <= PAGE_SIZE, "a page");
	cpu->engine = hypervisor_pages_apart(places, 1, 1);
	cpu->engine->vectors = hypervisor_pages(1);
	decode_init(cpu);
	engine_emulate_init(cpu);
	cpu->engine->translates = translator && translator->init(cpu);
	user_only_init(cpu);
}

void engine_forget(struct cpu *cpu)
{
	cpu->untrusted = cpu->engine->rep.active = false;
	siblings_started(cpu);
	if (cpu->engine->translates)
		translator->forget(cpu);
}

bool engine_choose(const struct cpu *cpu, enum engine_name engine)
{
	if (engine >= ENGINES || (engine == ENGINE_FAST && !cpu->engine->translates))
		return false;
	chosen = (u8)engine;
	return true;
}

enum engine_name engine_chosen(void)
{
	return (enum engine_name)chosen;
}

/* ---- which way ---- */

/* See ENGINE_ONE_BY_ONE. */
static void pass_one(const struct cpu *cpu)
{
	if (cpu->engine->one_by_one)
		cpu->engine->one_by_one--;
}

/* Without the other methods every instruction is stepped; but without a counter that counts, no
 * steps are needed. */
static bool may_execute(const struct cpu *cpu)
{
	return chosen != ENGINE_STEP || !model_needs_retire(&cpu->model);
}

/* May translated code run for the instruction at RIP and the next ones? Not at CPL 1 and 2. */
static bool may_translate(const struct cpu *cpu)
{
	return cpu->engine->translates && chosen == ENGINE_FAST && !cpu->engine->one_by_one &&
	       (cpu_cpl(cpu) == 0 || cpu_cpl(cpu) == 3) &&
	       model_bulk_possible(&cpu->model, cpu_cpl(cpu));
}

static bool traps_pending(const struct cpu *cpu)
{
	const struct vmcb_save *save = &cpu->vmcb->save;

	return (save->rflags & (RFLAGS_TF | RFLAGS_RF | RFLAGS_VM)) || (save->dr7 & DR7_ENABLED) ||
	       cpu->shadow != SHADOW_NONE || (cpu->vmcb->control.event_injection & EVENT_VALID);
}

/* Does no counter need the instructions from here on, until CPL 3? */
static bool may_look_away(struct cpu *cpu)
{
	return chosen == ENGINE_FAST && !cpu_cpl(cpu) && model_bulk_ignores(&cpu->model, 0) &&
	       !cpu->untrusted && !traps_pending(cpu) && user_only_fits(cpu);
}

/* "Protection Keys": PKRU.AD0 or WD0 would stop accesses of blocks at CPL 3 to the engine's own
 * pages, which have key 0. The host runs with the guest's CR4. */
static bool key_0_is_open(const struct cpu *cpu)
{
	u32 pkru, zero;

	if (!(cpu->vmcb->save.cr4 & CR4_PKE))
		return true;
	__asm__ volatile("rdpkru" : "=a"(pkru), "=d"(zero) : "c"(0));
	return !(pkru & KEY_0);
}

static bool mode_fits(const struct cpu *cpu)
{
	return cpu_64bit_code(cpu) && !(cpu->vmcb->save.cr4 & CR4_LA57) &&
	       (cpu_cpl(cpu) != 3 || key_0_is_open(cpu));
}

static bool run_direct(struct cpu *cpu)
{
	bool delivered;

	return engine_emulate_fits(cpu) && engine_emulate(cpu, true, &delivered);
}

/* After a directly executed instruction: is the next one executed directly too? */
static bool goes_on(const struct cpu *cpu)
{
	pass_one(cpu);
	return cpu->epoch == hypervisor.epoch && model_needs_retire(&cpu->model) &&
	       !may_translate(cpu);
}

/* In a transaction the model checks each instruction before it runs. A second check only compares
 * lines with memory earlier. */
static bool run_in_transaction(struct cpu *cpu)
{
	bool delivered = false;

	for (unsigned n = 0; n < EMULATE_IN_ONE_GO; n++) {
		if (transaction_instruction(cpu, decode_current(cpu)))
			return true;
		if (!engine_emulate_fits(cpu) ||
		    !engine_emulate(cpu, !n || cpu->engine->pmi_raised, &delivered))
			return n;
		if (delivered || !goes_on(cpu) || !model_in_tx(&cpu->model))
			break;
	}
	return true;
}

static bool run_system(struct cpu *cpu)
{
	const struct instruction *insn = decode_current(cpu);
	bool needs_retire = model_needs_retire(&cpu->model);

	if (!insn || !engine_system(cpu, insn))
		return false;
	cpu->engine->statistics.emulated_system += needs_retire;
	return true;
}

/* Try all methods except a step. *why: the reason for the step. */
static bool run_without_step(struct cpu *cpu, enum fallback_reason *why)
{
	*why = FALLBACK_MODEL;
	if (model_in_tx(&cpu->model))
		return run_in_transaction(cpu);
	*why = FALLBACK_MODE;
	if (!mode_fits(cpu))
		return false;
	*why = FALLBACK_TRAP;
	if (traps_pending(cpu))
		return false;
	*why = FALLBACK_MODEL;
	if (!may_translate(cpu))
		return engine_emulate_run(cpu, goes_on) || run_system(cpu);
	if (translator->run(cpu, why))
		return true;
	switch (*why) {
	case FALLBACK_INSTRUCTION:
		return run_system(cpu);
	case FALLBACK_OVERFLOW:
		return run_direct(cpu);
	default:
		return false;
	}
}

static void run_step(struct cpu *cpu)
{
	cpu->engine->siblings.steps++;
	step_instruction(cpu);
	cpu->engine->siblings.steps++;
	if (cpu->engine->siblings.pausing)
		siblings_pause(cpu);
}

/* Execute the instruction at RIP, and perhaps some more. */
static void run_next(struct cpu *cpu)
{
	enum fallback_reason why = FALLBACK_REASONS;

	siblings_interleave(cpu);
	rep_drop_rf(cpu);
	pass_one(cpu);
	if (may_look_away(cpu))
		user_only_run(cpu);
	if (may_execute(cpu)) {
		if (run_without_step(cpu, &why))
			return;
		if (why != FALLBACK_REASONS)
			cpu->engine->statistics.fallback[why]++;
	}
	run_step(cpu);
}

/* ---- what it is asked for ---- */

void engine_step(struct cpu *cpu)
{
	vmrun_set_intercepts(cpu, true);
	step_instruction(cpu);
	vmrun_set_intercepts(cpu, false);
}

static void engine_begin(struct cpu *cpu)
{
	vmrun_set_intercepts(cpu, false);
	deliver_injected(cpu);
	translator_tables_changed(cpu);
	cpu->nmis_may_be_blocked = true;
}

void engine_run(struct cpu *cpu)
{
	engine_begin(cpu);
	cpu->engine->one_by_one = ENGINE_ONE_BY_ONE;
	while (model_needs_retire(&cpu->model) && !configuration_follow(cpu))
		run_next(cpu);
	vmrun_set_intercepts(cpu, false);
}

static bool on_the_page(const struct cpu *cpu)
{
	return cpu->vmcb->save.rip / PAGE_SIZE == cpu->engine->look.page;
}

/* Emulated instructions come first: they need no world switch, and they end at the end of the
 * page. */
static void look(struct cpu *cpu)
{
	cpu->engine->look.page = cpu->vmcb->save.rip / PAGE_SIZE;
	for (unsigned i = 0; i < UNTRUSTED_TRIES; i++)
		if (!engine_emulate_fits(cpu) || !engine_emulate_run(cpu, on_the_page))
			break;
		else if (!on_the_page(cpu))
			return;
	run_next(cpu);
}

/*
 * Should the engine stay on? A loop that goes to and from a page which can't run natively costs two
 * exits a round; one that stays on such a page costs a world switch for each piece that isn't
 * emulated. So the longer such visits last, and the more closely they follow each other, the longer
 * the engine stays on afterwards, and it runs blocks.
 */
static bool stays_on(struct cpu *cpu, unsigned rounds)
{
	u64 now = tsc();

	if (rounds == MANY_UNTRUSTED && !cpu->engine->look.linger)
		cpu->engine->look.linger = LINGER_LEAST;
	if (native_pages_untrusted(cpu)) {
		cpu->engine->look.until = now;
		return true;
	}
	return now - cpu->engine->look.until < cpu->engine->look.linger;
}

void engine_run_untrusted(struct cpu *cpu)
{
	u64 now = tsc();
	unsigned rounds = 0;

	if (now - cpu->engine->look.until > LINGER_LEAST + 2 * cpu->engine->look.linger)
		cpu->engine->look.linger = 0;
	else if (cpu->engine->look.linger < LINGER_MOST)
		cpu->engine->look.linger = LINGER_LEAST + 2 * cpu->engine->look.linger;
	cpu->engine->look.until = now;
	cpu->untrusted = true;
	engine_begin(cpu);
	do {
		if (cpu->engine->look.linger)
			run_next(cpu);
		else
			look(cpu);
		rounds++;
	} while (!model_needs_retire(&cpu->model) && !configuration_follow(cpu) &&
		 model_has_tx(&cpu->model) && stays_on(cpu, rounds));
	cpu->untrusted = false;
	vmrun_set_intercepts(cpu, false);
}

/*
 * Execute from here through the next instruction with a separate exit. Returns its address; 0: it
 * is too far away, or the next instruction doesn't follow it.
 */
static u64 run_to_exit(struct cpu *cpu)
{
	const struct instruction *insn;
	bool delivered;
	u64 rip;

	for (unsigned n = 0; n < REACH && engine_emulate_fits(cpu); n++) {
		if (engine_emulate(cpu, false, &delivered))
			continue;
		rip = cpu->vmcb->save.rip;
		insn = decode_current(cpu);
		return insn && engine_system(cpu, insn) &&
				       cpu->vmcb->save.rip == rip + insn->length ?
			       rip :
			       0;
	}
	return 0;
}

void engine_exit_follow(struct cpu *cpu, u64 rip)
{
	for (unsigned n = 0;
	     rip && n < ROUNDS && !model_needs_retire(&cpu->model) && !configuration_follow(cpu);
	     n++) {
		struct exit_place *place = &cpu->engine->place[rip / 2 % EXIT_PLACES];

		if (place->rip != rip)
			*place = (struct exit_place){ .rip = rip };
		if (place->misses >= PATIENCE)
			return;
		rip = run_to_exit(cpu);
		if (!rip)
			place->misses = (u8)(place->misses + 2);
		else if (place->misses)
			place->misses--;
	}
}
