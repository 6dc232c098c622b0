/* SPDX-License-Identifier: MIT */
/* Preconditions, from the capabilities in pmu/netburst/caps.h. */
#include "tests/netburst/needs.h"

#include "kernel/processor/cpuid.h"
#include "kernel/output/fmt.h"
#include "pmu/counter.h"
#include "pmu/netburst/caps.h"

bool need_netburst(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (netburst_caps()->counters)
		return true;
	fmt_print(reason, size,
		  "no counters of NetBurst (family %02x model %02x, "
		  "IA32_MISC_ENABLE = %#lx)",
		  c->family, c->model, c->misc_enable);
	return false;
}

bool need_netburst_threads(char *reason, size_t size)
{
	if (!need_netburst(reason, size))
		return false;
	if (netburst_caps()->threads)
		return true;
	fmt_print(reason, size, "no Hyper-Threading (CPUID.01H:EDX[28] = %u, EBX[23:16] = %u)",
		  cpuid_get(CPUID_HTT), cpuid_get(CPUID_LOGICAL_PROCESSORS));
	return false;
}

bool need_netburst_pebs(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (!need_netburst(reason, size))
		return false;
	if (netburst_caps()->pebs)
		return true;
	fmt_print(reason, size, "no PEBS (IA32_MISC_ENABLE = %#lx, DS %u)", c->misc_enable, c->ds);
	return false;
}

bool need_netburst_without_threads(char *reason, size_t size)
{
	if (!need_netburst(reason, size))
		return false;
	if (!netburst_caps()->threads)
		return true;
	fmt_print(reason, size, "Hyper-Threading (CPUID.01H:EDX[28] = %u, EBX[23:16] = %u)",
		  cpuid_get(CPUID_HTT), cpuid_get(CPUID_LOGICAL_PROCESSORS));
	return false;
}
