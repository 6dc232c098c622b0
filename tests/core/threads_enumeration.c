/* SPDX-License-Identifier: MIT */
/*
 * What the other processors say of their counters: SDM "Architectural Performance Monitoring
 * Version 1 Facilities" (the number of counters is that of a logical processor). The first
 * processor's own registers are in tests/core/enumeration.c.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/processor/cpuid.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/two_cpus.h"

#define COUNTERS_MOST	32u	/* general-purpose ones: IA32_PERF_GLOBAL_CTRL has no more bits */

/* What each of the two enumerates, and which of these registers RDMSR reads. */
struct look {
	struct two_cpus both;
	struct {
		u32 enumerated;		/* CPUID.0AH:EAX[15:8] */
		u64 counters, selects;	/* bit n: that of counter n answers */
	} of[2];
};

/* Bit n: register n of a row of so many can be read. */
static u64 readable(u32 first, u32 count)
{
	u64 answer = 0, value;

	for (u32 n = 0; n < count; n++)
		answer |= msr_try_read(first + n, &value).raised ? 0 : BIT(n);
	return answer;
}

static void look(void *arg)
{
	struct look *l = arg;
	const unsigned side = two_cpus_side();

	l->of[side].enumerated = cpuid_get(CPUID_GP_COUNTERS);
	l->of[side].counters = readable(MSR_IA32_PMC0, l->of[side].enumerated);
	l->of[side].selects = readable(MSR_IA32_PERFEVTSEL0, l->of[side].enumerated);
}

/*
 * MSR-01  CPUID leaf 0AH, PDCM and IA32_PERF_CAPABILITIES must agree with the registers that
 *         exist.
 *         SDM 18.18 IA32_PERF_CAPABILITIES MSR Enumeration; SDM 18.2.1.1 Architectural Performance
 *         Monitoring Version 1 Facilities
 *
 * Given  the other thread of the core, and a processor of another core, where there are such
 * When   each executes CPUID.0AH and RDMSR of each counter and event select that it enumerates
 * Then   no read raises an exception
 * Control: each enumerates at least one general-purpose counter
 */
TEST(enumeration, other_processors_have_the_counters_that_they_enumerate, REQS(MSR_01),
     NEEDS(need_perfmon, need_second_processor))
{
	FOR_EACH_PARTNER(cpu)
	{
		struct look l = { .of = { { 0 } } };

		if (!two_cpus_run(t, &l.both, cpu, look, &l))
			return;
		for (unsigned side = 0; side < 2; side++) {
			const char *whose = two_cpus_whose(cpu, side);
			const u64 want = BITS(0, l.of[side].enumerated - 1);

			if (!CONTROL_RANGE(t, MSR_01, 1, COUNTERS_MOST, l.of[side].enumerated,
					   "general-purpose counters of %s", whose))
				return;
			CHECK_EQ(t, MSR_01, want, l.of[side].counters,
				 "IA32_PMCx of %s that can be read", whose);
			CHECK_EQ(t, MSR_01, want, l.of[side].selects,
				 "IA32_PERFEVTSELx of %s that can be read", whose);
		}
	}
}
