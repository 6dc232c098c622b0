/* SPDX-License-Identifier: MIT */
/* The self test of pmu/reset.c and pmu/found.c: the PMU can be switched off as a whole, and goes
 * back to its owner as it was. */
#include "kernel/fault.h"
#include "pmu/counter.h"
#include "pmu/found.h"
#include "tests/needs.h"
#include "tests/test.h"

#define TEXT_SIZE	96

/* Under a hypervisor, which need not offer these registers, what needs them is skipped and that is
 * all. */
TEST(selftest, the_pmu_can_be_switched_off, NO_REQS, NEEDS(need_perfmon))
{
	for (unsigned i = 0; i < RESET_ITEMS; i++) {
		struct reset_refusal refusal;
		char text[TEXT_SIZE];

		if (!reset_leaves_alone((enum reset_item)i, &refusal))
			continue;
		reset_format(&refusal, text, sizeof(text));
		if (counter_caps()->hypervisor)
			test_skip(t, "%s, by a hypervisor", text);
		else
			test_error(t, "%s", text);
		return;
	}
	HARNESS_CHECK(t, counter_reset(), "every register takes its write");
	HARNESS_CHECK(t, !(counters_status() & (IA32_PERF_GLOBAL_STATUS_LBR_FRZ |
						IA32_PERF_GLOBAL_STATUS_CTR_FRZ)),
		      "status %#lx", counters_status());
}

/* Control registers: counters go on. Other values first, so that there is something to put back. */
TEST(selftest, the_pmu_goes_back_as_it_was_found, NO_REQS, NEEDS(need_perfmon))
{
	const char *name;

	msr_write(MSR_IA32_PERFEVTSEL0, IA32_PERFEVTSEL_USR);
	name = found_differs();
	HARNESS_CHECK(t, name, "another value of IA32_PERFEVTSEL0 shows");
	counter_reset();
	found_put_back();
	name = found_differs();
	counter_reset();
	HARNESS_CHECK(t, !name, "%s isn't as it was found", name ? name : "nothing");
}
