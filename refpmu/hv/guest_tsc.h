/* SPDX-License-Identifier: MIT */
/*
 * The guest's time-stamp counter. Normally it is the machine's TSC plus the offset in the VMCB. On
 * a real processor unhalted reference cycles have a fixed ratio to the TSC ("Performance Counters
 * and Time-Stamp Counter", "Fixed Function Performance Counters"). So with latitude
 * tsc-by-reference, while any processor counts reference cycles, the TSC of all processors advances
 * with the model's reference clock, that of the fastest counting processor. Afterwards, and while
 * these processors halt, the TSC continues with the machine's time. It never goes back.
 *
 * After this has happened for the first time, RDTSC and RDTSCP exit on each processor.
 */
#ifndef REFPMU_HV_GUEST_TSC_H
#define REFPMU_HV_GUEST_TSC_H

#include "refpmu/hv/cpu.h"

/* The value that RDTSC reads now. */
u64 guest_tsc(struct cpu *cpu);

/* Carry out an RDTSC or RDTSCP that exited. */
void guest_tsc_read(struct cpu *cpu, bool rdtscp);

/* Counters may have started or stopped counting, or the processor may have begun or ended a
 * halt. */
void guest_tsc_follow(struct cpu *cpu);
/* The model of this processor will be reset, or the processor was restarted. */
void guest_tsc_leave(struct cpu *cpu);
void guest_tsc_started(struct cpu *cpu);

/* Called directly before VMRUN, after code_page_enter(). */
void guest_tsc_intercept(struct cpu *cpu);

#endif
