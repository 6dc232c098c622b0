/* SPDX-License-Identifier: MIT */
/* SDM volume 3, "MP Initialization Protocol Algorithm for MP Systems", without its delays: neither
 * QEMU nor the hypervisor needs them, and they would let the storm die down. */
#include "refpmu/selftest/storm.h"

#include "refpmu/hv/apic.h"
#include "refpmu/hv/efi_processors.h"
#include "refpmu/selftest/machine.h"
#include "refpmu/selftest/patience.h"

#define PROCESSORS	15
#define PAGE_TOP	0x9ffffULL
#define PAGE		4096
#define GENU		0x756e6547		/* "Genu", the vendor's first four letters */

extern const u8 storm_code[] __attribute__((visibility("hidden")));
extern const u8 storm_code_end[] __attribute__((visibility("hidden")));

static struct storm_page {
	u8 code[0x100];
	volatile u32 vendor, rounds, signature;
} *page;
static u8 apic_ids[PROCESSORS];
static unsigned count;

unsigned storm_open(EFI_SYSTEM_TABLE *system)
{
	EFI_PHYSICAL_ADDRESS address = PAGE_TOP;

	count = efi_processors(system->BootServices, apic_ids, PROCESSORS);
	if (system->BootServices->AllocatePages(AllocateMaxAddress, EfiBootServicesData, 1,
						&address) != EFI_SUCCESS)
		return 0;
	page = (struct storm_page *)address;
	return count;
}

static void command(u8 apic_id, u32 low)
{
	*apic_register(APIC_ICR_HIGH) = (u32)apic_id << ICR_DESTINATION_SHIFT;
	*apic_register(APIC_ICR_LOW) = low | ICR_ASSERT;
	while (*apic_register(APIC_ICR_LOW) & ICR_PENDING)
		__asm__ volatile("pause");
}

/* Until the processor has begun anew, and gone round so many times since. An INIT takes effect when
 * the other processor looks, so what it counts till then is of the time before. */
static bool progress(u32 rounds)
{
	u64 begin = tsc();
	u32 first;

	while (!page->vendor)
		if (tsc() - begin > PATIENCE)
			return false;
	first = page->rounds;
	while (page->rounds - first < rounds)
		if (tsc() - begin > PATIENCE)
			return false;
	return true;
}

static const char *one(u8 apic_id, unsigned i)
{
	u32 regs[4];

	command(apic_id, ICR_INIT);
	if (i & 1)
		command(apic_id, ICR_INIT);
	page->vendor = page->signature = 0;
	command(apic_id, ICR_STARTUP | (u32)((u64)page / PAGE));
	/* Now here, now there. */
	if (!progress(i % 7))
		return "a processor doesn't come";
	if (page->vendor != GENU)
		return "a processor isn't virtualised";
	cpuid(1, 0, regs);
	if (page->signature != regs[0])
		return "EDX isn't the processor's signature";
	return NULL;
}

const char *storm(unsigned times)
{
	const char *wrong = NULL;

	for (u64 i = 0; i < (u64)(storm_code_end - storm_code); i++)
		page->code[i] = storm_code[i];
	for (unsigned i = 0; i < times && !wrong; i++)
		wrong = one(apic_ids[i % count], i / count);
	for (unsigned i = 0; i < count; i++)
		command(apic_ids[i], ICR_INIT);
	return wrong;
}

unsigned storm_count(void)
{
	return count;
}

u8 storm_apic_id(unsigned i)
{
	return apic_ids[i];
}

u8 *storm_page(void)
{
	return page->code;
}

void storm_init(u8 apic_id)
{
	command(apic_id, ICR_INIT);
}

void storm_startup(u8 apic_id)
{
	command(apic_id, ICR_STARTUP | (u32)((u64)page / PAGE));
}
