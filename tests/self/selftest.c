/* SPDX-License-Identifier: MIT */
/*
 * The self test: what every other test relies on, shown without trusting the PMU. Nothing here
 * is a requirement on the processor, so a breach is an ERROR.
 */
#include "kernel/apic.h"
#include "kernel/intr.h"
#include "kernel/time.h"
#include "kernel/user.h"
#include "pmu/pmi.h"
#include "tests/measure/step.h"
#include "tests/frame/test.h"

/* In tests/measure/workload.asm. */
u64 selftest_noncanonical(struct fault *fault);
u64 selftest_cs(u64 arg);

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

TEST(selftest, self_nmi_arrives, NO_REQS, NEEDS(NULL))
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

TEST(selftest, interrupts_wait_while_they_are_off, NO_REQS, NEEDS(NULL))
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

TEST(selftest, time_passes, NO_REQS, NEEDS(NULL))
{
	u64 before = tsc_read(), ticks;

	time_stall(1000);
	ticks = tsc_read() - before;
	HARNESS_CHECK(t, time_tsc_per_us > 0, "TSC ticks a microsecond: %lu", time_tsc_per_us);
	HARNESS_CHECK(t, ticks >= 1000 * time_tsc_per_us, "%lu ticks in 1000 us", ticks);
}

TEST(selftest, functions_run_at_cpl_3, NO_REQS, NEEDS(NULL))
{
	u64 kernel = selftest_cs(0), user = user_call(selftest_cs, 0);

	HARNESS_CHECK(t, (kernel & 3) == 0, "CS = %#lx", kernel);
	HARNESS_CHECK(t, (user & 3) == 3, "CS = %#lx", user);
	HARNESS_CHECK(t, (selftest_cs(0) & 3) == 0, "CS = %#lx afterwards", selftest_cs(0));
}

static const char *const count_names[WORKLOAD_COUNTS] = {
	[COUNT_INSTRUCTIONS] = "instructions", [COUNT_LOADS] = "loads", [COUNT_STORES] = "stores",
	[COUNT_LOCKS] = "locked loads", [COUNT_BRANCHES] = "branches",
	[COUNT_CONDITIONAL] = "conditional branches", [COUNT_TAKEN] = "taken branches",
	[COUNT_CALLS] = "calls", [COUNT_RETURNS] = "returns",
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

/* Two sizes fix a line. */
TEST(selftest, workload_counts_hold_when_stepped, NO_REQS, NEEDS(NULL))
{
	for (unsigned i = 0; workload_get(i); i++) {
		prove(t, workload_get(i), 1);
		prove(t, workload_get(i), 7);
	}
}

/* Marks are where the row says, and as long. */
TEST(selftest, marked_instructions_are_where_they_are_declared, NO_REQS, NEEDS(NULL))
{
	for (unsigned i = 0; workload_get(i); i++) {
		const struct workload *w = workload_get(i);
		const u8 *first = w->marks;

		if (!first)
			continue;
		HARNESS_CHECK(t, first >= w->begin && first + w->mark_stride <= w->end,
			      "%s: marks at %p", w->name, (const void *)first);
		/* The instruction behind a mark begins where it ends: NOP, or LEA of the walks. */
		HARNESS_CHECK(t, (first[w->mark_length] == 0x90 ||
				  first[w->mark_length + 1] == 0x8d) &&
				 first[w->mark_stride] == first[0],
			      "%s: %u bytes a mark, %u to the next", w->name, w->mark_length,
			      w->mark_stride);
	}
}
