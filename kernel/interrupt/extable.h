/* SPDX-License-Identifier: MIT */
/* The exception table: the instructions that may fault, and the address at which to continue after
 * a fault. */
#ifndef KERNEL_EXTABLE_H
#define KERNEL_EXTABLE_H

#include "kernel/interrupt/fault.h"

/* If the frame is of #UD, #GP or #PF at a listed instruction: report it in the struct fault that
 * RDI points at, make the frame resume at the fixup and return true. */
bool extable_fix(struct trap_frame *frame, u64 cr2);

#endif
