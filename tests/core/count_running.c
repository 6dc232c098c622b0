/* SPDX-License-Identifier: MIT */
/* Counters whose setting is written while they count: SDM "Architectural Performance Monitoring
 * Version 1 Facilities" and "Version 2". */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/window.h"

#define ROUNDS		200u
#define CMASK_MOST	((u64)255 << IA32_PERFEVTSEL_CMASK_SHIFT)

/* What the counter adds while ROUNDS rounds run at CPL 0. */
static u64 gain(unsigned counter)
{
	const u64 before = counter_read(counter);

	workload_run_uncounted(&workload_branch, ROUNDS);
	return counter_read(counter) - before;
}

/*
 * CNT-10  A counter must count only at the privilege levels that its OS and USR bits select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: USR, OS
 * CNT-07  With CMASK = n > 0 a counter must count the cycles in which at least n events occurred.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: CMASK
 *
 * Given  each counter counts branches, enabled once
 * When   its event select is written while it counts: USR, OS, both, CMASK 255, both
 * Then   with OS or both it counts at least one a round of a workload at CPL 0; with USR, and with
 *        CMASK 255, which no cycle reaches, it counts none
 */
TEST(count, event_select_that_is_written_while_its_counter_counts_takes_effect,
     REQS(CNT_10, CNT_07), NEEDS(need_perfmon, need_branches))
{
	static const struct {
		const char *name;
		u64 bits;
		bool counts;
	} steps[] = {
		{ "USR", COUNT_USR, false },
		{ "OS", COUNT_OS, true },
		{ "USR again", COUNT_USR, false },
		{ "both", COUNT_BOTH, true },
		{ "CMASK 255", COUNT_BOTH | CMASK_MOST, false },
		{ "CMASK 0", COUNT_BOTH, true },
	};

	for (u64 left = counters_for(EVENT_BR_INST_RETIRED_ALL_BRANCHES).bits; left;
	     left &= left - 1) {
		const unsigned c = (unsigned)__builtin_ctzll(left);

		if (!level_counts_despite_errata(t, c, COUNT_OS) ||
		    !level_counts_despite_errata(t, c, COUNT_USR))
			continue;
		counter_program(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH);
		counter_write(c, 0);
		counters_enable(pmc_one(c));
		for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			const u64 least = steps[i].counts ? ROUNDS : 0;

			msr_write(MSR_IA32_PERFEVTSEL0 + c, EVENT_BR_INST_RETIRED_ALL_BRANCHES |
								    IA32_PERFEVTSEL_EN |
								    steps[i].bits);
			CHECK_RANGE(t, IDS(CNT_10, CNT_07), least, least ? ~0ULL : 0, gain(c),
				    "branches at CPL 0, IA32_PMC%u, %s since it counts", c,
				    steps[i].name);
		}
		counters_disable();
		counter_program_disabled(c, 0, 0);
	}
}

/*
 * CNT-28  A fixed counter must count only at the privilege levels that its two enable bits select.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  fixed counters 0 to 2, each enabled once in IA32_PERF_GLOBAL_CTRL
 * When   its field of IA32_FIXED_CTR_CTRL is written while it counts: USR, OS, USR, both
 * Then   with OS or both it counts during a workload at CPL 0, and with USR it doesn't
 */
TEST(count, fixed_counter_levels_that_are_written_while_it_counts_take_effect, REQS(CNT_28),
     NEEDS(need_perfmon, need_fixed_0_to_2))
{
	enum { OS = 1, USR = 2 };
	static const u8 fields[] = { USR, OS, USR, OS | USR };

	for (unsigned n = 0; n < counter_caps()->fixed && n < 3; n++) {
		const unsigned c = PMC_FIXED(n);

		if (!level_counts_despite_errata(t, c, COUNT_OS) ||
		    !level_counts_despite_errata(t, c, COUNT_USR))
			continue;
		counter_program(c, 0, COUNT_BOTH);
		counter_write(c, 0);
		counters_enable(pmc_one(c));
		for (unsigned i = 0; i < sizeof(fields); i++) {
			const u64 least = fields[i] & OS ? 1 : 0;

			msr_write(MSR_IA32_FIXED_CTR_CTRL,
				  (u64)fields[i] << n * IA32_FIXED_CTR_CTRL_EN1_SHIFT);
			CHECK_RANGE(t, CNT_28, least, least ? ~0ULL : 0, gain(c),
				    "fixed counter %u at CPL 0, enable field %u since it counts", n,
				    fields[i]);
		}
		counters_disable();
		counter_program_disabled(c, 0, 0);
	}
}
