/* SPDX-License-Identifier: MIT */
/*
 * The uncore of Nehalem and Westmere, and its interrupts: SDM "Performance Monitoring Facility in
 * the Uncore", "Uncore Performance Monitoring Management Facility", "Uncore Performance Event
 * Configuration Facility"; Table 35-13; and the last sentences of counter priority: an uncore
 * interrupt may come together with a core's. The fixed counter counts the uncore's clock, so it
 * wraps by itself; which number the uncore gives a core isn't known, so all four are selected.
 */
#include "kernel/fault.h"
#include "kernel/intr.h"
#include "pmu/counter.h"
#include "pmu/pmi.h"
#include "pmu/uncore.h"
#include "tests/needs.h"
#include "tests/hierarchy.h"
#include "tests/together.h"
#include "tests/window.h"

/* Figures of the section. */
#define EN_FC0		BIT(32)
#define EN_PMI_CORES	BITS(48, 51)
#define PMI_FRZ		BIT(63)
#define OVF_FC0		BIT(32)
#define OVF_PMI		BIT(61)
/* Table 35-13: UNC_Ovf. */
#define CORE_UNC_OVF	BIT(61)

#define TICKS		500	/* of the uncore's clock; passes while an interrupt settles */
#define SPIN		32	/* waits for them, of about as long each */

static void spin(void)
{
	unsigned rounds = TICKS;

	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(rounds) :: "cc", "memory");
}

/* A wrap that nobody saw isn't waited for as long again. */
static void wait_for_wrap(void)
{
	static bool in_vain;
	unsigned tries = in_vain ? 2 : SPIN;

	while (!(uncore_status() & OVF_FC0) && tries) {
		spin();
		tries--;
	}
	in_vain = !tries;
}

/* Let the fixed counter wrap, with these bits of the global control on. */
static void wrap(bool pmi, u64 control)
{
	uncore_preset(UNCORE_FIXED, TICKS);
	uncore_program(UNCORE_FIXED, 0, pmi);
	uncore_enable(EN_FC0 | control);
	wait_for_wrap();
}

static void off(void)
{
	uncore_reset();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	counters_clear(counters_status());
}

/* Patterns that tell each bit from each other. */
static const u64 patterns[] = { 0, 0x0000ffffffffffff, 0x0000555555555555, 0x0000aaaaaaaaaaaa,
				0x0000800000000001 };

TEST(msr, uncore_registers_hold_what_is_written, REQS(UNC_01, UNC_06), NEEDS(need_uncore))
{
	/* Figures: event, umask, E 18, PMI 20, INV 23, CMASK; EN 22 stays off. */
	const u64 select = 0xff94ffff;

	for (unsigned p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		for (unsigned c = 0; c <= UNCORE_COUNTERS; c++) {
			unsigned counter = c < UNCORE_COUNTERS ? c : UNCORE_FIXED;

			uncore_write(counter, patterns[p]);
			CHECK_EQ(t, UNC_01, patterns[p], uncore_read(counter),
				 "uncore counter %u after writing it", counter);
		}
		for (u32 c = 0; c < UNCORE_COUNTERS; c++) {
			msr_write(MSR_UNCORE_PERFEVTSEL0 + c, patterns[p] & select);
			CHECK_EQ(t, UNC_01, patterns[p] & select,
				 msr_read(MSR_UNCORE_PERFEVTSEL0 + c),
				 "MSR_UNCORE_PERFEVTSEL%u after writing it", c);
			msr_write(MSR_UNCORE_PERFEVTSEL0 + c, 0);
		}
	}
	for (unsigned bit = 0; bit < 64; bit++) {
		u64 value = BIT(bit) & (BITS(0, 7) | EN_FC0 | EN_PMI_CORES | PMI_FRZ);

		if (!value)
			continue;
		uncore_enable(value);
		CHECK_EQ(t, UNC_06, value, msr_read(MSR_UNCORE_PERF_GLOBAL_CTRL),
			 "391H after writing it");
	}
	off();
}

/* Does the fixed counter move? */
static bool moves(void)
{
	u64 before = uncore_read(UNCORE_FIXED);

	spin();
	return uncore_read(UNCORE_FIXED) != before;
}

TEST(unc, counting_needs_both_enables, REQS(UNC_02), NEEDS(need_uncore))
{
	for (unsigned both = 0; both < 4; both++) {
		bool own = both & 1, global = both & 2;

		if (own)
			uncore_program(UNCORE_FIXED, 0, false);
		else
			uncore_program_disabled(UNCORE_FIXED);
		uncore_enable(global ? EN_FC0 : 0);
		CHECK_EQ(t, UNC_02, own && global, moves(),
			 "the fixed counter moves with EN = %u, EN_FC0 = %u", own, global);
	}
	off();
}

/* Chapter 19, uncore events: reads that miss the L3, one for each load of a flushed line. */
#define UNC_L3_MISS_READ	0x0109
#define MISSES			64

TEST(unc, each_counter_has_its_status_bit, REQS(UNC_02, UNC_03), NEEDS(need_uncore))
{
	struct hierarchy h;
	char reason[96];

	if (!hierarchy_get(ACCESS_MEMORY, &h, reason, sizeof(reason))) {
		test_skip(t, "%s", reason);
		return;
	}
	for (unsigned c = 0; c < UNCORE_COUNTERS; c++) {
		uncore_preset(c, MISSES / 2);
		uncore_program(c, UNC_L3_MISS_READ, false);
		hierarchy_run(&h, MISSES, (struct pmc_mask){ 0 });
		CHECK_EQ(t, UNC_02, 0, uncore_status() & BIT(c),
			 "status bit %u, EN = 1, EN_PC%u = 0", c, c);
		uncore_enable(BIT(c));
		hierarchy_run(&h, MISSES, (struct pmc_mask){ 0 });
		uncore_enable(0);
		CHECK_EQ(t, UNC_03, BIT(c), uncore_status() & (BITS(0, 7) | OVF_FC0),
			 "uncore status after counter %u wrapped", c);
		off();
	}
	wrap(false, 0);
	CHECK_EQ(t, UNC_03, OVF_FC0, uncore_status() & (BITS(0, 7) | OVF_FC0),
		 "uncore status after the fixed counter wrapped");
	off();
}

TEST(unc, status_stays_until_it_is_cleared, REQS(UNC_04), NEEDS(need_uncore))
{
	wrap(false, 0);
	uncore_enable(0);
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(t, UNC_04, OVF_FC0, uncore_status() & OVF_FC0, "OVF_FC0, read %u", i + 1);
	uncore_clear(0);
	CHECK_EQ(t, UNC_04, OVF_FC0, uncore_status() & OVF_FC0, "OVF_FC0 after writing 0 to 393H");
	uncore_clear(BIT(0));
	CHECK_EQ(t, UNC_04, OVF_FC0, uncore_status() & OVF_FC0, "OVF_FC0 after clearing bit 0");
	uncore_clear(OVF_FC0);
	CHECK_EQ(t, UNC_04, 0, uncore_status() & OVF_FC0, "OVF_FC0 after clearing it");
	off();
}

/* Interrupts of one wrap of the fixed counter. */
static const struct pmi_log *interrupts(bool pmi, bool selected, bool core_listens)
{
	const struct pmi_log *log;

	msr_write(MSR_IA32_DEBUGCTL, core_listens ? IA32_DEBUGCTL_ENABLE_UNCORE_PMI : 0);
	pmi_open(NULL);
	wrap(pmi, selected ? EN_PMI_CORES : 0);
	log = pmi_settle();
	pmi_close();
	return log;
}

TEST(unc, an_interrupt_needs_its_enables, REQS(PMI_09, UNC_05), NEEDS(need_perfmon, need_uncore))
{
	for (unsigned i = 0; i < 4; i++) {
		bool selected = i & 1, listens = i & 2;
		const struct pmi_log *log = interrupts(true, selected, listens);

		CHECK_EQ(t, PMI_09, OVF_FC0, uncore_status() & OVF_FC0,
			 "OVF_FC0: the fixed counter has wrapped");
		CHECK_EQ(t, PMI_09, selected && listens, log->count,
			 "interrupts with EN_PMI_COREx = %u, IA32_DEBUGCTL[13] = %u", selected,
			 listens);
		off();
	}
	CHECK_EQ(t, UNC_05, 0, interrupts(false, true, true)->count,
		 "interrupts of a wrap without the counter's PMI enable");
	CHECK_EQ(t, UNC_05, OVF_FC0, uncore_status() & OVF_FC0, "OVF_FC0 of that wrap");
	off();
}

/* Nothing else interrupts here, so each handler must find the uncore's bit: an interrupt without
 * it would be one that nothing accounts for. */
TEST(unc, each_interrupt_finds_the_cores_bit, REQS(PMI_12), NEEDS(need_perfmon, need_uncore))
{
	const struct pmi_log *log;

	for (unsigned i = 0; i < 4; i++) {
		log = interrupts(true, true, true);
		CHECK_RANGE(t, PMI_12, 1, ~0ULL, log->count, "interrupts of a wrap of the uncore's "
			    "fixed counter");
		for (unsigned k = 0; k < log->count && k < PMI_LOG_SIZE; k++)
			CHECK_EQ(t, PMI_12, CORE_UNC_OVF, log->entry[k].status & CORE_UNC_OVF,
				 "38EH[61] at the entry of interrupt %u", k);
		off();
	}
}

TEST(unc, the_cores_status_says_so, REQS(PMI_12), NEEDS(need_perfmon, need_uncore))
{
	static const struct pmi_options keep = { .keep_status = true };

	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
	pmi_open(&keep);
	CHECK_EQ(t, PMI_12, 0, counters_status() & CORE_UNC_OVF, "38EH[61] before");
	wrap(true, EN_PMI_CORES);
	pmi_settle();
	pmi_close();
	CHECK_EQ(t, PMI_12, CORE_UNC_OVF, counters_status() & CORE_UNC_OVF,
		 "38EH[61] after an uncore interrupt");
	CHECK_EQ(t, PMI_12, OVF_PMI, uncore_status() & OVF_PMI, "392H[61]");
	uncore_enable(0);
	uncore_clear(OVF_FC0 | OVF_PMI);
	CHECK_EQ(t, PMI_12, CORE_UNC_OVF, counters_status() & CORE_UNC_OVF,
		 "38EH[61] after 393H: only 390H clears it");
	counters_clear(CORE_UNC_OVF);
	CHECK_EQ(t, PMI_12, 0, counters_status() & CORE_UNC_OVF, "38EH[61] after 390H[61]");
	off();
}

#define CORE_COUNTER 2

/* The core's counter wraps with INT on, on the last of the workload's branches. */
static void wrap_core(void)
{
	counter_program(CORE_COUNTER, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH | COUNT_INT);
	counter_preset(CORE_COUNTER, PERIOD);
	workload_run(&workload_sled, PERIOD, pmc_one(CORE_COUNTER));
}

struct origin {
	unsigned count;			/* interrupts */
	u64 core, uncore, at_entry;	/* status before the handler, and in it */
};

/* Both, or either, while interrupts are off; then one handler for whatever there is. */
static struct origin take(bool core, bool uncore)
{
	const struct pmi_log *log;
	struct origin origin;

	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
	pmi_open(NULL);
	intr_disable();
	if (uncore)
		wrap(true, EN_PMI_CORES);
	if (core)
		wrap_core();
	origin.core = counters_status();
	origin.uncore = uncore_status();
	intr_enable();
	log = pmi_settle();
	pmi_close();
	origin.count = log->count;
	origin.at_entry = log->entry[0].status;
	counter_program_disabled(CORE_COUNTER, 0, 0);
	return origin;
}

TEST(unc, both_status_registers_tell_the_origin, REQS(PMI_11, PMI_12),
     NEEDS(need_perfmon, need_branches, need_uncore))
{
	for (unsigned i = 1; i < 4; i++) {
		bool core = i & 1, uncore = i & 2;
		struct origin origin = take(core, uncore);

		CHECK_RANGE(t, PMI_11, 1, 2, origin.count, "interrupts, core %u uncore %u", core,
			    uncore);
		CHECK_EQ(t, PMI_11, core, origin.core >> CORE_COUNTER & 1,
			 "38EH[%u], core %u uncore %u", CORE_COUNTER, core, uncore);
		CHECK_EQ(t, PMI_11, uncore ? OVF_FC0 : 0, origin.uncore & OVF_FC0,
			 "392H[32], core %u uncore %u", core, uncore);
		CHECK_EQ(t, PMI_11, core, origin.at_entry >> CORE_COUNTER & 1,
			 "38EH[%u] at the handler's entry, core %u uncore %u", CORE_COUNTER, core,
			 uncore);
		CHECK_EQ(t, PMI_12, uncore ? CORE_UNC_OVF : 0, origin.core & CORE_UNC_OVF,
			 "38EH[61], core %u uncore %u", core, uncore);
		/* The core's handler has cleared its own side, and nothing of the uncore's. */
		CHECK_EQ(t, PMI_11, uncore ? OVF_FC0 : 0, uncore_status() & OVF_FC0,
			 "392H[32] behind the core's handler, core %u uncore %u", core, uncore);
		off();
	}
}

#define CORE_INSTRUCTIONS	32	/* until the first of the core's counters wraps */
#define CORE_COUNTERS		4	/* each wraps an instruction after the one before */
#define DISTANCES		128	/* more than lie between the two enables */

/*
 * All wrap in one window, the uncore's counter so many ticks after it was switched on. Over all
 * distances it also wraps together with one of the core's, where a tick is about an instruction.
 */
static void coincide(unsigned distance)
{
	uncore_preset(UNCORE_FIXED, CORE_INSTRUCTIONS + distance);
	uncore_program(UNCORE_FIXED, 0, true);
	for (unsigned c = 0; c < CORE_COUNTERS; c++) {
		counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH | COUNT_INT);
		counter_preset(c, CORE_INSTRUCTIONS + c);
	}
	uncore_enable(EN_FC0 | EN_PMI_CORES);
	workload_run(&workload_load, DISTANCES / 2, (struct pmc_mask){ BIT(CORE_COUNTERS) - 1 });
	wait_for_wrap();
	uncore_enable(0);
}

TEST(unc, an_overflow_beside_the_cores_hides_nothing, REQS(PMI_11),
     NEEDS(need_perfmon, need_instructions, need_uncore))
{
	/* Unmasked with an old overflow in the status a processor might interrupt for ever. */
	static const struct pmi_options keep = { .keep_status = true, .keep_counting = true,
						 .stay_masked = true };
	unsigned count = 0;

	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
	pmi_open(&keep);
	for (unsigned distance = 0; distance < DISTANCES; distance += CORE_COUNTERS) {
		coincide(distance);
		CHECK_EQ(t, PMI_11, BIT(CORE_COUNTERS) - 1,
			 counters_status() & (BIT(CORE_COUNTERS) - 1),
			 "38EH[3:0], the uncore's counter set to wrap after %u ticks",
			 CORE_INSTRUCTIONS + distance);
		CHECK_EQ(t, PMI_11, OVF_FC0, uncore_status() & OVF_FC0, "392H[32] as well");
		uncore_clear(OVF_FC0 | OVF_PMI);
		counters_clear(counters_status());
		pmi_unmask();
	}
	/* What is late or waits is taken here, and not by the next test. */
	for (unsigned i = 0; i < 3; i++) {
		count = pmi_settle()->count;
		pmi_unmask();
	}
	pmi_close();
	CHECK_RANGE(t, PMI_11, 1, ~0ULL, count, "interrupts in all");
	off();
}

TEST(unc, freeze_stops_the_uncore, REQS(PMI_13), NEEDS(need_perfmon, need_uncore))
{
	unsigned count;

	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
	pmi_open(NULL);
	wrap(true, EN_PMI_CORES);
	count = pmi_settle()->count;
	CHECK_EQ(t, PMI_13, 1, count, "interrupts without PMI_FRZ");
	CHECK(t, PMI_13, moves(), "the fixed counter goes on without PMI_FRZ");
	uncore_reset();
	counters_clear(counters_status());
	wrap(true, EN_PMI_CORES | PMI_FRZ);
	count = pmi_settle()->count;
	CHECK_EQ(t, PMI_13, 2, count, "interrupts in all, with PMI_FRZ as well");
	CHECK(t, PMI_13, !moves(), "the fixed counter stands with PMI_FRZ");
	uncore_clear(OVF_FC0 | OVF_PMI);
	uncore_enable(EN_FC0);
	CHECK(t, PMI_13, moves(), "the fixed counter goes on when enabled again");
	pmi_close();
	off();
}

struct audience {
	struct together both;
	bool listens[2];
	unsigned interrupts[2];
};

static void listen(void *arg)
{
	struct audience *a = arg;
	unsigned side = together_side();

	msr_write(MSR_IA32_DEBUGCTL, a->listens[side] ? IA32_DEBUGCTL_ENABLE_UNCORE_PMI : 0);
	pmi_open(NULL);
	together_meet(&a->both);
	if (side == 0)
		wrap(true, EN_PMI_CORES);
	pmi_settle();
	together_meet(&a->both);
	a->interrupts[side] = pmi_settle()->count;
	pmi_close();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	counters_clear(counters_status());
}

/* false: the test has been skipped. */
static bool same_package(struct test *t)
{
	struct topology first = smp_topology(CPU_BOOT), other = smp_topology(smp_other_core());

	if (topology_same_package(&first, &other))
		return true;
	test_skip(t, "the other core is of package %u, the first of %u", other.package,
		  first.package);
	return false;
}

TEST(unc, every_core_that_listens_is_interrupted, REQS(PMI_10),
     NEEDS(need_perfmon, need_uncore, need_other_core))
{
	if (!same_package(t))
		return;
	for (unsigned which = 0; which < 4; which++) {
		struct audience a = { .listens = { which & 1, which & 2 } };

		if (!together_run(t, &a.both, smp_other_core(), listen, &a))
			return;
		CHECK_EQ(t, PMI_10, OVF_FC0, uncore_status() & OVF_FC0,
			 "OVF_FC0: the fixed counter has wrapped");
		for (unsigned side = 0; side < 2; side++)
			CHECK_EQ(t, PMI_10, a.listens[side], a.interrupts[side],
				 "uncore interrupts of core %u, IA32_DEBUGCTL[13] = %u here, %u on "
				 "the other", side, a.listens[side], a.listens[!side]);
		off();
	}
}

/* Registers of the package: Table 35-13. The values are of bits that all of them have. */
static const struct { u32 msr; u64 value[2]; } shared[] = {
	{ MSR_UNCORE_PERF_GLOBAL_CTRL, { PMI_FRZ | BIT(48), BIT(49) } },
	{ MSR_UNCORE_FIXED_CTR0, { 0x123456789abc, 0xfedcba987654 } },
	{ MSR_UNCORE_PMC0, { 0x123456789abc, 0xfedcba987654 } },
	{ MSR_UNCORE_PMC0 + UNCORE_COUNTERS - 1, { 0xfedcba987654, 0x123456789abc } },
	{ MSR_UNCORE_PERFEVTSEL0, { UNC_L3_MISS_READ, 0x01000108 } },
	{ MSR_UNCORE_PERFEVTSEL0 + UNCORE_COUNTERS - 1, { 0x01000108, UNC_L3_MISS_READ } },
};

#define SHARED		(sizeof(shared) / sizeof(shared[0]))

struct correspondence {
	struct together both;
	u64 read[2][SHARED];	/* by side: what it has read of the other one's */
	u64 status[3];		/* that the other side reads: before, after a wrap, cleared here */
	u64 cleared;		/* and this side, after the other one cleared it */
};

static void correspond(void *arg)
{
	struct correspondence *c = arg;
	unsigned side = together_side();

	for (unsigned i = 0; i < SHARED; i++)
		for (unsigned writer = 0; writer < 2; writer++) {
			if (side == writer)
				msr_write(shared[i].msr, shared[i].value[side]);
			together_meet(&c->both);
			if (side != writer)
				c->read[side][i] = msr_read(shared[i].msr);
			together_meet(&c->both);
		}
	if (side == 0)
		off();
	for (unsigned i = 0; i < 3; i++) {
		together_meet(&c->both);
		if (side)
			c->status[i] = uncore_status() & OVF_FC0;
		together_meet(&c->both);
		if (side)
			continue;
		if (i)
			uncore_clear(OVF_FC0);
		else
			wrap(false, 0);
		uncore_enable(0);
	}
	if (side == 0)
		wrap(false, 0);
	together_meet(&c->both);
	if (side)
		uncore_clear(OVF_FC0);
	together_meet(&c->both);
	if (side)
		return;
	uncore_enable(0);
	c->cleared = uncore_status() & OVF_FC0;
}

TEST(unc, cores_have_its_registers_in_common, REQS(UNC_07), NEEDS(need_uncore, need_other_core))
{
	static const u64 status[] = { 0, OVF_FC0, 0 };
	static const char *const when[] = { "before", "after the fixed counter wrapped",
					    "after 393H[32] was written there" };
	struct correspondence c = { .cleared = 1 };

	if (!same_package(t))
		return;
	off();
	if (!together_run(t, &c.both, smp_other_core(), correspond, &c))
		return;
	for (unsigned i = 0; i < SHARED; i++)
		for (unsigned side = 0; side < 2; side++)
			CHECK_EQ(t, UNC_07, shared[i].value[!side], c.read[side][i],
				 "MSR %#x, written by core %u, as core %u reads it", shared[i].msr,
				 !side, side);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(t, UNC_07, status[i], c.status[i], "392H[32] on the other core %s",
			 when[i]);
	CHECK_EQ(t, UNC_07, 0, c.cleared, "392H[32] after the other core wrote 393H[32]");
	off();
}

struct load {
	struct together both;
	unsigned works;		/* which side */
	bool ready;
	char reason[96];
	u64 counted[2];		/* before its loads and behind them */
};

static void load(void *arg)
{
	struct load *l = arg;
	unsigned side = together_side();
	struct hierarchy h;

	if (side == l->works)
		l->ready = hierarchy_get(ACCESS_MEMORY, &h, l->reason, sizeof(l->reason));
	together_meet(&l->both);
	if (!l->ready)
		return;
	if (side == 0) {
		uncore_program(0, UNC_L3_MISS_READ, false);
		uncore_write(0, 0);
		uncore_enable(BIT(0));
		l->counted[0] = uncore_read(0);
	}
	together_meet(&l->both);
	if (side == l->works)
		hierarchy_run(&h, MISSES, (struct pmc_mask){ 0 });
	together_meet(&l->both);
	if (side == 0) {
		l->counted[1] = uncore_read(0);
		uncore_enable(0);
	}
}

/* Others may miss the L3 as well, and prefetchers help: half of the loads must be there. */
TEST(unc, events_of_each_core_count, REQS(UNC_08), NEEDS(need_uncore, need_other_core))
{
	if (!same_package(t))
		return;
	for (unsigned works = 0; works < 2; works++) {
		struct load l = { .works = works };

		off();
		if (!together_run(t, &l.both, smp_other_core(), load, &l))
			return;
		if (!l.ready) {
			test_skip(t, "%s", l.reason);
			return;
		}
		CHECK_RANGE(t, UNC_08, MISSES / 2, ~0ULL, l.counted[1] - l.counted[0],
			    "reads that miss the L3, counted on the first core, of %u loads of "
			    "flushed lines on core %u", MISSES, works);
		off();
	}
}
