/* SPDX-License-Identifier: MIT */
/*
 * DS save area, 64-bit form: SDM "DS Save Area and IA-32e Mode Operation", Figure 18-22 "PEBS
 * Programming Environment". The BTS half describes an empty buffer and isn't used. Reset slots
 * beyond PMC3 (format 4 and later) aren't set up.
 */
#include "pmu/ds.h"

#include "kernel/fault.h"
#include "kernel/machine.h"
#include "kernel/string.h"
#include "spec/msr.h"

/* The area as words at the offsets of spec/ds.def. */
enum ds_word {
#define DS_FIELD(field, offset, title) DS_##field = (offset) / 8,
#include "spec/ds.def"
};

#define AREA_BYTES	0x60	/* up to and including the last reset slot */
#define GUARD_BYTES	0x400
#define BUFFER_BYTES	(DS_CAPACITY * RECORD_MAX_SIZE)
#define MEMORY_BYTES	(GUARD_BYTES + BUFFER_BYTES + GUARD_BYTES)

#define DS_FIELD(field, offset, title) \
	_Static_assert((offset) + 8 <= AREA_BYTES && (offset) % 8 == 0, title);
#include "spec/ds.def"

static volatile u64 *area;
static u64 area_before[AREA_BYTES / 8];
static u8 *memory;		/* guard, buffer, guard */
static u8 *buffer;
static size_t bytes_per_record;

/* Differs from byte to byte and from page to page; no byte of it is 0 or FFH. */
static u8 pattern(size_t offset)
{
	return (u8)(0x11 + (offset * 37 + (offset >> 8) * 11) % 0xdd);
}

bool ds_init(void)
{
	if (!area) {
		area = machine_alloc(AREA_BYTES);
		memory = machine_alloc(MEMORY_BYTES);
	}
	if (!area || !memory)
		return false;
	buffer = memory + GUARD_BYTES;
	return true;
}

void ds_open(const struct ds_setup *setup)
{
	u64 base = (u64)(uintptr_t)buffer;

	bytes_per_record = record_size(setup->format);
	for (size_t i = 0; i < MEMORY_BYTES; i++)
		memory[i] = pattern(i);
	memset((void *)(uintptr_t)area, 0, AREA_BYTES);
	/* An empty BTS buffer of its own, behind the records, in case anything looks at it. */
	area[DS_bts_buffer_base] = base + BUFFER_BYTES;
	area[DS_bts_index] = base + BUFFER_BYTES;
	area[DS_bts_absolute_maximum] = base + BUFFER_BYTES;
	area[DS_bts_interrupt_threshold] = base + BUFFER_BYTES;
	area[DS_pebs_buffer_base] = base;
	area[DS_pebs_index] = base + setup->start * bytes_per_record;
	area[DS_pebs_absolute_maximum] = base + setup->capacity * bytes_per_record;
	area[DS_pebs_interrupt_threshold] = base + setup->threshold * bytes_per_record;
	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		area[DS_pebs_counter0_reset + i] = setup->reset[i];
	for (unsigned i = 0; i < AREA_BYTES / 8; i++)
		area_before[i] = area[i];
	msr_write(MSR_IA32_DS_AREA, (u64)(uintptr_t)area);
}

void ds_close(void)
{
	msr_write(MSR_IA32_DS_AREA, 0);
}

u64 ds_index(void)
{
	return area ? area[DS_pebs_index] : 0;
}

void ds_set_index(unsigned record)
{
	area[DS_pebs_index] = ds_base() + record * bytes_per_record;
}

u64 ds_area(void)
{
	return (u64)(uintptr_t)area;
}

u64 ds_base(void)
{
	return (u64)(uintptr_t)buffer;
}

u64 ds_threshold(void)
{
	return area[DS_pebs_interrupt_threshold];
}

int64_t ds_bytes(void)
{
	return (int64_t)(ds_index() - ds_base());
}

unsigned ds_records(void)
{
	int64_t bytes = ds_bytes();

	if (bytes < 0 || bytes > BUFFER_BYTES || !bytes_per_record)
		return 0;
	return (unsigned)((u64)bytes / bytes_per_record);
}

const void *ds_record(unsigned i)
{
	return buffer + i * bytes_per_record;
}

bool ds_written_outside(unsigned first, unsigned end, int64_t *offset)
{
	size_t from = GUARD_BYTES + first * bytes_per_record;
	size_t to = GUARD_BYTES + end * bytes_per_record;
	const volatile u8 *bytes = memory;

	for (size_t i = 0; i < MEMORY_BYTES; i++) {
		if ((i >= from && i < to) || bytes[i] == pattern(i))
			continue;
		*offset = (int64_t)i - GUARD_BYTES;
		return true;
	}
	return false;
}

bool ds_record_written(unsigned i)
{
	size_t from = GUARD_BYTES + i * bytes_per_record;
	const volatile u8 *bytes = memory;

	for (size_t at = from; at < from + bytes_per_record; at++)
		if (bytes[at] != pattern(at))
			return true;
	return false;
}

bool ds_area_unchanged(void)
{
	for (unsigned i = 0; i < AREA_BYTES / 8; i++)
		if (i != DS_pebs_index && area[i] != area_before[i])
			return false;
	return true;
}
