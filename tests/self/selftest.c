/* SPDX-License-Identifier: MIT */
/*
 * The self test checks the parts of the harness on which every other test relies, without trusting
 * the PMU. There are no requirements on the processor here, so a breach is an ERROR.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/guard.h"
#include "kernel/interrupt/intr.h"
#include "kernel/processor/time.h"
#include "kernel/interrupt/user.h"
#include "pmu/pmi.h"
#include "tests/measure/step.h"
#include "tests/frame/test.h"

#define STALL_US	1000ul
#define RPL		3u	/* of a selector: the requested privilege level */
#define NOP		0x90
#define LEA		0x8d	/* after a REX prefix */
#define SIZE_SMALL	1
#define SIZE_LARGE	3

/* In tests/measure/workload.asm. */
u64 selftest_noncanonical(struct fault *fault);
u64 selftest_cs(u64 arg);

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  a load from a non-canonical address, at a known RIP
 * When   it is executed
 * Then   vector 13 is caught, with that RIP
 */
TEST(selftest, exceptions_are_caught_with_their_address, NO_REQS, NEEDS(NULL))
{
	struct fault fault = { .raised = false };
	u64 rip = selftest_noncanonical(&fault);

	if (!HARNESS_CHECK(t, fault.raised, "a load from a non-canonical address"))
		return;
	HARNESS_CHECK(t, fault.vector == VECTOR_GP, "vector %u, error %#x", fault.vector,
		      fault.error);
	HARNESS_CHECK(t, fault.rip == rip, "reported at %#lx, raised at %#lx", fault.rip, rip);
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  the handler of PMIs in place, and interrupts on
 * When   the local APIC sends itself one IPI with that vector
 * Then   the handler is called once, with that vector
 */
TEST(selftest, self_ipi_arrives_on_the_pmi_vector, NO_REQS, NEEDS(NULL))
{
	const struct pmi_log *log;

	pmi_open(NULL);
	apic_self_ipi(VECTOR_PMI);
	log = pmi_settle();
	if (HARNESS_CHECK(t, log->count == 1, "%u interrupts after one IPI", log->count))
		HARNESS_CHECK(t, log->entry[0].vector == VECTOR_PMI, "vector %#x",
			      log->entry[0].vector);
	pmi_close();
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  the handler of PMIs as the one of NMIs
 * When   the local APIC sends itself one NMI
 * Then   the handler is called once, with vector 2
 */
TEST(selftest, self_nmi_arrives_once, NO_REQS, NEEDS(NULL))
{
	static const struct pmi_options nmi = { .nmi = true };
	const struct pmi_log *log;

	pmi_open(&nmi);
	apic_self_nmi();
	log = pmi_settle();
	if (HARNESS_CHECK(t, log->count == 1, "%u interrupts after one NMI", log->count))
		HARNESS_CHECK(t, log->entry[0].vector == VECTOR_NMI, "vector %#x",
			      log->entry[0].vector);
	pmi_close();
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  the handler of PMIs in place, and IF = 0
 * When   the local APIC sends itself an IPI, and IF is set later
 * Then   the handler isn't called while IF = 0
 * Control: it is called once after IF = 1
 */
TEST(selftest, self_ipi_waits_while_interrupts_are_off, NO_REQS, NEEDS(NULL))
{
	unsigned early;

	pmi_open(NULL);
	intr_disable();
	apic_self_ipi(VECTOR_PMI);
	early = pmi_settle()->count;
	intr_enable();
	HARNESS_CHECK(t, early == 0, "%u interrupts with IF = 0", early);
	HARNESS_CHECK(t, pmi_settle()->count == 1, "%u interrupts with IF = 1",
		      pmi_settle()->count);
	pmi_close();
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  the performance counter entry of the local vector table
 * When   its mask bit is set, and cleared again
 * Then   LVTPC reads with the bit set, and clear
 */
TEST(selftest, lvtpc_keeps_its_mask_bit, NO_REQS, NEEDS(NULL))
{
	pmi_mask();
	HARNESS_CHECK(t, apic_lvtpc_read() & LVT_MASKED, "LVTPC = %#x after setting the mask",
		      apic_lvtpc_read());
	pmi_unmask();
	HARNESS_CHECK(t, !(apic_lvtpc_read() & LVT_MASKED), "LVTPC = %#x after clearing the mask",
		      apic_lvtpc_read());
	pmi_mask();
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  the TSC's ticks a microsecond, as the harness measured them
 * When   the processor stalls for STALL_US
 * Then   the rate isn't 0, and the TSC has advanced by at least STALL_US of ticks
 */
TEST(selftest, tsc_ticks_during_a_stall, NO_REQS, NEEDS(NULL))
{
	u64 before = tsc_read(), ticks;

	time_stall(STALL_US);
	ticks = tsc_read() - before;
	HARNESS_CHECK(t, time_tsc_per_us > 0, "TSC ticks a microsecond: %lu", time_tsc_per_us);
	HARNESS_CHECK(t, ticks >= STALL_US * time_tsc_per_us, "%lu ticks in %lu us", ticks,
		      STALL_US);
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  a function that returns CS
 * When   it is called at CPL 0, by user_call(), and at CPL 0 again
 * Then   CS has RPL 0, RPL 3 and RPL 0
 */
TEST(selftest, user_call_runs_at_cpl_3, NO_REQS, NEEDS(NULL))
{
	u64 kernel = selftest_cs(0), user = user_call(selftest_cs, 0);

	HARNESS_CHECK(t, (kernel & RPL) == 0, "CS = %#lx", kernel);
	HARNESS_CHECK(t, (user & RPL) == 3, "CS = %#lx", user);
	HARNESS_CHECK(t, (selftest_cs(0) & RPL) == 0, "CS = %#lx afterwards", selftest_cs(0));
}

static const char *const count_names[WORKLOAD_COUNTS] = {
	[WORKLOAD_INSTRUCTIONS] = "instructions",
	[WORKLOAD_LOADS] = "loads",
	[WORKLOAD_STORES] = "stores",
	[WORKLOAD_LOCKS] = "locked loads",
	[WORKLOAD_BRANCHES] = "branches",
	[WORKLOAD_CONDITIONAL] = "conditional branches",
	[WORKLOAD_TAKEN] = "taken branches",
	[WORKLOAD_CALLS] = "calls",
	[WORKLOAD_RETURNS] = "returns",
};

static void prove(struct test *t, const struct workload *w, u64 n)
{
	struct step_counts stepped = step_workload(w, n);

	HARNESS_CHECK(t, !stepped.unknown, "%s: instruction at %#lx", w->name, stepped.unknown);
	for (unsigned i = 0; i < WORKLOAD_COUNTS; i++) {
		u64 declared = workload_declared(w, (enum workload_count)i, n);

		HARNESS_CHECK(t, stepped.count[i] == declared,
			      "%s with n = %lu: %lu %s declared, %lu stepped", w->name, n, declared,
			      count_names[i], stepped.count[i]);
	}
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  each workload of tests/measure/workload.c; its declared counts are linear in n, so that
 *        two sizes determine them
 * When   it is executed with the trap flag set, for n = 1 and n = 3, each instruction classified
 * Then   no instruction is unknown, and every count is the declared one
 */
TEST(selftest, workload_counts_hold_when_stepped, NO_REQS, NEEDS(NULL))
{
	for (unsigned i = 0; workload_get(i); i++) {
		/* A trap takes milliseconds in a guest of a guest. */
		guard_renew();
		prove(t, workload_get(i), SIZE_SMALL);
		prove(t, workload_get(i), SIZE_LARGE);
	}
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  each workload with marked instructions: first mark, length and distance are in its row
 * When   its code is examined
 * Then   the marks are inside the workload; after a mark, and not before one, there is a NOP, or
 *        the LEA of a walk; the next mark begins with the same byte
 */
TEST(selftest, workload_marks_are_where_they_are_declared, NO_REQS, NEEDS(NULL))
{
	for (unsigned i = 0; workload_get(i); i++) {
		const struct workload *w = workload_get(i);
		const u8 *first = w->marks;

		if (!first)
			continue;
		HARNESS_CHECK(t, first >= w->begin && first + w->mark_stride <= w->end,
			      "%s: marks at %p", w->name, (const void *)first);
		/* The instruction after a mark begins where it ends: NOP, or LEA of the walks. */
		HARNESS_CHECK(t,
			      (first[w->mark_length] == NOP || first[w->mark_length + 1] == LEA) &&
				      first[w->mark_stride] == first[0],
			      "%s: %u bytes a mark, %u to the next", w->name, w->mark_length,
			      w->mark_stride);
	}
}
