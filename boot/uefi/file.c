/* SPDX-License-Identifier: MIT */
/* Files through UEFI. Each call opens the volume and closes everything again, so a crash between
 * two calls loses no data that was flushed. */
#include "boot/file.h"
#include "boot/uefi/uefi.h"

#define PATH_SIZE	128
#define END_OF_FILE	UINT64_MAX

static EFI_STATUS open_path(const char *path, UINT64 mode, UINT64 attributes, EFI_FILE **file)
{
	EFI_GUID guid = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
	EFI_SIMPLE_FILE_SYSTEM_PROTOCOL *volume;
	CHAR16 name[PATH_SIZE];
	void *protocol = NULL;
	EFI_FILE *root;
	EFI_STATUS status;
	size_t i;

	for (i = 0; path[i]; i++) {
		if (i + 1 >= PATH_SIZE)
			return EFI_INVALID_PARAMETER;
		name[i] = (CHAR16)path[i];
	}
	name[i] = 0;
	/* A program that was loaded from memory has no volume. */
	if (!uefi.loaded->DeviceHandle)
		return EFI_NOT_FOUND;
	status = uefi.boot->HandleProtocol(uefi.loaded->DeviceHandle, &guid, &protocol);
	if (EFI_ERROR(status))
		return EFI_NOT_FOUND;
	volume = protocol;
	status = volume->OpenVolume(volume, &root);
	if (EFI_ERROR(status))
		return status;
	status = root->Open(root, file, name, mode, attributes);
	root->Close(root);
	return status;
}

firmware_status file_read(const char *path, char *data, size_t size, size_t *length)
{
	EFI_FILE *file;
	EFI_STATUS status = open_path(path, EFI_FILE_MODE_READ, 0, &file);
	UINTN got = size, more = 1;
	char probe;

	if (EFI_ERROR(status))
		return status;
	status = file->Read(file, &got, data);
	*length = got;
	if (!EFI_ERROR(status) && got == size) {
		status = file->Read(file, &more, &probe);
		if (!EFI_ERROR(status) && more > 0)
			status = EFI_BUFFER_TOO_SMALL;
	}
	file->Close(file);
	return status;
}

firmware_status file_write_at(const char *path, u64 offset, const void *data, size_t length)
{
	UINT64 mode = EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE;
	UINTN written = length;
	EFI_FILE *file;
	EFI_STATUS status = open_path(path, mode, 0, &file);

	if (EFI_ERROR(status))
		return status;
	status = file->SetPosition(file, offset);
	if (!EFI_ERROR(status))
		status = file->Write(file, &written, (void *)(uintptr_t)data);
	if (!EFI_ERROR(status) && written != length)
		status = EFI_VOLUME_FULL;
	if (!EFI_ERROR(status))
		status = file->Flush(file);
	file->Close(file);
	return status;
}

firmware_status file_append(const char *path, const char *data, size_t length)
{
	return file_write_at(path, END_OF_FILE, data, length);
}

firmware_status file_make(const char *path, u64 size)
{
	static const u8 zeros[4096];
	UINT64 mode = EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE;
	EFI_FILE *file;
	EFI_STATUS status = open_path(path, mode, 0, &file);

	if (EFI_ERROR(status))
		return status;
	for (u64 at = 0; !EFI_ERROR(status) && at < size; at += sizeof zeros) {
		UINTN written = sizeof zeros;

		status = file->Write(file, &written, (void *)(uintptr_t)zeros);
		if (!EFI_ERROR(status) && written != sizeof zeros)
			status = EFI_VOLUME_FULL;
	}
	if (!EFI_ERROR(status))
		status = file->Flush(file);
	file->Close(file);
	return status;
}

firmware_status file_length(const char *path, u64 *length)
{
	EFI_FILE *file;
	EFI_STATUS status = open_path(path, EFI_FILE_MODE_READ, 0, &file);
	UINT64 at = 0;

	if (EFI_ERROR(status))
		return status;
	status = file->SetPosition(file, END_OF_FILE);
	if (!EFI_ERROR(status))
		status = file->GetPosition(file, &at);
	file->Close(file);
	*length = at;
	return status;
}

firmware_status file_delete(const char *path)
{
	EFI_FILE *file;
	EFI_STATUS status = open_path(path, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0, &file);

	if (EFI_ERROR(status))
		return status;
	return file->Delete(file);	/* closes it as well */
}

firmware_status file_make_directory(const char *path)
{
	UINT64 mode = EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE;
	EFI_FILE *file;
	EFI_STATUS status = open_path(path, EFI_FILE_MODE_READ, 0, &file);

	if (!EFI_ERROR(status)) {
		file->Close(file);
		return EFI_ACCESS_DENIED;
	}
	if (status != EFI_NOT_FOUND)
		return status;
	status = open_path(path, mode, EFI_FILE_DIRECTORY, &file);
	if (!EFI_ERROR(status))
		file->Close(file);
	return status;
}
