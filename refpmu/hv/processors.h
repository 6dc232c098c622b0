/* SPDX-License-Identifier: MIT */
/*
 * The other processors. A guest starts them by INIT and SIPI as on hardware. An INIT is sent
 * unchanged. The vector of a SIPI is replaced, so that the processor begins in startup.asm; then it
 * enters the guest in the state that the guest's SIPI requested. SDM volume 3, "Multiple-Processor
 * (MP) Initialization", "IA-32 Processor States Following Power-up, Reset, or INIT".
 *
 * An INIT may stop a processor at any place, also in the hypervisor (GIF doesn't block it). So the
 * processor may hold a lock (lock.h), and its state is set up again when it starts; except its PMU,
 * which an INIT doesn't change. If it was writing a record, the record stays incomplete.
 *
 * A processor that waits for its SIPI mustn't get an NMI: in QEMU it would take the NMI, although
 * nothing is set up. So kicks are sent only to running processors: INITs and kicks are sent under
 * one lock. Not handled: an INIT to a logical destination; all processors except the sender then
 * aren't kicked any more until they are restarted.
 */
#ifndef REFPMU_HV_PROCESSORS_H
#define REFPMU_HV_PROCESSORS_H

#include "refpmu/hv/cpu.h"

typedef void (*processors_start)(u32 apic_id);	/* doesn't return */

/* Set the page below 1 MiB for startup.asm and the processors that may start there. Called on the
 * boot processor, before the first VMRUN, with its tables loaded. `create` makes a struct cpu for
 * each id. Each time that a SIPI starts a processor, `start` runs on it, on its own stack, with the
 * host's page tables. */
void processors_init(u64 startup_page, const u8 *apic_ids, unsigned count,
		     struct cpu *(*create)(const u8 *stack_top), processors_start start);

/* Add the boot processor to them. */
void processors_add(struct cpu *cpu);

/* The guest on this processor writes `low` to its interrupt command register. */
void processors_send(struct cpu *cpu, u32 low);

/* Make another processor exit to the hypervisor soon, by an NMI, which vmrun_take_interrupt() and
 * similar functions don't pass to the guest. Does nothing if it is already kicked or isn't
 * running. */
void processors_kick(struct cpu *cpu, struct cpu *to);

/* This processor has been started, by its SIPI. */
void processors_started(struct cpu *cpu);

/* Is it the boot processor? */
bool processors_first(const struct cpu *cpu);
/* Differences between processors (latitude): the offset of this processor's TSC; and a processor
 * that stops for a while, once after each start, when the second function is called. */
u64 processors_tsc_adjust(const struct cpu *cpu);
void processors_come_late(struct cpu *cpu);

/* The processor with that APIC id, which must be one of them. */
struct cpu *processors_find(u32 apic_id);
/* All of them: NULL after the last. */
struct cpu *processors_get(unsigned index);

#endif
