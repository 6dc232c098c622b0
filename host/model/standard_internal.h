/* SPDX-License-Identifier: MIT */
/* What the standard programs of both kinds of PMU share: chance, and a digest of what is seen. */
#ifndef HOST_MODEL_STANDARD_INTERNAL_H
#define HOST_MODEL_STANDARD_INTERNAL_H

#include <string.h>

#include "host/model/standard_program.h"
#include "host/random.h"

struct standard {
	struct random stream;
	u64 seen;
};

static inline u64 standard_below(struct standard *s, u64 n)
{
	return random_next(&s->stream) % n;
}

/* Draw one thing a statement: of two in one expression the compiler decides which comes first. */
static inline u64 standard_wide(struct standard *s)
{
	u64 high = random_next(&s->stream);

	return high << 20 ^ random_next(&s->stream);
}

static inline bool standard_one_in(struct standard *s, unsigned n)
{
	return !standard_below(s, n);
}

static inline void standard_see(struct standard *s, u64 value)
{
	s->seen = (s->seen ^ value) * 0x9e3779b97f4a7c15ULL;
	s->seen ^= s->seen >> 29;
}

static inline void standard_see_bytes(struct standard *s, const void *from, size_t bytes)
{
	u64 word;

	for (size_t at = 0; at + sizeof(word) <= bytes; at += sizeof(word)) {
		memcpy(&word, (const u8 *)from + at, sizeof(word));
		standard_see(s, word);
	}
}

static inline void standard_begin(struct standard *s, unsigned seed)
{
	s->seen = 1;
	s->stream.state = 0x9e3779b97f4a7c15ULL + seed;
}

/* The program from power on, and one round of it: what has been seen since power on. */
void standard_open(const struct standard_difference *where, enum fault_id fault,
		   const struct fault_when *when);
u64 standard_round(void);

/* NetBurst's program: power on, and go through one round of it. */
void standard_netburst_open(struct standard *s, const struct model_config *config);
void standard_netburst_round(struct standard *s);

#endif
