/* SPDX-License-Identifier: MIT */
/* From the overflow to the processor: freezing, skid, LVTPC, two interrupts at one boundary. */
#include "host/check.h"
#include "host/model/fixture.h"

#define INST	EVENT_INST_RETIRED_ANY_P
#define LOADS	EVENT_MEM_UOPS_RETIRED_ALL_LOADS
#define INT	IA32_PERFEVTSEL_INT
#define ADDRESS	(FIXTURE_MEMORY_BASE + 0x3000)
#define MASKED	0x10000
#define NMI	0x400

static struct fixture r;

static void open(u32 lvtpc)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_ds(&r, 8, 1);
	r.lvtpc = lvtpc;
}

static void one_overflow(void)
{
	fixture_program(&r, 0, INST, INT, 3);
	fixture_start(&r, BIT(0));
	fixture_nops(&r, 3);
	fixture_stop(&r);
}

static void fixed_delivery(void)
{
	open(0xf0);
	one_overflow();
	if (CHECK_EQ(1, r.n_interrupts)) {
		CHECK_EQ(PMI_FIXED, r.interrupt[0].kind);
		CHECK_EQ(0xf0, r.interrupt[0].vector);
		CHECK_EQ(BIT(0), r.interrupt[0].status, "the status shows the overflow already");
	}
	CHECK_EQ(0x100f0, r.lvtpc, "the delivery sets the mask bit");
}

static void nmi_delivery(void)
{
	open(NMI);
	one_overflow();
	CHECK_EQ(1, r.n_interrupts);
	CHECK_EQ(PMI_NMI, r.interrupt[0].kind);
	CHECK_EQ(MASKED | NMI, r.lvtpc);
}

static void other_modes_and_illegal_vectors(void)
{
	static const u32 nothing[] = { 0x2f0, 0x5f0, 0x7f0, 0x00, 0x0f };

	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
		open(nothing[i]);
		one_overflow();
		CHECK_EQ(1, r.requests);
		CHECK_EQ(0, r.n_interrupts, "LVTPC %#x", nothing[i]);
	}
}

static void masked_waits_for_the_unmasking(void)
{
	open(MASKED | 0xf0);
	one_overflow();
	one_overflow();
	CHECK_EQ(2, r.requests);
	CHECK_EQ(0, r.n_interrupts);
	CHECK_EQ(MASKED | 0xf0, r.lvtpc);
	fixture_write_lvtpc(&r, MASKED | 0xf1);
	CHECK_EQ(0, r.n_interrupts);
	fixture_write_lvtpc(&r, 0xf1);
	CHECK_EQ(1, r.n_interrupts, "one waits, no more");
	CHECK_EQ(0xf1, r.interrupt[0].vector, "LVTPC as it is at the delivery");
	CHECK_EQ(MASKED | 0xf1, r.lvtpc);
	fixture_write_lvtpc(&r, 0xf1);
	CHECK_EQ(1, r.n_interrupts);
	CHECK_EQ(0xf1, r.lvtpc);
}

static void masked_may_be_lost(void)
{
	for (u32 lost = 0; lost < 2; lost++) {
		fixture_open_knob(&r, LAT_MASKED_PMI, lost);
		r.lvtpc = MASKED | 0xf0;
		one_overflow();
		CHECK_EQ(1, r.requests);
		fixture_write_lvtpc(&r, 0xf0);
		CHECK_EQ(lost ? 0 : 1, r.n_interrupts);
	}
}

static void two_interrupts_at_one_boundary(void)
{
	open(NMI);
	fixture_program_pebs(&r, 0, LOADS, INT, 1);
	fixture_start(&r, BIT(0));
	fixture_load(&r, ADDRESS);
	fixture_load(&r, ADDRESS);
	CHECK_EQ(2, r.requests);
	CHECK_EQ(1, r.n_interrupts, "the first has masked LVTPC");
	fixture_write_lvtpc(&r, NMI);
	CHECK_EQ(2, r.n_interrupts);
	fixture_write_lvtpc(&r, NMI);
	CHECK_EQ(2, r.n_interrupts);
}

static void freeze_on_overflow(void)
{
	open(0xf0);
	fixture_set(&r, MSR_IA32_DEBUGCTL, 0x1801);
	fixture_program(&r, 0, INST, INT, 3);
	fixture_program(&r, 1, INST, 0, 2);
	fixture_set(&r, MSR_IA32_FIXED_CTR_CTRL, 3);
	fixture_start(&r, BIT(0) | BIT(1) | BIT(32));
	fixture_nops(&r, 2);
	CHECK_EQ(BIT(0) | BIT(1) | BIT(32), fixture_get(&r, MSR_IA32_PERF_GLOBAL_CTRL),
		 "an overflow without an interrupt doesn't freeze");
	fixture_nops(&r, 10);
	CHECK_EQ(0, fixture_get(&r, MSR_IA32_PERF_GLOBAL_CTRL));
	CHECK_EQ(0, fixture_get(&r, MSR_IA32_PMC0));
	CHECK_EQ(1, fixture_get(&r, MSR_IA32_PMC0 + 1));
	CHECK_EQ(3, fixture_get(&r, MSR_IA32_FIXED_CTR0),
		 "the instruction itself counts everywhere");
	CHECK_EQ(0x1800, fixture_get(&r, MSR_IA32_DEBUGCTL), "and branch records stop");
	CHECK_EQ(1, r.n_interrupts);
	CHECK(!model_needs_retire(&r.m));
}

static void freeze_at_the_threshold(void)
{
	open(0xf0);
	fixture_set(&r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	fixture_program_pebs(&r, 0, LOADS, INT, 1);
	fixture_start(&r, BIT(0));
	fixture_load(&r, ADDRESS);
	CHECK_EQ(BIT(0), fixture_get(&r, MSR_IA32_PERF_GLOBAL_CTRL),
		 "its interrupt is still to come");
	fixture_load(&r, ADDRESS);
	CHECK_EQ(0, fixture_get(&r, MSR_IA32_PERF_GLOBAL_CTRL));
	CHECK_EQ(1, fixture_records(&r));
	CHECK_EQ(2, r.requests);
}

/* With skid an interrupt is never early, the order is kept, the delay is within the bound, and
 * freezing isn't delayed. */
static void skid(void)
{
	u64 most = 0;

	for (u32 bound = 1; bound <= 2000; bound += 199) {
		u64 overflow;

		fixture_open_knob(&r, LAT_PMI_SKID, bound);
		fixture_set(&r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
		r.unmasks = true;
		fixture_program(&r, 0, INST, INT, 5);
		fixture_start(&r, BIT(0));
		while (!fixture_status(&r))
			fixture_nops(&r, 1);
		overflow = r.now - 1;
		CHECK_EQ(0, fixture_get(&r, MSR_IA32_PERF_GLOBAL_CTRL));
		for (unsigned i = 0; i < 2010; i++) {
			CHECK_EQ(r.n_interrupts == 0, model_needs_retire(&r.m));
			fixture_nops(&r, 1);
		}
		if (!CHECK_EQ(1, r.n_interrupts, "bound %u", bound))
			continue;
		CHECK(r.interrupt[0].at >= overflow);
		CHECK(r.interrupt[0].at <= overflow + bound);
		if (r.interrupt[0].at - overflow > most)
			most = r.interrupt[0].at - overflow;
	}
	CHECK(most > 100);
}

static void halting_brings_interrupts(void)
{
	for (u64 seed = 1; seed < 30; seed++) {
		fixture_open(&r, FAULT_NONE, seed, true);
		fixture_program(&r, 0, INST, INT, 5);
		fixture_start(&r, BIT(0));
		while (!fixture_status(&r))
			fixture_nops(&r, 1);
		model_halt(&r.m);
		CHECK_EQ(1, r.requests);
	}
}

static void int_and_pmi_bits(void)
{
	open(0xf0);
	r.unmasks = true;
	fixture_set(&r, MSR_IA32_FIXED_CTR0, BITS(0, 47));
	fixture_set(&r, MSR_IA32_FIXED_CTR_CTRL, 0x3);
	fixture_start(&r, BIT(32));
	fixture_nops(&r, 3);
	CHECK_EQ(0, r.requests);
	CHECK_EQ(BIT(32), fixture_status(&r));
	fixture_set(&r, MSR_IA32_FIXED_CTR0 + 2, BITS(0, 47));
	fixture_set(&r, MSR_IA32_FIXED_CTR_CTRL, 0xb00);
	fixture_start(&r, BIT(34));
	fixture_nops(&r, 3);
	CHECK_EQ(1, r.n_interrupts);
	CHECK_EQ(BIT(32) | BIT(34), fixture_status(&r));
}

static void after_power_on(void)
{
	static const struct model_config config = { .generation = GEN_HASWELL };

	fixture_open(&r, FAULT_NONE, 0, true);
	model_init(&r.m, &config, &r.host);
	CHECK_EQ(0, fixture_status(&r));
	CHECK_EQ(0xff, fixture_get(&r, MSR_IA32_PERF_GLOBAL_CTRL));
	CHECK_EQ(0, fixture_get(&r, MSR_IA32_FIXED_CTR_CTRL));
	for (unsigned i = 0; i < 8; i++) {
		CHECK_EQ(0, fixture_get(&r, MSR_IA32_PMC0 + i));
		CHECK_EQ(0, fixture_get(&r, MSR_IA32_PERFEVTSEL0 + i));
	}
	CHECK(!model_needs_retire(&r.m));
}

/* Firmware may leave any state, except counters that count. */
static void dirty_after_firmware(void)
{
	unsigned dirty = 0;

	for (u64 seed = 1; seed < 20; seed++) {
		struct model_config config = {
			.generation = GEN_HASWELL, .hyper_threading = true, .latitude.seed = seed,
		};

		fixture_open(&r, FAULT_NONE, seed, true);
		model_init(&r.m, &config, &r.host);
		CHECK(!model_needs_retire(&r.m));
		dirty += fixture_get(&r, MSR_IA32_PMC0) != 0;
		CHECK_EQ(0, fixture_get(&r, MSR_IA32_PMC0) >> 48);
	}
	CHECK(dirty);
}

int main(void)
{
	RUN(fixed_delivery);
	RUN(nmi_delivery);
	RUN(other_modes_and_illegal_vectors);
	RUN(masked_waits_for_the_unmasking);
	RUN(masked_may_be_lost);
	RUN(two_interrupts_at_one_boundary);
	RUN(freeze_on_overflow);
	RUN(freeze_at_the_threshold);
	RUN(skid);
	RUN(halting_brings_interrupts);
	RUN(int_and_pmi_bits);
	RUN(after_power_on);
	RUN(dirty_after_firmware);
	return check_end();
}
