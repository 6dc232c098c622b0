/* SPDX-License-Identifier: MIT */
/* Calls a function at another CPL than 0: the stack, the segments, and the call of user.asm. */
#include "kernel/interrupt/descriptor.h"
#include "kernel/interrupt/user.h"
#include "kernel/memory/stack.h"
#include "kernel/processor/selectors.h"

u64 user_enter(u64 (*fn)(u64 arg), u64 arg, u64 user_stack_top, u64 code, u64 data);

u64 user_call_at(unsigned cpl, u64 (*fn)(u64 arg), u64 arg)
{
	static const struct {
		u8 code, data;
	} segments[] = {
		{ SELECTOR_RING1_CODE, SELECTOR_RING1_DATA },
		{ SELECTOR_RING2_CODE, SELECTOR_RING2_DATA },
		{ SELECTOR_USER_CODE, SELECTOR_USER_DATA },
	};

	u64 result;

	if (cpl != 3)
		descriptor_open_rings(true);
	result = user_enter(fn, arg, stack_top(STACK_USER), segments[cpl - 1].code,
			    segments[cpl - 1].data);
	if (cpl != 3)
		descriptor_open_rings(false);
	return result;
}

u64 user_call(u64 (*fn)(u64 arg), u64 arg)
{
	return user_call_at(3, fn, arg);
}
