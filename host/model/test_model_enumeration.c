/* SPDX-License-Identifier: MIT */
/*
 * A processor with a given enumeration (TOLD in latitude.def): CPUID shows it, the registers are
 * the enumerated ones, and impossible enumerations are refused.
 */
#include "host/check.h"
#include "refpmu/model/model.h"
#include "spec/msr.h"

#define SHORT_ROUNDS	20000
#define LONG_ROUNDS	100000

enum { EAX, EBX, ECX, EDX };

static struct model m;
static struct model_config config;
static u64 random_state;

static u64 draw(u64 bound)
{
	u64 z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % bound;
}

static void tell(enum latitude_id knob, u32 value)
{
	config.latitude.set |= LATITUDE_BIT(knob);
	config.latitude.value[knob] = value;
}

static void tell_anything(void)
{
	static const struct {
		enum latitude_id knob;
		u32 low, high;
	} told[] = {
#define TROUBLE(token, name, low, high, source)
#define TOLD(token, name, low, high, source) { LAT_##token, low, high },
#include "refpmu/model/latitude.def"
	};

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (told[i].knob < LAT_GP_MASK && !draw(4))
			tell(told[i].knob, told[i].low + (u32)draw(told[i].high - told[i].low + 1));
	/* Few processors have counters above those. */
	if (config.latitude.set & LATITUDE_BIT(LAT_FIXED_MASK) && draw(8))
		config.latitude.value[LAT_FIXED_MASK] &= 0xf;
	/* Only few numbers are valid capabilities. */
	if (config.latitude.set & LATITUDE_BIT(LAT_PERF_CAPABILITIES))
		config.latitude.value[LAT_PERF_CAPABILITIES] &= draw(2) ? 0x3000 : 0xf000;
}

/* Of leaf 23H; bits that are 0 on most processors are rarely told. */
static void tell_leaf_23h(void)
{
	static const struct {
		enum latitude_id knob;
		u32 usual;
	} told[] = {
		{ LAT_GP_MASK, 0xff },		   { LAT_EXT_FEATURES, 3 },
		{ LAT_RELOADED, 0x300fc },	   { LAT_RELOADING, 0x300fc },
		{ LAT_PEBS_GROUPS, 0x60060338 },   { LAT_PEBS_COUNTERS, 0x700ff },
		{ LAT_PDIST_COUNTERS, 0x10003 },
	};

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (!draw(4))
			tell(told[i].knob,
			     (u32)draw(1U << 31) & (u32)(draw(1U << 31) | draw(2)) & told[i].usual);
}

static bool is_told(enum latitude_id knob)
{
	return config.latitude.set & LATITUDE_BIT(knob);
}

static void check_told(enum latitude_id knob, u32 shown, unsigned lo, unsigned hi)
{
	if (is_told(knob))
		CHECK_EQ(config.latitude.value[knob], shown >> lo & BITS(0, hi - lo), "knob %u",
			 (unsigned)knob);
}

static bool readable(u32 msr)
{
	return model_rdmsr(&m, msr).status == MSR_DONE;
}

static bool has_leaf_23h(void)
{
	u32 leaf[4] = { 0 };

	model_cpuid(&m, 0, 0, leaf);
	if (leaf[EAX] < 0x23)
		return false;
	model_cpuid(&m, 7, 1, leaf);
	return leaf[EAX] & BIT(8);
}

/* The general-purpose counters: of leaf 23H, which may have holes, or of leaf 0AH. */
static u32 general(const u32 *leaf)
{
	u32 bitmaps[4] = { 0 };

	if (!has_leaf_23h())
		return (u32)BIT(leaf[EAX] >> 8 & 0xff) - 1;
	model_cpuid(&m, 0x23, 1, bitmaps);
	return bitmaps[EAX];
}

/* A set of counters of these two registers, as a knob tells it. */
static void check_set(enum latitude_id knob, u32 gp, u32 fixed)
{
	if (is_told(knob))
		CHECK_EQ(config.latitude.value[knob], gp | fixed << 16, "knob %u", (unsigned)knob);
}

static void check_leaf_23h(void)
{
	u32 leaf[4] = { 0 }, gp = 0, fixed = 0;

	if (!has_leaf_23h()) {
		for (enum latitude_id i = LAT_GP_MASK; i <= LAT_PDIST_COUNTERS; i++)
			CHECK(!is_told(i), "knob %u", (unsigned)i);
		return;
	}
	model_cpuid(&m, 0x23, 0, leaf);
	check_told(LAT_EXT_FEATURES, leaf[EBX], 0, 1);
	CHECK_EQ(m.config.latitude.set & LATITUDE_BIT(LAT_RELOADED) ?
			 config.latitude.value[LAT_RELOADED] != 0 :
			 leaf[EAX] >> 2 & 1,
		 leaf[EAX] >> 2 & 1);
	model_cpuid(&m, 0x23, 1, leaf);
	gp = leaf[EAX];
	fixed = leaf[EBX];
	check_told(LAT_GP_MASK, gp, 0, 31);
	model_cpuid(&m, 0x23, 2, leaf);
	check_set(LAT_RELOADED, leaf[EAX], leaf[EBX]);
	check_set(LAT_RELOADING, leaf[ECX], leaf[EDX]);
	CHECK_EQ(0, ((leaf[EAX] | leaf[ECX]) & ~gp) | ((leaf[EBX] | leaf[EDX]) & ~fixed));
	for (u32 i = 0; i < 10; i++)
		CHECK_EQ(leaf[EAX] >> i & 1, readable(MSR_IA32_PMC_GP0_CFG_B + 4 * i), "%u", i);
	model_cpuid(&m, 0x23, 0, leaf);
	if (!(leaf[EAX] & BIT(5)))
		return;
	model_cpuid(&m, 0x23, 4, leaf);
	check_told(LAT_PEBS_GROUPS, leaf[EBX], 0, 31);
	model_cpuid(&m, 0x23, 5, leaf);
	check_set(LAT_PEBS_COUNTERS, leaf[EAX], leaf[ECX]);
	check_set(LAT_PDIST_COUNTERS, leaf[EBX], leaf[EDX]);
	CHECK_EQ(0, (leaf[EAX] & ~gp) | (leaf[ECX] & ~fixed));
	CHECK_EQ(0, (leaf[EBX] & ~leaf[EAX]) | (leaf[EDX] & ~leaf[ECX]));
}

static void check_fixed(const u32 *leaf)
{
	const u32 version = leaf[EAX] & 0xff, width = leaf[EDX] >> 5 & 0xff;
	const u32 there = ((1u << (leaf[EDX] & 0x1f)) - 1) | leaf[ECX];

	if (version < 2)
		CHECK_EQ(0, leaf[EDX] & 0x1fff);
	if (version < 5)
		CHECK_EQ(0, leaf[ECX]);
	for (u32 i = 0; i < 5; i++) {
		CHECK_EQ(there >> i & 1, readable(MSR_IA32_FIXED_CTR0 + i), "fixed counter %u", i);
		CHECK_EQ(there >> i & 1, model_rdpmc(&m, (u32)BIT(30) + i).status == MSR_DONE);
		if (!(there >> i & 1))
			continue;
		CHECK_EQ(MSR_DONE, model_wrmsr(&m, MSR_IA32_FIXED_CTR0 + i, BIT(width) - 1).status);
		CHECK_EQ(MSR_GP, model_wrmsr(&m, MSR_IA32_FIXED_CTR0 + i, BIT(width)).status);
		CHECK_EQ(BIT(width) - 1, model_rdmsr(&m, MSR_IA32_FIXED_CTR0 + i).value);
	}
	if (version >= 2)
		for (u32 bit = 0; bit < 48; bit++)
			CHECK_EQ((bit < 32 && general(leaf) >> bit & 1) ||
					 (bit >= 32 && there >> (bit - 32) & 1),
				 model_wrmsr(&m, MSR_IA32_PERF_GLOBAL_CTRL, BIT(bit)).status ==
					 MSR_DONE,
				 "bit %u", bit);
}

static void check_registers(const u32 *leaf)
{
	const u32 counters = general(leaf), width = leaf[EAX] >> 16 & 0xff;
	bool capable = readable(MSR_IA32_PERF_CAPABILITIES);
	u64 capabilities = capable ? model_rdmsr(&m, MSR_IA32_PERF_CAPABILITIES).value : 0;
	bool full = capabilities & IA32_PERF_CAPABILITIES_FW_WRITE;

	check_told(LAT_PDCM, capable, 0, 0);
	if (capable)
		check_told(LAT_PERF_CAPABILITIES, (u32)capabilities, 0, 19);
	for (u32 i = 0; i < 8; i++) {
		const bool there = counters >> i & 1;

		CHECK_EQ(there, readable(MSR_IA32_PMC0 + i), "counter %u", i);
		CHECK_EQ(there, model_rdpmc(&m, i).status == MSR_DONE, "counter %u", i);
		CHECK_EQ(there, readable(MSR_IA32_PERFEVTSEL0 + i), "counter %u", i);
		CHECK_EQ(there && full, readable(MSR_IA32_A_PMC0 + i), "counter %u", i);
		if (there && full) {
			CHECK_EQ(MSR_DONE,
				 model_wrmsr(&m, MSR_IA32_A_PMC0 + i, BIT(width) - 1).status);
			CHECK_EQ(MSR_GP, model_wrmsr(&m, MSR_IA32_A_PMC0 + i, BIT(width)).status);
		}
	}
}

static void check_enumeration(void)
{
	u32 leaf[4] = { 0 };

	model_cpuid(&m, 0, 0, leaf);
	check_told(LAT_MAX_LEAF, leaf[EAX], 0, 31);
	model_cpuid(&m, 1, 0, leaf);
	check_told(LAT_SIGNATURE, leaf[EAX], 0, 31);
	check_told(LAT_DTES64, leaf[ECX], 2, 2);
	check_told(LAT_DS_CPL, leaf[ECX], 4, 4);
	check_told(LAT_PDCM, leaf[ECX], 15, 15);
	check_told(LAT_DS, leaf[EDX], 21, 21);
	model_cpuid(&m, 7, 0, leaf);
	check_told(LAT_SGX, leaf[EBX], 2, 2);
	check_told(LAT_PT, leaf[EBX], 25, 25);
	model_cpuid(&m, 0xa, 0, leaf);
	check_told(LAT_VERSION, leaf[EAX], 0, 7);
	if (!(leaf[EAX] & 0xff))
		return;
	check_told(LAT_GP_COUNTERS, leaf[EAX], 8, 15);
	check_told(LAT_GP_WIDTH, leaf[EAX], 16, 23);
	check_told(LAT_EVENTS_LENGTH, leaf[EAX], 24, 31);
	check_told(LAT_FIXED_COUNTERS, leaf[EDX], 0, 4);
	check_told(LAT_ANYTHREAD_DEPRECATED, leaf[EDX], 15, 15);
	check_told(LAT_FIXED_MASK, leaf[ECX], 0, 31);
	check_registers(leaf);
	check_fixed(leaf);
	check_leaf_23h();
}

static void it_is_as_it_tells(void)
{
	static const struct model_host host;
	const u64 rounds = check_amount(SHORT_ROUNDS, LONG_ROUNDS);
	u64 taken = 0, refused = 0;

	for (random_state = 0; taken + refused < rounds;) {
		config = (struct model_config){ .generation = (u32)draw(GEN_ARCH_COUNT),
						.hyper_threading = draw(2) };
		tell_anything();
		if (!draw(4))
			tell_leaf_23h();
		if (model_contradiction(&config) != CONTRADICTION_NONE) {
			refused++;
			continue;
		}
		taken++;
		model_init(&m, &config, &host);
		check_enumeration();
	}
	CHECK(taken > rounds / 20 && refused > rounds / 20,
	      "%" PRIu64 " taken, %" PRIu64 " refused", taken, refused);
}

/* With the first setting alone the processor is possible; with the second it isn't. */
static void contradictions(void)
{
	static const struct {
		enum generation_id generation;
		enum latitude_id knob[2];
		u32 value[2];
		enum model_contradiction wanted;
	} cases[] = {
		{ GEN_NEHALEM, { LAT_VERSION, LAT_VERSION }, { 3, 4 }, CONTRADICTION_UNCORE },
		{ GEN_HASWELL, { LAT_FIXED_COUNTERS, LAT_FIXED_MASK }, { 2, 4 },
		  CONTRADICTION_COUNTERS },
		{ GEN_HASWELL, { LAT_PERF_CAPABILITIES, LAT_PERF_CAPABILITIES }, { 0x32c4, 0x32c6 },
		  CONTRADICTION_CAPABILITIES },
		{ GEN_HASWELL, { LAT_PERF_CAPABILITIES, LAT_PERF_CAPABILITIES }, { 0x32c4, 0x72c4 },
		  CONTRADICTION_CAPABILITIES },
		{ GEN_HASWELL, { LAT_PERF_CAPABILITIES, LAT_PERF_CAPABILITIES }, { 0x32c4, 0x33c4 },
		  CONTRADICTION_PEBS },
		{ GEN_HASWELL, { LAT_GP_COUNTERS, LAT_GP_COUNTERS }, { 1, 0 }, CONTRADICTION_PEBS },
		{ GEN_PANTHERLAKE, { LAT_FIXED_MASK, LAT_FIXED_MASK }, { 0xf, 0x10 },
		  CONTRADICTION_COUNTERS },
		{ GEN_CLEARWATERFOREST, { LAT_FIXED_MASK, LAT_FIXED_MASK }, { 0x57, 0x88 },
		  CONTRADICTION_COUNTERS },
		/* No leaf 23H: its generation, its version. */
		{ GEN_ICELAKE, { LAT_VERSION, LAT_GP_MASK }, { 5, 0xfd }, CONTRADICTION_EXT },
		{ GEN_PANTHERLAKE, { LAT_GP_MASK, LAT_VERSION }, { 0xfd, 4 }, CONTRADICTION_EXT },
		/* A hole; leaf 0AH can't have a counter there. */
		{ GEN_PANTHERLAKE, { LAT_GP_MASK, LAT_GP_COUNTERS }, { 0x2fb, 3 },
		  CONTRADICTION_EXT },
		{ GEN_METEORLAKE, { LAT_EXT_FEATURES, LAT_EXT_FEATURES }, { 0, 1 },
		  CONTRADICTION_EXT },
		{ GEN_CLEARWATERFOREST, { LAT_PEBS_GROUPS, LAT_PEBS_GROUPS },
		  { 0x60000018, 0x60000010 }, CONTRADICTION_EXT },
		{ GEN_CLEARWATERFOREST, { LAT_PEBS_GROUPS, LAT_PEBS_GROUPS },
		  { 0x40000300, 0x40000100 }, CONTRADICTION_EXT },
		{ GEN_CLEARWATERFOREST, { LAT_PEBS_GROUPS, LAT_PEBS_GROUPS },
		  { 0x60060338, 0x60060378 }, CONTRADICTION_EXT },
		{ GEN_CLEARWATERFOREST, { LAT_PEBS_COUNTERS, LAT_PDIST_COUNTERS },
		  { 0x70003, 0x10003 }, CONTRADICTION_NONE },
		{ GEN_CLEARWATERFOREST, { LAT_PDIST_COUNTERS, LAT_PEBS_COUNTERS },
		  { 0x10003, 0x70002 }, CONTRADICTION_EXT },
		{ GEN_CLEARWATERFOREST, { LAT_PDIST_COUNTERS, LAT_PEBS_COUNTERS },
		  { 0, 0 }, CONTRADICTION_EXT },
		{ GEN_ICELAKE, { LAT_FIXED_COUNTERS, LAT_PERF_CAPABILITIES }, { 3, 0xf4c5 },
		  CONTRADICTION_CAPABILITIES },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		config = (struct model_config){ .generation = cases[i].generation };
		tell(cases[i].knob[0], cases[i].value[0]);
		CHECK_EQ(CONTRADICTION_NONE, model_contradiction(&config), "case %zu", i);
		tell(cases[i].knob[1], cases[i].value[1]);
		CHECK_EQ(cases[i].wanted, model_contradiction(&config), "case %zu", i);
	}
	/* One that is reloaded needs one that reloads it; none of both may be. */
	config = (struct model_config){ .generation = GEN_CLEARWATERFOREST };
	tell(LAT_RELOADED, 0x4);
	tell(LAT_RELOADING, 0x10000);
	CHECK_EQ(CONTRADICTION_NONE, model_contradiction(&config));
	tell(LAT_RELOADING, 0);
	CHECK_EQ(CONTRADICTION_EXT, model_contradiction(&config));
	tell(LAT_RELOADED, 0);
	CHECK_EQ(CONTRADICTION_NONE, model_contradiction(&config));
	tell(LAT_RELOADING, 0x4);
	CHECK_EQ(CONTRADICTION_EXT, model_contradiction(&config));
	config = (struct model_config){ .generation = GEN_NETBURST };
	CHECK_EQ(CONTRADICTION_NONE, model_contradiction(&config));
	tell(LAT_GP_COUNTERS, 4);
	CHECK_EQ(CONTRADICTION_NETBURST, model_contradiction(&config));
}

int main(void)
{
	RUN(it_is_as_it_tells);
	RUN(contradictions);
	return check_end();
}
