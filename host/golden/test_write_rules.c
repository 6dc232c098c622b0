/* SPDX-License-Identifier: MIT */
/*
 * The writes that each generation's registers accept, the writes that raise #GP, and the values
 * that are read back. Typed by hand from SDM Tables 35-2, 35-13 and 35-18, Figures 18-6 to 18-9,
 * 18-20, 18-21 and 18-23, "Counter Coalescence", "Full-Width Writes to Performance Counter
 * Registers", "Off-core Response Performance Monitoring" and the uncore's figures. Nothing here
 * comes from spec/ except the generations' numbers; registers are numbers on purpose.
 * Hyper-threading is on: four counters.
 */
#include "host/check.h"
#include "host/golden/no_host.h"

#include "refpmu/model/model.h"

static struct model model;

/* The letters of the generations that accept the write, oldest first; on the others it raises
 * #GP. */
struct rule {
	u32 msr;
	u64 value, reads;
	const char *taken_on;
};

#define ALL	"NWSIHB"
#define NHM	"NW"
#define SNB	"SIHB"
#define NONE	""

static const struct rule rules[] = {
	/* IA32_PMCx: EAX alone, bit 31 extended to 48 bits; IA32_A_PMCx in full, or not there. */
	{ 0x0c1, 0x0000000080000000, 0x0000ffff80000000, ALL },
	{ 0x0c4, 0x123456787fffffff, 0x000000007fffffff, ALL },
	{ 0x0c5, 0x0000000000000000, 0, NONE },
	{ 0x4c1, 0x0000123456789abc, 0x0000123456789abc, SNB },
	{ 0x4c1, 0x0001000000000000, 0, NONE },
	{ 0x4c5, 0x0000000000000000, 0, NONE },
	/* IA32_PERFEVTSELx: 31:0; 33:32 with TSX only, see below. */
	{ 0x186, 0x00000000ffffffff, 0x00000000ffffffff, ALL },
	{ 0x189, 0x00000000004301c2, 0x00000000004301c2, ALL },
	{ 0x187, 0x0000001000000000, 0, NONE },
	{ 0x188, 0x0000000100000000, 0, NONE },
	{ 0x188, 0x0000000200000000, 0, NONE },
	{ 0x18a, 0x0000000000000000, 0, NONE },
	/* Fixed counters: 48 bits; three fields of four bits. */
	{ 0x309, 0x0000ffffffffffff, 0x0000ffffffffffff, ALL },
	{ 0x30b, 0x0001000000000000, 0, NONE },
	{ 0x38d, 0x0000000000000fff, 0x0000000000000fff, ALL },
	{ 0x38d, 0x0000000000001000, 0, NONE },
	/* Global control: 3:0 and 34:32. */
	{ 0x38f, 0x000000070000000f, 0x000000070000000f, ALL },
	{ 0x38f, 0x0000000000000010, 0, NONE },
	{ 0x38f, 0x0000000800000000, 0, NONE },
	/* Status: read only; cleared through 390H: 3:0, 34:32, 61, 62, 63. */
	{ 0x38e, 0x0000000000000000, 0, NONE },
	{ 0x390, 0xe00000070000000f, 0, ALL },
	{ 0x390, 0x0000000000000010, 0, NONE },
	{ 0x390, 0x1000000000000000, 0, NONE },
	/* IA32_PEBS_ENABLE: 3:0 and 35:32 on all; 63 for precise store on two of them. */
	{ 0x3f1, 0x0000000100000001, 0x0000000100000001, ALL },
	{ 0x3f1, 0x0000000f0000000f, 0x0000000f0000000f, ALL },
	{ 0x3f1, 0x8000000000000008, 0x8000000000000008, "SI" },
	{ 0x3f1, 0x4000000000000008, 0, NONE },
	{ 0x3f1, 0x0000000000000010, 0, NONE },
	{ 0x3f1, 0x0000001000000000, 0, NONE },
	/* MSR_PEBS_LD_LAT_THRESHOLD: 15:0. */
	{ 0x3f6, 0x000000000000ffff, 0x000000000000ffff, ALL },
	{ 0x3f6, 0x0000000000000003, 0x0000000000000003, ALL },
	{ 0x3f6, 0x0000000000010000, 0, NONE },
	/* Off-core response: 15:0, and to bit 37 from Sandy Bridge on; one register on Nehalem. */
	{ 0x1a6, 0x000000000000f7ff, 0x000000000000f7ff, ALL },
	{ 0x1a6, 0x0000000000010001, 0x0000000000010001, SNB },
	{ 0x1a6, 0x0000002000000000, 0x0000002000000000, SNB },
	{ 0x1a6, 0x0000004000000000, 0, NONE },
	{ 0x1a7, 0x00000000000000ff, 0x00000000000000ff, "WSIHB" },
	/* IA32_PERF_CAPABILITIES: read only. IA32_DEBUGCTL: bits 5:2 and 63:16 reserved. */
	{ 0x345, 0x0000000000000000, 0, NONE },
	{ 0x1d9, 0x0000000000005800, 0x0000000000005800, ALL },
	{ 0x1d9, 0x0000000000000004, 0, NONE },
	{ 0x1d9, 0x0000000000010000, 0, NONE },
	/* IA32_DS_AREA: canonical. */
	{ 0x600, 0xffff800000001000, 0xffff800000001000, ALL },
	{ 0x600, 0x0000800000000000, 0, NONE },
	/* The uncore: control 7:0, 32, 51:48, 63; status read only; clear 7:0, 32, 61, 63. */
	{ 0x391, 0x000f0001000000ff, 0x000f0001000000ff, NHM },
	{ 0x391, 0x0000000000000100, 0, NONE },
	{ 0x392, 0x0000000000000000, 0, NONE },
	{ 0x393, 0xa0000001000000ff, 0, NHM },
	{ 0x394, 0x0000ffffffffffff, 0x0000ffffffffffff, NHM },
	{ 0x394, 0x0001000000000000, 0, NONE },
	{ 0x395, 0x0000000000000005, 0x0000000000000005, NHM },
	{ 0x395, 0x0000000000000002, 0, NONE },
	{ 0x3b7, 0x0000ffffffffffff, 0x0000ffffffffffff, NHM },
	{ 0x3c7, 0x00000000ffd4ffff, 0x00000000ffd4ffff, NHM },
	{ 0x3c0, 0x0000000000010000, 0, NONE },
	{ 0x3c0, 0x0000000100000000, 0, NONE },
};

static void each_write_is_taken_where_the_manual_says(void)
{
	for (unsigned g = 0; ALL[g]; g++) {
		struct model_config config = { .generation = (enum generation_id)g,
					       .hyper_threading = true };

		for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
			const struct rule *r = &rules[i];
			enum msr_status status;
			bool taken = strchr(r->taken_on, ALL[g]);

			model_init(&model, &config, &no_host);
			status = model_wrmsr(&model, r->msr, r->value).status;
			if (!taken) {
				CHECK(status != MSR_DONE, "%c: WRMSR %#x, %#llx is taken", ALL[g],
				      r->msr, (unsigned long long)r->value);
				continue;
			}
			CHECK_EQ(MSR_DONE, status, "%c: WRMSR %#x, %#llx", ALL[g], r->msr,
				 (unsigned long long)r->value);
			CHECK_EQ(r->reads, model_rdmsr(&model, r->msr).value, "%c: RDMSR %#x",
				 ALL[g], r->msr);
		}
	}
}

/* A refused write must change nothing: checks every register of a rule that some generation
 * refuses. */
static void what_is_refused_changes_nothing(void)
{
	for (unsigned g = 0; ALL[g]; g++) {
		struct model_config config = { .generation = (enum generation_id)g,
					       .hyper_threading = true };

		for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
			const struct rule *r = &rules[i];
			struct msr_result before;

			if (strchr(r->taken_on, ALL[g]))
				continue;
			model_init(&model, &config, &no_host);
			before = model_rdmsr(&model, r->msr);
			model_wrmsr(&model, r->msr, r->value);
			CHECK_EQ(before.value, model_rdmsr(&model, r->msr).value, "%c: %#x", ALL[g],
				 r->msr);
		}
	}
}

/* IA32_PERF_CAPABILITIES: branch records 5:0, 6 and 7, format 11:8, 12 SMM freeze, 13. */
static void capabilities_are_those_of_the_generation(void)
{
	static const u64 want[] = { 0x11c3, 0x11c3, 0x31c3, 0x31c3, 0x32c4, 0x32c4 };

	for (unsigned g = 0; ALL[g]; g++) {
		struct model_config config = { .generation = (enum generation_id)g };

		model_init(&model, &config, &no_host);
		CHECK_EQ(want[g], model_rdmsr(&model, 0x345).value, "%c", ALL[g]);
	}
}

/* CPUID.01H:EAX as the parts print it: family 6, DisplayModel, stepping. */
static void signatures_are_those_of_table_35_1(void)
{
	static const u32 want[] = { 0x106a5, 0x206c2, 0x206a7, 0x306a9, 0x306c3, 0x40671 };

	for (unsigned g = 0; ALL[g]; g++) {
		struct model_config config = { .generation = (enum generation_id)g,
					       .hyper_threading = true };
		u32 regs[4] = { 0 };

		model_init(&model, &config, &no_host);
		model_cpuid(&model, 1, 0, regs);
		CHECK_EQ(want[g], regs[0], "%c: CPUID.01H:EAX", ALL[g]);
		model_cpuid(&model, 0xa, 0, regs);
		CHECK_EQ(0x07300403, regs[0], "%c: version 3, 4 counters of 48 bits", ALL[g]);
		CHECK_EQ(0x603, regs[3] & 0x1fff, "%c: 3 fixed counters, 48 bits", ALL[g]);
	}
}

/*
 * A processor with CPUID.07H:EBX[11], "Performance Monitoring and Intel TSX": IN_TX is bit 32 of
 * each IA32_PERFEVTSELx, IN_TXCP bit 33 of IA32_PERFEVTSEL2. IA32_DEBUGCTL[15] is RTM_DEBUG.
 */
static void transactions_have_bits_of_their_own(void)
{
	static const struct rule with[] = {
		{ 0x186, 0x00000001000000c0, 0x00000001000000c0, "B" },
		{ 0x189, 0x00000001000000c0, 0x00000001000000c0, "B" },
		{ 0x188, 0x00000002000000c0, 0x00000002000000c0, "B" },
		{ 0x188, 0x00000003000000c0, 0x00000003000000c0, "B" },
		{ 0x186, 0x00000002000000c0, 0, NONE },
		{ 0x187, 0x00000002000000c0, 0, NONE },
		{ 0x189, 0x00000002000000c0, 0, NONE },
		{ 0x188, 0x00000004000000c0, 0, NONE },
		{ 0x1d9, 0x0000000000008000, 0x0000000000008000, "B" },
	};
	static struct tx_log log;
	struct model_host has_log = no_host;
	struct model_config config = { .generation = GEN_BROADWELL, .hyper_threading = true };

	has_log.tx_log = &log;
	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		const struct rule *r = &with[i];
		enum msr_status status;

		model_init(&model, &config, &has_log);
		status = model_wrmsr(&model, r->msr, r->value).status;
		CHECK_EQ(*r->taken_on ? MSR_DONE : MSR_GP, status, "WRMSR %#x, %#llx", r->msr,
			 (unsigned long long)r->value);
		if (*r->taken_on)
			CHECK_EQ(r->reads, model_rdmsr(&model, r->msr).value, "RDMSR %#x", r->msr);
	}
}

int main(void)
{
	RUN(each_write_is_taken_where_the_manual_says);
	RUN(what_is_refused_changes_nothing);
	RUN(capabilities_are_those_of_the_generation);
	RUN(signatures_are_those_of_table_35_1);
	RUN(transactions_have_bits_of_their_own);
	return check_end();
}
