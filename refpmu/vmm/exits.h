/* SPDX-License-Identifier: MIT */
/*
 * What the guest leaves for. exits_run() is the main loop: natively while the model doesn't
 * watch, through the engine while it does; both use the handlers below.
 */
#ifndef REFPMU_VMM_EXITS_H
#define REFPMU_VMM_EXITS_H

#include "refpmu/hv/cpu.h"
#include "refpmu/engine/decode.h"
#include "refpmu/hv/svm.h"

/* The rest of the processor's life. */
__attribute__((noreturn)) void exits_run(struct cpu *cpu);

/* One VMRUN, or more while it leaves for stores to code (code_page.h), with gpr[] and VMCB in step
 * before and after. Returns the exit code. */
u64 exits_vmrun(struct cpu *cpu);
/* Just one, and none if code_page_epoch() isn't *epoch any more: EXIT_NOT_RUN. */
#define EXIT_NOT_RUN	(1ULL << 32)
u64 exits_vmrun_unless(struct cpu *cpu, const u32 *epoch);

/*
 * An instruction that left by an exit of its own (CPUID, RDMSR, WRMSR, RDPMC, VMMCALL, SVM):
 * carry it out, or raise its exception; report it to the model. false: not such an exit code.
 */
bool exits_instruction(struct cpu *cpu, u64 code);

/*
 * An instruction has been carried out by the hypervisor: move RIP behind it, report it, deliver
 * the #DB of the guest's own trap flag, begin its interrupt shadow.
 */
void exits_complete(struct cpu *cpu, struct model_retired *retired,
		    const struct instruction *insn, bool was_watching, enum shadow shadow);

/*
 * Acknowledge a pending NMI and, if the guest takes interrupts now, a pending interrupt. An NMI
 * that was a call of another processor (processors.h) isn't among them: true, look at the model
 * again. `wait`: as HLT does.
 */
bool exits_acknowledge(struct cpu *cpu, struct taken *taken, bool interrupts, bool wait);

/* The same, and give them to the guest. true: there was one. */
bool exits_take_interrupt(struct cpu *cpu, bool interrupts, bool wait);

/* The guest has retired a HLT: wait for what ends it, and deliver that. */
void exits_halt(struct cpu *cpu);

/* Make the intercepts those that model_watching() or, with step, a single step asks for. */
void exits_set_intercepts(struct cpu *cpu, bool step);

/*
 * Control registers (engine/exit_control.c). An exit of their own, of a native MOV to one or of one
 * that QEMU refuses; false: it isn't one. Before the engine runs an instruction: is it one that a
 * processor refuses? Then #GP has been delivered.
 */
bool exit_control(struct cpu *cpu, u64 code);
bool exit_control_refuses(struct cpu *cpu, const struct instruction *insn);

/* Before a VMRUN, what it depends on; after EXIT_INVALID: was it VMRUN that refused this? Then the
 * machine ends with a line that says what. */
struct entered {
	u64 cr0, cr4, efer;
	u32 injected;
};
void exit_control_note(const struct cpu *cpu, struct entered *entered);
void exit_control_invalid(const struct cpu *cpu, const struct entered *entered);

/* An exception of the guest's that was intercepted. */
void exits_exception(struct cpu *cpu, u64 code);

/* An exit that can't be, or the end of the guest. */
__attribute__((noreturn)) void exits_unexpected(struct cpu *cpu, u64 code);
__attribute__((noreturn)) void exits_shutdown(struct cpu *cpu);

/*
 * Handlers of one instruction each. true: carried out, RIP is still at the instruction; false:
 * an exception has been delivered instead.
 */
bool exit_cpuid(struct cpu *cpu);
bool exit_msr(struct cpu *cpu, bool write);
bool exit_rdpmc(struct cpu *cpu);
bool exit_hypercall(struct cpu *cpu);

/* What a broken processor leaves in RDX[63:32] when it reads a register of the PMU. */
u64 exit_kept_rdx(struct cpu *cpu, enum fault_id fault);

/* What IA32_TSC_ADJUST holds, and the guest's TSC by as much. */
void exit_msr_set_tsc_adjust(struct cpu *cpu, u64 adjust);

/* Does exit_msr() want to see this one? */
bool exit_msr_seen(u32 msr);

/* Mark the MSRs that exit_msr() wants to see. Before the first VMRUN. */
void exit_msr_permissions(u8 *permissions);

/*
 * EXIT_NPF. true: it was a plain MOV to a page whose stores exit, which has been carried out and
 * reported. false: another instruction; nothing has been done. It must then run with that page
 * replaced: exit_store_replace(), one step, exit_store_restore() with whether it completed.
 */
bool exit_store(struct cpu *cpu);
void exit_store_replace(struct cpu *cpu);
void exit_store_restore(struct cpu *cpu, bool completed);
/* The guest writes a register of its local APIC. */
void exit_apic_write(struct cpu *cpu, u32 offset, u32 value);
/* struct model_host's pmi(); ctx is the struct cpu. */
void exit_apic_pmi(void *ctx);

/* A fresh PMU, on every processor: on this one now, on others by exit_hypercall_follow(). */
void exit_hypercall_reset(struct cpu *cpu, const struct model_config *config);
/* Take over a configuration that another processor has got. At each exit: what the guest sees of
 * a PMU it sees through exits. true: there was one. */
bool exit_hypercall_follow(struct cpu *cpu);

#endif
