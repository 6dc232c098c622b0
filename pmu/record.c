/* SPDX-License-Identifier: MIT */
/*
 * Record decoder, driven by the rows of spec/record.def: SDM "Processor Event Based Sampling
 * (PEBS)" and Table 18-44, of spec/adaptive.def, and of spec/netburst.def: "BTS and DS Save Area".
 * Little endian on any host; the bytes need not be aligned. This file doesn't decide which fields
 * are defined for an event.
 */
#include "pmu/record.h"

#include "pmu/adaptive.h"
#include "spec/adaptive.h"

/* Where the groups of RECORD_ADAPTIVE begin. */
enum {
	MEMORY_AT = ADAPTIVE_BASIC_BYTES,
	GPR_AT = MEMORY_AT + ADAPTIVE_MEMORY_BYTES,
	ADAPTIVE_BYTES = GPR_AT + ADAPTIVE_GPR_BYTES,
};

/* Rows of a field by its group; the XMM and LBR groups aren't in a record of one layout. */
#define ROWS_BASIC(field, offset, size) \
	{ RECORD_ADAPTIVE_BASIC, RECORD_##field, (offset), (size) }, \
	{ RECORD_ADAPTIVE, RECORD_##field, (offset), (size) },
#define ROWS_MEMORY(field, offset, size) \
	{ RECORD_ADAPTIVE, RECORD_##field, MEMORY_AT + (offset), (size) },
#define ROWS_GPR(field, offset, size) \
	{ RECORD_ADAPTIVE, RECORD_##field, GPR_AT + (offset), (size) },
#define ROWS_XMM(field, offset, size)
#define ROWS_LBR(field, offset, size)

struct row {
	u8 format, field;
	u16 offset;
	u8 size;
};

static const struct row rows[] = {
#define RECORD_FIELD(format, field, offset, size, title) \
	{ RECORD_##format, RECORD_##field, (offset), (size) },
#define NB_RECORD_FIELD(format, field, offset, size, title) \
	{ RECORD_##format, RECORD_##field, (offset), (size) },
#define ADAPTIVE_FIELD(group, field, offset, size, title, source) \
	ROWS_##group(field, offset, size)
#include "spec/record.def"
#include "spec/netburst.def"
#include "spec/adaptive.def"
};

static const u16 sizes[RECORD_FORMATS] = {
#define RECORD_SIZE(format, bytes) [RECORD_##format] = (bytes),
#define NB_RECORD_SIZE(format, bytes) [RECORD_##format] = (bytes),
#include "spec/record.def"
#include "spec/netburst.def"
	[RECORD_ADAPTIVE_BASIC] = ADAPTIVE_BASIC_BYTES,
	[RECORD_ADAPTIVE] = ADAPTIVE_BYTES,
};

/* No row may extend beyond its record, and no record beyond the buffers for it. */
#define RECORD_SIZE(format, bytes) \
	enum { BYTES_##format = (bytes) }; \
	_Static_assert((bytes) <= RECORD_MAX_SIZE, #format);
#define RECORD_FIELD(format, field, offset, size, title) \
	_Static_assert((offset) + (size) <= BYTES_##format && (size) <= 8, #format " " #field);
#define NB_RECORD_SIZE(format, bytes) enum { BYTES_##format = (bytes) };
#define NB_RECORD_FIELD(format, field, offset, size, title) \
	_Static_assert((offset) + (size) <= BYTES_##format && (size) <= 8, #format " " #field);
#include "spec/record.def"
#include "spec/netburst.def"
_Static_assert(ADAPTIVE_BYTES <= RECORD_MAX_SIZE, "RECORD_ADAPTIVE");
_Static_assert(RECORD_FIELDS <= 32, "struct pebs_record.present is too small");

/* The formats, by their number in IA32_PERF_CAPABILITIES[11:8]. */
enum { FMT_NUMBER_FMT1 = 1, FMT_NUMBER_FMT2 = 2, FMT_NUMBER_FMT3 = 3 };

bool record_format_from_caps(unsigned pebs_fmt, enum record_format *format)
{
#define RECORD_SIZE(fmt, bytes) \
	if (pebs_fmt == FMT_NUMBER_##fmt) { \
		*format = RECORD_##fmt; \
		return true; \
	}
#include "spec/record.def"
	if (pebs_fmt >= PEBS_FORMAT_ADAPTIVE && pebs_fmt <= PEBS_FORMAT_SNAPSHOT) {
		*format = RECORD_ADAPTIVE_BASIC;
		return true;
	}
	return false;
}

size_t record_size(enum record_format format)
{
	return (unsigned)format < RECORD_FORMATS ? sizes[format] : 0;
}

static u64 little_endian(const u8 *bytes, unsigned size)
{
	u64 value = 0;

	for (unsigned i = size; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

bool record_decode(enum record_format format, const void *bytes, size_t size,
		   struct pebs_record *out)
{
	if (!record_size(format) || size < record_size(format))
		return false;
	*out = (struct pebs_record){ .format = format };
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];

		if (row->format != (unsigned)format)
			continue;
		out->value[row->field] = little_endian((const u8 *)bytes + row->offset, row->size);
		out->present |= (u32)BIT(row->field);
	}
	return true;
}

/* The place of a RECORD_ADAPTIVE field in a record of this layout. false: the record doesn't have
 * it. */
static bool place(const struct row *row, const struct adaptive_layout *layout, size_t *at)
{
	enum adaptive_group group = row->offset < MEMORY_AT ? GROUP_BASIC :
				    row->offset < GPR_AT    ? GROUP_MEMORY :
							      GROUP_GPR;
	unsigned begins = group == GROUP_BASIC ? 0 : group == GROUP_MEMORY ? MEMORY_AT : GPR_AT;

	*at = (size_t)layout->offset[group] + row->offset - begins;
	return adaptive_has(layout, group);
}

bool record_decode_adaptive(const void *bytes, size_t size, struct pebs_record *out)
{
	struct adaptive_layout layout;
	size_t at;

	if (!adaptive_begins(bytes, size, &layout))
		return false;
	*out = (struct pebs_record){ .format = RECORD_ADAPTIVE };
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];

		if (row->format != RECORD_ADAPTIVE || !place(row, &layout, &at) ||
		    at + row->size > size)
			continue;
		out->value[row->field] = little_endian((const u8 *)bytes + at, row->size);
		out->present |= (u32)BIT(row->field);
	}
	return true;
}

bool record_has(enum record_format format, enum record_field field)
{
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].format == (unsigned)format && rows[i].field == (unsigned)field)
			return true;
	return false;
}

bool record_get(const struct pebs_record *record, enum record_field field, u64 *value)
{
	if ((unsigned)field >= RECORD_FIELDS || !(record->present & BIT(field)))
		return false;
	*value = record->value[field];
	return true;
}

static const char *const names[RECORD_FIELDS] = {
#define RECORD_NAME(field) #field,
#include "spec/record.def"
	"format",
};

const char *record_field_name(enum record_field field)
{
	return (unsigned)field < RECORD_FIELDS ? names[field] : "?";
}
