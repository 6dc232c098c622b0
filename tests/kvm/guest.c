/* SPDX-License-Identifier: MIT */
/* See guest.h. */
#include "tests/kvm/guest.h"
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "pmu/counter.h"
#include "spec/msr.h"
#include "tests/measure/overflow.h"

bool need_guest_of_kvm(char *reason, size_t size)
{
	if (counter_caps()->host.id == HYPERVISOR_KVM)
		return true;
	fmt_print(reason, size, "no guest of KVM (signature \"%s\")",
		  counter_caps()->host.signature);
	return false;
}

bool need_capabilities(char *reason, size_t size)
{
	if (counter_caps()->pdcm)
		return true;
	fmt_print(reason, size, "no IA32_PERF_CAPABILITIES (CPUID.1:ECX[15] = 0)");
	return false;
}

static bool are_passed(void)
{
	bool passed;

	if (!counter_caps()->fixed)
		return false;
	passed = msr_try_write(MSR_IA32_FIXED_CTR0, BIT(63)).raised;
	msr_write(MSR_IA32_FIXED_CTR0, 0);
	return passed;
}

bool need_emulated_counters(char *reason, size_t size)
{
	if (!are_passed())
		return true;
	fmt_print(reason, size, "counters are passed through: fixed counter 0 refuses bit 63");
	return false;
}

bool need_passed_counters(char *reason, size_t size)
{
	if (are_passed())
		return true;
	fmt_print(reason, size, "counters are emulated: fixed counter 0 takes bit 63");
	return false;
}

void guest_overflow(unsigned counter)
{
	overflow(counter, 0);
}
