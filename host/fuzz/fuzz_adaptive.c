/* SPDX-License-Identifier: MIT */
/*
 * Adaptive records: any bytes as a buffer of them, walked by the sizes that they state. Nothing may
 * be read outside of the bytes, and each complete record lies inside them.
 */
#include <stdlib.h>
#include <string.h>

#include "pmu/adaptive.h"
#include "pmu/record.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void look_at(const u8 *record, size_t size, const struct adaptive_layout *layout)
{
	const unsigned group = layout->offset[GROUP_COUNTERS];
	unsigned values = layout->metrics ? 2 : 0;
	u64 sum = 0;

	if (layout->size > size || layout->size < 32)
		abort();
	for (unsigned bit = 0; bit < 32; bit++)
		values += (layout->gp >> bit & 1) + (layout->fixed >> bit & 1);
	if (adaptive_has(layout, GROUP_COUNTERS) ? layout->size != group + 16 + 8 * values : values)
		abort();
	for (unsigned g = 0; g < GROUPS; g++)
		if (adaptive_has(layout, (enum adaptive_group)g))
			sum += record[layout->offset[g]];
	sum += record[layout->size - 1];
	/* Keeps the compiler from removing the reads. */
	__asm__ volatile("" : : "r"(sum));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	size_t shift, length, at = 0;
	u8 *bytes;

	if (size < 1)
		return 0;
	shift = data[0] % 8;
	length = size - 1;
	/* The allocation ends at the end of the buffer, so that the sanitizer catches a read beyond
	 * it. */
	bytes = malloc(shift + length ? shift + length : 1);
	if (!bytes)
		return 0;
	memcpy(bytes + shift, data + 1, length);
	while (at < length) {
		struct adaptive_layout layout, before;
		struct pebs_record record;
		enum adaptive_state state;

		memset(&layout, 0x5a, sizeof(layout));
		before = layout;
		record_decode_adaptive(bytes + shift + at, length - at, &record);
		state = adaptive_read(bytes + shift + at, length - at, &layout);
		if (state != ADAPTIVE_WHOLE) {
			if (memcmp(&before, &layout, sizeof(layout)))
				abort();
			at += 8;
			continue;
		}
		look_at(bytes + shift + at, length - at, &layout);
		at += layout.size;
	}
	free(bytes);
	return 0;
}
