/* SPDX-License-Identifier: MIT */
/* See deadly.h. SDM volume 3, "Interrupt 8--Double Fault Exception (#DF)"; "Issuing
 * Interprocessor Interrupts". */
#include "refpmu/selftest/deadly.h"

#include "refpmu/hv/apic.h"
#include "refpmu/hv/architecture.h"
#include "refpmu/vmm/hypercall.h"
#include "refpmu/launch/print.h"
#include "refpmu/selftest/disk.h"
#include "refpmu/selftest/machine.h"
#include "spec/msr.h"

#define INIT_TO_SELF	(ICR_SELF | ICR_ASSERT | ICR_INIT)
#define RESET_CONTROL	0xcf9
#define RESET_HARD	6
#define PAGE		4096ULL
#define WAIT		1000000000ULL	/* ticks of the TSC */

static void wait(void)
{
	u64 end = tsc() + WAIT;

	while (tsc() < end)
		;
}

static void triple_fault(bool counted)
{
	struct descriptor_table none = { 0, 0 };

	if (counted) {
		hypercall(HYPERCALL_ENGINE, (void *)(u64)ENGINE_FAST);
		msr_write(MSR_IA32_FIXED_CTR_CTRL, 3);
		msr_write(MSR_IA32_PERF_GLOBAL_CTRL, BIT(32));
	}
	__asm__ volatile("cli; lidt %0; ud2" ::"m"(none));
}

/* Sectors of a disk straight into it, one page at a time. */
static void write_over(EFI_SYSTEM_TABLE *system, bool from_end)
{
	struct hypercall_version version;
	u64 pages;

	if (!disk_open(system) || hypercall(HYPERCALL_VERSION, &version) != HYPERCALL_DONE) {
		print("# no disk, or no hypervisor");
		return;
	}
	pages = version.hidden_size / PAGE;
	for (u64 i = 0; i < pages; i++)
		disk_read_to(version.hidden_base + (from_end ? pages - 1 - i : i) * PAGE, PAGE);
}

void deadly_die(EFI_SYSTEM_TABLE *system, u64 way)
{
	print("# dying %u", way);
	switch (way) {
	case DEADLY_TRIPLE_FAULT:
	case DEADLY_COUNTED_TRIPLE_FAULT:
		triple_fault(way == DEADLY_COUNTED_TRIPLE_FAULT);
		break;
	case DEADLY_INIT:
		*apic_register(APIC_ICR_LOW) = INIT_TO_SELF;
		break;
	case DEADLY_RESET:
		__asm__ volatile("outb %0, %1" ::"a"((u8)RESET_HARD), "d"((u16)RESET_CONTROL));
		break;
	case DEADLY_DMA:
	case DEADLY_DMA_END:
		write_over(system, way == DEADLY_DMA_END);
		break;
	}
	wait();
	print("# alive");
}
