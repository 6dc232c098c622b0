/* SPDX-License-Identifier: MIT */
/*
 * The header of an EFI program: any bytes, after some bytes of a correct one. The entry point must
 * lie inside, and nothing may be read outside.
 */
#include <stdlib.h>
#include <string.h>

#include "refpmu/launch/pe.h"

#define IMAGE		0x100
#define ENTRY		0xf0

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static const u8 good[IMAGE] = {
	[0] = 'M', 'Z', [0x3c] = 0x40, [0x40] = 'P', 'E', [0x58] = 0x0b, 0x02, [0x68] = ENTRY,
};

/* The first byte gives the number of correct bytes before the input's own. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	size_t first, length;
	u32 entry = 0;
	u8 *image;

	if (!size)
		return 0;
	if (!pe_entry(good, IMAGE, &entry) || entry != ENTRY)
		abort();
	first = data[0];
	length = first + size - 1;
	image = malloc(length ? length : 1);	/* the sanitizer catches a read beyond it */
	if (!image)
		return 0;
	memcpy(image, good, first);
	memcpy(image + first, data + 1, size - 1);
	entry = 0;
	if (pe_entry(image, length, &entry)) {
		if (!entry || entry >= length || image[0] != 'M' || image[1] != 'Z')
			abort();
	} else if (entry) {
		abort();
	}
	free(image);
	return 0;
}
