/* SPDX-License-Identifier: MIT */
/*
 * Switching everything off, register by register. A hypervisor's filter or a lock may refuse writes
 * to single registers; then only tests that need these registers are impossible. If a refused
 * register can't disturb other tests, it isn't written any more. Otherwise each test is an ERROR
 * that names the register. Acts on the calling processor, CPL 0, after counter_init().
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

/* Find out which registers this processor refuses. Once, before any reset_all(). */
void reset_learn(void);
/* Switch all architectural facilities off and write 0. false: a write was refused, and this may
 * disturb a test; see *refusal. */
bool reset_all(struct reset_refusal *refusal);
/* Switch off only what counts, records or interrupts by itself, and clear the status: a few writes.
 * A PMU without global control is reset completely. */
void reset_quiet(void);
/* Isn't that register written any more? Then *refusal is the refused write. */
bool reset_leaves_alone(enum reset_item item, struct reset_refusal *refusal);
/* Bits of IA32_PERF_GLOBAL_STATUS that may be cleared on this processor: clearing another bit
 * raises #GP. */
u64 reset_clearable_status(void);
/* "WRMSR of 0x0 to IA32_DEBUGCTL (0x1d9) is refused". Returns text. */
const char *reset_format(const struct reset_refusal *refusal, char *text, size_t size);

#endif
