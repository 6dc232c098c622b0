/* SPDX-License-Identifier: MIT */
/*
 * How RDPMC selects a counter by RCX. SDM volume 2: the high-order 32 bits of RCX are ignored; the
 * index is ECX[29:0], ECX[30] the type. RDMSR and WRMSR with bits in RCX[63:32] aren't tested,
 * because the reference PMU doesn't see such a WRMSR (QEMU 7.2).
 */
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/user.h"
#include "kernel/processor/cpu.h"
#include "pmu/counter.h"
#include "spec/msr.h"
#include "spec/x86.h"
#include "tests/core/perf_metrics.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/user_probe.h"

#define UPPER	BITS(32, 63)
#define METRICS_ROUNDS	100u	/* rounds with enough slots for shares */
#define METRICS_VALUE	0x10203040u	/* shares of the slots: an eighth, and so on */

static u64 joined(u64 rax, u64 rdx)
{
	return (u32)rax | rdx << 32;
}

static u64 rdpmc_of(u64 rcx)
{
	u64 rax, rdx;

	__asm__ volatile("rdpmc" : "=a"(rax), "=d"(rdx) : "c"(rcx) : "memory");
	return joined(rax, rdx);
}

/* WRMSR with all ones in RAX[63:32] and RDX[63:32]. */
static void wrmsr_of(u32 msr, u64 value)
{
	__asm__ volatile("wrmsr"
			 :
			 : "a"((u32)value | UPPER), "d"(value >> 32 | UPPER), "c"(msr)
			 : "memory");
}

/* A value that no other counter has. */
static u64 own(unsigned c)
{
	return 0x01020304 + 0x10000 * c;
}

static void check_wide(struct test *t, u32 msr, u32 index, unsigned c, const char *name)
{
	wrmsr_of(msr, own(c));
	CHECK_EQ(t, MSR_43, own(c), msr_read(msr),
		 "%s after WRMSR, RAX[63:32] and RDX[63:32] all ones", name);
	CHECK_EQ(t, MSR_43, own(c), rdpmc_of(UPPER | index), "RDPMC of %s, RCX[63:32] all ones",
		 name);
	CONTROL_EQ(t, MSR_43, own(c), rdpmc_of(index), "RDPMC of %s, RCX[63:32] = 0", name);
	msr_write(msr, 0);
}

/*
 * MSR-43  In 64-bit mode RDPMC must ignore bits 63:32 of RCX, and WRMSR those of RAX and RDX.
 *         SDM volume 2, RDPMC: the high-order 32 bits of RCX are ignored; WRMSR: those of RAX and
 *         RDX
 *
 * Given  each counter holds a different value, written with RAX[63:32] and RDX[63:32] all ones
 * When   it is read by RDMSR, and by RDPMC with RCX[63:32] all ones; while all stand still, and
 *        while another one counts; MSR_PERF_METRICS, where it is there, by such an RDPMC after
 *        slots were counted
 * Then   both return the value
 * Control: RDPMC with RCX[63:32] = 0 does too, of a counter; the metrics aren't 0
 */
TEST(msr, upper_halves_name_no_counter_and_change_no_value, REQS(MSR_43),
     NEEDS(need_perfmon, need_instructions))
{
	const struct pmu_caps *caps = counter_caps();
	const unsigned last = counter_last();

	for (unsigned counting = 0; counting < 2; counting++) {
		if (counting) {
			counter_program(last, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
			counters_enable(pmc_one(last));
		}
		FOR_EACH_COUNTER (c, counters_gp().bits & ~(counting ? BIT(last) : 0))
			check_wide(t, MSR_IA32_PMC0 + c, c, c, "a general-purpose counter");
		FOR_EACH_COUNTER (i, caps->fixed_mask)
			check_wide(t, MSR_IA32_FIXED_CTR0 + i, (u32)RDPMC_FIXED + i, PMC_FIXED(i),
				   "a fixed counter");
	}
	counters_disable();
	counter_program_disabled(last, 0, 0);
	if (caps->metrics) {
		const u64 metrics = metrics_of(&workload_load, METRICS_ROUNDS,
					       BIT(SLOTS) | METRICS_ENABLE);

		CONTROL_RANGE(t, MSR_43, 1, ~0ULL, metrics, "MSR_PERF_METRICS of counted slots");
		CHECK_EQ(t, MSR_43, metrics, rdpmc_of(UPPER | RDPMC_METRICS),
			 "RDPMC of the metrics, RCX[63:32] all ones");
		msr_write(MSR_PERF_METRICS, 0);
		counter_program_disabled(SLOTS, 0, 0);
	}
}

#define FIRST_BIT_TRIED	4u	/* lower bits: enumeration.rdpmc_of_an_absent_counter_raises_gp */
#define LAST_BIT_TRIED	28u	/* 29: type 2000H, the metrics */
#define BACKDOOR_BIT	16u	/* 10000H to 10002H are VMware's pseudo counters, for its guests */

/*
 * CNT-14  RDPMC with the index of a counter that doesn't exist must raise #GP.
 *         SDM volume 2 RDPMC
 *
 * Given  the index of IA32_PMC0 and, with ECX[30], of fixed counter 0
 * When   one of the bits 4 to 28 is 1 too, each in turn; in a guest not bit 16, which is VMware's
 * Then   RDPMC raises #GP
 * Control: without that bit it doesn't
 */
TEST(msr, rdpmc_with_any_higher_bit_of_its_index_raises_gp, REQS(CNT_14),
     NEEDS(need_perfmon, need_fixed_0_to_2))
{
	const u32 bases[] = { 0, (u32)RDPMC_FIXED };
	u64 value;

	if (counter_caps()->told_less) {
		test_skip(t, "the processor may have more counters than it reports");
		return;
	}
	for (unsigned k = 0; k < 2; k++) {
		CONTROL(t, CNT_14, !rdpmc_try(bases[k], &value).raised, "ECX = %#x", bases[k]);
		for (unsigned bit = FIRST_BIT_TRIED; bit <= LAST_BIT_TRIED; bit++) {
			const u32 ecx = bases[k] | (u32)BIT(bit);

			if (bit == BACKDOOR_BIT && counter_caps()->hypervisor)
				continue;
			CHECK(t, CNT_14, rdpmc_try(ecx, &value).raised, "#GP of RDPMC, ECX = %#x",
			      ecx);
		}
	}
}

/* At CPL 3 with CR4.PCE = 1 RDPMC reads value; with CR4.PCE = 0 it raises #GP. */
static void check_user(struct test *t, u32 ecx, u64 value, const char *name)
{
	struct user_probe *probe = user_probe_get();
	const u64 cr4 = cr4_read();
	u64 seen;

	probe->ecx = ecx;
	cr4_write(cr4 | CR4_PCE);
	seen = user_call(user_rdpmc, (u64)(uintptr_t)probe);
	CHECK(t, CNT_19, !probe->fault.raised, "RDPMC of %s at CPL 3, CR4.PCE = 1: vector %u", name,
	      probe->fault.vector);
	CHECK_EQ(t, CNT_19, value, seen, "what RDPMC of %s reads at CPL 3", name);
	probe = user_probe_get();
	probe->ecx = ecx;
	cr4_write(cr4 & ~CR4_PCE);
	user_call(user_rdpmc, (u64)(uintptr_t)probe);
	cr4_write(cr4);
	CHECK(t, CNT_18, probe->fault.raised && probe->fault.vector == VECTOR_GP,
	      "RDPMC of %s at CPL 3, CR4.PCE = 0: vector %u", name, probe->fault.vector);
}

/*
 * CNT-18  RDPMC at CPL 1, 2 or 3 must raise #GP while CR4.PCE is 0.
 * CNT-19  RDPMC at CPL 1, 2 or 3 must return the counter while CR4.PCE is 1.
 *         SDM volume 2 RDPMC
 *
 * Given  each fixed counter holds a different value, as wide as it is; where there are metrics, a
 *        value that isn't 0 is written to them
 * When   RDPMC is executed at CPL 3 with ECX[30] and the counter's index, and with 20000000H, with
 *        CR4.PCE = 1 and with 0
 * Then   with 1 it reads the value without an exception; with 0 it raises #GP
 */
TEST(msr, rdpmc_of_fixed_counters_at_cpl_3_needs_cr4_pce, REQS(CNT_18, CNT_19),
     NEEDS(need_perfmon, need_fixed_0_to_2))
{
	const struct pmu_caps *caps = counter_caps();
	const u64 top = BIT(caps->fixed_width - 1);

	FOR_EACH_COUNTER (i, caps->fixed_mask) {
		counter_write(PMC_FIXED(i), top | own(i));
		check_user(t, (u32)RDPMC_FIXED + i, top | own(i), "a fixed counter");
		counter_write(PMC_FIXED(i), 0);
	}
	if (!caps->metrics)
		return;
	/* The manual allows only 0 to be written. */
	msr_write(MSR_PERF_METRICS, METRICS_VALUE);
	check_user(t, (u32)RDPMC_METRICS, msr_read(MSR_PERF_METRICS), "the metrics");
	msr_write(MSR_PERF_METRICS, 0);
}
