/* SPDX-License-Identifier: MIT */
/* See arch_record.h. The rows of spec/arch_pebs.def are from Linux. */
#include "pmu/version6/arch_record.h"

/* Header bits that may stand for groups which no row describes. */
#define UNKNOWN_GROUPS	(BITS(56, 60) | BITS(42, 48))

#define XER_SHIFT	ARCH_PEBS_XER_SHIFT
#define METRICS_VALUES	2u	/* fixed counter 3 and MSR_PERF_METRICS */
#define ROUNDED_TO	16u

static const struct {
	u16 bytes;
} components[ARCH_PEBS_XER_COMPONENTS] = {
#define ARCH_PEBS_XER(component, number, bytes, title, source) [number] = { bytes },
#include "spec/arch_pebs.def"
};

static const u8 entries_of[] = {
#define ARCH_PEBS_LBR_CODE(code, entries, title, source) [code] = (entries),
#include "spec/arch_pebs.def"
};

static u64 little_endian(const u8 *bytes, unsigned size)
{
	u64 value = 0;

	while (size-- > 0)
		value = value << 8 | bytes[size];
	return value;
}

/* The record being read: nothing at or after limit may be read. */
struct layout {
	const u8 *bytes;
	unsigned at, limit;
};

/* Take so many more bytes. false: they aren't all there. */
static bool take(struct layout *l, unsigned bytes)
{
	if (bytes > l->limit - l->at)
		return false;
	l->at += bytes;
	return true;
}

static bool take_group(struct layout *l, struct arch_fragment *f, enum arch_group group,
		       unsigned bytes)
{
	f->offset[group] = l->at;
	return take(l, bytes);
}

static bool take_xer(struct layout *l, struct arch_fragment *f)
{
	const u64 asked = (f->header & ARCH_PEBS_XER) >> XER_SHIFT;
	u64 stored;

	if (!take_group(l, f, ARCH_XER, ARCH_PEBS_XER_BYTES))
		return false;
	stored = little_endian(l->bytes + f->offset[ARCH_XER] + ARCH_PEBS_XER_xstate_bv, 8);
	for (unsigned n = 0; n < ARCH_PEBS_XER_COMPONENTS; n++) {
		if (!(stored & asked & BIT(n)))
			continue;
		f->component[n] = l->at;
		if (!components[n].bytes || !take(l, components[n].bytes))
			return false;
	}
	return true;
}

static bool take_lbr(struct layout *l, struct arch_fragment *f)
{
	const u64 code = (f->header & ARCH_PEBS_LBR) >> ARCH_PEBS_LBR_SHIFT;
	u64 entries = entries_of[code];

	if (!take_group(l, f, ARCH_LBR, ARCH_PEBS_LBR_BYTES))
		return false;
	if (code == ARCH_PEBS_LBR_BY_DEPTH)
		entries = little_endian(l->bytes + f->offset[ARCH_LBR] + ARCH_PEBS_LBR_depth, 8);
	if (entries > l->limit / ARCH_PEBS_LBR_ENTRY_BYTES)
		return false;
	f->entries = (unsigned)entries;
	return take(l, f->entries * ARCH_PEBS_LBR_ENTRY_BYTES);
}

static bool take_counters(struct layout *l, struct arch_fragment *f)
{
	const u8 *head = l->bytes + l->at;
	unsigned values;

	if (!take_group(l, f, ARCH_COUNTERS, ARCH_PEBS_COUNTERS_BYTES))
		return false;
	f->gp = (u32)little_endian(head + ARCH_PEBS_COUNTERS_gp, 4);
	f->fixed = (u32)little_endian(head + ARCH_PEBS_COUNTERS_fixed, 4);
	f->metrics = (little_endian(head + ARCH_PEBS_COUNTERS_metrics, 4) &
		      ARCH_PEBS_METRICS_BITS) == ARCH_PEBS_METRICS_BITS;
	values = bits_set(f->gp) + bits_set(f->fixed) + (f->metrics ? METRICS_VALUES : 0);
	return take(l, values * ARCH_PEBS_COUNTER_BYTES);
}

static bool take_groups(struct layout *l, struct arch_fragment *f)
{
	const u64 h = f->header;

	return take(l, ARCH_PEBS_HEADER_BYTES) &&
	       (!(h & ARCH_PEBS_BASIC) || take_group(l, f, ARCH_BASIC, ARCH_PEBS_BASIC_BYTES)) &&
	       (!(h & ARCH_PEBS_AUX) || take_group(l, f, ARCH_AUX, ARCH_PEBS_AUX_BYTES)) &&
	       (!(h & ARCH_PEBS_GPR) || take_group(l, f, ARCH_GPR, ARCH_PEBS_GPR_BYTES)) &&
	       (!(h & ARCH_PEBS_XER) || take_xer(l, f)) &&
	       (!(h & ARCH_PEBS_LBR) || take_lbr(l, f)) &&
	       (!(h & ARCH_PEBS_CNTR) || take_counters(l, f));
}

/* A fragment with no group and no CONT is empty; its record continues after it. */
static bool is_last(u64 header)
{
	return !(header & ARCH_PEBS_CONT) && (header & ARCH_PEBS_GROUPS & ~ARCH_PEBS_MODE_64);
}

static bool names_unknown(u64 header)
{
	for (unsigned n = 0; n < ARCH_PEBS_XER_COMPONENTS; n++)
		if (!components[n].bytes && header & BIT(XER_SHIFT + n))
			return true;
	return header & UNKNOWN_GROUPS;
}

enum arch_state arch_fragment_read(const void *bytes, size_t size, struct arch_fragment *fragment)
{
	struct arch_fragment f = { 0 };
	struct layout l = { .bytes = bytes };

	if (size < ARCH_PEBS_HEADER_BYTES)
		return ARCH_NO_HEADER;
	f.header = little_endian(l.bytes + ARCH_PEBS_HEADER_format, 8);
	f.size = (unsigned)(f.header & ARCH_PEBS_SIZE);
	if (names_unknown(f.header))
		return ARCH_UNKNOWN_GROUP;
	if (f.size < ARCH_PEBS_HEADER_BYTES)
		return ARCH_OTHER_SIZE;
	if (f.size > size)
		return ARCH_CUT_OFF;
	l.limit = f.size;
	if (!take_groups(&l, &f) || f.size - l.at >= ROUNDED_TO ||
	    (f.size != l.at && f.size % ROUNDED_TO))
		return ARCH_OTHER_SIZE;
	f.end = l.at;
	f.last = is_last(f.header);
	*fragment = f;
	return ARCH_WHOLE;
}

bool arch_has(const struct arch_fragment *fragment, enum arch_group group)
{
	return (unsigned)group < ARCH_GROUPS && fragment->offset[group];
}

size_t arch_record_bytes(const void *bytes, size_t size)
{
	struct arch_fragment f = { .last = false };
	size_t at = 0;

	while (!f.last) {
		if (arch_fragment_read((const u8 *)bytes + at, size - at, &f) != ARCH_WHOLE)
			return 0;
		at += f.size;
	}
	return at;
}

unsigned arch_counter_at(const struct arch_fragment *fragment, unsigned counter)
{
	const u64 there = fragment->gp | (u64)fragment->fixed << ARCH_FIXED(0);

	if (!arch_has(fragment, ARCH_COUNTERS) || counter >= 64 || !(there & BIT(counter)))
		return 0;
	return fragment->offset[ARCH_COUNTERS] + ARCH_PEBS_COUNTERS_BYTES +
	       ARCH_PEBS_COUNTER_BYTES * bits_set(there & (BIT(counter) - 1));
}
