/* SPDX-License-Identifier: MIT */
/* See buffer.h. SDM "DS Save Area and IA-32e Mode Operation", "Processor Event Based Sampling". */
#include "tests/random/buffer.h"

#include "kernel/memory/arena.h"
#include "kernel/memory/paging.h"
#include "kernel/memory/string.h"
#include "kernel/processor/percpu.h"
#include "pmu/ds.h"

enum ds_word {
#define DS_FIELD(field, offset, title) DS_##field = (offset) / 8,
#include "spec/ds.def"
};

#define AREA_WORDS	56		/* up to the last reset slot of format 5 */
#define WORD_BYTES	8

static struct buffer {
	u8 *area_memory, *memory;
	volatile u64 *area;
	u64 before[AREA_WORDS];
	u64 base;			/* the linear address that the processor uses */
	u8 *bytes;			/* the same memory, as the harness accesses it */
} buffers[CPU_MAX];

static struct buffer *buffer_here(void)
{
	return &buffers[cpu_index()];
}

/* The pattern of the quadword at this offset: none of its bytes is 0 or FFH. */
static u64 pattern(int64_t offset)
{
	return (((u64)offset * 0x9e3779b97f4a7c15ULL) & 0x7e7e7e7e7e7e7e7eULL) |
	       0x0101010101010101ULL;
}

bool buffer_take_memory(void)
{
	struct buffer *b = buffer_here();

	if (!b->memory) {
		b->area_memory = arena_alloc(BUFFER_AREA_BYTES);
		b->memory = arena_alloc(BUFFER_BYTES);
	}
	return b->area_memory && b->memory;
}

/* The end of the bytes that are filled and compared: from a guard before the base to a guard after
 * the maximum. */
static int64_t last(const struct draw_ds *ds)
{
	return ds->maximum + BUFFER_GUARD;
}

static u64 above(const struct draw_ds *ds)
{
	return ds->high & 4 ? PAGING_UPPER : PAGING_HIGH;
}

static u64 *word_at(const struct buffer *b, int64_t offset)
{
	return (u64 *)(void *)(b->bytes + offset);
}

/* With baseline = 1 each counter has a slot; without it only the first four. */
static void set_resets(const struct draw_env *env, struct buffer *b, const struct draw_ds *ds)
{
	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		unsigned slot = DS_pebs_counter0_reset + i;

		if (env->adaptive.baseline)
			slot = ds_reset_slot(draw_status_bit(i));
		else if (i >= DS_RESET_SLOTS_OF_FORMAT_3)
			break;
		if (slot)
			b->area[slot] = ds->reset[i];
	}
}

u64 buffer_open(const struct draw_env *env, const struct draw_ds *ds)
{
	struct buffer *b = buffer_here();

	b->area = (volatile u64 *)(void *)(b->area_memory + ds->area);
	b->bytes = b->memory + ds->base;
	b->base = (u64)(uintptr_t)b->bytes + (ds->high & 2 ? above(ds) : 0);
	for (int64_t i = -BUFFER_GUARD; i < last(ds); i += WORD_BYTES)
		*word_at(b, i) = pattern(i);
	for (unsigned i = 0; i < AREA_WORDS; i++)
		b->area[i] = i <= DS_bts_interrupt_threshold ?
				     b->base -
					     BUFFER_GUARD : /* an empty buffer of branch records */
				     pattern(i);	      /* slots that belong to no counter */
	b->area[DS_pebs_buffer_base] = b->base;
	b->area[DS_pebs_index] = b->base + (u64)(int64_t)ds->index;
	b->area[DS_pebs_absolute_maximum] = b->base + (u64)(int64_t)ds->maximum;
	b->area[DS_pebs_interrupt_threshold] = b->base + (u64)(int64_t)ds->threshold;
	set_resets(env, b, ds);
	for (unsigned i = 0; i < AREA_WORDS; i++)
		b->before[i] = b->area[i];
	return (u64)(uintptr_t)b->area + (ds->high & 1 ? above(ds) : 0);
}

/* ---- records */

static void copy_groups(const u8 *bytes, const struct adaptive_layout *layout,
			struct draw_groups *groups)
{
	unsigned values = 0;

	groups->config = layout->config;
	groups->metrics = layout->metrics;
	if (adaptive_has(layout, GROUP_XMM))
		memcpy(groups->vector, bytes + layout->offset[GROUP_XMM], sizeof(groups->vector));
	if (adaptive_has(layout, GROUP_LBR))
		for (unsigned i = 0; i < layout->entries && i < DRAW_ENTRIES; i++)
			memcpy(&groups->entry[i],
			       bytes + layout->offset[GROUP_LBR] + i * ADAPTIVE_LBR_BYTES,
			       ADAPTIVE_LBR_BYTES);
	for (u64 left = layout->config & (PEBS_DATA_CFG_CNTR_GP | PEBS_DATA_CFG_CNTR_FIXED);
	     left && values < DRAW_VALUES; left &= left - 1, values++)
		memcpy(&groups->value[values],
		       bytes + layout->offset[GROUP_COUNTERS] + ADAPTIVE_COUNTERS_BYTES +
			       values * WORD_BYTES,
		       WORD_BYTES);
}

/* Read the records one after the other, by the size that each record states. */
static void walk(const struct buffer *b, int64_t begin, int64_t end, struct draw_observation *seen)
{
	struct adaptive_layout layout;
	int64_t at = begin;

	while (at < end &&
	       adaptive_read(b->bytes + at, (size_t)(end - at), &layout) == ADAPTIVE_WHOLE) {
		if (seen->records < DRAW_RECORDS_SEEN) {
			record_decode_adaptive(b->bytes + at, layout.size,
					       &seen->record[seen->records]);
			copy_groups(b->bytes + at, &layout, &seen->groups[seen->records]);
		}
		seen->records++;
		at += layout.size;
	}
	seen->walked = (u64)at;
}

/* Read records that all have one size. */
static void divide(const struct draw_env *env, const struct buffer *b, int64_t begin, int64_t end,
		   struct draw_observation *seen)
{
	int64_t size = env->record_bytes;

	seen->records = (unsigned)((end - begin) / size);
	for (unsigned i = 0; i < seen->records && i < DRAW_RECORDS_SEEN; i++)
		record_decode(env->format, b->bytes + begin + i * size, (size_t)size,
			      &seen->record[i]);
}

void buffer_look(const struct draw_env *env, const struct draw_case *c,
		 struct draw_observation *seen)
{
	const struct draw_ds *ds = &c->ds;
	struct buffer *b = buffer_here();
	int64_t end;

	seen->index = b->area[DS_pebs_index] - b->base;
	for (unsigned i = 0; i < AREA_WORDS; i++)
		if (i != DS_pebs_index && b->area[i] != b->before[i])
			seen->area_changed = true;
	end = (int64_t)seen->index;
	if (end < ds->index || end > last(ds))
		end = ds->index;
	if (env->adaptive.baseline)
		walk(b, ds->index, end, seen);
	else
		divide(env, b, ds->index, end, seen);
	for (int64_t i = -BUFFER_GUARD; i < last(ds); i += WORD_BYTES)
		if ((i < ds->index || i >= end) && *word_at(b, i) != pattern(i))
			seen->outside = true;
}
