/* SPDX-License-Identifier: MIT */
/*
 * The PMU's registers as its owner, the firmware, has left them. They are saved when a processor is
 * first taken, listed in the log, and restored each time that the processor is given back. Firmware
 * may use counters itself and leave control registers set (HP's servers: IA32_FIXED_CTR_CTRL =
 * 330H). Only architectural registers are restored, without overflow bits. NetBurst's and the
 * uncore's registers are given back as 0.
 */
#ifndef PMU_FOUND_H
#define PMU_FOUND_H

#include "kernel/output/tap.h"
#include "spec/types.h"

/* Save them: on the calling processor, which is borrowed, after counter_init() and before any
 * write. */
void found_keep(void);
/* Restore them, after a reset. */
void found_put_back(void);
/* The first register, except counters, whose value has changed; NULL: none. */
const char *found_differs(void);
/* One comment: what was set on that processor. */
void found_describe(struct tap *tap, unsigned cpu);
/* A comment for each register, 0 or not: "rdmsr of processor 0: 0x1a0 = 0x850089 NAME". */
void found_list(struct tap *tap, unsigned cpu);

#endif
