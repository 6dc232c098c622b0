/* SPDX-License-Identifier: MIT */
/*
 * Handlers of the guest's exits, for the main loop (vmm/main_loop.h) and the engine.
 */
#ifndef REFPMU_ENGINE_EXITS_H
#define REFPMU_ENGINE_EXITS_H

#include "refpmu/hv/cpu.h"
#include "refpmu/engine/decode.h"
#include "refpmu/faults/fault.h"

/*
 * An instruction that exits by itself (CPUID, RDMSR, WRMSR, RDPMC, VMMCALL, SVM): carry it out or
 * raise its exception, and report it to the model. false: not such an exit code.
 */
bool exits_instruction(struct cpu *cpu, u64 code);

/* Set the function that carries out VMMCALL. Before the first VMRUN. */
void exits_on_vmmcall(bool (*handler)(struct cpu *cpu));
/* Set the function that carries out IN and OUT with intercepted ports. */
void exits_on_port(bool (*handler)(struct cpu *cpu));

/*
 * An instruction has been carried out by the hypervisor: move RIP after it, report it, deliver
 * the #DB of the guest's own trap flag, begin its interrupt shadow.
 */
void exits_complete(struct cpu *cpu, struct model_retired *retired, const struct instruction *insn,
		    bool needed_retire, enum shadow shadow);

/* The guest has retired a HLT: wait for the event that ends it, and deliver the event. */
void exits_halt(struct cpu *cpu);

/*
 * Control registers (engine/exit_control.c). exit_control(): the exit of a native MOV to one, or of
 * one that QEMU refuses; false: it isn't such an exit. The other function is called before the
 * engine runs an instruction: does a processor refuse it? Then #GP has been delivered.
 */
bool exit_control(struct cpu *cpu, u64 code);
bool exit_control_refuses(struct cpu *cpu, const struct instruction *insn);

/* An exception of the guest that was intercepted. */
void exits_exception(struct cpu *cpu, u64 code);

/*
 * Handlers of one instruction each. true: carried out, RIP is still at the instruction; false:
 * an exception has been delivered instead.
 */
bool exit_cpuid(struct cpu *cpu);
bool exit_msr(struct cpu *cpu, bool write);
bool exit_rdpmc(struct cpu *cpu);

/* With a fault: the contents of bits 63:32 of RAX or RDX after a read of a PMU register. */
u64 exit_kept_upper(struct cpu *cpu, unsigned gpr, enum fault_id fault);

/* Set IA32_TSC_ADJUST, and change the guest's TSC by the same amount. */
void exit_msr_set_tsc_adjust(struct cpu *cpu, u64 adjust);

/* Must accesses to this MSR exit, so that exit_msr() sees them? */
bool exit_msr_is_tracked(u32 msr);

/* Set the permission bits of these MSRs. Before the first VMRUN. */
void exit_msr_permissions(u8 *permissions);

/*
 * Handle EXIT_NPF. true: the instruction was a plain MOV to a page whose stores exit; it has been
 * executed and reported. false: it is another instruction, and nothing has been done. The caller
 * must then run it with that page replaced: exit_store_step_begin(), one step,
 * exit_store_step_end(). completed: whether the step completed.
 */
bool exit_store(struct cpu *cpu);
void exit_store_step_begin(struct cpu *cpu);
void exit_store_step_end(struct cpu *cpu, bool completed);
/* The guest writes a register of its local APIC. */
void exit_apic_write(struct cpu *cpu, u32 offset, u32 value);
/* struct model_host's lvtpc() and deliver(); ctx is the struct cpu. */
u32 exit_apic_lvtpc(void *ctx);
void exit_apic_deliver(void *ctx, const struct pmi_delivery *delivery);

#endif
