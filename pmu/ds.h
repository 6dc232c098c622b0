/* SPDX-License-Identifier: MIT */
/*
 * The DS save area, from which the processor reads where to write PEBS records, and the PEBS
 * buffer. The buffer lies between two guard zones. Buffer and guards are filled with a pattern
 * before each use, so that every byte that was written can be recognised. Only the 64-bit form of
 * the area is supported: with DTES64 it is the form in every mode. Each processor has its own
 * areas; all functions use those of the calling processor.
 */
#ifndef PMU_DS_H
#define PMU_DS_H

#include "pmu/adaptive.h"
#include "pmu/record.h"
#include "spec/types.h"

#define DS_CAPACITY	192	/* most records in a buffer */
#define DS_BUFFER_BYTES	(DS_CAPACITY * RECORD_MAX_SIZE)
#define DS_RESET_SLOTS	48	/* by counter: n, of fixed counter i PMC_FIXED(i) */
#define DS_RESET_SLOTS_OF_FORMAT_3 4

struct ds_setup {
	enum record_format format;
	unsigned capacity;	/* records up to the absolute maximum, 1 to DS_CAPACITY */
	unsigned threshold;	/* record after which the threshold interrupt is due, 1.. ; larger
			     * than capacity: never */
	unsigned start;		/* record at which the index begins, 0 to capacity */
	u64 reset[DS_RESET_SLOTS];	/* counter reset values, as they stand in memory; those
				    * for which the format has a slot */
	/* Where baseline is 1: what adaptive records hold; NULL: the groups of RECORD_ADAPTIVE. No
	 * more than DS_BUFFER_BYTES of them. */
	const struct adaptive_layout *layout;
};

/* Allocate this processor's memory, once. false: no memory. */
bool ds_init(void);

/* The usual areas, 0 and 1, each with its own buffer. ds_use() chooses the area that the functions
 * below use: one of these or of the next ones; at first it is 0. It doesn't write IA32_DS_AREA. */
#define DS_AREAS 2
/* A third area, for up to DS_HIGH_CAPACITY records, at linear addresses above 4 GiB; the same
 * addresses without their upper 32 bits are other memory. For one processor at a time. */
#define DS_HIGH		 DS_AREAS
#define DS_HIGH_CAPACITY 8
/* The same memory at linear addresses of the upper half (bits 63:47 are 1). */
#define DS_UPPER	 (DS_HIGH + 1)
/* The memory of the first two areas, divided in another way by ds_place(): the area begins a given
 * number of bytes before the end of a page, a multiple of 8, and the buffer a given number before a
 * multiple of 64 KiB. */
#define DS_PLACED	 (DS_UPPER + 1)
#define DS_PLACED_MOST	 0x400		/* bytes */
/* The memory of DS_HIGH at other linear addresses: the buffer begins a number of bytes, set by
 * ds_carry(), before a multiple of 4 GiB, up to DS_CARRY_MOST. */
#define DS_CARRY	 (DS_PLACED + 1)
#define DS_CARRY_MOST	 0x400		/* bytes */
void ds_carry(unsigned buffer);
void ds_use(unsigned area);
void ds_place(unsigned area, unsigned buffer);

/* Fill the buffer with the pattern, describe it in the DS area and set IA32_DS_AREA; with baseline
 * also MSR_PEBS_DATA_CFG. Counters must be off. */
void ds_open(const struct ds_setup *setup);
/* IA32_DS_AREA back to 0. The buffer's contents stay until the next ds_open(). */
void ds_close(void);

/* Has the calling processor opened the chosen area since ds_forget(), which forgets all areas? */
bool ds_was_opened(void);
void ds_forget(void);

/* The index field in memory now. May be called in any state, also in interrupt handlers. */
u64 ds_index(void);
void ds_set_index(unsigned record);
/* Set the index, the absolute maximum or the threshold to that many bytes from the buffer's base;
 * may be negative.
 */
void ds_set_index_bytes(int64_t bytes);
void ds_set_maximum_bytes(u64 bytes);
void ds_set_threshold_bytes(u64 bytes);
/* Which quadword of the area is the counter's reset slot; 0: the format has none for it. */
unsigned ds_reset_slot(unsigned counter);
/* The counter's reset slot, if the format has one. */
void ds_set_reset(unsigned counter, u64 value);
/* Set the base field of the area; the buffer doesn't move. */
void ds_set_base_bytes(u64 bytes);

u64 ds_area(void);		/* linear address of the DS area */
u64 ds_buffer(void);		/* of the buffer */
u64 ds_threshold(void);		/* as set up */

/* How far the index is from the base, in bytes. */
int64_t ds_bytes(void);
/* Whole records between base and index; 0 if the index is outside the buffer. */
unsigned ds_records(void);
size_t ds_record_size(void);
/* The bytes of record i, 0 to DS_CAPACITY - 1, written or not. */
const void *ds_record(unsigned i);

/*
 * The first byte that was written outside records [first, end) of the buffer, the guards before and
 * after it included: its offset from the base in *offset. false: nothing was.
 */
bool ds_written_outside(unsigned first, unsigned end, int64_t *offset);
/* Was any byte of record i written? */
bool ds_record_written(unsigned i);
/* Does record i lie across the boundary of a 4 KiB page? */
bool ds_record_crosses_page(unsigned i);

/*
 * Are all fields of the DS area except the PEBS index as ds_open() set them? The processor mustn't
 * change them while PEBS runs.
 */
bool ds_area_unchanged(void);

#endif
