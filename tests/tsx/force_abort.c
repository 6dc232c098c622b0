/* SPDX-License-Identifier: MIT */
/*
 * IA32_TSX_FORCE_ABORT: SDM volume 4, Table 2-2; Linux, tfa_pmu. Its bit 0 is set while the harness
 * runs, so that IA32_PMC3 counts.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/cpuid.h"
#include "pmu/counter.h"
#include "tests/frame/needs.h"
#include "tests/tsx/transaction.h"

#define TRIES	200u

static bool need_force_abort(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (c->tsx_force_abort && cpuid_get(CPUID_RTM) && !c->rtm_always_abort)
		return true;
	fmt_print(reason, size, "no RTM that can be forced to abort (CPUID.7H:EDX[13] = %u)",
		  c->tsx_force_abort);
	return false;
}

/*
 * SKL-19  With IA32_TSX_FORCE_ABORT[0] = 1 every RTM region must abort.
 *         SDM volume 4, Table 2-2; Linux tfa_pmu
 *
 * Given  IA32_TSX_FORCE_ABORT[0] = 1
 * When   a transaction that commits is run many times
 * Then   none commits
 * Control: with 0 some do
 */
TEST(tsx, force_abort_aborts_every_transaction, REQS(SKL_19), NEEDS(need_perfmon, need_force_abort))
{
	unsigned committed;

	msr_write(MSR_IA32_TSX_FORCE_ABORT, 0);
	committed = transaction_run(&transaction_commit, 1, TRIES);
	msr_write(MSR_IA32_TSX_FORCE_ABORT, IA32_TSX_FORCE_ABORT_RTM_FORCE_ABORT);
	CONTROL_RANGE(t, SKL_19, 1, TRIES, committed,
		      "of %u transactions committed, IA32_TSX_FORCE_ABORT = 0", TRIES);
	CHECK_EQ(t, SKL_19, 0, transaction_run(&transaction_commit, 1, TRIES),
		 "of %u transactions committed, IA32_TSX_FORCE_ABORT[0] = 1", TRIES);
}
