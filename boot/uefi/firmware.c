/* SPDX-License-Identifier: MIT */
/* Memory, tables, time, load options and the end of the program, through UEFI. */
#include "boot/firmware.h"
#include "boot/uefi/screen.h"
#include "boot/uefi/uefi.h"
#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/time.h"
#include "spec/exerciser.h"

#define PAGE		4096u
#define TWO_MIB		BIT(21)
#define BELOW_4_GIB	(BIT(32) - 1)
#define BELOW_640_KIB	0x9ffffu	/* a SIPI can start there, and there is no video memory */
#define HIGHEST_RAM	BIT(46)		/* more than any machine has; half of what 4 levels map */

#define STALL_US	3000u
#define POLL_US		1000u		/* us between two checks for a tick */
#define STALL_ROUNDS	3u
#define TICK_100NS	20000u		/* 2 ms; the firmware's own tick may be longer */
#define VENDOR_SIZE	64

struct uefi uefi;

static struct {
	EFI_PHYSICAL_ADDRESS base;
	UINTN pages;
} arena;
static EFI_PHYSICAL_ADDRESS startup;	/* address of a page; 0: none */

EFI_STATUS uefi_init(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	EFI_GUID guid = EFI_LOADED_IMAGE_PROTOCOL_GUID;
	void *loaded = NULL;
	EFI_STATUS status;

	uefi = (struct uefi){ image, system, system->BootServices, NULL };
	uefi.boot->SetWatchdogTimer(0, 0, 0, NULL);
	status = uefi.boot->HandleProtocol(image, &guid, &loaded);
	uefi.loaded = loaded;
	return status;
}

void firmware_say(const char *line)
{
	CHAR16 text[2] = { 0, 0 };

	for (; *line; line++) {
		text[0] = (CHAR16)*line;
		uefi.system->ConOut->OutputString(uefi.system->ConOut, text);
	}
	uefi.system->ConOut->OutputString(uefi.system->ConOut, L"\r\n");
}

size_t firmware_load_options(char *text, size_t size)
{
	const CHAR16 *options = uefi.loaded->LoadOptions;
	size_t count = uefi.loaded->LoadOptionsSize / sizeof *options;
	size_t length = 0;

	if (!options || uefi.loaded->LoadOptionsSize % sizeof *options)
		return 0;
	for (size_t i = 0; i < count && options[i] && length < size; i++) {
		if (options[i] < ' ' && options[i] != '\t')
			return 0;
		text[length++] = options[i] <= '~' ? (char)options[i] : '?';
	}
	return length;
}

static bool is_ram(UINT32 type)
{
	switch (type) {
	case EfiLoaderCode:
	case EfiLoaderData:
	case EfiBootServicesCode:
	case EfiBootServicesData:
	case EfiRuntimeServicesCode:
	case EfiRuntimeServicesData:
	case EfiConventionalMemory:
	case EfiACPIReclaimMemory:
	case EfiACPIMemoryNVS:
		return true;
	default:
		return false;
	}
}

const void *firmware_find_table(enum firmware_table table)
{
	static const EFI_GUID guids[] = {
		[TABLE_RSDP] = ACPI_20_TABLE_GUID,
		[TABLE_SMBIOS3] = SMBIOS3_TABLE_GUID,
		[TABLE_SMBIOS] = SMBIOS_TABLE_GUID,
		[TABLE_EXERCISER] = EXERCISER_GUID,
	};
	const EFI_SYSTEM_TABLE *system = uefi.system;

	for (UINTN i = 0; i < system->NumberOfTableEntries; i++)
		if (!memcmp(&system->ConfigurationTable[i].VendorGuid, &guids[table],
			    sizeof guids[table]))
			return system->ConfigurationTable[i].VendorTable;
	return NULL;
}

/* Both the stack we run on and our image may lie at the very top of RAM. */
static EFI_STATUS find_memory_top(u64 *top)
{
	UINTN size = 0, key, stride;
	UINT32 version;
	void *map = NULL;
	EFI_STATUS status;

	uefi.boot->GetMemoryMap(&size, NULL, &key, &stride, &version);
	size += 16 * stride;	/* the allocation below may split a range */
	status = uefi.boot->AllocatePool(EfiLoaderData, size, &map);
	if (EFI_ERROR(status))
		return status;
	status = uefi.boot->GetMemoryMap(&size, map, &key, &stride, &version);
	*top = 0;
	for (UINTN offset = 0; !EFI_ERROR(status) && offset < size; offset += stride) {
		EFI_MEMORY_DESCRIPTOR range;
		u64 end;

		memcpy(&range, (const char *)map + offset, sizeof range);
		end = range.PhysicalStart + range.NumberOfPages * PAGE;
		if (is_ram(range.Type) && end > *top && end <= HIGHEST_RAM)
			*top = end;
	}
	uefi.boot->FreePool(map);
	return status;
}

/* A page at which a SIPI can start; 0: there is none. */
static u64 low_page(void)
{
	startup = BELOW_640_KIB;
	if (EFI_ERROR(uefi.boot->AllocatePages(AllocateMaxAddress, EfiLoaderData, 1, &startup)))
		startup = 0;
	return startup;
}

static u64 memory_top;

/* May be called before firmware_setup(), because tables above 4 GiB are read earlier. */
u64 firmware_memory(void)
{
	if (!memory_top && EFI_ERROR(find_memory_top(&memory_top)))
		memory_top = 0;
	return memory_top;
}

u64 firmware_need(unsigned processors, u64 spare)
{
	return machine_arena_need(memory_top, processors) + spare;
}

firmware_status firmware_setup(struct machine_setup *setup, unsigned processors, u64 spare,
			       bool with_screen)
{
	EFI_STATUS status;

	*setup = (struct machine_setup){ .processors = processors };
	status = find_memory_top(&memory_top);
	if (EFI_ERROR(status))
		return status;
	setup->memory_top = memory_top;
	setup->arena_size = firmware_need(processors, spare);
	/* The firmware aligns pages to 4 KiB: 2 MiB more make room for the alignment. */
	arena.pages = (setup->arena_size + TWO_MIB + PAGE - 1) / PAGE;
	arena.base = BELOW_4_GIB;
	status = uefi.boot->AllocatePages(AllocateMaxAddress, EfiLoaderData, arena.pages,
					  &arena.base);
	if (EFI_ERROR(status)) {
		arena.pages = 0;
		return status;
	}
	setup->arena_base = (arena.base + TWO_MIB - 1) & ~(TWO_MIB - 1);
	memset((void *)(uintptr_t)setup->arena_base, 0, setup->arena_size);
	if (processors > 1)
		setup->startup_page = low_page();
	if (with_screen)
		uefi_find_screen(&setup->framebuffer);
	return EFI_SUCCESS;
}

void firmware_release(void)
{
	if (arena.pages)
		uefi.boot->FreePages(arena.base, arena.pages);
	arena.pages = 0;
	if (startup)
		uefi.boot->FreePages(startup, 1);
	startup = 0;
}

void firmware_measure_tsc(void)
{
	u64 least = UINT64_MAX;

	/* A disturbance makes a round longer, so the shortest round is the best. */
	for (unsigned i = 0; i < STALL_ROUNDS; i++) {
		u64 start = tsc_read(), ticks;

		uefi.boot->Stall(STALL_US);
		ticks = tsc_read() - start;
		if (ticks < least)
			least = ticks;
	}
	time_tsc_per_us = least / STALL_US;
	if (!time_tsc_per_us)
		time_tsc_per_us = 1;
}

static void describe_vendor(const CHAR16 *from, char *text, size_t size)
{
	size_t length = 0;

	for (; from && from[length] && length + 1 < size; length++)
		text[length] = from[length] >= ' ' && from[length] <= '~' ? (char)from[length] :
									    '?';
	text[length] = '\0';
}

/* UEFI Specification, "EFI System Table", "EFI_TABLE_HEADER": the low half of a revision is
 * decimal, its last digit the second number after the point: 2.3.1 is 2, 31. */
void firmware_describe(char *text, size_t size)
{
	u32 revision = uefi.system->Hdr.Revision, minor = revision & 0xffff;
	char vendor[VENDOR_SIZE], last[8] = "";

	describe_vendor(uefi.system->FirmwareVendor, vendor, sizeof vendor);
	if (minor % 10)
		fmt_print(last, sizeof last, ".%u", minor % 10);
	fmt_print(text, size, "%s revision %#x, UEFI %u.%u%s", vendor[0] ? vendor : "unnamed",
		  uefi.system->FirmwareRevision, revision >> 16, minor / 10, last);
}

void firmware_stall(u64 us)
{
	uefi.boot->Stall(us);
}

void *firmware_allocate(size_t size)
{
	void *memory = NULL;

	if (EFI_ERROR(uefi.boot->AllocatePool(EfiLoaderData, size, &memory)))
		return NULL;
	return memory;
}

void firmware_free(void *memory)
{
	uefi.boot->FreePool(memory);
}

struct firmware_time firmware_time(void)
{
	EFI_TIME now = { .Year = 0 };

	uefi.system->RuntimeServices->GetTime(&now, NULL);
	return (struct firmware_time){ now.Year, now.Month,  now.Day,
				       now.Hour, now.Minute, now.Second };
}

/* "Event, Timer, and Task Priority Services". */
unsigned firmware_count_ticks(unsigned wanted, u64 us)
{
	u64 deadline = time_deadline(us);
	unsigned ticks = 0;
	EFI_EVENT event;

	if (EFI_ERROR(uefi.boot->CreateEvent(EVT_TIMER, TPL_APPLICATION, NULL, NULL, &event)))
		return 0;
	uefi.boot->SetTimer(event, TimerPeriodic, TICK_100NS);
	while (ticks < wanted && !time_expired(deadline)) {
		if (!EFI_ERROR(uefi.boot->CheckEvent(event)))
			ticks++;
		time_stall(POLL_US);
	}
	uefi.boot->CloseEvent(event);
	return ticks;
}

static void end(EFI_RESET_TYPE type)
{
	uefi.system->RuntimeServices->ResetSystem(type, EFI_SUCCESS, 0, NULL);
}

void firmware_reset(void)
{
	end(EfiResetCold);
}

void firmware_switch_off(void)
{
	end(EfiResetShutdown);
}
