/* SPDX-License-Identifier: MIT */
/* UEFI Specification, "Services - Runtime Services", "Variable Services": one variable, overwritten
 * by the next such run. */
#include "boot/results/variable.h"
#include "boot/uefi/uefi.h"
#include "kernel/output/fmt.h"

#define ATTRIBUTES	(EFI_VARIABLE_NON_VOLATILE | EFI_VARIABLE_BOOTSERVICE_ACCESS | \
			 EFI_VARIABLE_RUNTIME_ACCESS)
/* Firmware whose variable store is nearly full may not start any more. */
#define ROOM_LEAST	(16u << 10)

#define UEFI_2_0	(2u << 16)

static CHAR16 name[] = L"PMUTest86Result";
static EFI_GUID vendor = { 0x5b8a7d3c, 0x41f6, 0x4c7e,
			   { 0x9a, 0x31, 0x50, 0x4d, 0x55, 0x54, 0x38, 0x36 } };

bool variable_save(const char *text, size_t length, char *error, size_t size)
{
	EFI_RUNTIME_SERVICES *runtime = uefi.system->RuntimeServices;
	UINT64 all = 0, left = ROOM_LEAST, most = length;
	EFI_STATUS status;

	/* Firmware before UEFI 2.0 doesn't have this service. */
	if (runtime->Hdr.Revision >= UEFI_2_0)
		runtime->QueryVariableInfo(ATTRIBUTES, &all, &left, &most);
	if (left < ROOM_LEAST || most < length) {
		fmt_print(error, size, "no short result in a UEFI variable: %llu bytes are left",
			  (unsigned long long)left);
		return false;
	}
	status = runtime->SetVariable(name, &vendor, ATTRIBUTES, length, (void *)(uintptr_t)text);
	if (!EFI_ERROR(status))
		return true;
	fmt_print(error, size, "no short result in a UEFI variable: firmware status %#llx",
		  (unsigned long long)status);
	return false;
}

void variable_load(char *text, size_t size)
{
	UINTN length = size - 1;
	UINT32 attributes;
	EFI_STATUS status = uefi.system->RuntimeServices->GetVariable(name, &vendor, &attributes,
								      &length, text);

	text[EFI_ERROR(status) || length >= size ? 0 : length] = '\0';
}

void variable_delete(void)
{
	uefi.system->RuntimeServices->SetVariable(name, &vendor, ATTRIBUTES, 0, NULL);
}
