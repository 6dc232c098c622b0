/* SPDX-License-Identifier: MIT */
/* Operand forms: SDM "Specifying an Offset", "Segment Loading Instructions in IA-32e Mode". */
#include "tests/measure/addressing_mode.h"

#include "kernel/interrupt/fault.h"
#include "spec/msr.h"

extern u64 addressing_mode_word __attribute__((visibility("hidden")));

static u64 fs_base, gs_base;

bool addressing_mode_of_load(unsigned i, struct addressing_mode *form)
{
	u64 memory = (u64)(uintptr_t)workload_memory(), stack = workload_stack();
	u64 word = (u64)(uintptr_t)&addressing_mode_word;
#define ADDRESSING_ROW(piece, address) { #piece, &workload_##piece, address },
	const struct addressing_mode rows[] = { ADDRESSING_MODES_OF_LOADS(ADDRESSING_ROW) };

	if (i >= sizeof(rows) / sizeof(rows[0]))
		return false;
	*form = rows[i];
	return true;
}

bool addressing_mode_of_store(unsigned i, struct addressing_mode *form)
{
	u64 memory = (u64)(uintptr_t)workload_memory(), stack = workload_stack();
	u64 word = (u64)(uintptr_t)&addressing_mode_word;
	const struct addressing_mode rows[] = { ADDRESSING_MODES_OF_STORES(ADDRESSING_ROW) };

	if (i >= sizeof(rows) / sizeof(rows[0]))
		return false;
	*form = rows[i];
	return true;
}

void addressing_mode_begin(void)
{
	fs_base = msr_read(MSR_IA32_FS_BASE);
	gs_base = msr_read(MSR_IA32_GS_BASE);
	msr_write(MSR_IA32_FS_BASE, ADDRESSING_FS_BASE);
	msr_write(MSR_IA32_GS_BASE, ADDRESSING_GS_BASE);
}

void addressing_mode_end(void)
{
	msr_write(MSR_IA32_FS_BASE, fs_base);
	msr_write(MSR_IA32_GS_BASE, gs_base);
}
