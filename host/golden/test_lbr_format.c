/* SPDX-License-Identifier: MIT */
/*
 * Registers of last branch records, typed by hand from the manual's figures and tables ("LBR
 * Stack", "Last Branch Records and 64-Bit Addressing", Table 17-16), and their decoded values.
 */
#include "host/check.h"
#include "pmu/lbr/format.h"

static struct lbr_branch decode(unsigned format, u64 from, u64 to, u64 info)
{
	const struct lbr_raw raw = { from, to, info };
	struct lbr_branch branch = { .from = 1 };

	CHECK(lbr_format_decode(format, &raw, &branch), "format %u", format);
	return branch;
}

/* Bit 63 of FROM, and no other bit, is a flag; TO has none. */
static void format_3_has_a_mispredict_flag_in_from(void)
{
	struct lbr_branch b = decode(3, 0x0000000000401000, 0x0000000000402000, 0);

	CHECK_EQ(0x401000, b.from);
	CHECK_EQ(0x402000, b.to);
	CHECK(!b.mispredicted && !b.in_transaction && !b.aborted && !b.cycles);
	b = decode(3, 0x8000000000401000, 0x0000000000402000, 0);
	CHECK_EQ(0x401000, b.from);
	CHECK(b.mispredicted && !b.in_transaction && !b.aborted);
	b = decode(3, 0xffffffff81000010, 0xffffffff81000020, 0);
	CHECK_EQ(0xffffffff81000010, b.from);
	CHECK_EQ(0xffffffff81000020, b.to);
	CHECK(b.mispredicted);
	b = decode(3, 0x7fffffff81000010, 0xffffffff81000020, 0);
	CHECK_EQ(0xffffffff81000010, b.from);
	CHECK(!b.mispredicted && !b.in_transaction && !b.aborted);
}

/* FROM[63] mispredicted, [62] in a transaction, [61] aborted; bits 60:48 extend bit 47. */
static void format_4_has_three_flags_in_from(void)
{
	struct lbr_branch b = decode(4, 0x1fff888812345678, 0xffff888812345690, 0);

	CHECK_EQ(0xffff888812345678, b.from);
	CHECK_EQ(0xffff888812345690, b.to);
	CHECK(!b.mispredicted && !b.in_transaction && !b.aborted && !b.cycles);
	b = decode(4, 0x8000000000001234, 0x5678, 0);
	CHECK_EQ(0x1234, b.from);
	CHECK(b.mispredicted && !b.in_transaction && !b.aborted);
	b = decode(4, 0x4000000000001234, 0x5678, 0);
	CHECK_EQ(0x1234, b.from);
	CHECK(!b.mispredicted && b.in_transaction && !b.aborted);
	b = decode(4, 0x2000000000001234, 0x5678, 0);
	CHECK_EQ(0x1234, b.from);
	CHECK(!b.mispredicted && !b.in_transaction && b.aborted);
}

/* The address alone in FROM; INFO[63] mispredicted, [62] in a transaction, [61] aborted, [15:0]
 * cycles. */
static void format_5_has_flags_and_cycles_in_info(void)
{
	struct lbr_branch b = decode(5, 0xffffffff81000010, 0x00007fffffffeff0, 0x000000000000002a);

	CHECK_EQ(0xffffffff81000010, b.from);
	CHECK_EQ(0x7fffffffeff0, b.to);
	CHECK(!b.mispredicted && !b.in_transaction && !b.aborted);
	CHECK_EQ(42, b.cycles);
	b = decode(5, 0x1000, 0x2000, 0x800000000000ffff);
	CHECK(b.mispredicted && !b.in_transaction && !b.aborted);
	CHECK_EQ(65535, b.cycles);
	b = decode(5, 0x1000, 0x2000, 0x4000000000010001);
	CHECK(!b.mispredicted && b.in_transaction && !b.aborted);
	CHECK_EQ(1, b.cycles);
	b = decode(5, 0x1000, 0x2000, 0x2000000000000000);
	CHECK(!b.mispredicted && !b.in_transaction && b.aborted);
	/* The bits of FROM above bit 47 belong to the address: five levels of page tables. */
	b = decode(5, 0x00ff888812345678, 0xff11000012345678, 0);
	CHECK_EQ(0x00ff888812345678, b.from);
	CHECK_EQ(0xff11000012345678, b.to);
}

static void format_7_has_no_flags_of_transactions(void)
{
	struct lbr_branch b = decode(7, 0x1000, 0x2000, 0xe000000000000007);

	CHECK(b.mispredicted && !b.in_transaction && !b.aborted);
	CHECK_EQ(7, b.cycles);
}

static void a_format_that_is_not_decoded_is_refused(void)
{
	static const unsigned others[] = { 0, 1, 2, 6, 8, 0x3f, 64, ~0u };
	const struct lbr_raw raw = { 1, 2, 3 };

	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct lbr_branch branch = { .from = 0x5eed };

		CHECK(!lbr_format_decode(others[i], &raw, &branch), "format %u", others[i]);
		CHECK_EQ(0x5eed, branch.from, "format %u", others[i]);
		CHECK_EQ(0, lbr_format_depth(others[i]), "format %u", others[i]);
		CHECK(!lbr_format_has_info(others[i]), "format %u", others[i]);
	}
}

static void the_depth_goes_with_the_format(void)
{
	CHECK_EQ(16, lbr_format_depth(3));
	CHECK_EQ(16, lbr_format_depth(4));
	CHECK_EQ(32, lbr_format_depth(5));
	CHECK_EQ(32, lbr_format_depth(7));
	CHECK(!lbr_format_has_info(3) && !lbr_format_has_info(4));
	CHECK(lbr_format_has_info(5) && lbr_format_has_info(7));
	CHECK(!lbr_format_has_transactions(3) && lbr_format_has_transactions(4));
	CHECK(lbr_format_has_transactions(5) && !lbr_format_has_transactions(7));
}

int main(void)
{
	RUN(format_3_has_a_mispredict_flag_in_from);
	RUN(format_4_has_three_flags_in_from);
	RUN(format_5_has_flags_and_cycles_in_info);
	RUN(format_7_has_no_flags_of_transactions);
	RUN(a_format_that_is_not_decoded_is_refused);
	RUN(the_depth_goes_with_the_format);
	return check_end();
}
