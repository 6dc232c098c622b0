/* SPDX-License-Identifier: MIT */
/*
 * Packages with cores of two types (CPUID leaf 1AH, "Native Model ID Enumeration"): each processor
 * is tested separately. Values that were read on one type of core aren't judged by the facts of the
 * other type.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/cpuid.h"
#include "pmu/pebs.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/two_cpus.h"

#define ENABLES	48u	/* bits of IA32_PEBS_ENABLE that belong to counters */
#define FEWER	40u
#define MORE	140u

static bool need_core_type(char *reason, size_t size)
{
	if (counter_caps()->core_type)
		return true;
	fmt_print(reason, size, "no type of core (CPUID.1AH:EAX = 0)");
	return false;
}

/* Of a generation in which a P-core has MSR_PERF_METRICS. */
static bool need_baseline_or_arch_pebs(char *reason, size_t size)
{
	return counter_caps()->arch_pebs || need_baseline(reason, size);
}

/* The enumeration of a processor, and the bits that its registers accept. */
struct look {
	struct two_cpus both;
	struct seen {
		u32 hybrid, type;
		u64 capabilities;
		bool metrics;		/* RDMSR of MSR_PERF_METRICS raises no exception */
		u64 counters;		/* counters that support PEBS, by CPUID */
		bool told_less;
		u64 enables;		/* bits that IA32_PEBS_ENABLE accepts */
	} seen[2];
};

static void look(void *arg)
{
	struct look *l = arg;
	struct seen *s = &l->seen[two_cpus_side()];
	const struct pmu_caps *caps = counter_caps();
	u64 value;

	*s = (struct seen){
		.hybrid = cpuid_get(CPUID_HYBRID),
		.type = cpuid_get(CPUID_CORE_TYPE),
		.capabilities = msr_read(MSR_IA32_PERF_CAPABILITIES),
		.metrics = !msr_try_read(MSR_PERF_METRICS, &value).raised,
		.counters = caps->pebs_mask | (u64)caps->pebs_fixed_mask << 32,
		.told_less = caps->told_less,
	};
	if (!caps->baseline)	/* IA32_PEBS_ENABLE doesn't exist with architectural PEBS */
		return;
	for (unsigned bit = 0; bit < ENABLES; bit++)
		if (!msr_try_write(MSR_IA32_PEBS_ENABLE, BIT(bit)).raised)
			s->enables |= BIT(bit);
	(void)msr_try_write(MSR_IA32_PEBS_ENABLE, 0);	/* none with architectural PEBS */
}

/* A processor of the first one's core, then one of another core, then one of the other type. 0
 * after the last. */
static unsigned partner(unsigned i)
{
	unsigned same = two_cpus_partner(i);

	if (same)
		return same;
	return !i || two_cpus_partner(i - 1) ? smp_other_kind() : 0;
}
#define EACH(cpu) (unsigned i = 0, cpu; (cpu = partner(i)); i++)

/*
 * HYB-01  CPUID.07H.0:EDX[15] must be the same on all logical processors.
 *         SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 07H
 *
 * Given  a processor whose CPUID leaf 1AH reports a type of core, and other processors
 * When   each executes CPUID
 * Then   EDX[15] of leaf 07H is what the first one has; where two types were seen, it is 1
 */
TEST(enumeration, all_processors_agree_that_the_package_is_hybrid, REQS(HYB_01),
     NEEDS(need_perfmon, need_core_type, need_second_processor))
{
	for
		EACH(cpu)
		{
			struct look l;

			if (!two_cpus_run(t, &l.both, cpu, look, &l))
				return;
			CHECK_EQ(t, HYB_01, l.seen[0].hybrid, l.seen[1].hybrid,
				 "CPUID.07H:EDX[15] of processor %u", smp_number(cpu));
			if (l.seen[0].type != l.seen[1].type)
				CHECK_EQ(t, HYB_01, 1, l.seen[0].hybrid,
					 "CPUID.07H:EDX[15] with types %#x and %#x", l.seen[0].type,
					 l.seen[1].type);
		}
}

static void check_type(struct test *t, const struct seen *s, const char *whose)
{
	const bool told = s->capabilities & IA32_PERF_CAPABILITIES_PERF_METRICS;

	if (!CHECK(t, HYB_02, s->type == CORE_TYPE_ATOM || s->type == CORE_TYPE_CORE,
		   "CPUID.1AH:EAX[31:24] of %s is %#x", whose, s->type))
		return;
	/* That E-cores don't have it is MET-16, Linux's. */
	if (test_is_strict(t))
		CHECK_EQ(t, HYB_02, s->type == CORE_TYPE_CORE, s->metrics,
			 "MSR_PERF_METRICS is there, on %s of type %#x", whose, s->type);
	if (s->type == CORE_TYPE_ATOM)
		CHECK(t, HYB_06, !told, "IA32_PERF_CAPABILITIES of %s, an E-core, is %#lx", whose,
		      s->capabilities);
}

/*
 * HYB-02  CPUID.1AH:EAX[31:24] must be 40H on a P-core and 20H on an E-core.
 *         SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 1AH
 * HYB-06  IA32_PERF_CAPABILITIES[15] must be 0 on an E-core.
 *         Linux intel_pmu_init
 *
 * Given  P-cores have MSR_PERF_METRICS, E-cores don't
 * When   a processor, and others of its core, of another core and of another type, where there are
 *        such, execute CPUID leaf 1AH and read MSR_PERF_METRICS and IA32_PERF_CAPABILITIES
 * Then   the type is 40H or 20H; with 20H bit 15 is 0; where every requirement is judged, the type
 *        is 40H where the register is, and 20H where it raises #GP
 */
TEST(enumeration, core_type_is_40h_with_perf_metrics_and_20h_without, REQS(HYB_02, HYB_06),
     NEEDS(need_perfmon, need_core_type, need_baseline_or_arch_pebs, need_refused_msrs,
	   need_second_processor))
{
	struct look l;

	look(&l);
	check_type(t, &l.seen[0], "the first processor");
	for
		EACH(cpu)
		{
			if (!two_cpus_run(t, &l.both, cpu, look, &l))
				return;
			check_type(t, &l.seen[1], "another processor");
		}
}

static void check_enables(struct test *t, const struct seen *s, const char *whose)
{
	if (!s->told_less)
		CHECK_EQ(t, HYB_07, s->counters, s->enables,
			 "bits that IA32_PEBS_ENABLE of %s takes, type %#x", whose, s->type);
}

/*
 * HYB-07  IA32_PEBS_ENABLE must take the bits of its own core's counters only.
 *         KVM; a hypervisor's measurements
 *
 * Given  the counters that CPUID.0AH of each processor names
 * When   each bit is written to IA32_PEBS_ENABLE, on the first processor and on others
 * Then   those of its own counters are taken, and each other raises #GP
 */
TEST(msr, pebs_enable_takes_the_counters_of_its_own_core, REQS(HYB_07),
     NEEDS(need_perfmon, need_core_type, need_baseline, need_refused_msrs, need_second_processor))
{
	struct look l;

	look(&l);
	if (l.seen[0].told_less) {
		test_skip(t, "the processor may have more counters than it reports");
		return;
	}
	check_enables(t, &l.seen[0], "the first processor");
	for
		EACH(cpu)
		{
			if (!two_cpus_run(t, &l.both, cpu, look, &l))
				return;
			check_enables(t, &l.seen[1], "another processor");
		}
}

/* These may count 0: slots of bad speculation, and slots that the front end leaves empty. */
#define MAY_STAND	(BIT(PMC_FIXED(4)) | BIT(PMC_FIXED(5)))
#define USE_ROUNDS	200u
#define NEAR_ONES	0x7fffffffULL	/* every address of a counter accepts this value */

struct use {
	struct two_cpus both;
	struct used {
		u64 named;		/* counters that CPUID reports */
		u64 takes, counts;	/* they keep a value; they have counted */
		u32 type;
	} seen[2];
};

static u64 named_counters(const struct pmu_caps *caps)
{
	const u64 gp = caps->v6.counters ? (u32)caps->v6.counters : BIT(caps->gp_enumerated) - 1;

	return gp | (u64)caps->fixed_mask << PMC_FIXED(0);
}

/* The register of counter c: IA32_PMCn or a fixed counter. */
static u32 value_register(unsigned c)
{
	return PMC_IS_FIXED(c) ? MSR_IA32_FIXED_CTR0 + c - PMC_FIXED(0) : MSR_IA32_PMC0 + c;
}

/* Enable counter c at all levels, a general-purpose one with branches; or switch it off. */
static bool control(unsigned c, bool on)
{
	const u64 event = EVENT_BR_INST_RETIRED_ALL_BRANCHES | COUNT_BOTH | IA32_PERFEVTSEL_EN;
	const u32 msr = PMC_IS_FIXED(c) ? MSR_IA32_FIXED_CTR_CTRL : MSR_IA32_PERFEVTSEL0 + c;
	const u64 value = PMC_IS_FIXED(c) ? 3ULL << 4 * (c - PMC_FIXED(0)) : event;

	return !msr_try_write(msr, on ? value : 0).raised;
}

/* true: the counter keeps a value. *counts: it has counted in a loop. */
static bool use_counter(unsigned c, bool *counts)
{
	const u32 msr = value_register(c);
	u64 before = 0, after = 0;
	bool takes = control(c, true) && !msr_try_write(msr, NEAR_ONES).raised &&
		     !msr_try_read(msr, &before).raised && before == NEAR_ONES &&
		     !msr_try_write(msr, 0).raised &&
		     !msr_try_write(MSR_IA32_PERF_GLOBAL_CTRL, BIT(c)).raised;

	workload_run_uncounted(&workload_branch, USE_ROUNDS);
	(void)msr_try_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	(void)msr_try_read(msr, &after);
	(void)control(c, false);
	*counts = takes && after;
	return takes;
}

static void use(void *arg)
{
	struct use *u = arg;
	struct used *s = &u->seen[two_cpus_side()];

	*s = (struct used){ .named = named_counters(counter_caps()),
			    .type = counter_caps()->core_type };
	FOR_EACH_COUNTER (c, s->named) {
		bool counts;

		if (use_counter(c, &counts))
			s->takes |= BIT(c);
		if (counts)
			s->counts |= BIT(c);
	}
}

static void check_use(struct test *t, const struct used *s, const char *whose)
{
	CHECK_EQ(t, HYB_03, s->named, s->takes,
		 "counters that can be programmed and keep a value, of those that CPUID reports, "
		 "%s of type %#x",
		 whose, s->type);
	CHECK_EQ(t, HYB_03, s->named & ~MAY_STAND, s->counts & ~MAY_STAND,
		 "counters that count a loop of branches, %s of type %#x", whose, s->type);
}

/*
 * HYB-03  Each counter that CPUID reports on a core must be there on that core and count.
 *         SDM volume 1, Processor Identification and Feature Determination: CPUID leaves 0AH and
 *         23H
 *
 * Given  the counters that CPUID.0AH, or leaf 23H, reports
 * When   each of them is programmed, general-purpose ones with the branch event, written, read and
 *        enabled, and a loop of branches runs
 * Then   each takes the written value, and counts; fixed counters 4 and 5, whose slots may be none,
 *        need only take it
 */
TEST(count, each_counter_that_cpuid_reports_counts, REQS(HYB_03),
     NEEDS(need_perfmon, need_branches))
{
	struct use u;

	use(&u);
	check_use(t, &u.seen[two_cpus_side()], "this processor");
}

/*
 * HYB-03  Each counter that CPUID reports on a core must be there on that core and count.
 *         SDM volume 1, Processor Identification and Feature Determination: CPUID leaves 0AH and
 *         23H
 *
 * Given  the counters that CPUID.0AH, or leaf 23H, reports on other processors: of the first one's
 *        core, of another core, and of the other type of core, where there are such
 * When   each of them is programmed, written, read and enabled there, and a loop of branches runs
 * Then   each takes the written value, and counts; fixed counters 4 and 5 need only take it
 */
TEST(count, each_counter_that_cpuid_reports_on_another_core_counts_there, REQS(HYB_03),
     NEEDS(need_perfmon, need_branches, need_second_processor))
{
	struct use u;

	for
		EACH(cpu)
		{
			if (!two_cpus_run(t, &u.both, cpu, use, &u))
				return;
			check_use(t, &u.seen[1], "another processor");
		}
}

/* The E-cores of every hybrid have version 5, IA32_PMC0 to 5 and fixed counters 0 to 2. If CPUID
 * reports less, it doesn't report the counters common to all cores. */
static bool need_told_less(char *reason, size_t size)
{
	enum { COMMON_VERSION = 5, COMMON_GP = 6, COMMON_FIXED = 3 };
	const struct pmu_caps *caps = counter_caps();

	if (caps->told_less && caps->version >= COMMON_VERSION &&
	    caps->gp_enumerated >= COMMON_GP && caps->fixed >= COMMON_FIXED)
		return true;
	fmt_print(reason, size,
		  "CPUID reports each counter of this core, or fewer than E-cores have, or it is "
		  "of no hybrid (CPUID.0AH:EAX = %#x ECX = %#x)",
		  counter_caps()->leaf_0a_eax, counter_caps()->leaf_0a_ecx);
	return false;
}

/*
 * HYB-04  A P-core of a hybrid must have IA32_PMC6, IA32_PMC7 and fixed counter 3 even where
 *         CPUID.0AH reports those that all types of cores have.
 *         Linux intel_pmu_init: a hybrid's P-core has eight and four counters, whatever CPUID.0AH
 *         says
 *
 * Given  a P-core of a hybrid on which CPUID.0AH reports fewer counters than its type has
 * When   IA32_PMC6, IA32_PMC7 and fixed counter 3 are programmed and enabled, and a loop runs
 * Then   each takes the written value, and counts
 */
TEST(count, p_core_has_the_counters_that_cpuid_leaves_out, REQS(HYB_04),
     NEEDS(need_perfmon, need_branches, need_told_less, need_refused_msrs))
{
	static const unsigned left_out[] = { 6, 7, PMC_FIXED(3) };

	for (unsigned i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
		bool counts;

		CHECK(t, HYB_04, use_counter(left_out[i], &counts) && counts,
		      "counter %u can be programmed, and counts (CPUID.0AH:EAX = %#x)", left_out[i],
		      counter_caps()->leaf_0a_eax);
	}
}

/*
 * HYB-05  A counter of one core must not count the events of another.
 *         SDM tables of chapter 35 (scope: Thread)
 *
 * Given  a processor that counts instructions at CPL 3, and one of the other type that doesn't
 * When   each does 100 more rounds of a loop
 * Then   the count grows by none of the other's instructions
 * Control: it grows by its own
 */
TEST(count, counters_count_nothing_of_a_core_of_the_other_type, REQS(HYB_05),
     NEEDS(need_perfmon, need_instructions, need_other_kind))
{
	const unsigned cpu = smp_other_kind();
	struct two_cpus_window window = {
		.side = {
			{ .counters = { counters_gp().bits }, .event = EVENT_INST_RETIRED_ANY_P,
			  .flags = COUNT_USR, .work = &workload_branch, .n = FEWER },
			{ .work = &workload_load, .n = FEWER },
		},
	};
	const u64 far = window_far_slack(t);
	const u64 more = workload_declared(&workload_branch, WORKLOAD_INSTRUCTIONS, MORE) -
			 workload_declared(&workload_branch, WORKLOAD_INSTRUCTIONS, FEWER);
	struct two_cpus_side least, own;

	if (!two_cpus_count(t, &window, cpu))
		return;
	least = window.side[0];
	window.side[0].n = MORE;
	if (!two_cpus_count(t, &window, cpu))
		return;
	own = window.side[0];
	window.side[0].n = FEWER;
	window.side[1].n = MORE;
	if (!two_cpus_count(t, &window, cpu))
		return;
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		CONTROL_RANGE(t, HYB_05, more, more + 2 * far, own.value[c] - least.value[c] + far,
			      "IA32_PMC%u: its own instructions, and %lu", c, far);
		CHECK_RANGE(t, HYB_05, least.value[c], least.value[c] + 2 * far,
			    window.side[0].value[c] + far,
			    "IA32_PMC%u while a core of the other type does 100 rounds more, and "
			    "%lu",
			    c, far);
	}
}
