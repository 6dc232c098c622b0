/* SPDX-License-Identifier: MIT */
/*
 * Two processors run drawn cases at the same time, each with its own cases: the counters,
 * interrupts and records of one don't affect the other. SDM "Architectural Performance Monitoring
 * Version 3", "Local Vector Table", "Writing the DS Interrupt Service Routine".
 */
#include "tests/frame/needs.h"
#include "tests/measure/two_cpus.h"
#include "tests/random/session.h"

/* The number of wrong claims, from first to last, on both processors. */
static u64 wrongs(const struct session s[2], enum draw_claim first, enum draw_claim last)
{
	u64 n = 0;

	for (unsigned side = 0; side < 2; side++)
		for (enum draw_claim claim = first; claim <= last; claim++)
			n += s[side].wrong[claim];
	return n;
}

static void decide(struct test *t, const struct session s[2], unsigned cpu)
{
	const char *name = two_cpus_name(cpu);

	CHECK_EQ(t, CNT_46, 0, wrongs(s, 0, DRAW_CLAIM_WRITTEN), "counts that are wrong, beside %s",
		 name);
	CHECK_EQ(t, MSR_37, 0, wrongs(s, DRAW_CLAIM_OVERFLOW, DRAW_CLAIM_UPPER),
		 "status and registers that are wrong, beside %s", name);
	CHECK_EQ(t, PMI_22, 0, wrongs(s, DRAW_CLAIM_PMI_GP, DRAW_CLAIM_PMI_MODE),
		 "interrupts that are wrong, beside %s", name);
	CHECK_EQ(t, PMI_23, 0, wrongs(s, DRAW_CLAIM_FREEZE, DRAW_CLAIM_FREEZE_KEPT),
		 "freezes that are wrong, beside %s", name);
	CHECK_EQ(t, DS_18, 0, wrongs(s, DRAW_CLAIM_NO_RECORD, DRAW_CLAIM_NO_OVF_BUF),
		 "records that are wrong, beside %s", name);
}

/*
 * CNT-46  While several logical processors count, a counter without AnyThread must count the
 *         events of its own and of no other.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3 (AnyThread = 0)
 * MSR-37  Each logical processor must have event selects, counters, global control and status,
 *         IA32_PEBS_ENABLE, IA32_DS_AREA and IA32_DEBUGCTL of its own.
 *         SDM Tables 35-13, 35-18 and 35-22 (scope: Thread)
 * PMI-22  The interrupt of a counter must go to the local APIC of the logical processor whose
 *         counter it is, and to no other.
 *         SDM volume 3A, Local Vector Table; 18.2 Architectural Performance Monitoring
 * PMI-23  Freezing on a PMI must stop the counters of the logical processor that has it, and no
 *         others.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; Table 35-13 (scope: Thread)
 * DS-18   Each logical processor must use the DS area of its own IA32_DS_AREA.
 *         SDM 17.4.9.5 Writing the DS Interrupt Service Routine (separate save areas for each
 *         processor)
 *
 * Given  the first processor and its sibling thread, or one of another core, each with drawn cases
 *        of its own: overflows and interrupts between reads and writes, then records on both
 * When   both draw and run at once
 * Then   each of them agrees with the oracle's result for it alone
 * Control: both have counted their programs' events
 */
TEST(random, drawn_programs_on_two_processors_leave_each_other_alone,
     REQS(CNT_46, MSR_37, PMI_22, PMI_23, DS_18),
     NEEDS(need_perfmon, need_instructions, need_branches, need_pebs, need_ds_write, need_partner))
{
	static const enum draw_class classes[][2] = { { DRAW_INTERRUPTS, DRAW_OPERATIONS_CLASS },
						      { DRAW_RECORDS, DRAW_RECORDS } };
	static struct session s[2];
	unsigned cpu = two_cpus_partner(0);

	for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (!session_run_two(t, cpu, classes[i], s))
			return;
		decide(t, s, cpu);
	}
}
