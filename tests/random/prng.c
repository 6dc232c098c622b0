/* SPDX-License-Identifier: MIT */
/* See prng.h. */
#include "tests/random/prng.h"

#define GOLDEN	0x9e3779b97f4a7c15ULL	/* the increment of SplitMix64 */

static u64 mixed(u64 z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

struct prng prng_begin(u64 seed, u64 stream, u64 number)
{
	return (struct prng){ mixed(mixed(mixed(seed + GOLDEN) ^ stream) + number * GOLDEN) };
}

u64 prng_next(struct prng *p)
{
	p->state += GOLDEN;
	return mixed(p->state);
}

u64 prng_below(struct prng *p, u64 bound)
{
	return bound ? prng_next(p) % bound : 0;
}

bool prng_one_in(struct prng *p, unsigned times)
{
	return !prng_below(p, times);
}
