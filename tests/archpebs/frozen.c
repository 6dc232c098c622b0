/* SPDX-License-Identifier: MIT */
/* Architectural PEBS while the counters are frozen: SDM 18.2.4.1. */
#include "kernel/interrupt/fault.h"
#include "tests/archpebs/archpebs.h"
#include "tests/measure/overflow.h"

#define CTR_FRZ		IA32_PERF_GLOBAL_STATUS_CTR_FRZ
#define WINDOWS		4u	/* each as long as one record needs */

/*
 * FRZ-26  No PEBS record may be written while CTR_Frz is set.
 *         SDM 18.2.4.1 Enhancement in IA32_PERF_GLOBAL_STATUS (records are not named)
 *
 * Given  architectural PEBS on one counter of CPUID.(23H,5):EAX and ECX at a time, but fixed
 *        counter 2, whose clock is slow, and fixed ones from 4 on; CTR_Frz set by software
 * When   its event occurs four times as often as one record needs
 * Then   WR stays 0, and no byte of the buffer is written
 * Control: once CTR_Frz is cleared there is a record of that counter
 */
TEST(archpebs, no_record_is_written_while_ctr_frz_is_set, REQS(FRZ_26),
     NEEDS(need_perfmon, need_arch_pebs, need_branches, need_version_4), .deadline_ms = 5000)
{
	FOR_EACH_COUNTER (c, counter_caps()->v6.pebs & ARCH_SURE & ~BIT(OVERFLOW_SLOW)) {
		int64_t offset = 0;

		arch_pebs_open(0, ARCH_PEBS_NEVER);
		arch_pebs_arm(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH, ROUNDS_PERIOD, 0,
			      NEVER);
		msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, CTR_FRZ);
		for (unsigned i = 0; i < WINDOWS; i++)
			workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(c));
		CHECK_EQ(t, FRZ_26, 0, arch_pebs_written(),
			 "bytes of WR while CTR_Frz is set, counter %u", c);
		CHECK(t, FRZ_26, !arch_pebs_written_outside(0, 0, &offset),
		      "no byte of the buffer, counter %u (offset %ld)", c, (long)offset);
		counters_clear(CTR_FRZ);
		for (unsigned i = 0; i < WINDOWS && !arch_pebs_written(); i++)
			workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(c));
		arch_pebs_disarm();
		if (!arch_one_record(t, CONTROL_AT(FRZ_26), 0))
			return;
		CONTROL_EQ(t, FRZ_26, BIT(c), arch_at(AT_APPLICABLE),
			   "applicable counters of the record after it");
		arch_pebs_close();
		counter_reset();
	}
}
