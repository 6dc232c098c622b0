/* SPDX-License-Identifier: MIT */
/* See efi_version.h. UEFI specification, "EFI_LOADED_IMAGE_PROTOCOL". */
#include "refpmu/hv/efi_version.h"

#include "version.h"

#define WIDE_(text)	L##text
#define WIDE(text)	WIDE_(text)

static bool is_option(const CHAR16 *word, size_t length)
{
	static const char option[] = "--version";

	if (length != sizeof(option) - 1)
		return false;
	for (size_t i = 0; i < length; i++)
		if (word[i] != (CHAR16)option[i])
			return false;
	return true;
}

static bool is_among(const CHAR16 *text, size_t length)
{
	size_t begin = 0;

	for (size_t i = 0; i <= length; i++) {
		if (i < length && text[i] && text[i] != L' ')
			continue;
		if (is_option(text + begin, i - begin))
			return true;
		if (i == length || !text[i])
			break;
		begin = i + 1;
	}
	return false;
}

bool efi_version_asked(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	EFI_GUID guid = LOADED_IMAGE_PROTOCOL;
	EFI_LOADED_IMAGE *loaded;

	if (EFI_ERROR(system->BootServices->HandleProtocol(image, &guid, (void **)&loaded)) ||
	    !loaded->LoadOptions ||
	    !is_among(loaded->LoadOptions, loaded->LoadOptionsSize / sizeof(CHAR16)))
		return false;
	system->ConOut->OutputString(system->ConOut, L"PMUTest86 " WIDE(PMUTEST86_VERSION) L"\r\n");
	return true;
}
