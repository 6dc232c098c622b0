/* SPDX-License-Identifier: MIT */
/* The answers of CPUID on the worst machine below: one with every bit set. */
#include "host/check.h"
#include "host/model/fixture.h"

enum { EAX, EBX, ECX, EDX };

static struct fixture r;
static u32 regs[4];

static void ask(u32 leaf, u32 subleaf, u32 below)
{
	for (unsigned i = 0; i < 4; i++)
		regs[i] = below;
	model_cpuid(&r.m, leaf, subleaf, regs);
}

static void open(bool hyper_threading)
{
	fixture_open(&r, FAULT_NONE, 0, hyper_threading);
}

static void open_generation(enum generation_id generation)
{
	const struct model_config config = { .generation = generation, .hyper_threading = true };

	fixture_open_config(&r, &config);
}

/*
 * Leaf by leaf as in published dumps of the parts, without the features that the machine below
 * can't provide: VT, SMX, SpeedStep, TM2, SDBG, xTPR, DCA, HTT, PT.
 */
static const struct {
	u32 max_leaf, signature, ecx, structured, ext_ecx, ext_edx, perfmon;
} wanted[] = {
	[GEN_NEHALEM] = { 0xb, 0x106a5, 0x0098a21d, 0, 0x1, 0x28100800, 0x07300403 },
	[GEN_WESTMERE] = { 0xb, 0x206c2, 0x029aa21f, 0, 0x1, 0x2c100800, 0x07300403 },
	[GEN_SANDYBRIDGE] = { 0xd, 0x206a7, 0x1fbaa21f, 0, 0x1, 0x28100800, 0x07300403 },
	[GEN_IVYBRIDGE] = { 0xd, 0x306a9, 0x7fbaa21f, 0x281, 0x1, 0x28100800, 0x07300403 },
	[GEN_HASWELL] = { 0xd, 0x306c3, 0x7ffab21f, 0x2fbb, 0x21, 0x2c100800, 0x07300403 },
	[GEN_BROADWELL] = { 0x14, 0x40671, 0x7ffab21f, 0x1c2fbb, 0x121, 0x2c100800, 0x07300403 },
	[GEN_SKYLAKE] = { 0x16, 0x506e3, 0x7ffab21f, 0x9c2fbb, 0x121, 0x2c100800, 0x07300404 },
	[GEN_ICELAKE] = { 0x1b, 0x706e5, 0x7ffab21f, 0x9c27ab, 0x121, 0x2c100800, 0x08300805 },
	[GEN_ICELAKE_SP] = { 0x1b, 0x606a6, 0x7ffab21f, 0x9c2fbb, 0x121, 0x2c100800, 0x08300805 },
	[GEN_SAPPHIRERAPIDS] = { 0x20, 0x806f8, 0x7ffab21f, 0x9c2fbb, 0x121, 0x2c100800,
				 0x08300805 },
	[GEN_GRANITERAPIDS] = { 0x24, 0xa06d1, 0x7ffab21f, 0x9c2fbb, 0x121, 0x2c100800,
				0x08300805 },
	[GEN_ALDERLAKE] = { 0x20, 0x90672, 0x7ffab21f, 0x9c27ab, 0x121, 0x2c100800, 0x08300805 },
	[GEN_METEORLAKE] = { 0x23, 0xa06a4, 0x7ffab21f, 0x9c27ab, 0x121, 0x2c100800, 0x08300805 },
	[GEN_SIERRAFOREST] = { 0x23, 0xa06f3, 0x7ffab21f, 0x9c27ab, 0x121, 0x2c100800,
			       0x07300805 },
	[GEN_LUNARLAKE] = { 0x23, 0xb06d1, 0x7ffab21f, 0x9c27ab, 0x121, 0x2c100800, 0x0d300a06 },
	[GEN_SKYMONT] = { 0x23, 0xb06d1, 0x7ffab21f, 0x9c27ab, 0x121, 0x2c100800, 0x0d300806 },
	[GEN_GRACEMONT] = { 0x20, 0xb06e0, 0x7ffab21f, 0x9c27ab, 0x121, 0x2c100800, 0x07300605 },
	[GEN_PANTHERLAKE] = { 0x28, 0xc06c2, 0x7ffab21f, 0x9c27ab, 0x121, 0x2c100800, 0x0d300a06 },
	[GEN_CLEARWATERFOREST] = { 0x23, 0xd06d1, 0x7ffab21f, 0x9c27ab, 0x121, 0x2c100800,
				   0x0d300806 },
};

/* The generations with architectural last branch records, and with cores of two types. */
static u32 structured_edx(unsigned generation)
{
	if (generation < GEN_SAPPHIRERAPIDS)
		return 0;
	switch (generation) {
	case GEN_ALDERLAKE:
	case GEN_METEORLAKE:
	case GEN_LUNARLAKE:
	case GEN_PANTHERLAKE:
		return 0x88000;
	default:
		return 0x80000;
	}
}

/* The generations with leaf 23H. */
static u32 sub_leaves(unsigned generation)
{
	return generation >= GEN_GRANITERAPIDS && generation != GEN_ALDERLAKE &&
	       generation != GEN_GRACEMONT;
}

static void each_generation_has_its_own(void)
{
	for (unsigned g = 0; g < GEN_ARCH_COUNT; g++) {
		open_generation(g);
		ask(0, 0, 0xffffffff);
		CHECK_EQ(wanted[g].max_leaf, regs[EAX], "generation %u", g);
		ask(1, 0, 0xffffffff);
		CHECK_EQ(wanted[g].signature, regs[EAX], "generation %u", g);
		CHECK_EQ(wanted[g].ecx, regs[ECX], "generation %u", g);
		CHECK_EQ(0xafebfbff, regs[EDX], "generation %u", g);
		ask(7, 0, 0xffffffff);
		CHECK_EQ(wanted[g].structured, regs[EBX], "generation %u", g);
		CHECK_EQ(sub_leaves(g), regs[EAX] | regs[ECX], "generation %u", g);
		CHECK_EQ(structured_edx(g), regs[EDX], "generation %u", g);
		ask(0xa, 0, 0xffffffff);
		CHECK_EQ(wanted[g].perfmon, regs[EAX], "generation %u", g);
		ask(0x80000001, 0, 0xffffffff);
		CHECK_EQ(wanted[g].ext_ecx, regs[ECX], "generation %u", g);
		CHECK_EQ(wanted[g].ext_edx, regs[EDX], "generation %u", g);
		/* Without AVX there is no leaf 0DH. */
		ask(0xd, 0, 0xffffffff);
		CHECK_EQ(wanted[g].max_leaf >= 0xd ? 7u : 0, regs[EAX], "generation %u", g);
		CHECK_EQ(wanted[g].max_leaf >= 0xd ? 832u : 0, regs[ECX], "generation %u", g);
	}
}

/* "Deterministic Cache Parameters": 64-byte lines in the memory hierarchy's sets and ways. */
static void caches(void)
{
	static const struct {
		u32 eax, ebx, ecx, edx;
	} cache[] = {
		{ 0x121, 0x01c0003f, 63, 0 },		/* data, level 1: 32 KiB, 8 ways */
		{ 0x122, 0x01c0003f, 63, 0 },		/* instructions */
		{ 0x143, 0x01c0003f, 511, 0 },		/* level 2: 256 KiB, 8 ways */
		{ 0x163, 0x03c0003f, 4095, 2 },		/* level 3: 4 MiB, 16 ways, inclusive */
		{ 0, 0, 0, 0 },
	};

	open(true);
	for (u32 i = 0; i < sizeof(cache) / sizeof(cache[0]); i++) {
		ask(4, i, 0xffffffff);
		CHECK_EQ(cache[i].eax, regs[EAX], "sub-leaf %u", i);
		CHECK_EQ(cache[i].ebx, regs[EBX], "sub-leaf %u", i);
		CHECK_EQ(cache[i].ecx, regs[ECX], "sub-leaf %u", i);
		CHECK_EQ(cache[i].edx, regs[EDX], "sub-leaf %u", i);
	}
	ask(2, 0, 0xffffffff);
	CHECK_EQ(0xff01, regs[EAX], "descriptor FFH: see leaf 4");
	CHECK_EQ(0, regs[EBX] | regs[ECX] | regs[EDX]);
	ask(0x80000006, 0, 0xffffffff);
	CHECK_EQ(0x01006040, regs[ECX], "256 KiB, 8 ways, 64-byte lines");
}

static void vendor(void)
{
	open(true);
	ask(0, 0, 0);
	CHECK_EQ(0xd, regs[EAX]);
	CHECK(!memcmp(&regs[EBX], "Genu", 4) && !memcmp(&regs[EDX], "ineI", 4) &&
	      !memcmp(&regs[ECX], "ntel", 4));
}

/* 06_3CH stepping 3 is the signature 000306C3H. */
static void signature_and_features(void)
{
	open(true);
	ask(1, 0, 0xffffffff);
	CHECK_EQ(0x000306c3, regs[EAX]);
	CHECK_EQ(0, regs[ECX] & 0x80000000, "no hypervisor");
	CHECK_EQ(0xff010800, regs[EBX], "one processor, lines of 64 bytes; the APIC ID stays");
	ask(1, 0, 0);
	CHECK_EQ(0x8014, regs[ECX], "DTES64, DS-CPL, PDCM");
	CHECK_EQ(0x200000, regs[EDX], "DS");
}

static void brand(void)
{
	char text[49] = "";

	open(true);
	for (u32 i = 0; i < 3; i++) {
		ask(0x80000002 + i, 0, 0xffffffff);
		memcpy(text + 16 * i, regs, 16);
	}
	CHECK_STR("Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz", text);
}

static void performance_monitoring(void)
{
	open(true);
	ask(0xa, 0, 0xffffffff);
	CHECK_EQ(0x07300403, regs[EAX], "version 3, 4 counters, 48 bits, 7 events");
	CHECK_EQ(0, regs[EBX], "none of these events is absent");
	CHECK_EQ(0, regs[ECX]);
	CHECK_EQ(0x603, regs[EDX], "3 fixed counters, 48 bits");
	open(false);
	ask(0xa, 0, 0);
	CHECK_EQ(0x07300803, regs[EAX], "8 counters");
}

/* HLE and RTM. */
static void transactions(void)
{
	open(true);
	ask(7, 0, 0xffffffff);
	CHECK_EQ(0x810, regs[EBX] & 0x810);
	fixture_open_knob(&r, LAT_NO_RTM, 1);
	ask(7, 0, 0xffffffff);
	CHECK_EQ(0, regs[EBX] & 0x810);
}

static void one_processor(void)
{
	open(true);
	ask(4, 0, 0xffffffff);
	CHECK_EQ(0, regs[EAX] >> 14);
	ask(0xb, 0, 0xffffffff);
	CHECK_EQ(1, regs[EBX]);
	CHECK_EQ(0x100, regs[ECX]);
	ask(0xb, 1, 0xffffffff);
	CHECK_EQ(1, regs[EBX]);
	CHECK_EQ(0x201, regs[ECX]);
	ask(0xb, 2, 0xffffffff);
	CHECK_EQ(0, regs[EBX]);
	CHECK_EQ(2, regs[ECX]);
}

/* This processor in a package of so many: the threads of a core have adjacent ids. */
static void check_package(bool hyper_threading, unsigned processor, unsigned processors,
			  unsigned threads, unsigned package_bits)
{
	u32 thread_bits = hyper_threading;

	open(hyper_threading);
	r.host.processor = processor;
	r.host.processors = processors;
	ask(1, 0, 0xffffffff);
	CHECK_EQ(1u << package_bits, regs[EBX] >> 16 & 0xff);
	CHECK(regs[EDX] & BIT(28));
	ask(0xb, 0, 0xffffffff);
	CHECK_EQ(thread_bits, regs[EAX]);
	CHECK_EQ(threads, regs[EBX]);
	CHECK_EQ(0x100, regs[ECX]);
	CHECK_EQ(0xffffffff, regs[EDX]);
	ask(0xb, 1, 0xffffffff);
	CHECK_EQ(package_bits, regs[EAX]);
	CHECK_EQ(processors, regs[EBX]);
	CHECK_EQ(0x201, regs[ECX]);
	/* Two L1, one L2, one L3: the processors that share it, and the possible number of
	 * cores. */
	for (u32 cache = 0; cache < 4; cache++) {
		u32 sharing = 1u << (cache == 3 ? package_bits : thread_bits);

		ask(4, cache, 0xffffffff);
		CHECK_EQ(sharing - 1, regs[EAX] >> 14 & 0xfff);
		CHECK_EQ((1u << (package_bits - thread_bits)) - 1, regs[EAX] >> 26);
	}
}

static void several_processors(void)
{
	check_package(true, 0, 2, 2, 1);
	check_package(true, 1, 2, 2, 1);
	check_package(true, 3, 4, 2, 2);
	check_package(true, 0, 3, 2, 2);
	check_package(true, 2, 3, 1, 2);
	check_package(true, 15, 16, 2, 4);
	check_package(false, 1, 2, 1, 1);
	check_package(false, 5, 6, 1, 3);
}

static void check_zero(u32 leaf)
{
	ask(leaf, 0, 0xffffffff);
	CHECK_EQ(0, regs[EAX] | regs[EBX] | regs[ECX] | regs[EDX], "leaf %#x", leaf);
}

/* SDM volume 2, "CPUID": the data of the highest basic leaf. */
static void above_the_highest_leaf_is_the_highest_basic_one(void)
{
	open(false);
	CHECK_EQ(0xd, model_cpuid_leaf(&r.m, 0xd));
	CHECK_EQ(0xd, model_cpuid_leaf(&r.m, 0xe));
	CHECK_EQ(0xd, model_cpuid_leaf(&r.m, 0x23));
	CHECK_EQ(0xd, model_cpuid_leaf(&r.m, 0x40000000));
	CHECK_EQ(0xd, model_cpuid_leaf(&r.m, 0x80000009));
	CHECK_EQ(0x80000008, model_cpuid_leaf(&r.m, 0x80000008));
}

static void nothing_of_amd_nor_of_a_hypervisor(void)
{
	static const u32 empty[] = {
		0xe, 0x14, 0x1f, 0x23, 0x3fffffff, 0x40000000, 0x40000001, 0x400000ff, 0x4fffffff,
		0x80000005, 0x80000009, 0x8000000a, 0x80000019, 0x8000001d, 0x8000001e, 0x8000001f,
		0x8fffffff, 0xc0000000, 0xffffffff,
	};

	open(true);
	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
		check_zero(empty[i]);
	ask(0x80000000, 0, 0xffffffff);
	CHECK_EQ(0x80000008, regs[EAX]);
	CHECK_EQ(0, regs[EBX] | regs[ECX] | regs[EDX]);
	ask(0x80000001, 0, 0xffffffff);
	CHECK_EQ(0x21, regs[ECX], "no SVM");
	CHECK_EQ(0x2c100800, regs[EDX]);
	ask(0x80000008, 0, 0xffffffff);
	CHECK_EQ(0xffff, regs[EAX]);
	CHECK_EQ(0, regs[EBX] | regs[ECX] | regs[EDX]);
}

int main(void)
{
	RUN(vendor);
	RUN(signature_and_features);
	RUN(brand);
	RUN(performance_monitoring);
	RUN(transactions);
	RUN(one_processor);
	RUN(several_processors);
	RUN(above_the_highest_leaf_is_the_highest_basic_one);
	RUN(nothing_of_amd_nor_of_a_hypervisor);
	RUN(each_generation_has_its_own);
	RUN(caches);
	return check_end();
}
