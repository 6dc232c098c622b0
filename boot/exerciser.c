/* SPDX-License-Identifier: MIT */
/*
 * The table of an exerciser. Only the table is checked here; pmu/ checks whether the exerciser
 * answers.
 */
#include "boot/exerciser.h"
#include "boot/firmware.h"
#include "spec/exerciser.h"

#define PAGE		4096u
#define REMOTE_MOST	(64u << 20)	/* larger areas aren't mapped */

static u32 exerciser_read(u64 registers, u32 offset)
{
	u32 value;

	__asm__ volatile("movl %1, %0"
			 : "=r"(value)
			 : "m"(*(const volatile u32 *)(uintptr_t)(registers + offset)));
	return value;
}

u64 exerciser_find(struct machine_setup *setup)
{
	const struct exerciser_table *table = firmware_find_table(TABLE_EXERCISER);
	u64 bytes;

	if (!table || table->signature != EXERCISER_TABLE || table->bytes < sizeof(*table) ||
	    !table->registers || table->registers % PAGE)
		return 0;
	setup->exerciser_page = table->registers;
	if (exerciser_read(table->registers, EXERCISER_SIGNATURE) != EXERCISER_HERE)
		return table->registers;
	bytes = exerciser_read(table->registers, EXERCISER_REMOTE_BYTES);
	if (!bytes || bytes > REMOTE_MOST)
		return table->registers;
	setup->exerciser_memory.base = (u64)exerciser_read(table->registers, EXERCISER_REMOTE_HIGH)
					       << 32 |
				       exerciser_read(table->registers, EXERCISER_REMOTE_LOW);
	setup->exerciser_memory.bytes = bytes;
	return table->registers;
}
