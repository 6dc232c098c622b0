/* SPDX-License-Identifier: MIT */
/*
 * Switching everything off, register by register. A hypervisor's filter or a lock may refuse single
 * registers; then only what needs those can't be tested. What is refused and yet can't disturb a
 * test is left alone from then on; anything else is an error of each test, by the register's name.
 * The processor that calls, CPL 0, after counter_init().
 */
#ifndef PMU_RESET_H
#define PMU_RESET_H

#include "spec/types.h"

enum reset_item {
	RESET_GLOBAL_CTRL, RESET_PEBS_ENABLE, RESET_PEBS_INDEX, RESET_CFG_C, RESET_CFG_B,
	RESET_PERFEVTSEL, RESET_PMC, RESET_FIXED_CTR_CTRL,
	RESET_FIXED_CTR, RESET_PERF_METRICS, RESET_STATUS, RESET_PEBS_DATA_CFG, RESET_DS_AREA,
	RESET_PEBS_BASE,
	RESET_DEBUGCTL, RESET_LBR_SELECT, RESET_LBR_CTL, RESET_ITEMS
};

/* A write that was refused. */
struct reset_refusal {
	const char *name;
	u32 msr;
	u64 value;
};

/* Find out what this processor refuses. Once, before any reset_all(). */
void reset_learn(void);
/* Everything architectural off and zero. false: what may disturb a test was refused; *refusal. */
bool reset_all(struct reset_refusal *refusal);
/* Only what counts, records or interrupts by itself is off, and status is clear: a few writes. A
 * PMU without global control is reset. */
void reset_quiet(void);
/* Is that register left alone? Then *refusal says what was refused. */
bool reset_leaves_alone(enum reset_item item, struct reset_refusal *refusal);
/* Bits of IA32_PERF_GLOBAL_STATUS that may be cleared here: writing another one raises #GP. */
u64 reset_clearable_status(void);
/* "WRMSR of 0x0 to IA32_DEBUGCTL (0x1d9) is refused". Returns text. */
const char *reset_format(const struct reset_refusal *refusal, char *text, size_t size);

#endif
