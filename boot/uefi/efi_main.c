/* SPDX-License-Identifier: MIT */
/* The entry under UEFI. The run's exit status is returned to the firmware as an EFI status. */
#include "boot/session.h"
#include "boot/uefi/uefi.h"

/* Called by start.asm, with the C calling convention. */
EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	EFI_STATUS status = uefi_init(image, system);

	if (EFI_ERROR(status))
		return status;
	switch (harness_run()) {
	case EXIT_PASS:
		return EFI_SUCCESS;
	case EXIT_FAIL:
		return EFI_ABORTED;
	default:
		return EFI_PROTOCOL_ERROR;
	}
}
