/* SPDX-License-Identifier: MIT */
/* Single instructions at CPL 3 that may fault: for user_call(). The code is in
 * tests/measure/workload.asm, where the offsets are PROBE_*. */
#ifndef TESTS_MEASURE_USER_PROBE_H
#define TESTS_MEASURE_USER_PROBE_H

#include "kernel/interrupt/fault.h"
#include "spec/x86.h"

struct user_probe {
	struct fault fault;
	u64 address, ecx;
};

u64 user_load(u64 probe);	/* from address */
u64 user_rdpmc(u64 probe);	/* with ecx */

/* A structure in memory that CPL 3 can access, without a fault yet. Each processor has its own. */
struct user_probe *user_probe_get(void);

#endif
