/* SPDX-License-Identifier: MIT */
/*
 * Parts of NetBurst's model that no fault changes: the 32-bit form of DS area and record (Figures
 * 17-5 to 17-7), two logical processors that sample at the same time, what seeds may change, and
 * reserved bits.
 */
#include "host/check.h"
#include "host/model/netburst_fixture.h"

#include <string.h>

#define COUNTER16	0x310
#define CCCR16		0x370
#define MY		BIT(25)
#define TOP		BITS(0, 39)

static struct netburst_fixture r;

static void open(u64 seed)
{
	const struct model_config config = {
		.generation = GEN_NETBURST, .hyper_threading = true, .latitude.seed = seed,
	};

	nbfixture_open_config(&r, &config, true);
}

/* From here on the PEBS counter of logical processor t samples its tagged loads. */
static void sample_loads(unsigned t, u64 from)
{
	nbfixture_set(&r, 0, 0x3bc + t, 2ULL << 25 | 2 << 9 | 15);
	nbfixture_set(&r, 0, 0x3cc + t, 8ULL << 25 | 1 << 9 | (t ? 3 : 12));
	nbfixture_set(&r, 0, COUNTER16 + t, from);
	nbfixture_set(&r, 0, CCCR16 + t, BIT(12) | 5ULL << 13 | 3ULL << 16);
}

/* 32-bit form: base 10H, index 14H, maximum 18H, threshold 1CH, reset 20H; records of 28H. */
static void records_outside_ia_32e_mode(void)
{
	static const unsigned order[8] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
					   REG_RBP, REG_RSP };
	struct model_config config = { .generation = GEN_NETBURST, .hyper_threading = true };
	struct model_registers regs;
	u64 ip;

	config.latitude.set = BIT(LAT_DS_FOLLOWS_MODE);
	config.latitude.value[LAT_DS_FOLLOWS_MODE] = 1;
	nbfixture_open_config(&r, &config, true);
	r.legacy = true;
	nbfixture_poke(&r, NBFIXTURE_DS(0) + 0x10, NBFIXTURE_BUFFER(0), 4);
	nbfixture_poke(&r, NBFIXTURE_DS(0) + 0x14, NBFIXTURE_BUFFER(0), 4);
	nbfixture_poke(&r, NBFIXTURE_DS(0) + 0x18, NBFIXTURE_BUFFER(0) + 3 * 0x28, 4);
	nbfixture_poke(&r, NBFIXTURE_DS(0) + 0x1c, NBFIXTURE_BUFFER(0) + 2 * 0x28, 4);
	nbfixture_poke(&r, NBFIXTURE_DS(0) + 0x20, TOP - 1, 8);
	nbfixture_set(&r, 0, 0x600, NBFIXTURE_DS(0));
	nbfixture_set(&r, 0, 0x3f1, MY);
	sample_loads(0, TOP);
	regs = r.regs[0];
	ip = r.ip[0];
	nbfixture_load(&r, 0, NBFIXTURE_DATA);
	CHECK_EQ(NBFIXTURE_BUFFER(0) + 0x28, nbfixture_peek(&r, NBFIXTURE_DS(0) + 0x14, 4),
		 "the index");
	CHECK_EQ(TOP - 1, nbfixture_get(&r, 0, COUNTER16), "a reset value of 40 bits");
	CHECK_EQ(regs.rflags, nbfixture_peek(&r, NBFIXTURE_BUFFER(0), 4));
	CHECK_EQ(ip, nbfixture_peek(&r, NBFIXTURE_BUFFER(0) + 4, 4));
	for (unsigned i = 0; i < 8; i++)
		CHECK_EQ((u32)regs.gpr[order[i]],
			 nbfixture_peek(&r, NBFIXTURE_BUFFER(0) + 8 + 4 * i, 4), "register %u", i);
	CHECK_EQ(0, nbfixture_peek(&r, NBFIXTURE_BUFFER(0) + 0x28, 8), "after the record");
	CHECK_EQ(0, r.requests[0]);
	nbfixture_load(&r, 0, NBFIXTURE_DATA);
	nbfixture_load(&r, 0, NBFIXTURE_DATA);
	CHECK_EQ(1, r.requests[0], "the threshold");
	/* After a change of the mode the form is that of the new mode. */
	r.legacy = false;
	nbfixture_ds(&r, 2, 2, TOP);
	nbfixture_set(&r, 0, COUNTER16, TOP);
	nbfixture_load(&r, 0, NBFIXTURE_DATA);
	CHECK_EQ(1, nbfixture_records(&r, 0));
}

/* Bits 25 and 26 of MSR_PEBS_ENABLE, when T0 has set "my thread". */
static void how_the_enables_read(void)
{
	struct model_config config = { .generation = GEN_NETBURST, .hyper_threading = true };

	config.latitude.set = BIT(LAT_PEBS_BITS_READ);
	for (u32 literal = 0; literal < 2; literal++) {
		config.latitude.value[LAT_PEBS_BITS_READ] = literal;
		nbfixture_open_config(&r, &config, true);
		nbfixture_set(&r, 0, 0x3f1, MY);
		CHECK_EQ(MY, nbfixture_get(&r, 0, 0x3f1), "T0, %u", literal);
		CHECK_EQ(literal ? MY : BIT(26), nbfixture_get(&r, 1, 0x3f1), "T1, %u", literal);
		/* A write is relative to the writing processor. */
		nbfixture_set(&r, 1, 0x3f1, BIT(26));
		nbfixture_ds(&r, 2, 2, TOP - 1);
		sample_loads(0, TOP);
		nbfixture_load(&r, 0, NBFIXTURE_DATA);
		CHECK_EQ(1, nbfixture_records(&r, 0), "%u", literal);
	}
}

/* Each logical processor writes its own records, as many as it would write alone. */
static void both_sample_at_once(void)
{
	open(0);
	nbfixture_set(&r, 1, 0x3f1, MY | BIT(26));
	nbfixture_ds(&r, 9, 9, TOP - 2);
	sample_loads(0, TOP - 2);
	sample_loads(1, TOP - 2);
	for (unsigned i = 0; i < 6; i++) {
		nbfixture_load(&r, 0, NBFIXTURE_DATA);
		nbfixture_load(&r, 1, NBFIXTURE_DATA);
		nbfixture_load(&r, 1, NBFIXTURE_DATA);
	}
	CHECK_EQ(2, nbfixture_records(&r, 0));
	CHECK_EQ(4, nbfixture_records(&r, 1));
	for (unsigned i = 0; i < 2; i++)
		CHECK(nbfixture_record(&r, 0, i, 8) < 0x501000 &&
			      nbfixture_record(&r, 1, i, 8) >= 0x501000,
		      "record %u is of the other one", i);
}

/* Counts, flags and the number of interrupts don't depend on the seed; records may be as late as
 * the knob allows. */
#define LATITUDE(token, name, low, high, source) enum { LATEST_##token = (high) };
#include "refpmu/model/latitude.def"

static void seeds_keep_the_rules(void)
{
	for (u64 seed = 1; seed < 60; seed++) {
		u64 before;

		open(seed);
		nbfixture_set(&r, 0, 0x3b8, 2ULL << 25 | 3 << 9 | 8);
		nbfixture_set(&r, 0, 0x30c, TOP - 9);
		nbfixture_set(&r, 0, 0x36c, BIT(12) | 4ULL << 13 | 3ULL << 16 | BIT(26));
		before = nbfixture_get(&r, 0, 0x30c);
		nbfixture_nops(&r, 0, false, 40);
		CHECK_EQ(40, (nbfixture_get(&r, 0, 0x30c) - before) & TOP, "seed %u",
			 (unsigned)seed);
		CHECK(nbfixture_get(&r, 0, 0x36c) & BIT(31), "seed %u", (unsigned)seed);
		nbfixture_halt(&r, 0);
		CHECK_EQ(1, r.requests[0], "seed %u", (unsigned)seed);
		nbfixture_set(&r, 0, 0x36c, 0);

		nbfixture_set(&r, 0, 0x3f1, MY);
		nbfixture_ds(&r, 9, 9, 0);
		sample_loads(0, TOP);
		for (int i = 0; i < LATEST_RECORD_SHADOW + 2; i++)
			nbfixture_load(&r, 0, NBFIXTURE_DATA);
		CHECK_EQ(1, nbfixture_records(&r, 0), "seed %u", (unsigned)seed);
	}
}

/* The bits that a register keeps, with and without Hyper-Threading. */
static void reserved_bits(void)
{
	static const struct {
		u32 msr;
		u64 with, without;
	} registers[] = {
		{ 0x3b8, 0x7fffffff, 0x7ffffffc },	/* MSR_CRU_ESCR0 */
		{ 0x3e1, 0x7fffffff, 0x7ffffffc },	/* MSR_CRU_ESCR5 */
		{ 0x36c, 0xcffff800, 0xc7fff800 },	/* MSR_IQ_CCCR0: CASCNT4INTO0 */
		{ 0x36d, 0xcffff000, 0xc7fff000 },	/* MSR_IQ_CCCR1 */
		{ 0x370, 0xcffff800, 0xc7fff800 },
		{ 0x3f1, 0x07019fff, 0x03019fff },
		{ 0x3f2, 0x13, 0x13 },
	};

	for (unsigned ht = 0; ht < 2; ht++)
		for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
			u64 bits = ht ? registers[i].with : registers[i].without;

			nbfixture_open(&r, FAULT_NONE, ht);
			for (unsigned bit = 0; bit < 64; bit++)
				CHECK_EQ(bits & BIT(bit) ? MSR_DONE : MSR_GP,
					 nbfixture_wrmsr(&r, 0, registers[i].msr, BIT(bit)),
					 "bit %u of %#x", bit, registers[i].msr);
		}
	nbfixture_open(&r, FAULT_NONE, true);
	CHECK_EQ(MSR_NOT_OURS, model_rdmsr(&r.m[0], 0x3ba).status, "MSR_IQ_ESCR0");
	CHECK_EQ(MSR_GP, model_rdmsr(&r.m[0], 0x38f).status, "no IA32_PERF_GLOBAL_CTRL");
	CHECK_EQ(MSR_GP, model_rdmsr(&r.m[0], 0x0c1).status, "no IA32_PMC0");
}

/* One PMI for each flag; with both flags, both processors get one. */
static void interrupts_go_to_both(void)
{
	open(0);
	nbfixture_set(&r, 0, 0x3b8, 2ULL << 25 | 3 << 9 | 15);
	nbfixture_set(&r, 0, 0x30c, TOP);
	nbfixture_set(&r, 0, 0x36c, BIT(12) | 4ULL << 13 | 3ULL << 16 | BIT(26) | BIT(27));
	nbfixture_nops(&r, 1, true, 3);
	nbfixture_nops(&r, 0, false, 1);
	CHECK_EQ(1, r.requests[0]);
	CHECK_EQ(1, r.requests[1]);
}

int main(void)
{
	RUN(records_outside_ia_32e_mode);
	RUN(how_the_enables_read);
	RUN(both_sample_at_once);
	RUN(seeds_keep_the_rules);
	RUN(reserved_bits);
	RUN(interrupts_go_to_both);
	return check_end();
}
