/* SPDX-License-Identifier: MIT */
/* The decoder of architectural PEBS records: the records that it refuses, and the ends of
 * records. */
#include "host/check.h"
#include "host/random.h"

#include "pmu/version6/arch_record.h"

#define BASIC	(1ULL << 63)
#define CONT	(1ULL << 31)
#define MODE_64 (1ULL << 30)

static void put(u8 *bytes, u64 value)
{
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (u8)(value >> 8 * i);
}

static void what_does_not_agree_with_itself_is_refused(void)
{
	static u8 bytes[0x10000];
	struct arch_fragment f, before;

	memset(&f, 0x5a, sizeof(f));
	before = f;
	put(bytes, BASIC | 0x40);
	for (size_t n = 0; n < 16; n++)
		CHECK_EQ(ARCH_NO_HEADER, arch_fragment_read(bytes, n, &f));
	for (size_t n = 16; n < 0x40; n++)
		CHECK_EQ(ARCH_CUT_OFF, arch_fragment_read(bytes, n, &f));
	for (u64 size = 0; size < 0x10000; size += size < 0x200 ? 1 : 0x3f) {
		if (size == 0x40)
			continue;
		put(bytes, BASIC | size);
		CHECK_EQ(ARCH_OTHER_SIZE, arch_fragment_read(bytes, sizeof(bytes), &f), "size %llx",
			 (unsigned long long)size);
	}
	/* Some of these bits have a group's name, but no size. */
	for (unsigned bit = 42; bit < 61; bit++) {
		static const u64 known = 1ULL << 49 | 1ULL << 50 | 1ULL << 53 | 1ULL << 54 |
					 1ULL << 55;

		if (known >> bit & 1)
			continue;
		put(bytes, BASIC | 1ULL << bit | 0x40);
		CHECK_EQ(ARCH_UNKNOWN_GROUP, arch_fragment_read(bytes, sizeof(bytes), &f), "bit %u",
			 bit);
	}
	CHECK(!memcmp(&before, &f, sizeof(f)), "untouched");
}

/* The decoder ignores reserved bits that name no group. */
static void other_reserved_bits_are_let_pass(void)
{
	static u8 bytes[0x40];
	struct arch_fragment f;

	for (unsigned bit = 16; bit < 35; bit++) {
		put(bytes, BASIC | 1ULL << bit | 0x40);
		CHECK_EQ(ARCH_WHOLE, arch_fragment_read(bytes, sizeof(bytes), &f), "bit %u", bit);
		CHECK_EQ(bit != 31, f.last, "bit %u", bit);
	}
}

static void size_may_go_on_to_a_multiple_of_16(void)
{
	static u8 bytes[0x60];
	struct arch_fragment f;

	/* One counter: 10H + 10H + 8. */
	bytes[0x10] = 4;
	for (u64 size = 0x20; size < 0x50; size++) {
		bool good = size == 0x28 || size == 0x30;

		put(bytes, 1ULL << 36 | size);
		CHECK_EQ(good ? ARCH_WHOLE : ARCH_OTHER_SIZE,
			 arch_fragment_read(bytes, sizeof(bytes), &f), "size %llx",
			 (unsigned long long)size);
		if (good)
			CHECK_EQ(0x28, f.end);
	}
}

static void record_ends_with_its_last_fragment(void)
{
	static u8 bytes[0x200];

	/* BASIC with CONT, an empty fragment, then BASIC; and one more record. */
	put(bytes, BASIC | MODE_64 | CONT | 0x40);
	put(bytes + 0x40, MODE_64 | 0x10);
	put(bytes + 0x50, BASIC | MODE_64 | 0x40);
	put(bytes + 0x90, BASIC | 0x40);
	CHECK_EQ(0x90, arch_record_bytes(bytes, sizeof(bytes)));
	CHECK_EQ(0x40, arch_record_bytes(bytes + 0x90, sizeof(bytes) - 0x90));
	for (size_t n = 0; n < 0x90; n++)
		CHECK_EQ(0, arch_record_bytes(bytes, n), "%zu bytes", n);
	/* Empty fragments up to the end. */
	for (unsigned at = 0; at < sizeof(bytes); at += 0x10)
		put(bytes + at, 0x10);
	CHECK_EQ(0, arch_record_bytes(bytes, sizeof(bytes)));
}

static void depth_of_the_last_branch_records_is_bounded(void)
{
	static u8 bytes[0x1000];
	struct arch_fragment f;

	put(bytes, 3ULL << 40 | (0x40 + 0x18 * 32));
	put(bytes + 0x20, 32);
	CHECK_EQ(ARCH_WHOLE, arch_fragment_read(bytes, sizeof(bytes), &f));
	CHECK_EQ(32, f.entries);
	for (unsigned bit = 0; bit < 64; bit++) {
		put(bytes + 0x20, 32 ^ 1ULL << bit);
		CHECK_EQ(ARCH_OTHER_SIZE, arch_fragment_read(bytes, sizeof(bytes), &f), "bit %u",
			 bit);
	}
}

static void values_of_counters_are_low_bits_first(void)
{
	static u8 bytes[0x1000];
	struct random random = { 11 };

	for (unsigned round = 0; round < 200; round++) {
		u64 there = random_next(&random) & random_next(&random);
		unsigned at = 0x20;
		struct arch_fragment f;

		put(bytes, 3ULL << 36 | (0x20 + 8 * (u64)__builtin_popcountll(there)));
		put(bytes + 0x10, there);
		if (!CHECK_EQ(ARCH_WHOLE, arch_fragment_read(bytes, sizeof(bytes), &f)))
			return;
		for (unsigned c = 0; c < 64; c++) {
			CHECK_EQ(there >> c & 1 ? at : 0, arch_counter_at(&f, c), "counter %u", c);
			at += there >> c & 1 ? 8 : 0;
		}
		CHECK_EQ(0, arch_counter_at(&f, 64));
	}
}

int main(void)
{
	RUN(what_does_not_agree_with_itself_is_refused);
	RUN(other_reserved_bits_are_let_pass);
	RUN(size_may_go_on_to_a_multiple_of_16);
	RUN(record_ends_with_its_last_fragment);
	RUN(depth_of_the_last_branch_records_is_bounded);
	RUN(values_of_counters_are_low_bits_first);
	return check_end();
}
