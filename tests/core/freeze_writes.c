/* SPDX-License-Identifier: MIT */
/*
 * Operations by software while the counters are frozen, as in an interrupt handler: writing
 * counters and event selects, running at another level, clearing all status bits at once. SDM
 * "Architectural Performance Monitoring Version 4", "Freezing LBR and Performance Counters on PMI".
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/overflow.h"

#define CTR_FRZ	IA32_PERF_GLOBAL_STATUS_CTR_FRZ
#define FREEZES	(CTR_FRZ | IA32_PERF_GLOBAL_STATUS_LBR_FRZ)

/* Enable all counters while CTR_Frz is set by software. */
static void start_frozen(void)
{
	const u64 all = counters_all().bits;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (all & BIT(c)) {
			counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
			counter_write(c, 0);
		}
	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, CTR_FRZ);
	counters_enable(counters_all());
}

static void end(void)
{
	const u64 all = counters_all().bits;

	counters_disable();
	counters_clear(overflow_status());
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (all & BIT(c))
			counter_program_disabled(c, 0, 0);
}

/* Run long enough for each counter to count, even one with a slow clock. */
static void work(bool user)
{
	if (user)
		workload_run_user(&workload_branch, SLOW_ROUNDS);
	else
		workload_run_uncounted(&workload_branch, SLOW_ROUNDS);
}

/* A value that no other counter has. */
static u64 own(unsigned c)
{
	return 0x01000000ULL + 0x10000 * c;
}

/* The events of fixed counters 4 and up may not occur in this work. */
static bool moves(unsigned c)
{
	return c <= PMC_FIXED(3);
}

/*
 * MSR-28  A read/write register of the PMU must read back the legal value that was written to it.
 *         SDM Table 35-2 IA-32 Architectural MSRs (Read/Write registers), Table 35-13
 * PMI-16  While CTR_FRZ is set no core counter may advance, and clearing it must let them go on.
 *         SDM 18.2.4 Architectural Performance Monitoring Version 4
 * CNT-44  A counter must go on counting from the value written to it while it was stopped.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  CTR_Frz is set by software, all counters are enabled
 * When   each counter and then each event select and IA32_FIXED_CTR_CTRL is written, and work is
 *        done
 * Then   each counter reads the value that was written to it, CTR_Frz is still set, and no counter
 *        moves
 * Control: once CTR_Frz is cleared each counter goes on counting from there
 */
TEST(pmi, counters_written_while_frozen_keep_their_value_and_stay_frozen,
     REQS(MSR_28, PMI_16, CNT_44), NEEDS(need_perfmon, need_instructions, need_version_4))
{
	const u64 all = counters_all().bits, stops = overflow_freezable(t);

	start_frozen();
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (all & BIT(c)) {
			counter_write(c, own(c));
			if (stops & BIT(c))
				CHECK_EQ(t, MSR_28, own(c), counter_read(c),
					 "counter %u, written while CTR_FRZ was set", c);
		}
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (all & BIT(c)) {
			counter_program(c, 0, 0);
			counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
			CHECK_EQ(t, PMI_16, CTR_FRZ, overflow_status(),
				 "status after the enables of counter %u were written, frozen", c);
		}
	work(false);
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (stops & BIT(c))
			CHECK_EQ(t, PMI_16, own(c), counter_read(c),
				 "counter %u after work, written while CTR_FRZ was set", c);
	counters_clear(CTR_FRZ);
	work(false);
	counters_disable();
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (all & BIT(c) && moves(c))
			CHECK_RANGE(t, CNT_44, own(c) + 1, ~0ULL, counter_read(c),
				    "counter %u once CTR_FRZ is cleared", c);
	end();
}

/*
 * PMI-16  While CTR_FRZ is set no core counter may advance, and clearing it must let them go on.
 *         SDM 18.2.4 Architectural Performance Monitoring Version 4
 * FRZ-02  CTR_Frz must stop the fixed counters too.
 *         SDM 18.2.4.1 Enhancement in IA32_PERF_GLOBAL_STATUS
 *
 * Given  CTR_Frz is set by software, all counters are enabled, and the overflow bit of each is set
 * When   work is done at CPL 3; one write to IA32_PERF_GLOBAL_STATUS_RESET clears all these bits,
 *        LBR_Frz and CTR_Frz, as a handler does; work is done at CPL 3, and at CPL 0
 * Then   no counter moves before that write; after it each does, at either level
 */
TEST(pmi, ctr_frz_stops_counters_at_cpl_3_until_one_write_clears_all_bits, REQS(PMI_16, FRZ_02),
     NEEDS(need_perfmon, need_instructions, need_version_4))
{
	const u64 all = counters_all().bits, stops = overflow_freezable(t);
	u64 before[WINDOW_COUNTERS] = { 0 };

	start_frozen();
	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, all | FREEZES);
	work(true);
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (stops & BIT(c))
			CHECK_EQ(t, IDS(PMI_16, FRZ_02), 0, counter_read(c),
				 "counter %u after work at CPL 3, frozen", c);
	counters_clear(all | FREEZES);
	CHECK_EQ(t, PMI_16, 0, overflow_status() & FREEZES,
		 "CTR_FRZ and LBR_FRZ, cleared with all others");
	for (unsigned user = 2; user-- > 0;) {
		work(user);
		for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
			u64 value = all & BIT(c) ? counter_read(c) : 0;

			if (all & BIT(c) && moves(c))
				CHECK_RANGE(t, PMI_16, before[c] + 1, ~0ULL, value,
					    "counter %u after work at CPL %u, CTR_FRZ cleared with "
					    "all other bits",
					    c, user ? 3 : 0);
			before[c] = value;
		}
	}
	end();
}

/* Let counter c overflow with its interrupt and freeze; the handler doesn't change status and
 * enables. */
static const struct pmi_log *freeze_by(unsigned c)
{
	static const struct pmi_options leave = {
		.keep_status = true, .keep_counting = true, .stay_masked = true,
	};

	pmi_open(&leave);
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	overflow(c, COUNT_INT);
	return pmi_settle();
}

/*
 * FRZ-05  Clearing CTR_Frz alone must let the counters that IA32_PERF_GLOBAL_CTRL enables go on.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; 18.2.4.1
 * FRZ-07  Two reads of a frozen counter must give the same value.
 *         SDM 18.2.4.1 Enhancement in IA32_PERF_GLOBAL_STATUS
 *
 * Given  IA32_DEBUGCTL[12] = 1; each counter in turn, fixed counters from 4 on left out, which
 *        count what may not occur, has overflowed with its interrupt and is enabled
 * When   work is done; CTR_Frz alone is cleared, the counter's overflow bit is still set, and work
 *        is done
 * Then   that counter doesn't move, and then it does
 * Control: there was one interrupt, and CTR_Frz and the counter's bit are set
 */
TEST(pmi, counter_that_froze_goes_on_once_ctr_frz_alone_is_cleared, REQS(FRZ_05, FRZ_07),
     NEEDS(need_perfmon, need_branches, need_version_4, need_freeze))
{
	const u64 all = counters_all().bits, stops = overflow_freezable(t);

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		const struct pmi_log *log;
		u64 frozen;

		if (!(all & BIT(c)) || !moves(c))
			continue;
		log = freeze_by(c);
		CONTROL_EQ(t, IDS(FRZ_05, FRZ_07), 1, log->count, "interrupts of counter %u", c);
		CONTROL_EQ(t, IDS(FRZ_05, FRZ_07), CTR_FRZ | BIT(c),
			   overflow_status() & ~overflow_bit_set_again(t, c),
			   "status after the overflow of counter %u", c);
		counters_enable(pmc_one(c));
		frozen = counter_read(c);
		work(false);
		if (stops & BIT(c))
			CHECK_EQ(t, FRZ_07, frozen, counter_read(c),
				 "counter %u, which froze by its overflow, after more work", c);
		counters_clear(CTR_FRZ);
		CHECK_EQ(t, FRZ_05, BIT(c), overflow_status() & ~overflow_bit_set_again(t, c),
			 "status after CTR_FRZ alone was cleared, counter %u", c);
		work(false);
		counters_disable();
		CHECK_RANGE(t, FRZ_05, frozen + 1, ~0ULL, counter_read(c),
			    "counter %u after work, CTR_FRZ alone cleared", c);
		msr_write(MSR_IA32_DEBUGCTL, 0);
		counter_program_disabled(c, 0, 0);
		counters_clear(overflow_status());
		pmi_close();
	}
}

/* The count of IA32_PMC2 in a window in which IA32_PMC0 and IA32_PMC1 overflow on one branch.
 * interrupting: those of the two whose INT bit is set. The handler leaves the counters on. */
static u64 witness(u64 debugctl, u64 interrupting)
{
	static const struct pmi_options leave = {
		.keep_status = true, .keep_counting = true, .stay_masked = true,
	};
	u64 value;

	pmi_open(&leave);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	for (unsigned c = 0; c < 2; c++)
		overflow_prepare(c, interrupting & BIT(c) ? COUNT_INT : 0);
	counter_program(2, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(2, 0);
	workload_run(&workload_long_sled, PERIOD, (struct pmc_mask){ BITS(0, 2) });
	value = counter_read(2);
	overflow_close_window(3);
	return value;
}

/*
 * PMI-17  Freezing must take effect at the overflow, not at the delivery of its interrupt.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_PMC0 and IA32_PMC1 count the same event from the same value, so that both overflow
 *        early in the window; one of them, or both, with INT; IA32_PMC2 counts instructions
 * When   IA32_DEBUGCTL[12] = 1
 * Then   IA32_PMC2 stops before the end of the window, of the reference PMU before half of it
 * Control: with IA32_DEBUGCTL[12] = 0 it counts the whole window
 */
TEST(pmi, two_counters_that_overflow_together_freeze, REQS(PMI_17),
     NEEDS(need_perfmon, need_branches, need_instructions, need_freeze, need_four_counters))
{
	const u64 whole = workload_declared(&workload_long_sled, WORKLOAD_INSTRUCTIONS, PERIOD);

	for (u64 interrupting = 1; interrupting <= 3; interrupting++) {
		CONTROL_RANGE(t, PMI_17, whole, ~0ULL, witness(0, interrupting),
			      "instructions of the window, no freeze, INT of counters %lx",
			      interrupting);
		CHECK_RANGE(t, PMI_17, 1, overflow_before_freeze(t, whole),
			    witness(IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI, interrupting),
			    "instructions until the freeze, INT of counters %lx of two that "
			    "overflow together",
			    interrupting);
	}
}
