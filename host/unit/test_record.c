/* SPDX-License-Identifier: MIT */
/* The record decoder: sizes, refusals, and that each byte belongs to exactly one field. */
#include "host/check.h"
#include "host/random.h"

#include "pmu/record.h"

/* The bytes of a field: only in the record outside of IA-32e mode fields have 32 bits. */
static size_t width(unsigned format)
{
	return format == RECORD_NB32 ? 4 : 8;
}

static void every_format_has_a_size_that_fits(void)
{
	for (unsigned f = 0; f < RECORD_FORMATS; f++) {
		size_t size = record_size((enum record_format)f);

		CHECK(size >= 4 * width(f) && size <= RECORD_MAX_SIZE && size % 8 == 0,
		      "format %u: %zu", f, size);
	}
	CHECK_EQ(0, record_size(RECORD_FORMATS));
}

static void only_known_formats_are_named(void)
{
	for (unsigned fmt = 0; fmt < 32; fmt++) {
		enum record_format format = RECORD_FORMATS;

		if (record_format_from_caps(fmt, &format))
			CHECK((unsigned)format < RECORD_FORMATS, "%u", fmt);
		else
			CHECK_EQ(RECORD_FORMATS, format, "%u: untouched", fmt);
	}
}

static void short_records_are_refused_untouched(void)
{
	u8 bytes[RECORD_MAX_SIZE];
	struct pebs_record record, before;

	memset(bytes, 0xa5, sizeof(bytes));
	memset(&record, 0x5a, sizeof(record));
	before = record;
	for (unsigned f = 0; f < RECORD_FORMATS; f++) {
		size_t size = record_size((enum record_format)f);

		for (size_t n = 0; n < size; n++)
			CHECK(!record_decode((enum record_format)f, bytes, n, &record), "%zu", n);
		CHECK(!memcmp(&before, &record, sizeof(record)), "format %u: untouched", f);
		CHECK(record_decode((enum record_format)f, bytes, size, &record), "format %u", f);
		CHECK(record_decode((enum record_format)f, bytes, sizeof(bytes), &record));
		record = before;
	}
	CHECK(!record_decode(RECORD_FORMATS, bytes, sizeof(bytes), &record));
	CHECK(!memcmp(&before, &record, sizeof(record)));
}

/* If one byte changes, exactly one field changes, by exactly that byte. */
static void every_byte_belongs_to_one_field(void)
{
	for (unsigned f = 0; f < RECORD_FORMATS; f++) {
		enum record_format format = (enum record_format)f;
		size_t size = record_size(format);
		u8 bytes[RECORD_MAX_SIZE] = { 0 };
		struct pebs_record record;

		for (size_t n = 0; n < size; n++) {
			unsigned changed = 0;

			bytes[n] = 0x80;
			CHECK(record_decode(format, bytes, size, &record));
			for (unsigned i = 0; i < RECORD_FIELDS; i++)
				changed += record.value[i] == (u64)0x80 << n % width(f) * 8;
			CHECK_EQ(1, changed, "format %u byte %zu", f, n);
			bytes[n] = 0;
		}
	}
}

static void absent_fields_are_not_got(void)
{
	u8 bytes[RECORD_MAX_SIZE];

	memset(bytes, 0xff, sizeof(bytes));
	for (unsigned f = 0; f < RECORD_FORMATS; f++) {
		u64 ones = width(f) == 8 ? ~0ULL : 0xffffffff;
		struct pebs_record record;
		size_t present = 0;

		CHECK(record_decode((enum record_format)f, bytes, sizeof(bytes), &record));
		for (unsigned i = 0; i < RECORD_FIELDS; i++) {
			u64 value = 42;
			bool got = record_get(&record, (enum record_field)i, &value);

			CHECK_EQ(record.present >> i & 1, got, "field %u", i);
			CHECK_EQ(got ? ones : 42, value, "field %u", i);
			CHECK_EQ(got ? ones : 0, record.value[i], "field %u", i);
			present += got;
		}
		CHECK_EQ(record_size((enum record_format)f) / width(f), present, "fields");
	}
}

static void names_are_distinct(void)
{
	for (unsigned i = 0; i < RECORD_FIELDS; i++)
		for (unsigned j = 0; j < i; j++)
			CHECK(strcmp(record_field_name((enum record_field)i),
				     record_field_name((enum record_field)j)));
	CHECK_STR("?", record_field_name(RECORD_FIELDS));
}

/* Unaligned bytes with random values: the decoder must not depend on the alignment. */
static void alignment_does_not_matter(void)
{
	struct random random = { 1 };
	u8 bytes[RECORD_MAX_SIZE + 8];

	for (unsigned round = 0; round < 200; round++) {
		struct pebs_record a, b;
		unsigned f = (unsigned)(random_next(&random) % RECORD_FORMATS);
		enum record_format format = (enum record_format)f;
		size_t size = record_size(format);
		unsigned shift = (unsigned)(random_next(&random) % 8);

		for (size_t i = 0; i < size; i++)
			bytes[i] = (u8)random_next(&random);
		CHECK(record_decode(format, bytes, size, &a));
		memmove(bytes + shift, bytes, size);
		CHECK(record_decode(format, bytes + shift, size, &b));
		CHECK(!memcmp(a.value, b.value, sizeof(a.value)), "shift %u", shift);
	}
}

int main(void)
{
	RUN(every_format_has_a_size_that_fits);
	RUN(only_known_formats_are_named);
	RUN(short_records_are_refused_untouched);
	RUN(every_byte_belongs_to_one_field);
	RUN(absent_fields_are_not_got);
	RUN(names_are_distinct);
	RUN(alignment_does_not_matter);
	return check_end();
}
