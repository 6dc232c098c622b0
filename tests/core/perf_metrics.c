/* SPDX-License-Identifier: MIT */
/*
 * MSR_PERF_METRICS and the slots of fixed counter 3, IA32_PERF_CAPABILITIES[15]: SDM volume 2
 * RDPMC, Linux icl_update_topdown_event. Each byte is a category's share of the slots, where FFH is
 * all of them. Before they count, both registers are written 0 while they are stopped, fixed
 * counter 3 first.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/cpuid.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/core/perf_metrics.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/overflow.h"

#define WHOLE		METRICS_WHOLE
#define BYTE_ERROR	METRICS_ERROR
#define ROUNDS		4000
#define FEW_SLOTS	100u

static bool need_metrics_clear(char *reason, size_t size)
{
	u64 capabilities = counter_caps()->perf_capabilities;

	if (!need_metrics(reason, size))
		return false;
	if (capabilities & IA32_PERF_CAPABILITIES_RDPMC_METRICS_CLEAR)
		return true;
	fmt_print(reason, size, "RDPMC doesn't clear metrics (IA32_PERF_CAPABILITIES = %#lx)",
		  capabilities);
	return false;
}

static bool need_slots_per_cycle(char *reason, size_t size)
{
	const struct pmu_caps *caps = counter_caps();

	if (cpuid_get(CPUID_SLOTS_PER_CYCLE) || caps->v6.slots_per_cycle)
		return true;
	fmt_print(reason, size, "slots of a cycle aren't said (CPUID.0AH:EDX = %#x, %s)",
		  caps->leaf_0a_edx,
		  caps->v6.leaf ? "CPUID.(23H,0):ECX[7:0] = 0" : "no CPUID leaf 23H");
	return false;
}

u64 metrics_of(const struct workload *w, u64 rounds, u64 enables)
{
	counter_program(SLOTS, 0, COUNT_BOTH);
	counter_write(SLOTS, 0);
	msr_write(MSR_PERF_METRICS, 0);
	workload_run(w, rounds, (struct pmc_mask){ enables });
	return msr_read(MSR_PERF_METRICS);
}

/*
 * MET-01  MSR_PERF_METRICS, IA32_PERF_GLOBAL_CTRL[48] and RDPMC of 20000000H must exist if and
 *         only if IA32_PERF_CAPABILITIES[15] is 1.
 *         SDM volume 2 RDPMC (from 345H[15]); Linux; KVM
 *
 * Given  IA32_PERF_CAPABILITIES[15]
 * When   MSR_PERF_METRICS is read, IA32_PERF_GLOBAL_CTRL[48] is set, RDPMC of 20000000H is executed
 * Then   none of them raises #GP where the bit is 1, and each of them does where it is 0
 */
TEST(enumeration, metrics_exist_if_perf_capabilities_say_so, REQS(MET_01),
     NEEDS(need_perfmon, need_refused_msrs), .under_every_fault = true)
{
	bool there = counter_caps()->metrics;
	u64 value = 0;

	if (!there && counter_caps()->hybrid && counter_caps()->core_type != CORE_TYPE_ATOM) {
		test_skip(t, "a P-core of a hybrid may have them without the bit");
		return;
	}
	CHECK_EQ(t, MET_01, !there, fault_is_gp(msr_try_read(MSR_PERF_METRICS, &value)),
		 "#GP of RDMSR of 329H, IA32_PERF_CAPABILITIES = %#lx",
		 counter_caps()->perf_capabilities);
	CHECK_EQ(t, MET_01, !there, fault_is_gp(rdpmc_try((u32)RDPMC_METRICS, &value)),
		 "#GP of RDPMC of 20000000H");
	CHECK_EQ(t, MET_01, !there,
		 fault_is_gp(msr_try_write(MSR_IA32_PERF_GLOBAL_CTRL, METRICS_ENABLE)),
		 "#GP of IA32_PERF_GLOBAL_CTRL[48]");
	CHECK_EQ(t, MET_01, there ? METRICS_ENABLE : 0,
		 msr_read(MSR_IA32_PERF_GLOBAL_CTRL) & METRICS_ENABLE,
		 "IA32_PERF_GLOBAL_CTRL[48] after it");
	counters_disable();
}

static bool need_e_core(char *reason, size_t size)
{
	if (counter_caps()->core_type == CORE_TYPE_ATOM)
		return true;
	fmt_print(reason, size, "no E-core (CPUID.1AH:EAX[31:24] = %#x)",
		  counter_caps()->core_type);
	return false;
}

/*
 * MET-16  An E-core must have no MSR_PERF_METRICS, and IA32_PERF_GLOBAL_CTRL[48] must be reserved
 *         there.
 *         Linux intel_pmu_init: E-cores have no PERF_METRICS
 *
 * Given  a processor that CPUID.1AH calls an E-core
 * When   MSR_PERF_METRICS is read and written, RDPMC of 20000000H is executed, and
 *        IA32_PERF_GLOBAL_CTRL[48] is written while an existing counter is enabled
 * Then   each raises #GP, and IA32_PERF_GLOBAL_CTRL keeps its value
 * Control: that value was accepted
 */
TEST(metrics, e_core_has_no_metrics_and_no_bit_for_them, REQS(MET_16),
     NEEDS(need_perfmon, need_e_core, need_refused_msrs))
{
	const u64 kept = BIT(counter_next(counters_all().bits, 0));	/* any existing counter */
	u64 value;

	CHECK(t, MET_16, fault_is_gp(msr_try_read(MSR_PERF_METRICS, &value)),
	      "#GP of RDMSR of 329H");
	CHECK(t, MET_16, fault_is_gp(msr_try_write(MSR_PERF_METRICS, 0)), "#GP of WRMSR of 329H");
	CHECK(t, MET_16, fault_is_gp(rdpmc_try((u32)RDPMC_METRICS, &value)),
	      "#GP of RDPMC of 20000000H");
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, kept);
	CONTROL_EQ(t, MET_16, kept, msr_read(MSR_IA32_PERF_GLOBAL_CTRL), "IA32_PERF_GLOBAL_CTRL");
	CHECK(t, MET_16, fault_is_gp(msr_try_write(MSR_IA32_PERF_GLOBAL_CTRL, METRICS_ENABLE)),
	      "#GP of IA32_PERF_GLOBAL_CTRL[48]");
	CHECK_EQ(t, MET_16, kept, msr_read(MSR_IA32_PERF_GLOBAL_CTRL),
		 "IA32_PERF_GLOBAL_CTRL after it");
	counters_disable();
}

/*
 * MET-02  Fixed counter 3 must count while it is enabled and the processor isn't halted.
 *         Linux, intel/perfmon TOPDOWN.SLOTS
 *
 * Given  fixed counter 3 enabled
 * When   a loop runs, and one four times as long
 * Then   it counts more in the longer one, and at least one slot for each instruction
 */
TEST(metrics, fixed_counter_3_counts_slots, REQS(MET_02), NEEDS(need_perfmon, need_fixed_3),
     .under_every_fault = true)
{
	u64 less, more;

	if (!window_count_one(t, SLOTS, 0, COUNT_BOTH, &workload_load, ROUNDS, &less) ||
	    !window_count_one(t, SLOTS, 0, COUNT_BOTH, &workload_load, 4 * ROUNDS, &more))
		return;
	CHECK_RANGE(t, MET_02, ROUNDS, ~0ULL, less, "slots of %u rounds of a load and a branch",
		    ROUNDS);
	CHECK_RANGE(t, MET_02, less + 1, ~0ULL, more, "slots of four times as many, against %lu",
		    less);
}

/*
 * MET-02  Fixed counter 3 must count while it is enabled and the processor isn't halted.
 *         Linux, intel/perfmon TOPDOWN.SLOTS
 *
 * Given  fixed counters 1 and 3, and interrupts that end each HLT
 * When   HLT is executed many times
 * Then   there are at most 16 slots a core cycle, more than any processor has, and a few more
 * Control: both count, and each HLT was ended by an interrupt
 */
TEST(metrics, fixed_counter_3_counts_no_slots_of_a_halt, REQS(MET_02),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_fixed_3))
{
	enum { HALTS = 64, WIDEST = 16, FEW = 4096 };
	const struct pmc_mask both = pmc_or(pmc_one(PMC_FIXED(1)), pmc_one(SLOTS));
	u64 cycles, slots;

	counter_program(PMC_FIXED(1), 0, COUNT_BOTH);
	counter_program(SLOTS, 0, COUNT_BOTH);
	counter_write(PMC_FIXED(1), 0);
	counter_write(SLOTS, 0);
	pmi_open(NULL);
	intr_disable();
	counters_enable(both);
	for (unsigned i = 0; i < HALTS; i++) {
		apic_self_ipi(VECTOR_PMI);	/* ends HLT */
		__asm__ volatile("sti; hlt; cli" ::: "memory");
		counters_enable(both);		/* the handler has stopped them */
	}
	counters_disable();
	CONTROL_EQ(t, MET_02, HALTS, pmi_settle()->count, "interrupts that ended HLT");
	pmi_close();
	cycles = counter_read(PMC_FIXED(1));
	slots = counter_read(SLOTS);
	CONTROL_RANGE(t, MET_02, 1, ~0ULL, cycles, "core cycles of %u HLTs", HALTS);
	CHECK_RANGE(t, MET_02, 1, WIDEST * cycles + FEW, slots, "slots of %u HLTs, %lu cycles",
		    HALTS, cycles);
}

/*
 * MET-03  Fixed counter 3 and the event 01A4H must give the same number over the same time.
 *         intel/perfmon TOPDOWN.SLOTS, TOPDOWN.SLOTS_P
 *
 * Given  fixed counter 3 and the event 01A4H on each general-purpose counter, switched on and off
 *        by one write
 * When   a loop runs
 * Then   they are the same, within an eighth and 256; in a strict run within 64
 * Control: fixed counter 3 counts
 */
TEST(metrics, slots_of_fixed_counter_3_are_those_of_the_event, REQS(MET_03),
     NEEDS(need_perfmon, need_fixed_3, need_slots, need_events))
{
	u64 fixed, slack;

	FOR_EACH_COUNTER (c, counters_gp().bits) {
		counter_program(c, EVENT_TOPDOWN_SLOTS_P, COUNT_BOTH);
		counter_write(c, 0);
	}
	counter_program(SLOTS, 0, COUNT_BOTH);
	counter_write(SLOTS, 0);
	workload_run(&workload_load, ROUNDS, pmc_or(counters_gp(), pmc_one(SLOTS)));
	fixed = counter_read(SLOTS);
	CONTROL_RANGE(t, MET_03, ROUNDS, ~0ULL, fixed, "slots of fixed counter 3");
	slack = test_is_strict(t) ? 64 : fixed / 8 + 256;
	FOR_EACH_COUNTER (c, counters_gp().bits)
		CHECK_RANGE(t, MET_03, fixed - slack, fixed + slack, counter_read(c),
			    "slots of event 01A4H on IA32_PMC%u, against %lu", c, fixed);
}

/* Slots of a loop at CPL 0 or 3, counted with these enable bits while the metrics count too. */
static u64 slots_at(u64 flags, bool user)
{
	counter_program(SLOTS, 0, flags);
	counter_write(SLOTS, 0);
	msr_write(MSR_PERF_METRICS, 0);
	counters_enable((struct pmc_mask){ BIT(SLOTS) | METRICS_ENABLE });
	if (user)
		workload_run_user(&workload_load, ROUNDS);
	else
		workload_run_uncounted(&workload_load, ROUNDS);
	counters_disable();
	counter_program_disabled(SLOTS, 0, 0);
	return counter_read(SLOTS);
}

/*
 * FIX-05  Of the four bits of a fixed counter in IA32_FIXED_CTR_CTRL, bit 0 must enable it at CPL
 *         0, bit 1 above CPL 0, and bit 3 its interrupt.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2, Figure 18-7; Linux
 *
 * Given  fixed counter 3 with one of its enables, or both; IA32_PERF_GLOBAL_CTRL[48] = 1, so that
 *        MSR_PERF_METRICS counts
 * When   a loop runs at CPL 0; at CPL 3
 * Then   at CPL 0 bit 1 alone counts nothing. At CPL 3 bit 0 alone counts less than half of the
 *        count with bit 1: the transitions to CPL 3 and back
 * Control: the other bit, and both, count the loop
 */
TEST(metrics, fixed_counter_3_counts_at_its_levels_only_while_metrics_count, REQS(FIX_05),
     NEEDS(need_perfmon, need_metrics))
{
	u64 user;

	CONTROL_RANGE(t, FIX_05, ROUNDS, ~0ULL, slots_at(COUNT_OS, false),
		      "slots at CPL 0, bit 0, IA32_PERF_GLOBAL_CTRL[48] = 1");
	CHECK_EQ(t, FIX_05, 0, slots_at(COUNT_USR, false),
		 "slots at CPL 0, bit 1, IA32_PERF_GLOBAL_CTRL[48] = 1");
	user = slots_at(COUNT_USR, true);
	CONTROL_RANGE(t, FIX_05, ROUNDS, ~0ULL, user,
		      "slots at CPL 3, bit 1, IA32_PERF_GLOBAL_CTRL[48] = 1");
	CHECK_RANGE(t, FIX_05, 1, user / 2, slots_at(COUNT_OS, true),
		    "slots of the way to CPL 3 and back, bit 0, IA32_PERF_GLOBAL_CTRL[48] = 1");
	CONTROL_RANGE(t, FIX_05, ROUNDS, ~0ULL, slots_at(COUNT_BOTH, true),
		      "slots at CPL 3, both bits, IA32_PERF_GLOBAL_CTRL[48] = 1");
}

/*
 * MET-04  The four bytes of MSR_PERF_METRICS must add up to about FFH.
 *         Linux icl_update_topdown_event
 * MET-06  Bytes 4 to 7 of MSR_PERF_METRICS must be 0 on Ice Lake.
 *         Linux: four metrics
 * MET-07  Bytes 4, 5, 6 and 7 of MSR_PERF_METRICS must not be above bytes 0, 1, 2 and 3.
 *         Linux: level 2 is a part of each metric of level 1
 *
 * Given  both 0, then enabled by IA32_PERF_GLOBAL_CTRL[35] and [48]
 * When   loops of loads, of branches, of flushed lines and of unpredictable branches run
 * Then   bytes 0 to 3 add up to FFH within 3 a byte. Bytes 4 to 7 are 0 on Ice Lake; from Golden
 *        Cove on each is at most the byte four below it, within 1. A processor that is in no table
 *        may be of either kind
 * Control: fixed counter 3 counts, and from Golden Cove on some of bytes 4 to 7 isn't 0
 */
TEST(metrics, four_metrics_are_shares_of_all_slots, REQS(MET_04, MET_06, MET_07),
     NEEDS(need_perfmon, need_metrics), .under_every_fault = true)
{
	static const struct workload *const pieces[] = { &workload_load, &workload_branch,
							 &workload_uncached, &workload_random };
	const bool level_2 = counter_caps()->facilities & FAC_METRICS_LEVEL_2;
	const bool level_1_alone = counter_caps()->generation && !level_2;
	u64 parts = 0;

	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		u64 metrics = metrics_of(pieces[i], ROUNDS, BIT(SLOTS) | METRICS_ENABLE), sum = 0;

		CONTROL_RANGE(t, IDS(MET_04, MET_06), 1, ~0ULL, counter_read(SLOTS),
			      "slots of fixed counter 3");
		for (unsigned n = 0; n < 4; n++)
			sum += metrics_byte(metrics, n);
		CHECK_RANGE(t, MET_04, WHOLE - 4 * BYTE_ERROR, WHOLE + 4 * BYTE_ERROR, sum,
			    "sum of bytes 0 to 3 of MSR_PERF_METRICS = %#lx, %s", metrics,
			    pieces[i]->name);
		if (level_1_alone)
			CHECK_EQ(t, MET_06, 0, metrics >> 32, "bytes 4 to 7, %s", pieces[i]->name);
		for (unsigned n = 0; n < 4 && level_2; n++)
			CHECK_RANGE(t, MET_07, 0, metrics_byte(metrics, n) + 1,
				    metrics_byte(metrics, 4 + n),
				    "byte %u of MSR_PERF_METRICS = %#lx, %s", 4 + n, metrics,
				    pieces[i]->name);
		parts |= metrics >> 32;
	}
	if (level_2)
		CONTROL_RANGE(t, MET_07, 1, ~0ULL, parts, "bytes 4 to 7, of all of them");
}

/*
 * MET-04  The four bytes of MSR_PERF_METRICS must add up to about FFH.
 *         Linux icl_update_topdown_event
 *
 * Given  both 0, then enabled by IA32_PERF_GLOBAL_CTRL[35] and [48], fixed counter 3 at CPL 3 alone
 * When   a loop runs at CPL 3
 * Then   bytes 0 to 3 add up to FFH within 3 a byte
 * Control: fixed counter 3 counts it
 */
TEST(metrics, metrics_count_at_cpl_3, REQS(MET_04), NEEDS(need_perfmon, need_metrics))
{
	u64 metrics, sum = 0;

	CONTROL_RANGE(t, MET_04, ROUNDS, ~0ULL, slots_at(COUNT_USR, true),
		      "slots of fixed counter 3 at CPL 3");
	metrics = msr_read(MSR_PERF_METRICS);
	for (unsigned n = 0; n < 4; n++)
		sum += metrics_byte(metrics, n);
	CHECK_RANGE(t, MET_04, WHOLE - 4 * BYTE_ERROR, WHOLE + 4 * BYTE_ERROR, sum,
		    "sum of bytes 0 to 3 of MSR_PERF_METRICS = %#lx at CPL 3", metrics);
}

/* Shares of level 1, which add up to FFH, and half of each on level 2. */
#define SOME_LEVEL_1	0x8040201fULL
#define SOME_LEVEL_2	(0x4020100fULL << 32)
#define SOME_SLOTS	0x123456789ULL

/*
 * MET-08  A write to fixed counter 3 and MSR_PERF_METRICS with both stopped must be kept.
 *         Linux icl_set_topdown_event_period
 *
 * Given  both have counted, and are stopped
 * When   0 is written to fixed counter 3, then to MSR_PERF_METRICS; and where every requirement is
 *        judged, values as they have after counting: the manual allows only 0
 * Then   both read what was written, and still do after other code
 * Control: MSR_PERF_METRICS wasn't 0 before
 */
TEST(metrics, value_written_to_stopped_metrics_is_kept, REQS(MET_08),
     NEEDS(need_perfmon, need_metrics))
{
	const bool level_2 = counter_caps()->facilities & FAC_METRICS_LEVEL_2;
	const u64 values[][2] = {
		{ 0, 0 },
		{ SOME_SLOTS & BITS(0, counter_width(SLOTS) - 1),
		  SOME_LEVEL_1 | (level_2 ? SOME_LEVEL_2 : 0) },
	};

	for (unsigned v = 0; v < (test_is_strict(t) ? 2 : 1); v++) {
		const u64 slots = values[v][0], written = values[v][1];

		CONTROL_RANGE(t, MET_08, 1, ~0ULL,
			      metrics_of(&workload_load, ROUNDS, BIT(SLOTS) | METRICS_ENABLE),
			      "MSR_PERF_METRICS after a window");
		counter_write(SLOTS, slots);
		msr_write(MSR_PERF_METRICS, written);
		for (unsigned i = 0; i < 2; i++) {
			CHECK_EQ(t, MET_08, slots, counter_read(SLOTS),
				 "fixed counter 3, reading %u", i);
			CHECK_EQ(t, MET_08, written, msr_read(MSR_PERF_METRICS),
				 "MSR_PERF_METRICS, reading %u", i);
			workload_run_uncounted(&workload_load, ROUNDS);
		}
	}
	counter_write(SLOTS, 0);
	msr_write(MSR_PERF_METRICS, 0);
}

/*
 * MET-09  With IA32_PERF_GLOBAL_CTRL[48] = 0 MSR_PERF_METRICS must stand still.
 *         Linux: IA32_PERF_GLOBAL_CTRL[48] enables them
 *
 * Given  both 0
 * When   a loop runs with IA32_PERF_GLOBAL_CTRL[35] alone; then with [48] too
 * Then   MSR_PERF_METRICS is 0 after the first
 * Control: fixed counter 3 has counted, and MSR_PERF_METRICS isn't 0 after the second
 */
TEST(metrics, metrics_stand_still_without_their_global_enable, REQS(MET_09),
     NEEDS(need_perfmon, need_metrics))
{
	CHECK_EQ(t, MET_09, 0, metrics_of(&workload_load, ROUNDS, BIT(SLOTS)),
		 "MSR_PERF_METRICS with IA32_PERF_GLOBAL_CTRL[48] = 0");
	CONTROL_RANGE(t, MET_09, 1, ~0ULL, counter_read(SLOTS), "slots of fixed counter 3");
	CONTROL_RANGE(t, MET_09, 1, ~0ULL,
		      metrics_of(&workload_load, ROUNDS, BIT(SLOTS) | METRICS_ENABLE),
		      "MSR_PERF_METRICS with IA32_PERF_GLOBAL_CTRL[48] = 1");
}

/*
 * FRZ-03  CTR_Frz must stop PERF_METRICS and the slots counter.
 *         SDM 18.2.4.1 Enhancement in IA32_PERF_GLOBAL_STATUS (says core counters)
 *
 * Given  both 0, and software has set CTR_Frz through IA32_PERF_GLOBAL_STATUS_SET
 * When   a loop runs with IA32_PERF_GLOBAL_CTRL[35] and [48]; then again with CTR_Frz cleared
 * Then   MSR_PERF_METRICS and fixed counter 3 are 0 after the first
 * Control: neither is 0 after the second
 */
TEST(metrics, ctr_frz_stops_metrics_and_slots, REQS(FRZ_03),
     NEEDS(need_perfmon, need_metrics, need_version_4))
{
	const u64 frozen = IA32_PERF_GLOBAL_STATUS_CTR_FRZ;

	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, frozen);
	CHECK_EQ(t, FRZ_03, 0, metrics_of(&workload_load, ROUNDS, BIT(SLOTS) | METRICS_ENABLE),
		 "MSR_PERF_METRICS while CTR_FRZ is set");
	CHECK_EQ(t, FRZ_03, 0, counter_read(SLOTS),
		 "slots of fixed counter 3 while CTR_FRZ is set");
	counters_clear(frozen);
	CONTROL_RANGE(t, FRZ_03, 1, ~0ULL,
		      metrics_of(&workload_load, ROUNDS, BIT(SLOTS) | METRICS_ENABLE),
		      "MSR_PERF_METRICS once CTR_FRZ is cleared");
	CONTROL_RANGE(t, FRZ_03, 1, ~0ULL, counter_read(SLOTS),
		      "slots of fixed counter 3 once CTR_FRZ is cleared");
}

/*
 * FRZ-03  CTR_Frz must stop PERF_METRICS and the slots counter.
 *         SDM 18.2.4.1 Enhancement in IA32_PERF_GLOBAL_STATUS (says core counters)
 *
 * Given  fixed counter 3 and the metrics count; IA32_DEBUGCTL[12] = 1
 * When   IA32_PMC0 overflows with its interrupt, whose handler doesn't clear CTR_Frz; then loads
 *        run, each of which waits for memory
 * Then   MSR_PERF_METRICS and fixed counter 3 read the same before and after these loads
 * Control: CTR_Frz is set, neither is 0; once CTR_Frz is cleared the same loads change both
 */
TEST(metrics, ctr_frz_of_an_overflow_stops_metrics_and_slots, REQS(FRZ_03),
     NEEDS(need_perfmon, need_metrics, need_version_4, need_freeze, need_branches))
{
	/* stay_masked: if LVTPC were unmasked while a status bit is 1, it could interrupt again
	 * (Linux). */
	static const struct pmi_options leave = {
		.keep_status = true, .keep_counting = true, .stay_masked = true,
	};
	const u64 frozen = IA32_PERF_GLOBAL_STATUS_CTR_FRZ;
	u64 metrics[3], slots[3];

	counter_program(SLOTS, 0, COUNT_BOTH);
	counter_write(SLOTS, 0);
	msr_write(MSR_PERF_METRICS, 0);
	pmi_open(&leave);
	overflow_prepare(0, COUNT_INT);
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	counters_enable((struct pmc_mask){ BIT(0) | BIT(SLOTS) | METRICS_ENABLE });
	workload_run_uncounted(&workload_load, ROUNDS);
	pmi_settle();
	CONTROL_EQ(t, FRZ_03, frozen, counters_status() & frozen, "CTR_FRZ after the overflow");
	for (unsigned i = 0; i < 3; i++) {
		if (i == 2)
			counters_clear(frozen);
		if (i)
			workload_run_uncounted(&workload_uncached, ROUNDS);
		metrics[i] = msr_read(MSR_PERF_METRICS);
		slots[i] = counter_read(SLOTS);
	}
	counters_disable();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	pmi_close();
	overflow_off(0);
	CONTROL(t, FRZ_03, metrics[0] && slots[0], "MSR_PERF_METRICS %#lx, slots %lu, frozen",
		metrics[0], slots[0]);
	CHECK_EQ(t, FRZ_03, metrics[0], metrics[1], "MSR_PERF_METRICS after loads, frozen");
	CHECK_EQ(t, FRZ_03, slots[0], slots[1], "slots after loads, frozen");
	CONTROL(t, FRZ_03, metrics[2] != metrics[1], "MSR_PERF_METRICS %#lx, not frozen",
		metrics[2]);
	CONTROL_RANGE(t, FRZ_03, slots[1] + 1, ~0ULL, slots[2], "slots after loads, not frozen");
}

/*
 * MET-11  IA32_PERF_GLOBAL_OVF_CTRL[48] must clear IA32_PERF_GLOBAL_STATUS[48] and no other bit.
 *         Linux GLOBAL_STATUS_PERF_METRICS_OVF
 *
 * Given  IA32_PERF_GLOBAL_STATUS_SET has set bits 48, 35 and 0 of the status
 * When   1 is written to IA32_PERF_GLOBAL_OVF_CTRL[48]
 * Then   bit 48 of the status is 0, and the two others are still 1
 * Control: all three bits were 1 before
 */
TEST(msr, overflow_bit_of_metrics_is_cleared_alone, REQS(MET_11),
     NEEDS(need_perfmon, need_metrics, need_version_4))
{
	const u64 others = BIT(SLOTS) | BIT(0);

	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, METRICS_OVF | others);
	CONTROL_EQ(t, MET_11, METRICS_OVF | others, counters_status() & (METRICS_OVF | others),
		   "status that was set");
	counters_clear(METRICS_OVF);
	CHECK_EQ(t, MET_11, others, counters_status() & (METRICS_OVF | others),
		 "status after clearing bit 48");
	counters_clear(others);
}

/*
 * MET-19  An overflow of fixed counter 3 must set IA32_PERF_GLOBAL_STATUS[35] and leave [48]
 *         clear, which is about the metrics.
 *         SDM volume 4, IA32_PERF_GLOBAL_STATUS: OVF_PERF_METRICS, which fixed counter 3 normally
 *         comes before
 *
 * Given  fixed counter 3 is a few slots below its overflow, MSR_PERF_METRICS is 0
 * When   a loop runs with IA32_PERF_GLOBAL_CTRL[35] and [48]
 * Then   of bits 35 and 48 of the status only bit 35 is set
 * Control: MSR_PERF_METRICS isn't 0 then
 */
TEST(metrics, overflow_of_fixed_counter_3_leaves_the_bit_of_the_metrics, REQS(MET_19),
     NEEDS(need_perfmon, need_metrics))
{
	counter_program(SLOTS, 0, COUNT_BOTH);
	counter_write(SLOTS, BIT(counter_width(SLOTS)) - FEW_SLOTS);
	msr_write(MSR_PERF_METRICS, 0);
	counters_clear(BIT(SLOTS) | METRICS_OVF);
	workload_run(&workload_load, ROUNDS, (struct pmc_mask){ BIT(SLOTS) | METRICS_ENABLE });
	CHECK_EQ(t, MET_19, BIT(SLOTS), counters_status() & (BIT(SLOTS) | METRICS_OVF),
		 "bits 35 and 48 of the status after an overflow of fixed counter 3");
	CONTROL_RANGE(t, MET_19, 1, ~0ULL, msr_read(MSR_PERF_METRICS), "MSR_PERF_METRICS");
	counters_clear(BIT(SLOTS));
}

/*
 * MET-12  RDPMC of 20000000H must return what RDMSR of MSR_PERF_METRICS returns while both are
 *         stopped.
 *         SDM volume 2 RDPMC
 * MET-15  With IA32_FIXED_CTR_CTRL[14] = 0, RDPMC of the metrics must change neither
 *         MSR_PERF_METRICS nor fixed counter 3.
 *         SDM volume 2 RDPMC: METRICS_CLEAR_EN
 *
 * Given  both have counted, and are stopped; IA32_FIXED_CTR_CTRL[14] is 0
 * When   RDPMC of 20000000H is executed twice
 * Then   each returns what RDMSR of MSR_PERF_METRICS returns, and neither the register nor fixed
 *        counter 3 changes
 * Control: they aren't 0
 */
TEST(metrics, rdpmc_of_metrics_reads_the_register_and_keeps_it, REQS(MET_12, MET_15),
     NEEDS(need_perfmon, need_metrics), .under_every_fault = true)
{
	u64 metrics = metrics_of(&workload_load, ROUNDS, BIT(SLOTS) | METRICS_ENABLE);
	u64 slots = counter_read(SLOTS);

	CONTROL_RANGE(t, IDS(MET_12, MET_15), 1, ~0ULL, metrics, "MSR_PERF_METRICS");
	CONTROL_RANGE(t, IDS(MET_12, MET_15), 1, ~0ULL, slots, "fixed counter 3");
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQ(t, MET_12, metrics, rdpmc((u32)RDPMC_METRICS), "RDPMC of 20000000H");
		CHECK_EQ(t, MET_15, metrics, msr_read(MSR_PERF_METRICS),
			 "MSR_PERF_METRICS after RDPMC");
		CHECK_EQ(t, MET_15, slots, counter_read(SLOTS), "fixed counter 3 after RDPMC");
	}
}

/*
 * MET-13  IA32_FIXED_CTR_CTRL[14] must be writable if and only if IA32_PERF_CAPABILITIES[19] is 1.
 *         SDM volume 2 RDPMC: IA32_FIXED_CTR_CTRL[14], METRICS_CLEAR_EN; Linux
 *
 * Given  IA32_PERF_CAPABILITIES[19]
 * When   IA32_FIXED_CTR_CTRL[14] is written
 * Then   it is kept where the bit is 1; where it is 0, it raises #GP, or it reads 0 and not every
 *        requirement is judged
 * Control: the enable bits of fixed counter 2 are kept
 */
TEST(msr, metrics_clear_bit_exists_if_perf_capabilities_say_so, REQS(MET_13),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_refused_msrs))
{
	bool there = counter_caps()->perf_capabilities & IA32_PERF_CAPABILITIES_RDPMC_METRICS_CLEAR;
	const u64 kept = BITS(8, 9);
	bool raised;

	if (!there && !test_is_strict(t) && counter_caps()->hybrid &&
	    counter_caps()->core_type != CORE_TYPE_ATOM) {
		test_skip(t, "a P-core of a hybrid may have it without the bit");
		return;
	}
	if (counter_caps()->version < 5) {
		test_skip(t, "version %u has no fourth fixed counter", counter_caps()->version);
		return;
	}
	msr_write(MSR_IA32_FIXED_CTR_CTRL, kept);
	raised = fault_is_gp(
		msr_try_write(MSR_IA32_FIXED_CTR_CTRL, kept | IA32_FIXED_CTR_CTRL_METRICS_CLEAR));
	/* It is AnyThread of fixed counter 3, which may be ignored. */
	if (there || test_is_strict(t))
		CHECK_EQ(t, MET_13, !there, raised,
			 "#GP of IA32_FIXED_CTR_CTRL[14], IA32_PERF_CAPABILITIES = %#lx",
			 counter_caps()->perf_capabilities);
	CHECK_EQ(t, MET_13, there ? IA32_FIXED_CTR_CTRL_METRICS_CLEAR : 0,
		 msr_read(MSR_IA32_FIXED_CTR_CTRL) & IA32_FIXED_CTR_CTRL_METRICS_CLEAR,
		 "IA32_FIXED_CTR_CTRL[14] after it");
	CONTROL_EQ(t, MET_13, kept, msr_read(MSR_IA32_FIXED_CTR_CTRL) & kept,
		   "IA32_FIXED_CTR_CTRL[9:8]");
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 0);
}

/*
 * MET-14  With IA32_FIXED_CTR_CTRL[14] = 1, RDPMC of the metrics must clear MSR_PERF_METRICS and
 *         fixed counter 3 after the read.
 *         SDM volume 2 RDPMC: METRICS_CLEAR_EN
 *
 * Given  IA32_PERF_CAPABILITIES[19]; both have counted, and are stopped;
 *        IA32_FIXED_CTR_CTRL[14] is 1
 * When   RDPMC of fixed counter 3 and RDMSR of both are executed; RDPMC of 20000000H, twice
 * Then   RDPMC of fixed counter 3 and the RDMSRs clear nothing. The first RDPMC of 20000000H
 *        returns the value of MSR_PERF_METRICS, and leaves it and fixed counter 3, and no other
 *        register, at 0; the second returns 0
 * Control: both registers weren't 0
 */
TEST(metrics, rdpmc_of_metrics_clears_metrics_and_slots_with_metrics_clear_en, REQS(MET_14),
     NEEDS(need_perfmon, need_metrics_clear))
{
	const u64 metrics = metrics_of(&workload_load, ROUNDS, BIT(SLOTS) | METRICS_ENABLE);
	const u64 slots = counter_read(SLOTS);

	CONTROL_RANGE(t, MET_14, 1, ~0ULL, metrics, "MSR_PERF_METRICS");
	CONTROL_RANGE(t, MET_14, 1, ~0ULL, slots, "fixed counter 3");
	msr_write(MSR_IA32_FIXED_CTR_CTRL,
		  msr_read(MSR_IA32_FIXED_CTR_CTRL) | IA32_FIXED_CTR_CTRL_METRICS_CLEAR);
	for (unsigned i = 0; i < 3; i++)
		counter_write(PMC_FIXED(i), 0x1000 + i);
	CHECK_EQ(t, MET_14, slots, rdpmc((u32)RDPMC_FIXED + 3), "RDPMC of fixed counter 3");
	CHECK_EQ(t, MET_14, slots, counter_read(SLOTS), "fixed counter 3 after it was read");
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(t, MET_14, metrics, msr_read(MSR_PERF_METRICS),
			 "MSR_PERF_METRICS, read %u", i + 1);
	CHECK_EQ(t, MET_14, metrics, rdpmc((u32)RDPMC_METRICS), "RDPMC of 20000000H");
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(t, MET_14, 0x1000 + i, counter_read(PMC_FIXED(i)),
			 "fixed counter %u after RDPMC of the metrics", i);
	CHECK_EQ(t, MET_14, 0, msr_read(MSR_PERF_METRICS), "MSR_PERF_METRICS after RDPMC");
	CHECK_EQ(t, MET_14, 0, counter_read(SLOTS), "fixed counter 3 after RDPMC");
	CHECK_EQ(t, MET_14, 0, rdpmc((u32)RDPMC_METRICS), "RDPMC of 20000000H once more");
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 0);
}

/* Slots are cycles times what a field of CPUID says; nothing is said where it is 0. The threads of
 * a core share them (intel/perfmon, TOPDOWN.SLOTS): while another one runs there are fewer. */
static void check_slots(struct test *t, struct test_claim claim, const u64 value[],
			unsigned per_cycle, const char *field)
{
	const u64 wanted = value[PMC_FIXED(1)] * per_cycle, slack = wanted / 8 + 256;
	const bool shared = !test_is_strict(t) && cpuid_get(CPUID_LEVEL0_PROCESSORS) > 1;

	if (per_cycle)
		test_check_range(t, claim, shared ? 1 : wanted - slack, wanted + slack,
				 value[SLOTS], "slots, against %lu cycles of %u slots (%s)",
				 value[PMC_FIXED(1)], per_cycle, field);
}

/*
 * MET-17  CPUID.0AH:EDX[19:16], where not 0, must be the slots of one cycle.
 *         SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 0AH,
 *         EDX[19:16]
 * V6-27   CPUID.(23H,0):ECX[7:0] must be the slots of a cycle of the core that executes CPUID, or
 *         0.
 *         SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 23H,
 *         sub-leaf 0
 *
 * Given  CPUID.0AH:EDX[19:16] and CPUID.(23H,0):ECX[7:0], of which one isn't 0: slots of a cycle
 * When   fixed counters 1 and 3 count a loop, switched on and off by one write
 * Then   fixed counter 3 is that many times fixed counter 1, within an eighth and 256; on a core
 *        with two threads it may be less, but not 0, unless every requirement is judged
 * Control: fixed counter 1 counts
 */
TEST(metrics, slots_are_cycles_times_what_cpuid_says, REQS(MET_17, V6_27),
     NEEDS(need_perfmon, need_fixed_3, need_slots_per_cycle))
{
	const struct pmc_mask both = pmc_or(pmc_one(PMC_FIXED(1)), pmc_one(SLOTS));
	u64 value[WINDOW_COUNTERS];

	if (!window_count(both, 0, COUNT_BOTH, &workload_load, ROUNDS, value)) {
		test_inconclusive(t, "each window was disturbed");
		return;
	}
	CONTROL_RANGE(t, IDS(MET_17, V6_27), 1, ~0ULL, value[PMC_FIXED(1)], "core cycles");
	check_slots(t, AT(MET_17), value, cpuid_get(CPUID_SLOTS_PER_CYCLE), "CPUID.0AH:EDX[19:16]");
	check_slots(t, AT(V6_27), value, counter_caps()->v6.slots_per_cycle,
		    "CPUID.(23H,0):ECX[7:0]");
}
