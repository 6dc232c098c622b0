/* SPDX-License-Identifier: MIT */
/*
 * Adaptive PEBS records, IA32_PERF_CAPABILITIES[11:8] = 4: a record says in its first quadword
 * which groups it has and how long it is. Pure: driven by spec/adaptive.def, no machine access, no
 * globals. Bytes come from memory that anything may have written, so nothing is read before the
 * format word has been found to agree with itself and with the bytes that there are.
 */
#ifndef PMU_ADAPTIVE_H
#define PMU_ADAPTIVE_H

#include "spec/adaptive.h"
#include "spec/types.h"

/* In their order in a record. */
enum adaptive_group {
#define ADAPTIVE_GROUP(group, bytes, title, source) GROUP_##group,
#include "spec/adaptive.def"
	GROUPS
};

struct adaptive_layout {
	u32 config;			/* MSR_PEBS_DATA_CFG[31:0] that makes it */
	u16 size;			/* of a record, bytes */
	u16 entries;			/* of the LBR group */
	u16 offset[GROUPS];		/* where a group begins, if the record has it */
};

enum adaptive_state {
	ADAPTIVE_WHOLE,
	ADAPTIVE_NO_BASIC_GROUP,	/* fewer bytes than the basic group has */
	ADAPTIVE_UNKNOWN_GROUP,		/* the format word has a bit that names none */
	ADAPTIVE_OTHER_SIZE,		/* its size isn't that of its groups */
	ADAPTIVE_CUT_OFF,		/* fewer bytes than its size */
};

/* The record that MSR_PEBS_DATA_CFG = config makes. false, with *layout untouched: reserved bits.
 */
bool adaptive_lay_out(u64 config, struct adaptive_layout *layout);

/* Has the record the group? */
bool adaptive_has(const struct adaptive_layout *layout, enum adaptive_group group);

/*
 * The layout of the record at bytes, of which size can be read. Anything but ADAPTIVE_WHOLE leaves
 * *layout untouched. Alignment isn't assumed.
 */
enum adaptive_state adaptive_read(const void *bytes, size_t size, struct adaptive_layout *layout);

/* The same of a record of which only the beginning may be there: ADAPTIVE_CUT_OFF will do. */
bool adaptive_begins(const void *bytes, size_t size, struct adaptive_layout *layout);

#endif
