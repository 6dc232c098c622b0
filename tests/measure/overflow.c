/* SPDX-License-Identifier: MIT */
#include "tests/measure/overflow.h"

#include "kernel/interrupt/fault.h"
#include "kernel/processor/time.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"

u64 overflow_status(void)
{
	return counters_status() & STATUS_LOOKED_AT;
}

void overflow_slow_update(void)
{
	time_stall(1);
}

u64 overflow_period(unsigned counter)
{
	return counter == OVERFLOW_SLOW ? SLOW_PERIOD : FIXED_PERIOD;
}

u64 overflow_rounds(unsigned counter)
{
	return counter == OVERFLOW_SLOW ? SLOW_ROUNDS : PERIOD;
}

bool overflow_needs_window(unsigned counter, unsigned windows)
{
	return !windows || (counter == OVERFLOW_SLOW && windows < SLOW_WINDOWS &&
			    !overflow_has_wrapped(counter, counter_read(counter)));
}

unsigned overflow_extra(const struct test *t, unsigned counter)
{
	return counter == OVERFLOW_SLOW && !test_is_strict(t) ? SLOW_REPEATS : 0;
}

bool overflow_has_wrapped(unsigned counter, u64 value)
{
	return value < BIT(counter_width(counter) - 1);
}

u64 overflow_allowed(struct test *t, u64 wanted, u64 interrupts)
{
	return interrupts > wanted && test_erratum(t, ERRATUM_PMI_AGAIN) ? interrupts : wanted;
}

u64 overflow_bit_set_again(const struct test *t, unsigned counter)
{
	return counter > OVERFLOW_SLOW && overflow_extra(t, OVERFLOW_SLOW) ? BIT(OVERFLOW_SLOW) : 0;
}

u64 overflow_before_freeze(const struct test *t, u64 whole)
{
	return test_is_strict(t) ? whole / 2 : whole - 1;
}

u64 overflow_freezable(struct test *t)
{
	const u64 late = counters_gp().bits & BITS(4, 7);

	return counters_all().bits & ~(late && test_erratum(t, ERRATUM_CTR_FRZ) ? late : 0);
}

void overflow_prepare(unsigned counter, u64 flags)
{
	counter_program(counter, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH | flags);
	counter_preset(counter,
		       PMC_IS_FIXED(counter) ?
			       overflow_period(counter) :
			       calibration_period(EVENT_BR_INST_RETIRED_ALL_BRANCHES, PERIOD));
}

void overflow_in(const struct workload *w, unsigned counter, u64 flags)
{
	overflow_prepare(counter, flags);
	for (unsigned windows = 0; overflow_needs_window(counter, windows); windows++)
		workload_run(w, overflow_rounds(counter), pmc_one(counter));
}

void overflow(unsigned counter, u64 flags)
{
	overflow_in(&workload_sled, counter, flags);
}

/* The first run trains the predictor of branches and brings the code's lines, so that later ones
 * have fewer slots of wrong paths and fewer empty ones. */
#define TRIALS	4

bool overflow_comes(unsigned counter)
{
	u64 least = ~0ULL;

	if (!PMC_IS_FIXED(counter) || counter <= PMC_FIXED(3))
		return true;
	counter_program(counter, 0, COUNT_BOTH);
	for (unsigned i = 0; i < TRIALS; i++) {
		u64 value;

		counter_write(counter, 0);
		workload_run(&workload_sled, overflow_rounds(counter), pmc_one(counter));
		value = counter_read(counter);
		least = value < least ? value : least;
	}
	counter_program_disabled(counter, 0, 0);
	return least >= 2 * overflow_period(counter);
}

void overflow_off(unsigned counter)
{
	counter_program_disabled(counter, 0, 0);
	counters_clear(BIT(counter));
}

void overflow_close_window(unsigned n)
{
	msr_write(MSR_IA32_DEBUGCTL, 0);
	for (unsigned c = 0; c < n; c++)
		counter_program_disabled(c, 0, 0);
	counters_clear(overflow_status());
	pmi_unmask();
	pmi_end();
}

const struct pmi_log *overflow_interrupts(unsigned counter, u64 flags,
					  const struct pmi_options *options)
{
	pmi_open(options);
	overflow(counter, flags);
	return pmi_end();
}

u64 overflow_debugctl_takes(u64 bits)
{
	u64 taken = 0;

	FOR_EACH_COUNTER (bit, bits)
		if (!msr_try_write(MSR_IA32_DEBUGCTL, BIT(bit)).raised)
			taken |= msr_read(MSR_IA32_DEBUGCTL) & BIT(bit);
	msr_write(MSR_IA32_DEBUGCTL, 0);
	return taken;
}

u64 overflow_settable_buffer(const struct test *t)
{
	const struct pmu_caps *c = counter_caps();

	return c->ds && (!c->arch_pebs || test_is_strict(t)) ? IA32_PERF_GLOBAL_STATUS_OVF_BUF : 0;
}
