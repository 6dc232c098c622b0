/* SPDX-License-Identifier: MIT */
/* See leaf_0a.h. */
#include "refpmu/model/enumeration/leaf_0a.h"
#include "refpmu/model/archpebs/archpebs.h"
#include "refpmu/model/internal.h"

/* From CPUID dumps: version 5 enumerates 8 events, although leaf 23H of these processors has
 * more. */
#define EVENTS_TO_VERSION_4	BITS(0, 6)
#define EVENTS_OF_VERSION_5	BITS(0, 7)

/* The counters and events of a type of core. Bit n of each set: counter n, event n of Table
 * 18-1. */
struct core {
	unsigned version, gp;
	u64 fixed, events;
};

static unsigned at_most(unsigned value, unsigned most)
{
	return value < most ? value : most;
}

static unsigned length(u64 set)
{
	return set ? 64 - (unsigned)__builtin_clzll(set) : 0;
}

/* The number of counters from 0 up to the first gap. */
static unsigned without_a_gap(u64 set)
{
	return (unsigned)__builtin_ctzll(~set);
}

/* The events that leaf 0AH of this version enumerates: from CPUID dumps. */
static u64 known(unsigned version)
{
	if (version >= 6)
		return ~0ULL;
	return version < 5 ? EVENTS_TO_VERSION_4 : EVENTS_OF_VERSION_5;
}

static struct core own(const struct model *m)
{
	struct core c = {
		.version = model_core_version(m),
		.gp = model_gp_counters(m),
		.fixed = model_fixed_mask(m),
		.events = model_architectural_events(m),
	};

	/* Of a profile: a P-core in a package whose E-cores have no row. */
	if (m->facts & FACT_HYBRID && !model_is_e_core(m))
		c.gp = c.gp > MODEL_MORE_OF_A_P_CORE ? c.gp - MODEL_MORE_OF_A_P_CORE : 1;
	return c;
}

static struct core of_generation(enum generation_id id)
{
	const struct generation *g = model_generation_row(id);

	return (struct core){
		.version = g->perfmon,
		.gp = g->gp_no_ht,
		.fixed = (BIT(g->fixed) - 1) | model_ext_fixed_of(id),
		.events = model_architectural_events_of(id),
	};
}

/* Does the leaf report what both types of core have? Firmware may have disabled the cores of the
 * other type: latitude common-counters. */
static bool tells_what_both_have(const struct model *m, enum generation_id *other)
{
	return model_core_beside(m, other) && (m->has_e_cores || m->latitude[LAT_COMMON_COUNTERS]);
}

/*
 * CPUID.0AH: EAX[31:24] is the length of EBX. A bit of EBX is 1 for an event of Table 18-1 that
 * isn't available. Linux intel_pmu_init: on a hybrid the leaf may have only what both types have.
 */
struct leaf_0a model_leaf_0a(const struct model *m)
{
	struct core c = own(m);
	struct leaf_0a leaf = { .fixed = model_fixed_counters(m) };
	enum generation_id other;

	if (tells_what_both_have(m, &other)) {
		const struct core beside = of_generation(other);

		c.version = at_most(c.version, beside.version);
		c.gp = at_most(c.gp, beside.gp);
		c.fixed &= beside.fixed;
		c.events &= beside.events;
		leaf.fixed = at_most(leaf.fixed, without_a_gap(c.fixed));
	}
	leaf.version = c.version;
	leaf.gp = c.gp;
	leaf.fixed_mask = model_told_or(m, LAT_FIXED_MASK, (u32)c.fixed);
	leaf.events = model_told_or(m, LAT_EVENTS_LENGTH, length(c.events & known(c.version)));
	leaf.absent = (u32)(~c.events & (BIT(leaf.events) - 1));
	return leaf;
}
