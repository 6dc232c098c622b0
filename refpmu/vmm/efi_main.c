/* SPDX-License-Identifier: MIT */
/*
 * refpmu.efi reserves memory, copies this image there, and lets the copy make the boot processor
 * its guest. Then it returns to the caller, which is now in the guest and finds an Intel processor.
 * The firmware unloads only the original image afterwards.
 *
 * The other processors become guests when their start-up IPI enters the guest (hv/processors.h).
 */
#include <efi.h>

#include "refpmu/hv/efi_processors.h"
#include "refpmu/hv/efi_version.h"
#include "refpmu/hv/nested_paging.h"
#include "refpmu/vmm/install.h"
#include "spec/exerciser.h"

#define LOW_MEMORY_TOP	0x9ffffULL	/* what a SIPI can name, below the video memory */
#define MEMORY_TOP	0xffffffffULL
#define REMOTE_SIZE	(1U << 20)	/* memory whose home is another package */
#define PAGE		4096ULL

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

static EFI_STATUS refuse(EFI_SYSTEM_TABLE *system, const char *reason, EFI_STATUS status)
{
	CHAR16 text[2] = { 0, 0 };

	system->ConOut->OutputString(system->ConOut, L"\r\nrefpmu: ");
	while (*reason) {
		text[0] = (CHAR16)*reason++;
		system->ConOut->OutputString(system->ConOut, text);
	}
	system->ConOut->OutputString(system->ConOut, L"\r\n");
	return status;
}

/* Aligned memory that no operating system will use; 0: there is none. */
static u64 reserve(EFI_BOOT_SERVICES *services, u64 size)
{
	EFI_PHYSICAL_ADDRESS first = MEMORY_TOP;
	u64 base, before, behind;

	if (services->AllocatePages(AllocateMaxAddress, EfiReservedMemoryType, 2 * size / PAGE,
				    &first) != EFI_SUCCESS)
		return 0;
	base = (first + size - 1) & ~(size - 1);
	before = base - first;
	behind = size - before;
	if (before)
		services->FreePages(first, before / PAGE);
	if (behind)
		services->FreePages(base + size, behind / PAGE);
	return base;
}

/*
 * Let programs find the exerciser (docs/EXERCISER.md). Without memory for it there is none: it is
 * optional.
 */
static void offer_exerciser(EFI_BOOT_SERVICES *services, struct virtualise_memory *memory)
{
	EFI_GUID guid = EXERCISER_GUID;
	EFI_PHYSICAL_ADDRESS remote = MEMORY_TOP;
	struct exerciser_table *table;

	if (services->AllocatePool(EfiReservedMemoryType, sizeof(*table), (void **)&table) !=
	    EFI_SUCCESS)
		return;
	if (services->AllocatePages(AllocateMaxAddress, EfiReservedMemoryType, REMOTE_SIZE / PAGE,
				    &remote) == EFI_SUCCESS) {
		memory->remote_base = remote;
		memory->remote_bytes = REMOTE_SIZE;
	}
	*table = (struct exerciser_table){
		.signature = EXERCISER_TABLE, .bytes = sizeof(*table), .registers = EXERCISER_PAGE,
	};
	services->InstallConfigurationTable(&guid, table);
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	EFI_GUID loaded_image_guid = LOADED_IMAGE_PROTOCOL;
	EFI_BOOT_SERVICES *services = system->BootServices;
	struct virtualise_memory memory = { .size = 0 };
	EFI_PHYSICAL_ADDRESS startup = LOW_MEMORY_TOP;
	EFI_LOADED_IMAGE *loaded;
	const char *reason;

	if (efi_version_asked(image, system))
		return EFI_SUCCESS;
	reason = install_missing();
	if (reason)
		return refuse(system, reason, EFI_UNSUPPORTED);
	if (services->HandleProtocol(image, &loaded_image_guid, (void **)&loaded) != EFI_SUCCESS)
		return refuse(system, "the firmware doesn't know this image", EFI_LOAD_ERROR);
	memory.others = efi_processors(services, memory.apic_ids, PROCESSORS_MAX - 1);
	memory.size = install_size(memory.others);
	if (memory.others && services->AllocatePages(AllocateMaxAddress, EfiReservedMemoryType, 1,
						     &startup) != EFI_SUCCESS)
		return refuse(system, "there is no page below 640 KiB for starting processors",
			      EFI_OUT_OF_RESOURCES);
	memory.startup_page = memory.others ? startup : 0;
	memory.base = reserve(services, memory.size);
	if (!memory.base)
		return refuse(system, "there isn't enough memory below 4 GiB: 32 MiB a processor",
			      EFI_OUT_OF_RESOURCES);
	offer_exerciser(services, &memory);
	if (!install(&memory, loaded->ImageSize))
		return refuse(system, "the image is too large", EFI_LOAD_ERROR);
	install_begin(&memory);
	return EFI_SUCCESS;
}
