/* SPDX-License-Identifier: MIT */
/* Time by the TSC: "Time-Stamp Counter". Invariant TSC is assumed, as on every part with PEBS
 * that boots UEFI; a TSC that stops would only make bounded waits longer. */
#include "kernel/processor/time.h"

u64 time_tsc_per_us = 1000;	/* until boot/ has measured it */

u64 tsc_read(void)
{
	u32 low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
	return (u64)high << 32 | low;
}

u64 time_deadline(u64 us)
{
	return tsc_read() + us * time_tsc_per_us;
}

bool time_expired(u64 deadline)
{
	return (int64_t)(tsc_read() - deadline) >= 0;
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

void time_stall(u64 us)
{
	wait_until(never, NULL, us);
}

bool wait_until(bool (*cond)(void *arg), void *arg, u64 us)
{
	u64 deadline;

	if (cond(arg))		/* usually true, and reading the TSC takes time on some machines */
		return true;
	deadline = time_deadline(us);
	while (!cond(arg)) {
		if (time_expired(deadline))
			return cond(arg);
		__asm__ volatile("pause");
	}
	return true;
}
