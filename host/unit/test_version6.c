/* SPDX-License-Identifier: MIT */
/* CPUID leaf 23H: sets with holes, absent sub-leaves, addresses of the banks. */
#include "host/check.h"
#include "host/unit/cpuid_answers.h"

#include "pmu/version6/version6.h"

#define READ(table) ({							\
	answers = table;						\
	answer_count = sizeof(table) / sizeof(table[0]);		\
	version6_read(cpuid); })

static void every_subleaf_is_read(void)
{
	static const struct answer table[] = {
		{ 0, 0, { 0x23, 0, 0, 0 } }, { 7, 0, { 1, 0, 0, 0 } },
		{ 7, 1, { 0x100, 0, 0, 0 } },
		{ 0x23, 0, { 0x3f, 7, 0xaa08, 0 } }, { 0x23, 1, { 0xff, 0x77, 0, 0 } },
		{ 0x23, 2, { 0xfc, 0x3, 0xff, 0x7 } }, { 0x23, 3, { 0x1fff, 0, 0, 0 } },
		{ 0x23, 4, { 0, 0x60820378, 0, 0 } }, { 0x23, 5, { 0xff, 0x3, 0x77, 0x1 } },
	};
	struct version6 v = READ(table);

	CHECK(v.leaf && v.umask2 && v.equal && v.rdpmc_user_disable);
	CHECK_EQ(0x3f, v.subleaves);
	CHECK_EQ(8, v.slots_per_cycle);
	CHECK_EQ(0x77000000ff, v.counters);
	CHECK_EQ(0x3000000fc, v.reloadable);
	CHECK_EQ(0x7000000ff, v.causes);
	CHECK_EQ(0x1fff, v.events);
	CHECK_EQ(0x60820378, v.groups);
	CHECK_EQ(0x77000000ff, v.pebs);
	CHECK_EQ(0x100000003, v.pdist);
	CHECK(version6_has_arch_pebs(&v));
	CHECK_EQ(0xe0820378ffffffff, version6_cfg_c_bits(&v, 0));
	v.pebs &= ~4ULL;
	CHECK_EQ(0xffffffff, version6_cfg_c_bits(&v, 2), "reload alone");
	v.pebs &= ~1ULL;
	CHECK_EQ(0, version6_cfg_c_bits(&v, 0), "neither");
}

static void leaf_that_is_not_there_is_not_read(void)
{
	static const struct answer no_bit[] = {
		{ 0, 0, { 0x23, 0, 0, 0 } }, { 7, 0, { 1, 0, 0, 0 } }, { 7, 1, { 0xff, 0, 0, 0 } },
		{ 0x23, 0, { 2, 7, 8, 0 } }, { 0x23, 1, { 0xff, 0x77, 0, 0 } },
	};
	static const struct answer too_few[] = {
		{ 0, 0, { 0x22, 0, 0, 0 } }, { 7, 0, { 1, 0, 0, 0 } },
		{ 7, 1, { 0x100, 0, 0, 0 } }, { 0x23, 0, { 2, 7, 8, 0 } },
	};
	static const struct answer no_subleaf[] = {
		{ 0, 0, { 0x23, 0, 0, 0 } }, { 7, 1, { 0x100, 0, 0, 0 } },
		{ 0x23, 0, { 2, 7, 8, 0 } },
	};
	struct version6 none = { .leaf = false }, v;

	v = READ(no_bit);
	CHECK(!memcmp(&none, &v, sizeof(v)));
	v = READ(too_few);
	CHECK(!memcmp(&none, &v, sizeof(v)));
	v = READ(no_subleaf);
	CHECK(!memcmp(&none, &v, sizeof(v)));
}

static void subleaf_without_its_bit_is_nothing(void)
{
	static const struct answer table[] = {
		{ 0, 0, { 0x24, 0, 0, 0 } }, { 7, 0, { 1, 0, 0, 0 } },
		{ 7, 1, { 0x100, 0, 0, 0 } },
		{ 0x23, 0, { 0x13, 1, 0, 0 } }, { 0x23, 1, { 0x2ff, 0xf, 0, 0 } },
		{ 0x23, 2, { 1, 1, 1, 1 } }, { 0x23, 5, { 1, 1, 1, 1 } },
	};
	struct version6 v = READ(table);

	CHECK_EQ(0xf000002ff, v.counters, "a hole");
	CHECK_EQ(0, v.reloadable | v.causes | v.pebs | v.pdist);
	CHECK(!version6_has_arch_pebs(&v), "sub-leaf 4 without 5");
}

static void sets_are_walked_over_their_holes(void)
{
	const u64 set = 0x8000007700000209;
	static const u8 want[] = { 0, 3, 9, 32, 33, 34, 36, 37, 38, 63 };
	unsigned n = 0;

	FOR_EACH_COUNTER (c, set)
		CHECK_EQ(n < sizeof(want) ? want[n++] : 99, c);
	CHECK_EQ(sizeof(want), n);
	CHECK_EQ(COUNTERS_END, counter_next(0, 0));
}

static void registers_are_four_apart(void)
{
	CHECK_EQ(0x1900, version6_ctr(0));
	CHECK_EQ(0x1924, version6_ctr(9));
	CHECK_EQ(0x1925, version6_cfg_a(9));
	CHECK_EQ(0x190a, version6_cfg_b(2));
	CHECK_EQ(0x1907, version6_cfg_c(1));
	CHECK_EQ(0x1980, version6_ctr(32));
	CHECK_EQ(0x1998, version6_ctr(38));
	CHECK_EQ(0x1986, version6_cfg_b(33));
	CHECK_EQ(0x199b, version6_cfg_c(38));
}

int main(void)
{
	RUN(every_subleaf_is_read);
	RUN(leaf_that_is_not_there_is_not_read);
	RUN(subleaf_without_its_bit_is_nothing);
	RUN(sets_are_walked_over_their_holes);
	RUN(registers_are_four_apart);
	return check_end();
}
