/* SPDX-License-Identifier: MIT */
/*
 * Decodes PEBS records: turns the bytes that the processor wrote into named fields. Pure: driven by
 * spec/record.def, spec/adaptive.def and spec/netburst.def, no machine access, no globals. This
 * file decodes records with a fixed layout. An adaptive record describes its own layout
 * (pmu/adaptive.h); two of these layouts are here: the basic group alone, and the layout that is
 * most like formats 1 to 3, with the memory and GPR groups.
 */
#ifndef PMU_RECORD_H
#define PMU_RECORD_H

#include "spec/msr.h"
#include "spec/types.h"

enum record_format {
#define RECORD_SIZE(format, bytes) RECORD_##format,
#include "spec/record.def"
#define NB_RECORD_SIZE(format, bytes) RECORD_##format,
#include "spec/netburst.def"
	RECORD_ADAPTIVE_BASIC,
	RECORD_ADAPTIVE,	/* MSR_PEBS_DATA_CFG = RECORD_ADAPTIVE_CONFIG */
	RECORD_FORMATS
};

/* Fields of NetBurst and of format 4 have names of spec/record.def too, except the format word. */
enum record_field {
#define RECORD_NAME(field) RECORD_##field,
#include "spec/record.def"
	RECORD_format,
	RECORD_FIELDS
};

#define RECORD_ADAPTIVE_CONFIG (PEBS_DATA_CFG_MEMORY | PEBS_DATA_CFG_GPR)

/* The largest record of all these formats, for buffers that hold a record of any format. */
#define RECORD_MAX_SIZE 256

/* The largest adaptive record: every group, as many LBR entries as a processor has, and the
 * counters that MSR_PEBS_DATA_CFG has bits for. */
#define RECORD_ADAPTIVE_MAX_SIZE 1456

struct pebs_record {
	enum record_format format;
	u64 value[RECORD_FIELDS];	/* by enum record_field; 0: the format doesn't have it */
	u32 present;			/* bit f: the format has field f */
};

/* The format in IA32_PERF_CAPABILITIES[11:8]; for 4 to 6 the basic group. false: the format isn't
 * decoded here. */
bool record_format_from_caps(unsigned pebs_fmt, enum record_format *format);

/* Bytes of one record; 0 for a number that isn't a format. */
size_t record_size(enum record_format format);

/*
 * Decode one record of record_size(format) bytes. Fields of fewer than eight bytes are
 * zero-extended. size may be larger; the rest is ignored. false, with *out unchanged: unknown
 * format, or fewer bytes than a record has.
 */
bool record_decode(enum record_format format, const void *bytes, size_t size,
		   struct pebs_record *out);

/*
 * Decode one adaptive record with any groups: the fields of its basic, memory and GPR groups. If
 * the record is longer than size bytes, fields that are cut off are missing. false, with *out
 * unchanged: the format word isn't consistent.
 */
bool record_decode_adaptive(const void *bytes, size_t size, struct pebs_record *out);

/* Has a record of this format the field? */
bool record_has(enum record_format format, enum record_field field);

/* A field's value; false, with *value unchanged, if the record's format doesn't have it. */
bool record_get(const struct pebs_record *record, enum record_field field, u64 *value);

/* "rax", "eventing_ip", ...; "?" for a number that isn't a field. */
const char *record_field_name(enum record_field field);

#endif
