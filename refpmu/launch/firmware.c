/* SPDX-License-Identifier: MIT */
/* See firmware.h. Programs are loaded by device path, so that they find their volume. */
#include <efi.h>

#include "refpmu/launch/firmware.h"
#include "refpmu/launch/pe.h"

#define TEXT_SIZE	1024	/* no less than PLAN_ARGS_SIZE */
#define PATH_SIZE	4096

static EFI_HANDLE our_image, program;
static EFI_SYSTEM_TABLE *our_system;
static EFI_BOOT_SERVICES *services;
static EFI_LOADED_IMAGE *our_loaded;

static EFI_LOADED_IMAGE *loaded_image(EFI_HANDLE image)
{
	EFI_GUID guid = LOADED_IMAGE_PROTOCOL;
	EFI_LOADED_IMAGE *loaded;

	if (EFI_ERROR(services->HandleProtocol(image, &guid, (void **)&loaded)))
		return NULL;
	return loaded;
}

/* With the terminating 0; returns the size in bytes. */
static u32 widen(const char *from, CHAR16 *to)
{
	u32 i = 0;

	do
		to[i] = (CHAR16)from[i];
	while (from[i++] && i < TEXT_SIZE);
	to[TEXT_SIZE - 1] = 0;
	return i * (u32)sizeof(CHAR16);
}

bool firmware_open(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	our_image = image;
	our_system = system;
	services = system->BootServices;
	services->SetWatchdogTimer(0, 0, 0, NULL);
	our_loaded = loaded_image(image);
	return our_loaded && our_loaded->DeviceHandle;
}

bool firmware_read(const char *path, void *buffer, size_t size, size_t *length)
{
	EFI_GUID guid = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
	EFI_FILE_IO_INTERFACE *volume;
	EFI_FILE_HANDLE root, file;
	CHAR16 wide[TEXT_SIZE];
	UINTN bytes = size, more = 1;
	EFI_STATUS status;
	u8 beyond;

	if (EFI_ERROR(
		    services->HandleProtocol(our_loaded->DeviceHandle, &guid, (void **)&volume)) ||
	    EFI_ERROR(volume->OpenVolume(volume, &root)))
		return false;
	widen(path, wide);
	status = root->Open(root, &file, wide, EFI_FILE_MODE_READ, 0);
	root->Close(root);
	if (EFI_ERROR(status))
		return false;
	status = file->Read(file, &bytes, buffer);
	if (!EFI_ERROR(status))
		status = file->Read(file, &more, &beyond);
	file->Close(file);
	*length = bytes;
	return !EFI_ERROR(status) && !more;
}

static UINTN node_length(const EFI_DEVICE_PATH *node)
{
	return node->Length[0] | (UINTN)node->Length[1] << 8;
}

static void set_node(EFI_DEVICE_PATH *node, UINTN type, UINTN subtype, UINTN length)
{
	node->Type = (UINT8)type;
	node->SubType = (UINT8)subtype;
	node->Length[0] = (UINT8)length;
	node->Length[1] = (UINT8)(length >> 8);
}

/* This volume's device path with the file appended. NULL: it doesn't fit. */
static EFI_DEVICE_PATH *path_of(const char *file)
{
	static u8 path[PATH_SIZE] __attribute__((aligned(8)));
	EFI_GUID guid = DEVICE_PATH_PROTOCOL;
	CHAR16 wide[TEXT_SIZE];
	UINTN name = widen(file, wide), node = sizeof(EFI_DEVICE_PATH) + name, at = 0;
	u8 *from;

	if (EFI_ERROR(services->HandleProtocol(our_loaded->DeviceHandle, &guid, (void **)&from)))
		return NULL;
	while ((from[at] & 0x7f) != END_DEVICE_PATH_TYPE)
		at += node_length((EFI_DEVICE_PATH *)(from + at));
	if (at + node + sizeof(EFI_DEVICE_PATH) > PATH_SIZE)
		return NULL;
	services->CopyMem(path, from, at);
	set_node((EFI_DEVICE_PATH *)(path + at), MEDIA_DEVICE_PATH, MEDIA_FILEPATH_DP, node);
	services->CopyMem(path + at + sizeof(EFI_DEVICE_PATH), wide, name);
	set_node((EFI_DEVICE_PATH *)(path + at + node), END_DEVICE_PATH_TYPE,
		 END_ENTIRE_DEVICE_PATH_SUBTYPE, sizeof(EFI_DEVICE_PATH));
	return (EFI_DEVICE_PATH *)path;
}

bool firmware_load(const char *path, const char *options, EFI_STATUS *status)
{
	EFI_DEVICE_PATH *device_path = path_of(path);

	*status = EFI_BUFFER_TOO_SMALL;
	if (!device_path)
		return false;
	*status = services->LoadImage(FALSE, our_image, device_path, NULL, 0, &program);
	if (EFI_ERROR(*status))
		return false;
	firmware_options(options);
	return true;
}

void firmware_options(const char *options)
{
	static CHAR16 wide[TEXT_SIZE];
	EFI_LOADED_IMAGE *loaded = loaded_image(program);

	if (!loaded)
		return;
	loaded->LoadOptionsSize = *options ? widen(options, wide) : 0;
	loaded->LoadOptions = *options ? wide : NULL;
}

bool firmware_image(struct firmware_image *image)
{
	EFI_LOADED_IMAGE *loaded = loaded_image(program);
	u8 *base;
	u32 entry;

	if (!loaded || !loaded->ImageBase)
		return false;
	base = loaded->ImageBase;
	if (!pe_entry(base, loaded->ImageSize, &entry))
		return false;
	*image = (struct firmware_image){
		.base = loaded->ImageBase, .size = loaded->ImageSize, .handle = program,
		.system = our_system,
	};
	image->entry = (void *)(base + entry);
	return true;
}

void *firmware_pages(u64 bytes)
{
	EFI_PHYSICAL_ADDRESS at;

	if (EFI_ERROR(services->AllocatePages(AllocateAnyPages, EfiLoaderData,
					      (bytes + EFI_PAGE_SIZE - 1) / EFI_PAGE_SIZE, &at)))
		return NULL;
	return (void *)(u64)at;
}

EFI_STATUS firmware_start(void)
{
	return services->StartImage(program, NULL, NULL);
}
