/* SPDX-License-Identifier: MIT */
/* See written.h. */
#include "pmu/written.h"

#include "kernel/interrupt/fault.h"
#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/percpu.h"
#include "pmu/counter.h"

static const struct {
	u32 msr;
	const char *name;
	bool may_lose_bits;
} registers[] = {
	{ MSR_IA32_FIXED_CTR_CTRL, "IA32_FIXED_CTR_CTRL", false },
	{ MSR_IA32_PERF_GLOBAL_CTRL, "IA32_PERF_GLOBAL_CTRL", true },
};
#define REGISTERS	(sizeof(registers) / sizeof(registers[0]))

static struct {
	bool known;
	u64 value;
} cpus[CPU_MAX][REGISTERS];

void written_note_bits(u32 msr, u64 mask, u64 value)
{
	for (unsigned i = 0; i < REGISTERS; i++) {
		if (registers[i].msr != msr)
			continue;
		cpus[cpu_index()][i].value &= ~mask;
		cpus[cpu_index()][i].value |= value & mask;
		cpus[cpu_index()][i].known = true;
	}
}

void written_note(u32 msr, u64 value)
{
	written_note_bits(msr, ~0ULL, value);
}

static struct written_selects selects[CPU_MAX];

void written_note_select(u16 event)
{
	struct written_selects *s = &selects[cpu_index()];
	unsigned i = 0;

	while (i < s->events && s->event[i] != event)
		i++;
	if (i == s->events && i < WRITTEN_EVENTS)
		s->event[s->events++] = event;
}

void written_note_fixed(unsigned index)
{
	selects[cpu_index()].fixed |= (u32)BIT(index);
}

void written_note_listening(void)
{
	selects[cpu_index()].listened = true;
}

const struct written_selects *written_selects_of(unsigned cpu)
{
	return &selects[cpu];
}

void written_forget_selects(void)
{
	memset(selects, 0, sizeof(selects));
}

bool written_differs(struct written_change *change)
{
	u64 value = 0;

	/* Version 1 has neither register. */
	if (counter_caps()->version < 2)
		return false;
	for (unsigned i = 0; i < REGISTERS; i++) {
		u64 written = cpus[cpu_index()][i].value;

		if (!cpus[cpu_index()][i].known || msr_try_read(registers[i].msr, &value).raised)
			continue;
		if (registers[i].may_lose_bits ? !(value & ~written) : value == written)
			continue;
		*change = (struct written_change){ registers[i].name, registers[i].msr, value,
						   written };
		return true;
	}
	return false;
}

const char *written_format(const struct written_change *change, char *text, size_t size)
{
	fmt_print(text, size, "%s (%#x) is %#lx, %#lx was written", change->name, change->msr,
		  change->value, change->written);
	return text;
}
