/* SPDX-License-Identifier: MIT */
/*
 * Differences between generations up to Skylake (rules/icelake.c has later ones), with values typed
 * from the manual: sections on Nehalem, Westmere, Sandy Bridge, Ivy Bridge, Haswell, Broadwell and
 * Skylake of "Performance Monitoring".
 */
#include "host/check.h"
#include "host/model/fixture.h"

#define OLD	(BIT(GEN_NEHALEM) | BIT(GEN_WESTMERE))
#define SNB_IVB	(BIT(GEN_SANDYBRIDGE) | BIT(GEN_IVYBRIDGE))
#define HSW_BDW	(BIT(GEN_HASWELL) | BIT(GEN_BROADWELL))
#define SKL	BIT(GEN_SKYLAKE)
#define ALL	(OLD | SNB_IVB | HSW_BDW | SKL)
#define ADDRESS	(FIXTURE_MEMORY_BASE + 0x3000)
#define INT	IA32_PERFEVTSEL_INT

static struct fixture r;

static void open(unsigned generation, bool hyper_threading)
{
	const struct model_config config = {
		.generation = generation, .hyper_threading = hyper_threading,
	};

	fixture_open_config(&r, &config);
	fixture_ds(&r, 8, 8);
}

/* Check each generation, with two logical processors in a core. */
static void each(void (*check)(unsigned generation))
{
	for (unsigned g = 0; g < FIXTURE_GENERATIONS; g++) {
		open(g, true);
		check(g);
	}
}

static void check_registers(unsigned g)
{
	static const struct {
		u32 msr;
		u64 gens;
		const char *name;
	} registers[] = {
		{ 0x0c1, ALL, "IA32_PMC0" },
		{ 0x0c4, ALL, "IA32_PMC3" },
		{ 0x0c5, 0, "IA32_PMC4" },
		{ 0x18a, 0, "IA32_PERFEVTSEL4" },
		{ 0x4c1, ALL & ~OLD, "IA32_A_PMC0" },
		{ 0x4c5, 0, "IA32_A_PMC4" },
		{ 0x1a6, ALL, "MSR_OFFCORE_RSP_0" },
		{ 0x1a7, ALL & ~BIT(GEN_NEHALEM), "MSR_OFFCORE_RSP_1" },
		{ 0x309, ALL, "IA32_FIXED_CTR0" }, { 0x30b, ALL, "IA32_FIXED_CTR2" },
		{ 0x30c, 0, "IA32_FIXED_CTR3" }, { 0x345, ALL, "IA32_PERF_CAPABILITIES" },
		{ 0x38d, ALL, "IA32_FIXED_CTR_CTRL" }, { 0x38e, ALL, "IA32_PERF_GLOBAL_STATUS" },
		{ 0x38f, ALL, "IA32_PERF_GLOBAL_CTRL" },
		{ 0x390, ALL, "IA32_PERF_GLOBAL_OVF_CTRL" },
		{ 0x391, OLD | SKL, "MSR_UNCORE_PERF_GLOBAL_CTRL, ..._STATUS_SET" },
		{ 0x392, OLD | SKL, "MSR_UNCORE_PERF_GLOBAL_STATUS, ..._INUSE" },
		{ 0x10f, 0, "IA32_TSX_FORCE_ABORT" }, { 0x3f7, SKL, "MSR_PEBS_FRONTEND" },
		{ 0x1c8, ALL, "MSR_LBR_SELECT" }, { 0x1c9, ALL, "MSR_LASTBRANCH_TOS" },
		{ 0x40, 0, "Core 2's MSR_LASTBRANCH_0_FROM_IP" },
		{ 0x63, 0, "its MSR_LASTBRANCH_3_TO_LIP" },
		{ 0x680, ALL, "MSR_LASTBRANCH_0_FROM_IP" },
		{ 0x6cf, ALL, "MSR_LASTBRANCH_15_TO_IP" },
		{ 0xdc0, SKL, "MSR_LBR_INFO_0" }, { 0xe01, SKL, "MSR_UNC_PERF_GLOBAL_CTRL" },
		{ 0xe02, SKL, "MSR_UNC_PERF_GLOBAL_STATUS" },
		{ 0x393, OLD, "MSR_UNCORE_PERF_GLOBAL_OVF_CTRL" },
		{ 0x394, OLD, "MSR_UNCORE_FIXED_CTR0" },
		{ 0x395, OLD, "MSR_UNCORE_FIXED_CTR_CTRL" },
		{ 0x396, OLD, "MSR_UNCORE_ADDR_OPCODE_MATCH" },
		{ 0x3b0, OLD, "MSR_UNCORE_PMC0" }, { 0x3b7, OLD, "MSR_UNCORE_PMC7" },
		{ 0x3c0, OLD, "MSR_UNCORE_PERFEVTSEL0" }, { 0x3c7, OLD, "MSR_UNCORE_PERFEVTSEL7" },
		{ 0x3f1, ALL, "IA32_PEBS_ENABLE" }, { 0x3f6, ALL, "MSR_PEBS_LD_LAT_THRESHOLD" },
		{ 0x600, ALL, "IA32_DS_AREA" },
	};

	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		CHECK_EQ(registers[i].gens & BIT(g) ? MSR_DONE : MSR_GP,
			 model_rdmsr(&r.m, registers[i].msr).status, "%s, generation %u",
			 registers[i].name, g);
}

/* After sixteen FROM registers there are registers of other facilities
 * (MSR_CORE_PERF_LIMIT_REASONS), which the model doesn't have; after sixteen TO registers there is
 * none up to IA32_TSC_DEADLINE. */
static void check_branch_entries(unsigned g)
{
	enum msr_status after = BIT(g) & SKL ? MSR_DONE : MSR_NOT_OURS;

	CHECK_EQ(after, model_rdmsr(&r.m, 0x690).status, "generation %u", g);
	CHECK_EQ(BIT(g) & SKL ? MSR_DONE : MSR_GP, model_rdmsr(&r.m, 0x6df).status, "generation %u",
		 g);
	CHECK_EQ(MSR_NOT_OURS, model_rdmsr(&r.m, 0x6a0).status, "generation %u", g);
	CHECK_EQ(MSR_NOT_OURS, model_rdmsr(&r.m, 0x6e0).status, "generation %u", g);
	for (unsigned i = 0; i < 5; i++) {
		bool index = i < (BIT(g) & SKL ? 5 : 4);

		CHECK_EQ(index ? MSR_DONE : MSR_GP, model_wrmsr(&r.m, 0x1c9, BIT(i)).status);
	}
	CHECK_EQ(BIT(g) & (HSW_BDW | SKL) ? MSR_DONE : MSR_GP,
		 model_wrmsr(&r.m, 0x1c8, BIT(9)).status, "call-stack mode, generation %u", g);
}

/* Each bit separately: exactly the existing bits are accepted. */
static void check_bits(unsigned g)
{
	/* LBR, BTF, TR, BTS, BTINT, two filters, two freezes, uncore, SMM. */
	const u64 debugctl = 0x7fc3;
	const struct {
		u32 msr;
		u64 bits;
	} registers[] = {
		{ 0x3f1, BIT(g) & SNB_IVB ? 0x800000000000000f | 0xfULL << 32 : 0xf0000000f },
		{ 0x3f6, 0xffff },
		{ 0x38f, 0x70000000f },
		{ 0x38d, 0xfff },
		{ 0x1a6, BIT(g) & OLD ? 0xffff : 0x3fffffffff },
		{ 0x1d9, debugctl },
		{ 0x309, BITS(0, 47) },
		{ 0x186, BITS(0, 31) },
	};

	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		u64 taken = 0;

		for (unsigned bit = 0; bit < 64; bit++)
			if (model_wrmsr(&r.m, registers[i].msr, BIT(bit)).status == MSR_DONE)
				taken |= BIT(bit);
		if (r.m.config.generation >= GEN_HASWELL)
			taken &= ~(registers[i].msr == 0x1d9 ? BIT(15) : 0) &
				 ~(registers[i].msr == 0x186 ? BITS(32, 33) : 0);
		CHECK_EQ(registers[i].bits, taken, "MSR %#x, generation %u", registers[i].msr, g);
	}
}

/* LBR format 3 (4 with TSX information, 5 with INFO registers), trap-like, format 1 to 3, SMM
 * freeze, full width. */
static void check_capabilities(unsigned g)
{
	u64 wanted = BIT(g) & OLD     ? 0x11c3 :
		     BIT(g) & SNB_IVB ? 0x31c3 :
		     BIT(g) & SKL     ? 0x33c5 :
					0x32c4;

	CHECK_EQ(wanted, fixture_get(&r, 0x345), "generation %u", g);
	CHECK_EQ(BIT(7), fixture_get(&r, 0x1a0) & (BIT(7) | BIT(12)), "perfmon and PEBS available");
}

/* Without hyper-threading Sandy Bridge and later have eight counters, Nehalem four. */
static void counters_without_hyper_threading(void)
{
	for (unsigned g = 0; g < FIXTURE_GENERATIONS; g++) {
		bool eight = !(BIT(g) & OLD);

		open(g, false);
		CHECK_EQ(eight ? 8 : 4, r.gp, "generation %u", g);
		CHECK_EQ(eight ? MSR_DONE : MSR_GP, model_rdmsr(&r.m, 0xc8).status);
		CHECK_EQ(eight ? MSR_DONE : MSR_GP, model_rdpmc(&r.m, 7).status);
		CHECK_EQ(eight ? MSR_DONE : MSR_GP, model_wrmsr(&r.m, 0x38f, BIT(7)).status);
		CHECK_EQ(eight ? MSR_DONE : MSR_GP, model_wrmsr(&r.m, 0x390, BIT(7)).status);
	}
}

/* Branches are precise on every generation, on each of four counters. */
static void check_records(unsigned g)
{
	const unsigned size = BIT(g) & SKL ? 0xc8 : BIT(g) & HSW_BDW ? 0xc0 : 0xb0;

	for (unsigned n = 0; n < 4; n++) {
		open(g, true);
		memset(r.memory + 0x1000, 0x5e, 0x1000);
		fixture_program_pebs(&r, n, EVENT_BR_INST_RETIRED_CONDITIONAL, 0, 2);
		fixture_start(&r, BIT(n));
		for (unsigned i = 0; i < 3; i++)
			fixture_branch(&r, BRANCH_CONDITIONAL, true);
		CHECK_EQ(FIXTURE_BUFFER + size, fixture_index(&r), "generation %u, PMC%u", g, n);
		CHECK_EQ(r.ip, fixture_record(&r, 0, 0x08));
		CHECK_EQ(r.regs.gpr[REG_RBX], fixture_record(&r, 0, 0x18));
		CHECK_EQ(r.regs.gpr[REG_R15], fixture_record(&r, 0, 0x88));
		CHECK_EQ(BIT(n), fixture_record(&r, 0, 0x90));
		CHECK_EQ(size >= 0xc0 ? r.ip - 4 : 0x5e5e5e5e5e5e5e5e, fixture_record(&r, 0, 0xb0));
		CHECK_EQ(0, fixture_record(&r, 0, 0x98) | fixture_record(&r, 0, 0xa0) |
				    fixture_record(&r, 0, 0xa8));
	}
}

/* 01C0H: an ordinary precise event on Nehalem, precise distribution on PMC1 later. */
static void check_precise_distribution(unsigned g)
{
	const u64 ip = r.ip;
	bool old = BIT(g) & OLD;

	fixture_program_pebs(&r, 1, 0x01c0, 0, 5);
	fixture_program(&r, 2, 0x01c0, 0, 0);
	fixture_start(&r, BIT(1) | BIT(2));
	fixture_nops(&r, 5);
	CHECK_EQ(old ? 0 : 1, fixture_records(&r), "generation %u", g);
	fixture_nops(&r, 1);
	CHECK_EQ(1, fixture_records(&r), "generation %u", g);
	CHECK(fixture_record(&r, 0, 0x08) > ip);
	CHECK_EQ(old ? 6 : 0, fixture_get(&r, MSR_IA32_PMC0 + 2), "generation %u, PMC2", g);
}

/* 100BH is load latency on Nehalem and Westmere; 100H, as printed, is no event. */
static void check_load_latency_event(unsigned g)
{
	fixture_set(&r, 0x3f6, 3);
	fixture_program(&r, 0, 0x100b, 0, 0);
	fixture_program(&r, 1, 0x0100, 0, 0);
	fixture_program(&r, 3, 0x01cd, 0, 0);
	fixture_start(&r, BITS(0, 3));
	for (unsigned i = 0; i < 200; i++)
		fixture_load(&r, ADDRESS + 64 * (i % 8));
	CHECK(!fixture_get(&r, MSR_IA32_PMC0) == !(BIT(g) & OLD), "100BH, generation %u", g);
	CHECK_EQ(0, fixture_get(&r, MSR_IA32_PMC0 + 1), "100H, generation %u", g);
	CHECK(!fixture_get(&r, MSR_IA32_PMC0 + 3) == !(BIT(g) & ~OLD), "01CDH, generation %u", g);
}

/* While load latency is sampled, a second PEBS event makes records only up to Westmere. */
static void check_load_latency_alone(unsigned g)
{
	bool old = BIT(g) & OLD;

	fixture_set(&r, 0x3f6, 3);
	fixture_program_pebs(&r, 3, old ? 0x100b : 0x01cd, 0, 1000);
	fixture_program_pebs(&r, 0, EVENT_BR_INST_RETIRED_CONDITIONAL, INT, 2);
	fixture_set(&r, 0x3f1, BIT(0) | BIT(3) | BIT(35));
	fixture_start(&r, BIT(0) | BIT(3));
	for (unsigned i = 0; i < 3; i++)
		fixture_branch(&r, BRANCH_CONDITIONAL, true);
	CHECK_EQ(old, fixture_records(&r), "generation %u", g);
	CHECK_EQ(old ? 0 : BIT(0), fixture_status(&r), "generation %u", g);
	CHECK_EQ(1, r.requests, "generation %u: an overflow interrupt either way", g);
}

/* With a full buffer no seed makes Nehalem or Westmere signal; later generations may. */
static void full_buffer(void)
{
	unsigned signals[FIXTURE_GENERATIONS] = { 0 };

	for (unsigned g = 0; g < FIXTURE_GENERATIONS; g++)
		for (u64 seed = 0; seed < 40; seed++) {
			const struct model_config config = {
				.generation = g, .hyper_threading = true, .latitude.seed = seed,
			};

			fixture_open_config(&r, &config);
			signals[g] += r.m.latitude[LAT_FULL_BUFFER_SIGNAL];
		}
	CHECK_EQ(0, signals[GEN_NEHALEM] + signals[GEN_WESTMERE]);
	CHECK(signals[GEN_SANDYBRIDGE] && signals[GEN_HASWELL]);
}

/* Each bit is in its place and each cause in its register, in either order. */
static void core_and_uncore_coincide(void)
{
	open(GEN_WESTMERE, true);
	r.unmasks = true;
	fixture_set(&r, 0x1d9, BIT(13));
	fixture_set(&r, 0x395, 5);
	fixture_program(&r, 1, EVENT_INST_RETIRED_ANY_P, INT, 10);
	fixture_set(&r, 0x394, BITS(0, 47) - 10);
	fixture_set(&r, 0x391, BIT(32) | BIT(48));
	fixture_start(&r, BIT(1));
	fixture_nops(&r, 10);
	CHECK_STR("OVERFLOW1 UNCORE8", fixture_actions(&r));
	CHECK_EQ(2, r.n_interrupts);
	CHECK_EQ(BIT(1) | BIT(61), r.interrupt[0].status);
	CHECK_EQ(BIT(32) | BIT(61) | BIT(63), fixture_get(&r, 0x392));
	fixture_set(&r, 0x393, BIT(32) | BIT(61) | BIT(63));
	CHECK_EQ(BIT(1) | BIT(61), fixture_status(&r));
	fixture_set(&r, 0x390, BIT(61));
	CHECK_EQ(BIT(1), fixture_status(&r));
}

/* UNC_L3_MISS.READ with CMASK and edge counts 0, because there is no memory here; each counter
 * counts the clock. */
static void uncore_counts_in_either_bank(void)
{
	open(GEN_NEHALEM, true);
	fixture_set(&r, 0x3c0 + 7, 0x00400109);
	fixture_set(&r, 0x395, 1);
	fixture_set(&r, 0x391, BIT(7) | BIT(32));
	fixture_nops(&r, 50);
	CHECK_EQ(0, fixture_get(&r, 0x3b7));
	CHECK_EQ(50, fixture_get(&r, 0x394), "the write that starts it isn't counted");
	fixture_set(&r, 0x391, 0);
	CHECK_EQ(50, fixture_get(&r, 0x394), "nor the one that stops it");
	fixture_nops(&r, 5);
	CHECK_EQ(50, fixture_get(&r, 0x394));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x392, 0));
	CHECK_EQ(0, fixture_get(&r, 0x393));
	fixture_set(&r, 0x3c0, BIT(17));
	CHECK_EQ(0, fixture_get(&r, 0x3c0), "the reset of an occupancy reads as 0");
}

static void registers(void)
{
	each(check_registers);
}

static void branch_entries(void)
{
	each(check_branch_entries);
}

static void bits(void)
{
	each(check_bits);
}

static void capabilities(void)
{
	each(check_capabilities);
}

static void records(void)
{
	each(check_records);
}

static void precise_distribution(void)
{
	each(check_precise_distribution);
}

static void load_latency(void)
{
	each(check_load_latency_event);
	each(check_load_latency_alone);
}

int main(void)
{
	RUN(registers);
	RUN(branch_entries);
	RUN(bits);
	RUN(capabilities);
	RUN(counters_without_hyper_threading);
	RUN(records);
	RUN(precise_distribution);
	RUN(load_latency);
	RUN(full_buffer);
	RUN(core_and_uncore_coincide);
	RUN(uncore_counts_in_either_bank);
	return check_end();
}
