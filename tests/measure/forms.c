/* SPDX-License-Identifier: MIT */
/* Operand forms: SDM "Specifying an Offset", "Segment Loading Instructions in IA-32e Mode". */
#include "tests/measure/forms.h"

#include "kernel/fault.h"
#include "spec/msr.h"

extern u64 form_word __attribute__((visibility("hidden")));

static u64 fs_base, gs_base;

bool form_of_load(unsigned i, struct form *form)
{
	u64 memory = (u64)(uintptr_t)workload_memory(), stack = workload_stack();
	u64 word = (u64)(uintptr_t)&form_word;
#define FORM_ROW(piece, address) { #piece, &workload_##piece, address },
	const struct form rows[] = { FORMS_OF_LOADS(FORM_ROW) };

	if (i >= sizeof(rows) / sizeof(rows[0]))
		return false;
	*form = rows[i];
	return true;
}

bool form_of_store(unsigned i, struct form *form)
{
	u64 memory = (u64)(uintptr_t)workload_memory(), stack = workload_stack();
	u64 word = (u64)(uintptr_t)&form_word;
	const struct form rows[] = { FORMS_OF_STORES(FORM_ROW) };

	if (i >= sizeof(rows) / sizeof(rows[0]))
		return false;
	*form = rows[i];
	return true;
}

void form_begin(void)
{
	fs_base = msr_read(MSR_IA32_FS_BASE);
	gs_base = msr_read(MSR_IA32_GS_BASE);
	msr_write(MSR_IA32_FS_BASE, FORM_FS_BASE);
	msr_write(MSR_IA32_GS_BASE, FORM_GS_BASE);
}

void form_end(void)
{
	msr_write(MSR_IA32_FS_BASE, fs_base);
	msr_write(MSR_IA32_GS_BASE, gs_base);
}
