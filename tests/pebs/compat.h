/* SPDX-License-Identifier: MIT */
/* Loads in compatibility mode, at CPL 0: compat.asm. Code and data must be below 4 GiB. */
#ifndef TESTS_PEBS_COMPAT_H
#define TESTS_PEBS_COMPAT_H

#include <stddef.h>

#include "spec/types.h"

/* As tests/pebs/compat.asm lays it out. */
struct compat_call {
	u64 memory, n, msr, on;	/* n loads of `memory`; `on` is written to the MSR, then 0 */
	u64 back;
};
_Static_assert(offsetof(struct compat_call, back) == 32, "CALL_BACK");

/* Interrupts off. */
void compat_loads(struct compat_call *call) __attribute__((visibility("hidden")));
extern const u8 compat_begin[] __attribute__((visibility("hidden")));	/* of the loop, its load */
extern const u8 compat_end[] __attribute__((visibility("hidden")));

/* Can compatibility mode access the code and everything below `data`? */
bool compat_in_reach(u64 data, char *reason, size_t size);

#endif
