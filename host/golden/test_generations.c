/* SPDX-License-Identifier: MIT */
/*
 * The values that the manual's pages print for each generation from Nehalem to Skylake, typed here
 * by hand and never computed from spec/. Table 35-1 (families and models), Table 18-23 (record),
 * Tables 18-24, 18-33, 18-34 and 18-46 (data source), Table 18-45 (events with an address), the
 * event selects of load latency and precise store, the uncore's registers, off-core response.
 */
#include "host/check.h"

#include "host/golden/format1_bytes.h"
#include "pmu/record.h"
#include "spec/data_source.h"
#include "spec/event.h"
#include "spec/generation.h"
#include "spec/lbr.h"
#include "spec/msr.h"
#include "claims/requirement.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* The generations, oldest first, each as one letter: Nehalem, Westmere, Sandy Bridge, ..., K
 * Skylake. */
#define GENERATIONS "NWSIHBK"

static const struct {
	const char *name;
	unsigned family, model, perfmon, gp, gp_no_ht, fixed, width, format, pebs, ll, facilities;
} generations[] = {
#define GENERATION(id, code, name, title, family, model, stepping, brand, perfmon, gp, gp_no_ht, \
		   fixed, width, max_leaf, lbr_fmt, pebs_format, pebs_mask, ll_mask, facilities, \
		   source) \
	{ name, family, model, perfmon, gp, gp_no_ht, fixed, width, pebs_format, pebs_mask, \
	  ll_mask, facilities },
#include "spec/generation.def"
};

static const struct {
	unsigned generation, family, model;
} models[] = {
#define GENERATION_MODEL(id, family, model, without) { GEN_##id, family, model },
#include "spec/generation.def"
};

static const struct {
	unsigned gens, code, flags, counters, kind;
} events[] = {
#define EVENT_ON(gens, name, flags, counters, sure, min_period, period_unit, source) \
	{ gens, EVENT_##name, flags, counters, EVENT_KIND_##name },
#include "spec/event.def"
};

static const struct {
	unsigned family, model, code, flags;
} lacks[] = {
#define EVENT_NOT_ON(family, model, name, flags, source) { family, model, EVENT_##name, flags },
#include "spec/event.def"
};

static const struct {
	unsigned gens, code, authority;
} sources[] = {
#define DATA_SOURCE(gens, code, outcome, authority, title, source) { gens, code, authority },
#include "spec/data_source.def"
};

static const struct {
	const char *facility;
	unsigned gens, lo, hi;
} source_fields[] = {
#define DATA_SOURCE_FIELD(gens, facility, field, lo, hi, title, source) { #facility, gens, lo, hi },
#include "spec/data_source.def"
};

static const struct {
	const char *name;
	unsigned evtsel, width;
} frontend[] = {
#define FRONTEND(name, evtsel, width, source) { #name, evtsel, width },
#include "spec/event.def"
};

struct row {
	const char *name;
	unsigned offset;
};

static const struct row format1_rows[] = {
#define ROW_FMT1(title, offset) { title, offset },
#define ROW_FMT2(title, offset)
#define ROW_FMT3(title, offset)
#define RECORD_FIELD(format, field, offset, size, title) ROW_##format(title, offset)
#include "spec/record.def"
};

#undef ROW_FMT1
#undef ROW_FMT3
static const struct row format3_rows[] = {
#define ROW_FMT1(title, offset)
#define ROW_FMT3(title, offset) { title, offset },
#define RECORD_FIELD(format, field, offset, size, title) ROW_##format(title, offset)
#include "spec/record.def"
};

/* The generations of a row as letters. */
static const char *letters(unsigned gens)
{
	static char text[9];
	unsigned n = 0;

	for (unsigned g = 0; GENERATIONS[g]; g++)
		if (gens & 1u << g)
			text[n++] = GENERATIONS[g];
	text[n] = 0;
	return text;
}

/* The generations that have this event, as letters, and the counters that can count it. */
static void check_event(unsigned code, const char *on, unsigned counters, unsigned flags)
{
	unsigned gens = 0;

	for (size_t i = 0; i < COUNT(events); i++) {
		if (events[i].code != code || (events[i].flags & flags) != flags ||
		    !*letters(events[i].gens))
			continue;
		gens |= events[i].gens;
		CHECK_EQ(counters, events[i].counters, "counters of event %#x", code);
	}
	CHECK_STR(on, letters(gens));
}

/* Table 35-1. */
static void models_are_those_of_table_35_1(void)
{
	static const struct {
		unsigned generation, model;
	} want[] = {
		{ 0, 0x1a }, { 0, 0x1e }, { 0, 0x1f }, { 0, 0x2e }, { 1, 0x25 },
		{ 1, 0x2c }, { 1, 0x2f }, { 2, 0x2a }, { 2, 0x2d }, { 3, 0x3a },
		{ 3, 0x3e }, { 4, 0x3c }, { 4, 0x45 }, { 4, 0x46 }, { 4, 0x3f },
		{ 5, 0x3d }, { 5, 0x47 }, { 5, 0x56 }, { 5, 0x4f }, { 6, 0x4e },
		{ 6, 0x5e }, { 6, 0x55 }, { 6, 0x8e }, { 6, 0x9e }, { 6, 0xa5 },
		{ 6, 0xa6 }, { 7, 0x7d }, { 7, 0x7e }, { 7, 0x9d }, { 7, 0x8c },
		{ 7, 0x8d }, { 7, 0xa7 }, { 8, 0x6a }, { 8, 0x6c }, { 9, 0x8f },
		{ 9, 0xcf }, { 10, 0xad }, { 10, 0xae }, { 11, 0x97 }, { 11, 0x9a },
		{ 11, 0xb7 }, { 11, 0xba }, { 11, 0xbf }, { 11, 0xd7 }, { 12, 0xaa },
		{ 12, 0xac }, { 12, 0xb5 }, { 13, 0xbe }, { 14, 0xaf }, { 14, 0xb6 },
		{ 15, 0xbd }, { 15, 0xc5 }, { 15, 0xc6 }, { 17, 0xcc }, { 17, 0xe5 },
		{ 17, 0xd5 }, { 18, 0xdd },
	};

	CHECK_EQ(20, COUNT(generations));
	CHECK_EQ(COUNT(want) + 3, COUNT(models), "and NetBurst's");
	for (size_t i = 0; i < COUNT(want); i++) {
		bool found = false;

		for (size_t k = 0; k < COUNT(models); k++)
			found |= models[k].family == 6 && models[k].model == want[i].model &&
				 models[k].generation == want[i].generation;
		CHECK(found, "06_%02xH", want[i].model);
	}
}

/* "Four general purpose performance counters", 48 bits; eight without hyper-threading from Sandy
 * Bridge on; version 3; record format 0001B, from the 4th generation on 0010B; Tables 18-53 and
 * 18-54: version 4 and 0011B of the 6th. */
static void counters_are_the_printed_ones(void)
{
	static const struct {
		const char *name;
		unsigned without, format, version;
	} want[] = {
		{ "nehalem", 4, 1, 3 },	  { "westmere", 4, 1, 3 }, { "sandybridge", 8, 1, 3 },
		{ "ivybridge", 8, 1, 3 }, { "haswell", 8, 2, 3 },  { "broadwell", 8, 2, 3 },
		{ "skylake", 8, 3, 4 },
	};

	for (size_t i = 0; i < COUNT(want); i++) {
		CHECK_STR(want[i].name, generations[i].name);
		CHECK_EQ(4, generations[i].gp);
		CHECK_EQ(want[i].without, generations[i].gp_no_ht);
		CHECK_EQ(3, generations[i].fixed);
		CHECK_EQ(48, generations[i].width);
		CHECK_EQ(want[i].version, generations[i].perfmon);
		CHECK_EQ(want[i].format, generations[i].format);
		CHECK_EQ(0xf, generations[i].pebs, "four PEBS enable bits");
		CHECK_EQ(0xf, generations[i].ll, "four load latency enable bits");
	}
}

static void facilities_are_where_the_pages_say(void)
{
	static const struct {
		unsigned facility;
		const char *on;
	} want[] = {
		{ FAC_LOAD_LATENCY, "NWSIHBK" }, { FAC_PRECISE_STORE, "SI" },
		{ FAC_DATALA, "HBK" },		{ FAC_PDIR, "SIHBK" },
		{ FAC_FW_WRITE, "SIHBK" },	{ FAC_OFFCORE, "NWSIHBK" },
		{ FAC_OFFCORE_2, "WSIHBK" },	{ FAC_OFFCORE_SNB, "SIHBK" },
		{ FAC_UNCORE, "NW" },		{ FAC_STLB_LOCK, "WSIHBK" },
		{ FAC_LL_ALONE, "SIHBK" },	{ FAC_LL_TAGGED, "SIHBK" },
	};

	for (size_t i = 0; i < COUNT(want); i++) {
		unsigned gens = 0;

		for (size_t g = 0; g < COUNT(generations); g++)
			if (generations[g].facilities & want[i].facility)
				gens |= 1u << g;
		CHECK_STR(want[i].on, letters(gens));
	}
}

/* The first rows of each table, and the rows after them. */
static void check_rows(const struct row *after, size_t n, const struct row *rows, size_t count)
{
	static const struct row registers[] = {
		{ "R/EFLAGS", 0x00 }, { "R/EIP", 0x08 }, { "R/EAX", 0x10 }, { "R/EBX", 0x18 },
		{ "R/ECX", 0x20 },    { "R/EDX", 0x28 }, { "R/ESI", 0x30 }, { "R/EDI", 0x38 },
		{ "R/EBP", 0x40 },    { "R/ESP", 0x48 }, { "R8", 0x50 },    { "R9", 0x58 },
		{ "R10", 0x60 },      { "R11", 0x68 },   { "R12", 0x70 },   { "R13", 0x78 },
		{ "R14", 0x80 },      { "R15", 0x88 },
	};

	CHECK_EQ(COUNT(registers) + n, count);
	for (size_t i = 0; i < COUNT(registers) + n && i < count; i++) {
		const struct row *want = i < COUNT(registers) ? &registers[i] :
								&after[i - COUNT(registers)];

		CHECK_STR(want->name, rows[i].name);
		CHECK_EQ(want->offset, rows[i].offset, "%s", want->name);
	}
}

/* Offsets and titles in the order of Table 18-23. */
static void format_1_is_table_18_23(void)
{
	static const struct row after[] = {
		{ "IA32_PERF_GLOBAL_STATUS", 0x90 },
		{ "Data Linear Address", 0x98 },
		{ "Data Source Encoding", 0xa0 },
		{ "Latency value (core cycles)", 0xa8 },
	};

	check_rows(after, COUNT(after), format1_rows, COUNT(format1_rows));
}

static u64 field(const struct pebs_record *record, enum record_field f)
{
	u64 value = 0;

	CHECK(record_get(record, f, &value), "%s", record_field_name(f));
	return value;
}

/* "0001B: ... load latency data" is the format of 176 bytes; it has no EventingIP. */
static void decoder_reads_format_1(void)
{
	enum record_format format;
	struct pebs_record r;
	u64 value;

	if (!CHECK(record_format_from_caps(1, &format)))
		return;
	CHECK_EQ(176, record_size(format));
	if (!CHECK(record_decode(format, golden_format1, sizeof(golden_format1), &r)))
		return;
	CHECK_EQ(0x247, field(&r, RECORD_rflags));
	CHECK_EQ(0x401003, field(&r, RECORD_rip));
	CHECK_EQ(0xa7a6a5a4a3a2a1a0, field(&r, RECORD_rax));
	CHECK_EQ(0xc7c6c5c4c3c2c1c0, field(&r, RECORD_rcx));
	CHECK_EQ(0x6766656463626160, field(&r, RECORD_rsp));
	CHECK_EQ(0x7f6f5f4f3f2f1f0f, field(&r, RECORD_r15));
	CHECK_EQ(0x0000000200000001, field(&r, RECORD_status));
	CHECK_EQ(0xffff800000002345, field(&r, RECORD_data_linear_address));
	CHECK_EQ(0x3c, field(&r, RECORD_data_source));
	CHECK_EQ(0x123, field(&r, RECORD_latency));
	CHECK(!record_get(&r, RECORD_eventing_ip, &value) &&
		      !record_get(&r, RECORD_tx_abort, &value),
	      "fields of format 2");
	CHECK(!record_decode(format, golden_format1, 175, &r), "a byte short");
}

/*
 * Table 18-24: 00H to 06H, 08H, 0AH to 0FH; 07H on 06_2AH and 06_2EH, of which the first is
 * Sandy Bridge; 09H is reserved.
 */
static void data_sources_are_table_18_24(void)
{
	static const char *const on[16] = {
		"NWSIHBK", "NWSIHBK", "NWSIHBK", "NWSIHBK", "NWSIHBK", "NWSIHBK", "NWSIHBK", "S",
		"NWSIHB", "", "NWSIHBK", "NWSIHB", "NWSIHB", "NWSIHB", "NWSIHBK", "NWSIHBK",
	};

	for (unsigned code = 0; code < 16; code++) {
		unsigned gens = 0;

		for (size_t i = 0; i < COUNT(sources); i++)
			if (sources[i].code == code && sources[i].authority == AUTH_TEXT)
				gens |= sources[i].gens;
		CHECK_STR(on[code], letters(gens));
	}
}

/* Bits of A0H that a facility defines on a generation. */
static u64 defined(const char *facility, unsigned generation)
{
	u64 bits = 0;

	for (size_t i = 0; i < COUNT(source_fields); i++)
		if (!strcmp(source_fields[i].facility, facility) &&
		    source_fields[i].gens & 1u << generation)
			bits |= BITS(source_fields[i].lo, source_fields[i].hi);
	return bits;
}

/* Table 18-33: 3:0, 4, 5; Nehalem 3:0 alone. Table 18-34: 0, 4, 5. Table 18-46: 0. */
static void data_source_bits_are_the_printed_ones(void)
{
	static const unsigned ll[] = { 0x0f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f };
	static const unsigned ps[] = { 0, 0, 0x31, 0x31, 0, 0, 0 };
	static const unsigned dla[] = { 0, 0, 0, 0, 0x01, 0x01, 0x01 };

	for (unsigned g = 0; g < 7; g++) {
		CHECK_EQ(ll[g], defined("LL", g), "load latency, %s", generations[g].name);
		CHECK_EQ(ps[g], defined("PS", g), "precise store, %s", generations[g].name);
		CHECK_EQ(dla[g], defined("DLA", g), "data address, %s", generations[g].name);
	}
	CHECK_EQ(0x10, DATA_SOURCE_LL_STLB_MISS);
	CHECK_EQ(0x20, DATA_SOURCE_LL_LOCK);
	CHECK_EQ(0x01, DATA_SOURCE_PS_L1D_HIT);
	CHECK_EQ(0x10, DATA_SOURCE_PS_STLB_MISS);
	CHECK_EQ(0x20, DATA_SOURCE_PS_LOCKED);
	CHECK_EQ(0x01, DATA_SOURCE_DLA_DCU_HIT);
}

/* 100BH, not the 100H that the page prints; 01CDH; 02CDH on IA32_PMC3; PDIR on IA32_PMC1. */
static void sampled_events_are_the_printed_ones(void)
{
	check_event(0x100b, "NW", 0xf, EV_PEBS | EV_LL);
	check_event(0x0100, "", 0, 0);
	check_event(0x01cd, "SIHBK", 0xf, EV_PEBS | EV_LL);
	check_event(0x02cd, "SI", 0x8, EV_PEBS | EV_PS);
	check_event(0x01c0, "SIHBK", 0x2, EV_PEBS | EV_PDIR);
	check_event(0x04c4, "NWSIHBK", 0xf, EV_PEBS);
	check_event(0x010b, "NW", 0xf, EV_PEBS);
	check_event(0x020b, "NW", 0xf, EV_PEBS);
	check_event(0x81d0, "SIHBK", 0xf, EV_PEBS);
	check_event(0x82d0, "SIHBK", 0xf, EV_PEBS);
	/* "Intel TSX and PEBS Support": C8H and C9H are precise with umask 04H only. */
	check_event(0x04c8, "HBK", 0xf, EV_PEBS | EV_TSX);
	check_event(0x04c9, "HBK", 0xf, EV_PEBS | EV_TSX);
	check_event(0x01c8, "HBK", 0xff, EV_TSX);
	check_event(0x02c8, "HBK", 0xff, EV_TSX);
	check_event(0x01c9, "HBK", 0xff, EV_TSX);
	check_event(0x02c9, "HBK", 0xff, EV_TSX);
	check_event(0x08c9, "HBK", 0xff, EV_TSX);
	check_event(0x20c9, "HBK", 0xff, EV_TSX);
	check_event(0x40c9, "HBK", 0xff, EV_TSX);
	check_event(0x80c9, "HBK", 0xff, EV_TSX);
	check_event(0x01c9, "", 0xff, EV_PEBS);
	check_event(0x01c8, "", 0xff, EV_PEBS);
	check_event(0x02c8, "", 0xff, EV_PEBS);
	check_event(0x0154, "HBK", 0xff, EV_TSX);
	check_event(0x0254, "HBK", 0xff, EV_TSX);
	check_event(0x01b7, "NWSIHBK", 0xff, 0);
	check_event(0x01bb, "WSIHBK", 0xff, 0);
}

/* Table 18-45: D0H with seven umasks, D1H with seven, D2H/01H, D3H/01H; the next page has three
 * more of D2H. Bit 0 is defined for STLB_MISS_STORES, SPLIT_STORES and ALL_STORES: Table 18-46. */
static void addresses_come_with_table_18_45(void)
{
	static const unsigned listed[] = {
		0x11d0, 0x12d0, 0x21d0, 0x41d0, 0x42d0, 0x81d0, 0x82d0,
		0x01d1, 0x02d1, 0x04d1, 0x08d1, 0x10d1, 0x20d1, 0x40d1,
		0x01d2, 0x02d2, 0x04d2, 0x08d2, 0x01d3,
	};
	unsigned with_address = 0, with_hit = 0;

	for (size_t i = 0; i < COUNT(listed); i++)
		check_event(listed[i], "HBK", 0xf, EV_PEBS | EV_DLA);
	for (size_t i = 0; i < COUNT(events); i++) {
		with_address += events[i].flags & EV_DLA && *letters(events[i].gens);
		with_hit += !!(events[i].flags & EV_STORE_L1);
	}
	/* Table 18-56 has them with other names, and intel/perfmon has 04D4H too. */
	check_event(0x04d4, "K", 0xf, EV_PEBS | EV_DLA | EV_INSN);
	check_event(0x81d0, "K", 0xf, EV_INSN);
	CHECK_EQ(2 * COUNT(listed) + 1, with_address);
	check_event(0x12d0, "HBK", 0xf, EV_STORE_L1);
	check_event(0x42d0, "HBK", 0xf, EV_STORE_L1);
	check_event(0x82d0, "HBK", 0xf, EV_STORE_L1);
	CHECK_EQ(6, with_hit, "by two names each");
}

/* Table 18-55: like format 2, except for the counters at 90H and the time stamp at C0H. */
static void format_3_is_table_18_55(void)
{
	static const struct row after[] = {
		{ "Applicable Counters", 0x90 },
		{ "Data Linear Address", 0x98 },
		{ "Data Source Encoding", 0xa0 },
		{ "Latency value (core cycles)", 0xa8 },
		{ "EventingIP", 0xb0 },
		{ "TX Abort Information", 0xb8 },
		{ "TSC", 0xc0 },
	};
	enum record_format format;

	check_rows(after, COUNT(after), format3_rows, COUNT(format3_rows));
	if (CHECK(record_format_from_caps(3, &format)))
		CHECK_EQ(0xc8, record_size(format));
}

/* Figures 18-10 to 18-13: ASCI is bit 60, which Table 35-2 prints as 58; 390H keeps its address. */
static void version_4_is_figures_18_10_to_18_13(void)
{
	CHECK_EQ(0x390, MSR_IA32_PERF_GLOBAL_OVF_CTRL);
	CHECK_EQ(0x391, MSR_IA32_PERF_GLOBAL_STATUS_SET);
	CHECK_EQ(0x392, MSR_IA32_PERF_GLOBAL_INUSE);
	CHECK_EQ(0x0080000000000000, IA32_PERF_GLOBAL_STATUS_TRACE_TOPA_PMI);
	CHECK_EQ(0x0400000000000000, IA32_PERF_GLOBAL_STATUS_LBR_FRZ);
	CHECK_EQ(0x0800000000000000, IA32_PERF_GLOBAL_STATUS_CTR_FRZ);
	CHECK_EQ(0x1000000000000000, IA32_PERF_GLOBAL_STATUS_ASCI);
	CHECK_EQ(0x0400000000000000, IA32_PERF_GLOBAL_OVF_CTRL_CLR_LBR_FRZ);
	CHECK_EQ(0x0800000000000000, IA32_PERF_GLOBAL_OVF_CTRL_CLR_CTR_FRZ);
	CHECK_EQ(0x1000000000000000, IA32_PERF_GLOBAL_OVF_CTRL_CLR_ASCI);
	CHECK_EQ(0x0000007fffffffff, IA32_PERF_GLOBAL_STATUS_SET_SET_OVF_PMC |
					     IA32_PERF_GLOBAL_STATUS_SET_SET_OVF_FIXED_CTR);
	CHECK_EQ(0x0400000000000000, IA32_PERF_GLOBAL_STATUS_SET_SET_LBR_FRZ);
	CHECK_EQ(0x0800000000000000, IA32_PERF_GLOBAL_STATUS_SET_SET_CTR_FRZ);
	CHECK_EQ(0x1000000000000000, IA32_PERF_GLOBAL_STATUS_SET_SET_ASCI);
	CHECK_EQ(0x2000000000000000, IA32_PERF_GLOBAL_STATUS_SET_SET_OVF_UNCORE);
	CHECK_EQ(0x4000000000000000, IA32_PERF_GLOBAL_STATUS_SET_SET_OVF_BUF);
	CHECK_EQ(0x8000000000000000, IA32_PERF_GLOBAL_INUSE_PMI);
	CHECK_EQ(0xe01, MSR_UNC_PERF_GLOBAL_CTRL);
	CHECK_EQ(0xe02, MSR_UNC_PERF_GLOBAL_STATUS);
	CHECK_EQ(0x10f, MSR_IA32_TSX_FORCE_ABORT);
}

/* The writable bits according to Linux, 7FFF17H, and the event select of each event that it
 * names. */
static void frontend_is_table_18_57(void)
{
	static const struct {
		const char *name;
		unsigned evtsel;
	} want[] = {
		{ "ANY_DSB_MISS", 0x01 }, { "DSB_MISS", 0x11 },	 { "L1I_MISS", 0x12 },
		{ "L2_MISS", 0x13 },	  { "ITLB_MISS", 0x14 }, { "STLB_MISS", 0x15 },
		{ "LATENCY", 0x06 },	  { "UNKNOWN_BRANCH", 0x17 }, { "MS_FLOWS", 0x08 },
	};

	CHECK_EQ(0x3f7, MSR_PEBS_FRONTEND);
	CHECK_EQ(0x7fff17, PEBS_FRONTEND_EVTSEL | PEBS_FRONTEND_EVTSEL_HIGH |
				   PEBS_FRONTEND_BUBBLE_LENGTH | PEBS_FRONTEND_BUBBLE_WIDTH);
	CHECK_EQ(0x8, PEBS_FRONTEND_EVTSEL_MS, "Golden Cove, intel/perfmon");
	CHECK_EQ(0x000fff00, PEBS_FRONTEND_BUBBLE_LENGTH);
	CHECK_EQ(0x00700000, PEBS_FRONTEND_BUBBLE_WIDTH);
	CHECK_EQ(COUNT(want), COUNT(frontend));
	for (size_t i = 0; i < COUNT(want) && i < COUNT(frontend); i++) {
		CHECK_STR(want[i].name, frontend[i].name);
		CHECK_EQ(want[i].evtsel, frontend[i].evtsel, "%s", want[i].name);
		CHECK_EQ(i == 6 ? 4 : 0, frontend[i].width, "%s", want[i].name);
	}
	check_event(0x01c6, "K", 0xf, EV_PEBS);
}

/* Tables 17-8 to 17-16. */
static void branch_records_are_the_printed_ones(void)
{
	CHECK_EQ(0x1c8, MSR_LBR_SELECT);
	CHECK_EQ(0x1c9, MSR_LASTBRANCH_TOS);
	CHECK_EQ(0x680, MSR_LASTBRANCH_0_FROM_IP);
	CHECK_EQ(0x6c0, MSR_LASTBRANCH_0_TO_IP);
	CHECK_EQ(0xdc0, MSR_LBR_INFO_0);
	CHECK_EQ(16, LBR3_ENTRIES);
	CHECK_EQ(16, LBR4_ENTRIES);
	CHECK_EQ(32, LBR5_ENTRIES);
	CHECK_EQ(0x8000000000000000, LBR3_FROM_MISPRED);
	CHECK_EQ(0x8000000000000000, LBR4_FROM_MISPRED);
	CHECK_EQ(0x4000000000000000, LBR4_FROM_IN_TX);
	CHECK_EQ(0x2000000000000000, LBR4_FROM_TSX_ABORT);
	CHECK_EQ(0x8000000000000000, LBR5_INFO_MISPRED);
	CHECK_EQ(0x4000000000000000, LBR5_INFO_IN_TX);
	CHECK_EQ(0x2000000000000000, LBR5_INFO_TSX_ABORT);
	CHECK_EQ(0x000000000000ffff, LBR5_INFO_CYC_CNT);
	CHECK_EQ(0x001, LBR_SELECT_CPL_EQ_0);
	CHECK_EQ(0x002, LBR_SELECT_CPL_NEQ_0);
	CHECK_EQ(0x004, LBR_SELECT_JCC);
	CHECK_EQ(0x008, LBR_SELECT_NEAR_REL_CALL);
	CHECK_EQ(0x010, LBR_SELECT_NEAR_IND_CALL);
	CHECK_EQ(0x020, LBR_SELECT_NEAR_RET);
	CHECK_EQ(0x040, LBR_SELECT_NEAR_IND_JMP);
	CHECK_EQ(0x080, LBR_SELECT_NEAR_REL_JMP);
	CHECK_EQ(0x100, LBR_SELECT_FAR_BRANCH);
	CHECK_EQ(0x200, LBR_SELECT_EN_CALLSTACK);
}

/* "Uncore Performance Monitoring Management Facility" and its figures. */
static void uncore_is_the_printed_one(void)
{
	CHECK_EQ(0x391, MSR_UNCORE_PERF_GLOBAL_CTRL);
	CHECK_EQ(0x392, MSR_UNCORE_PERF_GLOBAL_STATUS);
	CHECK_EQ(0x393, MSR_UNCORE_PERF_GLOBAL_OVF_CTRL);
	CHECK_EQ(0x394, MSR_UNCORE_FIXED_CTR0);
	CHECK_EQ(0x395, MSR_UNCORE_FIXED_CTR_CTRL);
	CHECK_EQ(0x396, MSR_UNCORE_ADDR_OPCODE_MATCH);
	CHECK_EQ(0x3b0, MSR_UNCORE_PMC0);
	CHECK_EQ(0x3c0, MSR_UNCORE_PERFEVTSEL0);
	CHECK_EQ(0x00000000000000ff, UNCORE_PERF_GLOBAL_CTRL_EN_PC);
	CHECK_EQ(0x0000000100000000, UNCORE_PERF_GLOBAL_CTRL_EN_FC0);
	CHECK_EQ(0x000f000000000000, UNCORE_PERF_GLOBAL_CTRL_EN_PMI_CORE);
	CHECK_EQ(0x8000000000000000, UNCORE_PERF_GLOBAL_CTRL_PMI_FRZ);
	CHECK_EQ(0x2000000000000000, UNCORE_PERF_GLOBAL_STATUS_OVF_PMI);
	CHECK_EQ(0x8000000000000000, UNCORE_PERF_GLOBAL_STATUS_CHG);
	CHECK_EQ(0x5, UNCORE_FIXED_CTR_CTRL_EN | UNCORE_FIXED_CTR_CTRL_PMI);
}

/* Each row is about an event that the model's generation has with these flags. */
static void what_models_lack_their_generations_have(void)
{
	unsigned without_pebs = 0, absent = 0;

	for (size_t i = 0; i < COUNT(lacks); i++) {
		bool found = false;

		for (size_t m = 0; m < COUNT(models); m++)
			for (size_t e = 0; e < COUNT(events); e++)
				found |= models[m].family == lacks[i].family &&
					 models[m].model == lacks[i].model &&
					 events[e].gens & 1u << models[m].generation &&
					 events[e].code == lacks[i].code &&
					 (events[e].flags & lacks[i].flags) == lacks[i].flags;
		CHECK(found, "row %zu", i);
		without_pebs += lacks[i].model == 0x2d && lacks[i].flags == EV_PEBS;
		absent += lacks[i].model == 0x2e && !lacks[i].flags &&
			  (lacks[i].code & 0xff) == 0x0f;
	}
	CHECK_EQ(5, without_pebs);
	CHECK_EQ(5, absent);
}

int main(void)
{
	RUN(what_models_lack_their_generations_have);
	RUN(models_are_those_of_table_35_1);
	RUN(counters_are_the_printed_ones);
	RUN(facilities_are_where_the_pages_say);
	RUN(format_1_is_table_18_23);
	RUN(format_3_is_table_18_55);
	RUN(version_4_is_figures_18_10_to_18_13);
	RUN(frontend_is_table_18_57);
	RUN(branch_records_are_the_printed_ones);
	RUN(decoder_reads_format_1);
	RUN(data_sources_are_table_18_24);
	RUN(data_source_bits_are_the_printed_ones);
	RUN(sampled_events_are_the_printed_ones);
	RUN(addresses_come_with_table_18_45);
	RUN(uncore_is_the_printed_one);
	return check_end();
}
