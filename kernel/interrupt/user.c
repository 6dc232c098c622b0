/* SPDX-License-Identifier: MIT */
/* Calling a function at CPL 3: the stack, and the call of user.asm. */
#include "kernel/memory/stack.h"
#include "kernel/interrupt/user.h"

u64 user_enter(u64 (*fn)(u64 arg), u64 arg, u64 user_stack_top);

u64 user_call(u64 (*fn)(u64 arg), u64 arg)
{
	return user_enter(fn, arg, stack_top(STACK_USER));
}
