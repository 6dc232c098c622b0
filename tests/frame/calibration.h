/* SPDX-License-Identifier: MIT */
/*
 * The behaviour of this machine where the manual leaves it open, measured once before anything is
 * judged. Tests use these measurements as needs and never assert them.
 */
#ifndef TESTS_FRAME_CALIBRATION_H
#define TESTS_FRAME_CALIBRATION_H

#include "pmu/record.h"
#include "spec/types.h"

enum masked_pmi { MASKED_UNKNOWN, MASKED_LATCHED, MASKED_LOST };

struct calibration {
	unsigned first_interrupts;	/* of the first overflow with INT that the run made */
	bool first_record_taken;	/* ... and the bytes of its first record */
	u8 first_record[RECORD_MAX_SIZE];
	bool acts;			/* a counter counted and an overflow interrupted */
	bool skid_known;
	unsigned skid_least, skid_most;	/* instructions between overflow and interrupt */
	enum masked_pmi masked;		/* an interrupt raised while LVTPC is masked */
	bool shadow_known;
	unsigned shadow_least, shadow_most;	/* events between arming and the recorded one */
	bool shadow_beyond;	/* records come, but later than the sample pieces' marks reach */
	unsigned open_loads, open_branches;	/* that the opening adds to a count */
	bool sees_smis;
	bool given_up;		/* an exception or a deadline ended it: nothing is known */
};

/* The calibration of the calling processor. It is measured at the first call, which may be in any
 * test, and leaves the PMU as counter_reset() does. So call this before setting anything up. */
const struct calibration *calibration_get(void);

/* Is the calibration of that processor complete, or given up? */
bool calibration_is_over(unsigned cpu);

/* The calibration of that processor didn't complete, and isn't tried again. */
void calibration_give_up(unsigned cpu);

/*
 * The period with which a counter of CPL 0 overflows on the nth load or branch of a workload: n,
 * and the events that the WRMSR which opens the window adds before. For any other event it is n.
 * Changes nothing. If this processor isn't calibrated yet, the measurement of the first processor
 * is used.
 */
u64 calibration_period(u16 event, u64 n);

#endif
