/* SPDX-License-Identifier: MIT */
/*
 * How an interrupt reaches the processor: with another vector, as an NMI, while interrupts are off,
 * repeatedly, at one level, after a change of the INT bit. SDM "Local Vector Table",
 * "Architectural Performance Monitoring Version 2 Facilities". "One interrupt" is one, or where
 * an erratum may repeat it as many as overflow_allowed() and overflow_extra() say.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "kernel/processor/cpu.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/frame/test.h"

#define DELIVERY_STATUS ((u32)BIT(12))	/* bit of an LVT entry; it changes by itself */

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  LVTPC with four vectors in turn
 * When   IA32_PMC0 overflows
 * Then   one interrupt is delivered, with that vector
 */
TEST(pmi, pmi_arrives_on_the_vector_in_lvtpc, REQS(PMI_01), NEEDS(need_perfmon, need_branches))
{
	static const u8 vectors[] = { VECTOR_IPI + 1, VECTOR_IPI + 6, VECTOR_TIMER - 1,
				      VECTOR_PMI };

	for (unsigned i = 0; i < sizeof(vectors); i++) {
		const struct pmi_log *log;

		pmi_open(NULL);
		apic_lvtpc_write(vectors[i] | LVT_DELIVERY_FIXED);
		overflow(0, COUNT_INT);
		log = pmi_end();
		overflow_off(0);
		if (CHECK_EQ(t, PMI_01, overflow_allowed(t, 1, log->count), log->count,
			     "interrupts, vector 0x%x in LVTPC", vectors[i]))
			CHECK_EQ(t, PMI_01, vectors[i], log->entry[0].vector, "vector");
	}
}

/* Those of vectors 16 to 31 that aren't an exception with an error code or with an interrupt
 * stack. */
static const u8 low_vectors[] = { 16, 19, 20, 22, 23, 24, 25, 26, 27, 28, 31 };
static volatile unsigned low_taken;
static volatile u8 low_vector;

static void take_low(struct trap_frame *frame)
{
	low_vector = (u8)frame->vector;
	low_taken++;
	apic_eoi();
}

#define TAKE_WINDOWS	64

/* The TPR blocks this class of vectors. It is 0 for a short time, in which interrupts are enabled
 * in short windows only. The manual doesn't say how soon a lower TPR has an effect. */
static void take_what_waits(u8 vector)
{
	u64 class = cr8_read();
	intr_handler before = intr_set_handler(vector, take_low);

	cr8_write(0);
	for (unsigned i = 0; i < TAKE_WINDOWS && !low_taken; i++)
		intr_window();
	intr_window();	/* one more */
	cr8_write(class);
	intr_set_handler(vector, before);
}

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  LVTPC with vectors from 16 to 31, which the local APIC takes: only those below 16 are
 *        illegal ("Valid Interrupt Vectors")
 * When   IA32_PMC0 overflows, and the task priority admits this class of vectors
 * Then   one interrupt is delivered, with that vector
 */
TEST(pmi, pmi_arrives_on_vectors_below_32_too, REQS(PMI_01), NEEDS(need_perfmon, need_branches))
{
	if (apic_highest_irr() || apic_highest_isr()) {
		test_skip(t, "the local APIC holds an interrupt of the firmware's: vector %#x",
			  apic_highest_irr());
		return;
	}
	for (unsigned i = 0; i < sizeof(low_vectors); i++) {
		low_taken = low_vector = 0;
		pmi_open(NULL);
		apic_lvtpc_write(low_vectors[i] | LVT_DELIVERY_FIXED);
		overflow(0, COUNT_INT);
		pmi_settle();
		intr_disable();
		take_what_waits(low_vectors[i]);
		intr_enable();
		pmi_close();
		overflow_off(0);
		if (CHECK_EQ(t, PMI_01, overflow_allowed(t, 1, low_taken), low_taken,
			     "interrupts, vector %u in LVTPC", low_vectors[i]))
			CHECK_EQ(t, PMI_01, low_vectors[i], low_vector, "vector");
	}
}

/*
 * PMI-04  Delivery of a performance-monitoring interrupt must set the mask bit of LVTPC, and only
 *         software may clear it.
 *         SDM 10.5.1 Local Vector Table
 *
 * Given  LVTPC with delivery mode NMI, unmasked, a handler that doesn't write it
 * When   IA32_PMC0 overflows, and once more after the handler
 * Then   the mask bit is set at the handler's entry and after it, and the second overflow isn't
 *        delivered
 * Control: the first one is delivered, as an NMI
 */
TEST(pmi, delivery_of_a_pmi_as_nmi_masks_lvtpc, REQS(PMI_04), NEEDS(need_perfmon, need_branches))
{
	static const struct pmi_options stay = { .nmi = true, .stay_masked = true };
	const struct pmi_log *log;

	pmi_open(&stay);
	HARNESS_CHECK(t, !(apic_lvtpc_read() & LVT_MASKED), "LVTPC's mask bit is clear");
	overflow(0, COUNT_INT);
	log = pmi_settle();
	if (CONTROL_EQ(t, PMI_04, 1, log->count, "NMIs of an overflow") &&
	    CONTROL_EQ(t, PMI_04, VECTOR_NMI, log->entry[0].vector, "vector")) {
		CHECK_EQ(t, PMI_04, LVT_MASKED, log->entry[0].lvtpc & LVT_MASKED,
			 "LVTPC's mask bit at the entry of the NMI handler");
		CHECK_EQ(t, PMI_04, LVT_MASKED, apic_lvtpc_read() & LVT_MASKED,
			 "LVTPC's mask bit after the handler, which left it alone");
		overflow_off(0);
		overflow(0, COUNT_INT);
		CHECK_EQ(t, PMI_04, 1, pmi_settle()->count,
			 "NMIs after another overflow, LVTPC still masked");
	}
	overflow_off(0);
	pmi_unmask();		/* a pending interrupt is taken here */
	pmi_end();
}

/*
 * PMI-06  The delivery mode in LVTPC, fixed or NMI, must be honoured.
 *         SDM 10.5.1 Local Vector Table
 *
 * Given  LVTPC with delivery mode NMI and one of five vectors, also those below 16, which a fixed
 *        interrupt can't have: "the vector information is ignored"
 * When   IA32_PMC0 overflows
 * Then   there is one interrupt, and it is an NMI
 */
TEST(pmi, nmi_is_delivered_whatever_the_vector_of_lvtpc, REQS(PMI_06),
     NEEDS(need_perfmon, need_branches))
{
	static const u8 vectors[] = { 0, 1, 15, 16, 255 };
	static const struct pmi_options nmi = { .nmi = true };

	for (unsigned i = 0; i < sizeof(vectors); i++) {
		const struct pmi_log *log;

		pmi_open(&nmi);
		apic_lvtpc_write(vectors[i] | LVT_DELIVERY_NMI);
		overflow(0, COUNT_INT);
		log = pmi_end();
		overflow_off(0);
		if (CHECK_EQ(t, PMI_06, overflow_allowed(t, 1, log->count), log->count,
			     "NMIs of an overflow, vector %u in LVTPC", vectors[i]))
			CHECK_EQ(t, PMI_06, VECTOR_NMI, log->entry[0].vector,
				 "vector of the interrupt, delivery mode NMI, %u in LVTPC",
				 vectors[i]);
	}
}

static void check_lvtpc(struct test *t, unsigned c, bool nmi)
{
	const struct pmi_options stay = { .nmi = nmi, .stay_masked = true };
	const struct pmi_log *log;
	u32 before;

	pmi_open(&stay);
	before = apic_lvtpc_read() & ~DELIVERY_STATUS;
	HARNESS_CHECK(t, !(before & LVT_MASKED), "LVTPC's mask bit is clear");
	overflow(c, COUNT_INT);
	log = pmi_settle();
	if (CONTROL_EQ(t, PMI_04, 1, log->count, "interrupts of counter %u, delivery mode %s", c,
		       nmi ? "NMI" : "fixed")) {
		CHECK_EQ(t, PMI_04, before | LVT_MASKED, log->entry[0].lvtpc & ~DELIVERY_STATUS,
			 "LVTPC at the handler's entry, counter %u", c);
		CHECK_EQ(t, PMI_04, before | LVT_MASKED, apic_lvtpc_read() & ~DELIVERY_STATUS,
			 "LVTPC after the handler, which left it alone, counter %u", c);
	}
	overflow_off(c);
	pmi_unmask();	/* a pending interrupt is taken here */
	pmi_end();
}

/*
 * PMI-04  Delivery of a performance-monitoring interrupt must set the mask bit of LVTPC, and only
 *         software may clear it.
 *         SDM 10.5.1 Local Vector Table
 *
 * Given  LVTPC unmasked, delivery mode fixed and then NMI, a handler that doesn't write it; each
 *        counter
 * When   it overflows
 * Then   LVTPC is unchanged except for the mask bit, which is set, at the handler's entry and after
 *        it; the delivery status (bit 12) isn't compared
 * Control: there is one interrupt
 */
TEST(pmi, delivery_of_a_pmi_changes_nothing_in_lvtpc_but_the_mask, REQS(PMI_04),
     NEEDS(need_perfmon, need_branches))
{
	const u64 all = counters_all().bits;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		for (unsigned nmi = 0; nmi < 2; nmi++)
			if (all & BIT(c) && overflow_comes(c))
				check_lvtpc(t, c, nmi);
}

/*
 * PMI-04  Delivery of a performance-monitoring interrupt must set the mask bit of LVTPC, and only
 *         software may clear it.
 *         SDM 10.5.1 Local Vector Table
 *
 * Given  LVTPC is masked, delivery mode fixed and then NMI, and IA32_PMC0 has overflowed, so that
 *        an interrupt may be waiting
 * When   LVTPC is written with its mask bit set
 * Then   nothing is delivered, and the mask bit is set
 * Control: after another write, with the mask bit clear, an overflow is delivered
 */
TEST(pmi, write_of_lvtpc_that_leaves_it_masked_delivers_nothing, REQS(PMI_04),
     NEEDS(need_perfmon, need_branches))
{
	for (unsigned nmi = 0; nmi < 2; nmi++) {
		const struct pmi_options masked = { .nmi = nmi, .masked = true };
		unsigned count;

		pmi_open(&masked);
		overflow(0, COUNT_INT);
		pmi_settle();
		pmi_mask();
		count = pmi_settle()->count;
		/* If an interrupt comes, its handler clears the mask bit. */
		if (!count || !test_erratum(t, ERRATUM_LVT_PENDING)) {
			CHECK_EQ(t, PMI_04, 0, count,
				 "interrupts after a write of LVTPC that leaves it masked, "
				 "delivery mode %s",
				 nmi ? "NMI" : "fixed");
			CHECK_EQ(t, PMI_04, LVT_MASKED, apic_lvtpc_read() & LVT_MASKED,
				 "LVTPC's mask bit after that write");
		}
		overflow_off(0);
		pmi_unmask();
		overflow(0, COUNT_INT);
		CONTROL_RANGE(t, PMI_04, 1, ~0ULL, pmi_settle()->count,
			      "interrupts of an overflow, LVTPC unmasked");
		overflow_off(0);
		pmi_close();
	}
}

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PMI-06  The delivery mode in LVTPC, fixed or NMI, must be honoured.
 *         SDM 10.5.1 Local Vector Table
 *
 * Given  RFLAGS.IF = 0
 * When   IA32_PMC0 overflows with delivery mode fixed, then with NMI
 * Then   the fixed interrupt isn't delivered before IF = 1, and then once; the NMI is delivered at
 *        once, and once
 */
TEST(pmi, fixed_pmi_waits_for_if_and_an_nmi_does_not, REQS(PMI_01, PMI_06),
     NEEDS(need_perfmon, need_branches))
{
	static const struct pmi_options nmi = { .nmi = true };
	unsigned off, all;

	pmi_open(NULL);
	intr_disable();
	overflow(0, COUNT_INT);
	off = pmi_settle()->count;
	intr_enable();
	all = pmi_settle()->count;
	CHECK_EQ(t, PMI_01, 0, off, "fixed interrupts while IF = 0");
	CHECK_EQ(t, PMI_01, overflow_allowed(t, 1, all), all, "fixed interrupts, IF = 1 again");
	pmi_close();
	overflow_off(0);

	pmi_open(&nmi);
	intr_disable();
	overflow(0, COUNT_INT);
	off = pmi_settle()->count;
	intr_enable();
	all = pmi_settle()->count;
	CHECK_EQ(t, PMI_06, overflow_allowed(t, 1, off), off, "NMIs while IF = 0");
	CHECK_EQ(t, PMI_06, overflow_allowed(t, 1, all), all, "NMIs, IF = 1 again");
	pmi_close();
	overflow_off(0);
}

/* Check each existing counter, under the requirement of its kind, and switch it off afterwards. */
static void each_counter(struct test *t, struct test_claim gp, struct test_claim fixed,
			 void (*check)(struct test *t, struct test_claim claim, unsigned c))
{
	u64 all = counters_gp().bits | counters_fixed().bits;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(all & BIT(c)))
			continue;
		check(t, PMC_IS_FIXED(c) ? fixed : gp, c);
		overflow_off(c);
	}
}

static void check_further_overflow(struct test *t, struct test_claim claim, unsigned c)
{
	pmi_open(NULL);
	for (unsigned n = 1; n <= 2; n++) {
		unsigned count;

		overflow(c, COUNT_INT);
		count = pmi_settle()->count;
		test_check_range(t, claim, n,
				 overflow_allowed(t, n, count) + n * overflow_extra(t, c), count,
				 "interrupts of %u overflows of counter %u", n, c);
	}
	pmi_close();
}

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PMI-02  The overflow of a fixed counter whose PMI bit is set must raise an interrupt through
 *         LVTPC.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  each counter with INT = 1, and a handler that clears its status and the mask of LVTPC
 * When   it overflows twice
 * Then   there is one interrupt for each overflow
 */
TEST(pmi, each_further_overflow_interrupts, REQS(PMI_01, PMI_02),
     NEEDS(need_perfmon, need_branches, need_fixed_0_to_2))
{
	each_counter(t, AT(PMI_01), AT(PMI_02), check_further_overflow);
}

static void check_beside_status(struct test *t, struct test_claim claim, unsigned c)
{
	/* Unmasking LVTPC with the bit set may interrupt once more (Linux, late_ack). */
	const u64 again = test_is_strict(t) ? 0 : 1;
	unsigned count;

	overflow(c, 0);
	test_check_eq(t, test_control(claim), BIT(c), overflow_status() & BIT(c),
		      "status bit of counter %u before", c);
	count = overflow_interrupts(c, COUNT_INT, NULL)->count;
	test_check_range(t, claim, 1,
			 overflow_allowed(t, 1, count) + overflow_extra(t, c) + again,
			 count, "interrupts of counter %u, its status bit set", c);
}

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PMI-02  The overflow of a fixed counter whose PMI bit is set must raise an interrupt through
 *         LVTPC.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  each counter; its status bit is still set from an overflow without INT, and LVTPC was
 *        never masked
 * When   it overflows with INT = 1
 * Then   there is one interrupt. A processor may add one, because the bit is set when LVTPC is
 *        opened
 * Control: the status bit was set
 */
TEST(pmi, overflow_interrupts_although_its_status_bit_is_set, REQS(PMI_01, PMI_02),
     NEEDS(need_perfmon, need_branches, need_fixed_0_to_2))
{
	each_counter(t, AT(PMI_01), AT(PMI_02), check_beside_status);
}

static void overflow_at(unsigned c, bool user)
{
	for (unsigned windows = 0; overflow_needs_window(c, windows); windows++) {
		if (!user) {
			workload_run(&workload_sled, overflow_rounds(c), pmc_one(c));
			continue;
		}
		counters_enable(pmc_one(c));
		workload_run_user(&workload_sled, overflow_rounds(c));
		counters_disable();
	}
}

static void check_one_level(struct test *t, struct test_claim claim, unsigned c)
{
	for (unsigned i = 0; i < 4; i++) {
		const struct pmi_options options = { .nmi = i & 2 };
		const bool user = i & 1;
		const struct pmi_log *log;

		if (!level_counts_despite_errata(t, c, user ? COUNT_USR : COUNT_OS))
			continue;
		pmi_open(&options);
		counter_program(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES,
				COUNT_INT | (user ? COUNT_USR : COUNT_OS));
		counter_preset(c, overflow_period(c));
		overflow_at(c, user);
		log = pmi_settle();
		if (test_check_range(t, claim, 1,
				     overflow_allowed(t, 1, log->count) +
					     overflow_extra(t, c),
				     log->count,
				     "interrupts of counter %u, which counts CPL %u only, delivery "
				     "mode %s",
				     c, user ? 3 : 0, options.nmi ? "NMI" : "fixed")) {
			test_check_eq(t, claim, options.nmi ? VECTOR_NMI : VECTOR_PMI,
				      log->entry[0].vector, "vector");
			CHECK_EQ(t, PMI_04, LVT_MASKED, log->entry[0].lvtpc & LVT_MASKED,
				 "LVTPC's mask bit at the handler's entry");
		}
		pmi_close();
		overflow_off(c);
	}
}

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PMI-02  The overflow of a fixed counter whose PMI bit is set must raise an interrupt through
 *         LVTPC.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 * PMI-04  Delivery of a performance-monitoring interrupt must set the mask bit of LVTPC, and only
 *         software may clear it.
 *         SDM 10.5.1 Local Vector Table
 *
 * Given  each counter with INT = 1 and one of OS and USR; delivery mode fixed, and NMI
 * When   it overflows at that privilege level
 * Then   there is one interrupt of that mode, and LVTPC's mask bit is set at the handler's entry
 */
TEST(pmi, overflow_interrupts_with_os_or_usr_alone, REQS(PMI_01, PMI_02, PMI_04),
     NEEDS(need_perfmon, need_branches, need_fixed_0_to_2))
{
	each_counter(t, AT(PMI_01), AT(PMI_02), check_one_level);
}

#define LATER	8192	/* events: more than during a write of a control register */

/* Set (to) or clear the INT bit of counter c while it counts towards its overflow. */
static const struct pmi_log *overflow_after_change(struct test *t, unsigned c, bool to)
{
	const u16 event = EVENT_BR_INST_RETIRED_ALL_BRANCHES;
	bool early;

	pmi_open(NULL);
	counter_program(c, event, COUNT_BOTH | (to ? 0 : COUNT_INT));
	counter_preset(c, c == OVERFLOW_SLOW ? SLOW_PERIOD : LATER);
	counters_enable(pmc_one(c));
	counter_program(c, event, COUNT_BOTH | (to ? COUNT_INT : 0));
	early = overflow_has_wrapped(c, counter_read(c));
	for (unsigned i = 0; i < SLOW_WINDOWS && !overflow_has_wrapped(c, counter_read(c)); i++)
		workload_run_uncounted(&workload_branch, SLOW_ROUNDS);
	counters_disable();
	CONTROL(t, IDS(PMI_01, PMI_02, PRIO_15),
		!early && overflow_has_wrapped(c, counter_read(c)),
		"counter %u, which wraps after its INT bit has become %u", c, to);
	return pmi_settle();
}

static void check_changed_int(struct test *t, struct test_claim claim, unsigned c)
{
	unsigned interrupts = overflow_after_change(t, c, true)->count;

	pmi_close();
	overflow_off(c);
	test_check_range(t, claim, 1,
			 overflow_allowed(t, 1, interrupts) + overflow_extra(t, c),
			 interrupts, "interrupts of counter %u, INT set while it counts", c);
	interrupts = overflow_after_change(t, c, false)->count;
	CHECK_EQ(t, PRIO_15, 0, interrupts, "interrupts of counter %u, INT cleared while it counts",
		 c);
	CHECK_EQ(t, PRIO_15, BIT(c), overflow_status() & BIT(c), "status bit of counter %u", c);
	pmi_close();
}

/*
 * PMI-01   The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *          through the local APIC's LVTPC.
 *          SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PMI-02   The overflow of a fixed counter whose PMI bit is set must raise an interrupt through
 *          LVTPC.
 *          SDM 18.2.2 Architectural Performance Monitoring Version 2
 * PRIO-15  A counter that wraps with its INT bit clear must set its overflow bit and raise no
 *          interrupt.
 *          SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  each counter counts, far from its overflow
 * When   its INT bit is set meanwhile, and it overflows; and the same with INT cleared meanwhile
 * Then   there is one interrupt if INT was set last; if it was cleared there is none, and the
 *        status bit is set
 * Control: the counter has wrapped, and not before its control register was written
 */
TEST(pmi, int_bit_written_while_the_counter_counts_acts, REQS(PMI_01, PMI_02, PRIO_15),
     NEEDS(need_perfmon, need_branches))
{
	each_counter(t, AT(PMI_01), AT(PMI_02), check_changed_int);
}
