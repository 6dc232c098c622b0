/* SPDX-License-Identifier: MIT */
/* See user_probe.h. */
#include "tests/measure/user_probe.h"

#include "kernel/memory/arena.h"
#include "kernel/processor/percpu.h"

_Static_assert(offsetof(struct user_probe, address) == 24, "PROBE_ADDRESS");
_Static_assert(offsetof(struct user_probe, ecx) == 32, "PROBE_ECX");

struct user_probe *user_probe_get(void)
{
	static struct user_probe *probes[CPU_MAX];
	struct user_probe **here = &probes[cpu_index()];

	if (!*here)
		*here = arena_alloc(sizeof(**here));
	(*here)->fault = (struct fault){ .raised = false };
	return *here;
}
