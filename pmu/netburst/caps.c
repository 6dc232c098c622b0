/* SPDX-License-Identifier: MIT */
/*
 * SDM "Performance Monitoring (Processors Based on Intel NetBurst Microarchitecture)":
 * IA32_MISC_ENABLE. There is neither CPUID leaf 0AH nor IA32_PERF_CAPABILITIES. The form of a
 * record depends on the mode, here IA-32e mode.
 */
#include "pmu/netburst/caps.h"

#include "kernel/processor/cpuid.h"
#include "kernel/processor/percpu.h"
#include "pmu/caps.h"
#include "pmu/netburst/netburst.h"
#include "spec/msr.h"

static struct netburst_caps processors[CPU_MAX];

const struct netburst_caps *netburst_caps(void)
{
	return &processors[cpu_index()];
}

void netburst_take(struct pmu_caps *caps)
{
	struct netburst_caps *netburst = &processors[cpu_index()];

	*netburst = (struct netburst_caps){
		.counters = (caps->facilities & FAC_NETBURST) &&
			    (caps->misc_enable & IA32_MISC_ENABLE_PERFMON_AVAILABLE),
	};
	if (!netburst->counters)
		return;
	/* A package of two cores without Hyper-Threading has two logical processors as well (SDM
	 * volume 3A, Detecting Hardware Multi-Threading Support and Topology). */
	netburst->threads = cpuid_get(CPUID_HTT) &&
			    cpuid_get(CPUID_LOGICAL_PROCESSORS) > cpuid_get(CPUID_CORES) + 1;
	netburst->pebs = caps->ds && !(caps->misc_enable & IA32_MISC_ENABLE_PEBS_UNAVAILABLE);
	caps->operations = &netburst_operations;
	caps->version = caps->gp = caps->fixed = 0;
	caps->pebs = false;
	caps->record_known = true;
	caps->record_format = RECORD_NB64;
}
