/* SPDX-License-Identifier: MIT */
/*
 * Setting up and going quiet. The owner of the machine finds what it has left, and no DS area in
 * memory that isn't its own.
 */
#include "pmu/pmu.h"

#include "kernel/machine/machine.h"
#include "pmu/counter.h"
#include "pmu/ds.h"
#include "pmu/found.h"
#include "pmu/pmi.h"

static void quiesce(void)
{
	counter_reset();
	pmi_close();
	found_put_back();
}

bool pmu_init(void)
{
	counter_init();
	machine_on_return(quiesce);
	return ds_init();
}
