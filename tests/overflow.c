/* SPDX-License-Identifier: MIT */
#include "tests/overflow.h"

#include "spec/msr.h"
#include "tests/calibration.h"

u64 overflow_status(void)
{
	return counters_status() & STATUS_LOOKED_AT;
}

void overflow_prepare(unsigned counter, u64 flags)
{
	counter_program(counter, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH | flags);
	counter_preset(counter, PMC_IS_FIXED(counter) ? FIXED_PERIOD :
		       calibration_period(EVENT_BR_INST_RETIRED_ALL_BRANCHES, PERIOD));
}

void overflow_in(const struct workload *w, unsigned counter, u64 flags)
{
	overflow_prepare(counter, flags);
	workload_run(w, PERIOD, pmc_one(counter));
}

void overflow(unsigned counter, u64 flags)
{
	overflow_in(&workload_sled, counter, flags);
}

void overflow_off(unsigned counter)
{
	counter_program_disabled(counter, 0, 0);
	counters_clear(BIT(counter));
}

const struct pmi_log *overflow_interrupts(unsigned counter, u64 flags,
					  const struct pmi_options *options)
{
	const struct pmi_log *log;

	pmi_open(options);
	overflow(counter, flags);
	log = pmi_settle();
	pmi_close();
	return log;
}
