/* SPDX-License-Identifier: MIT */
/* Functions that the faults of records share. For refpmu/faults/ only. */
#ifndef REFPMU_FAULTS_RECORD_H
#define REFPMU_FAULTS_RECORD_H

#include "refpmu/model/core.h"
#include "refpmu/model/record.h"

/*
 * A record of counter x as bytes, complete. linear is where it will be written: a field that isn't
 * written keeps what is there.
 */
void fault_record_bytes(struct model *m, const struct retire_ctx *s, unsigned x, u64 linear,
			u8 *bytes);

/* The core's first logical processor, of a model that is the second. */
static inline struct model *first_of(struct model *m)
{
	return m->host->processor & 1 ? model_core_sibling(m) : NULL;
}

/* An event of retired loads by what answered. */
static inline bool is_by_level(enum event_kind kind)
{
	return kind >= EK_L1_HIT && kind <= EK_XSNP_NONE;
}

/* Where the second line of an access that is split begins. */
static inline u64 second_line(u64 linear)
{
	return (linear | (MEMORY_LINE - 1)) + 1;
}

/* A register that the instruction wrote, and whose old value is near the address: the address with
 * its new value instead. */
static inline u64 with_new_base(const struct retire_ctx *s, u64 linear)
{
	enum { NEAR = 0x1000 };
	const u64 *before = s->r->before.gpr, *after = s->r->after.gpr;

	for (unsigned i = 0; i < REG_COUNT; i++)
		if (i != REG_RSP && before[i] != after[i] && linear - before[i] < NEAR)
			return linear - before[i] + after[i];
	return linear;
}

/* The instruction has a prefix that makes its address one of 32 bits. */
static inline bool has_address_prefix(const struct model *m, const struct retire_ctx *s)
{
	enum { ADDRESS_SIZE = 0x67 };
	u8 first;

	return m->host->read(m->host->ctx, s->r->ip, &first, sizeof(first)) &&
	       first == ADDRESS_SIZE;
}

#endif
