/* SPDX-License-Identifier: MIT */
/*
 * spec/netburst.def against values typed by hand. Table 18-63 "Performance Counter MSRs and
 * Associated CCCR and ESCR MSRs", Table 18-65 "CCR Names and Bit Positions" (extended cascading),
 * "ESCR MSRs" and "CCCR MSRs" of Hyper-Threading, Tables 19-28, 19-29 and 19-33, the worked values
 * of Example 18-2.
 */
#include "host/check.h"

#include "spec/netburst.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct counter {
	const char *name, *cccr;
	u32 address, cccr_address;
	int pool;
	unsigned alternate, extended;
} counters[] = {
#define NB_COUNTER(name, number, address, cccr, cccr_address, pool, alternate, extended, source) \
	[number] = { #name, #cccr, address, cccr_address, pool, alternate, extended },
#include "spec/netburst.def"
};

static const struct escr {
	const char *name;
	u32 address;
	unsigned select;
	int pool;
} escrs[] = {
#define NB_ESCR(name, address, select, pool, source) { #name, address, select, pool },
#include "spec/netburst.def"
};

static const struct event {
	const char *name;
	unsigned select, cccr_select;
	int escr[2];
	unsigned flags;
} events[] = {
#define NB_EVENT(name, select, escr0, escr1, cccr_select, flags, source) \
	{ #name, select, cccr_select, { NB_##escr0, NB_##escr1 }, flags },
#include "spec/netburst.def"
};

/* The rows of Table 18-63, in the order of the counters; the ESCRs of each row with their
 * numbers. */
static const struct {
	const char *counter, *cccr, *escrs;
} table_18_63[] = {
#define BPU_EVEN "BSU_ESCR0 7 3a0;FSB_ESCR0 6 3a2;MOB_ESCR0 2 3aa;PMH_ESCR0 4 3ac;" \
		 "BPU_ESCR0 0 3b2;IS_ESCR0 1 3b4;ITLB_ESCR0 3 3b6;IX_ESCR0 5 3c8;"
#define BPU_ODD	 "BSU_ESCR1 7 3a1;FSB_ESCR1 6 3a3;MOB_ESCR1 2 3ab;PMH_ESCR1 4 3ad;" \
		 "BPU_ESCR1 0 3b3;IS_ESCR1 1 3b5;ITLB_ESCR1 3 3b7;IX_ESCR1 5 3c9;"
#define MS_EVEN	 "MS_ESCR0 0 3c0;TBPU_ESCR0 2 3c2;TC_ESCR0 1 3c4;"
#define MS_ODD	 "MS_ESCR1 0 3c1;TBPU_ESCR1 2 3c3;TC_ESCR1 1 3c5;"
#define FL_EVEN	 "FIRM_ESCR0 1 3a4;FLAME_ESCR0 0 3a6;DAC_ESCR0 5 3a8;SAAT_ESCR0 2 3ae;" \
		 "U2L_ESCR0 3 3b0;"
#define FL_ODD	 "FIRM_ESCR1 1 3a5;FLAME_ESCR1 0 3a7;DAC_ESCR1 5 3a9;SAAT_ESCR1 2 3af;" \
		 "U2L_ESCR1 3 3b1;"
#define IQ_EVEN	 "CRU_ESCR0 4 3b8;RAT_ESCR0 2 3bc;SSU_ESCR0 3 3be;ALF_ESCR0 1 3ca;" \
		 "CRU_ESCR2 5 3cc;CRU_ESCR4 6 3e0;"
#define IQ_ODD	 "CRU_ESCR1 4 3b9;RAT_ESCR1 2 3bd;ALF_ESCR1 1 3cb;CRU_ESCR3 5 3cd;" \
		 "CRU_ESCR5 6 3e1;"
	{ "BPU_COUNTER0 300", "BPU_CCCR0 360", BPU_EVEN },
	{ "BPU_COUNTER1 301", "BPU_CCCR1 361", BPU_EVEN },
	{ "BPU_COUNTER2 302", "BPU_CCCR2 362", BPU_ODD },
	{ "BPU_COUNTER3 303", "BPU_CCCR3 363", BPU_ODD },
	{ "MS_COUNTER0 304", "MS_CCCR0 364", MS_EVEN },
	{ "MS_COUNTER1 305", "MS_CCCR1 365", MS_EVEN },
	{ "MS_COUNTER2 306", "MS_CCCR2 366", MS_ODD },
	{ "MS_COUNTER3 307", "MS_CCCR3 367", MS_ODD },
	{ "FLAME_COUNTER0 308", "FLAME_CCCR0 368", FL_EVEN },
	{ "FLAME_COUNTER1 309", "FLAME_CCCR1 369", FL_EVEN },
	{ "FLAME_COUNTER2 30a", "FLAME_CCCR2 36a", FL_ODD },
	{ "FLAME_COUNTER3 30b", "FLAME_CCCR3 36b", FL_ODD },
	{ "IQ_COUNTER0 30c", "IQ_CCCR0 36c", IQ_EVEN },
	{ "IQ_COUNTER1 30d", "IQ_CCCR1 36d", IQ_EVEN },
	{ "IQ_COUNTER2 30e", "IQ_CCCR2 36e", IQ_ODD },
	{ "IQ_COUNTER3 30f", "IQ_CCCR3 36f", IQ_ODD },
	{ "IQ_COUNTER4 310", "IQ_CCCR4 370", IQ_EVEN },
	{ "IQ_COUNTER5 311", "IQ_CCCR5 371", IQ_ODD },
};

static void counters_and_escrs_are_table_18_63(void)
{
	CHECK_EQ(18, COUNT(counters));
	for (size_t i = 0; i < COUNT(counters); i++) {
		char text[512];
		size_t length = 0;

		snprintf(text, sizeof(text), "%s %x", counters[i].name, counters[i].address);
		CHECK_STR(table_18_63[i].counter, text);
		snprintf(text, sizeof(text), "%s %x", counters[i].cccr, counters[i].cccr_address);
		CHECK_STR(table_18_63[i].cccr, text);
		for (size_t e = 0; e < COUNT(escrs); e++)
			if (escrs[e].pool == counters[i].pool)
				length += (size_t)snprintf(text + length, sizeof(text) - length,
							   "%s %u %x;", escrs[e].name,
							   escrs[e].select, escrs[e].address);
		/* Sorted by address in both. */
		CHECK_STR(table_18_63[i].escrs, text);
	}
}

/* "16 may be cascaded from 14, not the reverse"; Table 18-65. */
static void cascades_are_the_printed_ones(void)
{
	static const unsigned alternate[18] = { 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12,
						13, 14, 15 };

	for (unsigned i = 0; i < COUNT(counters); i++) {
		unsigned extended = i == 12 || i == 17 ? 16 : i == 15 || i == 16 ? 17 : NB_NONE;

		CHECK_EQ(alternate[i], counters[i].alternate, "%u", i);
		CHECK_EQ(extended, counters[i].extended, "%u", i);
	}
}

static void fields_are_the_printed_ones(void)
{
	CHECK_EQ(0x1, NB_ESCR_T1_USR);
	CHECK_EQ(0x2, NB_ESCR_T1_OS);
	CHECK_EQ(0x4, NB_ESCR_T0_USR);
	CHECK_EQ(0x8, NB_ESCR_T0_OS);
	CHECK_EQ(0x10, NB_ESCR_TAG_ENABLE);
	CHECK_EQ(0x1e0, NB_ESCR_TAG_VALUE);
	CHECK_EQ(0x1fffe00, NB_ESCR_EVENT_MASK);
	CHECK_EQ(0x7e000000, NB_ESCR_EVENT_SELECT);
	CHECK_EQ(0x800, NB_CCCR_EXTENDED_CASCADE);
	CHECK_EQ(0x1000, NB_CCCR_ENABLE);
	CHECK_EQ(0xe000, NB_CCCR_ESCR_SELECT);
	CHECK_EQ(0x30000, NB_CCCR_ACTIVE_THREAD);
	CHECK_EQ(0x40000, NB_CCCR_COMPARE);
	CHECK_EQ(0x80000, NB_CCCR_COMPLEMENT);
	CHECK_EQ(0xf00000, NB_CCCR_THRESHOLD);
	CHECK_EQ(0x1000000, NB_CCCR_EDGE);
	CHECK_EQ(0x2000000, NB_CCCR_FORCE_OVF);
	CHECK_EQ(0x4000000, NB_CCCR_OVF_PMI_T0);
	CHECK_EQ(0x8000000, NB_CCCR_OVF_PMI_T1);
	CHECK_EQ(0x40000000, NB_CCCR_CASCADE);
	CHECK_EQ(0x80000000, NB_CCCR_OVF);
	CHECK_EQ(0x1000000, NB_PEBS_ENABLE_UOP_TAG);
	CHECK_EQ(0x2000000, NB_PEBS_ENABLE_MY_THR);
	CHECK_EQ(0x4000000, NB_PEBS_ENABLE_OTH_THR);
	CHECK_EQ(0x3f1, MSR_NB_PEBS_ENABLE);
	CHECK_EQ(0x3f2, MSR_NB_PEBS_MATRIX_VERT);
	CHECK_EQ(40, NB_WIDTH);
}

/* Event select, CCCR select and ESCRs; PEBS for exactly three of them. */
static void events_are_the_printed_ones(void)
{
	static const struct {
		const char *name;
		unsigned select, cccr, precise;
		const char *escr[2];
	} printed[] = {
		{ "FRONT_END_EVENT", 0x08, 5, 1, { "CRU_ESCR2", "CRU_ESCR3" } },
		{ "EXECUTION_EVENT", 0x0c, 5, 1, { "CRU_ESCR2", "CRU_ESCR3" } },
		{ "REPLAY_EVENT", 0x09, 5, 1, { "CRU_ESCR2", "CRU_ESCR3" } },
		{ "INSTR_RETIRED", 0x02, 4, 0, { "CRU_ESCR0", "CRU_ESCR1" } },
		{ "UOPS_RETIRED", 0x01, 4, 0, { "CRU_ESCR0", "CRU_ESCR1" } },
		{ "UOP_TYPE", 0x02, 2, 0, { "RAT_ESCR0", "RAT_ESCR1" } },
		{ "BRANCH_RETIRED", 0x06, 5, 0, { "CRU_ESCR2", "CRU_ESCR3" } },
		{ "MISPRED_BRANCH_RETIRED", 0x03, 4, 0, { "CRU_ESCR0", "CRU_ESCR1" } },
		{ "X87_ASSIST", 0x03, 5, 0, { "CRU_ESCR2", "CRU_ESCR3" } },
		{ "MACHINE_CLEAR", 0x02, 5, 0, { "CRU_ESCR2", "CRU_ESCR3" } },
		{ "INSTR_COMPLETED", 0x07, 4, 0, { "CRU_ESCR0", "CRU_ESCR1" } },
		{ "GLOBAL_POWER_EVENTS", 0x13, 6, 0, { "FSB_ESCR0", "FSB_ESCR1" } },
		{ "RETIRED_BRANCH_TYPE", 0x04, 2, 0, { "TBPU_ESCR0", "TBPU_ESCR1" } },
		{ "PACKED_SP_UOP", 0x08, 1, 0, { "FIRM_ESCR0", "FIRM_ESCR1" } },
		{ "LOAD_PORT_REPLAY", 0x04, 2, 0, { "SAAT_ESCR0", "SAAT_ESCR1" } },
		{ "STORE_PORT_REPLAY", 0x05, 2, 0, { "SAAT_ESCR0", "SAAT_ESCR1" } },
	};
	unsigned precise = 0;

	for (size_t i = 0; i < COUNT(events); i++)
		precise += !!(events[i].flags & NB_PEBS);
	CHECK_EQ(3, precise);
	for (size_t p = 0; p < COUNT(printed); p++) {
		bool found = false;

		for (size_t i = 0; i < COUNT(events); i++) {
			if (strcmp(printed[p].name, events[i].name))
				continue;
			found = true;
			CHECK_EQ(printed[p].select, events[i].select, "%s", printed[p].name);
			CHECK_EQ(printed[p].cccr, events[i].cccr_select, "%s", printed[p].name);
			CHECK_EQ(printed[p].precise, !!(events[i].flags & NB_PEBS), "%s",
				 printed[p].name);
			for (unsigned e = 0; e < 2; e++) {
				const struct escr *escr = &escrs[events[i].escr[e]];

				CHECK_STR(printed[p].escr[e], escr->name);
				CHECK_EQ(events[i].cccr_select, escr->select, "%s",
					 printed[p].name);
			}
		}
		CHECK(found, "%s", printed[p].name);
	}
}

/* Example 18-2: instr_retired of T1, and of T0; CASCNT4INTO0 with OVF_PMI_T0; a plain CCCR. */
static void example_18_2_is_what_the_fields_make(void)
{
	u64 instructions = 0x02ULL << NB_ESCR_EVENT_SELECT_SHIFT |
			   (u64)(NB_INSTR_RETIRED_NBOGUSNTAG | NB_INSTR_RETIRED_NBOGUSTAG)
				   << NB_ESCR_EVENT_MASK_SHIFT;
	u64 cccr = 4ULL << NB_CCCR_ESCR_SELECT_SHIFT | NB_CCCR_ACTIVE_THREAD;

	CHECK_EQ(0x04000603, instructions | NB_ESCR_T1_OS | NB_ESCR_T1_USR);
	CHECK_EQ(0x0400060c, instructions | NB_ESCR_T0_OS | NB_ESCR_T0_USR);
	CHECK_EQ(0x04038800, cccr | NB_CCCR_EXTENDED_CASCADE | NB_CCCR_OVF_PMI_T0);
	CHECK_EQ(0x00039000, cccr | NB_CCCR_ENABLE);
}

int main(void)
{
	RUN(counters_and_escrs_are_table_18_63);
	RUN(cascades_are_the_printed_ones);
	RUN(fields_are_the_printed_ones);
	RUN(events_are_the_printed_ones);
	RUN(example_18_2_is_what_the_fields_make);
	return check_end();
}
