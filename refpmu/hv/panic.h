/* SPDX-License-Identifier: MIT */
/* The last words of the hypervisor, on COM1, for what it can't survive. */
#ifndef REFPMU_HV_PANIC_H
#define REFPMU_HV_PANIC_H

#include "spec/types.h"

/*
 * Write "refpmu: <what>" with up to four values in hexadecimal, as a line of its own, then reset
 * the machine. `values` counts those of a, b, c, d that mean something.
 */
__attribute__((noreturn))
void panic(const char *what, unsigned values, u64 a, u64 b, u64 c, u64 d);

/* Called by svm.asm for an exception in the hypervisor itself; first and second are the lowest
 * words of what the processor pushed: RIP, or an error code and RIP. */
__attribute__((noreturn))
void host_exception(u64 vector, u64 first, u64 second, u64 cr2);

#endif
