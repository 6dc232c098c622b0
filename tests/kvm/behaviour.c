/* SPDX-License-Identifier: MIT */
/*
 * How a guest's counters count and interrupt under KVM, in addition to the requirements on every
 * processor. Linux arch/x86/kvm/pmu.c, lapic.c.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/kvm/guest.h"
#include "tests/measure/overflow.h"

#define OVERFLOWS	100u
#define ROUNDS		64u

/*
 * KVM-16  Delivery of a guest's PMI must mask LVTPC.
 *         KVM kvm_apic_local_deliver, commit a16eb25b09c0 (Linux 6.6, later 6.1)
 * KVM-17  One overflow of a guest's counter must raise one interrupt.
 *         KVM kvm_pmu_deliver_pmi, commit 73554b29bd70 (Linux 6.6)
 *
 * Given  a guest of KVM, LVTPC unmasked before each
 * When   IA32_PMC0 overflows a hundred times
 * Then   each is one interrupt, and LVTPC is masked at its handler's entry
 */
TEST(kvm, each_overflow_interrupts_once_and_masks_lvtpc, REQS(KVM_16, KVM_17),
     NEEDS(need_perfmon, need_guest_of_kvm, need_branches))
{
	unsigned wrong = 0, unmasked = 0;

	for (unsigned i = 0; i < OVERFLOWS; i++) {
		const struct pmi_log *log = overflow_interrupts(0, COUNT_INT, NULL);

		wrong += log->count != 1;
		unmasked += log->count && !(log->entry[0].lvtpc & LVT_MASKED);
		overflow_off(0);
	}
	CHECK_EQ(t, KVM_17, 0, wrong, "of %u overflows with another number of interrupts than 1",
		 OVERFLOWS);
	CHECK_EQ(t, KVM_16, 0, unmasked, "of %u interrupts that found LVTPC unmasked", OVERFLOWS);
}

/*
 * KVM-05  IA32_PERFEVTSELx[19] must be accepted and change no count.
 *         KVM intel_pmu_refresh
 *
 * Given  a guest of KVM, each counter counts branches
 * When   windows are counted with bit 19 clear, and set
 * Then   bit 19 can be written and is read back, and the difference of two windows is the same
 */
TEST(kvm, pin_control_of_an_event_select_changes_no_count, REQS(KVM_05),
     NEEDS(need_perfmon, need_guest_of_kvm, need_branches))
{
	const u64 wanted = workload_declared(&workload_branch, WORKLOAD_BRANCHES, 2 * ROUNDS) -
			   workload_declared(&workload_branch, WORKLOAD_BRANCHES, ROUNDS);

	for (unsigned c = 0; c <= counter_last(); c++) {
		const u32 select = MSR_IA32_PERFEVTSEL0 + c;
		u64 counted;

		msr_try_write(select, IA32_PERFEVTSEL_PC);
		if (!CHECK_EQ(t, KVM_05, IA32_PERFEVTSEL_PC, msr_read(select),
			      "IA32_PERFEVTSEL%u after bit 19 was written", c))
			return;
		msr_write(select, 0);
		for (unsigned with = 0; with < 2; with++) {
			if (!window_difference_one(t, c, EVENT_BR_INST_RETIRED_ALL_BRANCHES,
						   COUNT_BOTH | (with ? IA32_PERFEVTSEL_PC : 0),
						   &workload_branch, ROUNDS, 2 * ROUNDS, &counted))
				return;
			CHECK_EQ(t, KVM_05, wanted, counted,
				 "branches in %u more rounds, IA32_PERFEVTSEL%u[19] = %u", ROUNDS,
				 c, with);
		}
	}
}

/* The most that small cores may count for a VM exit and the VM entry after it: errata SRF6, SRF7
 * (docs/READINGS.md, "What a processor may count beside it"). */
static u64 most_of_exit(void)
{
	const u32 small = GENS_GRACEMONT | GENS_SIERRAFOREST | GENS_CLEARWATERFOREST;
	const struct generation *generation = counter_caps()->generation;

	return !generation || generation->set & small ? 2 : 0;
}

/*
 * KVM-28  An instruction that exits to KVM must be counted no more than once.
 *         KVM kvm_pmu_trigger_event
 *
 * Given  a guest of KVM, each counter, and fixed counter 0, counts instructions
 * When   rounds of five instructions are executed, of which CPUID exits
 * Then   a round counts four or five; on small cores whose exits and entries count, and on a host
 *        that isn't told, up to seven
 */
TEST(kvm, instruction_that_exits_counts_no_more_than_once, REQS(KVM_28),
     NEEDS(need_perfmon, need_guest_of_kvm, need_instructions))
{
	const u64 most = workload_declared(&workload_kind_cpuid, WORKLOAD_INSTRUCTIONS,
					   2 * ROUNDS) -
			 workload_declared(&workload_kind_cpuid, WORKLOAD_INSTRUCTIONS, ROUNDS);
	u64 left = counters_for(EVENT_INST_RETIRED_ANY_P).bits;

	if (counter_caps()->fixed)
		left |= BIT(PMC_FIXED(0));
	for (; left; left &= left - 1) {
		const unsigned c = (unsigned)__builtin_ctzll(left);
		u64 counted;

		if (!window_difference_one(t, c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH,
					   &workload_kind_cpuid, ROUNDS, 2 * ROUNDS, &counted))
			return;
		CHECK_RANGE(t, KVM_28, most - ROUNDS, most + most_of_exit() * ROUNDS, counted,
			    "instructions in %u more rounds with a CPUID each, counter %u", ROUNDS,
			    c);
	}
}
