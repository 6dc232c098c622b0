/* SPDX-License-Identifier: MIT */
/*
 * See system.h. SDM volume 2, "SYSCALL", "SYSRET", "IRET", "RET"; volume 3, "Invalidation of TLBs
 * and Paging-Structure Caches". Not handled: process-context identifiers, which QEMU's TCG doesn't
 * have; returns to compatibility mode.
 */
#include "refpmu/engine/emulate/system.h"
#include "refpmu/engine/exits.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/hv/guest_tsc.h"
#include "refpmu/engine/retire.h"
#include "refpmu/hv/segment.h"
#include "refpmu/hv/svm.h"
#include "refpmu/hv/vmrun.h"
#include "spec/msr.h"

/* Flags that a return may change without an effect on how the next instruction runs. */
#define RFLAGS_RETURNED	(RFLAGS_FIXED | RFLAGS_STATUS | RFLAGS_DF | RFLAGS_IF | RFLAGS_IOPL | \
			 RFLAGS_NT | RFLAGS_AC | RFLAGS_ID)

#define FLAT_CODE	0xa9b		/* attributes of 64-bit code and data segments at CPL 0 */
#define FLAT_DATA	0xc93
#define FLAT_LIMIT	0xffffffffu
#define NULL_STACK	0x893
#define DPL_3		(3u << SEG_DPL_SHIFT)

#define STAR_SYSCALL	32
#define STAR_SYSRET	48
#define SYSRET_CODE	16		/* selectors of SYSRET are this much above that in STAR */
#define SYSRET_STACK	8

#define FAR_BYTES	16		/* RIP and CS, as pushed by far calls */

#define SEGMENT_FS	4
#define SEGMENT_GS	5

#define CR3_RESERVED	BITS(40, 63)	/* above QEMU's physical addresses */

static void load_flat(struct vmcb_segment *segment, unsigned selector, unsigned attributes)
{
	*segment = (struct vmcb_segment){
		.selector = (u16)selector, .attributes = (u16)attributes, .limit = FLAT_LIMIT,
	};
}

/* ---- SYSCALL and SYSRET ---- */

static bool do_syscall(struct cpu *cpu, const struct instruction *insn)
{
	struct vmcb_save *save = &cpu->vmcb->save;
	unsigned selector = (u16)(msr_read(MSR_IA32_STAR) >> STAR_SYSCALL);
	u64 target = msr_read(MSR_IA32_LSTAR);

	if (!(save->efer & EFER_SCE) || !address_is_canonical(target))
		return false;
	cpu->gpr[REG_RCX] = save->rip + insn->length;
	cpu->gpr[REG_R11] = save->rflags;
	/* QEMU's processor clears the arithmetic flags here, whatever the mask says. */
	save->rflags &= ~(msr_read(MSR_IA32_FMASK) | RFLAGS_STATUS | RFLAGS_DF);
	save->rflags |= RFLAGS_FIXED;
	load_flat(&save->cs, selector & 0xfffc, FLAT_CODE);
	load_flat(&save->ss, (selector + 8) & 0xfffc, FLAT_DATA);
	save->cpl = 0;
	save->rip = target;
	return true;
}

static bool do_sysret(struct cpu *cpu, const struct instruction *insn)
{
	struct vmcb_save *save = &cpu->vmcb->save;
	unsigned selector = (u16)(msr_read(MSR_IA32_STAR) >> STAR_SYSRET);

	if (insn->operand_bytes != 8 || save->cpl || !(save->efer & EFER_SCE) ||
	    (cpu->gpr[REG_R11] & ~RFLAGS_RETURNED) || !address_is_canonical(cpu->gpr[REG_RCX]))
		return false;
	save->rflags = cpu->gpr[REG_R11] | RFLAGS_FIXED;
	load_flat(&save->cs, (selector + SYSRET_CODE) | 3, FLAT_CODE | DPL_3);
	load_flat(&save->ss, (selector + SYSRET_STACK) | 3, FLAT_DATA | DPL_3);
	save->cpl = 3;
	save->rip = cpu->gpr[REG_RCX];
	return true;
}

/* ---- IRET and far RET ---- */

/* Read the descriptor of a code or data segment that can be loaded without further checks. */
static bool fetch_segment(struct cpu *cpu, u64 selector, struct vmcb_segment *segment)
{
	u64 descriptor, linear;

	if (!segment_locate(cpu, (u16)selector, &linear) ||
	    !guest_read(cpu, linear, &descriptor, sizeof(descriptor), NULL))
		return false;
	segment_unpack(descriptor, (u16)selector, segment);
	return (segment->attributes & SEG_S) && (segment->attributes & SEG_P) &&
	       (segment->attributes & SEG_ACCESSED) &&
	       (segment->attributes >> SEG_DPL_SHIFT & 3) == (selector & 3);
}

static bool is_long_code(const struct vmcb_segment *segment)
{
	return (segment->attributes & SEG_CODE) && !(segment->attributes & SEG_DOWN) &&
	       (segment->attributes & SEG_L) && !(segment->attributes & SEG_DB);
}

/* A return to an outer level clears segment registers that this level can't use. */
static bool is_for_users(const struct vmcb_segment *segment)
{
	return !(segment->selector & ~3u) || (segment->attributes >> SEG_DPL_SHIFT & 3) == 3;
}

static bool data_stays(struct cpu *cpu)
{
	const struct vmcb_save *save = &cpu->vmcb->save;

	svm_save((u64)cpu->extra);
	return is_for_users(&save->ds) && is_for_users(&save->es) &&
	       is_for_users(&cpu->extra->save.fs) && is_for_users(&cpu->extra->save.gs);
}

struct frame {
	u64 rip, cs, rflags, rsp, ss;
};

static bool fetch_code(struct cpu *cpu, const struct frame *frame, struct vmcb_segment *code)
{
	return address_is_canonical(frame->rip) && !(frame->cs >> 16) &&
	       fetch_segment(cpu, frame->cs, code) && is_long_code(code);
}

static bool fetch_stack(struct cpu *cpu, const struct frame *frame, struct vmcb_segment *stack)
{
	if (frame->ss >> 16 || (frame->ss & 3) != (frame->cs & 3))
		return false;
	if (frame->ss & ~3ULL)
		return fetch_segment(cpu, frame->ss, stack) && !(stack->attributes & SEG_CODE) &&
		       (stack->attributes & SEG_WRITABLE);
	load_flat(stack, (u16)frame->ss, NULL_STACK);
	return (frame->cs & 3) == 0;
}

static bool do_iret(struct cpu *cpu, const struct instruction *insn)
{
	struct vmcb_save *save = &cpu->vmcb->save;
	struct vmcb_segment code, stack;
	struct frame frame;

	/* If NMIs are blocked, only an IRET of the processor itself unblocks them. */
	if (insn->operand_bytes != 8 || save->cpl || (save->rflags & RFLAGS_NT) ||
	    cpu->nmis_may_be_blocked ||
	    !guest_read(cpu, cpu->gpr[REG_RSP], &frame, sizeof(frame), NULL))
		return false;
	if ((frame.rflags & ~(RFLAGS_RETURNED | RFLAGS_RF)) || !fetch_code(cpu, &frame, &code) ||
	    !fetch_stack(cpu, &frame, &stack) || (frame.cs & 3 && !data_stays(cpu)))
		return false;
	save->cs = code;
	save->ss = stack;
	save->cpl = frame.cs & 3;
	save->rip = frame.rip;
	save->rflags = frame.rflags | RFLAGS_FIXED;
	save->rsp = cpu->gpr[REG_RSP] = frame.rsp;
	return true;
}

/* A return to the same level changes only RIP and CS. */
static bool do_far_return(struct cpu *cpu)
{
	struct vmcb_save *save = &cpu->vmcb->save;
	const u64 *at = guest_data_at(cpu, cpu->gpr[REG_RSP], FAR_BYTES, false);
	struct vmcb_segment code;
	struct frame frame;

	if (!at || save->rflags & RFLAGS_AC)
		return false;
	frame = (struct frame){ .rip = at[0], .cs = at[1] };
	if ((frame.cs & 3) != save->cpl || !fetch_code(cpu, &frame, &code))
		return false;
	save->cs = code;
	save->rip = frame.rip;
	save->rsp = cpu->gpr[REG_RSP] += FAR_BYTES;
	return true;
}

/* ---- page tables ---- */

static bool do_load_cr3(struct cpu *cpu, const struct instruction *insn)
{
	struct vmcb_save *save = &cpu->vmcb->save;
	u64 value = cpu->gpr[insn->operand_register];

	if (save->cpl || (save->cr4 & CR4_PCIDE) || (value & CR3_RESERVED))
		return false;
	save->cr3 = value;
	guest_memory_forget(cpu);
	cpu->vmcb->control.tlb_control = TLB_FLUSH_ALL;
	return true;
}

static bool do_invlpg(struct cpu *cpu)
{
	if (cpu_cpl(cpu))
		return false;
	guest_memory_forget(cpu);
	cpu->vmcb->control.tlb_control = TLB_FLUSH_ALL;
	return true;
}

/* ---- registers of the processor ---- */

static void put_selector(struct cpu *cpu, const struct instruction *insn, u16 selector)
{
	u64 *to = &cpu->gpr[insn->operand_register];

	*to = insn->operand_bytes == 2 ? (*to & ~BITS(0, 15)) | selector : selector;
}

/* The register always holds the guest's value. */
static void do_str(struct cpu *cpu, const struct instruction *insn)
{
	u16 selector;

	__asm__ volatile("str %0" : "=r"(selector));
	put_selector(cpu, insn, selector);
}

/* 8C /r. FS and GS always hold the guest's values; the others do so only while it runs. */
static void do_store_segment(struct cpu *cpu, const struct instruction *insn)
{
	unsigned segment = insn->bytes[insn->length - 1] >> 3 & 7;
	u16 selector = 0;

	switch (segment) {
	case SEGMENT_FS:
		__asm__ volatile("mov %%fs, %0" : "=r"(selector));
		break;
	case SEGMENT_GS:
		__asm__ volatile("mov %%gs, %0" : "=r"(selector));
		break;
	default:
		selector = (&cpu->vmcb->save.es)[segment].selector;
		break;
	}
	put_selector(cpu, insn, selector);
}

/* ---- */

/* Instructions with a separate exit: execute them as after that exit. */
static bool by_exit(struct cpu *cpu, const struct instruction *insn)
{
	bool write = insn->kind == INSN_WRMSR;

	switch (insn->kind) {
	case INSN_CPUID:
		return exits_instruction(cpu, EXIT_CPUID);
	case INSN_RDPMC:
		return exits_instruction(cpu, EXIT_RDPMC);
	case INSN_VMMCALL:
		return exits_instruction(cpu, EXIT_VMMCALL);
	case INSN_RDMSR:
	case INSN_WRMSR:
		cpu->vmcb->control.exit_info_1 = write;
		return exits_instruction(cpu, EXIT_MSR);
	default:
		return false;
	}
}

static bool emulate_system_carry_out(struct cpu *cpu, const struct instruction *insn)
{
	struct vmcb_save *save = &cpu->vmcb->save;

	switch (insn->kind) {
	case INSN_SYSCALL:
		return do_syscall(cpu, insn);
	case INSN_SYSRET:
		return do_sysret(cpu, insn);
	case INSN_IRET:
		return do_iret(cpu, insn);
	case INSN_FAR_RETURN:
		return do_far_return(cpu);
	case INSN_LOAD_CR3:
		if (!do_load_cr3(cpu, insn))
			return false;
		break;
	case INSN_STORE_CR2:
	case INSN_STORE_CR3:
		if (save->cpl)
			return false;
		cpu->gpr[insn->operand_register] = insn->kind == INSN_STORE_CR2 ? save->cr2 :
										  save->cr3;
		break;
	case INSN_STORE_SEGMENT:
		do_store_segment(cpu, insn);
		break;
	case INSN_INVLPG:
		if (!do_invlpg(cpu))
			return false;
		break;
	case INSN_RDTSC:
		if (save->cpl && (save->cr4 & CR4_TSD))
			return false;
		guest_tsc_read(cpu, decode_is_rdtscp(insn));
		break;
	case INSN_STR:
		if (save->cpl)
			return false;
		do_str(cpu, insn);
		break;
	default:
		return false;
	}
	save->rsp = cpu->gpr[REG_RSP];
	cpu_skip(cpu, insn->length);
	return true;
}

static bool is_ours(const struct cpu *cpu, const struct instruction *insn)
{
	switch (insn->kind) {
	case INSN_CPUID:
	case INSN_RDPMC:
	case INSN_VMMCALL:
	case INSN_SYSCALL:
	case INSN_SYSRET:
	case INSN_IRET:
	case INSN_FAR_RETURN:
	case INSN_LOAD_CR3:
	case INSN_STORE_CR2:
	case INSN_STORE_CR3:
	case INSN_STORE_SEGMENT:
	case INSN_INVLPG:
	case INSN_RDTSC:
	case INSN_STR:
		return true;
	case INSN_RDMSR:
	case INSN_WRMSR:
		return !cpu_cpl(cpu) && exit_msr_is_tracked((u32)cpu->gpr[REG_RCX]);
	default:
		return false;
	}
}

bool engine_system(struct cpu *cpu, const struct instruction *insn)
{
	bool needs_retire = model_needs_retire(&cpu->model);
	struct model_retired retired;

	if (!is_ours(cpu, insn))
		return false;
	/* Deliver pending events first: they would otherwise wait until the guest runs again. */
	if (vmrun_take_interrupt(cpu, cpu->vmcb->save.rflags & RFLAGS_IF, false))
		return true;
	if (by_exit(cpu, insn))
		return true;
	retire_begin(cpu, &retired);
	retire_accesses(cpu, &retired, insn, cpu->gpr);
	if (!emulate_system_carry_out(cpu, insn))
		return false;
	retire_end(cpu, &retired, insn, needs_retire);
	return true;
}
