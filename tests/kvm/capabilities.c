/* SPDX-License-Identifier: MIT */
/* The enumeration of the PMU in KVM's guests. Linux arch/x86/kvm/cpuid.c,
 * kvm_init_pmu_capability. */
#include "kernel/processor/cpuid.h"
#include "pmu/counter.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/kvm/guest.h"
#include "tests/measure/overflow.h"

#define MOST_GENERAL	8u	/* KVM_MAX_NR_INTEL_GP_COUNTERS */
#define MOST_FIXED	3u	/* KVM_MAX_NR_FIXED_COUNTERS */
#define LEAF_ARCH_LBR	0x1cu
#define LEAF_EXTENDED	0x23u	/* architectural performance monitoring, extended */

/*
 * KVM-01  CPUID.0AH:EAX[7:0] of a guest must be at most 2.
 *         KVM kvm_init_pmu_capability
 * KVM-30  CPUID leaves 1CH and 23H of a guest must be 0.
 *         KVM do_cpuid_func
 *
 * Given  a guest of KVM
 * When   CPUID leaves 0AH, 1CH and 23H are read
 * Then   the version is 1 or 2; the others are 0 in all registers, where CPUID reaches so far
 */
TEST(kvm, version_is_2_at_most_and_later_leaves_are_0, REQS(KVM_01, KVM_30),
     NEEDS(need_perfmon, need_guest_of_kvm))
{
	static const u32 leaves[] = { LEAF_ARCH_LBR, LEAF_EXTENDED };

	CHECK_RANGE(t, KVM_01, 1, 2, counter_caps()->version, "version in CPUID.0AH:EAX = %#x",
		    counter_caps()->leaf_0a_eax);
	for (unsigned i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {
		struct cpuid r;

		/* Beyond the highest leaf there is the highest one once more. */
		if (leaves[i] > cpuid_get(CPUID_MAX_LEAF))
			continue;
		r = cpuid_read(leaves[i], 0);
		CHECK_EQ(t, KVM_30, 0, (u64)(r.eax | r.ebx | r.ecx | r.edx),
			 "all registers of CPUID leaf %#x taken together", leaves[i]);
	}
}

/* Count with counter c alone, if it counted nothing together with the others: the host's NMI
 * watchdog may have used one counter. */
static u64 counted_alone(unsigned c)
{
	u64 value[WINDOW_COUNTERS] = { 0 };

	if (!window_count(pmc_one(c), EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, &workload_branch,
			  SLOW_ROUNDS, value))
		return 0;
	return value[c];
}

/*
 * KVM-02  At most eight general-purpose and three fixed counters must be reported, and each must
 *         count.
 *         KVM kvm_init_pmu_capability, intel_pmu_refresh
 *
 * Given  a guest of KVM
 * When   every counter that CPUID reports counts a window, and once more alone if it was 0
 * Then   there are no more than eight and three, and none counts nothing; unless every requirement
 *        is judged, more than three fixed ones are only reported
 */
TEST(kvm, every_counter_that_is_reported_counts, REQS(KVM_02),
     NEEDS(need_perfmon, need_guest_of_kvm, need_instructions))
{
	const struct pmc_mask every = pmc_or(counters_gp(), counters_fixed());
	u64 value[WINDOW_COUNTERS];

	CHECK_RANGE(t, KVM_02, 1, MOST_GENERAL, counter_caps()->gp, "general-purpose counters");
	/* One host is known that gives four (its guests' boot logs). */
	if (test_is_strict(t))
		CHECK_RANGE(t, KVM_02, 0, MOST_FIXED, counter_caps()->fixed, "fixed counters");
	else if (counter_caps()->fixed > MOST_FIXED)
		test_note(t, "%u fixed counters; Linux gives %u at most", counter_caps()->fixed,
			  MOST_FIXED);
	if (!window_count(every, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, &workload_branch,
			  SLOW_ROUNDS, value)) {
		test_inconclusive(t, "every window was disturbed");
		return;
	}
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (every.bits & BIT(c))
			CHECK_RANGE(t, KVM_02, 1, ~0ULL, value[c] ? value[c] : counted_alone(c),
				    "%s counter %u",
				    PMC_IS_FIXED(c) ? "fixed" : "general-purpose",
				    PMC_IS_FIXED(c) ? c - PMC_FIXED(0) : c);
}

/*
 * KVM-31  Where KVM passes counters through, the guest must have neither PEBS nor last branch
 *         records.
 *         KVM, Linux 7.0: enable_mediated_pmu
 *
 * Given  a guest of KVM whose fixed counters refuse bits above their width
 * When   IA32_PERF_CAPABILITIES and CPUID are read
 * Then   the formats of records and of branch records are 0
 */
TEST(kvm, passed_counters_come_without_pebs_and_branch_records, REQS(KVM_31),
     NEEDS(need_perfmon, need_guest_of_kvm, need_capabilities, need_passed_counters))
{
	CHECK_EQ(t, KVM_31, 0,
		 counter_caps()->perf_capabilities &
			 (IA32_PERF_CAPABILITIES_PEBS_FMT | IA32_PERF_CAPABILITIES_LBR_FMT),
		 "formats in IA32_PERF_CAPABILITIES");
}
