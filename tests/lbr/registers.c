/* SPDX-License-Identifier: MIT */
/*
 * Writes of the stack's registers by software: each register by itself, addresses of either half,
 * each flag alone. SDM "LBR Stack", Table 17-9, Table 17-14, Table 17-16; Linux and KVM write them
 * when they switch to another context.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/processor/cpuid.h"
#include "pmu/counter.h"
#include "tests/frame/test.h"
#include "tests/lbr/branches.h"

#define SIGN_BIT	47u			/* of an address, without LA57 */
#define UPPER		BITS(SIGN_BIT, 63)	/* of a canonical address in the upper half */
#define NOT_SIGN	57u			/* above an address, also with LA57 */

/* The flags of FROM, and the bits of INFO to write, by format. Flags of transactions are left out
 * on processors without transactions: there WRMSR takes bits 62:61 of FROM as sign bits (Linux,
 * lbr_from_signext_quirk). */
static void named_bits(u64 *from, u64 *info)
{
	const bool rtm = cpuid_get(CPUID_RTM);

	*from = *info = 0;
	switch (lbr_format()) {
	case 3:
		*from = LBR3_FROM_MISPRED;
		break;
	case 4:
		*from = LBR4_FROM_MISPRED | (rtm ? LBR4_FROM_IN_TX | LBR4_FROM_TSX_ABORT : 0);
		break;
	case 5:
		*info = LBR5_INFO_MISPRED | LBR5_INFO_CYC_CNT |
			(rtm ? LBR5_INFO_IN_TX | LBR5_INFO_TSX_ABORT : 0);
		break;
	case 7:
		*info = LBR7_INFO_MISPRED | LBR7_INFO_CYC_CNT;
		break;
	}
}

/*
 * LBR-25  FROM, TO, INFO and MSR_LASTBRANCH_TOS must read back what WRMSR wrote (context switch
 *         use).
 *         Linux, KVM: switch them with the context; Table 17-16 prints R/O
 *
 * Given  recording is off
 * When   FROM and TO of the entries are written with each bit of an address alone, of the lower
 *        half and of the upper one, and with each flag that the format has in FROM alone, 1 in the
 *        lower half and 0 in the upper one; INFO with each of its bits alone; each bit in some
 *        entry
 * Then   each register reads as it was written
 */
TEST(msr, lbr_entries_hold_each_bit_of_addresses_of_both_halves_and_each_flag, REQS(LBR_25),
     NEEDS(need_lbr))
{
	const u64 address = BITS(0, SIGN_BIT - 1);
	u64 flags, info;

	named_bits(&flags, &info);
	lbr_open(0, 0);
	lbr_check_each_bit(t, AT(LBR_25), MSR_LASTBRANCH_0_FROM_IP, lbr_depth(), 0,
			   address | flags);
	lbr_check_each_bit(t, AT(LBR_25), MSR_LASTBRANCH_0_FROM_IP, lbr_depth(), UPPER,
			   address | flags);
	lbr_check_each_bit(t, AT(LBR_25), MSR_LASTBRANCH_0_TO_IP, lbr_depth(), 0, address);
	lbr_check_each_bit(t, AT(LBR_25), MSR_LASTBRANCH_0_TO_IP, lbr_depth(), UPPER, address);
	if (info)
		lbr_check_each_bit(t, AT(LBR_25), MSR_LBR_INFO_0, lbr_depth(), 0, info);
	lbr_close();
}

/*
 * LBR-28  A write to FROM or TO of an address that isn't canonical must raise #GP.
 *         Linux: restores FROM with its sign extended, or WRMSR raises #GP
 *
 * Given  FROM and TO of the first entry and of the last one hold an address
 * When   they are written with an address whose bits from 57 on aren't all the same, except the
 *        bits that are flags in the format, with or without transactions
 * Then   each write raises #GP, and the register reads as before
 * Control: an address of the lower half, and one of the upper half, are taken
 */
TEST(msr, lbr_addresses_that_are_not_canonical_are_refused, REQS(LBR_28),
     NEEDS(need_lbr, need_refused_msrs))
{
	static const u64 kept = 0x123456789abc;
	const u32 banks[] = { MSR_LASTBRANCH_0_FROM_IP, MSR_LASTBRANCH_0_TO_IP };
	/* If transactions are switched off, no source says whether FROM has their flags. */
	const u64 tsx = lbr_format() == 4 ? LBR4_FROM_IN_TX | LBR4_FROM_TSX_ABORT : 0;
	u64 flags, info;

	named_bits(&flags, &info);
	flags |= tsx;
	lbr_open(0, 0);
	for (unsigned bank = 0; bank < 2; bank++)
		for (unsigned i = 0; i < lbr_depth(); i += lbr_depth() - 1) {
			const u32 msr = banks[bank] + i;

			msr_write(msr, UPPER | kept);
			CONTROL_EQ(t, LBR_28, UPPER | kept, msr_read(msr),
				   "MSR %#x, an address of the upper half", msr);
			msr_write(msr, kept);
			for (unsigned bit = NOT_SIGN; bit < 64; bit++) {
				if (!bank && flags & BIT(bit))
					continue;
				CHECK(t, LBR_28, msr_try_write(msr, kept | BIT(bit)).raised,
				      "#GP of WRMSR of an address with bit %u alone above it, MSR "
				      "%#x",
				      bit, msr);
				CHECK(t, LBR_28,
				      msr_try_write(msr, (UPPER | kept) & ~BIT(bit)).raised,
				      "#GP of WRMSR of an upper address without bit %u, MSR %#x",
				      bit, msr);
			}
			CHECK_EQ(t, LBR_28, kept, msr_read(msr), "MSR %#x after what was refused",
				 msr);
		}
	lbr_open(0, 0);
	lbr_close();
}

/* The value that is written to entry i before branches are recorded: unique, with flags that every
 * processor has. */
static struct lbr_raw mine(unsigned i)
{
	struct lbr_raw raw = { 0x0000123456789000ULL + 64 * i,
			       UPPER | (0x00006edcba987000ULL + 64 * i), 0 };

	if (lbr_format_has_info(lbr_format()))
		raw.info = LBR5_INFO_MISPRED | (0x5a00 + i);
	else
		raw.from |= LBR3_FROM_MISPRED;
	return raw;
}

/* If KVM reschedules the guest before recording is on, the written entries are lost, but the new
 * branches aren't. */
static bool is_lost_beside_new(struct test *t, const struct lbr_stack *stack)
{
	if (stack->raw[stack->depth - 1].from || test_is_strict(t) ||
	    counter_caps()->host.id != HYPERVISOR_KVM)
		return false;
	test_inconclusive(t, "under KVM the entries that were written read 0, %u times", LBR_TRIES);
	return true;
}

/*
 * LBR-03  A branch recorded in a full stack must replace the oldest entry.
 *         SDM 17.4.8 LBR Stack
 * LBR-25  FROM, TO, INFO and MSR_LASTBRANCH_TOS must read back what WRMSR wrote (context switch
 *         use).
 *         Linux, KVM: switch them with the context; Table 17-16 prints R/O
 *
 * Given  software has written each entry, flags and INFO too, and MSR_LASTBRANCH_TOS so that the
 *        next branches go past the last entry
 * When   five branches are recorded
 * Then   the next five entries by index hold these branches, and each other entry holds the value
 *        that software wrote
 */
TEST(lbr, branches_leave_the_other_entries_as_software_wrote_them, REQS(LBR_03, LBR_25),
     NEEDS(need_lbr))
{
	const unsigned depth = lbr_depth(), links = 4;
	const unsigned tops[] = { 2, depth - 3, depth - 1 };
	struct lbr_stack stack;

	for (unsigned k = 0; k < sizeof(tops) / sizeof(tops[0]); k++) {
		for (unsigned n = 0; n < LBR_TRIES; n++) {
			lbr_open(0, tops[k]);
			for (unsigned i = 0; i < depth; i++) {
				struct lbr_raw raw = mine(i);

				lbr_put(i, &raw);
			}
			lbr_go_on(&lbr_piece_lbr_chain, links, IA32_DEBUGCTL_LBR, &stack);
			if (stack.raw[depth - 1].from)
				break;
		}
		if (is_lost_beside_new(t, &stack))
			return;
		for (unsigned age = 0; age < depth; age++) {
			struct lbr_raw want = mine((tops[k] + links + 1 + depth - age) % depth);

			if (age <= links) {
				CHECK_EQ(t, LBR_03, lbr_chain_row(links, age).from,
					 stack.branch[age].from,
					 "FROM of the branch %u before the newest, from index %u "
					 "on",
					 age, tops[k]);
				continue;
			}
			CHECK_EQ(t, IDS(LBR_03, LBR_25), want.from, stack.raw[age].from,
				 "FROM of an entry %u before the newest, as written", age);
			CHECK_EQ(t, IDS(LBR_03, LBR_25), want.to, stack.raw[age].to,
				 "TO of an entry %u before the newest, as written", age);
			CHECK_EQ(t, IDS(LBR_03, LBR_25), want.info, stack.raw[age].info,
				 "INFO of an entry %u before the newest, as written", age);
		}
	}
	lbr_open(0, 0);
	lbr_close();
}
