/* SPDX-License-Identifier: MIT */
/*
 * Auto counter reload, CPUID.(23H,2): if CFG_B of counter A names counter B, an overflow of B loads
 * A with A's CFG_C[31:0]. Linux: intel_pmu_enable_acr(); SDM volume 1 has the sets. No source says
 * how many events are between the overflow and the load, so a range is checked.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/measure/overflow.h"
#include "tests/version6/version6.h"

#define EVENT		EVENT_BR_INST_RETIRED_ALL_BRANCHES
#define ROUNDS		1024u		/* rounds of workload_load: each has one branch */
#define CAUSE_PERIOD	256u		/* period of the counter whose overflow causes the load */
#define SLACK		16u		/* branches of opening and closing the window */

/* CFG_C[31:0]: farther below 0 than any window counts. */
#define RELOAD_VALUE	(0u - 0x01000000u)

static u64 loaded(unsigned counter)
{
	return version6_loaded(counter, RELOAD_VALUE);
}

/* The first general-purpose counter that can be reloaded, and another one that can cause the
 * reload. */
static bool first_pair(unsigned *reloaded, unsigned *cause)
{
	const struct version6 *v = &counter_caps()->v6;
	const u64 general = counter_caps()->gp_mask;

	FOR_EACH_COUNTER (c, v->reloadable & general) {
		*reloaded = c;
		*cause = counter_next(v->causes & general & ~BIT(c), 0);
		if (*cause < COUNTERS_END)
			return true;
	}
	return false;
}

static bool need_pair(char *reason, size_t size)
{
	unsigned reloaded, cause;

	return version6_need(first_pair(&reloaded, &cause), "counter that another one reloads",
			     reason, size);
}

/* `cause` overflows on branch CAUSE_PERIOD at these levels, `reloaded` counts from 0, and its CFG_B
 * names the counters in mask. */
static void program_pair(unsigned reloaded, unsigned cause, u64 levels, u64 mask)
{
	counter_program(reloaded, EVENT, levels);
	counter_write(reloaded, 0);
	counter_program(cause, EVENT, levels);
	counter_preset(cause, CAUSE_PERIOD);
	msr_write(version6_cfg_c(reloaded), RELOAD_VALUE);
	msr_write(version6_cfg_b(reloaded), mask);
}

/* Run one window of these. */
static void run_pair(unsigned reloaded, unsigned cause, u64 mask)
{
	program_pair(reloaded, cause, COUNT_BOTH, mask);
	workload_run(&workload_load, ROUNDS, pmc_or(pmc_one(reloaded), pmc_one(cause)));
}

static void stop_pair(unsigned reloaded, unsigned cause)
{
	msr_write(version6_cfg_b(reloaded), 0);
	msr_write(version6_cfg_c(reloaded), 0);
	counter_program_disabled(reloaded, 0, 0);
	counter_program_disabled(cause, 0, 0);
	counters_clear(BIT(reloaded) | BIT(cause));
}

static void check_reloads(struct test *t, unsigned reloaded, unsigned cause)
{
	const u64 least = loaded(reloaded), most = least + ROUNDS - CAUSE_PERIOD + SLACK;

	run_pair(reloaded, cause, BIT(cause));
	CONTROL_EQ(t, V6_18, BIT(cause), counters_status() & BIT(cause),
		   "status bit of IA32_PMC%u, which loads IA32_PMC%u", cause, reloaded);
	CHECK_RANGE(t, V6_18, least, most, counter_read(reloaded),
		    "IA32_PMC%u after an overflow of IA32_PMC%u, CFG_C %#x", reloaded, cause,
		    RELOAD_VALUE);
	CHECK_EQ(t, V6_18, 0, counters_status() & BIT(reloaded), "status bit of IA32_PMC%u",
		 reloaded);
	stop_pair(reloaded, cause);
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
 * Then   the first holds that value, with all higher bits 1, plus its later events; its own status
 *        bit is 0
 * Control: the second's status bit is 1
 */
TEST(version6, overflow_reloads_each_counter_that_names_the_one_that_overflowed, REQS(V6_18),
     NEEDS(need_perfmon, need_pair, need_branches), .under_every_fault = true)
{
	const struct version6 *v = &counter_caps()->v6;
	const u64 general = counter_caps()->gp_mask;

	FOR_EACH_COUNTER (reloaded, v->reloadable & general) {
		const unsigned cause = counter_next(v->causes & general & ~BIT(reloaded), 0);

		if (cause < COUNTERS_END)
			check_reloads(t, reloaded, cause);
	}
	FOR_EACH_COUNTER (cause, v->causes & general) {
		const unsigned reloaded = counter_next(v->reloadable & general & ~BIT(cause), 0);

		if (reloaded < COUNTERS_END)
			check_reloads(t, reloaded, cause);
	}
}

/*
 * V6-18   An overflow of a counter that CFG_B of another one names must load that one with
 *         CFG_C[31:0].
 *         Linux intel_pmu_enable_acr; Linux mailing list: auto counter reload
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  two counters of one event; CFG_B of the first names the second and another one,
 *        CFG_C[31:0] is a value far below 0; the second has INT = 1
 * When   the second overflows in a window, for each that can cause it; where every requirement is
 *        judged, also with IA32_DEBUGCTL[12], so that its interrupt freezes the counters
 * Then   the first holds that value, with all higher bits 1, plus its later events; there is one
 *        interrupt
 * Control: the second's status bit is 1 in the handler
 */
TEST(version6, overflow_that_reloads_another_counter_interrupts, REQS(V6_18, PMI_01),
     NEEDS(need_perfmon, need_pair, need_branches))
{
	const struct version6 *v = &counter_caps()->v6;
	const u64 general = counter_caps()->gp_mask;

	for (unsigned i = 0; i < (test_is_strict(t) ? 2 : 1); i++)
		FOR_EACH_COUNTER (cause, v->causes & general) {
			const unsigned reloaded = counter_next(v->reloadable & general &
								       ~BIT(cause),
							       0);
			const struct pmi_log *log;

			if (reloaded >= COUNTERS_END)
				continue;
			msr_write(MSR_IA32_DEBUGCTL, i ? IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI : 0);
			pmi_open(NULL);
			counter_program(reloaded, EVENT, COUNT_BOTH);
			counter_write(reloaded, 0);
			counter_program(cause, EVENT, COUNT_BOTH | COUNT_INT);
			counter_preset(cause, CAUSE_PERIOD);
			msr_write(version6_cfg_c(reloaded), RELOAD_VALUE);
			msr_write(version6_cfg_b(reloaded), v->causes);
			workload_run(&workload_load, ROUNDS,
				     pmc_or(pmc_one(reloaded), pmc_one(cause)));
			log = pmi_end();
			msr_write(MSR_IA32_DEBUGCTL, 0);
			CHECK_RANGE(t, V6_18, loaded(reloaded), loaded(reloaded) + ROUNDS,
				    counter_read(reloaded),
				    "IA32_PMC%u after an overflow of IA32_PMC%u, which has INT, "
				    "IA32_DEBUGCTL[12] = %u",
				    reloaded, cause, i);
			if (CHECK_EQ(t, PMI_01, 1, log->count,
				     "interrupts of IA32_PMC%u, whose overflow reloads IA32_PMC%u",
				     cause, reloaded))
				CONTROL_EQ(t, IDS(V6_18, PMI_01), BIT(cause),
					   log->entry[0].status & BIT(cause),
					   "status bit of IA32_PMC%u in the handler", cause);
			stop_pair(reloaded, cause);
		}
}

/* CFG_B of `reloaded` is `before`, and `names` once both count; `cause` overflows at CPL 3. */
static void run_at_cpl_3(unsigned reloaded, unsigned cause, u64 before, u64 names)
{
	program_pair(reloaded, cause, COUNT_USR, before);
	counters_enable(pmc_or(pmc_one(reloaded), pmc_one(cause)));
	if (names != before)
		msr_write(version6_cfg_b(reloaded), names);
	workload_run_user(&workload_load, ROUNDS);
	counters_disable();
}

/*
 * V6-18  An overflow of a counter that CFG_B of another one names must load that one with
 *        CFG_C[31:0].
 *        Linux intel_pmu_enable_acr; Linux mailing list: auto counter reload
 *
 * Given  a counter that counts at CPL 3, as the one that its CFG_B names does
 * When   that one overflows at CPL 3, each two of CPUID.(23H,2) next to each other; where every
 *        requirement is judged, also with a CFG_B that is written while both are enabled
 * Then   the first holds CFG_C[31:0], with all higher bits 1, plus its later events; it counts on
 *        from 0 if CFG_B has become 0
 * Control: the other one's status bit is 1
 */
TEST(version6, overflow_at_cpl_3_reloads_the_counter_that_names_it, REQS(V6_18),
     NEEDS(need_perfmon, need_pair, need_branches))
{
	const struct version6 *v = &counter_caps()->v6;
	const u64 general = counter_caps()->gp_mask;

	FOR_EACH_COUNTER (cause, v->causes & general) {
		const unsigned reloaded = counter_next(v->reloadable & general & ~BIT(cause), 0);
		const u64 one = BIT(cause);
		const struct {
			u64 before, names;
		} rows[] = { { one, one }, { 0, one }, { one, 0 } };

		if (reloaded >= COUNTERS_END)
			continue;
		for (unsigned i = 0; i < (test_is_strict(t) ? 3 : 1); i++) {
			const u64 least = rows[i].names ? loaded(reloaded) : ROUNDS;

			run_at_cpl_3(reloaded, cause, rows[i].before, rows[i].names);
			CONTROL_EQ(t, V6_18, one, counters_status() & one,
				   "status bit of IA32_PMC%u", cause);
			CHECK_RANGE(t, V6_18, least, least + ROUNDS + SLACK, counter_read(reloaded),
				    "IA32_PMC%u after an overflow of IA32_PMC%u at CPL 3, CFG_B "
				    "%#lx, then %#lx",
				    reloaded, cause, rows[i].before, rows[i].names);
			stop_pair(reloaded, cause);
		}
	}
}

/* Both count branches from CAUSE_PERIOD below 0; CFG_B of `reloaded` is `names`. */
static void run_both_overflow(unsigned reloaded, unsigned cause, u64 names)
{
	counter_program(reloaded, EVENT, COUNT_BOTH);
	counter_preset(reloaded, CAUSE_PERIOD);
	counter_program(cause, EVENT, COUNT_BOTH);
	counter_preset(cause, CAUSE_PERIOD);
	msr_write(version6_cfg_c(reloaded), RELOAD_VALUE);
	msr_write(version6_cfg_b(reloaded), names);
	workload_run(&workload_load, ROUNDS, pmc_or(pmc_one(reloaded), pmc_one(cause)));
}

/*
 * V6-18  An overflow of a counter that CFG_B of another one names must load that one with
 *        CFG_C[31:0].
 *        Linux intel_pmu_enable_acr; Linux mailing list: auto counter reload
 *
 * Given  two counters of one event and one start; CFG_B of the first names the second
 * When   both overflow on one branch, for each counter that can be reloaded and each that can cause
 *        it
 * Then   the first holds CFG_C[31:0], with all higher bits 1, plus its later events
 * Control: with CFG_B = 0 the two hold the same count above 0, and the status bits of both are 1;
 *          with the name in it the second's is 1
 */
TEST(version6, counter_that_overflows_with_its_cause_is_reloaded, REQS(V6_18),
     NEEDS(need_perfmon, need_pair, need_branches))
{
	const struct version6 *v = &counter_caps()->v6;
	const u64 general = counter_caps()->gp_mask;

	FOR_EACH_COUNTER (reloaded, v->reloadable & general)
		FOR_EACH_COUNTER (cause, v->causes & general & ~BIT(reloaded)) {
			const u64 both = BIT(reloaded) | BIT(cause);

			run_both_overflow(reloaded, cause, 0);
			CONTROL_EQ(t, V6_18, both, counters_status() & both,
				   "status bits of IA32_PMC%u and IA32_PMC%u, CFG_B = 0", reloaded,
				   cause);
			CONTROL_EQ(t, V6_18, counter_read(cause), counter_read(reloaded),
				   "IA32_PMC%u against IA32_PMC%u, which has the same start, CFG_B "
				   "= 0",
				   reloaded, cause);
			stop_pair(reloaded, cause);
			run_both_overflow(reloaded, cause, BIT(cause));
			CONTROL_EQ(t, V6_18, BIT(cause), counters_status() & BIT(cause),
				   "status bit of IA32_PMC%u, which loads IA32_PMC%u", cause,
				   reloaded);
			CHECK_RANGE(t, V6_18, loaded(reloaded), loaded(reloaded) + ROUNDS,
				    counter_read(reloaded),
				    "IA32_PMC%u after an overflow on the branch on which "
				    "IA32_PMC%u "
				    "overflows",
				    reloaded, cause);
			stop_pair(reloaded, cause);
		}
}

/* General-purpose counters that can be reloaded and can cause a reload; 0: fewer than three. */
static u64 three_of_both(void)
{
	const struct version6 *v = &counter_caps()->v6;
	const u64 both = v->reloadable & v->causes & counter_caps()->gp_mask;
	const u64 but_one = both & (both - 1);

	return but_one & (but_one - 1) ? both : 0;
}

static bool need_three(char *reason, size_t size)
{
	return version6_need(three_of_both(), "three counters that reload each other", reason,
			     size);
}

/*
 * V6-18  An overflow of a counter that CFG_B of another one names must load that one with
 *        CFG_C[31:0].
 *        Linux intel_pmu_enable_acr; Linux mailing list: auto counter reload
 *
 * Given  three counters of one event; CFG_B of the first names the third; the second and the third
 *        have the same start, and the third reloads itself as often as it overflows
 * When   the second and the third overflow on one branch; the third overflows again
 * Then   the first has been loaded with CFG_C[31:0] each time: it has no more than a period since
 * Control: the second's status bit is 1
 */
TEST(version6, each_overflow_reloads_also_beside_another_overflow, REQS(V6_18),
     NEEDS(need_perfmon, need_three, need_branches))
{
	const u64 both = three_of_both();
	const unsigned first = counter_next(both, 0);

	FOR_EACH_COUNTER (cause, both & ~BIT(first)) {
		/* A counter below `cause`, or above it if there is none below. */
		const u64 others = both & ~BIT(first) & ~BIT(cause);
		const unsigned beside = counter_next(others, 0);
		const struct pmc_mask on = pmc_or(pmc_one(first),
						  pmc_or(pmc_one(beside), pmc_one(cause)));

		counter_program(first, EVENT, COUNT_BOTH);
		counter_write(first, 0);
		counter_program(beside, EVENT, COUNT_BOTH);
		counter_preset(beside, CAUSE_PERIOD);
		counter_program(cause, EVENT, COUNT_BOTH);
		counter_preset(cause, CAUSE_PERIOD);
		msr_write(version6_cfg_c(first), RELOAD_VALUE);
		msr_write(version6_cfg_b(first), BIT(cause));
		msr_write(version6_cfg_c(cause), 0u - CAUSE_PERIOD);
		msr_write(version6_cfg_b(cause), BIT(cause));
		workload_run(&workload_load, ROUNDS + CAUSE_PERIOD / 2, on);
		CONTROL_EQ(t, V6_18, BIT(beside), counters_status() & BIT(beside),
			   "status bit of IA32_PMC%u, which overflows on the same branch", beside);
		CHECK_RANGE(t, V6_18, loaded(first), loaded(first) + CAUSE_PERIOD + SLACK,
			    counter_read(first),
			    "IA32_PMC%u after several overflows of IA32_PMC%u, the first beside "
			    "one of IA32_PMC%u",
			    first, cause, beside);
		stop_pair(first, cause);
		stop_pair(cause, beside);
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

/* Like run_pair(), for counters of both kinds: CFG_C[31:0] is `load`, and windows run until `cause`
 * has overflowed. */
static void run_any_pair(unsigned reloaded, unsigned cause, u32 load, u64 mask)
{
	counter_program(reloaded, EVENT, COUNT_BOTH);
	counter_write(reloaded, 0);
	counter_program(cause, EVENT, COUNT_BOTH);
	counter_preset(cause, cause == OVERFLOW_SLOW ? SLOW_PERIOD : CAUSE_PERIOD);
	msr_write(version6_cfg_c(reloaded), load);
	msr_write(version6_cfg_b(reloaded), mask);
	for (unsigned windows = 0; overflow_needs_window(cause, windows); windows++)
		workload_run(&workload_load, cause == OVERFLOW_SLOW ? SLOW_ROUNDS : ROUNDS,
			     pmc_or(pmc_one(reloaded), pmc_one(cause)));
}

/*
 * V6-18  An overflow of a counter that CFG_B of another one names must load that one with
 *        CFG_C[31:0].
 *        Linux intel_pmu_enable_acr; Linux mailing list: auto counter reload
 *
 * Given  two counters; CFG_B of the first names the second, CFG_C[31:0] is a value far below 0
 * When   the second overflows, for each two of CPUID.(23H,2), general-purpose and fixed ones: the
 *        first of EAX or EBX, the second of ECX or EDX
 * Then   the first is less than 2^24 above that value, with all higher bits 1; its own status bit
 *        is 0
 * Control: the second's status bit is 1; with CFG_B = 0 the first stays above 0
 */
TEST(version6, overflow_of_each_counter_reloads_each_other_that_names_it, REQS(V6_18),
     NEEDS(need_perfmon, need_fixed_pair, need_branches), .deadline_ms = 5000)
{
	enum { COUNTED = 0x1000000 };	/* more events than the windows of a pair have */
	const struct version6 *v = &counter_caps()->v6;

	FOR_EACH_COUNTER (reloaded, v->reloadable)
		FOR_EACH_COUNTER (cause, v->causes & ~BIT(reloaded)) {
			/* A value that no other pair has, farther below 0 than the windows
			 * count. */
			const u32 load = 0u - (reloaded % 32 + 2 * (cause % 32) + 3) * COUNTED;
			const u64 least = version6_loaded(reloaded, load);

			run_any_pair(reloaded, cause, load, BIT(cause));
			CONTROL_EQ(t, V6_18, BIT(cause), counters_status() & BIT(cause),
				   "status bit of counter %u, which loads counter %u", cause,
				   reloaded);
			CHECK_RANGE(t, V6_18, least, least + COUNTED - 1, counter_read(reloaded),
				    "counter %u after an overflow of counter %u, CFG_C %#x",
				    reloaded, cause, load);
			CHECK_EQ(t, V6_18, 0, counters_status() & BIT(reloaded),
				 "status bit of counter %u", reloaded);
			stop_pair(reloaded, cause);
			if (cause == counter_next(v->causes & ~BIT(reloaded), 0)) {
				run_any_pair(reloaded, cause, load, 0);
				CONTROL_RANGE(t, V6_18, 0, COUNTED, counter_read(reloaded),
					      "counter %u, CFG_B = 0", reloaded);
				stop_pair(reloaded, cause);
			}
		}
}

/*
 * `first` counts from 0, and its CFG_B names `named`, which stays far from its overflow. CFG_B of
 * `named` is `names`. Windows run until `beside` overflows.
 */
static void run_beside(unsigned first, unsigned named, unsigned beside, u64 names)
{
	const bool slow = beside == OVERFLOW_SLOW;
	const struct pmc_mask on = pmc_or(pmc_one(first), pmc_or(pmc_one(named), pmc_one(beside)));

	counter_program(first, EVENT, COUNT_BOTH);
	counter_write(first, 0);
	counter_program(named, EVENT, COUNT_BOTH);
	counter_write(named, 0);
	counter_program(beside, EVENT, COUNT_BOTH);
	counter_preset(beside, slow ? SLOW_PERIOD : CAUSE_PERIOD);
	msr_write(version6_cfg_c(first), RELOAD_VALUE);
	msr_write(version6_cfg_b(first), BIT(named));
	msr_write(version6_cfg_c(named), RELOAD_VALUE);
	msr_write(version6_cfg_b(named), names);
	for (unsigned windows = 0; overflow_needs_window(beside, windows); windows++)
		workload_run(&workload_load, slow ? SLOW_ROUNDS : ROUNDS, on);
}

/* Does `beside` alone show an overflow? A window may have no events of fixed counters from 4 on. */
static bool overflowed(struct test *t, struct test_claim control, unsigned named, unsigned beside)
{
	const u64 status = counters_status() & (BIT(beside) | BIT(named));

	if (!status && beside > PMC_FIXED(3))
		return false;
	return test_check_eq(t, control, BIT(beside), status,
			     "status bits of counter %u, and of %u, which is named", beside, named);
}

/*
 * V6-18  An overflow of a counter that CFG_B of another one names must load that one with
 *        CFG_C[31:0].
 *        Linux intel_pmu_enable_acr; Linux mailing list: auto counter reload
 * V6-20  An overflow of a counter that CPUID.(23H,2):ECX or EDX doesn't have must not reload
 *        another one.
 *        SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 23H,
 *        sub-leaf 2
 *
 * Given  three counters of one event; CFG_B of the first names the third, which is far from its
 *        overflow
 * When   the second overflows: each other counter, general-purpose and fixed, of CPUID.(23H,2):ECX
 *        and EDX or not; of the former each that can be named is named in turn, and CFG_B of the
 *        third names the second
 * Then   the first counts on from 0; the third is loaded by a counter that it names
 * Control: the second's status bit is 1, the third's is 0; that an overflow of the third reloads
 *          the first
 */
TEST(version6, overflow_that_cfg_b_does_not_name_reloads_nothing, REQS(V6_18, V6_20),
     NEEDS(need_perfmon, need_three, need_branches), .deadline_ms = 5000)
{
	enum {
		COUNTED = 0x1000000
	}; /* more events than the windows have, and less than the loaded value */
	const u64 fixed = (u64)counter_caps()->fixed_mask << PMC_FIXED(0);
	const u64 all = counter_caps()->gp_mask | fixed;
	const u64 both = three_of_both();
	const unsigned first = counter_next(both, 0);

	FOR_EACH_COUNTER (named, both & ~BIT(first)) {
		run_pair(first, named, BIT(named));
		CONTROL_RANGE(t, V6_18, loaded(first), loaded(first) + ROUNDS, counter_read(first),
			      "IA32_PMC%u, which IA32_PMC%u loads", first, named);
		stop_pair(first, named);
		FOR_EACH_COUNTER (beside, all & ~BIT(first) & ~BIT(named)) {
			const bool listed = counter_caps()->v6.causes & BIT(beside);

			/* For a slow counter, or for one that can't be a cause, one named counter
			 * is enough. */
			if ((!listed || beside >= PMC_FIXED(0)) &&
			    named != counter_next(both & ~BIT(first), 0))
				continue;
			run_beside(first, named, beside, listed ? BIT(beside) : 0);
			if (overflowed(t, listed ? CONTROL_AT(V6_18) : CONTROL_AT(V6_20), named,
				       beside)) {
				test_check_range(t, listed ? AT(V6_18) : AT(V6_20), ROUNDS, COUNTED,
						 counter_read(first),
						 "IA32_PMC%u, CFG_B names IA32_PMC%u, after an "
						 "overflow of counter %u",
						 first, named, beside);
				if (listed)
					CHECK_RANGE(t, V6_18, loaded(named),
						    loaded(named) + COUNTED - 1,
						    counter_read(named),
						    "IA32_PMC%u after an overflow of counter %u",
						    named, beside);
			}
			stop_pair(first, named);
			stop_pair(named, beside);
		}
	}
}

static bool need_counter_that_reloads_itself(char *reason, size_t size)
{
	const struct version6 *v = &counter_caps()->v6;

	return version6_need(v->reloadable & v->causes, "counter that reloads itself", reason,
			     size);
}

#define SELF_PERIOD		256u
/* For fixed counter 2, whose clock is slow: enough windows for several overflows. */
#define SELF_SLOW_PERIOD	1024u
#define SELF_SLOW_WINDOWS	8u

/* The counter counts from -n, with CFG_B = `names`, over several times n events; LVTPC is
 * masked. */
static void run_self(unsigned reloaded, u64 n, u64 names, u64 interrupt)
{
	static const struct pmi_options masked = { .masked = true };

	const bool slow = reloaded == OVERFLOW_SLOW;

	pmi_open(&masked);
	counter_program(reloaded, EVENT, COUNT_BOTH | interrupt);
	counter_preset(reloaded, n);
	msr_write(version6_cfg_c(reloaded), (u32)(0 - n));
	msr_write(version6_cfg_b(reloaded), names);
	for (unsigned windows = 0; windows < (slow ? SELF_SLOW_WINDOWS : 1); windows++)
		workload_run(&workload_load, slow ? SLOW_ROUNDS : ROUNDS + SELF_PERIOD / 2,
			     pmc_one(reloaded));
	pmi_close();
}

/*
 * V6-19  A counter whose CFG_B names itself must reload itself without setting its bit of
 *        IA32_PERF_GLOBAL_STATUS.
 *        Linux intel_pmu_enable_acr
 *
 * Given  each counter of CPUID.(23H,2) that can be reloaded and cause it, fixed ones too; its CFG_B
 *        names itself alone, itself and one other, and every counter that may be named; the others
 *        stand still; CFG_C[31:0] = -SELF_PERIOD; without its INT, and with it, LVTPC masked
 * When   it counts several times SELF_PERIOD, from -SELF_PERIOD
 * Then   it is at most SELF_PERIOD below 0, and its status bit is 0
 * Control: with CFG_B = 0, or naming the other one alone, its status bit is 1, and it counts on
 *          above 0
 */
TEST(version6, counter_that_names_itself_sets_no_status_bit, REQS(V6_19),
     NEEDS(need_perfmon, need_counter_that_reloads_itself, need_branches))
{
	const struct version6 *v = &counter_caps()->v6;

	FOR_EACH_COUNTER (reloaded, v->reloadable & v->causes) {
		const u64 others = v->causes & ~BIT(reloaded);
		const u64 one = others & (~others + 1);
		const u64 names[] = { BIT(reloaded), BIT(reloaded) | one, v->causes };
		const u64 n = reloaded == OVERFLOW_SLOW ? SELF_SLOW_PERIOD : SELF_PERIOD;
		const u64 top = BIT(counter_width(reloaded));

		for (unsigned i = 0; i < 2 * sizeof(names) / sizeof(names[0]); i++) {
			const u64 interrupt = i % 2 ? COUNT_INT : 0;

			run_self(reloaded, n, names[i / 2], interrupt);
			CHECK_RANGE(t, V6_19, top - n, top - 1, counter_read(reloaded),
				    "counter %u, which reloads itself, CFG_B = %#lx, INT = %u",
				    reloaded, names[i / 2], i % 2);
			CHECK_EQ(t, V6_19, 0, counters_status() & BIT(reloaded),
				 "status bit of counter %u, which reloads itself, CFG_B = %#lx, "
				 "INT = %u",
				 reloaded, names[i / 2], i % 2);
			stop_pair(reloaded, reloaded);
		}
		/* The counter is tested twice if there is no other one. */
		for (unsigned i = 0; i < 2; i++) {
			const u64 not_itself = i ? one : 0;

			run_self(reloaded, n, not_itself, i ? COUNT_INT : 0);
			CONTROL_RANGE(t, V6_19, 1, top / 2, counter_read(reloaded),
				      "counter %u with CFG_B = %#lx", reloaded, not_itself);
			CONTROL_EQ(t, V6_19, BIT(reloaded), counters_status() & BIT(reloaded),
				   "status bit of counter %u with CFG_B = %#lx", reloaded,
				   not_itself);
			stop_pair(reloaded, reloaded);
		}
	}
}

/* General-purpose counters that CPUID.(23H,2):ECX doesn't have, without the first one that can be
 * reloaded. There must be a pair. */
static u64 counters_that_are_no_cause(void)
{
	unsigned reloaded, cause;

	first_pair(&reloaded, &cause);
	return counter_caps()->gp_mask & ~counter_caps()->v6.causes & ~BIT(reloaded);
}

static bool need_counter_that_is_no_cause(char *reason, size_t size)
{
	return need_pair(reason, size) &&
	       version6_need(counters_that_are_no_cause(), "counter that can't reload others",
			     reason, size);
}

/*
 * V6-20  An overflow of a counter that CPUID.(23H,2):ECX or EDX doesn't have must not reload
 *        another one.
 *        SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 23H,
 *        sub-leaf 2
 *
 * Given  a counter that CPUID.(23H,2):ECX doesn't have, another one that can be reloaded
 * When   CFG_B of the counter that can be reloaded gets the other counter's bit, if the write isn't
 *        refused, and the other one overflows
 * Then   the one that can be reloaded counts on from 0
 * Control: the other counter's status bit is 1; a counter of CPUID.(23H,2):ECX does reload it, or
 *          nothing is judged, because only practice shows how a counter is reloaded
 */
TEST(version6, overflow_of_a_counter_that_cannot_cause_it_reloads_no_other, REQS(V6_20),
     NEEDS(need_perfmon, need_counter_that_is_no_cause, need_branches))
{
	unsigned reloaded, cause;
	u64 value;

	first_pair(&reloaded, &cause);
	run_pair(reloaded, cause, BIT(cause));
	value = counter_read(reloaded);
	stop_pair(reloaded, cause);
	if (value < loaded(reloaded) || value > loaded(reloaded) + ROUNDS) {
		test_inconclusive(t,
				  "IA32_PMC%u is %#lx after an overflow of IA32_PMC%u, which loads "
				  "it: no reload is seen",
				  reloaded, value, cause);
		return;
	}
	FOR_EACH_COUNTER (other, counters_that_are_no_cause()) {
		const u64 mask = msr_try_write(version6_cfg_b(reloaded), BIT(other)).raised ?
					 0 :
					 BIT(other);

		run_pair(reloaded, other, mask);
		CONTROL_EQ(t, V6_20, BIT(other), counters_status() & BIT(other),
			   "status bit of IA32_PMC%u", other);
		CHECK_RANGE(t, V6_20, ROUNDS, ROUNDS + SLACK, counter_read(reloaded),
			    "IA32_PMC%u after an overflow of IA32_PMC%u, CFG_B = %#lx", reloaded,
			    other, mask);
		stop_pair(reloaded, other);
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
	unsigned reloaded, cause;

	first_pair(&reloaded, &cause);
	run_pair(reloaded, cause, BIT(cause));
	CONTROL_RANGE(t, V6_21, loaded(reloaded), loaded(reloaded) + ROUNDS, counter_read(reloaded),
		      "IA32_PMC%u, CFG_B names IA32_PMC%u", reloaded, cause);
	run_pair(reloaded, cause, 0);
	CHECK_RANGE(t, V6_21, ROUNDS, ROUNDS + SLACK, counter_read(reloaded),
		    "IA32_PMC%u, CFG_B = 0", reloaded);
	stop_pair(reloaded, cause);
}
