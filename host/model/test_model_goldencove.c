/* SPDX-License-Identifier: MIT */
/*
 * Golden Cove and Redwood Cove: precise distribution, two latencies,
 * MEM_TRANS_RETIRED.STORE_SAMPLE, level 2 of MSR_PERF_METRICS, retire latency, the reset slots of
 * format 5. The expected values are typed from Linux events/intel and intel/perfmon.
 */
#include "host/check.h"
#include "host/model/fixture.h"

#define MINUS(n)	(-(u64)(n) & BITS(0, 47))
#define ADAPTIVE	BIT(34)
#define DATA		(FIXTURE_MEMORY_BASE + 0x3008)
#define LOADS		0x81d0
#define LATENCY		0x01cd
#define STORE_SAMPLE	0x02cd
#define HELPER		0x8203
#define MEM		1

static struct fixture r;

/* An empty buffer of 1000H bytes. */
static void open(enum generation_id generation)
{
	const struct model_config config = { .generation = generation, .hyper_threading = true };

	fixture_open_config(&r, &config);
	fixture_poke(&r, FIXTURE_DS + 0x20, FIXTURE_BUFFER);
	fixture_poke(&r, FIXTURE_DS + 0x28, FIXTURE_BUFFER);
	fixture_poke(&r, FIXTURE_DS + 0x30, FIXTURE_BUFFER + 0x1000);
	fixture_poke(&r, FIXTURE_DS + 0x38, FIXTURE_BUFFER + 0x1000);
	fixture_set(&r, 0x600, FIXTURE_DS);
}

static u64 at(unsigned offset)
{
	return fixture_peek(&r, FIXTURE_BUFFER + offset);
}

/* The number of instructions before there is a record, from the first counted one on. */
static unsigned instructions_to_a_record(unsigned most)
{
	for (unsigned n = 1; n <= most; n++) {
		fixture_load(&r, DATA);
		if (fixture_index(&r) != FIXTURE_BUFFER)
			return n;
	}
	return 0;
}

static unsigned with_fixed_0(unsigned period)
{
	fixture_set(&r, 0x3f1, BIT(32));
	fixture_set(&r, 0x38d, 3);
	fixture_set(&r, 0x309, MINUS(period));
	fixture_set(&r, 0x38f, BIT(32));
	return instructions_to_a_record(period + 10);
}

static unsigned with(unsigned n, u32 event, unsigned period)
{
	fixture_program_pebs(&r, n, event, 0, period);
	fixture_start(&r, BIT(n));
	return instructions_to_a_record(period + 10);
}

/* "PDist: Precise Distribution": no wait for the next occurrence, on fixed counter 0 and PMC0. */
static void pdist_records_the_event_that_overflowed(void)
{
	u64 ip;

	open(GEN_SAPPHIRERAPIDS);
	CHECK_EQ(300, with_fixed_0(300));
	CHECK_EQ(r.ip - 4, at(8), "EventingIP");
	CHECK_EQ(BIT(32), at(0x10));
	open(GEN_SAPPHIRERAPIDS);
	CHECK_EQ(300, with(0, LOADS, 300));
	ip = at(8);
	CHECK_EQ(r.ip - 4, ip, "EventingIP");
	open(GEN_SAPPHIRERAPIDS);
	CHECK_EQ(301, with(1, LOADS, 300), "any other counter: the next load");
	open(GEN_SAPPHIRERAPIDS);
	CHECK_EQ(301, with(0, 0x003c, 300), "no precise event");
	open(GEN_ICELAKE);
	CHECK_EQ(301, with(0, LOADS, 300), "Ice Lake");
}

static void what_pdist_leaves_open_is_latitude(void)
{
	open(GEN_SAPPHIRERAPIDS);
	CHECK_EQ(255, with(0, LOADS, 255), "255 events before the overflow");
	open(GEN_SAPPHIRERAPIDS);
	CHECK_EQ(256, with(0, LOADS, 256), "256 events before the overflow");
	open(GEN_SAPPHIRERAPIDS);
	r.m.latitude[LAT_PDIST_NEAR] = 1;
	CHECK_EQ(256, with(0, LOADS, 255), "by latitude");
	open(GEN_SAPPHIRERAPIDS);
	r.m.latitude[LAT_PDIST_FIXED_NEXT] = 1;
	CHECK_EQ(301, with_fixed_0(300));
}

/* The memory group of one record of this event; MEM: its +00H is at 20H of the record. */
static void memory_group(unsigned n, u32 event)
{
	fixture_set(&r, 0x3f2, MEM);
	fixture_set(&r, 0x3f6, 3);
	fixture_program_pebs(&r, n, event, ADAPTIVE, 2);
	fixture_set(&r, 0x38f, fixture_get(&r, 0x38f) | BIT(n));
	for (unsigned i = 0; i < 100 && fixture_index(&r) == FIXTURE_BUFFER; i++) {
		fixture_load(&r, DATA);
		fixture_store(&r, DATA + 0x40);
	}
	CHECK_EQ(0x40ULL << 48 | MEM, at(0) & ~BITS(32, 47), "format word");
}

static void a_record_has_two_latencies(void)
{
	u64 cache;

	for (unsigned n = 1; n < 8; n++) {
		open(GEN_SAPPHIRERAPIDS);
		r.m.latitude[LAT_INSTRUCTION_LATENCY] = 7;
		memory_group(n, LATENCY);
		cache = at(0x30) >> 32;
		CHECK(cache > 3 && cache < 0x1000, "cache latency %#llx",
		      (unsigned long long)cache);
		CHECK_EQ(cache + 7, at(0x30) & 0xffff, "instruction latency");
		CHECK_EQ(0, at(0x30) & 0xffff0000);
		CHECK_EQ(DATA, at(0x20));
	}
	open(GEN_SAPPHIRERAPIDS);
	fixture_program(&r, 0, LATENCY, 0, 0);
	fixture_start(&r, BIT(0));
	for (unsigned i = 0; i < 100; i++)
		fixture_load(&r, DATA);
	CHECK_EQ(0, fixture_get(&r, 0xc1), "IA32_PMC0 hasn't the event");
}

/* Bits 6 and 7 of the data source are defined only if 8203H counts too; on Granite Rapids
 * always. */
static void blocked_bits_want_the_helper_event(void)
{
	static const struct {
		enum generation_id generation;
		bool helper, wild;
	} cases[] = {
		{ GEN_SAPPHIRERAPIDS, false, true },
		{ GEN_SAPPHIRERAPIDS, true, false },
		{ GEN_GRANITERAPIDS, false, false },
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		u64 seen = 0;

		for (unsigned i = 0; i < 32; i++) {
			open(cases[c].generation);
			r.m.latitude[LAT_UNDEFINED_FIELDS] = 1;
			r.m.random = i;
			if (cases[c].helper) {
				fixture_program(&r, 0, HELPER, 0, 0);
				fixture_start(&r, BIT(0));
			}
			memory_group(2, LATENCY);
			seen |= at(0x28) & 0xc0;
		}
		CHECK_EQ(cases[c].wild ? 0xc0 : 0, seen, "case %zu", c);
	}
}

static void stores_are_sampled_on_counter_0(void)
{
	open(GEN_SAPPHIRERAPIDS);
	memory_group(0, STORE_SAMPLE);
	CHECK_EQ(DATA + 0x40, at(0x20), "address of the store");
	CHECK_EQ(1, at(0x28) & 0xf, "L1 hit, by the codes of loads");
	CHECK(at(0x30) >> 32 && (at(0x30) & 0xffff) >= at(0x30) >> 32, "latencies");
	open(GEN_SAPPHIRERAPIDS);
	fixture_program(&r, 1, STORE_SAMPLE, 0, 0);
	fixture_start(&r, BIT(1));
	fixture_store(&r, DATA);
	CHECK_EQ(0, fixture_get(&r, 0xc2), "IA32_PMC1 hasn't the event");
}

/* Bytes 4 to 7 are parts of bytes 0 to 3; 0 on Ice Lake. */
static void metrics_have_a_second_level(void)
{
	static const enum generation_id generations[] = { GEN_SAPPHIRERAPIDS, GEN_ICELAKE };

	for (unsigned g = 0; g < 2; g++) {
		u64 value, second;

		open(generations[g]);
		fixture_set(&r, 0x38d, 0x3000);
		fixture_set(&r, 0x38f, BIT(35) | BIT(48));
		for (unsigned i = 0; i < 50; i++) {
			for (unsigned branch = 0; branch < 8; branch++)
				fixture_backward_branch(&r, branch);
			fixture_store(&r, DATA);
			fixture_load(&r, DATA);
		}
		fixture_set(&r, 0x38f, 0);
		value = fixture_get(&r, 0x329);
		second = value >> 32;
		CHECK_EQ(g ? 0 : 1, second != 0);
		for (unsigned i = 0; i < 32 && !g; i += 8)
			CHECK((second >> i & 0xff) && (second >> i & 0xff) <= (value >> i & 0xff),
			      "byte %u of %#llx", i / 8, (unsigned long long)value);
	}
	open(GEN_SAPPHIRERAPIDS);
	fixture_set(&r, 0x329, 0x0102030405060708);
	CHECK_EQ(0x0102030405060708, fixture_get(&r, 0x329));
}

static void registers_have_their_bits(void)
{
	open(GEN_SAPPHIRERAPIDS);
	CHECK_EQ(MSR_DONE, fixture_wrmsr(&r, 0x3f7, 0x7fff1f));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x3f7, BIT(5)));
	CHECK_EQ(0x3f, fixture_get(&r, 0x345) & 0x3f, "LBR_FMT");
	CHECK_EQ(0xc000, fixture_get(&r, 0x345) & 0x2c000, "baseline, metrics, no retire latency");
}

static void retire_latency_is_in_the_basic_group(void)
{
	open(GEN_GRANITERAPIDS);
	CHECK_EQ(BIT(17), fixture_get(&r, 0x345) & BIT(17));
	with(1, LOADS, 2);
	CHECK(at(0) >> 32 & 0xffff, "format word %#llx", (unsigned long long)at(0));
	CHECK_EQ(0x20, at(0) >> 48);
	CHECK_EQ(0, (u32)at(0));
	open(GEN_SAPPHIRERAPIDS);
	with(1, LOADS, 2);
	CHECK_EQ(0, at(0) >> 32 & 0xffff);
}

/* Fixed counter i: 80H + 8 * i in format 4, 140H + 8 * i in format 5. */
static void format_5_has_its_reset_values_elsewhere(void)
{
	for (u32 five = 0; five < 2; five++)
		for (unsigned i = 0; i < 4; i++) {
			open(GEN_GRANITERAPIDS);
			r.m.latitude[LAT_PEBS_FORMAT_5] = five;
			for (unsigned slot = 0; slot < 4; slot++) {
				fixture_poke(&r, FIXTURE_DS + 0x80 + 8 * slot,
					     MINUS(0x4000 + slot));
				fixture_poke(&r, FIXTURE_DS + 0x140 + 8 * slot,
					     MINUS(0x5000 + slot));
			}
			fixture_set(&r, 0x3f1, BIT(32 + i));
			fixture_set(&r, 0x38d, 3ULL << 4 * i);
			fixture_set(&r, 0x309 + i, MINUS(300));
			fixture_set(&r, 0x38f, BIT(32 + i));
			while (fixture_index(&r) == FIXTURE_BUFFER)
				fixture_nops(&r, 1);
			CHECK_EQ(MINUS((five ? 0x5000 : 0x4000) + i), fixture_get(&r, 0x309 + i),
				 "fixed counter %u, format %u", i, 4 + five);
		}
}

static void be(enum generation_id package, unsigned processor, unsigned of)
{
	struct model_config config = { .generation = package, .hyper_threading = true };

	open(package);
	r.host.processors = of;
	r.host.processor = processor;
	r.host.cores = NULL;
	model_init(&r.m, &config, &r.host);
}

/* A processor of so many of an Alder Lake: CPUID.0AH, then MSR_PERF_METRICS and its bit. */
static void check_counters(unsigned processor, unsigned of, u32 gp, u32 fixed, bool metrics)
{
	u32 regs[4];

	be(GEN_ALDERLAKE, processor, of);
	model_cpuid(&r.m, 0xa, 0, regs);
	CHECK_EQ(gp, regs[0] >> 8 & 0xff, "processor %u of %u", processor, of);
	CHECK_EQ(fixed, regs[3] & 0x1f, "processor %u of %u", processor, of);
	CHECK_EQ(BIT(fixed) - 1, regs[2], "processor %u of %u", processor, of);
	CHECK_EQ(metrics, model_rdmsr(&r.m, 0x329).status == MSR_DONE);
	CHECK_EQ(metrics, model_rdmsr(&r.m, 0x345).value >> 15 & 1);
	CHECK_EQ(metrics, model_rdmsr(&r.m, 0x18d).status == MSR_DONE, "IA32_PERFEVTSEL7");
	CHECK_EQ(metrics, model_rdmsr(&r.m, 0x30c).status == MSR_DONE, "IA32_FIXED_CTR3");
}

/* Linux intel_pmu_init: with E-cores, a P-core has two general-purpose counters and one fixed
 * counter more than leaf 0AH. */
static void beside_e_cores_leaf_0a_has_what_all_have(void)
{
	check_counters(0, 2, 8, 4, true);
	check_counters(0, 4, 6, 3, true);
	check_counters(1, 4, 6, 3, true);
	check_counters(2, 4, 6, 3, false);
	check_counters(3, 4, 6, 3, false);
}

/* As in CPUID dumps. Both types of core report the same in leaf 0AH. */
static const struct told {
	enum generation_id package;
	u32 leaf_0a[4], leaf_23[2][6][4];	/* of the P-core, of the E-core */
} told[] = {
	{ GEN_METEORLAKE,
	  { 0x07300805, 0, 7, 0x8603 },
	  { { { 0xb }, { 0xff, 0xf }, { 0 }, { 0xdff } },
	    { { 0xb }, { 0xff, 7 }, { 0 }, { 0x7f } } } },
	{ GEN_LUNARLAKE,
	  { 0x0d300806, 0x280, 7, 0x8603 },
	  { { { 0xb, 3 }, { 0x3ff, 0xf }, { 0 }, { 0x1dff } },
	    { { 0xf, 3 }, { 0xff, 0x77 }, { 0xfc, 3, 0xfc, 3 }, { 0x1f7f } } } },
	{ GEN_PANTHERLAKE,
	  { 0x0d300806, 0x280, 7, 0x8603 },
	  { { { 0x3b, 3 },
	      { 0x3ff, 0xf },
	      { 0 },
	      { 0x1dff },
	      { 0, 0x60060378 },
	      { 0x3ff, 3, 0xf, 1 } },
	    { { 0x3f, 3 },
	      { 0xff, 0x77 },
	      { 0xfc, 3, 0xfc, 3 },
	      { 0x1f7f },
	      { 0, 0x60060338 },
	      { 0xff, 3, 0x77, 1 } } } },
};

/* The slots of a cycle are latitude. */
static void check_leaves(const struct told *t, unsigned e)
{
	u32 regs[4];

	be(t->package, 2 * e, 4);
	model_cpuid(&r.m, 0x1a, 0, regs);
	CHECK_EQ(e ? 0x20 : 0x40, regs[0] >> 24);
	model_cpuid(&r.m, 7, 0, regs);
	CHECK_EQ(BIT(15), regs[3] & BIT(15));
	model_cpuid(&r.m, 0xa, 0, regs);
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(t->leaf_0a[i], regs[i], "0AH of %u, core %u", t->package, e);
	for (unsigned n = 0; n < 6; n++) {
		model_cpuid(&r.m, 0x23, n, regs);
		for (unsigned i = 0; i < 4; i++)
			if (n || i != 2)
				CHECK_EQ(t->leaf_23[e][n][i], regs[i],
					 "(23H,%u)[%u] of %u, core %u", n, i, t->package, e);
	}
}

static void later_ones_tell_of_their_own_in_leaf_23(void)
{
	for (unsigned i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		for (unsigned e = 0; e < 2; e++)
			check_leaves(&told[i], e);
}

int main(void)
{
	RUN(later_ones_tell_of_their_own_in_leaf_23);
	RUN(beside_e_cores_leaf_0a_has_what_all_have);
	RUN(pdist_records_the_event_that_overflowed);
	RUN(what_pdist_leaves_open_is_latitude);
	RUN(a_record_has_two_latencies);
	RUN(blocked_bits_want_the_helper_event);
	RUN(stores_are_sampled_on_counter_0);
	RUN(metrics_have_a_second_level);
	RUN(registers_have_their_bits);
	RUN(retire_latency_is_in_the_basic_group);
	RUN(format_5_has_its_reset_values_elsewhere);
	return check_end();
}
