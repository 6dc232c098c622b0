/* SPDX-License-Identifier: MIT */
/* Preconditions of transactions: SDM "Detection of Transactional Synchronization Support". */
#include "kernel/processor/cpuid.h"
#include "kernel/output/fmt.h"
#include "pmu/counter.h"
#include "tests/tsx/transaction.h"

#define TRANSACTION_TRIES 100

static bool transactions(bool there, const char *name, char *reason, size_t size)
{
	struct cpuid r = { 0, 0, 0, 0 };

	if (there && counter_caps()->tsx_force_abort) {
		fmt_print(reason, size,
			  "every transaction aborts while IA32_PMC3 counts, CPUID.7H:EDX[13] = 1 "
			  "(IA32_TSX_FORCE_ABORT)");
		return false;
	}
	if (there && counter_caps()->rtm_always_abort &&
	    !transaction_run(&transaction_commit, 1, TRANSACTION_TRIES)) {
		fmt_print(reason, size,
			  "none of %u transactions committed, CPUID.7H:EDX[11] = 1 "
			  "(RTM_ALWAYS_ABORT)",
			  TRANSACTION_TRIES);
		return false;
	}
	if (there)
		return true;
	if (cpuid_get(CPUID_MAX_LEAF) >= 7)
		r = cpuid_read(7, 0);
	fmt_print(reason, size, "no %s (CPUID.7H:EBX = %#x)", name, r.ebx);
	return false;
}

bool need_rtm(char *reason, size_t size)
{
	return transactions(cpuid_get(CPUID_RTM), "RTM", reason, size);
}

bool need_hle(char *reason, size_t size)
{
	return transactions(cpuid_get(CPUID_HLE), "HLE", reason, size);
}
