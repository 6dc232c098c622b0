/* SPDX-License-Identifier: MIT */
/* Which leaves of CPUID are read: each existing leaf once, and always with an end. */
#include "host/check.h"
#include "host/unit/cpuid_answers.h"
#include "pmu/leaves.h"

static struct leaves leaves;

#define READ(table, hypervisor) do {						\
	answers = table;							\
	answer_count = sizeof(table) / sizeof(table[0]);			\
	leaves_read(&leaves, hypervisor, cpuid); } while (0)

static void subleaves_end_where_the_leaf_says(void)
{
	static const struct answer table[] = {
		{ 0, 0, { 0x23, 1, 2, 3 } },
		{ 1, 0, { 0x306c3, 1, 2, 3 } },
		{ 2, 0, { 1, 1, 1, 1 } },			/* not read */
		{ 4, 0, { 0x121, 4, 5, 6 } }, { 4, 1, { 0x122, 4, 5, 6 } },
		{ 4, 2, { 0x20, 4, 5, 6 } }, { 4, 3, { 0x163, 4, 5, 6 } },
		{ 7, 0, { 0, 1, 2, 3 } }, { 7, 1, { 9, 9, 9, 9 } },
		{ 0xb, 0, { 1, 2, 0x100, 3 } }, { 0xb, 1, { 4, 8, 0x201, 3 } },
		{ 0xb, 2, { 0, 0, 2, 3 } },
		{ 0x14, 0, { 1, 1, 1, 0 } }, { 0x14, 1, { 2, 2, 2, 2 } },
		{ 0x23, 0, { 0xb, 0, 0, 0 } }, { 0x23, 1, { 1, 0, 0, 0 } },
		{ 0x23, 2, { 7, 7, 7, 7 } }, { 0x23, 3, { 3, 0, 0, 0 } },
	};

	READ(table, 0);
	CHECK_EQ(3, leaves_find(&leaves, 0, 0)->regs[3]);
	CHECK(leaves_find(&leaves, 1, 0) && !leaves_find(&leaves, 2, 0));
	CHECK(leaves_find(&leaves, 4, 1) && !leaves_find(&leaves, 4, 2), "type 0 ends leaf 4");
	CHECK(!leaves_find(&leaves, 4, 3));
	CHECK(!leaves_find(&leaves, 6, 0), "it reads 0");
	CHECK(leaves_find(&leaves, 7, 0) && !leaves_find(&leaves, 7, 1), "the largest is 0");
	CHECK(leaves_find(&leaves, 0xb, 1) && !leaves_find(&leaves, 0xb, 2));
	CHECK(leaves_find(&leaves, 0x14, 1));
	CHECK(leaves_find(&leaves, 0x23, 1) && leaves_find(&leaves, 0x23, 3));
	CHECK(!leaves_find(&leaves, 0x23, 2), "its bit is clear");
	CHECK_EQ(12, leaves.count);
}

static void leaves_above_the_largest_are_not_read(void)
{
	static const struct answer table[] = {
		{ 0, 0, { 6, 1, 2, 3 } }, { 6, 0, { 1, 0, 0, 0 } }, { 7, 0, { 0, 1, 2, 3 } },
		{ 0x40000000, 0, { 0x40000001, 1, 2, 3 } },
		{ 0x80000000, 0, { 0x80000001, 0, 0, 0 } }, { 0x80000001, 0, { 1, 1, 1, 1 } },
		{ 0x80000002, 0, { 1, 1, 1, 1 } },
	};

	READ(table, 0);
	CHECK(leaves_find(&leaves, 6, 0) && !leaves_find(&leaves, 7, 0));
	CHECK(!leaves_find(&leaves, 0x40000000, 0), "no hypervisor has a signature there");
	CHECK(leaves_find(&leaves, 0x80000001, 0) && !leaves_find(&leaves, 0x80000002, 0));
}

static void both_ranges_of_a_hypervisor_are_read(void)
{
	static const struct answer table[] = {
		{ 0, 0, { 1, 1, 2, 3 } },
		{ 0x40000000, 0, { 0x40000001, 1, 2, 3 } }, { 0x40000001, 0, { 1, 1, 1, 1 } },
		{ 0x40000100, 0, { 0, 1, 2, 3 } }, { 0x40000101, 0, { 5, 5, 5, 5 } },
		{ 0x40000102, 0, { 6, 6, 6, 6 } },
	};

	READ(table, 0x40000100);
	CHECK(leaves_find(&leaves, 0x40000001, 0));
	CHECK(leaves_find(&leaves, 0x40000101, 0), "0 for the largest means the next one");
	CHECK(!leaves_find(&leaves, 0x40000102, 0));
	CHECK_EQ(5, leaves.count);
}

static unsigned asked;

static void cpuid_of_ones(u32 leaf, u32 subleaf, u32 regs[4])
{
	(void)leaf;
	(void)subleaf;
	asked++;
	memset(regs, 0xff, 4 * sizeof(*regs));
}

static void any_answers_come_to_an_end(void)
{
	leaves_read(&leaves, 0x40000100, cpuid_of_ones);
	CHECK(leaves.count < LEAVES_MAX, "none is lost: %u", leaves.count);
	CHECK(leaves_find(&leaves, 0x80000008, 0) && !leaves_find(&leaves, 0x80000009, 0));
	CHECK(asked < 100);
	leaves_read(&leaves, 0xffffffff, cpuid_of_ones);
	CHECK(leaves.count < LEAVES_MAX);
}

static void a_kind_is_signature_and_native_model(void)
{
	static const struct answer core[] = {
		{ 0, 0, { 0x1a, 1, 2, 3 } }, { 1, 0, { 0x906a3, 0x00800800, 2, 3 } },
		{ 0x1a, 0, { 0x40000001, 0, 0, 0 } },
	}, other_id[] = {
		{ 0, 0, { 0x1a, 1, 2, 3 } }, { 1, 0, { 0x906a3, 0x08800800, 2, 3 } },
		{ 0x1a, 0, { 0x40000001, 0, 0, 0 } },
	}, atom[] = {
		{ 0, 0, { 0x1a, 1, 2, 3 } }, { 1, 0, { 0x906a3, 0x10800800, 2, 3 } },
		{ 0x1a, 0, { 0x20000001, 0, 0, 0 } },
	}, stepping[] = {
		{ 0, 0, { 0x1a, 1, 2, 3 } }, { 1, 0, { 0x906a4, 0x10800800, 2, 3 } },
		{ 0x1a, 0, { 0x40000001, 0, 0, 0 } },
	};
	struct leaves first;

	READ(core, 0);
	first = leaves;
	READ(other_id, 0);
	CHECK(leaves_same_kind(&first, &leaves));
	READ(atom, 0);
	CHECK(!leaves_same_kind(&first, &leaves));
	READ(stepping, 0);
	CHECK(!leaves_same_kind(&first, &leaves));
}

int main(void)
{
	RUN(subleaves_end_where_the_leaf_says);
	RUN(leaves_above_the_largest_are_not_read);
	RUN(both_ranges_of_a_hypervisor_are_read);
	RUN(any_answers_come_to_an_end);
	RUN(a_kind_is_signature_and_native_model);
	return check_end();
}
