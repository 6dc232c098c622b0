/* SPDX-License-Identifier: MIT */
/* See adaptive.h. */
#include "tests/adaptive/adaptive.h"

#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/lbr/arch.h"
#include "tests/measure/overflow.h"

unsigned adaptive_bytes_before_counters(u64 config)
{
	unsigned bytes = BASIC_BYTES;

	if (config & CONFIG_MEMORY)
		bytes += 0x20;
	if (config & CONFIG_GPR)
		bytes += 0x90;
	if (config & CONFIG_XMM)
		bytes += 0x100;
	if (config & CONFIG_LBR)
		bytes += 0x18 * ((unsigned)(config >> 24 & 0xff) + 1);
	return bytes;
}

unsigned adaptive_bytes(u64 config)
{
	unsigned bytes = adaptive_bytes_before_counters(config);

	if (config & (CONFIG_COUNTERS | CONFIG_METRICS))
		bytes += 0x10;
	for (unsigned bit = 32; config & CONFIG_COUNTERS && bit < 56; bit++)
		bytes += config & BIT(bit) ? 8 : 0;
	if (config & CONFIG_METRICS)
		bytes += 2 * 8;
	return bytes;
}

struct ds_setup adaptive_setup(const struct adaptive_run *run, struct adaptive_layout *layout)
{
	struct ds_setup setup = sampling_setup(run->capacity ? run->capacity : 4);

	*layout = (struct adaptive_layout){
		.config = run->config,
		.size = (u16)(run->basic ? BASIC_BYTES : adaptive_bytes(run->config)),
	};
	setup.layout = layout;
	return setup;
}

static void arm(const struct adaptive_run *run, u16 event, u64 n)
{
	pebs_arm_as(run->counter, event, COUNT_BOTH | (run->basic ? 0 : COUNT_ADAPTIVE), n);
}

static void stop(const struct adaptive_run *run)
{
	pebs_disarm();
	counter_program_disabled(run->counter, 0, 0);
	counters_clear(BIT(run->counter));
}

void adaptive_window(const struct adaptive_run *run)
{
	const struct workload *w = run->workload ? run->workload : sampling_any_piece();
	u16 event = run->event ? run->event : sampling_any_event();
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(run, &layout);

	ds_open(&setup);
	arm(run, event,
	    calibration_period(event, PERIOD + run->later) + pebs_may_have_pdist(run->counter));
	workload_run(w, PERIOD, pmc_one(run->counter));
	stop(run);
}

void adaptive_any_window(const struct adaptive_run *run, struct ds_setup *setup)
{
	u64 period = run->counter == OVERFLOW_SLOW ? SLOW_PERIOD : ROUNDS_PERIOD;
	u64 rounds = run->counter == OVERFLOW_SLOW ? SLOW_ROUNDS : ROUNDS_FOR(1);

	ds_open(setup);
	arm(run, run->event ? run->event : EVENT_BR_INST_RETIRED_ALL_BRANCHES, period);
	for (unsigned i = 0; i < SLOW_WINDOWS && !ds_bytes(); i++)
		workload_run(run->workload ? run->workload : &workload_load, rounds,
			     pmc_one(run->counter));
	stop(run);
}

bool adaptive_one_record(struct test *t, struct test_claim claim, const struct adaptive_run *run)
{
	u64 size = run->basic ? BASIC_BYTES : adaptive_bytes(run->config);

	if (!ds_bytes() && counter_caps()->hypervisor) {
		test_inconclusive(t, "no record under hypervisor \"%s\"",
				  counter_caps()->host.signature);
		return false;
	}
	if (!ds_bytes() && calibration_get()->shadow_beyond)
		return sampling_shadow_fits(t);
	sampling_want(t, 1);
	return test_check_eq(t, claim, size, (u64)ds_bytes(),
			     "bytes by which the index moved, counter %u, MSR_PEBS_DATA_CFG = "
			     "%#lx, Adaptive_Record %u",
			     run->counter, run->config, !run->basic);
}

u64 adaptive_at(unsigned byte)
{
	return *(const volatile u64 *)((uintptr_t)ds_buffer() + byte);
}

bool adaptive_need_entries(char *reason, size_t size)
{
	return counter_caps()->arch_lbr ? need_arch_lbr_kinds(reason, size) :
					  need_lbr_info(reason, size);
}

void adaptive_keep_entries(void)
{
	if (counter_caps()->arch_lbr) {
		msr_write(MSR_IA32_LBR_CTL, arch_lbr_only(0));
		return;
	}
	msr_write(MSR_LBR_SELECT, LBR_SELECT_CPL_EQ_0 | LBR_SELECT_CPL_NEQ_0);
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
}

u64 adaptive_sure_counters(void)
{
	return counter_caps()->pebs_mask | (u64)(counter_caps()->pebs_fixed_mask & BITS(0, 3))
						   << PMC_FIXED(0);
}

bool adaptive_may_be_timed(const struct test *t)
{
	const struct pmu_caps *caps = counter_caps();

	return caps->perf_capabilities & IA32_PERF_CAPABILITIES_PEBS_TIMING_INFO ||
	       (caps->hypervisor && caps->facilities & FAC_RETIRE_LATENCY && !test_is_strict(t));
}

u64 adaptive_instruction_counters(const struct test *t)
{
	struct event event;

	if (test_is_strict(t) || !event_get(EK_INSTRUCTIONS, EV_PEBS, &event))
		return counters_gp().bits;
	return counters_gp().bits & event.sure;
}
