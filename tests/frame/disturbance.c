/* SPDX-License-Identifier: MIT */
/*
 * Evidence of disturbances. MSR_SMI_COUNT counts SMIs, if it exists (Nehalem and later). A
 * processor that refuses to read it is assumed to have no SMIs; the calibration says so. A long
 * duration is evidence under a hypervisor, because its host may take time, and where SMIs can't be
 * counted. The duration is compared with the usual duration of the same workload, because the speed
 * of a processor or an emulator isn't known beforehand. A register that doesn't hold the value that
 * was written (pmu/written.h) is evidence only if SMIs can't be counted. If SMIs can be counted and
 * there was none, the processor itself has changed the register.
 */
#include "tests/frame/disturbance.h"

#include "kernel/interrupt/fault.h"
#include "kernel/processor/percpu.h"
#include "kernel/processor/time.h"
#include "spec/msr.h"

/* Longer than any handler or exit to a hypervisor takes, shorter than a host's time slice. */
#define GAP_US		10000
#define TIMES_SLOWER	3
#define WORKLOADS	64
#define WINDOW_OWN	16	/* instructions, about, that start and stop counting */
#define SCALE		256

/* One for each processor: processors may differ, and they run at the same time. */
static struct pace {
	u64 usual[WORKLOADS];	/* moving average of ticks per SCALE instructions; 0: none yet */
	unsigned gaps;
	u64 forgiven_smis;
	bool asked, refuses;	/* MSR_SMI_COUNT was read; RDMSR raised #GP */
} paces[CPU_MAX];
static unsigned repeats;

/* Don't read the register again after a #GP: it won't appear later, and in a guest each RDMSR is a
 * VM exit. */
static bool read_smis(u64 *count)
{
	struct pace *here = &paces[cpu_index()];

	*count = 0;
	if (!counter_caps()->intel || here->refuses)
		return false;
	here->refuses = msr_try_read(MSR_SMI_COUNT, count).raised;
	here->asked = true;
	return !here->refuses;
}

bool disturbance_sees_smis(void)
{
	const struct pace *here = &paces[cpu_index()];
	u64 count;

	return here->asked ? !here->refuses : read_smis(&count);
}

static u64 smis_now(void)
{
	u64 count;

	return read_smis(&count) ? count : 0;
}

static struct disturbance disturbance_now(void)
{
	return (struct disturbance){ smis_now() - paces[cpu_index()].forgiven_smis,
				     paces[cpu_index()].gaps };
}

static bool time_can_be_taken(void)
{
	return counter_caps()->hypervisor || !disturbance_sees_smis();
}

void disturbance_window(const struct workload *w, u64 n, u64 ticks)
{
	u64 instructions = workload_declared(w, WORKLOAD_INSTRUCTIONS, n) + WINDOW_OWN;
	struct pace *here = &paces[cpu_index()];
	u64 *usual = here->usual;
	u64 pace = ticks * SCALE / instructions + 1;
	unsigned i = 0;

	while (i < WORKLOADS && workload_get(i) && workload_get(i) != w)
		i++;
	if (i == WORKLOADS || workload_get(i) != w)
		return;
	if (!usual[i])
		usual[i] = pace;
	if (ticks > TIMES_SLOWER * (usual[i] * instructions / SCALE) + GAP_US * time_tsc_per_us &&
	    time_can_be_taken()) {
		here->gaps++;
		pace = TIMES_SLOWER * usual[i];
	}
	usual[i] = (7 * usual[i] + pace) / 8 + 1;
}

void disturbance_begin(struct attempt *attempt)
{
	attempt->begin = disturbance_now();
	attempt->changed.name = NULL;
}

void disturbance_look(struct attempt *attempt)
{
	if (disturbance_now().smis != attempt->begin.smis || !disturbance_sees_smis())
		(void)written_differs(&attempt->changed);
}

bool disturbance_found(struct attempt *attempt)
{
	struct disturbance now = disturbance_now();
	unsigned seen = now.gaps - attempt->begin.gaps;
	bool recurs = seen == attempt->last_gaps;

	attempt->last_gaps = seen;
	if (!attempt->changed.name)
		disturbance_look(attempt);
	if (now.smis == attempt->begin.smis && (!seen || recurs) && !attempt->changed.name)
		return false;
	__atomic_add_fetch(&repeats, 1, __ATOMIC_RELAXED);
	return true;
}

void disturbance_forgive(const struct attempt *attempt)
{
	struct disturbance now = disturbance_now();
	struct pace *here = &paces[cpu_index()];

	/* If an SMI has changed a register, the changed value also disturbs the next window: don't
	 * forgive. */
	if (attempt->changed.name)
		return;
	here->forgiven_smis += now.smis - attempt->begin.smis;
	here->gaps = attempt->begin.gaps;
}

unsigned disturbance_repeats(void)
{
	return repeats;
}

void disturbance_restore(unsigned before)
{
	repeats += before;
}
