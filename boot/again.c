/* SPDX-License-Identifier: MIT */
/* See again.h. linker.ld defines the bounds of the data. */
#include "boot/again.h"
#include "boot/firmware.h"
#include "kernel/memory/string.h"

extern u8 data_begin[] __asm__("_data") __attribute__((visibility("hidden")));
extern u8 data_end[] __asm__("_edata") __attribute__((visibility("hidden")));

static size_t data_size(void)
{
	return (size_t)(data_end - data_begin);
}

struct again again_keep(void)
{
	struct again again = { firmware_allocate(data_size()) };

	if (again.copy)
		memcpy(again.copy, data_begin, data_size());
	return again;
}

bool again_restore(const struct again *again)
{
	if (!again->copy)
		return false;
	memcpy(data_begin, again->copy, data_size());
	__asm__ volatile("" ::: "memory");
	return true;
}

void again_release(const struct again *again)
{
	if (again->copy)
		firmware_free(again->copy);
}
