/* SPDX-License-Identifier: MIT */
/* Waiting for another processor, for a bounded time: QEMU's thread of that processor may be
 * late. */
#ifndef REFPMU_SELFTEST_TIMEOUT_H
#define REFPMU_SELFTEST_TIMEOUT_H

#include "refpmu/hv/instructions.h"
#include "spec/types.h"

#define TIMEOUT_TICKS	20000000000ULL	/* TSC ticks: seconds, on a loaded host */

/* Wait until *place is value or more. false: it wasn't in time. */
static inline bool wait_for(const volatile u32 *place, u32 value)
{
	u64 begin = tsc();

	while (*place < value)
		if (tsc() - begin > TIMEOUT_TICKS)
			return false;
	return true;
}

#endif
