/* SPDX-License-Identifier: MIT */
/* See pe.h. */
#include "refpmu/launch/pe.h"

#define DOS_HEADER_END	0x40
#define DOS_SIGNATURE	0x5a4d		/* "MZ" */
#define DOS_PE_AT	0x3c
#define PE_SIGNATURE	0x4550		/* "PE" and two bytes of 0 */
/* From the signature on: after it the file header, then the optional header. */
#define PE_MAGIC	0x18
#define PE_ENTRY	0x28
#define PE_NEEDED	0x2c
#define MAGIC_64	0x20b		/* PE32+ */

static u32 number_at(const u8 *from, unsigned bytes)
{
	u32 value = 0;

	while (bytes--)
		value = value << 8 | from[bytes];
	return value;
}

bool pe_entry(const u8 *image, u64 size, u32 *entry)
{
	u32 at, offset;

	if (size < DOS_HEADER_END || number_at(image, 2) != DOS_SIGNATURE)
		return false;
	at = number_at(image + DOS_PE_AT, 4);
	if (at > size || size - at < PE_NEEDED || number_at(image + at, 4) != PE_SIGNATURE ||
	    number_at(image + at + PE_MAGIC, 2) != MAGIC_64)
		return false;
	offset = number_at(image + at + PE_ENTRY, 4);
	if (!offset || offset >= size)
		return false;
	*entry = offset;
	return true;
}
