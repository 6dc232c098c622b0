/* SPDX-License-Identifier: MIT */
/*
 * Registers and counters one by one, all with different contents. SDM volume 2 RDMSR, RDPMC and
 * CPUID; "Enhancements of Performance Monitoring in the Processor Core"; "Off-core Response
 * Performance Monitoring".
 */
#include "kernel/interrupt/fault.h"
#include "pmu/counter.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"

#define UPPER		BITS(32, 63)
#define LEAF_PERFMON	0xa	/* CPUID: Architectural Performance Monitoring */
#define NEHALEM_COUNTERS 4	/* "four general purpose performance counters" */

/* A value for this counter alone, small enough to be written to any counter. */
static u64 content(unsigned counter)
{
	return 0x01010101ULL * (counter % 32 + 1) + (PMC_IS_FIXED(counter) ? 0x40000000 : 0);
}

/*
 * CNT-06  RDPMC must return the value that RDMSR of the same counter returns.
 * CNT-16  RDPMC with ECX[30] set must read the fixed counter that the index names.
 *         SDM volume 2 RDPMC
 *
 * Given  each counter holds a different value
 * When   RDPMC is executed with the index of each general-purpose and each fixed counter
 * Then   it reads that counter's value
 * Control: IA32_PMC0 reads more than its value once it has counted: what is read is a counter
 */
TEST(count, rdpmc_reads_the_counter_that_its_index_names, REQS(CNT_06, CNT_16),
     NEEDS(need_perfmon, need_instructions))
{
	const struct pmu_caps *caps = counter_caps();

	FOR_EACH_COUNTER (c, counters_gp().bits)
		counter_write(c, content(c));
	FOR_EACH_COUNTER (i, caps->fixed_mask)
		counter_write(PMC_FIXED(i), content(PMC_FIXED(i)));
	FOR_EACH_COUNTER (c, counters_gp().bits)
		CHECK_EQ(t, CNT_06, content(c), rdpmc(c), "RDPMC of IA32_PMC%u", c);
	FOR_EACH_COUNTER (i, caps->fixed_mask)
		CHECK_EQ(t, CNT_16, content(PMC_FIXED(i)), rdpmc((u32)RDPMC_FIXED + i),
			 "RDPMC of fixed counter %u", i);
	counter_program(0, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(0, content(0));
	counters_enable(pmc_one(0));
	counters_disable();
	CONTROL_RANGE(t, CNT_06, content(0) + 1, ~0ULL, rdpmc(0),
		      "RDPMC of IA32_PMC0 after it has counted");
}

/* RAX and RDX after the instruction; before it they are all ones. */
struct pair {
	u64 rax, rdx;
};

static struct pair rdmsr_pair(u32 msr)
{
	struct pair p = { ~0ULL, ~0ULL };

	__asm__ volatile("rdmsr" : "+a"(p.rax), "+d"(p.rdx) : "c"(msr) : "memory");
	return p;
}

static struct pair rdpmc_pair(u32 ecx)
{
	struct pair p = { ~0ULL, ~0ULL };

	__asm__ volatile("rdpmc" : "+a"(p.rax), "+d"(p.rdx) : "c"(ecx) : "memory");
	return p;
}

static void check_pair(struct test *t, const char *what, u32 index, struct pair p)
{
	CHECK_EQ(t, MSR_41, 0, p.rax & UPPER, "RAX[63:32] after %s, ECX = %#x", what, index);
	CHECK_EQ(t, MSR_41, 0, p.rdx & UPPER, "RDX[63:32] after %s, ECX = %#x", what, index);
}

/* Count some slots, so that MSR_PERF_METRICS isn't 0 afterwards. */
static void count_slots(void)
{
	counter_program(PMC_FIXED(3), 0, COUNT_BOTH);
	counter_write(PMC_FIXED(3), 0);
	msr_write(MSR_PERF_METRICS, 0);
	counters_enable(
		(struct pmc_mask){ BIT(PMC_FIXED(3)) | IA32_PERF_GLOBAL_CTRL_EN_PERF_METRICS });
	counters_disable();
	counter_program_disabled(PMC_FIXED(3), 0, 0);
}

/*
 * MSR-41  In 64-bit mode RDMSR and RDPMC of the PMU must clear bits 63:32 of RAX and of RDX.
 *         SDM volume 2, RDMSR; RDPMC: in 64-bit mode the high-order 32 bits of RAX and RDX are
 *         cleared
 *
 * Given  RAX and RDX are all ones
 * When   each register of the PMU is read by RDMSR, each counter and the metrics by RDPMC
 * Then   RAX[63:32] and RDX[63:32] are 0
 * Control: RDPMC leaves the counter's value in EAX
 */
TEST(msr, rdmsr_and_rdpmc_clear_the_upper_halves_of_rax_and_rdx, REQS(MSR_41), NEEDS(need_perfmon))
{
	const struct pmu_caps *caps = counter_caps();
	const u32 always[] = { MSR_IA32_PERF_GLOBAL_CTRL, MSR_IA32_PERF_GLOBAL_STATUS,
			       MSR_IA32_DEBUGCTL };

	FOR_EACH_COUNTER (c, counters_gp().bits) {
		counter_write(c, content(c));
		check_pair(t, "RDMSR", MSR_IA32_PMC0 + c, rdmsr_pair(MSR_IA32_PMC0 + c));
		check_pair(t, "RDMSR", MSR_IA32_PERFEVTSEL0 + c,
			   rdmsr_pair(MSR_IA32_PERFEVTSEL0 + c));
		check_pair(t, "RDPMC", c, rdpmc_pair(c));
		CONTROL_EQ(t, MSR_41, content(c), rdpmc_pair(c).rax,
			   "RAX after RDPMC of IA32_PMC%u", c);
	}
	FOR_EACH_COUNTER (i, caps->fixed_mask) {
		check_pair(t, "RDMSR", MSR_IA32_FIXED_CTR0 + i,
			   rdmsr_pair(MSR_IA32_FIXED_CTR0 + i));
		check_pair(t, "RDPMC", (u32)RDPMC_FIXED + i, rdpmc_pair((u32)RDPMC_FIXED + i));
	}
	if (caps->metrics) {
		count_slots();
		check_pair(t, "RDMSR", MSR_PERF_METRICS, rdmsr_pair(MSR_PERF_METRICS));
		check_pair(t, "RDPMC", (u32)RDPMC_METRICS, rdpmc_pair((u32)RDPMC_METRICS));
		CONTROL_EQ(t, MSR_41, (u32)msr_read(MSR_PERF_METRICS),
			   rdpmc_pair((u32)RDPMC_METRICS).rax, "RAX after RDPMC of the metrics");
	}
	if (caps->fixed)
		check_pair(t, "RDMSR", MSR_IA32_FIXED_CTR_CTRL,
			   rdmsr_pair(MSR_IA32_FIXED_CTR_CTRL));
	for (unsigned i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		check_pair(t, "RDMSR", always[i], rdmsr_pair(always[i]));
	if (caps->pebs)
		check_pair(t, "RDMSR", MSR_IA32_PEBS_ENABLE, rdmsr_pair(MSR_IA32_PEBS_ENABLE));
}

struct leaf {
	u32 eax, ebx, ecx, edx;
};

static struct leaf perfmon_leaf(u32 ecx)
{
	struct leaf leaf = { LEAF_PERFMON, 0, ecx, 0 };

	__asm__ volatile("cpuid" : "+a"(leaf.eax), "=b"(leaf.ebx), "+c"(leaf.ecx), "=d"(leaf.edx));
	return leaf;
}

/*
 * MSR-01  CPUID leaf 0AH, DS, DTES64, PDCM and IA32_PERF_CAPABILITIES must agree with the
 *         registers that exist.
 *         SDM 18.18 IA32_PERF_CAPABILITIES MSR Enumeration; SDM 18.2.1.1 Architectural Performance
 *         Monitoring Version 1 Facilities
 *
 * Given  CPUID.0AH with ECX = 0
 * When   it is executed with other values of ECX, because a leaf without sub-leaves answers
 *        whatever ECX is
 * Then   EAX, EBX and EDX are the same
 * Control: EAX isn't 0
 */
TEST(enumeration, cpuid_leaf_0ah_ignores_ecx, REQS(MSR_01), NEEDS(need_perfmon))
{
	static const u32 others[] = { 1, 2, 0x80000000, 0xffffffff };
	struct leaf want = perfmon_leaf(0), got;

	HARNESS_CHECK(t, want.eax, "CPUID.0AH:EAX with ECX = 0: the test's needs have seen it");
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		got = perfmon_leaf(others[i]);
		CHECK_EQ(t, MSR_01, want.eax, got.eax, "CPUID.0AH:EAX, ECX = %#x", others[i]);
		CHECK_EQ(t, MSR_01, want.ebx, got.ebx, "CPUID.0AH:EBX, ECX = %#x", others[i]);
		CHECK_EQ(t, MSR_01, want.edx, got.edx, "CPUID.0AH:EDX, ECX = %#x", others[i]);
	}
}

/*
 * MSR-42  CPUID must enumerate four general-purpose counters, with or without Hyper-Threading, and
 *         a fifth must not exist.
 *         SDM 18.8.1 Enhancements of Performance Monitoring in the Processor Core: four general
 *         purpose performance counters
 *
 * Given  Nehalem and Westmere: "four general purpose performance counters"
 * When   CPUID.0AH:EAX[15:8] is read; RDMSR and RDPMC are tried on eight counters and event
 *        selects
 * Then   it says four; the first four answer, the others raise an exception
 */
TEST(enumeration, nehalem_has_four_general_purpose_counters, REQS(MSR_42),
     NEEDS(need_perfmon, need_events))
{
	u64 value;

	CHECK_EQ(t, MSR_42, NEHALEM_COUNTERS, counter_caps()->leaf_0a_eax >> 8 & 0xff,
		 "CPUID.0AH:EAX[15:8]");
	for (u32 c = 0; c < NEHALEM_COUNTERS + 4; c++) {
		bool wanted = c < NEHALEM_COUNTERS;

		CHECK_EQ(t, MSR_42, !wanted, msr_try_read(MSR_IA32_PMC0 + c, &value).raised,
			 "an exception on RDMSR of IA32_PMC%u", c);
		CHECK_EQ(t, MSR_42, !wanted, msr_try_read(MSR_IA32_PERFEVTSEL0 + c, &value).raised,
			 "an exception on RDMSR of IA32_PERFEVTSEL%u", c);
		CHECK_EQ(t, MSR_42, !wanted, rdpmc_try(c, &value).raised,
			 "an exception on RDPMC with ECX = %u", c);
	}
}

/*
 * MSR-24  Both off-core response MSRs, 1A6H and 1A7H, must exist.
 *         SDM 18.8.1 Enhancements of Performance Monitoring in the Processor Core (Nehalem) (two);
 *         18.8.1.3 (one on Nehalem)
 *
 * Given  request and response bits that every layout of the two registers has
 * When   each register is written with other values than the other one
 * Then   each reads the value that was written to it
 */
TEST(msr, off_core_response_registers_are_independent, REQS(MSR_24),
     NEEDS(need_perfmon, need_offcore, need_offcore_2))
{
	static const u64 values[][2] = { { 0x0001, 0x8002 }, { 0x8002, 0x0001 }, { 0x8003, 0 },
					 { 0, 0x8003 } };

	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		for (u32 n = 0; n < 2; n++)
			msr_write(MSR_OFFCORE_RSP_0 + n, values[i][n]);
		for (u32 n = 0; n < 2; n++)
			CHECK_EQ(t, MSR_24, values[i][n], msr_read(MSR_OFFCORE_RSP_0 + n),
				 "MSR_OFFCORE_RSP_%u, the other one is %#lx", n, values[i][!n]);
	}
	for (u32 n = 0; n < 2; n++)
		msr_write(MSR_OFFCORE_RSP_0 + n, 0);
}
