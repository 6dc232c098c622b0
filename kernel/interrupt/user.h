/* SPDX-License-Identifier: MIT */
/* Calling a function at CPL 3. */
#ifndef KERNEL_USER_H
#define KERNEL_USER_H

#include "spec/types.h"

/*
 * Call fn(arg) at CPL 3 on a user stack of its own and return its result. fn is ordinary code
 * (leaf assembly or C) that executes nothing privileged. The way down is one IRETQ, the way back
 * one INT; both, and the few instructions around them, count at the level at which they run.
 * Interrupts stay as they were.
 */
u64 user_call(u64 (*fn)(u64 arg), u64 arg);

#endif
