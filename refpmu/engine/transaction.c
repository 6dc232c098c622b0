/* SPDX-License-Identifier: MIT */
/*
 * See transaction.h. SDM volume 1, "Programming with Intel Transactional Synchronization
 * Extensions"; volume 2, "XABORT", "XBEGIN", "XEND", "XTEST".
 *
 * The vector registers are saved at XBEGIN, in the processor's own format. While CR0.TS or CR0.EM
 * is set no instruction can change them without an exception, which ends the transaction.
 */
#include "refpmu/engine/retire.h"
#include "refpmu/hv/svm.h"
#include "refpmu/engine/transaction.h"
#include "refpmu/hv/vmrun.h"
#include "refpmu/engine/engine_cpu.h"

#define XSAVE_HEADER		512		/* offset of the header in an XSAVE area */
#define XSAVE_HEADER_BYTES	64
#define VECTOR_STATE		((u32)(XSTATE_X87 | XSTATE_SSE | XSTATE_AVX))

/* ---- vector registers ---- */

static bool has_vectors(const struct cpu *cpu)
{
	return !(cpu->vmcb->save.cr0 & (CR0_EM | CR0_TS));
}

static void keep_vectors(struct cpu *cpu)
{
	u64 cr4;

	if (!has_vectors(cpu))
		return;
	if (begin_xsave(cpu->vmcb->save.cr4, &cr4)) {
		__builtin_memset((u8 *)cpu->engine->vectors + XSAVE_HEADER, 0, XSAVE_HEADER_BYTES);
		__asm__ volatile("xsave64 (%0)"
				 :
				 : "r"(cpu->engine->vectors), "a"(VECTOR_STATE), "d"(0)
				 : "memory");
		end_xsave(cr4);
	} else {
		__asm__ volatile("fxsave64 (%0)" : : "r"(cpu->engine->vectors) : "memory");
	}
}

static void give_vectors_back(struct cpu *cpu)
{
	u64 cr4;

	if (!has_vectors(cpu))
		return;
	if (begin_xsave(cpu->vmcb->save.cr4, &cr4)) {
		__asm__ volatile("xrstor64 (%0)"
				 :
				 : "r"(cpu->engine->vectors), "a"(VECTOR_STATE), "d"(0)
				 : "memory");
		end_xsave(cr4);
	} else {
		__asm__ volatile("fxrstor64 (%0)" : : "r"(cpu->engine->vectors) : "memory");
	}
}

/* ---- abort ---- */

void transaction_registers(void *ctx, const struct model_registers *registers)
{
	struct cpu *cpu = ctx;

	__builtin_memcpy(cpu->gpr, registers->gpr, sizeof(cpu->gpr));
	cpu->vmcb->save.rip = registers->rip;
	cpu->vmcb->save.rflags = registers->rflags;
	cpu->vmcb->save.rsp = cpu->gpr[REG_RSP];
	cpu->vmcb->save.rax = cpu->gpr[REG_RAX];
	give_vectors_back(cpu);
	cpu->engine->rep.active = false;
	cpu->shadow = SHADOW_NONE;
}

void transaction_abort(struct cpu *cpu, enum tx_cause cause, u8 code)
{
	model_tx_abort(&cpu->model, cause, code, cpu_code_address(cpu), cpu_cpl(cpu));
}

/* Exceptions "are suppressed as if they had never occurred"; interrupts are handled afterwards. */
bool transaction_swallows(struct cpu *cpu, const struct guest_event *event)
{
	bool exception = event->type == EVENT_EXCEPTION || event->type == EVENT_SOFTWARE;

	if (!exception)
		transaction_abort(cpu, TX_EVENT, 0);
	else if (event->vector == VECTOR_DB)
		transaction_abort(cpu, TX_DEBUG, 0);
	else
		transaction_abort(cpu, TX_EXCEPTION, 0);
	return exception;
}

/* ---- the four ---- */

/* Move RIP to the end of the instruction, which has retired. */
static void complete(struct cpu *cpu, const struct instruction *insn, enum model_tx_act act)
{
	struct model_retired retired;

	retire_begin(cpu, &retired);
	retired.tx = (u8)act;
	cpu_skip(cpu, insn->length);
	cpu->shadow = SHADOW_NONE;
	retire_end(cpu, &retired, insn, true);
}

static void begin_elision(struct cpu *cpu, const struct instruction *insn)
{
	struct model_registers registers = {
		.rip = cpu->vmcb->save.rip, .rflags = cpu->vmcb->save.rflags,
	};

	if (model_tx_declines(&cpu->model, cpu_code_address(cpu)))
		return;
	__builtin_memcpy(registers.gpr, cpu->gpr, sizeof(registers.gpr));
	keep_vectors(cpu);
	model_tx_elide(&cpu->model, &registers, cpu_code_address(cpu),
		       registers.rip + insn->length);
}

static void transaction_begin(struct cpu *cpu, const struct instruction *insn)
{
	struct model_registers registers = { .rflags = cpu->vmcb->save.rflags };
	u64 fallback = cpu->vmcb->save.rip + insn->length + (u64)insn->immediate;
	bool outermost = !model_in_tx(&cpu->model);
	enum tx_cause cause;

	if (!cpu_64bit_code(cpu))
		fallback = (u32)fallback;
	__builtin_memcpy(registers.gpr, cpu->gpr, sizeof(registers.gpr));
	if (outermost)
		keep_vectors(cpu);
	complete(cpu, insn, outermost ? TX_STARTS : TX_STARTS_INNER);
	/* A record was due at an inner transaction, and has already ended all of them. */
	if (!outermost && !model_in_tx(&cpu->model))
		return;
	cause = model_tx_begin(&cpu->model, &registers, fallback);
	if (cause != TX_FINE)
		transaction_abort(cpu, cause, 0);
}

static void transaction_end(struct cpu *cpu, const struct instruction *insn)
{
	enum tx_cause cause;

	/* In an elided lock it aborts instead. */
	if (!model_in_tx(&cpu->model) || model_tx_is_elided(&cpu->model)) {
		deliver_exception(cpu, VECTOR_GP, 0);
		return;
	}
	cause = model_tx_may_end(&cpu->model);
	if (cause != TX_FINE) {
		transaction_abort(cpu, cause, 0);
		return;
	}
	complete(cpu, insn, model_tx_outermost(&cpu->model) ? TX_COMMITS : TX_COMMITS_INNER);
	if (model_in_tx(&cpu->model))
		model_tx_end(&cpu->model);
}

static void test(struct cpu *cpu, const struct instruction *insn)
{
	u64 *rflags = &cpu->vmcb->save.rflags;

	*rflags &= ~RFLAGS_STATUS;
	if (!model_in_tx(&cpu->model))
		*rflags |= RFLAGS_ZF;
	complete(cpu, insn, TX_NO_ACT);
}

static bool is_one(const struct instruction *insn)
{
	return insn && (insn->kind == INSN_XBEGIN || insn->kind == INSN_XEND ||
			insn->kind == INSN_XABORT || insn->kind == INSN_XTEST);
}

static void emulate_transaction(struct cpu *cpu, const struct instruction *insn)
{
	switch (insn->kind) {
	case INSN_XBEGIN:
		transaction_begin(cpu, insn);
		break;
	case INSN_XEND:
		transaction_end(cpu, insn);
		break;
	case INSN_XABORT:
		if (model_in_tx(&cpu->model))
			transaction_abort(cpu, TX_EXPLICIT, (u8)insn->immediate);
		else
			complete(cpu, insn, TX_NO_ACT);
		break;
	default:
		test(cpu, insn);
		break;
	}
}

/* For a string instruction: the accesses of its next iteration. */
static enum tx_cause note_accesses(struct cpu *cpu, const struct instruction *insn)
{
	enum tx_cause cause = TX_FINE;

	for (unsigned i = 0; i < insn->n_access && cause == TX_FINE; i++) {
		const struct insn_access *access = &insn->access[i];

		cause = model_tx_access(&cpu->model,
					decode_linear(cpu, insn, access, cpu->gpr),
					access->bytes, access->store);
	}
	return cause;
}

/* The lock of XACQUIRE or XRELEASE, after note_accesses(). */
static enum tx_cause note_lock(struct cpu *cpu, const struct instruction *insn)
{
	u64 linear = decode_linear(cpu, insn, &insn->access[0], cpu->gpr);
	unsigned bytes = insn->access[0].bytes;

	if (insn->elision == ELISION_XACQUIRE) {
		model_tx_acquire(&cpu->model, linear, bytes, cpu_code_address(cpu),
				 cpu->vmcb->save.rip + insn->length);
		return TX_FINE;
	}
	/* An inner lock is released by a store like any other. */
	return model_tx_release(&cpu->model, linear, bytes) ? model_tx_may_end(&cpu->model) :
							      TX_FINE;
}

bool transaction_instruction(struct cpu *cpu, const struct instruction *insn)
{
	bool open = cpu->vmcb->save.rflags & RFLAGS_IF && cpu->shadow == SHADOW_NONE;
	bool trap = cpu->vmcb->save.rflags & RFLAGS_TF;
	bool acquires = insn && insn->elision == ELISION_XACQUIRE && !model_in_tx(&cpu->model);
	enum tx_cause cause;

	/* Deliver pending events first: otherwise they would wait until the guest runs, or until
	 * after XACQUIRE. */
	if ((acquires || is_one(insn)) && vmrun_take_interrupt(cpu, open, false))
		return true;
	if (is_one(insn)) {
		emulate_transaction(cpu, insn);
		if (trap)
			deliver_single_step(cpu);
		return true;
	}
	if (acquires)
		begin_elision(cpu, insn);
	if (!model_in_tx(&cpu->model))
		return false;
	if (!insn || insn->unfriendly || insn->incomplete) {
		transaction_abort(cpu, TX_INSTRUCTION, 0);
		return true;
	}
	cause = model_tx_compare(&cpu->model);
	if (cause == TX_FINE)
		cause = note_accesses(cpu, insn);
	if (cause == TX_FINE && insn->elision && model_tx_is_elided(&cpu->model))
		cause = note_lock(cpu, insn);
	if (cause != TX_FINE)
		transaction_abort(cpu, cause, 0);
	return cause != TX_FINE;
}
