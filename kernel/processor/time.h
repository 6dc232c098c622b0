/* SPDX-License-Identifier: MIT */
/* Time by the TSC. Every wait in this program is bounded by one of these. */
#ifndef KERNEL_TIME_H
#define KERNEL_TIME_H

#include "spec/types.h"

u64 tsc_read(void);
/* Ticks of the TSC in a microsecond, measured by boot/ with the firmware's clock before the
 * borrow. */
extern u64 time_tsc_per_us;
u64 time_deadline(u64 us);		/* the TSC value that many microseconds from now */
bool time_expired(u64 deadline);
void time_stall(u64 us);
/* Poll until cond(arg) or us have passed; returns the last cond(arg). */
bool wait_until(bool (*cond)(void *arg), void *arg, u64 us);

#endif
