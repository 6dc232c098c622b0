/* SPDX-License-Identifier: MIT */
/*
 * Records of other events than loads: SDM "Processor Event Based Sampling (PEBS)" ("all four
 * counters can be used for PEBS if the event supports PEBS"), Table 18-44.
 */
#include "spec/msr.h"
#include "tests/measure/classify.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

/* Each round has at least one of each event: enough for the period, a shadow and the next event;
 * and more instructions than the longer period. */
#define ROUNDS	(2 * PERIOD)
/* Half of the random branches can't be predicted. */
#define ROUNDS_RANDOM (16 * PERIOD)
#define LONG_PERIOD (4 * PERIOD)
#define KINDS_LEAST 4

static const struct kind {
	enum event_kind kind;
	const char *name;
	const struct workload *workload;
} kinds[] = {
	{ EK_INSTRUCTIONS, "instructions", &workload_mixed },
	{ EK_BRANCHES, "branches", &workload_mixed },
	{ EK_COND_BRANCHES, "conditional branches", &workload_mixed },
	{ EK_NEAR_CALLS, "near calls", &workload_call },
	{ EK_NEAR_RETURNS, "near returns", &workload_call },
	{ EK_NEAR_TAKEN, "near taken branches", &workload_mixed },
	{ EK_LOADS, "loads", &workload_mixed },
	{ EK_STORES, "stores", &workload_mixed },
	{ EK_LOCK_LOADS, "locked loads", &workload_mixed },
	{ EK_LOADS, "loads of REP LODSQ", &workload_kind_rep_split },
	{ EK_LOADS, "loads that lie in two pages", &workload_kind_page_load },
	{ EK_UOPS, "micro-operations", &workload_mixed },
	{ EK_MISPREDICTS, "mispredicted branches", &workload_random },
};

/* Can the instruction at this address have caused the event? */
static bool has_event(enum event_kind kind, u64 ip)
{
	struct instruction_kind what;

	if (!classify_instruction((const u8 *)(uintptr_t)ip, &what))
		return false;
	switch (kind) {
	case EK_BRANCHES:
	case EK_NEAR_TAKEN:
	case EK_MISPREDICTS:
		return what.branch;
	case EK_COND_BRANCHES:
		return what.conditional;
	case EK_NEAR_CALLS:
		return what.call;
	case EK_NEAR_RETURNS:
		return what.ret;
	case EK_LOADS:
		return what.load;
	case EK_STORES:
		return what.store;
	case EK_LOCK_LOADS:
		return what.locked;
	default:
		return true;
	}
}

/* Length of the instruction before the branches of these workloads: TEST of registers, or DEC; TEST
 * of a register with an immediate. */
#define FIRST_OF_PAIR	3
#define FIRST_LONGER	6

/* Is it such an instruction, and can the conditional branch after it have caused the event? */
static bool before_event(enum event_kind kind, u64 ip)
{
	const u8 *code = (const u8 *)(uintptr_t)ip;
	bool longer = code[0] == 0xf7;
	unsigned length = longer ? FIRST_LONGER : FIRST_OF_PAIR;
	struct instruction_kind next;

	return (longer || (code[0] == 0x48 && (code[1] == 0x85 || code[1] == 0xff))) &&
	       classify_instruction(code + length, &next) && next.conditional &&
	       has_event(kind, ip + length);
}

static void check_kind(struct test *t, const struct kind *k, const struct event *event, unsigned c)
{
	const struct workload *w = k->workload;
	u64 begin = (u64)(uintptr_t)w->begin, end = (u64)(uintptr_t)w->end, ip;
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;

	ds_open(&setup);
	/* The WRMSR that opens the window has many micro-operations. */
	pebs_arm(c, event->code, COUNT_BOTH,
		 event->min_period > PERIOD || k->kind == EK_UOPS ? LONG_PERIOD : PERIOD);
	workload_run(w, k->kind == EK_MISPREDICTS ? ROUNDS_RANDOM : ROUNDS, pmc_one(c));
	pebs_disarm();
	counter_program_disabled(c, 0, 0);
	if (!sampling_one_record(t, AT(MSR_22), &record))
		return;
	CHECK_RANGE(t, MSR_22, begin, end, sampling_field(&record, RECORD_rip),
		    "R/EIP of a record of %s, IA32_PMC%u", k->name, c);
	if (record_get(&record, RECORD_eventing_ip, &ip) &&
	    CHECK_RANGE(t, REC_HSW_02, begin, end - 1, ip,
			"EventingIP of a record of %s, IA32_PMC%u", k->name, c) &&
	    (has_event(k->kind, ip) ||
	     !(before_event(k->kind, ip) && test_erratum(t, ERRATUM_BEFORE_BRANCH))))
		CHECK(t, REC_HSW_02, has_event(k->kind, ip),
		      "the instruction at 0x%lx is one of %s, IA32_PMC%u", ip, k->name, c);
	counters_clear(BIT(c));
}

/*
 * MSR-22      Each of IA32_PMC0 to IA32_PMC3 must be usable for PEBS.
 *             SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 * REC-HSW-02  Offset B0H, EventingIP, must hold the address of the retired instruction that
 *             triggered the assist.
 *             SDM 18.11.3.1 EventingIP Record
 *
 * Given  each precise event of the generation's table except plain loads, and a workload that has
 *        it; of loads also those of a REP string instruction, and one whose bytes lie in two pages
 * When   it makes a record on each counter that it may be counted on
 * Then   R/EIP is in the workload, and EventingIP is an instruction that can have the event, or the
 *        TEST or DEC before such a branch, where an erratum allows it; four kinds of events at
 *        least are tried
 */
TEST(record, each_precise_event_makes_records_on_its_counters, REQS(MSR_22, REC_HSW_02),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	unsigned seen = 0;

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct event event;

		if (!event_get(kinds[i].kind, EV_PEBS, &event) || event.min_period > LONG_PERIOD)
			continue;
		seen++;
		for (unsigned c = 0; c < PEBS_COUNTERS; c++)
			if (event.counters & BIT(c))
				check_kind(t, &kinds[i], &event, c);
	}
	HARNESS_CHECK(t, seen >= KINDS_LEAST, "%u kinds of precise events", seen);
}

/* Branches before the marked ones, so that the recorded branch is marked, however many branches the
 * WRMSR that opens the window adds. */
#define BRANCHES_BEFORE	(PERIOD - 4)

static void check_jump(struct test *t, u16 code, unsigned c)
{
	const struct workload *w = &workload_jumps;
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	int mark = -1;
	u64 rip, ip;

	ds_open(&setup);
	pebs_arm(c, code, COUNT_BOTH, PERIOD);
	workload_run(w, BRANCHES_BEFORE, pmc_one(c));
	pebs_disarm();
	counter_program_disabled(c, 0, 0);
	counters_clear(BIT(c));
	if (!sampling_one_record(t, AT(REC_03), &record))
		return;
	rip = sampling_field(&record, RECORD_rip);
	mark = workload_mark_at(w, SAMPLE_MARKS, rip - JUMP_STRIDE);
	if (!CHECK(t, REC_03, mark >= 0,
		   "R/EIP 0x%lx is the target of a marked branch, 0x%lx and "
		   "on, IA32_PMC%u",
		   rip, workload_mark(w, 0), c))
		return;
	if (!record_get(&record, RECORD_eventing_ip, &ip))
		return;
	CHECK_EQ(t, REC_HSW_02, workload_mark(w, (unsigned)mark), ip,
		 "EventingIP: the branch to R/EIP, IA32_PMC%u", c);
	CHECK_EQ(t, REC_HSW_03, ip + JUMP_STRIDE, rip,
		 "R/EIP: the target of the branch at "
		 "EventingIP, IA32_PMC%u",
		 c);
}

/*
 * REC-03      The RIP field must be the address of the instruction after the one that caused the
 *             assist.
 *             SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 * REC-HSW-02  Offset B0H, EventingIP, must hold the address of the retired instruction that
 *             triggered the assist.
 * REC-HSW-03  Offset 08H must hold the address of the next instruction executed after the assist.
 *             SDM 18.11.3.1 EventingIP Record
 *
 * Given  marked branches, each to the next one
 * When   each counter makes a record of branches
 * Then   R/EIP is the target of a marked branch, and EventingIP that branch
 */
TEST(record, rip_of_a_taken_branch_record_is_the_branch_target,
     REQS(REC_03, REC_HSW_02, REC_HSW_03),
     NEEDS(need_perfmon, need_pebs, need_branches, need_events), .under_every_fault = true)
{
	struct event event;

	if (!event_get(EK_BRANCHES, EV_PEBS, &event) &&
	    !event_get(EK_NEAR_TAKEN, EV_PEBS, &event)) {
		test_skip(t, "no precise event of branches");
		return;
	}
	if (!sampling_shadow_fits(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++)
		if (event.counters & BIT(c))
			check_jump(t, event.code, c);
}
