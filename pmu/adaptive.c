/* SPDX-License-Identifier: MIT */
/*
 * See adaptive.h. The manual's edition of 2016 doesn't describe these records: the rows of
 * spec/adaptive.def are from Linux and kvm-unit-tests.
 */
#include "pmu/adaptive.h"

#include "spec/arch_pebs.h"
#include "spec/msr.h"

static const struct {
	u64 bit;	/* of MSR_PEBS_DATA_CFG; 0: every record has the group */
	u16 bytes;	/* for the LBR group: size of one entry */
} groups[GROUPS] = {
#define PEBS_DATA_CFG_BASIC 0
#define ADAPTIVE_GROUP(group, bytes, title, source) \
	[GROUP_##group] = { PEBS_DATA_CFG_##group, bytes },
#include "spec/adaptive.def"
	[GROUP_COUNTERS] = { PEBS_DATA_CFG_CNTR | PEBS_DATA_CFG_METRICS, ARCH_PEBS_COUNTERS_BYTES },
};

#define GROUP_BITS (PEBS_DATA_CFG_MEMORY | PEBS_DATA_CFG_GPR | PEBS_DATA_CFG_XMM | \
		    PEBS_DATA_CFG_LBR | PEBS_DATA_CFG_CNTR | PEBS_DATA_CFG_METRICS)
#define COUNTERS (PEBS_DATA_CFG_CNTR_GP | PEBS_DATA_CFG_CNTR_FIXED)
#define ENTRIES_MOST 256u
#define METRICS_VALUES 2u	/* slots, metrics */
#define VALUES_MOST (32u + 32u + METRICS_VALUES)

/* A record's size has 16 bits. */
_Static_assert(ADAPTIVE_BASIC_BYTES + ADAPTIVE_MEMORY_BYTES + ADAPTIVE_GPR_BYTES +
			       ADAPTIVE_XMM_BYTES + ENTRIES_MOST * ADAPTIVE_LBR_BYTES +
			       ARCH_PEBS_COUNTERS_BYTES + VALUES_MOST * ARCH_PEBS_COUNTER_BYTES <=
		       0xffff,
	       "record size");

bool adaptive_has(const struct adaptive_layout *layout, enum adaptive_group group)
{
	return (unsigned)group < GROUPS &&
	       (!groups[group].bit || (layout->config & groups[group].bit));
}

static unsigned values_of(const struct adaptive_layout *layout)
{
	return bits_set(layout->gp) + bits_set(layout->fixed) +
	       (layout->metrics ? METRICS_VALUES : 0);
}

static unsigned bytes_of(const struct adaptive_layout *layout, enum adaptive_group group)
{
	unsigned bytes;

	if (!adaptive_has(layout, group))
		return 0;
	bytes = groups[group].bytes * (group == GROUP_LBR ? layout->entries : 1u);
	if (group == GROUP_COUNTERS)
		bytes += values_of(layout) * ARCH_PEBS_COUNTER_BYTES;
	return bytes;
}

/* Compute the offset of each group that *l has, and the size of the record. */
static void place_groups(struct adaptive_layout *l)
{
	unsigned at = 0;

	for (unsigned g = 0; g < GROUPS; g++) {
		l->offset[g] = (u16)at;
		at += bytes_of(l, (enum adaptive_group)g);
	}
	l->size = (u16)at;
}

bool adaptive_lay_out(u64 config, struct adaptive_layout *layout)
{
	struct adaptive_layout l = { .config = config };

	if (config & ~(GROUP_BITS | PEBS_DATA_CFG_LBR_ENTRIES | COUNTERS) ||
	    (config & COUNTERS && !(config & PEBS_DATA_CFG_CNTR)))
		return false;
	if (config & PEBS_DATA_CFG_LBR)
		l.entries = (u16)(((config & PEBS_DATA_CFG_LBR_ENTRIES) >>
				   PEBS_DATA_CFG_LBR_ENTRIES_SHIFT) +
				  1);
	l.gp = (u32)((config & PEBS_DATA_CFG_CNTR_GP) >> PEBS_DATA_CFG_CNTR_GP_SHIFT);
	l.fixed = (u32)((config & PEBS_DATA_CFG_CNTR_FIXED) >> PEBS_DATA_CFG_CNTR_FIXED_SHIFT);
	l.metrics = config & PEBS_DATA_CFG_METRICS;
	place_groups(&l);
	*layout = l;
	return true;
}

static u64 little_endian(const u8 *bytes, unsigned size)
{
	u64 value = 0;

	for (unsigned i = size; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

/*
 * Read the counters group of a record. Its head lists the contents; the format word only says that
 * the group exists. Before, *l has an empty counters group. false: the group isn't complete within
 * size bytes.
 */
static bool look_at_counters(const u8 *bytes, size_t size, struct adaptive_layout *l)
{
	const u8 *head = bytes + l->offset[GROUP_COUNTERS];

	if (size < (size_t)l->offset[GROUP_COUNTERS] + ARCH_PEBS_COUNTERS_BYTES)
		return false;
	l->gp = (u32)little_endian(head + ARCH_PEBS_COUNTERS_gp, 4);
	l->fixed = (u32)little_endian(head + ARCH_PEBS_COUNTERS_fixed, 4);
	l->metrics = little_endian(head + ARCH_PEBS_COUNTERS_metrics, 4) == ARCH_PEBS_METRICS_BITS;
	l->config |= (u64)l->gp << PEBS_DATA_CFG_CNTR_GP_SHIFT & PEBS_DATA_CFG_CNTR_GP;
	l->config |= (u64)l->fixed << PEBS_DATA_CFG_CNTR_FIXED_SHIFT & PEBS_DATA_CFG_CNTR_FIXED;
	place_groups(l);
	return true;
}

/* Could a record of this size be *l with some values in the counters group? */
static bool could_be(const struct adaptive_layout *l, unsigned size)
{
	return size >= l->size && (size - l->size) % ARCH_PEBS_COUNTER_BYTES == 0 &&
	       (size - l->size) / ARCH_PEBS_COUNTER_BYTES <= VALUES_MOST;
}

static enum adaptive_state look(const void *bytes, size_t size, struct adaptive_layout *l)
{
	unsigned stated;
	u64 word;

	if (size < ADAPTIVE_BASIC_BYTES)
		return ADAPTIVE_NO_BASIC_GROUP;
	word = little_endian((const u8 *)bytes + ADAPTIVE_BASIC_format, 8);
	stated = (unsigned)((word & ADAPTIVE_FORMAT_SIZE) >> ADAPTIVE_FORMAT_SIZE_SHIFT);
	if (!adaptive_lay_out(word & ADAPTIVE_FORMAT_DATA_CFG, l))
		return ADAPTIVE_UNKNOWN_GROUP;
	if (adaptive_has(l, GROUP_COUNTERS)) {
		l->metrics = false;
		place_groups(l);
		if (!could_be(l, stated))
			return ADAPTIVE_OTHER_SIZE;
		if (!look_at_counters(bytes, size, l)) {
			l->size = (u16)stated;
			return ADAPTIVE_CUT_OFF;
		}
	}
	if (l->size != stated)
		return ADAPTIVE_OTHER_SIZE;
	return size < l->size ? ADAPTIVE_CUT_OFF : ADAPTIVE_WHOLE;
}

enum adaptive_state adaptive_read(const void *bytes, size_t size, struct adaptive_layout *layout)
{
	struct adaptive_layout l;
	enum adaptive_state state = look(bytes, size, &l);

	if (state == ADAPTIVE_WHOLE)
		*layout = l;
	return state;
}

bool adaptive_begins(const void *bytes, size_t size, struct adaptive_layout *layout)
{
	struct adaptive_layout l;
	enum adaptive_state state = look(bytes, size, &l);

	if (state != ADAPTIVE_WHOLE && state != ADAPTIVE_CUT_OFF)
		return false;
	*layout = l;
	return true;
}
