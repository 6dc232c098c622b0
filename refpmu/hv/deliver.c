/* SPDX-License-Identifier: MIT */
/* See deliver.h. */
#include "refpmu/hv/deliver.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/hv/segment.h"
#include "refpmu/hv/svm.h"
#include "refpmu/hv/vmrun.h"

#define GATE_INTERRUPT	14
#define GATE_TRAP	15
#define ERROR_EXTERNAL	BIT(0)
#define ERROR_IDT	BIT(1)
#define TSS_RSP0	4
#define TSS_IST1	36

static bool (*in_transaction)(struct cpu *cpu, const struct guest_event *event);

void deliver_in_transactions(bool (*swallows)(struct cpu *cpu, const struct guest_event *event))
{
	in_transaction = swallows;
}

/* The reason of a failed delivery: the exception that the attempt raises. */
struct failure {
	u8 vector;
	u32 error;
	u64 cr2;
};

static bool fail(struct failure *failure, u8 vector, u32 error)
{
	*failure = (struct failure){ .vector = vector, .error = error };
	return false;
}

static bool deliver_read(struct cpu *cpu, u64 linear, void *to, size_t bytes,
			 struct failure *failure)
{
	struct guest_fault fault;

	if (guest_read(cpu, linear, to, bytes, &fault))
		return true;
	*failure = (struct failure){ VECTOR_PF, fault.error, fault.linear };
	return false;
}

static bool has_error_code(u8 vector)
{
	return vector == VECTOR_DF || (vector >= VECTOR_TS && vector <= VECTOR_PF) ||
	       vector == VECTOR_AC || vector == VECTOR_CP;
}

/* The handler's code segment. */
static bool load_code_segment(struct cpu *cpu, u16 selector, struct vmcb_segment *segment,
			      struct failure *failure)
{
	u32 error = selector & 0xfffcu;
	u8 cpl = cpu_cpl(cpu), dpl;
	u64 descriptor, linear;

	if (!error)
		return fail(failure, VECTOR_GP, 0);
	if (!segment_locate(cpu, selector, &linear))
		return fail(failure, VECTOR_GP, error);
	if (!deliver_read(cpu, linear, &descriptor, sizeof(descriptor), failure))
		return false;
	segment_unpack(descriptor, selector, segment);
	dpl = segment->attributes >> SEG_DPL_SHIFT & 3;
	if (!(segment->attributes & SEG_S) || !(segment->attributes & SEG_CODE) || dpl > cpl)
		return fail(failure, VECTOR_GP, error);
	if (!(segment->attributes & SEG_P))
		return fail(failure, VECTOR_NP, error);
	if (!(segment->attributes & SEG_L) || (segment->attributes & SEG_DB))
		return fail(failure, VECTOR_GP, error);
	if (segment->attributes & SEG_DOWN)		/* conforming */
		dpl = cpl;
	segment->selector = (u16)((selector & ~3u) | dpl);
	return true;
}

/* RSPn or ISTn of the guest's TSS. */
static bool stack_from_tss(struct cpu *cpu, u32 offset, u64 *rsp, struct failure *failure)
{
	const struct vmcb_segment *tr = &cpu->extra->save.tr;

	svm_save((u64)cpu->extra);
	if (offset + 7 > tr->limit)
		return fail(failure, VECTOR_TS, tr->selector & 0xfffcu);
	return deliver_read(cpu, tr->base + offset, rsp, sizeof(*rsp), failure);
}

/* Try once to deliver through the IDT. If it fails, no register has changed. */
static bool through_idt(struct cpu *cpu, const struct guest_event *event, struct failure *failure)
{
	struct vmcb_save *save = &cpu->vmcb->save;
	u32 error = event->vector * 8u | (u32)ERROR_IDT |
		    (event->type == EVENT_SOFTWARE ? 0 : (u32)ERROR_EXTERNAL);
	u8 cpl = cpu_cpl(cpu), target, ist;
	u64 gate[2], stack, frame[6];
	struct guest_fault fault;
	struct vmcb_segment code;
	bool with_error, switches;
	unsigned type;

	if (event->vector * 16u + 15 > save->idtr.limit)
		return fail(failure, VECTOR_GP, error);
	if (!deliver_read(cpu, save->idtr.base + event->vector * 16u, gate, sizeof(gate), failure))
		return false;
	type = gate[0] >> 40 & 0x1f;
	if (type != GATE_INTERRUPT && type != GATE_TRAP)
		return fail(failure, VECTOR_GP, error);
	if (event->type == EVENT_SOFTWARE && (gate[0] >> 45 & 3) < cpl)
		return fail(failure, VECTOR_GP, error);
	if (!(gate[0] >> 47 & 1))
		return fail(failure, VECTOR_NP, error);
	ist = gate[0] >> 32 & 7;
	if (!load_code_segment(cpu, (u16)(gate[0] >> 16), &code, failure))
		return false;

	target = code.selector & 3;
	switches = ist || target < cpl;
	stack = save->rsp;
	if (switches &&
	    !stack_from_tss(cpu, ist ? TSS_IST1 + 8 * (ist - 1u) : TSS_RSP0 + 8u * target, &stack,
			    failure))
		return false;

	with_error = event->type == EVENT_EXCEPTION && has_error_code(event->vector);
	frame[0] = event->error;
	frame[1] = save->rip + event->length;
	frame[2] = save->cs.selector;
	frame[3] = save->rflags;
	frame[4] = save->rsp;
	frame[5] = save->ss.selector;
	stack &= ~15ULL;
	for (unsigned i = 6; i-- > (with_error ? 0 : 1); ) {
		stack -= sizeof(frame[i]);
		if (!guest_write(cpu, stack, &frame[i], sizeof(frame[i]), &fault)) {
			*failure = (struct failure){ VECTOR_PF, fault.error, fault.linear };
			return false;
		}
	}

	save->cs = code;
	if (switches)
		save->ss = (struct vmcb_segment){
			.selector = target,
			.attributes = (u16)(target << SEG_DPL_SHIFT),
		};
	save->cpl = target;
	save->rsp = stack;
	save->rip = (gate[0] & 0xffff) | (gate[0] >> 32 & 0xffff0000) | gate[1] << 32;
	save->rflags &= ~(RFLAGS_TF | RFLAGS_VM | RFLAGS_RF | RFLAGS_NT |
			  (type == GATE_INTERRUPT ? RFLAGS_IF : 0));
	cpu->gpr[REG_RSP] = stack;
	return true;
}

static bool contributory(u8 vector)
{
	return vector == VECTOR_DE || (vector >= VECTOR_TS && vector <= VECTOR_GP);
}

/* SDM volume 3, "Interrupt 8 - Double Fault Exception (#DF)". */
static bool makes_double_fault(const struct guest_event *first, u8 second)
{
	if (first->type != EVENT_EXCEPTION)
		return false;
	if (first->vector == VECTOR_PF)
		return contributory(second) || second == VECTOR_PF;
	return contributory(first->vector) && contributory(second);
}

static void by_processor(struct cpu *cpu, const struct guest_event *event)
{
	static const u32 type[] = {
		[EVENT_INTERRUPT] = EVENT_TYPE_INTR, [EVENT_NMI] = EVENT_TYPE_NMI,
		[EVENT_EXCEPTION] = EVENT_TYPE_EXCEPTION, [EVENT_SOFTWARE] = EVENT_TYPE_SOFT,
	};
	struct vmcb_control *control = &cpu->vmcb->control;
	bool with_error = event->type == EVENT_EXCEPTION && has_error_code(event->vector);

	control->event_injection = (u32)EVENT_VALID | type[event->type] | event->vector |
				   (with_error ? (u32)EVENT_ERROR_VALID : 0);
	control->event_injection_error = event->error;
	if (event->type == EVENT_SOFTWARE)
		cpu_skip(cpu, event->length);
	if (cpu->stepping)
		cpu->statistics.inexact[INEXACT_UNSTEPPED]++;
}

/* Deliver through the IDT. false: another exception was delivered instead. */
static bool in_software(struct cpu *cpu, const struct guest_event *event)
{
	struct guest_event now = *event;
	struct failure failure;
	bool first = true;

	/* An attempt may raise an exception, that one a double fault; then it ends. */
	while (!through_idt(cpu, &now, &failure)) {
		if (now.type == EVENT_EXCEPTION && now.vector == VECTOR_DF) {
			vmrun_shutdown(cpu);
		}
		if (failure.vector == VECTOR_PF)
			cpu->vmcb->save.cr2 = failure.cr2;
		now = (struct guest_event){
			.vector = makes_double_fault(&now, failure.vector) ? VECTOR_DF :
									     failure.vector,
			.type = EVENT_EXCEPTION,
			.error = failure.error,
		};
		if (now.vector == VECTOR_DF)
			now.error = 0;
		first = false;
	}
	return first;
}

static bool is_injected(const struct cpu *cpu)
{
	return cpu->vmcb->control.event_injection & EVENT_VALID;
}

void deliver_injected(struct cpu *cpu)
{
	u32 injected = cpu->vmcb->control.event_injection;
	struct guest_event event = {
		.vector = (u8)injected, .error = cpu->vmcb->control.event_injection_error,
	};

	if (!is_injected(cpu) || !cpu_long_mode(cpu))
		return;
	switch (injected & EVENT_TYPE) {
	case EVENT_TYPE_INTR:
		event.type = EVENT_INTERRUPT;
		break;
	case EVENT_TYPE_NMI:
		event.type = EVENT_NMI;
		break;
	case EVENT_TYPE_EXCEPTION:
		event.type = EVENT_EXCEPTION;
		break;
	default:
		event.type = EVENT_SOFTWARE;	/* RIP is already after the instruction */
		break;
	}
	cpu->vmcb->control.event_injection = 0;
	in_software(cpu, &event);
}

static unsigned transfer_kind(const struct cpu *cpu, const struct guest_event *event)
{
	if (event->type != EVENT_EXCEPTION)
		return 0;
	if (event->vector == VECTOR_DB)
		return TRANSFER_DEBUG |
		       (cpu->vmcb->save.dr6 & DR6_B ? (unsigned)TRANSFER_BREAKPOINT : 0);
	return has_error_code(event->vector) ? TRANSFER_ERROR_CODE : 0;
}

bool deliver(struct cpu *cpu, const struct guest_event *event)
{
	bool first;
	u64 from;
	u8 cpl;

	if (model_in_tx(&cpu->model) && in_transaction(cpu, event))
		return false;
	cpu->shadow = SHADOW_NONE;
	if (event->type == EVENT_EXCEPTION && event->vector == VECTOR_PF)
		cpu->vmcb->save.cr2 = event->cr2;
	/* The processor accepts one event at a time. */
	if (!cpu_long_mode(cpu) || !(cpu->stepping || is_injected(cpu))) {
		by_processor(cpu, event);
		return true;
	}
	deliver_injected(cpu);
	from = cpu_code_address(cpu);
	cpl = cpu_cpl(cpu);
	first = in_software(cpu, event);
	/* An INT instruction that has reached its handler is reported elsewhere. */
	if (event->type != EVENT_SOFTWARE || !first)
		model_transfer(&cpu->model, from, cpu_code_address(cpu), cpl, cpu_cpl(cpu),
			       transfer_kind(cpu, event));
	return first;
}

void deliver_met(struct cpu *cpu, u8 vector)
{
	const struct vmcb_control *control = &cpu->vmcb->control;
	const struct guest_event first = { .vector = (u8)control->exit_int_info,
					   .type = EVENT_EXCEPTION };
	bool delivering = control->exit_int_info & EVENT_VALID;
	struct guest_event event = {
		.vector = vector, .type = EVENT_EXCEPTION, .error = (u32)control->exit_info_1,
		.cr2 = control->exit_info_2,
	};

	if (delivering && first.vector == VECTOR_DF)
		vmrun_shutdown(cpu);
	if (delivering && makes_double_fault(&first, vector)) {
		if (vector == VECTOR_PF)
			cpu->vmcb->save.cr2 = event.cr2;
		event = (struct guest_event){ .vector = VECTOR_DF, .type = EVENT_EXCEPTION };
	}
	deliver(cpu, &event);
}

void deliver_exception(struct cpu *cpu, u8 vector, u32 error)
{
	const struct guest_event event = { .vector = vector,
					   .type = EVENT_EXCEPTION,
					   .error = error };

	deliver(cpu, &event);
}

void deliver_single_step(struct cpu *cpu)
{
	cpu->vmcb->save.dr6 |= DR6_BS;
	deliver_exception(cpu, VECTOR_DB, 0);
}
