/* SPDX-License-Identifier: MIT */
/*
 * Auto counter reload, CPUID.(23H,2): the overflow of a counter that CFG_B of another one names
 * loads that one with its CFG_C[31:0]. Linux: intel_pmu_enable_acr(); SDM volume 1 has the sets.
 * How many events lie between the overflow and the load isn't told: a range is asked for.
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/measure/overflow.h"
#include "tests/version6/version6.h"

#define EVENT		EVENT_BR_INST_RETIRED_ALL_BRANCHES
#define ROUNDS		1024u		/* of workload_load: a branch each */
#define Q		256u		/* of the counter that causes the load */
#define SLACK		16u		/* branches of opening and closing the window */

#define RELOAD		(0u - 0x01000000u)

/* What CFG_C[31:0] loads: bit 31 is 1, and what is above it is ones (docs/READINGS.md). */
static u64 of_load(unsigned counter, u32 load)
{
	return (BITS(32, 63) | load) & (BIT(counter_width(counter)) - 1);
}

static u64 loaded(unsigned counter)
{
	return of_load(counter, RELOAD);
}

/* The first general-purpose counter that can be reloaded, and another one that can cause it. */
static bool general_pair(u64 reloadable, u64 causes, unsigned *x, unsigned *y)
{
	*x = counter_next(reloadable & counter_caps()->gp_mask, 0);
	*y = *x < COUNTERS_END ? counter_next(causes & counter_caps()->gp_mask & ~BIT(*x), 0) :
				 COUNTERS_END;
	return *x < COUNTERS_END && *y < COUNTERS_END;
}

static bool need_pair(char *reason, size_t size)
{
	const struct version6 *v = &counter_caps()->v6;
	unsigned x, y;

	return version6_need(general_pair(v->reloadable, v->causes, &x, &y),
			     "counter that another one reloads", reason, size);
}

/* y overflows at its Qth branch, x counts from 0, with a mask of counters that load it. */
static void run_pair(unsigned x, unsigned y, u64 mask)
{
	counter_program(x, EVENT, COUNT_BOTH);
	counter_write(x, 0);
	counter_program(y, EVENT, COUNT_BOTH);
	counter_preset(y, Q);
	msr_write(version6_cfg_c(x), RELOAD);
	msr_write(version6_cfg_b(x), mask);
	workload_run(&workload_load, ROUNDS, pmc_or(pmc_one(x), pmc_one(y)));
}

static void stop_pair(unsigned x, unsigned y)
{
	msr_write(version6_cfg_b(x), 0);
	msr_write(version6_cfg_c(x), 0);
	counter_program_disabled(x, 0, 0);
	counter_program_disabled(y, 0, 0);
	counters_clear(BIT(x) | BIT(y));
}

/*
 * V6-18  An overflow of a counter that CFG_B of another one names must load that one with
 *        CFG_C[31:0].
 *        Linux intel_pmu_enable_acr; Linux mailing list: auto counter reload
 *
 * Given  two counters of one event; CFG_B of the first names the second, CFG_C[31:0] is a value far
 *        below 0
 * When   the second overflows in a window, for each counter that can be reloaded and each that can
 *        cause it
 * Then   the first holds that value, with ones above it, and what it counted since; its own status
 *        bit is 0
 * Control: the second's status bit is 1
 */
TEST(version6, overflow_of_a_named_counter_reloads, REQS(V6_18),
     NEEDS(need_perfmon, need_pair, need_branches), .under_every_fault = true)
{
	const struct version6 *v = &counter_caps()->v6;
	const u64 general = counter_caps()->gp_mask;

	FOR_EACH_COUNTER(x, v->reloadable & general)
	{
		const unsigned y = counter_next(v->causes & general & ~BIT(x), 0);

		run_pair(x, y, BIT(y));
		CONTROL_EQ(t, V6_18, BIT(y), counters_status() & BIT(y),
			   "status bit of IA32_PMC%u, which loads IA32_PMC%u", y, x);
		CHECK_RANGE(t, V6_18, loaded(x), loaded(x) + ROUNDS - Q + SLACK, counter_read(x),
			    "IA32_PMC%u after an overflow of IA32_PMC%u, CFG_C %#x", x, y, RELOAD);
		CHECK_EQ(t, V6_18, 0, counters_status() & BIT(x), "status bit of IA32_PMC%u", x);
		stop_pair(x, y);
	}
	FOR_EACH_COUNTER(y, v->causes & general)
	{
		const unsigned x = counter_next(v->reloadable & general & ~BIT(y), 0);

		run_pair(x, y, BIT(y));
		CHECK_RANGE(t, V6_18, loaded(x), loaded(x) + ROUNDS - Q + SLACK, counter_read(x),
			    "IA32_PMC%u after an overflow of IA32_PMC%u, CFG_C %#x", x, y, RELOAD);
		stop_pair(x, y);
	}
}

static bool need_fixed_pair(char *reason, size_t size)
{
	const struct version6 *v = &counter_caps()->v6;
	const u64 fixed = BITS(32, 63);

	return need_pair(reason, size) &&
	       version6_need((v->reloadable | v->causes) & fixed,
			     "fixed counter that is reloaded or causes it", reason, size);
}

/* As run_pair(), for counters of each kind: x loaded with that, windows until y has overflowed. */
static void run_any_pair(unsigned x, unsigned y, u32 load, u64 mask)
{
	counter_program(x, EVENT, COUNT_BOTH);
	counter_write(x, 0);
	counter_program(y, EVENT, COUNT_BOTH);
	counter_preset(y, y == OVERFLOW_SLOW ? SLOW_PERIOD : Q);
	msr_write(version6_cfg_c(x), load);
	msr_write(version6_cfg_b(x), mask);
	for (unsigned windows = 0; overflow_wants(y, windows); windows++)
		workload_run(&workload_load, y == OVERFLOW_SLOW ? SLOW_ROUNDS : ROUNDS,
			     pmc_or(pmc_one(x), pmc_one(y)));
}

/*
 * V6-18  An overflow of a counter that CFG_B of another one names must load that one with
 *        CFG_C[31:0].
 *        Linux intel_pmu_enable_acr; Linux mailing list: auto counter reload
 *
 * Given  two counters; CFG_B of the first names the second, CFG_C[31:0] is a value far below 0
 * When   the second overflows, for each two of CPUID.(23H,2), general-purpose and fixed ones: the
 *        first of EAX or EBX, the second of ECX or EDX
 * Then   the first is less than 2^24 above that value, with ones above it; its own status bit is 0
 * Control: the second's status bit is 1; with CFG_B = 0 the first stays above 0
 */
TEST(version6, each_counter_that_can_cause_it_reloads_each_other, REQS(V6_18),
     NEEDS(need_perfmon, need_fixed_pair, need_branches), .deadline_ms = 5000)
{
	enum { COUNTED = 0x1000000 };	/* events of a window, and more */
	const struct version6 *v = &counter_caps()->v6;

	FOR_EACH_COUNTER(x, v->reloadable)
	FOR_EACH_COUNTER(y, v->causes & ~BIT(x))
	{
		/* Of each pair another one. */
		const u32 load = 0u - (x % 32 + 2 * (y % 32) + 3) * COUNTED;
		const u64 least = of_load(x, load);

		run_any_pair(x, y, load, BIT(y));
		CONTROL_EQ(t, V6_18, BIT(y), counters_status() & BIT(y),
			   "status bit of counter %u, which loads counter %u", y, x);
		CHECK_RANGE(t, V6_18, least, least + COUNTED - 1, counter_read(x),
			    "counter %u after an overflow of counter %u, CFG_C %#x", x, y, load);
		CHECK_EQ(t, V6_18, 0, counters_status() & BIT(x), "status bit of counter %u", x);
		stop_pair(x, y);
		if (y == counter_next(v->causes & ~BIT(x), 0)) {
			run_any_pair(x, y, load, 0);
			CONTROL_RANGE(t, V6_18, 0, COUNTED, counter_read(x),
				      "counter %u, CFG_B = 0", x);
			stop_pair(x, y);
		}
	}
}

static bool need_self(char *reason, size_t size)
{
	const struct version6 *v = &counter_caps()->v6;

	return version6_need(v->reloadable & v->causes, "counter that reloads itself", reason,
			     size);
}

/* Of fixed counter 2, whose clock is slow: windows enough for several overflows. */
#define SELF_SLOW_PERIOD	1024u
#define SELF_SLOW_WINDOWS	8u

/* The counter from -n on, with these names in its CFG_B, until it has counted several times n. */
static void run_self(unsigned x, u64 n, u64 names)
{
	const bool slow = x == OVERFLOW_SLOW;

	counter_program(x, EVENT, COUNT_BOTH);
	counter_preset(x, n);
	msr_write(version6_cfg_c(x), (u32)(0 - n));
	msr_write(version6_cfg_b(x), names);
	for (unsigned windows = 0; windows < (slow ? SELF_SLOW_WINDOWS : 1); windows++)
		workload_run(&workload_load, slow ? SLOW_ROUNDS : ROUNDS + Q / 2, pmc_one(x));
}

/*
 * V6-19  A counter whose CFG_B names itself must reload itself without setting its bit of
 *        IA32_PERF_GLOBAL_STATUS.
 *        Linux intel_pmu_enable_acr
 *
 * Given  each counter of CPUID.(23H,2) that can be reloaded and cause it, fixed ones too; its CFG_B
 *        names itself alone, itself and one other, and every counter that may be named; the others
 *        stand still; CFG_C[31:0] = -Q, without its interrupt
 * When   it counts several times Q, from -Q
 * Then   it is less than Q below 0, and its status bit is 0
 * Control: with CFG_B = 0 its status bit is 1, and it counts on above 0
 */
TEST(version6, counter_that_names_itself_sets_no_status_bit, REQS(V6_19),
     NEEDS(need_perfmon, need_self, need_branches))
{
	const struct version6 *v = &counter_caps()->v6;

	FOR_EACH_COUNTER(x, v->reloadable & v->causes)
	{
		const u64 others = v->causes & ~BIT(x);
		const u64 one = others & (~others + 1);
		const u64 names[] = { BIT(x), BIT(x) | one, v->causes };
		const u64 n = x == OVERFLOW_SLOW ? SELF_SLOW_PERIOD : Q;
		const u64 top = BIT(counter_width(x));

		for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			run_self(x, n, names[i]);
			CHECK_RANGE(t, V6_19, top - n, top - 1, counter_read(x),
				    "counter %u, which reloads itself, CFG_B = %#lx", x, names[i]);
			CHECK_EQ(t, V6_19, 0, counters_status() & BIT(x),
				 "status bit of counter %u, which reloads itself, CFG_B = %#lx", x,
				 names[i]);
			stop_pair(x, x);
		}
		run_self(x, n, 0);
		CONTROL_RANGE(t, V6_19, 1, top / 2, counter_read(x), "counter %u with CFG_B = 0",
			      x);
		CONTROL_EQ(t, V6_19, BIT(x), counters_status() & BIT(x),
			   "status bit of counter %u with CFG_B = 0", x);
		stop_pair(x, x);
	}
}

static u64 not_causes(void)
{
	return counter_caps()->gp_mask & ~counter_caps()->v6.causes;
}

static bool need_no_cause(char *reason, size_t size)
{
	return need_pair(reason, size) &&
	       version6_need(not_causes(), "counter that can't reload others", reason, size);
}

/*
 * V6-20  An overflow of a counter that CPUID.(23H,2):ECX or EDX doesn't have must not reload
 *        another one.
 *        SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 23H,
 *        sub-leaf 2
 *
 * Given  a counter that CPUID.(23H,2):ECX doesn't have, another one that can be reloaded
 * When   CFG_B of the latter gets the bit of the former, if the write isn't refused, and the former
 *        overflows
 * Then   nothing is loaded
 * Control: a counter of CPUID.(23H,2):ECX does load it, and the former's status bit is 1
 */
TEST(version6, counter_that_is_no_cause_reloads_no_other, REQS(V6_20),
     NEEDS(need_perfmon, need_no_cause, need_branches))
{
	unsigned x, y;

	general_pair(counter_caps()->v6.reloadable, counter_caps()->v6.causes, &x, &y);
	run_pair(x, y, BIT(y));
	CONTROL_RANGE(t, V6_20, loaded(x), loaded(x) + ROUNDS, counter_read(x),
		      "IA32_PMC%u, which IA32_PMC%u loads", x, y);
	stop_pair(x, y);
	FOR_EACH_COUNTER(other, not_causes())
	{
		const u64 mask = msr_try_write(version6_cfg_b(x), BIT(other)).raised ? 0 :
										       BIT(other);

		run_pair(x, other, mask);
		CONTROL_EQ(t, V6_20, BIT(other), counters_status() & BIT(other),
			   "status bit of IA32_PMC%u", other);
		CHECK_RANGE(t, V6_20, ROUNDS, ROUNDS + SLACK, counter_read(x),
			    "IA32_PMC%u after an overflow of IA32_PMC%u, CFG_B = %#lx", x, other,
			    mask);
		stop_pair(x, other);
	}
}

/*
 * V6-21  A counter whose CFG_B is 0 must not be reloaded.
 *        Linux intel_pmu_disable_acr
 *
 * Given  CFG_B of a counter names another one, and then is 0
 * When   that one overflows
 * Then   the first counts on
 * Control: with the name in CFG_B it is loaded
 */
TEST(version6, cfg_b_of_0_turns_reloading_off, REQS(V6_21),
     NEEDS(need_perfmon, need_pair, need_branches))
{
	unsigned x, y;

	general_pair(counter_caps()->v6.reloadable, counter_caps()->v6.causes, &x, &y);
	run_pair(x, y, BIT(y));
	CONTROL_RANGE(t, V6_21, loaded(x), loaded(x) + ROUNDS, counter_read(x),
		      "IA32_PMC%u, CFG_B names IA32_PMC%u", x, y);
	run_pair(x, y, 0);
	CHECK_RANGE(t, V6_21, ROUNDS, ROUNDS + SLACK, counter_read(x), "IA32_PMC%u, CFG_B = 0", x);
	stop_pair(x, y);
}
