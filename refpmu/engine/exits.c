/* SPDX-License-Identifier: MIT */
/* See exits.h. */
#include "refpmu/hv/deliver.h"
#include "refpmu/engine/configuration.h"
#include "refpmu/engine/exits.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/hv/guest_tsc.h"
#include "refpmu/engine/retire.h"
#include "refpmu/hv/vmrun.h"

/* The length of an exiting instruction that can't be read: without prefixes. */
#define USUAL_LENGTH	2
#define VMMCALL_LENGTH	3
#define HLT_LENGTH	1
#define OPCODE_STI	0xfb

static bool (*vmmcall)(struct cpu *cpu);
static bool (*port_access)(struct cpu *cpu);

void exits_on_vmmcall(bool (*handler)(struct cpu *cpu))
{
	vmmcall = handler;
}

void exits_on_port(bool (*handler)(struct cpu *cpu))
{
	port_access = handler;
}

void exits_complete(struct cpu *cpu, struct model_retired *retired, const struct instruction *insn,
		    bool needed_retire, enum shadow shadow)
{
	bool trap = cpu->vmcb->save.rflags & RFLAGS_TF;

	cpu_skip(cpu, insn->length);
	cpu->shadow = shadow;
	retire_end(cpu, retired, insn, needed_retire);
	/* A WRMSR may have started or ended the tracking of instructions. */
	vmrun_set_intercepts(cpu, false);
	if (trap && shadow != SHADOW_MOV_SS)
		deliver_single_step(cpu);
}

void exits_halt(struct cpu *cpu)
{
	__atomic_store_n(&cpu->halted, true, __ATOMIC_SEQ_CST);
	guest_tsc_follow(cpu);
	do {
		configuration_follow(cpu);
		model_halt(&cpu->model);
		vmrun_set_intercepts(cpu, false);
	} while (!vmrun_take_interrupt(cpu, cpu->vmcb->save.rflags & RFLAGS_IF, true));
	model_resumed(&cpu->model, cpu_cpl(cpu));
	cpu->halted = false;
	guest_tsc_follow(cpu);
}

static enum exit_kind kind_of(u64 code)
{
	switch (code) {
	case EXIT_CPUID:
		return KIND_CPUID;
	case EXIT_MSR:
		return KIND_MSR;
	case EXIT_RDPMC:
		return KIND_RDPMC;
	case EXIT_VMMCALL:
		return KIND_HYPERCALL;
	default:
		return KIND_OTHER;
	}
}

/*
 * For RDPMC at CPL 3, QEMU raises #GP before it checks the intercept: exit_rdpmc() decides whether
 * there is a #GP.
 */
static u64 exit_of(const struct instruction *insn, u64 code)
{
	if (!insn)
		return code;
	if (code == EXIT_GP && insn->bytes[0] == 0x0f && insn->bytes[1] == 0x33)
		return EXIT_RDPMC;
	/* QEMU executes RDTSCP by its RDTSC, and exits with RDTSC's code. */
	if (code == EXIT_RDTSC && decode_is_rdtscp(insn))
		return EXIT_RDTSCP;
	return code;
}

/* REX is a prefix only in 64-bit code. */
static bool is_prefix(const struct cpu *cpu, u8 byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return cpu_64bit_code(cpu) && (byte & 0xf0) == 0x40;
	}
}

static u8 usual_length(u64 code)
{
	switch (code) {
	case EXIT_VMMCALL:
		return VMMCALL_LENGTH;
	case EXIT_HLT:
		return HLT_LENGTH;
	default:
		return USUAL_LENGTH;
	}
}

bool exits_instruction(struct cpu *cpu, u64 code)
{
	const struct instruction *insn = decode_current(cpu);
	struct instruction unread = { .length = usual_length(code) };
	bool needed_retire = model_needs_retire(&cpu->model), done;
	bool halts = code == EXIT_HLT && !(cpu->vmcb->save.rflags & RFLAGS_TF);
	struct model_retired retired;

	code = exit_of(insn, code);
	retire_begin(cpu, &retired);
	switch (code) {
	case EXIT_CPUID:
		done = exit_cpuid(cpu);
		break;
	case EXIT_MSR:
		done = exit_msr(cpu, cpu->vmcb->control.exit_info_1 & 1);
		break;
	case EXIT_RDPMC:
		done = exit_rdpmc(cpu);
		break;
	case EXIT_VMMCALL:
		done = vmmcall(cpu);
		break;
	case EXIT_IOIO:
		done = port_access(cpu);
		break;
	case EXIT_RDTSC:
	case EXIT_RDTSCP:
		guest_tsc_read(cpu, code == EXIT_RDTSCP);
		done = true;
		break;
	case EXIT_HLT:
		done = true;
		break;
	case EXIT_VMRUN:
	case EXIT_VMLOAD:
	case EXIT_VMSAVE:
	case EXIT_STGI:
	case EXIT_CLGI:
	case EXIT_SKINIT:
	case EXIT_INVLPGA:
		deliver_exception(cpu, VECTOR_UD, 0);
		done = false;
		break;
	default:
		return false;
	}
	cpu->statistics.exits[kind_of(code)]++;
	if (!insn) {
		cpu->statistics.inexact[INEXACT_LEGACY_MODE]++;
		insn = &unread;
	}
	if (done)
		exits_complete(cpu, &retired, insn, needed_retire, SHADOW_NONE);
	if (halts)
		exits_halt(cpu);
	return true;
}

/*
 * 0F 01 D8 to DF belong to AMD-V, except D9 (VMMCALL), which exits at every privilege level. No
 * Intel processor has these instructions; for the other ones a #GP for a bad address or for CPL 3
 * comes before the intercept.
 */
static bool is_of_amd_v(struct cpu *cpu)
{
	u8 bytes[INSN_MAX_BYTES];
	unsigned n = guest_read_some(cpu, cpu_code_address(cpu), bytes, sizeof(bytes)), at = 0;

	while (at < n && is_prefix(cpu, bytes[at]))
		at++;
	return at + 3 <= n && bytes[at] == 0x0f && bytes[at + 1] == 0x01 &&
	       (bytes[at + 2] & 0xf8) == 0xd8;
}

/* Which instruction began the shadow at RIP? In native execution QEMU doesn't report it. */
static bool after_mov_ss(struct cpu *cpu)
{
	u8 before;

	if (cpu->shadow == SHADOW_NONE || cpu->stepping)
		return cpu->shadow == SHADOW_MOV_SS;
	return !(cpu->vmcb->save.rflags & RFLAGS_IF) ||
	       !guest_read(cpu, cpu_code_address(cpu) - 1, &before, 1, NULL) ||
	       before != OPCODE_STI;
}

/* Instruction breakpoints are inhibited there on the presented processors, but not on AMD's: SDM
 * volume 3, "Masking Exceptions and Interrupts When Switching Stacks". */
static bool is_inhibited_breakpoint(struct cpu *cpu)
{
	const struct vmcb_save *save = &cpu->vmcb->save;
	u64 address[4];

	if (!(save->dr7 & DR7_ENABLED) || !after_mov_ss(cpu))
		return false;
	address[0] = READ_REGISTER(dr0);
	address[1] = READ_REGISTER(dr1);
	address[2] = READ_REGISTER(dr2);
	address[3] = READ_REGISTER(dr3);
	for (unsigned i = 0; i < 4; i++)
		if ((save->dr7 >> 2 * i & 3) && !(save->dr7 >> (16 + 4 * i) & 3) &&
		    address[i] == cpu_code_address(cpu))
			return true;
	return false;
}

/* Skip the breakpoint: no #DB, and no bit in DR6. */
static void pass_breakpoint(struct cpu *cpu)
{
	struct vmcb_save *save = &cpu->vmcb->save;

	save->dr6 &= ~DR6_B;
	save->rflags |= RFLAGS_RF;
	cpu->shadow = SHADOW_MOV_SS;
}

void exits_exception(struct cpu *cpu, u64 code)
{
	u8 vector = (u8)(code - EXIT_EXCEPTION);

	if (code == EXIT_DB && is_inhibited_breakpoint(cpu))
		pass_breakpoint(cpu);
	else if (code == EXIT_GP && !(cpu->vmcb->control.exit_int_info & EVENT_VALID) &&
		 is_of_amd_v(cpu))
		deliver_exception(cpu, VECTOR_UD, 0);
	else
		deliver_met(cpu, vector);
}
