/* SPDX-License-Identifier: MIT */
/*
 * Random numbers from a seed, the same on every machine: SplitMix64 (Steele, Lea, Flood, "Fast
 * Splittable Pseudorandom Number Generators"). Its state is a counter, so each case can have its
 * own sequence. Pure.
 */
#ifndef TESTS_RANDOM_PRNG_H
#define TESTS_RANDOM_PRNG_H

#include "spec/types.h"

struct prng {
	u64 state;
};

/* The sequence of case `number` of a seed and a stream: a stream for each purpose. */
struct prng prng_begin(u64 seed, u64 stream, u64 number);
u64 prng_next(struct prng *p);
/* 0 to bound - 1; 0 for a bound of 0. */
u64 prng_below(struct prng *p, u64 bound);
/* true with a probability of 1 / times. */
bool prng_one_in(struct prng *p, unsigned times);

#endif
