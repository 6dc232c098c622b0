/* SPDX-License-Identifier: MIT */
/* The decoder of adaptive records: the records that it refuses, and that each byte is in exactly
 * one place. */
#include "host/check.h"
#include "host/random.h"

#include "pmu/adaptive.h"
#include "pmu/record.h"
#include "spec/msr.h"

#define WORD_SIZE(bytes) ((u64)(bytes) << 48)
#define LARGEST 6608u		/* every group, 256 LBR entries */
#define HEAD 16u		/* of the counters group */

static void put(u8 *bytes, u64 value)
{
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (u8)(value >> 8 * i);
}

static struct adaptive_layout laid_out(u64 config)
{
	struct adaptive_layout layout = { 0 };

	CHECK(adaptive_lay_out(config, &layout), "%llx", (unsigned long long)config);
	return layout;
}

static void reserved_bits_of_the_configuration_are_refused(void)
{
	struct adaptive_layout layout, before;

	memset(&layout, 0x5a, sizeof(layout));
	before = layout;
	for (unsigned bit = 0; bit < 64; bit++) {
		bool legal = bit < 6 || (bit >= 24 && bit < 32);

		CHECK_EQ(legal, adaptive_lay_out(1ULL << bit, &layout), "bit %u", bit);
		CHECK(legal || !memcmp(&before, &layout, sizeof(layout)), "bit %u: untouched", bit);
		layout = before;
	}
	for (unsigned bit = 32; bit < 56; bit++)
		CHECK(adaptive_lay_out(1ULL << bit | 0x10, &layout), "counter of bit %u", bit);
	for (unsigned bit = 56; bit < 64; bit++)
		CHECK(!adaptive_lay_out(1ULL << bit | 0x10, &layout), "bit %u", bit);
}

static void groups_follow_each_other_without_a_gap(void)
{
	for (unsigned config = 0; config < 16; config++) {
		for (u64 entries = 1; entries <= 256; entries += 15) {
			struct adaptive_layout l = laid_out(config | (entries - 1) << 24);
			unsigned end = 0;

			for (unsigned g = 0; g < GROUPS; g++) {
				unsigned next = g + 1 < GROUPS ? l.offset[g + 1] : l.size;

				CHECK_EQ(end, l.offset[g], "config %u group %u", config, g);
				CHECK_EQ(adaptive_has(&l, (enum adaptive_group)g), next > end,
					 "config %u group %u", config, g);
				end = next;
			}
			CHECK_EQ(config & 8 ? entries : 0, l.entries);
			CHECK_EQ(0, l.size % 8);
		}
	}
	CHECK_EQ(LARGEST, laid_out(0xff00000f).size);
	CHECK(!adaptive_has(&(struct adaptive_layout){ .config = ~0ULL }, GROUPS));
}

static void what_does_not_agree_with_itself_is_refused(void)
{
	static u8 bytes[LARGEST];
	struct adaptive_layout layout, before;

	memset(&layout, 0x5a, sizeof(layout));
	before = layout;
	for (unsigned config = 0; config < 16; config++) {
		size_t size = laid_out(config).size;

		put(bytes, config | WORD_SIZE(size));
		for (size_t n = 0; n < 32; n++)
			CHECK_EQ(ADAPTIVE_NO_BASIC_GROUP, adaptive_read(bytes, n, &layout));
		for (size_t n = 32; n < size; n++)
			CHECK_EQ(ADAPTIVE_CUT_OFF, adaptive_read(bytes, n, &layout));
		for (u64 other = 0; other < 0x10000; other += other < 0x200 ? 1 : 0x3f) {
			if (other == size)
				continue;
			put(bytes, config | WORD_SIZE(other));
			CHECK_EQ(ADAPTIVE_OTHER_SIZE, adaptive_read(bytes, LARGEST, &layout));
		}
		for (unsigned bit = 6; bit < 24; bit++) {
			put(bytes, config | 1ULL << bit | WORD_SIZE(size));
			CHECK_EQ(ADAPTIVE_UNKNOWN_GROUP, adaptive_read(bytes, LARGEST, &layout));
		}
		CHECK(!memcmp(&before, &layout, sizeof(layout)), "untouched");
		/* The layout doesn't depend on the retire latency. */
		put(bytes, config | 0x123400000000 | WORD_SIZE(size));
		CHECK_EQ(ADAPTIVE_WHOLE, adaptive_read(bytes, size, &layout));
		CHECK_EQ(config, layout.config);
		CHECK_EQ(size, layout.size);
		layout = before;
	}
}

/* The counters group is as long as its head says, and no byte outside of the record is read. */
static void head_of_the_counters_group_says_what_it_has(void)
{
	static const struct {
		u32 gp, fixed, metrics, values;
	} heads[] = {
		{ 0, 0, 0, 0 },	   { 1, 0, 0, 1 },  { 0x80000000, 0, 0, 1 }, { 0, 0x80, 0, 1 },
		{ 0x3ff, 0xf, 0, 14 }, { 0, 0, 3, 2 },	{ 0x15, 2, 3, 6 },	{ ~0u, ~0u, 3, 66 },
		{ 0, 0, 1, 0 },	   { 0, 0, 2, 0 },
	};
	static u8 bytes[LARGEST + HEAD + 8 * 66];
	struct adaptive_layout layout, before;

	memset(&before, 0x5a, sizeof(before));
	for (unsigned config = 0x10; config < 0x40; config++) {
		for (unsigned i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
			const size_t at = laid_out(config & 0xf).size;
			const size_t size = at + HEAD + 8 * heads[i].values;

			put(bytes, config | WORD_SIZE(size));
			put(bytes + at, heads[i].gp | (u64)heads[i].fixed << 32);
			put(bytes + at + 8, heads[i].metrics | 0xffffffff00000000);
			layout = before;
			for (size_t n = 32; n < size; n++)
				CHECK_EQ(ADAPTIVE_CUT_OFF, adaptive_read(bytes, n, &layout));
			CHECK(!memcmp(&before, &layout, sizeof(layout)), "untouched");
			for (size_t n = 32; n < size; n += 8)
				CHECK(adaptive_begins(bytes, n, &layout) && layout.size == size);
			CHECK_EQ(ADAPTIVE_WHOLE, adaptive_read(bytes, size, &layout));
			CHECK_EQ(at, layout.offset[GROUP_COUNTERS]);
			CHECK_EQ(heads[i].gp, layout.gp);
			CHECK_EQ(heads[i].fixed, layout.fixed);
			CHECK_EQ(heads[i].metrics == 3, layout.metrics);
			for (u64 other = 0; other < 0x2000; other += 4) {
				if (other == size)
					continue;
				put(bytes, config | WORD_SIZE(other));
				CHECK_EQ(ADAPTIVE_OTHER_SIZE,
					 adaptive_read(bytes, sizeof(bytes), &layout), "%llx",
					 (unsigned long long)other);
			}
		}
	}
}

static u64 quadword(const u8 *bytes, const struct adaptive_layout *l, enum adaptive_group group,
		    unsigned offset)
{
	u64 value = 0;

	if (adaptive_has(l, group))
		memcpy(&value, bytes + l->offset[group] + offset, sizeof(value));
	return value;
}

/* The two layouts in the decoder of fixed layouts are those of their format words. */
static void layouts_of_one_kind_agree(void)
{
	static const struct {
		enum record_format format;
		u64 config;
	} of[] = { { RECORD_ADAPTIVE_BASIC, 0 }, { RECORD_ADAPTIVE, RECORD_ADAPTIVE_CONFIG } };
	struct random random = { 7 };
	struct pebs_record record;
	u8 bytes[RECORD_MAX_SIZE];

	for (unsigned i = 0; i < 2; i++) {
		struct adaptive_layout l = laid_out(of[i].config);

		CHECK_EQ(l.size, record_size(of[i].format));
		for (size_t n = 0; n < sizeof(bytes); n++)
			bytes[n] = (u8)random_next(&random);
		CHECK(record_decode(of[i].format, bytes, l.size, &record));
		CHECK_EQ(quadword(bytes, &l, GROUP_BASIC, ADAPTIVE_BASIC_format),
			 record.value[RECORD_format]);
		CHECK_EQ(quadword(bytes, &l, GROUP_BASIC, ADAPTIVE_BASIC_eventing_ip),
			 record.value[RECORD_eventing_ip]);
		CHECK_EQ(quadword(bytes, &l, GROUP_MEMORY,
					   ADAPTIVE_MEMORY_data_linear_address),
			 record.value[RECORD_data_linear_address]);
		CHECK_EQ(quadword(bytes, &l, GROUP_GPR, ADAPTIVE_GPR_rsp),
			 record.value[RECORD_rsp]);
		CHECK_EQ(quadword(bytes, &l, GROUP_GPR, ADAPTIVE_GPR_r15),
			 record.value[RECORD_r15]);
	}
}

/* Of a truncated record, exactly the fields that are there are decoded. */
static void beginning_of_a_record_is_decoded(void)
{
	static const u8 fields_at[16] = { 4, 8, 22, 26, 4, 8, 22, 26, 4, 8, 22, 26, 4, 8, 22, 26 };
	static u8 bytes[LARGEST];
	struct adaptive_layout layout;
	struct pebs_record record, before;

	memset(&record, 0x5a, sizeof(record));
	before = record;
	for (unsigned config = 0; config < 16; config++) {
		struct adaptive_layout l = laid_out(config);

		for (unsigned at = 0; at < l.size; at += 8)
			put(bytes + at, 0x1000 + at);
		put(bytes, config | WORD_SIZE(l.size));
		for (size_t n = 32; n <= l.size; n += 8) {
			unsigned fields = 0;

			CHECK(adaptive_begins(bytes, n, &layout) && layout.size == l.size);
			CHECK(record_decode_adaptive(bytes, n, &record));
			for (unsigned f = 0; f < RECORD_FIELDS; f++)
				fields += record.present >> f & 1;
			CHECK(fields <= n / 8, "config %u, %zu bytes", config, n);
			if (n == l.size)
				CHECK_EQ(fields_at[config], fields, "config %u", config);
		}
		record = before;
		put(bytes, config | WORD_SIZE(l.size + 8));
		CHECK(!adaptive_begins(bytes, LARGEST, &layout));
		CHECK(!record_decode_adaptive(bytes, LARGEST, &record));
		CHECK(!record_decode_adaptive(bytes, 31, &record));
		CHECK(!memcmp(&before, &record, sizeof(record)), "untouched");
	}
}

int main(void)
{
	RUN(reserved_bits_of_the_configuration_are_refused);
	RUN(groups_follow_each_other_without_a_gap);
	RUN(what_does_not_agree_with_itself_is_refused);
	RUN(head_of_the_counters_group_says_what_it_has);
	RUN(layouts_of_one_kind_agree);
	RUN(beginning_of_a_record_is_decoded);
	return check_end();
}
