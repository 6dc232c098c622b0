/* SPDX-License-Identifier: MIT */
/* The self test of pmu/reset.c, pmu/found.c and pmu/written.c: the PMU can be switched off
 * completely, its owner gets its own values back, and writes by others are noticed. */
#include "kernel/interrupt/fault.h"
#include "pmu/counter.h"
#include "pmu/found.h"
#include "pmu/written.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"

#define TEXT_SIZE	96

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  every register that the reset writes, in the order of enum reset_item
 * When   each is written and read back
 * Then   each accepts its write, and the status shows no frozen counters or branch records. Under a
 *        hypervisor, which need not offer these registers, one that refuses makes the test a SKIP
 */
TEST(selftest, pmu_reset_writes_every_register, NO_REQS, NEEDS(need_perfmon))
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
	HARNESS_CHECK(t,
		      !(counters_status() &
			(IA32_PERF_GLOBAL_STATUS_LBR_FRZ | IA32_PERF_GLOBAL_STATUS_CTR_FRZ)),
		      "status %#lx", counters_status());
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  IA32_PERFEVTSEL0 with a value that differs from the one found when the machine was
 *        borrowed
 * When   the PMU is reset and put back
 * Then   the comparison with what was found shows no difference; counters are left out, because
 *        they go on counting
 * Control: the comparison shows the other value before the PMU is put back
 */
TEST(selftest, pmu_is_put_back_as_it_was_found, NO_REQS, NEEDS(need_perfmon))
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

/* What an SMI's handler would do: a WRMSR that nothing notes. */
static void check_noticed(struct test *t, u32 msr, u64 value)
{
	struct written_change change = { .name = NULL };

	HARNESS_CHECK(t, !written_differs(&change), "nothing shows before %#x", msr);
	msr_write(msr, value);
	HARNESS_CHECK(t, written_differs(&change) && change.msr == msr && change.value == value,
		      "%#lx in %#x shows", value, msr);
	msr_write(msr, 0);
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  IA32_FIXED_CTR_CTRL and IA32_PERF_GLOBAL_CTRL with the values that were written last
 * When   each is written by a plain WRMSR that the harness doesn't record, as the handler of an SMI
 *        could do
 * Then   the change is reported, with the register and its value
 * Control: nothing is reported before, nor after the harness has written both in its own ways
 */
TEST(selftest, control_register_that_changes_by_itself_is_noticed, NO_REQS,
     NEEDS(need_perfmon, need_fixed_0_to_2))
{
	struct written_change change;

	check_noticed(t, MSR_IA32_FIXED_CTR_CTRL, IA32_FIXED_CTR_CTRL_EN0);
	check_noticed(t, MSR_IA32_PERF_GLOBAL_CTRL, pmc_one(PMC_FIXED(0)).bits);
	/* And the ordinary ways of writing them change nothing unnoted. */
	counter_program(PMC_FIXED(0), 0, COUNT_BOTH);
	counters_enable(counters_fixed());
	counters_disable();
	HARNESS_CHECK(t, !written_differs(&change), "after writing them");
}
