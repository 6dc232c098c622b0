/* SPDX-License-Identifier: MIT */
/*
 * The DS save area and the PEBS buffer: memory that the processor reads its orders from and
 * writes its records to. The buffer lies between two guard zones; buffer and guards are filled
 * with a pattern before each use, so that every byte that was written can be told.
 * 64-bit form only: with DTES64 it is the form in every mode.
 * Each processor has areas of its own, and everything here is about those of the caller's.
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

/* There are two areas, each with its buffer: which one the functions below are about, 0 or 1.
 * 0 until said otherwise. IA32_DS_AREA isn't written. */
#define DS_AREAS 2
/* A third one, for up to DS_HIGH_CAPACITY records, at linear addresses above 4 GiB whose lower
 * halves are other memory. Of one processor at a time. */
#define DS_HIGH		 DS_AREAS
#define DS_HIGH_CAPACITY 8
/* The same memory at linear addresses of the upper half, where bits 63:47 are 1. */
#define DS_UPPER	 (DS_HIGH + 1)
/* The memory of the first two once more, cut as ds_place() says: the area begins so many bytes
 * before the end of a page, a multiple of 8, and the buffer so many before a multiple of 64 KiB. */
#define DS_PLACED	 (DS_UPPER + 1)
#define DS_PLACED_MOST	 0x400		/* bytes */
/* That of DS_HIGH at other linear addresses: the buffer begins as many bytes before a multiple of
 * 4 GiB as ds_carry() says, up to DS_CARRY_MOST. */
#define DS_CARRY	 (DS_PLACED + 1)
#define DS_CARRY_MOST	 0x400		/* bytes */
void ds_carry(unsigned buffer);
void ds_use(unsigned area);
void ds_place(unsigned area, unsigned buffer);

/* Fill, describe the buffer in the DS area and set IA32_DS_AREA, with baseline MSR_PEBS_DATA_CFG
 * too. Counters are off. */
void ds_open(const struct ds_setup *setup);
/* IA32_DS_AREA back to 0. The buffer's contents stay until the next ds_open(). */
void ds_close(void);

/* Has the caller's processor opened this area since ds_forget(), which is about all of them? */
bool ds_was_opened(void);
void ds_forget(void);

/* The index field as it is in memory now; in any state, interrupt handlers included. */
u64 ds_index(void);
void ds_set_index(unsigned record);
/* The index, the absolute maximum, the threshold: that many bytes after the buffer, or before it.
 */
void ds_set_index_bytes(int64_t bytes);
void ds_set_maximum_bytes(u64 bytes);
void ds_set_threshold_bytes(u64 bytes);
/* Which quadword of the area is the counter's reset slot; 0: the format has none for it. */
unsigned ds_reset_slot(unsigned counter);
/* The counter's reset slot, if the format has one. */
void ds_set_reset(unsigned counter, u64 value);
/* The base of which the area tells; the buffer stays where it is. */
void ds_set_base_bytes(u64 bytes);

u64 ds_area(void);		/* linear address of the DS area */
u64 ds_base(void);		/* of the buffer */
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
 * The fields of the DS area that the processor has no business to change while PEBS runs: all
 * but the PEBS index. true: they are as ds_open() set them.
 */
bool ds_area_unchanged(void);

#endif
