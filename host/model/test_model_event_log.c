/* SPDX-License-Identifier: MIT */
/*
 * LBR event logging: INFO[39:32] of an architectural last branch record, two bits of each of
 * IA32_PMC0 to IA32_PMC3. The expected values are typed from Linux (LBR_INFO_BR_CNTR_OFFSET,
 * ARCH_PERFMON_EVENTSEL_BR_CNTR) and from docs/READINGS.md.
 */
#include "host/check.h"
#include "host/model/fixture.h"
#include "spec/arch_lbr.h"

#define CTL		0x14ce
#define DEPTH		0x14cf
#define EVERYTHING	0x7f0007	/* every kind, at both levels, enabled */
#define LOG		BIT(35)
#define STORES		0x82d0
#define INSTRUCTIONS	0x00c0
#define ADDRESS		(FIXTURE_MEMORY_BASE + 0x3008)

static struct fixture r;

static void open(enum generation_id generation, enum latitude_id knob, u32 value)
{
	struct model_config config = { .generation = generation };

	if (knob != LAT_COUNT) {
		config.latitude.set = LATITUDE_BIT(knob);
		config.latitude.value[knob] = value;
	}
	fixture_open_config(&r, &config);
}

static void open_crestmont(void)
{
	open(GEN_SIERRAFOREST, LAT_COUNT, 0);
}

static void count(unsigned n, u32 event, u64 bits)
{
	fixture_program(&r, n, event, bits, 0);
}

static void start(u64 counters)
{
	fixture_set(&r, CTL, EVERYTHING);
	fixture_start(&r, counters);
	fixture_branch(&r, BRANCH_JUMP, true);
}

static void stores(unsigned n)
{
	while (n--)
		fixture_store(&r, ADDRESS);
}

static void a_jump(void)
{
	fixture_branch(&r, BRANCH_JUMP, true);
}

/* INFO[39:32] of an entry, 0 is the newest; other tests check the other bits. */
static unsigned events_of(unsigned entry)
{
	return (unsigned)(fixture_get(&r, 0x1200 + entry) >> 32 & 0xff);
}

static void stores_then_jump(unsigned n)
{
	stores(n);
	a_jump();
}

static void the_tables_say_the_same(void)
{
	CHECK_EQ(LOG, IA32_PERFEVTSEL_EN_LBR_LOG);
	CHECK_EQ(0x0300000000, ARCH_LBR_PMC0_CNT);
	CHECK_EQ(0x0c00000000, ARCH_LBR_PMC1_CNT);
	CHECK_EQ(0x3000000000, ARCH_LBR_PMC2_CNT);
	CHECK_EQ(0xc000000000, ARCH_LBR_PMC3_CNT);
}

static u32 logging(enum generation_id generation)
{
	u32 regs[4] = { ~0u, ~0u, ~0u, ~0u };

	open(generation, LAT_COUNT, 0);
	model_cpuid(&r.m, 0x1c, 0, regs);
	return regs[2];
}

static void leaf_1c_has_the_counters(void)
{
	static const enum generation_id with[] = {
		GEN_SIERRAFOREST, GEN_LUNARLAKE, GEN_SKYMONT, GEN_PANTHERLAKE, GEN_CLEARWATERFOREST,
	};
	static const enum generation_id without[] = {
		GEN_SAPPHIRERAPIDS, GEN_GRANITERAPIDS, GEN_ALDERLAKE, GEN_METEORLAKE, GEN_GRACEMONT,
	};

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
		CHECK_EQ(0xf0007, logging(with[i]), "generation %u", with[i]);
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		CHECK_EQ(0x00007, logging(without[i]), "generation %u", without[i]);
	CHECK_EQ(0, logging(GEN_ICELAKE));
}

static void bit_35_is_there_where_the_counter_is_listed(void)
{
	open_crestmont();
	for (u32 n = 0; n < 8; n++)
		CHECK_EQ(n < 4 ? MSR_DONE : MSR_GP, fixture_wrmsr(&r, 0x186 + n, LOG), "PMC%u", n);
	CHECK_EQ(LOG, fixture_get(&r, 0x189));
	open(GEN_CLEARWATERFOREST, LAT_COUNT, 0);
	CHECK_EQ(MSR_DONE, fixture_wrmsr(&r, 0x1901, LOG));
	CHECK_EQ(LOG, fixture_get(&r, 0x186));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x1901 + 4 * 4, LOG));
	open(GEN_SAPPHIRERAPIDS, LAT_COUNT, 0);
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x186, LOG));
	open(GEN_SIERRAFOREST, LAT_LBR_UNLOGGED, 5);
	for (u32 n = 0; n < 4; n++)
		CHECK_EQ(n & 1 ? MSR_DONE : MSR_GP, fixture_wrmsr(&r, 0x186 + n, LOG), "PMC%u", n);
}

static void an_entry_has_the_events_since_the_one_before(void)
{
	static const u8 wanted[] = { 0, 1, 2, 3, 3, 3, 3, 3, 3 };

	for (unsigned n = 0; n < 4; n++) {
		open_crestmont();
		count(n, STORES, LOG);
		start(BIT(n));
		for (unsigned i = 0; i < sizeof(wanted); i++)
			stores_then_jump(i);
		for (unsigned i = 0; i < sizeof(wanted); i++)
			CHECK_EQ(wanted[sizeof(wanted) - 1 - i] << 2 * n, events_of(i),
				 "PMC%u, entry %u", n, i);
	}
}

/* 1, 3 (of 4) and 2 of the entry; IA32_PMC1 isn't logged. */
static void counters_have_fields_of_their_own(void)
{
	open_crestmont();
	count(0, 0x81d0, LOG);
	count(1, STORES, 0);
	count(2, INSTRUCTIONS, LOG);
	count(3, STORES, LOG);
	start(0xf);
	fixture_load(&r, ADDRESS);
	stores_then_jump(2);
	CHECK_EQ(0xb1, events_of(0));
	a_jump();
	CHECK_EQ(0x10, events_of(0), "of the jump itself");
}

static void a_branch_without_an_entry_does_not_end_it(void)
{
	open_crestmont();
	count(0, STORES, LOG);
	start(1);
	fixture_set(&r, CTL, 0x20007);		/* relative jumps */
	stores(1);
	fixture_branch(&r, BRANCH_CONDITIONAL, true);
	fixture_branch(&r, BRANCH_CONDITIONAL, false);
	stores_then_jump(1);
	CHECK_EQ(2, events_of(0));
	fixture_set(&r, CTL, EVERYTHING | 8);	/* call stack */
	stores(1);
	fixture_branch(&r, BRANCH_RETURN, true);
	stores(1);
	fixture_retire(&r, &(struct model_retired){ .branch = BRANCH_CALL, .indirect = true });
	CHECK_EQ(2, events_of(0), "of the call after a return");
}

/* Levels, EN, IA32_PERF_GLOBAL_CTRL, CTR_Frz, CMASK: the log obeys each setting of the counter. */
static void only_what_the_counter_adds_is_logged(void)
{
	open_crestmont();
	count(0, STORES, LOG);
	count(1, STORES, LOG);
	fixture_set(&r, 0x187, STORES | LOG | BIT(22) | BIT(16));	/* CPL 3 */
	count(2, STORES, LOG | BIT(25));				/* two events at once */
	count(3, STORES, LOG);
	start(0x7);
	stores_then_jump(2);
	CHECK_EQ(0x2, events_of(0));
	fixture_retire(&r, &(struct model_retired){ .stores = 2, .n_access = 2,
						    .access = { { ADDRESS, 8, true, false },
								{ ADDRESS, 8, true, false } } });
	a_jump();
	CHECK_EQ(0x12, events_of(0), "two stores of one instruction");
	fixture_set(&r, 0x391, BIT(59));
	stores_then_jump(1);
	CHECK_EQ(0, events_of(0), "frozen");
	fixture_set(&r, 0x390, BIT(59));
	fixture_set(&r, 0x186, STORES | LOG | BITS(16, 17));
	stores_then_jump(1);
	CHECK_EQ(0, events_of(0), "EN = 0");
}

static void clearing_the_bit_or_writing_the_depth_drops_it(void)
{
	open_crestmont();
	count(0, STORES, LOG);
	start(1);
	stores(1);
	fixture_set(&r, 0x186, STORES | BITS(16, 17) | BIT(22));
	fixture_set(&r, 0x186, STORES | BITS(16, 17) | BIT(22) | LOG);
	stores_then_jump(1);
	CHECK_EQ(1, events_of(0));
	stores(1);
	fixture_set(&r, DEPTH, 32);
	stores_then_jump(2);
	CHECK_EQ(2, events_of(0));
}

/* Stores while LBRs are off and while they are frozen: two, of which `counted` are counted. */
static void off_and_frozen(unsigned counted)
{
	count(0, STORES, LOG);
	start(1);
	fixture_set(&r, CTL, EVERYTHING & ~1ULL);
	stores_then_jump(1);
	fixture_set(&r, CTL, EVERYTHING);
	fixture_set(&r, 0x391, BIT(58));
	stores_then_jump(1);
	fixture_set(&r, 0x390, BIT(58));
	stores_then_jump(1);
	CHECK_EQ(1 + counted, events_of(0));
}

static void what_is_open_is_latitude(void)
{
	open_crestmont();
	off_and_frozen(2);
	open(GEN_SIERRAFOREST, LAT_LBR_LOG_OFF, 1);
	off_and_frozen(0);

	open(GEN_SIERRAFOREST, LAT_LBR_LOG_NEXT, 1);
	count(0, 0x00c4, LOG);		/* branches */
	start(1);
	fixture_branch(&r, BRANCH_CONDITIONAL, false);
	a_jump();
	CHECK_EQ(2, events_of(0), "that of the jump before, and one that isn't taken");
	a_jump();
	CHECK_EQ(1, events_of(0));

	open(GEN_SIERRAFOREST, LAT_LBR_LOG_WITHOUT, 1);
	count(0, STORES, LOG);
	count(1, 0x003c, LOG);		/* cycles */
	start(3);
	stores_then_jump(1);
	CHECK_EQ(0x1, events_of(0), "precise events");
	open(GEN_SIERRAFOREST, LAT_LBR_LOG_WITHOUT, 2);
	count(0, STORES, LOG | BIT(24));
	count(1, 0x003c, LOG);
	start(3);
	stores_then_jump(1);
	CHECK_EQ(0x8, events_of(0), "no CMASK");
}

static void an_interrupt_is_an_entry(void)
{
	open_crestmont();
	count(0, STORES, LOG);
	start(1);
	stores(1);
	model_transfer(&r.m, 0x1234, 0x5678, 0, 0, 0);
	CHECK_EQ(1, events_of(0));
	stores_then_jump(2);
	CHECK_EQ(2, events_of(0));
}

/* 20H: the newest of two entries; INFO is its last quadword. */
static void a_record_has_the_same(void)
{
	open_crestmont();
	fixture_poke(&r, FIXTURE_DS + 0x20, FIXTURE_BUFFER);
	fixture_poke(&r, FIXTURE_DS + 0x28, FIXTURE_BUFFER);
	fixture_poke(&r, FIXTURE_DS + 0x30, FIXTURE_BUFFER + 0x1000);
	fixture_poke(&r, FIXTURE_DS + 0x38, FIXTURE_BUFFER + 0x1000);
	fixture_set(&r, 0x600, FIXTURE_DS);
	fixture_set(&r, 0x3f2, BIT(3) | 1 << 24);
	fixture_program_pebs(&r, 2, 0x81d0, BIT(34), 2);
	count(1, STORES, LOG);
	start(6);
	stores_then_jump(1);
	stores_then_jump(3);
	stores(1);
	for (unsigned i = 0; i < 3; i++)
		fixture_load(&r, ADDRESS);
	CHECK_EQ(3 << 2, fixture_peek(&r, FIXTURE_BUFFER + 0x30) >> 32 & 0xff);
	CHECK_EQ(1 << 2, fixture_peek(&r, FIXTURE_BUFFER + 0x48) >> 32 & 0xff);
	a_jump();
	CHECK_EQ(1 << 2, events_of(0), "the record hasn't taken it");
}

int main(void)
{
	RUN(the_tables_say_the_same);
	RUN(leaf_1c_has_the_counters);
	RUN(bit_35_is_there_where_the_counter_is_listed);
	RUN(an_entry_has_the_events_since_the_one_before);
	RUN(counters_have_fields_of_their_own);
	RUN(a_branch_without_an_entry_does_not_end_it);
	RUN(only_what_the_counter_adds_is_logged);
	RUN(clearing_the_bit_or_writing_the_depth_drops_it);
	RUN(what_is_open_is_latitude);
	RUN(an_interrupt_is_an_entry);
	RUN(a_record_has_the_same);
	return check_end();
}
