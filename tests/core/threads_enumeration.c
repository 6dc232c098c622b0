/* SPDX-License-Identifier: MIT */
/*
 * The enumeration of the other processors' counters: SDM "Architectural Performance Monitoring
 * Version 1 Facilities" (the number of counters is that of a logical processor). The first
 * processor's own registers are in tests/core/enumeration.c.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/processor/cpuid.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/two_cpus.h"

#define COUNTERS_MOST	32u	/* general-purpose ones: IA32_PERF_GLOBAL_CTRL has no more bits */

#define FIXED_MOST	16u	/* fixed counters: IA32_FIXED_CTR_CTRL has no more fields */

/* The fields of CPUID that describe the PMU. */
static const struct {
	enum cpuid_field field;
	const char *name;
} fields[] = {
	{ CPUID_PERFMON_VERSION, "0AH:EAX[7:0]" },  { CPUID_GP_COUNTERS, "0AH:EAX[15:8]" },
	{ CPUID_GP_WIDTH, "0AH:EAX[23:16]" },	    { CPUID_EVENTS_LENGTH, "0AH:EAX[31:24]" },
	{ CPUID_EVENTS_ABSENT, "0AH:EBX" },	    { CPUID_FIXED_MASK, "0AH:ECX" },
	{ CPUID_FIXED_COUNTERS, "0AH:EDX[4:0]" },   { CPUID_FIXED_WIDTH, "0AH:EDX[12:5]" },
	{ CPUID_ANYTHREAD_DEPRECATED, "0AH:EDX[15]" }, { CPUID_DTES64, "01H:ECX[2]" },
	{ CPUID_PDCM, "01H:ECX[15]" },		    { CPUID_DS, "01H:EDX[21]" },
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* The enumeration of each of the two, and the registers that RDMSR can read there. */
struct look {
	struct two_cpus both;
	struct {
		u32 enumerated;		/* CPUID.0AH:EAX[15:8] */
		u64 counters, selects;	/* bit n: register of counter n can be read */
		u64 fixed;		/* the same for fixed counters */
		u32 field[FIELDS];	/* of CPUID */
		u64 capabilities;	/* IA32_PERF_CAPABILITIES */
	} of[2];
};

/* Bit n: register n of a row of `count` registers can be read. */
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
	for (unsigned i = 0; i < FIELDS; i++)
		l->of[side].field[i] = cpuid_get(fields[i].field);
	l->of[side].fixed = readable(MSR_IA32_FIXED_CTR0, FIXED_MOST);
	l->of[side].capabilities = 0;
	if (cpuid_get(CPUID_PDCM))
		msr_try_read(MSR_IA32_PERF_CAPABILITIES, &l->of[side].capabilities);
}

/*
 * MSR-01  CPUID leaf 0AH, DS, DTES64, PDCM and IA32_PERF_CAPABILITIES must agree with the
 *         registers that exist.
 *         SDM 18.18 IA32_PERF_CAPABILITIES MSR Enumeration; SDM 18.2.1.1 Architectural Performance
 *         Monitoring Version 1 Facilities
 *
 * Given  the other thread of the core, and a processor of another core, where there are such
 * When   each executes CPUID.0AH and RDMSR of each counter and event select that it enumerates
 * Then   no read raises an exception
 * Control: each enumerates at least one general-purpose counter
 */
TEST(enumeration, other_processors_have_the_counters_that_they_enumerate, REQS(MSR_01),
     NEEDS(need_perfmon, need_partner))
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

/*
 * MSR-01  CPUID leaf 0AH, DS, DTES64, PDCM and IA32_PERF_CAPABILITIES must agree with the
 *         registers that exist.
 *         SDM 18.18 IA32_PERF_CAPABILITIES MSR Enumeration; SDM 18.2.1.1 Architectural Performance
 *         Monitoring Version 1 Facilities
 *
 * Given  the two threads of a core, whose PMUs are alike
 * When   each executes CPUID.0AH and CPUID.01H, RDMSR of each fixed counter, and RDMSR of
 *        IA32_PERF_CAPABILITIES with PDCM
 * Then   both have the same counters, and both say the same of them
 */
TEST(enumeration, threads_of_a_core_enumerate_the_same, REQS(MSR_01),
     NEEDS(need_perfmon, need_sibling_thread))
{
	struct look l = { .of = { { 0 } } };

	if (!two_cpus_run(t, &l.both, smp_sibling(), look, &l))
		return;
	for (unsigned i = 0; i < FIELDS; i++)
		CHECK_EQ(t, MSR_01, l.of[0].field[i], l.of[1].field[i],
			 "CPUID.%s of the second thread, as of the first", fields[i].name);
	CHECK_EQ(t, MSR_01, l.of[0].fixed, l.of[1].fixed,
		 "fixed counters of the second thread that can be read, as of the first");
	CHECK_EQ(t, MSR_01, l.of[0].capabilities, l.of[1].capabilities,
		 "IA32_PERF_CAPABILITIES of the second thread, as of the first");
}
