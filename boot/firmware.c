/* SPDX-License-Identifier: MIT */
/* Memory, screen, time and load options from UEFI. gnu-efi's headers only, none of its code. */
#include "boot/firmware.h"
#include "kernel/memory/string.h"
#include "kernel/processor/time.h"

#define PAGE		4096u
#define TWO_MIB		BIT(21)
#define BELOW_4_GIB	(BIT(32) - 1)
#define BELOW_640_KIB	0x9ffffu	/* where a SIPI can begin, and no video memory is */
#define HIGHEST_RAM	BIT(46)		/* beyond any machine; half of what 4 levels map */

#define STALL_US	3000u
#define POLL_US		20000u		/* between two looks for a key */
#define STALL_ROUNDS	3u

struct firmware firmware;

static struct {
	EFI_PHYSICAL_ADDRESS base;
	UINTN pages;
} arena;
static EFI_PHYSICAL_ADDRESS startup;	/* a page; 0: none */

EFI_STATUS firmware_init(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	EFI_GUID guid = EFI_LOADED_IMAGE_PROTOCOL_GUID;
	void *loaded = NULL;
	EFI_STATUS status;

	firmware = (struct firmware){ image, system, system->BootServices, NULL };
	firmware.boot->SetWatchdogTimer(0, 0, 0, NULL);
	status = firmware.boot->HandleProtocol(image, &guid, &loaded);
	firmware.loaded = loaded;
	return status;
}

void firmware_say(const char *line)
{
	CHAR16 text[2] = { 0, 0 };

	for (; *line; line++) {
		text[0] = (CHAR16)*line;
		firmware.system->ConOut->OutputString(firmware.system->ConOut, text);
	}
	firmware.system->ConOut->OutputString(firmware.system->ConOut, L"\r\n");
}

void firmware_wait_for_key(unsigned seconds)
{
	SIMPLE_INPUT_INTERFACE *input = firmware.system->ConIn;
	EFI_INPUT_KEY key;

	if (!input)
		return;
	input->Reset(input, FALSE);
	for (unsigned n = 0; n < seconds * (1000000 / POLL_US); n++) {
		if (!EFI_ERROR(input->ReadKeyStroke(input, &key)))
			return;
		firmware.boot->Stall(POLL_US);
	}
}

size_t firmware_load_options(char *text, size_t size)
{
	const CHAR16 *options = firmware.loaded->LoadOptions;
	size_t count = firmware.loaded->LoadOptionsSize / sizeof *options;
	size_t length = 0;

	if (!options || firmware.loaded->LoadOptionsSize % sizeof *options)
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

const void *firmware_find_table(const EFI_GUID *guid)
{
	const EFI_SYSTEM_TABLE *system = firmware.system;

	for (UINTN i = 0; i < system->NumberOfTableEntries; i++)
		if (!memcmp(&system->ConfigurationTable[i].VendorGuid, guid, sizeof *guid))
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

	firmware.boot->GetMemoryMap(&size, NULL, &key, &stride, &version);
	size += 16 * stride;	/* the allocation below may split a range */
	status = firmware.boot->AllocatePool(EfiLoaderData, size, &map);
	if (EFI_ERROR(status))
		return status;
	status = firmware.boot->GetMemoryMap(&size, map, &key, &stride, &version);
	*top = 0;
	for (UINTN offset = 0; !EFI_ERROR(status) && offset < size; offset += stride) {
		EFI_MEMORY_DESCRIPTOR range;
		u64 end;

		memcpy(&range, (const char *)map + offset, sizeof range);
		end = range.PhysicalStart + range.NumberOfPages * PAGE;
		if (is_ram(range.Type) && end > *top && end <= HIGHEST_RAM)
			*top = end;
	}
	firmware.boot->FreePool(map);
	return status;
}

/* false: there is none that is linear. */
static bool describe_screen(const EFI_GRAPHICS_OUTPUT_PROTOCOL *screen, struct raster *raster)
{
	const EFI_GRAPHICS_OUTPUT_MODE_INFORMATION *mode = screen->Mode->Info;
	EFI_PIXEL_BITMASK bits;

	switch (mode->PixelFormat) {
	case PixelRedGreenBlueReserved8BitPerColor:
		bits = (EFI_PIXEL_BITMASK){ 0x0000ff, 0x00ff00, 0xff0000, 0xff000000 };
		break;
	case PixelBlueGreenRedReserved8BitPerColor:
		bits = (EFI_PIXEL_BITMASK){ 0xff0000, 0x00ff00, 0x0000ff, 0xff000000 };
		break;
	case PixelBitMask:
		bits = mode->PixelInformation;
		break;
	default:
		return false;
	}
	*raster = (struct raster){
		.base = (u8 *)(uintptr_t)screen->Mode->FrameBufferBase,
		.width = mode->HorizontalResolution,
		.height = mode->VerticalResolution,
		.bytes = raster_bytes(bits.RedMask, bits.GreenMask, bits.BlueMask,
				      bits.ReservedMask),
		.red = bits.RedMask,
		.green = bits.GreenMask,
		.blue = bits.BlueMask,
	};
	raster->pitch = mode->PixelsPerScanLine * raster->bytes;
	return raster_is_usable(raster);
}

/* That of the console: of two graphics controllers, the one with the monitor. */
static EFI_GRAPHICS_OUTPUT_PROTOCOL *console_graphics(void)
{
	EFI_GUID guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
	void *protocol = NULL;

	if (!firmware.system->ConsoleOutHandle ||
	    EFI_ERROR(firmware.boot->HandleProtocol(firmware.system->ConsoleOutHandle, &guid,
						    &protocol)))
		return NULL;
	return protocol;
}

/* The first one that there is. */
static EFI_GRAPHICS_OUTPUT_PROTOCOL *any_graphics(void)
{
	EFI_GUID guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
	void *protocol = NULL;

	return EFI_ERROR(firmware.boot->LocateProtocol(&guid, NULL, &protocol)) ? NULL : protocol;
}

/* Firmware may give its console none that is linear. */
static void find_screen(struct raster *raster)
{
	const EFI_GRAPHICS_OUTPUT_PROTOCOL *console = console_graphics(), *any = any_graphics();

	if ((!console || !describe_screen(console, raster)) &&
	    (!any || !describe_screen(any, raster)))
		*raster = (struct raster){ .base = NULL };
}

EFI_GRAPHICS_OUTPUT_PROTOCOL *firmware_graphics(void)
{
	EFI_GRAPHICS_OUTPUT_PROTOCOL *console = console_graphics();

	return console ? console : any_graphics();
}

/* Where a SIPI can begin; 0: there is no such page. */
static u64 low_page(void)
{
	startup = BELOW_640_KIB;
	if (EFI_ERROR(firmware.boot->AllocatePages(AllocateMaxAddress, EfiLoaderData, 1, &startup)))
		startup = 0;
	return startup;
}

static u64 memory_top;

u64 firmware_memory(void)
{
	return memory_top;
}

u64 firmware_need(unsigned processors, u64 spare)
{
	return machine_arena_need(memory_top, processors) + spare;
}

EFI_STATUS firmware_setup(struct machine_setup *setup, unsigned processors, u64 spare,
			  bool with_screen)
{
	EFI_STATUS status;

	*setup = (struct machine_setup){ .processors = processors };
	status = find_memory_top(&memory_top);
	if (EFI_ERROR(status))
		return status;
	setup->memory_top = memory_top;
	setup->arena_size = firmware_need(processors, spare);
	/* Pages come aligned to 4 KiB: 2 MiB more hold an aligned start. */
	arena.pages = (setup->arena_size + TWO_MIB + PAGE - 1) / PAGE;
	arena.base = BELOW_4_GIB;
	status = firmware.boot->AllocatePages(AllocateMaxAddress, EfiLoaderData, arena.pages,
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
		find_screen(&setup->framebuffer);
	return EFI_SUCCESS;
}

void firmware_release(void)
{
	if (arena.pages)
		firmware.boot->FreePages(arena.base, arena.pages);
	arena.pages = 0;
	if (startup)
		firmware.boot->FreePages(startup, 1);
	startup = 0;
}

void firmware_measure_tsc(void)
{
	u64 least = UINT64_MAX;

	/* Whatever disturbs a round makes it longer, so the shortest is the best. */
	for (unsigned i = 0; i < STALL_ROUNDS; i++) {
		u64 start = tsc_read(), ticks;

		firmware.boot->Stall(STALL_US);
		ticks = tsc_read() - start;
		if (ticks < least)
			least = ticks;
	}
	time_tsc_per_us = least / STALL_US;
	if (!time_tsc_per_us)
		time_tsc_per_us = 1;
}
