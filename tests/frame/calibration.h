/* SPDX-License-Identifier: MIT */
/*
 * What this machine does where the manual leaves it open, measured once before anything is
 * judged. Tests name such measurements as needs and never assert them.
 */
#ifndef TESTS_FRAME_CALIBRATION_H
#define TESTS_FRAME_CALIBRATION_H

#include "pmu/record.h"
#include "spec/types.h"

enum masked_pmi { MASKED_UNKNOWN, MASKED_LATCHED, MASKED_LOST };

struct calibration {
	unsigned first_interrupts;	/* of the first overflow with INT that the run made */
	bool first_record_taken;	/* ... and the bytes of its first record, of a load */
	u8 first_record[RECORD_MAX_SIZE];
	bool acts;			/* a counter counted and an overflow interrupted */
	bool skid_known;
	unsigned skid_least, skid_most;	/* instructions between overflow and interrupt */
	enum masked_pmi masked;		/* an interrupt raised while LVTPC is masked */
	bool shadow_known;
	unsigned shadow_least, shadow_most;	/* events between arming and the recorded one */
	bool shadow_beyond;	/* records come, but later than the sample pieces' marks reach */
	unsigned open_loads, open_branches;	/* that a counter counts of being switched on */
	bool sees_smis;
	bool given_up;		/* an exception or a deadline ended it: nothing is known */
};

/* Of the processor that calls. Measured at its first call, which may be in any test: it leaves the
 * PMU as counter_reset() does, so ask before setting anything up. */
const struct calibration *calibration_get(void);

/* Is nothing to be measured any more on that processor? */
bool calibration_is_over(unsigned cpu);

/* It hasn't come to its end on that processor and isn't tried again. */
void calibration_give_up(unsigned cpu);

/*
 * The period by which a counter of CPL 0 overflows on the nth load or branch of a workload. What
 * the write that opens the window adds comes first. For any other event it is n. Changes nothing;
 * where this processor isn't calibrated yet, the first one's measurement serves.
 */
u64 calibration_period(u16 event, u64 n);

#endif
