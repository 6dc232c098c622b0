/* SPDX-License-Identifier: MIT */
/*
 * The other processors. A guest starts them by INIT and SIPI as on hardware: an INIT goes through,
 * of a SIPI only the vector is replaced, so that the processor comes to startup.asm first, and then
 * enters the guest in the state that the SIPI asked for. SDM volume 3, "Multiple-Processor (MP)
 * Initialization", "IA-32 Processor States Following Power-up, Reset, or INIT".
 *
 * An INIT may hit a processor anywhere, in the hypervisor as well (GIF doesn't hold it). So a lock
 * may be left held (lock.h), and what belongs to one processor is made anew when it starts; but for
 * its PMU, which an INIT leaves unchanged. A record that is being written then stays half written.
 *
 * A processor that waits for its SIPI must get no NMI: QEMU's would take it, with nothing set up.
 * A processor that is called is known to be running: INITs and calls are sent under one lock. Not
 * handled: an INIT to a logical destination; all processors but the sender then aren't called any
 * more until they are started anew.
 */
#ifndef REFPMU_HV_PROCESSORS_H
#define REFPMU_HV_PROCESSORS_H

#include "refpmu/hv/cpu.h"

typedef void (*processors_start)(u32 apic_id);	/* doesn't return */

/* Where startup.asm goes to below 1 MiB, and which processors may come from there; on the boot
 * processor, before the first VMRUN, with its tables loaded. Each id becomes a struct cpu by
 * `create`. Each time that a SIPI starts one, `start` runs on it, on a stack of its own, with the
 * host's page tables. */
void processors_init(u64 startup_page, const u8 *apic_ids, unsigned count,
		     struct cpu *(*create)(const u8 *stack_top), processors_start start);

/* The boot processor is one of them, too. */
void processors_add(struct cpu *cpu);

/* The guest on this processor writes `low` to its interrupt command register. */
void processors_send(struct cpu *cpu, u32 low);

/* Have another processor come to the hypervisor soon: vmrun_take_interrupt() and the like keep the
 * NMI to themselves. Nothing happens if it is called already or doesn't run. */
void processors_kick(struct cpu *cpu, struct cpu *to);

/* This processor has been started, by its SIPI. */
void processors_started(struct cpu *cpu);

/* Is it the one that the firmware starts on? */
bool processors_first(const struct cpu *cpu);
/* Where processors differ (latitude): by how much this one's TSC does, and one that stands still
 * for a while, once after each start, when this is called. */
u64 processors_tsc_adjust(const struct cpu *cpu);
void processors_come_late(struct cpu *cpu);

/* The one with that APIC id, which is one of them. */
struct cpu *processors_find(u32 apic_id);
/* All of them: NULL after the last. */
struct cpu *processors_get(unsigned index);

#endif
