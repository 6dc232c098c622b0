/* SPDX-License-Identifier: MIT */
/*
 * PEBS records: turning the bytes that the processor wrote into named fields. Pure: driven by
 * spec/record.def, spec/adaptive.def and spec/netburst.def, no machine access, no globals. Records
 * of one layout. Adaptive ones say themselves what they hold (pmu/adaptive.h); here are two of
 * their layouts: the basic group alone, and what is most like formats 1 to 3, with the memory and
 * the GPR group.
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

/* Those of NetBurst and of format 4 have names out of spec/record.def, but for the format word. */
enum record_field {
#define RECORD_NAME(field) RECORD_##field,
#include "spec/record.def"
	RECORD_format,
	RECORD_FIELDS
};

#define RECORD_ADAPTIVE_CONFIG (PEBS_DATA_CFG_MEMORY | PEBS_DATA_CFG_GPR)

/* The largest record of all formats here, for buffers that hold one of any. */
#define RECORD_MAX_SIZE 256

/* The largest adaptive record: every group, as many LBR entries as a processor has, and the
 * counters that MSR_PEBS_DATA_CFG has bits for. */
#define RECORD_ADAPTIVE_MAX_SIZE 1456

struct pebs_record {
	enum record_format format;
	u64 value[RECORD_FIELDS];	/* by enum record_field; 0: the format hasn't got it */
	u32 present;			/* bit f: the format has field f */
};

/* The format that IA32_PERF_CAPABILITIES[11:8] names, of 4 to 6 the basic group; false: none that
 * is decoded here. */
bool record_format_from_caps(unsigned pebs_fmt, enum record_format *format);

/* Bytes of one record; 0 for a number that isn't a format. */
size_t record_size(enum record_format format);

/*
 * Decode one record of exactly record_size(format) bytes, fields of fewer than eight zero-extended;
 * size may be larger, the rest isn't looked at. false, with *out untouched: unknown
 * format, or fewer bytes than a record has.
 */
bool record_decode(enum record_format format, const void *bytes, size_t size,
		   struct pebs_record *out);

/*
 * Decode one adaptive record, of whatever groups: the fields of the basic, memory and GPR groups
 * that it has. Of at most size bytes; what is cut off isn't there. false, with *out untouched: its
 * format word doesn't agree with itself.
 */
bool record_decode_adaptive(const void *bytes, size_t size, struct pebs_record *out);

/* Has a record of this format the field? */
bool record_has(enum record_format format, enum record_field field);

/* A field's value; false, with *value untouched, if the record's format hasn't got it. */
bool record_get(const struct pebs_record *record, enum record_field field, u64 *value);

/* "rax", "eventing_ip", ...; "?" for a number that isn't a field. */
const char *record_field_name(enum record_field field);

#endif
