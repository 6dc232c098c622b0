/* SPDX-License-Identifier: MIT */
/* Load latency and precise store. */
#include "pmu/memory_sampling.h"

#include "kernel/interrupt/fault.h"

void latency_set_threshold(u64 cycles)
{
	msr_write(MSR_PEBS_LD_LAT_THRESHOLD, cycles);
}

void memory_sampling_arm(unsigned counter, u16 event, u64 levels, struct pmc_mask enable, u64 n)
{
	pebs_disarm();
	counter_program(counter, event, levels);
	counter_preset(counter, n);
	pebs_enable(enable);
}

static const struct {
	u32 generations;
	u64 usual, here;
} moved[] = {
#define DATA_SOURCE_MOVED(gens, facility, field, lo, hi, source) \
	{ gens, DATA_SOURCE_##facility##_##field, BITS(lo, hi) },
#include "spec/data_source.def"
};

static u64 place_of(u64 field)
{
	const struct generation *g = counter_caps()->generation;

	for (unsigned i = 0; g && i < sizeof(moved) / sizeof(moved[0]); i++)
		if (moved[i].usual == field && moved[i].generations & g->set)
			return moved[i].here;
	return field;
}

u64 latency_lock_bit(void)
{
	return place_of(DATA_SOURCE_LL_LOCK);
}

u64 latency_stlb_bit(void)
{
	return place_of(DATA_SOURCE_LL_STLB_MISS);
}

u64 latency_source_code(u64 data_source)
{
	return data_source & place_of(DATA_SOURCE_LL_SOURCE);
}

bool latency_source_is(u64 data_source, u64 codes)
{
	const u64 code = latency_source_code(data_source);

	return code < 64 && codes >> code & 1;
}

static const struct {
	u32 generations;
	u8 code, outcome;
} codes[] = {
#define DATA_SOURCE(gens, code, outcome, authority, title, source) { gens, code, outcome },
#define DATA_SOURCE_TOO(gens, code, outcome, title, source) { gens, code, outcome },
#include "spec/data_source.def"
};

u64 latency_codes(enum memory_outcome outcome)
{
	const struct generation *g = counter_caps()->generation;
	u64 set = 0;

	for (unsigned i = 0; g && i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].outcome == outcome && codes[i].generations & g->set)
			set |= BIT(codes[i].code);
	return set;
}

u64 latency_codes_of_core(void)
{
	u64 set = 0;

	for (unsigned outcome = 0; outcome < MEM_OUTCOMES; outcome++)
		set |= latency_codes((enum memory_outcome)outcome);
	return set;
}

/* A field by what it is about. */
enum { OF_LL = 1, OF_PS = 0, OF_DLA = 0 };
enum { NAME_SOURCE, NAME_STLB_MISS, NAME_LOCK, NAME_DATA_BLOCKED, NAME_ADDRESS_BLOCKED,
       NAME_FORWARD_BLOCKED, NAME_UNKNOWN,
       NAME_L1D_HIT, NAME_LOCKED, NAME_DCU_HIT };	/* of other facilities */
#define NAMES_BLOCKED	(BIT(NAME_DATA_BLOCKED) | BIT(NAME_ADDRESS_BLOCKED) | \
			 BIT(NAME_FORWARD_BLOCKED))

static const struct {
	u32 generations;
	u8 name;
	u64 bits;
} fields[] = {
#define DATA_SOURCE_FIELD(gens, facility, field, lo, hi, title, source) \
	{ OF_##facility ? (gens) : 0, NAME_##field, BITS(lo, hi) },
#define DATA_SOURCE_MOVED(gens, facility, field, lo, hi, source) \
	{ OF_##facility ? (gens) : 0, NAME_##field, BITS(lo, hi) },
#define DATA_SOURCE_UNKNOWN(gens, lo, hi, source) { gens, NAME_UNKNOWN, BITS(lo, hi) },
#include "spec/data_source.def"
};

/* Where a field is moved, its usual row doesn't name the generation. */
static u64 bits_of(u64 names)
{
	const struct generation *g = counter_caps()->generation;
	u64 set = 0;

	for (unsigned i = 0; g && i < sizeof(fields) / sizeof(fields[0]); i++)
		if (BIT(fields[i].name) & names && fields[i].generations & g->set)
			set |= fields[i].bits;
	return set;
}

u64 latency_named_bits(void)
{
	return bits_of(~0ULL);
}

u64 latency_blocked_bits(void)
{
	return bits_of(NAMES_BLOCKED);
}
