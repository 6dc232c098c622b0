/* SPDX-License-Identifier: MIT */
/*
 * DS save area, 64-bit form: SDM "DS Save Area and IA-32e Mode Operation", Figure 18-22 "PEBS
 * Programming Environment", and the reset slots of adaptive records (spec/adaptive.def). The BTS
 * fields describe an empty buffer and aren't used.
 */
#include "pmu/ds.h"

#include "kernel/interrupt/fault.h"
#include "kernel/memory/arena.h"
#include "kernel/memory/pages.h"
#include "kernel/memory/paging.h"
#include "kernel/memory/string.h"
#include "kernel/processor/percpu.h"
#include "pmu/counter.h"
#include "spec/msr.h"

/* The area as words at the offsets of spec/ds.def. */
enum ds_word {
#define DS_FIELD(field, offset, title) DS_##field = (offset) / 8,
#define ADAPTIVE_DS(field, offset, title, source) DS_##field = (offset) / 8,
#define ADAPTIVE_DS_5(field, offset, title, source) DS_5_##field = (offset) / 8,
#include "spec/ds.def"
#include "spec/adaptive.def"
};

#define AREA_BYTES	0x1c0	/* up to and including the last reset slot */
#define NO_SLOT		0u	/* DS_bts_buffer_base */
#define GUARD_BYTES	0x400
#define MEMORY_BYTES	(GUARD_BYTES + DS_BUFFER_BYTES + GUARD_BYTES)
#define CARRY		0x10000		/* the buffer of DS_PLACED contains a multiple of this */

#define DS_FIELD(field, offset, title) \
	_Static_assert((offset) + 8 <= AREA_BYTES && (offset) % 8 == 0, title);
#define ADAPTIVE_DS(field, offset, title, source) \
	_Static_assert((offset) + 8 <= AREA_BYTES && (offset) % 8 == 0, title);
#define ADAPTIVE_DS_5(field, offset, title, source) \
	_Static_assert((offset) + 8 <= AREA_BYTES && (offset) % 8 == 0, title);
#include "spec/ds.def"
#include "spec/adaptive.def"
/* The slots of a kind of counter are consecutive; from format 5 on there is room for more of
 * them. */
enum { GP_SLOTS_OF_FORMAT_4 = 8, FIXED_SLOTS_OF_FORMAT_4 = 4, GP_SLOTS = 32, FIXED_SLOTS = 16 };
_Static_assert(DS_pebs_counter7_reset == DS_pebs_counter0_reset + GP_SLOTS_OF_FORMAT_4 - 1 &&
		       DS_pebs_fixed_counter0_reset == DS_pebs_counter7_reset + 1 &&
		       DS_pebs_fixed_counter3_reset ==
			       DS_pebs_fixed_counter0_reset + FIXED_SLOTS_OF_FORMAT_4 - 1 &&
		       DS_5_pebs_fixed_counter0_reset == DS_pebs_counter0_reset + GP_SLOTS &&
		       DS_5_pebs_fixed_counter0_reset + FIXED_SLOTS == AREA_BYTES / 8 &&
		       DS_RESET_SLOTS == GP_SLOTS + FIXED_SLOTS && PMC_FIXED(0) == GP_SLOTS,
	       "reset slots");

_Static_assert(PAGES_HIGH == 2, "a page for the area, a page for the buffer");
_Static_assert(GUARD_BYTES + DS_HIGH_CAPACITY * RECORD_MAX_SIZE + GUARD_BYTES <= PAGE_SIZE,
	       "a buffer in a page");
_Static_assert(PAGES_CARRY == 3, "a page for the area, one on each side of the multiple of 4 GiB");
_Static_assert(DS_CARRY_MOST + GUARD_BYTES <= PAGE_SIZE, "the buffer's beginning in a page");

/* The memory of a processor is contiguous: for each area, a page for the area and the memory of its
 * buffer. */
#define SHARE		(PAGE_SIZE + (MEMORY_BYTES + PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE)
#define PLACED_PAGES	4	/* from the multiple of CARRY to the page that the area crosses */
_Static_assert(CARRY + GUARD_BYTES + DS_PLACED_MOST + (PLACED_PAGES + 1) * PAGE_SIZE <=
		       DS_AREAS * SHARE,
	       "one of the multiples has room on both sides");

static struct ds {
	volatile u64 *area;
	u64 before[AREA_BYTES / 8];	/* the area as it was set up */
	u8 *memory;			/* GUARD_BYTES, the buffer, GUARD_BYTES */
	u8 *buffer;
	size_t bytes_per_record;
	size_t used;			/* bytes of memory that are filled and compared */
	bool opened;			/* ds_open() was called after ds_forget() */
	u64 above;			/* what linear addresses are more than those here */
} areas[CPU_MAX][DS_CARRY + 1];
static unsigned chosen[CPU_MAX];	/* the area that ds_use() has selected */

static struct ds *ds_this_cpu(void)
{
	unsigned cpu = cpu_index();

	return &areas[cpu][chosen[cpu]];
}

/* The pattern differs from byte to byte and from page to page; no byte is 0 or FFH. */
static u8 pattern(size_t offset)
{
	return (u8)(0x11 + (offset * 37 + (offset >> 8) * 11) % 0xdd);
}

static void take_pages(struct ds *d, u64 area)
{
	const struct pages *pages = pages_get();

	d->area = (volatile u64 *)(void *)pages->small;
	d->memory = pages->small + PAGE_SIZE;
	d->buffer = d->memory + GUARD_BYTES;
	d->above = area - (u64)(uintptr_t)pages->small;
}

bool ds_init(void)
{
	struct ds *of = areas[cpu_index()];
	u8 *memory = of[0].area ? (u8 *)(uintptr_t)of[0].area : arena_alloc(DS_AREAS * SHARE);

	if (!memory)
		return false;
	for (unsigned i = 0; i < DS_AREAS; i++) {
		of[i].area = (volatile u64 *)(void *)(memory + i * SHARE);
		of[i].memory = memory + i * SHARE + PAGE_SIZE;
		of[i].buffer = of[i].memory + GUARD_BYTES;
	}
	take_pages(&areas[cpu_index()][DS_HIGH], (u64)(uintptr_t)pages_get()->high);
	take_pages(&areas[cpu_index()][DS_UPPER],
		   (u64)(uintptr_t)pages_get()->small + PAGING_UPPER);
	take_pages(&areas[cpu_index()][DS_CARRY], (u64)(uintptr_t)pages_get()->carry);
	return true;
}

void ds_use(unsigned area)
{
	chosen[cpu_index()] = area;
}

void ds_place(unsigned area, unsigned buffer)
{
	struct ds *of = areas[cpu_index()], *d = &of[DS_PLACED];
	u8 *least = (u8 *)(uintptr_t)of[0].area + GUARD_BYTES + DS_PLACED_MOST;
	u8 *carry = least + (CARRY - (uintptr_t)least % CARRY) % CARRY;

	d->area = (volatile u64 *)(void *)(carry + PLACED_PAGES * PAGE_SIZE - area);
	d->buffer = carry - buffer;
	d->memory = d->buffer - GUARD_BYTES;
}

void ds_carry(unsigned buffer)
{
	struct ds *d = &areas[cpu_index()][DS_CARRY];

	d->buffer = pages_get()->small + (PAGES_CARRY - 1) * PAGE_SIZE - buffer;
	d->memory = d->buffer - GUARD_BYTES;
}

/* The index of a counter's reset value; NO_SLOT: the format has none. */
unsigned ds_reset_slot(unsigned counter)
{
	const unsigned format = counter_caps()->pebs_format;
	unsigned gp = DS_RESET_SLOTS_OF_FORMAT_3, fixed = 0, first = DS_pebs_fixed_counter0_reset;

	if (format >= PEBS_FORMAT_MORE_RESETS) {
		gp = GP_SLOTS;
		fixed = FIXED_SLOTS;
		first = DS_5_pebs_fixed_counter0_reset;
	} else if (format == PEBS_FORMAT_ADAPTIVE) {
		gp = GP_SLOTS_OF_FORMAT_4;
		fixed = FIXED_SLOTS_OF_FORMAT_4;
	}
	if (PMC_IS_FIXED(counter))
		return counter - PMC_FIXED(0) < fixed ? first + counter - PMC_FIXED(0) : NO_SLOT;
	return counter < gp ? DS_pebs_counter0_reset + counter : NO_SLOT;
}

void ds_open(const struct ds_setup *setup)
{
	struct ds *ds = ds_this_cpu();
	u64 base = ds_buffer();

	ds->opened = true;
	ds->bytes_per_record = setup->layout ? setup->layout->size : record_size(setup->format);
	ds->used = GUARD_BYTES + setup->capacity * ds->bytes_per_record + GUARD_BYTES;
	for (size_t i = 0; i < ds->used; i++)
		ds->memory[i] = pattern(i);
	memset((void *)(uintptr_t)ds->area, 0, AREA_BYTES);
	/* A separate empty BTS buffer after the records, in case the processor reads it. */
	ds->area[DS_bts_buffer_base] = base + DS_BUFFER_BYTES;
	ds->area[DS_bts_index] = base + DS_BUFFER_BYTES;
	ds->area[DS_bts_absolute_maximum] = base + DS_BUFFER_BYTES;
	ds->area[DS_bts_interrupt_threshold] = base + DS_BUFFER_BYTES;
	ds->area[DS_pebs_buffer_base] = base;
	ds->area[DS_pebs_index] = base + setup->start * ds->bytes_per_record;
	ds->area[DS_pebs_absolute_maximum] = base + setup->capacity * ds->bytes_per_record;
	ds->area[DS_pebs_interrupt_threshold] = base + setup->threshold * ds->bytes_per_record;
	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		if (ds_reset_slot(i) != NO_SLOT)
			ds->area[ds_reset_slot(i)] = setup->reset[i];
	for (unsigned i = 0; i < AREA_BYTES / 8; i++)
		ds->before[i] = ds->area[i];
	msr_write(MSR_IA32_DS_AREA, ds_area());
	if (counter_caps()->baseline)
		msr_write(MSR_PEBS_DATA_CFG,
			  setup->layout ? setup->layout->config : RECORD_ADAPTIVE_CONFIG);
}

void ds_close(void)
{
	msr_write(MSR_IA32_DS_AREA, 0);
}

bool ds_was_opened(void)
{
	return ds_this_cpu()->opened;
}

void ds_forget(void)
{
	for (unsigned cpu = 0; cpu < CPU_MAX; cpu++)
		for (unsigned i = 0; i <= DS_CARRY; i++)
			areas[cpu][i].opened = false;
}

u64 ds_index(void)
{
	const struct ds *ds = ds_this_cpu();

	return ds->area ? ds->area[DS_pebs_index] : 0;
}

void ds_set_index(unsigned record)
{
	struct ds *ds = ds_this_cpu();

	ds->area[DS_pebs_index] = ds_buffer() + record * ds->bytes_per_record;
}

void ds_set_index_bytes(int64_t bytes)
{
	ds_this_cpu()->area[DS_pebs_index] = ds_buffer() + (u64)bytes;
}

static void set_field(enum ds_word field, u64 bytes)
{
	struct ds *ds = ds_this_cpu();

	ds->area[field] = ds->before[field] = ds_buffer() + bytes;
}

void ds_set_maximum_bytes(u64 bytes)
{
	set_field(DS_pebs_absolute_maximum, bytes);
}

void ds_set_threshold_bytes(u64 bytes)
{
	set_field(DS_pebs_interrupt_threshold, bytes);
}

void ds_set_reset(unsigned counter, u64 value)
{
	struct ds *ds = ds_this_cpu();

	if (ds_reset_slot(counter) == NO_SLOT)
		return;
	ds->area[ds_reset_slot(counter)] = value;
	ds->before[ds_reset_slot(counter)] = value;
}

void ds_set_base_bytes(u64 bytes)
{
	set_field(DS_pebs_buffer_base, bytes);
}

u64 ds_area(void)
{
	return (u64)(uintptr_t)ds_this_cpu()->area + ds_this_cpu()->above;
}

u64 ds_buffer(void)
{
	return (u64)(uintptr_t)ds_this_cpu()->buffer + ds_this_cpu()->above;
}

u64 ds_threshold(void)
{
	return ds_this_cpu()->area[DS_pebs_interrupt_threshold];
}

int64_t ds_bytes(void)
{
	return (int64_t)(ds_index() - ds_buffer());
}

size_t ds_record_size(void)
{
	return ds_this_cpu()->bytes_per_record;
}

unsigned ds_records(void)
{
	const struct ds *ds = ds_this_cpu();
	int64_t bytes = ds_bytes();

	if (bytes < 0 || bytes > DS_BUFFER_BYTES || !ds->bytes_per_record)
		return 0;
	return (unsigned)((u64)bytes / ds->bytes_per_record);
}

const void *ds_record(unsigned i)
{
	const struct ds *ds = ds_this_cpu();

	return ds->buffer + i * ds->bytes_per_record;
}

bool ds_written_outside(unsigned first, unsigned end, int64_t *offset)
{
	const struct ds *ds = ds_this_cpu();
	size_t from = GUARD_BYTES + first * ds->bytes_per_record;
	size_t to = GUARD_BYTES + end * ds->bytes_per_record;
	const volatile u8 *bytes = ds->memory;

	for (size_t i = 0; i < ds->used; i++) {
		if ((i >= from && i < to) || bytes[i] == pattern(i))
			continue;
		*offset = (int64_t)i - GUARD_BYTES;
		return true;
	}
	return false;
}

bool ds_record_written(unsigned i)
{
	const struct ds *ds = ds_this_cpu();
	size_t from = GUARD_BYTES + i * ds->bytes_per_record;
	const volatile u8 *bytes = ds->memory;

	for (size_t at = from; at < from + ds->bytes_per_record; at++)
		if (bytes[at] != pattern(at))
			return true;
	return false;
}

bool ds_record_crosses_page(unsigned i)
{
	u64 first = (u64)(uintptr_t)ds_record(i);

	return (first ^ (first + ds_this_cpu()->bytes_per_record - 1)) & ~BITS(0, 11);
}

bool ds_area_unchanged(void)
{
	const struct ds *ds = ds_this_cpu();

	for (unsigned i = 0; i < AREA_BYTES / 8; i++)
		if (i != DS_pebs_index && ds->area[i] != ds->before[i])
			return false;
	return true;
}
