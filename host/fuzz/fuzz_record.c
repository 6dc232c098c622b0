/* SPDX-License-Identifier: MIT */
/*
 * Record decoder: any bytes. The first names the format (beyond the known ones too), the second
 * shifts the alignment. The decoder's result must agree with the bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "pmu/record.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct pebs_record record, before;
	enum record_format format;
	u8 *bytes, *exact;
	size_t shift, length, needed;

	if (size < 2)
		return 0;
	format = (enum record_format)(data[0] % (RECORD_FORMATS + 2));
	shift = data[1] % 8;
	length = size - 2;
	needed = record_size(format);
	/* The allocation ends at the end of the record, so that the sanitizer catches a read beyond
	 * it. */
	bytes = malloc(shift + length + 1);
	if (!bytes)
		return 0;
	exact = bytes + shift;
	memcpy(exact, data + 2, length);
	bytes = realloc(bytes, shift + length ? shift + length : 1);
	if (!bytes)
		abort();
	exact = bytes + shift;

	memset(&record, 0x5a, sizeof(record));
	before = record;
	if (record_decode(format, exact, length, &record)) {
		u64 sum = 0, want = 0;

		if (!needed || length < needed)
			abort();
		for (unsigned i = 0; i < RECORD_FIELDS; i++) {
			u64 value = 0;

			if (record_get(&record, (enum record_field)i, &value))
				sum += value;
			else if (record.value[i])
				abort();
		}
		for (size_t i = 0; i < needed; i++)
			want += (u64)exact[i] << i % (format == RECORD_NB32 ? 4 : 8) * 8;
		if (sum != want)	/* every byte once, at its place */
			abort();
	} else {
		if (needed && length >= needed)
			abort();
		if (memcmp(&before, &record, sizeof(record)))
			abort();
	}
	free(bytes);
	return 0;
}
