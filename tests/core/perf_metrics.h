/* SPDX-License-Identifier: MIT */
/* MSR_PERF_METRICS and fixed counter 3 over one piece: each byte is a share of FFH. */
#ifndef TESTS_CORE_PERF_METRICS_H
#define TESTS_CORE_PERF_METRICS_H

#include "tests/measure/window.h"

#define SLOTS		PMC_FIXED(3)
#define METRICS_ENABLE	BIT(48)	/* of IA32_PERF_GLOBAL_CTRL */
#define METRICS_OVF	BIT(48)	/* of IA32_PERF_GLOBAL_STATUS and the registers that change it */
#define METRICS_WHOLE	0xffu
#define METRICS_ERROR	3u	/* that rounding leaves in each of the four lower bytes */

static inline u64 metrics_byte(u64 metrics, unsigned n)
{
	return metrics >> 8 * n & METRICS_WHOLE;
}

/* Set both to 0, program fixed counter 3, and run the piece with these bits of
 * IA32_PERF_GLOBAL_CTRL. Returns MSR_PERF_METRICS.
 */
u64 metrics_of(const struct workload *w, u64 rounds, u64 enables);

#endif
