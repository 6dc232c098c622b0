/* SPDX-License-Identifier: MIT */
/* Calling a function at CPL 3, or at CPL 1 or 2. */
#ifndef KERNEL_USER_H
#define KERNEL_USER_H

#include "spec/types.h"

/* The address to which the INT of the way back leads, and the RET at its end. Last branch records
 * contain both. */
extern const u8 user_return[] __attribute__((visibility("hidden")));
extern const u8 user_return_end[] __attribute__((visibility("hidden")));

/*
 * Call fn(arg) at CPL 3 on a user stack of its own and return its result. fn is ordinary code
 * (leaf assembly or C) that executes nothing privileged. The way down is one IRETQ, the way back
 * one INT; both, and the few instructions around them, count at the level at which they run.
 * Interrupts stay as they were.
 */
u64 user_call(u64 (*fn)(u64 arg), u64 arg);

/*
 * The same at CPL 1, 2 or 3. For paging, CPL 1 and 2 are supervisor levels like CPL 0. In 64-bit
 * mode they differ from CPL 0 only in privileged instructions and in checks of segments. The GDT
 * has their segments only while a processor runs at these levels: a hypervisor has less to check if
 * it knows that no segment leads there.
 */
u64 user_call_at(unsigned cpl, u64 (*fn)(u64 arg), u64 arg);

#endif
