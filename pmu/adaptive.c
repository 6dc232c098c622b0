/* SPDX-License-Identifier: MIT */
/*
 * See adaptive.h. The manual's 2016 printing ends before these records: what stands in
 * spec/adaptive.def is Linux's and kvm-unit-tests'.
 */
#include "pmu/adaptive.h"

#include "spec/msr.h"

static const struct {
	u64 bit;	/* of MSR_PEBS_DATA_CFG; 0: every record has the group */
	u16 bytes;	/* the LBR group's: of one entry */
} groups[GROUPS] = {
#define PEBS_DATA_CFG_BASIC 0
#define ADAPTIVE_GROUP(group, bytes, title, source) \
	[GROUP_##group] = { PEBS_DATA_CFG_##group, bytes },
#include "spec/adaptive.def"
};

#define GROUP_BITS (PEBS_DATA_CFG_MEMORY | PEBS_DATA_CFG_GPR | PEBS_DATA_CFG_XMM | \
		    PEBS_DATA_CFG_LBR)
#define ENTRIES_MOST 256u

/* A record's size has 16 bits. */
_Static_assert(ADAPTIVE_BASIC_BYTES + ADAPTIVE_MEMORY_BYTES + ADAPTIVE_GPR_BYTES +
			       ADAPTIVE_XMM_BYTES + ENTRIES_MOST * ADAPTIVE_LBR_BYTES <=
		       0xffff,
	       "record size");

bool adaptive_has(const struct adaptive_layout *layout, enum adaptive_group group)
{
	return (unsigned)group < GROUPS &&
	       (!groups[group].bit || (layout->config & groups[group].bit));
}

static unsigned bytes_of(const struct adaptive_layout *layout, enum adaptive_group group)
{
	if (!adaptive_has(layout, group))
		return 0;
	return groups[group].bytes * (group == GROUP_LBR ? layout->entries : 1u);
}

bool adaptive_lay_out(u64 config, struct adaptive_layout *layout)
{
	struct adaptive_layout l = { .config = (u32)config };
	unsigned at = 0;

	if (config & ~(GROUP_BITS | PEBS_DATA_CFG_LBR_ENTRIES))
		return false;
	if (config & PEBS_DATA_CFG_LBR)
		l.entries = (u16)(((config & PEBS_DATA_CFG_LBR_ENTRIES) >>
				   PEBS_DATA_CFG_LBR_ENTRIES_SHIFT) +
				  1);
	for (unsigned g = 0; g < GROUPS; g++) {
		l.offset[g] = (u16)at;
		at += bytes_of(&l, (enum adaptive_group)g);
	}
	l.size = (u16)at;
	*layout = l;
	return true;
}

static u64 little_endian(const u8 *bytes)
{
	u64 value = 0;

	for (unsigned i = 8; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

static enum adaptive_state look(const void *bytes, size_t size, struct adaptive_layout *l)
{
	u64 word;

	if (size < ADAPTIVE_BASIC_BYTES)
		return ADAPTIVE_NO_BASIC_GROUP;
	word = little_endian((const u8 *)bytes + ADAPTIVE_BASIC_format);
	if (!adaptive_lay_out(word & ADAPTIVE_FORMAT_DATA_CFG, l))
		return ADAPTIVE_UNKNOWN_GROUP;
	if (l->size != (word & ADAPTIVE_FORMAT_SIZE) >> ADAPTIVE_FORMAT_SIZE_SHIFT)
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
