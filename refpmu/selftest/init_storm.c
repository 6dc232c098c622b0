/* SPDX-License-Identifier: MIT */
/* SDM volume 3, "MP Initialization Protocol Algorithm for MP Systems", without its delays: neither
 * QEMU nor the hypervisor needs them, and they would make the test weaker. */
#include "refpmu/selftest/init_storm.h"

#include "refpmu/hv/apic.h"
#include "refpmu/hv/efi_processors.h"
#include "refpmu/selftest/machine.h"
#include "refpmu/selftest/timeout.h"

#define PROCESSORS	15
#define PAGE_TOP	0x9ffffULL
#define PAGE		4096
#define GENU		0x756e6547		/* "Genu", the vendor's first four letters */

extern const u8 init_storm_code[] __attribute__((visibility("hidden")));
extern const u8 init_storm_code_end[] __attribute__((visibility("hidden")));

static struct init_storm_page {
	u8 code[0x100];
	volatile u32 vendor, rounds, signature;
} *page;
static u8 apic_ids[PROCESSORS];
static unsigned count;

unsigned init_storm_open(EFI_SYSTEM_TABLE *system)
{
	EFI_PHYSICAL_ADDRESS address = PAGE_TOP;

	count = efi_processors(system->BootServices, apic_ids, PROCESSORS);
	if (system->BootServices->AllocatePages(AllocateMaxAddress, EfiBootServicesData, 1,
						&address) != EFI_SUCCESS)
		return 0;
	page = (struct init_storm_page *)address;
	return count;
}

static void selftest_init_storm_command(u8 apic_id, u32 low)
{
	*apic_register(APIC_ICR_HIGH) = (u32)apic_id << ICR_DESTINATION_SHIFT;
	*apic_register(APIC_ICR_LOW) = low | ICR_ASSERT;
	while (*apic_register(APIC_ICR_LOW) & ICR_PENDING)
		__asm__ volatile("pause");
}

/* Until the processor has begun anew, and gone round that many times since. An INIT takes effect
 * when the other processor looks, so what it counts till then is of the time before. A SIPI that
 * waits while an INIT comes still starts a processor under QEMU: after the duels of second.c
 * another processor may write one of the two values before they are cleared, and the other value
 * after that. So both are waited for. */
static bool progress(u32 rounds)
{
	u64 begin = tsc();
	u32 first;

	while (!page->vendor || !page->signature)
		if (tsc() - begin > TIMEOUT_TICKS)
			return false;
	first = page->rounds;
	while (page->rounds - first < rounds)
		if (tsc() - begin > TIMEOUT_TICKS)
			return false;
	return true;
}

static const char *selftest_init_storm_one(u8 apic_id, unsigned i)
{
	u32 regs[4];

	selftest_init_storm_command(apic_id, ICR_INIT);
	if (i & 1)
		selftest_init_storm_command(apic_id, ICR_INIT);
	page->vendor = page->signature = 0;
	selftest_init_storm_command(apic_id, ICR_STARTUP | (u32)((u64)page / PAGE));
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

const char *init_storm(unsigned times)
{
	const char *wrong = NULL;

	for (u64 i = 0; i < (u64)(init_storm_code_end - init_storm_code); i++)
		page->code[i] = init_storm_code[i];
	for (unsigned i = 0; i < times && !wrong; i++)
		wrong = selftest_init_storm_one(apic_ids[i % count], i / count);
	for (unsigned i = 0; i < count; i++)
		selftest_init_storm_command(apic_ids[i], ICR_INIT);
	return wrong;
}

unsigned init_storm_count(void)
{
	return count;
}

u8 init_storm_apic_id(unsigned i)
{
	return apic_ids[i];
}

u8 *init_storm_page(void)
{
	return page->code;
}

void init_storm_send_init(u8 apic_id)
{
	selftest_init_storm_command(apic_id, ICR_INIT);
}

void init_storm_send_startup(u8 apic_id)
{
	selftest_init_storm_command(apic_id, ICR_STARTUP | (u32)((u64)page / PAGE));
}
