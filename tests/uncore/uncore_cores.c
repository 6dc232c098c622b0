/* SPDX-License-Identifier: MIT */
/*
 * The uncore belongs to the package: SDM "Uncore Performance Monitoring Management Facility" (any
 * core may be interrupted), Table 35-13 (its registers have the scope "Package").
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "kernel/processor/time.h"
#include "pmu/counter.h"
#include "pmu/pmi.h"
#include "tests/measure/cache_workload.h"
#include "tests/frame/needs.h"
#include "tests/measure/two_cpus.h"
#include "tests/uncore/uncore.h"

struct audience {
	struct two_cpus both;
	u64 select;		/* bits of EN_PMI_CORES */
	bool listens[2];
	unsigned interrupts[2];
	u64 shown[2];		/* bit 61 of the status at the entry of the first handler */
};

static void listen(void *arg)
{
	struct audience *a = arg;
	unsigned side = two_cpus_side();
	const struct pmi_log *log;

	msr_write(MSR_IA32_DEBUGCTL, a->listens[side] ? IA32_DEBUGCTL_ENABLE_UNCORE_PMI : 0);
	pmi_open(NULL);
	two_cpus_barrier(&a->both);
	if (side == 0)
		uncore_wrap(true, a->select);
	pmi_settle();
	two_cpus_barrier(&a->both);
	log = pmi_settle();
	a->interrupts[side] = log->count;
	a->shown[side] = log->count ? log->entry[0].status & CORE_UNC_OVF : 0;
	pmi_close();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	counters_clear(counters_status());
}

/* The interrupts of both processors for one wrap with these bits; both have IA32_DEBUGCTL[13]
 * set. */
static bool interrupts_of(struct test *t, unsigned partner, u64 select, unsigned got[2])
{
	struct audience a = { .select = select, .listens = { true, true } };

	if (!two_cpus_run(t, &a.both, partner, listen, &a))
		return false;
	uncore_off();
	for (unsigned side = 0; side < 2; side++)
		got[side] = a.interrupts[side];
	return true;
}

/* Can the select bits reach this processor's core and the partner's? In a package with more than
 * four cores some can't be selected. false: the test is INCONCLUSIVE. */
static bool both_reached(struct test *t, unsigned partner)
{
	unsigned got[2];

	if (!test_erratum(t, ERRATUM_UNCORE_CORES))
		return true;
	if (!interrupts_of(t, partner, uncore_cores(), got))
		return false;
	for (unsigned side = 0; side < 2; side++)
		if (!got[side]) {
			test_inconclusive(t,
					  "no bit of MSR_UNCORE_PERF_GLOBAL_CTRL[51:48] selects %s",
					  two_cpus_whose(partner, side));
			return false;
		}
	return true;
}

/* The fixed counter wraps with each combination of IA32_DEBUGCTL[13] here and on the partner. The
 * claim is that a processor with the bit is interrupted. */
static void check_audience(struct test *t, struct test_claim claim, unsigned partner,
			   const char *what)
{
	if (!both_reached(t, partner))
		return;
	for (unsigned which = 0; which < 4; which++) {
		struct audience a = { .select = uncore_cores(),
				      .listens = { which & 1, which & 2 } };

		if (!two_cpus_run(t, &a.both, partner, listen, &a))
			return;
		CONTROL_EQ(t, PMI_10, OVF_FC0, uncore_status() & OVF_FC0,
			   "OVF_FC0: the fixed counter has wrapped");
		for (unsigned side = 0; side < 2; side++) {
			test_check_eq(t, a.listens[side] ? claim : AT(PMI_10), a.listens[side],
				      a.interrupts[side],
				      "uncore interrupts of %s %u, IA32_DEBUGCTL[13] = %u here, %u "
				      "on the other",
				      what, side, a.listens[side], a.listens[!side]);
			if (a.interrupts[side])
				CHECK_EQ(t, PMI_12, CORE_UNC_OVF, a.shown[side],
					 "38EH[61] at the entry of that of %s %u", what, side);
		}
		uncore_off();
	}
}

static bool of_package(unsigned cpu)
{
	const struct topology first = smp_topology(CPU_BOOT), other = smp_topology(cpu);

	return topology_same_package(&first, &other);
}

/* false: the test has been skipped. */
static bool same_package(struct test *t)
{
	const struct topology first = smp_topology(CPU_BOOT);
	const struct topology other = smp_topology(smp_other_core());

	if (topology_same_package(&first, &other))
		return true;
	test_skip(t, "the other core is of package %u, the first of %u", other.package,
		  first.package);
	return false;
}

/*
 * PMI-10  An uncore interrupt must reach every selected core.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 * PMI-12  Bit 61 of IA32_PERF_GLOBAL_STATUS must be set by an uncore interrupt and cleared by bit
 *         61 of IA32_PERF_GLOBAL_OVF_CTRL.
 *         SDM Table 35-13, Figures 18-33 and 18-34
 *
 * Given  two cores of one package; MSR_UNCORE_PERF_GLOBAL_CTRL selects all cores
 * When   the fixed counter wraps, under each combination of IA32_DEBUGCTL[13] of the two
 * Then   a core with the bit 1 gets one interrupt, at whose entry bit 61 of its
 *        IA32_PERF_GLOBAL_STATUS is 1; a core with the bit 0 gets none
 * Control: the status shows that the fixed counter has wrapped
 */
TEST(unc, uncore_interrupt_reaches_every_core_with_debugctl_13_set, REQS(PMI_10, PMI_12),
     NEEDS(need_perfmon, need_uncore, need_other_core))
{
	if (!same_package(t))
		return;
	check_audience(t, AT(PMI_10), smp_other_core(), "core");
}

/*
 * PMI-10  An uncore interrupt must reach every selected core.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 * PMI-12  Bit 61 of IA32_PERF_GLOBAL_STATUS must be set by an uncore interrupt and cleared by bit
 *         61 of IA32_PERF_GLOBAL_OVF_CTRL.
 *         SDM Table 35-13, Figures 18-33 and 18-34
 * PMI-24  An uncore interrupt must reach each logical processor of a selected core that has
 *         IA32_DEBUGCTL[13] set.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility ("processor core n");
 *         Table 35-13, IA32_DEBUGCTL[13] (scope: Thread)
 *
 * Given  the two threads of a core; MSR_UNCORE_PERF_GLOBAL_CTRL selects all cores.
 *        IA32_DEBUGCTL[13] enables "the logical processor" (Table 35-13)
 * When   the fixed counter wraps, under each combination of IA32_DEBUGCTL[13] of the two
 * Then   a thread with the bit 1 gets one interrupt, at whose entry bit 61 of its
 *        IA32_PERF_GLOBAL_STATUS is 1; a thread with the bit 0 gets none
 * Control: the status shows that the fixed counter has wrapped
 */
TEST(unc, uncore_interrupt_reaches_each_thread_with_debugctl_13_set,
     REQS(PMI_10, PMI_12, PMI_24),
     NEEDS(need_perfmon, need_uncore, need_sibling_thread))
{
	check_audience(t, AT(PMI_24), smp_sibling(), "thread");
}

/* First with all select bits, then with each bit alone. threads: the two processors are of one
 * core. */
static void check_select_bits(struct test *t, struct test_claim alone, struct test_claim sums,
			      unsigned partner, bool threads)
{
	const char *what = threads ? "thread" : "core";
	unsigned all[2], got[2], sum[2] = { 0, 0 };

	if (!interrupts_of(t, partner, uncore_cores(), all))
		return;
	for (unsigned bit = EN_PMI_CORE_FIRST; bit <= EN_PMI_CORE_LAST; bit++) {
		if (!(uncore_cores() & BIT(bit)))
			continue;
		if (!interrupts_of(t, partner, BIT(bit), got))
			return;
		if (threads)
			test_check_eq(t, alone, got[0], got[1],
				      "interrupts of thread 1, as of thread 0, "
				      "MSR_UNCORE_PERF_GLOBAL_CTRL[%u] = 1 alone",
				      bit);
		else
			test_check_range(t, alone, 0, 1, got[0] + got[1],
					 "interrupts of two cores that "
					 "listen, MSR_UNCORE_PERF_GLOBAL_CTRL[%u] = 1 alone",
					 bit);
		for (unsigned side = 0; side < 2; side++)
			sum[side] += got[side];
	}
	for (unsigned side = 0; side < 2; side++)
		test_check_eq(t, sums, all[side], sum[side],
			      "interrupts of %s %u with one bit "
			      "after the other, against all at once",
			      what, side);
}

/*
 * PMI-09  An uncore interrupt must reach only cores that are selected in the uncore and have
 *         IA32_DEBUGCTL[13] set.
 *         SDM 18.8.2 Performance Monitoring Facility in the Uncore
 * PMI-10  An uncore interrupt must reach every selected core.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 *
 * Given  two cores of one package, both with IA32_DEBUGCTL[13] = 1; the core's number in the uncore
 *        isn't known
 * When   the fixed counter wraps with all four select bits, 51:48 of MSR_UNCORE_PERF_GLOBAL_CTRL,
 *        then with each alone
 * Then   one bit interrupts at most one of the two; all bits one after the other interrupt a core
 *        as often as all at once
 */
TEST(unc, each_uncore_select_bit_interrupts_one_core, REQS(PMI_09, PMI_10),
     NEEDS(need_perfmon, need_uncore, need_other_core))
{
	if (same_package(t))
		check_select_bits(t, AT(PMI_09), AT(PMI_10), smp_other_core(), false);
}

/*
 * PMI-24  An uncore interrupt must reach each logical processor of a selected core that has
 *         IA32_DEBUGCTL[13] set.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility ("processor core n");
 *         Table 35-13, IA32_DEBUGCTL[13] (scope: Thread)
 *
 * Given  the two threads of a core, both with IA32_DEBUGCTL[13] = 1; a select bit is of a core
 *        ("processor core n is programmed to receive an interrupt signal", SDM 18.8.2.1)
 * When   the fixed counter wraps with all four select bits, 51:48 of MSR_UNCORE_PERF_GLOBAL_CTRL,
 *        then with each alone
 * Then   one bit interrupts both threads or none; all bits one after the other interrupt a thread
 *        as often as all at once
 */
TEST(unc, uncore_select_bit_interrupts_both_threads_of_a_core_or_none, REQS(PMI_24),
     NEEDS(need_perfmon, need_uncore, need_sibling_thread))
{
	check_select_bits(t, AT(PMI_24), AT(PMI_24), smp_sibling(), true);
}

#define UNTIL_ASLEEP	50	/* us: HLT is a few instructions away */
#define UNTIL_AWAKE	1500000	/* us, for a thread that must wake: it may wait for other work */
#define STAYS_ASLEEP	1000	/* us, for a thread that must not wake */
#define VECTOR_WAKE	(VECTOR_IPI + 1)

/* The other processor executes HLT; the first one makes the fixed counter wrap. */
struct uncore_sleeper {
	struct two_cpus both;
	bool listens;
	u32 id;			/* local APIC id */
	volatile bool awake;	/* an interrupt of the uncore has woken it */
	bool in_time;		/* it woke before the call that ends the wait */
	unsigned interrupts;
	u64 shown;		/* bit 61 of its status at the entry of the first handler */
};

static volatile bool called;

static void on_call(struct trap_frame *frame)
{
	(void)frame;
	called = true;
	apic_eoi();
}

static void sleep_until_interrupted(struct uncore_sleeper *s)
{
	intr_disable();
	while (!called && !s->awake) {
		__asm__ volatile("sti; hlt; cli" ::: "memory");
		intr_enable();
		s->awake = pmi_settle()->count;
		intr_disable();
	}
	intr_enable();
}

static bool is_awake(void *arg)
{
	return ((struct uncore_sleeper *)arg)->awake;
}

static void wake_by_uncore(struct uncore_sleeper *s)
{
	time_stall(UNTIL_ASLEEP);
	uncore_wrap(true, uncore_cores());
	s->in_time = wait_until(is_awake, s, s->listens ? UNTIL_AWAKE : STAYS_ASLEEP);
	if (!s->in_time)
		apic_ipi(s->id, VECTOR_WAKE);
}

static void uncore_doze(void *arg)
{
	struct uncore_sleeper *s = arg;
	const struct pmi_log *log;
	intr_handler before;

	if (two_cpus_side() == 0) {
		two_cpus_barrier(&s->both);
		wake_by_uncore(s);
		two_cpus_barrier(&s->both);
		return;
	}
	before = intr_set_handler(VECTOR_WAKE, on_call);
	called = false;
	s->id = apic_id();
	msr_write(MSR_IA32_DEBUGCTL, s->listens ? IA32_DEBUGCTL_ENABLE_UNCORE_PMI : 0);
	pmi_open(NULL);
	two_cpus_barrier(&s->both);
	sleep_until_interrupted(s);
	two_cpus_barrier(&s->both);
	log = pmi_end();
	s->interrupts = log->count;
	s->shown = log->count ? log->entry[0].status & CORE_UNC_OVF : 0;
	msr_write(MSR_IA32_DEBUGCTL, 0);
	counters_clear(counters_status());
	intr_set_handler(VECTOR_WAKE, before);
}

/*
 * PMI-09  An uncore interrupt must reach only cores that are selected in the uncore and have
 *         IA32_DEBUGCTL[13] set.
 *         SDM 18.8.2 Performance Monitoring Facility in the Uncore
 * PMI-10  An uncore interrupt must reach every selected core.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 * PMI-12  Bit 61 of IA32_PERF_GLOBAL_STATUS must be set by an uncore interrupt and cleared by bit
 *         61 of IA32_PERF_GLOBAL_OVF_CTRL.
 *         SDM Table 35-13, Figures 18-33 and 18-34
 *
 * Given  another processor of the package, a thread of the same core or of another one, is halted;
 *        MSR_UNCORE_PERF_GLOBAL_CTRL selects all cores
 * When   the uncore's fixed counter wraps, with IA32_DEBUGCTL[13] of that processor 1 and 0
 * Then   with 1 it is interrupted once, with bit 61 of its IA32_PERF_GLOBAL_STATUS set, and goes
 *        on after its HLT; with 0 it isn't interrupted
 * Control: the status shows that the fixed counter has wrapped
 */
TEST(unc, uncore_interrupt_wakes_a_halted_processor_that_listens, REQS(PMI_09, PMI_10, PMI_12),
     NEEDS(need_perfmon, need_uncore, need_partner))
{
	FOR_EACH_PARTNER(cpu) {
		for (unsigned listens = 0; listens < 2; listens++) {
			struct uncore_sleeper s = { .listens = listens };

			if (!of_package(cpu) || !both_reached(t, cpu))
				continue;
			if (!two_cpus_run(t, &s.both, cpu, uncore_doze, &s))
				return;
			CONTROL_EQ(t, IDS(PMI_09, PMI_10), OVF_FC0, uncore_status() & OVF_FC0,
				   "OVF_FC0: the fixed counter has wrapped");
			uncore_off();
			if (listens) {
				CHECK(t, PMI_10, s.in_time, "%s, IA32_DEBUGCTL[13] = 1, wakes up",
				      two_cpus_name(cpu));
				CHECK_EQ(t, PMI_10, 1, s.interrupts, "interrupts of %s",
					 two_cpus_name(cpu));
				CHECK_EQ(t, PMI_12, CORE_UNC_OVF, s.shown,
					 "38EH[61] of %s at its entry", two_cpus_name(cpu));
			} else {
				CHECK_EQ(t, PMI_09, 0, s.interrupts,
					 "interrupts of %s, IA32_DEBUGCTL[13] = 0",
					 two_cpus_name(cpu));
			}
		}
	}
}

/* Registers of the package: Table 35-13. The values have bits that all of these registers have. */
static const struct {
	u32 msr;
	u64 value[2];
} shared[] = {
	{ MSR_UNCORE_PERF_GLOBAL_CTRL, { PMI_FRZ | BIT(48), BIT(49) } },
	{ MSR_UNCORE_FIXED_CTR0, { 0x123456789abc, 0xfedcba987654 } },
	{ MSR_UNCORE_FIXED_CTR_CTRL, { UNCORE_FIXED_CTR_CTRL_PMI, 0 } },
	{ MSR_UNCORE_PMC0 + 0, { 0x123456789ab0, 0xfedcba987650 } },
	{ MSR_UNCORE_PMC0 + 1, { 0x123456789ab1, 0xfedcba987651 } },
	{ MSR_UNCORE_PMC0 + 2, { 0x123456789ab2, 0xfedcba987652 } },
	{ MSR_UNCORE_PMC0 + 3, { 0x123456789ab3, 0xfedcba987653 } },
	{ MSR_UNCORE_PMC0 + 4, { 0x123456789ab4, 0xfedcba987654 } },
	{ MSR_UNCORE_PMC0 + 5, { 0x123456789ab5, 0xfedcba987655 } },
	{ MSR_UNCORE_PMC0 + 6, { 0x123456789ab6, 0xfedcba987656 } },
	{ MSR_UNCORE_PMC0 + 7, { 0x123456789ab7, 0xfedcba987657 } },
	{ MSR_UNCORE_PERFEVTSEL0 + 0, { UNC_L3_MISS_READ, 0x01000108 } },
	{ MSR_UNCORE_PERFEVTSEL0 + 1, { 0x01000108, UNC_L3_MISS_READ } },
	{ MSR_UNCORE_PERFEVTSEL0 + 2, { UNC_L3_MISS_READ, 0x01000108 } },
	{ MSR_UNCORE_PERFEVTSEL0 + 3, { 0x01000108, UNC_L3_MISS_READ } },
	{ MSR_UNCORE_PERFEVTSEL0 + 4, { UNC_L3_MISS_READ, 0x01000108 } },
	{ MSR_UNCORE_PERFEVTSEL0 + 5, { 0x01000108, UNC_L3_MISS_READ } },
	{ MSR_UNCORE_PERFEVTSEL0 + 6, { UNC_L3_MISS_READ, 0x01000108 } },
	{ MSR_UNCORE_PERFEVTSEL0 + 7, { 0x01000108, UNC_L3_MISS_READ } },
};

#define SHARED		(sizeof(shared) / sizeof(shared[0]))

struct correspondence {
	struct two_cpus both;
	u64 read[2][SHARED];	/* by side: the values of the other side that it read */
	u64 status[3];		/* read by the other side: before, after a wrap, cleared here */
	u64 cleared;		/* read by this side after the other one cleared it */
};

static void correspond(void *arg)
{
	struct correspondence *c = arg;
	unsigned side = two_cpus_side();

	for (unsigned i = 0; i < SHARED; i++)
		for (unsigned writer = 0; writer < 2; writer++) {
			if (side == writer)
				msr_write(shared[i].msr, shared[i].value[side]);
			two_cpus_barrier(&c->both);
			if (side != writer)
				c->read[side][i] = msr_read(shared[i].msr);
			two_cpus_barrier(&c->both);
		}
	if (side == 0)
		uncore_off();
	for (unsigned i = 0; i < 3; i++) {
		two_cpus_barrier(&c->both);
		if (side)
			c->status[i] = uncore_status() & OVF_FC0;
		two_cpus_barrier(&c->both);
		if (side)
			continue;
		if (i)
			uncore_clear(OVF_FC0);
		else
			uncore_wrap(false, 0);
		uncore_enable(0);
	}
	if (side == 0)
		uncore_wrap(false, 0);
	two_cpus_barrier(&c->both);
	if (side)
		uncore_clear(OVF_FC0);
	two_cpus_barrier(&c->both);
	if (side)
		return;
	uncore_enable(0);
	c->cleared = uncore_status() & OVF_FC0;
}

static void check_correspondence(struct test *t, unsigned partner)
{
	static const u64 status[] = { 0, OVF_FC0, 0 };
	static const char *const when[] = { "before", "after the fixed counter wrapped",
					    "after 393H[32] was written there" };
	const char *name = two_cpus_name(partner);
	struct correspondence c = { .cleared = 1 };

	uncore_off();
	if (!two_cpus_run(t, &c.both, partner, correspond, &c))
		return;
	for (unsigned i = 0; i < SHARED; i++)
		for (unsigned side = 0; side < 2; side++)
			CHECK_EQ(t, UNC_07, shared[i].value[!side], c.read[side][i],
				 "MSR %#x, as it is read by %s, written by the other one",
				 shared[i].msr, two_cpus_whose(partner, side));
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(t, UNC_07, status[i], c.status[i], "392H[32] on %s %s", name, when[i]);
	CHECK_EQ(t, UNC_07, 0, c.cleared, "392H[32] after %s wrote 393H[32]", name);
	uncore_off();
}

/*
 * UNC-07  The cores of a package must see the same uncore registers.
 *         Table 35-13 MSRs in Processors Based on Intel Microarchitecture Code Name Nehalem
 *         (scope: package)
 *
 * Given  two processors of one package, threads of a core or of two; Table 35-13: the scope of
 *        these registers is the package
 * When   each writes the enables, each counter and event select, and the other one reads it; the
 *        fixed counter wraps, and each clears its status bit in turn
 * Then   one reads what the other one has written, and sees the status bit set and cleared
 */
TEST(unc, processors_of_a_package_share_the_uncore_registers, REQS(UNC_07),
     NEEDS(need_uncore, need_partner))
{
	FOR_EACH_PARTNER (cpu)
		if (of_package(cpu))
			check_correspondence(t, cpu);
}

struct load {
	struct two_cpus both;
	unsigned works;		/* the side that works */
	bool ready;
	char reason[96];
	u64 counted[UNCORE_COUNTERS];
};

static void uncore_cores_load(void *arg)
{
	struct load *l = arg;
	unsigned side = two_cpus_side();
	struct cache_workload h;

	if (side == l->works)
		l->ready = cache_workload_get(ACCESS_MEMORY, &h, l->reason, sizeof(l->reason));
	two_cpus_barrier(&l->both);
	if (!l->ready)
		return;
	if (side == 0) {
		for (unsigned n = 0; n < UNCORE_COUNTERS; n++)
			uncore_count_filtered(n, 0);
		uncore_enable(BITS(0, UNCORE_COUNTERS - 1));
	}
	two_cpus_barrier(&l->both);
	if (side == l->works)
		cache_workload_run(&h, MISSES, (struct pmc_mask){ 0 });
	two_cpus_barrier(&l->both);
	if (side)
		return;
	uncore_enable(0);
	for (unsigned n = 0; n < UNCORE_COUNTERS; n++)
		l->counted[n] = uncore_read(n);
}

/* false: the test has ended. */
static bool check_load(struct test *t, unsigned partner, unsigned works)
{
	struct load l = { .works = works };

	uncore_off();
	if (!two_cpus_run(t, &l.both, partner, uncore_cores_load, &l))
		return false;
	if (!l.ready) {
		test_skip(t, "%s", l.reason);
		return false;
	}
	for (unsigned n = 0; n < UNCORE_COUNTERS; n++)
		CHECK_RANGE(t, UNC_08, MISSES / 2, ~0ULL, l.counted[n],
			    "reads that miss the L3, counter %u, enabled by the first processor, "
			    "of %u loads of flushed lines by %s",
			    n, MISSES, two_cpus_whose(partner, works));
	uncore_off();
	return true;
}

/*
 * UNC-08  An uncore counter must count the events of each core of the package.
 *         SDM 18.8.2 Performance Monitoring Facility in the Uncore
 *
 * Given  two processors of one package, threads of a core or of two; all eight counters count reads
 *        that miss the L3, enabled and read on the first
 * When   one of the two loads flushed lines, then the other
 * Then   each counter has counted at least half of the loads; other processors and prefetchers may
 *        change the rest
 */
TEST(unc, uncore_counters_count_l3_misses_of_each_processor, REQS(UNC_08),
     NEEDS(need_uncore, need_partner))
{
	FOR_EACH_PARTNER (cpu)
		for (unsigned works = 0; works < 2 && of_package(cpu); works++)
			if (!check_load(t, cpu, works))
				return;
}
