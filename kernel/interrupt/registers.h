/* SPDX-License-Identifier: MIT */
/*
 * The general registers except RSP, as assembly saves them: members of a structure, from the lowest
 * address. registers.def is the only list, for C and for registers.inc. It has no comment, because
 * NASM and C have no common syntax for comments.
 */
#ifndef KERNEL_REGISTERS_H
#define KERNEL_REGISTERS_H

#include "spec/types.h"

/* PUSH_LIST ALL */
struct all_registers {
#define SCRATCH(name) u64 name;
#define PRESERVED(name) u64 name;
#include "kernel/interrupt/registers.def"
#undef PRESERVED
#undef SCRATCH
};

/* PUSH_PRESERVED: what a function of the System V convention must leave as it is. */
struct preserved_registers {
#define SCRATCH(name)
#define PRESERVED(name) u64 name;
#include "kernel/interrupt/registers.def"
#undef PRESERVED
#undef SCRATCH
};

_Static_assert(sizeof(struct all_registers) == 15 * sizeof(u64), "registers.def: all but RSP");
_Static_assert(sizeof(struct preserved_registers) == 6 * sizeof(u64),
	       "System V ABI, AMD64 supplement, \"Registers\": RBX, RBP, R12 to R15");

#endif
