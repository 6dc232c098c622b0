/* SPDX-License-Identifier: MIT */
/* Random numbers that are the same on every machine, for property tests (xorshift64*). */
#ifndef HOST_RANDOM_H
#define HOST_RANDOM_H

#include "spec/types.h"

struct random {
	u64 state;
};  /* never 0 */

static inline u64 random_next(struct random *random)
{
	u64 x = random->state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	random->state = x;
	return x * 0x2545f4914f6cdd1dULL >> 8;
}

#endif
