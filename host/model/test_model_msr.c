/* SPDX-License-Identifier: MIT */
/*
 * The write rules. Addresses and bits here are typed from the manual's tables and figures, not
 * taken from spec/: Table 35-2, Figures 18-1, 18-7, 18-8, 18-20, 18-21, 18-23.
 */
#include "host/check.h"
#include "host/model/fixture.h"

static struct fixture r;

/* Each bit of the MSR alone, with all others 0: exactly the bits of the mask are accepted and read
 * back. */
static void check_bits(u32 msr, u64 writable)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		u64 value = 1ULL << bit;

		CHECK_EQ(MSR_DONE, fixture_wrmsr(&r, msr, 0), "msr %#x", msr);
		if (writable & value) {
			CHECK_EQ(MSR_DONE, fixture_wrmsr(&r, msr, value), "msr %#x bit %u", msr,
				 bit);
			CHECK_EQ(value, fixture_get(&r, msr), "msr %#x", msr);
		} else {
			CHECK_EQ(MSR_GP, fixture_wrmsr(&r, msr, value), "msr %#x bit %u", msr, bit);
			CHECK_EQ(0, fixture_get(&r, msr), "msr %#x bit %u", msr, bit);
		}
	}
	fixture_wrmsr(&r, msr, 0);
}

static void check_absent(u32 msr)
{
	CHECK_EQ(MSR_GP, model_rdmsr(&r.m, msr).status, "msr %#x", msr);
	CHECK_EQ(MSR_GP, model_wrmsr(&r.m, msr, 0).status, "msr %#x", msr);
}

/* With RTM, IN_TX is bit 32 of each IA32_PERFEVTSELx, and IN_TXCP bit 33 of IA32_PERFEVTSEL2. */
static void check_perfevtsel(u32 counter)
{
	check_bits(0x186 + counter, counter == 2 ? 0x3ffffffff : 0x1ffffffff);
}

static void reserved_bits_with_four_counters(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	for (u32 i = 0; i < 4; i++)
		check_perfevtsel(i);
	check_bits(0x38d, 0xfff);
	check_bits(0x38f, 0x70000000f);
	check_bits(0x3f1, 0xf0000000f);
	check_bits(0x3f6, 0xffff);
	check_bits(0x1d9, 0xffc3);	/* bit 15: RTM_DEBUG */
	check_bits(0x1a6, 0x3fffffffff);
	check_bits(0x1a7, 0x3fffffffff);
	for (u32 i = 0; i < 3; i++)
		check_bits(0x309 + i, 0xffffffffffff);
	for (u32 i = 0; i < 4; i++)
		check_bits(0x4c1 + i, 0xffffffffffff);
}

static void reserved_bits_with_eight_counters(void)
{
	fixture_open(&r, FAULT_NONE, 0, false);
	for (u32 i = 0; i < 8; i++) {
		check_perfevtsel(i);
		check_bits(0x4c1 + i, 0xffffffffffff);
	}
	check_bits(0x38f, 0x7000000ff);
	/* Four of the eight counters support PEBS. */
	check_bits(0x3f1, 0xf0000000f);
}

static void counters_that_are_not_there(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	for (u32 i = 4; i < 8; i++) {
		check_absent(0xc1 + i);
		check_absent(0x4c1 + i);
		check_absent(0x186 + i);
	}
	check_absent(0x30c);
}

static void a_fault_keeps_the_old_value(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_set(&r, 0x3f1, 0x100000001);
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x3f1, 0x8000000000000003));
	CHECK_EQ(0x100000001, fixture_get(&r, 0x3f1));
	fixture_set(&r, 0x38f, 0xf);
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x38f, 0x10));
	CHECK_EQ(0xf, fixture_get(&r, 0x38f));
}

static void pmc_takes_eax_and_extends_its_sign(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_set(&r, 0xc1, 0x80000000);
	CHECK_EQ(0xffff80000000, fixture_get(&r, 0xc1));
	fixture_set(&r, 0xc1, 0x7fffffff);
	CHECK_EQ(0x7fffffff, fixture_get(&r, 0xc1));
	fixture_set(&r, 0xc1, 0x1234567800000001);
	CHECK_EQ(1, fixture_get(&r, 0xc1), "EDX is ignored");
	fixture_set(&r, 0x4c1, 0x123456789abc);
	CHECK_EQ(0x123456789abc, fixture_get(&r, 0x4c1));
	CHECK_EQ(0x123456789abc, fixture_get(&r, 0xc1), "the same register");
}

static void read_only(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x38e, 0));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x38e, 1));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x345, 0x32c4));
	CHECK_EQ(0, fixture_get(&r, 0x38e), "reset value");
}

/* LBR_FMT 4, PEBS_TRAP, PEBS_ARCH_REG, PEBS format 2, SMM_FREEZE, FW_WRITE. */
static void perf_capabilities(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	CHECK_EQ(0x32c4, fixture_get(&r, 0x345));
}

static void status_is_cleared_bit_by_bit(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_program(&r, 0, EVENT_INST_RETIRED_ANY_P, 0, 2);
	fixture_program(&r, 2, EVENT_INST_RETIRED_ANY_P, 0, 2);
	fixture_set(&r, 0x30a, 0xffffffffffff);
	fixture_set(&r, 0x38d, 0x30);
	fixture_start(&r, 0x20000000f);
	fixture_nops(&r, 3);
	fixture_stop(&r);
	CHECK_EQ(0x200000005, fixture_get(&r, 0x38e));
	CHECK_EQ(0x200000005, fixture_get(&r, 0x38e), "reading clears nothing");
	fixture_set(&r, 0x390, 0);
	CHECK_EQ(0x200000005, fixture_get(&r, 0x38e));
	fixture_set(&r, 0x390, 0x4);
	CHECK_EQ(0x200000001, fixture_get(&r, 0x38e));
	CHECK_EQ(0, fixture_get(&r, 0x390));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x390, 0x11));
	CHECK_EQ(0x200000001, fixture_get(&r, 0x38e), "a fault clears nothing");
	fixture_set(&r, 0x390, 0xe00000070000000f & ~(1ULL << 0));
	CHECK_EQ(1, fixture_get(&r, 0x38e));
}

static void misc_enable(void)
{
	u64 value;

	fixture_open(&r, FAULT_NONE, 0, true);
	value = fixture_get(&r, 0x1a0);
	CHECK_EQ(0x80, value & 0x1080, "performance monitoring is there, PEBS isn't unavailable");
	fixture_set(&r, 0x1a0, value ^ 0x1880 ^ 0x40001);
	CHECK_EQ(value ^ 0x40001, fixture_get(&r, 0x1a0),
		 "7, 11 and 12 are read-only, others aren't");
}

static void ds_area_is_canonical(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_set(&r, 0x600, 0x00007fffffffffff);
	fixture_set(&r, 0x600, 0xffff800000000000);
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x600, 0x0000800000000000));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x600, 0xffff7fffffffffff));
	CHECK_EQ(0xffff800000000000, fixture_get(&r, 0x600));
}

static void registers_of_others(void)
{
	static const u32 others[] = {
		0x10, 0x1b, 0x174, 0x277, 0x802, 0xc0000080,
	};

	fixture_open(&r, FAULT_NONE, 0, true);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		u32 msr = others[i];

		CHECK_EQ(MSR_NOT_OURS, model_rdmsr(&r.m, msr).status, "msr %#x", msr);
		CHECK_EQ(MSR_NOT_OURS, model_wrmsr(&r.m, msr, 0).status, "msr %#x", msr);
	}
}

static void smi_count_is_read_only(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	CHECK_EQ(0, fixture_get(&r, 0x34));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x34, 0));
}

static void rdpmc(void)
{
	fixture_open(&r, FAULT_NONE, 0, true);
	fixture_set(&r, 0x4c3, 0x111122223333);
	fixture_set(&r, 0x30b, 0x444455556666);
	CHECK_EQ(0x111122223333, model_rdpmc(&r.m, 2).value);
	CHECK_EQ(0x444455556666, model_rdpmc(&r.m, 0x40000002).value);
	CHECK_EQ(MSR_GP, model_rdpmc(&r.m, 4).status);
	CHECK_EQ(MSR_GP, model_rdpmc(&r.m, 0x40000003).status);
	CHECK_EQ(MSR_GP, model_rdpmc(&r.m, 0x80000000).status);
	CHECK_EQ(MSR_GP, model_rdpmc(&r.m, 0xffffffff).status);
	fixture_open(&r, FAULT_NONE, 0, false);
	CHECK_EQ(MSR_DONE, model_rdpmc(&r.m, 7).status);
	CHECK_EQ(MSR_GP, model_rdpmc(&r.m, 8).status);
}

int main(void)
{
	RUN(reserved_bits_with_four_counters);
	RUN(reserved_bits_with_eight_counters);
	RUN(counters_that_are_not_there);
	RUN(a_fault_keeps_the_old_value);
	RUN(pmc_takes_eax_and_extends_its_sign);
	RUN(read_only);
	RUN(perf_capabilities);
	RUN(status_is_cleared_bit_by_bit);
	RUN(misc_enable);
	RUN(ds_area_is_canonical);
	RUN(registers_of_others);
	RUN(smi_count_is_read_only);
	RUN(rdpmc);
	return check_end();
}
