/* SPDX-License-Identifier: MIT */
/*
 * The generations from Ice Lake on, typed here by hand and never computed from spec/: counters,
 * versions and formats (boot logs, Linux intel_pmu_init, intel/perfmon), CPUID leaf 23H (SDM volume
 * 1), the cores of hybrid packages, codes and bits of the data source (Linux ds.c), and the events
 * whose codes or counters differ between cores (intel/perfmon). What a source leaves open isn't
 * here.
 */
#include "host/check.h"

#include "spec/data_source.h"
#include "spec/event.h"
#include "spec/generation.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/*
 * The generations from Ice Lake on, each as one letter: c Ice Lake, x Ice Lake-SP, G Sapphire
 * Rapids, R Granite Rapids, A Alder Lake, M Meteor Lake, g Gracemont, m Sierra Forest (Crestmont),
 * L Lunar Lake (Lion Cove), k Skymont, P Panther Lake (Cougar Cove), D Clearwater Forest
 * (Darkmont).
 */
#define LETTERS "cxGRAMgmLkPD"

static const struct {
	const char *name;
	unsigned perfmon, gp, fixed, width, format, pebs, ll;
} generations[] = {
#define GENERATION(id, code, name, title, family, model, stepping, brand, perfmon, gp, gp_no_ht, \
		   fixed, width, max_leaf, lbr_fmt, pebs_format, pebs_mask, ll_mask, facilities, \
		   source) \
	{ name, perfmon, gp, fixed, width, pebs_format, pebs_mask, ll_mask },
#include "spec/generation.def"
};

static const struct {
	unsigned package, type, native, core;
} cores[] = {
#define GENERATION_CORE(package, type, native, id) { GEN_##package, type, native, GEN_##id },
#include "spec/generation.def"
};

static const struct {
	unsigned generation, subleaf, eax, ebx, ecx, edx;
} leaves[] = {
#define GENERATION_EXT(id, subleaf, eax, ebx, ecx, edx, source) \
	{ GEN_##id, subleaf, eax, ebx, ecx, edx },
#include "spec/generation.def"
};

static const struct {
	unsigned gens, code, flags, counters, sure, kind;
} events[] = {
#define EVENT_ON(gens, name, flags, counters, sure, min_period, period_unit, source) \
	{ gens, EVENT_##name, flags, counters, sure, EVENT_KIND_##name },
#include "spec/event.def"
};

static const struct {
	unsigned gens, code, kind, flags, counters;
} umask2_events[] = {
#define EVENT_UMASK2(gens, name, event, umask, umask2, kind, flags, counters, source) \
	{ gens, EVENT2_##name, kind, flags, counters },
#include "spec/event.def"
};

static const struct {
	unsigned gens, code, outcome;
} sources[] = {
#define DATA_SOURCE(gens, code, outcome, authority, title, source) { gens, code, outcome },
#define DATA_SOURCE_TOO(gens, code, outcome, title, source) { gens, code, outcome },
#include "spec/data_source.def"
};

static const struct {
	const char *name;
	unsigned gens, lo, hi;
	bool moved;
} fields[] = {
#define DATA_SOURCE_FIELD(gens, facility, field, lo, hi, title, source) \
	{ #facility " " #field, gens, lo, hi, false },
#define DATA_SOURCE_MOVED(gens, facility, field, lo, hi, source) \
	{ #facility " " #field, gens, lo, hi, true },
#include "spec/data_source.def"
};

static unsigned generation_of(char letter)
{
	return GEN_ICELAKE + (unsigned)(strchr(LETTERS, letter) - LETTERS);
}

/* ---- counters ---- */

/* Load latency: every counter of Ice Lake, 1 to 7 from Golden Cove on, 2 to 9 of Lion Cove and
 * Cougar Cove; 0 and 1 of Gracemont to Skymont, 0 to 7 of Darkmont. */
static void counters_are_those_of_each_core(void)
{
	static const struct {
		const char *name;
		unsigned version, gp, fixed, format, pebs, ll;	/* version 0: left open */
	} want[] = {
		{ "icelake", 5, 8, 4, 4, 0xff, 0xff },
		{ "icelake-sp", 5, 8, 4, 4, 0xff, 0xff },
		{ "sapphirerapids", 5, 8, 4, 4, 0xff, 0xfe },
		{ "graniterapids", 5, 8, 4, 4, 0xff, 0xfe },
		{ "alderlake", 5, 8, 4, 4, 0xff, 0xfe },
		{ "meteorlake", 5, 8, 4, 4, 0xff, 0xfe },
		{ "gracemont", 5, 6, 3, 4, 0x3f, 0x03 },
		{ "sierraforest", 5, 8, 3, 4, 0xff, 0x03 },
		{ "lunarlake", 0, 10, 4, 6, 0x3ff, 0x3fc },
		{ "skymont", 0, 8, 3, 6, 0xff, 0x03 },
		{ "pantherlake", 0, 10, 4, 15, 0x3ff, 0x3fc },
		{ "clearwaterforest", 0, 8, 3, 15, 0xff, 0xff },
	};

	CHECK_EQ(COUNT(want), strlen(LETTERS));
	for (size_t i = 0; i < COUNT(want); i++) {
		const unsigned g = generation_of(LETTERS[i]);

		CHECK_STR(want[i].name, generations[g].name);
		if (want[i].version)
			CHECK_EQ(want[i].version, generations[g].perfmon, "%s", want[i].name);
		CHECK_EQ(want[i].gp, generations[g].gp, "%s", want[i].name);
		CHECK_EQ(want[i].fixed, generations[g].fixed, "%s, before a gap", want[i].name);
		CHECK_EQ(48, generations[g].width, "%s", want[i].name);
		CHECK_EQ(want[i].format, generations[g].format, "%s", want[i].name);
		CHECK_EQ(want[i].pebs, generations[g].pebs, "PEBS, %s", want[i].name);
		CHECK_EQ(want[i].ll, generations[g].ll, "load latency, %s", want[i].name);
	}
}

/* 40H: P-cores; 20H: E-cores. Arrow Lake-H has Lion Cove, Skymont and Crestmont. */
static void packages_have_these_types_of_cores(void)
{
	static const struct {
		char package;
		unsigned type;
		char core;
	} want[] = {
		{ 'R', 0x40, 'R' }, { 'A', 0x40, 'A' }, { 'A', 0x20, 'g' }, { 'M', 0x40, 'M' },
		{ 'M', 0x20, 'm' }, { 'g', 0x20, 'g' }, { 'm', 0x20, 'm' }, { 'L', 0x40, 'L' },
		{ 'L', 0x20, 'k' }, { 'L', 0x20, 'm' }, { 'k', 0x20, 'k' }, { 'P', 0x40, 'P' },
		{ 'P', 0x20, 'D' }, { 'D', 0x20, 'D' },
	};

	CHECK_EQ(COUNT(want), COUNT(cores));
	for (size_t i = 0; i < COUNT(want); i++) {
		unsigned found = 0;

		for (size_t c = 0; c < COUNT(cores); c++)
			found += cores[c].package == generation_of(want[i].package) &&
				 cores[c].type == want[i].type &&
				 cores[c].core == generation_of(want[i].core);
		CHECK_EQ(1, found, "type %#x, %c in %c", want[i].type, want[i].core,
			 want[i].package);
	}
	/* Two kinds of one type have different native model ids. */
	for (size_t a = 0; a < COUNT(cores); a++)
		for (size_t b = 0; b < a; b++)
			CHECK(cores[a].package != cores[b].package ||
				      cores[a].type != cores[b].type ||
				      cores[a].native != cores[b].native,
			      "cores %zu and %zu", a, b);
}

/* ---- CPUID leaf 23H ---- */

static int leaf_at(char letter, unsigned subleaf)
{
	for (size_t i = 0; i < COUNT(leaves); i++)
		if (leaves[i].generation == generation_of(letter) && leaves[i].subleaf == subleaf)
			return (int)i;
	return -1;
}

/* Sub-leaf 0: EAX of the sub-leaves, 4 and 5 with architectural PEBS alone; EBX[0] UMASK2 and [1]
 * EQ from Lion Cove and Skymont on. Sub-leaf 1: the counters; no fixed counter 3 on Skymont and
 * Darkmont, but 4 to 6. */
static void leaf_23h_is_that_of_each_core(void)
{
	static const struct {
		char letter;
		unsigned gp, fixed, umask2_and_eq;
		bool reload, pebs;
	} want[] = {
		{ 'R', 0xff, 0x0f, 0, false, false }, { 'M', 0xff, 0x0f, 0, false, false },
		{ 'm', 0xff, 0x07, 0, false, false }, { 'L', 0x3ff, 0x0f, 3, false, false },
		{ 'k', 0xff, 0x77, 3, true, false },  { 'P', 0x3ff, 0x0f, 3, false, true },
		{ 'D', 0xff, 0x77, 3, true, true },
	};

	for (size_t i = 0; i < COUNT(want); i++) {
		const int features = leaf_at(want[i].letter, 0);
		const int counters = leaf_at(want[i].letter, 1);

		if (!CHECK(features >= 0 && counters >= 0, "%c", want[i].letter))
			continue;
		CHECK_EQ(want[i].gp, leaves[counters].eax, "%c", want[i].letter);
		CHECK_EQ(want[i].fixed, leaves[counters].ebx, "%c", want[i].letter);
		CHECK_EQ(want[i].umask2_and_eq, leaves[features].ebx & 3, "%c", want[i].letter);
		CHECK_EQ(3, leaves[features].eax & 3, "0 and 1, %c", want[i].letter);
		CHECK_EQ(want[i].reload ? 4 : 0, leaves[features].eax & 4, "2, %c", want[i].letter);
		CHECK_EQ(want[i].pebs ? 0x30 : 0, leaves[features].eax & 0x30, "4 and 5, %c",
			 want[i].letter);
		CHECK_EQ(want[i].reload, leaf_at(want[i].letter, 2) >= 0, "%c", want[i].letter);
		CHECK_EQ(want[i].pebs, leaf_at(want[i].letter, 4) >= 0, "%c", want[i].letter);
		CHECK_EQ(want[i].pebs, leaf_at(want[i].letter, 5) >= 0, "%c", want[i].letter);
	}
	for (const char *none = "cxGAg"; *none; none++)
		CHECK(leaf_at(*none, 0) < 0, "%c", *none);
}

/* Sub-leaf 2: no auto counter reload on IA32_PMC0 and IA32_PMC1. Sub-leaf 4: EBX[3]
 * ALLOW_IN_RECORD, [4], [5], [6] counters, [9:8] LBR, [17] XMM, [18] YMMH, [29] GPR, [30] AUX; an
 * E-core has no metrics. Sub-leaf 5: PDist of IA32_PMC0 and IA32_PMC1 and of fixed counter 0. */
static void leaf_23h_is_that_of_architectural_pebs(void)
{
	const unsigned p = (unsigned)leaf_at('P', 4), d = (unsigned)leaf_at('D', 4);
	const unsigned p5 = (unsigned)leaf_at('P', 5), d5 = (unsigned)leaf_at('D', 5);
	const u64 both = BITS(29, 30) | BITS(17, 18) | BITS(8, 9) | BITS(3, 5);

	for (const char *one = "kD"; *one; one++) {
		const unsigned reload = (unsigned)leaf_at(*one, 2);

		CHECK_EQ(0xfc, leaves[reload].eax, "reloadable, %c", *one);
		CHECK_EQ(0xfc, leaves[reload].ecx, "causes, %c", *one);
		CHECK_EQ(0, leaves[reload].ebx & ~0x77u, "%c", *one);
		CHECK_EQ(0, leaves[reload].edx & ~0x77u, "%c", *one);
	}
	CHECK_EQ(both | BIT(6), leaves[p].ebx);
	CHECK_EQ(both, leaves[d].ebx);
	CHECK_EQ(0x3ff, leaves[p5].eax);
	CHECK_EQ(0x0f, leaves[p5].ecx);
	CHECK_EQ(0xff, leaves[d5].eax);
	CHECK_EQ(0x77, leaves[d5].ecx);
	CHECK_EQ(3, leaves[p5].ebx);
	CHECK_EQ(3, leaves[d5].ebx);
	CHECK_EQ(1, leaves[p5].edx);
	CHECK_EQ(1, leaves[d5].edx);
}

/* ---- data source ---- */

/* The outcomes of a code on a generation, a bit each. */
static u64 outcomes_of(char letter, unsigned code)
{
	u64 set = 0;

	for (size_t i = 0; i < COUNT(sources); i++)
		if (sources[i].code == code && sources[i].gens & 1u << generation_of(letter))
			set |= BIT(sources[i].outcome);
	return set;
}

#define LOCAL	(BIT(MEM_LOCAL_SHARED) | BIT(MEM_LOCAL_EXCLUSIVE))
#define REMOTE	(BIT(MEM_REMOTE_SHARED) | BIT(MEM_REMOTE_EXCLUSIVE))

static void check_codes(const char *letters, const u64 *want, size_t count)
{
	for (; *letters; letters++) {
		for (unsigned code = 0; code < count; code++)
			CHECK_EQ(want[code], outcomes_of(*letters, code), "code %#x, %c", code,
				 *letters);
		for (unsigned code = (unsigned)count; code < 0x100; code++)
			CHECK_EQ(0, outcomes_of(*letters, code), "code %#x, %c", code, *letters);
	}
}

/* Linux' tables of Skylake (P-cores up to Redwood Cove; 05H to 07H are those of Table 18-24 here),
 * Gracemont, Crestmont, and Lion Cove. */
static void data_sources_are_the_tables_of_each_core(void)
{
	static const u64 skylake[] = {
		BIT(MEM_UNKNOWN_L3_MISS), BIT(MEM_L1), BIT(MEM_LFB), BIT(MEM_L2), BIT(MEM_L3),
		BIT(MEM_L3_SNOOP_CLEAN), BIT(MEM_L3_HITM), BIT(MEM_L3_SNOOP_HITM), BIT(MEM_L4),
		BIT(MEM_REMOTE_L4), LOCAL, REMOTE, BIT(MEM_REMOTE_CACHE), BIT(MEM_REMOTE_HITM),
		BIT(MEM_IO), BIT(MEM_UC),
	};
	static const u64 gracemont[] = {
		BIT(MEM_UNKNOWN_L3_MISS), BIT(MEM_L1), BIT(MEM_LFB), BIT(MEM_L2), BIT(MEM_L3),
		BIT(MEM_L3_SNOOP_CLEAN), BIT(MEM_L3_HITM), BIT(MEM_L3_SNOOP_HITM),
		BIT(MEM_L3_FORWARD), BIT(MEM_REMOTE_HITM), BIT(MEM_LOCAL_SHARED),
		BIT(MEM_REMOTE_SHARED), BIT(MEM_LOCAL_EXCLUSIVE), BIT(MEM_REMOTE_EXCLUSIVE),
		BIT(MEM_IO), BIT(MEM_UC),
	};
	static const u64 crestmont[] = {
		BIT(MEM_UNKNOWN_L3_MISS), BIT(MEM_L1), BIT(MEM_LFB), BIT(MEM_L2), BIT(MEM_L3),
		BIT(MEM_L3), BIT(MEM_L3_SNOOP_CLEAN), BIT(MEM_L3_FORWARD), BIT(MEM_L3_HITM),
		BIT(MEM_REMOTE_HITM), LOCAL, REMOTE, BIT(MEM_REMOTE_CACHE), BIT(MEM_REMOTE_HITM),
		BIT(MEM_IO), BIT(MEM_UC),
	};
	static const u64 lion_cove[] = {
		[0x00] = BIT(MEM_UNKNOWN_L3_MISS), [0x01] = BIT(MEM_L1), [0x02] = BIT(MEM_L1),
		[0x03] = BIT(MEM_LFB), [0x05] = BIT(MEM_L2), [0x06] = BIT(MEM_LFB),
		[0x08] = BIT(MEM_L3), [0x0c] = BIT(MEM_L3_SNOOP_CLEAN), [0x0d] = BIT(MEM_L3_HITM),
		[0x0f] = BIT(MEM_REMOTE_HITM), [0x10] = BIT(MEM_L4), [0x11] = LOCAL,
	};

	check_codes("cxGRAM", skylake, COUNT(skylake));
	check_codes("g", gracemont, COUNT(gracemont));
	check_codes("mkD", crestmont, COUNT(crestmont));
	check_codes("LP", lion_cove, COUNT(lion_cove));
}

/* Where a field of load latency is on a generation; 0: nowhere. */
static u64 place_of(const char *name, char letter)
{
	const unsigned generation = 1u << generation_of(letter);
	u64 usual = 0;

	for (size_t i = 0; i < COUNT(fields); i++)
		if (!strcmp(fields[i].name, name) && fields[i].gens & generation) {
			if (fields[i].moved)
				return BITS(fields[i].lo, fields[i].hi);
			usual = BITS(fields[i].lo, fields[i].hi);
		}
	return usual;
}

static void data_source_bits_are_those_of_each_core(void)
{
	static const struct {
		const char *letters;
		u64 source, stlb, lock, data, address, forward;
	} want[] = {
		{ "cx", 0x0f, 0x10, 0x20, 0, 0, 0 },
		{ "GRAM", 0x0f, 0x10, 0x20, 0x40, 0x80, 0 },
		{ "g", 0x0f, 0x20, 0x10, 0, 0, 0x40 },
		{ "mkD", 0x0f, 0x40, 0x20, 0, 0, 0x80 },
		{ "LP", 0xff, 0x400, 0x800, 0x1000, 0x2000, 0 },
	};

	for (size_t i = 0; i < COUNT(want); i++)
		for (const char *one = want[i].letters; *one; one++) {
			CHECK_EQ(want[i].source, place_of("LL SOURCE", *one), "%c", *one);
			CHECK_EQ(want[i].stlb, place_of("LL STLB_MISS", *one), "%c", *one);
			CHECK_EQ(want[i].lock, place_of("LL LOCK", *one), "%c", *one);
			CHECK_EQ(want[i].data, place_of("LL DATA_BLOCKED", *one), "%c", *one);
			CHECK_EQ(want[i].address, place_of("LL ADDRESS_BLOCKED", *one), "%c", *one);
			CHECK_EQ(want[i].forward, place_of("LL FORWARD_BLOCKED", *one), "%c", *one);
		}
}

/* ---- events ---- */

/* Exactly the letters' generations have this event of that kind, each once and with these flags,
 * and tests may count it on these counters. ANY: the sources don't say which. */
#define ANY 0u
static void check_event(unsigned code, unsigned kind, unsigned flags, const char *letters,
			unsigned counters)
{
	for (const char *one = letters; *one; one++) {
		unsigned found = 0;

		for (size_t i = 0; i < COUNT(events); i++)
			if (events[i].code == code && events[i].kind == kind &&
			    events[i].gens & 1u << generation_of(*one)) {
				found++;
				CHECK_EQ(flags, events[i].flags & flags, "event %#x, %c", code,
					 *one);
				if (counters != ANY)
					CHECK_EQ(counters, events[i].sure, "event %#x, %c", code,
						 *one);
			}
		CHECK_EQ(1, found, "event %#x, %c", code, *one);
	}
}

/* None of the letters' generations has this event of that kind. */
static void check_no_event(unsigned code, unsigned kind, const char *letters)
{
	for (const char *one = letters; *one; one++)
		for (size_t i = 0; i < COUNT(events); i++)
			CHECK(events[i].code != code || events[i].kind != kind ||
				      !(events[i].gens & 1u << generation_of(*one)),
			      "event %#x, %c", code, *one);
}

static void sampled_events_are_on_these_counters(void)
{
	/* INST_RETIRED.ANY_P: with PEBS on 1 to 7 from Golden Cove to Redwood Cove. */
	check_event(0x00c0, EK_INSTRUCTIONS, EV_PEBS, "cx", 0xff);
	check_event(0x00c0, EK_INSTRUCTIONS, EV_PEBS, "GRAM", 0xfe);
	check_event(0x00c0, EK_INSTRUCTIONS, EV_PEBS, "LP", 0x3ff);
	check_event(0x00c0, EK_INSTRUCTIONS, EV_PEBS, "g", 0x3f);
	check_event(0x00c0, EK_INSTRUCTIONS, EV_PEBS, "mkD", 0xff);
	check_event(0x01cd, EK_LOAD_LATENCY, EV_PEBS | EV_LL, "cx", 0xff);
	check_event(0x01cd, EK_LOAD_LATENCY, EV_PEBS | EV_LL, "GRAM", 0xfe);
	check_event(0x01cd, EK_LOAD_LATENCY, EV_PEBS | EV_LL, "LP", 0x3fc);
	check_no_event(0x01cd, EK_LOAD_LATENCY, "gmkD");
	check_event(0x05d0, EK_LOAD_LATENCY, EV_PEBS | EV_LL, "gmk", 0x03);
	check_event(0x05d0, EK_LOAD_LATENCY, EV_PEBS | EV_LL, "D", 0xff);
	check_no_event(0x05d0, EK_LOAD_LATENCY, "cxGRAMLP");
	check_event(0x02cd, EK_STORE_SAMPLE, EV_PEBS, "GRAM", 0x01);
	check_event(0x02cd, EK_STORE_SAMPLE, EV_PEBS, "LP", 0x03);
	check_no_event(0x02cd, EK_STORE_SAMPLE, "cxgmkD");
	check_event(0x06d0, EK_STORE_SAMPLE, EV_PEBS, "g", 0x3f);
	check_event(0x06d0, EK_STORE_SAMPLE, EV_PEBS, "mkD", 0xff);
	check_no_event(0x06d0, EK_STORE_SAMPLE, "cxGRAMLP");
	/* LD_BLOCKS.STORE_FORWARD: load latency wants it on Golden Cove alone. */
	check_event(0x8203, EK_STORE_FORWARD, EV_LL_AUX, "GA", ANY);
	check_no_event(0x8203, EK_STORE_FORWARD, "cxRMgmLkPD");
}

/* MEM_INST_RETIRED and MEM_LOAD_RETIRED; of E-cores MEM_UOPS_RETIRED and MEM_LOAD_UOPS_RETIRED. */
static void memory_events_are_on_these_counters(void)
{
	static const struct {
		unsigned code, kind;
	} both[] = {
		{ 0x11d0, EK_STLB_MISS_LOADS }, { 0x12d0, EK_STLB_MISS_STORES },
		{ 0x21d0, EK_LOCK_LOADS },	{ 0x41d0, EK_SPLIT_LOADS },
		{ 0x42d0, EK_SPLIT_STORES },	{ 0x81d0, EK_LOADS },
		{ 0x82d0, EK_STORES },		{ 0x02d1, EK_L2_HIT },
	};

	for (size_t i = 0; i < COUNT(both); i++) {
		check_event(both[i].code, both[i].kind, EV_PEBS | EV_DLA, "cxGRAMLP", 0x0f);
		check_event(both[i].code, both[i].kind, EV_PEBS, "g", 0x3f);
		check_event(both[i].code, both[i].kind, EV_PEBS, "mkD", 0xff);
	}
	/* Lion Cove's has a UMASK2; 01D1H alone is its L0. */
	check_event(0x01d1, EK_L1_HIT, EV_PEBS | EV_DLA, "cxGRAM", 0x0f);
	check_event(0x01d1, EK_L1_HIT, EV_PEBS, "g", 0x3f);
	check_event(0x01d1, EK_L1_HIT, EV_PEBS, "mkD", 0xff);
	check_no_event(0x01d1, EK_L1_HIT, "LP");
	check_event(0x08d1, EK_L1_MISS, EV_PEBS | EV_DLA, "cxGRAMLP", 0x0f);
	check_event(0x08d1, EK_L1_MISS, EV_PEBS, "g", 0x3f);
	check_event(0x40d1, EK_L1_MISS, EV_PEBS, "mkD", 0xff);
	check_event(0x40d1, EK_HIT_LFB, EV_PEBS | EV_DLA, "cxGRAMLP", 0x0f);
	check_event(0x04d1, EK_L3_HIT, EV_PEBS | EV_DLA, "cxGRAMLP", 0x0f);
	check_event(0x04d1, EK_L3_HIT, EV_PEBS, "g", 0x3f);
	check_event(0x1cd1, EK_L3_HIT, EV_PEBS, "mD", 0xff);
	check_no_event(0x1cd1, EK_L3_HIT, "k");
	check_event(0x10d1, EK_L2_MISS, EV_PEBS | EV_DLA, "cxGRAMLP", 0x0f);
	check_event(0x20d1, EK_L3_MISS, EV_PEBS | EV_DLA, "cxGRAMLP", 0x0f);
}

/* BR_INST_RETIRED by core: umask, kind. */
struct branch {
	unsigned umask, kind;
};

static void check_branches(const char *letters, unsigned counters, const struct branch *want,
			   size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_event(want[i].umask << 8 | 0xc4, want[i].kind, EV_PEBS, letters, counters);
	/* And no other one of C4H. */
	for (const char *one = letters; *one; one++) {
		unsigned found = 0;

		for (size_t i = 0; i < COUNT(events); i++)
			found += (events[i].code & 0xff) == 0xc4 &&
				 events[i].gens & 1u << generation_of(*one);
		CHECK_EQ(count, found, "%c", *one);
	}
}

static void branches_are_those_of_each_core(void)
{
	static const struct branch icelake[] = {
		{ 0x00, EK_BRANCHES },	      { 0x01, EK_COND_TAKEN },	 { 0x02, EK_NEAR_CALLS },
		{ 0x08, EK_NEAR_RETURNS },    { 0x10, EK_COND_NOT_TAKEN },
		{ 0x11, EK_COND_BRANCHES },   { 0x20, EK_NEAR_TAKEN },	 { 0x40, EK_FAR_BRANCHES },
		{ 0x80, EK_NEAR_INDIRECT },
	};
	static const struct branch lion_cove[] = {
		{ 0x00, EK_BRANCHES },	     { 0x01, EK_COND_TAKEN_BACKWARD },
		{ 0x02, EK_NEAR_CALLS },     { 0x08, EK_NEAR_RETURNS },
		{ 0x10, EK_COND_NOT_TAKEN }, { 0x20, EK_NEAR_TAKEN },
		{ 0x40, EK_FAR_BRANCHES },   { 0x80, EK_NEAR_INDIRECT },
	};
	static const struct branch cougar_cove[] = {
		{ 0x00, EK_BRANCHES },		 { 0x01, EK_COND_TAKEN_BACKWARD },
		{ 0x02, EK_COND_TAKEN_FORWARD }, { 0x03, EK_COND_TAKEN },
		{ 0x04, EK_COND_NOT_TAKEN },	 { 0x07, EK_COND_BRANCHES },
		{ 0x08, EK_NEAR_RETURNS },	 { 0x30, EK_NEAR_CALLS },
		{ 0x50, EK_NEAR_INDIRECT },	 { 0xfb, EK_NEAR_TAKEN },
	};
	static const struct branch gracemont[] = {
		{ 0x00, EK_BRANCHES },	   { 0x7e, EK_COND_BRANCHES }, { 0xfe, EK_COND_TAKEN },
		{ 0xf9, EK_NEAR_CALLS },   { 0xf7, EK_NEAR_RETURNS },  { 0xc0, EK_NEAR_TAKEN },
		{ 0xeb, EK_NEAR_INDIRECT }, { 0xbf, EK_FAR_BRANCHES },
	};
	static const struct branch skymont[] = {
		{ 0x00, EK_BRANCHES },	    { 0x7e, EK_COND_BRANCHES },	 { 0xfe, EK_COND_TAKEN },
		{ 0xf9, EK_NEAR_CALLS },    { 0xf7, EK_NEAR_RETURNS },	 { 0xc0, EK_NEAR_TAKEN },
		{ 0xeb, EK_NEAR_INDIRECT }, { 0xbf, EK_FAR_BRANCHES },
		{ 0x7f, EK_COND_NOT_TAKEN },
	};

	check_branches("cxGRAM", 0xff, icelake, COUNT(icelake));
	check_branches("L", 0x3ff, lion_cove, COUNT(lion_cove));
	check_branches("P", 0x3ff, cougar_cove, COUNT(cougar_cove));
	check_branches("D", 0xff, cougar_cove, COUNT(cougar_cove));
	check_branches("g", 0x3f, gracemont, COUNT(gracemont));
	check_branches("m", 0xff, gracemont, COUNT(gracemont));
	check_branches("k", 0xff, skymont, COUNT(skymont));
	check_event(0x00c5, EK_MISPREDICTS, EV_PEBS, "cxGRAM", 0xff);
	check_event(0x00c5, EK_MISPREDICTS, EV_PEBS, "LP", 0x3ff);
	check_event(0x00c5, EK_MISPREDICTS, EV_PEBS, "g", 0x3f);
	check_event(0x00c5, EK_MISPREDICTS, EV_PEBS, "mkD", 0xff);
}

/* IA32_PERFEVTSELx[47:40], here above the umask. */
static void events_with_umask2_are_the_printed_ones(void)
{
	static const struct {
		char letter;
		unsigned code, kind, counters;
	} want[] = {
		{ 'L', 0x0100c4, EK_COND_TAKEN_FORWARD, 0x3ff },
		{ 'L', 0x0101c4, EK_COND_TAKEN, 0x3ff },
		{ 'L', 0x0111c4, EK_COND_BRANCHES, 0x3ff },
		{ 'P', 0x0100c4, EK_FAR_BRANCHES, 0x3ff },
		{ 'L', 0x0101d1, EK_L1_HIT, 0x0f },
		{ 'P', 0x0101d1, EK_L1_HIT, 0x0f },
	};
	unsigned rows = 0;

	for (size_t i = 0; i < COUNT(want); i++) {
		unsigned found = 0;

		for (size_t e = 0; e < COUNT(umask2_events); e++)
			found += umask2_events[e].gens & 1u << generation_of(want[i].letter) &&
				 umask2_events[e].code == want[i].code &&
				 umask2_events[e].kind == want[i].kind &&
				 umask2_events[e].flags & EV_PEBS &&
				 umask2_events[e].counters == want[i].counters;
		CHECK_EQ(1, found, "event %#x, %c", want[i].code, want[i].letter);
	}
	for (size_t e = 0; e < COUNT(umask2_events); e++)
		rows += (unsigned)__builtin_popcount(umask2_events[e].gens);
	CHECK_EQ(COUNT(want), rows);
}

/* Page walks move to 12H and 13H with Golden Cove, and stay on E-cores. FRONTEND_RETIRED moves with
 * Redwood Cove, off-core response with Golden Cove. */
static void events_that_move_are_where_they_went(void)
{
	check_event(0x0e08, EK_STLB_MISS_LOADS, EV_WALK, "cx", 0x0f);
	check_event(0x0e49, EK_STLB_MISS_STORES, EV_WALK, "cx", 0x0f);
	check_event(0x0e08, EK_STLB_MISS_LOADS, EV_WALK, "gmk", ANY);
	check_event(0x0e49, EK_STLB_MISS_STORES, EV_WALK, "gmk", ANY);
	check_no_event(0x0e08, EK_STLB_MISS_LOADS, "GRAMLP");
	check_no_event(0x0e49, EK_STLB_MISS_STORES, "GRAMLP");
	check_event(0x0e12, EK_STLB_MISS_LOADS, EV_WALK, "GRAM", 0x0f);
	check_event(0x0e13, EK_STLB_MISS_STORES, EV_WALK, "GRAM", 0x0f);
	check_event(0x0e12, EK_STLB_MISS_LOADS, EV_WALK, "LP", 0x3ff);
	check_event(0x0e13, EK_STLB_MISS_STORES, EV_WALK, "LP", 0x3ff);
	check_no_event(0x0e12, EK_STLB_MISS_LOADS, "cxgmkD");
	check_no_event(0x0e13, EK_STLB_MISS_STORES, "cxgmkD");
	check_event(0x01c6, EK_FRONTEND, EV_PEBS, "cxGA", ANY);
	check_no_event(0x01c6, EK_FRONTEND, "RMLP");
	check_event(0x03c6, EK_FRONTEND, EV_PEBS, "RMLP", ANY);
	check_no_event(0x03c6, EK_FRONTEND, "cxGA");
	check_event(0x01b7, EK_OFFCORE_0, 0, "cx", ANY);
	check_event(0x01bb, EK_OFFCORE_1, 0, "cx", ANY);
	check_no_event(0x01b7, EK_OFFCORE_0, "GRAMgmLkPD");
	check_no_event(0x01bb, EK_OFFCORE_1, "GRAMgmLkPD");
	check_event(0x012a, EK_OFFCORE_0, 0, "GRAMLP", ANY);
	check_event(0x012b, EK_OFFCORE_1, 0, "GRAMLP", ANY);
	check_event(0x01e4, EK_LBR_INSERTS, 0, "LP", 0x3ff);
	check_event(0x01e4, EK_LBR_INSERTS, 0, "kD", 0xff);
	check_event(0x01a4, EK_SLOTS, 0, "cxGRAMLP", ANY);
	check_no_event(0x01a4, EK_SLOTS, "gmkD");
}

int main(void)
{
	RUN(counters_are_those_of_each_core);
	RUN(packages_have_these_types_of_cores);
	RUN(leaf_23h_is_that_of_each_core);
	RUN(leaf_23h_is_that_of_architectural_pebs);
	RUN(data_sources_are_the_tables_of_each_core);
	RUN(data_source_bits_are_those_of_each_core);
	RUN(sampled_events_are_on_these_counters);
	RUN(memory_events_are_on_these_counters);
	RUN(branches_are_those_of_each_core);
	RUN(events_with_umask2_are_the_printed_ones);
	RUN(events_that_move_are_where_they_went);
	return check_end();
}
