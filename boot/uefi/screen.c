/* SPDX-License-Identifier: MIT */
/* Screen and keyboard through UEFI: "Graphics Output Protocol", "Simple Text Input Protocol",
 * "Simple Text Output Protocol". */
#include "boot/uefi/screen.h"
#include "boot/firmware.h"
#include "boot/screen/keys.h"
#include "boot/uefi/uefi.h"

#define POLL_US		20000u		/* us between two reads of the keys */

/* false: there is no linear framebuffer. */
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
	raster_limit(raster, screen->Mode->FrameBufferSize);
	return raster_is_usable(raster);
}

/* The graphics of the console: with two graphics controllers, the one that has the monitor. */
static EFI_GRAPHICS_OUTPUT_PROTOCOL *console_graphics(void)
{
	EFI_GUID guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
	void *protocol = NULL;

	if (!uefi.system->ConsoleOutHandle ||
	    EFI_ERROR(uefi.boot->HandleProtocol(uefi.system->ConsoleOutHandle, &guid, &protocol)))
		return NULL;
	return protocol;
}

/* The first graphics protocol that exists. */
static EFI_GRAPHICS_OUTPUT_PROTOCOL *any_graphics(void)
{
	EFI_GUID guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
	void *protocol = NULL;

	return EFI_ERROR(uefi.boot->LocateProtocol(&guid, NULL, &protocol)) ? NULL : protocol;
}

/* The only adapter beside the console. NULL: there is none; or there are several, and the one with
 * the monitor isn't known. */
static EFI_GRAPHICS_OUTPUT_PROTOCOL *only_graphics(void)
{
	EFI_GUID guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
	UINTN count = 0, others = 0;
	EFI_HANDLE *handles = NULL;
	void *protocol = NULL;

	if (EFI_ERROR(uefi.boot->LocateHandleBuffer(ByProtocol, &guid, NULL, &count, &handles)))
		return NULL;
	for (UINTN i = 0; i < count; i++)
		if (handles[i] != uefi.system->ConsoleOutHandle) {
			others++;
			uefi.boot->HandleProtocol(handles[i], &guid, &protocol);
		}
	uefi.boot->FreePool(handles);
	return others == 1 ? protocol : NULL;
}

/* The firmware's console may have no linear framebuffer. In EDK II (ConSplitterDxe) that is so as
 * soon as the console draws on two adapters. Then the firmware draws for us, on both. */
void uefi_find_screen(struct raster *raster)
{
	const EFI_GRAPHICS_OUTPUT_PROTOCOL *console = console_graphics(), *other;

	if (console && describe_screen(console, raster))
		return;
	other = console ? only_graphics() : any_graphics();
	if (!other || !describe_screen(other, raster))
		*raster = (struct raster){ .base = NULL };
}

static EFI_GRAPHICS_OUTPUT_PROTOCOL *graphics(void)
{
	EFI_GRAPHICS_OUTPUT_PROTOCOL *console = console_graphics();

	return console ? console : any_graphics();
}

bool firmware_screen(u32 *width, u32 *height)
{
	const EFI_GRAPHICS_OUTPUT_PROTOCOL *screen = graphics();

	if (!screen)
		return false;
	*width = screen->Mode->Info->HorizontalResolution;
	*height = screen->Mode->Info->VerticalResolution;
	return true;
}

void firmware_draw(const void *pixels, u32 pitch, u32 y, u32 width, u32 height)
{
	EFI_GRAPHICS_OUTPUT_PROTOCOL *screen = graphics();

	screen->Blt(screen, (EFI_GRAPHICS_OUTPUT_BLT_PIXEL *)(uintptr_t)pixels, EfiBltBufferToVideo,
		    0, 0, 0, y, width, height, pitch);
}

void firmware_clear_screen(void)
{
	EFI_GRAPHICS_OUTPUT_BLT_PIXEL dark = { 0, 0, 0, 0 };
	EFI_GRAPHICS_OUTPUT_PROTOCOL *screen = graphics();

	screen->Blt(screen, &dark, EfiBltVideoFill, 0, 0, 0, 0,
		    screen->Mode->Info->HorizontalResolution,
		    screen->Mode->Info->VerticalResolution, 0);
}

static unsigned key_of(const EFI_INPUT_KEY *key)
{
	static const u16 scans[] = {
		[SCAN_UP] = KEY_UP, [SCAN_DOWN] = KEY_DOWN, [SCAN_LEFT] = KEY_LEFT,
		[SCAN_RIGHT] = KEY_RIGHT, [SCAN_HOME] = KEY_HOME, [SCAN_END] = KEY_END,
		[SCAN_PAGE_UP] = KEY_PAGE_UP, [SCAN_PAGE_DOWN] = KEY_PAGE_DOWN,
		[SCAN_ESC] = KEY_ESCAPE,
	};

	if (key->ScanCode && key->ScanCode < sizeof(scans) / sizeof(scans[0]))
		return scans[key->ScanCode];
	if (key->UnicodeChar == '\r' || key->UnicodeChar == '\n')
		return KEY_ENTER;
	return key->UnicodeChar > ' ' && key->UnicodeChar <= '~' ? key->UnicodeChar : KEY_NONE;
}

bool firmware_has_keys(void)
{
	return uefi.system->ConIn != NULL;
}

bool firmware_read_key(unsigned *key)
{
	SIMPLE_INPUT_INTERFACE *input = uefi.system->ConIn;
	EFI_INPUT_KEY read;

	if (!input || EFI_ERROR(input->ReadKeyStroke(input, &read)))
		return false;
	*key = key_of(&read);
	return true;
}

void firmware_wait_for_key(unsigned seconds)
{
	SIMPLE_INPUT_INTERFACE *input = uefi.system->ConIn;
	EFI_INPUT_KEY key;

	if (!input)
		return;
	input->Reset(input, FALSE);
	for (unsigned n = 0; n < seconds * (1000000 / POLL_US); n++) {
		if (!EFI_ERROR(input->ReadKeyStroke(input, &key)))
			return;
		uefi.boot->Stall(POLL_US);
	}
}
