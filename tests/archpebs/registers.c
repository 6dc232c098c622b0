/* SPDX-License-Identifier: MIT */
/*
 * Registers of architectural PEBS: SDM volume 4, Table 2-2; SDM volume 1, CPUID leaf 23H,
 * sub-leaves 4 and 5.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/processor/cpuid.h"
#include "tests/archpebs/archpebs.h"

static bool absent(u32 msr)
{
	u64 value;

	return fault_is_gp(msr_try_read(msr, &value)) && fault_is_gp(msr_try_write(msr, 0));
}

static bool need_23h(char *reason, size_t size)
{
	return counter_caps()->v6.leaf || need_arch_pebs(reason, size);
}

/*
 * APEBS-01  CPUID.(23H,0):EAX[4] and [5] must be the same.
 *           Linux
 *
 * Given  CPUID.(23H,0):EAX
 * When   its bits 4 and 5 are read
 * Then   both are 1 or both are 0
 */
TEST(enumeration, subleaves_4_and_5_of_23h_come_together, REQS(APEBS_01),
     NEEDS(need_perfmon, need_23h))
{
	const u32 subleaves = counter_caps()->v6.subleaves;

	CHECK_EQ(t, APEBS_01, !!(subleaves & BIT(4)), !!(subleaves & BIT(5)),
		 "bit 5 of CPUID.(23H,0):EAX = %#x, against bit 4", subleaves);
}

/*
 * APEBS-02  IA32_PEBS_BASE and IA32_PEBS_INDEX must exist if and only if CPUID.(23H,0):EAX[5] is
 *           1.
 *           SDM volume 4, Table 2-2
 *
 * Given  CPUID.(23H,0):EAX[5], or no such leaf
 * When   RDMSR reads IA32_PEBS_BASE and IA32_PEBS_INDEX; where it raises #GP, 0 is written too
 * Then   they can be read where the bit is 1, and raise #GP elsewhere
 */
TEST(msr, pebs_base_and_index_exist_if_leaf_23h_says_so, REQS(APEBS_02),
     NEEDS(need_perfmon, need_refused_msrs))
{
	const bool there = counter_caps()->v6.subleaves & BIT(5);

	CHECK_EQ(t, APEBS_02, !there, absent(MSR_IA32_PEBS_BASE), "#GP of IA32_PEBS_BASE (3F4H)");
	CHECK_EQ(t, APEBS_02, !there, absent(MSR_IA32_PEBS_INDEX), "#GP of IA32_PEBS_INDEX (3F5H)");
}

/*
 * APEBS-03  With architectural PEBS IA32_PEBS_ENABLE and MSR_PEBS_DATA_CFG must raise #GP.
 *           Linux mailing list: architectural PEBS; SDM volume 1, CPUID leaf 23H, sub-leaf 5
 *
 * Given  architectural PEBS
 * When   RDMSR reads IA32_PEBS_ENABLE and MSR_PEBS_DATA_CFG; 0 is written to them
 * Then   each raises #GP
 */
TEST(msr, pebs_enable_is_not_there_with_architectural_pebs, REQS(APEBS_03),
     NEEDS(need_perfmon, need_arch_pebs, need_refused_msrs))
{
	CHECK(t, APEBS_03, absent(MSR_IA32_PEBS_ENABLE), "#GP of IA32_PEBS_ENABLE (3F1H)");
	CHECK(t, APEBS_03, absent(MSR_PEBS_DATA_CFG), "#GP of MSR_PEBS_DATA_CFG (3F2H)");
}

#define SIZES		5u	/* Linux uses 4 */
#define UNIT_BITS	12u	/* address bits inside a buffer of size 0 */

/* Physical address bits; IA32_PEBS_BASE has at most 52. */
static unsigned address_bits(void)
{
	enum { LEAF = 0x80000008u, MOST = 52 };
	const unsigned bits = cpuid_read(LEAF, 0).eax & 0xff;

	return bits < MOST ? bits : MOST;
}

/* No source says that every address is accepted: memory encryption may use the upper bits for key
 * IDs. */
static void check_base(struct test *t, u64 value)
{
	const bool raised = msr_try_write(MSR_IA32_PEBS_BASE, value).raised;

	if (raised && !test_is_strict(t))
		test_inconclusive(t, "#GP of IA32_PEBS_BASE = %#lx", value);
	else if (CHECK(t, APEBS_04, !raised, "no #GP of IA32_PEBS_BASE = %#lx", value))
		CHECK_EQ(t, APEBS_04, value, msr_read(MSR_IA32_PEBS_BASE),
			 "IA32_PEBS_BASE after %#lx was written", value);
}

/*
 * APEBS-04  IA32_PEBS_BASE must hold an address in [51:12] and in its low bits n for a buffer of
 *           1000H << n bytes.
 *           SDM volume 4; Linux
 *
 * Given  architectural PEBS that isn't enabled
 * When   each bit of a physical address from 12 on, as many as CPUID.80000008H:EAX[7:0] says, and
 *        all of them, are written to IA32_PEBS_BASE, with each size from 0 to 4. Except on the
 *        reference PMU, only those bits are written that are the address of a buffer aligned to its
 *        size
 * Then   it is read back; where such an address is refused, it is INCONCLUSIVE
 */
TEST(msr, pebs_base_holds_address_and_size, REQS(APEBS_04), NEEDS(need_perfmon, need_arch_pebs),
     .under_every_fault = true)
{
	const unsigned end = address_bits();
	const bool strict = test_is_strict(t);

	for (unsigned bit = UNIT_BITS; bit <= end; bit++) {
		/* The last pass tests all bits together. */
		const u64 address = bit < end ? BIT(bit) : BITS(UNIT_BITS, end - 1);

		for (unsigned size = 0; size < SIZES; size++)
			if (strict || (bit < end && bit >= UNIT_BITS + size))
				check_base(t, address | size);
	}
	msr_write(MSR_IA32_PEBS_BASE, 0);
}

/* 26:4 WR, 31 FULL, 32 EN, 58:36 THRESH. */
#define INDEX_BITS	(BITS(4, 26) | BIT(31) | BIT(32) | BITS(36, 58))

/* A buffer of 64 KiB, and the bits of IA32_PEBS_INDEX that can stand for a place inside it. */
#define BASE_OF_64K	0x80000004ul
#define INDEX_INSIDE	(BITS(4, 15) | BIT(32) | BITS(36, 47))

static void check_index(struct test *t, u64 value)
{
	if (CHECK(t, APEBS_05, !msr_try_write(MSR_IA32_PEBS_INDEX, value).raised,
		  "no #GP of IA32_PEBS_INDEX = %#lx", value))
		CHECK_EQ(t, APEBS_05, value, msr_read(MSR_IA32_PEBS_INDEX),
			 "IA32_PEBS_INDEX after %#lx was written", value);
}

/* Only Linux's layout suggests that software can set FULL, so this is only noted. */
static void tell_of_full(struct test *t)
{
	const u64 full = IA32_PEBS_INDEX_FULL;
	const bool raised = msr_try_write(MSR_IA32_PEBS_INDEX, full).raised;

	test_note(t, "IA32_PEBS_INDEX[31] = 1: %s, reads %u", raised ? "#GP" : "accepted",
		  (msr_read(MSR_IA32_PEBS_INDEX) & full) != 0);
}

/*
 * APEBS-05  IA32_PEBS_INDEX must hold WR in [26:4], FULL in [31], EN in [32] and THRESH in
 *           [58:36].
 *           SDM volume 4; Linux union arch_pebs_index
 *
 * Given  architectural PEBS; no counter counts; IA32_PEBS_BASE has a buffer of 64 KiB
 * When   each bit of IA32_PEBS_INDEX that is EN, or a place in the buffer in WR or THRESH, is
 *        written alone, and all of them; on the reference PMU also FULL and places outside the
 *        buffer
 * Then   it is read back
 */
TEST(msr, pebs_index_holds_its_fields, REQS(APEBS_05), NEEDS(need_perfmon, need_arch_pebs),
     .under_every_fault = true)
{
	const u64 bits = test_is_strict(t) ? INDEX_BITS : INDEX_INSIDE;

	if (msr_try_write(MSR_IA32_PEBS_BASE, BASE_OF_64K).raised)
		test_note(t, "IA32_PEBS_BASE refuses %#lx", BASE_OF_64K);
	for (unsigned bit = 0; bit < 64; bit++)
		if (bits & BIT(bit))
			check_index(t, BIT(bit));
	check_index(t, bits);
	if (!test_is_strict(t))
		tell_of_full(t);
	msr_write(MSR_IA32_PEBS_INDEX, 0);
	msr_write(MSR_IA32_PEBS_BASE, 0);
}

/* Each unnamed bit of the register must be refused, and the register must keep its value. */
static void check_unnamed(struct test *t, u32 msr, u64 kept, u64 named)
{
	msr_write(msr, kept);
	CONTROL_EQ(t, APEBS_39, kept, msr_read(msr), "%#x", msr);
	for (unsigned bit = 0; bit < 64; bit++) {
		if (named & BIT(bit))
			continue;
		CHECK(t, APEBS_39, fault_is_gp(msr_try_write(msr, kept | BIT(bit))),
		      "#GP of %#x[%u]", msr, bit);
		CHECK_EQ(t, APEBS_39, kept, msr_read(msr), "%#x after it", msr);
	}
	msr_write(msr, 0);
}

/*
 * APEBS-39  A write that sets a bit of IA32_PEBS_BASE or IA32_PEBS_INDEX that has no name must
 *           raise #GP and keep the old value.
 *           SDM volume 4, Table 2-2; Linux union arch_pebs_index
 *
 * Given  architectural PEBS; no counter counts
 * When   each bit outside SIZE and the address of IA32_PEBS_BASE, and outside WR, FULL, EN and
 *        THRESH of IA32_PEBS_INDEX, is written together with a legal value
 * Then   WRMSR raises #GP, and the register holds the legal value
 * Control: the legal value was accepted
 */
TEST(msr, pebs_base_and_index_refuse_bits_without_a_name, REQS(APEBS_39),
     NEEDS(need_perfmon, need_arch_pebs, need_refused_msrs), .under_every_fault = true)
{
	check_unnamed(t, MSR_IA32_PEBS_BASE, 0x7fff0001, BITS(0, 3) | BITS(12, 51));
	check_unnamed(t, MSR_IA32_PEBS_INDEX, BIT(4) | BIT(36), INDEX_BITS);
}

/*
 * APEBS-09  A write that sets a bit of CFG_C that CPUID.(23H,4) or CPUID.(23H,5) doesn't have must
 *           raise #GP.
 *           SDM volume 1, CPUID leaf 23H, sub-leaves 4 and 5
 *
 * Given  CPUID.(23H,4):EBX and CPUID.(23H,5); CFG_C of each counter that writes records
 * When   each of its bits 63:32 is set together with a value to load
 * Then   a bit that CPUID promises is read back; each other bit raises #GP and changes nothing
 * Control: the value to load was accepted
 */
TEST(msr, cfg_c_refuses_groups_that_leaf_23h_does_not_list, REQS(APEBS_09),
     NEEDS(need_perfmon, need_arch_pebs))
{
	const struct version6 *v = &counter_caps()->v6;
	const u64 kept = 0xfffffe00;

	FOR_EACH_COUNTER (c, v->pebs) {
		const u32 msr = version6_cfg_c(c);
		const u64 listed = (u64)v->groups << 32 | BIT(63);

		msr_write(msr, kept);
		CONTROL_EQ(t, APEBS_09, kept, msr_read(msr), "%#x", msr);
		for (unsigned bit = 32; bit < 64; bit++) {
			const bool there = listed & BIT(bit);

			CHECK_EQ(t, APEBS_09, !there,
				 fault_is_gp(msr_try_write(msr, kept | BIT(bit))),
				 "#GP of %#x[%u], CPUID.(23H,4):EBX = %#x", msr, bit, v->groups);
			CHECK_EQ(t, APEBS_09, there ? kept | BIT(bit) : kept, msr_read(msr),
				 "%#x after it", msr);
			msr_write(msr, kept);
		}
		msr_write(msr, 0);
	}
}
