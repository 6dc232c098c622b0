/* SPDX-License-Identifier: MIT */
/*
 * The existing fixed counters, and the facilities of each: SDM volume 1, CPUID leaf 0AH;
 * "Architectural Performance Monitoring Version 2 Facilities", Figure 18-7; volume 2 RDPMC. From
 * version 5 on CPUID.0AH:ECX has a bit for each, and AnyThread may be deprecated
 * (CPUID.0AH:EDX[15]).
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/cpuid.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/overflow.h"
#include "tests/measure/window.h"

#define FIXED_MOST	16u	/* counters with a field in IA32_FIXED_CTR_CTRL */
#define FIELD(i)	(0xfULL << 4 * (i))
#define AT_CPL_0	0x1ULL
#define ABOVE_CPL_0	0x2ULL
#define ANY_THREAD	0x4ULL
#define METRICS_CLEAR	14	/* ANY_THREAD of fixed counter 3 is this bit */
#define ROUNDS		200
#define SLOT_ROUNDS	4000
#define LINE		64u
/* Fixed counters of E-cores, from Skymont on. */
#define BAD_SPECULATION	4u
#define FRONT_END	5u
#define RETIRING	6u

static bool need_version_5(char *reason, size_t size)
{
	if (counter_caps()->version >= 5 && !counter_caps()->told_less)
		return true;
	fmt_print(reason, size, "architectural monitoring version %u%s (CPUID.0AH:EAX = %#x)",
		  counter_caps()->version,
		  counter_caps()->told_less ? ", counters not reported" : "",
		  counter_caps()->leaf_0a_eax);
	return false;
}

static bool need_no_any_thread(char *reason, size_t size)
{
	if (need_perfmon(reason, size) && cpuid_get(CPUID_ANYTHREAD_DEPRECATED))
		return true;
	fmt_print(reason, size, "CPUID.0AH:EDX[15] is 0 (EDX = %#x)", counter_caps()->leaf_0a_edx);
	return false;
}

/*
 * FIX-01  Fixed counter i must exist if and only if CPUID.0AH:ECX[i] is 1 or EDX[4:0] is above i;
 *         else its MSR and RDPMC of 40000000H + i must raise #GP.
 *         SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 0AH
 *
 * Given  CPUID.0AH:ECX and EDX[4:0]
 * When   the register of each fixed counter, 309H + i, is read, and RDPMC of 40000000H + i executed
 * Then   neither raises #GP for one that CPUID names; RDPMC of another one does, and so does
 *        RDMSR of the one after the last, whose address is no other register
 */
TEST(enumeration, fixed_counter_exists_if_cpuid_names_it, REQS(FIX_01),
     NEEDS(need_perfmon, need_version_5, need_refused_msrs), .under_every_fault = true)
{
	const u32 mask = counter_caps()->fixed_mask;

	for (unsigned i = 0; i < FIXED_MOST; i++) {
		bool there = mask & BIT(i);
		u64 value = 0;

		if (there || (i && mask & BIT(i - 1)))
			CHECK_EQ(t, FIX_01, !there,
				 fault_is_gp(msr_try_read(MSR_IA32_FIXED_CTR0 + i, &value)),
				 "#GP of RDMSR of %#x, fixed counter %u, CPUID.0AH:ECX = %#x",
				 MSR_IA32_FIXED_CTR0 + i, i, counter_caps()->leaf_0a_ecx);
		CHECK_EQ(t, FIX_01, !there, fault_is_gp(rdpmc_try((u32)RDPMC_FIXED + i, &value)),
			 "#GP of RDPMC of fixed counter %u, CPUID.0AH:ECX = %#x EDX = %#x", i,
			 counter_caps()->leaf_0a_ecx, counter_caps()->leaf_0a_edx);
	}
}

#define EN_METRICS	IA32_PERF_GLOBAL_CTRL_EN_PERF_METRICS_SHIFT

/* The lowest absent fixed counter that is below an existing one; 0: there is none. */
static unsigned hole(void)
{
	const u32 mask = counter_caps()->fixed_mask;
	const unsigned i = (unsigned)__builtin_ctz(~mask);

	return mask >> i ? i : 0;
}

static bool need_hole(char *reason, size_t size)
{
	if (hole())
		return true;
	fmt_print(reason, size, "no gap between the fixed counters (their mask is %#x)",
		  counter_caps()->fixed_mask);
	return false;
}

/* true: a write of that value raises #GP, and the register still reads 0. */
static bool refused_write(u32 msr, u64 value)
{
	bool refusal = fault_is_gp(msr_try_write(msr, value)) && !msr_read(msr);

	msr_write(msr, 0);
	return refusal;
}

/*
 * FIX-02  Where CPUID's mask of fixed counters has a 0 below a 1, that counter must be missing
 *         everywhere: its MSR, RDPMC and its bits of IA32_FIXED_CTR_CTRL, IA32_PERF_GLOBAL_CTRL
 *         and IA32_PEBS_ENABLE raise #GP.
 *         SDM volume 1, CPUID leaf 0AH, ECX; CPUID leaf 23H; Linux intel_pmu_init_skt
 *
 * Given  each fixed counter that is missing in CPUID's mask and whose number is below that of one
 *        in the mask
 * When   its MSR is read and written; RDPMC of it is executed; each of its bits of
 *        IA32_FIXED_CTR_CTRL but AnyThread's, its bit of IA32_PERF_GLOBAL_CTRL and, where there is
 *        that register, of IA32_PEBS_ENABLE is written
 * Then   each of them raises #GP, and the registers stay 0
 * Control: the same of the counters around them, which CPUID names, is accepted
 */
TEST(fixed, counter_that_the_mask_leaves_out_is_missing_everywhere, REQS(FIX_02),
     NEEDS(need_perfmon, need_hole, need_refused_msrs))
{
	const u32 mask = counter_caps()->fixed_mask;

	for (unsigned i = hole() - 1; mask >> i; i++) {
		const u32 msr = MSR_IA32_FIXED_CTR0 + i;
		const bool out = !(mask >> i & 1);
		const struct test_claim claim = out ? AT(FIX_02) : CONTROL_AT(FIX_02);
		u64 value;

		test_check_eq(t, claim, out, fault_is_gp(msr_try_read(msr, &value)),
			      "#GP of RDMSR of fixed counter %u", i);
		test_check_eq(t, claim, out, fault_is_gp(msr_try_write(msr, 0)),
			      "#GP of WRMSR of fixed counter %u", i);
		test_check_eq(t, claim, out, fault_is_gp(rdpmc_try((u32)RDPMC_FIXED + i, &value)),
			      "#GP of RDPMC of fixed counter %u", i);
		for (unsigned bit = 0; bit < 4; bit++)
			if (BIT(bit) != ANY_THREAD)
				test_check_eq(t, claim, out,
					      refused_write(MSR_IA32_FIXED_CTR_CTRL,
							    BIT(4 * i + bit)),
					      "#GP of IA32_FIXED_CTR_CTRL[%u]", 4 * i + bit);
		test_check_eq(t, claim, out, refused_write(MSR_IA32_PERF_GLOBAL_CTRL,
							   BIT(PMC_FIXED(i))),
			      "#GP of IA32_PERF_GLOBAL_CTRL[%u]", PMC_FIXED(i));
		if (counter_caps()->baseline)
			test_check_eq(t, claim, out,
				      refused_write(MSR_IA32_PEBS_ENABLE, BIT(PMC_FIXED(i))),
				      "#GP of IA32_PEBS_ENABLE[%u]", PMC_FIXED(i));
	}
}

/*
 * FIX-03  A write that sets a bit of IA32_PERF_GLOBAL_CTRL of a counter that doesn't exist must
 *         raise #GP.
 *         Linux, KVM
 *
 * Given  the counters that CPUID reports; IA32_PERF_CAPABILITIES[15] gives bit 48 to the metrics
 * When   each bit of IA32_PERF_GLOBAL_CTRL is written, on a P-core of a hybrid without that bit not
 *        bit 48
 * Then   those of a counter are read back, each other one raises #GP and changes nothing
 */
TEST(msr, global_control_has_a_bit_for_each_counter_and_no_other, REQS(FIX_03),
     NEEDS(need_perfmon, need_not_hybrid, need_refused_msrs))
{
	u64 named = counters_gp().bits | (u64)counter_caps()->fixed_mask << 32;

	if (counter_caps()->metrics)
		named |= IA32_PERF_GLOBAL_CTRL_EN_PERF_METRICS;
	for (unsigned bit = 0; bit < 64; bit++) {
		u64 others = named & ~BIT(bit), kept = others & -others;

		if (counter_caps()->metrics_open && bit == EN_METRICS)
			continue;
		msr_write(MSR_IA32_PERF_GLOBAL_CTRL, kept);
		CHECK_EQ(t, FIX_03, !(named & BIT(bit)),
			 fault_is_gp(msr_try_write(MSR_IA32_PERF_GLOBAL_CTRL, BIT(bit))),
			 "#GP of IA32_PERF_GLOBAL_CTRL[%u]", bit);
		CHECK_EQ(t, FIX_03, named & BIT(bit) ? BIT(bit) : kept,
			 msr_read(MSR_IA32_PERF_GLOBAL_CTRL), "IA32_PERF_GLOBAL_CTRL after it");
	}
	counters_disable();
}

/*
 * FIX-04  A write that sets a bit of IA32_FIXED_CTR_CTRL of a counter that doesn't exist must
 *         raise #GP.
 *         KVM
 *
 * Given  the fixed counters that CPUID reports
 * When   each of the four bits of each absent fixed counter, up to 15, is written
 * Then   #GP is raised and IA32_FIXED_CTR_CTRL keeps its value
 * Control: it was accepted
 */
TEST(msr, fixed_control_has_no_bits_of_other_counters, REQS(FIX_04),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_not_hybrid, need_refused_msrs))
{
	const u64 kept = FIELD(0) & ~ANY_THREAD;
	/* From 8 on the bits are those of Adaptive_Record where baseline is 1, and the RDPMC
	 * user-mode disable bits where CPUID.(23H,0):EBX[2] is 1. */
	const bool others = counter_caps()->baseline || counter_caps()->v6.rdpmc_user_disable;
	const unsigned end = others ? 8 : FIXED_MOST;

	msr_write(MSR_IA32_FIXED_CTR_CTRL, kept);
	CONTROL_EQ(t, FIX_04, kept, msr_read(MSR_IA32_FIXED_CTR_CTRL), "IA32_FIXED_CTR_CTRL");
	for (unsigned i = 0; i < end; i++) {
		if (counter_caps()->fixed_mask & BIT(i))
			continue;
		for (unsigned bit = 0; bit < 4; bit++)
			CHECK(t, FIX_04,
			      fault_is_gp(msr_try_write(MSR_IA32_FIXED_CTR_CTRL, BIT(4 * i + bit))),
			      "#GP of IA32_FIXED_CTR_CTRL[%u], of fixed counter %u", 4 * i + bit,
			      i);
	}
	CHECK_EQ(t, FIX_04, kept, msr_read(MSR_IA32_FIXED_CTR_CTRL),
		 "IA32_FIXED_CTR_CTRL after the refused writes");
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 0);
}

static u64 count_at(unsigned i, u64 bits, bool user)
{
	msr_write(MSR_IA32_FIXED_CTR_CTRL, bits << 4 * i);
	counter_write(PMC_FIXED(i), 0);
	counters_enable(pmc_one(PMC_FIXED(i)));
	if (user)
		workload_run_user(&workload_load, ROUNDS);
	else
		workload_run_uncounted(&workload_load, ROUNDS);
	counters_disable();
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 0);
	return counter_read(PMC_FIXED(i));
}

/*
 * FIX-05  Of the four bits of a fixed counter in IA32_FIXED_CTR_CTRL, bit 0 must enable it at CPL
 *         0, bit 1 above CPL 0, and bit 3 its interrupt.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2, Figure 18-7; Linux
 *
 * Given  each fixed counter (from 4 on, if its events come), one of its enable bits set in
 *        IA32_FIXED_CTR_CTRL
 * When   a loop runs at CPL 0; at CPL 3; and the counter overflows with bit 3 clear and set
 * Then   at CPL 0 bit 0 counts the loop and bit 1 alone counts nothing of it; at CPL 3 bit 1 counts
 *        more. There is an interrupt with bit 3 set, and none without
 */
TEST(fixed, bits_of_each_counter_are_enables_and_interrupt, REQS(FIX_05),
     NEEDS(need_perfmon, need_fixed_0_to_2), .under_every_fault = true)
{
	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask) {
		const unsigned c = PMC_FIXED(i);

		if (!overflow_comes(c))
			continue;
		CHECK_RANGE(t, FIX_05, 1, ~0ULL, count_at(i, AT_CPL_0, false),
			    "fixed counter %u at CPL 0, bit 0", i);
		CHECK_EQ(t, FIX_05, 0, count_at(i, ABOVE_CPL_0, false),
			 "fixed counter %u at CPL 0, bit 1", i);
		CHECK_RANGE(t, FIX_05, 1, ~0ULL, count_at(i, ABOVE_CPL_0, true),
			    "fixed counter %u at CPL 3, bit 1", i);
		CHECK_EQ(t, FIX_05, 0, overflow_interrupts(c, 0, NULL)->count,
			 "interrupts of fixed counter %u, bit 3 clear", i);
		overflow_off(c);
		CHECK_RANGE(t, FIX_05, 1, 1 + overflow_extra(t, c),
			    overflow_interrupts(c, COUNT_INT, NULL)->count,
			    "interrupts of fixed counter %u, bit 3 set", i);
		overflow_off(c);
	}
}

/*
 * FIX-17  IA32_PERF_GLOBAL_STATUS[32+i] must show the overflow of fixed counter i, and
 *         IA32_PERF_GLOBAL_OVF_CTRL[32+i] must clear it, for each fixed counter.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2; Linux
 *
 * Given  each fixed counter whose events are sure to occur: those from 4 on count slots of bad
 *        speculation and similar events
 * When   it overflows
 * Then   IA32_PERF_GLOBAL_STATUS has bit 32+i and no other counter's, and
 *        IA32_PERF_GLOBAL_OVF_CTRL[32+i] clears it
 */
TEST(fixed, status_has_a_bit_for_each_counter, REQS(FIX_17), NEEDS(need_perfmon, need_fixed_0_to_2),
     .under_every_fault = true)
{
	const u64 counters = counters_all().bits;

	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask) {
		const unsigned c = PMC_FIXED(i);
		const u64 looked_at = counters & ~overflow_bit_set_again(t, c);

		if (!overflow_comes(c))
			continue;
		overflow(c, 0);
		counter_program_disabled(c, 0, 0);
		CHECK_EQ(t, FIX_17, BIT(c), counters_status() & looked_at,
			 "status after the overflow of fixed counter %u", i);
		counters_clear(BIT(c));
		if (!overflow_extra(t, c))
			CHECK_EQ(t, FIX_17, 0, counters_status() & looked_at,
				 "status after clearing bit %u", c);
	}
}

/*
 * FIX-18  RDPMC of 40000000H + i must return fixed counter i, with the bits above its width 0.
 *         SDM volume 2 RDPMC
 *
 * Given  each fixed counter holds its highest value, and after that a value that differs from the
 *        others'
 * When   RDPMC of 40000000H + i is executed
 * Then   it returns the value, with the bits above the counter's width 0
 */
TEST(msr, rdpmc_reads_each_fixed_counter_zero_extended, REQS(FIX_18),
     NEEDS(need_perfmon, need_fixed_0_to_2), .under_every_fault = true)
{
	const u64 ones = BIT(counter_caps()->fixed_width) - 1;

	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask) {
		const u64 own = ones / 3 + i;

		counter_write(PMC_FIXED(i), ones);
		CHECK_EQ(t, FIX_18, ones, rdpmc((u32)RDPMC_FIXED + i),
			 "RDPMC of fixed counter %u, all ones", i);
		counter_write(PMC_FIXED(i), own);
		CHECK_EQ(t, FIX_18, own, rdpmc((u32)RDPMC_FIXED + i), "RDPMC of fixed counter %u",
			 i);
	}
}

/*
 * FIX-06  Bits 2, 6 and 10 of IA32_FIXED_CTR_CTRL must be reserved where CPUID.0AH:EDX[15] is 1.
 *         SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 0AH,
 *         EDX[15]; KVM
 *
 * Given  CPUID.0AH:EDX[15] = 1; fixed counters 0 to 2 enabled
 * When   bits 2, 6 and 10 of IA32_FIXED_CTR_CTRL are written
 * Then   #GP is raised and the register keeps its value
 * Control: it was accepted
 */
TEST(msr, any_thread_bits_of_fixed_counters_are_reserved, REQS(FIX_06),
     NEEDS(need_no_any_thread, need_fixed_0_to_2, need_refused_msrs))
{
	const u64 kept = 0xbbb, other = 0x111;

	msr_write(MSR_IA32_FIXED_CTR_CTRL, kept);
	CONTROL_EQ(t, FIX_06, kept, msr_read(MSR_IA32_FIXED_CTR_CTRL), "IA32_FIXED_CTR_CTRL");
	for (unsigned i = 0; i < 3; i++)
		CHECK(t, FIX_06,
		      fault_is_gp(
			      msr_try_write(MSR_IA32_FIXED_CTR_CTRL, other | ANY_THREAD << 4 * i)),
		      "#GP of IA32_FIXED_CTR_CTRL[%u]", 4 * i + 2);
	CHECK_EQ(t, FIX_06, kept, msr_read(MSR_IA32_FIXED_CTR_CTRL),
		 "IA32_FIXED_CTR_CTRL after the refused writes");
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 0);
}

/*
 * FIX-07  IA32_PERFEVTSELx[21] must be reserved where CPUID.0AH:EDX[15] is 1.
 *         SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 0AH,
 *         EDX[15]; KVM
 *
 * Given  CPUID.0AH:EDX[15] = 1; each event select with an event
 * When   bit 21 is set together with it
 * Then   #GP is raised and the register keeps its value
 * Control: it was accepted
 */
TEST(msr, any_thread_bit_of_an_event_select_is_reserved, REQS(FIX_07),
     NEEDS(need_no_any_thread, need_refused_msrs))
{
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		const u32 msr = MSR_IA32_PERFEVTSEL0 + c;
		const u64 kept = 0x0300c4, other = 0x0100c0;	/* USR and OS, USR */

		msr_write(msr, kept);
		CONTROL_EQ(t, FIX_07, kept, msr_read(msr), "IA32_PERFEVTSEL%u", c);
		CHECK(t, FIX_07, fault_is_gp(msr_try_write(msr, other | IA32_PERFEVTSEL_ANY)),
		      "#GP of IA32_PERFEVTSEL%u[21]", c);
		CHECK_EQ(t, FIX_07, kept, msr_read(msr), "IA32_PERFEVTSEL%u after it", c);
		msr_write(msr, 0);
	}
}

/*
 * FIX-08  The number of general-purpose counters must be 8 with Hyper-Threading and without.
 *         intel/perfmon README
 *
 * Given  a processor of Ice Lake's kind, with one logical processor a core or with two
 * When   CPUID.0AH:EAX[15:8] is read, and each of the eight counters counts branches
 * Then   it is 8, and each counts
 */
TEST(fixed, eight_general_purpose_counters_exist_with_two_threads_a_core, REQS(FIX_08),
     NEEDS(need_perfmon, need_not_hybrid, need_events, need_baseline, need_branches))
{
	CHECK_EQ(t, FIX_08, 8, counter_caps()->gp_enumerated, "CPUID.0AH:EAX[15:8]");
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		u64 less, more;

		if (!window_count_one(t, c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH,
				      &workload_load, ROUNDS, &less) ||
		    !window_count_one(t, c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH,
				      &workload_load, 2 * ROUNDS, &more))
			return;
		CHECK_RANGE(t, FIX_08, less + 1, ~0ULL, more,
			    "branches of twice the rounds, IA32_PMC%u, against %lu", c, less);
	}
}

static bool need_slot_counters(char *reason, size_t size)
{
	if ((counter_caps()->fixed_mask >> BAD_SPECULATION & 7) == 7 &&
	    counter_caps()->version >= 5)
		return true;
	fmt_print(reason, size, "no fixed counters 4 to 6 (the mask of them is %#x)",
		  counter_caps()->fixed_mask);
	return false;
}

/* Count a piece with fixed counter i. */
static u64 slots_of(unsigned i, const struct workload *w, u64 rounds)
{
	counter_program(PMC_FIXED(i), 0, COUNT_BOTH);
	counter_write(PMC_FIXED(i), 0);
	workload_run(w, rounds, pmc_one(PMC_FIXED(i)));
	counter_program_disabled(PMC_FIXED(i), 0, 0);
	return counter_read(PMC_FIXED(i));
}

/* Count with fixed counter i: a row of NOPs whose lines are in no cache runs once. */
static u64 slots_of_cold_code(unsigned i)
{
	const struct workload *w = &workload_long_sled;

	for (const u8 *at = w->begin; at < w->end; at += LINE)
		__asm__ volatile("clflush %0" ::"m"(*at) : "memory");
	__asm__ volatile("mfence" ::: "memory");
	return slots_of(i, w, 1);
}

/*
 * FIX-19  Fixed counters 4, 5 and 6 must count slots of bad speculation, slots that the front end
 *         leaves empty, and slots that retire.
 *         intel/perfmon TOPDOWN_BAD_SPECULATION.ALL, TOPDOWN_FE_BOUND.ALL, TOPDOWN_RETIRING.ALL;
 *         Linux intel_skt_event_constraints
 *
 * Given  fixed counters 4, 5 and 6
 * When   they count a loop of loads, and one four times as long; a loop with branches by
 *        unpredictable bits; a row of NOPs whose lines were flushed
 * Then   fixed counter 6 counts more of the longer loop; fixed counter 4, and where it is exact 5,
 *        at most half as much of the loop; fixed counter 4 more where there are unpredictable
 *        branches; fixed counter 5 some of the NOPs
 */
TEST(fixed, counters_4_to_6_count_slots_by_what_becomes_of_them, REQS(FIX_19),
     NEEDS(need_perfmon, need_slot_counters))
{
	const u64 retiring = slots_of(RETIRING, &workload_load, SLOT_ROUNDS);
	const u64 wrong = slots_of(BAD_SPECULATION, &workload_load, SLOT_ROUNDS);

	CHECK_RANGE(t, FIX_19, retiring + 1, ~0ULL,
		    slots_of(RETIRING, &workload_load, 4 * SLOT_ROUNDS),
		    "slots that retire in a loop four times as long, against %lu", retiring);
	CHECK_RANGE(t, FIX_19, 0, retiring / 2, wrong,
		    "slots of bad speculation in a loop without a surprise, against %lu that "
		    "retire",
		    retiring);
	if (test_sees_exactly(t, REQ_FIX_19))
		CHECK_RANGE(t, FIX_19, 0, retiring / 2,
			    slots_of(FRONT_END, &workload_load, SLOT_ROUNDS),
			    "slots that the front end leaves empty in that loop, against %lu that "
			    "retire",
			    retiring);
	CHECK_RANGE(t, FIX_19, wrong + 1, ~0ULL,
		    slots_of(BAD_SPECULATION, &workload_random, SLOT_ROUNDS),
		    "slots of bad speculation with unpredictable branches, against %lu", wrong);
	CHECK_RANGE(t, FIX_19, 1, ~0ULL, slots_of_cold_code(FRONT_END),
		    "slots that the front end leaves empty, of code that was flushed");
}
