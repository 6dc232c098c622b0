/* SPDX-License-Identifier: MIT */
/* The firmware's processor state, item by item. Not included: TR (kernel/machine/machine.c says
 * why), and state that changes by itself (CR2, DR6, timer counts). */
#include "boot/saved_state.h"
#include "kernel/interrupt/apic.h"
#include "kernel/processor/cpu.h"
#include "kernel/interrupt/descriptor.h"
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"

/* xAPIC offsets that every local APIC has: "Local APIC Register Address Map". */
static const struct {
	u32 offset;
	const char *name;
} apic_items[] = {
	{ 0x080, "APIC TPR" },		{ 0x0f0, "APIC SVR" },
	{ 0x320, "APIC LVT timer" },	{ 0x340, "APIC LVT performance counters" },
	{ 0x350, "APIC LVT LINT0" },	{ 0x360, "APIC LVT LINT1" },
	{ 0x370, "APIC LVT error" },	{ 0x380, "APIC timer initial count" },
	{ 0x3e0, "APIC timer divide" },
};
#define APIC_ITEMS	(sizeof apic_items / sizeof apic_items[0])
#define LVT_DELIVERY_STATUS BIT(12)	/* changes by itself */

static const char *const cpu_names[] = {
	"CR0", "CR3", "CR4", "CR8", "EFER", "RFLAGS.IF", "GDTR base", "GDTR limit", "IDTR base",
	"IDTR limit", "CS", "SS", "DS", "ES", "FS", "GS", "FS base", "GS base", "DR7",
};
#define CPU_ITEMS	(sizeof cpu_names / sizeof cpu_names[0])
_Static_assert(CPU_ITEMS + APIC_ITEMS == SAVED_STATE_ITEMS, "an item each");

void saved_state_read(struct saved_state *state)
{
	struct table_register gdtr, idtr;
	struct segments segments;

	__asm__ volatile("sgdt %0" : "=m"(gdtr));
	__asm__ volatile("sidt %0" : "=m"(idtr));
	segments_read(&segments);
	*state = (struct saved_state){ {
		cr0_read(), cr3_read(), cr4_read(), cr8_read(), msr_read(MSR_IA32_EFER),
		rflags_read() & RFLAGS_IF, gdtr.base, gdtr.limit, idtr.base, idtr.limit,
		segments.cs, segments.ss, segments.ds, segments.es, segments.fs, segments.gs,
		msr_read(MSR_IA32_FS_BASE), msr_read(MSR_IA32_GS_BASE), dr7_read(),
	} };
	for (unsigned i = 0; i < APIC_ITEMS; i++)
		state->item[CPU_ITEMS + i] = apic_read(apic_items[i].offset) & ~LVT_DELIVERY_STATUS;
}

const char *saved_state_compare(const struct saved_state *before, const struct saved_state *after)
{
	for (unsigned i = 0; i < SAVED_STATE_ITEMS; i++)
		if (before->item[i] != after->item[i])
			return i < CPU_ITEMS ? cpu_names[i] : apic_items[i - CPU_ITEMS].name;
	return NULL;
}
