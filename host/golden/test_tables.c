/* SPDX-License-Identifier: MIT */
/*
 * Golden values: the values that the manual's pages print, typed here by hand and never computed
 * from the tables, are compared with the tables of spec/. Without this, an error in spec/ would be
 * in the model that writes and in the decoder that reads, and the two would agree.
 *
 * SDM volume 3B (2016): Table 18-44 "PEBS Record Format for 4th Generation Intel Core Processor
 * Family", Figure 18-20 "IA32_PERF_GLOBAL_STATUS MSR", Figure 18-21 "Layout of IA32_PEBS_ENABLE
 * MSR", Figure 18-22 "PEBS Programming Environment", Table 18-1 (architectural events), Figures
 * 18-1, 18-2, 18-3, 18-6 to 18-9; volume 2 CPUID leaf 0AH.
 */
#include "host/check.h"

#include "spec/event.h"
#include "spec/msr.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct named {
	const char *name;
	unsigned value;
};

static const struct named record_rows[] = {
#define RECORD_FIELD(format, field, offset, size, title) { #format " " title, offset },
#include "spec/record.def"
};

static const struct named record_sizes[] = {
#define RECORD_FIELD(format, field, offset, size, title) { #format " " title, size },
#include "spec/record.def"
};

static const struct named record_lengths[] = {
#define RECORD_SIZE(format, bytes) { #format, bytes },
#include "spec/record.def"
};

static const struct named ds_rows[] = {
#define DS_FIELD(field, offset, title) { title, offset },
#include "spec/ds.def"
};

static const struct {
	const char *name;
	u32 leaf;
	char reg;
	unsigned lo, hi;
} cpuid_rows[] = {
#define CPUID_FIELD(name, leaf, subleaf, reg, lo, hi, source) { #name, leaf, #reg[1], lo, hi },
#include "spec/cpuid.def"
};

static int find(const struct named *rows, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i].name, name))
			return (int)rows[i].value;
	return -1;
}

/* Table 18-44, left column and right column as printed. */
static const struct named table_18_44[] = {
	{ "R/EFLAGS", 0x00 },	{ "R10", 0x60 },
	{ "R/EIP", 0x08 },	{ "R11", 0x68 },
	{ "R/EAX", 0x10 },	{ "R12", 0x70 },
	{ "R/EBX", 0x18 },	{ "R13", 0x78 },
	{ "R/ECX", 0x20 },	{ "R14", 0x80 },
	{ "R/EDX", 0x28 },	{ "R15", 0x88 },
	{ "R/ESI", 0x30 },	{ "IA32_PERF_GLOBAL_STATUS", 0x90 },
	{ "R/EDI", 0x38 },	{ "Data Linear Address", 0x98 },
	{ "R/EBP", 0x40 },	{ "Data Source Encoding", 0xa0 },
	{ "R/ESP", 0x48 },	{ "Latency value (core cycles)", 0xa8 },
	{ "R8", 0x50 },		{ "EventingIP", 0xb0 },
	{ "R9", 0x58 },		{ "TX Abort Information", 0xb8 },
};

static void format_2_is_table_18_44(void)
{
	unsigned fields = 0;

	for (size_t i = 0; i < COUNT(table_18_44); i++) {
		char name[64];

		snprintf(name, sizeof(name), "FMT2 %s", table_18_44[i].name);
		CHECK_EQ(table_18_44[i].value, find(record_rows, COUNT(record_rows), name), "%s",
			 name);
		CHECK_EQ(8, find(record_sizes, COUNT(record_sizes), name), "%s", name);
	}
	for (size_t i = 0; i < COUNT(record_rows); i++)
		fields += !strncmp(record_rows[i].name, "FMT2 ", 5);
	CHECK_EQ(24, fields, "rows of the table");
	CHECK_EQ(192, find(record_lengths, COUNT(record_lengths), "FMT2"), "0B8H + 8");
}

static void ds_area_is_figure_18_22(void)
{
	CHECK_EQ(0x00, find(ds_rows, COUNT(ds_rows), "BTS Buffer Base"));
	CHECK_EQ(0x08, find(ds_rows, COUNT(ds_rows), "BTS Index"));
	CHECK_EQ(0x10, find(ds_rows, COUNT(ds_rows), "BTS Absolute Maximum"));
	CHECK_EQ(0x18, find(ds_rows, COUNT(ds_rows), "BTS Interrupt Threshold"));
	CHECK_EQ(0x20, find(ds_rows, COUNT(ds_rows), "PEBS Buffer Base"));
	CHECK_EQ(0x28, find(ds_rows, COUNT(ds_rows), "PEBS Index"));
	CHECK_EQ(0x30, find(ds_rows, COUNT(ds_rows), "PEBS Absolute Maximum"));
	CHECK_EQ(0x38, find(ds_rows, COUNT(ds_rows), "PEBS Interrupt Threshold"));
	CHECK_EQ(0x40, find(ds_rows, COUNT(ds_rows), "PEBS Counter0 Reset"));
	CHECK_EQ(0x48, find(ds_rows, COUNT(ds_rows), "PEBS Counter1 Reset"));
	CHECK_EQ(0x50, find(ds_rows, COUNT(ds_rows), "PEBS Counter2 Reset"));
	CHECK_EQ(0x58, find(ds_rows, COUNT(ds_rows), "PEBS Counter3 Reset"));
	CHECK_EQ(12, COUNT(ds_rows));
}

static void msr_addresses_are_the_printed_ones(void)
{
	CHECK_EQ(0x0c1, MSR_IA32_PMC0);
	CHECK_EQ(0x186, MSR_IA32_PERFEVTSEL0);
	CHECK_EQ(0x1a0, MSR_IA32_MISC_ENABLE);
	CHECK_EQ(0x1d9, MSR_IA32_DEBUGCTL);
	CHECK_EQ(0x309, MSR_IA32_FIXED_CTR0);
	CHECK_EQ(0x345, MSR_IA32_PERF_CAPABILITIES);
	CHECK_EQ(0x38d, MSR_IA32_FIXED_CTR_CTRL);
	CHECK_EQ(0x38e, MSR_IA32_PERF_GLOBAL_STATUS);
	CHECK_EQ(0x38f, MSR_IA32_PERF_GLOBAL_CTRL);
	CHECK_EQ(0x390, MSR_IA32_PERF_GLOBAL_OVF_CTRL);
	CHECK_EQ(0x3f1, MSR_IA32_PEBS_ENABLE);
	CHECK_EQ(0x3f6, MSR_PEBS_LD_LAT_THRESHOLD);
	CHECK_EQ(0x4c1, MSR_IA32_A_PMC0);
	CHECK_EQ(0x600, MSR_IA32_DS_AREA);
}

/* Figures 18-1 and 18-6: 7:0 event, 15:8 umask, then a bit each, 31:24 counter mask. */
static void event_select_is_figure_18_6(void)
{
	CHECK_EQ(0x000000ff, IA32_PERFEVTSEL_EVENT);
	CHECK_EQ(0x0000ff00, IA32_PERFEVTSEL_UMASK);
	CHECK_EQ(0x00010000, IA32_PERFEVTSEL_USR);
	CHECK_EQ(0x00020000, IA32_PERFEVTSEL_OS);
	CHECK_EQ(0x00040000, IA32_PERFEVTSEL_E);
	CHECK_EQ(0x00080000, IA32_PERFEVTSEL_PC);
	CHECK_EQ(0x00100000, IA32_PERFEVTSEL_INT);
	CHECK_EQ(0x00200000, IA32_PERFEVTSEL_ANY);
	CHECK_EQ(0x00400000, IA32_PERFEVTSEL_EN);
	CHECK_EQ(0x00800000, IA32_PERFEVTSEL_INV);
	CHECK_EQ(0xff000000, IA32_PERFEVTSEL_CMASK);
	CHECK_EQ(24, IA32_PERFEVTSEL_CMASK_SHIFT);
	CHECK_EQ(8, IA32_PERFEVTSEL_UMASK_SHIFT);
}

/* Figure 18-7: bits 11:8, 7:4, 3:0 of fixed counters 2, 1, 0; PMI highest, AnyThread below. */
static void fixed_control_is_figure_18_7(void)
{
	CHECK_EQ(0x003, IA32_FIXED_CTR_CTRL_EN0);
	CHECK_EQ(0x004, IA32_FIXED_CTR_CTRL_ANY0);
	CHECK_EQ(0x008, IA32_FIXED_CTR_CTRL_PMI0);
	CHECK_EQ(0x030, IA32_FIXED_CTR_CTRL_EN1);
	CHECK_EQ(0x040, IA32_FIXED_CTR_CTRL_ANY1);
	CHECK_EQ(0x080, IA32_FIXED_CTR_CTRL_PMI1);
	CHECK_EQ(0x300, IA32_FIXED_CTR_CTRL_EN2);
	CHECK_EQ(0x400, IA32_FIXED_CTR_CTRL_ANY2);
	CHECK_EQ(0x800, IA32_FIXED_CTR_CTRL_PMI2);
}

/* Figure 18-20: OVF_PC0 at bit 0, OVF_FC0 to 2 at 32 to 34, and Ice Lake's fourth at 35; Figure
 * 18-9: 61, 62, 63. */
static void global_status_is_figure_18_20(void)
{
	CHECK_EQ(0, IA32_PERF_GLOBAL_STATUS_OVF_PMC_SHIFT);
	CHECK_EQ(0x0000007f00000000, IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR);
	CHECK_EQ(0x2000000000000000, IA32_PERF_GLOBAL_STATUS_OVF_UNCORE);
	CHECK_EQ(0x4000000000000000, IA32_PERF_GLOBAL_STATUS_OVF_BUF);
	CHECK_EQ(0x8000000000000000, IA32_PERF_GLOBAL_STATUS_COND_CHGD);
	CHECK_EQ(0x0000007f00000000, IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_FIXED_CTR);
	CHECK_EQ(0x4000000000000000, IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF);
	CHECK_EQ(0x8000000000000000, IA32_PERF_GLOBAL_OVF_CTRL_CLR_COND_CHGD);
	CHECK_EQ(0x0000007f00000000, IA32_PERF_GLOBAL_CTRL_EN_FIXED_CTR);
	CHECK_EQ(0, IA32_PERF_GLOBAL_CTRL_EN_PMC_SHIFT);
}

/* Figure 18-21: PEBS_EN_PMC0-3 at 3:0, LL_EN_PMC0-3 at 35:32; Ice Lake: eight at 7:0; Lion
 * Cove: ten at 9:0, fixed counters at 38:32. */
static void pebs_enable_is_figure_18_21(void)
{
	CHECK_EQ(0x000003ff, IA32_PEBS_ENABLE_PEBS_EN_PMC);
	CHECK_EQ(0x0000007f00000000, IA32_PEBS_ENABLE_PEBS_EN_FIXED_CTR);
	CHECK_EQ(0x0000000f00000000, IA32_PEBS_ENABLE_LL_EN_PMC);
}

/*
 * "to enable load latency on counter IA32_PMC0, the IA32_PEBS_ENABLE register must be programmed
 * with the 64-bit value 00000001_00000001H"
 */
static void load_latency_value_is_the_printed_one(void)
{
	CHECK_EQ(0x0000000100000001,
		 BIT(IA32_PEBS_ENABLE_PEBS_EN_PMC_SHIFT) | BIT(IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT));
}

/* Figure 18-23: threshold in 15:0. */
static void latency_threshold_is_figure_18_23(void)
{
	CHECK_EQ(0xffff, PEBS_LD_LAT_THRESHOLD_THRESHOLD);
}

/* IA32_PERF_CAPABILITIES: trap 6, architectural registers 7, format 11:8, SMM freeze 12, FW 13. */
static void capabilities_are_the_printed_ones(void)
{
	CHECK_EQ(0x003f, IA32_PERF_CAPABILITIES_LBR_FMT);
	CHECK_EQ(0x0040, IA32_PERF_CAPABILITIES_PEBS_TRAP);
	CHECK_EQ(0x0080, IA32_PERF_CAPABILITIES_PEBS_ARCH_REG);
	CHECK_EQ(0x0f00, IA32_PERF_CAPABILITIES_PEBS_FMT);
	CHECK_EQ(0x1000, IA32_PERF_CAPABILITIES_SMM_FREEZE);
	CHECK_EQ(0x2000, IA32_PERF_CAPABILITIES_FW_WRITE);
}

static void debugctl_and_misc_enable_are_the_printed_ones(void)
{
	CHECK_EQ(0x0800, IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI);
	CHECK_EQ(0x1000, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	CHECK_EQ(0x0080, IA32_MISC_ENABLE_PERFMON_AVAILABLE);
	CHECK_EQ(0x0800, IA32_MISC_ENABLE_BTS_UNAVAILABLE);
	CHECK_EQ(0x1000, IA32_MISC_ENABLE_PEBS_UNAVAILABLE);
}

/* Table 18-1 prints umask and event select; Haswell's event tables print the others. */
static void event_codes_are_the_printed_ones(void)
{
	CHECK_EQ(0x003c, EVENT_UNHALTED_CORE_CYCLES);
	CHECK_EQ(0x00c0, EVENT_INST_RETIRED_ANY_P);
	CHECK_EQ(0x013c, EVENT_UNHALTED_REF_CYCLES);
	CHECK_EQ(0x4f2e, EVENT_LONGEST_LAT_CACHE_REFERENCE);
	CHECK_EQ(0x412e, EVENT_LONGEST_LAT_CACHE_MISS);
	CHECK_EQ(0x02a4, EVENT_TOPDOWN_BACKEND_BOUND);
	CHECK_EQ(0x0073, EVENT_TOPDOWN_BAD_SPECULATION);
	CHECK_EQ(0x019c, EVENT_TOPDOWN_FRONTEND_BOUND);
	CHECK_EQ(0x02c2, EVENT_TOPDOWN_RETIRING);
	CHECK_EQ(0x01e4, EVENT_LBR_INSERTS);
	CHECK_EQ(0x00c4, EVENT_BR_INST_RETIRED_ALL_BRANCHES);
	CHECK_EQ(0x00c5, EVENT_BR_MISP_RETIRED_ALL_BRANCHES);
	CHECK_EQ(0x01c0, EVENT_INST_RETIRED_PREC_DIST);
	CHECK_EQ(0x01c4, EVENT_BR_INST_RETIRED_CONDITIONAL);
	CHECK_EQ(0x02c4, EVENT_BR_INST_RETIRED_NEAR_CALL);
	CHECK_EQ(0x04c4, EVENT_BR_INST_RETIRED_ALL_BRANCHES_PEBS);
	CHECK_EQ(0x08c4, EVENT_BR_INST_RETIRED_NEAR_RETURN);
	CHECK_EQ(0x20c4, EVENT_BR_INST_RETIRED_NEAR_TAKEN);
	CHECK_EQ(0x04c5, EVENT_BR_MISP_RETIRED_ALL_BRANCHES_PEBS);
	CHECK_EQ(0x21d0, EVENT_MEM_UOPS_RETIRED_LOCK_LOADS);
	CHECK_EQ(0x81d0, EVENT_MEM_UOPS_RETIRED_ALL_LOADS);
	CHECK_EQ(0x82d0, EVENT_MEM_UOPS_RETIRED_ALL_STORES);
}

static void check_cpuid(const char *name, u32 leaf, char reg, unsigned lo, unsigned hi)
{
	for (size_t i = 0; i < COUNT(cpuid_rows); i++) {
		if (strcmp(cpuid_rows[i].name, name))
			continue;
		CHECK_EQ(leaf, cpuid_rows[i].leaf, "%s", name);
		CHECK_EQ(reg, cpuid_rows[i].reg, "%s", name);
		CHECK_EQ(lo, cpuid_rows[i].lo, "%s", name);
		CHECK_EQ(hi, cpuid_rows[i].hi, "%s", name);
		return;
	}
	CHECK(false, "no row %s", name);
}

/* Registers by their letter: A is EAX. */
static void cpuid_fields_are_the_printed_ones(void)
{
	check_cpuid("PERFMON_VERSION", 0x0a, 'A', 0, 7);
	check_cpuid("GP_COUNTERS", 0x0a, 'A', 8, 15);
	check_cpuid("GP_WIDTH", 0x0a, 'A', 16, 23);
	check_cpuid("EVENTS_LENGTH", 0x0a, 'A', 24, 31);
	check_cpuid("EVENTS_ABSENT", 0x0a, 'B', 0, 6);
	check_cpuid("FIXED_COUNTERS", 0x0a, 'D', 0, 4);
	check_cpuid("FIXED_WIDTH", 0x0a, 'D', 5, 12);
	check_cpuid("DTES64", 0x01, 'C', 2, 2);
	check_cpuid("PDCM", 0x01, 'C', 15, 15);
	check_cpuid("DS", 0x01, 'D', 21, 21);
	check_cpuid("RTM", 0x07, 'B', 11, 11);
	check_cpuid("HLE", 0x07, 'B', 4, 4);
}

int main(void)
{
	RUN(format_2_is_table_18_44);
	RUN(ds_area_is_figure_18_22);
	RUN(msr_addresses_are_the_printed_ones);
	RUN(event_select_is_figure_18_6);
	RUN(fixed_control_is_figure_18_7);
	RUN(global_status_is_figure_18_20);
	RUN(pebs_enable_is_figure_18_21);
	RUN(load_latency_value_is_the_printed_one);
	RUN(latency_threshold_is_figure_18_23);
	RUN(capabilities_are_the_printed_ones);
	RUN(debugctl_and_misc_enable_are_the_printed_ones);
	RUN(event_codes_are_the_printed_ones);
	RUN(cpuid_fields_are_the_printed_ones);
	return check_end();
}
