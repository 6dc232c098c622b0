/* SPDX-License-Identifier: MIT */
/*
 * The other processors. A guest starts them by INIT and SIPI as on hardware: an INIT goes through,
 * of a SIPI only the vector is replaced, so that the processor comes to startup.asm first, and then
 * enters the guest in the state that the SIPI asked for. SDM volume 3, "Multiple-Processor (MP)
 * Initialization", "IA-32 Processor States Following Power-up, Reset, or INIT".
 *
 * An INIT may hit a processor anywhere, in the hypervisor as well (QEMU knows neither the intercept
 * nor GIF for it). So the processors share nothing that needs a lock, and what belongs to one is
 * made anew when it starts; but for its PMU, which an INIT leaves unchanged. A record that is being
 * written then stays half written.
 */
#ifndef REFPMU_PROCESSORS_H
#define REFPMU_PROCESSORS_H

#include "refpmu/cpu.h"

/* Where startup.asm goes to below 1 MiB, and who may come from there; on the boot processor, before
 * the first VMRUN, with its tables loaded. Each id becomes a struct cpu by `create`. */
void processors_init(u64 startup_page, const u8 *apic_ids, unsigned count,
		     struct cpu *(*create)(void));

/* The boot processor is one of them, too. */
void processors_add(struct cpu *cpu);

/* The guest writes `low` to its interrupt command register, of which the high half is `high`: what
 * to write instead. */
u32 processors_command(u32 low, u32 high);

/* The one with that APIC id, which is one of them. */
struct cpu *processors_find(u32 apic_id);
/* All of them: NULL behind the last. */
struct cpu *processors_get(unsigned index);

#endif
