/* SPDX-License-Identifier: MIT */
/*
 * The expected contents of the PMU's registers after a drawn sequence of accesses: a table of the
 * values that were written. While nothing counts, a register changes only by a write to it, or to
 * another address of it. Pure. Sources: SDM Table 35-2, WRMSR; "Architectural Performance
 * Monitoring Version 1 Facilities" (32-bit writes), "Full-Width Writes to Performance Counter
 * Registers", "IA32_PERF_GLOBAL_STATUS_RESET and IA32_PERF_GLOBAL_STATUS_SET MSRs",
 * "IA32_PERF_GLOBAL_INUSE MSR".
 */
#ifndef TESTS_RANDOM_REGISTERS_SHADOW_H
#define TESTS_RANDOM_REGISTERS_SHADOW_H

#include "tests/measure/register_bits.h"
#include "tests/random/prng.h"

#define SHADOW_ROWS	144
#define SHADOW_NONE	0xffu

enum shadow_kind {
	SHADOW_PLAIN,
	SHADOW_COUNTER,		/* IA32_PMCx: EAX and its sign */
	SHADOW_SELECT, SHADOW_FIXED_CONTROL, SHADOW_PEBS_ENABLE,	/* IA32_PERF_GLOBAL_INUSE */
};

struct shadow_row {
	struct register_bits bits;
	enum shadow_kind kind;
	u8 of;			/* row whose value it is: another address of that register */
	u8 number;		/* of a SHADOW_SELECT: its counter */
	bool has_rdpmc;
	u32 rdpmc;		/* ECX that reads it */
};

struct shadow {
	unsigned rows;
	struct shadow_row row[SHADOW_ROWS];
	u64 held[SHADOW_ROWS];
	unsigned width;		/* of IA32_PMCx */
	bool refuses;		/* reserved bits are written */
	u64 settable;		/* of IA32_PERF_GLOBAL_STATUS_SET; 0: it isn't there */
	u64 status;
	u64 fixed;		/* fixed counters that there are */
	u64 pebs_listed;	/* bits of IA32_PEBS_ENABLE that the manual lists with PMI_InUse */
};

enum shadow_access { SHADOW_WRITE, SHADOW_REFUSED, SHADOW_SET, SHADOW_RESET };

/* A write, and what it does. */
struct shadow_write {
	enum shadow_access access;
	unsigned row;		/* of the first two */
	u64 value;
};

/* Initial state: every register has the value `always`, the status is 0. */
void shadow_begin(struct shadow *s);
void shadow_draw(const struct shadow *s, struct prng *p, struct shadow_write *w);
/* Apply the write to the expected contents. */
void shadow_apply(struct shadow *s, const struct shadow_write *w);
u64 shadow_of(const struct shadow *s, unsigned row);
/* IA32_PERF_GLOBAL_INUSE, with PMI_InUse by any interrupt bit and any of IA32_PEBS_ENABLE; and by
 * those alone that the manual lists: the bits of its time. */
u64 shadow_in_use(const struct shadow *s);
u64 shadow_in_use_listed(const struct shadow *s);

#endif
