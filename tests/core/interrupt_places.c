/* SPDX-License-Identifier: MIT */
/*
 * Overflows on instructions that do more than count: HLT and those around it, writes of the PMU's
 * own registers. SDM "Local Vector Table", "Architectural Performance Monitoring Version 1
 * Facilities". "One interrupt" is one, or where an erratum may repeat it as many as
 * overflow_allowed() says.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/intr.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/overflow.h"

/* Disable interrupts and send another interrupt, so that the processor wakes in any case. */
static void prepare_halt(void)
{
	intr_disable();
	apic_self_ipi(VECTOR_IPI + 1);
}

static inline void halt(void)
{
	__asm__ volatile("sti; hlt" ::: "memory");
}

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  interrupts are disabled, each counter; another interrupt of the harness is pending, so
 *        that the processor wakes in any case
 * When   the counter overflows, then STI and HLT are executed
 * Then   its interrupt is delivered
 */
TEST(pmi, pmi_requested_before_hlt_is_delivered, REQS(PMI_01), NEEDS(need_perfmon, need_branches))
{
	u64 all = counters_gp().bits | counters_fixed().bits;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		const struct pmi_log *log;
		unsigned taken = 0;

		if (!(all & BIT(c)))
			continue;
		pmi_open(NULL);
		prepare_halt();
		overflow(c, COUNT_INT);
		halt();
		log = pmi_settle();
		for (unsigned i = 0; i < log->count && i < PMI_LOG_SIZE; i++)
			taken += log->entry[i].vector == VECTOR_PMI;
		pmi_close();
		overflow_off(c);
		CHECK_RANGE(t, PMI_01, 1, overflow_allowed(t, 1, taken) + overflow_extra(t, c),
			    taken, "interrupts of counter %u, HLT after its overflow", c);
	}
}

/* With a value of 0 the counter has overflowed on the WRMSR that disables it. No sentence says that
 * this still interrupts. */
static unsigned least_interrupts(const struct test *t, u64 value)
{
	return value || test_is_strict(t);
}

/* Most instructions from the write of IA32_PERF_GLOBAL_CTRL to HLT. */
#define UP_TO_HLT	32
#define LEAST_WRAPS	4	/* of STI, HLT and the instructions that stop counting */

static unsigned taken_around_hlt(unsigned c, unsigned n, u64 *value)
{
	const struct pmi_log *log;
	unsigned taken = 0;

	pmi_open(NULL);
	counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_OS | COUNT_INT);
	counter_preset(c, n);
	prepare_halt();
	counters_enable(pmc_one(c));
	halt();
	counters_disable();
	log = pmi_settle();
	for (unsigned i = 0; i < log->count && i < PMI_LOG_SIZE; i++)
		taken += log->entry[i].vector == VECTOR_PMI;
	pmi_close();
	*value = counter_read(c);
	overflow_off(c);
	return taken;
}

static void check_around_hlt(struct test *t, unsigned c)
{
	const struct test_claim claim = PMC_IS_FIXED(c) ? AT(PMI_02) : AT(PMI_01);
	unsigned wraps = 0;

	for (unsigned n = 1; n <= UP_TO_HLT; n++) {
		u64 value;
		unsigned taken = taken_around_hlt(c, n, &value);
		bool wrapped = overflow_has_wrapped(c, value);

		wraps += wrapped;
		test_check_range(t, claim, wrapped ? least_interrupts(t, value) : 0,
				 wrapped ? overflow_allowed(t, 1, taken) : 0, taken,
				 "interrupts of counter %u, overflow on instruction %u around HLT",
				 c, n);
	}
	CONTROL_RANGE(t, IDS(PMI_01, PMI_02), LEAST_WRAPS, UP_TO_HLT, wraps,
		      "overflows of counter %u", c);
}

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PMI-02  The overflow of a fixed counter whose PMI bit is set must raise an interrupt through
 *         LVTPC.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  IA32_PMC0, the last general-purpose counter and fixed counter 0 in turn count instructions
 *        at CPL 0, and are preset to overflow on each of those around HLT, itself among them
 * When   STI and HLT are executed
 * Then   one interrupt is delivered exactly if the counter has wrapped; on a processor it may be
 *        missing for an overflow on the WRMSR that stops counting
 * Control: it wraps in at least 4 of these windows
 */
TEST(pmi, overflow_on_or_around_hlt_interrupts, REQS(PMI_01, PMI_02),
     NEEDS(need_perfmon, need_instructions))
{
	const struct pmu_caps *caps = counter_caps();

	check_around_hlt(t, 0);
	check_around_hlt(t, counter_last());
	if (caps->fixed)
		check_around_hlt(t, PMC_FIXED(0));
}

/*
 * PMI-04  Delivery of a performance-monitoring interrupt must set the mask bit of LVTPC, and only
 *         software may clear it.
 *         SDM 10.5.1 Local Vector Table
 *
 * Given  LVTPC masked, as a fixed interrupt and as an NMI; a handler that doesn't write it
 * When   IA32_PMC0 overflows with INT; then software clears the mask bit. The manual doesn't say
 *        whether the interrupt is kept until then. If it isn't, nothing is decided
 * Then   the mask bit is set at the handler's entry and after it
 * Control: while LVTPC is masked there is no interrupt
 */
TEST(pmi, pmi_that_waited_for_the_unmasking_of_lvtpc_masks_it, REQS(PMI_04),
     NEEDS(need_perfmon, need_branches))
{
	for (unsigned nmi = 0; nmi < 2; nmi++) {
		const struct pmi_options options = { .nmi = nmi, .masked = true,
						     .stay_masked = true };
		const struct pmi_log *log;

		pmi_open(&options);
		overflow(0, COUNT_INT);
		CONTROL_EQ(t, PMI_04, 0, pmi_settle()->count, "interrupts, LVTPC masked, NMI = %u",
			   nmi);
		pmi_unmask();
		log = pmi_settle();
		if (!log->count) {
			test_inconclusive(t, "the interrupt isn't kept while LVTPC is masked");
			return;
		}
		CHECK_EQ(t, PMI_04, LVT_MASKED, log->entry[0].lvtpc & LVT_MASKED,
			 "LVTPC's mask bit at the handler's entry, NMI = %u", nmi);
		CHECK_EQ(t, PMI_04, LVT_MASKED, apic_lvtpc_read() & LVT_MASKED,
			 "LVTPC's mask bit after the handler, NMI = %u", nmi);
		overflow_off(0);
		pmi_close();
	}
}

#define PAIRS_OF_WRITES	2
#define MOST_TRIED	(100 * PAIRS_OF_WRITES)	/* most instructions that are tried */
#define COUNTS		5

/* Let IA32_PMC0 count instructions at CPL 0 among writes of the PMU's registers, and overflow on
 * the nth of them; 0: begin at 0. Returns the interrupts. */
static unsigned count_among_writes(unsigned n, u64 *value)
{
	unsigned interrupts;

	pmi_open(NULL);
	counter_program(0, EVENT_INST_RETIRED_ANY_P, COUNT_OS | COUNT_INT);
	counter_preset(0, n);
	counters_enable(pmc_one(0));
	for (unsigned i = 0; i < PAIRS_OF_WRITES; i++) {
		msr_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, 0);
		msr_write(MSR_IA32_PERFEVTSEL0 + 1, 0);
	}
	counters_disable();
	interrupts = pmi_settle()->count;
	pmi_close();
	*value = counter_read(0);
	overflow_off(0);
	return interrupts;
}

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  IA32_PMC0 counts instructions at CPL 0 among writes of IA32_PERF_GLOBAL_OVF_CTRL and
 *        IA32_PERFEVTSEL1, and is preset to overflow on each of these instructions in turn, whether
 *        it is a WRMSR or not
 * When   it overflows there
 * Then   there is one interrupt; on a processor it may be missing for an overflow on the WRMSR that
 *        stops counting
 * Control: begun at 0 it counts more instructions than there are WRMSRs, and it overflows on each
 */
TEST(pmi, overflow_on_a_wrmsr_of_the_pmu_interrupts, REQS(PMI_01),
     NEEDS(need_perfmon, need_instructions, need_two_counters))
{
	u64 instructions = ~0ULL, value;
	unsigned wraps = 0;

	for (unsigned i = 0; i < COUNTS; i++) { /* take the least: nothing makes one too small */
		count_among_writes(0, &value);
		instructions = value < instructions ? value : instructions;
	}
	CONTROL_RANGE(t, PMI_01, 2 * PAIRS_OF_WRITES + 1, MOST_TRIED - 1, instructions,
		      "instructions, %u WRMSRs among them", 2 * PAIRS_OF_WRITES);
	for (unsigned n = 1; n < MOST_TRIED; n++) {
		const unsigned interrupts = count_among_writes(n, &value);

		if (!overflow_has_wrapped(0, value))
			break;
		wraps++;
		if (!CHECK_RANGE(t, PMI_01, least_interrupts(t, value),
				 overflow_allowed(t, 1, interrupts), interrupts,
				 "interrupts, IA32_PMC0 overflows on instruction %u", n))
			return;
	}
	CONTROL_RANGE(t, PMI_01, instructions, MOST_TRIED - 1, wraps,
		      "overflows, one on each of %lu instructions", instructions);
}
