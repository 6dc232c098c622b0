/* SPDX-License-Identifier: MIT */
/*
 * Sets the PMU up and switches it off. The owner of the machine gets its own register values back,
 * and no DS area that points to our memory.
 */
#include "pmu/pmu.h"

#include "kernel/machine/machine.h"
#include "kernel/processor/percpu.h"
#include "pmu/version6/arch_pebs.h"
#include "pmu/counter.h"
#include "pmu/ds.h"
#include "pmu/found.h"
#include "pmu/pmi.h"

static bool is_ours[CPU_MAX];

/* A processor that arrived too late is given back without having been set up. */
static void quiesce(void)
{
	if (!is_ours[cpu_index()])
		return;
	counter_reset();
	pmi_close();
	found_put_back();
}

bool pmu_init(void)
{
	counter_init();
	is_ours[cpu_index()] = true;
	machine_on_return(quiesce);
	return ds_init() && (!counter_caps()->arch_pebs || arch_pebs_init());
}
