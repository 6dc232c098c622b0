/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS records: any bytes as a buffer of fragments, walked by the sizes that they
 * state. Nothing may be read outside of the bytes, and each complete record lies inside them.
 */
#include <stdlib.h>
#include <string.h>

#include "pmu/version6/arch_record.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void look_at(const u8 *bytes, size_t size, const struct arch_fragment *f)
{
	u64 sum = 0;

	if (f->size > size || f->end > f->size || f->size < 16 || f->size - f->end > 15)
		abort();
	for (unsigned g = 0; g < ARCH_GROUPS; g++)
		if (f->offset[g] >= f->end)
			abort();
	for (unsigned n = 0; n < ARCH_PEBS_XER_COMPONENTS; n++)
		if (f->component[n] >= f->end)
			abort();
	for (unsigned c = 0; c < 64; c++)
		if (arch_counter_at(f, c) + 8 > (f->end > 8 ? f->end : 8))
			abort();
	sum += bytes[f->end - 1];
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
	if (arch_record_bytes(bytes + shift, length) > length)
		abort();
	while (at < length) {
		struct arch_fragment fragment, before;

		memset(&fragment, 0x5a, sizeof(fragment));
		before = fragment;
		if (arch_fragment_read(bytes + shift + at, length - at, &fragment) != ARCH_WHOLE) {
			if (memcmp(&before, &fragment, sizeof(fragment)))
				abort();
			at += 8;
			continue;
		}
		look_at(bytes + shift + at, length - at, &fragment);
		at += fragment.size;
	}
	free(bytes);
	return 0;
}
