/* SPDX-License-Identifier: MIT */
/* Ends the machine after an error that the hypervisor can't handle, with a message on COM1. */
#ifndef REFPMU_HV_PANIC_H
#define REFPMU_HV_PANIC_H

#include "spec/types.h"

/*
 * Write "refpmu: <what>" with up to four values in hexadecimal, as a line of its own, then reset
 * the machine. values: how many of a, b, c, d are printed.
 */
__attribute__((noreturn))
void panic(const char *what, unsigned values, u64 a, u64 b, u64 c, u64 d);

/* Called by svm.asm for an exception in the hypervisor itself; first and second are the lowest
 * words of what the processor pushed: RIP, or an error code and RIP. */
__attribute__((noreturn))
void host_exception(u64 vector, u64 first, u64 second, u64 cr2);

#endif
