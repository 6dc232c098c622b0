/* SPDX-License-Identifier: MIT */
/*
 * Decodes architectural PEBS records, IA32_PERF_CAPABILITIES[11:8] = 0FH: a record has one or more
 * fragments, and the header of each fragment says how long it is and which groups it has. Pure:
 * driven by spec/arch_pebs.def, no machine access, no globals. The bytes may be arbitrary, so
 * lengths are checked before anything is read.
 */
#ifndef PMU_ARCH_RECORD_H
#define PMU_ARCH_RECORD_H

#include "spec/arch_pebs.h"
#include "spec/types.h"

/* In their order in a fragment. */
enum arch_group { ARCH_BASIC, ARCH_AUX, ARCH_GPR, ARCH_XER, ARCH_LBR, ARCH_COUNTERS, ARCH_GROUPS };

struct arch_fragment {
	u64 header;			/* its first quadword */
	unsigned size;			/* that it states, bytes */
	unsigned end;			/* of its last group; size, or up to 15 less */
	unsigned offset[ARCH_GROUPS];	/* where a group begins; 0: it isn't there */
	unsigned component[ARCH_PEBS_XER_COMPONENTS];	/* of XER, the same */
	unsigned entries;		/* of LBR */
	u32 gp, fixed;			/* counters whose values are there */
	bool metrics;			/* and fixed counter 3 and the metrics */
	bool last;			/* of its record */
};

enum arch_state {
	ARCH_WHOLE,
	ARCH_NO_HEADER,		/* fewer bytes than a header has */
	ARCH_UNKNOWN_GROUP,	/* a bit of the header names a group of unknown size */
	ARCH_OTHER_SIZE,	/* its size isn't that of its groups */
	ARCH_CUT_OFF,		/* fewer bytes than its size */
};

/*
 * The fragment at bytes; size bytes can be read. *fragment is set only if the result is ARCH_WHOLE.
 * bytes need not be aligned. A fragment's size may be rounded up to a multiple of 16
 * (docs/READINGS.md).
 */
enum arch_state arch_fragment_read(const void *bytes, size_t size, struct arch_fragment *fragment);

/* Has the fragment the group? */
bool arch_has(const struct arch_fragment *fragment, enum arch_group group);

/* Bytes of the record that begins there, with all its fragments; 0: there is no complete
 * fragment. */
size_t arch_record_bytes(const void *bytes, size_t size);

/*
 * The offset, in the fragment, of a counter's value in the group of counters; fixed counter i is
 * ARCH_FIXED(i). 0: it isn't in the group.
 */
#define ARCH_FIXED(i)	(32u + (i))
unsigned arch_counter_at(const struct arch_fragment *fragment, unsigned counter);

#endif
