/* SPDX-License-Identifier: MIT */
/* See buffer.h. SDM "DS Save Area and IA-32e Mode Operation", "Processor Event Based Sampling". */
#include "tests/random/buffer.h"

#include "kernel/memory/arena.h"
#include "kernel/memory/paging.h"
#include "kernel/memory/string.h"
#include "kernel/processor/percpu.h"

enum ds_word {
#define DS_FIELD(field, offset, title) DS_##field = (offset) / 8,
#include "spec/ds.def"
};

#define AREA_WORDS	12		/* up to and including the last reset slot */

static struct buffer {
	u8 *area_memory, *memory;
	volatile u64 *area;
	u64 before[AREA_WORDS];
	u64 base;			/* as the processor has it */
	u8 *bytes;			/* the same memory */
} buffers[CPU_MAX];

static struct buffer *buffer_here(void)
{
	return &buffers[cpu_index()];
}

static u8 pattern(int64_t offset)
{
	return (u8)(0x11 + (u64)(offset + 4096) * 37 % 0xdd);
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

/* What is filled, and looked at: from a guard before the base to one after the maximum. */
static int64_t last(const struct draw_ds *ds)
{
	return ds->maximum + BUFFER_GUARD;
}

static u64 above(const struct draw_ds *ds)
{
	return ds->high & 4 ? PAGING_UPPER : PAGING_HIGH;
}

u64 buffer_open(const struct draw_ds *ds)
{
	struct buffer *b = buffer_here();

	b->area = (volatile u64 *)(void *)(b->area_memory + ds->area);
	b->bytes = b->memory + ds->base;
	b->base = (u64)(uintptr_t)b->bytes + (ds->high & 2 ? above(ds) : 0);
	for (int64_t i = -BUFFER_GUARD; i < last(ds); i++)
		b->bytes[i] = pattern(i);
	for (unsigned i = 0; i <= DS_bts_interrupt_threshold; i++)
		b->area[i] = b->base - BUFFER_GUARD;	/* an empty buffer of branch records */
	b->area[DS_pebs_buffer_base] = b->base;
	b->area[DS_pebs_index] = b->base + (u64)(int64_t)ds->index;
	b->area[DS_pebs_absolute_maximum] = b->base + (u64)(int64_t)ds->maximum;
	b->area[DS_pebs_interrupt_threshold] = b->base + (u64)(int64_t)ds->threshold;
	for (unsigned i = 0; i < 4; i++)
		b->area[DS_pebs_counter0_reset + i] = ds->reset[i];
	for (unsigned i = 0; i < AREA_WORDS; i++)
		b->before[i] = b->area[i];
	return (u64)(uintptr_t)b->area + (ds->high & 1 ? above(ds) : 0);
}

static void decode(const struct draw_env *env, const struct draw_ds *ds, const u8 *bytes,
		   size_t size, struct pebs_record *record)
{
	if (ds->registers)
		record_decode_adaptive(bytes, size, record);
	else
		record_decode(env->format, bytes, size, record);
}

void buffer_look(const struct draw_env *env, const struct draw_case *c,
		 struct draw_observation *seen)
{
	const struct draw_ds *ds = &c->ds;
	struct buffer *b = buffer_here();
	int64_t size = draw_record_bytes(env, c), end;

	seen->index = b->area[DS_pebs_index] - b->base;
	for (unsigned i = 0; i < AREA_WORDS; i++)
		if (i != DS_pebs_index && b->area[i] != b->before[i])
			seen->area_changed = true;
	end = (int64_t)seen->index;
	if (end < ds->index || end > last(ds))
		end = ds->index;
	seen->records = (unsigned)((end - ds->index) / size);
	for (unsigned i = 0; i < seen->records && i < DRAW_RECORDS_SEEN; i++)
		decode(env, ds, b->bytes + ds->index + i * size, (size_t)size, &seen->record[i]);
	for (int64_t i = -BUFFER_GUARD; i < last(ds); i++)
		if ((i < ds->index || i >= end) && b->bytes[i] != pattern(i))
			seen->outside = true;
}
