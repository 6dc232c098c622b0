/* SPDX-License-Identifier: MIT */
/*
 * The guest's time-stamp counter. It is the machine's, plus the offset in the VMCB. Latitude
 * tsc-by-reference: while a processor counts unhalted reference cycles, which a processor has at a
 * fixed ratio to its TSC ("Performance Counters and Time-Stamp Counter", "Fixed Function
 * Performance Counters"), it advances with the model's reference clock, for all processors: with
 * the fastest of those that count. Then it goes on from there with the machine's time, as it does
 * while they halt. It never goes back.
 *
 * From the first time on that this happens RDTSC and RDTSCP exit, on each processor.
 */
#ifndef REFPMU_HV_GUEST_TSC_H
#define REFPMU_HV_GUEST_TSC_H

#include "refpmu/hv/cpu.h"

/* What RDTSC reads now. */
u64 guest_tsc(struct cpu *cpu);

/* RDTSC, or RDTSCP, that exited. */
void guest_tsc_read(struct cpu *cpu, bool rdtscp);

/* Counters may have begun or ended to count, or the processor to halt. */
void guest_tsc_follow(struct cpu *cpu);
/* Its model is about to forget what it counted; or it was started anew. */
void guest_tsc_leave(struct cpu *cpu);
void guest_tsc_started(struct cpu *cpu);

/* In front of VMRUN, in its guest for others already (code_page.h). */
void guest_tsc_intercept(struct cpu *cpu);

#endif
