/* SPDX-License-Identifier: MIT */
/* See arch_pebs.h. Linux 7.3 events/intel: init_arch_pebs_on_cpu(), intel_pmu_enable_event_ext().
 */
#include "pmu/version6/arch_pebs.h"

#include "kernel/interrupt/fault.h"
#include "kernel/memory/arena.h"
#include "kernel/processor/percpu.h"
#include "spec/msr.h"

#define GUARD_BYTES	0x1000u		/* a page: the buffer begins at a page */
#define BUFFER_BYTES	((u64)ARCH_PEBS_LEAST_BUFFER << ARCH_PEBS_LARGEST)
#define MEMORY_BYTES	(GUARD_BYTES + BUFFER_BYTES + GUARD_BYTES)
#define ALIGNED(place)	(((place) + BUFFER_BYTES - 1) & ~(BUFFER_BYTES - 1))

static u8 *memories[CPU_MAX];		/* guard page, buffer, guard page */
static u64 used[CPU_MAX];		/* bytes in use: fewer for a smaller buffer */

/* The pattern differs from byte to byte and from page to page; no byte is 0 or FFH. */
static u8 pattern(u64 offset)
{
	return (u8)(0x11 + (offset * 37 + (offset >> 8) * 11) % 0xdd);
}

bool arch_pebs_init(void)
{
	u8 **memory = &memories[cpu_index()];

	/* No source says whether a buffer must begin at a multiple of its size. This one does. */
	if (!*memory) {
		const u64 place = (uintptr_t)arena_alloc(MEMORY_BYTES + BUFFER_BYTES);

		if (place)
			*memory = (u8 *)(uintptr_t)(ALIGNED(place + GUARD_BYTES) - GUARD_BYTES);
	}
	return *memory;
}

const u8 *arch_pebs_buffer(void)
{
	return memories[cpu_index()] + GUARD_BYTES;
}

void arch_pebs_open(unsigned size, u64 threshold)
{
	volatile u8 *bytes = memories[cpu_index()];
	u64 n = GUARD_BYTES + ((u64)ARCH_PEBS_LEAST_BUFFER << size) + GUARD_BYTES;

	used[cpu_index()] = n;
	for (u64 i = 0; i < n; i++)
		bytes[i] = pattern(i);
	msr_write(MSR_IA32_PEBS_INDEX, 0);
	msr_write(MSR_IA32_PEBS_BASE, (u64)(uintptr_t)arch_pebs_buffer() | size);
	msr_write(MSR_IA32_PEBS_INDEX,
		  IA32_PEBS_INDEX_EN | threshold << IA32_PEBS_INDEX_THRESH_SHIFT);
}

void arch_pebs_disarm(void)
{
	FOR_EACH_COUNTER (c, counter_caps()->v6.pebs)
		msr_write(version6_cfg_c(c), 0);
}

void arch_pebs_close(void)
{
	arch_pebs_disarm();
	msr_write(MSR_IA32_PEBS_INDEX, 0);
	msr_write(MSR_IA32_PEBS_BASE, 0);
}

u64 arch_pebs_index(void)
{
	return msr_read(MSR_IA32_PEBS_INDEX);
}

u64 arch_pebs_written(void)
{
	return arch_pebs_index() & IA32_PEBS_INDEX_WR;
}

void arch_pebs_set_write(u64 bytes)
{
	const u64 others = arch_pebs_index() & ~(IA32_PEBS_INDEX_WR | IA32_PEBS_INDEX_FULL);

	msr_write(MSR_IA32_PEBS_INDEX, others | bytes);
}

void arch_pebs_arm(unsigned counter, u16 event, u64 flags, u64 n, u64 groups, u64 reload)
{
	counter_program(counter, event, flags);
	counter_preset(counter, n);
	msr_write(version6_cfg_c(counter), groups | IA32_PMC_GP0_CFG_C_PEBS_EN | (u32)(0 - reload));
}

bool arch_pebs_written_outside(u64 first, u64 end, int64_t *offset)
{
	const volatile u8 *bytes = memories[cpu_index()];

	for (u64 i = 0; i < used[cpu_index()]; i++) {
		if ((i >= GUARD_BYTES + first && i < GUARD_BYTES + end) || bytes[i] == pattern(i))
			continue;
		*offset = (int64_t)i - (int64_t)GUARD_BYTES;
		return true;
	}
	return false;
}
