/* SPDX-License-Identifier: MIT */
/*
 * See machine.h. Everything happens in signal handlers: the first one loads the guest's registers
 * into the context to which it returns; the last one restores the host's.
 */
#define _XOPEN_SOURCE 700	/* no more, because <ucontext.h> defines our register names */
#include "host/engine/machine.h"
#include "refpmu/engine/dbt/block_page.h"
#include "refpmu/engine/emulate/emulate.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <x86intrin.h>

#define FLAGS		0xcd5ULL	/* CF PF AF ZF SF DF OF */
#define TRAP		BIT(8)
#define ALIGNMENT_CHECKS BIT(18)
#define SIGNAL_STACK	(1u << 20)
#define FXSAVE		512		/* then the XSAVE header: state components in use */
#define FXSAVE_XMM	160
#define XSTATE_AVX	BIT(2)
#define XSAVE_AVX	576		/* the upper halves */
#define CONTEXT_REGS	23
#define JMP_REL32	0xe9
#ifndef SI_KERNEL
#define SI_KERNEL	0x80
#endif

/* Places in the kernel's order: R8..R15, RDI, RSI, RBP, RBX, RDX, RAX, RCX, RSP, RIP, flags. */
enum { AT_RIP = 16, AT_FLAGS = 17 };
static const u8 at_gpr[REG_COUNT] = { 13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7 };

struct block_cache machine_cache;
bool machine_holds;
static struct emulate_code *emulate_code;
u8 machine_code[MACHINE_BYTES], machine_data[MACHINE_BYTES];

/* UD2; NOP. An instruction that the decoder knows but this processor doesn't have is treated like
 * this. */
static const u8 exit_code[3] = { 0x0f, 0x0b, 0x90 };

enum mode { HOST, STARTING, STEPPING, IN_BLOCK };

static struct {
	enum mode mode;
	bool blocks, request_exit, ends, in_run, emulated;
	u64 left, quantum, random;
	const struct machine_state *begin;
	struct machine_result *result;
	struct block_op op;		/* the stepped instruction */
	bool rep;
	u64 gpr[REG_COUNT], rip, flags;
	u64 host[CONTEXT_REGS];
	u8 host_fp[FXSAVE + 8];
} run;

static const u64 area[3] = { MACHINE_CODE, MACHINE_DATA, MACHINE_STACK };

static unsigned machine_fetch(void *ctx, u64 linear, u8 *to, unsigned most)
{
	u64 left = MACHINE_CODE + MACHINE_BYTES - linear;
	unsigned n = left < most ? (unsigned)left : most;

	(void)ctx;
	if (linear - MACHINE_CODE >= MACHINE_BYTES)
		return 0;
	memcpy(to, (const void *)linear, n);
	return n;
}

/* ---- pages that don't change unnoticed ---- */

#define PAGES	(MACHINE_BYTES / BLOCK_PAGE_SIZE)

static bool held[PAGES];

static void allow(unsigned page, bool writing)
{
	mprotect((void *)(MACHINE_CODE + (u64)page * BLOCK_PAGE_SIZE), BLOCK_PAGE_SIZE,
		 PROT_READ | PROT_EXEC | (writing ? PROT_WRITE : 0));
}

static bool hold(void *ctx, u64 linear, struct block_page *page)
{
	u64 number = (linear - MACHINE_CODE) / BLOCK_PAGE_SIZE;

	(void)ctx;
	if (!machine_holds || number >= PAGES)
		return false;
	page->bytes = (const u8 *)linear;
	held[number] = true;
	allow((unsigned)number, false);
	return true;
}

static void release(u64 number)
{
	u64 linear = MACHINE_CODE + number * BLOCK_PAGE_SIZE;

	held[number] = false;
	allow((unsigned)number, true);
	for (unsigned i = 0; i < BLOCK_PAGES; i++)
		if (machine_cache.page[i].protected && machine_cache.page[i].linear == linear)
			block_page_drop(&machine_cache, &machine_cache.page[i]);
}

/* A store to a page with blocks: the blocks are dropped, and the store may be done. */
static bool released(u64 address)
{
	u64 number = (address - MACHINE_CODE) / BLOCK_PAGE_SIZE;

	if (number >= PAGES || !held[number])
		return false;
	release(number);
	return true;
}

/* Load another program, as a device would. */
static void load_code(void)
{
	for (unsigned i = 0; i < PAGES; i++)
		allow(i, true);
	memcpy((void *)MACHINE_CODE, machine_code, MACHINE_BYTES);
	for (unsigned i = 0; i < PAGES; i++)
		if (held[i])
			allow(i, false);
	for (unsigned i = 0; i < BLOCK_PAGES; i++) {
		struct block_page *page = &machine_cache.page[i];

		if (!page->protected)
			continue;
		if (!machine_holds || !block_page_same(page))
			release((page->linear - MACHINE_CODE) / BLOCK_PAGE_SIZE);
	}
}

static void wrong(const char *what)
{
	if (!run.result->wrong)
		run.result->wrong = what;
}

/* ---- contexts ---- */

static u64 *registers(ucontext_t *context)
{
	return (u64 *)context->uc_mcontext.__gregs;
}

static u8 *fp_state(ucontext_t *context)
{
	return (u8 *)context->uc_mcontext.__fpregs;
}

static void begin_guest(ucontext_t *context)
{
	u8 *fp = fp_state(context);
	u64 components;

	memcpy(run.host, registers(context), sizeof(run.host));
	memcpy(run.host_fp, fp, sizeof(run.host_fp));
	memcpy(fp + FXSAVE_XMM, run.begin->xmm, sizeof(run.begin->xmm));
	memcpy(&components, fp + FXSAVE, sizeof(components));
	components &= ~XSTATE_AVX;
	memcpy(fp + FXSAVE, &components, sizeof(components));
	memcpy(run.gpr, run.begin->gpr, sizeof(run.gpr));
	run.rip = run.begin->rip;
	run.flags = run.begin->rflags;
}

static void end_guest(ucontext_t *context)
{
	struct machine_result *result = run.result;
	u8 *fp = fp_state(context);
	u64 components;

	memcpy(result->state.gpr, run.gpr, sizeof(run.gpr));
	result->state.rip = run.rip;
	result->state.rflags = run.flags & FLAGS;
	memcpy(result->state.xmm, fp + FXSAVE_XMM, sizeof(result->state.xmm));
	memcpy(result->state.x87, fp, sizeof(result->state.x87));
	memcpy(&components, fp + FXSAVE, sizeof(components));
	if (components & XSTATE_AVX)
		memcpy(result->state.ymm, fp + XSAVE_AVX, sizeof(result->state.ymm));
	for (unsigned i = 0; i < 3; i++)
		memcpy(result->memory[i], (const void *)area[i], MACHINE_BYTES);
	memcpy(registers(context), run.host, sizeof(run.host));
	registers(context)[AT_RIP] += 2;	/* after the UD2 of the exit */
	memcpy(fp, run.host_fp, sizeof(run.host_fp));
	run.mode = HOST;
}

static void take_registers(ucontext_t *context)
{
	const u64 *r = registers(context);

	for (unsigned i = 0; i < REG_COUNT; i++)
		run.gpr[i] = r[at_gpr[i]];
	run.rip = r[AT_RIP];
	run.flags = r[AT_FLAGS];
}

static void go_on(ucontext_t *context, u64 at, bool trap)
{
	u64 *r = registers(context);

	for (unsigned i = 0; i < REG_COUNT; i++)
		r[at_gpr[i]] = run.gpr[i];
	r[AT_RIP] = at;
	r[AT_FLAGS] = (run.flags & FLAGS) | BIT(9) | BIT(1) | (trap ? TRAP : 0);
}

/* ---- running ---- */

static void add_events(struct model_events *to, const struct model_events *events)
{
	to->instructions += events->instructions;
	to->loads += events->loads;
	to->stores += events->stores;
	to->locked_loads += events->locked_loads;
	to->loading += events->loading;
	to->storing += events->storing;
	to->locking += events->locking;
	for (unsigned i = 0; i <= BRANCH_FAR; i++)
		to->branches[i] += events->branches[i];
	to->taken += events->taken;
	to->mispredicted += events->mispredicted;
}

/* To the reference, a branch to the next instruction looks like one that isn't taken. */
static void note_taken(const struct model_taken *taken)
{
	struct machine_result *result = run.result;

	if (taken->branch == BRANCH_CONDITIONAL && taken->target == taken->next_ip)
		return;
	if (result->n_taken < MACHINE_BRANCHES)
		result->taken[result->n_taken] = *taken;
	result->n_taken++;
}

static void end_run(void)
{
	struct model_events events;
	struct model_taken taken;
	u64 spent;

	if (!run.in_run)
		return;
	run.in_run = false;
	for (unsigned i = 0; machine_cache.keep_branches && block_taken(&machine_cache, i, &taken);
	     i++) {
		taken.instructions += run.result->events.instructions;
		note_taken(&taken);
	}
	block_end(&machine_cache, &events);
	spent = machine_cache.given - machine_cache.region->context.budget;
	if (spent != events.instructions)
		wrong("the blocks' counts and the budget disagree");
	if (events.instructions > run.left)
		wrong("more instructions than asked for");
	run.left -= events.instructions;
	add_events(&run.result->events, &events);
}

static void step(ucontext_t *context)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	u8 bytes[INSN_MAX_BYTES];
	unsigned n = machine_fetch(NULL, run.rip, bytes, sizeof(bytes));

	run.mode = STEPPING;
	run.rep = false;
	block_op_decode(&machine_cache.decoder, &run.op, run.rip, bytes, n);
	if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&machine_cache.decoder, bytes, n, &zi, operands)))
		run.rep = zi.attributes &
			  (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
	/* It would store the trap flag. Programs have no such instruction, except by a jump into
	 * the middle of another. */
	if (run.op.length &&
	    (zi.mnemonic == ZYDIS_MNEMONIC_PUSHF || zi.mnemonic == ZYDIS_MNEMONIC_PUSHFQ)) {
		run.result->open = true;
		end_guest(context);
		return;
	}
	go_on(context, run.rip, true);
}

/* Enter the first part of a block that is longer than the budget. */
static bool enter_part(u64 budget, u64 *at)
{
	struct model_events events;

	run.in_run = block_events(&machine_cache, run.rip, (unsigned)budget, &events) && budget &&
		     block_enter_part(&machine_cache, run.rip, (unsigned)budget, at) == BLOCK_RUN;
	return run.in_run;
}

static bool go_into_block(ucontext_t *context, u64 at)
{
	run.mode = IN_BLOCK;
	go_on(context, at, run.request_exit);
	return true;
}

/* Enter blocks as long as there are some. true: the context enters one. */
static bool enter_block(ucontext_t *context)
{
	for (unsigned attempt = 0; attempt < 3; attempt++) {
		u64 at, budget = run.left < run.quantum ? run.left : run.quantum;
		bool fresh = !run.in_run;

		if (fresh) {
			block_begin(&machine_cache, budget);
			run.result->runs++;
			run.in_run = true;
		}
		switch (block_enter(&machine_cache, run.rip, &at)) {
		case BLOCK_RUN:
			return go_into_block(context, at);
		case BLOCK_OVER_BUDGET:
			end_run();
			if (fresh && enter_part(budget, &at))
				return go_into_block(context, at);
			break;
		case BLOCK_FULL:
			end_run();
			block_flush(&machine_cache);
			break;
		case BLOCK_UNCHAINED:		/* the stepping here counts its iterations */
		case BLOCK_REFUSED:
			end_run();
			return false;
		}
	}
	end_run();
	return false;
}

static void count_stepped(const struct block_op *op)
{
	struct model_events *events = &run.result->events;
	u64 next = op->rip + op->length;

	events->instructions++;
	events->branches[op->branch]++;
	if (op->branch != BRANCH_NONE && (op->branch != BRANCH_CONDITIONAL || run.rip != next))
		note_taken(&(struct model_taken){
			.instructions = events->instructions,
			.ip = op->rip,
			.next_ip = next,
			.target = run.rip,
			.branch = op->branch,
			.indirect = op->kind == OP_JUMP_INDIRECT || op->kind == OP_CALL_INDIRECT,
		});
	if (op->branch == BRANCH_CONDITIONAL) {
		events->taken += run.rip != next;
		events->mispredicted += (run.rip != next) !=
					model_branch_is_backward(next, op->target);
		run.result->to_next += op->target == next;
	}
	if (!run.rep) {
		events->loads += op->loads;
		events->stores += op->stores;
		events->locked_loads += op->locked;
		events->loading += !!op->loads;
		events->storing += !!op->stores;
		events->locking += !!op->locked;
	}
	run.left--;
}

static u64 emulate_linear(void *ctx, const struct instruction *insn,
			  const struct insn_access *access, const u64 gpr[REG_COUNT])
{
	(void)ctx;
	(void)insn;
	return access->segment > 3 ? 0 : decode_effective(access, gpr);	/* FS, GS */
}

static void *emulate_at(void *ctx, u64 linear, unsigned bytes, bool write)
{
	(void)ctx;
	if (write) {
		released(linear);
		released(linear + bytes - 1);
	}
	for (unsigned i = 0; i < 3; i++)
		if (linear - area[i] < MACHINE_BYTES &&
		    linear + bytes - 1 - area[i] < MACHINE_BYTES)
			return (void *)linear;
	return NULL;
}

/* Emulate the next instruction, if it can be emulated. */
static bool run_emulated(void)
{
	const struct emulate_ops world = { .code = emulate_code, .linear = emulate_linear,
					   .at = emulate_at };
	const struct emulate_state state = { run.gpr, &run.rip, &run.flags };
	struct instruction insn = { .linear = run.rip, .rip = run.rip, .mode = 64 };
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	struct emulate_op emulated;
	unsigned n = machine_fetch(NULL, run.rip, insn.bytes, sizeof(insn.bytes));

	if (!ZYAN_SUCCESS(
		    ZydisDecoderDecodeFull(&machine_cache.decoder, insn.bytes, n, &zi, operands)))
		return false;
	block_op_decode(&machine_cache.decoder, &run.op, run.rip, insn.bytes, n);
	decode_fill(&insn, &zi, operands);
	emulate_decode(&machine_cache.decoder, &emulated, &insn);
	run.rep = false;
	/* In the meantime the vector registers are this process's. */
	if (emulated.vector || !emulate_run(&emulated, &insn, &state, &world))
		return false;
	run.result->emulated++;
	if (insn.backward != (run.op.branch == BRANCH_CONDITIONAL &&
			      model_branch_is_backward(insn.rip + insn.length, run.op.target)))
		wrong("the decoders disagree on where a branch leads");
	count_stepped(&run.op);
	return true;
}

static void advance(ucontext_t *context)
{
	while (run.emulated && run.left && run.rip - MACHINE_CODE < MACHINE_BYTES && run_emulated())
		;
	if (!run.in_run && !run.left) {
		end_guest(context);
		return;
	}
	if (run.rip - MACHINE_CODE >= MACHINE_BYTES) {
		end_run();
		end_guest(context);
		return;
	}
	if (run.blocks && enter_block(context))
		return;
	if (!run.left)
		end_guest(context);
	else
		step(context);
}

static void stepped(ucontext_t *context)
{
	take_registers(context);
	if (run.rep && run.rip == run.op.rip) {
		go_on(context, run.rip, true);
		return;
	}
	count_stepped(&run.op);
	run.result->stepped++;
	advance(context);
}

/*
 * A branch to a non-canonical address: this processor faults before the branch, QEMU's (and AMD's)
 * after it. The reference can't decide which is right.
 */
static bool is_open(const siginfo_t *info)
{
	return run.mode == STEPPING && run.op.kind >= OP_JUMP_INDIRECT &&
	       info->si_code == SI_KERNEL;
}

static void faulted(ucontext_t *context, const siginfo_t *info)
{
	take_registers(context);
	if (is_open(info)) {
		run.result->open = true;
		end_guest(context);
		return;
	}
	if (run.mode == IN_BLOCK) {
		if (!block_owns(&machine_cache, run.rip)) {
			wrong("a block left its region");
			end_run();
			end_guest(context);
			return;
		}
		run.rip = block_faulted(&machine_cache, run.rip, run.gpr);
		end_run();
		released((u64)info->si_addr);
		if (run.left)
			step(context);		/* it faults once more, when it is stepped */
		else
			end_guest(context);
		return;
	}
	if (released((u64)info->si_addr)) {
		go_on(context, run.rip, true);
		return;
	}
	run.result->faults++;
	run.rip += run.op.length ? run.op.length : 1;
	advance(context);
}

static void give_up(int signal, u64 rip, const void *address)
{
	fprintf(stderr, "machine: unexpected signal %d at %#llx, address %p\n", signal,
		(unsigned long long)rip, address);
	abort();
}

/* Record the state that the interrupt finds at the end of the run. */
static void interrupt_delivered(void)
{
	end_run();
	if (run.ends)
		run.left = 0;
}

/* A signal somewhere in a block acts like an interrupt. */
static void interrupted(ucontext_t *context)
{
	take_registers(context);
	run.random = run.random * 6364136223846793005ULL + 1442695040888963407ULL;
	if (run.random >> 56 < 4 && block_not_begun(&machine_cache, run.rip, &run.rip)) {
		interrupt_delivered();
		advance(context);
		return;
	}
	if (run.random >> 56 < 4)
		block_request_exit(&machine_cache, run.rip, run.gpr);
	go_on(context, run.rip, true);
}

static void handle(int signal, siginfo_t *info, void *argument)
{
	ucontext_t *context = argument;
	u64 rip = registers(context)[AT_RIP];

	/* A program may have enabled alignment checks, which the kernel doesn't disable for the
	 * handler. */
	__writeeflags(__readeflags() & ~ALIGNMENT_CHECKS);

	if (run.mode == HOST)
		give_up(signal, rip, info->si_addr);
	if (run.mode == STARTING) {
		begin_guest(context);
		advance(context);
	} else if (signal == SIGTRAP && run.mode == STEPPING) {
		stepped(context);
	} else if (signal == SIGTRAP && run.request_exit && block_owns(&machine_cache, rip)) {
		interrupted(context);
	} else if (signal == SIGILL && run.mode == IN_BLOCK && block_owns(&machine_cache, rip) &&
		   !memcmp((const void *)rip, exit_code, sizeof(exit_code))) {
		bool exit_requested = machine_cache.exit_requested;

		/* QEMU continues to translate after VMMCALL. */
		if (((const u8 *)rip)[sizeof(exit_code)] != JMP_REL32)
			wrong("no jump follows an exit");
		take_registers(context);
		run.rip = block_left(&machine_cache, rip);
		if (exit_requested)
			interrupt_delivered();
		else if (run.request_exit)
			end_run();
		advance(context);
	} else {
		faulted(context, info);
	}
}

static void *map(u64 at, size_t bytes, int protection)
{
	int zero = open("/dev/zero", O_RDWR);
	void *got = mmap((void *)at, bytes, protection, MAP_PRIVATE | (at ? MAP_FIXED : 0), zero,
			 0);

	if (zero < 0 || got == MAP_FAILED) {
		perror("machine: mmap");
		exit(1);
	}
	return got;
}

void machine_open(void)
{
	static const struct block_source source = { .fetch = machine_fetch, .hold = hold };
	static const int signals[] = { SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE };
	stack_t stack = { .ss_sp = map(0, SIGNAL_STACK, PROT_READ | PROT_WRITE),
			  .ss_size = SIGNAL_STACK };
	struct sigaction action = { .sa_sigaction = handle,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct block_region *region;

	for (unsigned i = 0; i < 3; i++)
		map(area[i], MACHINE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
	region = map(0, sizeof(*region), PROT_READ | PROT_WRITE | PROT_EXEC);
	emulate_code = map(0, sizeof(*emulate_code), PROT_READ | PROT_WRITE | PROT_EXEC);
	block_init(&machine_cache, region, &source, exit_code);
	machine_cache.runs_at = (u64)region;
	sigaltstack(&stack, NULL);
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

static __attribute__((noinline)) void start(const struct machine_state *begin, u64 instructions,
					    struct machine_result *result)
{
	memset(result, 0, sizeof(*result));
	load_code();
	memcpy((void *)MACHINE_DATA, machine_data, MACHINE_BYTES);
	for (u64 a = MACHINE_STACK; a < MACHINE_STACK + MACHINE_BYTES; a += 8)
		*(u64 *)a = MACHINE_CODE;
	run.begin = begin;
	run.left = instructions;
	run.result = result;
	run.in_run = false;
	run.mode = STARTING;
	__asm__ volatile("ud2" ::: "memory", "cc");
}

void machine_step(const struct machine_state *begin, u64 instructions,
		  struct machine_result *result)
{
	run.blocks = run.request_exit = run.ends = run.emulated = false;
	start(begin, instructions, result);
}

void machine_emulate(const struct machine_state *begin, u64 instructions,
		     struct machine_result *result)
{
	run.blocks = run.request_exit = run.ends = false;
	run.emulated = true;
	start(begin, instructions, result);
}

static void run_in_blocks(const struct machine_state *begin, u64 instructions, u64 quantum,
			  struct machine_result *result)
{
	run.blocks = true;
	run.emulated = false;
	run.quantum = quantum;
	run.random = instructions;
	start(begin, instructions, result);
}

void machine_blocks(const struct machine_state *begin, u64 instructions, u64 quantum,
		    bool request_exit, struct machine_result *result)
{
	run.request_exit = request_exit;
	run.ends = false;
	run_in_blocks(begin, instructions, quantum, result);
}

void machine_interrupted(const struct machine_state *begin, u64 instructions,
			 struct machine_result *result)
{
	run.request_exit = run.ends = true;
	run_in_blocks(begin, instructions, instructions, result);
}
