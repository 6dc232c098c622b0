/* SPDX-License-Identifier: MIT */
/*
 * Registers that CPUID leaf 23H enumerates: SDM volume 1, leaf 23H, and volume 4. From version 6 on
 * counters and event selects have additional addresses, four apart. CFG_B and CFG_C exist for
 * counters that can be reloaded or write records.
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/version6/version6.h"

/* Addresses that no other register has: from IA32_PMC0 + 10 on there is MSR_FSB_FREQ. */
#define LEGACY_GP	10u
#define BANK_GP		32u		/* 1900H to 197FH */
#define BANK_FIXED	16u		/* 1980H to 19BFH */
#define RDPMC_TRIED	16u

/* Does the set have this counter? Bit positions as in IA32_PERF_GLOBAL_CTRL. */
static bool has(u64 set, unsigned counter)
{
	return set & BIT(counter);
}

/*
 * V6-03  IA32_PMCn must exist if and only if CPUID.(23H,1):EAX[n] is 1, and fixed counter i if and
 *        only if EBX[i] is 1.
 *        SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 23H,
 *        sub-leaf 1
 *
 * Given  the counters of CPUID.(23H,1):EAX and EBX
 * When   RDPMC reads indices 0 to 15 of either kind; RDMSR reads IA32_PMC0 to IA32_PMC9; from
 *        version 6 on RDMSR reads each member of the banks of 1900H and 1980H, and each event
 *        select of 1901H. Where RDMSR raises #GP, 0 is written too
 * Then   those of the sets can be read, others raise #GP
 */
TEST(msr, counters_are_those_of_leaf_23h, REQS(V6_03),
     NEEDS(need_perfmon, need_counter_sets, need_refused_msrs), .under_every_fault = true)
{
	const u64 set = counter_caps()->v6.counters;
	u64 value;

	for (u32 n = 0; n < RDPMC_TRIED; n++) {
		CHECK_EQ(t, V6_03, !has(set, n), fault_is_gp(rdpmc_try(n, &value)),
			 "#GP of RDPMC, ECX = %u, counters %#lx", n, set);
		CHECK_EQ(t, V6_03, !has(set, PMC_FIXED(n)),
			 fault_is_gp(rdpmc_try((u32)RDPMC_FIXED + n, &value)),
			 "#GP of RDPMC, ECX = %#x, counters %#lx", (u32)RDPMC_FIXED + n, set);
	}
	for (u32 n = 0; n < LEGACY_GP; n++)
		CHECK_EQ(t, V6_03, !has(set, n), version6_is_absent(MSR_IA32_PMC0 + n),
			 "#GP of RDMSR of IA32_PMC%u, counters %#lx", n, set);
	if (counter_caps()->version < 6)
		return;
	for (unsigned n = 0; n < BANK_GP; n++)
		CHECK_EQ(t, V6_03, !has(set, n), version6_is_absent(version6_ctr(n)),
			 "#GP of RDMSR of %#x, counters %#lx", version6_ctr(n), set);
	for (unsigned n = 0; n < BANK_GP; n++)
		CHECK_EQ(t, V6_03, !has(set, n), version6_is_absent(version6_cfg_a(n)),
			 "#GP of RDMSR of %#x, counters %#lx", version6_cfg_a(n), set);
	for (unsigned c = PMC_FIXED(0); c < PMC_FIXED(BANK_FIXED); c++)
		CHECK_EQ(t, V6_03, !has(set, c), version6_is_absent(version6_ctr(c)),
			 "#GP of RDMSR of %#x, counters %#lx", version6_ctr(c), set);
}

/* A bit is written together with an event: it must be read back, or be refused and leave the
 * register unchanged. */
static void check_bit(struct test *t, struct test_claim claim, u32 msr, unsigned bit, bool there)
{
	const u64 kept = EVENT_INST_RETIRED_ANY_P | COUNT_BOTH;

	msr_write(msr, kept);
	test_check_eq(t, claim, !there, fault_is_gp(msr_try_write(msr, kept | BIT(bit))),
		      "#GP of bit %u in %#x", bit, msr);
	test_check_eq(t, claim, there ? kept | BIT(bit) : kept, msr_read(msr),
		      "%#x after the write of bit %u", msr, bit);
	msr_write(msr, 0);
}

/*
 * V6-06  A write that sets one of IA32_PERFEVTSELx[47:40] must be taken where CPUID.(23H,0):EBX[0]
 *        is 1, and raise #GP elsewhere.
 *        SDM volume 1, CPUID leaf 23H; Linux
 *
 * Given  each event select with an event; CPUID.(23H,0):EBX[0], or no such leaf
 * When   each of bits 47:40 is set together with the event
 * Then   it is read back where EBX[0] is 1; elsewhere the write raises #GP and changes nothing
 */
TEST(msr, second_unit_mask_exists_if_leaf_23h_says_so, REQS(V6_06),
     NEEDS(need_perfmon, need_instructions, need_refused_msrs))
{
	FOR_EACH_COUNTER (c, counter_caps()->gp_mask)
		for (unsigned bit = 40; bit < 48; bit++)
			check_bit(t, AT(V6_06), MSR_IA32_PERFEVTSEL0 + c, bit,
				  counter_caps()->v6.umask2);
}

/*
 * V6-08  A write that sets IA32_PERFEVTSELx[36] must be taken where CPUID.(23H,0):EBX[1] is 1, and
 *        raise #GP elsewhere.
 *        SDM volume 1, CPUID leaf 23H; Linux
 *
 * Given  each event select with an event; CPUID.(23H,0):EBX[1], or no such leaf
 * When   bit 36 is set together with the event
 * Then   it is read back where EBX[1] is 1; elsewhere the write raises #GP and changes nothing
 */
TEST(msr, equal_flag_exists_if_leaf_23h_says_so, REQS(V6_08),
     NEEDS(need_perfmon, need_instructions, need_refused_msrs))
{
	FOR_EACH_COUNTER (c, counter_caps()->gp_mask)
		check_bit(t, AT(V6_08), MSR_IA32_PERFEVTSEL0 + c, 36, counter_caps()->v6.equal);
}

/*
 * V6-10  A write that sets IA32_PERFEVTSELx[37] or IA32_FIXED_CTR_CTRL[33 + 4i] must be taken
 *        where CPUID.(23H,0):EBX[2] is 1, and raise #GP elsewhere.
 *        Linux; Linux mailing list: rdpmc user disable
 *
 * Given  each event select with an event, each fixed counter enabled; CPUID.(23H,0):EBX[2], or no
 *        such leaf
 * When   bit 37 is set together with the event, bit 33 + 4i together with the enable bits of fixed
 *        counter i
 * Then   it is read back where EBX[2] is 1; elsewhere the write raises #GP and changes nothing
 */
TEST(msr, rdpmc_user_disable_exists_if_leaf_23h_says_so, REQS(V6_10),
     NEEDS(need_perfmon, need_instructions, need_refused_msrs))
{
	const bool there = counter_caps()->v6.rdpmc_user_disable;

	FOR_EACH_COUNTER (c, counter_caps()->gp_mask)
		check_bit(t, AT(V6_10), MSR_IA32_PERFEVTSEL0 + c, 37, there);
	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask) {
		const u64 kept = BIT(4 * i), disable = BIT(33 + 4 * i);

		msr_write(MSR_IA32_FIXED_CTR_CTRL, kept);
		CHECK_EQ(t, V6_10, !there,
			 fault_is_gp(msr_try_write(MSR_IA32_FIXED_CTR_CTRL, kept | disable)),
			 "#GP of IA32_FIXED_CTR_CTRL[%u]", 33 + 4 * i);
		CHECK_EQ(t, V6_10, there ? kept | disable : kept, msr_read(MSR_IA32_FIXED_CTR_CTRL),
			 "IA32_FIXED_CTR_CTRL after it");
	}
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 0);
}

/* A value for counter c alone, within every counter's width; in odd pairs of turns each bit is
 * inverted. */
static u64 own(unsigned c, unsigned turn)
{
	const u64 value = 0x010203040506 + 0x10000000000ULL * turn + 0x1000ULL * c;

	return turn & 2 ? ~value : value;
}

/* Write a different value to each counter of a kind by one address, and read it by the other
 * address. */
static void check_same(struct test *t, struct test_claim claim, u64 set, u32 (*one)(unsigned),
		       u32 (*other)(unsigned), unsigned turn, u64 mask)
{
	FOR_EACH_COUNTER (c, set)
		msr_write(one(c), own(c, turn) & mask);
	FOR_EACH_COUNTER (c, set)
		test_check_eq(t, claim, own(c, turn) & mask, msr_read(other(c)),
			      "%#x after a write to %#x", other(c), one(c));
	FOR_EACH_COUNTER (c, set)
		msr_write(one(c), 0);
}

static u32 general_address(unsigned c)
{
	return (counter_caps()->full_width ? MSR_IA32_A_PMC0 : MSR_IA32_PMC0) + c;
}

static u32 select_address(unsigned c)
{
	return MSR_IA32_PERFEVTSEL0 + c;
}

static u32 fixed_address(unsigned c)
{
	return MSR_IA32_FIXED_CTR0 + c - PMC_FIXED(0);
}

/*
 * V6-12  MSR 1900H + 4n must be IA32_PMCn: what is written to one must be read from the other.
 *        Linux: V6+ MSR aliasing
 *
 * Given  version 6; every general-purpose counter stands still
 * When   each is written under 4C1H + n and read under 1900H + 4n; written under 1900H + 4n and
 *        read under 0C1H + n
 * Then   it reads the value that was written to it, of each counter another value, and then its
 *        complement
 */
TEST(msr, register_of_1900h_is_the_general_purpose_counter, REQS(V6_12),
     NEEDS(need_perfmon, need_version_6, need_full_width), .under_every_fault = true)
{
	const u64 set = counter_caps()->gp_mask, mask = BIT(counter_caps()->gp_width) - 1;

	for (unsigned turn = 0; turn < 4; turn += 2) {
		check_same(t, AT(V6_12), set, general_address, version6_ctr, turn, mask);
		check_same(t, AT(V6_12), set, version6_ctr, general_address, turn + 1, mask);
	}
}

/*
 * V6-13  A write to 1900H + 4n must take the value as it is, without extending bit 31.
 *        Linux: V6+ MSR aliasing
 *
 * Given  version 6
 * When   80000000H is written to 1900H + 4n
 * Then   the counter reads 80000000H
 * Control: written to 0C1H + n it is extended with ones
 */
TEST(msr, write_to_1900h_is_not_sign_extended, REQS(V6_13), NEEDS(need_perfmon, need_version_6))
{
	const u64 sign = BIT(31), width = BIT(counter_caps()->gp_width) - 1;

	FOR_EACH_COUNTER (c, counter_caps()->gp_mask) {
		msr_write(MSR_IA32_PMC0 + c, sign);
		CONTROL_EQ(t, V6_13, width & ~(sign - 1), msr_read(MSR_IA32_PMC0 + c),
			   "IA32_PMC%u after a write of 80000000H", c);
		msr_write(version6_ctr(c), sign);
		CHECK_EQ(t, V6_13, sign, msr_read(MSR_IA32_PMC0 + c),
			 "IA32_PMC%u after a write of 80000000H to %#x", c, version6_ctr(c));
		msr_write(version6_ctr(c), 0);
	}
}

/*
 * V6-14  MSR 1901H + 4n must be IA32_PERFEVTSELn.
 *        Linux: V6+ MSR aliasing
 *
 * Given  version 6
 * When   each event select is written under 186H + n and read under 1901H + 4n, and the reverse
 * Then   it reads the value that was written to it, of each counter another value
 */
TEST(msr, register_of_1901h_is_the_event_select, REQS(V6_14), NEEDS(need_perfmon, need_version_6))
{
	const struct pmu_caps *c = counter_caps();
	const u64 set = c->gp_mask;
	/* Event, unit mask, USR, OS, E, INT, INV and CMASK. EN stays 0. */
	const u64 mask = 0xff97ffff | (c->v6.umask2 ? BITS(40, 47) : 0) |
			 (c->v6.equal ? BIT(36) : 0) | (c->baseline ? BIT(34) : 0);

	for (unsigned turn = 0; turn < 4; turn += 2) {
		check_same(t, AT(V6_14), set, select_address, version6_cfg_a, turn, mask);
		check_same(t, AT(V6_14), set, version6_cfg_a, select_address, turn + 1, mask);
	}
}

/*
 * V6-14  MSR 1901H + 4n must be IA32_PERFEVTSELn.
 *        Linux: V6+ MSR aliasing
 *
 * Given  version 6; each event select with an event
 * When   each other bit except EN is set too, by 186H + n and by 1901H + 4n
 * Then   both addresses accept it, or both raise #GP and keep the event alone
 */
TEST(msr, register_of_1901h_refuses_what_the_event_select_refuses, REQS(V6_14),
     NEEDS(need_perfmon, need_version_6, need_refused_msrs))
{
	const u64 kept = EVENT_INST_RETIRED_ANY_P | COUNT_BOTH;

	FOR_EACH_COUNTER (c, counter_caps()->gp_mask)
		for (unsigned bit = 18; bit < 64; bit++) {
			const u32 addresses[2] = { select_address(c), version6_cfg_a(c) };
			bool refused[2];
			u64 left[2];

			if (BIT(bit) == IA32_PERFEVTSEL_EN)
				continue;
			for (unsigned i = 0; i < 2; i++) {
				msr_write(addresses[0], kept);
				refused[i] = fault_is_gp(
					msr_try_write(addresses[i], kept | BIT(bit)));
				left[i] = msr_read(addresses[0]);
			}
			CHECK_EQ(t, V6_14, refused[0], refused[1],
				 "#GP of bit %u in %#x, against %#x", bit, addresses[1],
				 addresses[0]);
			CHECK_EQ(t, V6_14, left[0], left[1], "%#x after the write of bit %u to %#x",
				 addresses[0], bit, addresses[1]);
			msr_write(addresses[0], 0);
		}
}

/*
 * V6-15  MSR 1980H + 4i must be fixed counter i.
 *        Linux: V6+ MSR aliasing
 *
 * Given  version 6; the fixed counters of CPUID.(23H,1):EBX, with their gaps
 * When   each is written under 309H + i and read under 1980H + 4i, and the reverse
 * Then   it reads the value that was written to it, of each counter another value, and then its
 *        complement
 */
TEST(msr, register_of_1980h_is_the_fixed_counter, REQS(V6_15),
     NEEDS(need_perfmon, need_version_6, need_fixed_0_to_2))
{
	const u64 set = (u64)counter_caps()->fixed_mask << PMC_FIXED(0);
	const u64 mask = BIT(counter_caps()->fixed_width) - 1;

	for (unsigned turn = 0; turn < 4; turn += 2) {
		check_same(t, AT(V6_15), set, fixed_address, version6_ctr, turn, mask);
		check_same(t, AT(V6_15), set, version6_ctr, fixed_address, turn + 1, mask);
	}
}

/*
 * V6-12  MSR 1900H + 4n must be IA32_PMCn: what is written to one must be read from the other.
 * V6-15  MSR 1980H + 4i must be fixed counter i.
 *        Linux: V6+ MSR aliasing
 *
 * Given  version 6; a counter with a value
 * When   each bit above the width is written by 4C1H + n and by 1900H + 4n, or by 309H + i and by
 *        1980H + 4i
 * Then   both addresses raise #GP, or both don't; a refused write changes nothing
 */
TEST(msr, register_of_1900h_refuses_what_the_counter_refuses, REQS(V6_12, V6_15),
     NEEDS(need_perfmon, need_version_6, need_full_width, need_refused_msrs))
{
	const u64 all = counter_caps()->gp_mask | (u64)counter_caps()->fixed_mask << PMC_FIXED(0);

	FOR_EACH_COUNTER (c, all) {
		const bool fixed = PMC_IS_FIXED(c);
		const struct test_claim claim = fixed ? AT(V6_15) : AT(V6_12);
		const u32 older = fixed ? fixed_address(c) : general_address(c);
		const u64 kept = own(c, 0) & (BIT(counter_width(c)) - 1);

		for (unsigned bit = counter_width(c); bit < 64; bit++) {
			bool refused[2];

			msr_write(older, kept);
			refused[0] = fault_is_gp(msr_try_write(older, BIT(bit) | 1));
			msr_write(older, kept);
			refused[1] = fault_is_gp(msr_try_write(version6_ctr(c), BIT(bit) | 1));
			test_check_eq(t, claim, refused[0], refused[1],
				      "#GP of bit %u in %#x, against %#x", bit, version6_ctr(c),
				      older);
			if (refused[0])
				test_check_eq(t, claim, kept, msr_read(older),
					      "%#x after bit %u was written to %#x", older, bit,
					      version6_ctr(c));
		}
		msr_write(older, 0);
	}
}

/*
 * MSR-28  A read/write register of the PMU must read back the legal value that was written to it.
 *         SDM Table 35-2 IA-32 Architectural MSRs (Read/Write registers), Table 35-13
 *
 * Given  CFG_B of each counter that can be reloaded
 * When   each bit of a counter that reloads others, and all of them, are written
 * Then   each value is read back
 */
TEST(msr, cfg_b_holds_each_counter_that_reloads_others, REQS(MSR_28),
     NEEDS(need_perfmon, need_auto_reload))
{
	const struct version6 *v = &counter_caps()->v6;

	FOR_EACH_COUNTER (c, v->reloadable) {
		const u32 msr = version6_cfg_b(c);

		FOR_EACH_COUNTER (n, v->causes) {
			msr_write(msr, BIT(n));
			CHECK_EQ(t, MSR_28, BIT(n), msr_read(msr), "MSR %#x, bit %u alone", msr, n);
		}
		msr_write(msr, v->causes);
		CHECK_EQ(t, MSR_28, v->causes, msr_read(msr), "MSR %#x, all bits", msr);
		msr_write(msr, 0);
	}
}

/*
 * V6-16  IA32_PMC_GPn_CFG_B and IA32_PMC_FXi_CFG_B must exist if and only if CPUID.(23H,2):EAX[n]
 *        or EBX[i] is 1.
 *        SDM volume 4; Linux mailing list: IA32_PMC_x_CFG_B access error
 *
 * Given  CPUID.(23H,2):EAX and EBX, the counters that can be reloaded; 0 where there is none
 * When   RDMSR reads each member of 1902H + 4n and of 1982H + 4i; where it raises #GP, 0 is
 *        written too
 * Then   those of these counters can be read, others raise #GP
 */
TEST(msr, cfg_b_exists_for_counters_that_can_be_reloaded_alone, REQS(V6_16),
     NEEDS(need_perfmon, need_leaf_23h, need_refused_msrs))
{
	const u64 set = counter_caps()->v6.reloadable;

	for (unsigned c = 0; c < PMC_FIXED(BANK_FIXED); c++)
		CHECK_EQ(t, V6_16, !has(set, c), version6_is_absent(version6_cfg_b(c)),
			 "#GP of RDMSR of %#x, counters that can be reloaded %#lx",
			 version6_cfg_b(c), set);
}

/*
 * V6-17  IA32_PMC_GPn_CFG_C and IA32_PMC_FXi_CFG_C must exist if and only if CPUID.(23H,5) or
 *        CPUID.(23H,2) has their counter.
 *        SDM volume 1, CPUID leaf 23H, sub-leaf 5; volume 4
 *
 * Given  CPUID.(23H,2) and CPUID.(23H,5), the counters that can be reloaded or write records
 * When   RDMSR reads each member of 1903H + 4n and of 1983H + 4i; where it raises #GP, 0 is
 *        written too
 * Then   those of the counters of CPUID.(23H,5) can be read; where every requirement is judged,
 *        those of CPUID.(23H,2) too, and others raise #GP
 */
TEST(msr, cfg_c_exists_for_counters_with_reload_or_pebs_alone, REQS(V6_17),
     NEEDS(need_perfmon, need_leaf_23h, need_refused_msrs))
{
	const struct version6 *v = &counter_caps()->v6;

	/* Volume 4 has it with CPUID.(23H,5) alone, Linux with CPUID.(23H,2) too. No sentence says
	 * that others raise #GP. */
	if (!v->pebs && !test_is_strict(t)) {
		test_skip(t, "no counter has PEBS (CPUID.(23H,2) %#lx, (23H,5) %#lx)",
			  v->reloadable, v->pebs);
		return;
	}
	for (unsigned c = 0; c < PMC_FIXED(BANK_FIXED); c++)
		if (test_is_strict(t) || v->pebs >> c & 1)
			CHECK_EQ(t, V6_17, !version6_has_cfg_c(v, c),
				 version6_is_absent(version6_cfg_c(c)),
				 "#GP of RDMSR of %#x, reload %#lx, PEBS %#lx", version6_cfg_c(c),
				 v->reloadable, v->pebs);
}
