/* SPDX-License-Identifier: MIT */
/*
 * Architectural performance monitoring: SDM "Architectural Performance Monitoring Version 2
 * Facilities". Version 1 has no global registers.
 */
#include "pmu/operations.h"

#include "kernel/interrupt/fault.h"
#include "pmu/counter.h"
#include "pmu/pmi.h"
#include "pmu/reset.h"
#include "pmu/uncore.h"
#include "spec/msr.h"

static bool architectural_reset(struct reset_refusal *refusal)
{
	const struct pmu_caps *caps = counter_caps();

	if (!caps->version)
		return true;
	if (!reset_all(refusal))
		return false;
	/* Linux, tfa_pmu: microcode uses IA32_PMC3 while transactions may run. Here the counter
	 * counts, and each transaction aborts. */
	if (caps->tsx_force_abort)
		(void)msr_try_write(MSR_IA32_TSX_FORCE_ABORT, IA32_TSX_FORCE_ABORT_RTM_FORCE_ABORT);
	if ((caps->facilities & FAC_UNCORE) && uncore_present() && !uncore_reset()) {
		*refusal = (struct reset_refusal){ "one of the uncore's registers", 0, 0 };
		return false;
	}
	return true;
}

static void architectural_quiet(void)
{
	const struct pmu_caps *caps = counter_caps();

	if (!caps->version)
		return;
	reset_quiet();
	if ((caps->facilities & FAC_UNCORE) && uncore_present())
		(void)uncore_reset();
}

static void architectural_interrupted(struct pmi_entry *entry, bool keep_counting)
{
	if (counter_caps()->version < 2)
		return;
	entry->global_ctrl = msr_read(MSR_IA32_PERF_GLOBAL_CTRL);
	if (!keep_counting)
		counters_disable();
	entry->status = counters_status();
	entry->debugctl = msr_read(MSR_IA32_DEBUGCTL);
	if (counter_caps()->arch_pebs)
		entry->arch_index = msr_read(MSR_IA32_PEBS_INDEX);
}

/* Clear the status bits that an interrupt has shown. Bits that CPUID doesn't enumerate aren't
 * written. */
static void architectural_clear(u64 status)
{
	counters_clear(status & reset_clearable_status());
}

const struct pmu_operations pmu_architectural = {
	.reset = architectural_reset,
	.quiet = architectural_quiet,
	.interrupted = architectural_interrupted,
	.clear = architectural_clear,
};
