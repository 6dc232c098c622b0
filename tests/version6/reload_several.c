/* SPDX-License-Identifier: MIT */
/*
 * Auto counter reload of several counters by one overflow, or by two on one instruction, as in a
 * group of Linux: intel_pmu_enable_acr(). Also together with PEBS, whose reload value is in the
 * same field. No source says how many events are between the overflow and the load, so a range is
 * checked.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/version6/arch_pebs.h"
#include "spec/msr.h"
#include "tests/measure/overflow.h"
#include "tests/version6/version6.h"

#define ROUNDS		1024u		/* rounds of workload_load: each has one branch */
#define CAUSE_PERIOD	256u		/* period of the counter whose overflow causes the loads */
#define EVENTS_BELOW	0x1000000u	/* no window has so many events */

/* CFG_C[31:0] of each counter: a value of its own, at least two times EVENTS_BELOW below 0. Bit 31
 * is 1 in each, because no source says what is loaded above it if it is 0. */
static u32 load_of(unsigned counter)
{
	return 0u - (counter + 2) * EVENTS_BELOW;
}

/* The counters in `causes` overflow on one instruction. The counters in `group`, none of which is
 * a cause, count from 0 with CFG_B = `names`. */
static void run_group(u64 group, u64 causes, u64 names)
{
	/* Fixed counter 2 has a slow clock: it needs longer windows, and several. */
	const bool slow = causes == BIT(PMC_FIXED(2));
	const unsigned first = counter_next(causes, 0);

	FOR_EACH_COUNTER (c, group | causes) {
		counter_program(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH);
		if (causes & BIT(c)) {
			counter_preset(c, slow ? SLOW_PERIOD : CAUSE_PERIOD);
			continue;
		}
		counter_write(c, 0);
		msr_write(version6_cfg_c(c), load_of(c));
		msr_write(version6_cfg_b(c), names);
	}
	for (unsigned windows = 0; overflow_needs_window(first, windows); windows++)
		workload_run(&workload_load, slow ? SLOW_ROUNDS : ROUNDS,
			     (struct pmc_mask){ group | causes });
}

static void stop_group(u64 group, u64 causes)
{
	FOR_EACH_COUNTER (c, group) {
		msr_write(version6_cfg_b(c), 0);
		msr_write(version6_cfg_c(c), 0);
	}
	FOR_EACH_COUNTER (c, group | causes)
		counter_program_disabled(c, 0, 0);
	counters_clear(group | causes);
}

static void check_group(struct test *t, u64 causes)
{
	const u64 group = counter_caps()->v6.reloadable & ~causes;
	const unsigned first = counter_next(causes, 0);

	/* Fixed counters from 4 on count slots, of which a window may have too few. */
	run_group(group, causes, causes);
	if (causes == BIT(first) && first > PMC_FIXED(3) && !(counters_status() & causes)) {
		test_note(t, "too few slots for an overflow of counter %u", first);
		stop_group(group, causes);
		return;
	}
	CONTROL_EQ(t, V6_18, causes, counters_status() & (group | causes),
		   "status bits, those of the causes %#lx", causes);
	FOR_EACH_COUNTER (c, group) {
		const u64 least = version6_loaded(c, load_of(c));

		CHECK_RANGE(t, V6_18, least, least + EVENTS_BELOW - 1, counter_read(c),
			    "counter %u of the group %#lx, loaded by the overflow of %#lx", c,
			    group, causes);
	}
	stop_group(group, causes);
}

/*
 * V6-18  An overflow of a counter that CFG_B of another one names must load that one with
 *        CFG_C[31:0].
 *        Linux intel_pmu_enable_acr; Linux mailing list: auto counter reload
 *
 * Given  CFG_B of every counter that can be reloaded, except that of the cause, names the cause;
 *        CFG_C[31:0] of each is a different value far below 0
 * When   the cause overflows: each counter of CPUID.(23H,2):ECX and EDX in turn; then each
 *        general-purpose one together with the next one, both counting branches from the same
 *        value, and CFG_B names both
 * Then   each of the others is less than 2^24 above its own value, with all higher bits 1
 * Control: the status bits are those of the causes; with CFG_B = 0 the others only count up from 0
 */
TEST(version6, overflow_reloads_every_counter_that_names_it, REQS(V6_18),
     NEEDS(need_perfmon, need_auto_reload, need_branches))
{
	const struct version6 *v = &counter_caps()->v6;
	const u64 general = v->causes & counter_caps()->gp_mask;
	const u64 first = BIT(counter_next(v->causes, 0)), others = v->reloadable & ~first;

	run_group(others, first, 0);
	FOR_EACH_COUNTER (c, others)
		CONTROL_RANGE(t, V6_18, 0, EVENTS_BELOW, counter_read(c), "counter %u, CFG_B = 0",
			      c);
	stop_group(others, first);
	FOR_EACH_COUNTER (cause, v->causes) {
		const unsigned next = counter_next(general, cause + 1);

		check_group(t, BIT(cause));
		if (next < COUNTERS_END)
			check_group(t, BIT(cause) | BIT(next));
	}
}

static bool need_reload_with_pebs(char *reason, size_t size)
{
	const struct version6 *v = &counter_caps()->v6;
	const u64 both = counter_caps()->gp_mask & v->pebs & v->reloadable & v->causes;

	return version6_need(counter_caps()->arch_pebs && both & (both - 1),
			     "two counters that reload each other and have PEBS", reason, size);
}

/* CFG_B of `reloaded`, which counts from 0, names `cause`, which overflows; one of the two makes
 * records. Returns the bytes of the records. */
static u64 run_with_pebs(unsigned reloaded, unsigned cause, unsigned sampler)
{
	const u16 event = EVENT_BR_INST_RETIRED_ALL_BRANCHES;
	u64 written;

	arch_pebs_open(0, ARCH_PEBS_NEVER);
	FOR_EACH_COUNTER (c, BIT(reloaded) | BIT(cause)) {
		if (c == sampler)
			arch_pebs_arm(c, event, COUNT_BOTH, CAUSE_PERIOD, 0, 0u - load_of(c));
		else
			counter_program(c, event, COUNT_BOTH);
	}
	counter_preset(cause, CAUSE_PERIOD);
	counter_write(reloaded, 0);
	if (reloaded != sampler)
		msr_write(version6_cfg_c(reloaded), load_of(reloaded));
	msr_write(version6_cfg_b(reloaded), BIT(cause));
	workload_run(&workload_load, ROUNDS, pmc_or(pmc_one(reloaded), pmc_one(cause)));
	written = arch_pebs_written();
	arch_pebs_disarm();
	return written;
}

/*
 * V6-18  An overflow of a counter that CFG_B of another one names must load that one with
 *        CFG_C[31:0].
 *        Linux intel_pmu_enable_acr; Linux mailing list: auto counter reload
 *
 * Given  two counters of one event; CFG_B of the first names the second, CFG_C[31:0] of each is a
 *        different value far below 0
 * When   the second overflows, with CFG_C[63] of the second, so that it makes a record, and with
 *        CFG_C[63] of the first; for each counter that can be reloaded and each that can cause it,
 *        of those that have PEBS
 * Then   the first is less than 2^24 above its value, with all higher bits 1
 * Control: with CFG_C[63] of the second there is a record; with that of the first there is none
 */
TEST(version6, overflow_reloads_counters_that_make_records_and_by_those_that_do, REQS(V6_18),
     NEEDS(need_perfmon, need_reload_with_pebs, need_branches))
{
	const struct version6 *v = &counter_caps()->v6;
	const u64 both = counter_caps()->gp_mask & v->pebs & v->reloadable & v->causes;

	FOR_EACH_COUNTER (first, both) {
		const unsigned next = counter_next(both, first + 1);
		const unsigned other = next < COUNTERS_END ? next : counter_next(both, 0);

		for (unsigned i = 0; i < 2; i++) {
			const unsigned sampler = i ? first : other;
			const u64 least = version6_loaded(first, load_of(first));
			const u64 written = run_with_pebs(first, other, sampler);

			CONTROL(t, V6_18, i ? !written : written,
				"%#lx bytes of records, CFG_C[63] of IA32_PMC%u", written, sampler);
			CHECK_RANGE(t, V6_18, least, least + EVENTS_BELOW - 1, counter_read(first),
				    "IA32_PMC%u, loaded by the overflow of IA32_PMC%u, CFG_C[63] "
				    "of IA32_PMC%u",
				    first, other, sampler);
			stop_group(BIT(first), BIT(other));
			arch_pebs_close();
		}
	}
}
